"""How a file gets new content for good: after a crash at any instant it holds the old or the new.

Written beside it, flushed, renamed over it, the folder flushed. Keeps out: which file may be replaced (`root`, `own_files`).
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.workspace import system
from penstock.workspace.refusals import shown

if TYPE_CHECKING:
    from collections.abc import Callable


def replace(
    folder: system.Folder, name: bytes | str, content: bytes, mode: int, prepare: Callable[[int], None] = lambda _: None
) -> None:
    """Write `content` to a file beside `name` and rename it over that; `prepare` has the last word before the rename.

    Written, flushed, renamed, folder flushed, in this order. Renamed before the flush, a power cut leaves the new name
    with no content; without the second flush it may bring back the old one after the caller was told.
    """
    beside = f".penstock-{os.urandom(8).hex()}"
    new, at = system.entry_path(folder, beside)
    old, _ = system.entry_path(folder, name)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.NOFOLLOW | system.PRIVATE, mode, dir_fd=at)
    try:
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            prepare(descriptor)
            system.flush(descriptor)
        finally:
            os.close(descriptor)
        os.replace(new, old, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        with suppress(OSError):
            os.unlink(new, dir_fd=at)
        raise
    system.flush_folder(folder)


def expect_unchanged(known: os.stat_result | None, folder: system.Folder, name: bytes, relative: bytes) -> None:
    """Raise `ToolError` (stale) when what stands there is not what is thought to be there, OSError for a link."""
    try:
        path, at = system.entry_path(folder, name)
        now = os.stat(path, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        now = None
    if now is not None and system.is_link(now):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if _identity(now) != _identity(known):
        raise ToolError("stale", f"{shown(relative)} was changed by someone else meanwhile. Read it again.")


def _identity(status: os.stat_result | None) -> tuple[int, ...]:
    """Return what tells versions of a file apart: device, inode, size and time of change."""
    return () if status is None else (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

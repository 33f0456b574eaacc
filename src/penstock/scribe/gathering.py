"""The files that are to be documented: those that are named, and those beneath the folders that are.

Each is read whole, once, through the root; what cannot be read is named with the reason, and the rest goes on. A file is taken for
what its name and its first bytes say; one that was named on purpose is taken whatever it is called.
Keeps out: what the files say (`cobol`), and what is written.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ToolError
from penstock.outline import language_of
from penstock.text import escape
from penstock.workspace import refusals, system
from penstock.workspace.deadline import Deadline
from penstock.workspace.globs import EVERYTHING
from penstock.workspace.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from penstock.cobol.estate import Kind
    from penstock.workspace.root import OpenFile, Root

MAX_BYTES = 32 << 20
"""The largest file that is read as a source: the largest program known has 4 MB, and what is larger is data."""
HEAD_BYTES = 8_192
"""How much of a file tells what it is."""


class GatheredFile(NamedTuple):
    """A file that was read: its path from the root, what it is taken for, and its bytes."""

    path: str
    kind: Kind
    data: bytes


class Skipped(NamedTuple):
    """A file that was not read, and why, in words for a person."""

    path: str
    reason: str


class Gathered(NamedTuple):
    """What was found, in the order of the paths, what could not be read, and how many files are of no kind."""

    files: tuple[GatheredFile, ...]
    skipped: tuple[Skipped, ...]
    others: int


def gather(
    root: Root,
    paths: Iterable[str],
    kind_of: Callable[[str, bytes], Kind | None],
    progress: Callable[[int], None] | None = None,
) -> Gathered:
    """Return the files at and beneath some paths, each once, in the order of their paths.

    Args:
        root: Where paths begin, and what nothing leaves.
        paths: Files and folders.
        kind_of: Says what a file is by its name and its first bytes; None for none of ours.
        progress: Told how many files were looked at.

    Raises:
        ToolError: A path that was named is not there, or cannot be looked at.
    """
    files: dict[str, GatheredFile] = {}
    skipped: dict[str, Skipped] = {}
    others = 0
    for path, is_named in _names(root, paths, progress):
        if path in files or path in skipped:
            continue
        # One file that cannot be read must not cost a person the documents of ten thousand others.
        try:
            found = _read(root, path, kind_of, is_named)
        except (ToolError, OSError) as error:
            skipped[path] = Skipped(path, error.message if isinstance(error, ToolError) else str(error.strerror))
            continue
        if found is None:
            others += 1
        else:
            files[path] = found
    return Gathered(tuple(files[path] for path in sorted(files)), tuple(skipped.values()), others)


def _names(root: Root, paths: Iterable[str], progress: Callable[[int], None] | None) -> Iterator[tuple[str, bool]]:
    """Yield paths of files from the root, and whether each was named itself."""
    for path in paths:
        relative = root.relative(path)
        try:
            status = root.look(relative)
        except OSError as error:
            raise refusals.refusal(error, relative) from error
        if not stat.S_ISDIR(status.st_mode):
            yield os.fsdecode(relative), True
            continue
        walk = Walk(
            root,
            path,
            EVERYTHING,
            include_hidden=False,
            include_ignored=False,
            deadline=Deadline(None),
            progress=progress,
        )
        for prefix, _, names in walk:
            yield from ((prefix + name, False) for name in names)


def read_whole(root: Root, path: str) -> bytes:
    """Return all of a file.

    Raises:
        ToolError: It cannot be opened, or it is too large to be a source.
    """
    file = root.open_file(root.relative(path))
    try:
        return _whole(file, path)
    finally:
        file.close()


def _read(root: Root, path: str, kind_of: Callable[[str, bytes], Kind | None], is_named: bool) -> GatheredFile | None:
    """Return a file, None where it is of no kind; one that was named on purpose is COBOL unless it is certainly something else."""
    file = root.open_file(os.fsencode(path))
    try:
        head = system.read_at(file.descriptor, HEAD_BYTES, 0)
        kind = kind_of(path, head)
        # A program may be called anything, or nothing, on a host. Whoever names a file says what it is, but a picture stays a
        # picture.
        if kind is None and is_named:
            language = language_of(path, head)
            if language not in {None, "cobol", "text"}:
                raise ToolError("binary", f"it is {language}, and there is no COBOL in it")
            kind = "cobol"
        return None if kind is None else GatheredFile(path, kind, _whole(file, path))
    finally:
        file.close()


def _whole(file: OpenFile, path: str) -> bytes:
    if file.status.st_size > MAX_BYTES:
        said = f"{escape.clip(path)} has {file.status.st_size} bytes; a source has {MAX_BYTES} at most."
        raise ToolError("binary", said)
    data = b""
    while part := system.read_at(file.descriptor, MAX_BYTES, len(data)):
        data += part
    return data

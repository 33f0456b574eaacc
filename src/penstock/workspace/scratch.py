"""Where is what goes with its process? In a private folder that is removed at the end, or in a file without a name.

Law: nothing of it is left, whatever ends the process: a folder by the next process that makes one there, a nameless file at once.
Leaves to others: what is kept (`own_files`).
"""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from penstock.workspace import system
from penstock.workspace.own_files import is_own

if TYPE_CHECKING:
    from typing import Self

_PRIVATE = ".penstock-"
_MOST_LOOKED_AT = 10_000
"""How many entries of a folder are examined for leftovers of killed processes."""


class PrivateFolder:
    """A new folder that only its owner may enter; it is removed with its content at `close` or at the end of a `with`.

    It is created rather than found, so that nobody can have prepared it. A folder left by a killed process is removed when the next
    one is created: only if it belongs to this user, is closed to others, and nobody holds its lock, which ends with its process
    however that ends, and is visible from other containers, unlike a process number. If folders cannot be locked, leftovers stay.

    Args:
        above: The folder that it is created in.
        prefix: How its name begins, and the names of possible leftovers.

    Raises:
        OSError: It cannot be created.
    """

    path: str
    """The folder's absolute path."""

    def __init__(self, above: str, prefix: str = _PRIVATE) -> None:
        for left in _folders_left(above, prefix):
            with suppress(OSError):
                descriptor, is_ours = _hold(left)
                if is_ours:
                    _remove_folder(left)
                _let_go(descriptor)
        is_ours = False
        while is_ours is False:  # somebody took it for a leftover, in the moment before it was locked
            self.path = os.path.join(above, f"{prefix}{os.urandom(8).hex()}")
            os.mkdir(self.path, 0o700)
            self._descriptor, is_ours = _hold(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder with all its content. What cannot be removed stays."""
        descriptor, self._descriptor = self._descriptor, -1
        _remove_folder(self.path)
        _let_go(descriptor)


def _folders_left(above: str, prefix: str) -> list[str]:
    """Return the subfolders that may be private ones of this user, judged by name, owner and mode."""
    found: list[str] = []
    if not system.HAS_FOLDER_DESCRIPTORS:
        return found
    with suppress(OSError), os.scandir(above) as entries:
        for entry in islice(entries, _MOST_LOOKED_AT):
            if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                if not status.st_mode & 0o077 and is_own(status):
                    found.append(entry.path)
    return found


def _hold(folder: str) -> tuple[int, bool | None]:
    """Return a folder open (-1 for none), and whether it exists and its lock is ours; None if there are no locks.

    Raises:
        OSError: It exists but cannot be opened.
    """
    from penstock.workspace import locks

    if not system.HAS_FOLDER_DESCRIPTORS:
        return -1, None
    descriptor = -1
    try:
        descriptor = os.open(folder, os.O_RDONLY | system.FOLDER_ONLY | system.NOFOLLOW | system.PRIVATE)
        try:
            is_locked = locks.acquire(descriptor)
        except OSError:
            return descriptor, None
        if is_locked and os.path.samestat(os.lstat(folder), os.fstat(descriptor)):
            return descriptor, True
    except FileNotFoundError:
        pass  # another sweeping process came first
    _let_go(descriptor)
    return -1, False


def _let_go(descriptor: int) -> None:
    if descriptor != -1:
        os.close(descriptor)


def _remove_folder(folder: str) -> None:
    """Remove a folder with its content, following no links even if entries are swapped meanwhile; what cannot go stays."""
    import shutil  # few commands have such a folder, and every start would pay for it

    with suppress(OSError, RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return
        os.chmod(folder, 0o700)  # a command may have closed a part of what was its HOME
        for at, names, _ in os.walk(folder):
            for inner in (os.path.join(at, name) for name in names):
                if not os.path.islink(inner):
                    os.chmod(inner, 0o700)
        shutil.rmtree(folder, ignore_errors=True)


def scratch_file() -> int:
    """Return a nameless file, open for reading and writing: it is gone when it is closed. Raises OSError.

    It is in `/var/tmp` if that is writable, since `/tmp` is often memory.
    """
    import tempfile

    # Windows removes no open file.
    if (gone_when_closed := getattr(os, "O_TEMPORARY", 0)) or not system.HAS_FOLDER_DESCRIPTORS:
        path = os.path.join(tempfile.gettempdir(), f"penstock-{os.urandom(8).hex()}")
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | system.PRIVATE | gone_when_closed, 0o600)
    large = "/var/tmp"  # noqa: S108 - the name is random, made exclusively, and removed at once
    descriptor, path = tempfile.mkstemp(prefix="penstock-", dir=large if os.access(large, os.W_OK | os.X_OK) else None)
    os.unlink(path)
    return descriptor

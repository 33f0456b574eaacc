"""Where is HOME for a command? In a new folder for this user alone, among temporary files, which goes with its process.

Laws: a folder is made and not found, so that nobody can have prepared it; one that a killed process left goes when the next is
made: only a folder of ours by its name and its owner, and only where nobody holds its lock, which ends with its process however
that ends, and is seen from other containers, as a process number is not. Keeps out: what may be done in it (`sandbox`).
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from itertools import islice

from penstock.errors import CallerError
from penstock.workspace import locks
from penstock.workspace.own_files import OwnFolder, is_own

_NAME = "penstock-home-"
_MOST_LOOKED_AT = 10_000
"""How many entries of the folder for temporary files are looked at before a new one is made."""


class Home:
    """A folder that is HOME for as long as its process lives, and no longer than until `close`.

    Raises:
        CallerError: It cannot be made.
    """

    def __init__(self) -> None:
        given = os.environ.get("TMPDIR", "")
        above = os.path.realpath(given if os.path.isabs(given) else "/tmp")  # noqa: S108 - made exclusively
        with suppress(OSError):
            _sweep(above)
        self.path, self._folder = _made(above)

    def close(self) -> None:
        """Remove the folder, with all that is in it."""
        _remove(self.path)
        self._folder.close()


def _made(above: str) -> tuple[str, OwnFolder]:
    """Return a new folder, which is held. Raises `CallerError`."""
    while True:
        path = os.path.join(above, f"{_NAME}{os.urandom(8).hex()}")
        try:
            os.mkdir(path, 0o700)
            folder = OwnFolder(path)
            # Another process that sweeps may have come before, between the two lines above, and takes the folder away.
            if locks.acquire(folder.descriptor) and os.path.samestat(os.lstat(path), os.fstat(folder.descriptor)):
                return path, folder
            folder.close()
        except FileNotFoundError:
            if not os.path.isdir(above):
                raise CallerError(f"{above} is no folder: the HOME of commands cannot be made there") from None
        except OSError as error:
            raise CallerError(f"{path}, the HOME of commands, cannot be made: {error.strerror}") from error


def _sweep(above: str) -> None:
    """Remove what killed processes of this user have left. Raises OSError."""
    with os.scandir(above) as entries:
        left = [entry.path for entry in islice(entries, _MOST_LOOKED_AT) if entry.name.startswith(_NAME)]
    for path in left:
        with suppress(OSError, CallerError):  # a folder of somebody else, or one that has gone meanwhile
            status = os.lstat(path)
            if not stat.S_ISDIR(status.st_mode) or not is_own(status):
                continue
            folder = OwnFolder(path)
            try:
                if locks.acquire(folder.descriptor):
                    _remove(path)
            finally:
                folder.close()


def _remove(folder: str) -> None:
    """Remove a folder with all that is in it, links not followed. What cannot be removed stays: it is among temporary
    files.
    """
    with suppress(OSError, RecursionError):
        # A command may have shut a part of its HOME.
        os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            inner = list(entries)
        for entry in inner:
            if entry.is_dir(follow_symlinks=False):
                _remove(entry.path)
            else:
                os.unlink(entry.path)
        os.rmdir(folder)

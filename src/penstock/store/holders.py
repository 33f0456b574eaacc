"""Who works in a folder? Each open store that adds to sessions has a file there, locked for as long as its process lives.

Law: a lock ends with its process, however that ends, so that nothing has to be renewed and no clock is consulted. A file without a
lock was left by a killed process. Leaves to others: what each of them works on, which is in the tables (`removal`).
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.workspace import locks

if TYPE_CHECKING:
    from penstock.workspace.own_files import OwnFolder

_PREFIX = "running-"


class Holders:
    """The open stores that work in a folder, including this one once it has announced itself.

    Args:
        folder: The folder of the store.
    """

    def __init__(self, folder: OwnFolder) -> None:
        self._folder = folder
        self._descriptor = -1
        self.own = ""

    def announce(self) -> str:
        """Return the name that this store holds, created and locked on first use. Raises OSError."""
        if not self.own:
            for left in self._folder.names():  # by killed processes
                with suppress(OSError):
                    if left.startswith(_PREFIX) and not self.is_held(left):
                        self._folder.remove(left)
            name = _PREFIX + secrets.token_hex(8)
            self._descriptor = self._folder.create(name)
            locks.acquire(self._descriptor)
            self.own = name
        return self.own

    def is_held(self, name: str) -> bool:
        """Return whether another open store, in any living process, has that name.

        Raises:
            OSError: It cannot be determined now; what it works on must not be considered abandoned.
        """
        # The name comes from a table, which damage may have changed: it must not lead anywhere else.
        if name == self.own or not (name.startswith(_PREFIX) and name.removeprefix(_PREFIX).isalnum()):
            return False
        try:
            descriptor = self._folder.open(name)
        except (FileNotFoundError, CallerError):
            return False
        try:
            return not locks.acquire(descriptor)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Release the name; what was worked on may be removed from now on."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
            with suppress(OSError, CallerError):
                self._folder.remove(self.own)
        self.own = ""

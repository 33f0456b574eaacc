"""What waits between the reading of a program and the writing of its pages: values in files of a folder that goes with the run.

The document of a program is whole once it is read, but for who calls and runs it; pages link to each other. Both are known when all
is read, and by then an estate's documents are more than memory should hold. Law: what is taken is what was put.
Keeps out: what the values are.
"""

from __future__ import annotations

import marshal
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.workspace import own_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json

MAX_BYTES = 1 << 30
"""The largest value that is read back: a program of 32 MB has a document of some hundred."""


class Spool:
    """A folder of values under names; several processes may share it.

    Args:
        folder: Where they are kept.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def put(self, name: str, value: Json) -> None:
        """Keep a value of plain lists, dictionaries, texts and numbers.

        Raises:
            CallerError: The disk does not let us.
        """
        # `marshal` and not JSON or `pickle`: nobody but this version of Python, in this run, reads it, and it is ten times as fast.
        # Written anew where a process was killed at work on the same piece.
        path = os.path.join(self.folder, name)
        try:
            if not own_files.create_own(path, marshal.dumps(value)):
                os.unlink(path)
                own_files.create_own(path, marshal.dumps(value))
        except OSError as error:
            raise CallerError(f"What was read cannot be kept in {self.folder}: {error.strerror}") from error

    def take(self, name: str) -> Json:  # whatever was put
        """Return the value that was put under a name."""
        content = own_files.read_own(os.path.join(self.folder, name), MAX_BYTES)
        return marshal.loads(content or b"")  # noqa: S302  # our own file, in a folder of our own


@contextmanager
def spooled(beneath: str) -> Iterator[Spool]:
    """Yield a spool in a new private folder beneath another, which goes at the end."""
    with own_files.PrivateFolder(beneath) as folder:
        yield Spool(folder.path)

"""What waits between the reading of a program and the writing of its pages: values in files of a folder that goes with the run.

The document of a program is whole once it is read, but for who calls and runs it; pages link to each other. Both are known when all
is read, and by then an estate's documents are more than memory should hold. Law: what is taken is what was put.
Keeps out: what the values are.
"""

from __future__ import annotations

import marshal
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError
from penstock.workspace import own_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json


class Place(NamedTuple):
    """Where a value is: in which file, from which byte on, and of how many."""

    file: str
    start_byte: int
    size_bytes: int


class Spool:
    """A folder of values; several processes may share it, each with a file of its own to which it adds.

    Args:
        folder: Where they are kept.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._own = os.urandom(8).hex()
        self._end_byte = 0

    def put(self, value: Json) -> Place:
        """Keep a value of plain lists, dictionaries, texts and numbers; return where it is, for any process.

        Raises:
            CallerError: The disk does not let us.
        """
        # `marshal` and not JSON or `pickle`: nobody but this version of Python, in this run, reads it, and it is ten times as fast.
        content = marshal.dumps(value)
        try:
            own_files.extend_own(os.path.join(self.folder, self._own), content)
        except OSError as error:
            raise CallerError(f"What was read cannot be kept in {self.folder}: {error.strerror}") from error
        place = Place(self._own, self._end_byte, len(content))
        self._end_byte += len(content)
        return place

    def take(self, place: Place) -> Json:  # whatever was put
        """Return the value at a place."""
        with own_files.open_own(os.path.join(self.folder, place.file)) as file:
            file.seek(place.start_byte)
            return marshal.loads(file.read(place.size_bytes))  # noqa: S302  # our own file, in a folder of our own


@contextmanager
def spooled(beneath: str) -> Iterator[Spool]:
    """Yield a spool in a new private folder beneath another, which goes at the end."""
    with own_files.PrivateFolder(beneath) as folder:
        yield Spool(folder.path)

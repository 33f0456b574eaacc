"""Where do values wait between reading a program and writing its pages? In files of a folder that is removed with the run.

A program's document is complete once it is read, except for who calls and runs it, and pages link to each other. Both are known
only when everything is read, and by then an estate's documents are too large for memory. Law: what is taken is what was put.
Leaves to others: what the values are.
"""

from __future__ import annotations

import marshal
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError
from penstock.workspace import own_files, scratch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json


class Place(NamedTuple):
    """Where a value is: in which file, from which byte on, and how many bytes."""

    file: str
    start_byte: int
    size_bytes: int


class Spool:
    """A folder of values; several processes may share it, each appending to its own file.

    Args:
        folder: The folder that contains the files.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._own = os.urandom(8).hex()
        self._end_byte = 0

    def put(self, value: Json) -> Place:
        """Keep a value of plain lists, dictionaries, texts and numbers; return where it is, for any process.

        Raises:
            CallerError: The folder cannot be written.
        """
        # `marshal` and not JSON or `pickle`: only this version of Python reads it, in this run, and it is ten times as fast.
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
    """Yield a spool in a new private folder below another, removed at the end."""
    with scratch.PrivateFolder(beneath) as folder:
        yield Spool(folder.path)

"""How is the file opened in which a host keeps the whole of a text that it cut before its hooks saw it?

Law: only a regular file that begins, or with `is_end` ends, with the text handed over counts as its whole, and no more of it is
read than it held when it was opened. Leaves to others: what is done with it (`cutting`).
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMPARED_BYTES = 4_096


@contextmanager
def open_whole(path: str) -> Iterator[tuple[BinaryIO, int]]:
    """Yield the file and its size in bytes.

    Raises:
        OSError: it cannot be opened, or is not a regular file.
    """
    from penstock.workspace.own_files import open_regular

    with open_regular(path) as file:
        yield file, os.fstat(file.fileno()).st_size


def size_of_whole(path: str, text: str, *, is_end: bool = False) -> int | None:
    """Return the size in bytes of the file that a text is part of; None if there is none, or it does not contain the text.

    Args:
        path: the file that the host says holds the whole text.
        text: what it handed over.
        is_end: whether the text is the end of the file rather than its beginning.
    """
    try:
        with open_whole(path) as (file, size):
            file.seek(max(0, size - _COMPARED_BYTES) if is_end else 0)
            part = file.read(_COMPARED_BYTES)
    except (OSError, ValueError):  # ValueError: a NUL or half a character in the path
        return None
    # A host shows U+FFFD for bytes that are not valid UTF-8, and may drop blank lines at the outer end.
    found = part.decode("utf-8", "replace")
    if is_end:
        found, handed = found.lstrip("\ufffd").rstrip()[::-1], text.rstrip()[::-1]
    else:
        found, handed = found.lstrip().rstrip("\ufffd"), text.lstrip()
    compared = min(len(found), len(handed))
    return size if compared and found[:compared] == handed[:compared] and size >= len(handed) else None

"""Open the file in which a host keeps all of a text that it had cut before its hooks saw it.

Law: only a regular file whose beginning is the text that was handed over is taken for its whole, and no more of it is read than
there was when it was opened. Keeps out: what is done with it (`cutting`).
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
    """Give the file and its size in bytes.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    from penstock.workspace.own_files import open_regular

    with open_regular(path) as file:
        yield file, os.fstat(file.fileno()).st_size


def size_of_whole(path: str, text: str, *, is_end: bool = False) -> int | None:
    """Return the size in bytes of the file that a text is a part of, None where there is none: what is not found is not the whole.

    Args:
        path: where the host says that all of the text is.
        text: what it handed over.
        is_end: whether that is the end of the file, and not its beginning.
    """
    try:
        with open_whole(path) as (file, size):
            file.seek(max(0, size - _COMPARED_BYTES) if is_end else 0)
            part = file.read(_COMPARED_BYTES)
    except (OSError, ValueError):  # ValueError: a NUL or half a character in the path
        return None
    # A host shows U+FFFD for bytes that are no UTF-8, and may leave blank lines away at the outer end.
    found = part.decode("utf-8", "replace")
    if is_end:
        found, handed = found.lstrip("\ufffd").rstrip()[::-1], text.rstrip()[::-1]
    else:
        found, handed = found.lstrip().rstrip("\ufffd"), text.lstrip()
    compared = min(len(found), len(handed))
    return size if compared and found[:compared] == handed[:compared] and size >= len(handed) else None

"""Open the file in which a host keeps all of a text that it had cut before its hooks saw it.

Law: only a regular file whose beginning is the text that was handed over is taken for its whole, and no more of it is read than
there was when it was opened. Keeps out: what is done with it (`cutting`).
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMPARED_BYTES = 4_096


@contextmanager
def open_whole(path: str) -> Iterator[tuple[IO[bytes], int]]:
    """Give the file and its size in bytes.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    # Without waiting: a pipe with no writer would hold the host up.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is no regular file")
        yield file, status.st_size


def size_of_whole(path: str, text: str) -> int | None:
    """Return the size in bytes of the file that begins with a text, None where there is none: what is not found is not the whole.

    Args:
        path: where the host says that all of the text is.
        text: what it handed over.
    """
    try:
        with open_whole(path) as (file, size):
            # A host shows U+FFFD for bytes that are no UTF-8, and may leave blank lines away at the beginning.
            first = file.read(_COMPARED_BYTES).decode("utf-8", "replace").lstrip().rstrip("\ufffd")
    except (OSError, ValueError):  # ValueError: a NUL or half a character in the path
        return None
    handed = text.lstrip()
    compared = min(len(first), len(handed))
    return size if compared and first[:compared] == handed[:compared] and size >= len(handed) else None

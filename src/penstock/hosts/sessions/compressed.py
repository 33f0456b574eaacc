"""Read a session's file that its host has compressed with Zstandard, as Codex does with those that rest (RFC 8878).

Law: no more is held than `MAX_PLAIN_BYTES`; of a file that is torn what is whole comes out.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

from penstock.errors import CallerError

if TYPE_CHECKING:
    from types import ModuleType

MAGIC = b"\x28\xb5\x2f\xfd"
"""What each of these files begins with."""
MAX_PLAIN_BYTES = 256 << 20
"""How much a file may hold: unlike lines it has to be held while it is read."""
_CHUNK_BYTES = 1 << 16
_INSTEAD = "Make a plain file of it first: zstd -d FILE"


def is_compressed(file: BinaryIO) -> bool:
    """Return whether a file is one, open at its beginning."""
    begun = file.read(len(MAGIC))
    file.seek(0)
    return begun == MAGIC


def plain(file: BinaryIO) -> BytesIO:
    """Return what a file holds.

    Args:
        file: open at its beginning.

    Raises:
        CallerError: It holds too much, or what reads it is not installed.
    """
    zstd = _zstd()
    made = BytesIO()
    with zstd.ZstdFile(file) as content, suppress(zstd.ZstdError, EOFError):
        while part := content.read1(_CHUNK_BYTES):
            made.write(part)
            if made.tell() > MAX_PLAIN_BYTES:
                raise CallerError(f"This session holds more than {MAX_PLAIN_BYTES} bytes, compressed. {_INSTEAD}")
    return made


def _zstd() -> ModuleType:
    """Return what reads them: Python's own from 3.14 on. Raises CallerError."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise CallerError(
            f"This session is compressed, which is read with: pip install 'penstock[zst]'. {_INSTEAD}"
        ) from error
    return zstd

"""How is a session's file read that its host has compressed with Zstandard, as Codex does with inactive ones (RFC 8878)?

Law: no more than `MAX_PLAIN_BYTES` is held; of a torn file, the intact part is returned.
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
"""The first bytes of each of these files."""
MAX_PLAIN_BYTES = 256 << 20
"""The limit for a file's content: unlike lines, it must be held while it is read."""
_CHUNK_BYTES = 1 << 16
_INSTEAD = "Make a plain file of it first: zstd -d FILE"


def is_compressed(file: BinaryIO) -> bool:
    """Return whether a file, open at its beginning, is compressed."""
    begun = file.read(len(MAGIC))
    file.seek(0)
    return begun == MAGIC


def plain(file: BinaryIO) -> BytesIO:
    """Return a file's content.

    Args:
        file: open at its beginning.

    Raises:
        CallerError: It is too large, or the decompressor is not installed.
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
    """Return the decompressor: Python's own from 3.14 on. Raises CallerError."""
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

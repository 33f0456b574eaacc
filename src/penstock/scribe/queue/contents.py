"""How are the bytes of a file kept in a queue? Compressed, under their hash.

A row may be damaged, and whoever may start runs may put in anything under the hash of a file that another run will bring: another
program, or a kilobyte that becomes gigabytes. Law: what comes out is what was put in, or nothing. Leaves to others: which contents
are needed, and what follows if one is missing.
"""

from __future__ import annotations

import zlib
from hashlib import sha256

from penstock.scribe.gathering import MAX_BYTES

MISSING = "its content is not in the queue, or not as it was put in"
"""Why a file cannot be read."""


def digest_of(data: bytes) -> bytes:
    """Return the hash under which the bytes of a file are kept."""
    return sha256(data).digest()


def packed(data: bytes) -> bytes:
    """Return the bytes of a file as its row holds them."""
    return zlib.compress(data, 6)


def unpacked(digest: bytes, held: bytes | None) -> bytes | None:
    """Return the bytes of a file from its row; None if they are not those of this hash, or there is no row."""
    if held is None:
        return None
    try:
        data = zlib.decompressobj().decompress(held, MAX_BYTES + 1)  # no source is larger
    except zlib.error:
        return None
    return data if digest_of(data) == digest else None

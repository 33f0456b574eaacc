"""What does a packed body hold? Requests are unpacked to be read, and go on packed as they came where nothing is changed.

Laws: no more is unpacked than a body may have, whatever a small one claims to hold; what is not whole, or packed in a way that is
not known here, is left as it is, and passes unseen. Pure. Leaves to others: what is read in it (`incoming`).
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    Pairs = list[tuple[bytes, bytes]]

CODING = b"content-encoding"


class PackedBody(NamedTuple):
    """A body as it came, and as it reads."""

    came: bytes
    plain: bytes

    def sent(self, raw: bytes, headers: Pairs) -> tuple[bytes, Pairs]:
        """Return the body and the headers to send: those that came where a body is the plain one still.

        Args:
            raw: the plain body that is to be sent.
            headers: for it, names in lower case.
        """
        if self.came is self.plain or raw != self.plain:
            plain_headers = [pair for pair in headers if pair[0] != CODING] if self.came is not self.plain else headers
            return raw, plain_headers
        return self.came, headers


def is_packed(headers: Pairs) -> bool:
    """Return whether the headers of a request say that its body is packed."""
    return any(name == CODING and value.strip().lower() not in {b"", b"identity"} for name, value in headers)


def unpacked(body: bytes, headers: Pairs, max_bytes: int) -> PackedBody:
    """Return a body with what it holds; both are the same where it cannot be unpacked.

    Args:
        body: as it came.
        headers: names in lower case.
        max_bytes: how much may come of it.
    """
    codings = [value.strip().lower() for name, value in headers if name == CODING]
    unpack = _UNPACKERS.get(codings[0]) if len(codings) == 1 else None
    plain = unpack(body, max_bytes) if unpack is not None else None
    return PackedBody(body, body if plain is None else plain)


def _inflated(window_bits: int) -> Callable[[bytes, int], bytes | None]:
    def inflate(body: bytes, max_bytes: int) -> bytes | None:
        reader = zlib.decompressobj(window_bits)
        try:
            plain = reader.decompress(body, max_bytes + 1)
        except zlib.error:
            return None
        # More than one stream behind the other is allowed, and nobody sends it.
        return plain if reader.eof and not reader.unused_data and len(plain) <= max_bytes else None

    return inflate


def _of_zstd(body: bytes, max_bytes: int) -> bytes | None:
    """Return what a body in zstd's format holds; None also where nothing here reads that (the extra `zst`, or Python 3.14)."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        return None
    reader = zstd.ZstdDecompressor()
    try:
        plain: bytes = reader.decompress(body, max_bytes + 1)
    except zstd.ZstdError:
        return None
    return plain if reader.eof and not reader.unused_data and len(plain) <= max_bytes else None


_UNPACKERS: dict[bytes, Callable[[bytes, int], bytes | None]] = {
    b"gzip": _inflated(16 + zlib.MAX_WBITS),
    b"x-gzip": _inflated(16 + zlib.MAX_WBITS),
    b"deflate": _inflated(zlib.MAX_WBITS),
    b"zstd": _of_zstd,
}

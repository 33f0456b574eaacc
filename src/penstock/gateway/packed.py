"""What does a compressed body hold? Requests are decompressed for reading, and pass as they came if nothing is changed.

An answer is decompressed block by block. Laws: no more of a request is decompressed than its limit, and of an answer no more than a
piece at once, whatever a small one claims to hold; an incomplete body, or one in an unknown coding, is left as it is, and passes
unread. Pure. Leaves to others: what is read in it (`incoming`, `answers`).
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Pairs = list[tuple[bytes, bytes]]

CODING = b"content-encoding"
BOM = b"\xef\xbb\xbf"
"""A byte order mark, which some programs write before UTF-8: not part of JSON, and skipped by readers that accept it."""
_PIECE_BYTES = 1 << 20
_GZIP_BITS = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"


class PackedBody(NamedTuple):
    """A body as it came, and decompressed."""

    came: bytes
    plain: bytes

    def sent(self, raw: bytes, headers: Pairs) -> tuple[bytes, Pairs]:
        """Return the body and the headers to send: the original ones if the plain body is unchanged.

        Args:
            raw: the plain body that is to be sent.
            headers: for it, names in lower case.
        """
        if self.came is self.plain or raw != self.plain:
            plain_headers = [pair for pair in headers if pair[0] != CODING] if self.came is not self.plain else headers
            return raw, plain_headers
        return self.came, headers


def is_packed(headers: Pairs) -> bool:
    """Return whether a request's headers say that its body is compressed."""
    return any(name == CODING and value.strip().lower() not in {b"", b"identity"} for name, value in headers)


def unpacked(body: bytes, headers: Pairs, max_bytes: int) -> PackedBody:
    """Return a body with its decompressed content; both are the same if it cannot be decompressed.

    Args:
        body: as it came.
        headers: names in lower case.
        max_bytes: the limit of the content.
    """
    codings = [value.strip().lower() for name, value in headers if name == CODING]
    unpack = _UNPACKERS.get(codings[0]) if len(codings) == 1 else None
    plain = unpack(body, max_bytes) if unpack is not None else None
    return PackedBody(body, (body if plain is None else plain).removeprefix(BOM))


class Unpacker:
    """Decompresses the blocks of an answer one after another.

    Args:
        coding: `gzip`, `deflate` or `identity`.
    """

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._reader: zlib._Decompress | None = None
        self._head, self._is_behind_one = b"", False

    def pieces(self, block: bytes) -> Iterator[bytes]:
        """Yield a block's content in pieces of bounded size; a block that is not in the declared coding, unchanged."""
        if self._coding == "identity":
            yield block
            return
        block, self._head = self._head + block, b""
        piece = b""
        while block or len(piece) == _PIECE_BYTES:
            if self._reader is None:
                if len(block) < len(_GZIP_MAGIC):  # not enough to identify it
                    self._head = block
                    return
                # Parts compressed separately give consecutive streams; anything else there is padding.
                if self._is_behind_one and not block.startswith(_GZIP_MAGIC):
                    return
                self._reader = zlib.decompressobj(_window_bits(self._coding, block))
            try:
                piece = self._reader.decompress(block, _PIECE_BYTES)
            except zlib.error:
                self._coding = "identity"
                yield block
                return
            if piece:
                yield piece
            block = self._reader.unconsumed_tail
            if self._reader.eof:
                block, piece = self._reader.unused_data, b""
                self._reader, self._is_behind_one = None, True


def unpacker_of(coding: str) -> Unpacker | None:
    """Return the decompressor for an answer's content coding; None for an unknown one."""
    named = coding.strip().lower() or "identity"
    return Unpacker(named.removeprefix("x-")) if named in {"identity", "gzip", "x-gzip", "deflate"} else None


def _window_bits(coding: str, block: bytes) -> int:
    """Return zlib's parameter for a body with this beginning: `deflate` means zlib's format, and many omit its header."""
    if coding != "deflate":
        return _GZIP_BITS
    has_head = block[0] & 0x0F == 8 and int.from_bytes(block[:2]) % 31 == 0
    return zlib.MAX_WBITS if has_head else -zlib.MAX_WBITS


def _inflated(coding: str) -> Callable[[bytes, int], bytes | None]:
    def inflate(body: bytes, max_bytes: int) -> bytes | None:
        reader = zlib.decompressobj(_window_bits(coding, body.ljust(2)))
        try:
            plain = reader.decompress(body, max_bytes + 1)
        except zlib.error:
            return None
        # Several consecutive streams are allowed, but nobody sends them.
        return plain if reader.eof and not reader.unused_data and len(plain) <= max_bytes else None

    return inflate


def _of_zstd(body: bytes, max_bytes: int) -> bytes | None:
    """Return the content of a zstd body; None also if no decompressor is available (the extra `zst`, or Python 3.14)."""
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
    b"gzip": _inflated("gzip"),
    b"x-gzip": _inflated("gzip"),
    b"deflate": _inflated("deflate"),
    b"zstd": _of_zstd,
}

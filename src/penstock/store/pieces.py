"""How is content cut so that any part can be read and checked alone? Into pieces of one size, each with a checksum and a line
count.

So a page of a gigabyte costs a page. Running sums of the counts find any line in two steps: a bisection, and a scan of one piece. A
piece stored in fewer bytes than its size has been compressed. Law: what `plain` returns has the checksum it had on arrival. Leaves
to others: where pieces lie (the databases).
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PIECE_BYTES = 256 * 1024
"""The size of every piece but the last: the most that a read of one byte costs."""
# Stored length, CRC-32 and line ends of one piece: 12 bytes for 256 KiB, so that the table of a 2 GiB content takes 96 KiB.
_ENTRY = struct.Struct("<III")
_THREAD_FROM = 8  # pieces; anything larger is hashed while it is written
_LEVEL = 1  # of zlib: 131 MB/s on source text, to a seventh of its size; higher levels cost more than they save


class ContentPiece(NamedTuple):
    """One piece as it is stored: its length on disk, the CRC-32 of its uncompressed bytes, and how many lines end in it."""

    stored_bytes: int
    crc: int
    newlines: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """Content as measured on arrival: its SHA-256, its sizes, its pieces."""

    digest: str
    bytes: int
    lines: int
    """Line ends, plus one for text after the last."""
    pieces: tuple[ContentPiece, ...]

    @property
    def stored_bytes(self) -> int:
        """Return what all pieces together take on disk."""
        return sum(piece.stored_bytes for piece in self.pieces)


def pack(pieces: Iterable[ContentPiece]) -> bytes:
    """Return the table of pieces as the database holds it."""
    return b"".join(_ENTRY.pack(*piece) for piece in pieces)


def unpack(packed: bytes) -> tuple[ContentPiece, ...]:
    """Return the pieces of a table that `pack` made."""
    return tuple(ContentPiece(*entry) for entry in _ENTRY.iter_unpack(packed))


class PieceLayout:
    """Where the pieces and lines of one content lie.

    Args:
        digest: The SHA-256 of the whole.
        place: Where the database keeps it: a file's name, or a key.
        total_bytes: Its uncompressed length.
        pieces: Its table.
    """

    def __init__(self, digest: str, place: str, total_bytes: int, pieces: tuple[ContentPiece, ...]) -> None:
        self.digest = digest
        self.place = place
        self.bytes = total_bytes
        self.pieces = pieces
        # Running sums with a leading 0: entry n is what precedes piece n, and the last one is the total.
        self.starts = [0, *accumulate(piece.stored_bytes for piece in pieces)]
        self.newlines = [0, *accumulate(piece.newlines for piece in pieces)]

    def plain_bytes(self, number: int) -> int:
        """Return the uncompressed length of piece `number`: `PIECE_BYTES` for all but the last."""
        return min(PIECE_BYTES, self.bytes - number * PIECE_BYTES)

    def read(self, start_byte: int, count: int, piece: Callable[[int], bytes]) -> bytes:
        """Return up to `count` bytes from `start_byte` on, across pieces; `piece(n)` returns piece n uncompressed."""
        end = min(start_byte + max(0, count), self.bytes)
        parts = []
        while start_byte < end:
            number, skip = divmod(start_byte, PIECE_BYTES)
            part = piece(number)[skip : skip + end - start_byte]
            if not part:
                break
            parts.append(part)
            start_byte += len(part)
        return b"".join(parts)

    def line_start(self, line: int, piece: Callable[[int], bytes]) -> int | None:
        """Return the byte at which `line` (0-based) starts; None if there is no such line.

        A line starts after a line end, so the search is for line end number `line`. Text that ends with a line feed has no line
        after it.
        """
        if line == 0:
            return 0 if self.bytes else None
        if line > self.newlines[-1]:
            return None
        number = bisect_left(self.newlines, line) - 1  # the piece with the line end before it
        data, at = piece(number), -1
        for _ in range(line - self.newlines[number]):
            at = data.find(b"\n", at + 1)
        start = number * PIECE_BYTES + at + 1
        return start if start < self.bytes else None

    def lines_before(self, byte: int, piece: Callable[[int], bytes]) -> int:
        """Return how many lines end before `byte`."""
        if byte >= self.bytes:
            return self.newlines[-1]
        number, skip = divmod(max(0, byte), PIECE_BYTES)
        return self.newlines[number] + (piece(number).count(b"\n", 0, skip) if skip else 0)


def plain(stored: bytes, piece: ContentPiece, plain_bytes: int) -> bytes | None:
    """Return a piece as it arrived; None if it is not what was written.

    Args:
        stored: What the database has.
        piece: Its entry in the table.
        plain_bytes: Its uncompressed length.
    """
    if len(stored) != piece.stored_bytes:
        return None
    data = stored
    if piece.stored_bytes < plain_bytes:
        try:
            # Bounded: damaged bytes must not unpack into gigabytes. One byte too many shows in the length.
            data = zlib.decompressobj().decompress(stored, plain_bytes + 1)
        except zlib.error:
            return None
    return data if len(data) == plain_bytes and zlib.crc32(data) == piece.crc else None


def compressed(data: bytes) -> bytes:
    """Return the shorter of `data` and its compressed form: only a shorter length marks a piece as compressed."""
    short = zlib.compress(data, _LEVEL)
    return short if len(short) < len(data) else data


class _Tally:
    """What is learned from pieces as they pass: hash, sizes, checksums."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.bytes = 0
        self.pieces: list[ContentPiece] = []
        self.ends_line = True

    def add(self, piece: bytes, line_ends: int) -> None:
        """Record a piece."""
        self.digest.update(piece)
        self.bytes += len(piece)
        self.pieces.append(ContentPiece(len(piece), zlib.crc32(piece), line_ends))
        self.ends_line = piece.endswith(b"\n")

    def content(self) -> Content:
        """Return the description of all pieces together."""
        lines = sum(piece.newlines for piece in self.pieces) + (not self.ends_line)
        return Content(digest=self.digest.hexdigest(), bytes=self.bytes, lines=lines, pieces=tuple(self.pieces))


def cut(content: bytes | Iterable[bytes]) -> Iterator[bytes]:
    """Yield `content` in pieces of `PIECE_BYTES`, the last one shorter; parts may have any size."""
    if isinstance(content, bytes | bytearray | memoryview):
        view = memoryview(content)
        for at in range(0, len(view), PIECE_BYTES):
            yield bytes(view[at : at + PIECE_BYTES])
        return
    held = bytearray()
    for part in content:
        # Blocks of this size, as read from a file, are not copied.
        if not held and len(part) == PIECE_BYTES:
            yield bytes(part)
            continue
        held += part
        while len(held) >= PIECE_BYTES:
            yield bytes(held[:PIECE_BYTES])
            del held[:PIECE_BYTES]
    if held:
        yield bytes(held)


def measure(content: bytes) -> Content:
    """Return what `content` would be as an artifact, without keeping it: its digest tells whether it already exists."""
    tally = _Tally()
    for piece in cut(content):
        tally.add(piece, newlines(piece))
    return tally.content()


_counted: tuple[bytes, int] = (b"", 0)


def newlines(part: bytes) -> int:
    """Return how many lines end in `part`.

    A caller who watches a stream on its way to a store asks for the same part as the store: the last answer is cached, because
    counting costs as much as hashing.
    """
    global _counted  # noqa: PLW0603
    known, count = _counted
    # Compared by identity, which is safe because the part is referenced: no other object can have its address. The pair is replaced
    # as a whole, so that threads never see halves of two answers.
    if known is not part:
        count = part.count(b"\n")
        if len(part) <= PIECE_BYTES:
            _counted = (part, count)
    return count


def intake(content: bytes | Iterable[bytes], write: Callable[[bytes], None]) -> Content:
    """Pass every piece of `content` to `write`, and return the description of the whole.

    If there is much of it, hashing runs in a thread alongside the writing: both release the interpreter meanwhile.

    Raises:
        Exception: Whatever `write` or the iterable raises; the thread has ended by then.
    """
    from queue import Queue
    from threading import Thread

    tally = _Tally()
    # Bounded, so that a slow hash delays the stream instead of filling memory: 8 pieces are 2 MiB.
    queue: Queue[tuple[bytes, int] | None] = Queue(maxsize=_THREAD_FROM)
    helper: Thread | None = None

    def run() -> None:
        while (counted := queue.get()) is not None:
            tally.add(*counted)

    try:
        for number, piece in enumerate(cut(content)):
            if number == _THREAD_FROM:
                helper = Thread(target=run, name="penstock-hash", daemon=True)
                helper.start()
            if helper is None:
                tally.add(piece, newlines(piece))
            else:
                queue.put((piece, newlines(piece)))
            write(piece)
    finally:
        if helper is not None:
            queue.put(None)
            helper.join()
    return tally.content()

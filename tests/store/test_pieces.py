"""Is every byte and line of content kept in pieces, however it arrives and is cut, and is damage found?"""

from __future__ import annotations

import zlib
from itertools import product
from typing import TYPE_CHECKING

import pytest

from penstock.store import pieces
from penstock.store.pieces import ContentPiece, PieceLayout

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.proves("G-3")
SIZE = 4
CONTENTS = [b"".join(one) for length in (0, 1, 3, 4, 5, 8) for one in product((b"a", b"\n"), repeat=length)][::3]
CONTENTS += [b"one\ntwo\n\nthree\nfour", b"\n" * 9, b"x" * 12, b"four" * 40]


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set pieces to four bytes, so that every place in a content is near an edge."""
    monkeypatch.setattr(pieces, "PIECE_BYTES", SIZE)


def parts_of(content: bytes, size: int) -> Iterator[bytes]:
    return (content[at : at + size] for at in range(0, len(content), size))


@pytest.mark.usefixtures("_small")
def test_content_is_the_same_however_it_comes() -> None:
    """Parts of any size, a stream or bytes, hashed during the writing or not, give pieces of four bytes except the last."""
    for content in CONTENTS:
        whole = [content[at : at + SIZE] for at in range(0, len(content), SIZE)]
        measured = pieces.measure(content)
        streams = [parts_of(content, size) for size in (1, 3, 4, 5, 9)]
        for stream in [parts_of(content, len(content) + 1), *streams]:
            written: list[bytes] = []
            assert pieces.intake(stream, written.append) == measured
            assert written == whole
        assert pieces.intake(content, list[bytes]().append) == measured
        for other in (bytearray(content), memoryview(content)):
            assert [*pieces.cut(other)] == whole  # type: ignore[arg-type]
        assert measured.lines == len(content.splitlines())
        assert measured.bytes == measured.stored_bytes == len(content)
        assert [one.newlines for one in measured.pieces] == [one.count(b"\n") for one in whole]
        assert pieces.unpack(pieces.pack(measured.pieces)) == measured.pieces


@pytest.mark.usefixtures("_small")
def test_every_byte_and_every_line_is_where_it_is() -> None:
    """Each content gives the same answers as the whole, at each place and beyond its ends."""
    for content in CONTENTS[:60:4] + CONTENTS[-4:]:
        layout = PieceLayout("d", "p", len(content), pieces.measure(content).pieces)

        def piece(number: int, content: bytes = content) -> bytes:
            return content[number * SIZE : (number + 1) * SIZE]

        starts = [0, *(at + 1 for at, byte in enumerate(content) if byte == 10)]
        starts = [at for at in starts if at < len(content)]
        for line in range(len(starts) + 2):
            assert layout.line_start(line, piece) == (starts[line] if line < len(starts) else None)
        for at in range(len(content) + 2):
            assert layout.lines_before(at, piece) == content.count(b"\n", 0, at)
            for count in (-1, 0, 1, SIZE - 1, SIZE, SIZE + 1, len(content)):
                assert layout.read(at, count, piece) == content[at : at + max(0, count)]
        assert layout.lines_before(-1, piece) == 0
        assert layout.read(0, 9, lambda _: b"") == b""
        plain = [layout.plain_bytes(number) for number in range(len(layout.pieces))]
        assert plain == [len(one) for one in parts_of(content, SIZE)]


@pytest.mark.usefixtures("_small")
def test_a_page_costs_the_pieces_that_it_lies_in() -> None:
    """Each piece is read once, and none for a place on its edge."""
    content, looked = b"one\ntwo\nthree\nfour\n", list[int]()
    layout = PieceLayout("d", "p", len(content), pieces.measure(content).pieces)

    def piece(number: int) -> bytes:
        looked.append(number)
        return content[number * SIZE : (number + 1) * SIZE]

    for look, expected in (
        (lambda: layout.read(0, SIZE, piece), [0]),
        (lambda: layout.read(SIZE - 1, 2, piece), [0, 1]),
        (lambda: layout.read(SIZE, SIZE, piece), [1]),
        (lambda: layout.lines_before(SIZE, piece), []),
        (lambda: layout.lines_before(SIZE + 1, piece), [1]),
        (lambda: layout.lines_before(len(content), piece), []),
        (lambda: layout.line_start(0, piece), []),
        (lambda: layout.line_start(1, piece), [0]),
        (lambda: layout.line_start(3, piece), [3]),
        (lambda: layout.line_start(5, piece), []),
    ):
        looked.clear()
        look()
        assert looked == expected


def test_a_piece_that_is_not_what_was_written_is_rejected() -> None:
    """It may be shorter, longer, another one, packed from too much or too little, or damaged, plain or packed."""
    data = b"some line of a log\n" * 90
    packed = pieces.compressed(data)
    assert len(packed) < len(data)
    crc = zlib.crc32(data)
    for stored in (data, packed):
        piece = ContentPiece(len(stored), crc, 90)
        assert pieces.plain(stored, piece, len(data)) == data
        assert pieces.plain(stored[:-1], piece, len(data)) is None
        assert pieces.plain(stored + b"x", piece, len(data)) is None
        assert pieces.plain(bytes(len(stored)), piece, len(data)) is None
        assert pieces.plain(stored, piece._replace(crc=crc ^ 1), len(data)) is None
        assert pieces.plain(stored, piece, len(data) + 1) is None
    assert pieces.plain(packed, ContentPiece(len(packed), zlib.crc32(data[:-1]), 90), len(data) - 1) is None
    for length in range(60):  # content that packing does not shorten stays plain, and so differs from packed content
        content = b"a" * length
        assert pieces.compressed(content) == content or len(pieces.compressed(content)) < length


def test_lines_of_a_part_are_counted_once_for_all_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """The part itself counts them: an equal one is counted again, and a large one is not cached."""
    part = b"one\ntwo\n"
    assert [pieces.newlines(part), pieces.newlines(part), pieces.newlines(b"three"), pieces.newlines(part)] == [
        2,
        2,
        0,
        2,
    ]
    monkeypatch.setattr(pieces, "PIECE_BYTES", len(part))
    pieces.newlines(part)
    assert pieces._counted[0] is part
    pieces.newlines(part + b"x")
    assert pieces._counted[0] is part


def test_what_is_stored_stays_readable() -> None:
    """A store written by another version has pieces of this size and this table."""
    assert pieces.PIECE_BYTES == 262_144
    assert pieces.pack([ContentPiece(1, 2, 3)]) == bytes.fromhex("010000000200000003000000")

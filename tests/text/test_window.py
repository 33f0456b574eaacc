"""Which bytes and lines are in a window: encodings, cuts, and what a fragment knows of its line?"""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.text import window
from penstock.text.window import (
    UTF8,
    Encoding,
    Extent,
    Fragment,
    Line,
    Window,
    cut_bytes,
    cut_exact,
    detect,
    kind_of,
    shorten,
)

pytestmark = pytest.mark.proves("B-4", "B-7")


class Memory:
    """A source in memory that loses `lost` bytes at its end when it is read."""

    def __init__(self, data: bytes, lost: int = 0) -> None:
        self.size_bytes = len(data)
        self._data = data[: len(data) - lost]

    def read(self, start_byte: int, count_bytes: int) -> bytes:
        return self._data[start_byte : start_byte + count_bytes]


_BYTES = st.one_of(
    st.binary(max_size=30),
    st.lists(
        st.sampled_from(
            [b"a", b"\n", b"\\", b"\\x00", b"\\udc41", b"\xe9", b"\xff", "é".encode(), "日".encode(), "日".encode()[:2]]
        )
    ).map(b"".join),
)


@given(_BYTES)
def test_bytes_that_are_no_text_are_escaped_one_by_one_and_counted(data: bytes) -> None:
    """The result is that of Python's error handler, which is called for each byte; text around them stays."""
    text, invalid = UTF8.decode(data)
    assert text == data.decode("utf-8", "backslashreplace")
    assert invalid == sum(0xDC80 <= ord(character) <= 0xDCFF for character in data.decode("utf-8", "surrogateescape"))


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"plain", "UTF-8"),
        (b"\xef\xbb\xbfplain", "UTF-8"),
        (b"\xff\xfea\0", "UTF-16LE"),
        (b"\xfe\xff\0a", "UTF-16BE"),
        (b"\xff\xfe\0\0a\0\0\0", "UTF-32LE"),
        (b"\0\0\xfe\xff\0\0\0a", "UTF-32BE"),
        (b"x" * 8192 + b"\0", "UTF-8"),
        (b"x" * 8191 + b"\0", None),
        (b"a\0b\0", None),
        (b"", "UTF-8"),
    ],
)
def test_the_first_bytes_say_which_encoding(head: bytes, name: str | None) -> None:
    """A byte order mark decides; else a NUL in the first 8 KiB means binary."""
    found = detect(head)
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\x7fELF", "ELF program"),
        (b"%PDF-1.7", "PDF document"),
        (b"PK\x03\x04", "ZIP archive"),
        (b"\0\0", "it holds NUL bytes"),
    ],
)
def test_binary_content_has_a_name(head: bytes, kind: str) -> None:
    """The first bytes give the name if they are known."""
    assert kind_of(head) == kind


def test_the_bounds_are_written_once() -> None:
    """The bounds are 64 KiB by default and 256 KiB at most (B-3)."""
    assert (window.DEFAULT_MAX_BYTES, window.HARD_MAX_BYTES) == (65_536, 262_144)


@pytest.mark.parametrize(
    ("data", "at", "floor", "ceil"),
    [
        ("aé😀".encode(), 2, 1, 3),
        ("aé😀".encode(), 3, 3, 3),
        ("aé😀".encode(), 6, 3, 7),
        (b"\x80\x80\x80\x80\x80", 3, 3, 3),
        (b"\xe2\x82a", 1, 1, 1),
        (b"\xf0\x9f\x98", 2, 2, 2),
        (b"ab", 9, 9, 9),
    ],
)
def test_a_boundary_is_between_characters(data: bytes, at: int, floor: int, ceil: int) -> None:
    """Undecodable bytes are one character each."""
    assert (UTF8.floor_char(data, at), UTF8.ceil_char(data, at)) == (floor, ceil)


def test_a_pair_of_utf16_is_one_character() -> None:
    """Two halves that do not belong together are two characters."""
    encoding = detect(b"\xff\xfe")
    assert encoding is not None
    data = "a😀b".encode("utf-16-le")
    assert [encoding.floor_char(data, at) for at in range(9)] == [0, 0, 2, 2, 2, 2, 6, 6, 8]
    assert encoding.floor_char(b"\x00\xdca\0", 2) == 2
    assert encoding.floor_char("😀".encode("utf-16-le"), 2) == 0


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_line_feed_is_a_whole_unit(codec: str) -> None:
    """Bytes that look like a line feed across two units end no line."""
    encoding = detect("\ufeff".encode(codec))
    assert encoding is not None
    data = "\u0a0a\u0a00\u000ax\n".encode(codec)
    unit = encoding.unit
    assert encoding.find(data, 0) == 3 * unit
    assert encoding.find(data, 3 * unit) == 5 * unit
    assert encoding.find(data, 5 * unit) is None
    assert encoding.rfind(data, 5 * unit) == 5 * unit
    assert encoding.rfind(data, 4 * unit) == 3 * unit
    assert encoding.rfind(data, 2 * unit) is None
    assert encoding.count(data, 0, len(data)) == 2


@pytest.mark.parametrize(
    ("data", "text", "invalid"),
    [
        (b"caf\xe9", "caf\\xe9", 1),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80", 3),
        (b"\xc0\xaf", "\\xc0\\xaf", 2),
        (b"\\xff", "\\xff", 0),
        (b"\xe2\x82", "\\xe2\\x82", 2),
    ],
)
def test_invalid_bytes_are_shown_and_counted(data: bytes, text: str, invalid: int) -> None:
    """Each invalid byte is one escape (L-10)."""
    assert UTF8.decode(data) == (text, invalid)


@pytest.mark.proves("B-5")
def test_a_fragment_knows_its_line_as_far_as_it_was_seen() -> None:
    """A fragment gives the start and end of its line, or says that nobody looked that far."""
    source = Memory(b"a\n" + b"x" * 100 + b"\nb\n")
    first = cut_bytes(source, UTF8, start_byte=2, max_bytes=10, cap_bytes=60)
    assert first.fragment is not None
    assert (first.start_byte, first.end_byte) == (2, 12)
    assert (first.fragment.line_start_byte, first.fragment.line_end_byte) == (2, None)
    last = cut_bytes(source, UTF8, start_byte=90, max_bytes=50, cap_bytes=60)
    assert last.fragment is not None
    assert (last.start_byte, last.end_byte) == (90, 103)
    assert (last.fragment.line_start_byte, last.fragment.line_end_byte) == (None, 103)


@pytest.mark.proves("B-5")
def test_a_place_that_pages_share_stays_where_it_is() -> None:
    """A start at which another page ended does not move back, and an end at which one starts does not round up."""
    source = Memory(b"one line\nanother line\n")
    assert cut_bytes(source, UTF8, start_byte=4, max_bytes=2, cap_bytes=60).start_byte == 0
    kept = cut_bytes(source, UTF8, start_byte=4, max_bytes=2, cap_bytes=60, keep_start=True)
    assert (kept.start_byte, kept.data, kept.fragment is not None) == (4, b"li", True)
    kept = cut_bytes(source, UTF8, start_byte=0, max_bytes=6, cap_bytes=60, keep_start=True, keep_end=True)
    assert (kept.data, kept.fragment is not None) == (b"one li", True)
    kept = cut_bytes(source, UTF8, start_byte=0, max_bytes=22, cap_bytes=60, keep_end=True)
    assert (kept.end_byte, kept.fragment) == (22, None)
    kept = cut_bytes(Memory(b"aaa\nbbbbbb\ncc\n"), UTF8, start_byte=0, max_bytes=6, cap_bytes=100, keep_end=True)
    assert (kept.end_byte, kept.fragment) == (6, Fragment(line_start_byte=4, line_end_byte=11))
    kept = cut_bytes(
        Memory(b"aaa\nbbbbbb\ncc\n"), UTF8, start_byte=1, max_bytes=8, cap_bytes=100, keep_start=True, keep_end=True
    )
    assert (kept.start_byte, kept.end_byte) == (1, 9)


@pytest.mark.parametrize("lost", [1, 5, 12, 20, 24])
def test_a_source_that_shrank_ends_there(lost: int) -> None:
    """No extent claims bytes that were not read (H7)."""
    data = b"one line\nanother line\n..."
    for start in range(0, 25, 3):
        for size in (0, 5, 50):
            extent = cut_bytes(Memory(data, lost), UTF8, start_byte=start, max_bytes=size, cap_bytes=60)
            assert extent.end_byte == extent.start_byte + len(extent.data)
            assert extent.end_byte <= max(len(data) - lost, extent.start_byte)
            assert extent.data or extent == Extent(extent.start_byte, extent.start_byte, b"")


def test_exact_bytes_are_those_that_were_asked_for() -> None:
    """Lines and characters do not matter; there is at least one byte, and none after the end."""
    source = Memory(b"\0\n\xe2\x82\xac")
    assert cut_exact(source, start_byte=3, max_bytes=1).data == b"\x82"
    assert cut_exact(source, start_byte=0, max_bytes=0).data == b"\0"
    assert cut_exact(source, start_byte=99, max_bytes=9) == Extent(start_byte=5, end_byte=5, data=b"")


@pytest.mark.proves("B-5")
def test_what_a_smaller_budget_leaves_is_whole_characters() -> None:
    """There is at least one, marked as a fragment if it ends within a line."""
    whole = Extent(start_byte=10, end_byte=22, data="ééé\nééé\n".encode()[:12])
    assert shorten(whole, UTF8, 13).data == "é".encode()
    assert shorten(whole, UTF8, 0).data == "é".encode()
    lines = shorten(whole, UTF8, 17)
    assert (lines.data, lines.fragment) == ("ééé\n".encode(), None)
    part = shorten(whole, UTF8, 20)
    assert part.fragment is not None
    assert part.fragment.line_start_byte == 17


def test_a_window_is_a_frozen_value() -> None:
    """A window is made once and never changed."""
    page = Window(path="a", text="x", start_byte=0, end_byte=1, total_bytes=1)
    with pytest.raises(AttributeError):
        page.text = "y"  # type: ignore[misc]
    assert (page.invalid_bytes, page.fragment, page.next, page.previous, page.notices) == (0, None, None, None, ())
    line = Line(number=1, start_byte=3, text="ab", body_bytes=2, shown_bytes=2)
    assert (line.hidden_bytes, line.end_byte, line.invalid_bytes, line.is_endless, line.way) == (0, 6, 0, False, None)


_ENCODINGS = [UTF8, *(detect(mark) for mark in (b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff"))]
# The first and the last character of each UTF-8 length; for UTF-16 a pair and its neighbours.
_EDGES = "\0\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"


@pytest.mark.parametrize("encoding", _ENCODINGS, ids=lambda encoding: str(encoding and encoding.name))
def test_every_place_between_two_characters_is_a_boundary_and_none_within_one(encoding: Encoding) -> None:
    """This holds for every two characters that are the first or last of their length."""
    for text in map("".join, product(_EDGES, repeat=2)):
        data = text.encode(encoding.codec)
        bounds = [0, len(text[0].encode(encoding.codec)), len(data)]
        for at in range(len(data) + 1):
            assert encoding.floor_char(data, at) == max(bound for bound in bounds if bound <= at)
            assert encoding.ceil_char(data, at) == min(bound for bound in bounds if bound >= at)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_halves_of_a_pair_are_one_character_in_their_order_alone(codec: str) -> None:
    """The first and last half of either kind are tested, and the units before and after those ranges."""
    (encoding,) = (one for one in _ENCODINGS if one is not None and one.codec == codec)
    halves = (0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000)
    for high, low in product(halves, halves):
        data = "".join(map(chr, (high, low))).encode(codec, "surrogatepass")
        is_pair = 0xD800 <= high <= 0xDBFF and 0xDC00 <= low <= 0xDFFF
        assert encoding.floor_char(data + data[:2], 2) == (0 if is_pair else 2), f"{high:x} {low:x}"


def test_a_stray_byte_after_a_character_is_a_character_of_its_own() -> None:
    """This holds for a character of any length."""
    for character in _EDGES.replace("\ud7ff", ""):
        data = character.encode() + b"\xa9."
        assert UTF8.floor_char(data, len(data) - 2) == len(data) - 2


@pytest.mark.parametrize("encoding", _ENCODINGS, ids=lambda encoding: str(encoding and encoding.name))
def test_a_line_end_is_found_wherever_it_stands(encoding: Encoding) -> None:
    """The first end after a place and the last before one are found; a line feed across two characters is none."""
    for text in (text for number in range(4) for text in map("".join, product("\n\u0a01\u0100", repeat=number))):
        data = text.encode(encoding.codec)
        ends = [len(text[: at + 1].encode(encoding.codec)) for at, character in enumerate(text) if character == "\n"]
        for place in range(len(data) + 1):
            assert encoding.find(data, place) == min(
                (end for end in ends if end - encoding.unit >= place), default=None
            )
            assert encoding.rfind(data, place) == max((end for end in ends if end <= place), default=None)
        assert encoding.rfind(data, -1) is None
        assert encoding.count(data) == len(ends)


def _cut(
    data: bytes, start: int, max_bytes: int, cap: int, *, keep_start: bool, keep_end: bool
) -> tuple[int, int, bool]:
    """Return what a page must be, computed from all the data: its bounds, and whether it has whole lines only."""
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10 or at == len(data) - 1]
    line_start = max((end for end in ends if end <= start and data[end - 1] == 10), default=0)
    begin, begins_line = start, line_start == start
    if not begins_line and not keep_start and min(end for end in ends if end > start) - line_start <= cap:
        begin, begins_line = line_start, True
    want = min(max(start + max_bytes, begin + 1), begin + cap)
    line_end = min(end for end in ends if end > begin)
    is_whole = begins_line and line_end <= begin + cap
    if keep_end:
        end = min(want, len(data))
        return begin, end, is_whole and end in ends
    if not is_whole:
        return begin, min(line_end, want), False
    end = min((end for end in ends if end >= want), default=len(data))
    return begin, end if end <= begin + cap else max(end for end in ends if end <= begin + cap), True


@pytest.mark.parametrize("keep_end", [False, True])
@pytest.mark.parametrize("keep_start", [False, True])
def test_a_page_of_any_bounds_is_what_the_whole_says(keep_start: bool, keep_end: bool) -> None:
    """Every place in every text of up to six characters is tested, with lines as long as the cap, longer and shorter."""
    for length in range(1, 7):
        for data in map(bytes, product(b"a\n", repeat=length)):
            for start, max_bytes, cap in product(range(length), (0, 1, 3, 6), (4, 5)):
                extent = cut_bytes(
                    Memory(data),
                    UTF8,
                    start_byte=start,
                    max_bytes=max_bytes,
                    cap_bytes=cap,
                    keep_start=keep_start,
                    keep_end=keep_end,
                )
                expected = _cut(data, start, max_bytes, cap, keep_start=keep_start, keep_end=keep_end)
                said = (extent.start_byte, extent.end_byte, extent.fragment is None)
                assert said == expected, (data, start, max_bytes, cap)
                assert extent.data == data[extent.start_byte : extent.end_byte]
            past = cut_bytes(Memory(data), UTF8, start_byte=length, max_bytes=1, cap_bytes=4)
            assert (past.start_byte, past.end_byte, past.data) == (length, length, b"")

"""The law of windows: they tile any file in both directions, by lines and by bytes, as values and as texts that a model follows."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests import printed

from penstock import Allowance, Tools, Window, Workspace
from penstock.text import escape
from penstock.text.calls import Call
from penstock.text.tokens import Tokens
from penstock.text.window import Encoding, Extent, Fragment, cut_bytes, detect, next_char

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from penstock.text.window import Line

pytestmark = pytest.mark.proves("LAW-Window")


class Memory:
    """Bytes in memory that record which ranges were read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.size_bytes = len(data)
        self.looked: list[tuple[int, int]] = []

    def read(self, start_byte: int, count_bytes: int) -> bytes:
        self.looked.append((start_byte, start_byte + count_bytes))
        return self.data[start_byte : start_byte + count_bytes]


_PIECES = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [
            "\n",
            "\n\n",
            "\r\n",
            "\r",
            "\ufeff",
            "x" * 70,
            "é" * 40,
            "😀" * 30,
            "\x1b[2J",
            "\u202e",
            "\x0c",
            "\u2028",
            "\x85",
            "\t",
        ]
    ),
)
_TEXTS = st.lists(_PIECES, max_size=14).map("".join).map(lambda text: text.encode("utf-8", "ignore"))
_BYTES = st.lists(
    st.one_of(st.binary(max_size=12), st.sampled_from([b"\n", b"\xe2\x82", b"\xf0\x9f", b"\xff\xfe", b"\x80" * 5])),
    max_size=14,
)
_CODECS = {
    "utf-16-le": b"\xff\xfe",
    "utf-16-be": b"\xfe\xff",
    "utf-32-le": b"\xff\xfe\0\0",
    "utf-32-be": b"\0\0\xfe\xff",
}


@st.composite
def _wide(draw: st.DrawFn) -> bytes:
    codec = draw(st.sampled_from(sorted(_CODECS)))
    text = draw(_TEXTS).decode("utf-8", "ignore").replace("\0", "")
    tail = draw(st.sampled_from([b"", b"\n", b"\0\xd8", b"x\0\0"]))
    return _CODECS[codec] + text.encode(codec) + tail


CONTENTS = st.one_of(
    _TEXTS,
    _BYTES.map(b"".join),
    _wide(),
    st.tuples(_TEXTS, _TEXTS).map(lambda two: b"\xef\xbb\xbf" + two[0] + b"\n" + two[1]),
    st.tuples(_TEXTS, st.integers(1, 3)).map(lambda two: (b"line of text\n" * 640) + (b"\0" + two[0]) * two[1]),
)


def _encoding(data: bytes) -> Encoding:
    found = detect(data[:8192])
    assume(found is not None)
    assert found is not None
    return found


def _text(encoding: Encoding, data: bytes, start_byte: int = 0) -> str:
    mark = b"" if start_byte else _CODECS.get(encoding.codec, codecs.BOM_UTF8)
    return encoding.decode(data.removeprefix(mark))[0]


@given(data=CONTENTS, max_bytes=st.integers(0, 90), cap=st.integers(1, 120))
def test_following_the_end_from_the_start_visits_every_byte_once(data: bytes, max_bytes: int, cap: int) -> None:
    """Extents adjoin, advance, stay within their cap, split no character, and read at most one cap to either side."""
    encoding = _encoding(data)
    at, shown = 0, ""
    while at < len(data):
        source = Memory(data)
        extent = cut_bytes(source, encoding, start_byte=at, max_bytes=max_bytes, cap_bytes=cap, keep_start=at > 0)
        assert extent.start_byte == at < extent.end_byte
        assert extent.data == data[at : extent.end_byte]
        assert len(extent.data) <= max(cap, 4 * encoding.unit)
        reach = max(cap, 4 * encoding.unit)
        assert all(at - reach - encoding.unit < low and high <= at + reach + 4 for low, high in source.looked)
        shown += _text(encoding, extent.data, at)
        at = extent.end_byte
    assert shown == _text(encoding, data)


# ── a reference window, computed from the whole file ─────────────────────────────────────────────────────────────

_SMALL = st.one_of(
    st.lists(
        st.sampled_from([b"a", b"\n", b"bc\n", b"\r\n", b"\x80", b"\xe2\x82", *map(str.encode, ("é", "日", "😀"))]),
        max_size=24,
    ).map(b"".join),
    st.tuples(
        st.sampled_from(sorted(_CODECS)),
        st.lists(st.sampled_from(["a", "\n", "bc\n", "\u0a01\u0100", "😀"]), max_size=12).map("".join),
        st.sampled_from([b"", b"\n", b"\0\xd8", b"\xd8\0", b"\0\xdc\0\xdc", b"\xdc\0a"]),
    ).map(lambda made: _CODECS[made[0]] + made[1].encode(made[0]) + made[2]),
)


def _line_ends(data: bytes, encoding: Encoding) -> list[int]:
    """Return the places after the line ends."""
    unit = encoding.unit
    return [at + unit for at in range(0, len(data), unit) if data[at : at + unit] == encoding.newline]


def _boundaries(data: bytes, encoding: Encoding) -> list[int]:
    """Return where characters begin, and the end; each undecodable unit counts as one."""

    def is_one(part: bytes) -> bool:
        try:
            return len(part.decode(encoding.codec)) == 1
        except UnicodeDecodeError:
            return False

    places, unit = [0], encoding.unit
    while places[-1] < len(data):
        at = places[-1]
        lengths = [unit * n for n in range(4 // unit, 0, -1) if at + unit * n <= len(data)]
        places.append(min(at + next((n for n in lengths if is_one(data[at : at + n])), unit), len(data)))
    return places


@pytest.mark.proves("B-7")
@settings(max_examples=100)
@given(data=_SMALL)
@example(data="\ufeff\n\u0a01\u0100\u0a01\u0100".encode("utf-16-le"))
@example(data="\ufeff\n\u000a\u0a00\n".encode("utf-16-be"))
@example(data=b"\nab\r\n\n")
@example(data="\ufeff\n\U00010000\U0010ffff\ue000\n\n".encode("utf-16-le"))
@example(data="\ufeff\n\U00010000\U0010ffff\ue000\n\n".encode("utf-16-be"))
@example(data=b"\xff\xfe\x00\xd8\x00\xe0\xff\xdb\x00\xe0\x00\xd8\xff\xdf\x00\xdc\x00\xdc")
@example(data=b"\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\xc0\x80\xc2\x80\xe0\x80\xf0\x80")
def test_lines_and_characters_are_found_from_any_place(data: bytes) -> None:
    """Lines and characters found from any place are those found from the beginning."""
    encoding = _encoding(data)
    for part in (data, data[encoding.bom_bytes :]):  # a window begins anywhere
        _are_found(part, encoding)


def _are_found(data: bytes, encoding: Encoding) -> None:
    places, ends = _boundaries(data, encoding), _line_ends(data, encoding)
    for at in range(len(data) + 1):
        assert encoding.floor_char(data, at) == max(place for place in places if place <= at)
        assert encoding.ceil_char(data, at) == min(place for place in places if place >= at)
        assert encoding.find(data, at) == min((end for end in ends if end - encoding.unit >= at), default=None)
        assert encoding.rfind(data, at) == max((end for end in ends if end <= at), default=None)
        assert encoding.ends_line(data[:at]) == (at in ends)
        if at % encoding.unit == 0:
            assert encoding.count(data, at) == sum(end > at for end in ends)
            assert encoding.count(data, 0, at) == sum(end <= at for end in ends)
        if at in places[:-1]:
            assert next_char(data, encoding, at) == places[places.index(at) + 1]


def _cut(
    data: bytes, encoding: Encoding, start_byte: int, max_bytes: int, cap: int, *, keep_start: bool, keep_end: bool
) -> Extent:
    """Return what `cut_bytes` is documented to return."""
    ends, places, start = _line_ends(data, encoding), _boundaries(data, encoding), encoding.align(start_byte)
    if start_byte >= len(data):
        return Extent(len(data), len(data), b"")
    low, high = encoding.align(max(0, start - cap)), start + cap + 4  # it looks at one cap to either side

    def floor(at: int) -> int:
        return max(place for place in places if place <= at)

    def line_end(at: int) -> int | None:
        behind = [end for end in ends if at < end <= high]
        return min(behind, default=len(data) if len(data) < high else None)

    line_start = max((end for end in ends if low + encoding.unit <= end <= start), default=None if low else 0)
    begin, end = start, line_end(start)
    starts_line = line_start == start
    if not starts_line and not keep_start:
        starts_line = line_start is not None and end is not None and end - line_start <= cap
        begin = line_start if starts_line and line_start is not None else floor(start)
    want = min(max(start + max_bytes, begin + 1), begin + cap, len(data))
    end = line_end(begin)
    whole = starts_line and end is not None and end <= begin + cap
    one_more = min(place for place in places if place > begin)
    fragment = None if whole else Fragment(line_start, end)
    if keep_end:
        stop = max(floor(want), one_more)
        if whole and stop not in ends and stop < min(len(data), high):
            last = max((end for end in ends if begin < end <= stop), default=begin)
            fragment = Fragment(last, min((end for end in ends if last < end <= high), default=None))
    elif whole:
        lines = [place for place in (*ends, len(data)) if begin < place <= begin + cap]
        stop = min((place for place in lines if place >= want), default=lines[-1])
    else:
        stop = end if end is not None and end <= want else max(floor(want), one_more)
    return Extent(begin, stop, data[begin:stop], fragment)


@pytest.mark.proves("B-4", "B-5")
@settings(max_examples=150)
@given(
    data=_SMALL,
    start=st.integers(0, 40),
    max_bytes=st.integers(0, 30),
    cap=st.integers(0, 30),
    keep_start=st.booleans(),
    keep_end=st.booleans(),
)
def test_a_window_is_the_lines_that_were_asked_for_or_a_part_of_one(
    data: bytes, start: int, max_bytes: int, cap: int, keep_start: bool, keep_end: bool
) -> None:
    """Bounds, bytes and the fragment of a line are exact to the byte, whichever ends are fixed."""
    encoding = _encoding(data)
    if keep_start:
        start = encoding.floor_char(data, start)
    least = max(cap, 4 * encoding.unit)
    found = cut_bytes(
        Memory(data),
        encoding,
        start_byte=start,
        max_bytes=max_bytes,
        cap_bytes=cap,
        keep_start=keep_start,
        keep_end=keep_end,
    )
    assert found == _cut(data, encoding, start, max_bytes, least, keep_start=keep_start, keep_end=keep_end)


@given(data=CONTENTS.filter(bool), start=st.integers(0, 9000), max_bytes=st.integers(0, 90), cap=st.integers(8, 120))
def test_a_window_from_anywhere_begins_and_ends_on_whole_lines(
    data: bytes, start: int, max_bytes: int, cap: int
) -> None:
    """A window has the requested byte, and whole lines unless a line is longer than the cap."""
    encoding = _encoding(data)
    start %= len(data)
    extent = cut_bytes(Memory(data), encoding, start_byte=start, max_bytes=max_bytes, cap_bytes=cap)
    assert extent.start_byte <= encoding.align(start) < extent.end_byte
    if extent.fragment is None:
        before, behind = data[: extent.start_byte], data[: extent.end_byte]
        assert not before or encoding.ends_line(before)
        assert behind == data or encoding.ends_line(behind)
    else:
        line_start = encoding.rfind(data, encoding.align(start)) or 0
        line_end = encoding.find(data, line_start) or len(data)
        assert line_end - line_start > max(cap, 4 * encoding.unit)
        if extent.fragment.line_end_byte is not None:
            assert extent.fragment.line_end_byte == line_end


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one folder for all examples: each rewrites its file."""
    return tmp_path_factory.mktemp("law")


def _write(folder: Path, data: bytes) -> None:
    (folder / "file").unlink(missing_ok=True)
    (folder / "file").write_bytes(data)


ALLOWANCES = st.one_of(
    st.integers(700, 2500).map(Allowance.chars),
    st.integers(700, 2500).map(Allowance.bytes),
    st.integers(500, 1500).map(lambda limit: Allowance.tokens(limit, Tokens())),
)


def _line_of(data: bytes, encoding: Encoding, at: int) -> int:
    return encoding.count(data, 0, at) + 1


@pytest.mark.proves("B-4", "B-5", "B-7", "B-8")
@given(
    data=CONTENTS, allowance=ALLOWANCES, max_bytes=st.one_of(st.none(), st.integers(0, 400)), repeat=st.integers(1, 40)
)
def test_byte_pages_that_a_model_follows_tile_the_file(
    folder: Path, data: bytes, allowance: Allowance, max_bytes: int | None, repeat: int
) -> None:
    """The printed calls visit every byte once, whatever the allowance and however much the escapes inflate the text."""
    data *= repeat if data[:2] not in {b"\xff\xfe", b"\xfe\xff", b"\0\0"} else 1
    encoding = _encoding(data)
    _write(folder, data)
    tools = Tools(folder, allowance=allowance)
    call: Call | None = Call("read_file", {"path": "file", "start_byte": 0}).but(max_bytes=max_bytes)
    at = pages = 0
    while call is not None:
        text = printed.follow(tools, call)
        assert allowance.holds(text)
        head = printed.header(text)
        assert head.start_byte == at
        assert head.end_byte > at or not data
        assert printed.body(text) == escape.show(_text(encoding, data[at : head.end_byte], at))[0]
        if head.lines is not None:
            assert head.lines[0] == _line_of(data, encoding, at)
        at, call, pages = head.end_byte, head.next, pages + 1
        if pages == 60:  # enough of one file: jump ahead, and the rest still has to tile
            break
    assert at == len(data) or pages == 60


@pytest.mark.proves("B-8")
@given(
    data=CONTENTS,
    cap=st.integers(40, 300),
    limit=st.integers(60, 600),
    max_bytes=st.integers(1, 400),
    repeat=st.integers(1, 30),
    start=st.integers(0, 10_000),
    wider=st.integers(0, 300),
)
@example(data=b"\x01" * 50, cap=80, limit=60, max_bytes=1, repeat=1, start=0, wider=90)  # the cap holds the line
@example(
    data=b"\xfe\xff\n", cap=40, limit=60, max_bytes=3, repeat=1, start=3, wider=0
)  # half a character ends the file
def test_previous_names_the_page_that_ends_where_this_one_starts(
    folder: Path, data: bytes, cap: int, limit: int, max_bytes: int, repeat: int, start: int, wider: int
) -> None:
    """Paging back from any byte page to the start leaves no gap or overlap, even with more room."""
    data *= repeat if data[:2] not in {b"\xff\xfe", b"\xfe\xff", b"\0\0"} else 1
    _encoding(data)
    _write(folder, data)
    workspace = Workspace(folder)
    room = _Room(limit, cap)
    start_byte = start % (len(data) + 1)
    page = _bytes(
        workspace, Call("read_file", {"path": "file", "start_byte": start_byte, "max_bytes": max_bytes}), room
    )
    page = page if page.next is None else _bytes(workspace, page.next, room)
    room = _Room(limit + wider, cap)
    for _ in range(40):
        if page.previous is None:
            assert page.start_byte == 0
            break
        before = _bytes(workspace, page.previous, room)
        assert before.end_byte == page.start_byte
        assert before.start_byte < page.start_byte
        page = before


class _Room:
    """A small room of characters, counting escapes as tools do, so that pages often reach it."""

    def __init__(self, limit: int, cap_bytes: int) -> None:
        self.limit = limit
        self.cap_bytes = cap_bytes

    def lines(self, lines: Sequence[Line]) -> int:
        return sum(len(escape.show(line.text)[0]) + 8 + 60 * (line.way is not None) for line in lines)

    def text(self, text: str) -> int:
        return len(escape.show(text)[0])

    def symbols(self, symbols: object) -> int:
        return 0


def _bytes(workspace: Workspace, call: Call, room: _Room) -> Window:
    page = workspace.read_file(**call.arguments, room=room)  # type: ignore[arg-type]
    assert isinstance(page, Window)
    return page


@pytest.mark.proves("B-2", "B-5", "V-6")
@given(data=CONTENTS, allowance=ALLOWANCES, repeat=st.integers(1, 30))
def test_line_pages_that_a_model_follows_tile_the_file(
    folder: Path, data: bytes, allowance: Allowance, repeat: int
) -> None:
    """From line 1 on, the printed calls visit every byte once; every line carries its own number."""
    data *= repeat if data[:2] not in {b"\xff\xfe", b"\xfe\xff", b"\0\0"} else 1
    encoding = _encoding(data)
    _write(folder, data)
    tools = Tools(folder, allowance=allowance)
    call: Call | None = Call("read_file", {"path": "file", "start_line": 1})
    at = pages = 0
    while call is not None and pages < 60:
        text = printed.follow(tools, call)
        assert allowance.holds(text)
        head = printed.header(text)
        assert head.start_byte == at
        assert head.end_byte > at or not data
        if "start_line" in call.arguments and data:
            number, _, first = printed.body(text).split("\n")[0].partition("\t")
            assert int(number) == _line_of(data, encoding, at)
            line = data[at : head.end_byte]
            shown = _text(encoding, line[: encoding.find(line, 0)], at)
            assert escape.show(shown)[0].rstrip("\n") == first
        at, call, pages = head.end_byte, head.next, pages + 1
    assert at == len(data) or pages == 60


@pytest.mark.proves("V-2", "V-4", "V-6", "V-8")
@given(data=CONTENTS, allowance=ALLOWANCES, limit=st.integers(1, 50), repeat=st.integers(1, 30))
def test_views_that_a_model_follows_tile_the_file(
    folder: Path, data: bytes, allowance: Allowance, limit: int, repeat: int
) -> None:
    """The printed offsets visit every line once, and a mark leads to what its line hides."""
    data *= repeat if data[:2] not in {b"\xff\xfe", b"\xfe\xff", b"\0\0"} else 1
    encoding = _encoding(data)
    _write(folder, data)
    tools = Tools(folder, allowance=allowance)
    call: Call | None = Call("view", {"file_path": "file", "limit": limit})
    at = pages = seen = 0
    total = encoding.count(data, 0, len(data)) + (bool(data) and not encoding.ends_line(data))
    while call is not None and pages < 40:
        text = printed.follow(tools, call)
        assert allowance.holds(text)
        head = printed.header(text)
        assert head.start_byte == at
        assert (head.total_lines, head.exact) == (total, True)
        rows = printed.body(text).split("\n") if printed.body(text) else []
        assert [row.partition("|")[0] for row in rows] == [str(seen + 1 + n) for n in range(len(rows))]
        for row in rows[-1:]:
            mark = re.search(r"…\[(\d+) bytes hidden: (read_file\(.*\))\]$", row)
            if mark:
                hidden = printed.parse(mark[2])
                way = printed.header(printed.follow(tools, hidden))
                assert way.start_byte <= int(str(hidden.arguments["start_byte"])) < way.end_byte
        seen, at, call, pages = seen + len(rows), head.end_byte, head.next, pages + 1
    assert at == len(data) or pages == 40


@pytest.mark.proves("V-2", "B-2", "B-8")
@given(
    data=_TEXTS,
    cap=st.integers(60, 300),
    limit=st.integers(80, 600),
    offset=st.integers(0, 60),
    tool=st.sampled_from(["view", "read_file"]),
)
def test_previous_of_a_page_of_lines_ends_where_it_starts(
    folder: Path, data: bytes, cap: int, limit: int, offset: int, tool: str
) -> None:
    """The previous page ends where this one starts, even if the budget made it smaller than the limit."""
    data *= 8
    assume(0 not in data)
    _write(folder, data)
    workspace = Workspace(folder)
    room = _Room(limit, cap)
    call = Call("view", {"file_path": "file", "offset": offset, "limit": 30})
    if tool == "read_file":
        call = Call("read_file", {"path": "file", "start_line": offset + 1, "end_line": offset + 30})
    page = _lines(workspace, call, room)
    for _ in range(30):
        if page.previous is None or not page.text:
            break
        before = _lines(workspace, page.previous, room)
        assert before.end_byte == page.start_byte
        assert before.start_byte < page.start_byte
        page = before


def _lines(workspace: Workspace, call: Call, room: _Room) -> Window:
    if call.tool == "view":
        return workspace.view(**call.arguments, room=room)  # type: ignore[arg-type]
    return _bytes(workspace, call, room)

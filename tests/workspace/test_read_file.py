"""What does `read_file` give: lines, bytes, the whole, the exact bytes; which versions, and at what cost?"""

from __future__ import annotations

import base64
import itertools
import os
from typing import TYPE_CHECKING

import pytest
from tests import printed

from penstock import Allowance, OutlinePage, ToolError, Tools, Window, Workspace
from penstock.text import window
from penstock.text.calls import Call
from penstock.text.tokens import Tokens
from penstock.workspace.source import FileSource

if TYPE_CHECKING:
    from pathlib import Path

KIB = 1 << 10


def _lines(count: int) -> str:
    return "".join(f"line {n}\n" for n in range(1, count + 1))


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    """Return tools over a folder with a file of 250 lines."""
    (tmp_path / "a.txt").write_text(_lines(250))
    return Tools(tmp_path)


@pytest.mark.proves("B-1", "L-9")
@pytest.mark.parametrize("given", list(itertools.product([False, True], repeat=4)))
def test_any_line_parameter_means_lines_else_any_byte_parameter_bytes(tools: Tools, given: tuple[bool, ...]) -> None:
    """All 16 combinations are tried; what is ignored is named (H24)."""
    values = {"start_line": 3, "end_line": 5, "start_byte": 14, "max_bytes": 20}
    arguments = {name: value for (name, value), is_given in zip(values.items(), given, strict=True) if is_given}
    text = tools.read_file("a.txt", **arguments)  # type: ignore[arg-type]
    head, first = text.split("\n")[:2]
    start_line, end_line, start_byte, max_bytes = given
    if start_line or end_line:
        assert first == ("     3\tline 3" if start_line else "     1\tline 1")
        last = 5 if end_line else 250
        assert f"showing lines {3 if start_line else 1}-{last} of 250 total" in head
        ignored = [name for name in ("start_byte", "max_bytes") if name in arguments]
        assert (f"{' and '.join(ignored)} ignored" in head) == bool(ignored)
    elif start_byte or max_bytes:
        at = 14 if start_byte else 0
        end = at + 21 if max_bytes else 2142
        assert f"bytes {at}-{end} of 2142" in head
        assert first == ("line 3" if start_byte else "line 1")
    else:
        assert "bytes 0-2142 of 2142" in head
        assert printed.body(text) == _lines(250)


@pytest.mark.proves("B-1")
def test_a_file_is_shown_whole_up_to_16384_bytes_and_within_the_budget(tmp_path: Path) -> None:
    """With one byte more, or a budget that it does not fit, the answer is its outline."""
    source = "def function():\n    " + "x = 1  # " + "padding " * 10 + "\n"
    body = (source * 300)[: 16_384 - 1] + "\n"
    (tmp_path / "fits.py").write_text(body)
    (tmp_path / "more.py").write_text(body + "\n")
    workspace = Workspace(tmp_path)
    assert isinstance(workspace.read_file("fits.py"), Window)
    assert isinstance(workspace.read_file("more.py"), OutlinePage)
    assert "outline of" in Tools(tmp_path, allowance=Allowance.chars(9000)).read_file("fits.py").split("\n")[0]
    assert printed.body(Tools(tmp_path).read_file("fits.py")) == body


@pytest.mark.proves("B-2")
def test_lines_are_numbered_as_cat_does(tools: Tools) -> None:
    """The format is `{n:>6}`, a tab, the line."""
    text = tools.read_file("a.txt", start_line=9, end_line=11)
    assert printed.body(text) == "     9\tline 9\n    10\tline 10\n    11\tline 11"
    assert text.startswith("a.txt: showing lines 9-11 of 250 total | bytes 56-")


@pytest.mark.proves("B-2")
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"start_line": 0}, "1-250"),
        ({"start_line": 0, "end_line": 0}, "1-1"),
        ({"start_line": 7, "end_line": 3}, "7-7"),
        ({"end_line": 2}, "1-2"),
        ({"start_line": 249}, "249-250"),
        ({"start_line": 249, "end_line": 10**12}, "249-250"),
        ({"start_line": 251}, "0-0"),
        ({"start_line": 10**12}, "0-0"),
    ],
)
def test_odd_ranges_have_a_meaning(tools: Tools, arguments: dict[str, int], shown: str) -> None:
    """0 means 1, an end before the start is one line, a start past the end is empty with a notice."""
    text = tools.read_file("a.txt", **arguments)  # type: ignore[arg-type]
    assert f"showing lines {shown} of 250 total" in text
    if shown == "0-0":
        assert printed.body(text) == ""
        assert 'the file has 250 lines; the last page: read_file(path="a.txt", start_line=151)' in text


@pytest.mark.proves("B-2", "B-3")
def test_a_page_of_lines_stops_at_a_line_start_at_the_cap(tmp_path: Path) -> None:
    """Above 256 KiB the continuation is given; a Python caller can switch the cap off."""
    (tmp_path / "f").write_text(_lines(60_000))
    page = Workspace(tmp_path).read_file("f", start_line=2)
    assert isinstance(page, Window)
    assert page.end_byte - page.start_byte <= window.HARD_MAX_BYTES
    assert page.text.endswith("\n")
    assert page.last_line is not None
    assert page.next is not None
    assert page.next.arguments["start_line"] == page.last_line + 1
    assert page.bound == "hard cap"
    whole = Workspace(tmp_path, caps_line_ranges=False).read_file("f", start_line=2)
    assert isinstance(whole, Window)
    assert (whole.last_line, whole.next) == (60_000, None)
    text = Tools(tmp_path).read_file("f", start_line=2)
    assert "stopped at the budget of " in text.split("\n")[0]


@pytest.mark.proves("B-3")
def test_max_bytes_is_clamped_to_the_cap_in_force(tmp_path: Path) -> None:
    """It is 64 KiB by default, 256 KiB at most, or what the budget holds if that is less; the result says so."""
    (tmp_path / "f").write_text(_lines(60_000))
    workspace = Workspace(tmp_path)
    default = workspace.read_file("f", start_byte=0)
    assert isinstance(default, Window)
    assert 0 <= default.end_byte - window.DEFAULT_MAX_BYTES < 12
    large = workspace.read_file("f", max_bytes=10**9)
    assert isinstance(large, Window)
    assert 0 <= window.HARD_MAX_BYTES - large.end_byte < 12
    assert large.notices == ("max_bytes=1000000000 is above the cap in force: 262144 were taken",)
    text = Tools(tmp_path, allowance=Allowance.bytes(5000)).read_file("f", max_bytes=10**9)
    assert "max_bytes=1000000000 is above the cap in force: 4360 were taken" in text
    assert "stopped at the budget of 4360 bytes" in text
    assert len(text) <= 5000
    description = next(tool for tool in __import__("penstock").TOOLS if tool.name == "read_file").description
    assert "max_bytes generously" in description
    assert "line ranges" in description


@pytest.mark.proves("B-3")
def test_a_budget_in_tokens_is_used_and_not_only_a_quarter_of_it(tmp_path: Path) -> None:
    """The cap in bytes is what text of that many tokens may hold; the page is then cut to fit."""
    (tmp_path / "f").write_text("The quick brown fox jumps over the lazy dog, again and again.\n" * 4000)
    allowance = Allowance.tokens(4000, Tokens())
    text = Tools(tmp_path, allowance=allowance).read_file("f", max_bytes=10**6)
    assert 0.6 * 4000 < allowance.measure(text) <= 4000


@pytest.mark.proves("B-4")
@pytest.mark.parametrize("start", [0, 1, 5, 6, 7, 13])
@pytest.mark.parametrize("size", [0, 1, 6, 7, 8, 14, 15])
def test_a_window_is_whole_lines(tmp_path: Path, start: int, size: int) -> None:
    """The start snaps back to the start of its line, the end rounds up to the next line start."""
    (tmp_path / "f").write_bytes(b"line 1\nline 2\nline 3\nline 4\n")
    page = Workspace(tmp_path).read_file("f", start_byte=start, max_bytes=size)
    assert isinstance(page, Window)
    assert page.start_byte == start // 7 * 7
    assert page.end_byte == min(28, max(-(-(start + size) // 7) * 7, page.start_byte + 7))


@pytest.mark.proves("B-4")
def test_the_end_rounds_down_if_rounding_up_would_pass_the_cap(tmp_path: Path) -> None:
    """The cap is never exceeded to complete a line."""
    (tmp_path / "f").write_bytes(b"x" * 100_000 + b"\n" + b"y" * 100_000 + b"\n" + b"z" * 100_000 + b"\n")
    page = Workspace(tmp_path).read_file("f", start_byte=0, max_bytes=262_000)
    assert isinstance(page, Window)
    assert page.end_byte == 200_002


@pytest.mark.proves("B-5")
def test_a_line_longer_than_the_cap_comes_as_marked_fragments(tmp_path: Path) -> None:
    """Fragments do not snap back; they have whole characters, and the line's number, length and place."""
    line = "é" * 200_000
    (tmp_path / "f").write_text(f"a\n{line}\nb\n")
    tools = Tools(tmp_path)
    text = tools.read_file("f", start_byte=2, max_bytes=101)
    assert "fragment of line 2: bytes 0-100 of at least 100, line continues" in text
    assert printed.body(text) == "é" * 50
    text = tools.read_file("f", start_byte=300_003, max_bytes=100)
    assert "bytes 300002-300102 of the file, line continues" in text or "of 400001, line continues" in text
    assert printed.body(text) == "é" * 50
    text = tools.read_file("f", start_byte=399_999, max_bytes=4)
    assert "line ends here" in text
    assert printed.header(text).end_byte == 400_003
    call: Call | None = Call("read_file", {"path": "f", "start_byte": 0, "max_bytes": 50_000})
    got = ""
    while call is not None:
        page = printed.follow(tools, call)
        got, call = got + printed.body(page), printed.header(page).next
    assert got == f"a\n{line}\nb\n"


@pytest.mark.proves("B-5", "B-2")
def test_a_range_of_lines_that_meets_a_long_line_continues_by_bytes(tmp_path: Path) -> None:
    """The page before it ends at its start; then it is read as characters, then as lines again."""
    (tmp_path / "f").write_text("a\n" + "x" * 300_000 + "\nb\n")
    tools = Tools(tmp_path)
    text = tools.read_file("f", start_line=1)
    assert "showing lines 1-1 of 3 total" in text
    call = printed.header(text).next
    got = "a\n"
    while call is not None:
        text = printed.follow(tools, call)
        body = printed.body(text)
        got += body.partition("\t")[2] if "start_line" in call.arguments else body
        call = printed.header(text).next
    assert got == "a\n" + "x" * 300_000 + "\nb\n"


@pytest.mark.proves("B-6")
def test_the_end_of_the_file_is_said_and_not_replayed(tools: Tools) -> None:
    """At or past the end the result is empty. A window of no bytes is still one line."""
    for start in (2142, 2143, 2**63 - 1):
        text = tools.read_file("a.txt", start_byte=start)
        assert "showing bytes 2142-2142 of 2142" in text
        assert "end of file at 2142" in text
        assert printed.body(text) == ""
    assert printed.body(tools.read_file("a.txt", start_byte=2141)) == "line 250\n"
    text = tools.read_file("a.txt", max_bytes=0)
    assert printed.body(text) == "line 1\n"
    following = printed.header(text).next
    assert following is not None
    assert printed.body(printed.follow(tools, following)) == "line 2\n"


@pytest.mark.proves("B-7")
def test_a_byte_order_mark_is_counted_and_not_shown(tmp_path: Path) -> None:
    """Offsets are those on disk."""
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    tools = Tools(tmp_path)
    for text in (
        tools.read_file("f"),
        tools.read_file("f", start_byte=0),
        tools.read_file("f", start_line=1),
        tools.view("f"),
    ):
        assert "bytes 0-11 of 11" in text
        assert "one" in printed.body(text)
        assert "\ufeff" not in text
        assert "escaped" not in text
    assert printed.header(tools.read_file("f", start_byte=7)).start_byte == 7


@pytest.mark.proves("B-7")
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_encodings_with_a_mark_are_decoded_and_their_offsets_stay(tmp_path: Path, codec: str) -> None:
    """Lines end at the decoded line feed, never at a byte that looks like one (H9)."""
    content = "erste ü\nzweite \u0a0a\u0a00 😀\r\ndritte"
    data = "\ufeff".encode(codec) + content.encode(codec)
    (tmp_path / "f").write_bytes(data)
    tools = Tools(tmp_path)
    text = tools.read_file("f")
    assert f"encoding {codec.upper().replace('UTF-16-', 'UTF-16').replace('UTF-32-', 'UTF-32')}" in text
    assert printed.body(text) == content.replace("\r\n", "\n")
    assert printed.header(text).total_bytes == len(data)
    second = len("\ufefferste ü\n".encode(codec))
    for start in (second, second + 1, second + 5):
        page = Workspace(tmp_path).read_file("f", start_byte=start, max_bytes=1)
        assert isinstance(page, Window)
        assert (page.start_byte, page.text) == (second, "zweite \u0a0a\u0a00 😀\r\n")
    assert "     2\tzweite" in tools.read_file("f", start_line=2, end_line=2)


@pytest.mark.proves("B-7")
@pytest.mark.parametrize(
    ("head", "kind"),
    [(b"\x7fELF\2\1\1\0", "ELF program"), (b"\x89PNG\r\n\x1a\n\0", "PNG image"), (b"text\0text", "it holds NUL bytes")],
)
def test_binary_is_refused_with_its_kind_and_size_and_a_way(tmp_path: Path, head: bytes, kind: str) -> None:
    """The way is base64, which gives the exact bytes (H10)."""
    data = head + bytes(range(256)) * 20
    (tmp_path / "f").write_bytes(data)
    tools = Tools(tmp_path)
    for tool, name in (("view", "file_path"), ("read_file", "path"), ("outline", "path")):
        result = tools.call(tool, {name: "f"})
        assert (result.is_error, result.code) == (True, "binary")
        assert f"f is binary ({kind}, {len(data)} bytes)" in result.text
    (way,) = printed.calls_in(tools.read_file("f"))
    assert base64.b64decode(printed.body(printed.follow(tools, way))) == data


@pytest.mark.proves("B-7")
@pytest.mark.parametrize(
    "allowance", [Allowance.bytes(256 * KIB), Allowance.chars(900), Allowance.tokens(700, Tokens())]
)
def test_base64_pages_are_the_exact_bytes(tmp_path: Path, allowance: Allowance) -> None:
    """This holds for text and other data, for any allowance, forward and backward."""
    data = os.urandom(20_000) + "ü\r\n".encode() * 100
    (tmp_path / "f").write_bytes(data)
    tools = Tools(tmp_path, allowance=allowance)
    call: Call | None = Call("read_file", {"path": "f", "start_byte": 0, "max_bytes": 3000, "encoding": "base64"})
    got, last = b"", ""
    while call is not None:
        last = printed.follow(tools, call)
        assert allowance.holds(last)
        head = printed.header(last)
        assert head.start_byte == len(got)
        got += base64.b64decode(printed.body(last))
        call = head.next
    assert got == data
    before = printed.header(last).previous
    assert before is not None
    text = tools.read_file("f", encoding="base64", **before)
    assert printed.header(text).end_byte == printed.header(last).start_byte


class _Room:
    """A room measured in characters."""

    def __init__(self, limit: int, cap_bytes: int) -> None:
        self.limit = limit
        self.cap_bytes = cap_bytes

    def lines(self, lines: object) -> int:
        raise AssertionError(lines)

    def text(self, text: str) -> int:
        return len(text)

    def symbols(self, symbols: object) -> int:
        raise AssertionError(symbols)


@pytest.mark.proves("B-7")
@pytest.mark.parametrize("max_bytes", [None, 1, 3, 446, 447, 448, 5_000])
def test_a_page_of_exact_bytes_continues_with_the_requested_size(tmp_path: Path, max_bytes: int | None) -> None:
    """The requested size is kept as far as it fits; a larger one is reported, and a page has at least one byte."""
    data = os.urandom(2_000)
    (tmp_path / "f").write_bytes(data)
    most = 447  # of 600 characters of base64, minus the last three bytes
    for room, shown in ((1 << 20, min(max_bytes or most, most)), (8, min(max_bytes or 6, 6)), (1, 1)):
        page = Workspace(tmp_path).read_file(
            "f", start_byte=0, max_bytes=max_bytes, encoding="base64", room=_Room(room, 600)
        )
        assert isinstance(page, Window)
        assert page.text == base64.b64encode(data[:shown]).decode()
        asked = {} if max_bytes is None else {"max_bytes": min(max_bytes, most)}
        assert page.next is not None
        assert page.next.arguments == {
            "path": "f",
            "start_byte": shown,
            **asked,
            "version": page.version,
            "encoding": "base64",
        }
        assert any("max_bytes" in notice for notice in page.notices) == (max_bytes is not None and max_bytes > most)


@pytest.mark.proves("B-7", "L-9")
def test_the_exact_bytes_take_no_lines(tools: Tools) -> None:
    """What is ignored is named; another encoding is refused."""
    assert "start_line ignored: the exact bytes was asked for" in tools.read_file(
        "a.txt", start_line=2, encoding="base64"
    )
    for behind in (2142, 9999):
        assert "end of file at 2142" in tools.read_file("a.txt", start_byte=behind, encoding="base64")
    assert "end of file at" not in tools.read_file("a.txt", start_byte=2141, encoding="base64")
    clamped = "max_bytes=1000000000 "
    assert clamped in tools.read_file("a.txt", max_bytes=1_000_000_000, encoding="base64")
    assert "max_bytes" not in tools.read_file("a.txt", encoding="base64")
    result = tools.call("read_file", {"path": "a.txt", "encoding": "latin-1"})
    assert (result.code, "base64" in result.text) == ("bad_argument", True)


# ── versions ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _append(path: Path) -> None:
    with path.open("a") as file:
        file.write("appended\n")


def _rewrite_in_place(path: Path) -> None:
    status = path.stat()
    path.write_text(path.read_text().replace("line", "LINE"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_text(path.read_text().replace("line", "LINE"))
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.rename(path)


CHANGES = {
    "replaced": (_replace, "was replaced by another file"),
    "truncated": (lambda path: os.truncate(path, 1000), "shrank (2142 to 1000 bytes)"),
    "rewritten": (_rewrite_in_place, "was rewritten: the text before this place changed"),
    "inserted": (lambda path: path.write_text("new\n" + path.read_text()), "was rewritten: its size changed"),
    "touched": (lambda path: os.utime(path, (1, 1)), "its time stamps changed, its size did not"),
}


@pytest.mark.proves("B-8")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "first",
    [
        Call("read_file", {"path": "a.txt", "start_byte": 0, "max_bytes": 700}),
        Call("read_file", {"path": "a.txt", "start_line": 1, "end_line": 80}),
        Call("read_file", {"path": "a.txt", "encoding": "base64", "max_bytes": 700}),
        Call("view", {"file_path": "a.txt"}),
        Call("view", {"file_path": "a.txt", "offset": 20, "limit": 30}),
    ],
    ids=("bytes", "lines", "exact bytes", "view", "view in the middle"),
)
def test_pages_of_two_versions_are_never_spliced(tools: Tools, tmp_path: Path, change: str, first: Call) -> None:
    """The answer is `stale`, what changed, and two calls that work: from the start, or this place as it is now (H5, H6)."""
    head = printed.header(printed.follow(tools, first))
    following = head.next or Call("read_file", {"path": "a.txt", "start_line": 81, "version": head.version})
    make, said = CHANGES[change]
    make(tmp_path / "a.txt")
    result = tools.call(following.tool, following.arguments)
    assert (result.is_error, result.code) == (True, "stale")
    assert result.text.startswith(f"stale: a.txt {said}") or said in result.text
    again, here = printed.calls_in(result.text)
    assert printed.header(printed.follow(tools, again)).start_byte == 0
    place = printed.header(printed.follow(tools, here))
    assert here == following.but(version=None)
    assert place.version != head.version


@pytest.mark.proves("B-8")
def test_a_file_that_only_grew_continues_and_says_so(tools: Tools, tmp_path: Path) -> None:
    """This holds from its old end, inside its old last line, and by lines."""
    head = printed.header(tools.read_file("a.txt", max_bytes=700))
    assert head.next is not None
    _append(tmp_path / "a.txt")
    text = printed.follow(tools, head.next)
    assert "the file grew by 9 bytes since that page" in text
    assert printed.header(text).start_byte == head.end_byte
    end = printed.header(tools.read_file("a.txt", start_byte=2100))
    _append(tmp_path / "a.txt")
    text = tools.read_file("a.txt", start_byte=end.end_byte, version=end.version)
    assert printed.body(text) == "appended\n"
    assert "showing lines 252-252 of 252 total" in text
    (tmp_path / "b.txt").write_text("one\ntw")
    half = printed.header(tools.read_file("b.txt", start_byte=0))
    with (tmp_path / "b.txt").open("a") as file:
        file.write("o\nthree\n")
    text = tools.read_file("b.txt", start_byte=half.end_byte, version=half.version)
    assert printed.body(text) == "o\n"
    seen = printed.header(tools.view("a.txt", offset=200))
    assert seen.next is None
    _append(tmp_path / "a.txt")
    text = tools.view("a.txt", offset=seen.total_lines or 0, version=seen.version)
    assert "the file grew by 9 bytes since that page" in text
    assert printed.body(text) == "253|appended"


@pytest.mark.proves("B-8")
def test_every_page_carries_a_version_and_a_wrong_one_is_refused(tools: Tools) -> None:
    """The order is path, lines, bytes, version, next, previous."""
    head = tools.read_file("a.txt", start_byte=700, max_bytes=700).split("\n")[0]
    order = [
        head.index(part)
        for part in ("a.txt: showing lines", "| bytes ", "| version ", "| next: ", "| previous start_byte=")
    ]
    assert order == sorted(order)
    for token in ("", "x", "1.2.3", "9" * 60, "1.1." + "0" * 20, "-1.5." + "0" * 21, "\ud800"):
        result = tools.call("read_file", {"path": "a.txt", "version": token})
        assert (result.is_error, result.code) == (True, "bad_argument")
        assert "Copy it from the page before" in result.text
    made_up = tools.call(
        "read_file", {"path": "a.txt", "version": "9999999999999999999.9999999999999999999." + "0" * 21}
    )
    assert made_up.code == "stale"


@pytest.mark.proves("B-8", "V-6")
def test_line_numbers_follow_a_file_that_changes(tmp_path: Path) -> None:
    """A kept index belongs to the version that is read: lines and totals never come from an older file."""
    path = tmp_path / "f"
    tools = Tools(tmp_path)
    path.write_text(_lines(1000))
    assert "of 1000 total" in tools.view("f")
    _append(path)
    assert "of 1001 total" in tools.view("f")
    path.write_text("\n" * 500)
    assert "showing lines 400-400 of 500 total" in tools.view("f", offset=399, limit=1)
    other = tmp_path / "g"
    other.write_text("x\n" * 250)
    other.rename(path)
    assert "of 250 total" in tools.view("f")
    status = path.stat()
    path.write_text("xxx\n" * 125)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert "of 125 total" in tools.view("f")


# ── cost ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("B-9", "V-10")
@pytest.mark.parametrize("where", [0, 1 << 20, 5 << 20, (10 << 20) - 1])
@pytest.mark.parametrize("is_one_line", [False, True])
def test_a_page_of_bytes_costs_its_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: int, is_one_line: bool
) -> None:
    """At most one hard cap is read before and after the window, besides the first 8 KiB for the encoding."""
    line = b"x" * 99 + (b"x" if is_one_line else b"\n")
    (tmp_path / "f").write_bytes(line * (10 * 10486))
    looked: list[tuple[int, int]] = []
    real = FileSource.read

    def read(self: FileSource, start_byte: int, count_bytes: int) -> bytes:
        data = real(self, start_byte, count_bytes)
        looked.append((start_byte, start_byte + len(data)))
        return data

    monkeypatch.setattr(FileSource, "read", read)
    page = Workspace(tmp_path).read_file("f", start_byte=where, max_bytes=50_000)
    assert isinstance(page, Window)
    around = [(low, high) for low, high in looked if low < high and (low, high) != (0, 8192)]
    assert min(low for low, _ in around) >= page.start_byte - window.HARD_MAX_BYTES - 100
    assert max(high for _, high in around) <= page.end_byte + window.HARD_MAX_BYTES + 4
    assert sum(high - low for low, high in around) <= 5 * window.HARD_MAX_BYTES


@pytest.mark.proves("V-10", "B-9")
def test_a_view_of_a_place_that_was_passed_costs_its_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the index knows a file, lines anywhere in it are found by reading two strides."""
    (tmp_path / "f").write_text(_lines(1_000_000))
    workspace = Workspace(tmp_path)
    workspace.view("f")
    count = 0
    real = FileSource.read

    def read(self: FileSource, start_byte: int, count_bytes: int) -> bytes:
        nonlocal count
        data = real(self, start_byte, count_bytes)
        count += len(data)
        return data

    monkeypatch.setattr(FileSource, "read", read)
    page = workspace.view("f", offset=777_777, limit=50)
    assert page.text.startswith("line 777778\n")
    assert count <= window.HARD_MAX_BYTES


@pytest.mark.proves("B-13")
def test_windows_need_a_fifth_of_the_calls_of_220_line_pages(tmp_path: Path) -> None:
    """A 400 KiB file of ordinary lines is read by the printed calls to its end."""
    text = "".join(f"    value_{n} = compute(alpha, {n * 37 % 991})"[:40].ljust(39) + "\n" for n in range(10_240))
    (tmp_path / "f").write_text(text)
    tools = Tools(tmp_path)

    def calls(first: Call) -> int:
        count, call = 0, first
        while True:
            count += 1
            following = printed.header(printed.follow(tools, call)).next
            if following is None:
                return count
            call = following

    windows = calls(Call("read_file", {"path": "f", "start_byte": 0}))
    paging = calls(Call("view", {"file_path": "f", "limit": 220}))
    assert paging >= 5 * windows
    assert calls(Call("read_file", {"path": "f", "start_byte": 0, "max_bytes": 262_144})) == 2


@pytest.mark.proves("B-10")
def test_a_value_call_refuses_negative_numbers(tmp_path: Path) -> None:
    """In Python the refusal is a `ToolError`."""
    (tmp_path / "a").write_text("x")
    for name in ("start_line", "end_line", "start_byte", "max_bytes"):
        with pytest.raises(ToolError, match=f"{name}: takes an integer from 0 on"):
            Workspace(tmp_path).read_file("a", **{name: -1})  # type: ignore[arg-type]


@pytest.mark.proves("B-3")
def test_what_ended_a_page_of_bytes_is_named(tmp_path: Path) -> None:
    """It is the size, the end, a longer line, or the cap in force; a size equal to the cap is not reported as clamped."""
    (tmp_path / "f").write_text(_lines(60_000))
    (tmp_path / "wide").write_text("x" * (1 << 20))
    workspace = Workspace(tmp_path)

    def bound(path: str, **asked: int) -> tuple[str, tuple[str, ...]]:
        page = workspace.read_file(path, **asked)  # type: ignore[arg-type]
        assert isinstance(page, Window)
        return page.bound, page.notices

    assert bound("f", start_byte=0, max_bytes=1_000) == ("max_bytes", ())
    assert bound("f", start_byte=(tmp_path / "f").stat().st_size - 500, max_bytes=1_000) == ("end", ())
    assert bound("wide", start_byte=0, max_bytes=1_000) == ("line", ())
    assert bound("f", start_byte=0, max_bytes=window.HARD_MAX_BYTES) == ("hard cap", ())
    assert bound("f", start_byte=0, max_bytes=window.HARD_MAX_BYTES + 1)[1] != ()


@pytest.mark.proves("B-7")
def test_what_ended_a_page_of_exact_bytes_is_named(tmp_path: Path) -> None:
    """It is the end, the requested size, or the budget."""
    (tmp_path / "f").write_bytes(bytes(range(256)) * 100)
    workspace = Workspace(tmp_path)

    def bound(start: int) -> str:
        page = workspace.read_file("f", start_byte=start, max_bytes=2_000, encoding="base64")
        assert isinstance(page, Window)
        return page.bound

    assert (bound(0), bound(25_000)) == ("max_bytes", "end")
    small = Tools(tmp_path, allowance=Allowance.chars(900))
    assert "bytes 0-447 of" in small.read_file("f", start_byte=0, max_bytes=2_000, encoding="base64")


@pytest.mark.proves("B-8")
def test_paging_back_within_the_first_line_reaches_its_first_byte(tmp_path: Path) -> None:
    """In a line longer than any page, the page before byte 1,000 begins at byte 0."""
    (tmp_path / "f").write_text("x" * (1 << 20))
    page = Workspace(tmp_path).read_file("f", start_byte=1_000, max_bytes=1_000)
    assert isinstance(page, Window)
    assert page.previous is not None
    assert (page.previous.arguments["start_byte"], page.previous.arguments["max_bytes"]) == (0, 1_000)
    (tmp_path / "g").write_text(f"{'x' * 1_000}\nand a line behind it\n")
    page = Workspace(tmp_path).read_file("g", start_byte=1_001, max_bytes=500)  # the line before is longer than that
    assert isinstance(page, Window)
    assert page.previous is not None
    assert (page.previous.arguments["start_byte"], page.previous.arguments["max_bytes"]) == (0, 1_001)


@pytest.mark.proves("B-8")
@pytest.mark.parametrize(("start", "before"), [(5_000, (4_900, 100)), (50, (0, 50))])
def test_the_page_before_is_of_whole_lines_and_no_larger_than_this_one(
    tmp_path: Path, start: int, before: tuple[int, int]
) -> None:
    """It has as many bytes as requested here, or begins at the first byte if fewer precede."""
    (tmp_path / "f").write_text("".join(f"{n:09}\n" for n in range(1_000)))
    page = Workspace(tmp_path).read_file("f", start_byte=start, max_bytes=100)
    assert isinstance(page, Window)
    assert page.previous is not None
    assert (page.previous.arguments["start_byte"], page.previous.arguments["max_bytes"]) == before


@pytest.mark.proves("B-8")
def test_the_range_before_holds_as_many_lines_as_fit(tmp_path: Path) -> None:
    """These are plain lines of which a hundred fit as they are, but not if each character had to be escaped."""
    (tmp_path / "f").write_text("".join(f"line {n} {'x' * 900}\n" for n in range(1, 401)))
    page = Workspace(tmp_path).read_file("f", start_line=201, end_line=300)
    assert isinstance(page, Window)
    assert page.previous is not None
    assert (page.previous.arguments["start_line"], page.previous.arguments["end_line"]) == (101, 200)


@pytest.mark.proves("B-2", "B-8")
def test_a_range_of_lines_and_the_one_before_it_are_as_long_as_was_asked(tmp_path: Path) -> None:
    """A range that ends before it begins is one line and says so; the page before has as many lines, or all that there are."""
    (tmp_path / "f").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    workspace = Workspace(tmp_path)
    for first, last, shown, before in (
        (5, 3, [5], (4, 4)),
        (5, 4, [5], (4, 4)),
        (5, 5, [5], (4, 4)),
        (7, 9, [7, 8, 9], (4, 6)),
        (3, 6, [3, 4, 5, 6], (1, 2)),
        (2, 2, [2], (1, 1)),
        (1, 2, [1, 2], None),
    ):
        page = workspace.read_file("f", start_line=first, end_line=last)
        assert isinstance(page, Window)
        assert [line.number for line in page.lines] == shown
        said = (f"end_line={last} is before start_line={first}: one line",) if last < first else ()
        assert page.notices == said
        assert page.next is None
        known = {"path": "f", "start_line": before[0], "end_line": before[1]} if before else None
        assert (page.previous.arguments if page.previous else None) == known
    page = workspace.read_file("f", start_line=99)
    assert isinstance(page, Window)
    assert (page.lines, page.previous) == ((), Call("read_file", {"path": "f", "start_line": 1}))
    (tmp_path / "f").write_text("")
    page = workspace.read_file("f", start_line=1)
    assert isinstance(page, Window)
    assert (page.lines, page.total_lines, page.total_lines_exact, page.previous, page.next) == ((), 0, True, None, None)

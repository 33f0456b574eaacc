"""Does `view` give pages of lines, as text and as values?"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from tests import printed

import penstock
from penstock import NAVIGATION, TOOLS, Allowance, Tools, Window, Workspace
from penstock.errors import ToolError
from penstock.text.calls import Call
from penstock.text.tokens import count
from penstock.workspace import line_counts, texts
from penstock.workspace.lines import LineIndex
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from penstock.text.window import Line

MIB = 1 << 20


def _lines(count: int) -> str:
    return "".join(f"line {n}\n" for n in range(1, count + 1))


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    """Return tools over a folder with a file of 250 lines."""
    (tmp_path / "a.txt").write_text(_lines(250))
    return Tools(tmp_path)


@pytest.mark.proves("V-1", "V-3", "V-7")
def test_a_view_shows_100_lines_from_the_start(tools: Tools) -> None:
    """The default is one number, which the tool's description uses."""
    assert penstock.DEFAULT_VIEW_LINES == 100
    text = tools.view("a.txt")
    assert "showing lines 1-100 of 250 total" in text
    assert printed.body(text) == "\n".join(f"{n}|line {n}" for n in range(1, 101))
    assert tools.view(file_path="a.txt", offset=0, limit=100) == text  # the next call leaves out what is the default
    view = next(tool for tool in TOOLS if tool.name == "view")
    assert "100 lines" in view.description
    assert [(p.name, p.default) for p in view.parameters][1] == ("offset", 0)


@pytest.mark.proves("V-2", "V-3", "V-4")
def test_offset_is_lines_to_skip_and_the_next_call_is_ready(tools: Tools) -> None:
    """`offset=100` shows lines 101-200; the last page names no next call."""
    text = tools.view("a.txt", offset=100)
    assert text.startswith("a.txt: showing lines 101-200 of 250 total | bytes ")
    assert 'next: view(file_path="a.txt", offset=200, version="' in text.split("\n")[0]
    assert printed.body(text).startswith("101|line 101\n")
    last = tools.view("a.txt", offset=200)
    assert "showing lines 201-250 of 250 total" in last
    assert "next" not in last.split("\n")[0]


@pytest.mark.proves("V-5")
def test_a_larger_limit_is_honoured_and_the_bound_that_wins_is_named(tmp_path: Path) -> None:
    """A limit of 250 shows 250; a budget that is reached first is named, and the next call continues from there."""
    (tmp_path / "a.txt").write_text(_lines(250))
    assert "showing lines 1-250 of 250 total" in Tools(tmp_path).view("a.txt", limit=1000)
    small = Tools(tmp_path, allowance=Allowance.chars(1000))
    text = small.view("a.txt", limit=1000)
    head = printed.header(text)
    assert head.lines is not None
    assert "stopped at the budget" in text.split("\n")[0]
    assert head.next == Call(
        "view", {"file_path": "a.txt", "offset": head.lines[1], "limit": 1000, "version": head.version}
    )
    (tmp_path / "b.txt").write_text(_lines(60_000))
    text = Tools(tmp_path, allowance=Allowance.bytes(4 * MIB)).view("b.txt", limit=60_000)
    assert "stopped at the hard cap" in text.split("\n")[0]
    assert len(text) < 400_000


@pytest.mark.proves("V-5")
def test_view_lines_is_a_setting(tmp_path: Path) -> None:
    """200 restores the seed's behaviour; calls do not repeat what is the default."""
    (tmp_path / "a.txt").write_text(_lines(250))
    text = Tools(Workspace(tmp_path, view_lines=200)).view("a.txt")
    assert "showing lines 1-200 of 250 total" in text
    assert 'next: view(file_path="a.txt", offset=200, version="' in text


SHAPES = [
    (b"", 0),
    (b"\n", 1),
    (b"a", 1),
    (b"a\n", 1),
    (b"a\nb", 2),
    (b"a\r\nb\r\n", 2),
    (b"a\rb\rc", 1),
    (b"a\x0cb\x0bc\x1cd\n", 1),
    ("a\u2028b\u2029c\x85d\n".encode(), 1),
    (b"\n\n\n", 3),
    (b"\xef\xbb\xbfa\nb\n", 2),
    (b"\xff\n\xfe\n", 2),
    ("ü\nö\n".encode("utf-16"), 2),
    (b"\xff\xfe" + "\u0a0a\u0a00\nx\u000a\n".encode("utf-16-le"), 3),
    (b"\xfe\xff" + "a\nb".encode("utf-16-be"), 2),
    ("a\n😀\n".encode("utf-32"), 2),
    (b"text\n" * 2000 + b"\0\0\n", 2001),
]


@pytest.mark.proves("V-6")
@pytest.mark.parametrize(("data", "total"), SHAPES)
def test_the_total_is_right_for_every_shape_of_file(tmp_path: Path, data: bytes, total: int) -> None:
    """Lines end only at a line feed, there is no phantom last line, and the number of the last line is the total."""
    (tmp_path / "f").write_bytes(data)
    tools = Tools(tmp_path)
    text = tools.view("f", limit=10_000)
    shown = f"1-{total}" if total else "0-0"
    assert f"showing lines {shown} of {total} total" in text
    assert len(printed.body(text).split("\n")) == max(1, total)
    for offset in (total, total + 1, 10**9):
        text = tools.view("f", offset=offset, limit=10)
        assert f"showing lines 0-0 of {total} total" in text
        if total:
            assert f"the file has {total} line{'s' * (total != 1)}" in text
            last = printed.follow(tools, printed.parse(text.partition("the last page: ")[2]))
            assert printed.header(last).lines is not None
            assert f"-{total} of {total} total" in last


@pytest.mark.proves("V-6", "L-10")
def test_carriage_returns_are_reported(tmp_path: Path) -> None:
    """CRLF is a line end, with a note; a lone carriage return is shown and ends nothing (H11)."""
    (tmp_path / "crlf").write_bytes(b"a\r\nb\r\n")
    (tmp_path / "cr").write_bytes(b"a\rb\r")
    tools = Tools(tmp_path)
    assert tools.view("crlf").endswith("| lines end in CRLF\n1|a\n2|b")
    assert tools.view("cr").endswith(
        "| 2 characters escaped | a lone carriage return (\\x0d) ends no line\n1|a\\x0db\\x0d"
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a file of 80 MiB and 5,242,880 lines, a quarter of it a hole."""
    folder = tmp_path_factory.mktemp("large")
    with (folder / "large").open("wb") as file:
        block = b"fifteen chars..\n" * (MIB // 16)
        for _ in range(60):
            file.write(block)
        file.seek(20 * MIB, os.SEEK_CUR)
        file.write(b"last\n")
    return folder


@pytest.mark.proves("V-6", "V-10")
def test_a_large_file_says_at_least_until_the_index_is_complete(large: Path) -> None:
    """Above 64 MiB the first call counts only as far as necessary; the next ones carry the count to its end."""
    tools = Tools(large)
    first = printed.header(tools.view("large"))
    assert (first.lines, first.exact) == ((1, 100), False)
    for _ in range(50):
        head = printed.header(tools.view("large"))
        if head.exact:
            break
    assert head.exact
    assert head.total_lines == 60 * MIB // 16 + 1
    deep = tools.view("large", offset=60 * MIB // 16 - 1)
    assert f"\n{60 * MIB // 16}|fifteen chars..\n{60 * MIB // 16 + 1}|" in deep


@pytest.mark.proves("V-6", "V-10", "L-9")
def test_a_line_that_is_not_reached_in_time_says_how_far_it_got(large: Path) -> None:
    """The same call continues from there, and every call gets further."""
    tools = Tools(large, read_seconds=0.0)
    result = tools.call("view", {"file_path": "large", "offset": 3_900_000})
    assert (result.is_error, result.code) == (True, "deadline")
    assert "Line 3900001 was not reached" in result.text
    (again,) = printed.calls_in(result.text)
    tools.read_seconds = 30.0
    assert "3900001|fifteen chars.." in printed.follow(tools, again)


@pytest.mark.proves("V-6", "V-8", "L-9")
def test_a_line_whose_end_is_not_reached_in_time_is_shown_as_far_as_it_is_known(tmp_path: Path) -> None:
    """It hides "at least" that many bytes, its rest is the next page; with time, the same call knows its end."""
    (tmp_path / "f").write_bytes(b"x" * (3 * MIB) + b"\nz\n")
    tools = Tools(tmp_path, read_seconds=0.0)
    text = tools.view("f")
    assert "showing lines 1-1 of at least 1 total" in text
    assert "stopped at the deadline of the call" in text
    assert re.search(r"x…\[at least \d+ bytes hidden: ", text)
    assert printed.header(text).next == Call("read_file", {"path": "f", "start_byte": 2000})
    tools.read_seconds = 30.0
    assert f"x…[{3 * MIB - 2000} bytes hidden: " in tools.view("f")


@pytest.mark.proves("V-10")
def test_a_line_deep_in_a_sparse_file_is_readable(tmp_path: Path) -> None:
    """It has 10 GB, mostly a hole: what follows the hole is shown with its number (H3)."""
    with (tmp_path / "sparse").open("wb") as file:
        file.write(b"head line\n" * 100_000)
        file.seek(10 << 30)
        file.write(b"\nbehind\n" + b"tail\n" * 50)
    text = Tools(tmp_path).view("sparse", offset=100_001, limit=3)
    assert printed.body(text) == "100002|behind\n100003|tail\n100004|tail"
    text = Tools(tmp_path).view("sparse", offset=99_999, limit=2)
    assert printed.body(text).startswith("100000|head line\n100001|\\x00\\x00")
    assert f"{(10 << 30) - 10**6 - 2000} bytes hidden" in text


@pytest.mark.proves("V-8")
@pytest.mark.parametrize("character", ["x", "é", "漢", "😀"])
def test_a_wide_line_is_clipped_between_characters(tmp_path: Path, character: str) -> None:
    """2,000 characters are shown, the rest is counted in bytes, and the printed call shows it."""
    line = (character * 2500).encode()
    (tmp_path / "f").write_bytes(b"before\n" + line + b"\nbehind\n")
    (tmp_path / "exact").write_text(character * 2000 + "\n", encoding="utf-8")
    tools = Tools(tmp_path)
    assert "hidden" not in tools.view("exact")
    row = printed.body(tools.view("f")).split("\n")[1]
    size = len(character.encode())
    assert row.startswith("2|" + character * 2000 + f"…[{500 * size} bytes hidden: read_file(")
    way = printed.call_in(row, "bytes hidden: ")
    assert way is not None
    assert way.arguments["start_byte"] == 7 + 2000 * size
    page = printed.header(printed.follow(tools, way))
    assert page.start_byte <= 7 + 2000 * size
    assert page.end_byte == 7 + len(line) + 1


@pytest.mark.proves("V-8", "B-5")
def test_what_a_very_long_line_hides_is_read_on_by_bytes(tmp_path: Path) -> None:
    """A line of 600 KiB is shown clipped, and all its bytes can be read by the printed call."""
    line = bytes(range(33, 127)) * 6400
    (tmp_path / "f").write_bytes(b"a\n" + line + b"\nz\n")
    tools = Tools(tmp_path)
    text = tools.view("f")
    assert printed.body(text).split("\n")[2] == "3|z"
    call = printed.call_in(text, "bytes hidden: ")
    got = b""
    while call is not None and len(got) < len(line) - 2000:
        page = printed.follow(tools, call)
        assert printed.header(page).start_byte == 2 + 2000 + len(got)
        assert "fragment of line 2" in page.split("\n")[0] or "fragment of one line" in page.split("\n")[0]
        got += printed.body(page).encode()
        call = printed.header(page).next
    assert got == line[2000:] + b"\n"


@pytest.mark.proves("V-8")
def test_a_line_wider_than_the_budget_is_clipped_to_it(tmp_path: Path) -> None:
    """This also holds if escapes make it wide; the call that shows the rest begins where the shown part ends."""
    (tmp_path / "f").write_bytes(b"\x01" * 1500 + b"\nnext\n")
    tools = Tools(tmp_path, allowance=Allowance.chars(800))
    text = tools.view("f")
    assert len(text) <= 800
    row = printed.body(text)
    shown = row.count("\\x01")
    assert shown > 20
    assert f"…[{1500 - shown} bytes hidden: " in row
    way = printed.call_in(row, "bytes hidden: ")
    assert way is not None
    assert way.arguments["start_byte"] == shown
    page = printed.header(printed.follow(tools, way))
    assert page.start_byte <= shown < page.end_byte
    assert 'next: view(file_path="f", offset=1, version="' in text


@pytest.mark.proves("V-9")
def test_navigation_is_a_text_for_system_prompts() -> None:
    """It says to search first, view around the hit, and page with offset."""
    assert "shown in pages" in NAVIGATION.split(".")[0]
    assert "Search first, then view around the hit" in NAVIGATION
    assert "offset=N" in NAVIGATION
    assert count(NAVIGATION, mode="exact").tokens < 150


@pytest.mark.proves("V-11")
def test_a_missing_file_names_similar_ones_and_a_folder_the_listing(tmp_path: Path) -> None:
    """Up to three similar names are listed, from the deepest folder of the path that exists."""
    folder = tmp_path / "src" / "deep"
    folder.mkdir(parents=True)
    for name in ("reader.py", "readers.py", "Reader.py", "reade.py", "other.md", "readme\n.py"):
        (folder / name).write_text("")
    tools = Tools(tmp_path)
    result = tools.call("view", {"file_path": "src/deep/raeder.py"})
    assert result.code == "not_found"
    assert 'Similar: "src/deep/reader.py"' in result.text
    assert result.text.count("src/deep/") == 5
    assert printed.calls_in(result.text) == [Call("view", {"file_path": "src/deep/reader.py"})]
    assert 'Similar: "src/deep/Reader.py"' in tools.view("src/deep/READER.py") or '"src/deep/reader.py"' in tools.view(
        "src/deep/READER.py"
    )
    assert 'Similar: "src"' in tools.view("scr/deep/reader.py")
    assert "Similar" not in tools.view("src/deep/zzzzzzzzzzz")
    (tmp_path / "src" / "gone").symlink_to("nowhere")
    for path in ("src/gone", "src/gone/reader.py"):
        way = 'Try: list_files(path="src")'
        assert (
            tools.view(path) == f'There is no file or folder {path}. "src/gone" is a link that leads to nothing. {way}'
        )
    assert '"src/deep/readme\\\\x0a.py"' in tools.view("src/deep/readme.py")
    result = tools.call("view", {"file_path": "src/deep"})
    assert result.code == "is_directory"
    assert result.text.endswith('Try: list_files(path="src/deep")')
    assert printed.calls_in(tools.view(".")) == [Call("list_files", {})]


@pytest.mark.proves("V-11")
def test_every_tool_that_takes_a_path_names_similar_ones(tmp_path: Path) -> None:
    """A search in a misspelled file, and a walk from a misspelled folder, are refused as a view of it is."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("word\n")
    tools = Tools(tmp_path)
    for tool, pattern in (
        ("search", {"pattern": "word"}),
        ("search", {"pattern": "word", "ranked": True}),
        ("list_files", {}),
    ):
        result = tools.call(tool, {**pattern, "path": "scr"})
        assert (result.code, 'Similar: "src"' in result.text) == ("not_found", True)
    for tool in ("count_files", "list_files"):
        assert 'Similar: "src"' in tools.call(tool, {"path": "scr"}).text
    for more in ({}, {"ranked": True}):
        result = tools.call("search", {"pattern": "word", "path": "src/mian.py", **more})
        assert (result.code, 'Similar: "src/main.py"' in result.text) == ("not_found", True)


def test_no_refusal_is_its_own_cause(tmp_path: Path) -> None:
    """Whoever follows the causes of an error, as logs do, would not come to an end."""
    (tmp_path / "out").symlink_to("/")
    workspace = Workspace(tmp_path)
    for call in (lambda: workspace.view("out"), lambda: workspace.search("x", path="out")):
        with pytest.raises(ToolError) as raised:
            call()
        assert raised.value.code == "outside_root"
        assert raised.value.__cause__ is not raised.value


@pytest.mark.proves("V-11", "L-9")
def test_names_are_compared_in_bounded_time(tmp_path: Path) -> None:
    """A folder of 3,000 long and similar names costs no more than listing it."""
    for n in range(3000):
        (tmp_path / ("a" * 180 + f"{n:05}")).touch()
    assert Tools(tmp_path).view("a" * 180 + "0123").count("a" * 180) == 5


@pytest.mark.proves("V-12")
def test_a_view_costs_a_fraction_of_the_file(tmp_path: Path) -> None:
    """2,000 lines of 40 characters take 93 % fewer tokens than the file, 94.5 % fewer than the whole, with a short header."""
    lines = [f"    value_{n} = compute(alpha, {n * 37 % 991})"[:40].ljust(40) for n in range(2000)]
    raw = "".join(line + "\n" for line in lines)
    (tmp_path / "module.py").write_text(raw)
    tools = Tools(tmp_path)

    def exact(text: str) -> int:
        return count(text, mode="exact").tokens

    page, whole = tools.view("module.py"), tools.view("module.py", limit=2000)
    assert exact(page) <= 0.07 * exact(raw)
    assert exact(page) <= 0.055 * exact(whole)
    for offset in (0, 100, 1900):
        assert exact(tools.view("module.py", offset=offset).split("\n")[0]) <= 60


@pytest.mark.proves("V-3", "V-6")
def test_a_window_is_the_same_page_as_a_value(tmp_path: Path) -> None:
    """Extents come first: lines, bytes, totals, version, and the next and previous calls."""
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\nthree")
    page = Workspace(tmp_path).view("a.txt", offset=1, limit=1)
    assert (page.first_line, page.last_line, page.total_lines, page.total_lines_exact) == (2, 2, 3, True)
    assert (page.start_byte, page.end_byte, page.total_bytes) == (5, 9, 14)
    assert (page.text, page.encoding, page.bound, page.fragment) == ("two\n", "UTF-8", "limit", None)
    assert page.next == Call("view", {"file_path": "a.txt", "offset": 2, "limit": 1, "version": page.version})
    assert page.version.startswith("14.9.")
    assert page.previous is not None
    assert page.previous.but(version=None) == Call("view", {"file_path": "a.txt", "limit": 1})
    assert str(page.previous.arguments["version"]).startswith("14.5.")
    whole = Workspace(tmp_path).view("a.txt")
    assert whole.text == "one\r\ntwo\nthree"
    assert [line.ending for line in whole.lines] == ["\r\n", "\n", ""]


@pytest.mark.proves("B-10")
@pytest.mark.parametrize("arguments", [{"offset": -1}, {"limit": 0}, {"limit": -5}])
def test_a_value_call_refuses_numbers_that_no_page_has(tmp_path: Path, arguments: dict[str, int]) -> None:
    """In Python, too, the refusal is a `ToolError` that says what is accepted."""
    (tmp_path / "a").write_text("x")
    with pytest.raises(penstock.ToolError, match=r"takes an integer from [01] on"):
        Workspace(tmp_path).view("a", **arguments)  # type: ignore[arg-type]


@pytest.mark.proves("L-9")
def test_a_million_empty_lines_are_a_page_like_any_other(tmp_path: Path) -> None:
    """A limit of a billion on a file of only line ends makes no more lines than a page can show (G2)."""
    (tmp_path / "f").write_bytes(b"\n" * 1_000_000)
    workspace = Workspace(tmp_path)
    assert len(workspace.view("f", limit=10**9).lines) < 90_000
    page = workspace.read_file("f", start_line=1)
    assert isinstance(page, Window)
    assert len(page.lines) < 40_000
    tools = Tools(workspace)
    for text in (tools.view("f", limit=10**9), tools.read_file("f", start_line=1)):
        assert len(text) <= 256 * 1024
        assert printed.header(text).next is not None


@pytest.mark.proves("V-6")
def test_a_file_that_shrinks_during_the_read_ends_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is what there was, with a note; nothing fails (H7)."""
    path = tmp_path / "f"
    path.write_text(_lines(50_000))
    real = line_counts.LineCounts.start

    def shrink(*arguments: object) -> int:
        os.truncate(path, 16)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(line_counts.LineCounts, "start", shrink)
    for tool, arguments in (
        ("view", {"file_path": "f"}),
        ("read_file", {"path": "f", "start_line": 1}),
        ("view", {"file_path": "f", "offset": 1000}),
    ):
        path.write_text(_lines(50_000))
        text = Tools(tmp_path).call(tool, arguments).text
        assert "the file shrank during the read" in text
        assert printed.body(text).count("\n") <= 2


@pytest.mark.proves("L-10")
def test_invalid_bytes_are_counted_in_a_view(tmp_path: Path) -> None:
    """The header counts what is shown as an escape, including clipped lines (H8)."""
    (tmp_path / "f").write_bytes(b"caf\xe9\n\x1b[0m\n" + b"\xff" * 3000 + b"\n")
    text = Tools(tmp_path).view("f")
    assert text.split("\n")[1:3] == ["1|caf\\xe9", "2|\\x1b[0m"]
    shown = text.split("\n")[3].count("\\xff")
    assert shown == 500  # 2,000 characters of four
    assert f"not UTF-8: {shown + 1} bytes escaped, 1 character escaped" in text
    assert f"…[{3000 - shown} bytes hidden" in text


class NarrowRoom:
    """Room for a thousand characters."""

    limit, cap_bytes = 1_000, MIB

    def lines(self, lines: Sequence[Line]) -> int:
        """Return the characters of some lines."""
        return sum(len(line.text) for line in lines)

    def text(self, text: str) -> int:
        """Return the characters of a text."""
        return len(text)

    def symbols(self, symbols: object) -> int:
        """Return zero, as there are none."""
        return 0


@pytest.mark.timeout(20)
def test_a_page_back_of_lines_that_only_fit_one_by_one_is_found(tmp_path: Path) -> None:
    """Two of the lines exceed the budget: the page before the end holds one, and so does any before it."""
    (tmp_path / "f").write_text("".join(f"{n} {'x' * 700}\n" for n in range(1, 5)))
    text = Tools(tmp_path, allowance=Allowance.chars(1_200)).view("f", offset=4, limit=3)
    assert 'the last page: view(file_path="f", offset=3,' in text
    for offset in (1, 2, 3):
        back = Workspace(tmp_path).view("f", offset=offset, limit=3, room=NarrowRoom()).previous
        assert back is not None
        assert (back.arguments.get("offset", 0), back.arguments["limit"]) == (offset - 1, 1)


def test_a_view_that_reaches_the_end_names_it(tmp_path: Path) -> None:
    """The remaining lines are fewer than the limit, or exactly as many."""
    (tmp_path / "f").write_text(_lines(250))
    workspace = Workspace(tmp_path)
    assert [workspace.view("f", offset=200, limit=limit).bound for limit in (49, 50, 51)] == ["limit", "end", "end"]


@pytest.mark.proves("V-11")
def test_a_file_that_is_made_while_it_is_looked_for_is_not_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As between two steps of a `git checkout`, it is missing when it is opened, and there when names are compared."""
    root = Root(tmp_path)
    look = root.look

    def made(relative: bytes) -> os.stat_result:
        try:
            return look(relative)
        finally:
            (tmp_path / "a.txt").write_text("a\n")

    monkeypatch.setattr(root, "look", made)
    with pytest.raises(ToolError) as no, texts.open_text(root, "a.txt"):
        pass
    assert no.value.message == "There is no file or folder a.txt."
    root.close()


class _Room:
    """A room measured in characters, eight more for each line."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.cap_bytes = 1 << 20

    def lines(self, lines: Sequence[Line]) -> int:
        return sum(len(line.text) + 8 for line in lines)

    def text(self, text: str) -> int:
        return len(text)

    def symbols(self, symbols: object) -> int:
        raise AssertionError(symbols)


def test_the_view_before_one_whose_file_was_cut_off_meanwhile_has_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the lines before it began is no longer known; the version shows that the file is different."""
    (tmp_path / "f").write_text(("y" * 100 + "\n") * 100)
    start_of = LineIndex.start_of
    monkeypatch.setattr(
        LineIndex, "start_of", lambda self, source, line: None if line == 20 else start_of(self, source, line)
    )
    page = Workspace(tmp_path).view("f", offset=60, limit=40, room=_Room(4_320))
    assert page.previous is not None
    assert (page.previous.arguments["offset"], page.previous.arguments["limit"]) == (59, 1)


@pytest.mark.proves("V-2", "V-8")
@pytest.mark.parametrize("limit", [1, 108, 215, 216, 217, 1_079, 1_080, 2_159, 2_160, 4_319, 4_320, 40_000])
def test_the_view_before_has_half_of_the_lines_that_fit_at_least(tmp_path: Path, limit: int) -> None:
    """It ends where this one begins, and does not exceed the room; one line always fits."""
    (tmp_path / "f").write_text("x" * 99 + "\n" + ("y" * 100 + "\n") * 99)
    room = _Room(limit)
    page = Workspace(tmp_path).view("f", offset=60, limit=40, room=room)
    assert isinstance(page, Window)
    assert page.previous is not None
    count = int(str(page.previous.arguments["limit"]))
    assert page.previous.arguments["offset"] == 60 - count
    assert count == 1 or 108 * count <= limit
    assert count == 40 or 108 * 2 * count > limit
    before = Workspace(tmp_path).view(**page.previous.arguments, room=room)  # type: ignore[arg-type]
    assert isinstance(before, Window)
    assert before.end_byte == page.start_byte
    assert 1 <= len(page.lines) <= max(1, limit // 108)

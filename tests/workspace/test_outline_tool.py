"""What do `outline`, and `read_file` on a large file without a range, answer?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests import printed

from penstock import Allowance, OutlinePage, Tools, Window, Workspace
from penstock.text.calls import PYTHON, Call, CommandLine, mcp
from penstock.text.tokens import Tokens

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("B-11")


def _module(functions: int) -> str:
    body = "    value = 1\n" * 12
    return "class Thing:\n" + "".join(
        f"    def method_{n}(self):\n{body.replace('    v', '        v')}\n" for n in range(functions)
    )


@pytest.mark.proves("B-1")
def test_a_large_file_without_a_range_is_its_outline(tmp_path: Path) -> None:
    """It has names with line ranges, nested, and is the same as the outline tool gives."""
    (tmp_path / "m.py").write_text(_module(200))
    tools = Tools(tmp_path)
    text = tools.read_file("m.py")
    assert text == tools.outline("m.py")
    head, first, second = text.split("\n")[:3]
    assert head.startswith("m.py: outline of 2801 lines, ")
    assert "entries 1-200 of 201" in head
    assert 'next: outline(path="m.py", offset=200)' in head
    assert "show lines A-B with view, offset=A-1" in head
    assert (first, second[:3]) == ("1-2801 class Thing", "  2") or first.startswith("1-28")
    assert "method_0" in second


@pytest.mark.proves("LAW-Page")
@pytest.mark.parametrize("allowance", [Allowance.chars(700), Allowance.bytes(100_000), Allowance.tokens(500, Tokens())])
@pytest.mark.parametrize("limit", [None, 1, 33, 500])
def test_outline_pages_that_a_model_follows_are_the_outline(
    tmp_path: Path, allowance: Allowance, limit: int | None
) -> None:
    """Every entry appears once, whatever the page and the allowance."""
    (tmp_path / "m.py").write_text(_module(120))
    whole = Workspace(tmp_path).outline("m.py", limit=10_000)
    assert isinstance(whole, OutlinePage)
    tools = Tools(tmp_path, allowance=allowance)
    call: Call | None = Call("outline", {"path": "m.py"}).but(limit=limit)
    names: list[str] = []
    while call is not None:
        text = printed.follow(tools, call)
        assert allowance.holds(text)
        names += [line.split()[-1].rstrip(":()").split("(")[0] for line in printed.body(text).split("\n")]
        call = printed.call_in(text.split("\n")[0], "next: ")
    assert len(names) == len(whole.page.items)
    assert names[1:] == [symbol.name.split()[-1].split("(")[0] for symbol in whole.page.items][1:]


def test_a_page_after_the_last_entry_is_empty(tmp_path: Path) -> None:
    """It says how many entries there are."""
    (tmp_path / "m.py").write_text(_module(20))
    text = Tools(tmp_path).outline("m.py", offset=500)
    assert "entries 0-0 of 21" in text
    assert printed.body(text) == ""


def test_the_content_is_given_if_an_outline_is_no_shorter(tmp_path: Path) -> None:
    """An outline of 80 % of the content or more is not given; the header says why."""
    source = "".join(f"def f{n}(): ...\n" for n in range(9000))
    (tmp_path / "m.py").write_text(source)
    text = Tools(tmp_path).outline("m.py")
    assert "an outline would hardly be shorter: the content instead" in text.split("\n")[0]
    assert printed.body(text).startswith("def f0(): ...\n")
    page = Workspace(tmp_path).read_file("m.py")
    assert isinstance(page, Window)
    assert page.next is not None


def test_the_first_kib_is_given_if_there_is_no_outline(tmp_path: Path) -> None:
    """The header says so, with the call that continues."""
    (tmp_path / "f.py").write_text("x = 1\n" * 5000)
    text = Tools(tmp_path).read_file("f.py")
    head = text.split("\n")[0]
    if "no landmarks found" in head:
        assert 1024 <= printed.header(text).end_byte < 1100
        assert printed.header(text).next is not None
    else:
        assert "outline of 5000 lines" in head


def test_plain_text_says_what_it_is(tmp_path: Path) -> None:
    """The fallback has no grammar, and says so."""
    (tmp_path / "notes.txt").write_text(
        "".join(f"Paragraph {n} begins here.\n" + "and goes on.\n" * 8 + "\n" for n in range(300))
    )
    head = Tools(tmp_path).outline("notes.txt").split("\n")[0]
    assert "plain text" in head
    assert "no grammar for it: blocks of plain text" in head


@pytest.mark.proves("L-10")
def test_names_in_an_outline_are_inert(tmp_path: Path) -> None:
    """A heading cannot forge an entry or control a terminal."""
    (tmp_path / "f.md").write_text("".join(f"# Title \x1b[31m{n}\u202e\r\n\n" + "text\n" * 20 for n in range(200)))
    text = Tools(tmp_path).outline("f.md")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[31m" in text


@pytest.mark.proves("L-9")
def test_an_outline_that_time_did_not_finish_says_at_least(tmp_path: Path) -> None:
    """What was found is given; nothing is invented."""
    (tmp_path / "m.py").write_text(_module(9000))
    text = Tools(tmp_path, read_seconds=0.0).outline("m.py")
    assert "outline of at least" in text or "no landmarks found" in text
    assert "outline of 126001 lines" in Tools(tmp_path).outline("m.py")


def test_an_outline_follows_its_file(tmp_path: Path) -> None:
    """What is kept belongs to one version."""
    (tmp_path / "m.py").write_text(_module(100))
    tools = Tools(tmp_path)
    assert "of 101" in tools.outline("m.py")
    (tmp_path / "m.py").write_text(_module(150))
    assert "of 151" in tools.outline("m.py")


@pytest.mark.proves("B-7")
def test_wide_encodings_have_outlines_too(tmp_path: Path) -> None:
    """They are decoded first; lines are those of the text."""
    (tmp_path / "m.py").write_bytes(_module(100).encode("utf-16"))
    text = Tools(tmp_path).outline("m.py")
    assert "outline of 1401 lines" in text
    assert "method_99" in text


def test_the_tool_that_shows_lines_is_named_as_the_reader_calls_it(tmp_path: Path) -> None:
    """Over MCP it has a prefix, and a model calls what it reads."""
    (tmp_path / "m.py").write_text(_module(2))
    for dialect, name in ((PYTHON, "view"), (mcp(), "ctx_view"), (CommandLine(), "penstock view")):
        assert f"A-B with {name}, offset=A-1" in Tools(tmp_path, dialect=dialect).outline("m.py")

"""Is a page that was measured rendered like one that was not?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.text.allowance import Allowance
from penstock.text.calls import PYTHON
from penstock.text.tokens import Tokens
from penstock.text.window import Line, Window
from penstock.tools import Tools
from penstock.tools.pages import Renderer
from penstock.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

LINES = st.lists(st.text(st.sampled_from("ab \t\r\\\x01\u200bé"), max_size=12), min_size=1, max_size=8)


def renderer() -> Renderer:
    return Renderer(Allowance.chars(1 << 20), 1 << 20, 1 << 20, PYTHON, cat=False)


def page(text: str, lines: tuple[Line, ...] = ()) -> Window:
    first = 1 if lines else None
    return Window("f", text, 0, len(text), len(text), first_line=first, last_line=first, lines=lines)


@given(LINES, st.lists(st.integers(0, 8)), st.sampled_from(["\n", "\r\n"]))
def test_a_text_is_shown_alike_whatever_was_measured_before(lines: list[str], sizes: list[int], end: str) -> None:
    """Each beginning of it, whole lines or not, costs and shows the same as alone."""
    used = renderer()
    for size in [*sizes, len(lines), *sizes]:
        for text in ("".join(line + end for line in lines[:size]), end.join(lines[:size])):
            alone = renderer()
            assert used.text(text) == alone.text(text)
            assert used.render(page(text)) == alone.render(page(text))


@given(LINES, st.lists(st.integers(1, 8)))
def test_lines_are_shown_alike_whatever_was_measured_before(texts: list[str], sizes: list[int]) -> None:
    """They have their numbers, and their own count of escapes."""
    lines = [Line(number, 0, text, len(text), len(text)) for number, text in enumerate(texts, 1)]
    used = renderer()
    for size in [*sizes, len(lines), *sizes]:
        shown, alone = lines[:size], renderer()
        assert used.lines(shown) == alone.lines(shown)
        window = page("\n".join(texts[:size]), tuple(shown))
        assert used.render(window) == alone.render(window)
        assert used.render(window).count("\n") == len(shown)


@pytest.mark.proves("L-9")
@pytest.mark.parametrize(
    "text", ["😀👨‍👩‍👧" * 5_000, "\u202eabc\u200b\u0301" * 8_000, "x" * 50_000, "漢字仮名" * 9_000], ids=ascii
)
@pytest.mark.parametrize("allowance", [Allowance.chars(400), Allowance.tokens(400, Tokens(model="x"))], ids=str)
def test_the_least_allowance_gives_a_page_wherever_it_begins(tmp_path: Path, text: str, allowance: Allowance) -> None:
    """If the header of a page within a line is too long, it omits the previous page and the reason why it ends."""
    (tmp_path / "a.txt").write_text(text)
    tools = Tools(Workspace(str(tmp_path)), allowance=allowance)
    at = 0
    for _ in range(30):
        shown = tools.call("read_file", {"path": "a.txt", "start_byte": at})
        assert not shown.is_error, shown.text
        assert allowance.holds(shown.text)
        found = re.search(r"next: read_file\(.*?start_byte=(\d+)", shown.text)
        assert found is not None
        assert int(found[1]) > at
        at = int(found[1])


@pytest.mark.proves("L-9")
@pytest.mark.parametrize("tool", ["view", "read_file", "outline", "search", "ranked"])
def test_what_does_not_fit_names_the_least_that_does(tmp_path: Path, tool: str) -> None:
    """A path of half a page is by itself longer than the least allowance."""
    folder = tmp_path / ("d" * 120) / ("e" * 120)
    folder.mkdir(parents=True)
    (folder / ("f" * 120 + ".md")).write_text("# head\nzed\n" * 3_000)
    path = f"{'d' * 120}/{'e' * 120}/{'f' * 120}.md"
    arguments: dict[str, object] = {"file_path" if tool == "view" else "path": path}
    if tool in {"search", "ranked"}:
        tool, arguments = "search", {**arguments, "pattern": "zed", "ranked": tool == "ranked"}
    tools = Tools(Workspace(str(tmp_path)), allowance=Allowance.chars(400))
    refused = tools.call(tool, arguments)
    if refused.is_error:
        least = int(refused.text.rpartition("it takes at least ")[2].rstrip("."))
        larger = Tools(Workspace(str(tmp_path)), allowance=Allowance.chars(least)).call(tool, arguments)
        assert not larger.is_error, larger.text
    else:
        assert len(refused.text) <= 400

"""A page that was measured is rendered as one that was not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.text.allowance import Allowance
from penstock.text.calls import PYTHON
from penstock.text.window import Line, Window
from penstock.tools.pages import Renderer

LINES = st.lists(st.text(st.sampled_from("ab \t\r\\\x01\u200bé"), max_size=12), min_size=1, max_size=8)


def renderer() -> Renderer:
    return Renderer(Allowance.chars(1 << 20), 1 << 20, 1 << 20, PYTHON, cat=False)


def page(text: str, lines: tuple[Line, ...] = ()) -> Window:
    first = 1 if lines else None
    return Window("f", text, 0, len(text), len(text), first_line=first, last_line=first, lines=lines)


@given(LINES, st.lists(st.integers(0, 8)), st.sampled_from(["\n", "\r\n"]))
def test_a_text_is_shown_alike_whatever_was_measured_before(lines: list[str], sizes: list[int], end: str) -> None:
    """Each beginning of it, whole lines or not, costs and shows what it does alone."""
    used = renderer()
    for size in [*sizes, len(lines), *sizes]:
        for text in ("".join(line + end for line in lines[:size]), end.join(lines[:size])):
            alone = renderer()
            assert used.text(text) == alone.text(text)
            assert used.render(page(text)) == alone.render(page(text))


@given(LINES, st.lists(st.integers(1, 8)))
def test_lines_are_shown_alike_whatever_was_measured_before(texts: list[str], sizes: list[int]) -> None:
    """With their numbers, and with their own count of escapes."""
    lines = [Line(number, 0, text, len(text), len(text)) for number, text in enumerate(texts, 1)]
    used = renderer()
    for size in [*sizes, len(lines), *sizes]:
        shown, alone = lines[:size], renderer()
        assert used.lines(shown) == alone.lines(shown)
        window = page("\n".join(texts[:size]), tuple(shown))
        assert used.render(window) == alone.render(window)
        assert used.render(window).count("\n") == len(shown)

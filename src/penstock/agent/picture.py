"""How full was the window? The figures of one session as a picture: SVG, without scripts or fonts, for light and dark themes.

Leaves to others: the figures (`figures`), and where the picture is kept.
"""

from __future__ import annotations

import html
from itertools import pairwise
from typing import TYPE_CHECKING

from penstock.text import escape

if TYPE_CHECKING:
    from penstock.agent.stats import Stats

_WIDTH, _HEIGHT = 960, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 930, 60, 300
# Greys and colours of medium lightness: at least 3.9:1 against white and against black.
_GREY, _LINE = "#808080", "#3584c4"
_CUT = "l -5 -9 h 10 z", "#c4682b"  # a triangle that points at its place
_HANDOFF = "m 0 -6 l 6 6 l -6 6 l -6 -6 z", "#a05fc0"  # a diamond around it


def picture(found: Stats) -> str:
    """Return how full the window was as SVG: requests as a line, the window as a rule, cuts and fresh starts as marks."""
    turns = [(one.number, one.request_tokens) for one in found.answers]
    window = max((one.window_tokens for one in found.answers), default=0)
    max_turns = max((number for number, _ in turns), default=1)
    max_tokens = max([1, window, *(tokens for _, tokens in turns)]) * 1.05

    # Turns run from 1 to the last across the frame, tokens upwards from 0 to a little above the largest; SVG counts y from the top.
    def at(turn: float, tokens: float) -> tuple[float, float]:
        x = _LEFT + (_RIGHT - _LEFT) * (turn - 1) / max(1, max_turns - 1)
        return round(x, 1), round(_BOTTOM - (_BOTTOM - _TOP) * tokens / max_tokens, 1)

    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    title = f"Session {found.sessions[0]}: how full the window was"
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" font-family="sans-serif" {size}>',
        f"<title>{_xml(title)}</title>",
        _text(_LEFT, 28, title, size=16),
        _text(_LEFT, _TOP - 12, "tokens of a request"),
        _text(_RIGHT, _BOTTOM + 36, "turn (answer of the model)", anchor="end"),
        _rule(_BOTTOM),
        *(_text(at(turn, 0)[0], _BOTTOM + 18, str(turn), anchor="middle") for turn in sorted({1, max_turns})),
        _text(_LEFT - 8, _BOTTOM + 4, "0", anchor="end"),
    ]
    if window:
        y = at(1, window)[1]
        drawn += [
            _rule(y, dashes=' stroke-dasharray="6 4"'),
            _text(_LEFT - 8, y + 4, str(window), anchor="end"),
            _text(_RIGHT, y - 6, "window", anchor="end"),
        ]
    if turns:
        points = " ".join(f"{x},{y}" for x, y in (at(*turn) for turn in turns))
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{_LINE}" stroke-width="2"/>')
        drawn += [f'<circle cx="{x}" cy="{y}" r="2.5" fill="{_LINE}"/>' for x, y in (at(*turn) for turn in turns)]
    marks = [(cut.after_answer, _CUT, f"cut by {cut.strategy}: {cut.freed_tokens} tokens") for cut in found.cuts]
    marks += [
        (one.after_answer, _HANDOFF, f"handoff, {one.reason}: {one.freed_tokens} tokens") for one in found.handoffs
    ]
    drawn += [_mark(*at(*_between(turns, after)), sign, said) for after, sign, said in marks]
    drawn += [
        _mark(_LEFT + 6, _BOTTOM + 32, _CUT),
        _text(_LEFT + 18, _BOTTOM + 36, f"cut ({len(found.cuts)})"),
        _mark(_LEFT + 106, _BOTTOM + 32, _HANDOFF),
        _text(_LEFT + 118, _BOTTOM + 36, f"handoff ({len(found.handoffs)})"),
        "</svg>",
    ]
    return "\n".join(drawn) + "\n"


def _between(turns: list[tuple[int, int]], after: int) -> tuple[float, float]:
    """Return where on the line something that happened after that turn is: halfway to the next turn, if there is one."""
    for (turn, tokens), (following, then) in pairwise(turns):
        if turn == after:
            return (turn + following) / 2, (tokens + then) / 2
    return turns[-1 if after else 0] if turns else (1, 0)


def _mark(x: float, y: float, sign: tuple[str, str], said: str = "") -> str:
    """Return a mark; its meaning shows under the pointer."""
    shape, colour = sign
    inner = f"<title>{_xml(said)}</title>" if said else ""
    return f'<path d="M {x} {y} {shape}" fill="{colour}">{inner}</path>'


def _rule(y: float, dashes: str = "") -> str:
    """Return a horizontal line across the frame."""
    return f'<line x1="{_LEFT}" y1="{y}" x2="{_RIGHT}" y2="{y}" stroke="{_GREY}"{dashes}/>'


def _text(x: float, y: float, said: str, *, anchor: str = "start", size: int = 13) -> str:
    """Return a text, escaped."""
    return f'<text x="{x}" y="{y}" fill="{_GREY}" text-anchor="{anchor}" font-size="{size}">{_xml(said)}</text>'


def _xml(text: str) -> str:
    """Return foreign text for the inside of an element: escaped, without what XML cannot hold."""
    return html.escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in escape.clip(text)))

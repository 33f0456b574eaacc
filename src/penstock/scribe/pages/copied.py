"""Which programs are nearly copies of a page's own, and where does it differ from the nearest?

Law: every difference found is a row, up to a stated number. Leaves to others: how copies are found (`copies`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.scribe.pages.blocks import (
    BELOW,
    CitedLines,
    CodeSpan,
    DocumentLink,
    PageSection,
    TextBlock,
    joined,
)
from penstock.scribe.pages.columns import table
from penstock.scribe.pages.copies import MOST_HUNKS
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.scribe.pages.blocks import Block, Cell
    from penstock.scribe.pages.copies import Hunk

_MOST_LINES = 12
"""The most lines that a row shows of one side of a difference; the citation leads to all."""


class CopyView(NamedTuple):
    """A near-copy of a program: its name, the path of its page, the share of common lines, and the differences.

    The last is None if differences were not computed: they are computed for the nearest only.
    """

    name: str
    path: str
    share: float
    hunks: Sequence[Hunk] | None


def of_copies(copies: Sequence[CopyView]) -> Iterator[PageSection]:
    """Yield the section of a program's near-copies; nothing if it has none."""
    if not copies:
        return
    links = joined(
        piece for one in copies for piece in (DocumentLink(f"{one.name} ({one.share:.0%})", one.path, "near-copies"),)
    )
    blocks: list[Block] = [TextBlock(("About so much of their lines are alike: ", *links))]
    nearest = copies[0]
    if nearest.hunks is not None:
        shown, number = nearest.hunks[:MOST_HUNKS], len(nearest.hunks)
        left = f" The first {MOST_HUNKS} are shown." if number > MOST_HUNKS else ""
        told = (
            f"{counted(number, 'difference')} from {nearest.name}; comments, blanks and their own names are none.{left}"
        )
        blocks.append(TextBlock((told,), is_aside=True))
        blocks += table(
            shown,
            {
                "Lines here": lambda hunk: _span(hunk.here),
                "Here": lambda hunk: _text(hunk.here),
                "Lines there": lambda hunk: _span(hunk.there, nearest.path),
                "There": lambda hunk: _text(hunk.there),
            },
            keeps_empty=True,
        )
    yield PageSection("Near-copies", tuple(blocks))


def _span(lines: Sequence[tuple[int, str]], path: str = "") -> Cell:
    return (CitedLines(lines[0][0], lines[-1][0], path),) if lines else ()


def _text(lines: Sequence[tuple[int, str]]) -> Cell:
    more = len(lines) - _MOST_LINES
    shown = joined((CodeSpan(text) for _, text in lines[:_MOST_LINES]), BELOW)
    return (*shown, BELOW, f"and {more} more") if more > 0 else shown

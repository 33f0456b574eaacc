"""Where in the program is this? The outline of a file, folded to what matters for some of its lines.

Every program, division, section and paragraph is a row. Where not all fit, those of divisions and sections stay first, then what
the lines call and what calls them, then their neighbours, then the rest; how many are left out is said.
Law: larger than asked for only by the note. Keeps out: how a row reads (`wording`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from . import wording
from .chunks import holds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .chunks import Span
    from .units import Edge, Layout

_NEIGHBOURS = 2  # paragraphs before and behind each span
_FRAME, _SECTION, _CALLED, _NEAR, _OWN, _OTHER = range(6)


class _Row(NamedTuple):
    depth: int
    name: str
    first: int
    last: int
    stays: int  # how long: `_FRAME`, `_SECTION` or `_OTHER`


class Outline:
    """The names of a file with their lines."""

    def __init__(self, layout: Layout, sizes_of: Callable[[list[str]], list[float]]) -> None:
        self._rows = sorted(_rows(layout), key=lambda row: (row.first, -row.last, row.depth))
        self._firsts = [row.first for row in self._rows]
        self._edges: Sequence[Edge] = layout.edges
        self._sizes_of = sizes_of

    def within(self, spans: Sequence[Span], limit: float) -> list[str]:
        """The rows that fit, in the order of their lines, with a heading; a note says how many are left out."""
        if not self._rows:
            return []
        total = len(self._rows)
        texts = [self._text(row, spans) for row in self._rows]
        heading, note = f"{wording.OUTLINE}\n", f"{wording.rows_left_out(total, total)}\n"
        *sizes, heading_size, note_size = self._sizes_of([*texts, heading, note])
        if heading_size + sum(sizes) <= limit:
            return [heading, *texts]
        room = limit - heading_size - note_size
        chosen: list[int] = []
        stays = self._stays(spans)
        for at in sorted(range(total), key=lambda at: (stays[at], at)):
            if sizes[at] > room:
                break
            room -= sizes[at]
            chosen.append(at)
        said = f"{wording.rows_left_out(total - len(chosen), total)}\n"
        return [*([heading] if chosen else []), *(texts[at] for at in sorted(chosen)), said]

    def _text(self, row: _Row, spans: Sequence[Span]) -> str:
        shown = holds(spans, row.first) and holds(spans, row.last)
        return f"{wording.row(row.depth, row.name, row.first, row.last, is_shown=shown)}\n"

    def _stays(self, spans: Sequence[Span]) -> list[int]:
        """For each row how important it is for these lines: the lower the longer it stays."""
        stays = [row.stays for row in self._rows]

        def raise_to(at: int, importance: int) -> None:
            if 0 <= at < len(stays):
                stays[at] = min(stays[at], importance)

        for edge in self._edges:
            called, calls = holds(spans, edge.first), holds(spans, edge.line)
            if calls != called:
                raise_to(bisect_right(self._firsts, edge.first if calls else edge.line) - 1, _CALLED)
        for first, last in spans:
            low, high = bisect_left(self._firsts, first), bisect_right(self._firsts, last)
            for step in range(_NEIGHBOURS):
                raise_to(low - 1 - step, _NEAR)
                raise_to(high + step, _NEAR)
            for at in range(low, high):
                raise_to(at, _OWN)
        return stays


def _rows(layout: Layout) -> Iterator[_Row]:
    several = len(layout.source.programs) > 1
    for program in layout.source.programs:
        if several:
            yield _Row(0, f"PROGRAM {program.name}", program.start_line, program.end_line, _FRAME)
        for division in program.divisions:
            yield _Row(several, f"{division.name} DIVISION", division.start_line, division.end_line, _FRAME)
        for section in program.sections:
            yield _Row(several + 1, f"{section.name} SECTION", section.start_line, section.end_line, _SECTION)
        for paragraph in program.paragraphs:
            if paragraph.name:
                depth = several + 1 + (paragraph.section is not None)
                yield _Row(depth, paragraph.name, paragraph.start_line, paragraph.end_line, _OTHER)

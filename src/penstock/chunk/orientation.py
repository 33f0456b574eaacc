"""Where in the program are some lines? An outline of the file, reduced to what matters for them, shows it to a model.

Every program, division, section and paragraph is a row. If not all fit, those of divisions and sections stay first, then what the
lines call and what calls them, then their neighbours, then the rest; a note says how many are left out.
Law: it exceeds the requested size at most by the note. Leaves to others: how a row reads (`wording`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

from . import wording
from .chunks import holds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .chunks import Span
    from .units import UnitLayout

_NEIGHBOURS = 2  # paragraphs before and after each span
_FRAME, _SECTION, _CALLED, _NEAR, _OWN, _OTHER = range(6)


class _Row(NamedTuple):
    """A name with its lines and its depth in the outline."""

    depth: int
    name: str
    first: int
    last: int
    stays: int  # how long: `_FRAME`, `_SECTION` or `_OTHER`


class NameOutline:
    """The names of a file with their lines, measured once for all prompts.

    Args:
        layout: The file.
        sizes_of: Gives the size of each of some texts, in the unit of the budget.
    """

    def __init__(self, layout: UnitLayout, sizes_of: Callable[[list[str]], list[float]]) -> None:
        # Outer names before inner ones if both begin on one line.
        self._rows = rows = sorted(_rows(layout), key=lambda row: (row.first, -row.last, row.depth))
        self._firsts = [row.first for row in rows]
        self._texts = [_text(row, is_shown=False) for row in rows]
        self._sizes_of = sizes_of
        self._sizes = sizes_of(self._texts)
        self._size = sum(self._sizes)
        self._order = sorted(range(len(rows)), key=lambda at: rows[at].stays)
        # Each edge from both of its ends, by line: what some lines call and what calls them is one search.
        self._ends = sorted(
            ends for edge in layout.edges for ends in ((edge.line, edge.first), (edge.first, edge.line))
        )

    def within(self, spans: Sequence[Span], limit: float) -> list[str]:
        """Return the rows that fit, in line order, with a heading; a note says how many are left out.

        Args:
            spans: The lines that the prompt shows; their own rows are marked.
            limit: The most that the outline may take.
        """
        total = len(self._rows)
        if not total:
            return []
        shown = {
            at: _text(self._rows[at], is_shown=True)
            for span in spans
            for at in self._beginning_in(span)
            if holds(spans, self._rows[at].last)
        }
        heading, note = f"{wording.OUTLINE}\n", f"{wording.rows_left_out(total, total)}\n"
        *marked, heading_size, note_size = self._sizes_of([*shown.values(), heading, note])
        sizes = dict(zip(shown, marked, strict=True))
        if heading_size + self._size + sum(size - self._sizes[at] for at, size in sizes.items()) <= limit:
            return [heading, *(shown.get(at, text) for at, text in enumerate(self._texts))]
        # By importance until the first that does not fit, without trying smaller ones: whatever is shown matters at least as much
        # as anything that is not.
        room = limit - heading_size - note_size
        chosen: list[int] = []
        for at in self._by_importance(spans):
            size = sizes.get(at, self._sizes[at])
            if size > room:
                break
            room -= size
            chosen.append(at)
        said = f"{wording.rows_left_out(total - len(chosen), total)}\n"
        return [
            *([heading] if chosen else []),
            *(shown.get(at, self._texts[at]) for at in sorted(chosen)),
            said,
        ]

    def _beginning_in(self, span: Span) -> range:
        return range(bisect_left(self._firsts, span[0]), bisect_right(self._firsts, span[1]))

    def _by_importance(self, spans: Sequence[Span]) -> Iterator[int]:
        """Yield the numbers of all rows, those that stay longest first.

        Only the raised rows are sorted for these lines; the order of all others is the same for every prompt and is merged in.
        """
        raised = self._raised(spans)
        rest = ((self._rows[at].stays, at) for at in self._order if at not in raised)
        return (at for _, at in merge(rest, sorted((importance, at) for at, importance in raised.items())))

    def _raised(self, spans: Sequence[Span]) -> dict[int, int]:
        """Return the rows that these lines make more important: what they call, what calls them, and neighbours."""
        raised: dict[int, int] = {}

        def raise_to(at: int, importance: int) -> None:
            if 0 <= at < len(self._rows):
                raised[at] = min(raised.get(at, self._rows[at].stays), importance)

        for first, last in spans:
            for _, other in self._ends[bisect_left(self._ends, (first,)) : bisect_left(self._ends, (last + 1,))]:
                if not holds(spans, other):
                    raise_to(bisect_right(self._firsts, other) - 1, _CALLED)
            own = self._beginning_in((first, last))
            for step in range(_NEIGHBOURS):
                raise_to(own.start - 1 - step, _NEAR)
                raise_to(own.stop + step, _NEAR)
            for at in own:
                raise_to(at, _OWN)
        return raised


def _text(row: _Row, *, is_shown: bool) -> str:
    return f"{wording.row(row.depth, row.name, row.first, row.last, is_shown=is_shown)}\n"


def _rows(layout: UnitLayout) -> Iterator[_Row]:
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

"""What does a model see of a program? The lines of a chunk with their numbers, and around them the outline and the data they use.

The prompt of a whole file is its lines and nothing else. That of a chunk begins with the outline of the file and with the data
items that its code names, as far as they fit. Law: each line of the source is shown with its absolute number, on one line of the
prompt. Leaves to others: the instructions to the model (the scribe), and the budget (`cobol`).
"""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from penstock.text import escape, notices

from . import wording
from .chunks import joined
from .orientation import NameOutline
from .slices import Data, NameCounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.cobol.source import ScannedSource

    from .chunks import Span
    from .measure import Ruler
    from .units import UnitLayout


_NAME_BYTES = 60  # of a program's name at the head of every prompt: twice what COBOL allows


class LinesPrompt(NamedTuple):
    """What is sent for some lines after the overhead, and which lines are in its context."""

    text: str
    context_spans: tuple[Span, ...]


class Surroundings:
    """Everything that can be shown of a source around some of its lines."""

    def __init__(self, layout: UnitLayout, ruler: Ruler, copybooks: Mapping[str, ScannedSource] | None = None) -> None:
        self._source = source = layout.source
        self._layout = layout
        self._ruler = ruler
        self._copybooks = copybooks or {}
        self._names = NameCounts(source)
        self._sizes: dict[int, float] = {}  # of data items
        self._shown = layout.shown

    @cached_property
    def _data(self) -> Data:
        return Data(self._source, self._copybooks)

    @cached_property
    def _outline(self) -> NameOutline:
        return NameOutline(self._layout, self._ruler.lines)

    def line(self, number: int) -> str:
        """Return a line as a prompt shows it: its number, its text, its line end."""
        return f"{notices.gutter(number, self._shown[number - 1])}\n"

    def whole(self) -> str:
        """Return the prompt of the whole file, used if nothing has to be cut."""
        return "".join([self.head, f"{wording.WHOLE}\n", *map(self.line, range(1, self._source.lines + 1))])

    def prompt(self, spans: Sequence[Span], context_limit: float) -> LinesPrompt:
        """Return the prompt of some lines, with context up to a limit; a row marks where lines are left out."""
        context, context_spans = self._context(spans, context_limit)
        parts = [self.head, context, f"{wording.SOURCE}\n"]
        shown_to = 0
        for first, last in spans:
            if first > shown_to + 1:
                parts.append(f"{wording.GAP}\n")
            parts += map(self.line, range(first, last + 1))
            shown_to = last
        if shown_to < self._source.lines:
            parts.append(f"{wording.GAP}\n")
        return LinesPrompt("".join(parts), context_spans)

    def digest(self, spans: Sequence[Span]) -> str:
        """Return a hash of everything an answer about some lines depends on: their program, their text, and the data they use.

        Line numbers are not included, because they change with every line inserted above. Neither is which of the data was shown,
        which depends on the room, nor the outline, which any rename anywhere would change.
        """
        units = self._layout.units
        programs = dict.fromkeys(units[at].program for at, _ in self._layout.inside(spans))
        made = sha256("\n".join(programs).encode("utf-8", "surrogatepass"))
        for first, last in spans:
            for text in self._shown[first - 1 : last]:
                made.update(f"{text}\n".encode("utf-8", "surrogatepass"))
        used = {number for needs in self._used(spans) for number in needs}
        for number in sorted(used):
            for _, text in self._data.lines_of(number):
                made.update(f"\x00{text}".encode("utf-8", "surrogatepass"))
        return made.hexdigest()

    @property
    def head(self) -> str:
        """The first line of every prompt."""
        names = [escape.clip(program.name, _NAME_BYTES) for program in self._source.programs if program.parent is None]
        return f"{wording.program(names, self._source.lines)}\n"

    @property
    def frame(self) -> str:
        """The text around the lines of a chunk without context."""
        return f"{self.head}{wording.SOURCE}\n{wording.GAP}\n"

    @property
    def least(self) -> float:
        """The size of the context if nothing of it fits: the notes that say so."""
        return sum(
            self._ruler.lines([*self._outline.within([], 0), f"{wording.items_left_out(len(self._data.items))}\n"])
        )

    def _context(self, spans: Sequence[Span], limit: float) -> tuple[str, tuple[Span, ...]]:
        """Return outline and data; if they do not both fit, neither gets more than half unless the other leaves it."""
        room = limit
        while True:
            # Rows were measured one by one and add up to nearly the text: any excess is taken from the room, at least 1 each
            # turn, so this ends.
            data_need = sum(self._ruler.lines(self._data_part(spans, float("inf"))[0]))
            outline = self._outline.within(spans, max(room / 2, room - data_need))
            data, shown = self._data_part(spans, room - sum(self._ruler.lines(outline)))
            text = "".join([*outline, *data])
            over = self._ruler.whole(text) - limit
            if over <= 0 or room <= 0:
                return text, joined(shown)
            room -= over + 1

    def _data_part(self, spans: Sequence[Span], limit: float) -> tuple[list[str], list[Span]]:
        """Return the items that fit, by line, copybooks' last, with a heading and a count of those left out.

        They are chosen by how often they are named, and an item comes with its groups or not at all: a field without its record
        tells a model nothing about where its bytes are.
        """
        used = self._used(spans)
        if not used:
            return [], []
        heading, note = f"{wording.DATA}\n", f"{wording.items_left_out(len(used))}\n"
        heading_size, note_size = self._ruler.lines([heading, note])
        everything = {number for needs in used for number in needs}
        room = limit - heading_size
        # Room for the note is reserved only if it will be needed.
        room -= note_size if sum(map(self._size, everything)) > room else 0
        chosen: set[int] = set()
        left_out = 0
        for needs in used:
            new = [number for number in needs if number not in chosen]
            size = sum(map(self._size, new))
            # A large item does not end the loop: less often named items that fit are shown.
            if size > room:
                left_out += 1
                continue
            room -= size
            chosen.update(new)
        said = [f"{wording.items_left_out(left_out)}\n"] if left_out else []
        if not chosen:
            return said, []
        items = [self._data.items[number] for number in chosen]
        # Two items may be on one line, which is shown once.
        texts = dict.fromkeys(text for number in sorted(chosen, key=self._place) for text in self._item(number))
        return [heading, *texts, *said], [(i.entry.line, i.entry.end_line) for i in items if i.copybook is None]

    def _place(self, number: int) -> tuple[bool, int]:
        """Return the sort key of items: a program's own items may come after those of a program that it contains."""
        item = self._data.items[number]
        return item.copybook is not None, item.entry.line if item.copybook is None else number

    def _size(self, number: int) -> float:
        if number not in self._sizes:
            self._sizes[number] = sum(self._ruler.lines(self._item(number)))
        return self._sizes[number]

    def _item(self, number: int) -> list[str]:
        item = self._data.items[number]
        if item.copybook is None:
            return [self.line(line) for line, _ in self._data.lines_of(number)]
        return [
            f"{wording.copybook(item.copybook, line, escape.show_text(text))}\n"
            for line, text in self._data.lines_of(number)
        ]

    def _used(self, spans: Sequence[Span]) -> list[list[int]]:
        """Return the data that lines use; each unit is read only once."""
        # All lines of a file without copybooks: everything they use is in them. Most files are sent whole, and reading every name
        # would take as long as the rest of their plan.
        if not self._copybooks and tuple(spans) == ((1, self._source.lines),):
            return []
        names: dict[tuple[str, str], int] = {}
        for at, inside in self._layout.inside(spans):
            program = self._layout.units[at].program
            for name, times in self._names.within(inside).items():
                names[program, name] = names.get((program, name), 0) + times
        return self._data.used(spans, names)

"""What is a landmark? The values of an outline, and the one place where they are collected.

Keeps out every language: scanners say "a name opens here, it closes there"; nesting, order, the cap on
their number and the cleaning of names are settled here.

Law: 1 <= start <= end <= total_lines; symbols stand in line order; a child lies within its parent.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_SYMBOLS = 50_000
"""How many landmarks are kept; beyond it the deepest are dropped and the outline says it is not complete."""

MAX_NAME_CHARS = 120
MAX_OPEN = 200
"""How many landmarks may be open at once: what is nested deeper is not a landmark."""


class Symbol(NamedTuple):
    """A named range of whole lines."""

    name: str
    kind: str
    start_line: int
    end_line: int
    depth: int


class Outline(NamedTuple):
    """The landmarks of one source, and who found them."""

    symbols: tuple[Symbol, ...]
    language: str
    method: str
    total_lines: int
    complete: bool


def display(name: bytes) -> str:
    """One readable line: whitespace collapsed, invalid bytes escaped, clipped."""
    text = name[: 4 * MAX_NAME_CHARS].decode("utf-8", "backslashreplace")
    if not text.isprintable() or "  " in text or text[:1] == " " or text[-1:] == " ":
        text = " ".join(text.split())
    return text if len(text) <= MAX_NAME_CHARS else text[: MAX_NAME_CHARS - 1] + "…"


class OpenSymbol:
    """A landmark under construction; `end_line` is right once it has been closed."""

    __slots__ = ("depth", "end_line", "kind", "level", "name", "start_line")

    def __init__(self, name: bytes, kind: str, start_line: int, depth: int, level: int) -> None:
        self.name = name
        self.kind = kind
        self.start_line = start_line
        self.end_line = start_line
        self.depth = depth
        self.level = level


class Collector:
    """Landmarks in line order. `stack` holds the open ones, outermost first.

    A level is whatever orders nesting in a language (indentation, heading level, brace depth): a landmark
    lies in the nearest open one of a smaller level.
    """

    __slots__ = ("_max_depth", "complete", "entries", "stack")

    def __init__(self) -> None:
        self.entries: list[OpenSymbol] = []
        self.stack: list[OpenSymbol] = []
        self.complete = True
        self._max_depth = MAX_OPEN

    def open(self, name: bytes, kind: str, line: int, level: int) -> OpenSymbol:
        """Open a landmark inside whatever is open; close first what does not contain it."""
        stack = self.stack
        depth = len(stack)
        entry = OpenSymbol(name[: 4 * MAX_NAME_CHARS], kind, line, depth, level)
        if depth <= self._max_depth:
            entries = self.entries
            entries.append(entry)
            if depth < MAX_OPEN:
                stack.append(entry)
            if len(entries) > MAX_SYMBOLS:
                self._thin()
        else:
            self.complete = False
        return entry

    def close_to(self, level: int, line: int) -> None:
        """Close at `line` everything open at `level` or deeper."""
        stack = self.stack
        while stack and stack[-1].level >= level:
            entry = stack.pop()
            if line > entry.end_line:
                entry.end_line = line
            elif entry.end_line > line:
                line = entry.end_line

    def _thin(self) -> None:
        """Give up the deepest layer (or, at the top, the newest): shallow landmarks are worth more."""
        self.complete = False
        deepest = max(entry.depth for entry in self.entries)
        if deepest:
            self._max_depth = deepest - 1
            self.entries = [entry for entry in self.entries if entry.depth < deepest]
            self.stack = self.stack[:deepest]
        else:
            self._max_depth = -1
            self.entries.pop()

    def symbols(self, total_lines: int) -> tuple[Symbol, ...]:
        """Close everything and hand over the landmarks, names cleaned, ranges within the source."""
        self.close_to(-(1 << 60), total_lines)
        made: list[Symbol] = []
        last = 1
        ends = [total_lines] * (MAX_OPEN + 2)  # by depth: where the landmarks around the next one end
        for entry in self.entries:
            start, end, depth = entry.start_line, entry.end_line, entry.depth
            limit = ends[depth]
            if not last <= start <= end <= limit:
                start = min(max(start, last), limit)
                end = max(start, min(end, limit))
            last = start
            ends[depth + 1] = end
            made.append(Symbol(display(entry.name), entry.kind, start, end, depth))
        return tuple(made)

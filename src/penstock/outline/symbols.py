"""What is an outline made of? Its values, and the one place where landmarks are collected.

Scanners say "a name opens here, it closes there"; nesting, order, the cap on their number and the cleaning of names are
settled here. Leaves to others: every language.

Law: 1 <= start <= end <= total_lines; symbols are in line order; a child is within its parent.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_SYMBOLS = 50_000
"""How many landmarks are kept; beyond it the deepest are dropped and the outline says that it is not complete."""

MAX_NAME_CHARS = 120
"""The most characters of a name, the ellipsis included."""
MAX_OPEN = 200
"""How many landmarks may be open at once: what is nested deeper is not a landmark."""


class Symbol(NamedTuple):
    """A landmark: a named range of whole lines, 1-based and inclusive."""

    name: str
    """The text of its definition on one line, such as `def f(self)` or `## Title`, clipped to `MAX_NAME_CHARS`."""
    kind: str
    """class, function, method, heading, key, paragraph and so on; the set depends on the language."""
    start_line: int
    end_line: int
    depth: int
    """How many landmarks enclose this one; 0 for the outermost."""


class Outline(NamedTuple):
    """The landmarks of one source in line order, and how they were found."""

    symbols: tuple[Symbol, ...]
    language: str
    """The language it was read as."""
    method: str
    """tree-sitter, line scanner, cobol scanner or plain text: how exact the ranges are."""
    total_lines: int
    """How many lines the source has; a newline at its end does not begin another one."""
    complete: bool
    """Whether all landmarks are listed; False if some were dropped, for their number or their depth."""


def display(name: bytes) -> str:
    """Return a name as one readable line: whitespace collapsed, invalid bytes escaped, clipped to `MAX_NAME_CHARS`.

    Args:
        name: Bytes of the source, in UTF-8 or anything else.
    """
    # A character takes at most four bytes; what is clipped anyway is not decoded.
    text = name[: 4 * MAX_NAME_CHARS].decode("utf-8", "backslashreplace")
    if not text.isprintable() or "  " in text or text[:1] == " " or text[-1:] == " ":
        text = " ".join(text.split())
    return text if len(text) <= MAX_NAME_CHARS else text[: MAX_NAME_CHARS - 1] + "…"


class OpenSymbol:
    """A landmark under construction; `end_line` is right once it has been closed.

    `level` orders nesting in its language; `depth`, which an outline shows, is how many landmarks enclose it.
    """

    __slots__ = ("depth", "end_line", "kind", "level", "name", "start_line")

    def __init__(self, name: bytes, kind: str, start_line: int, depth: int, level: int) -> None:
        self.name = name
        self.kind = kind
        self.start_line = start_line
        self.end_line = start_line
        self.depth = depth
        self.level = level


class Collector:
    """Collects landmarks in line order; `stack` holds the open ones, outermost first.

    A level is whatever orders nesting in a language (indentation, heading level, brace depth): a landmark is inside the
    nearest open one of a smaller level.
    """

    __slots__ = ("_max_depth", "complete", "entries", "stack")

    def __init__(self) -> None:
        self.entries: list[OpenSymbol] = []
        self.stack: list[OpenSymbol] = []
        self.complete = True
        self._max_depth = MAX_OPEN

    def open(self, name: bytes, kind: str, line: int, level: int) -> OpenSymbol:
        """Open a landmark inside of whatever is open, and return it; a scanner first closes what does not enclose it.

        Args:
            name: Its text, as bytes of the source.
            kind: What it is.
            line: Its first line.
            level: What orders nesting in its language; what is opened next is inside of it until `close_to` says
                otherwise.
        """
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
        """Close everything that is open at `level` or deeper.

        Args:
            level: The smallest level that is closed.
            line: The last line of all of them; one that is known to extend further keeps its own end, and so do those
                around it.
        """
        stack = self.stack
        while stack and stack[-1].level >= level:
            entry = stack.pop()
            if line > entry.end_line:
                entry.end_line = line
            # An end that was set exactly (by a grammar, or a bracket) may come after the line given here: what encloses it
            # then ends no earlier, or ranges would not nest.
            elif entry.end_line > line:
                line = entry.end_line

    def _thin(self) -> None:
        """Drop the deepest layer (or, at the top, the newest): shallow landmarks are worth more."""
        self.complete = False
        # Each time one layer is dropped for good, so this runs at most once for each depth: a stream of millions of
        # methods costs two passes over the list, not one for each method.
        deepest = max(entry.depth for entry in self.entries)
        if deepest:
            self._max_depth = deepest - 1
            self.entries = [entry for entry in self.entries if entry.depth < deepest]
            self.stack = self.stack[:deepest]
        else:
            self._max_depth = -1
            self.entries.pop()

    def symbols(self, total_lines: int) -> tuple[Symbol, ...]:
        """Close everything and return the landmarks, with names cleaned and ranges within the source.

        Args:
            total_lines: How many lines the source has.
        """
        self.close_to(-(1 << 60), total_lines)
        made: list[Symbol] = []
        last = 1
        ends = [total_lines] * (MAX_OPEN + 2)  # by depth: where the landmarks around the next one end
        for entry in self.entries:
            start, end, depth = entry.start_line, entry.end_line, entry.depth
            limit = ends[depth]
            # Scanners of broken sources may report overlapping ranges. They are clamped into what encloses them, which is
            # the last landmark before it of the depth above.
            if not last <= start <= end <= limit:
                start = min(max(start, last), limit)
                end = max(start, min(end, limit))
            last = start
            ends[depth + 1] = end
            made.append(Symbol(display(entry.name), entry.kind, start, end, depth))
        return tuple(made)

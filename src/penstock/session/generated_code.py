"""Is generated code small enough to be read and kept? Its lines, classes and methods against the caps for its kind of work (S-6).

The line cap of a response depends on its kind of work; a class may have 800 lines, a function or method 50. Python is measured by
its syntax tree, other languages by their outlines: by a grammar if one is installed, else by lines. A definition runs from its own
first line, without decorators, to its last, and includes everything in between.

Laws: any text is measured, without an exception; a cap may be reached, not exceeded. Leaves to others: files, clocks, whether
the code is right, and what is done about code that is too large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from penstock.errors import CallerError
from penstock.outline import EXACT_BYTES, outline, scan
from penstock.text import escape
from penstock.text.notices import counted

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable

    from penstock.outline import Outline

Kind = Literal["analysis", "generation", "refactoring"]
"""The kinds of work that have caps."""
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Every kind of work, for messages and command lines."""
Level = Literal["ok", "advised", "above"]
"""How the number of lines of a response compares: `ok`, `advised` (more than is advised), or `above` (more than the cap)."""

# The figures of behaviour S-6.
RESPONSE_LINES = 3_000
"""The most lines of any response."""
CLASS_LINES = 800
"""The most lines of a class, including its methods."""
METHOD_LINES = 50
"""The most lines of a function or method, including what is nested in it."""


class Caps(NamedTuple):
    """The limits for one response. Lower ends say what is usual; nothing is too short."""

    advised_lines: tuple[int, int]
    """The usual range of lines; more than its end is advised against."""
    max_lines: int
    """The cap; it may be reached."""
    seconds: tuple[float, float]
    """How long a response usually takes, from and to."""


CAPS: dict[Kind, Caps] = {
    "analysis": Caps((50, 100), 500, (2.0, 5.0)),
    "generation": Caps((200, 500), RESPONSE_LINES, (5.0, 15.0)),
    "refactoring": Caps((100, 300), 1_500, (3.0, 10.0)),
}
"""The caps of each kind of work (S-6)."""

# By the kinds of the outline room. A namespace or a module is not a class: it holds what a file holds.
_CLASSES = frozenset({"class", "interface", "struct", "union", "enum", "record", "trait", "impl"})
_FUNCTIONS = frozenset({"function", "method", "procedure", "property"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A class, function or method of a source; its lines are 1-based and inclusive."""

    kind: str
    """The language's word for a definition: `class`, `struct`, `method`, …."""
    name: str
    """The name, dotted with those of enclosing definitions if a syntax tree gives them."""
    first_line: int
    last_line: int

    @property
    def lines(self) -> int:
        """How many lines a definition has, its first and last included."""
        return self.last_line - self.first_line + 1

    @property
    def max_lines(self) -> int:
        """The cap for definitions of this kind: that of a class, or that of a function."""
        return CLASS_LINES if self.kind in _CLASSES else METHOD_LINES


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCode:
    """One source with its lines and definitions, and how they were found."""

    name: str
    """The name of the source in reports; may be empty."""
    language: str
    method: str
    """`syntax tree`, or the method of an `Outline`."""
    lines: int
    definitions: tuple[Definition, ...]
    """Classes, functions and methods in line order, including nested ones."""
    error: str = ""
    """Why there is no syntax tree where one is expected, and the outline of a line scanner or a grammar is used instead;
    otherwise empty.
    """
    is_complete: bool = True
    """False if there were more definitions than an outline keeps: those beyond were not measured."""

    @property
    def oversized(self) -> tuple[Definition, ...]:
        """The definitions above the cap of their kind, in line order."""
        return tuple(found for found in self.definitions if found.lines > found.max_lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report on one response's code: all its sources count together. `str` of it is the report in words."""

    kind: Kind
    sources: tuple[MeasuredCode, ...]

    def __post_init__(self) -> None:
        caps_of(self.kind)

    @property
    def lines(self) -> int:
        """The lines of all sources."""
        return sum(source.lines for source in self.sources)

    @property
    def level(self) -> Level:
        """How the lines of all sources compare to the caps; definitions have their own caps."""
        caps = CAPS[self.kind]
        return "above" if self.lines > caps.max_lines else "advised" if self.lines > caps.advised_lines[1] else "ok"

    @property
    def is_within(self) -> bool:
        """Whether no cap is exceeded; more than is advised is still within."""
        return self.level != "above" and not any(source.oversized for source in self.sources)

    def __str__(self) -> str:
        caps = CAPS[self.kind]
        said = {
            "ok": f"advised at most {caps.advised_lines[1]}, allowed {caps.max_lines}",
            "advised": f"more than the {caps.advised_lines[1]} advised, allowed {caps.max_lines}",
            "above": f"above the cap of {caps.max_lines}",
        }
        return "\n".join(
            [
                f"{counted(self.lines, 'line')} of {self.kind}: {said[self.level]}",
                *chain(*map(_lines_of_source, self.sources)),
            ]
        )


def check_code(text: str, language: str, kind: Kind) -> Report:
    r"""Return the report on a response that is one text.

    Args:
        text: the code; a lone `\r` does not end a line, here as in every page of the same file.
        language: its language, as `penstock.outline.language_of` names it.
        kind: the kind of work that it answers.

    Raises:
        CallerError: for an unknown kind of work.
    """
    return Report(kind=kind, sources=(measured((text,), language),))


def measured(blocks: Iterable[str], language: str, name: str = "") -> MeasuredCode:
    """Return the measure of one source.

    Memory is bounded however long the text is: above the size of an exact outline a scanner reads it block by block, without
    keeping it.

    Args:
        blocks: the text, in blocks that may be cut anywhere.
        language: its language, as `penstock.outline.language_of` names it.
        name: the name of the source in reports.
    """
    waiting = iter(blocks)
    held: list[str] = []
    size = 0
    for block in waiting:
        held.append(block)
        size += len(block)
        # Characters are compared with bytes: a text of many wide characters reaches the exact outline with up to four times as
        # many, which only costs memory. `chain` gives the scanner what was already held, so no block is missed or seen twice.
        if size > EXACT_BYTES:
            return _outlined(scan(map(_encoded, chain(held, waiting)), language), name)
    # A parser rejects a byte order mark; it is not a line either.
    text = "".join(held).removeprefix("\ufeff")
    error = ""
    if language == "python":
        found = _syntax(text)
        if not isinstance(found, str):
            lines = text.count("\n") + (not text.endswith("\n") and bool(text))
            return MeasuredCode(name=name, language=language, method="syntax tree", lines=lines, definitions=found)
        error = found
    return _outlined(outline(_encoded(text), language), name, error)


def response_time(kind: Kind, seconds: float) -> Literal["faster", "usual", "slower"]:
    """Return how the time of a response compares to what is usual for its kind of work: 2-5, 5-15 and 3-10 seconds (S-6).

    Both ends count as usual.

    Args:
        kind: the kind of work.
        seconds: how long it took.

    Raises:
        CallerError: for an unknown kind, or an impossible time, such as from a clock that went back.
    """
    if not (math.isfinite(seconds) and seconds >= 0):
        raise CallerError(f"a response takes a number of seconds from 0 on, not {seconds!r}")
    least, most = caps_of(kind).seconds
    return "faster" if seconds < least else "slower" if seconds > most else "usual"


def caps_of(kind: Kind) -> Caps:
    """Return the caps for a response of a kind of work.

    Raises:
        CallerError: for an unknown kind.
    """
    if kind not in CAPS:
        raise CallerError(f"{kind!r} is not a kind of work; there are {', '.join(KINDS)}")
    return CAPS[kind]


# ── definitions ──────────────────────────────────────────────────────────────────────────────────────────────────


def _syntax(text: str) -> tuple[Definition, ...] | str:
    """Return the definitions of a Python source or, as text, why there is no syntax tree."""
    import ast
    import warnings

    # Lines end at \n only, here as everywhere: a lone \r, which Python takes as a line end, would shift every later number.
    # Surrogates cannot be parsed and name nothing.
    plain = text.replace("\r\n", "\n").replace("\r", " ").encode("utf-8", "replace").decode()
    try:
        with warnings.catch_warnings():
            # Warnings are about the code (an invalid escape), not about its size.
            warnings.simplefilter("ignore")
            tree = ast.parse(plain)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}" if error.lineno else error.msg
    # For a NUL, in older parsers.
    except ValueError as error:
        return str(error)
    except (RecursionError, MemoryError):
        return "nested too deeply"
    found: list[Definition] = []
    # A stack, not recursion: a tree that the parser accepts may still be deeper than the interpreter's limit. Each item is a node,
    # the names around it, and whether the nearest of them is a class.
    waiting: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while waiting:
        node, around, in_class = waiting.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            is_class = isinstance(node, ast.ClassDef)
            kind = "class" if is_class else "method" if in_class else "function"
            name = f"{around}{node.name}"
            last_line = node.end_lineno or node.lineno
            found.append(Definition(kind=kind, name=name, first_line=node.lineno, last_line=last_line))
            around, in_class = f"{name}.", is_class
        # Only statements hold definitions; expressions are the greater part of a tree and need no visit.
        inner = ast.iter_child_nodes(node)
        waiting.extend(
            (child, around, in_class)
            for child in inner
            if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)
        )
    # The stack visits in no useful order. Of two that begin on one line, the longer one encloses the other.
    return tuple(sorted(found, key=lambda definition: (definition.first_line, -definition.last_line)))


def _outlined(found: Outline, name: str, error: str = "") -> MeasuredCode:
    """Return the measure that an outline gives; symbols that are neither class nor function have no cap."""
    definitions = tuple(
        Definition(kind=symbol.kind, name=symbol.name, first_line=symbol.start_line, last_line=symbol.end_line)
        for symbol in found.symbols
        if symbol.kind in _CLASSES or symbol.kind in _FUNCTIONS
    )
    return MeasuredCode(
        name=name,
        language=found.language,
        method=found.method,
        lines=found.total_lines,
        definitions=definitions,
        error=error,
        is_complete=found.complete,
    )


def _encoded(text: str) -> bytes:
    """Return the bytes of a text; unpaired surrogates pass, since any text is measured."""
    return text.encode("utf-8", "surrogatepass")


def _lines_of_source(source: MeasuredCode) -> list[str]:
    """Return what a report says of one source: how it was measured, and what is above a cap."""
    # The name is already escaped for display: escaped again, a backslash in it would no longer open the file.
    named = f"{escape.shorten(escape.show_argument(source.name))}: " if source.name else ""
    said = [f"{named}{counted(source.lines, 'line')} of {source.language}, by {source.method}"]
    if source.error:
        said.append(f"  no syntax tree: {escape.clip(source.error)}")
    if not source.is_complete:
        said.append(f"  more definitions than are looked at: {len(source.definitions)} were")
    said += [
        f"  {found.kind} {escape.clip(found.name)}, lines {found.first_line}-{found.last_line}: "
        f"{found.lines} lines, allowed {found.max_lines}"
        for found in source.oversized
    ]
    return said

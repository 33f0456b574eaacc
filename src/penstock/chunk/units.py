"""Which units does a COBOL source consist of, where could each be cut, and how are they tied?

Units are the smallest named things that a chunk is made of: a paragraph with the comments before it, a level 01 or 77 with
everything under it, an FD with its records, a division. Within a unit there are candidates for cuts, by rank: levels of data, then
sentences, then statements by their depth, then comments and unclassified lines; never within a statement or entry.
Law: the units partition the lines; no candidate separates a line from the one that it is joined to. Leaves to others: sizes and
budgets.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.cobol.program import key
from penstock.cobol.verbs import GONE
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from penstock.cobol.program import DeclarationEntry, Paragraph, Program
    from penstock.cobol.source import ScannedSource

    from .chunks import Span

UnitKind = Literal["header", "data", "procedure", "other"]

LEVEL = 2  # ranks: the level of a data item from here on
_ENTRY = 51
_LESSER = 60  # condition names, renames, and what redefines: they belong to what is before them
_SENTENCE = 100
_FIRST = 101  # between a header and the first sentence after it
_DEPTH = 110  # ten more for each enclosing statement
_DEEPEST = 300
_COMMENT = 400
_LINE = 500

_NO_CODE = frozenset({"comment", "blank", "directive"})
_FILES = frozenset({"FD", "SD", "RD", "CD"})


class Unit(NamedTuple):
    """Consecutive lines with a name, 1-based and inclusive.

    `key` is the same in the next version of the file, unless the unit is renamed: it lets a chunk keep its units.
    """

    key: str
    name: str
    program: str
    kind: UnitKind
    first: int
    last: int
    section: str | None = None
    answers: int = 0  # how many paragraphs a model is asked about
    runs_on: bool = False  # control can continue in the next unit


class UnitEdge(NamedTuple):
    """Code in `line` runs other lines: from the header in line `first` to the end of the paragraph that begins in line `last`."""

    line: int
    first: int
    last: int
    is_perform: bool


class UnitLayout:
    """A source as units, the places where they can be cut, and the edges between lines."""

    def __init__(self, source: ScannedSource) -> None:
        self.source = source
        self._bound = _bound(source)
        self.units = _units(source, self._bound)
        self._firsts = [unit.first for unit in self.units]
        self.edges = [edge for program in source.programs for edge in _edges(program)]

    @cached_property
    def shown(self) -> list[str]:
        """Every line as it is read: inert, and without the columns that are not code."""
        return list(map(escape.show_text, self.source.all_shown()))

    def unit_at(self, line: int) -> int:
        """Return the number of the unit that a line is in."""
        return bisect_right(self._firsts, line) - 1

    def inside(self, spans: Iterable[Span]) -> Iterator[tuple[int, Span]]:
        """Yield the numbers of the units that some lines belong to, each with its lines among them."""
        for first, last in spans:
            for at in range(self.unit_at(first), self.unit_at(last) + 1):
                unit = self.units[at]
                yield at, (max(first, unit.first), min(last, unit.last))

    def ranks(self) -> dict[int, int]:
        """Return the lines before which a unit can be cut, each with its rank: the higher the rank, the worse the cut."""
        return _ranks(self.source, self._bound)


# --- units ---------------------------------------------------------------------------------------


class _Start(NamedTuple):
    """Where a unit begins: comments before its header belong to it. One that `announces` is joined with what it announces."""

    line: int  # of the header
    program: str
    kind: UnitKind
    name: str
    section: str | None = None
    answers: int = 0
    announces: bool = False
    runs_on: bool = False
    known_by: str = ""  # if the name is not its own


def _units(source: ScannedSource, bound: Set[int]) -> list[Unit]:
    """Return the units of a source, which partition its lines.

    Not every name begins a unit. One whose line belongs to a statement before it cannot be cut off, and a line may begin two
    paragraphs; both count as answers of the unit that they are in. A section header with nothing before its first paragraph is
    joined with that: a unit that only announces another has nothing to say.
    """
    if not source.lines:
        return []
    found: dict[int, _Start] = {}
    within: list[_Start] = []  # what begins in the middle of a line, or after something that ends there
    for program in source.programs:
        for start in _starts(source, program):
            line = _lifted(source, start.line, bound)
            if start.line in bound or (line in found and found[line].answers):
                within.append(start)
            else:
                found[line] = start
    firsts = sorted(found) or [1]
    starts = [found[first] for first in firsts] if found else [_Start(1, "", "other", "")]
    made: list[Unit] = []
    seen: dict[str, int] = {}
    first = 1
    for start, after, after_first in zip(starts, [*starts[1:], None], [*firsts[1:], source.lines + 1], strict=True):
        if after is not None and _only_announces(source, start, after, after_first):
            continue
        name = f"{start.program}/{start.section or start.kind}/{key(start.known_by or start.name)}"
        # Keys are unique within a file: of units with the same name, those after the first are numbered.
        number = seen[name] = seen.get(name, 0) + 1
        made.append(
            Unit(
                key=name if number == 1 else f"{name}~{number}",
                name=start.name,
                program=start.program,
                kind=start.kind,
                first=first,
                last=after_first - 1,
                section=start.section,
                answers=start.answers,
                runs_on=start.runs_on,
            )
        )
        first = after_first
    lasts = [unit.last for unit in made]
    for start in within:
        at = bisect_left(lasts, start.line)
        made[at] = made[at]._replace(answers=made[at].answers + start.answers)
    return made


def _only_announces(source: ScannedSource, start: _Start, after: _Start, after_first: int) -> bool:
    """Return whether only a header comes before the next unit, which is of the same kind."""
    if not start.announces or (after.program, after.kind) != (start.program, start.kind):
        return False
    return not any(source.kinds[line - 1] == "code" for line in range(start.line + 1, after_first))


def _starts(source: ScannedSource, program: Program) -> Iterator[_Start]:
    """Yield where the units of a program begin: the program itself, divisions, data, sections and paragraphs."""
    name = key(program.name)
    yield _Start(program.start_line, name, "header", program.name or "(nameless)")
    for division in program.divisions:
        kind: UnitKind = (
            "data" if division.name == "DATA" else "procedure" if division.name == "PROCEDURE" else "header"
        )
        yield _Start(division.start_line, name, kind, f"{division.name} DIVISION", announces=kind != "header")
    yield from _data_starts(source, program, name)
    for section in program.sections:
        yield _Start(section.start_line, name, "procedure", section.name, key(section.name), announces=True)
    for paragraph in program.paragraphs:
        of = None if paragraph.section is None else key(paragraph.section)
        yield _Start(
            paragraph.start_line,
            name,
            "procedure",
            paragraph.name or paragraph.section or "(main)",
            of,
            answers=1,
            runs_on=_runs_on(source, program, paragraph),
        )


def _data_starts(source: ScannedSource, program: Program, name: str) -> Iterator[_Start]:
    """Yield sections, files with their records, and items of level 01 and 77, except those that redefine the previous one.

    A record is read with its FD, and a redefinition with what it redefines: apart, neither says where its bytes come from.
    """
    within_file = False
    for entry in program.entries:
        if _is_header(entry):
            within_file = False
            yield _Start(entry.line, name, _kind_of(entry), f"{entry.word} SECTION", announces=True)
        elif entry.word in _FILES:
            within_file = True
            yield _Start(entry.line, name, "data", f"{entry.word} {entry.name}", entry.section)
        elif entry.level in {1, 77} and not within_file and redefined(source, entry) is None:
            # FILLER is not a name. It is known by its lines instead, so that an additional one does not rename all the others.
            named = bool(entry.name) and key(entry.name) != "FILLER"
            known_by = "" if named else f"FILLER {_hash(source, entry.line, entry.end_line)}"
            yield _Start(entry.line, name, "data", entry.name or "FILLER", entry.section, known_by=known_by)


def _kind_of(entry: DeclarationEntry) -> UnitKind:
    return "header" if key(entry.word) in {"CONFIGURATION", "INPUT-OUTPUT"} else "data"


def _is_header(entry: DeclarationEntry) -> bool:
    return entry.level is None and entry.name.upper() == "SECTION"


def redefined(source: ScannedSource, entry: DeclarationEntry) -> str | None:
    """Return the name that a data item redefines; None if it redefines nothing."""
    words = source.code[entry.start : entry.end].upper().split(None, 4)
    at = words.index("REDEFINES") + 1 if "REDEFINES" in words[:4] else len(words)
    return words[at].rstrip(".") if at < len(words) else None


def _hash(source: ScannedSource, first: int, last: int) -> str:
    from hashlib import sha256

    text = "\n".join(" ".join(source.shown(line).split()) for line in range(first, last + 1))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _lifted(source: ScannedSource, line: int, bound: Set[int]) -> int:
    """Return the first of the comments and blank lines directly before a line, or the line itself: they are about what follows."""
    while line > 1 and source.kinds[line - 2] in _NO_CODE and line not in bound and line - 1 not in bound:
        line -= 1
    return line


def _runs_on(source: ScannedSource, program: Program, paragraph: Paragraph) -> bool:
    """Return whether control can fall into the next paragraph, as far as the last statement shows."""
    if paragraph.first >= paragraph.last:
        return True
    last = program.statements[paragraph.last - 1]
    if last.verb == "GO TO":  # with DEPENDING, an item that is out of range leads on
        return last.depth > 0 or "DEPENDING" in source.code[last.start : last.end].upper().split()
    return last.depth > 0 or last.verb not in GONE


# --- cuts ----------------------------------------------------------------------------------------


def _bound(source: ScannedSource) -> set[int]:
    """Return the lines that belong to something that begins before them: no cut is made before these."""
    bound = set(source.joined)
    for program in source.programs:
        for line, end_line, _ in _stretches(source, program):
            bound.update(range(line + 1, end_line + 1))
    return bound


def _ranks(source: ScannedSource, bound: Set[int]) -> dict[int, int]:
    """Return the rank of a cut before each line where one can be made."""
    # A cut before a statement is made before its comments. A cut between comment and statement then ranks with the worst among
    # comments; otherwise a second cut could separate them after all.
    ranks: dict[int, int] = {}
    for line, kind in enumerate(source.kinds, 1):
        before = source.kinds[line - 2] if line > 1 else "code"
        if kind in {"comment", "blank"}:
            ranks[line] = _COMMENT + 20 * (before == "comment")
        else:
            ranks[line] = _LINE
    for program in source.programs:
        for line, _, rank in _stretches(source, program):
            if rank < ranks[line]:
                lifted = _lifted(source, line, bound)
                ranks[lifted] = rank
                for between in range(lifted + 1, line + 1):
                    ranks[between] = max(_COMMENT + 40, ranks[between])
    return {line: rank for line, rank in ranks.items() if line not in bound and line > 1}


def _stretches(source: ScannedSource, program: Program) -> Iterator[tuple[int, int, int]]:
    """Yield statements and entries: first line, last line, and the rank of a cut before them."""
    for entry in program.entries:
        if entry.level is None:
            rank = _ENTRY
        elif entry.level in {66, 88} or redefined(source, entry):
            rank = _LESSER
        else:
            rank = LEVEL + min(entry.level, 49)
        yield entry.line, entry.end_line, rank
    procedure = program.division("PROCEDURE")
    for copy in program.copies:
        in_code = procedure is not None and copy.line >= procedure.start_line
        yield copy.line, copy.end_line, _SENTENCE if in_code else LEVEL + 1
    for block in program.execs:
        yield block.line, block.end_line, _DEEPEST
    firsts = {paragraph.first for paragraph in program.paragraphs}
    sentence = None
    for number, statement in enumerate(program.statements):
        begins = statement.sentence != sentence
        sentence = statement.sentence
        rank = _SENTENCE if begins else min(_DEEPEST, _DEPTH + 10 * statement.depth)
        yield statement.line, statement.end_line, _FIRST if number in firsts else rank


# --- edges ---------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """A paragraph or section as a target: the line of its name, and the line where its last paragraph begins."""

    first: int
    last: int


def _edges(program: Program) -> Iterator[UnitEdge]:
    """Yield what runs what, if both are in the program: PERFORM, with its range, and GO TO.

    A name means the paragraph of the same section first, and else the first of that name anywhere, as for a compiler.
    """
    anywhere: dict[str, _Place] = {}  # the first of each name,
    within: dict[tuple[str, str], _Place] = {}  # and the first in each section
    firsts = [paragraph.line for paragraph in program.paragraphs]

    def add(name: str, of: str, place: _Place) -> None:
        anywhere.setdefault(key(name), place)
        within.setdefault((key(name), key(of)), place)

    for section in program.sections:
        inside = bisect_right(firsts, section.end_line) - 1
        last = max(section.line, firsts[inside]) if inside >= 0 else section.line
        add(section.name, section.name, _Place(section.line, last))
    for paragraph in program.paragraphs:
        if paragraph.name:
            add(paragraph.name, paragraph.section or "", _Place(paragraph.line, paragraph.line))

    def found(name: str, of: str | None, line: int) -> _Place | None:
        if of is None:
            caller = program.paragraph_at(line)
            of = caller.section if caller is not None else None
        known = within.get((key(name), key(of))) if of is not None else None
        return known or anywhere.get(key(name))

    for perform in program.performs:
        start = found(perform.target, perform.section, perform.line)
        end = (
            start
            if perform.thru is None
            else found(perform.thru, perform.thru_section or perform.section, perform.line)
        )
        if start is not None and end is not None:
            yield UnitEdge(
                perform.line, start.first, max(start.last, end.last), perform.via in {"PERFORM", "PERFORM THREAD"}
            )
    for jump in program.gotos:
        for target, of in jump.places():
            to = found(target, of, jump.line)
            if to is not None:
                yield UnitEdge(jump.line, to.first, to.first, is_perform=False)

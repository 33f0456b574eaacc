"""Which programs are in a source, and which of its sentences, by offset, belong to which program?

Leaves to others: how sentences are read (`entries`, `procedure`) and how offsets become lines (`assembly`).

The walk over the sentences switches between two readers. `ENTRY` takes one sentence at a time outside of PROCEDURE DIVISIONs; at
a procedure header, or at a statement in a file without divisions, `Procedure` takes over until its division ends. Programs are
kept on a stack: END PROGRAM pops it, IDENTIFICATION DIVISION or PROGRAM-ID pushes. Only at the end is it known which programs
were ended; one that was not contains no others, and these become its siblings.

A division header may come from COPY. If copybooks can be looked up, the one that a COPY names says which division the next
sentence is in; if not, statements in a DATA DIVISION show that a PROCEDURE DIVISION has begun, and a warning says so.

Law: every sentence is read once, by the reader of its division.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from .edges import blocks
from .entries import CLAUSES, DECLARED, DECLARING, ENTRY, PARAGRAPHS, REMARK, REMARK_ENDS, SECOND, SECTIONS, USING, WORD
from .lexing import fold, spelled
from .procedure import Dialect, Procedure, dialect
from .program import Copy, unquoted
from .replacing import rewritten
from .verbs import BEGINS, VERBS
from .words import CLASS_PARTS

if TYPE_CHECKING:
    from .source import Lookup

Kind = Literal["program", "function", "class", "method", "copybook"]
"""The kind of a unit of source; `copybook` is code outside of any unit."""

_TYPE = re.compile(
    r" AS (?:TYPE )?[^\s\[]+(?:\[[^\]]*\]+)?(?: OCCURS(?: \d+)?(?!\S))?|(?<!\S)PARAMS (?=\S+ AS )", re.IGNORECASE
)
"""What Micro Focus says of a parameter that it declares in place, without ANY: `USING LINES AS BINARY-LONG ROWS AS LIST[TYPE ROW]`,
`USING PARAMS ARGS AS STRING OCCURS ANY`.
"""
_ELSEWHERE = re.compile(r"(?<![\w-])(?:EXTERNAL|PROTOTYPE)(?![\w-])")
_MODERN = frozenset({"DECLARE", "TRY"})
"""The statements with which a method may begin, in addition to the verbs known everywhere."""
_KINDS: dict[str, Kind] = {
    "PROGRAM-ID": "program",
    "FUNCTION-ID": "function",
    "METHOD-ID": "method",
    "CLASS-ID": "class",
    "INTERFACE-ID": "class",
}


@dataclass(slots=True)
class Draft:
    """A program while it is being read; all its positions are offsets into the code."""

    start: int
    kind: Kind
    parent: Draft | None
    name: str = ""
    external: tuple[str, int] | None = None
    """The external name that AS in its PROGRAM-ID gives it, and the offset of that name."""
    identified: bool = False
    """Whether the PROGRAM-ID (or FUNCTION-ID and the like) of a program was seen."""
    is_described: bool = False
    """Whether PROGRAM-ID says that the program is elsewhere (EXTERNAL, PROTOTYPE); so METHOD-ID."""
    of: str = ""
    """The class of a method with a source of its own: `METHOD-ID. STORE OF CUSTOMER`."""
    closed: bool = False
    """Whether END PROGRAM was seen."""
    end: int = -1
    """The offset after END PROGRAM, or where another program begins; -1 while it is open."""
    using: tuple[str, ...] = ()
    returning: str = ""
    divisions: list[tuple[str, int, int]] = field(default_factory=list)
    """Name, start and end of each division; the end is -1 while it is open."""
    entries: list[tuple[str, str, int | None, str, int, int]] = field(default_factory=list)
    """The fields of a `DeclarationEntry` without its lines: word, name, level, section, start, end."""
    procedure: Procedure | None = None
    """The reader of its PROCEDURE DIVISION, which keeps what it found; None before there is one."""
    blocks: list[tuple[int, int]] = field(default_factory=list)
    """Where EXEC blocks and COPY statements outside of the PROCEDURE DIVISION begin and end."""
    assumed: int = -1
    """Where statements begin without a known header; -1 if there is no such place."""
    bringing: tuple[int, str] | None = None
    """The offset of the COPY that supplies the header of its PROCEDURE DIVISION, and the name that it copies."""

    def is_preamble(self) -> bool:
        """Return whether there was nothing but COPY, REPLACE and unknown text: the program that follows begins with it."""
        return self.kind == "copybook" and self.procedure is None and all(entry[2] is None for entry in self.entries)

    def is_prototype(self) -> bool:
        """Return whether it describes a program and has no statement of its own."""
        return self.is_described and (self.procedure is None or not any(row[0] for row in self.procedure.rows))

    def is_only_begun(self) -> bool:
        """Return whether there was nothing but IDENTIFICATION DIVISION."""
        return not (self.identified or self.entries) and [name for name, *_ in self.divisions] == ["IDENTIFICATION"]

    def close_division(self, end: int) -> None:
        """End the last division at an offset, unless it has already ended."""
        if self.divisions and self.divisions[-1][2] < 0:
            name, start, _ = self.divisions[-1]
            self.divisions[-1] = (name, start, end)


_MAX_DEPTH = 12
"""The maximum depth of nested copybooks that are searched for the header that a COPY supplies."""


_HEADS_PART = re.compile(rf"[\s.]*+(?:{'|'.join(sorted(CLASS_PARTS))})\s*+\.")
_MACHINES = frozenset({"SOURCE-COMPUTER", "OBJECT-COMPUTER"})


class _Brought(NamedTuple):
    """The state after a COPY: the division and section in which its copybook ends, and the parameters of a procedure."""

    division: str
    section: str
    using: tuple[str, ...]


def drafts(code: str, folded: str, find: Lookup | None = None, areas: tuple[int, ...] = ()) -> list[Draft]:
    """Return all programs of a source, in the order in which they begin.

    Args:
        code: The code, for the spelling of names.
        folded: `fold(code)`, in which everything is searched.
        find: Returns the copybook of a name and library, for headers that come from COPY; None if copybooks are not available.
        areas: The stretches of the code that have an area A, as returned by `headers.areas`.
    """
    return _Walk(code, folded, find, areas).drafts()


class _Walk:
    """The walk over one source: a stack of open programs, and the division and section of the next sentence."""

    def __init__(self, code: str, folded: str, find: Lookup | None, areas: tuple[int, ...]) -> None:
        self._code = code
        self._folded = folded
        self._find = find
        self._areas = areas
        self._drafts: list[Draft] = []
        self._stack: list[Draft] = []
        self._open_names: dict[str, int] = {}  # how many programs on the stack have each name
        self._division = ""
        self._section = ""
        self._dialect: Dialect | None = None

    def drafts(self) -> list[Draft]:
        """Read everything; then end what was not ended, and let no unended program contain another."""
        # Each reader returns where it stopped, so that together they pass over the source once.
        at, procedural = 0, False
        while at < len(self._folded):
            if procedural:
                at, procedural = self._procedure(at), False
            else:
                at, procedural = self._entries(at)
        while self._stack:
            self._close(len(self._folded), len(self._folded))
        for draft, following in pairwise(self._drafts):
            # one without END PROGRAM contains no others: what follows is its sibling
            if not draft.closed:
                draft.end = min(draft.end, following.start)
            # Parents come first in the list, so the parent of an unended one is already settled: one step is enough,
            # however deep they nest.
            while following.parent is not None and not following.parent.closed:
                following.parent = following.parent.parent
        return self._without_prototypes()

    def _without_prototypes(self) -> list[Draft]:
        """Return the programs without the prototypes of others; a file of prototypes alone is a copybook."""
        parents = {id(draft.parent) for draft in self._drafts}
        kept = [draft for draft in self._drafts if id(draft) in parents or not draft.is_prototype()]
        return (
            kept
            if kept or not self._drafts
            else [Draft(self._drafts[0].start, "copybook", None, end=len(self._folded))]
        )

    def _procedure(self, at: int) -> int:
        """Read one PROCEDURE DIVISION, or the statements of a copybook; return where it ends."""
        draft = self._draft(at)
        if draft.procedure is None:
            if self._dialect is None:
                self._dialect = dialect(self._folded, self._areas)
            draft.procedure = Procedure(self._folded, self._dialect, mixed=draft.kind == "copybook")
        return draft.procedure.read(at)

    def _entries(self, at: int) -> tuple[int, bool]:
        """Read entries up to where statements begin; return where that is, and whether statements do begin there."""
        folded, match = self._folded, ENTRY.match
        while True:
            entry = match(folded, at)
            if entry is None:
                return len(folded), False
            at = entry.end()
            word = entry[WORD]
            if word is None:
                # EXEC blocks occur among data (DECLARE TABLE) and among statements; in a copybook, only their content
                # distinguishes the two.
                if entry["exec"] is not None and self._is_executed(entry):
                    return entry.start("block"), True
                if self._part(entry):
                    return self._parameters(entry), True
                continue
            start, second = entry.start(WORD), entry[SECOND]
            level = int(word) if len(word) < 3 and word.isdecimal() else None
            # What some compilers have before the first division: options, and REPLACE, which has been done. It is in no program.
            if word == "CONTROL" and second == "DIVISION":
                ends = REMARK_ENDS.search(folded, at)
                at = ends.start() if ends else len(folded)
                continue
            if level is None and self._division == "DATA" and self._begins(word, start):
                self._assume(start)
                return start, True
            # A method may do without headers: its statements follow its name, or its data.
            if level is None and self._is_in_method() and (word in _MODERN or self._begins(word, start)):
                self._assume(start, is_told=False)
                return start, True
            # Outside of all divisions, a sentence may be the first statement of a procedure copybook: there is no
            # header that says so.
            if not self._division and level is None and word not in DECLARING:
                if self._is_procedural(word, second, entry):
                    return start, True
                if not self._stack and self._drafts:
                    continue  # after END PROGRAM, and not a known statement
            if second == "SECTION" or word in PARAGRAPHS:
                self._section = word
            # The text of AUTHOR or REMARKS is arbitrary, including apostrophes and periods; it ends where a line
            # begins with a header.
            elif second is None and REMARK.match(word):
                ends = REMARK_ENDS.search(folded, at - 1)
                at = ends.start() if ends else len(folded)
            name = "" if second is None else spelled(self._code, *entry.span(SECOND))
            if level is not None and second in CLAUSES:
                name = "FILLER"
            self._draft(start).entries.append((word, name, level, self._section, start, at))

    def _is_procedural(self, word: str, second: str | None, entry: re.Match[str]) -> bool:
        """Return whether a sentence outside of all divisions belongs to a PROCEDURE DIVISION.

        It does if it begins with a verb, or is a section whose name is not one of the language's, or a word alone with its
        period, which is the header of a paragraph; after SOURCE-COMPUTER and the like, that is the name of a machine.
        """
        if self._stack and self._stack[-1].kind != "copybook":
            return False
        if second == "SECTION":
            return word not in SECTIONS
        is_alone = second is None and entry[0].endswith(".")
        return word in VERBS or (is_alone and not REMARK.match(word) and self._section not in _MACHINES)

    def _begins(self, word: str, start: int) -> bool:
        """Return whether a sentence among data is a statement, or the header of a paragraph that begins with one."""
        return word not in DECLARING and word not in SECTIONS and BEGINS.match(self._folded, start) is not None

    def _is_executed(self, block: re.Match[str]) -> bool:
        """Return whether an EXEC block is a statement, rather than an SQL declaration among data.

        Outside of all divisions, in a copybook, only its content distinguishes the two. CICS has nothing to declare: its
        commands in a DATA DIVISION follow a header that is not known.
        """
        start = block.start("block")
        if not self._division:
            is_copybook = not self._stack or self._stack[-1].kind == "copybook"
            return is_copybook and DECLARED.match(self._folded, start) is None
        if self._division != "DATA" or block["exec"] != "CICS":
            return False
        self._assume(start)
        return True

    def _is_in_method(self) -> bool:
        """Return whether the next sentence is in a method that has had no header of another division."""
        return self._division == "IDENTIFICATION" and bool(self._stack) and self._stack[-1].kind == "method"

    def _assume(self, start: int, *, is_told: bool = True) -> None:
        """Begin a PROCEDURE DIVISION where statements occur among data: its header is missing, or comes from COPY.

        Args:
            start: Where the statements begin.
            is_told: Whether a warning says so.
        """
        draft = self._draft(start)
        draft.close_division(start)
        draft.divisions.append(("PROCEDURE", start, -1))
        if is_told:
            draft.assumed = start
        self._division, self._section = "PROCEDURE", ""

    def _copied(self, draft: Draft, start: int, end: int) -> bool:
        """Process the header that a COPY supplies; return whether the PROCEDURE DIVISION begins with it.

        The division in which the copybook ends continues: one that ends among data leaves its section in effect, so that
        what follows is in WORKING-STORAGE although this file never says so.
        """
        copy = self._copy(start, end)
        if copy is None or self._find is None:
            return False
        if not draft.identified and draft.procedure is None and self._division in {"", "IDENTIFICATION"}:
            self._take_name(draft, self._find, copy)
        brought = _brought(self._find, copy, 0) if self._division or draft.identified else None
        if brought is None:
            return False
        if brought.section:
            self._section = brought.section
        if not brought.division or (brought.division == self._division and draft.divisions):
            return False
        draft.close_division(start)
        draft.divisions.append((brought.division, start, -1))
        self._division = brought.division
        if brought.division != "PROCEDURE":
            return False
        self._section = ""
        draft.using = draft.using or brought.using
        draft.bringing = (start, copy.name)
        if draft.kind == "copybook":
            draft.kind = "program"
        return True

    def _copy(self, start: int, end: int) -> Copy | None:
        """Return the COPY of a block; None if it is another one."""
        found = blocks(self._code, self._folded, [(start, end)], _nowhere)
        return next((part for part in found if isinstance(part, Copy)), None)

    def _take_name(self, draft: Draft, find: Lookup, copy: Copy) -> None:
        """Take the name of a program from the header that a COPY supplies, after its REPLACING."""
        found = find(copy.name, copy.library)
        if found is not None and found.is_header:
            (unit,) = found.programs
            self._count(draft, -1)
            draft.name, draft.kind, draft.identified = rewritten(unit.name, (copy.replacing,)), unit.kind, True
            self._count(draft, 1)

    def _part(self, entry: re.Match[str]) -> bool:
        """Process a block, or the beginning or end of a program or division; return whether the PROCEDURE DIVISION begins."""
        if entry["block"] is not None:
            start, end = entry.span("block")
            words = spelled(self._code, start, end).split(None, 3)
            word, name = fold(words[0]), words[1]
            if entry["exec"] is not None:
                word, name = f"EXEC {entry['exec']}", words[2]
            elif word != "REPLACE":  # COPY, or the include of a librarian
                word = "COPY"
            draft = self._draft(start)
            draft.blocks.append((start, end))
            draft.entries.append((word, name, None, self._section, start, entry.end()))
            if word != "REPLACE":
                return self._copied(draft, start, end)
        elif entry["division"] is not None:
            return self._begin_division(entry)
        elif entry["unit"] is not None:
            self._end_unit(entry)
        elif entry["id"] is not None:
            self._identify(entry)
        return False

    def _parameters(self, entry: re.Match[str]) -> int:
        """Return where the statements begin after a header: behind the COPY of its last parameters, if they are copied."""
        at = entry.end()
        if entry["division"] is None or entry["using"] is None or entry[0].endswith("."):
            return at
        copy = ENTRY.match(self._folded, at)
        if copy is None or copy["block"] is None or copy["exec"] is not None:
            return at
        draft = self._draft(at)
        draft.blocks.append(copy.span("block"))
        said = self._copy(*copy.span("block"))
        if said and (self._find is None or self._find(said.name, said.library) is None):
            draft.using = (*draft.using, f"COPY {said.name}")  # in place of parameters that nobody knows here
        return copy.end()

    def _begin_division(self, entry: re.Match[str]) -> bool:
        """Open a division, and with IDENTIFICATION a program; return whether it is the PROCEDURE DIVISION."""
        start, name = entry.start("division"), entry["division"].split(None, 1)[0]
        if name == "ID":
            name = "IDENTIFICATION"
        # Each part of a class may have an IDENTIFICATION DIVISION of its own: `ID DIVISION. OBJECT.`
        is_new = name == "IDENTIFICATION" and not _HEADS_PART.match(self._folded, entry.end())
        draft = self._begin(start) if is_new else self._draft(start)
        draft.close_division(start)
        draft.divisions.append((name, start, -1))
        self._division, self._section = name, ""
        if name != "PROCEDURE":
            return False
        # Entries without any header before a PROCEDURE DIVISION: a program whose other divisions come from COPY.
        if draft.kind == "copybook":
            draft.kind = "program"
        if entry["using"] is not None:
            words = [self._code[slice(*found.span())] for found in USING.finditer(self._folded, *entry.span("using"))]
            # What follows RETURNING is written, not passed; a bare number is not a name (BY VALUE 4).
            returning = next((n for n, word in enumerate(words) if fold(word) in {"RETURNING", "GIVING"}), len(words))
            given = _TYPE.sub("", " ".join(words[:returning])).split()
            draft.using = tuple(word for word in given if not word.isdecimal())
            draft.returning = next(iter(words[returning + 1 :]), "")
        return True

    def _identify(self, entry: re.Match[str]) -> None:
        """Name the open program, or open one: PROGRAM-ID without IDENTIFICATION DIVISION begins a program."""
        start, kind = entry.start("id"), _KINDS[entry["id"]]
        # PROGRAM-ID directly after its own IDENTIFICATION DIVISION names that program; anywhere else it begins another
        # one, whose division header is missing or in a copybook.
        draft = self._stack[-1] if self._stack else None
        if draft is None or draft.identified or [division[0] for division in draft.divisions] != ["IDENTIFICATION"]:
            draft = self._begin(start)
            self._division, self._section = "IDENTIFICATION", ""
        draft.kind = kind
        draft.identified = True
        if kind == "method" and entry["of"] is not None:
            draft.of = self._name(entry, "of")
        if kind in {"program", "function", "method"}:
            named = max(entry.end("name"), start)
            draft.is_described = _ELSEWHERE.search(self._folded, named, entry.end()) is not None
        if entry["name"] is not None:
            self._count(draft, -1)
            draft.name = unquoted(self._name(entry, "name"))
            if entry["external"] is not None and kind in {"program", "function"}:
                name = unquoted(self._name(entry, "external"))
                draft.external = (name, entry.start("external")) if fold(name) != fold(draft.name) else None
            self._count(draft, 1)
        draft.entries.append((entry["id"], draft.name, None, "", start, entry.end()))

    def _end_unit(self, entry: re.Match[str]) -> None:
        """End the program that END PROGRAM names, and all that are open within it.

        A name that no open program has ends the innermost one: a misspelt END PROGRAM must not leave everything
        open.
        """
        if not self._stack or entry["unit"] in CLASS_PARTS:  # not a program
            return
        self._division = self._section = ""
        start = entry.start("ends")
        name = unquoted(entry["ended"] or "")
        # Counted separately, so that a thousand END PROGRAMs with unknown names do not search the stack a thousand times.
        if self._open_names.get(name):
            while fold(self._stack[-1].name) != name:
                self._close(start, start)
        self._close(start, entry.end()).closed = True

    def _draft(self, start: int) -> Draft:
        """Return the open program; code outside of any opens a copybook."""
        return self._stack[-1] if self._stack else self._open(start, "copybook")

    def _begin(self, start: int) -> Draft:
        """Open a program at an offset and return it.

        A preamble (COPY, REPLACE) becomes that program; a copybook before it ends; an open program becomes its parent,
        until that one proves to be unended.
        """
        if self._stack:
            top = self._stack[-1]
            # REPLACE or COPY before the first division belongs to the program that it changes, not to a separate
            # copybook.
            if top.is_preamble():
                top.kind = "program"
                return top
            # The header of a program may be written twice.
            if top.is_only_begun():
                top.divisions.clear()
                return top
            if top.kind == "copybook":
                self._close(start, start)
            else:
                top.close_division(start)
        return self._open(start, "program")

    def _open(self, start: int, kind: Kind) -> Draft:
        """Put a new program on the stack."""
        draft = Draft(start, kind, self._stack[-1] if self._stack else None)
        self._drafts.append(draft)
        self._stack.append(draft)
        self._count(draft, 1)
        return draft

    def _close(self, start: int, end: int) -> Draft:
        """End the innermost program: its last division where END PROGRAM begins, the program itself after it."""
        draft = self._stack.pop()
        self._count(draft, -1)
        draft.close_division(start)
        draft.end = end
        return draft

    def _count(self, draft: Draft, change: int) -> None:
        """Record that one more (or one less) open program has the name of this one."""
        name = fold(draft.name)
        self._open_names[name] = self._open_names.get(name, 0) + change

    def _name(self, entry: re.Match[str], group: str) -> str:
        """Return what a group of the entry matched, spelled as in the code."""
        return spelled(self._code, *entry.span(group))


def _brought(find: Lookup, copy: Copy, depth: int) -> _Brought | None:
    """Return the state after a COPY; None for a copybook that is not there or has neither a division nor a section."""
    found = find(copy.name, copy.library) if depth < _MAX_DEPTH else None
    if found is None or not found.programs or (found.has_unit and not found.is_header):
        return None
    last = found.programs[-1]
    division = last.divisions[-1].name if last.divisions else ""
    section = last.entries[-1].section if last.entries and division != "PROCEDURE" else ""
    begun = last.divisions[-1].start_line if last.divisions else 0
    # A copybook may itself copy the header: what it copies after its own last division decides.
    for inner in reversed(last.copies):
        if inner.line < begun or division == "PROCEDURE":
            break
        further = _brought(find, inner, depth + 1)
        if further is not None and (further.division or further.section):
            return further
    return _Brought(division, section, last.using) if division or section else None


def _nowhere(_offset: int) -> int:
    """Return a line for a caller that needs none."""
    return 0

"""What does a program consist of? Values alone: where everything is, by line.

Lines are 1-based and inclusive, those of the file as it is; nothing here is relative to a chunk. Names keep their
spelling; they are compared case-blind (`key`). Offsets are into `Source.code`, which has a line for every line of the
file: from column 8 on in fixed format, blank where there is no code, and joined to the line before by a unit separator
in place of a newline where that is continued.
Keeps out: how it is found (`lexing`, `structure`) and what it means (`facts`).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal, NamedTuple

Format = Literal["fixed", "free", "variable"]
"""`fixed`: code in columns 8 to 72; `variable`: from column 8 on; `free`: anywhere."""

LineKind = Literal["code", "comment", "blank", "debug", "directive"]


def key(name: str) -> str:
    """How names are compared."""
    return name.upper()


class Word(NamedTuple):
    """One token of code. `text` of a literal holds its quotes, of an EXEC block all of it; continuations are joined."""

    text: str
    line: int
    kind: Literal["word", "literal", "number", "period", "mark", "pseudo", "exec"]


class Statement(NamedTuple):
    """A verb with what belongs to it, up to the next entry. Entries of their own are `ELSE`, `WHEN`, `END-IF` and the like,
    phrases such as `AT END` and `NOT ON SIZE ERROR`, `COPY` and `REPLACE`.

    `depth` is how many statements are open around it in its sentence; `sentence` numbers the sentences of its program.
    An EXEC block is one statement: its verb is `EXEC CICS`, `EXEC SQL` and so on.
    """

    verb: str
    line: int
    end_line: int
    depth: int
    sentence: int
    start: int
    end: int


class Perform(NamedTuple):
    """A PERFORM of paragraphs or sections, or another way to make them run and come back (`via`: SORT, USE, HANDLE …)."""

    line: int
    target: str
    thru: str | None = None
    section: str | None = None  # PERFORM target OF section
    via: str = "PERFORM"


class GoTo(NamedTuple):
    """A jump. `targets` is empty for `GO TO .`, which ALTER fills; `via` names what else jumps: ALTER, HANDLE CONDITION …"""

    line: int
    targets: tuple[str, ...]
    depending: str | None = None
    via: str = "GO TO"


class CallStatement(NamedTuple):
    """A CALL. `static`: by literal, `dynamic`: by the value of a data item, which is then the target's name."""

    line: int
    target: str
    kind: Literal["static", "dynamic"]


class Copy(NamedTuple):
    """Source from elsewhere: COPY, or EXEC SQL INCLUDE. It is never expanded in place."""

    line: int
    end_line: int
    name: str
    library: str | None = None
    replacing: tuple[tuple[str, str], ...] = ()
    via: Literal["COPY", "INCLUDE"] = "COPY"


class Exec(NamedTuple):
    """An EXEC block, END-EXEC included; `kind` is CICS, SQL, DLI, SQLIMS …; `text` has single blanks."""

    line: int
    end_line: int
    kind: str
    text: str


class Division(NamedTuple):
    name: str  # IDENTIFICATION, ENVIRONMENT, DATA, PROCEDURE
    start_line: int
    end_line: int


class DeclarationEntry(NamedTuple):
    """One sentence of the other divisions: a data item, FD, SD, SELECT, a section's header, or an entry of any other kind.

    `level` is a data item's level, else None; `word` is the first word (`FD`, `SELECT`, `WORKING-STORAGE` …), `name` the second.
    """

    word: str
    name: str
    level: int | None
    section: str  # WORKING-STORAGE, FILE, LINKAGE, FILE-CONTROL …; "" where there is none
    line: int
    end_line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of the PROCEDURE DIVISION, its paragraphs within."""

    name: str
    line: int  # of the name
    start_line: int
    end_line: int
    segment: int | None = None
    declarative: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """From its header to the last line before the next one. The code before any header is a paragraph named ""."""

    name: str
    section: str | None
    line: int  # of the name
    start_line: int
    end_line: int
    first: int  # its statements are program.statements[first:last]
    last: int
    declarative: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program, function or class; a nested one names its parent and stands beside it, its lines within the parent's."""

    name: str
    kind: Literal["program", "function", "class", "copybook"]
    start_line: int
    end_line: int
    parent: str | None = None
    using: tuple[str, ...] = ()
    divisions: tuple[Division, ...] = ()
    entries: tuple[DeclarationEntry, ...] = ()
    sections: tuple[Section, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()
    statements: tuple[Statement, ...] = ()
    performs: tuple[Perform, ...] = ()
    gotos: tuple[GoTo, ...] = ()
    calls: tuple[CallStatement, ...] = ()
    entry_points: tuple[tuple[str, int], ...] = ()  # ENTRY 'NAME', its line
    copies: tuple[Copy, ...] = ()
    execs: tuple[Exec, ...] = ()

    def division(self, name: str) -> Division | None:
        """The division of that name."""
        return next((division for division in self.divisions if division.name == name), None)

    def paragraph_at(self, line: int) -> Paragraph | None:
        """The paragraph a line is in."""
        at = bisect_right(self.paragraphs, line, key=attrgetter("start_line"))
        return self.paragraphs[at - 1] if at and line <= self.paragraphs[at - 1].end_line else None


class Warned(NamedTuple):
    """Something odd that was read all the same: its line, and what was made of it."""

    line: int
    text: str

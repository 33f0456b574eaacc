"""Which values make up a scanned program: where its parts are, by line?

Laws that every reader of these values may rely on:

- Lines are 1-based and inclusive, those of the file as it is; nothing here is relative to a chunk.
- Names keep their spelling; they are compared case-insensitively (`key`).
- Offsets (`start`, `end`) are into `ScannedSource.code`, `end` exclusive. That text has a line for every line of the
  file: from column 8 on in fixed format, blank if there is no code; a continued line is joined to the line before by a unit
  separator in place of a newline.

Leaves to others: how it is found (`lexing`, `structure`) and what it means (`facts`).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Format = Literal["fixed", "free", "variable"]
"""The reference format of a line: `fixed` has code in columns 8 to 72, `variable` from column 8 on, `free` anywhere."""

LineKind = Literal["code", "comment", "blank", "debug", "directive"]
"""What a line holds. A `debug` line may hold code, too: `ScannedSource.is_code` tells. A `directive` is one of the
compiler (`>>SOURCE`, `$SET`, CBL, PROCESS) or of its listing (EJECT, SKIP1, TITLE)."""


METHOD = "::"
"""What stands between the name of a class and that of its method."""


def key(name: str) -> str:
    """Return the form of a name in which it is compared with others: in capitals, for COBOL tells no case."""
    return name.upper()


def in_library(name: str, library: str | None) -> str:
    """Return the name, in capitals, under which a mapping has the copybook of a library: several libraries may have one."""
    return key(name) if library is None else f"{key(library)}/{key(name)}"


TokenKind = Literal["word", "literal", "number", "period", "mark", "pseudo", "exec"]


class Word(NamedTuple):
    """One token of code.

    `text` of a literal holds its prefix and quotes, of an EXEC block all of it. What continues over lines is joined;
    `line` is the one on which it begins. `mark` is an operator or parenthesis, `pseudo` a pseudo-text with its `==`.
    """

    text: str
    line: int
    kind: TokenKind


class Statement(NamedTuple):
    """A verb with what belongs to it, up to the next entry, by lines and by offsets into the code.

    Entries of their own are `ELSE`, `WHEN`, `END-IF` and the like, phrases such as `AT END` and `NOT ON SIZE ERROR`,
    `COPY` and `REPLACE` (`procedure.MARKERS`); they stand in order between the statements. An EXEC block is one
    statement, whose verb is `EXEC CICS`, `EXEC SQL` and so on.
    """

    verb: str
    """The verb in capitals, with the words that make it another one: `GO TO`, `EXIT PERFORM`, `STOP RUN`."""
    line: int
    end_line: int
    depth: int
    """How many statements are open around it in its sentence; 0 where a paragraph can be cut."""
    sentence: int
    """The number of its sentence in its program. Only order and equality mean anything: headers are counted, too."""
    start: int
    end: int


class Perform(NamedTuple):
    """A PERFORM of paragraphs or sections, or another way to make them run and come back.

    `via` says which: PERFORM, SORT or MERGE (their procedures), XML, or USE (a declarative, which the system runs).
    """

    line: int
    target: str
    thru: str | None = None
    """The last paragraph of a range, as it is written; None where one name stands alone."""
    section: str | None = None
    """The section that qualifies the target, as in `PERFORM target OF section`."""
    via: str = "PERFORM"
    thru_section: str | None = None
    """The section that qualifies the end of a range."""


class GoTo(NamedTuple):
    """A jump: GO TO, or what else moves control and does not come back (`via`: ALTER, HANDLE CONDITION, HANDLE AID,
    HANDLE ABEND, WHENEVER).
    """

    line: int
    targets: tuple[str, ...]
    """The paragraphs as they are written; empty for `GO TO .`, which ALTER fills."""
    depending: str | None = None
    """The item of DEPENDING ON, without its qualifiers; None where there is none."""
    via: str = "GO TO"
    sections: tuple[str | None, ...] = ()
    """The section that qualifies each target, as in `GO TO target OF section`; empty where none is."""

    def places(self) -> Iterator[tuple[str, str | None]]:
        """Yield each target with the section that qualifies it."""
        return zip_longest(self.targets, self.sections)


class CallStatement(NamedTuple):
    """A CALL: `static` by a literal, whose text is the target, or `dynamic` by the value of the data item that the
    target names.
    """

    line: int
    target: str
    kind: Literal["static", "dynamic"]


Pairs: TypeAlias = "tuple[tuple[str, str], ...]"
"""What is replaced by what, in order, without the `==` of pseudo-text; LEADING and TRAILING stay in front."""
Replacing: TypeAlias = "tuple[Pairs, ...]"
"""The pairs of each REPLACE that is in effect, the latest first: those of REPLACE ALSO stand in front of the ones before."""

CopyVia = Literal["COPY", "INCLUDE", "-INC", "++INCLUDE", "COPY IDMS", "COPY MAID"]
"""What brings source in: COPY, EXEC SQL INCLUDE, Librarian, Panvalet, or a COPY from the dictionary of IDMS."""


class Copy(NamedTuple):
    """Source from elsewhere, which is not expanded in place."""

    line: int
    end_line: int
    name: str
    library: str | None = None
    """What OF or IN names; None where there is no such phrase."""
    replacing: Pairs = ()
    """The pairs of REPLACING (old, new), without the `==` of pseudo-text; LEADING and TRAILING stay in front."""
    via: CopyVia = "COPY"


class Exec(NamedTuple):
    """An EXEC block, END-EXEC included, as one line with single blanks; `kind` is CICS, SQL, DLI, SQLIMS and so on."""

    line: int
    end_line: int
    kind: str
    text: str


class Division(NamedTuple):
    """A division of a program, from its header to the last line before the next part."""

    name: str
    """IDENTIFICATION (also for ID), ENVIRONMENT, DATA or PROCEDURE."""
    start_line: int
    end_line: int


class DeclarationEntry(NamedTuple):
    """One sentence of a division other than the PROCEDURE DIVISION: a data item, FD, SD, SELECT, a section's header, or
    any other.

    The entries of a division follow each other without overlap, so that a DATA DIVISION can be cut between any two of
    them (C-3).
    """

    word: str
    """The first word: `FD`, `SELECT`, `WORKING-STORAGE`, a level number as it is written, or `EXEC SQL` for a block."""
    name: str
    """The second word, FILLER for a data item without a name, "" where there is none."""
    level: int | None
    """The level of a data item (1 to 49, 66, 77, 78, 88); None for every other entry."""
    section: str
    """WORKING-STORAGE, FILE, LINKAGE, or a paragraph such as FILE-CONTROL; "" where there is none."""
    line: int
    end_line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of the PROCEDURE DIVISION, its paragraphs within."""

    name: str
    line: int
    """The line of its name, which is also the first one."""
    start_line: int
    end_line: int
    segment: int | None = None
    """The segment number behind SECTION; None where there is none."""
    declarative: bool = False
    """Whether a section stands between DECLARATIVES and END DECLARATIVES."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph, from its header to the last line before the next one; comments in front of a header belong to what is
    above.

    The code before any header, and that of a section before its first paragraph, is a paragraph named "".
    """

    name: str
    section: str | None
    """The name of the section around it; None outside of sections."""
    line: int
    """The line of its name; of an unnamed one, that of its first statement."""
    start_line: int
    end_line: int
    first: int
    """The index of its first statement: it holds `program.statements[first:last]`."""
    last: int
    declarative: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program, function, class or method of a source, with all its parts.

    A nested program names its parent and stands beside it in `ScannedSource.programs`, its lines within the parent's.
    A file without any division is one program of the kind `copybook`.
    """

    name: str
    kind: Literal["program", "function", "class", "method", "copybook"]
    start_line: int
    end_line: int
    parent: str | None = None
    is_common: bool = False
    """Whether a nested program is COMMON: known to all that its parent contains."""
    using: tuple[str, ...] = ()
    """The parameters of the PROCEDURE DIVISION in order, without BY REFERENCE and the like and without RETURNING."""
    returning: str = ""
    """The item whose value it returns; "" where it has none."""
    divisions: tuple[Division, ...] = ()
    entries: tuple[DeclarationEntry, ...] = ()
    sections: tuple[Section, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()
    statements: tuple[Statement, ...] = ()
    performs: tuple[Perform, ...] = ()
    gotos: tuple[GoTo, ...] = ()
    calls: tuple[CallStatement, ...] = ()
    unread: tuple[Statement, ...] = ()
    """What begins a sentence of the PROCEDURE DIVISION and is no statement that is known; its verb is its first word."""
    entry_points: tuple[tuple[str, int], ...] = ()
    """The other entries: the name that AS of the PROGRAM-ID gives to what begins the program, and that of each ENTRY, each
    with its line."""
    copies: tuple[Copy, ...] = ()
    execs: tuple[Exec, ...] = ()

    @property
    def called(self) -> str:
        """The name by which others know a program: a method has that of its class in front."""
        return f"{self.parent}{METHOD}{self.name}" if self.kind == "method" and self.parent else self.name

    def division(self, name: str) -> Division | None:
        """Return the first division of that name (IDENTIFICATION, ENVIRONMENT, DATA, PROCEDURE), None where there is
        none.
        """
        return next((division for division in self.divisions if division.name == name), None)

    def paragraph_at(self, line: int) -> Paragraph | None:
        """Return the paragraph that a line of the file is in, the last one where several share it; None outside of all."""
        # Paragraphs are in order and do not overlap, so the last one that begins at or before the line is the only
        # candidate.
        at = bisect_right(self.paragraphs, line, key=attrgetter("start_line"))
        return self.paragraphs[at - 1] if at and line <= self.paragraphs[at - 1].end_line else None


class Warned(NamedTuple):
    """Something odd that was read all the same: the line where it stands, and a sentence on what was made of it."""

    line: int
    text: str

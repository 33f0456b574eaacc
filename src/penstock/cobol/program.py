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

import re
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
"""What a line holds. A `debug` line may hold code, too (`ScannedSource.is_code`). A `directive` is for the
compiler (`>>SOURCE`, `$SET`, CBL, PROCESS) or for its listing (EJECT, SKIP1, TITLE).
"""


METHOD = "::"
"""The separator between the name of a class and that of its method."""


def key(name: str) -> str:
    """Return a name in the form for comparison: in capitals, because COBOL ignores case."""
    return name.upper()


def hyphened(name: str) -> str:
    """Return a name with each _ as -, which are one character to ACUCOBOL."""
    return name.replace("_", "-")


def number(figures: str) -> int | None:
    """Return the whole number that figures mean, with or without a plus sign; None for other text, and for more than 40 figures.

    No size has so many, and Python refuses to read some thousands.
    """
    text = figures.removeprefix("+")
    return int(text) if len(text) <= 40 and text.isascii() and text.isdigit() else None


def unquoted(name: str) -> str:
    """Return a name without quotes and without the blanks inside them: some names are padded to eight letters."""
    return name.strip("'\"").strip()


DESCRIBED = re.compile(
    r"(?i)(?:DDSR?-(?P<format>[A-Z0-9#$@_-]+?)|DDR?-(?P<all>ALL-FORMATS))(?P<suffix>-I-O|-I|-O)?(?P<indicators>-INDIC(?:ATORS?)?)?"
)
"""What a COPY names on IBM i in place of a copybook, to have the records of a file: the file follows OF, and the compiler reads
its description. DDS takes the names of the description, and DD their aliases; any other word with DD may be that of a copybook.
"""


ALL_FORMATS = "DDS-ALL-FORMATS"
"""What a COPY names to have all records of a file."""


def in_library(name: str, library: str | None) -> str:
    """Return the name, in capitals, under which a mapping has a library's copybook: several libraries may have one of that name."""
    return key(name) if library is None else f"{key(library)}/{key(name)}"


TokenKind = Literal["word", "literal", "number", "period", "mark", "pseudo", "exec"]


class Word(NamedTuple):
    """One token of code.

    `text` of a literal includes its prefix and quotes, that of an EXEC block all of the block. Continued lines are joined;
    `line` is the one on which the token begins. `mark` is an operator or parenthesis, `pseudo` a pseudo-text with its `==`.
    """

    text: str
    line: int
    kind: TokenKind


class Statement(NamedTuple):
    """A verb with everything that belongs to it, up to the next entry, by lines and by offsets into the code.

    Entries of their own are `ELSE`, `WHEN`, `END-IF` and the like, phrases such as `AT END` and `NOT ON SIZE ERROR`,
    `COPY` and `REPLACE` (`procedure.MARKERS`); they appear in order among the statements. An EXEC block is one
    statement, whose verb is `EXEC CICS`, `EXEC SQL` and so on.
    """

    verb: str
    """The verb in capitals, with the words that make it a different one: `GO TO`, `EXIT PERFORM`, `STOP RUN`."""
    line: int
    end_line: int
    depth: int
    """How many statements of its sentence are open around it; a paragraph can be cut where it is 0."""
    sentence: int
    """The number of its sentence in its program. Only order and equality are meaningful: headers are counted, too."""
    start: int
    end: int


WHENEVER_PERFORM = "WHENEVER PERFORM"


class Perform(NamedTuple):
    """A PERFORM of paragraphs or sections, or another way to run them and return.

    `via` says which: PERFORM, PERFORM THREAD (which does not wait for the end), SORT or MERGE (their procedures), XML, USE (a
    declarative, which the system runs), or WHENEVER PERFORM (which any later statement of SQL may run).
    """

    line: int
    target: str
    thru: str | None = None
    """The last paragraph of a range, as written; None if there is only one name."""
    section: str | None = None
    """The section that qualifies the target, as in `PERFORM target OF section`."""
    via: str = "PERFORM"
    thru_section: str | None = None
    """The section that qualifies the end of a range."""


class GoTo(NamedTuple):
    """A jump: GO TO, or anything else that transfers control without return (`via`: ALTER, HANDLE CONDITION, HANDLE AID,
    HANDLE ABEND, WHENEVER).
    """

    line: int
    targets: tuple[str, ...]
    """The paragraphs as written; empty for `GO TO .`, which ALTER fills."""
    depending: str | None = None
    """The item of DEPENDING ON, without its qualifiers; None if there is none."""
    via: str = "GO TO"
    sections: tuple[str | None, ...] = ()
    """The section that qualifies each target, as in `GO TO target OF section`; empty if none is qualified."""
    altered: str | None = None
    """The paragraph whose GO TO an ALTER changes, as written; None for all other jumps."""

    def places(self) -> Iterator[tuple[str, str | None]]:
        """Yield each target with the section that qualifies it."""
        return zip_longest(self.targets, self.sections)


class CallStatement(NamedTuple):
    """A CALL: `static` by a literal, whose text is the target, or `dynamic` by the value of the data item named as the target."""

    line: int
    target: str
    kind: Literal["static", "dynamic"]


Pairs: TypeAlias = "tuple[tuple[str, str], ...]"
"""What is replaced by what, in order, without the `==` of pseudo-text; LEADING and TRAILING stay in front."""
Replacing: TypeAlias = "tuple[Pairs, ...]"
"""The pairs of each REPLACE in effect, the latest first: those of REPLACE ALSO come before the earlier ones."""

CopyVia = Literal["COPY", "INCLUDE", "-INC", "++INCLUDE", "COPY IDMS", "COPY MAID"]
"""How source is brought in: COPY, EXEC SQL INCLUDE, Librarian, Panvalet, or a COPY from the dictionary of IDMS."""


class Joining(NamedTuple):
    """What JOINING puts before or after the names that a copybook declares, with a hyphen in between, as in NetCOBOL."""

    word: str
    is_suffix: bool = False
    disjoined: str = ""
    """The word of DISJOINING, which is taken from there before; "" if there is none."""


class Copy(NamedTuple):
    """A statement that brings in source from elsewhere, which is not expanded in place."""

    line: int
    end_line: int
    name: str
    library: str | None = None
    """The name after OF or IN; None if there is no such phrase."""
    replacing: Pairs = ()
    """The pairs of REPLACING (old, new), without the `==` of pseudo-text; LEADING and TRAILING stay in front."""
    via: CopyVia = "COPY"
    joining: Joining | None = None


class Exec(NamedTuple):
    """An EXEC block, including END-EXEC, as one line with single blanks; `kind` is CICS, SQL, DLI, SQLIMS and so on."""

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
    """One sentence of a division other than the PROCEDURE DIVISION: a data item, FD, SD, SELECT, a section header, or
    anything else.

    The entries of a division follow each other without overlap, so that a DATA DIVISION can be cut between any two of
    them (C-3).
    """

    word: str
    """The first word: `FD`, `SELECT`, `WORKING-STORAGE`, a level number as written, or `EXEC SQL` for a block."""
    name: str
    """The second word, FILLER for a data item without a name, "" if there is none."""
    level: int | None
    """The level of a data item (1 to 49, 66, 77, 78, 88); None for every other entry."""
    section: str
    """WORKING-STORAGE, FILE, LINKAGE, or a paragraph such as FILE-CONTROL; "" if there is none."""
    line: int
    end_line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of the PROCEDURE DIVISION, including its paragraphs."""

    name: str
    line: int
    """The line of its name, which is also the first one."""
    start_line: int
    end_line: int
    segment: int | None = None
    """The segment number after SECTION; None if there is none."""
    declarative: bool = False
    """Whether a section is between DECLARATIVES and END DECLARATIVES."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph, from its header to the last line before the next one; comments above a header belong to the paragraph before.

    The code before any header, and that of a section before its first paragraph, is a paragraph named "".
    """

    name: str
    section: str | None
    """The section that contains it; None outside of sections."""
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

    A nested program names its parent and is listed next to it in `ScannedSource.programs`; its lines are within the parent's.
    A method with a source of its own names its class as its parent.
    A file without any division is one program of the kind `copybook`.
    """

    name: str
    kind: Literal["program", "function", "class", "method", "copybook"]
    start_line: int
    end_line: int
    parent: str | None = None
    is_common: bool = False
    """Whether a nested program is COMMON: visible to everything in its parent."""
    has_external_name: bool = False
    """Whether AS in its PROGRAM-ID gives it another name, that of its first entry point."""
    using: tuple[str, ...] = ()
    """The parameters of the PROCEDURE DIVISION in order, without BY REFERENCE and the like and without RETURNING."""
    returning: str = ""
    """The item whose value it returns; "" if there is none."""
    divisions: tuple[Division, ...] = ()
    entries: tuple[DeclarationEntry, ...] = ()
    sections: tuple[Section, ...] = ()
    paragraphs: tuple[Paragraph, ...] = ()
    statements: tuple[Statement, ...] = ()
    performs: tuple[Perform, ...] = ()
    gotos: tuple[GoTo, ...] = ()
    calls: tuple[CallStatement, ...] = ()
    unread: tuple[Statement, ...] = ()
    """What begins a sentence of the PROCEDURE DIVISION but is not a known statement; its verb is its first word."""
    entry_points: tuple[tuple[str, int], ...] = ()
    """The other entry points: the name that AS of the PROGRAM-ID gives to the start of the program, and that of each ENTRY, each
    with its line.
    """
    copies: tuple[Copy, ...] = ()
    execs: tuple[Exec, ...] = ()

    @property
    def called(self) -> str:
        """The name by which others refer to a program: for a method, prefixed with its class."""
        return f"{self.parent}{METHOD}{self.name}" if self.kind == "method" and self.parent else self.name

    def division(self, name: str) -> Division | None:
        """Return the first division of that name (IDENTIFICATION, ENVIRONMENT, DATA, PROCEDURE), None if there is none."""
        return next((division for division in self.divisions if division.name == name), None)

    def paragraph_at(self, line: int) -> Paragraph | None:
        """Return the paragraph of a line of the file, the last one if several share the line; None outside of all."""
        # Paragraphs are in order and do not overlap, so the last one that begins at or before the line is the only
        # candidate.
        at = bisect_right(self.paragraphs, line, key=attrgetter("start_line"))
        return self.paragraphs[at - 1] if at and line <= self.paragraphs[at - 1].end_line else None


class Warned(NamedTuple):
    """Something that a reader should know of a line: what is odd there and how it was read, or what could not be followed."""

    line: int
    text: str
    name: str = ""
    """The name with which the text ends, behind a word for its kind, if the same may be said of many; "" otherwise."""

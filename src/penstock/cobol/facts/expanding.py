"""Which entries and code does a program have with its copybooks in place, in order, each with its line in the program's file?

A copybook is looked up by name, read with its REPLACING, and inserted at its COPY; its lines are those of the COPY, so that a
citation never leaves the requested file. Nested copybooks are followed.

Leaves to others: files and directories (a lookup is given) and what entries and statements mean.

Law: no copybook makes the expansion endless or more than linear: nesting stops at `MAX_DEPTH`, the total at `MAX_COPIES` and
`MAX_COPIED_CHARS`, and a note says what was left out.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, NamedTuple

from ..program import DESCRIBED, Copy, DeclarationEntry, Program, Warned, key
from ..reading import BREAK
from ..replacing import in_effect
from ..splicing import copied, joined
from .values import CopybookUse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..program import Joining, Paragraph, Replacing
    from ..source import Lookup, ScannedSource

MAX_DEPTH = 12
"""The maximum nesting depth of copybooks."""
MAX_COPIES = 4_000
"""The maximum number of COPY statements followed in one program, including those in copybooks."""
MAX_COPIED_CHARS = 3_000_000
"""The maximum number of characters copied in; nested copybooks could otherwise double them at each level."""

# Copybooks that come with a translator or compiler are not in the estate, and not missing there.
_SYSTEM = re.compile(
    r"(?:DFHAID|DFHBMSCA|DFHATTR|DFHMSRCA|DFHEIBLK|DFHCOMMAREA|DFHSTWK|DFHTSDS|DFHVALUE|DFHRESP|SQLCA|SQLDA|SCREENIO|"
    r"CMQ[A-Z0-9]*|CEEIGZ[A-Z0-9]*|CEE[A-Z0-9]*CT|IGZ[A-Z0-9]*|DLIUIB|DFSAIB|XMLSS|EZACIC[0-9]*|EZA[A-Z0-9]*|"
    r"COBW3|ISAPI(?:CTX|FLG|INF))(?:\.\w+)?"  # NetCOBOL, for web servers
    # Those of DB2 for COBOL on Windows and Unix are copied by names with a suffix.
    r"|SQL(?:ENV|UTIL|UTB[A-Z]{2}|MON|MONCT|CODES|STATE|)\.cbl",
    re.IGNORECASE,
)
_ELSEWHERE = frozenset({"COPY", "EXEC", "REPLACE"})  # covered by copies, execs and ScannedSource.replacing
_FILES = frozenset({"FD", "SD"})
_DECLARING = frozenset({"ENVIRONMENT", "DATA"})  # divisions that cannot contain a program


class EntryRow(NamedTuple):
    """An entry of a division before PROCEDURE, with its code and its place."""

    entry: DeclarationEntry
    code: str
    """The text of the entry after REPLACING, with continuations joined."""
    section: str
    """The section of the entry; for an entry of a copybook that names none, that of the COPY."""
    line: int
    """The line of the entry in the program's file: for an entry of a copybook, that of the COPY."""
    end_line: int
    copybook: str | None
    """The copybook that contains it; None if the program does."""


class Headed(NamedTuple):
    """A COPY that brings headers of paragraphs or sections; for the compiler, what stands behind it belongs to the last one."""

    end_line: int
    """The last line of the COPY in the file that contains it."""
    first: str
    """The paragraph that control falls into from the code before the COPY."""
    last: str
    """The paragraph that contains the statements behind the COPY, up to the next header of the file."""


class CodePiece(NamedTuple):
    """Executable code: that of the program itself, or of a copybook in its PROCEDURE DIVISION, which is cited at `line`."""

    source: ScannedSource
    program: Program
    copybook: str | None = None
    line: int = 0
    """The line of the COPY; 0 for the program itself, whose statements have their own lines."""
    end_line: int = 0
    repeated: frozenset[str] = frozenset()
    """The names, in capitals, that several paragraphs of the copybook have."""
    header: str = ""
    """The copied paragraph that the code before the COPY belongs to; "" if that is a paragraph of the program."""
    headed: tuple[Headed, ...] = ()
    """The COPYs in it that bring headers, in order."""

    def header_at(self, line: int) -> str:
        """Return the copied paragraph that contains a line of this piece, by its name or that of its section; "" if it is one of
        the program.
        """
        if self.copybook is None and not self.headed:
            return ""
        paragraph = self.program.paragraph_at(line)
        at = bisect_left(self.headed, line, key=attrgetter("end_line")) - 1
        if at >= 0 and (paragraph is None or paragraph.start_line <= self.headed[at].end_line):
            return self.headed[at].last
        if self.copybook is None:
            return ""
        return (self.copied_name(paragraph) if paragraph is not None else "") or self.header

    def copied_name(self, paragraph: Paragraph) -> str:
        """Return the name of a paragraph in a copybook: with its section in front if several paragraphs have the name; that of the
        section if it has none.
        """
        if paragraph.name and paragraph.section and key(paragraph.name) in self.repeated:
            return f"{paragraph.section}.{paragraph.name}"
        return paragraph.name or paragraph.section or ""

    def headers(self) -> list[Headed]:
        """Return the headers in it and those that its COPYs bring, in order; not those of declaratives, which stand apart."""
        found = [Headed(one.line, one.name, one.name) for one in self.program.sections if not one.declarative]
        named = ((one.line, self.copied_name(one)) for one in self.program.paragraphs if not one.declarative)
        found += [Headed(line, name, name) for line, name in named if name]
        return sorted([*found, *self.headed], key=attrgetter("end_line"))


class Expanded(NamedTuple):
    """A program with its copybooks: entries, code, the copybooks used, and what could not be followed."""

    rows: tuple[EntryRow, ...]
    pieces: tuple[CodePiece, ...]
    uses: tuple[CopybookUse, ...]
    notes: tuple[Warned, ...]


def is_system(name: str) -> bool:
    """Return whether a copybook comes with CICS, DB2, MQ, IMS or the compiler, according to its name, which may have a suffix."""
    return _SYSTEM.fullmatch(name) is not None


def expand(source: ScannedSource, program: Program, find: Lookup) -> Expanded:
    """Return the entries and the code of a program, with copybooks in place.

    Args:
        source: The file of the program.
        program: One of the programs in it.
        find: The lookup, by name and by the library that the COPY names (or None); it returns None if there is no such
            copybook.
    """
    expanding = _Expanding(find)
    rows = tuple(expanding.walk(source, program, None, ()))
    return Expanded(rows, tuple(expanding.pieces), tuple(expanding.uses), tuple(expanding.notes))


class _Place(NamedTuple):
    """The COPY in the program itself through which code is included."""

    line: int
    end_line: int
    division: str
    copybook: str | None = None
    """The copybook that contains the code, by the name that facts cite; None for the program itself."""
    replacing: Replacing = ()
    """The pairs of REPLACE that apply to the copied text."""
    copying: Replacing = ()
    """The pairs of REPLACING of this COPY and of those around it, which apply to what it copies; from the inside out."""
    joining: tuple[Joining, ...] = ()
    """The JOINING of this COPY and of those around it, likewise."""
    header: str = ""
    """The copied paragraph around the COPY; "" if it is one of the program."""


class _Expanding:
    """The state of one expansion: what was collected, and how much was copied."""

    def __init__(self, find: Lookup) -> None:
        self._find = find
        self.pieces: list[CodePiece] = []
        self.uses: list[CopybookUse] = []
        self.notes: list[Warned] = []
        self._libraries: dict[str, str] = {}  # for each name copied, the library of the first member
        self._brought: list[Headed] = []  # the headers that the COPY being followed has brought so far
        self._count = self._chars = 0
        self._full = False

    def walk(
        self, source: ScannedSource, program: Program, place: _Place | None, above: tuple[str, ...]
    ) -> Iterator[EntryRow]:
        """Yield the entries in order, those of copybooks in their places; code is collected in `pieces`.

        Args:
            source: The file, or a copybook.
            program: The program in it to read.
            place: The COPY in the program itself that includes this; None for the program.
            above: The names of the enclosing copybooks, in capitals, outermost first.
        """
        piece = _piece(source, program, place)
        is_code = place is None or place.division in {"PROCEDURE", ""}
        has_code = bool(program.statements or program.paragraphs or program.sections)
        number, brought = len(self.pieces), self._brought
        if place is None or (is_code and has_code):
            self.pieces.append(piece)
        section = division = ""
        # By line, on the same line entries before COPYs: in `01  R. COPY REC.` the record comes first.
        queue: list[tuple[int, int, DeclarationEntry | Copy]] = [
            (entry.line, 0, entry) for entry in program.entries if entry.word not in _ELSEWHERE
        ]
        queue += [(copy.line, 1, copy) for copy in program.copies]
        queue.sort(key=itemgetter(0, 1))
        for line, _, found in queue:
            # A section ends with its division, even if the next one omits its header: for some compilers, the FILE SECTION
            # begins with its first FD. A copybook that contains the header may begin with entries of the section before.
            before = section
            if place is None and (here := _division(program, line)) != division:
                section, division = "", here
            if isinstance(found, DeclarationEntry):
                section = found.section or ("FILE" if found.word in _FILES else section)
                code = source.code[found.start : found.end].replace(BREAK, "")
                if place is None:
                    yield EntryRow(found, code, section, found.line, found.end_line, None)
                else:
                    yield EntryRow(found, code, section, place.line, place.end_line, place.copybook)
            else:
                self._brought = []
                around = place or _Place(line, found.end_line, _division(program, line))
                for row in self._copied(source, found, around._replace(header=piece.header_at(line)), above):
                    before = row.section or before
                    yield row._replace(section=before)
                if self._brought:
                    through = Headed(found.end_line, self._brought[0].first, self._brought[-1].last)
                    piece = piece._replace(headed=(*piece.headed, through))
                # The entries after it are in the section that the copybook ends in, unless it ends the division.
                section = before if division in _DECLARING or place is not None else section
        if place is None or (is_code and has_code):
            self.pieces[number] = piece
        self._brought = [*brought, *piece.headers()] if is_code else brought

    def _copied(self, source: ScannedSource, copy: Copy, here: _Place, above: tuple[str, ...]) -> Iterator[EntryRow]:
        """Yield the entries that one COPY includes, and record its use."""
        if self._are_too_many(copy):
            return
        told = self._told(copy)
        # A copybook that copies itself counts as found, but is not followed: it would be endless.
        circular = key(copy.name) in above or len(above) >= MAX_DEPTH
        found = None if circular else self._find(copy.name, copy.library)
        if found is not None and here.division in _DECLARING and found.has_unit and not found.is_header:
            found = None  # a program with the name of a missing copybook
        self.uses.append(
            CopybookUse(
                name=copy.name,
                library=copy.library,
                via=copy.via,
                replacing=copy.replacing,
                found=found is not None or circular,
                # The IDMS dictionary is not in the estate either.
                system=found is None and (is_system(copy.name) or copy.via == "COPY IDMS"),
                division=here.division,
                line=here.line,
                end_line=here.end_line,
                copybook=here.copybook,
                told=told,
            )
        )
        if circular:
            self.notes.append(
                Warned(here.line, f"copybook {copy.name} copies itself, or copies nest deeper than {MAX_DEPTH}")
            )
        elif found is None:
            yield _missing(copy, here)
        elif (copy.line, key(copy.name)) not in source.in_place:
            yield from self._inside(found, source, copy, here._replace(copybook=told), above)

    def _inside(
        self, found: ScannedSource, source: ScannedSource, copy: Copy, place: _Place, above: tuple[str, ...]
    ) -> Iterator[EntryRow]:
        """Yield the entries of a copybook as one COPY includes them."""
        self._chars += len(found.code)
        effect = (*in_effect(source.replacing, copy.line), *place.replacing)
        copying = (*((copy.replacing,) if copy.replacing else ()), *place.copying)
        joining = (*((copy.joining,) if copy.joining else ()), *place.joining)
        for one in joining:
            found = joined(found, one)
        if copying or effect:
            found = copied(found, copying, effect)
        inner = place._replace(replacing=effect, copying=copying, joining=joining)
        for part in found.programs:
            # A named part with statements is a program with its own data, and is read in its own file.
            if not part.name or not part.statements:
                yield from self.walk(found, part, inner, (*above, key(copy.name)))

    def _told(self, copy: Copy) -> str:
        """Return the name by which facts cite a copybook: with its library if it was copied from another before."""
        # What a COPY takes from a file's description is of the file, whichever of its records it is.
        library = "" if copy.library and DESCRIBED.fullmatch(copy.library) else key(copy.library or "")
        is_another = self._libraries.setdefault(key(copy.name), library) != library and library != ""
        return f"{copy.library}/{copy.name}" if is_another else copy.name

    def _are_too_many(self, copy: Copy) -> bool:
        """Return whether so much is copied that a COPY is not followed; a note says it once.

        Each time counts: the same copybook in a thousand places is a thousand times the work.
        """
        self._count += 1
        was_full, self._full = self._full, self._count > MAX_COPIES or self._chars > MAX_COPIED_CHARS
        if self._full and not was_full:
            self.notes.append(Warned(copy.line, "the copybooks of this program are too many: the rest is not followed"))
        return self._full


def _piece(source: ScannedSource, program: Program, place: _Place | None) -> CodePiece:
    """Return the code of the program itself, or of a copybook in it."""
    if place is None:
        return CodePiece(source, program)
    often = Counter(key(paragraph.name) for paragraph in program.paragraphs)
    repeated = frozenset(name for name, times in often.items() if times > 1)
    return CodePiece(source, program, place.copybook, place.line, place.end_line, repeated, place.header)


def _missing(copy: Copy, place: _Place) -> EntryRow:
    """Return the row for a copybook that was not found, with the kind of COPY as its code: nothing is known of what follows in its
    record.
    """
    entry = DeclarationEntry("COPY", copy.name, None, "", copy.line, copy.end_line, 0, 0)
    return EntryRow(entry, copy.via, "", place.line, place.end_line, copy.name)


def _division(program: Program, line: int) -> str:
    """Return the name of the division that contains a line, "" outside of any."""
    for division in reversed(program.divisions):
        if division.start_line <= line <= division.end_line:
            return division.name
    return ""

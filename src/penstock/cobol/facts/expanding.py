"""What is a program with its copybooks in place: entries and code in order, each with its line in the program's file?

A copybook is looked up by name, read with its REPLACING, and put where its COPY is; its lines are those of the COPY, so that a
citation never leaves the requested file. Nested copybooks are followed.

Leaves to others: files and directories (a lookup is given) and what entries and statements mean.

Law: no copybook makes this endless or more than linear: nesting stops at `MAX_DEPTH`, the total at `MAX_COPIES` and
`MAX_COPIED_CHARS`, and a note says what was left out.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ..program import Copy, DeclarationEntry, Program, key
from ..reading import BREAK
from ..replacing import in_effect
from ..splicing import copied
from .values import CopybookUse, Note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..program import Replacing
    from ..source import ScannedSource

MAX_DEPTH = 12
"""How many copybooks may stand within each other."""
MAX_COPIES = 4_000
"""How many COPY statements of one program are followed, those within copybooks included."""
MAX_COPIED_CHARS = 3_000_000
"""How many characters of code are copied in; nested copybooks could else double with each level."""

# What a translator or compiler brings along is on no shelf of the estate, and is not missing there.
_SYSTEM = re.compile(
    r"(?:DFHAID|DFHBMSCA|DFHATTR|DFHMSRCA|DFHEIBLK|DFHCOMMAREA|DFHSTWK|DFHTSDS|DFHVALUE|DFHRESP|SQLCA|SQLDA|SCREENIO|"
    r"CMQ[A-Z0-9]*|CEEIGZ[A-Z0-9]*|CEE[A-Z0-9]*CT|IGZ[A-Z0-9]*|DLIUIB|DFSAIB|XMLSS|EZACIC[0-9]*|EZA[A-Z0-9]*)(?:\.\w+)?"
    # What DB2 brings for COBOL on Windows and Unix is asked for with its suffix.
    r"|SQL(?:ENV|UTIL|UTB[A-Z]{2}|MON|MONCT|CODES|STATE|)\.cbl",
    re.IGNORECASE,
)
_ELSEWHERE = frozenset({"COPY", "EXEC", "REPLACE"})  # sentences that are told by Program.copies and Program.execs
_FILES = frozenset({"FD", "SD"})
_DECLARING = frozenset({"ENVIRONMENT", "DATA"})  # divisions in which no program can stand


class EntryRow(NamedTuple):
    """An entry of a division before PROCEDURE, with its code and where it stands."""

    entry: DeclarationEntry
    code: str
    """The text of an entry, continuations joined, after REPLACING."""
    section: str
    """The section it is in; that of the COPY for an entry of a copybook that names none."""
    line: int
    """The line of an entry in the program's file: that of the COPY for an entry of a copybook."""
    end_line: int
    copybook: str | None
    """The copybook that holds it; None where it stands in the program."""


class CodePiece(NamedTuple):
    """Code that runs: that of the program itself, or of a copybook in its PROCEDURE DIVISION, which is cited at `line`."""

    source: ScannedSource
    program: Program
    copybook: str | None = None
    line: int = 0
    """The line of the COPY; 0 for the program itself, whose statements have lines of their own."""
    end_line: int = 0
    repeated: frozenset[str] = frozenset()
    """The names in capitals that several paragraphs of a copybook have."""


class Expanded(NamedTuple):
    """A program with its copybooks: entries, code, what was copied, and what a reader should know of that."""

    rows: tuple[EntryRow, ...]
    pieces: tuple[CodePiece, ...]
    uses: tuple[CopybookUse, ...]
    notes: tuple[Note, ...]


def is_system(name: str) -> bool:
    """Return whether a copybook comes with CICS, DB2, MQ, IMS or the compiler, by its name, which may have a suffix."""
    return _SYSTEM.fullmatch(name) is not None


def expand(
    source: ScannedSource, program: Program, find: Callable[[str, str | None], ScannedSource | None]
) -> Expanded:
    """Return the entries and the code of a program, copybooks in place.

    Args:
        source: The file of the program.
        program: One of the programs in it.
        find: The lookup, by name and by the library that the COPY names (or None); it returns None for what is not
            there.
    """
    expanding = _Expanding(find)
    rows = tuple(expanding.walk(source, program, None, ()))
    return Expanded(rows, tuple(expanding.pieces), tuple(expanding.uses), tuple(expanding.notes))


class _Place(NamedTuple):
    """The COPY of the program itself that brought something in."""

    line: int
    end_line: int
    division: str
    copybook: str
    replacing: Replacing = ()
    """What REPLACE makes of the text that is copied."""
    copying: Replacing = ()
    """The pairs of REPLACING of this COPY and of those around it, which reach what it copies; from the inside out."""


class _Expanding:
    """The state of one expansion: what was collected, and how much was copied."""

    def __init__(self, find: Callable[[str, str | None], ScannedSource | None]) -> None:
        self._find = find
        self.pieces: list[CodePiece] = []
        self.uses: list[CopybookUse] = []
        self.notes: list[Note] = []
        self._libraries: dict[str, str] = {}  # the library of each member that was copied, the first of its name
        self._count = self._chars = 0
        self._full = False

    def walk(
        self, source: ScannedSource, program: Program, place: _Place | None, above: tuple[str, ...]
    ) -> Iterator[EntryRow]:
        """Yield the entries in order, those of copybooks between them; code is collected beside.

        Args:
            source: The file, or a copybook.
            program: The program of it that is read.
            place: The COPY of the program itself that brought this in; None for the program.
            above: The names of the copybooks around, in capitals, outermost first.
        """
        if place is None:
            self.pieces.append(CodePiece(source, program))
        elif program.statements and place.division in {"PROCEDURE", ""}:
            often = Counter(key(paragraph.name) for paragraph in program.paragraphs)
            repeated = frozenset(name for name, times in often.items() if times > 1)
            self.pieces.append(CodePiece(source, program, place.copybook, place.line, place.end_line, repeated))
        section = division = ""
        # By line, an entry before a COPY on the same one: in `01  R. COPY REC.` the record comes first.
        queue: list[tuple[int, int, DeclarationEntry | Copy]] = [
            (entry.line, 0, entry) for entry in program.entries if entry.word not in _ELSEWHERE
        ]
        queue += [(copy.line, 1, copy) for copy in program.copies]
        queue.sort(key=lambda row: row[:2])
        for line, _, found in queue:
            # A section ends with its division, also where the next one leaves its header out: the FILE SECTION of some
            # compilers begins with its first FD. A copybook that brings the header may begin with what is in front of it.
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
                for row in self._copied(source, program, found, place, above):
                    before = row.section or before
                    yield row._replace(section=before)
                # What follows is in the section that the copybook ends in, unless it ends the division.
                section = before if division in _DECLARING or place is not None else section

    def _copied(
        self, source: ScannedSource, program: Program, copy: Copy, place: _Place | None, above: tuple[str, ...]
    ) -> Iterator[EntryRow]:
        """Yield the entries that one COPY brings in, and note that it was used."""
        self._count += 1
        if self._count > MAX_COPIES or self._chars > MAX_COPIED_CHARS:
            if not self._full:
                self.notes.append(
                    Note(copy.line, "the copybooks of this program are too many: the rest is not followed")
                )
            self._full = True
            return
        division = place.division if place else _division(program, copy.line)
        library = key(copy.library or "")
        is_another = self._libraries.setdefault(key(copy.name), library) != library and copy.library is not None
        told = f"{copy.library}/{copy.name}" if is_another else copy.name
        here = place or _Place(copy.line, copy.end_line, division, told)
        # A copybook that copies itself was found, and is not followed: it would be endless.
        circular = key(copy.name) in above or len(above) >= MAX_DEPTH
        found = None if circular else self._find(copy.name, copy.library)
        if found is not None and division in _DECLARING and found.has_unit and not found.is_header:
            found = None  # a program that has the name of a copybook which is missing
        self.uses.append(
            CopybookUse(
                name=copy.name,
                library=copy.library,
                via=copy.via,
                replacing=copy.replacing,
                found=found is not None or circular,
                # The dictionary of IDMS is on no shelf of the estate either.
                system=found is None and (is_system(copy.name) or copy.via == "COPY IDMS"),
                division=division,
                line=here.line,
                end_line=here.end_line,
                copybook=place.copybook if place else None,
                told=told,
            )
        )
        if circular:
            self.notes.append(
                Note(here.line, f"copybook {copy.name} copies itself, or copies nest deeper than {MAX_DEPTH}")
            )
        if found is None:
            if not circular:
                yield _missing(copy, here)
            return
        if (copy.line, key(copy.name)) in source.in_place:
            return
        # Counted as often as it is copied: the same copybook in a thousand places is a thousand times the work.
        self._chars += len(found.code)
        effect = (*in_effect(source.replacing, copy.line), *(place.replacing if place else ()))
        copying = (*((copy.replacing,) if copy.replacing else ()), *(place.copying if place else ()))
        if copying or effect:
            found = copied(found, copying, effect)
        inner = _Place(here.line, here.end_line, division, told, effect, copying)
        for part in found.programs:
            # A program of its own has its own data, and is read where its file is; the header of this one has no code.
            if not part.name or not part.statements:
                yield from self.walk(found, part, inner, (*above, key(copy.name)))


def _missing(copy: Copy, place: _Place) -> EntryRow:
    """What stands for a copybook that was not found, its code what was to bring it in: nothing is known of what follows in its
    record.
    """
    entry = DeclarationEntry("COPY", copy.name, None, "", copy.line, copy.end_line, 0, 0)
    return EntryRow(entry, copy.via, "", place.line, place.end_line, copy.name)


def _division(program: Program, line: int) -> str:
    """Return the name of the division that a line is in, "" outside of all."""
    return next((d.name for d in reversed(program.divisions) if d.start_line <= line <= d.end_line), "")

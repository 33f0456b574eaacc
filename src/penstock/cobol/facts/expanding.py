"""What does a program consist of when its copybooks are in place? Entries and code in order, each with its line here.

A copybook is looked up by name, read with its REPLACING, and put where its COPY stands; its lines are those of the COPY.
Keeps out: files and directories (a lookup is given), what entries and statements mean. Law: no copybook makes it endless or
more than linear: nesting ends at `MAX_DEPTH`, all at `MAX_COPIES` and `MAX_COPIED_CHARS`, and what was left out is said.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..program import Copy, DeclarationEntry, Program, key
from ..reading import BREAK
from .values import CopybookUse, Note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..source import ScannedSource

MAX_DEPTH = 12
MAX_COPIES = 4_000
MAX_COPIED_CHARS = 3_000_000

_SYSTEM = re.compile(
    r"DFHAID|DFHBMSCA|DFHATTR|DFHMSRCA|DFHEIBLK|DFHCOMMAREA|DFHSTWK|DFHTSDS|DFHVALUE|DFHRESP|SQLCA|SQLDA|"
    r"CMQ[A-Z0-9]*|CEEIGZ[A-Z0-9]*|CEE[A-Z0-9]*CT|IGZ[A-Z0-9]*|DLIUIB|DFSAIB|XMLSS|EZACIC[0-9]*|EZA[A-Z0-9]*",
    re.IGNORECASE,
)
_ELSEWHERE = frozenset({"COPY", "EXEC", "REPLACE"})  # sentences that are told by Program.copies and Program.execs
_PARTS = re.compile(r"\S+")


class EntryRow(NamedTuple):
    """An entry of a division before PROCEDURE, its code, and where it stands."""

    entry: DeclarationEntry
    code: str
    section: str
    line: int
    end_line: int
    copybook: str | None


class CodePiece(NamedTuple):
    """Code that runs: that of the program itself, or of a copybook in its PROCEDURE DIVISION, which is cited at `line`."""

    source: ScannedSource
    program: Program
    copybook: str | None = None
    line: int = 0
    end_line: int = 0


class Expanded(NamedTuple):
    """The program with its copybooks."""

    rows: tuple[EntryRow, ...]
    pieces: tuple[CodePiece, ...]
    uses: tuple[CopybookUse, ...]
    notes: tuple[Note, ...]


def is_system(name: str) -> bool:
    """Does this copybook come with CICS, DB2, MQ, IMS or the compiler?"""
    return _SYSTEM.fullmatch(name) is not None


def expand(
    source: ScannedSource, program: Program, find: Callable[[str, str | None], ScannedSource | None]
) -> Expanded:
    """The entries and the code of a program, copybooks in place."""
    expanding = _Expanding(find)
    rows = tuple(expanding.walk(source, program, None, ()))
    return Expanded(rows, tuple(expanding.pieces), tuple(expanding.uses), tuple(expanding.notes))


class _Place(NamedTuple):
    """The COPY of the program itself that brought something in."""

    line: int
    end_line: int
    division: str
    copybook: str


class _Expanding:
    def __init__(self, find: Callable[[str, str | None], ScannedSource | None]) -> None:
        self._find = find
        self.pieces: list[CodePiece] = []
        self.uses: list[CopybookUse] = []
        self.notes: list[Note] = []
        self._count = self._chars = 0
        self._full = False

    def walk(
        self, source: ScannedSource, program: Program, place: _Place | None, above: tuple[str, ...]
    ) -> Iterator[EntryRow]:
        """The entries in order, those of copybooks between them; code is collected beside."""
        if place is None:
            self.pieces.append(CodePiece(source, program))
        elif program.statements and place.division in {"PROCEDURE", ""}:
            self.pieces.append(CodePiece(source, program, place.copybook, place.line, place.end_line))
        section = ""
        queue: list[tuple[int, int, DeclarationEntry | Copy]] = [
            (entry.line, 0, entry) for entry in program.entries if entry.word.upper() not in _ELSEWHERE
        ]
        queue += [(copy.line, 1, copy) for copy in program.copies]
        queue.sort(key=lambda row: row[:2])
        for _, _, found in queue:
            if isinstance(found, DeclarationEntry):
                section = found.section or section
                code = source.code[found.start : found.end].replace(BREAK, "")
                if place is None:
                    yield EntryRow(found, code, section, found.line, found.end_line, None)
                else:
                    yield EntryRow(found, code, section, place.line, place.end_line, place.copybook)
            else:
                for row in self._copied(program, found, place, above):
                    yield row._replace(section=row.section or section)

    def _copied(self, program: Program, copy: Copy, place: _Place | None, above: tuple[str, ...]) -> Iterator[EntryRow]:
        self._count += 1
        if self._count > MAX_COPIES or self._chars > MAX_COPIED_CHARS:
            if not self._full:
                self.notes.append(
                    Note(copy.line, "the copybooks of this program are too many: the rest is not followed")
                )
            self._full = True
            return
        division = place.division if place else _division(program, copy.line)
        here = place or _Place(copy.line, copy.end_line, division, copy.name)
        circular = key(copy.name) in above or len(above) >= MAX_DEPTH
        found = None if circular else self._find(copy.name, copy.library)
        self.uses.append(
            CopybookUse(
                name=copy.name,
                library=copy.library,
                via=copy.via,
                replacing=copy.replacing,
                found=found is not None or circular,
                system=found is None and is_system(copy.name),
                division=division,
                line=here.line,
                end_line=here.end_line,
                copybook=place.copybook if place else None,
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
        self._chars += len(found.code)
        if copy.replacing:
            found = _replaced(found, copy.replacing)
        inner = _Place(here.line, here.end_line, division, copy.name)
        for part in found.programs:
            yield from self.walk(found, part, inner, (*above, key(copy.name)))


def _missing(copy: Copy, place: _Place) -> EntryRow:
    """What stands for a copybook that was not found: nothing is known of what follows in its record."""
    entry = DeclarationEntry("COPY", copy.name, None, "", copy.line, copy.end_line, 0, 0)
    return EntryRow(entry, "", "", place.line, place.end_line, copy.name)


def _division(program: Program, line: int) -> str:
    return next((d.name for d in reversed(program.divisions) if d.start_line <= line <= d.end_line), "")


def _replaced(source: ScannedSource, replacing: tuple[tuple[str, str], ...]) -> ScannedSource:
    """The copybook as REPLACING makes it, line for line."""
    from .. import scan

    code = source.code
    for old, new in replacing:
        pattern, text = _pattern(old), _bare(new)
        if pattern is not None:
            code = pattern.sub(lambda found, text=text: text + "\n" * found.group().count("\n"), code)  # type: ignore[misc]
    return scan(code, source_format="free")


def _pattern(old: str) -> re.Pattern[str] | None:
    """The words of pseudo-text, wherever they stand as words; `:TAG:` and the like within words too."""
    side, _, rest = old.strip().partition(" ")
    words = _PARTS.findall(_bare(rest if side.upper() in {"LEADING", "TRAILING"} else old))
    if not words:
        return None
    left = r"(?<![A-Za-z0-9_-])" if words[0][0].isalnum() and side.upper() != "TRAILING" else ""
    right = r"(?![A-Za-z0-9_-])" if words[-1][-1].isalnum() and side.upper() != "LEADING" else ""
    return re.compile(left + r"\s+".join(map(re.escape, words)) + right, re.IGNORECASE)


def _bare(text: str) -> str:
    text = text.strip()
    if text.startswith("==") and text.endswith("==") and len(text) >= 4:
        text = text[2:-2]
    return " ".join(text.split())

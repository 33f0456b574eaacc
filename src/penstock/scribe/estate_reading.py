"""What does each file of an estate say, in whatever process it is read?

A file is read according to its name and head, and then judged by its content: a member of a copybook library may be a program, and
a file called `.cbl` may be empty. Its documents go to the spool as soon as they are made, complete but for who calls and runs them;
what comes back is what the links of the estate are made of. Law: nothing of a file is kept once it is read, except copybooks that
others name; what is said about a file depends on that file and on its copybooks alone.
Leaves to others: what files say about each other (`cobol.graph`), and what a model is asked (`documenting`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.cobol.estate import Copybooks, Member, declaring, member
from penstock.cobol.facts.interface import says_something
from penstock.cobol.graph import part_of
from penstock.cobol.program import in_library, key
from penstock.scribe.file_work import ScannedFile, documents_of_code, subject
from penstock.scribe.gathering import HEAD_BYTES, GatheredFile
from penstock.scribe.pages.copies import compared, sketch_of
from penstock.scribe.pages.summary import summary_of
from penstock.scribe.pages.wiring import inner_table, outer_part
from penstock.scribe.scanning import scanned
from penstock.scribe.spool import Place, Spool
from penstock.text import window

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.cobol import Format, ScannedSource
    from penstock.cobol.facts.values import Facts
    from penstock.cobol.graph import ProgramPart
    from penstock.scribe.filling import Part
    from penstock.scribe.pages.summary import PackedDocument
    from penstock.scribe.surroundings import Around

MOST_SHOWN = 1_000
"""The most characters of a line in a listing: four times what a line of COBOL may have."""
_PROTOTYPES = re.compile(r"(?i)(?<![\w-])PROGRAM-ID(?![\w-])")
_SPECIAL_NAMES = re.compile(
    r"\s*(?:SPECIAL-NAMES\s*\.|(?:DECIMAL-POINT|CURRENCY|ALPHABET|SYMBOLIC|C\d\d|CSP|CONSOLE|SYSIN|SYSOUT|UPSI-\d)\s)",
    re.IGNORECASE,
)
"""How a copybook begins that is the SPECIAL-NAMES paragraph of a program, or the clauses of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSetup:
    """What reading needs: the files, among which copybooks are looked up, and the folder of the spool.

    If a model is asked, `makes_documents` is false: programs' documents are made later, with its words.
    """

    files: Sequence[GatheredFile]
    members: Sequence[Member]
    source_format: Format | None = None
    spool: str = ""
    makes_documents: bool = True


class PartRead(NamedTuple):
    """What is kept of a program or copybook: its part in links and graph, its sketch, and where its listing is spooled.

    The last two are its document and its summary for the index; None if the document waits for a model.
    """

    facts: Facts
    graph: ProgramPart
    sketch: tuple[int, ...]
    listing: Place
    document: Place | None
    summary: PackedDocument | None


class FileRead(NamedTuple):
    """What kind of file was found; `reason` says why it is neither programs nor a copybook."""

    kind: Literal["programs", "copybook", "nothing"]
    parts: tuple[PartRead, ...] = ()
    reason: str = ""
    declares: Member | None = None
    """The tables that a program declares besides its data, as a DCLGEN does; None if it declares none."""


class FileReader:
    """Reads files by their numbers in the setup."""

    def __init__(self, setup: ReadSetup) -> None:
        self._files, self._format = setup.files, setup.source_format
        self._shelf = Copybooks(setup.files, setup.members)
        self._spool, self._makes_documents = Spool(setup.spool), setup.makes_documents

    def __call__(self, number: int) -> FileRead:
        """Read a file, and put its documents into the spool."""
        file = self._files[number]
        one = self.subject(number)
        if not says_anything(one):
            return FileRead("nothing", reason=_why_nothing(file, one))
        is_alone = is_copybook(one)
        listed = listings(one)  # first, because citations take their lines from it too
        # No model is asked about a copybook: by itself it means nothing for sure, and the purpose of its fields is described where
        # a program uses them. So its document is made here in any case.
        documents = documents_of_code(one) if self._makes_documents or is_alone else None
        found = []
        for at, (part, listing) in enumerate(zip(one.parts, listed, strict=True)):
            graph = graph_part(part, file.path)
            lines = self._spool.put((listing, inner_table(graph)))
            document = summary = None
            if documents is not None:
                document, summary = self._spool.put(documents[at]), summary_of(documents[at])
            sketch = () if is_alone else sketch_of(compared(part.facts.program, listing))
            found.append(PartRead(_for_links(part.facts), outer_part(graph), sketch, lines, document, summary))
        operations = {found.operation for part in one.parts for found in part.facts.sql}
        declares = declaring(file.path, file.kind, one.source.code, operations)
        return FileRead("copybook" if is_alone else "programs", tuple(found), declares=declares)

    def subject(self, number: int) -> ScannedFile:
        """Return the complete scan of a file."""
        return subject_of(self._files[number], self._shelf, self._format)


def subject_of(found: GatheredFile, shelf: Copybooks, source_format: Format | None) -> ScannedFile:
    """Return the scan of a file, with the copybooks from a shelf that it names."""
    if found.kind == "dds":
        one = subject(shelf.described(found.path, found.data), found.path)
        return replace(one, about=replace(one.about, format="DDS"))
    source = scanned(found, shelf.beside(found.path), source_format)
    books, paths = _books(source, found.path, shelf)
    return subject(source, found.path, copybooks=books, paths=paths)


def graph_part(part: Part, path: str) -> ProgramPart:
    """Return what a program or copybook adds to the graph of its estate, as far as pages show it."""
    known = part.paths or {}
    found = ((use, known.get(in_library(use.name, use.library))) for use in part.facts.copybooks)
    paths = {key(use.told): where for use, where in found if where}
    return part_of(part.facts, part.program, path, copybooks=paths, is_whole=False)


def _for_links(facts: Facts) -> Facts:
    """Return the facts without those that only the program's own document uses, which are by far the larger part."""
    return replace(
        facts, items=(), constants=(), messages=(), transforms=(), undeclared=(), paragraphs=(), edges=(), outside=(), rules=(),
        errors=(), notes=(), sql=(), cics=(), dli=(), mq=(), network=(), unread=(), uses=(), moves=(), parts=(),
        entry_parameters=(),
    )  # fmt: skip


def members_of(found: Iterable[GatheredFile]) -> list[Member]:
    """Return the files other than programs, as the estate knows them."""
    return [member(one.path, one.kind, one.data) for one in found if one.kind != "cobol"]


def _books(source: ScannedSource, path: str, shelf: Copybooks) -> tuple[dict[str, ScannedSource], dict[str, str]]:
    """Return the copybooks that a source names, those that they name in turn, and the path of each.

    Each name is taken once, so copybooks that copy each other end here.
    """
    find = shelf.beside(path)
    books: dict[str, ScannedSource] = {}
    paths: dict[str, str] = {}
    waiting = [source]
    while waiting:
        for program in waiting.pop():
            for copy in program.copies:
                name = in_library(copy.name, copy.library)
                if name not in books and (book := find(copy.name, copy.library)) is not None:
                    where = shelf.path(copy.name, copy.library, path) or ""
                    for known in (name, key(copy.name)):  # by its name alone, the first of them
                        books.setdefault(known, book)
                        paths.setdefault(known, where)
                    waiting.append(book)
    return books, paths


def is_copybook(one: ScannedFile) -> bool:
    """Return whether a file contains no program: it is documented as a copybook, about which no model is asked."""
    return all(part.program.kind == "copybook" for part in one.parts)


def says_anything(one: ScannedFile) -> bool:
    """Return whether a file holds a program, data or statements."""
    return any(says_something(part.facts, part.program) for part in one.parts)


def _why_nothing(file: GatheredFile, one: ScannedFile) -> str:
    """Return why a file that was taken for COBOL contains none, by the reason that explains most."""
    if file.kind == "dclgen":
        return "it declares tables, which the index lists, and no data"
    if file.kind == "dds":
        return "its records have no fields"
    head = file.data[:HEAD_BYTES]
    if not head:
        return "it is empty"
    if window.detect(head) is None:
        return f"it is binary: {window.kind_of(head)}"
    if set(one.source.kinds) <= {"comment", "blank"}:
        return "it holds comments and no code"
    if _SPECIAL_NAMES.match(one.source.code):
        return "it holds special names of a program, and no data"
    if _PROTOTYPES.search(one.source.code):
        return "it holds prototypes of programs that are elsewhere"
    return "there is no COBOL in it"


def situated(one: ScannedFile, neighbours: Iterable[Around]) -> ScannedFile:
    """Return a subject with the names around its programs, which claims may use: "runs in the daily job" is not invented."""
    return replace(one, names=frozenset(name for around in neighbours for names in around for name in names))


def listings(one: ScannedFile) -> list[list[tuple[int, str]]]:
    """Return the lines of each program, without those inside a nested program, which has its own page."""
    shown = [line if len(line) <= MOST_SHOWN else f"{line[:MOST_SHOWN]}…" for line in one.source.all_shown()]
    listing = list(enumerate(shown, 1))
    if len(one.parts) == 1:  # as in nearly all files
        return [listing[part.program.start_line - 1 : part.program.end_line] for part in one.parts]
    # Programs come in the order of their first lines, so an inner one overwrites its part of the outer one. Its first and last line
    # stay with both: the reader of the outer program sees where the inner one is.
    rows = [{part.program.start_line, part.program.end_line} for part in one.parts]
    within: list[int | None] = [None] * (one.source.lines + 1)
    for number, part in enumerate(one.parts):
        first, last = part.program.start_line, part.program.end_line
        within[first + 1 : last] = [number] * max(0, last - first - 1)
    for line, owner in enumerate(within):
        if owner is not None:
            rows[owner].add(line)
    return [[listing[line - 1] for line in sorted(row)] for row in rows]

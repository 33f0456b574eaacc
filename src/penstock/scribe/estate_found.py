"""What was found in an estate? Its programs and copybooks under the ids of their pages, linked, and what is not part of it.

    found = FoundEstate(gathered, FileReader(setup), workers.each(FileReader, setup, numbers))

Files are read in any process; their results are put together here in the order of their paths, so that ids and links do not depend
on which came first. Law: every source is a program's, a copybook's, or named with the reason why not.
Leaves to others: what a file says (`estate_reading`), who is asked about it, and what is written.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.graph import EstateGraph, Inventory, Located
from penstock.scribe.gathering import Skipped
from penstock.scribe.page_ids import PageIds
from penstock.scribe.pages.estate import PARTS_PATH, copybook_path, program_path
from penstock.scribe.pages.summary import Summaries
from penstock.scribe.pages.terms import Terms
from penstock.scribe.surroundings import Around, Surroundings
from penstock.scribe.workers import Lost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from penstock.cobol.estate import Member
    from penstock.cobol.graph import ProgramPart
    from penstock.scribe.estate_reading import FileRead
    from penstock.scribe.gathering import GatheredFile
    from penstock.scribe.pages.summary import PackedDocument
    from penstock.scribe.spool import Place
    from penstock.text.json_access import Json


class Listed(NamedTuple):
    """A document of the estate: its file by number, its page's id, the name and first line of its program, and where its listing
    is spooled.
    """

    file: int
    page: str
    program: str
    line: int
    listing: Place


class FoundEstate:
    """An estate, read and linked.

    Args:
        sources: The files that may hold COBOL.
        members: The files other than programs, including copybooks.
        read: The result of reading each source, in the same order.
        tell: Called with how many are read, and of how many.
    """

    def __init__(
        self,
        sources: Sequence[GatheredFile],
        members: Sequence[Member],
        read: Iterable[FileRead | Lost],
        tell: Callable[[str, int, int], None],
    ) -> None:
        self.empty: list[Skipped] = []
        self.lost: list[Skipped] = []
        self.programs: list[Listed] = []
        self.copybooks: list[Listed] = []
        self.summaries = Summaries()
        """The reduced documents of programs, by the ids of their pages, in the order of their files."""
        self.layouts = Summaries()
        """The reduced documents of copybooks."""
        self.sketches: dict[str, array[int]] = {}
        """The sketches of programs, by the ids of their pages."""
        self.pages: dict[tuple[str, int], str] = {}
        """The paths of pages, by the file and first line of what they describe."""
        self.documents: dict[Listed, Place] = {}
        """Where documents are spooled."""
        self._files = [one.path for one in sources]
        self._terms = Terms()
        self._waiting: dict[Listed, tuple[Place, PackedDocument]] = {}
        self._located: list[Located] = []
        parts: list[ProgramPart] = []
        declared: list[Member] = []
        ids = {is_copybook: PageIds() for is_copybook in (False, True)}
        for number, (file, one) in enumerate(zip(sources, read, strict=True)):
            tell("reading", number, len(sources))
            if isinstance(one, Lost):
                self.lost.append(Skipped(file.path, one.reason))
                continue
            if one.declares is not None:
                declared.append(one.declares)
            if one.kind == "nothing":
                self.empty.append(Skipped(file.path, one.reason))
            is_copybook = one.kind == "copybook"
            self._list(number, file.path, one, ids[is_copybook], is_copybook=is_copybook)
            parts += (part.graph for part in one.parts)
            if not is_copybook:
                self._located += (Located(part.graph, part.facts) for part in one.parts)
        self.graph = EstateGraph(parts, [*members, *declared])  # a definition wins over a declaration in a program
        """What programs, jobs and members share."""
        written = {(one.part.path, one.part.line): one.facts.program for one in self._located}
        self._surroundings = Surroundings(self.graph, written)
        # Programs in CL have parts in the graph, but no document: a table lists them.
        self.pages |= {(one.path, one.variables.line): PARTS_PATH for one in members if one.variables is not None}
        told = {one.path for one in (*self.empty, *self.lost)} | {sources[one.file].path for one in self.copybooks}
        self.beside = sum(one.path not in told for one in members)
        """How many files are neither program nor copybook: jobs, maps, tables and the like."""

    def _list(self, number: int, path: str, read: FileRead, ids: PageIds, *, is_copybook: bool) -> None:
        """List what was read of a file, which has a number and a path, under the ids of pages."""
        for facts, part, sketch, listing, document, summary in read.parts:
            page = ids.of(facts.program, path)
            listed = Listed(number, page, facts.program, part.line, listing)
            (self.copybooks if is_copybook else self.programs).append(listed)
            self.pages.setdefault((part.path, part.line), copybook_path(page) if is_copybook else program_path(page))
            if sketch:
                self.sketches[page] = array("I", sketch)  # a tuple takes nine times the memory
            if document is not None and summary is not None:
                self.take(listed, document, summary, is_copybook=is_copybook)

    def take(self, listed: Listed, document: Place, summary: PackedDocument, *, is_copybook: bool = False) -> None:
        """Take the place of a document in the spool, and its summary for the index; documents come in the order of their files."""
        self.documents[listed] = document
        (self.layouts if is_copybook else self.summaries).put(listed.page, summary)
        if not is_copybook:
            self._terms.add(listed.page, summary.namings)

    def wait_for(self, listed: Listed, document: Place, summary: PackedDocument) -> None:
        """Take a document of a program in whatever order documents are made."""
        self._waiting[listed] = document, summary

    def settle(self) -> None:
        """Put documents that were made in any order into that of the files: equal answers of a model give equal documents."""
        for one in self.programs:
            if one in self._waiting:
                self.take(one, *self._waiting.pop(one))

    def inventory(self) -> Inventory:
        """Return the tables of what programs use, and of what is missing."""
        return Inventory(self.graph, self._located)

    def terms(self) -> list[dict[str, Json]]:
        """Return the data dictionary of all documents taken."""
        return self._terms.listed()

    def around(self, listed: Listed) -> Around:
        """Return who calls, starts and runs a program."""
        return self._surroundings.of(self._files[listed.file], listed.line)

    def paths(self) -> Mapping[Listed, str]:
        """Return the paths of pages, without suffixes."""
        pages = {one: program_path(one.page) for one in self.programs if one in self.documents}
        return pages | {one: copybook_path(one.page) for one in self.copybooks}

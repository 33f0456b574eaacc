"""What do the pages of an estate see? Plain values: the documents of its programs, and what surrounds them.

All of it is JSON, as `inventory` and the scribe make it, and as `index.json` has it: the field names of the views are a contract.
`NameIndex` says where a name links to, and the functions at the end name pages and the places in them, so that links and their
targets cannot differ. Leaves to others: how it was found (`penstock.cobol.estate`), and how it looks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict

from penstock.cobol.estate.members import Nearest, stem
from penstock.cobol.program import key
from penstock.cobol.scope import NamedEntry, ProgramNames, ProgramPlace
from penstock.scribe.pages.blocks import CodeSpan, DocumentLink, GraphNode, ParagraphLink

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.scribe.pages.blocks import Piece
    from penstock.text.json_access import Json


class DdView(TypedDict):
    """A DD statement with the data sets behind it."""

    name: str
    datasets: Sequence[str]


class StepView(TypedDict):
    """A step of a job: the programs that it runs, including those that DB2 or IMS runs for it, or a procedure."""

    name: str
    programs: Sequence[str]
    procedure: str | None
    line: int
    dds: Sequence[DdView]


class JobView(TypedDict):
    """A job or a procedure. `runs` are the pages of all programs that it reaches, including those reached through procedures."""

    name: str
    title: str
    """The name, with its member if several have it."""
    kind: Literal["job", "procedure"]
    path: str
    steps: Sequence[StepView]
    runs: Sequence[str]


class ControlCallView(TypedDict):
    """A program that a CL program calls; `is_sure` is false if a variable names it that may have other values."""

    program: str
    line: int
    is_sure: bool


class ControlCopyView(TypedDict):
    """A CPYF of a CL program."""

    source: str
    target: str
    line: int


class ControlView(TypedDict):
    """A CL program, whose name is that of its file; its variables have their `&`, and `line` is that of PGM."""

    name: str
    path: str
    line: int
    calls: Sequence[ControlCallView]
    copies: Sequence[ControlCopyView]
    variables: Sequence[str]


class DataSetView(TypedDict):
    """A data set as a program sees it: in a step, or as a file of CICS, which has no DD and perhaps no program."""

    dataset: str
    program: str | None
    file: str
    dd: str | None
    job: str | None
    step: str | None


class MapsetView(TypedDict):
    """A set of maps; `used_by` are ids of programs."""

    name: str
    path: str
    maps: Sequence[str]
    used_by: Sequence[str]


class CopybookView(TypedDict):
    """A copybook; `path` is None if it was not found, `system` is true if it comes with CICS, DB2 or the like.

    `id` names the files of its document; None if it has none: it is missing, or made of a map, or is a program itself.
    """

    name: str
    id: str | None
    path: str | None
    system: bool
    used_by: Sequence[str]


class DbTableView(TypedDict):
    """A table of a database; `path` is where it is defined, None if nothing here defines it.

    `defined_as` is the name of a definition that may be this table's, if only one of the two names has a schema; None if both are
    the same.
    """

    name: str
    path: str | None
    defined_as: str | None
    columns: Sequence[str]
    used_by: Sequence[str]


class TransactionView(TypedDict):
    """A transaction and the program it starts."""

    name: str
    program: str | None
    path: str
    line: int


class MissingView(TypedDict):
    """A name that is missing here: a program, copybook, procedure or transaction, and who names it; or what of a job is not read:
    steps that are too many to follow, and programs in its stream.
    """

    name: str
    kind: str
    named_by: Sequence[str]


class EstateView(TypedDict):
    """A tree of programs with what belongs to them. `programs` are documents or their summaries, each under the id in its file
    names; so are `layouts`, those of copybooks. `terms` are the data dictionary.

    A user of something is named by the id of its program's page or, if there is none, by its own name.
    """

    name: str
    programs: Mapping[str, Json]
    layouts: Mapping[str, Json]
    jobs: Sequence[JobView]
    control_programs: Sequence[ControlView]
    maps: Sequence[MapsetView]
    copybooks: Sequence[CopybookView]
    tables: Sequence[DbTableView]
    crud: Sequence[Json]
    transactions: Sequence[TransactionView]
    data_sets: Sequence[DataSetView]
    missing: Sequence[MissingView]
    terms: Sequence[Json]


class CopyUser(NamedTuple):
    """A program or copybook that copies a file: the link to it, the type of program, and its COPY as in its document."""

    document: DocumentLink
    type: str
    used: Json


class NameIndex:
    """What a name means: a program with a page, or one outside the estate.

    Programs are known by their names, regardless of case, and by their other entries (ENTRY). Of two programs with the same name,
    the one in the file that uses the name is meant, else the nearest by folders, else the first; a program's own name wins over
    another's entry. Copybooks are known by their files, because several may have the same name and each program has taken one of
    them; so are their users. Programs in CL are known by their names alone, in capitals.
    """

    def __init__(
        self, programs: Mapping[str, Json], layouts: Mapping[str, Json] | None = None, in_cl: Iterable[str] = ()
    ) -> None:
        self._in_cl = frozenset(in_cl)
        self._names = told_apart(programs)
        self._pages: dict[str, list[str]] = {}
        """The pages of programs by their names, in the order of their files."""
        self._paths = {page: str(document["header"]["file_name"]) for page, document in programs.items()}
        self._files: dict[str, str] = {}
        self._items: dict[str, frozenset[int]] = {}
        self._paragraphs: dict[str, dict[str, int]] = {}
        self._users: dict[str, list[CopyUser]] = {}
        own: list[tuple[str, str]] = []
        entries: list[tuple[str, str]] = []
        for page, document in programs.items():
            # `setdefault` throughout: the first of several stays, and documents come in the order of their files.
            header = document["header"]
            if header["program_id"]:
                self._pages.setdefault(header["program_id"].upper(), []).append(page)
            self._files.setdefault(header["file_name"], program_path(page))
            self._use(self._link(page), header["program_type"], document["copybooks_used"])
            own.append(((header["program_id"] or "").upper(), page))
            points = document["calling_context"]["entry_points"]
            entries += [(entry["name"].strip("'\"").upper(), page) for entry in points]
        # An ENTRY may have the name of a program in another file, whose own name wins.
        programs_own = frozenset(self._pages)
        for name, page in entries:
            if name not in programs_own:
                self._pages.setdefault(name, []).append(page)
        places = {
            page: _place(document["header"])._replace(has_external_name=_has_external_name(document))
            for page, document in programs.items()
        }
        # Without the classes above others: a method that is not found is inherited, or the language's, and its class has a page.
        named = (NamedEntry(name, places[page], page) for name, page in (*own, *entries))
        self._called: ProgramNames[str] = ProgramNames(named, {})
        self._nearest: dict[str, Nearest[str]] = {}
        """The pages of a name by their files, for names that were looked up."""
        self._may_call: dict[tuple[str, str], bool] = {}
        """The pages of a program and of what it calls; False if one of those calls certainly leads there."""
        for page, document in programs.items():
            for call in document["called_programs"]:
                if (called := self.called_page(call["program_name"], document["header"])) is not None:
                    pair = page, called
                    self._may_call[pair] = self._may_call.get(pair, True) and may_lead_elsewhere(call)
        books = told_apart(layouts or {})
        for page, document in (layouts or {}).items():
            path = document["header"]["file_name"]
            self._files.setdefault(path, copybook_path(page))
            self._items.setdefault(path, frozenset(filter(None, map(line_of_item, document["data_items"]))))
            # Reversed: of several paragraphs with the same name the first stays.
            starts = {item["paragraph_name"].upper(): item["start_line"] for item in reversed(document["paragraphs"])}
            self._paragraphs.setdefault(path, starts)
            # A copybook's document also lists what it copies through others; those are listed in their own documents.
            direct = [used for used in document["copybooks_used"] if not used["copybook"]]
            self._use(DocumentLink(books[page], copybook_path(page)), "copybook", direct)

    def _use(self, document: DocumentLink, kind: str, used: Sequence[Json]) -> None:
        for one in used:
            if one["path"]:
                self._users.setdefault(one["path"], []).append(CopyUser(document, kind, one))

    def is_here(self, name: str) -> bool:
        """Return whether a program of that name has a page."""
        return name.upper() in self._pages

    def is_in_cl(self, name: str) -> bool:
        """Return whether a program of that name is here, but in CL: it has no page."""
        return name.upper() in self._in_cl

    def _page(self, name: str, file: str) -> str | None:
        """Return the page of a program that a file names."""
        called = name.upper()
        if called not in self._nearest:
            pages, meant = self._pages.get(called, ()), self._called.called(called)
            both = frozenset(meant).intersection(pages)
            found = [page for page in pages if page in both] or pages or meant
            self._nearest[called] = Nearest((self._paths[page], page) for page in found)
        return self._nearest[called].to(file)

    def called_page(self, name: str, caller: Json) -> str | None:
        """Return the page of what a program means by a name; a contained program is visible in few places.

        Args:
            name: The name that is called.
            caller: The header of the program that calls.
        """
        return next(iter(self._called.called(name.upper(), _place(caller))), None)

    def piece(self, name: str, file: str = "") -> Piece:
        """Return the name of a program, as a link if it has a page; `file` is the one that names it."""
        page = self._page(name, file)
        return CodeSpan(name) if page is None else DocumentLink(name, program_path(page))

    def piece_of(self, page: str) -> Piece:
        """Return the name of a program by the id of its page, as a link; what is not an id is a name, and stays one."""
        return self._link(page) if page in self._names else CodeSpan(page)

    def name_of_page(self, page: str) -> str:
        """Return the name of a program by the id of its page, told apart from others of that name."""
        return self._names[page]

    def _link(self, page: str) -> DocumentLink:
        return DocumentLink(self._names[page], program_path(page))

    def file(self, path: str | None, shown: str, line: int | None = None) -> Piece:
        """Return the text for a file, as a link if it has a page.

        Args:
            path: The file; None if it was not found.
            shown: The words of the link.
            line: A line of the file, 1-based: if a data item begins there, the link leads to its row.
        """
        page = self._files.get(path or "")
        if page is None:
            return CodeSpan(shown)
        is_item = line in self._items.get(path or "", ())
        return DocumentLink(shown, page, item_anchor(line) if line is not None and is_item else "")

    def paragraph(self, paths: Iterable[str | None], name: str) -> Piece:
        """Return the name of a paragraph, as a link if one of those copybooks has it; the first that does is meant."""
        for path in paths:
            line = self._paragraphs.get(path or "", {}).get(name.upper())
            if path and line is not None:
                return ParagraphLink(name, line, self._files[path])
        return CodeSpan(name)

    def users(self, path: str) -> Sequence[CopyUser]:
        """Return who copies a file: programs, including those that copy it through another copybook, then copybooks."""
        return self._users.get(path, ())

    def own(self, page: str) -> GraphNode:
        """Return the box of the program that a page is about."""
        return GraphNode(f"program {page}", self._names[page], "program", page=page)

    def program(self, name: str, file: str = "") -> GraphNode:
        """Return the box of the program with that name, here or outside; `file` is the one that names it."""
        page = self._page(name, file)
        return self._without_page(name) if page is None else self.own(page)

    def called(self, call: Json, caller: Json) -> GraphNode:
        """Return the box of the target of a program's call: a program, or a transaction for START and RETURN TRANSID; `caller` is
        the program's header.
        """
        name = call["program_name"]
        if call["call_type"] in TO_TRANSACTION:
            return self.entrance("transaction", name)
        page = self.called_page(name, caller)
        return self._without_page(name) if page is None else self.own(page)

    def may_call(self, caller: GraphNode, called: GraphNode) -> bool:
        """Return whether each call from one program to another may lead elsewhere."""
        return self._may_call.get((caller.page, called.page), False)

    def _without_page(self, name: str) -> GraphNode:
        return GraphNode(f"outside {name.upper()}", name, "program" if self.is_in_cl(name) else "outside")

    def entrance(self, kind: str, name: str) -> GraphNode:
        """Return the box of a job or a transaction; `kind` says which, and tells apart two of the same name."""
        return GraphNode(f"{kind} {name.upper()}", name, "job" if kind == "job" else "transaction")


def _place(header: Json) -> ProgramPlace:
    """Return where the program of a header is."""
    around = tuple(name.upper() for name in header.get("within") or ())
    return ProgramPlace(
        header["file_name"], (header["program_id"] or "").upper(), around, bool(header.get("is_common"))
    )


def _has_external_name(document: Json) -> bool:
    """Return whether AS gives a program another name: the line of that entry point is before those of all paragraphs."""
    code = min((one["start_line"] for one in document["paragraphs"]), default=math.inf)
    return any(entry["line"] < code for entry in document["calling_context"]["entry_points"])


def name_of(document: Json) -> str:
    """Return the name of a program, or else the name of its file: copybooks have no other name."""
    header = document["header"]
    return str(header["program_id"] or stem(header["file_name"]))


def told_apart(documents: Mapping[str, Json]) -> dict[str, str]:
    """Return what each page is called: its name, and after an @, if several have that, the folders in which their files differ.

    Boxes of the estate's diagrams are called the same (`static/graph.js`).
    """
    names: dict[str, str] = {}
    files: dict[str, str] = {}
    alike: dict[str, list[str]] = {}
    for page, document in documents.items():
        names[page], files[page] = name_of(document), document["header"]["file_name"]
        alike.setdefault(key(names[page]), []).append(page)
    for pages in alike.values():
        paths = [files[page].split("/") for page in pages]
        if len(set(map(tuple, paths))) > 1:
            most = min(map(len, paths)) - 1
            first = next((at for at in range(most) if _differ(paths, at)), most)
            last = next((at for at in range(most - first) if _differ(paths, -1 - at)), most - first)
            for page, path in zip(pages, paths, strict=True):
                names[page] += f"@{'/'.join(path[first : len(path) - last])}"
    return names


def _differ(paths: Iterable[Sequence[str]], at: int) -> bool:
    """Return whether paths have different parts at a place."""
    return len({path[at] for path in paths}) > 1


def program_path(page: str) -> str:
    """Return the path of a program's page, without suffix: HTML, Markdown and JSON are next to each other."""
    return f"programs/{page}"


def names_of(estate: EstateView) -> NameIndex:
    """Return what names mean in an estate."""
    in_cl = (program["name"] for program in estate["control_programs"])
    return NameIndex(estate["programs"], estate["layouts"], in_cl)


def copybook_path(page: str) -> str:
    """Return the path of a copybook's page, without suffix."""
    return f"copybooks/{page}"


def data_path(at: int) -> str:
    """Return the path of a page of the data dictionary, without suffix; they are counted from 0."""
    return "data" if at == 0 else f"data-{at + 1}"


PARTS_PATH = "parts"
"""The path of the page with everything that has no page of its own: jobs, programs in CL, maps."""


def line_of_item(item: Json) -> int | None:
    """Return the line of a data item in its own file; None for a copied one, whose line is that of the COPY."""
    return None if item["copybook"] or not item["citations"] else item["citations"][0]["first_line"]


def paragraph_anchor(line: int) -> str:
    """Return the anchor of the paragraph that begins on a line: lines are unique, names are not."""
    return f"p{line}"


def may_lead_elsewhere(call: Json) -> bool:
    """Return whether a call may lead elsewhere: its target is data, or a transaction that starts later."""
    return call["call_type"] in {"dynamic", *TO_TRANSACTION} or bool(call["resolved_from"])


def item_anchor(line: int) -> str:
    """Return the anchor of the data item that begins on a line."""
    return f"d{line}"


TO_TRANSACTION = frozenset({"start", "return_transid"})
"""The kinds of call whose target is the name of a transaction, which some program serves later."""

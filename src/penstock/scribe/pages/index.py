"""What do the pages of a whole estate say? Its programs and how they are entered, what they share, and what is missing.

The same tables make the index as JSON, so that people and scripts read the same.
Law: every program, job, map, copybook and table of the estate is listed once. Leaves to others: Markdown and HTML (`markdown`,
`html`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from penstock.scribe.pages import graphs
from penstock.scribe.pages.blocks import BELOW, CodeSpan, DocumentLink, FactBlock, PageSection, Tag, TextBlock, joined
from penstock.scribe.pages.columns import DEEDS, code, codes, listed, plain, table
from penstock.scribe.pages.estate import name_of, program_path
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from penstock.scribe.pages.blocks import Block, Cell, Piece
    from penstock.scribe.pages.columns import Column
    from penstock.scribe.pages.estate import DbTableView, DdView, EstateView, JobView, NameIndex, StepView
    from penstock.text.json_access import Json

_OF_HEADER = ("program_id", "file_name", "program_type", "lines", "final_status")


def overview(estate: EstateView, names: NameIndex) -> Iterator[PageSection]:
    """Yield what a first look needs: how much there is, who calls whom, how it is entered, what is missing.

    Args:
        estate: The programs and what surrounds them.
        names: What names link to.
    """
    yield PageSection("At a glance", (_glance(estate),))
    if (calls := graphs.estate_calls(estate, names)) is not None:
        yield PageSection("Who calls whom", (calls,))
    yield PageSection("Programs", tuple(_programs(estate)))
    entered = _entrances(estate, names)
    missing = table(
        estate["missing"], {"Name": code("name"), "Kind": plain("kind"), "Named by": _users("named_by", names)}
    )
    yield from _section("How it is entered", entered)
    yield from _section("Not here", missing)


def shared(estate: EstateView, names: NameIndex) -> Iterator[PageSection]:
    """Yield what programs work on together: resources, the data sets behind files, and tables of databases."""
    resource: dict[str, Column] = {"Resource": code("resource"), "Kind": plain("kind")}
    resource |= {deed.capitalize(): _users(deed, names) for deed in DEEDS}
    data_set: dict[str, Column] = {
        "Data set": code("dataset"),
        "Program": lambda one: (names.piece_of(one["program"]),) if one["program"] else (),
        "File": code("file"),
        "DD": code("dd"),
        "Job and step": lambda one: (
            (CodeSpan(one["job"]), " ", CodeSpan(one["step"])) if one["job"] is not None else (Tag("file of CICS"),)
        ),
    }
    db_table: dict[str, Column] = {
        "Table": code("name"),
        "Defined in": lambda one: _definition(one, names),
        "Columns": codes("columns"),
        "Used by": _users("used_by", names),
    }
    crud = table(estate["crud"], resource, keeps_empty=True)
    yield from _section("What is created, read, updated and deleted", crud)
    yield from _section("Data sets", table(sorted(estate["data_sets"], key=lambda one: one["dataset"]), data_set))
    yield from _section("Tables", table(estate["tables"], db_table))


def around(estate: EstateView, names: NameIndex) -> Iterator[PageSection]:
    """Yield what surrounds the programs: jobs with their steps, programs in CL, maps, and copybooks."""
    control: dict[str, Column] = {
        "Program": code("name"),
        "Calls": lambda one: _below(
            (
                names.piece(call["program"], one["path"]),
                f" line {call['line']}" + ("" if call["is_sure"] else ", perhaps"),
            )
            for call in one["calls"]
        ),
        "Copies": lambda one: _below(
            (CodeSpan(f"{copy['source']} to {copy['target']}"), f" line {copy['line']}") for copy in one["copies"]
        ),
        "Variables": codes("variables"),
        "Where": lambda one: (CodeSpan(one["path"]), f" line {one['line']}"),
    }
    mapset: dict[str, Column] = {
        "Mapset": code("name"),
        "Maps": codes("maps"),
        "File": lambda one: _path(one["path"]),
        "Used by": _users("used_by", names),
    }
    used_by = _users("used_by", names)
    copybook: dict[str, Column] = {
        "Copybook": lambda one: (names.file(one["path"], one["name"]),),
        "File": lambda one: _path(one["path"], is_system=one["system"]),
        "Used by": lambda one: used_by(one) or ("nothing here",),
    }
    yield from _section("Jobs", _jobs(estate["jobs"], names))
    yield from _section("Programs in CL", table(estate["control_programs"], control))
    yield from _section("Maps", table(estate["maps"], mapset))
    yield from _section("Copybooks", table(estate["copybooks"], copybook))


def _copybooks_of(term: Json, names: NameIndex) -> Cell:
    """Return the copybooks that declare a name as links; files of one name differ by paths, declarations in a file by lines."""
    declared = Counter((one["copybook"], one["path"]) for one in term["copybooks"])
    files = Counter(name for name, _ in declared)

    def link(one: Json) -> Piece:
        name, path, line = one["copybook"], one["path"], one["line"]
        shown = path if path and files[name] > 1 else name
        return names.file(path, f"{shown}:{line}" if declared[name, path] > 1 else shown, line)

    return joined(map(link, term["copybooks"]))


def dictionary(terms: Sequence[Json], names: NameIndex) -> list[Block]:
    """Return a table of data names, each with all its declarations; the search links to its rows."""
    numbered = [{**term, "number": number} for number, term in enumerate(terms)]
    return table(
        numbered,
        {
            "Name": code("name"),
            "Declared": codes("declared"),
            "Bytes": listed("bytes"),
            "Copybooks": lambda term: _copybooks_of(term, names),
            "Programs": _users("programs", names),
            "Values": lambda term: joined(map(CodeSpan, term["conditions"]), BELOW),
        },
        numbers=("Bytes",),
        anchor=lambda term: f"n{term['number']}",
    )


# One at a time, on demand: a caller that only asks whether there is any section does not wait for all.
def _section(title: str, blocks: Sequence[Block]) -> Iterator[PageSection]:
    if blocks:
        yield PageSection(title, tuple(blocks))


# ── the values of the index ──────────────────────────────────────────────────────────────────────────────────────


def as_json(estate: EstateView, names: NameIndex) -> dict[str, Json]:
    """Return the index as one object: the headers of programs, what surrounds them, and the tables of the pages.

    Users' scripts read it (`index.json`): its keys are a contract, and what a page no longer shows stays here. The diagram of calls
    is Mermaid source, folded as on the page.
    """
    return {
        "name": estate["name"],
        "programs": [
            {
                "id": page,
                **{name: document["header"][name] for name in _OF_HEADER},
                "summary": document["purpose"]["summary"] if document["purpose"] else None,
                "called_programs": sorted({call["program_name"] for call in document["called_programs"]}),
                "copybooks_not_found": document["copybooks_not_found"],
                "dead_paragraphs": len(document["dead_code"]),
                "not_understood": document["complexity"]["not_understood"],
                "confidence": document["confidence"]["overall"],
            }
            for page, document in estate["programs"].items()
        ],
        "jobs": list(estate["jobs"]),
        "control_programs": list(estate["control_programs"]),
        "transactions": list(estate["transactions"]),
        "maps": list(estate["maps"]),
        "copybooks": list(estate["copybooks"]),
        "tables": list(estate["tables"]),
        "crud": list(estate["crud"]),
        "data_dictionary": list(estate["terms"]),
        "data_sets": list(estate["data_sets"]),
        "missing": list(estate["missing"]),
        "call_graph": graphs.mermaid(graphs.folded(calls.graph)[0])
        if (calls := graphs.estate_calls(estate, names))
        else None,
    }


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _users(field: str, names: NameIndex) -> Callable[[Json], Cell]:
    """Return the column that shows a field's program ids as links."""
    return lambda one: joined(map(names.piece_of, one[field]))


def _definition(one: DbTableView, names: NameIndex) -> Cell:
    """Return where a table is defined, with the name that it may have there."""
    if one["path"] is None:
        return _path(None)
    cell: Cell = (names.file(one["path"], one["path"]),)
    return (*cell, ", perhaps, as ", CodeSpan(one["defined_as"])) if one["defined_as"] else cell


def _path(path: str | None, *, is_system: bool = False) -> Cell:
    """Return the path of a file, or why there is none: nobody ships what belongs to CICS or DB2, and the rest is missing."""
    if path:
        return (CodeSpan(path),)
    return (Tag("of the system"),) if is_system else (Tag("not here", "doubt"),)


def _glance(estate: EstateView) -> Block:
    """Return how much there is: programs by type, lines, what surrounds them, and how many a model described."""
    # In one pass: each access to a document unpacks it.
    told = [
        (document["header"], document["purpose"], document["complexity"]["not_understood"])
        for document in estate["programs"].values()
    ]
    headers = [header for header, _, _ in told]
    kinds = Counter(header["program_type"] for header in headers)
    said: Cell = (", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items())),) if kinds else ("none",)
    jobs = [job for job in estate["jobs"] if job["kind"] == "job"]
    lines, code_lines = (sum(header[name] for header in headers) for name in ("lines", "code_lines"))
    # Zero counts are shown too: "0 jobs" says that jobs were looked for.
    beside = (
        counted(len(jobs), "job"),
        counted(len(estate["transactions"]), "transaction"),
        *(
            [counted(len(estate["control_programs"]), "program in CL", "programs in CL")]
            if estate["control_programs"]
            else []
        ),
        counted(len(estate["maps"]), "mapset"),
        counted(len(estate["layouts"]), "copybook"),
        counted(sum(one["defined_as"] is None for one in estate["tables"]), "table"),
    )
    unknown = [size for _, _, size in told if size]
    said_of_unknown = counted(sum(unknown), "statement") + (
        f" in {counted(len(unknown), 'program')}" if unknown else ""
    )
    described = sum(1 for _, purpose, _ in told if purpose is not None)
    return FactBlock(
        (
            ("Programs", (f"{len(headers)}: ", *said)),
            ("Lines", (f"{lines}, {code_lines} of them code",)),
            ("Not understood", (said_of_unknown,)),
            ("Around them", (", ".join(beside),)),
            ("Described in words", (f"{described} of {len(headers)}" + ("" if described else ": no model was asked"),)),
        )
    )


def _entrances(estate: EstateView, names: NameIndex) -> list[Block]:
    """Return how an estate is entered: transactions with the programs that they start, and jobs with everything that they run.

    Procedures run nothing by themselves, and a job that runs only programs of the system is not an entry.
    """

    def started(one: Json) -> Cell:
        program = one["program"]
        if not program:
            return ()
        if names.is_here(program):
            return (names.piece(program),)
        return (CodeSpan(program), " ", Tag("in CL") if names.is_in_cl(program) else Tag("not here", "doubt"))

    # Both kinds become rows of one shape, with the cell of what they run made here: only a transaction may lead nowhere.
    rows: list[Json] = [{**one, "kind": "transaction", "runs": started(one)} for one in estate["transactions"]]
    rows += (
        {**job, "runs": joined(names.piece_of(page) for page in job["runs"])}
        for job in estate["jobs"]
        if job["kind"] == "job" and job["runs"]
    )
    return table(
        rows, {"Name": code("name"), "Kind": plain("kind"), "Runs": lambda one: one["runs"], "File": code("path")}
    )


def _programs(estate: EstateView) -> Iterator[Block]:
    """Yield the table of programs: the size of each, its purpose according to a model, and what a maintainer should know first."""
    if not estate["programs"]:
        yield TextBlock(("There is no program.",))
        return

    def marks(row: _ProgramRow) -> Cell:
        made: list[Piece] = []
        if row.missing:
            made.append(Tag(f"{counted(row.missing, 'copybook')} missing", "doubt"))
        if row.dead:
            made.append(Tag(f"{counted(row.dead, 'dead paragraph')}", "bad"))
        if row.not_understood:
            made.append(Tag(f"{counted(row.not_understood, 'statement')} not understood", "doubt"))
        return joined(made, " ")

    yield from table(
        # One row at a time: all documents at once would take too much memory.
        [_ProgramRow.of(page, document) for page, document in estate["programs"].items()],
        {
            "Program": lambda row: (DocumentLink(row.name, program_path(row.page)),),
            "Type": lambda row: (row.type,),
            "File": lambda row: (CodeSpan(row.file),),
            "Lines": lambda row: (str(row.lines),),
            "Paragraphs": lambda row: (str(row.paragraphs),),
            "Complexity": lambda row: (str(row.complexity),),
            "Purpose": lambda row: (row.purpose,) if row.purpose else (),
            "Notes": marks,
        },
        numbers=("Lines", "Paragraphs", "Complexity"),
    )


class _ProgramRow(NamedTuple):
    """A row in the table of programs: the counts are of its paragraphs, missing copybooks, dead paragraphs and statements that were
    not understood.
    """

    page: str
    name: str
    type: str
    file: str
    lines: int
    paragraphs: int
    complexity: int
    purpose: str | None
    missing: int
    dead: int
    not_understood: int

    @classmethod
    def of(cls, page: str, document: Json) -> _ProgramRow:
        header = document["header"]
        return cls(
            page,
            name_of(document),
            header["program_type"],
            header["file_name"],
            header["lines"],
            len(document["paragraphs"]),
            document["complexity"]["cyclomatic"],
            document["purpose"] and document["purpose"]["summary"],
            len(document["copybooks_not_found"]),
            len(document["dead_code"]),
            document["complexity"]["not_understood"],
        )


def _jobs(jobs: Sequence[JobView], names: NameIndex) -> list[Block]:
    """Return the table of jobs and procedures, a row for each step."""
    procedure: Cell = (" ", Tag("procedure"))
    return table(
        [(job, step) for job in jobs for step in job["steps"]],
        {
            "Job": lambda at: (CodeSpan(at[0]["name"]), *(procedure if at[0]["kind"] == "procedure" else ())),
            "Step": lambda at: (CodeSpan(at[1]["name"]),),
            "Runs": lambda at: _runs(at[1], at[0]["path"], names),
            "DD names": lambda at: joined((CodeSpan(_dd(dd)) for dd in at[1]["dds"]), BELOW),
            "Where": lambda at: (CodeSpan(at[0]["path"]), f" line {at[1]['line']}"),
        },
    )


def _below(cells: Iterable[Cell]) -> Cell:
    """Return several cells as one, each on a line of its own."""
    return tuple(piece for cell in cells for piece in (BELOW, *cell))[1:]


def _dd(dd: DdView) -> str:
    """Return a DD statement as one line: its name, and the data sets behind it if there are any."""
    return f"{dd['name']} = {', '.join(dd['datasets'])}" if dd["datasets"] else dd["name"]


def _runs(step: StepView, path: str, names: NameIndex) -> Cell:
    """Return what a step of the job in a file runs: programs, a procedure, or programs that the system's procedure runs for it."""
    program = joined(names.piece(name, path) for name in step["programs"])
    procedure: Cell = (
        (*((" by ",) if program else ()), CodeSpan(step["procedure"]), " ", Tag("procedure"))
        if step["procedure"]
        else ()
    )
    return (*program, *procedure)

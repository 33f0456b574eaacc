"""What does an estate say as a whole? Its programs and how they are entered, what they share, and what is not here.

Law: every program, job, map, copybook and table of the estate is listed once. Keeps out: Markdown and HTML (`markdown`, `html`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.program import key
from penstock.scribe.pages import graphs
from penstock.scribe.pages.blocks import (
    BELOW,
    CodeSpan,
    FactBlock,
    PageSection,
    TableBlock,
    TableRow,
    Tag,
    TextBlock,
    count,
    joined,
)
from penstock.scribe.pages.program import DEEDS, condition, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.scribe.pages.blocks import Block, Cell, Piece
    from penstock.scribe.pages.estate import DataSetView, DdView, EstateView, JobView, NameIndex, StepView
    from penstock.text.json_access import Json

_OF_HEADER = ("program_id", "file_name", "program_type", "lines", "final_status")


class ItemOrigin(NamedTuple):
    """The line of a copybook that declares a name; without a path where the copybook is not here."""

    copybook: str
    path: str | None
    line: int | None


class DictionaryTerm(NamedTuple):
    """A name of the data dictionary: how it is declared, and by whom."""

    name: str
    declared: tuple[str, ...]
    bytes: tuple[int, ...]
    conditions: tuple[str, ...]
    copybooks: tuple[ItemOrigin, ...]
    programs: tuple[str, ...]


class _Found(NamedTuple):
    """A term while it is collected: the same fields, each value once."""

    name: str
    declared: dict[str, None]
    bytes: dict[int, None]
    conditions: dict[str, None]
    copybooks: dict[ItemOrigin, None]
    programs: dict[str, None]


class ResourceUse(NamedTuple):
    """A file, table, segment or queue: the programs that do each of `DEEDS` with it."""

    name: str
    kind: str
    programs: tuple[tuple[str, ...], ...]


def overview(estate: EstateView, names: NameIndex) -> Iterator[PageSection]:
    """What a first look needs: how much there is, how it is entered, who calls whom, what is missing."""
    yield PageSection("At a glance", (_glance(estate),))
    if (picture := graphs.estate_calls(estate, names)) is not None:
        yield PageSection("Who calls whom", (picture,))
    yield PageSection("Programs", tuple(_programs(estate, names)))
    if found := _entrances(estate, names):
        yield PageSection("How it is entered", tuple(found))
    if estate["missing"]:
        rows = tuple(
            TableRow(((CodeSpan(one["name"]),), (one["kind"],), _users(one["named_by"], names)))
            for one in estate["missing"]
        )
        yield PageSection("Not here", (TableBlock(("Name", "Kind", "Named by"), rows),))


def shared(estate: EstateView, names: NameIndex) -> Iterator[PageSection]:
    """What programs work on together."""
    rows = tuple(
        TableRow(
            (
                (CodeSpan(resource.name),),
                (resource.kind,),
                *(_users(programs, names) for programs in resource.programs),
            )
        )
        for resource in resources(estate)
    )
    if rows:
        yield PageSection(
            "What is created, read, updated and deleted",
            (TableBlock(("Resource", "Kind", *map(str.capitalize, DEEDS)), rows),),
        )
    if estate["data_sets"]:
        yield PageSection("Data sets", (_data_sets(estate["data_sets"], names),))
    if estate["tables"]:
        rows = tuple(
            TableRow(
                (
                    (CodeSpan(one["name"]),),
                    (names.file(one["path"], one["path"]),) if one["path"] else _path(None),
                    _codes(one["columns"]),
                    _users(one["used_by"], names),
                )
            )
            for one in estate["tables"]
        )
        yield PageSection("Tables", (TableBlock(("Table", "Defined in", "Columns", "Used by"), rows),))


def around(estate: EstateView, names: NameIndex) -> Iterator[PageSection]:
    """What lies beside the programs."""
    if estate["jobs"]:
        yield PageSection("Jobs", (_jobs(estate["jobs"], names),))
    if estate["maps"]:
        rows = tuple(
            TableRow(((CodeSpan(one["name"]),), _codes(one["maps"]), _path(one["path"]), _users(one["used_by"], names)))
            for one in estate["maps"]
        )
        yield PageSection("Maps", (TableBlock(("Mapset", "Maps", "File", "Used by"), rows),))
    if estate["copybooks"]:
        rows = tuple(
            TableRow(
                (
                    (names.file(one["path"], one["name"]),),
                    _where(one["path"], system=one["system"]),
                    _users(one["used_by"], names) or ("nothing here",),
                )
            )
            for one in estate["copybooks"]
        )
        yield PageSection("Copybooks", (TableBlock(("Copybook", "File", "Used by"), rows),))


def dictionary(terms: Sequence[DictionaryTerm], names: NameIndex) -> list[Block]:
    """Names of data, each with all its declarations."""
    return table(
        list(enumerate(terms)),
        {
            "Name": lambda term: (CodeSpan(term[1].name),),
            "Declared": lambda term: _codes(term[1].declared),
            "Bytes": lambda term: (", ".join(map(str, term[1].bytes)),) if term[1].bytes else (),
            "Copybooks": lambda term: joined(names.file(one.path, one.copybook, one.line) for one in term[1].copybooks),
            "Programs": lambda term: _users(term[1].programs, names),
            "Values": lambda term: joined(map(CodeSpan, term[1].conditions), BELOW),
        },
        numbers=("Bytes",),
        anchor=lambda term: f"n{term[0]}",
    )


# ── the values of the index ──────────────────────────────────────────────────────────────────────────────────────


def resources(estate: EstateView) -> list[ResourceUse]:
    """The CRUD matrix of the estate, by kind and name."""
    found: dict[tuple[str, str], list[dict[str, None]]] = {}
    for page, document in estate["programs"].items():
        for item in document["crud"]:
            deeds = found.setdefault((item["kind"] or "", item["resource"]), [{} for _ in DEEDS])
            for deed, programs in zip(DEEDS, deeds, strict=True):
                if item[deed]:
                    programs[page] = None
    return [ResourceUse(name, kind, tuple(map(tuple, deeds))) for (kind, name), deeds in sorted(found.items())]


def terms(estate: EstateView) -> list[DictionaryTerm]:
    """The data dictionary: every name but FILLER, by name."""
    found: dict[str, _Found] = {}
    for page, document in estate["programs"].items():
        paths = {key(used["copybook_name"]): used["path"] for used in document["copybooks_used"]}
        for item in document["data_items"]:
            name = item["name"]
            if name.upper() == "FILLER":
                continue
            term = found.setdefault(name.upper(), _Found(name, {}, {}, {}, {}, {}))
            if said := " ".join(filter(None, (item["picture"], item["usage"] if item["usage"] != "DISPLAY" else None))):
                term.declared[said] = None
            if item["bytes"] is not None:
                term.bytes[item["bytes"]] = None
            term.conditions.update(dict.fromkeys(map(condition, item["conditions"])))
            if copybook := item["copybook"]:
                term.copybooks[ItemOrigin(copybook, paths.get(key(copybook)), item["copybook_line"])] = None
            term.programs[page] = None
    return [
        DictionaryTerm(
            term.name,
            tuple(term.declared),
            tuple(term.bytes),
            tuple(term.conditions),
            tuple(term.copybooks),
            tuple(term.programs),
        )
        for _, term in sorted(found.items())
    ]


def as_json(estate: EstateView, names: NameIndex) -> dict[str, Json]:
    """The index as one object."""
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
                "confidence": document["confidence"]["overall"],
            }
            for page, document in estate["programs"].items()
        ],
        "jobs": list(estate["jobs"]),
        "transactions": list(estate["transactions"]),
        "maps": list(estate["maps"]),
        "copybooks": list(estate["copybooks"]),
        "tables": list(estate["tables"]),
        "crud": [
            {
                "resource": one.name,
                "kind": one.kind,
                **{deed: list(who) for deed, who in zip(DEEDS, one.programs, strict=True)},
            }
            for one in resources(estate)
        ],
        "data_dictionary": [
            {**term._asdict(), "copybooks": [one._asdict() for one in term.copybooks]} for term in terms(estate)
        ],
        "data_sets": list(estate["data_sets"]),
        "missing": list(estate["missing"]),
        "call_graph": graphs.mermaid(picture.graph) if (picture := graphs.estate_calls(estate, names)) else None,
    }


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _codes(texts: Sequence[str]) -> Cell:
    return joined(map(CodeSpan, texts))


def _users(pages: Sequence[str], names: NameIndex) -> Cell:
    return joined(map(names.piece_of, pages))


def _path(path: str | None) -> Cell:
    return (CodeSpan(path),) if path else (Tag("not here", "doubt"),)


def _where(path: str | None, *, system: bool) -> Cell:
    return (Tag("of the system"),) if path is None and system else _path(path)


def _glance(estate: EstateView) -> Block:
    headers = [document["header"] for document in estate["programs"].values()]
    kinds: dict[str, int] = {}
    for header in headers:
        kinds[header["program_type"]] = kinds.get(header["program_type"], 0) + 1
    said: Cell = (", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items())),) if kinds else ("none",)
    jobs = [job for job in estate["jobs"] if job["kind"] == "job"]
    lines, code_lines = (sum(header[name] for header in headers) for name in ("lines", "code_lines"))
    beside = (
        count(len(jobs), "job"),
        count(len(estate["transactions"]), "transaction"),
        count(len(estate["maps"]), "mapset"),
        count(len(estate["layouts"]), "copybook"),
        count(len(estate["tables"]), "table"),
    )
    described = sum(1 for document in estate["programs"].values() if document["purpose"] is not None)
    return FactBlock(
        (
            ("Programs", (f"{len(headers)}: ", *said)),
            ("Lines", (f"{lines}, {code_lines} of them code",)),
            ("Around them", (", ".join(beside),)),
            ("Described in words", (f"{described} of {len(headers)}" + ("" if described else ": no model was asked"),)),
        )
    )


def _entrances(estate: EstateView, names: NameIndex) -> list[Block]:
    rows: list[TableRow] = []
    for one in estate["transactions"]:
        started: Cell = (names.piece(one["program"]),) if one["program"] else ()
        if one["program"] and not names.is_here(one["program"]):
            started = (*started, " ", Tag("not here", "doubt"))
        rows.append(TableRow(((CodeSpan(one["name"]),), ("transaction",), started, (CodeSpan(one["path"]),))))
    rows += (
        TableRow(((CodeSpan(job["name"]),), ("job",), joined(map(names.piece, job["runs"])), (CodeSpan(job["path"]),)))
        for job in estate["jobs"]
        if job["kind"] == "job" and job["runs"]
    )
    return [TableBlock(("Name", "Kind", "Runs", "File"), tuple(rows))] if rows else []


def _programs(estate: EstateView, names: NameIndex) -> Iterator[Block]:
    if not estate["programs"]:
        yield TextBlock(("There is no program.",))
        return

    def marks(document: Json) -> Cell:
        made: list[Piece] = []
        if absent := len(document["copybooks_not_found"]):
            made.append(Tag(f"{count(absent, 'copybook')} missing", "doubt"))
        if dead := len(document["dead_code"]):
            made.append(Tag(f"{count(dead, 'dead paragraph')}", "bad"))
        return joined(made, " ")

    def purpose(document: Json) -> Cell:
        summary = document["purpose"] and document["purpose"]["summary"]
        return (summary,) if summary else ()

    yield from table(
        list(estate["programs"].items()),
        {
            "Program": lambda one: (names.piece_of(one[0]),),
            "Type": lambda one: (one[1]["header"]["program_type"],),
            "File": lambda one: (CodeSpan(one[1]["header"]["file_name"]),),
            "Lines": lambda one: (str(one[1]["header"]["lines"]),),
            "Paragraphs": lambda one: (str(len(one[1]["paragraphs"])),),
            "Complexity": lambda one: (str(one[1]["complexity"]["cyclomatic"]),),
            "Purpose": lambda one: purpose(one[1]),
            "Notes": lambda one: marks(one[1]),
        },
        numbers=("Lines", "Paragraphs", "Complexity"),
    )


def _jobs(jobs: Sequence[JobView], names: NameIndex) -> TableBlock:
    rows = [
        TableRow(
            (
                (CodeSpan(job["name"]), *((" ", Tag("procedure")) if job["kind"] == "procedure" else ())),
                (CodeSpan(step["name"]),),
                _runs(step, names),
                joined((CodeSpan(_dd(dd)) for dd in step["dds"]), BELOW),
                (CodeSpan(job["path"]), f" line {step['line']}"),
            )
        )
        for job in jobs
        for step in job["steps"]
    ]
    return TableBlock(("Job", "Step", "Runs", "DD names", "Where"), tuple(rows))


def _dd(dd: DdView) -> str:
    return f"{dd['name']} = {', '.join(dd['datasets'])}" if dd["datasets"] else dd["name"]


def _data_sets(found: Sequence[DataSetView], names: NameIndex) -> TableBlock:
    rows = tuple(
        TableRow(
            (
                (CodeSpan(one["dataset"]),),
                (names.piece_of(one["program"]),),
                (CodeSpan(one["file"]),),
                (CodeSpan(one["dd"]),),
                (CodeSpan(one["job"]), " ", CodeSpan(one["step"])),
            )
        )
        for one in sorted(found, key=lambda one: one["dataset"])
    )
    return TableBlock(("Data set", "Program", "File", "DD", "Job and step"), rows)


def _runs(step: StepView, names: NameIndex) -> Cell:
    program = joined(map(names.piece, step["programs"]))
    procedure: Cell = (
        (*((" by ",) if program else ()), CodeSpan(step["procedure"]), " ", Tag("procedure"))
        if step["procedure"]
        else ()
    )
    return (*program, *procedure)

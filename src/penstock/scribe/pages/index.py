"""What does an estate say as a whole? Its programs and how they are entered, what they share, and what is not here.

Law: every program, job, map, copybook and table of the estate is listed once. Keeps out: Markdown and HTML (`markdown`, `html`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.scribe.pages import graphs
from penstock.scribe.pages.blocks import (
    Code,
    Row,
    Section,
    Table,
    Tag,
    Terms,
    Words,
    count,
    joined,
)
from penstock.scribe.pages.program import DEEDS, condition

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.scribe.pages.blocks import Block, Cell, Piece
    from penstock.scribe.pages.estate import DataSet, Estate, Job, Names, Step
    from penstock.transcript.shapes import Json

_OF_HEADER = ("program_id", "file_name", "program_type", "lines", "final_status")


class Term(NamedTuple):
    """A name of the data dictionary: how it is declared, and by whom."""

    name: str
    declared: tuple[str, ...]
    bytes: tuple[int, ...]
    conditions: tuple[str, ...]
    programs: tuple[str, ...]


class Resource(NamedTuple):
    """A file, table, segment or queue: the programs that do each of `DEEDS` with it."""

    name: str
    kind: str
    programs: tuple[tuple[str, ...], ...]


def overview(estate: Estate, names: Names) -> Iterator[Section]:
    """What a first look needs: how much there is, how it is entered, who calls whom, what is missing."""
    yield Section("At a glance", (_glance(estate),))
    if (picture := graphs.estate_calls(estate, names)) is not None:
        yield Section("Who calls whom", (picture,))
    if found := _entrances(estate, names):
        yield Section("How it is entered", tuple(found))
    yield Section("Programs", tuple(_programs(estate, names)))
    if estate["missing"]:
        rows = tuple(
            Row(((Code(one["name"]),), (one["kind"],), _users(one["named_by"], names))) for one in estate["missing"]
        )
        yield Section("Not here", (Table(("Name", "Kind", "Named by"), rows),))


def shared(estate: Estate, names: Names) -> Iterator[Section]:
    """What programs work on together."""
    rows = tuple(
        Row(
            (
                (Code(resource.name),),
                (resource.kind,),
                *(_users(programs, names) for programs in resource.programs),
            )
        )
        for resource in resources(estate)
    )
    if rows:
        yield Section(
            "What is created, read, updated and deleted",
            (Table(("Resource", "Kind", *map(str.capitalize, DEEDS)), rows),),
        )
    if estate["data_sets"]:
        yield Section("Data sets", (_data_sets(estate["data_sets"], names),))
    if estate["tables"]:
        rows = tuple(
            Row(((Code(one["name"]),), _path(one["path"]), _codes(one["columns"]), _users(one["used_by"], names)))
            for one in estate["tables"]
        )
        yield Section("Tables", (Table(("Table", "Defined in", "Columns", "Used by"), rows),))


def around(estate: Estate, names: Names) -> Iterator[Section]:
    """What lies beside the programs."""
    if estate["jobs"]:
        yield Section("Jobs", (_jobs(estate["jobs"], names),))
    if estate["maps"]:
        rows = tuple(
            Row(((Code(one["name"]),), _codes(one["maps"]), _path(one["path"]), _users(one["used_by"], names)))
            for one in estate["maps"]
        )
        yield Section("Maps", (Table(("Mapset", "Maps", "File", "Used by"), rows),))
    if estate["copybooks"]:
        rows = tuple(
            Row(((Code(one["name"]),), _where(one["path"], system=one["system"]), _users(one["used_by"], names)))
            for one in estate["copybooks"]
        )
        yield Section("Copybooks", (Table(("Copybook", "File", "Used by"), rows),))


def dictionary(terms: Sequence[Term], names: Names) -> Table:
    """Names of data, each with all its declarations."""
    rows = tuple(
        Row(
            (
                (Code(term.name),),
                _codes(term.declared),
                (", ".join(map(str, term.bytes)),) if term.bytes else (),
                _codes(term.conditions),
                _users(term.programs, names),
            ),
            anchor=f"n{at}",
        )
        for at, term in enumerate(terms)
    )
    return Table(("Name", "Declared", "Bytes", "Values", "Programs"), rows, frozenset({2}))


# ── the values of the index ──────────────────────────────────────────────────────────────────────────────────────


def resources(estate: Estate) -> list[Resource]:
    """The CRUD matrix of the estate, by kind and name."""
    found: dict[tuple[str, str], list[dict[str, None]]] = {}
    for page, document in estate["programs"].items():
        for item in document["crud"]:
            deeds = found.setdefault((item["kind"] or "", item["resource"]), [{} for _ in DEEDS])
            for deed, programs in zip(DEEDS, deeds, strict=True):
                if item[deed]:
                    programs[page] = None
    return [Resource(name, kind, tuple(map(tuple, deeds))) for (kind, name), deeds in sorted(found.items())]


def terms(estate: Estate) -> list[Term]:
    """The data dictionary: every name but FILLER, by name."""
    found: dict[str, tuple[str, dict[str, None], dict[int, None], dict[str, None], dict[str, None]]] = {}
    for page, document in estate["programs"].items():
        for item in document["data_items"]:
            name = item["name"]
            if name.upper() == "FILLER":
                continue
            _, declared, sizes, conditions, programs = found.setdefault(name.upper(), (name, {}, {}, {}, {}))
            if said := " ".join(filter(None, (item["picture"], item["usage"] if item["usage"] != "DISPLAY" else None))):
                declared[said] = None
            if item["bytes"] is not None:
                sizes[item["bytes"]] = None
            conditions |= dict.fromkeys(map(condition, item["conditions"]))
            programs[page] = None
    return [
        Term(name, tuple(declared), tuple(sizes), tuple(conditions), tuple(programs))
        for _, (name, declared, sizes, conditions, programs) in sorted(found.items())
    ]


def as_json(estate: Estate, names: Names) -> dict[str, Json]:
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
        "data_dictionary": [term._asdict() for term in terms(estate)],
        "data_sets": list(estate["data_sets"]),
        "missing": list(estate["missing"]),
        "call_graph": graphs.mermaid(picture.graph) if (picture := graphs.estate_calls(estate, names)) else None,
    }


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _codes(texts: Sequence[str]) -> Cell:
    return joined(map(Code, texts))


def _users(pages: Sequence[str], names: Names) -> Cell:
    return joined(map(names.piece_of, pages))


def _path(path: str | None) -> Cell:
    return (Code(path),) if path else (Tag("not here", "doubt"),)


def _where(path: str | None, *, system: bool) -> Cell:
    return (Tag("of the system"),) if path is None and system else _path(path)


def _glance(estate: Estate) -> Block:
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
        count(len(estate["copybooks"]), "copybook"),
        count(len(estate["tables"]), "table"),
    )
    described = sum(1 for document in estate["programs"].values() if document["purpose"] is not None)
    return Terms(
        (
            ("Programs", (f"{len(headers)}: ", *said)),
            ("Lines", (f"{lines}, {code_lines} of them code",)),
            ("Around them", (", ".join(beside),)),
            ("Described in words", (f"{described} of {len(headers)}" + ("" if described else ": no model was asked"),)),
        )
    )


def _entrances(estate: Estate, names: Names) -> list[Block]:
    rows: list[Row] = []
    for one in estate["transactions"]:
        started: Cell = (names.piece(one["program"]),) if one["program"] else ()
        rows.append(Row(((Code(one["name"]),), ("transaction",), started, (Code(one["path"]),))))
    rows += (
        Row(((Code(job["name"]),), ("job",), joined(map(names.piece, job["runs"])), (Code(job["path"]),)))
        for job in estate["jobs"]
        if job["kind"] == "job"
    )
    return [Table(("Name", "Kind", "Runs", "File"), tuple(rows))] if rows else []


def _programs(estate: Estate, names: Names) -> Iterator[Block]:
    if not estate["programs"]:
        yield Words(("There is no program.",))
        return
    rows = []
    for page, document in estate["programs"].items():
        header, purpose = document["header"], document["purpose"]
        marks: list[Piece] = []
        if absent := len(document["copybooks_not_found"]):
            marks.append(Tag(f"{count(absent, 'copybook')} missing", "doubt"))
        if dead := len(document["dead_code"]):
            marks.append(Tag(f"{count(dead, 'dead paragraph')}", "bad"))
        summary = (purpose["summary"] if purpose else None) or ""
        cells: tuple[Cell, ...] = (
            (names.piece_of(page),),
            (header["program_type"],),
            (Code(header["file_name"]),),
            (str(header["lines"]),),
            (str(len(document["paragraphs"])),),
            (str(document["complexity"]["cyclomatic"]),),
            (summary,) if summary else (),
            joined(marks, " "),
        )
        rows.append(Row(cells))
    columns = ("Program", "Type", "File", "Lines", "Paragraphs", "Complexity", "Purpose", "Notes")
    kept = [at for at in range(len(columns)) if any(row.cells[at] for row in rows)]
    shown = tuple(Row(tuple(row.cells[at] for at in kept)) for row in rows)
    titles = tuple(columns[at] for at in kept)
    yield Table(titles, shown, frozenset(titles.index(name) for name in ("Lines", "Paragraphs", "Complexity")))


def _jobs(jobs: Sequence[Job], names: Names) -> Table:
    rows = [
        Row(
            (
                (Code(job["name"]), *((" ", Tag("procedure")) if job["kind"] == "procedure" else ())),
                (Code(step["name"]),),
                _runs(step, names),
                joined((Code(" = ".join((dd["name"], *dd["datasets"]))) for dd in step["dds"]), " · "),
                (Code(job["path"]), f" line {step['line']}"),
            )
        )
        for job in jobs
        for step in job["steps"]
    ]
    return Table(("Job", "Step", "Runs", "DD names", "Where"), tuple(rows))


def _data_sets(found: Sequence[DataSet], names: Names) -> Table:
    rows = tuple(
        Row(
            (
                (Code(one["dataset"]),),
                (names.piece_of(one["program"]),),
                (Code(one["file"]),),
                (Code(one["dd"]),),
                (Code(one["job"]), " ", Code(one["step"])),
            )
        )
        for one in sorted(found, key=lambda one: one["dataset"])
    )
    return Table(("Data set", "Program", "File", "DD", "Job and step"), rows)


def _runs(step: Step, names: Names) -> Cell:
    program = joined(map(names.piece, step["programs"]))
    procedure: Cell = (
        (*((" by ",) if program else ()), Code(step["procedure"]), " ", Tag("procedure")) if step["procedure"] else ()
    )
    return (*program, *procedure)

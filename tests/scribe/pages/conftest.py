"""The pages of examples/cobol as a run without a model makes them, and the same estate with every text made hostile."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from penstock.chunk.merging import merge
from penstock.cobol import estate as members
from penstock.cobol import scan
from penstock.cobol.facts import facts
from penstock.cobol.graph import EstateGraph, Inventory, Located, NodeId, ProgramPart
from penstock.scribe import pages
from penstock.scribe.documents import About, document_of
from penstock.scribe.filling import filled
from penstock.scribe.gathering import GatheredFile
from penstock.scribe.graphing import drawn_file
from penstock.scribe.pages.copies import compared, near_copies, sketch_of
from penstock.scribe.pages.wiring import inner_table, outer_part
from penstock.scribe.surroundings import Surroundings, situate

if TYPE_CHECKING:
    from penstock.scribe.pages import EstateView

KINDS = frozenset({"cobol", "copybook", "dclgen"})

MILLWATER = Path(__file__).parents[3] / "examples" / "cobol"
HOSTILE = "</script><img src=//x onerror=window.acted=1>\"'`|[x](//x)\u202e&lt;\x1b[31m\x00"


class Made(NamedTuple):
    """An estate, and the lines of its programs and copybooks by the path of their pages."""

    estate: EstateView
    listings: dict[str, list[tuple[int, str]]]
    flows: pages.EstateFlows
    inner: dict[str, Any]


def estate_at(root: Path) -> Made:
    """Return an estate read from disk and documented from its code alone."""
    found = []
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        data, name = path.read_bytes(), str(path.relative_to(root))
        if (kind := members.kind_of(name, data[: members.HEAD_BYTES])) is not None:
            found.append((name, kind, data))
    around = [members.member(name, kind, data) for name, kind, data in found if kind != "cobol"]
    copybooks = members.Copybooks(found, around)
    scanned = [(name, scan(data)) for name, kind, data in found if kind in KINDS]
    known = [
        (name, source, program, facts(source, program, copybooks=copybooks))
        for name, source in scanned
        for program in source
    ]
    drawn = [part for file in found if file[1] in KINDS for part in drawn_file(GatheredFile(*file), copybooks).parts]
    graph = EstateGraph(map(outer_part, drawn), around)
    names = {(name, program.start_line): said.program for name, _, program, said in known if said.program}
    at = {(part.path, part.line): part for part in drawn}
    surroundings = Surroundings(graph, names)
    inventory = Inventory(
        graph, [Located(at[name, program.start_line], said) for name, _, program, said in known if said.program]
    )
    programs: dict[str, Any] = {}
    layouts: dict[str, Any] = {}
    listings: dict[str, list[tuple[int, str]]] = {}
    for name, source, program, said in known:
        about = About(file_name=name, format=source.format, encoding=source.encoding)
        taken = {one.name: where for one in said.copybooks if (where := copybooks.path(one.name, one.library))}
        document = document_of(merge([filled(said, source, paths=taken)]), said, source, about)
        situate(document, surroundings.of(name, program.start_line))
        listing = [(line, source.shown(line)) for line in range(1, source.lines + 1)]
        if said.program:
            programs[said.program] = document
            listings[f"programs/{said.program}"] = listing
        else:
            stem, folder = Path(name).stem, Path(name).parent.name
            page = stem if stem not in layouts else f"{stem}.{folder}"
            layouts[page] = document
            listings[f"copybooks/{page}"] = listing
    estate = pages.estate_of("Millwater", programs, layouts, inventory)
    places = {(part.path, part.line): f"programs/{part.name}" for part in drawn if part.name in programs}
    inner = {places[part.path, part.line]: inner_table(part) for part in drawn if (part.path, part.line) in places}
    sketches = {page: sketch_of(compared(page, listings[f"programs/{page}"])) for page in programs}
    return Made(estate, listings, pages.EstateFlows(graph, near_copies(sketches), places), inner)


@pytest.fixture(scope="session")
def millwater() -> Made:
    """Return the estate of examples/cobol."""
    return estate_at(MILLWATER)


@pytest.fixture
def told(millwater: Made) -> dict[str, Any]:
    """Return MWB020 with what a model would add: text, confidence, a failed chunk, a question, tickets."""
    document: dict[str, Any] = deepcopy(millwater.estate["programs"]["MWB020"])
    cited = document["paragraphs"][0]["citations"]
    document["header"]["final_status"] = "partial"
    document["purpose"] = {
        "summary": "Bills the readings of the day.",
        "business_context": "Runs in the daily job.",
        "citations": cited,
        "origin": "model",
        "confidence": 0.75,
    }
    document["paragraphs"][0] |= {"summary": "Opens, bills, closes.", "confidence": 0.5}
    document["paragraphs"][1] |= {"jumps": ["2000-BILL-ONE-EXIT"]}
    document["business_rules"][0] |= {"description": "Who is gone gets no bill.", "confidence": 1.0}
    document["open_questions"] = [
        {
            "question": "Which tariff?",
            "reason": "no line proves it",
            "lines": [[1, 3], 7],
            "citations": [],
            "origin": "model",
        }
    ]
    document["coverage"] |= {
        "paragraphs_described": 1,
        "chunks_total": 3,
        "chunks_failed": [{"chunk": "c2", "lines": [[100, 120]], "reason": "the provider timed out"}],
    }
    document["confidence"] = {
        "overall": 0.8,
        "per_section": {"paragraphs": {"min": 0.5, "mean": 0.75}},
        "per_chunk": {},
    }
    document["tickets"] = [
        {
            "id": "t1",
            "type": "chunk_synthesis",
            "state": "failed",
            "chunk": "c2",
            "lines": [[100, 120]],
            "reason": "late",
        }
    ]
    document["warnings"] = [{"line": 3, "text": "odd", "name": ""}]
    return document


def hostile(made: Made, word: str) -> Made:
    """Return the same estate with a word appended to every text; names stay distinct, and pages keep their names."""
    estate: Any = {name: _changed(value, word) for name, value in made.estate.items()}
    for kept in ("programs", "layouts"):
        estate[kept] = {page: _changed(document, word) for page, document in made.estate[kept].items()}
    listings = {page: [(at, line + word) for at, line in rows[:50]] for page, rows in made.listings.items()}
    graph = EstateGraph([_named(part, word) for part in made.flows.graph.parts])
    return Made(estate, listings, made.flows._replace(graph=graph), _changed(made.inner, word))


def _named(part: ProgramPart, word: str) -> ProgramPart:
    edges = tuple(
        edge._replace(target=NodeId(edge.target.kind, edge.target.name + word), why=word) for edge in part.edges
    )
    return part._replace(edges=edges)


def _changed(value: Any, word: str) -> Any:
    if isinstance(value, str):
        return value if value in _DECIDING else value + word
    if isinstance(value, list):
        return [_changed(one, word) for one in value]
    if isinstance(value, dict):
        return {name: _changed(one, word) for name, one in value.items()}
    return value


_DECIDING = {
    "job",
    "procedure",
    "static",
    "dynamic",
    "link",
    "xctl",
    "start",
    "return_transid",
}  # pages branch on these values

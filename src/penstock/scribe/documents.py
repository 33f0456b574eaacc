"""What is in the document of a program? One JSON object, made of its template and of how the work on it went.

Every listed item has its citations and its origin; what a model said also has its confidence. What only a model can say, and was
not asked, is null and listed under `not_generated`: nothing is made up. Law: equal inputs give equal documents. Leaves to others:
how the template was filled (`filling`), asked for and verified, and pages (`pages`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from penstock.cobol.facts import call_diagram, flow_diagram
from penstock.scribe.filling import SourceLines, cite
from penstock.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.chunk.template import Citation, Plain, Template, TemplateRecord
    from penstock.cobol.facts.values import Facts, UnknownStatement
    from penstock.cobol.program import Warned
    from penstock.text.json_access import Json

TicketType = Literal["documentation", "chunk_continuation", "chunk_synthesis", "validation", "clarification"]
TicketState = Literal["open", "done", "failed"]
Status = Literal["code only", "complete", "partial", "interrupted"]


class Ticket(NamedTuple):
    """A piece of work on a document, for callers that drive their own workers: its kind, its lines, and its state."""

    id: str
    type: TicketType
    state: TicketState
    chunk: str | None
    lines: tuple[tuple[int, int], ...]
    reason: str | None = None


class ChunkFailure(NamedTuple):
    """A chunk that nobody described, the lines of the program in it, and why (C-9)."""

    chunk: str
    lines: tuple[tuple[int, int], ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How the work on a program went: what had to be asked, what was answered, and how much of it held."""

    status: Status = "code only"
    chunks: int = 0
    documented: tuple[tuple[int, int], ...] = ()
    """The lines of the chunks that were answered."""
    failed: tuple[ChunkFailure, ...] = ()
    tickets: tuple[Ticket, ...] = ()
    grades: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Accepted and rejected claims, by section."""
    chunk_grades: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Accepted and rejected claims, by chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known about the programs of a file from outside of them: the file, and what was odd when it was read."""

    file_name: str
    format: str = "fixed"
    encoding: str = "utf-8"
    warnings: tuple[Warned, ...] = ()


class _Field(NamedTuple):
    """One field of an item: `one` value, one in `parts`, a `list`, `many`, a model's `text`, or `rows` under the names in `row`."""

    name: str
    shape: Literal["one", "parts", "list", "many", "text", "rows"] = "one"
    row: tuple[str, ...] = ()


def _one(*names: str) -> tuple[_Field, ...]:
    return tuple(map(_Field, names))


def _parts(*names: str) -> tuple[_Field, ...]:
    return tuple(_Field(name, "parts") for name in names)


def _list(*names: str) -> tuple[_Field, ...]:
    return tuple(_Field(name, "list") for name in names)


def _many(*names: str) -> tuple[_Field, ...]:
    return tuple(_Field(name, "many") for name in names)


def _text(*names: str) -> tuple[_Field, ...]:
    return tuple(_Field(name, "text") for name in names)


def _rows(name: str, *row: str) -> tuple[_Field, ...]:
    return (_Field(name, "rows", row),)


# The fields of each list in a document, in the order of their keys. This is the contract with scripts that read documents: a field
# that the template has and no list names is for merging only, and one that is named here is always present, null or empty if
# unknown.
_CHANNEL = (*_one("name", "io_type", "copybook"), *_text("description"))
_LISTS: dict[str, tuple[_Field, ...]] = {
    "inputs": _CHANNEL,
    "outputs": _CHANNEL,
    "called_programs": (
        *_one("program_name", "call_type", "resolved_from"),
        *_parts("parameters"),
        *_one("places"),
    ),
    "business_rules": (
        *_one("rule_id", "paragraph"),
        *_text("logic_summary", "description"),
        *_many("conditions"),
        *_list("actions"),
        *_rows("meanings", "name", "meaning"),
    ),
    "copybooks_used": (
        *_one("copybook_name", "library", "via", "found", "system", "path", "copybook"),
        *_rows("replacing", "from", "to"),
    ),
    "paragraphs": (
        *_one("paragraph_name", "section"),
        *_text("summary", "purpose"),
        *_one("start_line", "end_line"),
        *_many("calls", "jumps", "called_by"),
        *_one("falls_into", "statements", "complexity", "is_dead_code", "dead_code_reason"),
        *_many("doubts"),
    ),
    "error_handling": (*_one("kind", "condition", "action"), *_text("description"), *_one("paragraph")),
    "sql_operations": (*_one("operation", "cursor", "text", "paragraph"), *_many("host_variables")),
    "cics_operations": (*_one("command", "resource", "kind", "resp", "response", "paragraph"), *_many("resolved_from")),
    "dli_operations": (*_one("function", "pcb", "area", "paragraph"), *_many("segments")),
    "mq_operations": (*_one("call", "queue", "paragraph"), *_many("resolved_from")),
    "idms_operations": _one("verb", "record", "set", "text", "paragraph"),
    "files": (
        *_one("name", "assign", "dd", "organization", "access", "status", "copybook"),
        *_many("keys", "io"),
        *_rows("opens", "mode", "line"),
    ),
    "crud": (*_one("resource", "kind"), *_many("create", "read", "update", "delete")),
    "data_items": (
        *_one("level", "name", "picture", "usage", "occurs", "depending", "redefines", "value", "offset", "bytes"),
        *_one("section", "file", "copybook", "copybook_line"),
        *_rows("conditions", "name", "values", "line"),
        *_many("read_lines", "written_lines"),
    ),
    "constants": _one("name", "value", "copybook"),
    "messages": _one("text", "target", "copybook"),
    "call_semantics": (*_one("caller", "callee"), *_text("purpose")),
    "open_questions": (*_one("question", "reason"), *_many("lines")),
}
# The lists that appear together in the middle of a document, in its order.
_AS_LISTED = (
    *("paragraphs", "error_handling", "sql_operations", "cics_operations", "dli_operations", "mq_operations"),
    "idms_operations",
    *("files", "crud", "data_items", "constants", "messages"),
)
_FLOWS = {
    "reads_from": _one("name", "kind"),
    "writes_to": _one("name", "kind"),
    "transforms": (*_one("verb", "text", "paragraph"), *_many("targets", "sources")),
}


class _Words(NamedTuple):
    """Words that only a model can say: the section and field that they would be in.

    `about` is the section whose records they describe, empty for the program: if that has no records, nothing is missing.
    """

    section: str
    field: str
    about: str


_WORDS = {  # as `not_generated` names them
    "purpose": _Words("purpose", "summary", ""),
    "business_context": _Words("purpose", "business_context", ""),
    "input_descriptions": _Words("inputs", "description", "inputs"),
    "output_descriptions": _Words("outputs", "description", "outputs"),
    "rule_descriptions": _Words("business_rules", "description", "business_rules"),
    "rule_summaries": _Words("business_rules", "logic_summary", "business_rules"),
    "paragraph_summaries": _Words("paragraphs", "summary", "paragraphs"),
    "paragraph_purposes": _Words("paragraphs", "purpose", "paragraphs"),
    "error_descriptions": _Words("error_handling", "description", "error_handling"),
    "call_semantics": _Words("call_semantics", "purpose", "called_programs"),
}


def document_of(
    template: Template, facts: Facts, source: SourceLines, about: About, coverage: Coverage | None = None
) -> dict[str, Json]:
    """Return the document of a program, without what surrounds it (`surroundings.situate`), which is known later.

    Args:
        template: What the code says about it, merged with what a model said.
        facts: The analysis of the program, for what is not in a record: sizes, entry points, diagrams.
        source: The lines that citations are taken from.
        about: What is known from outside of it.
        coverage: How the work on it went; None if no model was asked.
    """
    done = coverage or Coverage()
    listed = {name: _items(template[name], fields) for name, fields in _LISTS.items()}
    # A statement may name several tables, and a file several records. The first of each also has its own key, for convenience.
    for item, record in zip(listed["sql_operations"], template["sql_operations"], strict=True):
        tables = record.every("table")
        item |= {"table": tables[0] if tables else None, "tables": tables}
    for item, record in zip(listed["files"], template["files"], strict=True):
        item["record"] = record.first("record")
        item["records"] = record.every("record")
    dead = [_dead(item) for item in listed["paragraphs"] if item["is_dead_code"]]
    missing = [item["copybook_name"] for item in listed["copybooks_used"] if not (item["found"] or item["system"])]
    return {
        "header": {
            "program_id": facts.program,
            "file_name": about.file_name,
            "file_type": "copybook" if facts.type == "copybook" else "COBOL",
            "format": about.format,
            "encoding": about.encoding,
            "lines": facts.lines,
            "code_lines": facts.code_lines,
            "comment_lines": facts.comment_lines,
            "program_type": facts.type,
            "program_type_reason": facts.type_reason,
            "within": list(facts.around),
            "is_common": facts.is_common,
            "final_status": done.status,
            "penstock_version": __version__,
        },
        "purpose": _purpose(template["purpose"]),
        "inputs": listed["inputs"],
        "outputs": listed["outputs"],
        "called_programs": listed["called_programs"],
        "calling_context": {
            "called_by": [],
            "entry_points": [_entry(source, name, line) for name, line in facts.entry_points],
            "linkage_section": list(facts.linkage),
            "using": list(facts.using),
            "transactions": [],
            "jobs": [],
        },
        "business_rules": listed["business_rules"],
        "data_flow": {name: _items(template[name], fields) for name, fields in _FLOWS.items()},
        "copybooks_used": listed["copybooks_used"],
        "copybooks_not_found": list(dict.fromkeys(missing)),
        **{name: listed[name] for name in _AS_LISTED},
        "dead_code": dead,
        "not_understood": [_unread(source, part) for part in facts.unread],
        "call_semantics": listed["call_semantics"],
        "flow_diagram": flow_diagram(facts),
        "call_graph": call_diagram(facts),
        "complexity": {
            "statements": facts.statements,
            "copied_statements": facts.copied_statements,
            "cyclomatic": facts.complexity,
            "max_depth": facts.depth,
            "not_understood": len(facts.unread),
        },
        "open_questions": listed["open_questions"],
        "coverage": _coverage(listed["paragraphs"], done),
        "confidence": _confidence(template, done),
        "tickets": [_ticket(ticket) for ticket in done.tickets],
        "not_generated": _not_generated(template),
        "warnings": [warned._asdict() for warned in (*about.warnings, *facts.notes)],
    }


# ── items ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _items(records: Iterable[TemplateRecord], fields: Sequence[_Field]) -> list[dict[str, Json]]:
    names = [one.name for one in fields]
    shaped = [one for one in fields if one.shape != "one"]
    return [
        _item(record, fields) if record.said is None else _item_of_code(record.said, record.citations, names, shaped)
        for record in records
    ]


def _item_of_code(
    said: Mapping[str, Plain | list[Plain]], citations: Iterable[Citation], names: list[str], shaped: Sequence[_Field]
) -> dict[str, Json]:
    """Return what the code alone says as an item, as `_item` does: most fields are one value, and taken as they are."""
    item: dict[str, Json] = dict(zip(names, map(said.get, names), strict=True))
    for name, shape, row in shaped:
        given = item[name]
        if given is None or given == []:  # as most are
            item[name] = None if shape in {"text", "parts"} else []
        elif shape != "many" or type(given) is not list or tuple in map(type, given):  # others stay as they are
            item[name] = _shaped(given if type(given) is list else [given], shape, row)
    item["citations"] = _citations(citations)
    item["origin"] = "code"
    return item


def _item(record: TemplateRecord, fields: Sequence[_Field]) -> dict[str, Json]:
    """Return a record as an item: its fields, its citations, and whether the code or only a model knows of it."""
    item = {name: _shaped(record.every(name), shape, row) for name, shape, row in fields}
    item["citations"] = _citations(record.all_citations())
    values = [(shape, value) for name, shape, _ in fields for value in record.fields.get(name, ())]
    item["origin"] = "code" if any(value.origin == "code" for _, value in values) else "model"
    texts = [value.least for shape, value in values if shape == "text"]
    if texts:
        # Joined texts are only as sure as the least sure: a reader does not see where one ends.
        item["confidence"] = _rounded(min(texts))
    return item


def _shaped(several: list[Any], shape: str, row: Sequence[str]) -> Json:
    """Return the values of a field in the shape that items have."""
    if shape == "many":
        return [_plain(said) if type(said) is tuple else said for said in several]
    if shape == "rows":
        return [dict(zip(row, map(_plain, each), strict=True)) for each in several]
    if shape == "text":
        return " ".join(several) or None
    if not several or (shape == "list" and not several[0]):
        return [] if shape == "list" else None
    return _plain(several[0])


def _plain(said: Plain) -> Json:
    return list(map(_plain, said)) if isinstance(said, tuple) else said


def _citations(citations: Iterable[Citation]) -> list[dict[str, Json]]:
    return [{"first_line": first, "last_line": last, "evidence": evidence} for first, last, evidence in citations]


def _purpose(records: Sequence[TemplateRecord]) -> dict[str, Json] | None:
    if not records or not records[0].fields:
        return None
    return _item(records[0], _text("summary", "business_context"))


def _entry(source: SourceLines, name: str, line: int) -> dict[str, Json]:
    return {"name": name, "line": line, "citations": _citations(cite(source, line)), "origin": "code"}


def _unread(source: SourceLines, part: UnknownStatement) -> dict[str, Json]:
    """Return a statement that was not understood as an item: a reader must know what the document leaves out."""
    citations = _citations(cite(source, part.line, part.end_line))
    return {"text": part.text, "paragraph": part.paragraph or None, "citations": citations, "origin": "code"}


def _dead(paragraph: dict[str, Json]) -> dict[str, Json]:
    names = ("paragraph_name", "section", "start_line", "end_line", "dead_code_reason", "doubts", "citations", "origin")
    return {name: paragraph[name] for name in names}


# ── how it went ──────────────────────────────────────────────────────────────────────────────────────────────────


def _by_a_model(records: Iterable[TemplateRecord], field: str) -> list[TemplateRecord]:
    """Return the records that may have words in a field: most come from the code, which has none."""
    return [record for record in records if record.said is None or field in record.said]


def _not_generated(template: Template) -> list[str]:
    """Return the names of the words that are missing although there is something to say."""
    return [
        name
        for name, words in _WORDS.items()
        if (not words.about or template[words.about])
        and not any(record.every(words.field) for record in _by_a_model(template[words.section], words.field))
    ]


def _coverage(paragraphs: Sequence[dict[str, Json]], done: Coverage) -> dict[str, Json]:
    return {
        "paragraphs_total": len(paragraphs),
        "paragraphs_described": sum(1 for item in paragraphs if item["summary"] or item["purpose"]),
        "lines_documented": sum(last - first + 1 for first, last in done.documented),
        "chunks_total": done.chunks,
        "chunks_failed": [
            {"chunk": failure.chunk, "lines": [list(span) for span in failure.lines], "reason": failure.reason}
            for failure in done.failed
        ],
    }


def _confidence(template: Template, done: Coverage) -> dict[str, Json]:
    """Return the shares of claims that held: overall, per section (the worst chunk, and the mean by claims), and per chunk."""
    # The mean of a section is over claims, not over chunks: a chunk with one claim says less than one with forty.
    accepted = sum(good for good, _ in done.grades.values())
    rejected = sum(bad for _, bad in done.grades.values())
    per_section = {}
    for name, section in template.sections.items():
        said = [
            value
            for record in section.records
            if record.said is None
            for values in record.fields.values()
            for value in values
            if value.origin == "model"
        ]
        if said:
            grades = {grade for value in said for grade in value.grades}
            pooled = said[0]._replace(grades=tuple(grades))
            per_section[name] = {"min": _rounded(pooled.least), "mean": _rounded(pooled.mean)}
    overall = _rounded(accepted / (accepted + rejected)) if accepted + rejected else None
    per_chunk = {name: _rounded(good / (good + bad)) for name, (good, bad) in done.chunk_grades.items() if good + bad}
    return {"overall": overall, "per_section": per_section, "per_chunk": per_chunk}


def _rounded(share: float) -> float:
    return round(share, 3)


def _ticket(ticket: Ticket) -> dict[str, Json]:
    return {**ticket._asdict(), "lines": [list(span) for span in ticket.lines]}

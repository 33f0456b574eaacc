"""What does the page of a program say? The sections of a document, in the order in which a maintainer asks.

What nobody generated is said to be missing, in one place; a section without content is left out and named. Law: every item of the
document that has citations has them here. Keeps out: Markdown and HTML (`markdown`, `html`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.cobol.facts.calls import is_interface
from penstock.cobol.program import key
from penstock.scribe.pages import graphs, operations
from penstock.scribe.pages.blocks import (
    BELOW,
    CitedLines,
    CodeSpan,
    FactBlock,
    PageSection,
    ParagraphLink,
    Tag,
    TextBlock,
    count,
    joined,
)
from penstock.scribe.pages.columns import (
    code,
    code_cell,
    codes_cell,
    condition,
    line_list,
    lines,
    not_found,
    once,
    percent_cell,
    plain,
    plain_cell,
    spans,
    table,
    words,
    words_cell,
)
from penstock.scribe.pages.estate import TO_TRANSACTION, item_anchor, line_of_item, paragraph_anchor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.scribe.pages.blocks import Block, Cell, GraphNode, Piece
    from penstock.scribe.pages.estate import NameIndex
    from penstock.scribe.pages.operations import OperationTable
    from penstock.text.json_access import Json


def sections(page: str, document: Json, names: NameIndex) -> Iterator[PageSection]:
    """Yield all sections that have something to say: what it is for, how much it is, what its code says, and how sure that is.

    Args:
        page: The id of the program's page.
        document: The program, as `scribe.documents` describes it.
        names: Where the names of other programs, copybooks and paragraphs lead.
    """
    yield PageSection("Purpose", tuple(_purpose(document)))
    yield PageSection("At a glance", tuple(_glance(document, names)))
    yield from of_code(names.own(page), document, names)
    if questions := _questions(document):
        yield PageSection("Open questions", tuple(questions))
    yield PageSection("Coverage and confidence", tuple(_coverage(document)))


def of_code(here: GraphNode, document: Json, names: NameIndex) -> Iterator[PageSection]:
    """Yield the sections about the code, of a program or a copybook; those without content are left out.

    Args:
        here: The box of the program or copybook in the diagram of its neighbours.
        document: What its code says.
        names: Where the names of others lead.
    """
    copied = _Copied(document, names)
    flow = graphs.flow(document)
    known = {**document, "transforms": document["data_flow"]["transforms"]}

    def shown(tables: Iterable[OperationTable]) -> Iterator[tuple[str, list[Block]]]:
        return ((one.title, table(known[one.field], one.columns)) for one in tables)

    all_blocks: list[tuple[str, list[Block]]] = [
        ("Inputs and outputs", _channels(document, copied)),
        ("Calls", _calls(here, document, names)),
        ("Control flow", [flow] if flow else []),
        ("Paragraphs", _paragraphs(document, copied)),
        ("Business rules", _rules(document)),
        *shown(operations.RESOURCES),
        ("Copybooks", _copybooks(document, copied)),
        ("Data dictionary", _items(document, copied)),
        *shown(operations.AT_THE_END),
    ]
    found: dict[str, list[Block]] = {}  # two tables of one title share a section
    for title, blocks in all_blocks:
        found.setdefault(title, []).extend(blocks)
    yield from (PageSection(title, tuple(blocks)) for title, blocks in found.items() if blocks)


class _Copied:
    """Where the names of a document's copybooks lead, and the names of the paragraphs that stand in them."""

    def __init__(self, document: Json, names: NameIndex) -> None:
        self._names = names
        self._paths = {key(used["copybook_name"]): used["path"] for used in document["copybooks_used"]}

    def __call__(self, name: str | None, line: int | None = None) -> Cell:
        """The name of a copybook; of one with a page as a link, to the data item of that line."""
        return (self._names.file(self._paths.get(key(name)), name, line),) if name else ()

    def paragraph(self, name: str) -> Piece:
        """The name of a paragraph that the document itself does not have."""
        return self._names.paragraph(self._paths.values(), name)


# ── what it is ───────────────────────────────────────────────────────────────────────────────────────────────────


def _purpose(document: Json) -> list[Block]:
    purpose = document["purpose"]
    if purpose is None:
        return [
            TextBlock(
                ("Not generated: no model described this program. What follows is read from its code.",), is_aside=True
            )
        ]
    blocks: list[Block] = [
        TextBlock(words_cell(purpose, field)) for field in ("summary", "business_context") if purpose.get(field)
    ]
    if cited := lines(purpose):
        blocks.append(TextBlock(("Cited: ", *cited), is_aside=True))
    return blocks


def _glance(document: Json, names: NameIndex) -> list[Block]:
    header, context, size = document["header"], document["calling_context"], document["complexity"]
    coverage, confidence = document["coverage"], document["confidence"]
    told: list[tuple[str, Cell]] = [
        (
            "Type",
            (
                header["program_type"],
                *((f": {header['program_type_reason']}",) if header["program_type_reason"] else ()),
            ),
        ),
        *file_rows(document),
        ("Complexity", (f"{size['cyclomatic']} ways at decisions, {size['max_depth']} deep at most",)),
        ("Transactions", codes_cell(context["transactions"])),
        ("Jobs", codes_cell(context["jobs"])),
        ("Called by", joined(names.piece(name) for name in context["called_by"])),
        ("Entry points", tuple(piece for entry in context["entry_points"] for piece in _entry(entry))),
        ("Parameters", codes_cell(context["using"])),
        ("Linkage", codes_cell(context["linkage_section"])),
        ("Copybooks not found", not_found(document)),
        (
            "Words of a model",
            (
                f"{header['final_status']}; {coverage['paragraphs_described']} of ",
                f"{count(coverage['paragraphs_total'], 'paragraph')} described",
            ),
        ),
        ("Confidence", percent_cell(confidence["overall"])),
    ]
    blocks: list[Block] = [FactBlock(tuple((name, cell) for name, cell in told if cell))]
    absent = [
        title
        for title, field in (
            ("calls", "called_programs"),
            ("SELECT", "files"),
            ("SQL", "sql_operations"),
            ("CICS", "cics_operations"),
            ("IMS", "dli_operations"),
            ("MQ", "mq_operations"),
            ("copybooks", "copybooks_used"),
            ("error handling", "error_handling"),
            ("dead code", "dead_code"),
        )
        if not document[field]
    ]
    if absent:
        blocks.append(TextBlock((f"None found: {', '.join(absent)}.",), is_aside=True))
    return blocks


def file_rows(document: Json) -> list[tuple[str, Cell]]:
    """Where it stands, and how much it is."""
    header, statements = document["header"], document["complexity"]["statements"]
    size = f"{count(header['lines'], 'line')}: {header['code_lines']} of code, {header['comment_lines']} of comment"
    return [
        ("File", (CodeSpan(header["file_name"]), f" ({header['format']} format, {header['encoding']})")),
        ("Size", (f"{size}; {count(statements, 'statement')}" if statements else size,)),
    ]


def _entry(entry: Json) -> Cell:
    return (CodeSpan(entry["name"]), " ", CitedLines(entry["line"], entry["line"]), " ")


def _channels(document: Json, copied: _Copied) -> list[Block]:
    channels = (("in", document["inputs"]), ("out", document["outputs"]))
    return table(
        [{**item, "direction": direction} for direction, items in channels for item in items],
        {
            "Direction": plain("direction"),
            "Name": code("name"),
            "Kind": plain("io_type"),
            "Copybook": lambda item: copied(item["copybook"]),
            "What it is": words("description"),
            "Lines": lines,
        },
    )


# ── control ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _calls(here: GraphNode, document: Json, names: NameIndex) -> list[Block]:
    picture = graphs.neighbours(here, document, names)
    blocks: list[Block] = [] if picture is None else [picture]
    purposes = {item["callee"].upper(): item for item in document["call_semantics"] if item["callee"]}
    blocks += table(
        document["called_programs"],
        {
            "Program": lambda call: _target(call, names),
            "How": lambda call: (call["call_type"].replace("_", " "),),
            "Known from": plain("resolved_from"),
            "Parameters": lambda call: joined(_parameters(call["parameters"])),
            "What for": lambda call: words_cell(purposes.get(call["program_name"].upper(), {}), "purpose"),
            "Lines": lines,
        },
    )
    return blocks


def _target(call: Json, names: NameIndex) -> Cell:
    name = call["program_name"]
    if call["call_type"] in TO_TRANSACTION:
        return (CodeSpan(name), " ", Tag("transaction"))
    if names.is_here(name):
        return (names.piece(name),)
    return (CodeSpan(name), " ", Tag("of the system") if is_interface(name) else Tag("not here", "doubt"))


def _parameters(given: Sequence[Json]) -> Iterator[Piece]:
    for parameter in given:
        yield from (CodeSpan(str(one)) for one in (parameter if isinstance(parameter, list) else [parameter]))


def _paragraphs(document: Json, copied: _Copied) -> list[Block]:
    starts: dict[str, int] = {}
    for item in document["paragraphs"]:
        starts.setdefault(item["paragraph_name"].upper(), item["start_line"])
    for item in document["paragraphs"]:
        if item["section"]:  # a section is entered at its first paragraph
            starts.setdefault(item["section"].upper(), item["start_line"])

    def named(texts: Iterable[str]) -> Cell:
        return joined(
            ParagraphLink(name, starts[name.upper()]) if name.upper() in starts else copied.paragraph(name)
            for name in texts
        )

    def name_of(item: Json) -> Cell:
        dead: Cell = (" ", Tag("dead", "bad")) if item["is_dead_code"] else ()
        return (ParagraphLink(item["paragraph_name"], item["start_line"]), *dead)

    return table(
        document["paragraphs"],
        {
            "Paragraph": name_of,
            "Section": code("section"),
            "Lines": lines,
            "Statements": lambda item: (str(item["statements"]),),
            "Complexity": lambda item: (str(item["complexity"]),),
            "What it does": words("summary", "purpose"),
            "Calls": lambda item: named(item["calls"]),
            "Called by": lambda item: named(item["called_by"]),
            "Jumps to": lambda item: named(item["jumps"]),
            "Runs on into": lambda item: named([item["falls_into"]] if item["falls_into"] else []),
        },
        numbers=("Statements", "Complexity"),
        anchor=once(lambda item: paragraph_anchor(item["start_line"])),
    )


def _rules(document: Json) -> list[Block]:
    def when(rule: Json) -> Cell:
        meanings = [f"{one['name']}: {one['meaning']}" for one in rule["meanings"]]
        said = joined((CodeSpan(condition) for condition in rule["conditions"]), BELOW)
        return (*said, " (", *codes_cell(meanings), ")") if meanings else said

    rows = table(
        document["business_rules"],
        {
            "Rule": code("rule_id"),
            "In": code("paragraph"),
            "When": when,
            "Then": lambda rule: joined((CodeSpan(action) for action in rule["actions"]), BELOW),
            "What it means": words("logic_summary", "description"),
            "Lines": lines,
        },
    )
    if not rows:
        return []
    told = "Decisions that the code makes and that may be rules of the business; what looks at errors is under error handling."
    return [TextBlock((told,), is_aside=True), *rows]


# ── data ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _copybooks(document: Json, copied: _Copied) -> list[Block]:
    def found(item: Json) -> Cell:
        if item["found"]:
            return code_cell(item["path"]) or (Tag("found", "good"),)
        return (Tag("of the system"),) if item["system"] else (Tag("not found", "doubt"),)

    return table(
        document["copybooks_used"],
        {
            "Copybook": lambda item: copied(item["copybook_name"]),
            "Library": code("library"),
            "By": plain("via"),
            "Where": found,
            "Replacing": operations.replaced,
            "Within": lambda item: copied(item["copybook"]),
            "Lines": lines,
        },
    )


def _items(document: Json, copied: _Copied) -> list[Block]:
    levels: list[int] = []

    def depth(item: Json) -> int:
        level = item["level"]
        if level in {1, 66, 77, 78}:
            levels.clear()
        while levels and levels[-1] >= level:
            levels.pop()
        levels.append(level)
        return len(levels) - 1

    def occurs(item: Json) -> Cell:
        if item["occurs"] is None:
            return ()
        depending = item["depending"]
        return (str(item["occurs"]), *((" by ", CodeSpan(depending)) if depending else ()))

    def meaning(item: Json) -> Cell:
        return joined((*code_cell(item["value"]), *map(CodeSpan, map(condition, item["conditions"]))), BELOW)

    def anchor(item: Json) -> str:
        line = line_of_item(item)
        return item_anchor(line) if line else ""

    return table(
        document["data_items"],
        {
            "Name": lambda item: (CodeSpan(f"{item['level']:02d} {item['name']}"),),
            "Picture": code("picture"),
            "Usage": lambda item: plain_cell(None if item["usage"] in {"DISPLAY", "GROUP"} else item["usage"]),
            "Occurs": occurs,
            "Redefines": code("redefines"),
            "Offset": plain("offset"),
            "Bytes": plain("bytes"),
            "Values": meaning,
            "Section": code("section"),
            "Copybook": lambda item: copied(item["copybook"], item["copybook_line"]),
            "Read": line_list("read_lines"),
            "Written": line_list("written_lines"),
            "Lines": lines,
        },
        numbers=("Offset", "Bytes"),
        depth=depth,
        anchor=once(anchor),
    )


# ── how it went ──────────────────────────────────────────────────────────────────────────────────────────────────


def _questions(document: Json) -> list[Block]:
    return table(
        document["open_questions"],
        {
            "Question": plain("question"),
            "Why it is open": plain("reason"),
            "Lines": lambda item: lines(item) or joined(spans(item["lines"])),
        },
    )


def _coverage(document: Json) -> list[Block]:
    coverage, confidence = document["coverage"], document["confidence"]
    blocks: list[Block] = [
        FactBlock(
            (
                ("Paragraphs described", (f"{coverage['paragraphs_described']} of {coverage['paragraphs_total']}",)),
                (
                    "Lines in prompts that were answered",
                    (f"{coverage['lines_documented']} of {document['header']['lines']}",),
                ),
                ("Chunks", (f"{coverage['chunks_total']}, {len(coverage['chunks_failed'])} failed",)),
                ("Confidence", percent_cell(confidence["overall"]) or ("no model was asked",)),
            )
        )
    ]
    blocks += table(
        coverage["chunks_failed"],
        {"Not described": lambda item: joined(spans(item["lines"])), "Why": plain("reason")},
    )
    blocks += table(
        sorted(confidence["per_section"].items()),
        {
            "Section": lambda pair: (pair[0].replace("_", " "),),
            "Least": lambda pair: (f"{pair[1]['min']:.0%}",),
            "Mean": lambda pair: (f"{pair[1]['mean']:.0%}",),
        },
        numbers=("Least", "Mean"),
    )
    blocks += table(
        document["tickets"],
        {
            "Ticket": code("id"),
            "Type": lambda item: (item["type"].replace("_", " "),),
            "State": lambda item: (Tag(item["state"], {"done": "good", "failed": "bad"}.get(item["state"], "plain")),),  # type: ignore[arg-type]
            "Lines": lambda item: joined(spans(item["lines"])),
            "Why": lambda item: plain_cell(item["reason"]),
        },
    )
    if document["not_generated"]:
        missing = ", ".join(name.replace("_", " ") for name in document["not_generated"])
        blocks.append(TextBlock((f"Not generated, because only a model can say it: {missing}.",), is_aside=True))
    return [*blocks, *notes(document)]


def notes(document: Json) -> list[Block]:
    """What was odd in the source and was read all the same."""
    return [TextBlock((Tag("note", "doubt"), " ", str(warning))) for warning in document["warnings"]]

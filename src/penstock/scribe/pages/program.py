"""What does the page of a program say? The sections of a document, in the order in which a maintainer asks.

What nobody generated is said to be missing, in one place; a section without content is left out and named. Law: every item of the
document that has citations has them here. Keeps out: Markdown and HTML (`markdown`, `html`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.cobol.facts.calls import is_interface
from penstock.cobol.program import key
from penstock.scribe.pages import graphs
from penstock.scribe.pages.blocks import (
    BELOW,
    CitedLines,
    CodeSpan,
    FactBlock,
    ModelWords,
    PageSection,
    ParagraphLink,
    TableBlock,
    TableRow,
    Tag,
    TextBlock,
    count,
    joined,
)
from penstock.scribe.pages.estate import TO_TRANSACTION, item_anchor, line_of_item, paragraph_anchor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from penstock.scribe.pages.blocks import Block, Cell, GraphNode, Piece
    from penstock.scribe.pages.estate import NameIndex
    from penstock.text.json_access import Json

MAX_LINES_OF_ITEM = 24
"""Lines that an item's reads or writes are listed with; the JSON has all."""
MAX_PAIRS = 12
"""Of what the COPYs of one copybook replace; the JSON has all."""


def sections(page: str, document: Json, names: NameIndex) -> Iterator[PageSection]:
    """All sections that have something to say."""
    yield PageSection("Purpose", tuple(_purpose(document)))
    yield PageSection("At a glance", tuple(_glance(document, names)))
    yield from of_code(names.own(page), document, names)
    if questions := _questions(document):
        yield PageSection("Open questions", tuple(questions))
    yield PageSection("Coverage and confidence", tuple(_coverage(document)))


def of_code(here: GraphNode, document: Json, names: NameIndex) -> Iterator[PageSection]:
    """The sections about the code, of a program or a copybook; `here` is its box in the picture of its neighbours."""
    copied = _Copied(document, names)
    for title, blocks in (
        ("Inputs and outputs", _channels(document, copied)),
        ("Calls", _calls(here, document, names)),
        ("Control flow", _flow(document)),
        ("Paragraphs", _paragraphs(document, copied)),
        ("Business rules", _rules(document)),
        ("Files", _files(document)),
        ("What is created, read, updated and deleted", crud(document["crud"])),
        ("SQL", _sql(document)),
        ("CICS", _cics(document)),
        ("IMS", _dli(document)),
        ("MQ", _mq(document)),
        ("Calculations", _transforms(document)),
        ("Error handling", _errors(document)),
        ("Copybooks", _copybooks(document, copied)),
        ("Data dictionary", _items(document, copied)),
        ("Constants and messages", _constants(document)),
        ("Dead code", _dead(document)),
    ):
        if blocks:
            yield PageSection(title, tuple(blocks))


class _Copied:
    """The copybooks of a document: where the name of each leads, and those of the paragraphs in them."""

    def __init__(self, document: Json, names: NameIndex) -> None:
        self._names = names
        self._paths = {key(used["copybook_name"]): used["path"] for used in document["copybooks_used"]}

    def __call__(self, name: str | None, line: int | None = None) -> Cell:
        """The name of a copybook; of one with a page as a link, to the data item of that line."""
        return (self._names.file(self._paths.get(key(name)), name, line),) if name else ()

    def paragraph(self, name: str) -> Piece:
        """The name of a paragraph that the document itself does not have."""
        return self._names.paragraph(self._paths.values(), name)


def lines(item: Json, path: str = "") -> Cell:
    """Where an item is, in this document or in that of another page."""
    return joined(CitedLines(at["first_line"], at["last_line"], at["evidence"], path) for at in item["citations"])


def _line_list(numbers: Sequence[int]) -> Cell:
    shown = joined(CitedLines(number, number) for number in numbers[:MAX_LINES_OF_ITEM])
    more = len(numbers) - MAX_LINES_OF_ITEM
    return (*shown, f" and {more} more") if more > 0 else shown


def _said(item: Json, *fields: str) -> Cell:
    """What a model said of an item, nothing where it was not asked."""
    return joined((ModelWords(item[field], item.get("confidence")) for field in fields if item.get(field)), " ")


def _code(text: Json) -> Cell:
    return () if text is None or text == "" else (CodeSpan(str(text)),)


def _plain(text: Json) -> Cell:
    return () if text is None or text == "" else (str(text),)


def _codes(texts: Iterable[Json]) -> Cell:
    return joined(CodeSpan(str(text)) for text in texts)


def table(
    items: Sequence[Json],
    columns: Mapping[str, Callable[[Json], Cell]],
    *,
    numbers: Sequence[str] = (),
    depth: Callable[[Json], int] = lambda _: 0,
    anchor: Callable[[Json], str] = lambda _: "",
) -> list[Block]:
    """The items under those columns that at least one of them fills."""
    if not items:
        return []
    rows = [[column(item) for column in columns.values()] for item in items]
    kept = [at for at in range(len(columns)) if any(row[at] for row in rows)]
    titles = [title for at, title in enumerate(columns) if at in kept]
    made = tuple(
        TableRow(tuple(row[at] for at in kept), anchor(item), depth(item))
        for item, row in zip(items, rows, strict=True)
    )
    return [TableBlock(tuple(titles), made, frozenset(at for at, title in enumerate(titles) if title in numbers))]


def _first(anchor: Callable[[Json], str]) -> Callable[[Json], str]:
    """The anchor of an item, nothing where one before it has the same."""
    taken: set[str] = set()

    def of(item: Json) -> str:
        made = anchor(item)
        if made in taken:
            return ""
        taken.add(made)
        return made

    return of


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
        TextBlock(_said(purpose, field)) for field in ("summary", "business_context") if purpose.get(field)
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
                *((f": {header['program_type_reason']}",) if header.get("program_type_reason") else ()),
            ),
        ),
        *file_rows(document),
        ("Complexity", (f"{size['cyclomatic']} ways at decisions, {size['max_depth']} deep at most",)),
        ("Transactions", _codes(context["transactions"])),
        ("Jobs", _codes(context["jobs"])),
        ("Called by", joined(names.piece(name) for name in context["called_by"])),
        ("Entry points", tuple(piece for entry in context["entry_points"] for piece in _entry(entry))),
        ("Parameters", _codes(context.get("using", ()))),
        ("Linkage", _codes(context["linkage_section"])),
        ("Copybooks not found", not_found(document)),
        (
            "Words of a model",
            (
                f"{header['final_status']}; {coverage['paragraphs_described']} of ",
                f"{count(coverage['paragraphs_total'], 'paragraph')} described",
            ),
        ),
        ("Confidence", _percent(confidence["overall"])),
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


def not_found(document: Json) -> Cell:
    """The copybooks that are missing."""
    return joined((Tag(name, "doubt") for name in document["copybooks_not_found"]), " ")


def _entry(entry: Json) -> Cell:
    return (CodeSpan(entry["name"]), " ", CitedLines(entry["line"], entry["line"]), " ")


def _percent(share: float | None) -> Cell:
    return () if share is None else (f"{share:.0%} of what was claimed held",)


def _channels(document: Json, copied: _Copied) -> list[Block]:
    items = [("in", item) for item in document["inputs"]] + [("out", item) for item in document["outputs"]]
    return table(
        items,
        {
            "Direction": lambda pair: (pair[0],),
            "Name": lambda pair: _code(pair[1]["name"]),
            "Kind": lambda pair: _plain(pair[1]["io_type"]),
            "Copybook": lambda pair: copied(pair[1]["copybook"]),
            "What it is": lambda pair: _said(pair[1], "description"),
            "Lines": lambda pair: lines(pair[1]),
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
            "Known from": lambda call: _plain(call["resolved_from"]),
            "Parameters": lambda call: joined(_parameters(call["parameters"])),
            "What for": lambda call: _said(purposes.get(call["program_name"].upper(), {}), "purpose"),
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


def _flow(document: Json) -> list[Block]:
    picture = graphs.flow(document)
    return [] if picture is None else [picture]


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
            "Section": lambda item: _code(item["section"]),
            "Lines": lines,
            "Statements": lambda item: (str(item["statements"]),),
            "Complexity": lambda item: (str(item["complexity"]),),
            "What it does": lambda item: _said(item, "summary", "purpose"),
            "Calls": lambda item: named(item["calls"]),
            "Called by": lambda item: named(item["called_by"]),
            "Jumps to": lambda item: named(item.get("jumps", ())),
            "Runs on into": lambda item: named([item["falls_into"]] if item["falls_into"] else []),
        },
        numbers=("Statements", "Complexity"),
        anchor=_first(lambda item: paragraph_anchor(item["start_line"])),
    )


def _rules(document: Json) -> list[Block]:
    def when(rule: Json) -> Cell:
        meanings = [f"{one['name']}: {one['meaning']}" for one in rule.get("meanings", ())]
        said = joined((CodeSpan(condition) for condition in rule["conditions"]), BELOW)
        return (*said, " (", *_codes(meanings), ")") if meanings else said

    rows = table(
        document["business_rules"],
        {
            "Rule": lambda rule: _code(rule["rule_id"]),
            "In": lambda rule: _code(rule["paragraph"]),
            "When": when,
            "Then": lambda rule: joined((CodeSpan(action) for action in rule["actions"]), BELOW),
            "What it means": lambda rule: _said(rule, "logic_summary", "description"),
            "Lines": lines,
        },
    )
    if not rows:
        return []
    told = "Decisions that the code makes and that may be rules of the business; what looks at errors is under error handling."
    return [TextBlock((told,), is_aside=True), *rows]


def _dead(document: Json) -> list[Block]:
    return table(
        document["dead_code"],
        {
            "Paragraph": lambda item: (ParagraphLink(item["paragraph_name"], item["start_line"]),),
            "Section": lambda item: _code(item["section"]),
            "Why": lambda item: _plain(item["dead_code_reason"]),
            "Doubts": lambda item: joined(map(str, item["doubts"]), "; "),
            "Lines": lines,
        },
    )


# ── what it works on ─────────────────────────────────────────────────────────────────────────────────────────────


def _files(document: Json) -> list[Block]:
    def opened(file: Json) -> Cell:
        pieces: list[Piece] = []
        for use in file["opens"]:
            mode, line = (use["mode"], use["line"]) if isinstance(use, dict) else (use, None)
            pieces += [", "] if pieces else []
            pieces += [str(mode)] if line is None else [f"{mode} ", CitedLines(line, line)]
        return tuple(pieces)

    return table(
        document["files"],
        {
            "File": lambda file: _code(file["name"]),
            "Assigned to": lambda file: _code(file["assign"]),
            "DD": lambda file: _code(file.get("dd")),
            "Organization": lambda file: _plain((file["organization"] or "").lower()),
            "Access": lambda file: _plain((file["access"] or "").lower()),
            "Keys": lambda file: _codes(file["keys"]),
            "Status": lambda file: _code(file["status"]),
            "Record": lambda file: _codes(file.get("records") or ([file["record"]] if file["record"] else [])),
            "Opened": opened,
            "Lines": lines,
        },
    )


DEEDS = ("create", "read", "update", "delete")


def crud(items: Sequence[Json]) -> list[Block]:
    """Resources by what is done with them."""

    def deed(name: str) -> Callable[[Json], Cell]:
        return lambda item: _line_list(item[name])

    columns = {
        "Resource": lambda item: _code(item["resource"]),
        "Kind": lambda item: _plain(item["kind"]),
    } | {name.capitalize(): deed(name) for name in DEEDS}
    return table(items, columns)


def _sql(document: Json) -> list[Block]:
    return table(
        document["sql_operations"],
        {
            "Operation": lambda item: _code(item["operation"]),
            "Tables": lambda item: _codes(item.get("tables") or ([item["table"]] if item["table"] else [])),
            "Cursor": lambda item: _code(item["cursor"]),
            "Host variables": lambda item: _codes(item["host_variables"]),
            "In": lambda item: _code(item.get("paragraph")),
            "Lines": lines,
        },
    )


def _cics(document: Json) -> list[Block]:
    return table(
        document["cics_operations"],
        {
            "Command": lambda item: _code(item["command"]),
            "Resource": lambda item: _code(item["resource"]),
            "Kind": lambda item: _plain(item.get("kind")),
            "Known from": lambda item: joined(map(str, item.get("resolved_from") or ())),
            "Response": lambda item: _code(item["resp"]) or _plain(item.get("response")),
            "In": lambda item: _code(item.get("paragraph")),
            "Lines": lines,
        },
    )


def _dli(document: Json) -> list[Block]:
    return table(
        document["dli_operations"],
        {
            "Function": lambda item: _code(item["function"]),
            "Segments": lambda item: _codes(item["segments"]),
            "PCB": lambda item: _code(item["pcb"]),
            "Area": lambda item: _code(item["area"]),
            "In": lambda item: _code(item["paragraph"]),
            "Lines": lines,
        },
    )


def _mq(document: Json) -> list[Block]:
    return table(
        document["mq_operations"],
        {
            "Call": lambda item: _code(item["call"]),
            "Queue": lambda item: _code(item["queue"]),
            "Known from": lambda item: joined(map(str, item["resolved_from"])),
            "In": lambda item: _code(item["paragraph"]),
            "Lines": lines,
        },
    )


def _transforms(document: Json) -> list[Block]:
    return table(
        document["data_flow"]["transforms"],
        {
            "Statement": lambda item: _code(item["text"]),
            "Writes": lambda item: _codes(item["targets"]),
            "From": lambda item: _codes(item["sources"]),
            "In": lambda item: _code(item["paragraph"]),
            "Lines": lines,
        },
    )


def _errors(document: Json) -> list[Block]:
    return table(
        document["error_handling"],
        {
            "Kind": lambda item: _code(item["kind"]),
            "Condition": lambda item: _code(item["condition"]),
            "What is done": lambda item: _code(item["action"]),
            "What it means": lambda item: _said(item, "description"),
            "In": lambda item: _code(item.get("paragraph")),
            "Lines": lines,
        },
    )


def condition(item: Json) -> str:
    """A level 88 in a line."""
    return f"{item['name']} = {', '.join(map(str, item['values']))}" if isinstance(item, dict) else str(item)


# ── data ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _copybooks(document: Json, copied: _Copied) -> list[Block]:
    def found(item: Json) -> Cell:
        if item["found"]:
            return _code(item["path"]) or (Tag("found", "good"),)
        return (Tag("of the system"),) if item.get("system") else (Tag("not found", "doubt"),)

    return table(
        document["copybooks_used"],
        {
            "Copybook": lambda item: copied(item["copybook_name"]),
            "Library": lambda item: _code(item["library"]),
            "By": lambda item: _plain(item["via"]),
            "Where": found,
            "Replacing": replaced,
            "Within": lambda item: copied(item["copybook"]),
            "Lines": lines,
        },
    )


def replaced(item: Json) -> Cell:
    """What the REPLACING of a COPY says."""
    pairs = [CodeSpan(f"{one['from']} BY {one['to']}") for one in item["replacing"]]
    more = len(pairs) - MAX_PAIRS
    return joined((*pairs[:MAX_PAIRS], *((f"and {more} more",) if more > 0 else ())), BELOW)


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
        depending = item.get("depending")
        return (str(item["occurs"]), *((" by ", CodeSpan(depending)) if depending else ()))

    def meaning(item: Json) -> Cell:
        return joined((*_code(item["value"]), *map(CodeSpan, map(condition, item["conditions"]))), BELOW)

    def anchor(item: Json) -> str:
        line = line_of_item(item)
        return item_anchor(line) if line else ""

    return table(
        document["data_items"],
        {
            "Name": lambda item: (CodeSpan(f"{item['level']:02d} {item['name']}"),),
            "Picture": lambda item: _code(item["picture"]),
            "Usage": lambda item: _plain(None if item["usage"] in {"DISPLAY", "GROUP"} else item["usage"]),
            "Occurs": occurs,
            "Redefines": lambda item: _code(item["redefines"]),
            "Offset": lambda item: _plain(item["offset"]),
            "Bytes": lambda item: _plain(item["bytes"]),
            "Values": meaning,
            "Section": lambda item: _code(item["section"]),
            "Copybook": lambda item: copied(item["copybook"], item["copybook_line"]),
            "Read": lambda item: _line_list(item["read_lines"]),
            "Written": lambda item: _line_list(item["written_lines"]),
            "Lines": lines,
        },
        numbers=("Offset", "Bytes"),
        depth=depth,
        anchor=_first(anchor),
    )


def _constants(document: Json) -> list[Block]:
    constants = table(
        document["constants"],
        {"Constant": lambda item: _code(item["name"]), "Value": lambda item: _code(item["value"]), "Lines": lines},
    )
    messages = table(
        document["messages"],
        {"Message": lambda item: _code(item["text"]), "Goes to": lambda item: _code(item["target"]), "Lines": lines},
    )
    return [*constants, *messages]


# ── how it went ──────────────────────────────────────────────────────────────────────────────────────────────────


def _questions(document: Json) -> list[Block]:
    return table(
        document["open_questions"],
        {
            "Question": lambda item: _plain(item["question"]),
            "Why it is open": lambda item: _plain(item["reason"]),
            "Lines": lambda item: lines(item) or joined(_spans(item["lines"])),
        },
    )


def _spans(spans: Iterable[Json]) -> Iterator[Piece]:
    for span in spans:
        first, last = (span[0], span[-1]) if isinstance(span, list) else (span, span)
        yield CitedLines(first, last)


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
                ("Confidence", _percent(confidence["overall"]) or ("no model was asked",)),
            )
        )
    ]
    blocks += table(
        coverage["chunks_failed"],
        {"Not described": lambda item: joined(_spans(item["lines"])), "Why": lambda item: _plain(item["reason"])},
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
            "Ticket": lambda item: _code(item["id"]),
            "Type": lambda item: (item["type"].replace("_", " "),),
            "State": lambda item: (Tag(item["state"], {"done": "good", "failed": "bad"}.get(item["state"], "plain")),),  # type: ignore[arg-type]
            "Lines": lambda item: joined(_spans(item["lines"])),
            "Why": lambda item: _plain(item.get("reason")),
        },
    )
    if document["not_generated"]:
        missing = ", ".join(name.replace("_", " ") for name in document["not_generated"])
        blocks.append(TextBlock((f"Not generated, because only a model can say it: {missing}.",), is_aside=True))
    return [*blocks, *notes(document)]


def notes(document: Json) -> list[Block]:
    """What was odd in the source and was read all the same."""
    return [TextBlock((Tag("note", "doubt"), " ", str(warning))) for warning in document["warnings"]]

"""What does the code of a program or a copybook say? Section by section: its calls, control flow, what it works on, and its data.

Both have the same sections, and a model at most adds words to them. Law: every item of the document that has citations has them
here. Leaves to others: what a program is for and how certain that is (`program`), tables that only show fields (`operations`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.cobol.facts.calls import is_interface
from penstock.cobol.program import key
from penstock.scribe.filling import NAME_IS_DATA
from penstock.scribe.pages import graphs, operations
from penstock.scribe.pages.blocks import (
    BELOW,
    CodeSpan,
    PageSection,
    ParagraphLink,
    Tag,
    TextBlock,
    joined,
)
from penstock.scribe.pages.columns import (
    LINES,
    KindColumn,
    code,
    code_cell,
    codes,
    codes_cell,
    condition,
    line_list,
    once,
    plain,
    plain_cell,
    table,
    words,
    words_cell,
)
from penstock.scribe.pages.estate import TO_TRANSACTION, item_anchor, line_of_item, paragraph_anchor
from penstock.scribe.pages.ranking import ranked_rules, weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock.scribe.pages.blocks import Block, Cell, GraphNode, Piece
    from penstock.scribe.pages.estate import NameIndex
    from penstock.scribe.pages.operations import OperationTable
    from penstock.text.json_access import Json


def of_code(here: GraphNode, document: Json, names: NameIndex) -> Iterator[PageSection]:
    """Yield the sections about the code, of a program or a copybook; those without content are left out.

    Args:
        here: The box of the program or copybook in the diagram of its neighbours.
        document: What its code says.
        names: What the names of others link to.
    """
    copied = _Copied(document, names)
    flow = graphs.flow(document)
    # The only list of operations that is nested: calculations are part of the data flow.
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
    """Links for the names of a document's copybooks, and for the names of paragraphs in them."""

    def __init__(self, document: Json, names: NameIndex) -> None:
        self._names = names
        self._paths = {key(used["copybook_name"]): used["path"] for used in document["copybooks_used"]}

    def __call__(self, name: str | None, line: int | None = None) -> Cell:
        """Return the name of a copybook, as a link if it has a page: to the data item on that line, if there is one."""
        return (self._names.file(self._paths.get(key(name)), name, line),) if name else ()

    def paragraph(self, name: str) -> Piece:
        """Return the name of a paragraph that the document itself lacks, as a link if one of the copybooks has it."""
        return self._names.paragraph(self._paths.values(), name)


def _channels(document: Json, copied: _Copied) -> list[Block]:
    """Return the table of inputs and outputs: files, screens, parameters, queues, tables."""
    channels = (("in", document["inputs"]), ("out", document["outputs"]))
    return table(
        [{**item, "direction": direction} for direction, items in channels for item in items],
        {
            "Direction": plain("direction"),
            "Name": code("name"),
            "Kind": plain("io_type"),
            "Copybook": lambda item: copied(item["copybook"]),
            "What it is": words("description"),
            "Lines": LINES,
        },
    )


# ── control ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _calls(here: GraphNode, document: Json, names: NameIndex) -> list[Block]:
    """Return the diagram of a program's neighbours, and the table of its calls.

    What a model says about a call applies to the called program: all calls of the same name share it.
    """
    picture = graphs.neighbours(here, document, names)
    blocks: list[Block] = [] if picture is None else [picture]
    purposes = {item["callee"].upper(): item for item in document["call_semantics"] if item["callee"]}
    blocks += table(
        document["called_programs"],
        {
            "Program": lambda call: _target(call, document["header"], names),
            "How": KindColumn("plain", lambda calls: [call["call_type"].replace("_", " ") for call in calls]),
            "Known from": plain("resolved_from"),
            "Parameters": codes("parameters"),
            "Places": lambda call: plain_cell(call["places"] if call["places"] > len(call["citations"]) else None),
            "What for": lambda call: words_cell(purposes.get(call["program_name"].upper(), {}), "purpose"),
            "Lines": LINES,
        },
    )
    return blocks


def _target(call: Json, caller: Json, names: NameIndex) -> Cell:
    """Return the target of a program's call, where `caller` is the program's header: a link, or a name with why it is not one.

    The kind of the call is checked first: START and RETURN name transactions, and a transaction may have the name of a program.
    """
    name = call["program_name"]
    if call["call_type"] in TO_TRANSACTION:
        return (CodeSpan(name), " ", Tag("transaction"))
    if call["resolved_from"] == NAME_IS_DATA:
        return (CodeSpan(name), " ", Tag("data", "doubt"))
    page = names.called_page(name, caller)
    if page is not None:
        return (names.piece_of(page),)
    if names.is_here(name):
        return (CodeSpan(name), " ", Tag("contained elsewhere", "doubt"))
    if names.is_in_cl(name):
        return (CodeSpan(name), " ", Tag("in CL"))
    if call["call_type"] == "sql":  # most procedures of a database are not programs
        return (CodeSpan(name), " ", Tag("procedure of the database"))
    return (CodeSpan(name), " ", Tag("of the system") if is_interface(name) else Tag("not here", "doubt"))


def _paragraphs(document: Json, copied: _Copied) -> list[Block]:
    """Return the table of paragraphs, each name a link to its row, or to the row in the copybook that it came from."""
    # Of several paragraphs with the same name a link leads to the first. Sections are added afterwards, so that a paragraph wins
    # over a section of the same name.
    starts: dict[str, int] = {}
    for item in document["paragraphs"]:
        starts.setdefault(item["paragraph_name"].upper(), item["start_line"])
    for item in document["paragraphs"]:
        if item["section"]:  # a section is entered at its first paragraph
            starts.setdefault(item["section"].upper(), item["start_line"])

    reach = {one.line: one.reach for one in weights(document["paragraphs"])}

    def named(texts: Iterable[str]) -> Cell:
        return joined(
            ParagraphLink(name, starts[name.upper()]) if name.upper() in starts else copied.paragraph(name)
            for name in texts
        )

    def name_of(item: Json) -> Cell:
        # "Dead" means that nothing in the code reaches it; the section on dead code has the reason and the doubts.
        dead: Cell = (" ", Tag("dead", "bad")) if item["is_dead_code"] else ()
        return (ParagraphLink(item["paragraph_name"], item["start_line"]), *dead)

    return table(
        document["paragraphs"],
        {
            "Paragraph": name_of,
            "Section": code("section"),
            "Lines": LINES,
            "Statements": plain("statements"),
            "Complexity": plain("complexity"),
            "Reached from": KindColumn("plain", lambda items: [str(reach[item["start_line"]]) for item in items]),
            "What it does": words("summary", "purpose"),
            "Calls": lambda item: named(item["calls"]),
            "Called by": lambda item: named(item["called_by"]),
            "Jumps to": lambda item: named(item["jumps"]),
            "Runs on into": lambda item: named([item["falls_into"]] if item["falls_into"] else []),
        },
        numbers=("Statements", "Complexity", "Reached from"),
        anchor=once(lambda item: paragraph_anchor(item["start_line"])),
    )


def _rules(document: Json) -> list[Block]:
    """Return the table of decisions that may be business rules, under a line that says so."""

    def when(rule: Json) -> Cell:
        meanings = [f"{one['name']}: {one['meaning']}" for one in rule["meanings"]]
        said = joined((CodeSpan(condition) for condition in rule["conditions"]), BELOW)
        return (*said, " (", *codes_cell(meanings), ")") if meanings else said

    rows = table(
        [{**rule, "kind": kind} for kind, rule in ranked_rules(document["business_rules"])],
        {
            "Rule": code("rule_id"),
            "What it is": lambda rule: (Tag(rule["kind"], "good" if rule["kind"] == "computation" else "plain"),),
            "In": code("paragraph"),
            "When": when,
            "Then": lambda rule: joined((CodeSpan(action) for action in rule["actions"]), BELOW),
            "What it means": words("logic_summary", "description"),
            "Lines": LINES,
        },
    )
    if not rows:
        return []
    told = (
        "Decisions that the code makes and that may be rules of the business: first those that compute, then those on data of the "
        "business, then what only keeps the program running. What looks at errors is under error handling."
    )
    return [TextBlock((told,), is_aside=True), *rows]


# ── data ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _copybooks(document: Json, copied: _Copied) -> list[Block]:
    """Return the table of copybooks, with where each was found, or that it belongs to the system, or is missing."""

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
            "Lines": LINES,
        },
    )


def _items(document: Json, copied: _Copied) -> list[Block]:
    """Return the table of data items, indented by their levels, with offsets and lengths in bytes and the lines that use them."""
    # The levels of the groups around the current item. Level numbers need not be consecutive, and 01 may be followed by 10 and then
    # 05: how deep an item is follows only from the items before it. `table` asks row by row, in their order.
    levels: list[int] = []

    def depth(item: Json) -> int:
        # Groups that end before this item are dropped: those whose level is not below its own.
        level = item["level"]
        if level in {1, 66, 77, 78}:  # these start at the top: records, RENAMES, standalone items, constants
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
        value = code_cell(item["value"])
        return (
            joined((*value, *map(CodeSpan, map(condition, item["conditions"]))), BELOW) if item["conditions"] else value
        )

    def anchor(item: Json) -> str:
        line = line_of_item(item)
        return item_anchor(line) if line else ""

    return table(
        document["data_items"],
        {
            "Name": KindColumn("code", lambda items: [f"{item['level']:02d} {item['name']}" for item in items]),
            "Picture": code("picture"),
            "Usage": KindColumn(
                "plain",
                lambda items: [None if item["usage"] in {"DISPLAY", "GROUP"} else item["usage"] for item in items],
            ),
            "Occurs": occurs,
            "Redefines": code("redefines"),
            "Offset": plain("offset"),
            "Bytes": plain("bytes"),
            "Values": meaning,
            "Section": code("section"),
            "Copybook": lambda item: copied(item["copybook"], item["copybook_line"]),
            "Read": line_list("read_lines"),
            "Written": line_list("written_lines"),
            "Lines": LINES,
        },
        numbers=("Offset", "Bytes"),
        depth=depth,
        anchor=once(anchor),
    )

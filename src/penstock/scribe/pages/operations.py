"""What does a program work on? Tables that show fields: files, SQL, CICS, IMS, MQ, calculations, errors, and dead code.

Each table is a title, the field of the document that holds its items, and its columns. A new kind of operation is an entry here.
Leaves to others: tables that need more than their own items (`source`), and what a cell looks like (`columns`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.scribe.pages.blocks import BELOW, CitedLines, CodeSpan, ParagraphLink, joined
from penstock.scribe.pages.columns import (
    DEEDS,
    LINES,
    KindColumn,
    code,
    code_cell,
    codes,
    line_list,
    listed,
    lower,
    plain,
    plain_cell,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.scribe.pages.blocks import Cell
    from penstock.scribe.pages.columns import Column
    from penstock.text.json_access import Json

MAX_PAIRS = 12
"""The most pairs of a REPLACING that a cell shows; the JSON has all."""


# The last columns of most tables: the paragraph that an operation is in, and its lines.
_WHERE = {"In": code("paragraph"), "Lines": LINES}


class OperationTable(NamedTuple):
    """A table whose cells are all in its items: the title of its section, the field with the items, and its columns."""

    title: str
    field: str
    columns: Mapping[str, Column]


def replaced(item: Json) -> Cell:
    """Return the REPLACING of a COPY, one pair per line, at most `MAX_PAIRS` of them."""
    pairs = [CodeSpan(f"{one['from']} BY {one['to']}") for one in item["replacing"]]
    more = len(pairs) - MAX_PAIRS
    return joined((*pairs[:MAX_PAIRS], *((f"and {more} more",) if more > 0 else ())), BELOW)


def _opened(file: Json) -> Cell:
    """Return the modes in which a file is opened, each with the line of its OPEN."""
    return tuple(
        piece
        for at, use in enumerate(file["opens"])
        for piece in (", " if at else "", f"{use['mode']} ", CitedLines(use["line"], use["line"]))
        if piece
    )


RESOURCES = (
    # In the order in which a maintainer asks: what is kept where, what is done with it, and how. Files first, because every batch
    # program has them; then the summary of all resources; then the statements, kind by kind.
    OperationTable(
        "Files",
        "files",
        {
            "File": code("name"),
            "Assigned to": code("assign"),
            "DD": code("dd"),
            "Organization": lower("organization"),
            "Access": lower("access"),
            "Keys": codes("keys"),
            "Status": code("status"),
            # An FD may have several records, and each is a view of the same bytes.
            "Record": codes("records"),
            "Opened": _opened,
            "Lines": LINES,
        },
    ),
    OperationTable(
        "What is created, read, updated and deleted",
        "crud",
        {"Resource": code("resource"), "Kind": plain("kind")} | {deed.capitalize(): line_list(deed) for deed in DEEDS},
    ),
    OperationTable(
        "SQL",
        "sql_operations",
        {
            "Operation": code("operation"),
            "Tables": codes("tables"),
            "Cursor": code("cursor"),
            "Host variables": codes("host_variables"),
            **_WHERE,
        },
    ),
    OperationTable(
        "CICS",
        "cics_operations",
        {
            "Command": code("command"),
            "Resource": code("resource"),
            "Kind": plain("kind"),
            "Known from": listed("resolved_from"),
            # The field that RESP names; else NOHANDLE, which means that nobody checks the response.
            "Response": lambda item: code_cell(item["resp"]) or plain_cell(item["response"]),
            **_WHERE,
        },
    ),
    OperationTable(
        "IMS",
        "dli_operations",
        {
            "Function": code("function"),
            "Segments": codes("segments"),
            "PCB": code("pcb"),
            "Area": code("area"),
            **_WHERE,
        },
    ),
    OperationTable(
        "Network database",
        "idms_operations",
        {
            "Statement": code("verb"),
            "Record or set": code("record"),
            "Set or area": code("set"),
            **_WHERE,
        },
    ),
    OperationTable(
        "MQ",
        "mq_operations",
        {
            "Call": code("call"),
            "Queue": code("queue"),
            "Known from": listed("resolved_from"),
            **_WHERE,
        },
    ),
    # Statements that compute, with what flows from where: the only table in which a field of a report can be traced back.
    OperationTable(
        "Calculations",
        "transforms",
        {
            "Statement": code("text"),
            "Writes": codes("targets"),
            "From": codes("sources"),
            **_WHERE,
        },
    ),
    OperationTable(
        "Error handling",
        "error_handling",
        {
            "Kind": code("kind"),
            "Condition": code("condition"),
            "What is done": code("action"),
            "What it means": words("description"),
            **_WHERE,
        },
    ),
)
"""What a program reads, writes and asks for: the resources, then each kind of operation with its own columns."""

AT_THE_END = (
    OperationTable(
        "Constants and messages", "constants", {"Constant": code("name"), "Value": code("value"), "Lines": LINES}
    ),
    OperationTable(
        "Constants and messages", "messages", {"Message": code("text"), "Goes to": code("target"), "Lines": LINES}
    ),
    OperationTable("Not understood", "not_understood", {"Text": code("text"), **_WHERE}),
    OperationTable(
        "Dead code",
        "dead_code",
        {
            "Paragraph": lambda item: (ParagraphLink(item["paragraph_name"], item["start_line"]),),
            "Section": code("section"),
            "Why": plain("dead_code_reason"),
            "Doubts": KindColumn("plain", lambda items: ["; ".join(map(str, item["doubts"])) for item in items]),
            "Lines": LINES,
        },
    ),
)
"""What comes after the data: texts in the program, what was not understood, and paragraphs that nothing reaches."""

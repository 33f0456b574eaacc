"""What does the page of a program say? The sections of a document, in the order in which a maintainer asks.

First what the program is for and how large it is, then what its code says (`source`), and last how certain all of that is. A
model's words are marked as such; what nobody generated is reported as missing, in one place; a section without content is left out
and named at the top. Leaves to others: Markdown and HTML (`markdown`, `html`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.scribe.pages import source
from penstock.scribe.pages.blocks import (
    CitedLines,
    CodeSpan,
    FactBlock,
    PageSection,
    Tag,
    TextBlock,
    joined,
)
from penstock.scribe.pages.columns import (
    code,
    codes_cell,
    lines,
    not_found,
    percent_cell,
    plain,
    plain_cell,
    spans,
    table,
    words_cell,
)
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock.scribe.pages.blocks import Block, Cell, Piece, Tone
    from penstock.scribe.pages.estate import NameIndex
    from penstock.text.json_access import Json

_TONES: dict[str, Tone] = {"done": "good", "failed": "bad"}
"""How the states of tickets are meant; the others are plain."""
_MANY = 4
"""The number of lines of which the same is said from which they share one note."""


def sections(page: str, document: Json, names: NameIndex) -> Iterator[PageSection]:
    """Yield all sections that have content: what it is for, how large it is, what its code says, and how certain that is.

    Args:
        page: The id of the program's page.
        document: The program, as `scribe.documents` describes it.
        names: What the names of other programs, copybooks and paragraphs link to.
    """
    yield PageSection("Purpose", tuple(_purpose(document)))
    yield PageSection("At a glance", tuple(_glance(document, names)))
    yield from source.of_code(names.own(page), document, names)
    if questions := _questions(document):
        yield PageSection("Open questions", tuple(questions))
    yield PageSection("Coverage and confidence", tuple(_coverage(document)))


# ── what it is ───────────────────────────────────────────────────────────────────────────────────────────────────


def _purpose(document: Json) -> list[Block]:
    """Return the purpose of the program according to a model, with its citations; or that no model was asked."""
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
    """Return the facts about a program in a word or two, and what was looked for and not found.

    The second part matters as much: a page without a section "SQL" could come from a program without SQL, or from a tool that does
    not know SQL.
    """
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
        ("Not understood", not_understood(size["not_understood"])),
        ("Complexity", (f"{counted(size['cyclomatic'], 'way')} at decisions, {size['max_depth']} deep at most",)),
        ("Transactions", codes_cell(context["transactions"])),
        ("Jobs", codes_cell(context["jobs"])),
        ("Called by", joined(names.piece(name, header["file_name"]) for name in context["called_by"])),
        ("Entry points", tuple(piece for entry in context["entry_points"] for piece in _entry(entry))),
        ("Parameters", codes_cell(context["using"])),
        ("Linkage", codes_cell(context["linkage_section"])),
        ("Copybooks not found", not_found(document)),
        (
            "Words of a model",
            (
                f"{header['final_status']}; {coverage['paragraphs_described']} of ",
                f"{counted(coverage['paragraphs_total'], 'paragraph')} described",
            ),
        ),
        ("Confidence", percent_cell(confidence["overall"])),
    ]
    blocks: list[Block] = [FactBlock(tuple((name, cell) for name, cell in told if cell))]
    # What was looked for: fields of a document that list one kind of thing, by the word that a reader would search for.
    absent = [
        title
        for title, field in (
            ("calls", "called_programs"),
            ("files", "files"),
            ("SQL", "sql_operations"),
            ("CICS", "cics_operations"),
            ("IMS", "dli_operations"),
            ("MQ", "mq_operations"),
            ("copybooks", "copybooks_used"),
        )
        if not document[field]
    ]
    # What copied code does in an error, and which of it is dead, is said of the copybook.
    unhandled = [
        title
        for title, field in (("error handling", "error_handling"), ("dead code", "dead_code"))
        if not document[field]
    ]
    if not document["complexity"]["copied_statements"]:
        absent, unhandled = absent + unhandled, []
    said = [
        f"None found{where}: {', '.join(what)}."
        for where, what in (("", absent), (" in its own lines", unhandled))
        if what
    ]
    if said:
        blocks.append(TextBlock((" ".join(said),), is_aside=True))
    return blocks


def not_understood(number: int) -> Cell:
    """Return how many statements are not understood, as a doubt; nothing if all are."""
    return (Tag(counted(number, "statement"), "doubt"),) if number else ()


def file_rows(document: Json) -> list[tuple[str, Cell]]:
    """Return the facts about a file that programs and copybooks share: its path, and its size."""
    header, measures = document["header"], document["complexity"]
    size = f"{counted(header['lines'], 'line')}: {header['code_lines']} of code, {header['comment_lines']} of comment"
    statements, copied = measures["statements"], measures["copied_statements"]
    if statements or copied:
        size += f"; {counted(statements, 'statement')}" + (f", and {copied} in what it copies" if copied else "")
    return [
        ("File", (CodeSpan(header["file_name"]), f" ({header['format']} format, {header['encoding']})")),
        ("Size", (size,)),
    ]


def _entry(entry: Json) -> Cell:
    return (CodeSpan(entry["name"]), " ", CitedLines(entry["line"], entry["line"]), " ")


# ── how it went ──────────────────────────────────────────────────────────────────────────────────────────────────


def _questions(document: Json) -> list[Block]:
    """Return the table of a model's questions and unproven statements, for a person to answer."""
    return table(
        document["open_questions"],
        {
            "Question": plain("question"),
            "Why it is open": plain("reason"),
            "Lines": lambda item: lines(item) or joined(spans(item["lines"])),
        },
    )


def _coverage(document: Json) -> list[Block]:
    """Return how much of the program was described, what failed and why, and what share of a model's claims the code bore out."""
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
            "State": lambda item: (Tag(item["state"], _TONES.get(item["state"], "plain")),),
            "Lines": lambda item: joined(spans(item["lines"])),
            "Why": lambda item: plain_cell(item["reason"]),
        },
    )
    if document["not_generated"]:
        missing = ", ".join(name.replace("_", " ") for name in document["not_generated"])
        blocks.append(TextBlock((f"Not generated, because only a model can say it: {missing}.",), is_aside=True))
    return [*blocks, *notes(document)]


def notes(document: Json) -> list[Block]:
    """Return what was odd in the source but was read anyway, one line each; what is said of many lines is said once."""
    alike: dict[str, list[Json]] = {}
    for warning in document["warnings"]:
        alike.setdefault(warning["text"].removesuffix(warning["name"]), []).append(warning)
    told: list[Cell] = []
    for said, warnings in alike.items():
        places = [CitedLines(warning["line"], warning["line"]) for warning in warnings]
        if len(warnings) < _MANY:
            told += [(place, f": {warning['text']}") for place, warning in zip(places, warnings, strict=True)]
        elif warnings[0]["name"]:
            # The kind, before the names, is now several.
            told.append((f"{said.rstrip()}s ", *_placed([warning["name"] for warning in warnings], places)))
        else:
            told.append((*joined(places), f": {said}"))
    return [TextBlock((Tag("note", "doubt"), " ", *cell)) for cell in told]


def _placed(names: Iterable[str], places: Iterable[CitedLines]) -> Iterator[Piece]:
    """Yield names with their places in parentheses, as `A (line 1), B (line 2)`."""
    end = ""
    for name, place in zip(names, places, strict=True):
        yield from (f"{end}{name} (", place)
        end = "), "
    yield ")"

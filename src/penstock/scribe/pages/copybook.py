"""What does the page of a copybook say? Who uses it, its layout, and whatever else its code says.

A copybook's document has the same shape as a program's, so the sections about code are the same. Readers of this page ask other
things first: where it is copied to, and what is at which offset. No model is asked about a copybook, so nothing here waits for one.
Law: as on the page of a program, every item that has citations has them.
Leaves to others: how each item is shown (`source`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.scribe.pages import columns, operations, program, source
from penstock.scribe.pages.blocks import CodeSpan, FactBlock, GraphNode, PageSection, TextBlock
from penstock.scribe.pages.estate import name_of
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.scribe.pages.blocks import Block, Cell
    from penstock.scribe.pages.estate import CopyUser, NameIndex
    from penstock.text.json_access import Json


def sections(page: str, document: Json, names: NameIndex) -> Iterator[PageSection]:
    """Yield all sections that have content: users and the layout first.

    Args:
        page: The id of the copybook's page.
        document: The copybook, as `scribe.documents` describes it.
        names: What names link to, and who copies a file.
    """
    yield PageSection("At a glance", (_glance(document), *program.notes(document)))
    yield PageSection("Used by", tuple(_users(names.users(document["header"]["file_name"]))))
    here = GraphNode(f"copybook {page}", name_of(document))
    # The sections of its code in their usual order, except two that come first and have other names here.
    told = {section.title: section for section in source.of_code(here, document, names)}
    for title, ours in (("Data dictionary", "Layout"), ("Copybooks", "What it copies")):
        if section := told.pop(title, None):
            yield section._replace(title=ours)
    yield from told.values()


def _glance(document: Json) -> Block:
    holds = [
        counted(len(document[field]), one)
        for field, one in (("data_items", "data item"), ("paragraphs", "paragraph"))
        if document[field]
    ]
    told: list[tuple[str, Cell]] = [
        *program.file_rows(document),
        ("Holds", (", ".join(holds),) if holds else ()),
        ("Copybooks not found", columns.not_found(document)),
    ]
    return FactBlock(tuple((name, cell) for name, cell in told if cell))


def _users(users: Sequence[CopyUser]) -> list[Block]:
    shown: dict[str, Callable[[CopyUser], Cell]] = {
        "Name": lambda user: (user.document,),
        "Type": lambda user: (user.type,),
        "By way of": lambda user: (CodeSpan(user.used["copybook"]),) if user.used["copybook"] else (),
        "Replacing": lambda user: operations.replaced(user.used),
        "Lines": lambda user: columns.lines(user.used, user.document.path),
    }
    return columns.table(users, shown) or [TextBlock(("Nothing here copies it.",), is_aside=True)]

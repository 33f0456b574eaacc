"""How do people read documents? As Markdown, an index of the estate, and a site that opens from disk.

    estate = estate_of("Millwater", programs, layouts, linked)
    for path, text in site(estate, listings): ...

Values in, texts out: what a document says, in the order in which a maintainer asks, with every citation. The content is decided
once (`program`, `copybook`, `index`), as blocks that are neither Markdown nor HTML; each format renders all of them. Nothing here
opens a user's file. Law: a name or a literal of a program can only be read, wherever it is shown.
Leaves to others: what is known (`documents`), and who writes the files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.scribe.json_lines import json_lines
from penstock.scribe.pages import copybook, index, markdown, program
from penstock.scribe.pages.blocks import DocumentLink, PageSection, TextBlock
from penstock.scribe.pages.copied import CopyView, of_copies
from penstock.scribe.pages.estate import EstateView, NameIndex, name_of, names_of
from penstock.scribe.pages.flows import EstateFlows
from penstock.scribe.pages.inventory import estate_of
from penstock.scribe.pages.site import SiteFrame, of_dictionary, of_estate, sections_of, site
from penstock.scribe.pages.site import of_document as page_of
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.text.json_access import Json

__all__ = [
    "CopyView",
    "EstateFlows",
    "EstateView",
    "NameIndex",
    "SiteFrame",
    "copybook_markdown",
    "estate_markdown",
    "estate_of",
    "index_json",
    "of_document",
    "of_estate",
    "program_markdown",
    "site",
]


def program_markdown(document: Json, page: str = "", names: NameIndex | None = None) -> str:
    """Return the document of a program as Markdown.

    Args:
        document: The program, as `scribe.documents` describes it.
        page: The id of its page within its estate.
        names: What names link to; without it they are not links.
    """
    told = program.sections(page, document, names or NameIndex({page: document}))
    return markdown.page(name_of(document), told, "../")


def copybook_markdown(document: Json, page: str, names: NameIndex) -> str:
    """Return the document of a copybook as Markdown, with its users."""
    return markdown.page(name_of(document), copybook.sections(page, document, names), "../")


def estate_markdown(estate: EstateView, names: NameIndex | None = None) -> Iterator[tuple[str, str]]:
    """Yield the paths and texts of an estate's index as Markdown, and of the pages of its data dictionary.

    Args:
        estate: The programs and what surrounds them.
        names: What names link to, if that is already known.
    """
    names = names or names_of(estate)

    def sections() -> Iterator[PageSection]:  # one at a time: their cells take ten times the memory of their text
        yield from index.overview(estate, names)
        yield from index.shared(estate, names)
        yield from index.around(estate, names)
        if estate["terms"]:
            yield PageSection(
                "Data dictionary", (TextBlock((DocumentLink(counted(len(estate["terms"]), "name"), "data"),)),)
            )

    yield "index.md", markdown.page(estate["name"], sections(), "")
    for path, _, told in of_dictionary(estate["terms"], names):
        yield f"{path}.md", markdown.page("Data dictionary", (told,), "")


def of_document(
    path: str,
    document: Json,
    frame: SiteFrame,
    listing: Sequence[tuple[int, str]],
    inner: Json = None,
    copies: Sequence[CopyView] = (),
) -> Iterator[tuple[str, str]]:
    """Yield the paths and texts of what people read about a program or copybook: its Markdown, its page, its source.

    Args:
        path: The path of its files, without suffix.
        document: The complete document.
        frame: What all pages of the site share.
        listing: The numbered lines of its source.
        inner: What its fields and paragraphs do to each other (`wiring`).
        copies: Near-copies of the program, the nearest with its differences.
    """
    # The content is decided once for both formats: that takes longer than writing either.
    title, sections = name_of(document), (*sections_of(path, document, frame.names), *of_copies(copies))
    yield f"{path}.md", markdown.page(title, sections, "../")
    yield from page_of(path, title, document["header"], sections, frame, listing, inner)


def index_json(estate: EstateView, names: NameIndex | None = None) -> str:
    """Return the index of an estate as JSON, for scripts; `names` as for `estate_markdown`."""
    return json_lines(index.as_json(estate, names or names_of(estate)))

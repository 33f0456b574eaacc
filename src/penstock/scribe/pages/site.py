"""What are the files of the site? Pages of the estate, one page for each program and each copybook, and what they share.

The site opens from disk: no page requests anything but files next to it. The search index is a script and not JSON, because a
browser lets a page from disk load scripts next to it, but fetch nothing. Law: every link leads to an existing page or line; what
has no content has neither page nor tab. Leaves to others: what the search finds (`finding`), writing the files, and what a page
looks like (`templates`, `static`).
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from penstock.scribe.pages import copybook, html, index, program
from penstock.scribe.pages.blocks import DocumentLink, PageSection, TextBlock, joined
from penstock.scribe.pages.copied import CopyView, of_copies
from penstock.scribe.pages.copies import MOST_COPIES, compared, differences
from penstock.scribe.pages.estate import (
    NameIndex,
    copybook_path,
    data_path,
    name_of,
    names_of,
    program_path,
)
from penstock.scribe.pages.finding import search_script
from penstock.scribe.pages.flows import sections as sections_of_flows
from penstock.scribe.pages.wiring import estate_script
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from penstock.scribe.pages.estate import EstateView
    from penstock.scribe.pages.flows import EstateFlows
    from penstock.text.json_access import Json

TERMS_PER_PAGE = 1_500
"""The most names on one page of the data dictionary: about half a megabyte, which a browser lays out at once."""


class SiteFrame(NamedTuple):
    """What all pages of a site share: the name of the estate, the pages of the estate as a whole, and what names link to."""

    title: str
    tabs: tuple[tuple[str, str], ...]
    names: NameIndex

    @classmethod
    def of(cls, estate: EstateView, flows: EstateFlows | None = None) -> SiteFrame:
        """Return the frame of an estate; what has no content has no tab."""
        names = names_of(estate)
        tabs = [("index.html", "Overview")]
        tabs += [("resources.html", "Files and tables")] if any(index.shared(estate, names)) else []
        tabs += [("data.html", "Data")] if estate["terms"] else []
        tabs += [("parts.html", "Jobs, maps, copybooks")] if any(index.around(estate, names)) else []
        tabs += [("flows.html", "Flows")] if flows is not None and any(sections_of_flows(estate, flows, names)) else []
        return cls(estate["name"], tuple(tabs), names)


def site(
    estate: EstateView,
    listings: Mapping[str, Sequence[tuple[int, str]]],
    flows: EstateFlows | None = None,
    inner: Mapping[str, Json] | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield the path and text of each file of the site: those of the estate, then those of each document.

    Args:
        estate: What is shown, with complete documents.
        listings: The numbered lines of programs and copybooks, by the paths of their pages without suffix. Citations of a document
            without a listing are not links.
        flows: What flows are made of; None if the estate has no graph.
        inner: What the fields and paragraphs of programs do to each other, by the paths of their pages.
    """
    frame = SiteFrame.of(estate, flows)
    yield from of_estate(estate, frame, flows)
    of_programs = ((program_path(page), document) for page, document in estate["programs"].items())
    of_layouts = ((copybook_path(page), document) for page, document in estate["layouts"].items())
    for path, document in (*of_programs, *of_layouts):
        copies = _copies(path, estate, listings, flows, frame.names) if flows is not None else []
        told = (*sections_of(path, document, frame.names), *of_copies(copies))
        yield from of_document(
            path, name_of(document), document["header"], told, frame, listings.get(path, ()), (inner or {}).get(path)
        )


def _copies(
    path: str,
    estate: EstateView,
    listings: Mapping[str, Sequence[tuple[int, str]]],
    flows: EstateFlows,
    names: NameIndex,
) -> list[CopyView]:
    """Return the near-copies of the program of a page, with the differences from the nearest."""
    folder, _, page = path.partition("/")
    found = flows.copies.get(page, ()) if folder == "programs" else ()
    views = [
        CopyView(name_of(estate["programs"][one.page]), program_path(one.page), one.share, None)
        for one in found[:MOST_COPIES]
    ]
    if views:
        here = compared(name_of(estate["programs"][page]), listings.get(path, ()))
        there = compared(views[0].name, listings.get(views[0].path, ()))
        views[0] = views[0]._replace(hunks=differences(here, there))
    return [view._replace(name=names.name_of_page(one.page)) for view, one in zip(views, found, strict=False)]


def of_estate(estate: EstateView, frame: SiteFrame, flows: EstateFlows | None = None) -> Iterator[tuple[str, str]]:
    """Yield what all pages share, and the pages of the estate as a whole, each with its path."""
    terms, names = estate["terms"], frame.names
    own = resources.files("penstock.scribe.pages").joinpath("static", "style.css").read_text("utf-8")
    yield "style.css", html.environment().get_template("base.css").render() + own
    for name in ("site.js", "graph.js"):
        yield name, resources.files("penstock.scribe.pages").joinpath("static", name).read_text("utf-8")
    yield "search.js", search_script(estate, _parts(terms), flows)
    if flows is not None:
        yield "estate.js", estate_script(flows.graph, flows.pages)

    def page(
        path: str, title: str, sections: Iterable[PageSection], lead: str = "", markdown: str = "index.md"
    ) -> tuple[str, str]:
        told = tuple(sections)
        return path, html.page(title, frame.title, told, tabs=frame.tabs, here=path, lead=lead, markdown=markdown)

    yield page("index.html", "Overview", index.overview(estate, names))
    for path, title in frame.tabs:
        if path == "resources.html":
            yield page(path, title, index.shared(estate, names))
        elif path == "parts.html":
            yield page(path, title, index.around(estate, names))
        elif path == "flows.html" and flows is not None:
            yield page(path, title, sections_of_flows(estate, flows, names))
    for path, lead, names_of_data in of_dictionary(terms, names):
        yield page(f"{path}.html", "Data dictionary", (names_of_data,), lead, f"{path}.md")


def of_dictionary(terms: Sequence[Json], names: NameIndex) -> Iterator[tuple[str, str, PageSection]]:
    """Yield the pages of the data dictionary: the path of each without suffix, which names it has, and its section."""
    parts = _parts(terms)
    for here, part in enumerate(parts):
        numbers = (str(at + 1) if at == here else DocumentLink(str(at + 1), data_path(at)) for at in range(len(parts)))
        pages = (TextBlock(("Pages: ", *joined(numbers, " · "))),) if len(parts) > 1 else ()
        lead = f"Names {here * TERMS_PER_PAGE + 1} to {here * TERMS_PER_PAGE + len(part)} of {len(terms)}"
        yield data_path(here), lead, PageSection("Names", (*pages, *index.dictionary(part, names)))


def of_document(
    path: str,
    title: str,
    header: Json,
    sections: Sequence[PageSection],
    frame: SiteFrame,
    listing: Sequence[tuple[int, str]],
    inner: Json = None,
) -> Iterator[tuple[str, str]]:
    """Yield the path and text of the page of a program or copybook, and of the script with its source.

    Args:
        path: The path of its files, without suffix.
        title: Its name.
        header: The header of its document.
        sections: Its content.
        frame: What all pages share.
        listing: The numbered lines of the source.
        inner: What its fields and paragraphs do to each other (`wiring`); None if that was not drawn.
    """
    lead = f"{header['program_type']} · {header['file_name']} · {counted(header['lines'], 'line')}"
    numbers = [number for number, _ in listing]
    here = f"{path}.html"
    yield (
        here,
        html.page(
            title,
            frame.title,
            sections,
            tabs=frame.tabs,
            here=here,
            lead=lead,
            lines=numbers,
            markdown=f"{path}.md",
        ),
    )
    if listing:
        yield f"{path}.js", html.source_script(listing, inner)


def sections_of(path: str, document: Json, names: NameIndex) -> Iterator[PageSection]:
    """Yield the sections of a program or a copybook."""
    folder, _, page = path.partition("/")
    if folder == "programs":
        return program.sections(page, document, names)
    return copybook.sections(page, document, names)


def _parts(terms: Sequence[Json]) -> list[Sequence[Json]]:
    """Return the names of the data dictionary, split into pages."""
    return [terms[at : at + TERMS_PER_PAGE] for at in range(0, len(terms), TERMS_PER_PAGE)]

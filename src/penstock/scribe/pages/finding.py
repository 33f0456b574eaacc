"""What does the search of a site find? Every name of the estate that has a place on some page, with what it is and where.

Names with pages lead there, and what is in a table of the estate's pages leads to that table. Law: every entry leads to an existing
page and place; names are inert. Leaves to others: the search itself (`static/site.js`).
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.graph.naming import data_set
from penstock.cobol.program import key
from penstock.scribe.pages.estate import (
    PARTS_PATH,
    copybook_path,
    data_path,
    item_anchor,
    line_of_item,
    name_of,
    paragraph_anchor,
    program_path,
)
from penstock.scribe.pages.packing import packed
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.scribe.pages.estate import EstateView
    from penstock.scribe.pages.flows import EstateFlows
    from penstock.text.json_access import Json

KINDS = ("program", "transaction", "job", "paragraph", "step", "resource", "data set", "map", "copybook", "data")
"""What can be searched for. Of equal matches the first kind is shown first: a program's name means the program."""
_MISSING = {"program": "program", "transaction": "transaction", "procedure": "job"}
"""The kinds of what is not here that are names of one kind; a missing copybook is among the copybooks."""


class _Found(NamedTuple):
    """An entry: a name, its kind, the path of its page without suffix, the place in it, and what tells the page from others."""

    name: str
    kind: str
    page: str
    anchor: str = ""
    where: str = ""


def search_script(estate: EstateView, pages: Sequence[Sequence[Json]], flows: EstateFlows | None) -> str:
    """Return the script with the index that the search reads.

    Pages and kinds are given as numbers in two lists, as each applies to thousands of names. Names are made inert here, because a
    script puts them on the page and no template sees them; that it inserts them as text is the script's part.

    Args:
        estate: The programs and what surrounds them.
        pages: The data dictionary, split into pages.
        flows: What the page of flows is made of; None if there is none.
    """
    places: dict[tuple[str, str], int] = {}
    entries: list[tuple[str, int, int, str]] = []
    all_found = chain(
        _of_programs(estate),
        _of_copybooks(estate, pages),
        _of_estate(estate),
        _of_data_sets(estate, flows),
        _of_terms(pages),
    )
    for found in dict.fromkeys(all_found):  # several jobs may have one name
        place = places.setdefault((f"{found.page}.html", escape.show_name(found.where)), len(places))
        entries.append((escape.show_name(found.name), KINDS.index(found.kind), place, found.anchor))
    # A list for each column: the script searches all names at once, and numbers of one kind compress well.
    told = {
        "kinds": KINDS,
        "pages": list(places),
        "names": [name for name, _, _, _ in entries],
        "kindOf": [kind for _, kind, _, _ in entries],
        "pageOf": [place for _, _, place, _ in entries],
        "anchors": [anchor for _, _, _, anchor in entries],
    }
    return f'penstock.index("{packed(told)}");\n'


def _of_programs(estate: EstateView) -> Iterator[_Found]:
    for page, where, document in _told_apart(estate["programs"]):
        path = program_path(page)
        yield _Found(name_of(document), "program", path, where=where)
        yield from _paragraphs(document, path, where)


def _of_copybooks(estate: EstateView, pages: Sequence[Sequence[Json]]) -> Iterator[_Found]:
    # A copybook's data item that some program copies is in the data dictionary, with all its uses. Only items that no program has
    # are found on the page of their copybook: otherwise every name would be found once per copybook, and little else.
    known = {"", *(key(term["name"]) for part in pages for term in part)}
    for page, where, document in _told_apart(estate["layouts"]):
        path = copybook_path(page)
        yield _Found(name_of(document), "copybook", path, where=where)
        yield from _paragraphs(document, path, where)
        for item in document["data_items"]:
            line = line_of_item(item)
            if line is not None and key(item["name"]) not in known:
                yield _Found(item["name"], "data", path, item_anchor(line), where)


def _of_estate(estate: EstateView) -> Iterator[_Found]:
    """Yield what tables of the estate's pages have: the entry leads to the section, because rows have no anchors there."""
    for transaction in estate["transactions"]:
        yield _Found(transaction["name"], "transaction", "index", "how-it-is-entered")
    for missing in estate["missing"]:
        if kind := _MISSING.get(missing["kind"]):
            yield _Found(missing["name"], kind, "index", "not-here")
    for job in estate["jobs"]:
        if job["steps"]:
            yield _Found(job["name"], "job", PARTS_PATH, "jobs")
        for step in job["steps"]:
            if step["name"]:
                yield _Found(step["name"], "step", PARTS_PATH, "jobs", job["name"])
    for program in estate["control_programs"]:
        yield _Found(program["name"], "program", PARTS_PATH, "programs-in-cl")
        for variable in program["variables"]:
            yield _Found(variable, "data", PARTS_PATH, "programs-in-cl", program["name"])
    for mapset in estate["maps"]:
        for name in dict.fromkeys((mapset["name"], *mapset["maps"])):
            yield _Found(name, "map", PARTS_PATH, "maps")
    for one in estate["copybooks"]:
        if one["id"] is None:
            yield _Found(one["name"], "copybook", PARTS_PATH, "copybooks")
    for resource in estate["crud"]:
        yield _Found(resource["resource"], "resource", "resources")


def _of_data_sets(estate: EstateView, flows: EstateFlows | None) -> Iterator[_Found]:
    """Yield data sets, each on the first page that has it, as that page spells it."""
    copies = [copy for program in estate["control_programs"] for copy in program["copies"]]
    pages: list[tuple[str, str, Iterable[str]]] = [
        ("flows", "jobs-and-data-sets", {edge.target.name for edge in flows.by_steps} if flows is not None else ()),
        ("resources", "data-sets", {one["dataset"] for one in estate["data_sets"]}),
        (PARTS_PATH, "programs-in-cl", {name for copy in copies for name in (copy["source"], copy["target"])}),
    ]
    known: set[str] = set()
    for page, anchor, names in pages:
        shared = {name: _without_generation_and_job(name) for name in sorted(names)}
        yield from (_Found(name, "data set", page, anchor) for name, one in shared.items() if one not in known)
        known.update(shared.values())


def _without_generation_and_job(name: str) -> str:
    """Return what a data set is called on all pages: some show its generation, or the job of a temporary one, too."""
    _, mark, temporary = (bare := data_set(name, "")).partition("&&")
    return mark + temporary if mark else bare


def _of_terms(pages: Sequence[Sequence[Json]]) -> Iterator[_Found]:
    for at, part in enumerate(pages):
        for number, term in enumerate(part):
            yield _Found(term["name"], "data", data_path(at), f"n{number}")


def _paragraphs(document: Json, path: str, where: str) -> Iterator[_Found]:
    for item in document["paragraphs"]:
        yield _Found(item["paragraph_name"], "paragraph", path, paragraph_anchor(item["start_line"]), where)


def _told_apart(documents: Json) -> Iterator[tuple[str, str, Json]]:
    """Yield documents with their pages, and what tells each from others of its name: the name, or else its file."""
    alike = Counter(key(name_of(document)) for document in documents.values())
    for page, document in documents.items():
        name = name_of(document)
        yield page, name if alike[key(name)] == 1 else document["header"]["file_name"], document

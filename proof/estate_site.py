"""Does the site of an estate have an address for everything, and does every address exist (C-18, C-19)?

The judge reads the files of the site as a browser does: elements of a page, and the packed data from which its script makes more.
Leaves to others: how a page looks (`tests/browser.py`), and how quickly (`bench/cobol_site.py`).
"""

from __future__ import annotations

import base64
import json
import os
import re
import zlib
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proof.estate_views import Json

_FOUND_AS = {
    "program": "program",
    "paragraph": "paragraph",
    "copybook": "copybook",
    "transaction": "transaction",
    "job": "job",
    "field": "data",
}
"""How the search names what nodes of a kind are."""
_FIXED_BYTES, _PAGE_BYTES = 300_000, 6_000
"""What a site has once (scripts, styles), and what each page has in any case: an estate of very short programs is mostly frames."""
BYTES_A_LINE = 100
_SHELL = {"main", "found", "find", "theme", "told", "data", "touching", "lines", "source", "what-touches-what"}


def unpacked(text: str) -> Any:
    """Return the value of packed JSON."""
    return json.loads(zlib.decompress(base64.b64decode(text), -15))


class _Page(HTMLParser):
    """The elements of a page: its anchors, its links, and its data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.data = ""
        self._is_data = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element."""
        of = dict(attrs)
        if of.get("id"):
            self.anchors.add(of["id"] or "")
        self.links += [value for name in ("href", "src") if (value := of.get(name))]
        self._is_data = tag == "template" and of.get("id") == "data"

    def handle_data(self, data: str) -> None:
        """Take the data of a page."""
        if self._is_data:
            self.data += data

    def handle_endtag(self, _tag: str) -> None:
        """End an element."""
        self._is_data = False


class Site:
    """A site on disk.

    Args:
        out: Its folder.
    """

    def __init__(self, out: str) -> None:
        self.out = Path(out)
        self.anchors: dict[str, set[str]] = {}
        self.links: list[tuple[str, str, str]] = []
        """The page that has a link, the file to which it leads, and the anchor there."""
        self.tables: dict[tuple[str, str], list[Any]] = {}
        """The columns of tables, by page and section."""
        for path in sorted(self.out.rglob("*.html")):
            self._read(path.relative_to(self.out).as_posix(), path.read_text("utf-8"))

    def faults(self, lines: int, nodes: list[Json], edges: list[Json]) -> Iterator[str]:
        """Yield what is wrong in it, next to the graph as exported.

        Args:
            lines: How many lines the estate has.
            nodes: The nodes of its graph.
            edges: The edges of its graph.
        """
        yield from self._broken()
        yield from self._too_large(lines)
        if (self.out / "search.js").is_file():
            yield from self._unfound(nodes)
            yield from self._unreached(nodes)
            yield from self._flows(edges)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _read(self, here: str, text: str) -> None:
        page = _Page(text)
        up = os.path.dirname(here)
        anchors = self.anchors[here] = page.anchors
        for link in page.links:
            path, _, anchor = link.partition("#")
            self.links.append(
                (here, os.path.normpath(os.path.join(up, unquote(path))) if path else here, unquote(anchor))
            )
        if not page.data:
            return
        told = unpacked(page.data)
        spans = told["spans"]
        anchors |= {f"L{line}" for first, last in spans for line in range(first, last + 1)}
        for title, slug, blocks in told["sections"]:
            anchors.add(slug)
            for block in blocks:
                self._block(here, title, block, spans)

    def _block(self, here: str, title: str, block: list[Any], spans: list[list[int]]) -> None:
        if block[-1] == "table":
            columns, _, ids, _, _ = block
            self.tables[here, title] = columns
            self.anchors[here] |= set(ids)
            for _, kind, cells in columns:
                if kind == "pieces":
                    for cell in cells:
                        self._pieces(here, cell, spans)
        elif block[-1] == "graph":
            (nodes, edges), _, around, _ = block
            ids = {node[0] for node in nodes}
            self.links += [(here, f"{around}.html", "")] if around and around != "estate" else []
            for _, _, _, page, line, _ in nodes:
                if page:
                    self.links.append((here, f"programs/{page}.html", ""))
                elif line:
                    self.links.append((here, here, f"p{line}"))
            self.links += [
                (here, f"no box {end}", "") for one, other, _ in edges for end in (one, other) if end not in ids
            ]
        elif block[-1] == "text":
            self._pieces(here, block[0], spans)
        elif block[-1] == "facts":
            for _, cell in block[0]:
                self._pieces(here, cell, spans)

    def _pieces(self, here: str, cell: list[Any], spans: list[list[int]]) -> None:
        for piece in cell:
            match piece:
                case [first, _, path, "l"]:
                    if path or any(low <= first <= high for low, high in spans):
                        self.links.append((here, f"{path}.html" if path else here, f"L{first}"))
                case [_, path, anchor, "d"]:
                    self.links.append((here, f"{path}.html" if path else here, anchor))
                case [_, line, path, "g"]:
                    self.links.append((here, f"{path}.html" if path else here, f"p{line}"))

    # ── C-19 ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _broken(self) -> Iterator[str]:
        is_there: dict[str, bool] = {}
        for here, path, anchor in dict.fromkeys(self.links):
            if path not in is_there:
                is_there[path] = (self.out / path).is_file()
            if not is_there[path]:
                yield f"C-19: {here} leads to {path}, which is not there"
            elif anchor and path in self.anchors and anchor not in self.anchors[path]:
                yield f"C-19: {here} leads to {path}#{anchor}, which is not there"

    def _too_large(self, lines: int) -> Iterator[str]:
        size = sum(path.stat().st_size for path in self.pages())
        if size > _FIXED_BYTES + _PAGE_BYTES * len(self.anchors) + BYTES_A_LINE * lines:
            yield f"C-19: pages, scripts and index take {size:,} bytes for {lines:,} lines"

    def pages(self) -> list[Path]:
        """Return the files of the site that count: not those that only scripts and people without a browser read."""
        return [path for path in self.out.rglob("*") if path.is_file() and path.suffix not in {".json", ".md"}]

    def _unfound(self, nodes: list[Json]) -> Iterator[str]:
        """Entries of the search that lead nowhere, and nodes that have none."""
        found = unpacked((self.out / "search.js").read_text().split('"')[1])
        names: dict[str, set[str]] = defaultdict(set)
        for name, kind, place, anchor in zip(
            found["names"], found["kindOf"], found["pageOf"], found["anchors"], strict=True
        ):
            path = found["pages"][place][0]
            names[found["kinds"][kind]] |= {name.upper(), name.upper().rpartition("::")[2]}
            if path not in self.anchors:
                yield f"C-19: the search for {name} leads to {path}, which is not there"
            elif anchor and anchor not in self.anchors[path]:
                yield f"C-19: the search for {name} leads to {path}#{anchor}, which is not there"
        for node in nodes:
            kind, name = node["kind"], _bare(node["name"], node["path"])
            if kind in _FOUND_AS and node["path"] and name not in names[_FOUND_AS[kind]] and name != "(MAIN)":
                yield f"C-19: {node['id']} is not found by the search"

    def _unreached(self, nodes: list[Json]) -> Iterator[str]:
        """Programs and copybooks that have no page, and boxes of the estate's graph that lead nowhere."""
        estate = unpacked((self.out / "estate.js").read_text().split('"')[1])
        paths = {(estate["kinds"][kind], name): path for name, kind, path in estate["nodes"]}
        for (kind, name), path in paths.items():
            if path and f"{path}.html" not in self.anchors:
                yield f"C-19: the box of {kind} {name} leads to {path}, which is not there"
        for node in nodes:
            if node["kind"] in {"program", "copybook"} and node["path"] and not paths.get((node["kind"], node["name"])):
                yield f"C-19: {node['id']} has no page"
        ends = {end for first, second, *_ in estate["edges"] for end in (first, second)}
        for at, (name, kind, path) in enumerate(estate["nodes"]):
            if not path and at not in ends:
                yield f"C-19: nothing leads to {estate['kinds'][kind]} {name}"

    # ── C-18 ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _flows(self, edges: list[Json]) -> Iterator[str]:
        steps = {"Written by": "writes", "Read by": "reads"}
        told = self._pairs("Jobs and data sets", "Data set", steps)
        drawn = {
            (_name(edge["to"]), edge["verb"], _name(edge["from"]))
            for edge in edges
            if edge["verb"] in {"reads", "writes"} and _is(edge, "step", "dataset")
        }
        yield from _differing("the flow of data sets", told, drawn)
        entered = self._pairs("Screens and transactions", "Program", {"Entered by": "runs"})
        drawn = {
            (_bare_of(edge["to"]), "runs", _name(edge["from"])) for edge in edges if _is(edge, "transaction", "program")
        }
        if ("flows.html", "Screens and transactions") in self.tables or not drawn:
            yield from _differing("the flow of transactions", entered, drawn)
        else:
            yield f"C-18: {len(drawn)} transactions run programs, and no flow is told"

    def _pairs(self, title: str, of: str, verbs: dict[str, str]) -> set[tuple[str, str, str]]:
        columns = {name: cells for name, _, cells in self.tables.get(("flows.html", title), ())}
        return {
            (_text(name[0]).removesuffix(" (may)"), verb, _text(piece).partition(" · ")[0].removesuffix(" (may)"))
            for title_, verb in verbs.items()
            for name, cell in zip(columns.get(of, ()), columns.get(title_, ()), strict=False)
            for piece in cell
            if not isinstance(piece, str)
        }


def _differing(what: str, told: set[tuple[str, str, str]], drawn: set[tuple[str, str, str]]) -> Iterator[str]:
    for name, verb, other in sorted(drawn - told):
        yield f"C-18: {what} does not tell that {other} {verb} {name}"
    for name, verb, other in sorted(told - drawn):
        yield f"C-18: {what} tells that {other} {verb} {name}, which is not in the graph"


def _is(edge: Json, source: str, target: str) -> bool:
    return bool(edge["from"].startswith(f"{source} ") and edge["to"].startswith(f"{target} "))


def _name(node: str) -> str:
    return node.partition(" ")[2]


def _bare_of(node: str) -> str:
    return _name(node).partition("@")[0]


def _bare(name: str, path: str) -> str:
    """Return the last part of a name, without the path that tells namesakes apart and the number of items of one name."""
    before, _, behind = re.sub(r"#\d+$", "", name).partition(f"@{path}")
    return (behind or before).rpartition(".")[2].rpartition("::")[2].upper()


def _text(piece: Any) -> str:
    return str(piece if isinstance(piece, str) else piece[0])

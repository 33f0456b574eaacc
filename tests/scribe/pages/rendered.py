"""A site as its script would build it, for tests that read pages: tables and sources in place, as elements.

This does what static/site.js does, in Python; test_site_browser.py checks that a browser gives the same.
"""

from __future__ import annotations

import re
from html import escape
from itertools import repeat
from typing import Any
from urllib.parse import quote

from penstock.scribe.pages.packing import unpacked

_DATA = re.compile(r'<div id="told"><template id="data">([^<]*)</template></div>')
_LINES = re.compile(r'(<details id="lines">.*?)</details>', re.DOTALL)


def rendered(site: dict[str, str]) -> dict[str, str]:
    """Return all files of a site, with all that scripts insert into its pages."""
    return {path: _page(path, text, site) if path.endswith(".html") else text for path, text in site.items()}


def scripted(text: str, name: str) -> Any:
    """Return the value that a data file gives to the script."""
    packed = re.fullmatch(rf'penstock\.{name}\("([A-Za-z0-9+/=]*)"\);\n', text)
    assert packed
    return unpacked(packed[1])


def page_of(text: str, here: str = "index.html") -> str:
    """Return one page, rendered."""
    return _page(here, text, {})


def _page(path: str, text: str, site: dict[str, str]) -> str:
    found = _DATA.search(text)
    if found:
        made = _Rendering("../" * path.count("/"), unpacked(found[1]))
        text = text.replace(found[0], made.sections())
    source = site.get(path.removesuffix(".html") + ".js")
    if source is not None:
        told = scripted(source, "source")
        numbers = [line for first, last in told["spans"] for line in range(first, last + 1)]
        rows = [
            f'<li id="L{at}" data-line="{at}"><code>{_text(line)}</code></li>'
            for at, line in zip(numbers, told["lines"], strict=True)
        ]
        text = _LINES.sub(lambda at: f'{at[1]}<ol class="listing">{"".join(rows)}</ol></details>', text)
    return text


def _text(text: object) -> str:
    return escape(str(text)).replace("&#x27;", "'").replace("&quot;", '"')


def _attribute(text: str) -> str:
    return escape(text)


class _Rendering:
    def __init__(self, up: str, data: Any) -> None:
        self._up, self._data = up, data

    def sections(self) -> str:
        return "".join(
            f'<section><h2 id="{_attribute(slug)}">{_text(title)}</h2>{"".join(map(self._block, blocks))}</section>'
            for title, slug, blocks in self._data["sections"]
        )

    def _block(self, block: Any) -> str:
        made: str = getattr(self, f"_{block[-1]}")(*block[:-1])
        return made

    def _text(self, cell: Any, is_aside: bool) -> str:
        return f"<p{' class=aside' if is_aside else ''}>{self._cell_pieces(cell)}</p>"

    def _facts(self, rows: Any) -> str:
        return "".join(f"<dl><dt>{_text(name)}</dt><dd>{self._cell_pieces(cell)}</dd></dl>" for name, cell in rows)

    def _table(self, columns: Any, _numbers: Any, anchors: Any, _depths: Any) -> str:
        heads = "".join(f"<th>{_text(title)}</th>" for title, _, _ in columns)
        shown = [map(getattr(self, f"_cell_{kind}"), cells) for _, kind, cells in columns]
        body = "".join(
            f"<tr{f' id={chr(34)}{_attribute(anchor)}{chr(34)}' if anchor else ''}>"
            + "".join(f"<td>{cell}</td>" for cell in cells)
            + "</tr>"
            for anchor, *cells in zip(anchors or repeat(""), *shown, strict=bool(anchors))
        )
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"

    def _cell_code(self, text: str | None) -> str:
        return self._piece_c(text) if text else ""

    def _cell_codes(self, texts: list[str]) -> str:
        return ", ".join(map(self._piece_c, texts))

    def _cell_plain(self, text: str | None) -> str:
        return _text(text or "")

    def _cell_lines(self, ats: list[Any]) -> str:
        cited = [at if isinstance(at, list) else [at, at] for at in ats if not isinstance(at, str)]
        words = "".join(_text(at) for at in ats if isinstance(at, str))
        return ", ".join(self._piece_l(first, last, "") for first, last in cited) + words

    def _graph(self, graph: Any, caption: str, _around: str) -> str:
        nodes, edges = graph
        assert {end for edge in edges for end in edge[:2]} <= {node[0] for node in nodes}
        boxes = []
        for _, label, kind, page, line, _group in nodes:
            address = self._address(f"programs/{page}") if page else f"#p{line}" if line else ""
            link = f'<a href="{address}">' if address else "<g>"
            boxes.append(f'{link}<rect class="box {kind}"/>{_text(label)}</{"a" if address else "g"}>')
        return f"<svg>{''.join(boxes)}</svg><figcaption>{_text(caption)}</figcaption>"

    def _cell_pieces(self, cell: Any) -> str:
        return "".join(map(self._piece, cell))

    def _piece(self, piece: Any) -> str:
        if isinstance(piece, str):
            return "<br>" if piece == "\n" else _text(piece)
        made: str = getattr(self, f"_piece_{piece[-1]}")(*piece[:-1])
        return made

    def _piece_c(self, text: str) -> str:
        return f"<code{' class=' + chr(34) + 'w' + chr(34) if len(text) <= 40 else ''}>{_text(text)}</code>"

    def _piece_l(self, first: int, last: int, path: str) -> str:
        shown = f"{first}" if first == last else f"{first}–{last}"
        if path or any(begin <= first <= end for begin, end in self._data["spans"]):
            return f'<a class="at" href="{self._address(path, f"L{first}")}">{shown}</a>'
        return f'<span class="at">{shown}</span>'

    def _piece_d(self, name: str, path: str, anchor: str) -> str:
        return f'<a href="{self._address(path, anchor)}">{_text(name)}</a>'

    def _piece_g(self, name: str, line: int, path: str) -> str:
        return f'<a class="name" href="{self._address(path, f"p{line}")}">{_text(name)}</a>'

    def _piece_w(self, text: str, share: float | None) -> str:
        held = "" if share is None else f' <span class="held">{share:.0%}</span>'
        return f'<span class="said" title="The words of a model">{_text(text)}{held}</span>'

    def _piece_t(self, text: str, tone: str) -> str:
        return f'<span class="tag {tone}">{_text(text)}</span>'

    def _address(self, path: str, anchor: str = "") -> str:
        return (f"{self._up}{quote(path)}.html" if path else "") + (f"#{quote(anchor)}" if anchor else "")

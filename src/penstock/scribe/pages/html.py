"""How does a page look as HTML? Sections as one static page: readable without scripts, by keyboard, on paper.

Law: whatever a program is called or says, it can only be read; a page names no address but those of its own site.
Keeps out: what is said; how it is coloured and searched (`assets`).
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from penstock.scribe.pages import drawing
from penstock.scribe.pages.blocks import (
    BELOW,
    Code,
    Document,
    Lines,
    Page,
    Paragraph,
    Picture,
    Said,
    Table,
    Tag,
    Terms,
    Words,
)
from penstock.scribe.pages.estate import paragraph_anchor, program_path
from penstock.text import escape as inert

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.scribe.pages.blocks import Block, Cell, Node, Piece, Section

# Only files beside the page: no address of anywhere else is ever asked, whatever a page should come to hold.
_POLICY = "default-src 'none'; script-src 'self' file:; style-src 'self' file:; base-uri 'none'; form-action 'none'"


def page(
    title: str,
    site: str,
    sections: Sequence[Section],
    *,
    tabs: Sequence[tuple[str, str]],
    here: str,
    lead: str = "",
    listing: Sequence[tuple[int, str]] = (),
) -> str:
    """A whole page. `tabs` are the pages of the estate, `here` is this one's path; `listing` the lines that are cited."""
    up = "../" * here.count("/")
    at = _At(up, frozenset(number for number, _ in listing))
    contents = [(section.title, section.slug) for section in sections] + ([("Source", "source")] if listing else [])
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{text(title)} · {text(site)}</title>\n"
        f'<link rel="stylesheet" href="{up}style.css">\n<script src="{up}site.js" defer></script>\n</head>\n'
    )
    links = "".join(f'<a href="{up}{quote(path)}"{current(path == here)}>{text(name)}</a>' for path, name in tabs)
    bar = (
        f'<body data-up="{up}">\n<a class="skip" href="#main">To the content</a>\n<header class="bar">\n'
        f'<span class="site">{text(site)}</span>\n<nav class="tabs" aria-label="Pages">{links}</nav>\n'
        '<div class="find" role="search" hidden><input id="find" type="search" autocomplete="off" spellcheck="false" '
        'placeholder="Search  /" role="combobox" aria-label="Search programs, paragraphs, data, files" '
        'aria-expanded="false" aria-controls="found" aria-autocomplete="list">'
        '<div id="found" role="listbox" aria-label="What was found" hidden></div></div>\n'
        '<button id="theme" type="button" hidden>Light or dark</button>\n</header>\n'
    )
    toc = "".join(f'<li><a href="#{slug}">{text(name)}</a></li>' for name, slug in contents)
    parts = [
        head,
        bar,
        f'<div class="page">\n<nav class="contents" aria-label="On this page"><ol>{toc}</ol></nav>\n<main id="main">\n',
        f"<h1>{text(title)}</h1>\n",
        f'<p class="lead">{text(lead)}</p>\n' if lead else "",
    ]
    for section in sections:
        parts.append(
            f'<section aria-labelledby="{section.slug}">\n<h2 id="{section.slug}">{text(section.title)}</h2>\n'
        )
        parts += [_block(block, at, section.title) for block in section.blocks]
        parts.append("</section>\n")
    if listing:
        parts.append(_listing(listing))
    parts.append(
        '</main>\n</div>\n<noscript><p class="aside">Search and sorting need scripts; everything else is here.</p></noscript>\n'
        "</body>\n</html>\n"
    )
    return "".join(parts)


def text(shown: str) -> str:
    """Text that can only be read."""
    return escape(inert.show(shown)[0])


def current(is_here: bool) -> str:
    """What a link to the page that is open says of it."""
    return ' aria-current="page"' if is_here else ""


UNBROKEN = 40
"""Letters of code that stay on one line: longer than any name."""


class _At(NamedTuple):
    """The page that is made: the way up to the root of the site, and the lines that its listing has."""

    up: str
    lines: frozenset[int]


def _block(block: Block, at: _At, title: str) -> str:
    if isinstance(block, Words):
        return f"<p{_with('class', 'aside' if block.aside else '')}>{_cell(block.cell, at)}</p>\n"
    if isinstance(block, Terms):
        rows = "".join(f"<div><dt>{text(name)}</dt><dd>{_cell(told, at)}</dd></div>\n" for name, told in block.rows)
        return f"<dl>\n{rows}</dl>\n"
    if isinstance(block, Picture):
        drawn = drawing.svg(block.graph, title, lambda node: _href(node, at))
        return (
            f'<figure>\n<div class="canvas" tabindex="0" role="region" aria-label="{escape(title)}, drawn">{drawn}</div>\n'
            f"<figcaption>{text(block.caption)}</figcaption>\n</figure>\n"
        )
    return _table(block, at, title)


def _href(node: Node, at: _At) -> str:
    if node.page:
        return _page(program_path(node.page), at)
    return f"#{paragraph_anchor(node.line)}" if node.line else ""


def _page(path: str, at: _At) -> str:
    """The address of a document's page; of none, this one."""
    return f"{at.up}{quote(path)}.html" if path else ""


def _table(table: Table, here: _At, title: str) -> str:
    heads = "".join(
        f'<th scope="col"{_with("class", "n" if at in table.numbers else "")}>{text(column)}</th>'
        for at, column in enumerate(table.columns)
    )
    rows = []
    for row in table.rows:
        cells = []
        for at, cell in enumerate(row.cells):
            depth = f"d{min(row.depth, 8)}" if row.depth and not at else ""
            classes = _with("class", "n" if at in table.numbers else depth)
            cells.append(f"<td{classes}>{_cell(cell, here)}</td>")
        rows.append(f"<tr{_with('id', row.anchor)}>{''.join(cells)}</tr>\n")
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(title)}"><table>\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{''.join(rows)}</tbody></table></div>\n"
    )


def _with(attribute: str, value: str) -> str:
    """The attribute, nothing where it would be empty."""
    return f' {attribute}="{escape(value)}"' if value else ""


def _cell(pieces: Cell, at: _At) -> str:
    return "".join(_piece(piece, at) for piece in pieces)


def _piece(piece: Piece, at: _At) -> str:
    if piece == BELOW:
        return "<br>"
    if isinstance(piece, str):
        return text(piece)
    if isinstance(piece, Code):
        return f"<code{_with('class', 'w' if len(piece.text) <= UNBROKEN else '')}>{text(piece.text)}</code>"
    if isinstance(piece, Lines):
        shown = str(piece.first) if piece.first == piece.last else f"{piece.first}–{piece.last}"
        if not piece.path and piece.first not in at.lines:
            return f'<span class="at">{shown}</span>'
        title = _with("title", inert.show(piece.evidence)[0])
        return f'<a class="at" href="{_page(piece.path, at)}#L{piece.first}"{title}>{shown}</a>'
    if isinstance(piece, Document):
        place = f"#{piece.anchor}" if piece.anchor else ""
        return f'<a href="{_page(piece.path, at)}{place}">{text(piece.name)}</a>'
    if isinstance(piece, Page):
        return f'<a href="{at.up}{quote(piece.path)}">{text(piece.name)}</a>'
    if isinstance(piece, Paragraph):
        return f'<a class="name" href="{_page(piece.path, at)}#{paragraph_anchor(piece.line)}">{text(piece.name)}</a>'
    if isinstance(piece, Said):
        held = "" if piece.confidence is None else f' <span class="held">{piece.confidence:.0%}</span>'
        return f'<span class="said" title="The words of a model">{text(piece.text)}{held}</span>'
    return f'<span class="tag {piece.tone}">{text(piece.text)}</span>' if isinstance(piece, Tag) else ""


def _listing(lines: Iterable[tuple[int, str]]) -> str:
    rows = "\n".join(f'<li id="L{at}" data-line="{at}"><code>{text(line)}</code></li>' for at, line in lines)
    return (
        '<section aria-labelledby="source">\n<h2 id="source">Source</h2>\n'
        "<details open><summary>The lines that are cited, without sequence numbers</summary>\n"
        f'<ol class="listing" tabindex="0">\n{rows}\n</ol></details>\n</section>\n'
    )

"""How do sections become Markdown that GitHub and other viewers show (CommonMark, GitHub's tables, Mermaid for diagrams)?

Law: whatever a program is called or says, it can only be read: its text never becomes markup, a link or HTML.
There is no template here: automatic escaping cannot work in Markdown, because what must be escaped depends on where a text is
(`escaped` in prose, `code` in a span, entities in a diagram). Leaves to others: the content.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from penstock.scribe.pages import graphs
from penstock.scribe.pages.blocks import (
    BELOW,
    CitedLines,
    CodeSpan,
    DocumentLink,
    FactBlock,
    GraphBlock,
    ModelWords,
    ParagraphLink,
    TableBlock,
    Tag,
    TextBlock,
)
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from penstock.scribe.pages.blocks import Block, Cell, CellKind, PageSection

# All characters that CommonMark and GitHub's extensions could act on within a line. `$` begins mathematics, `~` strikes out, `!`
# makes a link a picture.
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
# What acts only at the beginning of a line: lists and rules. A model's words may begin one.
_LEADING = re.compile(r"^(\d*)([-+=.)])")
_BLANKS = re.compile(r"\s+")
_BREAKS = re.compile(r"[^\S ]+")
_KNOWN = 20_000
"""How many escaped texts are remembered: names recur in every row of a program's tables."""


def page(title: str, sections: Iterable[PageSection], up: str) -> str:
    """Return a complete page as Markdown.

    Args:
        title: The heading.
        sections: The content of the page, in this order.
        up: The relative path from this page to the folder that contains those of programs and copybooks: empty, or `../`.
    """
    parts = [f"# {escaped(title)}"]
    for section in sections:
        parts.append(f"## {escaped(section.title)}")
        parts += [_block(block, up) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


@lru_cache(_KNOWN)
def escaped(text: str) -> str:
    """Return a text as literal Markdown on one line, with a backslash before each character that could act."""
    return _ACTIVE.sub(r"\\\1", _one_line(text))


@lru_cache(_KNOWN)
def code(text: str) -> str:
    """Return a code span for any text.

    The fence is longer than any run of backticks inside (CommonMark 6.1). A bar is escaped even in code: GitHub splits the rows of
    a table before it looks for spans. Blanks in a row stay: in a literal they are not one.
    """
    shown = _BREAKS.sub(" ", escape.show_text(text)).strip()
    if "`" not in shown:
        return f"`{shown}`".replace("|", r"\|") if shown else ""
    fence = "`" * (max((len(run) for run in re.findall(r"`+", shown)), default=0) + 1)
    padded = f" {shown} " if shown[:1] == "`" or shown[-1:] == "`" else shown
    return f"{fence}{padded}{fence}".replace("|", r"\|") if shown else ""


def _one_line(text: str) -> str:
    return _BLANKS.sub(" ", escape.show_text(text)).strip()


def _block(block: Block, up: str) -> str:
    if isinstance(block, TextBlock):
        text = _LEADING.sub(r"\1\\\2", cell(block.cell, up))
        return (
            f"*{text}*" if block.is_aside and not any(isinstance(piece, ModelWords) for piece in block.cell) else text
        )
    if isinstance(block, FactBlock):
        return "\n".join(f"- {escaped(name)}: {cell(told, up)}" for name, told in block.rows)
    if isinstance(block, GraphBlock):
        graph, left_out = graphs.folded(block.graph)
        return f"```mermaid\n{graphs.mermaid(graph)}\n```\n\n*{escaped(f'{block.caption} {left_out}'.strip())}*"
    return _table(block, up)


def _table(table: TableBlock, up: str) -> str:
    rule = ("---:" if at in table.numbers else "---" for at in range(len(table.columns)))
    lines = [
        "| " + " | ".join([escaped(column.title) for column in table.columns]) + " |",
        "|" + "|".join(rule) + "|",
    ]
    shown = [_CELLS[column.kind](column.cells, up) for column in table.columns]
    if any(table.depths):
        shown[0] = ["\u2003" * depth + told for depth, told in zip(table.depths, shown[0], strict=True)]
    lines += ["| " + " | ".join(row) + " |" for row in zip(*shown, strict=True)]
    return "\n".join(lines)


def cell(pieces: Cell, up: str) -> str:
    """Return pieces as one line, with links relative to `up`."""
    if not pieces:
        return ""
    if len(pieces) == 1:  # as most cells have
        return _PIECES[type(pieces[0])](pieces[0], up).strip()
    return "".join([_PIECES[type(piece)](piece, up) for piece in pieces]).strip()


@lru_cache(_KNOWN)
def _text(piece: str, _up: str) -> str:
    if piece in _SEAMS:
        return _SEAMS[piece]
    # Blanks at the ends of a piece separate it from the next: they stay, as one each, while those inside are folded.
    lead, trail = piece[: len(piece) - len(piece.lstrip())], piece[len(piece.rstrip()) :]
    return f"{lead and ' '}{escaped(piece)}{trail and ' '}" if piece.strip() else " "


def _lines(piece: CitedLines, _up: str) -> str:
    return _cited(piece.first_line, piece.last_line)


def _cited(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}–{last}"


def _citations(cited: Sequence[Any]) -> str:
    """Return the citations of a cell, of which there is one at least, and the words after them."""
    words = cited[-1] if isinstance(cited[-1], str) else ""
    ats = cited[:-1] if words else cited
    shown = [f"line {at}" if type(at) is int else _cited(*at) for at in ats]
    return f"{', '.join(shown)}{escaped(words) and ' '}{escaped(words)}"


_quoted = lru_cache(_KNOWN)(quote)


def _words(piece: ModelWords, _up: str) -> str:
    held = "" if piece.confidence is None else f" *(model, {piece.confidence:.0%})*"
    return escaped(piece.text) + held


_SEAMS = {BELOW: " · ", ", ": ", ", " ": " "}
# By exact class, since a page has a hundred thousand pieces: a chain of isinstance checks took half of the time. A piece of an
# unknown kind fails.
_PIECES: Mapping[type, Callable[[Any, str], str]] = {
    str: _text,
    CodeSpan: lambda piece, _: code(piece.text),
    CitedLines: _lines,
    DocumentLink: lambda piece, up: f"[{escaped(piece.name)}]({up}{_quoted(piece.path)}.md)",
    ParagraphLink: lambda piece, _: code(piece.name),
    ModelWords: _words,
    Tag: lambda piece, _: f"**{escaped(piece.text)}**",
}
# All cells of a column at once, by its kind; most of those with lines are empty, or one line.
_CELLS: Mapping[CellKind, Callable[[Sequence[Any], str], list[str]]] = {
    "pieces": lambda cells, up: [cell(one, up) if one else "" for one in cells],
    "code": lambda cells, _: [code(one) if one else "" for one in cells],
    "codes": lambda cells, _: [", ".join(map(code, one)) for one in cells],
    "plain": lambda cells, _: [escaped(one) if one else "" for one in cells],
    "lines": lambda cells, _: [
        (f"line {one[0]}" if len(one) == 1 and type(one[0]) is int else _citations(one)) if one else "" for one in cells
    ],
}

"""What does a page consist of? Sections of words, tables and pictures, before it is known whether they become Markdown or HTML.

Text in here is as the program or the model has it: whoever renders it makes it inert. Law: a renderer knows every kind of piece, so
that what is said in one form is said in the other. Keeps out: what is said (`program`, `index`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable


class CodeSpan(NamedTuple):
    """Words of the source."""

    text: str


class CitedLines(NamedTuple):
    """A citation. `evidence` is the text of its first line, `path` the page of another document that is cited."""

    first_line: int
    last_line: int
    evidence: str = ""
    path: str = ""


class DocumentLink(NamedTuple):
    """The name of a program or a copybook that has a page: its path without suffix, and the row that is meant."""

    name: str
    path: str
    anchor: str = ""


class PageLink(NamedTuple):
    """Another page of the same index."""

    name: str
    path: str


class ParagraphLink(NamedTuple):
    """The name of a paragraph, and where it begins: here, or on the page of another document."""

    name: str
    line: int
    path: str = ""


class ModelWords(NamedTuple):
    """Words of a model, and the share of its claims that held."""

    text: str
    confidence: float | None


class Tag(NamedTuple):
    """A short mark: `CICS`, `dead`, `missing`."""

    text: str
    tone: Literal["plain", "good", "doubt", "bad"] = "plain"


Piece: TypeAlias = str | CodeSpan | CitedLines | DocumentLink | PageLink | ParagraphLink | ModelWords | Tag
Cell: TypeAlias = tuple[Piece, ...]
BELOW = "\n"
"""Between pieces: each stands on a line of its own, or after a dot where a cell is one line."""


class TextBlock(NamedTuple):
    """A paragraph of text; an aside stands back."""

    cell: Cell
    is_aside: bool = False


class FactBlock(NamedTuple):
    """What is told in a word or two: names and values."""

    rows: tuple[tuple[str, Cell], ...]


class TableRow(NamedTuple):
    """A row of a table. `anchor` is what a link can go to, `depth` indents its first cell."""

    cells: tuple[Cell, ...]
    anchor: str = ""
    depth: int = 0


class TableBlock(NamedTuple):
    """Rows under columns; `numbers` are the columns that are set to the right."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    numbers: frozenset[int] = frozenset()


class GraphNode(NamedTuple):
    """A box. `page` is the program whose page it opens, `line` the line of this one."""

    id: str
    label: str
    kind: Literal["program", "outside", "job", "transaction", "paragraph", "section", "dead", "main"] = "program"
    page: str = ""
    line: int = 0


class GraphEdge(NamedTuple):
    """From box to box; a weak one is dashed."""

    source: str
    target: str
    is_weak: bool = False


class Graph(NamedTuple):
    """Boxes and arrows. No two boxes have one id, and every arrow joins boxes that are there."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


class GraphBlock(NamedTuple):
    """A graph, and what it shows."""

    graph: Graph
    caption: str


Block: TypeAlias = TextBlock | FactBlock | TableBlock | GraphBlock


class PageSection(NamedTuple):
    """What stands under one heading."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def slug(self) -> str:
        """What a link to it says."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.title.lower()).split())


def joined(pieces: Iterable[Piece], by: str = ", ") -> Cell:
    """Pieces one after the other."""
    out: list[Piece] = []
    for piece in pieces:
        out += [by, piece] if out else [piece]
    return tuple(out)


def count(number: int, one: str, many: str = "") -> str:
    """`1 program`, `3 programs`."""
    return f"{number} {one if number == 1 else many or one + 's'}"

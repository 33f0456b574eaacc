"""What a page consists of: sections of text, facts, tables and diagrams, before it is known whether they become Markdown or HTML.

A section has blocks, a block has cells, and a cell is a tuple of pieces: strings, and values that say what a word is (a span of
code, a citation, a link). Text in here is as the program or the model has it; whoever renders it makes it inert. The last field of
each is its mark, by which the script of a page knows it: what is here goes to the page as it stands (`packing`).

Law: a renderer knows every kind of block and piece, so that what is said in one form is said in the other. Keeps out: what is said
(`program`, `index`), and every letter of markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable


class CodeSpan(NamedTuple):
    """Words of the source: names, literals, statements, paths."""

    text: str
    mark: Literal["c"] = "c"


class CitedLines(NamedTuple):
    """A citation of lines of the source, 1-based and inclusive.

    `path` is the page of another document whose lines are meant, without suffix, and empty for the document's own.
    """

    first_line: int
    last_line: int
    path: str = ""
    mark: Literal["l"] = "l"


class DocumentLink(NamedTuple):
    """The name of a program or a copybook that has a page, as a link to it.

    `path` is without suffix, because the page is HTML and Markdown; `anchor` is the row that is meant, if any.
    """

    name: str
    path: str
    anchor: str = ""
    mark: Literal["d"] = "d"


class PageLink(NamedTuple):
    """The name of another page of the site, as a link; `path` has its suffix."""

    name: str
    path: str
    mark: Literal["p"] = "p"


class ParagraphLink(NamedTuple):
    """The name of a paragraph, as a link to the row of the paragraph that begins at `line`: here, or on the page at `path`."""

    name: str
    line: int
    path: str = ""
    mark: Literal["g"] = "g"


class ModelWords(NamedTuple):
    """Words of a model, with the share of its claims that the code bore out (0 to 1); None where none was counted."""

    text: str
    confidence: float | None
    mark: Literal["w"] = "w"


class Tag(NamedTuple):
    """A short mark such as `dead` or `not here`, and whether that is good, doubtful or bad."""

    text: str
    tone: Literal["plain", "good", "doubt", "bad"] = "plain"
    mark: Literal["t"] = "t"


Piece: TypeAlias = str | CodeSpan | CitedLines | DocumentLink | PageLink | ParagraphLink | ModelWords | Tag
Cell: TypeAlias = tuple[Piece, ...]
BELOW = "\n"
"""The piece between two that stand below each other; where a cell is one line, a dot."""


class TextBlock(NamedTuple):
    """A paragraph of text; an aside is set smaller and paler."""

    cell: Cell
    is_aside: bool = False
    mark: Literal["text"] = "text"


class FactBlock(NamedTuple):
    """Facts that are told in a word or two: names, and the cell of each."""

    rows: tuple[tuple[str, Cell], ...]
    mark: Literal["facts"] = "facts"


class TableRow(NamedTuple):
    """A row of a table.

    `anchor` is what a link can go to, empty for nothing; `depth` indents the first cell, as levels of data are shown.
    """

    cells: tuple[Cell, ...]
    anchor: str = ""
    depth: int = 0


class TableBlock(NamedTuple):
    """Rows under columns, as many cells in each as there are columns; `numbers` are the columns that are set to the right."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    numbers: tuple[int, ...] = ()
    mark: Literal["table"] = "table"


class GraphNode(NamedTuple):
    """A box of a diagram, and where it leads.

    `page` is the id of the program whose page it opens, empty for none; else `line` is where its paragraph begins on this page,
    0 for nowhere. `kind` decides the colour and the shape, and `group` is the section that it is in.
    """

    id: str
    label: str
    kind: Literal[
        "program", "outside", "job", "transaction", "paragraph", "section", "dead", "main", "dataset", "map"
    ] = "program"  # fmt: skip
    page: str = ""
    line: int = 0
    group: str = ""


class GraphEdge(NamedTuple):
    """An arrow from box to box, by their ids; a weak one may not be taken, and is dashed."""

    source: str
    target: str
    is_weak: bool = False


class Graph(NamedTuple):
    """Boxes and arrows. No two boxes have one id, and every arrow joins boxes that are there."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


class GraphBlock(NamedTuple):
    """A graph as a diagram, with the line beneath that says what its arrows are.

    All of it is here: a page draws what is around a box, and Markdown folds what is too large to be read (`graphs.folded`).
    `around` is the path of the page, without suffix, whose place in the estate's graph the reader can go on to; empty for none.
    """

    graph: Graph
    caption: str
    around: str = ""
    mark: Literal["graph"] = "graph"


Block: TypeAlias = TextBlock | FactBlock | TableBlock | GraphBlock


class PageSection(NamedTuple):
    """A heading and the blocks under it."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def slug(self) -> str:
        """The anchor of the heading: its words in small letters, with hyphens."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.title.lower()).split())


def joined(pieces: Iterable[Piece], by: str = ", ") -> Cell:
    """Return pieces one after the other, with `by` between each two."""
    found = list(pieces)
    if len(found) < 2:  # as most cells have
        return tuple(found)
    out: list[Piece] = [by] * (2 * len(found) - 1)
    out[::2] = found
    return tuple(out)


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 program`, `3 programs`; `many` is the plural where it takes more than an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"

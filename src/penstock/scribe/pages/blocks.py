"""What does a page consist of? Sections of text, facts, tables and diagrams, independent of Markdown and HTML.

A section has blocks, a block has cells, and a cell is a tuple of pieces: strings, and values that say what a word is (a span of
code, a citation, a link). Text in here is as in the program or the model's answer; the renderer makes it inert. The last field of
each class is its mark, by which the script of a page recognises it: these values go to the page as they are (`packing`).

Law: a renderer knows every kind of block and piece, so that one format says what the other says. Leaves to others: the content
(`program`, `index`), and all markup.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class CodeSpan(NamedTuple):
    """Words of the source: names, literals, statements, paths."""

    text: str
    mark: Literal["c"] = "c"


class CitedLines(NamedTuple):
    """A citation of lines of the source, 1-based and inclusive.

    `path` is the page of the other document whose lines are cited, without suffix, and empty for the document's own.
    """

    first_line: int
    last_line: int
    path: str = ""
    mark: Literal["l"] = "l"


class DocumentLink(NamedTuple):
    """The name of a program, a copybook or a page of the estate, as a link to it.

    `path` has no suffix, because the page is HTML and Markdown; `anchor` is the row to link to, if any.
    """

    name: str
    path: str
    anchor: str = ""
    mark: Literal["d"] = "d"


class ParagraphLink(NamedTuple):
    """The name of a paragraph, as a link to the row of the paragraph that begins at `line`: here, or on the page at `path`."""

    name: str
    line: int
    path: str = ""
    mark: Literal["g"] = "g"


class ModelWords(NamedTuple):
    """Words of a model, with the share of its claims that the code bore out (0 to 1); None if none was counted."""

    text: str
    confidence: float | None
    mark: Literal["w"] = "w"


Tone: TypeAlias = Literal["plain", "good", "doubt", "bad"]
"""How a mark is meant."""


class Tag(NamedTuple):
    """A short mark such as `dead` or `not here`, and whether it is good, doubtful or bad."""

    text: str
    tone: Tone = "plain"
    mark: Literal["t"] = "t"


Piece: TypeAlias = str | CodeSpan | CitedLines | DocumentLink | ParagraphLink | ModelWords | Tag
Cell: TypeAlias = tuple[Piece, ...]
BELOW = "\n"
"""The piece between two that are shown one below the other; in a one-line cell, a dot."""


class TextBlock(NamedTuple):
    """A paragraph of text; an aside is smaller and paler."""

    cell: Cell
    is_aside: bool = False
    mark: Literal["text"] = "text"


class FactBlock(NamedTuple):
    """Facts of a word or two: names, and the cell of each."""

    rows: tuple[tuple[str, Cell], ...]
    mark: Literal["facts"] = "facts"


class TableColumn(NamedTuple):
    """A column of a table: its title, the kind of its cells, and the content of the cell of each row.

    The cells of one column are nearly always of one kind, so the column says it once, and a cell is the plain value: none of a
    hundred thousand cells is wrapped, and each format renders a column in one go.
    """

    title: str
    kind: CellKind
    cells: Sequence[Any]


CellKind: TypeAlias = Literal["pieces", "code", "codes", "plain", "lines"]
"""The kind of a column's cells.

`pieces` are cells as elsewhere. `code` is words of the source and `plain` words of ours, None or empty if there are none; `codes`
is a list of words of the source. `lines` is a list of citations of the document's own source, each a line or a pair of the first
and the last; words of ours may follow them.
"""


class TableBlock(NamedTuple):
    """Columns with one cell for each row; `numbers` are the columns that are aligned right.

    `anchors` are the link targets of the rows, empty for a row that nothing links to; `depths` says how far each row's first cell
    is indented, to show levels of data. Both are empty if no row has any.
    """

    columns: tuple[TableColumn, ...]
    numbers: tuple[int, ...] = ()
    anchors: tuple[str, ...] = ()
    depths: tuple[int, ...] = ()
    mark: Literal["table"] = "table"


NodeKind: TypeAlias = Literal[
    "program", "outside", "job", "transaction", "paragraph", "section", "dead", "main", "dataset", "map"
]  # fmt: skip
"""What a box of a diagram stands for."""


class GraphNode(NamedTuple):
    """A box of a diagram, and where it links to.

    `page` is the id of the program whose page it opens, empty for none; otherwise `line` is where its paragraph begins on this
    page, 0 for no link. `kind` decides the colour and the shape, and `group` is its section.
    """

    id: str
    label: str
    kind: NodeKind = "program"
    page: str = ""
    line: int = 0
    group: str = ""


class GraphEdge(NamedTuple):
    """An arrow from box to box, by their ids; a weak one may not be taken, and is dashed."""

    source: str
    target: str
    is_weak: bool = False


class Graph(NamedTuple):
    """Boxes and arrows. No two boxes have the same id, and every arrow joins existing boxes."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


class GraphBlock(NamedTuple):
    """A graph as a diagram, with a caption below that says what its arrows are.

    The whole graph is here: a page draws what is around a box, and Markdown folds what is too large to read (`graphs.folded`).
    `around` is the path of the page, without suffix, from which the reader can continue in the estate's graph; empty for none.
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
        """The anchor of the heading: its words in lower case, joined by hyphens."""
        return _slug(self.title)


@cache
def _slug(title: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())


def joined(pieces: Iterable[Piece], by: str = ", ") -> Cell:
    """Return pieces one after the other, with `by` between them."""
    found = list(pieces)
    if len(found) < 2:  # as most cells have
        return tuple(found)
    out: list[Piece] = [by] * (2 * len(found) - 1)
    out[::2] = found
    return tuple(out)

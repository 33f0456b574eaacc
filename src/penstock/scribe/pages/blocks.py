"""What a page consists of: sections of text, facts, tables and diagrams, before it is known whether they become Markdown or HTML.

A section has blocks, a block has cells, and a cell is a tuple of pieces: strings, and values that say what a word is (a span of
code, a citation, a link). Text in here is as the program or the model has it; whoever renders it makes it inert. The last field of
each is its mark, by which the script of a page knows it: what is here goes to the page as it stands (`packing`).

Law: a renderer knows every kind of block and piece, so that what is said in one form is said in the other. Keeps out: what is said
(`program`, `index`), and every letter of markup.
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

    `path` is the page of another document whose lines are meant, without suffix, and empty for the document's own.
    """

    first_line: int
    last_line: int
    path: str = ""
    mark: Literal["l"] = "l"


class DocumentLink(NamedTuple):
    """The name of a program, a copybook or a page of the estate, as a link to it.

    `path` is without suffix, because the page is HTML and Markdown; `anchor` is the row that is meant, if any.
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
    """Words of a model, with the share of its claims that the code bore out (0 to 1); None where none was counted."""

    text: str
    confidence: float | None
    mark: Literal["w"] = "w"


class Tag(NamedTuple):
    """A short mark such as `dead` or `not here`, and whether that is good, doubtful or bad."""

    text: str
    tone: Literal["plain", "good", "doubt", "bad"] = "plain"
    mark: Literal["t"] = "t"


Piece: TypeAlias = str | CodeSpan | CitedLines | DocumentLink | ParagraphLink | ModelWords | Tag
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


class TableColumn(NamedTuple):
    """A column of a table: its title, what its cells are made of, and what is in the cell of each row.

    The cells of one column are of one kind nearly always, so that the column says it once, and a cell is the plain value: of
    a hundred thousand cells none is wrapped, and each form shows a column in one go.
    """

    title: str
    kind: CellKind
    cells: Sequence[Any]


CellKind: TypeAlias = Literal["pieces", "code", "codes", "plain", "lines"]
"""What the cells of a column are made of.

`pieces` are cells as they stand elsewhere. `code` is words of the source and `plain` words of ours, None or empty where there are
none; `codes` is a list of words of the source. `lines` is a list of citations of the document's own source, each a line or a pair
of the first and the last; words of ours may stand behind them.
"""


class TableBlock(NamedTuple):
    """Columns with as many cells in each as there are rows; `numbers` are those that are set to the right.

    `anchors` are what a link to each row says, empty for a row that nothing leads to; `depths` how far its first cell is indented,
    as levels of data are shown. Both are empty where no row has any.
    """

    columns: tuple[TableColumn, ...]
    numbers: tuple[int, ...] = ()
    anchors: tuple[str, ...] = ()
    depths: tuple[int, ...] = ()
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
        return _slug(self.title)


@cache
def _slug(title: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())


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

"""How is the graph of an estate exported? Next to its documents: `graph.json`, `graph.graphml`, `graph.svg`, or two CSV files.

Leaves to others: what an export contains (`cobol.graph.export`) and how the picture looks (`graph_drawing`). Law: a format that
needs something not installed is refused before anything is read.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from penstock.cobol.graph import export
from penstock.errors import CallerError
from penstock.scribe import graph_drawing
from penstock.scribe.graphing import draw
from penstock.scribe.output import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from penstock.cobol import Format
    from penstock.cobol.graph import EstateGraph
    from penstock.workspace.root import Root

_FILES: dict[str, tuple[tuple[str, Callable[[EstateGraph], Iterator[str]]], ...]] = {
    "json": (("graph.json", export.as_json),),
    "csv": (("graph-nodes.csv", export.nodes_csv), ("graph-edges.csv", export.edges_csv)),
    "graphml": (("graph.graphml", export.as_graphml),),
    "svg": (("graph.svg", graph_drawing.svg),),
}
_NETWORKX = frozenset({"graphml", "svg"})


def require(formats: Iterable[str]) -> None:
    """Refuse formats that need something not installed.

    Raises:
        CallerError: networkx is missing.
    """
    needing = sorted(_NETWORKX.intersection(formats))
    if needing and find_spec("networkx") is None:
        raise CallerError(f"--export {needing[0]} needs the extra: pip install 'penstock[graph]'")


def write(
    root: Root,
    paths: Iterable[str],
    formats: Sequence[str],
    *,
    out: str,
    source_format: Format | None = None,
    step: Callable[[str, int, int], None] | None = None,
) -> list[str]:
    """Write the graph of the files at some paths, and return the names of the files written.

    Args:
        root: The folder that paths are relative to; no file outside of it is read.
        paths: Files and folders, relative to `root`.
        formats: Some of json, csv, graphml and svg.
        out: The folder that everything is written to.
        source_format: The reference format, if detection from the columns would get it wrong.
        step: Called with what is being done.

    Raises:
        CallerError: The folder cannot be written.
    """
    graph = draw(root, paths, source_format=source_format, step=step).graph
    output = Output(out)
    names = []
    for name, pieces in (file for one in dict.fromkeys(formats) for file in _FILES[one]):
        output.write(name, "".join(pieces(graph)))
        names.append(name)
    return names

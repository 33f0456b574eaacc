"""What does a change of a field, table, data set or program touch? `penstock impact`.

Leaves to others: how the graph is drawn (`penstock.cobol.graph`) and read from disk (`penstock.scribe.graphing`).
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options, terminal
from penstock.cli.commands import command
from penstock.cli.field_growth import growth_lines, without_paths
from penstock.cli.programs import format_option, rooted
from penstock.text import escape
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.cobol.graph import CitedLine, EstateEdge, EstateGraph, Impact, Kind, NodeId, TreeEdge
    from penstock.scribe.graphing import CitedText, DrawnEstate

_KINDS = (
    "program", "paragraph", "copybook", "field", "file", "dataset", "table", "queue", "segment", "record", "map", "container",
    "transaction", "job", "step", "procedure",
)  # fmt: skip
_MAX_PLACES = 3
"""How many citations of an edge a person sees; --json has all."""
_MAX_NAMES = 12
_MAX_NEAR = 3


@command("impact")
@click.argument("name")
@click.argument("paths", type=options.FILE, nargs=-1, metavar="[PATH...]")
@click.option("--depth", type=options.Whole(min=1, max=20), metavar="N", help="Follow at most N edges [default: 2].")
@click.option("--kind", type=click.Choice(_KINDS), help="What NAME is, if several things have that name.")
@click.option(
    "--grow", type=options.Whole(min=1), metavar="BYTES", help="Show what breaks if the field grows by BYTES."
)
@click.option("--decimals", is_flag=True, help="With --grow: add the digits of numbers after the decimal point.")
@click.option(
    "--no-cache",
    is_flag=True,
    envvar="PENSTOCK_NO_CACHE",
    help="Read every file, and keep nothing for the next question [variable: PENSTOCK_NO_CACHE].",
)
@format_option
@options.root_option
def impact_command(
    name: str,
    paths: tuple[str, ...],
    depth: int | None,
    kind: Kind | None,
    grow: int | None,
    decimals: bool,
    no_cache: bool,
    root: str,
    as_json: bool,
    **how: Any,
) -> int:
    """Show what a change to a field, table, file or program affects.

    Prints a tree of what reads, writes, moves, calls, copies and runs NAME, through calls, COMMAREAs, files and data sets; each
    edge cites the source lines that prove it. NAME may be qualified: PROG.FIELD, COPYBOOK.FIELD, JOB.STEP. PATH is the estate
    [default: the current directory].

    What is read is kept for the next question, which then reads only what has changed. This is names and values of your sources,
    in ~/.cache/penstock-impact (or $XDG_CACHE_HOME), for you alone: zcat shows a file of it, and removing the folder removes it.

    Examples:
      penstock impact REJ-REASON PAYROLL.cbl --depth 3
        who reads and writes the field, where it is moved, and what follows
      penstock impact WS-IN-STATUS --kind field --grow 2
        what is too short, or changes in length, if it grows by two bytes
    """
    from penstock.cobol.graph import DEPTH, Carrying, growth, impact
    from penstock.scribe.graphing import CitedText, draw

    options.in_order(root, "NAME", name, paths)
    if decimals and grow is None:
        raise click.UsageError("--decimals needs --grow.")
    if grow is not None and kind not in {None, "field"}:
        raise click.UsageError(f"--grow takes a field, not a {kind}.")
    looking, beneath = rooted(root, paths or (".",))
    warned: list[str] = []
    with closing(looking), terminal.ProgressLine() as line:
        estate = draw(
            looking,
            beneath,
            tells_apart=grow is not None,
            step=line.tell,
            keeps=not no_cache,
            warn=warned.append,
            **how,
        )
    for sentence in warned:  # not while the line of progress is there
        terminal.warn(sentence)
    carrying = Carrying(estate.graph)
    kind = kind if grow is None else "field"
    found = impact(estate.graph, name, kind=kind, depth=depth or DEPTH, carrying=carrying)
    lines = CitedText(estate)
    grown = (
        growth(estate.graph, found.nodes, grow, carrying=carrying, behind_point=decimals) if grow is not None else None
    )
    value = {
        "name": name,
        "kind": found.kind,
        "nodes": [{"kind": node.kind, "name": node.name} for node in found.nodes],
        "edges": [_edge_json(edge, lines) for edge in found.edges],
        "complete": found.is_complete,
    }
    told = list(_tree(found, lines))
    if grown is not None:
        value["growth"] = [
            {"what": one.what, "name": one.node.name, "bytes": one.bytes, "needed": one.needed_bytes, "why": one.why,
             **({} if one.digits is None else {"digits": one.digits, "needed_digits": one.needed_digits}),
             "certainty": one.certainty, "citations": [_citation_json(cited, lines) for cited in one.citations]}
            for one in grown
        ]  # fmt: skip
        told = list(growth_lines(name, grow or 0, grown, estate.graph, behind_point=decimals))
    if not found.nodes:
        told = [_nothing(name, kind, estate)]
    answer.give(value, "\n".join(told), as_json)
    if not found.nodes:
        return answer.NOTHING
    return 0 if found.is_complete and not estate.skipped else answer.PARTIAL


def _edge_json(edge: EstateEdge, lines: CitedText) -> dict[str, Any]:
    """Return an edge with the keys of contracts.md, and the kinds of its ends."""
    return {
        "from": edge.source.name,
        "to": edge.target.name,
        "verb": edge.verb,
        "certainty": edge.certainty,
        "citations": [_citation_json(citation, lines) for citation in edge.citations],
        "from_kind": edge.source.kind,
        "to_kind": edge.target.kind,
        **({"why": edge.why} if edge.why else {}),
    }


def _citation_json(citation: CitedLine, lines: CitedText) -> dict[str, Any]:
    """Return a citation with the text of its line."""
    return {
        "path": escape.show_name(citation.path),
        "line": citation.line,
        "text": lines.text(citation),
        **({"copybook": citation.copybook} if citation.copybook else {}),
        **({"end_line": citation.end_line} if citation.end_line else {}),
    }


def _tree(found: Impact, lines: CitedText) -> Iterator[str]:
    """Yield the lines of a tree: each edge below the name from which it was found."""
    names = [f"{node.kind} {node.name}" for node in found.nodes]
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    yield escape.show_argument(", ".join(names[:_MAX_NAMES]) + more)
    below: dict[NodeId, list[TreeEdge]] = {}
    for branch in found.branches:
        below.setdefault(branch.at, []).append(branch)
    # A name's own edges are shown below the edge by which it was first found, the nearest to the root.
    first: dict[NodeId, TreeEdge] = {}
    for branch in found.branches:
        first.setdefault(branch.to, branch)
    stack = [(branch, 1) for node in reversed(found.nodes) for branch in reversed(below.get(node, ()))]
    while stack:
        branch, depth = stack.pop()
        yield f"{'  ' * depth}{_sentence(branch, is_named=depth == 1 and len(found.nodes) > 1)}  {_places(branch.edge)}"
        yield from (f"{'  ' * depth}    {text}" for text in _quoted(branch.edge, lines))
        if first[branch.to] is branch and branch.to not in found.nodes:
            stack += [(one, depth + 1) for one in reversed(below.get(branch.to, ()))]
    if not found.is_complete:
        yield f"This is not all: the tree ends at {len(found.branches)} edges. --depth and --kind ask for less."


def _sentence(branch: TreeEdge, *, is_named: bool) -> str:
    """Return an edge as it reads below one of its ends: `moves to B`, or `A writes it`."""
    edge = branch.edge
    doubt = "" if edge.certainty == "is" else f"  {edge.certainty}: {edge.why}"
    by = f"  ({edge.why})" if edge.why and not doubt else ""
    if edge.source == branch.at:
        said = f"{edge.source} {edge.verb} {edge.target}" if is_named else f"{edge.verb} {edge.target}"
    else:
        said = f"{edge.source} {edge.verb} {edge.target if is_named else 'it'}"
    return escape.show_argument(without_paths(said + by + doubt, edge.citations))


def _places(edge: EstateEdge) -> str:
    """Return the first few places that state an edge."""
    more = f" +{len(edge.citations) - _MAX_PLACES}" if len(edge.citations) > _MAX_PLACES else ""
    return ", ".join(f"{escape.show_name(one.path)}:{one.line}" for one in edge.citations[:_MAX_PLACES]) + more


def _quoted(edge: EstateEdge, lines: CitedText) -> Iterator[str]:
    """Yield the text of the first line that states an edge."""
    text = lines.statement(edge.citations[0]) if edge.citations else ""
    if text:
        yield escape.shorten(escape.show_argument(text))


def _nothing(name: str, kind: Kind | None, estate: DrawnEstate) -> str:
    """Return the message when nothing has the name, with what else has it, or the nearest names."""
    from penstock.cobol.graph import nodes_named

    if not estate.files:
        from penstock.scribe.gathering import ONLY_IF_NAMED

        return f"There are no programs here: name a folder that holds some after NAME. {ONLY_IF_NAMED}"
    if others := dict.fromkeys(node.kind for node in nodes_named(estate.graph, name)):
        return escape.show_argument(
            f"There is no {kind} of the name {name}: it is the name of a {' and a '.join(others)}."
        )
    if told := _column_of(name, kind, estate.graph):
        return escape.show_argument(told)
    # A file is known by its name alone, and so is a field: of a path or a qualified name, only the end can resemble one.
    asked = name.upper()
    near = _near(asked, kind, estate.graph) or _near(
        asked.rpartition("/" if "/" in name else ".")[2], kind, estate.graph
    )
    hint = f" Near it: {', '.join(near)}." if near else ""
    what = f"no {kind}" if kind else "nothing"
    return escape.show_argument(f"There is {what} of the name {name} in {counted(len(estate.files), 'file')}.{hint}")


def _near(asked: str, kind: Kind | None, graph: EstateGraph) -> list[str]:
    """Return what comes near a name: the shortest names that contain it, as with a prefix, and then the most alike."""
    from difflib import get_close_matches

    last: dict[str, list[NodeId]] = {}
    for node in graph.nodes():
        if kind is None or node.kind == kind:
            last.setdefault(node.name.rpartition(".")[2], []).append(node)
    within = [one for one in sorted(last, key=len) if len(asked) > 2 and asked in one.upper()]
    # A name that several programs have means all of them.
    return [
        f"{last[one][0].kind} {one if len(last[one]) > 1 else graph.own_name(last[one][0])}"
        for one in dict.fromkeys((*within[:_MAX_NEAR], *get_close_matches(asked, [*last], _MAX_NEAR, 0.7)))
    ][:_MAX_NEAR]


def _column_of(name: str, kind: Kind | None, graph: EstateGraph) -> str:
    """Return that a name is a column of a table, with what can be asked for instead; empty if it is none."""
    from penstock.cobol.graph import column_named

    tables, fields = column_named(graph, name)
    if not tables:
        return ""
    ways = [] if kind == "field" else ["the table"]
    if fields:
        ways.append(f"a field that is stored in it or read from it: {', '.join(fields[:_MAX_NAMES])}")
    asked = f"Ask for {', or '.join(ways)}." if ways else "No field is known to be stored in it or read from it."
    return f"{name} is a column of {' and '.join(tables[:_MAX_NAMES])}. {asked}"

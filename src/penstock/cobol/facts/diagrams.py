"""How do control flow and calls look as Mermaid text?

Leaves to others: rendering. Laws: the same facts give the same text; no name can break out of its label; nodes and edges are
bounded, and the text says how many were left out.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from .code import clipped
from .flow import MAIN, is_jump

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .control import ParagraphFacts
    from .values import Facts

MAX_NODES = 80
"""The maximum number of boxes in a diagram."""
MAX_EDGES = 160
"""The maximum number of arrows in a diagram. Mermaid itself refuses 500; nobody can read more than this."""
_LABEL_CHARS = 60
_MEANT = re.compile(r"[^A-Za-z0-9 _.…?-]")
"""What may mean something to Mermaid or HTML, or is a letter beyond ASCII."""


def flow_diagram(facts: Facts) -> str:
    """Return the diagram of the performs, jumps and fall-throughs between paragraphs: those nearest to the start if they are too
    many.

    Paragraphs that only end a range, and the edges to them, are not drawn: every `PERFORM A THRU A-EXIT` would have one.

    Args:
        facts: The facts of the program.
    """
    paragraphs = facts.paragraphs
    ends = {one.key for one in paragraphs if one.ends_range and one.statements <= 1 and not one.calls}
    lines: dict[tuple[int, int, str], None] = {}
    for edge in facts.edges:
        if edge.target is not None and edge.source >= 0 and edge.copybook is None and edge.target not in ends:
            arrow = f"-.->|{edge.via}|" if is_jump(edge.via) else "-->" if edge.via == "PERFORM" else f"-->|{edge.via}|"
            lines.setdefault((edge.source, edge.target, arrow))
    for one, behind in pairwise(paragraphs):
        # Copied paragraphs, which may stand between the two, are not drawn.
        is_next = one.falls_into == (behind.name or behind.section or MAIN)
        if is_next and behind.key not in ends and one.key not in ends:
            lines.setdefault((one.key, behind.key, "-.->|falls into|"))
    drawn = [one.key for one in paragraphs if one.key not in ends]
    # Paragraphs near the start are kept, so that the diagram is connected; an edge is drawn only if both its ends are.
    shown = _nearest([(source, target) for source, target, _ in lines], drawn, MAX_NODES)
    kept = [row for row in lines if row[0] in shown and row[1] in shown]
    text = ["flowchart TD"]
    text += [f"    p{at}{_node(paragraphs[at])}" for at in sorted(shown)]
    text += [f"    p{source} {arrow} p{target}" for source, target, arrow in kept[:MAX_EDGES]]
    return _bounded(text, len(drawn) - len(shown), "paragraphs", len(lines) - len(kept[:MAX_EDGES]))


def call_diagram(facts: Facts) -> str:
    """Return the diagram of a program, what it calls, and the files, tables, segments and queues that it uses.

    An unknown target is shown as the data item with a question mark. Programs come first; resources get the remaining boxes.

    Args:
        facts: The facts of the program.
    """
    text = ["flowchart LR", f"    program[[{quoted(facts.program or '?')}]]"]
    targets: dict[tuple[str, str, bool], None] = {}
    for call in facts.calls:
        names = call.names
        for name in names or (call.target,):
            targets.setdefault((name, call.call_type, not names))
    numbers = {row: at for at, row in enumerate(list(targets)[:MAX_NODES])}
    for (name, call_type, unknown), at in numbers.items():
        text.append(f"    c{at}([{quoted(name + ' ?' * unknown)}])")
        text.append(f"    program -->|{call_type}| c{at}")
    rest = MAX_NODES - len(numbers)
    for at, access in enumerate(facts.crud[:rest]):
        deeds = "".join(letter for letter, lines in zip("CRUD", access[2:], strict=True) if lines)
        text.append(f"    r{at}[({quoted(access.resource)})]")
        text.append(f"    program ---|{access.kind} {deeds}| r{at}")
    left = len(targets) + len(facts.crud) - len(numbers) - len(facts.crud[:rest])
    return _bounded(text, left, "programs and resources", 0)


def quoted(text: str) -> str:
    """Return a text as a Mermaid label: shortened, with entities for characters that mean something to Mermaid or HTML."""
    # Any other character is written as its number: a quote would end the label, `#` begins an entity, `<` is HTML.
    return f'"{_MEANT.sub(_numbered, clipped(text, _LABEL_CHARS))}"'


def _numbered(letter: re.Match[str]) -> str:
    """Return a character as an entity, unless it is a letter or digit to Unicode."""
    return letter[0] if letter[0].isalnum() else f"#{ord(letter[0])};"


def _node(paragraph: ParagraphFacts) -> str:
    """Return the box of a paragraph; dead code has slanted sides."""
    name = quoted(paragraph.name or paragraph.section or MAIN)
    return f"[/{name}/]" if paragraph.dead else f"[{name}]"


def _nearest(edges: Iterable[tuple[int, int]], starts: Sequence[int], most: int) -> set[int]:
    """Return up to `most` paragraphs: those nearest to the first start, breadth first, then those that only later ones reach."""
    following: dict[int, list[int]] = {}
    for source, target in edges:
        following.setdefault(source, []).append(target)
    shown: dict[int, None] = {}
    for start in starts:
        queue = [start]
        for at in queue:
            if len(shown) >= most:
                return set(shown)
            if at not in shown:
                shown[at] = None
                queue += following.get(at, ())
    return set(shown)


def _bounded(text: list[str], nodes: int, what: str, edges: int) -> str:
    """Return the text with a last box that says how much was left out, if anything was."""
    left = [f"{nodes} more {what}"] * (nodes > 0) + [f"{edges} more edges"] * (edges > 0)
    if left:
        text.append(f"    more[{quoted(' and '.join(left) + ' not shown')}]")
    return "\n".join(text) + "\n"

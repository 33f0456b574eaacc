"""Tell what breaks where a field grows: what gets it and is too short, and whose length changes.

A field that grows makes the groups that hold it longer, the records and with them files and data sets; it moves what
lies behind it; what is laid over it by a REDEFINES, given it as a parameter or read from its file under another
description no longer fits; and what it is moved to may be too short, which then has to grow itself.

Lengths are compared as the items hold values: text by characters, numbers by the digits before the point. Keeps out
values that are calculated, which are only named.

Law: what is said to be too short is shorter than what comes; nothing that is declared by the same copybook as the
field, and so grows with it, is said to break.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple

from .carrying import DIFFERS
from .structure import declared_at
from .values import EstateEdge, NodeId

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .carrying import Carrying
    from .estates import EstateGraph
    from .values import Certainty, CitedLine, LaidField, ProgramPart

What = Literal[
    "field",
    "group",
    "record",
    "file",
    "data set",
    "step",
    "too short",
    "calculated",
    "redefinition",
    "other layout",
    "key",
    "table",
]
MAX_STEPS = 12
"""How many moves from the field on are followed, each from a field that would have to grow too."""
_RUN = re.compile(r"([A-Z0-9*+\-,./$])(?:\((\d{1,9})\))?", re.IGNORECASE)
_PACKED = frozenset({"COMP-3", "PACKED-DECIMAL", "COMP-6"})


class Grown(NamedTuple):
    """One consequence."""

    what: What
    node: NodeId
    bytes: int | None
    """The length now, in bytes; None where it is not known, or where there is none."""
    needed_bytes: int | None
    """The length that it would need, or will have."""
    steps: int
    """How many moves lie between the field and it: 0 for what changes with the field itself."""
    certainty: Certainty
    why: str
    citations: tuple[CitedLine, ...]


def growth(graph: EstateGraph, nodes: Iterable[NodeId], more_bytes: int, *, carrying: Carrying) -> tuple[Grown, ...]:
    """Return what breaks where some fields grow, the nearest consequences first.

    Args:
        graph: The estate.
        nodes: The fields: one, or all instances of one that a copybook declares.
        more_bytes: By how many bytes each of them grows.
        carrying: The ways of areas in the graph.
    """
    growing = _Growing(graph, carrying)
    seeds = [node for node in nodes if node.kind == "field" and carrying.place(node) is not None]
    for node in seeds:
        growing.begin(node, more_bytes)
    growing.follow()
    return tuple(sorted(growing.found.values(), key=lambda one: (one.steps, _ORDER.index(one.what), one.node.name)))


_ORDER: tuple[What, ...] = (
    "field", "too short", "redefinition", "other layout", "group", "record", "key", "file", "data set", "step", "table",
    "calculated",
)  # fmt: skip


class _Wave(NamedTuple):
    """A field that grows, or would have to."""

    node: NodeId
    more_bytes: int
    steps: int


class _Growing:
    """The consequences while they are found."""

    def __init__(self, graph: EstateGraph, carrying: Carrying) -> None:
        self._graph, self._carrying = graph, carrying
        self.found: dict[tuple[What, NodeId], Grown] = {}
        self._waiting: deque[_Wave] = deque()
        self._growing: dict[NodeId, int] = {}
        # What grows in each group: by how many bytes, all its occurrences together, and how that is said.
        self._inside: dict[NodeId, dict[NodeId, tuple[int, str]]] = {}
        self._alike: dict[tuple[str, int], list[NodeId]] = {}
        for part in graph.parts:
            for field in part.fields:
                if field.name:
                    self._alike.setdefault(_declared(part, field), []).append(NodeId("field", field.name))

    def begin(self, node: NodeId, more_bytes: int, steps: int = 0) -> None:
        """Let a field grow, and with it all that the same line of a copybook declares."""
        placed = self._carrying.place(node)
        alike = [node] if placed is None else self._alike.get(_declared(*placed), [node])
        for one in dict.fromkeys([node, *alike]):
            if one not in self._growing:
                self._growing[one] = more_bytes
                self._waiting.append(_Wave(one, more_bytes, steps))

    def follow(self) -> None:
        """Find all consequences: those of the fields, of what would have to grow for them, and so on."""
        while self._waiting:
            wave = self._waiting.popleft()
            placed = self._carrying.place(wave.node)
            if placed is not None:
                self._holders(wave, *placed)
                carried = (edge for edge in self._carrying.after(wave.node) if edge.verb == "carried to")
                for edge in chain(self._graph.touching(wave.node), carried):
                    self._move(wave, edge, placed[1])

    def _add(
        self,
        what: What,
        node: NodeId,
        lengths: tuple[int | None, int | None],
        steps: int,
        why: str,
        citations: Iterable[CitedLine],
        certainty: Certainty = "is",
    ) -> None:
        """Add a consequence; the nearest of its kind stands, with the greatest length that it needs."""
        known = self.found.get((what, node))
        if known is None or (known.needed_bytes or 0) < (lengths[1] or 0):
            steps = steps if known is None else min(steps, known.steps)
            self.found[what, node] = Grown(what, node, *lengths, steps, certainty, why, tuple(dict.fromkeys(citations)))

    # ── what grows with a field ──

    def _holders(self, wave: _Wave, part: ProgramPart, field: LaidField) -> None:
        """Add the groups that hold a field, what is laid over them, and the files of its record."""
        new = None if field.bytes is None else field.bytes + wave.more_bytes
        if ("too short", wave.node) not in self.found:
            why = "it grows" if not wave.steps else "it grows with the copybook"
            self._add("field", wave.node, (field.bytes, new), wave.steps, why, [declared_at(part, field)])
        # On the way up every table multiplies: a field that grows by 2 in a group that OCCURS 10 makes the record grow by 20.
        more = wave.more_bytes * (field.occurs or 1)
        self._laid_over(wave, part, field, part.fields.index(field), more)
        at = field.parent
        while at is not None:
            group = part.fields[at]
            if group.name:
                node = NodeId("field", group.name)
                times = f", {more // wave.more_bytes} times" if more != wave.more_bytes else ""
                inside = self._inside.setdefault(node, {})
                inside[wave.node] = (more, f"{wave.node}{times}")
                longer = None if group.bytes is None else group.bytes + sum(grown for grown, _ in inside.values())
                what: What = "record" if group.parent is None else "group"
                why = f"it holds {' and '.join(said for _, said in inside.values())}"
                self._add(what, node, (group.bytes, longer), wave.steps, why, [declared_at(part, group)])
                self._laid_over(wave, part, group, at, more * (group.occurs or 1))
                self._group(wave, node, group, longer)
            more *= group.occurs or 1
            at = group.parent
        self._files(wave, part, field, more)

    def _laid_over(self, wave: _Wave, part: ProgramPart, field: LaidField, index: int, more_bytes: int) -> None:
        """Add what redefines an item, or is redefined by it: it no longer fits.

        Args:
            wave: The field that grows.
            part: Its program.
            field: That field, or a group that holds it.
            index: The index of the latter.
            more_bytes: By how many bytes that grows, all its occurrences together.
        """
        for number, other in enumerate(part.fields):
            if number == index or not other.name or not (other.redefines or field.redefines):
                continue
            if other.redefines == field.name or (field.redefines and other.name == field.redefines):
                places = [declared_at(part, other), declared_at(part, field)]
                why = f"it shares its bytes with {field.name}, which gets longer"
                lengths = (other.bytes, None if field.bytes is None else field.bytes * (field.occurs or 1) + more_bytes)
                self._add("redefinition", NodeId("field", other.name), lengths, wave.steps, why, places)

    def _files(self, wave: _Wave, part: ProgramPart, field: LaidField, more_bytes: int) -> None:
        """Add the files whose records a field lies in, their data sets, and who else describes those."""
        storage = part.fields[field.storage]
        for file in part.files:
            if not any(part.fields[record].storage == field.storage for record in file.records):
                continue
            node = NodeId("file", file.name)
            self._add(
                "file", node, (storage.bytes, None), wave.steps, "its records get longer", [declared_at(part, storage)]
            )
            for edge in self._graph.touching(node):
                if edge.verb == "bound to":
                    self._data_set(wave, edge, more_bytes)
                elif edge.verb == "is key of" and edge.source == wave.node:
                    self._add("key", node, (field.bytes, None), wave.steps, f"{wave.node} is its key", edge.citations)

    def _data_set(self, wave: _Wave, edge: EstateEdge, more_bytes: int) -> None:
        """Add a data set whose records change, and the records of other programs that are read from and written to it."""
        self._add("data set", edge.target, (None, None), wave.steps, f"it is {edge.source}", edge.citations)
        for made in self._graph.touching(edge.target):
            if made.verb == "creates":
                why = f"it creates {edge.target}, with the length of its records and keys"
                self._add("step", made.source, (None, None), wave.steps, why, made.citations)
        parts = self._graph.parts
        for number, file in self._graph.bindings.get(edge.target, ()):
            for record in file.records:
                other = parts[number].fields[record]
                node = NodeId("field", other.name)
                if file.name != edge.source.name and other.name and not self._grows_too(parts[number], record):
                    why = f"it describes the records of {edge.target}, which get longer"
                    lengths = (other.bytes, None if other.bytes is None else other.bytes + more_bytes)
                    self._add(
                        "other layout",
                        node,
                        lengths,
                        wave.steps,
                        why,
                        [declared_at(parts[number], other), *edge.citations],
                    )

    def _grows_too(self, part: ProgramPart, record: int) -> bool:
        """Return whether a record holds one of the fields that grow, and so grows by itself."""
        names = {field.name for field in part.fields if field.record == record}
        return any(node.name in names for node in self._growing)

    # ── what gets it ──

    def _group(self, wave: _Wave, node: NodeId, group: LaidField, longer: int | None) -> None:
        """Add what a group is moved to, or shares its bytes with as a parameter, and what does not grow with it."""
        for edge in self._graph.touching(node):
            if edge.verb != "passes to" and (edge.verb != "moves to" or edge.source != node):
                continue
            other = edge.target if edge.source == node else edge.source
            placed = self._carrying.place(other)
            if placed is None or self._grows_too(placed[0], placed[1].record):
                continue
            target = placed[1]
            if target.bytes is not None and longer is not None and target.bytes < longer:
                what: What = "too short" if edge.verb == "moves to" else "other layout"
                is_cut = group.bytes is not None and target.bytes < group.bytes
                why, certainty = _why(edge, is_cut=is_cut, grown=node)
                self._add(what, other, (target.bytes, longer), wave.steps, why, edge.citations, certainty)
            elif group.usage == "GROUP" and _has_fields(*placed):
                why = f"{_said(edge, node)}, and what lies behind {wave.node} no longer lies where it did"
                lengths = (target.bytes, longer)
                self._add("other layout", other, lengths, wave.steps, why, edge.citations, edge.certainty)

    def _move(self, wave: _Wave, edge: EstateEdge, field: LaidField) -> None:
        """Add what a field is moved to where that is too short, and let it grow in its turn."""
        if edge.source != wave.node:
            return
        if edge.verb == "moves to" and edge.target.kind == "table":
            why = f"{wave.node} is stored in one of its columns"
            self._add("table", edge.target, (None, None), wave.steps, why, edge.citations, "may")
            return
        placed = self._carrying.place(edge.target)
        if placed is None or edge.target in self._growing:
            return
        target = placed[1]
        if edge.verb == "carried to" and edge.why.endswith(DIFFERS):
            return  # it lies in an area that is described otherwise, which is told of the area
        if edge.verb == "computes":
            why = f"{wave.node} is an operand of what it gets"
            self._add("calculated", edge.target, (target.bytes, None), wave.steps + 1, why, edge.citations, "may")
        elif edge.verb in {"moves to", "passes to", "carried to"} and wave.steps < MAX_STEPS:
            short = _shortage(field, target, wave.more_bytes)
            if short:
                # What takes only a part today need not grow: nothing follows from it.
                is_cut = _shortage(field, target, 0) > 0
                why, certainty = _why(edge, is_cut=is_cut, grown=wave.node)
                lengths = (target.bytes, None if target.bytes is None else target.bytes + short)
                self._add("too short", edge.target, lengths, wave.steps + 1, why, edge.citations, certainty)
                if not is_cut:
                    self.begin(edge.target, short, wave.steps + 1)


def _why(edge: EstateEdge, *, is_cut: bool, grown: NodeId) -> tuple[str, Certainty]:
    """Return why something gets too short, and how sure that is: what is cut today already may be meant so."""
    why = _said(edge, grown) + (f"; {edge.why}" if edge.why else "")
    if not is_cut:
        return why, edge.certainty
    return f"{why}; it takes only a part of it today", "may" if edge.certainty == "is" else edge.certainty


def _said(edge: EstateEdge, grown: NodeId) -> str:
    """Return an edge in words about the end that did not grow, which is `it`."""
    verb = f"is {edge.verb}" if edge.verb == "carried to" else edge.verb
    return f"{edge.source} {verb} it" if edge.source == grown else f"it {verb} {edge.target}, which gets longer"


def _has_fields(part: ProgramPart, group: LaidField) -> bool:
    """Return whether a group gives its bytes names, rather than be text of any length: DFHCOMMAREA as a table of X."""
    inside = (field for field in part.fields if field.record == group.record and field.line > group.line)
    return group.usage == "GROUP" and any(field.name and not field.in_table for field in inside)


def _declared(part: ProgramPart, field: LaidField) -> tuple[str, int]:
    """Return the file and line that declare a field."""
    cited = declared_at(part, field)
    return cited.path, cited.line


def _shortage(field: LaidField, target: LaidField, more_bytes: int) -> int:
    """Return by how many bytes an item is too short for another that has grown; 0 where it holds that."""
    if field.bytes is None or target.bytes is None:
        return 0
    one, other = digits(field.picture), digits(target.picture)
    if one is None or other is None:
        return max(0, field.bytes + more_bytes - target.bytes) if target.usage in {"GROUP", "DISPLAY"} else 0
    grown = one + (2 * more_bytes if field.usage in _PACKED else more_bytes)
    # Digits and not bytes are compared where both are numbers: a packed item holds two digits a byte, so that two bytes more are
    # four digits more, and a zoned item of the same length is short by all four.
    missing = max(0, grown - other)
    return (missing + 1) // 2 if target.usage in _PACKED else missing


def digits(picture: str | None) -> int | None:
    """Return the digits before the point of a numeric picture; None for text and for what is no picture.

    Example:
        >>> digits("S9(7)V99"), digits("ZZZ,ZZ9.99"), digits("X(8)")
        (7, 6, None)
    """
    if picture is None or re.search(r"[XAN]", picture, re.IGNORECASE):
        return None
    found = 0
    whole = re.split(r"V|\.(?=[9Z*])", picture.upper().lstrip("S"), maxsplit=1)[0]
    floating = [run for run in _RUN.findall(whole) if run[0] in "+-$"]
    for symbol, count in _RUN.findall(whole):
        if symbol in {"9", "Z", "*", "P"}:
            found += int(count or 1)
    # The first of several signs or currency signs is the sign, the rest are places of digits.
    places = sum(int(count or 1) for _, count in floating)
    return found + max(0, places - 1)

"""Tell what breaks where a field grows: what gets it and is too short, and whose length changes.

A field that grows makes the groups that hold it longer, the records and with them files and data sets; it moves what
lies behind it; what is laid over it by a REDEFINES, given it as a parameter or read from its file under another
description no longer fits; and what it is moved to may be too short, which then has to grow itself.

What an item holds is told by `sizes`, what it lacks by `shortages`, what lies elsewhere then by `holding`, how long a
record gets by `relaying`, what is stored of it by `stored`, and in which order all is told by `consequences`. Leaves to others:
values that are calculated, which are only named.

Law: what is said to be too short (`is`) is shorter than what comes, and what is too short is named
(`tests/cobol/test_growth_oracle.py`); nothing that is declared by the same copybook as the field, and so grows with it,
is said to break. What it misses yet stands in docs/impact.md.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ..facts.values import WHOLE, MoveWay
from .carrying import DIFFERS, PlacedField
from .columns import Columns
from .comparisons import Comparisons
from .consequences import Consequences, Longer, Wave
from .holding import first_name, growing_place, has_names, holders_of, is_other_kind, lies_behind, varies
from .lengths import Lengths
from .named_parts import NamedParts
from .relaying import RENAMES, Lying, relaid
from .shortages import Shortage, Sizes, shortage
from .sizes import Bytes, Size, held, longer, size_of
from .stored import Stored
from .structure import declared_at
from .values import RANK, EstateEdge, NodeId, less_sure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .carrying import Carrying
    from .columns import LongerColumn
    from .consequences import Grown, What
    from .estates import EstateGraph
    from .values import Certainty, CitedLine, LaidField, ProgramPart

TRIMMED = MoveWay(function="characters")
MAX_STEPS = 12
"""How many moves from the field on are followed, each from a field that would have to grow too."""


def growth(graph: EstateGraph, nodes: Iterable[NodeId], more_bytes: int, *, carrying: Carrying) -> tuple[Grown, ...]:
    """Return what breaks where some fields grow: the fields, what breaks for sure, what is stored, and what may break; then what
    gets longer with them. The nearest consequences come first in each.

    Args:
        graph: The estate.
        nodes: The fields: one, or all instances of one that a copybook declares.
        more_bytes: By how many bytes each of them grows.
        carrying: The ways of areas in the graph.
    """
    growing = _Growing(graph, carrying)
    for node in nodes:
        growing.begin(node, Bytes(more_bytes))
    growing.follow()
    return growing.found.told()


class _Growing:
    """The consequences while they are found.

    Fields are followed from move to move until none is left that grows; then the records that hold them are laid out
    anew, and what gets their groups is compared with what those have become. That may let further fields grow, and so on.
    """

    def __init__(self, graph: EstateGraph, carrying: Carrying) -> None:
        self._graph, self._carrying = graph, carrying
        self.found = Consequences()
        self._stored = Stored(graph, carrying, self.found, self._with)
        self._comparisons = Comparisons(graph, carrying, self.found)
        self._lengths = Lengths(graph, carrying, self.found)
        self._parts = NamedParts(graph, self.found)
        self._columns = Columns(graph, self.found)
        self._waves: dict[NodeId, Wave] = {}
        self._waiting: deque[tuple[NodeId, Wave]] = deque()
        # The fields that grow in each record, by the place of its part and its index; and those that were not laid out yet.
        self._inside: dict[tuple[int, int], dict[int, NodeId]] = {}
        self._changed: dict[tuple[int, int], ProgramPart] = {}
        self._laid: dict[NodeId, Lying] = {}
        """The groups and records that get longer."""
        self._alike: dict[tuple[str, int], list[NodeId]] = {}
        self._laid_over: dict[str, list[PlacedField]] = {}
        """What redefines each item, by the name of its node."""
        self._apart: dict[NodeId, frozenset[tuple[CitedLine, CitedLine]]] = {}
        """Of the fields that are used for several things, the statements between which nothing stays."""
        self._filled_by: dict[NodeId, set[CitedLine] | None] = {}
        """The statements that bring what is longer to the fields that grow; None for any."""
        self._held: set[tuple[NodeId, Sizes]] = set()
        """What items with room hold of longer values, which was passed on."""
        self._returned: set[str] = set()
        """What programs give back by RETURNING: it goes to the caller, and nothing comes from there."""
        for part in graph.parts:
            self._returned |= {part.fields[one.returned].name for one in part.entries if one.returned is not None}
            for index, pairs in part.apart:
                self._apart[NodeId("field", part.fields[index].name)] = pairs
            for index, field in enumerate(part.fields):
                # Two entries on one line of a program are not one item.
                if field.name and (field.copybook_path or part.kind == "copybook"):
                    self._alike.setdefault(_declared(part, field), []).append(NodeId("field", field.name))
                if field.redefines and field.level != RENAMES:
                    self._laid_over.setdefault(field.redefines, []).append(PlacedField(part, index))

    # ── which fields grow ──

    def begin(self, node: NodeId, more: Bytes) -> None:
        """Let a field grow by some bytes."""
        placed = self._carrying.place(node)
        if placed is not None:
            size = size_of(placed.field)
            self._grow(node, placed, Wave(None if size is None else longer(size, more), "is", 0, (None,)))

    def _grow(self, node: NodeId, placed: PlacedField, wave: Wave) -> None:
        """Let a field become as long as a wave says, and with it all that the same line of a copybook declares."""
        own = size_of(placed.field)
        for one in dict.fromkeys([node, *self._alike.get(_declared(placed.part, placed.field), ())]):
            there = self._carrying.place(one)
            if there is None:
                continue
            now = size = size_of(there.field)
            if size == own:
                size = wave.size
            elif size is not None and own is not None and wave.size is not None:
                size = longer(size, Bytes(wave.size.bytes - own.bytes))
            known = self._waves.get(one)
            is_new = self._is_filled_anew(one, wave.filled if one == node else ())
            if (
                known is not None
                and not is_new
                and not _is_more(size, known.size)
                and RANK[wave.certainty] >= RANK[known.certainty]
            ):
                continue
            if known is not None:
                surest = min(wave.certainty, known.certainty, key=RANK.__getitem__)
                size = size if _is_more(size, known.size) else known.size
                self._waves[one] = known._replace(size=size, certainty=surest)
            else:
                self._waves[one] = wave._replace(size=size)
            self._waiting.append((one, wave._replace(size=size)))
            if now is None or size is None or now.bytes != size.bytes:
                place = (id(there.part), there.field.record)
                self._inside.setdefault(place, {})[there.at] = one
                self._changed[place] = there.part

    def follow(self) -> None:
        """Find all consequences: those of the fields, of what would have to grow for them, and so on."""
        while self._waiting or self._changed:
            while self._waiting:
                node, wave = self._waiting.popleft()
                placed = self._carrying.place(node)
                if placed is not None:
                    self._field(node, placed, wave)
            changed, self._changed = self._changed, {}
            for group in [group for place, part in changed.items() for group in self._lay_out(part, place[1])]:
                self._group(group)

    def _field(self, node: NodeId, placed: PlacedField, wave: Wave) -> None:
        """Add a field that grows and what it is moved to, and note the record that it lies in."""
        part, field = placed.part, placed.field
        now, then = size_of(field) or wave.now, wave.size
        if ("too short", node) not in self.found and ("redefinition", node) not in self.found:
            why = "it grows" if not wave.steps else "it grows with the copybook"
            why = "it is as long as what it gets" if wave.now is not None else why
            lengths = (field.bytes, None if then is None else then.bytes)
            self.found.add("field", node, lengths, wave.steps, why, [declared_at(part, field)], wave.certainty)
        if now is not None and then is not None:
            self._comparisons.tell(part, placed.at, Sizes(now, then), wave)
            self._lengths.tell(part, placed.at, Sizes(now, then), wave)
            if wave.steps < MAX_STEPS:
                for column in self._columns.stored(part, placed.at, Sizes(now, then), wave):
                    self._read(column)
        self._parts.of_field(node, placed, wave)
        changed = Longer(part, placed.at, wave, growing_place([field]), frozenset(wave.causes))
        more = None if now is None or then is None else then.bytes - now.bytes
        for edge in self._graph.touching(node):
            self._stored.of_region(changed, node, edge, more)
            self._pass_on(node, edge, now, then, wave)
        for edge in self._carrying.after(node, layouts=True):
            if edge.verb == "carried to" and not edge.why.endswith(DIFFERS):
                self._pass_on(node, edge, now, then, wave)

    # ── what gets a field ──

    def _read(self, column: LongerColumn) -> None:
        """Add what gets a column that would have to be longer, where that is too short, and let it grow in its turn."""
        for edge in column.read:
            placed = self._carrying.place(edge.target)
            causes = frozenset(column.wave.causes)
            short = None if placed is None else self._shortage(edge, column.sizes, edge.target, placed, causes)
            if placed is not None and short is not None:
                self._too_short(edge.source, edge, edge.target, placed, short, column.wave, edge.citations)

    def _pass_on(self, node: NodeId, edge: EstateEdge, now: Size | None, then: Size | None, wave: Wave) -> None:
        """Add what a field is moved to where that is too short, and let it grow in its turn."""
        if edge.source == node and edge.verb == "moves to" and edge.target.kind == "table":
            if self._columns.have_room(node, edge.target, now, then):
                return
            why = f"{node} is stored in one of its columns"
            self.found.add("table", edge.target, (None, None), wave.steps, why, edge.citations, "may")
            return
        if edge.source == node and edge.verb == "computes" and any(one.function != "length" for one in _ways(edge)):
            placed = self._carrying.place(edge.target)
            if placed is not None and edge.target not in self._waves:
                why, length = f"{node} is an operand of what it gets", placed.field.bytes
                self.found.add("calculated", edge.target, (length, None), wave.steps + 1, why, edge.citations, "may")
        other = self._receiver(node, edge)
        placed = None if other is None else self._carrying.place(other)
        if other is None or placed is None:
            return
        given = self._given(node, wave.filled, edge, placed)
        if not given:
            return
        filled = given if edge.verb == "moves to" else ()
        if _is_of_any_length(placed.field):
            if edge.source == node and edge.verb != "computes" and not edge.ways and wave.steps < MAX_STEPS:
                sure = less_sure(wave.certainty, edge.certainty)
                self._grow(other, placed, Wave(then, sure, wave.steps + 1, (*wave.causes, other), filled, now))
            return
        causes = frozenset(wave.causes)
        short = self._shortage(edge, (now, then), other, placed, causes) if wave.steps < MAX_STEPS else None
        if short is not None:
            self._too_short(node, edge, other, placed, short, wave, filled)
        elif edge.source == node and edge.verb == "moves to" and not edge.ways and now is not None and now.is_number:
            self._parts.of_shifted(other, placed, node, wave)
        if short is None and edge.source == node and now is not None and then is not None:
            self._hold(edge, other, placed, Sizes(now, then), wave._replace(filled=filled))
        if short is None and other in self._apart and other in self._waves and wave.steps < MAX_STEPS:
            # It has grown for another use already.
            short = self._shortage(edge, (now, then), other, placed, frozenset())
            if short is not None and not short.is_cut and self._is_filled_anew(other, filled):
                self._waiting.append((other, self._waves[other]._replace(filled=filled)))

    def _too_short(
        self,
        node: NodeId,
        edge: EstateEdge,
        other: NodeId,
        placed: PlacedField,
        short: Shortage,
        wave: Wave,
        filled: tuple[CitedLine, ...] = (),
    ) -> None:
        """Add an item that is too short for one that grows, and let it grow in its turn."""
        why, certainty = _said_of(edge, node, short, wave)
        own = size_of(placed.field)
        is_layout = edge.verb == "passes to" and placed.field.usage == "GROUP"
        what: What = "cut today" if short.is_cut else "other layout" if is_layout else "too short"
        needed = None if short.size is None else short.size.bytes
        digits = (
            (None, None) if own is None or short.size is None or not own.is_number else (own.digits, short.size.digits)
        )
        cited = edge.citations
        self.found.add(what, other, (placed.field.bytes, needed), wave.steps + 1, why, cited, certainty, digits)
        # What takes only a part today need not grow: nothing follows from it.
        if what == "too short" and short.size is not None:
            self._grow(other, placed, Wave(short.size, certainty, wave.steps + 1, (*wave.causes, other), filled))

    def _hold(self, edge: EstateEdge, holder: NodeId, placed: PlacedField, sent: Sizes, wave: Wave) -> None:
        """Add what may be too short for a longer value that an item with room passes on, as a work field does.

        `MOVE A TO WORK`, `MOVE WORK TO B`: all of A came to B, though B takes only a part of WORK.
        """
        size = size_of(placed.field)
        content = None if size is None else Sizes(held(size, sent.now), held(size, sent.then))
        if size is None or content is None or content.now == content.then or not _is_whole(edge):
            return
        if wave.steps >= MAX_STEPS or (holder, content) in self._held or holder in self._waves:
            return
        self._held.add((holder, content))
        onward = wave._replace(steps=wave.steps + 1, causes=(*wave.causes, holder))
        for further in self._graph.touching(holder):
            other = self._carrying.place(further.target) if further.source == holder and _is_whole(further) else None
            taken = None if other is None else size_of(other.field)
            if other is None or taken is None or taken.kind != size.kind:
                continue
            given = self._given(holder, wave.filled, further, other)
            short = self._shortage(further, content, further.target, other, frozenset(wave.causes)) if given else None
            if short is not None and not short.is_cut:
                unsure = short._replace(is_sure=False)
                said = further._replace(why=f"{edge.source} moves to {holder}, which has room")
                self._too_short(holder, said, further.target, other, unsure, onward, given)
            elif given and short is None:
                self._hold(further, further.target, other, content, onward._replace(filled=given))

    def _is_filled_anew(self, node: NodeId, filled: tuple[CitedLine, ...]) -> bool:
        """Note what brings a field what is longer, and return whether that is another use of it than those that are known."""
        known = self._filled_by.setdefault(node, set())
        if known is None or (filled and known.issuperset(filled)):
            return False
        self._filled_by[node] = {*known, *filled} if filled else None
        return True

    def _given(
        self, node: NodeId, filled: tuple[CitedLine, ...], edge: EstateEdge, taken: PlacedField
    ) -> tuple[CitedLine, ...]:
        """Return the statements of an edge that may give on what is longer in a field; none where that has another use.

        A longer item of text has more blanks at its end then, and a number zeros at its front: nothing is lost with those.
        """
        pairs, placed = self._apart.get(node), self._carrying.place(node)
        one, other = (None if at is None else size_of(at.field) for at in (placed, taken))
        if not pairs or not filled or one is None or other is None or edge.verb != "moves to" or edge.ways:
            return edge.citations
        if not (one.kind == other.kind == "text" or (one.kind == "number" and other.is_number)):
            return edge.citations
        return tuple(use for use in edge.citations if any((fill, use) not in pairs for fill in filled))

    def _receiver(self, node: NodeId, edge: EstateEdge) -> NodeId | None:
        """Return what gets the bytes of a field by an edge; None where nothing does.

        A parameter is one storage for both sides, so that what grows in the called program is too long for the caller.
        """
        counts = edge.verb == "computes" and any(one.function == "length" for one in edge.ways)
        if edge.source == node and (edge.verb in {"moves to", "passes to", "carried to"} or counts):
            return edge.target
        is_back = edge.verb == "passes to" and edge.target == node and edge.source.name not in self._returned
        return edge.source if is_back else None

    def _shortage(
        self,
        edge: EstateEdge,
        sent: tuple[Size | None, Size | None],
        other: NodeId,
        placed: PlacedField,
        causes: frozenset[NodeId | None],
    ) -> Shortage | None:
        """Return what an item lacks to hold what it gets by an edge; None where it lacks nothing, or that is not known.

        Args:
            edge: The edge.
            sent: What is sent today, and then.
            other: The item that gets it.
            placed: Where that is declared.
            causes: What has grown before, and may have made that longer already.
        """
        target, (now, then) = size_of(placed.field), sent
        grown = self._with(other, placed, causes)
        if target is None or grown is None or now is None or then is None:
            return None
        # Bytes come as they lie there, but for a value that is returned.
        is_stored = edge.verb == "carried to" or (edge.verb == "passes to" and edge.source.name not in self._returned)
        ways = [way for way in _ways(edge) if (way.function == "length") == (edge.verb == "computes")]
        if edge.verb == "passes to" and edge.source == other:
            ways = [MoveWay(taken=way.sent) for way in ways]  # what the called program has is too long for its caller
        sizes = Sizes(now, then), Sizes(target, grown)
        shorts = [shortage(way, *sizes, self._beside(way, edge), is_stored=is_stored) for way in ways]
        return min(
            (one for one in shorts if one is not None), key=lambda one: (one.is_cut, not one.is_sure), default=None
        )

    def _beside(self, way: MoveWay, edge: EstateEdge) -> tuple[int, int]:
        """Return the characters, today and then, that a STRING puts beside an item."""
        now = then = way.literals
        if not way.string:
            return 0, 0
        for other in self._graph.touching(edge.target):
            same = [one for one in other.ways if one.string == way.string]
            is_of_it = other.verb == "moves to" and other.source != edge.source and other.target == edge.target
            placed = self._carrying.place(other.source) if same and is_of_it else None
            if placed is None or other.citations[0].path != edge.citations[0].path:
                continue
            size = size_of(placed.field)
            grown = self._then(other.source, size)
            for one in same:
                length = one.sent.length if one.sent is not None else None
                now += length if length is not None else 0 if size is None else size.characters
                then += length if length is not None else 0 if grown is None else grown.characters
        return now, then

    def _then(self, node: NodeId, size: Size | None) -> Size | None:
        """Return how much an item holds then."""
        wave, lying = self._waves.get(node), self._laid.get(node)
        if wave is not None and wave.size is not None:
            return wave.size
        if lying is None or size is None:
            return size
        return None if lying.bytes is None else longer(size, Bytes(lying.bytes - size.bytes))

    def _with(self, node: NodeId, placed: PlacedField, causes: frozenset[NodeId | None]) -> Size | None:
        """Return how much an item holds once that alone has grown which grows by some causes."""
        size, wave = size_of(placed.field), self._waves.get(node)
        if wave is not None and wave.causes[-1] in causes:
            return wave.size
        part, record = placed.part, placed.field.record
        inside = self._inside.get((id(part), record), {})
        waves = {at: self._waves[one] for at, one in inside.items()} if placed.field.usage == "GROUP" else {}
        same = {at: one.size.bytes for at, one in waves.items() if one.size is not None and one.causes[-1] in causes}
        length = relaid(part.fields, record, same)[placed.at].bytes if same else None
        return size if size is None or length is None else longer(size, Bytes(length - size.bytes))

    # ── what grows with it ──

    def _lay_out(self, part: ProgramPart, record: int) -> Iterator[Longer]:
        """Add the groups whose length changes in a record, what is laid over them, and its files; yield the groups."""
        fields, inside = part.fields, dict(self._inside[id(part), record])  # what is laid over them may join
        waves = {index: self._waves[node] for index, node in inside.items()}
        lengths = {index: wave.size.bytes for index, wave in waves.items() if wave.size is not None}
        laid = relaid(fields, record, lengths)
        is_known = len(lengths) == len(waves)
        holders = holders_of(fields, record, inside)
        moved = [index for index, lying in laid.items() if lying.bytes != fields[index].bytes]
        for index in dict.fromkeys((*inside, *holders, *moved)):
            field, then = fields[index], laid[index].bytes if is_known else None
            if then is not None and then == field.bytes:
                continue  # the bytes that SYNCHRONIZED leaves empty between its items take it up
            held = holders.get(index, [(index, 1)] if index in inside else [])
            growing = [one for one, _ in held] or [*inside]
            wave = min((waves[one] for one in growing), key=Wave.nearness)
            causes = frozenset((*wave.causes, *(waves[one].causes[-1] for one in growing)))
            found = Longer(part, index, wave, growing_place(fields[one] for one in growing), causes)
            if index not in inside and field.name:
                node = NodeId("field", field.name)
                self._laid[node] = Lying(laid[index].offset, then)
                said = " and ".join(f"{inside[one]}{f', {times} times' if times > 1 else ''}" for one, times in held)
                why = f"it holds {said}" if said else "fewer or more bytes are left empty in it by SYNCHRONIZED"
                what: What = "record" if field.parent is None else "group"
                cited = [declared_at(part, field)]
                self.found.add(what, node, (field.bytes, then), wave.steps, why, cited, wave.certainty)
                yield found
            self._redefined(found, then)
        wave = min(waves.values(), key=Wave.nearness)
        causes = frozenset((*wave.causes, *(one.causes[-1] for one in waves.values())))
        then = laid[record].bytes if is_known else None
        place = growing_place(fields[index] for index in inside)
        self._stored.tell(Longer(part, record, wave, place, causes), then, {*inside, *holders})

    def _redefined(self, changed: Longer, then: int | None) -> None:
        """Add what redefines an item, or is redefined by it, where that no longer fits.

        Args:
            changed: A field that grows, or a group that holds it.
            then: How long that is then.
        """
        part, index, wave, place, causes = changed
        field = part.fields[index]
        subject = field.redefines if field.redefines and field.level != RENAMES else field.name
        over = [*self._laid_over.get(subject, ())] if subject else []
        placed = self._carrying.place(NodeId("field", subject)) if subject != field.name else None
        is_laid_over = ("redefinition", NodeId("field", field.name)) in self.found
        for one in [*([placed] if placed is not None else []), *over]:
            # A FILLER that is laid over it is told of by the first that it has a name for.
            other, node = one.field, NodeId("field", one.field.name or first_name(one.part, one.at))
            if not node.name or (one.part is part and one.at == index):
                continue
            # What grew for one of several that are laid over it need not grow for those of another kind.
            grew = [there for there in over if NodeId("field", there.field.name) in self._laid] if is_laid_over else []
            is_other = any(is_other_kind(here, one) for here in (PlacedField(part, index), *grew))
            sure = less_sure(wave.certainty, "may" if is_other else "is")
            cited = [declared_at(one.part, other), declared_at(part, field)]
            size, grown = size_of(other), self._with(node, one, causes)
            length = None if then is None else then * (field.occurs or 1)
            now = (field.bytes or 0) * (field.occurs or 1)
            is_behind = grown == size and lies_behind(one.part, one.at, place.within(other))
            if size is None or grown is None or then is None or length is None:
                why = f"it shares its bytes with {field.name or 'a FILLER'}, which gets longer"
                self.found.add("redefinition", node, (other.bytes, length), wave.steps, why, cited, "may")
            elif size.bytes * (other.occurs or 1) < now and not is_behind:
                # A shorter record of another kind has what it had; of one item it is a part.
                if "group" not in {size.kind, field.usage.lower()}:
                    why = f"it has only a part of {field.name} today, which gets longer"
                    self.found.add("redefinition", node, (other.bytes, length), wave.steps, why, cited, "may")
            elif grown.bytes * (other.occurs or 1) < length and not (is_behind and size.bytes < now):
                why = f"it shares its bytes with {field.name or 'a FILLER'}, which gets longer"
                self.found.add("redefinition", node, (other.bytes, length), wave.steps, why, cited, sure)
                if (field.bytes, field.occurs, size.kind == "group") == (other.bytes, other.occurs, False):
                    more = longer(size, Bytes(then - size.bytes))
                    self._grow(node, one, Wave(more, sure, wave.steps + 1, (*wave.causes, node)))
            elif is_behind:
                why = f"it shares its bytes with {field.name or 'a FILLER'}, where what lies behind the field that grows moves"
                self.found.add("redefinition", node, (other.bytes, None), wave.steps, why, cited, sure)

    def _group(self, changed: Longer) -> None:
        """Add what a group is moved to, or shares its bytes with as a parameter, and what does not grow with it."""
        part, index, wave, place, causes = changed
        group = part.fields[index]
        node, now = NodeId("field", group.name), size_of(group)
        then = self._then(node, now)
        place = place.within(group)
        if now is not None and then is not None:
            self._comparisons.tell(part, index, Sizes(now, then), wave)
            self._lengths.tell(part, index, Sizes(now, then), wave)
        self._parts.of_group(part, index, place, wave)
        more = None if now is None or then is None else then.bytes - now.bytes
        for edge in self._graph.touching(node):
            self._stored.of_region(changed, node, edge, more)
            self._by_place(node, edge, changed)
            other = self._receiver(node, edge)
            placed = None if other is None else self._carrying.place(other)
            if other is None or placed is None:
                self._filled(node, edge, changed)
                continue
            short = self._shortage(edge, (now, then), other, placed, causes) if wave.steps < MAX_STEPS else None
            if short is not None:
                if varies(part, index) or varies(placed.part, placed.at):
                    short = short._replace(is_sure=False)
                self._too_short(node, edge, other, placed, short, wave)
            elif (
                all(way.sent is None and way.taken is None and not way.function for way in edge.ways)
                and lies_behind(placed.part, placed.at, place)
                and self._with(other, placed, causes) == size_of(placed.field)
            ):
                why = f"{_said(edge, node)}, and what lies behind the field that grows no longer lies where it did"
                self._other_layout(edge, other, placed, why, wave)

    def _filled(self, node: NodeId, edge: EstateEdge, changed: Longer) -> None:
        """Add what a group is filled from that does not grow with it: its bytes come where others are expected."""
        group = changed.part.fields[changed.at]
        placed = self._carrying.place(edge.source) if edge.verb == "moves to" and edge.target == node else None
        size = None if placed is None or edge.ways else size_of(placed.field)
        if placed is None or size is None or size.is_number:
            return
        place = changed.place.within(group)
        # A number that grows at its front gets its digits from other bytes, too.
        is_behind = place.last < place.first < size.bytes or lies_behind(changed.part, changed.at, place, size.bytes)
        if is_behind and self._with(edge.source, placed, changed.causes) == size:
            why = f"{_said(edge, node)}, and what lies behind the field that grows no longer lies where it did"
            # A raw area has the layout of whoever fills it; one that is too short has the old one.
            then = self._then(node, size_of(group))
            is_raw = then is not None and size.bytes >= then.bytes and not has_names(placed.part, placed.at)
            self._other_layout(edge, edge.source, placed, why, changed.wave, "may" if is_raw else "is")

    def _by_place(self, node: NodeId, edge: EstateEdge, changed: Longer) -> None:
        """Add the other end of a move that names a part of a group by its place: other bytes lie there then."""
        is_sent = edge.source == node
        other = edge.target if is_sent else edge.source
        placed = self._carrying.place(other) if edge.verb in {"moves to", "passes to"} else None
        group = changed.part.fields[changed.at]
        place = changed.place.within(group)
        for part in (way.sent if is_sent else way.taken for way in edge.ways):
            if placed is not None and part is not None and place.moves(part, group.bytes):
                why = f"{_said(edge, node)}, in a part that is named by its place, where other bytes lie then"
                if part.start is None:
                    self._other_layout(edge, other, placed, why, changed.wave, "may")
                elif part.start - 1 > place.first or part.is_open or part.start - 1 + (part.length or 0) == group.bytes:
                    self._other_layout(edge, other, placed, why, changed.wave)
                else:  # the beginning of it alone
                    self._other_layout(edge, other, placed, why, changed.wave, "may", "cut today")

    def _other_layout(
        self,
        edge: EstateEdge,
        other: NodeId,
        placed: PlacedField,
        why: str,
        wave: Wave,
        sure: Certainty = "is",
        what: What = "other layout",
    ) -> None:
        """Add what shares the bytes of a group by a move, and sees others in their place then."""
        certainty = less_sure(wave.certainty, edge.certainty, sure)
        self.found.add(what, other, (placed.field.bytes, None), wave.steps, why, edge.citations, certainty)


def _said_of(edge: EstateEdge, grown: NodeId, short: Shortage, wave: Wave) -> tuple[str, Certainty]:
    """Return why something gets too short, and how sure that is: what is cut today already may be meant so."""
    why = _said(edge, grown) + (f"; {edge.why}" if edge.why else "")
    if short.is_cut:
        why = f"{why}; it takes only a part of it today"
    elif short.size is None:
        why = f"{why}, in a part of it"
    is_sure = short.is_sure and not short.is_cut
    return why, less_sure(wave.certainty, edge.certainty, "is" if is_sure else "may")


def _said(edge: EstateEdge, grown: NodeId) -> str:
    """Return an edge in words about the end that did not grow, which is `it`."""
    if edge.verb == "computes":
        return f"the length of {edge.source} goes to it"
    verb = f"is {edge.verb}" if edge.verb == "carried to" else edge.verb
    return f"{edge.source} {verb} it" if edge.source == grown else f"it {verb} {edge.target}, which gets longer"


def _ways(edge: EstateEdge) -> tuple[MoveWay, ...]:
    """Return how much each of the statements moves that an edge stands for."""
    return edge.ways or (WHOLE,)


def _is_whole(edge: EstateEdge) -> bool:
    """Return whether all of an item is moved by an edge, and nothing beside it."""
    return edge.verb == "moves to" and all(one in {WHOLE, TRIMMED} for one in _ways(edge))


def _is_of_any_length(field: LaidField) -> bool:
    """Return whether an item is as long as what it gets: ANY LENGTH, or DYNAMIC LENGTH."""
    return field.bytes is None and (field.picture or "")[:1].upper() in {*"XAN9"}


def _is_more(size: Size | None, known: Size | None) -> bool:
    """Return whether a size is more than another in any of its quantities."""
    if size is None or known is None:
        return known is not None
    return size.bytes > known.bytes or size.characters > known.characters or size.digits > known.digits


def _declared(part: ProgramPart, field: LaidField) -> tuple[str, int]:
    """Return the file and line that declare a field."""
    cited = declared_at(part, field)
    return cited.path, cited.line

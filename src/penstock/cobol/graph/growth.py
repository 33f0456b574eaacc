"""What breaks when a field grows: which receivers are too short, and whose length changes?

A field that grows makes the groups and records that contain it longer, and with them files and data sets; it moves what follows
it. What redefines it, receives it as a parameter, or is read from its file under another description no longer fits; and what it
is moved to may be too short, and then has to grow itself.

`sizes` knows what an item holds, `shortages` what it lacks, `grown_items` both for the items that have grown so far; `growing` is
what all reports look at. `overlaid` reports redefinitions, `displaced` what sees other bytes of a group, `work_fields` and
`shifted` what passes through items with room, and `stored` files, data sets and steps; `uses` knows which uses of a field pass it
on, and `consequences` orders the reports. Leaves to others: calculated values, which are only named.

Law: whatever is reported as certainly too short is shorter than what it receives, and whatever is too short is reported
(`tests/cobol/test_growth_oracle.py`); nothing that the same entry of a copybook declares, and that so grows with the field, is
reported to break. docs/grow.md says what is still missed.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from .bringing import in_words, receiver_of, ways_of
from .carrying import DIFFERS
from .columns import Columns
from .comparisons import Comparisons
from .consequences import Consequences, Longer, Wave
from .displaced import Displaced
from .growing import MAX_STEPS, GrowingEstate
from .grown_items import GrownItems
from .holding import growing_place, holders_of, varies
from .lengths import Lengths
from .named_parts import NamedParts
from .overlaid import Overlaid
from .relaying import Lying, relaid
from .shifted import Shifted
from .shortages import Sizes
from .sizes import Bytes, Size, longer, size_of
from .stored import Stored
from .structure import declarations, declared_at
from .uses import Uses
from .values import RANK, EstateEdge, NodeId, less_sure
from .work_fields import WorkFields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .carrying import Carrying, PlacedField
    from .columns import LongerColumn
    from .consequences import Grown, What
    from .estates import EstateGraph
    from .shortages import Shortage
    from .values import Certainty, CitedLine, LaidField, ProgramPart


def growth(
    graph: EstateGraph, nodes: Iterable[NodeId], more_bytes: int, *, carrying: Carrying, behind_point: bool = False
) -> tuple[Grown, ...]:
    """Return what breaks when some fields grow.

    First come the fields, then what surely breaks, what is stored, what may break, and what gets longer with them; the nearest
    consequences are first in each group.

    Args:
        graph: The estate.
        nodes: The fields: one, or all instances of one that a copybook declares.
        more_bytes: By how many bytes each of them grows.
        carrying: The transfers between areas in the graph.
        behind_point: Whether numbers get their digits after the decimal point, rather than before it.
    """
    growing = _Growing(graph, carrying)
    for node in nodes:
        growing.begin(node, Bytes(more_bytes), behind_point=behind_point)
    growing.follow()
    return growing.found.told()


class _Growing:
    """Finds the consequences of growing fields.

    Fields are followed from move to move until no further one grows; then the records that contain them are laid out anew,
    and the receivers of their groups are compared with the new lengths. This may make further fields grow, and so on.
    """

    def __init__(self, graph: EstateGraph, carrying: Carrying) -> None:
        self._graph, self._carrying = graph, carrying
        self.found = Consequences()
        self._returned = {
            part.fields[one.returned].name for part in graph.parts for one in part.entries if one.returned is not None
        }
        """The items that programs return with RETURNING: the caller receives them, and sends nothing back."""
        self._items = GrownItems(graph, carrying, self._returned)
        self._uses = Uses(graph, carrying)
        estate = GrowingEstate(graph, carrying, self.found, self._items, self._uses)
        self._stored = Stored(estate)
        self._overlaid = Overlaid(estate)
        self._displaced = Displaced(estate)
        self._comparisons = Comparisons(estate)
        self._lengths = Lengths(estate)
        self._parts = NamedParts(estate)
        self._columns = Columns(estate)
        self._shifted = Shifted(estate, self._comparisons, self._parts)
        self._work_fields = WorkFields(estate, self._comparisons, self._parts)
        self._waiting: deque[tuple[NodeId, Wave]] = deque()
        self._changed: dict[tuple[int, int], ProgramPart] = {}
        """The records to be laid out because a field in them has grown, by the identity of their part and their index."""
        self._declared = {id(part): tuple(declarations(part)) for part in graph.parts}
        self._alike: dict[tuple[str, int, int], list[NodeId]] = {}
        """The fields that each entry of a copybook declares."""
        for part in graph.parts:
            for field, entry in zip(part.fields, self._declared[id(part)], strict=True):
                if field.name and (field.copybook_path or part.kind == "copybook"):
                    self._alike.setdefault(entry, []).append(field.node)

    # ── which fields grow ──

    def begin(self, node: NodeId, more: Bytes, *, behind_point: bool) -> None:
        """Let a field grow by some bytes; a number before its decimal point, or after it."""
        placed = self._carrying.place(node)
        if placed is not None:
            size = size_of(placed.field)
            then = None if size is None else longer(size, more, behind_point=behind_point)
            self._grow(node, placed, Wave(then, "is", 0, (None,)))

    def _grow(self, node: NodeId, placed: PlacedField, wave: Wave) -> None:
        """Let a field become as long as a wave says, with all fields that the same entry of a copybook declares."""
        own = size_of(placed.field)
        entry = self._declared[id(placed.part)][placed.at]
        for one in dict.fromkeys([node, *self._alike.get(entry, ())]):
            there = self._carrying.place(one)
            if there is None:
                continue
            now = size = size_of(there.field)
            if size == own:
                size = wave.size
            elif size is not None and own is not None and wave.size is not None:
                size = longer(size, Bytes(wave.size.bytes - own.bytes))
            known = self._items.waves.get(one)
            is_new = self._uses.is_filled_anew(one, wave.filled if one == node else ())
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
                self._items.waves[one] = known._replace(size=size, certainty=surest)
            else:
                self._items.waves[one] = wave._replace(size=size)
            self._waiting.append((one, wave._replace(size=size)))
            if now is None or size is None or now.bytes != size.bytes:
                place = (id(there.part), there.field.record)
                self._items.inside.setdefault(place, {})[there.at] = one
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
        self._stored.conclude()

    def _field(self, node: NodeId, placed: PlacedField, wave: Wave) -> None:
        """Report a field that grows, and follow it to its receivers."""
        part, field = placed.part, placed.field
        now, then = size_of(field) or wave.now, wave.size
        if ("too short", node) not in self.found and ("redefinition", node) not in self.found:
            why = "it grows" if not wave.steps else "it grows with the copybook"
            why = "it is as long as what it receives" if wave.now is not None else why
            lengths = (field.bytes, None if then is None else then.bytes)
            self.found.add("field", node, lengths, wave.steps, why, [declared_at(part, field)], wave.certainty)
        if now is not None and then is not None:
            self._comparisons.tell(part, placed.at, Sizes(now, then), wave)
            self._lengths.tell(part, placed.at, Sizes(now, then), wave)
            if wave.steps < MAX_STEPS:
                for column in self._columns.stored(part, placed.at, Sizes(now, then), wave):
                    self._read(column)
        self._parts.of_field(node, placed, wave)
        changed = Longer(part, placed.at, wave, growing_place([(field, then)]), frozenset(wave.causes))
        more = None if now is None or then is None else then.bytes - now.bytes
        for edge in self._graph.touching(node):
            self._stored.of_region(changed, node, edge, more)
            self._pass_on(node, edge, now, then, wave)
        for edge in self._carrying.after(node, layouts=True):
            if edge.verb == "carried to" and not edge.why.endswith(DIFFERS):
                self._pass_on(node, edge, now, then, wave)

    # ── what receives a field ──

    def _read(self, column: LongerColumn) -> None:
        """Report the fields that are too short to read a column that would have to be longer, and let them grow in turn."""
        for edge in column.read:
            placed = self._carrying.place(edge.target)
            causes = frozenset(column.wave.causes)
            short = None if placed is None else self._items.shortage(edge, column.sizes, edge.target, placed, causes)
            if placed is not None and short is not None:
                self._too_short(edge.source, edge, edge.target, placed, short, column.wave, edge.citations)

    def _pass_on(self, node: NodeId, edge: EstateEdge, now: Size | None, then: Size | None, wave: Wave) -> None:
        """Report what a field is moved to if that is too short, and let it grow in turn."""
        if edge.source == node and edge.verb == "moves to" and edge.target.kind == "table":
            if self._columns.have_room(node, edge.target, now, then):
                return
            why = f"{node} is stored in one of its columns"
            self.found.add("table", edge.target, (None, None), wave.steps, why, edge.citations, "may")
            return
        if edge.source == node and edge.verb == "computes" and any(one.function != "length" for one in ways_of(edge)):
            placed = self._carrying.place(edge.target)
            if placed is not None and edge.target not in self._items.waves:
                why, length = f"it is calculated from {node}", placed.field.bytes
                self.found.add("calculated", edge.target, (length, None), wave.steps + 1, why, edge.citations, "may")
        other = receiver_of(node, edge, self._returned)
        placed = None if other is None else self._carrying.place(other)
        if other is None or placed is None:
            return
        given = self._uses.given(node, wave.filled, edge, placed)
        if not given:
            return
        filled = given if edge.verb == "moves to" else ()
        if _is_of_any_length(placed.field):
            if edge.source == node and edge.verb != "computes" and not edge.ways and wave.steps < MAX_STEPS:
                sure = less_sure(wave.certainty, edge.certainty)
                self._grow(other, placed, Wave(then, sure, wave.steps + 1, (*wave.causes, other), filled, now))
            return
        causes = frozenset(wave.causes)
        short = self._items.shortage(edge, (now, then), other, placed, causes) if wave.steps < MAX_STEPS else None
        if short is not None:
            self._too_short(node, edge, other, placed, short, wave, filled)
        elif edge.source == node and now is not None and then is not None:
            carried = wave._replace(filled=filled)
            for one in self._work_fields.passed_on(edge, other, placed, Sizes(now, then), carried):
                self._too_short(one.holder, one.edge, one.edge.target, one.placed, one.short, one.wave, one.given)
            self._shifted.tell(node, Sizes(now, then), edge, other, placed, carried)
        if short is None and self._uses.has_several(other) and other in self._items.waves and wave.steps < MAX_STEPS:
            # It has already grown for another use.
            short = self._items.shortage(edge, (now, then), other, placed, frozenset())
            if short is not None and not short.is_cut and self._uses.is_filled_anew(other, filled):
                self._waiting.append((other, self._items.waves[other]._replace(filled=filled)))

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
        """Report an item that is too short for one that grows, and let it grow in turn."""
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

    # ── what grows with it ──

    def _lay_out(self, part: ProgramPart, record: int) -> Iterator[Longer]:
        """Report the groups of a record whose length changes, what redefines them, and its files; yield the groups."""
        fields, inside = part.fields, dict(self._items.inside[id(part), record])  # redefinitions may be added to it
        waves = {index: self._items.waves[node] for index, node in inside.items()}
        lengths = {index: wave.size.bytes for index, wave in waves.items() if wave.size is not None}
        laid = relaid(fields, record, lengths)
        is_known = len(lengths) == len(waves)
        holders = holders_of(fields, record, inside)
        moved = [index for index, lying in laid.items() if lying.bytes != fields[index].bytes]
        for index in dict.fromkeys((*inside, *holders, *moved)):
            field, then = fields[index], laid[index].bytes if is_known else None
            if then is not None and then == field.bytes:
                continue  # the slack bytes of SYNCHRONIZED between its items absorb the growth
            held = holders.get(index, [(index, 1)] if index in inside else [])
            growing = [one for one, _ in held] or [*inside]
            wave = min((waves[one] for one in growing), key=Wave.nearness)
            causes = frozenset((*wave.causes, *(waves[one].causes[-1] for one in growing)))
            found = Longer(part, index, wave, growing_place((fields[one], waves[one].size) for one in growing), causes)
            if index not in inside and field.name:
                node = field.node
                self._items.laid[node] = Lying(laid[index].offset, then)
                said = " and ".join(f"{inside[one]}{f', {times} times' if times > 1 else ''}" for one, times in held)
                why = f"it holds {said}" if said else "SYNCHRONIZED leaves more or fewer slack bytes in it"
                what: What = "record" if field.parent is None else "group"
                cited = [declared_at(part, field)]
                self.found.add(what, node, (field.bytes, then), wave.steps, why, cited, wave.certainty)
                yield found
            for node, one, more in self._overlaid.growing_with(found, then):
                self._grow(node, one, more)
        wave = min(waves.values(), key=Wave.nearness)
        causes = frozenset((*wave.causes, *(one.causes[-1] for one in waves.values())))
        then = laid[record].bytes if is_known else None
        place = growing_place((fields[index], waves[index].size) for index in inside)
        self._stored.tell(Longer(part, record, wave, place, causes), then, {*inside, *holders})

    def _group(self, changed: Longer) -> None:
        """Report what a group is moved to, or shares its bytes with as a parameter, and what does not grow with it."""
        part, index, wave, place, causes = changed
        group = part.fields[index]
        node, now = group.node, size_of(group)
        then = self._items.then(node, now)
        place = place.within(group)
        if now is not None and then is not None:
            self._comparisons.tell(part, index, Sizes(now, then), wave)
            self._lengths.tell(part, index, Sizes(now, then), wave)
        self._parts.of_group(part, index, place, wave)
        more = None if now is None or then is None else then.bytes - now.bytes
        for edge in self._graph.touching(node):
            self._stored.of_region(changed, node, edge, more)
            self._displaced.by_place(node, edge, changed)
            other = receiver_of(node, edge, self._returned)
            placed = None if other is None else self._carrying.place(other)
            if other is None or placed is None:
                self._displaced.filling(node, edge, changed)
                continue
            short = self._items.shortage(edge, (now, then), other, placed, causes) if wave.steps < MAX_STEPS else None
            if short is not None:
                if varies(part, index) or varies(placed.part, placed.at):
                    short = short._replace(is_sure=False)
                self._too_short(node, edge, other, placed, short, wave)
            else:
                self._displaced.taken(node, edge, other, placed, changed)
                if then is not None:
                    self._shifted.tell_behind(changed, then, edge, other, placed)


def _said_of(edge: EstateEdge, grown: NodeId, short: Shortage, wave: Wave) -> tuple[str, Certainty]:
    """Return why something is too short, and how certain that is: what is already truncated today may be intended."""
    why = in_words(edge, grown) + (f"; {edge.why}" if edge.why else "")
    if short.is_cut:
        why = f"{why}; it takes only a part of it today"
    elif short.size is None:
        why = f"{why}, in a part of it"
    is_sure = short.is_sure and not short.is_cut
    return why, less_sure(wave.certainty, edge.certainty, "is" if is_sure else "may")


def _is_of_any_length(field: LaidField) -> bool:
    """Return whether an item is as long as what it receives: ANY LENGTH, or DYNAMIC LENGTH."""
    return field.bytes is None and (field.picture or "")[:1].upper() in {*"XAN9"}


def _is_more(size: Size | None, known: Size | None) -> bool:
    """Return whether a size exceeds another in any of its quantities; an unknown one exceeds every known one."""
    if size is None or known is None:
        return known is not None
    return size.bytes > known.bytes or size.characters > known.characters or size.digits > known.digits

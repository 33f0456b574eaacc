"""Where does a field go with the area that contains it: in a group that is moved, a parameter, a file or a data set?

`MOVE G TO H`, `CALL 'P' USING G` and a data set that one program writes and another reads identify two areas; a field
of one then corresponds to the field at the same offset in the other. These edges (`carried to`, and `overlaps` for what a
REDEFINES lays over another item) are computed only for the field in question, because all of them would number the fields of
an estate times the areas that contain them.

Law: an edge is certain (`is`) only if offset and length are known and the same.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from itertools import chain, permutations
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..facts.data import WHOLE
from .copying import linked
from .relaying import RENAMES, inside
from .structure import declarations, declared_at
from .values import RANK, CitedLine, EstateEdge, NodeId, less_sure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..facts.data import MoveWay
    from .estates import EstateGraph
    from .values import Certainty, LaidField, ProgramPart


Passing = Literal["", "down", "up", "alike"]
DIFFERS = "; place or length differ"
"""The end of an edge's reason if its two fields do not correspond exactly."""
MAX_SHARING = 50
"""The maximum number of declarations of one EXTERNAL record that are linked pairwise; more are linked through the first."""
MAX_PLACES = 200
"""The maximum number of places to which the bytes of one field are followed if no field there has exactly these bytes."""
_KNOWN_PLACES = 1 << 16
"""The number of places whose fields are kept."""


class PlacedField(NamedTuple):
    """A field in its program."""

    part: ProgramPart
    at: int
    """The index of the field in `part.fields`."""

    @property
    def field(self) -> LaidField:
        """Return the field itself."""
        return self.part.fields[self.at]


class _Area(NamedTuple):
    """A field of a part, as an area that contains others."""

    part: int
    field: int


class _Stretch(NamedTuple):
    """Which bytes of one area become which of another; by default all of them, from the first on."""

    here: int = 0
    """Where it begins, relative to the start of the area; `there` is the same for the other area."""
    there: int = 0
    length: int | None = None
    """The number of bytes; None for all that there are."""

    def back(self) -> _Stretch:
        """Return the same bytes in the opposite direction."""
        return _Stretch(self.there, self.here, self.length)


_ALL = _Stretch()


class _Way(NamedTuple):
    """A transfer of the content of one area into another."""

    to: _Area
    certainty: Certainty
    why: str
    citations: tuple[CitedLine, ...]
    stretch: _Stretch = _ALL
    passing: Passing = ""
    """Whether a parameter goes down to a called program or comes up from it; `alike` if no value comes up, because it was passed
    BY CONTENT, but both have the same layout."""


class _Bytes(NamedTuple):
    """A range of bytes in a part's storage; `end` is exclusive."""

    part: int
    storage: int
    start: int
    end: int


class _Trail(NamedTuple):
    """The ways that some bytes have taken."""

    certainty: Certainty
    whys: tuple[str, ...]
    citations: tuple[CitedLine, ...]
    last: Passing = ""
    """How the last way passed a parameter."""

    def along(self, way: _Way) -> _Trail:
        """Return the trail extended by one way."""
        certainty = less_sure(self.certainty, way.certainty)
        return _Trail(certainty, (*self.whys, way.why), (*self.citations, *way.citations), way.passing)

    def leads(self, way: _Way, *, forward: bool, layouts: bool) -> bool:
        """Return whether the trail may continue along a way: what one caller passes down does not come up in another caller."""
        here, there = (self.last, way.passing) if forward else (way.passing, self.last)
        return not (here == "down" and there in {"up", "alike"}) and (layouts or way.passing != "alike")


class _End(NamedTuple):
    """An area that is written to a store or read from one."""

    area: _Area
    certainty: Certainty
    is_one_of: bool
    """Whether it is one of several record types."""
    citations: tuple[CitedLine, ...]


class Carrying:
    """The transfers between the areas of a graph, found once and queried field by field.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: EstateGraph) -> None:
        self._graph = graph
        self._after: dict[_Area, list[_Way]] = {}
        self._before: dict[_Area, list[_Way]] = {}
        self._places: dict[str, _Area] = {}
        self._by_storage: dict[int, dict[tuple[int, int], list[_Area]]] = {}
        self._stored_fields: dict[int, dict[int, list[int]]] = {}
        self._declarations: dict[int, tuple[tuple[str, int, int], ...]] = {}
        # A copied record has the same bytes in each program, and each of its fields leads to each of them.
        self._targets = lru_cache(_KNOWN_PLACES)(self._targets_at)
        for number, part in enumerate(graph.parts):
            for index, field in enumerate(part.fields):
                if field.name:
                    self._places[field.name] = _Area(number, index)
        self._moves()
        self._external()
        for passed in graph.passed:
            by = "as a parameter" if not passed.why else f"as a parameter; {passed.why}"
            one, other, stretch = _Area(*passed.sender), _Area(*passed.receiver), _stretch(passed.way)
            if stretch is None:
                continue
            goes: Passing = "" if passed.is_returned else "down"
            self._join(one, other, passed.certainty, by, passed.citations, stretch, goes)
            # By reference, the caller sees what the called program leaves there. A returned value only goes one way.
            if not passed.is_returned:
                comes: Passing = "alike" if passed.way.is_copied else "up"
                self._join(other, one, passed.certainty, by, passed.citations, stretch.back(), comes)

    def after(self, node: NodeId, *, layouts: bool = False) -> Iterator[EstateEdge]:
        """Yield the fields that a field is carried to, and those that it shares bytes with.

        Args:
            node: The field.
            layouts: Whether to include fields that must have the same layout although no value gets there.
        """
        yield from self._carried(node, self._after, forward=True, layouts=layouts)
        yield from self._overlapping(node)

    def before(self, node: NodeId) -> Iterator[EstateEdge]:
        """Yield the fields that are carried to a field, and those that it shares bytes with."""
        yield from self._carried(node, self._before, forward=False)
        yield from self._overlapping(node)

    def place(self, node: NodeId) -> PlacedField | None:
        """Return where a field is declared; None if no part declares it."""
        area = self._places.get(node.name)
        if area is None or node.kind != "field":
            return None
        return PlacedField(self._graph.parts[area.part], area.field)

    # ── which areas become which ──

    def _join(
        self,
        one: _Area,
        other: _Area,
        certainty: Certainty,
        why: str,
        citations: tuple[CitedLine, ...],
        stretch: _Stretch = _ALL,
        passing: Passing = "",
    ) -> None:
        """Record a transfer of the content of one area into another."""
        self._after.setdefault(one, []).append(_Way(other, certainty, why, citations, stretch, passing))
        self._before.setdefault(other, []).append(_Way(one, certainty, why, citations, stretch.back(), passing))

    def _moves(self) -> None:
        """Record the moves between areas, and the transfers through files and data sets."""
        moved: dict[NodeId, tuple[list[_End], list[_End]]] = {}
        for edge in self._graph.drawn:
            if edge.verb != "moves to":
                continue
            one, other = self._places.get(edge.source.name), self._places.get(edge.target.name)
            if edge.source.kind == edge.target.kind == "field":
                if one is not None and other is not None and self._is_area(one) and self._is_area(other):
                    why = f"{edge.source} moves to {edge.target}"
                    for way in edge.ways or (WHOLE,):
                        # The position of what is split or concatenated depends on the data.
                        sure: Certainty = "may" if way.is_piece or way.string else edge.certainty
                        if (stretch := _stretch(way)) is not None:
                            self._join(one, other, sure, why, edge.citations, stretch)
            elif edge.source.kind == "file" and other is not None:
                moved.setdefault(edge.source, ([], []))[1].append(_End(other, edge.certainty, False, edge.citations))
            elif edge.target.kind == "file" and one is not None:
                moved.setdefault(edge.target, ([], []))[0].append(_End(one, edge.certainty, False, edge.citations))
        stores = self._stores(moved)
        for store, (written, read) in stores.items():
            self._through(f"through {store}", written, read)
            # The copies that SORT or REPRO make of it are read as well.
            for copy in linked(self._graph.copied, store) if written else ():
                if copy.store in stores and not copy.is_rebuilt:
                    sure, cited = copy.certainty, copy.citations
                    taken = [
                        one._replace(certainty=less_sure(one.certainty, sure), citations=(*cited, *one.citations))
                        for one in stores[copy.store][1]
                    ]
                    self._through(f"through {store}, as {copy.why}", written, taken)

    def _through(self, by: str, written: list[_End], read: list[_End]) -> None:
        """Record that what is written to a store is read from it, or from a copy of it."""
        for sent in written:
            for taken in read:
                if sent.area != taken.area:
                    several = sent.is_one_of or taken.is_one_of
                    why = by + (", whose records are of several kinds" if several else "")
                    least: Certainty = "may" if several else "is"
                    certainty = less_sure(sent.certainty, taken.certainty, least)
                    if certainty == "may" and not several:
                        why += ", which may be two"
                    citations = tuple(dict.fromkeys((*sent.citations, *taken.citations)))
                    self._join(sent.area, taken.area, certainty, why, citations)

    def _external(self) -> None:
        """Record the links between records that several programs declare EXTERNAL: one storage if they run together."""
        found: dict[str, list[_Area]] = {}
        for number, part in enumerate(self._graph.parts):
            for index, field in enumerate(part.fields):
                if field.is_external and field.name:
                    found.setdefault(field.name.removeprefix(f"{part.name}."), []).append(_Area(number, index))
        for name, areas in found.items():
            why = f"both declare {name} EXTERNAL: the same storage if they run together"
            # If very many declare it, they are linked through the first.
            pairs = (
                permutations(areas, 2)
                if len(areas) <= MAX_SHARING
                else chain.from_iterable(((areas[0], other), (other, areas[0])) for other in areas[1:])
            )
            for one, other in pairs:
                if one.part != other.part:
                    parts = [(self._graph.parts[area.part], area.field) for area in (one, other)]
                    cited = tuple(declared_at(part, part.fields[field]) for part, field in parts)
                    self._join(one, other, "may", why, cited)

    def _stores(
        self, moved: dict[NodeId, tuple[list[_End], list[_End]]]
    ) -> dict[NodeId, tuple[list[_End], list[_End]]]:
        """Return what is written to and read from each data set, and each file of a region that is bound to none.

        Args:
            moved: What CICS commands write to and read from the files of a region.
        """
        found: dict[NodeId, tuple[list[_End], list[_End]]] = {}
        bound_to: dict[NodeId, list[NodeId]] = {}
        for edge in self._graph.drawn:
            if edge.verb == "bound to" and edge.source in moved:
                bound_to.setdefault(edge.source, []).append(edge.target)
        for file, ends in moved.items():
            for store in bound_to.get(file, [file]):
                mine = found.setdefault(store, ([], []))
                mine[0].extend(ends[0])
                mine[1].extend(ends[1])
        for store, bound in self._graph.bindings.items():
            mine = found.setdefault(store, ([], []))
            for number, binding in bound:
                path, several = self._graph.parts[number].path, len(binding.records) > 1
                sure: Certainty = "may" if binding.why(store.name) else "is"
                for record in binding.records:
                    area = _Area(number, record)
                    if binding.is_written:
                        mine[0].append(_End(area, sure, several, (CitedLine(path, binding.write_line),)))
                    if binding.is_read:
                        mine[1].append(_End(area, sure, several, (CitedLine(path, binding.read_line),)))
        return found

    def _is_area(self, area: _Area) -> bool:
        """Return whether a moved item may contain other fields: a group, or text."""
        field = self._graph.parts[area.part].fields[area.field]
        return field.usage == "GROUP" or (
            field.picture is not None and field.picture[:1] in "Xx" and field.usage == "DISPLAY"
        )

    # ── which field becomes which ──

    def _carried(
        self, node: NodeId, ways: dict[_Area, list[_Way]], *, forward: bool, layouts: bool = False
    ) -> Iterator[EstateEdge]:
        """Yield the edges of a field through every area that contains it.

        Its bytes are followed. If a field has exactly these bytes, the edge ends there, and the next one begins; if the
        next area has no such field (a record that is one `PIC X(80)`), the bytes are followed further.
        """
        here = self._places.get(node.name)
        start = None if here is None else self._bytes_of(here)
        if here is None or start is None:
            return
        # A breadth-first search over ranges of bytes, not over fields: no range is followed twice, so that cyclic moves end.
        # The shortest path to a field is found first; a later one replaces it only if it is more certain.
        found: dict[NodeId, EstateEdge] = {}
        waiting: deque[tuple[_Bytes, _Trail]] = deque([(start, _Trail("is", (), ()))])
        seen = {start}
        while waiting and len(seen) < MAX_PLACES:
            place, trail = waiting.popleft()
            for area in self._areas(place, ways):
                for way in ways[area]:
                    goes_on = trail.leads(way, forward=forward, layouts=layouts)
                    moved = self._moved(place, area, way) if goes_on else None
                    if moved in {None, start} or (not trail.whys and self._is_itself(here, area, way, moved)):
                        continue
                    on = trail.along(way)
                    targets = self._meant(here, moved)
                    for target, is_same in targets:
                        self._reach(node, target, on, found, is_same=is_same, forward=forward)
                    if not any(is_same for _, is_same in targets) and moved not in seen:
                        seen.add(moved)
                        waiting.append((moved, on))
        yield from found.values()

    def _meant(self, here: _Area, place: _Bytes) -> list[tuple[_Area, bool]]:
        """Return the fields at some bytes that a field is carried to, each with whether it has exactly these bytes."""
        # If some field has exactly these bytes, the others that touch them are left out: they are its groups and
        # redefinitions, and have their own edges from there. Fields that the same entry of a copybook declares are preferred.
        own = self._graph.parts[here.part].fields[here.field]
        targets = self._targets(place, own.in_table, own.usage == "GROUP")
        exact = [one for one in targets if one[1]]
        declared = self._declared(here)
        alike = [one for one in exact if self._declared(one[0]) == declared]
        return alike or exact or list(targets)

    def _declared(self, area: _Area) -> tuple[str, int, int]:
        """Return the entry that declares a field."""
        if area.part not in self._declarations:
            self._declarations[area.part] = tuple(declarations(self._graph.parts[area.part]))
        return self._declarations[area.part][area.field]

    def _reach(
        self,
        node: NodeId,
        target: _Area,
        trail: _Trail,
        found: dict[NodeId, EstateEdge],
        *,
        is_same: bool,
        forward: bool,
    ) -> None:
        """Record that a field is carried to another; the most certain of several trails is kept."""
        other = self._graph.parts[target.part].fields[target.field].node
        if other == node:
            return
        certainty = trail.certainty if is_same else less_sure(trail.certainty, "may")
        why = "; ".join(trail.whys) + ("" if is_same else DIFFERS)
        source, end = (node, other) if forward else (other, node)
        edge = EstateEdge(source, "carried to", end, certainty, tuple(dict.fromkeys(trail.citations)), why)
        known = found.get(other)
        if known is None or RANK[edge.certainty] < RANK[known.certainty]:
            found[other] = edge

    def _bytes_of(self, area: _Area) -> _Bytes | None:
        """Return the bytes of a field; None if they are not known."""
        field = self._graph.parts[area.part].fields[area.field]
        if field.offset is None or not field.bytes:
            return None
        return _Bytes(area.part, field.storage, field.offset, field.offset + field.bytes)

    def _areas(self, place: _Bytes, ways: dict[_Area, list[_Way]]) -> list[_Area]:
        """Return the areas that contain some bytes and have ways."""
        # One index for each of the two directions, made on first use: most fields are in no area that moves.
        index = self._by_storage.get(id(ways))
        if index is None:
            index = self._by_storage[id(ways)] = {}
            for area in ways:
                field = self._graph.parts[area.part].fields[area.field]
                index.setdefault((area.part, field.storage), []).append(area)
        found = []
        for area in index.get((place.part, place.storage), ()):
            held = self._bytes_of(area)
            if held is not None and held.start <= place.start and place.end <= held.end:
                found.append(area)
        return found

    def _moved(self, place: _Bytes, area: _Area, way: _Way) -> _Bytes | None:
        """Return where some bytes are after the area that contains them was transferred; None if they are cut off."""
        one, other = self._bytes_of(area), self._bytes_of(way.to)
        if one is None or other is None:
            return None
        # A MOVE of groups copies byte by byte from the left, whatever fields they contain.
        here, there, length = way.stretch
        first, last = (at - one.start - here for at in (place.start, place.end))
        is_within = first >= 0 and (length is None or last <= length)
        start, end = (at + other.start + there for at in (first, last))
        return _Bytes(way.to.part, other.storage, start, end) if is_within and end <= other.end else None

    def _is_itself(self, here: _Area, area: _Area, way: _Way, moved: _Bytes) -> bool:
        """Return whether a way moves or passes the field itself, for which the graph has an edge."""
        is_all = way.stretch == _ALL or moved == self._bytes_of(way.to)
        return area == here and is_all and not way.why.startswith("through")

    def _targets_at(self, place: _Bytes, in_table: bool, is_group: bool) -> tuple[tuple[_Area, bool], ...]:
        """Return the fields at some bytes, with whether they have exactly these bytes; others only if neither is a group.

        A field that contains these bytes and more is not a target: they are followed further through it.

        Args:
            place: The bytes.
            in_table: Whether the field whose bytes they are is in a table.
            is_group: Whether it is a group.
        """
        found: list[tuple[_Area, bool]] = []
        fields = self._graph.parts[place.part].fields
        for index in self._of_storage(place.part).get(place.storage, ()):
            field = fields[index]
            if not field.name or field.offset is None or not field.bytes:
                continue
            end = field.offset + field.bytes
            if field.offset == place.start and end == place.end and field.in_table == in_table:
                found.append((_Area(place.part, index), True))
            elif field.offset <= place.start and place.end <= end:
                continue
            elif field.usage != "GROUP" and not is_group and field.offset < place.end and place.start < end:
                found.append((_Area(place.part, index), False))
        return tuple(found)

    def _of_storage(self, number: int) -> dict[int, list[int]]:
        """Return the indexes of the fields of a part, by their storage."""
        known = self._stored_fields.get(number)
        if known is None:
            known = self._stored_fields[number] = {}
            for index, field in enumerate(self._graph.parts[number].fields):
                known.setdefault(field.storage, []).append(index)
        return known

    def _overlapping(self, node: NodeId) -> Iterator[EstateEdge]:
        """Yield the fields that share bytes with a field by a REDEFINES or RENAMES, but not what contains it or is in it."""
        here = self._places.get(node.name)
        if here is None:
            return
        part = self._graph.parts[here.part]
        own = part.fields[here.field]
        if own.offset is None or own.bytes is None:
            return
        around = {*_above(part.fields, here.field), *inside(part.fields, here.field)}
        for index in self._of_storage(here.part).get(own.storage, ()):
            field = part.fields[index]
            if index in around or not field.name or field.offset is None or not field.bytes:
                continue
            if field.offset < own.offset + own.bytes and own.offset < field.offset + field.bytes:
                citations = tuple(dict.fromkeys((declared_at(part, own), declared_at(part, field))))
                word = "RENAMES" if RENAMES in {own.level, field.level} else "REDEFINES"
                yield EstateEdge(node, "overlaps", field.node, "is", citations, f"by a {word}")


def _stretch(way: MoveWay) -> _Stretch | None:
    """Return which bytes a move takes to which; None if that depends on the data, or a function changes them."""
    if way.function:
        return None
    parts = [part for part in (way.sent, way.taken) if part is not None]
    if any(part.start is None for part in parts):
        return None
    here, there = ((part.start or 1) - 1 if part is not None else 0 for part in (way.sent, way.taken))
    lengths = [part.length for part in parts if part.length is not None]
    return _Stretch(here, there, min(lengths, default=None))


def _above(fields: tuple[LaidField, ...], index: int) -> Iterator[int]:
    """Yield the indexes of the groups that contain a field."""
    at = fields[index].parent
    while at is not None:
        yield at
        at = fields[at].parent

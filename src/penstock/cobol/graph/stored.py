"""What stored data changes with a record that gets longer: its files, their keys and data sets, and other descriptions of those?

Leaves to others: how long the record gets (`relaying`) and what grows in it (`growth`).
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from .carrying import PlacedField
from .copying import LinkedStore, linked
from .holding import lies_behind
from .sizes import size_of
from .structure import declared_at
from .values import RANK, NodeId, less_sure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .consequences import Longer, Wave, What
    from .copying import WrittenPlace
    from .growing import GrowingEstate
    from .values import Certainty, EstateEdge


class Stored:
    """Reports the stored data that a longer record changes.

    Args:
        estate: The estate in which fields grow.
    """

    def __init__(self, estate: GrowingEstate) -> None:
        self._graph, self._carrying, self._found, self._items, _ = estate
        self._described: list[tuple[NodeId, int, Certainty, Callable[[], None]]] = []
        """The records without fields of other programs that describe the longer records of a data set: what they need, how
        certainly, and how that is reported."""

    def conclude(self) -> None:
        """Report records without fields that describe longer ones, unless they are reported as too short by as much.

        Two programs of one name, copied from each other, describe each other's data sets, and both grow.
        """
        for node, needed, certainty, tell in self._described:
            known = self._found.of("too short", node)
            if not any(RANK[one.certainty] <= RANK[certainty] and (one.needed_bytes or 0) >= needed for one in known):
                tell()

    def tell(self, changed: Longer, then: int | None, grown: set[int]) -> None:
        """Report the files of a record, their data sets, and other descriptions of those."""
        part, record, wave, _, _ = changed
        fields = part.fields
        field = fields[record]
        names = {fields[index].name for index in grown}
        storage = fields[field.storage]
        for file in part.files:
            if not any(fields[one].storage == field.storage for one in file.records):
                continue
            node, cited = NodeId("file", file.name), [declared_at(part, storage)]
            why = "its records get longer"
            self._found.add("file", node, (storage.bytes, None), wave.steps, why, cited, wave.certainty)
            self._other_records(changed, file.records)
            more = None if then is None or field.bytes is None else then - field.bytes
            if more and file.described and file.record_bytes and file.record_bytes[1] in {field.bytes, storage.bytes}:
                said = "its FD states the length of its records"
                lengths = (file.record_bytes[1], file.record_bytes[1] + more)
                self._found.add("length", node, lengths, wave.steps, said, [file.described], wave.certainty)
            for edge in self._graph.touching(node):
                if edge.verb == "bound to":
                    self._data_sets(changed, edge, more, several=len(file.records) > 1)
                elif edge.verb == "is key of" and edge.source.name in names:
                    placed = self._carrying.place(edge.source)
                    length = None if placed is None else placed.field.bytes
                    said = f"{edge.source} is its key"
                    self._found.add("key", node, (length, None), wave.steps, said, edge.citations, wave.certainty)

    def of_region(self, changed: Longer, node: NodeId, edge: EstateEdge, more: int | None) -> None:
        """Report a file of a CICS region that a field or group is read from, is written to, or is the key of.

        Args:
            changed: The field or group.
            node: Its node.
            edge: An edge that touches it.
            more: By how many bytes it grows; None if not known.
        """
        wave, length = changed.wave, changed.part.fields[changed.at].bytes
        other = edge.target if edge.source == node else edge.source
        certainty = less_sure(wave.certainty, edge.certainty)
        if other.kind != "file":
            return
        if edge.verb == "is key of":
            self._found.add("key", other, (length, None), wave.steps, f"{node} is its key", edge.citations, certainty)
        elif edge.verb == "moves to":
            why = "its records get longer"
            self._found.add("file", other, (length, None), wave.steps, why, edge.citations, certainty)
            for bound in self._graph.touching(other):
                if bound.verb == "bound to":
                    self._data_sets(changed, bound, more, several=False)

    def _other_records(self, changed: Longer, records: Iterable[int]) -> None:
        """Report the other records of a file, which share storage with the changed one: `may`, as their type may be another."""
        part, record, wave, place, causes = changed
        for one in records:
            other = part.fields[one]
            node = other.node
            is_same = self._items.grown_by(node, PlacedField(part, one), causes) == size_of(other)
            if one != record and other.name and is_same and lies_behind(part, one, place):
                why = f"it shares its bytes with {part.fields[record].name}, in which what follows the growing field moves"
                cited = [declared_at(part, other), declared_at(part, part.fields[record])]
                self._found.add("redefinition", node, (other.bytes, None), wave.steps, why, cited, "may")

    def _data_sets(self, changed: Longer, edge: EstateEdge, more: int | None, *, several: bool) -> None:
        """Report the data set that a file is bound to, and those that steps copy it to or from.

        Args:
            changed: The record that changes.
            edge: The edge that binds its file to the data set.
            more: By how many bytes the record grows; None if not known.
            several: Whether the file has several records, which may be of different types.
        """
        file, why = edge.source, f"it is {edge.source}"
        itself = LinkedStore(edge.target, edge.certainty, False, why, edge.citations)
        self._data_set(changed, file, itself, more, several=several)
        for back in (False, True):
            for one in linked(self._graph.copied, edge.target, back=back):
                sure, cited = less_sure(edge.certainty, one.certainty), (*one.citations, *edge.citations)
                copy = one._replace(certainty=sure, citations=cited)
                self._data_set(changed, file, copy, more, several=several)

    def _data_set(self, changed: Longer, of: NodeId, stored: LinkedStore, more: int | None, *, several: bool) -> None:
        """Report a data set whose records change, and the records of other programs that are read from and written to it."""
        wave, store = changed.wave, stored.store
        certainty = less_sure(wave.certainty, stored.certainty)
        self._found.add("data set", store, (None, None), wave.steps, stored.why, stored.citations, certainty)
        for made in self._graph.touching(store):
            if made.verb == "creates":
                why = f"it creates {store}, with the length of its records and keys"
                self._found.add("step", made.source, (None, None), wave.steps, why, made.citations, certainty)
        if stored.is_rebuilt:
            return  # the place of the growing field in its records is not known
        self._written(changed, store, more, certainty)
        for number, file in self._graph.bindings.get(store, ()):
            part = self._graph.parts[number]
            for record in file.records if file.name != of.name else ():
                other = part.fields[record]
                node, needed = other.node, None
                if other.bytes is not None and more is not None:
                    grown = self._items.grown_by(node, PlacedField(part, record), changed.causes)
                    needed = other.bytes + more
                    if grown is not None and grown.bytes >= needed:
                        continue
                if other.name:
                    why = f"it describes the records of {store}, which get longer"
                    cited = [declared_at(part, other), *stored.citations]
                    kind: Certainty = "may" if several or len(file.records) > 1 else "is"
                    sure = less_sure(certainty, kind)
                    tell = partial(
                        self._found.add, "other layout", node, (other.bytes, needed), wave.steps, why, cited, sure
                    )
                    if other.usage == "GROUP":
                        tell()
                    else:
                        self._described.append((node, needed or 0, sure, tell))

    def _written(self, changed: Longer, store: NodeId, more: int | None, certainty: Certainty) -> None:
        """Report the steps that state in numbers how long the records of a data set are, or where their parts are."""
        wave, now = changed.wave, changed.part.fields[changed.at].bytes
        for step, said in groupby(self._graph.written.get(store, ()), key=attrgetter("step")):
            places: list[WrittenPlace] = list(said)
            # Variable-length records have room up to their maximum.
            short = [
                one for one in places
                if one.start is None and now is not None and more and now <= one.length < now + more
                and (one.length == now or not one.is_sure)
            ]  # fmt: skip
            parts = [
                one for one in places if one.start is not None and changed.place.changes(one.start - 1, one.length)
            ]
            self._figures("length", step, short, f"the length of the records of {store}", wave, certainty)
            printed = [one for one in places if one.start is None and one.is_sure and more and one.length - 1 == now]
            says = f"the length of the records of {store} and of a printer's control character"
            self._figures("length", step, printed, says, wave, less_sure(certainty, "may"))
            self._figures("part", step, parts, f"bytes of {store} where there will be others", wave, certainty)

    def _figures(
        self, what: What, step: NodeId, places: list[WrittenPlace], says: str, wave: Wave, certainty: Certainty
    ) -> None:
        """Report the places or lengths that a step states in numbers."""
        if places:
            why = f"it states in numbers {says}: {'; '.join(dict.fromkeys(one.text for one in places))}"
            cited = [cited for one in places for cited in one.citations]
            sure: Certainty = "is" if any(one.is_sure for one in places) or what == "length" else "may"
            self._found.add(what, step, (None, None), wave.steps, why, cited, less_sure(certainty, sure))

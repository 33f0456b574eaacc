"""Tell what is stored of a record that gets longer: its files, their keys and data sets, and who else describes those.

Keeps out how long the record gets (`relaying`) and what grows in it (`growth`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .carrying import PlacedField
from .consequences import less_sure
from .holding import lies_behind
from .sizes import size_of
from .structure import declared_at
from .values import NodeId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .carrying import Carrying
    from .consequences import Consequences, Longer
    from .estates import EstateGraph
    from .sizes import Size
    from .values import Certainty, EstateEdge


class Stored:
    """Tells what is stored.

    Args:
        graph: The estate.
        carrying: The ways of areas in the graph.
        found: What is told.
        sized: Tells how long something gets by what it grows with.
    """

    def __init__(
        self,
        graph: EstateGraph,
        carrying: Carrying,
        found: Consequences,
        sized: Callable[[NodeId, PlacedField, frozenset[NodeId | None]], Size | None],
    ) -> None:
        self._graph, self._carrying, self._found, self._sized = graph, carrying, found, sized

    def tell(self, changed: Longer, then: int | None, grown: set[int]) -> None:
        """Add the files of a record, their data sets, and who else describes those."""
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
            for edge in self._graph.touching(node):
                if edge.verb == "bound to":
                    self._data_set(changed, edge, more, several=len(file.records) > 1)
                elif edge.verb == "is key of" and edge.source.name in names:
                    placed = self._carrying.place(edge.source)
                    length = None if placed is None else placed.field.bytes
                    said = f"{edge.source} is its key"
                    self._found.add("key", node, (length, None), wave.steps, said, edge.citations, wave.certainty)

    def _other_records(self, changed: Longer, records: Iterable[int]) -> None:
        """Add the other records of a file, one storage with the one that changes: `may`, as they may be of another kind."""
        part, record, wave, place, causes = changed
        for one in records:
            other = part.fields[one]
            node = NodeId("field", other.name)
            is_same = self._sized(node, PlacedField(part, one), causes) == size_of(other)
            if one != record and other.name and is_same and lies_behind(part, one, place):
                why = f"it shares its bytes with {part.fields[record].name}, where what lies behind the field that grows moves"
                cited = [declared_at(part, other), declared_at(part, part.fields[record])]
                self._found.add("redefinition", node, (other.bytes, None), wave.steps, why, cited, "may")

    def _data_set(self, changed: Longer, edge: EstateEdge, more: int | None, *, several: bool) -> None:
        """Add a data set whose records change, and the records of other programs that are read from and written to it.

        Args:
            changed: The record that changes.
            edge: That its file is the data set.
            more: By how many bytes it does; None where that is not known.
            several: Whether the file has several records, which may be of another kind each.
        """
        wave = changed.wave
        certainty = less_sure(wave.certainty, edge.certainty)
        self._found.add(
            "data set", edge.target, (None, None), wave.steps, f"it is {edge.source}", edge.citations, certainty
        )
        for made in self._graph.touching(edge.target):
            if made.verb == "creates":
                why = f"it creates {edge.target}, with the length of its records and keys"
                self._found.add("step", made.source, (None, None), wave.steps, why, made.citations, certainty)
        for number, file in self._graph.bindings.get(edge.target, ()):
            part = self._graph.parts[number]
            for record in file.records if file.name != edge.source.name else ():
                other = part.fields[record]
                node, needed = NodeId("field", other.name), None
                if other.bytes is not None and more is not None:
                    grown = self._sized(node, PlacedField(part, record), changed.causes)
                    needed = other.bytes + more
                    if grown is not None and grown.bytes >= needed:
                        continue
                if other.name:
                    why = f"it describes the records of {edge.target}, which get longer"
                    cited = [declared_at(part, other), *edge.citations]
                    kind: Certainty = "may" if several or len(file.records) > 1 else "is"
                    sure = less_sure(certainty, kind)
                    self._found.add("other layout", node, (other.bytes, needed), wave.steps, why, cited, sure)

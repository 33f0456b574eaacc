"""What does one program add to the graph: what its paragraphs do with its data, and what it does with the rest of the estate?

`part_of` makes a `ProgramPart` from the program's facts; the part holds no syntax tree and no source, and may be sent to another
process. Leaves to others: how its fields lie (`laid_fields`), how jobs see its files (`file_bindings`), what it passes to other
programs (`passings`), what it does with shared resources (`operations`), and what other programs and jobs say (`estates`).

Law: every edge has a citation; the same facts give the same part.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from ..estate.members import copied_as, stem
from ..facts.data import WHOLE
from ..facts.files import records_of
from ..facts.flow import EVENT, MAIN, is_jump
from ..facts.naming import DataNames
from ..facts.resources import RUNNING
from ..program import METHOD, key
from .browsing import unnamed_calls
from .file_bindings import done_by, file_binding
from .laid_fields import laid_fields
from .naming import copybook_name, field_names, paragraph_names, program_name
from .operations import DrawnProgram, column_uses, operations
from .passings import called_by, entries, passings
from .values import RANK, CitedLine, ComparedField, EstateEdge, LengthOfField, NamedPart, NodeId, ProgramPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..facts.control import ProgramCall
    from ..facts.data import ApartUses, Comparison, MoveWay, PartUse, SourcePlace, StatedLength
    from ..facts.resources import FileUse
    from ..facts.values import Facts
    from ..program import Program
    from .values import Certainty, Kind, Verb

_ON_EVENT = {
    "HANDLE": "where the condition or key arises",
    "WHENEVER": "where a statement of SQL ends so",
    "ALTER": "once ALTER was executed",
}
# Declaratives and the event procedures of controls: nothing in the program performs them.
_BY_SYSTEM = frozenset({"USE", EVENT})
_IDS = frozenset({"CLASS-ID", "METHOD-ID"})
_OfItem = TypeVar("_OfItem", "PartUse", "ApartUses", "Comparison", "StatedLength")
_LINE, _COPYBOOK = attrgetter("line"), attrgetter("copybook")


def part_of(
    facts: Facts,
    program: Program,
    path: str,
    *,
    copybooks: Mapping[str, str] | None = None,
    is_whole: bool = True,
) -> ProgramPart:
    """Return what a program or copybook adds to the graph of its estate.

    Args:
        facts: The facts of the program.
        program: The scanned program, for its paragraphs and parameters.
        path: The file that holds it.
        copybooks: The path of each copybook by its name in capitals; what a copybook says is cited there.
        is_whole: Whether to include the fields with their layout, and every place of their uses: impact and exports need
            those, pages only show the first place.
    """
    return _Drawing(facts, program, path, copybooks or {}, is_whole=is_whole).part()


class _Drawing:
    """The edges of one program while they are collected, each once."""

    def __init__(
        self, facts: Facts, program: Program, path: str, copybooks: Mapping[str, str], *, is_whole: bool
    ) -> None:
        self._facts, self._scanned, self._path, self._is_whole = facts, program, path, is_whole
        self._copybooks = copybooks
        self._is_copybook = facts.type == "copybook"
        self._name = name = key(copied_as(path)) if self._is_copybook else program_name(program.called or stem(path))
        self._data = DataNames(facts.items, facts.outer)
        self._items = self._data.items
        self._records = records_of(facts.items)
        self._names: tuple[str, ...] = field_names(name, facts.items)
        for outer in facts.outer:
            self._names += field_names(program_name(outer.program), outer.items)
        self._paragraphs = [NodeId("paragraph", one) for one in paragraph_names(name, facts.paragraphs, program)]
        self._before_all = NodeId("paragraph", f"{name}.{MAIN.upper()}")
        self._starts = [paragraph.start_line for paragraph in facts.paragraphs]
        self._ends: dict[int, int] = {}  # by first line, the last line of the statements that span several
        for statement in program.statements:
            if statement.end_line > statement.line:
                self._ends[statement.line] = max(statement.end_line, self._ends.get(statement.line, 0))
        self._edges: dict[tuple[NodeId, Verb, NodeId], _Drawn] = {}
        self._fields: dict[int, NodeId] = {}  # by index, filled on demand
        self._me = NodeId("copybook" if self._is_copybook else "program", name)
        self._undeclared: dict[str, list[CitedLine]] = {}
        self._missing = "it is where this is copied" if self._is_copybook else "it was not found"

    def part(self) -> ProgramPart:
        """Return the part."""
        facts = self._facts
        self._copies()
        self._data_flow()
        self._files()
        self._outer_files()
        self._control()
        self._class()
        for call in facts.calls:
            self._call(call)
        seen = DrawnProgram(self._me, self._path, self._data.one, self._names)
        for edge in operations(facts, seen):
            self._add(edge.source, edge.verb, edge.target, edge.certainty, edge.citations, edge.why)
        return ProgramPart(
            name=self._name,
            kind=self._me.kind,
            path=self._path,
            line=self._scanned.start_line,
            edges=tuple(drawn.edge(*said) for said, drawn in self._edges.items()),
            fields=tuple(laid_fields(self._data, self._names, self._copybooks)) if self._is_whole else (),
            parts=tuple(
                NamedPart(one.item, one.part, tuple(self._places(one.places))) for one in self._own(facts.parts)
            ),
            apart=tuple(
                (one.item, frozenset(zip(*map(self._places, zip(*one.pairs, strict=True)), strict=True)))
                for one in self._own(facts.apart)
            ),
            compared=tuple(
                ComparedField(one.item, self._other(one), one.literal, tuple(self._places(one.places)))
                for one in self._own(facts.comparisons)
            ),
            lengths=tuple(
                LengthOfField(one.item, self._other(one), one, tuple(self._places(one.places)))
                for one in self._own(facts.lengths)
            ),
            columns=tuple(one for one in column_uses(facts, seen) if one.field < self._data.own)
            if self._is_whole
            else (),
            files=tuple(
                file_binding(file, tuple(self._records.get(key(file.name), ())), self._name, self._path)
                for file in facts.files
            ),
            sendings=tuple(passings(facts, self._data, self._names, self._name)),
            entries=tuple(entries(facts, self._data, self._scanned, self._name)),
            around=tuple(map(program_name, facts.around)),
            is_common=facts.is_common,
            has_external_name=facts.has_external_name,
            unnamed_calls=unnamed_calls(facts, self._path),
            inherits=facts.inherits,
            commands=tuple(
                (
                    key(one.name),
                    (
                        *self._cite(one.line, one.copybook, one.end_line),
                        CitedLine(self._path, one.said_by.line, one.said_by.copybook),
                    ),
                )
                for one in facts.commands
            ),
            undeclared=tuple((name, tuple(citations)) for name, citations in self._undeclared.items()),
            procedures=tuple(
                dict.fromkeys(key(name) for call in facts.calls if call.call_type == "sql" for name in call.names)
            ),
            sections=tuple(
                (key(one.section), node.name.removeprefix(f"{self._name}."))
                for one, node in zip(facts.paragraphs, self._paragraphs, strict=True)
                if one.section
            ),
        )

    def _own(self, said: Iterable[_OfItem]) -> Iterator[_OfItem]:
        """Yield what is said of the items that the program itself declares; nothing if the part is to have no fields."""
        return (one for one in said if self._is_whole and one.item < self._data.own)

    def _other(self, said: Comparison | StatedLength) -> NodeId | None:
        """Return the node of the item that another one is compared with, or has the length of."""
        return None if said.other is None else self._field(said.other)

    # ── drawing ──

    def _add(
        self,
        source: NodeId,
        verb: Verb,
        target: NodeId,
        certainty: Certainty,
        citations: Iterable[CitedLine],
        why: str = "",
        way: MoveWay = WHOLE,
    ) -> None:
        """Add an edge; one that exists already gets further citations, and the better certainty of the two."""
        drawn = self._edges.get((source, verb, target))
        if drawn is None:
            drawn = self._edges[source, verb, target] = _Drawn()
        drawn.add(certainty, citations, why, way)

    def _cite(self, line: int, copybook: str | None = None, end_line: int = 0) -> tuple[CitedLine, ...]:
        """Return the citation of a statement of the program; copied code is cited at its COPY."""
        return (CitedLine.spanning(self._path, line, end_line, copybook),)

    def _places(self, places: Sequence[SourcePlace]) -> list[CitedLine]:
        """Return the citations of places; those in a copybook refer to its own file if that is known."""
        if not self._is_whole and not any(map(_COPYBOOK, places)):
            places = (min(places, key=_LINE),)
        return [CitedLine(self._file(place.copybook), place.line, None, place.end_line) for place in places]

    def _file(self, copybook: str | None) -> str:
        """Return the file of the program itself, or of a copybook; its name if the file is not known."""
        return self._path if copybook is None else self._copybooks.get(key(copybook)) or copybook

    def _field(self, index: int) -> NodeId:
        """Return the node of an item; for a FILLER, that of the nearest named group."""
        node = self._fields.get(index)
        if node is None:
            at: int | None = index
            while at is not None and not self._names[at]:
                at = self._items[at].parent
            node = NodeId("field", self._names[at] if at is not None else f"{self._name}.FILLER")
            self._fields[index] = node
        return node

    def _paragraph(self, at: int) -> NodeId:
        """Return the node of a paragraph, by its key."""
        return self._paragraphs[at] if at >= 0 else self._before_all

    def _copied_paragraph(self, header: str) -> NodeId:
        """Return the node of a paragraph that comes from a copybook."""
        return NodeId("paragraph", f"{self._name}.{key(header)}")

    def _paragraph_at(self, line: int) -> NodeId:
        """Return the node of the paragraph that contains a line of the program."""
        at = bisect_right(self._starts, line) - 1
        return self._paragraph(at if at >= 0 and line <= self._facts.paragraphs[at].end_line else -1)

    # ── what a program says ──

    def _copies(self) -> None:
        """Add COPY and INCLUDE; what a copybook copies is in the part of that copybook."""
        for use in self._facts.copybooks:
            if use.copybook is None:
                why = "" if use.found or use.system else "the copybook is not here"
                self._add(
                    self._me, "copies", NodeId("copybook", copybook_name(use.name)), "is", self._cite(use.line), why
                )

    def _data_flow(self) -> None:
        """Add which paragraphs read and write the items, and which items go into which."""
        several = "the name may mean several items"
        for use in self._facts.uses:
            verb: Verb = "writes" if use.is_write else "reads"
            self._add(
                self._copied_paragraph(use.header) if use.header else self._paragraph(use.paragraph),
                verb,
                self._field(use.item),
                "may" if use.doubt else "is",
                self._places(use.places),
                use.doubt,
            )
        for move in self._facts.moves:
            self._add(
                self._field(move.source),
                "moves to" if move.is_copy else "computes",
                self._field(move.target),
                "is" if move.is_sure else "may",
                self._places(move.places),
                "" if move.is_sure else several,
                move.way,
            )

    def _files(self) -> None:
        """Add the files: their records, keys and status, and the paragraphs that use them."""
        for file in self._facts.files:
            node = NodeId("file", f"{self._name}.{key(file.name)}")
            for index in self._records.get(key(file.name), ()):
                item = self._facts.items[index]
                self._add(self._field(index), "is record of", node, "is", self._cite(item.line, item.copybook))
            keyed: tuple[tuple[Verb, tuple[str, ...]], ...] = (("is key of", file.keys), ("is status of", file.status))
            for verb, names in keyed:
                for text in names:
                    found = self._data.one(text)
                    if found is None and verb == "is key of" and file.organization == "INDEXED":
                        # The key of an indexed file is in its record, so that it needs no qualifier if others have its name.
                        found = self._data.one(f"{text} OF {file.name}")
                    if found is not None:
                        self._add(self._field(found), verb, node, "is", self._cite(file.line, file.copybook))
            self._file_uses(node, file.uses)

    def _outer_files(self) -> None:
        """Add what is done with the GLOBAL files of containing programs."""
        for file in self._facts.outer_files:
            node = NodeId("file", f"{program_name(file.program)}.{key(file.name)}")
            self._file_uses(node, file.uses)

    def _file_uses(self, node: NodeId, uses: Iterable[FileUse]) -> None:
        """Add what the statements of the program do with a file."""
        for use in uses:
            source = self._copied_paragraph(use.header) if use.header else self._paragraph_at(use.line)
            for verb in done_by(use):
                self._add(source, verb, node, "is", self._cite(use.line, use.copybook, use.end_line))

    def _control(self) -> None:
        """Add which paragraphs perform and jump to which."""
        sections = {key(section.name) for section in self._scanned.sections}
        for edge in self._facts.edges:
            # A section without a statement has no paragraph, but its name is one that others lead to.
            if edge.target is not None or key(edge.name) in sections:
                source = self._copied_paragraph(edge.header) if edge.header else self._paragraph(edge.source)
                citations = self._cite(edge.line, edge.copybook, self._ends.get(edge.line, 0))
                target = self._copied_paragraph(edge.name) if edge.target is None else self._paragraph(edge.target)
                self._led(source, edge.via, target, citations)
        for outside in self._facts.outside:
            target = self._copied_paragraph(outside.first)
            places = zip(outside.lines, outside.headers, outside.vias, outside.sources, strict=True)
            for line, header, via, copybook in places:
                source = self._copied_paragraph(header) if header else self._paragraph_at(line)
                citations = self._cite(line, copybook, self._ends.get(line, 0))
                if outside.copybook is not None:
                    self._led(source, via, target, citations, f"it is in {outside.copybook}")
                elif via not in _BY_SYSTEM:
                    self._add(source, _leads(via), target, "unknown", citations, self._missing)

    def _led(self, source: NodeId, via: str, target: NodeId, citations: tuple[CitedLine, ...], where: str = "") -> None:
        """Add a transfer of control from one paragraph to another."""
        if via not in _BY_SYSTEM:
            why = _ON_EVENT.get(via.partition(" ")[0], "")
            self._add(source, _leads(via), target, "may" if why else "is", citations, why or where)

    def _class(self) -> None:
        """Add what a class inherits from, and the class of a method."""
        here = self._cite(
            next((one.line for one in self._scanned.entries if one.word in _IDS), self._scanned.start_line)
        )
        for name in self._facts.inherits:
            self._add(self._me, "inherits", NodeId("program", name), "is", here)
        if METHOD in self._name:
            self._add(self._me, "part of", NodeId("program", self._name.partition(METHOD)[0]), "is", here)

    def _call(self, call: ProgramCall) -> None:
        """Add a transfer to another program, or the start of a transaction."""
        verb: Verb = "calls"
        kind: Kind = "program"
        if call.call_type in {"start", "return_transid"}:
            verb, kind = "starts", "transaction"
        elif call.call_type == "invoke":
            return
        citations = self._cite(call.line, call.copybook, call.end_line)
        given = [CitedLine(self._path, value.line, value.copybook) for value in call.resolved]
        reached, why = called_by(call)
        for name, certainty in reached:
            self._add(self._me, verb, NodeId(kind, name), certainty, (*citations, *given), why)
        if (call.unknown or not call.names) and call.target[0] not in "'\"":
            field = self._data.one(call.target)
            if field is None and self._is_copybook:
                return  # the programs that copy it declare it, and say what it may be
            held = self._field(field) if field is not None else NodeId("field", f"{self._name}.{key(call.target)}")
            if verb == "calls" and not self._data.mean(call.target):
                self._undeclared.setdefault(key(call.target), []).extend(citations)
            why = call.unknown or "nothing in the program gives it a value"
            if key(call.target) == RUNNING:
                why = "it is the transaction that runs the program"
            self._add(self._me, verb, held, "unknown", citations, why)


class _Drawn:
    """An edge while its statements are collected."""

    __slots__ = ("certainty", "citations", "ways", "why")

    def __init__(self) -> None:
        self.certainty: Certainty | None = None
        self.citations: dict[CitedLine, None] = {}
        self.why = ""
        self.ways: dict[MoveWay, None] = {}

    def add(self, certainty: Certainty, citations: Iterable[CitedLine], why: str, way: MoveWay) -> None:
        """Add another statement that says the same."""
        self.ways[way] = None
        self.citations.update(dict.fromkeys(citations))
        if self.certainty is None or RANK[certainty] < RANK[self.certainty]:
            self.certainty, self.why = certainty, why

    def edge(self, source: NodeId, verb: Verb, target: NodeId) -> EstateEdge:
        """Return the edge, with its citations in line order."""
        citations = sorted(self.citations, key=_order) if len(self.citations) > 1 else self.citations
        ways = () if self.ways.keys() == {WHOLE} else tuple(self.ways)
        return EstateEdge(source, verb, target, self.certainty or "unknown", tuple(citations), self.why, ways)


def _order(citation: CitedLine) -> tuple[str, int, str]:
    """Return the sort key of citations."""
    return citation.path, citation.line, citation.copybook or ""


def _leads(via: str) -> Verb:
    """Return `goes to` if control does not come back from where a statement leads, otherwise `performs`."""
    return "goes to" if is_jump(via) else "performs"

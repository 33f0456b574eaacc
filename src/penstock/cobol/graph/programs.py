"""What does one program add to the graph: what its paragraphs do with its data, and what it does with the rest of the estate?

`part_of` makes a `ProgramPart` from the program's facts; the part holds no syntax tree and no source, and may be sent to another
process. Leaves to others: what other programs and jobs say (`estates`).

Law: every edge has a citation; the same facts give the same part.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from ..estate.members import stem
from ..facts.flow import EVENT, MAIN, is_jump
from ..facts.naming import DataNames
from ..facts.references import item_part
from ..facts.storage import Storage
from ..facts.values import WHOLE, MoveWay
from ..program import METHOD, key
from .naming import field_names, paragraph_names, plain_path, program_name
from .operations import DrawnProgram, column_uses, operations
from .values import (
    RANK,
    CitedLine,
    ComparedField,
    EstateEdge,
    FileBinding,
    FileName,
    LaidField,
    LengthOfField,
    NamedPart,
    NodeId,
    Passing,
    ProgramEntry,
    ProgramPart,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..facts.values import CicsOperation, Facts, FileUse, ProgramCall, ProgramFile, SourcePlace
    from ..program import Program
    from .values import Certainty, Kind, Verb

_READS = frozenset({"READ", "START", "RETURN"})
_RUNNING = "EIBTRNID"
"""The field of CICS that names the transaction that runs."""
_WRITES = frozenset({"WRITE", "REWRITE", "DELETE", "RELEASE"})
_ON_EVENT = {
    "HANDLE": "where the condition or key arises",
    "WHENEVER": "where a statement of SQL ends so",
    "ALTER": "once ALTER was executed",
}
_ASSUMED = {
    "sql": "a procedure of the database: its program is taken to have its name",
    "preprocessor": "what the shop's own preprocessor makes of the statement is not known",
    "method": "the object may be of a class that inherits from that one",
}
_IDS = frozenset({"CLASS-ID", "METHOD-ID"})
_LINE, _COPYBOOK = attrgetter("line"), attrgetter("copybook")
_PATH = re.compile(r"(?!.*:\Z)(?=.*\w)(?:.*[./\\].*)")
"""The name of a file on systems without JCL, which cannot be a DD name; `LPT1:` is a device."""
_DEVICE = re.compile(
    r"(?i).*:|CON|PRN|AUX|NUL|LPT\d|COM\d|PRINTER|KEYBOARD|DISPLAY|SYS\w*|(?:[A-Z]+-)*(?:UT|UR|DA|AS|S)-.*"
)
_NAME = re.compile(r"[\w$#@*-]+")
"""A file name without folder and suffix."""
_BY_NAME = "the name of what is called is data: {0} values are possible"


def part_of(
    facts: Facts,
    program: Program,
    path: str,
    *,
    name: str,
    copybooks: Mapping[str, str] | None = None,
    is_whole: bool = True,
) -> ProgramPart:
    """Return what a program or copybook adds to the graph of its estate.

    Args:
        facts: The facts of the program.
        program: The scanned program, for its paragraphs and parameters.
        path: The file that holds it.
        name: The name of its node: `naming.program_name`, or that of the member for a copybook.
        copybooks: The path of each copybook by its name in capitals; what a copybook says is cited there.
        is_whole: Whether to include the fields with their layout, and every place of their uses: impact and exports need
            those, pages only show the first place.
    """
    drawing = _Drawing(facts, program, path, name, copybooks or {}, is_whole=is_whole)
    return drawing.part()._replace(fields=tuple(drawing.fields()) if is_whole else ())


class _Drawing:
    """The edges of one program while they are collected, each once."""

    def __init__(
        self, facts: Facts, program: Program, path: str, name: str, copybooks: Mapping[str, str], *, is_whole: bool
    ) -> None:
        self._facts, self._scanned, self._path, self._name, self._is_whole = facts, program, path, name, is_whole
        self._copybooks = copybooks
        self._is_copybook = facts.type == "copybook"
        self._data = DataNames(facts.items, facts.outer)
        self._items = self._data.items
        self._names: tuple[str, ...] = field_names(name, facts.items)
        for outer in facts.outer:
            self._names += field_names(program_name(outer.program, path), outer.items)
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
        self._missing = "it is where this is copied" if self._is_copybook else "it was not found"

    def part(self) -> ProgramPart:
        """Return the part without its fields."""
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
            fields=(),
            parts=tuple(
                NamedPart(one.item, one.part, tuple(self._places(one.places)))
                for one in facts.parts
                if self._is_whole and one.item < len(facts.items)
            ),
            apart=tuple(
                (one.item, frozenset(zip(*map(self._places, zip(*one.pairs, strict=True)), strict=True)))
                for one in facts.apart
                if self._is_whole and one.item < len(facts.items)
            ),
            compared=tuple(
                ComparedField(
                    one.item,
                    None if one.other is None else self._field(one.other),
                    one.literal,
                    tuple(self._places(one.places)),
                )
                for one in facts.comparisons
                if self._is_whole and one.item < len(facts.items)
            ),
            lengths=tuple(
                LengthOfField(
                    one.item,
                    None if one.other is None else self._field(one.other),
                    one,
                    tuple(self._places(one.places)),
                )
                for one in facts.lengths
                if self._is_whole and one.item < len(facts.items)
            ),
            columns=tuple(one for one in column_uses(facts, seen) if self._is_whole and one.field < len(facts.items)),
            files=tuple(map(self._binding, facts.files)),
            sendings=tuple(self._sendings()),
            entries=tuple(self._entries()),
            around=tuple(map(program_name, facts.around, repeat(self._path))),
            is_common=facts.is_common,
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
            procedures=tuple(
                dict.fromkeys(key(name) for call in facts.calls if call.call_type == "sql" for name in call.names)
            ),
        )

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
        return (CitedLine(self._path, line, copybook, end_line if end_line > line else None),)

    def _places(self, places: Sequence[SourcePlace]) -> Iterator[CitedLine]:
        """Yield the citations of places; those in a copybook refer to its own file if that is known."""
        if not self._is_whole and not any(map(_COPYBOOK, places)):
            places = (min(places, key=_LINE),)
        for place in places:
            if place.copybook is None:
                yield CitedLine(self._path, place.line, None, place.end_line)
            else:
                path = self._copybooks.get(key(place.copybook))
                yield CitedLine(path or place.copybook, place.line, None, place.end_line)

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

    def _user(self, use: FileUse) -> NodeId:
        """Return the node of the paragraph that uses a file."""
        return self._copied_paragraph(use.header) if use.header else self._paragraph_at(use.line)

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
                self._add(self._me, "copies", NodeId("copybook", _member(use.name)), "is", self._cite(use.line), why)

    def _data_flow(self) -> None:
        """Add which paragraphs read and write the items, and which items go into which."""
        several = "the name may mean several items"
        for use in self._facts.uses:
            verb: Verb = "writes" if use.is_write else "reads"
            certainty: Certainty = "is" if use.is_sure else "may"
            self._add(
                self._copied_paragraph(use.header) if use.header else self._paragraph(use.paragraph),
                verb,
                self._field(use.item),
                certainty,
                self._places(use.places),
                "" if use.is_sure else several,
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
            for index in self._records(file):
                item = self._facts.items[index]
                self._add(self._field(index), "is record of", node, "is", self._cite(item.line, item.copybook))
            keyed: tuple[tuple[Verb, tuple[str, ...]], ...] = (("is key of", file.keys), ("is status of", file.status))
            for verb, names in keyed:
                for text in names:
                    found = self._data.one(text)
                    if found is not None:
                        self._add(self._field(found), verb, node, "is", self._cite(file.line, file.copybook))
            for use in file.uses:
                for does in _does(use.verb, use.mode):
                    self._add(self._user(use), does, node, "is", self._cite(use.line, use.copybook, use.end_line))

    def _outer_files(self) -> None:
        """Add what is done with the GLOBAL files of containing programs."""
        for file in self._facts.outer_files:
            node = NodeId("file", f"{program_name(file.program, self._path)}.{key(file.name)}")
            for use in file.uses:
                for does in _does(use.verb, use.mode):
                    here = self._cite(use.line, use.copybook, use.end_line)
                    self._add(self._user(use), does, node, "is", here)

    def _control(self) -> None:
        """Add which paragraphs perform and jump to which."""
        for edge in self._facts.edges:
            if edge.target is not None:
                source = self._copied_paragraph(edge.header) if edge.header else self._paragraph(edge.source)
                citations = self._cite(edge.line, edge.copybook, self._ends.get(edge.line, 0))
                self._led(source, edge.via, self._paragraph(edge.target), citations)
        for outside in self._facts.outside:
            target = self._copied_paragraph(outside.first)
            places = zip(outside.lines, outside.headers, outside.vias, outside.sources, strict=True)
            for line, header, via, copybook in places:
                source = self._copied_paragraph(header) if header else self._paragraph_at(line)
                citations = self._cite(line, copybook, self._ends.get(line, 0))
                if outside.copybook is not None:
                    self._led(source, via, target, citations, f"it is in {outside.copybook}")
                else:
                    self._add(source, _leads(via), target, "unknown", citations, self._missing)

    def _led(self, source: NodeId, via: str, target: NodeId, citations: tuple[CitedLine, ...], where: str = "") -> None:
        """Add a transfer of control from one paragraph to another."""
        # The system runs declaratives and the event procedures of controls: nothing in the program performs them.
        if via not in {"USE", EVENT}:
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
        for name, certainty, why in _targets(call.names, call.is_sure, _reason(call)):
            self._add(self._me, verb, NodeId(kind, name), certainty, (*citations, *self._given(call)), why)
        if (call.unknown or not call.names) and call.target[0] not in "'\"":
            field = self._data.one(call.target)
            if field is None and self._is_copybook:
                return  # the programs that copy it declare it, and say what it may be
            held = self._field(field) if field is not None else NodeId("field", f"{self._name}.{key(call.target)}")
            why = call.unknown or "nothing in the program gives it a value"
            if key(call.target) == _RUNNING:
                why = "it is the transaction that runs the program"
            self._add(self._me, verb, held, "unknown", citations, why)

    def _given(self, call: ProgramCall) -> Iterator[CitedLine]:
        """Yield the places that assign the names of a call through a data item."""
        for value in call.resolved:
            yield CitedLine(self._path, value.line, value.copybook)

    # ── what is bound to other programs and to jobs ──

    def fields(self) -> Iterator[LaidField]:
        """Yield the items as fields."""
        storage = Storage(self._data)
        items = self._facts.items
        in_table: list[bool] = []
        for index, item in enumerate(items):
            inside = item.occurs is not None or (item.parent is not None and in_table[item.parent])
            in_table.append(inside)
            yield LaidField(
                name=self._names[index],
                line=item.line,
                level=item.level,
                parent=item.parent,
                record=item.record,
                storage=storage.root(index),
                offset=item.offset,
                bytes=item.bytes,
                occurs=item.occurs,
                picture=item.picture,
                usage=item.usage,
                section=item.section,
                redefines=self._redefined(index),
                boundary=item.boundary,
                depending=self._names[counted] if (counted := self._counted(item.depending)) is not None else None,
                copybook=None if item.copybook is None else _member(item.copybook),
                copybook_path=self._copybooks.get(key(item.copybook)) if item.copybook else None,
                copybook_line=item.copybook_line,
                conditions=tuple(key(one.name) for one in item.conditions),
                in_table=inside,
                is_external=item.shared == "EXTERNAL",
                is_justified=item.is_justified,
            )

    def _counted(self, text: str | None) -> int | None:
        """Return the index of the item that holds the number of occurrences."""
        return self._data.one(text) if text else None

    def _redefined(self, index: int) -> str | None:
        """Return the name of the node of the item that another one redefines or renames."""
        item = self._facts.items[index]
        wanted = item.redefines or (item.renames[0] if item.renames else None)
        if wanted is None:
            return None
        means = [one.item for one in self._data.mean(wanted) if one.condition is None and one.item < index]
        near = [one for one in means if self._facts.items[one].parent == item.parent] if item.redefines else means
        near = near or means
        return self._names[near[-1]] if near else None

    def _records(self, file: ProgramFile) -> tuple[int, ...]:
        """Return the indexes of a file's records."""
        wanted = key(file.name)
        return tuple(
            index
            for index, item in enumerate(self._facts.items)
            if item.level == 1 and item.file is not None and key(item.file) == wanted
        )

    def _binding(self, file: ProgramFile) -> FileBinding:
        """Return a file as jobs see it."""
        uses = [use for use in file.uses if use.is_run]
        does = {verb for use in uses for verb in _does(use.verb, use.mode)}
        reads = [use.line for use in uses if "reads" in _does(use.verb, use.mode)]
        writes = [use.line for use in uses if "writes" in _does(use.verb, use.mode)]
        opens = [use for use in uses if use.verb == "OPEN"]
        reads += [use.line for use in opens if use.mode in {"INPUT", "I-O"}]
        writes += [use.line for use in opens if use.mode in {"OUTPUT", "EXTEND", "I-O"}]
        return FileBinding(
            name=f"{self._name}.{key(file.name)}",
            dds=tuple(dict.fromkeys(key(one.value) for one in file.named_by)) or ((key(file.dd),) if file.dd else ()),
            records=self._records(file),
            is_read="reads" in does,
            is_written="writes" in does,
            is_opened_for=tuple(dict.fromkeys(use.mode for use in opens if use.mode)),
            line=file.line,
            read_line=reads[0] if reads else 0,
            write_line=writes[0] if writes else 0,
            own_names=tuple(self._own_names(file)),
            is_key_described=any(key(name) == "EXTERNALLY-DESCRIBED-KEY" for name in file.keys),
            record_bytes=file.record_bytes,
            described=None
            if file.description_line is None
            else CitedLine(self._path, file.description_line, file.copybook),
        )

    def _own_names(self, file: ProgramFile) -> Iterator[FileName]:
        """Yield the names that a file may have in the file system."""
        for found in file.named_by:
            is_path = bool(_PATH.fullmatch(found.value))
            if is_path or (_NAME.fullmatch(found.value) and not _DEVICE.fullmatch(found.value)):
                yield FileName(plain_path(found.value), CitedLine(self._path, found.line, found.copybook), is_path)
        if file.dd and not file.named_by:
            # On IBM i, DATABASE-NAME is the file NAME itself.
            is_path = bool(_PATH.fullmatch(file.dd)) or any(
                word.upper().startswith("DATABASE-") for word in file.assign
            )
            is_name = any(word[0] in "'\"" or word.upper() == "EXTERNAL" for word in file.assign)
            if is_path or (is_name and not _DEVICE.fullmatch(file.dd)):
                yield FileName(plain_path(file.dd), None, is_path)

    def _sendings(self) -> Iterator[Passing]:
        """Yield what is passed to other programs, and what they return."""
        for call in self._facts.calls:
            if call.call_type not in {"static", "dynamic", "sql", "method"}:
                continue
            targets = tuple((name, kind) for name, kind, _ in _targets(call.names, call.is_sure, _reason(call)))
            if not targets and not self._data.mean(call.target):
                targets = ((key(call.target), "unknown"),)
            why = _why(call.names, call.is_sure, _reason(call))
            both: tuple[tuple[Literal["call", "return", "calculation"], tuple[str, ...]], ...] = (
                ("call", call.parameters),
                ("return" if call.is_returned_whole else "calculation", call.returned),
            )
            for by, texts in both:
                if texts:
                    fields = tuple(map(self._given_field, texts))
                    ways = tuple(_way(text, by == "call" and at in call.copied) for at, text in enumerate(texts))
                    yield Passing(targets, by, fields, ways, call.line, call.end_line, why, call.copybook)
        for operation in self._facts.cics:
            area = operation.option("COMMAREA")
            if area and operation.command in {"LINK", "XCTL", "RETURN"} and operation.resource:
                yield self._commarea(operation, area)

    def _commarea(self, operation: CicsOperation, area: str) -> Passing:
        """Return what a LINK, XCTL or RETURN TRANSID passes."""
        names = _named(operation)
        by: Literal["transaction", "commarea"] = "transaction" if operation.command == "RETURN" else "commarea"
        targets = tuple((name, kind) for name, kind, _ in _targets(names, operation.is_sure, operation.unknown))
        why = _why(names, operation.is_sure, operation.unknown)
        if key(operation.resource or "") == _RUNNING:
            # The area comes back when the transaction is started again, in which this program was.
            own = self._name.partition("@")[0]
            targets = ((own, "may"),) if key(area) != "DFHCOMMAREA" else ()
            by, why = "commarea", "the transaction may begin with another program"
        # The program that LINK runs works on this very area; one that runs later works on a copy.
        way = _way(area, operation.command != "LINK")
        field = self._given_field(area)
        return Passing(targets, by, (field,), (way,), operation.line, operation.end_line, why, operation.copybook)

    def _given_field(self, text: str) -> int | str | None:
        """Return a field that is passed to another program: its index, or its name if a containing program declares it."""
        index = self._data.one(text)
        return index if index is None or index < self._data.own else self._names[index]

    def _entries(self) -> Iterator[ProgramEntry]:
        """Yield the entries of the program, with their parameters."""
        division = self._scanned.division("PROCEDURE")
        line = division.start_line if division else self._scanned.start_line
        returned = self._data.one(self._scanned.returning) if self._scanned.returning else None
        yield ProgramEntry(self._name, tuple(map(self._data.one, self._facts.using)), line, returned)
        for (name, line), parameters in zip(self._facts.entry_points, self._facts.entry_parameters, strict=True):
            yield ProgramEntry(key(name).strip("'\" "), tuple(map(self._data.one, parameters)), line)


class _Drawn:
    """An edge while its statements are collected."""

    __slots__ = ("certainty", "citations", "ways", "why")

    def __init__(self) -> None:
        self.certainty: Certainty | None = None
        self.citations: dict[CitedLine, None] = {}
        self.why = ""
        self.ways: tuple[MoveWay, ...] = ()

    def add(self, certainty: Certainty, citations: Iterable[CitedLine], why: str, way: MoveWay) -> None:
        """Add another statement that says the same."""
        if way not in self.ways:
            self.ways += (way,)
        self.citations.update(dict.fromkeys(citations))
        if self.certainty is None or RANK[certainty] < RANK[self.certainty]:
            self.certainty, self.why = certainty, why

    def edge(self, source: NodeId, verb: Verb, target: NodeId) -> EstateEdge:
        """Return the edge, with its citations in line order."""
        citations = sorted(self.citations, key=_order) if len(self.citations) > 1 else self.citations
        ways = () if self.ways == (WHOLE,) else self.ways
        return EstateEdge(source, verb, target, self.certainty or "unknown", tuple(citations), self.why, ways)


def _order(citation: CitedLine) -> tuple[str, int, str]:
    """Return the sort key of citations."""
    return citation.path, citation.line, citation.copybook or ""


def _member(name: str) -> str:
    """Return the name of a copybook's node, from what COPY names: the member without folders and suffix."""
    return key(stem(name.strip("'\" ").replace("\\", "/")))


def _does(verb: str, mode: str | None) -> tuple[Verb, ...]:
    """Return what a statement does with its file."""
    if verb in {"SORT", "MERGE"}:
        return ("reads",) if mode == "USING" else ("writes",) if mode == "GIVING" else ()
    if verb == "OPEN":
        return ("opens",)
    return ("reads",) if verb in _READS else ("writes",) if verb in _WRITES else ()


def _named(operation: CicsOperation) -> tuple[str, ...]:
    """Return the names of the resource of a command, from its literal or the values of its item."""
    resource = operation.resource or ""
    if resource[:1] in "'\"" and resource:
        return (key(resource.strip("'\" ")),)
    return tuple(dict.fromkeys(key(value.value) for value in operation.resolved))


def _reason(call: ProgramCall) -> str:
    """Return why a call may reach another program, apart from its name being data; "" if there is no such reason."""
    return call.unknown or _ASSUMED.get(call.call_type, "")


def _why(names: Sequence[str], is_sure: bool, unknown: str) -> str:
    """Return why what is named may be something else; "" if it cannot."""
    if is_sure:
        return ""
    return unknown or (_BY_NAME.format(len(names)) if len(names) > 1 else "a blank name may be there, too")


def _way(text: str, is_copied: bool) -> MoveWay:
    """Return how much of an item is passed to another program, given the text of the argument."""
    words = re.findall(r"[():]|[^():\s]+", text)
    part = item_part(words, words.index("(")) if "(" in words else None
    return MoveWay(sent=part, is_copied=is_copied)


def _targets(names: Sequence[str], is_sure: bool, unknown: str) -> Iterator[tuple[str, Certainty, str]]:
    """Yield the names that something may reach, each with its certainty and the reason."""
    why = _why(names, is_sure, unknown)
    for name in names:
        yield key(name).strip("'\" "), "is" if is_sure else "may", why


def _leads(via: str) -> Verb:
    """Return `goes to` if control does not come back from where a statement leads, otherwise `performs`."""
    return "goes to" if is_jump(via) else "performs"

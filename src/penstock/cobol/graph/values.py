"""Which values make up an estate's graph: nodes by kind and name, and edges that read as sentences, each with its citations?

`MWB020.2800-WRITE writes MWB020.BO-GROSS` is an edge: source, verb, target. Its certainty is `is` if a source says it, `may` if
one of several things may be meant, and `unknown` if no source names what is meant; the last two have a reason. Every edge has
at least one citation.

Names are in capitals. What is private to a program is named after it (`PROG.FIELD`, `PROG.PARAGRAPH`, `PROG.FILE`); what it
shares with others is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar, get_args

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..facts.data import ItemPart, MoveWay, StatedLength
    from ..facts.hosted import HostWay

Kind = Literal[
    "program", "paragraph", "copybook", "field", "file", "dataset", "table", "queue", "segment", "record", "map", "container",
    "transaction", "job", "step", "procedure",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds of nodes, in the order in which they are listed."""

Verb = Literal[
    "reads", "writes", "opens", "moves to", "computes", "redefines", "part of", "copies", "declared in", "counts", "is key of",
    "is status of", "is record of", "performs", "goes to", "calls", "starts", "sends", "receives", "passes to",
    "runs", "inherits", "creates", "deletes", "bound to", "carried to", "overlaps",
]  # fmt: skip
VERBS: tuple[Verb, ...] = get_args(Verb)
"""All verbs, in the order in which they are listed."""

Certainty = Literal["is", "may", "unknown"]
RANK: dict[str, int] = {"is": 0, "may": 1, "unknown": 2}
"""The rank of each certainty, 0 for the best: of two edges that say the same, the more certain one is kept."""


def less_sure(*certainties: Certainty) -> Certainty:
    """Return the lowest of some certainties."""
    return max(certainties, key=RANK.__getitem__)


class NodeId(NamedTuple):
    """A thing in the estate, by its kind and name."""

    kind: Kind
    name: str

    def __str__(self) -> str:
        return self.name


class CitedLine(NamedTuple):
    """A line of a file that is cited."""

    path: str
    line: int
    copybook: str | None = None
    """The copybook that contains the cited code, if the line is that of its COPY; None if the line itself does."""
    end_line: int | None = None
    """The last line of the statement, if any of its lines may be meant; None if `line` is."""

    @classmethod
    def spanning(cls, path: str, first: int, last: int, copybook: str | None = None) -> CitedLine:
        """Return the citation of a statement by its first and last line."""
        return cls(path, first, copybook, last if last > first else None)


class EstateEdge(NamedTuple):
    """A sentence about two things in the estate."""

    source: NodeId
    verb: Verb
    target: NodeId
    certainty: Certainty
    citations: tuple[CitedLine, ...]
    why: str = ""
    """Why an edge is not certain, or how it comes about; "" if the citations say it all."""
    ways: tuple[MoveWay, ...] = ()
    """How much of the source each statement moves; empty if all of it."""


class LaidField(NamedTuple):
    """A data item in the graph: its name, its declaration, and its place in its record."""

    name: str
    """The name of its node; "" for a FILLER, which has none."""
    line: int
    level: int
    parent: int | None
    """The index of the group that contains it, in the fields of its program."""
    record: int
    storage: int
    """The index of the record whose bytes it shares: its own, or the one that its own redefines."""
    offset: int | None
    bytes: int | None
    occurs: int | None
    picture: str | None
    usage: str
    section: str
    redefines: str | None
    """The name of the node that it redefines."""
    boundary: int
    """The alignment in bytes by SYNCHRONIZED; 1 if there is none."""
    depending: str | None
    """The name of the node that counts its occurrences."""
    copybook: str | None
    copybook_path: str | None
    copybook_line: int | None
    conditions: tuple[str, ...]
    """The names of its level 88s, in capitals."""
    in_table: bool
    """Whether a field is a table or in one."""
    is_external: bool
    """Whether a record is EXTERNAL: one storage for all programs of a run unit that declare it."""
    is_justified: bool
    """Whether a text is JUSTIFIED: what is moved to it is aligned at its end."""
    renames_to: str | None = None
    """The name of the node of the last item that a RENAMES … THRU covers; `redefines` has the first."""

    @property
    def node(self) -> NodeId:
        """The node of a field that has a name."""
        return NodeId("field", self.name)


_DD_LENGTH = 8
"""The maximum length of a DD name, which consists of letters, digits and the signs $, # and @."""


class FileName(NamedTuple):
    """A name by which a program opens a file, and which need not be a DD name."""

    name: str
    said_by: CitedLine | None
    """The place that assigns the name, if it is the value of a data item; None for the SELECT."""
    is_path: bool
    """Whether the name is certainly that of a file: with a folder or a suffix, as `data/customers.idx`, or said by VALUE OF."""
    is_of_select: bool = False
    """Whether nothing but the SELECT names the file."""
    other: str = ""
    """Why programs that have this name may mean several files; "" if they mean one."""

    @property
    def why(self) -> str:
        """Why the name may mean another file; "" if it cannot."""
        if self.said_by is not None:
            return "its name is data" + (": * stands for what is not known of it" if "*" in self.name else "")
        if self.other or self.is_path or len(self.name) > _DD_LENGTH or "-" in self.name:
            return self.other
        return "no job says whether that is the file's own name or a DD name"


class FileBinding(NamedTuple):
    """A file of a program as a job sees it."""

    name: str
    """The name of its node."""
    dds: tuple[str, ...]
    """The DD names that it may have; a single one is certain."""
    records: tuple[int, ...]
    """The indexes of its records in the fields of its program."""
    is_read: bool
    is_written: bool
    is_opened_for: tuple[str, ...]
    line: int
    read_line: int
    """The first line that reads it, or else the first that opens it for reading; 0 if there is none."""
    write_line: int
    own_names: tuple[FileName, ...] = ()
    """The names that the file itself may have: a literal, or the values of a data item."""
    record_bytes: tuple[int, int] | None = None
    """The minimum and maximum length of its records in bytes, by RECORD CONTAINS or VARYING; None if neither is there."""
    described: CitedLine | None = None
    """The place of its FD or SD; None if it has none."""
    is_key_described: bool = False
    """Whether the key of the file is the one that its description says (EXTERNALLY-DESCRIBED-KEY)."""

    def why(self, store: str) -> str:
        """Return why a data set that the file is bound to may be another one; "" if it cannot."""
        named = next((one for one in self.own_names if one.name == store), None)
        if named is not None:
            return named.why
        return "" if len(self.dds) == 1 else "the DD name is data"


class Passing(NamedTuple):
    """The fields that are passed to another program, by CALL or as a COMMAREA, or that receive what it returns."""

    targets: tuple[tuple[str, Certainty], ...]
    """The programs or transactions that are reached. A name that nothing declares is `unknown`: a program may have it."""
    by: Literal["call", "commarea", "transaction", "return", "calculation"]
    """How the fields are passed; the last two mean that something is returned: a value, or an operand of a calculation."""
    arguments: tuple[int | str | None, ...]
    """The fields, by index, or by name if a containing program declares them; None for what is not a field."""
    ways: tuple[MoveWay, ...]
    """How much of each field is passed."""
    line: int
    end_line: int
    why: str
    copybook: str | None
    has_eib: bool = False
    """Whether DFHEIBLK comes first: the translator of CICS adds it, and DFHCOMMAREA, to the parameters that a program names."""


class ProgramEntry(NamedTuple):
    """An entry of a program: its PROCEDURE DIVISION or an ENTRY, with the parameters as indexes of fields."""

    name: str
    parameters: tuple[int | None, ...]
    line: int
    returned: int | None = None
    """The index of the field whose value is returned."""


class NamedPart(NamedTuple):
    """Some characters of a field that a program addresses by position."""

    field: int
    """The index of the field."""
    part: ItemPart
    citations: tuple[CitedLine, ...]


class ComparedField(NamedTuple):
    """A comparison of a field with another field or a literal, or a value that it has."""

    field: int
    """The index of the field."""
    other: NodeId | None
    """The other field; None for a literal."""
    literal: str
    """The literal as written, or a range as in `1 THRU 9999`; "" for a field."""
    citations: tuple[CitedLine, ...]


class LengthOfField(NamedTuple):
    """A length that a field must have: that of another field or of a literal, or a stated number."""

    field: int
    """The index of the field."""
    other: NodeId | None
    """The other field; None if there is none."""
    said: StatedLength
    citations: tuple[CitedLine, ...]


class ColumnUse(NamedTuple):
    """A use of a table column by a field of a program."""

    field: int
    """The index of the field."""
    way: HostWay
    table: str
    """The table as the statement names it, in capitals."""
    column: str
    """The column in capitals; if an INSERT lists its values by position only, that of how many, as `2/5`."""
    citations: tuple[CitedLine, ...]


class UnnamedCall(NamedTuple):
    """A DL/I call without a segment."""

    function: str
    places: tuple[tuple[int, int], ...]
    """The place of its PCB among the parameters of each entry of the program, from 0, with the number of these parameters."""
    number: int | None
    """The number of the PCB in the PSB, from 1, as EXEC DLI gives it; None if it does not."""
    cited: CitedLine


class ProgramPart(NamedTuple):
    """The addition of one program or copybook to the graph: small, and complete without the source."""

    name: str
    kind: Kind
    path: str
    line: int
    edges: tuple[EstateEdge, ...]
    fields: tuple[LaidField, ...] = ()
    parts: tuple[NamedPart, ...] = ()
    apart: tuple[tuple[int, frozenset[tuple[CitedLine, CitedLine]]], ...] = ()
    """The fields that are used for several purposes, by index, with the unrelated pairs of places: what fills the field, and what
    passes it on."""
    compared: tuple[ComparedField, ...] = ()
    lengths: tuple[LengthOfField, ...] = ()
    columns: tuple[ColumnUse, ...] = ()
    files: tuple[FileBinding, ...] = ()
    sendings: tuple[Passing, ...] = ()
    entries: tuple[ProgramEntry, ...] = ()
    around: tuple[str, ...] = ()
    """The programs that contain a program, in capitals, from the inside out."""
    is_common: bool = False
    has_external_name: bool = False
    """Whether AS gives the program another name, for calls."""
    inherits: tuple[str, ...] = ()
    """The classes that a class inherits from, in capitals."""
    procedures: tuple[str, ...] = ()
    """The stored procedures that a program calls, in capitals and without schema."""
    commands: tuple[tuple[str, tuple[CitedLine, ...]], ...] = ()
    """The files that system commands run, in capitals and without folders and suffixes, each with its citations."""
    undeclared: tuple[tuple[str, tuple[CitedLine, ...]], ...] = ()
    """The names without quotes that a program calls and does not declare, in capitals, each with its citations."""
    unnamed_calls: tuple[UnnamedCall, ...] = ()
    """The DL/I calls that name no segment."""
    sections: tuple[tuple[str, str], ...] = ()
    """The paragraphs in sections: the section in capitals, and the name of the paragraph without that of the program."""

    @property
    def own_name(self) -> str:
        """The name as its source says it: without the path that tells it apart from others, and with an @ of its own."""
        return self.name.partition(f"@{self.path}")[0]


_OfField = TypeVar("_OfField", NamedPart, ComparedField, LengthOfField, ColumnUse)


def by_field(
    parts: Iterable[ProgramPart], listed: Callable[[ProgramPart], Iterable[_OfField]]
) -> dict[tuple[int, int], list[_OfField]]:
    """Return what programs say about each of their fields, by the identity of the program's part and the index of the field.

    Args:
        parts: The parts of the programs, which have to outlive the result.
        listed: Returns what one of them says, each with the index of its field.
    """
    found: dict[tuple[int, int], list[_OfField]] = {}
    for part in parts:
        for one in listed(part):
            found.setdefault((id(part), one.field), []).append(one)
    return found

"""The values of an estate's graph: nodes by kind and name, edges that read as sentences, each with its places.

`MWB020.2800-WRITE writes MWB020.BO-GROSS` is an edge: from, verb, to. It `is` so where a source says it, `may` be so
where one of several things may be meant, and is `unknown` where something is there that no source names; the last two
say why. Every edge has at least one citation.

Names are in capitals. What a program keeps for itself is named after it (`PROG.FIELD`, `PROG.PARAGRAPH`, `PROG.FILE`);
what it shares with others stands alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..facts.hosted import HostWay
    from ..facts.values import ItemPart, MoveWay, StatedLength

Kind = Literal[
    "program", "paragraph", "copybook", "field", "file", "dataset", "table", "queue", "segment", "record", "map", "container",
    "transaction", "job", "step", "procedure",
]  # fmt: skip
KINDS: tuple[Kind, ...] = (
    "program", "paragraph", "copybook", "field", "file", "dataset", "table", "queue", "segment", "record", "map", "container",
    "transaction", "job", "step", "procedure",
)  # fmt: skip
"""All kinds of nodes, in the order in which they are listed."""

Verb = Literal[
    "reads", "writes", "opens", "moves to", "computes", "redefines", "part of", "declared in", "counts", "is key of",
    "is status of", "is record of", "performs", "goes to", "copies", "calls", "starts", "sends", "receives", "passes to",
    "runs", "inherits", "creates", "deletes", "bound to", "carried to", "overlaps",
]  # fmt: skip
VERBS: tuple[Verb, ...] = (
    "reads", "writes", "opens", "moves to", "computes", "redefines", "part of", "copies", "declared in", "counts", "is key of",
    "is status of", "is record of", "performs", "goes to", "calls", "starts", "sends", "receives", "passes to",
    "runs", "inherits", "creates", "deletes", "bound to", "carried to", "overlaps",
)  # fmt: skip
"""All verbs, in the order in which they are listed."""

Certainty = Literal["is", "may", "unknown"]
RANK: dict[str, int] = {"is": 0, "may": 1, "unknown": 2}
"""Certainties from the surest on: of two edges that say the same the surer one stands."""


def less_sure(*certainties: Certainty) -> Certainty:
    """Return the least sure of some certainties."""
    return max(certainties, key=RANK.__getitem__)


class NodeId(NamedTuple):
    """A thing of the estate."""

    kind: Kind
    name: str

    def __str__(self) -> str:
        return self.name


class CitedLine(NamedTuple):
    """A line of a file that says something."""

    path: str
    line: int
    copybook: str | None = None
    """The copybook that holds what is said, where the line is that of its COPY; None where the line says it itself."""
    end_line: int | None = None
    """The last line of the statement, where it has several and any of them may say it; None where `line` does."""


class EstateEdge(NamedTuple):
    """A sentence about two things of the estate."""

    source: NodeId
    verb: Verb
    target: NodeId
    certainty: Certainty
    citations: tuple[CitedLine, ...]
    why: str = ""
    """Why a sentence about the estate is not sure, or by what way it holds; "" where the citations say all."""
    ways: tuple[MoveWay, ...] = ()
    """How much each of the statements moves; none for all of it."""


class LaidField(NamedTuple):
    """A data item as the graph has it: its name, where it is declared, and where it lies in its record."""

    name: str
    """The name of its node; "" for a FILLER, which has none."""
    line: int
    level: int
    parent: int | None
    """The index of the group that holds it, among the fields of its program."""
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
    """The bytes to a multiple of which SYNCHRONIZED aligns it; 1 where it does not."""
    depending: str | None
    """The name of the node that counts its occurrences."""
    copybook: str | None
    copybook_path: str | None
    copybook_line: int | None
    conditions: tuple[str, ...]
    """The names of its level 88s, in capitals."""
    in_table: bool
    """Whether a field is a table or stands in one."""
    is_external: bool
    """Whether a record is EXTERNAL: one storage for all programs that run together and declare it."""
    is_justified: bool
    """Whether a text is JUSTIFIED: what is moved to it ends where it ends."""


_DD_LENGTH = 8
"""The most characters of a DD name, which has letters, digits and the signs $, # and @."""


class FileName(NamedTuple):
    """A name of a file by which its program opens it, where it is no DD name."""

    name: str
    said_by: CitedLine | None
    """What gives it, where that is a value of a data item; None for the SELECT."""
    is_path: bool
    """Whether the name has a folder or a suffix, as `data/customers.idx`: no compiler makes a DD name of it."""

    @property
    def why(self) -> str:
        """Why that may be another file; "" where it may not."""
        if self.said_by is not None:
            return "its name is data" + (": * stands for what is not known of it" if "*" in self.name else "")
        if self.is_path or len(self.name) > _DD_LENGTH or "-" in self.name:
            return ""
        return "no job says whether that is the file's own name or a DD name"


class FileBinding(NamedTuple):
    """A file of a program as a job sees it."""

    name: str
    """The name of its node."""
    dds: tuple[str, ...]
    """The DD names that it may have; one where that is sure."""
    records: tuple[int, ...]
    """The indexes of its records among the fields of its program."""
    is_read: bool
    is_written: bool
    is_opened_for: tuple[str, ...]
    line: int
    read_line: int
    """The first line that reads it, or opens it for that; 0 for none."""
    write_line: int
    own_names: tuple[FileName, ...] = ()
    """The names that the file itself may have: a literal, or the values of a data item."""
    record_bytes: tuple[int, int] | None = None
    """The least and the most bytes of its records, as RECORD CONTAINS or VARYING says; None where nothing does."""
    described: CitedLine | None = None
    """The place of its FD or SD; None where it has none."""

    def why(self, store: str) -> str:
        """Return why a data set that the file is bound to may be another one; "" where it may not."""
        named = next((one for one in self.own_names if one.name == store), None)
        if named is not None:
            return named.why
        return "" if len(self.dds) == 1 else "the DD name is data"


class Passing(NamedTuple):
    """What is given to another program: by CALL, or as a COMMAREA; or what is got back from one."""

    targets: tuple[tuple[str, Certainty], ...]
    """The programs, or transactions, that get it. By a name that nothing declares it is `unknown`: a program that may have it."""
    by: Literal["call", "commarea", "transaction", "return", "calculation"]
    """The last two say what is got back: a value, or something that is calculated with it."""
    arguments: tuple[int | str | None, ...]
    """The fields that are given, or get it: by their indexes, those of a program around by their names; None for what is no
    field."""
    ways: tuple[MoveWay, ...]
    """How each of them is given."""
    line: int
    end_line: int
    why: str
    copybook: str | None


class ProgramEntry(NamedTuple):
    """A way into a program: its PROCEDURE DIVISION or an ENTRY, with the parameters as indexes of fields."""

    name: str
    parameters: tuple[int | None, ...]
    line: int
    returned: int | None = None
    """The index of the field whose value is returned."""


class NamedPart(NamedTuple):
    """Some characters of a field that a program names by their place."""

    field: int
    """The index of the field."""
    part: ItemPart
    citations: tuple[CitedLine, ...]


class ComparedField(NamedTuple):
    """What a field of a program is compared with, or has as a value."""

    field: int
    """The index of the field."""
    other: NodeId | None
    """The other field; None for a literal."""
    literal: str
    """The literal as it is written, or a range as in `1 THRU 9999`; "" for a field."""
    citations: tuple[CitedLine, ...]


class LengthOfField(NamedTuple):
    """How long a field of a program has to be: as long as another one, or as a literal or number says."""

    field: int
    """The index of the field."""
    other: NodeId | None
    """The other field; None where there is none."""
    said: StatedLength
    citations: tuple[CitedLine, ...]


class ColumnUse(NamedTuple):
    """What a field of a program has to do with a column of a table."""

    field: int
    """The index of the field."""
    way: HostWay
    table: str
    """The table as the statement names it, in capitals."""
    column: str
    """The column in capitals; if an INSERT lists its values by position only, that of how many, as `2/5`."""
    citations: tuple[CitedLine, ...]


class ProgramPart(NamedTuple):
    """What one program, copybook or member adds to the graph: small, and complete without its source."""

    name: str
    kind: Kind
    path: str
    line: int
    edges: tuple[EstateEdge, ...]
    fields: tuple[LaidField, ...] = ()
    parts: tuple[NamedPart, ...] = ()
    apart: tuple[tuple[int, frozenset[tuple[CitedLine, CitedLine]]], ...] = ()
    """The fields that are used for several things, by their indexes: of what fills each, and what gives it on, the places that
    have nothing to do with each other."""
    compared: tuple[ComparedField, ...] = ()
    lengths: tuple[LengthOfField, ...] = ()
    columns: tuple[ColumnUse, ...] = ()
    files: tuple[FileBinding, ...] = ()
    sendings: tuple[Passing, ...] = ()
    entries: tuple[ProgramEntry, ...] = ()
    around: tuple[str, ...] = ()
    """The programs that contain a program, in capitals, from the inside out."""
    is_common: bool = False
    inherits: tuple[str, ...] = ()
    """The classes that a class inherits from, in capitals."""
    procedures: tuple[str, ...] = ()
    """The procedures of the database that a program calls, in capitals and without schema."""
    commands: tuple[tuple[str, tuple[CitedLine, ...]], ...] = ()
    """The files that commands of the system run, in capitals and without folders and suffixes."""


_OfField = TypeVar("_OfField", NamedPart, ComparedField, LengthOfField, ColumnUse)


def by_field(
    parts: Iterable[ProgramPart], listed: Callable[[ProgramPart], Iterable[_OfField]]
) -> dict[tuple[int, int], list[_OfField]]:
    """Return what programs say of each of their fields, by the identity of the program's part and the index of the field.

    Args:
        parts: The programs; they have to outlive the result.
        listed: Returns what one of them says, each with the index of its field.
    """
    found: dict[tuple[int, int], list[_OfField]] = {}
    for part in parts:
        for one in listed(part):
            found.setdefault((id(part), one.field), []).append(one)
    return found

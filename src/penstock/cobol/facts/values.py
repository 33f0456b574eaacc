"""What can be known of a program without a model? The sum of `data`, `resources` and `control`: immutable, each with its lines.

Laws: `line` is always a line of the file that was read, 1-based, and `end_line` is inclusive. Content of a copybook is cited at the
COPY that includes it, and `copybook` names it (None: it is in the file itself). `paragraph` is the name of the enclosing paragraph,
"" outside of any. Names keep their spelling.

Leaves to others: how facts are found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from ..program import Warned
    from .control import BranchRule, ControlEdge, ErrorSite, Outside, ParagraphFacts, ProgramCall
    from .data import (
        ApartUses,
        Comparison,
        Constant,
        DataItem,
        DataMove,
        DataUse,
        Message,
        OuterData,
        PartUse,
        StatedLength,
        Transform,
        Undeclared,
    )
    from .resources import (
        Access,
        Channel,
        CicsOperation,
        CommandRun,
        DliOperation,
        MqOperation,
        NetworkOperation,
        OuterFile,
        ProgramFile,
        SqlOperation,
    )

ProgramType = Literal["batch", "interactive", "CICS", "IMS", "subroutine", "copybook"]
"""How a program is run: by a job, as a transaction, under IMS, by other programs, or not at all (a copybook)."""


class CopybookUse(NamedTuple):
    """A COPY or EXEC SQL INCLUDE, and how it was resolved."""

    name: str
    library: str | None
    via: str
    replacing: tuple[tuple[str, str], ...]
    found: bool
    """Whether the copybook was found. One that copies itself counts as found."""
    system: bool
    """Whether the copybook comes with CICS, DB2, MQ or the compiler, and so is not missing."""
    division: str
    """The division that contains its COPY; "" outside of any."""
    line: int
    end_line: int
    copybook: str | None = None
    """The copybook that contains the COPY; None if the program does."""
    told: str = ""
    """The name under which facts cite the copybook: its own, or `LIBRARY/NAME` if one of the same name was copied from another
    library before."""


class UnknownStatement(NamedTuple):
    """The beginning of a sentence that is not a known statement, on one line and shortened."""

    text: str
    line: int
    end_line: int
    paragraph: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that is known of one program without a model. Tuples are in source order unless stated otherwise."""

    program: str
    type: ProgramType
    type_reason: str
    """Why the program has this type, as a clause with its line if there is one."""
    lines: int
    """The lines of the program in its file, not counting copybooks."""
    code_lines: int
    comment_lines: int
    statements: int
    """The number of statements in its paragraphs, not counting branches and terminators."""
    copied_statements: int
    """The number of statements that it has from copybooks."""
    complexity: int
    """McCabe's number over all paragraphs: 1 plus the number of decisions."""
    depth: int
    """The deepest nesting of decisions and loops in any paragraph."""
    items: tuple[DataItem, ...] = ()
    outer: tuple[OuterData, ...] = ()
    """The data of containing programs that a nested program uses; `uses` and `moves` number these items after its own."""
    outer_files: tuple[OuterFile, ...] = ()
    commands: tuple[CommandRun, ...] = ()
    inherits: tuple[str, ...] = ()
    """The classes that a class inherits from, in capitals; empty for anything else."""
    around: tuple[str, ...] = ()
    """The programs that contain it, from the inside out."""
    is_common: bool = False
    """Whether a nested program is COMMON: callable by every program in its container."""
    has_external_name: bool = False
    """Whether AS in its PROGRAM-ID gives it another name, that of its first entry point."""
    constants: tuple[Constant, ...] = ()
    messages: tuple[Message, ...] = ()
    transforms: tuple[Transform, ...] = ()
    undeclared: tuple[Undeclared, ...] = ()
    files: tuple[ProgramFile, ...] = ()
    sql: tuple[SqlOperation, ...] = ()
    cics: tuple[CicsOperation, ...] = ()
    dli: tuple[DliOperation, ...] = ()
    mq: tuple[MqOperation, ...] = ()
    network: tuple[NetworkOperation, ...] = ()
    crud: tuple[Access, ...] = ()
    """What is done with each resource, ordered by kind and name."""
    inputs: tuple[Channel, ...] = ()
    outputs: tuple[Channel, ...] = ()
    calls: tuple[ProgramCall, ...] = ()
    using: tuple[str, ...] = ()
    """The parameters of the PROCEDURE DIVISION."""
    linkage: tuple[str, ...] = ()
    """The records of the LINKAGE SECTION."""
    entry_points: tuple[tuple[str, int], ...] = ()
    """Other names by which it is called: the one after AS in its PROGRAM-ID, and that of each ENTRY, each with its line."""
    entry_parameters: tuple[tuple[str, ...], ...] = ()
    """The parameters of each entry point, in the same order."""
    paragraphs: tuple[ParagraphFacts, ...] = ()
    edges: tuple[ControlEdge, ...] = ()
    outside: tuple[Outside, ...] = ()
    rules: tuple[BranchRule, ...] = ()
    errors: tuple[ErrorSite, ...] = ()
    copybooks: tuple[CopybookUse, ...] = ()
    unread: tuple[UnknownStatement, ...] = ()
    """The statements that were not understood, of which nothing else is known."""
    notes: tuple[Warned, ...] = ()
    """What could not be followed, and why."""
    uses: tuple[DataUse, ...] = ()
    """The items that each paragraph reads and writes."""
    moves: tuple[DataMove, ...] = ()
    """The flows from item to item."""
    parts: tuple[PartUse, ...] = ()
    """The parts of items that are used by position."""
    apart: tuple[ApartUses, ...] = ()
    """The unrelated uses of one item; empty unless requested."""
    comparisons: tuple[Comparison, ...] = ()
    """What items are compared with, and the values they have; empty unless requested."""
    lengths: tuple[StatedLength, ...] = ()
    """The lengths that items must have; empty unless requested."""

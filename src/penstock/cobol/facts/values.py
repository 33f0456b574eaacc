"""What is known of a program without a model? Frozen values alone, each with its lines.

`line` is always a line of the file that was read, 1-based and inclusive up to `end_line`. What stands in a copybook is
cited at the COPY that brings it in, and `copybook` names it (None: it stands here). Names keep their spelling.
Keeps out: how any of it is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

ProgramType = Literal["batch", "CICS", "IMS", "subroutine", "copybook"]


# ─── data ───


class Condition(NamedTuple):
    """A level 88: `values` as they are written, a range as `'A' THRU 'F'`; the lines where it is tested and where SET."""

    name: str
    values: tuple[str, ...]
    line: int
    read_lines: tuple[int, ...] = ()
    written_lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DataItem:
    """A data description entry, in the order of the source, copybooks in place.

    `offset` counts from the start of the record (the level 01), `bytes` is one occurrence; None where it cannot be known,
    because a copybook is missing before or within it. Tables count with their most occurrences; `varies` says that the
    offset depends on an OCCURS DEPENDING before it. The lines are those of direct references: a group that is written
    writes what it holds.
    """

    level: int
    name: str  # "FILLER" where there is none
    line: int
    end_line: int
    section: str  # FILE, WORKING-STORAGE, LOCAL-STORAGE, LINKAGE …
    parent: int | None = None  # its group, as an index into Facts.items
    record: int = 0  # its level 01 or 77, as an index into Facts.items
    file: str | None = None  # the FD or SD of a record
    picture: str | None = None
    usage: str = "DISPLAY"  # its own or its group's: COMP, COMP-3, INDEX, POINTER …; GROUP for a group
    occurs: int | None = None  # at most
    occurs_from: int | None = None  # at least, with DEPENDING
    depending: str | None = None
    indexes: tuple[str, ...] = ()
    redefines: str | None = None
    renames: tuple[str, str | None] | None = None
    value: str | None = None  # as it is written
    sign: str | None = None  # LEADING or TRAILING, SEPARATE
    offset: int | None = None
    bytes: int | None = None
    varies: bool = False
    copybook: str | None = None
    copybook_line: int | None = None  # its line in that copybook
    conditions: tuple[Condition, ...] = ()
    read_lines: tuple[int, ...] = ()
    written_lines: tuple[int, ...] = ()
    passed_lines: tuple[int, ...] = ()  # given to another program, which may write it


class Constant(NamedTuple):
    """A level 78, or an item with a VALUE that nothing here writes. `value` as it is written."""

    name: str
    value: str
    line: int
    copybook: str | None = None


class Message(NamedTuple):
    """Words for people. `target`: DISPLAY, or the item they are moved to, or whose value they are."""

    text: str
    target: str
    line: int
    copybook: str | None = None


class Transform(NamedTuple):
    """A calculation or a composition: COMPUTE, ADD, STRING, UNSTRING, INSPECT …, what it writes and what from."""

    verb: str
    targets: tuple[str, ...]
    sources: tuple[str, ...]
    text: str
    line: int
    end_line: int
    paragraph: str


class Undeclared(NamedTuple):
    """A name that is used as data and that nothing which was found declares."""

    name: str
    lines: tuple[int, ...]


# ─── files, tables, queues, screens ───


class FileUse(NamedTuple):
    """OPEN (with its mode), READ, WRITE, REWRITE, DELETE, START, CLOSE, RETURN, RELEASE, SORT, MERGE."""

    verb: str
    line: int
    end_line: int
    mode: str | None = None  # INPUT, OUTPUT, I-O, EXTEND; USING or GIVING of a SORT
    copybook: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramFile:
    """A SELECT with its FD or SD, its records, and what is done with it."""

    name: str
    line: int  # of the SELECT, or of the FD where there is none
    end_line: int
    kind: Literal["FD", "SD"] | None = None  # None: no description was found
    description_line: int | None = None
    assign: tuple[str, ...] = ()  # as it is written
    dd: str | None = None  # the DD name that ASSIGN comes to
    dd_resolved: Resolved | None = None  # where ASSIGN names a data item
    organization: str = "SEQUENTIAL"
    access: str = "SEQUENTIAL"
    keys: tuple[str, ...] = ()  # RECORD KEY, ALTERNATE RECORD KEY, RELATIVE KEY
    status: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    uses: tuple[FileUse, ...] = ()
    io: tuple[str, ...] = ()  # the modes it is opened with, each once
    copybook: str | None = None


class Access(NamedTuple):
    """What is done with one resource: the lines that create, read, update and delete. `kind`: file, table, segment, queue."""

    resource: str
    kind: str
    create: tuple[int, ...] = ()
    read: tuple[int, ...] = ()
    update: tuple[int, ...] = ()
    delete: tuple[int, ...] = ()


class Resolved(NamedTuple):
    """A value that a data item may have: `how` is VALUE, MOVE or SET, at `line`."""

    value: str
    how: Literal["VALUE", "MOVE", "SET"]
    line: int
    copybook: str | None = None


class SqlOperation(NamedTuple):
    """An EXEC SQL. `operation`: SELECT, INSERT, DECLARE CURSOR, OPEN, FETCH … ; host variables without their colon."""

    operation: str
    tables: tuple[str, ...]
    cursor: str | None
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    text: str
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None


class CicsOperation(NamedTuple):
    """An EXEC CICS. `resource` is the name of what it acts on: a literal's value, or a data item with what is known of its value.

    `kind`: file, map, tsqueue, tdqueue, program, transaction, container, … ; `options` are (NAME, argument).
    `response`: how a failure is met: RESP, NOHANDLE, or "" for the default; `checked` are the lines after it, up to the next
    command in its paragraph, where its RESP or EIBRESP is looked at.
    """

    command: str
    resource: str | None
    kind: str | None
    resolved: tuple[Resolved, ...]
    resp: str | None
    response: Literal["RESP", "NOHANDLE", ""]
    checked: tuple[int, ...]
    options: tuple[tuple[str, str], ...]
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None

    def option(self, *names: str) -> str | None:
        """The argument of the first of those options that it has."""
        return next((argument for name in names for option, argument in self.options if option == name), None)


class DliOperation(NamedTuple):
    """An EXEC DLI, or a CALL of CBLTDLI and the like. `segments` from the outermost; `area` is INTO or FROM."""

    function: str
    segments: tuple[str, ...]
    pcb: str | None
    area: str | None
    resolved: tuple[Resolved, ...]
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None


class MqOperation(NamedTuple):
    """A CALL of MQOPEN, MQGET, MQPUT … ; `queue` is the literal or the data item of the queue's name, where it can be told."""

    call: str
    queue: str | None
    resolved: tuple[Resolved, ...]
    parameters: tuple[str, ...]
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None


class Channel(NamedTuple):
    """One way in or out. `io_type`: file, table, segment, queue, map, screen, commarea, container, parameter, console, clock …"""

    name: str
    io_type: str
    lines: tuple[int, ...]
    copybook: str | None = None  # where its record or map is described


# ─── programs and control ───


class ProgramCall(NamedTuple):
    """Another program is called. `target` is its name where a literal says it, else the data item's, with what it may hold."""

    target: str
    call_type: Literal["static", "dynamic", "link", "xctl", "start", "return_transid", "invoke"]
    resolved: tuple[Resolved, ...]
    parameters: tuple[str, ...]
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The programs (or transactions) that it may reach; empty where that is not known."""
        literal = self.call_type == "static" or (not self.resolved and self.target[:1] in "'\"")
        return (self.target.strip("'\""),) if literal else tuple(dict.fromkeys(found.value for found in self.resolved))


class ControlEdge(NamedTuple):
    """Control goes from one paragraph to another. `source` and `target` are keys of paragraphs, `target` None where it is outside.

    `via`: PERFORM, GO TO, ALTER, SORT INPUT, SORT OUTPUT, USE, HANDLE …, FALL; `thru` is the key of the last paragraph of a range.
    """

    source: int
    target: int | None
    name: str  # as it is written
    via: str
    line: int
    thru: int | None = None
    copybook: str | None = None


class Outside(NamedTuple):
    """A paragraph that is performed or jumped to and does not stand in this file. `copybook`: where it was found, else None."""

    name: str
    lines: tuple[int, ...]
    copybook: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphFacts:
    """What is known of one paragraph; `key` is its place in Facts.paragraphs and in Program.paragraphs.

    `calls` and `called_by` are what PERFORM and the like run, `jumps` what GO TO, ALTER and HANDLE lead to; `falls_into` is the
    paragraph that control reaches over its end, None where it cannot or where there is none. Complexity counts 1 and every IF,
    WHEN (not OTHER), loop, condition phrase (AT END, INVALID KEY …) and further target of GO TO DEPENDING; `depth` is the deepest
    nesting of IF, EVALUATE, SEARCH and loops.
    """

    key: int
    name: str  # "" for the code before any header
    section: str | None
    line: int
    start_line: int
    end_line: int
    statements: int
    complexity: int
    depth: int
    calls: tuple[str, ...] = ()
    called_by: tuple[str, ...] = ()
    jumps: tuple[str, ...] = ()
    falls_into: str | None = None
    ends_range: bool = False  # the THRU of a PERFORM names it
    dead: str | None = None  # why no control reaches it
    doubts: tuple[str, ...] = ()  # why it could be reached all the same


class BranchAction(NamedTuple):
    """One statement of a branch, folded."""

    text: str
    line: int


class Branch(NamedTuple):
    """`label`: THEN, ELSE, or the WHEN as it is written."""

    label: str
    line: int
    end_line: int
    actions: tuple[BranchAction, ...]


class BranchRule(NamedTuple):
    """An IF or EVALUATE: what may be a business rule. `meanings` says what level 88s in it stand for: (name, "ITEM = 'Y'").

    `rule_id` depends on the program, the paragraph and the words of the condition, not on lines.
    `check` names what it looks at where that is an error (FILE STATUS, SQLCODE, RESP, …), else "".
    """

    rule_id: str
    verb: Literal["IF", "EVALUATE", "SEARCH"]
    condition: str
    meanings: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    branches: tuple[Branch, ...]
    check: str
    line: int
    end_line: int
    paragraph: str


class ErrorSite(NamedTuple):
    """Where an error is met or made. `kind`: FILE STATUS, SQLCODE, RESP, DLI STATUS, AT END, INVALID KEY, SIZE ERROR, EXCEPTION,

    OVERFLOW, ABEND, RETURN-CODE, HANDLE, USE, WHENEVER. `action` is the first statement that follows from it.
    """

    kind: str
    condition: str
    action: str | None
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None


class CopybookUse(NamedTuple):
    """A COPY, EXEC SQL INCLUDE or ++INCLUDE. `system`: it comes with CICS, DB2, MQ or the compiler, and is not looked for."""

    name: str
    library: str | None
    via: str
    replacing: tuple[tuple[str, str], ...]
    found: bool
    system: bool
    division: str
    line: int
    end_line: int
    copybook: str | None = None  # the copybook that holds the COPY


class Note(NamedTuple):
    """Something that a reader should know: what could not be followed, and why."""

    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that is known of one program without a model. Tuples are in the order of the source unless said otherwise."""

    program: str
    type: ProgramType
    type_reason: str
    lines: int
    code_lines: int
    comment_lines: int
    statements: int
    complexity: int
    depth: int
    items: tuple[DataItem, ...] = ()
    constants: tuple[Constant, ...] = ()
    messages: tuple[Message, ...] = ()
    transforms: tuple[Transform, ...] = ()
    undeclared: tuple[Undeclared, ...] = ()
    files: tuple[ProgramFile, ...] = ()
    sql: tuple[SqlOperation, ...] = ()
    cics: tuple[CicsOperation, ...] = ()
    dli: tuple[DliOperation, ...] = ()
    mq: tuple[MqOperation, ...] = ()
    crud: tuple[Access, ...] = ()  # by kind and name
    inputs: tuple[Channel, ...] = ()
    outputs: tuple[Channel, ...] = ()
    calls: tuple[ProgramCall, ...] = ()
    using: tuple[str, ...] = ()
    linkage: tuple[str, ...] = ()  # the records of the LINKAGE SECTION
    entry_points: tuple[tuple[str, int], ...] = ()
    paragraphs: tuple[ParagraphFacts, ...] = ()
    edges: tuple[ControlEdge, ...] = ()
    outside: tuple[Outside, ...] = ()
    rules: tuple[BranchRule, ...] = ()
    errors: tuple[ErrorSite, ...] = ()
    copybooks: tuple[CopybookUse, ...] = ()
    verbs: tuple[tuple[str, int], ...] = ()  # how many statements of each, most first
    notes: tuple[Note, ...] = ()

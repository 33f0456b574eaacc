"""What can be known of a program without a model? The types of its facts: immutable, each with its lines.

Laws: `line` is always a line of the file that was read, 1-based, and `end_line` is inclusive. Content of a copybook is cited at the
COPY that includes it, and `copybook` names it (None: it is in the file itself). `paragraph` is the name of the enclosing paragraph,
"" outside of any. Names keep their spelling.

Leaves to others: how facts are found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..program import METHOD

ProgramType = Literal["batch", "CICS", "IMS", "subroutine", "copybook"]
"""How a program is run: by a job, as a transaction, under IMS, by other programs, or not at all (a copybook)."""


# ─── data ───


class Condition(NamedTuple):
    """A level 88 of an item, with the lines that test it and the lines where SET makes it true."""

    name: str
    values: tuple[str, ...]
    """The values as written; a range is one value, as in `'A' THRU 'F'`."""
    line: int
    read_lines: tuple[int, ...] = ()
    written_lines: tuple[int, ...] = ()


class DataItem(NamedTuple):
    """A data description entry, in the order of the source with copybooks expanded.

    Lines are those of direct references: writing a group also writes the items in it, but this is not repeated at each
    of them.
    """

    level: int
    """1 to 49, 66 or 77; level 88s are `conditions`, level 78s constants."""
    name: str
    """The name of the item, "FILLER" if it has none."""
    line: int
    end_line: int
    section: str
    """FILE, WORKING-STORAGE, LOCAL-STORAGE, LINKAGE and so on; "" in a copybook read on its own."""
    parent: int | None = None
    """The group that contains it, as an index into `Facts.items`; None for a record."""
    record: int = 0
    """The level 01 or 77 above the item, as an index into `Facts.items`; for a record, its own index."""
    file: str | None = None
    """The FD or SD of its record; None outside the FILE SECTION."""
    picture: str | None = None
    """The character string of PICTURE as written; None for a group, and for an item whose usage needs none."""
    usage: str = "DISPLAY"
    """The usage of the item, or of its group: COMP, COMP-3, INDEX, POINTER and so on; GROUP for a group."""
    occurs: int | None = None
    """The maximum number of occurrences; None if the item is not a table or the number is not known."""
    depending: str | None = None
    """The item that holds the number of occurrences."""
    indexes: tuple[str, ...] = ()
    redefines: str | None = None
    renames: tuple[str, str | None] | None = None
    """The first and last item of a level 66; the last is None if only one is renamed."""
    value: str | None = None
    """The VALUE as written, literals with their quotes."""
    sign: str | None = None
    """LEADING or TRAILING, with SEPARATE; None if no SIGN clause applies."""
    offset: int | None = None
    """The bytes from the start of its record (the level 01), counting preceding tables at their maximum size. None if it
    cannot be known because a preceding copybook is missing."""
    bytes: int | None = None
    """The size of one occurrence in bytes; None if it cannot be known."""
    boundary: int = 1
    """The alignment in bytes by SYNCHRONIZED, for a group the widest of its items; 1 if there is none."""
    varies: bool = False
    """Whether the offset depends on a preceding OCCURS DEPENDING."""
    is_justified: bool = False
    """Whether a text is JUSTIFIED, so that what is moved to it is aligned at its end."""
    copybook: str | None = None
    copybook_line: int | None = None
    """The line of the item in its copybook; None if it is in the program."""
    shared: Literal["", "GLOBAL", "EXTERNAL"] = ""
    """Whether a record, or its file, is shared with nested programs (GLOBAL) or the whole run unit (EXTERNAL)."""
    conditions: tuple[Condition, ...] = ()
    read_lines: tuple[int, ...] = ()
    written_lines: tuple[int, ...] = ()
    passed_lines: tuple[int, ...] = ()
    """The lines where it is passed by reference to another program, which may write it."""


class OuterData(NamedTuple):
    """The GLOBAL items of a containing program that a nested program may name: those of the records that it does name, and of other
    records that share a name with them.
    """

    program: str
    items: tuple[DataItem, ...]


class SourcePlace(NamedTuple):
    """A line in the program, or in the named copybook."""

    line: int
    copybook: str | None = None
    end_line: int | None = None
    """The last line of the statement, if it is not known which of its lines has the word; None if `line` has it."""


class DataUse(NamedTuple):
    """The use of an item, by name, in a paragraph that reads or writes it, with the places of the name."""

    item: int
    """An index into `Facts.items` followed by the items of `Facts.outer`; a level 88 counts as its item."""
    is_write: bool
    paragraph: int
    """The key of the paragraph; -1 for code outside of any."""
    header: str
    """The enclosing paragraph in the copybook, if the code is copied; otherwise ""."""
    doubt: str
    """Why the statement may not use the item; "" if it does."""
    places: tuple[SourcePlace, ...]


class ItemPart(NamedTuple):
    """Some characters of an item, as given by a reference modification."""

    start: int | None
    """The first character, counted from 1; None if it is computed from data."""
    length: int | None
    is_open: bool
    """Whether the part extends to the end of the item."""


Given = Literal["", "characters", "reversed", "length", "calculated"]
"""What is taken from an item: its value, its characters (TRIM, UPPER-CASE), these and its room from the end to the beginning
(REVERSE), its length, or something computed."""


class MoveWay(NamedTuple):
    """Which part of one item is moved to which part of another; by default all to all."""

    sent: ItemPart | None = None
    taken: ItemPart | None = None
    is_piece: bool = False
    """Whether a delimiter ends what is sent, or the statement splits it: the length depends on the data, at most the whole."""
    string: int = 0
    """The line of the STRING that concatenates several items; 0 for any other statement."""
    literals: int = 0
    """The number of characters in the literals that such a STRING puts between them."""
    function: Given = ""
    """What a function sends of the item: its characters at other places, or their number; "" for the item itself."""
    is_copied: bool = False
    """Whether another program gets a copy, so that what it writes there is not returned."""


WHOLE = MoveWay()


class PartUse(NamedTuple):
    """The use of some characters of an item by position, without a move from or to another item."""

    item: int
    """An index into `Facts.items` followed by the items of `Facts.outer`."""
    part: ItemPart
    places: tuple[SourcePlace, ...]


class Comparison(NamedTuple):
    """A comparison of an item with another item or a literal, or a value that it has."""

    item: int
    """An index into `Facts.items` followed by the items of `Facts.outer`."""
    other: int | None
    """The other item; None for a literal."""
    literal: str
    """The literal as written, or a range as in `1 THRU 9999`; "" for an item."""
    places: tuple[SourcePlace, ...]


class StatedLength(NamedTuple):
    """A length that an item must have: that of another item or of a literal, or a stated number."""

    item: int
    """An index into `Facts.items` followed by the items of `Facts.outer`."""
    other: int | None
    """The other item; None if there is none."""
    characters: int
    """The characters of the literal, or the number; 0 if there is another item."""
    text: str
    """The literal, or what states the number, as written; "" for an item."""
    by: Literal["INSPECT", "CICS"]
    is_sure: bool
    """Whether the length cannot be anything else."""
    places: tuple[SourcePlace, ...]


class ApartUses(NamedTuple):
    """An item used for several purposes: what some statements put there is not what others pass on."""

    item: int
    """An index into `Facts.items` followed by the items of `Facts.outer`."""
    pairs: tuple[tuple[SourcePlace, SourcePlace], ...]
    """The places of each unrelated pair: the statement that fills the item, and the one that passes it on."""


class DataMove(NamedTuple):
    """A flow of the value of one item into another, by one or several statements."""

    source: int
    """An index into `Facts.items` followed by the items of `Facts.outer`, as is `target`."""
    target: int
    is_copy: bool
    """Whether the value is moved unchanged (MOVE, READ INTO, STRING) rather than used in a calculation."""
    is_sure: bool
    """Whether neither name can mean anything else."""
    places: tuple[SourcePlace, ...]
    way: MoveWay = WHOLE


class Constant(NamedTuple):
    """A level 78, or an item with a VALUE that nothing in the program writes; the value as written."""

    name: str
    value: str
    line: int
    copybook: str | None = None


class Message(NamedTuple):
    """A text meant for people, with its line."""

    text: str
    target: str
    """DISPLAY, or the item that it is moved to or is the value of."""
    line: int
    copybook: str | None = None


class Transform(NamedTuple):
    """A calculation or composition (COMPUTE, ADD, STRING, UNSTRING, INSPECT): what it writes, and from what."""

    verb: str
    targets: tuple[str, ...]
    sources: tuple[str, ...]
    text: str
    line: int
    end_line: int
    paragraph: str


class Undeclared(NamedTuple):
    """A name that is used as data but declared nowhere in the sources found, with its lines."""

    name: str
    lines: tuple[int, ...]


# ─── files, tables, queues, screens ───


class FileUse(NamedTuple):
    """What one statement does with a file: OPEN, READ, WRITE, REWRITE, DELETE, START, CLOSE, RETURN, RELEASE, SORT or
    MERGE.
    """

    verb: str
    line: int
    end_line: int
    mode: str | None = None
    """INPUT, OUTPUT, I-O or EXTEND of an OPEN; USING or GIVING of a SORT or MERGE; otherwise None."""
    copybook: str | None = None
    header: str = ""
    """The enclosing paragraph in that copybook; "" in the program, and before any header."""
    is_run: bool = True
    """Whether anything may run it; False in a copied paragraph that nothing performs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramFile:
    """A file of a program: its SELECT with its FD or SD, its records, and what is done with it."""

    name: str
    line: int
    """The line of the SELECT, or of the FD if there is none."""
    end_line: int
    kind: Literal["FD", "SD"] | None = None
    """FD, or SD for the work file of a sort; None if no description was found."""
    description_line: int | None = None
    """The line of its FD or SD."""
    assign: tuple[str, ...] = ()
    """The words after ASSIGN TO, as written."""
    dd: str | None = None
    """The DD name that ASSIGN results in, by which a job assigns a data set to it."""
    named_by: tuple[Resolved, ...] = ()
    """The names that it may have, the DD name first, if ASSIGN names a data item."""
    organization: str = "SEQUENTIAL"
    access: str = "SEQUENTIAL"
    keys: tuple[str, ...] = ()
    """RECORD KEY, ALTERNATE RECORD KEYs and RELATIVE KEY, in the order of the SELECT."""
    status: tuple[str, ...] = ()
    """The FILE STATUS item, and the second one if there are two."""
    records: tuple[str, ...] = ()
    """The names of its level 01 items."""
    uses: tuple[FileUse, ...] = ()
    io: tuple[str, ...] = ()
    """The modes in which it is opened, each once."""
    copybook: str | None = None
    record_bytes: tuple[int, int] | None = None
    """The minimum and maximum bytes of a record by RECORD CONTAINS or RECORD VARYING; None if neither is given."""


class OuterFile(NamedTuple):
    """A GLOBAL file of a containing program, and what the nested program does with it."""

    program: str
    name: str
    uses: tuple[FileUse, ...]


class Access(NamedTuple):
    """The lines that create, read, update and delete one resource."""

    resource: str
    kind: str
    """file, table, segment, record (of IDMS), queue, tsqueue or tdqueue."""
    create: tuple[int, ...] = ()
    read: tuple[int, ...] = ()
    update: tuple[int, ...] = ()
    delete: tuple[int, ...] = ()


class Resolved(NamedTuple):
    """A value that a data item may have, and the VALUE, MOVE, SET or STRING at `line` that assigns it."""

    value: str
    how: Literal["VALUE", "MOVE", "SET", "STRING"]
    line: int
    copybook: str | None = None


class CommandRun(NamedTuple):
    """A file that an operating system command runs, without folders and suffix, and the source of that command."""

    name: str
    line: int
    end_line: int
    copybook: str | None
    said_by: Resolved


RUNNING = "EIBTRNID"
"""The field of CICS that has the name of the running transaction."""


class ReachedValues(NamedTuple):
    """The values that an item can have at one statement."""

    values: tuple[Resolved, ...]
    is_sure: bool
    """Whether the item has exactly one value, and cannot have another."""
    unknown: str
    """Why there may be other, unknown values, as a clause; "" if there are none."""
    strung: frozenset[tuple[int, str | None]] = frozenset()
    """The STRINGs and the MOVEs of groups that may have composed the value: line and copybook of each."""
    is_running: bool = False
    """Whether the item may have the name of the running transaction, from `RUNNING`."""


class PreparedSql(NamedTuple):
    """A dynamic SQL statement: what it does to which tables, and where its text comes from."""

    operation: str
    tables: tuple[str, ...]
    said: Resolved


class SqlOperation(NamedTuple):
    """An EXEC SQL, with its tables, its cursor and its host variables (without their colon)."""

    operation: str
    """SELECT, INSERT, DECLARE CURSOR, OPEN, FETCH, WHENEVER NOT FOUND and so on, in capitals."""
    tables: tuple[str, ...]
    """The tables that it names; those of a cursor are given at its DECLARE CURSOR."""
    cursor: str | None
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    text: str
    """The text between EXEC SQL and END-EXEC, on one line."""
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None
    prepared: tuple[PreparedSql, ...] = ()
    """What a PREPARE or EXECUTE IMMEDIATE of a host variable, or the cursor of a prepared statement, may run; its tables are among
    `tables`."""
    is_sure: bool = True
    """Whether the text cannot be any other than that of `prepared`."""
    unknown: str = ""
    """Why there may be another, unknown text; "" if there is none."""


class CicsOperation(NamedTuple):
    """An EXEC CICS: its command, the resource it acts on, and how failures are handled."""

    command: str
    """The command, including the second word that distinguishes it: `SEND MAP`, `READQ TS`, `READ`."""
    resource: str | None
    """The name of the resource as written: a literal with its quotes, or a data item; None if it names none."""
    kind: str | None
    """What the resource is: file, map, tsqueue, tdqueue, program, transaction, container and so on."""
    resolved: tuple[Resolved, ...]
    """The values of the data item that names the resource."""
    resp: str | None
    """The item of RESP; None without that option."""
    response: Literal["RESP", "NOHANDLE", ""]
    """How a failure is handled: RESP, NOHANDLE, or "" for the region's default."""
    options: tuple[tuple[str, str], ...]
    """All options in order, as (NAME, argument); the argument of a flag is ""."""
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None
    is_sure: bool = True
    """Whether the resource cannot be anything but what is named, or what `resolved` says."""
    unknown: str = ""
    """Why the resource may be another, unknown one; "" if it cannot."""
    mapset: str | None = None
    """The mapset of a map, in capitals: if the command names none, that of the map's name. None if it is not certain."""
    is_running: bool = False
    """Whether the resource may be the running transaction: `RUNNING` names it, or an item to which that is moved."""

    @property
    def is_by_number(self) -> bool:
        """Whether RIDFLD is the number or address of a record rather than its key."""
        return self.option("RRN", "RBA", "XRBA") is not None

    def option(self, *names: str) -> str | None:
        """Return the argument of the first of these options that is present; None if none is."""
        return next((argument for name in names for option, argument in self.options if option == name), None)


DLI_INTERFACES = frozenset({"CBLTDLI", "AIBTDLI", "CEETDLI", "ASMTDLI", "DFSLI000"})
"""The interfaces of DL/I: a CALL of one is a database operation rather than a call of a program."""


class SegmentUse(NamedTuple):
    """The use of one segment by a DL/I call."""

    function: str
    """GU, ISRT, REPL and so on; GU for a segment that only leads to another one, as its key is read."""
    segment: str
    is_sure: bool
    """Whether the call has no other function and no other segment in this place."""
    said_by: tuple[Resolved, ...] = ()
    """Where the data gets the segment's name; none if the statement itself has the name."""


class DliOperation(NamedTuple):
    """A DL/I call: an EXEC DLI, or a CALL of CBLTDLI and the like."""

    function: str
    """GU, ISRT, REPL and so on, or each that it may be, as in `GU or GHU`; the name of the data item if no value is known."""
    segments: tuple[str, ...]
    """The segments on the path, from the outermost."""
    pcb: str | None
    """The PCB, the AIB, or the PSB of a SCHD, as written."""
    area: str | None
    """The item of INTO or FROM, or the third parameter of the CALL."""
    resolved: tuple[Resolved, ...]
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None
    uses: tuple[SegmentUse, ...] = ()
    """The use of each segment; a REPL or DLET without segments changes those that the program holds by the same PCB."""


class IdmsOperation(NamedTuple):
    """An IDMS statement: OBTAIN, STORE, MODIFY, ERASE, BIND and so on."""

    verb: str
    record: str | None
    """The record that it names; None if it uses the current record, or none."""
    within: str | None
    """The set or area of WITHIN, TO or FROM."""
    text: str
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None


class MqOperation(NamedTuple):
    """A CALL of MQOPEN, MQGET, MQPUT and the like."""

    call: str
    queue: str | None
    """The literal or data item with the queue's name; None if it is not known."""
    resolved: tuple[Resolved, ...]
    parameters: tuple[str, ...]
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None


class Channel(NamedTuple):
    """One way in or out of a program."""

    name: str
    """The name; that of a map includes its mapset (`SET.MAP`) if that is certain."""
    io_type: str
    """file, table, segment, queue, map, screen, commarea, container, parameter, console, environment, clock and so on."""
    lines: tuple[int, ...]
    copybook: str | None = None
    """The copybook that describes the record or map; None if the program itself does, or it is unknown."""


# ─── programs and control ───


_OBJECT = re.compile(r"(?i)\.(?:acu|acx|cbl|cob|dll|dylib|exe|gnt|int|so)$")
"""The suffixes of a program's object file."""


class ProgramCall(NamedTuple):
    """A transfer to another program: CALL, LINK, XCTL, START, RETURN TRANSID, INVOKE, an SQL procedure call, a method, or
    a statement that a shop's own preprocessor turns into a call.
    """

    target: str
    """The name given by a literal, or else the data item that holds it, or the resource of a CICS command with its
    quotes; `CLASS::METHOD` for a method."""
    call_type: Literal[
        "static", "dynamic", "link", "xctl", "start", "return_transid", "invoke", "sql", "method", "preprocessor"
    ]
    resolved: tuple[Resolved, ...]
    """The names that the data item may hold; empty if none is known."""
    parameters: tuple[str, ...]
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None
    is_sure: bool = True
    """Whether the call can only reach `names`, and that is a single name."""
    unknown: str = ""
    """Why the call may reach another, unknown program; "" if it cannot."""
    returned: tuple[str, ...] = ()
    """The items that receive what the other program returns, as written."""
    is_returned_whole: bool = True
    """Whether the returned value arrives unchanged rather than as part of a calculation."""
    copied: tuple[int, ...] = ()
    """The positions, from 0 on, of the arguments that are passed as copies."""

    @property
    def names(self) -> tuple[str, ...]:
        """The programs (or transactions) that it may reach; empty if that is not known, or the name is blank."""
        literal = (
            self.call_type == "static" or METHOD in self.target or (not self.resolved and self.target[:1] in "'\"")
        )
        said = (
            self.target.strip("'\"") if self.target[:1] in "'\"" else self.target
        )  # the quotes of X"91" are part of it
        names = (said.strip(),) if literal else tuple(found.value for found in self.resolved)
        return tuple(dict.fromkeys(filter(None, map(self._program, names))))

    def _program(self, name: str) -> str:
        """Return the program that a name means: a CALL may name its file, `../o/TAX.acu`."""
        if self.call_type not in {"static", "dynamic"} or METHOD in name:
            return name
        file = name.replace("\\", "/").rpartition("/")[2]
        return _OBJECT.sub("", file) or name


class ControlEdge(NamedTuple):
    """A transfer of control from one paragraph to another; `source`, `target` and `thru` are keys of paragraphs.

    An edge in copied code has the line of its COPY, the paragraph around the COPY as its source, and the enclosing paragraph of the
    copybook in `header`.
    """

    source: int
    """The paragraph that control leaves; -1 for code outside of any."""
    target: int | None
    """The first paragraph that control enters; None if it is not in the file."""
    name: str
    """The target as written."""
    via: str
    """PERFORM, GO TO, ALTER, SORT, MERGE, XML, USE, WHENEVER, HANDLE CONDITION and so on."""
    line: int
    thru: int | None = None
    """The last paragraph of a range or section; None if the target is the only one."""
    copybook: str | None = None
    header: str = ""


class Outside(NamedTuple):
    """A paragraph that is performed or jumped to but is not in this file, with the lines that name it."""

    name: str
    lines: tuple[int, ...]
    copybook: str | None = None
    """The copybook in which it was found; None if it was not found."""
    headers: tuple[str, ...] = ()
    """For each line, the paragraph of the copybook that names it; "" if the program itself does."""
    first: str = ""
    """The paragraph that runs first: the one with this name, or the first of the section with this name."""
    vias: tuple[str, ...] = ()
    """For each line, the kind of transfer, as in `ControlEdge.via`."""
    sources: tuple[str | None, ...] = ()
    """For each line, the copybook that names it; None if the program itself does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphFacts:
    """The facts of one paragraph; `key` is its index in `Facts.paragraphs` and in `Program.paragraphs`.

    Complexity is 1 plus the number of IFs, WHENs (except OTHER), loops, condition phrases (AT END, INVALID KEY and the
    like) and additional targets of GO TO DEPENDING.
    """

    key: int
    name: str
    """The name of the paragraph, "" for the code before the first header."""
    section: str | None
    line: int
    start_line: int
    end_line: int
    statements: int
    complexity: int
    depth: int
    """The deepest nesting of IF, EVALUATE, SEARCH and loops."""
    calls: tuple[str, ...] = ()
    """The names that PERFORM and the like run from here."""
    called_by: tuple[str, ...] = ()
    """The paragraphs that run it, alone or as part of a range."""
    jumps: tuple[str, ...] = ()
    """The names that GO TO, ALTER, WHENEVER and HANDLE lead to from here."""
    falls_into: str | None = None
    """The paragraph that control falls through to; None if it cannot, or there is none."""
    ends_range: bool = False
    """Whether a PERFORM … THRU ends with it."""
    dead: str | None = None
    """Why control never reaches the paragraph; None if it does, or this is not known."""
    doubts: tuple[str, ...] = ()
    """Why dead code might be reached after all."""


class BranchAction(NamedTuple):
    """One statement of a branch, joined to one line."""

    text: str
    line: int


class Branch(NamedTuple):
    """One outcome of a decision, with its statements."""

    label: str
    """THEN, ELSE, or the WHEN as written."""
    line: int
    end_line: int
    actions: tuple[BranchAction, ...]


class BranchRule(NamedTuple):
    """An IF, EVALUATE or SEARCH that may be a business rule."""

    rule_id: str
    """An identifier derived from the program, the paragraph and the words of the condition, not from lines."""
    verb: Literal["IF", "EVALUATE", "SEARCH"]
    condition: str
    meanings: tuple[tuple[str, str], ...]
    """The meanings of its level 88s, as (name, "ITEM = 'Y'")."""
    names: tuple[str, ...]
    """The data names in its conditions, each once."""
    branches: tuple[Branch, ...]
    check: str
    """The kind of outcome that it tests (FILE STATUS, SQLCODE, RESP and so on); "" if it decides on data."""
    line: int
    end_line: int
    paragraph: str


class ErrorSite(NamedTuple):
    """A place in a program where an error is handled or raised."""

    kind: str
    """FILE STATUS, SQLCODE, RESP, DLI STATUS, MQ REASON, AT END, INVALID KEY, SIZE ERROR, EXCEPTION, OVERFLOW, ABEND,
    RETURN-CODE, HANDLE, USE, WHENEVER or IDMS STATUS."""
    condition: str
    action: str | None
    """The statements that handle it, cut to 200 characters; None if there are none, or they are not known."""
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None


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


class Note(NamedTuple):
    """A remark for the reader: what could not be followed, and why."""

    line: int
    text: str


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
    idms: tuple[IdmsOperation, ...] = ()
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
    notes: tuple[Note, ...] = ()
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

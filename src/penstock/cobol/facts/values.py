"""The values that are known of a program without a model: frozen, each with its lines.

Laws: `line` is always a line of the file that was read, 1-based and inclusive up to `end_line`. What stands in a
copybook is cited at the COPY that brings it in, and `copybook` names it (None: it stands here). `paragraph` is the
name of the paragraph that holds it, "" outside of all. Names keep their spelling.

Leaves to others: how any of it is found.
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
    """A level 88 of an item, with the lines where it is tested and those where SET makes it true."""

    name: str
    values: tuple[str, ...]
    """The values of a level 88 as they are written; a range is one, as in `'A' THRU 'F'`."""
    line: int
    read_lines: tuple[int, ...] = ()
    written_lines: tuple[int, ...] = ()


class DataItem(NamedTuple):
    """A data description entry, in the order of the source, copybooks in place.

    The lines are those of direct references: a group that is written writes what it holds, which is not repeated at
    each item.
    """

    level: int
    """1 to 49, 66 or 77; level 88s are `conditions`, level 78s constants."""
    name: str
    """The name of an item, "FILLER" where there is none."""
    line: int
    end_line: int
    section: str
    """FILE, WORKING-STORAGE, LOCAL-STORAGE, LINKAGE and so on; "" in a copybook that stands alone."""
    parent: int | None = None
    """The group that holds it, as an index into `Facts.items`; None for a record."""
    record: int = 0
    """The level 01 or 77 above an item, as an index into `Facts.items`; of a record its own index."""
    file: str | None = None
    """The FD or SD of its record; None outside of the FILE SECTION."""
    picture: str | None = None
    """The character string of PICTURE as it is written; None for a group, and for an item whose usage needs none."""
    usage: str = "DISPLAY"
    """The usage of an item, or of its group: COMP, COMP-3, INDEX, POINTER and so on; GROUP for a group."""
    occurs: int | None = None
    """The most occurrences; None for what is no table, and where the count is not known."""
    occurs_from: int | None = None
    """The least occurrences, with DEPENDING; None otherwise."""
    depending: str | None = None
    """The item that says how many occurrences there are."""
    indexes: tuple[str, ...] = ()
    redefines: str | None = None
    renames: tuple[str, str | None] | None = None
    """The first and last item of a level 66; the last is None where only one is renamed."""
    value: str | None = None
    """The VALUE as it is written, literals with their quotes."""
    sign: str | None = None
    """LEADING or TRAILING, with SEPARATE; None where no SIGN clause holds."""
    offset: int | None = None
    """The bytes from the start of its record (the level 01). Tables before it count with their most occurrences. None
    where it cannot be known, because a copybook is missing before it."""
    bytes: int | None = None
    """The size of one occurrence in bytes; None where it cannot be known."""
    boundary: int = 1
    """The bytes to a multiple of which SYNCHRONIZED aligns an item, or the widest of what a group holds; 1 where it does not."""
    varies: bool = False
    """Whether the offset depends on an OCCURS DEPENDING before it."""
    copybook: str | None = None
    copybook_line: int | None = None
    """The line of an item in its copybook; None where it stands in the program."""
    shared: Literal["", "GLOBAL", "EXTERNAL"] = ""
    """Whether a record, or the file that it is one of, is one for the programs within, or for all that run together."""
    conditions: tuple[Condition, ...] = ()
    read_lines: tuple[int, ...] = ()
    written_lines: tuple[int, ...] = ()
    passed_lines: tuple[int, ...] = ()
    """The lines where it is given by reference to another program, which may write it."""


class OuterData(NamedTuple):
    """The items of a program that contains another one, which means those of GLOBAL records by their names: of those records that
    it names, and of others that have a name with them in common.
    """

    program: str
    items: tuple[DataItem, ...]


class SourcePlace(NamedTuple):
    """A line of the file that holds it: of the program, or of the copybook that is named."""

    line: int
    copybook: str | None = None
    end_line: int | None = None
    """The last line of the statement, where it is not told on which of them the word stands; None where `line` has it."""


class DataUse(NamedTuple):
    """A use of an item by a paragraph that reads or writes it by its name, with the places of the name."""

    item: int
    """An index into `Facts.items`, and behind them into those of `Facts.outer`; a level 88 counts as its item."""
    is_write: bool
    paragraph: int
    """The key of the paragraph; -1 for code in none."""
    header: str
    """The paragraph of a copybook that holds it, where the code is copied; "" else."""
    is_sure: bool
    """Whether the name can mean nothing else."""
    places: tuple[SourcePlace, ...]


class ItemPart(NamedTuple):
    """Some characters of an item, as a reference modification names them."""

    start: int | None
    """The first of them, from 1 on; None for what data says."""
    length: int | None
    is_open: bool
    """Whether the part goes on to the end of the item."""


Given = Literal["", "characters", "length", "calculated"]
"""What is taken of an item: itself, its characters (TRIM, REVERSE, UPPER-CASE), their number, or something else."""


class MoveWay(NamedTuple):
    """How much of one item is moved to how much of another; all to all where nothing else is said."""

    sent: ItemPart | None = None
    taken: ItemPart | None = None
    is_piece: bool = False
    """Whether a delimiter ends what is sent, or the statement takes it apart: how much comes is data, and at most all."""
    string: int = 0
    """The line of the STRING that puts several items behind each other; 0 for any other statement."""
    literals: int = 0
    """The characters of literals that such a STRING puts between them."""
    function: Given = ""
    """What of an item is sent: its characters at other places, or their number; "" for the item itself."""
    is_copied: bool = False
    """Whether another program gets a copy, so that what it leaves there does not come back."""


WHOLE = MoveWay()


class PartUse(NamedTuple):
    """A use of some characters of an item by their place, where nothing else gets them or gives them."""

    item: int
    """An index into `Facts.items` and behind them into those of `Facts.outer`."""
    part: ItemPart
    places: tuple[SourcePlace, ...]


class Comparison(NamedTuple):
    """What an item is compared with or has as a value: another item, or a literal."""

    item: int
    """An index into `Facts.items` and behind them into those of `Facts.outer`."""
    other: int | None
    """The other item; None for a literal."""
    literal: str
    """The literal as it is written, or a range of them as in `1 THRU 9999`; "" for an item."""
    places: tuple[SourcePlace, ...]


class StatedLength(NamedTuple):
    """How long an item has to be: as long as another one, or as a literal or number says."""

    item: int
    """An index into `Facts.items` and behind them into those of `Facts.outer`."""
    other: int | None
    """The other item; None where there is none."""
    characters: int
    """The characters of the literal, or the number; 0 where there is another item."""
    text: str
    """The literal, or where the number stands, as it is written; "" for an item."""
    by: Literal["INSPECT", "CICS"]
    is_sure: bool
    """Whether nothing but that can be the length."""
    places: tuple[SourcePlace, ...]


class ApartUses(NamedTuple):
    """An item that is used for several things: what some statements leave there is not what others give on."""

    item: int
    """An index into `Facts.items` and behind them into those of `Facts.outer`."""
    pairs: tuple[tuple[SourcePlace, SourcePlace], ...]
    """Of each two such statements the places, of what fills the item and of what gives it on."""


class DataMove(NamedTuple):
    """A move of the value of one item into another, by one or several statements."""

    source: int
    """An index into `Facts.items` and behind them into those of `Facts.outer`, as is `target`."""
    target: int
    is_copy: bool
    """Whether the value is moved as it is (MOVE, READ INTO, STRING), rather than calculated with."""
    is_sure: bool
    """Whether both names can mean nothing else."""
    places: tuple[SourcePlace, ...]
    way: MoveWay = WHOLE


class Constant(NamedTuple):
    """A level 78, or an item with a VALUE that nothing in the program writes; the value as it is written."""

    name: str
    value: str
    line: int
    copybook: str | None = None


class Message(NamedTuple):
    """Words for people, with their line."""

    text: str
    target: str
    """DISPLAY, or the item they are moved to, or whose value they are."""
    line: int
    copybook: str | None = None


class Transform(NamedTuple):
    """A calculation or a composition (COMPUTE, ADD, STRING, UNSTRING, INSPECT): what it writes, and what from."""

    verb: str
    targets: tuple[str, ...]
    sources: tuple[str, ...]
    text: str
    line: int
    end_line: int
    paragraph: str


class Undeclared(NamedTuple):
    """A name that is used as data and that nothing which was found declares, with its lines."""

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
    """INPUT, OUTPUT, I-O or EXTEND of an OPEN; USING or GIVING of a SORT or MERGE; else None."""
    copybook: str | None = None
    header: str = ""
    """The paragraph of that copybook that holds it; "" for what stands in the program, and before any header."""
    is_run: bool = True
    """Whether something may run it; False for what stands in a copied paragraph that nothing performs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramFile:
    """A file of a program: its SELECT with its FD or SD, its records, and what is done with it."""

    name: str
    line: int
    """The line of the SELECT, or of the FD where there is none."""
    end_line: int
    kind: Literal["FD", "SD"] | None = None
    """FD, or SD for the work file of a sort; None where no description was found."""
    description_line: int | None = None
    """The line of its FD or SD."""
    assign: tuple[str, ...] = ()
    """What stands behind ASSIGN TO, word by word as it is written."""
    dd: str | None = None
    """The DD name that ASSIGN comes to, by which a job gives it a data set."""
    named_by: tuple[Resolved, ...] = ()
    """The names that it may have, the DD name first, if ASSIGN names a data item."""
    organization: str = "SEQUENTIAL"
    access: str = "SEQUENTIAL"
    keys: tuple[str, ...] = ()
    """RECORD KEY, ALTERNATE RECORD KEYs and RELATIVE KEY, in the order of the SELECT."""
    status: tuple[str, ...] = ()
    """The FILE STATUS item, and the second one where there are two."""
    records: tuple[str, ...] = ()
    """The names of its level 01 items."""
    uses: tuple[FileUse, ...] = ()
    io: tuple[str, ...] = ()
    """The modes it is opened with, each once."""
    copybook: str | None = None
    record_bytes: tuple[int, int] | None = None
    """The least and the most bytes of a record by RECORD CONTAINS or RECORD VARYING; None where neither says it."""


class OuterFile(NamedTuple):
    """A GLOBAL file of a program that contains another one, and what this does with it."""

    program: str
    name: str
    uses: tuple[FileUse, ...]


class Access(NamedTuple):
    """What is done with one resource: the lines that create, read, update and delete it."""

    resource: str
    kind: str
    """file, table, segment, record (of IDMS), queue, tsqueue or tdqueue."""
    create: tuple[int, ...] = ()
    read: tuple[int, ...] = ()
    update: tuple[int, ...] = ()
    delete: tuple[int, ...] = ()


class Resolved(NamedTuple):
    """A value that a data item may have, and the VALUE, MOVE, SET or STRING at `line` that gives it."""

    value: str
    how: Literal["VALUE", "MOVE", "SET", "STRING"]
    line: int
    copybook: str | None = None


class CommandRun(NamedTuple):
    """A file that a command of the system runs, without its folders and suffix, and what says so."""

    name: str
    line: int
    end_line: int
    copybook: str | None
    said_by: Resolved


class ReachedValues(NamedTuple):
    """The values that an item can have at one statement."""

    values: tuple[Resolved, ...]
    is_sure: bool
    """Whether an item has one value, and nothing else can be there."""
    unknown: str
    """Why other values may be there that nothing tells, as a clause; "" where none may."""
    strung: frozenset[tuple[int, str | None]] = frozenset()
    """The STRINGs that may have composed what is there: line and copybook of each."""


class PreparedSql(NamedTuple):
    """A statement of SQL whose text is data: what it does to which tables, and where its text comes from."""

    operation: str
    tables: tuple[str, ...]
    said: Resolved


class SqlOperation(NamedTuple):
    """An EXEC SQL, with its tables, its cursor and its host variables (without their colon)."""

    operation: str
    """SELECT, INSERT, DECLARE CURSOR, OPEN, FETCH, WHENEVER NOT FOUND and so on, in capitals."""
    tables: tuple[str, ...]
    """The tables that it names; those of a cursor are at its DECLARE CURSOR."""
    cursor: str | None
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    text: str
    """What stands between EXEC SQL and END-EXEC, on one line."""
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None
    prepared: tuple[PreparedSql, ...] = ()
    """What a PREPARE or EXECUTE IMMEDIATE of a host variable may run, and the cursor of what is prepared; its tables are among
    `tables`."""
    is_sure: bool = True
    """Whether no other text can be there than the one of `prepared`."""
    unknown: str = ""
    """Why the text may be another one that nothing tells; "" where it may not."""


class CicsOperation(NamedTuple):
    """An EXEC CICS: its command, what it acts on, and how its failure is met."""

    command: str
    """The command with the word that makes it another one: `SEND MAP`, `READQ TS`, `READ`."""
    resource: str | None
    """The name of what it acts on as it is written, a literal with its quotes, or a data item; None where it names
    none."""
    kind: str | None
    """What the resource is: file, map, tsqueue, tdqueue, program, transaction, container and so on."""
    resolved: tuple[Resolved, ...]
    """What a data item in the place of the resource may hold."""
    resp: str | None
    """The item of RESP; None without that option."""
    response: Literal["RESP", "NOHANDLE", ""]
    """How a failure is met: RESP, NOHANDLE, or "" for what the region does by default."""
    checked: tuple[int, ...]
    """The lines, up to the next command in its paragraph, where its RESP or EIBRESP is looked at."""
    options: tuple[tuple[str, str], ...]
    """All options in order, as (NAME, argument); a flag has "" as its argument."""
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None
    is_sure: bool = True
    """Whether the resource can be nothing but what is named, or what `resolved` says."""
    unknown: str = ""
    """Why the resource may be another one that nothing tells; "" where it may not."""
    mapset: str | None = None
    """The mapset of a map, in capitals: where the command names none, that of the map's name. None where it is not sure."""

    @property
    def is_by_number(self) -> bool:
        """Whether RIDFLD is the number or the address of a record, rather than its key."""
        return self.option("RRN", "RBA", "XRBA") is not None

    def option(self, *names: str) -> str | None:
        """Return the argument of the first of those options that it has; None where it has none of them."""
        return next((argument for name in names for option, argument in self.options if option == name), None)


class DliOperation(NamedTuple):
    """A call of DL/I: an EXEC DLI, or a CALL of CBLTDLI and the like."""

    function: str
    """GU, ISRT, REPL and so on; the name of the data item where its value is not known."""
    segments: tuple[str, ...]
    """The segments on the path, from the outermost."""
    pcb: str | None
    """The PCB, the AIB, or the PSB of a SCHD, as it is written."""
    area: str | None
    """The item of INTO or FROM, or the third parameter of the CALL."""
    resolved: tuple[Resolved, ...]
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None


class IdmsOperation(NamedTuple):
    """A statement of IDMS: OBTAIN, STORE, MODIFY, ERASE, BIND and so on."""

    verb: str
    record: str | None
    """The record that it names; None where it is about the current one, or about none."""
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
    """The literal or the data item of the queue's name; None where it cannot be told."""
    resolved: tuple[Resolved, ...]
    parameters: tuple[str, ...]
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None


class Channel(NamedTuple):
    """One way in or out of a program."""

    name: str
    """Of a map with its mapset (`SET.MAP`) where that is sure."""
    io_type: str
    """file, table, segment, queue, map, screen, commarea, container, parameter, console, clock and so on."""
    lines: tuple[int, ...]
    copybook: str | None = None
    """The copybook that describes the record or map; None where it stands in the program, or is unknown."""


# ─── programs and control ───


_OBJECT = re.compile(r"(?i)\.(?:acu|acx|cbl|cob|dll|dylib|exe|gnt|int|so)$")
"""What the file of a program may end in."""


class ProgramCall(NamedTuple):
    """A way to another program: CALL, LINK, XCTL, START, RETURN TRANSID, INVOKE, the CALL of a procedure by SQL, a method, or
    what a shop's own preprocessor makes a call of.
    """

    target: str
    """The name where a literal says it, else the data item that holds it, or the resource of a CICS command with its
    quotes; `CLASS::METHOD` of a method."""
    call_type: Literal[
        "static", "dynamic", "link", "xctl", "start", "return_transid", "invoke", "sql", "method", "preprocessor"
    ]
    resolved: tuple[Resolved, ...]
    """The names that the data item of a call may hold; empty where nothing is known."""
    parameters: tuple[str, ...]
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None
    is_sure: bool = True
    """Whether a call can reach nothing but `names`, and that is one."""
    unknown: str = ""
    """Why a call may reach another program that nothing tells; "" where it may not."""
    returned: tuple[str, ...] = ()
    """The items that get what the other program returns, as they are written."""
    is_returned_whole: bool = True
    """Whether what a program returns arrives as it is, rather than in a calculation."""
    copied: tuple[int, ...] = ()
    """The places, from 0 on, of the arguments of which the other program gets a copy."""

    @property
    def names(self) -> tuple[str, ...]:
        """The programs (or transactions) that it may reach; empty where that is not known, and where the name is blank."""
        literal = (
            self.call_type == "static" or METHOD in self.target or (not self.resolved and self.target[:1] in "'\"")
        )
        names = (self.target.strip("'\"").strip(),) if literal else tuple(found.value for found in self.resolved)
        return tuple(dict.fromkeys(filter(None, map(self._program, names))))

    def _program(self, name: str) -> str:
        """Return the program that a name means: a CALL may name the file of one, `../o/TAX.acu`."""
        if self.call_type not in {"static", "dynamic"} or METHOD in name:
            return name
        file = name.replace("\\", "/").rpartition("/")[2]
        return _OBJECT.sub("", file) or name


class ControlEdge(NamedTuple):
    """Control goes from one paragraph to another; `source`, `target` and `thru` are keys of paragraphs.

    An edge of copied code has the line of its COPY and the paragraph around that as its source, and in `header` the paragraph
    of the copybook that holds it.
    """

    source: int
    """The paragraph it leaves; -1 for code in none."""
    target: int | None
    """The first paragraph it leads to; None where that does not stand in the file."""
    name: str
    """The target as it is written."""
    via: str
    """PERFORM, GO TO, ALTER, SORT, MERGE, XML, USE, WHENEVER, HANDLE CONDITION and so on."""
    line: int
    thru: int | None = None
    """The last paragraph of a range or section; None where the target is the only one."""
    copybook: str | None = None
    header: str = ""


class Outside(NamedTuple):
    """A paragraph that is performed or jumped to and does not stand in this file, with the lines that name it."""

    name: str
    lines: tuple[int, ...]
    copybook: str | None = None
    """The copybook in which it was found; None where it was found nowhere."""
    headers: tuple[str, ...] = ()
    """For each line the paragraph of its copybook that names it; "" where the program itself does."""
    first: str = ""
    """The paragraph that is run first: that of its name, or the first of the section of its name."""
    vias: tuple[str, ...] = ()
    """For each line what leads there, as `ControlEdge.via` says it."""
    sources: tuple[str | None, ...] = ()
    """For each line the copybook that names it; None where the program itself does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphFacts:
    """What is known of one paragraph; `key` is its index in `Facts.paragraphs` and in `Program.paragraphs`.

    Complexity is 1 and every IF, WHEN (not OTHER), loop, condition phrase (AT END, INVALID KEY and the like) and
    further target of GO TO DEPENDING.
    """

    key: int
    name: str
    """The name of a paragraph, "" for the code before any header."""
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
    """What runs a paragraph, alone or as part of a range."""
    jumps: tuple[str, ...] = ()
    """The names that GO TO, ALTER, WHENEVER and HANDLE lead to from here."""
    falls_into: str | None = None
    """The paragraph that control reaches over its end; None where it cannot, or where there is none."""
    ends_range: bool = False
    """Whether the THRU of a PERFORM names it."""
    dead: str | None = None
    """Why no control reaches a paragraph; None where some does, or where that cannot be told."""
    doubts: tuple[str, ...] = ()
    """Why dead code could be reached all the same."""


class BranchAction(NamedTuple):
    """One statement of a branch, folded to one line."""

    text: str
    line: int


class Branch(NamedTuple):
    """One way out of a decision, with its statements."""

    label: str
    """THEN, ELSE, or the WHEN as it is written."""
    line: int
    end_line: int
    actions: tuple[BranchAction, ...]


class BranchRule(NamedTuple):
    """An IF, EVALUATE or SEARCH: what may be a business rule."""

    rule_id: str
    """An identity that depends on the program, the paragraph and the words of the condition, not on lines."""
    verb: Literal["IF", "EVALUATE", "SEARCH"]
    condition: str
    meanings: tuple[tuple[str, str], ...]
    """What the level 88s of a rule stand for, as (name, "ITEM = 'Y'")."""
    names: tuple[str, ...]
    """The data names in its conditions, each once."""
    branches: tuple[Branch, ...]
    check: str
    """The outcome that a rule looks at (FILE STATUS, SQLCODE, RESP and so on); "" where it decides on data."""
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
    """The statements that follow from it, as far as they are short; None where there are none, or where it is not told."""
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None


class CopybookUse(NamedTuple):
    """A COPY or EXEC SQL INCLUDE, with what became of it."""

    name: str
    library: str | None
    via: str
    replacing: tuple[tuple[str, str], ...]
    found: bool
    """Whether the lookup had it. One that copies itself counts as found."""
    system: bool
    """Whether a copybook comes with CICS, DB2, MQ or the compiler: it is not missing."""
    division: str
    """The division that its COPY stands in; "" outside of all."""
    line: int
    end_line: int
    copybook: str | None = None
    """The copybook that holds the COPY; None where the program does."""
    told: str = ""
    """What is said to come from it comes from a copybook of this name: its own, or `LIBRARY/NAME` where one of its name was copied
    from another library before."""


class UnknownStatement(NamedTuple):
    """What begins a sentence and is no statement that is known, on one line and bounded."""

    text: str
    line: int
    end_line: int
    paragraph: str


class Note(NamedTuple):
    """Something that a reader should know: what could not be followed, and why."""

    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that is known of one program without a model. Tuples are in the order of the source unless said
    otherwise.
    """

    program: str
    type: ProgramType
    type_reason: str
    """What makes a program one of its type, as a clause with its line where there is one."""
    lines: int
    """The lines of the program in its file, copybooks not counted."""
    code_lines: int
    comment_lines: int
    statements: int
    """The statements of its paragraphs; branches and terminators are none."""
    complexity: int
    """McCabe's number over all paragraphs: 1 and every decision."""
    depth: int
    """The deepest nesting of decisions and loops in any paragraph."""
    items: tuple[DataItem, ...] = ()
    outer: tuple[OuterData, ...] = ()
    """What a nested program has from those around it; `uses` and `moves` count its items behind the own ones."""
    outer_files: tuple[OuterFile, ...] = ()
    commands: tuple[CommandRun, ...] = ()
    inherits: tuple[str, ...] = ()
    """The classes that a class inherits from, in capitals; empty for what is no class."""
    around: tuple[str, ...] = ()
    """The programs that contain a nested one, from the inside out."""
    is_common: bool = False
    """Whether a nested program is COMMON: known to all that its container contains."""
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
    """What is done with each resource, by kind and name."""
    inputs: tuple[Channel, ...] = ()
    outputs: tuple[Channel, ...] = ()
    calls: tuple[ProgramCall, ...] = ()
    using: tuple[str, ...] = ()
    """The parameters of the PROCEDURE DIVISION."""
    linkage: tuple[str, ...] = ()
    """The records of the LINKAGE SECTION."""
    entry_points: tuple[tuple[str, int], ...] = ()
    """What else the program is called by: the name behind AS of its PROGRAM-ID, and that of each ENTRY, each with its line."""
    entry_parameters: tuple[tuple[str, ...], ...] = ()
    """The parameters of each of them, in the same order."""
    paragraphs: tuple[ParagraphFacts, ...] = ()
    edges: tuple[ControlEdge, ...] = ()
    outside: tuple[Outside, ...] = ()
    rules: tuple[BranchRule, ...] = ()
    errors: tuple[ErrorSite, ...] = ()
    copybooks: tuple[CopybookUse, ...] = ()
    verbs: tuple[tuple[str, int], ...] = ()
    """How many statements there are of each verb, most first."""
    unread: tuple[UnknownStatement, ...] = ()
    """What was not understood, statement by statement: nothing is known of what it does."""
    notes: tuple[Note, ...] = ()
    uses: tuple[DataUse, ...] = ()
    """Which paragraph reads and writes which item."""
    moves: tuple[DataMove, ...] = ()
    """Which item goes into which."""
    parts: tuple[PartUse, ...] = ()
    """Which parts of items are named by their place."""
    apart: tuple[ApartUses, ...] = ()
    """Which uses of one item have nothing to do with each other; empty where nobody asked for it."""
    comparisons: tuple[Comparison, ...] = ()
    """What items are compared with, and which values they have; empty where nobody asked for it."""
    lengths: tuple[StatedLength, ...] = ()
    """Which items have to be how long; empty where nobody asked for it."""

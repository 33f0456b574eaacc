"""What does a program work with outside of itself? Files, tables, queues, screens and databases: types alone.

The laws are those of `values`. Leaves to others: other programs (`control`), and what jobs and databases say (`estate`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..words import vocabulary


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
    is_titled: bool = False
    """Whether VALUE OF names it, so that `dd` is the file's own name."""
    is_named_by_select: bool = False
    """Whether nothing but its SELECT names it, so that `dd` is `name`."""


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
IMAGE_INTRINSICS = vocabulary("DBOPEN DBCLOSE DBFIND DBGET DBPUT DBUPDATE DBDELETE DBINFO DBLOCK DBUNLOCK")
"""The intrinsics of IMAGE on the HP 3000. Each reads its second parameter, which names a data set, and does not write it."""
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


class NetworkOperation(NamedTuple):
    """A use of a database of records and sets: a statement (OBTAIN, STORE, ERASE, BIND), or a call of IMAGE (DBGET, DBPUT)."""

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
    area: str | None = None
    """What a call of IMAGE gets the data in or takes it from; None for a statement, whose area has the record's name."""
    said_by: Resolved | None = None
    """Where an item gets the name of the record."""
    is_sure: bool = True
    """Whether the record can be no other one."""


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
    is_sure: bool = False
    """Whether the queue can have no other name than the one in `resolved`."""
    unknown: str = ""
    """Why the queue may be another, unknown one; "" if it cannot."""


class Channel(NamedTuple):
    """One way in or out of a program."""

    name: str
    """The name; that of a map includes its mapset (`SET.MAP`) if that is certain."""
    io_type: str
    """file, table, segment, queue, map, screen, commarea, container, parameter, console, environment, clock and so on."""
    lines: tuple[int, ...]
    copybook: str | None = None
    """The copybook that describes the record or map; None if the program itself does, or it is unknown."""

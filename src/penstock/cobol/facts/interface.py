"""What goes in and out of a program, what does it do with each resource, and what kind of program is it?

The operations of files, CICS, SQL, DL/I, IDMS and MQ are merged here by the name of their resource. Leaves to others: the jobs and
transactions that run the program (`estate`).
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..clauses import SCREEN_USAGE
from ..program import key
from ..words import vocabulary
from .naming import qualifiers
from .resources import Access, Channel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..program import Program
    from .code import Code
    from .data import DataItem
    from .naming import DataNames
    from .resources import (
        CicsOperation,
        DliOperation,
        FileUse,
        MqOperation,
        NetworkOperation,
        ProgramFile,
        Resolved,
        SqlOperation,
    )  # fmt: skip
    from .values import Facts, ProgramType

# What each operation does to its resource, as create, read, update or delete.
_FILE_DEEDS = {
    "READ": "read",
    "START": "read",
    "WRITE": "create",
    "REWRITE": "update",
    "DELETE": "delete",
    "RETURN": "read",
    "RELEASE": "create",
}
CICS_DEEDS = {
    **dict.fromkeys(("READ", "READNEXT", "READPREV", "STARTBR"), "read"),
    "WRITE": "create",
    "REWRITE": "update",
    "DELETE": "delete",
    "READQ TS": "read",
    "WRITEQ TS": "create",
    "DELETEQ TS": "delete",
    "READQ TD": "read",
    "WRITEQ TD": "create",
    "DELETEQ TD": "delete",
}
SQL_DEEDS = {
    "SELECT": ("read",),
    "DECLARE CURSOR": ("read",),
    "FETCH": ("read",),
    "INSERT": ("create",),
    "UPDATE": ("update",),
    "DELETE": ("delete",),
    "MERGE": ("create", "update"),
    "TRUNCATE": ("delete",),
}
DLI_DEEDS = {
    **dict.fromkeys(("GU", "GN", "GNP", "GHU", "GHN", "GHNP"), "read"),
    "ISRT": "create",
    "REPL": "update",
    "DLET": "delete",
}
NETWORK_DEEDS = {
    **dict.fromkeys(("OBTAIN", "FETCH", "FIND", "GET", "LOCK", "SECURE", "DBFIND", "DBGET"), "read"),
    **dict.fromkeys(("STORE", "CREATE", "RECREATE", "DBPUT"), "create"),
    **dict.fromkeys(("MODIFY", "CONNECT", "DISCONNECT", "INSERT", "REMOVE", "DBUPDATE"), "update"),
    **dict.fromkeys(("ERASE", "DELETE", "DBDELETE"), "delete"),
}
_SORT_DEEDS = {"USING": "read", "GIVING": "create"}
MQ_DEEDS = {"MQGET": "read", "MQPUT": "create", "MQPUT1": "create"}
_CLOCK = frozenset(
    {"DATE", "DAY", "DAY-OF-WEEK", "TIME", "CENTURY-DATE", "CENTURY-DAY", "DATE-AND-TIME", "DAY-AND-TIME"}
)
_ENVIRONMENT = vocabulary("""
    ENVIRONMENT ENVIRONMENT-NAME ENVIRONMENT-VALUE ARGUMENT-NUMBER ARGUMENT-VALUE COMMAND-LINE SYSTEM-INFO TERMINAL-INFO USER
    COLUMNS LINES EXCEPTION ESCAPE THREAD WINDOW STANDARD
""")
"""What ACCEPT takes from the system rather than from a person; the last ones begin EXCEPTION STATUS and the like."""
_PLACES = frozenset({"AT", "COL", "COLUMN", "LINE", "POSITION"})
"""The words of an ACCEPT that say where on the screen its field is."""
_WEB_IN = frozenset({"WEB RECEIVE", "WEB READ", "WEB READNEXT", "WEB EXTRACT", "WEB PARSE", "WEB CONVERSE"})
_WEB_OUT = frozenset({"WEB SEND", "WEB WRITE", "WEB CONVERSE"})
_WEB_INTO = ("INTO", "SET", "VALUE", "QUERYSTRING", "PATH", "TOCONTAINER")
"""The options of a WEB command that say where it puts what comes, the first one that it has."""
_WEB_FROM = ("FROM", "VALUE", "DOCTOKEN", "CONTAINER")
_ORDER = {"file": 0, "table": 1, "segment": 2, "record": 3, "queue": 4, "tsqueue": 5, "tdqueue": 6}


_Deed: TypeAlias = tuple[str, str, str, int]
"""The kind and name of a resource, what is done with it, and the line."""


class InterfaceOperations(NamedTuple):
    """The operations of a program, by the system that carries them out."""

    files: tuple[ProgramFile, ...]
    sql: tuple[SqlOperation, ...]
    cics: tuple[CicsOperation, ...]
    dli: tuple[DliOperation, ...]
    mq: tuple[MqOperation, ...]
    network: tuple[NetworkOperation, ...] = ()


def crud(found: InterfaceOperations) -> tuple[Access, ...]:
    """Return the lines that create, read, update and delete each resource, ordered by kind and name.

    A resource named by a data item counts once for each value that the item may hold, or under the name of the item if none is
    known.
    """
    deeds = _Deeds()
    for kind, name, deed, line in (
        *_of_files(found),
        *_of_cics(found),
        *_of_sql(found),
        *_of_dli(found),
        *_of_mq(found),
        *_of_network(found),
    ):
        deeds.add(kind, name, deed, line)
    return deeds.found()


def deed_of(use: FileUse) -> str | None:
    """Return what a statement does with the records of its file; None if it does nothing with them."""
    return _SORT_DEEDS.get(use.mode or "") if use.verb in {"SORT", "MERGE"} else _FILE_DEEDS.get(use.verb)


def _of_files(found: InterfaceOperations) -> Iterator[_Deed]:
    """Yield what statements do with files."""
    for file in found.files:
        for use in (one for one in file.uses if one.is_run):
            deed = deed_of(use)
            if deed:
                yield "file", file.name, deed, use.line


def _of_cics(found: InterfaceOperations) -> Iterator[_Deed]:
    """Yield what commands do with files and queues; a WRITEQ TS with REWRITE is an update."""
    for operation in found.cics:
        deed = CICS_DEEDS.get(operation.command)
        if deed and operation.resource and operation.kind in {"file", "tsqueue", "tdqueue"}:
            # Temporary storage is overwritten by an option of WRITEQ, not by a separate command.
            again = operation.command == "WRITEQ TS" and operation.option("REWRITE") is not None
            for name in _named(operation.resource, operation.resolved):
                yield operation.kind, name, "update" if again else deed, operation.line


def _of_sql(found: InterfaceOperations) -> Iterator[_Deed]:
    """Yield what statements do with tables; a FETCH reads those of its cursor."""
    # A FETCH names only the cursor; the tables are in its DECLARE.
    cursors = {key(one.cursor): one.tables for one in found.sql if one.operation == "DECLARE CURSOR" and one.cursor}
    for one in found.sql:
        tables = cursors.get(key(one.cursor), ()) if one.operation == "FETCH" and one.cursor else one.tables
        said = [(made.operation, made.tables) for made in one.prepared] or [(one.operation, tables)]
        for operation, named in said:
            deeds = SQL_DEEDS.get(operation, ())
            # The first table is the one that is changed; those in sub-selects, and after the USING of a MERGE, are read.
            for at, table in enumerate(named if deeds else ()):
                for deed in ("read",) if at else deeds:
                    yield "table", table, deed, one.line


def _of_dli(found: InterfaceOperations) -> Iterator[_Deed]:
    """Yield what calls do with segments."""
    for call in found.dli:
        for use in call.uses:
            deed = DLI_DEEDS.get(use.function)
            if deed:
                yield "segment", use.segment, deed, call.line


def _of_mq(found: InterfaceOperations) -> Iterator[_Deed]:
    """Yield what calls do with queues."""
    for call in found.mq:
        deed = MQ_DEEDS.get(call.call)
        if deed and call.queue:
            for name in _named(call.queue, call.resolved):
                yield "queue", name, deed, call.line


def _of_network(found: InterfaceOperations) -> Iterator[_Deed]:
    """Yield what statements and calls do with records that they name, rather than with the current record."""
    for one in found.network:
        deed = NETWORK_DEEDS.get(one.verb)
        if deed and one.record:
            yield "record", one.record, deed, one.line


def channels(
    code: Code, found: InterfaceOperations, accesses: Sequence[Access], names: DataNames
) -> tuple[tuple[Channel, ...], tuple[Channel, ...]]:
    """Return the inputs and the outputs of a program.

    Args:
        code: The statements, for ACCEPT and DISPLAY.
        found: The operations.
        accesses: What `crud` found.
        names: The declared names, for parameters and records.
    """
    into, out = _Channels(), _Channels()
    kinds = {key(file.name): file for file in found.files}
    described: dict[str, str] = {}  # the copybooks of records, by file
    for item in names.items:
        if item.file and item.copybook:
            described.setdefault(key(item.file), item.copybook)
    for access in accesses:
        file = kinds.get(key(access.resource)) if access.kind == "file" else None
        if file is not None and file.kind == "SD":
            continue
        copybook = described.get(key(file.name)) if file else None
        if access.read:
            into.add(access.resource, access.kind, access.read, copybook)
        written = sorted({*access.create, *access.update, *access.delete})
        if written:
            out.add(access.resource, access.kind, written, copybook)
    # READ and WRITE are in `accesses`. A file that is only opened here is read or written by a SORT, by a nested program, or by one
    # that shares it (EXTERNAL), and is an input or output all the same.
    for file in found.files:
        for use in (one for one in file.uses if one.is_run):
            if use.verb == "OPEN" and use.mode in {"INPUT", "OUTPUT", "EXTEND"} and file.kind != "SD":
                (into if use.mode == "INPUT" else out).add(
                    file.name, "file", (use.line,), described.get(key(file.name))
                )
    _cics(found.cics, into, out, names)
    _statements(code, names, into, out)
    _parameters(code, names, into, out)
    return into.found(), out.found()


def says_something(found: Facts, program: Program) -> bool:
    """Return whether a text is a program, or holds data or statements: other text may contain what looks like a sentence of COBOL.

    Statements say something if there are at least as many as parts that are not understood: a DSECT whose comments have START and
    SET in them is not code.
    """
    return bool(
        program.kind != "copybook"
        or program.divisions
        or found.items
        or found.constants
        or found.files
        or program.copies
        or any(entry.level == 88 for entry in program.entries)  # conditions of the item around the COPY
        or (program.paragraphs and len(program.statements) >= len(program.unread))
    )


def type_of(program: Program, code: Code, found: InterfaceOperations, names: DataNames) -> tuple[ProgramType, str]:
    """Return the type of a program, and the reason.

    The first criterion that holds decides: a copybook, CICS commands, DL/I, an IMS entry point, DFHCOMMAREA, a function or class,
    parameters (other than the one of JCL), a nested program, EXIT PROGRAM without STOP RUN, a screen. Otherwise it is a batch
    program.
    """
    if program.kind == "copybook":
        return "copybook", "no division of a program is in it"
    # The most certain criteria come first. CICS and IMS are evident in the code; parameters only suggest a caller, since a job
    # passes one, too; and batch is what remains.
    if found.cics:
        return "CICS", f"EXEC CICS at line {found.cics[0].line}"
    if found.dli:
        return "IMS", f"DL/I at line {found.dli[0].line}"
    if any(name.upper() == "DLITCBL" for name, _ in program.entry_points):
        return "IMS", "its entry point is DLITCBL"
    if names.one("DFHCOMMAREA") is not None:
        return "CICS", "its LINKAGE SECTION has DFHCOMMAREA"
    if program.kind in {"function", "class", "method"}:
        return "subroutine", f"it is a {program.kind}"
    if program.using and not _is_parm(program.using, names):
        return "subroutine", "PROCEDURE DIVISION has USING " + ", ".join(program.using)
    if program.parent is not None:
        return "subroutine", f"it is within {program.parent}"
    ends = {said.verb for said in code.own}
    if "STOP RUN" not in ends and "EXIT PROGRAM" in ends:
        return "subroutine", "it ends with EXIT PROGRAM"
    if (line := _screen(code, names)) is not None:
        return "interactive", f"it has a screen at line {line}"
    return "batch", "a parameter as JCL gives it" if program.using else "it takes no parameters"


def _screen(code: Code, names: DataNames) -> int | None:
    """Return the line of the first screen that a program declares, or else of its first input at a place on one; None for none."""
    own = names.items[: names.own]
    declared = (own[one.record].line for one in own if _is_of_screen(one))
    asked = (
        said.line for said in code.of("ACCEPT") if "FROM" not in said.keys and not _PLACES.isdisjoint(said.keys[2:])
    )
    return next(chain(declared, asked), None)


class _Deeds:
    """Collects what is done with each resource."""

    def __init__(self) -> None:
        self._by: dict[tuple[str, str], tuple[str, dict[str, set[int]]]] = {}

    def add(self, kind: str, name: str, deed: str, line: int) -> None:
        """Add what a line does with a resource."""
        _, lines = self._by.setdefault((kind, key(name)), (name, {}))
        lines.setdefault(deed, set()).add(line)

    def found(self) -> tuple[Access, ...]:
        """Return the accesses, ordered by kind and name."""
        rows = sorted(self._by.items(), key=lambda row: (_ORDER.get(row[0][0], 9), row[0]))
        return tuple(
            Access(name, kind, *(tuple(sorted(lines.get(deed, ()))) for deed in ("create", "read", "update", "delete")))
            for (kind, _), (name, lines) in rows
        )


class _Channels:
    """Collects inputs or outputs: one for each name and type."""

    def __init__(self) -> None:
        self._by: dict[tuple[str, str], tuple[str, set[int], str | None]] = {}

    def add(self, name: str, io_type: str, lines: Iterable[int], copybook: str | None = None) -> None:
        """Add lines of an input or output; the first call for it determines its spelling and copybook."""
        self._by.setdefault((key(name), io_type), (name, set(), copybook))[1].update(lines)

    def found(self) -> tuple[Channel, ...]:
        """Return the channels, ordered by their first line, and by name whatever its case."""
        rows = [
            Channel(name, io_type, tuple(sorted(lines)), copybook)
            for (_, io_type), (name, lines, copybook) in self._by.items()
        ]
        return tuple(sorted(rows, key=lambda row: (row.lines[:1], key(row.name))))


def _named(name: str, resolved: Sequence[Resolved]) -> Sequence[str]:
    """Return the names that a resource may have: its literal, the values of its item, or the name of the item."""
    if name[:1] in "'\"":
        return (name.strip("'\"").rstrip(),)
    return tuple(one.value for one in resolved) or (name,)


def _cics(cics: Sequence[CicsOperation], into: _Channels, out: _Channels, names: DataNames) -> None:
    """Collect the screens, containers and areas that CICS commands receive and send; what goes to another program, under the
    identifier of their conversation.
    """
    for one in cics:
        lines = (one.line,)
        if one.command in {"SEND MAP", "RECEIVE MAP"} and one.resource:
            side = out if one.command == "SEND MAP" else into
            for name in _named(one.resource, one.resolved):
                # Several mapsets may have a map called MAP.
                side.add(
                    f"{one.mapset}.{name}" if one.mapset else name,
                    "map",
                    lines,
                    _where(one.option("FROM", "INTO"), names),
                )
        elif partner := one.option("CONVID", "SESSION"):
            for side in _sides(one.command, into, out):
                side.add(partner, "conversation", lines, _where(partner, names))
        elif one.command in {"SEND TEXT", "SEND", "SEND CONTROL", "CONVERSE"}:
            out.add("terminal", "screen", lines)
        elif one.command in {"RECEIVE", "RETRIEVE"}:
            name = one.option("INTO", "SET") or "terminal"
            into.add(name, "screen" if one.command == "RECEIVE" else "start data", lines, _where(name, names))
        elif one.command in _WEB_IN | _WEB_OUT:
            for side, options, among in ((into, _WEB_INTO, _WEB_IN), (out, _WEB_FROM, _WEB_OUT)):
                if one.command in among:
                    name = one.option(*options) or "web"
                    side.add(name, "web", lines, _where(name, names))
        elif one.command in {"GET CONTAINER", "PUT CONTAINER"} and one.resource:
            side = into if one.command == "GET CONTAINER" else out
            for name in _named(one.resource, one.resolved):
                side.add(name, "container", lines)
        elif one.command in {"RETURN", "XCTL", "LINK", "START"}:
            area = one.option("COMMAREA", "FROM")
            if area:
                out.add(area, "commarea" if one.option("COMMAREA") else "start data", lines, _where(area, names))


def _sides(command: str, into: _Channels, out: _Channels) -> Iterator[_Channels]:
    """Yield what a command of a conversation belongs to: none if it only begins or ends one."""
    if command in {"RECEIVE", "CONVERSE"}:
        yield into
    if command in {"SEND", "CONVERSE"}:
        yield out


def _where(name: str | None, names: DataNames) -> str | None:
    """Return the copybook that declares a named item."""
    index = names.one(name) if name else None
    return names.items[index].copybook if index is not None else None


def _statements(code: Code, names: DataNames, into: _Channels, out: _Channels) -> None:
    """Collect ACCEPT and DISPLAY: the screens that they name, or else SYSIN and SYSOUT without FROM and UPON; FROM a position on
    the screen is SYSIN, too, and UPON a window, whose handle is in an item, is SYSOUT.

    The ACCEPT of IDMS gets the key of a record, and does not read from a console. DISPLAY AND READ names the file of a workstation.
    """
    for said in code.of("ACCEPT", "DISPLAY", "DISPLAY AND READ"):
        screens = list(_screens_named(said.keys, names)) if said.verb != "DISPLAY AND READ" else []
        if screens:
            for screen in screens:
                (into if said.verb == "ACCEPT" else out).add(screen.name, "screen", (said.line,), screen.copybook)
        elif said.verb == "ACCEPT" and len(said.keys) > 1 and "CURRENCY" not in said.keys:
            name = said.keys[said.keys.index("FROM") + 1] if "FROM" in said.keys[:-1] else "SYSIN"
            name = "SYSIN" if name in {"LINE", "COLUMN"} else name
            kind = "clock" if name in _CLOCK else "environment" if name in _ENVIRONMENT else "console"
            into.add(name, kind, (said.line,))
        elif said.verb == "DISPLAY AND READ":
            name = said.keys[said.keys.index("ON") + 1] if "ON" in said.keys[:-1] else "workstation"
            into.add(name, "screen", (said.line,))
            out.add(name, "screen", (said.line,))
        elif said.verb == "DISPLAY":
            name = said.keys[said.keys.index("UPON") + 1] if "UPON" in said.keys[:-1] else "SYSOUT"
            name = "SYSOUT" if name in names.known else name
            out.add(name, "environment" if name in _ENVIRONMENT else "console", (said.line,))


def _screens_named(keys: Sequence[str], names: DataNames) -> Iterator[DataItem]:
    """Yield the screens, or the parts of some, that the first operands of a statement are; none if the first is anything else."""
    at = 1
    while at < len(keys):
        end = at + 1 + 2 * len(qualifiers(keys, at + 1))
        index = names.one(" ".join(keys[at:end]))
        if index is None or not _is_of_screen(names.items[index]):
            return
        yield names.items[index]
        at = end


def _is_of_screen(item: DataItem) -> bool:
    """Return whether an item is a screen or a part of one."""
    return item.section == "SCREEN" or item.usage == SCREEN_USAGE


def _parameters(code: Code, names: DataNames, into: _Channels, out: _Channels) -> None:
    """Collect USING and DFHCOMMAREA: a parameter written, even in part, is an output, and an input only if it is also read. What
    the program returns is an output. SET ADDRESS OF a parameter gives it another place, and the caller sees nothing of it.
    """
    placed = {said.line for said in code.of("SET") if said.keys[1:2] == ("ADDRESS",) and said.copybook is None}
    division = code.program.division("PROCEDURE")
    line = division.start_line if division else code.program.start_line
    used = list(code.program.using)
    area = names.one("DFHCOMMAREA")
    if area is not None and "DFHCOMMAREA" not in map(key, used):
        item = names.items[area]
        into.add(item.name, "commarea", item.read_lines or (item.line,), item.copybook)
    returned = code.program.returning
    for name in (*used, *filter(None, (returned,))):
        index = names.one(name)
        items = [names.items[one] for one in (index, *names.below(index))] if index is not None else []
        written = sorted({at for item in items for at in item.written_lines} - placed)
        copybook = items[0].copybook if items else None
        if name != returned and (not written or _is_looked_at(items, names)):
            into.add(name, "parameter", (line,), copybook)
        if written or name == returned:
            out.add(name, "parameter", written or (line,), copybook)


def _is_looked_at(items: Sequence[DataItem], names: DataNames) -> bool:
    """Return whether the content of a parameter may matter: it is read, passed on, or redefined."""
    return any(
        item.read_lines or item.passed_lines or any(condition.read_lines for condition in item.conditions)
        for item in items
    ) or any(item.redefines is not None and key(item.redefines) == key(items[0].name) for item in names.items)


def _is_parm(using: Sequence[str], names: DataNames) -> bool:
    """Return whether the parameters are what PARM of JCL passes to a main program.

    That is a single parameter beginning with its length in two binary bytes: such a program is started by a job, not called.
    """
    index = names.one(using[0]) if len(using) == 1 else None
    if index is None:
        return False
    below = names.children.get(index, [])
    first = names.items[below[0]] if below else names.items[index]
    return first.bytes == 2 and first.usage in {"COMP", "COMP-4", "COMP-5", "BINARY"} and len(below) >= 2

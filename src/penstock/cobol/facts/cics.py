"""Which CICS commands does a program issue, which resource does each act on, and how is its failure handled?

Leaves to others: where a resource is defined (`estate`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..program import key
from .group_texts import DATA
from .resources import RUNNING, CicsOperation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from .code import Block, Code
    from .execs import ExecCommand
    from .file_names import FileNames
    from .reaching import Reaching
    from .resources import Resolved

# For each group of commands: the options that name the resource, of which the first present counts, and its kind.
_RESOURCES: tuple[tuple[frozenset[str], tuple[str, ...], str], ...] = (
    (
        frozenset(
            ["READ", "READNEXT", "READPREV", "WRITE", "REWRITE", "DELETE", "UNLOCK", "STARTBR", "RESETBR", "ENDBR"]
        ),
        ("FILE", "DATASET"),
        "file",
    ),
    (frozenset({"SEND MAP", "RECEIVE MAP"}), ("MAP",), "map"),
    (frozenset({"READQ TS", "WRITEQ TS", "DELETEQ TS"}), ("QUEUE", "QNAME"), "tsqueue"),
    (frozenset({"READQ TD", "WRITEQ TD", "DELETEQ TD"}), ("QUEUE", "QNAME"), "tdqueue"),
    (frozenset({"LINK", "XCTL", "LOAD", "RELEASE"}), ("PROGRAM",), "program"),
    (frozenset({"START", "RETURN", "CANCEL", "RUN"}), ("TRANSID",), "transaction"),
    (frozenset({"GET CONTAINER", "PUT CONTAINER", "DELETE CONTAINER", "MOVE CONTAINER"}), ("CONTAINER",), "container"),
    (frozenset({"ENQ", "DEQ"}), ("RESOURCE",), "lock"),
    (frozenset({"ABEND"}), ("ABCODE",), "abend"),
    (frozenset({"HANDLE ABEND"}), ("LABEL", "PROGRAM"), "label"),
    (frozenset({"INVOKE SERVICE", "INVOKE WEBSERVICE"}), ("SERVICE", "WEBSERVICE"), "service"),
)
_BY_COMMAND = {name: (options, kind) for names, options, kind in _RESOURCES for name in names}
_ASKING = frozenset({"ASSIGN", "ADDRESS"})
"""The commands without a resource: all their options are items that they fill."""
_ADMINISTERING = frozenset({"INQUIRE", "SET", "DISCARD", "CREATE", "ENABLE", "DISABLE"})
"""The commands whose first option names the resource; the others are attributes that they return or set."""
# For every other command (WAIT, QUERY): the options that name a resource, of which the first present counts.
_ANY = (
    ("FILE", "file"),
    ("DATASET", "file"),
    ("PROGRAM", "program"),
    ("TRANSACTION", "transaction"),
    ("TRANSID", "transaction"),
    ("TSQUEUE", "tsqueue"),
    ("TDQUEUE", "tdqueue"),
    ("CONTAINER", "container"),
    ("CHANNEL", "channel"),
    ("RESOURCE", "lock"),
    ("COUNTER", "counter"),
    ("QUEUE", "tsqueue"),
)


_COMPOSED = frozenset({"tsqueue", "tdqueue", "transaction"})
"""The resources whose names programs put together, often with that of the terminal."""
_MOST_OF_TRANSACTION = 4


def operations(code: Code, reaching: Reaching, names: FileNames) -> tuple[CicsOperation, ...]:
    """Return the EXEC CICS blocks in order, including those in copybooks.

    Args:
        code: The statements and blocks.
        reaching: The values that data items can have at a block, for resources that a data item names.
        names: The names that items may have anywhere, also composed ones.
    """
    blocks = [block for block in code.blocks if block.exec.kind == "CICS" and block.command.name]
    if not blocks:
        return ()
    named = [name for block in blocks if (name := _variable(block.command)) is not None]
    mapsets = [name for block in blocks if (name := block.command.get("MAPSET")) and name[0] not in "'\""]
    reaching.follow([*named, *mapsets])
    return tuple(_operation(block, code, reaching, names) for block in blocks)


def _operation(block: Block, code: Code, reaching: Reaching, names: FileNames) -> CicsOperation:
    """Return the operation of one block."""
    command = block.command
    name, kind = _resource(command)
    variable = _variable(command)
    reached = None if variable is None else reaching.at_block(variable, block)
    resp = command.get("RESP")
    values = reached.values if reached else ()
    if variable is not None and kind in _COMPOSED and not values:
        values = tuple(_composed(names.of(variable), is_whole=kind == "transaction"))
    response: Literal["RESP", "NOHANDLE", ""] = "RESP" if resp else "NOHANDLE" if command.has("NOHANDLE") else ""
    return CicsOperation(
        command=command.name,
        resource=name,
        kind=kind,
        resolved=values,
        resp=resp or None,
        response=response,
        options=command.options,
        line=block.line,
        end_line=block.end_line,
        paragraph=code.name(block.paragraph, block.header),
        copybook=block.copybook,
        is_sure=reached is None or reached.is_sure,
        unknown=reached.unknown if reached else "",
        mapset=_mapset(block, reaching),
        is_running=key(name or "") == RUNNING or (reached is not None and reached.is_running),
    )


def _composed(values: tuple[Resolved, ...], *, is_whole: bool) -> Iterator[Resolved]:
    """Yield the names that a program composes.

    Args:
        values: The names, with `*` for what is data.
        is_whole: Whether a name counts only if all of it is known, as that of a transaction.
    """
    for value in values:
        if not is_whole or (DATA not in value.value and len(value.value) <= _MOST_OF_TRANSACTION):
            yield value


def _mapset(block: Block, reaching: Reaching) -> str | None:
    """Return the mapset of a map, by default that of the map's own name; None unless a literal, or an item that can only have
    one value, gives it.
    """
    text = block.command.get("MAPSET") or block.command.get("MAP")
    if not text:
        return None
    if text[0] in "'\"":
        return key(text.strip("'\" "))
    reached = reaching.at_block(text, block)
    return key(reached.values[0].value) if reached.is_sure else None


def _variable(command: ExecCommand) -> str | None:
    """Return the data item that names the resource of a command; None if it is a literal or a label, or there is none."""
    name, kind = _resource(command)
    return name if name and name[0] not in "'\"" and kind != "label" else None


def _resource(command: ExecCommand) -> tuple[str | None, str | None]:
    """Return the name and the kind of a command's resource; (None, None) if it names none."""
    known = _BY_COMMAND.get(command.name)
    if known is not None:
        options, kind = known
        name = command.get(*options)
        if name is None and command.name == "START":
            return command.get("CHANNEL"), "channel"
        return (name, kind) if name else (None, None)
    if command.name in _ASKING:
        return None, None
    if command.name in _ADMINISTERING and command.options:
        option, name = command.options[0]
        return (name, dict(_ANY).get(option, option.lower())) if name else (None, None)
    for option, kind in _ANY:
        name = command.get(option)
        if name:
            return name, kind
    return None, None

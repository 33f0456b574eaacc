"""Which files does a program use: SELECT, FD or SD, records and statements, joined by name?

Leaves to others: which data set a job assigns to a DD name (`estate`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, TypeAlias

from ..program import Warned, key, number, unquoted
from ..reserved import is_reserved
from ..words import vocabulary
from .item_clauses import pieces
from .naming import past_qualifiers
from .resources import FileUse, OuterFile, ProgramFile

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from .code import Code, ReadStatement
    from .data import DataItem, OuterData
    from .expanding import EntryRow
    from .naming import DataNames
    from .resources import Resolved

MAX_RECORDS = 64
"""How many records of a file a READ is taken to fill: each is an edge of its own, and a file may have as many as READs. The most of
4,415 descriptions in public estates are 12 (2026-11-30)."""
_NOISE = frozenset({"TO", "IS", "ARE", "MODE", "KEY", "RECORD", "WITH"})
_CLAUSES = vocabulary("""
    ASSIGN ORGANIZATION ORGANISATION ACCESS RECORD ALTERNATE RELATIVE FILE STATUS RESERVE PADDING LOCK SHARING
    COLLATING PASSWORD SEQUENTIAL INDEXED LINE BLOCK SYMBOLIC FORMAT GROUP SELECTED PROCESSING RECORDING WITH PFKEY CURSOR
""")
_ORGANIZATIONS = frozenset({"SEQUENTIAL", "INDEXED", "RELATIVE", "TRANSACTION"})
_ENDING = frozenset({"SEQUENTIAL", "INDEXED"})
_DEVICES = vocabulary("""
    DISK DISC TAPE PRINTER PRINT KEYBOARD DISPLAY CARD-READER CASSETTE EXTERNAL DYNAMIC ADVANCING REEL UNIT
    USING RANDOM INPUT OUTPUT INPUT-OUTPUT LINE FILE
""")
TERMINAL = ""
"""The name by which `answers` has what no file names."""
_STORES = frozenset({"DISK", "DISC", "TAPE", "CASSETTE", "RANDOM", "CARD-READER", "INPUT", "OUTPUT", "INPUT-OUTPUT"})
"""The devices whose files compilers without JCL give the name of the SELECT, if nothing else names them (GnuCOBOL 3.1, MCP)."""
_ANSWERING = frozenset({"PFKEY", "CRT", "CURSOR", "SELECTED"})
_SHOWING = frozenset({"FORMAT", "GROUP", "PROCESSING"})
"""What precedes the items that `answers` and `formats` find, without optional words."""
_BUFFERS = frozenset({"AREA", "AREAS"})
"""What follows ALTERNATE in RESERVE NO ALTERNATE AREA, which names no key."""
_BEHIND_KEYS = frozenset({"BUFFER", "DUPLICATE", "NOMINAL", "TRACK-AREA"})
"""What dialects say of a key behind its items, in words that are not reserved."""
_BETWEEN_KEYS = frozenset({"IS", "ARE", "=", "SOURCE"})
_SIZES = frozenset({"IS", "CONTAINS", "VARYING", "IN", "SIZE", "FROM", "TO"})
_MODES = frozenset({"INPUT", "OUTPUT", "I-O", "EXTEND"})
_WRITES = frozenset({"WRITE", "REWRITE"})
_VERBS = ("OPEN", "CLOSE", "READ", "DELETE", "START", "RETURN", "WRITE", "REWRITE", "RELEASE", "SORT", "MERGE")
_LABELS = frozenset({"S", "AS", "UT", "UR", "DA"})
_UNIT = re.compile(r"(?P<unit>SYS\d{3})-(?:UT|UR|DA)-\d++[A-Z]?(?:-[A-Z])?(?:-(?P<name>[A-Z0-9$#@]{2,}))?")
_CLASS = re.compile(r"(?:UT|UR|DA)-(?:\d++[A-Z]?-)?[SAIRDW]-(?P<name>[A-Z0-9$#@]++)")
_DEVICE = re.compile(
    r"(?:DATABASE|WORKSTATION|FORMATFILE|TAPEFILE|DISKETTE)-(?P<name>[A-Z][A-Z0-9$#@_.]*+)(?:-SI|-ALWNULL)*"
)
_DESIGNATED = re.compile(r"([A-Za-z][\w./]*+),")
"""The name of a file on the HP 3000, before its class, mode, device and size: `"STOCKS,,,DISC(CCTL),5000"`."""
_UNITS = frozenset({"CDP", "CDR", "DSK", "DTA", "LPT", "MTA", "PTP", "PTR", "TTY"})
"""The devices of the PDP-10: names like others unless the description of the file names it."""
_MASS_STORAGE = "-MSD"
"""What follows the name of a file on NEC's systems: its device. In a job on ACOS this is the name of the file, on A-VX a number."""
_TITLES = frozenset({"FILE-ID", "ID", "IDENTIFICATION", "FILE-TITLE", "TITLE", "FILENAME"})
"""The words of VALUE OF that name a file whose ASSIGN names only a device."""
_DD = re.compile(r"[A-Z$#@][A-Z0-9$#@]{0,7}")
"""What can be a DD name in a job."""
_Resolve: TypeAlias = "Callable[[str], tuple[Resolved, ...] | None]"
"""Returns the values that a data item may have: none if they are not known, None for a name that is not an item's."""


def record_names(rows: Sequence[EntryRow], items: Sequence[DataItem]) -> dict[str, list[int]]:
    """Return the indexes of the level 01 items of each file, by the file's name in capitals."""
    named: dict[str, list[int]] = {
        key(row.entry.name): [] for row in rows if row.entry.word == "SELECT" or _describes(row)
    }
    return named | records_of(items)


def records_of(items: Iterable[DataItem]) -> dict[str, list[int]]:
    """Return the indexes of the level 01 items of each file that has any, by the file's name in capitals."""
    found: dict[str, list[int]] = {}
    for index, item in enumerate(items):
        if item.file is not None and item.level == 1:
            found.setdefault(key(item.file), []).append(index)
    return found


def filled(*records: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Return the records of each file that a READ fills, of all that are given; a later file hides an earlier one of its name."""
    return {file: indexes[:MAX_RECORDS] for some in records for file, indexes in some.items()}


def lengths(rows: Sequence[EntryRow]) -> dict[str, tuple[str, ...]]:
    """Return the name and qualifiers of the item that holds the record length of each file, by the file's name in capitals.

    RECORD VARYING DEPENDING ON names it: a READ sets it, and a WRITE uses it.
    """
    found = {}
    for row in filter(_describes, rows):
        words = pieces(row.code)
        upper = [word.upper() for word in words]
        at = upper.index("DEPENDING") + 1 if "DEPENDING" in upper else len(words)
        at += upper[at : at + 1] == ["ON"]
        if names := words[at : past_qualifiers(upper, at + 1) : 2]:
            found[key(row.entry.name)] = tuple(names)
    return found


def answers(rows: Sequence[EntryRow]) -> dict[str, tuple[str, ...]]:
    """Return the items that get the key which ended an input and the place of the cursor, by the file's name in capitals, and by
    `TERMINAL` those of every ACCEPT.

    Wang's VS names them in the SELECT of a workstation: PFKEY IS K, CURSOR POSITION IS C; X/Open and the compilers of PCs in
    SPECIAL-NAMES: CRT STATUS IS K, CURSOR IS C; NetCOBOL in the SELECT of a display: SELECTED FUNCTION IS K.
    """
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        if row.entry.word == "SELECT" or row.section == "SPECIAL-NAMES":
            words = [word for word in pieces(row.code) if word.upper() not in {"IS", "POSITION", "STATUS", "FUNCTION"}]
            named = tuple(item for word, item in pairwise(words) if word.upper() in _ANSWERING)
            at = key(row.entry.name) if row.entry.word == "SELECT" else TERMINAL
            if named:
                found[at] = (*found.get(at, ()), *named)
    return found


def formats(rows: Sequence[EntryRow]) -> dict[str, tuple[str, ...]]:
    """Return the items that name the screen format of a display and its group of fields, by the name of its file in capitals.

    NetCOBOL names them in the SELECT, FORMAT IS F GROUP IS G PROCESSING MODE IS M; each READ and WRITE looks at them.
    """
    found = {}
    for row in rows:
        if row.entry.word == "SELECT" and "FORMAT" in row.code.upper():
            words = [word for word in pieces(row.code) if word.upper() not in {"IS", "MODE"}]
            if named := tuple(item for word, item in pairwise(words) if word.upper() in _SHOWING):
                found[key(row.entry.name)] = named
    return found


def outer_records(names: DataNames, outer: Sequence[OuterData], own: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Return the records of the GLOBAL files of containing programs, by file; a file of the program's own, or of a nearer one,
    hides others of the same name.
    """
    found: dict[str, list[int]] = {}
    start = names.own
    for data in outer:
        nearer = {*own, *found}
        for index in range(start, start + len(data.items)):
            item = names.items[index]
            if item.file and item.level == 1 and item.shared == "GLOBAL" and key(item.file) not in nearer:
                found.setdefault(key(item.file), []).append(index)
        start += len(data.items)
    return found


def outer_files(
    code: Code, names: DataNames, outer: Sequence[OuterData], records: dict[str, list[int]]
) -> tuple[OuterFile, ...]:
    """Return the GLOBAL files of containing programs that a nested program uses.

    Args:
        code: The statements of the nested program.
        names: The items.
        outer: The data of the containing programs.
        records: The records of their files, as `outer_records` returns them.
    """
    found = []
    for name, uses in _uses(code, names.items, records, names.known).items():
        at = records[name][0] - names.own
        for data in outer:
            if at < len(data.items):
                found.append(OuterFile(data.program, data.items[at].file or name, tuple(uses)))
                break
            at -= len(data.items)
    return tuple(found)


def files(
    rows: Sequence[EntryRow],
    items: Sequence[DataItem],
    records: dict[str, list[int]],
    known: Container[str],
    code: Code,
    resolve: Callable[[str], tuple[Resolved, ...]],
) -> tuple[ProgramFile, ...]:
    """Return every file that has a SELECT or a description, with its uses.

    Args:
        rows: The entries, with copybooks in place.
        items: The data items.
        records: The records of each file, as `record_names` returns them.
        known: The names of all items in capitals, including those of containing programs.
        code: The statements.
        resolve: Returns the values that a data item may have, for `ASSIGN TO item`.
    """
    described = {key(row.entry.name): row for row in filter(_describes, rows)}
    texts = {key(item.name) for item in items if item.picture and item.file is None}

    def values(name: str) -> tuple[Resolved, ...] | None:
        return resolve(name) or (() if key(name) in texts else None)

    found: dict[str, ProgramFile] = {}
    for row in rows:
        if row.entry.word == "SELECT":
            file = _selected(row, values)
            found.setdefault(key(file.name), file)
    for name, row in described.items():
        found.setdefault(
            name, ProgramFile(name=row.entry.name, line=row.line, end_line=row.end_line, copybook=row.copybook)
        )
    uses = _uses(code, items, records, known, {name for name, file in found.items() if file.dd in _UNITS})
    return tuple(
        _described(
            _titled(file, described[name], values) if name in described and _has_only_a_device(file) else file,
            described.get(name),
            items,
            records.get(name, ()),
            uses.get(name, ()),
        )
        for name, file in found.items()
    )


def selected_again(rows: Sequence[EntryRow]) -> tuple[Warned, ...]:
    """Return a note on each SELECT of a file that has one before: compilers refuse it, and `files` takes the first."""
    seen: set[str] = set()
    notes = []
    for row in rows:
        if row.entry.word == "SELECT":
            name = key(row.entry.name)
            if name in seen:
                notes.append(
                    Warned(row.line, f"SELECT {row.entry.name}: one above has this name, and is taken instead")
                )
            seen.add(name)
    return tuple(dict.fromkeys(notes))


def run_alone(files: Sequence[ProgramFile], unreached: frozenset[tuple[int, str]]) -> tuple[ProgramFile, ...]:
    """Return the files with `FileUse.is_run` set, which is False in copied paragraphs that nothing runs."""
    return tuple(
        replace(file, uses=tuple(use._replace(is_run=(use.line, use.header) not in unreached) for use in file.uses))
        for file in files
    )


def _describes(row: EntryRow) -> bool:
    """Return whether an entry describes a file; an SD in the SCREEN SECTION of NEC's systems is a screen."""
    return row.entry.word in {"FD", "SD"} and row.section != "SCREEN"


def _has_only_a_device(file: ProgramFile) -> bool:
    """Return whether the name of a file in its description, if that says one, precedes what ASSIGN names."""
    return not file.dd or file.dd in _UNITS or any(word.upper().endswith(_MASS_STORAGE) for word in file.assign)


def _titled(file: ProgramFile, row: EntryRow, resolve: _Resolve) -> ProgramFile:
    """Return a file with the name that VALUE OF FILE-ID in its description gives it, or else that of its SELECT; OF may be left
    out, and the work file of a sort has no name.
    """
    words = pieces(row.code)
    upper = [word.upper() for word in words]
    for at, word in enumerate(upper[1:-1], start=1):
        if word in _TITLES and upper[at - 1] in {"OF", "VALUE"}:
            said = words[at + 1 + (upper[at + 1] == "IS") :][:1]
            dd, named_by = _dd(said, resolve)
            is_titled = bool(said) and said[0][0] in "'\""
            # An item without a value says less than the name in ASSIGN.
            is_known = is_titled or bool(named_by) or not file.dd
            return replace(file, dd=dd, named_by=named_by, is_titled=is_titled) if is_known else file
    is_stored = bool(file.assign) and row.entry.word == "FD" and all(word.upper() in _STORES for word in file.assign)
    return replace(file, dd=file.name, is_named_by_select=True) if is_stored else file


def _described(
    file: ProgramFile, row: EntryRow | None, items: Sequence[DataItem], records: Sequence[int], uses: Sequence[FileUse]
) -> ProgramFile:
    """Return a file with everything that its description and its statements add to the SELECT."""
    return replace(
        file,
        kind=None if row is None else "SD" if row.entry.word == "SD" else "FD",
        description_line=row.line if row else None,
        records=tuple(items[index].name for index in records),
        uses=tuple(uses),
        io=tuple(dict.fromkeys(use.mode for use in uses if use.verb == "OPEN" and use.mode)),
        record_bytes=None if row is None else _record_bytes([word.upper() for word in pieces(row.code)]),
    )


def _record_bytes(words: Sequence[str]) -> tuple[int, int] | None:
    """Return the minimum and maximum bytes of a record that a description gives, as in RECORD CONTAINS 20 TO 80."""
    at = words.index("RECORD") + 1 if "RECORD" in words else len(words)
    sizes = takewhile(lambda word: word in _SIZES or word.isdigit(), words[at:])
    figures = [size for word in sizes if (size := number(word)) is not None]
    return (figures[0], figures[-1]) if figures else None


def _selected(row: EntryRow, resolve: _Resolve) -> ProgramFile:
    """Return the file that a SELECT names, read clause by clause."""
    # Without pictures, a comma within a word separates, too: RANDOM,STOCK-WS or, for a sort on the PDP-10, DSK,DSK,DSK.
    words = [part for word in pieces(row.code) for part in ([word] if word[0] in "'\"" else word.split(",")) if part]
    upper = [word.upper() for word in words]
    at = 2 if upper[1:2] == ["OPTIONAL"] else 1
    name = words[at] if at < len(words) else row.entry.name
    organization = access = "SEQUENTIAL"
    assign: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    keys: list[str] = []
    at += 1
    while at < len(words):
        word = upper[at]
        at, end = _operands(upper, at)
        operands, following = words[at:end], upper[at] if at < len(words) else ""
        if word == "ASSIGN":
            assign = tuple(operands)
        elif word == "STATUS":
            status = tuple(_qualified(operands))[:2]
        elif word == "ACCESS":
            access = following
            # The PDP-10 has no ORGANIZATION.
            organization = access if access == "INDEXED" else organization
            at += 1
        elif word == "LINE" and following == "SEQUENTIAL":
            organization = "LINE SEQUENTIAL"
            at += 1
        elif word == "RELATIVE" and operands:
            keys += _qualified(operands)[:1]
        elif word in _ORGANIZATIONS:
            organization = word
        elif word == "ALTERNATE" and operands and following not in _BUFFERS:
            keys += _alternate_keys(operands)
        elif word == "RECORD" and operands and operands[0].upper() != "DELIMITER":
            keys += _key(operands)
    dd, named_by = _dd(assign, resolve)
    return ProgramFile(
        name=name,
        line=row.line,
        end_line=row.end_line,
        assign=assign,
        dd=dd,
        named_by=named_by,
        organization=organization,
        access=access,
        keys=tuple(dict.fromkeys(keys)),
        status=status,
        copybook=row.copybook,
    )


def _operands(upper: list[str], at: int) -> tuple[int, int]:
    """Return where the operands of the word at an index begin, and where they end: at the next word that begins a clause."""
    word = upper[at]
    # Clauses may be in any order and most of their words are optional. INDEXED ends its clause: RECORD after it begins the next.
    begin = end = _past(upper, at + 1) if word in _CLAUSES and word not in _ENDING else at + 1
    if word == "ASSIGN" and upper[begin : begin + 2] == ["LINE", "ADVANCING"]:  # of a printer, not an organization
        begin, end = begin + 2, begin + 3
    while end < len(upper) and upper[end] not in _CLAUSES:
        end += 1
    return begin, end


def _alternate_keys(words: Sequence[str]) -> list[str]:
    """Return the names in an ALTERNATE KEY; one clause of Wang's VS has them all: `01 IS A DUPLICATES 02 IS B`."""
    behind = (at + 1 for at, word in enumerate(words[:-1]) if word.upper() == "IS")
    return [name for at in (0, *behind) for name in _key(words[at:]) if not name.isdigit()]


def _key(words: Sequence[str]) -> list[str]:
    """Return the names in a RECORD KEY: its item, in NetCOBOL its items, or a key name and its items, as in `NAME = A B` and
    `NAME SOURCE IS A B`. Behind them, a dialect may say more of the key: DESCENDING, NOMINAL KEY.
    """
    parts = [part for word in words for part in re.split("(=)", word)]  # NAME=A is one word, too
    names = _qualified([part for part in parts if part and part.upper() not in _BETWEEN_KEYS])
    return [*names[:1], *takewhile(lambda name: not _is_behind_keys(name.partition(" ")[0].upper()), names[1:])]


def _is_behind_keys(word: str) -> bool:
    """Return whether a word, in capitals, begins what a dialect says of a key, such as DESCENDING; a name is no reserved word.

    Whether it is an item is not asked: the copybook that declares it may be missing.
    """
    return word in _BEHIND_KEYS or is_reserved(word)


def _qualified(words: Sequence[str]) -> list[str]:
    """Return the names among words, each with its qualifiers, as in `KEY-1 OF R KEY-2`."""
    keys = [word.upper() for word in words]
    found: list[str] = []
    at = 0
    while at < len(words):
        end = past_qualifiers(keys, at + 1)
        found.append(" ".join(words[at:end]))
        at = end
    return found


def _past(upper: list[str], at: int) -> int:
    """Return the index after the optional words between a clause and its operands."""
    while at < len(upper) and upper[at] in _NOISE:
        at += 1
    return at


def _dd(assign: Sequence[str], resolve: _Resolve) -> tuple[str | None, tuple[Resolved, ...]]:
    """Return the DD name that an ASSIGN results in: a literal, the first value of a data item (with all its values), or the last
    part of `UT-S-NAME`; None for an item without a known value, unless IBM's compilers, to which an item means nothing here, could
    take its name for that of a DD.
    """
    upper = [name.upper() for name in assign]
    if "USING" in upper:  # the item that has the name; on the HP 3000, a device may precede it
        assign = assign[upper.index("USING") + 1 :]
    names = [name for name in assign if name.upper() not in _DEVICES]
    if not names:
        return None, ()
    # After a device, whatever its name, a literal is the file's name: RANDOM, "STOCK.DAT".
    literals = (name for name in names if name[0] in "'\"")
    name = next(literals, names[-1] if names[0].upper() == "TO" else names[0])
    if name[0] in "'\"":
        said = unquoted(name)
        return (designated[1] if (designated := _DESIGNATED.match(said)) else said), ()
    found = resolve(name)
    if found:
        return found[0].value, found
    if found is not None and not _DD.fullmatch(name.upper()):
        return None, ()
    # UT-S-NAME and SYS020-UR-3203-NAME: unit, device class, device and organization are comments to the compiler; the last
    # part is the name, or the unit if there is none. On IBM i a device precedes the name. A name with other parts is one name.
    label, _, last = name.upper().rpartition("-")
    if classed := _CLASS.fullmatch(name.upper()):
        return classed["name"], ()
    if unit := _UNIT.fullmatch(name.upper()):
        return unit["name"] or unit["unit"], ()
    if device := _DEVICE.fullmatch(name.upper()):
        return device["name"], ()
    return last if label.rpartition("-")[2] in _LABELS else name.upper().removesuffix(_MASS_STORAGE), ()


def _uses(
    code: Code,
    items: Sequence[DataItem],
    records: dict[str, list[int]],
    known: Container[str],
    parted: Container[str] = (),
) -> dict[str, list[FileUse]]:
    """Return the uses of each file by statements, by the file's name in capitals; `parted` are the files of the PDP-10."""
    # WRITE and REWRITE name a record; the file is the one whose description contains it. On the PDP-10 they may name a part
    # of a record. Other compilers refuse that, or compile it to nothing (GnuCOBOL 3.1).
    by_record = {
        key(item.name): key(item.file)
        for item in items
        if item.file is not None and key(item.file) in parted and item.name != "FILLER"
    }
    by_record |= {key(items[index].name): file for file, indexes in records.items() for index in indexes}
    hidden = _hidden(code, records)
    uses: dict[str, list[FileUse]] = {}
    for said in code.of(*_VERBS) if records else ():
        for named, mode in _named(said, by_record):
            is_hidden = not named and said.verb in _WRITES and said.operand not in known
            name = hidden if is_hidden else named
            if name in records:
                uses.setdefault(name, []).append(
                    FileUse(said.verb, said.line, said.end_line, mode, said.copybook, said.header)
                )
    return uses


def _hidden(code: Code, records: dict[str, list[int]]) -> str:
    """Return the only file that is written and has no record, because its copybook is not here; "" if there are several.

    A WRITE of a record that nothing declares can only be of this one.
    """
    opened = (one for said in code.of("OPEN") for one in _named(said, {}))
    written = {name for name, mode in opened if mode not in {None, "INPUT"} and records.get(name) == []}
    return written.pop() if len(written) == 1 else ""


def _named(said: ReadStatement, by_record: dict[str, str]) -> list[tuple[str, str | None]]:
    """Return the files of a statement, with the mode of an OPEN or the phrase of a SORT; a WRITE names the record instead."""
    keys = said.keys
    verb = said.verb
    if verb == "OPEN":
        found: list[tuple[str, str | None]] = []
        mode: str | None = None
        for word in keys[1:]:
            if word in _MODES:
                mode = word
            else:
                found.append((word, mode))
        return found
    if verb == "CLOSE":
        return [(word, None) for word in keys[1:]]
    if verb in {"READ", "DELETE", "START", "RETURN"}:
        name = keys[2] if verb == "DELETE" and keys[1:2] == ("FILE",) else said.operand
        return [(name, None)]
    if verb in {"WRITE", "REWRITE", "RELEASE"}:
        if keys[1:2] == ("FILE",):
            return [(keys[2], None)] if len(keys) > 2 else []
        name = said.operand
        qualifier = keys[3] if keys[2:3] and keys[2] in {"OF", "IN"} and len(keys) > 3 else None
        return [(qualifier or by_record.get(name, ""), None)]
    if verb in {"SORT", "MERGE"}:
        found = [(keys[1], None)] if len(keys) > 1 else []
        mode = None
        for word in keys[2:]:
            mode = word if word in {"USING", "GIVING"} else None if word in {"INPUT", "OUTPUT", "COLLATING"} else mode
            if mode and word != mode:
                found.append((word, mode))
        return found
    return []

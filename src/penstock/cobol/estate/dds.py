"""Which records does a DDS source of IBM i describe: those of a physical, logical, display or printer file, and the copybook that
the compiler makes of them?

`COPY DDS-ALL-FORMATS OF file` copies what the compiler reads from the file itself, so that an estate holds only the DDS. Leaves to
others: keys, conditions, and indicators. Law: any text has an answer in linear time; each field is on the line that describes it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..program import DESCRIBED
from .placing import placed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NAME = re.compile(r"[A-Z#$@][A-Z0-9#$@_.]*")
_KEYWORD = re.compile(r"(?i)\b(REFFLD|REF|PFILE|JFILE|FORMAT|RENAME|ALIAS)\(\s*([^)]*)\)")
_MAX_REFERENCES = 8
"""The maximum number of files through which a length is looked up."""


class Field(NamedTuple):
    """A field of a format."""

    name: str
    line: int
    digits: int | None
    """The length in characters or digits; None if the DDS leaves that to a field that this one refers to."""
    type: str
    """The letter of the data type, "" if there is none."""
    decimals: int | None
    usage: str
    """I, O, B, H, P and so on; "" for the default."""
    alias: str
    refers: tuple[str, str]
    """The field and the file that a field refers to, each "" if not named."""


class Format(NamedTuple):
    """A record format."""

    name: str
    line: int
    fields: tuple[Field, ...]
    files: tuple[str, ...]
    """The files that a format is taken from: the physical files of a logical one, or what FORMAT names."""


class Description(NamedTuple):
    """A DDS source."""

    formats: tuple[Format, ...]
    fields: dict[str, Field]
    """The first field of each name."""
    keys: tuple[tuple[str, int], ...]
    """The names of the key fields, each with its line."""
    is_shown: bool
    """Whether a DDS describes a display or a printer file, whose fields have positions."""
    reference: str
    """The file that REF names, "" if none."""


class _Row(NamedTuple):
    """A line that begins something, with the keywords of all lines that belong to it."""

    line: int
    kind: str
    name: str
    text: str
    keywords: list[str]


def description(text: str) -> Description:
    """Return what a DDS source describes."""
    rows = list(_rows(text))
    head = _keywords(rows[0])
    formats: list[tuple[_Row, tuple[str, ...], list[Field]]] = []
    for row in rows:
        if row.kind == "format":
            own = _keywords(row)
            files = own.get("PFILE") or own.get("JFILE") or own.get("FORMAT") or head.get("PFILE") or ""
            formats.append((row, tuple(map(_bare, files.split())), []))
        elif row.kind == "field" and formats:
            _, files_of, fields = formats[-1]
            fields.append(_field(row, files_of))
    is_shown = any(row.kind == "field" and row.text[38:44].strip() for row in rows)
    made = tuple(Format(row.name, row.line, tuple(fields), files_of) for row, files_of, fields in formats)
    by_name = {field.name: field for one in reversed(made) for field in reversed(one.fields)}
    keys = tuple((row.name, row.line) for row in rows if row.kind == "key")
    return Description(made, by_name, keys, is_shown, _bare(head.get("REF", "")))


def copybook(name: str, word: str, find: Callable[[str], Description | None]) -> str:
    """Return what a COPY of a file's formats brings in, in free format; "" if the file has no such format.

    Each field is on the line of the DDS that describes it. Of a display or printer file, what a program receives is a record
    FORMAT-I, and what it sends FORMAT-O.

    Args:
        name: The file.
        word: What the COPY names, as `DDS-ALL-FORMATS`.
        find: Returns the description of a file.
    """
    said, asked = find(name), DESCRIBED.fullmatch(word)
    if said is None or asked is None or asked["indicators"]:
        return ""
    wanted, suffix = (asked["format"] or asked["all"]).upper(), (asked["suffix"] or "").upper()
    is_all = wanted == "ALL-FORMATS"
    records: list[tuple[str, int, list[_Laid]]] = []
    for one in said.formats:
        if is_all or one.name == wanted:
            fields, where = _fields(one, said, find)
            laid = [_laid(field, where, find, is_alias=asked["all"] is not None) for field in fields]
            for direction in ("-I", "-O") if said.is_shown else ("",):
                mine = [field for field in laid if not direction or field.usage in _USAGES[direction]]
                # A database format without fields has those of a file that is not here.
                if (mine or not (fields or direction)) and suffix in {"", "-IO", direction}:
                    records.append((one.name + direction, one.line, mine))
    return _written(records, f"{name.upper()}-RECORD" if is_all else "")


def _written(records: list[tuple[str, int, list[_Laid]]], whole: str) -> str:
    """Return records as COBOL, each field on its line.

    Args:
        records: The name, the line and the fields of each.
        whole: The name of what all records are one over the other; "" if that has none.
    """
    redefined = f" REDEFINES {whole}" if len(records) > 1 and whole else ""
    entries = []
    if redefined:
        entries.append(
            (1, f"05 {whole} PIC X({max(sum(field.size for field in fields) for _, _, fields in records)}).")
        )
    for name, line, fields in records:
        # What is sent follows what is received: its fields are on the last line of that.
        entries.append((line, f"05 {name}{redefined}."))
        entries += [(field.line, f"06 {field.name} {field.clauses}.") for field in fields]
    if len(records) == 1 and whole:
        # The compiler makes this an item that the record redefines; as a name of the record, it grows with it.
        entries.append((1, f"66 {whole} RENAMES {records[0][0]}."))
    return placed(entries)


_USAGES = {"-I": frozenset("IBH"), "-O": frozenset(("", "O", "B", "H", "P"))}
"""The usages of the fields that a program receives, and of those that it sends."""


class _Laid(NamedTuple):
    """A field as COBOL has it."""

    name: str
    line: int
    clauses: str
    size: int
    usage: str


def _fields(
    one: Format, said: Description, find: Callable[[str], Description | None]
) -> tuple[tuple[Field, ...], Description]:
    """Return the fields of a format, and the description that has them: one that lists none has those of the file that it is
    taken from, on its own line.
    """
    line, seen = one.line, set[str]()
    while not one.fields and one.files and one.files[0] not in seen:
        seen.add(one.files[0])
        found = find(one.files[0])
        if found is None or not found.formats:
            break
        said, one = found, next((row for row in found.formats if row.name == one.name), found.formats[0])
    return (one.fields if not seen else tuple(field._replace(line=line) for field in one.fields)), said


def _laid(field: Field, said: Description, find: Callable[[str], Description | None], *, is_alias: bool) -> _Laid:
    """Return a field with its clauses and its bytes, which another field may say."""
    held, where = field, said
    for _ in range(_MAX_REFERENCES):
        if held.digits is not None or held.type in _FIXED:
            break
        name, file = held.refers[0] or held.name, held.refers[1] or where.reference
        there = find(file) if file and file != "*SRC" else where
        named = there.fields.get(name) if there else None
        if there is None or named is None or named is held:
            break
        held, where = named, there
    clauses, size = _shape(held._replace(type=field.type or held.type), is_shown=where.is_shown)
    return _Laid(field.alias if is_alias and field.alias else field.name, field.line, clauses, size, field.usage)


def _shape(field: Field, *, is_shown: bool) -> tuple[str, int]:
    """Return the clauses of a field that says its length, and its bytes."""
    letter, size, decimals = field.type, field.digits or 1, field.decimals
    if letter in _FIXED:
        return f"PIC X({_FIXED[letter]})", _FIXED[letter]
    if letter not in {"P", "S", "B", "F", "Y"} and (decimals is None or letter not in {"", "N", "D", "I"}):
        size = 2 * size if letter == "G" else size
        return f"PIC X({size})", size
    if letter == "F":
        return ("COMP-2", 8) if size > _SINGLE_DIGITS else ("COMP-1", 4)
    whole = size - (decimals or 0)
    picture = f"PIC S{f'9({whole})' if whole > 0 else ''}{f'V9({decimals})' if decimals else ''}"
    if letter == "B":
        return f"{picture} COMP-4", 2 if size <= 4 else 4 if size <= _SINGLE_DIGITS else 8
    # Numbers of a database file are packed if no type is given.
    return (f"{picture} COMP-3", size // 2 + 1) if letter == "P" or (letter == "" and not is_shown) else (picture, size)


_SINGLE_DIGITS = 9
"""The digits that four bytes hold, and that a number in single precision has."""
_FIXED = {"L": 10, "T": 8, "Z": 26}
"""The characters of a date, a time and a timestamp, which have no length in the DDS."""


def _rows(text: str) -> Iterator[_Row]:
    """Yield what each line begins: the file, a format or a field, with the keywords behind it."""
    row = _Row(1, "file", "", "", [])
    for number, line in enumerate(text.split("\n"), 1):
        if line[5:6].upper() not in {"A", " ", ""} or line[6:7] == "*":
            continue
        kind, name = line[16:17].upper(), line[18:28].strip().upper()
        is_place = bool(line[38:44].strip())
        if kind == "R" and _NAME.fullmatch(name):
            yield row
            row = _Row(number, "format", name.replace("_", "-"), line, [])
        elif kind in {"", " "} and _NAME.fullmatch(name):
            yield row
            row = _Row(number, "field", name.replace("_", "-"), line, [])
        elif kind == "K" and _NAME.fullmatch(name):
            yield row
            row = _Row(number, "key", name.replace("_", "-"), line, [])
        elif (kind and kind != " ") or (is_place and not name):
            # A selection, a join or a constant; what follows belongs to that.
            yield row
            row = _Row(number, "other", "", line, [])
        row.keywords.append(line[44:80].rstrip().rstrip("+-"))
    yield row


def _keywords(row: _Row) -> dict[str, str]:
    """Return the operands of the keywords that matter here."""
    return {found[1].upper(): found[2].strip().upper() for found in _KEYWORD.finditer(" ".join(row.keywords))}


def _field(row: _Row, files: tuple[str, ...]) -> Field:
    """Return the field of a row; one of a logical file without a length is that of the physical file, which RENAME may name."""
    said = _keywords(row)
    size, decimals = row.text[29:34].strip(), row.text[35:37].strip()
    name, _, file = said.get("REFFLD", "").partition(" ")
    return Field(
        name=row.name,
        line=row.line,
        digits=int(size) if size.isdecimal() and size.isascii() else None,
        type=row.text[34:35].strip().upper(),
        decimals=int(decimals) if decimals.isdecimal() and decimals.isascii() else None,
        usage=row.text[37:38].strip().upper(),
        alias=said.get("ALIAS", "").replace("_", "-"),
        refers=(
            name.rpartition("/")[2] or said.get("RENAME", ""),
            _bare(file) or (files[0] if files and not name else ""),
        ),
    )


def _bare(name: str) -> str:
    """Return the first file of an operand, without its library."""
    return (name.split() or [""])[0].rpartition("/")[2]

"""Which records does a DDS source of IBM i describe: those of a physical, logical, display or printer file, and the copybook that
the compiler makes of them?

`COPY DDS-ALL-FORMATS OF file` copies what the compiler reads from the file itself, so that an estate holds only the DDS. Leaves to
others: which file of a program has the keys (`graph.linking`). Conditions and indicators are not read; a field whose length is in a
file that is not here is one character. Laws: any text has an answer in linear time; each field is on the line that describes it,
except that the fields which a program sends are on the last line of those that it receives, if both are copied.
Sources: IBM, ILE COBOL Language Reference, "Format 2 Considerations"; DDS for physical, logical and display files.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..program import DESCRIBED
from ..reserved import NUCLEUS
from .placing import placed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NAME = re.compile(r"[A-Z#$@][A-Z0-9#$@_.]*")
_KEYWORD = re.compile(
    r"(?i)'[^']*'|\b(?:(REFFLD|REF|PFILE|JFILE|JREF|FORMAT|RENAME|ALIAS|DATFMT|CONCAT|SST)\(([^()]*)\)|(VARLEN|SFL)\b)"
)
"""A keyword that matters here, with its operands; texts are matched so that no keyword is found in them."""
_CONTINUED = re.compile(r"\+\n[ ]*|-\n")
"""The end of a keyword line that goes on with the first letter of the next one, or with its first column."""
_NUMBER = re.compile(r"[+-]?[0-9]{1,5}")
_DATE_LENGTHS = {"*MDY": "8", "*DMY": "8", "*YMD": "8", "*JUL": "6"}
"""The characters of a date in the formats with a year of two digits."""
_MOST_FILES = 256
"""The maximum number of files of a logical file; the system's own limit."""
_MAX_REFERENCES = 8
"""The maximum number of files through which a length is looked up."""


class Field(NamedTuple):
    """A field of a format."""

    name: str
    line: int
    length: str
    """The length in characters or digits: a number, or one with a sign that is added to the length of the field that this one
    refers to; "" for that field's own length.
    """
    type: str
    """The letter of the data type, "" if there is none."""
    decimals: str
    """The decimal places, written like the length."""
    is_varying: bool
    """Whether two bytes with the length precede the characters (VARLEN)."""
    usage: str
    """I, O, B, H, P and so on; "" for the default."""
    alias: str
    is_reference: bool
    """Whether the field has what it does not say itself from another one."""
    refers_to: str
    """The name of that field."""
    files: tuple[str, ...]
    """The files that may have that field; none if that is left to the REF of the description."""
    joined: tuple[str, ...] = ()
    """The fields of these files that CONCAT puts one behind the other."""


class Format(NamedTuple):
    """A record format."""

    name: str
    line: int
    fields: tuple[Field, ...]
    files: tuple[str, ...]
    """The files that a format is taken from: the physical files of a logical one, or what FORMAT names."""
    is_subfile: bool


class Description(NamedTuple):
    """A DDS source."""

    formats: tuple[Format, ...]
    fields: dict[str, Field]
    """The first field of each name."""
    keys: tuple[tuple[str, int], ...]
    """The names that the key fields have in COBOL, each with its line."""
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
    formats: list[tuple[_Row, dict[str, str], tuple[str, ...], list[Field]]] = []
    for row in rows:
        if row.kind == "format":
            own = _keywords(row)
            files = own.get("PFILE") or own.get("JFILE") or own.get("FORMAT") or head.get("PFILE") or ""
            formats.append((row, own, tuple(map(_bare, files.split()[:_MOST_FILES])), []))
        elif row.kind == "field" and formats:
            _, own, files_of, fields = formats[-1]
            fields.append(_field(row, files_of))
    is_shown = any(row.text[38:44].strip() for row in rows)
    made = tuple(
        Format(row.name, row.line, tuple(fields), files_of, "SFL" in own) for row, own, files_of, fields in formats
    )
    by_name = {field.name: field for one in reversed(made) for field in reversed(one.fields)}
    keys = tuple((_in_cobol(row.name), row.line) for row in rows if row.kind == "key")
    return Description(made, by_name, keys, is_shown, _bare(head.get("REF", "")))


def copybook(name: str, word: str, find: Callable[[str], Description | None]) -> str:
    """Return what a COPY of a file's formats brings in, in free format; "" if the file has no such format.

    Of a display or printer file, what a program receives is a record FORMAT-I, and what it sends FORMAT-O.

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
                usages = _USAGES["" if one.is_subfile and direction == "-I" else direction]
                mine = [field for field in laid if field.usage in usages or not direction]
                # A database format without fields has those of a file that is not here.
                if (mine or not (fields or direction)) and suffix in {"", "-I-O", direction}:
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
        entries.append((line, f"05 {name}{redefined}."))
        entries += [(field.line, f"06 {field.entry}.") for field in fields]
    if len(records) == 1 and whole:
        # The compiler makes this an item that the record redefines; as a name of the record, it grows with it.
        entries.append((1, f"66 {whole} RENAMES {records[0][0]}."))
    return placed(entries)


_USAGES = {"-I": frozenset("IBH"), "-O": frozenset(("", "O", "B", "H", "P")), "": frozenset(("", "I", "O", "B", "H"))}
"""The usages of the fields that a program receives, of those that it sends, and of those that it receives of a subfile."""


class _Laid(NamedTuple):
    """A field as COBOL has it."""

    line: int
    entry: str
    """Its name and clauses."""
    size: int
    usage: str


class _Shape(NamedTuple):
    """What a field is, together with what it has from the field that it refers to."""

    type: str = ""
    digits: int | None = None
    decimals: int | None = None
    is_varying: bool = False


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
    name = _in_cobol(field.alias if is_alias and field.alias else field.name)
    shape = _shape(field, said, find)
    clauses, size = _clauses(shape, is_shown=said.is_shown)
    entry = f"{name} {clauses}"
    if shape.is_varying:
        # Without CVTOPT(*VARCHAR), this is a FILLER of the same size, which no program names.
        entry, size = f"{name}. 49 {name}-LENGTH PIC S9(4) COMP-4. 49 {name}-DATA {clauses}", size + 2
    return _Laid(field.line, entry, size, field.usage)


def _shape(
    field: Field, said: Description, find: Callable[[str], Description | None], most: int = _MAX_REFERENCES
) -> _Shape:
    """Return what a field is; what it does not say itself is that of the field that it refers to, through no more than so many."""
    if field.joined and most == _MAX_REFERENCES:  # no physical file has CONCAT, so that parts have none
        parts = [_shape(field._replace(refers_to=name, joined=()), said, find, most - 1) for name in field.joined]
        # Numbers are zoned then, and each digit is a character behind text.
        is_number = all(_is_number(one) for one in parts)
        size = sum(one.digits or _FIXED.get(one.type, 1) for one in parts)
        return _Shape("S", size, parts[-1].decimals or 0) if is_number else _Shape("A", size)
    found = _referred(field, said, find) if most else None
    base = _shape(*found, find, most - 1) if found else _Shape()
    return _Shape(
        field.type or base.type,
        _number(field.length, base.digits),
        _number(field.decimals, base.decimals),
        field.is_varying or (base.is_varying and not field.length.isdecimal()),
    )


def _referred(
    field: Field, said: Description, find: Callable[[str], Description | None]
) -> tuple[Field, Description] | None:
    """Return the field that another one refers to, and the description that has it; None if there is none."""
    for file in (field.files or (said.reference,)) if field.is_reference else ():
        there = find(file) if file and file != "*SRC" else said
        named = there.fields.get(field.refers_to) if there else None
        if there is not None and named is not None and named is not field:
            return named, there
    return None


def _number(said: str, base: int | None) -> int | None:
    """Return the length or decimals of a field: what it states, or, with a sign, that added to those of the field it refers to.

    If it states nothing, they are those of the field that it refers to.
    """
    if _NUMBER.fullmatch(said) is None:
        return base
    return int(said) if said.isdecimal() else None if base is None else max(0, base + int(said))


def _is_number(shape: _Shape) -> bool:
    """Return whether a field is a number."""
    return shape.type in {"P", "S", "B", "F", "Y"} or (shape.decimals is not None and shape.type in {"", "N", "D", "I"})


def _clauses(shape: _Shape, *, is_shown: bool) -> tuple[str, int]:
    """Return the clauses of a field, and its bytes."""
    letter, size, decimals = shape.type, shape.digits or _FIXED.get(shape.type, 1), shape.decimals
    if not _is_number(shape):
        size = 2 * size if letter == "G" else size
        return f"PIC X({size})", size
    if letter == "F":
        return ("COMP-2", 8) if size > _SINGLE_DIGITS else ("COMP-1", 4)
    whole = size - (decimals or 0)
    picture = f"PIC S{f'9({whole})' if whole > 0 else ''}{f'V9({decimals})' if decimals else ''}"
    if is_shown:
        return picture, size  # a display or printer file has the digits, whatever the field is that it refers to
    if letter == "B":
        return f"{picture} COMP-4", 2 if size <= 4 else 4 if size <= _SINGLE_DIGITS else 8
    # Numbers of a database file are packed if no type is given.
    return (f"{picture} COMP-3", size // 2 + 1) if letter in {"", "P"} else (picture, size)


_SINGLE_DIGITS = 9
"""The digits that four bytes hold, and that a number in single precision has."""
_FIXED = {"L": 10, "T": 8, "Z": 26}
"""The characters of a date, a time and a timestamp, which have no length in the DDS."""


def _rows(text: str) -> Iterator[_Row]:
    """Yield what each line begins: the file, a format or a field, with the keywords after it."""
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
        row.keywords.append(line[44:80])
    yield row


def _keywords(row: _Row) -> dict[str, str]:
    """Return the keywords of a row that matter here, with their operands."""
    said = _CONTINUED.sub("", "\n".join(map(str.rstrip, row.keywords)))
    found = (one for one in _KEYWORD.finditer(said) if one[1] or one[3])
    return {(one[1] or one[3]).upper(): (one[2] or "").strip().upper() for one in found}


def _field(row: _Row, files: tuple[str, ...]) -> Field:
    """Return the field of a row; one of a logical file is that of the physical file, which RENAME may name."""
    said = _keywords(row)
    kind, length = row.text[34:35].strip().upper(), row.text[29:34].strip()
    name, _, file = said.get("REFFLD", "").partition(" ")
    join = said.get("JREF", "")
    joined = tuple(said.get("CONCAT", "").replace("_", "-").split())
    if joined:
        kind = length = ""
    elif "SST" in said:  # a part of a text: the field, where the part begins, and how long it is
        kind, length = "A", length or "".join(said["SST"].split()[2:3])
    if file:
        files = (_bare(file),)
    elif name:
        files = ()
    elif join:
        files = (files[int(join) - 1 : int(join)] if join.isdecimal() else (_bare(join),)) or files
    return Field(
        name=row.name,
        line=row.line,
        length=_DATE_LENGTHS.get(said.get("DATFMT", ""), length) if kind == "L" else length,
        type=kind,
        decimals=row.text[35:37].strip(),
        is_varying="VARLEN" in said,
        usage=row.text[37:38].strip().upper(),
        alias=said.get("ALIAS", "").replace("_", "-"),
        is_reference=bool(row.text[28:29].strip() or files or not (length or kind)),
        refers_to=(name.rpartition("/")[2] or said.get("RENAME", "") or row.name).replace("_", "-"),
        files=files,
        joined=joined,
    )


def _in_cobol(name: str) -> str:
    """Return the name of a field in COBOL: the compiler adds -DDS to a reserved word."""
    return f"{name}-DDS" if name in NUCLEUS else name


def _bare(name: str) -> str:
    """Return the first file of an operand, without its library."""
    return (name.split() or [""])[0].rpartition("/")[2]

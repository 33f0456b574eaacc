"""Which screens does a BMS source describe: mapsets, maps and fields, and the copybook that CICS generates from them?

The translator can generate that copybook at every build, so an estate may hold only the map; without this, a program that copies
the copybook would lack it. Leaves to others: colours. Law: the copybook has the translator's names and pictures.
"""

from __future__ import annotations

from typing import NamedTuple

from ..facts.pictures import bytes_of
from ..program import number
from .macros import Macro, macros, values
from .placing import placed

# The suffix of the field that holds each extended attribute, as the translator names it.
_LETTERS = {"COLOR": "C", "PS": "P", "HILIGHT": "H", "VALIDN": "V", "OUTLINE": "U", "SOSI": "M", "TRANSP": "T"}


class Field(NamedTuple):
    """A field of a screen (DFHMDF); one without a name is a constant of the screen."""

    name: str
    """The label of a field; "" for a constant, which no program can address."""
    line: int
    end_line: int
    row: int | None
    """The row on the screen, from 1; None if POS is missing or gives an offset."""
    column: int | None
    length: int | None
    """The number of characters shown: LENGTH, or what PICIN or PICOUT has if that is left out."""
    attributes: tuple[str, ...]
    initial: str | None
    occurs: int | None
    """How many fields of the screen a field represents; None for one."""
    group: str | None
    """The group that GRPNAME puts it in."""
    picture_in: str | None
    """PICIN, the picture of the input field; None for PIC X of its length."""
    picture_out: str | None
    """PICOUT, the picture of the output field."""


class Map(NamedTuple):
    """A map of a mapset (DFHMDI)."""

    name: str
    line: int
    size: tuple[str, ...]
    """Rows and columns, as written."""
    fields: tuple[Field, ...]
    operands: dict[str, str]
    """The operands of a map, with those of its mapset as defaults: LANG, MODE, TIOAPFX, EXTATT, DSATTS and so on."""


class Mapset(NamedTuple):
    """A mapset (DFHMSD) with its maps; COPY refers to it by name."""

    name: str
    line: int
    maps: tuple[Map, ...]


def mapsets(text: str) -> tuple[Mapset, ...]:
    """Return the mapsets of a BMS source, in order."""
    sets: list[tuple[Macro, list[tuple[Macro, list[Field]]]]] = []
    for macro in macros(text):
        if macro.operation == "DFHMSD" and macro.operands.get("TYPE", "").upper() != "FINAL":
            sets.append((macro, []))
        elif macro.operation == "DFHMDI" and sets:
            sets[-1][1].append((macro, []))
        elif macro.operation == "DFHMDF" and sets and sets[-1][1]:
            sets[-1][1][-1][1].append(_field(macro))
    return tuple(
        Mapset(head.label, head.line, tuple(_map(head, own, fields) for own, fields in maps)) for head, maps in sets
    )


def copybook(mapset: Mapset) -> str:
    """Return the symbolic maps in COBOL, in free format: what `COPY mapset` brings in, each item on the line of its field.

    For each map with input, a record NAMEI with length, flag and data of every named field; for each with output, a
    record NAMEO, which redefines NAMEI if there are both.
    """
    entries: list[tuple[int, str]] = []
    for one in mapset.maps:
        mode = one.operands.get("MODE", "OUT").upper()
        if mode in {"IN", "INOUT"}:
            entries += _input(one)
        if mode in {"OUT", "INOUT"}:
            # Behind the input record, all of it is on the last line of that.
            entries += _output(one, redefines=mode == "INOUT")
    return placed(entries)


def _map(mapset: Macro, own: Macro, fields: list[Field]) -> Map:
    """Return a map with the operands that it inherits."""
    operands = {**mapset.operands, **own.operands}
    return Map(own.label, own.line, values(operands.get("SIZE")), tuple(fields), operands)


def _input(one: Map) -> list[tuple[int, str]]:
    """Return the entries of the input record: for each field L (length), F (flag), A (attribute) and I (data)."""
    entries = [(one.line, f"01  {one.name}I."), *_prefix(one)]
    extended = _extended(one)
    for field in _named(one):
        level = 2
        if field.occurs:
            entries.append((field.line, f"02  {field.name}D OCCURS {field.occurs} TIMES."))
            level = 3
        said = [
            f"{level:02}  {field.name}L    COMP  PIC  S9(4).",
            f"{level:02}  {field.name}F    PICTURE X.",
            f"{level:02}  FILLER REDEFINES {field.name}F.",
            f"  {level + 1:02} {field.name}A    PICTURE X.",
        ]
        if extended:
            said.append(f"{level:02}  FILLER   PICTURE X({len(extended)}).")
        said.append(f"{level:02}  {field.name}I  PIC {field.picture_in or _any(field)}.")
        entries += [(field.line, entry) for entry in said]
    return entries


def _output(one: Map, *, redefines: bool) -> list[tuple[int, str]]:
    """Return the entries of the output record, padded to match the input record if it redefines one."""
    entries = [(one.line, f"01  {one.name}O{f' REDEFINES {one.name}I' if redefines else ''}."), *_prefix(one)]
    for field in _named(one):
        level = 2
        if field.occurs:
            entries.append((field.line, f"02  DFHMS{field.line} OCCURS {field.occurs} TIMES."))
            level = 3
        said = [f"{level:02}  FILLER PICTURE X({3 if redefines else 2})."]
        if not redefines:
            said.append(f"{level:02}  {field.name}A    PICTURE X.")
        said += [f"{level:02}  {field.name}{letter}    PICTURE X." for letter in _extended(one)]
        said.append(f"{level:02}  {field.name}O  PIC {field.picture_out or _any(field)}.")
        entries += [(field.line, entry) for entry in said]
    return entries


def _prefix(one: Map) -> list[tuple[int, str]]:
    """Return the twelve bytes that TIOAPFX=YES puts in front."""
    return [(one.line, "02  FILLER PIC X(12).")] * (one.operands.get("TIOAPFX", "").upper() == "YES")


def _extended(one: Map) -> tuple[str, ...]:
    """Return the letters of the attributes that each field has a byte for: EXTATT counts if there is no DSATTS."""
    if one.operands.get("EXTATT", "").upper() == "YES" and "DSATTS" not in one.operands:
        return ("C", "P", "H", "V")
    asked = {name.upper() for name in values(one.operands.get("DSATTS"))}
    return tuple(letter for name, letter in _LETTERS.items() if name in asked)


def _named(one: Map) -> list[Field]:
    """Return the fields that a program can address."""
    return [field for field in one.fields if field.name]


def _any(field: Field) -> str:
    """Return the picture of a field without one: as many characters as it shows."""
    return f"X({field.length or 1})"


def _field(macro: Macro) -> Field:
    """Return the field of a DFHMDF."""
    operands = macro.operands
    position = values(operands.get("POS"))
    row, column = (_number(position[0]), _number(position[1])) if len(position) == 2 else (None, None)
    picture_in, picture_out = _text(operands.get("PICIN")), _text(operands.get("PICOUT"))
    length = _number(operands.get("LENGTH"))
    if length is None:
        length = bytes_of(picture_in or picture_out, "DISPLAY")
    return Field(
        name=macro.label,
        line=macro.line,
        end_line=macro.end_line,
        row=row,
        column=column,
        length=length,
        attributes=values(operands.get("ATTRB")),
        initial=_text(operands.get("INITIAL")),
        occurs=_number(operands.get("OCCURS")),
        group=operands.get("GRPNAME"),
        picture_in=picture_in,
        picture_out=picture_out,
    )


def _number(text: str | None) -> int | None:
    """Return an operand as a number; None if it is not one."""
    return number((text or "").strip())


def _text(text: str | None) -> str | None:
    """Return a quoted operand as displayed: doubled apostrophes and ampersands become single."""
    return text.strip("'").replace("''", "'").replace("&&", "&") if text else None

"""Which IMS databases and views does a source define: DBDs with their segments, PSBs with their sensitive segments?

Leaves to others: access methods.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ..program import number
from .macros import macros, values

_Field: TypeAlias = "tuple[str, int | None, int | None]"


class Segment(NamedTuple):
    """A segment of a database (SEGM)."""

    name: str
    parent: str
    """The segment above it; "" for the root."""
    bytes: int | None
    """The length of a segment; None if it is not a number."""
    fields: tuple[_Field, ...]
    """The fields of a segment as (name, start, bytes), the start counted from 1."""
    line: int


class Dbd(NamedTuple):
    """A database description, with its segments in hierarchical order."""

    name: str
    access: tuple[str, ...]
    segments: tuple[Segment, ...]
    dds: tuple[str, ...]
    """The DD names of its data sets."""
    line: int


class Pcb(NamedTuple):
    """A view of one database: its processing options and the segments it sees."""

    name: str
    type: str
    """DB for a database, TP for a terminal, GSAM."""
    dbd: str
    options: str
    """PROCOPT as written: G reads, I inserts, R replaces, D deletes, A does all."""
    segments: tuple[str, ...]
    line: int


class Psb(NamedTuple):
    """What a program may see of IMS: its PCBs in the order in which they are passed to it."""

    name: str
    pcbs: tuple[Pcb, ...]
    language: str
    line: int
    """The line of its first PCB."""


def dbds(text: str) -> tuple[Dbd, ...]:
    """Return the DBDs of a source."""
    # Macros do not nest: a FIELD belongs to the SEGM before it, a SEGM to the DBD before it.
    found: list[tuple[Dbd, list[tuple[Segment, list[_Field]]], list[str]]] = []
    for macro in macros(text):
        operands = macro.operands
        name = _bare(operands.get("NAME"))
        if macro.operation == "DBD":
            found.append((Dbd(name, values(operands.get("ACCESS")), (), (), macro.line), [], []))
        if not found:
            continue
        _, segments, dds = found[-1]
        if macro.operation == "SEGM":
            parent = _bare(operands.get("PARENT")).removeprefix("0")
            segments.append((Segment(name, parent, _number(operands.get("BYTES")), (), macro.line), []))
        elif macro.operation == "FIELD" and segments:
            segments[-1][1].append((name, _number(operands.get("START")), _number(operands.get("BYTES"))))
        elif macro.operation == "DATASET":
            dds += [_bare(operands[one]) for one in ("DD1", "DD2") if one in operands]
    return tuple(
        dbd._replace(segments=tuple(one._replace(fields=tuple(fields)) for one, fields in segments), dds=tuple(dds))
        for dbd, segments, dds in found
    )


def psbs(text: str) -> tuple[Psb, ...]:
    """Return the PSBs of a source; PSBGEN names and ends each."""
    found: list[Psb] = []
    pcbs: list[tuple[Pcb, list[str]]] = []
    for macro in macros(text):
        operands = macro.operands
        if macro.operation == "PCB":
            name = macro.label or _bare(operands.get("PCBNAME"))
            dbd = _bare(operands.get("DBDNAME") or operands.get("NAME"))
            pcbs.append((Pcb(name, operands.get("TYPE", ""), dbd, operands.get("PROCOPT", ""), (), macro.line), []))
        elif macro.operation == "SENSEG" and pcbs:
            pcbs[-1][1].append(_bare(operands.get("NAME")))
        elif macro.operation == "PSBGEN":
            line = pcbs[0][0].line if pcbs else macro.line
            views = tuple(pcb._replace(segments=tuple(segments)) for pcb, segments in pcbs)
            found.append(Psb(_bare(operands.get("PSBNAME")), views, operands.get("LANG", ""), line))
            pcbs = []
    return tuple(found)


def _bare(operand: str | None) -> str:
    """Return the first name in an operand, however deep its parentheses: PARENT=((A,DBLE)) is A."""
    parts = values(operand)
    while parts and parts[0].startswith("("):
        parts = values(parts[0])
    return parts[0] if parts else ""


def _number(operand: str | None) -> int | None:
    """Return an operand as a number; None if it is not one."""
    return number(_bare(operand))

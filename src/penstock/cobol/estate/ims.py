"""Which databases and views of IMS are there? DBDs with their segments, PSBs with what they are sensitive to.

Keeps out: access methods.
"""

from __future__ import annotations

from typing import NamedTuple

from .macros import macros, values


class Segment(NamedTuple):
    """A SEGM of a DBD: its parent ("" for the root), its bytes, and its fields as (name, start, bytes)."""

    name: str
    parent: str
    bytes: int | None
    fields: tuple[tuple[str, int | None, int | None], ...]
    line: int


class Dbd(NamedTuple):
    """A database description; `dds` are the DD names of its data sets."""

    name: str
    access: tuple[str, ...]
    segments: tuple[Segment, ...]
    dds: tuple[str, ...]
    line: int


class Pcb(NamedTuple):
    """A view of one database: its processing options and the segments it sees."""

    name: str
    type: str
    dbd: str
    options: str
    segments: tuple[str, ...]
    line: int


class Psb(NamedTuple):
    """What a program may see."""

    name: str
    pcbs: tuple[Pcb, ...]
    language: str
    line: int


def dbds(text: str) -> tuple[Dbd, ...]:
    """The DBDs of a source."""
    found: list[Dbd] = []
    segments: list[Segment] = []
    fields: list[tuple[str, int | None, int | None]] = []
    dds: list[str] = []

    def close() -> None:
        if segments:
            segments[-1] = segments[-1]._replace(fields=tuple(fields))
        fields.clear()

    def end() -> None:
        close()
        if found:
            found[-1] = found[-1]._replace(segments=tuple(segments), dds=tuple(dds))
        segments.clear()
        dds.clear()

    for macro in macros(text):
        operands = macro.operands
        if macro.operation == "DBD":
            end()
            found.append(Dbd(_bare(operands.get("NAME")), values(operands.get("ACCESS")), (), (), macro.line))
        elif macro.operation == "SEGM":
            close()
            parent = _bare(operands.get("PARENT")).removeprefix("0")
            segments.append(
                Segment(_bare(operands.get("NAME")), parent, _number(operands.get("BYTES")), (), macro.line)
            )
        elif macro.operation == "FIELD":
            fields.append((_bare(operands.get("NAME")), _number(operands.get("START")), _number(operands.get("BYTES"))))
        elif macro.operation == "DATASET":
            dds += [_bare(operands[name]) for name in ("DD1", "DD2") if name in operands]
    end()
    return tuple(found)


def psbs(text: str) -> tuple[Psb, ...]:
    """The PSBs of a source."""
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
    """The first name in an operand, whatever its parentheses."""
    parts = values(operand)
    while parts and parts[0].startswith("("):
        parts = values(parts[0])
    return parts[0] if parts else ""


def _number(operand: str | None) -> int | None:
    text = _bare(operand)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None

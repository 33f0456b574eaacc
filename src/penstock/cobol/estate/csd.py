"""Which resources does a CICS region define: DEFINE statements of a CSD for transactions, programs, files and mapsets, the same
in the XML of a bundle, or the tables of transactions and files in assembler (PCT, FCT) that came before both?

Leaves to others: attributes that link nothing.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from .macros import macros
from .placing import line_in

if TYPE_CHECKING:
    from collections.abc import Iterator

_IN_XML = re.compile(r"<cicsdefinition(\w+)\s((?:[^<>'\"]|'[^']*'|\"[^\"]*\")*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w:.-]+)\s*=\s*(?:'([^']*)'|\"([^\"]*)\")")
TABLE = r"^(?!\*)\S*[ ]+(?:DFH|KIK)[PF]CT[ ]+TYPE="
"""An entry of a table, of CICS or of KICKS, which stands in for it under MVS 3.8 and TSO."""
_IN_TABLES = re.compile(TABLE, re.IGNORECASE | re.MULTILINE)
IN_STREAM = re.compile(f"DFHCSDUP|{TABLE}", re.MULTILINE)
"""What the text of a job has if its in-stream data defines resources."""
_PART = re.compile(r"([A-Za-z0-9]+)[ \t\n]*\(([^()]*)\)|([A-Za-z0-9*]+)")


class Resource(NamedTuple):
    """One DEFINE of a CSD."""

    kind: str
    """TRANSACTION, PROGRAM, FILE, MAPSET, TDQUEUE, DB2ENTRY and so on."""
    name: str
    group: str | None
    attributes: dict[str, str]
    """Attributes by name in capitals, including GROUP, with single blanks in their values."""
    line: int
    end_line: int


def resources(text: str) -> tuple[Resource, ...]:
    """Return what a CSD, a bundle or a table defines, in order; comments of a CSD and its columns 73 to 80 are left out."""
    if "<cicsdefinition" in text.lower():
        return tuple(_in_xml(text))
    if _IN_TABLES.search(text):
        return tuple(_in_tables(text))
    lines = ["" if line.startswith("*") else line[:72] for line in text.split("\n")]
    code = "\n".join(lines)
    # A DEFINE extends to the next one: its attributes may take any number of lines.
    starts = [found.start() for found in re.finditer(r"(?im)^[ ]*DEFINE[ ]+(?=[A-Z0-9]+[ ]*\()", code)]
    found: list[Resource] = []
    line_of = line_in(code)
    for start, end in pairwise([*starts, len(code)]):
        line = line_of(start)
        parts = _PART.findall(code[start:end].partition("DEFINE")[2] or code[start:end][7:])
        if not parts or not parts[0][0]:
            continue
        attributes = {name.upper(): " ".join(value.split()) for name, value, _ in parts[1:] if name}
        found.append(
            Resource(
                kind=parts[0][0].upper(),
                name=parts[0][1].strip(),
                group=attributes.get("GROUP"),
                attributes=attributes,
                line=line,
                end_line=line + code[start:end].rstrip().count("\n"),
            )
        )
    return tuple(found)


def _in_xml(text: str) -> Iterator[Resource]:
    """Yield what the XML of a bundle defines: `<cicsdefinitiontransaction name="PAY1" program="PAYROLL"/>`."""
    line_of = line_in(text)
    for found in _IN_XML.finditer(text):
        line = line_of(found.start())
        said = {name.upper(): " ".join((one or other).split()) for name, one, other in _ATTRIBUTE.findall(found[2])}
        said["PROGRAM"] = said.get("PROGRAM") or said.get("PROGRAMNAME", "")
        yield Resource(
            found[1].upper(), said.get("NAME", ""), said.get("GROUP"), said, line, line + found[0].count("\n")
        )


def _in_tables(text: str) -> Iterator[Resource]:
    """Yield what tables define: `DFHPCT TYPE=ENTRY,TRANSID=PAY1,PROGRAM=PAYROLL`, `DFHFCT TYPE=DATASET,DATASET=CUST,DSNAME=A.B`."""
    for macro in macros(text):
        said = macro.operands
        kind, name = {
            "PCT": ("TRANSACTION", said.get("TRANSID")),
            "FCT": ("FILE", said.get("FILE") or said.get("DATASET")),
        }.get(macro.operation[3:], ("", None))
        if name and macro.operation[:3] in {"DFH", "KIK"}:
            yield Resource(kind, name, None, said, macro.line, macro.end_line)

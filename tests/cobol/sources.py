"""Small programs for tests, written as people write them."""

from __future__ import annotations

from penstock.cobol import Program, ScannedSource, scan


def fixed(*lines: str) -> str:
    """Return lines of code in fixed format, from column 8 on; in a line that begins with `X|`, X is the indicator in column 7."""
    return "".join(f"      {line[0]}{line[2:]}\n" if line[1:2] == "|" else f"       {line}\n" for line in lines)


def program(*statements: str, name: str = "P", data: tuple[str, ...] = ()) -> str:
    """Return a program in fixed format with these statements in its PROCEDURE DIVISION."""
    declared = ("DATA DIVISION.", "WORKING-STORAGE SECTION.", *data) if data else ()
    return fixed("IDENTIFICATION DIVISION.", f"PROGRAM-ID. {name}.", *declared, "PROCEDURE DIVISION.", *statements)


def one(source: str | bytes | ScannedSource) -> Program:
    """Return the only program of a source."""
    (found,) = source if isinstance(source, ScannedSource) else scan(source)
    return found


def names(found: Program) -> list[str]:
    """Return the names of a program's paragraphs."""
    return [paragraph.name for paragraph in found.paragraphs]


def verbs(found: Program) -> list[str]:
    """Return the verbs of a PROCEDURE DIVISION's entries."""
    return [statement.verb for statement in found.statements]


def with_file(name: str) -> str:
    """Return a program in fixed format that has a file BILLS, whose DD is DD1."""
    return fixed(
        "IDENTIFICATION DIVISION.",
        f"PROGRAM-ID. {name}.",
        "INPUT-OUTPUT SECTION.",
        "FILE-CONTROL.",
        "    SELECT BILLS ASSIGN TO DD1.",
        "DATA DIVISION.",
        "FILE SECTION.",
        "FD  BILLS.",
        "01  BILL PIC X.",
        "PROCEDURE DIVISION.",
        "    GOBACK.",
    )

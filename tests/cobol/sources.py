"""Small programs for tests, written as people write them."""

from __future__ import annotations

from penstock.cobol import Program, ScannedSource, scan


def fixed(*lines: str) -> str:
    """Lines of code in fixed format, from column 8 on; one that begins with an indicator and `|` has that in column 7."""
    return "".join(f"      {line[0]}{line[2:]}\n" if line[1:2] == "|" else f"       {line}\n" for line in lines)


def program(*statements: str, name: str = "P", data: tuple[str, ...] = ()) -> str:
    """A program in fixed format with these lines in its PROCEDURE DIVISION."""
    declared = ("DATA DIVISION.", "WORKING-STORAGE SECTION.", *data) if data else ()
    return fixed("IDENTIFICATION DIVISION.", f"PROGRAM-ID. {name}.", *declared, "PROCEDURE DIVISION.", *statements)


def one(source: str | bytes | ScannedSource) -> Program:
    """The only program of a source."""
    (found,) = source if isinstance(source, ScannedSource) else scan(source)
    return found


def names(found: Program) -> list[str]:
    """The paragraphs of a program."""
    return [paragraph.name for paragraph in found.paragraphs]


def verbs(found: Program) -> list[str]:
    """The entries of a PROCEDURE DIVISION."""
    return [statement.verb for statement in found.statements]

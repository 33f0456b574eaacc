"""Small COBOL programs for tests, line by line in fixed format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.cobol import scan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.cobol import ScannedSource


def fixed(lines: Iterable[str]) -> bytes:
    """Return lines from column 8 on; one that begins with `*` has it in column 7."""
    return "".join(f"      {line}\n" if line[:1] in {"*", "-"} else f"       {line}\n" for line in lines).encode()


def program(procedure: Iterable[str], data: Iterable[str] = (), name: str = "SAMPLE") -> bytes:
    """Return a program with that data and that code."""
    return fixed(
        [
            "IDENTIFICATION DIVISION.",
            f"PROGRAM-ID. {name}.",
            "DATA DIVISION.",
            "WORKING-STORAGE SECTION.",
            *data,
            "PROCEDURE DIVISION.",
            *procedure,
        ]
    )


def paragraph(name: str, *statements: str, length: int = 0) -> list[str]:
    """Return a paragraph with this many more lines."""
    filler = [f"    DISPLAY '{name} SAYS LINE {at} OF ITS TEXT'." for at in range(length)]
    return ["*" + "-" * 30, f"{name}.", *(f"    {statement}" for statement in statements), *filler]


def scanned(procedure: Iterable[str], data: Iterable[str] = (), name: str = "SAMPLE") -> ScannedSource:
    """Return the same program, scanned."""
    return scan(program(procedure, data, name))

"""A COBOL program of any length in which every paragraph is different."""

from __future__ import annotations


def program(paragraphs: int = 12, *, name: str = "LEDGER", changed: int | None = None, numbered: bool = False) -> str:
    """Return a program in fixed format; `changed` has a statement more, `numbered` fills columns 1 to 6 and 73 to 80."""
    lines = [
        "       IDENTIFICATION DIVISION.",
        f"       PROGRAM-ID. {name}.",
        "      * Posts what came in during the day.",
        "       ENVIRONMENT DIVISION.",
        "       INPUT-OUTPUT SECTION.",
        "       FILE-CONTROL.",
        "           SELECT DAY-FILE ASSIGN TO DAYIN",
        "               FILE STATUS IS DAY-STATUS.",
        "       DATA DIVISION.",
        "       FILE SECTION.",
        "       FD  DAY-FILE.",
        "       01  DAY-RECORD PIC X(80).",
        "       WORKING-STORAGE SECTION.",
        "       01  DAY-STATUS PIC XX.",
        *(f"       01  WS-AMOUNT-{at:03} PIC S9(7)V99 COMP-3." for at in range(paragraphs)),
        "       PROCEDURE DIVISION.",
        "       0000-MAIN.",
        "           OPEN INPUT DAY-FILE.",
        "           IF DAY-STATUS NOT = '00'",
        "               DISPLAY 'CANNOT OPEN'",
        "               GOBACK",
        "           END-IF.",
        *(f"           PERFORM {at:04}-STEP." for at in range(1, paragraphs + 1)),
        "           CALL 'AUDITLOG' USING DAY-RECORD.",
        "           GOBACK.",
    ]
    for at in range(1, paragraphs + 1):
        item = f"WS-AMOUNT-{at - 1:03}"
        lines += [
            f"       {at:04}-STEP.",
            f"      * Step {at}.",
            f"           IF {item} > {at * 100}",
            f"               SUBTRACT {at} FROM {item}",
            "           ELSE",
            f"               ADD {at} TO {item}",
            "           END-IF.",
        ]
        if changed == at:
            lines.append(f"           MOVE ZERO TO {item}.")
    if numbered:
        lines = [f"{number:06}{line[6:]:<66}LEDG{number:04}" for number, line in enumerate(lines, 1)]
    return "\n".join(lines) + "\n"

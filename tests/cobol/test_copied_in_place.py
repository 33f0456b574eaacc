"""Is a copybook read correctly in the middle of a sentence, of an IF, or of the identification of a program?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cobol import ScannedSource, scan
from penstock.cobol.facts import Facts, facts

from .sources import fixed, names, program, verbs

if TYPE_CHECKING:
    from collections.abc import Mapping

DATA = ("01 W PIC X(8).", "01 X PIC X(8).")
OPEN = fixed("    IF W = 'A'")


def read(source: str, books: Mapping[str, str]) -> tuple[ScannedSource, list[Facts]]:
    """Return a source with its copybooks, and the facts of its programs."""
    shelf = {name: scan(text) for name, text in books.items()}

    def find(name: str, _library: str | None) -> ScannedSource | None:
        return shelf.get(name.upper())

    scanned = scan(source, copybooks=find)
    return scanned, [facts(scanned, one, copybooks=find) for one in scanned]


# ── the identification ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("head", "book"),
    [
        (("IDENTIFICATION DIVISION.", "COPY HEAD."), fixed("PROGRAM-ID. PAY.")),
        (("COPY HEAD.",), fixed("ID DIVISION.", "PROGRAM-ID. PAY.", "AUTHOR. X.")),
        (
            ("COPY HEAD REPLACING ==:P:== BY ==PAY==.",),
            fixed("ID DIVISION.", "PROGRAM-ID. :P:.", "ENVIRONMENT DIVISION."),
        ),
    ],
)
def test_a_program_is_called_as_the_header_that_is_copied_calls_it(head: tuple[str, ...], book: str) -> None:
    """Calls find the program by that name, and the name of its file does not matter."""
    body = fixed(
        *head, "DATA DIVISION.", "WORKING-STORAGE SECTION.", *DATA, "PROCEDURE DIVISION.", "MAIN.", "    MOVE W TO X."
    )
    source, (found,) = read(body, {"HEAD": book})
    assert [(one.name, one.kind, one.called) for one in source] == [("PAY", "program", "PAY")]
    assert [use.found for use in found.copybooks] == [True]
    assert found.statements == 1


def test_a_program_that_is_called_as_a_missing_copybook_gives_no_name() -> None:
    """The program has code of its own, so it is not a mere header."""
    source, _ = read(
        fixed("COPY HEAD.", "PROCEDURE DIVISION.", "    GOBACK."), {"HEAD": program("MAIN.", "    GOBACK.")}
    )
    assert [one.name for one in source] == [""]


def test_beginnings_of_names_are_replaced_in_operands_that_are_copied() -> None:
    """ACOS names them between slashes, in a copybook within a sentence as in any other."""
    copied = "    MOVE W TO COPY NAMES REPLACING //OLD// BY //X//."
    _, (found,) = read(program("MAIN.", copied, "    GOBACK.", data=DATA), {"NAMES": fixed("    OLD")})
    assert [item.written_lines for item in found.items] == [(), (9,)]


@pytest.mark.parametrize("end", [("    COPY INNER.", "END PROGRAM P."), ("END PROGRAM P.", "COPY INNER.")])
def test_a_program_in_a_copybook_is_no_code_of_the_one_that_copies_it(end: tuple[str, str]) -> None:
    """The copied program is read as a member of its own, and its calls are its own."""
    inner = program("S1.", "    CALL 'RATES'.", "    GOBACK.", name="INNER") + fixed("END PROGRAM INNER.")
    source, found = read(program("MAIN.", "    CALL 'INNER'.", *end), {"INNER": inner})
    assert [call.target for one in found for call in one.calls] == ["INNER"]
    assert source.programs[0].name == "P"


# ── sentences ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_if_that_one_copybook_opens_and_another_ends_holds_what_stands_between() -> None:
    """A GOBACK between them is therefore conditional, and what follows is not dead."""
    code = program(
        *("MAIN.", "    COPY OPEN.", "    MOVE W TO X", "    GOBACK."),
        *("P2.", "    COPY OPEN.", "    GOBACK", "    COPY END.", "P3.", "    DISPLAY W."),
        data=DATA,
    )
    source, (found,) = read(code, {"OPEN": OPEN, "END": fixed("    END-IF.")})
    assert verbs(source.programs[0]) == [
        "IF",
        "COPY",
        "MOVE",
        "GOBACK",
        "IF",
        "COPY",
        "GOBACK",
        "END-IF",
        "COPY",
        "DISPLAY",
    ]
    assert [statement.depth for statement in source.programs[0].statements[:4]] == [0, 1, 1, 1]
    assert [one.name for one in found.paragraphs if one.dead] == []
    assert [(rule.condition, rule.line) for rule in found.rules] == [("W = 'A'", 9), ("W = 'A'", 13)]
    assert [(use.name, use.found, use.line) for use in found.copybooks] == [
        ("OPEN", True, 9),
        ("OPEN", True, 13),
        ("END", True, 15),
    ]
    assert found.items[0].read_lines == (9, 10, 13, 17)


def test_operands_that_are_copied_are_those_of_the_statement() -> None:
    """Copied operands are cited at the line of their COPY."""
    code = program(
        *("MAIN.", "    MOVE W TO COPY TARGETS."),
        *("    IF W = 'A' COPY MORE.", "        GOBACK", "    ELSE", "        DISPLAY X."),
        data=DATA,
    )
    source, (found,) = read(code, {"TARGETS": fixed("    X."), "MORE": fixed("    OR W =", "     'B'")})
    assert found.items[1].written_lines == (9,)
    assert [rule.condition for rule in found.rules] == ["W = 'A' OR W = 'B'"]
    assert names(source.programs[0]) == ["MAIN"]


def test_a_picture_that_is_copied_is_that_of_its_item() -> None:
    """A copied clause belongs to the entry that copies it."""
    _, (found,) = read(
        program("MAIN.", "    GOBACK.", data=("01 W COPY PIC10.", "01 X PIC X.")), {"PIC10": fixed("    PIC X(10).")}
    )
    assert [(item.name, item.picture, item.bytes) for item in found.items] == [("W", "X(10)", 10), ("X", "X", 1)]


WHOLE = (
    fixed("    MOVE W TO X."),
    fixed("    IF W = 'A'", "        GOBACK", "    END-IF"),
    fixed("P8.", "    MOVE W TO X."),
    fixed("    EVALUATE W WHEN 'A' GOBACK WHEN OTHER CONTINUE END-EVALUATE."),
    fixed("    PERFORM UNTIL W = X", "        MOVE W TO X", "    END-PERFORM"),
    fixed("    READ F AT END MOVE W TO X."),
)


@given(st.lists(st.sampled_from(WHOLE), max_size=3), st.sampled_from(["MOVE X TO W.", "IF X = W", "DISPLAY X"]))
def test_copied_whole_statements_are_not_put_in_place(books: list[str], before: str) -> None:
    """Copied whole statements and paragraphs are reported with the name of their copybook."""
    lines = [line for at, _ in enumerate(books) for line in (f"    {before}", f"    COPY B{at}.")]
    source, (found,) = read(
        program("MAIN.", *lines, "    GOBACK.", data=DATA), {f"B{at}": book for at, book in enumerate(books)}
    )
    assert source.in_place == frozenset()
    assert [use.found for use in found.copybooks] == [True] * len(books)


def test_declaratives_that_are_copied_are_no_dead_code() -> None:
    """The system runs their sections, whether the copybook is here or not; they do not run on into the program."""
    ours = ("DECLARATIVES.", "    COPY LOST.", "    COPY ERRS.", "END DECLARATIVES.")
    said = program(*ours, "A SECTION.", "B.", "    GOBACK.", "C.", "    GOBACK.")
    errs = fixed("E SECTION.", "    USE AFTER ERROR PROCEDURE ON F.", "E-1.", "    DISPLAY 'E'.")
    _, (found,) = read(said, {"ERRS": errs})
    assert [one.name for one in found.paragraphs if one.dead] == ["C"]

"""Which file does an ASSIGN name if its item gets the name from the parts of a group?"""

from __future__ import annotations

import pytest

from penstock.cobol import scan
from penstock.cobol.facts import facts

PROGRAM = """\
       ID DIVISION.
       PROGRAM-ID. ONE.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT A ASSIGN TO PATH-A.
           SELECT B ASSIGN TO {assigned}.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  W-SHOP PIC 9(3).
       01  W-PARTS.
           05 FILLER    PIC X(11) VALUE '{folder}'.
           05 W-FOLDER  PIC X(3).
           05           PIC X VALUE '\\'.
           05 W-FILE    PIC X(8).
           05 FILLER    PIC X(4) VALUE {suffix}.
       01  W-NAME REDEFINES W-PARTS PIC X({size}).
       01  W-PATH PIC X(40).
       PROCEDURE DIVISION.
       MAIN.
           ACCEPT W-SHOP FROM COMMAND-LINE.
           MOVE W-SHOP TO W-FOLDER.
           {code}
           OPEN INPUT A B.
           GOBACK.
"""


def names(
    code: str, *, assigned: str = "PATH-B", folder: str = "\\DATA\\SHOP\\", suffix: str = "SPACES", size: int = 27
) -> list[set[tuple[str, int]]]:
    """Return the names that each file of a program may have, with the lines that give them."""
    text = PROGRAM.format(code=code, assigned=assigned, folder=folder, suffix=suffix, size=size)
    source = scan(text)
    return [{(one.value, one.line) for one in file.named_by} for file in facts(source, source.programs[0]).files]


@pytest.mark.parametrize("sender", ["W-NAME", "W-PARTS"])
def test_a_moved_group_names_a_file_by_its_parts(sender: str) -> None:
    """Each MOVE of the group, or of what redefines it, gives the name that its parts have there; data is unknown."""
    code = f"""MOVE 'CUST' TO W-FILE. MOVE {sender} TO PATH-A.
           MOVE 'ORDERS' TO W-FILE. MOVE {sender} TO
              W-PATH PATH-B."""
    assert names(code) == [{("\\DATA\\SHOP\\*\\CUST", 23)}, {("\\DATA\\SHOP\\*\\ORDERS", 24)}]
    assert names(code, assigned="W-PATH")[1] == {("\\DATA\\SHOP\\*\\ORDERS", 24)}


def test_a_group_that_an_assign_names_is_a_name_of_its_parts() -> None:
    """The group itself may hold the name, with every value that its parts may have anywhere in the program."""
    code = """IF W-SHOP = 1 MOVE 'CUSTOMER' TO W-FILE
           ELSE MOVE 'VENDORS1' TO W-FILE."""
    for assigned in ("W-PARTS", "W-NAME"):
        found = names(code, assigned=assigned, suffix="'.dat'")[1]
        assert {value for value, _ in found} == {"\\DATA\\SHOP\\*\\CUSTOMER.dat", "\\DATA\\SHOP\\*\\VENDORS1.dat"}


@pytest.mark.parametrize(
    "code",
    [
        "MOVE 'CUST' TO W-FILE. MOVE W-NAME(1:20) TO PATH-A.",  # a part of the name
        "MOVE 'CUST' TO W-FILE. MOVE W-NAME TO PATH-A(5:).",
        "MOVE W-SHOP TO W-FILE. MOVE W-NAME TO PATH-A.",  # nothing says which file
    ],
)
def test_a_group_whose_parts_do_not_tell_the_file_names_none(code: str) -> None:
    """What is not the whole name, or has only data in its last part, is no name of a file."""
    assert names(code)[0] == set()


def test_a_name_with_blanks_inside_or_a_cut_one_is_none() -> None:
    """A part that is shorter than its item leaves blanks before the next one, where the system ends the name."""
    code = "MOVE 'CUST' TO W-FILE. MOVE W-NAME TO PATH-A."
    assert names(code, folder="\\DATA")[0] == set()
    assert names(code, size=20)[0] == set()


def test_what_redefines_a_part_adds_no_text() -> None:
    """The part and what redefines it are the same characters of the name."""
    again = "05 FILLER    PIC X(4) VALUE {suffix}"
    text = PROGRAM.replace(again, f"05 W-FIRST REDEFINES W-FILE PIC X.\n           {again}").format(
        code="MOVE 'CUSTOMER' TO W-FILE. MOVE W-PARTS TO PATH-A.",
        assigned="B",
        folder="\\DATA\\SHOP\\",
        suffix="'.DAT'",
        size=27,
    )
    source = scan(text)
    assert "REDEFINES W-FILE" in text
    assert {one.value for one in facts(source, source.programs[0]).files[0].named_by} == {
        "\\DATA\\SHOP\\*\\CUSTOMER.DAT"
    }


def test_the_line_of_a_composed_name_has_a_part_of_it() -> None:
    """The first VALUE is none of the name once the part holds data."""
    text = """\
       ID DIVISION.
       PROGRAM-ID. ONE.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT A ASSIGN TO W-NAME.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  W-NAME.
           05  W-FIRST PIC X(4) VALUE 'MAIN'.
           05  W-LAST  PIC X(4) VALUE 'LIST'.
       PROCEDURE DIVISION.
           ACCEPT W-FIRST FROM COMMAND-LINE.
           OPEN INPUT A.
"""
    source = scan(text)
    (file,) = facts(source, source.programs[0]).files
    assert {(one.value, one.line) for one in file.named_by} == {("MAINLIST", 10), ("*LIST", 11)}

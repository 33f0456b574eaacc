"""What moves within items that have room when a field grows, compared with what a compiled program shows?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cobol.sources import program
from tests.cobol.test_growth import grown as grown_in
from tests.cobol.test_growth_compared import grown
from tests.cobol.test_growth_forms import displayed

if TYPE_CHECKING:
    from pathlib import Path

DATA = (
    "01 N PIC 9(4).", "01 A PIC X(4).", "01 J PIC X(4) JUSTIFIED RIGHT.", "01 T PIC X(12).", "01 K PIC X(12) JUST.",
    "01 U PIC X(12).", "01 S PIC X(5).", "01 R PIC X(8).", "01 D PIC 9(9) COMP-3.", "01 P PIC X(4) JUST.", "01 B PIC 9(4).",
    "01 Q PIC X(4).", "01 H PIC X(9) JUST.", "01 E PIC Z(3)9.", "01 F PIC Z(8)9.",
    "01 M PIC 9(5).", "01 C PIC 9(5) COMP-5.", "01 V PIC 9(5).",
)  # fmt: skip


@pytest.mark.parametrize(
    ("field", "statements", "told"),
    [
        # Digits start further on in a text, for any reader of the text.
        ("N", ("MOVE N TO T", "IF T = U DISPLAY '1' END-IF"), {("compared", "U")}),
        ("N", ("MOVE N TO T", "MOVE T TO S"), {("too short", "S")}),
        ("N", ("MOVE N TO T", "MOVE T TO R"), set()),  # all six
        ("N", ("MOVE N TO T", "MOVE T TO U", "MOVE U TO S"), {("too short", "S")}),
        ("N", ("MOVE N TO T", "UNSTRING T DELIMITED BY ',' INTO S"), {("part", "S")}),
        ("N", ("STRING N DELIMITED BY SIZE INTO T", "MOVE T TO S"), {("too short", "S")}),
        ("N", ("MOVE N TO T", "MOVE T(2:2) TO S"), {("part", "T")}),
        ("N", ("MOVE N TO T", "MOVE T TO U", "MOVE A TO T", "MOVE T TO S"), set()),  # another use
        # REVERSE puts the end first, so a shorter receiver takes another part; the result of TRIM begins at its first character.
        ("N", ("MOVE N TO T", "MOVE FUNCTION REVERSE(T) TO R"), {("part", "R")}),
        ("N", ("MOVE N TO T", "MOVE FUNCTION REVERSE(FUNCTION UPPER-CASE(T)) TO R"), {("part", "R")}),
        ("N", ("MOVE N TO T", "MOVE FUNCTION REVERSE(T) TO U", "MOVE U TO R"), {("part", "R")}),
        ("N", ("MOVE N TO T", "MOVE FUNCTION REVERSE(FUNCTION REVERSE(T)) TO R"), set()),
        ("N", ("MOVE N TO T", "MOVE FUNCTION REVERSE(FUNCTION TRIM(T)) TO R"), set()),
        ("N", ("MOVE N TO T", "MOVE FUNCTION TRIM(T) TO R"), set()),
        # JUSTIFIED text moves as well; digits in a JUSTIFIED receiver stay where they are.
        ("N", ("MOVE N TO K", "IF K = U DISPLAY '1' END-IF"), set()),
        ("J", ("MOVE J TO T", "IF T = U DISPLAY '1' END-IF"), {("compared", "U")}),
        ("J", ("MOVE J(2:2) TO S",), {("part", "J")}),
        ("J", ("MOVE J(1:) TO T",), set()),
        ("A", ("MOVE A(2:2) TO S",), set()),
        ("J", ("MOVE J TO P", "MOVE P TO J", "MOVE A TO P", "MOVE P TO Q"), {("too short", "P"), ("too short", "Q")}),
        ("A", ("MOVE A TO K", "IF K = U DISPLAY '1' END-IF"), {("compared", "U")}),
        ("A", ("MOVE A TO T", "IF T = U DISPLAY '1' END-IF"), set()),
        # Text that a STRING puts after it.
        ("A", ("STRING A '-' DELIMITED BY SIZE INTO T", "IF T = U DISPLAY '1' END-IF"), {("compared", "U")}),
        ("A", ("STRING A DELIMITED BY SIZE INTO T", "IF T = U DISPLAY '1' END-IF"), set()),
        # A work field with room is compared, calculated with, or passed on without its zeros.
        ("A", ("MOVE A TO T", "IF T = S DISPLAY '1' END-IF"), {("compared", "S")}),
        ("A", ("STRING A DELIMITED BY SIZE INTO T", "IF T = S DISPLAY '1' END-IF"), {("compared", "S")}),
        ("N", ("MOVE N TO D", "COMPUTE B = D + 1"), {("calculated", "B")}),
        ("N", ("MOVE N TO D", "MOVE D TO P"), {("too short", "P")}),
        ("N", ("MOVE N TO D", "MOVE D TO S"), set()),
        # So is the value of an edited number.
        ("E", ("MOVE E TO D", "MOVE D TO B"), {("too short", "B")}),
        ("M", ("MOVE M TO C", "MOVE C TO V"), {("too short", "V")}),  # which holds more than its picture
        ("N", ("MOVE N TO F", "MOVE F TO B"), {("too short", "B")}),
        ("E", ("MOVE E TO F", "MOVE F TO P"), {("too short", "P")}),
        ("E", ("MOVE E TO D", "COMPUTE B = D + 1"), {("calculated", "B")}),
        # COMP-5 holds more digits than its picture has, but sends no more to a text.
        ("M", ("MOVE M TO C", "MOVE C TO T"), {("part", "T")}),
        # One statement of several gives on all of it.
        ("A", ("MOVE A TO T", "STRING T DELIMITED BY SIZE INTO S", "MOVE FUNCTION TRIM(T) TO S"), {("too short", "S")}),
        # A JUSTIFIED item takes the end of what it receives.
        ("N", ("MOVE N TO T", "MOVE T TO H"), {("part", "H")}),
        ("A", ("MOVE A TO K", "MOVE K TO H"), set()),
        ("A", ("MOVE A TO K", "STRING K DELIMITED BY SIZE INTO H"), {("part", "H")}),
        ("A", ("MOVE FUNCTION REVERSE(A) TO T", "MOVE 'X' TO T(2:1)"), {("part", "T")}),
        # A part of a work field has all of what is sent there, and then only its end or its beginning.
        ("N", ("MOVE N TO K", "MOVE K(8:) TO T"), {("part", "K")}),
        ("N", ("MOVE N TO K", "MOVE K(7:) TO T"), set()),
        ("A", ("MOVE A TO T", "MOVE T(1:5) TO U"), {("part", "T")}),
        ("A", ("MOVE A TO T", "MOVE T(1:6) TO U", "MOVE T(2:3) TO U"), set()),
    ],
)
def test_what_sees_other_characters_of_an_item_with_room_is_named(
    field: str, statements: tuple[str, ...], told: set[tuple[str, str]]
) -> None:
    """Only statements that see other characters are named, as they may be meant so."""
    found = grown(field, 2, *DATA, "PROCEDURE DIVISION.", *(f"    {one}." for one in statements))
    said = [one for one in found if one.what != "field"]
    assert {(one.what, one.node.name.removeprefix("P.")) for one in said} == told
    assert all(one.certainty == "may" for one in said if one.what not in {"part", "too short"}), said


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (("MOVE G TO T", "MOVE T TO S"), {("part", "S")}),  # which takes five of eight bytes
        (("MOVE G TO T", "MOVE T TO U", "MOVE U TO S"), {("part", "S")}),
        (("MOVE G TO T", "MOVE T TO R"), {("part", "R")}),  # which has room for the group of today
        (("MOVE G TO T", "MOVE T TO W"), set()),  # which ends before the field
        (("MOVE G TO T", "MOVE T(6:2) TO S"), {("part", "T")}),
        (("MOVE G TO T", "MOVE T(1:2) TO S"), set()),
        (("MOVE G TO Y(11:)", "MOVE Y(3:5) TO S"), set()),  # which stands before the group
        (("STRING U G DELIMITED BY SIZE INTO Y", "MOVE Y(3:5) TO S"), set()),
        (("MOVE G TO T", "IF T = U DISPLAY '1' END-IF"), {("compared", "U")}),
        (("MOVE G TO T", "MOVE T TO U", "MOVE A TO T", "MOVE T TO S"), set()),  # another use
        (("MOVE G TO T",), set()),
    ],
)
def test_what_follows_a_growing_field_is_shifted_in_a_text_that_has_room_for_its_group(
    statements: tuple[str, ...], told: set[tuple[str, str]]
) -> None:
    """The text itself loses nothing: whoever takes a part of it sees other bytes."""
    group = (
        "01 G.",
        "05 GA PIC 9(2).",
        "05 N PIC 9(3).",
        "05 GB PIC X(3).",
        "01 W PIC X(2).",
        "01 Y PIC X(40).",
        *DATA[1:],
    )
    found = grown("N", 2, *group, "PROCEDURE DIVISION.", *(f"    {one}." for one in statements))
    said = [one for one in found if one.what not in {"field", "record"}]
    assert {(one.what, one.node.name.removeprefix("P.")) for one in said} == told


def called(area: str, statement: str) -> str:
    """Return a program that has an area as its parameter."""
    data = ("01 S PIC X(3).", "01 LEN PIC 99.", "01 V.", "05 VA PIC X(5).", "05 VB PIC X(3).", "05 FILLER PIC X(4).")
    text = program(f"{statement}.", "GOBACK.", name="TWO", data=(*data, "LINKAGE SECTION.", area))
    return text.replace("PROCEDURE DIVISION.", "PROCEDURE DIVISION USING L.")


@pytest.mark.parametrize(
    "area", ["01 L PIC X(90).", "01 L. 05 LX PIC X OCCURS 90.", "01 L. 05 LX PIC X OCCURS 0 TO 90 DEPENDING LEN."]
)
@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("MOVE L(6:3) TO S", {("part", "TWO.L")}),
        ("IF L(8:1) = 'X' DISPLAY '1' END-IF", {("part", "TWO.L")}),
        ("MOVE L TO V", {("other layout", "TWO.V")}),
        ("MOVE L(1:LEN) TO V", {("other layout", "TWO.V")}),
        ("MOVE L(1:2) TO S", set()),
    ],
)
def test_what_follows_a_growing_field_is_shifted_in_a_parameter_without_names(
    area: str, statement: str, told: set[tuple[str, str]]
) -> None:
    """An area that has room, and names nothing of what the caller passes, is read by position or moved to what has names."""
    data = ("01 G.", "05 GA PIC 9(2).", "05 N PIC 9(3).", "05 GB PIC X(3).")
    caller = program("CALL 'TWO' USING G.", "GOBACK.", data=data)
    said = {one for one in grown_in("P.N", 2, caller, called(area, statement)).values() if one.is_breaking}
    assert {(one.what, one.node.name) for one in said} == told
    assert all(one.certainty == "may" for one in said)


def test_what_a_called_program_shifts_in_an_area_is_named_where_its_caller_reads_it() -> None:
    """Both sides of a parameter share its bytes, and the caller may move or pass them on."""
    data = ("01 T PIC X(90).", "01 U PIC X(90).", "01 S PIC X(3).")
    code = ("CALL 'TWO' USING T.", "MOVE T TO U.", "CALL 'THREE' USING U.", "GOBACK.")
    two = called("01 L. 05 LA PIC 9(2). 05 N PIC 9(3). 05 LB PIC X(3).", "CONTINUE")
    three = called("01 L PIC X(90).", "MOVE L(6:3) TO S").replace("TWO", "THREE")
    found = grown_in("TWO.N", 2, program(*code, data=data), two, three)
    assert [(one.what, one.node.name) for one in found.values() if one.is_breaking] == [("part", "THREE.L")]


@pytest.mark.parametrize(
    ("statement", "told"), [("CONTINUE", {"P.T"}), ("MOVE L TO S. MOVE S TO L", {"P.T", "THREE.T"})]
)
def test_what_is_shifted_in_an_area_reaches_another_caller_only_from_the_program_itself(
    statement: str, told: set[str]
) -> None:
    """A program that many call has what each passes, one at a time; what it moves there itself, each gets."""
    data = ("01 T PIC X(90).", "01 S PIC X(3).", "01 G.", "05 GA PIC 9(2).", "05 N PIC 9(3).", "05 GB PIC X(3).")
    code = ("CALL 'TWO' USING T.", "MOVE T(6:3) TO S.", "GOBACK.")
    three = program(*code, name="THREE", data=data)
    two = called("01 L PIC X(90).", statement).replace("01 S PIC X(3)", "01 S PIC X(90)")
    found = grown_in("P.N", 2, program("MOVE G TO T.", *code, data=data), three, two)
    assert {one.node.name for one in found.values() if one.is_breaking} == told


def test_nothing_follows_a_text_that_grows_at_the_end_of_its_group() -> None:
    """Its group is longer, and what a text with room for it holds today stays where it is."""
    group = ("01 G.", "05 GA PIC 9(2).", "05 A PIC X(3).", "01 T PIC X(12).", "01 S PIC X(4).")
    found = grown(
        "A", 2, *group, "PROCEDURE DIVISION.", "    MOVE G TO T.", "    MOVE T TO S.", "    MOVE T(4:2) TO S."
    )
    assert {one.what for one in found} == {"field", "record"}


def test_doubled_quotes_in_a_string_are_one_character() -> None:
    """What a STRING puts beside a growing item is as long as its text, so that this one still fits."""
    data = ("01 A PIC X(4).", "01 T PIC X(10).")
    found = grown("A", 2, *data, "PROCEDURE DIVISION.", "    STRING A 'IT''S' DELIMITED BY SIZE INTO T.")
    assert {one.what for one in found} == {"field"}


def test_a_value_is_followed_through_a_thousand_texts() -> None:
    """The last of them takes a part, however many have room."""
    texts = range(1_500)
    data = [f"01 T{at} PIC X(12)." for at in texts]
    moves = [f"    MOVE T{at} TO T{at + 1}." for at in texts[:-1]]
    code = ("PROCEDURE DIVISION.", "    MOVE N TO T0.", *moves, f"    MOVE T{texts[-1]} TO S.")
    found = grown("N", 2, "01 N PIC 9(4).", "01 S PIC X(5).", *data, *code)
    assert [(one.what, one.node.name) for one in found if one.what != "field"] == [("part", "P.S")]


@pytest.mark.needs("cobc")
def test_a_compiled_program_sees_other_characters(tmp_path: Path) -> None:
    """JUSTIFIED text, and digits in a text, start further on; the value is that of today."""
    shown = []
    for length in (4, 6):
        data = [f"01 N PIC 9({length}).", f"01 J PIC X({length}) JUST.", *DATA[3:]]
        code = [
            "MOVE 1234 TO N",
            "MOVE 'ABCD' TO J",
            "MOVE N TO T",
            "MOVE T TO S",
            "MOVE J TO U",
            "MOVE FUNCTION REVERSE(T) TO R",
            "DISPLAY S '-' U(1:5) '-' R '-'",
        ]
        shown += displayed([*data, "PROCEDURE DIVISION.", *(f"    {one}." for one in code)], tmp_path)
    assert shown == ["1234 -ABCD -        -", "00123-  ABC-      43-"]

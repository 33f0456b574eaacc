"""What breaks if longer values pass through an item with room, and where are the digits of a number in a group?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cobol.test_growth_compared import grown
from tests.cobol.test_growth_forms import displayed

if TYPE_CHECKING:
    from pathlib import Path

DATA = (
    "01 A PIC X(4).", "01 N PIC 9(4).", "01 W PIC X(12).", "01 V PIC X(20).", "01 M PIC 9(9) COMP-3.", "01 B PIC X(4).",
    "01 C PIC X(5).", "01 D PIC X(2).", "01 E PIC X(6).", "01 L PIC X(12).", "01 O PIC 9(4).",
)  # fmt: skip


@pytest.mark.parametrize(
    ("field", "statements", "short"),
    [
        ("A", ("MOVE A TO W", "MOVE W TO B C D E"), {"B", "C"}),  # D takes only a part today, and E has room
        ("A", ("MOVE A TO W", "MOVE W TO V", "MOVE V TO B"), {"B"}),
        ("A", ("MOVE FUNCTION TRIM(A) TO W", "MOVE FUNCTION TRIM(W) TO B"), {"B"}),
        ("A", ("MOVE A TO W", "MOVE W TO B", "MOVE L TO W", "MOVE W TO C"), {"B"}),  # another use
        ("A", ("STRING '-' A DELIMITED BY SIZE INTO W", "MOVE W TO B"), set()),
        ("A", ("MOVE A TO W", "MOVE W TO W"), set()),
        ("N", ("MOVE N TO M", "MOVE M TO O"), {"O"}),
        ("N", ("MOVE N TO M", "MOVE M TO B"), set()),  # it takes four of nine digits
    ],
)
def test_what_held_all_of_a_work_field_that_was_in_use_may_be_too_short(
    field: str, statements: tuple[str, ...], short: set[str]
) -> None:
    """The length of the values counts, not that of the item that passes them on; nothing follows from what is cut today."""
    found = grown(field, 2, *DATA, "PROCEDURE DIVISION.", *(f"    {one}." for one in statements))
    told = [one for one in found if one.what == "too short"]
    assert {one.node.name.removeprefix("P.") for one in told} == short
    assert all((one.certainty, one.needed_bytes) == ("may", 6) for one in told), told


@pytest.mark.needs("cobc")
def test_a_compiled_program_cuts_what_passes_through_a_work_field(tmp_path: Path) -> None:
    """The reported items lose the end of the longer value, and the others display what they did."""
    shown = []
    for length in (4, 6):
        data = [f"01 A PIC X({length}).", *DATA[1:]]
        code = [f"MOVE '{'ABCDEF'[:length]}' TO A", "MOVE A TO W", "MOVE W TO B C E", "DISPLAY B '-' C '-' E"]
        shown += displayed([*data, "PROCEDURE DIVISION.", *(f"    {one}." for one in code)], tmp_path)
    assert shown == ["ABCD-ABCD -ABCD  ", "ABCD-ABCDE-ABCDEF"]


@pytest.mark.needs("cobc")
@pytest.mark.parametrize(("picture", "sender", "is_told"), [("9", 6, True), ("X", 6, False), ("9", 2, False)])
def test_a_number_in_a_group_gets_its_digits_from_other_bytes(
    picture: str, sender: int, *, is_told: bool, tmp_path: Path
) -> None:
    """A sender that fills the group up to a number's end has its digits where the longer number begins; text stays in place."""
    shown = []
    data = ("01 S PIC X(6) VALUE 'AB1234'.", "01 G. 05 H PIC XX.")
    for length in (4, 5):
        lines = [*data, f"05 T PIC {picture}({length}).", "PROCEDURE DIVISION.", "    MOVE ZEROS TO T."]
        lines += [f"    MOVE S(1:{sender}) TO G.", "    IF T = 1234 DISPLAY 'Y' ELSE DISPLAY 'N'."]
        shown += displayed(lines, tmp_path)
    lines = [f"01 S PIC X({sender}).", data[1], f"05 T PIC {picture}(4).", "PROCEDURE DIVISION.", "    MOVE S TO G."]
    found = grown("T", 1, *lines)
    assert (shown == ["Y", "N"]) == is_told
    assert [one.node.name for one in found if one.what == "other layout"] == ["P.S"] * is_told

"""What breaks if a field grows: digits, characters and bytes, parts of items, parameters, and shared storage?"""

from __future__ import annotations

import re

import pytest
from tests.cobol.sources import program
from tests.cobol.test_graph import estate, graph_of

from penstock.cobol.graph import Carrying, EstateGraph, Grown, NodeId, growth, impact, nodes_named

Found = dict[tuple[str, str], Grown]


def grown(name: str, more: int, *programs: str) -> Found:
    """Return what growth reports for some programs, by kind and by name without the first program's prefix."""
    graph = graph_of({f"p{at}.cbl": text.encode() for at, text in enumerate(programs)})
    found = growth(graph, nodes_named(graph, name), more, carrying=Carrying(graph))
    return {(one.what, one.node.name.removeprefix("P.")): one for one in found}


def short(found: Found) -> dict[str, tuple[str, int | None]]:
    """Return what is too short, with its certainty and the length that it needs."""
    return {
        name: (one.certainty, one.needed_bytes)
        for (what, name), one in found.items()
        if what in {"too short", "cut today"}
    }


CALLED = """\
       ID DIVISION.
       PROGRAM-ID. TWO.
       DATA DIVISION.
       LINKAGE SECTION.
       01  LA PIC X(4).
       PROCEDURE DIVISION {0} LA.
           GOBACK.
"""


@pytest.mark.parametrize("by", ["", "BY REFERENCE ", "BY CONTENT ", "BY VALUE "])
def test_a_parameter_that_is_one_item_is_too_short_in_the_caller(by: str) -> None:
    """The grown parameter extends beyond the bytes that the caller passes, so the caller's item has to grow, and so on."""
    caller = program(f"CALL 'TWO' USING {by}A.", "MOVE A TO B.", "GOBACK.", data=("01 A PIC X(4).", "01 B PIC X(4)."))
    found = grown("TWO.LA", 2, caller, CALLED.format("USING"))
    assert short(found) == {"A": ("is", 6), "B": ("is", 6)}
    assert found["too short", "A"].why == "it passes to TWO.LA, which gets longer"
    # The same holds in the other direction.
    assert short(grown("P.A", 2, caller, CALLED.format("USING"))) == {"TWO.LA": ("is", 6), "B": ("is", 6)}


@pytest.mark.parametrize("length", [6, 3_000])
def test_a_number_may_have_to_be_as_long_as_any_record(length: int) -> None:
    """Three thousand bytes hold a number of 7,224 digits, more than Python writes out."""
    caller = program("CALL 'TWO' USING A.", "GOBACK.", data=(f"01 A PIC X({length}).",))
    called = CALLED.replace("LA PIC X(4)", "LA PIC X COMP-X").format("USING")
    assert short(grown("P.A", 2, caller, called)) == {"TWO.LA": ("may", length + 2)}


@pytest.mark.parametrize(
    ("given", "called", "caller"),
    [
        ("A", {"TWO.LA": ("is", 6)}, {"A": ("is", 6)}),
        # The part is as long as before; a longer parameter has one byte more than it gets.
        ("A(1:3)", {}, {"A": ("may", None)}),
        ("BY CONTENT A(1:4)", {}, {"A": ("is", None)}),
        ("A(2:)", {"TWO.LA": ("is", 5)}, {"A": ("may", None)}),
        ("A(1:)", {"TWO.LA": ("is", 6)}, {"A": ("is", None)}),
        ("A(N:3)", {}, {"A": ("may", None)}),
        ("A(2:N)", {"TWO.LA": ("may", 5)}, {"A": ("may", None)}),
    ],
)
def test_a_part_that_is_passed_is_as_long_as_before(
    given: str, called: dict[str, tuple[str, int | None]], caller: dict[str, tuple[str, int | None]]
) -> None:
    """The lengths in the reference modification decide, in both directions."""
    data = ("01 A PIC X(4).", "01 N PIC 9.")
    source = program(f"CALL 'TWO' USING {given}.", "GOBACK.", data=data)
    assert short(grown("P.A", 2, source, CALLED.format("USING"))) == called
    assert short(grown("TWO.LA", 2, source, CALLED.format("USING"))) == caller


CALLED_WITH_RECORD = CALLED.replace("01  LA PIC X(4).", "01  LA.\n       05  LB PIC X(4).\n       05  LC PIC X(4).")


@pytest.mark.parametrize(
    ("given", "back"),
    [
        ("R", {"A"}),
        ("BY CONTENT R", set()),
        ("BY VALUE R", set()),
        ("BY CONTENT N REFERENCE R", {"A"}),
        ("R(1:8)", {"A"}),
    ],
)
def test_what_is_given_by_content_does_not_come_back(given: str, back: set[str]) -> None:
    """No value comes back from an argument by content, but a parameter that grows is still too long for the caller's item."""
    data = ("01 R.", "  05 A PIC X(4).", "  05 B PIC X(4).", "01 N PIC 9.")
    called = CALLED_WITH_RECORD.format("USING").replace(
        "USING LA", "USING LA" if "N" not in given.split() else "USING LN LA"
    )
    called = called.replace("PROCEDURE", "01  LN PIC 9.\n       PROCEDURE", 1)
    source = program(f"CALL 'TWO' USING {given}.", "GOBACK.", data=data)
    graph = graph_of({"p.cbl": source.encode(), "q.cbl": called.encode()})
    carrying = Carrying(graph)
    (inside,), (outside,) = nodes_named(graph, "TWO.LB"), nodes_named(graph, "P.A")
    assert {one.target.name.removeprefix("P.") for one in carrying.after(inside)} == back
    assert [one.target for one in carrying.after(outside)] == [inside]
    assert [one.source for one in carrying.before(inside)] == [outside]
    assert set(short(grown("TWO.LB", 2, source, called))) == {"A"}
    passed = [edge for edge in impact(graph, "TWO.LA").edges if edge.verb == "passes to" and "P.R" in str(edge.source)]
    assert passed


def test_a_part_of_a_group_that_is_passed_is_what_lies_at_its_place() -> None:
    """The second of two fields is passed; if the first grows, other bytes are at its place."""
    data = ("01 R.", "  05 A PIC X(4).", "  05 B PIC X(4).")
    source = program("CALL 'TWO' USING R(5:4).", "GOBACK.", data=data)
    found = grown("P.A", 2, source, CALLED.format("USING"))
    assert {name for what, name in found if what == "other layout"} == {"TWO.LA"}
    assert set(short(grown("P.B", 2, source, CALLED.format("USING")))) == {"TWO.LA"}


def test_what_is_returned_goes_to_the_caller_alone() -> None:
    """A field that receives a longer result is too short; a longer receiver gets the same result."""
    caller = program("CALL 'TWO' RETURNING A.", "GOBACK.", data=("01 A PIC X(4).",))
    assert short(grown("TWO.LA", 2, caller, CALLED.format("RETURNING"))) == {"A": ("is", 6)}
    assert short(grown("P.A", 2, caller, CALLED.format("RETURNING"))) == {}


def test_nothing_is_carried_to_what_is_returned() -> None:
    """The fields of a returned record are carried to those of the caller, and not back."""
    caller = program("CALL 'TWO' RETURNING R.", "GOBACK.", data=("01 R.", "  05 A PIC X(4).", "  05 B PIC X(4)."))
    called = CALLED.format("RETURNING").replace(
        "01  LA PIC X(4)", "01  LA.\n       05  LB PIC X(4).\n       05  LC PIC X(4)"
    )
    assert set(short(grown("TWO.LB", 2, caller, called))) == {"A"}
    assert short(grown("P.A", 2, caller, called)) == {}


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("MOVE A TO T", ("is", 6)),
        # Three characters stay three.
        ("MOVE A(1:3) TO T", None),
        ("MOVE A(N:3) TO T", None),
        ("MOVE A(1:4) TO T", None),
        # A part up to the end gets longer.
        ("MOVE A(1:) TO T", ("is", 6)),
        ("MOVE A(2:) TO T", ("is", 5)),
        ("MOVE A(4:) TO T", None),
        ("MOVE A(N:) TO T", ("may", 6)),
        ("MOVE A(2:N) TO T", ("may", 5)),
        # A part that receives it is too short, whatever comes after it.
        ("MOVE A TO L(5:4)", ("is", None)),
        ("MOVE A TO L(5:6)", None),
        ("MOVE A TO L(7:)", ("is", None)),
        ("MOVE A TO L(5:N)", ("may", None)),
        # The part is as long as what is sent, as far as there is room.
        ("MOVE A TO L(5:LENGTH OF A)", None),
        ("MOVE A TO L(6:LENGTH OF A)", ("is", None)),
        ("MOVE A TO L(5:LENGTH OF B)", ("may", None)),
        ("MOVE A(1:3) TO T, MOVE A TO T", ("is", 6)),
        ("UNSTRING A DELIMITED BY ',' INTO T", ("may", 6)),
        # What delimits does not become longer with what it is in.
        ("UNSTRING A DELIMITED BY ',' INTO L DELIMITER IN T", None),
        ("UNSTRING A DELIMITED BY ',' INTO L DELIMITER IN T(2:1)", None),
        ("UNSTRING A(2:) DELIMITED BY ',' INTO L DELIMITER IN T", None),
        ("STRING A DELIMITED BY SIZE INTO T", ("is", 6)),
        ("STRING A DELIMITED BY SPACE INTO T", ("may", 6)),
        ("STRING A DELIMITED BY SIZE INTO T WITH POINTER N", ("may", 6)),
        ("STRING A '--' B DELIMITED BY SIZE INTO L", ("is", 12)),
        ("STRING A '-' X'0D' B DELIMITED BY SIZE INTO L", ("is", 12)),
        ("STRING A B DELIMITED BY SIZE INTO L", None),
        ("STRING B(1:2) SPACE A DELIMITED BY SIZE INTO L", None),
        ("INSPECT T REPLACING ALL 'A' BY 'B'", None),
        ("INITIALIZE T", None),
        ("ACCEPT T", None),
    ],
)
def test_a_part_of_a_field_is_too_long_for_what_gets_it_where_its_length_grows(
    statement: str, said: tuple[str, int | None] | None
) -> None:
    """Lengths in reference modification, STRING and UNSTRING decide; it is `may` if data decides how much is sent."""
    data = ("01 A PIC X(4).", "01 B PIC X(4).", "01 T PIC X(4).", "01 L PIC X(10).", "01 N PIC 99.")
    found = short(grown("P.A", 2, program(f"{statement}.", "GOBACK.", data=data)))
    assert found == ({} if said is None else {"L" if " L" in statement else "T": said})


def test_what_takes_only_a_part_today_comes_last_and_breaks_nothing() -> None:
    """A receiver that already cuts is reported as such, unless another MOVE gives it all of an item."""
    data = ("01 A PIC X(9).", "01 T PIC X(4).", "01 U PIC X(4).", "01 V PIC X(20).")
    cut = program("MOVE A TO T, MOVE A(1:) TO V.", data=data)
    assert [key for key in grown("P.A", 2, cut) if key[0] != "field"] == [("cut today", "T")]
    both = program("MOVE A TO T, MOVE U TO T, MOVE A TO U, MOVE U TO A.", data=data)
    found = grown("P.U", 2, both)
    assert ("too short", "T") in found
    assert ("cut today", "T") not in found
    assert not found["too short", "T"].why.endswith("today")


def test_two_that_grow_are_too_long_for_one_string_together() -> None:
    """Each alone would still fit next to the other."""
    data = ("01 A PIC X(4).", "01 B PIC X(4).", "01 L PIC X(10).")
    move = program("MOVE A TO B.", "STRING A B DELIMITED BY SIZE INTO L.", data=data)
    assert short(grown("P.A", 2, move)) == {"B": ("is", 6), "L": ("is", 12)}


@pytest.mark.parametrize(
    ("source", "target", "more", "said"),
    [
        # Digits and bytes differ: four bytes hold nine digits, three packed bytes five.
        ("9(5)", "9(5) COMP", 2, ("is", 4, 5, 7)),
        ("9(4)", "9(4) COMP", 3, ("is", 4, 4, 7)),
        ("9(4)", "9(4) COMP-3", 1, ("is", 3, 4, 5)),
        ("9(5)", "9(5) COMP-3", 2, ("is", 4, 5, 7)),
        ("9(5) COMP-3", "9(5)", 2, ("is", 9, 5, 9)),
        ("9(5)", "S9(5) SIGN LEADING SEPARATE", 2, ("is", 8, 5, 7)),
        ("9(5)", "ZZ,ZZ9", 2, ("is", 8, 5, 7)),
        # Their bytes hold any number of four digits, and of nine.
        ("9(4)", "S9(2) COMP-5", 1, ("is", 4, 2, 5)),
        ("9(2)", "S9(2) COMP-5", 2, None),
        # A binary item of four bytes has five to nine digits.
        ("9(4) COMP", "9(4)", 2, ("is", 9, 4, 9)),
        ("9(4) COMP", "9(6)", 2, ("may", 9, 6, 9)),
        ("9(4) COMP", "9(9)", 2, None),
        # Text gets the digits of a number without sign and point; a number takes text as digits.
        ("9(4) COMP-3", "X(4)", 1, ("is", 6, None, None)),
        ("S9(4) SIGN TRAILING SEPARATE", "X(6)", 2, None),
        ("X(4)", "9(4)", 2, ("is", 6, 4, 6)),
        ("X(4)", "9(4) COMP", 2, ("is", 4, 4, 6)),
        ("X(4)", "XXBXX", 2, ("is", 7, None, None)),
        ("99/99", "X(5)", 2, ("is", 7, None, None)),
        ("X(4)", "COMP-1", 9, None),
        ("9(4)", "BINARY-LONG", 5, None),
    ],
)
def test_digits_characters_and_bytes_are_three_quantities(
    source: str, target: str, more: int, said: tuple[str, int, int | None, int | None] | None
) -> None:
    """A MOVE to a number compares digits, one to text characters; bytes are the storage of an item."""
    pictures = [one if one[:1] in "BC" else f"PIC {one}" for one in (source, target)]
    data = (f"01 A {pictures[0]}.", f"01 T {pictures[1]}.")
    found = grown("P.A", more, program("MOVE A TO T.", data=data)).get(("too short", "T"))
    assert said == (found and (found.certainty, found.needed_bytes, found.digits, found.needed_digits))


def test_what_needs_more_digits_and_no_more_bytes_makes_nothing_longer() -> None:
    """A binary item grows only in its picture; a receiver of its value is still too short."""
    data = ("01 A PIC 9(5).", "01 R.", "  05 T PIC 9(5) COMP.", "01 U PIC 9(5).")
    found = grown("P.A", 2, program("MOVE A TO T.", "MOVE T TO U.", data=data))
    assert short(found) == {"T": ("is", 4), "U": ("is", 7)}
    assert ("record", "R") not in found


def test_what_only_may_grow_makes_others_too_short_as_surely() -> None:
    """A consequence of a `may` is a `may` too."""
    data = ("01 A PIC X(4).", "01 T PIC X(4).", "01 U PIC X(4).")
    found = grown("P.A", 2, program("UNSTRING A DELIMITED BY ',' INTO T.", "MOVE T TO U.", data=data))
    assert short(found) == {"T": ("may", 6), "U": ("may", 6)}


def test_a_rename_is_no_redefinition_and_gets_longer_as_a_group_does() -> None:
    """A RENAMES covers its items from the first to the last, and is too long for its receivers."""
    data = (
        "01 R.", "  05 A PIC X(4).", "  05 B PIC X(4).", "  05 C PIC X(4).",
        "  66 AB RENAMES A THRU B.", "  66 BC RENAMES B THRU C.", "01 T PIC X(8).",
    )  # fmt: skip
    found = grown("P.A", 2, program("MOVE AB TO T.", data=data))
    assert {key: (one.bytes, one.needed_bytes) for key, one in found.items()} == {
        ("field", "A"): (4, 6), ("group", "AB"): (8, 10), ("record", "R"): (12, 14), ("too short", "T"): (8, 10),
    }  # fmt: skip


def test_a_rename_that_is_too_short_makes_its_record_longer() -> None:
    """A RENAMES receives more than its items hold; which of them has to grow is not said."""
    data = ("01 R.", "  05 A PIC X(4).", "  05 B PIC X(4).", "  66 AB RENAMES A THRU B.", "01 T PIC X(8).")
    found = grown("P.T", 2, program("MOVE T TO AB.", data=data))
    assert short(found) == {"AB": ("is", 10)}
    assert found["record", "R"].needed_bytes == 10


def test_one_item_that_is_laid_over_another_grows_with_it() -> None:
    """Two records share their storage: what the second is moved to is too short for the first."""
    data = ("01 A PIC X(4).", "01 V REDEFINES A PIC 9(4).", "01 T PIC 9(4).")
    found = grown("P.A", 2, program("MOVE V TO T.", data=data))
    assert found["redefinition", "V"].needed_bytes == 6
    assert short(found) == {"T": ("is", 6)}
    assert short(grown("P.V", 2, program("MOVE A TO T.", data=data))) == {"T": ("is", 6)}


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ("05 V REDEFINES A PIC X(4).", {"V": 6}),
        ("05 V REDEFINES A PIC X(3).", {"V": 6}),  # may: today it has only a part of the field
        # The first of the two is long enough; what follows the field in the second moves.
        ("05 W REDEFINES G PIC X(20).", {}),
        ("05 W REDEFINES G. 10 W1 PIC X(4). 10 FILLER PIC X(16).", {}),
        ("05 W REDEFINES G. 10 W1 PIC X(6). 10 W2 PIC X(14).", {"W": None}),
        # A shorter record of another kind stays as it is, unless it names bytes that move.
        ("05 W REDEFINES G. 10 W1 PIC X(4). 10 FILLER PIC X.", {}),
        ("05 W REDEFINES G. 10 W1 PIC X(5). 10 W2 PIC X.", {"W": None}),
    ],
)
def test_what_is_laid_over_a_field_is_too_short_or_no_longer_lies_there(over: str, said: dict[str, int | None]) -> None:
    """A redefinition that has room for everything and names no bytes that move is not reported."""
    group = ("  05 G.", "    10 A PIC X(4).", "    10 B PIC X(4).") if "REDEFINES G" in over else ("  05 A PIC X(4).",)
    data = ("01 R.", *group, f"  {over}")
    found = grown("P.A", 2, program("GOBACK.", data=data))
    assert {name: one.needed_bytes for (what, name), one in found.items() if what == "redefinition"} == said


def test_the_bytes_that_sync_leaves_empty_take_up_what_grows_or_become_more() -> None:
    """The three slack bytes after the first item absorb growth; each table row is as long as its alignment requires."""
    data = (
        "01 R.", "  05 A PIC X.", "  05 N PIC 9(7) COMP SYNC.",
        "  05 T OCCURS 3.", "    10 B PIC X(2).", "    10 M PIC 9(7) COMP SYNC.", "    10 C PIC X.",
    )  # fmt: skip
    source = program("GOBACK.", data=data)
    assert grown("P.A", 3, source).keys() == {("field", "A")}
    assert {name: one.needed_bytes for (_, name), one in grown("P.A", 4, source).items()} == {"A": 5, "R": 48}
    assert grown("P.B", 2, source).keys() == {("field", "B")}
    assert {name: one.needed_bytes for (_, name), one in grown("P.C", 4, source).items()} == {"C": 5, "T": 16, "R": 56}


def test_a_group_whose_length_depends_on_data_may_be_too_long() -> None:
    """With OCCURS DEPENDING ON, the maximum of occurrences is too long, and fewer may not be."""
    data = ("01 N PIC 9.", "01 G.", "  05 A PIC X(4) OCCURS 1 TO 5 DEPENDING ON N.", "01 T PIC X(20).")
    found = grown("P.A", 2, program("MOVE G TO T.", data=data))
    assert short(found) == {"T": ("may", 30)}


def test_a_group_of_the_same_record_does_not_grow_with_it() -> None:
    """One of two groups in a record is moved to the other."""
    data = ("01 R.", "  05 G.", "    10 A PIC X(4).", "  05 H.", "    10 B PIC X(4).", "  05 T PIC X(4).")
    found = grown("P.A", 2, program("MOVE G TO H.", "MOVE G TO T.", data=data))
    assert short(found) == {"H": ("is", 6), "B": ("is", 6), "T": ("is", 6)}


LAYOUT = ("01 R.", "   05 A PIC X(5).", "   05 B PIC X(5).", "01 H PIC X(10).", "01 T PIC X(5).", "01 K PIC 9.")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("MOVE H TO R", {("other layout", "H"): "is"}),
        ("MOVE T TO R", {}),  # it fills only A
        ("MOVE R(6:5) TO T", {("other layout", "T"): "is"}),
        ("MOVE T TO R(6:)", {("other layout", "T"): "is"}),
        ("MOVE R(K:5) TO T", {("other layout", "T"): "may"}),
        ("IF R(6:1) = 'X' OR R(1:1) = 'Y' CONTINUE END-IF", {("part", "R"): "is"}),
        ("MOVE 'X' TO R(5:2)", {("part", "R"): "is"}),
        ("MOVE 'X' TO R(K:2) R(1:5)", {}),
        ("DISPLAY T(R(6:1):1)", {("part", "R"): "is"}),
    ],
)
def test_what_shares_bytes_with_a_group_by_a_move_sees_others_there(
    statement: str, said: dict[tuple[str, str], str]
) -> None:
    """A sender of the whole group, or of a part at fixed places, has the old layout; a sender of the field alone does not."""
    found = grown("P.A", 2, program(f"{statement}.", "GOBACK.", data=LAYOUT))
    assert {key: one.certainty for key, one in found.items() if key[0] not in {"field", "record"}} == said


def test_a_record_that_one_item_redefines_grows_with_it() -> None:
    """A redefinition of the whole record is found while the other fields are examined."""
    data = (*LAYOUT[:3], "01 RX REDEFINES R PIC X(10).")
    found = grown("P.A", 2, program("MOVE A TO B.", "GOBACK.", data=data))
    assert found["redefinition", "RX"].needed_bytes == found["record", "R"].needed_bytes == 14


SHARED = """\
       ID DIVISION.
       PROGRAM-ID. {0}.
       DATA DIVISION.
       {1} SECTION.
       01  RA.
           05  RB PIC X(4).
           05  RC PIC X(4).
       PROCEDURE DIVISION {2}.
           {3}
           GOBACK.
"""


@pytest.mark.parametrize("by", ["", "BY CONTENT "])
def test_what_one_program_passes_does_not_come_up_in_another_that_calls_the_same(by: str) -> None:
    """Without fields in the called program, no path leads from one of its callers to another.

    If it has fields, the other caller's field has to grow too.
    """
    callers = [SHARED.format(name, "WORKING-STORAGE", "", f"CALL 'TWO' USING {by}RA.") for name in ("ONE", "THREE")]
    plain = CALLED.replace("LA PIC X(4)", "LA PIC X(8)").format("USING")
    graph = graph_of({f"p{at}.cbl": text.encode() for at, text in enumerate([*callers, plain])})
    (field,) = nodes_named(graph, "ONE.RB")
    carrying = Carrying(graph)
    assert not [*carrying.after(field, layouts=True), *carrying.before(field)]
    assert set(short(grown("ONE.RB", 2, *callers, plain))) == {"TWO.LA"}
    assert set(short(grown("ONE.RB", 2, *callers, CALLED_WITH_RECORD.format("USING")))) == {"TWO.LB", "THREE.RB"}


def test_a_record_that_comes_back_to_its_place_is_laid_over_nothing_new() -> None:
    """A record that is saved and restored already shares its bytes by REDEFINES, which needs no second report."""
    data = ("01 R.", "  05 G.", "    10 A PIC X(4).", "  05 H REDEFINES G.", "    10 B PIC X(4).", "01 S PIC X(4).")
    found = grown("P.A", 2, program("MOVE R TO S.", "MOVE S TO R.", "GOBACK.", data=data))
    assert set(short(found)) == {"S"}
    assert {name for what, name in found if what == "redefinition"} == {"H"}


def test_of_the_fields_at_one_place_the_same_line_of_a_copybook_is_meant() -> None:
    """Two programs copy a record with a redefinition, and one passes it to the other."""
    copied = "       01  RA.\n           05  RB PIC X(4).\n           05  RC REDEFINES RB PIC X(4).\n"
    one = SHARED.format("ONE", "WORKING-STORAGE", "", "CALL 'TWO' USING RA.")
    two = SHARED.format("TWO", "LINKAGE", "USING RA", "CONTINUE.")
    texts = {
        f"{at}.cbl": re.sub(r" *01  RA\..*?(?= *PROCEDURE)", "       COPY REC.\n", text, flags=re.DOTALL)
        for at, text in enumerate((one, two))
    }
    graph = graph_of({"REC.cpy": copied.encode(), **{path: text.encode() for path, text in texts.items()}})
    (field,) = nodes_named(graph, "ONE.RB")
    assert {edge.target.name for edge in Carrying(graph).after(field) if edge.verb == "carried to"} == {"TWO.RB"}


COPIES = """\
       ID DIVISION.
       PROGRAM-ID. {0}.
       DATA DIVISION.
       {1} SECTION.
       COPY REC.
       PROCEDURE DIVISION {2}.
           {3}
           GOBACK.
"""


def copying(copied: str) -> EstateGraph:
    """Return the graph of two programs that copy a record, which one passes to the other; the first displays RA."""
    one = COPIES.format("ONE", "WORKING-STORAGE", "", "CALL 'TWO' USING R. DISPLAY RA.")
    two = COPIES.format("TWO", "LINKAGE", "USING R", "CONTINUE.")
    texts = {"REC.cpy": f"       {copied}\n", "one.cbl": one, "two.cbl": two}
    return graph_of({path: text.encode() for path, text in texts.items()})


def test_entries_on_one_line_of_a_copybook_are_not_one_item() -> None:
    """A field grows in all programs that copy it, and what is beside it on its line, as in the copybook of a map, does not."""
    graph = copying("01 R. 02 RA PIC X(4). 02 RB PIC X(4). 02 RC REDEFINES RB PIC X(4).")
    for asked in ("REC.RA", "ONE.RA"):
        found = growth(graph, nodes_named(graph, asked), 2, carrying=Carrying(graph))
        assert {one.node.name.partition(".")[2] for one in found if one.what == "field"} == {"RA"}
    assert {node.name for node in nodes_named(graph, "REC.RB")} == {"REC.RB", "ONE.RB", "TWO.RB"}
    assert "reads" not in {edge.verb for edge in impact(graph, "REC.RB").edges}
    (field,) = nodes_named(graph, "ONE.RB")
    assert {edge.target.name for edge in Carrying(graph).after(field) if edge.verb == "carried to"} == {"TWO.RB"}


@pytest.mark.parametrize(("length", "sure"), [(10, "is"), (11, "is"), (12, "may"), (40, "may")])
def test_a_raw_area_that_has_room_has_the_layout_of_whoever_fills_it(length: int, sure: str) -> None:
    """A sender that fills a growing group is too short for it, or may have the old layout."""
    data = (*LAYOUT[:3], f"01 H PIC X({length}).")
    assert grown("P.A", 2, program("MOVE H TO R.", "GOBACK.", data=data))["other layout", "H"].certainty == sure


@pytest.mark.parametrize(
    ("statement", "carried"),
    [
        ("MOVE R TO H", {"A": {"HA"}, "B": set()}),  # H is shorter, so B is cut
        ("MOVE R(6:5) TO T", {"A": set(), "B": {"T"}}),
        ("MOVE R(1:5) TO T", {"A": {"T"}, "B": set()}),
        ("MOVE R(6:5) TO H(1:5)", {"A": set(), "B": {"HA"}}),
        ("MOVE R(K:5) TO T", {"A": set(), "B": set()}),
    ],
)
def test_a_part_of_a_group_carries_what_lies_at_its_place(statement: str, carried: dict[str, set[str]]) -> None:
    """A reference modification carries the bytes that it names, on both sides."""
    data = (*LAYOUT[:3], "01 H.", "   05 HA PIC X(5).", "   05 HB PIC X(4).", *LAYOUT[4:])
    graph = graph_of({"p.cbl": program(f"{statement}.", "GOBACK.", data=data).encode()})
    carrying = Carrying(graph)
    for name, expected in carried.items():
        after = [edge for node in nodes_named(graph, f"P.{name}") for edge in carrying.after(node)]
        sure = {edge.target.name.removeprefix("P.") for edge in after if edge.certainty == "is"}
        assert sure == expected
        before = [edge for one in expected for node in nodes_named(graph, f"P.{one}") for edge in carrying.before(node)]
        assert f"P.{name}" in {edge.source.name for edge in before} or not expected


def test_each_field_of_an_estate_has_an_answer_whose_lines_are_cited() -> None:
    """In the example estate, each field that is reported too short has fewer bytes or digits than it needs."""
    graph = estate()
    carrying = Carrying(graph)
    fields = [NodeId("field", field.name) for part in graph.parts for field in part.fields if field.name]
    assert len(fields) > 450
    for node in fields[::3]:
        for one in growth(graph, [node], 2, carrying=carrying):
            assert one.citations
            assert one.why
            if one.what in {"too short", "other layout"} and None not in (one.bytes, one.needed_bytes):
                now, needed = (one.bytes, one.digits or 0), (one.needed_bytes, one.needed_digits or 0)
                assert now < needed, one


def test_what_joins_a_record_that_is_laid_out_is_looked_at_with_the_next() -> None:
    """An item that redefines the field grows with it, while a group that SYNC makes shorter is reported."""
    data = (
        "01 R.", "  05 A PIC X.", "  05 V REDEFINES A PIC X.",
        "  05 G.", "    10 B PIC X(2).", "    10 N PIC 9(7) COMP SYNC.",
    )  # fmt: skip
    found = grown("P.A", 1, program("GOBACK.", data=data))
    assert found["redefinition", "V"].needed_bytes == 2
    assert (found["group", "G"].bytes, found["group", "G"].needed_bytes) == (7, 6)


OF_FILE = """\
       ID DIVISION.
       PROGRAM-ID. {name}.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO "{path}".
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  RA.
           05  A1 PIC X(5).
           05  B1 PIC X(5).
{more}       PROCEDURE DIVISION.
           OPEN {mode} F.
           {does} F.
           GOBACK.
"""


def test_other_records_of_a_file_share_its_storage() -> None:
    """Fields of the other records after the growing field no longer share its bytes; the records may be of another kind."""
    lines = ("01  RB.", "    05  FILLER PIC X(5).", "    05  C1 PIC X(5).", "01  RC.", "    05  D1 PIC X(5).")
    more = "".join(f"       {line}\n" for line in lines)
    found = grown("P.A1", 2, OF_FILE.format(name="P", path="f.dat", more=more, mode="INPUT", does="READ"))
    assert found["redefinition", "RB"].certainty == "may"
    assert ("redefinition", "RC") not in found


def test_of_the_records_of_a_data_set_those_of_another_kind_may_be_meant() -> None:
    """A single record of the other program is the same with other names; of two records, either may be meant."""
    writes = OF_FILE.format(name="ONE", path="data/f.dat", more="", mode="OUTPUT", does="WRITE RA. DISPLAY")
    more = "       01  RB.\n           05  B2 PIC X(7).\n"
    for several, sure in (("", "is"), (more, "may")):
        reads = OF_FILE.format(name="TWO", path="data/f.dat", more=several, mode="INPUT", does="READ")
        assert grown("ONE.A1", 2, writes, reads)["other layout", "TWO.RA"].certainty == sure
        assert grown("TWO.A1", 2, writes, reads)["other layout", "ONE.RA"].certainty == sure


@pytest.mark.parametrize("path", ["./data/f.dat", "data\\f.dat", ".\\data\\f.dat"])
def test_a_file_is_one_however_its_path_is_written(path: str) -> None:
    """A reader that spells the path differently has the other layout."""
    writes = OF_FILE.format(name="ONE", path=path, more="", mode="OUTPUT", does="WRITE RA. DISPLAY")
    found = grown(
        "ONE.A1", 2, writes, OF_FILE.format(name="TWO", path="data/f.dat", more="", mode="INPUT", does="READ")
    )
    assert found["other layout", "TWO.RA"].certainty == "is"


UNION = ("  05 ORD{over}.", "    10 ONO PIC X(6).", "    10 ODATE PIC X(8).", "    10 OREST PIC X(6).")
CUSTOMER = ("    10 CNO PIC X(4).", "    10 CNAME PIC X(16).")


@pytest.mark.parametrize(
    ("data", "field", "told"),
    [
        # The bodies of two kinds of records: the longer one has to fit, the other stays as it is.
        (("  05 CUST.", *CUSTOMER, *UNION), "CNO", {"ORD": "may"}),
        (("  05 CUST PIC X(20).", "  05 C REDEFINES CUST.", *CUSTOMER, *UNION), "CNO", {"CUST": "is", "ORD": "may"}),
        # One value and its parts, named or unnamed.
        (("  05 D PIC 9(8).", "  05 E REDEFINES D.", "    10 YY PIC 9(4).", "    10 MD PIC 9(4)."), "D", {"E": "is"}),
        (
            ("  05 D PIC 9(8).", "  05 FILLER REDEFINES D.", "    10 YY PIC 9(4).", "    10 MD PIC 9(4)."),
            "D",
            {"YY": "is"},
        ),
        (("  05 D PIC 9(8).", "  05 REDEFINES D.", "    10 FILLER PIC 99.", "    10 YY PIC 99."), "D", {"YY": "is"}),
        (
            (
                "  05 G.",
                "    10 A PIC X(4).",
                "    10 B PIC X(4).",
                "  05 H REDEFINES G.",
                "    10 V PIC X(4).",
                "    10 W PIC X(4).",
            ),
            "A",
            {"H": "is"},
        ),
    ],
)
def test_what_is_laid_over_it_is_another_view_of_it_or_a_record_of_another_kind(
    data: tuple[str, ...], field: str, told: dict[str, str]
) -> None:
    """Two groups that both name the same bytes are views of one value."""
    lines = [line.format(over=" REDEFINES CUST") for line in data]
    found = grown(f"P.{field}", 2, program("GOBACK.", data=("01 R.", *lines)))
    assert {name: one.certainty for (what, name), one in found.items() if what == "redefinition"} == told


def test_an_item_any_length_is_as_long_as_what_its_caller_gives() -> None:
    """A receiver of the item is certainly too short; the item itself breaks nothing."""
    called = CALLED.replace("01  LA PIC X(4).", "01  LA PIC X ANY LENGTH.").replace(
        "       LINKAGE",
        "       LOCAL-STORAGE SECTION.\n       01  W PIC X(4).\n       01  V PIC X(6).\n       LINKAGE",
    )
    called = called.format("USING").replace("GOBACK", "MOVE LA TO W V.\n           GOBACK")
    found = grown("P.A", 2, program("CALL 'TWO' USING A.", "GOBACK.", data=("01 A PIC X(4).",)), called)
    assert short(found) == {"TWO.W": ("is", 6)}
    assert found["field", "TWO.LA"].why == "it is as long as what it receives"


def test_two_entries_on_one_line_of_a_program_are_two_items() -> None:
    """Only an item that a copybook declares grows with its other instances."""
    found = grown("P.A", 2, program("MOVE A TO T.", data=("01 A PIC X(4).", "01 G. 05 T PIC X(4). 05 U PIC X(4).")))
    assert ("field", "U") not in found
    assert short(found) == {"T": ("is", 6)}

"""What changes in comparisons of a field that grows? GnuCOBOL says what is equal, and what is always true."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.cobol.compiled import Item
from tests.cobol.sources import program
from tests.cobol.test_graph import graph_of
from tests.cobol.test_growth_forms import displayed

from penstock.cobol import scan
from penstock.cobol.facts import facts
from penstock.cobol.facts.data import SourcePlace
from penstock.cobol.graph import Carrying, Grown, growth, nodes_named

if TYPE_CHECKING:
    from pathlib import Path

TEXTS, NUMBERS = ("text", "group"), ("digits", "signed", "apart", "packed", "binary")


def grown(field: str, more: int, *lines: str) -> list[Grown]:
    """Return what follows if a field grows in a program given in free format from its data on."""
    head = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION."]
    graph = graph_of({"p.cbl": "".join(f"{line}\n" for line in [*head, *lines, "    GOBACK."]).encode()})
    return list(growth(graph, nodes_named(graph, f"P.{field}"), more, carrying=Carrying(graph)))


class Pair(NamedTuple):
    """Two items that are compared, and how many bytes the first grows."""

    one: Item
    other: Item
    more: int


def pairs() -> list[Pair]:
    """Return items of all kinds, each with others that it can be compared with."""
    draw = random.Random(1)
    found: list[Pair] = []
    while len(found) < 150:
        kinds = draw.choice([TEXTS, NUMBERS])
        one, other = (Item(draw.choice(kinds), draw.randint(4, 9)) for _ in "12")
        more = 1 if one.kind == "binary" else draw.randint(1, 3)
        if one.kind != "binary" or one.places <= 4:
            found.append(Pair(one, other, more))
    return found


@pytest.mark.needs("cobc")
def test_what_has_no_room_for_the_longer_values_is_never_equal_to_them(tmp_path: Path) -> None:
    """An item gets a value of full length and is compared with its sender: if they are not equal, it is too short."""
    cases = pairs()
    data, code = [], []
    for at, (one, other, more) in enumerate(cases):
        # A binary item may get from one digit more to as many as its bytes hold.
        for name, item in (("A", one), ("B", one.grown(more)[0]), ("C", one.grown(more)[1])):
            value = (
                "987654321987654321"[: item.places]
                if item.kind in NUMBERS
                else "'ABCDEFGHIJKLMNOP"[: item.bytes() + 1] + "'"
            )
            data += [item.declared(f"{name}{at}"), other.declared(f"T{name}{at}")]
            code.append(f"MOVE {value} TO {name}{at}, MOVE {name}{at} TO T{name}{at}.")
            code.append(f"IF {name}{at} = T{name}{at} DISPLAY '1' ELSE DISPLAY '0'.")
    shown = iter(displayed([*data, "PROCEDURE DIVISION.", *code], tmp_path))
    lines = [
        line for at, case in enumerate(cases) for line in (case.one.declared(f"A{at}"), case.other.declared(f"T{at}"))
    ]
    uses = [f"    IF A{at} = T{at} CONTINUE." for at in range(len(cases))]
    head = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION."]
    graph = graph_of({"p.cbl": "".join(f"{line}\n" for line in [*head, *lines, "PROCEDURE DIVISION.", *uses]).encode()})
    carrying = Carrying(graph)
    for at, case in enumerate(cases):
        before, _, most = (next(shown) == "1" for _ in range(3))
        found = growth(graph, nodes_named(graph, f"P.A{at}"), case.more, carrying=carrying)
        said = [one.certainty for one in found if one.what == "compared"]
        assert said == (["may"] if before and not most else []), (case, before, most, found)


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("IF A = B CONTINUE.", {"B"}),
        ("IF B NOT = A CONTINUE.", {"B"}),
        ("IF A IS GREATER THAN OR EQUAL TO B CONTINUE.", {"B"}),
        ("IF A = B OR C CONTINUE.", {"B", "C"}),
        ("IF A = L OR NOT = B CONTINUE.", {"B"}),
        ("IF A = L OR C = B CONTINUE.", set()),
        ("IF A = L AND C CONTINUE.", {"C"}),
        ("IF A = 'X' OR B = C CONTINUE.", set()),
        ("IF A = L OR TRUE-88 OR B = C CONTINUE.", set()),
        ("IF A(1:2) = B CONTINUE.", set()),
        ("IF FUNCTION TRIM(A) = B CONTINUE.", set()),
        ("IF LENGTH OF A = N CONTINUE.", set()),
        ("IF (A = B) CONTINUE.", {"B"}),
        ("IF (C = L) AND A = B CONTINUE.", {"B"}),
        ("IF A OF R2 = B CONTINUE.", set()),
        ("EVALUATE A WHEN B CONTINUE WHEN 'X' CONTINUE WHEN C THRU L CONTINUE END-EVALUATE.", {"B", "C"}),
        ("EVALUATE L ALSO A WHEN C ALSO B CONTINUE END-EVALUATE.", {"B"}),
        ("EVALUATE T2(1) ALSO A WHEN L ALSO B CONTINUE END-EVALUATE.", {"B"}),
        ("EVALUATE TRUE WHEN A = B CONTINUE END-EVALUATE.", {"B"}),
        ("EVALUATE A WHEN L EVALUATE B WHEN C CONTINUE END-EVALUATE WHEN D CONTINUE END-EVALUATE.", {"D"}),
        ("PERFORM UNTIL A = B CONTINUE END-PERFORM.", {"B"}),
        ("SEARCH T WHEN T1(I) = A CONTINUE.", {"T1"}),
        ("SEARCH ALL T WHEN T1(I) = A AND T2(I) = B CONTINUE.", {"T1"}),
        ("IF B = A MOVE A TO B.", set()),  # it is too short and has to grow
    ],
)
def test_who_is_compared_with_whom(statement: str, named: set[str]) -> None:
    """The relations of a condition and the subjects of an EVALUATE decide."""
    data = (
        "01 A PIC X(4).", "  88 TRUE-88 VALUE 'X'.", "01 B PIC X(4).", "01 C PIC X(5).", "01 D PIC X(4).",
        "01 L PIC X(9).", "01 N PIC 9.",
        "01 TT.", "  05 T OCCURS 5 ASCENDING KEY T1 T2 INDEXED I.", "    10 T1 PIC X(4).", "    10 T2 PIC X(4).",
        "01 R2.", "  05 A PIC X(4).",
    )  # fmt: skip
    if "R2" in statement:
        graph = graph_of({"p.cbl": program(statement, "GOBACK.", data=data).encode()})
        nodes = nodes_named(graph, "P.A", "field")
        assert not [one for one in growth(graph, nodes[:1], 2, carrying=Carrying(graph)) if one.what == "compared"]
        return
    found = grown("A", 2, *data[:-2], "PROCEDURE DIVISION.", f"    {statement}")
    assert {one.node.name.removeprefix("P.") for one in found if one.what == "compared"} == named


def test_a_when_compares_the_subjects_of_its_evaluate_at_its_own_lines() -> None:
    """The words of the EVALUATE are on other lines, and there may be more of them."""
    code = ("EVALUATE L(1:2) ALSO A", "WHEN ANY", "    ALSO B", "    CONTINUE", "END-EVALUATE", "GOBACK.")
    source = scan(program(*code, data=("01 A PIC X.", "01 B PIC X.", "01 L PIC X(9).")))
    compared = facts(source, source.programs[0], tells_apart=True).comparisons
    assert {(one.item, one.other, *one.places) for one in compared} == {
        (0, 1, SourcePlace(11)),
        (1, 0, SourcePlace(11)),
    }


@pytest.mark.parametrize(
    ("picture", "lines", "said"),
    [
        ("9(4)", ("88 V VALUE 1 THRU 9999.",), "is"),
        ("9(4)", ("88 V VALUES 1 THRU 10 20 THROUGH 9999.",), "is"),
        ("X(4)", ("88 V VALUE '0000' THRU '9999'.",), "is"),
        ("9(4)", ("88 V VALUE 9999.",), "may"),
        ("9(4)", ("88 V VALUE 999.", "88 W VALUE 1 THRU 9998."), None),
        ("9(4)", ("IF A = 9999 CONTINUE.",), "may"),
        ("9(4)", ("IF A > 9998 CONTINUE.",), None),
        ("9(4)", ("IF A < 10000 CONTINUE.",), "may"),  # true of all four digits
        ("9(4)", ("IF A < 1000000 CONTINUE.",), None),  # true of six digits too
        ("9(4)", ("88 V VALUE 1 THRU 10000.",), "is"),
        ("9(4)", ("IF A = TOP CONTINUE.",), "may"),
        ("9(4)", ("MOVE TOP TO A.",), "may"),
        ("S9(4)V99", ("IF 9999.99 = A CONTINUE.",), "may"),
        ("9(4)", ("MOVE 9999 TO N A.",), "may"),
        ("9(4)", ("MOVE N TO A.",), None),
        ("X(4)", ("MOVE 'ZZZZ' TO A.",), "may"),
        ("X(4)", ("MOVE 'ZZZ' TO A.",), None),
        ("X(4)", ("EVALUATE A WHEN 'A' THRU 'ZZZZ' CONTINUE END-EVALUATE.",), "is"),
        ("X(4)", ("EVALUATE A WHEN 'A' CONTINUE WHEN '9999' CONTINUE END-EVALUATE.",), "may"),
        ("9(4) VALUE 9999", (), "may"),
        ("9(4) VALUE ZEROS", (), None),
    ],
)
def test_the_highest_value_of_today_is_not_the_highest_then(
    picture: str, lines: tuple[str, ...], said: str | None
) -> None:
    """Level 88 ranges that cover all values, and sentinels, no longer do; it is `is` if a range ends at the highest value."""
    data = [line for line in lines if line.startswith("88")]
    code = [f"    {line}" for line in lines if not line.startswith("88")]
    found = grown(
        "A", 2, f"01 A PIC {picture}.", *data, "01 N PIC 9(4).", "78 TOP VALUE 9999.", "PROCEDURE DIVISION.", *code
    )
    assert [one.certainty for one in found if one.what == "value"] == ([said] if said else [])


@pytest.mark.needs("cobc")
@pytest.mark.parametrize("kind", ["text", "digits"])
def test_a_part_of_a_field_is_no_longer_its_end_then_or_has_other_digits(kind: str, tmp_path: Path) -> None:
    """With a value that fills the field, a part of a text is no longer its end, and all places of a number move."""
    cases: list[tuple[int, int | None]] = [(start, length) for start in range(1, 6) for length in range(1, 7 - start)]
    if kind == "digits":
        cases += [(start, None) for start in range(2, 6)]  # up to the end, wherever it is
    shown: list[list[str]] = []
    for size in (5, 7):
        item = Item(kind, size)
        # The same number then has two leading zeros.
        value = "12345" if kind == "digits" else "'ABCDEFG'"
        code = [f"DISPLAY A({start}:{length or ''})." for start, length in cases]
        shown.append(displayed([item.declared("A"), "PROCEDURE DIVISION.", f"MOVE {value} TO A.", *code], tmp_path))
    for at, (start, length) in enumerate(cases):
        for statement in (f"IF A({start}:{length or ''}) = 'X' CONTINUE.", f"MOVE A({start}:{length or ''}) TO T."):
            found = grown(
                "A", 2, Item(kind, 5).declared("A"), "01 T PIC X(9).", "PROCEDURE DIVISION.", f"    {statement}"
            )
            said = [one.certainty for one in found if one.what == "part"]
            if kind == "digits":
                assert said == ["is"] and shown[0][at] != shown[1][at]  # noqa: PT018
            else:
                assert shown[0][at] == shown[1][at]
                assert said == (["may"] if length is not None and start + length == 6 else [])


@pytest.mark.parametrize(
    ("receiver", "part", "is_told"),
    [("X(9)", "T(1:4)", True), ("X(9)", "T(3:)", True), ("X(9)", "T(1:)", False), ("9(9)", "T(3:2)", False)],
)
def test_digits_that_a_number_sends_to_text_lie_elsewhere_there(receiver: str, part: str, *, is_told: bool) -> None:
    """A text with room gets more leading zeros before the same value, so its first characters differ."""
    lines = [
        f"01 T PIC {receiver}.",
        "01 U PIC X(9).",
        "PROCEDURE DIVISION.",
        "    MOVE 1234 TO A.",
        "    MOVE A TO T.",
    ]
    lines += [f"    MOVE {part} TO U."]
    found = grown("A", 2, "01 A PIC 9(4).", *lines)
    assert [(one.node.name, one.certainty) for one in found if one.what == "part"] == [("P.T", "may")] * is_told


def test_a_filler_that_grows_with_what_it_is_laid_over_fits() -> None:
    """The FILLER around the growing field grows with it and fits; a FILLER that is reported is named by its first field."""
    data = (
        "01 R.", "05 D PIC X(12).", "05 FILLER REDEFINES D.", "10 N PIC 9(7)V99.", "10 FILLER PIC X(3).",
        "05 FILLER REDEFINES D.", "10 M PIC X.", "10 FILLER PIC X(11).",
    )  # fmt: skip
    found = grown("N", 2, *data, "PROCEDURE DIVISION.", "    GOBACK.")
    told = {one.node.name.removeprefix("P.") for one in found if one.what == "redefinition"}
    assert told == {"D", "M"}


def test_numbers_of_thousands_of_figures_are_no_sizes() -> None:
    """Python refuses to read them, so that one such literal ended the analysis of the whole program."""
    long = "9" * 5000
    found = grown(
        "A",
        2,
        f"01 A PIC 9(4) VALUE {long}.",
        f"   88 B VALUE 1 THRU {long}.",
        "01 C PIC X(4).",
        "PROCEDURE DIVISION.",
        f"    IF A < {long} PERFORM {long} TIMES MOVE A TO C END-PERFORM.",
        f"    EXEC CICS WRITEQ TS QUEUE('Q') FROM(A) LENGTH({long}) END-EXEC.",
    )
    assert {one.what for one in found} >= {"too short"}


def test_of_several_statements_the_one_that_needs_most_counts() -> None:
    """Two STRINGs put one and two letters behind the field: the target has to have room for both, and so has what receives it."""
    found = grown(
        "A",
        2,
        "01 A PIC X(4).",
        "01 B PIC X(6).",
        "01 C PIC X(7).",
        "PROCEDURE DIVISION.",
        "    STRING A 'X' DELIMITED BY SIZE INTO B.",
        "    STRING A 'XY' DELIMITED BY SIZE INTO B.",
        "    MOVE B TO C.",
    )
    short = [(one.node.name, one.needed_bytes, one.certainty) for one in found if one.what == "too short"]
    assert short == [("P.B", 8, "is"), ("P.C", 8, "is")]

"""What does each statement move into which item, and what does it use?"""

from __future__ import annotations

import pytest

from penstock.cobol import scan
from penstock.cobol.facts import Facts, facts
from penstock.cobol.facts.data import ItemPart, SourcePlace


def _facts(procedure: str, data: str = "") -> Facts:
    """Return the facts of a small program with the items A, B, C, N, a group G of H and I, and a file F of record R."""
    source = scan(
        "ID DIVISION.\nPROGRAM-ID. P.\nENVIRONMENT DIVISION.\nINPUT-OUTPUT SECTION.\nFILE-CONTROL.\n"
        "SELECT F ASSIGN TO F1.\nDATA DIVISION.\nFILE SECTION.\nFD F.\n01 R PIC X(8).\nWORKING-STORAGE SECTION.\n"
        "01 A PIC X(8).\n01 B PIC X(8).\n   88 B-YES VALUE 'Y'.\n01 C PIC 9(4).\n01 N PIC 9(4).\n01 T OCCURS 9 PIC X.\n"
        f"01 G.\n 02 H PIC X.\n 02 I PIC X.\n01 K.\n 02 I PIC X.\n 02 H PIC X.\n{data}"
        f"PROCEDURE DIVISION.\nMAIN.\n{procedure}\n    GOBACK.\n",
        source_format="free",
    )
    return facts(source, source.programs[0])


def _moves(found: Facts) -> set[tuple[str, str, str]]:
    name = [item.name for item in found.items]
    return {(name[one.source], "moves" if one.is_copy else "computes", name[one.target]) for one in found.moves}


@pytest.mark.parametrize(
    ("statement", "pairs"),
    [
        ("MOVE A TO B C", {("A", "moves", "B"), ("A", "moves", "C")}),
        ("MOVE A(1:N) TO T(N)", {("A", "moves", "T")}),
        # Characters of an element: what follows its subscripts is beside the item, too.
        ("MOVE T(C) (1:N) TO A B", {("T", "moves", "A"), ("T", "moves", "B")}),
        ("MOVE A TO T(C)(N:1) B", {("A", "moves", "T"), ("A", "moves", "B")}),
        ("COMPUTE C = T(1)(1:N) + 1", {("T", "computes", "C")}),
        ("MOVE FUNCTION TRIM(A)(1:N) TO B", {("A", "computes", "B")}),
        ("MOVE FUNCTION NUMVAL(A) TO C", {("A", "computes", "C")}),
        ("MOVE LENGTH OF A TO C", {("A", "computes", "C")}),
        ("MOVE A(1:LENGTH OF C) TO B", {("A", "moves", "B")}),
        ("MOVE FUNCTION TRIM(A) TO B", {("A", "moves", "B")}),
        ("MOVE UPPER-CASE(A) TO B", {("A", "moves", "B")}),
        ("MOVE FUNCTION TRIM(A)(1:2) TO B", {("A", "computes", "B")}),
        ("MOVE FUNCTION UPPER-CASE(FUNCTION SUBSTITUTE(A 'X' 'Y')) TO B", {("A", "computes", "B")}),
        # A name that no source declares is a table, perhaps of a copybook that is missing, and no function.
        ("MOVE LOST(N) TO B", set()),
        ("COMPUTE C = LOST(N) + LOST(1)", set()),
        ("MOVE LOST::GIVE(N) TO C", {("N", "computes", "C")}),
        ("MOVE MAX(N 1) TO C", {("N", "computes", "C")}),
        ("PERFORM VARYING C FROM N BY 1 UNTIL C > H CONTINUE END-PERFORM", {("N", "moves", "C")}),
        (
            "PERFORM MAIN WITH TEST AFTER VARYING C FROM 1 BY N UNTIL C > 9 AFTER N FROM LENGTH OF A BY 1 UNTIL N = A",
            {("N", "computes", "C"), ("A", "computes", "N")},
        ),
        # An index is not an item: nothing goes into the item that is varied with it.
        ("PERFORM MAIN VARYING C FROM 1 BY 1 UNTIL C > 9 AFTER IX FROM N BY 1 UNTIL IX > 9", set()),
        ("INSPECT A TALLYING N FOR ALL B", {("A", "computes", "N")}),
        ("INSPECT A REPLACING ALL B BY H BEFORE INITIAL I", {("B", "computes", "A"), ("H", "computes", "A")}),
        ("INSPECT A CONVERTING B TO R", {("B", "computes", "A"), ("R", "computes", "A")}),
        ("INSPECT MISSING TALLYING N FOR ALL B", set()),
        (
            "INITIALIZE A G C REPLACING ALPHANUMERIC DATA BY B",
            {("B", "moves", "A"), ("B", "moves", "H"), ("B", "moves", "I")},
        ),
        ("INITIALIZE A C REPLACING NUMERIC BY N", {("N", "moves", "C")}),
        ("STRING A DELIMITED BY SIZE INTO B POINTER N", {("A", "moves", "B"), ("B", "computes", "N")}),
        ("MOVE 'X' TO A", set()),
        ("ADD 1 TO C", set()),
        ("ADD C TO N", {("C", "computes", "N")}),
        ("ADD C TO N GIVING A", {("C", "computes", "A"), ("N", "computes", "A")}),
        ("COMPUTE C = (N + 1) * FUNCTION NUMVAL(A)", {("N", "computes", "C"), ("A", "computes", "C")}),
        ("COMPUTE C = N - (A * 10)", {("N", "computes", "C"), ("A", "computes", "C")}),
        ("COMPUTE C = N + (A * (10 - H OF G))", {(one, "computes", "C") for one in "NAH"}),
        ("READ F INTO A", {("R", "moves", "A")}),
        ("WRITE R FROM A AFTER ADVANCING N LINES", {("A", "moves", "R")}),
        ("WRITE R FROM A AFTER N", {("A", "moves", "R")}),
        ("STRING A DELIMITED BY B C DELIMITED BY SIZE INTO R", {("A", "moves", "R"), ("C", "moves", "R")}),
        ("UNSTRING A DELIMITED BY B OR R INTO C COUNT IN N", {("A", "moves", "C"), ("A", "computes", "N")}),
        ("UNSTRING A DELIMITED ALL B OR H OF G OR R INTO C", {("A", "moves", "C")}),
        (
            "UNSTRING A DELIMITED BY 'X' INTO C DELIMITER IN B COUNT IN N R DELIMITER T(1)",
            {
                ("A", "moves", "C"),
                ("A", "moves", "B"),
                ("A", "computes", "N"),
                ("A", "moves", "R"),
                ("A", "moves", "T"),
            },
        ),
        ("SET B-YES TO TRUE", set()),
        ("SET C TO N", {("N", "moves", "C")}),
        ("SET C UP BY N", set()),
        ("SET ADDRESS OF A TO B", set()),
        ("SET B TO ADDRESS OF A", set()),
        ("IF B-YES MOVE A TO B END-IF", {("A", "moves", "B")}),
        ("MOVE CORRESPONDING G TO K", {("H", "moves", "H"), ("I", "moves", "I")}),
    ],
)
def test_what_a_statement_sends_and_what_receives_it_are_a_pair(
    statement: str, pairs: set[tuple[str, str, str]]
) -> None:
    """Senders are paired with receivers; subscripts, delimiters and literals with nothing; lengths are calculated."""
    assert _moves(_facts(statement)) == pairs


def test_the_part_of_a_subscript_is_not_one_of_the_table() -> None:
    """A colon belongs to the parentheses directly around it."""
    parts = {
        one.way.taken
        for of in ("T(N(1:1))", "T(N(2:1))(3:4)", "T(1)(3:LENGTH OF A)")
        for one in _facts(f"MOVE A TO {of}").moves
    }
    assert parts == {None, ItemPart(3, 4, is_open=False), ItemPart(3, None, is_open=True)}


CORRESPONDING = """\
01 S.
 02 U.
  03 X1 PIC X.
  03 X2 PIC 9.
 02 V PIC 99.
 02 W OCCURS 2 PIC 9.
 02 Y PIC X.
 02 Z PIC X(2).
01 D.
 02 Z.
  03 Z1 PIC X.
 02 Y PIC 9.
 02 W PIC 9.
 02 U.
  03 X2 PIC 9.
 02 V PIC 999.
 02 X1 PIC X.
"""


@pytest.mark.proves("C-16")
@pytest.mark.parametrize(
    ("statement", "verb", "pairs"),
    [
        ("MOVE CORRESPONDING S TO D", "moves", {"X2", "V", "Y", "Z"}),
        ("ADD CORR S TO D", "computes", {"X2", "V"}),
        ("SUBTRACT CORRESPONDING S FROM D ROUNDED", "computes", {"X2", "V"}),
    ],
)
def test_what_corresponds_are_items_in_groups_of_the_same_names(statement: str, verb: str, pairs: set[str]) -> None:
    """Subgroups of one name are matched inside, a group and an item are a pair, tables are not, arithmetic takes only numbers."""
    found = _facts(statement, CORRESPONDING)
    assert _moves(found) == {(name, verb, name) for name in pairs}
    x2 = [item for item in found.items if item.name == "X2"]
    assert [(bool(one.read_lines), bool(one.written_lines)) for one in x2] == [(True, False), (verb != "moves", True)]


def test_an_ambiguous_name_is_a_pair_that_may_be() -> None:
    """`H` is in two groups: either may be meant, and neither is certain."""
    found = _facts("MOVE H TO A")
    assert [(one.is_sure, len(one.places)) for one in found.moves] == [(False, 1), (False, 1)]
    assert all(one.is_sure for one in _facts("MOVE H OF G TO A").moves)


def test_the_place_of_a_use_is_the_line_of_its_word() -> None:
    """In a statement over three lines the place is the line of the name."""
    found = _facts("MOVE\n A\n TO B.")
    first = next(use for use in found.uses if found.items[use.item].name == "A")
    assert (first.is_write, first.places) == (False, (SourcePlace(27),))
    assert first.paragraph == 0


SORTING = """\
ID DIVISION.
PROGRAM-ID. P.
ENVIRONMENT DIVISION.
INPUT-OUTPUT SECTION.
FILE-CONTROL.
    SELECT INF ASSIGN TO I ORGANIZATION IS INDEXED RECORD KEY IS IN-K ALTERNATE RECORD KEY IN-A.
    SELECT OUTF ASSIGN TO O.
    SELECT SRT ASSIGN TO S.
DATA DIVISION.
FILE SECTION.
FD INF RECORD IS VARYING FROM 1 TO 9 DEPENDING ON LEN OF W.
01 IN-R.
 02 IN-K PIC X(5).
 02 IN-A PIC X(4).
FD OUTF.
01 OUT-R PIC X(9).
SD SRT.
01 SR.
 02 SK PIC X(5).
WORKING-STORAGE SECTION.
01 W.
 02 LEN PIC 99.
PROCEDURE DIVISION.
MAIN.
"""


def _sorting(statement: str) -> Facts:
    source = scan(f"{SORTING}    {statement}\n    GOBACK.\n", source_format="free")
    return facts(source, source.programs[0])


@pytest.mark.proves("C-16")
@pytest.mark.parametrize("verb", ["SORT SRT ON ASCENDING KEY SK", "MERGE SRT ASCENDING SK"])
def test_a_sort_carries_the_records_of_its_files(verb: str) -> None:
    """Records of the files in USING go into the records of the sort, and those into the files in GIVING."""
    found = _sorting(f"{verb} USING INF GIVING OUTF.")
    assert _moves(found) == {("IN-R", "moves", "SR"), ("SR", "moves", "OUT-R")}
    assert all(one.is_sure for one in found.moves)


@pytest.mark.proves("C-16")
@pytest.mark.parametrize(("statement", "is_write"), [("READ INF INTO SR.", True), ("WRITE IN-R FROM SR.", False)])
def test_the_length_of_a_record_is_read_and_written_with_it(statement: str, is_write: bool) -> None:
    """RECORD VARYING DEPENDING ON: a READ sets the item and a WRITE reads it; neither is a move."""
    found = _sorting(statement)
    name = [item.name for item in found.items]
    assert [one.is_write for one in found.uses if name[one.item] == "LEN"] == [is_write]
    assert not any("LEN" in pair for pair in _moves(found))


@pytest.mark.proves("C-12")
def test_a_key_may_follow_the_organization() -> None:
    """`ORGANIZATION IS INDEXED RECORD KEY IS K` has a key, in that order too."""
    assert _sorting("READ INF.").files[0].keys == ("IN-K", "IN-A")

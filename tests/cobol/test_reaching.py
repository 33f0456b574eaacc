"""Which values reach a call by name, in one pass through the program with PERFORMs that return?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.growth import BOUND, growth

from penstock.cobol import scan
from penstock.cobol.facts import facts

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.cobol.facts.control import ProgramCall

DATA = (
    "01 W.\n 02 X PIC X(8).\n 02 Y PIC X(8) VALUE 'BEGIN'.\n  88 Y-SET VALUE 'SET'.\n"
    "01 X-PARTS REDEFINES W.\n 02 X-4 PIC X(4).\n 02 FILLER PIC X(12).\n"
    "01 C PIC X.\n01 V.\n 02 V-X PIC X(8) VALUE 'OFV'.\n 02 V-Y PIC X(8).\n01 SHORT PIC X(4).\n"
    "01 KEY-1.\n 02 K-1 PIC X(3) VALUE 'WHO'.\n 02 K-2 PIC 9(4) VALUE '0001'.\n"
)


def _calls(*lines: str) -> list[tuple[tuple[str, ...], bool, bool]]:
    """Return, for each call by name, the names that reach it, whether they are certain, and whether an unknown one may."""
    text = f"ID DIVISION.\nPROGRAM-ID. P.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n{DATA}PROCEDURE DIVISION.\nMAIN.\n"
    source = scan(text + "".join(f"{line}\n" for line in lines), source_format="free")
    found: list[ProgramCall] = [call for call in facts(source, source.programs[0]).calls if call.call_type != "static"]
    return [(call.names, call.is_sure, bool(call.unknown)) for call in found]


SURE, MAY, UNKNOWN = (True, False), (False, False), (False, True)


def test_one_entry_may_leave_what_another_finds() -> None:
    """A name that one ENTRY sets may be what another calls; in a program with a single way in, nothing sets it before."""
    sets = ("Q.", "MOVE 'A' TO X.")
    assert _calls("GOBACK. ENTRY 'RUN'. CALL X. GOBACK. ENTRY 'INIT'.", *sets) == [(("A",), *MAY)]
    assert _calls("CALL X. GOBACK.", *sets) == [((), False, False)]


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("MOVE NAMED TO N. CALL N.", ("TAX",)),
        ("CALL FROM-START.", ("TAX",)),
        ("SET P TO ENTRY 'PAY'. CALL P.", ("PAY",)),
        ("SET P TO ENTRY NAMED. CALL P.", ("TAX",)),
        ("MOVE 'PAY' TO N. SET P TO ENTRY N. CALL P.", ("PAY",)),
        ("SET P TO ADDRESS OF PROGRAM 'PAY'. CALL P.", ("PAY",)),
        ("MOVE JOINED TO N. CALL N.", ()),
        ("MOVE NUMBER-ONE TO N. CALL N.", ()),
        ("SET P TO ENTRY ELSEWHERE. CALL P.", ()),
    ],
)
def test_a_constant_is_its_text_and_an_entry_is_named(statements: str, expected: tuple[str, ...]) -> None:
    """A level 78 stands for its literal in MOVE, in VALUE and behind ENTRY, where an item may stand, too."""
    text = (
        "PROGRAM-ID. A.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n"
        "78 NAMED VALUE 'TAX'.\n78 JOINED VALUE 'TA' & 'X'.\n78 NUMBER-ONE VALUE 1.\n"
        "01 N PIC X(8).\n01 FROM-START PIC X(8) VALUE NAMED.\n01 P PROCEDURE-POINTER.\n"
        f"PROCEDURE DIVISION.\n{statements}\nGOBACK.\n"
    )
    source = scan(text, source_format="free")
    (call,) = facts(source, source.programs[0]).calls
    assert (call.names, call.is_sure) == (expected, bool(expected))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # The earlier value is gone.
        (("MOVE 'A' TO X. CALL X. MOVE 'B' TO X. CALL X. STOP RUN.",), [(("A",), *SURE), (("B",), *SURE)]),
        # A VALUE holds until something else is moved.
        (("CALL Y. MOVE 'B' TO Y. CALL Y. STOP RUN.",), [(("BEGIN",), *SURE), (("B",), *SURE)]),
        # Either branch may be taken.
        (("IF C = 1 MOVE 'A' TO X ELSE MOVE 'B' TO X END-IF CALL X. STOP RUN.",), [(("A", "B"), *MAY)]),
        # A group begins with the values of its parts in order; once another value is moved to a part, that text is gone.
        (("CALL KEY-1. MOVE C TO K-2. CALL KEY-1. STOP RUN.",), [(("WHO0001",), *SURE), ((), *UNKNOWN)]),
        (
            ("IF C = 1 MOVE C TO K-2 END-IF CALL KEY-1. STOP RUN.",),
            [(("WHO0001",), False, True)],
        ),
        # A PERFORM brings the value at its own place, not the one at another.
        (
            ("MOVE 'A' TO X. PERFORM Q. CALL X. MOVE 'B' TO X. PERFORM Q. CALL X. STOP RUN.", "Q.", "DISPLAY C."),
            [(("A",), *SURE), (("B",), *SURE)],
        ),
        # A range returns by its shorter path first, but the value of its longer path arrives too.
        (
            (
                "MOVE 'Z' TO X. PERFORM Q. CALL X. STOP RUN.",
                "Q.",
                "IF C = 1 MOVE 'A' TO X ELSE PERFORM R END-IF.",
                "R.",
                "DISPLAY C. MOVE 'B' TO X.",
            ),
            [(("A", "B"), *MAY)],
        ),
        # A performed paragraph gives the first value of an item without a VALUE, and performs the one with the call.
        (
            ("PERFORM Q. STOP RUN.", "Q.", "MOVE 'A' TO X. PERFORM R.", "R.", "CALL X."),
            [(("A",), *SURE)],
        ),
        # What runs in a thread may not have run yet.
        (
            ("MOVE 'A' TO X. PERFORM THREAD Q. CALL THREAD X. STOP RUN.", "Q.", "DISPLAY C. MOVE 'B' TO X."),
            [(("A", "B"), *MAY)],
        ),
        # A range of several paragraphs ends with the last one.
        (
            ("MOVE 'A' TO X. PERFORM Q THRU R. CALL X. STOP RUN.", "Q.", "DISPLAY C.", "R.", "MOVE 'B' TO X."),
            [(("B",), *SURE)],
        ),
        # SET gives the value of its condition.
        (("SET Y-SET TO TRUE. CALL Y. STOP RUN.",), [(("SET",), *SURE)]),
        # Within the paragraph itself both values are possible.
        (
            ("MOVE 'A' TO X. PERFORM Q. MOVE 'B' TO X. PERFORM Q. STOP RUN.", "Q.", "CALL X."),
            [(("A", "B"), *MAY)],
        ),
        # A blank is a value too: the call may name nothing.
        (("MOVE SPACES TO X. IF C = 1 MOVE 'A' TO X. CALL X. STOP RUN.",), [(("A",), *MAY)]),
        # Input may be anything.
        (("MOVE 'A' TO X. IF C = 1 ACCEPT X. CALL X. STOP RUN.",), [(("A",), *UNKNOWN)]),
        (("MOVE 'A' TO X. CALL 'Z' USING W. CALL X. STOP RUN.",), [(("A",), *UNKNOWN)]),
        (("MOVE 'A' TO X. CALL 'Z' USING C. CALL X. STOP RUN.",), [(("A",), *SURE)]),
        # The redefinition shares four letters of the item, so the earlier value is gone.
        (("MOVE 'A' TO X. MOVE 'B' TO X-4. CALL X. STOP RUN.",), [((), *UNKNOWN)]),
        # Moving a group moves the value at the same place, blanking it removes the value.
        (("MOVE V TO W. CALL X. STOP RUN.",), [(("OFV",), *SURE)]),
        (("MOVE 'PGM1    PGM2' TO W. CALL X. CALL Y. STOP RUN.",), [(("PGM1",), *SURE), (("PGM2",), *SURE)]),
        # A name that is truncated on its way is another name.
        (("MOVE 'PROGRAM' TO SHORT. MOVE SHORT TO X. CALL X. STOP RUN.",), [(("PROG",), *SURE)]),
        # The label of a handler is reached from any command after HANDLE.
        (
            (
                "EXEC CICS HANDLE CONDITION ERROR(BAD) END-EXEC. MOVE 'A' TO X.",
                "EXEC CICS SYNCPOINT END-EXEC. MOVE 'B' TO X. CALL X. STOP RUN.",
                "BAD.",
                "CALL X.",
            ),
            [(("B",), *SURE), (("A",), *SURE)],
        ),
        # What an error of SQL performs returns, to behind any later statement of SQL.
        (
            (
                "EXEC SQL WHENEVER SQLERROR DO PERFORM BAD END-EXEC. MOVE 'A' TO X. CALL X.",
                "EXEC SQL COMMIT END-EXEC. CALL X. STOP RUN.",
                "BAD.",
                "MOVE 'B' TO X.",
                "NEVER.",
                "MOVE 'C' TO X.",
            ),
            [(("A",), *SURE), (("A", "B"), *MAY)],
        ),
        # A GO TO may be altered.
        (
            ("MOVE 'A' TO X. ALTER J TO PROCEED TO L.", "J.", "GO TO K.", "K.", "MOVE 'B' TO X.", "L.", "CALL X."),
            [(("A", "B"), *MAY)],
        ),
        # A loop that is tested first may not run.
        (("MOVE 'A' TO X. PERFORM UNTIL C = 1 MOVE 'B' TO X END-PERFORM CALL X. STOP RUN.",), [(("A", "B"), *MAY)]),
        (("MOVE 'A' TO X. PERFORM 2 TIMES MOVE 'B' TO X END-PERFORM CALL X. STOP RUN.",), [(("B",), *SURE)]),
    ],
)
def test_a_call_by_name_reaches_what_some_way_brings(
    lines: tuple[str, ...], expected: list[tuple[tuple[str, ...], bool, bool]]
) -> None:
    """The names are those that some path brings; a single one is certain."""
    assert [(tuple(sorted(names)), sure, unknown) for names, sure, unknown in _calls(*lines)] == expected


def test_twenty_five_pairs_of_moves_and_calls_are_five_calls() -> None:
    """Five names, each moved and called in turn, are five certain calls (review, D4)."""
    lines = [f"MOVE 'PGM{n}' TO X. CALL X." for n in range(5)]
    assert _calls(*lines, "STOP RUN.") == [((f"PGM{n}",), True, False) for n in range(5)]


def test_a_menu_calls_what_the_columns_of_its_table_say() -> None:
    """A program's name is one column of rows that are written as texts and redefined as a table, as in menus."""
    text = (
        "ID DIVISION.\nPROGRAM-ID. P.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n01 ROWS.\n"
        " 02 FILLER PIC X(12) VALUE 'BILL01  B100'.\n 02 FILLER PIC X(12) VALUE 'BILL02  B200'.\n"
        " 02 FILLER PIC X(8) VALUE 'BILL03'.\n 02 FILLER PIC X(4) VALUE 'B300'.\n"
        "01 MENU REDEFINES ROWS.\n 02 ROW OCCURS 3.\n  03 PGM PIC X(8).\n  03 TRAN PIC X(4).\n01 N PIC 9.\n"
        "PROCEDURE DIVISION.\nMAIN.\n    CALL PGM(N).\n    CALL TRAN(N).\n    GOBACK.\n"
    )
    source = scan(text, source_format="free")
    programs, transactions = facts(source, source.programs[0]).calls
    assert (programs.names, programs.is_sure) == (("BILL01", "BILL02", "BILL03"), False)
    assert transactions.names == ("B100", "B200", "B300")


def test_more_items_than_are_followed_take_linear_time() -> None:
    """Items beyond the limit are not searched for again at each call: that took 60 s for 400 calls by name."""

    def work(size: int) -> Callable[[], object]:
        items = "".join(f" 02 N{at} PIC X(8) VALUE 'P{at}'.\n" for at in range(size))
        calls = "".join(f"IF X = '{at}' MOVE N{at} TO X. CALL N{at}. CALL X.\n" for at in range(size))
        data = f"DATA DIVISION.\nWORKING-STORAGE SECTION.\n01 X PIC X(8).\n01 T.\n{items}"
        source = scan(f"PROGRAM-ID. P.\n{data}PROCEDURE DIVISION.\n{calls}", source_format="free")
        return lambda: facts(source, source.programs[0])

    assert growth(work, 60) < BOUND


def test_calls_in_copied_code_take_linear_time() -> None:
    """What is moved right before each call is looked for before that call alone, and not in all copied code."""

    def work(size: int) -> Callable[[], object]:
        calls = "".join(f" MOVE 'P{at}' TO X. CALL X.\n" for at in range(size))
        books = {"BOOK": scan(f"ASK.\n{calls}", source_format="free")}
        data = "DATA DIVISION.\nWORKING-STORAGE SECTION.\n01 X PIC X(8).\n"
        source = scan(f"PROGRAM-ID. P.\n{data}PROCEDURE DIVISION.\nMAIN.\nGOBACK.\nCOPY BOOK.\n", source_format="free")
        return lambda: facts(source, source.programs[0], copybooks=books)

    assert growth(work, 400) < BOUND


def test_groups_that_are_moved_often_take_linear_time() -> None:
    """What a group has at a place is looked for once, and not at each MOVE of it."""

    def work(size: int) -> Callable[[], object]:
        groups = "".join(
            f"01 {name}.\n" + "".join(f" 02 {name}{at} PIC X(8).\n" for at in range(size)) for name in "GH"
        )
        moves = "MOVE G TO H.\n" * size
        data = f"DATA DIVISION.\nWORKING-STORAGE SECTION.\n{groups}"
        source = scan(f"PROGRAM-ID. P.\n{data}PROCEDURE DIVISION.\n{moves}CALL H0.\n", source_format="free")
        return lambda: facts(source, source.programs[0])

    assert growth(work, 300) < BOUND


def test_records_may_redefine_one_another_a_thousand_deep() -> None:
    """All of them are one storage, whichever of them is asked for first."""
    records = "01 R0 PIC X(8).\n" + "".join(f"01 R{at} REDEFINES R{at - 1} PIC X(8).\n" for at in range(1, 1_500))
    data = f"DATA DIVISION.\nWORKING-STORAGE SECTION.\n{records}"
    text = f"PROGRAM-ID. P.\n{data}PROCEDURE DIVISION.\nMOVE 'A' TO R0.\nCALL R1499.\n"
    source = scan(text, source_format="free")
    (call,) = facts(source, source.programs[0]).calls
    assert (call.names, call.is_sure) == (("A",), True)


@pytest.mark.parametrize(
    ("copied", "expected"),
    [
        ("MOVE 'A' TO X. CALL X. CANCEL X.", (("A",), *SURE)),
        ("MOVE 'B' TO X. MOVE 'A' TO X. DISPLAY C. CALL X.", (("A",), *SURE)),
        ("IF C = 1 MOVE 'A' TO X CALL X.", (("A",), *SURE)),
        # Other code may run in between, so the name is one of several.
        ("IF C = 1 MOVE 'A' TO X. CALL X.", (("A", "Z"), *MAY)),
        ("IF C = 1 MOVE 'A' TO X END-IF CALL X.", (("A", "Z"), *MAY)),
        ("MOVE 'A' TO X. PERFORM Q. CALL X.", (("A", "Z"), *MAY)),
        ("MOVE 'A' TO X. MOVE C TO X. CALL X.", (("A", "Z"), *MAY)),
        ("MOVE 'A' TO X. MOVE C TO X-4. CALL X.", (("A", "Z"), False, True)),
    ],
)
def test_what_copied_code_moves_right_before_a_call_is_what_it_calls(
    copied: str, expected: tuple[tuple[str, ...], bool, bool]
) -> None:
    """A copybook with headers may run anywhere, but the statements of one paragraph run in order."""
    book = scan(f"ASK.\n {copied}\nASK-EXIT.\n EXIT.\n", source_format="free")
    text = f"ID DIVISION.\nPROGRAM-ID. P.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n{DATA}PROCEDURE DIVISION.\nMAIN.\n"
    text += "PERFORM ASK. GOBACK.\nQ.\nMOVE 'Z' TO X.\nCOPY BOOK.\n"
    source = scan(text, source_format="free")
    (call,) = facts(source, source.programs[0], copybooks={"BOOK": book}).calls
    assert (tuple(sorted(call.names)), call.is_sure, bool(call.unknown)) == expected

"""Are the programs of the HP 3000 read: switches of the compiler, parameters in backslashes, names of files with their devices?"""

from __future__ import annotations

import pytest
from tests.cobol.test_graph import graph_of

from penstock.cobol import ScannedSource, scan
from penstock.cobol.facts import facts

pytestmark = pytest.mark.proves("C-14")


def source_of(*lines: str) -> ScannedSource:
    """Return a source of numbered lines; those that begin with $ or D have it in the seventh column."""
    return scan(
        "".join(f"{at:04}00{one if one[0] in '$D' else ' ' + one}\n" for at, one in enumerate(lines, 1)).encode()
    )


@pytest.mark.parametrize(
    ("lines", "kept", "is_warned"),
    [
        (("$SET X1=OFF", "$IF X1=ON", "ONE", "$IF", "TWO"), {"TWO"}, False),
        (("$SET X1=OFF, X2=ON", "$IF X1=OFF", "ONE", "$IF X2=ON", "TWO", "$IF X2=OFF", "THREE"), {"ONE", "TWO"}, False),
        (("$SET X1=ON", "$SET X1=OFF", "$IF X1=ON", "ONE", "$IF", "TWO"), {"TWO"}, False),
        (("$SET X1=ON", "$SET", "$IF X1=ON", "ONE", "$IF", "TWO"), {"TWO"}, False),
        (("$SET X1=OFF", "$IF X1=ON", "$SET", "ONE", "$IF X2=OFF", "TWO", "$IF"), {"TWO"}, True),
        (("$IF X1=ON", "ONE", "$IF X1=OFF", "TWO", "$IF", "THREE"), {"ONE", "TWO", "THREE"}, True),
        (("$IF X2=ON", "$SET X1=ON", "$IF", "$IF X1=ON", "ONE", "$IF", "TWO"), {"ONE", "TWO"}, True),
    ],
)
def test_switches_choose_what_is_compiled(lines: tuple[str, ...], kept: set[str], is_warned: bool) -> None:
    """$IF holds up to the next $IF; a switch that the source does not set may be set at the compiler, which is reported."""
    source = source_of(
        "$CONTROL USLINIT",
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. A.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        *(f"{one:<66}060831MA" if one[0] == "$" else f"    PERFORM {one}." for one in lines),
        "    STOP RUN.",
        *(line for name in ("ONE", "TWO", "THREE") for line in (f"{name}.", "    EXIT.")),
    )
    assert {edge.name for edge in facts(source, source.programs[0]).edges} == kept
    assert any("which is compiled" in warning.text for warning in source.warnings) == is_warned


def program(name: str, computer: str, *lines: str) -> tuple[str, ...]:
    """Return a program with a line for debugging."""
    head = ("IDENTIFICATION DIVISION.", f"PROGRAM-ID. {name}.", "ENVIRONMENT DIVISION.", *lines)
    return (*head, computer, "PROCEDURE DIVISION.", "MAIN.", "D    DISPLAY 1.", "    GOBACK.", f"END PROGRAM {name}.")


def test_lines_for_debugging_are_code_of_the_programs_that_ask_for_it() -> None:
    """Each program of a source has its SOURCE-COMPUTER; one that a switch leaves out does not count."""
    source = source_of(
        *program("A", "SOURCE-COMPUTER. HP3000."),
        *program("B", "SOURCE-COMPUTER. HP3000 WITH DEBUGGING MODE."),
        *program("C", "SOURCE-COMPUTER. HP3000."),
        *program("D", "$IF", "$SET X1=OFF", "$IF X1=ON", "SOURCE-COMPUTER. HP3000 WITH DEBUGGING", "    MODE."),
        *program("E", "$IF", "$SET X1=ON", "$IF X1=ON", "SOURCE-COMPUTER. HP3000 WITH DEBUGGING", "    MODE."),
        "$IF X1=OFF",
        "D    DISPLAY 2.",
    )
    debugged = [number for number, kind in enumerate(source.kinds, 1) if kind == "debug"]
    assert [source.is_code(number) for number in debugged] == [False, True, False, False, True, False]


def test_a_parameter_in_backslashes_is_passed_by_value() -> None:
    """Two backslashes stand for one that is left out; the parameters behind them keep their places."""
    source = source_of(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. A.",
        "WORKING-STORAGE SECTION.",
        "01  LEN PIC S9(4) COMP.",
        "01  ADR PIC S9(4) COMP.",
        "01  ERR PIC S9(4) COMP.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        r"    CALL INTRINSIC 'FWRITE' USING ADR \LEN\ \\ \%30005\ \-80\ ERR GIVING ADR.",
    )
    found = facts(source, source.programs[0])
    (call,) = found.calls
    assert call.parameters == ("ADR", "LEN", "", "% 30005", "-80", "ERR")
    assert call.copied == (1, 2, 3, 4)
    assert [(found.items[use.item].name, use.is_write) for use in found.uses] == [("LEN", False), ("ADR", True)]


@pytest.mark.parametrize(
    ("assigned", "named"),
    [
        ("TO 'STOCKS,,,DISC'", "STOCKS"),
        ("TO 'STOCKS.DATA.SYS,UT,A,DISC(CCTL),5000'", "STOCKS.DATA.SYS"),
        ("TO 'STOCKS'", "STOCKS"),
        ("TO 'DUA0:[STOCK,DATA]ITEMS.DAT'", "DUA0:[STOCK,DATA]ITEMS.DAT"),
        ("TO DUMMY USING W-NAME", "ITEMS.PUB"),
        ("USING W-NAME", "ITEMS.PUB"),
    ],
)
def test_a_file_has_the_name_before_its_device(assigned: str, named: str) -> None:
    """Class, mode, device and size follow it; an item behind USING has the name, whatever device precedes."""
    source = source_of(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. A.",
        "ENVIRONMENT DIVISION.",
        "INPUT-OUTPUT SECTION.",
        "FILE-CONTROL.",
        f"    SELECT F ASSIGN {assigned}.",
        "DATA DIVISION.",
        "FILE SECTION.",
        "FD  F.",
        "01  R PIC X(80).",
        "WORKING-STORAGE SECTION.",
        "01  W-NAME PIC X(28) VALUE 'ITEMS.PUB'.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        "    OPEN INPUT F.",
    )
    assert [file.dd for file in facts(source, source.programs[0]).files] == [named]


@pytest.mark.parametrize(
    ("lines", "headers"),
    [
        (("    INITIALIZE", "    COPY ITEMS OF LIB.", "    COMMON-AREA."), ["MAIN"]),
        (("    CALL 'T' USING", "    COPY ITEMS OF LIB REPLACING ==A== BY ==B==.", "         T-AREA."), ["MAIN"]),
        (("    GOBACK.", "    COPY CALLED OF LIB.", "    W-TIME."), ["MAIN"]),
        (("    INITIALIZE", "    COPY ITEMS OF LIB.", "NEXT-ONE."), ["MAIN", "NEXT-ONE"]),
        (("    GOBACK.", "    COPY ITEMS OF LIB.", "    NEXT-ONE."), ["MAIN", "NEXT-ONE"]),
        (("    GO TO NEXT-ONE", "    COPY ITEMS OF LIB.", "    NEXT-ONE."), ["MAIN", "NEXT-ONE"]),
    ],
)
def test_an_operand_behind_a_copy_is_no_header(lines: tuple[str, ...], headers: list[str]) -> None:
    """The copied text replaces the COPY with its period; an item is an operand, and what is in area A or gone to is a header."""
    source = source_of(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. A.",
        "WORKING-STORAGE SECTION.",
        "01  W-TIME PIC 9(8).",
        "PROCEDURE DIVISION.",
        "MAIN.",
        *lines,
        "    STOP RUN.",
    )
    assert [one.name for one in source.programs[0].paragraphs] == headers


@pytest.mark.parametrize("word", ["GOBACK", "CONTINUE", "EXIT", "STOP RUN", "EXIT PARAGRAPH"])
def test_a_statement_of_one_word_behind_a_copy_is_no_operand(word: str) -> None:
    """A copybook of statements often ends a sentence that has begun above it."""
    source = source_of(
        *("IDENTIFICATION DIVISION.", "PROGRAM-ID. A.", "PROCEDURE DIVISION.", "MAIN."),
        *("    MOVE 1 TO W-TIME", "    COPY ENDING.", f"    {word}.", "NEXT-ONE.", "    DISPLAY 1."),
    )
    assert [one.verb for one in source.programs[0].statements] == ["MOVE", "COPY", word, "DISPLAY"]


@pytest.mark.parametrize(
    ("lines", "dead"),
    [
        (("    GOBACK.", "    COPY ENTRIES OF LIB REPLACING ==A== BY =='UIREAD'==."), []),
        (("    GOBACK.", "    COPY ENTRIES OF LIB.", "    DISPLAY 1.", "    GOBACK."), ["SECOND-ONE", "THIRD-ONE"]),
        (("    COPY ENTRIES OF LIB.", "    GOBACK."), ["SECOND-ONE", "THIRD-ONE"]),
    ],
)
def test_what_follows_a_copy_that_no_control_reaches_is_not_dead(lines: tuple[str, ...], dead: list[str]) -> None:
    """A missing copybook has an ENTRY or a paragraph there, or nobody would copy it; it may run into the next paragraph."""
    source = source_of(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. A.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        *lines,
        "SECOND-ONE.",
        "    PERFORM THIRD-ONE.",
        "    GOBACK.",
        "THIRD-ONE.",
        "    EXIT.",
    )
    assert [one.name for one in facts(source, source.programs[0]).paragraphs if one.dead] == dead


def test_what_is_performed_does_not_run_over_its_end_because_of_a_missing_copybook() -> None:
    """A paragraph behind a COPY that was not found is entered from there only if nothing else leads to it."""
    source = source_of(
        *("IDENTIFICATION DIVISION.", "PROGRAM-ID. A.", "PROCEDURE DIVISION.", "MAIN."),
        *("    PERFORM SECOND-ONE.", "    PERFORM THIRD-ONE.", "    GOBACK.", "    COPY ENTRIES OF LIB."),
        *("SECOND-ONE.", "    DISPLAY 1.", "THIRD-ONE.", "    DISPLAY 2."),
    )
    assert [one.falls_into for one in facts(source, source.programs[0]).paragraphs] == [None, None, None]


IMAGE = (
    *("IDENTIFICATION DIVISION.", "PROGRAM-ID. ORDERS.", "DATA DIVISION.", "WORKING-STORAGE SECTION."),
    *("01 DB-BASE PIC X(12).", "01 DB-SET PIC X(16) VALUE 'CUSTOMERS;'.", "01 DB-OTHER PIC X(16)."),
    *("01 DB-MODE PIC S9(4) COMP.", "01 DB-STATUS PIC X(20).", "01 DB-LIST PIC X(2) VALUE '@;'."),
    *("01 CUST-BUFFER.", "   05 CUST-NO PIC 9(6).", "01 ORDER-BUFFER PIC X(80).", "01 DB-ARG PIC X(8)."),
    *("PROCEDURE DIVISION.", "MAIN."),
    "    CALL 'DBGET' USING DB-BASE DB-SET DB-MODE DB-STATUS DB-LIST",
    "        CUST-BUFFER DB-ARG.",
    "    CALL INTRINSIC 'DBFIND' USING DB-BASE 'LINES ' DB-MODE DB-STATUS",
    "        DB-LIST DB-ARG.",
    "    IF DB-MODE = 1 MOVE 'ORDERS;' TO DB-OTHER",
    "    ELSE MOVE 'OLD-ORDERS;' TO DB-OTHER.",
    "    CALL 'DBPUT' USING DB-BASE DB-OTHER DB-MODE DB-STATUS DB-LIST",
    "        ORDER-BUFFER.",
    "    CALL 'DBDELETE' USING DB-BASE DB-ARG DB-MODE DB-STATUS.",
    "    CALL INTRINSIC 'DBUPDATE' USING DB-BASE DB-SET DB-MODE",
    "        DB-STATUS DB-LIST CUST-BUFFER.",
    "    CALL 'DBGET' USING DB-SET.",
    "    GOBACK.",
)


@pytest.mark.proves("C-16")
def test_data_sets_of_image_are_records() -> None:
    """The second parameter names the data set; one that an item may name, of several, is possible, and a number is none.

    No call changes the item with its name, so that it has it at the next one, too.
    """
    graph = graph_of({"ORDERS.cbl": "".join(f"       {line}\n" for line in IMAGE).encode()})
    found = {
        (edge.source.name, str(edge.verb), edge.target.name): (edge.certainty, {one.line for one in edge.citations})
        for edge in graph.drawn
        if "record" in {edge.source.kind, edge.target.kind}
    }
    assert found == {
        ("ORDERS", "reads", "CUSTOMERS"): ("is", {6, 17}),
        ("CUSTOMERS", "moves to", "ORDERS.CUST-BUFFER"): ("is", {6, 17}),
        ("ORDERS", "writes", "CUSTOMERS"): ("is", {6, 26}),
        ("ORDERS.CUST-BUFFER", "moves to", "CUSTOMERS"): ("is", {6, 26}),
        ("ORDERS", "reads", "LINES"): ("is", {19}),
        ("ORDERS", "writes", "ORDERS"): ("may", {21, 23}),
        ("ORDERS", "writes", "OLD-ORDERS"): ("may", {22, 23}),
        ("ORDERS.ORDER-BUFFER", "moves to", "ORDERS"): ("may", {21, 23}),
        ("ORDERS.ORDER-BUFFER", "moves to", "OLD-ORDERS"): ("may", {22, 23}),
    }

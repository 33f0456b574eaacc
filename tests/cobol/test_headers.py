"""Is a header in area A found after a sentence without its period, and is nothing else taken for one?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.chunk import plan
from penstock.cobol import ScannedSource, scan
from penstock.cobol.splicing import copied
from penstock.outline import outline

from .sources import fixed, names, one, program, verbs

pytestmark = pytest.mark.proves("C-14")

DATA = ("01  TOTAL PIC 9.", "01  LAST-ONE PIC 9.")
SAID = "a period is assumed before the paragraph "


def found(source: ScannedSource) -> list[str]:
    """Return the paragraphs of a source, which both readers must see at the same lines."""
    whole = [(part.name, part.line) for unit in source for part in unit.paragraphs if part.name]
    symbols = outline(source.data, "cobol", exact=False).symbols
    assert [(symbol.name, symbol.start_line) for symbol in symbols if symbol.kind == "paragraph"] == whole
    return [name for name, _ in whole]


def assumed(source: ScannedSource) -> list[tuple[int, str]]:
    """Return the headers that a warning is about."""
    return [(said.line, said.text.removeprefix(SAID)) for said in source.warnings if said.text.startswith(SAID)]


@pytest.mark.parametrize(
    "before",
    [
        "IF TOTAL = 1 DISPLAY 'A' END-IF",
        "GO TO MAIN",
        "GO MAIN",
        "PERFORM MAIN",
        "PERFORM MAIN OF A-SECTION THRU MAIN",
        "STOP RUN",
        "GOBACK",
        "EXIT PROGRAM",
        "NEXT SENTENCE",
        "EXEC CICS RETURN END-EXEC",
        "DISPLAY 'A' WITH NO ADVANCING",
    ],
)
def test_a_header_may_follow_a_statement_that_takes_nothing_more(before: str) -> None:
    """No other evidence is needed; the code after the header belongs to it, and a warning gives its line."""
    source = scan(program("MAIN.", f"    {before}", "    ", "READ-EXIT.", "    MOVE 1 TO TOTAL.", data=DATA))
    assert found(source) == ["MAIN", "READ-EXIT"]
    assert assumed(source) == [(11, "READ-EXIT")]
    unit = one(source)
    last = unit.paragraphs[-1]
    assert [statement.verb for statement in unit.statements[last.first : last.last]] == ["MOVE"]
    assert unit.statements[-1].depth == 0
    assert unit.statements[-1].sentence > unit.statements[-2].sentence
    assert unit.statements[last.first - 1].end_line == 9


@pytest.mark.parametrize(
    "before",
    [
        "DISPLAY 'TRANSFER' TOTAL",
        "DISPLAY 'TRANSFER'",
        "MOVE 1 TO TOTAL",
        "MOVE ZERO TO ITEM (1)",
        "SET ITEM TO TRUE",
        "COMPUTE ITEM ROUNDED = 1 * (3 + 4)",
        "CALL 'OTHER' USING ITEM",
        "ACCEPT ITEM FROM DATE",
    ],
)
@pytest.mark.parametrize("area", ["READ-EXIT.", "   READ-EXIT  ."])
def test_a_header_that_is_performed_or_gone_to_stands_behind_what_may_take_more(before: str, area: str) -> None:
    """A name that is performed and not declared is not an operand."""
    for mention in ("PERFORM READ-EXIT", "GO TO READ-EXIT", "PERFORM MAIN THRU READ-EXIT"):
        source = scan(program("MAIN.", f"    {mention}.", f"    {before}", area, "    GOBACK.", data=DATA))
        assert found(source) == ["MAIN", "READ-EXIT"]
        assert assumed(source) == [(11, "READ-EXIT")]


@pytest.mark.parametrize("before", ["DISPLAY 'A' UPON CONSOLE", "MOVE 1 TO TOTAL", "GO TO LOOP"])
def test_code_may_follow_such_a_header_on_its_line(before: str) -> None:
    """The code belongs to the paragraph that the header begins."""
    body = ("MAIN.", "    GO TO LOOP.", "AGAIN.", "    ADD 1 TO TOTAL", f"    {before}")
    source = scan(program(*body, "LOOP. IF TOTAL > 8 GO TO LAST.", "    GO TO AGAIN.", "LAST. STOP RUN.", data=DATA))
    assert found(source) == ["MAIN", "AGAIN", "LOOP", "LAST"]
    assert assumed(source) == [(13, "LOOP")]
    unit = one(source)
    loop = unit.paragraphs[2]
    assert (loop.start_line, loop.end_line) == (13, 14)
    assert [statement.verb for statement in unit.statements[loop.first : loop.last]] == ["IF", "GO TO", "GO TO"]


def test_a_header_in_front_of_exit_alone_needs_no_perform() -> None:
    """EXIT alone with its period is a paragraph, and can be nothing else."""
    for leaving in (
        ("MAIN-EXIT.", "", "    EXIT."),
        ("MAIN-EXIT.  EXIT.", "*|", "    "),
        ("MAIN-EXIT.", "*|", "    EXIT", "."),
    ):
        source = scan(program("MAIN.", "    DISPLAY 'A'", *leaving, "LAST.", "    GOBACK."))
        assert found(source) == ["MAIN", "MAIN-EXIT", "LAST"]
        assert assumed(source) == [(6, "MAIN-EXIT")]
        assert [verbs(one(source))] == [["DISPLAY", "EXIT", "GOBACK"]]


def test_a_statement_of_a_database_is_no_header() -> None:
    """FINISH alone ends a run unit of IDMS."""
    idms = ("ENVIRONMENT DIVISION.", "IDMS-CONTROL SECTION.", "PROCEDURE DIVISION.")
    body = ("MAIN.", "    IF TOTAL = 1 DISPLAY 'A' END-IF", "FINISH.", "LATER.", "    GOBACK.")
    source = scan(fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", *idms, *body))
    assert names(one(source)) == ["MAIN", "LATER"]
    assert verbs(one(source)) == ["IF", "DISPLAY", "END-IF", "FINISH", "GOBACK"]
    assert assumed(source) == []


def test_a_label_that_cics_goes_to_is_a_paragraph() -> None:
    """HANDLE names the label in parentheses."""
    handled = "    EXEC CICS HANDLE CONDITION NOTFND(LATER) ERROR ( FAILED ) END-EXEC."
    source = scan(
        program("MAIN.", handled, "    DISPLAY 'A'", "FAILED.", "    MOVE 1 TO TOTAL", "LATER.", "    GOBACK.")
    )
    assert found(source) == ["MAIN", "FAILED", "LATER"]


def test_a_section_may_follow_a_sentence_without_its_period() -> None:
    """No operand is called SECTION."""
    source = scan(program("MAIN.", "    MOVE 1 TO TOTAL", "CLOSING SECTION.", "LAST.", "    GOBACK.", data=DATA))
    assert found(source) == ["MAIN", "LAST"]
    assert [section.name for section in one(source).sections] == ["CLOSING"]
    assert source.warnings[-1][1:] == ("a period is assumed before the section CLOSING", "CLOSING")


@pytest.mark.parametrize(
    "lines",
    [
        ("MOVE 1 TO", "LAST-ONE."),
        ("MOVE 1 TO", "READ-EXIT."),
        ("MOVE 1 TO TOTAL,", "READ-EXIT."),
        ("MOVE 1 TO TOTAL", "LAST-ONE."),
        ("MOVE 1 TO TOTAL", "COPIED-ITEM."),
        ("DISPLAY TOTAL", "COPIED-ITEM."),
        ("MOVE 1 TO TOTAL", "TIMES-ITEM."),
        ("COMPUTE TOTAL = 1 +", "COPIED-ITEM."),
        ("GO TO", "READ-EXIT."),
        ("PERFORM", "READ-EXIT."),
        ("PERFORM MAIN THRU", "READ-EXIT."),
        ("PERFORM MAIN UNTIL", "COPIED-ITEM."),
        ("PERFORM UNTIL", "COPIED-ITEM."),
        ("PERFORM READ-EXIT VARYING TOTAL FROM 1 BY 1 UNTIL", "COPIED-ITEM."),
        ("EXIT", "PROGRAM."),
        ("IF TOTAL = 1 NEXT", "SENTENCE."),
        ("IF TOTAL = 1 STOP", "RUN."),
        ("IF TOTAL = 1 DISPLAY 'A' END-IF", "EXIT."),
        ("IF TOTAL = 1 DISPLAY 'A' END-IF", "GOBACK."),
        ("IF TOTAL = 1 DISPLAY 'A'", "END-IF."),
        ("IF TOTAL = 1 DISPLAY 'A' END-IF", "LAST-ONE."),
        ("MOVE 1 TO TOTAL", "    READ-EXIT."),
        ("DISPLAY 'IT SAYS GO TO'", "'X'", "COPIED-ITEM."),
        ("USE FOR DEBUGGING ON MAIN", "READ-EXIT."),
        ("COPY", "READ-EXIT."),
        ("EXEC SQL OPEN", "READ-EXIT.", "END-EXEC."),
        ("MOVE 1 TO TOTAL", "COPIED-ITEM. DISPLAY 'B'."),
        ("MOVE 1 TO TOTAL", "LAST-ONE. EXIT."),
        ("MOVE 1 TO TOTAL", "LAST-ONE. GO TO READ-EXIT."),
        ("MOVE 1 TO TOTAL", "COPIED-ITEM. EXIT PROGRAM."),
        ("MOVE 1 TO TOTAL", "MOVE."),
    ],
)
def test_an_operand_in_area_a_is_no_header(lines: tuple[str, ...]) -> None:
    """Expected operands, declared names, words of the language, and names without other evidence remain operands."""
    first, *rest = lines
    source = scan(
        program(
            "MAIN.",
            "    PERFORM TIMES-ITEM TIMES DISPLAY 'A' END-PERFORM.",
            f"    {first}",
            *rest,
            "LAST.",
            "    PERFORM READ-EXIT.",
            data=DATA,
        )
    )
    assert found(source) == ["MAIN", "LAST"]
    assert assumed(source) == []


def test_free_format_has_no_area_a() -> None:
    """In free format a name at the beginning of a line is an operand, also after a directive."""
    head = fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. P.")
    body = ("PROCEDURE DIVISION.", "MAIN.", "    PERFORM LATER", "LATER.", "    GOBACK.")
    free = "\n".join(body)
    for text, wanted in (
        (f">>SOURCE FREE\nPROGRAM-ID. P.\n{free}", ["MAIN"]),
        (f"{head}       >>SOURCE FREE\n{free}", ["MAIN"]),
        (f"{head}       >>SOURCE VARIABLE\n{fixed(*body)}", ["MAIN", "LATER"]),
        (f">>SOURCE FREE\nPROGRAM-ID. P.\n>>SOURCE FIXED\n{fixed(*body)}", ["MAIN", "LATER"]),
    ):
        source = scan(text)
        assert found(source) == wanted
        assert len(assumed(source)) == len(wanted) - 1


def test_a_line_that_is_continued_is_no_header() -> None:
    """The name continues on the next line, or ends another name."""
    source = scan(
        program("MAIN.", "    PERFORM READ-EXIT.", "    MOVE 1 TO READ-", "-|READ-EXIT.", "LAST.", "    GOBACK.")
    )
    assert found(source) == ["MAIN", "LAST"]


def test_names_are_those_of_the_whole_source() -> None:
    """A copybook of paragraphs also has headers without periods before them; a PERFORM may come before or after its header."""
    source = scan(
        fixed("READ-IT.", "    DISPLAY 'A'", "READ-EXIT.", "    PERFORM SHOWN", "SHOWN.", "    GO TO READ-EXIT.")
    )
    assert found(source) == ["READ-IT", "READ-EXIT", "SHOWN"]
    assert assumed(source) == [(3, "READ-EXIT"), (5, "SHOWN")]


def test_a_copybook_that_is_copied_with_other_names_keeps_its_headers() -> None:
    """The copybook is read again, with its area A."""
    book = scan(fixed(":P:-ONE.", "    MOVE 1 TO A", ":P:-EXIT.", "    EXIT."))
    (unit,) = copied(book, ((("==:P:==", "==READ=="),),), ())
    assert [part.name for part in unit.paragraphs] == ["READ-ONE", "READ-EXIT"]


def test_a_chunk_begins_with_such_a_header() -> None:
    """Such a header starts a chunk like any other header."""
    steps = [f"    MOVE {number} TO TOTAL" for number in range(60)]
    source = scan(program("MAIN.", "    PERFORM LATER.", *steps, "LATER.", *steps, "    GOBACK.", data=DATA))
    assert [chunk.spans for chunk in plan(source, source_tokens=600).chunks] == [((1, 69),), ((70, 131),)]


COMPLETE = ("IF TOTAL = 1 DISPLAY 'A' ELSE DISPLAY 'B' END-IF", "PERFORM P-1", "GO TO P-2", "STOP RUN")
OPEN = ("DISPLAY 'A'", "MOVE 1 TO TOTAL", "ADD 1 TO TOTAL LAST-ONE", "SET ITEM TO TRUE", "COMPUTE TOTAL = 1 + 2")
BODIES = st.lists(
    st.tuples(st.lists(st.sampled_from([*COMPLETE, *OPEN]), min_size=1, max_size=4), st.booleans()),
    min_size=1,
    max_size=6,
)


@given(BODIES)
def test_a_program_without_some_periods_is_the_program_with_them(bodies: list[tuple[list[str], bool]]) -> None:
    """Paragraphs, statements and edges are the same, and each missing period is reported."""

    def written(*, whole: bool) -> str:
        lines = ["MAIN.", *(f"    PERFORM P-{number}." for number in range(len(bodies))), "    GOBACK."]
        for number, (statements, is_ended) in enumerate(bodies):
            lines += [f"P-{number}.", *(f"    {statement}" for statement in statements)]
            lines[-1] += "." if is_ended or whole else ""
        return program(*lines, "P-LAST.", "    EXIT.", data=DATA)

    with_all, without = scan(written(whole=True)), scan(written(whole=False))
    assert found(without) == found(with_all)
    assert verbs(one(without)) == verbs(one(with_all))
    assert one(without).paragraphs == one(with_all).paragraphs
    assert one(without).performs == one(with_all).performs
    assert one(without).gotos == one(with_all).gotos
    assert len(assumed(without)) == sum(not is_ended for _, is_ended in bodies)
    assert assumed(with_all) == []


OPERANDS = st.lists(st.sampled_from(["TOTAL", "LAST-ONE", "COPIED", "ITEM (1)", "ZERO", "'A'", "'P-1'"]), min_size=1)


@given(
    st.lists(st.tuples(st.sampled_from(["DISPLAY", "MOVE 1 TO", "CALL 'P-1' USING", "GO TO"]), OPERANDS), max_size=5)
)
def test_operands_in_area_a_are_what_they_are_in_area_b(statements: list[tuple[str, list[str]]]) -> None:
    """With one operand per line, from column 8 on, there are as many paragraphs as with indented operands."""

    def written(margin: str) -> str:
        lines = ["MAIN.", "    PERFORM P-1."]
        for verb, operands in statements:
            shown = ["P-1"] if verb == "GO TO" else operands
            lines += [f"    {verb}", *(f"{margin}{operand}" for operand in shown)]
            lines[-1] += "."
        return program(*lines, "P-1.", "    EXIT.", data=DATA)

    in_a, in_b = scan(written("")), scan(written("    "))
    assert found(in_a) == found(in_b) == ["MAIN", "P-1"]
    assert one(in_a).paragraphs == one(in_b).paragraphs
    assert assumed(in_a) == []

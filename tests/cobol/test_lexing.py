"""Are tokens whole, wherever lines end?"""

from __future__ import annotations

import pytest

from penstock.cobol import scan
from penstock.cobol.program import Copy, GoTo, Perform, Word

from .sources import fixed, names, one, program, verbs

pytestmark = pytest.mark.proves("C-2")


def words(*lines: str) -> list[Word]:
    """Return the tokens of lines of code."""
    source = scan(fixed(*lines))
    return source.words(0, len(source.code))


def test_tokens_have_a_kind_and_a_line() -> None:
    """A word, a literal, a number, separators and the period are distinguished."""
    assert words("MOVE A-1 (2:X) TO", "    B-ITEM, +1.5 X'0F'.") == [
        Word("MOVE", 1, "word"),
        Word("A-1", 1, "word"),
        Word("(", 1, "mark"),
        Word("2", 1, "number"),
        Word(":", 1, "mark"),
        Word("X", 1, "word"),
        Word(")", 1, "mark"),
        Word("TO", 1, "word"),
        Word("B-ITEM", 2, "word"),
        Word("+1.5", 2, "number"),
        Word("X'0F'", 2, "literal"),
        Word(".", 2, "period"),
    ]


def test_a_hyphen_begins_no_word() -> None:
    """The hyphen of `X -Y` is a minus, which need not have a blank behind it, nor have one on the card that goes on."""
    found = " ".join(word.text for word in words("COMPUTE X = (-A) -B-1 - C -", "-|    D."))
    assert found == "COMPUTE X = ( - A ) - B-1 - C - D ."


def test_row_5_a_period_in_a_literal_or_number_ends_nothing() -> None:
    """Row 5: doubled quotes, prefixes, and decimals with and without a leading digit are tokens."""
    found = one(
        program(
            "A.",
            "    MOVE 'IT''S. A' TO B MOVE Z\"X. Y\" TO C",
            "    ADD 1.5 .25 TO D.",
            "    IF E < .5. F.",
            "    EXIT.",
        )
    )
    assert names(found) == ["A", "F"]
    assert [statement.sentence for statement in found.statements] == [1, 1, 1, 2, 4]


def test_row_5_a_literal_that_nobody_closes_ends_with_its_line() -> None:
    """Row 5: one apostrophe too many hides one line, not the program."""
    assert names(one(program("A.", "    DISPLAY 'OPEN.", "    MOVE B TO C.", "D.", "    EXIT."))) == ["A", "D"]


def test_row_5_a_name_in_a_literal_may_go_on() -> None:
    """Row 5: a literal over two lines that names a program, copybook or entry gives the whole name and no more."""
    found = one(
        program(
            *("    CALL 'CALLED".ljust(65, "-"), "-|    'TWICE' USING X."),
            *("    ENTRY 'ENTERED".ljust(65, "-"), "-|    'TWICE' USING X."),
            *("    COPY 'COPIED".ljust(65, "-"), "-|    'TWICE' OF 'LIB'."),
        )
    )
    assert [call.target for call in found.calls] == [f"CALLED{'-' * 49}TWICE"]
    assert found.entry_points == ((f"ENTERED{'-' * 47}TWICE", 6),)
    assert found.copies == (Copy(8, 9, f"COPIED{'-' * 49}TWICE", "LIB"),)


def test_row_5_pseudo_text_is_one_token() -> None:
    """Row 5: periods and quotes between == belong to the pseudo-text."""
    assert [word.kind for word in words("REPLACE ==A. 'B== BY ==C.==.")] == [
        "word",
        "pseudo",
        "word",
        "pseudo",
        "period",
    ]
    found = one(program("REPLACE ==:TAG:. IF== BY ==A.", "    X==.", "A.", "    EXIT."))
    assert (names(found), verbs(found)) == (["", "A"], ["REPLACE", "EXIT"])


def test_row_22_copy_is_recorded_wherever_it_stands() -> None:
    """Row 22: a COPY may be quoted and have a library, pairs, and its period on the next line; nothing is expanded."""
    source = scan(
        program(
            "A.",
            "    COPY 'Book-1'",
            "    .",
            "    COPY BOOK2 OF LIB SUPPRESS REPLACING ==:TAG:== BY ==WS-==",
            "        LEADING ==A== BY ==B== 'C' BY D OF E.",
            "    EXIT.",
            data=("01  R. COPY REC.", "EXEC SQL INCLUDE SQLCA END-EXEC."),
        )
    )
    assert one(source).copies == (
        Copy(5, 5, "REC"),
        Copy(6, 6, "SQLCA", via="INCLUDE"),
        Copy(9, 9, "Book-1"),
        Copy(11, 12, "BOOK2", "LIB", ((":TAG:", "WS-"), ("LEADING A", "B"), ("'C'", "D OF E"))),
    )
    assert verbs(one(source)) == ["COPY", "COPY", "EXIT"]
    assert 12 in source.joined


def test_row_26_an_exec_block_is_one_statement() -> None:
    """Row 26: the block may span lines and contain quotes, periods and COBOL words; its period may be on another line."""
    source = scan(
        program(
            "A.",
            "    EXEC SQL",
            "      SELECT IF, 'it''s' INTO :X FROM S.T.",
            "      WHERE A = 'PERFORM B.'",
            "    END-EXEC",
            "    .",
            "B.",
            "    EXEC CICS RETURN TRANSID('AB') END-EXEC.",
        )
    )
    found = one(source)
    assert verbs(found) == ["EXEC SQL", "EXEC CICS"]
    assert [(block.line, block.end_line, block.kind) for block in found.execs] == [(5, 8, "SQL"), (11, 11, "CICS")]
    assert found.execs[1].text == "EXEC CICS RETURN TRANSID('AB') END-EXEC"
    assert source.joined == {6, 7, 8}
    assert (found.statements[0].end_line, names(found)) == (9, ["A", "B"])
    (block, _) = source.words(found.statements[0].start, found.statements[0].end)
    assert block.kind == "exec"


def test_row_26_blocks_may_declare() -> None:
    """Row 26: in the DATA DIVISION and in a copybook a block is an entry."""
    text = fixed("EXEC SQL DECLARE T TABLE (A CHAR(1), B CHAR(2)) END-EXEC.", "01  DCLT.", "    05  A PIC X.")
    found = one(text)
    assert found.kind == "copybook"
    assert [(entry.word, entry.name) for entry in found.entries] == [
        ("EXEC SQL", "DECLARE"),
        ("01", "DCLT"),
        ("05", "A"),
    ]
    assert [block.kind for block in found.execs] == ["SQL"]


@pytest.mark.parametrize("before", ["-" * 30, "01", "01  R", "NOTES"])
def test_row_26_a_block_is_no_part_of_a_declaration_before_it_that_has_no_period(before: str) -> None:
    """Row 26: a precompiler finds the block anywhere, as behind a line that someone has drawn."""
    found = one(program("A.", data=(before, "    EXEC SQL INCLUDE REC END-EXEC.", "01  B PIC X.")))
    assert found.copies == (Copy(6, 6, "REC", via="INCLUDE"),)
    assert [entry.name for entry in found.entries if entry.word == "01"][-1] == "B"


def test_row_26_an_unclosed_block_hides_nothing() -> None:
    """Row 26: the block is reported, and hides nothing after it."""
    source = scan(program("A.", "    EXEC CICS RETURN.", "B.", "    EXEC SQL COMMIT END-EXEC."))
    assert names(one(source)) == ["A", "B"]
    assert [(warned.line, warned.text) for warned in source.warnings] == [(5, "EXEC without END-EXEC")]


def test_row_26_what_a_block_says_of_labels_are_jumps() -> None:
    """Row 26: HANDLE CONDITION, HANDLE ABEND and WHENEVER name paragraphs, which WHENEVER may perform."""
    found = one(
        program(
            "    EXEC CICS HANDLE CONDITION NOTFND(N-1) ERROR(E-1) END-EXEC",
            "    EXEC CICS HANDLE ABEND LABEL(A-1) END-EXEC",
            "    EXEC CICS HANDLE ABEND PROGRAM('X') END-EXEC",
            "    EXEC SQL WHENEVER SQLERROR GO TO :S-1 END-EXEC.",
            "    EXEC SQL WHENEVER SQLWARNING PERFORM :S-2 END-EXEC.",
            "    EXEC SQL WHENEVER NOT FOUND DO PERFORM S-3 END-EXEC.",
            "    EXEC SQL WHENEVER NOT FOUND CONTINUE END-EXEC.",
        )
    )
    assert found.performs == tuple(
        Perform(line, name, via="WHENEVER PERFORM") for line, name in ((8, "S-2"), (9, "S-3"))
    )
    assert found.gotos == (
        GoTo(4, ("N-1",), via="HANDLE CONDITION"),
        GoTo(4, ("E-1",), via="HANDLE CONDITION"),
        GoTo(5, ("A-1",), via="HANDLE ABEND"),
        GoTo(7, ("S-1",), via="WHENEVER"),
    )

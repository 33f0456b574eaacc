"""Is code told from everything else, whatever the format, the encoding and the line ends?"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import BOUND, growth

from penstock.cobol import ScannedSource, reading, scan
from penstock.cobol.facts import facts
from penstock.cobol.reading import BREAK

from .sources import fixed, names, one, program, verbs

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.proves("C-2")

FREE = """identification division.
program-id. hello.
procedure division.
main-para.
    if a = 1 *> not a period.
        display "free *> format"
    end-if.
    stop run.
"""


def code_of(source: ScannedSource) -> list[str]:
    """Return the code of each line."""
    ends = [*source.starts[1:], len(source.code) + 1]
    return [source.code[start : end - 1].rstrip() for start, end in zip(source.starts, ends, strict=True)]


def test_row_1_the_format_is_told_by_the_columns() -> None:
    """Row 1: fixed, free and variable format are recognised for each file of a tree."""
    assert scan(program("A.", "    EXIT.")).format == "fixed"
    assert scan(FREE).format == "free"
    assert names(one(FREE)) == ["main-para"]
    wide = program(
        "A.", '    DISPLAY "a literal that goes on and on until far behind the column" UPON CONSOLE, OTHER-ITEM.'
    )
    assert scan(wide).format == "variable"
    assert code_of(scan(wide))[-1].endswith("OTHER-ITEM.")


_LITERAL_TO_COLUMN_75 = f'    DISPLAY "{"x" * 54}".'
_WORD_TO_COLUMN_75 = f"    MOVE ZEROES TO {'A' * 47}-NAME."


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["A.", _LITERAL_TO_COLUMN_75], "variable"),
        (["A.", _WORD_TO_COLUMN_75], "variable"),
        # one with a tag in the last eight columns; one with more tagged lines than truncated ones
        (["A.", f"    MOVE 1 TO {'A' * 51}PAYROLL1"], "fixed"),
        (["A.", *["    EXIT.".ljust(65) + "PAYROLL1"] * 2, _LITERAL_TO_COLUMN_75], "fixed"),
    ],
)
def test_row_1_what_column_72_would_cut_is_code(lines: list[str], told: str) -> None:
    """Row 1: a truncated literal is invalid in any compiler; a whole name in those columns counts if most lines lack such a tag."""
    assert scan(program(*lines)).format == told


@pytest.mark.parametrize(("name", "form"), [("\u30b2\u30e0" * 11, "variable"), ("\u30b2\u30e0" * 9, "fixed")])
@pytest.mark.parametrize("encoding", ["cp932", "euc_jis_2004"])
def test_row_1_column_72_is_counted_in_bytes(name: str, form: str, encoding: str) -> None:
    """Row 1: a letter of Japanese takes two columns, so that column 72 would cut a name that has fewer letters."""
    named = program("A.", f"    IF {name} = 1 GO TO CX00219.", "    STOP RUN.", "CX00219.", "    STOP RUN.")
    text = "\n".join(line.ljust(80 - len(line.encode(encoding)) + len(line)) for line in named.split("\n"))
    source = scan(text.encode(encoding))
    assert source.format == form
    assert [jump.targets for jump in one(source).gotos] == [("CX00219",)]


def test_row_1_a_hyphen_in_column_1_continues_a_literal() -> None:
    """Row 1: terminal format, which is read as free, has its indicator there; after a whole line it is a minus."""
    source = scan(
        "IDENTIFICATION DIVISION.\nPROGRAM-ID. P.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n"
        "01  A PIC X(9) VALUE '12345\n-    '6789'.\n01  B PIC X(2) VALUE 'AB\n-    ''.\n"
        "PROCEDURE DIVISION.\nM.\n    COMPUTE A = 1\n- A.\n    STOP RUN.\n"
    )
    assert source.format == "free"
    assert [item.value for item in facts(source, one(source)).items] == ["'123456789'", "'AB'"]
    assert verbs(one(source)) == ["COMPUTE", "STOP RUN"]


@pytest.mark.parametrize("between", ["", "      * A COMMENT\n", "      /\n", "\n", "000400\n", f"{'':40}\n"])
def test_row_1_a_line_that_is_continued_may_be_cut_in_column_72(between: str) -> None:
    """Row 1: fixed format allows it, even if comments and blank lines come before the continuation."""
    source = program("A.", f"    MOVE 1 TO {'A' * 51}PAYROL1") + f"{between}      -    -NAME.\n"
    assert scan(source).format == "fixed"
    assert scan(source.replace("      -    -", "           ")).format == "variable"


def test_row_1_nested_programs_may_be_indented_in_free_format() -> None:
    """Row 1: a header in the margin is not made fixed by as many headers of programs within."""
    wide = f"{'':8}DISPLAY {'A' * 70}.\n" * 9 + f"{'        MOVE A':71}  TO B.\n"
    one = f"{{0}}IDENTIFICATION DIVISION.\n{{0}}PROGRAM-ID. {{1}}.\n{{0}}PROCEDURE DIVISION.\n{wide}"
    assert scan(one.format("", "A") + one.format(" " * 8, "B")).format == "free"


@pytest.mark.parametrize(
    ("odd", "other", "told"),
    [
        ("END-READ", "", "free"),
        ("END-READ", "000100     EXIT.", "fixed"),
        ("END-READ", "      D    EXIT.", "fixed"),
        ("END-READ", "           EXIT.".ljust(72) + "PAYROLL1", "fixed"),
        ("PROCESS APOST", "", "fixed"),
    ],
)
def test_row_1_one_line_in_the_margin_of_an_indented_program_says_enough(odd: str, other: str, told: str) -> None:
    """Row 1: the line is a slip if another line has a number, a tag or an indicator there."""
    source = program("A.", "    READ F", "        AT END EXIT") + f"{odd}\n{other}\n"
    assert scan(source).format == told


@pytest.mark.parametrize(
    ("above", "told"),
    [("", "free"), ("      * MENUS\n", "fixed")],
)
def test_row_1_a_level_in_column_7_is_code_if_another_line_has_an_indicator_there_or_not(above: str, told: str) -> None:
    """Row 1: a compiler of fixed format knows no such digit, but the item would be lost as a comment."""
    lines = "".join(f"          05 LINE-{n} PIC X(20).\n" for n in range(9))
    source = scan(f"{above}       01 MENU.\n{lines}      01 POPUP PIC X.\n")
    assert source.format == told
    assert [item.name for item in facts(source, one(source)).items if item.level == 1] == ["MENU", "POPUP"]


def test_row_1_numbers_in_the_margin_may_be_two() -> None:
    """Row 1: members of a shop have there where a field begins in its record, and how many bytes it has."""
    lines = ("001    01 R.", *(f"{n:03} {5:02}    05 F-{n} PIC X(5)." for n in range(1, 40, 5)))
    source = scan("".join(f"{line}\n" for line in lines))
    assert source.format == "fixed"
    assert len(facts(source, one(source)).items) == 9


@pytest.mark.parametrize(
    "directive",
    [
        ">>SOURCE FORMAT IS FREE",
        ">>SOURCE FREE",
        "       >>SET SOURCEFORMAT(FREE)",
        '      $SET SOURCEFORMAT"FREE"',
        "$set sourceformat(free)",
    ],
)
def test_row_1_a_directive_overrules_the_columns(directive: str) -> None:
    """Row 1: a directive outranks the columns."""
    source = scan(
        f"{directive}\n       identification division.\n       program-id. p.\n procedure division.\n x. exit.\n"
    )
    assert source.format == "free"
    assert source.kinds[0] == "directive"
    assert names(one(source)) == ["x"]


def test_row_1_a_directive_may_stand_behind_what_marks_its_line() -> None:
    """Row 1: columns 1 to 6 before a directive may hold a tag; a directive in a literal or a free-format comment does not count."""
    source = scan("TAG-1  >>SOURCE FREE\nTAG1   >>DEFINE X 1\n".replace("-", "_") + FREE)
    assert (source.format, source.kinds[:2], len(names(one(source)))) == ("free", ("directive", "directive"), 1)
    quoting = FREE.replace(
        "    stop run.", "move '       >>SOURCE FIXED' to x.\n*>     >>SOURCE FIXED\nb.\n    stop run."
    )
    assert scan(quoting).switches == ((1, "free"),)
    assert names(one(quoting)) == ["main-para", "b"]


def test_row_1_the_format_may_be_given_and_may_switch_in_the_middle() -> None:
    """Row 1: a caller outranks the columns; a directive in the middle outranks both from there on."""
    text = (
        program("A.", "    EXIT.")
        + "       >>SOURCE FORMAT IS FREE\nB. EXIT.\n>>SOURCE FORMAT IS FIXED\n000100 C. EXIT.\n"
    )
    source = scan(text)
    assert names(one(source)) == ["A", "B", "C"]
    assert [source.format_at(line) for line in (1, 7, 9)] == ["fixed", "free", "fixed"]
    assert scan("       A. EXIT.\n", source_format="free").format == "free"


def test_row_2_sequence_numbers_are_no_code() -> None:
    """Row 2: columns 1 to 6 and 73 to 80 are in neither code nor names, but in the bytes."""
    text = "".join(
        f"{n:06d} {line:<65}PROG0001\n" for n, line in enumerate(["PROCEDURE DIVISION.", "A.", "    MOVE B TO C."])
    )
    source = scan(text)
    assert code_of(source) == ["PROCEDURE DIVISION.", "A.", "    MOVE B TO C."]
    assert source.bytes_of(2, 2) == f"000001 {'A.':<65}PROG0001\n".encode()


def test_row_3_a_prompt_shows_lines_without_padding() -> None:
    """Row 3: a shown line begins with the indicator and ends with its last letter; the source keeps its blanks."""
    source = scan(f"000100 {'A.':<65}PROG0001\n000200*{' a comment':<73}\n")
    assert [source.shown(1), source.shown(2)] == [" A.", "* a comment"]
    assert source.text(1, 1) == f"000100 {'A.':<65}PROG0001"


def test_row_4_the_indicator_says_what_a_line_is() -> None:
    """Row 4: comments and page marks end nothing, debug lines are reported, an unknown letter is a comment with a warning."""
    text = program("A.", "*|B.", "/|C.", "D|D.", "d|    DISPLAY X.", "Y|E.", "    EXIT.")
    source = scan(text)
    assert source.kinds[3:] == ("code", "comment", "comment", "debug", "debug", "comment", "code")
    assert names(one(source)) == ["A"]
    assert [warned.line for warned in source.warnings] == [9]


def test_row_4_a_remark_may_begin_in_column_1() -> None:
    """Row 4: text from column 1 on is a comment even if column 7 is blank; a tag of that letter is followed by code."""
    source = scan(
        "* HOMEWORK 2\n* TONY BAKER\n       PROGRAM-ID. CHECK.\n       PROCEDURE DIVISION.\n"
        "*      DISPLAY 'A'.\n*A1    DISPLAY 'B'.\n* 0012 DISPLAY 'C'.\n       END PROGRAM CHECK.\n",
        source_format="fixed",
    )
    assert [one.name for one in source.programs] == ["CHECK"]
    assert source.kinds == ("comment", "comment", *["code"] * 6)
    assert not source.warnings


def test_row_4_debug_lines_are_code_where_that_is_asked_for() -> None:
    """Row 4: the caller or WITH DEBUGGING MODE in the program asks for it."""
    text = program("A.", "D|B.", "D|    DISPLAY X.", "    EXIT.")
    assert names(one(scan(text, debug_lines=True))) == ["A", "B"]
    asked = text.replace(
        "       PROCEDURE",
        "       ENVIRONMENT DIVISION.\n       SOURCE-COMPUTER. X WITH DEBUGGING MODE.\n       PROCEDURE",
    )
    source = scan(asked)
    assert names(one(source)) == ["A", "B"]
    assert source.kinds[6] == "debug"
    assert source.is_code(7)


def test_row_5_a_literal_goes_on_after_the_indicator() -> None:
    """Row 5: the literal is padded to column 72; the line cannot be separated from the one before."""
    text = program("A.", "    MOVE 'IT IS. ALL", "-|    ' ONE LITERAL.' TO B.", "C.", "    EXIT.")
    source = scan(text)
    (literal,) = [word.text for word in source.words(0, len(source.code)) if word.kind == "literal"]
    assert literal == f"'{'IT IS. ALL':<55} ONE LITERAL.'"
    assert names(one(source)) == ["A", "C"]
    assert source.joined == {6}


def test_row_5_a_word_goes_on_after_comments() -> None:
    """Row 5: verbs and names are whole wherever they are split; comments may come between."""
    found = one(program("PER-", "-|FORMED.", "    PER", "*| PERFORM NOTHING.", "-|    FORM PER-FOR", "-|    MED."))
    assert verbs(found) == ["PERFORM"]
    assert names(found) == ["PER-FORMED"]
    assert [(perform.line, perform.target) for perform in found.performs] == [(6, "PER-FORMED")]


def test_row_5_quotes_are_doubled_even_where_the_line_ends() -> None:
    """Row 5: a quote in column 72 and a continuation that starts with one are a quote within the literal."""
    line = "    DISPLAY " + '"'.ljust(52, "x") + '"'
    assert len(line) == 65
    source = scan(program("A.", line, '-|    "." TO B.', "C.", "    EXIT."))
    assert names(one(source)) == ["A", "C"]
    assert [w.text for w in source.words(0, len(source.code)) if w.kind == "literal"] == [f'"{"x" * 51}""."']


def test_row_5_a_literal_of_three_lines_has_no_blanks_between() -> None:
    """Row 5: a middle line extends to column 72, wherever its quote is."""
    source = scan(
        program("A.", "    DISPLAY '" + "a" * 52, "-|       '" + "b" * 57, "-|  '" + "c" * 62, "-|    'd' TO B.")
    )
    (literal,) = [word.text for word in source.words(0, len(source.code)) if word.kind == "literal"]
    assert literal == f"'{'a' * 52}{'b' * 57}{'c' * 62}d'"


def test_row_5_two_quotes_go_on_after_one_in_the_last_column() -> None:
    """Row 5: the first quote starts the continuation, the second is half of a doubled one."""
    line = "    DISPLAY '" + "a" * 51 + "'"
    assert len(line) == 65
    source = scan(program("A.", line, "-|    ''b' TO B.", "C.", "    EXIT."))
    assert [w.text for w in source.words(0, len(source.code)) if w.kind == "literal"] == [f"'{'a' * 51}''b'"]


def test_row_5_a_number_goes_on_in_the_next_line() -> None:
    """Row 5: the number keeps all its digits."""
    source = scan(program("A.", "    MOVE 12", "-|    345 TO B."))
    assert [w.text for w in source.words(source.starts[4], len(source.code))] == ["MOVE", "12345", "TO", "B", "."]


@pytest.mark.parametrize("between", ["", "*| it's", " " * 66 + "00000100"])
def test_row_5_what_stands_between_adds_nothing(between: str) -> None:
    """Row 5: a card that is blank except for its number adds nothing to the literal or word around it."""
    literal = scan(program("A.", "    DISPLAY '" + "a" * 52, between, "-|    'b' TO B."))
    assert [w.text for w in literal.words(0, len(literal.code)) if w.kind == "literal"] == [f"'{'a' * 52}b'"]
    word = one(program("A.", "    PER", between, "-|    FORM B."))
    assert [(perform.line, perform.target) for perform in word.performs] == [(5, "B")]


@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "latin-1", "cp932"])
@pytest.mark.parametrize("filled", [b"", b"\0" * 80], ids=["whole", "filled"])
def test_cards_without_ends_are_read_and_warned_of(encoding: str, filled: bytes) -> None:
    """In a member downloaded in binary, translated or not, each card is a line; a warning says that others may count otherwise."""
    letters = {"ascii": "a", "utf-8": "a", "latin-1": "ä", "cp932": "\u3072\u3089\u304c\u306a"}[encoding]
    lines = [*program("A.", f"    DISPLAY '{letters}'.", "B.", "    EXIT.").splitlines()]
    data = b"".join(line.encode(encoding).ljust(72) + b"%08d" % at for at, line in enumerate(lines)) + filled
    source = scan(data)
    assert (names(one(source)), source.lines) == (["A", "B"], len(lines) + bool(filled))
    assert [warned.line for warned in source.warnings if "records of 80 bytes without ends" in warned.text] == [1]
    assert [line.rstrip() for line in code_of(source)[: len(lines)]] == [line[7:] for line in lines]
    assert source.all_shown()[: len(lines)] == [source.shown(at) for at in range(1, len(lines) + 1)]
    assert b"".join(source.bytes_of(n, n) for n in range(1, source.lines + 1)) == data


def test_a_program_on_one_line_is_not_split_into_cards() -> None:
    """A program on one line has letters in the cards' indicator columns, so it is not split."""
    source = scan("program-id. a. procedure division. display 'a'.".ljust(160))
    assert (source.lines, source.warnings) == (1, ())


def test_row_5_what_looks_like_a_comment_in_a_literal_is_text() -> None:
    """Row 5: `*>` inside a literal is text, after the literal it starts a comment, whatever quotes the comment has."""
    source = scan(program("A.", "    DISPLAY 'a *> b' *> it's a comment.", "    DISPLAY 'C'."))
    assert code_of(source)[4:] == ["    DISPLAY 'a *> b'", "    DISPLAY 'C'."]


def test_row_6_tabs_are_expanded_for_the_columns_alone() -> None:
    """Row 6: text that tabs move beyond column 72 is code; the bytes keep their tabs."""
    text = "       01  RECORD-A.\n\t\t     05  A-NAME-THAT-IS-QUITE-LONG               PIC X(25).\n"
    source = scan(text)
    assert [entry.name for entry in one(source).entries] == ["RECORD-A", "A-NAME-THAT-IS-QUITE-LONG"]
    assert code_of(source)[1].endswith("PIC X(25).")
    assert source.bytes_of(1, 2) == text.encode()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_row_7_ends_of_lines_change_nothing(end: str, last: str) -> None:
    """Row 7: CRLF, and a last line without an end, make no difference."""
    text = program("A.", "    MOVE 'B", "-|    'C' TO D.", "E.", "    EXIT.").removesuffix("\n") + last
    source, plain = scan(text.replace("\n", end)), scan(text)
    assert [p.paragraphs for p in source] == [p.paragraphs for p in plain]
    assert code_of(source) == code_of(plain)
    assert source.text(1, source.lines) == plain.text(1, plain.lines)
    assert source.bytes_of(1, source.lines) == text.replace("\n", end).encode()


def test_row_7_bytes_that_are_no_utf_8_are_read() -> None:
    """Row 7: UTF-8 is tried first, with columns counted in letters, then latin-1."""
    text = program("A.", f"    DISPLAY '{'ä' * 45}'.    ", "B.", "    EXIT.")
    for encoding in ("utf-8", "latin-1"):
        source = scan(text.encode(encoding))
        assert source.encoding == encoding
        assert names(one(source)) == ["A", "B"]
        assert source.text(5, 5).strip() == f"DISPLAY '{'ä' * 45}'."


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("last", ["", "\r\n"])
def test_row_7_utf_16_is_told_by_its_mark(encoding: str, last: str) -> None:
    """Row 7: some editors call it Unicode; lines are those of the text, whatever bytes it has."""
    lines = program("A.", "    DISPLAY '\u0a0a\U0001f600. X'.", "B.", "    EXIT.").splitlines()
    data = ("\ufeff" + "\r\n".join(lines) + last).encode(encoding)
    source = scan(data)
    assert (source.encoding, source.lines, names(one(source))) == (encoding, len(lines), ["A", "B"])
    assert source.text(1, source.lines).split("\n") == lines
    assert b"".join(source.bytes_of(n, n) for n in range(1, source.lines + 1)) == data
    assert scan(data + b"\x00").encoding == "latin-1"


def test_what_no_encoding_can_hold_is_a_question_mark() -> None:
    """A lone surrogate in a str does not stop the reading, and columns stay where they are."""
    source = scan(program("A.", "    DISPLAY '\ud800'. B.", "    EXIT."))
    assert (source.text(5, 5).strip(), names(one(source))) == ("DISPLAY '?'. B.", ["A", "B"])


@pytest.mark.parametrize("end", [b"\x15", b"\x25", b""])
def test_row_7_ebcdic_is_told_by_its_bytes(end: bytes) -> None:
    """Row 7: records end with NEL or LF, or have 80 bytes; lines are records, and bytes stay as they are."""
    lines = program("A.", "    PERFORM B.", "B.", "    DISPLAY 'X. Y'.").splitlines()
    data = b"".join(line.ljust(80).encode("cp037") + end for line in lines)
    source = scan(data)
    assert source.encoding == "cp037"
    assert source.lines == len(lines)
    assert names(one(source)) == ["A", "B"]
    assert source.text(5, 5).rstrip() == lines[4]
    assert b"".join(source.bytes_of(n, n) for n in range(1, source.lines + 1)) == data


def test_row_7_a_file_without_ends_of_lines_is_told() -> None:
    """Row 7: lines end with a newline, NEL or a card's 80 bytes, or with carriage returns if a file has no other ends.

    A warning reports carriage returns, which not every program counts, and other records that seem to have no ends.
    """
    text = program("A.", "    EXIT.")
    for encoding in ("utf-8", "utf-16"):
        source = scan(text.replace("\n", "\r").encode(encoding))
        assert (names(one(source)), source.lines) == (["A"], len(text.splitlines()))
        assert [warned.line for warned in source.warnings] == [1]
        assert source.all_shown() == scan(text).all_shown()
    assert [warned.line for warned in scan(text + "       B.\r       C.\n").warnings] == [6]
    records = b"".join(line.ljust(79).encode("cp037") for line in text.splitlines())
    assert (scan(records).lines, [warned.line for warned in scan(records).warnings][:1]) == (1, [1])
    assert not scan(text.replace("\n", "\r\n")).warnings


def test_row_7_double_bytes_in_ebcdic_are_no_quotes() -> None:
    """Row 7: between shift-out and shift-in a byte is half a letter, even if it equals a quote."""
    shifted = b"\x0e\x7d\x4b\x42\x7d\x0f"
    data = b"".join(
        line.encode("cp037") + b"\x15" for line in program("A.", "    DISPLAY 'HERE'.", "B.", "    EXIT.").splitlines()
    ).replace("HERE".encode("cp037"), shifted)
    assert names(one(data)) == ["A", "B"]


def test_row_8_options_before_the_first_division_are_no_code() -> None:
    """Row 8: CBL and PROCESS lines may begin in any column, and belong to the program."""
    source = scan(" CBL LIST,MAP\nPROCESS XREF\n      * a preamble\n" + program("A.", "    EXIT."))
    assert source.kinds[:3] == ("directive", "directive", "comment")
    assert (one(source).name, one(source).start_line) == ("P", 1)
    assert not source.warnings


def test_listing_words_need_no_period() -> None:
    """EJECT, SKIP1 and TITLE between two sentences hide no header."""
    found = one(
        program("A.", "    EXIT.", "    EJECT", "B.", "    EXIT.", "    SKIP2", "    TITLE 'C.'", "D.", "    EXIT.")
    )
    assert names(found) == ["A", "B", "D"]


def test_many_titles_take_time_in_proportion() -> None:
    """Whether a title is within a sentence is not searched for from the first line."""

    def work(count: int) -> Callable[[], object]:
        text = "       PROGRAM-ID. A.\n" + "       TITLE 'X'.\n" * count
        return lambda: scan(text)

    assert growth(work, 2_500) < BOUND


@pytest.mark.parametrize(
    ("data", "lines", "kinds"),
    [
        (b"", 0, set()),
        (b"\n", 1, {"blank"}),
        (b"      * a comment\n      * and another\n", 2, {"comment"}),
        (b"\x00" * 5000, 1, {"blank"}),
        (bytes(range(256)) * 40, 41, {"code", "comment", "blank"}),
    ],
)
def test_row_34_odd_files_have_a_defined_outcome(data: bytes, lines: int, kinds: set[str]) -> None:
    """Row 34: an empty file, comments only, NUL and any binary have lines and, without code, no program."""
    source = scan(data)
    assert source.lines == lines
    assert set(source.kinds) <= kinds
    assert source.programs == () or "code" in kinds
    assert b"".join(source.bytes_of(n, n) for n in range(1, lines + 1)) == data


PIECES = st.sampled_from(
    [
        *(
            "       ",
            "      *",
            "      -",
            "      D",
            "000100 ",
            "\t",
            " ",
            "\n",
            "\r\n",
            "'",
            '"',
            ".",
            "==",
            "*>",
            ">>",
            "$SET ",
            "\x00",
            BREAK,
            "é",
        ),
        *(
            "IDENTIFICATION DIVISION.",
            "PROGRAM-ID. ",
            "DATA DIVISION.",
            "PROCEDURE DIVISION",
            " USING X",
            "END PROGRAM",
            "DECLARATIVES.",
            "END ",
        ),
        *(
            "SECTION",
            "A-1",
            "100",
            "01 ",
            "PIC X",
            "COPY ",
            "REPLACING ",
            " BY ",
            "EXEC SQL ",
            "END-EXEC",
            "IF ",
            "ELSE ",
            "END-IF ",
            "PERFORM ",
            "GO TO ",
        ),
        *(
            ">>SOURCE FORMAT FREE\n",
            "TIMES",
            "UNTIL",
            "THRU ",
            "EVALUATE ",
            "WHEN ",
            "READ F ",
            "AT END ",
            "AUTHOR. ",
            "(",
            ")",
            ",",
            "CALL 'X'",
            "1.5",
            "-",
        ),
    ]
)


@given(st.one_of(st.binary(max_size=400), st.lists(PIECES, max_size=60).map(lambda pieces: "".join(pieces).encode())))
def test_any_bytes_are_a_source_whose_parts_nest(data: bytes) -> None:
    """Joined lines are the bytes; every part is within the lines and within its parent."""
    source = scan(data)
    lines = source.lines
    assert b"".join(source.bytes_of(n, n) for n in range(1, lines + 1)) == data
    assert len(source.kinds) == len(source.starts) == lines
    assert source.code.count("\n") + source.code.count(BREAK) >= lines - 1
    assert all(1 < line <= lines for line in source.joined)
    assert b"".join(source.records()) == data
    each = [source.shown(n) for n in range(1, lines + 1)]  # first: a later call uses what `all_shown` kept
    assert source.all_shown() == each == [source.shown(n) for n in range(1, lines + 1)]
    assert not any("\n" in line for line in source.all_shown())
    outermost = [program for program in source if program.parent is None]
    if outermost:
        assert (outermost[0].start_line, outermost[-1].end_line) == (1, lines)
    for found in source:
        spans = [(part.line, part.end_line) for part in found.entries + found.statements + found.execs + found.copies]
        spans += [(part.start_line, part.end_line) for part in found.divisions]
        spans += [(part.start_line, part.end_line) for part in found.sections]
        spans += [(part.start_line, part.end_line) for part in found.paragraphs]
        assert all(found.start_line <= start <= end <= found.end_line for start, end in spans)
        in_order([(part.start_line, part.end_line) for part in found.divisions])
        in_order([(part.start_line, part.end_line) for part in found.sections])
        in_order([(part.start_line, part.end_line) for part in found.paragraphs])
        in_order([(statement.start, statement.end) for statement in found.statements])
        assert [n for p in found.paragraphs for n in range(p.first, p.last)] == list(range(len(found.statements)))


def in_order(spans: list[tuple[int, int]]) -> None:
    """Check that each span ends before the next begins; two may share a line."""
    assert all(start <= end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_lines_that_two_ask_for_at_once_are_there_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller that asks during another's reading, as threads do, gets every line, and so does the first."""
    source = scan(b"       ID DIVISION.\n       PROGRAM-ID. P.\n       PROCEDURE DIVISION.\n           GOBACK.\n")
    each = [source.shown(n) for n in range(1, source.lines + 1)]
    as_ever, others = reading.all_shown, list[str]()

    def all_shown(*lines: Any) -> list[str]:
        monkeypatch.setattr("penstock.cobol.source.all_shown", as_ever)
        others.extend([source.shown(2), *source.all_shown()])
        return as_ever(*lines)

    monkeypatch.setattr("penstock.cobol.source.all_shown", all_shown)
    assert source.all_shown() == each
    assert others == [each[1], *each]
    assert source.all_shown() == each


JAPANESE = """\
000100 PROGRAM-ID. A.
000200 DATA DIVISION.
000300 WORKING-STORAGE SECTION.
000400 01  画面－職級      PIC 9(2).
000500* １．顧客情報を更新する。
000600 PROCEDURE DIVISION.
000700 受付処理 SECTION.
000800     MOVE NC"管理者" TO 画面－職級 .
000900     PERFORM 更新処理.
001000 更新処理 SECTION.
001100     DISPLAY "印刷" 画面－職級.
"""


def test_a_bar_begins_a_comment_and_two_join_texts() -> None:
    """ACUCOBOL writes `|` for `*>`; SQL joins texts with `||`, which are a comment in a file without SQL."""
    text = program(
        "A.", "    DISPLAY 'a|b' | it's open", "    | alone", "    EXEC SQL SET :A = :B || 'c' END-EXEC", "    ."
    )
    source = scan(text)
    assert code_of(source)[4:] == ["    DISPLAY 'a|b'", "", "    EXEC SQL SET :A = :B || 'c' END-EXEC", "    ."]
    assert source.kinds[5] == "comment"
    without = scan(program("A.", "    DISPLAY 'a||b' || a.new day 21.09.2013", "    || a day.", "    ."))
    assert code_of(without)[4:] == ["    DISPLAY 'a||b'", "", "    ."]


def test_a_comment_of_sql_is_no_code() -> None:
    """Two hyphens begin one up to the end of the line, and `/*` one up to `*/`, on as many lines as it takes."""
    lines = (
        "A.",
        "    DISPLAY '-- EXEC SQL' '/*'",
        "    EXEC SQL",
        "      -- it's old: DELETE FROM T",
        "      SELECT A /* isn't it */ INTO :A--B-- END-OF-LIST",
        "      /* FROM OLDER",
        "         WHERE :C */",
        "      FROM T WHERE B = '/* -- */' END-EXEC",
        "    DISPLAY '*/'.",
    )
    source = scan(program(*lines))
    (block,) = one(source).execs
    assert block.text == "EXEC SQL SELECT A INTO :A--B FROM T WHERE B = '/* -- */' END-EXEC"
    assert [number for number, kind in enumerate(source.kinds[3:]) if kind == "comment"] == [3, 5, 6]
    assert [statement.verb for statement in one(source).statements] == ["DISPLAY", "EXEC SQL", "DISPLAY"]
    # One that does not end is none; and outside of SQL, nothing is one.
    begun = ("    EXEC SQL DELETE FROM T", "    /* WHERE A = 1", "    END-EXEC")
    assert one(program("A.", *begun, "    DISPLAY 'a */'.")).execs[0].text.startswith("EXEC SQL DELETE FROM T /* WHERE")
    assert code_of(scan(program("A.", "    COMPUTE A = B --C.", *lines[2:])))[4] == "    COMPUTE A = B --C."


@given(
    st.lists(st.sampled_from(["", " ", "\n", " -- it's; END\n", " /* ' */ ", " /*\n * FROM U -- \n */ "]), min_size=8)
)
def test_comments_of_sql_change_nothing(between: list[str]) -> None:
    """Whatever stands between its words, a statement says the same."""
    words = ("UPDATE", "T", "SET A", "=", ":B,", "C", "= '--'", "WHERE D = 1")
    text = "\n".join(f"{word} {gap}" for word, gap in zip(words, between, strict=False))
    lines = ["A.", *(f"    {line}" for line in f"EXEC SQL {text} END-EXEC".split("\n")), "    ."]
    (block,) = one(program(*lines)).execs
    assert block.text == f"EXEC SQL {' '.join(words)} END-EXEC"


def test_comments_of_sql_that_do_not_end_take_time_in_proportion() -> None:
    """The end of a comment is not searched for from each place where one may begin."""

    def work(count: int) -> Callable[[], object]:
        text = program("A.", "    EXEC SQL DELETE FROM T", *["    /* -- ' EXEC SQL"] * count, "    END-EXEC.")
        return lambda: scan(text)

    assert growth(work, 2_500) < BOUND


@pytest.mark.parametrize("encoding", ["cp932", "euc_jis_2004", "utf-8"])
def test_a_program_in_japanese_is_read_in_its_codec(encoding: str) -> None:
    """A hyphen in its names may be as wide as a letter; columns count bytes, so that numbers of cards are not code."""
    cards = [line.encode(encoding) for line in JAPANESE.splitlines()]
    if encoding != "utf-8":
        cards = [card.ljust(72) + b"MOVE 1" for card in cards]
    source = scan(b"\r\n".join(cards))
    (program,) = source.programs
    assert source.encoding == encoding
    assert [section.name for section in program.sections] == ["受付処理", "更新処理"]
    assert [perform.target for perform in program.performs] == ["更新処理"]
    assert [statement.verb for statement in program.statements] == ["MOVE", "PERFORM", "DISPLAY"]
    (item,) = facts(source, program).items
    assert (item.name, item.read_lines, item.written_lines) == ("画面－職級", (11,), (8,))
    assert not source.warnings


@pytest.mark.parametrize("sign", ["・", "／", "％", "＋", "（"])
def test_a_name_in_japanese_may_have_signs_as_wide_as_its_letters(sign: str) -> None:
    """A middle dot or a slash as wide as a letter ends no name: 年／４ is not 年, which is declared, too."""
    name, section = f"年{sign}４", f"初期化{sign}検索"
    source = scan(
        f"PROGRAM-ID. A.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n01 年 PIC 9(4).\n01 {name} PIC 9(4).\n"
        f"PROCEDURE DIVISION.\nPERFORM {section}.\nGOBACK.\n{section} SECTION.\n"
        f"DIVIDE 年 BY 4 GIVING {name}.\n",
        source_format="free",
    )
    (program,) = source.programs
    assert [section.name for section in program.sections] == [section]
    assert [perform.target for perform in program.performs] == [section]
    items = {item.name: (item.read_lines, item.written_lines) for item in facts(source, program).items}
    assert items == {"年": ((10,), ()), name: ((), (10,))}


@pytest.mark.parametrize("encoding", ["cp932", "euc_jis_2004", "utf-8"])
def test_a_damaged_byte_makes_no_other_codec_of_a_file(encoding: str) -> None:
    """It is one unreadable letter, which is reported with its line; every other line and name stays."""
    source = scan(JAPANESE.encode(encoding).replace(b"000500*", b"000500* \x81"))
    (program,) = source.programs
    assert source.encoding == encoding
    assert [section.name for section in program.sections] == ["受付処理", "更新処理"]
    assert source.lines == JAPANESE.count("\n")
    assert source.shown(4).endswith("画面－職級      PIC 9(2).")
    assert source.shown(5) == "* \ufffd １．顧客情報を更新する。"
    assert [(warned.line, warned.text.partition(":")[2][:3]) for warned in source.warnings] == [(5, " 1,")]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("고객 정보를 갱신한다", "euc_kr"),
        ("更新客户信息", "gb2312"),
        ("更新客戶資訊", "big5"),
        ("ｺｷｬｸ ｼﾞｮｳﾎｳ", "cp932"),
        ("┌────┐ opção", "cp850"),
        ("KAYIT SİLİNDİ", "cp857"),
        ("Gebühr", "cp850"),
    ],
)
def test_letters_of_an_unknown_codec_are_told(text: str, encoding: str) -> None:
    """They are read byte by byte, so that columns hold, and a warning is given."""
    source = scan(
        f"       PROGRAM-ID. A.\n      * {text}\n       PROCEDURE DIVISION.\n           GOBACK.\n".encode(encoding)
    )
    assert source.encoding == "latin-1"
    assert [(warned.line, "not known" in warned.text) for warned in source.warnings] == [(2, True)]


@pytest.mark.parametrize(
    ("text", "encoding", "told"),
    [
        ("ｼﾜｹ", "cp932", "cp932"),
        ("ﾄﾘﾋｷｻｷ ﾏｽﾀ 1 ｺｰﾄﾞ", "cp932", "cp932"),
        ("ЗАПИСЬ ФАЙЛА КЛИЕНТОВ", "cp1251", "latin-1"),
        ("ЗАПИСЬ ФАЙЛА КЛИЕНТОВ", "iso8859-5", "latin-1"),
        ("ΑΡΧΕΙΟ ΠΕΛΑΤΩΝ", "iso8859-7", "latin-1"),
        ("╔═══╦═╗ ║ ╚═══╩═╝", "cp850", "latin-1"),
        ("고객 정보", "euc_kr", "latin-1"),
        ("ÄNDERUNG, STRASSE ODER STRAßE, ÜBERGABE", "latin-1", "latin-1"),
    ],
)
def test_words_in_kana_of_one_byte_are_japanese(text: str, encoding: str, told: str) -> None:
    """Old copybooks have no other letters beyond ASCII; words in other codecs differ by their bytes."""
    source = scan(
        f"       PROGRAM-ID. A.\n      * {text}\n       PROCEDURE DIVISION.\n           GOBACK.\n".encode(encoding)
    )
    assert source.encoding == told
    if told == "cp932":
        assert source.shown(2).endswith(text)
        assert not source.warnings


@pytest.mark.parametrize(
    ("text", "encoding", "told"),
    [
        ("'←' '↑' '○×'", "cp932", "cp932"),
        ("'　'", "cp932", "cp932"),
        ("müşteri", "cp857", "latin-1"),
        ("für Übung über", "cp850", "latin-1"),
    ],
)
def test_a_program_may_have_signs_of_two_bytes_alone(text: str, encoding: str, told: str) -> None:
    """The titles of buttons may be arrows, and no other letter tells that they are not Latin-1."""
    source = scan(f"       PROGRAM-ID. A.\n      * {text}\n".encode(encoding))
    assert source.encoding == told


@pytest.mark.parametrize(
    ("text", "encoding", "told"),
    [
        ("MÜŞTERİ KAYDI SİLİNDİ", "cp1254", "iso8859-9"),
        ("kayıt bulunamadı, dosya açılamıyor", "iso8859-9", "latin-1"),
        ("değişiklik yapıldı, çıkış", "iso8859-9", "iso8859-9"),
        ("skýrsla um þýðing og viðskipti", "latin-1", "latin-1"),
        ("það er gott, Þýska sýnir", "latin-1", "latin-1"),
        ("starý nový malý, celý", "iso8859-2", "latin-1"),
        ("ЗАПИСЬ", "iso8859-5", "latin-1"),
        ("KAYIT SİLİNDİ, DEĞİŞİKLİK", "cp857", "latin-1"),
        ("müþteri", "latin-1", "latin-1"),
    ],
)
def test_letters_in_words_tell_turkish_from_what_latin_1_has_in_their_place(
    text: str, encoding: str, told: str
) -> None:
    """Dotless i with s or g of Turkish are enough; Icelandic has more of eth, and Czech has the y alone."""
    source = scan(f"       PROGRAM-ID. A.\n      * {text}\n".encode(encoding))
    assert source.encoding == told
    assert (source.shown(2).endswith(text)) == (told == "iso8859-9" or encoding == "latin-1" or "celý" in text)


def test_a_line_that_begins_with_an_asterisk_beside_its_column_is_a_comment_behind_a_sentence() -> None:
    """No sentence begins with an asterisk, so such a line is a comment; within a sentence it multiplies."""
    source = scan(
        "       * by itself, CALL 'ZERO'\n"
        + program(
            "A.",
            "*   CALL 'ONE'.",
            "    EXEC SQL SELECT",
            "* INTO :A FROM T END-EXEC",
            "  * CALL 'TWO'.",
            "    COMPUTE A = B",
            "       * C.",
            "    DISPLAY 'a",
            "*  CALL FOUR.",
        ).replace("      *  CALL FOUR", "      -    '* CALL FOUR'")
    )
    assert [statement.verb for statement in one(source).statements] == ["EXEC SQL", "COMPUTE", "DISPLAY"]
    assert [number for number, kind in enumerate(source.kinds, 1) if kind == "comment"] == [1, 6, 9]


def test_a_record_or_paragraph_may_begin_directly_behind_the_sequence_number() -> None:
    """Without the blank of column 7 it would be read as a comment, and what follows as part of what is before it."""
    numbered = [
        *("000100 IDENTIFICATION DIVISION.", "000200 PROGRAM-ID. P.", "000300 DATA DIVISION."),
        *("000400 WORKING-STORAGE SECTION.", "000500 01  A.", "000600     05  B PIC X.", "00070001          C."),
        *("000800     05  D PIC X.", "000900 PROCEDURE DIVISION.", "001000 010-A.", "001100     GO TO 020-B."),
        *("001200020-B.", "001300     GOBACK.", "001400020 GOES AWAY", "00150001-02"),
    ]
    source = scan("\n".join(numbered) + "\n")
    found = facts(source, source.programs[0])
    assert [(item.name, item.offset, item.line) for item in found.items] == [
        *(("A", 0, 5), ("B", 0, 6)),
        *(("C", 0, 7), ("D", 0, 8)),
    ]
    assert [(paragraph.name, paragraph.dead) for paragraph in found.paragraphs] == [("010-A", None), ("020-B", None)]
    assert [(warned.line, warned.text.rpartition(" as ")[2]) for warned in source.warnings] == [
        *((7, "code"), (12, "code")),
        *((14, "a comment"), (15, "a comment")),
    ]


def test_a_section_or_paragraph_may_begin_one_column_early() -> None:
    """Column 7 of a source that counts columns in another way may hold the first digit of a header."""
    lines = [
        *(
            "IDENTIFICATION DIVISION.",
            "PROGRAM-ID. P.",
            "PROCEDURE DIVISION.",
            "010-A.",
            "    PERFORM 020-B.",
            "    GOBACK.",
        ),
        *("020-B  SECTION. ", "    DISPLAY 'B'.", "020-B-EXIT. EXIT.", "030-C.", "    DISPLAY 'C'.", "5 is no header."),
    ]
    source = scan("\n".join(" " * (6 if line[:3] in {"020", "030", "5 i"} else 7) + line for line in lines) + "\n")
    found = facts(source, source.programs[0])
    assert [(one.name, one.section) for one in found.paragraphs] == [
        *(("010-A", None), ("", "020-B"), ("020-B-EXIT", "020-B"), ("030-C", "020-B")),
    ]
    assert [(warned.line, warned.text.rpartition(" as ")[2]) for warned in source.warnings] == [
        *((7, "code"), (9, "code"), (10, "code"), (12, "a comment")),
    ]


def test_a_text_may_be_pasted_one_column_early_from_its_second_screen_on() -> None:
    """Its divisions, sections and records begin in column 7: that of data is no debugging line, and a remark is still one."""
    first = ["IDENTIFICATION DIVISION.", "PROGRAM-ID. P."]
    second = [
        *("DATA DIVISION.", "WORKING-STORAGE SECTION.", "01 R.", "    05 A PIC X.", "77 B PIC X.", "LINKAGE SECTION."),
        *("01 the first of May", "file section of 1999", "PROCEDURE DIVISION.", "    MOVE A TO B."),
    ]
    text = "".join(f"{' ' * at}{line}\n" for at, lines in ((7, first), (6, second)) for line in lines)
    source = scan(text, source_format="fixed")
    (found,) = source.programs
    assert [entry.name or entry.word for entry in found.entries if entry.word in {"01", "05", "77"}] == ["R", "A", "B"]
    assert [one.verb for one in found.statements] == ["MOVE"]
    assert [warned.line for warned in source.warnings if warned.text.endswith("a comment")] == [9, 10]


def test_an_exec_block_may_begin_in_column_7_while_a_mark_there_is_still_a_comment() -> None:
    """Its translator reads words, not columns; a letter before a blank is a shop's mark, and D one for debugging."""
    first = ["           EXEC SQL", "      SELECT A, B", "             INTO :X", "      ,:Y FROM T"]
    marked = ["      C WHERE A = 1", "      D    WHERE B = 2"]
    last = ["      -- a remark", "      DELETED = 'N'", "      END-EXEC.", "      SELECT is no code."]
    block = [*first, *marked, *last]
    text = program("A.", "    MOVE X TO Y.") + "".join(f"{line}\n" for line in block) + fixed("    GOBACK.")
    found = one(source := scan(text, source_format="fixed"))
    assert verbs(found) == ["MOVE", "EXEC SQL", "GOBACK"]
    assert found.execs[0].text == "EXEC SQL SELECT A, B INTO :X ,:Y FROM T DELETED = 'N' END-EXEC"
    assert [warned.line for warned in source.warnings if warned.text.endswith("as code")] == [7, 9, 12, 13, 14]
    alone = scan(program("A.") + "      EXEC SQL\n      COMMIT\n      END-EXEC.\n", source_format="fixed")
    assert verbs(one(alone)) == ["EXEC SQL"]


@pytest.mark.parametrize("header", ["NEXT-PART.", "NEXT-PART. EXIT.", "PROCEDURE DIVISION USING X."])
def test_an_exec_block_that_is_never_closed_ends_with_its_paragraph(header: str) -> None:
    """Text from column 7 on is a comment again behind the next header, and what looks like a comment of SQL is none."""
    block = ["           EXEC SQL", "      SELECT A", "             INTO :X."]
    rest = [
        f"       {header}",
        "      REMARK of the shop.",
        "           COMPUTE X = Y --Z.",
        "           EXEC SQL COMMIT END-EXEC.",
    ]
    text = program("A.") + "".join(f"{line}\n" for line in [*block, *rest])
    source = scan(text, source_format="fixed")
    assert [warned.text for warned in source.warnings if warned.line == 9] == ["column 7 holds 'R': read as a comment"]
    assert "    COMPUTE X = Y --Z." in code_of(source)
    assert [block.text for block in one(source).execs] == ["EXEC SQL COMMIT END-EXEC"]


def test_hyphens_in_a_program_that_only_speaks_of_an_exec_are_left_alone() -> None:
    """No block begins or ends in it."""
    source = scan(program("EXECUTE-ALL.", "    DISPLAY '--'.", "    COMPUTE X = Y --Z."))
    assert code_of(source)[4:] == ["    DISPLAY '--'.", "    COMPUTE X = Y --Z."]


@pytest.mark.parametrize("comment", ["-- before END-EXEC", "-- EXEC SQL COMMIT END-EXEC", "/* END-EXEC */"])
def test_a_comment_of_sql_does_not_end_its_block(comment: str) -> None:
    """Unless there is no other end: then its writer, or the precompiler, did not take it for a comment."""
    found = one(program("A.", "    EXEC SQL DELETE", f"    {comment}", "    FROM T", "    END-EXEC.", "    GOBACK."))
    assert [block.text for block in found.execs] == ["EXEC SQL DELETE FROM T END-EXEC"]
    assert verbs(found) == ["EXEC SQL", "GOBACK"]
    found = one(
        program("A.", "    EXEC SQL DELETE FROM T", f"    {comment}.", "    GOBACK.", "    EXEC SQL COMMIT END-EXEC.")
    )
    assert verbs(found) == ["EXEC SQL", "GOBACK", "EXEC SQL"]


@pytest.mark.parametrize("before", ["", "=COLS> "])
def test_the_ruler_of_an_editor_is_no_continuation(before: str) -> None:
    """A ruler saved with the text has a hyphen in column 7, which must not join a paragraph to the sentence before."""
    ruler = before + "----+----1----+----2----+----3----+----4----+----5----+----6----+----7--\n"
    text = program("A.", "    MOVE X TO Y.", "B.", "    DISPLAY", "        'a'.")
    source = scan(
        text.replace("       B.", f"{ruler}       B.").replace("           DISPLAY", f"           DISPLAY\n{ruler}")
    )
    assert [paragraph.name for paragraph in one(source).paragraphs] == ["A", "B"]
    assert verbs(one(source)) == ["MOVE", "DISPLAY"]
    assert source.kinds.count("comment") == 2


@pytest.mark.parametrize(
    "text",
    ["MOVE 'Prüfung, größer' TO A", "DISPLAY 'état déjà prêté'", "* It’s “said” – as è, ò, à", "* ação não, opções"],
)
def test_letters_of_europe_are_no_japanese(text: str) -> None:
    """An accented letter and the next letter may be a pair of Shift-JIS, but two such pairs do not occur together."""
    assert scan(f"       {text}.\n".encode("cp1252")).encoding == "latin-1"

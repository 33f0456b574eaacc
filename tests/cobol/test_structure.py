"""Are programs, divisions, sections, paragraphs and statements found where they are?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.growth import BOUND, growth

from penstock.cobol import scan
from penstock.cobol.program import CallStatement, GoTo, Perform, Section

from .sources import fixed, names, one, program, verbs

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.proves("C-2")


@pytest.mark.parametrize(
    ("line", "is_told"), [("P1. PERFORM P3. P2.", True), ("P1. P2. EXIT.", False), ("P2. EXIT.", False)]
)
def test_a_line_of_two_paragraphs_is_told(line: str, *, is_told: bool) -> None:
    """What a statement does is known by its line: a paragraph before on the same line must have none."""
    source = program("P0.", "    EXIT.", line, "    EXIT.", "P3.", "    EXIT.")
    assert [said.text.split(":")[0] for said in scan(source).warnings] == ["P2 begins where P1 ends"] * is_told


def test_a_paragraph_goes_from_its_header_to_the_line_before_the_next() -> None:
    """Comments before a header belong to the paragraph above it."""
    found = one(program("FIRST-ONE.", "    MOVE A TO B.", "*| about the second", "SECOND-ONE.", "    EXIT."))
    assert [(p.name, p.line, p.end_line, p.first, p.last) for p in found.paragraphs] == [
        ("FIRST-ONE", 4, 6, 0, 1),
        ("SECOND-ONE", 7, 8, 1, 2),
    ]


def test_divisions_go_from_header_to_header() -> None:
    """Each division ends on the line before the next; the last ends with the program."""
    found = one(program("A.", "    EXIT.", data=("01  B PIC X.",)) + fixed("END PROGRAM P."))
    assert [tuple(division) for division in found.divisions] == [
        ("IDENTIFICATION", 1, 2),
        ("DATA", 3, 5),
        ("PROCEDURE", 6, 8),
    ]
    assert found.end_line == 9


@pytest.mark.parametrize(
    "header", ["PROGRAM-ID. P", "PROGRAM-ID P.", "PROGRAM-ID.\n           P.", "PROGRAM-ID. 'P' IS INITIAL PROGRAM."]
)
def test_row_9_a_program_is_named_with_and_without_periods(header: str) -> None:
    """Row 9: ID DIVISION, a missing period, and missing divisions are accepted."""
    found = one(fixed("ID DIVISION.", header, "PROCEDURE DIVISION USING A-1 BY VALUE B RETURNING C.", "    EXIT."))
    assert (found.name, found.kind, found.using) == ("P", "program", ("A-1", "B"))
    assert [division.name for division in found.divisions] == ["IDENTIFICATION", "PROCEDURE"]


def test_a_header_that_is_written_twice_is_that_of_one_program() -> None:
    """No program without a name and without a statement remains of the first."""
    unit = one(
        scan(fixed("IDENTIFICATION DIVISION.", "ID DIVISION.", "PROGRAM-ID. P.", "PROCEDURE DIVISION.", "GOBACK."))
    )
    assert (unit.name, unit.start_line, [part.name for part in unit.divisions]) == (
        "P",
        1,
        ["IDENTIFICATION", "PROCEDURE"],
    )


def test_row_9_a_program_may_have_no_header_at_all() -> None:
    """Row 9: a PROCEDURE DIVISION alone is a program without a name."""
    found = one(fixed("PROCEDURE DIVISION.", "A.", "    EXIT."))
    assert (found.name, found.kind, names(found)) == ("", "program", ["A"])


def test_row_9_a_copybook_has_entries_or_paragraphs_or_both() -> None:
    """Row 9: a source without divisions is classified by its sentences."""
    data = one(fixed("01  A.", "    05  B PIC 9.9.", "    88  C VALUE 1."))
    assert (data.kind, [(entry.level, entry.name) for entry in data.entries]) == (
        "copybook",
        [(1, "A"), (5, "B"), (88, "C")],
    )
    code = one(fixed("COPY FIRST-OF-ALL.", "A-1.", "    MOVE B TO C.", "A-EXIT.", "    EXIT."))
    assert (code.kind, names(code), len(code.copies)) == ("copybook", ["A-1", "A-EXIT"], 1)
    both = one(fixed("01  A PIC X.", "B.", "    MOVE A TO C.", "01  D PIC X.", "    MOVE E TO F."))
    assert ([entry.name for entry in both.entries], names(both), verbs(both)) == (
        ["A", "D"],
        ["B", ""],
        ["MOVE", "MOVE"],
    )
    block = one(fixed("    EXEC CICS SYNCPOINT END-EXEC.", "B.", "    EXIT."))
    assert (names(block), verbs(block), block.entries) == (["", "B"], ["EXEC CICS", "EXIT"], ())
    middle = one(fixed("    IF A = 1", "        PERFORM B", "    END-IF"))
    assert (middle.kind, verbs(middle)) == ("copybook", ["IF", "PERFORM", "END-IF"])
    machine = one(fixed("CONFIGURATION SECTION.", "SOURCE-COMPUTER. LINUX.", "OBJECT-COMPUTER.  LINUX."))
    assert (machine.kind, names(machine), len(machine.entries)) == ("copybook", [], 5)


def test_row_10_programs_nest_and_follow_each_other() -> None:
    """Row 10: names are scoped by program, and a nested program names its parent."""
    inner = fixed(
        "ID DIVISION.", "PROGRAM-ID. INNER COMMON.", "PROCEDURE DIVISION.", "P1.", "    EXIT.", "END PROGRAM INNER."
    )
    source = scan(
        program("P1.", "    EXIT.", name="OUTER") + inner + fixed("END PROGRAM OUTER.") + program("P1.", name="NEXT")
    )
    assert [(p.name, p.parent, p.start_line, p.end_line) for p in source] == [
        ("OUTER", None, 1, 12),
        ("INNER", "OUTER", 6, 11),
        ("NEXT", None, 13, 16),
    ]
    assert [names(found) for found in source] == [["P1"], ["P1"], ["P1"]]
    assert source.programs[0].divisions[-1].end_line == 5


def test_row_10_programs_without_end_program_are_siblings() -> None:
    """Row 10: a program without END PROGRAM contains no others; comments before a program belong to it."""
    source = scan(program("A.", name="ONE") + "      * of the second\n" + program("B.", name="TWO"))
    assert [(p.name, p.parent, p.start_line, p.end_line) for p in source] == [("ONE", None, 1, 4), ("TWO", None, 5, 9)]


def test_row_10_functions_classes_and_methods_are_units() -> None:
    """Row 10: FUNCTION-ID, CLASS-ID and METHOD-ID are units, and so is a prototype without divisions."""
    source = scan(
        fixed(
            "IDENTIFICATION DIVISION.",
            "FUNCTION-ID. F.",
            "PROCEDURE DIVISION RETURNING R.",
            "    GOBACK.",
            "END FUNCTION F.",
            "CLASS-ID. C.",
            "OBJECT.",
            "PROCEDURE DIVISION.",
            "METHOD-ID. M.",
            "PROCEDURE DIVISION.",
            "    EXIT METHOD.",
            "END METHOD M.",
            "END OBJECT.",
            "END CLASS C.",
        )
    )
    assert [(found.name, found.kind, found.parent) for found in source] == [
        ("F", "function", None),
        ("C", "class", None),
        ("M", "method", "C"),
    ]
    assert (source.programs[1].start_line, source.programs[1].end_line) == (6, 14)


def test_row_11_a_division_begins_where_a_sentence_does() -> None:
    """Row 11: a division does not begin in a comment, in a literal or in generated text."""
    found = one(
        program(
            "A.",
            "*|PROCEDURE DIVISION.",
            "    STRING 'PROCEDURE DIVISION. B. EXIT.' DELIMITED BY SIZE INTO C",
            "    DISPLAY 'IDENTIFICATION DIVISION. PROGRAM-ID. X.'.",
            "D.",
            "    EXIT.",
            data=("01  E PIC X(40) VALUE 'PROCEDURE DIVISION.'.",),
        )
    )
    assert (names(found), len(found.divisions)) == (["A", "D"], 3)


def test_remarks_may_say_anything() -> None:
    """The text of AUTHOR and the like ends at the next header, whatever apostrophes and periods it contains."""
    text = fixed(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. P.",
        "AUTHOR. J. DOE'S TEAM.",
        "REMARKS. THE PROCEDURE DIVISION. IT'S LONG.",
        "    01 IS NO LEVEL HERE.",
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "01  A PIC X.",
        "PROCEDURE DIVISION.",
        "B.",
    )
    found = one(text)
    assert [entry.word for entry in found.entries] == ["PROGRAM-ID", "AUTHOR", "REMARKS", "WORKING-STORAGE", "01"]
    assert names(found) == ["B"]


def test_row_12_declaratives_are_units_of_their_own() -> None:
    """Row 12: their sections are marked, USE runs the code it names, and the code after them is in no section of theirs."""
    found = one(
        program(
            "DECLARATIVES.",
            "D-1 SECTION.",
            "    USE AFTER STANDARD ERROR PROCEDURE ON F.",
            "D-2.",
            "    EXIT.",
            "END DECLARATIVES.",
            "MAIN-1.",
            "    EXIT.",
        )
    )
    assert [(p.name, p.section, p.declarative) for p in found.paragraphs] == [
        ("", "D-1", True),
        ("D-2", "D-1", True),
        ("MAIN-1", None, False),
    ]
    assert [(section.declarative, section.end_line) for section in found.sections] == [(True, 8)]
    assert found.performs == (Perform(6, "D-1", via="USE"),)


def test_row_13_code_before_the_first_paragraph_is_an_unnamed_one() -> None:
    """Row 13: such code is covered, and it can call."""
    found = one(program("    PERFORM LATER.", "    STOP RUN.", "LATER.", "    EXIT."))
    assert names(found) == ["", "LATER"]
    assert found.performs == (Perform(4, "LATER"),)


def test_row_14_sections_hold_their_own_code_and_paragraphs() -> None:
    """Row 14: a section may have paragraphs or none, and a segment number; paragraphs may be outside sections."""
    found = one(
        program(
            "A.",
            "    EXIT.",
            "S-1 SECTION 50.",
            "    CONTINUE.",
            "B.",
            "    EXIT.",
            "S-2 SECTION.",
            "S-3 SECTION.",
            "    EXIT.",
        )
    )
    assert found.sections == (
        Section(name="S-1", line=6, start_line=6, end_line=9, segment=50),
        Section(name="S-2", line=10, start_line=10, end_line=10),
        Section(name="S-3", line=11, start_line=11, end_line=12),
    )
    assert [(p.name, p.section) for p in found.paragraphs] == [("A", None), ("", "S-1"), ("B", "S-1"), ("", "S-3")]


def test_row_15_a_paragraph_may_be_called_like_the_end_of_a_verb() -> None:
    """Row 15: the scope terminators are a list, not a prefix."""
    assert names(one(program("END-PROGRAM.", "    EXIT.", "END-ROUTINE.", "    EXIT."))) == [
        "END-PROGRAM",
        "END-ROUTINE",
    ]


def test_row_16_sentences_of_one_word_are_no_paragraphs() -> None:
    """Row 16: EXIT, GOBACK, CONTINUE and END-IF alone on a line are statements."""
    found = one(
        program(
            "A.",
            "    EXIT.",
            "B.",
            "    IF X = 1",
            "        CONTINUE",
            "    END-IF.",
            "    EXIT SECTION.",
            "    GOBACK.",
        )
    )
    assert names(found) == ["A", "B"]
    assert verbs(found) == ["EXIT", "IF", "CONTINUE", "END-IF", "EXIT SECTION", "GOBACK"]


def test_row_17_a_header_ends_at_its_period() -> None:
    """Row 17: statements and further headers may follow on its line; both parts are then on that line."""
    found = one(program("A. ADD 1 TO B. C. EXIT.", "D.", "    EXIT."))
    assert [(p.name, p.start_line, p.end_line) for p in found.paragraphs] == [("A", 4, 4), ("C", 4, 4), ("D", 5, 6)]
    assert verbs(found) == ["ADD", "EXIT", "EXIT"]


def test_row_18_name_and_period_may_be_on_different_lines() -> None:
    """Row 18: a paragraph's header is on the line of its name, a section's on that of its first word."""
    found = one(program("A", "    .", "    EXIT", "    .", "B", "*| a comment", "  SECTION", "    ."))
    assert [(p.name, p.line, p.end_line) for p in found.paragraphs] == [("A", 4, 7)]
    assert [(section.name, section.line) for section in found.sections] == [("B", 8)]
    assert found.statements[0].end_line == 7


def test_row_19_numbers_may_be_names_and_names_may_count() -> None:
    """Row 19: 100 THRU 200 are paragraphs, 3 TIMES and X TIMES are not; EXIT PERFORM and inline loops call nothing."""
    found = one(
        program(
            "100.",
            "    PERFORM 100 THRU 200.",
            "    PERFORM 200 3 TIMES.",
            "    PERFORM 3 TIMES",
            "        EXIT PERFORM CYCLE",
            "    END-PERFORM",
            "    PERFORM X OF Y (1) TIMES CONTINUE END-PERFORM",
            "    PERFORM FUNCTION MAX(1, LENGTH(A)) TIMES CONTINUE END-PERFORM",
            "    PERFORM UNTIL EXIT EXIT PERFORM END-PERFORM PERFORM UNTIL EXIT-PUSHED CONTINUE END-PERFORM",
            "    PERFORM VARYING I FROM 1 BY 1 UNTIL I > 3 PERFORM 200 END-PERFORM",
            "    PERFORM WITH TEST AFTER UNTIL A = B ADD 1 TO A END-PERFORM.",
            "200.",
            "    EXIT.",
        )
    )
    assert names(found) == ["100", "200"]
    assert found.performs == (Perform(5, "100", "200"), Perform(6, "200"), Perform(13, "200"))
    assert verbs(found).count("PERFORM") == 10
    assert [statement.verb for statement in found.statements if statement.depth][:2] == [
        "EXIT PERFORM CYCLE",
        "CONTINUE",
    ]


def test_row_20_names_may_occur_twice() -> None:
    """Row 20: each is kept, and a qualified target names its section."""
    found = one(
        program(
            "S SECTION.", "P.", "    EXIT.", "T SECTION.", "P.", "    PERFORM P OF S THRU Q IN T", "    GO TO P IN S."
        )
    )
    assert [(p.name, p.section, p.line) for p in found.paragraphs] == [("P", "S", 5), ("P", "T", 8)]
    assert found.performs == (Perform(9, "P", "Q", "S", thru_section="T"),)
    assert found.gotos == (GoTo(10, ("P",), sections=("S",)),)


@pytest.mark.parametrize("name", ["lower-case", "Mixed_Case", "A#1", "@B", "$C", "漢字-段落", "ÄÖÜ-1", ":TAG:-PARA"])
def test_row_21_names_are_what_people_call_them(name: str) -> None:
    """Row 21: names may have any case and alphabet and start in area A or not; their spelling is kept."""
    found = one(
        program(f"        {name}.", "    continue.", "perform.", f"    Perform {name}.").replace(
            "       perform.\n", ""
        )
    )
    assert names(found) == [name]
    assert [perform.target for perform in found.performs] == [name]


def test_row_23_a_target_may_be_elsewhere() -> None:
    """Row 23: paragraphs of a copybook are elsewhere, but a PERFORM of them is here."""
    found = one(program("    PERFORM IN-A-COPYBOOK.", "    COPY PARAS."))
    assert (found.performs, [copy.name for copy in found.copies]) == ((Perform(4, "IN-A-COPYBOOK"),), ["PARAS"])


def test_row_27_a_range_is_one_edge() -> None:
    """Row 27: the range has THRU or THROUGH, and a loop after it."""
    found = one(
        program(
            "    PERFORM A THRU A-EXIT.", "    PERFORM B", "      THROUGH B-EXIT VARYING I FROM 1 BY 1 UNTIL I > 2."
        )
    )
    assert found.performs == (Perform(4, "A", "A-EXIT"), Perform(5, "B", "B-EXIT"))


def test_row_28_jumps_have_their_targets() -> None:
    """Row 28: GO TO with and without TO, with DEPENDING, one that ALTER fills, and ALTER itself have targets."""
    found = one(
        program(
            "    GO TO A.",
            "    GO B.",
            "    GO TO A, B C DEPENDING ON D OF E.",
            "F. GO TO .",
            "    ALTER F TO PROCEED TO A, G TO B.",
        )
    )
    assert found.gotos == (
        GoTo(4, ("A",)),
        GoTo(5, ("B",)),
        GoTo(6, ("A", "B", "C"), depending="D"),
        GoTo(7, ()),
        GoTo(8, ("A",), via="ALTER", altered="F"),
        GoTo(8, ("B",), via="ALTER", altered="G"),
    )
    assert set(verbs(found)) == {"GO TO", "ALTER"}
    unread = one(program("    GO TO A.", "    COMBINE B = C OR D.", "    GO TO B DEPENDING ON E.", "    SHIFT C."))
    assert unread.gotos == (GoTo(4, ("A",)), GoTo(6, ("B",), depending="E"))


def test_row_29_procedures_of_other_verbs_are_edges() -> None:
    """Row 29: SORT, MERGE and XML PARSE have procedures; ENTRY is an entry point, and a comma may be a decimal point."""
    found = one(
        program(
            "    SORT F ON ASCENDING KEY K INPUT PROCEDURE IS A THRU B OUTPUT PROCEDURE C.",
            "    MERGE F ON KEY K USING G OUTPUT PROCEDURE D OF S.",
            "    XML PARSE X PROCESSING PROCEDURE IS E.",
            "    ENTRY 'DLITCBL' USING P.",
            "    SET Q TO ENTRY 'R'.",
            "    ADD 1,5 TO T. U. EXIT.",
        )
    )
    assert found.performs == (
        Perform(4, "A", "B", via="SORT"),
        Perform(4, "C", via="SORT"),
        Perform(5, "D", section="S", via="MERGE"),
        Perform(6, "E", via="XML"),
    )
    assert found.entry_points == (("DLITCBL", 7),)
    assert names(found) == ["", "U"]


def test_calls_are_static_or_dynamic() -> None:
    """A literal is a program, an item holds one; words of dialects may come first."""
    found = one(
        program(
            "    CALL 'A-1' USING B.", "    CALL C-NAME.", '    CALL STATIC "D".', "    CALL STDCALL 'E' RETURNING 'X'.",
            "    CALL THREAD F-NAME USING B.", "    CALL IN THREAD 'G' HANDLE IN H.", "    CALL RUN I-NAME.",
            "    CALL CLIENT 'J'.", "    CALL THREAD USING B.", "    CALL CLIENT.",
        )
    )  # fmt: skip
    assert found.calls == (
        CallStatement(4, "A-1", "static"),
        CallStatement(5, "C-NAME", "dynamic"),
        CallStatement(6, "D", "static"),
        CallStatement(7, "E", "static"),
        CallStatement(8, "F-NAME", "dynamic"),
        CallStatement(9, "G", "static"),
        CallStatement(10, "I-NAME", "dynamic"),
        CallStatement(11, "J", "static"),
        CallStatement(12, "THREAD", "dynamic"),
        CallStatement(13, "CLIENT", "dynamic"),
    )


def test_paragraphs_run_in_threads() -> None:
    """THREAD is a word of ACUCOBOL; in other dialects it may be the name of a paragraph."""
    found = one(
        program(
            "    PERFORM THREAD A.", "    PERFORM IN THREAD B HANDLE IN H.", "    PERFORM THREAD C THRU D.",
            "    PERFORM THREAD.", "    PERFORM THREAD THRU E.", "    PERFORM THREAD UNTIL X = 1.", "    PERFORM THREAD F TIMES.",
            "    PERFORM THREAD DISPLAY 'X'.",
        )
    )  # fmt: skip
    assert found.performs == (
        Perform(4, "A", via="PERFORM THREAD"),
        Perform(5, "B", via="PERFORM THREAD"),
        Perform(6, "C", "D", via="PERFORM THREAD"),
        Perform(7, "THREAD"),
        Perform(8, "THREAD", "E"),
        Perform(9, "THREAD"),
        Perform(10, "THREAD"),
        Perform(11, "THREAD"),
    )


def test_row_30_entries_end_at_their_own_period() -> None:
    """Row 30: entries have levels of all kinds, FILLER or no name, and pictures with periods and commas."""
    found = one(
        program(
            "    STOP RUN.",
            data=(
                "01  A.",
                "    05  B PIC ZZ,ZZ9.99.",
                "    05  PIC 9(3)V9 VALUE 1.5.",
                "        88  C VALUE 1 THRU 2.",
                "    05  FILLER REDEFINES B PIC X OCCURS 1 TO 5 DEPENDING ON D.",
                "66  E RENAMES B THRU C.",
                "77  F PIC 9. 78  G VALUE 'X. Y'.",
            ),
        )
    )
    assert [(entry.level, entry.name, entry.line) for entry in found.entries if entry.level] == [
        (1, "A", 5),
        (5, "B", 6),
        (5, "FILLER", 7),
        (88, "C", 8),
        (5, "FILLER", 9),
        (66, "E", 10),
        (77, "F", 11),
        (78, "G", 11),
    ]


def test_row_31_files_are_entries_with_their_names() -> None:
    """Row 31: SELECT, FD and SD are entries, each in its section."""
    found = one(
        fixed(
            "ENVIRONMENT DIVISION.",
            "INPUT-OUTPUT SECTION.",
            "FILE-CONTROL.",
            "    SELECT OPTIONAL F-1 ASSIGN TO UT-S-X",
            "        FILE STATUS IS S.",
            "DATA DIVISION.",
            "FILE SECTION.",
            "FD  F-1 RECORD CONTAINS 80 CHARACTERS.",
            "01  R PIC X(80).",
            "SD  S-1.",
        )
    )
    assert [(entry.word, entry.name, entry.section, entry.line, entry.end_line) for entry in found.entries] == [
        ("INPUT-OUTPUT", "SECTION", "INPUT-OUTPUT", 2, 2),
        ("FILE-CONTROL", "", "FILE-CONTROL", 3, 3),
        ("SELECT", "F-1", "FILE-CONTROL", 4, 5),
        ("FILE", "SECTION", "FILE", 7, 7),
        ("FD", "F-1", "FILE", 8, 8),
        ("01", "R", "FILE", 9, 9),
        ("SD", "S-1", "FILE", 10, 10),
    ]


def test_row_32_statements_know_what_is_open_around_them() -> None:
    """Row 32: a paragraph can be cut between sentences, or else between statements at the least depth."""
    found = one(
        program(
            "    IF A = 1",
            "        READ F AT END MOVE 1 TO B NOT AT END ADD 1 TO C ON SIZE ERROR CONTINUE END-ADD END-READ",
            "        EVALUATE TRUE",
            "            WHEN A PERFORM X",
            "            WHEN OTHER IF D NEXT SENTENCE ELSE STOP RUN",
            "        END-EVALUATE",
            "    ELSE",
            "        DISPLAY 'E'",
            "    END-IF",
            "    MOVE F TO G.",
        )
    )
    assert [(statement.verb, statement.depth) for statement in found.statements] == [
        ("IF", 0),
        ("READ", 1),
        ("AT END", 1),
        ("MOVE", 2),
        ("NOT AT END", 1),
        ("ADD", 2),
        ("ON SIZE ERROR", 2),
        ("CONTINUE", 3),
        ("END-ADD", 2),
        ("END-READ", 1),
        ("EVALUATE", 1),
        ("WHEN", 1),
        ("PERFORM", 2),
        ("WHEN", 1),
        ("IF", 2),
        ("NEXT SENTENCE", 3),
        ("ELSE", 2),
        ("STOP RUN", 3),
        ("END-EVALUATE", 1),
        ("ELSE", 0),
        ("DISPLAY", 1),
        ("END-IF", 0),
        ("MOVE", 0),
    ]


def test_row_33_a_data_division_can_be_cut_at_its_entries() -> None:
    """Row 33: consecutive entries tile the division, with their lines."""
    source = scan(
        program(
            "    STOP RUN.",
            data=tuple(f"{level}  A-{n} PIC X." for n, level in enumerate(["01", "05", "05", "01", "77"])),
        )
    )
    entries = [entry for entry in one(source).entries if entry.level]
    assert [entry.line for entry in entries] == [5, 6, 7, 8, 9]
    assert [source.code[entry.start : entry.end] for entry in entries][:2] == ["01  A-0 PIC X.", "05  A-1 PIC X."]


def test_row_36_a_word_of_a_dialect_may_be_a_name() -> None:
    """Row 36: the place decides: items called COMMIT or FREE, functions, and conditions set by a directive are names."""
    source = scan(
        program(
            ">>SET CONSTANT A 1",
            "    MOVE COMMIT TO FREE.",
            "    MOVE FUNCTION DISPLAY-OF(COL) TO RESET IF RAISE = 1 AND SEND > 2 CONTINUE.",
            "    COMMIT.",
            "SERVICE.",
            "    FREE B.",
            "    ACCEPT ENTER DISPLAY SEND",
            "    ADD 1 TO A.",
        )
    )
    assert verbs(one(source)) == ["MOVE", "MOVE", "IF", "CONTINUE", "COMMIT", "FREE", "ACCEPT", "DISPLAY", "ADD"]
    assert names(one(source)) == ["", "SERVICE"]
    assert source.kinds[3] == "directive"


P = "PROCEDURE DIVISION.\n"
HOSTILE: dict[str, Callable[[int], str]] = {
    "a word": lambda n: "       MOVE " + "A" * 8 * n,
    "IF": lambda n: P + " IF" * 3 * n,
    "IF ELSE": lambda n: P + " IF A ELSE" * n,
    "AT END": lambda n: P + " READ F AT END" * n + " END-READ" * n,
    "ends of others": lambda n: P + " IF A" * n + " END-READ WHEN" * n,
    "quotes": lambda n: P + "'\"" * 4 * n,
    "open quotes": lambda n: P + " MOVE 'a\n" * n,
    "open quotes alone": lambda n: P + "       'a\n" * n,
    "EXEC SQL": lambda n: P + " EXEC SQL" * n,
    "an open EXEC": lambda n: P + " EXEC SQL " + "E A-E" * n,
    "COPY": lambda n: P + " COPY A REPLACING ==" * n,
    "operands": lambda n: P + " COPY A REPLACING" + " ==A== BY A (1)" * n,
    "REPLACE": lambda n: P + " REPLACE A" * n,
    "OF": lambda n: P + " A OF" * 2 * n,
    "PERFORM (": lambda n: P + " PERFORM A OF B (" * n,
    "pseudo-text": lambda n: P + "==" * 4 * n,
    "parentheses": lambda n: P + "(" * 8 * n,
    "periods": lambda n: P + "." * 8 * n,
    "periods of an entry": lambda n: "A" + "." * 8 * n,
    "paragraphs": lambda n: P + " A." * 2 * n,
    "line ends": lambda n: P + "\n" * 8 * n,
    "blanks": lambda n: P + " MOVE A TO B" + " " * 8 * n,
    "tabs": lambda n: P + "\t" * n,
    "words that go on": lambda n: P + "\n" * n + "      -A\n" * n,
    "literals that go on": lambda n: "      - 'A\n" * n,
    "quotes that go on": lambda n: "       MOVE 'A\n" + "      -'\n" * n,
    "comments that go on": lambda n: "       MOVE A\n" + "      -*> B\n" * n,
    "levels": lambda n: "01 A. MOVE. " * n,
    "programs that end": lambda n: "END PROGRAM A. ID DIVISION. PROGRAM-ID. A. " * (n // 4),
    "programs that nest": lambda n: "ID DIVISION. PROGRAM-ID. A. " * (n // 4),
    "programs that others end": lambda n: "ID DIVISION. PROGRAM-ID. A. " * (n // 4) + "END PROGRAM B. " * (n // 4),
    "whole programs": lambda n: f"ID DIVISION. PROGRAM-ID. A. {P}{' ' * 500}GOBACK. END PROGRAM A. \n" * n,
    "AUTHOR": lambda n: "AUTHOR. " * n,
    "PROGRAM-ID": lambda n: "PROGRAM-ID. " * n,
    "USING": lambda n: "PROCEDURE DIVISION USING " * (n // 2),
    "formats": lambda n: "       >>SOURCE FREE\n       >>SOURCE FIXED\n" * (n // 4),
    "GO TO": lambda n: P + " GO TO" + " A" * 2 * n + " DEPENDING",
    "ALTER": lambda n: P + " ALTER " + "A" * 4 * n,
    "labels": lambda n: P + " EXEC CICS HANDLE AID " + "A" * 4 * n + " END-EXEC",
    "headers without periods": lambda n: (
        f"       {P}" + ("       B.\n           PERFORM B\n           MOVE A TO A\n" * (n // 2))
    ),
    "operands in area A": lambda n: (
        f"       {P}" + "           IF A COPY\n       C.\n           MOVE A TO\n       B.\n" * (n // 2)
    ),
    "labels of CICS": lambda n: f"       {P}           A HANDLE" + " AID HANDLE AID" * n + "\n       B.\n",
    "DECLARATIVES": lambda n: "PROCEDURE DIVISION. DECLARATIVES. END DECLARATIVES. " * (n // 4),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_any_source_is_read_in_linear_time(name: str) -> None:
    """Four times the source takes about four times as long, lines and tokens included."""

    def work(size: int) -> Callable[[], object]:
        text = HOSTILE[name](size)

        def read() -> None:
            source = scan(text)
            source.words(0, len(source.code))
            for line in range(1, source.lines + 1):
                source.format_at(line)

        return read

    assert growth(work, 400) < BOUND


@pytest.mark.parametrize(
    ("code", "depths"),
    [
        # The next word continues the IF, so the period belonged to the COPY.
        ("IF A = 1 COPY X. MOVE 2 TO A END-IF. MOVE 3 TO A.", "IF 0 COPY 1 MOVE 1 END-IF 0 MOVE 0"),
        ("IF A = 1 COPY X. ELSE MOVE 2 TO A. MOVE 3 TO A.", "IF 0 COPY 1 ELSE 0 MOVE 1 MOVE 0"),
        (
            "EVALUATE A WHEN 1 COPY X. WHEN 2 GOBACK END-EVALUATE.",
            "EVALUATE 0 WHEN 0 COPY 1 WHEN 0 GOBACK 1 END-EVALUATE 0",
        ),
        ("PERFORM UNTIL A = 1 COPY X. PERFORM B END-PERFORM.", "PERFORM 0 COPY 1 PERFORM 1 END-PERFORM 0"),
        # The next IF is another one.
        ("IF A = 1 COPY X. IF A = 2 MOVE 1 TO A END-IF.", "IF 0 COPY 1 IF 0 MOVE 1 END-IF 0"),
        # Without such a word the sentence ends, as it does if the copied text ends with a period.
        ("IF A = 1 COPY X. MOVE 2 TO A.", "IF 0 COPY 1 MOVE 0"),
        # A PERFORM of a paragraph at the end of a loop does not take the loop's END-PERFORM.
        ("PERFORM UNTIL A = 1 PERFORM B END-PERFORM MOVE 1 TO A.", "PERFORM 0 PERFORM 1 END-PERFORM 0 MOVE 0"),
    ],
)
def test_a_statement_ends_where_its_own_words_say(code: str, depths: str) -> None:
    """`COPY X.` within an IF is replaced together with its period: statements up to END-IF are still inside."""
    assert _depths(code) == depths


def _depths(code: str) -> str:
    """Return the statements of some code, each with the number of open statements around it."""
    head = (
        "ID DIVISION.\nPROGRAM-ID. P.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n01 A PIC 9.\nPROCEDURE DIVISION.\nM.\n"
    )
    (found,) = scan(f"{head} {code}\nB.\n EXIT.\n", source_format="free").programs
    return " ".join(f"{said.verb} {said.depth}" for said in found.statements if said.verb != "EXIT")


@pytest.mark.parametrize(
    ("given", "using", "returning"),
    [
        ("USING A AS BINARY-LONG, BY VALUE B AS TYPE OWNER C AS LIST[TYPE ROW]", ("A", "B", "C"), ""),
        ("USING BY VALUE A AS STRING RETURNING R AS CONDITION-VALUE", ("A",), "R"),
        ("USING A B AS STRING BY VALUE C", ("A", "B", "C"), ""),
        ("USING PARAMS A AS STRING OCCURS ANY, B AS BINARY-LONG OCCURS 5 C", ("A", "B", "C"), ""),
        ("USING PARAMS B", ("PARAMS", "B"), ""),
        ("USING A B RETURNING R", ("A", "B"), "R"),
    ],
)
def test_parameters_may_be_declared_in_place(given: str, using: tuple[str, ...], returning: str) -> None:
    """Behind AS stands the type of one, which is no parameter."""
    found = one(scan(fixed("ID DIVISION.", "PROGRAM-ID. P.", f"PROCEDURE DIVISION {given}.", "MAIN.", "    GOBACK.")))
    assert (found.using, found.returning) == (using, returning)
    assert names(found) == ["MAIN"]


@pytest.mark.parametrize(
    ("header", "text", "using"),
    [
        (("PROCEDURE DIVISION USING", "    A", "    COPY LK."), "B C.", ("A", "B", "C")),
        (("PROCEDURE DIVISION USING COPY LK.",), "B.", ("B",)),
        (("PROCEDURE DIVISION USING A COPY 'lk.cpy' .",), "B", ("A", "B")),
        # Without the copybook, its COPY stands for those that the program does not name.
        (("PROCEDURE DIVISION USING", "    A", "    COPY LK OF LIB."), None, ("A", "COPY LK")),
        (("PROCEDURE DIVISION USING C-COPY COPY-C.",), None, ("C-COPY", "COPY-C")),
    ],
)
def test_the_last_parameters_of_a_header_may_be_copied(
    header: tuple[str, ...], text: str | None, using: tuple[str, ...]
) -> None:
    """Their COPY is a part of the header: it is no statement, and no paragraph begins with it."""
    source = fixed("ID DIVISION.", "PROGRAM-ID. P.", *header, "X SECTION.", "Y.", "    GOBACK.")
    found = one(scan(source, copybooks=lambda name, library: None if text is None else scan(f"           {text}\n")))
    assert found.using == using
    assert (names(found), verbs(found)) == (["Y"], ["GOBACK"])
    assert len(found.copies) == (0 if "COPY-C." in header[-1] else 1)


@pytest.mark.parametrize("convention", ["EXTERN", "WITH STDCALL LINKAGE", "WITH C LINKAGE"])
def test_a_convention_may_stand_before_the_parameters(convention: str) -> None:
    """In `PROCEDURE DIVISION EXTERN USING` the parameters are those of USING, and EXTERN is not a paragraph."""
    header = (f"PROCEDURE DIVISION {convention} USING BY VALUE A", "    RETURNING B.")
    (found,) = scan(fixed("PROGRAM-ID. P.", *header, "MAIN.", "    GOBACK."))
    assert (found.using, names(found), found.unread) == (("A",), ["MAIN"], ())


def test_a_convention_may_stand_alone() -> None:
    """A program without parameters may also state its calling convention."""
    (found,) = scan(fixed("PROGRAM-ID. P.", "PROCEDURE DIVISION WITH C LINKAGE.", "MAIN.", "    GOBACK."))
    assert (found.using, names(found), found.unread) == ((), ["MAIN"], ())

"""What do facts say about control: paragraphs, paths, dead code, complexity, rules, errors, diagrams?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import BOUND, growth

from penstock.cobol import scan
from penstock.cobol.facts import call_diagram, facts, flow_diagram

from .sources import fixed, program

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.cobol.facts import Facts

pytestmark = pytest.mark.proves("C-12")


def told(text: str, **copybooks: str) -> Facts:
    """Return the facts of the only program in a text."""
    source = scan(text)
    (only,) = source.programs
    return facts(source, only, copybooks={name: scan(copied) for name, copied in copybooks.items()})


def dead(found: Facts) -> list[str]:
    """Return the names of the paragraphs that nothing reaches."""
    return [paragraph.name for paragraph in found.paragraphs if paragraph.dead]


def test_what_runs_in_a_thread_is_reached_and_nobody_waits_for_its_end() -> None:
    """The loop in Q never ends, but the statements after PERFORM THREAD run."""
    found = told(
        program(
            "M.", "    PERFORM THREAD Q HANDLE IN H.", "    GO TO R.", "Q.", "    GO TO Q.", "R.", "    GOBACK.",
            data=("01  H HANDLE OF THREAD.", "01  Q-1 PIC X."),
        )
    )  # fmt: skip
    assert dead(found) == []
    assert [(item.name, len(item.written_lines)) for item in found.items] == [("H", 1), ("Q-1", 0)]


def test_a_range_calls_all_its_paragraphs() -> None:
    """PERFORM A THRU C runs A, B and C, and its caller is a caller of each."""
    found = told(
        program(
            "MAIN.",
            "    PERFORM A THRU C.",
            "    GOBACK.",
            "A.",
            "    CONTINUE.",
            "B.",
            "    CONTINUE.",
            "C.",
            "    EXIT.",
            "D.",
            "    EXIT.",
        )
    )
    main, a, b, c, d = found.paragraphs
    assert main.calls == ("A",)
    assert [one.called_by for one in (a, b, c, d)] == [("MAIN",), ("MAIN",), ("MAIN",), ()]
    assert [(edge.via, edge.target, edge.thru, edge.line) for edge in found.edges] == [("PERFORM", 1, 3, 5)]
    assert (a.falls_into, b.falls_into, c.falls_into) == ("B", "C", None)
    assert c.ends_range
    assert dead(found) == ["D"]
    assert d.dead == "no PERFORM, GO TO or fall-through reaches it"
    assert d.doubts == ("it holds no more than one statement",)


def test_the_exit_of_a_range_is_not_dead_where_its_range_ends_early() -> None:
    """X-EXIT exists as a target for GO TO, whether there is one or not."""
    found = told(
        program("MAIN.", "    PERFORM X THRU X-EXIT.", "    GOBACK.", "X.", "    GOBACK.", "X-EXIT.", "    EXIT.")
    )
    assert dead(found) == []


def test_a_jump_out_of_a_range_falls_on() -> None:
    """GO TO leaves the range, so what follows its target is reached; a paragraph performed alone does not fall through."""
    found = told(
        program(
            "MAIN.",
            "    PERFORM A.",
            "    GOBACK.",
            "A.",
            "    IF X = 1 GO TO C END-IF.",
            "B.",
            "    GOBACK.",
            "C.",
            "    CONTINUE.",
            "D.",
            "    GOBACK.",
        )
    )
    by_name = {one.name: one for one in found.paragraphs}
    assert dead(found) == ["B"]
    assert by_name["A"].jumps == ("C",)
    assert by_name["A"].falls_into is None
    assert by_name["C"].falls_into == "D"


@pytest.mark.parametrize(
    ("ending", "falls"),
    [
        ("GOBACK", False),
        ("STOP RUN", False),
        ("EXIT PROGRAM", False),
        ("GO TO LAST-ONE", False),
        ("EXEC CICS RETURN END-EXEC", False),
        ("EXEC CICS XCTL PROGRAM('X') END-EXEC", False),
        ("EXEC CICS XCTL PROGRAM('X') COMMAREA(WS-RESP) END-EXEC", False),
        ("EXEC CICS XCTL PROGRAM('X') RESP (A) END-EXEC", True),
        ("EXEC CICS RETURN TRANSID('X') NOHANDLE END-EXEC", True),
        ("EXEC CICS ABEND ABCODE('X') NOHANDLE END-EXEC", False),
        ("IF A = 1 GOBACK ELSE STOP RUN END-IF", False),
        ("EVALUATE A WHEN 1 GOBACK WHEN OTHER GO TO LAST-ONE END-EVALUATE", False),
        ("IF A = 1 GOBACK END-IF", True),
        ("IF A = 1 GOBACK ELSE CONTINUE END-IF", True),
        ("EVALUATE A WHEN 1 GOBACK END-EVALUATE", True),
        ("GO TO NEXT-ONE LAST-ONE DEPENDING ON A", True),
        ("PERFORM UNTIL A = 1 GOBACK END-PERFORM", True),
        ("IF A = 1 EXIT PARAGRAPH END-IF GOBACK", True),
        ("IF A = 1 EXIT PARAGRAPH ELSE GOBACK END-IF", True),
        ("IF A = 1 NEXT SENTENCE END-IF GOBACK", True),
        ("IF A = 1 NEXT SENTENCE ELSE CONTINUE. GOBACK", False),
        ("PERFORM LAST-ONE", False),
        ("PERFORM NEXT-ONE THRU LAST-ONE", False),
        ("IF A = 1 PERFORM LAST-ONE ELSE STOP RUN END-IF", False),
        ("IF A = 1 GOBACK ELSE PERFORM MAIN END-IF", False),
        ("IF A = 1 PERFORM NEXT-ONE ELSE PERFORM MAIN END-IF", True),
        ("PERFORM NEXT-ONE", True),
        ("PERFORM LAST-ONE UNTIL A = 1", True),
        ("EXIT", True),
    ],
)
def test_control_falls_on_unless_every_way_leaves(ending: str, falls: bool) -> None:
    """Control leaves if both branches of an IF leave, or all branches of an EVALUATE with OTHER."""
    found = told(program("MAIN.", f"    {ending}.", "NEXT-ONE.", "    CONTINUE.", "LAST-ONE.", "    GOBACK."))
    assert found.paragraphs[0].falls_into == ("NEXT-ONE" if falls else None)


def test_a_perform_comes_back_where_any_way_through_its_range_does() -> None:
    """This holds through PERFORMs that never return, jumps within the range, and EXIT SECTION, which leads to the next section."""
    found = told(
        program(
            "MAIN SECTION.",
            "M-1.",
            "    PERFORM LEAVES.",
            "M-2.",
            "    GOBACK.",
            "LEAVES SECTION.",
            "L-1.",
            "    GO TO L-3.",
            "L-2.",
            "    EXIT.",
            "L-3.",
            "    PERFORM ENDS.",
            "ENDS SECTION.",
            "E-1.",
            "    STOP RUN.",
        )
    )
    assert dead(found) == ["M-2", "L-2"]
    found = told(
        program(
            "MAIN SECTION.",
            "M-1.",
            "    IF A = 1 EXIT SECTION END-IF.",
            "M-2.",
            "    GOBACK.",
            "NEXT-ONE SECTION.",
            "N-1.",
            "    PERFORM SKIPS.",
            "N-2.",
            "    STOP RUN.",
            "SKIPS SECTION.",
            "S-1.",
            "    IF A = 1 EXIT SECTION END-IF.",
            "S-2.",
            "    GOBACK.",
        )
    )
    assert dead(found) == []


def test_an_altered_go_to_leads_on_from_its_own_paragraph() -> None:
    """The paragraph that alters it does not go anywhere."""
    body = ("MAIN.", "    ALTER SWITCH TO PROCEED TO LAST-ONE.", "    PERFORM SWITCH.", "NEXT-ONE.", "    STOP RUN.")
    found = told(program(*body, "SWITCH.", "    GO TO NEXT-ONE.", "LAST-ONE.", "    GOBACK."))
    jumps = {one.name: one.jumps for one in found.paragraphs}
    assert jumps == {"MAIN": (), "NEXT-ONE": (), "SWITCH": ("LAST-ONE", "NEXT-ONE"), "LAST-ONE": ()}
    assert dead(found) == []


def test_a_name_that_nothing_has_is_told_and_makes_dead_code_doubtful() -> None:
    """A source that lost a letter of a name says so; copied code that was not found may have the name."""
    body = (
        "MAIN.",
        "    GO TO LAST-ON.",
        "LAST-ONE.",
        "    GO TO WORK.",
        "WORK SECTION.",
        "W-1.",
        "    GO TO LAST-ONE.",
    )
    said = "nothing has a name that control is to go to: LAST-ON (line 5)"
    found = told(program(*body))
    assert [(note.line, note.text) for note in found.notes] == [(5, "GO TO LAST-ON: nothing has this name")]
    assert [one.doubts[0] for one in found.paragraphs if one.dead] == [said, said]
    copying = told(program(*body, "    COPY ELSEWHERE."))
    assert copying.notes == ()
    assert all("ELSEWHERE" in one.doubts[0] for one in copying.paragraphs if one.dead)


def test_a_jump_to_a_section_leads_to_its_first_paragraph() -> None:
    """No other paragraph of the section is given as its reason."""
    body = (
        "MAIN.",
        "    GOBACK.",
        "DEAD-ONE.",
        "    GO TO WORK.",
        "WORK SECTION.",
        "W-1.",
        "    GOBACK.",
        "W-2.",
        "    GOBACK.",
    )
    reasons = {one.name: one.dead for one in told(program(*body)).paragraphs}
    assert reasons["W-1"] == "only code that is never reached leads to it: DEAD-ONE"
    assert reasons["W-2"] == reasons["DEAD-ONE"] == "no PERFORM, GO TO or fall-through reaches it"


def test_a_perform_comes_back_once_what_it_performs_is_seen_to() -> None:
    """A PERFORM returns if what it performs returns, at any depth; one with an altered GO TO is assumed to return."""
    chain = [
        "MAIN.",
        "    PERFORM A.",
        "LAST-ONE.",
        "    GOBACK.",
        "A.",
        "    PERFORM B.",
        "B.",
        "    PERFORM C.",
        "C.",
    ]
    assert told(program(*chain, "    CONTINUE.")).paragraphs[0].falls_into == "LAST-ONE"
    assert told(program(*chain, "    STOP RUN.")).paragraphs[0].falls_into is None
    altered = told(program(*chain, "    STOP RUN.", "D.", "    ALTER D TO PROCEED TO A."))
    assert altered.paragraphs[0].falls_into == "LAST-ONE"


def test_entries_declaratives_handlers_sorts_and_alter_are_ways_in() -> None:
    """None of these entry points is dead code."""
    found = told(
        fixed(
            "IDENTIFICATION DIVISION.",
            "PROGRAM-ID. P.",
            "PROCEDURE DIVISION.",
            "DECLARATIVES.",
            "ERRORS SECTION.",
            "    USE AFTER ERROR PROCEDURE ON INPUT.",
            "ERROR-1.",
            "    DISPLAY 'IT FAILED'.",
            "END DECLARATIVES.",
            "WORK SECTION.",
            "MAIN.",
            "    EXEC CICS HANDLE CONDITION NOTFND(NOT-FOUND) END-EXEC.",
            "    SORT F ON ASCENDING KEY K INPUT PROCEDURE GET-ALL OUTPUT PROCEDURE PUT-ALL.",
            "    ALTER SWITCH TO PROCEED TO ALTERED.",
            "SWITCH.",
            "    GO TO.",
            "ALTERED.",
            "    GOBACK.",
            "NOT-FOUND.",
            "    GOBACK.",
            "GET-ALL.",
            "    EXIT.",
            "PUT-ALL.",
            "    EXIT.",
            "SECOND-WAY.",
            "    ENTRY 'OTHER'.",
            "    GOBACK.",
            "NEVER.",
            "    GOBACK.",
        )
    )
    assert dead(found) == ["NEVER"]
    assert found.entry_points == (("OTHER", 26),)
    assert next(one for one in found.paragraphs if one.dead).doubts[0] == "ALTER changes where a GO TO leads"


def test_dead_code_that_only_dead_code_reaches_says_so() -> None:
    """The paragraph names the dead paragraphs that lead to it."""
    found = told(program("MAIN.", "    GOBACK.", "ONE.", "    PERFORM TWO.", "    GOBACK.", "TWO.", "    EXIT."))
    assert [(one.name, one.dead) for one in found.paragraphs[1:]] == [
        ("ONE", "no PERFORM, GO TO or fall-through reaches it"),
        ("TWO", "only code that is never reached leads to it: ONE"),
    ]


def test_what_stands_in_a_copybook_is_outside_and_keeps_what_it_performs_alive() -> None:
    """A target in a copybook is named with the copybook; one that is nowhere is not; copied code may perform ours."""
    found = told(
        program(
            "MAIN.", "    PERFORM COPIED.", "    PERFORM NOWHERE.", "    GOBACK.", "OURS.", "    EXIT.", "COPY CODE1."
        ),
        CODE1=fixed("COPIED.", "    PERFORM OURS.", "    CALL 'SUB9'."),
    )
    assert [(one.name, one.lines, one.copybook) for one in found.outside] == [
        ("COPIED", (5,), "CODE1"),
        ("NOWHERE", (6,), None),
    ]
    assert dead(found) == []
    assert [(call.target, call.line, call.copybook) for call in found.calls] == [("SUB9", 10, "CODE1")]


@pytest.mark.parametrize(
    ("section", "dead"),
    [
        (("COPY GONE.",), ["OURS"]),
        (("COPY GONE.", "    DISPLAY 'A'.", "    GOBACK."), ["OURS"]),
        (("    GOBACK.", "COPY GONE."), ["ACCESS"]),
    ],
)
def test_a_section_whose_paragraphs_are_in_a_missing_copybook_is_not_dead(
    section: tuple[str, ...], dead: list[str]
) -> None:
    """Only its header is before them, and what is performed may be in the copybook, with the statements behind it."""
    begun = ("MAIN.", "    PERFORM GET-IT.", "    GOBACK.", "ACCESS SECTION.")
    found = told(program(*begun, *section, "OURS.", "    EXIT."))
    assert [one.name or one.section for one in found.paragraphs if one.dead] == dead


def test_a_missing_copybook_of_code_is_a_doubt() -> None:
    """Its code may perform paragraphs that nothing else performs."""
    found = told(program("MAIN.", "    GOBACK.", "OURS.", "    DISPLAY 'A'.", "    GOBACK.", "COPY GONE."))
    assert found.paragraphs[1].doubts == ("copied code that was not found may perform it: GONE",)


def test_paragraphs_of_one_name_are_told_apart_by_section() -> None:
    """`PERFORM P OF S2` names the section; without one, the paragraph of the own section is meant."""
    found = told(
        program(
            "S1 SECTION.",
            "MAIN.",
            "    PERFORM P OF S2.",
            "    PERFORM P.",
            "    GOBACK.",
            "P.",
            "    EXIT.",
            "S2 SECTION.",
            "P.",
            "    EXIT.",
        )
    )
    assert [(edge.line, edge.target) for edge in found.edges] == [(6, 2), (7, 1)]


def test_a_section_is_performed_from_its_first_to_its_last_paragraph() -> None:
    """The edge has both ends of the range."""
    found = told(
        program(
            "A-SECT SECTION.",
            "    PERFORM B-SECT.",
            "    GOBACK.",
            "B-SECT SECTION.",
            "    CONTINUE.",
            "B1.",
            "    EXIT.",
            "B2.",
            "    EXIT.",
        )
    )
    (edge,) = found.edges
    assert (edge.name, [found.paragraphs[at].name for at in (edge.target or 0, edge.thru or 0)]) == (
        "B-SECT",
        ["", "B2"],
    )
    assert dead(found) == []


def test_complexity_counts_decisions_and_depth_nesting() -> None:
    """IF, WHEN but not OTHER, loops, phrases and GO TO DEPENDING count."""
    found = told(
        program(
            "MAIN.",
            "    IF A = 1",
            "        EVALUATE B WHEN 1 CONTINUE WHEN 2 CONTINUE WHEN OTHER CONTINUE END-EVALUATE",
            "        PERFORM UNTIL A = 2",
            "            READ F AT END CONTINUE END-READ",
            "        END-PERFORM",
            "    END-IF.",
            "    PERFORM MAIN UNTIL A = 3.",
            "    GO TO X Y Z DEPENDING ON A.",
            "X.",
            "Y.",
            "Z.",
            "    EXIT.",
        )
    )
    assert (found.paragraphs[0].complexity, found.paragraphs[0].depth) == (1 + 1 + 2 + 1 + 1 + 1 + 2, 2)
    assert (found.complexity, found.statements) == (9, 11)


@pytest.mark.parametrize(
    ("jump", "targets"),
    [
        ("GO TO X Y DEPENDING ON A", 2),
        ("GO X, Y DEPENDING ON A", 2),
        ("GO X Y Z DEPENDING A", 3),
        ("GO TO X OF MAIN, Y IN MAIN DEPENDING ON A", 2),
        ("GO X DEPENDING ON A", 1),
    ],
)
def test_each_further_target_of_a_jump_is_a_decision(jump: str, targets: int) -> None:
    """TO may be left out, and the section that qualifies a target is not a target."""
    found = told(program("MAIN SECTION.", "FIRST-ONE.", f"    {jump}.", "X.", "Y.", "Z.", "    EXIT."))
    assert found.complexity == targets


def test_a_rule_has_its_condition_meanings_and_branches() -> None:
    """The meaning of a level 88 is given, literals keep their blanks, and branches have their lines."""
    entries = ("01  STATE PIC X.", "    88  IS-OPEN VALUE 'O' 'P'.", "01  AMOUNT PIC 9(5).", "01  T PIC 9 OCCURS 9.")
    found = told(
        program(
            "MAIN.",
            "    IF IS-OPEN AND (AMOUNT > 100 OR T(1) = 2)",
            "        MOVE 'a  b' TO STATE",
            "    ELSE",
            "        IF AMOUNT = 0",
            "            GOBACK",
            "        END-IF",
            "    END-IF.",
            "    EVALUATE TRUE",
            "        WHEN IS-OPEN",
            "        WHEN AMOUNT = 1",
            "            CONTINUE",
            "        WHEN OTHER",
            "            GOBACK",
            "    END-EVALUATE.",
            data=entries,
        )
    )
    first, inner, cases = found.rules
    assert first.condition == "IS-OPEN AND (AMOUNT > 100 OR T(1) = 2)"
    assert first.meanings == (("IS-OPEN", "STATE = 'O' OR 'P'"),)
    assert [(branch.label, branch.line, branch.end_line) for branch in first.branches] == [
        ("THEN", 11, 12),
        ("ELSE", 13, 16),
    ]
    assert [action.text for branch in first.branches for action in branch.actions] == [
        "MOVE 'a  b' TO STATE",
        "IF AMOUNT = 0",
    ]
    assert (first.line, first.end_line, inner.line, inner.end_line) == (11, 17, 14, 16)
    assert [branch.label for branch in cases.branches] == ["WHEN IS-OPEN WHEN AMOUNT = 1", "WHEN OTHER"]
    assert {rule.check for rule in found.rules} == {""}


def test_a_rule_ends_with_its_end_if_and_not_with_a_period_below_it() -> None:
    """The sentence may end with a period alone after comments or blank lines, but the rule cites only the IF."""
    (rule,) = told(
        program(
            "MAIN.", "    IF A = 1", "       MOVE B TO A", "    END-IF", "*|   OLD CODE", "", "    .", "    GOBACK."
        )
    ).rules
    assert (rule.line, rule.end_line) == (5, 7)


def test_the_id_of_a_rule_depends_on_words_not_on_lines() -> None:
    """Lines before the rule and its spelling change nothing; a second rule with the same words has another id."""
    rule = ("    IF A = 1 CONTINUE END-IF.",)
    (one,) = told(program("MAIN.", *rule)).rules
    again, second = told(program("MAIN.", "    DISPLAY 'X'.", "    if a = 1 continue end-if.", *rule)).rules
    assert one.rule_id == again.rule_id != second.rule_id


@pytest.mark.parametrize(
    ("condition", "action"),
    [
        ("NOT (F-STATUS NOT = '00')", "DISPLAY 'ELSE'"),
        ("NOT F-STATUS NOT = '00'", "DISPLAY 'ELSE'"),
        ("NOT (F-STATUS NOT = '00' AND F-STATUS NOT = '02')", "DISPLAY 'ELSE'"),
        ("NOT (NOT (F-STATUS = '00'))", "DISPLAY 'ELSE'"),
        ("NOT (F-STATUS = '00')", "DISPLAY 'THEN'"),
        ("F-STATUS NOT = '00' AND F-STATUS NOT = '02'", "DISPLAY 'THEN'"),
        ("NOT (F-STATUS NOT = '00') AND (F-STATUS NOT = '02')", "DISPLAY 'THEN'"),
        ("NOT F-STATUS = '00' AND NOT F-STATUS = '02'", "DISPLAY 'THEN'"),
        ("F-STATUS = '00' AND (F-KEY < F-LAST OR F-KEY = 'Z')", "DISPLAY 'ELSE'"),
        ("F-STATUS > '00' AND F-KEY < F-LAST", "DISPLAY 'THEN'"),
        ("F-STATUS = '30' AND I NOT = 10", "DISPLAY 'THEN'"),
        ("F-STATUS = '30' AND FLAG = ZERO", "DISPLAY 'THEN'"),
        ("F-STATUS = '00' AND FLAG NOT = 'X'", "DISPLAY 'ELSE'"),
        ("F-STATUS = '00' AND NOT IS-ON", "DISPLAY 'ELSE'"),
        ("NOT (FLAG NOT = 'X' OR F-STATUS NOT = '00')", "DISPLAY 'ELSE'"),
        ("NOT (FLAG = T(I) OR F-STATUS NOT = '00')", "DISPLAY 'ELSE'"),
        ("F-STATUS NOT = '10' AND F-CODE", "DISPLAY 'ELSE'"),
        ("F-STATUS NOT = '00' AND '02'", "DISPLAY 'THEN'"),
    ],
)
def test_a_negation_of_a_negation_is_a_case_of_success(condition: str, action: str) -> None:
    """A NOT before the whole condition turns it; one before a part of it does not."""
    source = program(
        "    READ F.",
        f"    IF {condition} DISPLAY 'THEN' ELSE DISPLAY 'ELSE' END-IF.",
        data=("01  F-STATUS PIC XX.", "01  I PIC 99.", "01  FLAG PIC X.", "    88  IS-ON VALUE 'Y'."),
    ).replace(
        "DATA DIVISION.",
        "ENVIRONMENT DIVISION.\n       INPUT-OUTPUT SECTION.\n       FILE-CONTROL.\n"
        "           SELECT F ASSIGN TO FDD FILE STATUS IS F-STATUS.\n       DATA DIVISION.",
    )
    (found,) = told(source).errors
    assert (found.kind, found.action) == ("FILE STATUS", action)


def test_errors_are_where_outcomes_are_looked_at() -> None:
    """FILE STATUS, SQLCODE, phrases, abends, handlers and return codes are listed with the first action."""
    text = fixed(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. P.",
        "ENVIRONMENT DIVISION.",
        "INPUT-OUTPUT SECTION.",
        "FILE-CONTROL.",
        "    SELECT F ASSIGN TO FDD FILE STATUS IS F-STATUS.",
        "DATA DIVISION.",
        "FILE SECTION.",
        "FD  F.",
        "01  F-REC PIC X.",
        "WORKING-STORAGE SECTION.",
        "01  F-STATUS PIC XX.",
        "    88  F-FINE VALUE '00'.",
        "01  HELD PIC XX.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        "    IF F-STATUS = '00' CONTINUE ELSE DISPLAY 'BAD' END-IF.",
        "    IF NOT F-FINE DISPLAY 'WORSE' CONTINUE GOBACK END-IF.",
        "    MOVE F-STATUS TO HELD.",
        "    IF HELD = '35' DISPLAY 'GONE' END-IF.",
        "    EVALUATE SQLCODE WHEN 0 CONTINUE WHEN OTHER DISPLAY 'SQL' END-EVALUATE.",
        "    READ F AT END DISPLAY 'DONE' MOVE 1 TO A CLOSE F NOT AT END CONTINUE END-READ.",
        "    COMPUTE A = B / C ON SIZE ERROR MOVE 1 TO A END-COMPUTE.",
        "    EXEC SQL WHENEVER SQLERROR CONTINUE END-EXEC.",
        "    EXEC CICS ABEND ABCODE('X001') END-EXEC.",
        "    CALL 'CEE3ABD' USING A B.",
        "    MOVE 16 TO RETURN-CODE.",
        "    MOVE ZEROS TO RETURN-CODE.",
        "    MOVE +0 TO A RETURN-CODE.",
        "    IF A = 1 CONTINUE END-IF.",
        "    GOBACK.",
    )
    found = told(text).errors
    assert [one.condition for one in found[:4]] == [
        "IF F-STATUS = '00' … ELSE",
        "IF NOT F-FINE",
        "IF HELD = '35'",
        "EVALUATE SQLCODE … WHEN OTHER",
    ]
    assert [(one.kind, one.action, one.line) for one in found] == [
        ("FILE STATUS", "DISPLAY 'BAD'", 17),
        ("FILE STATUS", "DISPLAY 'WORSE'; GOBACK", 18),
        ("FILE STATUS", "DISPLAY 'GONE'", 20),
        ("SQLCODE", "DISPLAY 'SQL'", 21),
        ("AT END", "DISPLAY 'DONE'; MOVE 1 TO A; CLOSE F", 22),
        ("SIZE ERROR", "MOVE 1 TO A", 23),
        ("WHENEVER", None, 24),
        ("ABEND", None, 25),
        ("ABEND", None, 26),
        ("RETURN-CODE", None, 27),
    ]


def test_what_a_whenever_performs_returns_at_its_end() -> None:
    """Control does not run on from there into the next paragraph, as it does from where a WHENEVER jumps to."""
    text = program(
        "MAIN.",
        "    EXEC SQL WHENEVER SQLERROR PERFORM :FAILED END-EXEC.",
        "    EXEC SQL COMMIT END-EXEC.",
        "    GOBACK.",
        "FAILED.",
        "    DISPLAY 'E'.",
        "NEVER.",
        "    DISPLAY 'N'.",
    )
    said = {one.name: (one.called_by, bool(one.dead)) for one in told(text).paragraphs}
    assert said == {"MAIN": ((), False), "FAILED": (("MAIN",), False), "NEVER": ((), True)}


def test_what_is_left_after_a_failure_is_told_is_an_error_too() -> None:
    """Where ELSE IF SQLCODE = 100 is the end of the data, its ELSE is the true error, which was nowhere among the errors."""
    chain = (
        "IF SQLCODE = 0 CONTINUE",
        "ELSE IF SQLCODE = 100 DISPLAY 'END'",
        "ELSE IF SQLCODE = -811 DISPLAY 'TWO'",
        "ELSE PERFORM BAD",
    )
    lines = [*(f"    {part}" for part in chain), "    END-IF END-IF END-IF."]
    found = told(program("MAIN.", *lines, "    GOBACK.", "BAD.", "    EXIT.")).errors
    assert [(one.condition, one.action) for one in found] == [
        ("IF SQLCODE = 0 … ELSE", "IF SQLCODE = 100"),
        ("IF SQLCODE = 100", "DISPLAY 'END'"),
        ("IF SQLCODE = 100 … ELSE", "IF SQLCODE = -811"),
        ("IF SQLCODE = -811", "DISPLAY 'TWO'"),
        ("IF SQLCODE = -811 … ELSE", "PERFORM BAD"),
    ]
    for before in (
        "",
        "IF SQLCODE < 0 PERFORM BAD EXEC SQL OPEN C END-EXEC",
        "IF OTHER-CODE < 0",
        "IF EIBRESP NOT = 0",
    ):
        ends = " END-IF" * bool(before)
        lines = [f"    {before}", "    IF SQLCODE = 100 DISPLAY 'END' ELSE DISPLAY 'ROW' END-IF", f"   {ends}."]
        alone = told(program("MAIN.", *lines, "    GOBACK.", "BAD.", "    EXIT.")).errors
        assert "DISPLAY 'ROW'" not in {one.action for one in alone}
        assert "DISPLAY 'END'" in {one.action for one in alone}


def test_what_is_done_unless_the_data_ended_handles_no_failure() -> None:
    """`IF NOT END-OF-FILE` is followed by the work itself; an ELSE is what is done at the end."""
    select = "       FILE-CONTROL.\n           SELECT F ASSIGN TO FDD FILE STATUS IS ST.\n       DATA DIVISION."
    data = ("01 ST PIC XX.", "    88 ST-END VALUE '10'.", "01 F2 PIC X.")
    for condition in ("NOT ST-END", "F2 = 'Y' AND NOT ST-END", "ST NOT = '10'", "NOT (F2 = 'Y' OR ST-END)"):
        for otherwise, said in (
            ("", (condition, None)),
            ("ELSE PERFORM LAST", (f"{condition} … ELSE", "PERFORM LAST")),
        ):
            lines = (f"    IF {condition} PERFORM WORK", f"    {otherwise} END-IF.", "    GOBACK.", "WORK.", "LAST.")
            text = program("MAIN.", *lines, data=data).replace("       DATA DIVISION.", select)
            (found,) = told(text).errors
            assert (found.condition.removeprefix("IF "), found.action) == said
            (small,) = told(text.lower()).errors
            assert (small.condition.upper(), small.action is None) == (found.condition.upper(), found.action is None)
    for condition in ("SQLCODE > 100", "SQLCODE = 100 AND NOT F2-NEW", "SQLCODE = -811 AND F2 NOT = 'N'"):
        first = ("01 F2 PIC X.", "    88 F2-NEW VALUE 'Y'.")
        (found,) = told(program("MAIN.", f"    IF {condition} DISPLAY 'E'.", "    GOBACK.", data=first)).errors
        assert found.action == "DISPLAY 'E'"
    failed = ("    IF SQLCODE = 0 CONTINUE", "    ELSE IF SQLCODE NOT = 100 DISPLAY 'E'.")
    assert "DISPLAY 'E'" in {one.action for one in told(program("MAIN.", *failed, "    GOBACK.")).errors}


def test_each_outcome_that_an_evaluate_names_is_an_error_but_success() -> None:
    """A WHEN says what is done for an outcome, as an IF does; one that does nothing, or looks at data, is none."""
    data = ("01  A PIC 9.", "01  S PIC XX.", "    88  S-FINE VALUE '00'.", "    88  S-DONE VALUE '10'.")
    lines = (
        "EVALUATE SQLCODE WHEN 0 MOVE 1 TO A WHEN 100 DISPLAY 'END' WHEN -811 CONTINUE WHEN OTHER PERFORM BAD",
        "EVALUATE TRUE WHEN SQLCODE = ZERO MOVE 1 TO A WHEN A = 1 MOVE 2 TO A WHEN SQLCODE = 100 DISPLAY 'NO'",
        "EVALUATE EIBRESP WHEN DFHRESP(NORMAL) MOVE 1 TO A WHEN DFHRESP(NOTFND) WHEN DFHRESP(ENDFILE) MOVE 2 TO A",
        "EVALUATE SQLCODE WHEN +000 MOVE 1 TO A WHEN OTHER PERFORM BAD",
        "EVALUATE SQLSTATE WHEN '00000' MOVE 1 TO A WHEN OTHER PERFORM BAD",
        "EVALUATE SQLCODE WHEN SQL-OK MOVE 1 TO A WHEN SQL-NONE MOVE 2 TO A WHEN OTHER PERFORM BAD",
    )
    found = told(
        program("MAIN.", *(f"    {one} END-EVALUATE." for one in lines), "BAD.", "    EXIT.", data=data)
    ).errors
    assert [(one.condition, one.action) for one in found] == [
        ("EVALUATE SQLCODE … WHEN 100", "DISPLAY 'END'"),
        ("EVALUATE SQLCODE … WHEN OTHER", "PERFORM BAD"),
        ("EVALUATE TRUE … WHEN SQLCODE = 100", "DISPLAY 'NO'"),
        ("EVALUATE EIBRESP … WHEN DFHRESP(NOTFND) WHEN DFHRESP(ENDFILE)", "MOVE 2 TO A"),
        ("EVALUATE SQLCODE … WHEN OTHER", "PERFORM BAD"),
        ("EVALUATE SQLSTATE … WHEN OTHER", "PERFORM BAD"),
        ("EVALUATE SQLCODE … WHEN SQL-NONE", "MOVE 2 TO A"),
        ("EVALUATE SQLCODE … WHEN OTHER", "PERFORM BAD"),
    ]


@pytest.mark.parametrize("case", [str.upper, str.lower])
def test_the_first_outcome_need_not_be_success(case: Callable[[str], str]) -> None:
    """The level 88s say which of the outcomes is, however the code spells their names."""
    select = "       FILE-CONTROL.\n           SELECT F ASSIGN TO FDD FILE STATUS IS ST.\n       DATA DIVISION."
    data = ("01 ST PIC XX.", "    88 ST-END VALUE '10'.", "    88 ST-FINE VALUE '00'.")
    line = "    EVALUATE TRUE WHEN ST-END DISPLAY '1' WHEN ST-FINE DISPLAY '2' WHEN OTHER DISPLAY '3' END-EVALUATE."
    text = program("MAIN.", line, "    GOBACK.", data=data).replace("       DATA DIVISION.", select)
    assert [(one.action or "").upper() for one in told(case(text)).errors] == ["DISPLAY '1'", "DISPLAY '3'"]


def test_transforms_say_what_comes_of_what() -> None:
    """Calculations and compositions have targets, sources and text."""
    found = told(
        program(
            "    COMPUTE C = A *",
            "        (B + 1).",
            "    STRING A ' ' B DELIMITED BY SIZE INTO C.",
            data=("01  A PIC 9.", "01  B PIC 9.", "01  C PIC 9."),
        )
    )
    assert [(one.verb, one.targets, one.sources, one.text, one.line, one.end_line) for one in found.transforms] == [
        ("COMPUTE", ("C",), ("A", "B"), "COMPUTE C = A * (B + 1)", 9, 10),
        ("STRING", ("C",), ("A", "B"), "STRING A ' ' B DELIMITED BY SIZE INTO C", 11, 11),
    ]


def test_transforms_name_what_is_declared_nowhere() -> None:
    """The copybook of a product is rarely available; its options and the items that depend on them are still operands."""
    found = told(program("    COMPUTE GMO-OPTIONS = GMO-WAIT + GMO-CONVERT.", data=("01  M.", "    COPY CMQGMOV.")))
    assert [(one.targets, one.sources) for one in found.transforms] == [(("GMO-OPTIONS",), ("GMO-WAIT", "GMO-CONVERT"))]


def test_a_flow_diagram_is_bounded_escaped_and_the_same_twice() -> None:
    """Omitted nodes are counted, and a name cannot end its label."""
    paragraphs = [line for n in range(200) for line in (f"P{n}.", f"    PERFORM P{(n * 3 + 1) % 200}.")]
    found = told(program("MAIN.", "    PERFORM P0.", "    GOBACK.", *paragraphs, name="A#B"))
    drawn = flow_diagram(found)
    assert drawn == flow_diagram(found)
    assert len(re.findall(r"^    p\d+\[", drawn, re.MULTILINE)) == 80
    assert re.search(r'more\["121 more paragraphs and \d+ more edges not shown"\]', drawn)
    assert '[["A#35;B"]]' in call_diagram(found)


def test_a_flow_diagram_shows_jumps_falls_and_dead_code_apart() -> None:
    """PERFORM, GO TO, fall-through and dead code look different; the end of a range is not drawn."""
    text = program(
        "MAIN.",
        "    PERFORM A THRU A-EXIT.",
        "    GO TO C.",
        "A.",
        "    CONTINUE.",
        "A-EXIT.",
        "    EXIT.",
        "C.",
        "    CONTINUE.",
        "D.",
        "    GOBACK.",
        "E.",
        "    GOBACK.",
    )
    assert flow_diagram(told(text)).splitlines() == [
        "flowchart TD",
        '    p0["MAIN"]',
        '    p1["A"]',
        '    p3["C"]',
        '    p4["D"]',
        '    p5[/"E"/]',
        "    p0 --> p1",
        "    p0 -.->|GO TO| p3",
        "    p3 -.->|falls into| p4",
    ]


def test_deep_nesting_needs_no_deep_stack() -> None:
    """Ten thousand nested IFs are ten thousand rules."""
    found = told(program("MAIN.", *(["    IF A = 1"] * 10_000), "    CONTINUE."))
    assert len(found.rules) == 10_000
    assert found.depth == 10_000


def test_a_program_with_too_many_ways_calls_nothing_dead() -> None:
    """Jumps between ranges are followed up to a limit; beyond it a note says so."""
    count = 150
    ranges = [f"    PERFORM P0 THRU P{n}." for n in range(count)]
    body = [line for n in range(count) for line in (f"P{n}.", f"    IF A = {n} GO TO P{(n + 7) % count} END-IF.")]
    found = told(program("MAIN.", *ranges, "    GOBACK.", *body, "NEVER.", "    GOBACK."))
    assert dead(found) == []
    assert "too many" in found.notes[0].text


PIECES = """
MOVE A TO B|IF A = 1|ELSE|END-IF|.|PERFORM X THRU Y|GO TO X|X.|Y.|EVALUATE A|WHEN 1|WHEN OTHER|END-EVALUATE|READ F AT END|
END-READ|EXEC CICS READ FILE(|EXEC SQL SELECT A INTO :B FROM T END-EXEC|END-EXEC|COPY Z REPLACING ==A== BY ==B==|(|)|'|"|
01 A PIC X(|05 B OCCURS 5 TO 9 DEPENDING ON A|88 C VALUE|66 D RENAMES A|REDEFINES A|SELECT F ASSIGN TO|FD F|CALL A USING B|
DATA DIVISION.|PROCEDURE DIVISION.|WORKING-STORAGE SECTION.|FILE SECTION.|STRING A INTO|ALTER X TO PROCEED TO Y|OF|IN|TO|UNTIL
"""
FRAGMENTS = st.lists(st.sampled_from([piece.strip() for piece in PIECES.split("|")]), max_size=60)


@given(FRAGMENTS)
def test_any_source_has_facts(fragments: list[str]) -> None:
    """Whatever the statements and entries are, there are facts, and each line is a line of the file."""
    source = scan(program(*("    " + fragment for fragment in fragments)))
    copied = scan(fixed("    MOVE A TO C.", "01  A PIC X.", "COPY Z."))
    for one in source.programs:
        found = facts(source, one, copybooks={"Z": copied})
        assert flow_diagram(found)
        assert call_diagram(found)
        lines = (
            [item.line for item in found.items]
            + [rule.end_line for rule in found.rules]
            + [site.line for site in found.errors]
        )
        assert all(1 <= line <= source.lines for line in lines)


def test_code_of_a_section_that_is_never_reached_is_dead_for_itself() -> None:
    """If a performed section ends before its last paragraph, nothing reaches that paragraph, not even the caller of the section."""
    found = told(
        program(
            "MAIN SECTION.",
            "ONE.",
            "    PERFORM WORK.",
            "    GOBACK.",
            "WORK SECTION.",
            "TWO.",
            "    GOBACK.",
            "GONE.",
            "    DISPLAY 'A'.",
        )
    )
    (gone,) = [one for one in found.paragraphs if one.dead]
    assert (gone.name, gone.dead) == ("GONE", "no PERFORM, GO TO or fall-through reaches it")


@pytest.mark.proves("C-16")
def test_a_function_of_the_repository_is_called_where_it_is_used() -> None:
    """A call may have the word FUNCTION or not and uses the name in AS; functions of the language are not programs."""
    text = """\
PROGRAM-ID. P.
ENVIRONMENT DIVISION.
CONFIGURATION SECTION.
REPOSITORY.
    FUNCTION TAX-OF FUNCTION RATE AS 'EXTRATE'
    FUNCTION ALL INTRINSIC.
DATA DIVISION.
WORKING-STORAGE SECTION.
01 A PIC 9(5).
01 G.
    05 B PIC 9 OCCURS 3.
PROCEDURE DIVISION.
    MOVE TAX-OF(A) TO A.
    COMPUTE A = FUNCTION RATE(A) + MAX(A 1).
    DISPLAY TAX-OF(A, B OF G (2) A + 1 'X') TAX-OF(A(1:2)) PI.
"""
    source = scan(text, source_format="free")
    found = facts(source, source.programs[0])
    assert [(call.names, call.parameters, call.line) for call in found.calls] == [
        (("TAX-OF",), ("A",), 13),
        (("EXTRATE",), ("A",), 14),
        (("TAX-OF",), ("A", "B OF G(2)", "A + 1", "'X'"), 15),
        (("TAX-OF",), ("A(1 : 2)",), 15),
    ]
    assert found.undeclared == ()


def test_a_declarative_is_called_by_nobody() -> None:
    """The system runs a declarative, so its USE is not a call of itself."""
    found = told(
        program(
            "DECLARATIVES.", "E SECTION.", "    USE AFTER ERROR PROCEDURE ON F.", "E1.", "    EXIT.", "END DECLARATIVES.",
            "M.", "    GOBACK.",
        )
    )  # fmt: skip
    assert [(one.name, one.calls, one.called_by, one.dead) for one in found.paragraphs if one.name != "M"] == [
        ("", (), (), None),
        ("E1", (), (), None),
    ]


def test_a_declarative_section_does_not_fall_into_the_next() -> None:
    """Each is run for itself, and returns; its own paragraphs follow one another."""
    found = told(
        program(
            "DECLARATIVES.", "E SECTION.", "    USE AFTER ERROR PROCEDURE ON F.", "E1.", "    MOVE 1 TO X.", "E2.", "    EXIT.",
            "G SECTION.", "    USE AFTER ERROR PROCEDURE ON H.", "G1.", "    EXIT.", "END DECLARATIVES.", "M.", "    GOBACK.",
        )
    )  # fmt: skip
    assert {one.name: one.falls_into for one in found.paragraphs if one.name} == {
        "E1": "E2",
        "E2": None,
        "G1": None,
        "M": None,
    }
    assert dead(found) == []


def test_paragraphs_that_perform_the_next_take_linear_time() -> None:
    """Each paragraph is examined again when its own range returns, not with every other: that took 11 s for 4,000 of them."""

    def work(size: int) -> Callable[[], object]:
        chain = [line for at in range(size) for line in (f"P{at}.", f"    PERFORM P{at + 1}.")]
        source = scan(program(*chain, f"P{size}.", "    CONTINUE.", "LAST.", "    GOBACK."))
        return lambda: facts(source, source.programs[0])

    assert growth(work, 150) < BOUND


def test_files_whose_names_are_moved_take_linear_time() -> None:
    """The MOVEs are read once, not for each file that nothing else names: that took 32 s for 10,000 of both."""

    def work(size: int) -> Callable[[], object]:
        files = "".join(fixed(f"    SELECT F{at} ASSIGN TO D{at}.") for at in range(size))
        moves = (f"    MOVE 'data/{at}.dat' TO D{at}." for at in range(size))
        text = program(*moves, data=("01 X PIC X.",)).replace(
            fixed("DATA DIVISION."),
            fixed("ENVIRONMENT DIVISION.", "INPUT-OUTPUT SECTION.", "FILE-CONTROL.") + files + fixed("DATA DIVISION."),
        )
        source = scan(text)
        found = facts(source, source.programs[0])
        assert [file.dd for file in found.files] == [f"data/{at}.dat" for at in range(size)]
        return lambda: facts(source, source.programs[0])

    assert growth(work, 400) < BOUND


@pytest.mark.parametrize(("using", "unreached"), [("", ["SPARE"]), (" USING A", ["LAST-ONE", "SPARE"])])
def test_a_main_program_goes_on_after_exit_program(using: str, unreached: list[str]) -> None:
    """A STOP RUN behind it is for the program that nobody called; one with parameters is always called."""
    lines = ("LINKAGE SECTION.", "01  A PIC X.", f"PROCEDURE DIVISION{using}.", "FIRST-ONE.", "    EXIT PROGRAM.")
    rest = ("LAST-ONE.", "    STOP RUN.", "SPARE.", "    DISPLAY 'SPARE'.", "    EXIT PROGRAM.")
    found = told(fixed("IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", *lines, *rest))
    assert dead(found) == unreached
    assert found.paragraphs[0].falls_into == (None if using else "LAST-ONE")


def test_a_stop_run_that_is_performed_is_not_for_a_program_that_nobody_called() -> None:
    """Behind an EXIT PROGRAM stands whatever is performed from elsewhere."""
    lines = ("FIRST-ONE.", "    IF 1 = 2 PERFORM LAST-ONE.", "    EXIT PROGRAM.", "LAST-ONE.", "    STOP RUN.")
    found = told(program(*lines))
    assert dead(found) == []
    assert found.paragraphs[0].falls_into is None

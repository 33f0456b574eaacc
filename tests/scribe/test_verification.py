"""A claim is taken where the source bears it out, moved where it stands elsewhere, and thrown away where it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scribe.lines import Text

from penstock.chunk.template import Citation
from penstock.scribe.answers import PROGRAM, Claim
from penstock.scribe.numbers import NumberVerdict, judged
from penstock.scribe.prompts import marked
from penstock.scribe.verification import ClaimSubject, ClaimVerdict, Known, Shown, names_in, same_claims, shown, verify

pytestmark = pytest.mark.proves("C-7")

SOURCE = Text(
    """\
* A comment says PAYROLL9.
 READ-IT.
     READ IN-FILE
       AT END MOVE 'Y' TO WS-DONE.

     ADD 1 TO WS-COUNT.
* Between.
     IF WS-COUNT > 10
         PERFORM WRITE-IT
     END-IF.
 WRITE-IT.
     CALL 'AUDIT' USING WS-COUNT.
     ADD 1 TO WS-COUNT.
     EXIT.
 LAST-IT.
     ADD 1 TO WS-COUNT.
     MOVE WS-COUNT TO WS-TOTAL.
     GOBACK."""
)
KNOWN = Known(
    names=names_in(
        "READ-IT IN-FILE WS-DONE WS-COUNT WRITE-IT AUDIT LAST-IT WS-TOTAL CUSTBK ACCTS USING EQUAL TABLE-B IF WS-AT@"
    ),
    callable=frozenset({"AUDIT", "READ-IT", "WRITE-IT", "LAST-IT"}),
    tables=frozenset({"ACCTS", "WS-TOTAL"}),
    copybooks=frozenset({"CUSTBK"}),
    declared=names_in("READ-IT IN-FILE WS-DONE WS-COUNT WRITE-IT LAST-IT WS-TOTAL AUDIT CUSTBK ACCTS"),
)
ITEMS = [
    ClaimSubject(PROGRAM, "purpose", ("summary", "question"), {}, 1, 18, "program", "P"),
    ClaimSubject("P2", "paragraphs", ("summary",), {"paragraph_name": "READ-IT"}, 2, 10, "paragraph", "READ-IT"),
    ClaimSubject("P11", "paragraphs", ("summary",), {"paragraph_name": "WRITE-IT"}, 11, 14, "paragraph", "WRITE-IT"),
]
HELD = shown(SOURCE, [(1, 14)], ITEMS, KNOWN)


def claimed(lines: list[int], evidence: str, text: str = "It counts.", of: str = "P2", *names: str) -> ClaimVerdict:
    """The verdict on such a claim."""
    return verify(Claim(of, "summary", text, tuple(lines), evidence, names), HELD)


def lines_of(verdict: ClaimVerdict) -> list[tuple[int, int]]:
    """What a verdict cites."""
    return [(proof.first_line, proof.last_line) for proof in verdict.citations]


def test_a_right_claim_is_accepted_with_its_lines() -> None:
    """The evidence of the citation is the line itself; blanks do not count."""
    verdict = claimed([3, 4], "READ   IN-FILE")
    assert (verdict.outcome, verdict.citations) == ("accepted", (Citation(3, 4, "READ IN-FILE"),))


_TWO_OF_ONE_NAME = Text(
    """\
 PROGRAM-ID. X.
     READ T AT END STOP RUN.
     MOVE 1 TO WS-A.
 END PROGRAM X.
 PROGRAM-ID. X.
     READ T AT END STOP RUN.
     MOVE 2 TO WS-B.
 END PROGRAM X."""
)


@pytest.mark.proves("C-15")
@pytest.mark.parametrize(
    ("line", "evidence", "of", "cited"),
    [
        (2, "READ T AT END", "I:T.X", 2),
        (6, "READ T AT END", "I:T.X.2", 6),  # it stands in both: what was cited says which
        (7, "READ T AT END", "I:T.X.2", 6),
        (6, "MOVE 2 TO WS-B.", "I:T.X.2", 7),
        (6, "MOVE 1 TO WS-A.", "I:T.X", 3),  # it stands in the one that was named, and in no other
        (6, "", "", 0),
        (2, "MOVE 2 TO WS-B.", "", 0),  # both say the first, and the evidence is the second's
    ],
)
def test_of_two_programs_of_one_name_that_is_meant_where_the_evidence_was_cited(
    line: int, evidence: str, of: str, cited: int
) -> None:
    """An id that leaves out the number of the second program leads to it all the same, and never tells of the first."""
    items = [
        ClaimSubject(made, "inputs", ("summary",), {}, first, first, "input", "T", at, (first - 1, first + 2))
        for at, (made, first) in enumerate((("I:T.X", 2), ("I:T.X.2", 6)))
    ]
    held = shown(_TWO_OF_ONE_NAME, [(1, 8)], items, KNOWN)
    verdict = verify(Claim("I:T.X", "summary", "It comes in.", (line,), evidence, ()), held)
    assert verdict.holds == bool(of)
    assert not of or (verdict.claim.of, lines_of(verdict)) == (of, [(cited, cited)])
    assert verdict.outcome == ("accepted" if (of, line) == ("I:T.X", 2) else "relocated" if of else "rejected")


@pytest.mark.proves("C-15")
@pytest.mark.parametrize("of", ["program-X", "program-X.2"])
def test_a_line_of_two_programs_of_one_name_is_of_the_one_that_was_named(of: str) -> None:
    """Where one ends on the line that the next begins on, a claim that is looked at again stays where it was."""
    source = Text(" PROGRAM-ID. X.\n MOVE 1 TO A. IDENTIFICATION DIVISION.\n PROGRAM-ID. X.\n MOVE 2 TO A.")
    items = [
        ClaimSubject(made, "purpose", ("summary",), {}, first, last, "program", "X", at)
        for at, (made, first, last) in enumerate((("program-X", 1, 2), ("program-X.2", 2, 4)))
    ]
    held = shown(source, [(1, 4)], items, KNOWN)
    verdict = verify(Claim(of, "summary", "It sets A.", (2,), "MOVE 1 TO A.", ()), held)
    assert (verdict.outcome, verdict.claim.of) == ("accepted", of)


@pytest.mark.parametrize("evidence", ["6|     ADD 1 TO WS-COUNT.", "ADD 1 TO", "  6: ADD 1 TO WS-COUNT."])
def test_the_gutter_is_no_part_of_evidence(evidence: str) -> None:
    """A model that copies the line number with the line has copied the line."""
    assert claimed([6], evidence).outcome == "accepted"


@pytest.mark.parametrize(
    "evidence", ["01  :TAG:-RECORD.", "1|01  :TAG:-RECORD.", "01  :TAG:-RECORD.\n    05 :TAG:-ID PIC 9(4)."]
)
def test_a_level_before_a_tag_is_no_line_number(evidence: str) -> None:
    """A copybook whose names are replaced begins with `01 :TAG:`, as a numbered line does: R18 told such claims as lost."""
    held = shown(Text(" 01  :TAG:-RECORD.\n     05 :TAG:-ID PIC 9(4)."), [(1, 2)], ITEMS[:1], KNOWN)
    assert verify(Claim(PROGRAM, "summary", "It is a record.", (1,), evidence, ()), held).outcome == "accepted"


def test_evidence_may_run_over_lines() -> None:
    """A fragment of several lines cites them all, and a comment between them does not part it."""
    assert lines_of(claimed([3], "READ IN-FILE\n AT END MOVE 'Y'")) == [(3, 4)]
    assert lines_of(claimed([6], "ADD 1 TO WS-COUNT. IF WS-COUNT > 10")) == [(6, 8)]


@pytest.mark.parametrize("shift", [-2, -1, 1, 2, 5])
def test_a_shifted_claim_is_moved(shift: int) -> None:
    """All its lines move with the evidence; where part of the range was right, what the evidence begins is kept."""
    verdict = claimed([8 + shift, 9 + shift, 10 + shift], "IF WS-COUNT > 10")
    if shift > 0:
        assert (verdict.outcome, lines_of(verdict)) == ("relocated", [(8, 10)])
    else:
        assert (verdict.outcome, lines_of(verdict)) == ("accepted", [(8, 10 + shift)])


def test_a_claim_on_a_blank_or_a_comment_is_moved() -> None:
    """Neither is a line of code, so that neither proves anything."""
    for line in (1, 5, 7):
        verdict = claimed([line], "PERFORM WRITE-IT")
        assert (verdict.outcome, lines_of(verdict)) == ("relocated", [(9, 9)])


def test_evidence_that_stands_more_than_once_is_that_of_the_item() -> None:
    """A statement that is repeated is cited in the paragraph that the claim is about, else nearest to where it was cited."""
    assert lines_of(claimed([10], "ADD 1 TO WS-COUNT.", of="P2")) == [(6, 6)]
    assert lines_of(claimed([8], "ADD 1 TO WS-COUNT.", of="P11")) == [(13, 13)]
    assert lines_of(claimed([11], "ADD 1 TO WS-COUNT.", of=PROGRAM)) == [(13, 13)]


def test_a_slip_over_the_edge_is_moved() -> None:
    """A line just outside of what was shown is a slip when its evidence stands inside."""
    verdict = claimed([15], "CALL 'AUDIT'", of="P11")
    assert (verdict.outcome, lines_of(verdict)) == ("relocated", [(12, 12)])


@pytest.mark.parametrize(
    ("lines", "evidence", "reason"),
    [
        ([0], "READ IN-FILE", "range"),
        ([-3], "READ IN-FILE", "range"),
        ([3, 19], "READ IN-FILE", "range"),
        ([99_999], "READ IN-FILE", "range"),
        ([3, 17], "READ IN-FILE", "elsewhere"),
        ([17], "MOVE WS-COUNT TO WS-TOTAL", "evidence"),  # there, but not shown
        ([3], "READ OUT-FILE", "evidence"),
        ([3], "read in-file", "evidence"),
        ([1], "A comment says", "evidence"),
        ([3], "", "evidence"),
        ([3], "E", "statement"),
        ([3], " . ", "statement"),
        ([3], "READ", "statement"),
        ([2], "READ-IT.", "statement"),
        ([12], "CALL 'AUDIT' USING WS-COUNT", "outside"),
    ],
)
def test_a_false_claim_is_rejected(lines: list[int], evidence: str, reason: str) -> None:
    """Lines that are not there or were not shown, and evidence that nobody wrote."""
    verdict = claimed(lines, evidence)
    assert (verdict.outcome, verdict.reason, verdict.citations) == ("rejected", reason, ())


def test_far_away_is_no_slip() -> None:
    """A line that was not shown and is far from its evidence was invented."""
    long = Text("\n".join(["     ADD 1 TO WS-COUNT.", *["     CONTINUE."] * 200]))
    held = shown(long, [(1, 50)], ITEMS, KNOWN)
    assert verify(Claim(PROGRAM, "summary", "Adds.", (180,), "ADD 1 TO WS-COUNT."), held).reason == "elsewhere"


@pytest.mark.proves("C-15")
def test_a_statement_of_one_word_is_evidence_as_a_whole() -> None:
    """`EXIT.` alone on its line says something; a header, and a word of a line, do not."""
    assert claimed([14], "EXIT.", "Ends.", "P11").outcome == "accepted"
    assert claimed([11], "WRITE-IT.", "Ends.", "P11").reason == "statement"
    assert claimed([12], "CALL", "Ends.", "P11").reason == "statement"


@pytest.mark.proves("C-15")
@pytest.mark.parametrize("evidence", [", C", ", COLUMN_7", "IF W", "X OR", "OR Y = Z", ", COLUMN_70 IF"])
def test_evidence_has_two_whole_words_or_is_a_line(evidence: str) -> None:
    """A sign is no word, and a word that is cut is none; where a line is no more than that, all of it is evidence."""
    text = Text("    IF WS-COUNT > 10\n      MAX OR Y = ZERO\n    , COLUMN_70\n    IF X\n    , COLUMN_7")
    held = shown(text, [(1, 5)], ITEMS, KNOWN)
    verdict = verify(Claim(PROGRAM, "summary", "Reads it.", (3,), evidence), held)
    places = {", COLUMN_7": [(5, 5)], "OR Y = Z": [(2, 2)], ", COLUMN_70 IF": [(3, 4)]}
    assert lines_of(verdict) == places.get(evidence, [])
    assert verdict.reason == ("" if evidence in places else "statement")


@pytest.mark.proves("C-15")
def test_evidence_lies_in_what_a_claim_speaks_of() -> None:
    """A paragraph is proved by its own statements, however many others were shown, and cites no line of another."""
    assert claimed([6], "ADD 1 TO WS-COUNT.", of="P2").outcome == "accepted"
    assert claimed([12], "CALL 'AUDIT'", of="P2").reason == "outside"
    assert lines_of(claimed([9, 12], "PERFORM WRITE-IT", of="P2")) == [(9, 9)]
    assert claimed([12], "CALL 'AUDIT'", of=PROGRAM).outcome == "accepted"


@pytest.mark.proves("C-15")
@pytest.mark.parametrize(
    ("text", "outcome", "derived"),
    [
        ("Counts until there are more than 10.", "accepted", ()),
        ("Counts until there are more than 10.0 of them.", "accepted", ()),
        ("Counts until there are more than 47.", "rejected", ()),
        ("Writes in batches of 10, so 60 in all.", "accepted", ("60",)),
        ("Is COMP-3, level 88, as lines 5000 to 6000 say.", "accepted", ()),
        ("Holds no more than 250.", "accepted", ()),
        ("Counts 1 by 1.", "accepted", ()),
    ],
)
def test_d6_numbers_are_held_against_the_code(text: str, outcome: str, derived: tuple[str, ...]) -> None:
    """One that the cited lines contradict is rejected, one that the code does not have is marked, one that a name is declared
    with is held.
    """
    declared = replace(KNOWN, numbers={"WS-COUNT": frozenset({"250"})})
    held = shown(SOURCE, [(1, 14)], ITEMS, declared)
    verdict = verify(Claim("P2", "summary", text, (8,), "IF WS-COUNT > 10"), held)
    assert (verdict.outcome, verdict.derived) == (outcome, derived)
    assert verdict.reason == ("number" if outcome == "rejected" else "")


@pytest.mark.proves("C-15")
def test_what_is_marked_says_which_numbers_are_the_models_own() -> None:
    """A reader sees in the document which figure no line of the program has."""
    assert marked("Sixty, 60.", ("60",)) == "Sixty, 60. Not in the code: 60."
    assert marked("Ten.", ()) == "Ten."


@pytest.mark.proves("C-15")
@given(st.integers(2, 10**9), st.sampled_from(["{:,}", "{}", "{}.00", "{} times", "{}%"]))
def test_a_number_of_the_lines_is_held_in_any_form(number: int, form: str) -> None:
    """Thousands may be grouped and decimals written out: a claim of its own numbers is never touched."""
    assert judged(f"It is {form.format(number)}.", "", f"IF A > {number}", {}) == NumberVerdict()


@pytest.mark.parametrize("of", ["P3", "R2", ""])
def test_what_is_not_there_has_nothing_said_about_it(of: str) -> None:
    """An id that was not given, or a field that it does not have."""
    assert claimed([3], "READ IN-FILE", of=of).reason == "item"
    assert verify(Claim("P2", "purpose", "x", (3,), "READ IN-FILE"), HELD).reason == "item"


@pytest.mark.parametrize(
    "text",
    [
        "Moves WS-OTHER.",
        "Uses `ws-other`.",
        "Writes to FILE99X.",
        "It is the A-B-C-D.",
        "Calls on COPAU00C.",
        "Sets WS-COUNT and WS_COUNT.",
    ],
)
def test_an_invented_name_is_rejected(text: str) -> None:
    """What looks like a name must be one of the program's."""
    assert claimed([3], "READ IN-FILE", text).reason == "name"


def test_names_that_are_listed_are_looked_at_too() -> None:
    """Any word of `names` is a name; qualified and subscripted ones are taken apart."""
    assert claimed([3], "READ IN-FILE", "Reads.", "P2", "other").reason == "name"
    assert claimed([3], "READ IN-FILE", "Reads.", "P2", "ws-count OF IN-FILE", "WS-TOTAL(1:X)").holds


@pytest.mark.parametrize(
    "text",
    [
        "Reads IN-FILE until WS-DONE.",
        "An end-of-day job in COMP-3, as ISO-8601 and R120 say; 2024-01-31.",
        "Uses COBOL and VSAM.",
    ],
)
def test_words_are_not_taken_for_names(text: str) -> None:
    """English with hyphens, dates, and the words of the trade."""
    assert claimed([3], "READ IN-FILE", text).holds


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Calls PAYROLL.", "call"),
        ("It calls the program 'PAYROLL'.", "call"),
        ("Links to PAYROLL and returns.", "call"),
        ("Calls WS-TOTAL.", "call"),
        ("Reads the table CUSTOMERS.", "table"),
        ("Reads the PROD.CUSTOMERS table.", "table"),
        ("Uses copybook OTHERBK.", "copybook"),
        ("Uses the OTHERBK copybook.", "copybook"),
    ],
)
def test_a_fact_that_the_code_does_not_have_is_a_contradiction(text: str, reason: str) -> None:
    """A call, a table or a copybook that was not extracted is asked about, not said."""
    verdict = claimed([3], "READ IN-FILE", text)
    assert (verdict.outcome, verdict.reason) == ("contradicted", reason)
    assert not verdict.holds


@pytest.mark.parametrize(
    "text",
    [
        "Calls AUDIT with the count.",
        "Calls the paragraph WRITE-IT.",
        "Reads the PROD.ACCTS table.",
        "Fills the table WS-TOTAL.",
        "Uses copybook CUSTBK.",
        "Issues EXEC SQL calls, and calls SORT.",
        "The caller is called back; the tables are small.",
        "CALL PROGRAM USING WS-COUNT",
        "IF TABLE EQUAL TO 01 TABLE-B",
    ],
)
def test_what_the_code_has_is_no_contradiction(text: str) -> None:
    """Facts that were extracted may be spoken of."""
    assert claimed([3], "READ IN-FILE", text).holds


def test_a_claim_that_is_said_twice_is_said_once() -> None:
    """The duplicate that holds wins, and its lines are added."""
    made = [
        claimed([3], "NOWHERE AT ALL"),
        claimed([3], "READ IN-FILE"),
        claimed([6], "ADD 1 TO WS-COUNT.", "it  COUNTS."),
        claimed([6], "NOWHERE AT ALL"),
    ]
    (kept,) = same_claims(made)
    assert kept.outcome == "accepted"
    assert lines_of(kept) == [(3, 3), (6, 6)]


def test_nothing_is_shown_of_nothing() -> None:
    """A chunk of comments alone bears nothing out."""
    held: Shown = shown(Text("* one\n\n* two"), [(1, 3)], ITEMS, KNOWN)
    assert verify(Claim(PROGRAM, "summary", "One.", (1,), "one"), held).reason == "evidence"

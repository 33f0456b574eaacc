"""Is a claim accepted if the source proves it, moved if its evidence is elsewhere, and else rejected?"""

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
    """Return the verdict on such a claim."""
    return verify(Claim(of, "summary", text, tuple(lines), evidence, names), HELD)


def lines_of(verdict: ClaimVerdict) -> list[tuple[int, int]]:
    """Return what a verdict cites."""
    return [(proof.first_line, proof.last_line) for proof in verdict.citations]


def test_a_right_claim_is_accepted_with_its_lines() -> None:
    """The evidence is the cited line itself; blanks do not count."""
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
        (6, "READ T AT END", "I:T.X.2", 6),  # both have it: the citation decides
        (7, "READ T AT END", "I:T.X.2", 6),
        (6, "MOVE 2 TO WS-B.", "I:T.X.2", 7),
        (6, "MOVE 1 TO WS-A.", "I:T.X", 3),  # only the named one has it
        (6, "", "", 0),
        (2, "MOVE 2 TO WS-B.", "", 0),  # both name the first program, but the evidence is in the second
    ],
)
def test_of_two_programs_of_one_name_that_is_meant_where_the_evidence_was_cited(
    line: int, evidence: str, of: str, cited: int
) -> None:
    """An id without the second program's number may still mean it, and then says nothing about the first."""
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
    """If one ends on the line where the next begins, a claim that is checked again keeps its program."""
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
    """A copybook for REPLACING begins with `01 :TAG:`, as a numbered line does: such claims were reported lost in R18."""
    held = shown(Text(" 01  :TAG:-RECORD.\n     05 :TAG:-ID PIC 9(4)."), [(1, 2)], ITEMS[:1], KNOWN)
    assert verify(Claim(PROGRAM, "summary", "It is a record.", (1,), evidence, ()), held).outcome == "accepted"


def test_evidence_may_run_over_lines() -> None:
    """A fragment of several lines cites them all, and a comment in between does not split it."""
    assert lines_of(claimed([3], "READ IN-FILE\n AT END MOVE 'Y'")) == [(3, 4)]
    assert lines_of(claimed([6], "ADD 1 TO WS-COUNT. IF WS-COUNT > 10")) == [(6, 8)]


@pytest.mark.parametrize("shift", [-2, -1, 1, 2, 5])
def test_a_shifted_claim_is_moved(shift: int) -> None:
    """All its lines move with the evidence; a correct part of the range at the start of the evidence stays."""
    verdict = claimed([8 + shift, 9 + shift, 10 + shift], "IF WS-COUNT > 10")
    if shift > 0:
        assert (verdict.outcome, lines_of(verdict)) == ("relocated", [(8, 10)])
    else:
        assert (verdict.outcome, lines_of(verdict)) == ("accepted", [(8, 10 + shift)])


def test_a_claim_on_a_blank_or_a_comment_is_moved() -> None:
    """Neither is code, so neither proves anything."""
    for line in (1, 5, 7):
        verdict = claimed([line], "PERFORM WRITE-IT")
        assert (verdict.outcome, lines_of(verdict)) == ("relocated", [(9, 9)])


def test_evidence_found_more_than_once_is_that_of_the_item() -> None:
    """A repeated statement is cited in the paragraph of the claim, else nearest to the citation."""
    assert lines_of(claimed([10], "ADD 1 TO WS-COUNT.", of="P2")) == [(6, 6)]
    assert lines_of(claimed([8], "ADD 1 TO WS-COUNT.", of="P11")) == [(13, 13)]
    assert lines_of(claimed([11], "ADD 1 TO WS-COUNT.", of=PROGRAM)) == [(13, 13)]


def test_a_slip_over_the_edge_is_moved() -> None:
    """A line just outside the shown ones is a slip if its evidence is inside."""
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
    """Cited lines do not exist or were not shown, or nobody wrote the evidence."""
    verdict = claimed(lines, evidence)
    assert (verdict.outcome, verdict.reason, verdict.citations) == ("rejected", reason, ())


def test_far_away_is_no_slip() -> None:
    """A line that was not shown and is far from its evidence is invented."""
    long = Text("\n".join(["     ADD 1 TO WS-COUNT.", *["     CONTINUE."] * 200]))
    held = shown(long, [(1, 50)], ITEMS, KNOWN)
    assert verify(Claim(PROGRAM, "summary", "Adds.", (180,), "ADD 1 TO WS-COUNT."), held).reason == "elsewhere"


@pytest.mark.proves("C-15")
def test_a_statement_of_one_word_is_evidence_as_a_whole() -> None:
    """`EXIT.` alone on its line is evidence; a header, or one word of a line, is not."""
    assert claimed([14], "EXIT.", "Ends.", "P11").outcome == "accepted"
    assert claimed([11], "WRITE-IT.", "Ends.", "P11").reason == "statement"
    assert claimed([12], "CALL", "Ends.", "P11").reason == "statement"


@pytest.mark.proves("C-15")
@pytest.mark.parametrize("evidence", [", C", ", COLUMN_7", "IF W", "X OR", "OR Y = Z", ", COLUMN_70 IF"])
def test_evidence_has_two_whole_words_or_is_a_line(evidence: str) -> None:
    """A sign or a truncated word is not a word; a line that has no more is evidence as a whole."""
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
    """A number that contradicts the cited lines rejects its claim, one that the code does not have is marked.

    A number in the declaration of a cited name counts as one of the code.
    """
    declared = replace(KNOWN, numbers={"WS-COUNT": frozenset({"250"})})
    held = shown(SOURCE, [(1, 14)], ITEMS, declared)
    verdict = verify(Claim("P2", "summary", text, (8,), "IF WS-COUNT > 10"), held)
    assert (verdict.outcome, verdict.derived) == (outcome, derived)
    assert verdict.reason == ("number" if outcome == "rejected" else "")


@pytest.mark.proves("C-15")
def test_what_is_marked_says_which_numbers_are_the_models_own() -> None:
    """The document shows the reader which figures no line of the program has."""
    assert marked("Sixty, 60.", ("60",)) == "Sixty, 60. Not in the code: 60."
    assert marked("Ten.", ()) == "Ten."


@pytest.mark.proves("C-15")
@given(st.integers(2, 10**9), st.sampled_from(["{:,}", "{}", "{}.00", "{} times", "{}%"]))
def test_a_number_of_the_lines_is_held_in_any_form(number: int, form: str) -> None:
    """Thousands may be grouped and decimals written out: a claim with numbers of its lines is never changed."""
    assert judged(f"It is {form.format(number)}.", "", f"IF A > {number}", {}) == NumberVerdict()


@pytest.mark.parametrize("of", ["P3", "R2", ""])
def test_what_is_not_there_has_nothing_said_about_it(of: str) -> None:
    """An id was not given, or lacks the field."""
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
        "GHOSTPGM is invoked.",
        "The program 'GHOSTPGM' is then called.",
        "It calls 'ghostpgm'.",
        'It calls the program "ghostpgm".',
        "It calls ghost01.",
    ],
)
def test_an_invented_name_is_rejected(text: str) -> None:
    """A word that looks like a name must be a name in the program."""
    assert claimed([3], "READ IN-FILE", text).reason == "name"


def test_names_that_are_listed_are_looked_at_too() -> None:
    """Every word in `names` is a name; qualified and subscripted names are split."""
    assert claimed([3], "READ IN-FILE", "Reads.", "P2", "other").reason == "name"
    assert claimed([3], "READ IN-FILE", "Reads.", "P2", "ws-count OF IN-FILE", "WS-TOTAL(1:X)").holds


@pytest.mark.parametrize(
    "text",
    [
        "Reads IN-FILE until WS-DONE.",
        "An end-of-day job in COMP-3, as ISO-8601 and R120 say; 2024-01-31.",
        "Uses COBOL and VSAM.",
        "AUDIT is called, and WRITE-IT is then invoked; WS-COUNT is called the count.",
        "It calls 'audit' with a count, and calls itself, back, and 2 others.",
        "It calls 'end-of-day' logic, and calls utf8 or base64 conversion.",
        "The paragraph is called ONLY if OK, and NOTHING is called TWICE.",
        "Calls a REST service, and the OS; the API is invoked, and VSAM is called once the ABEND was called.",
        "DAS PROGRAMM IST SO; ABLAUF: liest eine Datei, die KUNDEN hat.",
    ],
)
def test_words_are_not_taken_for_names(text: str) -> None:
    """Hyphenated English, dates and technical terms are not names."""
    assert claimed([3], "READ IN-FILE", text).holds


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Calls PAYROLL.", "call"),
        ("It calls the program 'PAYROLL'.", "call"),
        ("Links to PAYROLL and returns.", "call"),
        ("Calls WS-TOTAL.", "call"),
        ("Control is passed to PAYROLL.", "call"),
        ("Reads the table CUSTOMERS.", "table"),
        ("Reads the PROD.CUSTOMERS table.", "table"),
        ("Uses copybook OTHERBK.", "copybook"),
        ("Uses the OTHERBK copybook.", "copybook"),
    ],
)
def test_a_fact_that_the_code_does_not_have_is_a_contradiction(text: str, reason: str) -> None:
    """A call, table or copybook that was not extracted becomes a question instead of a statement."""
    verdict = claimed([3], "READ IN-FILE", text)
    assert (verdict.outcome, verdict.reason) == ("contradicted", reason)
    assert not verdict.holds


@pytest.mark.parametrize(
    "text",
    [
        "Calls AUDIT with the count.",
        "Calls the paragraph WRITE-IT.",
        "Control passes to WRITE-IT, and is then passed to CICS.",
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
    """Extracted facts may be mentioned."""
    assert claimed([3], "READ IN-FILE", text).holds


def test_a_claim_that_is_said_twice_is_said_once() -> None:
    """The valid duplicate is kept, and gets the other's lines."""
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
    """A chunk of comments proves nothing."""
    held: Shown = shown(Text("* one\n\n* two"), [(1, 3)], ITEMS, KNOWN)
    assert verify(Claim(PROGRAM, "summary", "One.", (1,), "one"), held).reason == "evidence"

"""Programs, divisions, sections, paragraphs and statements are where they are."""

from __future__ import annotations

import pytest

from penstock.cobol import scan
from penstock.cobol.program import Perform

from .sources import fixed, names, one, program, verbs

pytestmark = pytest.mark.proves("C-2")


def test_a_paragraph_goes_from_its_header_to_the_line_before_the_next() -> None:
    """Comments in front of a header belong to the paragraph above it."""
    found = one(program("FIRST-ONE.", "    MOVE A TO B.", "*| about the second", "SECOND-ONE.", "    EXIT."))
    assert [(p.name, p.line, p.end_line, p.first, p.last) for p in found.paragraphs] == [
        ("FIRST-ONE", 4, 6, 0, 1),
        ("SECOND-ONE", 7, 8, 1, 2),
    ]


def test_row_13_code_before_the_first_paragraph_is_an_unnamed_one() -> None:
    """Row 13: it is covered, and it is a caller."""
    found = one(program("    PERFORM LATER.", "    STOP RUN.", "LATER.", "    EXIT."))
    assert names(found) == ["", "LATER"]
    assert found.performs == (Perform(4, "LATER"),)


def test_row_15_a_paragraph_may_be_called_like_the_end_of_a_verb() -> None:
    """Row 15: the scope terminators are a list, not a prefix."""
    assert names(one(program("END-PROGRAM.", "    EXIT.", "END-ROUTINE.", "    EXIT."))) == [
        "END-PROGRAM",
        "END-ROUTINE",
    ]


def test_row_16_sentences_of_one_word_are_no_paragraphs() -> None:
    """Row 16: EXIT, GOBACK, CONTINUE and END-IF alone on a line."""
    found = one(program("A.", "    EXIT.", "B.", "    IF X = 1", "        CONTINUE", "    END-IF.", "    GOBACK."))
    assert names(found) == ["A", "B"]
    assert verbs(found) == ["EXIT", "IF", "CONTINUE", "END-IF", "GOBACK"]


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

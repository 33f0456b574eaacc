"""What do templates hold, and how are they merged? By example."""

from __future__ import annotations

import pytest

from penstock.chunk.merging import merge
from penstock.chunk.template import Citation, Grade, Template, TemplateRecord, Value, folded
from penstock.errors import CallerError

PARAGRAPH = ("program", "section", "name", "start_line")


def one(section: str, key: tuple[str, ...], *records: TemplateRecord) -> Template:
    """Return a template of one section."""
    return Template.of({section: (key, records)})


@pytest.mark.proves("C-8")
def test_overlapping_citations_with_the_same_conditions_are_one_rule() -> None:
    """A rule seen by two chunks has the lines and texts of both."""
    key = ("unit", "conditions")
    first = TemplateRecord.of(
        {"unit": "CHECK", "conditions": ["STATUS = 'A'", "AMOUNT > 0"]}, [Citation(10, 12, "IF STATUS")]
    )
    second = TemplateRecord.of(
        {"unit": "check", "conditions": ["amount > 0", "status = 'A'"], "action": "Reject."}, [Citation(11, 14)]
    )
    other = TemplateRecord.of({"unit": "CHECK", "conditions": ["STATUS = 'a'"]}, [Citation(10, 12)])
    rules = merge([one("rules", key, first), one("rules", key, second, other)])["rules"]
    assert [rule.citations for rule in rules] == [
        (Citation(10, 12, "IF STATUS"), Citation(11, 14)),
        (Citation(10, 12),),
    ]
    assert rules[0].first("action") == "Reject."


@pytest.mark.proves("C-8")
def test_paragraphs_of_one_name_stay_apart() -> None:
    """A paragraph's key includes its section and line, as a name alone is not unique."""
    made = [
        TemplateRecord.of({"program": "P", "section": section, "name": "EXIT-IT", "start_line": line})
        for section, line in [("A", 10), ("B", 20), ("B", 30), ("b", 30)]
    ]
    assert len(merge([one("paragraphs", PARAGRAPH, *made)])["paragraphs"]) == 3


@pytest.mark.proves("C-8")
def test_the_header_comes_from_the_first_and_is_augmented() -> None:
    """A section without a key is one record: the first value comes first, new ones follow."""
    first = TemplateRecord.of({"summary": "Posts payments."}, origin="model")
    second = TemplateRecord.of({"summary": ["posts  payments.", "Prints totals."], "context": "Cards."}, origin="model")
    (purpose,) = merge([one("purpose", (), first), one("purpose", (), second)])["purpose"]
    assert [value.said for value in purpose.fields["summary"]] == ["Posts payments.", "Prints totals."]
    assert purpose.first("context") == "Cards."
    assert purpose.first("nothing") is None


def test_confidence_is_the_least_and_the_weighted_mean() -> None:
    """A text from two answers has the worst of their grades and the mean by claims; an equal grade counts once."""
    said = [Value("Reads.", "model", (), (Grade(chunk, good, bad),)) for chunk, good, bad in [("a", 9, 1), ("b", 1, 1)]]
    (record,) = merge(one("p", (), TemplateRecord.of({"summary": [value]})) for value in [*said, said[0]])["p"]
    (value,) = record.fields["summary"]
    assert value.least == 0.5
    assert value.mean == pytest.approx(10 / 12)
    assert Value("x").least == Value("x").mean == 1.0


def test_citations_of_values_are_citations_of_the_record() -> None:
    """What proves a text proves its item."""
    record = TemplateRecord.of({"summary": Value("x", "model", (Citation(7, 7), Citation(3, 4)))}, [Citation(3, 4)])
    assert record.all_citations() == (Citation(3, 4), Citation(7, 7))


def test_two_keys_for_one_section_are_a_mistake() -> None:
    """All templates must declare the same key."""
    with pytest.raises(CallerError, match="two keys"):
        merge([one("rules", ("a",)), one("rules", ("b",))])


def test_literals_are_compared_to_the_letter() -> None:
    """Blanks and case count only within quotes."""
    assert folded("if  A = 'x  y'") == folded("IF a = 'x  y' ")
    assert folded("A = 'x'") != folded("A = 'X'")
    assert folded(1) != folded(True)
    assert folded(("a", 1)) == folded(("A", 1))
    assert folded("it's one") == folded("IT'S  ONE")

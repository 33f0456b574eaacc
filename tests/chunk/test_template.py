"""What templates hold and how they become one, by example."""

from __future__ import annotations

import pytest

from penstock.chunk.merging import merge
from penstock.chunk.template import Citation, Grade, Template, TemplateRecord, Value, folded
from penstock.errors import CallerError

PARAGRAPH = ("program", "section", "name", "start_line")


def one(section: str, key: tuple[str, ...], *records: TemplateRecord) -> Template:
    """A template of one section."""
    return Template.of({section: (key, records)})


@pytest.mark.proves("C-8")
def test_overlapping_citations_with_the_same_conditions_are_one_rule() -> None:
    """A rule that two chunks saw keeps the lines and the words of both."""
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
    """The key of a paragraph has its section and its line: a name alone is none."""
    made = [
        TemplateRecord.of({"program": "P", "section": section, "name": "EXIT-IT", "start_line": line})
        for section, line in [("A", 10), ("B", 20), ("B", 30), ("b", 30)]
    ]
    assert len(merge([one("paragraphs", PARAGRAPH, *made)])["paragraphs"]) == 3


@pytest.mark.proves("C-8")
def test_the_header_comes_from_the_first_and_is_augmented() -> None:
    """A section without a key is one record: the first word counts, what is new stands behind it."""
    first = TemplateRecord.of({"summary": "Posts payments."}, origin="model")
    second = TemplateRecord.of({"summary": ["posts  payments.", "Prints totals."], "context": "Cards."}, origin="model")
    (purpose,) = merge([one("purpose", (), first), one("purpose", (), second)])["purpose"]
    assert [value.said for value in purpose.fields["summary"]] == ["Posts payments.", "Prints totals."]
    assert purpose.first("context") == "Cards."
    assert purpose.first("nothing") is None


def test_confidence_is_the_least_and_the_weighted_mean() -> None:
    """A text that two answers gave has the worst of their grades and the mean by claims; the same grade counts once."""
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
    """Whoever declares a key declares it for all."""
    with pytest.raises(CallerError, match="two keys"):
        merge([one("rules", ("a",)), one("rules", ("b",))])


def test_literals_are_compared_to_the_letter() -> None:
    """Blanks and case count within quotes only."""
    assert folded("if  A = 'x  y'") == folded("IF a = 'x  y' ")
    assert folded("A = 'x'") != folded("A = 'X'")
    assert folded(1) != folded(True)
    assert folded(("a", 1)) == folded(("A", 1))
    assert folded("it's one") == folded("IT'S  ONE")

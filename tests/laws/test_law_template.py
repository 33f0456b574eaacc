"""The laws of merging templates: it is associative and idempotent, has an identity, and loses nothing.

Drawing templates takes most of the time of these laws, so laws that need a few templates share one draw, and so do those that need
a list.
"""

from __future__ import annotations

from functools import reduce
from itertools import product, starmap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.chunk.merging import merge
from penstock.chunk.template import Citation, Grade, Template, TemplateRecord, Value, folded, key_of

pytestmark = pytest.mark.proves("LAW-Template", "C-8")

KEYS = {"header": (), "paragraphs": ("name", "line"), "rules": ("unit", "conditions"), "questions": ("question",)}
FIELDS = ("name", "line", "unit", "conditions", "question", "summary", "calls")
NAMED = ["MAIN", "Main", "main", "READ-IT", "read-it", "A = 'x'", "a  = 'x'", "A = 'X'", "Wörter", ""]
NAMES = st.sampled_from(NAMED)
PLAIN = st.one_of(NAMES, st.integers(0, 3), st.booleans(), st.tuples(NAMES, NAMES))
# Sampled from all possible values: drawing each member separately took most of the time of these laws.
CITATIONS = st.lists(st.sampled_from([*starmap(Citation, product(range(1, 6), range(1, 6), NAMED))]), max_size=2)
GRADES = st.lists(st.sampled_from([*starmap(Grade, product("xyz", range(5), range(5)))]), max_size=2)
VALUES = st.builds(Value, PLAIN, st.sampled_from(["code", "model"]), CITATIONS.map(tuple), GRADES.map(tuple))
RECORDS = st.builds(
    TemplateRecord.of, st.dictionaries(st.sampled_from(FIELDS), st.lists(VALUES, min_size=1, max_size=3)), CITATIONS
)
TEMPLATES = st.dictionaries(st.sampled_from(sorted(KEYS)), st.lists(RECORDS, max_size=4)).map(
    lambda found: Template.of({name: (KEYS[name], records) for name, records in found.items()})
)


@given(TEMPLATES, TEMPLATES, TEMPLATES)
def test_the_order_of_merging_does_not_matter(one: Template, two: Template, three: Template) -> None:
    """Any grouping and merging all at once give the same template; empty and repeated templates change nothing."""
    at_once = merge([one, two, three])
    assert merge([merge([one, two]), three]) == at_once
    assert merge([one, merge([two, three])]) == at_once
    assert reduce(lambda done, template: merge([done, template]), [one, two, three], Template()) == at_once

    _the_empty_template_changes_nothing(one)
    _a_duplicate_adds_nothing(one, two)


def _the_empty_template_changes_nothing(template: Template) -> None:
    """Check that the empty template is an identity on both sides, and that merging a merged template changes nothing."""
    merged = merge([template])
    assert merge([Template(), template]) == merge([template, Template()]) == merge([merged]) == merged
    assert merge([]) == Template()


def _a_duplicate_adds_nothing(one: Template, two: Template) -> None:
    """Check that a repeated chunk, wherever it occurs, gives the same document."""
    assert merge([one, two, one, two, two]) == merge([one, two])


@given(st.lists(TEMPLATES, max_size=4))
def test_facts_in_are_facts_out(templates: list[Template]) -> None:
    """Every value, citation and grade that went in comes out under its key, once, and nothing else does."""
    assert set(merge(templates).atoms()) == {atom for template in templates for atom in template.atoms()}
    _no_key_stands_twice(templates)
    _what_one_template_says_of_the_code_stays_of_the_code(templates)


def _no_key_stands_twice(templates: list[Template]) -> None:
    """Check that names differing only in case are one name, and that no field states a value twice."""
    for section in merge(templates).sections.values():
        keys = [key_of(record, section.key) for record in section.records]
        assert len(keys) == len(set(keys))
        for record in section.records:
            for values in record.fields.values():
                assert len({folded(value.said) for value in values}) == len(values)


def _what_one_template_says_of_the_code_stays_of_the_code(templates: list[Template]) -> None:
    """Check that a value from the code is never passed on as a model's words."""
    said = {
        (name, key_of(record, section.key), field, folded(value.said))
        for template in templates
        for name, section in template.sections.items()
        for record in section.records
        for field, values in record.fields.items()
        for value in values
        if value.origin == "code"
    }
    for name, section in merge(templates).sections.items():
        for record in section.records:
            for field, values in record.fields.items():
                for value in values:
                    at = (name, key_of(record, section.key), field, folded(value.said))
                    assert (value.origin == "code") == (at in said)

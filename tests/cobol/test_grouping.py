"""Where does a group of words in parentheses end?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.cobol.facts.grouping import behind_groups, closed, listed, outermost, parentheses

WORDS = st.lists(st.sampled_from(["(", ")", ":", ",", "A", "B"]), max_size=12)


@given(WORDS)
def test_a_group_ends_where_its_parenthesis_is_closed(words: list[str]) -> None:
    """One at a time or all at once, the same ends are found; what nothing closes ends with the words."""
    ends = parentheses(words)
    assert {at: closed(words, at) for at in ends} == {at: one.end for at, one in ends.items()}
    assert set(ends) == {at for at, word in enumerate(words) if word == "("}
    for at in range(len(words) + 1):
        behind = behind_groups(words, at)
        assert words[behind : behind + 1] != ["("]
        assert behind == at if words[at : at + 1] != ["("] else behind > at


@given(WORDS)
def test_what_is_outside_of_all_groups_is_in_none(words: list[str]) -> None:
    """A word is outside of parentheses or within a group; one that closes nothing hides nothing behind it."""
    within = {at for start, one in parentheses(words).items() for at in range(start, one.end)}
    outside = [(at, word) for at, word in enumerate(words) if at not in within and word != ")"]
    assert list(outermost(words)) == outside
    assert list(outermost(words, len(words))) == []


@given(WORDS)
def test_listed_parts_are_the_words_without_the_commas_between_them(words: list[str]) -> None:
    """As many parts as commas outside of parentheses, and one more."""
    parts = [list(part) for part in listed(words)]
    commas = [at for at, word in outermost(words) if word == ","]
    assert len(parts) == len(commas) + 1
    assert [word for part in parts for word in part] == [word for at, word in enumerate(words) if at not in commas]

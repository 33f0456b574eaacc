"""Do pages give a list completely?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.text.page import cut

pytestmark = pytest.mark.proves("LAW-Page")


@given(items=st.lists(st.integers()), limit=st.integers(1, 20))
def test_joined_pages_are_the_list(items: list[int], limit: int) -> None:
    """Following `next_offset` from the start gives every item once."""
    joined: list[int] = []
    offset: int | None = 0
    while offset is not None:
        page = cut(items, offset, limit)
        assert page.total == len(items)
        joined += page.items
        offset = page.next_offset
    assert joined == items


def test_a_page_after_the_end_is_empty_and_the_last() -> None:
    """The page has no next offset."""
    page = cut([1, 2, 3], 7, 2)
    assert (page.items, page.next_offset, page.total) == ((), None, 3)

"""The law of `Page`: joined pages equal the list, whatever is listed and however large the pages are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.text import page
from penstock.workspace.deadline import Deadline
from penstock.workspace.listing import MAX_FILES_PER_LIST, list_files
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.proves("L-3")
@given(items=st.lists(st.integers()), limit=st.integers(1, 10))
def test_joined_pages_equal_the_list(items: list[int], limit: int) -> None:
    """Following `next_offset` from 0 visits every item once and ends."""
    joined: list[int] = []
    offset: int | None = 0
    while offset is not None:
        cut = page.cut(items, offset, limit)
        assert cut.total == len(items)
        assert len(cut.items) <= limit
        assert cut.next_offset is None or cut.next_offset > offset
        joined += cut.items
        offset = cut.next_offset
    assert joined == items


@pytest.mark.proves("L-3")
@given(items=st.lists(st.integers(), max_size=5), offset=st.integers(0, 2**63 - 1), limit=st.integers(1, 2**63 - 1))
def test_a_page_anywhere_is_a_slice(items: list[int], offset: int, limit: int) -> None:
    """Past the end a page is empty, and no next offset repeats the same page."""
    cut = page.cut(items, offset, limit)
    assert list(cut.items) == items[offset : offset + limit]
    assert (cut.next_offset is not None) == (bool(cut.items) and offset + limit < len(items))


@pytest.mark.proves("L-3", "L-1")
@pytest.mark.parametrize("limit", [1, 7, 100, 1000])
def test_joined_pages_of_a_folder_equal_its_list(tmp_path: Path, limit: int) -> None:
    """Joined pages equal the list for real files, where a page has at most 100."""
    written = [f"{number % 7}/{number % 3}/{number}" for number in range(230)] + [
        f"{number}" for number in range(7, 20)
    ]
    for name in written:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    root = Root(tmp_path)
    joined: list[str] = []
    offset: int | None = 0
    while offset is not None:
        listing = list_files(root, recursive=True, offset=offset, limit=limit, deadline=Deadline(None))
        assert listing.page.total == len(written)
        assert len(listing.page.items) <= min(limit, MAX_FILES_PER_LIST)
        joined += listing.page.items
        offset = listing.page.next_offset
    assert joined == sorted(written)

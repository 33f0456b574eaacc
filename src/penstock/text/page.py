"""Which items? A page of a longer list, with the way to the next one.

Law: joined pages equal the list. Leaves to others: what the items are and where they come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


class Page(NamedTuple, Generic[T]):
    """A page of a list."""

    items: tuple[T, ...]
    offset: int
    """How many items of the list come before this page."""
    limit: int
    """How many items were asked for at most."""
    total: int | None
    """How many items there are in all; None if that is not known yet."""
    more: bool
    """Whether items follow after this page."""

    @property
    def next_offset(self) -> int | None:
        """The offset of the next page; None if this is the last."""
        return self.offset + len(self.items) if self.more else None


def cut(items: Sequence[T], offset: int, limit: int) -> Page[T]:
    """Return the page of a list that skips `offset` items and takes at most `limit`."""
    taken = tuple(items[offset : offset + limit])
    return Page(
        items=taken,
        offset=offset,
        limit=limit,
        total=len(items),
        # A page that took nothing has no next: its offset would be the same, and paging would not advance.
        more=bool(taken) and offset + len(taken) < len(items),
    )

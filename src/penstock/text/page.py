"""Which items? A page of a longer list, with the way to the next one.

Law: joined pages equal the list. Keeps out: what the items are and where they come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


class Page(NamedTuple, Generic[T]):
    """`items` are those from `offset` (items skipped) on, of `total` (None: not known yet)."""

    items: tuple[T, ...]
    offset: int
    limit: int
    total: int | None
    more: bool

    @property
    def next_offset(self) -> int | None:
        """The offset of the next page, None when this is the last."""
        return self.offset + len(self.items) if self.more else None


def cut(items: Sequence[T], offset: int, limit: int) -> Page[T]:
    """The page of `items` that skips `offset` and takes at most `limit`."""
    taken = tuple(items[offset : offset + limit])
    return Page(
        items=taken,
        offset=offset,
        limit=limit,
        total=len(items),
        more=bool(taken) and offset + len(taken) < len(items),
    )

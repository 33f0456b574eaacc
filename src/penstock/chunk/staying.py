"""What stays when a source is planned again? Units keep the chunk that the last plan gave them, so that an edit affects few chunks.

A chunk that has grown too large gives away as little as possible, all of it to one other chunk; new units go where their ties are
strongest and there is room. Law: every item is in one bin, no bin is above the room unless it holds a single item; if nothing
changed, nothing moves. Leaves to others: whether the result is still good enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .packing import BinRoom, PackedItem, Ties


def stay(
    keys: Sequence[str], items: Sequence[PackedItem], ties: Ties, room: BinRoom, previous: Mapping[str, str]
) -> list[tuple[str | None, list[int]]]:
    """Return the items by bin, each bin with the id that it had in the last plan, None if it is new.

    Args:
        keys: What identifies each item in every version of the file.
        items: The items.
        ties: The worth of having two of them together.
        room: The capacity of a bin.
        previous: The bin that each key had.
    """
    bins: dict[str, list[int]] = {}
    new: list[int] = []
    for at, key in enumerate(keys):
        if key in previous:
            bins.setdefault(previous[key], []).append(at)
        else:
            new.append(at)
    made = [_Bin(name, inside, items) for name, inside in bins.items()]
    homeless = [_given_away(bin_, items, room) for bin_ in made] + [[at] for at in new]
    links: list[dict[int, int]] = [{} for _ in keys]
    for (one, other), weight in ties.items():
        links[one][other] = links[other][one] = weight
    for group in homeless:
        if group:
            _housed(group, made, items, links, room)
    return [(bin_.name, sorted(bin_.inside)) for bin_ in made if bin_.inside]


class _Bin:
    """Items that are together, and their total size."""

    def __init__(self, name: str | None, inside: Iterable[int], items: Sequence[PackedItem]) -> None:
        self.name = name
        self.inside = set(inside)
        self.size = sum(items[at].size for at in self.inside)
        self.answers = sum(items[at].answers for at in self.inside)

    def fits(self, room: BinRoom, *, less: PackedItem | None = None) -> bool:
        """Return whether it would be within the room without a given item; a single item always is."""
        if less is None:
            return len(self.inside) <= 1 or room.holds(self.size, self.answers)
        return len(self.inside) <= 2 or room.holds(self.size - less.size, self.answers - less.answers)


def _given_away(bin_: _Bin, items: Sequence[PackedItem], room: BinRoom) -> list[int]:
    """Return what leaves a bin so that the rest fits: the smallest item that is enough, or the largest ones until it is."""
    # Every moved item changes two chunks, and both are asked about again: moving fewer items is what counts, and of those that
    # are enough alone the smallest changes its new chunk least.
    gone: list[int] = []
    while not bin_.fits(room):
        by_size = sorted(bin_.inside, key=lambda at: (items[at].size, at))
        leaving = next((at for at in by_size if bin_.fits(room, less=items[at])), by_size[-1])
        bin_.inside.remove(leaving)
        bin_.size -= items[leaving].size
        bin_.answers -= items[leaving].answers
        gone.append(leaving)
    return sorted(gone)


def _housed(
    group: list[int], bins: list[_Bin], items: Sequence[PackedItem], links: Sequence[Mapping[int, int]], room: BinRoom
) -> None:
    """Put a group into the bin with the strongest ties that holds it, or into a new one; halved if no bin holds it."""
    moving = _Bin(None, group, items)
    tied: dict[int, int] = {}
    for at in group:
        for other, weight in links[at].items():
            tied[other] = tied.get(other, 0) + weight
    pulls = [sum(tied[other] for other in tied.keys() & bin_.inside) for bin_ in bins]
    for pull, bin_ in sorted(zip(pulls, bins, strict=True), key=lambda both: -both[0]):
        if pull and room.holds(bin_.size + moving.size, bin_.answers + moving.answers):
            bin_.inside |= moving.inside
            bin_.size += moving.size
            bin_.answers += moving.answers
            return
    if moving.fits(room):
        bins.append(moving)
        return
    half = len(group) // 2
    _housed(group[:half], bins, items, links, room)
    _housed(group[half:], bins, items, links, room)

"""What stays where it was? Units keep the chunk that the last plan gave them, so that an edit is felt in few chunks.

A chunk that has grown too large gives away as little as possible, all to one other chunk; what is new goes where it is tied most
and there is room. Law: every item is in one bin, no bin is above the room unless it holds one item alone; where nothing changed,
nothing moves. Keeps out: whether the result is still good enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .packing import Item, Room, Ties


def stay(
    keys: Sequence[str], items: Sequence[Item], ties: Ties, room: Room, previous: Mapping[str, str]
) -> list[tuple[str | None, list[int]]]:
    """The items by bin, each with the id that it had in the last plan, None where it is new."""
    bins: dict[str, list[int]] = {}
    new: list[int] = []
    for at, key in enumerate(keys):
        if key in previous:
            bins.setdefault(previous[key], []).append(at)
        else:
            new.append(at)
    made: list[tuple[str | None, list[int]]] = [*bins.items()]
    homeless = [_given_away(inside, items, room) for _, inside in made] + [[at] for at in new]
    links: list[dict[int, int]] = [{} for _ in keys]
    for (one, other), weight in ties.items():
        links[one][other] = links[other][one] = weight
    for group in homeless:
        if group:
            _housed(group, made, items, links, room)
    return made


def _fits(inside: Iterable[int], items: Sequence[Item], room: Room) -> bool:
    inside = list(inside)
    return len(inside) == 1 or room.holds(sum(items[at].size for at in inside), sum(items[at].answers for at in inside))


def _given_away(inside: list[int], items: Sequence[Item], room: Room) -> list[int]:
    """What leaves a bin so that the rest fits: the smallest item that is enough, or the largest ones until it is."""
    gone: list[int] = []
    while not _fits(inside, items, room):
        by_size = sorted(inside, key=lambda at: (items[at].size, at))
        enough = (at for at in by_size if _fits((other for other in inside if other != at), items, room))
        leaving = next(enough, by_size[-1])
        inside.remove(leaving)
        gone.append(leaving)
    return sorted(gone)


def _housed(
    group: list[int],
    bins: list[tuple[str | None, list[int]]],
    items: Sequence[Item],
    links: Sequence[Mapping[int, int]],
    room: Room,
) -> None:
    """Into the bin that a group is tied to most and that holds it, or into one of its own; halved where it fits into none."""
    pulls = [sum(links[at].get(other, 0) for at in group for other in inside) for _, inside in bins]
    for at in sorted(range(len(bins)), key=lambda at: (-pulls[at], at)):
        inside = bins[at][1]
        if pulls[at] and _fits([*inside, *group], items, room) and not _is_alone(inside, items, room):
            inside += group
            inside.sort()
            return
    if _fits(group, items, room):
        bins.append((None, group))
        return
    half = len(group) // 2
    _housed(group[:half], bins, items, links, room)
    _housed(group[half:], bins, items, links, room)


def _is_alone(inside: Sequence[int], items: Sequence[Item], room: Room) -> bool:
    return len(inside) == 1 and not room.holds(*items[inside[0]])

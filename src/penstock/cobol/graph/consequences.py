"""What follows where a field grows: what gets longer, what is told of it, and in which order.

Law: of each thing one consequence of a kind stands, the nearest, with the greatest length that it needs, as sure as the surest.
Leaves to others: who gets longer (`growth`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from .values import RANK, NodeId

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .holding import GrowingPlace
    from .sizes import Size
    from .values import Certainty, CitedLine, ProgramPart

What = Literal[
    "field",
    "group",
    "record",
    "file",
    "data set",
    "step",
    "too short",
    "cut today",
    "calculated",
    "redefinition",
    "other layout",
    "part",
    "key",
    "length",
    "compared",
    "value",
    "unequal",
    "column",
    "table",
]
_BREAKING: tuple[What, ...] = (
    "too short",
    "redefinition",
    "other layout",
    "part",
    "key",
    "length",
    "compared",
    "value",
    "unequal",
    "column",
)
_STORED: tuple[What, ...] = ("data set", "step", "file", "table")
_ORDER: tuple[What, ...] = (*_BREAKING, *_STORED, "field", "record", "group", "calculated", "cut today")


_OVERRULED: dict[What, tuple[What, ...]] = {
    "cut today": ("too short",),
    "compared": ("field", "record", "group", "too short", "redefinition", "column"),
}
"""What is not told of something where one of some others is."""


class Grown(NamedTuple):
    """One consequence."""

    what: What
    node: NodeId
    bytes: int | None
    """The length now, in bytes; None where it is not known, or where there is none."""
    needed_bytes: int | None
    """The length that it would need, or will have."""
    steps: int
    """How many moves lie between the field and it: 0 for what changes with the field itself."""
    certainty: Certainty
    why: str
    citations: tuple[CitedLine, ...]
    digits: int | None = None
    """The digits before the point that a number has now; None for anything else."""
    needed_digits: int | None = None

    @property
    def is_breaking(self) -> bool:
        """Whether something no longer fits, rather than getting longer with the field."""
        return self.what in _BREAKING

    @property
    def is_stored(self) -> bool:
        """Whether a file, data set, step or table has to be converted."""
        return self.what in _STORED


class Wave(NamedTuple):
    """A field that grows, or would have to."""

    size: Size | None
    """How much the field then holds."""
    certainty: Certainty
    steps: int
    causes: tuple[NodeId | None, ...]
    """What grows before it, each for the one before: None for what was asked for, then names; the last is the one that it grows
    with, itself or another one that the same line of a copybook declares."""
    filled: tuple[CitedLine, ...] = ()
    """The statements that bring it what is longer; none for any."""
    now: Size | None = None
    """How much an item ANY LENGTH holds today, which its declaration does not say; None for any other."""

    def nearness(self) -> tuple[int, int]:
        """Return what waves are ordered by: the surest first, of those the nearest."""
        return RANK[self.certainty], self.steps


class Longer(NamedTuple):
    """A group that gets longer."""

    part: ProgramPart
    at: int
    wave: Wave
    """The surest of what grows in it."""
    place: GrowingPlace
    """The place in the record that grows."""
    causes: frozenset[NodeId | None]
    """What each field in it grows with, and all before the surest of them."""


class Consequences:
    """What is told, while it is found."""

    def __init__(self) -> None:
        self._found: dict[tuple[What, NodeId], Grown] = {}

    def __contains__(self, told: tuple[What, NodeId]) -> bool:
        """Return whether a kind of consequence is told of something."""
        return told in self._found

    def add(
        self,
        what: What,
        node: NodeId,
        lengths: tuple[int | None, int | None],
        steps: int,
        why: str,
        citations: Iterable[CitedLine],
        certainty: Certainty = "is",
        digits: tuple[int | None, int | None] = (None, None),
    ) -> None:
        """Add a consequence; the nearest of its kind stands, with the greatest length that it needs, as sure as the surest."""
        known = self._found.get((what, node))
        said = Grown(what, node, *lengths, steps, certainty, why, tuple(dict.fromkeys(citations)), *digits)
        if known is not None:
            said = said._replace(steps=min(steps, known.steps))
            if RANK[certainty] > RANK[known.certainty]:
                return
            if certainty == known.certainty and _needed(said) <= _needed(known):
                return
        self._found[what, node] = said

    def told(self) -> tuple[Grown, ...]:
        """Return what is told, in the order of its worth."""
        # What takes only a part by one statement may take all of it by another.
        # So what is compared with the field may grow with it.
        told = (
            one
            for one in self._found.values()
            if one.what not in _OVERRULED or not any((what, one.node) in self for what in _OVERRULED[one.what])
        )
        return tuple(sorted(told, key=_worth))


def _worth(one: Grown) -> tuple[int, int, int, int, str]:
    """Return what consequences are ordered by."""
    # What was asked about itself, what breaks, what has to be converted, what may break, what grows of itself, and what takes
    # only a part, which it did before.
    if one.what == "field" and not one.steps:
        kind = 0
    elif one.is_breaking:
        kind = 1 if one.certainty == "is" else 3
    else:
        kind = 2 if one.is_stored else 4 + (one.what in {"calculated", "cut today"})
    return kind, RANK[one.certainty], one.steps, _ORDER.index(one.what), one.node.name


def _needed(one: Grown) -> tuple[int, int]:
    """Return how much something would need."""
    return one.needed_bytes or 0, one.needed_digits or 0

"""What are the consequences of a field that grows, and in which order are they reported?

Law: of the consequences of one kind for a node, the most certain is kept, and of equally certain ones the one that needs most; a
less certain one is kept as well if it needs more than all that are more certain.
Leaves to others: which items get longer (`growth`).
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
"""The kinds that are not reported for a node if one of these other kinds is."""


class Grown(NamedTuple):
    """One consequence of a field that grows."""

    what: What
    node: NodeId
    bytes: int | None
    """The length now, in bytes; None if it is not known or there is none."""
    needed_bytes: int | None
    """The length that it would need, or will have."""
    steps: int
    """The number of moves from the field to it; 0 for what changes with the field itself."""
    certainty: Certainty
    why: str
    citations: tuple[CitedLine, ...]
    digits: int | None = None
    """The number of digits before the decimal point that a number has now; None for anything else."""
    needed_digits: int | None = None

    @property
    def is_breaking(self) -> bool:
        """Whether something no longer fits, rather than growing with the field."""
        return self.what in _BREAKING

    @property
    def is_stored(self) -> bool:
        """Whether a file, data set, step or table has to be converted."""
        return self.what in _STORED


class Wave(NamedTuple):
    """A field that grows, or would have to."""

    size: Size | None
    """How much the field holds after growing."""
    certainty: Certainty
    steps: int
    causes: tuple[NodeId | None, ...]
    """The chain of growing items, each because of the one before: None for the field in question, then nodes. The last is the one
    that it grows with: itself, or another one that the same entry of a copybook declares."""
    filled: tuple[CitedLine, ...] = ()
    """The statements that bring it the longer value; empty if any may."""
    now: Size | None = None
    """How much an ANY LENGTH item holds today, which its declaration does not say; None for any other."""

    def nearness(self) -> tuple[int, int]:
        """Return the sort key of waves: the most certain first, of those the nearest."""
        return RANK[self.certainty], self.steps


class Longer(NamedTuple):
    """A group that gets longer."""

    part: ProgramPart
    at: int
    wave: Wave
    """The most certain wave of the fields in it."""
    place: GrowingPlace
    """The place in the record that grows."""
    causes: frozenset[NodeId | None]
    """What each growing field in it grows with, and the whole chain of the most certain one."""


class Consequences:
    """The consequences found so far."""

    def __init__(self) -> None:
        self._found: dict[tuple[What, NodeId], tuple[Grown, ...]] = {}

    def __contains__(self, told: tuple[What, NodeId]) -> bool:
        """Return whether a kind of consequence is known for a node."""
        return told in self._found

    def of(self, what: What, node: NodeId) -> tuple[Grown, ...]:
        """Return the consequences of a kind for a node, the most certain first; each further one needs more."""
        return self._found.get((what, node), ())

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
        """Add a consequence, unless one of its kind is known that is at least as certain and needs at least as much."""
        known = self.of(what, node)
        said = Grown(what, node, *lengths, steps, certainty, why, tuple(dict.fromkeys(citations)), *digits)
        kept: list[Grown] = []
        for one in sorted((*known, said), key=_weight):
            if not kept or _needs(one) > _needs(kept[-1]):
                kept.append(one)
        nearest = min(steps, *(one.steps for one in known)) if known else steps
        self._found[what, node] = tuple(one._replace(steps=nearest) for one in kept)

    def told(self) -> tuple[Grown, ...]:
        """Return what is reported, the most important first."""
        # What takes only a part by one statement may take all of it by another; likewise, what is compared with the field
        # may grow with it.
        told = (
            one
            for (what, node), alike in self._found.items()
            if not any((other, node) in self for other in _OVERRULED.get(what, ()))
            for one in alike
        )
        return tuple(sorted(told, key=_worth))


def _worth(one: Grown) -> tuple[int, int, int, int, str]:
    """Return the sort key of consequences."""
    # The field itself, what surely breaks, what has to be converted, what may break, what grows with the field, and what is
    # calculated or takes only a part, as it did before.
    if one.what == "field" and not one.steps:
        kind = 0
    elif one.is_breaking:
        kind = 1 if one.certainty == "is" else 3
    else:
        kind = 2 if one.is_stored else 4 + (one.what in {"calculated", "cut today"})
    return kind, RANK[one.certainty], one.steps, _ORDER.index(one.what), one.node.name


def _weight(one: Grown) -> tuple[int, int, int]:
    """Return the sort key of the consequences of a kind: the most certain first, of these the one that needs most."""
    needed_bytes, needed_digits = _needs(one)
    return RANK[one.certainty], -needed_bytes, -needed_digits


def _needs(one: Grown) -> tuple[int, int]:
    """Return how many bytes and digits a consequence needs."""
    return one.needed_bytes or 0, one.needed_digits or 0

"""How are calls hidden that somebody between a client and its provider answers? Removed from answers, restored in requests (W-3).

A client gets one answer where its provider gave several, without the calls that are not its own. In later requests, its message is
replaced by everything that the provider wants to see: split again where the answers met, with calls and results in their places.
Laws: a client never sees a call that is not its own; once restored, the history has everything in its original order; a message
that can no longer be matched stays as it is. Leaves to others: who answers, and where it is remembered (`gateway`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from penstock.text.json_access import field, string

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json


def usage_of(holder: Json) -> dict[str, Json]:
    """Return a copy of the usage that an answer or an event reports; empty if it reports none."""
    usage = field(holder, "usage")
    return {**usage} if isinstance(usage, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenStep:
    """One answer of a provider that held calls hidden from the client."""

    shown: int
    """How much of what the client received is of this answer, in the wire's own measure: blocks, items or characters."""
    calls: tuple[tuple[int, Json], ...]
    """The calls that were removed, each with its position in the answer."""
    results: tuple[Json, ...]
    """The messages that answer the calls."""
    is_last: bool
    """Whether the answer also held the client's own calls, so that it ended here."""


class CallHider(ABC):
    """Joins the answers of one turn into the one that a client gets.

    Args:
        names: the names of the tools whose calls are hidden.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._answers = 0
        """How many answers of the turn have ended."""
        self._output_tokens = 0
        """The output tokens of those answers, for the usage of the joined answer."""
        self._begin()

    def _begin(self) -> None:
        """Reset what applies to one answer only; a wire may reset more."""
        self._hidden = self._others = False
        self._answer_tokens = 0

    def _note_call(self, name: Json) -> bool:
        """Note a call of a tool; return whether it is hidden."""
        is_hidden = string(name) in self._names
        self._hidden, self._others = self._hidden or is_hidden, self._others or not is_hidden
        return is_hidden

    def next_answer(self) -> None:
        """Begin with the next answer of the same turn."""
        self._output_tokens += self._answer_tokens
        self._answers += 1
        self._begin()

    def hides_all(self) -> bool:
        """Whether the newest answer made only hidden calls, so that its end is not the turn's."""
        return self._hidden and not self._others

    @abstractmethod
    def event(self, event: dict[str, Json]) -> list[Json] | None:
        """Return the events that the client gets in place of this one; None to pass it on unchanged."""

    @abstractmethod
    def body(self, body: dict[str, Json]) -> dict[str, Json]:
        """Return the whole answer that the client gets, given the provider's last one."""


class HiddenCalls(Protocol):
    """Hides calls of our own tools from a client, in the way of one wire."""

    def is_possible(self, body: dict[str, Json]) -> bool:
        """Whether a request leaves its model free to call a tool that is added to it."""
        ...

    def hider(self, names: frozenset[str]) -> CallHider:
        """Return the hider that joins the answers of a turn, given the names of the hidden tools."""
        ...

    def calls_in(self, body: Json, names: frozenset[str]) -> tuple[tuple[tuple[int, Json], ...], int, bool]:
        """Return an answer's hidden calls with their positions, how much else it shows, and whether it holds other calls."""
        ...

    def put_back(self, behind: Sequence[Json], steps: Sequence[HiddenStep]) -> PutBack | None:
        """Return what the provider wants to see in place of the first of a client's messages; None if that cannot be determined.

        Args:
            behind: the client's messages from the answer on.
            steps: what was answered in that turn, not empty.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PutBack:
    """The replacement for the first of a client's messages."""

    messages: tuple[tuple[Json, int | None], ...]
    """The messages, each with the position of the client's message that it was made from; None if the client does not know it."""
    taken: int
    """How many of the client's messages they replace."""

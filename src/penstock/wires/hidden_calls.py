"""Calls that somebody between a client and its provider answers: taken out of answers, and put back into later requests (W-3).

A client gets one answer where its provider gave several, without the calls that are not its own. In later requests its message
stands where the provider wants to see all of what was said: cut again where the answers met, with calls and results in their
places. Laws: a client never sees a call that is not its own; put back, the history has what was said in its order; a message that
cannot be told apart any more stays as it is. Keeps out: who answers, and where it is remembered (`gateway`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from penstock.text.json_access import string

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenStep:
    """One answer of a provider that held calls which its client does not see."""

    shown: int
    """How much of what the client got is of this answer, in the wire's own measure: blocks, items or characters."""
    calls: tuple[tuple[int, Json], ...]
    """The calls that were taken out, each with its place among what the answer held."""
    results: tuple[Json, ...]
    """The messages that answer them."""
    is_last: bool
    """Whether the client's own calls stood beside them, so that the answer ended here."""


class CallHider(ABC):
    """The answers of one turn, put together to the one that a client gets.

    Args:
        names: of the tools whose calls are hidden.
    """

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._answers = 0
        """How many answers of the turn have ended."""
        self._output_tokens = 0
        """What those took, for the usage of the one answer."""
        self._begin()

    def _begin(self) -> None:
        """Forget what holds for one answer only; a wire forgets more."""
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
        """Whether the newest answer called nothing but what is hidden, so that its end is not the turn's."""
        return self._hidden and not self._others

    @abstractmethod
    def event(self, event: dict[str, Json]) -> list[Json] | None:
        """Return the events that the client gets in place of this one; None for this one as it is."""

    @abstractmethod
    def body(self, body: dict[str, Json]) -> dict[str, Json]:
        """Return the whole answer that the client gets, given the last of the provider's."""


class HiddenCalls(Protocol):
    """Hides calls of our own tools from a client, in the way of one wire."""

    def is_possible(self, body: dict[str, Json]) -> bool:
        """Whether a request leaves its model free to call a tool that is added to it."""
        ...

    def hider(self, names: frozenset[str]) -> CallHider:
        """Return what puts the answers of a turn together; the names are those of the hidden tools."""
        ...

    def calls_in(self, body: Json, names: frozenset[str]) -> tuple[tuple[tuple[int, Json], ...], int, bool]:
        """Return the hidden calls of an answer with their places, how much else it shows, and whether others stand beside them."""
        ...

    def put_back(self, behind: Sequence[Json], steps: Sequence[HiddenStep]) -> PutBack | None:
        """Return what the provider wants to see in place of the first of a client's messages; None where that cannot be told.

        Args:
            behind: the client's messages from the answer on.
            steps: what was answered in that turn, not empty.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PutBack:
    """What stands in place of the first of a client's messages."""

    messages: tuple[tuple[Json, int | None], ...]
    """Each with the place of the client's message that it was made of; None for what the client does not know."""
    taken: int
    """How many of the client's messages they stand for."""

"""Which calls has the gateway answered itself? Remembered, and put back into every later request in their places (W-3).

The client does not know about them: its history shows one message where the provider said and heard more. They are found by a
digest of what the client had sent before that message, and are kept in the store, so that any process puts the same bytes back.
Law: what is put back is what was said; somebody else's history, or one that diverged, gets nothing. Leaves to others: how a message
is taken apart (`wires`).
"""

from __future__ import annotations

import json
import threading
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from penstock.wires import wire_named
from penstock.wires.digests import chain_of, opening_digest
from penstock.wires.hidden_calls import HiddenStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.store import Store
    from penstock.text.json_access import Json

MAX_TURNS = 64
"""How many turns are remembered for histories that begin with the same message, the newest."""


class WholeHistory(NamedTuple):
    """A client's history with the parts that it does not know."""

    messages: list[Json]
    origins: list[int | None]
    """The position of each in the client's own list; None for a message that it did not send."""
    is_more: bool
    """Whether anything was put back."""


class _Turn(NamedTuple):
    length: int
    """How many messages the client had sent."""
    digest: str
    steps: tuple[HiddenStep, ...]


class HiddenTurns:
    """The turns in which the gateway answered calls, for all clients.

    Args:
        store: where they are kept.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()

    def put_back(self, owner: str, wire: str, messages: list[Json]) -> WholeHistory:
        """Return a client's history with the calls that were answered for it, and their results."""
        turns = self._turns(_name(owner, wire, messages))
        hidden = wire_named(wire).answers.hidden_calls
        plain = WholeHistory(messages, list(range(len(messages))), is_more=False)
        if not turns or hidden is None:
            return plain
        digests = chain_of(messages)
        # Of two with the same beginning, as when a client retries, the newer one is the one that it continued.
        found = {
            turn.length: turn
            for turn in turns
            if turn.length < len(messages) and digests[turn.length - 1] == turn.digest
        }
        if not found:
            return plain
        made: list[Json] = []
        origins: list[int | None] = []
        place = 0
        while place < len(messages):
            back = hidden.put_back(messages[place:], found[place].steps) if place in found else None
            # A message that can no longer be taken apart stays as it is.
            for message, origin in back.messages if back is not None else ((messages[place], 0),):
                made.append(message)
                origins.append(None if origin is None else place + origin)
            place += back.taken if back is not None else 1
        return WholeHistory(made, origins, is_more=any(one is not other for one, other in zip_longest(made, messages)))

    def remember(self, owner: str, wire: str, messages: list[Json], steps: Sequence[HiddenStep]) -> None:
        """Keep what was answered in the turn that follows a client's messages."""
        name, digests = _name(owner, wire, messages), chain_of(messages)
        made = _Turn(len(messages), digests[-1], tuple(steps))
        with self._lock:
            others = [turn for turn in self._turns(name) if (turn.length, turn.digest) != made[:2]]
            self._store.learn(name, _written([*others, made][-MAX_TURNS:]))

    def _turns(self, name: str) -> list[_Turn]:
        try:
            found = self._store.learned(name)
            return _turns_of(found[0]) if found else []
        # Without the store the model has read something that its history does not show: it can ask again.
        except Exception:  # noqa: BLE001 - a foreign store
            return []


def _name(owner: str, wire: str, messages: Sequence[Json]) -> str:
    return f"gateway turns {owner} {wire} {opening_digest(messages, wire)}"


def _written(turns: Sequence[_Turn]) -> str:
    rows = [
        [turn.length, turn.digest, [[step.shown, step.calls, step.results, step.is_last] for step in turn.steps]]
        for turn in turns
    ]
    return json.dumps(rows, separators=(",", ":"))


def _turns_of(text: str) -> list[_Turn]:
    """Return the turns in text from `_written`; empty for another version's text."""
    try:
        return [_Turn(int(length), str(digest), tuple(map(_step, steps))) for length, digest, steps in json.loads(text)]
    except (ValueError, TypeError):
        return []


def _step(row: Json) -> HiddenStep:
    shown, calls, results, is_last = row
    placed = tuple((int(place), call) for place, call in calls)
    return HiddenStep(shown=int(shown), calls=placed, results=tuple(results), is_last=bool(is_last))

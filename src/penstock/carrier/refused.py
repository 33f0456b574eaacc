"""Which requests did a provider refuse? Remembered, so that none of them is sent again as it was (R-5).

A refusal may state no number, and what usage shows of a provider says nothing of its window: what is certain is that this
very request was too large, and any that begins with all of its messages and has everything else alike. Law: what was refused
is not sent again by who remembers it. Leaves to others: clocks and locks (`Carrier`), and what is sent instead (`course`).
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from penstock.overflow import Overflow
from penstock.wires import messages_of, wire_named

if TYPE_CHECKING:
    from penstock.text.json_access import Json

# Each is some hundred bytes: a digest, and what the provider said.
MAX_REFUSED = 1_024
"""How many refused requests are remembered, the newest."""


class _Said(NamedTuple):
    overflow: Overflow
    at_seconds: float


class RefusedRequests:
    """Requests that a provider refused for their size, by digests of what they held.

    Args:
        wire: the wire on which the requests are written.
        lifetime_seconds: how long a refusal is believed.
    """

    def __init__(self, wire: str, lifetime_seconds: float) -> None:
        self._wire, self._lifetime_seconds = wire, lifetime_seconds
        self._said: dict[bytes, _Said] = {}

    def add(self, request: Json, overflow: Overflow, now_seconds: float, plan: str = "") -> None:
        """Remember that a request was refused, with which words, and under whose limits."""
        for whole in self._digests(request, plan)[-1:]:
            self._said.pop(whole, None)  # so that it counts among the newest
            self._said[whole] = _Said(overflow, now_seconds)
        while len(self._said) > MAX_REFUSED:
            del self._said[next(iter(self._said))]

    def said_of(self, request: Json, now_seconds: float, plan: str = "") -> Overflow | None:
        """Return what was said of a request, or of one that it begins with, under these limits; None where nothing was refused.

        Of a longer one the sizes that were stated are not true, only the limit.
        """
        if not self._said:
            return None
        found: Overflow | None = None
        for digest in self._digests(request, plan):
            said = self._said.get(digest)
            is_believed = said is not None and now_seconds - said.at_seconds < self._lifetime_seconds
            if said is not None and is_believed:
                found = said.overflow
            elif found is not None:
                found = Overflow(kind=found.kind, limit=found.limit, unit=found.unit)
        return found

    def _digests(self, request: Json, plan: str) -> list[bytes]:
        """Return digests of a request's first message, of its first two, … with everything else that it holds; the last is of all.

        None of what JSON cannot hold: it could not be told from another.
        """
        messages = messages_of(request, self._wire)
        key = wire_named(self._wire).body.messages_key
        rest = {name: held for name, held in request.items() if name != key} if isinstance(request, dict) else None
        made: list[bytes] = []
        try:
            digest = hashlib.sha256(plan.encode() + _written(rest))
            for message in messages if isinstance(messages, list) else [messages]:
                digest.update(b"\0" + _written(message))
                made.append(digest.digest())
        except (TypeError, ValueError, RecursionError):
            return []
        return made


def _written(value: Json) -> bytes:
    """Return a value as JSON, keys in their order; bytes, which one wire carries, as their representation."""
    return json.dumps(value, default=repr).encode()

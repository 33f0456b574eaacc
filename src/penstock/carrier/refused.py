"""Which requests did a provider refuse? They are remembered so that none of them is sent again unchanged (R-5).

A refusal may state no number, and a provider's usage says nothing about its window. What is certain is that this very request was
too large, and so is any request that begins with all of its messages and is otherwise identical. Law: whoever remembers a refused
request does not send it again. Leaves to others: clocks and locks (`Carrier`), and what is sent instead (`course`).
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from penstock.overflow import Overflow
from penstock.overflow.learned import LIFETIME_SECONDS
from penstock.wires import messages_of, wire_named

if TYPE_CHECKING:
    from penstock.text.json_access import Json

# Each takes some hundred bytes: a digest, and what the provider said.
MAX_REFUSED = 1_024
"""How many of the newest refused requests are remembered."""


class _Said(NamedTuple):
    overflow: Overflow
    at_seconds: float


class RefusedRequests:
    """Requests that a provider refused for their size, identified by digests of their content.

    Args:
        wire: the wire on which the requests are written.
    """

    def __init__(self, wire: str) -> None:
        self._wire = wire
        self._said: dict[bytes, _Said] = {}

    def add(self, request: Json, overflow: Overflow, now_seconds: float, plan: str = "") -> None:
        """Remember a refused request, what the provider said of it, and under which limits."""
        for whole in self._digests(request, plan)[-1:]:
            self._said.pop(whole, None)  # so that it becomes the newest
            self._said[whole] = _Said(overflow, now_seconds)
        while len(self._said) > MAX_REFUSED:
            del self._said[next(iter(self._said))]

    def said_of(self, request: Json, now_seconds: float, plan: str = "") -> Overflow | None:
        """Return what was said of a request or of a prefix of it under these limits; None if none of them was refused.

        For a request longer than the refused one, the stated sizes do not hold, only the limit does.
        """
        if not self._said:
            return None
        found: Overflow | None = None
        for digest in self._digests(request, plan):
            said = self._said.get(digest)
            is_believed = said is not None and now_seconds - said.at_seconds < LIFETIME_SECONDS
            if said is not None and is_believed:
                found = said.overflow
            elif found is not None:
                found = Overflow(kind=found.kind, limit=found.limit, unit=found.unit)
        return found

    def _digests(self, request: Json, plan: str) -> list[bytes]:
        """Return digests of a request's first message, its first two, …, each with all other fields; the last covers everything.

        There are none if JSON cannot represent the request, because digests could not identify it.
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
    """Return a value as JSON, with keys in their given order; bytes, which one wire carries, as their representation."""
    return json.dumps(value, default=repr).encode()

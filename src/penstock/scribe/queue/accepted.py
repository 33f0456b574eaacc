"""What was accepted: answers under the hash of everything that they depend on, each accepted once, by one statement.

Whatever the engine does, and however often a question is asked, the first answer that comes is the answer; one that comes later is
counted and dropped. The database decides that, in a function (`schema`): no worker needs a right to change what was accepted. Law:
for each content, model and instructions there is one accepted answer; what was accepted is found by every later run. Keeps out:
whether it is true, which is looked at again each time it is read (`asking`).
"""

from __future__ import annotations

import json
import os
import threading
import time
from typing import TYPE_CHECKING

from penstock.scribe.results import key_of
from penstock.text.json_access import field, parsed, string

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from penstock.scribe.queue.database import Database
    from penstock.text.json_access import Json

_NEVER = "-infinity"
_BELIEVED_SECONDS = 1.0


class UnansweredKeys:
    """What nobody had answered a moment ago: whoever is about to ask some questions looks once for all. Threads share it.

    It is believed for a second, and once: who asks comes back with an answer, which the next who wants it has to find.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def note(self, keys: Iterable[str], looked: float) -> None:
        """Remember that there was no answer under some keys at a time, in seconds of the clock."""
        with self._lock:
            now = self._clock()
            self._until = {key: until for key, until in self._until.items() if until > now}
            self._until.update(dict.fromkeys(keys, looked + _BELIEVED_SECONDS))

    def take(self, key: str) -> bool:
        """Return whether there was no answer within the last second, as far as is known; the next time it is not known."""
        with self._lock:
            return self._until.pop(key, 0.0) > self._clock()


class Accepted:
    """The answers of a queue, as one run sees them: a `Results` that any number of machines share.

    Args:
        database: Where they are.
        run: The number of the run.
        since: What was accepted before that is not seen: it is asked about again. None for nothing.
        assignments: What is known of the plans of this run's files, by their keys. They belong to the run and to no other: its
            workers must all come to the same chunks.
        unanswered: What is known to have no answer; None for nothing.
    """

    def __init__(
        self,
        database: Database,
        run: int,
        *,
        since: datetime | None = None,
        assignments: Mapping[str, Json] | None = None,
        unanswered: UnansweredKeys | None = None,
    ) -> None:
        self._database, self._run, self._since = database, run, since or _NEVER
        self._assignments = assignments or {}
        self._unanswered = unanswered

    def get(self, key: str, /) -> Json:
        """Return what was put under a key, None for nothing."""
        if key in self._assignments:
            return self._assignments[key]
        if self._unanswered is not None and self._unanswered.take(key):
            return None
        found = self._database.rows(
            "SELECT value, run FROM answers WHERE key = %(key)s AND accepted_at >= %(since)s",
            key=bytes.fromhex(key),
            since=self._since,
        )
        if not found:
            return None
        ((text, run),) = found
        value = parsed(str(text))[1]
        if run == self._run:
            self._found_own(key, value)
        return value

    def _found_own(self, key: str, value: Json) -> None:
        """Take note of what was found, and was accepted from a worker of this very run."""

    def put(self, key: str, value: Json, /) -> None:
        """Keep a value, unless another was accepted before: once this returns, no kill loses what was accepted."""
        if key in self._assignments:
            return
        refused = tokens if type(tokens := field(value, "refused_tokens")) is int else None
        kind = "refusal" if refused is not None else "broken" if field(value, "is_broken") is True else "answer"
        self._database.keep(
            "SELECT accept_v1(%(key)s, %(kind)s, %(value)s, %(refused)s, %(nonce)s, %(run)s)",
            key=bytes.fromhex(key),
            kind=kind,
            value=json.dumps(value, ensure_ascii=True, separators=(",", ":")),
            refused=refused,
            nonce=os.urandom(12),
            run=self._run,
        )

    def put_reason(self, key: str, reason: str) -> None:
        """Keep why there is no answer to a question that has no row of its own: part of a chunk that was too large."""
        self.put(_reason_key(key), {"reason": reason, "is_broken": True})

    def reason(self, key: str) -> str:
        """Return what was kept so; "" for nothing."""
        return string(field(self.get(_reason_key(key)), "reason"))


def _reason_key(key: str) -> str:
    return key_of("reason", key)


class Planning:
    """Results of a file that is only planned: what its plan puts is caught, and nothing is read."""

    def __init__(self, previous: Json = None) -> None:
        self.assignment: Json = previous

    def get(self, key: str, /) -> Json:
        """Return the plan that this one keeps to."""
        del key
        return self.assignment

    def put(self, key: str, value: Json, /) -> None:
        """Remember a plan."""
        del key
        self.assignment = value

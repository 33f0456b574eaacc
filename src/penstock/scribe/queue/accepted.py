"""Which answers were accepted? They are kept under the hash of everything they depend on, each accepted once, by one statement.

Whatever the engine does, and however often a question is asked, the first answer to arrive is the answer; a later one is counted
and dropped. A function in the database decides that (`schema`), so that no worker needs the right to change what was accepted. Law:
for each content, model and instructions there is one accepted answer, and every later run finds it. Leaves to others: whether it is
true, which is verified again each time it is read (`asking`).
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
    """Keys that had no answer a moment ago: a thread about to ask several questions looks once for all. Threads share it.

    An entry is valid for a second, and once: whoever asks returns with an answer, which the next to want it must find.
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
        """Return whether a key is known to have had no answer within the last second; the entry is consumed."""
        with self._lock:
            return self._until.pop(key, 0.0) > self._clock()


class Accepted:
    """The answers of a queue, as one run sees them: a `Results` that any number of machines share.

    Args:
        database: The queue.
        run: The number of the run.
        since: Answers accepted before this time are not seen, and are asked for again. None to see all.
        assignments: The known plans of this run's files, by their keys. They belong to this run only: its workers must all make the
            same chunks.
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
        """Return what was put under a key, or None."""
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
        """Take note of an answer that was found, and was accepted from a worker of this same run."""

    def put(self, key: str, value: Json, /) -> None:
        """Keep a value unless another was accepted before: once this returns, no kill loses what was accepted."""
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
        """Keep why there is no answer to a question without its own row: part of a chunk that was too large."""
        self.put(_reason_key(key), {"reason": reason, "is_broken": True})

    def reason(self, key: str) -> str:
        """Return what `put_reason` kept; "" for nothing."""
        return string(field(self.get(_reason_key(key)), "reason"))


def _reason_key(key: str) -> str:
    return key_of("reason", key)


class Planning:
    """Results of a file that is only planned: the plan is captured, and no answers are read."""

    def __init__(self) -> None:
        self.assignment: Json = None

    def get(self, key: str, /) -> Json:
        """Return the plan that the new one should keep to."""
        del key
        return self.assignment

    def put(self, key: str, value: Json, /) -> None:
        """Remember a plan."""
        del key
        self.assignment = value

"""What was accepted: answers under the hash of everything that they depend on, each accepted once, by one statement.

Whatever the engine does, and however often a question is asked, the first answer that comes is the answer; one that comes later is
counted and dropped. A refusal for size gives way to an answer: the chunk has become smaller. Law: for each content, model and
instructions there is one accepted answer; what was accepted is found by every later run. Keeps out: whether it is true, which is
looked at again each time it is read (`asking`).
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from penstock.text.json_access import field, parsed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from penstock.scribe.queue.database import Database
    from penstock.text.json_access import Json

# One statement, and so one decision: of two workers with an answer to one question the second finds the row of the first. The
# nonce says whose answer it is, also to the one whose COMMIT was lost and who asks again.
_ACCEPT = """
INSERT INTO answers AS known (key, kind, value, nonce, run)
VALUES (%(key)s, %(kind)s, %(value)s, %(nonce)s, %(run)s)
ON CONFLICT (key) DO UPDATE SET
    kind = CASE WHEN {free} THEN excluded.kind ELSE known.kind END,
    value = CASE WHEN {free} THEN excluded.value ELSE known.value END,
    run = CASE WHEN {free} THEN excluded.run ELSE known.run END,
    accepted_at = CASE WHEN {free} THEN excluded.accepted_at ELSE known.accepted_at END,
    nonce = CASE WHEN {free} THEN excluded.nonce ELSE known.nonce END,
    late = known.late + CASE WHEN {free} OR known.nonce = excluded.nonce THEN 0 ELSE 1 END
""".format(free="(known.kind = 'refusal' OR known.accepted_at < %(since)s)")
_NEVER = "-infinity"


class Accepted:
    """The answers of a queue, as one run sees them: a `Results` that any number of machines share.

    Args:
        database: Where they are.
        run: The number of the run.
        since: What was accepted before that is not seen: it is asked about again. None for nothing.
        assignments: What is known of the plans of this run's files, by their keys. They belong to the run and to no other: its
            workers must all come to the same chunks.
    """

    def __init__(
        self,
        database: Database,
        run: int,
        *,
        since: datetime | None = None,
        assignments: Mapping[str, Json] | None = None,
    ) -> None:
        self._database, self._run, self._since = database, run, since or _NEVER
        self._assignments = assignments or {}

    def get(self, key: str, /) -> Json:
        """Return what was put under a key, None for nothing."""
        if key in self._assignments:
            return self._assignments[key]
        found = self._database.rows(
            "SELECT value FROM answers WHERE key = %(key)s AND accepted_at >= %(since)s",
            key=bytes.fromhex(key),
            since=self._since,
        )
        return parsed(str(found[0][0]))[1] if found else None

    def put(self, key: str, value: Json, /) -> None:
        """Keep a value, unless another was accepted before: once this returns, no kill loses what was accepted."""
        if key in self._assignments:
            return
        kind = "refusal" if type(field(value, "refused_tokens")) is int else "answer"
        self._database.rows(
            _ACCEPT,
            key=bytes.fromhex(key),
            kind=kind,
            value=json.dumps(value, ensure_ascii=True, separators=(",", ":")),
            nonce=os.urandom(12),
            run=self._run,
            since=self._since,
        )


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

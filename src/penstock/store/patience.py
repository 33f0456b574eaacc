"""How long does a connection to PostgreSQL wait for the server's next message? Up to a limit, and no longer.

If the server, or a pooler in front of it, is frozen, psycopg waits forever, and takes ten seconds to react to Ctrl-C. Law: every
wait ends, with an answer or with the connection; in the latter case nobody knows whether the statement was executed, as after any
lost connection.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
import psycopg.waiting

if TYPE_CHECKING:
    from collections.abc import Generator

_Answer = TypeVar("_Answer")
_INTERVAL_SECONDS = 0.02  # after this long without a message psycopg checks the clock, and Python its signals


class PatientConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection of psycopg whose statements always end.

    Attributes:
        answer_seconds: How long the server may stay silent during a statement; then the connection is closed.
    """

    answer_seconds = 30.0

    def wait(
        self, gen: Generator[Any, Any, _Answer], interval: float = _INTERVAL_SECONDS, timeout: float | None = None
    ) -> _Answer:
        """Return the server's answer; psycopg calls this for every statement.

        Raises:
            psycopg.OperationalError: The server stays silent.
        """
        patience = self.answer_seconds if timeout is None else timeout
        try:
            return psycopg.waiting.wait(_limited(gen, patience), self.pgconn.socket, interval)
        except BaseException as error:
            if isinstance(error, _Silence) or not isinstance(error, Exception):
                self.pgconn.finish()  # once the server notices, it abandons the statement, and whatever waits for it proceeds
            raise


class _Silence(psycopg.OperationalError):
    """Silence for too long."""


def _limited(gen: Generator[Any, Any, _Answer], patience_seconds: float) -> Generator[Any, Any, _Answer]:
    """Relay what psycopg waits for and what arrives, and give up if nothing arrives for too long."""
    came: Any = None
    heard = time.monotonic()
    while True:
        try:
            wanted = gen.send(came)  # what needs no message has ended already
        except StopIteration as end:
            answer: _Answer = end.value
            return answer
        came = yield wanted
        if came:
            heard = time.monotonic()
        elif time.monotonic() - heard > patience_seconds:
            raise _Silence(f"it has not answered for {patience_seconds:g} s")

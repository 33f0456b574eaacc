"""How do all workers together keep to what a key may ask of a model per minute? With a row in the database for each key and model.

Before a request is sent its estimated tokens are reserved; when its answer has come they are settled by actual use; a 429 holds
everybody until the provider wants to be asked again. Law: in any minute there are no more grants than the limit, by the database's
clock, whoever is killed: what was reserved and never used expires with its minute. A grant that is not used within two seconds is
void. Leaves to others: where a limit comes from.
"""

from __future__ import annotations

import random
import threading
import time
from contextlib import suppress
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.models import Cancelled
from penstock.overflow import diagnose
from penstock.scribe.pool import REPLY_TOKENS
from penstock.scribe.queue.schema import LONGEST_HOLD_SECONDS
from penstock.store import StoreFault
from penstock.text.json_access import whole_number
from penstock.text.notices import duration
from penstock.text.tokens import best_counter
from penstock.wires import output_tokens
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.models import Model
    from penstock.overflow import Diagnosis
    from penstock.scribe.queue.database import Database
    from penstock.text.json_access import Json

GRANT_SECONDS = 2.0
"""How long a grant may be used; the window of the limits is longer by the same amount."""
PATIENCE_SECONDS = 30.0
"""How long a thread waits for its turn before it takes other work, perhaps with another model."""
_BEGUN_SECONDS = 600.0  # as `PATIENCE_SECONDS`, if an answer has already come
_LOOK_SECONDS = 1.0  # how long a key is assumed to be without limits and holds
_LONGEST_SECONDS = 5.0  # of one wait: others may have returned what they had reserved
_MOST_TOKENS = 1_000_000_000  # of a request or its answer: a provider that reports more says nothing
_OUTAGE_SECONDS = 10.0  # how long a key is held if its provider names no time for a rate limit


class Bucket:
    """The limits of one key for one model.

    Args:
        database: The queue.
        key: The name of the key; its secret is nowhere near.
        model: The model, wire included.
        clock: A monotonic clock in seconds.
    """

    def __init__(
        self, database: Database, key: str, model: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._database, self._of, self._clock = database, {"key": key, "model": model}, clock
        self._free_until = 0.0

    def is_free(self) -> bool:
        """Return whether the key had neither limits nor a hold when last checked, at most a second ago."""
        return self._clock() < self._free_until

    def take(self, tokens: int) -> tuple[int, float]:
        """Return the second in which a request may be sent, and 0; or 0, and after how many seconds to ask again.

        A key without limits or a hold is checked once a second: then both the second and the wait are 0.
        """
        now = self._clock()
        if self.is_free():
            return 0, 0.0
        bounded = self._database.rows(
            """SELECT requests IS NOT NULL OR tokens IS NOT NULL OR hold_until > clock_timestamp()
               FROM limits WHERE key = %(key)s AND model = %(model)s""",
            **self._of,
        )
        if not any(row[0] for row in bounded):
            self._free_until = now + _LOOK_SECONDS
            return 0, 0.0
        ((slot, wait),) = self._database.rows(
            "SELECT * FROM take_v2(%(key)s, %(model)s, %(tokens)s)", **self._of, tokens=tokens
        )
        return int(slot), float(wait)

    def settle(self, slot: int, change_tokens: int) -> None:
        """Replace what was reserved by what was used; a second more than a minute ago does not exist any more."""
        if slot and change_tokens:
            # If that fails, the reservation stays, which is more. The answer has come, and must not be lost because of it.
            with suppress(StoreFault):
                self._database.rows(
                    "SELECT settle_v1(%(key)s, %(model)s, %(slot)s, %(change)s)",
                    **self._of,
                    slot=slot,
                    change=change_tokens,
                )

    def hold(self, seconds: float) -> None:
        """Let nobody ask with this key for a number of seconds, at most an hour; a longer hold stays."""
        self._free_until = 0.0
        self._database.rows("SELECT hold_v1(%(key)s, %(model)s, %(seconds)s)", **self._of, seconds=seconds)


def set_limits(
    database: Database,
    key: str,
    model: str,
    requests: int | None,
    tokens: int | None,
    *,
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Set what a key may ask of a model per minute; None for no limit.

    Once this returns, workers keep to it: they assume for a moment that a key without limits still has none, which is waited for.
    """
    before = database.rows(
        "SELECT requests, tokens FROM limits WHERE key = %(key)s AND model = %(model)s", key=key, model=model
    )
    database.rows(
        """INSERT INTO limits (key, model, requests, tokens) VALUES (%(key)s, %(model)s, %(requests)s, %(tokens)s)
           ON CONFLICT (key, model) DO UPDATE SET requests = excluded.requests, tokens = excluded.tokens""",
        key=key,
        model=model,
        requests=requests,
        tokens=tokens,
    )
    if (requests or tokens) and not any(one for row in before for one in row):
        pause(_LOOK_SECONDS + GRANT_SECONDS)


class Tally(NamedTuple):
    """What a thread's questions took since the last tally, and how the last of them ended."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    held_seconds: float = 0.0
    """How long to wait if there was no turn; 0 if there was."""
    diagnosis: Diagnosis | None = None
    """Why the last one was refused; None if it was answered."""


class MeteredModel:
    """A model that asks when it is its turn, and reports usage. Threads share it.

    Args:
        model: The model to ask.
        bucket: The limits of its key.
        given_up: Returns whether nobody waits any more.
        say: Called with what a person should know.
        patience_seconds: How long one question waits for its turn.
        clock: A monotonic clock in seconds.
        pause: Waits for a number of seconds.
    """

    def __init__(
        self,
        model: Model,
        bucket: Bucket,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
        given_up: Callable[[], bool] = lambda: False,
        say: Callable[[str], object] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._model, self._bucket, self._given_up, self._say = model, bucket, given_up, say
        self._clock, self._pause, self._patience_seconds = clock, pause, patience_seconds
        self._counter = best_counter(model.name)
        self._tallies = threading.local()
        self._listens = "cancelled" in signature(model.send).parameters
        self.wire, self.name, self.window_tokens = model.wire, model.name, model.window_tokens

    def tally(self, is_wanted: Callable[[], bool] = lambda: True) -> Tally:
        """Return what this thread's questions took, and start a new tally.

        Args:
            is_wanted: Returns whether the next question should still be asked once it has its turn; not called after an answer,
                since what was begun is finished.
        """
        made: Tally = getattr(self._tallies, "value", Tally())
        self._tallies.value, self._tallies.is_wanted, self._tallies.is_begun = Tally(), is_wanted, False
        return made

    def is_begun(self) -> bool:
        """Return whether this thread has had an answer since its last tally: further questions belong to it, and are waited for."""
        return bool(getattr(self._tallies, "is_begun", False))

    def _add(self, **changes: Any) -> None:
        known: Tally = getattr(self._tallies, "value", Tally())
        self._tallies.value = known._replace(**changes)

    def send(self, request: dict[str, Json], /, *, cancelled: Any = None) -> dict[str, Json]:
        """Return the answer to a request, which is sent when its key allows it.

        Raises:
            Cancelled: There was no turn for it; the tally says how long to wait.
            Exception: Whatever the model raises.
        """
        known: Tally = getattr(self._tallies, "value", Tally())
        self._expect_wanted()
        # An upper estimate takes as long as everything else that is done for a request; it is not needed if nothing is reserved.
        size = 0 if self._bucket.is_free() else self._estimate(request)
        slot = self._turn(size, cancelled) if size else 0
        self._add(calls=known.calls + 1, diagnosis=None, held_seconds=0.0)
        try:
            send: Any = self._model.send
            body: dict[str, Json] = send(request, cancelled=cancelled) if self._listens else send(request)
        except Exception as error:
            told = diagnose(error)
            self._add(calls=known.calls + 1, diagnosis=told)
            if told.kind == "rate_limit":
                self._hold(told.retry_after_seconds if told.retry_after_seconds is not None else _OUTAGE_SECONDS)
            raise
        self._tallies.is_wanted, self._tallies.is_begun = None, True
        given, said = _used(body, self.wire)
        self._add(
            calls=known.calls + 1,
            input_tokens=known.input_tokens + (given or 0),
            output_tokens=known.output_tokens + (said or 0),
        )
        # If the provider reports no usage, the estimate stays: it is an upper bound.
        if given is not None:
            self._bucket.settle(slot, given + (said or 0) - size)
        return body

    def _expect_wanted(self) -> None:
        """Raise `Cancelled` if the next question should not be asked any more."""
        is_wanted: Callable[[], bool] | None = getattr(self._tallies, "is_wanted", None)
        if is_wanted is not None and not is_wanted():
            raise Cancelled("Nobody waits for it any more.")

    def _hold(self, seconds: float) -> None:
        if seconds > LONGEST_HOLD_SECONDS:
            self._say(
                f"{self.name}: the provider wants to be left alone for {duration(seconds)}; it is asked again after "
                f"{duration(LONGEST_HOLD_SECONDS)}"
            )
        self._bucket.hold(seconds)

    def _turn(self, tokens: int, cancelled: Any) -> int:
        """Return the second of a grant, once there is one.

        Raises:
            Cancelled: It takes too long, or nobody waits.
        """
        # The second question about a chunk is asked even if the worker should end, and however tight the limits: without it the
        # first answer would be kept as it is, with claims that the second corrects.
        is_begun = self.is_begun()
        patience_seconds = max(self._patience_seconds, _BEGUN_SECONDS) if is_begun else self._patience_seconds
        begun = self._clock()
        while True:
            asked = self._clock()
            slot, wait = self._bucket.take(tokens)
            if wait == 0.0:
                self._expect_wanted()  # before the grant is checked: this asks the database, which may be away for minutes
                # Measured from before the request: however long the reply took, the grant is not older than that.
                if not slot or self._clock() - asked <= GRANT_SECONDS:
                    return slot
                continue
            if (self._given_up() and not is_begun) or (cancelled is not None and cancelled.is_set()):
                break
            if self._clock() - begun + wait > patience_seconds:
                self._add(held_seconds=wait)
                break
            # With jitter, and not for the whole wait: whoever returns a reservation makes room earlier.
            self._pause(min(wait, _LONGEST_SECONDS) * random.uniform(0.5, 1.0))  # noqa: S311 - no secret
        raise Cancelled("There was no turn for it yet.")

    def _estimate(self, request: dict[str, Json]) -> int:
        """Return the most tokens that a request and its answer may take, by our count of all its text."""
        return sum(self._counter.count(text).high + 8 for text in texts_of(request)) + REPLY_TOKENS


def texts_of(value: Json) -> list[str]:
    """Return all texts in a request, at any depth."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for one in value.values() for text in texts_of(one)]
    if isinstance(value, list):
        return [text for one in value for text in texts_of(one)]
    return []


def _used(body: Json, wire: str) -> tuple[int | None, int | None]:
    """Return the tokens of the request and of the answer, as the answer reports them."""
    keys = wire_named(wire).answers.usage
    given = [
        tokens
        for holder in keys.holders
        if isinstance(body, dict) and isinstance(body.get(holder), dict)
        for name in keys.input
        if (tokens := whole_number(body[holder].get(name))) is not None
    ]
    return _plausible(sum(given) if given else None), _plausible(output_tokens(body, wire))


def _plausible(tokens: int | None) -> int | None:
    return tokens if tokens is not None and tokens <= _MOST_TOKENS else None

"""Is the request valid, does it fit, and what is the answer? One request, decided and recorded.

The order is a provider's: a malformed request is refused as such however large it is, and a policy sees only requests that a
model would see. Laws: every request that came in is in `received` with its outcome, even if the policy raised; a request is kept
as it came in. Leaves to others: HTTP.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError
from penstock.models.provider import DoubleAnswer
from penstock.wires import messages_of, violations, wire_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.models.provider import Outcome, Provider
    from penstock.models.steps import ScriptStep
    from penstock.text.json_access import Json


class Received(NamedTuple):
    """One request that a double received, and its outcome."""

    request: Json
    """The body of a request as it came in, None if it is not a JSON object; a copy, whatever the policy did with it."""
    status: int
    """The HTTP status that was answered."""
    outcome: Outcome
    """`answered`, `refused` for its size, `invalid` for its shape, or `failed` because a step or an error said so."""
    input_tokens: int
    """Tokens of a request's instructions, messages and tools in the double's own count."""


class DeskDecision(NamedTuple):
    """What is answered to one request."""

    answer: DoubleAnswer
    number: int
    """The number of the request, from 1."""
    in_stream: bool
    """Whether a refusal comes as an event after HTTP 200."""


class Desk:
    """The place where one provider decides, for any number of threads.

    Args:
        provider: how it speaks and counts.
        window_tokens: above this it refuses.
        policy: returns the step that answers a request's body; it is called outside any lock.
        strict: whether malformed requests are refused.
        refuse_in_stream: whether streamed requests are refused by an event after HTTP 200.
    """

    def __init__(
        self,
        provider: Provider,
        window_tokens: int,
        policy: Callable[[dict[str, Json]], ScriptStep],
        *,
        strict: bool,
        refuse_in_stream: bool,
    ) -> None:
        self.provider = provider
        self.window_tokens = window_tokens
        self._policy = policy
        self._strict = strict
        self._refuse_in_stream = refuse_in_stream
        self._received: list[Received] = []
        self._count = 0
        self._lock = threading.Lock()

    @property
    def received(self) -> tuple[Received, ...]:
        """The requests so far, in the order in which they were decided."""
        with self._lock:
            return tuple(self._received)

    def decide(self, request: dict[str, Json], *, streamed: bool = False) -> DeskDecision:
        """Return the answer to a request.

        Args:
            request: the body.
            streamed: whether its answer goes out as a stream.

        Raises:
            BaseException: whatever the policy raises; the request is recorded as failed.
        """
        from penstock.text.json_access import copied

        # Numbered as they come in; recorded as they are decided, possibly in another order.
        with self._lock:
            self._count += 1
            number = self._count
        kept, size = copied(request), self.provider.size_of(request)
        try:
            answer = self._refusal_of_shape(request) if self._strict else None
            answer = answer or self.provider.refusal_of(size, self.window_tokens)
            answer = answer or self.provider.perform(self._policy(request), size, number)
        except BaseException:
            self._write(Received(kept, 400, "failed", size.input_tokens))
            raise
        # Recorded with the status that the client sees: 200 if the refusal comes within a stream.
        in_stream = streamed and self._refuse_in_stream and answer.outcome == "refused"
        self._write(Received(kept, 200 if in_stream else answer.status, answer.outcome, size.input_tokens))
        return DeskDecision(answer, number, in_stream)

    def turn_away(self, status: int, sentence: str) -> DoubleAnswer:
        """Return the answer to a request that was not, or could not be, read, and record it as invalid."""
        self._write(Received(None, status, "invalid", 0))
        return self.provider.error(sentence, status)

    def _refusal_of_shape(self, request: dict[str, Json]) -> DoubleAnswer | None:
        """Return the refusal of a request that the provider would not accept whatever its size; None for any other."""
        # A double has no memory of conversations: answering such a request would test something that never happens.
        unkept = wire_named(self.provider.wire).double.unkept(request)
        if unkept is not None:
            return DoubleAnswer(400, unkept, "invalid")
        fault = fault_of(request, self.provider.wire)
        return None if fault is None else self.provider.error(fault)

    def _write(self, received: Received) -> None:
        """Record a decided request."""
        with self._lock:
            self._received.append(received)


def fault_of(request: dict[str, Json], wire: str) -> str | None:
    """Say what else the provider would reject about the shape of a request; None for a valid one."""
    try:
        messages = messages_of(request, wire)
    except CallerError as error:
        return str(error)
    for found in violations(messages, wire):
        return f"messages.{found.index}: {found.code}: {found.message}"
    return wire_named(wire).double.reply_fault(request)

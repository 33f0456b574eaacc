"""Who carries a request? `execute` and `aexecute` send it with the caller's own function, and get it out of an overflow.

What certainly does not fit is made smaller before it is sent; what is refused is made smaller and sent again, at most twice for one
overflow, a summary included. Errors that are no overflows pass through untouched. Laws: no request is sent unchanged after it was
refused, and each is smaller than the one before; the next prompt works, whatever happened. Keeps out: how it is made smaller
(recovery), retries of rate limits and faults.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock import notices, recovery
from penstock.bill import bill_of, counter_for, reply_tokens, with_reply_tokens
from penstock.budget import Budget
from penstock.compaction import Plan, apply
from penstock.errors import PenstockError, Refusal
from penstock.handoff import encode, mechanical
from penstock.overflow import Overflow, classify_overflow, parse, silent_overflow
from penstock.recovery import HandOff, Irreducible, SendSmaller, Summarise
from penstock.transcript import dump_valid, load_request
from penstock.transcript.shapes import as_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Sequence

    from penstock.calls import Dialect
    from penstock.handoff import Handoff
    from penstock.overflow import Rule
    from penstock.recovery import Cure
    from penstock.store import Store
    from penstock.tokens import TokenCounter
    from penstock.transcript import Transcript
    from penstock.transcript.shapes import Json

MOST_CALLS = 2  # of a provider for one overflow, a summary included (promise 3)


@dataclass(kw_only=True)
class RecoveryResult:
    """How it went (O-7). The fields above the line are the seed's.

    `strategy`: `normal`, `lower_reserve`, the rung of the ladder that was needed (`offload`, `stale`, `clear`, `failed`, `spans`,
    `model_summary`), `handoff`, `tool_output_overflow`, or `irreducible`.
    """

    success: bool
    response: Any = None
    attempts: int = 0
    """Requests that were sent with `send`."""
    strategy: str = "normal"
    tokens_reduced: int = 0
    error: BaseException | None = None
    warnings: list[str] = field(default_factory=list)
    overflow_severity: str = "none"
    # ── beside them ──
    request: Json = None
    """What was sent last; with success, the request to go on from."""
    transcript: Transcript | None = None
    """The conversation as it is shown now; its `entries` hold all of it."""
    plans: list[Plan] = field(default_factory=list)
    """What was taken from view, one plan for each request that was made smaller."""
    handoff: Handoff | None = None
    fresh: Json = None
    """Without success: a request that the next prompt is added to; None where the instructions alone leave no room."""
    message: str = ""
    """What to tell the user; empty with success."""


class _Send(NamedTuple):
    request: Json


class _Ask(NamedTuple):
    prompt: str


class _Answer(NamedTuple):
    value: Any = None
    error: Exception | None = None


def execute(
    send: Callable[[Json], Any],
    request: Json,
    *,
    wire: str,
    window_tokens: int,
    store: Store | None = None,
    summarise: Callable[[str], str] | None = None,
    counter: TokenCounter | None = None,
    rules: Sequence[Rule] = (),
    session_id: str = "",
    dialect: Dialect | None = None,
) -> RecoveryResult:
    """The provider's answer to `request`, a body of `wire`, got out of an overflow where that is needed.

    `send(request)` returns what the provider answered, or raises what it refused with. `summarise(prompt)` returns a model's text;
    it is asked only where nothing else is enough. What is taken from view goes to `store`, or to the user's default store, under
    handles that stand in its place. Raises what `send` raises where that is no overflow, and `CallerError` for what is no request.
    """
    steps = _carried(request, wire, window_tokens, store, summarise is not None, counter, rules, session_id, dialect)
    answer: _Answer | None = None
    while True:
        try:
            step = steps.send(answer)  # type: ignore[arg-type]  # None begins it
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        try:
            answer = _Answer(send(step.request) if isinstance(step, _Send) else summarise(step.prompt))  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 - a foreign function: what is no overflow is raised again below
            answer = _Answer(error=error)


async def aexecute(
    send: Callable[[Json], Awaitable[Any]],
    request: Json,
    *,
    wire: str,
    window_tokens: int,
    store: Store | None = None,
    summarise: Callable[[str], str | Awaitable[str]] | None = None,
    counter: TokenCounter | None = None,
    rules: Sequence[Rule] = (),
    session_id: str = "",
    dialect: Dialect | None = None,
) -> RecoveryResult:
    """`execute` with a send function that is awaited."""
    steps = _carried(request, wire, window_tokens, store, summarise is not None, counter, rules, session_id, dialect)
    answer: _Answer | None = None
    while True:
        try:
            step = steps.send(answer)  # type: ignore[arg-type]  # None begins it
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        try:
            made = send(step.request) if isinstance(step, _Send) else summarise(step.prompt)  # type: ignore[misc]
            answer = _Answer(await made if inspect.isawaitable(made) else made)
        except Exception as error:  # noqa: BLE001 - as above
            answer = _Answer(error=error)


def _carried(
    request: Json,
    wire: str,
    window_tokens: int,
    store: Store | None,
    can_summarise: bool,
    counter: TokenCounter | None,
    rules: Sequence[Rule],
    session_id: str,
    dialect: Dialect | None,
) -> Generator[_Send | _Ask, _Answer, RecoveryResult]:
    """All of it but the sending: yields what to send or to ask, takes the answer."""
    budget = Budget(window_tokens, reply_tokens(request) or 0, counter or counter_for(request))
    transcript = load_request(request, wire)
    carrier = _Carrier(request, wire, budget, store, rules, session_id, dialect)
    return (yield from carrier.carry(transcript, can_summarise))


class _Carrier:
    """One request on its way."""

    def __init__(
        self,
        request: Json,
        wire: str,
        budget: Budget,
        store: Store | None,
        rules: Sequence[Rule],
        session_id: str,
        dialect: Dialect | None,
    ) -> None:
        self.request, self.wire, self.budget = request, wire, budget
        self.store, self.rules, self.session_id, self.dialect = store, rules, session_id, dialect
        self.result = RecoveryResult(success=False)

    def carry(self, original: Transcript, can_summarise: bool) -> Generator[_Send | _Ask, _Answer, RecoveryResult]:
        result = self.result
        result.transcript = transcript = original
        first = self._size(original)
        overflow = self._surely_too_large(transcript)
        refusal: Exception | None = None
        if overflow is None:
            overflow, refusal = yield from self._sent(self.request, transcript)
            if overflow is None:
                return result
        result.overflow_severity = classify_overflow(overflow)
        is_catastrophe = result.overflow_severity == "catastrophic"
        if is_catastrophe:
            self._write_handoff(transcript)
        calls_left = 1 if is_catastrophe else MOST_CALLS
        budget = self.budget
        while calls_left:
            cure = recovery.recover(
                transcript,
                overflow,
                budget,
                can_summarise=can_summarise and calls_left > 1,
                session_id=self.session_id,
                dialect=self.dialect,
            )
            if isinstance(cure, Summarise):
                calls_left -= 1
                answer = yield _Ask(cure.prompt)
                cure = recovery.with_summary(transcript, cure, _text(answer.value), budget, dialect=self.dialect)
            cure = self._kept(transcript, cure)
            if isinstance(cure, Irreducible):
                return self._failed(original, cure, cure.error)
            transcript = self._smaller(transcript, cure)
            lowers = isinstance(cure, SendSmaller) and cure.strategy == "lower_reserve"
            request = self._written(transcript, cure.reserve_tokens, lowers=lowers)
            result.tokens_reduced = first - self._size(transcript)
            result.strategy = "handoff" if isinstance(cure, HandOff) else cure.strategy
            calls_left -= 1
            overflow, refusal = yield from self._sent(request, transcript)
            if overflow is None:
                return result
            budget = budget._replace(reserve_tokens=cure.reserve_tokens)
        return self._failed(original, None, refusal)

    # ── sending ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _sent(
        self, request: Json, transcript: Transcript
    ) -> Generator[_Send | _Ask, _Answer, tuple[Overflow | None, Exception | None]]:
        """The overflow that the provider answered with; None with the response in the result."""
        self.result.request, self.result.transcript = request, transcript
        self.result.attempts += 1
        answer = yield _Send(request)
        error = answer.error
        if error is None and _is_error_body(answer.value):
            error = Refusal(as_json(answer.value))
            overflow = parse(answer.value, rules=self.rules)
        else:
            overflow = None if error is None else parse(error, rules=self.rules)
        if overflow is not None:
            return overflow, error
        if answer.error is not None:
            raise answer.error
        self.result.success, self.result.response = True, answer.value
        self._look_for_silence(answer.value, transcript)
        return None, None

    def _surely_too_large(self, transcript: Transcript) -> Overflow | None:
        """What no provider could take: it is not sent to hear that. A limit that nobody stated is not in it."""
        count = bill_of(transcript, self.budget.counter).input
        window = self.budget.context_tokens
        if count.low <= window:
            return None
        return Overflow(kind="context_input", input=count.tokens, excess=count.tokens - window, bound="approx")

    def _look_for_silence(self, response: Any, transcript: Transcript) -> None:
        count = bill_of(transcript, self.budget.counter).input
        window = self.budget.context_tokens
        found = silent_overflow(response, window_tokens=window, estimated_tokens=count.low)
        if found is not None:
            said = (
                notices.above_the_window(found.reported_tokens, window)
                if found.kind == "accepted"
                else notices.served_from_less(found.reported_tokens, found.estimated_tokens)
            )
            self.result.warnings.append(said)

    # ── making it smaller ────────────────────────────────────────────────────────────────────────────────────────

    def _smaller(self, transcript: Transcript, cure: SendSmaller | HandOff) -> Transcript:
        if isinstance(cure, HandOff):
            self.result.handoff = cure.handoff
            return cure.fresh
        self.result.plans.append(cure.plan)
        try:
            return apply(transcript, cure.plan, self._keep)
        except (PenstockError, OSError) as error:
            self._warn(error)
            return apply(transcript, cure.plan)

    def _written(self, transcript: Transcript, reserve_tokens: int, *, lowers: bool = False) -> Json:
        """The body as it is sent: valid, with the reply that there is room for."""
        request = dump_valid(transcript, self.request)
        if isinstance(request, dict) and (lowers or reply_tokens(request) is not None):
            return with_reply_tokens(request, reserve_tokens, self.wire)
        return request

    def _kept(self, transcript: Transcript, cure: Cure) -> SendSmaller | HandOff | Irreducible:
        """A handoff names the whole conversation."""
        if isinstance(cure, SendSmaller):
            return cure
        assert not isinstance(cure, Summarise)  # noqa: S101 - it has been answered
        handle = self._put("".join(f"{as_json(entry.raw)}\n" for entry in transcript.visible()), "conversation")
        return cure if handle is None else recovery.with_handle(transcript, cure, handle, self.budget)

    def _write_handoff(self, transcript: Transcript) -> None:
        """Before anything else is tried (O-6)."""
        self.result.handoff = mechanical(transcript, session_id=self.session_id, reason="context")
        self._put(encode(self.result.handoff), "handoff")

    def _failed(self, original: Transcript, cure: Irreducible | None, error: BaseException | None) -> RecoveryResult:
        """The end without an answer: a handoff, and what the next prompt works with."""
        result = self.result
        result.error = error
        if cure is None:
            ended = self._kept(original, recovery.give_up(original, self.budget, self.session_id))
            assert isinstance(ended, Irreducible)  # noqa: S101 - a handle changes no kind
            cure = ended
        result.handoff = cure.handoff
        if cure.fresh is not None:
            result.transcript = cure.fresh
            result.fresh = self._written(cure.fresh, self.budget.reserve_tokens)
        flood = any(step.strategy == "offload" for plan in result.plans for step in plan.steps)
        if result.overflow_severity == "catastrophic" and flood:
            result.strategy = "tool_output_overflow"
            result.warnings += notices.TOOL_OUTPUT_WARNINGS
            result.message = notices.TOOL_OUTPUT_MESSAGE
        else:
            result.strategy = "irreducible" if error is cure.error else "handoff"
            result.message = str(error)
        return result

    # ── the store ────────────────────────────────────────────────────────────────────────────────────────────────

    def _keep(self, content: str, name: str) -> str:
        if self.store is None:
            from penstock.guarding import default_store

            self.store = default_store()
        return self.store.put(content.encode("utf-8", "surrogatepass"), name=name)

    def _put(self, content: str, name: str) -> str | None:
        try:
            return self._keep(content, name)
        except (PenstockError, OSError) as error:
            self._warn(error)
            return None

    def _warn(self, error: Exception) -> None:
        said = notices.not_stored(str(error))
        if said not in self.result.warnings:
            self.result.warnings.append(said)

    def _size(self, transcript: Transcript) -> int:
        return bill_of(transcript, self.budget.counter).input.tokens


def _is_error_body(response: Any) -> bool:
    """A provider's error that came as an answer: some gateways send it with a success status."""
    return isinstance(response, Mapping) and bool(response.get("error") or response.get("type") == "error")


def _text(summary: object) -> str | None:
    return summary if isinstance(summary, str) else None

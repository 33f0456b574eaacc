"""What happens to one request? It is sent, made smaller and sent again until it is answered or proved irreducible (R-1).

A generator yields what to send (or what to ask a model to summarise) and receives the outcome. `execute` and `aexecute`
drive the same generator, so calls are counted in one place. A request that certainly does not fit is made smaller before
it is sent; that is not a refusal and decides no severity.

Laws: a provider is called at most `max_calls` times, summaries included; each request is smaller in the provider's count
than the one before, and the last is the floor; an error that is not an overflow passes through untouched. Leaves to
others: choosing the smaller request (`context.recovery`), the caller's function, and retries of rate limits and faults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.carrier.replies import refusal_in
from penstock.carrier.result import (
    BROKE_OFF,
    REFUSED_BEFORE,
    TOOL_OUTPUT_MESSAGE,
    TOOL_OUTPUT_WARNINGS,
    RecoveryResult,
    no_answer,
    no_messages,
    not_stored,
    refused_with,
    unknown_answer,
    was_mended,
)
from penstock.carrier.steps import CarrySettings, Send, SendOutcome, SummaryRequest
from penstock.carrier.stream_watch import StreamRefused
from penstock.carrier.ways_back import call_syntax
from penstock.context import recovery
from penstock.context.answers import faults_of, overflow_in, taken_by
from penstock.context.bill import counter_for
from penstock.context.compaction import apply
from penstock.context.handoff import encode
from penstock.context.recovery import Attempt, Irreducible, SendSmaller, Situation, SummaryWanted
from penstock.context.sized import Sized
from penstock.errors import CallerError, Refusal
from penstock.overflow import Overflow, classify_overflow
from penstock.overflow.silent import reported_input
from penstock.store.texts import put_text, put_texts
from penstock.text.allowance import Budget
from penstock.text.json_access import as_json
from penstock.wires import (
    continues,
    dump_mended,
    dump_request,
    is_whole,
    load_request,
    messages_of,
    reply_tokens,
    violations,
    wire_named,
    with_reply_tokens,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from penstock.context.answers import AnswerFault
    from penstock.context.counts import KindCounts
    from penstock.store import Store
    from penstock.text.calls import Dialect
    from penstock.text.json_access import Json
    from penstock.wires import Transcript


class _Doubtful(NamedTuple):
    """A received answer that a smaller request may improve on; it is kept until a better one arrives."""

    response: Any
    request: Json
    transcript: Transcript
    strategy: str
    tokens_reduced: int


class _AnsweredNothing(Refusal):
    """An empty answer to a large request, which may or may not have been too large."""


class Course:
    """The course of one request.

    Args:
        request: the caller's body; it is not changed.
        settings: the settings that the request is carried with.
        transcript: the request's history, if the caller keeps one with its own edits; read from the body if omitted.
    """

    def __init__(self, request: Json, settings: CarrySettings, transcript: Transcript | None = None) -> None:
        self.request, self.settings = request, settings
        counter = settings.counter or counter_for(request)
        self.budget = Budget(settings.window_tokens, reply_tokens(request) or 0, counter)
        self.original = Sized(transcript or load_request(request, settings.wire), counter)
        self.result = RecoveryResult(success=False, transcript=self.original.transcript)
        self.attempts: list[Attempt] = []
        self.answered: tuple[KindCounts, int] | None = None
        """Our counts of the answered request, and the input that the provider reported for it."""
        self.on_late_answer: Callable[[], None] | None = None
        """Called once a stream has ended and `answered` is known."""
        self.learnable: list[Attempt] = []
        """The attempts that show how the provider counts; an empty answer is left out, as it may have had other reasons."""
        self.refused: list[tuple[Json, Overflow]] = []
        """The requests that were sent and refused, each with what the provider said."""
        self.refused_before: Callable[[Json], Overflow | None] = lambda _: None
        """Returns what was said of a request refused before this course, which is then not sent again; else None."""
        self._calls = 0
        self._doubtful: _Doubtful | None = None
        self.raised: Exception | None = None
        """The error that the caller's function raised and that no smaller request cures."""
        self._cuts_silently = self._is_mended_told = self._is_valid = False
        self._is_whole = is_whole(request, settings.wire)
        self._pending = self.original, self.budget.reserve_tokens

    def run(self) -> Generator[Send | SummaryRequest, SendOutcome]:
        """Carry the request: yield each step and receive its outcome. The end result is in `result` and `raised`."""
        # `sized` is always the transcript shown by `request`, with its counts: a refusal measures that very request
        # never the original.
        sized, reserve = (yield from self._trimmed()), self.budget.reserve_tokens
        request = self._body(sized.transcript, reserve)
        while True:
            overflow, refusal = yield from self._sent(request, sized, reserve)
            if overflow is None:
                return
            # Only the first refusal says how far off the caller's request was; later ones are about our own requests
            # (O-1). After a catastrophic one the handoff is written before anything else is tried (O-6).
            if not self.attempts:
                self.result.overflow_severity = classify_overflow(overflow)
                if self.result.overflow_severity == "catastrophic":
                    self._write_handoff(sized)
            self.attempts.append(
                Attempt(sized=sized, overflow=overflow, reserve_tokens=reserve, is_whole=self._is_whole)
            )
            if not isinstance(refusal, _AnsweredNothing):
                self.learnable.append(self.attempts[-1])
            cure = yield from self._cure()
            if isinstance(cure, Irreducible):
                if not self._takes_doubtful_answer():
                    self._fail(cure, refusal)
                return
            sized = self._cut(sized, cure)
            reserve = cure.reserve_tokens
            request = self._body(sized.transcript, reserve, names_reply=cure.strategy == "lower_reserve")
            self._note(cure.strategy, sized)

    # ── what to send ─────────────────────────────────────────────────────────────────────────────────────────────

    def _trimmed(self) -> Generator[Send | SummaryRequest, SendOutcome, Sized]:
        """Return the request as it is first sent: made smaller only if it certainly would not fit."""
        cure: recovery.Cure | None = recovery.trim(
            self._situation(),
            can_summarise=self.settings.can_summarise,
            headroom_share=self.settings.headroom_share,
        )
        if isinstance(cure, SummaryWanted):
            cure = yield from self._summarised(cure)
        if not isinstance(cure, SendSmaller):
            return self.original
        smaller = self._cut(self.original, cure)
        self._note(cure.strategy, smaller)
        return smaller

    def _cure(self) -> Generator[Send | SummaryRequest, SendOutcome, SendSmaller | Irreducible]:
        """Return the cure for the newest refusal, asking a model for a summary on the way if that could spare anything."""
        situation = self._situation()
        if situation.calls_left < 1:
            return recovery.give_up(situation)
        cure: recovery.Cure | None = recovery.decide(
            situation, can_summarise=self.settings.can_summarise, headroom_share=self.settings.headroom_share
        )
        if isinstance(cure, SummaryWanted):
            cure = yield from self._summarised(cure)
        assert isinstance(cure, SendSmaller | Irreducible)  # noqa: S101 - a refusal has one of these ends
        return cure

    def _summarised(self, asked: SummaryWanted) -> Generator[Send | SummaryRequest, SendOutcome, recovery.Cure | None]:
        """Return the cure after asking the caller's model for a summary, which counts as a call."""
        self._calls += 1
        reply = yield SummaryRequest(asked.prompt)
        return recovery.with_summary(self._situation(), asked, reply.value if isinstance(reply.value, str) else None)

    def _situation(self) -> Situation:
        """Return the situation that recovery decides on."""
        attempts = tuple(self.attempts)
        # The reply that the refused request asked for: recovery lowers it step by step and never restores the caller's.
        reserve = attempts[-1].reserve_tokens if attempts else self.budget.reserve_tokens
        return Situation(
            sized=attempts[-1].sized if attempts else self.original,
            budget=self.budget._replace(reserve_tokens=reserve),
            attempts=attempts,
            calls_left=self.settings.max_calls - self._calls,
            known=self.settings.known,
            min_reply_tokens=wire_named(self.settings.wire).body.min_reply_tokens(self.request),
            dialect=self.settings.dialect or self._call_syntax(),
            session_id=self.settings.session_id,
        )

    def _call_syntax(self) -> Dialect:
        """Return the syntax in which stubs name a way back that actually exists (R-7)."""
        store = self.settings.store
        return call_syntax(self.request, self.settings.wire, getattr(store, "url", None))

    def _note(self, strategy: str, sized: Sized) -> None:
        """Record in the result how the next request was made smaller, and by how much compared to the caller's request."""
        self.result.strategy = strategy
        self.result.tokens_reduced = self.original.counts.total - sized.counts.total

    def _cut(self, sized: Sized, cure: SendSmaller) -> Sized:
        """Return the transcript with a plan applied, keeping what the plan takes from view if the store allows it."""
        if not cure.plan.steps:
            return sized
        self.result.plans.append(cure.plan)
        try:
            return sized.showing(apply(sized.transcript, cure.plan, keep_all=self._keep_all))
        except Exception as error:  # noqa: BLE001 - a foreign store
            self._warn(not_stored(str(error)))
            # Without a store the request still has to shrink: notes then name no handle, and a warning says why.
            return sized.showing(apply(sized.transcript, cure.plan))

    def _body(self, transcript: Transcript, reserve_tokens: int, *, names_reply: bool = False) -> Json:
        """Return a valid body that shows a transcript; its reply length is set if the body names one or has to."""
        if self.settings.is_forwarded and not transcript.edits and not names_reply:
            return self.request
        # Forgetting keeps a valid conversation valid (law of `wires.history`), so validity is checked once.
        is_same = transcript.entries is self.original.transcript.entries
        mended: tuple[str, ...] = ()
        if is_same and self._is_valid:
            request = dump_request(transcript, self.request)
        else:
            request, mended = dump_mended(transcript, self.request)
            self._is_valid = is_same and not mended
        if mended and not self._is_mended_told:
            self._is_mended_told = True
            self._warn(was_mended(mended))
        wire = self.settings.wire
        if messages_of(request, wire) == [] and (mended or violations([], wire, continues=continues(request, wire))):
            raise CallerError(no_messages(mended))
        # A body that named no reply length gets none, because the provider's default is the caller's choice, unless
        # lowering the reply is the cure itself.
        asks = isinstance(request, dict) and (names_reply or reply_tokens(request) is not None)
        return with_reply_tokens(request, reserve_tokens, self.settings.wire) if asks and reserve_tokens else request

    # ── what came of it ──────────────────────────────────────────────────────────────────────────────────────────

    def _sent(
        self, request: Json, sized: Sized, reserve_tokens: int
    ) -> Generator[Send | SummaryRequest, SendOutcome, tuple[Overflow | None, BaseException | None]]:
        """Send a request; return the overflow and the refusal, or None for both if the course has ended."""
        self.result.request, self.result.transcript = request, sized.transcript
        if (known := self.refused_before(request)) is not None:
            return known, Refusal(REFUSED_BEFORE)
        self.result.attempts += 1
        self._calls += 1
        reply = yield Send(request)
        rules = self.settings.rules
        error: Exception | None = reply.error
        # A refusal takes one of three forms: an event before the first content, an exception, or an error returned in
        # place of an answer.
        if isinstance(error, StreamRefused):
            overflow = error.overflow
        elif error is not None:
            overflow = overflow_in(reply.told or error, rules=rules)
        elif reply.is_stream:
            overflow, error = refusal_in(reply.body, rules) if reply.body is not None else (None, None)
        else:
            overflow, error = refusal_in(reply.value, rules)
        if overflow is not None:
            self.refused.append((request, overflow))
            return overflow, error
        if error is not None:
            # A doubtful answer is worth more than an error about something else.
            if not self._takes_doubtful_answer():
                self._end_with(error, reply)
            return None, None
        self._pending = sized, reserve_tokens
        faults = self._judged(reply.body)
        fault = next((fault for fault in faults if fault.overflow is not None), None)
        if fault is not None:
            self._doubtful = _Doubtful(
                reply.value, request, sized.transcript, self.result.strategy, self.result.tokens_reduced
            )
            doubt = _AnsweredNothing if fault.kind == "empty" else Refusal
            return fault.overflow, doubt(fault.message)
        if not faults and not (reply.is_stream and reply.body is None):
            self._warn_of_unknown(reply.body)
        self.result.success, self.result.response = True, reply.value
        return None, None

    def _end_with(self, error: Exception, reply: SendOutcome) -> None:
        """End with an error that a smaller request does not cure: re-raised if it was raised, reported if it was returned."""
        if reply.error is not None:
            self.raised = reply.error
            return
        self.result.error, self.result.response, self.result.strategy = error, reply.value, "refused"
        self.result.message = no_answer(str(error))

    def _warn_of_unknown(self, body: Json) -> None:
        """Warn of an answer of unknown shape: nobody can tell whether it was refused, cut or empty."""
        is_answer = isinstance(body, dict) and wire_named(self.settings.wire).answers.is_answer(body)
        if not is_answer and reported_input(body) is None:
            self._warn(unknown_answer(self.settings.wire))

    def answer_ended(self, body: Json, broke_off: bool) -> None:
        """Check the answer of a stream that has ended, after the course is over: a fault can only be reported then."""
        if not self._judged(body):
            if broke_off:
                self._warn(BROKE_OFF)
            else:
                self._warn_of_unknown(body)
        if self.on_late_answer is not None:
            self.on_late_answer()

    def _judged(self, body: Json) -> list[AnswerFault]:
        """Return an answer's faults and warn of them; learn from the usage if it is that of the request as sent (O-3, R-6)."""
        sized, reserve_tokens = self._pending
        faults = faults_of(
            body,
            self.settings.wire,
            estimated_tokens=sized.low,
            window_tokens=self._window_tokens(),
            asked_tokens=reserve_tokens or None,
            cuts_silently=self._cuts_silently,
            taken_tokens=self.settings.taken_tokens,
            counts=sized.counts if self._is_whole else None,
            answered=self.settings.known,
        )
        # A request that is not whole has asked for the cut.
        told = [fault for fault in faults if self._is_whole or fault.kind != "dropped"]
        for fault in told:
            self._cuts_silently = self._cuts_silently or fault.kind == "dropped"
            self._warn(fault.message)
        if self._is_whole and (taken := taken_by(body, self.settings.wire, told)) is not None:
            self.answered = sized.counts, taken
        return told

    def _window_tokens(self) -> int:
        """Return the window as it is known so far."""
        limits = [limit for attempt in self.attempts if (limit := attempt.limit_tokens)]
        return min([self.settings.window_tokens, *limits])

    def _takes_doubtful_answer(self) -> bool:
        """Take the faulty answer, since no better one is available; return whether there was one.

        The warnings describe its fault.
        """
        result, kept = self.result, self._doubtful
        if kept is None:
            return False
        result.success, result.response = True, kept.response
        result.request, result.transcript = kept.request, kept.transcript
        result.strategy, result.tokens_reduced = kept.strategy, kept.tokens_reduced
        return True

    # ── the end without an answer ────────────────────────────────────────────────────────────────────────────────

    def _write_handoff(self, sized: Sized) -> None:
        """Write the handoff of a request that was far above its limit, before anything else is tried (O-6)."""
        self.result.handoff = sized.handoff(self.settings.session_id)
        self._put(encode(self.result.handoff), "handoff")

    def _fail(self, cure: Irreducible, refusal: BaseException | None) -> None:
        """End without an answer: with the proof and the provider's own words, a handoff, and a base for the next prompt."""
        result = self.result
        whole = "".join(f"{as_json(entry.raw)}\n" for entry in self.original.transcript.visible())
        handle = self._put(whole, "conversation")
        if handle is not None:
            cure = recovery.with_handle(self.original.transcript, cure, handle, self.original.counter)
        cure.error.__cause__ = refusal
        result.error, result.handoff = cure.error, cure.handoff
        if cure.fresh is not None:
            result.transcript = cure.fresh
            result.fresh = self._body(cure.fresh, self.budget.reserve_tokens)
        has_flood = any(step.strategy == "offload" for plan in result.plans for step in plan.steps)
        if result.overflow_severity == "catastrophic" and has_flood:
            result.strategy = "tool_output_overflow"
            result.warnings += TOOL_OUTPUT_WARNINGS
            result.message = TOOL_OUTPUT_MESSAGE
        else:
            result.strategy = "irreducible"
            result.message = refused_with(str(cure.error), str(refusal))

    # ── the store ────────────────────────────────────────────────────────────────────────────────────────────────

    def _store(self) -> Store:
        """Return the store; the user's own store is opened when it is first needed."""
        if self.settings.store is None:
            from penstock.guard.output import default_store

            self.settings.store = default_store()
        return self.settings.store

    def _keep_all(self, texts: Sequence[tuple[str, str]]) -> list[str]:
        """Store what a plan takes from view, and return the handles."""
        return put_texts(self._store(), texts)

    def _put(self, content: str, name: str) -> str | None:
        """Store a text and return its handle; None, with a warning, if it could not be stored."""
        try:
            return put_text(self._store(), content, name)
        except Exception as error:  # noqa: BLE001 - a foreign store
            self._warn(not_stored(str(error)))
            return None

    def _warn(self, sentence: str) -> None:
        """Add a warning to the result unless it is there already."""
        if sentence not in self.result.warnings:
            self.result.warnings.append(sentence)

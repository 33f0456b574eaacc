"""How is an answer obtained? The request is sent, and the session is fed the outcome: an answer, a refusal or a failure (R-6).

An answer may be faulty: a server cut it without notice, sent it empty, or ended it at its length. If a smaller request may cure
the fault, or the answer was empty for the first time, the model is asked again; anything else is taken as it is and reported.
Leaves to others: when to ask (`loop`), and how a provider is reached (`models`).
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import asdict, replace
from inspect import signature
from typing import TYPE_CHECKING, Any

from penstock.context.answers import CUT_FACTOR, faults_of, is_paused, overflow_in, taken_by
from penstock.context.provider_counts import stated
from penstock.context.sized import Sized
from penstock.context.standstill import EQUAL_BEFORE
from penstock.errors import CallerError
from penstock.models import Cancelled
from penstock.overflow import diagnose
from penstock.overflow.silent import reported_input
from penstock.session import Compact, Failed, Prompted, Refused, Replied, Summarise, Ticked
from penstock.text import escape
from penstock.text.redaction import redacted
from penstock.wires import (
    answer_messages,
    answer_words,
    compose_request,
    dump_mended,
    output_tokens,
    placeholders,
    text_message,
)
from penstock.wires.failures import Refused as RefusedByProvider

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.agent.protocols import Driver
    from penstock.context.answers import AnswerFault
    from penstock.context.provider_counts import Observation
    from penstock.models import Model
    from penstock.overflow import Overflow
    from penstock.session import Ask
    from penstock.text.json_access import Json

MAX_DOUBTS = 2
"""How often in a row an answer is rejected because a smaller request may bring a better one."""
MAX_CONTINUATIONS = 3
"""How often a model is asked to continue a reply that was cut at its length."""
MIN_REPLY_TOKENS = 256
"""The shortest reply that is worth a request when the budget is nearly used up."""
GO_ON_SMALLER = (
    "Your reply was cut at its length limit of {tokens} tokens, in a call: what it was to hold may be missing. Make calls that are "
    "smaller, such as a file in several parts."
)
"""The message to a model whose call was cut: sent again whole it would be cut again."""
# Length of a provider's error kept in the journal.
_MESSAGE_CHARS = 500


class Asking:
    """Asks the model of one driver, and records what is wrong with its answers."""

    def __init__(self, driver: Driver, *, streams: bool = True) -> None:
        """Ask for a driver.

        Args:
            driver: whose model is asked, and who is fed the outcome.
            streams: whether the listener gets answers piece by piece, or whole.
        """
        self._driver = driver
        self.streams = streams
        self._can_stream = "on_text" in signature(driver.model.send).parameters
        self._taken: tuple[Model, int, tuple[Observation, ...]] = driver.model, 0, ()
        """The most input that a model has reported (a smaller number from the same model is not its window), and the newest
        counts.
        """
        self.counts_more = 1.0
        """The largest factor by which the provider's count exceeded our upper bound."""
        self.asked_tokens = 0
        """What the newest request could take at most; 0 if there is no budget."""
        self.begin_run()

    def begin_run(self) -> None:
        """Forget what was wrong with the answers of another run."""
        self.warnings: dict[str, str] = {}
        """What was wrong with answers, the first of each kind: the numbers differ with each turn."""
        self.recoveries = 0
        """Requests that were refused as too large."""
        self.outage: tuple[float, str] | None = None
        """Since when the provider fails, and its last message, inert; None while it answers."""
        self.refusal = ""
        """What the provider said when it last refused a request as too large, inert; empty if it did not."""
        self.said: list[str] = []
        """The parts of a reply that came unfinished, except for the last."""
        self._was_empty = self._is_mended_told = False
        self._go_on = ""
        """What a model is told whose last reply is unfinished; empty if it is whole."""
        self.silence: AnswerFault | None = None
        """Why the last answer says nothing: the provider withheld it, or the model had nothing even when asked again; else None."""
        self._cut_at: Overflow | None = None

    def affordable(self, step: Ask) -> Ask | None:
        """Return the request with a reply that the budget still pays for; None if it does not pay even for a short one.

        Args:
            step: the request as the session wants it.
        """
        purse = self._driver.purse
        if purse is None:
            return step
        left = purse.left_tokens - self.most_tokens(step) + step.reserve_tokens
        if left < min(MIN_REPLY_TOKENS, step.reserve_tokens):
            return None
        return replace(step, reserve_tokens=min(left, step.reserve_tokens))

    def most_tokens(self, step: Ask) -> int:
        """Return what a request takes at most, with its reply: by our upper bound, or more if the provider has counted more."""
        sized = Sized(step.transcript, self._driver.session.counter)
        return math.ceil(sized.high * self.counts_more) + step.reserve_tokens

    def ask(self, step: Ask) -> None:
        """Send the request and feed the outcome: an answer, a refusal or a failure."""
        driver = self._driver
        request = self._request(step)
        try:
            body = self._paid(step, lambda: self._sent(request))
        except Cancelled:
            driver.is_stopped = True
            return
        # A mistake of the program, or of a test's script.
        except (CallerError, AssertionError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever a model raises is read as a refusal
            self._refused(error)
            return
        try:
            messages = tuple(answer_messages(body, driver.model.wire, self._call_ids()))
        # The body is not an answer: a fault of the server, which may pass.
        except CallerError as error:
            self._failed("server_error", str(error))
            return
        faults = self._faults(step, body)
        if any(map(self._is_not_taken, faults)):
            return
        is_cut = any(fault.kind in {"length", "window"} for fault in faults)
        self._go_on = placeholders.GO_ON if is_cut else ""
        if is_paused(body, driver.model.wire):
            self._go_on = placeholders.GO_ON_FROM_HERE
        replied = Replied(
            messages=messages,
            input_tokens=reported_input(body),
            output_tokens=output_tokens(body, driver.model.wire),
        )
        driver.feed(replied)
        self.outage = None
        silent = {"empty"} if last_words(driver.session.state.transcript).strip() else {"empty", "withheld"}
        self.silence = next((fault for fault in faults if fault.kind in silent), None)
        if is_cut and driver.session.state.open_calls:
            driver.told = "\n".join(filter(None, (driver.told, GO_ON_SMALLER.format(tokens=step.reserve_tokens))))

    def words(self, step: Ask) -> str | None:
        """Return the words of an answer that is not part of the session; None if there are none, for whatever reason."""
        if (affordable := self.affordable(step)) is None:
            return None
        model = self._driver.model
        request = self._request(affordable)
        try:
            return answer_words(self._paid(affordable, lambda: model.send(request)), model.wire)
        except Exception:  # noqa: BLE001 - such words are not worth an end: the session does without
            return None

    def _request(self, step: Ask) -> dict[str, Json]:
        """Return the body of the request, as the provider accepts it.

        A model may write arguments that are not JSON, or two calls with one id. The session keeps what it wrote; a provider
        would refuse every request that shows it, and so end a run whose model has long since recovered.
        """
        composed = compose_request(step.transcript, self._driver.model.name, step.reserve_tokens)
        request: dict[str, Json]
        request, mended = dump_mended(step.transcript, composed)
        if mended and not self._is_mended_told:
            self._is_mended_told = True
            self._driver.listener.step(self._driver.session, f"repairs what the provider would reject: {mended[0]}")
        return request

    def _call_ids(self) -> set[str]:
        """Return the ids of all calls of the conversation, including forgotten ones."""
        entries = self._driver.session.state.transcript.entries
        return {call.id for entry in entries for call in entry.calls}

    def _paid(self, step: Ask, send: Callable[[], dict[str, Json]]) -> dict[str, Json]:
        """Return the body of an answer; the most that it can take is charged before the request, and what it took is settled
        after it.
        """
        purse = self._driver.purse
        if purse is None:
            return send()
        self.asked_tokens = self.most_tokens(step)
        taken = min(self.asked_tokens, purse.left_tokens)
        purse.take(taken)
        try:
            body = send()
        except Cancelled:
            # What the provider has produced by now is not known: all of it stays charged.
            raise
        except Exception:
            purse.settle(taken, 0)
            raise
        purse.settle(taken, self._used(step, body, taken))
        return body

    def _used(self, step: Ask, body: Json, taken_tokens: int) -> int:
        """Return what an answer took, as the provider reports it; if it does not, all that the answer can have taken."""
        came, made = reported_input(body), output_tokens(body, self._driver.model.wire)
        if came is None or made is None:
            return taken_tokens
        high = Sized(step.transcript, self._driver.session.counter).high
        self.counts_more = max(self.counts_more, came / max(1, high))
        return came + made

    def goes_on(self) -> bool:
        """Return whether the model was asked to continue a reply that is unfinished."""
        if not self._go_on or len(self.said) >= MAX_CONTINUATIONS:
            return False
        words, self._go_on = self._go_on, ""
        transcript = self._driver.session.state.transcript
        self.said.append(last_words(transcript))
        self._driver.listener.step(self._driver.session, "asks the model to continue its reply")
        self._driver.feed(Prompted(message=text_message(transcript.wire, "user", words)))
        return True

    def _sent(self, request: dict[str, Json]) -> dict[str, Json]:
        """Return the body of the answer; the listener has its words by then."""
        driver = self._driver
        body: dict[str, Json]
        if not self._can_stream:
            body = driver.model.send(request)
        else:
            send: Any = driver.model.send
            on_text = driver.listener.text if self.streams else None
            body = send(request, on_text=on_text, cancelled=lambda: driver.is_stopped)
            if self.streams:
                return body
        driver.listener.text(answer_words(body, driver.model.wire))
        return body

    def _refused(self, error: Exception) -> None:
        """Feed an error of the model as a refusal if it is about size, else as a failure."""
        told, overflow = diagnose(error), overflow_in(error)
        if overflow is not None:
            self.refusal = escape.show_argument(_shortened(self._words_of(error)))
            self._too_large(overflow, f"{told.kind}. It said: {self.refusal}")
            return
        # With HTTP 200 the request was accepted: whatever failed after that may pass.
        is_accepted = isinstance(error, RefusedByProvider) and error.status_code == 200
        kind = "server_error" if told.kind == "unknown" and is_accepted else told.kind
        # No outage: until a person changes certificates or proxy, no try can connect.
        if told.kind == "connection" and told.recovery == "none":
            kind = "settings"
        self._failed(kind, self._words_of(error), told.retry_after_seconds)

    def _words_of(self, error: Exception) -> str:
        """Return an error's message; for an answer over HTTP with the address, which may not be the one that the person expects."""
        address = getattr(self._driver.model, "address", "")
        if not (address and isinstance(error, RefusedByProvider)):
            return str(error)
        said = f"HTTP {error.status_code}"
        return f"{said} from {address}{str(error).removeprefix(said)}"

    def _too_large(self, overflow: Overflow, why: str) -> None:
        """Feed the evidence that a request was too large, and tell the listener why."""
        self.recoveries += 1
        self._driver.feed(Ticked(now_seconds=self._driver.now()))
        self._driver.feed(Refused(overflow=asdict(overflow)))
        self._driver.listener.step(self._driver.session, f"refused: {why}")

    def _failed(self, kind: str, message: str, retry_after_seconds: float | None = None) -> None:
        """Feed a failure, with the time, which decides about waiting."""
        driver = self._driver
        driver.feed(Ticked(now_seconds=driver.now()))
        short = _shortened(message)
        driver.feed(Failed(kind=kind, message=short, retry_after_seconds=retry_after_seconds))
        since = driver.now() if self.outage is None else self.outage[0]
        self.outage = (since, escape.show_argument(short))
        driver.listener.step(driver.session, f"failed ({kind}): {short}")
        driver.escalate()

    # ── answers with a fault ─────────────────────────────────────────────────────────────────────────────────────

    def _faults(self, step: Ask, body: Json) -> tuple[AnswerFault, ...]:
        """Return what is wrong with an answer, and report it to the listener and the run's result."""
        session, model = self._driver.session, self._driver.model
        sized = Sized(step.transcript, session.counter)
        _, taken_tokens, answered = self._taken if self._taken[0] is model else (model, 0, ())
        faults = faults_of(
            body,
            model.wire,
            estimated_tokens=sized.low,
            window_tokens=session.state.limits.window_tokens,
            taken_tokens=taken_tokens,
            asked_tokens=step.reserve_tokens,
            counts=sized.counts,
            answered=answered,
        )
        if (taken := taken_by(body, model.wire, faults)) is not None:
            taken_tokens, answered = max(taken_tokens, taken), (*answered[-EQUAL_BEFORE:], stated(sized.counts, taken))
        self._taken = model, taken_tokens, answered
        for fault in faults:
            if fault.kind not in self.warnings:
                self.warnings[fault.kind] = fault.message
                self._driver.listener.step(session, fault.message)
        return faults

    def _is_not_taken(self, fault: AnswerFault) -> bool:
        """Return whether an answer is asked for again, smaller if that cures it; what cannot be cured is taken as it is."""
        # A server that cuts does so at the same number each time; another number counts something else.
        counts_otherwise = (
            fault.kind == "dropped" and fault.overflow not in {self._cut_at, None} and self._cut_at is not None
        )
        if fault.kind == "dropped":
            self._cut_at = self._cut_at or fault.overflow
        if fault.overflow is not None and not counts_otherwise and self._can_shrink(fault.overflow):
            self._too_large(fault.overflow, fault.kind)
            return True
        # A fault of the server, which may pass; if it is empty twice, that is the model's answer.
        if fault.kind == "empty" and not self._was_empty:
            self._was_empty = True
            self._failed("server_error", fault.message)
            return True
        return False

    def _can_shrink(self, overflow: Overflow) -> bool:
        """Return whether the session has a smaller request that may cure the fault: without one, the faulty answer is better
        than none.
        """
        session = self._driver.session
        if len(session.state.refusals) >= MAX_DOUBTS:
            return False
        ahead = copy(session)
        ahead.feed(Refused(overflow=asdict(overflow)))
        step = ahead.next_step()
        if not isinstance(step, Compact):
            return isinstance(step, Summarise)
        # If instructions and tools alone are far more than the server keeps, no request of this session fits there.
        return overflow.limit is None or step.plan.after_tokens <= overflow.limit * CUT_FACTOR


def _shortened(message: str) -> str:
    """Return an error's message as it is kept and shown: without secrets, and not longer than people read."""
    return redacted(message)[:_MESSAGE_CHARS]


def last_words(transcript: Any) -> str:
    """Return the text of the last answer; empty if the last entry is not an answer."""
    last = transcript.entries[-1] if transcript.entries else None
    words = last.text if last is not None and last.role == "assistant" else ""
    return "" if words == placeholders.NO_ANSWER else words

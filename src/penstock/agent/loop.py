"""Who drives a session? One short loop: ask the session what is next, do it, tell it what came of it (S-12).

Every event is written to the journal before the session hears of it, so that a kill at any instant loses nothing that
was acknowledged: `resumed` replays the journal, and goes on. Law: what has an effect is announced before it is done,
and never done again unasked. Leaves to others: what is next (`session`), what a tool does (`toolbox`), and how a
provider is reached (`models`).
"""

from __future__ import annotations

import json
import time
import uuid
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol

from penstock.agent.disk_changes import CHANGED
from penstock.agent.edits import EDITED, kept_edit
from penstock.context.answers import fault_of, overflow_in, taken_by
from penstock.context.compaction import apply
from penstock.context.handoff import encode, render
from penstock.context.sized import Sized
from penstock.errors import CallerError
from penstock.models import Cancelled
from penstock.overflow import diagnose
from penstock.overflow.silent import reported_input
from penstock.session import (
    Ask,
    Await,
    Call,
    Closed,
    Compact,
    Compacted,
    Effected,
    Failed,
    HandedOff,
    HandOff,
    Intended,
    Interrupted,
    Noted,
    Outcome,
    Prompted,
    Refused,
    Replied,
    Returned,
    Session,
    Stop,
    Summarise,
    Summarised,
    Ticked,
    Wait,
    after,
    event_of,
    name_of,
    to_dict,
)
from penstock.session.effects import settled_later
from penstock.store.texts import put_text, put_texts
from penstock.text import escape
from penstock.text.calls import PYTHON
from penstock.text.calls import Call as ToolHint
from penstock.text.json_redaction import redacted_json
from penstock.text.redaction import mark_in, redacted
from penstock.wires import (
    answer_messages,
    answer_words,
    begin,
    compose_request,
    output_tokens,
    placeholders,
    result_messages,
    text_message,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.context.answers import AnswerFault
    from penstock.context.handoff import Handoff
    from penstock.models import Model
    from penstock.overflow import Overflow
    from penstock.session import Event, Step
    from penstock.session.effects import Change, Intent, Settled
    from penstock.store import Store
    from penstock.text.json_access import Json
    from penstock.wires import ToolCall

BEGUN = "Begun"
"""The type of the first record of a session: its header, and what it was begun with."""
SEEN, TRACKED = "Seen", "Tracked"
"""Types of records beside the events: which files a tool showed or changed (`Seen`), and what they were then (`Tracked`)."""
_NO_EVENTS = frozenset({SEEN, TRACKED, EDITED, CHANGED})
_CHARS_PER_TOKEN = 3
MAX_DOUBTS = 2
"""How often in a row an answer is not taken because a smaller request may bring a better one."""
MAX_WAIT_SECONDS = 600.0
"""How long an outage of the provider is waited for."""
_WAIT_STEP_SECONDS = 0.1
"""How long a wait goes on after it was interrupted, at most."""
_COUNTDOWN_SECONDS = 15.0
"""How often the listener hears how long a wait still is."""
MAX_CONTINUATIONS = 3
"""How often a model is asked to go on with a reply that was cut at its length."""
GO_ON_FROM_HERE = "Go on from where you stopped."
"""What a model is told that was stopped in the middle of its work, where there is something else to tell it."""
GO_ON = "[Your reply was cut at its length limit. Go on exactly where it stopped, without repeating anything.]"
"""What a model is told whose reply was cut."""
# Of a result, for the person who watches.
_SHOWN_CHARS = 120
# Of a provider's error, for the journal.
_MESSAGE_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a call ended, and what the journal has to remember of it."""

    text: str
    """The result for the model."""
    failed: bool = False
    """Whether it did not do what it was asked for."""
    is_refusal: bool = False
    """Whether it failed because we refused it: that is no mistake that counts (S-11)."""
    seen: tuple[dict[str, Json], ...] = ()
    """What the ledger remembers of the files that were shown or changed, as acts."""
    tracked: tuple[dict[str, Json], ...] = ()
    """Those files as they are now: what a resume compares them with."""
    notes: tuple[Noted, ...] = ()
    """Changes of the todo list."""
    change: Change | None = None
    """The change of a file that was made."""
    advice: str = ""
    """What the person should hear, too; it stands in the result already."""
    changed: tuple[dict[str, Json], ...] = ()
    """The files that are other than they were before the call, and what they held then."""


class ToolRunner(Protocol):
    """The tools of an agent, as the loop needs them; `toolbox` has ours."""

    def intent(self, call: ToolCall) -> Intent | None:
        """Return what a call would change; None for one that only looks."""
        ...

    def run(self, call: ToolCall, session: Session) -> Done:
        """Run a call. Mistakes are results that say so; what is raised ends the work."""
        ...

    def settled(self, kind: str, what: str, digest: str) -> Settled:
        """Return what became of an effect that was begun and not seen to its end."""
        ...

    def interrupt(self) -> None:
        """End what runs now; may be called from another thread or a signal handler."""
        ...

    def close(self) -> None:
        """Give back what tools hold."""
        ...

    def digest_after(self, call: ToolCall) -> str:
        """Return the digest of what the last call changed, as it is now."""
        ...

    def change(self, call: ToolCall) -> Change | None:
        """Return the file that a call would change, with both contents; None where it is not known."""
        ...

    def overwritten(self) -> tuple[str, ...]:
        """Return the files that no longer are what an edit of the session left; each is named once."""
        ...

    def corrected(self, handoff: Handoff) -> Handoff:
        """Return a handoff whose files are those that differ on the disk from what the session found."""
        ...


class Listener(Protocol):
    """What a face shows while the work goes on."""

    def text(self, delta: str) -> None:
        """Take a piece of the answer, as it comes."""
        ...

    def step(self, session: Session, what: str) -> None:
        """Take a line about something that was done: a call, a cut, a wait."""
        ...


class _Nobody:
    """The listener where nobody listens."""

    def text(self, delta: str) -> None:
        pass

    def step(self, session: Session, what: str) -> None:
        pass


@dataclass(kw_only=True)
class AgentRun:
    """How the work on one prompt ended."""

    session: str
    answer: str = ""
    """The model's last words; empty where it did not come to any."""
    outcome: str = "answered"
    """`answered`, `interrupted`, `max_turns`, `outage`, or why the session stopped."""
    message: str = ""
    """What the person may do now; empty with an answer."""
    turns: int = 0
    """Answers of the model in this run."""
    usage: dict[str, int] = field(default_factory=dict)
    """`input_tokens` and `output_tokens` of this run, as the provider reported them."""
    cuts: int = 0
    """Compactions in this run."""
    recoveries: int = 0
    """Requests of this run that were refused as too large."""
    warnings: tuple[str, ...] = ()
    """What was wrong with answers that came: cut without a word, empty, ended at their length (R-6)."""


class Agent:
    """A session with a model, tools and a store to live in."""

    def __init__(
        self,
        session: Session,
        model: Model,
        tools: ToolRunner,
        store: Store,
        *,
        listener: Listener | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
        next_seq: int = 0,
        streams: bool = True,
        max_wait_seconds: float = MAX_WAIT_SECONDS,
    ) -> None:
        """Put an agent together; `begin` or a resume comes before `run`.

        Args:
            session: what decides.
            model: whom to ask; where its `send` takes `on_text`, answers come as they are made.
            tools: what runs the model's calls.
            store: where the journal and what is cut are kept.
            listener: what shows the work; None shows nothing.
            clock: seconds; only differences count.
            sleep: waits so many seconds.
            next_seq: the number of the next record: 0, or what `resumed` says.
            streams: whether the listener gets answers piece by piece, or whole.
            max_wait_seconds: how long an outage of the provider is waited for; after that the run ends, and can be resumed.
        """
        self.session, self.model, self.tools, self.store = session, model, tools, store
        self.listener: Listener = listener or _Nobody()
        self._clock, self._sleep = clock, sleep
        self._seq = next_seq
        self._as_made: dict[str, ToolCall] | None = None
        """The open calls as the model made them; None where a resume knows them from the journal alone."""
        self._after: dict[str, str] = {}
        """What this run wrote into files, by path: the handle of the newest content."""
        self._recoveries = 0
        self._taken = model, 0
        """The most input that a model has reported: a smaller number of the same one is none of its window."""
        self._stopped = False
        self._max_wait_seconds = max_wait_seconds
        self._outage: tuple[float, str] | None = None
        """Since when the provider fails, and what it said last; None while it answers."""
        self._told = ""
        """What the model is told with its next result."""
        self._begin_run()
        self._can_stream = "on_text" in signature(model.send).parameters
        self._streams = streams

    def interrupt(self) -> None:
        """Stop the work at the next safe point; the session is kept, and the next prompt goes on. From any thread or
        signal handler.
        """
        self._stopped = True
        self.tools.interrupt()

    # ── the journal ──────────────────────────────────────────────────────────────────────────────────────────────

    def begin(self, **about: Json) -> None:
        """Write the first record of the session.

        Args:
            about: what a resume has to know beside the session, as JSON.
        """
        self._write(BEGUN, {"header": self.session.header(), **about})

    def feed(self, event: Event, handles: tuple[str, ...] = ()) -> None:
        """Write an event to the journal, then tell the session.

        Args:
            event: what happened.
            handles: artifacts that the event names, which live as long as the session.

        Raises:
            CallerError: for an event that the session does not take; it is not written.
            StoreFault: where it cannot be written; the session has not heard of it then.
        """
        # Secrets go before anybody knows the event, so that a replay of what was written gives the session that was, and
        # the same requests. Tools still run the calls as the model made them.
        clean = without_secrets(event)
        if isinstance(event, Replied):
            self._as_made = {call.id: call for call in after(self.session.state, event).open_calls}
        # Judged first, written next, believed last: a journal never holds an event that a replay would refuse, and the
        # session never knows one that a kill could take back.
        state = after(self.session.state, clean)
        self._write(name_of(clean), to_dict(clean), handles)
        self.session.state = state

    def _write(self, name: str, data: dict[str, Json], handles: tuple[str, ...] = ()) -> None:
        self.store.append(self.session.session_id, self._seq, name, data, handles=handles)
        self._seq += 1

    # ── the loop ─────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self, prompt: str | None = None, *, max_turns: int | None = None, told: str = "") -> AgentRun:
        """Work on a prompt, or go on with what is open, until the session awaits the user or stops.

        Args:
            prompt: what the user says; None goes on with what is open.
            max_turns: after so many answers of the model the work is stopped as by an interrupt; None sets no end.
            told: what the model has to know before it goes on, such as which files have changed: it stands in its next
                request, behind the prompt or behind the results of the calls that are open.
        """
        before = self.session.state
        if told and prompt is None and before.phase != "calling":
            prompt = GO_ON_FROM_HERE
        if prompt is None:
            self._told = told
        elif told:
            prompt = f"{prompt}\n\n{told}"
        if prompt is not None:
            if before.phase not in {"idle", "ended"}:  # the person says something else: what was open is closed
                self.feed(Interrupted())
            self.feed(Prompted(message=text_message(self.session.state.transcript.wire, "user", prompt)))
        self._recoveries, self._stopped, self._outage = 0, False, None
        self._begin_run()
        most = None if max_turns is None else before.all_turns + max_turns
        outcome, message = self._until_done(most)
        ended = self.session.state
        return AgentRun(
            session=self.session.session_id,
            answer="".join([*self._said, last_words(ended.transcript)]) if outcome == "answered" else "",
            outcome=outcome,
            message=message,
            turns=ended.all_turns - before.all_turns,
            usage={
                "input_tokens": ended.input_tokens - before.input_tokens,
                "output_tokens": ended.output_tokens - before.output_tokens,
            },
            cuts=ended.compactions - before.compactions,
            recoveries=self._recoveries,
            warnings=tuple(self._warnings),
        )

    def _begin_run(self) -> None:
        """Forget what was wrong with the answers of another run."""
        self._warnings: list[str] = []
        self._said: list[str] = []
        """The parts of a reply that was cut, but for the last."""
        self._is_cut = self._was_empty = False
        self._cut_at: Overflow | None = None

    def _until_done(self, max_turns: int | None) -> tuple[str, str]:
        """Carry out steps until there is none; return the outcome and what to tell the person."""
        step = self._first_step()
        while True:
            if isinstance(step, Await):
                if not self._goes_on():
                    return "answered", ""
                step = self.session.next_step()
                continue
            if isinstance(step, Stop):
                if self.session.state.phase != "ended":
                    self.feed(Closed(reason=step.reason))
                said = "" if self._outage is None else f" It said: {self._outage[1]}"
                return step.reason, f"{step.message}{said}"
            if isinstance(step, Wait) and (words := self._outlasted(step)):
                self.feed(Interrupted())
                return "outage", words
            # Looked at before every step: the session is then at a place from which the next prompt goes on, with every
            # open call closed by the interrupt.
            spent = max_turns is not None and self.session.state.all_turns >= max_turns and isinstance(step, Ask)
            if self._stopped or spent:
                self.feed(Interrupted())
                return "max_turns" if spent else "interrupted", interrupted(self.session.session_id)
            self._perform(step)
            step = self.session.next_step()

    def _first_step(self) -> Step:
        """Return the first step of a run; it waits for nothing, since whoever begins a run has looked at what failed before."""
        step = self.session.next_step()
        if not isinstance(step, Wait):
            return step
        ahead = copy(self.session)
        faults = replace(ahead.state.faults, open_until_seconds=None, wait_until_seconds=None)
        ahead.state = replace(ahead.state, faults=faults)
        return ahead.next_step()

    def _perform(self, step: object) -> None:
        """Carry out one step."""
        match step:
            case Ask():
                self._ask(step)
            case Call():
                self._call(step)
            case Compact():
                self._compact(step)
            case Summarise():
                self._summarise(step)
            case HandOff():
                self._hand_off(step)
            case Wait():
                self._wait(step)

    def _wait(self, step: Wait) -> None:
        """Wait until something may be sent again; an interrupt ends it, and every so often the listener hears how long it is."""
        told = float("inf")
        while not self._stopped and (left := step.until_seconds - self._clock()) > 0:
            if told - left >= _COUNTDOWN_SECONDS:
                told = left
                self.listener.step(self.session, f"waits {left:.0f} s: {step.why}")
            self._sleep(min(_WAIT_STEP_SECONDS, left))
        self.feed(Ticked(now_seconds=self._clock()))

    def _outlasted(self, step: Wait) -> str:
        """Return what to say where an outage would be waited for longer than is wanted; empty where it is waited for."""
        if self._outage is None:
            return ""
        since, words = self._outage
        if step.until_seconds - since <= self._max_wait_seconds:
            return ""
        lasted = f"The provider has failed for {self._clock() - since:.0f} s, and nothing may be sent for"
        more = f"{max(0.0, step.until_seconds - self._clock()):.0f} s more (--wait {self._max_wait_seconds:.0f})."
        return f"{lasted} {more} It said: {words}\n{interrupted(self.session.session_id)}"

    def _ask(self, step: Ask) -> None:
        """Send the request and feed what came: an answer, a refusal or a failure."""
        request = compose_request(step.transcript, self.model.name, step.reserve_tokens)
        try:
            body = self._sent(request)
        except Cancelled:
            self._stopped = True
            return
        # A mistake of the program, or of the script of a test.
        except (CallerError, AssertionError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever a model raises is read as a refusal
            self._refused(error)
            return
        try:
            messages = tuple(answer_messages(body, self.model.wire))
        # What came is no answer: a fault of the server, which may pass.
        except CallerError as error:
            self._failed("server_error", str(error))
            return
        fault = self._fault(step, body)
        if fault is not None and self._is_not_taken(fault):
            return
        self._is_cut = fault is not None and fault.kind in {"length", "window"}
        replied = Replied(
            messages=messages,
            input_tokens=reported_input(body),
            output_tokens=output_tokens(body, self.model.wire),
        )
        self.feed(replied)
        self._outage = None
        if not self.session.state.open_calls:
            self.listener.step(self.session, "answered")
        if warned := self._turns_warned():
            self._told = "\n".join(filter(None, (self._told, warned)))
            self.listener.step(self.session, warned)

    def _turns_warned(self) -> str:
        """Return what is said when the turns reach a rung of the profile (S-1); empty at any other turn."""
        state = self.session.state
        rungs = sorted(rung.turns for rung in state.limits.rungs if rung.turns is not None)
        if state.turns not in rungs[:-1]:
            return ""
        ahead = next(turns for turns in rungs if turns > state.turns)
        return f"{state.turns} turns since the last fresh start: a handoff comes at {ahead} or soon after. Finish what is open."

    def _sent(self, request: dict[str, Json]) -> dict[str, Json]:
        """Return the body of the answer; the listener has its words by then."""
        body: dict[str, Json]
        if not self._can_stream:
            body = self.model.send(request)
        else:
            send: Any = self.model.send
            on_text = self.listener.text if self._streams else None
            body = send(request, on_text=on_text, cancelled=lambda: self._stopped)
            if self._streams:
                return body
        self.listener.text(answer_words(body, self.model.wire))
        return body

    def _refused(self, error: Exception) -> None:
        """Feed an error of the model as a refusal where it is about size, else as a failure."""
        told, overflow = diagnose(error), overflow_in(error)
        if overflow is not None:
            self._too_large(overflow, told.kind)
            return
        self._failed(told.kind, str(error), told.retry_after_seconds)

    def _too_large(self, overflow: Overflow, kind: str) -> None:
        """Feed what shows that a request was too large."""
        self._recoveries += 1
        self.feed(Ticked(now_seconds=self._clock()))
        self.feed(Refused(overflow=asdict(overflow)))
        self.listener.step(self.session, f"refused: {kind}")

    # ── answers with a fault ───────────────────────────────────────────────────────────────────────────────

    def _fault(self, step: Ask, body: Json) -> AnswerFault | None:
        """Return what is wrong with an answer, which the listener and the run's result are told; None where nothing is."""
        sized = Sized(step.transcript, self.session.counter)
        taken_tokens = self._taken[1] if self._taken[0] is self.model else 0
        fault = fault_of(
            body,
            self.model.wire,
            estimated_tokens=sum(count.low for count in sized.parts()),
            window_tokens=self.session.state.limits.window_tokens,
            taken_tokens=taken_tokens,
            asked_tokens=step.reserve_tokens,
        )
        self._taken = self.model, max(taken_tokens, taken_by(body, fault) or 0)
        if fault is not None and fault.message not in self._warnings:
            self._warnings.append(fault.message)
            self.listener.step(self.session, fault.message)
        return fault

    def _is_not_taken(self, fault: AnswerFault) -> bool:
        """Whether an answer is asked for anew, smaller where that cures it; what cannot be cured is taken as it is."""
        # A server that cuts does it at the same number each time; another number is a count of something else.
        counts_otherwise = (
            fault.kind == "dropped" and fault.overflow not in {self._cut_at, None} and self._cut_at is not None
        )
        if fault.kind == "dropped":
            self._cut_at = self._cut_at or fault.overflow
        if fault.overflow is not None and not counts_otherwise and self._can_shrink(fault.overflow):
            self._too_large(fault.overflow, fault.kind)
            return True
        # A fault of the server, which may pass; said twice it is what the model has to say.
        if fault.kind == "empty" and not self._was_empty:
            self._was_empty = True
            self._failed("server_error", fault.message)
            return True
        return False

    def _can_shrink(self, overflow: Overflow) -> bool:
        """Whether the session has a smaller request for what an answer shows: without one, the answer is better than none."""
        if len(self.session.state.refusals) >= MAX_DOUBTS:
            return False
        ahead = copy(self.session)
        ahead.feed(Refused(overflow=asdict(overflow)))
        return isinstance(ahead.next_step(), Compact | Summarise)

    def _goes_on(self) -> bool:
        """Whether the model was asked to go on with a reply that was cut."""
        if not self._is_cut or len(self._said) >= MAX_CONTINUATIONS:
            return False
        self._is_cut = False
        self._said.append(last_words(self.session.state.transcript))
        self.listener.step(self.session, "asks the model to go on with its reply")
        self.feed(Prompted(message=text_message(self.session.state.transcript.wire, "user", GO_ON)))
        return True

    def _failed(self, kind: str, message: str, retry_after_seconds: float | None = None) -> None:
        """Feed a failure, with the time, which decides about waiting."""
        self.feed(Ticked(now_seconds=self._clock()))
        short = redacted(message)[:_MESSAGE_CHARS]
        self.feed(Failed(kind=kind, message=short, retry_after_seconds=retry_after_seconds))
        since = self._clock() if self._outage is None else self._outage[0]
        self._outage = (since, short)
        self.listener.step(self.session, f"failed ({kind}): {short}")
        self._escalate()

    # ── tools ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _call(self, step: Call) -> None:
        """Run the open calls, one after the other, and feed their results together."""
        rows: list[tuple[ToolCall, str, bool]] = []
        outcomes: list[Outcome] = []
        for call in step.calls:
            if self._stopped:
                # The interrupt closes the calls, those that were run too: results are taken together or not at all.
                return
            self.listener.step(self.session, f"calls {call.name} {call.arguments[:100]}")
            done = self._run(call)
            text = redacted(done.text)
            self.listener.step(self.session, _shown(call.name, text, failed=done.failed))
            if done.advice:
                self.listener.step(self.session, done.advice)
            # Of the result as the model sees it, before advice is added: the same result is the same digest, however
            # often it was told so.
            digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            advice = self.session.advice(call, digest)
            rows.append((call, f"{text}\n{advice}" if advice else text, done.failed))
            outcomes.append(Outcome(call_id=call.id, failed=done.failed, is_refusal=done.is_refusal, digest=digest))
        news = [*self._overwritten(), *([self._told] if self._told else [])]
        if rows and news:
            call, text, failed = rows[-1]
            rows[-1] = (call, "\n".join([text, *news]), failed)
            self._told = ""
        messages = result_messages(self.session.state.transcript.wire, rows)
        self.feed(Returned(messages=tuple(messages), outcomes=tuple(outcomes)))
        if any(outcome.failed for outcome in outcomes):
            self._escalate()

    def _escalate(self) -> None:
        """Tell the listener of so many failures in a row (S-11)."""
        state = self.session.state
        if state.faults.escalates(state.limits.errors):
            self.listener.step(self.session, _escalated(state.faults.row))

    def _run(self, call: ToolCall) -> Done:
        """Run one call as the model made it. What changes the world is written down before and after, and not done again
        where a kill came between.
        """
        if self._as_made is not None:
            call = self._as_made.get(call.id, call)
        elif mark := mark_in(call.arguments):
            return Done(
                text=f"Not run: the call held a secret, which is not kept ({mark}). Make it again.", failed=True
            )
        intent, change = self.tools.intent(call), self.tools.change(call)
        # With the turn, because some servers number the calls of every turn anew.
        place = f"{self.session.state.all_turns}:{call.id}"
        # With an id of this agent alone: where two resumed the same session, the second one's record conflicts in the
        # journal before it acts.
        effect_id = f"{new_id()}:{place}"
        if intent is not None:
            if (left := self._left(place)) is not None:
                return left
            self.feed(Intended(effect_id=effect_id, kind=intent.kind, what=intent.what, digest=intent.digest))
            self._keep_change(effect_id, change)
        done = self.tools.run(call, self.session)
        if intent is not None:
            # Somebody may have changed the file since the intent: what was displaced is what counts.
            if done.change != change:
                self._keep_change(effect_id, done.change)
            self.feed(Effected(effect_id=effect_id, digest=self.tools.digest_after(call)))
        if done.changed:
            self._write(CHANGED, {"files": list(done.changed)})
        if done.seen:
            self._write(SEEN, {"acts": list(done.seen)})
            self._write(TRACKED, {"files": list(done.tracked)})
        for note in done.notes:
            self.feed(note)
        return done

    def _keep_change(self, effect_id: str, change: Change | None) -> None:
        """Keep both contents of a file, and write down their handles: for an undo, and for whoever is overwritten (S-16)."""
        if change is not None:
            kept = kept_edit(self.store, effect_id, change)
            self._write(EDITED, kept.to_dict(), kept.handles)
            self._after[change.path] = kept.after

    def _overwritten(self) -> list[str]:
        """Return what there is to say of files that somebody else has changed since this session did."""
        dialect = self.session.dialect or PYTHON
        told = []
        for path in self.tools.overwritten():
            shown = dialect.write(ToolHint("page", {"handle": self._after[path]}))
            told.append(
                f"{escape.show_name(path)} is no longer what your edit left: a command or somebody else has changed it. "
                f"What you wrote is kept: {shown}"
            )
        return told

    def _left(self, place: str) -> Done | None:
        """Return what there is to say of a call that was begun before a kill; None where it may be done, since nothing
        of it was.
        """
        begun = [effect for name, effect in self.session.state.effects if name.partition(":")[2] == place]
        if not begun:
            return None
        kind, what = begun[-1].kind, begun[-1].what
        told = self.tools.settled(kind, what, begun[-1].digest)
        if told == "not done":
            return None
        return Done(text=settled_later(kind, what, told), failed=told == "unknown")

    # ── forgetting ───────────────────────────────────────────────────────────────────────────────────────────────

    def _compact(self, step: Compact) -> None:
        """Apply a plan, keep what it takes from view, and feed the edits."""
        before = self.session.state.transcript
        smaller = apply(before, step.plan, keep_all=partial(put_texts, self.store))
        # The edits and not the plan: handles are known only now, and a replay must not store anything again.
        edits = tuple(asdict(edit) for edit in smaller.edits[len(before.edits) :])
        handles = tuple(edit["handle"] for edit in edits if edit["handle"])
        self.feed(Compacted(edits=edits, strategy=step.strategy, reserve_tokens=step.reserve_tokens), handles)
        what = f"cut {step.plan.freed_tokens} tokens" if edits else "asks for a shorter reply"
        self.listener.step(self.session, f"{what} ({step.strategy})")

    def _summarise(self, step: Summarise) -> None:
        """Ask the model for a summary and feed its words, or that there are none."""
        wire = self.model.wire
        asked = compose_request(begin(wire, prompt=step.prompt), self.model.name, 2_000)
        try:
            text: str | None = answer_words(self.model.send(asked), wire)
        except Exception:  # noqa: BLE001 - a summary is not worth an end: the rest of the ladder does without
            text = None
        self.feed(Summarised(text=text))

    def _hand_off(self, step: HandOff) -> None:
        """Keep the whole conversation, write the handoff that names it, and begin afresh."""
        whole = "".join(
            json.dumps(entry.raw, ensure_ascii=False) + "\n" for entry in self.session.state.transcript.visible()
        )
        handle = put_text(self.store, whole, "conversation")
        passed_on = self.tools.corrected(step.handoff).with_handle(handle)
        text = render(passed_on, max_chars=step.max_tokens * _CHARS_PER_TOKEN, dialect=self.session.dialect)
        document = json.loads(encode(passed_on))
        self.feed(HandedOff(handoff=document, text=text, reason=step.reason, evidence=step.evidence), (handle,))
        self.listener.step(self.session, f"handed off: {step.reason}, {step.evidence}")


def _shown(name: str, text: str, *, failed: bool) -> str:
    """Return a result in a line, for the person who watches: how it begins, and how much more there is."""
    first, _, rest = text.strip().partition("\n")
    more = f" (and {rest.count(chr(10)) + 1} lines more)" if rest else ""
    return f"{name} {'failed' if failed else 'returned'}: {first[:_SHOWN_CHARS]}{more}"


def interrupted(session_id: str) -> str:
    """Return what a person may do after an interrupt."""
    return f"Stopped; nothing is lost. To go on: penstock resume {session_id}"


def _escalated(row: int) -> str:
    """Return what a person is told while a session goes on after failures."""
    return f"{row} failures in a row: somebody should look"


def last_words(transcript: Any) -> str:
    """Return the text of the last answer; empty where the last entry is none."""
    last = transcript.entries[-1] if transcript.entries else None
    words = last.text if last is not None and last.role == "assistant" else ""
    return "" if words == placeholders.NO_ANSWER else words


def without_secrets(event: Event) -> Event:
    """Return an event as it may be kept: the same where it holds no secrets (S-17)."""
    data = to_dict(event)
    clean: Any = redacted_json(data)
    return event if clean is data else event_of(name_of(event), clean)


def new_id() -> str:
    """Return a name that nobody has: 12 random hexadecimal digits."""
    return uuid.uuid4().hex[:12]


def remembered(store: Store, session_id: str) -> tuple[list[dict[str, Json]], dict[str, dict[str, Json]]]:
    """Return what the journal holds of files: the acts for a ledger, and by path what each file was when it was touched
    last.
    """
    acts: list[dict[str, Json]] = []
    files: dict[str, dict[str, Json]] = {}
    for record in store.events(session_id):
        data: Any = record.data
        if record.type == SEEN:
            acts += data["acts"]
        elif record.type == TRACKED:
            files |= {file["path"]: file for file in data["files"]}
    return acts, files


def resumed(
    store: Store, session_id: str, *, counter: Any = None, dialect: Any = None
) -> tuple[Session, dict[str, Json], int]:
    """Return the session that a journal holds, what it was begun with, and the number of its next record.

    Args:
        store: where the journal is.
        session_id: the session.
        counter: counts tokens from now on; None estimates.
        dialect: how calls are written that a notice recommends; None is Python's.

    Raises:
        CallerError: where there is no session of that name; the newest are named.
        Damaged: where the journal was changed, with the newest sound record.
    """
    records = store.events(session_id)
    first = next(records, None)
    if first is None or first.type != BEGUN:
        known = [info.session for info in store.sessions()][:5]
        raise CallerError(f"there is no session {session_id!r}; the newest are {', '.join(known) or 'none'}")
    begun = dict(first.data)
    last = first.seq
    rows: list[tuple[str, dict[str, Json]]] = []
    for record in records:
        last = record.seq
        if record.type not in _NO_EVENTS:
            # Journals of before had secrets in calls and answers; from here on nobody sees them.
            clean: Any = redacted_json(record.data)
            rows.append((record.type, clean))
    header: Any = begun.pop("header")
    return Session.replay(header, rows, counter=counter, dialect=dialect), begun, last + 1

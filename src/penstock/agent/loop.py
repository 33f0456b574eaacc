"""Who drives a session? One short loop: ask the session what is next, do it, report the outcome to it (S-12).

Every event is written to the journal before the session hears of it, so that a kill at any instant loses nothing that was
acknowledged: a resume replays the journal (`journal`) and continues. Leaves to others: what is next (`session`), how an answer
is obtained (`asking`), and how calls are run (`calling`).
"""

from __future__ import annotations

import json
import time
from copy import copy
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING

from penstock.agent.asking import Asking, last_words
from penstock.agent.calling import Calling
from penstock.agent.clock import SteadyClock
from penstock.agent.journal import Journal, without_secrets
from penstock.agent.protocols import AgentRun, Silent
from penstock.agent.record_types import BEGUN
from penstock.context.compaction import apply
from penstock.context.endings import CHARS_PER_TOKEN
from penstock.context.handoff import encode, render
from penstock.session import (
    Ask,
    Await,
    Call,
    Closed,
    Compact,
    Compacted,
    HandedOff,
    HandOff,
    Interrupted,
    Prompted,
    Replied,
    Stop,
    Summarise,
    Summarised,
    Ticked,
    Wait,
    after,
    name_of,
    to_dict,
)
from penstock.store.texts import put_text, put_texts
from penstock.text.notices import duration
from penstock.wires import begin, text_message
from penstock.wires.placeholders import GO_ON_FROM_HERE, with_told

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.agent.journal import ChildJournal
    from penstock.agent.protocols import ChildRunner, Listener, ToolRunner
    from penstock.agent.purse import Purse
    from penstock.models import Model
    from penstock.session import Event, Session, Step
    from penstock.store import Store
    from penstock.text.json_access import Json

MAX_WAIT_SECONDS = 600.0
"""How long an outage of the provider is waited out."""
_WAIT_STEP_SECONDS = 0.1
"""How long a wait continues at most after an interrupt."""
_COUNTDOWN_SECONDS = 15.0
"""How often the listener hears how much of a wait is left."""
_SUMMARY_TOKENS = 2_000
"""The token limit of a summary."""
_LAST_PART = 4
"""The part of a budget, a quarter, at which the model is told to finish."""
_LAST_REQUESTS = 2
"""The model is also told once the budget covers no more than this many requests as large as the newest one may be."""
# A session that ended for these reasons continues only with new words: repeating the same would end the same.
_WORDS_WANTED = {"errors", "loop", "empty", "withheld"}


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
        journal: Journal | ChildJournal | None = None,
        store_option: str = "",
    ) -> None:
        """Assemble an agent; call `begin` or resume before `run`.

        Args:
            session: what decides.
            model: whom to ask; if its `send` takes `on_text`, answers come as they are made.
            tools: what runs the model's calls.
            store: where the journal and what is cut are kept.
            listener: what shows the work; None shows nothing.
            clock: seconds; only differences count.
            sleep: waits so many seconds.
            next_seq: the number of the next record: 0, or what `resumed` returned.
            streams: whether the listener gets answers piece by piece, or whole.
            max_wait_seconds: how long an outage of the provider is waited out; after that the run ends, and can be resumed.
            journal: where to write, for a child agent; None is the session's own journal.
            store_option: the option that names the store on a command line, with a leading blank; empty for the user's own
                store.
        """
        self.session, self.model, self.tools, self.store = session, model, tools, store
        self.listener: Listener = listener or Silent()
        self._clock, self._sleep = SteadyClock(clock, session.state.now_seconds), sleep
        self.journal = journal or Journal(store, session.session_id, next_seq)
        self.purse: Purse | None = None
        self.children: ChildRunner | None = None
        self.begun_child: Callable[[Agent], None] | None = None
        """Called with each child before it works."""
        self._max_wait_seconds = max_wait_seconds
        self._store_option = store_option
        self._is_stopped = False
        self._before = session.state
        self._parent: Agent | None = None
        self.told = ""
        self._has_warned_of_budget = False
        self._asking = Asking(self, streams=streams)
        self._calling = Calling(self)

    def command(self, name: str, more: str = "") -> str:
        """Return a command line about this session, ready to copy: `penstock resume ID`.

        Args:
            name: what follows `penstock`.
            more: what follows the session.
        """
        return f"penstock {name} {self.session.session_id}{more and ' '}{more}{self._store_option}"

    def interrupt(self) -> None:
        """Stop the work at the next safe point; the session is kept, and the next prompt continues it. Callable from any thread
        or signal handler.
        """
        self.is_stopped = True
        self.tools.interrupt()
        if self.children is not None:
            self.children.interrupt()

    def child(self, session: Session, tools: ToolRunner, purse: Purse, listener: Listener) -> Agent:
        """Return an agent that works for this one: the same model, store and clock, its part of the journal, its own session.

        Args:
            session: what decides for it; it has the name of its purse.
            tools: what runs its model's calls.
            purse: what it may spend.
            listener: what shows its work.
        """
        made = Agent(
            session,
            self.model,
            tools,
            self.store,
            listener=listener,
            clock=self._clock,
            sleep=self._sleep,
            streams=self._asking.streams,
            max_wait_seconds=self._max_wait_seconds,
            journal=self.journal.of(purse.name),
            store_option=self._store_option,
        )
        made.purse, made._parent = purse, self
        made._asking.counts_more = self._asking.counts_more
        if self.begun_child is not None:
            self.begun_child(made)
        return made

    @property
    def is_stopped(self) -> bool:
        """Whether the person wants the work to end, either this agent's or its parent's."""
        return self._is_stopped or (self._parent is not None and self._parent.is_stopped)

    @is_stopped.setter
    def is_stopped(self, value: bool) -> None:
        self._is_stopped = value

    def adopt(self, child: Agent) -> None:
        """Take over what a child has written into files, and since when the provider fails it.

        Args:
            child: an agent whose work is over.
        """
        self._calling.adopt(child._calling)
        self._asking.outage = self._asking.outage or child._asking.outage

    # ── the journal ──────────────────────────────────────────────────────────────────────────────────────────────

    def begin(self, **about: Json) -> None:
        """Write the first record of the session.

        Args:
            about: what a resume has to know besides the session, as JSON.
        """
        self.record(BEGUN, {"header": self.session.header(), **about})

    def feed(self, event: Event, handles: tuple[str, ...] = ()) -> None:
        """Write an event to the journal, then feed it to the session.

        Args:
            event: what happened.
            handles: artifacts that the event names, which live as long as the session.

        Raises:
            CallerError: for an event that the session does not accept; it is not written.
            StoreFault: if it cannot be written; then the session has not heard of it.
        """
        # Secrets are removed before anyone sees the event, so that a replay of what was written gives the same session and the same
        # requests. Tools still run the calls as the model made them.
        clean = without_secrets(event)
        if isinstance(event, Replied):
            self._calling.remember(self.session.state, event)
        # Judged first, written next, applied last: a journal never holds an event that a replay would refuse, and the session never
        # knows one that a kill could take back.
        state = after(self.session.state, clean)
        self.record(name_of(clean), to_dict(clean), handles)
        self.session.state = state

    def record(self, kind: str, data: dict[str, Json], handles: tuple[str, ...] = ()) -> None:
        """Write a record other than an event.

        Args:
            kind: its type.
            data: what it holds, as JSON.
            handles: artifacts that it names, which live as long as the session.
        """
        self.journal.write(kind, data, handles)

    def now(self) -> float:
        """Return the time in seconds; only differences count."""
        return self._clock()

    # ── the loop ─────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self, prompt: str | None = None, *, max_turns: int | None = None, told: str = "") -> AgentRun:
        """Work on a prompt, or continue open work, until the session awaits the user or stops.

        Args:
            prompt: what the user says; None continues open work.
            max_turns: after so many answers of the model the work is stopped as by an interrupt; None sets no limit.
            told: what the model has to know before it continues, such as which files have changed: added to its next request,
                after the prompt or after the results of the open calls.
        """
        self.journal.claim()
        before = self._before = self.session.state
        if told and prompt is None and before.phase != "calling":
            prompt = GO_ON_FROM_HERE
        if prompt is None:
            self.told = told
        else:
            if before.phase not in {"idle", "ended"}:  # the person says something else: open work is closed
                if self.children is not None:
                    told = "\n\n".join(filter(None, (told, *self.children.cut_off())))
                self.feed(Interrupted())
            words = with_told(prompt, told)
            self.feed(Prompted(message=text_message(self.session.state.transcript.wire, "user", words)))
        self.is_stopped = False
        self._asking.begin_run()
        most = None if max_turns is None else before.all_turns + max_turns
        outcome, message = self._until_done(most)
        return self._came_of_it(outcome, message)

    def broken_off(self) -> AgentRun:
        """Return the result of a run that an interrupt broke off where it was, as a kill would have.

        The journal holds all that was acknowledged, and a resume checks the rest.
        """
        return self._came_of_it("interrupted", self._stopped())

    def _came_of_it(self, outcome: str, message: str) -> AgentRun:
        """Return how the work ended, and what it took since it began."""
        before, ended = self._before, self.session.state
        of_children = {} if self.children is None else self.children.used()
        return AgentRun(
            session=self.session.session_id,
            answer="".join([*self._asking.said, last_words(ended.transcript)]) if outcome == "answered" else "",
            outcome=outcome,
            message=message,
            turns=ended.all_turns - before.all_turns,
            usage={
                "input_tokens": ended.input_tokens - before.input_tokens + of_children.get("input_tokens", 0),
                "output_tokens": ended.output_tokens - before.output_tokens + of_children.get("output_tokens", 0),
            },
            cuts=ended.compactions - before.compactions,
            recoveries=self._asking.recoveries,
            warnings=tuple(self._asking.warnings.values()),
        )

    def _until_done(self, max_turns: int | None) -> tuple[str, str]:
        """Carry out steps until there are none; return the outcome and what to tell the person."""
        step = self._first_step()
        while True:
            if isinstance(step, Await):
                if not self._asking.goes_on():
                    return self._answered()
                step = self._next_step()
                continue
            if isinstance(step, Stop):
                if self.session.state.phase != "ended":
                    self.feed(Closed(reason=step.reason))
                return step.reason, f"{step.message}{self._evidence(step.reason)}{self._way_on(step.reason)}"
            if isinstance(step, Wait) and (shorter := self._until_last_try(step)) is not None:
                self._wait(shorter)
                step = self._first_step()
                continue
            if isinstance(step, Wait) and (words := self._outlasted(step)):
                self.feed(Interrupted())
                return "outage", words
            # Checked before every step: the session is then where the next prompt can continue, with every open call closed by the
            # interrupt.
            spent = max_turns is not None and self.session.state.all_turns >= max_turns and isinstance(step, Ask)
            if self.is_stopped or spent:
                self.feed(Interrupted())
                return "max_turns" if spent else "interrupted", self._stopped()
            if isinstance(step, Ask):
                if self.purse is not None:
                    # While this agent asks, no child of it works: any tokens a child holds were left by a kill.
                    self.purse.release_children()
                affordable = self._asking.affordable(step)
                if affordable is None:
                    self.feed(Interrupted())
                    return "budget", self._used_up(step)
                step = affordable
            self._perform(step)
            step = self._next_step()

    def _evidence(self, reason: str) -> str:
        """Return the evidence for why a session ends: the provider's own words, or what the tools answered last."""
        if self._asking.outage is not None:
            return f" It said: {self._asking.outage[1]}"
        if reason == "irreducible" and self._asking.refusal:
            return f"\nThe provider said: {self._asking.refusal}"
        newest = self._calling.newest
        return f" The last call: {newest}" if newest and reason in {"errors", "loop"} else ""

    def _way_on(self, reason: str) -> str:
        """Return the command that continues a session that ended; empty for a child, whose parent continues."""
        if self._parent is not None:
            return ""
        words = '"QUESTION"' if reason in _WORDS_WANTED else ""
        return f"\nTo continue: {self.command('resume', words)}"

    def _answered(self) -> tuple[str, str]:
        """Return the outcome of an answer; one without a word is none, and the message says why."""
        silence = self._asking.silence
        if silence is None or self._asking.said:
            return "answered", ""
        again = " Asked once more, it answered nothing again." if silence.kind == "empty" else ""
        return silence.kind, f"{silence.message}{again}{self._way_on(silence.kind)}"

    def _used_up(self, step: Ask) -> str:
        """Return the message when the next request would take more than the budget has left."""
        assert self.purse is not None  # noqa: S101 - without one everything is affordable
        account, next_tokens = self.purse.account, self._asking.most_tokens(step)
        said = f"The budget is used up: of {account.granted_tokens} tokens {account.left_tokens} are left, and the next request"
        return f"{said} may take {next_tokens}. To continue with more: {self.command('resume', '--budget TOKENS')}"

    def _stopped(self) -> str:
        """Return what a person may do after an interrupt."""
        return f"Stopped; nothing is lost. To continue: {self.command('resume')}"

    def _next_step(self) -> Step:
        """Return the session's next step, which is told the time when a window that a refusal named has outlived its day (R-5)."""
        # Nothing else would tell a session that neither fails nor waits.
        until = self.session.state.window_until_seconds
        if until is not None and self._clock() >= until:
            self.feed(Ticked(now_seconds=self._clock()))
        return self.session.next_step()

    def _first_step(self) -> Step:
        """Return the first step of a run; it never waits, since the person who starts a run has seen what failed before."""
        step = self._next_step()
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
                self._calling.call(step)
            case Compact():
                self._compact(step)
            case Summarise():
                self._summarise(step)
            case HandOff():
                self._hand_off(step)
            case Wait():
                self._wait(step)

    def _wait(self, step: Wait) -> None:
        """Wait until something may be sent again; an interrupt ends the wait, and the listener regularly hears how much is left."""
        told = float("inf")
        while not self.is_stopped and (left := step.until_seconds - self._clock()) > 0:
            if told - left >= _COUNTDOWN_SECONDS:
                told = left
                self.listener.step(self.session, f"waits {duration(round(left))}: {step.why}")
            self._sleep(min(_WAIT_STEP_SECONDS, left))
        self.feed(Ticked(now_seconds=self._clock()))

    def _until_last_try(self, step: Wait) -> Wait | None:
        """Return the wait before the last attempt of an outage; None if its end is further away, or was reached.

        Our own cooldown would exceed what the person waits for, and an outage is over as soon as the provider answers. A wait
        that the provider itself asked for is kept: before that it would refuse.
        """
        if self._asking.outage is None:
            return None
        end_seconds = self._asking.outage[0] + self._max_wait_seconds
        asked_seconds = self.session.state.faults.wait_until_seconds or 0.0
        if step.until_seconds <= end_seconds or asked_seconds > end_seconds or self._clock() >= end_seconds:
            return None
        return replace(step, until_seconds=end_seconds)

    def _outlasted(self, step: Wait) -> str:
        """Return the message when an outage would last longer than the person waits; empty while it is waited out."""
        if self._asking.outage is None:
            return ""
        since, words = self._asking.outage
        if step.until_seconds - since <= self._max_wait_seconds:
            return ""
        lasted = f"The provider has failed for {duration(round(self._clock() - since))}, and nothing may be sent for"
        left = duration(round(max(0.0, step.until_seconds - self._clock())))
        more = f"{left} more (--wait {self._max_wait_seconds:.0f})."
        return f"{lasted} {more} It said: {words}\n{self._stopped()}"

    def _continues(self, step: Step) -> bool:
        """Return whether the work is not over with this step."""
        if isinstance(step, Wait):
            return self._until_last_try(step) is not None or not self._outlasted(step)
        return not isinstance(step, Stop)

    def _ask(self, step: Ask) -> None:
        """Get an answer, and give the warnings due at its turn."""
        turns = self.session.state.all_turns
        self._asking.ask(step)
        if self.session.state.all_turns == turns:
            return
        if not self.session.state.open_calls:
            self.listener.step(self.session, "answered")
        for warned in filter(None, (self._turns_warned(), self._budget_warned())):
            self.told = "\n".join(filter(None, (self.told, warned)))
            self.listener.step(self.session, warned)

    def _budget_warned(self) -> str:
        """Return the warning given once, when most of the budget is spent; empty at any other time."""
        if self.purse is None or self._has_warned_of_budget:
            return ""
        account = self.purse.account
        # A quarter of a large budget is many requests, of a small one perhaps less than one.
        if account.left_tokens > max(account.granted_tokens // _LAST_PART, _LAST_REQUESTS * self._asking.asked_tokens):
            return ""
        self._has_warned_of_budget = True
        return f"{account.left_tokens} tokens of the budget of {account.granted_tokens} are left: come to your answer."

    def _turns_warned(self) -> str:
        """Return the warning when the turns reach a rung of the profile (S-1); empty at any other turn."""
        state = self.session.state
        rungs = sorted(rung.turns for rung in state.limits.rungs if rung.turns is not None)
        if state.turns not in rungs[:-1]:
            return ""
        ahead = next(turns for turns in rungs if turns > state.turns)
        return f"{state.turns} turns since the last fresh start: a handoff comes at {ahead} or soon after. Finish what is open."

    def escalate(self) -> None:
        """Tell the listener about repeated failures in a row (S-11), unless the work stops now, which has words of its own."""
        state = self.session.state
        if state.faults.escalates(state.limits.errors) and self._continues(self.session.next_step()):
            self.listener.step(self.session, escalated(state.faults.row))

    # ── forgetting ───────────────────────────────────────────────────────────────────────────────────────────────

    def _compact(self, step: Compact) -> None:
        """Apply a plan, keep what it removes from view, and feed the edits."""
        before = self.session.state.transcript
        smaller = apply(before, step.plan, keep_all=partial(put_texts, self.store))
        # The edits, not the plan: handles are known only now, and a replay must not store anything again.
        edits = tuple(asdict(edit) for edit in smaller.edits[len(before.edits) :])
        handles = tuple(edit["handle"] for edit in edits if edit["handle"])
        self.feed(Compacted(edits=edits, strategy=step.strategy, reserve_tokens=step.reserve_tokens), handles)
        what = f"cut up to {step.plan.freed_tokens} tokens" if edits else "asks for a shorter reply"
        self.listener.step(self.session, f"{what} ({step.strategy})")

    def _summarise(self, step: Summarise) -> None:
        """Ask the model for a summary and feed its words, or None if there are none."""
        ask = Ask(transcript=begin(self.model.wire, prompt=step.prompt), reserve_tokens=_SUMMARY_TOKENS)
        self.feed(Summarised(text=self._asking.words(ask)))

    def _hand_off(self, step: HandOff) -> None:
        """Keep the whole conversation, write the handoff that names it, and start afresh."""
        whole = "".join(
            json.dumps(entry.raw, ensure_ascii=False) + "\n" for entry in self.session.state.transcript.visible()
        )
        handle = put_text(self.store, whole, "conversation")
        passed_on = self.tools.corrected(step.handoff).with_handle(handle)
        text = render(passed_on, max_chars=step.max_tokens * CHARS_PER_TOKEN, dialect=self.session.dialect)
        document = json.loads(encode(passed_on))
        self.feed(HandedOff(handoff=document, text=text, reason=step.reason, evidence=step.evidence), (handle,))
        self.listener.step(self.session, f"handed off: {step.reason}, {step.evidence}")


def escalated(row: int) -> str:
    """Return the message to a person while a session continues after failures."""
    return f"{row} failures in a row, shown above; the work continues, and Ctrl-C stops it with nothing lost"

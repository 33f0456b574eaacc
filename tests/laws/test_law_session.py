"""The laws of a session: whatever happens, what it shows is valid, it can continue, and its journal is the session."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.session.stage import CHARS, WIRES, Stage
from tests.wires.strategies import Call, Round, arguments, results, said

from penstock.context.compaction import RECOVERY, plan
from penstock.errors import CallerError
from penstock.overflow import diagnose
from penstock.overflow.kinds import RECOVERIES
from penstock.session import (
    TRANSITIONS,
    Ask,
    Await,
    Closed,
    Compact,
    Compacted,
    Effected,
    Event,
    Failed,
    HandedOff,
    HandOff,
    Intended,
    Interrupted,
    Noted,
    Prompted,
    Refused,
    Replied,
    Returned,
    Stop,
    Summarise,
    Summarised,
    Wait,
    name_of,
)
from penstock.session import Call as RunCalls
from penstock.session.decisions import Decider
from penstock.session.limits import PROFILES, Limits
from penstock.text.allowance import Budget
from penstock.wires import dump, violations

if TYPE_CHECKING:
    from penstock.session.state import Phase

FORMS = (
    "prompt is too long: {input} tokens > {window} maximum",
    (
        "This model's maximum context length is {window} tokens. However, you requested {total} tokens ({input} in the "
        "messages, {output} in the completion). Please reduce the length of the messages or completion."
    ),
    "This model's maximum context length is {window} tokens and your request has at least {floor} input tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
)
MAX_STEPS = 8  # between two requests: some cuts, a handoff, a wait
MAX_REFUSALS = 4  # in a row: of the first request, of two smaller ones and of a fresh start

calls = st.builds(
    Call,
    id=st.just(""),
    name=st.sampled_from(["view", "edit_file", "ctx_todo", "run_tests"]),
    arguments=arguments,
    result=results,
    failed=st.booleans(),
    image=st.sampled_from([False, False, False, True]),
    custom=st.sampled_from([False, False, False, True]),
)
rounds = st.builds(
    Round,
    thinking=st.sampled_from([0, 0, 1, 2]),
    text=st.one_of(st.just(""), said),
    calls=st.lists(calls, max_size=4).map(tuple),
    split_text=st.booleans(),
    server_tool=st.sampled_from([False, False, False, True]),
).filter(lambda turn: bool(turn.text or turn.calls))
prompts = st.one_of(said, said, st.sampled_from(["x" * 900, "y" * 5_000, "z" * 60_000]))
limits = st.sampled_from([*PROFILES.values(), Limits(name="domains", domain_boundaries=True, loop_end=99)])
ANY: tuple[Event, ...] = (
    Prompted(message={"role": "user", "content": "Hi."}),
    Replied(messages=()),
    Returned(messages=()),
    Refused(overflow={"kind": "context_input"}),
    Failed(kind="connection"),
    Compacted(edits=()),
    Summarised(text="It was done."),
    HandedOff(handoff={}, text="Go on.", reason="turns"),
    Interrupted(),
)


class SessionMachine(RuleBasedStateMachine):
    """A driver that obeys the session, a model and a provider that may do anything, and a person who speaks and interrupts."""

    stage: Stage

    @initialize(
        wire=st.sampled_from(WIRES),
        window=st.sampled_from([2_000, 8_000, 32_000]),
        profile=limits,
        can_summarise=st.booleans(),
        system=st.sampled_from([None, "Be brief.", "Rules. " * 600]),
    )
    def begin(self, wire: str, window: int, profile: Limits, can_summarise: bool, system: str | None) -> None:
        """Begin with any wire, a small window, any profile, and instructions that may be larger than the window."""
        self.stage = Stage(
            limits=profile, window=window, reserve=window // 8, wire=wire, can_summarise=can_summarise, system=system
        )
        self.number = self.since_asked = 0
        self.refused_tokens: int | None = None

    # ── the person ───────────────────────────────────────────────────────────────────────────────────────────────

    @precondition(lambda self: "Prompted" in TRANSITIONS[self.phase])
    @rule(text=prompts)
    def prompt(self, text: str) -> None:
        """The person says something, short or far too long."""
        self._prompt(text)

    @precondition(lambda self: "Interrupted" in TRANSITIONS[self.phase])
    @rule()
    def interrupt(self) -> None:
        """The person stops the work."""
        self.stage.interrupt()

    @rule(reason=st.sampled_from(["the user left", "budget"]), really=st.integers(0, 9))
    def close(self, reason: str, really: int) -> None:
        """The session is sometimes closed."""
        if not really:
            self.stage.feed(Closed(reason=reason))

    # ── what happens meanwhile ───────────────────────────────────────────────────────────────────────────────────

    @rule(action=st.sampled_from(["add", "done", "drop"]), title=st.sampled_from("abc"), later=st.floats(-100, 1_000))
    def note(self, action: str, title: str, later: float) -> None:
        """The todo list changes, the clock moves either way, an effect happens."""
        self.stage.feed(Noted(action=action, title=title))
        self.stage.tick(self.stage.session.state.now_seconds + later)
        self.stage.feed(Intended(effect_id=title, kind="edit", what="a.py"))
        if later > 0:
            self.stage.feed(Effected(effect_id=title, digest="d"))

    @rule(event=st.sampled_from(ANY))
    def what_the_phase_does_not_take_changes_nothing(self, event: Event) -> None:
        """An event that the phase does not accept is the caller's error."""
        if name_of(event) in TRANSITIONS[self.phase]:
            return
        before = self.stage.session.state
        with pytest.raises(CallerError):
            self.stage.session.feed(event)
        assert self.stage.session.state is before

    # ── the driver, the model and the provider ───────────────────────────────────────────────────────────────────

    @rule(turn=rounds)
    def go_on(self, turn: Round) -> None:
        """The driver does what the session asks, up to and including the model's answer and its calls."""
        for _ in range(MAX_STEPS):
            step = self.stage.step()
            if isinstance(step, Ask):
                self._reply(turn)
                return
            if isinstance(step, Await | Stop):
                return
            self._do(step)
        raise AssertionError(f"{MAX_STEPS} steps without a request")

    @rule(form=st.sampled_from(FORMS), share=st.floats(0.1, 1.2))
    def refuse(self, form: str, share: float) -> None:
        """The provider refuses the next request as too large, with any numbers or none."""
        if not self._until_asked():
            return
        size, output = self.stage.size, self.stage.session.state.limits.reserve_tokens
        window = max(300, int(self.stage.session.state.limits.window_tokens * share))
        numbers = {"input": size, "window": window, "output": output, "total": size + output}
        found = diagnose(form.format(**numbers, floor=min(size, window + 1))).overflow
        overflow: dict[str, Any] = {"kind": "context_input"} if found is None else asdict(found)
        asked = self.stage.step()
        assert isinstance(asked, Ask)
        self.refused_tokens = size + asked.reserve_tokens
        self.since_asked = 0
        self.stage.feed(Refused(overflow=overflow))
        assert self.stage.session.state.overflow_calls <= MAX_REFUSALS

    @rule(kind=st.sampled_from(sorted(RECOVERIES)), retry_after=st.none() | st.floats(0, 500))
    def fail(self, kind: str, retry_after: float | None) -> None:
        """The provider fails in any way."""
        if self._until_asked():
            self.since_asked = 0
            self.stage.fail(kind, retry_after=retry_after)

    @precondition(lambda self: self.phase == "refused")
    @rule(text=st.sampled_from([None, "", "It was done.", "Error: overloaded", "word " * 3_000]), fails=st.booleans())
    def summarise(self, text: str | None, fails: bool) -> None:
        """The model gives a good, bad or empty summary, or the provider fails instead."""
        step = self.stage.step()
        if not isinstance(step, Summarise):
            return
        if fails:
            self.stage.fail("overloaded")
            assert not isinstance(self.stage.step(), Ask), "what was refused is not sent again"
        else:
            self.stage.feed(Summarised(text=text))

    # ── the laws ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def phase(self) -> Phase:
        return self.stage.session.state.phase if hasattr(self, "stage") else "ended"

    @invariant()
    def what_is_shown_is_valid(self) -> None:
        """The shown transcript is valid on its wire, except that open calls may still lack results."""
        transcript = self.stage.session.state.transcript
        if transcript.entries:
            found = {violation.code for violation in violations(dump(transcript, self.stage.wire), self.stage.wire)}
            assert found <= ({"missing_result"} if self.phase == "calling" else set()), found

    @invariant()
    def the_same_state_gives_the_same_step(self) -> None:
        """The next step belongs to the phase, and asking again gives the same one."""
        step = self.stage.step()
        kinds = {"idle": Await, "ended": Stop, "calling": RunCalls}
        assert isinstance(step, kinds.get(self.phase, (Ask, Compact, HandOff, Wait, Summarise, Stop)))
        assert self.phase != "ready" or not isinstance(step, Stop)
        if isinstance(step, Ask):
            self._request_is_within_the_window_or_cannot_shrink(step)

    def _request_is_within_the_window_or_cannot_shrink(self, step: Ask) -> None:
        """Each request leaves room for its reply; after a refusal it is smaller than the refused one."""
        state = self.stage.session.state
        window = state.limits.window_tokens
        asked = self.stage.size + step.reserve_tokens
        if asked > window:
            kept = Decider(state, CHARS).kept
            smaller = plan(step.transcript, Budget(window, step.reserve_tokens, CHARS), RECOVERY, kept=kept)
            assert smaller.outcome == "cannot"
        if self.refused_tokens is not None and self.stage.session.state.overflow_calls:
            assert asked < self.refused_tokens

    def teardown(self) -> None:
        """Whatever happened, replaying the journal gives the same session, and the user is still heard."""
        if not hasattr(self, "stage"):
            return
        again = self.stage.replayed()
        assert again == self.stage.session
        assert again.next_step() == self.stage.session.next_step()
        if "Prompted" not in TRANSITIONS[self.phase]:
            self.stage.interrupt()
        self._prompt("Are you there?")
        assert isinstance(self.stage.step(), Ask | Compact | HandOff | Wait)
        self.stage.until_asked(MAX_STEPS)
        assert self.stage.replayed() == self.stage.session

    # ── helpers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _prompt(self, text: str) -> None:
        self.stage.prompt(text)
        self.refused_tokens, self.since_asked = None, 0

    def _until_asked(self) -> bool:
        """Continue until the session makes a request, and return whether it does."""
        for _ in range(MAX_STEPS):
            step = self.stage.step()
            if isinstance(step, Ask | Await | Stop):
                return isinstance(step, Ask)
            self._do(step)
        raise AssertionError(f"{MAX_STEPS} steps without a request")

    def _do(self, step: object) -> None:
        """Do a step that needs no model; open calls are interrupted, and a summary fails."""
        if isinstance(step, Summarise):
            self.stage.feed(Summarised(text=None))
        elif isinstance(step, RunCalls):
            self.stage.interrupt()
            self._prompt("Never mind.")
        else:
            self.stage.perform(step)  # type: ignore[arg-type]
            self.since_asked += 1
            assert self.since_asked <= MAX_STEPS

    def _reply(self, turn: Round) -> None:
        numbered: list[Call] = []
        for call in turn.calls:
            self.number += 1
            numbered.append(replace(call, id=f"call{self.number}"))
        turn = replace(turn, calls=tuple(numbered))
        returned = self.stage.answer(turn)
        self.refused_tokens, self.since_asked = None, 0
        if turn.calls:
            self.stage.returned(returned, *turn.calls)


TestSession = pytest.mark.proves("LAW-Step", "S-13", "S-4")(SessionMachine.TestCase)
TestSession.__doc__ = "Any sequence of events: valid, bounded, replayable, and the user is always heard."

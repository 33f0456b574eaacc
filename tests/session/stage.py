"""A session with a driver that does what it is told: steps are carried out as an agent would, answers are scripted.

`CHARS` counts a character as a token, so that sizes are exact. The messages of the three wires come from the tellers of
`tests.wires.strategies`, which are written apart from the product's codecs.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tests.wires.strategies import TELLERS, Call, Round, Story

from penstock.context.compaction import apply
from penstock.context.handoff import decode, encode, render
from penstock.context.sized import MESSAGE_TOKENS, size_of
from penstock.session import (
    Ask,
    Await,
    Compact,
    Compacted,
    Event,
    Failed,
    HandedOff,
    HandOff,
    Interrupted,
    Outcome,
    Prompted,
    Refused,
    Replied,
    Returned,
    Session,
    Step,
    Stop,
    Ticked,
    Wait,
    event_of,
    name_of,
    to_dict,
)
from penstock.session import Call as RunCalls
from penstock.session.limits import PROFILES, Limits
from penstock.text.allowance import Budget
from penstock.text.tokens import Count
from penstock.wires import text_message

if TYPE_CHECKING:
    from penstock.text.tokens import TokenCounter


class Chars:
    """A character is a token."""

    def count(self, text: str, /) -> Count:
        """As many tokens as characters."""
        return Count(tokens=len(text), low=len(text), high=len(text), method="characters")


CHARS = Chars()
WIRES = tuple(TELLERS)


def told(wire: str, turn: Round, place: int = 0) -> tuple[list[Any], list[Any]]:
    """The messages of one answer of the model, and those of the results of its calls; `place` is in the ids of its items."""
    messages = TELLERS[wire](Story(rounds=(turn,)))[1:]
    if place and (turn.server_tool or turn.thinking):
        named = json.dumps(messages)
        for kind in ("srvtoolu", "ws", "rs", "msg"):
            named = named.replace(f'"{kind}_0"', f'"{kind}_{place}"')
        messages = json.loads(named)
    if wire == "openai-responses":
        results = [item for item in messages if item.get("type", "").endswith("_output")]
        return [item for item in messages if item not in results], results
    return messages[:1], messages[1:]


def viewed(number: int, path: str, result: str, *, name: str = "view", failed: bool = False, **more: Any) -> Call:
    """A call about a file."""
    return Call(id=f"call{number}", name=name, arguments={"path": path, **more}, result=result, failed=failed)


class Stage:
    """One session on one wire, its journal, and what its driver was told."""

    def __init__(
        self,
        *,
        limits: Limits | str = "default",
        window: int = 128_000,
        reserve: int = 8_000,
        wire: str = "openai-chat",
        counter: TokenCounter = CHARS,
        can_summarise: bool = False,
        tools: Any = None,
        system: Any = None,
    ) -> None:
        self.wire = wire
        self.session = Session(
            limits=PROFILES[limits] if isinstance(limits, str) else limits,
            budget=Budget(window, reserve, counter),
            wire=wire,
            session_id="stage",
            can_summarise=can_summarise,
            system=system,
            tools=tools,
        )
        self.header = json.dumps(self.session.header())
        self.journal: list[str] = []
        self.kept: dict[str, str] = {}
        self.steps: list[Step] = []
        self._number = 0

    # ── what happens ─────────────────────────────────────────────────────────────────────────────────────────────

    def feed(self, event: Event) -> None:
        """Tells the session, and writes it down as an agent does."""
        self.session.feed(event)
        self.journal.append(json.dumps([name_of(event), to_dict(event)]))

    def prompt(self, text: str = "Go on.") -> None:
        """The user says something."""
        self.feed(Prompted(message=text_message(self.wire, "user", text)))

    def answer(self, turn: Round) -> list[Any]:
        """The model answers; the messages with which its calls return come back."""
        messages, results = told(self.wire, turn, self.session.state.all_turns)
        self.feed(Replied(messages=tuple(messages), input_tokens=10, output_tokens=5))
        return results

    def turn(self, *calls: Call, text: str = "") -> None:
        """The model answers with these calls, and they return; without any its answer is the end of the work."""
        results = self.answer(Round(calls=calls, text=text or ("" if calls else "Done.")))
        if calls:
            self.returned(results, *calls)

    def answer_with(self, *calls: Call) -> list[Any]:
        """The model calls these; the messages with which they return come back."""
        return self.answer(Round(calls=calls))

    def returned(self, results: list[Any], *calls: Call) -> None:
        """Those calls return."""
        self.feed(Returned(messages=tuple(results), outcomes=tuple(map(outcome, calls))))

    def view(
        self, result: str = "text", path: str | None = None, *, failed: bool = False, is_refusal: bool = False
    ) -> None:
        """One turn in which one file is looked at, another one each time."""
        self._number += 1
        called = viewed(self._number, path or f"src/file{self._number}.py", result, failed=failed)
        self.turn(replace(called, is_refusal=is_refusal))

    def interrupt(self) -> None:
        """The person stops the work."""
        self.feed(Interrupted())

    def fail(self, kind: str = "server_error", *, at: float | None = None, retry_after: float | None = None) -> None:
        """The provider fails."""
        if at is not None:
            self.tick(at)
        self.feed(Failed(kind=kind, retry_after_seconds=retry_after))

    def refuse(self, **overflow: Any) -> None:
        """The provider refuses what it was sent as too large."""
        self.feed(Refused(overflow={"kind": "context_input", **overflow}))

    def tick(self, now_seconds: float) -> None:
        """It is so late now."""
        self.feed(Ticked(now_seconds=now_seconds))

    # ── what the session asks for ────────────────────────────────────────────────────────────────────────────────

    def step(self) -> Step:
        """What is next; asked twice, the same."""
        made = self.session.next_step()
        assert self.session.next_step() == made
        self.steps.append(made)
        return made

    def until_asked(self, most: int = 12) -> Ask:
        """Carries out what needs no model until the model is asked, in at most so many steps."""
        for _ in range(most):
            step = self.step()
            if isinstance(step, Ask):
                return step
            self.perform(step)
        raise AssertionError(f"no request after {most} steps: {self.steps[-most:]}")

    def perform(self, step: Step) -> None:
        """Does what needs neither model nor tool."""
        match step:
            case Compact():
                self.compact(step)
            case HandOff():
                self.hand_off(step)
            case Wait():
                self.tick(step.until_seconds)
            case _:
                raise AssertionError(f"nothing to do here for {step}")

    def compact(self, step: Compact) -> None:
        """Applies the plan and keeps what it takes from view."""
        before = self.session.state.transcript
        smaller = apply(before, step.plan, self._keep)
        edits = tuple(asdict(edit) for edit in smaller.edits[len(before.edits) :])
        self.feed(Compacted(edits=edits, strategy=step.strategy, reserve_tokens=step.reserve_tokens))
        assert self.session.state.transcript == smaller

    def hand_off(self, step: HandOff) -> None:
        """Writes the handoff, which loads again, and begins afresh."""
        written = encode(step.handoff)
        assert decode(written) == step.handoff
        text = render(step.handoff, max_chars=step.max_tokens)
        self.feed(HandedOff(handoff=json.loads(written), text=text, reason=step.reason, evidence=step.evidence))

    def _keep(self, content: str, name: str) -> str:
        handle = f"hndl{len(self.kept):018d}"
        self.kept[handle] = content
        return handle

    # ── how large it is ──────────────────────────────────────────────────────────────────────────────────────────

    @property
    def size(self) -> int:
        """What the next request takes."""
        return size_of(self.session.state.transcript, self.session.counter)

    def fill(self, size: int) -> None:
        """The user says so much that the next request takes exactly `size`: words that nothing may shorten."""
        room = size - self.size - MESSAGE_TOKENS
        if self.session.state.transcript.entries and self.session.state.transcript.entries[-1].role != "assistant":
            raise AssertionError("the model has to have answered first")
        self.prompt("x" * room)
        assert self.size == size

    def replayed(self) -> Session:
        """The session that the journal gives, through JSON."""
        events = [tuple(json.loads(line)) for line in self.journal]
        return Session.replay(json.loads(self.header), events, counter=self.session.counter)


def outcome(call: Call) -> Outcome:
    """How a call ended, as an agent says it."""
    digest = sha256(call.result.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Outcome(call_id=call.id, failed=call.failed, is_refusal=call.is_refusal, digest=digest)


__all__ = ["CHARS", "WIRES", "Await", "Chars", "RunCalls", "Stage", "Stop", "event_of", "outcome", "told", "viewed"]

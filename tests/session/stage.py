"""A session with an obedient driver: steps are carried out as an agent would, and answers are scripted.

`CHARS` counts a character as a token, so that sizes are exact. The messages of the three wires come from `tests.wires.strategies`,
which is written independently of the product's codecs.
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
    """A counter for which a character is a token."""

    def count(self, text: str, /) -> Count:
        """Count as many tokens as characters."""
        return Count(tokens=len(text), low=len(text), high=len(text), method="characters")


CHARS = Chars()
WIRES = tuple(TELLERS)


def told(wire: str, turn: Round, place: int = 0) -> tuple[list[Any], list[Any]]:
    """Return the messages of one model answer, and of its calls' results; `place` is part of the ids of its items."""
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
    """Return a call about a file."""
    return Call(id=f"call{number}", name=name, arguments={"path": path, **more}, result=result, failed=failed)


class Stage:
    """A session on one wire, its journal, and what its driver was told."""

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
        """Feed the session an event, and record it as an agent does."""
        self.session.feed(event)
        self.journal.append(json.dumps([name_of(event), to_dict(event)]))

    def prompt(self, text: str = "Go on.") -> None:
        """Let the user say something."""
        self.feed(Prompted(message=text_message(self.wire, "user", text)))

    def answer(self, turn: Round) -> list[Any]:
        """Let the model answer, and return the messages of its calls' results."""
        messages, results = told(self.wire, turn, self.session.state.all_turns)
        self.feed(Replied(messages=tuple(messages), input_tokens=10, output_tokens=5))
        return results

    def turn(self, *calls: Call, text: str = "") -> None:
        """Let the model make these calls, and let them return; an answer without calls ends the work."""
        results = self.answer(Round(calls=calls, text=text or ("" if calls else "Done.")))
        if calls:
            self.returned(results, *calls)

    def answer_with(self, *calls: Call) -> list[Any]:
        """Let the model make these calls, and return the messages of their results."""
        return self.answer(Round(calls=calls))

    def returned(self, results: list[Any], *calls: Call) -> None:
        """Let those calls return."""
        self.feed(Returned(messages=tuple(results), outcomes=tuple(map(outcome, calls))))

    def view(
        self, result: str = "text", path: str | None = None, *, failed: bool = False, is_refusal: bool = False
    ) -> None:
        """View one file in one turn, a different one each time."""
        self._number += 1
        called = viewed(self._number, path or f"src/file{self._number}.py", result, failed=failed)
        self.turn(replace(called, is_refusal=is_refusal))

    def interrupt(self) -> None:
        """Let the person stop the work."""
        self.feed(Interrupted())

    def fail(self, kind: str = "server_error", *, at: float | None = None, retry_after: float | None = None) -> None:
        """Let the provider fail."""
        if at is not None:
            self.tick(at)
        self.feed(Failed(kind=kind, retry_after_seconds=retry_after))

    def refuse(self, **overflow: Any) -> None:
        """Let the provider refuse the request as too large."""
        self.feed(Refused(overflow={"kind": "context_input", **overflow}))

    def tick(self, now_seconds: float) -> None:
        """Set the time."""
        self.feed(Ticked(now_seconds=now_seconds))

    # ── what the session asks for ────────────────────────────────────────────────────────────────────────────────

    def step(self) -> Step:
        """Return the next step, after checking that asking twice gives the same."""
        made = self.session.next_step()
        assert self.session.next_step() == made
        self.steps.append(made)
        return made

    def until_asked(self, most: int = 12) -> Ask:
        """Carry out steps without the model until it is asked, at most `most` of them."""
        for _ in range(most):
            step = self.step()
            if isinstance(step, Ask):
                return step
            self.perform(step)
        raise AssertionError(f"no request after {most} steps: {self.steps[-most:]}")

    def perform(self, step: Step) -> None:
        """Do a step that needs neither model nor tool."""
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
        """Apply the plan, and keep what it removes."""
        before = self.session.state.transcript
        smaller = apply(before, step.plan, self._keep)
        edits = tuple(asdict(edit) for edit in smaller.edits[len(before.edits) :])
        self.feed(Compacted(edits=edits, strategy=step.strategy, reserve_tokens=step.reserve_tokens))
        assert self.session.state.transcript == smaller

    def hand_off(self, step: HandOff) -> None:
        """Write the handoff, load it again, and begin afresh."""
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
        """Return the size of the next request."""
        return size_of(self.session.state.transcript, self.session.counter)

    def fill(self, size: int) -> None:
        """Let the user say so much, in words that cannot be shortened, that the next request has exactly `size`."""
        room = size - self.size - MESSAGE_TOKENS
        if self.session.state.transcript.entries and self.session.state.transcript.entries[-1].role != "assistant":
            raise AssertionError("the model has to have answered first")
        self.prompt("x" * room)
        assert self.size == size

    def replayed(self) -> Session:
        """Return the session that the journal gives, passed through JSON."""
        events = [tuple(json.loads(line)) for line in self.journal]
        return Session.replay(json.loads(self.header), events, counter=self.session.counter)


def outcome(call: Call) -> Outcome:
    """Return the outcome of a call, as an agent reports it."""
    digest = sha256(call.result.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Outcome(call_id=call.id, failed=call.failed, is_refusal=call.is_refusal, digest=digest)


__all__ = ["CHARS", "WIRES", "Await", "Chars", "RunCalls", "Stage", "Stop", "event_of", "outcome", "told", "viewed"]

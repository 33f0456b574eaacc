"""The law of `Plan`: once applied, it meets its limit or has said that it cannot; it never enlarges, breaks or loses anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wires.strategies import TELLERS, stories

from penstock.context.compaction import DEFAULT, RECOVERY, NewLines, Strategy, apply, plan
from penstock.context.ladder import Ladder
from penstock.context.sized import Sized, size_of
from penstock.text.allowance import Budget
from penstock.text.tokens import Tokens
from penstock.wires import Entry, Reasoning, ToolResult, Transcript, dump, load, violations

WIRES = tuple(TELLERS)
LADDERS: tuple[tuple[Strategy, ...], ...] = (DEFAULT, RECOVERY, (NewLines(), *DEFAULT))

limits = st.one_of(st.integers(0, 400), st.integers(400, 20_000))
families = st.sampled_from(["gpt-5", "claude-opus-4-8", "unknown-model"])


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Draw a valid transcript on any wire, perhaps with a pin, a system prompt and tools."""
    wire = draw(st.sampled_from(WIRES))
    made = load(
        TELLERS[wire](draw(stories(max_rounds=12))),
        wire,
        system=draw(st.sampled_from([None, "Be brief.", "Rules. " * 3_000])) if wire != "openai-chat" else None,
        tools=draw(st.sampled_from([None, [{"name": "view", "input_schema": {}}]])),
    )
    if draw(st.booleans()):
        made = made.pin(draw(st.integers(0, len(made.entries) - 1)))
    return made


class Shelf:
    """A store for what plans remove, with handles as long as the real ones."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def __call__(self, content: str, name: str) -> str:
        handle = f"hndl{len(self.kept):018d}"
        self.kept[handle] = content
        return handle


@pytest.mark.proves("LAW-Plan")
@given(st.data(), limits, st.sampled_from(LADDERS), families, st.sampled_from([0.3, 0.5, 1.0]))
def test_an_applied_plan_meets_its_limit_or_said_that_it_cannot(
    data: st.DataObject, limit: int, ladder: tuple[Strategy, ...], model: str, low_water: float
) -> None:
    """With and without handles, the size meets the limit unless the plan says it cannot, and never grows."""
    transcript = data.draw(transcripts())
    counter = Tokens(model=model)
    made = plan(transcript, Budget(limit, counter=counter), ladder, low_water=low_water)
    before = size_of(transcript, counter)
    for keep in (None, Shelf()):
        after = size_of(apply(transcript, made, keep), counter)
        assert after <= before == made.before_tokens
        assert after <= limit if made.outcome != "cannot" else made.after_tokens > limit
    assert bool(made.steps) <= (before > limit)
    assert (made.irreducible is not None) == (made.outcome == "cannot")


@pytest.mark.proves("LAW-Plan")
@given(st.data(), limits, st.sampled_from(LADDERS))
def test_a_plan_is_deterministic_and_leaves_nothing_to_plan(
    data: st.DataObject, limit: int, ladder: tuple[Strategy, ...]
) -> None:
    """The same input gives the same plan, and replanning its result gives no step."""
    transcript = data.draw(transcripts())
    made = plan(transcript, limit, ladder)
    again = Transcript.from_dict(json.loads(json.dumps(transcript.to_dict())))
    assert plan(again, limit, ladder) == made
    assert plan(apply(transcript, made, Shelf()), limit, ladder).steps == ()


@pytest.mark.proves("LAW-Plan", "O-8")
@given(st.data(), limits, st.sampled_from(LADDERS))
def test_a_planned_request_is_valid_and_keeps_what_has_to_stay(
    data: st.DataObject, limit: int, ladder: tuple[Strategy, ...]
) -> None:
    """A planned request has no violation, its order is kept, and what is signed is unchanged or removed with its turn.

    Instructions, tools, the task, the newest user message and pins stay byte for byte.
    """
    transcript = data.draw(transcripts())
    made = apply(transcript, plan(transcript, limit, ladder), Shelf())
    assert violations(dump(made, made.wire), made.wire) == []
    assert (made.system, made.tools) == (transcript.system, transcript.tools)
    shown = {entry.index: entry for entry in made.visible() if not entry.is_note}
    for index in transcript.protected():
        assert _said(shown[index]) == _said(transcript.visible()[index])
    assert list(shown) == sorted(shown)
    for index, entry in shown.items():
        original = transcript.entries[index]
        assert _signed(entry.parts) == _signed(original.parts)
        assert [(c.id, c.name, c.arguments) for c in entry.calls] == [
            (c.id, c.name, c.arguments) for c in original.calls
        ]


@pytest.mark.proves("LAW-Plan")
@given(st.data(), limits, st.sampled_from(LADDERS))
def test_nothing_that_is_taken_from_view_is_lost(data: st.DataObject, limit: int, ladder: tuple[Strategy, ...]) -> None:
    """Every original text is still shown, or kept under a handle that the transcript names."""
    transcript = data.draw(transcripts())
    shelf = Shelf()
    made = apply(transcript, plan(transcript, limit, ladder), shelf)
    assert set(made.handles()) == set(shelf.kept)
    shown = {entry.index: entry for entry in made.visible() if not entry.is_note}
    lines = {line for content in shelf.kept.values() for line in content.splitlines()}
    for entry in transcript.entries:
        if entry.index in shown and shown[entry.index].raw == entry.raw:
            continue
        if json.dumps(entry.raw, ensure_ascii=False) in lines:
            continue  # removed with its span
        still = shown[entry.index].results if entry.index in shown else ()
        for result in (part for part in entry.results if part not in still):
            text = json.dumps(result.text, ensure_ascii=False)[1:-1]
            assert any(result.text in content or text in content for content in shelf.kept.values())


def _said(entry: Entry) -> Any:
    """Return the raw form of a message, without the results that accompany a user's words on Anthropic's wire."""
    if entry.pinned or not entry.results:
        return entry.raw
    return [part for part in entry.parts if not isinstance(part, ToolResult)]


def _signed(parts: tuple[Any, ...]) -> list[Any]:
    return [part.raw for part in parts if isinstance(part, Reasoning) and part.signed]


@pytest.mark.proves("LAW-Plan")
@settings(max_examples=settings().max_examples // 4)  # each example makes three plans
@given(st.data(), st.sampled_from(LADDERS), st.booleans())
def test_no_plan_gives_up_if_a_floor_would_fit(
    data: st.DataObject, ladder: tuple[Strategy, ...], is_grown: bool
) -> None:
    """Every plan can reach the smallest request that recovery would send, plus room for its handles."""
    transcript = data.draw(transcripts())
    if is_grown:
        transcript = apply(transcript, plan(transcript, data.draw(limits), ladder), Shelf())
    floor = Ladder(Sized(transcript), window_tokens=1 << 40)
    least = floor.plan(floor.last, 0)
    room = 60 * (2 + len(least.steps))
    assert plan(transcript, size_of(apply(transcript, least, Shelf())) + room, ladder).outcome != "cannot"


@pytest.mark.parametrize("ladder", [DEFAULT, RECOVERY])
def test_long_notes_are_dropped_before_a_plan_gives_up(ladder: tuple[Strategy, ...]) -> None:
    """The notes in which earlier plans quoted each step are dropped if the request then fits."""
    said: list[Any] = [{"role": "user", "content": "Go."}]
    for number in range(40):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "view", "arguments": f'{{"path": "{number}"}}'},
        }
        said.append({"role": "assistant", "content": f"Step {number} is about this. " * 20, "tool_calls": [call]})
        said.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"line {number}\n" * 300})
        said.append({"role": "user", "content": f"And then look at {number}, please. " * 5})
    talk = load(said, "openai-chat")
    noted = apply(talk, plan(talk, 3_000), Shelf())
    floor = Ladder(Sized(noted), window_tokens=1 << 40)
    least = size_of(apply(noted, floor.plan(floor.last, 0), Shelf()))
    assert size_of(noted) > least + 200
    assert plan(noted, least + 100, ladder).outcome == "shrunk"

"""The law of `Plan`: applied, it meets its limit or said that it cannot; it never enlarges, breaks or loses anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wires.strategies import TELLERS, stories

from penstock.context.compaction import DEFAULT, RECOVERY, NewLines, Strategy, apply, plan
from penstock.context.sized import size_of
from penstock.text.allowance import Budget
from penstock.text.tokens import Tokens
from penstock.wires import Entry, Reasoning, ToolResult, Transcript, dump, load, violations

WIRES = tuple(TELLERS)
LADDERS: tuple[tuple[Strategy, ...], ...] = (DEFAULT, RECOVERY, (NewLines(), *DEFAULT))

limits = st.one_of(st.integers(0, 400), st.integers(400, 20_000))
families = st.sampled_from(["gpt-5", "claude-opus-4-8", "unknown-model"])


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Any valid transcript on any wire, perhaps with a pin, a system prompt and tools."""
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
    """Keeps what plans take from view, under handles as long as the store's."""

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
    """With and without handles the size is within the limit exactly where the plan says so, and never above what it was."""
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
    """The same input gives the same plan, and the planned transcript, planned again, no step."""
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
    """No violation; instructions, tools, the task, the newest user message and pins byte for byte; order kept; what is signed
    unchanged or gone with its turn."""
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
    """Every original text is still shown, or lies under a handle that the transcript names."""
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
            continue  # it went with its span
        still = shown[entry.index].results if entry.index in shown else ()
        for result in (part for part in entry.results if part not in still):
            text = json.dumps(result.text, ensure_ascii=False)[1:-1]
            assert any(result.text in content or text in content for content in shelf.kept.values())


def _said(entry: Entry) -> Any:
    """The message byte for byte; without the results that a user's words may stand beside on Anthropic's wire."""
    if entry.pinned or not entry.results:
        return entry.raw
    return [part for part in entry.parts if not isinstance(part, ToolResult)]


def _signed(parts: tuple[Any, ...]) -> list[Any]:
    return [part.raw for part in parts if isinstance(part, Reasoning) and part.signed]

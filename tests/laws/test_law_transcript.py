"""The laws of a transcript, on every wire, for any conversation and any damage to it."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wires import strategies

from penstock.wires import WIRES, Cleared, Opaque, Reasoning, Transcript, dump, load, repair, system_of, violations
from penstock.wires.batches import UNNAMED

if TYPE_CHECKING:
    from penstock.wires.entries import Entry

pytestmark = pytest.mark.proves("LAW-Transcript")

every_wire = pytest.mark.parametrize("wire", WIRES)


def exact(value: Any) -> str:
    """Return the JSON that would be sent, with keys in order."""
    return json.dumps(value)


@every_wire
@given(data=st.data())
def test_a_story_is_valid_on_every_wire(wire: str, data: st.DataObject) -> None:
    """The tests' story tellers and the product's invariants agree on what is valid."""
    assert violations(data.draw(strategies.requests(wire)), wire) == []


@every_wire
@given(data=st.data())
def test_load_and_dump_on_one_wire_are_the_identity(wire: str, data: st.DataObject) -> None:
    """The round trip is byte for byte, for valid and broken lists and lists of any JSON."""
    source = st.one_of(
        strategies.requests(wire),
        strategies.broken(wire),
        st.lists(strategies.json_values, max_size=4),
        st.lists(strategies.likely, max_size=4),
    )
    messages = data.draw(source)
    before = exact(messages)
    assert exact(dump(load(messages, wire), wire)) == before
    assert exact(messages) == before


@every_wire
@given(data=st.data())
def test_nothing_makes_violations_raise(wire: str, data: st.DataObject) -> None:
    """Any JSON gives a list of violations, the same each time."""
    value = data.draw(
        st.one_of(
            strategies.json_values,
            st.lists(strategies.json_values, max_size=4),
            st.lists(strategies.likely, max_size=5),
            strategies.broken(wire),
        )
    )
    assert violations(value, wire) == violations(copy.deepcopy(value), wire)


def cleared(data: st.DataObject, transcript: Transcript) -> Transcript:
    """Return the transcript with any subset of its results replaced."""
    found = [
        (entry.index, result.call_id)
        for entry in transcript.visible()
        for result in entry.results
        if result.is_clearable and not entry.pinned
    ]
    chosen = data.draw(st.lists(st.sampled_from(found), unique=True)) if found else []
    text = data.draw(st.sampled_from(["[cleared, 900 tokens: page('h1')]", "", "x\ny"]))
    return transcript.replace_results(
        Cleared(index=index, call_id=call_id, text=text, handle="h1") for index, call_id in chosen
    )


def dropped(data: st.DataObject, transcript: Transcript) -> Transcript:
    """Return the transcript without a run of droppable turns."""
    kept = transcript.protected()
    turns = [turn for turn in transcript.turns() if not any(turn.first <= index <= turn.last for index in kept)]
    if not turns:
        return transcript
    first = data.draw(st.integers(0, len(turns) - 1))
    last = first
    while last + 1 < len(turns) and turns[last + 1].first == turns[last].last + 1 and data.draw(st.booleans()):
        last += 1
    return transcript.drop_span(turns[first].first, turns[last].last, data.draw(strategies.said))


@every_wire
@given(data=st.data())
def test_clearing_any_results_keeps_a_request_valid(wire: str, data: st.DataObject) -> None:
    """For any subset, pairs, roles and error marks stay, and everything else is byte for byte."""
    transcript = load(data.draw(strategies.requests(wire)), wire)
    after = cleared(data, transcript)
    assert violations(dump(after, wire), wire) == []
    touched = {edit.index for edit in after.edits if isinstance(edit, Cleared)}
    for was, now in zip(transcript.visible(), after.visible(), strict=True):
        assert (was.role, was.index) == (now.role, now.index)
        assert [(r.call_id, r.is_error) for r in was.results] == [(r.call_id, r.is_error) for r in now.results]
        if was.index not in touched:
            assert exact(was.raw) == exact(now.raw)


@every_wire
@given(data=st.data())
def test_forgetting_any_turns_keeps_a_request_valid(wire: str, data: st.DataObject) -> None:
    """Spans and results go in any order; instructions, the task and the newest user message stay verbatim."""
    transcript = load(data.draw(strategies.requests(wire)), wire)
    after = transcript
    for _ in range(data.draw(st.integers(1, 4))):
        after = data.draw(st.sampled_from([cleared, dropped]))(data, after)
    assert violations(dump(after, wire), wire) == []
    assert after.entries == transcript.entries
    shown = {entry.index: entry for entry in after.visible()}
    for index in transcript.protected():
        if not transcript.entries[index].results:
            assert exact(shown[index].raw) == exact(transcript.entries[index].raw)
        assert shown[index].text == transcript.entries[index].text
    assert Transcript.from_dict(json.loads(json.dumps(after.to_dict()))) == after


def signed(entries: tuple[Entry, ...]) -> list[str]:
    return [exact(p.raw) for entry in entries for p in entry.parts if isinstance(p, Reasoning) and p.signed]


@every_wire
@given(data=st.data())
def test_what_is_signed_stays_byte_for_byte_or_goes_with_its_turn(wire: str, data: st.DataObject) -> None:
    """After any edits the remaining signed blocks are the originals, in order, in whole turns."""
    transcript = load(data.draw(strategies.requests(wire)), wire)
    after = dropped(data, cleared(data, dropped(data, transcript)))
    left = signed(after.visible())
    rest = iter(signed(transcript.entries))
    assert all(block in rest for block in left)
    for turn in transcript.turns():
        there = {entry.index for entry in after.visible() if not entry.is_note}
        assert len({entry.index in there for entry in turn}) == 1


@every_wire
@given(data=st.data())
def test_a_visible_result_has_its_call(wire: str, data: st.DataObject) -> None:
    """In every view of a valid list, the call of a result is shown before it."""
    after = dropped(data, cleared(data, load(data.draw(strategies.requests(wire)), wire)))
    called: set[str] = set()
    for entry in after.visible():
        ran = ran_by_the_provider(entry)
        assert all(result.call_id in called | ran for result in entry.results)
        called |= {call.id for call in entry.calls} | ran


def ran_by_the_provider(entry: Entry) -> set[str]:
    """Return the ids of calls that the provider itself runs and answers in assistant messages."""
    raws = [part.raw for part in entry.parts if isinstance(part, Opaque) and isinstance(part.raw, dict)]
    held = [*raws, *(value for raw in raws for value in raw.values() if isinstance(value, dict))]
    named = {str(one[key]) for one in held for key in ("id", "toolUseId") if key in one}
    # A result without an id answers the call before it in the same message.
    unnamed = {result.call_id for result in entry.results if result.call_id.startswith(UNNAMED)}
    return named | (unnamed if entry.role == "assistant" else set())


@every_wire
@given(data=st.data())
def test_turns_tile_what_is_visible(wire: str, data: st.DataObject) -> None:
    """Joined turns are the visible entries, and a call and its results are in one turn."""
    messages = data.draw(st.one_of(strategies.requests(wire), strategies.broken(wire)))
    transcript = load(messages, wire)
    assert tuple(entry for turn in transcript.turns() for entry in turn) == transcript.visible()
    if not violations(messages, wire):
        for turn in transcript.turns():
            ids = {call.id for entry in turn for call in entry.calls}
            ran = {call_id for entry in turn for call_id in ran_by_the_provider(entry)}
            assert ids <= {result.call_id for entry in turn for result in entry.results} <= ids | ran


@every_wire
@pytest.mark.parametrize("target", WIRES)
@settings(max_examples=settings().max_examples * 2 // 5)  # for each of 25 pairs of wires
@given(data=st.data())
def test_a_valid_conversation_is_valid_on_every_other_wire(wire: str, target: str, data: st.DataObject) -> None:
    """Converted, edited or not, it has no violations and keeps its task verbatim."""
    transcript = load(
        data.draw(strategies.requests(wire, huge=False)), wire, system=data.draw(st.sampled_from([None, "Be brief."]))
    )
    after = dropped(data, cleared(data, transcript)) if data.draw(st.booleans()) else transcript
    messages = dump(after, target)
    assert violations(messages, target) == []
    task = transcript.task()
    assert task is not None
    told = load(messages, target, system=system_of(after, target)).task()
    assert told is not None
    assert task.text in told.text


@every_wire
@given(data=st.data())
def test_repair_leaves_a_valid_list_as_it_is(wire: str, data: st.DataObject) -> None:
    """A valid list stays byte for byte, and the repair reports no action."""
    messages = data.draw(strategies.requests(wire))
    mended = repair(messages, wire)
    assert exact(mended.messages) == exact(messages)
    assert (mended.actions, mended.left) == ((), ())


@every_wire
@given(data=st.data())
def test_repair_mends_whatever_breaks_and_says_so(wire: str, data: st.DataObject) -> None:
    """No violation remains except an empty list; repairing again changes nothing; the input is untouched."""
    messages = data.draw(st.one_of(strategies.broken(wire), st.lists(strategies.likely, max_size=5)))
    before = exact(messages)
    mended = repair(messages, wire)
    assert exact(messages) == before
    assert mended.left == tuple(violations(mended.messages, wire))
    assert {violation.code for violation in mended.left} <= ({"empty"} if not mended.messages else set())
    assert bool(mended.actions) == bool(violations(messages, wire) and (mended.messages or messages))
    again = repair(mended.messages, wire)
    assert exact(again.messages) == exact(mended.messages)
    assert again.actions == ()


@given(data=st.data())
def test_repair_never_touches_a_signed_block(data: st.DataObject) -> None:
    """Every signed block after a repair was there before, byte for byte."""
    messages = data.draw(strategies.broken("anthropic"))
    before = signed(load(messages, "anthropic").entries)
    assert all(block in before for block in signed(load(repair(messages, "anthropic").messages, "anthropic").entries))

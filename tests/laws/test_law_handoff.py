"""The laws of a handoff: it survives a round trip, unknown fields included, and what is rendered from it is bounded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wires import strategies

from penstock.context.handoff import (
    REASONS,
    SEED_KEYS,
    SUMMARY_CHARS,
    Command,
    Decision,
    Failure,
    FileEvent,
    Handoff,
    Task,
    decode,
    encode,
    mechanical,
    render,
    shortened,
)
from penstock.errors import CallerError
from penstock.text import escape
from penstock.wires import WIRES, load

pytestmark = pytest.mark.proves("LAW-Handoff")

texts = st.text(st.characters(exclude_categories=()), max_size=20)  # halves of UTF-16 too
lists = st.lists(texts, max_size=4)
numbers = st.integers(0, 10**6)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts
)  # fmt: skip
json_values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)
others = st.dictionaries(texts.map(lambda key: f"x{key}"), json_values, max_size=2)
pieces = st.tuples(st.sampled_from(["Done. ", "word ", "x", "\n", "é", "\x1b["]), st.integers(1, 900))
long_texts = st.lists(pieces, max_size=4).map(lambda parts: "".join(piece * times for piece, times in parts))
records: dict[str, st.SearchStrategy[Any]] = {
    "decisions": st.builds(Decision, what=texts, why=texts, other=others),
    "pending_task_details": st.builds(
        Task, title=texts, id=st.one_of(texts, numbers), priority=st.one_of(texts, numbers), other=others
    ),
    "failed_attempts": st.builds(Failure, what=texts, error=texts, count=numbers, other=others),
    "commands": st.builds(Command, cmd=texts, exit=st.one_of(st.none(), st.integers()), other=others),
    "file_history": st.builds(
        FileEvent, path=texts, turn=st.one_of(st.none(), st.integers()), action=texts, digest=texts, other=others
    ),
}
fields: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("agent", "created_at", "parent_session_id"), texts),
    "turns_completed": numbers,
    "schema_version": st.integers(0, 1),
    **dict.fromkeys(("completed_tasks", "pending_tasks", "modified_files", "constraints", "open_errors"), lists),
    **dict.fromkeys(("active_files", "handles"), lists),
    **dict.fromkeys(("state", "log_ref"), st.dictionaries(texts, json_values, max_size=3)),
    **dict.fromkeys(("summary", "goal", "next_step"), long_texts),
    **{name: st.lists(record, max_size=3) for name, record in records.items()},
    "reason": st.sampled_from(["", *REASONS]),
    "other": others,
}


@st.composite
def handoffs(draw: st.DrawFn) -> Handoff:
    """Draw a few fields besides the required one: drawing all at once is slow and shows no more."""
    chosen = draw(st.lists(st.sampled_from(sorted(fields)), unique=True, max_size=6))
    return Handoff(session_id=draw(texts), **{name: draw(fields[name]) for name in chosen})


NESTED = {"decisions", "pendingTaskDetails", "failedAttempts", "commands", "fileHistory"}


@given(handoffs())
def test_a_handoff_comes_back_as_it_went(handoff: Handoff) -> None:
    """A handoff survives text, UTF-8 bytes and an object; the original keys come first, in order."""
    text = encode(handoff)
    assert decode(text) == handoff
    assert decode(text.encode("utf-8")) == handoff
    assert decode(json.loads(text)) == handoff
    assert tuple(json.loads(text))[: len(SEED_KEYS)] == SEED_KEYS


@given(handoffs(), json_values)
def test_unknown_fields_survive(handoff: Handoff, value: Any) -> None:
    """Unknown fields survive at the top and in every nested object, even in otherwise empty ones."""
    document = json.loads(encode(handoff))
    for name in NESTED & document.keys():
        for item in document[name]:
            item["fromTomorrow"] = value
    document["fromTomorrow"] = value
    back = json.loads(encode(decode(document)))
    assert json.dumps(back, sort_keys=True) == json.dumps(document, sort_keys=True)


@given(long_texts)
def test_a_summary_is_bounded_and_cut_at_a_sentence(text: str) -> None:
    """A cut summary is a prefix of the text; cutting twice changes nothing."""
    summary = Handoff(session_id="s", summary=text).summary
    assert len(summary) <= SUMMARY_CHARS
    assert shortened(summary) == summary
    if len(text) > SUMMARY_CHARS:
        assert text.startswith(summary.removesuffix("…"))
        assert summary.endswith("…") or text[len(summary)].isspace()


keys = st.sampled_from([*SEED_KEYS, *sorted(NESTED), "reason", "logRef", "schemaVersion", "other"])
inner_keys = st.sampled_from(["what", "cmd", "path", "title", "priority", "count", "exit", "other"])
likely = st.one_of(json_values, st.lists(st.dictionaries(inner_keys, json_values, max_size=3), max_size=3))


@given(st.one_of(json_values, st.dictionaries(keys, likely, max_size=4)), st.booleans())
def test_any_json_is_a_handoff_or_an_error_of_the_caller(value: Any, is_named: bool) -> None:
    """Decoding raises nothing but `CallerError`, and what it accepts survives a round trip."""
    if is_named and isinstance(value, dict):
        value = {**value, "sessionId": "s"}
    try:
        handoff = decode(value)
    except CallerError:
        return
    assert decode(encode(handoff)) == handoff


@given(handoffs(), st.integers(0, 6000))
def test_what_a_session_starts_with_is_bounded_and_inert(handoff: Handoff, max_chars: int) -> None:
    """The text is bounded and inert for any handoff, and has the goal verbatim if it fits."""
    text = render(handoff, max_chars=max_chars)
    assert len(text) <= max_chars
    assert escape.show(text) == (text, 0)
    goal = escape.show(handoff.goal)[0]
    following = escape.show(handoff.next_step[: max_chars // 4])[0]
    if handoff.goal.strip() and len(goal) + len(following) + 2000 < max_chars:
        assert goal in text


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
def test_any_transcript_gives_a_handoff_without_a_model(wire: str, data: st.DataObject) -> None:
    """Valid or damaged, a transcript gives a handoff that survives a round trip and has the user's first words."""
    messages = data.draw(st.one_of(strategies.requests(wire), strategies.broken(wire)))
    transcript = load(messages, wire)
    handoff = mechanical(transcript, session_id="s")
    assert decode(encode(handoff)) == handoff
    task = transcript.task()
    later = (entry.text for entry in transcript.entries if entry.speaks and entry.text)  # after a picture alone
    assert handoff.goal == ((task.text if task is not None else "") or next(later, ""))
    assert len(render(handoff, max_chars=1000)) <= 1000

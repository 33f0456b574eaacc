"""Is a wire one record, in which nothing can be forgotten, and on whose name nobody else decides?"""

from __future__ import annotations

import ast
import dataclasses
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import BOUND, growth

import penstock
from penstock.errors import CallerError
from penstock.wires import WIRES, repair, text_message, violations, wire_named
from penstock.wires.wire import AnswerLayout, BodyLayout, ProviderDouble, Service, Wire

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = Path(penstock.__file__).parent


@pytest.mark.parametrize("record", [Wire, BodyLayout, AnswerLayout, Service, ProviderDouble])
def test_a_part_that_is_forgotten_fails_when_the_record_is_made(record: Any) -> None:
    """No part of a wire has a default: omitting one is an error at import, not at a user's request."""
    whole = {known.name: None for known in dataclasses.fields(record)}
    assert record(**whole) is not None
    for name in whole:
        with pytest.raises(TypeError, match=name):
            record(**{key: value for key, value in whole.items() if key != name})


@pytest.mark.parametrize("name", WIRES)
def test_a_wire_is_found_by_the_name_that_it_bears(name: str) -> None:
    """The table and the records agree."""
    assert wire_named(name).name == name


def test_an_unknown_wire_name_is_refused_with_the_known_ones() -> None:
    """The error names every wire."""
    with pytest.raises(CallerError, match=", ".join(WIRES)):
        wire_named("openai")


def _compares_a_wire(node: ast.AST, room: str) -> bool:
    """Return whether code decides on a wire's name; "gemini" in lists of programs, and anywhere in `hosts/`, is a program."""
    decides = ast.Compare | ast.MatchValue if room == "hosts" else ast.Compare | ast.MatchValue | ast.Dict
    listed = ast.Tuple | ast.List | ast.Set
    names = set(WIRES) - {"gemini"} if room == "hosts" or isinstance(node, listed) else set(WIRES)
    return isinstance(node, decides | listed) and any(
        isinstance(part, ast.Constant) and part.value in names for part in ast.walk(node)
    )


def test_nobody_outside_the_room_decides_by_the_name_of_a_wire() -> None:
    """No comparison, match or table by a wire's name is outside `wires/`, except for what `hosts/` know of images."""
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        if (room := path.relative_to(SOURCE).parts[0]) != "wires"
        if any(f'"{name}"' in (text := path.read_text("utf-8")) for name in WIRES)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.expr | ast.pattern) and _compares_a_wire(node, room)
    ]
    assert found == []


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "gemini", "bedrock"])
def test_repair_takes_time_in_proportion_to_unanswered_calls(wire: str) -> None:
    """Calls without results, under one id or under different ones, are closed without a search of the list for each."""

    def unanswered(count: int) -> Callable[[], object]:
        messages: list[Any] = []
        for number in range(count):
            function = {"name": "view", "arguments": "{}"}
            block = {"type": "tool_use", "id": f"c{number}", "name": "view", "input": {}}
            call = {"tool_calls": [{"id": "c", "type": "function", "function": function}]}
            messages.append(text_message(wire, "user", "go on"))
            use = {"toolUseId": f"c{number}", "name": "view", "input": {}}
            messages.append(
                {
                    "openai-chat": {"role": "assistant", **call},
                    "anthropic": {"role": "assistant", "content": [block]},
                    "gemini": {"role": "model", "parts": [{"functionCall": {"name": "view"}}]},
                    "bedrock": {"role": "assistant", "content": [{"toolUse": use}]},
                }[wire]
            )
        return lambda: repair(messages, wire)

    assert growth(unanswered, 400) < BOUND


@pytest.mark.proves("R-9")
@pytest.mark.parametrize("wire", ["gemini", "bedrock"])
def test_repair_takes_time_in_proportion_to_one_batch(wire: str) -> None:
    """Contents are joined into thousands of parallel calls, and all their responses into another."""

    def joined(count: int) -> Callable[[], object]:
        if wire == "gemini":
            call = {"role": "model", "parts": [{"functionCall": {"name": "view"}}]}
            result = {"role": "user", "parts": [{"functionResponse": {"name": "view", "response": {"output": "x"}}}]}
            messages = [call] * count + [result] * (count - 1)
        else:
            uses = [{"toolUse": {"toolUseId": f"c{n}", "name": "view", "input": {}}} for n in range(count)]
            results = [{"toolResult": {"toolUseId": f"c{n}", "content": []}} for n in range(count - 1)]
            messages = [{"role": "assistant", "content": [use]} for use in uses]
            messages += [{"role": "user", "content": [result]} for result in results]
        return lambda: repair(messages, wire)

    assert growth(joined, 400) < BOUND


@pytest.mark.parametrize("look", [violations, repair])
def test_a_run_of_reasoning_takes_time_in_proportion(look: Callable[..., object]) -> None:
    """Reasoning is judged by what follows its run, not by a search of the run for each item."""

    def run(count: int) -> Callable[[], object]:
        items = [{"type": "reasoning", "id": f"rs_{number}", "summary": []} for number in range(count)]
        return lambda: look(items, "openai-responses")

    assert growth(run, 1_000) < BOUND


@given(st.lists(st.sampled_from(["reasoning", "said", "asked", "nothing"]), max_size=10))
def test_reasoning_is_alone_where_no_item_of_the_assistant_follows_its_run(story: list[str]) -> None:
    """The result equals a look ahead from each item; a repair drops exactly these."""
    forms: dict[str, Any] = {
        "reasoning": {"type": "reasoning", "id": "rs", "summary": []},
        "said": {"role": "assistant", "content": "Yes."},
        "asked": {"role": "user", "content": "Go on."},
        "nothing": None,
    }
    alone = [
        place
        for place, what in enumerate(story)
        if what == "reasoning" and next((later for later in story[place:] if later != "reasoning"), "") != "said"
    ]
    items = [forms[what] for what in story]
    found = [found.index for found in violations(items, "openai-responses") if found.code == "reasoning_alone"]
    assert found == alone
    if "nothing" not in story:
        kept = [item for place, item in enumerate(items) if place not in alone]
        assert repair(items, "openai-responses").messages == kept


def test_asking_a_stream_whether_it_has_said_anything_takes_the_same_time_at_every_chunk() -> None:
    """A stream of the chat wire is asked at each chunk; what has come is not searched again."""

    def read(count: int) -> Callable[[], object]:
        chunk = {"choices": [{"index": 0, "delta": {"content": "a piece of the answer "}}]}

        def run() -> None:
            reader = wire_named("openai-chat").answers.stream()
            for _ in range(count):
                reader.feed(chunk)
                assert reader.has_content

        return run

    assert growth(read, 6_000) < BOUND


@pytest.mark.parametrize(
    ("delta", "has_said"),
    [
        ({"role": "assistant", "content": "", "refusal": None}, False),
        ({"content": None, "tool_calls": []}, False),
        ({"content": "x"}, True),
        ({"refusal": "No."}, True),
        ({"reasoning": "Hm"}, True),
        ({"reasoning_content": "Hm"}, True),
        ({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "view", "arguments": ""}}]}, True),
        ({"function_call": {"name": "view", "arguments": ""}}, True),
    ],
)
def test_a_stream_has_content_from_the_first_word_or_call_on(delta: dict[str, Any], has_said: bool) -> None:
    """An opening chunk says nothing; once something has come, an empty chunk does not change that."""
    reader = wire_named("openai-chat").answers.stream()
    empty = {"choices": [{"index": 0, "delta": {"content": ""}}]}
    reader.feed(empty)
    assert not reader.has_content
    reader.feed({"choices": [{"index": 0, "delta": delta}]})
    assert reader.has_content is has_said
    reader.feed(empty)
    assert reader.has_content is has_said


@given(st.lists(st.sampled_from(["call a", "call b", "result a", "result b", "words"]), max_size=14))
def test_a_result_goes_to_the_nearest_call_before_it(story: list[str]) -> None:
    """On the chat wire each call takes the first result of its id that comes before the id is called again."""
    messages: list[Any] = []
    for place, what in enumerate(story):
        kind, _, name = what.partition(" ")
        if kind == "call":
            function = {"name": "view", "arguments": "{}"}
            messages.append(
                {"role": "assistant", "tool_calls": [{"id": name, "type": "function", "function": function}]}
            )
        elif kind == "result":
            messages.append({"role": "tool", "tool_call_id": name, "content": f"result {place}"})
        else:
            messages.append({"role": "user", "content": f"words {place}"})
    expected: list[str] = []
    for place, what in enumerate(story):
        if what.startswith("call"):
            name = what.split()[1]
            behind = next(
                (at for at in range(place + 1, len(story)) if story[at] in {f"call {name}", f"result {name}"}), None
            )
            is_answered = behind is not None and story[behind].startswith("result")
            expected.append(f"result {behind}" if is_answered else "closed")
    mended = repair(messages, "openai-chat").messages
    answered = [
        following["content"] if following["content"].startswith("result ") else "closed"
        for message, following in itertools.pairwise([*mended, {}])
        if message.get("tool_calls")
    ]
    assert answered == expected

"""Does an answer that is not as its API describes it disturb those who read it or pass it on?"""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from penstock.carrier.stream_watch import StreamRefused, StreamWatch
from penstock.context.answers import faults_of, overflow_in
from penstock.errors import CallerError
from penstock.wires import WIRES, answer_messages, wire_named
from penstock.wires.bodies import cache_tokens
from penstock.wires.failures import Refused, Unreadable
from penstock.wires.wire import AnswerContent

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN = frozenset({"ctx_page"})
ODD: list[Any] = [None, "x", ["x"]]


def answer(wire: str) -> dict[str, Any]:
    """Return an answer that says something and calls two tools, one of them ours."""
    calls = (("ctx_page", "{}"), ("read", '{"a": 1}'))
    content = AnswerContent(text="Well", calls=calls, number=1, model="m", input_tokens=60, output_tokens=9)
    return wire_named(wire).double.answer(content)


def events(wire: str) -> list[Any]:
    """Return the same answer as the events of a stream."""
    asked = {"stream": True, "stream_options": {"include_usage": True}}
    content = b"".join(wire_named(wire).double.answer_events(answer(wire), asked))
    frames = wire_named(wire).answers.frames
    if frames is not None:
        return [json.loads(event) for event in frames().feed(content)]
    lines = [line[6:] for line in content.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def paths(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every value within a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in inner:
        yield (*before, key)
        yield from paths(held, (*before, key))


def odd(value: Any) -> Iterator[Any]:
    """Yield a value with each value within it left out, and in the place of each another one."""
    for *way, last in paths(value):
        for other in ("left out", *ODD):
            changed = deepcopy(value)
            holder = changed
            for key in way:
                holder = holder[key]
            if other == "left out":
                del holder[last]
            else:
                holder[last] = other
            yield changed


def odd_streams(wire: str) -> Iterator[list[Any]]:
    """Yield the stream with one odd event, for each form of event once."""
    whole, seen = events(wire), set()
    for place, event in enumerate(whole):
        form = str(list(paths(event)))
        if form not in seen:
            seen.add(form)
            yield from ([*whole[:place], changed, *whole[place + 1 :]] for changed in odd(event))


@pytest.mark.proves("R-8")
@pytest.mark.parametrize("wire", WIRES)
def test_any_value_of_an_answer_may_be_another(wire: str) -> None:
    """It is read as far as it goes, or reported as unreadable; no other error reaches a caller."""
    answers = wire_named(wire).answers
    for body in odd(answer(wire)):
        overflow_in(body)
        with suppress(CallerError):
            answer_messages(body, wire)
        faults_of(body, wire, estimated_tokens=50, window_tokens=100, taken_tokens=0)
        if answers.hidden_calls is not None and answers.is_answer(body):
            answers.hidden_calls.calls_in(body, OWN)
            hider = answers.hidden_calls.hider(OWN)
            hider.body(answer(wire))
            hider.next_answer()
            hider.body(body)


@pytest.mark.proves("R-8")
@pytest.mark.parametrize("wire", WIRES)
def test_any_value_of_an_event_may_be_another(wire: str) -> None:
    """A watched stream goes on, and a gateway's hider follows every event that the wire's reader can read."""
    answers, whole = wire_named(wire).answers, events(wire)
    for stream in odd_streams(wire):
        watch = StreamWatch(wire, (), lambda _body, _broke_off: None)
        with suppress(StreamRefused):
            for event in stream:
                watch.look(event)
            watch.end()
        if answers.hidden_calls is None:
            continue
        hider, reader = answers.hidden_calls.hider(OWN), answers.stream()
        for event in whole:
            hider.event(event)
        hider.next_answer()
        for event in stream:
            if isinstance(event, dict):
                with suppress(Unreadable, Refused):
                    reader.feed(event)
                    hider.event(event)


@pytest.mark.parametrize(
    ("wire", "usage"),
    [
        ("openai-chat", {"prompt_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 5}}),
        ("openai-responses", {"input_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 5}}),
        ("anthropic", {"cache_read_input_tokens": 7, "cache_creation_input_tokens": 5}),
        ("bedrock", {"cacheReadInputTokens": 7, "cacheWriteInputTokens": 5}),
    ],
)
def test_what_was_read_from_a_cache_and_written_to_it_is_known(wire: str, usage: dict[str, Any]) -> None:
    """Each has a price of its own, at OpenAI too."""
    assert cache_tokens({"usage": usage}, wire) == (7, 5)

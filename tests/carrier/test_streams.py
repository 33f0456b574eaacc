"""Are a caller's own streams checked before they are handed on, closed if refused, and named if they break?"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from penstock import Carrier, aexecute, execute
from penstock.carrier.stream_watch import StreamRefused
from penstock.overflow import parse
from penstock.wires import WIRES, dump, load_request, wire_named
from penstock.wires.wire import AnswerContent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from penstock.store import Store

pytestmark = pytest.mark.proves("R-4")
LONG = "prompt is too long: 90000 tokens > 8000 maximum"


def request_on(wire: str) -> dict[str, Any]:
    """Return a history of forty results that can be made smaller."""
    messages: list[Any] = [{"role": "user", "content": "How many?"}]
    for n in range(40):
        function = {"name": "run", "arguments": json.dumps({"n": n})}
        asked = {"id": f"c{n}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [asked]})
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"result {n} " + "word " * 500})
    spoken = wire_named(wire)
    body = {"model": "m", "messages": messages}
    held = dump(load_request(body, "openai-chat"), wire)
    more = {"max_tokens": 500} if wire == "anthropic" else {}
    return {"model": "m", spoken.body.messages_key: held, **more}


def answer(wire: str, text: str = "Forty, I should say.") -> dict[str, Any]:
    """Return an answer's body."""
    content = AnswerContent(text=text, calls=(), number=1, model="m", input_tokens=6_000, output_tokens=9)
    return wire_named(wire).double.answer(content)


def events_of(wire: str, body: dict[str, Any]) -> list[Any]:
    """Return the events of a streamed answer, as JSON."""
    content = b"".join(
        wire_named(wire).double.answer_events(body, {"stream": True, "stream_options": {"include_usage": True}})
    )
    frames = wire_named(wire).answers.frames
    if frames is not None:
        return [json.loads(event) for event in frames().feed(content)]
    lines = [line[6:] for line in content.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


class Stream:
    """A stream as an SDK has it: read once, closed once."""

    def __init__(self, events: list[Any]) -> None:
        self.events, self.closed = iter(events), 0

    def __iter__(self) -> Iterator[Any]:
        for event in self.events:
            if isinstance(event, Exception):
                raise event
            yield event

    def close(self) -> None:
        """Release the connection."""
        self.closed += 1


class AsyncStream(Stream):
    """The same stream, to be awaited."""

    async def __aiter__(self) -> AsyncIterator[Any]:
        for event in self.events:
            await asyncio.sleep(0)
            if isinstance(event, Exception):
                raise event
            yield event

    async def aclose(self) -> None:
        """Release the connection."""
        self.closed += 1


def carried(wire: str, streams: list[Any], *, is_async: bool, store: Store) -> tuple[Any, list[Any]]:
    """Return the result of a request whose answers are these streams, and the events that the caller received."""
    given = iter(streams)
    about: Any = {"wire": wire, "window_tokens": 100_000, "store": store}
    if not is_async:
        result = execute(lambda _: next(given), request_on(wire), **about)
        return result, list(result.response)

    async def all_of_it() -> tuple[Any, list[Any]]:
        async def send(_: Any) -> Any:
            return next(given)

        made = await aexecute(send, request_on(wire), **about)
        return made, [event async for event in made.response]

    return asyncio.run(all_of_it())


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_a_refusal_before_the_first_content_is_recovered_and_its_stream_is_closed(
    wire: str, is_async: bool, store: Store
) -> None:
    """It comes as an event or as an exception, on every wire; the caller gets every event of the answer once."""
    kind = AsyncStream if is_async else Stream
    whole = events_of(wire, answer(wire))
    for refusal in (wire_named(wire).double.error(LONG, 400), RuntimeError(LONG)):
        refused, good = kind([refusal]), kind(whole)
        result, seen = carried(wire, [refused, good], is_async=is_async, store=store)
        assert (result.success, result.attempts, seen) == (True, 2, whole)
        assert (refused.closed, good.closed) == (1, 0)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_one_in_mid_stream_ends_with_what_came_and_is_named(wire: str, is_async: bool, store: Store) -> None:
    """The caller has the events so far; the error has the words that they add up to, and what the provider said."""
    whole = events_of(wire, answer(wire))
    at = len(whole) * 2 // 3
    for refusal in (wire_named(wire).double.error(LONG, 400), RuntimeError(LONG)):
        kind = AsyncStream if is_async else Stream
        with pytest.raises(StreamRefused) as raised:
            carried(wire, [kind([*whole[:at], refusal, *whole[at:]])], is_async=is_async, store=store)
        overflow = parse(raised.value)
        assert overflow is not None
        assert (overflow.limit, overflow.input, raised.value.overflow) == (8_000, 90_000, overflow)
        words = raised.value.received
        assert words
        assert "Forty, I should say.".startswith(words)


def test_one_after_a_call_and_before_any_word_does_not_speak_of_words(store: Store) -> None:
    """There is nothing in `received`, and the message does not say that there is."""
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {}}
    call = {"type": "tool_use", "id": "t", "name": "run", "input": {}}
    begun = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": call},
        wire_named("anthropic").double.error(LONG, 400),
    ]
    with pytest.raises(StreamRefused, match=r"prompt is too long") as raised:
        carried("anthropic", [Stream(begun)], is_async=False, store=store)
    assert (raised.value.received, "characters" in str(raised.value)) == ("", False)


@pytest.mark.parametrize("is_async", [False, True])
def test_what_breaks_a_stream_and_is_no_refusal_is_the_callers(is_async: bool, store: Store) -> None:
    """The same exception object follows the events before it."""
    broken = ConnectionResetError("the connection is gone")
    whole = events_of("openai-chat", answer("openai-chat"))
    kind = AsyncStream if is_async else Stream
    with pytest.raises(ConnectionResetError) as raised:
        carried("openai-chat", [kind([*whole[:5], broken])], is_async=is_async, store=store)
    assert raised.value is broken


def test_a_stream_of_something_else_is_handed_on_as_it_is(store: Store) -> None:
    """These are words of a caller's own, and a stream that ends at once."""
    _, seen = carried("openai-chat", [iter(["one", "two"])], is_async=False, store=store)
    assert seen == ["one", "two"]
    result, seen = carried("openai-chat", [iter(())], is_async=False, store=store)
    assert (seen, result.attempts) == ([], 1)


@pytest.mark.proves("R-5")
@pytest.mark.parametrize("wire", WIRES)
def test_what_a_stream_reports_at_its_end_is_passed_on_and_learned(wire: str, store: Store) -> None:
    """Its usage comes last: the caller then already has the result, whose warnings report it."""
    body = answer(wire)
    carrier = Carrier(wire=wire, window_tokens=100_000, store=store)
    request = request_on(wire)
    result = carrier.execute(lambda _: iter(events_of(wire, body)), request)
    assert result.warnings == []
    assert list(result.response)
    assert "6000 tokens of input" in result.warnings[0]
    assert "dropped the beginning" in result.warnings[0]
    small = {**request, wire_named(wire).body.messages_key: request[wire_named(wire).body.messages_key][:19]}
    before = store.learned(f"provider {wire}  m")
    result = carrier.execute(lambda _: iter(events_of(wire, body)), small)
    list(result.response)
    assert (result.warnings, before) == ([], None)
    assert store.learned(f"provider {wire}  m") is not None


def _token(word: str) -> dict[str, Any]:
    """Return a chunk of a completion whose word comes with its log probability."""
    chosen = {"index": 0, "delta": {"content": word}, "logprobs": {"content": [{"token": word, "logprob": -0.5}]}}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [chosen]}


_MORE_EVENTS: dict[str, list[Any]] = {
    "openai-chat": [_token("For"), _token("ty")],
    "openai-responses": [
        {"type": "response.output_item.done", "output_index": 0, "item": {"type": "message", "content": []}},
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}},
    ],
    "bedrock": [
        {"contentBlockStart": {"contentBlockIndex": 7, "start": {"reasoningContent": {"reasoningText": {"text": ""}}}}},
        {"contentBlockDelta": {"contentBlockIndex": 7, "delta": {"reasoningContent": {"text": "So"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 8, "delta": {"citations": [{"title": "one"}]}}},
        {"contentBlockDelta": {"contentBlockIndex": 8, "delta": {"citation": {"title": "two"}}}},
    ],
}


@pytest.mark.parametrize("wire", WIRES)
def test_the_events_that_the_caller_gets_are_those_that_came(wire: str, store: Store) -> None:
    """They may be kept until the end: once, assembling the answer wrote the whole text into Anthropic's first events."""
    events = events_of(wire, answer(wire)) + _MORE_EVENTS.get(wire, [])
    came = json.dumps(events)
    _, seen = carried(wire, [iter(events)], is_async=False, store=store)
    assert all(one is other for one, other in zip(seen, events, strict=True))
    assert json.dumps(seen) == came


@pytest.mark.proves("R-6")
@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_that_closes_in_the_middle_of_its_answer_is_reported(wire: str, store: Store) -> None:
    """A cleanly closed connection looks like the end; only the stop reason differs. A complete stream gives no warning."""
    events, key = events_of(wire, answer(wire)), wire_named(wire).body.messages_key
    small = {**request_on(wire), key: request_on(wire)[key][:9]}
    for came, told in ((events[: len(events) // 2], True), (events, False)):
        streams = iter([iter(came)])

        def send(_: Any, streams: Iterator[Any] = streams) -> Any:
            return next(streams)

        result = execute(send, small, wire=wire, window_tokens=8_000, store=store)
        assert list(result.response) == came
        assert any("ended before the answer said why it stops" in warning for warning in result.warnings) == told


@pytest.mark.parametrize("wire", WIRES)
def test_another_stream_than_the_wires_does_not_break_off(wire: str, store: Store) -> None:
    """An empty stream, a caller's own words, and an answer that came whole could not say why they stop."""
    key = wire_named(wire).body.messages_key
    small = {**request_on(wire), key: request_on(wire)[key][:9]}
    for came in ([], ["words", "of ours"], [{"said": "words"}, 7], [json.dumps(answer(wire))]):
        streams = iter([iter(came)])

        def send(_: Any, streams: Iterator[Any] = streams) -> Any:
            return next(streams)

        result = execute(send, small, wire=wire, window_tokens=8_000, store=store)
        assert list(result.response) == came
        assert not any("ended before" in warning for warning in result.warnings)

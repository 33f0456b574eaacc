"""May a caller's function return what an HTTP library gives: lines and bytes of streams, responses, errors (R-4)?"""

from __future__ import annotations

import asyncio
import io
import json
import urllib.error
import urllib.request
from email.message import Message
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.carrier.conftest import PATHS
from tests.carrier.test_send import chat
from tests.carrier.test_streams import LONG, answer, events_of, request_on

import requests
from penstock import aexecute, execute
from penstock.carrier.raw_events import RawEvents
from penstock.carrier.responses import told_by
from penstock.carrier.stream_watch import StreamRefused
from penstock.errors import CallerError
from penstock.models import say
from penstock.testing import LoopbackProvider
from penstock.wires import WIRES, wire_named

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from penstock.store import Store

pytestmark = pytest.mark.proves("R-4")
SAID = {"error": {"message": LONG, "type": "invalid_request_error"}}
DONE = {"choices": [{"message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}]}


def content_of(wire: str, body: dict[str, Any]) -> bytes:
    """Return a streamed answer as it goes over the wire."""
    asked = {"stream": True, "stream_options": {"include_usage": True}}
    return b"".join(wire_named(wire).double.answer_events(body, asked))


def refusal_of(wire: str) -> bytes:
    """Return a refusal as the first event of a stream."""
    double = wire_named(wire).double
    return b"".join(double.error_events(double.error(LONG, 400), 1))


def blocks(content: bytes, size: int = 7) -> list[bytes]:
    """Return blocks that end anywhere, as they come from a socket."""
    return [content[start : start + size] for start in range(0, len(content), size)]


SHAPES: dict[str, Callable[[bytes], list[Any]]] = {
    "blocks": blocks,
    "lines with their ends": lambda content: content.splitlines(keepends=True),
    "lines": lambda content: content.decode().splitlines(),
    "lines that say something": lambda content: [line for line in content.decode().splitlines() if line],
    "at once": lambda content: [content],
}
TEXT_WIRES = [wire for wire in WIRES if wire_named(wire).answers.frames is None]
CASES = [(wire, shape) for wire in TEXT_WIRES for shape in SHAPES] + [("bedrock", "blocks"), ("bedrock", "at once")]


@pytest.mark.parametrize(("wire", "shape"), CASES)
def test_lines_and_bytes_of_a_stream_are_looked_at_as_events_are(wire: str, shape: str, store: Store) -> None:
    """A refusal in them is recovered, every piece of the answer comes once, and a fault is reported at its end."""
    cut = SHAPES[shape]
    pieces = cut(content_of(wire, answer(wire)))
    streams = [iter(cut(refusal_of(wire))), iter(pieces)]
    result = execute(lambda _: streams.pop(0), request_on(wire), wire=wire, window_tokens=100_000, store=store)
    assert (result.success, result.attempts) == (True, 2)
    assert list(result.response) == pieces
    assert result.warnings == []
    assert result.transcript is not None
    if wire == "bedrock" or shape == "at once":
        return  # all of it is content by the time it is examined
    events = content_of(wire, answer(wire)).split(b"\n\n")
    broken = b"\n\n".join([*events[: len(events) * 2 // 3], refusal_of(wire)])
    made = execute(lambda _: iter(cut(broken)), request_on(wire), wire=wire, window_tokens=100_000, store=store)
    with pytest.raises(StreamRefused, match="prompt is too long"):
        list(made.response)


@given(
    st.sampled_from(TEXT_WIRES),
    st.text(min_size=1, max_size=60),
    st.lists(st.integers(1, 40), min_size=1, max_size=30),
    st.booleans(),
)
def test_the_same_events_come_however_the_bytes_are_cut(
    wire: str, words: str, sizes: list[int], is_windows: bool
) -> None:
    """They may be cut within a character, within the name of a field, or between the two bytes that end a line."""
    body = answer(wire, words)
    content = content_of(wire, body)
    expected = events_of(wire, body)
    content = content.replace(b"\n", b"\r\n") if is_windows else content
    raw, found, at = RawEvents(wire), list[Any](), 0
    while at < len(content):
        size = sizes[at % len(sizes)]
        found += raw.feed(content[at : at + size])
        at += size
    assert [*found, *raw.finish()] == expected


@pytest.mark.parametrize("shape", SHAPES)
def test_a_body_that_comes_as_lines_is_an_answer_or_a_refusal(shape: str, store: Store) -> None:
    """It may come from `iter_lines` of a response that is not a stream, or be an error that nobody raised."""
    cut = SHAPES[shape]
    bodies = [json.dumps(SAID, indent=1).encode(), json.dumps(DONE, indent=1).encode()]
    result = execute(
        lambda _: iter(cut(bodies.pop(0))), chat("x " * 9_000), wire="openai-chat", window_tokens=10**6, store=store
    )
    assert (result.success, result.attempts, result.warnings) == (True, 2, [])
    assert list(result.response) == cut(json.dumps(DONE, indent=1).encode())


# ── real clients ─────────────────────────────────────────────────────────────────────────────────────────────────


def of_urllib(url: str, body: Any) -> Iterator[bytes]:
    """Yield the lines of a stream of urllib, whose errors hold their body."""
    content = json.dumps(body).encode()
    asked = urllib.request.Request(url, data=content, headers={"content-type": "application/json"})
    with urllib.request.urlopen(asked, timeout=60) as response:
        yield from response


def of_requests(url: str, body: Any) -> Iterator[bytes]:
    """Yield the lines of a stream of requests, without their ends."""
    response = requests.post(url, json=body, stream=True, timeout=60)
    response.raise_for_status()
    return iter(response.iter_lines())


def of_httpx(url: str, body: Any) -> Iterator[str]:
    """Yield the lines of a stream of httpx; an error that nobody raises comes as lines too."""
    with httpx2.Client() as client, client.stream("POST", url, json=body) as response:
        yield from response.iter_lines()


CLIENTS: list[httpx2.Client] = []


def of_httpx_raised(url: str, body: Any) -> Iterator[bytes]:
    """Yield the bytes of a stream of httpx that raises before its body was read."""
    response = CLIENTS[0].send(CLIENTS[0].build_request("POST", url, json=body), stream=True)
    response.raise_for_status()
    return iter(response.iter_bytes())


@pytest.fixture(autouse=True)
def client() -> Iterator[httpx2.Client]:
    """Provide a client that lives as long as a test."""
    with httpx2.Client() as made:
        CLIENTS[:] = [made]
        yield made


@pytest.mark.parametrize("ask", [of_urllib, of_requests, of_httpx, of_httpx_raised])
@pytest.mark.parametrize("wire", ["openai-chat", "anthropic"])
def test_streams_of_http_libraries_are_recovered(ask: Callable[..., Any], wire: str, store: Store) -> None:
    """The refusal is HTTP 400 with an unread body; the answer is then streamed."""
    request = {**request_on(wire), "stream": True}
    with LoopbackProvider(wire, 8_000, script=[say("7")]) as provider:
        url = provider.base_url + PATHS[wire]
        result = execute(lambda body: ask(url, body), request, wire=wire, window_tokens=100_000, store=store)
        lines = [line if isinstance(line, str) else line.decode() for line in result.response]
        assert provider.refused == result.attempts - 1 > 0
    assert result.success
    assert '"7"' in "".join(lines)


def test_an_asynchronous_stream_of_lines_is_recovered(store: Store) -> None:
    """Its error has a body that must be awaited."""
    request = {**request_on("openai-chat"), "stream": True}

    async def ask(url: str) -> tuple[Any, list[str]]:
        async with httpx2.AsyncClient() as client:

            async def send(body: Any) -> AsyncIterator[str]:
                response = await client.send(client.build_request("POST", url, json=body), stream=True)
                response.raise_for_status()
                return response.aiter_lines()

            result = await aexecute(send, request, wire="openai-chat", window_tokens=100_000, store=store)
            return result, [line async for line in result.response]

    with LoopbackProvider("openai-chat", 8_000, script=[say("7")]) as provider:
        result, lines = asyncio.run(ask(provider.base_url + PATHS["openai-chat"]))
        assert provider.refused == result.attempts - 1 > 0
    assert '"7"' in "".join(lines)


def test_the_body_of_an_error_that_is_no_overflow_is_still_there_for_the_caller(store: Store) -> None:
    """The exception is the same object, and its content can be read."""
    with LoopbackProvider("openai-chat", 8_000, script=[]) as provider:
        url = provider.base_url + "/nowhere"
        with pytest.raises(urllib.error.HTTPError) as raised:
            execute(lambda body: list(of_urllib(url, body)), chat("x"), wire="openai-chat", window_tokens=8_000)
    assert json.loads(raised.value.read())["error"]


def test_a_connection_goes_when_the_body_of_its_error_is_read() -> None:
    """Nobody else closes it while the caller holds the error, whose body can be read again."""
    connection = io.BytesIO(b"prompt is too long")
    error = urllib.error.HTTPError("http://localhost/", 400, "Bad Request", Message(), connection)
    assert "prompt is too long" in str(told_by(error))
    assert connection.closed
    assert error.read() == b"prompt is too long"


def test_an_error_whose_body_can_no_longer_be_read_says_so(store: Store) -> None:
    """After its `with`, the response is closed: the exception is the caller's own, with a note on what was not seen."""

    def send(url: str, body: Any) -> Iterator[str]:
        with httpx2.Client() as client, client.stream("POST", url, json=body) as response:
            response.raise_for_status()
            yield from response.iter_lines()

    with LoopbackProvider("openai-chat", 2_000, script=[]) as provider:
        url = provider.base_url + PATHS["openai-chat"]
        with pytest.raises(httpx2.HTTPStatusError) as raised:
            execute(lambda body: send(url, body), chat("x " * 9_000), wire="openai-chat", window_tokens=10**6)
    assert "read it before you raise" in raised.value.__notes__[0]


@pytest.mark.parametrize("kind", ["httpx", "httpx manager", "requests", "urllib"])
def test_a_response_that_was_not_read_is_refused_by_name(kind: str, client: httpx2.Client, store: Store) -> None:
    """It can be read only once, so reading it would take it from the caller. The error names what works."""

    def send(body: Any) -> Any:
        if kind == "requests":
            return requests.post(url, json=body, stream=True, timeout=60)
        if kind == "urllib":
            asked = urllib.request.Request(url, data=json.dumps(body).encode(), headers={"content-type": "a/b"})
            return urllib.request.urlopen(asked, timeout=60)
        if kind == "httpx manager":
            return client.stream("POST", url, json=body)
        return client.send(client.build_request("POST", url, json=body), stream=True)

    with LoopbackProvider("openai-chat", 8_000, script=[say("one")]) as provider:
        url = provider.base_url + PATHS["openai-chat"]
        with pytest.raises(CallerError, match="return its JSON"):
            execute(send, chat("x"), wire="openai-chat", window_tokens=8_000, store=store)


@pytest.mark.parametrize("kind", ["httpx", "requests"])
def test_a_response_that_was_read_is_an_answer_or_a_refusal(kind: str, store: Store) -> None:
    """Such a client does not raise on HTTP 400 by itself."""
    post = httpx2.post if kind == "httpx" else requests.post
    with LoopbackProvider("openai-chat", 2_000, script=[say("7")]) as provider:
        url = provider.base_url + PATHS["openai-chat"]
        result = execute(
            lambda body: post(url, json=body, timeout=60),
            chat("x " * 9_000),
            wire="openai-chat",
            window_tokens=10**6,
            store=store,
        )
        assert provider.refused == result.attempts - 1 > 0
    assert (result.success, result.warnings) == (True, [])
    assert result.response.json()["choices"][0]["message"]["content"] == "7"


# ── errors in an answer's place ──────────────────────────────────────────────────────────────────────────────────

PAGE = "<!DOCTYPE html>\n<html><head><title>413 Request Entity Too Large</title></head><body>nginx</body></html>"


class Held:
    """A status with a body, as AWS functions return them."""

    def __init__(self, statusCode: int, body: Any) -> None:  # noqa: N803 - the name there
        self.statusCode, self.body = statusCode, body


@pytest.mark.parametrize(
    "said",
    [
        LONG,
        f"Error: {LONG}",
        json.dumps(json.dumps(SAID)),
        f"event: error\ndata: {json.dumps(SAID)}\n\n",
        f"data: {json.dumps(SAID)}\n\n".encode(),
        (400, SAID),
        (json.dumps(SAID), 400),
        {"statusCode": 400, "body": json.dumps(SAID)},
        Held(400, json.dumps(SAID)),
        Held(413, ""),
        PAGE,
    ],
    ids=[
        "words",
        "marked",
        "encoded twice",
        "events",
        "data",
        "pair",
        "reversed",
        "lambda",
        "object",
        "empty 413",
        "page",
    ],
)
def test_an_overflow_in_any_form_is_recovered(said: Any, store: Store) -> None:
    """Nothing is raised, and the words are there."""
    answers = [said, DONE]
    result = execute(lambda _: answers.pop(0), chat("x " * 9_000), wire="openai-chat", window_tokens=10**6, store=store)
    assert (result.success, result.attempts, result.response) == (True, 2, DONE)


LIMITED = {"error": "Rate limit reached, try again in 20 s"}


@pytest.mark.parametrize(
    "said",
    [
        LIMITED,
        {"error": {"message": "overloaded", "code": 529}},
        json.dumps(json.dumps(LIMITED)),
        f"event: error\ndata: {json.dumps(LIMITED)}\n\n",
        (429, "slow down"),
        Held(503, "unavailable"),
        "openai.RateLimitError: Error code: 429 - rate limit reached",
        "<html><head><title>x.com | 502: Bad gateway</title></head></html>",
        None,
        {},
        "",
        iter(()),
    ],
    ids=[
        *("error", "object", "encoded twice", "events", "pair", "held", "words", "page"),
        *("none", "{}", "text", "stream"),
    ],
)
def test_what_is_certainly_not_an_answer_is_reported_as_a_failure(said: Any, store: Store) -> None:
    """It is handed over and called what it is; nothing is sent again, as nothing smaller would cure it."""
    result = execute(lambda _: said, chat("x"), wire="openai-chat", window_tokens=8_000, store=store)
    assert (result.success, result.attempts, result.strategy) == (False, 1, "refused")
    assert result.response is said or said.__class__.__name__ == "tuple_iterator"
    assert result.error is not None
    assert result.message.startswith("The provider did not answer")


@pytest.mark.parametrize("said", ["The window is open.", {"words": "hello"}, object(), "<html><p>Hi</p></html>"])
def test_what_may_be_an_answer_is_handed_over_with_a_warning(said: Any, store: Store) -> None:
    """A caller may return only the words, and then nothing shows whether they were cut."""
    result = execute(lambda _: said, chat("x"), wire="openai-chat", window_tokens=8_000, store=store)
    assert (result.success, result.response) == (True, said)
    assert "not an answer of openai-chat" in result.warnings[0]


def test_an_error_after_a_doubtful_answer_leaves_that_answer(store: Store) -> None:
    """An answer that was cut is worth more than an error about something else."""
    cut = {**DONE, "usage": {"prompt_tokens": 2_000, "completion_tokens": 3}}
    answers: list[Any] = [cut, LIMITED]
    result = execute(
        lambda _: answers.pop(0), chat("word " * 9_000), wire="openai-chat", window_tokens=20_000, store=store
    )
    assert (result.success, result.response, answers) == (True, cut, [])

"""Is a refusal of size recovered before the client sees a byte, and every other answer the provider's (W-4, W-5)?"""

from __future__ import annotations

import asyncio
import json
import threading
import tracemalloc
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from penstock.gateway import answers
from penstock.gateway.provider import Windows
from penstock.models.sizes import estimate
from penstock.wires import WIRES, messages_of
from tests.gateway.standing import RecordingUpstream, Said, standing
from tests.gateway.stories import body_of, path_of, story
from tests.gateway.test_cuts import provider, upstream_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.gateway.standing import Came

ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "Fine."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 9, "output_tokens": 1},
}
WORDS = "prompt is too long: 61000 tokens > 12000 maximum"
REFUSALS = {
    "status": Said(
        400,
        parts=(json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": WORDS}}).encode(),),
    ),
    "body under 200": Said(
        200, parts=(json.dumps({"type": "error", "error": {"type": "x", "message": WORDS}}).encode(),)
    ),
    "an answer with an error beside it": Said(
        200, parts=(json.dumps({**ANSWER, "content": [], "error": {"type": "x", "message": WORDS}}).encode(),)
    ),
    "event": Said(
        200,
        (("content-type", "text/event-stream"),),
        (
            b"event: ping\ndata: {}\n\n",
            b'event: error\ndata: {"type": "error", "error": {"message": "%b"}}\n\n' % WORDS.encode(),
        ),
    ),
    "event behind a mark of UTF-8": Said(
        200,
        (("content-type", "text/event-stream"),),
        (b'\xef\xbb\xbfdata: {"type": "error", "error": {"message": "%b"}}\n\n' % WORDS.encode(),),
    ),
    "packed without a head": Said(
        400,
        (("content-type", "application/json"), ("content-encoding", "deflate")),
        (zlib.compress(json.dumps({"type": "error", "error": {"type": "x", "message": WORDS}}).encode())[2:-4],),
    ),
    "empty 413": Said(413, parts=(b"",)),
    "page of a proxy": Said(
        413, (("content-type", "text/html"),), (b"<html><title>413 Request Entity Too Large</title></html>",)
    ),
}


@pytest.mark.proves("W-4")
@pytest.mark.parametrize("form", REFUSALS)
def test_every_form_of_a_refusal_is_recovered(form: str, tmp_path: Path) -> None:
    """These are a status, a body or an event under 200, and an empty 413."""

    def answer(came: Came) -> Said:
        return REFUSALS[form] if len(came.body) > 30_000 else Said(parts=(json.dumps(ANSWER).encode(),))

    with RecordingUpstream(answer) as upstream, standing(tmp_path, upstream.url) as gateway:
        got = gateway.ask("/v1/messages", body_of("anthropic", story(20)))
        assert got.json == ANSWER
        assert got.headers["x-penstock-refusals"] == str(len(upstream.came) - 1)
        assert len(upstream.came) <= 4


@pytest.mark.proves("W-4")
@pytest.mark.parametrize("wire", WIRES)
def test_what_cannot_shrink_is_the_providers_own_refusal(wire: str, tmp_path: Path) -> None:
    """It has the words that make a host compact, with our bill in addition."""
    with provider(wire, 200) as double, standing(tmp_path, upstream_of(double)) as gateway:
        body = body_of(wire, [{"role": "user", "content": "word " * 4_000}])
        got = gateway.ask(path_of(wire), body)
        assert got.status >= 400
        assert double.refused >= 1
        assert got.headers["x-penstock-refusals"] == "1"
        assert int(got.headers["x-penstock-tokens-before"]) > 3_000
        assert messages_of(double.requests[0].request, wire) == messages_of(body, wire)


@pytest.mark.proves("W-4")
def test_of_several_refusals_the_client_gets_the_one_of_its_own_request(tmp_path: Path) -> None:
    """The refusals of the smaller requests, which only we have seen, are not passed on."""
    with provider("anthropic", 120) as double, standing(tmp_path, upstream_of(double)) as gateway:
        got = gateway.ask("/v1/messages", body_of("anthropic", story(20)))
        assert got.status == 400
        assert len(double.requests) > 1
        assert f"prompt is too long: {double.requests[0].input_tokens} tokens > 120" in got.json["error"]["message"]
        assert got.headers["x-penstock-refusals"] == str(len(double.requests))


@pytest.mark.proves("W-4", "W-8")
def test_no_answer_that_is_given_up_keeps_its_connection(tmp_path: Path) -> None:
    """Each is closed, whatever its outcome."""
    upstream = RefusingUpstream()
    with standing(tmp_path, "http://provider", upstream=upstream) as gateway:
        assert gateway.ask("/v1/messages", body_of("anthropic", story(20))).json == ANSWER
    assert len(upstream.given) > 1
    assert all(answer.is_closed for answer in upstream.given)


class RefusingUpstream:
    """An upstream that refuses large requests in an endless stream; `given` has its answers."""

    def __init__(self) -> None:
        self.given: list[OpenAnswer] = []

    async def send(self, method: str, url: str, headers: Any, body: bytes | None) -> OpenAnswer:
        self.given.append(OpenAnswer(is_refusal=len(body or b"") > 30_000))
        return self.given[-1]

    async def close(self) -> None:
        pass


class OpenAnswer:
    """An answer that records whether it was closed."""

    status = 200

    def __init__(self, *, is_refusal: bool) -> None:
        self.is_closed, self._is_refusal = False, is_refusal
        self.headers = ((b"content-type", b"text/event-stream" if is_refusal else b"application/json"),)

    async def blocks(self) -> AsyncIterator[bytes]:
        if self._is_refusal:
            yield b'event: error\ndata: {"type": "error", "error": {"message": "%b"}}\n\n' % WORDS.encode()
            await asyncio.Event().wait()
        yield json.dumps(ANSWER).encode()

    async def close(self) -> None:
        self.is_closed = True


@pytest.mark.proves("W-4")
@pytest.mark.parametrize("status", [401, 429, 500, 529])
def test_other_errors_pass_once(status: int, tmp_path: Path) -> None:
    """Nothing is retried, even for a request that was inspected."""
    said = Said(status, parts=(b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',))
    with (
        RecordingUpstream(lambda _: said) as upstream,
        standing(tmp_path, upstream.url, windows=Windows((("*", 5_000),))) as gateway,
    ):
        got = gateway.ask("/v1/messages", body_of("anthropic", story(20)))
        assert (got.status, got.body) == (status, said.parts[0])
        assert len(upstream.came) == 1


@pytest.mark.proves("W-4")
def test_a_stream_is_not_held_after_its_first_content(tmp_path: Path) -> None:
    """What follows passes as it comes, even if it is an error."""
    begin = (
        b'event: message_start\ndata: {"type": "message_start", "message": {"usage": {"input_tokens": 5}}}\n\n'
        b"event: content_block_start\n"
        b'data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}\n\n'
        b"event: content_block_delta\n"
        b'data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}\n\n'
    )
    error = b'event: error\ndata: {"type": "error", "error": {"message": "%b"}}\n\n' % WORDS.encode()
    is_read = threading.Event()
    said = Said(200, (("content-type", "text/event-stream"),), (begin, is_read, error))
    with RecordingUpstream(lambda _: said) as upstream, standing(tmp_path, upstream.url) as gateway:
        with gateway.stream("/v1/messages", {**body_of("anthropic", story(20)), "stream": True}) as answer:
            assert answer.read(len(begin)) == begin
            is_read.set()
            assert answer.read() == error
        assert len(upstream.came) == 1


@pytest.mark.proves("W-4")
def test_a_stream_without_content_is_not_held_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client receives the pings of a model that thinks; an event that comes meanwhile is not lost."""
    monkeypatch.setattr(answers, "HOLD_SECONDS", 0.1)
    ping = b'event: ping\ndata: {"type": "ping"}\n\n'
    is_read = threading.Event()
    said = Said(200, (("content-type", "text/event-stream"),), (ping, is_read, ping * 2, b"data: end\n\n"))
    with (
        RecordingUpstream(lambda _: said) as upstream,
        standing(tmp_path, upstream.url) as gateway,
        gateway.stream("/v1/messages", {"messages": [], "stream": True}) as answer,
    ):
        assert answer.read(len(ping)) == ping
        is_read.set()
        assert answer.read() == ping * 2 + b"data: end\n\n"


def chars_of(body: Any) -> int:
    """Return how long the messages of a body are."""
    return len(json.dumps(body["input" if "input" in body else "messages"]))


def counted(came: Came) -> Said:
    """Answer as a provider that counts one token for four characters of the messages."""
    tokens = chars_of(json.loads(came.body)) // 4
    return Said(parts=(json.dumps({"input_tokens": tokens}).encode(),))


@pytest.mark.proves("W-5")
@pytest.mark.parametrize(
    ("wire", "path"), [("anthropic", "/v1/messages/count_tokens"), ("openai-responses", "/v1/responses/input_tokens")]
)
def test_a_count_is_of_what_would_be_sent(wire: str, path: str, tmp_path: Path) -> None:
    """What is cut is not counted, as a host would otherwise compact for nothing."""
    with (
        RecordingUpstream(counted) as upstream,
        standing(tmp_path, upstream.url, windows=Windows((("m", 12_000),))) as gateway,
    ):
        body = body_of(wire, story(20))
        got = gateway.ask(path, body)
        assert 1_000 < got.json["input_tokens"] < 12_000
        assert got.headers["x-penstock-cut"] != "0"
        small = body_of(wire, story(2))
        assert gateway.ask(path, small).json == {"input_tokens": chars_of(small) // 4}
        assert json.loads(upstream.came[-1].body) == small


@pytest.mark.proves("W-5")
def test_a_count_that_is_refused_is_asked_once(tmp_path: Path) -> None:
    """Only the count itself is sent for it."""
    with RecordingUpstream(lambda _: REFUSALS["status"]) as upstream, standing(tmp_path, upstream.url) as gateway:
        assert gateway.ask("/v1/messages/count_tokens", body_of("anthropic", story(20))).status == 400
        assert len(upstream.came) == 1


@pytest.mark.proves("W-5")
@pytest.mark.parametrize("status", [404, 429, 500])
def test_an_error_of_a_count_is_not_zero(status: int, tmp_path: Path) -> None:
    """A host that reads 0 never compacts again; one that reads an error counts by itself."""
    said = Said(status, parts=(b'{"type":"error"}',))
    with RecordingUpstream(lambda _: said) as upstream, standing(tmp_path, upstream.url) as gateway:
        got = gateway.ask("/v1/messages/count_tokens", body_of("anthropic", story(20)))
        assert (got.status, got.body) == (status, b'{"type":"error"}')


@pytest.mark.proves("W-7")
def test_observing_changes_nothing(tmp_path: Path) -> None:
    """The provider's refusal passes, and what would have been done is recorded."""
    with provider("anthropic") as double:
        settings = {"observes": True, "windows": Windows((("m", 12_000),))}
        with standing(tmp_path, upstream_of(double), **settings) as gateway:
            body = body_of("anthropic", story(20))
            got = gateway.ask("/v1/messages", body)
            seen = gateway.gateway.seen
        assert got.status == 400
        assert not any(name.startswith("x-penstock") for name in got.headers)
        assert [received.request for received in double.requests] == [body]
        (session,) = seen.sessions()
        assert session.refusals == 1
        assert session.cuts > 0
        assert session.cut_tokens > 0


@pytest.mark.proves("W-4", "R-5")
def test_a_provider_that_never_names_its_limit_refuses_once(tmp_path: Path) -> None:
    """Its answers show how it counts and its refusal what it refuses: nothing as large is sent again, nor much less."""
    count = lambda text: int(1.3 * estimate(text))  # noqa: E731
    with (
        provider("openai-responses", 20_000, count=count) as double,
        standing(tmp_path, upstream_of(double)) as gateway,
    ):
        sizes = []
        for turns in range(1, 60):
            body = {**body_of("openai-responses", story(turns, 2_000)), "stream": turns % 2 == 0}
            assert gateway.ask("/v1/responses", body).status == 200
            sizes.append(len(str(double.requests[-1].request)))
        seen = gateway.gateway.seen
    assert double.refused == 1
    assert not any(outcome == "returned" for _, outcome in seen.refusals)
    assert max(sizes[30:]) > 0.85 * max(sizes)


@pytest.mark.proves("W-4")
def test_a_reply_longer_than_the_window_does_not_cause_refusals(tmp_path: Path) -> None:
    """Claude Code asks small servers for 128,000 tokens: they still answer, and their limit is then known."""

    def answer(came: Came) -> Said:
        tokens = len(came.body) * 13 // 40
        if tokens > 12_000:
            words = {"type": "invalid_request_error", "message": f"prompt is too long: {tokens} tokens > 12000 maximum"}
            return Said(400, parts=(json.dumps({"type": "error", "error": words}).encode(),))
        return Said(parts=(json.dumps({**ANSWER, "usage": {"input_tokens": tokens, "output_tokens": 1}}).encode(),))

    with RecordingUpstream(answer) as behind, standing(tmp_path, behind.url) as gateway:
        for turns in range(1, 31):
            got = gateway.ask("/v1/messages", {**body_of("anthropic", story(turns, 4_000)), "max_tokens": 128_000})
            assert got.status == 200
    assert sum(len(came.body) * 13 // 40 > 12_000 for came in behind.came) <= 2


@pytest.mark.proves("W-8")
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_an_answer_that_unpacks_to_no_end_passes(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few megabytes may expand a thousand times: only a bounded part is inspected, and none of it is held."""
    monkeypatch.setattr(answers, "MAX_READ_BYTES", 4 << 20)
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    first, block = (packing.compress(b" " * (1 << 20)) + packing.flush(zlib.Z_FULL_FLUSH) for _ in "12")
    bomb = first + block * 511 + packing.flush()
    headers = (("content-type", kind), ("content-encoding", "gzip"))
    with (
        RecordingUpstream(lambda _: Said(200, headers, (bomb,))) as upstream,
        standing(tmp_path, upstream.url) as gateway,
    ):
        tracemalloc.start()
        got = gateway.ask("/v1/messages", body_of("anthropic", story(1)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert got.body == bomb
    assert peak < 64 << 20

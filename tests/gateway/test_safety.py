"""Who is served, how much is accepted, and what happens if a party is slow, endless or broken (W-8)?"""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from penstock.gateway import app, brief, provider, signing, upstream
from penstock.gateway.app import MAX_BODY_BYTES
from penstock.gateway.provider import Windows
from penstock.gateway.serving import GatewayConnection
from penstock.models.steps import say
from penstock.store import StoreFault
from penstock.testing import LoopbackProvider
from tests.gateway.standing import RecordingUpstream, Said, standing
from tests.gateway.stories import body_of, story

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

TOKEN = b"a-token-of-more-than-thirty-two-characters"
PLAIN = {"content-type": "application/json", "authorization": "Bearer sk-1"}


@pytest.mark.proves("W-8")
def test_the_token_is_wanted_and_goes_no_further(tmp_path: Path) -> None:
    """It is in a header, or in the path for programs that can only set a base URL; the provider's key is separate."""
    with (
        RecordingUpstream(lambda _: Said()) as behind,
        standing(tmp_path, behind.url, token=TOKEN, names=None) as gateway,
    ):
        assert gateway.post("/v1/chat/completions", b"{}", PLAIN).status == 401
        assert gateway.post("/v1/chat/completions", b"{}", {**PLAIN, "x-penstock-token": "wrong"}).status == 401
        assert gateway.post("/~wrong/v1/chat/completions", b"{}", PLAIN).status == 401
        assert not behind.came
        assert gateway.post("/v1/chat/completions", b"{}", {**PLAIN, "x-penstock-token": TOKEN.decode()}).status == 200
        assert gateway.post(f"/~{TOKEN.decode()}/v1/chat/completions", b"{}", PLAIN).status == 200
        assert [came.path for came in behind.came] == ["/v1/chat/completions"] * 2
        assert not any(TOKEN.decode() in str(came) for came in behind.came)


@pytest.mark.proves("W-8")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example:4000"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "https://127.0.0.1"}, 403),
    ],
)
def test_pages_of_others_are_not_served(headers: dict[str, str], status: int, tmp_path: Path) -> None:
    """A page in a browser can make its own name resolve to this machine."""
    with RecordingUpstream(lambda _: Said()) as behind, standing(tmp_path, behind.url) as gateway:
        assert gateway.post("/v1/messages", b"{}", {**PLAIN, **headers}).status == status
        assert not behind.came


@pytest.mark.proves("W-8")
@pytest.mark.parametrize("said", ["length", "chunks"])
def test_a_body_is_bounded(said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both numbers are given, in the words of the API; nothing is passed on."""
    monkeypatch.setattr(app, "MAX_BODY_BYTES", 10_000)
    with RecordingUpstream(lambda _: Said()) as behind, standing(tmp_path, behind.url) as gateway:
        if said == "length":
            got = gateway.post("/v1/messages", b"x" * 10_001)
            assert "10001 bytes" in got.json["error"]["message"]
        else:
            with socket.create_connection(("127.0.0.1", gateway.port)) as raw:
                raw.sendall(f"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:{gateway.port}\r\n".encode())
                raw.sendall(b"transfer-encoding: chunked\r\n\r\n2711\r\n" + b"x" * 10_001 + b"\r\n")
                assert raw.recv(100).startswith(b"HTTP/1.1 413")
        assert not behind.came
    assert MAX_BODY_BYTES == 32 << 20


@pytest.mark.proves("W-8")
def test_a_body_of_tiny_chunks_takes_its_bytes_and_no_more() -> None:
    """Kept one by one, two bytes would take forty."""
    connection = GatewayConnection.__new__(GatewayConnection)
    connection._parts, connection.cycle = [], SimpleNamespace(response_complete=False)
    sent = [b"%04d" % number for number in range(5_000)] + [b"x" * 5_000, b"ab", b"cd", b"y" * 5_000]
    for part in sent:
        connection.on_body(part)
    assert b"".join(connection._parts) == b"".join(sent)
    assert len(connection._parts) == 5


@pytest.mark.proves("W-8")
def test_a_client_that_writes_before_reading_learns_what_is_too_large(tmp_path: Path) -> None:
    """A body of any length is read to its end and dropped, up to a limit; then the connection ends."""
    with RecordingUpstream(lambda _: Said()) as behind, standing(tmp_path, behind.url) as gateway:
        got = gateway.post("/v1/messages", b"x" * (MAX_BODY_BYTES + (9 << 20)))
        assert (got.status, got.headers["connection"]) == (413, "close")
        assert str(MAX_BODY_BYTES) in got.json["error"]["message"]
        assert not behind.came


@pytest.mark.proves("W-8")
def test_a_body_that_does_not_come_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that holds a request open is told to try again."""
    monkeypatch.setattr(app, "BODY_SECONDS", 0.2)
    with RecordingUpstream(lambda _: Said()) as behind, standing(tmp_path, behind.url) as gateway:
        with socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as raw:
            raw.sendall(
                f"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:{gateway.port}\r\ncontent-length: 9\r\n\r\nab".encode()
            )
            assert raw.recv(100).startswith(b"HTTP/1.1 408")
        assert not behind.came


def send_for_ever(to: socket.socket, part: bytes) -> None:
    while True:
        to.sendall(part)


@pytest.mark.proves("W-8")
def test_endless_headers_end(tmp_path: Path) -> None:
    """The connection is closed."""
    with (
        RecordingUpstream(lambda _: Said()) as behind,
        standing(tmp_path, behind.url) as gateway,
        socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as raw,
    ):
        raw.sendall(b"GET / HTTP/1.1\r\n")
        with pytest.raises(OSError, match=r"reset|[Bb]roken"):
            send_for_ever(raw, b"x-more: " + b"y" * 1_000 + b"\r\n")
        assert not behind.came


HEAD = b"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:%d\r\n%b\r\n%b"


@pytest.mark.proves("W-1", "W-8")
@pytest.mark.parametrize(
    ("header", "status"),
    [
        (b"content-length: 2\r\nx-name: caf\xe9", 400),  # it would arrive as other bytes
        (b"content-length: 2\r\nx-name: \xc3\xa9\xe9", 400),
        (b"content-length: 2\r\ncontent-length: 2", 400),
        (b"content-length: 2\r\ncontent-length: 3", 400),
        (b"content-length: 2\r\ntransfer-encoding: chunked", 400),
        (b"transfer-encoding: chunked\r\ncontent-length: 2", 400),
        (b"transfer-encoding: gzip, chunked", 501),
        (b"content-length: 2\r\nx-name: a\r\n b", 400),
        (b"content-length: 2\r\nx-name: a\nx-evil: b", 400),
        (b"content-length: 2\r\nx-name: a\x00b", 400),
        (b"content-length: 2\r\nx-big: " + b"y" * 100_000, 431),
        (b"content-length: 2\r\n" + b"x-more: 1\r\n" * 20_000 + b"x-last: 1", 431),
    ],
)
def test_headers_that_cannot_pass_are_refused_with_their_status(
    header: bytes, status: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing of them reaches the provider, the next request is served, and no warnings are printed."""
    body = b"2\r\n{}\r\n0\r\n\r\n" if b"encoding" in header else b"{}"
    with RecordingUpstream(lambda _: Said()) as behind, standing(tmp_path, behind.url) as gateway:
        with socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as raw, suppress(ConnectionError):
            raw.sendall(HEAD % (gateway.port, header + b"\r\n", body))
            with suppress(OSError):  # it may have hung up by now
                raw.shutdown(socket.SHUT_WR)
            assert raw.recv(100).startswith(b"HTTP/1.1 %d " % status)
        assert not behind.came
        assert gateway.post("/v1/messages", b"{}").status == 200
    assert capfd.readouterr().err == ""


@pytest.mark.proves("W-8")
def test_a_header_without_an_end_is_not_held(tmp_path: Path) -> None:
    """It is refused long before the timeout for headers."""
    with (
        RecordingUpstream(lambda _: Said()) as behind,
        standing(tmp_path, behind.url) as gateway,
        socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as raw,
    ):
        raw.sendall(b"GET / HTTP/1.1\r\nx-more: ")
        sent = 0
        with suppress(OSError):
            while sent < 64 << 20:
                sent += raw.send(b"y" * 65_536)
        assert sent < 64 << 20


@pytest.mark.proves("W-8")
def test_a_client_that_goes_ends_what_is_done_for_it(tmp_path: Path) -> None:
    """The provider's stream is not read to its end if nobody waits for it."""
    begin = b"data: " + b"x" * 1_000 + b"\n\n"
    is_gone = threading.Event()
    parts: tuple[bytes | threading.Event, ...] = (begin, is_gone, *[begin] * 20_000)
    said = Said(200, (("content-type", "text/event-stream"),), parts)
    with RecordingUpstream(lambda _: said) as behind, standing(tmp_path, behind.url) as gateway:
        with gateway.stream("/v1/messages", {"messages": []}) as answer:
            assert answer.read(len(begin)) == begin
        is_gone.set()
        assert behind.hung_up.wait(20)


@pytest.mark.proves("W-8")
def test_a_provider_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The error has the shape of the API's errors, with a status that clients retry."""
    with standing(tmp_path, "http://127.0.0.1:9") as gateway:
        got = gateway.post("/v1/messages", b'{"messages": []}')
        assert got.status == 502
        assert got.json["error"]["type"] == "api_error"
        assert "http://127.0.0.1:9 did not answer" in got.json["error"]["message"]


@pytest.mark.proves("W-8")
@pytest.mark.parametrize("looked_into", [False, True])
def test_a_provider_that_says_nothing_is_given_up(
    looked_into: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status is 504, before anything was answered."""
    monkeypatch.setattr(upstream, "SILENCE_SECONDS", 0.2)
    never = threading.Event()
    windows = Windows((("*", 5_000 if looked_into else 10**9),))
    with (
        RecordingUpstream(lambda _: Said(parts=(never,))) as behind,
        standing(tmp_path, behind.url, windows=windows) as gateway,
    ):
        assert gateway.ask("/v1/messages", body_of("anthropic", story(20))).status == 504
        assert len(behind.came) == 1
        never.set()


@pytest.mark.proves("W-8")
def test_a_stream_that_falls_silent_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came before has passed, however long it took; the client's stream breaks off like the provider's."""
    monkeypatch.setattr(upstream, "SILENCE_SECONDS", 0.6)
    never, parts = threading.Event(), [threading.Event() for _ in range(4)]
    event = b"data: x\n\n"
    told: list[bytes | threading.Event] = [event, *(part for one in parts for part in (one, event)), never]
    said = Said(200, (("content-type", "text/event-stream"),), tuple(told))
    with (
        RecordingUpstream(lambda _: said) as behind,
        standing(tmp_path, behind.url) as gateway,
        gateway.stream("/v1/messages", {"messages": [], "stream": True}) as answer,
    ):
        assert answer.read(len(event)) == event
        for one in parts:  # together longer than the allowed silence
            time.sleep(0.2)
            one.set()
            assert answer.read(len(event)) == event
        with pytest.raises(http.client.IncompleteRead):
            answer.read()
        never.set()


@pytest.mark.proves("W-8")
def test_a_provider_that_breaks_off_is_not_made_whole(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The client's stream breaks off at the same place; before its beginning, an error is returned."""
    begin = b"data: one\n\n"
    is_read = threading.Event()
    said = Said(200, (("content-type", "text/event-stream"),), (begin, is_read, None))
    with (
        RecordingUpstream(lambda _: said) as behind,
        standing(tmp_path, behind.url) as gateway,
        gateway.stream("/v1/messages", {"messages": [], "stream": True}) as answer,
    ):
        assert answer.read(len(begin)) == begin
        is_read.set()
        with pytest.raises(http.client.IncompleteRead):
            answer.read()
    with RecordingUpstream(lambda _: Said(parts=(None,))) as behind, standing(tmp_path, behind.url) as gateway:
        assert gateway.ask("/v1/messages", {"messages": []}).status == 502
    assert "Traceback" not in capfd.readouterr().err + caplog.text


@pytest.mark.proves("W-8")
def test_a_web_socket_is_told_to_speak_http(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """426 makes a client fall back at once; 404 or 405 make it retry repeatedly. The log does not suggest installing anything."""
    asks = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-key": "a", "sec-websocket-version": "13"}
    with RecordingUpstream(lambda _: Said()) as behind, standing(tmp_path, behind.url) as gateway:
        assert gateway.post("/v1/responses", b"", asks, method="GET").status == 426
        assert not behind.came
    assert not caplog.records


@pytest.mark.proves("W-8")
def test_a_path_that_says_no_provider_is_refused(tmp_path: Path) -> None:
    """The error tells how to name one; no header chooses an address."""
    with standing(tmp_path, None, environ={}) as gateway:
        got = gateway.post("/internal", b"", {"x-forwarded-host": "169.254.169.254"}, method="GET")
        assert got.status == 404
        assert "--upstream URL" in got.json["error"]["message"]
        assert "/penstock/" in got.json["error"]["message"], "a browser that opens the address is shown the way"


@pytest.mark.proves("W-8")
@pytest.mark.parametrize("target", ["*", "*@127.0.0.1:{other}/v1/messages", "*.evil.example/v1/messages"])
def test_no_target_chooses_an_address(target: str, tmp_path: Path) -> None:
    """Appended to a base URL, anything but a path would turn its host into a user name or a part of a name."""
    with (
        RecordingUpstream(lambda _: Said()) as behind,
        RecordingUpstream(lambda _: Said()) as other,
        standing(tmp_path, behind.url) as gateway,
        socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as raw,
    ):
        asked = target.format(other=other.url.rpartition(":")[2])
        raw.sendall(
            f"POST {asked} HTTP/1.1\r\nhost: 127.0.0.1:{gateway.port}\r\ncontent-length: 2\r\n\r\n{{}}".encode()
        )
        assert raw.recv(100).startswith(b"HTTP/1.1 400")
        assert not behind.came
        assert not other.came


@pytest.mark.proves("W-8")
def test_trailers_of_a_body_are_not_headers(tmp_path: Path) -> None:
    """A token or a key there was not checked when the request was admitted."""
    with (
        RecordingUpstream(lambda _: Said()) as behind,
        standing(tmp_path, behind.url) as gateway,
        socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as raw,
    ):
        raw.sendall(f"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:{gateway.port}\r\n".encode())
        raw.sendall(b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx-api-key: another\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 200")
        assert "another" not in str(behind.came)


class FailingStore:
    """A store that keeps and finds nothing."""

    url = "sqlite:///failing"

    def __getattr__(self, name: str) -> Any:
        def fail(*_: Any, **__: Any) -> Any:
            raise StoreFault("full", "The disk is full.")

        return fail

    def learned(self, name: str) -> None:
        return None

    def learn(self, name: str, value: str) -> None:
        if name != "gateway digest key":
            raise StoreFault("full", "The disk is full.")

    def close(self) -> None:
        pass


@pytest.mark.proves("W-8")
def test_a_store_that_fails_costs_no_answer(tmp_path: Path) -> None:
    """What fits passes, and what does not is still cut, with nothing kept under a handle."""
    said: list[str] = []
    with LoopbackProvider("anthropic", 12_000, policy=lambda _: say("Fine.")) as double:
        settings = {"store": FailingStore(), "say": said.append, "windows": Windows((("m", 12_000),))}
        with standing(tmp_path, double.base_url, **settings) as gateway:
            assert gateway.ask("/v1/messages", body_of("anthropic", story(2))).status == 200
            assert gateway.ask("/v1/messages", body_of("anthropic", story(40, 2_000))).status == 200
        assert double.refused == 0


@pytest.mark.proves("W-4", "W-8")
def test_what_was_refused_is_not_sent_again_where_nothing_can_be_kept(tmp_path: Path) -> None:
    """A store that fails costs one refusal, not one in every turn."""
    with LoopbackProvider("anthropic", 12_000, policy=lambda _: say("Fine.")) as double:
        with standing(tmp_path, double.base_url, store=FailingStore()) as gateway:
            for _ in range(3):
                assert gateway.ask("/v1/messages", body_of("anthropic", story(40, 2_000))).status == 200
        assert double.refused == 1


class SilentStore(FailingStore):
    """A store whose calls wait for an event, once it is locked, and then find nothing."""

    def __init__(self) -> None:
        self.is_free, self.is_asked = threading.Event(), threading.Event()
        self.is_free.set()
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: self._wait(name)

    def learned(self, name: str) -> None:
        self._wait("learned")

    def learn(self, name: str, value: str) -> None:
        self._wait("learn")

    def _wait(self, name: str) -> list[str]:
        self.calls.append(name)
        self.is_asked.set()
        self.is_free.wait(60)
        return []


@pytest.fixture
def silent_store() -> Iterator[SilentStore]:
    """Yield a store that is released at the end, so that no thread is left."""
    store = SilentStore()
    yield store
    store.is_free.set()


@pytest.mark.proves("W-8")
def test_a_store_that_says_nothing_is_waited_for_once(
    silent_store: SilentStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests are answered, and cut, without it; of all the calls that they need, only one is made until it has ended."""
    monkeypatch.setattr(brief, "WAIT_SECONDS", 0.01)
    with LoopbackProvider("anthropic", 12_000, policy=lambda _: say("Fine.")) as double:
        settings = {"store": silent_store, "windows": Windows((("m", 12_000),))}
        with standing(tmp_path, double.base_url, **settings) as gateway:
            silent_store.is_free.clear()
            silent_store.calls.clear()
            for turns in (2, 40, 42):
                assert gateway.ask("/v1/messages", body_of("anthropic", story(turns, 2_000))).status == 200
            assert len(silent_store.calls) == 1
            silent_store.is_free.set()
            while len(silent_store.calls) == 1:  # until its thread has reported its end
                assert gateway.ask("/v1/messages", body_of("anthropic", story(44, 2_000))).status == 200
        assert double.refused == 0


@pytest.mark.proves("W-8")
def test_a_store_that_says_nothing_stops_nobody_else(
    silent_store: SilentStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one request waits for the store, small ones for a known model are answered."""
    monkeypatch.setattr(brief, "WAIT_SECONDS", 60.0)
    with (
        RecordingUpstream(lambda _: Said()) as behind,
        ThreadPoolExecutor(1) as waiting,
        standing(tmp_path, behind.url, store=silent_store) as gateway,
    ):
        assert gateway.ask("/v1/messages", {"model": "known", "messages": []}).status == 200
        silent_store.is_free.clear()
        silent_store.is_asked.clear()
        other = waiting.submit(gateway.ask, "/v1/messages", {"model": "other", "messages": []})
        silent_store.is_asked.wait(30)
        before = len(behind.came)
        assert gateway.ask("/v1/messages", {"model": "known", "messages": []}).status == 200
        assert len(behind.came) == before + 1
        assert not other.done()
        silent_store.is_free.set()
        assert other.result(30).status == 200


@pytest.mark.proves("W-8")
def test_a_mistake_of_ours_costs_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request passes as it came, and the operator of the gateway is told."""
    said: list[str] = []

    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("by us")

    monkeypatch.setattr(provider.Provider, "begin", broken)
    with RecordingUpstream(lambda _: Said()) as behind:
        with standing(tmp_path, behind.url, windows=Windows((("*", 5_000),)), say=said.append) as gateway:
            body = body_of("anthropic", story(20))
            assert gateway.ask("/v1/messages", body).status == 200
        assert json.loads(behind.came[-1].body) == body
    assert said == ["a request passes as it came: ZeroDivisionError: by us"]


class AmazonUpstream:
    """An upstream that accepts what would go to AWS."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[bytes, bytes], bytes | None]] = []

    async def send(self, method: str, url: str, headers: Any, body: bytes | None) -> Any:
        self.sent.append((url, dict(headers), body))
        return EmptyAnswer()

    async def close(self) -> None:
        pass


class EmptyAnswer:
    status = 200
    headers = ((b"content-type", b"application/json"),)

    async def blocks(self) -> AsyncIterator[bytes]:
        yield b"{}"

    async def close(self) -> None:
        pass


SIGNED = {
    "authorization": "AWS4-HMAC-SHA256 Credential=AKIDCLIENT/20261123/eu-west-1/bedrock/aws4_request, Signature=ab",
    "x-amz-date": "20261123T000000Z",
    "x-amz-security-token": "client's",
    "content-type": "application/json",
}


@pytest.mark.proves("W-8")
def test_a_request_to_aws_is_signed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It uses the gateway's credentials, for the host and the bytes sent; nothing of the client's signature is sent."""
    asked: list[Any] = []

    def signer(service: str, region: str, environ: Any) -> Any:
        asked.append((service, region))
        return lambda url, body: {"Authorization": f"AWS4-HMAC-SHA256 {url} {len(body)}", "X-Amz-Date": "now"}

    monkeypatch.setattr(signing, "aws_signer", signer)
    amazon = AmazonUpstream()
    with standing(tmp_path, None, upstream=amazon, environ={"AWS_REGION": "eu-west-1"}) as gateway:
        assert gateway.post("/model/m/converse", b'{"messages": []}', SIGNED).status == 200
    ((url, headers, _),) = amazon.sent
    assert url == "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse"
    assert asked == [("bedrock", "eu-west-1")]
    assert headers[b"authorization"] == f"AWS4-HMAC-SHA256 {url} 16".encode()
    assert headers[b"x-amz-date"] == b"now"
    assert b"x-amz-security-token" not in headers


@pytest.mark.proves("W-8")
def test_what_cannot_be_signed_for_aws_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not sent; a bearer token passes."""
    monkeypatch.setattr(signing, "aws_signer", lambda *_: None)
    amazon = AmazonUpstream()
    with standing(tmp_path, None, upstream=amazon, environ={"AWS_REGION": "eu-west-1"}) as gateway:
        got = gateway.post("/model/m/converse", b'{"messages": []}', SIGNED)
        assert got.status == 403
        assert "AWS_ACCESS_KEY_ID" in got.json["message"]
        assert not amazon.sent
        bearer = {"authorization": "Bearer b", "content-type": "application/json"}
        assert gateway.post("/model/m/converse", b'{"messages": []}', bearer).status == 200

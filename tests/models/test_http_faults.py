"""Whatever a network and a broken server do, does a request over HTTP end in time, in one named error, its socket closed?"""

from __future__ import annotations

import gc
import json
import logging
import socket
import ssl
import struct
import subprocess
import threading
import traceback
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import CallerError
from penstock.models import Cancelled, Disconnected, Refused, RemoteModel, Unreadable, connecting, exchange, load_model
from penstock.overflow import diagnose
from penstock.wires import answer_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ASKED = {"messages": [{"role": "user", "content": "hi"}]}
KEY = "sk-live-0123456789abcdef"
ANSWER = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}
EVENTS = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"  # to the end of the connection


def reply(body: str, status: str = "200 OK", *headers: str, kind: str = "application/json") -> str:
    """Return a whole answer."""
    lines = [f"HTTP/1.1 {status}", f"content-type: {kind}", f"content-length: {len(body.encode())}", *headers]
    return "\r\n".join([*lines, "", body])


def chunk(text: str | None = None, finish: str | None = None) -> str:
    """Return an event of a streamed answer."""
    choice = {"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n"


class Peer:
    """The other end of a connection, which sends what it is given, whatever HTTP says about that."""

    def __init__(self, parts: tuple[str | bytes, ...], then: str) -> None:
        self._parts = [part.encode() if isinstance(part, str) else part for part in parts]
        self._then = then
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self.requests: list[bytes] = []
        self.gone = threading.Event()
        """Set once the client has closed its end."""
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def close(self) -> None:
        """Accept nothing more, and wait for what is in progress."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(60)
        request = b""
        while not request.endswith(b"}"):
            request += connection.recv(65_536)
        self.requests.append(request)
        try:
            for part in self._parts:
                connection.sendall(part)
        except ConnectionError:  # the client may leave before it has everything
            self.gone.set()
            return
        if self._then == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif self._then != "close":
            self._stay(connection)

    def _stay(self, connection: socket.socket) -> None:
        """Stay silent, or with `drip` send a comment every few milliseconds, until the client leaves."""
        connection.settimeout(0.02 if self._then == "drip" else 60)
        with suppress(ConnectionError):
            while True:
                try:
                    if not connection.recv(1):
                        break
                except TimeoutError:
                    connection.sendall(b": still here\n")
        self.gone.set()


@contextmanager
def peer(*parts: str | bytes, then: str = "close") -> Iterator[Peer]:
    """Answer every request with these parts, and then close, reset, hold or drip."""
    serving = Peer(parts, then)
    try:
        yield serving
    finally:
        serving.close()


def remote(url: str, wire: str = "openai-chat", **more: Any) -> RemoteModel:
    """Return a model at that address, with a key of each provider."""
    keys = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    model = load_model(f"{wire}:m", base_url=url, environment=keys, **more)
    assert isinstance(model, RemoteModel)
    return model


def nothing(_: str) -> None:
    """Accept text and do nothing."""


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("on_text", "parts", "then", "kind"),
    [
        (None, (), "hold", "whole"),
        (None, (reply("x" * 100)[:-50],), "hold", "whole"),
        (nothing, (), "hold", "idle"),
        (nothing, (EVENTS, chunk("a")), "hold", "idle"),
        (nothing, (EVENTS, chunk("a")), "drip", "whole"),
    ],
)
def test_a_server_that_stalls_is_left_in_time(
    on_text: Callable[[str], None] | None, parts: tuple[str, ...], then: str, kind: str
) -> None:
    """It stalls before or in the answer, silent or with endless comments: `kind` names the timer that ended it."""
    with peer(*parts, then=then) as serving:
        with pytest.raises(Disconnected) as caught:
            remote(serving.url, timeout_seconds=0.4).send(ASKED, on_text=on_text)
        assert serving.gone.wait(100)
    assert caught.value.kind == kind
    assert (diagnose(caught.value).kind, diagnose(caught.value).recovery) == ("connection", "retry")


def test_a_host_that_takes_no_connection_is_left_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its queue is full, and the kernel drops further connections."""
    monkeypatch.setattr(exchange, "CONNECT_SECONDS", 0.2)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(listener.getsockname())
            with pytest.raises(Disconnected) as caught:
                remote(f"http://127.0.0.1:{listener.getsockname()[1]}/v1").send(ASKED)
        finally:
            for one in waiting:
                one.close()
    assert (caught.value.kind, diagnose(caught.value).kind) == ("connect", "connection")


@pytest.fixture
def stuck_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Provide a name server that does not answer, and the event that it was asked."""
    asked, let_go = threading.Event(), threading.Event()

    def stuck(*_: object, **__: object) -> list[object]:
        asked.set()
        let_go.wait(60)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", stuck)
    yield asked
    let_go.set()


def test_a_name_server_that_stalls_is_left_in_time(
    stuck_names: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking up a name is part of connecting, although it happens in a thread that cannot be ended."""
    monkeypatch.setattr(exchange, "CONNECT_SECONDS", 0.2)
    with pytest.raises(Disconnected) as caught:
        remote("https://provider.test/v1").send(ASKED)
    assert caught.value.kind == "connect"
    assert stuck_names.is_set()


def test_a_name_server_that_stalls_keeps_nobody_from_cancelling(stuck_names: threading.Event) -> None:
    """It does not delay `send` either."""
    with pytest.raises(Cancelled):
        remote("https://provider.test/v1").send(ASKED, cancelled=stuck_names)


# ── broken connections ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("on_text", "parts", "then"),
    [
        (None, (), "close"),
        (None, (), "reset"),
        (None, (reply("x" * 100)[:-50],), "close"),
        (None, ("I am no web server\r\n\r\n",), "close"),
        (nothing, (EVENTS,), "close"),
        (nothing, (EVENTS, chunk("a")), "close"),
        (nothing, (EVENTS, chunk("a"), "data: [DONE]\n\n"), "hold"),
        (nothing, (EVENTS, chunk("a"), chunk("b", "stop")[:-9]), "close"),
        (nothing, (EVENTS.replace("\r\n\r\n", "\r\ncontent-length: 900\r\n\r\n"), chunk("a")), "close"),
        (nothing, (EVENTS, chunk("a")), "reset"),
    ],
)
def test_an_answer_that_breaks_off_is_an_error(
    on_text: Callable[[str], None] | None, parts: tuple[str, ...], then: str
) -> None:
    """Half an answer is never taken for a whole one: a call in it might be half a call."""
    with peer(*parts, then=then) as serving, pytest.raises(Disconnected) as caught:
        remote(serving.url).send(ASKED, on_text=on_text)
    assert (caught.value.kind, diagnose(caught.value).kind) == ("closed", "connection")


@pytest.mark.parametrize(
    ("header", "then"), [("", "close"), ("", "reset"), ("content-length: 900\r\n", "close"), ("", "hold")]
)
def test_an_answer_that_said_why_it_stops_is_taken_whatever_breaks_then(header: str, then: str) -> None:
    """It is whole and paid for; a proxy that resets each connection there would have it paid for again and again."""
    with peer(EVENTS.replace("\r\n\r\n", f"\r\n{header}\r\n"), chunk("a"), chunk("b", "stop"), then=then) as serving:
        body = remote(serving.url, timeout_seconds=0.4 if then == "hold" else 60).send(ASKED, on_text=nothing)
        assert len(serving.requests) == 1
    assert answer_words(body, "openai-chat") == "ab"


@pytest.mark.parametrize("pieces", [("a",), ("a", "b"), (None, "a"), (None, "a", "b")])
@pytest.mark.parametrize("then", ["reset", "error"])
def test_a_reason_that_comes_with_every_piece_makes_no_answer_whole(pieces: tuple[str | None, ...], then: str) -> None:
    """Gemini's API gave one with each, and so do proxies: what breaks off in the middle is no answer."""
    said = [chunk(piece, "stop") for piece in pieces]
    if then == "error":
        said.append('data: {"error": {"code": 503, "message": "overloaded"}}\n\n')
    with (
        peer(EVENTS, *said, then="close" if then == "error" else then) as serving,
        pytest.raises((Disconnected, Refused)),
    ):
        remote(serving.url).send(ASKED, on_text=nothing)


def test_words_behind_a_reason_take_its_meaning() -> None:
    """A piece without words has one in the middle, as where a proxy translates thoughts."""
    with (
        peer(EVENTS, chunk("a"), chunk(None, "stop"), chunk("b"), then="reset") as serving,
        pytest.raises(Disconnected),
    ):
        remote(serving.url).send(ASKED, on_text=nothing)


def test_a_port_where_nobody_listens() -> None:
    """The error names the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Disconnected, match=f"127.0.0.1:{port}.*Connect call failed") as caught:
        remote(f"http://127.0.0.1:{port}/v1").send(ASKED)
    assert (caught.value.kind, diagnose(caught.value).kind) == ("connect", "connection")


def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else its 407 would look like the provider's."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.setenv("no_proxy", "")

        def refuse() -> None:
            connection, _ = proxy.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 407 Who are you\r\ncontent-length: 0\r\n\r\n")

        thread = threading.Thread(target=refuse)
        thread.start()
        with pytest.raises(
            Disconnected, match=r"The proxy makes no connection to https://provider\.test.*407 Who"
        ) as caught:
            remote("https://provider.test/v1").send(ASKED)
        thread.join()
    told = diagnose(caught.value)
    assert (caught.value.kind, told.kind, told.recovery) == ("settings", "connection", "none")


@pytest.mark.needs("openssl")
def test_a_certificate_that_is_not_trusted_is_a_matter_of_settings(tmp_path: Path) -> None:
    """Waiting does not make it trusted; the words of TLS are kept. What is no TLS at all may be a server that just begins."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "server.key")
    line = ("openssl", "req", "-x509", *key, "-out", "server.pem", "-days", "2", "-subj", "/CN=stranger")
    subprocess.run(line, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
    for serve, kind, recovery in (
        (partial(context.wrap_socket, server_side=True), "settings", "none"),
        (lambda connection: connection.sendall(b"HTTP/1.1 400 \r\n\r\n"), "connect", "retry"),
    ):
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def answer(serve: Callable[[socket.socket], object] = serve, listener: socket.socket = listener) -> None:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    serve(connection)

            thread = threading.Thread(target=answer)
            thread.start()
            with pytest.raises(Disconnected, match="SSL") as caught:
                remote(f"https://127.0.0.1:{listener.getsockname()[1]}/v1").send(ASKED)
            thread.join()
        told = diagnose(caught.value)
        assert (caught.value.kind, told.kind, told.recovery) == (kind, "connection", recovery)
        assert "CERTIFICATE_VERIFY_FAILED" in str(caught.value) or kind == "connect"


def test_certificates_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A missing file is a mistake of the settings, not the provider's rejection of the request."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    connecting._certificates.cache_clear()
    with pytest.raises(CallerError, match="SSL_CERT_FILE or SSL_CERT_DIR"):
        remote("https://provider.test/v1").send(ASKED)


def test_a_stream_ends_with_its_last_event() -> None:
    """It does not wait for the connection, which a server may keep open; a missing last event is not required."""
    with peer(EVENTS, chunk("a"), chunk("b", "stop"), "data: [DONE]\n\n", then="hold") as serving:
        body = remote(serving.url).send(ASKED, on_text=nothing)
        assert serving.gone.wait(100)
    with peer(EVENTS, chunk("a"), chunk("b", "stop")) as serving:
        assert remote(serving.url).send(ASKED, on_text=nothing) == body
    assert body["choices"][0]["message"]["content"] == "ab"


def test_events_may_be_cut_anywhere_and_end_their_lines_in_any_way() -> None:
    """They may be cut within a character or between the two characters of a line end; comments and unused fields are skipped."""
    stream = (chunk("caf\u00e9 \u2028\U0001f600") + ": ping\n\nid: 7\nretry: 5\n" + chunk(finish="stop")).replace(
        "\n", "\r\n"
    )
    content = stream.replace("\\u", "\\u").encode() + 'data: {"choices":\ndata: [], "note": "é"}\n\n'.encode()
    with peer(EVENTS, *[bytes([byte]) for byte in content]) as serving:
        body = remote(serving.url).send(ASKED, on_text=nothing)
    assert body["choices"][0]["message"]["content"] == "caf\u00e9 \u2028\U0001f600"
    assert body["note"] == "é"


@pytest.mark.parametrize("head", [EVENTS + "\ufeff", EVENTS.replace("stream", "stream; charset=iso-8859-1")])
def test_events_are_utf_8_with_or_without_a_mark(head: str) -> None:
    """Whatever the header says, and with a byte order mark in front or without: so the standard has it."""
    with peer(head + chunk("caf\u00e9").replace("\\u00e9", "\u00e9") + chunk(finish="stop")) as serving:
        body = remote(serving.url).send(ASKED, on_text=nothing)
    assert body["choices"][0]["message"]["content"] == "caf\u00e9"


def test_a_stream_that_is_left_at_its_end_leaves_no_task(caplog: pytest.LogCaptureFixture) -> None:
    """What still reads is closed by a task, which gets its turn before the loop ends."""
    stream = (chunk("hi") + chunk(finish="stop") + "data: [DONE]\n\n").replace("\n", "\r")
    with peer(EVENTS + stream) as serving:
        assert remote(serving.url).send(ASKED, on_text=nothing)
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


def test_a_server_that_does_not_stream_answers_all_the_same() -> None:
    """The words then come at once."""
    pieces: list[str] = []
    with peer(reply(json.dumps(ANSWER))) as serving:
        body = remote(serving.url).send(ASKED, on_text=pieces.append)
    assert (body, pieces) == (ANSWER, ["hi"])


# ── invalid answers ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>Sign in to this network</html>",
        "[]",
        "null",
        '{"choices": [',
        '{"choices": []}',
        "{}",
        "\ufeff{}",
        '{"output": {}, "content": "hi", "choices": [{"text": "hi"}]}',
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_a_body_that_is_not_an_answer_is_reported(wire: str, body: str) -> None:
    """Code that uses the model may rely on the shape of an answer; a broken server may be tried again."""
    for on_text in (None, nothing):
        with peer(reply(body)) as serving, pytest.raises(Unreadable) as caught:
            remote(serving.url, wire).send(ASKED, on_text=on_text)
        assert (diagnose(caught.value).kind, diagnose(caught.value).recovery) == ("server_error", "retry")
        assert len(str(caught.value)) < 600


@pytest.mark.parametrize("data", ["hello", "[]", '{"choices"', "[DONE", "\ufeff{}", '{"a":' * 10_000])
def test_an_event_that_is_not_a_json_object_is_reported(data: str) -> None:
    """This also holds in the middle of a stream."""
    with (
        peer(EVENTS, chunk("a"), f"data: {data}\n\n", then="hold") as serving,
        pytest.raises(Unreadable, match="not a JSON object"),
    ):
        remote(serving.url).send(ASKED, on_text=nothing)


@pytest.mark.parametrize(
    ("on_text", "parts"),
    [
        (None, (reply(json.dumps(ANSWER | {"padding": "x" * 2_000})),)),
        (nothing, (EVENTS, "data: " + "x" * 2_000)),
        (nothing, (EVENTS, *["data: x\n"] * 500)),
        (nothing, (EVENTS, *[chunk("a")] * 200)),
    ],
)
def test_an_answer_without_end_is_held_to_a_bound(
    monkeypatch: pytest.MonkeyPatch, on_text: Callable[[str], None] | None, parts: tuple[str, ...]
) -> None:
    """Of a body, a line, an event or a stream, nothing beyond the size of any real answer is read."""
    monkeypatch.setattr(exchange, "MAX_ANSWER_BYTES", 1_000)
    monkeypatch.setattr(exchange, "MAX_STREAM_BYTES", 8_000)
    with peer(*parts, then="hold") as serving:
        with pytest.raises(Unreadable):
            remote(serving.url).send(ASKED, on_text=on_text)
        assert serving.gone.wait(100)


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("part", "status", "words"),
    [
        (reply("zorp", "400 Bad", "content-encoding: gzip"), 400, "(it said nothing else)"),
        (reply("zorp", "400 Bad")[:-2], 400, "(it said nothing else)"),
        (reply("", "422 Bad"), 422, "(it said nothing else)"),
        (reply('\ufeff{"error": "zorp"}', "400 Bad"), 400, '{"error": "zorp"}'),
        (EVENTS + chunk("a") + 'event: error\ndata: {"message": "zorp"}\n\n', 200, '{"message": "zorp"}'),
        (EVENTS + chunk("a") + "event: error\ndata: zorp zorp\n\n", 200, "zorp zorp"),
    ],
)
def test_the_words_of_an_error_are_found_wherever_they_are(part: str, status: int, words: str) -> None:
    """An error that breaks off or cannot be decompressed still has its status, and an event may be called an error."""
    with peer(part) as serving, pytest.raises(Refused) as caught:
        remote(serving.url).send(ASKED, on_text=nothing)
    assert str(caught.value) == f"HTTP {status}: {words}"


def test_a_byte_order_mark_is_not_part_of_an_answer() -> None:
    """Some servers write one before their JSON."""
    with peer(reply("\ufeff" + json.dumps(ANSWER))) as serving:
        assert remote(serving.url).send(ASKED) == ANSWER


@pytest.mark.parametrize("late", ['{"error": {"message": "zorp"}}', "zorp"])
def test_an_error_after_a_whole_answer_takes_nothing_from_it(late: str) -> None:
    """The answer has said why it stops: asking again would cost its price twice."""
    with peer(EVENTS + chunk("h") + chunk("i", "stop") + f"event: error\ndata: {late}\n\n") as serving:
        body = remote(serving.url).send(ASKED, on_text=nothing)
    assert answer_words(body, "openai-chat") == "hi"


@pytest.mark.parametrize("on_text", [None, nothing])
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (["Retry-After: 7"], 7.0),
        (["Retry-After: 7", "retry-after-ms: 1500"], 1.5),
        (["Retry-After: Wed, 21 Oct 2026 07:28:30 GMT", "Date: Wed, 21 Oct 2026 07:28:00 GMT"], 30.0),
        (["Retry-After: Wed, 21 Oct 2026 07:27:30 GMT", "Date: Wed, 21 Oct 2026 07:28:00 GMT"], 0.0),
        (["Retry-After: Wed, 21 Oct 2026 07:28:30 GMT"], None),
        (["Retry-After: Wed, 21 Oct 2026 07:28:30", "Date: Wed, 21 Oct 2026 07:28:00 GMT"], None),
        (["Retry-After: soon"], None),
        ([], None),
    ],
)
def test_how_long_to_wait_is_read(
    on_text: Callable[[str], None] | None, headers: list[str], seconds: float | None
) -> None:
    """It comes as seconds, as milliseconds, and as a date by the provider's own clock."""
    body = json.dumps({"error": {"message": "Slow down.", "type": "rate_limit_error"}})
    with peer(reply(body, "429 Too Many Requests", *headers)) as serving, pytest.raises(Refused) as caught:
        remote(serving.url).send(ASKED, on_text=on_text)
    found = diagnose(caught.value)
    assert (found.kind, found.retry_after_seconds) == ("rate_limit", seconds)


def test_a_refusal_names_the_request_as_the_provider_does() -> None:
    """The provider's support asks for that id; no other header is kept."""
    answer = reply("no", "400 Bad Request", "x-request-id: req_1", "set-cookie: a=b")
    with peer(answer) as serving, pytest.raises(Refused) as caught:
        remote(serving.url).send(ASKED)
    assert caught.value.headers == {"x-request-id": "req_1"}


def test_a_refusal_of_any_size_is_bounded() -> None:
    """Some servers repeat the whole request in it, and some never end."""
    said = "prompt is too long: 213462 tokens > 200000 maximum"
    answer = reply(said + "x" * 2_000_000, "400 Bad Request")
    with peer(answer, then="hold") as serving, pytest.raises(Refused) as caught:
        remote(serving.url).send(ASKED)
    assert len(caught.value.body) == exchange.MAX_REFUSAL_BYTES
    overflow = diagnose(caught.value).overflow
    assert overflow is not None
    assert (overflow.input, overflow.limit) == (213_462, 200_000)


@pytest.mark.parametrize("depth", [500, *range(900, 1_000, 3), 5_000])
def test_a_refusal_of_any_depth_is_raised(depth: int) -> None:
    """A body that can be parsed but not serialised is a refusal too."""
    body = f'{{"error":{"[" * depth}{"]" * depth}}}'
    with peer(reply(body, "400 Bad Request")) as serving, pytest.raises(Refused):
        remote(serving.url).send(ASKED)


def test_no_redirect_is_followed() -> None:
    """A key goes only to its base URL; the error tells the user of the other address."""
    with peer(reply(json.dumps(ANSWER))) as other:
        answer = reply("", "307 Temporary Redirect", f"location: {other.url}")
        with peer(answer) as serving, pytest.raises(Refused) as caught:
            remote(serving.url).send(ASKED)
        assert other.requests == []
    assert caught.value.status_code == 307
    assert caught.value.body == f"it redirects to {other.url}, which may be the base URL to name"
    assert len(serving.requests) == 1


# ── cancelling ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_cancelled_stream_closes_its_socket() -> None:
    """Between two words, while nothing comes, the provider learns that nobody listens, and stops counting."""
    cancelled, pieces = threading.Event(), []

    def stop(text: str) -> None:
        pieces.append(text)
        cancelled.set()

    with peer(EVENTS, chunk("a"), then="hold") as serving:
        with pytest.raises(Cancelled):
            remote(serving.url).send(ASKED, on_text=stop, cancelled=cancelled)
        assert serving.gone.wait(100)
    assert pieces == ["a"]


@pytest.mark.parametrize("on_text", [None, nothing])
def test_an_exception_of_the_question_whether_closes_its_socket(on_text: Callable[[str], None] | None) -> None:
    """Ctrl-C does the same, as it can come out of any call."""
    looks: list[int] = []

    def interrupted() -> bool:
        looks.append(1)
        if len(looks) > 3:
            raise KeyboardInterrupt
        return False

    with peer(then="hold") as serving:
        with pytest.raises(KeyboardInterrupt):
            remote(serving.url).send(ASKED, on_text=on_text, cancelled=interrupted)
        assert serving.gone.wait(100)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, BrokenPipeError])
def test_what_on_text_raises_comes_out_alone(caplog: pytest.LogCaptureFixture, raised: type[BaseException]) -> None:
    """For Ctrl-C while a word is printed, or a closed pipe, nothing else is reported, in the traceback or in a log."""

    def broken(_: str) -> None:
        raise raised

    with peer(EVENTS, chunk("a"), then="hold") as serving:
        with pytest.raises(raised) as caught:
            remote(serving.url).send(ASKED, on_text=broken)
        assert serving.gone.wait(100)
    gc.collect()  # an asyncio task with an unread error reports it when it is collected
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert caplog.text == ""


# ── the key ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
@pytest.mark.parametrize(
    ("on_text", "answer"),
    [
        (None, reply(json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}."}}), "401 Unauthorized")),
        (None, reply(f"<p>Bearer {KEY} is not known here</p>", "403 Forbidden")),
        (None, reply("try again", "429 Too Many Requests", f"retry-after: {KEY}", f"x-request-id: {KEY}")),
        (None, reply(f'{{"error": "{KEY}"}}')),
        (None, reply(f"what is {KEY}?")),
        (None, reply(json.dumps({"you sent": KEY}))),
        (None, f"HTTP/1.1 200 OK\r\n{KEY}\r\n\r\n"),
        (nothing, f'{EVENTS}data: {{"error": {{"message": "{KEY}"}}}}\n\n'),
        (nothing, f"{EVENTS}data: {KEY}\n\n"),
    ],
)
def test_a_key_that_a_server_repeats_is_shown_nowhere(
    wire: str, on_text: Callable[[str], None] | None, answer: str
) -> None:
    """It is not in the error, in its attributes, in its traceback, or in the model's repr."""
    with peer(answer) as serving:
        model = remote(serving.url, wire)
        with pytest.raises((Refused, Unreadable, Disconnected)) as caught:
            model.send(ASKED, on_text=on_text)
    error = caught.value
    shown = [repr(model), repr(vars(model)), str(error), repr(error), repr(vars(error))]
    shown.append("".join(traceback.format_exception(error)))
    assert KEY.encode() in serving.requests[0]
    assert not any(KEY in text for text in shown)


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
def test_a_key_is_in_no_log(caplog: pytest.LogCaptureFixture, wire: str) -> None:
    """The HTTP client below logs its requests, but no header."""
    caplog.set_level(logging.DEBUG)
    with peer(reply("no", "401 Unauthorized")) as serving, pytest.raises(Refused):
        remote(serving.url, wire).send(ASKED)
    assert "401" in caplog.text
    assert KEY.encode() in serving.requests[0]
    assert KEY not in caplog.text

"""Are connections kept, one for each thread, reused if that is safe, and finally closed?"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from penstock.models import Cancelled, KeptConnections, Refused, connecting, load_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.models import Model

ASKED = {"messages": [{"role": "user", "content": "hi"}]}
ANSWER = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}


class Keeping(ThreadingHTTPServer):
    """A provider that keeps connections and records each request's connection and cookie; `how` selects its way to answer."""

    def __init__(self) -> None:
        self.came: list[tuple[int, str | None]] = []
        self.how = "whole"
        self.open = 0
        """The number of connections now open, as far as this end knows."""
        serving = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def setup(self) -> None:
                super().setup()
                serving.open += 1

            def finish(self) -> None:
                serving.open -= 1
                super().finish()

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                serving.came.append((self.client_address[1], self.headers.get("cookie")))
                if serving.how == "slow":
                    time.sleep(0.5)
                sent = json.dumps(ANSWER).encode()
                self.send_response(400 if serving.how == "refused" else 200)
                self.send_header("content-type", "application/json")
                self.send_header("set-cookie", "who=me; path=/")
                self.send_header("content-length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)
                self.close_connection = serving.how == "hangs up"  # the answer does not announce it

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.daemon_threads = True
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def connections(self) -> list[int]:
        """Return the connection of each request, numbered in order of appearance."""
        ports = list(dict.fromkeys(port for port, _ in self.came))
        return [ports.index(port) for port, _ in self.came]

    def model(self, connections: KeptConnections | None) -> Model:
        url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        return load_model("openai-chat:m", base_url=url, environment={}, connections=connections)

    def has_open(self, count: int) -> bool:
        """Return whether that many connections are open soon, as this end learns of it on threads of its own."""
        until = time.monotonic() + 10
        while self.open != count and time.monotonic() < until:
            time.sleep(0.01)
        return self.open == count


@pytest.fixture
def keeping() -> Iterator[Keeping]:
    """Run a provider that keeps connections."""
    made = Keeping()
    yield made
    made.shutdown()
    made.server_close()


def test_a_thread_keeps_its_connection(keeping: Keeping) -> None:
    """This also holds after a refusal that was read to its end; another thread has another, and after closing none is open."""
    with KeptConnections() as kept:
        model = keeping.model(kept)
        model.send(ASKED)
        keeping.how = "refused"
        with pytest.raises(Refused):
            model.send(ASKED)
        keeping.how = "whole"
        keeping.model(kept).send(ASKED)
        other = threading.Thread(target=model.send, args=(ASKED,))
        other.start()
        other.join()
        model.send(ASKED)
        assert keeping.connections() == [0, 0, 0, 1, 0]
        assert keeping.has_open(2)
    assert keeping.has_open(0)
    assert {cookie for _, cookie in keeping.came} == {None}
    model.send(ASKED)
    assert keeping.connections()[-1] == 2
    kept.close()


def test_without_them_each_request_has_its_own(keeping: Keeping) -> None:
    """Each is closed once the answer is there."""
    model = keeping.model(None)
    for _ in range(2):
        model.send(ASKED)
        assert keeping.has_open(0)
    assert keeping.connections() == [0, 1]


@pytest.mark.parametrize("how", ["the server hangs up", "it was silent for too long"])
def test_a_connection_that_may_be_gone_carries_no_other(
    keeping: Keeping, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request on it could be lost, and nobody would know whether it was read."""
    if how == "the server hangs up":
        keeping.how = "hangs up"
    else:
        monkeypatch.setattr(connecting, "KEPT_SECONDS", 0.05)
    with KeptConnections() as kept:
        model = keeping.model(kept)
        for _ in range(3):
            model.send(ASKED)
            time.sleep(0.1)
        assert keeping.connections() == [0, 1, 2]


def _cancelled(model: Any) -> None:
    enough = threading.Event()
    threading.Timer(0.05, enough.set).start()
    with pytest.raises(Cancelled):
        model.send(ASKED, cancelled=enough)


def _interrupted(model: Any) -> None:
    def interrupt() -> bool:
        if time.monotonic() > at:
            raise KeyboardInterrupt
        return False

    at = time.monotonic() + 0.05
    with pytest.raises(KeyboardInterrupt):
        model.send(ASKED, cancelled=interrupt)


def _signalled(model: Any) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.send(ASKED)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("leave", [_cancelled, _interrupted, _signalled])
def test_a_request_that_was_left_takes_its_connection_with_it(keeping: Keeping, leave: Callable[[Any], None]) -> None:
    """The next request has another connection, on which no late answer comes."""
    with closing(KeptConnections()) as kept:
        model = keeping.model(kept)
        model.send(ASKED)
        keeping.how = "slow"
        leave(model)
        keeping.how = "whole"
        assert model.send(ASKED) == ANSWER
        assert keeping.connections() == [0, 0, 1]


def test_in_an_event_loop_they_are_not_taken(keeping: Keeping) -> None:
    """The request has its own thread and connection there, since a thread can have only one running loop."""

    async def cell() -> None:
        model.send(ASKED)

    with KeptConnections() as kept:
        model = keeping.model(kept)
        model.send(ASKED)
        asyncio.run(cell())
        assert keeping.connections() == [0, 1]
        assert keeping.has_open(1)

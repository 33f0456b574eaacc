"""What did each host send in a whole session of a real coding agent, what did its provider get, and what did the host receive?

A recorder is in front of the gateway, or of the model if there is none. Law: for a turn whose prefix broke it reports the
cause: the host, if its request begins differently from its own earlier one; the gateway, if the host's was unchanged.
"""

from __future__ import annotations

import http.client
import json
import re
import sys
import threading
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from proof.loopback_model import Call, LoopbackModel

from penstock.wires import load, messages_of, wire_named
from proof import hosts
from tests.gateway.standing import RecordingUpstream, Said
from tests.mcp.conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.gateway.standing import Came

    Body = dict[str, Any]

ROOM_BYTES = 40_000
"""The room that the model has besides a host's first request: less than half of all results."""
EVERY_TURNS = 8
"""The number of calls of the host's tool between two pages that the model reads back."""


class Filling(LoopbackModel):
    """A model whose window is a little larger than its host's first request, and that counts 30 % more than others.

    Args:
        calls: the number of its calls of the host's tool.
        lines: the length of the tool's result.
        refuses: whether it refuses what is larger than its window; otherwise it accepts everything.
        reads: whether it reads back what it finds cut, if it has the tool for it.
    """

    def __init__(self, calls: int, lines: int, *, refuses: bool = True, reads: bool = False) -> None:
        super().__init__("lines", {"count": lines})
        self.later = [("lines", {"count": lines + number % 50}) for number in range(1, calls)]
        self.pages: dict[str, str] = {}
        """The result of each page that was requested, by its handle."""
        self._refuses, self._reads, self._last_page = refuses, reads, 0

    def counted(self, sent: bytes) -> int:
        return len(sent) * 13 // 40

    def measures(self, sent: bytes) -> bool:
        if self.window_tokens is None and len(sent) > 20_000:
            self.window_tokens = self.counted(sent + bytes(ROOM_BYTES)) if self._refuses else sys.maxsize
        return super().measures(sent)

    def turn(self, body: Body) -> Call | None:
        """Read back if there is something to read, and otherwise call the host's tool."""
        if body.get("tool_choice") == "none":  # Copilot CLI wants a summary, in words
            self.bodies.append(body)
            return None
        wire = wire_named(wire_of(body))
        entries = load(messages_of(body, wire.name), wire.name).entries
        results = {result.call_id: result.text for entry in entries for result in entry.results}
        for call in (call for entry in entries for call in entry.calls if call.name == "ctx_page"):
            self.pages.setdefault(call.values["handle"], results[call.id])  # later it may itself be cut
        is_offered = "ctx_page" in wire.codec.tool_names(wire.body.tools_of(body))
        said = "\n".join([entry.text for entry in entries] + list(results.values()))
        unread = [handle for handle in _HANDLE.findall(said) if handle not in self.pages]
        if self._reads and is_offered and unread and self.calls >= self._last_page + EVERY_TURNS:
            self._last_page = self.calls
            self.bodies.append(body)
            return Call("ctx_page", None, {"handle": unread[-1], "offset": 0, "limit": 2}, f"p{self.calls}")
        return super().turn(body)


_HANDLE = re.compile(r'ctx_page\(handle="(\w+)"')


def wire_of(body: Body) -> str:
    """Return the wire of a request as this model receives it."""
    if "input" in body:
        return "openai-responses"
    if "contents" in body:
        return "gemini"
    return "anthropic" if "system" in body else "openai-chat"


class Exchange(NamedTuple):
    """A request of a client and its outcome."""

    path: str
    headers: list[tuple[str, str]]
    """The headers without those of the hop, and without accepted encodings."""
    sent: bytes
    status: int
    heard: bytes
    """The answer."""
    passed: tuple[Body, ...]
    """The requests that its model answered meanwhile."""

    @property
    def body(self) -> Body:
        """Return the request, parsed."""
        body: Body = json.loads(self.sent or b"{}")
        return body


@contextmanager
def recorded(url: str, model: LoopbackModel) -> Iterator[tuple[str, list[Exchange]]]:
    """Yield an address in front of another one, and the list of what passes, one request at a time."""
    exchanges: list[Exchange] = []
    lock = threading.Lock()

    def passed_on(came: Came) -> Said:
        with lock:
            before = len(model.bodies)
            connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=120)
            names = {name.lower(): value for name, value in came.headers if name.lower() not in _OF_THE_HOP}
            connection.request(came.method, came.path, came.body or None, names)
            response = connection.getresponse()
            heard = response.read()
            connection.close()
            passed = tuple(model.bodies[before:])
            # Of the encodings of an answer the gateway asks for those that it reads.
            told = sorted((name, value) for name, value in names.items() if name != "accept-encoding")
            exchanges.append(Exchange(came.path, told, came.body, response.status, heard, passed))
        kept = tuple((name, value) for name, value in response.getheaders() if name.lower() not in _OF_THE_HOP)
        return Said(response.status, kept, (heard,))

    with RecordingUpstream(passed_on) as between:
        yield between.url, exchanges


_OF_THE_HOP = {"host", "connection", "content-length", "transfer-encoding"}


def drive(host: str, folder: Path, model: LoopbackModel, url: str) -> str:
    """Run a host whose model is at an address; return what it printed."""
    program = hosts.installed(host)
    assert program is not None
    home, root = folder / "home", folder / "root"
    home.mkdir(parents=True)
    root.mkdir()
    server = [
        "/usr/bin/env",
        f"PYTHONPATH={REPOSITORY}:{REPOSITORY / 'src'}",
        sys.executable,
        "-m",
        "tests.relay.everything",
    ]
    command, environment = hosts.HOSTS[host](hosts.Setup(home=home, server=server, url=url))
    done = hosts.run([str(program), *command[1:]], root, home, environment)
    assert model.received, done[-500:]
    return done


class Turn(NamedTuple):
    """The beginning of a turn's request, compared with the one before."""

    stood_bytes: int
    """The messages that its provider got in the same places as before."""
    new_bytes: int
    by_host: bool
    """True if the host's own request begins differently from the one before."""
    by_gateway: bool
    """True if what the provider got differs before anything that resulted from the host's changes."""


def turns_of(exchanges: Sequence[Exchange]) -> list[Turn]:
    """Return the turns of a session from the second on; other requests (a title, a summary) have no tools or may not use them."""
    asked = [
        (own, _messages_of(exchange.passed[0]), _messages_of(exchange.passed[-1]))
        for exchange in exchanges
        if exchange.passed
        and exchange.passed[0].get("tools")
        and exchange.body.get("tool_choice") != "none"
        and len(own := _messages_of(exchange.body)) > 3
    ]
    turns = []
    for (own, _, before), (next_own, now, _) in pairwise(asked):
        kept, stood = _shared(own, next_own), _shared(before, now)
        turns.append(
            Turn(
                stood_bytes=len(json.dumps(now[:stood])),
                new_bytes=len(json.dumps(now[stood:])),
                by_host=kept < len(own),
                by_gateway=stood < _has_to_stand(before, own, kept),
            )
        )
    return turns


def _has_to_stand(before: list[Any], own: list[Any], kept: int) -> int:
    """Return how many messages that a provider got before result from what its host left unchanged.

    Args:
        before: what the provider got; what is not the host's replaces messages between its neighbours.
        own: what the host had sent.
        kept: how many of these it left unchanged.
    """
    if kept == len(own):
        return len(before)
    behind = until = 0
    for number, message in enumerate(before):
        if message in own[behind:]:
            behind = own.index(message, behind)
            if behind >= kept:
                return number if behind == kept else until
            behind, until = behind + 1, number + 1
    return until


def _messages_of(body: Body) -> list[Any]:
    """Return the messages of a request of any API, without cache marks."""
    found: list[Any] = next((body[key] for key in ("messages", "input", "contents") if key in body), [])
    return [_unmarked(message) for message in found]


def _unmarked(value: Any) -> Any:
    """Return a value without cache marks, which clients move from turn to turn; a text made a list for one is a text again."""
    if isinstance(value, dict):
        made = {name: _unmarked(held) for name, held in value.items() if name != "cache_control"}
        if isinstance(text := made.get("content"), str):
            made["content"] = [{"type": "text", "text": text}]
        return made
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _shared(one: list[Any], other: list[Any]) -> int:
    """Return how many equal messages two histories begin with."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (first, second) in enumerate(pairs) if first != second), min(len(one), len(other)))

"""R27: whatever is killed around a gateway, is a request answered wrongly, or a key kept? Does it grow? (W-1, W-4, W-6, W-8)

Two gateways share one store. Clients ask short questions and go on with long sessions, plain and streamed, of a provider that
counts 30 % more than anybody would and refuses what is too long; some of its answers read back what was cut. Meanwhile a gateway,
the provider, a client in the middle of its request, or the database is killed, over and over. A client that hears of a fault, or is
broken off, tries again, as agents do; an answer that is whole has to be the one to its own question, and no client may ever hear
that its request is too long. At the end what was cut reads as it was sent, and no client's key is in any byte of any file.

Then a gateway stands alone and answers many requests, to see whether its memory grows. Controls: an answer to another's question, a
torn stream that ends well and a key in a file are each noticed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proof.figure import MEMORY, Figure, folder, main
from tests.store.conftest import Server, programs

from penstock.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

KILLS, SHORT_KILLS = 10_000, 6
REQUESTS, SHORT_REQUESTS = 1_000_000, 600
WINDOW_TOKENS = 8_000
_FACTOR = 1.3 / 4  # of bytes: what this provider counts
_CLIENTS, _TURNS, _RESULT_BYTES = 12, 24, 2_000
_SESSIONS = 0.004
"""How often a client begins a session, and does not only ask: a tenth of all requests are turns of one."""
_PATIENCE_SECONDS = 120.0
"""How long a client tries the same again: a gateway takes a second to start, on a busy machine several."""
_GROWTH_MIB = 16.0
"""How much more a gateway may take at the end of a soak than in the middle: what it holds of histories, 16 MiB of requests, takes
the first hundred thousand to fill."""
_MAX_MIB = 160.0
"""What it may take at all."""
_WEIGHTS = {"gateway": 5, "upstream": 5, "client": 8, "database": 2}


# ── the provider ─────────────────────────────────────────────────────────────────────────────────────────────────


def answer_to(question: str) -> str:
    """The one right answer to a question."""
    return f"{question} is {hashlib.sha256(question.encode()).hexdigest()}"


_ASKED = re.compile(rb"I ask (question-[0-9a-f]+-[0-9]+)")
_STUB = re.compile(rb"ctx_page\(handle=\\*\"([A-Za-z0-9]{22})")


def said(body: bytes, key: bytes, *, is_count: bool = False) -> tuple[int, Any]:
    """What the provider says to a request: a status and the content of its answer, or an error."""
    questions = _ASKED.findall(body)
    if not questions or questions[-1].split(b"-")[1] not in key:
        return 401, {"type": "authentication_error", "message": "another client's key"}
    tokens = int(len(body) * _FACTOR)
    if is_count:
        return 200, {"input_tokens": tokens}
    if tokens > WINDOW_TOKENS:
        message = f"prompt is too long: {tokens} tokens > {WINDOW_TOKENS} maximum"
        return 400, {"type": "invalid_request_error", "message": message}
    question = questions[-1].decode()
    handle = _STUB.search(body)
    is_read = body.rfind(b"toolu_back") > body.rfind(questions[-1])
    if handle and b'"ctx_page"' in body and not is_read and int(question.rpartition("-")[2]) % 4 == 0:
        arguments = {"handle": handle[1].decode(), "start_byte": 0, "max_bytes": 200}
        call = {"type": "tool_use", "id": f"toolu_back{secrets.token_hex(4)}", "name": "ctx_page", "input": arguments}
        return 200, [call]
    return 200, [{"type": "text", "text": answer_to(question)}]


def _message(content: list[Any]) -> dict[str, Any]:
    reason = "tool_use" if content[0]["type"] == "tool_use" else "end_turn"
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
    return {**head, "content": content, "stop_reason": reason, "usage": {"input_tokens": 9, "output_tokens": 1}}


def _events(content: list[Any]) -> Iterator[bytes]:
    """The events of an answer, its text in several."""
    (block,) = content
    is_text = block["type"] == "text"
    started = {**_message(content), "content": [], "stop_reason": None}
    opened = {**block, "text": ""} if is_text else {**block, "input": {}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": started},
        {"type": "content_block_start", "index": 0, "content_block": opened},
    ]
    whole = block["text"] if is_text else json.dumps(block["input"])
    for at in range(0, len(whole), 20):
        part = whole[at : at + 20]
        delta = {"type": "text_delta", "text": part} if is_text else {"type": "input_json_delta", "partial_json": part}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    events += [
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": _message(content)["stop_reason"]},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


async def serve_upstream(port: int) -> None:
    """Be the provider on a port."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                headers = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
                lower = {name.lower(): value for name, value in headers.items()}
                body = await reader.readexactly(int(lower.get(b"content-length", b"0")))
                await answer(writer, head, body, lower.get(b"x-api-key", b""))
                await writer.drain()
        writer.close()

    async def answer(writer: asyncio.StreamWriter, head: bytes, body: bytes, key: bytes) -> None:
        is_count = b"count_tokens" in head.partition(b"\r\n")[0]
        status, content = said(body, key, is_count=is_count)
        if status != 200:
            _write(writer, status, {"type": "error", "error": content})
        elif is_count:
            _write(writer, 200, content)
        elif b'"stream": true' in body:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            for event in _events(content):
                writer.write(b"%x\r\n%s\r\n" % (len(event), event))
                await asyncio.sleep(0)
            writer.write(b"0\r\n\r\n")
        else:
            _write(writer, 200, _message(content))

    server = await asyncio.start_server(handle, "127.0.0.1", port, limit=64 << 20, backlog=1_024)
    await server.serve_forever()


def _write(writer: asyncio.StreamWriter, status: int, value: Any) -> None:
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)


# ── clients ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Broken(Exception):
    """An answer that did not come whole, or a fault that was told: the client tries again."""


def wrong_in(status: int, body: bytes, question: str, *, is_stream: bool) -> str:
    """Say what is wrong with an answer that came whole; "" where nothing is.

    Raises:
        Broken: It tells of a fault: the provider or the store is away.
    """
    if status >= 500 or status == 429:
        raise Broken(f"{status} {body[:200]!r}")
    if status != 200:
        return f"{status} to a request that could be answered: {body[:300]!r}"
    if is_stream:
        events = [json.loads(line[6:]) for line in body.decode().splitlines() if line.startswith("data: ")]
        if any(event["type"] == "error" for event in events):
            raise Broken("an error in the stream")
        text = "".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta")
        if not events or events[-1]["type"] != "message_stop":
            return f"a stream that ends without its end: {body[-200:]!r}"
    else:
        text = "".join(block.get("text", "") for block in json.loads(body)["content"])
    if b"ctx_page" in body:
        return "a call of the gateway's own tools reached the client"
    return "" if text == answer_to(question) else f"{text[:150]!r} to {question}"


def wrong_in_count(status: int, body: bytes) -> str:
    """Say what is wrong with a count of tokens; "" where nothing is. Raises `Broken`."""
    if status >= 500 or status == 429:
        raise Broken(f"{status} {body[:200]!r}")
    return "" if status == 200 and json.loads(body)["input_tokens"] else f"a count: {status} {body[:200]!r}"


@dataclass(slots=True)
class Client:
    """Somebody who asks, with a key of its own."""

    key: str
    dice: random.Random
    asked: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    handles: dict[str, str] = field(default_factory=dict)
    """Handles of what was cut from its sessions, with the first of what was cut."""
    writer: asyncio.StreamWriter | None = None
    number: int = 0

    def question(self) -> str:
        """A question that nobody has asked before."""
        self.number += 1
        return f"question-{self.key[-16:]}-{self.number}"

    async def run(self, ports: list[int], end: asyncio.Event, count: list[int]) -> None:
        """Ask until told to end, or until as many were asked as are wanted."""
        while not end.is_set() and count[0] > 0:
            if self.dice.random() < _SESSIONS:
                await self._session(ports, end, count)
            else:
                await self._ask(ports, [], self.question(), end)
                count[0] -= 1

    async def _session(self, ports: list[int], end: asyncio.Event, count: list[int]) -> None:
        """Go on with a history until it is twice as long as the window, a different gateway at any turn."""
        messages: list[Any] = [{"role": "user", "content": f"Session {self.key[-16:]} {self.number}."}]
        for turn in range(_TURNS):
            question = self.question()
            line = f"result {question} "
            call = {"type": "tool_use", "id": f"t{turn}", "name": "read", "input": {}}
            result = {
                "type": "tool_result",
                "tool_use_id": f"t{turn}",
                "content": (line * _RESULT_BYTES)[:_RESULT_BYTES],
            }
            messages += [
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [result, {"type": "text", "text": f"I ask {question}."}]},
            ]
            if not await self._ask(ports, messages, question, end):
                return
            count[0] -= 1

    async def _ask(self, ports: list[int], messages: list[Any], question: str, end: asyncio.Event) -> bool:
        """Ask until it is answered; whether it was, rightly."""
        is_count = bool(messages) and self.dice.random() < 0.1
        body: dict[str, Any] = {"model": "m", "max_tokens": 100}
        is_stream = not is_count and self.dice.random() < 0.5
        body |= {"stream": True} if is_stream else {}
        body["messages"] = messages or [{"role": "user", "content": f"I ask {question}."}]
        if messages:
            body["tools"] = [{"name": "read", "description": "Read.", "input_schema": {"type": "object"}}]
        raw = json.dumps(body).encode()
        until = time.monotonic() + _PATIENCE_SECONDS
        why = ""
        while time.monotonic() < until:
            try:
                status, headers, got = await self._send(self.dice.choice(ports), raw, is_count=is_count)
                wrong = (
                    wrong_in_count(status, got) if is_count else wrong_in(status, got, question, is_stream=is_stream)
                )
            except (OSError, asyncio.IncompleteReadError, Broken) as error:
                why = repr(error)
                self.asked["tried again"] += 1
                await asyncio.sleep(self.dice.random() * 0.3)
                if end.is_set():
                    return False
                continue
            self._took(headers, wrong, question)
            return not wrong
        self.wrong.append(f"{question} was not answered within {_PATIENCE_SECONDS:g} s: {why[:300]}")
        return False

    def _took(self, headers: bytes, wrong: str, question: str) -> None:
        self.asked["answered"] += 1
        if wrong:
            self.wrong.append(wrong)
        if b"x-penstock-cut: " in headers:
            self.asked["cut"] += 1
            handles = headers.partition(b"x-penstock-handles: ")[2].partition(b"\r\n")[0].decode()
            if len(self.handles) < 2_000 and handles:
                self.handles.setdefault(handles.rpartition(",")[2], question)
        self.asked["recovered"] += bool(re.search(rb"x-penstock-refusals: [1-9]", headers))

    async def _send(self, port: int, body: bytes, *, is_count: bool) -> tuple[int, bytes, bytes]:
        """Send a body on a connection of its own; the status, the head and the body of the answer, all of it."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=64 << 20)
        self.writer = writer
        try:
            path = "/v1/messages/count_tokens" if is_count else "/v1/messages"
            head = (
                f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nx-api-key: {self.key}\r\n"
                f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            )
            writer.write(head.encode() + body)
            said_head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _PATIENCE_SECONDS)
            lower = said_head.lower()
            if b"transfer-encoding: chunked" in lower:
                parts = []
                while size := int(await reader.readline() or b"x", 16):
                    parts.append((await reader.readexactly(size + 2))[:-2])
                await reader.readline()
                got = b"".join(parts)
            else:
                got = await reader.readexactly(int(lower.partition(b"content-length: ")[2].partition(b"\r\n")[0]))
            return int(said_head.split(b" ", 2)[1]), said_head, got
        except ValueError as error:  # it broke off where the length of a chunk should stand
            raise Broken(str(error)) from error
        finally:
            self.writer = None
            writer.close()


# ── what stands, and falls ───────────────────────────────────────────────────────────────────────────────────────


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


class Standing:
    """Two gateways, their provider and their store, each of which can be killed and stands again.

    Args:
        home: where everything lies.
        gateways: how many.
        database: a server of PostgreSQL; None for a store in a folder.
    """

    def __init__(self, home: str, gateways: int, database: Server | None) -> None:
        self.home, self._database = home, database
        self.url = database.database(f"soak_{secrets.token_hex(4)}") if database else f"sqlite://{home}/store"
        self.upstream_port, self.ports = _free_port(), [_free_port() for _ in range(gateways)]
        self.log = open(os.path.join(home, "log"), "ab")  # noqa: SIM115 - closed by `close`
        self.upstream = self._start_upstream()
        self.gateways = [self._start_gateway(port) for port in self.ports]

    def _start_upstream(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "proof.soaked", "--upstream", str(self.upstream_port)]
        return subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def _start_gateway(self, port: int) -> subprocess.Popen[bytes]:
        behind = f"http://127.0.0.1:{self.upstream_port}"
        command = ["gateway", "--listen", f"127.0.0.1:{port}", "--upstream", behind, "--store", self.url]
        environment = {**os.environ, "HOME": self.home, "XDG_STATE_HOME": self.home, "TMPDIR": self.home}
        return subprocess.Popen(
            [sys.executable, "-m", "penstock", *command], env=environment, stdout=self.log, stderr=self.log
        )

    def kill(self, what: str, dice: random.Random) -> None:
        """Kill something, and let it stand again."""
        if what == "upstream":
            _killed(self.upstream)
            self.upstream = self._start_upstream()
        elif what == "gateway":
            number = dice.randrange(len(self.ports))
            _killed(self.gateways[number])
            self.gateways[number] = self._start_gateway(self.ports[number])
        elif what == "database" and self._database is not None:
            self._database.stop("immediate")
            self._database.start()

    def resident_mib(self) -> float:
        """What the first gateway takes."""
        with open(f"/proc/{self.gateways[0].pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024

    def processor_seconds(self) -> float:
        """What the first gateway has used."""
        with open(f"/proc/{self.gateways[0].pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End everything but the database."""
        for process in (*self.gateways, self.upstream):
            _killed(process)
        self.log.close()


def _killed(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def found_in(home: str, keys: list[str]) -> list[str]:
    """Every file of a folder that holds one of some keys."""
    pattern = re.compile(b"|".join(re.escape(key.encode()) for key in keys))
    found = []
    for at, _, names in os.walk(home):
        for name in names:
            path = os.path.join(at, name)
            with suppress(OSError):
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        if pattern.search(file.read()):
                            found.append(path)
    return found


def _answered(clients: list[Client]) -> int:
    return sum(client.asked["answered"] for client in clients)


async def _killing(
    standing: Standing, clients: list[Client], kills: int, dice: random.Random, until: float
) -> Counter[str]:
    """Kill so often, at random instants, while clients ask, and no longer than until then; how often what was killed."""
    end = asyncio.Event()
    endless = [1 << 60]
    asking = [asyncio.ensure_future(client.run(standing.ports, end, endless)) for client in clients]
    killed: Counter[str] = Counter()
    whats, weights = zip(*_WEIGHTS.items(), strict=True)
    loop = asyncio.get_running_loop()
    while killed.total() < kills and time.monotonic() < until:
        # A busy machine takes longer to start a gateway than this to kill one: who kills faster than that proves nothing.
        before, late = _answered(clients), time.monotonic() + _PATIENCE_SECONDS
        while _answered(clients) == before and time.monotonic() < late:
            await asyncio.sleep(0.01)
        await asyncio.sleep(dice.random() ** 2 * 0.4)
        (what,) = dice.choices(whats, weights)
        killed[what] += 1
        if what == "client":
            writer = dice.choice(clients).writer
            if writer is not None:
                writer.transport.abort()
        else:
            await loop.run_in_executor(None, standing.kill, what, dice)
    await asyncio.sleep(1.0)
    end.set()
    await asyncio.gather(*asking)
    return killed


async def _soaking(standing: Standing, clients: list[Client], requests: int, until: float) -> list[float]:
    """Ask so many requests, and no longer than until then; what the gateway takes, measured twice a second."""
    left, end = [requests], asyncio.Event()
    asking = asyncio.gather(*[client.run(standing.ports[:1], end, left) for client in clients])
    taken: list[float] = []
    while not asking.done():
        if time.monotonic() > until:
            end.set()
        taken.append(standing.resident_mib())
        await asyncio.sleep(0.5)
    await asking
    return taken


def _is_kept(url: str, clients: list[Client]) -> list[str]:
    """What was cut and does not read as it was sent."""
    store = open_store(url)
    wrong = []
    for client in clients:
        for handle in client.handles:
            text = store.read(handle, 0, 200).decode("utf-8", "replace")
            if f"question-{client.key[-16:]}-" not in text and f"Session {client.key[-16:]} " not in text:
                wrong.append(f"{handle} has {text[:80]!r}")
    wrong += map(str, store.check())
    store.close()
    return wrong


def _controls(home: str) -> list[str]:
    """What the rig itself does not notice."""
    right = answer_to("question-ab-1")
    blind = []
    for status, text, question in ((200, right, "question-ab-2"), (400, right, "question-ab-1")):
        body = json.dumps(_message([{"type": "text", "text": text}])).encode()
        if not wrong_in(status, body, question, is_stream=False):
            blind.append("a wrong answer")
    torn = b"".join(list(_events([{"type": "text", "text": right}]))[:-1])
    if not wrong_in(200, torn, "question-ab-1", is_stream=True):
        blind.append("a torn stream")
    planted = os.path.join(home, "planted")
    with open(planted, "w", encoding="ascii") as file:
        file.write("x-api-key: sk-planted-key\n")
    if found_in(home, ["sk-planted-key"]) != [planted]:
        blind.append("a key in a file")
    os.unlink(planted)
    return blind


def _clients(dice: random.Random) -> list[Client]:
    return [Client(f"sk-ant-{secrets.token_hex(24)}", random.Random(dice.random())) for _ in range(_CLIENTS)]


def measure(*, long: bool, seed: int, seconds: float = 1e9) -> Figure:
    """Requests that are answered wrongly, or keys that are kept, whatever is killed around a gateway.

    Args:
        long: The full form, with PostgreSQL.
        seed: Of the dice.
        seconds: How long the kills may take, and then the soak: who has less time than the full form sees how far it came.
    """
    dice = random.Random(seed)
    kills, requests = (KILLS, REQUESTS) if long else (SHORT_KILLS, SHORT_REQUESTS)
    with ExitStack() as stack:
        home = stack.enter_context(folder("soaked", MEMORY))
        database = None
        if long and (installed := programs()) is not None:
            database = Server(installed)
            stack.callback(database.close)
        wrong = [f"the rig does not notice {what}" for what in _controls(home)]
        standing, clients = Standing(home, 2, database), _clients(dice)
        try:
            killed = asyncio.run(_killing(standing, clients, kills, dice, time.monotonic() + seconds))
        finally:
            standing.close()
        wrong += _is_kept(standing.url, clients)
        alone, others = Standing(home, 1, database), _clients(dice)
        try:
            taken = asyncio.run(_soaking(alone, others, requests, time.monotonic() + seconds))
            spent = alone.processor_seconds()
        finally:
            alone.close()
        everybody = [*clients, *others]
        wrong += [line for client in everybody for line in client.wrong]
        keys = [client.key for client in everybody]
        wrong += [
            f"a key is in {path}" for at in (home, database and database.folder) if at for path in found_in(at, keys)
        ]
    asked = sum((client.asked for client in everybody), Counter[str]())
    soaked = sum(client.asked["answered"] for client in others)
    fifth = max(1, len(taken) // 5)
    before, after = max(taken[2 * fifth : 3 * fifth], default=0.0), max(taken[-fifth:], default=0.0)
    if after > _MAX_MIB or (long and after - before > _GROWTH_MIB):  # a short one has hardly filled what is bounded
        wrong.append(f"its memory is {after:.0f} MiB, and was {before:.0f}")
    kinds = ", ".join(f"{number} of the {what}" for what, number in sorted(killed.items()))
    return Figure(
        rig="R27",
        name="requests answered wrongly around a gateway",
        value=(
            f"{len(wrong)}; {asked['answered']} answered, {asked['cut']} of them cut, {asked['recovered']} refused behind it, "
            f"{asked['tried again']} tried again; {killed.total()} kills ({kinds}); memory {before:.0f} to {after:.0f} "
            f"MiB in {soaked} requests, {1_000 * spent / max(1, soaked):.2f} ms each"
        ),
        target=f"0, no key in any file, memory flat; {kills} kills, {requests} requests",
        met=not wrong and asked["cut"] > 0 and killed.total() >= kills and soaked >= requests,
        seed=seed,
        notes=tuple(wrong[:20]),
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--upstream"]:
        asyncio.run(serve_upstream(int(sys.argv[2])))
    else:
        sys.exit(main(measure))

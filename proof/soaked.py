"""R27: whatever is killed around a gateway, is a request answered wrongly, or a key kept, and does memory grow (W-1, W-4, W-6,
W-8)?

Gateways share one store. Clients ask short questions and continue long sessions, plain and streamed, with a provider that counts 30
% more than anybody would and refuses what is too long; some of its answers read back what was cut. Meanwhile a gateway, the
provider, a client in the middle of its request, or the database is killed, over and over: each by its own killer, as soon as it is
known to be running again, at a random instant after that. A client that gets a fault, or is disconnected, retries, as agents do; a
complete answer must be the one to its own question, and no client may ever hear that its request is too long. At the end what was
cut reads as it was sent, and no client's key is in any byte of any file.

Then a single gateway answers many requests, to see whether its memory grows. Controls: an answer to another question, a torn stream
that ends well and a key in a file are each detected.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import secrets
import sys
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from proof.figure import MEMORY, Figure, folder, main
from proof.soak_provider import answer_to, events_of, message
from proof.soak_standing import PROVIDER, Standing
from tests.store.conftest import Server, programs

from penstock.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

KILLS, SHORT_KILLS = 10_000, 8
REQUESTS, SHORT_REQUESTS = 1_000_000, 600
_GATEWAYS, _CLIENTS, _TURNS, _RESULT_BYTES = 3, 12, 24, 1_000
_LONG_SECONDS = 20.0
"""After this long, a waiting client is left alone: nothing more is killed until its answer comes."""
_PATIENCE_SECONDS = 120.0
"""The time limit for that. Everything may fall at each of a client's attempts, and a busy machine is slow to start anything."""
_GROWTH_MIB = 16.0
"""How much more memory a gateway may use at the end of a soak than in the middle: its held histories, 16 MiB of requests, take the
first hundred thousand requests to fill.
"""
_MAX_MIB = 160.0
"""The limit of its memory."""
_PAUSES: Final = {"gateway": 1.5, "provider": 1.2, "client": 0.3, "database": 15.0}
"""Within how many seconds something is killed once it is running: often at once, sometimes late."""
_SHARES: Final = {"gateway": 1.0, "provider": 0.3, "client": 0.5, "database": 0.1}
"""The largest share of each kind in all kills: those of clients and the provider cost next to nothing."""
_LOOK_SECONDS = 0.02
_SAID_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Habits:
    """What clients do."""

    sessions: float
    """How often a client starts a session instead of asking a single question."""
    streams: float
    """How often an answer is requested as a stream."""
    kept: float
    """How often a connection is reused."""


_WHILE_KILLED: Final = Habits(sessions=0.02, streams=0.5, kept=0.3)
"""A third of all requests are turns of sessions."""
_WHILE_SOAKED: Final = Habits(sessions=0.001, streams=0.1, kept=0.98)


# ── clients ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Broken(Exception):
    """An incomplete answer, or a reported fault: the client retries."""


def wrong_in(status: int, body: bytes, question: str, *, is_stream: bool) -> str:
    """Return what is wrong with a complete answer; "" if nothing is.

    Raises:
        Broken: It reports a fault: the provider or the store is away.
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
    """Return what is wrong with a token count; "" if nothing is. Raises `Broken`."""
    if status >= 500 or status == 429:
        raise Broken(f"{status} {body[:200]!r}")
    return "" if status == 200 and json.loads(body)["input_tokens"] else f"a count: {status} {body[:200]!r}"


_Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(slots=True)
class Client:
    """A client with its own key."""

    key: str
    dice: random.Random
    habits: Habits
    heard: Counter[int | str]
    """How often each gateway answered anybody, by its port, and how often a turn of a session was answered."""
    killed_at: list[float]
    """The times of the last kill."""
    asked: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    handles: dict[str, str] = field(default_factory=dict)
    """Handles of what was cut from its sessions, with the beginning of each content."""
    writer: asyncio.StreamWriter | None = None
    """The connection of its current request."""
    lines: dict[int, _Line] = field(default_factory=dict)
    """Kept connections, by port."""
    number: int = 0
    waits_since: float | None = None
    """The start of its current request."""

    def question(self) -> str:
        """A question that nobody has asked before."""
        self.number += 1
        return f"question-{self.key[-16:]}-{self.number}"

    async def run(self, ports: list[int], end: asyncio.Event, count: list[int]) -> None:
        """Ask until told to end, or until enough requests were made."""
        while not end.is_set() and count[0] > 0:
            if self.dice.random() < self.habits.sessions:
                await self._session(ports, end, count)
            else:
                await self._ask(ports, [], self.question())
                count[0] -= 1
        for _, writer in self.lines.values():
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _session(self, ports: list[int], end: asyncio.Event, count: list[int]) -> None:
        """Continue a history until it is twice as long as the window, with a different gateway at any turn."""
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
            if not await self._ask(ports, messages, question) or end.is_set():
                return
            self.heard["session"] += 1
            count[0] -= 1

    async def _ask(self, ports: list[int], messages: list[Any], question: str) -> bool:
        """Ask until answered; return whether the answer was right."""
        is_count = bool(messages) and self.dice.random() < 0.1
        body: dict[str, Any] = {"model": "m", "max_tokens": 100}
        is_stream = not is_count and self.dice.random() < self.habits.streams
        body |= {"stream": True} if is_stream else {}
        body["messages"] = messages or [{"role": "user", "content": f"I ask {question}."}]
        if messages:
            body["tools"] = [{"name": "read", "description": "Read.", "input_schema": {"type": "object"}}]
        raw = json.dumps(body).encode()
        self.waits_since, why = time.monotonic(), ""
        while time.monotonic() < max(self.waits_since, *self.killed_at) + _PATIENCE_SECONDS:
            port = self.dice.choice(ports)
            try:
                status, headers, got = await self._send(port, raw, is_count=is_count)
                wrong = (
                    wrong_in_count(status, got) if is_count else wrong_in(status, got, question, is_stream=is_stream)
                )
            except (OSError, asyncio.IncompleteReadError, Broken) as error:
                why = repr(error)
                self.asked["tried again"] += 1
                await asyncio.sleep(self.dice.random() * 0.3)
                continue
            self.waits_since = None
            self.heard[port] += 1
            self._took(headers, wrong, question)
            return not wrong
        self.wrong.append(f"{question} was not answered within {_PATIENCE_SECONDS:g} s of the last kill: {why[:300]}")
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
        """Send a body; return the status, the head and the whole body of the answer."""
        line = self.lines.pop(port, None)
        reader, writer = line or await asyncio.open_connection("127.0.0.1", port, limit=64 << 20)
        self.writer = writer
        try:
            path = "/v1/messages/count_tokens" if is_count else "/v1/messages"
            head = (
                f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nx-api-key: {self.key}\r\n"
                f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            async with asyncio.timeout(_PATIENCE_SECONDS):
                said_head, got = await _answer_on(reader)
            if self.dice.random() < self.habits.kept:
                self.lines[port] = reader, writer
            return int(said_head.split(b" ", 2)[1]), said_head, got
        except ValueError as error:  # it broke off where a chunk's length should be
            raise Broken(str(error)) from error
        finally:
            self.writer = None
            if port not in self.lines:
                writer.close()


async def _answer_on(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """The head and the whole body of an answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    lower = head.lower()
    if b"transfer-encoding: chunked" not in lower:
        return head, await reader.readexactly(int(lower.partition(b"content-length: ")[2].partition(b"\r\n")[0]))
    parts = []
    while size := int(await reader.readline() or b"x", 16):
        parts.append((await reader.readexactly(size + 2))[:-2])
    await reader.readline()
    return head, b"".join(parts)


# ── killers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _seconds_left(until: float) -> float:
    return until - time.monotonic()


@dataclass(kw_only=True, slots=True)
class Killing:
    """Everything is killed this often, at random instants, while clients ask, and no longer than until then."""

    standing: Standing
    database: Server | None
    clients: list[Client]
    heard: Counter[int | str]
    killed_at: list[float]
    kills: int
    until: float
    dice: random.Random
    killed: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    started_again: int = 0
    """How often a gateway ended by itself before it had answered anybody: while the database was away, as it must."""
    end: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Let clients ask while each killer does its work."""
        endless = [1 << 60]
        ports = self.standing.ports
        asking = [asyncio.ensure_future(client.run(ports, self.end, endless)) for client in self.clients]
        killers = [
            self._kill_over_and_over("provider", self._answers, partial(self._kill, PROVIDER)),
            self._kill_over_and_over("client", self._answers, self._break_off),
            *[
                self._kill_over_and_over(
                    "gateway", partial(self.heard.__getitem__, port), partial(self._kill, place), place
                )
                for place, port in enumerate(ports, start=1)
            ],
        ]
        if self.database is not None:
            killers.append(
                self._kill_over_and_over("database", partial(self.heard.__getitem__, "session"), self._stop_database)
            )
        await asyncio.gather(*killers, self._say())
        await asyncio.sleep(1.0)
        self.end.set()
        await asyncio.gather(*asking)

    def _answers(self) -> int:
        return sum(client.asked["answered"] for client in self.clients)

    def _is_over(self) -> bool:
        return self.killed.total() >= self.kills or _seconds_left(self.until) < 0

    async def _kill_over_and_over(
        self, kind: str, answers: Callable[[], int], kill: Callable[[], bool], place: int = PROVIDER
    ) -> None:
        """Kill one thing, each time it is known to be running again: an answer came in which it took part."""
        loop = asyncio.get_running_loop()
        before, looked = answers(), time.monotonic()
        while not self._is_over():
            if answers() == before:
                await asyncio.sleep(_LOOK_SECONDS)
                if place != PROVIDER and time.monotonic() > looked + 1.0:
                    looked = time.monotonic()
                    if await loop.run_in_executor(None, self.standing.is_gone, place):
                        self.started_again += 1
                        await loop.run_in_executor(None, kill)
                continue
            await asyncio.sleep(self.dice.random() ** 2 * _PAUSES[kind])
            while not self._is_over() and (self._somebody_waits() or self._had_its_share(kind)):
                await asyncio.sleep(_LOOK_SECONDS)
            if self._is_over():
                return
            before, looked = answers(), time.monotonic()
            self.killed_at[0] = looked
            done = kill() if kind == "client" else await loop.run_in_executor(None, kill)
            before = answers() if kind != "client" else before
            if done:
                self.killed[kind] += 1
            elif kind != "client":
                self.wrong.append(f"a {kind} that had answered ended by itself")

    def _somebody_waits(self) -> bool:
        late = time.monotonic() - _LONG_SECONDS
        return any(client.waits_since is not None and client.waits_since < late for client in self.clients)

    def _had_its_share(self, kind: str) -> bool:
        return self.killed[kind] > _SHARES[kind] * self.killed.total() + 1

    def _kill(self, place: int) -> bool:
        return self.standing.kill(place)

    def _break_off(self) -> bool:
        """Disconnect a client that waits for an answer; return whether there was one."""
        waiting = [client.writer for client in self.clients if client.writer is not None]
        if waiting:
            self.dice.choice(waiting).transport.abort()
        return bool(waiting)

    def _stop_database(self) -> bool:
        """Stop the database as a machine failure would, and restart it."""
        assert self.database is not None
        self.database.stop("immediate")
        self.database.start()
        return True

    async def _say(self) -> None:
        """Report progress, each minute."""
        said = time.monotonic()
        while not self._is_over():
            await asyncio.sleep(_LOOK_SECONDS)
            if time.monotonic() > said + _SAID_SECONDS:
                said = time.monotonic()
                wrong = self.wrong + [line for client in self.clients for line in client.wrong]
                print(
                    f"{dict(self.killed)}, {self._answers()} answered, wrong: {wrong[:3]}", file=sys.stderr, flush=True
                )


async def _soaking(standing: Standing, clients: list[Client], requests: int, until: float) -> list[float]:
    """Make this many requests, and no longer than until then; return the gateway's memory, measured twice a second."""
    left, end = [requests], asyncio.Event()
    asking = asyncio.gather(*[client.run(standing.ports[:1], end, left) for client in clients])
    taken = [standing.resident_mib()]
    while not asking.done():
        if _seconds_left(until) < 0:
            end.set()
        taken.append(standing.resident_mib())
        if len(taken) % int(2 * _SAID_SECONDS) == 0:
            print(f"{requests - left[0]} soaked, {taken[-1]:.0f} MiB", file=sys.stderr, flush=True)
        await asyncio.sleep(0.5)
    await asking
    return taken


# ── what is left ─────────────────────────────────────────────────────────────────────────────────────────────────


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


def _is_kept(url: str, clients: list[Client]) -> list[str]:
    """Cut content that does not read as it was sent."""
    store = open_store(url)
    wrong = []
    for client in clients:
        for handle in client.handles:
            text = store.read(handle, 0, 4 * _RESULT_BYTES).decode("utf-8", "replace")
            if f"question-{client.key[-16:]}-" not in text and f"Session {client.key[-16:]} " not in text:
                wrong.append(f"{handle} has {text[:80]!r}")
    wrong += map(str, store.check())
    store.close()
    return wrong


def _controls(home: str) -> list[str]:
    """Controls that the rig does not detect."""
    right = answer_to("question-ab-1")
    blind = []
    for status, text, question in ((200, right, "question-ab-2"), (400, right, "question-ab-1")):
        body = json.dumps(message([{"type": "text", "text": text}])).encode()
        if not wrong_in(status, body, question, is_stream=False):
            blind.append("a wrong answer")
    torn = b"".join(list(events_of([{"type": "text", "text": right}]))[:-1])
    if not wrong_in(200, torn, "question-ab-1", is_stream=True):
        blind.append("a torn stream")
    planted = os.path.join(home, "planted")
    with open(planted, "w", encoding="ascii") as file:
        file.write("x-api-key: sk-planted-key\n")
    if found_in(home, ["sk-planted-key"]) != [planted]:
        blind.append("a key in a file")
    os.unlink(planted)
    return blind


def _clients(dice: random.Random, habits: Habits, heard: Counter[int | str], killed_at: list[float]) -> list[Client]:
    def one() -> Client:
        return Client(f"sk-ant-{secrets.token_hex(24)}", random.Random(dice.random()), habits, heard, killed_at)

    return [one() for _ in range(_CLIENTS)]


def measure(*, long: bool, seed: int, seconds: float = 1e9) -> Figure:
    """Requests that are answered wrongly, or keys that are kept, whatever is killed around a gateway.

    Args:
        long: The full form, with PostgreSQL.
        seed: Of the random source.
        seconds: The time limit, two thirds of it for kills: a shorter limit than the full form's shows how far it came.
    """
    dice, started = random.Random(seed), time.monotonic()
    kills, requests = (KILLS, REQUESTS) if long else (SHORT_KILLS, SHORT_REQUESTS)
    heard, killed_at = Counter[int | str](), [0.0]
    clients = _clients(dice, _WHILE_KILLED, heard, killed_at)
    others = _clients(dice, _WHILE_SOAKED, heard, [0.0])
    with ExitStack() as stack:
        home = stack.enter_context(folder("soaked", MEMORY))
        database, url = None, f"sqlite://{home}/store"
        if long and (installed := programs()) is not None:
            database = Server(installed)
            stack.callback(database.close)
            url = database.database(f"soak_{secrets.token_hex(4)}")
        wrong = [f"the rig does not notice {what}" for what in _controls(home)]
        killing = Killing(
            standing=Standing(home, _GATEWAYS, url),
            database=database,
            clients=clients,
            heard=heard,
            killed_at=killed_at,
            kills=kills,
            until=started + seconds * 2 / 3,
            dice=dice,
        )
        try:
            asyncio.run(killing.run())
        finally:
            killing.standing.close()
        took = time.monotonic() - started
        wrong += killing.wrong + _is_kept(url, clients)
        alone = Standing(home, 1, url)
        try:
            taken = asyncio.run(_soaking(alone, others, requests, started + seconds))
            spent = alone.processor_seconds()
        finally:
            alone.close()
        everybody = [*clients, *others]
        keys = [client.key for client in everybody]
        wrong += [line for client in everybody for line in client.wrong]
        wrong += [
            f"a key is in {path}" for at in (home, database and database.folder) if at for path in found_in(at, keys)
        ]
    soaked = sum(client.asked["answered"] for client in others)
    before, after = _middle_and_end(taken)
    if after > _MAX_MIB or (long and after - before > _GROWTH_MIB):  # a short one has hardly filled the bounded caches
        wrong.append(f"its memory is {after:.0f} MiB, and was {before:.0f}")
    asked = sum((client.asked for client in everybody), Counter[str]())
    return Figure(
        rig="R27",
        name="requests answered wrongly around a gateway",
        value=(
            f"{len(wrong)}; {asked['answered']} answered, {asked['cut']} of them cut, {asked['recovered']} refused behind it, "
            f"{asked['tried again']} tried again; {_said_of(killing, took)}; memory {before:.0f} to {after:.0f} MiB in {soaked} "
            f"requests, {1_000 * spent / max(1, soaked):.2f} ms each"
        ),
        target=f"0, no key in any file, memory flat; {kills} kills, {requests} requests",
        met=not wrong and asked["cut"] > 0 and killing.killed.total() >= kills and soaked >= requests,
        seed=seed,
        notes=tuple(wrong[:20]),
    )


def _middle_and_end(taken: list[float]) -> tuple[float, float]:
    """The maximum in the middle fifth, and in the last."""
    fifth = max(1, len(taken) // 5)
    return max(taken[2 * fifth : 3 * fifth] or taken), max(taken[-fifth:])


def _said_of(killing: Killing, seconds: float) -> str:
    killed = killing.killed
    kinds = ", ".join(f"{number} of the {what}" for what, number in sorted(killed.items()))
    return (
        f"{killed.total()} kills ({kinds}; {killed.total() / seconds:.1f} a second; "
        f"{killing.started_again} starts that found no database)"
    )


if __name__ == "__main__":
    sys.exit(main(measure))

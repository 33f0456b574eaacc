"""What does the gateway add to a request? Processor time, lag and memory, compared with the same requests without it (W-9).

    python -m bench.gateway [--seconds 5]

An upstream and a load client of our own speak HTTP/1.1 over loopback and do nothing else. The gateway is compared with the same
server and the same client library with only a loop between them (`bare`): the cost without anything of ours. Processor time is
measured for both in turns, since it varies by up to a factor of two from hour to hour on one machine; times and lags are of this
machine at this hour.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from penstock.gateway.upstream import Upstream
from penstock.serving.listening import listen, serve_app

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

EVENTS, _EVENT_SECONDS = 40, 0.01
_ANSWER = json.dumps(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Fine."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 1},
    }
).encode()
_FIRST_EVENTS: tuple[dict[str, Any], ...] = (
    {"type": "message_start", "message": {**json.loads(_ANSWER), "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
)
_STREAMED, _LONG = re.compile(rb'"stream": ?true'), 10_000
_SENT_AT = re.compile(rb'"text": ?"(\d+\.\d{6})"')


# ── the upstream ─────────────────────────────────────────────────────────────────────────────────────────────────


async def serve_upstream() -> None:
    """Answer every request, a stream with `EVENTS` events that carry the time at which each was sent."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(
                    (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
                )
                body = await reader.readexactly(length)
                if len(body) < _LONG and _STREAMED.search(body):  # however a gateway writes it
                    await stream(writer)
                else:
                    writer.write(_response(_ANSWER, b"application/json"))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def stream(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for number in range(EVENTS):
            if writer.is_closing():  # a gateway that hung up: asyncio would warn about each further write
                return
            event = {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": f"{time.perf_counter():.6f}"},
            }
            if number < len(_FIRST_EVENTS):
                event = _FIRST_EVENTS[number]
            data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
            await asyncio.sleep(_EVENT_SECONDS)
        writer.write(b"0\r\n\r\n")

    server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=64 << 20, backlog=1_024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def _response(body: bytes, kind: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n%s" % (kind, len(body), body)


# ── nothing but the libraries ────────────────────────────────────────────────────────────────────────────────────


async def serve_bare(upstream: str) -> None:
    """Pass each request to an upstream, and its answer back, using uvicorn and aiohttp like the gateway."""
    listening = listen("127.0.0.1:0")
    print(listening.getsockname()[1], flush=True)
    upstreams = Upstream()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        parts, is_more = [], True
        while is_more:
            event = await receive()
            parts.append(event["body"])
            is_more = event["more_body"]
        url = upstream + scope["path"]
        response = await upstreams.send(scope["method"], url, scope["headers"], b"".join(parts))
        await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
        async for block in response.blocks():
            await send({"type": "http.response.body", "body": block, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    await serve_app(app, listening, lambda _: None, connection=HttpToolsProtocol)


# ── the client ───────────────────────────────────────────────────────────────────────────────────────────────────


async def event_lags(reader: asyncio.StreamReader) -> AsyncIterator[float]:
    """Read a stream to its end, and yield each event's time on the way, in seconds."""
    rest = b""
    while size := int(await reader.readline(), 16):
        *events, rest = (rest + await reader.readexactly(size)).split(b"\n\n")
        now = time.perf_counter()
        await reader.readexactly(2)
        for event in events:
            if sent := _SENT_AT.search(event):
                yield now - float(sent[1])
    await reader.readline()


async def ask(port: int, bodies: Any, connections: int, seconds: float) -> tuple[int, list[float], list[list[float]]]:
    """Send bodies over this many connections for this long; return how many, their times, and each stream's lags, in seconds."""
    until = time.perf_counter() + seconds
    times: list[float] = []
    lags: list[list[float]] = []

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=64 << 20)
        while time.perf_counter() < until and (body := next(bodies, None)) is not None:
            begun = time.perf_counter()
            writer.write(
                b"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:%d\r\nx-api-key: k\r\ncontent-type: application/json\r\n"
                b"content-length: %d\r\n\r\n" % (port, len(body))
            )
            writer.write(body)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            if b"chunked" in head.lower():
                lags.append([lag async for lag in event_lags(reader)])
            else:
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                await reader.readexactly(length)
            times.append(time.perf_counter() - begun)
        writer.close()

    await asyncio.gather(*[one() for _ in range(connections)])
    return len(times), times, lags


def plain() -> Any:
    """Yield small requests forever."""
    body = json.dumps({"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "x" * 100}]}).encode()
    while True:
        yield body


_SESSIONS, _TURNS, _RESULT_BYTES = 10, 5, 50_000
_TEXT = Path(json.__file__).read_text() * 5


def session(number: int, turn: int) -> bytes:
    """Return a request of about 1 MB; each turn of a session adds 50 KB."""
    messages: list[Any] = [{"role": "user", "content": f"Task {number}."}]
    for step in range(20 + turn):
        text = f"{number} {step} {_TEXT}"[:_RESULT_BYTES]
        messages += [
            {"role": "assistant", "content": [{"type": "tool_use", "id": f"t{step}", "name": "r", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{step}", "content": text}]},
        ]
    return json.dumps({"model": "m", "max_tokens": 100, "messages": messages}).encode()


def first_turns() -> Any:
    """Yield the first requests of some sessions, about which nothing is known."""
    yield from [session(number, 0) for number in range(_SESSIONS)]


def later_turns() -> Any:
    """Yield the later requests of the same sessions."""
    yield from [session(number, turn) for turn in range(1, _TURNS) for number in range(_SESSIONS)]


def streams(number: int) -> Any:
    """Yield this many small requests for a stream."""
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}).encode()
    yield from [body] * number


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────


def _processor_seconds(pid: int) -> float:
    """Return the processor time of all threads of a process, to the nanosecond instead of the clock's hundredth of a second."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()) / 1e9


def _peak_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def _at(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] * 1_000 if values else float("nan")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--upstream", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--bare", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.upstream:
        asyncio.run(serve_upstream())
        return
    if given.bare:
        asyncio.run(serve_bare(given.bare))
        return
    with tempfile.TemporaryDirectory() as folder:
        behind, behind_port = _started("--upstream")
        bare, bare_port = _started("--bare", f"http://127.0.0.1:{behind_port}")
        settings = {
            "--listen": "127.0.0.1:0",
            "--upstream": f"http://127.0.0.1:{behind_port}",
            "--store": f"sqlite:///{folder}/store.db",
            "--window": "m=900000",
        }
        command = [sys.executable, "-m", "penstock", "gateway", *chain.from_iterable(settings.items())]
        gateway = subprocess.Popen(command, stderr=subprocess.PIPE)
        assert gateway.stderr is not None
        port = int(gateway.stderr.readline().split()[2].rpartition(b":")[2])
        try:
            _table((port, gateway.pid), (bare_port, bare.pid), (behind_port, behind.pid), given.seconds)
        finally:
            for process in (gateway, bare, behind):
                process.terminate()
                process.wait()


def _started(*flags: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start this program as a server, and return it with its port."""
    server = subprocess.Popen([sys.executable, "-m", "bench.gateway", *flags], stdout=subprocess.PIPE)
    assert server.stdout is not None
    return server, int(server.stdout.readline())


def _table(gateway: tuple[int, int], bare: tuple[int, int], upstream: tuple[int, int], seconds: float) -> None:
    """Measure a gateway and the bare libraries, each given by its port and its process, in turns."""
    for port, _ in (bare, gateway):  # what is loaded at the first request does not count for the next ones
        asyncio.run(ask(port, iter([session(_SESSIONS, turn) for turn in range(2)]), 1, 60))
    print("| | requests | CPU ms a request (bare) | p50 ms (bare, direct) | p99 ms (bare, direct) |")
    print("|---|---|---|---|---|")
    rows: list[tuple[str, Any, int]] = [
        ("200 bytes, 1 connection", plain, 1),
        ("200 bytes, 32 connections", plain, 32),
        ("1 MB, all of it new", first_turns, 1),
        ("1 MB, 50 KB of it new", later_turns, 1),
    ]
    for name, bodies, connections in rows:
        _, direct, _ = asyncio.run(ask(upstream[0], bodies(), connections, seconds / 2))
        done, times, spent = {}, {}, {}
        for who, (port, pid) in (("bare", bare), ("gateway", gateway)):
            made, before = bodies(), _processor_seconds(pid)
            done[who], times[who], _ = asyncio.run(ask(port, made, connections, seconds))
            spent[who] = (_processor_seconds(pid) - before) / max(1, done[who]) * 1_000
        shown = [
            f"{_at(times['gateway'], share):.2f} ({_at(times['bare'], share):.2f}, {_at(direct, share):.2f})"
            for share in (0.5, 0.99)
        ]
        print(
            f"| {name} | {done['gateway']} | {spent['gateway']:.2f} ({spent['bare']:.2f}) | {shown[0]} | {shown[1]} |",
            flush=True,
        )
    _streams({"direct": upstream, "bare": bare, "gateway": gateway})
    print(f"Peak of the gateway's memory: {_peak_mib(gateway[1]):.0f} MiB")


_ROUNDS, _BEGINNING_EVENTS = 3, 10


def _streams(servers: dict[str, tuple[int, int]]) -> None:
    """Measure the lag of events, in turns; the measured process has a core of its own, if there are two.

    All streams start at the same moment, and on two cores the four processes would measure each other as much as the gateway. The
    lag after all have started is reported separately.
    """
    cores = os.sched_getaffinity(0)
    own = {max(cores)} if len(cores) > 1 else cores
    others = (cores - own) or cores
    for pid, where in (
        (servers["direct"][1], others),
        (os.getpid(), others),
        (servers["bare"][1], own),
        (servers["gateway"][1], own),
    ):
        for task in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), where)
    lags: dict[str, list[list[float]]] = {name: [] for name in servers}
    used = dict.fromkeys(servers, 0.0)
    for _ in range(_ROUNDS):
        for name, (port, pid) in servers.items():
            before = _processor_seconds(pid)
            lags[name] += asyncio.run(ask(port, streams(256), 256, 60))[2]
            used[name] += _processor_seconds(pid) - before
    direct = list(chain.from_iterable(lags["direct"]))
    for name, found in lags.items():
        of_all, later = (
            list(chain.from_iterable(stream[since:] for stream in found)) for since in (0, _BEGINNING_EVENTS)
        )
        print(
            f"256 streams, {name}: lag of an event p50 {_at(of_all, 0.5):.1f} ms, p99 {_at(of_all, 0.99):.1f} ms "
            f"({_at(of_all, 0.99) - _at(direct, 0.99):+.1f} to direct); behind the first {_BEGINNING_EVENTS} of each stream "
            f"p50 {_at(later, 0.5):.1f} ms, p99 {_at(later, 0.99):.1f} ms; "
            f"{used[name] / (_ROUNDS * 256 * EVENTS) * 1e6:.0f} us of its processor time"
        )


if __name__ == "__main__":
    main()

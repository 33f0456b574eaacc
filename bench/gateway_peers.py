"""What do gateways change, and what do they cost? Ours next to LiteLLM, Portkey and Headroom, in one run (W-1, W-9).

    scripts/tools peers && python -m bench.gateway_peers [--seconds 10] [--only Penstock,LiteLLM]

Fidelity: a Messages and a chat request with unusual order, escapes, numbers, unknown fields and signed thinking are sent through
each, and the result is compared, byte by byte and value by value. Cost: processor time per request of the gateway and all its
children, small requests over 32 connections and 1 MB over one; and for 256 concurrent streams, each event's time on the way. Each
has its default settings, except for what it needs to reach this run's upstream, which answers at once; a limit on requests per
minute is off. What a gateway does for its price differs.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from bench.gateway import _ANSWER, EVENTS, event_lags, session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOOLS = Path(os.environ.get("PENSTOCK_TOOLS") or Path.home() / ".cache" / "penstock-tools")
_START_SECONDS = 400.0  # a peer takes 20 s on a quiet machine
_KEY = "sk-0123456789abcdefghijklmnopqrstuvwxyz"
_TICKS = os.sysconf("SC_CLK_TCK")

# What hosts and SDKs send and JSON writers change: order, escapes, whole floats, integers of 20 digits, fields that last year's
# schema lacks, signed thinking without text.
_MESSAGES = rb"""{"stream": false ,"max_tokens":64,"x_unknown":{"b":1.0,"a":1e3,"big":12345678901234567890},
"metadata":{"user_id":"u\u00e9"},"model":"m","context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},
"messages":[{"role":"user","content":[{"type":"text","text":"caf\u00e9 \/ 1","cache_control":{"type":"ephemeral"}}]},
{"content":[{"type":"thinking","thinking":"","signature":"c2lnbmVk"},{"type":"text","text":"ok"}],"role":"assistant"},
{"role":"user","content":"go on"}],
"tools":[{"name":"read","input_schema":{"type":"object","properties":{}},"description":"Read."}]}"""
_CHAT = rb"""{"temperature":1.0,"model":"c","x_unknown":{"b":1.0,"a":1e3,"big":12345678901234567890},"stream":false,
"messages":[{"content":"caf\u00e9","role":"user"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",
"function":{"name":"f","arguments":"{ }"}}]},{"role":"tool","tool_call_id":"c1","content":"1.0"}],"metadata":{"k":"v"}}"""
_SENT_HEADERS = {
    "anthropic-beta": "context-management-2025-06-27,prompt-caching-2024-07-31",
    "anthropic-version": "2023-06-01",
    "user-agent": "claude-cli/2.1.332",
    "x-claude-code-session-id": "11111111-2222-3333-4444-555555555555",
}
_CHAT_ANSWER = json.dumps(
    {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Fine."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
    }
).encode()


class Peer(NamedTuple):
    """A gateway, how it is started, and how it is asked."""

    name: str
    command: Callable[[int, str, str], list[str]]
    """A function of a port, the upstream's address and a folder."""
    headers: Callable[[str], dict[str, str]] = lambda _: {}
    """Additional headers that it needs, given the upstream's address."""
    environment: Callable[[str, str], dict[str, str]] = lambda _url, _folder: {}
    """A function of the upstream's address and a folder."""


def _litellm(port: int, upstream: str, folder: str) -> list[str]:
    config = Path(folder) / "litellm.yaml"
    config.write_text(
        json.dumps(
            {
                "model_list": [
                    {
                        "model_name": name,
                        "litellm_params": {"model": f"{kind}/{name}", "api_base": base, "api_key": _KEY},
                    }
                    for name, kind, base in (("m", "anthropic", upstream), ("c", "openai", f"{upstream}/v1"))
                ],
                "general_settings": {"master_key": _KEY},
                "litellm_settings": {"telemetry": False},
            }
        )
    )
    program = str(TOOLS / "peer-litellm" / "bin" / "litellm")
    return [program, "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]


def _ours(port: int, upstream: str, folder: str) -> list[str]:
    arguments = ["--listen", f"127.0.0.1:{port}", "--upstream", upstream, "--store", f"sqlite://{folder}/store"]
    return [sys.executable, "-m", "penstock", "gateway", *arguments, "--window", "m=900000"]


PEERS = (
    Peer("Penstock", _ours),
    Peer(
        "LiteLLM",
        _litellm,
        lambda _: {"authorization": f"Bearer {_KEY}"},
        lambda upstream, _: {"ANTHROPIC_API_BASE": upstream, "LITELLM_TELEMETRY": "False"},
    ),
    Peer(
        "Portkey",
        lambda port, _, __: [
            "node",
            str(TOOLS / "peer-portkey/node_modules/@portkey-ai/gateway/build/start-server.js"),
            f"--port={port}",
            "--headless",
        ],
        lambda upstream: {"x-portkey-custom-host": f"{upstream}/v1"},
    ),
    Peer(
        "Headroom",
        lambda port, _, __: [
            str(TOOLS / "peer-headroom" / "bin" / "headroom"),
            *("proxy", "--host", "127.0.0.1", "--port", str(port), "--no-rate-limit", "--no-http2"),
        ],
        environment=lambda upstream, folder: {
            "ANTHROPIC_TARGET_API_URL": upstream,
            "OPENAI_TARGET_API_URL": f"{upstream}/v1",
            "HOME": folder,
            "HEADROOM_TELEMETRY": "off",
        },
    ),
)


class _Addressed(Protocol):
    url: str


class Upstream(ThreadingHTTPServer):
    """Answers every request at once, and keeps the bytes of the last."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        self.body, self.heard = b"", {"": ""}
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server.heard = {name.lower(): value for name, value in self.headers.items()}
                server.body = self.rfile.read(int(self.headers.get("content-length") or 0))
                answer = _CHAT_ANSWER if "chat" in self.path else _ANSWER
                head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(answer)}\r\n\r\n"
                self.wfile.write(head.encode() + answer)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"


def differences(sent: Any, came: Any, at: str = "") -> Iterator[str]:
    """Yield the differences of two values: missing, added, moved and changed members, by their path."""
    if isinstance(sent, dict) and isinstance(came, dict):
        yield from (f"{at}{name} gone" for name in sent if name not in came)
        yield from (f"{at}{name} added" for name in came if name not in sent)
        shared = [name for name in sent if name in came]
        if shared != [name for name in came if name in sent]:
            yield f"{at or 'body '}reordered"
        for name in shared:
            yield from differences(sent[name], came[name], f"{at}{name}.")
    elif isinstance(sent, list) and isinstance(came, list):
        if len(sent) != len(came):
            yield f"{at} {len(sent)} items, then {len(came)}"
        for number, (one, other) in enumerate(zip(sent, came, strict=False)):
            yield from differences(one, other, f"{at}{number}.")
    elif repr(sent) != repr(came):  # 1 and 1.0 are not the same bytes
        yield f"{at.rstrip('.')} {json.dumps(sent)[:30]} is {json.dumps(came)[:30]}"


def fidelity(upstream: Upstream, port: int, peer: Peer, path: str, body: bytes) -> str:
    """Return what a gateway changes in a request, as a cell of a table."""
    upstream.body = b""
    status, _ = _post(upstream, port, peer, path, body)
    if status != 200 or not upstream.body:
        return f"answered {status}"
    lost = [name for name, value in _SENT_HEADERS.items() if upstream.heard.get(name) != value]
    headers = f"; headers lost or changed: {', '.join(lost)}" if lost else ""
    if upstream.body == body:
        return f"**identical**, {len(body)} bytes{headers}"
    found = list(differences(json.loads(body), json.loads(upstream.body)))
    told = ", ".join(found[:9]) + (f" and {len(found) - 9} more" if len(found) > 9 else "")
    return f"{len(body)} to {len(upstream.body)} bytes: {told or 'written anew, values the same'}{headers}"


def _headers(upstream: _Addressed, peer: Peer, path: str) -> dict[str, str]:
    own = peer.headers(upstream.url)
    if peer.name == "Portkey":
        own |= {"x-portkey-provider": "openai" if "chat" in path else "anthropic"}
    return {
        "x-api-key": _KEY,
        "authorization": f"Bearer {_KEY}",
        "content-type": "application/json",
        **_SENT_HEADERS,
        **own,
    }


def _head(upstream: _Addressed, peer: Peer, port: int) -> bytes:
    """Return the head of a message request, without its length."""
    path = "/v1/messages"
    lines = [f"POST {path} HTTP/1.1", f"host: 127.0.0.1:{port}"]
    lines += [f"{name}: {value}" for name, value in _headers(upstream, peer, path).items()]
    return "".join(f"{line}\r\n" for line in lines).encode()


def _post(upstream: _Addressed, port: int, peer: Peer, path: str, body: bytes) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("POST", path, body, _headers(upstream, peer, path))
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


async def ask(port: int, head: bytes, bodies: Iterator[bytes], connections: int, seconds: float) -> int:
    """Send bodies over this many connections for this long; return how many were answered with 200."""
    until, done = time.perf_counter() + seconds, 0

    async def one() -> None:
        nonlocal done
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=64 << 20)
        while time.perf_counter() < until and (body := next(bodies, None)) is not None:
            writer.write(head + b"content-length: %d\r\n\r\n" % len(body) + body)
            answer = (await reader.readuntil(b"\r\n\r\n")).lower()
            assert b" 200 " in answer[:20], answer[:300]
            if b"chunked" in answer:
                while size := int(await reader.readline(), 16):
                    await reader.readexactly(size + 2)
                await reader.readline()
            else:
                await reader.readexactly(int(answer.partition(b"content-length: ")[2].partition(b"\r\n")[0]))
            done += 1
        writer.close()

    await asyncio.gather(*[one() for _ in range(connections)])
    return done


def _family(pid: int) -> list[int]:
    """A process and all its descendants."""
    found = [pid]
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                found += _family(int(child))
    return found


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process and its children."""
    spent = 0
    for one in _family(pid):
        with suppress(OSError):
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            spent += int(fields[11]) + int(fields[12])
    return spent / _TICKS


def resident_mib(pid: int) -> float:
    """Return the memory of a process and its children."""
    taken = 0
    for one in _family(pid):
        with suppress(OSError, StopIteration):
            lines = Path(f"/proc/{one}/status").read_text().splitlines()
            taken += next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return taken / 1024


def _small() -> Iterator[bytes]:
    body = json.dumps({"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "x" * 100}]}).encode()
    while True:
        yield body


def cost(upstream: Upstream, port: int, peer: Peer, pid: int, seconds: float) -> str:
    """Return the cells of a gateway's cost."""
    head = _head(upstream, peer, port)
    cells = []
    rows: list[tuple[Iterator[bytes], int]] = [(_small(), 32), (iter([session(900, 0), *map(_turn, range(8))]), 1)]
    asyncio.run(
        ask(port, head, islice(_small(), 64), 8, seconds)
    )  # what is loaded with the first requests does not count
    for bodies, connections in rows:
        before, begun = processor_seconds(pid), time.perf_counter()
        try:
            done = asyncio.run(ask(port, head, bodies, connections, seconds))
        except (AssertionError, OSError, asyncio.IncompleteReadError) as error:
            cells.append(f"failed: {str(error)[:80]}")
            continue
        spent = processor_seconds(pid) - before
        rate = done / (time.perf_counter() - begun)
        cells.append(f"{1_000 * spent / max(1, done):.2f} ({done}, {rate:.0f}/s)")
    return f"{' | '.join(cells)} | {resident_mib(pid):.0f}"


STREAMS = 256


def streaming(upstream: Streaming, port: int, peer: Peer, pid: int) -> str:
    """Return the cells of a gateway's streams: each event's time on the way, and the cost."""
    body = b'{"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "x"}], "stream": true}'
    request = _head(upstream, peer, port) + b"content-length: %d\r\n\r\n%s" % (len(body), body)

    async def one(lags: list[float]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with suppress(AssertionError, OSError, asyncio.IncompleteReadError):
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            assert b" 200 " in head[:20]
            lags += [lag async for lag in event_lags(reader)]
        writer.close()

    async def all_at_once(number: int) -> list[float]:
        lags: list[float] = []
        await asyncio.wait_for(asyncio.gather(*[one(lags) for _ in range(number)]), 120)
        return sorted(lags)

    asyncio.run(all_at_once(8))
    before = processor_seconds(pid)
    lags = asyncio.run(all_at_once(STREAMS))
    if not lags:
        return "no event | "
    spent = (processor_seconds(pid) - before) / len(lags)
    middle, late = (1_000 * lags[int(len(lags) * share)] for share in (0.5, 0.99))
    came = len(lags) / STREAMS / (EVENTS - 2)  # the first two of a stream carry no time
    return f"{middle:.0f}, {late:.0f} ({came:.0%} of the events) | {1e6 * spent:.0f}"


class Streaming:
    """The upstream of `bench.gateway`, in a separate process: its work must not hold up the client."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "bench.gateway", "--upstream"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


def _turn(number: int) -> bytes:
    return session(901 + number, 0)


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def start(peer: Peer, upstream: _Addressed, folder: str, stack: ExitStack) -> tuple[int, int, float]:
    """Start a gateway, and return its port, its process, and the time until it answered."""
    port = _free_port()
    log = stack.enter_context((Path(folder) / f"{peer.name}.log").open("wb"))
    process = subprocess.Popen(
        peer.command(port, upstream.url, folder),
        env={**os.environ, **peer.environment(upstream.url, folder)},
        cwd=folder,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    stack.callback(process.wait)
    stack.callback(os.killpg, process.pid, signal.SIGKILL)
    begun = time.perf_counter()
    while time.perf_counter() - begun < _START_SECONDS:
        if process.poll() is not None:
            break
        with suppress(OSError, http.client.HTTPException):
            if _post(upstream, port, peer, "/v1/messages", next(_small()))[0] == 200:
                return port, process.pid, time.perf_counter() - begun
        time.sleep(0.2)
    raise RuntimeError(f"{peer.name} does not answer: {(Path(folder) / f'{peer.name}.log').read_text()[-600:]}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--only", default=",".join(peer.name for peer in PEERS))
    given = parser.parse_args()
    costs: list[str] = []
    streamed: list[str] = []
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        upstream, streams = Upstream(), Streaming()
        stack.callback(streams.close)
        Thread(target=upstream.serve_forever, daemon=True).start()
        print("| Gateway | Messages | Chat completions |\n|---|---|---|")
        for peer in [peer for peer in PEERS if peer.name in given.only.split(",")]:
            with ExitStack() as own:
                try:
                    port, pid, seconds = start(peer, upstream, folder, own)
                except (RuntimeError, OSError) as error:
                    print(f"| {peer.name} | not run: {str(error)[:300]!r} | |", flush=True)
                    continue
                cells = [
                    fidelity(upstream, port, peer, path, body)
                    for path, body in (("/v1/messages", _MESSAGES), ("/v1/chat/completions", _CHAT))
                ]
                print(f"| {peer.name} | {' | '.join(cells)} |", flush=True)
                costs.append(f"| {peer.name} | {seconds:.1f} | {cost(upstream, port, peer, pid, given.seconds)} |")
            with ExitStack() as own, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as fresh:
                port, pid, _ = start(peer, streams, fresh, own)
                streamed.append(f"| {peer.name} | {streaming(streams, port, peer, pid)} |")
    print("\n| Gateway | s to start | CPU ms, 200 bytes, 32 connections | CPU ms, 1 MB all new, 1 connection | MiB |")
    print("|---|---|---|---|---|")
    print("\n".join(costs))
    print(f"\n| Gateway | {STREAMS} streams: lag of an event in ms, p50 and p99 | CPU us an event |\n|---|---|---|")
    print("\n".join(streamed))


if __name__ == "__main__":
    main()

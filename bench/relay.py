"""What does the relay cost? Small calls directly and through it; passing megabytes, compared with `cat`; results that are kept.

Prints a Markdown table. The server is a plain loop over lines, so that only the relay in front of it is measured.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLS = 2_000
MEGABYTES = int(os.environ.get("PENSTOCK_BENCH_MB", "512"))
KEPT_MEGABYTES = 64
SERVER = r"""
import json, sys
MB = 1 << 20
log = "".join(f"2026-11-21 04:00:00 INFO request {n} handled in 12 ms by worker 7\n" for n in range(1_000_000))
for line in sys.stdin.buffer:
    message = json.loads(line)
    name, size = message["params"]["name"], message["params"]["arguments"].get("mb", 0)
    out = sys.stdout.buffer
    if name == "notes":
        note = b'{"jsonrpc":"2.0","method":"notifications/message","params":"' + b"x" * MB + b'"}\n'
        for _ in range(size):
            out.write(note)
    if name == "line":
        out.write(b'{"jsonrpc":"2.0","method":"notifications/message","params":"')
        for _ in range(size):
            out.write(b"x" * MB)
        out.write(b'"}\n')
    text = (log * (size * MB // len(log) + 1))[: size * MB] if name in {"log", "rows"} else "small"
    result = {"content": [{"type": "text", "text": text}]}
    if name == "rows":
        rows = [{"id": n, "name": f"n{n}", "ok": True, "tags": ["a", "b"]} for n in range(size * MB // 60)]
        result = {"content": [{"type": "text", "text": "Rows."}], "structuredContent": {"rows": rows}}
    out.write(json.dumps({"result": result, "jsonrpc": "2.0", "id": message["id"]}).encode() + b"\n")
    out.flush()
"""
RELAY = [sys.executable, "-m", "penstock", "relay", "--"]


@contextmanager
def served(folder: str, *before: str) -> Iterator[subprocess.Popen[bytes]]:
    """The server, with or without something in front of it."""
    path = os.path.join(folder, "server.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SERVER)
    environment = {**os.environ, "PENSTOCK_STORE": os.path.join(folder, "store")}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*before, sys.executable, path], stdin=pipe, stdout=pipe, env=environment, bufsize=0
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def ask(process: subprocess.Popen[bytes], name: str, megabytes: int = 0) -> tuple[float, int]:
    """Seconds until the answer to a call has come, and its bytes."""
    assert process.stdin is not None
    assert process.stdout is not None
    params = {"name": name, "arguments": {"mb": megabytes}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    started, came, tail = time.perf_counter(), 0, b""
    process.stdin.write(json.dumps(request).encode() + b"\n")
    while True:
        part = os.read(process.stdout.fileno(), 1 << 20)
        came, tail = came + len(part), (tail + part)[-40:]
        if tail.endswith((b'"id": 1}\n',)):
            return time.perf_counter() - started, came
        assert part


def peak_megabytes(process: subprocess.Popen[bytes]) -> float:
    """The peak memory of a process."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return next(int(row.split()[1]) for row in file if row.startswith("VmHWM")) / 1024


def small_calls(folder: str) -> float:
    """The added milliseconds of a small call, at the median; direct calls and calls through it alternate."""
    with served(folder) as direct, served(folder, *RELAY) as through:
        seconds: dict[int, list[float]] = {0: [], 1: []}
        for _ in range(CALLS):
            for at, process in enumerate((direct, through)):
                seconds[at].append(ask(process, "small")[0])
    added = 1000 * (statistics.median(seconds[1]) - statistics.median(seconds[0]))
    direct_ms = 1000 * statistics.median(seconds[0])
    print(f"| added to a small call, median of {CALLS} | {added:.3f} ms | {direct_ms:.3f} ms directly | at most 2 ms |")
    return added


def passing(folder: str, what: str, name: str) -> tuple[float, float]:
    """Megabytes per second through the relay, and its peak memory."""
    with served(folder, "sh", "-c", '"$@" | cat', "-") as direct:
        ask(direct, "small")
        seconds, came = ask(direct, name, MEGABYTES)
        raw = came / seconds / 1e6
    with served(folder, *RELAY) as through:
        ask(through, "small")
        seconds, came = ask(through, name, MEGABYTES)
        rate, peak = came / seconds / 1e6, peak_megabytes(through)
    print(f"| {what} | {rate:.0f} MB/s, {peak:.0f} MB of memory | {raw:.0f} MB/s through `cat` | at least 100 MB/s |")
    return rate, peak


def keeping(folder: str, what: str, name: str) -> float:
    """Megabytes per second of a result that is kept and cut, without the server's own time to write it."""
    with served(folder) as direct:
        ask(direct, "small")
        alone, size = ask(direct, name, KEPT_MEGABYTES)
    with served(folder, *RELAY) as through:
        ask(through, "small")
        seconds, _ = ask(through, name, KEPT_MEGABYTES)
        peak = peak_megabytes(through)
    rate = size / 1e6 / max(seconds - alone, 1e-9)
    print(
        f"| {what}, {size / 1e6:.0f} MB on one line, kept | {rate:.0f} MB/s, {peak:.0f} MB of memory "
        f"| {alone:.1f} s alone, {seconds:.1f} s in all | at least 15 MB/s |"
    )
    return rate


def main() -> int:
    """1 if a target is missed."""
    print("| | the relay | beside it | target |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        added = small_calls(folder)
        rates = [
            passing(folder, f"{MEGABYTES} messages of 1 MB", "notes")[0],
            passing(folder, f"one message of {MEGABYTES} MB", "line")[0],
        ]
        kept = [keeping(folder, "a log", "log"), keeping(folder, "structured content", "rows")]
    return int(added > 2 or min(rates) < 100 or min(kept) < 15)


if __name__ == "__main__":
    sys.exit(main())

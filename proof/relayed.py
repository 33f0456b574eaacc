"""R26: whatever is killed around a relay, and whenever, does anything hang, and is any process left (Y-2)?

A real relay stands in front of a real server that has started a process of its own, while calls, floods and pages go back and
forth. At a random instant the relay or the server is killed, told to end, or their host goes away. Everything must end in time, and
no process with the run's mark may be left: not the server, not what it started, not its watch. Control: the same server without a
group and a watch, whose relay is killed, leaves processes.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from proof.figure import MEMORY, Figure, folder, main

_RUNS, _SHORT_RUNS = 1_000, 4
_MAX_SECONDS = 20.0
"""The time limit for everything to end: a program that ignores its host's end is given five seconds twice."""
_MARK = "PENSTOCK_RIG"
_SERVER = """
import json, signal, subprocess, sys, time
deaf = sys.argv[1] == "deaf"
if deaf:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
for line in sys.stdin:
    message = json.loads(line)
    size = message["params"]["arguments"].get("size", 0)
    result = {"content": [{"type": "text", "text": "a line\\n" * size}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
while deaf:
    time.sleep(600)
child.kill()
"""
_RELAY = [sys.executable, "-m", "penstock", "relay", "--"]
_WITHOUT = [sys.executable, "-c", "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"]
_ENDS = ("relay killed", "relay told to end", "server killed", "host gone")


@dataclass(slots=True)
class Run:
    """One run: how it is to end, and what was wrong with that."""

    end: str
    is_deaf: bool
    seconds: float
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.end} after {self.seconds:.3f} s, {'deaf' if self.is_deaf else 'hearing'}: {'; '.join(self.wrong)}"
        )


def marked(mark: str) -> list[int]:
    """Every live process with a mark in its environment."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    is_marked = f"{_MARK}={mark}".encode() in file.read().split(b"\0")
            except OSError:  # it has ended, or belongs to another user
                continue
            if is_marked:
                found.append(int(name))
    return found


def _request(number: int, tool: str, **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n"


class Host:
    """A host's behaviour: it asks and reads, in threads that never block on a pipe, so that it can go away at any instant."""

    def __init__(self, process: subprocess.Popen[bytes], dice: random.Random) -> None:
        self._process = process
        self._dice = dice
        self._is_going = threading.Event()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
        self._threads = [threading.Thread(target=work) for work in (self._ask, self._read)]
        for thread in self._threads:
            thread.start()

    def go(self) -> None:
        """Close both ends of both pipes before returning."""
        self._is_going.set()
        for thread in self._threads:
            thread.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def _ask(self) -> None:
        assert self._process.stdin is not None
        number = 0
        rest = b""
        while not self._is_going.wait(self._dice.random() / 100):
            if not rest:
                number += 1
                tool = self._dice.choice(["small", "flood", "ctx_page"])
                rest = _request(number, tool, size=self._dice.choice([0, 100, 100_000]), handle="x")
            try:
                rest = rest[os.write(self._process.stdin.fileno(), rest) :]
            except BlockingIOError:
                continue
            except OSError:
                return

    def _read(self) -> None:
        assert self._process.stdout is not None
        while not self._is_going.is_set():
            try:
                if not os.read(self._process.stdout.fileno(), 1 << 16):
                    return
            except BlockingIOError:
                time.sleep(0.001)
            except OSError:
                return


def ended(run: Run, home: str, before: list[str], number: int, max_seconds: float = _MAX_SECONDS) -> Run:
    """Do one run, and note what was wrong."""
    mark = f"{os.getpid()}-{number}"
    path = os.path.join(home, "server.py")
    environment = {**os.environ, _MARK: mark, "PENSTOCK_STORE": os.path.join(home, "store")}
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [*before, sys.executable, "-S", path, "deaf" if run.is_deaf else "hearing"],
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL,
        env=environment,
        bufsize=0,
    )
    host = Host(process, random.Random(number))
    time.sleep(run.seconds)
    if run.end == "relay killed":
        process.kill()
    elif run.end == "relay told to end":
        process.terminate()
    elif run.end == "server killed":
        _kill_server(process.pid)
    # A server that ignores being told to end continues as without a relay, until its host goes too.
    if run.end == "host gone" or (run.is_deaf and run.end == "relay told to end"):
        host.go()
    until = time.monotonic() + max_seconds
    try:
        process.wait(max(0.1, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        run.wrong.append("the relay goes on")
    while (left := marked(mark)) and time.monotonic() < until:
        time.sleep(0.02)
    if left:
        run.wrong.append(f"{len(left)} processes are left")
    for other in left:
        with suppress(ProcessLookupError):  # it was ending just then: late, and noted as such
            os.kill(other, signal.SIGKILL)
    process.wait()
    host.go()
    return run


def _kill_server(relay: int) -> None:
    """Kill the program behind a relay; it may not exist yet, or no longer."""
    try:
        with open(f"/proc/{relay}/task/{relay}/children", "rb") as file:
            children = [int(number) for number in file.read().split()]
        for child in children:
            with open(f"/proc/{child}/cmdline", "rb") as file:
                if file.read().split(b"\0")[1] == b"-S":  # and not the watch, which is a fork of the relay
                    os.kill(child, signal.SIGKILL)
                    return
    except (OSError, IndexError):
        return
    os.kill(relay, signal.SIGKILL)  # it has not been started: kill the relay itself


def measure(*, long: bool, seed: int) -> Figure:
    """Processes that are left, or keep running, after a kill around a relay."""
    dice = random.Random(seed)
    count = _RUNS if long else _SHORT_RUNS
    ends = [_ENDS[number % len(_ENDS)] for number in range(count)]
    deaf = {number for number in range(count) if dice.random() < 0.06} if long else {1}
    runs = [Run(end, number in deaf, dice.random() ** 2 * 2) for number, end in enumerate(ends)]
    with folder("relayed", MEMORY) as home:
        with open(os.path.join(home, "server.py"), "w", encoding="utf-8") as file:
            file.write(_SERVER)
        done = [ended(run, home, _RELAY, number) for number, run in enumerate(runs)]
        control = ended(Run("relay killed", is_deaf=True, seconds=1.0), home, _WITHOUT, count, max_seconds=2.0)
    wrong = [run for run in done if run.wrong]
    return Figure(
        rig="R26",
        name="kills around a relay that leave something",
        value=f"{len(wrong)} of {count}; without a watch {'processes are left' if control.wrong else 'nothing is left'}",
        target="0, and the control leaves some",
        met=not wrong and bool(control.wrong),
        seed=seed,
        notes=tuple(map(str, wrong)),
    )


if __name__ == "__main__":
    sys.exit(main(measure))

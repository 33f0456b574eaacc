"""What stands around R27, and falls? Gateways and their provider, killed and started over and over.

Starting Python with everything that a gateway imports takes most of a second of processor time, more than everything else about a
kill. So they are forked from a nursery: a process that has imported what they need, and run none of it. What is killed is an
ordinary process. Laws: nothing is started before its predecessor is gone; a process that ended by itself is reported, and not taken
for killed.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import pkgutil
import random
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Final

from proof.soak_provider import serve_provider

PROVIDER: Final = 0
"""The provider's index; the gateways' are 1, 2, …"""


def _free_port() -> int:
    """Return a free port that no system hands out by itself: between a kill and a start nobody else gets it."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as held, suppress(OSError):
            held.bind(("127.0.0.1", port))
            return port


class Standing:
    """Gateways, their provider and their store, each of which can be killed and is restarted.

    Args:
        home: the folder of all files.
        gateways: how many.
        url: of their store.
    """

    def __init__(self, home: str, gateways: int, url: str) -> None:
        self._url, self._lock = url, threading.Lock()
        self._provider_port, self.ports = _free_port(), [_free_port() for _ in range(gateways)]
        self._log = open(os.path.join(home, "log"), "ab")  # noqa: SIM115 - closed by `close`
        environment = {**os.environ, "HOME": home, "XDG_STATE_HOME": home, "TMPDIR": home}
        self._nursery = subprocess.Popen(
            [sys.executable, "-m", "proof.soak_standing"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._pids = [self._started(place) for place in range(1 + gateways)]

    def _told(self, line: str) -> str:
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        with self._lock:
            self._nursery.stdin.write(line + "\n")
            self._nursery.stdin.flush()
            return self._nursery.stdout.readline().strip()

    def _started(self, place: int) -> int:
        behind = f"http://127.0.0.1:{self._provider_port}"
        port = self._provider_port if place == PROVIDER else self.ports[place - 1]
        gateway = f"gateway --listen 127.0.0.1:{port} --upstream {behind} --store {self._url}"
        return int(self._told(f"provider {port}" if place == PROVIDER else gateway))

    def kill(self, place: int) -> bool:
        """Kill the process at an index and restart it; returns whether it was still running."""
        ended_by = int(self._told(f"kill {self._pids[place]}"))
        self._pids[place] = self._started(place)
        return ended_by == signal.SIGKILL

    def is_gone(self, place: int) -> bool:
        """Whether the process at an index has ended by itself."""
        return self._told(f"look {self._pids[place]}") == "gone"

    def resident_mib(self) -> float:
        """The first gateway's memory."""
        with open(f"/proc/{self._pids[1]}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024

    def processor_seconds(self) -> float:
        """The first gateway's processor time."""
        with open(f"/proc/{self._pids[1]}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End everything but the database."""
        self._nursery.communicate()
        self._log.close()


def _run(words: list[str]) -> None:
    """Be the requested process."""
    if words[0] == "provider":
        asyncio.run(serve_provider(int(words[1])))
    else:
        from penstock.cli import main

        sys.exit(main(words))


def _forked(words: list[str]) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        # Its output goes to the nursery's standard error: its input and output are the rig's.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        _run(words)
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        os._exit(status)


_ROOMS: Final = ("carrier", "context", "gateway", "mcp_server", "overflow", "serving", "store", "text", "wires")
_LIBRARIES: Final = (
    "aiohttp",
    "psycopg",
    "psycopg_pool",
    "uvicorn.lifespan.off",
    "uvicorn.loops.asyncio",
    "uvicorn.logging",
)


def _import_all() -> None:
    """Import what gateways import while they start and at their first request."""
    for room in _ROOMS:
        package = importlib.import_module(f"penstock.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"penstock.{room}."):
            importlib.import_module(module.name)
    for library in ("penstock.cli.gateways", *_LIBRARIES):
        with suppress(ImportError):
            importlib.import_module(library)


def be_nursery() -> None:
    """Start and kill as each line of the input says, until it ends; then kill all that is running."""
    gc.set_threshold(10_000)  # as `python -m penstock` does
    _import_all()
    gc.freeze()
    living: set[int] = set()
    gone: dict[int, int] = {}
    for line in sys.stdin:
        words = line.split()
        if words[0] in {"kill", "look"}:
            pid = int(words[1])
            if words[0] == "kill" and pid in living:
                os.kill(pid, signal.SIGKILL)
            if pid in living:
                found, status = os.waitpid(pid, 0 if words[0] == "kill" else os.WNOHANG)
                if found:
                    living.discard(pid)
                    gone[pid] = status & 0x7F
            answer = str(gone[pid]) if words[0] == "kill" else ("stands" if pid in living else "gone")
        else:
            pid = _forked(words)
            living.add(pid)
            answer = str(pid)
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()
    for pid in living:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    be_nursery()

"""Processes that begin with all of Penstock loaded: a process that did nothing but load it makes each of them, by fork.

Each has an environment, a folder, arguments and output of its own, and ends as a process does. To load everything anew takes half
a second of processor time, most of what such a process takes at all. How a new interpreter starts is for other tests.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import runpy
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

_REPOSITORY = Path(__file__).parents[1]
_LOADED = (
    "penstock.agent.children",
    "penstock.agent.loop",
    "penstock.cli.running",
    "penstock.cli.watching",
    "penstock.models.exchange",
    "penstock.store.sqlite",
    "penstock.tools",
)


def forked(
    arguments: list[str], folder: Path, environment: dict[str, str], text: str, seconds: float
) -> tuple[int, str, str]:
    """Run `penstock` to its end in a process of its own, whose input is a text.

    Returns:
        Its exit status, negative for a signal, and all that it wrote to its output and its error output.
    """
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        tempfile.TemporaryFile() as given,
        socket.socket(socket.AF_UNIX) as line,
    ):
        given.write(text.encode())
        given.seek(0)
        line.settimeout(seconds)
        line.connect(_server())
        asked = json.dumps({"arguments": arguments, "folder": str(folder), "environment": environment}).encode()
        socket.send_fds(line, [len(asked).to_bytes(4, "big")], [given.fileno(), out.fileno(), err.fileno()])
        line.sendall(asked)
        status = int(line.makefile().read())
        said, wrong = (os.pread(file.fileno(), 1 << 30, 0).decode() for file in (out, err))
        return status, said, wrong


@cache
def _server() -> str:
    """The address of the process that makes the others; it ends with this one."""
    folder = tempfile.mkdtemp(prefix="forks-")
    address = os.path.join(folder, "socket")
    command = [sys.executable, "-m", "tests.forks", address]
    process = subprocess.Popen(command, cwd=_REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def end() -> None:
        process.communicate()
        shutil.rmtree(folder)

    atexit.register(end)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return address


def _served(address: str) -> list[str]:
    """Make processes until the input ends; return in each of them, with its arguments."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen()
    print("ready", flush=True)
    made = 0
    while listening in select.select([listening, sys.stdin], [], [])[0]:
        line, _ = listening.accept()
        if os.fork():
            line.close()
            made += 1
            while made and os.waitpid(-1, os.WNOHANG)[0]:
                made -= 1
            continue
        listening.close()
        head, files, _, _ = socket.recv_fds(line, 4, 3)
        with line, line.makefile("rb") as reading:
            asked = json.loads(reading.read(int.from_bytes(head, "big")))
            if child := os.fork():
                _, ended = os.waitpid(child, 0)
                line.sendall(str(os.waitstatus_to_exitcode(ended)).encode())
                os._exit(0)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        return [str(argument) for argument in asked["arguments"]]
    while made:
        os.waitpid(-1, 0)
        made -= 1
    os._exit(0)


if __name__ == "__main__":
    for module in _LOADED:
        importlib.import_module(module)
    sys.argv = ["penstock", *_served(sys.argv[1])]
    runpy.run_module("penstock", run_name="__main__", alter_sys=True)

"""Processes that start with much of Penstock loaded: a process that has only loaded it forks each of them.

Each has its own environment, folder, arguments and output, and ends as any process does. Loading everything takes half a second of
processor time, most of what such a process needs. Not for tests of how a new interpreter starts, nor of anything that depends on
how the parent starts the process, such as its group, limits or terminal.
"""

from __future__ import annotations

import atexit
import builtins
import ctypes
import fcntl
import gc
import hashlib
import importlib
import marshal
import os
import runpy
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import types
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_REPOSITORY = Path(__file__).parents[1]
COMMANDS = (
    "anyio._backends._asyncio",
    "h11",
    "httpcore2",
    "penstock.agent.children",
    "penstock.agent.file_check",
    "penstock.agent.loop",
    "penstock.agent.purse",
    "penstock.agent.shell",
    "penstock.agent.size_advice",
    "penstock.agent.toolbox",
    "penstock.cli.running",
    "penstock.cli.watching",
    "penstock.models.exchange",
    "penstock.models.local",
    "penstock.outline.symbols",
    "penstock.session.generated_code",
    "penstock.store.sqlite",
    "penstock.tools",
    "penstock.tools.ranking",
    "penstock.workspace.line_ends",
    "penstock.workspace.ranked",
    "tests.warmed",
    "truststore",
)
"""The modules that most commands and every run of an agent load."""
RELAY = (
    *COMMANDS,
    "penstock.cli.relaying",
    "penstock.relay.bridge",
    "penstock.relay.proxy",
    "penstock.relay.several",
    "penstock.relay.stdio",
)
"""The modules that a relay loads."""
MCP = (
    "anyio._backends._asyncio",
    "mcp.server",
    "mcp.types",
    "penstock.cli.serving",
    "penstock.mcp_server.http",
    "penstock.mcp_server.stdio",
    "penstock.store.sqlite",
    "penstock.tools.files",
    "penstock.tools.kept",
)
"""The modules that an MCP server loads: a second of processor time."""


def warm(*modules: str, python: str = sys.executable) -> list[str]:
    """Return a command that replaces `python` before `-m` or `-c` and starts with these modules already loaded.

    Only `-W error`, also with a category, may precede `-m` or `-c`. A killed command's process dies a moment later: it is gone once
    its outputs have ended. Another Python, with other libraries, also finds our source.
    """
    return [sys.executable, "-I", "-S", str(_REPOSITORY / "tests/launch.py"), _server(modules, python)]


def warm_penstock() -> list[str]:
    """Return a command that replaces `python -m penstock` and starts with what nearly every command loads."""
    return [*warm(*COMMANDS), "-m", "penstock"]


def warm_path(*modules: str) -> str:
    """Return a search path for programs that begins with a `penstock` that starts with these modules already loaded."""
    return f"{_program(modules)}:{Path(sys.executable).parent}:{os.environ['PATH']}"


@cache
def _program(modules: tuple[str, ...]) -> Path:
    """Write a `penstock` program that starts warm, and return its folder."""
    folder = Path(tempfile.mkdtemp(prefix="forks-"))
    atexit.register(shutil.rmtree, folder)
    program = folder / "penstock"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(warm(*modules))} -m penstock "$@"\n')
    program.chmod(0o755)
    return folder


def forked(
    arguments: list[str], folder: Path, environment: dict[str, str], text: str, seconds: float
) -> tuple[int, str, str]:
    """Run `penstock` to its end in its own process, with a text as its input.

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
        line.connect(_server(COMMANDS))
        given_environment = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
        asked = marshal.dumps((["-m", "penstock", *arguments], str(folder), given_environment))
        socket.send_fds(line, [len(asked).to_bytes(4, "big")], [given.fileno(), out.fileno(), err.fileno()])
        line.sendall(asked)
        assert line.recv(10)
        status = int(line.recv(10))
        said, wrong = (os.pread(file.fileno(), 1 << 30, 0).decode() for file in (out, err))
        return status, said, wrong


_shared: list[tuple[str, int]] = []


def share(run: str, owner: int) -> None:
    """Let all workers of a test run use the same servers, which end with the process that owns the run."""
    _shared.append((run, owner))


@cache
def _server(modules: tuple[str, ...], python: str = sys.executable) -> str:
    """Return the address of the server that forks warm processes; the first caller starts it."""
    run, owner = _shared[-1] if _shared else (f"of-{os.getpid()}", os.getpid())
    name = hashlib.sha256(" ".join((python, *modules)).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir(), f"forks-{run}", name)
    folder.mkdir(0o700, parents=True, exist_ok=True)
    address = folder / "socket"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not address.exists():
            command = [python, "-m", "tests.forks", str(address), str(owner), *modules]
            path = {} if python == sys.executable else {"PYTHONPATH": f"{_REPOSITORY / 'src'}:{_REPOSITORY}"}
            subprocess.run(command, cwd=_REPOSITORY, env={**os.environ, **path}, stdin=subprocess.DEVNULL, check=True)
    return str(address)


class _Made(NamedTuple):
    """A forked process, and the connection of the client that waits for its end."""

    process: int
    end: int
    """A descriptor that becomes readable when the process ends."""
    line: socket.socket


def _served(address: str, owner: str) -> list[str]:
    """Fork warm processes, in a background process, until the owner ends; return in each of them, with its arguments."""
    owned = os.pidfd_open(int(owner))
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen()
    if os.fork():
        os._exit(0)  # this tells the starter that the server is ready
    gc.collect()
    gc.freeze()  # so that collections in the forked processes write to no shared page, and, by one extra reference,
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(gc.get_objects()))  # their exits free none of these objects
    made: list[_Made] = []
    while True:
        waited: list[Any] = [owned, listening, *(one.end for one in made), *(one.line for one in made)]
        ready, _, _ = select.select(waited, [], [])
        if owned in ready:
            for one in made:
                os.kill(one.process, signal.SIGKILL)
            shutil.rmtree(Path(address).parent)
            with suppress(OSError):  # other servers' folders may still exist
                Path(address).parents[1].rmdir()
            os._exit(0)
        made = [one for one in made if not _is_over(one, ready)]
        if listening in ready:
            line, _ = listening.accept()
            head, files, _, _ = socket.recv_fds(line, 4, 3)
            asked = line.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
            process = os.fork()
            if not process:
                for held in (listening, line, *(one.line for one in made)):
                    held.close()
                for number in (owned, *(one.end for one in made)):
                    os.close(number)
                return _begun(files, *marshal.loads(asked))
            with suppress(OSError):  # a client that was killed by now; its process is killed next
                line.sendall(b"%10d" % process)
            made.append(_Made(process, os.pidfd_open(process), line))
            for file in files:
                os.close(file)


def _is_over(one: _Made, ready: list[object]) -> bool:
    """Return whether a process has ended, after reporting its status to its client; kill the process if the client is gone."""
    if one.end not in ready:
        if one.line in ready:
            os.kill(one.process, signal.SIGKILL)
        return False
    _, ended = os.waitpid(one.process, 0)
    with suppress(OSError):
        one.line.sendall(b"%10d" % os.waitstatus_to_exitcode(ended))
    one.line.close()
    os.close(one.end)
    return True


def _begun(files: list[int], arguments: list[str], folder: str, environment: dict[bytes, bytes]) -> list[str]:
    """Take over the files, folder and environment that a process starts with, and return its arguments."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = os.fdopen(0, closefd=False)  # as in an interpreter: line by line if it is a terminal
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(environment)
    return arguments


def _run(*arguments: str) -> None:
    """Run what `python [-W error[::CATEGORY]] -m` or `-c` would run."""
    if arguments[0] == "-W":
        action, _, category = arguments[1].partition("::")
        assert action == "error"
        warnings.simplefilter("error", getattr(builtins, category or "Warning"))
        arguments = arguments[2:]
    kind, what, *rest = arguments
    sys.argv = [kind, *rest]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if kind == "-c":
        sys.path[0] = ""
        exec(what, vars(main))
    else:
        sys.path[0] = os.getcwd()
        runpy.run_module(what, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    for module in sys.argv[3:]:
        importlib.import_module(module)
    _run(*_served(*sys.argv[1:3]))

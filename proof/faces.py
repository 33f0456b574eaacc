"""How is a tool called? In a process of its own, over standard input and output, over HTTP: three faces, one answer.

Each face is a child process, so that its memory can be measured and its death noticed; it has no capabilities, even if we are root.
Everything stays on this machine: pipes, and 127.0.0.1.
Leaves to others: which calls are made and what is expected of them.
"""

from __future__ import annotations

import atexit
import contextlib
import http.client
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from proof.figure import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

BUDGET = 16_000  # characters of an answer over MCP, as for an unknown client

# Root may read anything; without capabilities it may not, and still finds its own interpreter. And a child dies with its rig
# (PR_SET_PDEATHSIG), however that ends.
_DROP = """
import ctypes, sys
ctypes.CDLL(None).prctl(1, 9)
ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
"""
_DIRECT = (
    _DROP
    + """
import json
from penstock.text.allowance import Allowance
from penstock.tools import Tools
import penstock.outline, penstock.workspace.searching, re2
tools = Tools(sys.argv[1], read_seconds={read_seconds}, walk_seconds={walk_seconds})
print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    try:
        allowance = Allowance.bytes(asked["bytes"]) if asked.get("bytes") else None
        result = tools.call(asked["tool"], asked["arguments"], allowance=allowance)
        answer = dict(text=result.text, is_error=result.is_error, code=result.code)
    except BaseException as error:
        answer = dict(text=repr(error), is_error=True, code="raised")
    answer["number"] = asked["number"]
    print(json.dumps(answer), flush=True)
"""
)
_SERVE = (
    _DROP
    + """
from penstock.mcp_server import serve
sys.exit(serve(sys.argv[1], **{options}))
"""
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A response. `code` is None if the face does not carry it."""

    text: str
    is_error: bool
    code: str | None
    seconds: float


class Face(Protocol):
    """One way to call a tool."""

    name: str
    process: subprocess.Popen[bytes]

    def call(
        self, tool: str, arguments: Mapping[str, object], *, limit_bytes: int | None = None, seconds: float = 60
    ) -> Answer: ...


class Silent(Exception):
    """The call was not answered in time, or the process is gone."""


def resident(process_id: int, field: str = "VmRSS") -> int:
    """Bytes of memory of a process: `VmRSS` now, `VmHWM` its maximum since `forget_peak`."""
    with open(f"/proc/{process_id}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(field + ":"):
                return int(line.split()[1]) << 10
    return 0


def forget_peak(process_id: int) -> bool:
    """Resets `VmHWM` to the present use; False if the kernel does not allow it."""
    try:
        with open(f"/proc/{process_id}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        return False
    return True


@cache
def _own_store() -> str:
    """A folder for what this process's faces keep, removed with it."""
    path = tempfile.mkdtemp(prefix="penstock-proof-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return os.path.join(path, "store")


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    store = f"sqlite://{_own_store()}"  # never the user's own, nor that of concurrent rigs
    source = os.path.join(REPOSITORY, "src")
    return {**kept, "PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1", "PENSTOCK_STORE": store}


def start(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A Python of ours with pipes."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=REPOSITORY,
        env=_environment(),
    )


class _Child:
    """A process whose output lines are queued as they come."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
        self.errors: list[bytes] = []
        self._readers = [threading.Thread(target=target, daemon=True) for target in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put((time.monotonic(), line))
        self.lines.put((time.monotonic(), b""))

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors.append(line)

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Silent(f"the process is gone: {b''.join(self.errors[-5:])!r}") from error

    def line(self, seconds: float) -> tuple[float, bytes]:
        try:
            at, line = self.lines.get(timeout=max(0.001, seconds))
        except queue.Empty:
            raise Silent(f"no answer in {seconds:.0f} s") from None
        if not line:
            raise Silent(f"the process ended: {b''.join(self.errors[-5:])!r}")
        return at, line

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(5)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class Direct(_Child):
    """`penstock.Tools` in a process of its own."""

    name = "in process"

    def __init__(self, root: str, *, read_seconds: float = 10, walk_seconds: float = 30) -> None:
        super().__init__(start(_DIRECT.format(read_seconds=read_seconds, walk_seconds=walk_seconds), root))
        self.line(30)
        self._number = 0

    def call(
        self, tool: str, arguments: Mapping[str, object], *, limit_bytes: int | None = None, seconds: float = 60
    ) -> Answer:
        begun = time.monotonic()
        self._number += 1
        asked = {"tool": tool, "arguments": arguments, "bytes": limit_bytes, "number": self._number}
        self.send(json.dumps(asked).encode())
        answer: dict[str, Any] = {}
        while answer.get("number") != self._number:  # a late answer does not belong to another call
            at, line = self.line(begun + seconds - time.monotonic())
            answer = json.loads(line)
        return Answer(answer["text"], answer["is_error"], answer["code"], at - begun)


def request(number: int | str, method: str, params: dict[str, object]) -> dict[str, object]:
    """A request of the era without sessions."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "proof", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}}


def tool_call(number: int | str, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """A call of `tool`, under the server's name for it."""
    return request(number, "tools/call", {"name": "ctx_" + tool, "arguments": arguments})


def _read(message: dict[str, Any], seconds: float) -> Answer:
    if "error" in message:
        error = message["error"]
        return Answer(str(error.get("message")), True, f"protocol {error.get('code')}", seconds)
    result = message["result"]
    return Answer(result["content"][0]["text"], bool(result.get("isError")), _code(result), seconds)


def _code(result: dict[str, Any]) -> str | None:
    for where in (result.get("_meta"), result.get("structuredContent")):
        if isinstance(where, dict):
            for name, value in where.items():
                if name.rpartition("/")[2] == "code" and isinstance(value, str):
                    return value
    return None


class Stdio(_Child):
    """The MCP server over standard input and output. Calls may overlap: `post`, then `await_`."""

    name = "stdio"

    def __init__(self, root: str, *, budget: int | None = BUDGET) -> None:
        super().__init__(start(_SERVE.format(options={"budget": budget}), root))
        self._number = 0
        self._came: dict[int | str, tuple[float, dict[str, Any]]] = {}
        self.strays: list[bytes] = []

    def post(self, tool: str, arguments: Mapping[str, object]) -> tuple[int, float]:
        self._number += 1
        number, begun = self._number, time.monotonic()
        self.send(json.dumps(tool_call(number, tool, arguments)).encode())
        return number, begun

    def await_(self, posted: tuple[int, float], seconds: float = 60) -> Answer:
        number, begun = posted
        end = time.monotonic() + seconds
        while number not in self._came:
            at, line = self.line(end - time.monotonic())
            message = json.loads(line)
            if message.get("id") is None:
                self.strays.append(line)
            else:
                self._came[message["id"]] = (at, message)
        at, message = self._came.pop(number)
        return _read(message, at - begun)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        *,
        limit_bytes: int | None = None,  # noqa: ARG002  fixed by the server
        seconds: float = 60,
    ) -> Answer:
        return self.await_(self.post(tool, arguments), seconds)


class Http(_Child):
    """The MCP server over HTTP on 127.0.0.1, with its token."""

    name = "HTTP"

    def __init__(self, root: str, token_file: str, *, budget: int | None = BUDGET) -> None:
        self.token = "proof-" + os.urandom(24).hex()
        descriptor = os.open(token_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(self.token + "\n")
        options = {"http": "127.0.0.1:0", "token_file": token_file, "budget": budget}
        super().__init__(start(_SERVE.format(options=options), root))
        end = time.monotonic() + 30
        while not any(b"serving at http://" in line for line in list(self.errors)):
            if time.monotonic() > end or self.process.poll() is not None:
                raise Silent(f"the server did not start: {self.errors!r}")
            time.sleep(0.01)
        said = next(line for line in self.errors if b"serving at http://" in line).decode()
        self.port = int(said.partition("http://127.0.0.1:")[2].partition("/")[0])
        self._local = threading.local()
        self._opened: list[http.client.HTTPConnection] = []
        self._number = 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self._opened:
            connection.close()
        super().__exit__(kind, error, trace)

    def exchange(self, body: bytes, headers: Mapping[str, str], seconds: float) -> tuple[int, bytes]:
        """One request on this thread's connection: status and body."""
        for attempt in (0, 1):
            connection = cast("http.client.HTTPConnection | None", getattr(self._local, "connection", None))
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
                self._local.connection = connection
                self._opened.append(connection)
            try:
                connection.request("POST", "/mcp", body, dict(headers))
                response = connection.getresponse()
                content = response.read()
                if response.will_close:
                    self._local.connection = None
                    connection.close()
            except TimeoutError:
                self._local.connection = None
                connection.close()
                raise Silent(f"no answer in {seconds:.0f} s") from None
            except (OSError, http.client.HTTPException) as error:
                self._local.connection = None
                connection.close()
                if attempt:
                    raise Silent(f"the connection failed: {error!r}") from error
            else:
                return response.status, content
        raise AssertionError

    def headers(self, method: str, name: str | None) -> dict[str, str]:
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
        }
        return headers if name is None else {**headers, "Mcp-Name": name}

    def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        *,
        limit_bytes: int | None = None,  # noqa: ARG002  fixed by the server
        seconds: float = 60,
    ) -> Answer:
        self._number += 1
        body = json.dumps(tool_call(self._number, tool, arguments)).encode()
        begun = time.monotonic()
        _, content = self.exchange(body, self.headers("tools/call", "ctx_" + tool), seconds)
        return _read(json.loads(content), time.monotonic() - begun)

"""What do the tests of the MCP server share? The outside programs that are installed, and servers as processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.environments import TOOLS_CACHE, miss
from tests.forks import MCP, warm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp_types import CallToolResult

REPOSITORY = Path(__file__).parents[2]
TOKEN = "t" * 43


def tool_path(folder: str, program: str) -> str | None:
    """Return a program that `scripts/tools` installed, or None if it is missing."""
    at = TOOLS_CACHE / folder / "node_modules" / ".bin" / program
    return str(at) if at.exists() else None


def installed(folder: str, program: str) -> str:
    """Return a program that `scripts/tools` installed; if it is missing, skip the test, or fail it if everything is required."""
    at = tool_path(folder, program)
    if at is None:
        miss(f"{folder} is not installed (scripts/tools installs it)")
    return at


def node_environment() -> dict[str, str]:
    """Return an environment with the Node of `scripts/tools` in front: the Inspector needs a newer one than Debian's."""
    node = tool_path("node", "node")
    path = os.environ["PATH"]
    compiled = str(TOOLS_CACHE / "compiled")  # by Node, which otherwise compiles a program anew each time
    return {**os.environ, "NODE_COMPILE_CACHE": compiled, "PATH": f"{Path(node).parent}:{path}" if node else path}


def warm_python() -> list[str]:
    """Provide a Python with most of a server already loaded, for tests that are not about a start or the wall."""
    return warm(*MCP)


class Wire:
    """A server process, spoken to in lines; with `fresh`, that of a new interpreter instead of a preloaded one."""

    def __init__(self, *command: str, fresh: bool = False, **environment: str) -> None:
        self.process = subprocess.Popen(
            [*([sys.executable] if fresh else warm_python()), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=REPOSITORY,
            env={**os.environ, **environment},
        )

    def send(self, line: bytes | dict[str, Any]) -> None:
        """Send one line, or a message as one."""
        assert self.process.stdin is not None
        self.process.stdin.write((json.dumps(line).encode() if isinstance(line, dict) else line) + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """Return the next message."""
        assert self.process.stdout is not None
        message = json.loads(self.process.stdout.readline())
        assert isinstance(message, dict)
        return message

    def ask(self, method: str, number: int = 1, **params: object) -> dict[str, Any]:
        """Send a request of the modern era and return its answer."""
        self.send(request(method, number, "test", **params))
        return self.read()

    def end(self) -> tuple[int, bytes, bytes]:
        """End the input; return the status, what was left on the output, and the error output."""
        output, errors = self.process.communicate(timeout=40)
        return self.process.returncode, output, errors


def request(method: str, number: int | str = 1, client: str = "test", **params: object) -> dict[str, Any]:
    """Return a request of the 2026-07-28 era."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": client, "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}}


def call(tool: str, number: int | str = 1, client: str = "test", **arguments: object) -> dict[str, Any]:
    """Return a tool call of the 2026-07-28 era."""
    return request("tools/call", number, client, name=tool, arguments=arguments)


def text_of(result: CallToolResult) -> str:
    """Return the text of a result, which is one block."""
    (block,) = result.content
    assert block.type == "text"
    return block.text


@pytest.fixture(autouse=True)
def store_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set the folder where servers of a test store their data; it does not exist yet."""
    folder = tmp_path / "kept"
    monkeypatch.setenv("PENSTOCK_STORE", str(folder))
    return folder


@pytest.fixture
def doubles() -> Iterator[Wire]:
    """Run a server of doubles over pipes."""
    wire = Wire("-m", "tests.mcp.double_server", "stdio")
    yield wire
    wire.process.kill()
    wire.process.communicate()


@pytest.fixture(scope="module")
def lasting_doubles() -> Iterator[Wire]:
    """Run a server of doubles over pipes for tests that need no separate process; assert that it ends well."""
    wire = Wire("-m", "tests.mcp.double_server", "stdio", fresh=True)
    yield wire
    assert wire.end() == (0, b"", b"")


def our_server(root: Path, *, fresh: bool = False, **options: object) -> Wire:
    """Serve our own tools over pipes, as `penstock mcp` does."""
    return Wire(*our_command(root, **options), fresh=fresh)


def our_command(root: Path, **options: object) -> list[str]:
    """Return the arguments of a Python that serves our tools."""
    code = "import sys; from penstock.mcp_server import serve; sys.exit(serve(sys.argv[1], **eval(sys.argv[2])))"
    return ["-c", code, str(root), repr(options)]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a root with two files, and a secret next to it."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "hello.txt").write_text("".join(f"line {number}\n" for number in range(1, 301)))
    (root / "program.py").write_text("def main():\n    return 1\n")
    (tmp_path / "outside.txt").write_text("a secret\n")
    return root


@pytest.fixture(scope="session")
def doubles_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Return the port of a server of doubles over HTTP that requires `TOKEN`."""
    yield from serve_http(tmp_path_factory.mktemp("http"), TOKEN)


def serve_http(folder: Path, *token: str) -> Iterator[int]:
    """Serve doubles over HTTP; without a token everybody is admitted."""
    port_file = folder / "port"
    command = [*warm_python(), "-m", "tests.mcp.double_server", "http", str(port_file), *token]
    with subprocess.Popen(command, cwd=REPOSITORY) as process:
        try:
            yield int(await_text(port_file))
        finally:
            process.kill()


def await_text(file: Path) -> str:
    """Return what a starting process writes into a file."""
    for _ in range(1000):
        if file.exists() and (text := file.read_text().strip()):
            return text
        time.sleep(0.02)
    raise AssertionError(f"{file} was not written")

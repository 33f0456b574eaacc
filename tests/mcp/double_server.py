"""What do the tests and the official suites call if our own tools will not do? This server of doubles.

python -m tests.mcp.double_server stdio
python -m tests.mcp.double_server http PORT_FILE [TOKEN]
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from penstock.mcp_server import create_server, http, stdio
from penstock.serving import listening
from penstock.tools import REQUIRED, Parameter, Result, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.text.allowance import Allowance


def _tool(name: str, *parameters: Parameter, slow: bool = False) -> Tool:
    return Tool(name=name, title=name, description=f"The double {name}.", parameters=parameters, slow=slow)


class _Described(Tool):
    """A tool with a handwritten schema, which has to reach the client unchanged."""

    def schema(self) -> dict[str, object]:
        return _SCHEMAS[self.name]


_SCHEMAS: dict[str, dict[str, object]] = {
    "json_schema_2020_12_tool": {  # one keyword of each kind that a client must get unchanged
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "reach": {"enum": ["phone", "email"]},
        },
        "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
        "if": {"properties": {"reach": {"const": "phone"}}},
        "then": {"required": ["name"]},
        "else": {"required": ["address"]},
        "additionalProperties": False,
    },
    "test_custom_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "additionalProperties": False,
    },
}
_SECONDS = Parameter(name="seconds", kind="integer", default=REQUIRED, description="How long it takes.")
TABLE = (
    _tool("test_simple_text"),
    _tool("test_error_handling"),
    _tool("test_logging_tool"),
    *(_Described(name=name, title=name, description=f"The double {name}.", parameters=()) for name in _SCHEMAS),
    _tool("echo", Parameter(name="text", kind="string", default="", description="What comes back.")),
    _tool("hang", _SECONDS),
    _tool("scan", _SECONDS, slow=True),
    _tool("big", Parameter(name="size", kind="integer", default=1000, description="Characters.")),
    _tool("spent"),
    _tool("surrogate"),
    _tool("raises"),
)


class Doubles:
    """Tools that do what a test needs, and count."""

    def __init__(self) -> None:
        self.running = 0
        self.max_running = 0
        self._lock = threading.Lock()

    def call(self, name: str, arguments: Mapping[str, object], *, allowance: Allowance | None = None) -> Result:
        with self._lock:
            self.running += 1
            self.max_running = max(self.max_running, self.running)
        try:
            return self._call(name, arguments, allowance)
        finally:
            with self._lock:
                self.running -= 1

    def _call(self, name: str, arguments: Mapping[str, object], allowance: Allowance | None) -> Result:
        match name:
            case "test_simple_text":
                return Result("This is a simple text response for testing.", False, None)
            case "test_error_handling":
                return Result("This tool intentionally returns an error for testing", True, "io_error")
            case "echo":
                return Result(f"{dict(arguments)!r} within {allowance}", False, None)
            case "hang":
                time.sleep(float(str(arguments["seconds"])))
            case "scan":  # holds the interpreter, as a scan in Python does
                end = time.monotonic() + float(str(arguments["seconds"]))
                while time.monotonic() < end:
                    sum(range(2000))
            case "big":
                return Result("x" * int(str(arguments.get("size", 1000))), False, None)
            case "spent":
                return Result(f"{time.process_time()}", False, None)
            case "surrogate":
                return Result("a\ud800b\udcffc", False, None)
            case "raises":
                raise RuntimeError("a fault of ours, password=hunter2hunter2")
        return Result("done", False, None)


async def _serve_http(port_file: str, token: bytes | None) -> None:
    socket = listening.listen("127.0.0.1:0")
    with open(port_file, "w", encoding="ascii") as file:
        file.write(f"{socket.getsockname()[1]}\n")
    await http.serve(create_server(Doubles(), table=TABLE, prefix=""), socket, token, lambda _: None)


def main(transport: str, port_file: str = "", token: str = "") -> None:
    """Serve until the input ends or someone ends the process."""
    sys.setswitchinterval(0.001)
    if transport == "stdio":
        server = create_server(Doubles(), table=TABLE, prefix="")
        asyncio.run(stdio.serve(server, lambda _: None))
    else:
        asyncio.run(partial(_serve_http, port_file, token.encode("ascii") or None)())


if __name__ == "__main__":
    main(*sys.argv[1:])

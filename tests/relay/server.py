"""How does the worst server over pipes behave? `python -m tests.relay.server` does what the name of the called tool says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any


def write(message: object) -> None:
    """Write one line."""
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()


def text(number: object, what: str) -> None:
    """Write a result of one text, as servers in TypeScript do: the id comes last."""
    write({"result": {"content": [{"type": "text", "text": what}]}, "jsonrpc": "2.0", "id": number})


def call(number: object, tool: str, arguments: dict[str, Any]) -> None:
    """Do what a tool is named for."""
    match tool:
        case "text":
            text(number, "x" * int(arguments["size"]))
        case "lines":
            text(number, "".join(f"{at}: a line\n" for at in range(int(arguments["count"]))))
        case "progress":
            for at in range(5):
                params = {"progressToken": 1, "progress": at}
                write({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            text(number, "".join(f"{at}: a line\n" for at in range(10_000)))
        case "ask":  # its own request with an id that the client uses too
            write({"jsonrpc": "2.0", "id": number, "method": "sampling/createMessage", "params": {}})
            text(number, json.dumps(json.loads(sys.stdin.readline())))
        case "noise":
            sys.stdout.buffer.write(b'no json\n{"id":\n\xff\xfe\n[]\n\n')
            text(number, "after the noise")
        case "exit":
            sys.stdout.buffer.write(b'{"half": "a line')
            sys.stdout.buffer.flush()
            os._exit(int(arguments["status"]))
        case "die":
            os.kill(os.getpid(), int(arguments["signal"]))
        case "leave":  # a process that holds the pipes open
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            text(number, str(child.pid))
        case "deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            text(number, "deaf")
            time.sleep(600)
        case "close":  # its output, while it keeps running
            text(number, "closed")
            os.close(1)
            time.sleep(600)
        case "ctx_page":
            text(number, "a page of the server's own")
        case "said":
            sys.stderr.write("said on the error output\n")
            text(number, "said")


def main() -> int:
    """Serve until the end of input."""
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            write({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": f"not JSON: {len(line)}"}})
            continue
        number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        if number is None or method is None:
            continue
        if method == "initialize":
            result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
            write({"jsonrpc": "2.0", "id": number, "result": {**result, "serverInfo": {"name": "s", "version": "1"}}})
        elif method == "tools/list" and "refuses" not in sys.argv:
            schema = {"type": "object", "required": ["rows"]}
            tools = [{"name": "text", "inputSchema": {"type": "object"}, "outputSchema": schema}]
            listed: dict[str, Any] = {"tools": tools}
            if "pages" in sys.argv:  # and on the second one a tool with the name of one of ours
                own = [{"name": "ctx_page", "inputSchema": {"type": "object"}}]
                listed = {"tools": own} if params.get("cursor") else {"tools": tools, "nextCursor": "next"}
            write({"jsonrpc": "2.0", "id": number, "result": listed})
        elif method == "tools/call":
            call(number, params["name"], params.get("arguments") or {})
        else:
            write({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": f"no {method}"}})
    return 3


if __name__ == "__main__":
    sys.exit(main())

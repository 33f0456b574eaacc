"""Does an endless answer of a provider cost a bounded amount of memory, and is the bound reported?"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from penstock.models.exchange import MAX_STREAM_BYTES

_ASKS = """
import re, sys
from penstock.models import load_model
model = load_model("openai-chat:x", base_url=sys.argv[1])
try:
    model.send({"messages": [{"role": "user", "content": "hi"}]}, on_text=lambda text: None)
except Exception as error:
    print(error)
# Not `ru_maxrss`, which a child begins with as its parent had it.
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""
_CALL = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "y" * 4_000}}]}


@pytest.mark.parametrize("delta", [{"content": "y" * 4_000}, _CALL], ids=["words", "arguments"])
def test_an_endless_stream_is_ended_and_reported(delta: dict[str, object]) -> None:
    """The memory of a separate process is measured: 200 MB is three times the bound on what is read."""
    event = {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
    block = ("data: " + json.dumps(event) + "\n\n").encode() * 50

    class Endless(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            with suppress(OSError):
                while True:
                    self.wfile.write(block)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = [sys.executable, "-c", _ASKS, f"http://127.0.0.1:{server.server_address[1]}/v1"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
        server.shutdown()
    said, memory_mb = done.stdout.splitlines()
    assert f"above {MAX_STREAM_BYTES:,} bytes" in said
    assert int(memory_mb) < 200

"""What is kept, as seen on the disk? Real processes, and a search for bytes in the files of the store."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.outside import PENSTOCK, Outside, model

from penstock.models import call, say

KEY = "sk-ant-api03-" + "Zx9Qw7Lm2Kp4" * 8


@pytest.fixture
def outside(tmp_path: Path) -> Outside:
    """Make a project with a file."""
    made = Outside(tmp_path)
    (made.tree / "app.py").write_text("port = 1\n" * 20)
    return made


def holding(outside: Outside, text: str) -> list[str]:
    """Return the files of the store that contain a text."""
    return [
        path.name
        for path in (outside.folder / "store").rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    ]


@pytest.mark.proves("S-17")
def test_a_session_can_be_removed_and_everything_counts(outside: Outside) -> None:
    """What only that session kept is in no file any more; before, its journal counted."""
    with model([call("view", file_path="app.py"), say("the heron-blue valve")]) as served:
        outside.penstock("run", "Which valve?", *served.flags)
    session = outside.json("sessions")["sessions"][0]["session"]
    assert outside.json("store", "size").get("journal_bytes", 0) > 0
    assert holding(outside, "heron-blue")
    assert outside.penstock("sessions", "rm", session).returncode == 0
    assert holding(outside, "heron-blue") == []
    assert outside.json("sessions")["sessions"] == [] or outside.penstock("sessions").returncode == 1


@pytest.mark.proves("S-17")
def test_a_store_at_its_limit_can_be_kept_on(outside: Outside) -> None:
    """Pruning works by age or size, and a single output can be removed for good."""
    (outside.tree / "big.txt").write_text("".join(f"heron {n}\n" for n in range(200_000)))
    kept = outside.penstock("guard", "--tokens", "400", given=(outside.tree / "big.txt").read_text())
    handle = re.search(r'page\(handle="([^"]+)"|penstock page (\w+)', kept.stdout)
    assert handle, kept.stdout
    assert outside.penstock("store", "rm", handle[1] or handle[2]).returncode == 0
    assert holding(outside, "heron 199") == []
    with model([say("the heron-blue valve")]) as served:
        outside.penstock("run", "Which valve?", *served.flags)
    done = outside.penstock("store", "gc", "--max-bytes", "1")
    assert done.returncode == 0, done.stderr
    assert holding(outside, "heron-blue") == []


@pytest.mark.proves("S-17")
def test_keys_in_answers_and_arguments_are_kept_nowhere(outside: Outside) -> None:
    """Neither journal nor handoff has them, and lesser-known formats are found like the best known."""
    others = (
        "glpat-" + "Ab3dEf6hIj9kLm2nOp5q",
        "npm_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6",
        "dop_v1_" + "a1b2c3d4" * 8,
    )
    steps = [
        call("search", pattern=KEY),
        call("write_file", path="made.txt", content="".join(f"token = {key}\n" for key in others)),
        say(f"The key is {KEY}."),
    ]
    with model(steps) as served:
        outside.penstock("run", "x", *served.flags, "--allow-edit")
    session = outside.json("sessions")["sessions"][0]["session"]
    journal = outside.penstock("sessions", "export", session).stdout
    handoff = outside.penstock("handoff", session).stdout
    assert handoff.startswith("{")
    assert [key for key in (KEY, *others) if key in journal + handoff] == []
    assert holding(outside, KEY) == []


@pytest.mark.proves("L-9")
def test_a_stranger_is_answered_before_its_body_comes(outside: Outside) -> None:
    """The headers alone give 401 for an announced body that never comes, and the connection is closed."""
    token = outside.folder / "token"
    line = [*PENSTOCK, "mcp", "--root", str(outside.tree), "--http", "127.0.0.1:0", "--token-file", str(token)]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True, env=outside.environment) as server:
        assert server.stderr is not None
        port = 0
        while not port and (said := server.stderr.readline()):
            found = re.search(r"127\.0\.0\.1:(\d+)", said)
            port = int(found[1]) if found else 0
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=3) as stranger:
                head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                stranger.sendall(f"{head}Content-Length: 1000000\r\n\r\nxx".encode())
                answer = b""
                with suppress(TimeoutError):
                    answer = stranger.recv(4096)
        finally:
            server.terminate()
    assert answer.startswith(b"HTTP/1.1 401 ")


def test_a_providers_endless_stream_is_bounded(outside: Outside) -> None:
    """The bound is reported, and the command never used more than a few times that memory."""
    part = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "y" * 4_000}}]}
    event = {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": part}]}
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

        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        asked = ("run", "x", "--model", "openai-chat:x", "--base-url", url)
        with outside.started(*asked, fresh=True) as running:
            threading.Timer(40, running.kill).start()
            assert running.stderr is not None
            # The first line tells the outcome of the first try; another may follow, as a fault may pass.
            said = running.stderr.readline()
            # Not `ru_maxrss`, in which a child inherits its parent's peak.
            status = Path(f"/proc/{running.pid}/status").read_text() if said else ""
            running.kill()
        server.shutdown()
    assert int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) < 200 << 10
    assert "67,108,864 bytes" in said


def test_a_strangers_broken_settings_stop_no_look(outside: Outside) -> None:
    """The file of whoever made the project is reported and ignored."""
    (outside.tree / "penstock.toml").write_text("view_lines = [broken\n")
    done = outside.penstock("view", "app.py")
    assert done.returncode == 0
    assert "showing lines 1-20 of 20 total" in done.stdout
    assert "penstock.toml" in done.stderr

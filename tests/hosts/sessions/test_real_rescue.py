"""Do real hosts, stuck in six ways, continue with what `penstock rescue` wrote, with a fitting and valid first request?"""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from proof.loopback_model import LoopbackModel

from proof import hosts
from tests.hosts.sessions.validity import complaints
from tests.hosts.test_real_hosts import asked, real

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("X-3")

TASK = "TASK-ONE fix the parser"
MAX_IMAGE_BYTES = 200_000
PASTED = "\n" + "".join(f"line {number} of what a person put in\n" for number in range(120))


class Shell(NamedTuple):
    """A host's shell tool, the name of its argument, and a window that holds the session without a flood and not with it."""

    tool: str
    argument: str
    window_tokens: int

    def call(self, command: str) -> dict[str, object]:
        """Return its arguments."""
        return {self.argument: command, "description": "flood"}


SHELLS = {"claude": Shell("Bash", "command", 15_000), "codex": Shell("exec_command", "cmd", 11_500)}
WAYS = ["flood", "many", "orphan", "torn", "compaction", "image"]
# Claude Code closes the call itself, and records that, before it asks.
WHY = {"orphan-codex": "orphan_call", "torn": "torn_line", "compaction": "compaction_overflows", "image": "image_bytes"}


class Machine:
    """A host in its own home."""

    def __init__(self, host: str, folder: Path) -> None:
        self.host = host
        self.program = str(real(host))
        self.home, self.root, self.store = folder / "home", folder / "root", folder / "store"
        self.home.mkdir()
        self.root.mkdir()
        self.shell = SHELLS[host]

    def ask(self, model: LoopbackModel, words: str, session: str = "", *more: str) -> str:
        """Send words of a person, in a new session or an old one; return what is printed."""
        arguments, environment = asked(self.host, model.url, self.home)
        if self.host == "claude":
            command = [*(["--resume", session] if session else []), "-p", words, "--allowedTools", "Bash", "Read"]
        else:
            command = [arguments[0], *(["resume", session] if session else []), *arguments[1:-1], *more, words]
        return hosts.run([self.program, *command], self.root, self.home, environment)

    def session(self) -> Path:
        """Return the file of its only session."""
        (found,) = (path for path in self.home.rglob("*.jsonl") if TASK in path.read_text())
        return found

    def go_on(self, words: str, window_tokens: int) -> None:
        """Send words in the session, and have it refused."""
        with LoopbackModel("nothing", {}) as model:
            model.asked, model.window_tokens = True, window_tokens
            printed = self.ask(model, words, session_id(self.session()))
        assert model.refused, printed[-600:]

    def get_stuck(self, way: str) -> Path:
        """Bring the session to a halt; return its file."""
        shell = self.shell
        with LoopbackModel(shell.tool, shell.call("seq 1 5000")) as model:
            model.window_tokens = shell.window_tokens
            if way == "many":
                model.arguments = shell.call("seq 1 200")
                model.later = [(shell.tool, shell.call(f"seq {number}000 {number}200")) for number in range(1, 12)]
            elif way == "orphan":  # the shell ends the host that waits for it
                model.window_tokens = 10 * shell.window_tokens
                model.later = [(shell.tool, shell.call("sleep 2; kill -9 $PPID"))]
            elif way == "image":
                draw(self.root / "a.png")
                model.max_image_bytes, model.asked = MAX_IMAGE_BYTES, self.host == "codex"
                model.window_tokens = 10 * shell.window_tokens
                model.tool, model.arguments = "Read", {"file_path": str(self.root / "a.png")}
            elif way == "compaction" and self.host == "codex":  # it keeps what the person said, which is too much
                model.window_tokens = 18_000
            more = ["-i", str(self.root / "a.png"), "--"] if way == "image" else []
            pasted = PASTED * 6 if way == "compaction" and self.host == "codex" else ""
            printed = self.ask(model, TASK + pasted, "", *more)
            assert model.refused or way == "orphan", printed[-600:]
        path = self.session()
        if way == "orphan":  # refused for more than its session: a host that can compacts, and is free again
            self.go_on("go on", 9_000)
        elif way == "compaction":
            words, window = ("/compact", shell.window_tokens) if self.host == "claude" else (PASTED * 6, 18_000)
            self.go_on(words, window)
        elif way == "torn":
            with open(path, "ab") as file:
                file.write(b'{"type":"user","message":{"role":"us')
        elif way == "image" and self.host == "claude":
            refuse_image(path)
        return path

    def rescue(self, path: Path, *options: str) -> tuple[int, dict[str, Any]]:
        """Return the result of `penstock rescue`."""
        command = [
            sys.executable,
            "-m",
            "penstock",
            "rescue",
            str(path),
            *options,
            "--json",
            "--store",
            str(self.store),
        ]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert not ran.stderr, ran.stderr
        return ran.returncode, json.loads(ran.stdout)

    def first_request(self, session: str, *, max_image_bytes: int | None = None) -> Any:
        """Return the host's first request when the session is resumed with the window that it exceeded."""
        with LoopbackModel("nothing", {}) as model:
            model.asked, model.window_tokens = True, self.shell.window_tokens
            model.max_image_bytes = max_image_bytes
            printed = self.ask(model, "go on", session)
        assert (model.refused, len(model.bodies)) == (0, 1), printed[-600:]
        return model.bodies[0]


def session_id(path: Path) -> str:
    """Return the session's own id."""
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record["type"] == "session_meta":
            return str(record["payload"]["id"])
        if "sessionId" in record:
            return str(record["sessionId"])
    raise AssertionError(path)


def draw(path: Path, side: int = 420) -> None:
    """Return an image of noise, which nothing makes smaller."""
    rows = b"".join(b"\0" + random.randbytes(side * 3) for _ in range(side))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )


def refuse_image(path: Path) -> None:
    """Write the refusal as the host does. 2.1.332 itself omits the image and continues; older versions stayed stuck."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    at = next(place for place, record in enumerate(records) if '"tool_result"' in json.dumps(record))
    words = "messages.2.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"
    refused = {key: records[at][key] for key in ("cwd", "sessionId", "version", "isSidechain", "userType", "timestamp")}
    refused |= {"type": "assistant", "uuid": "refused", "parentUuid": records[at]["uuid"], "isApiErrorMessage": True}
    content = [{"type": "text", "text": f"API Error: 400 {words}"}]
    refused["message"] = {"role": "assistant", "model": "<synthetic>", "content": content}
    path.write_text("".join(json.dumps(record) + "\n" for record in [*records[: at + 1], refused]))


@pytest.mark.parametrize("host", SHELLS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.timeout(200)
def test_a_stuck_session_continues(host: str, way: str, tmp_path: Path) -> None:
    """The host resumes a new session; the old one is unchanged, and rescuing the new one finds nothing to do."""
    machine = Machine(host, tmp_path)
    path = machine.get_stuck(way)
    before = path.read_bytes()
    if (host, way) == ("codex", "compaction"):
        machine.shell = machine.shell._replace(window_tokens=18_000)
    window = ["--window", str(machine.shell.window_tokens)]
    status, made = machine.rescue(path, *window)
    assert status == 0, made
    assert path.read_bytes() == before
    why = WHY.get(f"{way}-{host}", WHY.get(way, "overflow_refused"))
    assert why in [finding["code"] for finding in made["findings"]]
    status, again = machine.rescue(made["written"] and type(path)(made["written"]), *window)
    assert (status, again["written"]) == (1, None), again
    sent = machine.first_request(made["session"], max_image_bytes=MAX_IMAGE_BYTES)
    text = json.dumps(sent)
    assert complaints(sent) == []
    assert TASK in text
    assert "go on" in text
    assert made["cut"]
    assert [cut for cut in made["cut"] if cut["handle"] not in text] == []
    assert "\\n2500\\n" not in text


@pytest.mark.parametrize("host", SHELLS)
@pytest.mark.timeout(200)
def test_an_append_is_a_compaction_and_can_be_taken_back(host: str, tmp_path: Path) -> None:
    """The same session continues, later compacts by itself, and is as before when it is cut to its old length."""
    machine = Machine(host, tmp_path)
    path = machine.get_stuck("flood")
    before = path.read_bytes()
    status, made = machine.rescue(path, "--append", "--window", str(machine.shell.window_tokens))
    assert status == 0, made
    appended = path.read_bytes()
    assert appended.startswith(before)
    sent = machine.first_request(made["session"])
    text = json.dumps(sent)
    assert complaints(sent) == []
    assert text.count(TASK) == 1
    assert made["cut"][0]["handle"] in text
    assert "\\n2500\\n" not in text
    if host == "claude":  # its own compaction fails after a boundary without figures
        with LoopbackModel("nothing", {}) as model:
            model.asked = True
            machine.ask(model, "/compact", made["session"])
        assert path.read_text().count('"compact_boundary"') == 2
    path.write_bytes(appended)
    subprocess.run(made["undo"], shell=True, check=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize("host", SHELLS)
@pytest.mark.timeout(200)
def test_a_session_that_its_host_has_open_is_left_alone(host: str, tmp_path: Path) -> None:
    """The host waits for its shell, which runs `penstock rescue` on the host's own session."""
    machine = Machine(host, tmp_path)
    shell, told = machine.shell, tmp_path / "told.json"
    find = f"$(grep -l TASK-ONE $(find {machine.home} -name '*.jsonl'))"
    command = f"{sys.executable} -m penstock rescue {find} --window 100 --json > {told}; echo status $?"
    with LoopbackModel(shell.tool, shell.call(command)) as model:
        machine.ask(model, TASK)
    found = json.loads(told.read_text())
    assert "live_session" in [finding["code"] for finding in found["findings"]]
    assert found["written"] is None
    assert "status 3" in model.received[-1]


@pytest.mark.parametrize("host", SHELLS)
@pytest.mark.timeout(200)
def test_a_session_that_is_not_stuck_is_left_alone(host: str, tmp_path: Path) -> None:
    """Nothing is written, and the exit status is 1."""
    machine = Machine(host, tmp_path)
    with LoopbackModel(machine.shell.tool, machine.shell.call("seq 1 100")) as model:
        model.window_tokens = 100_000
        machine.ask(model, TASK)
    path = machine.session()
    files = sorted(machine.home.rglob("*.jsonl"))
    status, told = machine.rescue(path)
    assert (status, told["written"], told["stuck"]) == (1, None, [])
    assert sorted(machine.home.rglob("*.jsonl")) == files
    assert not machine.store.exists()

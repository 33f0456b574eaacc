"""Do programs behind the relay behave as without it, except for what is too large?"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests import forks
from tests.mcp.conftest import REPOSITORY
from tests.relay.traffic import call, line, modern, request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SERVER = [sys.executable, "-m", "tests.relay.server"]
RELAY = [sys.executable, "-m", "penstock", "relay"]


def warm_relay() -> list[str]:
    """Replace `RELAY` in tests that do not concern its process: its number, its memory, its children."""
    return [*forks.warm(*forks.RELAY), *RELAY[1:]]


class Ends:
    """A program, or the relay in front of it, and both its ends."""

    def __init__(self, command: list[str], store: Path | str, **environment: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=REPOSITORY,
            env={**os.environ, "PENSTOCK_STORE": str(store), **environment},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout

    def send(self, *messages: bytes) -> None:
        self.input.write(b"".join(messages))
        self.input.flush()

    def ask(self, message: bytes) -> dict[str, Any]:
        self.send(message)
        got = json.loads(self.output.readline())
        assert isinstance(got, dict)
        return got

    def text(self, message: bytes) -> str:
        return str(self.ask(message)["result"]["content"][0]["text"])

    def end(self) -> tuple[int, bytes, bytes]:
        output, errors = self.process.communicate(timeout=40)
        return self.process.returncode, output, errors


@pytest.fixture
def relayed(tmp_path: Path) -> Iterator[Ends]:
    """Run the server behind the relay."""
    ends = Ends([*RELAY, "--", *SERVER], tmp_path / "store")
    yield ends
    ends.process.kill()
    ends.process.communicate()


def is_there(process: int) -> bool:
    """Return whether a process lives; one that has ended and waits for its parent does not."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except FileNotFoundError:
        return False


def is_gone(process: int) -> bool:
    """Return whether a process ends within some seconds."""
    for _ in range(200):
        if not is_there(process):
            return True
        time.sleep(0.05)
    return False


def children_of(process: int) -> list[int]:
    """Return the processes that a process has started."""
    with open(f"/proc/{process}/task/{process}/children", "rb") as file:
        return [int(number) for number in file.read().split()]


SCRIPTS = {
    "unknown methods": [request("nobody/knows", 1), request("ping", "1")],
    "malformed": [b"no json\n", b'{"jsonrpc":\n', b"\xff\xfe\n", b"[]\n", b"\n", request("ping", 2)],
    "a small call": [request("initialize", 0, protocolVersion="2025-06-18"), call("text", 1, size=5_000)],
    "ids": [call("text", 1, size=1), call("text", "1", size=2), call("text", -1.5, size=3)],
    "noise": [call("noise", 1)],
    "no line end": [call("text", 1, size=9), request("ping", 2).rstrip()],
    "a request of the server": [call("ask", 1), line({"jsonrpc": "2.0", "id": 1, "result": {"x": 1.50}})],
    "exit": [call("exit", 1, status=7)],
    "killed": [call("die", 1, signal=9)],
    "aborted": [call("die", 1, signal=6)],
    "the error output": [call("said", 1)],
    "nothing": [],
    "a long line": [line({"jsonrpc": "2.0", "method": "x", "params": "y" * 3_000_000}), request("ping", 1)],
}


@pytest.mark.proves("Y-2")
@pytest.mark.parametrize("script", SCRIPTS)
def test_it_is_as_without_it(script: str, tmp_path: Path) -> None:
    """Both outputs, and the way it ends, are the program's own."""

    def run(command: list[str]) -> tuple[int, bytes, bytes]:
        ends = Ends(command, tmp_path / "store")
        output, errors = ends.process.communicate(b"".join(SCRIPTS[script]), timeout=40)
        return ends.process.returncode, output, errors

    assert run([*RELAY, "--", *SERVER]) == run(SERVER)


@pytest.mark.proves("Y-1", "Y-2")
def test_a_flood_is_paged_back_by_the_printed_calls(relayed: Ends) -> None:
    """Call by call, the whole is returned byte for byte; progress comes before it."""
    relayed.send(call("progress", 1))
    notes = [json.loads(relayed.output.readline()) for _ in range(5)]
    assert [note["params"]["progress"] for note in notes] == list(range(5))
    cut = json.loads(relayed.output.readline())["result"]["content"][0]["text"]
    whole, following = b"", re.search(r"ctx_page\((.*?)\)", cut)
    number = 1
    while following:
        number += 1
        arguments = json.loads("{" + re.sub(r"(\w+)=", r'"\1":', following[1]) + "}")
        page = relayed.text(modern("tools/call", number, name="ctx_page", arguments=arguments))
        head, _, body = page.partition("\n")
        whole += body.encode()
        following = re.search(r"next: ctx_page\((.*?)\)", head)
    assert whole == b"".join(b"%d: a line\n" % at for at in range(10_000))
    handle = re.search(r'handle="([^"]+)"', cut)
    assert handle
    found = relayed.text(call("ctx_find", 99, handle=handle[1], pattern="^9999:"))
    assert "9999: a line" in found
    assert "no artifact nothing" in relayed.text(call("ctx_page", 100, handle="nothing"))


def test_the_list_has_our_tools_and_the_answers_of_both_eras_are_theirs(relayed: Ends) -> None:
    """`resultType` is there if the era has it."""
    tools = relayed.ask(request("tools/list", "l"))["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["text", "ctx_page", "ctx_find"]
    assert "outputSchema" not in tools[0]
    assert relayed.ask(modern("tools/call", 1, name="ctx_page", arguments={}))["result"]["resultType"] == "complete"
    assert "resultType" not in relayed.ask(call("ctx_page", 2))["result"]


def test_a_line_of_a_hundred_megabytes_is_kept_or_passes(relayed: Ends, tmp_path: Path) -> None:
    """It is kept if it can be held, in memory that does not grow by much more; a longer one passes."""
    size = 100_000_000
    text = relayed.text(call("text", 1, size=size))
    assert len(text) <= 16_000
    assert f"{size} bytes" in text
    passing = Ends([*RELAY, "--hold-bytes", "1000000", "--", *SERVER], tmp_path / "store")
    assert len(passing.text(call("text", 1, size=size))) == size
    with open(f"/proc/{passing.process.pid}/status", encoding="ascii") as file:
        peak = next(int(row.split()[1]) for row in file if row.startswith("VmHWM"))
    assert b"more than 1000000 bytes passed uncut" in passing.end()[2]
    assert peak < 90_000  # kB


def test_a_reader_that_is_slow_holds_up_the_program(relayed: Ends) -> None:
    """This holds in both directions, and neither blocks the other: nothing grows meanwhile."""
    asked = [call("text", number, size=10_000) for number in range(1, 3_000)]
    sender = threading.Thread(target=relayed.send, args=asked)
    sender.start()
    time.sleep(1.0)
    with open(f"/proc/{relayed.process.pid}/status", encoding="ascii") as file:
        resident = next(int(row.split()[1]) for row in file if row.startswith("VmRSS"))
    assert resident < 90_000  # kB
    numbers = [json.loads(relayed.output.readline())["id"] for _ in asked]
    sender.join()
    assert numbers == list(range(1, 3_000))


@pytest.mark.proves("Y-2")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_program_and_ends_both_alike(number: int, relayed: Ends, tmp_path: Path) -> None:
    """The caller sees the same signal or status."""
    relayed.ask(request("ping"))
    programs = children_of(relayed.process.pid)
    relayed.process.send_signal(number)
    direct = Ends(SERVER, tmp_path)
    direct.ask(request("ping"))
    direct.process.send_signal(number)
    for ends in (relayed, direct):  # before their input ends, which would end them too
        ends.process.wait(timeout=40)
    assert relayed.end()[0] == direct.end()[0]
    assert all(map(is_gone, programs))


@pytest.mark.proves("Y-2")
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_nothing_is_left_whatever_is_killed(relayed: Ends, tmp_path: Path) -> None:
    """The relay itself is killed, with a program that ignores signals and has started another that holds its pipes."""
    left = int(relayed.text(call("leave", 1)))
    assert relayed.text(call("deaf", 2)) == "deaf"
    children = children_of(relayed.process.pid)
    assert len(children) == 2  # the program, and its watcher
    relayed.process.kill()
    assert all(is_gone(process) for process in [*children, left])
    other = Ends([*RELAY, "--", *SERVER], tmp_path / "store")
    left = int(other.text(call("leave", 1)))
    children = children_of(other.process.pid)
    other.send(call("die", 2, signal=9))
    assert other.end()[0] == -9
    assert all(is_gone(process) for process in [*children, left])


def test_a_host_that_is_gone_leaves_no_deaf_program(tmp_path: Path) -> None:
    """Its input ends and nobody reads its output: it is told to end, then killed."""
    ends = Ends([*RELAY, "--", *SERVER], tmp_path / "store")
    assert ends.text(call("deaf", 1)) == "deaf"
    children = children_of(ends.process.pid)
    ends.input.close()
    ends.output.close()
    assert ends.process.wait(30) == -9
    assert all(map(is_gone, children))
    assert ends.process.stderr is not None
    ends.process.stderr.close()


@pytest.mark.proves("Y-2")
def test_a_program_that_closes_its_output_and_lives_on_is_at_its_end_for_the_host(relayed: Ends) -> None:
    """The host sees the end at once, as without the relay; its earlier requests to us are still answered."""
    page = [call("ctx_page", number, handle="nothing") for number in range(2, 40)]
    relayed.send(*page, call("close", 1))
    start = time.monotonic()
    lines = relayed.output.read().splitlines()
    assert time.monotonic() - start < 10
    assert sorted(json.loads(raw)["id"] for raw in lines) == list(range(1, 40))
    assert relayed.process.poll() is None
    relayed.process.terminate()
    assert relayed.process.wait(10) == -signal.SIGTERM


def test_a_tool_of_the_server_is_the_servers_before_any_list_has_passed(tmp_path: Path) -> None:
    """A host may know its tools from an earlier day: the server is asked for all its pages, which its host does not see."""
    ends = Ends([*RELAY, "--", *SERVER, "pages"], tmp_path / "store")
    ends.send(call("ctx_page", 1, handle="x"), request("ping", 2), call("penstock_ctx_page", 3, handle="x"))
    status, output, _ = ends.end()
    answers = {got["id"]: got for got in map(json.loads, output.splitlines())}
    assert (status, sorted(answers)) == (3, [1, 2, 3])
    assert answers[1]["result"]["content"][0]["text"] == "a page of the server's own"
    assert "no artifact x" in answers[3]["result"]["content"][0]["text"]


def test_a_server_that_lists_nothing_keeps_no_call_of_ours_waiting_for_long(tmp_path: Path) -> None:
    """One server is silent for five seconds, only once; another refuses at once."""
    silent = Ends([*RELAY, "--", "sh", "-c", "cat >/dev/null"], tmp_path / "store")
    start = time.monotonic()
    assert "no artifact x" in silent.text(call("ctx_page", 1, handle="x"))
    assert 4 < time.monotonic() - start < 20
    start = time.monotonic()
    assert "no artifact x" in silent.text(call("ctx_page", 2, handle="x"))
    assert time.monotonic() - start < 4.5
    silent.end()
    refusing = Ends([*RELAY, "--", *SERVER, "refuses"], tmp_path / "store")
    refusing.ask(request("ping", 9))  # it runs
    start = time.monotonic()
    assert "no artifact x" in refusing.text(modern("tools/call", 1, name="ctx_page", arguments={"handle": "x"}))
    assert time.monotonic() - start < 4.5
    refusing.end()


@pytest.mark.parametrize("bad", ['{"method":"notifications/cancelled","params":{"requestId":1e}}', '{"id":"\\q"}'])
def test_a_line_that_cannot_be_read_holds_up_no_other(bad: str, relayed: Ends) -> None:
    """This holds in both directions."""
    relayed.send(bad.encode() + b"\n")
    assert "not JSON" in relayed.ask(request("ping", 8))["error"]["message"]
    assert json.loads(relayed.output.readline())["id"] == 8


@pytest.mark.parametrize("direction", ["from_client", "is_plain_for_client"])
def test_a_direction_that_fails_ends_the_program(direction: str, tmp_path: Path) -> None:
    """It never does so silently; a single failing message passes."""
    broken = (
        "import sys\nfrom penstock.relay.conversation import Conversation\nfrom penstock.cli import main\n"
        f"def fail(*_):\n    raise KeyError('odd')\nConversation.{direction} = fail\n"
        f"sys.argv = ['penstock', 'relay', '--', *{SERVER!r}]\nmain()\n"
    )
    ends = Ends([sys.executable, "-c", broken], tmp_path / "store")
    ends.send(call("text", 1, size=1_000_000))
    if direction == "from_client":
        assert json.loads(ends.output.readline())["id"] == 1
        assert b"a message passed unread: KeyError: 'odd'" in ends.end()[2]
    else:
        ends.process.wait(timeout=40)  # before its input ends, at which the server might end first
        status, _, errors = ends.end()
        assert status == -signal.SIGKILL
        assert b"the relay ends its server, because it failed: KeyError: 'odd'" in errors


@pytest.mark.parametrize(("program", "status"), [("/nowhere/at/all", 127), ("/etc/passwd", 126)])
def test_a_program_that_is_not_there_is_named(program: str, status: int, tmp_path: Path) -> None:
    """The status is that of a shell, and no process is left."""
    ended, output, errors = Ends([*RELAY, "--", program], tmp_path).end()
    assert (ended, output) == (status, b"")
    assert program.encode() in errors

"""Does a recorded session with each of fifteen MCP servers of others give the same with and without the relay?"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import threading
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import pytest

from penstock.store import open_store
from tests.relay.foreign import SERVERS, Foreign
from tests.relay.test_stdio import RELAY
from tests.relay.traffic import request

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS = 60.0
_QUIET_SECONDS = 0.3
OURS = {"ctx_page", "ctx_find"}
# What differs between two runs of the same server: times, ids, durations.
_CHANGING = re.compile(
    rb"""\d{4}-\d\d-\d\d[T ]\d\d[:-]\d\d([:-]\d\d([.-]\d+)?)?(Z|[+-]\d\d:?\d\d)?  # a time
    | [0-9a-f]{8}-[0-9a-f-]{27} | \b[0-9a-f]{7,40}\b | \d+(\.\d+)?[ ]?m?s\b""",
    re.VERBOSE,
)


class Server:
    """A server at pipes, with or without the relay in front, and everything that it writes."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=folder, env={**os.environ, **environment}
        )
        assert self._process.stdin is not None
        self._input = self._process.stdin
        self._lines: Queue[bytes] = Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self._lines.put(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._input.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()

    def send(self, message: bytes) -> None:
        """Write a message that expects no answer."""
        self._input.write(message)
        self._input.flush()

    def ask(self, message: bytes, number: int) -> tuple[bytes, list[bytes]]:
        """Write a request; return its answer, and what came before and shortly after. Requests of the server are refused."""
        self.send(message)
        answer = b""
        others: list[bytes] = []
        while True:
            try:
                line = self._lines.get(timeout=_QUIET_SECONDS if answer else _SECONDS)
            except Empty:
                assert answer, f"no answer to {message[:200]!r}"
                return answer, others
            got = json.loads(line)
            if got.get("id") == number and "method" not in got:
                answer = line
            elif "method" in got and "id" in got:
                error = {"code": -32601, "message": "Method not found"}
                self.send(json.dumps({"jsonrpc": "2.0", "id": got["id"], "error": error}).encode() + b"\n")
                others.append(line)
            else:
                others.append(line)


class Recorded(NamedTuple):
    """A server's answer, and what else it sent meanwhile."""

    what: str
    answer: bytes
    others: list[bytes]
    is_asked: bool = False
    """True if it answers one of the server's calls."""


def session(command: list[str], server: Foreign, folder: Path, store: Path) -> list[Recorded]:
    """Run a session that asks for all that a server lists, for missing things, and for what its calls name."""
    answers: list[Recorded] = []
    with Server(command, folder, {"PENSTOCK_STORE": str(store), **server.environment(folder)}) as there:

        def ask(what: str, method: str, **params: object) -> dict[str, Any]:
            number = len(answers) + 1
            answer, others = there.ask(request(method, number, **params), number)
            answers.append(Recorded(what, answer, others, is_asked=what[0] == "+"))
            got = json.loads(answer)
            assert isinstance(got, dict)
            return got

        client = {"name": "recorder", "version": "1"}
        ask("initialize", "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        there.send(request("notifications/initialized", None).replace(b'"id": null, ', b""))
        for kind in ("tools", "prompts", "resources", "resources/templates"):
            got = ask(f"{kind}/list", f"{kind}/list")
            while after := got.get("result", {}).get("nextCursor"):
                got = ask(f"{kind}/list", f"{kind}/list", cursor=after)
        ask("ping", "ping")
        ask("an unknown method", "no/such/method")
        ask("an unknown tool", "tools/call", name="no_such_tool", arguments={})
        for tool, arguments in server.calls(folder):
            ask(
                f"+ {tool} {json.dumps(arguments)[:60]}".replace(str(folder), "/run"),
                "tools/call",
                name=tool,
                arguments=arguments,
            )
    return answers


def without_ours(answer: bytes) -> Any:
    """Return a list of tools without our two, and without the schemas that a cut result would break."""
    got = json.loads(answer)
    got["result"]["tools"] = [
        {key: value for key, value in tool.items() if key != "outputSchema"}
        for tool in got["result"]["tools"]
        if tool["name"] not in OURS
    ]
    return got


def masked(line: bytes) -> bytes:
    """Return a message without what differs between two runs."""
    return _CHANGING.sub(b"#", line)


@pytest.mark.proves("Y-1")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_a_recorded_session_is_the_same_through_the_relay(server: Foreign, tmp_path: Path) -> None:
    """It is equal to the byte, except for our two tools, schemas of results and large content, which is kept whole."""
    if "PENSTOCK_TEST_SERVERS" not in os.environ:
        pytest.skip(
            "others' servers take minutes: PENSTOCK_TEST_SERVERS=1 drives those that scripts/tools has installed"
        )
    program = server.installed()
    if program is None:
        pytest.skip(f"{server.name} is not installed (scripts/tools servers installs it)")
    first, second, through = (
        recorded(tmp_path / str(number), [*relay, *program], server, tmp_path / "store")
        for number, relay in enumerate(([], [], [*RELAY, "--"]))
    )
    floods = 0
    for one, again, ours in zip(first, second, through, strict=True):
        assert one.what == ours.what
        if ours.what != "tools/list" and b"[OUTPUT TRUNCATED]" in ours.answer:
            floods += 1
            whole = kept(ours.answer, tmp_path / "store").replace(str(tmp_path / "2").encode(), b"/run")
            texts = [part.get("text", "") for part in json.loads(one.answer)["result"]["content"]]
            assert any(masked(text.encode()) in masked(whole) for text in texts), one.what
        elif one.what == "tools/list" and "result" in json.loads(one.answer):
            assert without_ours(ours.answer) == without_ours(one.answer)
        elif one.answer == again.answer == masked(one.answer):
            assert ours.answer == one.answer, one.what
        else:
            assert masked(ours.answer) == masked(one.answer), one.what
        assert sorted(map(masked, ours.others)) == sorted(map(masked, one.others)), one.what
    calls = [one for one in first if one.is_asked]
    failed = [one.answer[:300] for one in calls if re.search(rb'"isError": ?true|^.{,40}"error"', one.answer)]
    assert len(calls) - len(failed) >= 2, failed
    assert floods >= server.floods
    print(f"{server.name}: {len(through)} answers, {len(calls)} calls, {len(failed)} failed, {floods} kept")


def recorded(at: Path, command: list[str], server: Foreign, store: Path) -> list[Recorded]:
    """Record a session on files that are the same in each run, with the same folder name."""
    folder = at / "project"
    prepare(folder)

    def renamed(line: bytes) -> bytes:
        return line.replace(str(at).encode(), b"/run")

    return [
        one._replace(answer=renamed(one.answer), others=[renamed(other) for other in one.others])
        for one in session([*command, *server.arguments(folder)], server, folder, store)
    ]


def kept(answer: bytes, store: Path) -> bytes:
    """Return what is kept behind the handle of a cut result."""
    handle = re.search(rb'handle=\\?\\?"([\w-]+)', answer)
    assert handle
    opened = open_store(str(store))
    try:
        return opened.read(handle[1].decode(), 0, 1 << 24)
    finally:
        opened.close()


def prepare(folder: Path) -> None:
    """Make the project on which the servers work: texts, a flood, a database, a repository."""
    folder.mkdir(parents=True)
    (folder / "poem.txt").write_text("one\ntwo\nthree\n")
    (folder / "flood.log").write_text("".join(f"{number}: a line of the log\n" for number in range(20_000)))
    (folder / "page.html").write_text("<title>T</title><h1>Head</h1>" + "<p>a paragraph of words</p>" * 5_000)
    base = sqlite3.connect(folder / "base.db")
    base.execute("create table numbers (n integer, word text)")
    base.executemany("insert into numbers values (?, ?)", [(n, f"word {n}") for n in range(10_000)])
    base.commit()
    base.close()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    dates = {**os.environ, "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}
    for words in (["init", "-q", "-b", "main"], ["add", "poem.txt", "flood.log"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=folder, env=dates, check=True)
    (folder / "poem.txt").write_text("one\n2\nthree\n")

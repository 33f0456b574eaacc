"""Is what is pasted into a conversation at a terminal one whole question, and do recommended commands work as printed?"""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
from contextlib import suppress
from io import StringIO
from threading import Event, Thread
from time import sleep
from typing import TYPE_CHECKING

import pytest
from tests.cli.screens import typed
from tests.forks import warm_penstock

from penstock.cli import main, running
from penstock.models import call, say
from penstock.store import open_store
from penstock.testing import LoopbackProvider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    """Serve a provider whose model answers with the size of the question, or first views a file."""

    def policy(request: dict[str, Any]) -> Any:
        asked = request["messages"][-1]
        return call("list_files") if asked["content"] == "look" else say(f"{len(asked['content'])} characters.")

    with LoopbackProvider("openai-chat", 200_000, policy=policy) as provider:
        yield provider


def at(provider: LoopbackProvider, folder: Path) -> list[str]:
    """Return the flags for the model, its files and the store."""
    return ["--model", "openai-chat:x", "--base-url", provider.base_url, "--root", str(folder)]


def written(descriptor: int, content: bytes) -> None:
    """Write all content, however little is accepted at a time."""
    while content:
        content = content[os.write(descriptor, content) :]


@pytest.mark.parametrize("is_piped_on", [False, True])
@pytest.mark.parametrize("said", ["x" * 5_000, "\n".join(f"line {n}" for n in range(40))], ids=["long", "lines"])
def test_what_is_pasted_at_a_terminal_is_one_question(
    said: str, is_piped_on: bool, provider: LoopbackProvider, tmp_path: Path
) -> None:
    """A terminal alone passes on 4,095 bytes of a line, and each of several lines as a question.

    A pipe after the command gets the answers and nothing else.
    """
    if "\n" in said and "libedit" in str(pytest.importorskip("readline").__doc__):
        pytest.skip("libedit takes each line of a paste for itself")
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "OPENAI_API_KEY": "any", "PENSTOCK_STORE": str(tmp_path / "store")}
    command = [*warm_penstock(), "chat", *at(provider, tmp_path)]
    with subprocess.Popen(
        command,
        env=environment,
        cwd=tmp_path,
        stdin=follower,
        stdout=subprocess.PIPE if is_piped_on else follower,
        stderr=follower,
        start_new_session=True,
    ) as child:
        os.close(follower)
        drawn = b""

        def drawn_until(word: bytes) -> None:
            nonlocal drawn
            while word not in drawn:
                drawn += os.read(leader, 65_536)
            drawn = drawn.partition(word)[2]

        drawn_until(b"> ")
        pasted = f"\x1b[200~{said}\x1b[201~\r".replace("\n", "\r").encode()
        typing = Thread(target=written, args=(leader, pasted))  # a terminal accepts no more than is read from it
        typing.start()
        drawn_until(b"[session ")
        typing.join(60)
        drawn_until(b"> ")
        os.write(leader, b"\x04")
        assert child.wait(60) == 0
        assert child.stdout is None or child.stdout.read().decode() == f"{len(said)} characters.\n"
    os.close(leader)
    assert [request.request["messages"][-1]["content"] for request in provider.requests] == [said]


def test_what_is_typed_from_habit_is_not_sent_to_a_model(provider: LoopbackProvider, tmp_path: Path) -> None:
    """`/help` is answered with how to end, and `exit` ends; a path that begins with a slash is part of a question."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "OPENAI_API_KEY": "any", "PENSTOCK_STORE": str(tmp_path / "store")}
    command = [*warm_penstock(), "chat", *at(provider, tmp_path)]
    with subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdin=follower, stdout=follower, stderr=follower, start_new_session=True
    ) as child:
        os.close(follower)
        written(leader, b"/help\r/etc/hosts is there?\rexit\r")
        drawn = b""
        with suppress(OSError):  # the terminal has gone with its last reader
            while read := os.read(leader, 65_536):
                drawn += read
        assert child.wait(60) == 0
    os.close(leader)
    assert drawn.count(b"An empty line ends the conversation; Ctrl-C stops an answer.") == 2
    assert b"There is no command /help." in drawn
    asked = [request.request["messages"][-1]["content"] for request in provider.requests]
    assert asked == ["/etc/hosts is there?"]


@pytest.mark.parametrize("sent", [[signal.SIGINT], [signal.SIGINT, signal.SIGINT], [signal.SIGTERM]])
def test_who_asks_twice_means_the_conversation(sent: list[signal.Signals], tmp_path: Path) -> None:
    """One Ctrl-C stops an answer, and the next question is accepted; a second right after it, or SIGTERM, ends the conversation."""
    is_asked, may_answer = Event(), Event()

    def policy(request: dict[str, Any]) -> Any:
        if not is_asked.is_set():
            is_asked.set()
            may_answer.wait(60)
        return say("Yes.")

    with LoopbackProvider("openai-chat", 200_000, policy=policy) as provider:
        environment = {**os.environ, "OPENAI_API_KEY": "any", "PENSTOCK_STORE": str(tmp_path / "store")}
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [*warm_penstock(), "chat", *at(provider, tmp_path)], env=environment, stdin=pipe, stdout=pipe, stderr=pipe
        ) as child:
            assert child.stdin is not None
            child.stdin.write(b"one\n")
            child.stdin.flush()
            assert is_asked.wait(60)
            for number in sent:
                child.send_signal(number)
                sleep(0.05)  # else the system would merge the two; the signal may arrive late, at the prompt
            output, errors = child.communicate(b"two\n", timeout=60)
            may_answer.set()
    goes_on = sent == [signal.SIGINT]
    assert (child.returncode, output) == ((0, b"Yes.\n") if goes_on else (130, b""))
    assert errors.count(b"interrupted") == 1


def test_what_is_recommended_names_the_store(
    provider: LoopbackProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command copied from a message concerns the same session, even if the store is not the user's own."""
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    store = ["--store", str(tmp_path / "a store")]
    open_store(store[1]).close()
    none = typed("sessions", *store, cwd=tmp_path)
    assert none.stdout.endswith(shlex.join(store) + "\n")
    stopped = typed("run", "look", "--max-turns", "1", *at(provider, tmp_path), *store, cwd=tmp_path)
    way = shlex.split(stopped.stderr.partition("To continue: penstock ")[2].partition("\n")[0])
    resumed = typed(*way, cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    again = typed(*way, cwd=tmp_path)  # nothing is open any more
    said = json.loads(typed(*way, "--json", cwd=tmp_path).stdout)
    assert said["usage"] == {"input_tokens": 0, "output_tokens": 0}
    more = shlex.split(again.stderr.partition("To ask more: penstock ")[2].partition("\n")[0])
    assert typed(*more, cwd=tmp_path).stdout == f"{len('QUESTION')} characters.\n"


@pytest.mark.parametrize("command", ["run", "chat", "resume"])
def test_a_folder_without_a_name_is_no_folder(
    command: str, provider: LoopbackProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty script variable is not the current folder, where an agent that may edit would work."""
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    store = ["--store", str(tmp_path / "store")]
    begun = typed("run", "hello", *at(provider, tmp_path), *store, "--json", cwd=tmp_path)
    words = {"run": ["again"], "chat": [], "resume": [json.loads(begun.stdout)["session"], "again"]}[command]
    refused = typed(command, *words, "--root", "", *store, cwd=tmp_path, stdin=b"again\n")
    assert refused.returncode == 2
    assert "It takes a folder, not an empty string" in refused.stderr
    assert len(provider.requests) == 1


def test_a_line_without_an_end_is_told_and_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reading /dev/zero used to take 2.4 GB within seconds; a line of the maximum length is still a question."""
    monkeypatch.setattr(running, "_LINE_CHARS", 20)
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "store"))
    line = ["chat", "--root", str(tmp_path), "--json"]
    monkeypatch.setattr("sys.stdin", StringIO("where is the port?\n\n"))
    assert main(line) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "answered"
    monkeypatch.setattr("sys.stdin", StringIO("x" * 21))
    assert main(line) == 2
    assert "into a file beneath --root" in json.loads(capsys.readouterr().out)["error"]["message"]

"""What does a person see of a run whose store is on a server that goes away? A pause, or how to continue."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from tests.forks import warm_penstock
from tests.store.conftest import server  # noqa: F401 - a fixture

from penstock.agent.journal import resumed
from penstock.models import call, say
from penstock.store import open_store
from penstock.testing import LoopbackProvider

if TYPE_CHECKING:
    from pathlib import Path

    from tests.store.conftest import Server


@pytest.mark.proves("S-11")
@pytest.mark.parametrize(
    ("what", "wait", "status"), [("it comes back", "60", 0), ("Ctrl-C", "60", 130), ("nobody waits so long", "1", 8)]
)
def test_a_run_waits_for_the_server_of_its_store(
    server: Server,  # noqa: F811 - a fixture
    tmp_path: Path,
    what: str,
    wait: str,
    status: int,
) -> None:
    """The server stops while the model thinks, and what it says is shown; afterwards the session is whole, and continues."""
    (tmp_path / "app.py").write_text("port = 1\n")
    url = server.database(os.urandom(8).hex())
    asked = 0

    def policy(_: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == 2:
            server.stop()
        return call("view", file_path="app.py") if asked == 1 else say("It is 1.")

    with LoopbackProvider("openai-chat", 32_000, policy=policy) as provider:
        begin = ["run", "x", "--root", str(tmp_path), "--model", "openai-chat:x", "--base-url", provider.base_url]
        with subprocess.Popen(
            [*warm_penstock(), *begin, "--wait", wait, "--store", url],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as running:
            assert running.stderr is not None
            assert running.stdout is not None
            lines = [running.stderr.readline()]
            while " waits " not in lines[-1]:
                lines.append(running.stderr.readline())
            acted = time.monotonic()
            if what == "Ctrl-C":
                time.sleep(0.5)
                acted = time.monotonic()
                running.send_signal(signal.SIGINT)
            elif what == "it comes back":
                server.start()
            rest = running.stderr.read()
            took = time.monotonic() - acted
            answer = running.stdout.read()
    assert (running.returncode, asked) == (status, 2)
    assert "cannot be reached" in lines[-1]
    if status:
        server.start()
        assert "penstock resume" in rest
        assert answer == ""
        assert took < 10, "half a second on a quiet machine after Ctrl-C, else a second"
    else:
        assert "the store answers again" in rest
        assert answer == "It is 1.\n"
    with closing(open_store(url)) as store:
        (session,) = store.sessions()
        assert not session.is_running
        again, _, _ = resumed(store, session.session)
        assert again.state.phase == ("ready" if status else "idle")
        assert store.check() == []


def test_a_program_hears_that_the_store_is_waited_for(server: Server, tmp_path: Path) -> None:  # noqa: F811 - a fixture
    """The events of a session are in the store itself, so the wait for it has a type of its own."""
    url = server.database(os.urandom(8).hex())

    def policy(_: Any) -> Any:
        server.stop()
        threading.Timer(1.0, server.start).start()
        return say("Here.")

    with LoopbackProvider("openai-chat", 32_000, policy=policy) as provider:
        begin = ["run", "x", "--root", str(tmp_path), "--model", "openai-chat:x", "--base-url", provider.base_url]
        done = subprocess.run(
            [*warm_penstock(), *begin, "--store", url, "--output-format", "stream-json"],
            capture_output=True,
            text=True,
            check=True,
        )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    waits = [event["message"] for event in events if event["type"] == "wait"]
    assert waits[0].startswith("waits 10 min: postgresql://")
    assert waits[-1] == "the store answers again"
    assert (events[-1]["type"], events[-1]["answer"]) == ("result", "Here.")

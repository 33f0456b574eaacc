"""Real coding agents before the gateway: the same requests while they fit, and no end where they no longer do."""

from __future__ import annotations

import json
import os
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from proof.loopback_model import LoopbackModel

from proof import hosts
from tests.gateway.standing import standing
from tests.mcp.conftest import REPOSITORY
from tests.relay.test_real_hosts import differences, steady

if TYPE_CHECKING:
    from pathlib import Path

CALLS, LINES = int(os.environ.get("PENSTOCK_TEST_TURNS", "24")), 350
"""How often the model calls the tool, and how long its result is: 4 KB, which no host cuts or writes to a file."""
ROOM_BYTES = 40_000
"""What the model holds beside a host's first request: less than half of all results."""
SECONDS = 300 + 10 * CALLS
"""How long a session may take, on a busy machine."""


class Filling(LoopbackModel):
    """A model whose window is a little larger than what its host begins with, and that counts 30 % more than others."""

    def counted(self, sent: bytes) -> int:
        return len(sent) * 13 // 40

    def measures(self, sent: bytes) -> bool:
        if self.window_tokens is None and len(sent) > 20_000:
            self.window_tokens = self.counted(sent + bytes(ROOM_BYTES))
        return super().measures(sent)


def drive(host: str, folder: Path, model: LoopbackModel, url: str) -> str:
    """Run a host whose model is at an address; return what it printed."""
    program = hosts.installed(host)
    assert program is not None
    home, root = folder / "home", folder / "root"
    home.mkdir(parents=True)
    root.mkdir()
    server = [
        "/usr/bin/env",
        f"PYTHONPATH={REPOSITORY}:{REPOSITORY / 'src'}",
        sys.executable,
        "-m",
        "tests.relay.everything",
    ]
    command, environment = hosts.HOSTS[host](hosts.Setup(home=home, server=server, url=url))
    done = hosts.run([str(program), *command[1:]], root, home, environment)
    assert model.received, done[-500:]
    return done


@pytest.fixture(params=list(hosts.HOSTS))
def host(request: pytest.FixtureRequest) -> str:
    if "PENSTOCK_TEST_HOSTS" not in os.environ:
        pytest.skip(
            "real hosts take minutes: PENSTOCK_TEST_HOSTS=1 drives those that scripts/tools hosts has installed"
        )
    name: str = request.param
    if hosts.installed(name) is None:
        pytest.skip(f"{name} is not installed (scripts/tools hosts installs it)")
    return name


@pytest.mark.proves("W-1")
@pytest.mark.timeout(300)
def test_what_fits_is_the_same_with_and_without_the_gateway(host: str, tmp_path: Path) -> None:
    """Every value of every request, but for what differs between two runs of a host."""
    seen = []
    for at in ("direct", "through"):
        (tmp_path / at).mkdir()
        with LoopbackModel("lines", {"count": 50}) as model:
            model.later = [("lines", {"count": 60}), ("lines", {"count": 70})]
            if at == "direct":
                drive(host, tmp_path / at / "run", model, model.url)
            else:
                with standing(tmp_path, model.url) as gateway:
                    drive(host, tmp_path / at / "run", model, gateway.url)
        seen.append([steady(body, tmp_path / at / "run") for body in model.bodies])
        assert model.calls == 3
    assert differences(seen[0], seen[1]) == []


@pytest.mark.proves("W-2", "W-4")
@pytest.mark.timeout(SECONDS + 60)
def test_a_session_that_outgrows_its_window_goes_on(
    host: str, tmp_path: Path, record_property: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its provider counts in its own way and refuses; the host sees an answer each time, and the prefix holds in most turns."""
    monkeypatch.setattr(hosts, "SECONDS", SECONDS)
    with Filling("lines", {"count": LINES}) as model:
        model.later = [("lines", {"count": LINES + number % 50}) for number in range(1, CALLS)]
        with standing(tmp_path, model.url, offering="never") as gateway:
            printed = drive(host, tmp_path / "run", model, gateway.url)
            seen = gateway.gateway.seen
    assert model.calls == CALLS, printed[-500:]
    assert "done" in printed
    assert model.refused <= CALLS / 3  # none of them seen by the host
    assert seen.cuts
    assert not any(outcome == "returned" for _, outcome in seen.refusals)
    # What a host asks beside its session (a title, whether it goes round in circles) has no tools and another history.
    asked = [body for body in model.bodies if body.get("tools")]
    histories = [messages for body in asked if len(messages := messages_in(body)) > 3]
    broken = [turn for turn, (one, other) in enumerate(pairwise(histories), 2) if shared(one, other) < len(one)]
    kept = sum(len(json.dumps(other[: shared(one, other)])) for one, other in pairwise(histories))
    anew = sum(len(json.dumps(other[shared(one, other) :])) for one, other in pairwise(histories))
    record_property("turns", len(histories))
    record_property("prefix broken", broken)
    print(
        f"{host}: {len(histories)} requests, {model.refused} refused behind it; messages stood where they had stood for "
        f"{kept / (kept + anew):.0%} of their bytes, {anew // len(histories)} new bytes a turn; the prefix broke at {broken}"
    )
    assert len(broken) <= len(histories) / 2  # Copilot CLI rewrites its own history besides


def messages_in(body: dict[str, Any]) -> list[Any]:
    """Return the messages of a request of any API, without marks of caches."""
    found: list[Any] = next((body[key] for key in ("messages", "input", "contents") if key in body), [])
    return [unmarked(message) for message in found]


def unmarked(value: Any) -> Any:
    """Return a value without the marks of caches, which clients move from turn to turn."""
    if isinstance(value, dict):
        return {name: unmarked(held) for name, held in value.items() if name != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


def shared(one: list[Any], other: list[Any]) -> int:
    """Return how many messages two histories begin with that are equal."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (first, second) in enumerate(pairs) if first != second), min(len(one), len(other)))

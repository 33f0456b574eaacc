"""What the models of real coding agents receive of a foreign server's flood, with and without the relay before it."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
from proof.loopback_model import Call, LoopbackModel

from penstock.store import open_store
from proof import hosts
from tests.mcp.conftest import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

FOREIGN = [sys.executable, "-m", "tests.relay.everything"]
COUNT = 20_000
FLOOD = "".join(f"{at}: a line\n" for at in range(COUNT))


class Watching(LoopbackModel):
    """A model that remembers the tools that it was offered, as they were."""

    def __init__(self, tool: str, arguments: dict[str, object]) -> None:
        super().__init__(tool, arguments)
        self.bodies: list[dict[str, Any]] = []

    def turn(self, body: dict[str, Any]) -> Call | None:
        self.bodies.append(body)
        return super().turn(body)


def drive(host: str, server: list[str], folder: Path) -> Watching:
    """A host on a folder, with a foreign server, whose model asks for a flood."""
    program = hosts.installed(host)
    assert program is not None
    home, root = folder / "home", folder / "root"
    home.mkdir(parents=True)
    root.mkdir()
    # Hosts hand on little of their environment: what the server needs is set by `env`.
    store = f"PENSTOCK_STORE={folder / 'store'}"
    entry = ["/usr/bin/env", store, f"PYTHONPATH={REPOSITORY}:{REPOSITORY / 'src'}", *server]
    with Watching("lines", {"count": COUNT}) as model:
        command, environment = hosts.HOSTS[host](hosts.Setup(home=home, server=entry, url=model.url))
        done = hosts.run([str(program), *command[1:]], root, home, environment)
    assert model.received, done[-500:]
    return model


@pytest.mark.proves("Y-1")
@pytest.mark.parametrize("host", hosts.HOSTS)
@pytest.mark.timeout(300)
def test_the_model_receives_our_text_for_a_flood_of_a_foreign_server(host: str, tmp_path: Path) -> None:
    """Whole as we sent it, with a handle behind which the flood is; directly the host cuts it, and has no such tools."""
    if "PENSTOCK_TEST_HOSTS" not in os.environ:
        pytest.skip(
            "real hosts take minutes: PENSTOCK_TEST_HOSTS=1 drives those that scripts/tools hosts has installed"
        )
    if hosts.installed(host) is None:
        pytest.skip(f"{host} is not installed (scripts/tools hosts installs it)")
    direct = drive(host, FOREIGN, tmp_path / "direct")
    through = drive(host, [sys.executable, "-m", "penstock", "relay", "--", *FOREIGN], tmp_path / "through")
    got = through.received[-1]
    assert FLOOD not in direct.received[-1]  # the host cut it
    start = got.index("[OUTPUT TRUNCATED]\nTool 'lines' returned")
    shown = got[start:].partition("\n0: a line\n")[2]
    last = shown.rstrip("\n").splitlines()
    assert len(last) > 500
    numbers = [line for line in ("0: a line", *last) if line.endswith(": a line")]
    assert numbers == [f"{at}: a line" for at in range(len(numbers))]  # nothing of it was cut by the host
    handle = re.search(r'ctx_page\(handle=\\?"([\w-]+)', got)
    assert handle
    kept = open_store(str(tmp_path / "through" / "store"))
    try:
        assert kept.read(handle[1], 0, 1 << 20) == FLOOD.encode()
    finally:
        kept.close()
    ours = {name for name in through.offered if name.endswith(("ctx_page", "ctx_find"))}
    assert len(ours) == 2
    assert [name for name in through.offered if name not in ours] == direct.offered

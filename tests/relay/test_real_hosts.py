"""What do the models of real coding agents receive of a foreign server's flood, with and without the relay?"""

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
    """A model that records the tools that it was offered."""

    def __init__(self, tool: str, arguments: dict[str, object]) -> None:
        super().__init__(tool, arguments)
        self.bodies: list[dict[str, Any]] = []

    def turn(self, body: dict[str, Any]) -> Call | None:
        self.bodies.append(body)
        return super().turn(body)


def drive(host: str, server: list[str], folder: Path) -> Watching:
    """Run a host on a folder, with a foreign server, whose model asks for a flood."""
    program = hosts.installed(host)
    assert program is not None
    home, root = folder / "home", folder / "root"
    home.mkdir(parents=True)
    root.mkdir()
    # Hosts pass on little of their environment: what the server needs is set by `env`.
    store = f"PENSTOCK_STORE={folder / 'store'}"
    entry = ["/usr/bin/env", store, f"PYTHONPATH={REPOSITORY}:{REPOSITORY / 'src'}", *server]
    with Watching("lines", {"count": COUNT}) as model:
        command, environment = hosts.HOSTS[host](hosts.Setup(home=home, server=entry, url=model.url))
        done = hosts.run([str(program), *command[1:]], root, home, environment)
    assert model.received, done[-500:]
    return model


RUNS = ("direct", "through")
_IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\b[0-9a-f]{12,64}\b|\b[a-z]{3}_[0-9A-Za-z]{20,}|\d{13}")
_RESULT = "THE RESULT"
_TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z?|\d+\.\d+ seconds")


def steady(value: Any, run: Path) -> Any:
    """Return a request without our two tools, the result, and what differs between two runs of a host."""
    if isinstance(value, dict):
        made = {key: steady(one, run) for key, one in value.items()}
        # Codex and Claude Code write a structured result as one text, and one of texts as a list.
        key = "content" if made.get("type") == "tool_result" else "output"
        return made | ({key: _RESULT} if _RESULT in str(made.get(key)) else {})
    if isinstance(value, list):
        return [steady(one, run) for one in value if not _is_ours(one)]
    if isinstance(value, str) and "0: a line" in value:
        return _RESULT
    if isinstance(value, str):
        for path in (str(run), re.sub(r"[^A-Za-z0-9]", "-", str(run))):
            value = value.replace(path, "RUN")
        return _TIMES.sub("TIME", _IDS.sub("ID", value))
    return value


def differences(one: Any, other: Any, at: str = "") -> list[str]:
    """Return where two values differ, and how."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for key in one for found in differences(one[key], other[key], f"{at}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            found for n, pair in enumerate(zip(one, other, strict=True)) for found in differences(*pair, f"{at}[{n}]")
        ]
    first, second = str(one), str(other)
    same = next((n for n, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), 0)
    around = slice(max(0, same - 40), same + 120)
    return [] if one == other else [f"{at}: {first[around]!r} and {second[around]!r}"]


def _is_ours(tool: Any) -> bool:
    """Return whether this is the definition of one of our two tools, in any API's form."""
    if not isinstance(tool, dict):
        return False
    named = [tool.get("name"), *(one.get("name") for one in tool.values() if isinstance(one, dict))]
    return any(isinstance(name, str) and name.endswith(("ctx_page", "ctx_find")) for name in named)


@pytest.mark.proves("Y-1")
@pytest.mark.parametrize("host", hosts.HOSTS)
@pytest.mark.timeout(300)
def test_the_model_receives_our_text_for_a_flood_of_a_foreign_server(host: str, tmp_path: Path) -> None:
    """It is whole as we sent it, with a handle for the flood; without the relay the host cuts it, and has no such tools."""
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
    assert numbers == [f"{at}: a line" for at in range(len(numbers))]  # the host cut nothing of it
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
    # Nothing else of any request differs: no instruction, no description, no message but the result.
    asked = [
        [steady(body, tmp_path / at) for body in model.bodies]
        for at, model in zip(RUNS, (direct, through), strict=True)
    ]
    assert differences(asked[0], asked[1]) == []
    assert any(_RESULT in str(body) for body in asked[0])

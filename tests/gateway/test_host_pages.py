"""Does what a host's page tells a person to write lead that host to the gateway, with nothing else needed?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from proof.loopback_model import LoopbackModel

from penstock.hosts.catalogue import HOST_CONFIGS
from proof import hosts
from tests.gateway.standing import standing
from tests.mcp.conftest import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

SECTION = re.compile(r"^## In front of its model\n.*?^```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
KEY = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
# For each host: the file that its page names, the command that starts it, and its environment besides an address.
STARTED: dict[str, tuple[str, list[str], dict[str, str]]] = {
    "claude": (".claude/settings.json", ["-p", "read"], {"ANTHROPIC_API_KEY": "x"}),
    "codex": (".codex/config.toml", ["exec", "--skip-git-repo-check", "-m", "gpt-5.5", "read"], {}),
    "gemini": (
        ".gemini/.env",
        ["-m", "gemini-2.5-pro", "--yolo", "-p", "read"],
        {"GEMINI_API_KEY": "x", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    ),
    "qwen": (
        ".qwen/settings.json",
        ["--auth-type", "openai", "--yolo", "-p", "read"],
        {"OPENAI_API_KEY": "x", "OPENAI_MODEL": "m"},
    ),
    "opencode": (
        ".config/opencode/opencode.json",
        ["run", "-m", "anthropic/claude-sonnet-4-5", "read"],
        {"ANTHROPIC_API_KEY": "x"},
    ),
}


pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        "PENSTOCK_TEST_HOSTS" not in os.environ, reason="real hosts take minutes: PENSTOCK_TEST_HOSTS=1"
    ),
]


@pytest.mark.parametrize("way", ["its page", "the command"])
@pytest.mark.parametrize("host", STARTED)
def test_a_host_is_led_to_the_gateway(host: str, way: str, tmp_path: Path) -> None:
    """Its configuration has only the block of the page, or what `install --gateway` writes and removes without a trace."""
    program = hosts.installed(host)
    if program is None:
        pytest.skip(f"{host} is not installed (scripts/tools hosts installs it)")
    name, words, environment = STARTED[host]
    home, root = tmp_path / "home", tmp_path / "root"
    root.mkdir()
    with LoopbackModel("none", {}) as model, standing(tmp_path, model.url) as gateway:
        setup = hosts.Setup(home=home, server=[], url=gateway.url)
        if host == "codex":
            setup.write(".codex/auth.json", {"OPENAI_API_KEY": "x"})
        elif host == "gemini":
            setup.write(".gemini/settings.json", KEY)
        if way == "its page":
            block = SECTION.search((REPOSITORY / "docs" / "hosts" / f"{host}.md").read_text("utf-8"))
            assert block is not None
            setup.write(name, block[1].replace("http://127.0.0.1:4000", gateway.url))
        elif HOST_CONFIGS[host].base_url is None:
            pytest.skip(f"{host} keeps an address for each provider: `install` refuses it by name")
        else:
            penstock(home, "install", host, "--gateway", "--address", gateway.url)
        printed = hosts.run([str(program), *words], root, home, environment)
        if way == "the command":
            penstock(home, "uninstall", host)
            assert gateway.url not in (home / name).read_text() if (home / name).exists() else True
    assert model.bodies, printed[-500:]
    assert "done" in printed


def penstock(home: Path, *words: str) -> None:
    """Run a command in a home folder."""
    home.mkdir(exist_ok=True)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CLAUDE_", "CODEX_", "XDG_"))}
    command = [sys.executable, "-m", "penstock", *words, "--yes"]
    subprocess.run(command, env={**environment, "HOME": str(home)}, cwd=home, check=True, capture_output=True)

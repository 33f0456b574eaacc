"""What do the models of real coding agents receive from `penstock mcp`? `python -m proof.hosts` prints the table."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from proof.loopback_model import LoopbackModel
from tests.mcp.conftest import REPOSITORY

from proof import hosts

LINES = re.search(r"^```sh hosts\n(.*?)^```", (REPOSITORY / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
GEMINI_KEY = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
CODEX_SETTINGS = (
    'model="local"',
    'model_provider="loopback"',
    'model_providers.loopback={name="loopback",base_url="{url}/v1",wire_api="responses",env_key="LOOPBACK_KEY"}',
    "mcp_servers.penstock.required=true",  # the README says why
)
ASKS: dict[str, tuple[list[str], dict[str, str]]] = {
    "claude": (
        ["-p", "read", "--allowedTools", "mcp__penstock"],
        {
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": "x",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "MCP_CONNECTION_NONBLOCKING": "false",
            "ENABLE_TOOL_SEARCH": "false",
        },
    ),
    "codex": (
        ["exec", "--skip-git-repo-check", *(part for setting in CODEX_SETTINGS for part in ("-c", setting)), "read"],
        {"LOOPBACK_KEY": "x"},
    ),
    "gemini": (
        ["-m", "gemini-2.5-pro", "--yolo", "-p", "read"],
        {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    ),
}
"""Arguments and environment with which each host of the README is asked, with a model at `url`, without our server."""


@pytest.mark.parametrize("host", ASKS)
@pytest.mark.timeout(200)
def test_the_line_of_the_readme_is_all_that_a_host_needs(host: str, tmp_path: Path) -> None:
    """Run in a project, it gives the host's model our tools, over that project."""
    if "PENSTOCK_TEST_HOSTS" not in os.environ:
        pytest.skip("real hosts take minutes: PENSTOCK_TEST_HOSTS=1 drives them")
    program = hosts.installed(host)
    if program is None:
        pytest.skip(f"{host} is not installed (scripts/tools hosts installs it)")
    assert LINES
    line = f"{LINES[1].strip().replace('claude', host)} --yes"
    home, project = tmp_path / "home", tmp_path / "project"
    (home / ".gemini").mkdir(parents=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps(GEMINI_KEY))
    project.mkdir()
    (project / "poem.txt").write_text("one\ntwo\n")
    path = f"{Path(sys.executable).parent}:{program.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(home), "CODEX_HOME": f"{home}/.codex", "PATH": path, "TERM": "dumb"}
    (home / ".codex").mkdir()
    with LoopbackModel("ctx_view", {"file_path": "poem.txt"}) as model:
        subprocess.run(["bash", "-ec", line], cwd=project, env=environment, check=True, capture_output=True)
        arguments, more = ASKS[host]
        asked = [text.replace("{url}", model.url) for text in arguments]
        environment |= {name: value.replace("{url}", model.url) for name, value in more.items()}
        done = subprocess.run(
            [program, *asked],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
    assert any("poem.txt: showing lines 1-2 of 2 total" in text for text in model.received), done.stdout[-500:]


@pytest.mark.needs("npx")
@pytest.mark.proves("L-9")
@pytest.mark.parametrize("host", hosts.HOSTS)
@pytest.mark.timeout(200)
def test_the_model_receives_our_text_unchanged(host: str) -> None:
    """It is below the host's cut, header first, in a network that has only loopback."""
    if "PENSTOCK_TEST_HOSTS" not in os.environ:
        pytest.skip(
            "real hosts take minutes: PENSTOCK_TEST_HOSTS=1 drives those that scripts/tools hosts has installed"
        )
    if hosts.installed(host) is None:
        pytest.skip(f"{host} is not installed (scripts/tools hosts installs it)")
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("a network namespace needs unshare (util-linux) and ip (iproute2)")
    command = [sys.executable, "-m", "proof.hosts", host]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

"""Do the packages for other agents start existing commands and pass the hosts' own validators (H-6)?"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.hosts.catalogue import HOST_CONFIGS
from penstock.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
pytestmark = [pytest.mark.proves("H-6"), pytest.mark.xdist_group("packages")]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build all packages, and return their folder."""
    folder = tmp_path_factory.mktemp("packages")
    made(folder)
    return folder


def made(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `scripts/packages`."""
    words = [sys.executable, str(ROOT / "scripts" / "packages.py"), *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def read(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(path.read_text("utf-8"))


def commands(built: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield what the packages start, each with its host."""
    for host, at in (("claude", ".mcp.json"), ("gemini", "gemini-extension.json")):
        entry = read(built / host / at)["mcpServers"]["penstock"]
        yield host, [entry["command"], *entry["args"]]
        hooks = read(built / host / "hooks" / "hooks.json")["hooks"]
        config = HOST_CONFIGS[host].hooks
        assert config is not None
        assert config.event in hooks
        for groups in hooks.values():
            for group in groups:
                for hook in group["hooks"]:
                    yield host, shlex.split(hook["command"])


def test_what_a_package_starts_is_there(built: Path, tmp_path: Path) -> None:
    """A hook answers an empty event without an error, and a server ends when its input does."""
    for words, host in {tuple(words): host for host, words in commands(built)}.items():
        assert words[0] == "penstock", host
        ours = [sys.executable, "-m", *words]
        done = subprocess.run(ours, input="{}", cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, (host, words, done.stderr)


def test_the_plugin_of_opencode_is_ours(built: Path) -> None:
    """The file that the package names is our plugin, unchanged."""
    about = read(built / "opencode" / "package.json")
    assert (built / "opencode" / about["main"]).read_text() == (
        ROOT / "src" / "penstock" / "hosts" / "opencode_plugin.js"
    ).read_text()


def test_the_bundle_holds_a_server_that_answers(built: Path, tmp_path: Path) -> None:
    """The server uses the bundle's own wheel before anything installed, and has the tools in the manifest."""
    (bundle,) = built.glob("*.mcpb")
    zipfile.ZipFile(bundle).extractall(tmp_path)
    manifest = read(tmp_path / "manifest.json")
    (wheel,) = tmp_path.glob("*.whl")
    assert f'path = "{wheel.name}"' in (tmp_path / "pyproject.toml").read_text()
    given = {"${__dirname}": str(tmp_path), "${user_config.root}": str(ROOT / "docs")}
    words = [given.get(word, word) for word in manifest["server"]["mcp_config"]["args"]]
    assert words[:3] == ["run", "--directory", str(tmp_path)]
    asked = [INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    asked.append({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    done = subprocess.run(
        [sys.executable, *words[3:]],
        input="".join(f"{json.dumps(message)}\n" for message in asked),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    listed = json.loads(done.stdout.splitlines()[1])["result"]["tools"]
    assert [tool["name"] for tool in listed] == [tool["name"] for tool in manifest["tools"]]
    assert len(listed) == len(TOOLS)


def test_the_registry_is_told_of_this_bundle(built: Path, tmp_path: Path) -> None:
    """The registry's entry has the bundle's digest, and a second build has the same digest."""
    (bundle,) = built.glob("*.mcpb")
    (package,) = read(built / "server.json")["packages"]
    assert package["fileSha256"] == hashlib.sha256(bundle.read_bytes()).hexdigest()
    assert package["identifier"].endswith(f"/{bundle.name}")
    assert len(read(built / "server.json")["description"]) <= 100
    made(tmp_path)
    assert (tmp_path / bundle.name).read_bytes() == bundle.read_bytes()


def test_the_hosts_validators_take_them(tmp_path: Path) -> None:
    """Each installed validator accepts its package."""
    if "PENSTOCK_TEST_HOSTS" not in os.environ:
        pytest.skip("real validators: PENSTOCK_TEST_HOSTS=1 asks those that scripts/tools hosts has installed")
    assert ": refused" not in made(tmp_path, "--check").stderr

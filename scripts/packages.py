"""As what do other agents install Penstock: a Claude Code plugin, a Gemini CLI extension, an opencode plugin, an MCP bundle, and
the entry of the MCP registry that names it (H-6)?

    scripts/packages [FOLDER] [--check]      (dist/packages by default; --check runs the hosts' own validators, if there are any)

All but the bundle start the `penstock` that is on the PATH. The bundle holds the wheel, and needs nothing but the host's own uv.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from penstock.hosts.catalogue import HOST_CONFIGS
from penstock.hosts.entries import server_entry
from penstock.hosts.parts.hook import hook_command
from penstock.hosts.parts.part import NAME
from penstock.hosts.parts.rules import rules
from penstock.tools import TOOLS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
HOME = PROJECT["urls"]["Homepage"]
# The registry accepts 100 characters; the project's own sentence is shorter.
ABOUT = {"name": NAME, "version": PROJECT["version"], "description": PROJECT["description"]}
REGISTRY_NAME = "io.github.penstock/penstock"
_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_ZIP_TIME = (2020, 1, 1, 0, 0, 0)  # the same bytes from the same sources, since the registry's entry names their digest
_SERVER = '''\
"""Start the MCP server that the wheel beside this file holds."""

import sys

from penstock.cli import main

sys.exit(main(["mcp", *sys.argv[1:]]))
'''


def build(folder: Path) -> None:
    """Write all packages into a folder, removing older ones."""
    for name in ("claude", "gemini", "opencode"):
        shutil.rmtree(folder / name, ignore_errors=True)
    _claude(folder / "claude")
    _write(folder / ".claude-plugin" / "marketplace.json", _marketplace())
    _gemini(folder / "gemini")
    _opencode(folder / "opencode")
    bundle = folder / f"{NAME}-{ABOUT['version']}.mcpb"
    _bundle(bundle)
    _write(folder / "server.json", _registered(bundle))


def _claude(folder: Path) -> None:
    about = {**ABOUT, "author": PROJECT["authors"][0], "homepage": HOME, "repository": HOME}
    about |= {"license": PROJECT["license"], "keywords": PROJECT["keywords"]}
    _write(folder / ".claude-plugin" / "plugin.json", about)
    _write(folder / ".mcp.json", {"mcpServers": _servers("claude")})
    _write(folder / "hooks" / "hooks.json", {"hooks": _hooks("claude")})
    _write(folder / "README.md", _readme("Claude Code plugin", "claude --plugin-dir FOLDER"))


def _marketplace() -> dict[str, Any]:
    plugin = {"name": NAME, "source": "./claude", "description": ABOUT["description"]}
    return {"name": NAME, "owner": PROJECT["authors"][0], "plugins": [plugin]}


def _gemini(folder: Path) -> None:
    _write(
        folder / "gemini-extension.json", {**ABOUT, "mcpServers": _servers("gemini"), "contextFileName": "PENSTOCK.md"}
    )
    _write(folder / "PENSTOCK.md", rules(["penstock"]))
    _write(folder / "hooks" / "hooks.json", {"hooks": _hooks("gemini")})
    _write(folder / "README.md", _readme("Gemini CLI extension", "gemini extensions install FOLDER"))


def _opencode(folder: Path) -> None:
    package = {**ABOUT, "name": f"opencode-{NAME}", "license": PROJECT["license"], "type": "module", "main": "index.js"}
    _write(folder / "package.json", package)
    _write(folder / "index.js", (ROOT / "src" / "penstock" / "hosts" / "opencode_plugin.js").read_text("utf-8"))
    _write(folder / "README.md", _readme("opencode plugin", '"plugin": ["file:///FOLDER/index.js"] in opencode.json'))


def _servers(host: str) -> dict[str, Any]:
    return {NAME: server_entry(HOST_CONFIGS[host], [NAME, "mcp"])}


def _hooks(host: str) -> dict[str, Any]:
    config = HOST_CONFIGS[host]
    assert config.hooks is not None
    entry = {"hooks": [{"type": "command", "command": hook_command(config, [NAME])}]}
    return {event: [entry] for event in (config.hooks.event, *config.hooks.around)}


def _readme(kind: str, way: str) -> str:
    needs = f"Needs `{NAME}[mcp]` {ABOUT['version']} on the PATH. Install: `{way}`."
    return f"# Penstock: {kind}\n\n{ABOUT['description']}\n\n{needs}\n"


# ── the bundle and the registry ──────────────────────────────────────────────────────────────────────────────────


def _bundle(path: Path) -> None:
    with tempfile.TemporaryDirectory() as made:
        hatch = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", made]
        subprocess.run(hatch, cwd=ROOT, check=True, capture_output=True)
        (wheel,) = Path(made).glob("*.whl")
        needs = (
            f'[project]\nname = "{NAME}-bundle"\nversion = "{ABOUT["version"]}"\nrequires-python = "{PROJECT["requires-python"]}"\n'
            f'dependencies = ["{NAME}[mcp,re2]"]\n\n[tool.uv.sources]\n{NAME} = {{ path = "{wheel.name}" }}\n'
        )
        files = {
            "manifest.json": _json(_manifest()).encode(),
            "pyproject.toml": needs.encode(),
            "server.py": _SERVER.encode(),
            wheel.name: wheel.read_bytes(),
            "LICENSE": (ROOT / "LICENSE").read_bytes(),
        }
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _ZIP_TIME), content, zipfile.ZIP_DEFLATED)


def _manifest() -> dict[str, Any]:
    words = ["run", "--directory", "${__dirname}", "server.py", "--root", "${user_config.root}"]
    root = {
        "type": "directory",
        "title": "Folder",
        "description": "The folder whose files are served.",
        "required": True,
    }
    return {
        "manifest_version": "0.4",
        **ABOUT,
        "display_name": "Penstock",
        "author": PROJECT["authors"][0],
        "license": PROJECT["license"],
        "homepage": HOME,
        "repository": {"type": "git", "url": f"{HOME}.git"},
        "keywords": PROJECT["keywords"],
        "server": {"type": "uv", "entry_point": "server.py", "mcp_config": {"command": "uv", "args": words}},
        "tools": [{"name": f"ctx_{tool.name}", "description": tool.title} for tool in TOOLS],
        "user_config": {"root": root},
        "compatibility": {"runtimes": {"python": PROJECT["requires-python"]}},
    }


def _registered(bundle: Path) -> dict[str, Any]:
    package = {
        "registryType": "mcpb",
        "identifier": f"{HOME}/releases/download/v{ABOUT['version']}/{bundle.name}",
        "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
        "transport": {"type": "stdio"},
    }
    repository = {"url": HOME, "source": "github"}
    return {"$schema": _SCHEMA, **ABOUT, "name": REGISTRY_NAME, "repository": repository, "packages": [package]}


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"


def _write(path: Path, content: dict[str, Any] | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else _json(content), "utf-8")


# ── the hosts' own validators ────────────────────────────────────────────────────────────────────────────────────

TOOLS_FOLDER = Path(os.environ.get("PENSTOCK_TOOLS") or Path.home() / ".cache" / "penstock-tools")
VALIDATORS = {
    "claude": (["claude", "plugin", "validate", "--strict"], "claude"),
    "gemini": (["gemini", "extensions", "validate"], "gemini"),
    "mcpb": (["mcpb", "validate"], "manifest.json"),
}
"""For each validator, its command and its arguments among the packages, below their folder."""


def check(folder: Path) -> list[str]:
    """Return the objections of the installed validators to the packages, in their own words."""
    against = []
    with tempfile.TemporaryDirectory() as home:
        (bundle,) = folder.glob("*.mcpb")
        (Path(home) / "manifest.json").write_bytes(zipfile.ZipFile(bundle).read("manifest.json"))
        for name, (command, given) in VALIDATORS.items():
            program = TOOLS_FOLDER / name / "node_modules" / ".bin" / command[0]
            if not program.exists():
                print(f"{name}: no validator here (scripts/tools hosts installs it)", file=sys.stderr)
                continue
            path = (Path(home) if name == "mcpb" else folder) / given
            environment = {**os.environ, "HOME": home}
            done = subprocess.run(
                [program, *command[1:], path], check=False, env=environment, capture_output=True, text=True
            )
            print(f"{name}: {'valid' if done.returncode == 0 else 'refused'}", file=sys.stderr)
            if done.returncode:
                against.append(f"{name}: {done.stdout}{done.stderr}")
    return against


def main() -> int:
    """Build, and check if requested."""
    parser = argparse.ArgumentParser(description="Build the packages that other agents install.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist" / "packages")
    parser.add_argument("--check", action="store_true", help="ask the hosts' own validators")
    asked = parser.parse_args()
    build(asked.folder)
    print(asked.folder)
    against = check(asked.folder) if asked.check else []
    print(*against, sep="\n", end="")
    return 1 if against else 0


if __name__ == "__main__":
    sys.exit(main())

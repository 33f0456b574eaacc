"""What do the models of real hosts receive? Coding agents, offline, against a loopback model, with `penstock mcp` configured.

    python -m proof.hosts [HOST…]        (scripts/tools hosts installs them)

For each host: our tool is asked for a page of a large file; the model must receive our text unchanged, with the header as its first
line, and no marker of a cut. Everything runs in a network namespace that has only loopback.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from proof.loopback_model import LoopbackModel

from penstock.mcp_server.hosts import allowance_for
from penstock.text import calls
from penstock.tools import Tools

if TYPE_CHECKING:
    from collections.abc import Callable

TOOLS = Path(os.environ.get("PENSTOCK_TOOLS") or Path.home() / ".cache" / "penstock-tools")
REPOSITORY = Path(__file__).parents[1]
ARGUMENTS: dict[str, object] = {"path": "large.txt", "start_byte": 0, "max_bytes": 262144}
SECONDS = 120


@dataclass(frozen=True, kw_only=True)
class Setup:
    """How a host is configured for our server and its model: command and environment. `home` is its home folder."""

    home: Path
    server: list[str]
    url: str

    def write(self, name: str, content: object) -> Path:
        """A configuration file in the home folder."""
        at = self.home / name
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(content if isinstance(content, str) else json.dumps(content))
        return at

    @property
    def entry(self) -> dict[str, object]:
        """Our server in the form that most hosts use."""
        return {"command": self.server[0], "args": self.server[1:]}


Started = tuple[list[str], dict[str, str]]


def _codex(setup: Setup) -> Started:
    server, args = json.dumps(setup.server[0]), json.dumps(setup.server[1:])
    setup.write(
        "config.toml",
        'model = "local"\nmodel_provider = "loopback"\n'
        f'[model_providers.loopback]\nname = "loopback"\nbase_url = "{setup.url}/v1"\n'
        'wire_api = "responses"\nenv_key = "LOOPBACK_KEY"\n'
        f"[mcp_servers.penstock]\ncommand = {server}\nargs = {args}\nrequired = true\n",
    )
    return ["codex", "exec", "--skip-git-repo-check", "read"], {"CODEX_HOME": str(setup.home), "LOOPBACK_KEY": "x"}


def _gemini(setup: Setup) -> Started:
    auth = {"auth": {"selectedType": "gemini-api-key"}}
    setup.write(".gemini/settings.json", {"security": auth, "mcpServers": {"penstock": {**setup.entry, "trust": True}}})
    environment = {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": setup.url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return ["gemini", "-m", "gemini-2.5-pro", "--yolo", "-p", "read"], environment


def _claude(setup: Setup) -> Started:
    config = setup.write("mcp.json", {"mcpServers": {"penstock": setup.entry}})
    options = ["--mcp-config", str(config), "--strict-mcp-config", "--allowedTools", "mcp__penstock"]
    return ["claude", "-p", "read", *options], {
        "ANTHROPIC_BASE_URL": setup.url,
        "ANTHROPIC_API_KEY": "x",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "MCP_CONNECTION_NONBLOCKING": "false",
        "ENABLE_TOOL_SEARCH": "false",
    }


def _opencode(setup: Setup) -> Started:
    options = {"baseURL": f"{setup.url}/v1", "apiKey": "x"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {"name": "m"}}}
    local = {"type": "local", "command": setup.server, "enabled": True}
    config = setup.write("opencode.json", {"provider": {"loopback": provider}, "mcp": {"penstock": local}})
    return ["opencode", "run", "-m", "loopback/m", "read"], {"OPENCODE_CONFIG": str(config)}


def _qwen(setup: Setup) -> Started:
    auth = {"auth": {"selectedType": "openai"}}
    settings = {"security": auth, "mcpServers": {"penstock": {**setup.entry, "trust": True}}}
    # Like Claude Code and Codex it puts MCP tools behind a tool search, which is not measured here.
    setup.write(".qwen/settings.json", {**settings, "tools": {"toolSearch": {"enabled": False}}})
    environment = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{setup.url}/v1", "OPENAI_MODEL": "m"}
    return ["qwen", "--yolo", "-p", "read"], environment


def _copilot(setup: Setup) -> Started:
    entry = {"type": "local", **setup.entry, "tools": ["*"]}
    config = setup.write("mcp.json", {"mcpServers": {"penstock": entry}})
    return ["copilot", "-p", "read", "--allow-all-tools", "--additional-mcp-config", f"@{config}"], {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{setup.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "x",
        "COPILOT_MODEL": "gpt-4.1",
    }


HOSTS: dict[str, Callable[[Setup], Started]] = {
    "codex": _codex,
    "gemini": _gemini,
    "claude": _claude,
    "opencode": _opencode,
    "qwen": _qwen,
    "copilot": _copilot,
}


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What one host did. `unchanged`: the model received our text as we sent it, header first."""

    host: str
    version: str = "-"
    era: str = "-"
    client: str = "-"
    sent: int = 0
    received: int = 0
    unchanged: bool = False
    problem: str = ""

    def row(self) -> str:
        cut = self.problem or ("no" if self.unchanged else "yes")
        return f"| {self.host} {self.version} | {self.era} | {self.client} | {self.sent} | {self.received} | {cut} |"


def installed(host: str) -> Path | None:
    """The program of a host, None if it is not installed."""
    at = TOOLS / host / "node_modules" / ".bin" / host
    return at if at.exists() else None


def drive(host: str) -> Seen:
    """Start the host on a folder with a large file and let its model ask for a page."""
    program = installed(host)
    if program is None:
        return Seen(host=host, problem="not installed")
    with tempfile.TemporaryDirectory(prefix=f"penstock-{host}-") as folder:
        home, root, log = Path(folder, "home"), Path(folder, "root"), Path(folder, "requests")
        home.mkdir()
        root.mkdir()
        (root / "large.txt").write_text("".join(f"{number:>7} {'text ' * 11}end\n" for number in range(20_000)))
        tee = [sys.executable, str(REPOSITORY / "proof" / "tee.py"), str(log)]
        server = [*tee, sys.executable, "-m", "penstock", "mcp", "--root", str(root)]
        with LoopbackModel("ctx_read_file", ARGUMENTS) as model:
            command, environment = HOSTS[host](Setup(home=home, server=server, url=model.url))
            done = run([str(program), *command[1:]], root, home, environment)
            version = json.loads((program.parent.parent / _package(program) / "package.json").read_text())["version"]
            if not model.received:
                names = [name for name in model.offered if "ctx_" in name]
                problem = f"our tool was not called (offered: {names}); {done.strip()[-300:]!r}"
                return Seen(host=host, version=version, problem=problem)
            era, client = _opening(log)
            expected = (
                Tools(root, dialect=calls.mcp()).call("read_file", ARGUMENTS, allowance=allowance_for(client)).text
            )
            got = model.received[-1]
            return Seen(
                host=host,
                version=version,
                era=era,
                client=client,
                sent=len(expected),
                received=len(got),
                unchanged=expected in got,
            )


def _package(program: Path) -> str:
    """The npm package of this program: the first of the pins."""
    pin = (program.parents[2] / ".pins").read_text().split()[0]
    return pin.rpartition("@")[0]


def run(command: list[str], root: Path, home: Path, environment: dict[str, str]) -> str:
    node = TOOLS / "node" / "node_modules" / ".bin"
    clean = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local"),
        "PATH": f"{node}:{os.environ['PATH']}",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "NO_PROXY": "127.0.0.1",
    }
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env={**clean, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return f"no end within {SECONDS} s: {late.output!r:.300}"
    return done.stdout


def _opening(log: Path) -> tuple[str, str]:
    """Era and name of the client that made this call, from what it sent."""
    era, client = "-", "-"
    for line in log.read_text().splitlines():
        params = json.loads(line).get("params") or {}
        meta = params.get("_meta") or {}
        info = params.get("clientInfo") or meta.get("io.modelcontextprotocol/clientInfo") or {}
        client = info.get("name", client)
        era = params.get("protocolVersion") or meta.get("io.modelcontextprotocol/protocolVersion") or era
    return era, client


def main(names: list[str]) -> int:
    """The table; 1 if an installed host did not pass our text on unchanged."""
    unshare = shutil.which("unshare")
    if unshare and "PENSTOCK_ONLY_LOOPBACK" not in os.environ:
        up = 'ip link set lo up && exec "$@"'
        again = [unshare, "-r", "-n", "sh", "-c", up, "sh", sys.executable, "-m", "proof.hosts", *names]
        return subprocess.call(again, env={**os.environ, "PENSTOCK_ONLY_LOOPBACK": "1"}, cwd=REPOSITORY)
    print("| Host | Era | clientInfo.name | Sent | Received | Cut by the host |")
    print("|---|---|---|---:|---:|---|")
    failed = 0
    for host in names or HOSTS:
        seen = drive(host)
        failed += not seen.unchanged and seen.problem != "not installed"
        print(seen.row(), flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""How is docs/pictures/host-NAME.svg drawn for each agent: what is typed, what changes, and what its model is then shown of a
flood?

scripts/docs --host-pictures      (the agents that scripts/tools hosts has installed, offline, each in its own home folder)
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from proof.loopback_model import LoopbackModel
from rich.console import Console
from rich.text import Text
from tests.hosts.test_real_hosts import SHELLS, asked

from proof import hosts

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
WIDTH = 112
COMMAND = "seq 1 60000"
STYLES = {"+": "green", "-": "red", "@": "cyan", "[": "yellow"}
HEAD_LINES, END_LINES = 7, 3  # of the text for the model
DIFF_LINES = 60


def main() -> None:
    """Draw the requested pictures, or all."""
    for host in sys.argv[1:] or SHELLS:
        if hosts.installed(host) is None:
            print(f"{host}: not installed (scripts/tools hosts installs it)", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            draw(host, Path(folder))
        print(host)


def draw(host: str, folder: Path) -> None:
    """Type the commands, and draw."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    home, root = folder / "home", folder / "project"
    home.mkdir()
    root.mkdir()
    tool, argument, _ = SHELLS[host]
    with LoopbackModel(tool, {argument: COMMAND, "description": "count"}) as model:
        own = home / ".codex" if host == "codex" else home  # Codex reads this instead of the home folder
        own.mkdir(exist_ok=True)
        arguments, environment = asked(host, model.url, own)
        environment |= {
            "HOME": str(home),
            "PENSTOCK_STORE": str(folder / "store"),
            "XDG_CONFIG_HOME": str(home / ".config"),
        }
        if host == "gemini":
            (home / ".gemini").mkdir()
            auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
            (home / ".gemini" / "settings.json").write_text(json.dumps(auth, indent=2) + "\n")
        diff = penstock(environment, "install", host, "--yes")
        program = hosts.installed(host)
        hosts.run([str(program), *arguments], root, home, environment)
    received = model.received[-1].splitlines()
    say(console, f"$ penstock install {host} --yes", "bold")
    changed = diff.splitlines()
    show(console, [*changed[:DIFF_LINES], *(["…"] if len(changed) > DIFF_LINES else [])], home)
    say(console, f"\n# What the model is shown when {tool} has run `{COMMAND}`:", "bright_black")
    show(console, [*received[:HEAD_LINES], "…", *received[-END_LINES:]], home)
    say(console, "\n# And out again, every byte as it was:", "bright_black")
    say(console, f"$ penstock uninstall {host} --yes", "bold")
    out = penstock(environment, "uninstall", host, "--yes").splitlines()
    show(console, [line for line in out if line[:1] not in {*STYLES, " "}], home)
    svg = console.export_svg(title=f"penstock install {host}", unique_id=f"penstock-{host}")
    (PICTURES / f"host-{host}.svg").write_text(svg + "\n", encoding="utf-8")


def penstock(environment: dict[str, str], *words: str) -> str:
    """A command's output."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = [str(Path(sys.executable).with_name("penstock")), *words]
    return subprocess.run(
        command, env={**environment, "PATH": path}, cwd=environment["HOME"], capture_output=True, text=True, check=True
    ).stdout


def say(console: Console, line: str, style: str) -> None:
    """Show a person's line."""
    console.print(Text(line, style=style))


def show(console: Console, lines: list[str], home: Path) -> None:
    """Show a program's lines, with the home folder and the program in their usual places."""
    program = str(Path(sys.executable).with_name("penstock"))
    for line in lines:
        plain = line.replace(program, "/home/you/.local/bin/penstock").replace(str(home), "/home/you")
        short = plain if len(plain) <= WIDTH else f"{plain[: WIDTH - 2]} …"
        console.print(Text(short, style=STYLES.get(line[:1], "")))


if __name__ == "__main__":
    main()

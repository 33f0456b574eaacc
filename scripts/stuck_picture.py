"""How is docs/pictures/stuck.svg drawn? Claude Code is brought to a halt by one flood, rescued, and resumed.

scripts/docs --stuck-picture      (Claude Code as installed by scripts/tools hosts, offline, in its own home folder)
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from proof.loopback_model import LoopbackModel
from rich.console import Console
from tests.hosts.sessions.test_real_rescue import TASK, Machine

from host_pictures import PICTURES, WIDTH, say, show

FILE = "~/.claude/projects/-home-you-project/"


def main() -> None:
    """Type the commands, and draw."""
    os.environ["PENSTOCK_TEST_HOSTS"] = "1"
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    with tempfile.TemporaryDirectory() as folder:
        draw(console, Path(folder))
    svg = console.export_svg(title="penstock rescue", unique_id="penstock-stuck")
    (PICTURES / "stuck.svg").write_text(svg + "\n", encoding="utf-8")


def draw(console: Console, folder: Path) -> None:
    """Get stuck, and recover."""
    machine = Machine("claude", folder)
    path = machine.get_stuck("flood")
    shown = f"{FILE}{path.name}"
    say(console, f"$ claude -p '{TASK}'", "bold")
    show(console, ["Prompt is too long"], machine.home)
    say(console, "\n# And so it stays, whatever is said next, /compact too.", "bright_black")
    say(console, f"$ penstock rescue {shown}", "bold")
    ran = subprocess.run(
        [str(Path(sys.executable).with_name("penstock")), "rescue", str(path)],
        env={**os.environ, "HOME": str(machine.home), "PENSTOCK_STORE": str(folder / "store")},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [
        line.replace(str(path.parent) + "/", FILE).replace(str(machine.root), "~/project")
        for line in ran.stdout.splitlines()
    ]
    show(console, lines, machine.home)
    resume = lines[-1].strip()
    say(console, f"\n$ {resume} -p 'go on'", "bold")
    with LoopbackModel("nothing", {}) as model:
        model.asked, model.window_tokens = True, machine.shell.window_tokens
        show(console, machine.ask(model, "go on", resume.split()[-1]).strip().splitlines(), machine.home)


if __name__ == "__main__":
    main()

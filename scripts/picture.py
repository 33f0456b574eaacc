"""How is docs/pictures/first-minutes.svg drawn? A terminal in which the commands below were typed, rendered by rich from their
output.

scripts/docs --picture. With --check it fails if the picture says something else than the commands print now, apart from numbers
and handles, which differ from run to run.
"""

from __future__ import annotations

import html
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "first-minutes.svg"
WIDTH = 100
LOG = "".join(f"10:{n // 60 % 60:02}:{n % 60:02} GET /items/{n} 200\n" for n in range(45_000))
FAILURE = "POST /orders/88 500 no space left on device"
SHOWN_LINES = 9  # of one command's output; more is a wall of text


def main() -> None:
    """Draw the picture, or compare it with what is there."""
    svg = drawn()
    if "--check" not in sys.argv:
        PICTURE.write_text(svg, encoding="utf-8")
    elif said(svg) != said(PICTURE.read_text("utf-8")):
        raise SystemExit(f"{PICTURE.name} does not say what the commands print now: scripts/docs --picture")


def said(svg: str) -> str:
    """Return what a picture says, without numbers, handles, blanks, the log, and the order of its lines.

    How much of the log fits depends on the handle, and so do the tokens by which a bill is ordered.
    """
    lines = [
        html.unescape(line).replace("\N{NO-BREAK SPACE}", " ") for line in re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    ]
    return "\n".join(sorted(re.sub(r"\b\w{22}\b|\d|\s", "", line) for line in lines if line not in LOG))


def drawn() -> str:
    """Type the commands, and draw what they print."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        typed(
            console,
            folder,
            "cat server.log | penstock guard --tokens 200 --keep tail",
            "A command floods. An agent sees this:",
        )
        handle = newest_handle(folder)
        typed(
            console, folder, f"penstock find {handle} ' 500 '", "Nothing is lost: the whole is searched by its handle."
        )
        typed(console, folder, "penstock bill request.json", "A request that no window of 8,000 tokens takes …")
        typed(
            console,
            folder,
            "penstock fit request.json --tokens 8000 > smaller.json",
            "… is made to fit.",
        )
        typed(console, folder, "penstock bill smaller.json", "")
    return console.export_svg(title="penstock", unique_id="penstock") + "\n"


def prepare(folder: Path) -> None:
    """Write a log, and the request of an agent whose tool returned all of it."""
    lines = LOG.splitlines()
    lines[13_007] = f"10:36:47 {FAILURE}"
    log = "\n".join(lines) + "\n"
    (folder / "server.log").write_text(log)
    call = {"id": "c1", "type": "function", "function": {"name": "read_log", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Why did an order fail this morning?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": log},
    ]
    (folder / "request.json").write_text(json.dumps({"model": "gpt-4o", "max_tokens": 1000, "messages": messages}))


def run(folder: str, command: str) -> str:
    """Return a command's output, errors included."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PENSTOCK_STORE": f"{folder}/.store"}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return done.stdout


def newest_handle(folder: str) -> str:
    """Return the handle of what the guard kept."""
    found = re.search(r"^(\w{22}) ", run(folder, "penstock store list"), re.MULTILINE)
    assert found
    return found[1]


def typed(console: Console, folder: str, command: str, why: str) -> None:
    """Show a command, the reason for it, and the beginning of its output."""
    if why:
        console.print(Text(f"# {why}", style="bright_black"))
    console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
    lines = run(folder, command).splitlines()
    for line in lines[:SHOWN_LINES]:
        short = line if len(line) <= WIDTH else f"{line[: WIDTH - 2]} …"
        console.print(Text(short, style="yellow" if line.startswith("[") else ""))
    console.print()


if __name__ == "__main__":
    main()

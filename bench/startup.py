"""How long until the first answer? `penstock view` compared with an empty click program; `penstock mcp` with a bare server.

Prints Markdown tables of CPU and wall time, ours and the peer in the same run, the best of several, and the ratios. `--help`, a
completed word and a drawn table are for comparison: the promise (1.5 times) is for `--version` and `view`.
"""

from __future__ import annotations

import asyncio
import compileall
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import penstock

ROUNDS = 15

EMPTY_PROGRAM = """
import click
@click.command()
@click.version_option("1")
@click.argument("file", required=False)
def main(file):
    pass
main()
"""

CLICK_PROGRAM = """
import click
@click.command()
@click.argument("file")
@click.option("--offset", type=int, default=0)
@click.option("--limit", type=int, default=100)
def view(file, offset, limit):
    with open(file, encoding="utf-8") as source:
        lines = source.read().split("\\n")
    click.echo(f"{file}: showing lines {offset + 1}-{offset + limit} of {len(lines) - 1} total")
    click.echo("\\n".join(f"{offset + i + 1}|{line}" for i, line in enumerate(lines[offset:offset + limit])))
view()
"""

BARE_SERVER = '''
from mcp.server import MCPServer
server = MCPServer("bare")
@server.tool(structured_output=False)
def view(file_path: str) -> str:
    """View a file."""
    with open(file_path, encoding="utf-8") as source:
        return "".join(source.readlines()[:100])
server.run("stdio")
'''


def cost(command: list[str], cwd: str) -> tuple[float, float]:
    """CPU and wall seconds of one process; leading words that contain `=` are its environment."""
    environment = dict(word.split("=", 1) for word in command if word.startswith(("_PENSTOCK", "COMP_")))
    command = [word for word in command if not word.startswith(("_PENSTOCK", "COMP_"))]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, env=os.environ | environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - started


def best(commands: dict[str, list[str]], cwd: str) -> dict[str, tuple[float, float]]:
    """The commands in turn, so that the machine treats them alike; the best of each."""
    found = dict.fromkeys(commands, (9000000000.0, 9000000000.0))
    for _ in range(ROUNDS):
        for name, command in commands.items():
            cpu, wall = cost(command, cwd)
            found[name] = (min(found[name][0], cpu), min(found[name][1], wall))
    return found


async def first_answer(command: list[str], tool: str, arguments: dict[str, object], cwd: str) -> float:
    """Wall seconds from starting a server to the answer of its first call."""
    from mcp.client.stdio import stdio_client

    from mcp import Client, StdioServerParameters

    started = time.perf_counter()
    async with Client(stdio_client(StdioServerParameters(command=command[0], args=command[1:], cwd=cwd))) as client:
        await client.call_tool(tool, arguments)
        return time.perf_counter() - started


def main() -> None:
    python = sys.executable
    compileall.compile_dir(Path(penstock.__file__).parent, quiet=1)  # as an installation does
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "file.txt").write_text("".join(f"a line of ordinary text, number {n}\n" for n in range(2000)))
        (Path(folder) / "empty.py").write_text(EMPTY_PROGRAM)
        (Path(folder) / "program.py").write_text(CLICK_PROGRAM)
        (Path(folder) / "server.py").write_text(BARE_SERVER)
        ours = [python, "-m", "penstock"]
        found = best(
            {
                "bare interpreter": [python, "-c", ""],
                "empty click program": [python, "empty.py", "file.txt"],
                "click program that shows a page": [python, "program.py", "file.txt"],
                "penstock --version": [*ours, "--version"],
                "penstock view": [*ours, "view", "file.txt"],
                "penstock --help": [*ours, "--help"],
                "a completed command": [
                    "_PENSTOCK_COMPLETE=zsh_complete",
                    "COMP_WORDS=penstock ",
                    "COMP_CWORD=1",
                    *ours,
                ],
                "a completed session": [
                    "_PENSTOCK_COMPLETE=zsh_complete",
                    "COMP_WORDS=penstock show ",
                    "COMP_CWORD=2",
                    *ours,
                ],
            },
            folder,
        )
        peer = found["empty click program"]
        print("| start | CPU ms | wall ms | CPU ratio | wall ratio |\n|---|---|---|---|---|")
        for name, (cpu, wall) in found.items():
            print(f"| {name} | {cpu * 1e3:.0f} | {wall * 1e3:.0f} | {cpu / peer[0]:.2f} | {wall / peer[1]:.2f} |")
        mine, bare = 9e9, 9e9
        for _ in range(5):
            bare = min(
                bare, asyncio.run(first_answer([python, "server.py"], "view", {"file_path": "file.txt"}, folder))
            )
            mine = min(
                mine,
                asyncio.run(
                    first_answer([python, "-m", "penstock", "mcp"], "ctx_view", {"file_path": "file.txt"}, folder)
                ),
            )
        print("\n| first answer over MCP, stdio | wall ms | ratio |\n|---|---|---|")
        print(
            f"| bare server on the same SDK | {bare * 1e3:.0f} | 1.00 |\n| penstock mcp | {mine * 1e3:.0f} | {mine / bare:.2f} |"
        )


if __name__ == "__main__":
    main()

"""An agent's first minutes in an unknown tree: the standard library of this Python, over MCP, page by page.

Starts `penstock mcp` as a host would, connects the official MCP client over stdio, and explores: count, list, search, outline,
view, continue. For each call it prints what the answer cost in tokens, and what the usual way would have cost: the whole listing,
every match, the whole file. What the usual way has already paid for is not counted again.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from mcp.client.stdio import stdio_client
from mcp_types import TextContent

from mcp import Client, StdioServerParameters
from penstock.text import tokens

ROOT = Path(sysconfig.get_path("stdlib"))


def cost(text: str) -> int:
    """Return the tokens of a text, exact if the tokenizer is installed."""
    return tokens.count(text, model="o200k", mode="exact").tokens


def listing() -> str:
    """Return what a recursive listing would put into the context."""
    return "\n".join(str(path.relative_to(ROOT)) for path in sorted(ROOT.rglob("*")) if path.is_file())


def matches(pattern: str) -> str:
    """Return what `grep` would put there."""
    done = subprocess.run(["grep", "-rnE", pattern, "."], cwd=ROOT, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


def content(*paths: str) -> str:
    """Return what reading whole files would put there."""
    return "".join((ROOT / path).read_text("utf-8", "replace") for path in paths)


async def explore() -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "penstock", "mcp", "--root", str(ROOT)])
    spent = plain_total = 0
    async with Client(stdio_client(server)) as client:

        async def ask(tool: str, plain: str | None, why: str, **arguments: object) -> str:
            nonlocal spent, plain_total
            result = await client.call_tool(f"ctx_{tool}", arguments)
            text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
            assert not result.is_error, text
            ours, theirs = cost(text), 0 if plain is None else cost(plain)
            spent, plain_total = spent + ours, plain_total + theirs
            call = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
            print(f"\n{why}\n  ctx_{tool}({call})")
            for line in text.splitlines()[:4]:
                print(f"  │ {line[:110]}")
            print(f"  {ours:>9} tokens   the plain way: {'paid above' if plain is None else f'{theirs} tokens'}")
            return text

        await ask("count_files", listing(), "How large is it?")
        await ask("list_files", None, "May I see the names?", recursive=True)
        await ask("list_files", None, "A page of them, then.", pattern="json/*", recursive=True, limit=20)
        found = await ask(
            "search", matches(r"def \w*dumps?\b"), "Who writes JSON?", pattern=r"def \w*dumps?\b", glob="*.py"
        )
        hit = re.search(r"## (json/__init__\.py)\n(\d+)\|", found)
        path, line = (hit[1], int(hit[2])) if hit else ("json/__init__.py", 120)
        await ask("outline", content(path), "What is in that file?", path=path)
        await ask("view", None, "Around the hit.", file_path=path, offset=line - 1, limit=30)
        big = "argparse.py"
        page = await ask("read_file", content(big), "A large file: its outline comes instead.", path=big)
        page = await ask("read_file", None, "From its start.", path=big, start_byte=0, max_bytes=12_000)
        following = re.search(r'next: \w+\(path="[^"]+", start_byte=(\d+), max_bytes=(\d+), version="([^"]+)"\)', page)
        assert following, page[:300]
        await ask(
            "read_file",
            None,
            "And on, with the call that the page printed.",
            path=big,
            start_byte=int(following[1]),
            max_bytes=int(following[2]),
            version=following[3],
        )
    times = plain_total / spent
    print(
        f"\nIn all {spent} tokens instead of {plain_total}: {times:.0f} times less, and every answer said how to go on."
    )


if __name__ == "__main__":
    asyncio.run(explore())

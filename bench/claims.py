"""What does a page save? Tokens of a view (V-12) and calls of a byte window (B-13), counted exactly, ours next to paging.

Prints two Markdown tables. With `penstock[exact]`, tokens are those of o200k; without it the estimate is used and named.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from penstock import Tools
from penstock.text import tokens

COLUMNS = 40


def source(lines: int) -> str:
    """Code of `lines` lines of 40 characters."""
    return "".join(
        f"    value_{n} = compute(alpha, {n * 37 % 991})"[:COLUMNS].ljust(COLUMNS) + "\n" for n in range(lines)
    )


def exact(text: str) -> int:
    """The tokens of a text."""
    return tokens.count(text, mode="exact").tokens


def pages(tools: Tools, page: str) -> int:
    """How many calls it takes to follow the printed calls to the end."""
    calls = 1
    while match := re.search(r"\| next: (\w+)\((.*?)\)(?: \||$)", page.split("\n", maxsplit=1)[0]):
        arguments = {
            name: int(number) if number else text
            for name, number, text in re.findall(r'(\w+)=(?:(\d+)|"([^"]*)")', match[2])
        }
        page = tools.call(match[1], arguments).text
        calls += 1
    return calls


def views(folder: str) -> None:
    """V-12: a view against the whole file."""
    text = source(2000)
    (Path(folder) / "module.py").write_text(text)
    tools = Tools(folder)
    page, whole = tools.view("module.py"), tools.view("module.py", limit=2000)
    raw, shown = exact(text), exact(page)
    headers = [exact(tools.view("module.py", offset=offset).split("\n")[0]) for offset in range(0, 2000, 100)]
    method = tokens.count(text, mode="exact").method
    print(f"A file of 2000 lines of {COLUMNS} characters, {len(text)} bytes ({method})\n")
    print("| | tokens | a view of 100 lines costs less by | target |\n|---|---|---|---|")
    print(f"| the raw file | {raw} | {100 - 100 * shown / raw:.1f} % | >= 93 % |")
    print(
        f"| the file shown whole by the same tool | {exact(whole)} | {100 - 100 * shown / exact(whole):.1f} % | >= 94.5 % |"
    )
    print(f"| a view of 100 lines | {shown} | | |")
    print(f"| its header, at most | {max(headers)} | | <= 60 |\n")


def windows(folder: str) -> None:
    """B-13: byte windows against pages of 220 lines."""
    text = source(400 * 1024 // (COLUMNS + 1))
    (Path(folder) / "large.py").write_text(text)
    tools = Tools(folder)
    paging = pages(tools, tools.view("large.py", limit=220))
    print(f"A file of {len(text)} bytes, read to its end by the printed calls\n")
    print("| way | calls | fewer than paging | target |\n|---|---|---|---|")
    print(f"| pages of 220 lines | {paging} | | |")
    for what, size in (("byte windows, default size", None), ("byte windows, max_bytes=262144", 262_144)):
        calls = pages(tools, tools.read_file("large.py", start_byte=0, max_bytes=size))
        print(f"| {what} | {calls} | {paging / calls:.1f}x | >= 5x |")
    counters = tools.counters()
    print(f"\nCounted by the tools: {counters.reads} reads of {counters.average_bytes:.0f} bytes on average (B-12).")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        views(folder)
        windows(folder)


if __name__ == "__main__":
    main()

"""What does a search cost? Ours next to `rg` and to Python line by line, in one run.

    python bench/search.py [--megabytes 250] [--files 12000] [--runs 3]

The files are copies of the standard library and of installed packages, in a temporary folder. CPU is user+sys of a fresh process,
the smallest of `--runs`; for Python processes less that of one that only imports. `rg -c` counts, as ours does.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile

SETUP = """
import sys
import re2
from penstock.workspace.deadline import Deadline
from penstock.workspace.root import Root
from penstock.workspace.searching import search
root, never = Root(sys.argv[1]), Deadline(None)
"""
LINE_BY_LINE = """
import os, re
matches = re.compile(sys.argv[2]).search
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), errors="replace") as file:
            sum(1 for line in file if matches(line))
"""
QUERIES = [
    ("text, rare", "ServerHandler", ["-F"], "literal=True"),
    ("text, common", "import", ["-F"], "literal=True"),
    ("text at the start", r"def \w+Handler\(", [], ""),
    ("text at the end", r"\w+Handler\(", [], ""),
    ("anchored", r"^class \w+Error", [], ""),
    ("text without case", "keyerror", ["-F", "-i"], "literal=True, ignore_case=True"),
    ("choice without case", "keyerror|valueerror", ["-i"], "ignore_case=True"),
    ("many matches", "(?i)error", [], ""),
]
ENDS = (".py", ".pyi", ".h", ".txt", ".md", ".js", ".json", ".c")


def corpus(base: str, size: int, files: int) -> tuple[int, int]:
    """Copies of this Python's own files, until there is enough of both."""
    sources = [
        entry.path
        for top in (sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["purelib"])
        for folder, _, _ in os.walk(top)
        for entry in os.scandir(folder)
        if entry.name.endswith(ENDS) and entry.is_file() and 4000 < entry.stat().st_size < 300_000
    ]
    copied = number = 0
    while copied < size or number < files:
        source = sources[number % len(sources)]
        folder = f"{base}/{number // 400}/{number // 40}"
        os.makedirs(folder, exist_ok=True)
        copied += os.stat(shutil.copyfile(source, f"{folder}/{number}_{os.path.basename(source)}")).st_size
        number += 1
    return number, copied


def cost(command: list[str], runs: int) -> float:
    """CPU seconds of the child, the smallest of several runs."""
    seconds = []
    for _ in range(runs):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode > 1:
            raise SystemExit(f"{command[:2]} failed: {child.returncode}")
        seconds.append(used.ru_utime + used.ru_stime)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=250)
    parser.add_argument("--files", type=int, default=12_000)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as base:
        files, copied = corpus(base, asked.megabytes * 1_000_000, asked.files)
        python = [sys.executable, "-c"]
        idle = cost([*python, SETUP, base], asked.runs)
        print(f"\n{files} files, {copied / 1e6:.0f} MB\n")
        print("| pattern | rg ms | ours ms | ours / rg |\n|---|---|---|---|")
        for name, pattern, flags, options in QUERIES:
            rg = cost(["rg", "--no-config", "-c", *flags, "-e", pattern, base], asked.runs)
            code = f"search(root, {pattern!r}, deadline=never, {options})"
            ours = cost([*python, SETUP + code, base], asked.runs) - idle
            print(
                f"| {name}: `{pattern.replace('|', chr(92) + '|')}` | {rg * 1e3:.0f} | {ours * 1e3:.0f} | {ours / rg:.1f} |"
            )
        slow = cost([*python, "import sys" + LINE_BY_LINE, base, QUERIES[3][1]], 1)
        print(f"\nPython line by line, `{QUERIES[3][1]}`: {slow * 1e3:.0f} ms")


if __name__ == "__main__":
    main()

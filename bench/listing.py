"""What does a page cost, and a count? Ours next to `rg --files`, `git ls-files` and plain Python, in one run.

    python bench/listing.py [--files 100000] [--folders 10000] [--flat 1000000] [--runs 5]

Builds its trees in a temporary folder. CPU is user+sys of a fresh process, the smallest of `--runs`; for Python processes less that
of one that only imports. Memory is the peak resident set (VmHWM) above that of the same.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile

SETUP = """
import os, sys
from penstock.workspace.deadline import Deadline
from penstock.workspace.listing import count_files, list_files
from penstock.workspace.root import Root
root, never = Root(sys.argv[1]), Deadline(None)
"""
SEED_STYLE = """
from fnmatch import fnmatch
from pathlib import Path
base = Path(sys.argv[1])
sorted(str(p.relative_to(base)) for p in base.rglob("*") if p.is_file() and fnmatch(str(p.relative_to(base)), "*"))
"""
WORDS = ["src", "lib", "core", "test", "docs", "app", "util", "model", "view", "data", "pkg", "cmd"]
ENDS = [".py", ".js", ".c", ".h", ".md", ".txt", ".json", ".log", ".pyc", ".tmp", ".go"]
IGNORED = ["build", "dist", "node_modules", "__pycache__"]


def tree(base: str, files: int, folders: int) -> None:
    """Eight levels; 51 ignore files; about one file in six is ignored."""
    pick = random.Random(7)
    made, open_to_more = [""], [""]
    while len(made) < folders:
        parent = pick.choice(open_to_more)
        ignored = pick.random() < 0.01
        path = f"{parent}{pick.choice(IGNORED) if ignored else pick.choice(WORDS) + str(pick.randint(0, 999))}/"
        try:
            os.mkdir(base + path)
        except FileExistsError:
            continue
        made.append(path)
        if not ignored and path.count("/") < 8:
            open_to_more.append(path)
    for number in range(files):
        with open(f"{base}{made[number % folders]}{pick.choice(WORDS)}_{number}{pick.choice(ENDS)}", "wb") as file:
            file.write(b"x" * pick.randint(0, 300))
    rules = "# all\n*.pyc\n__pycache__/\nnode_modules/\nbuild/\ndist/\n*~\n.DS_Store\n/secret.txt\n*.egg-info/\ndocs/_build\n"
    with open(base + ".gitignore", "w") as file:
        file.write(rules)
    for path in pick.sample(made[1:], 50):
        with open(f"{base}{path}.gitignore", "w") as file:
            file.write("*.log\n!keep_*.log\n/local/\n*.tmp\nsub*/gen_?.c\n")
    subprocess.run(["git", "init", "-q", base], check=True)


def cost(command: list[str], runs: int) -> float:
    """CPU seconds of the child, the smallest of several runs."""
    seconds = []
    for _ in range(runs):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"{command[:2]} failed: {child.returncode}")
        seconds.append(used.ru_utime + used.ru_stime)
    return min(seconds)


def peak(command: list[str], code: str, folder: str) -> float:
    """The peak resident set in MiB, as the child reports it."""
    report = "\nprint(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    said = subprocess.run([*command, code + report, folder], check=True, capture_output=True, text=True).stdout
    return int(said.split()[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--folders", type=int, default=10_000)
    parser.add_argument("--flat", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    ours = [
        ("first page, exact total", "list_files(root, recursive=True, limit=100, deadline=never)"),
        (
            "page in the middle",
            f"list_files(root, recursive=True, offset={asked.files // 2}, limit=100, deadline=never)",
        ),
        ("first page of `*.py`", "list_files(root, '*.py', recursive=True, limit=100, deadline=never)"),
        ("count with sizes", "count_files(root, deadline=never)"),
        ("count without sizes", "count_files(root, sizes=False, deadline=never)"),
        ("`pathlib.Path.rglob`, nothing ignored", SEED_STYLE),
    ]
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as base:
        python = [sys.executable, "-c"]
        many = base + "/many/"
        os.mkdir(many)
        tree(many, asked.files, asked.folders)
        idle = cost([*python, SETUP, many], asked.runs)
        rg = cost(["rg", "--no-config", "--files", many], asked.runs)
        rows = [("`rg --files`", rg)]
        rows.append(("`rg --files -j1`", cost(["rg", "--no-config", "--files", "-j1", many], asked.runs)))
        rows.append(
            ("`git ls-files -co`", cost(["git", "-C", many, "ls-files", "-co", "--exclude-standard"], asked.runs))
        )
        rows += [(name, cost([*python, SETUP + code, many], asked.runs) - idle) for name, code in ours]
        print(f"\n{asked.files} files, {asked.folders} folders, 51 ignore files\n")
        print("| what | CPU ms | x `rg --files` |\n|---|---|---|")
        for name, seconds in rows:
            print(f"| {name} | {seconds * 1000:.0f} | {seconds / rg:.2f} |")

        flat = base + "/flat/"
        os.mkdir(flat)
        folder = os.open(flat, os.O_RDONLY)
        for number in random.Random(7).sample(range(asked.flat), asked.flat):
            os.mknod(f"file_{number:07}.txt", dir_fd=folder)
        os.close(folder)
        idle, idle_peak = cost([*python, SETUP, flat], 2), peak(python, SETUP, flat)
        print(f"\n{asked.flat} files in one folder\n")
        print("| what | CPU ms | MiB above idle |\n|---|---|---|")
        flat_calls = [
            (f"page at {at}", f"list_files(root, offset={at}, limit=100, deadline=never)")
            for at in (0, 50_000, 99_900, asked.flat - 100)
        ]
        flat_calls.append(("count with sizes", "count_files(root, deadline=never)"))
        for name, code in flat_calls:
            seconds, high = cost([*python, SETUP + code, flat], 2), peak(python, SETUP + code, flat)
            print(f"| {name} | {(seconds - idle) * 1000:.0f} | {high - idle_peak:.1f} |")


if __name__ == "__main__":
    main()

"""What do ignore rules cost, and how often do they differ from git's? Ours next to pathspec's three engines, in one run.

    python bench/ignore.py [--rules 3000] [--names 100000] [--seed 1]

Differences: generated rules, one or two lines each, over one tree; git's own `ls-files` is the reference. Time: a template of
common rules over names in folders, processor time, the smallest of five runs; rules that can hang an engine run in a child.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings
from typing import TYPE_CHECKING

import pathspec

from penstock.workspace.ignore import IgnoreRules

if TYPE_CHECKING:
    from collections.abc import Callable

PIECES = [
    "a",
    "b",
    "c",
    "x",
    ".",
    "é",
    "-",
    "*",
    "*",
    "**",
    "?",
    "/",
    "/",
    "[ab]",
    "[!a]",
    "[a-c]",
    "\\a",
    "\\*",
    "\\",
    " ",
]
PIECES += ["[[:alpha:]]", "[]a]", "[", "a/", "**/", "/**", "!", "#", "\\ ", "[a-", "[[:no:]]", "[--c]", "[a/b]", "[!/"]
FILES = ["a", "b", "c", "x", "é", "-", "*", "[", "ab", "[a", "a b", "#", "d/a", "d/b", "d/x", "d/é", "d/e/a", "d/e/ab"]
FILES += ["ac/a", "ac/x", "ac/a.c", "c.a", "x-", "a.b", "abc", "xx/a/b", "xx/b", "xx/a/x"]
TEMPLATE = "*.py[cod]\n__pycache__/\nbuild/\ndist/\n*.egg-info/\n*.log\n!keep.log\n/docs/_build/\n.venv/\n*~\n**/node_modules/\n"
TEMPLATE += "src/**/gen_*.c\n*.tmp\n[Tt]humbs.db\n/target\ncmake-*/\n*.o\n*.so\n.DS_Store\n.idea/**/tasks.xml\n"
HOSTILE = "*a" * 30 + "b"
ENGINES = ("simple", "re2")


def of_folders(source: str) -> Callable[[str], bool]:
    """Whether ours excludes a path under the rules: the path, or a folder above it."""
    rules = IgnoreRules(os.fsencode(source))

    def excludes(path: str) -> bool:
        *above, name = path.split("/")
        prefix = ""
        for folder in above:
            if not rules.kept(prefix, [folder], folders=True):
                return True
            prefix += folder + "/"
        return not rules.kept(prefix, [name], folders=False)

    return excludes


def differences(count: int, seed: int) -> dict[str, tuple[int, int]]:
    """Rule sets for which an engine keeps other files than git, and those that it rejects, by engine."""
    pick = random.Random(seed)
    wrong = dict.fromkeys(("penstock", *ENGINES), 0)
    refused = dict.fromkeys(wrong, 0)
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as base:
        subprocess.run(["git", "init", "-q", base], check=True)
        for path in FILES:
            os.makedirs(os.path.dirname(f"{base}/{path}"), exist_ok=True)
            with open(f"{base}/{path}", "x"):
                pass
        for _ in range(count):
            lines = ["".join(pick.choices(PIECES, k=pick.randint(1, 5))) for _ in range(pick.randint(1, 2))]
            source = "\n".join(lines)
            with open(f"{base}/.git/info/exclude", "w") as file:
                file.write(source)
            command = ["git", "-C", base, "-c", "core.excludesFile=", "ls-files", "-oz", "--exclude-standard"]
            listed = subprocess.run(command, check=True, capture_output=True).stdout
            kept = {os.fsdecode(name) for name in listed.split(b"\0") if name}
            excludes = of_folders(source)
            wrong["penstock"] += {path for path in FILES if not excludes(path)} != kept
            for engine in ENGINES:
                try:
                    spec = pathspec.GitIgnoreSpec.from_lines(lines, backend=engine)
                    wrong[engine] += {path for path in FILES if not spec.match_file(path)} != kept
                except Exception:
                    refused[engine] += 1
    return {engine: (wrong[engine], refused[engine]) for engine in wrong}


def seconds_of(work: Callable[[], object], runs: int = 5) -> float:
    """Processor seconds, the smallest of several runs."""
    spent = []
    for _ in range(runs):
        begun = time.process_time()
        work()
        spent.append(time.process_time() - begun)
    return min(spent)


def costs(count: int, seed: int) -> dict[str, float]:
    """Microseconds per name, in folders of a hundred, by engine."""
    pick = random.Random(seed)
    folders = [f"src/{pick.choice('abcdef')}{n}/" for n in range(count // 100)]
    ends = [".py", ".pyc", ".c", ".o", ".md", ".log", ".tmp", ".json"]
    trees = [(folder, [f"{pick.choice('ghij')}{n}{pick.choice(ends)}" for n in range(100)]) for folder in folders]
    rules = IgnoreRules(TEMPLATE.encode())
    spent = {"penstock": seconds_of(lambda: [rules.kept(folder, names, folders=False) for folder, names in trees])}
    for engine in ENGINES:
        matches = pathspec.GitIgnoreSpec.from_lines(TEMPLATE.splitlines(), backend=engine).match_file

        def work(matches: Callable[[str], bool] = matches) -> object:
            return [[name for name in names if not matches(folder + name)] for folder, names in trees]

        spent[engine] = seconds_of(work, runs=3)
    return {engine: seconds / count * 1e6 for engine, seconds in spent.items()}


def hangs(engine: str) -> str:
    """The time of a rule of thirty stars on one name of 250 letters; at most ten seconds."""
    work = f"""import os, pathspec, sys
from penstock.workspace.ignore import IgnoreRules
rule, name = {HOSTILE!r}, "a" * 250
print(IgnoreRules(rule.encode()).kept("", [name], folders=False) if {engine!r} == "penstock" else
      pathspec.GitIgnoreSpec.from_lines([rule], backend={engine!r}).match_file(name))"""
    begun = time.monotonic()
    try:
        subprocess.run([sys.executable, "-c", work], check=True, capture_output=True, timeout=10)
    except subprocess.TimeoutExpired:
        return "not in 10 s"
    except subprocess.CalledProcessError as error:
        return f"refused: {error.stderr.decode().strip().rpartition(chr(10))[2][:60]}"
    return f"{time.monotonic() - begun:.2f} s with the start of Python"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", type=int, default=3000)
    parser.add_argument("--names", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)  # about brackets that pathspec passes on unchanged
    wrong, spent = differences(asked.rules, asked.seed), costs(asked.names, asked.seed)
    version = pathspec.__version__
    print(f"{asked.rules} generated rule sets, {asked.names} names against a template of 20 rules\n")
    print("| engine | other files than git | refused | µs a name | ours x | thirty stars |\n|---|---|---|---|---|---|")
    for engine, (differ, refused) in wrong.items():
        name = engine if engine == "penstock" else f"pathspec {version}, {engine}"
        ratio = spent[engine] / spent["penstock"]
        print(f"| {name} | {differ} | {refused} | {spent[engine]:.2f} | {ratio:.1f} | {hangs(engine)} |")


if __name__ == "__main__":
    main()

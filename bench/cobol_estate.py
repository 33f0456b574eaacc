"""What does a large estate cost? Edited copies of examples/cobol, documented without a model, compared with an earlier tree.

    python bench/cobol_estate.py [--lines N] [--beside REVISION] [--estate DIR]

Processor time is that of all processes, memory that of the largest, both as the system counts them (getrusage); the size of the
pages is counted as in C-19: pages, scripts, index and sources. Copies differ in their names, their numbers and some of their lines,
so that no two programs are the same; the seed is fixed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[1]
EXAMPLES = REPOSITORY / "examples" / "cobol"
SECONDS_A_MILLION = 60.0
MEGABYTES_A_PROCESS = 400.0
MEGABYTES_A_MILLION = 100.0
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Cost(NamedTuple):
    """A run's cost: processor seconds in total, seconds, megabytes of the largest process, megabytes on disk by kind."""

    processor_seconds: float
    seconds: float
    process_megabytes: float
    pages_megabytes: float
    beside_megabytes: float


def edited(text: str, name: str, dice: random.Random) -> str:
    """A copy of a file: other names, other numbers, and a comment after one in a hundred lines."""
    lines = re.sub(r"\bMW(?=[A-Z])", name, text).split("\n")
    for at, line in enumerate(lines):
        if dice.random() < 0.02 and " PIC " not in line and " VALUE " not in line:
            lines[at] = re.sub(r"\b[1-9]\b", lambda _: str(dice.randint(1, 9)), line)
        if dice.random() < 0.01 and len(line) > 7 and line[6:7] == " ":
            lines[at] = f"{line}\n      * {dice.choice(['CHANGED', 'SEE', 'OLD'])} {dice.randint(1, 99_999)}"
    return "\n".join(lines)


def estate_of(folder: Path, lines: int) -> int:
    """Write an estate of at least this many lines; return how many there are."""
    dice = random.Random(7)
    made, copy = 0, 0
    while made < lines:
        name = LETTERS[copy // 676 % 26] + LETTERS[copy // 26 % 26] + LETTERS[copy % 26]
        for path in sorted(EXAMPLES.rglob("*")):
            if path.is_file():
                text = edited(path.read_text("utf-8", "surrogateescape"), name, dice)
                # One folder per twenty copies: any tool is slow to list a library of ten thousand members.
                beside = folder / f"{copy // 20}" / path.parent.name / path.name.upper().replace("MW", name, 1)
                beside.parent.mkdir(parents=True, exist_ok=True)
                beside.write_text(text, "utf-8", "surrogateescape")
                if path.suffix.lower() in {".cbl", ".cpy"}:
                    made += text.count("\n")
        copy += 1
    return made


def _documented(source: str, root: str, out: str) -> Cost:
    """Document an estate with the package at a path; in a separate process, whose children belong only to this run."""
    environment = {**os.environ, "PYTHONPATH": source}
    began = time.perf_counter()
    command = [sys.executable, "-m", "penstock", "document", ".", "--root", root, "--out", out]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if not Path(out, "index.html").is_file():
        raise RuntimeError(done.stderr.decode())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    pages = beside = 0
    for path in filter(Path.is_file, Path(out).rglob("*")):
        size = path.stat().st_size
        if path.suffix in {".json", ".md"}:
            beside += size
        else:
            pages += size
    seconds = time.perf_counter() - began
    return Cost(used.ru_utime + used.ru_stime, seconds, used.ru_maxrss / 1024, pages / 1e6, beside / 1e6)


def cost(source: Path, root: Path) -> Cost:
    """The cost of documenting an estate with the package at a path."""
    with (
        tempfile.TemporaryDirectory(prefix="penstock-bench-") as out,
        multiprocessing.get_context("spawn").Pool(1) as pool,
    ):
        return pool.apply(_documented, (str(source), str(root), out))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--beside", metavar="REVISION", help="an earlier tree, measured in the same run")
    parser.add_argument("--estate", type=Path, help="an estate that is there, in place of copies")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        root = asked.estate or Path(folder) / "estate"
        lines = asked.lines if asked.estate else estate_of(root, asked.lines)
        sources = {"this tree": REPOSITORY / "src"}
        if asked.beside:
            tree = Path(folder) / "beside"
            tree.mkdir()
            command = ["git", "archive", asked.beside, "src"]
            archive = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
            subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
            sources[asked.beside] = tree / "src"
        print(f"{lines} lines\n")
        titles = (
            "",
            "processor s",
            "a million",
            "s",
            "MB, largest process",
            "pages MB",
            "a million",
            "JSON, Markdown MB",
        )
        print(f"| {' | '.join(titles)} |")
        print("|---|---|---|---|---|---|---|---|")
        found = {}
        share = lines / 1e6
        for name, source in sources.items():
            one = found[name] = cost(source, root)
            print(
                f"| {name} | {one.processor_seconds:.1f} | {one.processor_seconds / share:.0f} | {one.seconds:.1f} | "
                f"{one.process_megabytes:.0f} | {one.pages_megabytes:.1f} | {one.pages_megabytes / share:.0f} | "
                f"{one.beside_megabytes:.1f} |",
                flush=True,
            )
        ours = found["this tree"]
    met = (
        ours.processor_seconds / share <= SECONDS_A_MILLION,
        ours.process_megabytes <= MEGABYTES_A_PROCESS,
        ours.pages_megabytes / share <= MEGABYTES_A_MILLION,
    )
    for what, is_met in zip(("C-20 processor time", "C-20 memory", "C-19 size"), met, strict=True):
        print(f"{what} {'met' if is_met else 'NOT met'}.")
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())

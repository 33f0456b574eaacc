"""What does a second question of `penstock impact` cost? Edited copies of examples/cobol, asked about from the shell.

    python bench/impact_kept.py [--lines N]

Each question is a process of its own with the package of this tree; the figures are those of the whole process and its children,
and each answer is compared with the one that `--no-cache` gives then. The edit of a program adds a statement that reads the field;
that of a copybook, which a few copy, adds a line in front, so that what is declared in it is cited one line further down.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.cobol_estate import REPOSITORY, estate_of

NAME = "AAAB020.BO-GROSS"
EDITED = "0/cbl/AAAB020.CBL"
READS = f"           DISPLAY {NAME.rpartition('.')[2]}."
EDITED_COPYBOOK = "0/cpy/AAABILL.CPY"


class Asked(NamedTuple):
    """A question's cost: processor seconds in total, seconds, megabytes of the largest process so far, and its answer."""

    processor_seconds: float
    seconds: float
    megabytes: float
    answer: bytes


def ask(estate: Path, home: Path, *more: str) -> Asked:
    """Ask about a field in a process of its own, which keeps what it reads below a folder."""
    own = {"XDG_CACHE_HOME": str(home / "cache"), "XDG_STATE_HOME": str(home / "state")}
    environment = {**os.environ, **own, "PYTHONPATH": str(home / "src")}
    command = [sys.executable, "-m", "penstock", "impact", NAME, "--root", str(estate), *more]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    answer = subprocess.run(command, env=environment, check=True, capture_output=True).stdout
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Asked(processor, seconds, after.ru_maxrss / 1024, answer)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=100_000)
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        estate, home = Path(folder, "estate"), Path(folder, "home")
        shutil.copytree(REPOSITORY / "src", home / "src")  # an edit of the tree meanwhile would be another version
        print(f"{estate_of(estate, parser.parse_args().lines)} lines\n")
        print("| question | processor s | share | s | share | MB, largest process |\n|---|---|---|---|---|---|")
        first = ask(estate, home, "--no-cache")
        right, stale = [first.answer], 0

        def show(title: str, one: Asked) -> None:
            nonlocal stale
            stale += one.answer != right[-1]
            print(
                f"| {title} | {one.processor_seconds:.1f} | {one.processor_seconds / first.processor_seconds:.2f} | "
                f"{one.seconds:.1f} | {one.seconds / first.seconds:.2f} | {one.megabytes:.0f} |",
                flush=True,
            )

        show("--no-cache", first)
        show("the first", ask(estate, home))
        for number in range(3):
            show(f"again, {number + 1}", ask(estate, home))
        for title, path, edit in (
            ("after an edit of a program", EDITED, "{0}" + READS + "\n"),
            ("after an edit of a copybook", EDITED_COPYBOOK, "      * EDITED\n{0}"),
        ):
            text = (estate / path).read_text()
            (estate / path).write_text(edit.format(text))
            right.append(ask(estate, home, "--no-cache").answer)
            show(title, ask(estate, home))
        size = sum(path.stat().st_size for path in home.rglob("*.gz"))
        print(f"\nkept: {size / 1e6:.1f} MB")
        print(f"answers that differ: {stale}")
        unchanged = len(right) - len(set(right))
        print(f"edits that change no answer: {unchanged}")
    return 1 if stale or unchanged else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""What does it cost to document an estate without a model? CardDemo, and its largest program alone, stage by stage.

    PENSTOCK_DATA=DIR python bench/cobol_documents.py [--times N]

DIR contains `cobol/carddemo`. Each figure is the best of N runs in fresh processes; the lower limit next to it is the time of only
reading those sources and writing the same documents, each file whole and flushed as the product does it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUBJECTS = {"COACTUPC, 4,236 lines": ("app/cbl/COACTUPC.cbl", 2.0), "CardDemo, whole": (".", 20.0)}

_STAGES = """
import sys, time
from penstock.cobol import scan
from penstock.cobol.facts import facts
from penstock.scribe.documenting import planned, run, subject
data = open(sys.argv[1], "rb").read()
marks = [time.perf_counter()]
source = scan(data); marks.append(time.perf_counter())
for program in source: facts(source, program)
marks.append(time.perf_counter())
one = subject(source, "x.cbl"); marks.append(time.perf_counter())
planned(one); marks.append(time.perf_counter())
run([one]); marks.append(time.perf_counter())
print(*(round(after - before, 3) for before, after in zip(marks, marks[1:])))
"""


def documented(root: Path, path: str) -> tuple[float, Path]:
    """Seconds of `penstock document` as a process, start included, and the documents' folder."""
    out = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
    command = [sys.executable, "-m", "penstock", "document", path, "--root", str(root), "--out", str(out)]
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began, out


def copied(root: Path, path: str, out: Path) -> float:
    """Seconds of reading what was read, and of writing what was newly written, flushed file by file."""
    at = root / path
    began = time.perf_counter()
    for file in [at] if at.is_file() else filter(Path.is_file, at.rglob("*")):
        file.read_bytes()
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        for number, file in enumerate(filter(Path.is_file, out.rglob("*"))):
            with (Path(folder) / str(number)).open("wb") as beside:
                beside.write(file.read_bytes())
                beside.flush()
                os.fsync(beside.fileno())
    return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=3)
    times = parser.parse_args().times
    data = os.environ.get("PENSTOCK_DATA")
    root = Path(data or "", "cobol", "carddemo")
    if data is None or not root.is_dir():
        print("PENSTOCK_DATA names no folder with cobol/carddemo: nothing was measured.")
        return 1
    print("| | seconds | target | reading and writing alone |\n|---|---|---|---|")
    is_met = True
    for name, (path, target) in SUBJECTS.items():
        runs = [documented(root, path) for _ in range(times)]
        seconds, out = min(runs)
        is_met = is_met and seconds < target
        print(f"| {name} | {seconds:.2f} | < {target:.0f} | {copied(root, path, out):.2f} |", flush=True)
    stages = subprocess.run(
        [sys.executable, "-c", _STAGES, str(root / "app/cbl/COACTUPC.cbl")], check=True, capture_output=True, text=True
    ).stdout.split()
    print(
        "\nCOACTUPC by stage, in a process that has just begun:\n\n| scan | facts | template | plan | plan and document |"
    )
    print(f"|---|---|---|---|---|\n| {' | '.join(stages)} |")
    return 0 if is_met else 1


if __name__ == "__main__":
    raise SystemExit(main())

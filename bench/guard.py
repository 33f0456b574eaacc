"""What does guarding cost? 1 MB compared with copying it to disk with a flush; a 1 GB pipe compared with `cat` to a file.

Prints a Markdown table. All cut content is on disk, flushed, when the guarded text is returned.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from penstock.guard.output import guard_output
from penstock.store import open_store

MEGABYTE = 1 << 20
PIPE_MEGABYTES = int(os.environ.get("PENSTOCK_BENCH_MB", "1024"))
ROUNDS = 31
COMMAND = "from penstock.cli.guarding import guard_command; guard_command(standalone_mode=False)"


def text(number: int) -> str:
    """A megabyte of log, different each time."""
    line = "2026-11-21 04:00:00 INFO request {} handled in 12 ms by worker 7\n"
    return "".join(line.format(number * 100_000 + n) for n in range(17_500))[:MEGABYTE]


def copy(folder: str, number: int, content: str) -> float:
    started = time.perf_counter()
    descriptor = os.open(os.path.join(folder, f"copy{number}"), os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(descriptor, content.encode())
    os.fsync(descriptor)
    os.close(descriptor)
    return time.perf_counter() - started


def megabyte(folder: str) -> float:
    """Guarding a megabyte, relative to copying it."""
    store = open_store(os.path.join(folder, "store"))
    guard_output(text(0), "warm", store=store)
    ours, theirs = [], []
    for number in range(1, ROUNDS + 1):
        content = text(number)
        theirs.append(copy(folder, number, content))
        started = time.perf_counter()
        guarded = guard_output(content, "tool", store=store)
        ours.append(time.perf_counter() - started)
        assert guarded.handle is not None
    store.close()
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"| guard 1 MB, whole kept | {statistics.median(ours) * 1000:.2f} ms | {ratio:.2f} x the copy | at most 3 |")
    return ratio


def pipe(folder: str) -> float:
    """Bytes per second through the filter, relative to those through `cat` to a file."""
    source = os.path.join(folder, "source")
    with open(source, "wb") as file:
        file.writelines(text(number).encode() for number in range(16))
    feed = f"for i in $(seq {PIPE_MEGABYTES // 16}); do cat {source}; done"

    def through(command: str) -> float:
        started = time.perf_counter()
        subprocess.run(f"{{ {feed}; }} | {command}", shell=True, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started

    rates = []
    for number in range(3):
        plain = through(f"cat > {folder}/plain{number}")
        os.unlink(f"{folder}/plain{number}")
        url = os.path.join(folder, f"pipe{number}")
        ours = through(f"{sys.executable} -c '{COMMAND}' --tokens 2000 --store {url}")
        subprocess.run(["rm", "-rf", url], check=True)
        rates.append(plain / ours)
    ratio = statistics.median(rates)
    print(f"| filter, {PIPE_MEGABYTES} MB pipe, whole kept | {ours:.2f} s | {ratio:.2f} of `cat` | at least 0.3 |")
    return ratio


def main() -> int:
    """The table; 1 if a target is missed."""
    print("| what | took | ratio | target |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        missed = (megabyte(folder) > 3) + (pipe(folder) < 0.3)
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())

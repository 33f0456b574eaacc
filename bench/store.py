"""What does durability cost? Appends of 1.6 KB events compared with `write` and `fdatasync` of the same bytes, in one run.

Prints a Markdown table. Quote the ratios: disks differ, and so does their other load.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from typing import TYPE_CHECKING

from penstock.store import Event, open_store

if TYPE_CHECKING:
    from collections.abc import Callable

EVENT = {"role": "tool", "text": "x" * 1_600}
COUNT = 600
ROUNDS = 5
TARGET = 0.7


def floor(folder: str, size: int) -> float:
    """Appends per second to a file that is flushed after each."""
    descriptor = os.open(os.path.join(folder, "floor"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    record = b"x" * size
    started = time.perf_counter()
    for _ in range(COUNT):
        os.write(descriptor, record)
        os.fdatasync(descriptor)
    took = time.perf_counter() - started
    os.close(descriptor)
    return COUNT / took


def appends(folder: str, group: int) -> float:
    """Events per second, with this many per commit."""
    store = open_store(os.path.join(folder, f"store{group}"))
    name = f"s{time.monotonic_ns()}"
    started = time.perf_counter()
    if group == 1:
        for seq in range(COUNT):
            store.append(name, seq, "returned", EVENT)
    else:
        for first in range(0, COUNT, group):
            events = [Event(seq=first + n, type="returned", data=EVENT) for n in range(min(group, COUNT - first))]
            store.append_all(name, events)
    took = time.perf_counter() - started
    store.close()
    return COUNT / took


def main() -> int:
    """The table; 1 if the target is missed."""
    ways: dict[str, Callable[[str], float]] = {
        "`write` + `fdatasync`": lambda folder: floor(folder, 1_800),
        "append, one a commit": lambda folder: appends(folder, 1),
        "append, 16 a commit": lambda folder: appends(folder, 16),
    }
    seen: dict[str, list[float]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        for _ in range(ROUNDS):  # in turns, so that a busy disk hits all alike
            for name, measure in ways.items():
                seen[name].append(measure(folder))
    base = seen["`write` + `fdatasync`"]
    print("| events of 1.6 KB | a second | to the floor (median of rounds) |\n|---|---|---|")
    ratios = {}
    for name, rates in seen.items():
        ratios[name] = statistics.median(rate / low for rate, low in zip(rates, base, strict=True))
        print(f"| {name} | {statistics.median(rates):.0f} | {ratios[name]:.2f} |")
    met = ratios["append, one a commit"] >= TARGET
    print(f"\nTarget: one a commit at least {TARGET} of the floor: {'met' if met else 'MISSED'}.")
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())

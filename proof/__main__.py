"""Which promises hold on this machine? Runs every rig, one after another, and prints a scoreboard. Exit status 1 if a target is
missed.

scripts/proof --short           about a minute: the same as in the test suite
scripts/proof --long            the full forms, some five hours on two idle cores
scripts/proof --only R1,R5      some of them
scripts/proof mutants           one rig by its name, in its full form
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import cast

from proof.figure import SEED, Figure, Rig, clean_up_when_terminated, timed

RIGS = {
    "R1": "race",
    "R2": "hostile",
    "R3": "liveness",
    "R4": "requests",
    "R5": "tiling",
    "R6": "stale",
    "R7": "power",
    "R8": "kills",
    "R9": "faults",
    "R10": "damage",
    "R10b": "restart",
    "R11": "sessions",
    "R16": "text",
    "R16b": "withheld",
    "R17": "chunks",
    "R18": "claims",
    "R19": "recovery",
    "R20": "mended",
    "R21": "writers",
    "R23": "interrupts",
    "R22": "keeping",
    "R24": "mutants",
    "R25": "trees",
    "R26": "relayed",
    "R27": "soaked",
    "R28": "queued",
    "R29": "queue_load",
    "R30": "grown",
    "R31": "estates",
}


def rig(name: str) -> Rig:
    """The `measure` of a rig's module."""
    return cast("Rig", importlib.import_module(f"proof.{RIGS[name]}").measure)


def machine() -> str:
    """Where a figure was measured."""
    kernel = f"{platform.system()} {platform.release()}"
    return f"CPython {platform.python_version()}, {os.cpu_count()} processors, {kernel} {platform.machine()}"


def run(name: str, *, long: bool, seed: int) -> Figure:
    """The figure of one rig; a rig that fails counts as a missed target."""
    try:
        return timed(rig(name), long=long, seed=seed)
    except Exception as error:
        failed = Figure(
            rig=name, name=RIGS[name], value=f"the rig failed: {error!r:.200}", target="a figure", met=False
        )
        return replace(failed, seed=seed)


def table(figures: list[Figure]) -> str:
    """The scoreboard."""
    rows = [("", "figure", "measured", "target", "verdict", "seconds")]
    rows += [(f.rig, f.name, f.value, f.target, "met" if f.met else "MISSED", f"{f.seconds:.0f}") for f in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * min(200, sum(widths) + 10), *lines[1:]])


def main() -> int:
    """Runs the rigs."""
    parser = argparse.ArgumentParser(
        prog="scripts/proof", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--short", action="store_true", help="the short forms (default)")
    length.add_argument("--long", action="store_true", help="the full forms")
    parser.add_argument("name", nargs="?", choices=RIGS.values(), help="one rig, in its full form", metavar="NAME")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", default=",".join(RIGS), help="the rigs to run, as R1,R2")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output, nothing else there")
    given = parser.parse_args()
    names = [name.strip() for name in given.only.split(",")]
    if given.name:
        names = [name for name, module in RIGS.items() if module == given.name]
    long = given.long or bool(given.name and not given.short)
    if unknown := [name for name in names if name not in RIGS]:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(RIGS)}")
    clean_up_when_terminated()
    figures = []
    for name in names:
        figures.append(run(name, long=long, seed=given.seed))
        print(figures[-1], file=sys.stderr, flush=True)
    if given.json:
        found = {
            "machine": machine(),
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "figures": [asdict(figure) for figure in figures],
        }
        print(json.dumps(found, indent=2))
    else:
        print(f"\n{'long' if long else 'short'} forms, seed {given.seed}, {datetime.now(UTC):%Y-%m-%d}, {machine()}\n")
        print(table(figures))
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())

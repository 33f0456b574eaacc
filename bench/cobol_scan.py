"""How fast a COBOL source is scanned, in CPU seconds (user + system, the best of several runs).

Prints a Markdown table: our scanner over the corpora that PENSTOCK_DATA holds and over a source that is generated here,
and in the same run what bounds any scanner in this language (decoding, splitting into lines and joining them) and what a
compiler needs to parse (`cobc -fsyntax-only`, where it is installed). Quote the ratios, not the absolutes.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cobol import scan

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE_BYTES = 5_000_000
RUNS = 5


def generated() -> bytes:
    """Programs of about 4,000 lines in fixed format, with sequence numbers: a third data, CICS and nested branches."""
    lines: list[str] = []

    def add(code: str) -> None:
        lines.append(f"{len(lines) * 10 % 1_000_000:06d} {code:<65}GEN00001")

    program = 0
    while len(lines) * 81 < SOURCE_BYTES:
        program += 1
        add("IDENTIFICATION DIVISION.")
        add(f"PROGRAM-ID. GEN{program:05d}.")
        add("DATA DIVISION.")
        add("WORKING-STORAGE SECTION.")
        for group in range(250):
            add(f"01  WS-GROUP-{group}.")
            for item in range(4):
                add(f"    05  WS-FIELD-{group}-{item}     PIC X(10) VALUE 'A. B'.")
        add("PROCEDURE DIVISION.")
        for paragraph in range(250):
            lines.append(f"{0:06d}*{'-' * 60}")
            add(f"{paragraph:04d}-STEP.")
            add(f"    IF WS-FIELD-{paragraph}-0 = SPACES")
            add(f"        MOVE 'X' TO WS-FIELD-{paragraph}-1")
            add("    ELSE")
            add(f"        EVALUATE WS-FIELD-{paragraph}-2")
            add("            WHEN 'A' ADD 1 TO WS-COUNT")
            add(f"            WHEN OTHER PERFORM {(paragraph + 7) % 250:04d}-STEP")
            add("        END-EVALUATE")
            add("    END-IF.")
            add(f"    EXEC CICS READ FILE('F{paragraph}') INTO(WS-GROUP-{paragraph})")
            add("    END-EXEC.")
            add(f"    PERFORM {(paragraph + 1) % 250:04d}-STEP THRU {(paragraph + 1) % 250:04d}-STEP-EXIT.")
            add(f"{paragraph:04d}-STEP-EXIT.")
            add("    EXIT.")
        add(f"END PROGRAM GEN{program:05d}.")
    return ("\n".join(lines) + "\n").encode()


def corpora() -> dict[str, list[bytes]]:
    """The sources to be read, by name."""
    found = {"generated, 5 MB": [generated()]}
    data = Path(os.environ.get("PENSTOCK_DATA", "/nowhere")) / "cobol"
    carddemo = [path for path in sorted((data / "carddemo").rglob("*")) if path.suffix.lower() == ".cbl"]
    nist = sorted((data / "proleap/src/test/resources/gov/nist").glob("*.CBL"))
    for name, paths in (("CardDemo", carddemo), ("NIST", nist)):
        if paths:
            found[name] = [path.read_bytes() for path in paths]
    return found


def cpu(work: Callable[[], object], *, children: bool = False, runs: int = RUNS) -> float:
    """The least CPU seconds of several runs."""
    who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    best = float("inf")
    for _ in range(runs):
        before = resource.getrusage(who)
        work()
        after = resource.getrusage(who)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def lines_alone(sources: list[bytes]) -> None:
    """What nobody can leave out: decode, split, cut the columns, join."""
    for source in sources:
        "\n".join([line[7:72] for line in source.decode("latin-1").split("\n")])


def compiled(sources: list[bytes]) -> None:
    """What a compiler needs to parse them, its start included."""
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            path = Path(folder) / "source.cbl"
            path.write_bytes(source)
            command = ["cobc", "-fsyntax-only", "-w", "-std=ibm", "-fixed", "-fmax-errors=9999", str(path)]
            subprocess.run(command, capture_output=True, check=False)


def main() -> None:
    """Print the table."""
    print(f"CPython {sys.version.split()[0]}; CPU seconds, best of {RUNS} runs\n")
    print("| sources | MB | reader | MB/s | time, ours = 1 |\n|---|---:|---|---:|---:|")
    for name, sources in corpora().items():
        size = sum(map(len, sources)) / 1e6
        ours = cpu(lambda sources=sources: [scan(source) for source in sources])  # type: ignore[misc]
        rows = [("penstock", ours), ("lines alone", cpu(lambda sources=sources: lines_alone(sources)))]  # type: ignore[misc]
        if shutil.which("cobc"):
            rows.append(("cobc -fsyntax-only", cpu(lambda sources=sources: compiled(sources), children=True, runs=1)))  # type: ignore[misc]
        for reader, seconds in rows:
            print(f"| {name} | {size:.1f} | {reader} | {size / seconds:.1f} | {seconds / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()

"""What does an outline of a 5 MB source cost? Ours and the peers in one run, in CPU seconds (user + system, the best of several
runs).

Prints a Markdown table. Peers: universal-ctags with JSON output if it is installed, tree-sitter (parse and our walk over
containers) if its grammar is. Quote the ratios, not the absolutes.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.outline import EXACT_BYTES, grammar, outline, scan

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE_BYTES = 5_000_000
RUNS = 7


def python_source() -> bytes:
    """Modules of the running standard library, concatenated."""
    parts: list[bytes] = []
    for module in sorted(Path(os.__file__).parent.rglob("*.py")):
        if "test" in module.parts or "site-packages" in module.parts or "lib2to3" in module.parts:
            continue
        parts.append(module.read_bytes().rstrip() + b"\n")
        if sum(map(len, parts)) >= SOURCE_BYTES:
            break
    return b"".join(parts)


def cobol_source() -> bytes:
    """Programs of about 3,000 lines in fixed format, a quarter of them data, with sequence numbers."""
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
        for group in range(150):
            add(f"01  WS-GROUP-{group}.")
            for field in range(4):
                add(f"    05  WS-FIELD-{group}-{field}     PIC X(10) VALUE 'A. B'.")
        add("PROCEDURE DIVISION.")
        for paragraph in range(150):
            if paragraph % 30 == 0:
                add(f"{paragraph // 30}000-PART SECTION.")
            lines.append(f"{0:06d}*{'-' * 60}")
            add(f"{paragraph:04d}-STEP.")
            for field in range(4):
                add(f"    IF WS-FIELD-{paragraph}-{field} = SPACES")
                add(f"        MOVE 'X' TO WS-FIELD-{paragraph}-{field}")
                add("    END-IF.")
            add(f"    PERFORM {(paragraph + 1) % 150:04d}-STEP.")
            add(f"{paragraph:04d}-STEP-EXIT.")
            add("    EXIT.")
        add(f"END PROGRAM GEN{program:05d}.")
    return ("\n".join(lines) + "\n").encode()


def cpu(work: Callable[[], int], *, children: bool = False) -> tuple[float, int]:
    """The least CPU seconds of several runs, and what was found."""
    who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    best, found = float("inf"), 0
    for _ in range(RUNS):
        before = resource.getrusage(who)
        found = work()
        after = resource.getrusage(who)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best, found


def ctags(path: str) -> int:
    """How many definitions universal-ctags prints."""
    command = ["ctags", "--options=NONE", "--output-format=json", "--fields=+ne", "-f", "-", path]
    return subprocess.run(command, check=True, capture_output=True).stdout.count(b'"_type": "tag"')


def rows(language: str, data: bytes, path: str) -> None:
    """The lines of the table for one source."""
    size = len(data) / 1e6
    ours, found = cpu(lambda: len(outline(data, language, exact=False).symbols))
    measured: list[tuple[str, float, float, int]] = [("penstock, in one piece", size, ours, found)]
    chunks = [data[start : start + 65_536] for start in range(0, len(data), 65_536)]
    seconds, found = cpu(lambda: len(scan(chunks, language).symbols))
    measured.append(("penstock, streamed in 64 KiB", size, seconds, found))
    if shutil.which("ctags"):
        seconds, found = cpu(lambda: ctags(path), children=True)
        measured.append(("universal-ctags, JSON", size, seconds, found))
    if language in grammar.GRAMMARS and importlib.util.find_spec("tree_sitter"):
        part = data[:EXACT_BYTES]
        seconds, found = cpu(lambda: len(outline(part, language).symbols))
        measured.append(("penstock, tree-sitter (1 MiB)", len(part) / 1e6, seconds, found))
    for name, megabytes, seconds, found in measured:
        rate = megabytes / seconds
        print(f"| {language} | {name} | {rate:.1f} | {size / ours / rate:.2f} | {found} |")


def peak_kib(language: str, data: bytes) -> float:
    """Memory above the source while it is streamed, landmarks included."""
    scan([data[:65_536]], language)
    tracemalloc.start()
    scan((data[start : start + 65_536] for start in range(0, len(data), 65_536)), language)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1024


def main() -> None:
    """Print the table."""
    print(f"CPython {sys.version.split()[0]}; CPU seconds, best of {RUNS} runs\n")
    print("| source | maker | MB/s | ours : this | landmarks |\n|---|---|---:|---:|---:|")
    memory = []
    with tempfile.TemporaryDirectory() as folder:
        for language, suffix, data in (("python", "py", python_source()), ("cobol", "cbl", cobol_source())):
            path = os.path.join(folder, f"source.{suffix}")
            Path(path).write_bytes(data)
            rows(language, data, path)
            memory.append(f"{language} {peak_kib(language, data):.0f} KiB")
    print(f"\nPeak memory of the streamed scan, landmarks included: {', '.join(memory)}")


if __name__ == "__main__":
    main()

"""What does a page of a large file cost? CPU (user + system) compared with the system's tools, in one run on one machine.

Prints a Markdown table. The file of 1 GB is created in a temporary folder and removed; smaller with `reading.py MEBIBYTES`.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from penstock import Tools

if TYPE_CHECKING:
    from collections.abc import Callable

LINE_BYTES = 100
MIB = 1 << 20
WINDOW_BYTES = 256 << 10


def cpu(who: int = resource.RUSAGE_SELF) -> float:
    """Seconds of user and system time so far."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def timed(call: Callable[[], object], repeat: int = 1) -> float:
    """The least CPU seconds of one call."""
    times = []
    for _ in range(repeat):
        start = cpu()
        call()
        times.append(cpu() - start)
    return min(times)


def many(call: Callable[[], object], count: int = 300) -> float:
    """CPU seconds of one call of many: for calls quicker than the clock's tick."""
    return min(timed(lambda: [call() for _ in range(count)]) for _ in range(3)) / count


def program(*command: str) -> float:
    """The least CPU seconds of three runs of a program."""
    times = []
    for _ in range(3):
        start = cpu(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(cpu(resource.RUSAGE_CHILDREN) - start)
    return min(times)


def peak_kib(code: str, *arguments: str) -> int:
    """The highest resident memory of a Python that runs `code` (not ru_maxrss, which starts with its parent's)."""
    tail = "\nprint(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0])"
    command = [sys.executable, "-c", code + tail, *arguments]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def generate(path: str, size_bytes: int) -> None:
    """Lines of 100 bytes, each with its number."""
    with open(path, "wb") as file:
        for first in range(0, size_bytes // LINE_BYTES, 10_000):
            count = min(10_000, size_bytes // LINE_BYTES - first)
            file.write(b"".join(b"%015d %83s\n" % (first + n, b"text " * 16) for n in range(count)))


def page_of(folder: str, pair: str) -> float:
    """CPU seconds of a full page of lines that repeat two characters."""
    with open(f"{folder}/pairs", "wb") as file:
        file.write((pair * 40 + "\n").encode("utf-8", "surrogateescape") * 8_000)
    tools = Tools(folder)
    return many(lambda: tools.read_file("pairs", start_byte=0, max_bytes=WINDOW_BYTES), 50)


def row(ident: str, what: str, ours: float, peer: str, peers: float | None, target: str, unit: str = "ms") -> None:
    """One line of the table."""
    ratio = "" if peers is None else f"{ours / peers:.2f}x" if ours > peers / 100 else f"{peers / ours:,.0f}x less"
    value = f"{ours * 1000:,.2f} ms" if unit == "ms" else f"{ours:,.1f} {unit}"
    other = "" if peers is None else f"{peers * 1000:,.1f} ms" if unit == "ms" else f"{peers:,.1f} {unit}"
    print(f"| {ident} | {what} | {value} | {peer} {other} | {ratio} | {target} |", flush=True)


def main() -> None:
    mebibytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        big, small = f"{folder}/big", f"{folder}/small"
        generate(big, mebibytes * MIB)
        generate(small, MIB)
        total = os.path.getsize(big) // LINE_BYTES
        first = total * 5_000_000 // (1024 * MIB // LINE_BYTES)
        program("wc", "-l", big)  # into the page cache
        print("| | what | Penstock, CPU | peer, CPU | ratio | target |\n|---|---|---|---|---|---|")

        def view(tools: Tools) -> str:
            text = tools.view("big", offset=first - 1)
            assert f"\n{first}|{first - 1:015d} " in text, text[:300]
            return text

        once = min(timed(lambda: view(Tools(folder))) for _ in range(3))
        sed = program("sed", "-n", f"{first},{first + 99}p;{first + 99}q", big)
        row("A5", f"100 lines at line {first} of {mebibytes} MiB, first time", once, "`sed -n a,bp;bq`", sed, "<= 0.5x")

        tools = Tools(folder)
        view(tools)
        for _ in range(100):
            if f"of {total} total" in view(tools):
                break
        again = many(lambda: view(tools))
        row("A6", "the same again, with the exact total", again, "`sed`", sed, ">= 1,000x less")

        fresh = Tools(folder)

        def anywhere(at: int) -> float:
            return many(lambda: fresh.read_file("big", start_byte=at, max_bytes=WINDOW_BYTES), 100)

        huge = max(anywhere(total * LINE_BYTES * n // 7 + MIB // 3) for n in range(7))
        little = many(lambda: fresh.read_file("small", start_byte=MIB // 3, max_bytes=WINDOW_BYTES), 100)
        row(
            "A7",
            f"256 KiB of bytes anywhere in {mebibytes} MiB (the slowest of 7 places)",
            huge,
            "in 1 MiB",
            little,
            "<= 1.2x",
        )

        def count() -> None:
            counting = Tools(folder, read_seconds=None)
            while "at least" in counting.view("big", limit=1):
                pass

        lines = min(timed(count) for _ in range(3))
        row("A8", f"the line total of {mebibytes} MiB", lines, "`wc -l`", program("wc", "-l", big), "<= 6x")

        for what, escaped, printable in (
            ("control characters", "a\x01", "ab"),
            ("invisible characters", "a\u200b", "a\u672c"),
            ("bytes of Latin-1", "a\udce9", "ab"),
        ):
            odd, plain = page_of(folder, escaped), page_of(folder, printable)
            name = f"256 KiB of text, half of it {what}"
            row("F12", name, odd, "as many printable ones", plain, "<= 10x")

        bare = peak_kib("import penstock; penstock.Tools")
        code = (
            "import sys; from penstock import Tools\ntools = Tools(sys.argv[1], read_seconds=None)\n"
            "while 'at least' in tools.view('big', offset=int(sys.argv[2])): pass\n"
            "tools.read_file('big', start_byte=5 << 20, max_bytes=1 << 18); tools.read_file('big', start_line=9)\n"
            "tools.outline('big', limit=5)"
        )
        above = (peak_kib(code, folder, str(first)) - bare) / 1024
        row(
            "G2",
            "peak memory above the bare process, of all of these and an outline",
            above,
            "",
            None,
            "<= 64 MiB",
            "MiB",
        )


if __name__ == "__main__":
    main()

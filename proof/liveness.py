"""R3: how long does a normal read wait while sixty-four hostile calls run?

One server over standard input and output, as a host starts it. Sixty-four calls are sent at once: FIFOs, outlines and far lines of
a terabyte, searches through it, patterns that backtrack. Meanwhile a read of a small file is sent every 10 ms; its time counts from
when it was due, so that a stall cannot hide the reads that it delayed.
"""

from __future__ import annotations

import json
import os
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proof.faces import Silent, Stdio, tool_call
from proof.figure import Figure, folder, main
from proof.hostile_tree import TERABYTE

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY_SECONDS = 0.010
TARGET_SECONDS = 0.050


@dataclass(frozen=True, slots=True)
class Reads:
    """How the normal reads fared. `open_at_the_end` hostile calls were still unanswered when the reads ended."""

    seconds: list[float]
    failed: int
    hostile_answered: int
    hostile_open: int

    def at(self, share: float) -> float:
        """The time within which this share of the reads returned."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


def plant(root: str) -> None:
    """A small file, and the targets of the hostile calls."""
    os.mkdir(root)
    with open(os.path.join(root, "normal.txt"), "wb") as file:
        file.writelines(b"line %d\n" % number for number in range(300))
    for number in range(16):
        os.mkfifo(os.path.join(root, f"fifo-{number}"))
    for number in range(4):
        path = os.path.join(root, f"sparse-{number}.txt")
        with open(path, "wb") as file:
            file.writelines(b"head %d\n" % line for line in range(5_000))
        os.truncate(path, TERABYTE)
    with open(os.path.join(root, "backtrack.txt"), "wb") as file:
        file.writelines(b"a" * 30_000 + b"!\n" for _ in range(1_000))


def hostile_calls(seed: int) -> list[tuple[str, dict[str, object]]]:
    """Sixty-four calls, shuffled."""
    calls: list[tuple[str, dict[str, object]]] = []
    for number in range(8):
        sparse = f"sparse-{number % 4}.txt"
        calls += [
            ("view", {"file_path": f"fifo-{2 * number}"}),
            ("read_file", {"path": f"fifo-{2 * number + 1}"}),
            ("outline", {"path": sparse}),
            ("view", {"file_path": sparse, "offset": 10**9 + number}),
            ("read_file", {"path": sparse, "start_line": 10**8}),
            ("search", {"pattern": "no such text", "path": sparse}),
            ("search", {"pattern": "(a+)+$|(x+x+)+y", "path": "backtrack.txt", "ignore_case": True}),
            ("search", {"pattern": "(.*)(.*)(.*)(.*)=", "path": "."}),
        ]
    random.Random(seed).shuffle(calls)
    return calls


def reads_meanwhile(root: str, seconds: float, hostile: list[tuple[str, dict[str, object]]]) -> Reads:
    """A normal read every 10 ms for this long, while the hostile calls are in the server."""
    with Stdio(root) as face:
        _begin(face, hostile)
        due: dict[str, float] = {}
        taken: list[float] = []
        failed = answered = 0
        start = time.monotonic()
        count = int(seconds / EVERY_SECONDS)
        for number in range(count):
            at = start + number * EVERY_SECONDS
            time.sleep(max(0.0, at - time.monotonic()))
            name = f"normal-{number}"
            due[name] = at
            face.send(json.dumps(tool_call(name, "view", {"file_path": "normal.txt", "offset": number % 200})).encode())
        end = time.monotonic() + 15
        while due:
            try:
                came, line = face.line(end - time.monotonic())
            except Silent:
                break
            message = json.loads(line)
            name = str(message["id"])
            if name.startswith("hostile"):
                answered += 1
                continue
            taken.append(came - due.pop(name))
            failed += "result" not in message or bool(message["result"].get("isError"))
        failed += len(due)
        return Reads(taken, failed, answered, len(hostile) - answered)


def reads_one_by_one(root: str, count: int, hostile: list[tuple[str, dict[str, object]]]) -> Reads:
    """So many normal reads while the hostile calls are in the server, each sent when the one before it was answered.

    None waits for another, so that a busy machine only makes each as slow as itself.
    """
    with Stdio(root) as face:
        _begin(face, hostile)
        taken: list[float] = []
        failed = answered = 0
        for number in range(count):
            name, begun = f"normal-{number}", time.monotonic()
            face.send(json.dumps(tool_call(name, "view", {"file_path": "normal.txt", "offset": number})).encode())
            came, line = face.line(60.0)
            while (message := json.loads(line))["id"] != name:
                answered += 1
                came, line = face.line(60.0)
            taken.append(came - begun)
            failed += "result" not in message or bool(message["result"].get("isError"))
        return Reads(taken, failed, answered, len(hostile) - answered)


def _begin(face: Stdio, hostile: list[tuple[str, dict[str, object]]]) -> None:
    """Use each tool, as imports at the first use do not count, and send the hostile calls."""
    for _ in range(5):
        face.call("view", {"file_path": "normal.txt"})
    for pattern in ("a", "b"):
        face.call("search", {"pattern": pattern, "path": "normal.txt"})
    face.call("outline", {"path": "normal.txt"})
    for number, (tool, arguments) in enumerate(hostile):
        face.send(json.dumps(tool_call(f"hostile-{number}", tool, arguments)).encode())


def rounds(root: str, seconds: float, seed: int, attempts: int) -> Iterator[tuple[Reads, Reads]]:
    """Reads without and with the hostile calls, until they are quick enough or the attempts are used up."""
    for attempt in range(attempts):
        quiet = reads_meanwhile(root, min(seconds, 2.0), [])
        abused = reads_meanwhile(root, seconds, hostile_calls(seed + attempt))
        yield quiet, abused
        if abused.at(0.99) < TARGET_SECONDS and not abused.failed:
            return


def measure(*, long: bool, seed: int) -> Figure:
    """The time of a normal read while 64 hostile calls run."""
    with folder("liveness") as base:
        root = os.path.join(base, "root")
        plant(root)
        tried = list(rounds(root, 60.0 if long else 20.0, seed, 1 if long else 2))
    quiet, abused = tried[-1]
    notes = [
        f"without them: p50 {1000 * quiet.at(0.5):.1f}, p99 {1000 * quiet.at(0.99):.1f}, worst {1000 * quiet.at(1):.0f} ms",
        f"with them: p50 {1000 * abused.at(0.5):.1f}, p90 {1000 * abused.at(0.9):.1f}, worst {1000 * abused.at(1):.0f} ms",
        f"while the 64 requests arrive and are read, in the first half second: worst {1000 * max(abused.seconds[:50]):.0f} ms",
        f"{abused.hostile_answered} of the hostile calls were answered meanwhile, {abused.hostile_open} still ran",
    ]
    if earlier := [f"{1000 * reads.at(0.99):.0f} ms" for _, reads in tried[:-1]]:
        notes.append(f"attempt {len(tried)}; p99 of those before: {', '.join(earlier)}")
    return Figure(
        rig="R3",
        name="liveness under abuse",
        value=f"p99 {1000 * abused.at(0.99):.1f} ms of {len(abused.seconds)} reads, {abused.failed} failed",
        target=f"p99 {1000 * TARGET_SECONDS:.0f} ms, 0 failed",
        met=abused.at(0.99) < TARGET_SECONDS and abused.failed == 0,
        seed=seed,
        notes=tuple(notes),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))

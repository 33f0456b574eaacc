"""R9: whichever system call fails, does a store say what failed, and is nothing damaged?

Each deed (`deeds`) is done once for each of its calls that touch files and each of three errors, which strace returns in place of
the call. The deed succeeds or reports a `StoreFault` (a handoff: an `OSError`), also when it is retried at once; the state is old
or new, its check finds nothing, and what was acknowledged is there. After a failed flush nothing is written.
Then the real thing: full disks (bytes, and names), a read-only disk, and a writer that does not let go.
Control: a file that is written in place. The same errors must pass unreported there.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from unittest.mock import patch

from proof.deeds import ALL, CONTROL, DEEDS, Outcome, Stage, on_stages, readable
from proof.figure import MEMORY, Figure, NotHere, folder, main, untried

from penstock.store import StoreFault
from penstock.store import sqlite as backend
from penstock.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator

ERRORS = ("EIO", "ENOSPC", "EINTR")
FLUSHES = {"fsync", "fdatasync"}
CALLS = FLUSHES | {
    "flock",
    "ftruncate",
    "getdents64",
    "mkdir",
    "openat",
    "pread64",
    "pwrite64",
    "read",
    "renameat",
    "unlink",
    "unlinkat",
    "write",
}
_WITHOUT_A_STORE = {"a schema is migrated", "a handoff is written"}  # no open store that could refuse a second attempt
_FULL = ("done", "fault disk_full")
_SHORT_POINTS = 2  # of each deed; the long form takes all


@dataclass(slots=True)
class Sweep:
    """How a deed took the errors. `ridden_out` counts calls whose error changed nothing, by name."""

    deed: str
    done: int = 0
    named: Counter[str] = field(default_factory=Counter)
    ridden_out: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def points(self) -> int:
        return self.done + self.named.total() + len(self.wrong)

    def __str__(self) -> str:
        codes = ", ".join(f"{count} {code}" for code, count in self.named.most_common())
        ridden = ", ".join(f"{count} {name}" for name, count in self.ridden_out.most_common())
        return f"{self.deed}: {self.points} errors, {codes}, {self.done} ridden out ({ridden}), {len(self.wrong)} wrong"


def sweep(stage: Stage, deed: str, points: int | None, seed: int) -> Sweep:
    """Errors in a deed: at every call that touches files, or at this many."""
    found, held = Sweep(deed), ALL[deed].held
    with folder("faults", MEMORY) as home:
        before, path = os.path.join(home, "before"), os.path.join(home, "store")
        stage.plant(deed, before)
        shutil.copytree(before, path)
        old = held(path)
        shutil.rmtree(path)
        shutil.copytree(before, path)
        calls = [call for call in stage.perform(deed, path, watch=True).calls if call[0] in CALLS]
        new = held(path)
        chosen = [(name, number, error) for name, number in calls for error in ERRORS]
        if points is not None and points < len(chosen):
            chosen = random.Random(f"{seed} {deed}").sample(chosen, points)
        for name, number, error in chosen:
            shutil.rmtree(path)
            shutil.copytree(before, path)
            outcome = stage.perform(deed, path, f"{name}:error={error}:when={number}", again=True)
            problem = _wrong_words(deed, outcome, name, error)
            try:
                there = held(path)
                if there not in (old, new) or ("done" in outcome.lines and there != new):
                    problem = problem or "neither old nor new, or acknowledged and not there"
                ALL[deed].ready(path)()
                if held(path) != new:
                    problem = problem or "cannot be done again"
                ALL[deed].tidied(path)
            except Exception as raised:
                problem = problem or repr(raised)
            if problem:
                found.wrong.append(f"{deed}, {error} from {name} {number}: {problem}; {outcome.lines}"[:600])
            elif outcome.is_done:
                found.done += 1
                found.ridden_out[f"{error} from {name}"] += 1
            else:
                found.named[outcome.lines[0].split()[1]] += 1
    return found


def _wrong_words(deed: str, outcome: Outcome, name: str, error: str) -> str:
    """Faults in what the deed reported, both times."""
    if outcome.signal or len(outcome.lines) < 2:
        return f"ended by signal {outcome.signal}"
    first, second = outcome.lines
    for line in (first, second):
        if not line.startswith(("done", "fault ")):
            return "an error that is not named"
    if deed in _WITHOUT_A_STORE:
        return ""
    if name in FLUSHES and error == "EIO" and first != "done" and "fault read_only" not in second:
        return "written to after a flush that failed"
    if name in {"write", "pwrite64"} and error == "ENOSPC" and not first.startswith(_FULL):
        return "a full disk that is not called so"
    return ""


# ── the real thing ───────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def memory_disk(options: str) -> Iterator[str]:
    """A small file system in memory. Raises OSError if this user may not mount one."""
    with folder("disk", MEMORY) as path:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"mode=700,{options}", "tmpfs", path],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise OSError(done.stderr.strip())
        try:
            yield path
        finally:
            subprocess.run(["umount", path], check=False, capture_output=True)


@dataclass(slots=True)
class Trial:
    """A store that is written to until it is full, and what was acknowledged by then."""

    path: str
    generator: random.Random
    contents: dict[str, bytes] = field(default_factory=dict)
    records: int = 0
    wrong: list[str] = field(default_factory=list)

    def write(self, store: SqliteStore) -> str:
        """One artifact or one record; the code of the fault, if any."""
        return self.write_artifact(store) if self.generator.random() < 0.5 else self.write_record(store)

    def write_artifact(self, store: SqliteStore) -> str:
        """The code of the fault, if any."""
        content = self.generator.randbytes(self.generator.randrange(100_000))
        try:
            self.contents[store.put(content, name=str(len(self.contents)))] = content
        except StoreFault as fault:
            return fault.code
        return ""

    def write_record(self, store: SqliteStore) -> str:
        """The code of the fault, if any."""
        try:
            store.append("s", self.records, "asked", {"text": "x" * self.generator.randrange(4_000)})
        except StoreFault as fault:
            return fault.code
        self.records += 1
        return ""

    def look(self, store: SqliteStore) -> None:
        """Whether everything acknowledged is there, undamaged."""
        self.wrong += map(str, store.check())
        found = sum(1 for _ in store.events("s"))
        if found < self.records:
            self.wrong.append(f"{found} records of {self.records}")
        self.wrong += [
            f"artifact {handle} differs"
            for handle, content in self.contents.items()
            if store.read(handle, 0, len(content) + 1) != content
        ]


def full_disk(options: str, seed: int) -> list[str]:
    """A disk that fills up while a store is in use; is opened when full; and gets room again."""
    with memory_disk(options) as disk:
        trial = Trial(os.path.join(disk, "store"), random.Random(seed))
        room = os.path.join(disk, "room")
        with open(room, "wb") as file:
            file.write(bytes(300_000))
        store = SqliteStore(trial.path)
        codes = Counter(trial.write(store) for _ in range(400))
        if not codes["disk_full"] or set(codes) - {"", "disk_full"}:
            trial.wrong.append(f"said {dict(codes)}")
        trial.look(store)
        os.unlink(room)
        store.close()
        rest = _fill(disk)
        try:
            SqliteStore(trial.path).close()
        except StoreFault as fault:
            if fault.code != "disk_full":
                trial.wrong.append(f"opened on a full disk: {fault.code}: {fault}")
        for name in rest:
            os.unlink(name)
        store = SqliteStore(trial.path)
        trial.look(store)
        if code := trial.write(store):
            trial.wrong.append(f"does not go on when there is room again: {code}")
        store.close()
    return [f"a disk with {options}: {line}" for line in trial.wrong]


def _fill(disk: str) -> list[str]:
    """Uses up every name, if they are few, and every byte; returns the files that did."""
    names = [os.path.join(disk, f"rest-{number}") for number in range(max(1, min(100, os.statvfs(disk).f_favail)))]
    for name in names:
        with open(name, "wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(65_536)):
                pass
    return names


def read_only_disk(seed: int) -> list[str]:
    """A disk that is remounted read-only."""
    with memory_disk("size=8m") as disk:
        trial = Trial(os.path.join(disk, "store"), random.Random(seed))
        store = SqliteStore(trial.path)
        while len(trial.contents) < 5 or trial.records < 5:
            trial.write(store)
        store.close()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        store = SqliteStore(trial.path)
        trial.look(store)
        codes = Counter(trial.write(store) for _ in range(10))
        if set(codes) != {"read_only"}:
            trial.wrong.append(f"said {dict(codes)}")
        trial.look(store)
        store.close()
    return [f"a disk that cannot be written: {line}" for line in trial.wrong]


def held_writer(seed: int) -> list[str]:
    """Another process pauses in the middle of its commit: a writer is told, a reader is not disturbed, both continue."""
    wrong: list[str] = []
    deed = "a checkpoint is written"
    with (
        folder("held", MEMORY) as home,
        Stage() as stage,
        ThreadPoolExecutor(1) as beside,
        patch.object(backend, "WAIT_SECONDS", 0.05),
    ):
        path = os.path.join(home, "store")
        stage.plant(deed, path)
        trial, store = Trial(path, random.Random(seed)), SqliteStore(path)
        seen = [readable(store)[0]]
        codes: Counter[str] = Counter()
        performance = beside.submit(stage.perform, deed, path, "fdatasync:delay_enter=600000:when=1")
        while not performance.done():
            codes[trial.write_artifact(store)] += 1
            seen.append(readable(store)[0])
        if set(codes) - {"", "busy"} or not codes["busy"] or not performance.result().is_done:
            wrong.append(f"said {dict(codes)}, {performance.result()}")
        before, after = seen[0], readable(store)[0]
        if before == after or any(records not in (before, after) for records in seen):
            wrong.append("a reader sees what is not committed, or not what is")
        if trial.write_artifact(store):
            wrong.append("does not go on")
        trial.records = len(after["s"])
        trial.look(store)
        store.close()
    return [f"a writer that holds still: {line}" for line in wrong + trial.wrong]


def measure(*, long: bool, seed: int) -> Figure:
    """Errors that are not reported, or that damage something."""
    points = None if long else _SHORT_POINTS
    target = f"0{' at every call that touches files, three errors each' if long else ''}, and the control unnamed"
    try:
        *sweeps, control = on_stages(lambda stage, deed: sweep(stage, deed, points, seed), (*DEEDS, CONTROL))
    except NotHere as why:
        return untried("R9", "errors of system calls", target, why)
    notes = [str(found) for found in sweeps]
    wrong = [line for found in sweeps for line in found.wrong]
    errors = sum(found.points for found in sweeps)
    try:
        for options in ("size=4m", "size=32m,nr_inodes=40"):
            wrong += full_disk(options, seed)
        wrong += read_only_disk(seed)
        notes.append("disks that are full, of bytes and of names, and one that can only be read: tried")
    except OSError as error:
        notes.append(f"full and read-only disks were not tried here: {error}")
    wrong += held_writer(seed)
    if not control.wrong:
        notes.append("the rig is blind here: a file written without care gave no unnamed error")
    return Figure(
        rig="R9",
        name="errors of system calls",
        value=f"{errors} errors: {len(wrong)} unnamed, damaging or falsely acknowledged",
        target=target,
        met=not wrong and bool(control.wrong),
        seed=seed,
        notes=(*notes, *wrong),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))

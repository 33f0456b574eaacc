"""R7: is anything acknowledged lost when the power fails?

A disk is an image on a loop device. A process writes to it and reports through a pipe what the library has acknowledged; then
`FS_IOC_SHUTDOWN` discards whatever the file system has not put on its disk, in the middle of the work. Only what was drained from
the pipe before that call counts. The disk is mounted again, and all of it must be there, exactly. The work pauses now and then, so
that no later flush carries what was acknowledged before.
Controls: the same work without flushes, and files that are flushed before they are renamed but not after. They must lose data.
Not simulated: a disk that lies about its flushes, or reorders blocks within one.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proof.figure import MEMORY, REPOSITORY, Figure, NotHere, folder, main, untried

from penstock.errors import PenstockError
from penstock.store import Event, Handle, StoreFault
from penstock.store.sqlite import SqliteStore
from penstock.workspace.own_files import OwnFolder, replace_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FS_IOC_SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2
IMAGE_BYTES = 400 << 20  # mkfs.xfs makes nothing smaller than 300 MB; the file has holes
KINDS = {
    "ext4": ("mkfs.ext4", "-q", "-F"),
    "XFS": ("mkfs.xfs", "-q", "-f"),
}
CONTROL_CUTS = 20  # a control that has lost nothing yet is cut again: only its newest rename is at risk
CUTS_IN_ONE_STORE = 5  # a store is used for this many cuts
COPIES_SECONDS = 60  # that others may have a copy of a mount
_NAMES = 20
_FILE_BYTES = 3_000


# ── the work ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _say(*words: object) -> None:
    os.write(1, (json.dumps(words) + "\n").encode())


def _rest(generator: random.Random) -> None:
    """Pause, so that usually no later flush carries what was just acknowledged."""
    if generator.random() < 0.2:
        time.sleep(0.01 * generator.random())


def _opened(path: str, generator: random.Random) -> SqliteStore:
    """A store whose log is merged and restarted every few commits, or not at all in this context."""
    store = SqliteStore(path)
    store._connected().execute(f"PRAGMA wal_autocheckpoint = {generator.choice((10, 1_000))}")
    return store


def _content(seed: int) -> bytes:
    """From a hundred bytes to a few pieces."""
    generator = random.Random(seed)
    return generator.randbytes(1_000) * generator.choice((1, 1, 10, 100, 700))


def journal(path: str, generator: random.Random, *, synchronous: str = "FULL") -> None:
    """Records, one or several in a commit."""
    store = _opened(path, generator)
    store._connected().execute(f"PRAGMA synchronous = {synchronous}")
    at = {info.session: info.records for info in store.sessions()}
    while True:
        session, count = f"s{generator.randrange(3)}", generator.choice((1, 1, 1, 4))
        first = at.get(session, 0)
        events = [
            Event(seq=first + n, type="asked", data={"text": "word " * generator.randrange(400)}) for n in range(count)
        ]
        for record in store.append_all(session, events):
            _say("record", record.session, record.seq, record.sha256)
        at[session] = first + count
        _rest(generator)


def artifacts(path: str, generator: random.Random) -> None:
    """Artifacts, each with a record that refers to it."""
    store = _opened(path, generator)
    at = sum(info.records for info in store.sessions())
    while True:
        seed = generator.getrandbits(60)
        handle = store.put(_content(seed), name=str(seed))
        _say("artifact", handle, seed)
        record = store.append("s", at, "returned", {"handle": handle}, handles=[handle])
        _say("record", "s", at, record.sha256)
        at += 1
        _rest(generator)


def files(path: str, generator: random.Random, *, flush: str = "after") -> None:
    """The primitive under an artifact: a file that is written, renamed over another, and flushed with its name."""
    home = OwnFolder(path)
    number = max((_number_in(path, name) for name in os.listdir(path)), default=0)
    while True:
        number += 1
        name = str(generator.randrange(_NAMES))
        home.remove("pending")
        descriptor = home.create("pending")
        os.write(descriptor, _file(number))
        if flush == "before":
            os.fsync(descriptor)
        os.close(descriptor)
        home.rename("pending", name)
        if flush == "after":
            home.flush(name)
        _say("file", name, number)
        _rest(generator)


def handoffs(path: str, generator: random.Random) -> None:
    """Documents that replace one another."""
    OwnFolder(path).close()
    number = max((_number_in(path, name) for name in os.listdir(path)), default=0)
    while True:
        number += 1
        replace_own(os.path.join(path, "0"), _file(number))
        _say("file", "0", number)
        _rest(generator)


def _file(number: int) -> bytes:
    return (b"%d " % number) + random.Random(number).randbytes(_FILE_BYTES)


def _number_in(path: str, name: str) -> int:
    """The number of the work that wrote a file; -1 if none did, 0 if the file has no name yet."""
    if not name.isdigit():
        return 0
    with open(os.path.join(path, name), "rb") as file:
        data = file.read()
    number = data.partition(b" ")[0]
    return int(number) if number.isdigit() and data == _file(int(number)) else -1


WORK: dict[str, Callable[[str, random.Random], None]] = {
    "journal": journal,
    "artifacts": artifacts,
    "files": files,
    "handoffs": handoffs,
    "journal without flushes": lambda path, generator: journal(path, generator, synchronous="OFF"),
    "files flushed before their rename": lambda path, generator: files(path, generator, flush="before"),
}
PROMISED = ("journal", "artifacts", "files", "handoffs")
STORES = ("journal", "artifacts", "journal without flushes")
CONTROLS = ("journal without flushes", "files flushed before their rename")


# ── what is there afterwards ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Ledger:
    """What was acknowledged for one kind of work in one folder; `lost` and `wrong` are what a check found."""

    work: str
    said: list[list[object]] = field(default_factory=list)

    def look(self, path: str) -> tuple[int, list[str]]:
        """How much of it is missing, and what else is wrong."""
        if self.work not in STORES:
            return self._look_at_files(path)
        try:
            store = SqliteStore(path)
        except PenstockError as error:
            return len(self.said), [f"{self.work}: cannot be opened: {error}"]
        try:
            return self._look_at(store)
        finally:
            store.close()

    def _look_at(self, store: SqliteStore) -> tuple[int, list[str]]:
        wrong = [f"{self.work}: {damage}" for damage in store.check()]
        seals: dict[str, list[str]] = {}
        for info in store.sessions():
            sound = seals.setdefault(info.session, [])
            with suppress(StoreFault):  # the check has reported it
                for record in store.events(info.session):
                    sound.append(record.sha256)
        lost = 0
        for kind, name, *rest in self.said:
            if kind == "record":
                seq, seal = rest
                sealed = seals.get(str(name), [])
                lost += not (isinstance(seq, int) and seq < len(sealed) and sealed[seq] == seal)
            else:
                expected = _content(int(str(rest[0])))
                try:
                    lost += store.read(Handle(str(name)), 0, len(expected) + 1) != expected
                except PenstockError:
                    lost += 1
        return lost, wrong

    def _look_at_files(self, path: str) -> tuple[int, list[str]]:
        names = os.listdir(path) if os.path.exists(path) else []  # without a flush the folder is lost too
        there = {name: _number_in(path, name) for name in names}
        wrong = [f"{self.work}: {name} is nothing that was written" for name, number in there.items() if number < 0]
        lost = sum(there.get(str(name), 0) < int(str(number)) for _, name, number in self.said)
        return lost, wrong


# ── the disk ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Disk:
    """A mounted file system whose power can be cut."""

    def __init__(self, kind: str, home: str) -> None:
        self.image, self.path = os.path.join(home, "image"), os.path.join(home, "disk")
        os.mkdir(self.path)
        with open(self.image, "wb") as file:
            file.truncate(IMAGE_BYTES)
        self._run(*KINDS[kind], self.image)
        self.mount()

    def _run(self, *command: str) -> None:
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except FileNotFoundError:
            raise NotHere(f"{command[0]} is not installed") from None
        except subprocess.CalledProcessError as error:
            raise NotHere(f"{command[0]}: {(error.stderr or error.stdout).strip()[:200]}") from None

    def mount(self) -> None:
        self._run("mount", "-o", "loop", self.image, self.path)

    def unmount(self) -> None:
        """Unmount it, everywhere: a sandbox that begins meanwhile has a copy of each mount until it ends.

        While there is one, mounting the image again returns the same file system, with its power still cut.
        """
        self._run("umount", self.path)
        until = time.monotonic() + COPIES_SECONDS
        while subprocess.run(["losetup", "--associated", self.image], check=True, capture_output=True).stdout:
            if time.monotonic() > until:
                raise NotHere(f"another process has had a mount of {self.image} for {COPIES_SECONDS} s")
            time.sleep(0.05)

    def cut(self) -> None:
        """From here on nothing reaches the disk, including the file system's log."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, FS_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        except OSError as error:
            raise NotHere(f"FS_IOC_SHUTDOWN: {error.strerror}") from error
        finally:
            os.close(descriptor)


@contextmanager
def disk(kind: str) -> Iterator[Disk]:
    """A new disk. Raises `NotHere` if there are no loop devices, or none for this user."""
    if os.geteuid() != 0:
        raise NotHere("only root may mount")
    with folder("power", MEMORY) as home:
        made = Disk(kind, home)
        try:
            yield made
        finally:
            with suppress(NotHere):
                made.unmount()


def cut_during(where: Disk, ledger: Ledger, path: str, generator: random.Random) -> int:
    """One power cut in the middle of the work; returns how many acknowledgements came before it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "proof.power", "work", ledger.work, path, str(generator.getrandbits(60))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=REPOSITORY,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    pipe = process.stdout.fileno()
    os.set_blocking(pipe, False)
    said, ends = bytearray(), time.monotonic() + 30
    try:
        while (left := ends - time.monotonic()) > 0:
            if select.select([pipe], [], [], left)[0]:
                part = os.read(pipe, 1 << 20)
                if not part:
                    raise RuntimeError(f"{ledger.work} ended: {process.stderr.read().decode(errors='replace')[-300:]}")
                if not said:  # it is working: the power fails at any moment from now
                    ends = time.monotonic() + generator.uniform(0.005, 0.25)
                said += part
        with suppress(BlockingIOError):
            while part := os.read(pipe, 1 << 20):
                said += part
        where.cut()
    finally:
        process.kill()
        process.communicate()
    lines = bytes(said[: said.rfind(b"\n") + 1]).splitlines()
    ledger.said += map(json.loads, lines)
    return len(lines)


@dataclass(slots=True)
class Tally:
    """The results of cuts of one kind of work."""

    cuts: int = 0
    acknowledged: int = 0
    lost: int = 0
    lossy: int = 0
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.lost} of {self.acknowledged} acknowledgements lost, in {self.lossy} of {self.cuts} cuts"


def trial(kind: str, works: list[str], seed: int) -> dict[str, Tally]:
    """Cuts on one file system, one for each named kind of work. Raises `NotHere`."""
    generator = random.Random(f"{seed} {kind}")
    tallies: dict[str, Tally] = {}
    ledgers: dict[str, Ledger] = {}
    seen: Counter[str] = Counter()

    def all_works() -> Iterator[str]:
        yield from works
        for work in CONTROLS:
            while not tallies[work].lost and tallies[work].cuts < CONTROL_CUTS:
                yield work

    with disk(kind) as where:
        for work in all_works():
            path = os.path.join(where.path, work)
            if seen[work] % CUTS_IN_ONE_STORE == 0:
                subprocess.run(["rm", "-rf", path], check=True)
                ledgers[work] = Ledger(work)
            seen[work] += 1
            tally = tallies.setdefault(work, Tally())
            tally.cuts += 1
            tally.acknowledged += cut_during(where, ledgers[work], path, generator)
            where.unmount()
            where.mount()
            lost, wrong = ledgers[work].look(path)
            tally.lost += lost
            tally.lossy += lost > 0
            tally.wrong += wrong
            if lost or wrong:  # counted once
                subprocess.run(["rm", "-rf", path], check=True)
                ledgers[work] = Ledger(work)
                seen[work] = 0
    return tallies


def measure(*, long: bool, seed: int) -> Figure:
    """Acknowledged work that is lost after a power cut."""
    works = list(PROMISED) * (25 if long else 1) + list(CONTROLS) * (10 if long else 2)
    tallies: dict[str, dict[str, Tally]] = {}
    notes: list[str] = []
    with ThreadPoolExecutor(2) as pool:
        trials = {kind: pool.submit(trial, kind, works, seed) for kind in KINDS}
    for kind, outcome in trials.items():
        try:
            tallies[kind] = outcome.result()
        except NotHere as missing:
            notes.append(f"{kind} was not tried here: {missing}")
    lost_by_control = dict.fromkeys(CONTROLS, 0)
    kept = Tally()
    for kind, by_work in tallies.items():
        for work, tally in by_work.items():
            notes += [f"{kind}, {work}: {tally}", *tally.wrong]
            if work in CONTROLS:
                lost_by_control[work] += tally.lost
            else:
                kept.cuts += tally.cuts
                kept.acknowledged += tally.acknowledged
                kept.lost += tally.lost
                kept.lossy += tally.lossy
                kept.wrong += tally.wrong
    target = f"0 lost{' in 200 cuts' if long else ''}, 0 damaged, and the controls lose"
    if not tallies:
        return untried("R7", "power cuts", target, NotHere("; ".join(notes)))
    if blind := not all(lost_by_control.values()):
        notes.append("the rig is blind here: a control lost nothing, so the zero says nothing")
    return Figure(
        rig="R7",
        name="power cuts",
        value=f"{kept.lost} of {kept.acknowledged} acknowledgements lost in {kept.cuts} cuts, {len(kept.wrong)} damaged",
        target=target,
        met=not kept.lost and not kept.wrong and not blind and kept.cuts >= (200 if long else 1),
        seed=seed,
        notes=tuple(notes),
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        WORK[sys.argv[2]](sys.argv[3], random.Random(int(sys.argv[4])))
    else:
        raise SystemExit(main(measure))

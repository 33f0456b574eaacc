"""What is done to a store while something goes wrong? Deeds, each carried out by a process that waits until it is traced.

A stage is a process that has done every deed once, so that nothing is left to import. For each performance it forks; the child
prepares and stops itself, strace attaches, and it continues: the system calls that strace then counts are those of the deed, and
the same ones each time.
Leaves to others: what goes wrong (`kills`, `faults`), and what is expected then.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from proof.figure import MEMORY, REPOSITORY, NotHere, folder

from penstock.store import Event, StoreFault, journal, pieces, schema
from penstock.store.sqlite import DATABASE, SqliteStore
from penstock.workspace.own_files import replace_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")
OLD = b"".join(b"line %d of what was there before\n" % n for n in range(12_000))
NEW = b"".join(b"%d is new\n" % n for n in range(40_000))
_MONTH_SECONDS = 30 * 86_400.0
_PATIENCE_SECONDS = 30.0  # a deed that takes longer hangs


# ── what is there afterwards ─────────────────────────────────────────────────────────────────────────────────────


class Unsound(Exception):
    """The remaining state is not valid for a store."""


class State(NamedTuple):
    """Everything that can be read from a store. An artifact is its name and the SHA-256 of the bytes read."""

    schema: tuple[int, int]
    records: dict[str, list[dict[str, object]]]
    artifacts: set[tuple[str, str]]


def state(path: str) -> State:
    """Everything, read as a stranger would. Raises `Unsound`, and whatever the store raises."""
    probe = f"{path}.probe"  # inspected without the product: opening it would migrate the schema
    shutil.copytree(path, probe)
    schema_then = _schema(probe)
    shutil.rmtree(probe)
    store = SqliteStore(path)
    try:
        if damage := store.check():
            raise Unsound(str(damage))
        return State(schema_then, *readable(store))
    finally:
        store.close()


def readable(store: SqliteStore) -> tuple[dict[str, list[dict[str, object]]], set[tuple[str, str]]]:
    """Records and artifacts. Raises what the store raises."""
    records = {info.session: [record.data for record in store.events(info.session)] for info in store.sessions()}
    contents = {(info.name, store.read(info.handle, 0, info.bytes + 1)) for info in store.artifacts()}
    return records, {(name, hashlib.sha256(content).hexdigest()) for name, content in contents}


def _schema(path: str) -> tuple[int, int]:
    """The version as SQLite alone sees it, and how many tables and indexes there are."""
    connection = sqlite3.connect(os.path.join(path, DATABASE))
    try:
        number = connection.execute("PRAGMA user_version").fetchone()[0]
        return int(number), int(connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0])
    finally:
        connection.close()


def tidied(path: str) -> None:
    """Pruning leaves no file without a row, and no row without its file. Raises `Unsound`."""
    store = SqliteStore(path)
    try:
        store.prune()
        named = {place for (place,) in store._read("SELECT place FROM contents") if ":" not in place}  # files, no rows
        if odd := named ^ set(os.listdir(os.path.join(path, "contents"))):
            raise Unsound(f"left over: {odd}")
    finally:
        store.close()


def _file(path: str) -> bytes:
    with open(os.path.join(path, "file"), "rb") as file:
        return file.read()


# ── the deeds ────────────────────────────────────────────────────────────────────────────────────────────────────


def _events(first: int, count: int) -> list[Event]:
    return [Event(seq=n, type="asked", data={"n": n, "text": f"event {n} " * 30}) for n in range(first, first + count)]


def _plant(path: str) -> object:
    """A store in use: some of it in the log, some expired, some that can be compressed."""
    long_ago = SqliteStore(path, clock=lambda: time.time() - _MONTH_SECONDS)
    long_ago.put(OLD[::-1], name="expired")
    long_ago.close()
    store = SqliteStore(path)
    handle = store.put(OLD, name="old")
    store.append_all("s", _events(0, 20))
    store.append("s", 20, "returned", {"handle": handle}, handles=[handle])
    store._connected().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.append_all("t", _events(0, 5))
    return store


def _plant_full_log(path: str) -> object:
    """A store whose log is so long that the next commit merges it."""
    store = SqliteStore(path)
    store.put(OLD, name="old")
    store._connected().execute("PRAGMA wal_autocheckpoint = 0")
    for session in range(250):
        store.append_all(f"t{session}", _events(0, 3))
    store.append_all("s", _events(0, 21))
    return store


def _plant_old_schema(path: str) -> object:
    """A store of the first version, which knew only records."""
    schema.SQLITE = schema.SQLITE[:1]
    store = SqliteStore(path)
    before = journal.FIRST_HASH
    with store._writing() as execute:  # as rows: today's code for adding records uses today's tables
        for event in _events(0, 20):
            row = journal.JournalRow("s", event.seq, event.type, 1, 0.0, before, "", journal.payload(event.data))
            row = row._replace(sha256=row.sealed())
            execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))
            before = row.sha256
    return store


def _put(path: str) -> Callable[[], object]:
    store = SqliteStore(path)
    return lambda: store.put(NEW, name="new")


def _put_many(path: str) -> Callable[[], object]:
    store = SqliteStore(path)
    # One that is already there under its name, one twice, one with a secret to be redacted, one larger than a piece.
    contents = [
        (OLD, "old"),
        (b"small", "one"),
        (b"small", "two"),
        (b"key AKIAIOSFODNN7EXAMPLE\n", "key"),
        (NEW, "new"),
    ]
    return lambda: store.put_many(contents)


def _append(path: str) -> Callable[[], object]:
    store = SqliteStore(path)
    (old,) = (info.handle for info in store.artifacts() if info.name == "old")
    events = [*_events(21, 2), Event(seq=23, type="returned", data={"handle": old}, handles=[old])]
    return lambda: store.append_all("s", events)


def _migrate(path: str) -> Callable[[], object]:
    return lambda: SqliteStore(path)


def _prune(path: str) -> Callable[[], object]:
    return SqliteStore(path).prune


def _close(path: str) -> Callable[[], object]:
    return SqliteStore(path).close


def _plant_file(path: str) -> None:
    os.mkdir(path)
    with open(os.path.join(path, "file"), "wb") as file:
        file.write(OLD)


def _replace_file(path: str) -> Callable[[], object]:
    return lambda: replace_own(os.path.join(path, "file"), NEW)


def _write_in_place(path: str) -> Callable[[], object]:
    def write() -> None:
        with open(os.path.join(path, "file"), "wb", buffering=0) as file:
            file.writelines(pieces.cut(NEW))

    return write


@dataclass(frozen=True, slots=True)
class Deed:
    """`plant` creates the state before, in a process that then dies with the returned object still open; `ready` returns the deed;
    `held` reads everything from the store; `tidied` checks that no leftovers remain.
    """

    plant: Callable[[str], object]
    ready: Callable[[str], Callable[[], object]]
    held: Callable[[str], object] = state
    tidied: Callable[[str], None] = tidied
    fault: type[Exception] = StoreFault
    """What its errors are."""


DEEDS = {
    "an artifact is written": Deed(_plant, _put),
    "several artifacts are written": Deed(_plant, _put_many),
    "a checkpoint is written": Deed(_plant, _append),
    "a checkpoint is written and the log is merged": Deed(_plant_full_log, _append),
    "a schema is migrated": Deed(_plant_old_schema, _migrate),
    "a store is pruned": Deed(_plant, _prune),
    "a store is closed": Deed(_plant, _close),
    "a handoff is written": Deed(_plant_file, _replace_file, _file, lambda _: None, OSError),
}
CONTROL = "a file is written in place"
ALL = {**DEEDS, CONTROL: Deed(_plant_file, _write_in_place, _file, lambda _: None)}


# ── the stage ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a performance went: what the deed reported, one line per attempt, and the signal that ended it.

    A line is `done`, `fault CODE TEXT`, or `raised TEXT` for an error that should never occur.
    """

    lines: tuple[str, ...]
    signal: int
    calls: tuple[tuple[str, int], ...] = ()
    """The system calls, each with its number among those of its name, if requested."""

    @property
    def is_done(self) -> bool:
        return self.lines[:1] == ("done",)


def on_stages(sweep: Callable[[Stage, str], T], deeds: Iterable[str]) -> list[T]:
    """A sweep for each deed, on two stages at once."""
    deeds = tuple(deeds)

    def some(first: int) -> list[T]:
        with Stage() as stage:
            return [sweep(stage, deed) for deed in deeds[first::2]]

    with ThreadPoolExecutor(2) as pool:
        return [found for both in zip_longest(*pool.map(some, (0, 1))) for found in both if found is not None]


class Stage:
    """The process that forks performers. Use it as a context manager."""

    def __enter__(self) -> Stage:
        if shutil.which("strace") is None:
            raise NotHere("strace is not installed")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "proof.deeds"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
        )
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:
            assert self.process.stdin is not None
            self.process.stdin.close()

    def plant(self, deed: str, path: str) -> None:
        """The state before the deed, as a killed process leaves it."""
        self._ask("plant", deed, path)
        self._line("planted")

    def perform(self, deed: str, path: str, *inject: str, again: bool = False, watch: bool = False) -> Outcome:
        """Does the deed once under strace. `again`: also reports a second attempt. Raises `NotHere`."""
        self._ask("twice" if again else "once", deed, path)
        performer = int(self._line("stopped"))
        log = f"{path}.strace"
        chosen = [f"--inject={what}" for what in inject] or ["--trace=all"]
        with subprocess.Popen(
            ["strace", "-p", str(performer), "-o", log if watch else os.devnull, "-X", "raw", *chosen],
            stderr=subprocess.PIPE,
            text=True,
        ) as tracer:
            assert tracer.stderr is not None
            if "attached" not in (said := tracer.stderr.readline()):
                os.kill(performer, signal.SIGKILL)
                raise NotHere(f"strace may not trace: {said.strip()}")
            os.kill(performer, signal.SIGCONT)
            hung = threading.Timer(_PATIENCE_SECONDS, os.kill, (performer, signal.SIGABRT))
            hung.start()
            lines: list[str] = []
            try:
                while not (line := self._line()).startswith("ended"):
                    lines.append(line)
            finally:
                hung.cancel()
        return Outcome(tuple(lines), int(line.split()[1]), _numbered(log) if watch else ())

    def _ask(self, *words: str) -> None:
        assert self.process.stdin is not None
        print(json.dumps(words), file=self.process.stdin, flush=True)

    def _line(self, word: str = "") -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith(word) or not line:
            raise RuntimeError(f"the stage said {line!r}")
        return line.removeprefix(word).strip()


def _numbered(log: str) -> tuple[tuple[str, int], ...]:
    seen: dict[str, int] = {}
    calls = []
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            name, paren, _ = line.partition("(")
            if paren and name.isidentifier():
                seen[name] = seen.get(name, 0) + 1
                calls.append((name, seen[name]))
    return tuple(calls)


def _tried(act: Callable[[], object], named: type[Exception]) -> str:
    try:
        act()
    except named as fault:
        return f"fault {getattr(fault, 'code', type(fault).__name__)} {fault}"
    except BaseException as error:
        return f"raised {error!r}"
    return "done"


def _forked(act: Callable[[], object]) -> int:
    """Does it in a process that ends without closing anything."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            _open = act()  # until here
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return process


def _planted(deed: Deed, path: str) -> None:
    """Creates the state before; raises if that fails, otherwise the deed would be done to nothing."""
    _, status = os.waitpid(_forked(partial(deed.plant, path)), 0)
    if status:
        raise RuntimeError(f"{deed.plant.__name__} failed")


def _perform(deed: str, path: str, times: int) -> None:
    act = ALL[deed].ready(path)
    os.kill(os.getpid(), signal.SIGSTOP)
    for _ in range(times):
        os.writev(1, [_tried(act, ALL[deed].fault).replace("\n", " ").encode(), b"\n"])  # a call that no deed makes


def main() -> None:
    """The stage: one performance for each line of standard input."""
    with folder("stage", MEMORY) as home:
        for number, deed in enumerate({deed.ready: deed for deed in reversed(ALL.values())}.values()):
            path = os.path.join(home, str(number))
            _planted(deed, path)
            deed.ready(path)()
    for line in sys.stdin:
        verb, name, path = json.loads(line)
        if verb == "plant":
            _planted(ALL[name], path)
            print("planted", flush=True)
            continue
        performer = _forked(partial(_perform, name, path, 2 if verb == "twice" else 1))
        os.waitpid(performer, os.WUNTRACED)
        print("stopped", performer, flush=True)
        _, status = os.waitpid(performer, 0)
        print("ended", os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, flush=True)


if __name__ == "__main__":
    main()

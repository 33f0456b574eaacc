"""R10: is all harmful damage reported, and is what is read always what was written?

Bits are flipped, files cut short and pages of 4 KiB zeroed: in the database, in its log, in uncompressed content and in compressed
content. Then the store is opened and read from end to end. Harm is anything that reads differently than before; it is reported by
the open, by the read that meets it, or by the store's own check. If a journal is damaged, its newest sound record is offered and is
sound. Only the store's own errors occur, and never a wrong byte.
Control: SQLite's own check of the same files, which must miss some of it.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proof.figure import MEMORY, Figure, folder, main

from penstock.errors import PenstockError
from penstock.store import Damaged, Handle
from penstock.store.sqlite import DATABASE, SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable

_PAGE_BYTES = 4_096
_READ_BYTES = 1 << 20
_DAMAGES, _SHORT_DAMAGES = 1_000, 20


# ── what there is ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Truth:
    """What was written: the records of each session, and each content by its handle."""

    sessions: dict[str, list[dict[str, object]]]
    contents: dict[Handle, bytes]


def plant(path: str, generator: random.Random) -> Truth:
    """A store, half of whose journal is in the log and half in the database."""
    store = SqliteStore(path)
    sessions: dict[str, list[dict[str, object]]] = {"a": [], "b": []}

    def more(count: int) -> None:
        for _ in range(count):
            session = generator.choice(("a", "b"))
            data: dict[str, object] = {"text": generator.randbytes(generator.randrange(300)).hex()}
            store.append(session, len(sessions[session]), "asked", data)
            sessions[session].append(data)

    noise, text = generator.randbytes(600_000), b"".join(b"line %d of a log\n" % n for n in range(40_000))
    contents = {store.put(noise, name="noise"): noise, store.put(text, name="text"): text}
    more(150)
    store.prune()  # compresses the text
    store._connected().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    more(120)  # with the following, less than what makes SQLite merge the log
    for size in (5_000, 20_000):  # a row in the log, and a file
        late = generator.randbytes(size)
        contents[store.put(late, name="late")] = late
    more(50)
    shutil.copytree(path, f"{path}.open")  # the state after a kill, with its log
    store.close()
    return Truth(sessions, contents)


# ── what happens to it ───────────────────────────────────────────────────────────────────────────────────────────


def flip(data: bytearray, generator: random.Random) -> None:
    data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)


def cut(data: bytearray, generator: random.Random) -> None:
    del data[generator.randrange(len(data)) :]


def zero(data: bytearray, generator: random.Random) -> None:
    at = generator.randrange(len(data)) // _PAGE_BYTES * _PAGE_BYTES
    end = min(at + _PAGE_BYTES, len(data))
    data[at:end] = bytes(end - at)


WAYS: tuple[Callable[[bytearray, random.Random], None], ...] = (flip, flip, cut, zero)


# ── what is read ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Seen:
    """What a reader of a damaged store met. `wrong` should stay empty."""

    is_harmed: bool = False
    is_named_by_check: bool = False
    wrong: list[str] = field(default_factory=list)


def look(path: str, truth: Truth) -> Seen:
    """Opens a damaged store, runs its check, and reads all of it."""
    seen = Seen()
    try:
        store = SqliteStore(path)
    except PenstockError:
        seen.is_harmed = True
        return seen
    except Exception as error:
        seen.wrong.append(f"the open raised {error!r}")
        return seen
    try:
        seen.is_named_by_check = bool(store.check())
        for session, records in truth.sessions.items():
            _read_session(store, session, records, seen)
        for handle, content in truth.contents.items():
            _read_content(store, handle, content, seen)
    except Exception as error:
        seen.wrong.append(f"raised {error!r}")
    finally:
        store.close()
    return seen


def _read_session(store: SqliteStore, session: str, records: list[dict[str, object]], seen: Seen) -> None:
    read: list[dict[str, object]] = []
    is_named = seen.is_named_by_check
    try:
        for record in store.events(session):
            read.append(record.data)  # noqa: PERF401 - what was read before the damage counts
    except Damaged as damage:
        is_named = True
        if damage.newest_sound is not None and damage.newest_sound != len(read) - 1:
            seen.wrong.append(f"offers record {damage.newest_sound} after {len(read)} sound ones")
    except PenstockError:
        is_named = True
    if read != records[: len(read)]:
        seen.wrong.append(f"other records than were written in session {session}")
    if len(read) != len(records):
        seen.is_harmed = True
        if not is_named:
            seen.wrong.append(f"{len(records) - len(read)} records of session {session} are gone and nothing says so")


def _read_content(store: SqliteStore, handle: Handle, content: bytes, seen: Seen) -> None:
    try:
        if store.read(handle, 0, _READ_BYTES) != content:
            seen.wrong.append("other bytes than were written")
        lines = content.count(b"\n")
        if store.lines_before(handle, len(content)) != lines or store.info(handle).bytes != len(content):
            seen.wrong.append("other counts than were written")
    except PenstockError:
        seen.is_harmed = True  # reported by the read that met it


def sqlite_sees(path: str) -> bool:
    """Whether SQLite by itself finds the database damaged."""
    try:
        connection = sqlite3.connect(os.path.join(path, DATABASE))
        try:
            return bool(connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)])
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError):
        return True


def measure(*, long: bool, seed: int) -> Figure:
    """Harmful damage that is not reported."""
    generator = random.Random(seed)
    wrong: list[str] = []
    harmed: Counter[str] = Counter()
    unnamed = 0
    missed_by_sqlite = 0
    tried = _DAMAGES if long else _SHORT_DAMAGES
    with folder("damage", MEMORY) as home:
        path = os.path.join(home, "store")
        truth = plant(os.path.join(home, "sound"), generator)
        for number in range(tried):
            form = os.path.join(home, "sound" + (".open" if number % 2 else ""))
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(form, path)
            files = _files(path)
            kind = generator.choice(sorted(files))
            file, way = generator.choice(files[kind]), generator.choice(WAYS)
            data = bytearray(_bytes(file))
            way(data, generator)
            with open(file, "wb") as damaged:
                damaged.write(data)
            if kind != "content":
                shutil.copytree(path, f"{path}.sqlite")
                blind = not sqlite_sees(f"{path}.sqlite")
                shutil.rmtree(f"{path}.sqlite")
            seen = look(path, truth)
            harmed[kind] += seen.is_harmed
            missed_by_sqlite += kind != "content" and seen.is_harmed and blind
            unnamed += bool(seen.wrong)
            wrong += [f"{way.__name__} in the {kind}, number {number} of seed {seed}: {line}" for line in seen.wrong]
    total = harmed.total()
    said = ", ".join(f"{count} in the {kind}" for kind, count in harmed.most_common())
    return Figure(
        rig="R10",
        name="damage noticed",
        value=f"{total - unnamed} of {total} harmful damages named, of {tried} made",
        target="all named, no wrong byte, no other error",
        met=not wrong and missed_by_sqlite > 0,
        seed=seed,
        notes=(f"harm done: {said}; SQLite's own check misses {missed_by_sqlite}", *wrong),
    )


def _files(path: str) -> dict[str, list[str]]:
    """Files that can be damaged, by kind."""
    contents = os.path.join(path, "contents")
    files = {
        "database": [os.path.join(path, DATABASE)],
        "content": sorted(os.path.join(contents, name) for name in os.listdir(contents)),
    }
    if os.path.exists(log := os.path.join(path, f"{DATABASE}-wal")):
        files["log"] = [log]
    return files


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    raise SystemExit(main(measure))

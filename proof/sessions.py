"""R11: is a session that was cut off at any byte resumed as it was acknowledged, or is its newest sound record named?

An agent works through 60 turns: it reads files, edits one, keeps a list, forgets, and starts afresh. After each acknowledged
record, the state of the database's log and of the note next to it is saved. Then the log is cut after and within its records, in
two ways. As a kill leaves it, with the note of that moment: `resumed` returns exactly the session that was acknowledged, and it
continues. As damage leaves it, with the final note, and also with flipped bits: `Damaged` names the newest sound record, and the
records up to that are those that were written. The log of a 12-turn session is cut at each byte of its last records: reading 300
records again for each of 70,000 bytes took most of the time. The long form uses two processes.
Control: the same damage without a note, which must lose the end silently.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from proof.figure import MEMORY, Figure, folder, forked, main

from penstock.agent.editing import Editing
from penstock.agent.journal import resumed
from penstock.agent.loop import Agent
from penstock.agent.toolbox import Toolbox
from penstock.models import ScriptedModel, call, calls, say
from penstock.session import Session, Ticked
from penstock.session.limits import PROFILES
from penstock.store import Damaged
from penstock.store.sqlite import DATABASE, SqliteStore
from penstock.wires import tool_definitions
from penstock.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.models import ScriptStep

TURNS, SHORT_TURNS = 60, 12
WINDOW = 16_000
_LOG, _NOTE = f"{DATABASE}-wal", "lock"
_LAST = 3  # records of which every byte is cut
_WHOLLY = 20  # one of this many cuts is also resumed, and those after each record
_MERGED, _SHORT_MERGED = 12, 1  # this many turns before the end are in the log, the others in the database
_PROCESSES = 2
_NAME = "scripted"


@dataclass(slots=True)
class Kept:
    """One record as it was acknowledged: its end in the log, and the note at that time."""

    type: str
    sha256: str
    end: int
    note: bytes


@dataclass(slots=True)
class Recorded:
    """A finished session, and its files on disk."""

    kept: list[Kept] = field(default_factory=list)
    database: bytes = b""
    log: bytes = b""

    @property
    def merged(self) -> int:
        """How many records are in the database."""
        return sum(not kept.end for kept in self.kept)

    def acknowledged(self, end: int) -> int:
        """How many records end before that byte of the log."""
        return sum(kept.end <= end for kept in self.kept)


def script(turns: int) -> Iterator[ScriptStep]:
    """This many answers: reads, edits, notes, two calls at once, and the end."""
    for turn in range(turns - 1):
        look = call("view", file_path=f"part_{turn % 8}.txt", offset=turn, limit=8)
        if turn % 4 == 2:
            yield call("edit_file", path="counter.txt", old=f"at {turn // 4}.", new=f"at {turn // 4 + 1}.")
        elif turn % 4 == 3:
            yield calls(look, call("todo", action="add", title=f"turn {turn}"))
        else:
            yield look
    yield say("It is done.")


def record(home: str, turns: int = TURNS, merged: int = _MERGED) -> Recorded:
    """Works through the session, and records the state after each record."""
    os.mkdir(home)
    tree, path = os.path.join(home, "tree"), os.path.join(home, "written")
    os.mkdir(tree)
    for number in range(8):
        with open(os.path.join(tree, f"part_{number}.txt"), "w") as file:
            file.writelines(f"{number}: line {line} of a part\n" for line in range(400))
    with open(os.path.join(tree, "counter.txt"), "w") as file:
        file.write("at 0.\n")
    store, made = SqliteStore(path), Recorded()
    write = store.append

    def append(session: str, seq: int, *rest: Any, **more: Any) -> Any:
        written = write(session, seq, *rest, **more)
        with open(os.path.join(path, _NOTE), "rb") as note:
            size = os.path.getsize(os.path.join(path, _LOG))
            made.kept.append(Kept(written.type, written.sha256, size, note.read()))
        if written.type == "Replied" and sum(kept.type == "Replied" for kept in made.kept) == turns - merged:
            store._connected().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            for kept in made.kept:
                kept.end = 0
        return written

    store.append = append  # type: ignore[method-assign]
    model = ScriptedModel(list(script(turns)), "openai-chat")
    workspace = Workspace(tree)
    tools = Toolbox(workspace, store, window_tokens=WINDOW)
    tools.allow(Editing(workspace.root))
    limits = PROFILES["swe-1.5"].scaled(WINDOW)
    session = Session(limits=limits, tools=tool_definitions(tools.tools, model.wire), session_id=_NAME)
    agent = Agent(session, model, tools, store, clock=lambda: 0.0)
    agent.begin(model=model.name)
    run = agent.run("Count up, and look about.")
    if (run.outcome, run.turns) != ("answered", turns):
        raise RuntimeError(f"the script ended otherwise: {run}")
    made.database, made.log = (_bytes(os.path.join(path, name)) for name in (DATABASE, _LOG))
    tools.close()
    shutil.copytree(os.path.join(path, "contents"), os.path.join(home, "contents"))
    store.close()
    return made


@contextmanager
def prefixes(home: str) -> Iterator[Callable[[int], Session]]:
    """Yields a function that gives the session after this many records, from an undamaged store; each is computed once, when
    requested.
    """
    store = SqliteStore(os.path.join(home, "written"))
    try:
        yield cache(lambda count: resumed(_Until(store, count), _NAME)[0])  # type: ignore[arg-type]
    finally:
        store.close()


class _Until:
    """A store that ends after this many records."""

    def __init__(self, store: SqliteStore, count: int) -> None:
        self.store, self.count = store, count

    def events(self, session: str) -> Any:
        return itertools.islice(self.store.events(session), self.count)


@dataclass(slots=True)
class Tried:
    """The results of the copies."""

    came: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class Bench:
    """One copy after another, opened and resumed."""

    def __init__(self, home: str, recorded: Recorded, session_after: Callable[[int], Session]) -> None:
        self.path = tempfile.mkdtemp(prefix="copy-", dir=home)
        self.recorded, self.session_after = recorded, session_after
        self.tried = Tried()
        shutil.copytree(os.path.join(home, "contents"), os.path.join(self.path, "contents"))

    def killed(self, cut: int, *, wholly: bool) -> None:
        """The log ends here, in the middle of a write: exactly the acknowledged records are there.

        `wholly` also resumes the session, which follows from its records, and continues it.
        """
        count = self.recorded.acknowledged(cut)
        store = self._opened(self.recorded.log[:cut], self.recorded.kept[count - 1].note)
        try:
            if [read.sha256 for read in store.events(_NAME)] != self._written(count):
                self._is_wrong(f"cut at {cut}: other records than the {count} that were acknowledged")
            self.tried.came["read"] += 1
            if wholly:
                self._goes_on(store, count, cut)
        except Exception as error:
            self._is_wrong(f"cut at {cut}: {error!r}")
        finally:
            store.close()

    def _goes_on(self, store: SqliteStore, count: int, cut: int) -> None:
        session, _, next_seq = resumed(store, _NAME)
        if next_seq != count or session != self.session_after(count):
            self._is_wrong(f"cut at {cut}: another session than that of {count} records")
        agent = Agent(session, ScriptedModel([], "openai-chat"), None, store, next_seq=next_seq)  # type: ignore[arg-type]
        agent.feed(Ticked(now_seconds=1.0))
        if resumed(store, _NAME)[0] != session or store.check():
            self._is_wrong(f"cut at {cut}: it does not go on")
        self.tried.came["resumed and gone on with"] += 1

    def damaged(self, log: bytes, first: int, what: str) -> None:
        """The log differs from byte `first` on, after the final note: the sound part is named, and was written."""
        least = self.recorded.acknowledged(first)
        whole = len(self.recorded.kept)
        store = self._opened(log, self.recorded.kept[-1].note)
        try:
            session, _, next_seq = resumed(store, _NAME)
            if next_seq != whole or session != self.session_after(whole):
                self._is_wrong(f"{what}: {next_seq} of {whole} records resumed in silence")
            self.tried.came["unharmed"] += 1
        except Damaged as damage:
            sound = -1 if damage.newest_sound is None else damage.newest_sound
            if sound + 1 < least or self._sound(store) != self._written(sound + 1):
                self._is_wrong(f"{what}: record {sound} is named, of {least} before the damage")
            self.tried.came["named"] += 1
        except Exception as error:
            self._is_wrong(f"{what}: {error!r}")
        finally:
            store.close()

    def is_silent(self, cut: int) -> bool:
        """The control: without a note, whether a log cut here loses records silently."""
        store = self._opened(self.recorded.log[:cut], b"")
        try:
            return resumed(store, _NAME)[2] < len(self.recorded.kept) and not store.check()
        except Damaged:
            return False
        finally:
            store.close()

    def _opened(self, log: bytes, note: bytes) -> SqliteStore:
        for name, data in ((DATABASE, self.recorded.database), (_LOG, log), (_NOTE, note)):
            with open(os.path.join(self.path, name), "wb") as file:
                file.write(data)
        return SqliteStore(self.path)

    def _sound(self, store: SqliteStore) -> list[str]:
        found = []
        try:
            for read in store.events(_NAME):
                found.append(read.sha256)  # noqa: PERF401 - what was read before the damage counts
        except Damaged:
            pass
        return found

    def _written(self, count: int) -> list[str]:
        return [kept.sha256 for kept in self.recorded.kept[:count]]

    def _is_wrong(self, what: str) -> None:
        self.tried.wrong.append(what)


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def cuts(recorded: Recorded, generator: random.Random, *, long: bool) -> list[int]:
    """Where the log is cut: both sides of each record's end (or of some), and a sample."""
    size = len(recorded.log)
    ends = {kept.end + step for kept in recorded.kept for step in (-1, 0, 1) if 0 <= kept.end + step <= size}
    near = ends if long else set(generator.sample(sorted(ends), 6))
    return sorted(near | set(generator.sample(range(size), 60 if long else 6)))


def last_bytes(recorded: Recorded, generator: random.Random, *, long: bool) -> list[int]:
    """Each byte of the last records, or a sample."""
    every = range(recorded.kept[-_LAST - 1].end, len(recorded.log) + 1)
    return list(every) if long else sorted(generator.sample(every, 15))


class _Part(NamedTuple):
    """The share of one process."""

    home: str
    recorded: Recorded
    cuts: Sequence[int]
    """Where a kill ends the log."""
    damaged: Sequence[int] = ()
    """Where damage ends it."""
    flipped: Sequence[tuple[int, int]] = ()
    """Places and bits that damage turns."""


def _tried(part: _Part) -> Tried:
    recorded = part.recorded
    with prefixes(part.home) as sessions:
        bench = Bench(part.home, recorded, sessions)
        for number, cut in enumerate(part.cuts):
            is_end = recorded.acknowledged(cut) > recorded.acknowledged(cut - 1)
            bench.killed(cut, wholly=number % _WHOLLY == 0 or is_end)
        for cut in part.damaged:
            bench.damaged(recorded.log[:cut], cut, f"damage from {cut} on")
        for place, bit in part.flipped:
            log = bytearray(recorded.log)
            log[place] ^= 1 << bit
            bench.damaged(bytes(log), place, f"bit {bit} of byte {place}")
    return bench.tried


def measure(*, long: bool, seed: int) -> Figure:
    """Cuts and flips after which a session differs from what was acknowledged, or is lost silently."""
    generator, number = random.Random(seed), 1_500 if long else 12
    with folder("sessions", MEMORY) as top:
        home, short_home = os.path.join(top, "long"), os.path.join(top, "short")
        recorded, short = record(home), record(short_home, SHORT_TURNS, _SHORT_MERGED)
        places, every = cuts(recorded, generator, long=long), last_bytes(short, generator, long=long)
        lost = [cut for cut in places if recorded.acknowledged(cut) < len(recorded.kept)]
        some = generator.sample(lost, min(len(lost), number))
        unacknowledged = range(recorded.kept[-_LAST - 1].end, len(recorded.log))
        flipped = [(generator.choice(unacknowledged), generator.randrange(8)) for _ in range(number)]
        parts = [
            _Part(of, log, *rows)
            for at in range(_PROCESSES)
            for of, log, *rows in (
                (home, recorded, places[at::_PROCESSES], some[at::_PROCESSES], flipped[at::_PROCESSES]),
                (short_home, short, every[at::_PROCESSES]),
            )
        ]
        if long:
            with forked(_PROCESSES) as pool:
                found = list(pool.map(_tried, parts))
        else:
            found = list(map(_tried, parts))
        with prefixes(home) as sessions:
            bench = Bench(home, recorded, sessions)
            silent = sum(bench.is_silent(cut) for cut in some[:50])
    came, wrong = sum((one.came for one in found), Counter[str]()), [line for one in found for line in one.wrong]
    types = Counter(kept.type for kept in recorded.kept)
    total = came["read"] + came["named"] + came["unharmed"]
    said = ", ".join(f"{count} {what}" for what, count in came.items())
    return Figure(
        rig="R11",
        name="sessions cut off",
        value=f"{len(wrong)} of {total} copies of sessions of {TURNS} and {SHORT_TURNS} turns other or shortened in silence",
        target="none; without the note, some",
        met=not wrong and silent > 0 and came["named"] > 0,
        seed=seed,
        notes=(
            f"{len(places)} cuts in a log of {len(recorded.log)} bytes, {recorded.merged} of {len(recorded.kept)} records before",
            f"{len(every)} cuts in one of {len(short.log)} bytes, {short.merged} of {len(short.kept)} records before",
            f"{said}; without the note {silent} of {len(some[:50])} losses are silent",
            "records: " + ", ".join(f"{count} {kind}" for kind, count in types.most_common()),
            *wrong,
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))

"""R22: does a store that is used for a year stay within its size limit, and is removed content in no byte of it (S-17)?

Ten thousand sessions, some 27 a day, on a clock that is an argument. Each opens the store as a command does, keeps a few outputs of
typical sizes, writes a journal of a few dozen records, and closes it; one in fifty is resumed days later, and one runs all year.
Rules by size and age apply. Each week the size on disk is measured, log and index pages included.

Then a session and an output with their own marks are removed by name, and every file is searched for the marks and for the pieces
as they were stored. Controls: without rules the store must exceed the size, and before the removal the search must find them.
"""

from __future__ import annotations

import random
import zlib
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from proof.figure import MEMORY, Figure, folder, main

from penstock.store import Event, Retention
from penstock.store.sqlite import SqliteStore

_SESSIONS, _SHORT_SESSIONS = 10_000, 125
_CONTROL_SESSIONS = 200  # at least
_MAX_BYTES, _SHORT_MAX_BYTES = 200 << 20, 4 << 20
_MAX_DAYS = 90
_YEAR_SECONDS = 365 * 86_400.0
_BEGINNING = 1_800_000_000.0
_SLACK_BYTES = 12 << 20
"""The size allowed beyond what counts: the log (4 MiB before it is merged), index pages, and the session being written."""
_MARK = b"the heron-blue valve %08x"


@dataclass(slots=True)
class Year:
    """The results of a year of use."""

    sessions: int = 0
    kept_sessions: int = 0
    removed: int = 0
    written_bytes: int = 0
    largest_bytes: int = 0
    """On disk, over all weeks."""
    largest_used_bytes: int = 0
    """By the store's own count, when that was checked."""
    wrong: list[str] = field(default_factory=list)


def _on_disk(path: str) -> int:
    """The size of all files of a store."""
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())


def _found(path: str, marks: list[bytes]) -> int:
    """How many files hold one of the marks."""
    files = [file.read_bytes() for file in Path(path).rglob("*") if file.is_file()]
    return sum(any(mark in data for mark in marks) for data in files)


def _output(dice: random.Random) -> bytes:
    """A typical tool output: most are small, a few are large."""
    size = int(min(400_000, dice.lognormvariate(8.5, 1.5)))
    return dice.randbytes(size // 2) + b"a line of a log, as there are many\n" * (size // 70)


def _worked(store: SqliteStore, name: str, first_seq: int, dice: random.Random) -> int:
    """Add to a session what half an hour of work adds; return what was written."""
    written, seq = 0, first_seq
    for _ in range(dice.randrange(2, 6)):
        output = _output(dice)
        handle = store.put(output, name="shell")
        text = "x" * int(min(60_000, dice.lognormvariate(6.5, 1.3)))
        events = [Event(seq=seq, type="Returned", data={"text": text}, handles=[handle])]
        events += [Event(seq=seq + n, type="Seen", data={"path": f"src/{n}.py", "lines": [1, 90]}) for n in range(1, 8)]
        store.append_all(name, events)
        written += len(output) + len(text)
        seq += len(events)
    return written


def year(path: str, sessions: int, rules: Retention, seed: int) -> Year:
    """Use a store for a year; violations are listed in `wrong`."""
    dice, found, now = random.Random(seed), Year(sessions=sessions), _BEGINNING
    week = max(1, sessions // 52)

    def opened() -> SqliteStore:
        store = SqliteStore(path, clock=lambda: now, limit_bytes=1 << 40)
        store.retention = rules
        return store

    with closing(opened()) as running:
        running.append("all-year", 0, "Begun", {})
        for at in range(sessions):
            now += _YEAR_SECONDS / sessions * dice.uniform(0.5, 1.5)
            with closing(opened()) as store:
                name, seq = f"s{at:05}", 0
                if dice.random() < 0.02 and (infos := store.sessions()[1:20]):
                    again = dice.choice([info for info in infos if not info.is_running] or infos)
                    name, seq = again.session, again.records
                found.written_bytes += _worked(store, name, seq, dice)
                found.removed += sum(one.what == "session" for one in store.taken)
                if any(one.name == "all-year" for one in store.taken):
                    found.wrong.append("a session that runs was removed")
            if at % week == 0:
                found.largest_bytes = max(found.largest_bytes, _on_disk(path))
                found.largest_used_bytes = max(found.largest_used_bytes, running.size().used_bytes)
        listed = {info.session for info in running.sessions()}
        found.kept_sessions = len(listed)
        found.wrong += ["the session that ran all year is gone"] * ("all-year" not in listed)
        # Only with rules: a wrongly removed content is noticed by looking for the newest.
        newest = f"s{sessions - 1:05}"
        found.wrong += ["the newest session is gone"] * (newest not in listed and sessions < _SHORT_SESSIONS)
        found.wrong += [f"check: {damage.name}: {damage.reason}" for damage in running.check()]
    return found


def removal(path: str, seed: int) -> tuple[int, int]:
    """Remove a session and an output from a used store; return how many files held them before, and after."""
    dice = random.Random(seed)
    mark = _MARK % dice.getrandbits(32)
    content = b"".join(b"%s line %d %d\n" % (mark, n, dice.getrandbits(60)) for n in range(20_000))
    with closing(SqliteStore(path)) as store:
        loose = store.put(content)
        own = store.put(content[::-1])
        for seq in range(200):
            text = mark.decode() * dice.randrange(1, 300)
            store.append("marked", seq, "Returned", {"text": text}, handles=[own] if seq == 9 else [])
        store.prune()  # compresses
        stored = [file.read_bytes() for file in Path(path, "contents").glob("*.z")]
        marked = [zlib.decompressobj().decompress(data, 64)[:64] for data in stored]
        ours = [data for data, head in zip(stored, marked, strict=True) if head in (content[:64], content[::-1][:64])]
        marks = [mark, mark[::-1], *(data[at : at + 40] for data in ours for at in range(0, len(data) - 40, 4_999))]
        before = _found(path, marks)
        store.remove_sessions(["marked"])
        store.remove_artifact(loose)
        return before, _found(path, marks)


def measure(*, long: bool, seed: int) -> Figure:
    """The size on disk after a year with rules, and what remains of removed content."""
    sessions, max_bytes = (_SESSIONS, _MAX_BYTES) if long else (_SHORT_SESSIONS, _SHORT_MAX_BYTES)
    with folder("keeping", MEMORY) as path:
        ruled = year(f"{path}/store", sessions, Retention(max_days=_MAX_DAYS, max_bytes=max_bytes), seed)
        before, after = removal(f"{path}/store", seed)
        # Without rules a part of the year is enough to exceed the size.
        control = year(f"{path}/control", max(sessions * 2 // 5, _CONTROL_SESSIONS), Retention(), seed)
    over = ruled.largest_bytes > max_bytes + _SLACK_BYTES or ruled.largest_used_bytes > max_bytes + (2 << 20)
    blind = control.largest_bytes <= max_bytes + _SLACK_BYTES or not before
    counted = f"{ruled.kept_sessions} are there; the store counted at most {ruled.largest_used_bytes / 2**20:.1f} MiB"
    notes = [
        f"{ruled.sessions} sessions wrote {ruled.written_bytes >> 20} MiB; {ruled.removed} were removed by rules, {counted}",
        f"the control without rules: {control.sessions} sessions, {control.largest_bytes >> 20} MiB",
        f"removed by name: {before} files held a mark before, {after} after",
        *ruled.wrong[:20],
    ]
    if blind:
        notes.append("the rig is blind here: a control that has to fail did not")
    return Figure(
        rig="R22",
        name="a year of keeping",
        value=f"at most {ruled.largest_bytes / 2**20:.1f} MiB on disk with a rule of {max_bytes >> 20} MiB; "
        f"{after} files with what was removed",
        target=f"the rule and {_SLACK_BYTES >> 20} MiB, 0 files, and the controls fail",
        met=not (over or blind or after or ruled.wrong),
        seed=seed,
        notes=tuple(notes),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))

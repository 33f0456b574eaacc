"""The short forms of R7 to R11: is what was acknowledged there, whatever was cut, killed, refused or damaged?"""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from proof.figure import SEED, Figure
from tests.environments import miss

from penstock.store import Damaged, StoreFault
from penstock.store.sqlite import DATABASE, SqliteStore
from proof import damage, faults, keeping, kills, power, restart, sessions

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.timeout(110)]


def _is_met(figure: Figure) -> bool:
    """Return whether the target is met; skip with the reason if the rig cannot run."""
    if figure.value == "not tried here":
        miss(f"{figure.rig} was not tried: {'; '.join(figure.notes)}")
    assert figure.met, str(figure)
    return True


@pytest.mark.proves("G-3")
def test_no_acknowledged_write_is_lost_to_a_power_cut() -> None:
    """R7: records, artifacts, files and handoffs on ext4 and XFS survive; work without flushes is lost."""
    assert _is_met(power.measure(long=False, seed=SEED))


@pytest.mark.needs("strace")
@pytest.mark.proves("G-3")
def test_a_kill_at_a_system_call_leaves_the_old_or_the_new() -> None:
    """R8: artifacts, checkpoint, migration, pruning, close and handoff stay whole; a file written in place is found in halves."""
    assert _is_met(kills.measure(long=False, seed=SEED))


@pytest.mark.needs("strace")
@pytest.mark.proves("G-3")
def test_a_system_call_that_fails_is_named_and_damages_nothing() -> None:
    """R9: this includes full and read-only disks, and a writer that stops during its commit."""
    assert _is_met(faults.measure(long=False, seed=SEED))


@pytest.mark.proves("G-3")
def test_damage_is_named_and_no_wrong_byte_is_read() -> None:
    """R10: bits are flipped, files truncated, pages zeroed; SQLite's own check misses some of it."""
    assert _is_met(damage.measure(long=False, seed=SEED))


def test_a_server_that_is_stopped_at_once_loses_nothing_and_repeats_nothing() -> None:
    """R10b: PostgreSQL stops and restarts while clients write, and each client continues."""
    assert _is_met(restart.measure(long=False, seed=SEED))


@pytest.mark.proves("S-12")
def test_a_session_whose_log_is_cut_is_what_was_acknowledged_or_names_what_is_gone() -> None:
    """R11: the log is cut at each byte of its last records, as by a kill, then cut and flipped after the note of its end."""
    assert _is_met(sessions.measure(long=False, seed=SEED))


# ── the rigs can fail ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_damage_rig_sees_a_journal_that_lost_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the note of the newest record is ignored, a truncated log loses records silently."""
    monkeypatch.setattr(SqliteStore, "_missing", lambda _: None)
    figure = damage.measure(long=False, seed=SEED)
    assert not figure.met
    assert any("are gone and nothing says so" in note for note in figure.notes)


def test_the_damage_rig_sees_a_wrong_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the checks of pieces and records off, other bytes are read than were written."""
    from penstock.store import journal, pieces

    monkeypatch.setattr(pieces, "plain", lambda stored, *_: stored)
    monkeypatch.setattr(journal.JournalRow, "sealed", lambda row: row.sha256)
    figure = damage.measure(long=False, seed=SEED)
    assert any("other bytes than were written" in note for note in figure.notes)


def test_the_power_rig_counts_what_is_not_there(tmp_path: Path) -> None:
    """A ledger lists records, artifacts and files that nobody wrote: each counts as lost."""
    store = SqliteStore(str(tmp_path / "store"))
    record, handle = store.append("s", 0, "asked", {}), store.put(power._content(1), name="1")
    store.close()
    kept: list[list[object]] = [["record", "s", 0, record.sha256], ["artifact", handle, 1]]
    gone: list[list[object]] = [["record", "s", 1, "0"], ["record", "s", 0, "0"], ["artifact", "0", 1]]
    assert power.Ledger("journal", [*kept]).look(str(tmp_path / "store")) == (0, [])
    assert power.Ledger("journal", [*kept, *gone, ["artifact", handle, 2]]).look(str(tmp_path / "store")) == (4, [])
    files = tmp_path / "files"
    files.mkdir()
    (files / "0").write_bytes(power._file(7))
    assert power.Ledger("files", [["file", "0", 7]]).look(str(files)) == (0, [])
    assert power.Ledger("files", [["file", "0", 8], ["file", "1", 2]]).look(str(files)) == (2, [])
    (files / "0").write_bytes(power._file(7)[:-1])
    assert power.Ledger("files", [["file", "0", 7]]).look(str(files))[1] == ["files: 0 is nothing that was written"]


# ── what the rigs have found ─────────────────────────────────────────────────────────────────────────────────────


def _with_its_log_cut(tmp_path: Path, records: int, keep_bytes: int) -> str:
    """Return the URL of a store as a kill leaves it, whose log then lost its end."""
    import shutil

    first = SqliteStore(str(tmp_path / "first"))
    first._connected().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for n in range(records):
        first.append("s", n, "asked", {"n": n})
    shutil.copytree(tmp_path / "first", tmp_path / "store")
    first.close()
    os.truncate(tmp_path / "store" / f"{DATABASE}-wal", keep_bytes)
    return str(tmp_path / "store")


@pytest.mark.parametrize("keep_bytes", [0, 20_000])
def test_a_log_that_lost_its_end_is_named_until_the_session_goes_on(tmp_path: Path, keep_bytes: int) -> None:
    """Found by R10: SQLite takes a damaged log for a shorter one, and 171 of 1,000 damages were silent."""
    path = _with_its_log_cut(tmp_path, 20, keep_bytes)
    store = SqliteStore(path)
    sound: list[object] = []
    with pytest.raises(Damaged, match="the log has lost its end") as caught:
        sound.extend(record.data["n"] for record in store.events("s"))
    assert sound == list(range(len(sound)))
    assert caught.value.newest_sound == (len(sound) - 1 if sound else None)
    store.append("other", 0, "asked", {})  # another session does not hide it
    store.close()
    store = SqliteStore(path)
    (found,) = store.check()
    assert (found.what, found.name) == ("record", "s")
    for n in range(len(sound), 20):
        store.append("s", n, "asked", {"n": -n})
    assert store.check() == []
    store.close()
    store = SqliteStore(path)
    assert len(list(store.events("s"))) == 20
    store.close()


@pytest.mark.parametrize("note", [b"", b"\0" * 60, b'00000000 ["s", 9]\n', b"\xff" * 5_000, b"x"])
def test_an_invalid_note_is_no_fault_of_the_store(tmp_path: Path, note: bytes) -> None:
    """What a power cut left of the file next to the log is not a reason for an alarm."""
    store = SqliteStore(str(tmp_path / "store"))
    store.append("s", 0, "asked", {})
    store.close()
    (tmp_path / "store" / "lock").write_bytes(note)
    store = SqliteStore(str(tmp_path / "store"))
    assert store.check() == []
    assert len(list(store.events("s"))) == 1
    store.close()


def test_a_lock_that_fails_is_a_fault_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by R9: an error of flock or of reading the folder surfaced as a bare OSError."""
    import errno
    import fcntl

    store = SqliteStore(str(tmp_path / "store"))

    def failing(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", failing)
        with pytest.raises(StoreFault) as caught:
            store.append("s", 0, "asked", {})
    assert caught.value.code == "io_error"
    with monkeypatch.context() as patch:
        patch.setattr(os, "listdir", failing)
        with pytest.raises(StoreFault, match="No locks available"):
            store.prune()
    store.append("s", 0, "asked", {})
    store.close()


@pytest.mark.parametrize("options", ["size=2m", "size=32m,nr_inodes=20"])
def test_a_store_on_a_full_disk_says_so(options: str) -> None:
    """Found by R9: without inodes for its index SQLite says `unable to open`; without space it can be read, and a write says so."""
    try:
        disk = faults.memory_disk(options)
        with disk as path:
            SqliteStore(os.path.join(path, "store")).close()
            faults._fill(path)
            with pytest.raises(StoreFault) as caught, closing(SqliteStore(os.path.join(path, "store"))) as store:
                store.append("s", 0, "asked", {})
            assert caught.value.code == "disk_full"
    except OSError as error:
        pytest.skip(f"no disk in memory can be mounted here: {error}")


@pytest.mark.proves("S-17")
def test_a_store_that_is_used_stays_within_its_size() -> None:
    """R22: a year of sessions in short, with rules; what was removed by name is in no file. Without rules the store grows."""
    assert _is_met(keeping.measure(long=False, seed=SEED))

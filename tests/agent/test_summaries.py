"""Do summaries give the figures that the journals give, whatever happened to either since?"""

from __future__ import annotations

import inspect
import os
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.test_figures import LONG, Bench, page

from penstock.agent import summaries
from penstock.agent.child_figures import ChildFigures, child_figures
from penstock.agent.figures import stats_of
from penstock.agent.record_types import BEGUN, CHILD, SPENDING
from penstock.agent.summaries import figures_of
from penstock.models import call, calls, fail, refuse, say
from penstock.session.budgets import Spending
from penstock.session.limits import Pressure, Rung
from penstock.store import Event, StoreFault
from penstock.store.sqlite import DATABASE, SqliteStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.agent.stats import Stats

pytestmark = pytest.mark.proves("B-12")

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
NAMES = ("one", "two")


@cache
def journals() -> tuple[tuple[Event, ...], ...]:
    """Return the journals of two sessions: one with everything that is counted, and a short one with a child agent."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        bench = Bench(Path(folder))
        rungs = (Rung(Pressure.COMPACT, 75_000), Rung(Pressure.RESET, turns=7))
        steps = [
            *LONG,
            refuse(17_000, of=16_000),
            fail(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            calls(page("a"), call("no_such_tool")),
            say("So."),
        ]
        long = bench.agent(steps, rungs=rungs, seconds=[1.5] * len(steps))
        long.run("Read them all.")
        short = bench.agent([page("b"), say("Seen.")])
        short.run("Look.")
        name, journal = short.session.session_id, short.journal
        tree = Spending.opened(name, 900)
        journal.write(SPENDING, tree.latest.to_dict())
        tree = tree.reserve(name, "task-1", 300)
        journal.write(SPENDING, tree.latest.to_dict())
        journal.write(CHILD, {"child": "task-1", "type": BEGUN, "data": {"description": "look again"}})
        made = [
            tuple(Event(seq=record.seq, type=record.type, data=record.data) for record in bench.store.events(name))
            for name in (long.session.session_id, short.session.session_id)
        ]
        bench.store.close()
    return tuple(made)


def read(store: SqliteStore, names: Sequence[str]) -> list[tuple[Stats, list[ChildFigures]]]:
    """Return the figures that the journals give."""
    found = [(name, stats_of(store, name)) for name in names]
    return [(stats, [] if stats.unread else child_figures(store, name)) for name, stats in found]


DAMAGE = {
    "a record changed": "UPDATE records SET payload = payload || ' ' WHERE session = :name AND seq = :number",
    "a record lost": "DELETE FROM records WHERE session = :name AND seq = :number",
    "the end lost": "DELETE FROM records WHERE session = :name AND seq > :number",
    "a summary changed": "UPDATE summaries SET text = replace(text, :number, '7') WHERE session = :name",
    "a seal changed": "UPDATE summaries SET seal = :number WHERE session = :name",
    "a summary of another": """UPDATE OR IGNORE summaries SET (text, seal) = (
        SELECT text, seal FROM summaries o WHERE o.session <> summaries.session) WHERE session = :name AND :number > 0""",
}
STEPS = st.tuples(
    st.sampled_from(NAMES),
    st.sampled_from(["appended", "appended", "asked", "before", "meanwhile", "opened", "removed", *DAMAGE]),
    st.integers(0, 40),
)


@given(steps=st.lists(STEPS, min_size=8, max_size=20))
def test_summaries_say_what_the_journals_say(steps: list[tuple[str, str, int]]) -> None:
    """Summaries agree with the journals after appends, removals and damage in any order, and while another process appends."""
    whole = dict(zip(NAMES, journals(), strict=True))
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        store, other = (SqliteStore(os.path.join(folder, "s")) for _ in range(2))

        def append(name: str, count: int) -> None:
            """Add the next records, unless the journal is damaged."""
            if not (there := store.record_types(name)) or not stats_of(store, name).unread:
                other.append_all(name, whole[name][len(there) : len(there) + count])

        def disturbed(store: SqliteStore, name: str) -> Stats:
            """Read a journal while another process appends to it."""
            if what == "before":
                append(name, number)
            found = stats_of(store, name)
            if what == "meanwhile":
                append(name, number)
            return found

        for name, what, number in steps:
            names = [one.session for one in store.sessions()]
            if what == "appended":
                append(name, number)
            elif what in {"before", "meanwhile"}:
                with mock.patch.object(summaries, "stats_of", disturbed):
                    assert len(list(figures_of(store, names))) == len(names)
            elif what in {"opened", "removed"}:
                for one in (store, other):
                    one.close()
                store, other = (SqliteStore(os.path.join(folder, "s")) for _ in range(2))
                if what == "removed" and name in names:
                    store.remove_sessions([name])
            elif what in DAMAGE:
                with closing(sqlite3.connect(os.path.join(store.path, DATABASE), isolation_level=None)) as connection:
                    connection.execute(DAMAGE[what], {"name": name, "number": number})
            names = [one.session for one in store.sessions()]
            assert list(figures_of(store, names)) == read(store, names)
        store.close()
        other.close()


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    """Make a store with both journals."""
    made = SqliteStore(str(tmp_path / "s"))
    for name, journal in zip(NAMES, journals(), strict=True):
        made.append_all(name, journal)
    return made


def test_what_is_read_again_is_not_replayed(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A summary has all figures, those of child agents too, until another version asks."""
    expected = read(store, NAMES)
    assert list(figures_of(store, NAMES)) == expected
    stats = expected[0][0]
    assert all([*(getattr(stats, name) for name in summaries._NAMES), stats.faults, stats.flows])
    assert [child.granted_tokens for child in expected[1][1]] == [300]
    with mock.patch.object(summaries, "stats_of", side_effect=AssertionError):
        assert list(figures_of(store, NAMES)) == expected
        for module, name, other in (
            (summaries, "__version__", "another"),
            (inspect, "getsource", lambda module: f"{module} counts otherwise"),
        ):
            with monkeypatch.context() as patched:
                patched.setattr(module, name, other)
                summaries._made_by.cache_clear()
                with pytest.raises(AssertionError):
                    list(figures_of(store, NAMES))
        summaries._made_by.cache_clear()
    assert list(figures_of(store, NAMES)) == expected
    with mock.patch.object(summaries, "stats_of", side_effect=AssertionError):
        assert list(figures_of(store, NAMES)) == expected


def test_what_grew_while_it_was_read_is_not_kept(store: SqliteStore) -> None:
    """What was counted may end at a record that is the newest one neither before nor after."""
    name, later = NAMES[1], Event(seq=len(journals()[1]), type="Prompted", data={"text": "And now?"})

    def disturbed(store: SqliteStore, name: str) -> Stats:
        store.append(name, later.seq, later.type, later.data)
        return stats_of(store, name)

    with mock.patch.object(summaries, "stats_of", disturbed):
        list(figures_of(store, [name]))
    with closing(sqlite3.connect(os.path.join(store.path, DATABASE), isolation_level=None)) as connection:
        connection.execute("DELETE FROM records WHERE session = ? AND seq = ?", (name, later.seq))
    assert list(figures_of(store, [name])) == read(store, [name])


def test_what_cannot_be_kept_is_answered_all_the_same(store: SqliteStore) -> None:
    """If summaries cannot be kept, as in a read-only store, the figures are still given, and keeping is tried only once."""
    fault = StoreFault("busy", "Another process writes.")
    with (
        mock.patch.object(store, "keep_summaries", side_effect=fault) as keep,
        mock.patch.object(summaries, "_BATCH", 1),
    ):
        assert list(figures_of(store, NAMES)) == read(store, NAMES)
    assert keep.call_count == 1


def test_a_summary_holds_no_secret(store: SqliteStore) -> None:
    """A summary in which something would be redacted is not kept."""
    key = "sk-ant-" + "api03-a1B2c3D4e5" * 6
    stats, children = stats_of(store, NAMES[0]), child_figures(store, NAMES[0])
    assert summaries._encoded(stats, children) is not None
    assert summaries._encoded(replace(stats, faults=(key,)), children) is None

"""Is there one accepted answer for each content, model and instructions, whoever submits answers, how often and in which order?"""

from __future__ import annotations

import threading
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.scribe.queue.conftest import estate, started

from penstock.scribe.queue.accepted import Accepted, UnansweredKeys

if TYPE_CHECKING:
    from penstock.scribe.queue.database import Database

_KEYS = [sha256(bytes([number])).hexdigest() for number in range(3)]


def late(database: Database) -> int:
    ((count,),) = database.rows("SELECT coalesce(sum(late), 0) FROM answers")
    return int(count)


@pytest.mark.proves("C-21")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(_KEYS), st.booleans(), st.integers(0, 9)), min_size=1, max_size=12))
def test_the_first_answer_is_the_answer(database: Database, puts: list[tuple[str, bool, int]]) -> None:
    """Later answers are counted and dropped; a refusal for size gives way to an answer, and to a refusal of a smaller chunk."""
    database.prepare()
    database.rows("TRUNCATE answers")
    results = [Accepted(database, run) for run in (1, 2)]
    expected: dict[str, Any] = {}
    dropped = 0
    for number, (key, is_answer, value) in enumerate(puts):
        made: Any = {"claims": [value]} if is_answer else {"refused_tokens": value, "fitting_tokens": number}
        results[number % 2].put(key, made)
        refused = expected.get(key, {"refused_tokens": 10}).get("refused_tokens", -1)
        if value < refused or (is_answer and refused >= 0):
            expected[key] = made
        else:
            dropped += 1
    assert {key: results[0].get(key) for key in expected} == expected
    assert late(database) == dropped


@pytest.mark.parametrize("phase", ["asking", "cancelled", "done"])
def test_what_is_older_than_a_fresh_run_gives_way_until_that_is_done(database: Database, phase: str) -> None:
    """Answers of the cancelled run that were under way replace older ones too; once the run is done, accepted answers stay."""
    Accepted(database, 0).put(_KEYS[0], {"claims": ["old"]})
    run = started(database, estate(1), fresh=True)
    database.rows("UPDATE runs SET phase = %(phase)s", phase=phase)
    Accepted(database, run.id).put(_KEYS[0], {"claims": ["new"]})
    Accepted(database, run.id).put(_KEYS[0], {"claims": ["newer"]})
    assert Accepted(database, 0).get(_KEYS[0]) == {"claims": ["old" if phase == "done" else "new"]}


def test_of_two_refusals_for_one_size_the_first_holds(database: Database) -> None:
    """A worker that was frozen must not bring its own, older refusal back: other workers have cut chunks by the first."""
    database.prepare()
    first, second = Accepted(database, 1), Accepted(database, 1)
    first.put(_KEYS[0], {"refused_tokens": 900, "fitting_tokens": 700})
    second.put(_KEYS[0], {"refused_tokens": 900, "fitting_tokens": 500})
    assert second.get(_KEYS[0]) == {"refused_tokens": 900, "fitting_tokens": 700}


def test_a_broken_answer_gives_way_to_the_next(database: Database) -> None:
    """A broken answer is kept as long as there is no better one."""
    database.prepare()
    results = Accepted(database, 1)
    for said in (["a"], ["b"]):
        results.put(_KEYS[0], {"claims": said, "is_broken": True})
        assert results.get(_KEYS[0]) == {"claims": said, "is_broken": True}
    assert late(database) == 0


def test_of_many_at_once_one_is_accepted(database: Database) -> None:
    """Eight threads answer one question: all then find the same answer, and seven were late."""
    database.prepare()
    results = [Accepted(database, 1) for _ in range(8)]
    together = threading.Barrier(8)

    def answer(number: int) -> None:
        together.wait()
        results[number].put(_KEYS[0], {"claims": [number]})

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({str(one.get(_KEYS[0])) for one in results}) == 1
    assert late(database) == 7


def test_an_answer_whose_commit_was_lost_is_not_late(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is submitted again with its own mark, so it is recognised as the same one."""
    import psycopg

    database.prepare()
    execute, lost = psycopg.Connection.execute, [True]

    def losing(self: Any, query: Any, *rest: Any, **more: Any) -> Any:
        made = execute(self, query, *rest, **more)
        if lost[0] and b"accept_v1" in query:
            lost[0] = False  # the commit succeeded, but its confirmation was lost
            raise psycopg.OperationalError("the server has gone")
        return made

    monkeypatch.setattr(psycopg.Connection, "execute", losing)
    Accepted(database, 1).put(_KEYS[1], {"claims": []})
    monkeypatch.undo()
    assert not lost[0]
    assert database.rows("SELECT count(*), sum(late) FROM answers") == [(1, 0)]


def test_that_there_was_no_answer_is_believed_once_and_for_a_second(database: Database) -> None:
    """A key noted as unanswered is not looked up the first time, for a second at most; then another worker's answer is found."""
    database.prepare()
    now = 100.0
    unanswered = UnansweredKeys(lambda: now)
    results = Accepted(database, 1, unanswered=unanswered)
    unanswered.note(_KEYS[:2], now)
    for key in _KEYS[:2]:
        Accepted(database, 2).put(key, {"claims": [key]})
    assert results.get(_KEYS[0]) is None
    assert results.get(_KEYS[0]) == {"claims": [_KEYS[0]]}
    now += 1.0
    assert results.get(_KEYS[1]) == {"claims": [_KEYS[1]]}

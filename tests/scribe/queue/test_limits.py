"""May a key make more requests in a minute than its limit? No window of a minute holds more, whatever the times and sizes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.scribe.author import Author
from tests.scribe.queue.conftest import loopback

from penstock.errors import CallerError
from penstock.models import Cancelled, Refused
from penstock.scribe.queue import limits
from penstock.scribe.queue.limits import GRANT_SECONDS, Bucket, MeteredModel
from penstock.scribe.queue.schema import LONGEST_HOLD_SECONDS, STEPS
from penstock.store import StoreFault

if TYPE_CHECKING:
    from penstock.scribe.queue.database import Database

_MODEL = "openai-chat:loopback"
_LATENCY_SECONDS = 1.0  # one request may take this much longer to the provider than another


def set_limits(database: Database, key: str, model: str, requests: int | None, tokens: int | None) -> None:
    """Set limits as `queue limit` does, without waiting for other workers."""
    limits.set_limits(database, key, model, requests, tokens, pause=lambda _: None)


class Said:
    """A model that gives one answer, or raises it."""

    wire, name, window_tokens = "openai-chat", "loopback", None

    def __init__(self, said: dict[str, Any] | Exception) -> None:
        self.said = said

    def send(self, _request: dict[str, Any], /) -> dict[str, Any]:
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


_ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}


def with_own_clock(database: Database) -> None:
    """Replace the server's clock in the granting function by one that the test sets."""
    database.prepare()
    (take,) = [one for one in STEPS[3].forwards if "FUNCTION take_v2(of_key" in one]
    database.rows("CREATE TABLE IF NOT EXISTS test_clock (at double precision)")
    database.rows(
        "CREATE OR REPLACE FUNCTION test_now() RETURNS timestamptz LANGUAGE sql AS 'SELECT to_timestamp(at) FROM test_clock'"
    )
    database.rows(
        take.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION").replace("clock_timestamp()", "test_now()")
    )


@pytest.mark.proves("C-21")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 5),
    st.integers(100, 1_000),
    st.lists(
        st.tuples(st.floats(0, 40), st.integers(1, 400), st.floats(0, GRANT_SECONDS + _LATENCY_SECONDS), st.booleans()),
        min_size=5,
        max_size=40,
    ),
)
def test_no_minute_of_the_provider_has_more_than_the_limit(
    database: Database, requests: int, tokens: int, tries: list[tuple[float, int, float, bool]]
) -> None:
    """Arrival times count, each as late as a grant may be used; a full bucket and its refill never add up."""
    with_own_clock(database)
    database.rows("TRUNCATE limits, spent")
    set_limits(database, "k", _MODEL, requests, tokens)
    now, arrived = 1_000_000.0, []
    for wait, size, delay, is_settled in tries:
        now += wait if wait > 5 else wait / 10  # often several in one second
        database.rows("DELETE FROM test_clock")
        database.rows("INSERT INTO test_clock VALUES (%(now)s)", now=now)
        bucket = Bucket(database, "k", _MODEL)
        slot, pause = bucket.take(size)
        if not slot:
            assert pause > 0
            continue
        used = size // 2 if is_settled else size
        if is_settled:
            bucket.settle(slot, used - size)
        arrived.append((now + delay, used))
    for begun, _ in arrived:
        within = [used for at, used in arrived if begun <= at < begun + 60]
        assert len(within) <= requests
        assert sum(within) <= tokens or len(within) == 1
    assert arrived


def test_a_grant_that_is_used_late_counts_for_a_minute_from_then(database: Database) -> None:
    """A grant used two seconds later, with one second to the provider, blocks its share until 63 s after the grant."""
    with_own_clock(database)
    set_limits(database, "k", _MODEL, 1, None)
    for now, is_granted in ((3_000_000.0, True), (3_000_062.9, False), (3_000_065.0, True)):
        database.rows("DELETE FROM test_clock")
        database.rows("INSERT INTO test_clock VALUES (%(now)s)", now=now)
        assert bool(Bucket(database, "k", _MODEL).take(1)[0]) == is_granted


def test_who_waits_as_long_as_it_was_told_gets_its_turn(database: Database) -> None:
    """After the wait that was named there is room."""
    with_own_clock(database)
    set_limits(database, "k", _MODEL, 2, None)
    granted, now = [], 2_000_000.0
    for _ in range(6):
        database.rows("DELETE FROM test_clock")
        database.rows("INSERT INTO test_clock VALUES (%(now)s)", now=now)
        slot, pause = Bucket(database, "k", _MODEL).take(1)
        if slot:
            granted.append(now)
        now += pause or 1.0
    assert len(granted) == 4


def test_keys_and_models_have_limits_of_their_own(database: Database) -> None:
    """An exhausted key delays no other, and one without a limit needs no turn."""
    database.prepare()
    set_limits(database, "a", _MODEL, 1, None)
    assert Bucket(database, "a", _MODEL).take(1)[0]
    assert Bucket(database, "a", _MODEL).take(1)[1] > 0
    assert Bucket(database, "b", _MODEL).take(1) == (0, 0.0)
    assert Bucket(database, "a", "anthropic:x").take(1) == (0, 0.0)


def test_nobody_makes_room_by_asking_for_less_than_nothing(database: Database) -> None:
    """A worker's role may call the function with any arguments."""
    database.prepare()
    set_limits(database, "k", _MODEL, None, 100)
    assert Bucket(database, "k", _MODEL).take(100)[0]
    Bucket(database, "k", _MODEL).take(-1_000)
    assert Bucket(database, "k", _MODEL).take(100)[1] > 0


def test_of_many_at_once_as_many_are_granted_as_may_be(database: Database) -> None:
    """Sixteen threads ask at once for five turns."""
    database.prepare()
    set_limits(database, "k", _MODEL, 5, None)
    granted: list[int] = []
    together = threading.Barrier(16)

    def ask() -> None:
        together.wait()
        granted.append(Bucket(database, "k", _MODEL).take(1)[0])

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(slot > 0 for slot in granted) == 5


def test_a_429_holds_everybody_for_as_long_as_the_provider_asks(database: Database) -> None:
    """Another worker with the same key does not send either; a shorter hold that is reported later changes nothing."""
    database.prepare()
    set_limits(database, "k", _MODEL, 1_000, None)

    refused = Refused(
        429, {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}, {"retry-after": "40"}
    )
    first = MeteredModel(Said(refused), Bucket(database, "k", _MODEL))
    with pytest.raises(Refused):
        first.send(_ASKED)
    assert first.tally().diagnosis is not None
    Bucket(database, "k", _MODEL).hold(1)
    other = MeteredModel(loopback(Author()), Bucket(database, "k", _MODEL), pause=lambda _: None)
    with pytest.raises(Cancelled):
        other.send(_ASKED)
    assert 35 < other.tally().held_seconds <= 40


def test_what_was_reserved_is_settled_by_what_was_used(database: Database) -> None:
    """A request that used less than its reserve makes room at once."""
    database.prepare()
    set_limits(database, "k", _MODEL, None, 20_000)
    model = MeteredModel(loopback(Author()), Bucket(database, "k", _MODEL))
    model.send({"messages": [{"role": "user", "content": "1|       MOVE A TO B."}]})
    tally = model.tally()
    ((reserved,),) = database.rows("SELECT sum(tokens) FROM spent")
    assert 0 < reserved == tally.input_tokens + tally.output_tokens < 8_192


def test_a_provider_that_names_years_is_asked_again_within_the_hour(database: Database) -> None:
    """One header held a key for 31 years; an hour is enough for any limit and costs at most one refusal."""
    database.prepare()
    refused = Refused(429, {"error": {"message": "Rate limit reached"}}, {"retry-after": "999999999"})
    said: list[str] = []
    with pytest.raises(Refused):
        MeteredModel(Said(refused), Bucket(database, "k", _MODEL), say=said.append).send(_ASKED)
    ((held,),) = database.rows("SELECT extract(epoch FROM hold_until - clock_timestamp()) FROM limits")
    assert LONGEST_HOLD_SECONDS - 60 < held <= LONGEST_HOLD_SECONDS
    assert "left alone for 11574 d 2 h; it is asked again after 1 h" in said[0]


def test_an_impossible_usage_is_ignored(database: Database) -> None:
    """An impossible usage overflowed its chunk's row, which was then asked about for ever; now the estimate counts."""
    database.prepare()
    set_limits(database, "k", _MODEL, None, 20_000)
    message = {"role": "assistant", "content": "x"}
    usage = {"prompt_tokens": 10**30, "completion_tokens": 10**30}
    model = MeteredModel(Said({"choices": [{"message": message}], "usage": usage}), Bucket(database, "k", _MODEL))
    model.send(_ASKED)
    assert model.tally()[:3] == (1, 0, 0)
    ((reserved,),) = database.rows("SELECT sum(tokens) FROM spent")
    assert 8_192 < reserved < 20_000


def test_a_limit_is_kept_to_once_it_has_been_said(database: Database) -> None:
    """A missing limit is cached for a second, so whoever sets the first limit waits for that; a second change needs no wait."""
    database.prepare()
    now, waits = [50.0], []
    bucket = Bucket(database, "k", _MODEL, clock=lambda: now[0])
    assert bucket.take(1) == (0, 0.0)

    def pause(seconds: float) -> None:
        waits.append(seconds)
        assert bucket.is_free()
        now[0] += seconds
        assert not bucket.is_free()

    limits.set_limits(database, "k", _MODEL, 1, None, pause=pause)
    limits.set_limits(database, "k", _MODEL, 2, None, pause=pause)
    assert len(waits) == 1
    assert bucket.take(1)[0]


def test_an_answer_is_not_lost_for_a_reservation_that_cannot_be_settled(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the database goes away in between, the reservation remains, which is the larger number."""
    database.prepare()
    set_limits(database, "k", _MODEL, None, 20_000)
    rows = database.rows

    def away(statement: str, **values: object) -> list[tuple[Any, ...]]:
        if "settle" in statement:
            raise StoreFault("unreachable", "gone")
        return rows(statement, **values)

    monkeypatch.setattr(database, "rows", away)
    model = MeteredModel(loopback(Author()), Bucket(database, "k", _MODEL))
    assert model.send({"messages": [{"role": "user", "content": "1|       MOVE A TO B."}]})["choices"]


def test_a_grant_is_not_used_that_grew_old_while_the_queue_was_away(database: Database) -> None:
    """A grant is asked of the database, which may be away for minutes between the turn and its request."""
    now = [0.0]
    sent_at: list[float] = []

    class Turns(Bucket):
        granted_at = 0.0

        def take(self, tokens: int) -> tuple[int, float]:
            self.granted_at = now[0]
            return 1, 0.0

    turns = Turns(database, "k", _MODEL)

    class Model(Said):
        def send(self, request: Any, /) -> Any:
            sent_at.append(now[0] - turns.granted_at)
            return super().send(request)

    outages = [0.0, 90.0]

    def is_wanted() -> bool:
        now[0] += outages.pop(0) if outages else 0.0
        return True

    model = MeteredModel(Model({"choices": []}), turns, clock=lambda: now[0])
    model.tally(is_wanted)
    model.send(_ASKED)
    outages[:] = [90.0]
    model.tally(is_wanted)
    model.send(_ASKED)
    assert sent_at == [0.0, 0.0]


@pytest.mark.proves("C-21")
def test_what_belongs_to_an_answer_is_asked_however_long_its_turn_takes() -> None:
    """The second question about a chunk is asked even if a limit is tight or the worker is to end, as the first was answered."""
    waits: list[float] = []
    turns = iter([(1, 0.0), (0, 40.0), (0, 40.0), (2, 0.0), (0, 40.0)])

    class Tight:
        def is_free(self) -> bool:
            return False

        def take(self, _tokens: int) -> tuple[int, float]:
            return next(turns)

        def settle(self, *_: int) -> None:
            pass

    bucket: Any = Tight()
    ends: list[bool] = []
    model = MeteredModel(
        Said({"choices": []}), bucket, given_up=lambda: bool(ends), clock=lambda: sum(waits), pause=waits.append
    )
    model.tally()
    model.send(_ASKED)
    assert model.is_begun()
    ends.append(True)
    model.send(_ASKED)
    assert waits
    model.tally()
    assert not model.is_begun()
    with pytest.raises(Cancelled):
        model.send(_ASKED)


def test_a_name_that_is_no_text_is_reported(database: Database) -> None:
    """A key or model typed with a Latin-1 byte ended `penstock queue limit` with a traceback."""
    database.prepare()
    with pytest.raises(CallerError, match=r"UTF-8, which .*m\\xfcller"):
        set_limits(database, "m\udcfcller", _MODEL, 1, None)

"""Do long calls take turns, a few at a time and in order, while short ones never wait?"""

from __future__ import annotations

import threading
import time

import pytest

from penstock.workspace import turns
from penstock.workspace.deadline import Deadline
from penstock.workspace.turns import SLICE_SECONDS, Turns, taking


def _long(deadline: Deadline, slices: int) -> int:
    """Check the clock for that many slices; return how often it was checked."""
    looks, end = 0, time.monotonic() + slices * SLICE_SECONDS
    while time.monotonic() < end and not deadline.passed:
        looks += 1
    return looks


@pytest.mark.proves("L-9")
def test_what_is_short_never_waits_for_a_turn() -> None:
    """The only turn is permanently taken, and a call within its first slice is done at once."""
    only = Turns(1)
    assert only.take(0)
    with taking(only):
        started = time.monotonic()
        assert not Deadline(5).passed
        assert time.monotonic() - started < 1


@pytest.mark.proves("L-9")
def test_what_is_long_waits_for_its_turn_and_no_longer_than_its_deadline() -> None:
    """Beyond the first slice a call waits for the turn; if none comes, its time is up."""
    only = Turns(1)
    assert only.take(0)
    with taking(only):
        time.sleep(2 * SLICE_SECONDS)
        assert Deadline(0.05).passed
    assert not only.wanted
    only.give()
    assert only.take(0)


@pytest.mark.proves("L-9")
def test_long_calls_share_one_turn_in_order_and_all_end() -> None:
    """With eight threads and one turn, never two are beyond their first slice at once, and none is left out."""
    only, done = Turns(1), []

    def work(number: int) -> None:
        with taking(only):
            time.sleep(SLICE_SECONDS)
            assert _long(Deadline(20), 4) > 0
        done.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(done) == list(range(8))
    assert only.take(0), "the turn was given back"


@pytest.mark.proves("L-9")
def test_no_call_keeps_a_turn_while_waiting_for_a_lock() -> None:
    """The holder of the lock may be waiting for that turn: without this, both would wait for their deadlines."""
    only, lock = Turns(1), threading.Lock()
    lock.acquire()
    with taking(only):
        time.sleep(2 * SLICE_SECONDS)
        assert not Deadline(5).passed
        assert not only.take(0), "this thread has the turn"
        assert not Deadline(0.02).acquire(lock)
        assert only.take(0), "it was given back before the wait"
        only.give()
    lock.release()
    assert Deadline(None).acquire(lock)


def test_a_thread_that_no_server_marked_never_waits() -> None:
    """The library itself is used from threads of the caller, which take no turns."""
    time.sleep(SLICE_SECONDS)
    turns.pause(time.monotonic(), None)
    turns.rest()
    assert Deadline(0).passed
    assert not Deadline(None).passed

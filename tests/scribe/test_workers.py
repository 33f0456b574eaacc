"""Is every piece of work done or named, whatever happens to a process, and is no process left behind?"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from tests.scribe.pieces import Piece, divided, working

from penstock.scribe.workers import Lost, Workers, processes_for

if TYPE_CHECKING:
    from pathlib import Path


def is_there(process: int) -> bool:
    """Return whether a process still exists."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.usefixtures("warm_workers")
@pytest.mark.parametrize("processes", [1, 2, 3])
def test_answers_come_in_the_order_of_the_pieces(tmp_path: Path, processes: int) -> None:
    """The number of processes does not matter; with one it is this process."""
    pieces = [Piece(number, sleeps_seconds=0.01 * (number % 3)) for number in range(20)]
    with Workers(processes) as workers:
        made = list(workers.each(working, str(tmp_path), pieces))
    assert [one[0] for one in made if not isinstance(one, Lost)] == [number * 2 for number in range(20)]
    assert {one[1] for one in made if not isinstance(one, Lost)}.isdisjoint({os.getpid()}) == (processes > 1)


@pytest.mark.usefixtures("warm_workers")
def test_a_piece_whose_process_is_killed_is_tried_again_or_named(tmp_path: Path) -> None:
    """After one kill the next process does the piece; after another it is lost, and says how; all others are done."""
    pieces = [Piece(number, ends={3: 1, 7: 9}.get(number, 0)) for number in range(12)]
    with Workers(2) as workers:
        made = list(workers.each(working, str(tmp_path), pieces))
        again = list(workers.each(working, str(tmp_path), [Piece(20), Piece(21)]))  # and continue after that
    assert made[7] == Lost("the process that read it ended twice: signal 9, then signal 9")
    assert [one[0] for one in made if not isinstance(one, Lost)] == [n * 2 for n in range(12) if n != 7]
    assert [one[0] for one in again if not isinstance(one, Lost)] == [40, 42]


@pytest.mark.usefixtures("warm_workers")
def test_what_is_raised_in_a_process_is_raised_here(tmp_path: Path) -> None:
    """The error keeps its message; making the function may raise too."""
    with Workers(2) as workers, pytest.raises(LookupError, match="no 5"):
        list(workers.each(working, str(tmp_path), [Piece(number, raises=number == 5) for number in range(9)]))
    with Workers(2) as workers, pytest.raises(ZeroDivisionError):
        list(workers.each(divided, 0, [1, 2]))


def test_whoever_walks_away_leaves_no_process_behind(tmp_path: Path) -> None:
    """A consumer that stops reading, as after an interrupt, ends all processes at once, busy ones too."""
    pieces = [Piece(0), *(Piece(number, sleeps_seconds=30.0) for number in range(1, 9))]
    begun = time.monotonic()
    seen = 0
    with Workers(2) as workers, closing(workers.each(working, str(tmp_path), pieces)) as made:
        for one in made:
            assert not isinstance(one, Lost)
            seen = one[1]
            break
    assert time.monotonic() - begun < 20
    assert not is_there(seen)


def test_a_process_ends_with_who_started_it() -> None:
    """The process ends silently when its input does, even in the middle of a request."""
    start = [sys.executable, "-c", "from penstock.scribe.work_process import main; main()"]
    for request in (b"", pickle.dumps(("piece", "x" * 1_000))[:500]):
        done = subprocess.run(start, input=request, capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_small_work_needs_no_process() -> None:
    """Only a megabyte of sources or more starts a process, unless processes are asked for."""
    assert processes_for(900_000) == 0
    assert processes_for(10_000_000_000) >= 1
    assert processes_for(10, 3) == 3


def test_a_process_loads_nothing_that_asks_a_model() -> None:
    """Wires, models and refusals are loaded only by the process that asks; workers would load a third more."""
    rooms = "penstock.scribe.estate_reading, penstock.scribe.page_writing"
    said = (
        f"import sys, {rooms}; print({{'penstock.wires', 'penstock.models', 'penstock.overflow'}} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

"""Do lanes bound places, deadlines and abandoned threads, so that scans do not delay reads?"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import threading
import time
from itertools import pairwise

import pytest
from tests.mcp.conftest import REPOSITORY, Wire, call, text_of
from tests.mcp.double_server import TABLE, Doubles

from penstock import mcp_server
from penstock.mcp_server import create_server
from penstock.mcp_server.lanes import Busy, Lane, Late


def test_at_most_so_many_work_at_once() -> None:
    """Of eight calls on two places, three never run at a time, and all are answered."""
    running, most = 0, 0
    lock = threading.Lock()

    def work() -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return 1

    async def steps() -> None:
        lane = Lane(places=2, ghosts=2)
        assert await asyncio.gather(*(lane.run(work, 5) for _ in range(8))) == [1] * 8
        lane.close()

    asyncio.run(steps())
    assert most == 2


@pytest.mark.proves("L-9")
def test_work_that_does_not_return_is_abandoned() -> None:
    """G6: `Late` comes at the deadline; its place is free for others; with too many abandoned, `Busy`; then it recovers."""
    release = threading.Event()

    async def steps() -> None:
        lane = Lane(places=1, ghosts=1)
        for _ in range(2):
            with pytest.raises(Late):
                await lane.run(release.wait, 0.05)
        with pytest.raises(Busy):
            await lane.run(lambda: None, 0.05)
        release.set()
        assert await lane.run(lambda: 7, 5) == 7
        lane.close()

    asyncio.run(steps())


@pytest.mark.proves("L-9")
def test_a_lane_with_patience_is_not_filled_by_what_takes_long() -> None:
    """G6: with more long reads than places, a short one is done while they all still run; their results come, too."""
    release = threading.Event()

    async def steps() -> None:
        lane = Lane(places=2, ghosts=8, patience_seconds=0.01)
        long = [asyncio.create_task(lane.run(lambda: release.wait(20), 30)) for _ in range(8)]
        assert await lane.run(lambda: 7, 5) == 7
        assert not any(task.done() for task in long)
        release.set()
        assert await asyncio.gather(*long) == [True] * 8
        assert await asyncio.gather(*(lane.run(lambda: 8, 5) for _ in range(20))) == [8] * 20
        lane.close()

    asyncio.run(steps())


def test_a_call_cancelled_while_waiting_takes_no_place() -> None:
    """Cancelling a call that waits, or one that works, leaves the lane as it was."""
    release = threading.Event()

    async def steps() -> None:
        lane = Lane(places=1, ghosts=1)
        working = asyncio.create_task(lane.run(release.wait, 5))
        await asyncio.sleep(0.02)
        waiting = asyncio.create_task(lane.run(lambda: None, 5))
        await asyncio.sleep(0.02)
        waiting.cancel()
        working.cancel()
        await asyncio.gather(waiting, working, return_exceptions=True)
        assert await lane.run(lambda: 7, 5) == 7
        release.set()
        await asyncio.sleep(0.05)
        assert [await lane.run(lambda: 8, 5) for _ in range(3)] == [8] * 3
        lane.close()

    asyncio.run(steps())


def test_an_exception_reaches_the_caller() -> None:
    """The thread continues to serve."""

    def fail() -> None:
        raise ValueError("no")

    async def steps() -> None:
        lane = Lane(places=1, ghosts=0)
        with pytest.raises(ValueError, match="no"):
            await lane.run(fail, 5)
        assert await lane.run(lambda: 7, 5) == 7
        lane.close()

    asyncio.run(steps())


def test_the_end_of_the_process_waits_for_nobody() -> None:
    """A thread that hangs for an hour does not keep an interpreter alive."""
    code = (
        "import asyncio, time; from penstock.mcp_server.lanes import Lane, Late\n"
        "async def main():\n"
        "    try: await Lane(1, 1).run(lambda: time.sleep(3600), 0.05)\n"
        "    except Late: print('late')\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=False, cwd=REPOSITORY
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "late\n", "")


@pytest.mark.proves("L-9")
def test_late_and_busy_are_results_with_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model reads `deadline` or `busy`, and the call that it can repeat."""
    monkeypatch.setattr(mcp_server, "READ_SECONDS", 0.05)
    monkeypatch.setattr(mcp_server, "WALK_SECONDS", 0.05)
    monkeypatch.setattr(mcp_server, "_GRACE_SECONDS", 0.0)

    async def steps() -> None:
        from mcp import Client

        async with Client(create_server(Doubles(), table=TABLE, prefix="")) as client:
            late = await client.call_tool("hang", {"seconds": 1})
            assert late.is_error
            assert text_of(late).startswith("deadline: hang(seconds=1) did not finish in 0.05 s")
            results = await asyncio.gather(*(client.call_tool("scan", {"seconds": 1}) for _ in range(8)))
            words = [text_of(result).partition(":")[0] for result in results]
            assert set(words) == {"busy", "deadline"}
            assert 2 <= words.count("deadline") <= 4  # two places, two threads that may be abandoned

    asyncio.run(steps())


@pytest.mark.proves("L-9")
def test_reads_go_on_while_scans_run(doubles: Wire) -> None:
    """With six scans that hold the interpreter, a read each 10 ms is answered, the median within 50 ms of the server's work.

    Its own processor time is counted, because other tests want the same processors; `proof/liveness.py` measures by the clock.
    """
    doubles.ask("tools/list")
    for number in range(6):
        doubles.send(call("scan", f"scan{number}", seconds=1))
    spent: list[float] = []
    for number in range(50):
        doubles.send(call("spent", number))
        while (answer := doubles.read())["id"] != number:
            pass
        spent.append(float(answer["result"]["content"][0]["text"]))
        time.sleep(0.01)
    times = [after - before for before, after in pairwise(spent)]
    assert sum(times) > 0.4, "they ran at the same time"
    assert statistics.median(times) < 0.06  # 10 ms of it are the pause
    assert max(times) < 1

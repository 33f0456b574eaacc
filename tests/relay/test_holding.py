"""Does what comes over HTTP at the same time take a bounded amount of memory, without anybody waiting for ever?"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from penstock.relay import holding
from penstock.relay.holding import HoldRoom
from tests.relay.odd_server import HUGE, OddServer
from tests.relay.test_http import ask, proxied, text_of
from tests.relay.test_stdio import RELAY, Ends
from tests.relay.traffic import call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MB = 1 << 20


@pytest.fixture
def odd() -> Iterator[OddServer]:
    with OddServer() as server:
        yield server


def peak_megabytes(process: int) -> int:
    with open(f"/proc/{process}/status", encoding="ascii") as file:
        return next(int(row.split()[1]) for row in file if row.startswith("VmHWM")) >> 10


@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked up in /proc")
@pytest.mark.parametrize("how", ["huge", "huge event"])
def test_six_large_results_at_once_take_little_more_than_one(how: str, odd: OddServer, tmp_path: Path) -> None:
    """All are cut, and kept whole."""
    with (
        proxied(odd.url, tmp_path / "s", "--hold-bytes", str(10 * MB), fresh=True) as port,
        ThreadPoolExecutor(6) as threads,
    ):
        got = list(threads.map(lambda at: text_of(ask(port, call(how, at))[2].removeprefix(b"data: ")), range(6)))
        (process,) = [int(one) for one in os.listdir("/proc") if one.isdigit() and is_at(int(one), tmp_path)]
        assert peak_megabytes(process) < 140
    assert [len(text) <= 16_000 and f"{len(HUGE)} bytes" in text for text in got] == [True] * 6


@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked up in /proc")
def test_many_large_requests_at_once_take_little_more_than_one(odd: OddServer, tmp_path: Path) -> None:
    """What has no room waits before it is read."""
    with (
        proxied(odd.url, tmp_path / "s", "--hold-bytes", str(10 * MB), fresh=True) as port,
        ThreadPoolExecutor(12) as threads,
    ):
        got = list(threads.map(lambda at: ask(port, call("another's", at, text=HUGE))[0], range(12)))
        (process,) = [int(one) for one in os.listdir("/proc") if one.isdigit() and is_at(int(one), tmp_path)]
        peak = peak_megabytes(process)
    assert got == [200] * 12
    assert peak < 120


def is_at(process: int, store: Path) -> bool:
    """Return whether a process is the relay with a store."""
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            return f"PENSTOCK_STORE={store}".encode() in file.read()
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked up in /proc")
def test_six_large_results_at_pipes_take_little_more_than_one(odd: OddServer, tmp_path: Path) -> None:
    """They come from a server over HTTP, so all at once."""
    ends = Ends([*RELAY, "--url", odd.url, "--hold-bytes", str(10 * MB)], tmp_path / "s")
    ends.send(*(call("huge", at) for at in range(6)))
    for _ in range(6):
        text = json.loads(ends.output.readline())["result"]["content"][0]["text"]
        assert f"{len(HUGE)} bytes" in text
    assert peak_megabytes(ends.process.pid) < 140
    ends.end()


def test_a_message_without_room_waits_for_those_before_it() -> None:
    """The oldest continues whatever the others hold; small requests are not affected."""

    async def steps() -> None:
        room = HoldRoom(10 * MB)
        with room.place() as third:
            with room.place() as first, room.place() as second:
                assert await first(4 * MB)
                assert await second(6 * MB)
                waiting = asyncio.ensure_future(third(MB))
                assert await first(10 * MB)
                await asyncio.sleep(0)
                assert not waiting.done()
                assert await second(1)
                await asyncio.sleep(0)
                assert not waiting.done()
                assert await first(3 * MB)
                assert await waiting
            assert await third(10 * MB)

    asyncio.run(steps())


def test_alone_a_message_may_grow_beyond_the_cap() -> None:
    """Such as an error's body, which has a bound of its own."""

    async def steps() -> None:
        with HoldRoom(MB).place() as alone:
            assert await alone(2 * MB)

    asyncio.run(steps())


def test_nobody_waits_for_one_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be held is reported."""
    monkeypatch.setattr(holding, "MAX_WAIT_SECONDS", 0.05)

    async def steps() -> None:
        room = HoldRoom(2 * MB)
        with room.place() as hanging, room.place() as other:
            assert await hanging(2 * MB)
            assert not await other(MB)
            assert await other(1)

    asyncio.run(steps())


def test_a_result_passes_whole_if_one_that_hangs_leaves_no_room(odd: OddServer, tmp_path: Path) -> None:
    """The error output says so, in both forms."""
    broken = (
        "import sys\nfrom penstock.relay import holding\nfrom penstock.cli import main\nholding.MAX_WAIT_SECONDS = 0.1\n"
        f"sys.argv = ['penstock', 'relay', '--url', {odd.url!r}, '--http', '127.0.0.1:0', '--hold-bytes', '{17 * MB // 2}']\n"
        "main()\n"
    )
    ends = Ends([sys.executable, "-c", broken], tmp_path / "s")
    assert ends.process.stderr is not None
    port = int(ends.process.stderr.readline().split(b"127.0.0.1:")[-1].split(b"/")[0])
    with ThreadPoolExecutor(1) as threads:
        hanging = threads.submit(ask, port, call("stops within"))
        while not odd.seen:
            time.sleep(0.01)
        time.sleep(0.5)
        for how in ("huge", "huge event"):
            body = ask(port, call(how))[2].removeprefix(b"data: ")
            assert text_of(body) == HUGE
        odd.let_go.set()
        assert hanging.result()[0] == 502
    ends.process.terminate()
    assert ends.end()[2].count(b"a message passed uncut: others of more than") == 2


def test_a_signal_ends_the_relay_also_when_its_host_reads_no_more(odd: OddServer, tmp_path: Path) -> None:
    """It is then blocked in a write."""
    ends = Ends([*RELAY, "--url", odd.url, "--budget", "1000000"], tmp_path / "s")
    ends.send(*(call("json", at) for at in range(9)))
    while len(odd.seen) < 9:
        time.sleep(0.01)
    time.sleep(0.5)
    ends.process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    assert ends.process.wait(60) == 143
    assert time.monotonic() - began < 20
    ends.end()

"""Does a session move at every turn between two gateways behind a simple balancer, on one PostgreSQL store (W-6)?"""

from __future__ import annotations

import json
import os
import re
import socket
import threading
from contextlib import contextmanager, suppress
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any

import pytest

from penstock.models.sizes import estimate
from penstock.models.steps import call, say
from penstock.store import open_store
from penstock.testing import LoopbackProvider
from tests.gateway.standing import standing
from tests.gateway.stories import body_of, path_of, story
from tests.gateway.test_cuts import shared, upstream_of
from tests.gateway.test_own_calls import TOOL
from tests.store.conftest import server  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.store.conftest import Server

WINDOW, TURNS = 20_000, int(os.environ.get("PENSTOCK_TEST_TURNS", "60"))


@contextmanager
def balancer(ports: list[int]) -> Iterator[int]:
    """Accept connections on a port, and pass each to the next of some others, byte for byte."""
    turns = cycle(ports)
    listening = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, to: socket.socket) -> None:
        with suppress(OSError):
            while part := source.recv(1 << 16):
                to.sendall(part)
            to.shutdown(socket.SHUT_WR)

    def carry(client: socket.socket, port: int) -> None:
        with client, socket.create_connection(("127.0.0.1", port)) as behind:
            asking = threading.Thread(target=pump, args=(client, behind))
            asking.start()
            pump(behind, client)
            asking.join()

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                started.append(threading.Thread(target=carry, args=(client, next(turns))))
                started[-1].start()

    started = [threading.Thread(target=serve)]
    started[0].start()
    try:
        yield int(listening.getsockname()[1])
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        for thread in started:
            thread.join()
        listening.close()


def reads_back(body: dict[str, Any]) -> Any:
    """Read the first cut result in every fifth turn; another client's page would say that there is none."""
    text = json.dumps(body)
    stub = re.search(r'ctx_page\(handle=\\*"(\w+)\\*"', text)
    turn = re.search(r'"(\d+):0 value = compute', json.dumps(body["messages"][-1]))
    if stub and turn and int(turn[1]) % 5 == 0 and "ctx_page" in json.dumps(body.get("tools", [])):
        return call("ctx_page", handle=stub[1], offset=1, limit=3)
    return say("Fine.")


@pytest.mark.proves("W-2", "W-3", "W-6")
def test_a_session_moves_at_every_turn(server: Server, tmp_path: Path) -> None:  # noqa: F811
    """The client sees no refusal, few occur, and cuts and read-back results stay in place whichever gateway sends them."""
    url = server.database("replicas")
    double = LoopbackProvider("anthropic", WINDOW, policy=reads_back, count=lambda text: int(1.3 * estimate(text)))
    with (
        double,
        standing(tmp_path, upstream_of(double), store=open_store(url)) as one,
        standing(tmp_path, upstream_of(double), store=open_store(url)) as other,
        balancer([one.port, other.port]) as port,
    ):
        through = one._replace(port=port)
        headers = {"content-type": "application/json", "x-api-key": "k1", "host": f"127.0.0.1:{one.port}"}
        other.gateway._names = one.gateway._names  # a balancer has one name for both
        histories = []
        for turns in range(1, TURNS):
            body = {**body_of("anthropic", story(turns, 2_000)), "tools": [TOOL["anthropic"]]}
            body |= {"stream": True} if turns % 2 else {}
            got = through.ask(path_of("anthropic"), body, headers)
            assert got.status == 200, got.body
            assert b"ctx_page" not in got.body
            histories.append(double.requests[-1].request["messages"])
        seen = [gateway.gateway.seen for gateway in (one, other)]
        answered = [this.answered_calls for this in seen]
        asked = [sum(this.asked.values()) for this in seen]
    assert abs(asked[0] - asked[1]) <= 1
    assert min(answered) > 1
    assert double.refused <= 3  # a gateway that has not asked for half a minute what the other has learned
    broken = [
        turn for turn, (before, after) in enumerate(pairwise(histories), 2) if shared(before, after) < len(before)
    ]
    print(
        f"{TURNS} turns: {asked} asked of each, {answered} calls answered, {double.refused} refused, broken at {broken}"
    )
    # Stubs fill a long session too, which finally is cut anew in every second turn, until its oldest turns are removed.
    assert len(broken) <= (TURNS / 6 if TURNS <= 60 else TURNS / 4), broken

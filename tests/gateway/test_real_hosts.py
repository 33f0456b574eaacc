"""Do real coding agents send the same through the gateway while requests fit, and continue once they no longer do?"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from proof.loopback_model import LoopbackModel

from penstock.text import stand_ins
from penstock.text.json_access import as_json
from penstock.wires import load, messages_of
from proof import hosts
from tests.gateway.host_sessions import Filling, drive, recorded, turns_of, wire_of
from tests.gateway.standing import standing
from tests.relay.test_real_hosts import differences, steady

if TYPE_CHECKING:
    from pathlib import Path

    from tests.gateway.host_sessions import Exchange

CALLS, LINES = int(os.environ.get("PENSTOCK_TEST_TURNS", "24")), 350
"""The number of the model's tool calls, and the length of a result: 4 KB, which no host cuts or writes to a file."""
SECONDS = 300 + 10 * CALLS
"""The time limit of a session, on a busy machine."""


@pytest.fixture(params=list(hosts.HOSTS))
def host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if "PENSTOCK_TEST_HOSTS" not in os.environ:
        pytest.skip(
            "real hosts take minutes: PENSTOCK_TEST_HOSTS=1 drives those that scripts/tools hosts has installed"
        )
    name: str = request.param
    if hosts.installed(name) is None:
        pytest.skip(f"{name} is not installed (scripts/tools hosts installs it)")
    monkeypatch.setattr(hosts, "SECONDS", SECONDS)
    return name


@pytest.mark.proves("W-1")
@pytest.mark.timeout(SECONDS)
def test_what_fits_is_the_same_with_and_without_the_gateway(host: str, tmp_path: Path) -> None:
    """What a host sends reaches its provider to the byte, and equals what it sends without a gateway, except for the
    differences between any two of its runs.
    """
    lists = []
    for at in ("direct", "through"):
        with LoopbackModel("lines", {"count": 50}) as model, recorded(model.url, model) as (behind, got):
            model.later = [("lines", {"count": 60}), ("lines", {"count": 70})]
            if at == "direct":
                drive(host, tmp_path / at, model, behind)
            else:
                with standing(tmp_path, behind) as gateway, recorded(gateway.url, model) as (before, sent):
                    drive(host, tmp_path / at, model, before)
                assert got == sent  # paths, headers, bodies and answers, to the byte
        assert model.calls == 3
        asked = [(one.path, bool(one.body.get("tools")), steady(one.body, tmp_path / at)) for one in got]
        lists.append(sorted(asked, key=lambda one: one[:2]))  # a title is asked for in parallel with the first turn
    assert differences([list(one) for one in lists[0]], [list(one) for one in lists[1]]) == []
    print(f"{host}: {len(got)} requests, the same with and without the gateway: {Counter(one.path for one in got)}")


@pytest.mark.proves("W-2", "W-4")
@pytest.mark.timeout(2 * SECONDS + 60)
def test_a_session_that_outgrows_its_window_goes_on(host: str, tmp_path: Path, record_property: Any) -> None:
    """Its provider counts in its own way and refuses; the host always gets an answer, compacts its own history no more often
    than with a provider that accepts everything, and in most turns what the host left unchanged stays in place.
    """
    with Filling(CALLS, LINES, refuses=False) as taking, recorded(taking.url, taking) as (url, direct):
        drive(host, tmp_path / "direct", taking, url)
    assert taking.calls == CALLS
    exchanges, model = session(host, tmp_path, Filling(CALLS, LINES), offering="never")
    turns = turns_of(exchanges)
    stood, new = sum(turn.stood_bytes for turn in turns), sum(turn.new_bytes for turn in turns)
    places = {
        "the host alone": [number for number, turn in enumerate(turns_of(direct), 2) if turn.by_host],
        "the host": [number for number, turn in enumerate(turns, 2) if turn.by_host],
        "the gateway": [number for number, turn in enumerate(turns, 2) if turn.by_gateway],
    }
    for name, found in places.items():
        record_property(f"prefix broken by {name}", found)
    record_property("bytes of messages in each turn: stood, new", [turn[:2] for turn in turns])
    print(
        f"{host}: {len(turns)} turns, {model.refused} refused behind it; {stood / (stood + new):.0%} of the bytes of messages "
        f"stood, {new // len(turns)} were new in a turn; prefix broken by "
        + "; ".join(f"{name} {len(found)} times, at {found}" for name, found in places.items())
    )
    assert model.refused <= CALLS / 3
    assert len(places["the gateway"]) <= len(turns) / 2
    assert len(places["the host"]) <= len(places["the host alone"]) + CALLS / 10


@pytest.mark.proves("W-3")
@pytest.mark.timeout(SECONDS + 60)
def test_a_model_reads_back_what_was_cut_and_its_host_never_knows(host: str, tmp_path: Path) -> None:
    """It uses the handle of a stub: the result is what was cut, and no byte that the host received names the tool."""
    exchanges, model = session(host, tmp_path, Filling(CALLS, LINES, reads=True), offering="auto")
    assert not any(b"ctx_page" in exchange.sent + exchange.heard for exchange in exchanges)
    texts, messages = originals(exchanges)
    # A page larger than the room is cut like any other result.
    pages = [text for text in model.pages.values() if not stand_ins.is_truncated(text.partition("\n")[0])]
    assert len(pages) >= CALLS // 20
    for text in pages:
        head, _, shown = text.partition("\n")
        place = re.search(r"bytes (\d+)-(\d+) of (\d+)", head)
        assert place, head
        first, end, total = map(int, place.groups())
        # A result is kept as its text, a span of turns as one line of JSON for each of its messages.
        kept = [raw[first:end].decode() for raw in texts if len(raw) == total]
        assert shown in kept or {as_json(json.loads(line)) for line in shown.splitlines()} <= messages
    print(f"{host}: {len(pages)} pages of {len(model.pages)} as they were, in {len(exchanges)} requests")


def originals(exchanges: list[Exchange]) -> tuple[list[bytes], set[str]]:
    """Return the texts of a host's results, and as JSON the messages that it sent or that its provider got instead."""
    texts: dict[str, None] = {}
    messages: set[str] = set()
    for exchange in exchanges:
        if exchange.passed:
            own = messages_of(exchange.body, wire := wire_of(exchange.passed[0]))
            texts |= {result.text: None for entry in load(own, wire).entries for result in entry.results}
            for one in (own, *(messages_of(body, wire) for body in exchange.passed)):
                messages |= {as_json(message) for message in one}
    return [text.encode() for text in texts], messages


def session(host: str, folder: Path, model: Filling, **settings: Any) -> tuple[list[Exchange], Filling]:
    """Run a whole session through a gateway; assert that the host always got an answer, and that something was cut."""
    with model, standing(folder, model.url, **settings) as gateway, recorded(gateway.url, model) as (url, exchanges):
        printed = drive(host, folder / "run", model, url)
        seen = gateway.gateway.seen
    assert model.calls == CALLS, printed[-500:]
    assert "done" in printed
    assert seen.cuts
    assert not any(outcome == "returned" for _, outcome in seen.refusals)
    assert {exchange.status for exchange in exchanges if exchange.passed} == {200}
    return exchanges, model

"""Do more real hosts, stuck in six ways, continue with what `penstock rescue` wrote, with a fitting and valid first request?"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from proof.loopback_model import LoopbackModel

from tests.hosts.sessions.machines import MANY, TASK, USES, Machine
from tests.hosts.sessions.validity import complaints

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("X-3")

WAYS = ["flood", "many", "orphan", "torn", "compaction", "image"]
# The reported reasons other than a next request above `--window`: Gemini CLI records no refusal, opencode only that of a
# compaction, pi none after a compaction, of which each of its refusals has one.
WHY = {
    **dict.fromkeys(
        ("copilot flood", "copilot many", "copilot orphan", "copilot torn", "qwen orphan"), "overflow_refused"
    ),
    **{f"{host} compaction": "compaction_overflows" for host in ("copilot", "opencode", "pi", "qwen")},
    **{f"pi {way}": "compaction_overflows" for way in ("flood", "many", "orphan", "torn")},
    **{f"{host} image": "image_bytes" for host in ("copilot", "gemini", "opencode", "pi")},
}
# Other findings: Gemini CLI records no call before its result, Copilot CLI and opencode close it in their files.
BESIDE = {
    **{f"{host} torn": "torn_line" for host in USES},
    "opencode torn": "torn_export",
    "pi orphan": "orphan_call",
    "qwen orphan": "orphan_call",
}


@pytest.mark.parametrize("host", USES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.timeout(300)
def test_a_stuck_session_continues(host: str, way: str, tmp_path: Path) -> None:
    """The host resumes a new session; the old one is unchanged, and rescuing the new one finds nothing to do.

    qwen-code removes a refused image from its request itself, and continues: nothing is written.
    """
    machine, case = Machine(host, tmp_path), f"{host} {way}"
    path = machine.get_stuck(way)
    before = path.read_bytes()
    window = [] if way == "image" else ["--window", str(machine.window_tokens)]
    status, made = machine.rescue(path, *window)
    assert path.read_bytes() == before
    if case == "qwen image":
        assert (status, made["stuck"], made["written"]) == (1, [], None)
        return
    assert status == 0, made
    assert WHY.get(case, "over_window") in made["stuck"]
    assert case not in BESIDE or BESIDE[case] in [finding["code"] for finding in made["findings"]]
    status, again = machine.rescue(type(path)(made["written"]), *window)
    assert (status, again["written"]) == (1, None), again
    machine.window_tokens = MANY if way == "image" else machine.window_tokens
    sent = machine.first_request(made)
    text = json.dumps(sent)
    assert complaints(sent) == []
    assert TASK in text
    assert "go on" in text
    assert [cut["what"] for cut in made["cut"] if cut["handle"] not in text] == []
    assert "\\n2500\\n" not in text
    assert "line 600 of what" not in text
    calls, results = answered(sent)
    assert calls == results, "each call once, each answered once"
    assert set(calls.values()) <= {1}
    if host == "opencode":
        old = re.findall(r"ses_\w+", before.decode())[0]
        assert machine.session(old).read_bytes().startswith(before)
        assert made["resume"] == f"opencode import {made['written']} && opencode -s {made['session']}"


@pytest.mark.parametrize("host", USES)
@pytest.mark.timeout(200)
def test_a_session_that_is_not_stuck_is_left_alone(host: str, tmp_path: Path) -> None:
    """Nothing is written, and the exit status is 1."""
    machine = Machine(host, tmp_path)
    with LoopbackModel(machine.use.shell, machine.call("seq 1 100")) as model:
        model.window_tokens = MANY
        machine.ask(model, TASK)
    path = machine.session()
    files = sorted(machine.home.rglob("*.json*"))
    status, told = machine.rescue(path, "--window", "100000")
    assert (status, told["written"], told["stuck"]) == (1, None, [])
    assert sorted(machine.home.rglob("*.json*")) == files
    assert not machine.store.exists()


def answered(body: dict[str, Any]) -> tuple[Counter[str], Counter[str]]:
    """Return the ids of the calls in a request and of their results, with their numbers."""
    calls, results = Counter[str](), Counter[str]()
    for message in body.get("messages") or []:
        calls.update(call["id"] for call in message.get("tool_calls") or [])
        results.update([message["tool_call_id"]] if message["role"] == "tool" else [])
    for content in body.get("contents") or []:
        for part in content["parts"]:
            calls.update([part["functionCall"]["id"]] if "functionCall" in part else [])
            response = part.get("functionResponse", {})
            results.update([response.get("id") or next(iter(calls))] if response else [])
    return calls, results

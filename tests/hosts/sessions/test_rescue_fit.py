"""Does what is said to fit really fit by the provider's count, even if that differs from ours?"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.context.sized import Sized
from penstock.hosts.rescue.sizes import MARGIN, RecordSize, Room, room
from penstock.text.json_access import as_json
from penstock.text.tokens import best_counter
from penstock.wires import load
from tests.hosts.histories import Claude, Record, written
from tests.hosts.sessions.test_rescue import FLOOD, TASK, next_request, rescued

pytestmark = pytest.mark.proves("X-3")

NUMBERS = "".join(f"{at * 7919 % 100003} {at * 104729 % 99991}\n" for at in range(9_000))
WORDS = "the quick brown fox jumps over the lazy dog\n"
SYSTEM = "You help with code, and say what you did. " * 400
TOOLS = [{"name": f"tool{at}", "description": WORDS * 6, "input_schema": {"type": "object"}} for at in range(20)]
MODEL = "claude-opus-5"
COUNTER = best_counter(MODEL)


def recorded(talk: Claude) -> Record:
    """Return the copy that the host keeps of what is sent in addition to messages."""
    held = {"type": "prompt_snapshot", "systemPrompt": [SYSTEM], "tools": TOOLS}
    record = {"type": "attachment", "attachment": held, "uuid": "snapshot", "parentUuid": talk.last}
    talk.last = "snapshot"
    return record


def beside(times: float = 1.0) -> int:
    """Return what a provider counts for it."""
    return int(times * (COUNTER.count(SYSTEM).tokens + COUNTER.count(as_json(TOOLS)).tokens))


def counted(messages: list[Any], times: float = 1.0) -> int:
    """Return what a provider counts for messages: a multiple of our estimate."""
    return int(times * sum(Sized(load(messages, "anthropic"), COUNTER).counts.tokens))


def by_bytes(messages: list[Any]) -> int:
    """Return the count of a provider that takes four bytes for a token."""
    return len(json.dumps(messages)) // 4


def so_far(talk: Claude) -> list[Any]:
    """Return the messages of a growing session."""
    with tempfile.TemporaryDirectory() as folder:
        return next_request("claude", written(Path(folder, "s.jsonl"), talk.records))


@pytest.mark.parametrize(("basis", "fixed"), [("recorded", 0), ("assumed", 16_000), ("measured", 4_000)])
def test_an_excess_of_our_count_does_not_reduce_the_overhead(basis: str, fixed: int, tmp_path: Path) -> None:
    """Otherwise no room would be counted for instructions and tools once it is cut."""
    talk, window = Claude(), 36_000
    if basis == "recorded":
        talk.records.append(recorded(talk))
        fixed = by_bytes([SYSTEM, TOOLS])
    talk.says(f"{TASK} data:\n{NUMBERS}")
    for at in range(14):
        sent = by_bytes(so_far(talk))
        talk.calls((f"c{at}", "Bash", {}, WORDS * 160, False))
        talk.records[-2]["message"] |= {"usage": {"input_tokens": fixed + sent, "output_tokens": 5}}
    done, _ = rescued("claude", written(tmp_path / "s.jsonl", talk.records), window, model=MODEL)
    assert done.overhead_basis == basis
    assert done.overhead_tokens >= fixed
    assert done.path
    assert fixed + by_bytes(next_request("claude", done.path)) <= (done.tokens_after or 0) <= window * 9 // 10


@pytest.mark.parametrize("is_told", [True, False])
def test_a_picture_that_the_provider_counts_as_words_goes(is_told: bool, tmp_path: Path) -> None:
    """What the provider stated above our count belongs to the picture, and what was said stays."""
    talk = Claude()
    talk.says(TASK)
    talk.calls(("a", "Bash", {}, WORDS * 40, False))
    talk.records[-2]["message"] |= {"usage": {"input_tokens": 19_500, "output_tokens": 5}}
    if is_told:
        talk.calls(("e", "Bash", {}, WORDS * 1_100, False))
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 160_000}
    talk.calls(("b", "shot", {}, [{"type": "image", "source": source}], False))  # type: ignore[arg-type]
    if is_told:
        talk.is_refused("prompt is too long: 71500 tokens > 58000 maximum")
    else:  # the picture was accepted and counted; a flood comes after it
        talk.calls(("c", "Bash", {}, WORDS * 10, False))
        talk.records[-2]["message"] |= {"usage": {"input_tokens": 57_000, "output_tokens": 5}}
        talk.calls(("d", "Bash", {}, WORDS * 300, False))
        talk.is_refused()
    done, _ = rescued("claude", written(tmp_path / "s.jsonl", talk.records), 58_000)
    assert [cut.what for cut in done.cuts] == ["image"]
    assert done.overhead_tokens < 20_000
    assert done.tokens_before >= 71_500 or not is_told
    assert "A" * 100 not in json.dumps(next_request("claude", done.path))


@pytest.mark.parametrize("window", [58_000, 1_000_000])
@pytest.mark.parametrize("words", ["prompt is too long: 59753 tokens > 58000 maximum", "Prompt is too long"])
def test_what_was_refused_for_its_size_never_comes_back_whole(words: str, window: int, tmp_path: Path) -> None:
    """Whatever is assumed of the window, something is removed."""
    talk = Claude()
    talk.says(TASK)
    talk.calls(("a", "Bash", {}, "short", False))
    talk.records[-2]["message"] |= {"usage": {"input_tokens": 19_500, "output_tokens": 5}}
    talk.calls(("b", "Bash", {}, FLOOD[:12_000], False))
    talk.is_refused(words)
    done, _ = rescued("claude", written(tmp_path / "s.jsonl", talk.records), window)
    assert [cut.what for cut in done.cuts] == ["Bash"] or done.irreducible is not None


def test_what_a_provider_counts_above_our_count_is_shared_out() -> None:
    """In its own count what was measured stays as it is; what only we counted grows with the messages."""
    measured = room(RecordSize(40_000, 20_000, 60_000, "measured"), 100_000, 120_000, is_refused=True)
    assert (measured.fixed_tokens, float(measured.ratio), measured.tokens) == (20_000, 2.5, 28_000)
    assert measured.provider_tokens(28_000) == 100_000 - 100_000 // MARGIN
    held = room(RecordSize(40_000, 20_000, 60_000, "recorded"), 100_000, 120_000, is_refused=True)
    assert (held.fixed_tokens, float(held.ratio), held.tokens) == (40_000, 2.0, 25_000)
    assert not measured.is_without_media
    pictured = RecordSize(40_000, 20_000, 60_000, "measured", 90_000, measured_media_tokens=30_000)
    assert room(pictured, 100_000, 0, is_refused=True) == Room(70_000, is_without_media=True, fixed_tokens=20_000)


TEXTS = {
    "none": "",
    "words": WORDS * 100,
    "many words": WORDS * 500,
    "numbers": NUMBERS[:20_000],
    "list": FLOOD[:6_000],
}


@given(
    times=st.floats(0.3, 3),
    pasted=st.sampled_from(sorted(TEXTS)),
    results=st.lists(st.sampled_from(["list", "numbers", "words"]), min_size=1, max_size=6),
    is_recorded=st.booleans(),
    is_measured=st.booleans(),
)
@settings(max_examples=15)
def test_it_fits_by_the_count_of_any_provider(
    times: float, pasted: str, results: list[str], is_recorded: bool, is_measured: bool
) -> None:
    """From 0.3 to 3 times ours it fits if the overhead was counted or is in the file, and the refusal gives its count."""
    talk = Claude()
    if is_recorded:
        talk.records.append(recorded(talk))
    fixed = beside(times)
    talk.says(f"{TASK} {TEXTS[pasted]}")
    for at, result in enumerate(results):
        sent = counted(so_far(talk), times)
        talk.calls((f"c{at}", "Bash", {}, TEXTS[result], False))
        if is_measured:
            talk.records[-2]["message"] |= {"usage": {"input_tokens": fixed + sent, "output_tokens": 5}}
    whole = fixed + counted(so_far(talk), times)
    window = whole * 5 // 6
    talk.is_refused(f"prompt is too long: {whole} tokens > {window} maximum")
    with tempfile.TemporaryDirectory() as folder:
        done, _ = rescued("claude", written(Path(folder, "s.jsonl"), talk.records), None, model=MODEL)
        if not done.path or done.overhead_basis == "assumed":
            assert done.irreducible is not None or not is_recorded
            return
        new = fixed + counted(next_request("claude", done.path), times)
        assert done.cuts
        assert new <= window, "a tenth stays free, which is for what counters differ by from one text to another too"


def test_what_a_provider_counted_together_is_not_taken_twice_at_most(tmp_path: Path) -> None:
    """A host's own words fill most of a small window: they stay, and the provider counted them with the overhead."""
    talk = Claude()
    talk.says("TASK-ONE fix the parser. " + "The host says what it always says, in many words. " * 150)
    talk.add(
        "assistant", [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls -R"}}], answer="m1"
    )
    talk.measured(12_600)
    listing = "".join(f"line {number} of the listing\n" for number in range(3_000))
    talk.add("user", [{"type": "tool_result", "tool_use_id": "c1", "content": listing}])
    talk.is_refused("prompt is too long: 29624 tokens > 15000 maximum")
    done, _ = rescued("claude", written(tmp_path / "s.jsonl", talk.records), 15_000)
    assert done.irreducible is None
    assert done.path

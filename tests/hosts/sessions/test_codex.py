"""In sessions of Codex (0.171.0), which figures are measurements, and which items are sent?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.hosts.sessions.reports import story_of
from penstock.inspection.timeline import Answered, Compacted, Refused, Said
from tests.hosts import histories
from tests.hosts.histories import written
from tests.hosts.sessions.telling import told

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.sessions.telling import Record

pytestmark = pytest.mark.proves("X-1")

WINDOW = 258_400
REFUSED = {"type": "error", "message": "Your input exceeds the context window of this model."}


def event(payload: Record) -> Record:
    """Return a record that is not an item."""
    return {"timestamp": "t", "type": "event_msg", "payload": payload}


def figure(given: int, made: int, total: int) -> Record:
    """Return the usage that the host records for the newest answer."""
    info = {
        "total_token_usage": {"total_tokens": total},
        "last_token_usage": {"input_tokens": given, "output_tokens": made},
        "model_context_window": WINDOW,
    }
    return event({"type": "token_count", "info": info})


def refused(given: int, *, is_behind: bool) -> list[Record]:
    """Return a session whose second request did not fit, with a figure before or after the refusal."""
    full = [figure(given, 0, WINDOW), event(REFUSED)]
    one, two = histories.codex("Go.", ["Done."]), histories.codex("More.")[-1:]
    return [*one, figure(5_000, 5, 5_005), *two, *(reversed(full) if is_behind else full)]


@pytest.mark.parametrize("is_behind", [False, True], ids=["before", "behind"])
@pytest.mark.parametrize("given", [0, WINDOW])
def test_a_figure_next_to_a_refusal_is_not_a_measurement(given: int, is_behind: bool, tmp_path: Path) -> None:
    """Nor is it a request of its own, wherever it is."""
    path = written(tmp_path / "s.jsonl", refused(given, is_behind=is_behind))
    _, story = story_of("codex", path)
    assert [(turn.recorded_tokens, turn.is_measured, turn.is_refused) for turn in story.turns] == [
        (5_000, True, False),
        (given, False, True),
    ]
    assert story.turns[1].tokens < 5_100


def test_a_figure_of_zero_without_a_refusal_is_reported_in_its_place(tmp_path: Path) -> None:
    """It comes before what is said next; a later compaction has what the last answer measured."""
    records = [*refused(WINDOW, is_behind=False)[:-1], {"type": "compacted", "payload": {}}]
    read = told("codex", tmp_path / "s", [*records, *histories.codex("On.", ["Yes."])[-2:], figure(0, 0, 1)])
    kinds = (Answered, Compacted, Refused, Said)
    behind = [type(one) for one in read.happenings if isinstance(one, kinds)][-5:]
    assert behind == [Answered, Compacted, Said, Answered, Said]
    assert [one.input_tokens for one in read.of(Answered)] == [5_000, WINDOW, 0]
    assert [one.before_tokens for one in read.of(Compacted)] == [5_000]


@pytest.mark.parametrize("kind", ["web_search_call", "local_shell_call", "tool_search_call", "image_generation_call"])
def test_whatever_the_model_calls_is_part_of_its_answer(kind: str, tmp_path: Path) -> None:
    """The figures, which the host records after all of the answer, were counted before any of it."""
    items: list[Record] = [{"type": "reasoning", "summary": []}, {"type": kind, "status": "completed"}]
    answer = [{"timestamp": "t", "type": "response_item", "payload": item} for item in items]
    done = histories.codex(["Done."])[-1:]
    read = told("codex", tmp_path / "s", [*histories.codex("Go."), *answer, *done, figure(5_000, 5, 5_005)])
    behind = [one.message["type"] if isinstance(one, Said) else type(one) for one in read.happenings][-4:]
    assert behind == [Answered, "reasoning", kind, "message"]


def test_an_item_that_the_host_does_not_know_is_counted_and_not_sent(tmp_path: Path) -> None:
    """Nor is a snapshot of older versions, which is known; a compaction keeps no such item either."""
    unknown: dict[str, Any] = {"type": "frobnicate", "text": "x" * 500}
    known: dict[str, Any] = {"type": "ghost_snapshot", "ghost_commit": {}}
    items = [{"timestamp": "t", "type": "response_item", "payload": item} for item in (unknown, known)]
    kept = {"type": "compacted", "payload": {"replacement_history": [unknown]}}
    talk = histories.codex("Go.", ["Done."])
    read = told("codex", tmp_path / "s", [*talk, *items, kept])
    assert len(read.of(Said)) == len(told("codex", tmp_path / "t", talk).of(Said))
    assert read.counts.unknown == {"response_item frobnicate": 1}
    assert read.counts.unsent_bytes["response_item frobnicate"] > 500
    assert read.counts.unsent_bytes["response_item ghost_snapshot"] > 0

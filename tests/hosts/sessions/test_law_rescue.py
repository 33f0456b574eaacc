"""Over generated histories, does a rescue fit, keep pairs whole, lose nothing, leave the old file, and need no repetition?"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.hosts.rescue.pairs import find_unpaired
from penstock.hosts.sessions import reader_of
from penstock.text.json_access import parsed
from penstock.text.tokens import best_counter
from penstock.wires import load, violations
from tests.hosts import histories
from tests.hosts.histories import Claude, lines
from tests.hosts.sessions.test_rescue import next_request, rescued
from tests.hosts.sessions.ways import TASK

if TYPE_CHECKING:
    from tests.hosts.histories import Step

pytestmark = pytest.mark.proves("X-3")

REFUSED = "prompt is too long: 30000 tokens > 9000 maximum"
WORDS = st.text(st.sampled_from('ab \n\u00e9\u4e2d{"\ud800'), min_size=1, max_size=40)
Said = tuple[str, str, int]
SAID = st.lists(
    st.tuples(st.sampled_from(["person", "model", "call", "calls"]), WORDS, st.sampled_from([1, 10, 400])),
    min_size=1,
    max_size=8,
)


def claude(said: list[Said]) -> list[dict[str, Any]]:
    """Return a session of Claude Code."""
    talk = Claude()
    talk.says(TASK)
    for number, (kind, words, times) in enumerate(said):
        text = f"{number} {words * times}"
        if kind == "person":
            talk.says(text)
        elif kind == "model":
            talk.answers_with(text)
        else:
            steps: list[Step] = [
                (f"c{number}-{at}", "Bash", {"command": words}, text, False)
                for at in range(2 if kind == "calls" else 1)
            ]
            talk.calls(*steps)
    talk.add("assistant", [{"type": "text", "text": REFUSED}], isApiErrorMessage=True)
    return talk.records


def codex(said: list[Said]) -> list[dict[str, Any]]:
    """Return the same session of Codex."""
    made: list[Any] = []
    for number, (kind, words, times) in enumerate(said):
        text = f"{number} {words * times}"
        if kind == "person":
            made.append(text)
        elif kind == "model":
            made.append([text])
        else:
            made += [
                (f"c{number}-{at}", "exec_command", {"cmd": words}, text, False)
                for at in range(2 if kind == "calls" else 1)
            ]
    error = {"message": REFUSED, "codex_error_info": "context_window_exceeded"}
    return [*histories.codex(TASK, *made), {"type": "event_msg", "payload": {"type": "error", **error}}]


@given(said=SAID, host=st.sampled_from(["claude", "codex"]), form=st.sampled_from(["new", "append"]))
@settings(max_examples=15, deadline=None)
def test_a_rescue_keeps_its_laws(said: list[Said], host: str, form: Any) -> None:
    """They hold whatever was said."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "old.jsonl")
        path.write_text(lines({"claude": claude, "codex": codex}[host](said)))
        before, old = path.read_bytes(), next_request(host, str(path))
        done, kept = rescued(host, str(path), None, form=form)
        if done.irreducible is not None:
            assert path.read_bytes() == before
            return
        assert done.tokens_after is not None
        assert done.limit_tokens is not None
        new, wire = next_request(host, done.path), reader_of(host).WIRE
        counter = best_counter("o200k")
        transcript = load(new, wire)
        texts = [part for entry in transcript.entries for part in (entry.text, *(one.text for one in entry.results))]
        assert done.overhead_tokens + sum(counter.count(text).tokens for text in texts) <= done.limit_tokens
        assert find_unpaired(transcript)[:2] == (0, 0)
        assert violations(old, wire) or violations(new, wire) == []
        assert TASK in str(new)
        after = path.read_bytes()
        assert after == before if form == "new" else after.startswith(before)
        assert not rescued(host, done.path, done.limit_tokens, form="plan")[0].is_stuck
        # Nothing is lost: what was said is there, or behind a handle that is.
        text = "".join(map(str, new))
        assert all(handle in text for handle in kept)
        held = [one for one in kept.values() if isinstance(one, str)]
        noted = [message for one in held for message in map(as_message, one.split("\n"))]
        for message in old:
            entry = load([message], wire).entries[0]
            parts = filter(None, [entry.text, *(result.text for result in entry.results)])
            assert message in new or message in noted or all(any(text in one for one in held) for text in parts)


def as_message(line: str) -> Any:
    """Return a message from a line of a note; None for any other text."""
    is_json, value = parsed(line)
    return value if is_json else None

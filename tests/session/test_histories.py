"""What does each event in some histories of a session change?

`histories.txt` has the reviewed answer, one event per line; `WRITE_TABLES=1` rewrites it.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.session.stage import told, viewed
from tests.tables import check_table
from tests.wires.strategies import Round

from penstock.errors import CallerError
from penstock.overflow.learned import SMALLEST_TOKENS
from penstock.session import events as ev
from penstock.session.limits import PROFILES, ErrorLimits, Limits
from penstock.session.loops import Did
from penstock.session.state import Effect, State, after
from penstock.wires import ToolCall, Transcript, load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TABLE = Path(__file__).with_name("histories.txt")
FIND = viewed(1, "a.py", "found")
ASKED, RESULTS = told("openai-chat", Round(calls=(FIND,)))
TWO = told("openai-chat", Round(calls=(viewed(2, "a.py", "x"), viewed(3, "b.py", "y"))))
WORDS = told("openai-chat", Round(text="It is in a.py."))[0]


def prompt(words: str = "Find it.") -> ev.Prompted:
    return ev.Prompted(message={"role": "user", "content": words})


def calls(messages: Sequence[Any] = ASKED, **usage: int) -> ev.Replied:
    return ev.Replied(messages=tuple(messages), **usage)


def results(messages: Sequence[Any] = RESULTS, *outcomes: ev.Outcome) -> ev.Returned:
    return ev.Returned(messages=tuple(messages), outcomes=outcomes)


def refused(**said: Any) -> ev.Refused:
    return ev.Refused(overflow={"kind": "context_overflow", **said})


def handed(reason: str, evidence: str = "") -> ev.HandedOff:
    return ev.HandedOff(
        handoff={"sessionId": "s", "goal": "Find it."}, text="Go on from here.", reason=reason, evidence=evidence
    )


WORKED = ev.Outcome(call_id="call1", digest="d")
FAILED = ev.Outcome(call_id="call1", failed=True, digest="e")
REFUSED = ev.Outcome(call_id="call1", failed=True, is_refusal=True)
UNKNOWN = ev.Outcome(call_id="nobody", failed=True, digest="f")
SEED = PROFILES["swe-1.5"]
HISTORIES: dict[str, tuple[Limits, list[ev.Event]]] = {
    "a turn": (
        SEED,
        [
            ev.Ticked(now_seconds=5.0),
            ev.Ticked(now_seconds=4.0),
            prompt(),
            calls(input_tokens=10, output_tokens=4),
            ev.Intended(effect_id="n:1:call1", kind="edit", what="a.py", digest="before"),
            ev.Intended(effect_id="n:9:other", kind="run", what="make"),
            ev.Effected(effect_id="nobody", digest="x"),
            ev.Effected(effect_id="n:9:other"),
            ev.Effected(effect_id="n:1:call1", digest="after"),
            results(RESULTS, WORKED, UNKNOWN),
            calls(WORDS, input_tokens=1),
            prompt("And then?"),
            ev.Closed(reason="done"),
            prompt("Once more."),
        ],
    ),
    "todos": (
        SEED,
        [
            ev.Noted(action="add", title="a"),
            ev.Noted(action="add", title="b", priority=1),
            ev.Noted(action="add", title="a", priority=3),
            ev.Noted(action="done", title="a"),
            ev.Noted(action="done", title="c", priority=1),
            ev.Noted(action="drop", title="b"),
            ev.Noted(action="drop", title="nobody"),
            ev.Noted(action="lose", title="a"),
            prompt(),
            calls(WORDS),
            ev.Noted(action="done", title="a"),
            ev.Noted(action="add", title="d"),
            prompt(),
            ev.Compacted(edits=()),
        ],
    ),
    "cut off": (
        SEED,
        [
            prompt(),
            calls(TWO[0]),
            ev.Intended(effect_id="n:1:call2", kind="edit", what="a.py", digest="x"),
            ev.Effected(effect_id="n:1:call2"),
            ev.Intended(effect_id="n:1:call3", kind="edit", what="b.py"),
            results(TWO[1][:1]),
            ev.Interrupted(),
            prompt(),
            calls(),
            ev.Intended(effect_id="n:2:call1", kind="run", what="make"),
            ev.Effected(effect_id="n:2:call1"),
            ev.Closed(reason="killed"),
            prompt(),
            ev.Interrupted(),
        ],
    ),
    "failures of tools": (
        replace(SEED, errors=ErrorLimits(row=2, total=4)),
        [
            prompt(),
            *[event for outcome in (FAILED, REFUSED, WORKED, FAILED) for event in (calls(), results(RESULTS, outcome))],
            calls(),
            results(RESULTS, FAILED),
            calls(),
            results(RESULTS, FAILED),
            handed("errors"),
            *[event for _ in range(3) for event in (calls(), results(RESULTS, FAILED))],
            prompt("Try it otherwise."),
        ],
    ),
    "the same again": (
        replace(SEED, loop_end=3),
        [prompt(), *[event for _ in range(4) for event in (calls(), results(RESULTS, WORKED))], prompt()],
    ),
    "failures of a provider": (
        replace(SEED, errors=ErrorLimits(row=2, total=3)),
        [
            prompt(),
            ev.Failed(kind="rate_limit", retry_after_seconds=2.5),
            ev.Failed(kind="overloaded"),
            calls(WORDS),
            prompt(),
            ev.Failed(kind="server_error"),
            ev.Failed(kind="server_error"),
            prompt(),
            ev.Failed(kind="bad_key", message="no"),
            prompt(),
        ],
    ),
    "a refusal": (
        SEED,
        [
            *[event for _ in range(3) for event in (prompt(), calls(WORDS))],
            prompt(),
            refused(unit="tokens", limit=SMALLEST_TOKENS - 1),
            ev.Summarised(text="We looked."),
            ev.Compacted(edits=({"first": 0, "last": 1, "note": "Earlier."},)),
            ev.Compacted(edits=({"first": 2, "last": 2, "words": "Earlier."},)),
            ev.Compacted(edits=({"first": 1, "last": 3, "note": "Earlier."},), reserve_tokens=500),
            refused(unit="chars", limit=90_000),
            ev.Summarised(text=None),
            ev.Compacted(edits=(), reserve_tokens=400),
            refused(unit="tokens", limit=SMALLEST_TOKENS),
            handed("context", "90 % full"),
            calls(WORDS),
            prompt(),
            refused(unit="tokens"),
            prompt("Something else."),
            refused(unit="tokens", limit=100_000),
            ev.Interrupted(),
        ],
    ),
    "handoffs": (
        replace(SEED, rungs=tuple(rung._replace(turns=2) for rung in SEED.rungs if rung.pressure.name == "HAND_OFF")),
        [
            handed("manual"),
            prompt(),
            calls(WORDS),
            prompt(),
            calls(WORDS),
            prompt(),
            calls(WORDS),
            prompt(),
            handed("turns", "3 turns"),
            calls(WORDS),
            prompt(),
            handed("turns", "at the step"),
            handed("context", "full"),
            handed("domain"),
            ev.Compacted(edits=({"first": 9, "last": 9, "note": "x"},)),
            ev.Compacted(edits=(), reserve_tokens=-1),
        ],
    ),
}  # fmt: skip


def rows() -> Iterator[str]:
    """Yield what each event of each history changes."""
    for name, (limits, events) in HISTORIES.items():
        state = State(limits=limits, transcript=load([], "openai-chat"))
        yield f"{name}:"
        for event in events:
            try:
                state, before = after(state, event), state
            except CallerError as error:
                yield f"  {ev.name_of(event)}: refused, {str(error).partition(': ')[0]}"
                continue
            changes = [
                f"{known.name} {_short(getattr(state, known.name), getattr(before, known.name))}"
                for known in fields(State)
                if getattr(state, known.name) != getattr(before, known.name)
            ]
            yield f"  {ev.name_of(event)}: {'; '.join(changes) or 'nothing'}"


def _short(value: Any, before: Any) -> str:
    """Return the new part of a value: entries and edits of a transcript, fields of limits and faults, else the whole value."""
    if isinstance(value, Transcript):
        new = [f"{entry.role} {entry.text or [part.text for part in entry.results]}" for entry in value.entries]
        is_more = value.entries[: len(before.entries)] == before.entries
        edits = f", {len(value.edits)} edits" if value.edits else ""
        return f"{'+' if is_more else '= '}{new[len(before.entries) if is_more else 0 :]}{edits}"
    if isinstance(value, Limits) and before is None:
        return f"window_tokens {value.window_tokens}"
    if isinstance(value, Limits) or type(value).__name__ in {"Faults", "Loops"}:
        names = [known.name for known in fields(value)]
        changed = [one for one in names if getattr(value, one) != getattr(before, one)]
        return ", ".join(f"{one} {_short(getattr(value, one), getattr(before, one))}" for one in changed)
    if isinstance(value, tuple):
        is_more = value[: len(before)] == before
        return f"{'+' if is_more else '= '}[{', '.join(_one(item) for item in value[len(before) if is_more else 0 :])}]"
    return _one(value)


def _one(item: Any) -> str:
    if hasattr(item, "reserve_tokens"):
        return f"reply {item.reserve_tokens}"
    if isinstance(item, ToolCall | Did):
        return item.id if isinstance(item, ToolCall) else f"{item.name} gave {item.digest}"
    if isinstance(item, tuple):
        return f"{item[0]} {_one(item[1])}"
    if isinstance(item, Effect):
        return " ".join([item.kind, item.what, item.digest or "-", "known" if item.is_known else "begun"])
    if isinstance(item, frozenset):
        return f"{{{', '.join(sorted(item))}}}"
    return item.goal if type(item).__name__ == "Handoff" else str(item)


@pytest.mark.proves("S-12")
def test_what_each_event_changes_is_what_the_table_says() -> None:
    """Nothing else changes; a refused event changes nothing, and says why."""
    check_table(TABLE, list(rows()))

"""Which event is accepted in which phase, what does the journal hold, and what does the diagram of the docs show?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.session.stage import CHARS, WIRES, Stage, told, viewed
from tests.wires.strategies import Round

from penstock.errors import CallerError
from penstock.session import (
    TRANSITIONS,
    Await,
    Closed,
    Compacted,
    Effect,
    Effected,
    Event,
    HandedOff,
    Intended,
    Noted,
    Prompted,
    Refused,
    Replied,
    Returned,
    Session,
    Stop,
    Summarised,
    Todo,
    diagram,
    event_of,
    to_dict,
)
from penstock.session import Call as RunCalls
from penstock.session.limits import PROFILES
from penstock.text.allowance import Budget
from penstock.wires import dump, violations

PAGE = Path(__file__).parent.parent.parent / "docs" / "sessions.md"


@pytest.mark.parametrize("wire", WIRES)
def test_a_session_goes_round(wire: str) -> None:
    """On every wire a session awaits the user, asks, runs calls, asks, and awaits the user again."""
    stage = Stage(wire=wire)
    assert stage.step() == Await()
    stage.prompt("Find it.")
    call = viewed(1, "a.py", "found")
    asked = stage.step()
    results = stage.answer_with(call)
    assert asked != stage.step()
    step = stage.step()
    assert isinstance(step, RunCalls)
    assert [one.id for one in step.calls] == ["call1"]
    stage.returned(results, call)
    stage.turn(text="It is in a.py.")
    assert stage.step() == Await()
    assert (stage.session.state.input_tokens, stage.session.state.output_tokens) == (20, 10)
    assert "idle, 2 turns" in repr(stage.session)


def test_an_event_that_the_phase_does_not_take_is_named_with_those_that_it_does() -> None:
    """The error tells the caller the phase, and nothing has changed."""
    session = Session()
    before = session.state
    with pytest.raises(
        CallerError, match="that is idle takes no Returned, but Closed, Effected, HandedOff, Intended, Noted, Prompted"
    ):
        session.feed(Returned(messages=()))
    assert session.state is before


@pytest.mark.parametrize(
    "event",
    [
        Replied(messages=(None,)),
        Replied(messages=("words",)),
        Refused(overflow={}),
        Refused(overflow={"kind": "context_overflow", "no_field": 1}),
        Compacted(edits=({},)),
        Compacted(edits=(), reserve_tokens=-1),
    ],
)
def test_content_that_cannot_be_is_an_error_and_changes_nothing(event: Event) -> None:
    """If such content from a driver or an edited journal were accepted, it would be in every later request."""
    stage = Stage()
    stage.prompt()
    before = stage.session.state
    with pytest.raises(CallerError):
        stage.feed(event)
    assert stage.session.state is before


@pytest.mark.parametrize("name", ["Replied", "Returned", "Compacted"])
def test_rows_that_are_no_events_were_not_written_whole(name: str) -> None:
    """The rows come from a journal that somebody edited."""
    with pytest.raises(CallerError, match=f"this is no {name} that was written whole"):
        event_of(name, {"edits" if name == "Compacted" else "messages": None})


@pytest.mark.proves("S-12")
@pytest.mark.parametrize(
    ("name", "given", "left_out"),
    [
        ("Replied", {"messages": []}, {"input_tokens": None, "output_tokens": None}),
        ("Returned", {"messages": []}, {"outcomes": []}),
        ("Failed", {"kind": "overloaded"}, {"message": "", "retry_after_seconds": None}),
        ("Compacted", {"edits": []}, {"strategy": "", "reserve_tokens": None}),
        ("HandedOff", {"handoff": {}, "text": "", "reason": "manual"}, {"evidence": ""}),
        ("Noted", {"action": "add", "title": "a"}, {"priority": 2}),
        ("Intended", {"effect_id": "n", "kind": "edit", "what": "a"}, {"digest": ""}),
        ("Effected", {"effect_id": "n"}, {"digest": ""}),
    ],
)
def test_what_a_record_leaves_out_is_what_is_usual(name: str, given: dict[str, Any], left_out: dict[str, Any]) -> None:
    """An earlier journal lacks the field and gets its usual value."""
    assert to_dict(event_of(name, given)) == {**given, **left_out}
    (outcome,) = to_dict(event_of("Returned", {"messages": [], "outcomes": [{"call_id": "c"}]}))["outcomes"]
    assert outcome == {"call_id": "c", "failed": False, "is_refusal": False, "digest": ""}
    assert (Todo(title="a").priority, Todo(title="a").is_done) == (2, False)
    assert Effect(kind="edit", what="a") == Effect(kind="edit", what="a", digest="", is_known=False)


def test_all_open_calls_return_together() -> None:
    """Results that leave a call open are rejected, as every later request would be invalid."""
    stage = Stage()
    stage.prompt()
    results = stage.answer_with(viewed(1, "a.py", "x"), viewed(2, "b.py", "y"))
    with pytest.raises(CallerError, match="call 'call2' has no result"):
        stage.feed(Returned(messages=tuple(results[:1])))
    stage.returned(results)


@pytest.mark.parametrize("message", [{"role": "assistant", "content": "Hi."}, {"role": "user", "content": []}])
def test_a_prompt_is_the_user_s(message: object) -> None:
    """A message by another role, or by none, is not a prompt."""
    with pytest.raises(CallerError, match="the user says something"):
        Session().feed(Prompted(message=message))


@pytest.mark.parametrize("wire", WIRES)
def test_an_interrupt_closes_open_calls_and_the_next_prompt_is_valid(wire: str) -> None:
    """Calls that did not run get a result that says so, and roles still alternate."""
    stage = Stage(wire=wire)
    stage.prompt("Find it.")
    stage.answer_with(viewed(1, "a.py", "x"), viewed(2, "b.py", "y"))
    stage.interrupt()
    assert stage.step() == Await()
    stage.prompt("Rather not.")
    shown = stage.until_asked().transcript
    assert violations(dump(shown, wire), wire) == []
    assert [result.call_id for entry in shown.visible() for result in entry.results] == ["call1", "call2"]


@pytest.mark.parametrize("phase", sorted(TRANSITIONS))
def test_a_session_can_be_closed_from_anywhere_and_go_on(phase: str) -> None:
    """`Closed` ends the session with a valid transcript; another prompt opens it again."""
    stage = Stage(wire="anthropic")
    if phase != "idle":
        stage.prompt()
    if phase == "calling":
        stage.answer_with(viewed(1, "a.py", "x"))
    if phase == "refused":
        stage.refuse()
    if phase == "ended":
        stage.fail("auth")
    assert stage.session.state.phase == phase
    stage.feed(Closed(reason="the user left"))
    step = stage.step()
    assert isinstance(step, Stop)
    assert step.reason == "the user left"
    stage.prompt("I am back.")
    asked = stage.until_asked()
    assert violations(dump(asked.transcript, "anthropic"), "anthropic") == []


def test_effects_are_known_once_they_are_told() -> None:
    """An announced effect is unknown until it is reported, and then known by the digest of its outcome."""
    session = Session()
    session.feed(Intended(effect_id="1", kind="edit", what="a.py", digest="before"))
    session.feed(Intended(effect_id="2", kind="run", what="make"))
    session.feed(Effected(effect_id="1", digest="after"))
    assert session.state.unknown_effects == {"2": Effect(kind="run", what="make")}
    assert dict(session.state.effects)["1"] == Effect(kind="edit", what="a.py", digest="after", is_known=True)


EVENTS = [
    Prompted(message={"role": "user", "content": "Hi"}),
    Replied(messages=({"role": "assistant", "content": "Ho"},), input_tokens=3),
    Returned(messages=(), outcomes=()),
    Refused(overflow={"kind": "context_input", "limit": 5}),
    Compacted(edits=({"index": 1, "call_id": "c", "text": "t", "handle": None},), reserve_tokens=7),
    Summarised(text=None),
    HandedOff(handoff={"sessionId": "x"}, text="t", reason="turns"),
    Noted(action="add", title="t"),
    Closed(reason="r"),
]


@pytest.mark.proves("LAW-Step")
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_survives_the_journal(event: object) -> None:
    """Passing an event through JSON gives an equal event."""
    assert event_of(type(event).__name__, json.loads(json.dumps(to_dict(event)))) == event  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("Exploded", {}, "'Exploded' is not an event of a session; there are Prompted, "),
        ("Prompted", {}, "this is no Prompted that was written whole"),
        ("Prompted", {"message": {}, "more": 1}, "this is no Prompted that was written whole"),
        ("Returned", {"messages": [], "outcomes": [{"id": "x"}]}, "this is no Returned that was written whole"),
    ],
)
def test_what_the_journal_should_not_hold_is_named(name: str, data: dict[str, object], says: str) -> None:
    """The record has an unknown version or is incomplete."""
    with pytest.raises(CallerError, match=re.escape(says)):
        event_of(name, data)


@pytest.mark.proves("LAW-Step")
def test_the_header_of_a_session_at_work_is_the_one_it_began_with() -> None:
    """The header, limits and window included, plus the events give the session at any time, without doubling the events."""
    stage = Stage(limits="swe-1.5", window=64_000, system="Be brief.", tools=[{"name": "view"}])
    stage.prompt()
    stage.view()
    assert json.dumps(stage.session.header()) == stage.header
    again = stage.replayed()
    assert again == stage.session
    assert json.dumps(again.header()) == stage.header
    assert again.state.limits.window_tokens == 64_000
    assert again != Session()
    assert (again == 5) is False


def test_the_limits_are_the_profile_s() -> None:
    """The default is the default profile; a budget scales any profile."""
    assert Session().state.limits == PROFILES["default"]
    assert Session(limits=PROFILES["Oracle"]).state.limits.window_tokens == 32_000
    assert Session(limits=PROFILES["swe-1.5"], budget=Budget(50_000, 0, CHARS)).state.limits.name == "swe-1.5"


@pytest.mark.parametrize("wire", WIRES)
def test_the_bill_and_the_fill_are_those_of_the_next_request(wire: str) -> None:
    """The status line shows the request at most, plus the reserve, as a share of the window."""
    stage = Stage(wire=wire, window=10_000, reserve=1_000)
    stage.fill(4_000)
    assert stage.session.bill().tokens == 5_000
    assert stage.session.fill() == 0.5


def test_the_diagram_is_the_table() -> None:
    """Every transition is an arrow to an existing phase, there are no others, and all phases can be reached."""
    arrows = re.findall(r"^    (\S+) --> (\S+)(?:: (\w+))?$", diagram(), re.MULTILINE)
    named = {(start, name) for start, _, name in arrows if name}
    assert named == {(phase, name) for phase, row in TRANSITIONS.items() for name in row}
    assert {end for _, end, _ in arrows} == {*TRANSITIONS, "[*]"}
    for start, end, name in arrows:
        to = TRANSITIONS.get(start, {}).get(name)
        assert to in {None, end}


def test_the_page_shows_the_diagram_and_the_table() -> None:
    """docs/sessions.md has the output of `diagram()`, and the figures of every profile."""
    page = PAGE.read_text("utf-8")
    assert f"```mermaid\n{diagram()}\n```" in page
    for name, limits in PROFILES.items():
        least, most = limits.turns or ("", "")
        turns = f"{least}-{most}" if limits.turns else ""
        assert re.search(rf"^\| `{re.escape(name)}` \| {limits.window_tokens} \| {turns} *\|", page, re.MULTILINE), name


def test_thinking_and_server_tools_stay_with_their_turn() -> None:
    """A reply of several items is one turn, which has all its calls."""
    stage = Stage(wire="openai-responses")
    stage.prompt()
    turn = Round(thinking=1, text="Hm.", calls=(viewed(1, "a", "x"), viewed(2, "b", "y")), server_tool=True)
    messages, _ = told("openai-responses", turn)
    stage.feed(Replied(messages=tuple(messages)))
    assert stage.session.state.turns == 1
    assert [call.id for call in stage.session.state.open_calls] == ["call1", "call2"]

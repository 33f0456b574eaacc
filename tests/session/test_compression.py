"""What does a compaction keep (S-4)? The goal, the newest words, pins, the newest view of a modified file, the todo list."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from tests.session.stage import WIRES, Stage, viewed

from penstock.context.compaction import summary_span
from penstock.context.handoff import encode
from penstock.errors import CallerError
from penstock.session import Ask, Compact, HandedOff, HandOff, Noted, Stop, Summarise, Summarised, Todo, Wait
from penstock.wires import Cleared, dump, violations

if TYPE_CHECKING:
    from penstock.wires import Transcript

GOAL = "Fix the parser; never touch README.md."
LIST = "\n".join(["Todo: 40 open, 0 done", *(f"[ ] 1 the lexer, part {number}" for number in range(40))])
VIEW = "\n".join(f"{number}|    token = {number}" for number in range(1, 80))


def shown(transcript: Transcript) -> str:
    """Return everything that a request shows, as one text."""
    texts = [part.text for entry in transcript.visible() for part in entry.results]
    return "\n".join([*(entry.text for entry in transcript.visible()), *texts])


def busy(wire: str, turns: int) -> Stage:
    """Return a long piece of work: a todo list, a file that is viewed and edited, and then dozens of other files."""
    stage = Stage(wire=wire)
    stage.prompt(GOAL)
    stage.turn(viewed(900, "", "Todo: 1 open, 0 done\n[ ] 1 the lexer" + " " * 900, name="ctx_todo", action="add"))
    stage.turn(viewed(901, "src/main.py", VIEW.replace("token", "older")))
    stage.turn(viewed(902, "src/main.py", "edited", name="edit_file", text="token"))
    stage.turn(viewed(903, "src/main.py", VIEW), viewed(904, "src/side.py", "x" * 3_000))
    stage.turn(viewed(905, "", LIST, name="todo", action="add"), viewed(906, "src/more.py", "y" * 3_000))
    for _ in range(turns):
        stage.until_asked()
        stage.view("a line of text\n" * 200)
    return stage


@pytest.mark.proves("S-4")
@pytest.mark.parametrize("wire", WIRES)
def test_a_compaction_keeps_what_the_work_rests_on(wire: str) -> None:
    """After every cut of a long run, the goal and the newest view of the modified file and todo list are there verbatim."""
    stage = busy(wire, 20)
    stage.turn(text="So far so good.")
    stage.prompt("Now the second half: keep the names.")
    for _ in range(60):
        asked = stage.until_asked()
        text = shown(asked.transcript)
        assert GOAL in text
        assert "Now the second half: keep the names." in text
        assert VIEW in text
        assert LIST in text
        assert violations(dump(asked.transcript, wire), wire) == []
        stage.view("a line of text\n" * 200)
    assert stage.session.state.compactions >= 2
    assert VIEW.replace("token", "older") not in text, "the view before the edit is stale, and went"


@pytest.mark.proves("S-4")
@pytest.mark.parametrize("wire", WIRES)
def test_the_newest_todo_list_stays_where_results_around_it_go(wire: str) -> None:
    """Of two lists of equal size, the older is removed with its neighbours, however many cuts there are; the newer stays."""
    stage = Stage(wire=wire)
    stage.prompt(GOAL)
    older = LIST.replace("40 open", "39 open")
    for turn in range(80):
        asked = stage.until_asked()
        if turn in {8, 14}:
            text = older if turn == 8 else LIST
            stage.turn(viewed(900 + turn, "", text, name="ctx_todo", action="add", title=f"{turn}"))
        stage.view("a line of text\n" * 200)
        if turn > 14:
            assert LIST in shown(asked.transcript)
    assert older not in shown(asked.transcript)


@pytest.mark.proves("S-4")
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("todo_first", [True, False])
def test_a_flood_next_to_the_todo_list_is_cut_and_the_list_stays(wire: str, todo_first: bool) -> None:
    """One call of an answer shows the list, another floods the window; on one wire both results are in one message."""
    stage = Stage(wire=wire, window=32_000)
    stage.prompt(GOAL)
    flood = viewed(1, "", "a line of the log\n" * 4_000, name="run_tests")
    todo = viewed(2, "", LIST, name="ctx_todo", action="add")
    stage.turn(*((todo, flood) if todo_first else (flood, todo)))
    asked = stage.until_asked()
    text = shown(asked.transcript)
    assert LIST in text
    assert text.count("a line of the log") < 1_000
    assert "page(" in text
    assert stage.size <= 32_000
    assert stage.session.state.handoffs == 0
    assert violations(dump(asked.transcript, wire), wire) == []


@pytest.mark.proves("S-4")
def test_a_result_with_the_id_of_the_todo_call_may_go() -> None:
    """Some servers number the calls of each answer anew: only the result of the todo call itself stays."""
    stage = Stage(window=32_000)
    stage.prompt(GOAL)
    stage.turn(viewed(1, "", LIST, name="ctx_todo", action="add"))
    for number in range(30):
        stage.until_asked()
        stage.turn(viewed(1, f"src/file{number}.py", "a line of text\n" * 200))
    assert LIST in shown(stage.until_asked().transcript)
    assert stage.session.state.compactions
    assert stage.session.state.handoffs == 0


@pytest.mark.proves("S-4")
def test_a_pinned_message_stays() -> None:
    """A message that would go first stays unchanged through every compaction once it is pinned."""
    stage = busy("openai-chat", 40)
    stage.until_asked()
    first = min(edit.index for edit in stage.session.state.transcript.edits if isinstance(edit, Cleared))
    pinned = busy("openai-chat", 0)
    while len(pinned.session.state.transcript.entries) <= first:
        pinned.view("a line of text\n" * 200)
    state = pinned.session.state
    pinned.session.state = replace(state, transcript=state.transcript.pin(first))
    for _ in range(60):
        asked = pinned.until_asked()
        assert state.transcript.entries[first].raw in [entry.raw for entry in asked.transcript.visible()]
        pinned.view("a line of text\n" * 200)
    assert pinned.session.state.compactions >= 2


@pytest.mark.proves("S-4")
def test_a_plan_is_printed_before_it_is_carried_out_and_each_of_its_steps_shrinks() -> None:
    """The step holds the plan; nothing changes until the driver reports that it was applied."""
    stage = busy("openai-chat", 0)
    while not isinstance(step := stage.step(), Compact):
        stage.view("a line of text\n" * 200)
    before = stage.session.state
    assert str(step.plan).splitlines()
    assert all(one.after_tokens < one.before_tokens for one in step.plan.steps)
    assert stage.session.state is before
    stage.compact(step)
    assert stage.size <= step.plan.after_tokens
    assert set(stage.session.state.transcript.handles()) == set(stage.kept)


@pytest.mark.proves("S-4")
def test_compactions_are_rare_and_free_a_good_part() -> None:
    """At least ten turns of 3,000 tokens come between two cuts, so the prefix is not rewritten at every turn."""
    stage = Stage()
    stage.prompt(GOAL)
    at: list[int] = []
    for turn in range(150):
        before = stage.session.state.compactions
        stage.until_asked()
        at += [turn] * (stage.session.state.compactions - before)
        stage.view("a line of text\n" * 200)
    assert len(at) >= 3
    assert min(later - earlier for earlier, later in pairwise(at)) >= 10


@pytest.mark.proves("S-4")
def test_the_todo_list_goes_into_the_handoff_by_priority() -> None:
    """Open items come by priority, with done ones; the list is the session's own, whatever was forgotten."""
    stage = Stage()
    stage.prompt(GOAL)
    for title, priority in (("later", 3), ("soon", 1), ("done", 2), ("dropped", 1), ("soon", 1)):
        stage.feed(Noted(action="add", title=title, priority=priority))
    stage.feed(Noted(action="done", title="done"))
    stage.feed(Noted(action="drop", title="dropped"))
    passed_on = stage.session.handoff()
    assert passed_on.pending_tasks == ("soon", "later")
    assert passed_on.completed_tasks == ("done",)
    assert passed_on.goal == GOAL
    assert Todo(title="done", priority=2, is_done=True) in stage.session.state.todos


@pytest.mark.proves("S-3", "S-4")
def test_what_is_handed_on_adds_up_over_many_fresh_starts() -> None:
    """The goal stays the first one, word for word, and files, turns and commands of all parts of the work are there."""
    stage = Stage(limits="swe-1.5", window=16_000, reserve=1_000)
    stage.prompt(GOAL)
    for piece in range(5):
        stage.turn(viewed(900 + piece, f"src/part{piece}.py", "edited", name="edit_file", text="token"))
        for _ in range(49):
            stage.until_asked()
            stage.view("a line of text\n" * 10)
        step = stage.step()
        assert isinstance(step, HandOff)
        passed_on = step.handoff
        assert passed_on.goal == GOAL
        assert passed_on.next_step == ""
        assert passed_on.modified_files == tuple(f"src/part{number}.py" for number in range(piece + 1))
        assert [event.turn for event in passed_on.file_history] == [1 + 50 * number for number in range(piece + 1)]
        assert len(passed_on.handles) <= 50
        stage.hand_off(step)
        asked = stage.step()
        assert isinstance(asked, Ask)
        assert shown(asked.transcript).count(GOAL) == 2, "in what was handed on, and in the user's own words"


def test_a_handoff_that_cannot_be_loaded_is_not_taken() -> None:
    """Such a handoff is an error of the caller and changes nothing."""
    stage = Stage()
    stage.prompt(GOAL)
    before = stage.session.state
    with pytest.raises(CallerError):
        stage.feed(HandedOff(handoff={}, text="Go on.", reason="turns"))
    assert stage.session.state is before


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("S-4", "S-13")
@pytest.mark.parametrize("wire", WIRES)
def test_a_provider_that_refuses_everything_is_asked_four_times_at_most(wire: str) -> None:
    """Each request is smaller than the one before; then the work stops with a reason, and the next prompt is sent."""
    stage = busy(wire, 10)
    sizes: list[int] = []
    for _ in range(30):
        step = stage.step()
        if isinstance(step, Stop):
            break
        if isinstance(step, Ask):
            sizes.append(stage.size)
            stage.refuse()
        else:
            stage.perform(step)
    assert isinstance(step, Stop)
    assert step.reason == "irreducible"
    assert step.message
    assert 2 <= len(sizes) <= 4
    assert sizes == sorted(set(sizes), reverse=True)
    stage.prompt("Something else.")
    assert isinstance(stage.step(), Ask)


@pytest.mark.proves("S-4")
def test_a_reply_that_leaves_no_room_is_asked_for_shorter_until_something_is_forgotten() -> None:
    """The history stays and the reserve shrinks; the next compaction makes room for a full reply again."""
    stage = busy("openai-chat", 0)
    before = stage.session.state.transcript
    stage.refuse(kind="context_total", limit=16_000, input=14_000, output=8_000, total=22_000, bound="exact")
    step = stage.step()
    assert isinstance(step, Compact)
    assert step.strategy == "lower_reserve"
    stage.compact(step)
    asked = stage.step()
    assert isinstance(asked, Ask)
    assert asked.reserve_tokens == 16_000 - 14_000 - 16
    assert asked.transcript == before
    while not stage.session.state.compactions:
        stage.view("a line of text\n" * 200)
        asked = stage.until_asked()
    assert asked.reserve_tokens == 16_000 // 4


def refused(*, can_summarise: bool = True) -> Stage:
    """Return a session whose words fill the window of a provider, which is smaller than assumed."""
    stage = Stage(can_summarise=can_summarise)
    stage.prompt(GOAL)
    for number in range(12):
        stage.turn(text=f"Remark {number}. " + "word " * 700)
        stage.prompt(f"And {number}? " + "why " * 500)
    stage.refuse(limit=20_000, input=stage.size, bound="exact", unit="tokens")
    return stage


@pytest.mark.proves("S-4")
def test_a_summary_is_asked_for_once_and_stands_for_what_it_was_made_of() -> None:
    """The model's summary replaces the span; without a usable summary the ladder continues."""
    stage = refused()
    step = stage.step()
    assert isinstance(step, Summarise)
    span = summary_span(stage.session.state.transcript)
    assert span is not None
    stage.feed(Summarised(text="The user asked why, twelve times; remarks were made."))
    step = stage.step()
    assert isinstance(step, Compact)
    assert step.strategy == "model_summary"
    stage.compact(step)
    asked = stage.step()
    assert isinstance(asked, Ask)
    assert "twelve times" in shown(asked.transcript)
    for text in (None, "", "Error: overloaded"):
        stage = refused()
        stage.feed(Summarised(text=text))
        step = stage.step()
        assert not isinstance(step, Summarise | Ask)
        assert not isinstance(step, Compact) or step.strategy != "model_summary"
        stage.until_asked()
        assert stage.size < 20_000


@pytest.mark.proves("S-4", "S-11")
def test_a_provider_that_fails_while_it_summarises_does_not_get_the_refused_request_again() -> None:
    """The session asks for the summary again, waits or ends, but never resends the refused request unchanged."""
    stage = refused()
    for _ in range(4):
        stage.fail()
        step = stage.step()
        if isinstance(step, Wait):
            stage.perform(step)
            step = stage.step()
        assert isinstance(step, Summarise | HandOff | Stop), step


@pytest.mark.proves("S-4")
def test_a_summary_of_an_interrupted_recovery_is_forgotten() -> None:
    """That summary was made of another span than the one that the next refusal is about."""
    stage = refused()
    stage.feed(Summarised(text="Stale words."))
    stage.interrupt()
    stage.prompt("And now? " + "why " * 500)
    stage.refuse(limit=20_000, input=stage.size, bound="exact", unit="tokens")
    assert isinstance(stage.step(), Summarise)


@pytest.mark.proves("R-3", "S-4")
def test_a_fresh_start_that_would_be_larger_than_what_was_refused_is_not_made() -> None:
    """If two words are refused without a number, adding a handoff would only make the request larger."""
    stage = Stage(window=16_000)
    stage.prompt("Go on.")
    assert isinstance(stage.step(), Ask)
    stage.refuse()
    step = stage.step()
    assert isinstance(step, Stop), step
    assert step.reason == "irreducible"


@pytest.mark.proves("S-4", "S-13")
def test_words_that_no_window_holds_stop_the_work_with_a_bill_and_the_next_words_go_on() -> None:
    """A prompt larger than the window cannot shrink: the bill names it; a shorter prompt replaces it."""
    stage = Stage(window=16_000)
    stage.prompt("Short.")
    stage.turn()
    stage.prompt("x" * 40_000)
    step = stage.step()
    assert isinstance(step, Ask), "the provider may know better"
    stage.refuse(limit=16_000, input=40_000, bound="exact", unit="tokens")
    for _ in range(10):
        step = stage.step()
        if isinstance(step, Stop):
            break
        if isinstance(step, Ask):
            stage.refuse(limit=16_000, input=stage.size, bound="exact", unit="tokens")
        else:
            stage.perform(step)
    assert isinstance(step, Stop)
    assert step.reason == "irreducible"
    assert "newest user message" in step.message
    stage.prompt("The short form, then.")
    stage.until_asked()
    assert stage.size < 16_000


@pytest.mark.proves("S-13", "S-3")
def test_a_fresh_start_that_a_driver_writes_too_long_is_not_begun_again() -> None:
    """The request is sent, or refused and recovered; no handoff follows another without an answer in between."""
    stage = Stage(window=16_000, reserve=1_000)
    stage.prompt("x" * 10_000)
    stage.turn()
    stage.fill(14_400)
    step = stage.step()
    assert isinstance(step, HandOff)
    written = json.loads(encode(step.handoff))
    stage.feed(HandedOff(handoff=written, text="long " * 3_000, reason=step.reason, evidence=step.evidence))
    assert isinstance(stage.until_asked(2), Ask)
    assert stage.session.state.handoffs == 1


@pytest.mark.proves("R-3")
def test_a_fresh_start_after_refusals_asks_for_no_longer_reply_than_what_was_refused() -> None:
    """A fresh start retries the same request: with the full reply again, it could be the larger one."""
    stage = Stage(window=16_000, reserve=8_000)
    stage.prompt("Look.")
    for _ in range(6):
        stage.view("a line\n" * 120)
    refused: list[int] = []
    for _ in range(3):
        asked = stage.until_asked()
        refused.append(stage.size + asked.reserve_tokens)
        stage.refuse(kind="context_total", limit=2_500, total=stage.size + asked.reserve_tokens + 9_000)
    begun = [asked.reserve_tokens for asked in stage.steps if isinstance(asked, Ask)]
    assert begun == sorted(begun, reverse=True)
    assert refused == sorted(set(refused), reverse=True)
    handoff = stage.session.handoff("context")
    stage.feed(HandedOff(handoff=json.loads(encode(handoff)), text="Go on.", reason="context", evidence="refused"))
    assert stage.session.state.reserve_tokens == begun[-1] < 8_000


@pytest.mark.proves("S-2", "S-13")
def test_a_small_cut_is_worth_it_where_the_reply_would_not_fit() -> None:
    """The cut is less than a tenth and above every rung, but without it there would be no room for an answer."""
    for size, expected in ((14_900, Ask), (15_300, Compact)):
        stage = Stage(window=16_000, reserve=1_000)
        stage.prompt("x" * 200)
        for _ in range(6):
            stage.view("a line\n" * 25)
        stage.turn()
        stage.fill(size)
        step = stage.step()
        assert isinstance(step, expected), size
    assert isinstance(step, Compact)
    assert step.plan.freed_tokens * 10 < size
    stage.compact(step)
    asked = stage.step()
    assert isinstance(asked, Ask)
    assert asked.reserve_tokens == 1_000

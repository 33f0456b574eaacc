"""What does each strategy propose, and what does it leave alone, on every wire?"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.context.compaction.talks import (
    HANDLE,
    WIRES,
    Shelf,
    did,
    edited,
    lines,
    more,
    result_of,
    seen,
    step,
    told,
    viewed,
)
from tests.wires.strategies import TELLERS, Story

from penstock import compaction
from penstock.context.compaction import (
    Clear,
    FailedAttempts,
    NewLines,
    Offload,
    Spans,
    Stale,
    Summary,
    apply,
    plan,
    plans,
    results,
    spans,
    summary_problem,
    summary_span,
)
from penstock.context.sized import ESTIMATOR, high_of, size_of
from penstock.text import stand_ins
from penstock.text.tokens import Count
from penstock.wires import dump, load, violations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.wires.strategies import Round

    from penstock.context.compaction import PlanStep, Strategy

wires = pytest.mark.parametrize("wire", WIRES)


def fillers(number: int, size: int = 60, prefix: str = "other") -> list[Round]:
    """Return steps that read one file each."""
    return [step(viewed(f"{prefix}{at}.py", size)) for at in range(number)]


def cleared(steps: Iterable[PlanStep]) -> list[str | None]:
    """Return the calls whose results are removed."""
    return [made.call_id for made in steps]


# ── Stale ────────────────────────────────────────────────────────────────────────────────────────────────────────


@wires
def test_the_same_command_again_makes_the_earlier_result_needless(wire: str) -> None:
    """Of two runs of one command the newer stays; a different command stays too."""
    first, again = did("bash", lines(60), command="pytest -q"), did("bash", lines(60), command="pytest -q")
    other = did("bash", lines(60), command="pytest -q tests/test_lexer.py")
    talk = told(wire, step(first), step(other), step(again))
    assert cleared(Stale().steps(seen(talk))) == [first.id]
    unanswered = load(TELLERS[wire](Story(rounds=(step(first), step(other), step(again))))[:-1], wire)
    assert Stale().steps(seen(unanswered)) == []


@pytest.mark.proves("S-4")
@wires
def test_a_newer_view_that_covers_an_older_one_replaces_it(wire: str) -> None:
    """Lines 11 to 40 are removed once 1 to 60 are shown; lines 41 to 120 are not covered and stay."""
    inner = did("view", lines(30, 11), path="parser.py", offset=10, limit=30)
    beyond = did("view", lines(80, 41), path="parser.py", offset=40, limit=80)
    outer = did("view", lines(60), path="parser.py", offset=0, limit=60)
    talk = told(wire, step(inner), step(beyond), step(outer))
    assert cleared(Stale().steps(seen(talk))) == [inner.id]


def test_other_lines_that_a_command_shows_replace_none_of_a_file() -> None:
    """A command that shows part of a file is a read of that part; the same part read again replaces it, whatever came between."""
    first, same, other = (
        did("bash", lines(60, at), command=f"sed -n '{at},{at + 59}p' parser.py") for at in (1, 1, 200)
    )
    assert Stale().steps(seen(told("anthropic", step(first), step(other), *fillers(25)))) == []
    assert cleared(Stale().steps(seen(told("anthropic", step(first), step(same), *fillers(25))))) == [first.id]


@pytest.mark.parametrize(("others", "is_found"), [(19, True), (20, False)])
def test_a_read_is_compared_with_the_twenty_newest_of_its_file(others: int, is_found: bool) -> None:
    """A file that is read a thousand times does not cost a million comparisons."""
    first, same = viewed("parser.py", 12, offset=0, limit=12), viewed("parser.py", 12, offset=0, limit=12)
    later = [step(viewed("parser.py", 12, offset=50 * at, limit=12)) for at in range(1, others + 1)]
    talk = told("openai-chat", step(first), step(same), *later)
    assert cleared(Stale().steps(seen(talk))) == [first.id] * is_found


@wires
def test_a_file_that_changed_since_is_stale_only_where_the_same_lines_were_read_again(wire: str) -> None:
    """One edited line leaves the others as they were; the newest view of the file stays at any age."""
    old, other = (did("view", lines(60, at), path="parser.py", offset=at - 1, limit=60) for at in (1, 200))
    newest = did("view", lines(60), path="parser.py", offset=0, limit=60)
    later = [step(did("bash", "ok", command=f"make {at}")) for at in range(30)]
    talk = told(wire, step(old), step(other), step(edited("parser.py")), *later)
    assert Stale().steps(seen(talk)) == []
    assert cleared(Stale().steps(seen(more(talk, step(newest), *later)))) == [old.id]


@wires
def test_the_age_of_a_result_is_counted_in_answers(wire: str) -> None:
    """The count does not depend on how many messages or items a wire makes of one answer; 0 is what no model has seen."""
    rounds = [step(viewed("a.py"), viewed("b.py"), text="I look at both.") for _ in range(4)]
    assert [result.age_turns for result in seen(told(wire, *rounds)).results] == [3, 3, 2, 2, 1, 1, 0, 0]


@wires
def test_what_no_model_has_seen_is_never_stale(wire: str) -> None:
    """Two equal calls in one answer both have new results."""
    one, two = viewed("parser.py"), viewed("parser.py")
    assert Stale().steps(seen(told(wire, step(one, two)))) == []


# ── Clear ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("S-4")
@wires
def test_the_newest_five_results_stay_and_the_oldest_go_first(wire: str) -> None:
    """If more must be freed than there is, all the others are removed; if little must be freed, only the oldest of them."""
    calls = [viewed(f"file{at}.py") for at in range(12)]
    talk = told(wire, *map(step, calls))
    everything = cleared(Clear().steps(seen(talk, over_tokens=10**6)))
    assert everything == [call.id for call in calls[:7]]
    few = cleared(Clear().steps(seen(talk, over_tokens=1_500, calls_left=10_000)))
    assert few == everything[: len(few)]
    assert 1 < len(few) < 7


@pytest.mark.proves("S-4")
def test_no_more_results_are_cleared_than_free_what_is_wanted() -> None:
    """The oldest whose stubs free exactly the goal are removed; one more token takes one more result."""
    talk = told("openai-chat", *[step(viewed(f"file{at}.py", 100 + at)) for at in range(12)])
    everything = Clear().steps(seen(talk, over_tokens=10**6))
    freed = list(accumulate(one.before_tokens - one.after_tokens for one in everything))
    for number in (3, 4, 5):
        for one, count in ((0, number), (1, number + 1)):
            goal = freed[number - 1] + one
            assert Clear().steps(seen(talk, over_tokens=goal, calls_left=100_000)) == everything[:count]


@wires
def test_a_tiny_early_result_stays_if_rewriting_what_follows_is_not_repaid(wire: str) -> None:
    """The large result late in the prompt frees the goal alone; with many calls left the early one is removed as well."""
    tiny, flood = viewed("tiny.py", 12), viewed("flood.py", 600)
    words = "The plan is as follows, and it is long. " * 400
    talk = told(wire, step(tiny), step(text=words, user="Go on."), step(flood), *fillers(6, 2))
    few_calls = Clear().steps(seen(talk, over_tokens=8_000, calls_left=1))
    assert cleared(few_calls) == [flood.id]
    many_calls = Clear().steps(seen(talk, over_tokens=8_000, calls_left=1_000))
    assert cleared(many_calls) == [tiny.id, flood.id]


@pytest.mark.proves("S-4")
@wires
def test_the_newest_view_of_a_modified_file_and_what_no_model_has_seen_are_not_cleared(wire: str) -> None:
    """They are cleared only if the caller says that they may be."""
    view, new = viewed("parser.py"), [viewed(f"new{at}.py") for at in range(7)]
    talk = told(wire, step(view), step(edited("parser.py")), *fillers(3), step(*new))
    going = cleared(Clear(keep=0).steps(seen(talk, over_tokens=8_000)))
    assert len(going) == 3
    assert not {view.id, *(call.id for call in new)} & set(going)
    assert {view.id, *(call.id for call in new)} <= set(
        cleared(Clear(keep=0, active=True).steps(seen(talk, over_tokens=10**6)))
    )


def test_newest_views_that_would_fill_the_window_are_views_like_others() -> None:
    """The newest stay within half of the limit: with 30 files changed there must be room for something else."""
    views = [viewed(f"file{at}.py") for at in range(30)]
    talk = told("openai-chat", *[step(view, edited(f"file{at}.py")) for at, view in enumerate(views)])
    view = seen(talk)
    held = seen(talk, over_tokens=view.size_tokens - 10_000)
    active = [result.part.call_id for result in held.results if held.is_active(result)]
    assert active == [call.id for call in views[-len(active) :]]
    assert 4_000 < sum(result.tokens for result in held.results if held.is_active(result)) <= 5_000


# ── Offload ──────────────────────────────────────────────────────────────────────────────────────────────────────


@wires
def test_one_flood_is_cut_to_its_ends_and_nothing_else_is(wire: str) -> None:
    """Its first and last lines are shown with the way to the whole; its call and every neighbour stay."""
    flood = did("bash", lines(5_000), command="make")
    talk = told(wire, step(viewed("a.py")), step(flood, viewed("b.py")))
    made = plan(talk, 8_000, [Offload()])
    assert cleared(made.steps) == [flood.id]
    after = apply(talk, made, Shelf())
    shown = result_of(after, flood)
    assert shown.startswith("[OUTPUT TRUNCATED]\nTool 'bash' returned ~")
    assert "value_1 " in shown
    assert "value_5000 " in shown
    assert 'page(handle="hndl' in shown
    assert [e.calls for e in after.visible()] == [e.calls for e in talk.visible()]
    assert violations(dump(after, wire), wire) == []


@wires
def test_forty_parallel_results_share_alike(wire: str) -> None:
    """All arrived together and no model has seen any: each keeps the same share, and every pair is whole."""
    calls = [viewed(f"file{at}.py", 200) for at in range(40)]
    talk = told(wire, step(*calls))
    made = plan(talk, 40_000)
    assert {one.strategy for one in made.steps} == {"offload"}
    assert len({one.after_tokens // 50 for one in made.steps}) == 1
    after = apply(talk, made, Shelf())
    assert all("value_1 " in result_of(after, call) for call in calls)
    assert violations(dump(after, wire), wire) == []


def test_floods_that_came_together_keep_half_where_half_is_enough() -> None:
    """The room is halved, and halved again, no further than the limit requires."""
    calls = [did("bash", lines(1_000), command=f"make {at}") for at in range(4)]
    talk = told("openai-chat", step(*calls, text="The plan is as follows, and it is long. " * 9_000))
    cuts = {room: [Offload().cut(seen(talk), one, room) for one in seen(talk).results] for room in (1_000, 500, 250)}
    offload = Offload(max_tokens=1_000)
    for room, larger in ((500, 1_000), (250, 500)):
        over_tokens = sum(one.before_tokens - one.after_tokens for one in cuts[larger]) + len(calls) * 100
        assert list(offload.steps(seen(talk, over_tokens=over_tokens))) == cuts[room]
    first = cuts[1_000][0]
    assert first is not None
    freed = first.before_tokens - first.after_tokens
    for over_tokens, number in ((freed, 1), (freed + 1, 2)):  # no more is cut than has to go, and no less
        assert len(offload.steps(seen(talk, over_tokens=over_tokens))) == number
    estimated = sum(result.tokens - 1_000 for result in seen(talk).results)
    for over_tokens, room in ((estimated, 1_000), (estimated + 1, 500)):  # what is likely enough is tried first
        assert offload.steps(seen(talk, over_tokens=over_tokens))[0] == cuts[room][0]


def test_a_flood_is_more_than_twice_what_it_keeps() -> None:
    """At exactly twice as much it stays whole, old or new."""
    flood = did("bash", lines(204), command="make")
    plans_ahead = "The plan is as follows, and it is long. " * 9_000
    for later in ((), fillers(1, 2)):
        view = seen(told("openai-chat", step(flood, text=plans_ahead), *later), over_tokens=10_000)
        (tokens,) = [result.tokens for result in view.results if result.part.call_id == flood.id]
        for most, cut in ((tokens - tokens // 2, []), (tokens // 2 - 1, [flood.id])):
            assert cleared(Offload(max_tokens=most, min_tokens=most).steps(view)) == cut
        assert tokens % 2 == 0


def test_how_far_floods_are_cut_is_reckoned_with_those_that_are_cut() -> None:
    """A result of exactly twice the room is not counted, as it frees nothing before the room is halved."""
    calls = [did("bash", lines(204), command=f"make {at}") for at in range(4)]
    talk = told("openai-chat", step(*calls, text="The plan is as follows, and it is long. " * 9_000))
    view = seen(talk, over_tokens=1_000)
    (tokens,) = {result.tokens for result in view.results}
    for most, room in ((tokens // 2, tokens // 4), (tokens // 2 - 1, tokens // 2 - 1), (tokens // 3, tokens // 3)):
        made = Offload(max_tokens=most).steps(view)
        assert made[0] == Offload().cut(view, view.results[0], room)


def test_a_text_of_as_many_tokens_as_bytes_is_a_text() -> None:
    """Its ends are shown; only an image or a document takes more."""

    class Bytes:
        def count(self, text: str) -> Count:
            size = len(text.encode())
            return Count(tokens=size, low=size, high=size, method="exact:bytes")

    view = replace(seen(told("openai-chat", step(viewed("a.py", 100)))), counter=Bytes())
    assert "value_100 " in Offload().cut(view, view.results[0], 1_000).text


def test_the_newest_view_of_a_modified_file_is_cut_only_if_that_is_said() -> None:
    """Otherwise another result gives way, even a smaller one."""
    view, other = viewed("parser.py", 400), viewed("other.py", 300)
    plans = step(text="The plan is as follows, and it is long. " * 1_000, user="Go on.")
    talk = told("openai-chat", plans, step(view), step(edited("parser.py")), step(other))
    assert cleared(Offload().steps(seen(talk, over_tokens=3_000))) == [other.id]
    assert cleared(Offload(active=True).steps(seen(talk, over_tokens=3_000))) == [view.id]


# ── NewLines ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_read_is_cut_to_the_lines_that_no_earlier_one_shows() -> None:
    """A result that is not a read is skipped, and so is a read that was cut."""
    again = [viewed("parser.py", 40) for _ in range(3)]
    talk = told("openai-chat", step(did("bash", lines(40), command="make")), *map(step, again))
    assert cleared(NewLines().steps(seen(talk))) == [call.id for call in again[1:]]


@wires
def test_a_second_read_shows_only_the_lines_that_are_new(wire: str) -> None:
    """What an earlier result shows becomes one line that names the range; the rest stays as it was read."""
    first = did("view", lines(40), path="parser.py", offset=0, limit=40)
    second = did("view", lines(60, 21), path="parser.py", offset=20, limit=60)
    made = NewLines().steps(seen(told(wire, step(first), step(second))))
    assert cleared(made) == [second.id]
    head, as_before, *rest = made[0].kept_text.split("\n")
    assert head.startswith(
        "[20 of 60 lines are as an earlier result shows them and left out here; the whole: page(handle="
    )
    assert as_before.startswith('[20 lines as before, from "21|')
    assert rest == lines(40, 41).split("\n")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lines(40), lines(40, 2)),
        ("\n" * 40, "\n" * 40),
        (lines(7), lines(7)),
        (lines(20), lines(20, word="other")),
    ],
    ids=["an inserted line moves the numbers", "blank lines alone", "fewer lines than are worth it", "other lines"],
)
def test_what_is_not_the_same_row_of_lines_is_new(first: str, second: str) -> None:
    """Lines with shifted numbers, blank rows and short rows are shown again."""
    if first == lines(40):
        second = second.replace("value_2 ", "value_1 ").replace("\n3|", "\n4|")
        second = "\n".join(f"{at + 1}|{line.partition('|')[2]}" for at, line in enumerate(lines(40).split("\n"), 1))
    talk = told("openai-chat", step(did("view", first, path="a.py")), step(did("view", second, path="a.py")))
    assert NewLines().steps(seen(talk)) == []


@pytest.mark.parametrize(("first", "last"), [(1, 30), (31, 60), (11, 50), (1, 60)])
def test_a_second_read_within_the_first_has_nothing_new(first: int, last: int) -> None:
    """This holds wherever either of them ends."""
    seen_lines = results._Seen(8)
    seen_lines.add(lines(60).split("\n"))
    assert seen_lines.runs_of(lines(last - first + 1, first).split("\n")) == [(0, last - first + 1)]


def test_a_result_is_worth_a_stub_above_150_tokens() -> None:
    """A stub takes about 70: a result no larger than twice that stays, whichever strategy asks."""
    sizes = {}
    for words in range(100, 170):
        view = seen(told("openai-chat", step(did("bash", "a " * words, command="x"))))
        sizes[view.results[0].tokens] = bool(Clear(keep=0, active=True).steps(view))
    assert {150, 151} <= set(sizes)
    assert {size: size > 150 for size in sizes} == sizes


def test_a_second_read_that_would_be_no_smaller_is_shown_whole() -> None:
    """The line that replaces the others has its own size: if that is exactly what it saves, nothing is gained."""
    gained: set[int | None] = set()
    for words in range(20, 120):
        read = "\n".join(f"{at}|{'a ' * (words if at == 4 else 1)}" for at in range(1, 9))
        talk = told("openai-chat", step(did("view", read, path="a.py")), step(did("view", read, path="a.py")))
        gained |= {made.before_tokens - made.after_tokens for made in NewLines().steps(seen(talk))} or {None}
    assert {None, 1} <= gained
    assert 0 not in gained


def test_the_newest_view_of_a_modified_file_is_shown_whole() -> None:
    """An edit starts from it, and lines that only an older result shows would be lost once that is cleared."""
    talk = told("openai-chat", step(viewed("a.py")), step(edited("a.py")), step(viewed("a.py")))
    assert NewLines().steps(seen(talk, over_tokens=100)) == []


# ── Failed ───────────────────────────────────────────────────────────────────────────────────────────────────────


def failed_edits(number: int) -> list[Round]:
    """Return steps that each tried the same edit in vain."""
    error = "Error: no match for the old text"
    return [step(did("edit_file", error, failed=True, path="parser.py")) for _ in range(number)]


@pytest.mark.proves("S-4")
@wires
def test_a_row_of_failed_attempts_becomes_one_note_with_the_error_and_their_number(wire: str) -> None:
    """On the chat wire a failure is recognised by its words, on the others by its mark as well."""
    talk = told(wire, step(viewed("a.py")), *failed_edits(4), *fillers(3))
    made = FailedAttempts().steps(seen(talk))
    assert len(made) == 1
    assert "Left out here: 4 steps" in made[0].text
    assert "failed: edit_file parser.py: Error: no match for the old text (×4)" in made[0].text
    after = apply(talk, plan(talk, seen(talk).size_tokens - 10, [FailedAttempts()]), Shelf())
    assert violations(dump(after, wire), wire) == []
    assert "Error: no match" in next(entry.text for entry in after.visible() if "Left out here" in entry.text)


@wires
def test_a_turn_in_which_one_of_two_calls_went_well_did_not_fail(wire: str) -> None:
    """What the other call returned must not be removed with it."""
    both = [step(did("edit_file", "Error: no match", failed=True, path="a.py"), viewed("b.py")) for _ in range(3)]
    assert FailedAttempts().steps(seen(told(wire, *both, *fillers(3)))) == []


def test_two_failed_attempts_are_a_row_and_one_of_another_kind_is_not_part_of_it() -> None:
    """The two become a note; the failure right after them keeps the head of its error."""
    same = [did("edit_file", f"Error: no match\n{lines(30)}", failed=True, path="parser.py") for _ in range(2)]
    other = did("bash", f"Exit code 2\n{lines(30)}\nValueError: bad tab", failed=True, command="make")
    talk = told("anthropic", step(viewed("a.py")), *map(step, same), step(other), *fillers(3))
    note, head = FailedAttempts().steps(seen(talk))
    assert (note.call_id, head.call_id) == (None, other.id)
    assert "Left out here: 2 steps" in note.text


@wires
def test_a_single_old_failure_keeps_its_head(wire: str) -> None:
    """The long output of a failed command is removed, and the line that says what failed stays."""
    run = did(
        "bash", f"Exit code 2\n{lines(60)}\nTraceback (most recent call last):\nValueError: bad tab", command="make"
    )
    talk = told(wire, step(run), *fillers(3))
    (made,) = FailedAttempts().steps(seen(talk))
    assert made.call_id == run.id
    assert made.text.startswith("[failed attempt, cleared: ValueError: bad tab: bash make; about ")
    for newer in range(3):  # it is left as it is while it is among the three newest answers
        assert not FailedAttempts().steps(seen(told(wire, step(run), *fillers(newer)))), newer


# ── Spans ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("S-4")
@wires
def test_finished_turns_become_a_note_of_what_was_done_and_said(wire: str) -> None:
    """The note has files, commands and the last remarks; the user's words, the task and the newest turns stay as they are."""
    talk = told(
        wire,
        step(viewed("lexer.py"), text="I look at the lexer."),
        step(edited("parser.py")),
        step(text="It is done.", user="Never touch the README."),
        step(
            did("bash", f"Exit code 1\nFAILED test_tabs\n{lines(60)}", command="pytest -q"),
            text="One test fails: tabs.",
        ),
        *fillers(2),
    )
    after = apply(talk, plan(talk, seen(talk).size_tokens - 10, [Spans()], low_water=0.1), Shelf())
    notes = "\n".join(entry.text for entry in after.visible() if entry.is_note)
    for part in ("modified: parser.py", "read: lexer.py", "I look at the lexer.", "One test fails: tabs."):
        assert part in notes
    assert "ran: pytest -q → exit 1, FAILED test_tabs" in notes
    said = [entry.text for entry in after.visible() if entry.speaks]
    assert said == ["Fix the parser.", "Never touch the README."]
    assert violations(dump(after, wire), wire) == []


@wires
def test_the_words_of_the_user_go_only_where_that_is_said_and_then_as_quotations(wire: str) -> None:
    """The task and the newest words stay even then."""
    talk = told(
        wire, step(viewed("a.py"), user="Never touch the README."), *fillers(3), step(viewed("b.py"), user="Go on.")
    )
    after = apply(talk, plan(talk, 500, [Spans(users=True, keep_turns=0)]), Shelf())
    assert [entry.text for entry in after.visible() if entry.speaks] == ["Fix the parser.", "Go on."]
    assert "user: Never touch the README." in "\n".join(entry.text for entry in after.visible() if entry.is_note)


@wires
def test_a_note_of_notes_repeats_what_they_repeat_and_counts_what_they_count(wire: str) -> None:
    """The frame of a note is not quoted in another one, and the older handle is found through the newer one."""
    shelf = Shelf()
    talk = told(wire, *[step(viewed(f"old{at}.py"), text=f"Remark {at}.") for at in range(6)], *fillers(2))
    once = apply(talk, plan(talk, seen(talk).size_tokens // 2, [Spans()], low_water=0.4), shelf)
    grown = more(once, *[step(viewed(f"new{at}.py"), text=f"Later remark {at}.") for at in range(6)])
    twice = apply(grown, plan(grown, seen(grown).size_tokens // 2, [Spans()], low_water=0.1), shelf)
    (note,) = [entry.text for entry in twice.visible() if "Left out here" in entry.text]
    assert note.count("Left out here") == 1
    assert "Earlier steps are left out" not in note
    assert "Remark 0." in note
    assert "read: old0.py; old1.py" in note
    assert "[Left out here: 12 steps" in note
    assert all(f"old{at}.py" in shelf.all_behind(note) for at in range(6))


@wires
def test_a_turn_with_the_newest_view_of_a_modified_file_is_not_left_out(wire: str) -> None:
    """The turns around it are left out."""
    view = viewed("parser.py")
    talk = told(wire, *fillers(3), step(view), step(edited("parser.py")), *fillers(3, prefix="late"))
    after = apply(talk, plan(talk, seen(talk).size_tokens // 2, [Spans()], low_water=0.1))
    assert result_of(after, view) == view.result
    assert "read: other0.py" in "\n".join(entry.text for entry in after.visible())


# ── Summary ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "Error: 529 overloaded",
        "I'm sorry, but I cannot summarise that.",
        "prompt is too long: 213462 tokens > 200000 maximum",
        '{"error": {"message": "' + "the request is too large, " * 100 + '"}}',
        "<!DOCTYPE html><html><body>" + "<p>Bad gateway</p>" * 100,
        "Traceback (most recent call last):\n" + '  File "agent.py", line 1, in run\n' * 50 + "ValueError: no",
    ],
    ids=["empty", "blank", "error", "refusal", "overflow", "long JSON", "long HTML", "long traceback"],
)
def test_an_empty_text_or_an_error_is_no_summary(text: str) -> None:
    """In other systems both have replaced a history."""
    assert summary_problem(text)
    talk = told("openai-chat", *fillers(6))
    span = summary_span(talk)
    assert span is not None
    assert Summary(text=text, first=span[0], last=span[1]).steps(seen(talk)) == []


@pytest.mark.parametrize(
    "text",
    ["<summary>The limit is 250.</summary>", "The parser is fixed; the error was in line 3.", "Read a.py: TAB is 9."],
)
def test_a_summary_may_speak_of_errors_and_be_in_a_tag(text: str) -> None:
    """It is valid as long as it does not begin like an error."""
    assert summary_problem(text) == ""


@wires
def test_a_summary_takes_the_place_of_what_it_sums_up_and_is_kept_in_a_later_note(wire: str) -> None:
    """A summary larger than what it replaces is not taken."""
    talk = told(wire, *[step(viewed(f"a{at}.py", 10), text=f"Remark {at}.") for at in range(8)])
    span = summary_span(talk)
    assert span is not None
    good = Summary(text="The limit is 250.", first=span[0], last=span[1])
    shelf = Shelf()
    after = apply(talk, plan(talk, seen(talk).size_tokens - 10, [good]), shelf)
    (note,) = [entry.text for entry in after.visible() if "Left out here" in entry.text]
    assert note.endswith("\nThe limit is 250.")
    assert "a model's summary follows" in note
    assert violations(dump(after, wire), wire) == []
    large = Summary(text="word " * 20_000, first=span[0], last=span[1])
    assert large.steps(seen(talk)) == []
    grown = more(after, *fillers(6))
    later = apply(grown, plan(grown, seen(grown).size_tokens // 2, [Spans()], low_water=0.1), shelf)
    assert "noted: The limit is 250." in "\n".join(entry.text for entry in later.visible())


def test_a_single_turn_is_not_summed_up() -> None:
    """Its summary would cost a call and replace only one step; the newest turn stays."""
    first, *others = fillers(3)
    two, three = told("openai-chat", first, others[0]), told("openai-chat", first, *others)
    assert summary_span(two) is None
    assert summary_span(three) == (three.turns()[1].first, three.turns()[2].last)


def test_the_longest_row_of_turns_is_summed_up() -> None:
    """Turns are separated by what has to stay, first or last."""
    talk = told("openai-chat", *fillers(8))
    for at, row in ((2, (3, 6)), (5, (0, 4))):
        turn = talk.turns()[at + 1]
        ((index, call),) = [(entry.index, result.call_id) for entry in turn.entries for result in entry.results]
        turns = [talk.turns()[1 + part] for part in row]
        assert summary_span(talk, frozenset({(index, call)})) == (turns[0].first, turns[1].last)


def test_the_newest_answers_are_not_finished_turns() -> None:
    """An answer of one message is one of them; what precedes the answers that stay is finished."""
    talk = told("openai-chat", *fillers(3), step(text="All were read."))
    turns = talk.turns()
    for keep in (1, 2, 4):
        assert spans.finished_turns(seen(talk), keep) == list(turns[1 : len(turns) - keep])
    noted = talk.drop_span(turns[1].first, turns[2].last, "left out")
    (note,) = [turn for turn in noted.turns() if turn.kind == "note"]
    assert [spans.finished_turns(seen(noted), keep) for keep in (2, 3)] == [[note], []]


def test_a_long_text_that_begins_like_an_error_is_a_summary() -> None:
    """From 500 characters on it is one, as no gateway writes an error that long."""
    text = "Error handling was moved into the reader. " * 12
    assert summary_problem(text[:499].strip("\n").ljust(499, ".")) == "it is an error text"
    assert summary_problem(text[:500].ljust(500, ".")) == ""


def test_the_last_resort_leaves_a_line_of_each_row_whoever_speaks_in_it() -> None:
    """The user's own words do not interrupt a row; only the newest stay. Nothing that was removed is repeated."""
    talk = told(
        "openai-chat",
        *fillers(2),
        step(text="Well. " * 9, user="Go on. " * 9),
        *fillers(2),
        step(text="Well. " * 9, user="And now."),
        *fillers(2),
    )
    newest = max(turn.first for turn in talk.turns() if turn.kind == "user")
    before, behind = spans.BareSpans().steps(seen(talk))
    assert (before.first, before.last, behind.first) == (1, newest - 1, newest + 1)
    assert not any(words in one.text for one in (before, behind) for words in ("Well.", "Go on.", "other"))


def test_a_row_more_goes_only_if_something_is_missing() -> None:
    """Nothing more is taken once exactly as much is free as required."""
    parts = [
        *fillers(4),
        step(text="Well.", user="Go on."),
        *fillers(4),
        step(text="Well.", user="And now."),
        *fillers(4),
    ]
    talk = told("openai-chat", *parts)
    whole = seen(talk)
    first, *others = Spans(keep_turns=0).steps(seen(talk, over_tokens=whole.size_tokens))
    assert others
    exactly = first.before_tokens - first.after_tokens
    assert Spans(keep_turns=0).steps(seen(talk, over_tokens=exactly)) == [first]
    assert len(Spans(keep_turns=0).steps(seen(talk, over_tokens=exactly + 1))) == 2


def test_a_summary_of_other_messages_is_not_taken() -> None:
    """Its span must be whole turns of what is shown now."""
    talk = told("openai-chat", *fillers(6))
    assert Summary(text="The limit is 250.", first=2, last=7).steps(seen(talk)) == []


# ── all of them ──────────────────────────────────────────────────────────────────────────────────────────────────


@wires
def test_a_stub_is_smaller_than_what_it_replaces_and_is_not_stubbed_again(wire: str) -> None:
    """This holds for long names, commands and errors in any script: what is left is too small to be worth another edit."""
    long = "ファイル" * 80
    talk = told(
        wire,
        *[
            step(did("bash", f"Exit code 1\n{long} failed\n{lines(80)}", failed=True, command=f"cat {long}{at}"))
            for at in range(3)
        ],
        *[step(did("view", lines(80), path=f"{long}{at}.py")) for at in range(3)],
        *fillers(3),
    )
    for strategy in (Clear(keep=0, active=True), FailedAttempts(), Stale(), Offload(max_tokens=200, min_tokens=60)):
        view = seen(talk, over_tokens=10**6)
        for made in strategy.steps(view):
            assert made.after_tokens < made.before_tokens
            assert [plans.HANDLE in text for text in (made.text, made.kept_text)] == [False, True]
    shelf = Shelf()
    once = apply(talk, plan(talk, 3_000, [FailedAttempts(), Clear(keep=0)]), shelf)
    again = plan(
        once, 1_000, [Stale(), Clear(keep=0, active=True), FailedAttempts(), Offload(max_tokens=200, min_tokens=60)]
    )
    assert {made.call_id for made in again.steps if made.call_id}.isdisjoint(
        edit.call_id for edit in once.edits if hasattr(edit, "call_id")
    )


@pytest.mark.proves("O-8")
@wires
def test_thinking_stays_as_it_is_if_results_next_to_it_are_cleared(wire: str) -> None:
    """Signed blocks are never edited; they are removed with their turn or not at all."""
    talk = told(wire, *[step(viewed(f"a{at}.py"), thinking=1 + at % 2, text="So.") for at in range(12)])
    after = apply(talk, plan(talk, seen(talk).size_tokens // 3, [Clear(), Spans()]), Shelf())
    raws = [entry.raw for entry in talk.entries if entry.is_signed]
    assert all(entry.raw in raws for entry in after.visible() if entry.is_signed)
    assert violations(dump(after, wire), wire) == []


def test_results_next_to_words_of_the_user_are_cleared_and_the_words_stay() -> None:
    """Anthropic puts both in one message."""
    talk = told(
        "anthropic",
        step(viewed("a.py"), viewed("b.py"), user="Never touch the README."),
        *fillers(6),
        step(user="Go on."),
    )
    after = apply(talk, plan(talk, seen(talk).size_tokens // 2, [Clear()]), Shelf())
    mixed = after.visible()[2]
    assert [block["type"] for block in mixed.raw["content"]] == ["tool_result", "tool_result", "text"]
    assert all(block["content"].startswith("[cleared: view ") for block in mixed.raw["content"][:2])
    assert mixed.text == "Never touch the README."


@wires
def test_an_image_in_a_result_goes_whole_and_can_be_had_again(wire: str) -> None:
    """It is kept with its text as the wire's own object."""
    shot = did("view", lines(60), image=True, path="a.png")
    talk = told(wire, step(shot), *fillers(6))
    shelf = Shelf()
    after = apply(talk, plan(talk, seen(talk).size_tokens // 2, [Clear()]), shelf)
    assert result_of(after, shot).startswith("[cleared: view a.png")
    has_image = wire != "openai-chat"
    assert any("image" in content and "iVBORw0" in content for content in shelf.values()) == has_image


def test_what_is_pinned_is_never_proposed() -> None:
    """No strategy proposes it, however little room there is."""
    flood = viewed("pinned.py", 2_000)
    talk = told("openai-chat", step(flood), *fillers(8)).pin(2)
    made = plan(talk, 1_000, [Stale(), Clear(keep=0, active=True), Spans(keep_turns=0, users=True), Offload()])
    assert made.outcome == "cannot"
    assert result_of(apply(talk, made), flood) == flood.result


def test_the_handle_of_a_stub_is_counted_before_there_is_one() -> None:
    """The size planned for a step is its size once it is applied."""
    talk = told("openai-chat", *fillers(8))
    made = plan(talk, seen(talk).size_tokens // 2)
    after = apply(talk, made, lambda _content, _name: HANDLE)
    assert seen(after).size_tokens == made.after_tokens


def test_nothing_is_put_in_the_place_of_what_takes_as_much() -> None:
    """To a counter that counts all texts alike, no stub or head of an error is smaller than what it replaces."""

    class Alike:
        def count(self, text: str) -> Count:
            size = 1_000 * bool(text)
            return Count(tokens=size, low=size, high=size, method="exact:alike")

    failed = [step(did("bash", f"{lines(40)}\nE: none", command=f"make {at}", failed=True)) for at in range(2)]
    single = step(did("bash", f"Exit code 2\n{lines(40)}\nE: none", failed=True, command="make"))
    rounds = [*fillers(3), single, *fillers(3), *failed, step(viewed("a.py", 60)), *fillers(4, prefix="more")]
    view = replace(seen(told("openai-chat", *rounds), over_tokens=5_000), counter=Alike())
    assert len(view.results) == len(rounds)
    for strategy in (
        Stale(),
        Clear(keep=0),
        NewLines(),
        FailedAttempts(keep_turns=0),
    ):
        made = strategy.steps(view)
        assert all(one.after_tokens < one.before_tokens for one in made), strategy
        assert not [one for one in made if one.call_id is not None], strategy


def test_a_note_is_smaller_than_the_turns_that_it_replaces() -> None:
    """It is smaller by at least one token, whatever a counter says of the note."""

    class Priced:
        note = short_note = 1
        short_chars = 0

        def count(self, text: str) -> Count:
            note = self.short_note if len(text) <= self.short_chars else self.note
            size = note if stand_ins.is_note(text) else 100 * bool(text)
            return Count(tokens=size, low=size, high=size, method="exact:priced")

    words = "I look at it once more. " * 90
    failed = [
        step(did("bash", "Exit code 1\nE: none", command=f"make {at}", failed=True), text=words) for at in range(3)
    ]
    talk = told("openai-chat", *failed)
    turns = talk.turns()
    for strategy in (
        FailedAttempts(keep_turns=0),
        Spans(keep_turns=0),
        spans.BareSpans(),
        Summary(text="All three failed.", first=turns[1].first, last=turns[-1].last),
    ):

        def made(tokens: int, short_chars: int = 0, strategy: Strategy = strategy) -> Sequence[PlanStep]:
            counter = Priced()
            counter.note, counter.short_chars = tokens, short_chars
            return strategy.steps(replace(seen(talk, over_tokens=5_000), counter=counter))

        (one,) = made(1)
        spared = one.before_tokens - one.after_tokens
        assert [len(made(tokens)) for tokens in (spared, spared + 1)] == [1, 0], strategy
        if isinstance(strategy, Spans):  # a shorter one is written if that is smaller
            (shorter,) = made(spared + 1, short_chars=len(one.kept_text) - 50)
            assert 0.4 < len(shorter.kept_text) / len(one.kept_text) < 0.9


def test_what_is_kept_of_a_span_is_that_span() -> None:
    """It ends with the last message of the span."""
    talk = told("openai-chat", *fillers(6))
    (made,) = Spans(keep_turns=2).steps(seen(talk, over_tokens=10))
    shelf = Shelf()
    apply(talk, replace(plan(talk, 1), steps=(made,)), shelf)
    (kept,) = shelf.values()
    assert kept.count("\n") == made.last - made.first + 1
    assert f"other{(made.last - made.first) // 2}.py" in kept
    assert f"other{(made.last - made.first) // 2 + 1}.py" not in kept


def test_a_note_of_ours_in_view_is_recognised() -> None:
    """Only a note that we wrote counts; not the messages before it was written, and not one that came in the request."""
    talk = told("openai-chat", *fillers(9))
    noted = apply(talk, plan(talk, size_of(talk) // 3, [Spans()]))
    notes = [entry for entry in noted.visible() if entry.is_note]
    others = [entry for entry in noted.visible() if not entry.is_note]
    found = spans.standing_note(notes, noted)
    assert found is not None
    assert stand_ins.is_note(found.text)
    for shown in ([], others, others[:1], [*notes, others[-1]]):
        assert spans.standing_note(shown, noted) is None
    loaded = load(dump(noted, noted.wire), noted.wire)
    assert spans.standing_note([entry for entry in loaded.visible() if entry.is_note], loaded) is None


def test_what_is_left_out_of_a_result_leaves_the_lines_around_it() -> None:
    """The first lines stay too."""
    left = results._without(["first", "second", "third", "fourth"], [(1, 3)]).split("\n")
    assert (left[0], left[-1], len(left)) == ("first", "fourth", 3)
    assert all(f'"{line}"' in left[1] for line in ("second", "third"))


@wires
def test_a_note_counts_the_messages_that_replace_its_span(wire: str) -> None:
    """One, and the one next to it if roles have to alternate."""
    talk = told(wire, *fillers(4))
    first, last = talk.turns()[1].first, talk.turns()[2].last
    messages, _ = spans.note_frame(seen(talk), first, last)
    assert messages == 1 + len(talk.beside_note(first, last))
    after = talk.drop_span(first, last, "left out")
    assert len(after.visible()) == len(talk.visible()) - (last - first + 1) + messages


def test_a_note_is_bare_if_its_share_is_below_the_least() -> None:
    """With exactly 200 characters it says what was done; with one fewer, only how much was removed."""
    talk = told("openai-chat", *fillers(4))
    turns = talk.turns()[1:3]
    before = spans.span_step(seen(talk), "spans", turns).before_tokens
    said = [
        spans.span_step(seen(talk), "spans", turns, note_share=(chars + 0.5) / before, can_be_bare=True).text
        for chars in (199, 200)
    ]
    assert ["other" in text for text in said] == [False, True]


@pytest.mark.proves("S-4")
def test_no_more_turns_go_than_free_what_is_wanted() -> None:
    """The oldest turns that cover the goal and the note's own size are removed; one more token takes one more turn."""
    talk = told("openai-chat", *fillers(10))
    turns = spans.finished_turns(seen(talk), 2, users=False)
    sizes = list(accumulate(high_of(turn.entries, ESTIMATOR) for turn in turns))
    for number in (3, 4, 5):
        goal = sizes[number - 1] - spans.NOTE_CHARS // 3
        for one, count in ((0, number), (1, number + 1)):
            (made,) = Spans().steps(seen(talk, goal_tokens=goal + one))
            assert (made.first, made.last) == (turns[0].first, turns[count - 1].last)


@pytest.mark.proves("S-4")
def test_the_names_of_a_note_take_no_more_than_what_goes_now() -> None:
    """Results that were cleared before have left little: their names are not brought back at the length of the whole."""
    names = " ".join(f"Identifier_{at:04d}" for at in range(900))
    talk = told("openai-chat", *[step(did("lookup", names, what=f"w{at}")) for at in range(12)])
    less = apply(talk, plan(talk, size_of(talk) // 2, [Clear()]), Shelf())
    view = seen(less)
    turns = spans.finished_turns(view, 6, users=False)
    before = high_of([entry for turn in turns for entry in turn.entries], ESTIMATOR)
    made = spans.span_step(view, "spans", turns, names_share=1.0)
    assert made.after_tokens * 2 <= made.before_tokens == before


@pytest.mark.proves("S-4")
def test_the_names_of_a_note_take_a_share_of_its_own_turns() -> None:
    """What follows the turns, however long, makes no room for more names."""
    names = " ".join(f"Identifier_{at:04d}" for at in range(900))
    talk = told("openai-chat", step(did("lookup", names)), step(text="So it is. " * 900), *fillers(2))
    turns = talk.turns()[1:2]
    before = high_of(turns[0].entries, ESTIMATOR)
    for share in (0.1, 0.2):
        note = spans.span_step(seen(talk), "spans", turns, names_share=share).text
        named = note.partition("named: ")[2].partition("\n")[0]
        assert before * share - 20 < len(named) <= before * share


@pytest.mark.proves("S-4")
def test_a_note_names_what_calls_of_other_tools_named() -> None:
    """This includes arguments longer than what a note says of a call; a file can be read again and is not named."""
    calls = [did("lookup", f"Result-{at}", why="because " * 90, order=f"Order-{at}") for at in range(4)]
    talk = told("openai-chat", *[step(call, viewed(f"File-{at}.py", 9)) for at, call in enumerate(calls)], *fillers(3))
    view = seen(talk)
    turns = spans.finished_turns(view, 3, users=False)
    note = spans.span_step(view, "spans", turns, names_share=1.0).text
    named = note.partition("named: ")[2].partition("\n")[0]
    assert named == ", ".join(f"Order-{at}, Result-{at}" for at in range(4))


def _dearest_spared(view: Any, pairs: list[tuple[int, int]]) -> tuple[int, int]:
    """Find which results are removed by examining every run of them."""
    freed = [tokens for _, tokens in pairs]
    if sum(freed) <= view.over_tokens:
        return 0, len(pairs)
    runs = []
    for first, (start, _) in enumerate(pairs):
        ends = range(first, len(pairs) + 1)
        last = next((end for end in ends if sum(freed[first:end]) >= view.goal_tokens), len(pairs))
        left = view.size_tokens - sum(freed[first:last])
        if sum(freed[first:]) >= view.over_tokens:
            runs.append((115 * (left - start) + 10 * left * view.calls_left, first, last))
    best = min(cost for cost, _, _ in runs)
    return next((first, last) for cost, first, last in runs if cost <= max(best, 1.05 * best))


def test_a_batch_is_the_earliest_run_that_costs_hardly_more_than_the_best() -> None:
    """Compared with all runs, for goals that are met to the token, missed by one, or larger than everything."""
    for seed in range(300):
        dice = random.Random(seed)
        freed = [dice.randrange(1, 6) for _ in range(dice.randrange(1, 8))]
        starts = sorted(dice.sample(range(100), len(freed)))
        over = dice.randrange(sum(freed) + 2)
        view = SimpleNamespace(
            over_tokens=over,
            goal_tokens=over + dice.randrange(5),
            size_tokens=dice.choice([5, 100, 200]),  # a provider may count less than we do
            calls_left=dice.choice([0, 1, 9, 40]),
        )
        pairs = list(zip(starts, freed, strict=True))
        assert results._batch(view, pairs) == _dearest_spared(view, pairs), seed  # type: ignore[arg-type]


def test_lines_of_an_earlier_result_are_found_wherever_they_are() -> None:
    """Compared with a search everywhere: runs of three or more lines, as long as possible, up to the last line of either text."""
    for seed in range(400):
        dice = random.Random(seed)
        before, lines = ([dice.choice(["a", "b", "", "c"]) for _ in range(dice.randrange(9))] for _ in range(2))
        seen = results._Seen(3)
        seen.add(before)
        found = seen.runs_of(lines)
        at = 0
        for first, end in [*found, (len(lines), len(lines))]:
            while at < first:  # no run that begins here was missed
                row = lines[at : at + 3]
                assert len(row) < 3 or row == [""] * 3 or not _places(before, row), seed
                at += 1
            if first < end:
                assert any(
                    place + end - first == len(before) or end == len(lines) or before[place + end - first] != lines[end]
                    for place in _places(before, lines[first:end])
                ), seed
            at = end


def _places(text: list[str], row: list[str]) -> list[int]:
    return [at for at in range(len(text) - len(row) + 1) if text[at : at + len(row)] == row]


def test_strategies_are_those_that_the_docs_name() -> None:
    """What they keep by default is included."""
    page = (Path(__file__).parents[3] / "docs" / "compaction.md").read_text(encoding="utf-8")
    assert all(hasattr(compaction, name) for name in re.findall(r"^\| `(\w+)\(", page, re.MULTILINE))
    assert f"at most {spans.NOTE_CHARS:,} characters" in page
    assert f"at most {Offload().max_tokens:,} tokens (down to {Offload().min_tokens} if" in page
    assert f"at least {NewLines().min_lines} lines" in page
    assert f"Clear(keep={Clear().keep})" in page

"""What would our policy have sent, in sessions whose every figure is known, and in any?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import CallerError
from penstock.inspection import replaying
from penstock.inspection.replaying import Replayed, replay
from penstock.inspection.spending import with_money
from penstock.inspection.story import Story
from penstock.inspection.telling import tell
from penstock.inspection.timeline import Answered, Compacted, Instructed, Refused, Said
from penstock.models.prices import Price, Rate
from penstock.text.tokens import Count
from penstock.wires import dump, violations
from tests.inspection.strategies import sessions
from tests.inspection.test_telling import Letters, answer, call, result, user
from tests.wires.strategies import WIRES

if TYPE_CHECKING:
    from penstock.inspection.timeline import Happening

pytestmark = pytest.mark.proves("X-2")

WINDOW = 16_000
LIMIT = 15_000


def replayed(*happenings: Happening, window: int = WINDOW) -> Replayed:
    """Return the replay of a session on Anthropic's wire, with a token for each letter."""
    return replay(happenings, "anthropic", window, counter=Letters())


def sent(done: Replayed) -> list[int | None]:
    """Return the size of each request of ours."""
    return [turn.sent_tokens for turn in done.turns]


def rounds(count: int, letters: int) -> list[Happening]:
    """Return a task, and calls with results of that many letters."""
    made: list[Happening] = [user("Fix it.")]
    for number in range(count):
        made += [call("Bash", f"c{number}", command=f"make part{number}"), result("x" * letters, f"c{number}")]
    return [*made, answer("Done.")]


@pytest.mark.parametrize(
    "order",
    [
        lambda first, second: (user("go"), first, call("Read", path="a"), result("A" * 90), second, answer("ok")),
        lambda first, second: (user("go"), call("Read", path="a"), first, result("A" * 90), answer("ok"), second),
        lambda *_: (user("go"), call("Read", path="a"), result("A" * 90), answer("ok")),
        lambda first, second: (user("go"), user("on"), first, answer("abc"), second, answer("de"), user("more")),
        lambda first, second: (user("go"), user("on"), answer("abc"), first, answer("de"), second, user("more")),
    ],
    ids=["figures before", "figures behind", "no figures", "paused, figures before", "paused, figures behind"],
)
def test_the_same_is_sent_if_nothing_has_to_go(order: Any) -> None:
    """The host may record figures and words in any order; what no record shows is sent with ours, too."""
    done = replayed(Instructed("s" * 300), *order(Answered(None), Answered(None)))
    assert sent(done) == [turn.recorded_tokens for turn in done.turns]
    done = replayed(Instructed("s" * 300), *order(Answered(1_000), Answered(1_200)))
    assert sent(done) == [turn.recorded_tokens for turn in done.turns]
    assert len(done.turns) == 2
    assert (done.sent_tokens, done.plans, done.bounded_results, done.forgotten) == (done.recorded_tokens, 0, 0, ())


def test_calls_of_one_answer_that_were_recorded_apart_are_one_message() -> None:
    """Each is recorded before its own result: a provider needs both calls first."""
    first, second = (call("Read", f"c{at}", path="a")._replace(part_of="m1") for at in (1, 2))
    walk = replaying._Walk("anthropic", WINDOW, Letters())
    for one in (user("go"), first, result("A", "c1"), second, result("B", "c2"), answer("ok")):
        walk.take(one)
    walk.replayed()
    assert broken(walk) == []
    _, asked, *_ = dump(walk._policy._talk, "anthropic")
    assert [block["id"] for block in asked["content"]] == ["c1", "c2"]


def broken(walk: Any) -> list[Any]:
    """Return what a provider would refuse in the last request, apart from its size; it joins results recorded one by one."""
    shown = dump(walk._policy._talk, "anthropic")
    return [one for one in violations(shown, "anthropic") if shown and one.code != "roles_alternate"]


def test_before_a_request_that_is_too_full_the_default_plan_forgets() -> None:
    """It plans well below the limit; a request that fits is left alone."""
    done = replayed(*rounds(30, 1_000))
    assert max(filter(None, sent(done))) <= LIMIT
    planned = [turn for turn in done.turns if turn.is_planned]
    assert 1 <= len(planned) == done.plans < 6
    assert all((turn.sent_tokens or 0) < 0.8 * LIMIT for turn in planned)
    assert done.recorded_tokens > 1.5 * done.sent_tokens
    assert sum(one.times for one in done.forgotten) > 0
    assert sent(done)[:10] == [turn.recorded_tokens for turn in done.turns[:10]]


def test_a_counter_that_is_not_sure_does_not_make_plans_forget_more() -> None:
    """Plans use upper bounds; what a request takes is likely to be less, and is compared with the window."""

    class Unsure(Letters):
        def count(self, text: str, /) -> Count:
            return Count(tokens=len(text), low=len(text), high=3 * len(text), method="letters:unsure")

    session = rounds(60, 300)
    sure, unsure = (replay(session, "anthropic", WINDOW, counter=counter) for counter in (Letters(), Unsure()))
    assert sure.plans > 0
    assert sent(unsure) == sent(sure)


def test_what_a_provider_counts_above_our_count_takes_room() -> None:
    """Instructions that no record shows fill our requests as they did the recorded ones."""
    figures = [Answered(12_000)]
    (first, *others) = rounds(30, 400)
    done = replayed(first, *figures, *others)
    assert max(filter(None, sent(done))) <= LIMIT
    assert done.plans > replayed(first, *others).plans


def test_a_result_is_cut_to_what_our_tools_would_show() -> None:
    """It gets an eighth of the window, once; what was cut is reported."""
    done = replayed(user("go"), call("Bash"), result("y\n" * 4_000), answer("ok"))
    assert sent(done)[1] == pytest.approx(2_000, abs=150)
    assert (done.bounded_results, done.turns[1].recorded_tokens > 8_000) == (1, True)
    assert done.bounded_tokens == pytest.approx(6_000, abs=150)


def test_the_hosts_own_compaction_is_left_out() -> None:
    """Its summary and what it repeats are not ours: everything that was said is still there."""
    done = replayed(
        *(user("x" * 500), answer("y" * 500), Compacted()),
        Said({"role": "user", "content": "summary " * 50}, by_host=True, is_summary=True),
        user("x" * 500)._replace(again=True),
        *(user("z" * 100), answer("ok")),
    )
    assert sent(done) == [504, 504 + 504 + 104]
    assert done.turns[1].recorded_tokens != sent(done)[1]
    assert len(done.story.compactions) == 1


def test_a_refusal_that_would_have_been_avoided_is_one_request() -> None:
    """The refused request fits, and its repetition does not count; with new words it is another request."""
    flood = (
        user("go"),
        call("Bash"),
        result("y\n" * 20_000),
        Refused("prompt is too long: 40000 tokens > 16000 maximum"),
    )
    again = replayed(*flood, Compacted(), user("go")._replace(again=True), answer("ok"))
    assert (again.recorded_refusals, again.expected_refusals) == (1, 0)
    assert [turn is None for turn in sent(again)] == [False, True, False]
    more = replayed(*flood, user("Go on."), answer("ok"))
    assert [turn is None for turn in sent(more)] == [False, False, False]
    stuck = replayed(*flood)
    assert (len(stuck.sent), stuck.expected_refusals) == (2, 0)


def test_what_cannot_be_made_to_fit_would_be_refused() -> None:
    """A task that is larger than the window stays."""
    done = replayed(user("x" * 20_000), answer("ok"))
    assert (done.expected_refusals, done.turns[0].is_over) == (1, True)
    with pytest.raises(CallerError, match="holds no request"):
        replayed(user("x"), window=3)


def test_ours_is_priced_by_the_same_answers_and_a_cache_as_warm() -> None:
    """What a request shares with the one before comes from the cache, unless the recorded one found nothing there."""
    price = Price(
        input=Rate(10.0), output=Rate(100.0), cache_read=Rate(1.0), cache_write=Rate(12.5), cache_write_hour=Rate(20.0)
    )
    figures: Any = {"model": "m", "output_tokens": 10}
    done = replayed(
        *(user("x" * 996), Answered(1_000, cached_tokens=600, cache_write_tokens=400, **figures), answer("y" * 996)),
        *(
            user("z" * 996),
            Answered(3_000, cached_tokens=1_000, cache_write_tokens=2_000, **figures),
            answer("ok" * 498),
        ),
        *(user("z" * 996), Answered(5_000, cached_tokens=0, cache_write_tokens=5_000, **figures), answer("ok")),
    )
    assert [turn.cached_tokens for turn in done.turns] == [600, 1_000, 0]
    money = with_money(Story(turns=tuple(ours for _, ours in done.answered)), lambda *_: price, "2026-11-23").money
    assert money is not None
    assert money.dollars == pytest.approx((600 + 1_000 + (400 + 2_000 + 5_000) * 12.5 + 30 * 100) / 1_000_000)
    assert money == with_money(done.story, lambda *_: price, "2026-11-23").money


def test_both_sums_are_of_the_same_requests() -> None:
    """What would not have fitted in ours has no answer there, and is left out of the recorded sum, too."""
    figures: Any = {"model": "m", "output_tokens": 10}
    done = replayed(
        *(user("x" * 996), Answered(1_000, **figures), answer("y" * 996)),
        *(user("x" * 2 * WINDOW), Answered(2 * WINDOW + 2_000, **figures), answer("ok")),
    )
    assert done.expected_refusals == 1
    assert [(recorded.number, ours.number) for recorded, ours in done.answered] == [(1, 1)]


def test_a_request_that_no_plan_brings_below_the_limit_is_counted() -> None:
    """It is still sent: the window holds it, and only the reserve for the reply is smaller."""
    done = replayed(Instructed("s" * (LIMIT + 100)), user("go"), answer("ok"))
    assert (done.above_limit, done.expected_refusals) == (1, 0)
    assert LIMIT < (done.turns[0].sent_tokens or 0) <= WINDOW
    assert replayed(user("go"), answer("ok")).above_limit == 0


def test_a_plan_breaks_the_cache_at_its_first_edit() -> None:
    """What precedes it is found in the cache, and what follows is read anew."""
    figures = [Answered(None, cached_tokens=5) for _ in range(31)]
    talk = rounds(30, 1_000)
    asked = [one for at, pair in enumerate(zip(talk[1:-1:2], talk[2::2], strict=True)) for one in (figures[at], *pair)]
    done = replayed(talk[0], *asked, figures[30], answer("Done."))
    for before, turn in zip(done.turns, done.turns[1:], strict=False):
        if turn.is_planned:
            assert turn.cached_tokens < (turn.sent_tokens or 0) / 2
        else:
            assert turn.cached_tokens == before.sent_tokens


def test_of_very_many_messages_those_behind_notes_are_forgotten_without_a_difference_in_sight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The transcript stays as small as what it shows, and valid."""
    whole = replayed(*rounds(120, 200))
    monkeypatch.setattr(replaying, "MOST_ENTRIES", 0)
    walk = replaying._Walk("anthropic", WINDOW, Letters())
    most = 0
    for one in rounds(120, 200):
        walk.take(one)
        most = max(most, len(walk._policy._talk.entries))
        assert broken(walk) == []
    done = walk.replayed()
    assert done.plans > 0
    assert max(filter(None, sent(done))) <= LIMIT
    assert most < 180
    assert done.sent_tokens == pytest.approx(whole.sent_tokens, rel=0.1)


def test_a_text_that_is_no_longer_shown_is_not_held() -> None:
    """What a note replaces keeps its calls, and the ends of their results."""
    walk = replaying._Walk("anthropic", WINDOW, Letters())
    for one in rounds(60, 1_000):
        walk.take(one)
    talk = walk._policy._talk
    shown = {entry.index for entry in talk.visible() if not entry.is_note}
    hidden = [entry for entry in talk.entries if entry.index not in shown]
    assert len(hidden) > 20
    assert {entry.raw for entry in hidden} == {None}
    assert any(entry.calls for entry in hidden)


# ── laws ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wire", WIRES)
@given(st.data(), st.integers(16, 30_000))
def test_any_session_is_replayed_and_its_totals_are_the_sums_of_its_rows(
    wire: str, data: st.DataObject, window: int
) -> None:
    """There is one row for each request of the story, in order; none is above the window unless it says so."""
    happenings = data.draw(sessions(wire))
    done = replay(happenings, wire, window)
    story = tell(happenings, wire, window_tokens=window)
    assert done.story.turns == story.turns
    assert [turn.number for turn in done.turns] == [turn.number for turn in story.turns]
    assert done.sent_tokens == sum(turn.sent_tokens or 0 for turn in done.turns)
    assert done.recorded_tokens == sum(turn.tokens for turn in story.turns)
    assert done.expected_refusals <= len(done.sent) <= len(done.turns)
    for turn in done.sent:
        assert turn.is_over == ((turn.sent_tokens or 0) > window)
        assert 0 <= turn.cached_tokens <= (turn.sent_tokens or 0)


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 3_000), st.booleans()), min_size=1, max_size=25),
    st.integers(8_000, 40_000),
)
def test_what_is_sent_fits_and_is_valid(steps: list[tuple[int, int, bool]], window: int) -> None:
    """With parallel calls, results of any length and words in between, no request of ours is above the limit or broken."""
    walk = replaying._Walk("anthropic", window, Letters())
    happenings: list[Happening] = [user("The task.")]
    for at, (calls, letters, is_spoken) in enumerate(steps):
        ids = [f"c{at}-{one}" for one in range(calls)]
        happenings += [call("Bash", name, command=name)._replace(part_of=f"m{at}") for name in ids]
        happenings += [result("x" * letters, name) for name in ids]
        if is_spoken:
            happenings += [answer("Well."), user(f"Go on, {at}.")]
    for one in [*happenings, answer("Done.")]:
        walk.take(one)
        assert broken(walk) == []
    done = walk.replayed()
    assert all((turn.sent_tokens or 0) <= done.limit_tokens for turn in done.sent)
    assert done.expected_refusals == 0

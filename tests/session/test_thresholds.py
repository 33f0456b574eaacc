"""Which step comes next exactly at and around each rung, as seen from outside (S-1, S-2, S-3)?"""

from __future__ import annotations

import pytest
from tests.session.stage import CHARS, Stage, viewed

from penstock.session import Ask, Boundary, Compact, HandOff, Noted, Session
from penstock.session.limits import Limits, Pressure
from penstock.text.allowance import Budget

WINDOWS = {  # COMPACT, COMPACT_HARD and HAND_OFF: 75,000, 100,000 and 115,000 of 128,000, rounded up
    128_000: (75_000, 100_000, 115_000),
    32_000: (18_750, 25_000, 28_750),
    1_000_000: (585_938, 781_250, 898_438),
}


def with_old_results(window: int, limits: Limits | str = "default") -> Stage:
    """Return eight seen results, of which the first three may be cleared, and an answer after them."""
    stage = Stage(window=window, limits=limits)
    stage.prompt("Fix the bug.")
    for _ in range(8):
        stage.view("a line\n" * (window // 140))
    stage.turn()
    return stage


@pytest.mark.proves("S-2")
@pytest.mark.parametrize("window", WINDOWS)
def test_compression_starts_at_its_rung_and_not_before(window: int) -> None:
    """At 75,000 of 128,000 tokens, or the same share of any other window, compaction starts, to the token."""
    at = WINDOWS[window][0]
    below, reached = with_old_results(window), with_old_results(window)
    below.fill(at - 1)
    assert isinstance(below.step(), Ask)
    assert below.session.pressure() is Pressure.WATCH
    reached.fill(at)
    assert reached.session.pressure() is Pressure.COMPACT
    step = reached.step()
    assert isinstance(step, Compact)
    assert step.plan.before_tokens == at
    assert step.plan.after_tokens < at
    reached.compact(step)
    assert reached.session.pressure() < Pressure.COMPACT, "pressure falls again after compaction"
    assert isinstance(reached.step(), Ask)


@pytest.mark.proves("S-2")
@pytest.mark.parametrize("window", WINDOWS)
def test_a_compaction_rests_until_the_hard_rung(window: int) -> None:
    """With little said since the last one, nothing is rewritten until 100,000 of 128,000 tokens."""
    hard = WINDOWS[window][1]
    for size, expected in ((hard - 1, Ask), (hard, Compact)):
        stage = with_old_results(window)
        stage.fill(WINDOWS[window][0])
        stage.until_asked()
        stage.turn(viewed(99, "src/flood.py", "a line\n" * (window // 35)))
        stage.turn()
        stage.fill(size)
        assert isinstance(stage.step(), expected), size


@pytest.mark.proves("S-2", "S-3")
@pytest.mark.parametrize("window", WINDOWS)
def test_what_cannot_be_compressed_is_handed_off_at_its_rung(window: int) -> None:
    """At 115,000 of 128,000 tokens that must stay, the next step writes a handoff, which gives the fill as evidence."""
    at = WINDOWS[window][2]
    for size, expected in ((at - 1, Ask), (at, HandOff), (at + 1, HandOff)):
        stage = Stage(window=window)
        stage.prompt("x" * int(window * 0.7))
        stage.turn()
        stage.fill(size)
        step = stage.step()
        assert isinstance(step, expected), size
        assert (
            stage.session.pressure()
            == {
                at - 1: Pressure.COMPACT_HARD,
                at: Pressure.RESET
                if window == 1_000_000
                else Pressure.HAND_OFF,  # 898,437.5, so any count that reaches it is above it
                at + 1: Pressure.RESET,
            }[size]
        )
        if isinstance(step, HandOff):
            assert (step.reason, step.evidence) == ("context", f"{size} tokens of {window}")
            stage.hand_off(step)
            assert stage.session.state.boundaries == (Boundary(reason="context", evidence=step.evidence, turn=1),)
            assert stage.session.pressure() is Pressure.CALM
            assert isinstance(stage.step(), Ask)


@pytest.mark.proves("S-2")
def test_compression_starts_above_80_percent_whatever_the_rungs_say() -> None:
    """In a profile without rungs 102,400 of 128,000 tokens are not above 80 %; one more is."""
    for size, expected in ((102_400, Ask), (102_401, Compact)):
        stage = with_old_results(128_000, Limits(name="bare", rungs=()))
        stage.fill(size)
        assert isinstance(stage.step(), expected), size


@pytest.mark.proves("S-2")
def test_a_finished_subtask_is_a_moment_to_compress() -> None:
    """After `done` on the todo list old results are cleared below every rung; the next answer ends this opportunity."""
    stage = with_old_results(128_000)
    stage.prompt()
    assert isinstance(stage.step(), Ask)
    results = stage.answer_with(viewed(50, "src/last.py", "text"))
    stage.feed(Noted(action="done", title="the lexer"))
    stage.returned(results, viewed(50, "src/last.py", "text"))
    step = stage.step()
    assert isinstance(step, Compact)
    assert step.plan.freed_tokens * 10 >= step.plan.before_tokens
    small = Stage()
    small.prompt()
    results = small.answer_with(viewed(1, "src/a.py", "text"))
    small.feed(Noted(action="done", title="the lexer"))
    small.returned(results, viewed(1, "src/a.py", "text"))
    assert isinstance(small.step(), Ask), "nothing worth forgetting"
    small.turn(text="Done.")
    assert not small.session.state.subtask_done


@pytest.mark.proves("S-1")
def test_25_turns_compress_in_the_profile_that_counts_them() -> None:
    """The 25th model call raises the pressure and starts compaction in swe-1.5; in the default profile turns do not matter."""
    for profile, expected in (("swe-1.5", Compact), ("default", Ask)):
        stage = Stage(limits=profile)
        stage.prompt("Fix the bug.")
        for _ in range(24):
            stage.view("a line\n" * 280)
        assert isinstance(stage.step(), Ask)
        stage.view("a line\n" * 280)
        assert isinstance(stage.step(), expected)
        assert (stage.session.pressure() >= Pressure.COMPACT) == (profile == "swe-1.5")


@pytest.mark.proves("S-1")
def test_what_frees_little_is_not_rewritten_for_the_sake_of_turns() -> None:
    """Beyond 25 turns a cut must free at least a tenth of the request: a user's words are left alone."""
    stage = Stage(limits="swe-1.5")
    stage.prompt("x" * 40_000)
    for _ in range(40):
        stage.view()
        assert isinstance(stage.step(), Ask)


@pytest.mark.proves("S-1", "S-3")
def test_30_turns_are_a_boundary_at_the_next_prompt_and_not_before() -> None:
    """29 turns are none; after the 30th the work continues, and the next prompt begins with a handoff that says why."""
    for turns, expected in ((29, Ask), (30, HandOff)):
        stage = Stage(limits="swe-1.5")
        stage.prompt("Fix the bug.")
        for _ in range(turns - 1):
            stage.view()
        assert isinstance(stage.step(), Ask)
        stage.turn(text="Fixed.")
        stage.prompt("And the other one.")
        step = stage.step()
        assert isinstance(step, expected), turns
    assert isinstance(step, HandOff)
    assert (step.reason, step.evidence) == ("turns", "30 turns")
    stage.hand_off(step)
    assert stage.session.state.boundaries == (Boundary(reason="turns", evidence="30 turns", turn=30),)
    assert stage.session.state.turns == 0
    asked = stage.step()
    assert isinstance(asked, Ask)
    assert asked.transcript.visible()[-1].text == "And the other one."


@pytest.mark.proves("S-1", "S-2")
def test_50_turns_are_a_reset_in_the_middle_of_the_work() -> None:
    """After 49 turns the work continues; the 50th first writes a handoff, and the work goes on with the user's words."""
    stage = Stage(limits="swe-1.5")
    stage.prompt("Fix the bug.")
    for _ in range(49):
        stage.view()
    assert not isinstance(stage.step(), HandOff)
    stage.view()
    step = stage.step()
    assert isinstance(step, HandOff)
    assert (step.reason, step.evidence, step.handoff.turns_completed) == ("turns", "50 turns", 50)
    assert stage.session.pressure() is Pressure.RESET
    stage.hand_off(step)
    asked = stage.step()
    assert isinstance(asked, Ask)
    assert asked.transcript.visible()[-1].text == "Fix the bug."
    assert [boundary.evidence for boundary in stage.session.state.boundaries] == ["50 turns"]


@pytest.mark.proves("S-1")
def test_turns_say_nothing_in_the_default_profile() -> None:
    """After a hundred turns the next one is still asked for."""
    stage = Stage()
    stage.prompt("Fix the bug.")
    for _ in range(100):
        stage.view()
    assert isinstance(stage.step(), Ask)
    assert stage.session.state.boundaries == ()


@pytest.mark.proves("S-3")
def test_a_boundary_is_crossed_once_and_armed_again_by_a_handoff() -> None:
    """However often the user speaks beyond the limit, it is one boundary; the next 30 turns after the handoff are another."""
    stage = Stage(limits="swe-1.5")
    for round_ in range(2):
        stage.prompt("Fix the bug.")
        for _ in range(29):
            stage.view()
        stage.turn(text="Fixed.")
        for _ in range(3):
            stage.prompt()
            assert len(stage.session.state.boundaries) == round_ + 1
            assert isinstance(stage.step(), HandOff)
            stage.interrupt()
        stage.prompt()
        stage.until_asked()
        stage.turn(text="Fixed.")
        assert len(stage.session.state.boundaries) == round_ + 1
    assert [boundary.turn for boundary in stage.session.state.boundaries] == [30, 61]


@pytest.mark.proves("S-3")
def test_a_change_of_domain_is_a_boundary_where_the_profile_wants_it() -> None:
    """Eight calls elsewhere than the eight before the user's last words count, with the overlap as evidence. Off by default."""
    for wanted in (True, False):
        stage = Stage(limits=Limits(domain_boundaries=wanted))
        stage.prompt("Fix the parser.")
        for number in range(8):
            stage.view(path=f"src/parser/part{number}.py")
        stage.turn()
        stage.prompt("Now the site.")
        for number in range(8):
            stage.view(path=f"web/pages/page{number}.html")
        stage.turn()
        stage.prompt("And its colours.")
        step = stage.step()
        assert isinstance(step, HandOff if wanted else Ask)
        if isinstance(step, HandOff):
            assert (step.reason, step.evidence) == ("domain", "overlap of places 0.00")


@pytest.mark.proves("S-3")
@pytest.mark.parametrize("last", ["src/parser/other.py", "src/parser/deep/down/x.py"])
def test_work_in_the_same_place_is_no_change_of_domain(last: str) -> None:
    """Other files in the same folders, or too few calls, are not evidence."""
    stage = Stage(limits=Limits(domain_boundaries=True))
    stage.prompt("Fix the parser.")
    for number in range(8):
        stage.view(path=f"src/parser/part{number}.py")
    stage.turn()
    stage.prompt("Now the rest of it.")
    for number in range(7):
        stage.view(path=f"src/parser/more{number}.py")
    stage.view(path=last)
    stage.turn()
    stage.prompt("Go on.")
    for number in range(7):
        stage.view(path=f"web/page{number}.html")
    stage.turn()
    stage.prompt("Go on.")
    assert stage.session.state.boundaries == ()


@pytest.mark.proves("S-2")
def test_a_reply_asks_for_what_is_left_of_the_window() -> None:
    """If the request leaves less than the reserve, a shorter reply is asked for, so that the window holds both."""
    stage = Stage(window=32_000)
    stage.prompt("x" * 10)
    stage.turn()
    stage.fill(28_749)
    step = stage.step()
    assert isinstance(step, Ask)
    assert stage.size + step.reserve_tokens == 32_000
    stage = Stage(window=32_000)
    stage.prompt("short")
    step = stage.step()
    assert isinstance(step, Ask)
    assert step.reserve_tokens == 8_000


@pytest.mark.proves("S-2")
def test_a_budget_fits_the_limits_to_its_window() -> None:
    """`budget` scales every rung; its counter decides; a window too small for the reserve reserves a quarter of itself."""
    session = Session(budget=Budget(16_000, 0, CHARS))
    assert session.state.limits.window_tokens == 16_000
    assert session.state.limits.reserve_tokens == 4_000
    assert session.counter is CHARS
    assert Session(budget=Budget(16_000, 500)).state.limits.reserve_tokens == 500
    assert Session(budget=16_000).state.limits == session.state.limits, "a number is the window, as for a plan"

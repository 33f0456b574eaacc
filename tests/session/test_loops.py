"""Is there progress (S-13)? A repeated call, two alternating calls and repeated reading are loops, other repetition is not."""

from __future__ import annotations

import pytest
from tests.session.stage import Stage, outcome, viewed

from penstock.session import Ask, Compact, Stop
from penstock.session.loops import ALTERNATING, LOOK_BACK, Loops, looping, without_times
from penstock.wires import ToolCall


def told(stage: Stage, path: str, result: str) -> str | None:
    """Return what the model is told next to the result of a view; the turn is then over."""
    call = ToolCall(id="x", name="view", arguments=f'{{"path":"{path}"}}')
    advice = stage.session.advice(call, viewed_digest(result))
    stage.view(result, path)
    return advice


def viewed_digest(result: str) -> str:
    """Return the digest that the stage's driver gives."""
    return outcome(viewed(0, "", result)).digest


def begun() -> Stage:
    """Return a session at work."""
    stage = Stage()
    stage.prompt("Find it.")
    return stage


@pytest.mark.proves("S-13")
def test_the_same_call_with_the_same_result_is_told_at_three_and_ends_the_work_at_five() -> None:
    """Twice is allowed; the third time the model is told; the fifth stops, and the person's next prompt continues."""
    stage = begun()
    assert [told(stage, "a.py", "same") for _ in range(2)] == [None, None]
    assert told(stage, "a.py", "same") == looping(3)
    assert "let one call wait" in looping(3), "a model that polls is told what does not end as a loop"
    assert told(stage, "a.py", "same") == looping(4)
    assert isinstance(stage.step(), Ask)
    assert told(stage, "a.py", "same") == looping(5)
    step = stage.step()
    assert isinstance(step, Stop)
    assert step.reason == "loop"
    stage.prompt("Look into b.py instead.")
    assert isinstance(stage.step(), Ask)
    assert told(stage, "a.py", "same") is None


@pytest.mark.proves("S-13")
def test_the_same_call_twenty_times_in_one_reply_is_one_look() -> None:
    """The model has seen none of the results yet, so that it can have learned nothing; the replies after it count as any."""
    stage = begun()
    for _ in range(4):
        stage.turn(*(viewed(number, "a.py", "same") for number in range(20)))
        assert isinstance(stage.step(), Ask)
    stage.turn(*(viewed(number, "a.py", "same") for number in range(20)))
    assert isinstance(stage.step(), Stop)


@pytest.mark.proves("S-13")
def test_a_b_a_b_is_told_at_the_fourth_call_and_ends_where_nothing_new_comes() -> None:
    """Two calls that alternate with the same results are a loop too."""
    stage = begun()
    said = [told(stage, path, "same") for path in ("a.py", "b.py") * 2]
    assert said == [None, None, None, ALTERNATING]
    for path in ("a.py", "b.py") * 2:
        assert told(stage, path, "same")
        assert isinstance(stage.step(), Ask)
    told(stage, "a.py", "same")
    told(stage, "b.py", "same")
    assert isinstance(stage.step(), Stop)
    assert stage.session.state.all_turns <= 10


@pytest.mark.proves("S-13")
def test_a_new_call_after_a_loop_is_not_held_against_it() -> None:
    """Only the two earlier calls alternate, so the call that leaves the loop gets no warning."""
    stage = begun()
    for path in ("a.py", "b.py") * 2:
        told(stage, path, "same")
    assert told(stage, "c.py", "other") is None


@pytest.mark.proves("S-13")
def test_reading_a_file_again_that_has_changed_is_no_loop() -> None:
    """Thirty-three reads of one file, each of another version, give no warning and no end (sessions.md 5.1)."""
    stage = begun()
    for version in range(33):
        assert told(stage, "a.py", f"version {version}") is None
        assert isinstance(stage.step(), Ask)


@pytest.mark.proves("S-13")
def test_the_same_answer_between_other_news_does_not_end_the_work() -> None:
    """If a test still fails after each of ten different edits, the model is told that the result repeats, and the work goes on."""
    stage = begun()
    for number in range(10):
        stage.turn(viewed(number, "a.py", "edited", name="edit_file", text=f"try {number}"))
        stage.turn(viewed(100 + number, "", "1 failed", name="run_tests"))
        assert isinstance(stage.step(), Ask)


@pytest.mark.proves("S-13")
def test_parallel_calls_count_each_for_itself() -> None:
    """Five batches of two calls with the same results end the work too."""
    stage = begun()
    for _ in range(5):
        assert isinstance(stage.step(), Ask)
        stage.turn(viewed(1, "a.py", "same"), viewed(2, "b.py", "same"))
    assert isinstance(stage.step(), Stop)


@pytest.mark.proves("S-13")
def test_a_call_without_a_digest_says_nothing_about_progress() -> None:
    """A driver that gives no digests never sees a loop."""
    loops = Loops()
    for _ in range(10):
        loops = loops.with_call("view", "{}", "")
    assert loops == Loops()
    assert (loops.stalled, loops.alternates, loops.times("view", "{}", "")) == (0, False, 0)


def test_the_calls_of_late_are_few() -> None:
    """The memory is bounded: calls long ago are not part of a loop."""
    loops = Loops().with_call("view", "a", "1")
    for number in range(LOOK_BACK):
        loops = loops.with_call("view", str(number), "1")
    assert len(loops.calls) == LOOK_BACK
    assert loops.times("view", "a", "1") == 0
    assert loops.stalled == 1


@pytest.mark.proves("S-13")
@pytest.mark.parametrize("window", [4_000, 16_000, 128_000])
def test_compaction_without_progress_ends(window: int) -> None:
    """Whatever cannot shrink, a few steps lead to a request: compactions and handoffs do not follow each other for ever."""
    for share in (0.3, 0.55, 0.6, 0.8, 0.9, 1.0, 1.5):
        for parts in ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0)):
            stage = Stage(window=window, reserve=window // 8)
            stage.prompt("x" * int(window * share * parts[0]) + ".")
            for _ in range(8):
                stage.view("line\n" * (window // 200))
            stage.turn()
            stage.prompt("y" * int(window * share * parts[1]) + ".")
            for _ in range(6):
                before = len(stage.steps)
                stage.until_asked(4)
                assert len(stage.steps) - before <= 4
                stage.view("line\n" * (window // 200))


@pytest.mark.proves("S-13")
def test_a_compaction_is_not_repeated_on_the_same() -> None:
    """After a compaction comes a request, however full the window still is."""
    stage = begun()
    for _ in range(12):
        stage.view("line\n" * 2_000)
        step = stage.step()
        if isinstance(step, Compact):
            stage.compact(step)
            assert isinstance(stage.step(), Ask)
    assert stage.session.state.compactions


@pytest.mark.proves("S-13")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("exit code: 1 | 9.2 s", "exit code: 1 | 10.7 s"),
        ("2 failed, 470 passed in 72.88s (0:01:12)", "2 failed, 470 passed in 3.63s (0:00:03)"),
        ("Ran 3 tests in 0.001s", "Ran 3 tests in 0.002s"),
        ("ok  pkg  0.012s", "ok  pkg  1.5s"),
        ("  adds two (5 ms)", "  adds two (12 ms)"),
        ("Start at 15:04:03, transform 45ms", "Start at 15:04:09, transform 46ms"),
        ("Finished in 0.12 seconds", "Finished in 0.2 seconds"),
        ("BUILD FAILED in 3s", "BUILD FAILED in 12s"),
        ("<Foo object at 0x7f3a10bc>", "<Foo object at 0x7f3b20ff>"),
        ("/tmp/pytest-of-me/pytest-3/x0", "/tmp/pytest-of-me/pytest-12/x0"),
        ("penstock page uMGSGJq0P1YNHAjdzx1eT4", "penstock page teMuIOxg7UwrObjoD7J9o6"),
    ],
)
def test_how_long_a_test_took_says_nothing_new(one: str, other: str) -> None:
    """What runners and builds print of clocks and of their process is left out."""
    assert without_times(one) == without_times(other)


@pytest.mark.proves("S-13")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2 failed", "3 failed"),
        ("web-1  Running  60s", "web-1  Running  120s"),
        ("loss 0.51", "loss 0.49"),
        ("a.py:12:34: E1", "a.py:13:34: E1"),
        ("v1.5.2", "v1.6.2"),
        ("1.5 set", "1.6 set"),
    ],
)
def test_other_numbers_are_results(one: str, other: str) -> None:
    """A count, a score, a place and the age of what somebody waits for differ."""
    assert without_times(one) != without_times(other)

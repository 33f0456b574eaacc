"""How many failures does a session bear (S-11): in a row, in all, and until the breaker opens? Time is an event."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.session.stage import Stage

from penstock.overflow.kinds import RECOVERIES
from penstock.session import Ask, Boundary, HandOff, Stop, Wait
from penstock.session.faults import CURED_BY_WAITING, MAX_COOLDOWN_SECONDS, Faults
from penstock.session.limits import PROFILES, ErrorLimits

SEED = ErrorLimits()


def working(profile: str = "swe-1.5") -> Stage:
    """Return a session that waits for the model, at second 1,000."""
    stage = Stage(limits=profile)
    stage.tick(1_000)
    stage.prompt("Fix the bug.")
    return stage


def blocked(stage: Stage) -> float | None:
    """Return the time until which the next step waits."""
    step = stage.step()
    return step.until_seconds if isinstance(step, Wait) else None


@pytest.mark.proves("S-11")
def test_one_failure_is_not_in_a_row() -> None:
    """The wait that a provider asks for after its first is told of one failure."""
    stage = working()
    stage.fail(retry_after=3)
    step = stage.step()
    assert isinstance(step, Wait)
    assert step.why == "1 failure: waiting before the next try"


@pytest.mark.proves("S-11", "S-3")
def test_the_third_in_a_row_opens_the_breaker_and_a_failed_probe_is_a_boundary() -> None:
    """Two are retried at once; the third waits 60 s; then one probe is sent, and its failure is handed off before the next wait."""
    stage = working()
    for _ in range(2):
        stage.fail()
        assert isinstance(stage.step(), Ask)
        assert not stage.session.state.faults.escalates(SEED)
    stage.fail()
    assert stage.session.state.faults.escalates(SEED)
    step = stage.step()
    assert isinstance(step, Wait)
    assert step.until_seconds == 1_060
    assert "3 failures in a row" in step.why
    stage.tick(1_059.9)
    assert isinstance(stage.step(), Wait)
    stage.tick(1_060)
    assert isinstance(stage.step(), Ask)
    assert not stage.session.state.boundaries
    stage.fail()
    handing = stage.step()
    assert isinstance(handing, HandOff)
    assert (handing.reason, handing.evidence) == ("errors", "4 failures in a row")
    assert stage.session.state.boundaries == (Boundary(reason="errors", evidence="4 failures in a row", turn=0),)
    stage.hand_off(handing)
    assert blocked(stage) == 1_060 + 120, "the cooldown doubles"
    stage.tick(1_180)
    assert isinstance(stage.step(), Ask)


@pytest.mark.proves("S-11")
def test_five_in_a_session_end_it_in_the_strict_profile() -> None:
    """This holds whether or not they were cured, even a week apart; the person's next prompt begins a new budget."""
    stage = working()
    for number in range(4):
        stage.fail()
        stage.view()
        assert stage.session.state.faults.counted(stage.session.state.all_turns, SEED) == number + 1
        for _ in range(6):
            stage.view()
        assert isinstance(stage.step(), Ask)
    stage.fail()
    step = stage.step()
    assert isinstance(step, Stop)
    assert step.reason == "errors"
    stage.prompt("Try again.")
    assert not isinstance(stage.step(), Stop)
    stage.fail()
    assert not isinstance(stage.step(), Stop)


@pytest.mark.proves("S-11")
def test_success_resets_the_row_and_closes_the_breaker() -> None:
    """After an answer three more faults are needed to open it, and the cooldown is 60 s again."""
    stage = working("default")
    for _ in range(3):
        for _ in range(3):
            stage.fail()
        assert stage.session.state.faults.row == 3
        now = stage.session.state.now_seconds
        assert blocked(stage) == now + 60
        stage.tick(now + 60)
        stage.view()
        assert stage.session.state.faults.row == 0
        assert stage.session.state.faults.open_until_seconds is None
        assert isinstance(stage.step(), Ask)


@pytest.mark.proves("S-11")
def test_what_a_retry_cured_does_not_count_in_the_default_profile() -> None:
    """After twenty failures, each followed by an answer, the session continues; in the profile `swe-1.5` the fifth ends it."""
    stage = working("default")
    for _ in range(20):
        stage.fail()
        stage.view()
    assert isinstance(stage.step(), Ask)
    assert stage.session.state.faults.turns == ()


@pytest.mark.proves("S-11")
def test_an_outage_never_ends_or_hands_off_a_session_of_the_default_profile() -> None:
    """An outage costs time but no context: after thirty failures the same request is sent."""
    stage = working("default")
    before = stage.session.state.transcript
    for _ in range(30):
        stage.fail("overloaded")
        step = stage.step()
        if isinstance(step, Wait):
            stage.perform(step)
        assert isinstance(stage.step(), Ask)
    assert stage.session.state.transcript == before
    assert stage.session.state.boundaries == ()


@pytest.mark.proves("S-11")
@pytest.mark.parametrize("later", [1, 2])
def test_a_mistake_that_is_mended_within_two_turns_costs_nothing(later: int) -> None:
    """The session continues after forty such mistakes."""
    stage = working("default")
    for _ in range(40):
        for _ in range(later):
            stage.view(failed=True)
        stage.view()
    assert isinstance(stage.step(), Ask)
    assert stage.session.state.faults == Faults()


@pytest.mark.proves("S-11")
def test_mistakes_that_are_not_mended_end_a_session_of_the_default_profile() -> None:
    """Five end it if all are within twenty turns; each counts once two more turns have corrected nothing."""
    for quiet, ends in ((4, True), (12, False)):
        stage = working("default")
        for _ in range(2):
            for _ in range(3 if ends else 4):
                stage.view(failed=True)
                if isinstance(step := stage.step(), HandOff):
                    stage.hand_off(step)
            for _ in range(quiet):
                stage.view()
        assert stage.session.state.faults.turns == ((1, 8) if ends else (1, 2, 17, 18))
    stage = working("default")
    turns = 0
    while not isinstance(step := stage.step(), Stop):
        if isinstance(step, HandOff):
            stage.hand_off(step)
        stage.view(failed=True)
        turns += 1
    assert (turns, step.reason) == (7, "errors"), "five that count, and two that might still have been mended"


@pytest.mark.proves("S-11")
def test_five_mistakes_at_once_are_one_row() -> None:
    """A batch in which all calls fail is one failed turn; a batch with a success is none."""
    faults = Faults().returned(1, mistakes=5, is_success=False)
    assert (faults.row, faults.turns) == (1, ())
    assert Faults().returned(1, mistakes=5, is_success=True).row == 0
    # A success in the same batch corrects nothing; one in the next two turns does.
    beside = Faults().returned(1, mistakes=5, is_success=True)
    assert beside.returned(2, mistakes=1, is_success=False).returned(3, mistakes=0, is_success=False).turns == (1,) * 5
    assert beside.returned(2, mistakes=0, is_success=True) == Faults()


@pytest.mark.proves("S-11")
def test_what_we_refuse_costs_nothing() -> None:
    """Six refusals of ours in one batch, turn after turn, count nothing."""
    stage = working("default")
    for _ in range(10):
        stage.view(failed=True, is_refusal=True)
        assert isinstance(stage.step(), Ask)
    assert stage.session.state.faults == Faults()


@pytest.mark.proves("S-11", "S-3")
def test_failed_calls_of_tools_escalate_without_a_breaker() -> None:
    """Tools need no wait: the third failure escalates, the fourth is a boundary, and a success in between ends the row."""
    stage = working()
    for _ in range(3):
        stage.view(failed=True)
        assert isinstance(stage.step(), Ask)
    assert stage.session.state.faults.escalates(SEED)
    stage.view()
    assert not stage.session.state.faults.escalates(SEED)
    stage = working()
    for _ in range(4):
        stage.view(failed=True)
    step = stage.step()
    assert isinstance(step, HandOff)
    assert (step.reason, step.evidence) == ("errors", "4 failures in a row")
    stage.hand_off(step)
    assert isinstance(stage.step(), Ask)
    for _ in range(2):
        assert isinstance(stage.step(), Ask)
        stage.view(failed=True)
    assert isinstance(stage.step(), Ask), "the row begins anew"
    stage.view(failed=True)
    assert isinstance(stage.step(), Stop), "the total does not: five that count"


@pytest.mark.proves("S-11", "S-3")
def test_after_a_handoff_as_many_failures_in_a_row_are_borne_as_before_it() -> None:
    """Each time the fourth failure is a boundary, and no other."""
    stage = Stage(limits=replace(PROFILES["swe-1.5"], errors=ErrorLimits(total=99)))
    stage.prompt("Fix the bug.")
    for _ in range(3):
        for _ in range(4):
            assert isinstance(stage.step(), Ask)
            stage.view(failed=True)
        step = stage.step()
        assert isinstance(step, HandOff)
        assert (step.reason, step.evidence) == ("errors", "4 failures in a row")
        stage.hand_off(step)


@pytest.mark.proves("S-11")
@pytest.mark.parametrize("kind", sorted(RECOVERIES))
def test_only_what_waiting_cures_is_tried_again(kind: str) -> None:
    """Bad keys, bad requests and the like stop the work at once with advice, and never open the breaker."""
    stage = working()
    stage.fail(kind)
    step = stage.step()
    if kind in CURED_BY_WAITING:
        assert isinstance(step, Ask)
        return
    assert isinstance(step, Stop)
    assert step.reason == kind
    assert step.message.endswith(".")
    assert stage.session.state.faults.open_until_seconds is None
    stage.prompt("It is mended.")
    assert isinstance(stage.step(), Ask)


@pytest.mark.proves("S-11")
def test_a_probe_that_fails_otherwise_does_not_open_the_breaker_again() -> None:
    """The provider is available again and reports a wrong key: once that is fixed, nothing waits."""
    stage = working("default")
    for _ in range(3):
        stage.fail()
    stage.tick(1_060)
    stage.fail("auth")
    assert isinstance(stage.step(), Stop)
    stage.prompt("Here is another key.")
    assert blocked(stage) is None


@pytest.mark.proves("S-11")
def test_what_a_provider_asks_to_wait_is_honoured() -> None:
    """Retry-After of the first failure delays the next request, and outlasts the breaker if it is longer."""
    stage = working("default")
    stage.fail("rate_limit", retry_after=7.5)
    assert blocked(stage) == 1_007.5
    stage.tick(1_007.5)
    assert isinstance(stage.step(), Ask)
    stage.fail("rate_limit", retry_after=0)
    assert isinstance(stage.step(), Ask)
    stage.fail("overloaded", retry_after=300)
    assert blocked(stage) == 1_307.5
    stage.tick(1_307.5)
    stage.view()
    stage.fail("rate_limit", retry_after=1)
    assert blocked(stage) == 1_308.5


@pytest.mark.proves("S-11")
def test_a_clock_that_goes_back_is_not_believed() -> None:
    """The wait neither grows nor ends because of it; a clock that moves forward ends it."""
    stage = working()
    for _ in range(3):
        stage.fail()
    for now in (1_030, 3, -50, 1_010):
        stage.tick(now)
        assert blocked(stage) == 1_060
    assert stage.session.state.now_seconds == 1_030
    stage.tick(float("nan"))
    assert blocked(stage) == 1_060
    stage.tick(1e12)
    assert isinstance(stage.step(), Ask)


@pytest.mark.proves("S-11")
def test_nothing_is_sent_while_the_breaker_is_open_but_the_user_is_heard() -> None:
    """An interrupt and another prompt are accepted, while the request still waits."""
    stage = working()
    for _ in range(3):
        stage.fail()
    stage.interrupt()
    stage.prompt("Are you there?")
    assert blocked(stage) == 1_060
    stage.tick(1_060)
    assert isinstance(stage.step(), Ask)


def test_the_cooldown_doubles_up_to_ten_minutes() -> None:
    """Failing probes wait 60, 120, 240, 480, 600 and 600 s; a longer configured cooldown stays as it is."""
    waits: list[float] = []
    faults = Faults()
    now = 0.0
    for _ in range(8):
        faults = faults.failed("overloaded", 0, now, SEED)
        until = faults.blocked_until(now)
        if until is not None:
            waits.append(until - now)
            now = until
    assert waits == [60, 120, 240, 480, 600, 600]
    assert waits[-1] == MAX_COOLDOWN_SECONDS
    patient = ErrorLimits(cooldown_seconds=1_000, row=1)
    for _ in range(2):
        faults = Faults().failed("overloaded", 0, 0, patient).failed("overloaded", 0, 1_000, patient)
        assert faults.open_until_seconds == 2_000

"""If a refusal names a smaller window than assumed, do the session and its resumes keep to it?"""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from tests.session.stage import Stage

from penstock.agent.journal import hold_to, resumed
from penstock.agent.loop import Agent
from penstock.agent.toolbox import Toolbox
from penstock.models import RemoteModel, ScriptedModel, call, fail, say
from penstock.overflow.learned import LIFETIME_SECONDS, SMALLEST_TOKENS
from penstock.session import Ask, Compact, Session, Ticked
from penstock.session.limits import PROFILES, Pressure
from penstock.store import open_store
from penstock.testing import LoopbackProvider
from penstock.wires import tool_definitions
from penstock.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.models import ScriptStep

BELIEVED, REAL = 128_000, 16_000


def refused(**overflow: Any) -> Stage:
    """Return a session at work whose last request was refused with this overflow."""
    stage = Stage(window=BELIEVED)
    stage.prompt("Fix the bug.")
    for _ in range(20):
        stage.view("a line of text\n" * 70)
    stage.until_asked()
    stage.refuse(**{"input": stage.size, **overflow})
    return stage


@pytest.mark.proves("S-2")
def test_a_window_that_a_resume_is_given_is_kept_after_a_day() -> None:
    """What was assumed before the refusal is nobody's wish any more."""
    session = refused(limit=REAL).session
    given = PROFILES["default"].scaled(REAL // 2)
    hold_to(session, {"limits": given.to_dict()})
    session.feed(Ticked(now_seconds=1.0))
    session.feed(Ticked(now_seconds=2.0 + LIFETIME_SECONDS))
    assert session.state.limits == given


@pytest.mark.proves("S-2")
def test_the_session_keeps_to_the_window_that_a_refusal_named() -> None:
    """The history grows, but no later request exceeds the window; rungs, reserve and fill belong to that window too."""
    stage = refused(limit=REAL)
    for number in range(60):
        asked = stage.until_asked()
        assert stage.size + asked.reserve_tokens <= REAL, number
        stage.view("a line of text\n" * 70)
    limits = stage.session.state.limits
    assert limits == PROFILES["default"].scaled(REAL)
    assert limits.from_tokens(Pressure.HAND_OFF) == 14_375
    assert stage.session.bill().reserve_tokens == REAL // 4
    assert stage.session.fill() == pytest.approx(stage.session.bill().tokens / REAL)
    assert stage.replayed() == stage.session
    assert stage.replayed().state.limits == limits
    assert json.loads(stage.header)["limits"]["window_tokens"] == BELIEVED, "what it was begun with is not rewritten"


@pytest.mark.proves("R-5")
@pytest.mark.parametrize("is_timed", [False, True])
def test_a_smaller_window_is_forgotten_when_no_refusal_has_come_for_a_day(is_timed: bool) -> None:
    """It may have been a regional cap. A refusal before any time was reported counts from the first report."""
    stage = Stage(window=BELIEVED)
    if is_timed:
        stage.feed(Ticked(now_seconds=1_000.0))
    stage.prompt("Fix the bug.")
    stage.until_asked()
    stage.refuse(input=stage.size, limit=REAL)
    for seconds, window in ((0, REAL), (LIFETIME_SECONDS - 1, REAL), (LIFETIME_SECONDS, BELIEVED)):
        stage.feed(Ticked(now_seconds=1_000.0 + seconds))
        assert stage.session.state.limits == PROFILES["default"].scaled(window)
    assert stage.replayed() == stage.session


@pytest.mark.parametrize(
    "overflow",
    [
        {"limit": None},
        {"limit": BELIEVED},
        {"limit": 1_000_000},
        {"limit": 40_000, "unit": "chars"},
    ],
)
def test_what_names_no_smaller_window_changes_none(overflow: dict[str, Any]) -> None:
    """Without a number, with a larger window, or with characters, the request shrinks and the limits stay."""
    stage = refused(**overflow)
    before = stage.size
    stage.until_asked()
    assert stage.size < before
    assert stage.session.state.limits == PROFILES["default"].scaled(BELIEVED)


def test_a_number_that_can_be_no_window_is_not_believed() -> None:
    """A code was taken for a limit: the request shrinks as if there were no number, and the window stays."""
    stage = refused(limit=SMALLEST_TOKENS - 1)
    before = stage.size
    assert isinstance(stage.until_asked(), Ask)
    assert before // 4 < stage.size < before
    assert stage.session.state.limits.window_tokens == BELIEVED


def test_the_smallest_of_several_windows_is_kept() -> None:
    """A later refusal with a larger window is not believed."""
    stage = refused(limit=REAL)
    stage.until_asked()
    stage.refuse(limit=12_000, input=stage.size)
    stage.until_asked()
    stage.refuse(limit=20_000, input=stage.size)
    assert stage.session.state.limits.window_tokens == 12_000


def test_what_a_refusal_made_fit_is_sent_before_anything_else_is_forgotten() -> None:
    """The request nearly fills the named window, above the rung for handing off, but is sent all the same."""
    stage = refused(kind="context_total", limit=24_000, input=23_000 - 1_100, output=8_000)
    step = stage.step()
    assert isinstance(step, Compact)
    assert step.strategy == "lower_reserve"
    stage.compact(step)
    assert stage.session.pressure() >= Pressure.COMPACT
    asked = stage.step()
    assert isinstance(asked, Ask)
    assert asked.reserve_tokens == step.reserve_tokens
    stage.view("text")
    assert isinstance(stage.step(), Compact), "and then it is time"


def test_a_shorter_reply_is_that_of_the_window_and_no_reason_to_rest() -> None:
    """The refusal does not say that it included 8,000 tokens of reply: the request stays whole, and is compacted at its rung."""
    stage = Stage(window=BELIEVED)
    stage.prompt("Fix the bug.")
    for _ in range(8):
        stage.view("a line of text\n" * 70)
    before = stage.until_asked().transcript
    stage.refuse(kind="context_total", limit=REAL)
    step = stage.step()
    assert isinstance(step, Compact)
    assert step.strategy == "lower_reserve"
    stage.compact(step)
    asked = stage.until_asked()
    assert asked.transcript == before
    assert asked.reserve_tokens == REAL // 4
    while not stage.session.state.compactions:
        assert stage.session.pressure() < Pressure.COMPACT
        stage.view("a line of text\n" * 70)
        stage.until_asked()


class Reader:
    """A policy that views one file after another."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, request: dict[str, Any]) -> ScriptStep:
        del request
        self.seen += 1
        return call("view", file_path=f"{self.seen:03d}.txt") if self.seen % 40 else say("I have seen forty.")


def test_a_provider_refuses_once_and_not_again_though_the_history_grows(tmp_path: Path) -> None:
    """Over HTTP, with a hundred requests, half of them after a resume, only the first too large one is refused."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(120):
        (tree / f"{number:03d}.txt").write_text(f"{number}: nothing to see in this line of the file\n" * 60)
    with (
        LoopbackProvider("openai-chat", REAL, policy=Reader(), refusal="openai") as provider,
        closing(open_store(f"sqlite://{tmp_path}/store")) as store,
    ):
        model = RemoteModel("openai-chat", "loopback", base_url=provider.base_url)
        toolbox = Toolbox(Workspace(tree), store, window_tokens=BELIEVED)
        tools = tool_definitions(toolbox.tools, "openai-chat")
        session = Session(limits=PROFILES["default"], system="Look.", tools=tools, session_id="one")
        agent = Agent(session, model, toolbox, store)
        agent.begin()
        assert agent.run("Look at forty files.").outcome == "answered"
        assert provider.refused == 1
        found, _, next_seq = resumed(store, "one")
        assert found == agent.session
        later = Agent(found, model, toolbox, store, next_seq=next_seq)
        assert [later.run("And at forty more.").outcome for _ in range(2)] == ["answered"] * 2
        assert provider.refused == 1
        assert len(provider.requests) > 100


@pytest.mark.proves("R-5")
def test_a_session_that_never_fails_again_forgets_the_smaller_window_too(tmp_path: Path) -> None:
    """Its driver tells it the time when the window has outlived its day, in the middle of the work, too."""
    message = f"This model's maximum context length is {REAL} tokens. However, your messages resulted in 20000 tokens."
    now = [1_000.0]
    seen: list[int] = []

    class HalfADayLater(ScriptedModel):
        def send(self, request: dict[str, Any], **options: Any) -> dict[str, Any]:
            seen.append(agent.session.state.limits.window_tokens)
            now[0] += LIFETIME_SECONDS / 2
            return super().send(request, **options)

    refusal = fail(400, {"error": {"message": message, "code": "context_length_exceeded"}})
    model = HalfADayLater(
        [
            *[call("view", file_path="a.txt", offset=at) for at in (0, 100, 200)],
            refusal,
            *[call("list_files")] * 2,
            say("Done."),
        ]
    )
    (tmp_path / "a.txt").write_text("a line of text\n" * 400)
    with closing(open_store(f"sqlite://{tmp_path}/store")) as store:
        toolbox = Toolbox(Workspace(tmp_path), store, window_tokens=BELIEVED)
        tools = tool_definitions(toolbox.tools, "openai-chat")
        session = Session(limits=PROFILES["default"], system="Look.", tools=tools, session_id="one")
        agent = Agent(session, model, toolbox, store, clock=lambda: now[0])
        agent.begin()
        assert agent.run("Look.").outcome == "answered"
        assert seen == [*[BELIEVED] * 4, REAL, REAL, BELIEVED]
        found, _, _ = resumed(store, "one")
    assert found == agent.session

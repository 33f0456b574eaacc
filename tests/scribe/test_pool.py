"""Are questions asked a few at a time, with passing faults waited for, others reported, and interrupts obeyed?"""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest

from penstock.errors import CallerError
from penstock.models import Disconnected, Refused, ScriptedModel, ScriptMismatch, fail, refuse, say
from penstock.scribe.pool import (
    LONGEST_WAIT_SECONDS,
    MIN_REPLY_TOKENS,
    ModelPool,
    Pool,
    PoolReply,
    Progress,
    Unanswered,
)
from penstock.scribe.prompts import Prompt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.models import Model, ScriptStep

PROMPT = Prompt("Instructions.", "Source.")
RATE = {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}


class Waits(list[float]):
    """A clock that waiting moves forward."""

    def __call__(self) -> float:
        return sum(self)


def desk(steps: Iterable[ScriptStep], wire: str = "openai-chat", **more: Any) -> tuple[ModelPool, ScriptedModel, Waits]:
    """Return a pool before a model with a script, the model and its clock."""
    waits = Waits()
    model = ScriptedModel(steps, wire)
    return ModelPool(model, clock=waits, pause=waits.append, **more), model, waits


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
def test_instructions_stand_where_the_wire_has_them(wire: str) -> None:
    """Instructions are there once, apart from the question, and the text of the answer comes back."""
    asked, model, _ = desk([say("done", requires=["Instructions", "Source"])], wire)
    assert asked.ask(PROMPT, 100) == PoolReply("answered", "done", sent=1)
    (body,) = model.requests
    assert str(body).count("Instructions.") == 1


@pytest.mark.proves("C-9")
def test_waits_grow_where_nobody_names_one() -> None:
    """After one, two, four and eight seconds the question is given up, with the reason and the number of tries."""
    asked, _, waits = desk([fail(500, "boom")] * 5)
    reply = asked.ask(PROMPT, 100)
    assert (reply.outcome, reply.sent, waits) == ("failed", 5, [1, 2, 4, 8])
    assert reply.reason.startswith("server error")
    assert reply.reason.endswith("5 times")


def test_the_wait_that_a_provider_names_holds_for_everybody() -> None:
    """Another question asked meanwhile waits as long."""
    step = fail(429, {"error": {"message": "Rate limit reached, try again in 20s", "code": "rate_limit_exceeded"}})
    asked, _, waits = desk([step, say("late")])
    assert asked.ask(PROMPT, 100).words == "late"
    assert waits == [20]


def test_a_wait_that_is_too_long_is_not_waited_for() -> None:
    """Whether to wait an hour is a person's decision."""
    too_long = f"try again in {int(LONGEST_WAIT_SECONDS) + 1}s"
    asked, _, waits = desk(
        [fail(429, {"error": {"message": f"Rate limit, {too_long}", "code": "rate_limit_exceeded"}})]
    )
    assert asked.ask(PROMPT, 100).outcome == "failed"
    assert waits == []


@pytest.mark.parametrize(
    "step",
    [
        fail(401, {"error": {"message": "bad key", "code": "invalid_api_key"}}),
        fail(402, {"error": {"message": "Insufficient balance"}}),
        fail(404, {"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}),
    ],
)
def test_what_no_chunk_can_cure_ends_the_asking_for_all(step: ScriptStep) -> None:
    """A refused key, an empty account and an unknown model end the asking for all questions."""
    asked, model, _ = desk([step])
    first, second = asked.ask(PROMPT, 100), asked.ask(PROMPT, 100)
    assert first.outcome == second.outcome == "failed"
    assert second.reason == first.reason
    assert (len(model.requests), second.sent) == (1, 0)


def test_a_prompt_that_is_forbidden_ends_that_question_alone() -> None:
    """A firewall before the model may forbid one prompt; eight different prompts in a row mean that the key is at fault."""
    forbidden = fail(403, {"error": {"message": "Forbidden"}})
    asked, model, _ = desk([forbidden] * 9 + [say("done")] + [forbidden] * 8)
    for _ in range(9):
        assert asked.ask(PROMPT, 100).outcome == "failed"
    assert asked.ask(PROMPT, 100).words == "done"
    for number in range(9):
        assert asked.useless is None or number == 8
        assert asked.ask(PROMPT._replace(user=f"another {number}"), 100).outcome == "failed"
    assert len(model.requests) == 18


def test_a_model_that_knows_why_there_is_no_answer_says_so_in_its_own_words() -> None:
    """The stated reason is used, and is not parsed as a new refusal."""

    class Knowing:
        wire, name, window_tokens = "openai-chat", "x", None

        def send(self, _request: Any, /) -> Any:
            raise Unanswered("bad request: HTTP 400")

    assert ModelPool(Knowing()).ask(PROMPT, 100) == PoolReply("failed", reason="bad request: HTTP 400")


@pytest.mark.proves("C-5")
def test_a_prompt_as_large_as_one_that_was_refused_is_not_sent() -> None:
    """All questions learn from a refusal: a larger prompt fails without asking, a smaller one is tried."""
    asked, model, _ = desk([refuse(9_000, of=6_000), say("fits")], reply_tokens=500)
    refused = asked.ask(PROMPT, 8_000)
    assert refused.outcome == "too_large"
    assert 0 < refused.fitting_tokens < 8_000 * 6_000 / 9_000
    assert asked.ask(PROMPT, 8_001) == PoolReply("too_large", "", refused.reason, 0, refused.fitting_tokens)
    assert asked.ask(PROMPT, 4_000).words == "fits"
    assert len(model.requests) == 2


def test_a_shorter_reply_is_asked_for_where_that_is_enough() -> None:
    """The provider's stated window has room for a shorter reply; from then on all questions ask for one."""
    body = {
        "error": {
            "message": "This model's maximum context length is 8192 tokens. However, you requested 12192 tokens (4000 in the "
            "messages, 8192 in the completion). Please reduce the length of the messages or completion.",
            "code": "context_length_exceeded",
        }
    }
    asked, model, _ = desk([fail(400, body), say("short"), say("again")])
    assert asked.ask(PROMPT, 4_000) == PoolReply("answered", "short", sent=2)
    assert asked.ask(PROMPT, 4_000).words == "again"
    caps = [body["max_tokens"] for body in model.requests]
    assert caps[0] > caps[1] == caps[2] >= 1_024


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic"])
def test_a_model_with_short_replies_is_asked_for_such(wire: str) -> None:
    """A limit on replies says nothing about the prompt: the reply is halved until accepted, from then on for all questions."""
    body = {
        "error": {"type": "invalid_request_error", "message": "max_tokens: 8192 > 3000, which is the maximum allowed "}
    }
    body["error"]["message"] += "number of output tokens for this model"
    asked, model, waits = desk([fail(400, body), fail(400, body), say("short"), say("again")], wire)
    assert asked.ask(PROMPT, 4_000) == PoolReply("answered", "short", sent=3)
    assert asked.ask(PROMPT, 4_000).words == "again"
    assert [body["max_tokens"] for body in model.requests] == [8_192, 4_096, 2_048, 2_048]
    assert waits == []


def test_a_model_without_replies_is_given_up() -> None:
    """Not even the shortest useful reply is allowed."""
    body = {"error": {"message": "max_tokens is too large: 1024. This model supports at most 100 completion tokens."}}
    asked, model, _ = desk([fail(400, body)] * 4)
    reply = asked.ask(PROMPT, 4_000)
    assert (reply.outcome, reply.sent) == ("failed", 4)
    assert reply.reason.startswith("output cap")
    assert model.requests[-1]["max_tokens"] == MIN_REPLY_TOKENS


def test_a_mistake_in_a_script_is_not_taken_for_a_refusal() -> None:
    """An assertion in a test's script is not retried."""
    asked, _, _ = desk([])
    with pytest.raises(ScriptMismatch):
        asked.ask(PROMPT, 100)


@pytest.mark.parametrize(
    ("error", "outcome", "sent"),
    [
        (Disconnected("idle", "nothing came"), "failed", 5),
        (Disconnected("settings", "self-signed certificate"), "failed", 1),
        (Refused(400, {"error": {"message": "no such field"}}), "failed", 1),
        (CallerError("the model's answer holds no message"), "failed", 5),
        (ValueError("anything"), "failed", 1),
    ],
)
def test_whatever_a_model_raises_is_read(error: Exception, outcome: str, sent: int) -> None:
    """Time-outs, refusals and mistakes each have an outcome, and are retried only if that may help."""

    class Broken:
        wire, name, window_tokens = "openai-chat", "broken", None

        def send(self, request: dict[str, Any], /) -> dict[str, Any]:
            raise error

    waits = Waits()
    pool = ModelPool(Broken(), clock=waits, pause=waits.append)
    reply = pool.ask(PROMPT, 100)
    assert (reply.outcome, reply.sent) == (outcome, sent)
    is_for_all = isinstance(error, Disconnected) and error.kind == "settings"
    assert (pool.ask(PROMPT, 100).sent == 0) is is_for_all


def test_a_stopped_desk_sends_nothing() -> None:
    """A question that waits for its turn is told too."""
    asked, model, _ = desk([])
    asked.stop()
    assert asked.ask(PROMPT, 100).outcome == "stopped"
    assert model.requests == []


def test_a_desk_that_begins_nothing_more_does_not_wait_for_its_turn() -> None:
    """The stop comes during a minute's wait that the provider asked for: nothing must be sent after it."""
    step = fail(429, {"error": {"message": "Rate limit reached, try again in 60s", "code": "rate_limit_exceeded"}})
    looks: list[int] = []

    def is_draining() -> bool:
        looks.append(1)
        return len(looks) > 10

    asked, model, waits = desk([step], is_draining=is_draining)
    assert asked.ask(PROMPT, 100) == PoolReply("stopped", sent=1)
    assert 0 < sum(waits) < 1.5
    assert len(model.requests) == 1


def test_a_request_under_way_is_cancelled() -> None:
    """A model that supports it is cancelled."""
    begun = threading.Event()

    class Slow:
        wire, name, window_tokens = "openai-chat", "slow", None

        def send(self, request: dict[str, Any], /, *, cancelled: threading.Event) -> dict[str, Any]:
            from penstock.models import Cancelled

            begun.set()
            assert cancelled.wait(60)
            raise Cancelled("gone")

    asked = ModelPool(cast("Model", Slow()))
    replies: list[PoolReply] = []
    thread = threading.Thread(target=lambda: replies.append(asked.ask(PROMPT, 100)))
    thread.start()
    assert begun.wait(60)
    asked.stop()
    thread.join(60)
    assert [reply.outcome for reply in replies] == ["stopped"]


# ── pools ────────────────────────────────────────────────────────────────────────────────────────────────────────


def nothing() -> None:
    """Do nothing to stop."""


def test_pieces_that_turn_into_smaller_ones_are_all_done() -> None:
    """Numbers are halved until they are 1; work in progress never exceeds the number of jobs."""
    lock, busy, most = threading.Lock(), 0, 0

    def work(task: int) -> tuple[int, list[int]]:
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        with lock:
            busy -= 1
        return (1, []) if task == 1 else (0, [task // 2, task - task // 2])

    told: list[Progress] = []
    pool = Pool(work, jobs=3, stop=nothing, progress=told.append, clock=lambda: 0.0)
    done = list(pool.run([5, 8]))
    assert sum(made for _, made, _ in done) == 13
    assert sum(len(smaller) for _, _, smaller in done) + 2 == len(done)
    assert most <= 3
    assert told[-1].done == told[-1].total == 13 + 11


def test_what_is_raised_in_a_piece_is_raised_to_who_waits() -> None:
    """The other pieces are stopped."""
    stopped: list[bool] = []

    def work(_: int) -> tuple[int, list[int]]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(Pool(work, jobs=2, stop=lambda: stopped.append(True)).run([1, 2, 3]))
    assert stopped == [True]


def test_whoever_walks_away_stops_the_work() -> None:
    """A closed generator sends nothing more."""
    stopped: list[bool] = []
    pool: Pool[int, int] = Pool(lambda task: (task, []), jobs=1, stop=lambda: stopped.append(True))
    running = pool.run([1, 2, 3])
    next(running)
    running.close()
    assert stopped == [True]


def test_whoever_insists_is_not_kept_waiting() -> None:
    """A piece that does not end after an interrupt does not block the next interrupt."""
    stopped = [threading.Event(), threading.Event()]

    def stop() -> None:
        stopped[stopped[0].is_set()].set()

    def work(_: int) -> tuple[bool, list[int]]:
        signal.raise_signal(signal.SIGINT)
        assert stopped[0].wait(60)
        signal.raise_signal(signal.SIGINT)
        return stopped[1].wait(60), []

    pool: Pool[int, bool] = Pool(work, jobs=1, stop=stop)
    with pytest.raises(KeyboardInterrupt):
        list(pool.run([1]))
    assert pool.was_interrupted
    assert stopped[1].is_set()


def test_there_is_a_job_at_least() -> None:
    """With no job the work would never end."""
    with pytest.raises(CallerError, match="jobs"):
        Pool(lambda task: (task, []), jobs=0, stop=nothing)

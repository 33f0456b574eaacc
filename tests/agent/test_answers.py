"""Does the loop notice faults of a successful answer, and retry, continue or report them (R-6)?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.conftest import Heard
from tests.carrier.test_diagnosed import CUT, MINUTE, answer, silent, size, stopped

from penstock.agent.asking import MAX_CONTINUATIONS
from penstock.handoff import encode
from penstock.models import RemoteModel, ScriptedModel, call, calls, fail, refuse, say
from penstock.models import provider as doubles
from penstock.models.steps import ScriptedCall, ScriptedReply
from penstock.overflow.silent import reported_input
from penstock.testing import LoopbackProvider
from penstock.text.json_access import parsed_finite
from penstock.wires import WIRES, answer_messages, load, output_tokens, violations, wire_named
from penstock.wires.placeholders import GO_ON, GO_ON_FROM_HERE
from penstock.wires.wire import AnswerContent

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.agent.loop import Agent

pytestmark = pytest.mark.proves("R-6")


class Served:
    """A model whose answers are bodies written by a test."""

    name, window_tokens = "m", None

    def __init__(self, wire: str, server: Callable[[Any], Any]) -> None:
        self.wire, self.server = wire, server
        self.sizes: list[int] = []

    def send(self, request: Any) -> Any:
        """Return the body that answers the request."""
        self.sizes.append(size(request))
        return self.server(request)


def always(body: Any) -> Callable[[Any], Any]:
    """A server that gives one answer."""
    return lambda _: body


def grown(begun: Callable[..., Agent], model: Served, turns: int = 8, window: int = 60_000) -> Agent:
    """An agent that has read several pages of a log, and now talks to that model."""
    script = [*(call("view", file_path="large.log", offset=1_000 * n, limit=300) for n in range(turns)), say("Read.")]
    agent = begun(ScriptedModel(script, model.wire), window=window)
    assert agent.run("Read the log.").outcome == "answered"
    agent.model = model
    agent._asking._can_stream = False
    return agent


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("refusal", [(429, MINUTE % (9_000, 40_000)), (413, ""), (413, "<html>413</html>")])
def test_what_a_smaller_request_cures_is_cured(
    begun: Callable[..., Agent], wire: str, refusal: tuple[int, str]
) -> None:
    """A request above the limit per minute, or of too many bytes, is made smaller; the run neither waits nor ends."""
    script = [
        *(call("view", file_path="large.log", offset=1_000 * n, limit=300) for n in range(8)),
        fail(*refusal),
        say("It says nothing."),
    ]
    model = ScriptedModel(script, wire)
    run = begun(model, window=60_000).run("What does the log say?")
    assert (run.outcome, run.recoveries, run.answer) == ("answered", 1, "It says nothing.")
    before, after = (size(request) for request in model.requests[-2:])
    assert after < before


@pytest.mark.parametrize("wire", WIRES)
def test_a_request_that_was_cut_without_a_word_is_sent_smaller(begun: Callable[..., Agent], wire: str) -> None:
    """If a server dropped the beginning of a request, its answer is not the answer of the run."""

    def server(request: Any) -> Any:
        taken = min(size(request), 3_000)
        return answer(wire, "guessed" if taken == 3_000 else "Forty.", taken)

    model = Served(wire, server)
    run = grown(begun, model).run("How many?")
    assert (run.outcome, run.answer) == ("answered", "Forty.")
    assert model.sizes[-1] < 3_000 < model.sizes[0]
    assert "3000 tokens of input" in run.warnings[0]


def test_a_number_that_stays_while_a_session_grows_is_a_window(begun: Callable[..., Agent]) -> None:
    """Four fifths of our own count could be a difference of counting; the third answer with the same input count is retried."""
    window: list[int] = []

    def server(request: Any) -> Any:
        window[:] = window or [size(request) * 4 // 5 | 1]
        taken = min(size(request), window[0])
        return answer("openai-chat", "guessed" if taken == window[0] else "Forty.", taken)

    agent = grown(begun, Served("openai-chat", server))
    runs = [agent.run("And then? " * 260) for _ in range(3)]
    assert [run.answer for run in runs] == ["guessed", "guessed", "Forty."]
    assert [bool(run.warnings) for run in runs] == [False, False, True]
    assert f"{window[0]} tokens of input again" in runs[2].warnings[0]


@pytest.mark.parametrize("wire", WIRES)
def test_a_model_that_reports_only_what_it_had_not_cached_is_not_taken_for_one_that_cuts(
    begun: Callable[..., Agent], wire: str
) -> None:
    """As the provider took all of it before, the smaller number is reported, and nothing is cut."""
    reported = [0, 0]

    def server(request: Any) -> Any:
        reported[:] = [size(request), *reported[:1]]
        return answer(wire, "Forty.", reported[0] if not reported[1] else 2_000)

    model = Served(wire, server)
    agent = grown(begun, model)
    for _ in range(2):
        run = agent.run("How many?")
        assert (run.outcome, run.recoveries, run.cuts) == ("answered", 0, 0)
    assert "seems to have dropped" in run.warnings[0]


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_that_no_smaller_request_betters_is_taken(begun: Callable[..., Agent], wire: str) -> None:
    """A question alone cannot shrink: its answer is the run's, and the person is warned about it."""
    run = begun(Served(wire, lambda _: answer(wire, "Forty.", 300))).run("How many?")
    assert (run.outcome, run.answer, run.recoveries) == ("answered", "Forty.", 0)
    assert "300 tokens of input" in run.warnings[0]


@pytest.mark.parametrize("wire", WIRES)
def test_a_number_below_what_cannot_go_cuts_nothing(begun: Callable[..., Agent], wire: str) -> None:
    """If less is reported than instructions and tools alone, leaving out anything would not help; the person is warned once."""
    agent = grown(begun, Served(wire, lambda _: answer(wire, "Forty.", 700)))
    for _ in range(2):
        run = agent.run("How many?")
        assert (run.outcome, run.answer, run.recoveries, run.cuts) == ("answered", "Forty.", 0, 0)
        assert ["700 tokens of input" in warning for warning in run.warnings] == [True]


def test_what_is_wrong_with_each_answer_of_a_run_is_told_once(begun: Callable[..., Agent]) -> None:
    """One warning covers all answers of a run, although the numbers differ in each turn."""
    double, looked = wire_named("openai-chat").double, ("view", '{"file_path": "large.log", "limit": 1}')
    given = iter(
        double.answer(
            AnswerContent(text="Forty.", calls=done, number=at, model="m", input_tokens=700 + at, output_tokens=9)
        )
        for at, done in enumerate([(looked,), (looked,), ()])
    )
    run = grown(begun, Served("openai-chat", lambda _: next(given))).run("How many?")
    assert (run.outcome, run.turns, len(run.warnings)) == ("answered", 3, 1)
    assert "700 tokens of input" in run.warnings[0]


@pytest.mark.parametrize("wire", WIRES)
def test_an_empty_reply_is_tried_smaller_or_once_more(begun: Callable[..., Agent], wire: str) -> None:
    """The request is made smaller if it is a large part of the window; else it is repeated as it was, as the fault may pass."""

    def large(request: Any) -> Any:
        return silent(wire, size(request)) if size(request) > 12_000 else answer(wire, given=size(request))

    model = Served(wire, large)
    run = grown(begun, model).run("How many?")
    assert (run.answer, run.recoveries) == ("Forty.", 1)
    given = iter([silent(wire, 4_000), answer(wire, given=4_000)])
    run = begun(Served(wire, lambda _: next(given)), window=30_000).run("How many?")
    assert (run.answer, run.recoveries) == ("Forty.", 0)
    assert "answered nothing" in run.warnings[0]
    run = begun(Served(wire, lambda _: silent(wire, 4_000)), window=30_000).run("How many?")
    assert (run.outcome, run.turns, run.answer) == ("empty", 1, "")
    assert "answered nothing" in run.message
    assert f"penstock resume {run.session}" in run.message


@pytest.mark.parametrize("wire", WIRES)
def test_a_reply_that_was_cut_is_gone_on_with(begun: Callable[..., Agent], wire: str) -> None:
    """The parts of a cut reply are joined to one answer; after a few parts the person is told."""
    given = iter([stopped(wire, answer(wire, "Forty, be", 4_000, 8_000), CUT[wire]), answer(wire, "cause so.", 4_100)])
    model = Served(wire, lambda _: next(given))
    agent = begun(model)
    run = agent.run("How many?")
    assert (run.outcome, run.answer) == ("answered", "Forty, because so.")
    assert GO_ON in json.dumps([entry.raw for entry in agent.session.state.transcript.entries])
    # The request to continue is ours, not a wish of the user: a handoff does not contain it.
    assert GO_ON not in encode(agent.session.handoff("manual"))
    endless = Served(wire, lambda _: stopped(wire, answer(wire, "and ", 4_000, 8_000), CUT[wire]))
    run = begun(endless).run("How many?")
    assert (run.answer, run.turns) == ("and " * (MAX_CONTINUATIONS + 1), MAX_CONTINUATIONS + 1)
    assert "length limit" in run.warnings[0]


WITHHELD = {
    "openai-chat": "content_filter",
    "openai-responses": "content_filter",
    "anthropic": "refusal",
    "gemini": "PROHIBITED_CONTENT",
    "bedrock": "guardrail_intervened",
}


@pytest.mark.parametrize("wire", WIRES)
def test_a_reply_that_was_withheld_is_told(begun: Callable[..., Agent], wire: str) -> None:
    """Its words are the answer, none are no answer, and asking again would change neither."""
    for body, outcome in ((answer(wire, "Fo", 4_000), "answered"), (silent(wire, 4_000), "withheld")):
        model = Served(wire, always(stopped(wire, body, WITHHELD[wire])))
        run = begun(model).run("How many?")
        assert (run.outcome, run.turns, len(model.sizes)) == (outcome, 1, 1)
        assert "withheld" in run.warnings[0]
        assert (f'penstock resume {run.session} "QUESTION"' in run.message) == (outcome == "withheld")


def test_a_turn_that_the_provider_pauses_is_continued(begun: Callable[..., Agent]) -> None:
    """What came is a part of the answer, and the model is asked for the rest; the words for that are not the user's."""
    given = iter([stopped("anthropic", answer("anthropic", "Forty, ", 4_000), "pause_turn"), answer("anthropic")])
    agent = begun(Served("anthropic", lambda _: next(given)))
    run = agent.run("How many?")
    assert (run.outcome, run.answer, run.turns) == ("answered", "Forty, Forty.", 2)
    assert GO_ON_FROM_HERE not in encode(agent.session.handoff("manual"))


@pytest.mark.parametrize("wire", WIRES)
def test_a_provider_that_reports_little_input_does_not_hide_how_its_reply_ended(
    begun: Callable[..., Agent], wire: str
) -> None:
    """Whoever counts only what was not cached is doubted at every answer; a cut, empty or withheld one is still seen as that."""

    def served(*bodies: Any) -> tuple[Any, int]:
        given = iter(bodies)
        model = Served(wire, lambda _: next(given))
        return begun(model, window=30_000).run("How many?"), len(model.sizes)

    cut = stopped(wire, answer(wire, "Forty, be", 40, 8_000), CUT[wire])
    run, requests = served(cut, answer(wire, "cause so.", 40))
    assert (run.answer, requests) == ("Forty, because so.", 2)
    assert ["40 tokens of input" in run.warnings[0], "length limit" in run.warnings[1]] == [True, True]
    run, requests = served(silent(wire, 40), answer(wire, given=40))
    assert (run.answer, requests) == ("Forty.", 2)
    run, requests = served(stopped(wire, answer(wire, "Fo", 40), WITHHELD[wire]))
    assert (run.answer, requests) == ("Fo", 1)
    assert "withheld" in run.warnings[1]


@pytest.mark.parametrize("wire", WIRES)
def test_a_reply_that_ended_for_an_unknown_reason_is_told(begun: Callable[..., Agent], wire: str) -> None:
    """It is taken, because it says something, and nobody has to take it for whole."""
    run = begun(Served(wire, always(stopped(wire, answer(wire, "Fo", 4_000), "zorp\x1b")))).run("How many?")
    assert (run.answer, run.warnings) == (
        "Fo",
        ("The reply may not be whole: it ended for a reason that is not known here (zorp\\x1b).",),
    )


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_speaks_for_nobody_else(begun: Callable[..., Agent], wire: str) -> None:
    """A server that gives it another role does not put words into the mouth of the person, or of the system."""
    role = '"model"' if wire == "gemini" else '"assistant"'
    for other in ('"user"', '"system"'):
        body = json.loads(json.dumps(answer(wire, "Forty.", 4_000)).replace(role, other))
        agent = begun(Served(wire, always(body)))
        assert agent.run("How many?").answer == "Forty."
        assert agent.session.state.transcript.entries[-1].role == "assistant"


@pytest.mark.parametrize("wire", WIRES)
def test_a_negative_count_is_not_a_count(wire: str) -> None:
    """Else an answer would give tokens back to the budget."""
    body = answer(wire, "Forty.", 4_000, -9_000)
    assert output_tokens(body, wire) is None
    assert reported_input(body) == 4_000


def test_a_refusal_is_still_a_refusal(begun: Callable[..., Agent]) -> None:
    """A refused request that is sent again smaller gives no warning about its answer."""
    run = begun(ScriptedModel([refuse(33_000, of=20_000), say("Forty.")]), window=32_000).run("How many? " * 5_000)
    assert run.warnings == ()


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses"])
def test_arguments_that_are_no_json_end_no_run(begun: Callable[..., Agent], wire: str) -> None:
    """The session keeps what the model wrote; a provider that would refuse it is sent an acceptable form; this is reported once."""
    broken = ScriptedReply(calls=(ScriptedCall("view", '{"file_path": "part'),))
    with LoopbackProvider(
        wire, 16_000, script=[broken, call("view", file_path="part_000.txt"), say("Nothing.")]
    ) as held:
        agent = begun(RemoteModel(wire, held.name, base_url=held.base_url, environment={}))
        agent.listener = heard = Heard()
        run = agent.run("What is in part 0?")
        assert (run.outcome, run.answer) == ("answered", "Nothing.")
        assert [received.outcome for received in held.requests] == ["answered"] * 3
    told = [step for step in heard.steps if step.startswith("repairs what the provider would reject")]
    assert len(told) == 1
    assert "as JSON" in told[0]


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "openai-responses", "bedrock"])
def test_two_calls_with_one_id_end_no_run(begun: Callable[..., Agent], wire: str, monkeypatch: Any) -> None:
    """Some servers number the calls of each answer anew, or not at all."""
    sound = wire_named(wire)

    def twins(content: Any) -> Any:
        return json.loads(
            json.dumps(sound.double.answer(content)).replace(f'_{content.number}_2"', f'_{content.number}_1"')
        )

    bent = replace(sound, double=replace(sound.double, answer=twins))
    monkeypatch.setattr(doubles, "wire_named", lambda _: bent)
    both = calls(call("view", file_path="part_000.txt"), call("view", file_path="part_001.txt"))
    with LoopbackProvider(wire, 16_000, script=[both, say("Both.")]) as held:
        agent = begun(RemoteModel(wire, held.name, base_url=held.base_url, environment={}))
        agent.listener = heard = Heard()
        run = agent.run("Look at two parts.")
        assert (run.outcome, run.answer) == ("answered", "Both.")
        assert [received.outcome for received in held.requests] == ["answered"] * 2
    # The model was sent the results of both calls, not only of the first.
    assert not [step for step in heard.steps if step.startswith("mends")]
    told = [result.text for entry in agent.session.state.transcript.entries for result in entry.results]
    assert [text.split(":")[0] for text in told] == ["part_000.txt", "part_001.txt"]


@pytest.mark.parametrize("wire", WIRES)
def test_a_server_that_numbers_its_calls_anew_each_time_is_understood(begun: Callable[..., Agent], wire: str) -> None:
    """The model reads the result of every call, and no id is sent to the provider twice."""
    scripted = ScriptedModel(
        [*(call("view", file_path=f"part_{n:03d}.txt", limit=1) for n in range(3)), say("Read.")], wire
    )
    sent: list[Any] = []

    def server(request: Any) -> Any:
        sent.append(request)
        body = scripted.send(request)
        given = [one.id for entry in load(answer_messages(body, wire), wire).entries for one in entry.calls]
        text = json.dumps(body)
        for id_ in given:
            text = text.replace(f'"{id_}"', '"call_0"')
        return json.loads(text)

    agent = begun(Served(wire, server))
    assert agent.run("Read three parts.").outcome == "answered"
    messages = sent[-1][wire_named(wire).body.messages_key]
    assert all(f"{n}: nothing to see in line 0" in json.dumps(messages) for n in range(3))
    assert violations(messages, wire) == []


@pytest.mark.parametrize("wire", WIRES)
def test_a_number_that_no_float_holds_is_a_mistake_of_the_model(begun: Callable[..., Agent], wire: str) -> None:
    """The model is told of its mistake, and the run continues."""
    scripted = ScriptedModel([call("view", file_path="large.log", offset=4_711), say("Sorry.")], wire)

    def server(request: Any) -> Any:
        return parsed_finite(json.dumps(scripted.send(request)).replace("4711", "1e999"))[1]

    agent = begun(Served(wire, server))
    assert agent.run("Read the log.").outcome == "answered"


@pytest.mark.parametrize("wire", WIRES)
def test_a_call_that_was_cut_is_told_to_be_smaller(begun: Callable[..., Agent], wire: str) -> None:
    """The model is asked for a smaller call: repeated whole, as other unreadable calls are, it would be cut again."""
    scripted = ScriptedModel([call("view", file_path="part_000.txt"), say("Read.")], wire)
    sent: list[Any] = []

    def server(request: Any) -> Any:
        sent.append(request)
        body = scripted.send(request)
        return stopped(wire, body, CUT[wire]) if len(sent) == 1 else body

    assert begun(Served(wire, server)).run("Read a part.").outcome == "answered"
    assert "a file in several parts" in json.dumps(sent[1])
    assert "a file in several parts" not in json.dumps(sent[0])


def test_whoever_ends_a_session_says_what_failed(begun: Callable[..., Agent]) -> None:
    """The last line alone, or the result alone, says what failed."""
    run = begun(ScriptedModel([call("view", file_path=f"none_{n}.txt") for n in range(9)])).run("Look.")
    assert run.outcome == "errors"
    assert "view" in run.message
    assert "There is no file or folder none_" in run.message
    run = begun(ScriptedModel([call("view", file_path="part_000.txt")] * 9)).run("Look.")
    assert run.outcome == "loop"
    assert 'view {"file_path": "part_000.txt"}' in run.message


@pytest.mark.proves("S-11")
@pytest.mark.parametrize("wire", ["anthropic", "bedrock"])
def test_a_text_in_the_place_of_arguments_is_named_as_one(begun: Callable[..., Agent], wire: str) -> None:
    """A stream's arguments that are not JSON are kept under a key, which is not an argument of any tool."""
    broken = {"INVALID_JSON": '{"file_path": "par'}
    looked = AnswerContent(
        text="", calls=(("view", json.dumps(broken)),), number=1, model="m", input_tokens=4_000, output_tokens=9
    )
    given = iter([wire_named(wire).double.answer(looked), answer(wire, "Forty.", 4_000)])
    agent = begun(Served(wire, lambda _: next(given)))
    assert agent.run("How many?").answer == "Forty."
    (told,) = [result.text for entry in agent.session.state.transcript.entries for result in entry.results]
    assert "The arguments are not a JSON object." in told
    assert told.endswith('Received: {"file_path": "par')


def test_a_call_without_a_name_is_told_so(begun: Callable[..., Agent]) -> None:
    """An empty name in a sentence reads as a mistake of ours."""
    agent = begun(ScriptedModel([call(""), say("Forty.")]))
    assert agent.run("How many?").answer == "Forty."
    (told,) = [result.text for entry in agent.session.state.transcript.entries for result in entry.results]
    assert "The call does not name a tool. Tools: view, " in told


def test_a_rejection_of_no_known_kind_reads_as_a_sentence(begun: Callable[..., Agent]) -> None:
    """With the kind, if there is one."""
    for status, words in [(302, "rejected the request: correct"), (400, "rejected the request (bad_request): correct")]:
        run = begun(ScriptedModel([fail(status, "zxq")])).run("How many?")
        assert words in run.message, run.message

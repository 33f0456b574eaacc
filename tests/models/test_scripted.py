"""Does a scripted model answer as its wire does, check the request against its step, and interfere with nothing else?"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.stated import WIRES

from penstock.errors import CallerError, Refusal
from penstock.models import (
    Model,
    Refused,
    ScriptedModel,
    ScriptMismatch,
    ScriptStep,
    call,
    calls,
    fail,
    load_model,
    refuse,
    say,
)
from penstock.overflow import diagnose, parse
from penstock.text import tokens
from penstock.wires import violations

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = Path(__file__).parents[2] / "src"


def asking(text: str, wire: str = "openai-chat", **more: Any) -> dict[str, Any]:
    """Return a request of one message."""
    return {"input" if wire == "openai-responses" else "messages": [{"role": "user", "content": text}], **more}


def carried(wire: str, body: dict[str, Any]) -> list[Any]:
    """Return the messages by which an answer goes back, each call with a result."""
    if wire == "openai-chat":
        message = body["choices"][0]["message"]
        results = [
            {"role": "tool", "tool_call_id": asked["id"], "content": "result"}
            for asked in message.get("tool_calls", [])
        ]
        return [message, *results]
    if wire == "openai-responses":
        asked = [item["call_id"] for item in body["output"] if item["type"] == "function_call"]
        return [*body["output"], *({"type": "function_call_output", "call_id": c, "output": "result"} for c in asked)]
    asked = [block["id"] for block in body["content"] if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": c, "content": "result"} for c in asked]
    return [{"role": "assistant", "content": body["content"]}, {"role": "user", "content": results or "go on"}]


def test_the_answers_of_each_wire_are_its_bodies() -> None:
    """They have words, calls with their arguments, the stop reason and usage, in each provider's places."""
    steps = [calls(call("read", path="a.py"), call("read", path="b.py"), text="Looking."), say("done")]
    chat, responses, anthropic = (ScriptedModel(steps, wire) for wire in WIRES)
    bodies = [model.send(asking("hi", model.wire)) for model in (chat, responses, anthropic)]

    choice = bodies[0]["choices"][0]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("tool_calls", "Looking.")
    asked = [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in choice["message"]["tool_calls"]]
    assert asked == [("call_1_1", "read", '{"path": "a.py"}'), ("call_1_2", "read", '{"path": "b.py"}')]

    message, first, second = bodies[1]["output"]
    assert message["content"][0]["text"] == "Looking."
    assert (first["call_id"], second["arguments"]) == ("call_1_1", '{"path": "b.py"}')

    text, *used = bodies[2]["content"]
    assert (text["text"], bodies[2]["stop_reason"]) == ("Looking.", "tool_use")
    assert [(block["id"], block["input"]) for block in used] == [
        ("toolu_1_1", {"path": "a.py"}),
        ("toolu_1_2", {"path": "b.py"}),
    ]

    second_chat, second_anthropic = chat.send(asking("hi")), anthropic.send(asking("hi"))
    assert second_chat["choices"][0]["message"] == {"role": "assistant", "content": "done", "refusal": None}
    assert second_chat["choices"][0]["finish_reason"] == "stop"
    assert second_anthropic["stop_reason"] == "end_turn"


def test_usage_is_counted_over_the_request() -> None:
    """System, tools and messages are counted as `penstock.tokens` does, the reply separately; the rest of a body is not."""
    model = ScriptedModel([say("four words of answer")], "anthropic")
    usage = model.send(
        {**asking("the question"), "system": "be brief", "tools": [{"name": "t"}], "metadata": "x" * 999}
    )
    prompt = tokens.count("be brief\nrole\nuser\ncontent\nthe question").tokens
    assert usage["usage"]["input_tokens"] == prompt + tokens.count("name\nt").tokens
    assert usage["usage"]["output_tokens"] == tokens.count("four words of answer").tokens


texts = st.text(st.characters(codec="utf-8"), max_size=30)
replies = st.one_of(
    texts.filter(str.strip).map(say),
    st.lists(
        st.dictionaries(texts, texts, max_size=2).map(lambda given: call("tool", given)), min_size=1, max_size=3
    ).map(lambda made: calls(*made, text="Let me see.")),
)


@given(st.sampled_from(WIRES), st.lists(replies, min_size=1, max_size=5))
def test_any_conversation_with_a_script_is_valid(wire: str, steps: list[ScriptStep]) -> None:
    """Its answers can be sent back with results, for as long as the script lasts."""
    model = ScriptedModel(steps, wire)
    said: list[Any] = [{"role": "user", "content": "begin"}]
    for _ in steps:
        body = model.send({**asking("", wire), ("input" if wire == "openai-responses" else "messages"): said})
        json.dumps(body)
        said += carried(wire, body)
        assert violations(said, wire) == []


@pytest.mark.parametrize("wire", WIRES)
def test_a_scripted_refusal_is_read_as_the_overflow_it_says(wire: str) -> None:
    """It has the words of the wire's provider; OpenAI's responses give no numbers."""
    model: Model = ScriptedModel([refuse(996_201, of=200_000)], wire)
    with pytest.raises(Refused) as caught:
        model.send(asking("hi", wire))
    found = parse(caught.value)
    assert found is not None
    numbers = (None, None) if wire == "openai-responses" else (996_201, 200_000)
    assert (found.input, found.limit) == numbers
    assert caught.value.status_code == 400
    assert isinstance(caught.value, Refusal)


def test_a_failure_is_raised_with_its_status_and_body() -> None:
    """These are a busy provider and a proxy's page; a status below 400 is an answer whatever is in it."""
    odd = {"error": {"message": "inside a success"}}
    model = ScriptedModel([fail(529, {"type": "error"}), fail(502, "<html>Bad Gateway</html>"), fail(200, odd)])
    with pytest.raises(Refused, match="HTTP 529") as busy:
        model.send(asking("hi"))
    assert (busy.value.body, diagnose(busy.value).kind) == ({"type": "error"}, "overloaded")
    with pytest.raises(Refused) as page:
        model.send(asking("hi"))
    assert page.value.body == "<html>Bad Gateway</html>"
    assert model.send(asking("hi")) == odd


def test_what_a_step_requires_is_looked_for_in_all_texts_of_the_request() -> None:
    """Keys and values are searched as they are, not as JSON escapes them; what it forbids must be nowhere."""
    step = say("ok", requires=["two\nlines", r"^read_file$|read_\w+", "system words"], forbids="absent")
    request = asking("two\nlines", system="system words", tools=[{"name": "read_file"}])
    assert ScriptedModel([step], "anthropic").send(request)["content"][0]["text"] == "ok"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (
            say("x" * 99, requires="blue"),
            f"step 1 of 1, say('{'x' * 60}'), requires 'blue', which is not in the request.",
        ),
        (call("read", forbids="gre+n"), "step 1 of 1, call('read'), forbids 'gre+n', which is in the request."),
        (
            calls(call("a", requires="green"), call("b", requires="blue")),
            "step 1 of 1, calls('a', 'b'), requires 'blue', which is not in the request.",
        ),
        (
            refuse(3, of=2, requires="blue"),
            "step 1 of 1, refuse(3, of=2), requires 'blue', which is not in the request.",
        ),
        (fail(500, "", requires="blue"), "step 1 of 1, fail(500), requires 'blue', which is not in the request."),
    ],
)
def test_a_mismatch_names_step_and_pattern_and_shows_the_end_of_the_conversation(step: ScriptStep, said: str) -> None:
    """The test's own output then shows what the request lacked."""
    with pytest.raises(ScriptMismatch) as caught:
        ScriptedModel([step]).send(asking("y" * 9_000 + "\nthe green end", max_tokens=5))
    assert f"{caught.value}." == said
    (note,) = caught.value.__notes__
    assert note.startswith("The request ends:\nyyy")
    assert note.endswith("yyy\nthe green end")
    assert len(note) < 450
    assert isinstance(caught.value, AssertionError)


def test_a_mismatch_is_never_taken_for_an_overflow() -> None:
    """Code that retries what a provider refused sees it as it is, even if the conversation is about refusals."""
    with pytest.raises(ScriptMismatch) as caught:
        ScriptedModel([say("ok", requires="blue")]).send(asking("prompt is too long: 213462 tokens > 200000 maximum"))
    assert parse(caught.value) is None


def test_a_script_that_was_left_stays_left() -> None:
    """A retry that would match cannot hide the request that did not."""
    model = ScriptedModel([say("ok", requires="blue")])
    with pytest.raises(ScriptMismatch, match="requires 'blue'"):
        model.send(asking("green"))
    with pytest.raises(ScriptMismatch, match="requires 'blue'"):
        model.send(asking("blue"))


def test_a_script_that_is_over_says_so() -> None:
    """The error gives its length and the number of the request; a script without steps is over at once."""
    model = ScriptedModel([say("ok")])
    model.send(asking("one"))
    with pytest.raises(ScriptMismatch, match="the script is over: it has 1 steps, and this is request 2"):
        model.send(asking("two"))
    with pytest.raises(ScriptMismatch, match="it has 0 steps, and this is request 1"):
        ScriptedModel([]).send(asking("one"))


def test_requests_are_kept_as_they_came() -> None:
    """An agent may later change its list of messages and the body it was given; what is kept or still to come does not change."""
    body = {"error": {"message": "x"}}
    model = ScriptedModel([fail(200, body), fail(200, body)])
    request = asking("first")
    first = model.send(request)
    request["messages"].append({"role": "user", "content": "second"})
    first["error"]["message"] = body["error"]["message"] = "changed"
    assert model.send(request) == {"error": {"message": "x"}}
    assert [len(kept["messages"]) for kept in model.requests] == [1, 2]


def test_threads_take_the_steps_one_by_one() -> None:
    """Every step answers once, and no two answers share an id."""
    model = ScriptedModel([say(str(number)) for number in range(64)])
    bodies: list[dict[str, Any]] = []
    threads = [
        threading.Thread(target=lambda: bodies.extend(model.send(asking("hi")) for _ in range(8))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(body["choices"][0]["message"]["content"]) for body in bodies) == list(range(64))
    assert len({body["id"] for body in bodies}) == len(model.requests) == 64


# ── mistakes in a script ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: say(5), "text is of type str, not int"),  # type: ignore[arg-type]
        (lambda: say("x", requires="("), "is not a regular expression"),
        (lambda: say("x", forbids=5), "is not a regular expression, nor a list of them"),  # type: ignore[arg-type]
        (lambda: call("t", {"a": {1}}), "the arguments of 't' are not JSON"),
        (lambda: call("t", a=float("nan")), "the arguments of 't' are not JSON"),
        (lambda: call(5), "the name of a tool is of type str, not int"),  # type: ignore[arg-type]
        (calls, "calls\\(\\) takes the steps that call\\(\\) makes, one at least"),
        (lambda: calls(say("x")), "calls\\(\\) takes the steps that call\\(\\) makes, not say\\('x'\\)"),
        (lambda: refuse(5, of=5), "more tokens than the limit, not 5 of 5"),
        (lambda: refuse(5, of=True), "of is of type int, not bool"),
        (lambda: fail(99, {}), "a status from 200 to 599, not 99"),
        (lambda: fail(500, {"a": object()}), "the body of fail\\(500\\) is not JSON"),
        (
            lambda: ScriptedModel(["done"]),  # type: ignore[list-item]
            "a script holds steps, made by say, call, calls, refuse and fail, not 'done'",
        ),
        (
            lambda: ScriptedModel([], "cohere"),
            "'cohere' is not a wire; there are openai-chat, openai-responses, anthropic",
        ),
        (lambda: ScriptedModel([]).send([]), "a request is the body of openai-chat, an object, not list"),  # type: ignore[arg-type]
    ],
)
def test_a_mistake_in_a_script_is_named_where_it_is_made(make: Callable[[], object], said: str) -> None:
    """The programmer has to act, and reads what would be right."""
    with pytest.raises(CallerError, match=said):
        make()


def test_arguments_may_have_the_names_of_our_own() -> None:
    """A tool's `requires` and `forbids` are given in a mapping; `tool_name` and `arguments` are names like any other."""
    step = call("install", {"requires": ["x"], "forbids": "y"}, tool_name="a", arguments="b")
    body = ScriptedModel([step]).send(asking("hi"))
    written = body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(written) == {"requires": ["x"], "forbids": "y", "tool_name": "a", "arguments": "b"}


# ── scripts in files ─────────────────────────────────────────────────────────────────────────────────────────────

SCRIPT: list[Any] = [
    {"call": "read_file", "arguments": {"path": "a.py"}},
    {"calls": [{"call": "a", "requires": "hi"}, {"call": "b", "arguments": {"x": 1}}], "text": "Both.", "forbids": []},
    {"refuse": 996_201, "of": 200_000},
    {"fail": 529, "body": {"type": "error", "error": None}},
    {"say": "done", "requires": ["hi"], "forbids": "bye"},
]


def test_a_script_in_a_file_is_the_same_script(tmp_path: Path) -> None:
    """Each object has the name of its step in Python, with its arguments next to it; `load_model` takes the file by name."""
    file = tmp_path / "script.json"
    file.write_text(json.dumps(SCRIPT))
    written = ScriptedModel(
        [
            call("read_file", path="a.py"),
            calls(call("a", requires="hi"), call("b", x=1), text="Both."),
            refuse(996_201, of=200_000),
            fail(529, {"type": "error", "error": None}),
            say("done", requires="hi", forbids="bye"),
        ]
    )
    loaded = load_model(f"scripted:{file}")
    assert (loaded.wire, loaded.name, loaded.window_tokens) == ("openai-chat", "scripted", None)
    for _ in SCRIPT:
        assert outcome(loaded) == outcome(written)
    other = ScriptedModel.from_file(str(file), "anthropic", 8_192)
    assert (other.wire, other.window_tokens, other.send(asking("hi"))["stop_reason"]) == (
        "anthropic",
        8_192,
        "tool_use",
    )


def outcome(model: Model) -> object:
    """Return the outcome of a request."""
    try:
        return model.send(asking("hi"))
    except Refused as error:
        return error.status_code, error.body


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "a script is a JSON list of steps; this is not JSON"),
        ("[" * 100_000, "this is not JSON"),
        ("{}", "a script is a JSON list of steps, not dict"),
        ('["done"]', "step 1: an object with one of say, call, calls, refuse, fail"),
        ('[{"say": "x", "call": "y"}]', "step 1: an object with one of"),
        ('[{"say": "x"}, {"tell": "x"}]', "step 2: an object with one of"),
        ('[{"say": "x", "loud": true, "by": 1}]', "step 1: say has no by and no loud"),
        ('[{"refuse": 5}]', "step 1: refuse needs of"),
        ('[{"fail": 500}]', "step 1: fail needs body"),
        ('[{"call": "x", "arguments": [1]}]', "step 1: arguments is of type dict, not list"),
        ('[{"calls": {"call": "x"}}]', "step 1: calls is of type list, not dict"),
        ('[{"calls": [{"say": "x"}]}]', "step 1: calls\\(\\) takes the steps that call\\(\\) makes, not say\\('x'\\)"),
        ('[{"say": "x", "requires": 5}]', "step 1: 5 is not a regular expression"),
        ('[{"say": null}]', "step 1: text is of type str, not NoneType"),
    ],
)
def test_a_mistake_in_a_file_names_the_file_and_the_step(tmp_path: Path, content: str, said: str) -> None:
    """A script written by hand is repaired by hand."""
    file = tmp_path / "script.json"
    file.write_text(content)
    with pytest.raises(CallerError, match=f"script.json: .*{said}"):
        ScriptedModel.from_file(str(file))


@pytest.mark.parametrize("name", ["openai-chat", "anthropic:", "scripted", "scripted:", "", "scripted:/no/such/file"])
def test_a_model_that_cannot_be_had_is_refused_with_what_can(name: str) -> None:
    """Nothing is guessed: a name is a provider's model or a script's file, or an error says so."""
    said = "There is no file or folder /no/such/file" if "/" in name else "There is no model .*:NAME or scripted:FILE"
    with pytest.raises(CallerError, match=said):
        load_model(name)


# ── what it costs ────────────────────────────────────────────────────────────────────────────────────────────────


def test_importing_models_loads_no_server_and_no_wire() -> None:
    """An agent imports `penstock.models` in production: what only a test needs is not loaded with it."""
    code = "import penstock.models, sys; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    unwanted = {"http", "http.server", "socket", "asyncio", "pydantic", "penstock.transcript", "penstock.workspace"}
    assert unwanted & set(loaded) == set()


def test_models_and_testing_need_nothing_but_the_standard_library() -> None:
    """They run without any package: a tester adds no dependency."""
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n"
        "from penstock.models import say\nfrom penstock.testing import LoopbackProvider\n"
        "with LoopbackProvider('openai-chat', 100, script=[say('ok')]) as provider:\n"
        "    print(provider.send({'messages': [{'role': 'user', 'content': 'hi'}]})['choices'][0]['message']['content'])"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("ok\n", "")

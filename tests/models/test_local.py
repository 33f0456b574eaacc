"""Does the local model find passages, quote them with their places, keep to its window, and behave alike on every wire?"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.stated import WIRES

from penstock.carrier.execution import execute
from penstock.errors import CallerError
from penstock.guard.output import OutputLimits, guard_output
from penstock.models import LocalModel, Refused, load_model
from penstock.models.local import MAX_CALLS, NO_QUESTION, NO_TOOLS, PASSAGES, WHAT_IT_IS
from penstock.overflow import parse
from penstock.store import open_store
from penstock.text.allowance import Allowance
from penstock.text.notices import all_verified
from penstock.tools import TOOLS, Tools
from penstock.tools.ranking import read_passages
from penstock.wires import violations
from penstock.wires.placeholders import with_told

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIELD = {"openai-chat": "messages", "openai-responses": "input", "anthropic": "messages"}


def offered(wire: str = "openai-chat", prefix: str = "") -> list[dict[str, Any]]:
    """Return the tool table as a request of that wire offers it."""
    told = [(f"{prefix}{tool.name}", tool.description, tool.schema()) for tool in TOOLS]
    if wire == "anthropic":
        return [{"name": name, "description": said, "input_schema": schema} for name, said, schema in told]
    functions = [{"name": name, "description": said, "parameters": schema} for name, said, schema in told]
    if wire == "openai-responses":
        return [{"type": "function", **function} for function in functions]
    return [{"type": "function", "function": function} for function in functions]


def question(text: str, wire: str = "openai-chat", prefix: str = "") -> dict[str, Any]:
    """Return a request that asks it."""
    return {FIELD[wire]: [{"role": "user", "content": text}], "tools": offered(wire, prefix), "max_tokens": 1_000}


def said(body: dict[str, Any], wire: str) -> tuple[list[Any], str, list[tuple[str, str, dict[str, Any]]]]:
    """Return the messages by which an answer goes back, its words, and its calls as id, name and arguments."""
    if wire == "openai-chat":
        message = body["choices"][0]["message"]
        calls = [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls", [])]
        return [message], message["content"], [(i, name, json.loads(given)) for i, name, given in calls]
    if wire == "openai-responses":
        words = "".join(part["text"] for item in body["output"] for part in item.get("content", []))
        calls = [(c["call_id"], c["name"], c["arguments"]) for c in body["output"] if c["type"] == "function_call"]
        return body["output"], words, [(i, name, json.loads(given)) for i, name, given in calls]
    words = "".join(block["text"] for block in body["content"] if block["type"] == "text")
    used = [(b["id"], b["name"], b["input"]) for b in body["content"] if b["type"] == "tool_use"]
    return [{"role": "assistant", "content": body["content"]}], words, used


def returned(call_id: str, text: str, wire: str) -> dict[str, Any]:
    """Return the message that holds a result."""
    if wire == "openai-chat":
        return {"role": "tool", "tool_call_id": call_id, "content": text}
    if wire == "openai-responses":
        return {"type": "function_call_output", "call_id": call_id, "output": text}
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": text}]}


def investigate(
    request: dict[str, Any],
    run: Callable[[str, dict[str, Any]], str],
    model: LocalModel | None = None,
    send: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> tuple[str, list[str]]:
    """Ask, run the calls, ask again; return the last words, and the names of the tools that were called."""
    model = model or LocalModel()
    made: list[str] = []
    for _ in range(MAX_CALLS + 1):
        messages, words, calls = said((send or model.send)(request), model.wire)
        request[FIELD[model.wire]] += messages
        if not calls:
            return words, made
        for call_id, name, arguments in calls:
            made.append(name)
            request[FIELD[model.wire]].append(returned(call_id, run(name, arguments), model.wire))
        assert violations(request[FIELD[model.wire]], model.wire) == []
    raise AssertionError("it asks for more than it may")


def runner(tools: Tools, prefix: str = "") -> Callable[[str, dict[str, Any]], str]:
    """Return a function that runs the calls, none of which may be a mistake."""

    def run(name: str, arguments: dict[str, Any]) -> str:
        result = tools.call(name.removeprefix(prefix), arguments)
        assert not result.is_error, result.text
        return result.text

    return run


PUMP = '''"""Pumps of the works."""

MAX_PRESSURE_BAR = 16


class Pump:
    """One pump with its valve."""

    def __init__(self, name, speed_rpm=1450):
        self.speed_rpm = speed_rpm

    def prime(self, volume):
        """Fill the housing, so that it does not run dry."""
        if volume <= 0:
            raise PumpError(f"cannot prime with {volume} litres")
'''
VALVE = '''"""Valves."""


class Valve:
    """Opens and closes a pipe."""

    def close(self):
        raise ValueError("the valve is stuck")
'''
QUOTED = re.compile(r"^(\S+):(\d+): (.*)$", re.MULTILINE)
STUCK = "Where is the error 'the valve is stuck' raised?"


@pytest.fixture(autouse=True)
def user_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep indexes next to a store of the test."""
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "user"))


@pytest.fixture
def works(tmp_path: Path) -> Path:
    """Return the folder of a small program."""
    folder = tmp_path / "tree" / "works"
    folder.mkdir(parents=True)
    (folder / "pumps.py").write_text(PUMP)
    (folder / "valves.py").write_text(VALVE)
    return folder.parent


def ask(root: Path, text: str) -> str:
    """Return its answer to a question about a tree."""
    return investigate(question(text), runner(Tools(root)))[0]


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("What is the default speed_rpm of a Pump?", "def __init__(self, name, speed_rpm=1450):   (works/pumps.py:9)"),
        (STUCK, 'raise ValueError("the valve is stuck")   (works/valves.py:8)'),
        ("What is the maximum pressure in bar?", "MAX_PRESSURE_BAR = 16   (works/pumps.py:3)"),
    ],
)
def test_a_question_is_answered_in_two_turns_with_lines_of_files(works: Path, text: str, first: str) -> None:
    """There is one call; the line that covers most of the question comes first, and every line is as in the file."""
    answer, made = investigate(question(text), runner(Tools(works)))
    assert made == ["search"]
    assert answer.splitlines()[0] == first
    quoted = QUOTED.findall(answer)
    assert quoted
    for path, number, line in quoted:
        assert (works / path).read_text().split("\n")[int(number) - 1] == line
    assert answer.endswith(WHAT_IT_IS)


def test_an_answer_says_how_much_of_the_question_it_holds(works: Path) -> None:
    """A weak answer is called weak; quoted words that are not found verbatim are named."""
    assert "Strong match: the first passage and its path have 100%" in ask(works, "valve stuck")
    assert "Weak match" in ask(works, "Which turbine, sluice or gauge belongs to a pump?")
    assert "Not in these passages word for word: 'no such valve'." in ask(works, "Where is 'no such valve' raised?")
    assert "word for word" not in ask(works, STUCK)


def test_what_is_nowhere_is_not_answered(works: Path) -> None:
    """The answer says what was searched."""
    answer = ask(works, "Where is the zeppelin moored?")
    assert answer.startswith("I found nothing in these files for: Where is the zeppelin moored?")
    assert "0 passages ranked | indexed 2 files" in answer
    assert not QUOTED.search(answer)


def test_results_that_show_nothing_end_the_search() -> None:
    """It asks as often as it may, and says that it saw nothing."""
    answer, made = investigate(question("Where is Pump?"), lambda _, __: "what this is nobody knows")
    assert len(made) == MAX_CALLS
    assert "did not stay in view" in answer


# ── how it works ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire in FIELD])
def test_every_wire_and_any_prefix_lead_to_the_same_answer(works: Path, wire: str) -> None:
    """The wire and the host's prefix change only the form; the answer is the same to the character."""
    request = question(STUCK, wire, "ctx_")
    answer, made = investigate(request, runner(Tools(works), "ctx_"), LocalModel(wire))
    assert answer == ask(works, STUCK)
    assert made == ["ctx_search"]


def test_the_same_request_has_the_same_answer(works: Path) -> None:
    """Nothing is remembered between requests, so another model in another process can continue from the same place."""
    request = question(STUCK)
    run, ids = runner(Tools(works)), []
    for _ in range(MAX_CALLS + 1):
        body = LocalModel().send(request)
        assert LocalModel().send(json.loads(json.dumps(request))) == body
        messages, _, calls = said(body, "openai-chat")
        request["messages"] += messages
        request["messages"] += [returned(call_id, run(name, given), "openai-chat") for call_id, name, given in calls]
        ids += [call_id for call_id, *_ in calls]
        if not calls:
            break
    assert len(ids) == len(set(ids)) == 1


def test_a_result_that_was_cleared_is_asked_for_again(works: Path) -> None:
    """It asks for one passage at a time, and not for ever."""
    run = runner(Tools(works))
    asked: list[dict[str, Any]] = []

    def clearing(name: str, arguments: dict[str, Any]) -> str:
        asked.append(arguments)
        return (
            "[cleared: a search; about 900 tokens; run it again to see it]" if len(asked) == 1 else run(name, arguments)
        )

    assert "works/valves.py:8" in investigate(question(STUCK), clearing)[0].splitlines()[0]
    assert [one["limit"] for one in asked] == [PASSAGES, 1]


def test_a_result_that_came_as_a_stub_is_read_by_its_handle(works: Path, tmp_path: Path) -> None:
    """If only a handle is left of a result, the page it names is read."""
    store = open_store(str(tmp_path / "store"))
    run = runner(Tools(works, store=store))

    def stubbed(name: str, arguments: dict[str, Any]) -> str:
        text = run(name, arguments)
        if name != "search":
            return text
        kept = guard_output(f"{text}\n" + f"{'.' * 80}\n" * 200, name, store=store, limits=OutputLimits(chars=2_000))
        return f'[cleared: {name}; about 9000 tokens, 400 lines; the whole: page(handle="{kept.handle}")]'

    answer, made = investigate(question(STUCK), stubbed)
    assert made == ["search", "page"]
    assert "works/valves.py:8" in answer.splitlines()[0]


def test_it_continues_after_a_handoff(works: Path) -> None:
    """The goal in a handoff is the question."""
    passed = "[This goes on with session s1: 4 turns.]\n\nGoal:\nWhere is the class Valve defined?\n\nSummary:\n4 calls"
    request = question(passed)
    request["messages"] += [{"role": "assistant", "content": "[Noted.]"}]
    request["messages"] += [{"role": "user", "content": "Continue."}]
    assert "works/valves.py" in investigate(request, runner(Tools(works)))[0].splitlines()[0]


def test_a_second_question_is_a_question_of_its_own(works: Path) -> None:
    """In a chat the newest question counts, and calls are counted anew."""
    request = question(STUCK)
    investigate(request, runner(Tools(works)))
    request["messages"].append({"role": "user", "content": "What is the maximum pressure in bar?"})
    answer, made = investigate(request, runner(Tools(works)))
    assert "MAX_PRESSURE_BAR = 16" in answer.splitlines()[0]
    assert made == ["search"]


def test_a_report_on_files_is_not_part_of_a_question() -> None:
    """What a resume adds to the user's words is not searched for."""
    resumed = with_told("Where is the retry limit defined?", f"{all_verified([('same', 2)])}\n- limits.py: changed")
    [(_, _, arguments)] = said(LocalModel().send(question(resumed)), "openai-chat")[2]
    assert arguments["pattern"] == "Where is the retry limit defined?"


def test_it_says_what_it_needs_if_it_can_do_nothing() -> None:
    """Without a question, or without a search that ranks, a sentence says what it needs."""
    model = LocalModel()
    assert said(model.send(question("?!")), "openai-chat")[1] == NO_QUESTION
    bare = {"messages": [{"role": "user", "content": "Where is Pump defined?"}]}
    assert said(model.send(bare), "openai-chat")[1] == NO_TOOLS
    other = question("Where is Pump defined?")
    for tool in other["tools"]:
        tool["function"]["parameters"] = {"type": "object", "properties": {"query": {"type": "string"}}}
    assert said(model.send(other), "openai-chat")[1] == NO_TOOLS


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=4))
def test_no_text_makes_it_fail(text: str, results: list[str]) -> None:
    """Any question and any results give an answer, or a call that the tool table accepts."""
    request, model = question(text), LocalModel()
    for result in results:
        messages, _, calls = said(model.send(request), "openai-chat")
        request["messages"] += messages + [returned(call_id, result, "openai-chat") for call_id, *_ in calls]
    _, words, calls = said(model.send(request), "openai-chat")
    assert words
    for _, name, arguments in calls:
        assert arguments.keys() <= next(tool for tool in TOOLS if tool.name == name).schema()["properties"].keys()  # type: ignore[attr-defined]


def test_what_is_read_back_is_what_was_shown(works: Path) -> None:
    """The reader of passages is checked against their writer: a whole answer gives all, a cut one the beginning."""
    tools = Tools(works)
    found = tools.workspace.rank("a pump and a valve")
    text = tools.search("a pump and a valve", ranked=True)
    shown = [(one.path, one.start_line, one.lines) for one in found.passages]
    assert [tuple(one) for one in read_passages(text)] == shown
    cut = "\n".join(text.split("\n")[:4]) + "\n[3 lines were cut]\n9|not of it"
    assert [tuple(one) for one in read_passages(cut)] == [(*shown[0][:2], shown[0][2][:2])]


# ── its window ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire in FIELD])
def test_its_window_is_kept_with_a_refusal_of_the_wire(wire: str) -> None:
    """It has 16,000 tokens, and its refusal states what the provider of that wire states."""
    model = LocalModel(wire)
    request = question("Where is Pump defined? " + "word " * 20_000, wire)
    with pytest.raises(Refused) as refused:
        model.send(request)
    found = parse(refused.value)
    assert found is not None
    assert found.limit == (None if wire == "openai-responses" else 16_000)
    assert found.kind.startswith("context_")


def test_a_flood_is_got_out_of_and_the_answer_is_found(works: Path, tmp_path: Path) -> None:
    """A tool floods a window of 16,000 tokens: the request is refused, recovered, and answered from what is left."""
    store = open_store(str(tmp_path / "store"))
    model, refused = LocalModel(), []
    run = runner(Tools(works, store=store))

    def flooding(name: str, arguments: dict[str, Any]) -> str:
        text = run(name, arguments)
        return text + "\n## noise.txt\n" + "1|drip drip drip\n" * 8_000 if name == "search" else text

    def send(request: dict[str, Any]) -> dict[str, Any]:
        def counted(body: dict[str, Any]) -> dict[str, Any]:
            try:
                return model.send(body)
            except Refused:
                refused.append(body)
                raise

        result = execute(counted, request, wire=model.wire, window_tokens=200_000, store=store)
        assert result.success, result.error
        return result.response  # type: ignore[no-any-return]

    answer, _ = investigate(question(STUCK), flooding, model, send)
    assert "works/valves.py:8" in answer.splitlines()[0]
    assert refused


def test_a_window_that_is_nearly_full_gets_a_smaller_answer(works: Path) -> None:
    """One passage that fits is better than three that are refused."""
    request = question(STUCK)
    size = LocalModel().send(request)["usage"]["prompt_tokens"]
    [(_, _, arguments)] = said(LocalModel(window_tokens=size + 2_500).send(request), "openai-chat")[2]
    assert arguments["limit"] == 1


def test_a_window_can_be_set() -> None:
    """`load_model` gives the default or the requested window, which has at least one token."""
    assert (load_model("local").window_tokens, load_model("local", window_tokens=32_768).window_tokens) == (
        16_000,
        32_768,
    )
    assert load_model("local").name == "penstock-local"
    with pytest.raises(CallerError, match="a window holds a token"):
        LocalModel(window_tokens=0)


def test_results_within_a_small_allowance_are_enough(works: Path) -> None:
    """If a session gives its tools little room, it works with pages of that size."""
    tools = Tools(works, allowance=Allowance.bytes(1_200))
    answer, _ = investigate(question("What is the default speed_rpm of Pump?"), runner(tools))
    assert "speed_rpm=1450" in answer

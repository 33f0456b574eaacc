"""The local model finds out by rules what files say, quotes it, keeps to its window, and is the same function on every wire."""

from __future__ import annotations

import json
import re
import sysconfig
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.stated import WIRES

from penstock.carrier.execution import execute
from penstock.errors import CallerError
from penstock.guard.output import OutputLimits, guard_output
from penstock.models import LocalModel, Refused, load_model
from penstock.models.local.agenda import MAX_CALLS
from penstock.models.local.memory import recall
from penstock.models.local.passages import MAX_LINES
from penstock.models.local.question import read
from penstock.models.local.wording import NO_QUESTION, NO_TOOLS, WHAT_IT_IS, Note, note, read_notes
from penstock.overflow import parse
from penstock.store import open_store
from penstock.text.allowance import Allowance
from penstock.text.notices import all_verified
from penstock.tools import TOOLS, Tools
from penstock.wires import violations

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIELD = {"openai-chat": "messages", "openai-responses": "input", "anthropic": "messages"}


def offered(wire: str = "openai-chat", prefix: str = "") -> list[dict[str, Any]]:
    """The tool table as a request of that wire offers it."""
    told = [(f"{prefix}{tool.name}", tool.description, tool.schema()) for tool in TOOLS]
    if wire == "anthropic":
        return [{"name": name, "description": said, "input_schema": schema} for name, said, schema in told]
    functions = [{"name": name, "description": said, "parameters": schema} for name, said, schema in told]
    if wire == "openai-responses":
        return [{"type": "function", **function} for function in functions]
    return [{"type": "function", "function": function} for function in functions]


def question(text: str, wire: str = "openai-chat", prefix: str = "") -> dict[str, Any]:
    """A request that asks it."""
    return {FIELD[wire]: [{"role": "user", "content": text}], "tools": offered(wire, prefix), "max_tokens": 1_000}


def said(body: dict[str, Any], wire: str) -> tuple[list[Any], str, list[tuple[str, str, dict[str, Any]]]]:
    """The messages by which an answer goes back, its words, and its calls as id, name and arguments."""
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
    """The message that holds a result."""
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
    """Asks, runs the calls, asks again; the last words, and the names of the tools that were called."""
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
    """The calls, run; none of them may be a mistake."""

    def run(name: str, arguments: dict[str, Any]) -> str:
        result = tools.call(name.removeprefix(prefix), arguments)
        assert not result.is_error, result.text
        return result.text

    return run


def ask(root: Path | str, text: str) -> str:
    """What it answers to a question about a tree."""
    return investigate(question(text), runner(Tools(root)))[0]


PUMP = '''"""Pumps of the works."""

from works.valves import Valve

MAX_PRESSURE_BAR = 16
DRAIN_SECONDS = MAX_PRESSURE_BAR * 2


class PumpError(Exception):
    """A pump that cannot go on."""


class Pump:
    """One pump with its valve."""

    def __init__(self, name, speed_rpm=1450, *, drain_seconds=DRAIN_SECONDS):
        self.name = name
        self.speed_rpm = speed_rpm

    def prime(self, volume):
        """Fill the housing, so that it does not run dry."""
        if volume <= 0:
            raise PumpError(f"cannot prime {self.name} with {volume} litres")
        return volume
'''
VALVE = '''"""Valves."""


class Valve:
    """Opens and closes a pipe."""

    def close(self):
        raise ValueError("the valve is stuck")
'''
GAUGES = f'''"""Gauges."""

import logbook


class NoReading(Exception):
    """No gauge answered."""


class Gauge:
    """Measures one pipe."""

    reading_retries = 3

    def calibrate(self, samples):
        """Take the middle of some samples."""
        middle = sorted(samples)[len(samples) // 2]
        if middle < 0:
            logbook.note_failure(self)
            raise NoReading(
                f"gauge {{self}} shows nothing, "
                f"so check whether its cable is plugged in"
            )
        return middle

    def label(self):
        return "a gauge of the waterworks, {"with a very long label " * 12}to the end"
'''


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small tree with a package, its tests, a page of documentation and a COBOL program."""
    root: Path = tmp_path_factory.mktemp("works")
    files = {
        "works/__init__.py": "from works.pumps import Pump\n\n__all__ = ['Pump']\n",
        "works/pumps.py": PUMP,
        "works/valves.py": VALVE,
        "works/gauges.py": GAUGES,
        "logbook.py": "def note_failure(of):\n    print(of)\n",
        "tests/test_pumps.py": "from works import Pump\n\n\ndef test_speed():\n    assert Pump('a', speed_rpm=9).speed_rpm == 9\n",
        "docs/limits.md": "# Limits\n\nThe retention of telemetry is 90 days.\n",
        "billing.cbl": "       01 WS-TARIFF-LIMIT PIC 9(4) VALUE 2400.\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("text", "first", "cited"),
    [
        ("Where is the class Pump defined?", "class Pump:   (works/pumps.py:13)", 'works/pumps.py:14:     """One pump'),
        ("What is the default speed_rpm of Pump?", "speed_rpm=1450", "works/pumps.py:16:"),
        ("What is the maximum pressure of a pump?", "MAX_PRESSURE_BAR = 16   (works/pumps.py:5)", "works/pumps.py:5:"),
        ("Where is the error 'the valve is stuck' raised?", "works/valves.py:8", "works/valves.py:7:     def close"),
        ("Which exception does prime() raise?", "raise PumpError", "works/pumps.py:23:"),
        ("What does prime do in the pumps module?", "def prime", "Fill the housing"),
        ("Which file holds `MAX_PRESSURE_BAR`?", "(works/pumps.py:5)", "works/pumps.py:6: DRAIN_SECONDS"),
        ("For how many days is telemetry kept, what is its retention?", "(docs/limits.md:3)", "90 days"),
        ("What is the tariff limit?", "VALUE 2400", "billing.cbl:1:"),
    ],
)
def test_a_question_is_answered_with_the_line_that_holds_it(works: Path, text: str, first: str, cited: str) -> None:
    """A definition, a default, a constant, where an error comes from, which error, what for, which file: each with its line."""
    answer = ask(works, text)
    assert first in answer.splitlines()[0]
    assert cited in answer
    assert WHAT_IT_IS in answer


def test_a_default_that_is_a_name_is_followed_to_its_value(works: Path) -> None:
    """Where a signature says DRAIN_SECONDS, the answer cites what that is as well."""
    answer = ask(works, "What is the default of drain_seconds in Pump?")
    assert "works/pumps.py:16:" in answer
    assert "works/pumps.py:6: DRAIN_SECONDS = MAX_PRESSURE_BAR * 2" in answer


def test_a_name_is_followed_through_others_to_a_list_of_several_lines(tmp_path: Path) -> None:
    """A parameter, then a constant, whose value ends on the line below: far from the line that was found."""
    constant = 'LEFT_OUT = [\n    "rust", "sediment"]\n'
    body = "class Sieve:\n    def __init__(self, skip=None):\n        if skip is None:\n            skip = LEFT_OUT\n"
    (tmp_path / "sieves.py").write_text(constant + "\n" * 80 + body)
    answer = ask(tmp_path, "What does Sieve skip by default?")
    assert "sieves.py:1: LEFT_OUT = [\nsieves.py:2:" in answer


def test_what_a_short_method_leaves_to_another_of_its_file_is_read(tmp_path: Path) -> None:
    """The method that was named says nothing; the one that it calls, in words of its own, does."""
    named = "class Tank:\n    def flush(self, seconds=0):\n        return self._run_out(seconds)\n"
    other = "    def _run_out(self, span):\n        span = max(span, 45)\n        return span\n"
    between = "".join(f"    def other_{n}(self):\n        return {n}\n\n" for n in range(60))
    (tmp_path / "tanks.py").write_text(f"{named}\n{between}{other}")
    assert "span = max(span, 45)" in ask(tmp_path, "What does Tank.flush do with the span of seconds?")


def test_a_file_that_the_question_is_about_is_read_before_others_are_counted(works: Path) -> None:
    """`in pumps?` names a module, without the word module."""
    asked = question("What is the maximum pressure in pumps?")
    _, made = investigate(asked, runner(Tools(works)))
    places = [call["function"]["arguments"] for one in asked["messages"] for call in one.get("tool_calls", [])]
    assert made[:2] == ["list_files", "search"]
    assert json.loads(places[1])["path"] == "works/pumps.py"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("What does calibrate() return?", ["return middle", "middle = sorted(samples)[len(samples) // 2]"]),
        ("Which exception does Gauge.calibrate raise?", ["raise NoReading("]),
        ("Which function calls logbook.note_failure?", ["logbook.note_failure(self)"]),
        ("How many times does gauges try a reading?", ["reading_retries = 3"]),
        ("Which function takes the middle of some samples?", ["def calibrate("]),
        ("How often is a reading attempted at most?", ["reading_retries = 3"]),
        ('Who says "gauge 7 shows nothing, so check whether its cable is plugged in"?', ["cable is plugged in"]),
        (
            "I get NoReading: so check whether its cable is plugged in. Where from?",
            ["raise NoReading(", "cable is plugged in"],
        ),
    ],
)
def test_the_first_line_is_of_the_kind_that_was_asked_for(works: Path, text: str, lines: list[str]) -> None:
    """What is returned and what that is, what is raised, who calls, a value in the file that is named, a message in pieces."""
    answer = ask(works, text)
    first, *others = lines
    assert first in answer.splitlines()[0]
    cited = quoted(answer, works)
    assert all(
        any(other in cited_text for path, _, cited_text in cited if path == "works/gauges.py") for other in others
    )


def quoted(answer: str, root: Path) -> list[tuple[str, int, str]]:
    """The lines that an answer quotes; each of them as it stands in its file."""
    cited = [(path, int(n), text) for path, n, text in re.findall(r"^(\S+):(\d+): (.*)$", answer, re.MULTILINE)]
    for path, number, text in cited:
        assert (root / path).read_text().splitlines()[number - 1].rstrip() == text
    return cited


SLUICE = '''"""The sluice."""

GATE_BARS = 9


class Sluice:
    """A gate in a weir."""

    def lift(self, how_far):
{nothing}        if how_far > 40:
            raise OverflowError("too far")
        return how_far


def drop(sluice):
    """Let it down."""
    return sluice.lift(-1)
'''.format(nothing="        how_far += 0\n" * 60)


def test_what_a_person_needs_to_read_is_quoted(tmp_path: Path) -> None:
    """A short definition whole; of a long one the lines about what was asked for; together no more than can be read."""
    (tmp_path / "sluice.py").write_text(SLUICE)
    lines = SLUICE.splitlines()
    drop = lines.index("def drop(sluice):") + 1
    whole = quoted(ask(tmp_path, "What does drop() do?"), tmp_path)
    assert [number for _, number, _ in whole][:3] == [drop, drop + 1, drop + 2]
    part = [number for _, number, _ in quoted(ask(tmp_path, "Which exception does Sluice.lift raise?"), tmp_path)]
    raised = lines.index('            raise OverflowError("too far")') + 1
    assert {raised - 1, raised, raised + 1} <= set(part)
    assert len(part) <= MAX_LINES < len(lines)


def test_passages_are_apart_and_none_is_shown_twice(works: Path) -> None:
    """Every line once, and a passage has no gap: what touches is one."""
    answer = ask(works, "How many times does gauges try a reading?")
    cited = [(path, number) for path, number, _ in quoted(answer, works)]
    assert len(cited) == len(set(cited))
    ends = [re.findall(r"^(\S+):(\d+): ", block, re.MULTILINE) for block in answer.split("\n\n")[1:-1]]
    for one in ends:
        numbers = [int(number) for _, number in one]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert (one[-1][0], numbers[-1] + 1) not in [(other[0][0], int(other[0][1])) for other in ends]


def test_a_weak_answer_is_one_that_says_so(works: Path) -> None:
    """Words of which few are found lead to the best that was seen, marked as weak, and not to nothing."""
    answer = ask(works, "Which retry budget governs hydraulic telemetry retention failures of upstream turbines?")
    assert "Weak match" in answer
    assert quoted(answer, works)


def test_a_line_that_was_clipped_is_quoted_whole(works: Path) -> None:
    """Where more than one line is shown long ones are clipped; the answer has the line as it stands in the file."""
    run = runner(Tools(works))

    def clipping(name: str, arguments: dict[str, Any]) -> str:
        lines = run(name, arguments).split("\n")
        return "\n".join(line if arguments.get("limit") == 1 or len(line) <= 90 else f"{line[:89]}…" for line in lines)

    answer, _ = investigate(question('Where is "a gauge of the waterworks, with a very long label"?'), clipping)
    assert answer.splitlines()[0].startswith('return "a gauge of the waterworks, with')
    assert 'to the end"' in answer.splitlines()[0]


@pytest.mark.parametrize(
    ("text", "names", "words"),
    [
        ("Where does os.environ turn variable names into upper case?", ["environ"], ["turn"]),
        ("Where are settings taken from environment variables?", [], ["environment"]),
        ("What does the prime function do?", ["prime"], []),
        ("Which class Valve opens the pipe?", ["Valve"], ["opens"]),
    ],
)
def test_plain_words_are_names_only_where_they_are_spoken_of_as_names(
    text: str, names: list[str], words: list[str]
) -> None:
    """After `class`, between `the` and `function`; not where they merely stand beside `variables`."""
    terms = read(text).terms
    assert [term.text for term in terms if term.form == "name"] == names
    assert {term.text for term in terms if term.form == "word"}.issuperset(words)


@pytest.mark.parametrize(
    "text", ["Where is the error 'the turbine is upside down' raised?", "What does frobnicate_gauge return?"]
)
def test_what_is_nowhere_is_not_answered(works: Path, text: str) -> None:
    """It names what was not found and what it tried, and nothing else is passed off as an answer."""
    answer = ask(works, text)
    assert answer.startswith("Nothing in these files holds ")
    assert "Tried: " in answer


STDLIB = sysconfig.get_path("stdlib")


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("What is the default port of FTP in the ftplib module?", r"ftplib\.py:\d+: FTP_PORT = 21"),
        ("What does shlex.quote() do?", r"shlex\.py:\d+: def quote"),
        ("What is the default width in textwrap.TextWrapper?", r"textwrap\.py:\d+:.*70"),
    ],
)
def test_the_standard_library_answers(text: str, cited: str) -> None:
    """The same over the library of the running Python, whatever is installed beside it."""
    assert re.search(cited, ask(STDLIB, text))


# ── how it works ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_and_any_prefix_lead_to_the_same_answer(works: Path, wire: str) -> None:
    """The wire is how it is said; the prefix is the host's; the answer is the same to the character."""
    text = "What is the default speed_rpm of Pump?"
    request = question(text, wire, "ctx_")
    answer, made = investigate(request, runner(Tools(works), "ctx_"), LocalModel(wire))
    assert answer == ask(works, text)
    assert made
    assert all(name.startswith("ctx_") for name in made)


def test_the_same_request_has_the_same_answer(works: Path) -> None:
    """Nothing is remembered between requests, so another model in another process goes on where one stopped."""
    request = question("Which exception does prime() raise?")
    run, bodies = runner(Tools(works)), []
    for _ in range(MAX_CALLS + 1):
        body = LocalModel().send(request)
        assert LocalModel().send(json.loads(json.dumps(request))) == body
        bodies.append(body)
        messages, _, calls = said(body, "openai-chat")
        request["messages"] += messages
        request["messages"] += [returned(call_id, run(name, given), "openai-chat") for call_id, name, given in calls]
        if not calls:
            break
    ids = [call_id for body in bodies for call_id, *_ in said(body, "openai-chat")[2]]
    assert len(ids) == len(set(ids)) > 1


def test_cleared_results_do_no_harm(works: Path) -> None:
    """Its notes repeat what it found: with every older result cleared it ends in the same words."""
    text = "Where is the error 'the valve is stuck' raised?"
    model = LocalModel()

    def forgetful(request: dict[str, Any]) -> dict[str, Any]:
        results = [message for message in request["messages"] if message["role"] == "tool"]
        for message in results[:-1]:
            message["content"] = "[cleared: a search; about 900 tokens, 20 lines; run it again to see it]"
        return model.send(request)

    assert investigate(question(text), runner(Tools(works)), model, forgetful)[0].startswith(
        'raise ValueError("the valve is stuck")   (works/valves.py:8)'
    )


def test_a_result_that_came_as_a_stub_is_searched_by_its_handle(works: Path, tmp_path: Path) -> None:
    """Where only a handle is left of what it asked for, it finds its words there and goes on."""
    store = open_store(str(tmp_path / "store"))
    tools = Tools(works, store=store)
    run = runner(tools)

    def stubbed(name: str, arguments: dict[str, Any]) -> str:
        text = run(name, arguments)
        if name not in {"search", "view"}:
            return text
        kept = guard_output(f"{text}\n{'.' * 80}\n" * 200, name, store=store, limits=OutputLimits(chars=2_000))
        return f'[cleared: {name}; about 9000 tokens, 400 lines; the whole: page(handle="{kept.handle}")]'

    answer, made = investigate(question("Where is the error 'the valve is stuck' raised?"), stubbed)
    assert "works/valves.py:8" in answer.splitlines()[0]
    assert "find" in made


def test_a_file_is_found_by_the_words_that_few_files_hold(tmp_path: Path) -> None:
    """Where no file is named after what is asked, counts of its words in all files lead to the one that has most of them."""
    (tmp_path / "plant.py").write_text("".join(f"# the sluice opens at {hour} o'clock\n" for hour in range(30)))
    (tmp_path / "yard.py").write_text(
        "WEIR_GATES = 4\n\n\ndef lift(sluice):\n    # how far a sluice goes by day\n    return 7\n"
    )
    calls: list[dict[str, Any]] = []
    run = runner(Tools(tmp_path))

    def noting(name: str, arguments: dict[str, Any]) -> str:
        calls.append(arguments)
        return run(name, arguments)

    investigate(question("How far does the sluice of a weir get lifted?"), noting)
    counts = [call for call in calls if call.get("limit") == 1 and "pattern" in call]
    assert counts
    assert "yard.py" in [call.get("path") for call in calls[calls.index(counts[-1]) :]]


def test_a_note_is_read_back_as_it_was_written() -> None:
    """On lines of its own, and on one line within a note of a compaction; a note on another question is not read."""
    made = Note(
        calls=3,
        tried=("words in a.py", "around a.py:4"),
        places=("a.py", "b c.py"),
        likely=(("d e.py", 1.25), ("a.py", 0.5)),
        found=(("a.py", 4, "x = 1  # now: a; b"),),
    )
    text = note("What is x?\nReally?", made, MAX_CALLS, "around a.py:9")
    assert read_notes(text, "What is x?\nReally?") == [made]
    assert read_notes(text, "What is x?") == []
    [on_one_line] = read_notes(f"assistant: {' '.join(text.split())}\nuser: go on", "What is x? Really?")
    assert (on_one_line.calls, on_one_line.tried, on_one_line.places) == (3, made.tried, made.places)
    assert on_one_line.likely == made.likely


def test_it_goes_on_after_a_handoff(works: Path) -> None:
    """The goal in what a session passes on is the question."""
    passed = "[This goes on with session s1: 4 turns.]\n\nGoal:\nWhere is the class Valve defined?\n\nSummary:\n4 calls"
    request = question(passed)
    request["messages"] += [{"role": "assistant", "content": "[Noted.]"}]
    request["messages"] += [{"role": "user", "content": "Continue."}]
    assert "(works/valves.py:4)" in investigate(request, runner(Tools(works)))[0].splitlines()[0]


def test_a_second_question_is_a_question_of_its_own(works: Path) -> None:
    """In a chat the newest question counts, and calls are counted anew."""
    request = question("Where is the class Valve defined?")
    investigate(request, runner(Tools(works)))
    request["messages"].append({"role": "user", "content": "What is the maximum pressure?"})
    assert "MAX_PRESSURE_BAR = 16" in investigate(request, runner(Tools(works)))[0].splitlines()[0]


def test_a_report_on_files_is_no_part_of_a_question() -> None:
    """What a resume adds to the words of a user is not looked for."""
    asked = "Where is the retry limit defined?"
    resumed = f"Go on with this: {asked}\n\n{all_verified([('same', 2)])}\n- limits.py: changed"
    looked_for = [
        {term.text for term in recall(question(text), "openai-chat").question.terms} for text in (asked, resumed)
    ]
    assert looked_for[0] == looked_for[1]


def test_it_says_what_it_is_where_it_can_do_nothing() -> None:
    """Without a question, without the tools: a sentence that says what it needs."""
    model = LocalModel()
    assert said(model.send(question("Hello!")), "openai-chat")[1] == NO_QUESTION
    bare = {"messages": [{"role": "user", "content": "Where is Pump defined?"}]}
    assert said(model.send(bare), "openai-chat")[1] == NO_TOOLS


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=4))
def test_no_text_makes_it_fail(text: str, results: list[str]) -> None:
    """Any question and any results: an answer, or a call that the tool table takes."""
    request, model = question(text), LocalModel()
    for result in results:
        messages, _, calls = said(model.send(request), "openai-chat")
        request["messages"] += messages + [returned(call_id, result, "openai-chat") for call_id, *_ in calls]
    _, words, calls = said(model.send(request), "openai-chat")
    assert words
    for _, name, arguments in calls:
        assert arguments.keys() <= next(tool for tool in TOOLS if tool.name == name).schema()["properties"].keys()  # type: ignore[attr-defined]


# ── its window ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wire", WIRES)
def test_its_window_is_kept_with_a_refusal_of_the_wire(wire: str) -> None:
    """16,000 tokens, of which a refusal says what the provider of that wire says."""
    model = LocalModel(wire)
    request = question("Where is Pump defined? " + "word " * 20_000, wire)
    with pytest.raises(Refused) as refused:
        model.send(request)
    found = parse(refused.value)
    assert found is not None
    assert found.limit == (None if wire == "openai-responses" else 16_000)
    assert found.kind.startswith("context_")


def test_a_flood_is_got_out_of_and_the_answer_is_found(works: Path, tmp_path: Path) -> None:
    """A tool that floods a window of 16,000 tokens: refused, recovered, searched by its handle, answered."""
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

    answer, _ = investigate(question("Where is the error 'the valve is stuck' raised?"), flooding, model, send)
    assert "works/valves.py:8" in answer.splitlines()[0]
    assert refused


def test_a_window_that_is_nearly_full_ends_the_search(works: Path) -> None:
    """Better an answer from what was found than a request that is refused."""
    text = "Where is the class Pump defined?"
    request = question(text)
    size = LocalModel().send(request)["usage"]["prompt_tokens"]
    answer, made = investigate(request, runner(Tools(works)), LocalModel(window_tokens=size + 4_000))
    assert len(made) < MAX_CALLS
    assert WHAT_IT_IS in answer


def test_a_window_can_be_set() -> None:
    """`load_model` gives the default or the one that is asked for; none is less than a token."""
    assert (load_model("local").window_tokens, load_model("local", window_tokens=32_768).window_tokens) == (
        16_000,
        32_768,
    )
    assert load_model("local").name == "penstock-local"
    with pytest.raises(CallerError, match="a window holds a token"):
        LocalModel(window_tokens=0)


def test_results_within_a_small_allowance_are_enough(works: Path) -> None:
    """Where a session gives its tools little room, it works with pages of that size."""
    tools = Tools(works, allowance=Allowance.bytes(1_200))
    answer, _ = investigate(question("What is the default speed_rpm of Pump?"), runner(tools))
    assert "speed_rpm=1450" in answer

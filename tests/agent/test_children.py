"""Do child agents work in their own context, within one budget and one journal, and are they reported truthfully (S-8, G-8)?"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.agent.conftest import WINDOW, Heard

from penstock.agent.asking import MIN_REPLY_TOKENS
from penstock.agent.children import TASK, Children, ChildTools
from penstock.agent.editing import Editing
from penstock.agent.edits import changes_of, edits_of, undo
from penstock.agent.journal import KeptChild, children_of, new_id, remembered, resumed
from penstock.agent.loop import Agent
from penstock.agent.purse import open_purse, purse_of, spending_of
from penstock.agent.record_types import BEGUN, CHANGED, CHILD, ENDED, SEEN, TRACKED
from penstock.agent.toolbox import Toolbox
from penstock.guard.output import CHILD_AGENT
from penstock.models import Cancelled, ScriptedModel, call, calls, fail, say
from penstock.overflow.silent import reported_input
from penstock.session import Session
from penstock.session.limits import PROFILES
from penstock.wires import dump, load_request, output_tokens, tool_definitions, violations
from penstock.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from penstock.agent.protocols import AgentRun
    from penstock.session.limits import Limits
    from penstock.store import Store

WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock")
BUDGET = 400_000
SYSTEM = "Answer from the files."


def toolbox_of(root: Path, store: Store, limits: Limits, results: Any = None) -> Toolbox:
    """Return a toolbox that may edit."""
    made = Toolbox(Workspace(root), store, window_tokens=limits.window_tokens, limits=results)
    made.allow(Editing(made.workspace.root, guard=made.may_write))
    return made


def parent(
    tree: Path, store: Store, model: Any, *, budget: int = BUDGET, session_id: str = "", window: int = WINDOW
) -> Agent:
    """Return an agent that may delegate to children; with `session_id`, one that continues that session."""
    limits = PROFILES["default"].scaled(window)
    tools = toolbox_of(tree, store, limits)
    seq, about = 0, {"model": model.name}
    if session_id:
        session, _, seq = resumed(store, session_id)
        tools.changes.note(*changes_of(store, session_id))
    else:
        definitions = tool_definitions((*tools.tools, TASK), model.wire)
        session = Session(limits=limits, wire=model.wire, system=SYSTEM, tools=definitions, session_id=new_id())
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    agent = Agent(
        session,
        model,
        tools,
        store,
        listener=Heard(),
        next_seq=seq,
        clock=lambda: clock[0],
        sleep=sleep,
        max_wait_seconds=30,
    )
    if session_id:
        agent.purse = purse_of(store, session_id, agent.record)
    else:
        agent.begin(about=about)
        agent.purse = open_purse(session.session_id, budget, agent.record)
    equipment = ChildTools(
        toolbox=lambda limits: toolbox_of(tree, store, limits, CHILD_AGENT), limits=lambda name: PROFILES[name]
    )
    Children(agent, tools, equipment, instructions=SYSTEM)
    return agent


@pytest.fixture
def begun(tree: Path, store: Store) -> Callable[..., Agent]:
    """Return a function that begins an agent with a budget: `begun(model)`."""
    return partial(parent, tree, store)


def task(prompt: str = "Set the value of part 1 to 8.", **more: Any) -> Any:
    return call("task", description="set a value", prompt=prompt, **more)


EDIT = call("edit_file", path="part_001.txt", old="value = 7", new="value = 8")


def spent(store: Store, agent: Agent) -> int:
    tree = spending_of(store, agent.session.session_id)
    assert tree is not None
    return tree.spent_tokens


@pytest.mark.proves("S-8", "S-12")
@pytest.mark.parametrize("wire", WIRES)
def test_a_child_does_its_work_in_a_context_of_its_own(
    wire: str, begun: Callable[..., Agent], store: Store, tree: Path
) -> None:
    """The parent sees one call and one result; edits belong to the session; tokens that the child leaves return to the parent."""
    steps = [
        task(),
        call("view", file_path="part_001.txt", requires="You work for another agent", forbids="What is to be done"),
        EDIT,
        say("It is 8 now."),
        say("Done.", requires="task-1 answered after 3 turns.*changed part_001.txt", forbids="nothing to see"),
    ]
    agent = begun(ScriptedModel(steps, wire))
    run = agent.run("What is to be done?")
    assert (run.outcome, run.answer, run.turns) == ("answered", "Done.", 2)
    assert "value = 8" in (tree / "part_001.txt").read_text()
    assert agent.purse is not None
    accounts = agent.purse.tree.accounts
    assert list(accounts) == [agent.session.session_id, "task-1"]
    assert not accounts["task-1"].is_open
    assert accounts["task-1"].granted_tokens >= 3 * accounts["task-1"].spent_tokens
    assert run.usage["input_tokens"] + run.usage["output_tokens"] == agent.purse.account.spent_tokens
    assert agent.purse.account.reserved_tokens == 0
    session, _, _ = resumed(store, agent.session.session_id)
    assert session == agent.session
    assert violations(dump(session.state.transcript, wire), wire) == []
    assert purse_of(store, session.session_id, agent.record).tree == agent.purse.tree  # type: ignore[union-attr]


@pytest.mark.proves("S-8")
def test_edits_of_a_child_are_the_sessions(begun: Callable[..., Agent], store: Store, tree: Path) -> None:
    """Edits of a child are handed on, undone, and reported if somebody overwrites them, like the parent's own."""
    before = (tree / "part_001.txt").read_text()

    class Overwriting(ScriptedModel):
        def send(self, request: Any, /) -> Any:
            if len(self.requests) == 4:
                (tree / "part_001.txt").write_text("by somebody else\n")
            return super().send(request)

    steps = [
        task(),
        call("view", file_path="part_001.txt"),
        EDIT,
        say("It is 8 now."),
        call("view", file_path="part_002.txt"),
        say("Done.", requires="part_001.txt is no longer what your edit left.*What you wrote is kept: page"),
    ]
    agent = begun(Overwriting(steps))
    assert agent.run("Begin.").outcome == "answered"
    assert agent.tools.corrected(agent.session.handoff()).modified_files == ("part_001.txt",)
    name = agent.session.session_id
    (edit,) = edits_of(store, name)
    (tree / "part_001.txt").write_text(before.replace("value = 7", "value = 8"))
    assert "Edit 1 is undone" in undo(agent.tools.workspace.root, store, name)  # type: ignore[attr-defined]
    assert (edit.path, (tree / "part_001.txt").read_text()) == ("part_001.txt", before)


@pytest.mark.proves("G-8", "S-8")
@pytest.mark.parametrize(
    "asked",
    [
        call("view", file_path="large.log", limit=1_000),
        call("view", file_path="part_001.txt", limit=1_000),
        call("view", file_path="wide.txt"),
        call("read_file", path="large.log"),
        call("search", pattern="nothing", limit=500),
        call("list_files", pattern="*", limit=100),
    ],
    ids=lambda step: step.calls[0].name if hasattr(step, "calls") else None,
)
def test_results_of_a_child_are_small_and_its_answer_is_guarded(
    asked: Any, begun: Callable[..., Agent], store: Store, tree: Path
) -> None:
    """Each result has at most 6,000 characters and 50 lines; a very long answer is kept whole and shown in part."""
    (tree / "wide.txt").write_text(f"{'wide ' * 80}\n" * 40)
    flood = "\n".join(f"line {number} of the answer" for number in range(20_000))
    agent = begun(ScriptedModel([task("Look."), asked, say(flood), say("Done.")]), window=64_000, budget=2_000_000)
    assert agent.run("Begin.").answer == "Done."
    (child,) = children_of(store, agent.session.session_id).values()
    session = Session.replay(child.begun["header"], child.rows)
    (shown,) = [result.text for entry in session.state.transcript.entries for result in entry.results]
    assert len(shown) <= 6_000
    assert shown.count("\n") < 50
    assert "[OUTPUT TRUNCATED]" not in shown
    (result,) = [result.text for entry in agent.session.state.transcript.entries for result in entry.results]
    assert result.startswith("[OUTPUT TRUNCATED]")
    assert "task-1 answered after 2 turns" in result
    assert len(result) <= 24_000
    handle = result.partition('page(handle="')[2].partition('"')[0]
    whole = store.read(handle, 0, 10_000_000).decode()
    assert whole.endswith("line 19999 of the answer")


@pytest.mark.proves("S-8", "S-11")
def test_what_stops_a_child_is_told_to_its_parent_in_words(begun: Callable[..., Agent], store: Store) -> None:
    """A refused key, an outage, an exhausted budget and a loop become results that say so, and are no mistakes of the parent."""
    look = call("view", file_path="part_001.txt")
    down = fail(503, {"error": {"message": "overloaded, says the provider"}})
    cases: list[tuple[list[Any], dict[str, Any], str]] = [
        (
            [fail(401, {"error": {"message": "invalid api key"}})],
            {},
            r"task-1 stopped \(auth\) after 0 turns, 0 of [\s\S]*key",
        ),
        ([down] * 4, {}, r"task-1 was stopped by an outage[\s\S]*overloaded, says the provider"),
        ([look, call("view", file_path="part_002.txt")], {"tokens": 9_000}, "task-1 has used up its budget after"),
        ([], {"tokens": 1_500}, "task-1 could not begin: its first request may take more than its 1500"),
        ([look] * 5, {}, r"task-1 stopped \(loop\) after 5 turns[\s\S]*no progress"),
        ([], {"tokens": BUDGET * 2}, "a child cannot have 800000"),
        ([], {"profile": "none"}, "none"),
    ]
    for steps, more, told in cases:
        agent = begun(ScriptedModel([task(**more), *steps, say("I see.", requires=told)]))
        if more.get("profile"):
            agent.children._equipment = agent.children._equipment._replace(limits=profile)  # type: ignore[union-attr]
        run = agent.run("Begin.")
        assert (run.outcome, run.answer) == ("answered", "I see."), told
        records: list[Any] = [record for record in store.events(agent.session.session_id) if record.type == "Returned"]
        outcomes = [outcome for record in records for outcome in record.data["outcomes"]]
        was_begun = "task-1" in told
        assert [outcome["is_refusal"] for outcome in outcomes] == [was_begun], told


@pytest.mark.proves("S-8", "R-6")
@pytest.mark.parametrize("words", ["", "The first half"])
def test_an_answer_that_was_withheld_from_a_child_is_told_to_its_parent(
    begun: Callable[..., Agent], words: str
) -> None:
    """An answer that cannot be trusted is not handed on as if it could be: the parent reads what was wrong with it."""
    script = [task(), say(words or "x"), say("I see.", requires="The provider withheld the reply")]

    class Withholding(ScriptedModel):
        def send(self, *request: Any, **more: Any) -> Any:
            body = super().send(*request, **more)
            for choice in body["choices"]:
                if choice["message"].get("content") == (words or "x"):
                    choice["message"]["content"], choice["finish_reason"] = words, "content_filter"
            return body

    run = begun(Withholding(script)).run("Begin.")
    assert (run.outcome, run.answer) == ("answered", "I see.")


@pytest.mark.proves("S-8")
def test_a_child_that_ended_before_a_kill_is_not_asked_again(
    begun: Callable[..., Agent], tree: Path, store: Store
) -> None:
    """The parent had not received the result: it gets what was recorded, although the child's script has more steps."""

    class Interrupting(ScriptedModel):
        def send(self, request: Any, /) -> Any:
            if len(self.requests) == 2:
                agent.interrupt()
            return super().send(request)

    agent = begun(Interrupting([task(), call("view", file_path="part_001.txt"), EDIT]))
    write = agent.journal.write

    def mortal(kind: str, data: Any, handles: Any = ()) -> None:
        write(kind, data, handles)
        if data.get("type") == "Ended":
            raise Killed

    agent.journal.write = mortal  # type: ignore[method-assign]
    with pytest.raises(Killed):
        agent.run("Begin.")
    told = "task-1 was stopped by the person after 2 turns"
    again = parent(tree, store, ScriptedModel([say("I see.", requires=told)]), session_id=agent.session.session_id)
    assert again.run().answer == "I see."


@pytest.mark.proves("S-8", "S-17")
def test_a_child_whose_prompt_held_a_secret_goes_on_after_a_kill(
    begun: Callable[..., Agent], tree: Path, store: Store
) -> None:
    """The journal has a mark for the secret, and so had the child's prompt, so the child continues from the journal alone."""
    key = "ghp_" + "x9Y8" * 9
    agent = begun(ScriptedModel([task(f"Set part 1 to 8; the key is {key}."), call("view", file_path="part_001.txt")]))
    with pytest.raises(AssertionError):  # the script is exhausted, which ends the run like a kill
        agent.run("Begin.")
    steps = [EDIT, say("It is 8."), say("Done.", requires="task-1 answered after 3 turns", forbids=key)]
    again = parent(tree, store, ScriptedModel(steps), session_id=agent.session.session_id)
    assert again.run().answer == "Done."
    assert key not in json.dumps([record.data for record in store.events(agent.session.session_id)])


@pytest.mark.proves("S-8", "S-10")
def test_a_child_that_does_not_go_on_after_a_kill_is_told_with_what_it_changed(
    begun: Callable[..., Agent], tree: Path, store: Store
) -> None:
    """If the person says something else, the model learns how far the child came, and the parent gets back the child's reserve."""
    agent = begun(ScriptedModel([task(), call("view", file_path="part_001.txt"), EDIT]))
    with pytest.raises(AssertionError):  # the script is exhausted, which ends the run like a kill
        agent.run("Begin.")
    told = r"Another thing.\n\n\[Beside .*\]\ntask-1 was cut off and does not continue after 2 turns, .* changed part_001.txt"
    model = ScriptedModel([say("I see.", requires=told)])
    again = parent(tree, store, model, session_id=agent.session.session_id)
    assert again.run("Another thing.").answer == "I see."
    (child,) = children_of(store, agent.session.session_id).values()
    assert child.ended is not None
    assert again.purse is not None
    assert again.purse.account.reserved_tokens == 0


@pytest.mark.proves("S-8", "S-10")
def test_what_a_child_had_come_to_before_a_kill_is_told_with_what_the_person_says_next(
    begun: Callable[..., Agent], tree: Path, store: Store
) -> None:
    """The first child's call is closed without its result, as the second is still open; its paid-for answer is not lost."""
    steps = [calls(task(), task("Look at part 2.")), say("Part 1 has it."), call("view", file_path="part_002.txt")]
    agent = begun(ScriptedModel(steps))
    with pytest.raises(AssertionError):  # the script is exhausted, which ends the run like a kill
        agent.run("Begin.")
    told = r"Another thing.\n\n\[Beside .*\]\ntask-1 answered after 1 turn, .*\n\nPart 1 has it.\n\ntask-2 was cut off"
    again = parent(tree, store, ScriptedModel([say("I see.", requires=told)]), session_id=agent.session.session_id)
    assert again.run("Another thing.").answer == "I see."


@pytest.mark.proves("S-8", "S-12")
def test_an_interrupt_stops_a_child_and_both_are_told(begun: Callable[..., Agent], store: Store) -> None:
    """The child stops, the parent's other calls do not run, and the result says how far the child came."""

    class Interrupting(ScriptedModel):
        def send(self, request: Any, /) -> Any:
            if len(self.requests) == 2:
                agent.interrupt()
            return super().send(request)

    asked = [task(), call("view", file_path="part_002.txt")]
    steps = [
        calls(*asked),
        call("view", file_path="part_001.txt"),
        EDIT,
        say("I see.", requires="Not run: the person stopped"),
    ]
    agent = begun(Interrupting(steps))
    assert agent.run("Begin.").outcome == "interrupted"
    texts = [result.text for entry in agent.session.state.transcript.entries for result in entry.results]
    assert texts[0].startswith("Error: task-1 was stopped by the person after 2 turns")
    assert agent.purse is not None
    assert agent.purse.account.reserved_tokens == 0
    assert agent.run("Go on.").answer == "I see."
    assert resumed(store, agent.session.session_id)[0] == agent.session


@pytest.mark.proves("S-8")
def test_a_call_of_which_the_end_is_not_known_stays_counted(begun: Callable[..., Agent], store: Store) -> None:
    """A call that the person broke off counts in full, as the provider may have finished it; a refused or failed one is free."""

    class Broken(ScriptedModel):
        error: Exception = Cancelled("stopped")

        def send(self, request: Any, /) -> Any:
            raise self.error

    agent = begun(Broken([]))
    assert agent.run("Begin.").outcome == "interrupted"
    reserve = agent.session.state.limits.reserve_tokens
    assert spent(store, agent) > reserve
    other = begun(Broken([]))
    other.model.error = OSError("no route")  # type: ignore[attr-defined]
    assert other.run("Begin.").answer == ""
    assert spent(store, other) == 0


@pytest.mark.proves("S-8")
def test_a_model_hears_when_its_budget_comes_to_an_end(begun: Callable[..., Agent]) -> None:
    """At a quarter of the budget the next result says how much is left, once."""
    look = [call("view", file_path=f"part_{number:03d}.txt") for number in range(8)]
    model = ScriptedModel(
        [*look, say("So far.", requires="tokens of the budget of 50000 are left: come to your answer")]
    )
    agent = begun(model, budget=50_000)
    run = agent.run("Look.")
    assert run.outcome == "answered", run.message
    assert isinstance(agent.listener, Heard)
    assert sum("come to your answer" in step for step in agent.listener.steps) == 1


@pytest.mark.proves("S-8")
def test_a_reply_is_asked_for_only_if_it_can_be_paid_for(begun: Callable[..., Agent]) -> None:
    """A budget below the request's default reply gives a shorter reply; below the shortest reply no request is made."""
    whole = ScriptedModel([say("Hello.")])
    agent = begun(whole)
    agent.run("Hello?")
    most, reserve = agent._asking.asked_tokens, agent.session.state.limits.reserve_tokens
    for missing, outcome in ((1_000, "answered"), (reserve - MIN_REPLY_TOKENS, "answered"), (reserve - 255, "budget")):
        model = ScriptedModel([say("Hello.")])
        assert begun(model, budget=most - missing).run("Hello?").outcome == outcome
        asked = [request["max_tokens"] for request in model.requests]
        assert asked == ([reserve - missing] if outcome == "answered" else [])
    assert whole.requests[0]["max_tokens"] == reserve


def profile(name: str) -> Limits:
    from penstock.errors import CallerError

    raise CallerError(f"There is no profile {name}.")


# ── kills ────────────────────────────────────────────────────────────────────────────────────────────────────────

EACH = 1
"""The lines that each of two children adds to a file; each edit would also succeed a second time and repeat its line."""


class Killed(BaseException):
    """A stand-in for a kill, which nothing catches."""


class Mortal:
    """A store that is killed after its n-th record, or never."""

    def __init__(self, store: Store, after: int | None) -> None:
        self._store, self.left = store, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def append(self, *args: Any, **more: Any) -> Any:
        made = self._store.append(*args, **more)
        if self.left is not None:
            self.left -= 1
            if not self.left:
                raise Killed
        return made


class Counting:
    """A model that knows only what the request shows, and sums up the usage that it reported, like a provider's bill."""

    name, window_tokens = "counting", None

    def __init__(self, wire: str = "openai-chat") -> None:
        self.wire = wire
        self.billed_tokens = 0
        self.floods = False
        self.dies_in: int | None = None
        """The number of calls until the process is killed: the provider has answered, and the answer is lost."""

    def send(self, request: dict[str, Any], /) -> dict[str, Any]:
        body = ScriptedModel([self._step(request)], self.wire).send(request)
        came, made = reported_input(body), output_tokens(body, self.wire)
        assert came is not None
        assert made is not None
        self.billed_tokens += came + made
        if self.dies_in is not None:
            self.dies_in -= 1
            if not self.dies_in:
                raise Killed
        return body

    def _step(self, request: dict[str, Any]) -> Any:
        entries = load_request(request, self.wire).visible()
        text = entries[-1].results[-1].text if entries[-1].results else ""
        if "You work for another agent" in json.dumps(request):
            wanted = int(entries[1].text.split()[-1].rstrip("."))
            if not re.search(r"^\d+\|end$", text, re.MULTILINE):
                return call("view", file_path="counter.txt")
            number = len(re.findall(r"^\d+\|line \d+$", text, re.MULTILINE))
            if number >= wanted:
                return say("flood " * 5_000 if self.floods else f"It is {number}.")
            return call("edit_file", path="counter.txt", old="end", new=f"line {number + 1}\nend")
        done = len(re.findall(r"task-\d+ answered", json.dumps([entry.raw for entry in entries])))
        return say("All is done.") if done == 2 else task(f"Bring it to {EACH * (done + 1)}.")


def lines_of(number: int) -> str:
    return "".join(f"line {line + 1}\n" for line in range(number)) + "end\n"


def worked(tree: Path, store: Store, model: Counting, kills: Iterator[int], budget: int) -> tuple[AgentRun, str]:
    """Begin, and resume after each kill, to the end; a positive kill counts records, a negative one model calls."""
    session_id = ""
    for after in kills:
        mortal: Any = Mortal(store, None)
        try:
            agent = parent(tree, mortal, model, budget=budget, session_id=session_id)
            session_id = agent.session.session_id
            mortal.left, model.dies_in = (after, None) if after > 0 else (None, -after)
            agent.run(None if store_has_prompt(store, session_id) else "Count.")
        except Killed:
            continue
        break
    model.dies_in = None
    agent = parent(tree, store, model, budget=budget, session_id=session_id)
    is_idle = agent.session.state.phase in {"idle", "ended"}
    return agent.run("Go on." if is_idle else None), agent.session.session_id


def store_has_prompt(store: Store, session_id: str) -> bool:
    return any(record.type == "Prompted" for record in store.events(session_id))


@pytest.mark.proves("S-8", "S-12")
def test_killed_after_any_record_a_child_goes_on_and_nothing_is_done_twice(tree: Path, store: Store) -> None:
    """Each edit is made once, no child is begun again, and nothing stays reserved.

    The kill comes after each record until the first child has ended (in the short form after every second), then after every
    seventh: the records of the second child are like those of the first.
    """
    counter = tree / "counter.txt"
    counter.write_text(lines_of(0))
    whole = parent(tree, store, Counting())
    whole.run("Count.")
    records = whole.journal.next_seq  # type: ignore[union-attr]
    assert counter.read_text() == lines_of(2 * EACH)
    types = [record.type for record in store.events(whole.session.session_id)]
    second = types.index("Returned") + 4
    step = 1 if settings().max_examples > 1_000 else 2
    for after in (*range(1, second, step), *range(second, records, 7)):
        counter.write_text(lines_of(0))
        model = Counting()
        run, name = worked(tree, store, model, iter([after]), BUDGET)
        told = f"killed behind record {after}"
        assert counter.read_text() == lines_of(2 * EACH), told
        assert run.outcome == "answered", told
        children = children_of(store, name)
        assert [child.ended is not None for child in children.values()] == [True, True], told
        tree_of_budgets = spending_of(store, name)
        assert tree_of_budgets is not None
        root = tree_of_budgets.accounts[name]
        assert root.reserved_tokens == 0, told
        assert model.billed_tokens <= root.spent_tokens <= BUDGET, told
        assert len(edits_of(store, name)) == 2 * EACH, told


@pytest.mark.proves("S-8", "LAW-Budget")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kills=st.lists(st.integers(-5, 25).filter(bool), max_size=6),
    budget=st.integers(4_000, 120_000),
    floods=st.booleans(),
)
def test_all_agents_together_never_spend_more_than_the_budget(
    tree: Path, store: Store, kills: list[int], budget: int, floods: bool
) -> None:
    """Whatever is killed and when, the provider's bill is at most what the journal says, and that is at most the budget."""
    (tree / "counter.txt").write_text(lines_of(0))
    model = Counting()
    model.floods = floods
    run, name = worked(tree, store, model, iter(kills), budget)
    assert run.outcome in {"answered", "budget"}
    found = spending_of(store, name)
    assert found is not None
    assert model.billed_tokens <= found.spent_tokens <= budget
    assert found.accounts[name].granted_tokens == budget
    for account in found.accounts.values():
        assert account.spent_tokens + account.reserved_tokens <= account.granted_tokens


@pytest.mark.parametrize(
    ("taken", "used", "spent", "written"),
    [(40, 39, 39, 1), (40, 40, 40, 0), (40, 41, 41, 1), (40, 101, 100, 1), (100, 101, 100, 0)],
)
def test_only_what_a_call_took_otherwise_than_expected_is_written(
    taken: int, used: int, spent: int, written: int
) -> None:
    """An unused part is given back, an excess is committed as far as tokens are left, and no change writes no record."""
    records: list[Any] = []
    purse = open_purse("main", 100, lambda *record: records.append(record))
    purse.take(taken)
    del records[:]
    purse.settle(taken, used)
    assert (purse.account.spent_tokens, len(records)) == (spent, written)


def test_a_journal_holds_all_that_a_child_was(store: Store) -> None:
    """A child's beginning, its events in order, what it saw and changed and its end are there, and nothing of other children."""

    def of(child: str, kind: str, **data: Any) -> tuple[str, dict[str, Any]]:
        return CHILD, {"child": child, "type": kind, "data": data}

    records: list[tuple[str, dict[str, Any]]] = [
        (BEGUN, {"header": {}}),
        of("one", BEGUN, place="1:a"),
        of("one", "Prompted", message="Look."),
        (SEEN, {"acts": [{"did": "read", "path": "mine.py"}]}),
        of("one", SEEN, acts=[{"did": "read", "path": "a.py"}]),
        of("two", BEGUN, place="1:b"),
        of("one", SEEN, acts=[{"did": "read", "path": "b.py"}, {"did": "deleted", "path": "a.py"}]),
        of("one", "Closed", reason="done"),
        (CHANGED, {"child": "one", "files": [{"path": "b.py"}, {"path": "c.py"}]}),
        (CHANGED, {"child": "nobody", "files": [{"path": "x.py"}]}),
        (CHANGED, {"files": [{"path": "mine.py"}]}),
        (TRACKED, {"files": [{"path": "b.py", "sha256": "1"}, {"path": "c.py", "sha256": "2"}]}),
        (CHANGED, {"child": "one", "files": [{"path": "b.py"}]}),
        of("one", ENDED, outcome="answered"),
        (TRACKED, {"files": [{"path": "b.py", "sha256": "3"}]}),
        (SEEN, {"acts": [{"did": "read", "path": "b.py"}]}),
    ]
    for seq, (kind, data) in enumerate(records):
        store.append("run", seq, kind, data)
    assert children_of(store, "run") == {
        "one": KeptChild(
            name="one",
            begun={"place": "1:a"},
            rows=[("Prompted", {"message": "Look."}), ("Closed", {"reason": "done"})],
            acts=[
                {"did": did, "path": path} for did, path in (("read", "a.py"), ("read", "b.py"), ("deleted", "a.py"))
            ],
            changed={"b.py": None, "c.py": None},
            ended={"outcome": "answered"},
        ),
        "two": KeptChild(name="two", begun={"place": "1:b"}),
    }
    acts, files = remembered(store, "run")
    assert [act["path"] for act in acts] == ["mine.py", "b.py"]
    assert {path: file["sha256"] for path, file in files.items()} == {"b.py": "3", "c.py": "2"}

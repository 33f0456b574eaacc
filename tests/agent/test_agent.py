"""Does the loop do what a session asks for, write it down first, and survive whatever happens?"""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.conftest import Heard

from penstock.agent import todos
from penstock.agent.editing import Editing
from penstock.agent.journal import resumed
from penstock.agent.loop import Agent
from penstock.agent.protocols import Done
from penstock.agent.shell import Shell
from penstock.cli.watching import work
from penstock.errors import CallerError
from penstock.models import ScriptedModel, call, calls, fail, refuse, say
from penstock.session.effects import Acted, Intent
from penstock.store import Conflict, open_store
from penstock.tools import REQUIRED, Parameter, Tool
from penstock.wires import ToolCall, dump, placeholders, violations
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from penstock.session import Session
    from penstock.session.effects import Settled
    from penstock.store import Store

WIRES = ("openai-chat", "openai-responses", "anthropic")


def replayed(agent: Agent, store: Store) -> Session:
    """Return the session that the journal gives."""
    session, _, _ = resumed(store, agent.session.session_id)
    return session


@pytest.mark.proves("S-12")
def test_without_a_session_name_the_newest_five_are_listed(tmp_path: Path) -> None:
    """An error about a missing session name lists the newest five sessions, however many there are."""
    with closing(open_store(str(tmp_path / "s"))) as store:
        for name in "abcdefg":
            store.append(name, 0, "begun", {})
        with pytest.raises(CallerError, match=r"no session 'x'; the newest are (\w, ){4}\w$") as refused:
            resumed(store, "x")
        assert "g" in str(refused.value).partition("are")[2]


@pytest.mark.proves("S-9", "S-12")
@pytest.mark.parametrize("wire", WIRES)
def test_a_run_with_parallel_calls_a_fault_and_a_refusal_ends_with_its_answer(
    wire: str, begun: Callable[..., Agent], store: Store
) -> None:
    """On every wire the journal holds an equal session, and what is shown is a valid request."""
    model = ScriptedModel(
        [
            calls(
                call("todo", action="add", title="find the value"), call("search", pattern="value", path="part_003.txt")
            ),
            fail(503, {"error": {"message": "overloaded"}}),
            *(call("view", file_path="large.log", offset=1_000 * number, limit=2_000) for number in range(5)),
            call("view", file_path="part_003.txt", offset=28),
            refuse(33_000, of=32_000),
            call("todo", action="done", title="find the value", requires="value = 21"),
            say("It is 21.\npart_003.txt:31: value = 21", requires="find the value"),
        ],
        wire,
    )
    agent = begun(model, window=32_000)
    run = agent.run("What is the value in part 3?")
    assert (run.outcome, run.turns, run.recoveries) == ("answered", 9, 1)
    assert run.answer.startswith("It is 21.")
    assert run.usage["input_tokens"] > 0
    assert replayed(agent, store) == agent.session
    assert violations(dump(agent.session.state.transcript, wire), wire) == []
    assert [todo.is_done for todo in agent.session.state.todos] == [True]
    assert agent.session.handoff().completed_tasks == ("find the value",)


@pytest.mark.proves("S-12")
def test_a_session_goes_on_from_any_record_of_its_journal(begun: Callable[..., Agent], store: Store) -> None:
    """Killed after any write, the session resumes in the state that it had then and gives the next step."""
    steps = [call("view", file_path="part_001.txt"), call("view", file_path="large.log"), say("Done.")]
    agent = begun(ScriptedModel(steps))
    before: list[Session] = []
    feed = agent.feed

    def watched(event: Any, handles: tuple[str, ...] = ()) -> None:
        feed(event, handles)
        before.append(replayed(agent, store))
        assert before[-1] == agent.session

    agent.feed = watched  # type: ignore[method-assign]
    agent.run("Look.")
    assert [type(session.next_step()).__name__ for session in before] == [
        "Ask",
        "Call",
        "Ask",
        "Call",
        "Ask",
        "Await",
    ]


class Counter:
    """A tool with an effect that counts how often it really ran, and returns floods."""

    tools = (Tool("count_up", "Count up", "Counts up.", (Parameter("by", "integer", REQUIRED, "how much"),)),)

    def __init__(self) -> None:
        self.done = 0
        self.dies = False

    def intent(self, name: str, arguments: Mapping[str, Any]) -> Intent:
        return Intent(kind=name, what=f"by {arguments['by']}", digest=str(self.done))

    def settled(self, kind: str, what: str, digest: str) -> Settled:
        del kind, what, digest
        return "unknown"

    def run(self, name: str, arguments: Mapping[str, Any]) -> Acted:
        if self.dies:
            raise MemoryError("killed in the middle")
        self.done += arguments["by"]
        return Acted(text="flood " * 100_000, failed=False, what=name, after=str(self.done))


@pytest.mark.proves("S-10", "G-4")
def test_an_effect_is_announced_and_never_done_again_unasked(begun: Callable[..., Agent], store: Store) -> None:
    """An effect that began and has no recorded end is unknown after a resume, and its result tells the model so."""
    counter = Counter()
    agent = begun(ScriptedModel([call("count_up", by=2), call("count_up", by=3), say("never")]), acting=[counter])
    feed = agent.feed

    def dying(event: Any, handles: tuple[str, ...] = ()) -> None:
        feed(event, handles)
        counter.dies |= type(event).__name__ == "Replied" and counter.done == 2

    agent.feed = dying  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        agent.run("Count.")
    session = replayed(agent, store)
    assert [effect.what for effect in session.state.unknown_effects.values()] == ["by 3"]
    assert counter.done == 2
    shown = json.dumps(dump(session.state.transcript, "openai-chat"))
    assert "[OUTPUT TRUNCATED]" in shown
    assert len(shown) < 20_000


@pytest.mark.proves("S-17")
@pytest.mark.parametrize("is_stopped", [False, True])
def test_what_is_kept_of_a_result_lives_and_goes_with_the_session(
    begun: Callable[..., Agent], store: Store, is_stopped: bool
) -> None:
    """Removing a session removes all that was kept of its results, also if it was stopped before the model read them."""
    agent = begun(ScriptedModel([call("count_up", by=2), say("Counted.")]), acting=[Counter()])

    class Stopping(Heard):
        def step(self, session: Session, what: str) -> None:
            super().step(session, what)
            if is_stopped and what.startswith("count_up "):
                agent.interrupt()

    agent.listener = Stopping()
    assert agent.run("Count.").outcome == ("interrupted" if is_stopped else "answered")
    (kept,) = store.artifacts()
    assert kept.handle in store.handles_of(agent.session.session_id)
    store.close()
    agent.store = again = open_store(store.url)  # a running session is not removed
    again.remove_sessions([agent.session.session_id])
    assert again.artifacts() == []
    again.close()


@pytest.mark.proves("S-10", "S-12")
def test_what_was_done_before_a_kill_is_told_as_done(begun: Callable[..., Agent], tree: Path, store: Store) -> None:
    """The journal has the end of the effect; only its result was lost, with that of the call after it."""
    counter, root = Counter(), Root(tree)
    (tree / "a.txt").write_text("one")
    edit = call("edit_file", path="a.txt", old="one", new="two")
    agent = begun(
        ScriptedModel([calls(edit, call("count_up", by=2), call("count_up", by=3))]), acting=[counter, Editing(root)]
    )
    feed = agent.feed

    def dying(event: Any, handles: tuple[str, ...] = ()) -> None:
        feed(event, handles)
        counter.dies |= type(event).__name__ == "Effected" and counter.done == 2

    agent.feed = dying  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        agent.run("Work.")
    session, _, seq = resumed(store, agent.session.session_id)
    assert Agent(session, ScriptedModel([say("Done.")]), agent.tools, store, next_seq=seq).run().answer == "Done."
    told = [result.text for entry in session.state.transcript.entries for result in entry.results]
    assert told[0].startswith("Begun before the stop: edit a.txt was done.")
    assert told[1].startswith("Begun before the stop: count_up by 2 came to its end, and its result was lost")
    assert told[2].startswith("Error: Begun before the stop: count_up by 3 may or may not have been done")
    root.close()


@pytest.mark.proves("S-13")
@pytest.mark.parametrize(("is_edit_sound", "wire"), [(True, "anthropic"), (False, "anthropic"), (False, "openai-chat")])
def test_what_was_done_before_a_stop_is_told_to_the_model(
    begun: Callable[..., Agent], tree: Path, is_edit_sound: bool, wire: str
) -> None:
    """A completed edit is reported as done, not as possibly done; one that had not begun is reported so and marked as failed."""
    old = "value = 0" if is_edit_sound else "value = 1"
    both = calls(
        call("edit_file", path="part_000.txt", old=old, new="value = 2"),
        call("edit_file", path="part_001.txt", old="value = 7", new="value = 8"),
    )
    model = ScriptedModel([both, say("Good.")], wire)
    agent = begun(model, acting=[Editing(Root(tree))])

    class Stopping(Heard):
        def step(self, session: Session, what: str) -> None:
            super().step(session, what)
            if what.startswith("edit_file "):
                agent.interrupt()

    agent.listener = Stopping()
    assert agent.run("Change two.").outcome == "interrupted"
    assert agent.run("Go on.").outcome == "answered"
    first, second = (result for entry in agent.session.state.transcript.entries for result in entry.results)
    ended = "was done" if is_edit_sound else "came to its end, and its result was lost"
    assert first.text.startswith(f"[Begun before the stop: edit part_000.txt {ended}")
    assert second.text == placeholders.CLOSED
    if wire == "anthropic":  # this wire has an error mark
        assert (first.is_error, second.is_error) == (not is_edit_sound, True)


def test_the_same_call_with_the_same_result_is_told_and_then_ended(begun: Callable[..., Agent]) -> None:
    """The model is told after the third call, the work ends after the fifth, and the next prompt continues."""
    model = ScriptedModel(
        [*[call("view", file_path="part_001.txt")] * 5, say("Right.", requires="3 times now|4 times now")]
    )
    agent = begun(model)
    run = agent.run("Look.")
    assert (run.outcome, run.turns) == ("loop", 5)
    assert "no progress" in run.message
    assert run.message.endswith(f'\nTo continue: penstock resume {run.session} "QUESTION"')
    assert agent.run("Try another way.").answer == "Right."


TESTED = r"""printf '1 failed in 0.%ss (0:00:%02d)\n<T at 0x7f%s>' $(date +'%N %S %N') | tee report.txt"""


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="a wall for the shell is needed")
@pytest.mark.proves("S-13")
@pytest.mark.parametrize("changes", [False, True])
def test_a_result_that_differs_in_its_times_is_progress_only_after_a_change(
    changes: bool, begun: Callable[..., Agent], store: Store, tree: Path
) -> None:
    """Tests that are repeated print other seconds each time; after an edit, the seconds may be what was sought."""
    shell, root = Shell(str(tree), store=store), Root(tree)
    edits = [call("write_file", path="new.txt", content=str(number)) for number in range(5)] if changes else []
    runs = [call("run_command", command=TESTED) for _ in range(5)]
    steps = [step for pair in zip(edits, runs, strict=True) for step in pair] if changes else runs
    with closing(shell), closing(root):
        run = begun(ScriptedModel([*steps, say("Done.")]), acting=[shell, Editing(root)]).run("Test.")
    assert (run.outcome, run.turns) == (("answered", 11) if changes else ("loop", 5))


@pytest.mark.proves("S-13")
def test_a_result_that_differs_in_its_times_is_progress_after_the_work_of_a_child(begun: Callable[..., Agent]) -> None:
    """A child may have changed what the parent tests."""
    calling, child = begun(ScriptedModel([]))._calling, begun(ScriptedModel([]))._calling
    test = ToolCall(id="1", name="run_command", arguments='{"command": "pytest"}')
    digests = [calling._digest(test, Done(text=""), f"1 failed in 0.{tenths}s") for tenths in (1, 2)]
    calling.adopt(child)
    digests.append(calling._digest(test, Done(text=""), "1 failed in 0.3s"))
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.proves("S-11")
def test_faults_wait_and_a_key_that_is_refused_stops_at_once(begun: Callable[..., Agent]) -> None:
    """Three faults open the breaker for a minute; a bad key stops the work until the person fixes it, and the next prompt works."""
    fault = fail(503, {"error": {"message": "overloaded"}})
    agent = begun(
        ScriptedModel(
            [fault, fault, fault, say("At last."), fail(401, {"error": {"message": "invalid api key"}}), say("Now.")]
        )
    )
    assert agent.run("Ask.").answer == "At last."
    assert agent.session.state.now_seconds >= 60
    assert isinstance(agent.listener, Heard)
    assert any(step.startswith("3 failures in a row, shown above") for step in agent.listener.steps)
    stopped = agent.run("Again.")
    assert stopped.outcome == "auth"
    assert "key" in stopped.message
    assert stopped.message.endswith(f"\nTo continue: penstock resume {stopped.session}")
    assert agent.run("And now?").answer == "Now."


@pytest.mark.proves("S-11")
def test_a_run_that_stops_is_not_said_to_continue(begun: Callable[..., Agent]) -> None:
    """Nobody waits for the provider: with the third failure in a row a run ends, and does not say that it goes on."""
    agent = begun(ScriptedModel([fail(503, {"error": {"message": "overloaded"}})] * 4))
    agent._max_wait_seconds = 0
    assert [agent.run("Ask.").outcome for _ in range(2)] == ["outage"] * 2
    assert isinstance(agent.listener, Heard)
    assert not [step for step in agent.listener.steps if "continues" in step]


def test_mistakes_of_a_model_are_results_that_say_so(begun: Callable[..., Agent]) -> None:
    """Arguments that are not JSON, an unknown tool, a wrong type and an empty todo are told to the model and end no work."""
    steps = [
        call("view", {"file_path": 5}),
        call("no_such_tool"),
        call("view", file_path="part_001.txt"),
        call("todo", action="burn"),
        call("todo", action="done", title="nothing"),
        say("Sorry."),
    ]
    agent = begun(ScriptedModel(steps))
    assert agent.run("Try.").outcome == "answered"
    texts = [result.text for entry in agent.session.state.transcript.entries for result in entry.results]
    for text, said in zip(texts, ("file_path", "find, todo.", "value = 7", "takes add", "no item"), strict=True):
        assert said in text


@pytest.mark.proves("L-9", "S-9")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"priorty": 1}, "todo has no argument priorty. Did you mean priority? It takes action, title, priority."),
        ({"priority": True}, "priority: takes an integer from 1 to 9, not true."),
        ({"title": None}, "title: takes the item as a text."),
    ],
)
def test_the_arguments_of_a_todo_are_checked_as_those_of_every_tool(given: dict[str, Any], said: str) -> None:
    """A misspelt name is not ignored, and null is an argument left out."""
    done = todos.answer({"action": "add", "title": "a"} | given, ())
    assert (done.text, done.failed, done.notes) == (said, True, ())


@pytest.mark.proves("S-9")
def test_the_todo_list_has_bounds_as_it_is_in_every_request(begun: Callable[..., Agent]) -> None:
    """A todo item of more than 400 characters and the 101st open item are refused helpfully, as each request carries the list."""
    steps = [
        calls(
            call("todo", action="add", title="x" * 401),
            call("todo", action="add", title="x" * 400),
            *(call("todo", action="add", title=f"{n}") for n in range(100)),
            call("todo", action="add", title="7", priority=1),
        ),
        call("todo", action="add", title="one more"),
        calls(call("todo", action="done", title="7"), call("todo", action="add", title="99")),
        say("Full."),
    ]
    model = ScriptedModel(steps)
    agent = begun(model)
    agent.run("Plan.")
    titles = [todo.title for todo in agent.session.state.todos]
    assert titles == ["x" * 400, *map(str, range(99)), "99"]  # the last one only after another was done
    seen = " ".join(str(request) for request in model.requests)
    assert "takes 400 characters at most, not 401" in seen
    assert "100 items are open, and no more can be" in seen


def test_a_person_sees_that_a_line_is_only_a_beginning(begun: Callable[..., Agent]) -> None:
    """A long call ends in a mark, so that nobody takes what is there for all of it."""
    agent = begun(
        ScriptedModel([call("search", pattern="x|" + "y" * 200), call("search", pattern="no such text"), say("Done.")])
    )
    agent.run("Look.")
    asked = [step for step in agent.listener.steps if step.startswith("calls ")]  # type: ignore[attr-defined]
    assert asked == ['calls search {"pattern": "x|' + "y" * 85 + "…", 'calls search {"pattern": "no such text"}']


@pytest.mark.proves("S-12")
def test_an_interrupt_keeps_the_session_and_the_next_prompt_goes_on(begun: Callable[..., Agent], store: Store) -> None:
    """Open calls are closed with a notice, and roles alternate on every wire."""
    for wire in WIRES:
        model = ScriptedModel(
            [calls(call("view", file_path="part_001.txt"), call("view", file_path="part_002.txt")), say("On.")], wire
        )
        agent = begun(model)
        stop_after = agent.feed

        def feed(event: Any, handles: tuple[str, ...] = (), agent: Agent = agent, feed: Any = stop_after) -> None:
            feed(event, handles)
            if type(event).__name__ == "Replied":
                agent.interrupt()

        agent.feed = feed  # type: ignore[method-assign]
        run = agent.run("Look.")
        assert run.outcome == "interrupted"
        assert f"penstock resume {agent.session.session_id}" in run.message
        agent.feed = stop_after  # type: ignore[method-assign]
        assert replayed(agent, store) == agent.session
        assert agent.run("Go on.").answer == "On."
        assert violations(dump(agent.session.state.transcript, wire), wire) == []


def test_an_interrupted_run_reports_what_it_took(begun: Callable[..., Agent], monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C within a step, the run reports its turns and tokens so far, and how to continue."""
    model = ScriptedModel([call("view", file_path=f"part_{n:03d}.txt") for n in range(3)])
    agent = begun(model)
    run_tool = agent.tools.run

    def broken(*asked: Any) -> Any:
        if len(model.requests) == 2:
            raise KeyboardInterrupt
        return run_tool(*asked)

    monkeypatch.setattr(agent.tools, "run", broken)
    done = work(agent, "Look.")
    assert (done.outcome, done.turns) == ("interrupted", 2)
    assert done.usage["input_tokens"] == agent.session.state.input_tokens > 0
    assert f"penstock resume {agent.session.session_id}" in done.message


@pytest.mark.proves("S-9")
def test_no_key_reaches_the_journal(begun: Callable[..., Agent], store: Store, tree: Path) -> None:
    """Secrets that a user pastes or a file holds are redacted before they are stored, shown or handed on."""
    keys = ["sk-ant-api03-" + "a1B2" * 12, "ghp_" + "x9Y8" * 9]
    (tree / "config.txt").write_text(f"token = {keys[1]}\n")
    agent = begun(ScriptedModel([call("view", file_path="config.txt"), say("Seen.", forbids=keys)]))
    assert agent.run(f"Is {keys[0]} the key?").answer == "Seen."
    written = json.dumps([record.data for record in store.events(agent.session.session_id)])
    assert "redacted" in written
    assert not any(key in written or key in repr(agent.session.handoff()) for key in keys)


class Typist:
    """A tool that records what it receives."""

    tools = (Tool("note", "Note", "Notes.", (Parameter("words", "string", REQUIRED, "what"),)),)

    def __init__(self) -> None:
        self.heard: list[str] = []

    def intent(self, name: str, arguments: Mapping[str, Any]) -> Intent:
        return Intent(kind=name, what=f"notes {arguments['words']}", digest="")

    def settled(self, kind: str, what: str, digest: str) -> Settled:
        del kind, what, digest
        return "not done"

    def run(self, name: str, arguments: Mapping[str, Any]) -> Acted:
        self.heard.append(arguments["words"])
        return Acted(text=f"noted {arguments['words']}", failed=False, what=name, after="")


@pytest.mark.proves("S-9", "S-12")
@pytest.mark.parametrize("wire", [*WIRES, "gemini", "bedrock"])
def test_keys_in_answers_and_in_calls_reach_a_tool_and_not_the_journal(
    wire: str, begun: Callable[..., Agent], store: Store
) -> None:
    """The tool gets what the model wrote; journal, handoff and later requests have a mark; a replay gives an equal session."""
    key, password = "ghp_" + "x9Y8" * 9, "correct-horse-7"
    typist = Typist()
    words = f'token {key}\npassword = "{password}"'
    model = ScriptedModel([call("note", words=words), say(f"I noted {key}.", forbids=[key, password])], wire)
    agent = begun(model, acting=[typist])
    run = agent.run("Note it.")
    assert typist.heard == [words]
    assert run.outcome == "answered"
    assert run.answer == "I noted [redacted: GitHub token, 40 characters]."
    written = json.dumps([record.data for record in store.events(agent.session.session_id)])
    assert "[redacted: GitHub token, 40 characters]" in written
    returned = [step for step in agent.listener.steps if step.startswith("note returned: noted token [redacted: ")]  # type: ignore[attr-defined]
    assert len(returned) == 1
    for secret in (key, password):
        assert secret not in written
        assert secret not in returned[0]
        assert secret not in repr(agent.session.handoff())
        assert secret not in json.dumps(dump(agent.session.state.transcript, wire))
    assert replayed(agent, store) == agent.session
    assert violations(dump(agent.session.state.transcript, wire), wire) == []


@pytest.mark.proves("S-10", "S-12")
def test_a_call_that_held_a_secret_is_not_run_with_a_mark_in_its_place(
    begun: Callable[..., Agent], store: Store
) -> None:
    """After a kill before the call ran, it is known only from the journal, which does not hold the model's original words."""
    typist = Typist()
    key = "ghp_" + "x9Y8" * 9
    agent = begun(ScriptedModel([call("note", words=key), say("Done.")]), acting=[typist])
    feed = agent.feed

    def stopping(event: Any, handles: tuple[str, ...] = ()) -> None:
        feed(event, handles)
        if type(event).__name__ == "Replied":
            raise MemoryError("killed before the call")

    agent.feed = stopping  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        agent.run("Note.")
    session, _, seq = resumed(store, agent.session.session_id)
    steps = [say("Told.", requires="Not run: the call held a secret")]
    again = Agent(session, ScriptedModel(steps), agent.tools, store, next_seq=seq)
    assert again.run().answer == "Told."
    assert typist.heard == []


@pytest.mark.proves("S-10", "S-12")
def test_of_two_that_resume_the_same_session_one_acts_and_the_other_is_told(
    begun: Callable[..., Agent], store: Store
) -> None:
    """Both reach the same open call; the second is refused before it does anything."""
    counter = Counter()
    agent = begun(ScriptedModel([call("count_up", by=2), say("Done.")]), acting=[counter])
    feed = agent.feed

    def stopping(event: Any, handles: tuple[str, ...] = ()) -> None:
        feed(event, handles)
        if type(event).__name__ == "Replied":
            raise MemoryError("killed before the call")

    agent.feed = stopping  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        agent.run("Count.")
    both = []
    for _ in range(2):
        session, _, next_seq = resumed(store, agent.session.session_id)
        both.append(Agent(session, ScriptedModel([say("Done.")]), agent.tools, store, next_seq=next_seq))
    assert both[0].run().answer == "Done."
    with pytest.raises(Conflict):
        both[1].run()
    assert counter.done == 2


@pytest.mark.proves("S-12")
def test_the_same_words_at_one_instant_are_two_people_and_not_one_told_twice(
    begun: Callable[..., Agent], store: Store
) -> None:
    """The second writes the same record in the same place as the first, and is refused before its model is asked."""
    agent = begun(ScriptedModel([say("Which?")]))
    agent.run("Go.")
    models = [ScriptedModel([say("Same.")]), ScriptedModel([say("Same.")])]
    both = []
    for model in models:
        session, _, next_seq = resumed(store, agent.session.session_id)
        both.append(Agent(session, model, agent.tools, store, next_seq=next_seq))
    assert both[0].run("Again.").answer == "Same."
    with pytest.raises(Conflict):
        both[1].run("Again.")
    assert [len(model.requests) for model in models] == [1, 0]

"""The law of the journal: each acknowledged record is there once, in order, whichever process dies, is late or has a wrong clock.

Agents of two sessions run in two real processes over one store. The processes are killed between calls and at each point of a
write, close properly, and continue from old reads; their clocks jump forward and back. The plain model is a list of acknowledged
records for each session. Every step follows from what Hypothesis draws: `--hypothesis-seed=N` replays it.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import tempfile
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from penstock.agent.journal import Journal, resumed
from penstock.agent.loop import Agent
from penstock.agent.record_types import BEGUN
from penstock.errors import PenstockError
from penstock.session import (
    Closed,
    Effected,
    Event,
    Failed,
    HandOff,
    Intended,
    Interrupted,
    Noted,
    Outcome,
    Prompted,
    Refused,
    Replied,
    Returned,
    Session,
    Summarised,
    Ticked,
    event_of,
    name_of,
    to_dict,
)
from penstock.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from penstock.agent.toolbox import Toolbox
    from penstock.context.handoff import Handoff
    from penstock.models import Model

Record = tuple[str, dict[str, Any]]
IS_LONG = os.environ.get("PENSTOCK_HYPOTHESIS") == "long"
MACHINES = 2_000 if IS_LONG else 5
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None  # a kill is no power cut: no disk is needed
NOON = 1_800_000_000.0
YEAR = 366 * 86_400
DEATHS = ("BEGIN", "INSERT INTO records", "COMMIT", "note", "acknowledge")
"""The points of a write where a process may die: before a statement, before the newest record is noted, before the answer."""
COMMITTED = DEATHS[3:]

# ── a process ────────────────────────────────────────────────────────────────────────────────────────────────────


class _NoModel:
    """The model of an agent that is only fed events."""

    name, wire = "none", "openai-chat"

    def send(self, request: dict[str, Any]) -> dict[str, Any]:
        raise AssertionError("nobody is asked")


class _NoTools:
    """The tools of an agent that calls none, so no file has changed."""

    def corrected(self, handoff: Handoff) -> Handoff:
        return handoff


def _next_seq(agent: Agent) -> int:
    """Return the number of an agent's next record."""
    assert isinstance(agent.journal, Journal)
    return agent.journal.next_seq


class _Told(Agent):
    """An agent that announces what it is about to write."""

    said: Connection

    def record(self, kind: str, data: dict[str, Any], handles: tuple[str, ...] = ()) -> None:
        self.said.send(("writes", kind, data, handles))
        super().record(kind, data, handles)


class _Served:
    """The commands that a process serves; each answer is a tuple."""

    def __init__(self, pipe: Connection, folder: str, now: float) -> None:
        self.pipe, self.now = pipe, now
        self.store = SqliteStore(folder, clock=lambda: self.now)
        self.agents: dict[str, Agent] = {}

    def _agent(self, session: Session, next_seq: int) -> Agent:
        agent = _Told(session, cast("Model", _NoModel()), cast("Toolbox", _NoTools()), self.store, next_seq=next_seq)
        agent.said = self.pipe
        return agent

    def _stands(self, session: str) -> tuple[Any, ...]:
        agent = self.agents[session]
        return (
            _next_seq(agent),
            agent.session.state.phase,
            tuple(call.id for call in agent.session.state.open_calls),
        )

    def begin(self, session: str, model: str) -> tuple[Any, ...]:
        """Begin a session, whatever its journal already holds."""
        agent = self._agent(Session(session_id=session), 0)
        agent.begin(model=model)
        self.agents[session] = agent
        return self._stands(session)

    def read(self, session: str) -> tuple[Any, ...]:
        """Resume a session."""
        found, _, next_seq = resumed(self.store, session)
        self.agents[session] = self._agent(found, next_seq)
        return self._stands(session)

    def feed(self, session: str, name: str, data: dict[str, Any]) -> tuple[Any, ...]:
        """Feed a session an event, or hand it off; an error must leave it unchanged."""
        agent = self.agents[session]
        before = agent.session.state, _next_seq(agent)
        try:
            if name == "HandedOff":
                passed_on = agent.session.handoff()
                agent._hand_off(HandOff(handoff=passed_on, reason="turns", evidence="law", max_tokens=1_000))
            else:
                agent.feed(event_of(name, data))
        except PenstockError:
            assert (agent.session.state, _next_seq(agent)) == before
            raise
        return self._stands(session)

    def look(self, handles: list[str]) -> tuple[Any, ...]:
        """Return all journals, which sessions equal their replayed journals, and the damage that the store finds."""
        journals = {
            info.session: [(record.type, record.data) for record in self.store.events(info.session)]
            for info in self.store.sessions()
        }
        equal = {
            name: resumed(self.store, name)[0] == agent.session
            for name, agent in self.agents.items()
            if _next_seq(agent) == len(journals[name])
        }
        for handle in handles:
            self.store.read(handle, 0, 1)
        return journals, equal, self.store.check()

    def jump(self, now: float) -> tuple[Any, ...]:
        """Set the clock, and prune what has expired."""
        self.now = now
        self.store.prune()
        return ()

    def close(self) -> tuple[Any, ...]:
        """Close the store properly."""
        self.store.close()
        return ()

    def dies(self, where: str) -> None:
        """Arrange for the process to die at this point of its next write, if the write gets that far."""

        def die() -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        def mark() -> None:
            if self.store._newest is not None:  # writing an artifact notes nothing
                die()

        if where == "note":
            self.store._mark = mark  # type: ignore[method-assign]
        elif where != "acknowledge":
            connection = self.store._connected()
            connection.set_trace_callback(lambda statement: die() if statement.startswith(where) else None)

    def lives(self) -> None:
        """Undo `dies`: the write did not get that far."""
        self.store._connected().set_trace_callback(None)
        vars(self.store).pop("_mark", None)


def _serve(pipe: Connection, folder: str, now: float) -> None:
    served = _Served(pipe, folder, now)
    while True:
        what, where, arguments = pipe.recv()
        if where:
            served.dies(where)
        try:
            answer = ("done", *getattr(served, what)(*arguments))
        except PenstockError as error:
            answer = ("refused", type(error).__name__, str(error))
        if where == "acknowledge" and answer[0] == "done":
            os.kill(os.getpid(), signal.SIGKILL)
        if where:
            served.lives()
        pipe.send(answer)
        if what == "close":
            return


class Process:
    """A process as the law sees it."""

    def __init__(self, folder: str, now: float) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, folder, now), daemon=True)
        self.process.start()
        theirs.close()
        self.stands: dict[str, tuple[int, str, tuple[str, ...]]] = {}
        """For each session that it holds: how many records it knows, the phase, the open calls."""
        self.writes: tuple[str, dict[str, Any], tuple[str, ...]] | None = None
        """The record that it last announced."""

    def tell(self, what: str, *arguments: object, dies: str = "") -> tuple[Any, ...]:
        """Send a command, and return its answer: `done`, `refused` or `killed`."""
        self.writes = None
        self.pipe.send((what, dies, arguments))
        try:
            while (answer := self.pipe.recv())[0] == "writes":
                self.writes = answer[1:]
        except (EOFError, ConnectionResetError):
            self.end()
            return ("killed",)
        return cast("tuple[Any, ...]", answer)

    def end(self) -> None:
        """Kill the process with SIGKILL if it is alive."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


# ── the law ──────────────────────────────────────────────────────────────────────────────────────────────────────


def events(seq: int, phase: str, calls: tuple[str, ...], text: str, number: int) -> list[Event | None]:
    """Return the events that a session in this state accepts; None is a handoff."""
    call = {"id": f"call{seq}", "type": "function", "function": {"name": "view", "arguments": '{"path": "a"}'}}
    prompt = Prompted(message={"role": "user", "content": f"Do {text}."})
    answer = Replied(messages=({"role": "assistant", "content": f"So {text}."},), input_tokens=number, output_tokens=1)
    asks = Replied(messages=({"role": "assistant", "content": text, "tool_calls": [call]},))
    results = tuple({"role": "tool", "tool_call_id": each, "content": text} for each in calls)
    outcomes = tuple(Outcome(call_id=each, failed=number % 2 == 0, digest=text) for each in calls)
    own: dict[str, list[Event | None]] = {
        "idle": [prompt],
        "ready": [asks, asks, answer, Refused(overflow={"kind": "context_input"}), Failed(kind="server_error"), None],
        "calling": [Returned(messages=results, outcomes=outcomes), Interrupted()],
        "refused": [Summarised(text=text), Failed(kind="overloaded"), Interrupted(), None],
        "ended": [prompt],
    }
    anywhere: list[Event | None] = [
        Ticked(now_seconds=float(number)),
        Noted(action="add", title=text),
        Intended(effect_id=f"{seq}:x", kind="edit", what=text),
        Effected(effect_id=f"{seq - 1}:x", digest=text),
        Closed(reason="done"),
    ]
    return own[phase] * 3 + anywhere


processes = st.integers(0, 1)
sessions = st.sampled_from("ab")
texts = st.text(st.characters(exclude_categories=()), max_size=8)
numbers = st.integers(-YEAR, YEAR)
deaths = st.sampled_from(("",) * 10 + DEATHS)


class JournalMachine(RuleBasedStateMachine):
    """Two sessions, two processes, and the records that were acknowledged."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="penstock-law-", dir=MEMORY)
        self.journals: dict[str, list[Record]] = {}
        self.handles: list[str] = []
        self.running: dict[int, Process] = {}
        self.now = NOON

    @initialize(session=sessions)
    def first(self, session: str) -> None:
        """One session is begun."""
        self._write(0, session, "begin", session, "one")

    # ── who writes ───────────────────────────────────────────────────────────────────────────────────────────────

    @rule(process=processes, session=sessions, which=st.integers(0, 30), text=texts, number=numbers, dies=deaths)
    def feed(self, process: int, session: str, which: int, text: str, number: int, dies: str) -> None:
        """An agent is fed an event that its session accepts, as of its last read."""
        if session not in self._process(process).stands:
            self.read(process, session)
        choices = events(*self._process(process).stands[session], text, number)
        event = choices[which % len(choices)]
        named = ("HandedOff", {}) if event is None else (name_of(event), to_dict(event))
        self._write(process, session, "feed", session, *named, dies=dies)

    @rule(process=processes, session=sessions, model=st.sampled_from(("one", "two")), dies=deaths)
    def begin(self, process: int, session: str, model: str, dies: str) -> None:
        """A session is begun, even if one of that name exists."""
        self._write(process, session, "begin", session, model, dies=dies)

    @rule(process=processes, session=sessions)
    def read(self, process: int, session: str) -> None:
        """A process resumes a session, or begins it."""
        if not self.journals.get(session):
            self._write(process, session, "begin", session, "one")
            return
        one = self._process(process)
        answer = one.tell("read", session)
        assert answer[:2] == ("done", len(self.journals[session])), answer
        one.stands[session] = answer[1:]

    @rule(session=sessions, text=texts, late=processes)
    def two_at_once(self, session: str, text: str, late: int) -> None:
        """Both processes read and one writes; the other's write is refused, then accepted after it reads again."""
        for process in (0, 1):
            self.read(process, session)
        early = Noted(action="add", title="early"), Noted(action="drop", title=text)
        self._write(1 - late, session, "feed", session, name_of(early[0]), to_dict(early[0]))
        assert self._write(late, session, "feed", session, name_of(early[1]), to_dict(early[1])) == "refused"
        self.read(late, session)
        assert self._write(late, session, "feed", session, name_of(early[1]), to_dict(early[1])) == "done"

    # ── what happens to the processes ────────────────────────────────────────────────────────────────────────────

    @rule(which=st.sampled_from(((0,), (1,), (0, 1))))
    def crash(self, which: tuple[int, ...]) -> None:
        """Processes are killed; if both die, the next to open the store recovers the log."""
        for process in which:
            if process in self.running:
                self.running.pop(process).end()

    @rule(process=processes)
    def close(self, process: int) -> None:
        """One process closes properly."""
        if process in self.running:
            one = self.running.pop(process)
            assert one.tell("close") == ("done",)
            one.end()

    @rule(process=processes, seconds=st.integers(-2 * YEAR, 2 * YEAR))
    def jump(self, process: int, seconds: int) -> None:
        """One process's clock jumps by up to two years either way; processes started later begin with that time."""
        self.now = NOON + seconds
        assert self._process(process).tell("jump", self.now) == ("done",)

    # ── what has to hold ─────────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def the_journals_are_what_was_acknowledged(self) -> None:
        """Both processes agree; a session that has read its whole journal equals the replayed one."""
        for process in (0, 1):
            self._agrees(process)

    def teardown(self) -> None:
        """All of it still holds after proper closes, and for a process that opens the store last."""
        try:
            for process in (0, 1):
                self.close(process)
            self._agrees(0)
        finally:
            for one in self.running.values():
                one.end()
            shutil.rmtree(self.folder)

    def _agrees(self, process: int) -> None:
        journals, equal, damage = self._looked(process)
        assert journals == self.journals
        assert all(equal.values()), equal
        assert damage == []

    # ── helpers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _process(self, number: int) -> Process:
        if number not in self.running:
            self.running[number] = Process(self.folder, self.now)
        return self.running[number]

    def _looked(self, process: int) -> tuple[Any, ...]:
        answer = self._process(process).tell("look", self.handles)
        assert answer[0] == "done", answer
        return answer[1:]

    def _write(self, process: int, session: str, what: str, *arguments: object, dies: str = "") -> str:
        """Write once and compare with the model: if another record has the number, the write must raise `Conflict`."""
        one = self._process(process)
        known = 0 if what == "begin" else one.stands[session][0]
        answer = one.tell(what, *arguments, dies=dies)
        there = self.journals.get(session, [])
        if answer[0] == "killed":
            assert dies, "a process died by itself"
            self.running.pop(process)
            self._died(session, known, one, dies)
            return "killed"
        assert one.writes is not None
        name, data, handles = one.writes
        if known < len(there) and there[known] != (name, data):
            assert answer[:2] == ("refused", "Conflict"), answer
            assert f"another event at {known}" in answer[2]
            return "refused"
        assert answer[:2] == ("done", known + 1), answer
        one.stands[session] = answer[1:]
        if known == len(there):
            self.journals[session] = [*there, (name, data)]
            self.handles += handles
        return "done"

    def _died(self, session: str, known: int, one: Process, dies: str) -> None:
        """Check that a committed record is there although it was not acknowledged, and that an uncommitted one is not."""
        there = self.journals.get(session, [])
        if dies not in COMMITTED or known < len(there):
            return
        assert one.writes is not None
        name, data, handles = one.writes
        self.journals[session] = [*there, (name, data)]
        self.handles += handles


TestJournal = pytest.mark.proves("S-12")(pytest.mark.timeout(0 if IS_LONG else 110)(JournalMachine.TestCase))
TestJournal.settings = settings(max_examples=MACHINES, stateful_step_count=20)
TestJournal.__doc__ = (
    "Sessions, checkpoints, crashes, two processes and clocks that jump: the journal is what was acknowledged."
)


@pytest.mark.parametrize("dies", DEATHS)
def test_a_process_dies_where_it_is_told_to(dies: str) -> None:
    """Control: every point of death is reached, and only those after the commit leave the record."""
    machine = JournalMachine()
    try:
        machine.first("a")
        event = Noted(action="add", title="x")
        assert machine._write(0, "a", "feed", "a", name_of(event), to_dict(event), dies=dies) == "killed"
        machine._agrees(0)
        names = [name for name, _ in machine.journals["a"]]
        assert names == ([BEGUN, "Noted"] if dies in COMMITTED else [BEGUN])
    finally:
        machine.teardown()


def test_a_record_that_nobody_acknowledged_is_noticed() -> None:
    """Control: the check fails for a model with one record more or fewer than the store."""
    machine = JournalMachine()
    try:
        machine.first("a")
        for told in ([], [*machine.journals["a"], ("Noted", {})]):
            before, machine.journals["a"] = machine.journals["a"], told
            with pytest.raises(AssertionError):
                machine._agrees(0)
            machine.journals["a"] = before
    finally:
        machine.teardown()

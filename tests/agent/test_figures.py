"""Are the figures of a journal those of the session that wrote it, whatever happened, and as far as it can be read?"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.agent.figures import stats_of
from penstock.agent.journal import new_id
from penstock.agent.loop import Agent
from penstock.agent.picture import picture
from penstock.agent.protocols import Done
from penstock.agent.stats import RefusalRecord, Stats, TokenFlow, TokenSource, together
from penstock.agent.toolbox import Toolbox
from penstock.cli.figures import sections, stats_json
from penstock.context.bill import bill_of
from penstock.context.compaction import RECOVERY
from penstock.errors import ToolError
from penstock.models import ScriptedModel, call, calls, fail, refuse, say
from penstock.session import Session
from penstock.session import events as ev
from penstock.session.limits import PROFILES, Pressure, Rung
from penstock.store import JournalRecord
from penstock.store.sqlite import SqliteStore
from penstock.wires import tool_definitions
from penstock.wires.placeholders import GO_ON_FROM_HERE, with_told
from penstock.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from penstock.models import ScriptStep
    from penstock.wires import ToolCall

WIRES = ("openai-chat", "openai-responses", "anthropic")
WINDOW = 16_000
LINES = 400


class Clock:
    """A clock for records and waits; sleeping only moves it forward."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Timed:
    """A scripted model that takes a given number of seconds for each answer."""

    name, window_tokens = "scripted", None

    def __init__(self, model: ScriptedModel, clock: Clock, seconds: Sequence[float]) -> None:
        self.wire, self._model, self._clock, self._seconds = model.wire, model, clock, iter(seconds)

    def send(self, request: dict[str, Any], /) -> dict[str, Any]:
        self._clock.now += next(self._seconds)
        return self._model.send(request)


class Writing(Toolbox):
    """A toolbox whose `write` reports what it would have done to a file, and does nothing."""

    def run(self, call: ToolCall, session: Session) -> Done:
        if call.name != "write":
            return super().run(call, session)
        act = {"path": "made.py", "version": "1", "total_lines": 3, "did": call.values["did"]}
        return Done(text="written", seen=(act,))


class Bench:
    """A tree, a store with a clock, and sessions over both."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self.tree.mkdir()
        for name in "abc":
            (self.tree / f"{name}.txt").write_text("".join(f"{name} has {n} in this line\n" for n in range(LINES)))
        self.clock = Clock()
        self.store = SqliteStore(str(folder / "store"), clock=self.clock)

    def agent(
        self, steps: Iterable[ScriptStep], wire: str = "openai-chat", *, seconds: Sequence[float] = (), **limits: Any
    ) -> Agent:
        model: Any = ScriptedModel(steps, wire)
        if seconds:
            model = Timed(model, self.clock, seconds)
        tools = Writing(Workspace(self.tree), self.store, window_tokens=WINDOW)
        session = Session(
            limits=replace(PROFILES["default"].scaled(WINDOW), **limits),
            wire=wire,
            system="Answer from the files.",
            tools=tool_definitions(tools.tools, wire),
            session_id=new_id(),
        )
        agent = Agent(session, model, tools, self.store, clock=self.clock, sleep=self.clock.sleep)
        agent.begin()
        return agent

    def stats(self, agent: Agent) -> Stats:
        return stats_of(self.store, agent.session.session_id)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Make a tree of three files and an empty store."""
    made = Bench(tmp_path)
    yield made
    made.store.close()


def page(name: str, offset: int = 0, limit: int = 100) -> ScriptStep:
    return call("view", file_path=f"{name}.txt", offset=offset, limit=limit)


def watched(agent: Agent) -> Counter[str]:
    """Return counters of the session's own request sizes and of what each cut left; they fill while it works."""
    sizes: Counter[str] = Counter()
    feed: Callable[..., None] = agent.feed

    def fed(event: Any, handles: tuple[str, ...] = ()) -> None:
        before = bill_of(agent.session.state.transcript).input.tokens
        feed(event, handles)
        after = bill_of(agent.session.state.transcript).input.tokens
        name = type(event).__name__
        if name == "Replied":
            sizes["sent"] += before
        if name in {"Compacted", "HandedOff"}:
            sizes[name] += before - after

    agent.feed = fed  # type: ignore[method-assign]
    return sizes


LONG = [page(name, offset, 90) for name in "abc" for offset in range(0, 360, 90)]


@pytest.mark.proves("B-12")
@pytest.mark.parametrize("wire", WIRES)
def test_what_came_in_less_what_was_cut_is_what_the_next_request_shows(bench: Bench, wire: str) -> None:
    """This holds across cuts, a refusal and a fresh start; tokens sent and tokens freed by each cut equal the session's own."""
    rungs = (Rung(Pressure.COMPACT, 75_000), Rung(Pressure.RESET, turns=7))
    agent = bench.agent([*LONG, refuse(17_000, of=WINDOW), page("a"), page("b"), say("So it is.")], wire, rungs=rungs)
    sizes = watched(agent)
    assert agent.run("Read them all.").outcome == "answered"
    found = bench.stats(agent)
    assert found.unread == ()
    assert found.flow.came_tokens - found.flow.cut_tokens == bill_of(agent.session.state.transcript).input.tokens
    assert found.flow.sent_tokens == sizes["sent"] > 50_000
    assert sum(cut.freed_tokens for cut in found.cuts) == sizes["Compacted"] > 0
    assert sum(handoff.freed_tokens for handoff in found.handoffs) == sizes["HandedOff"] > 0
    assert len(found.cuts) == agent.session.state.compactions
    assert len(found.answers) == agent.session.state.all_turns == 15
    assert found.input_tokens == agent.session.state.input_tokens > 0
    assert found.flows[TokenSource("results", "view")].cut_tokens > 0
    handoffs = found.flows[TokenSource("handoff")]
    assert handoffs.came_tokens > handoffs.cut_tokens > 0  # a handoff replaces another
    assert found.flows[TokenSource("instructions")].cut_tokens == found.flows[TokenSource("tools")].cut_tokens == 0


@pytest.mark.proves("B-12")
def test_reads_are_counted_by_task_and_the_same_lines_of_the_same_version_are_repeated(bench: Bench) -> None:
    """Other lines are not a repetition, nor are the same lines of a file that has changed since."""
    agent = bench.agent(
        [calls(page("a"), page("a", 100)), page("a"), page("b", 0, 20), say("Seen."), page("a"), say("Again.")]
    )
    agent.run(with_told("Look at a.", "b.txt changed."))
    (bench.tree / "a.txt").write_text("a is another\n" * LINES)
    agent.run(with_told(GO_ON_FROM_HERE, "a.txt changed."))
    found = bench.stats(agent)
    assert [task.prompt for task in found.tasks] == ["Look at a.", GO_ON_FROM_HERE]
    assert [(read.task, read.path, read.first_line, read.is_repeated) for read in found.reads] == [
        (1, "a.txt", 1, False),
        (1, "a.txt", 101, False),
        (1, "a.txt", 1, True),
        (1, "b.txt", 1, False),
        (2, "a.txt", 1, False),
    ]
    assert (found.repeated_reads, found.reads_per_task, found.average_read_lines) == (1, 2.5, 84.0)
    results = [item.count.tokens for item in bill_of(agent.session.state.transcript).items if item.kind == "result"]
    assert len(results) == 5
    assert found.average_read_tokens == pytest.approx(sum(results) / 5, abs=4)  # includes the frames of the messages


def test_savings_are_the_files_as_a_whole_less_what_was_shown(bench: Bench) -> None:
    """Each version of a file counts once; a small file that is read often costs more than reading it whole."""
    agent = bench.agent([page("a", 0, 10), page("a", 50, 10), page("b", 0, 10), say("Seen.")])
    agent.run("Look.")
    savings = bench.stats(agent).savings
    whole = sum((bench.tree / f"{name}.txt").stat().st_size for name in "ab")
    assert (savings.files, savings.whole_tokens) == (2, -(-whole // 4))
    assert 0 < savings.saved_tokens == savings.whole_tokens - savings.shown_tokens
    (bench.tree / "a.txt").write_text("tiny\n")
    again = bench.agent([page("a"), page("a"), say("Seen.")])
    again.run("Look.")
    assert bench.stats(again).savings.saved_tokens < 0


def test_calls_end_as_done_failed_or_not_run(bench: Bench) -> None:
    """A model's mistake is a failed call; a call closed by an interrupt was not run."""
    agent = bench.agent([calls(page("a"), call("no_such_tool")), calls(page("b"), page("c")), say("never")])
    feed = agent.feed

    def interrupting(event: Any, handles: tuple[str, ...] = ()) -> None:
        feed(event, handles)
        if type(event).__name__ == "Replied" and agent.session.state.all_turns == 2:
            agent.interrupt()

    agent.feed = interrupting  # type: ignore[method-assign]
    assert agent.run("Look.").outcome == "interrupted"
    found = bench.stats(agent)
    assert [(made.tool, made.outcome) for made in found.calls] == [
        ("view", "done"),
        ("no_such_tool", "failed"),
        ("view", "not run"),
        ("view", "not run"),
    ]
    results = [flow.came_tokens for source, flow in found.flows.items() if source.name == "results"]
    assert sum(made.result_tokens for made in found.calls) == sum(results)
    assert len(found.reads) == 1


@pytest.mark.proves("B-12")
def test_faults_are_counted_by_kind_and_waits_last_as_long_as_was_slept(bench: Bench) -> None:
    """The third fault opens the breaker for a minute; a rate limit states its own time."""
    overloaded = fail(503, {"error": {"message": "overloaded"}})
    limited = fail(429, {"error": {"message": "Rate limit reached. Please try again in 7s."}})
    agent = bench.agent([overloaded, overloaded, overloaded, say("At last."), limited, say("Now.")])
    agent.run("Ask.")
    bench.clock.now += 86_400  # a day later, which is not a wait
    agent.run("And now?")
    found = bench.stats(agent)
    assert Counter(found.faults) == {"overloaded": 3, "rate_limit": 1}
    assert found.waits == (60.0, 7.0)


def test_a_refusal_has_its_remedy_and_is_recovered_once_an_answer_came(bench: Bench) -> None:
    """A refusal without an answer after it is not recovered: the user's next prompt is another request."""
    agent = bench.agent(
        [*LONG[:4], refuse(17_000, of=WINDOW), say("Seen."), *[refuse(900_000, of=WINDOW)] * 4, say("On.")]
    )
    assert agent.run("Look.").outcome == "answered"
    assert agent.run("And now?").outcome == "irreducible"
    assert agent.run("Go on.").answer == "On."
    first, *others = bench.stats(agent).refusals
    assert first == RefusalRecord(severity="major", remedy=first.remedy, is_recovered=True)
    assert first.remedy in {strategy.name for strategy in RECOVERY}
    assert [refusal.severity for refusal in others] == ["catastrophic"] * 4
    assert all(refusal.remedy for refusal in others[:-1])
    assert others[-1] == RefusalRecord(severity="catastrophic", remedy="", is_recovered=False)
    assert not any(refusal.is_recovered for refusal in others)


@pytest.mark.proves("S-6")
def test_response_times_are_held_against_what_is_usual_for_the_kind_of_work(bench: Bench) -> None:
    """The kind of work follows from what the calls of an answer do to files; a failure and its wait are not response time."""
    fault = fail(503, {"error": {"message": "overloaded"}})
    steps = [page("a"), call("write", did="modified"), call("write", did="created"), fault, say("Done.")]
    agent = bench.agent(steps, seconds=[1.0, 11.0, 12.0, 100.0, 6.0])
    agent.run("Change it.")
    found = bench.stats(agent)
    assert [(one.kind, one.seconds) for one in found.answers] == [
        ("analysis", 1.0),
        ("refactoring", 11.0),
        ("generation", 12.0),
        ("analysis", 6.0),
    ]
    analysis, generation, refactoring = found.response_times
    assert analysis == ("analysis", 2, 3.5, 6.0, 1, 0, 1)
    assert generation == ("generation", 1, 12.0, 12.0, 0, 1, 0)
    assert refactoring == ("refactoring", 1, 11.0, 11.0, 0, 0, 1)


def test_a_clock_that_went_back_says_nothing_about_an_answer(bench: Bench) -> None:
    """The answer counts, its time does not."""
    agent = bench.agent([say("Now.")], seconds=[-5.0])
    agent.run("Ask.")
    found = bench.stats(agent)
    assert [one.seconds for one in found.answers] == [None]
    assert found.response_times == ()


def test_several_sessions_together_have_the_sum_of_their_figures(bench: Bench) -> None:
    """The order of sessions does not matter, and no sessions give no figures."""
    agents = [bench.agent([page("a"), say("One.")]), bench.agent([page("a"), page("a"), say("Two.")])]
    for agent in agents:
        agent.run("Look.")
    one, two = map(bench.stats, agents)
    both = together([one, two])
    assert both.sessions == (*one.sessions, *two.sessions)
    assert (len(both.answers), len(both.reads), both.repeated_reads) == (5, 3, 1)
    assert both.flow == one.flow + two.flow
    assert both.records == one.records + two.records
    assert both.flow == together([two, one]).flow
    assert both.savings.files == 2  # what one session saw, the other did not have
    assert together([]) == Stats()
    assert together([]).flow == TokenFlow()
    assert (Stats().reads_per_task, Stats().average_read_lines, Stats().average_read_tokens) == (0, 0, 0)


# ── what cannot be read ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_damaged_record_ends_the_reading_and_is_named_with_the_newest_sound_one(bench: Bench) -> None:
    """Records before the damage are counted."""
    agent = bench.agent([page("a"), page("b"), say("Seen.")])
    agent.run("Look.")
    whole = bench.stats(agent)
    records = list(bench.store.events(agent.session.session_id))
    hurt = [record.seq for record in records if record.type == "Replied"][1]
    bench.store._connected().execute("UPDATE records SET payload = '{}' WHERE seq = ?", (hurt,))
    found = bench.stats(agent)
    (unread,) = found.unread
    assert (unread.session, unread.newest_sound) == (agent.session.session_id, hurt - 1)
    assert f"record {hurt} is not what was written" in unread.reason
    assert (found.records, len(found.answers), len(found.reads)) == (hurt, 1, 1)
    assert found.answers == whole.answers[:1]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("Dreamt", {"of": "electric sheep"}),
        ("Replied", {"words": "of another version"}),
        ("Seen", {"acts": [{"did": "read"}]}),
        ("Seen", {}),
        ("Returned", {"messages": [], "outcomes": []}),
        ("Refused", {"overflow": {"unheard": 1}}),
    ],
)
def test_a_record_of_another_version_ends_the_reading_and_is_named(
    bench: Bench, name: str, data: dict[str, Any]
) -> None:
    """The record is intact but unknown to this version; records before it are counted."""
    agent = bench.agent([page("a"), say("Seen.")])
    agent.run("Look.")
    whole = bench.stats(agent)
    bench.store.append(agent.session.session_id, whole.records, name, data)
    found = bench.stats(agent)
    (unread,) = found.unread
    assert unread.newest_sound == whole.records - 1
    assert f"record {whole.records} is not understood" in unread.reason
    assert replace(found, unread=()) == whole


@pytest.mark.parametrize(
    ("name", "data"), [("asked", {"text": "why?"}), ("Begun", {}), ("Begun", {"header": {"schema": 9}})]
)
def test_a_journal_that_no_agent_began_is_named(bench: Bench, name: str, data: dict[str, Any]) -> None:
    """The store also keeps other journals."""
    bench.store.append("other", 0, name, data)
    found = stats_of(bench.store, "other")
    (unread,) = found.unread
    assert (unread.session, unread.newest_sound) == ("other", None)
    assert found == Stats(sessions=("other",), unread=found.unread)


class Told:
    """A store that returns these records."""

    def __init__(self, *rows: tuple[str, dict[str, Any]]) -> None:
        self._rows = rows

    def events(self, session: str) -> Iterator[JournalRecord]:
        for seq, (name, data) in enumerate(self._rows):
            yield JournalRecord(session=session, seq=seq, type=name, data=data, prev_hash="", sha256="", at=float(seq))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**20)
    | st.floats(allow_nan=False)
    | st.sampled_from(("read", "user", "x")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("role", "content", "x")), inner, max_size=3)
    ),
    max_leaves=6,
)
ACT = st.fixed_dictionaries(
    {"did": st.sampled_from(("read", "created", "x")), "path": VALUES | st.just("a"), "version": VALUES | st.just("1")},
    optional={name: st.just(1) | VALUES for name in ("first_line", "last_line", "size_bytes", "turn", "total_lines")},
)
KINDS = (ev.Prompted, ev.Replied, ev.Returned, ev.Refused, ev.Failed, ev.Compacted, ev.HandedOff, ev.Noted, ev.Ticked)
ROWS = st.one_of(
    st.tuples(st.just("Seen"), st.fixed_dictionaries({"acts": VALUES | st.lists(ACT, min_size=1, max_size=2)})),
    *(
        st.tuples(st.just(kind.__name__), st.fixed_dictionaries({known.name: VALUES for known in fields(kind)}))
        for kind in KINDS
    ),
)
BEGUN = ("Begun", {"header": Session(session_id="s").header()})
ASKED = ("Prompted", {"message": {"role": "user", "content": "Look."}})


@given(is_begun=st.booleans(), rows=st.lists(ROWS, min_size=1, max_size=3))
def test_whatever_a_record_holds_it_is_counted_or_named(is_begun: bool, rows: list[tuple[str, dict[str, Any]]]) -> None:
    """Nothing is raised, and figures are always returned."""
    told: Any = Told(*((BEGUN, ASKED) if is_begun else ()), *rows)
    found = stats_of(told, "s")
    read = found.records
    assert [one.newest_sound for one in found.unread] in ([], [read - 1 if read else None])
    assert found.unread or read == 2 * is_begun + len(rows)
    sections(found)
    assert json.loads(json.dumps(stats_json(found)))["records"] == read
    assert picture(found)


def test_a_session_that_is_removed_while_it_is_read_is_counted_as_far_as_it_was() -> None:
    """The figures of all others are not held up, and these say why they end."""

    class Removed(Told):
        def events(self, session: str) -> Iterator[JournalRecord]:
            yield from super().events(session)
            raise ToolError("not_found", "Session s was removed while it was read.")

    told: Any = Removed(BEGUN, ASKED)
    found = stats_of(told, "s")
    assert [(one.newest_sound, one.reason) for one in found.unread] == [(1, "Session s was removed while it was read.")]
    assert found.records == 2

"""What happened? A query over the journals of sessions: what entered the window, was cut, read, called, refused, waited for.

Facts are values in the order of the journal; figures are derived from them. Sizes are estimates, except those that a provider
reported. Times are those of the records: a pause in which the process did not run looks like a slow answer. Laws: what came in
less what was cut is what the next request shows; the figures of several sessions together are their sum. Leaves to others: the
present content of the files that were read, and how figures are shown.
"""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from penstock.agent.journal import hold_to
from penstock.agent.record_types import BEGUN, BESIDE, SEEN, TAKEN
from penstock.context.sized import MESSAGE_TOKENS, measure_entry
from penstock.errors import CallerError
from penstock.overflow import classify_overflow
from penstock.session import Session, event_of
from penstock.session import events as ev
from penstock.session.generated_code import KINDS, Kind, response_time
from penstock.session.known_files import file_version
from penstock.session.ledger import Ledger
from penstock.session.verdicts import NO_LIMITS
from penstock.store import Damaged
from penstock.text.json_access import as_json
from penstock.wires import ToolResult
from penstock.wires.placeholders import of_person

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from penstock.session import Event, State
    from penstock.session.limits import Limits
    from penstock.store import JournalRecord, Store
    from penstock.wires import Entry

# Source code usually has 3.6 to 4.6 bytes a token under o200k: with fewer bytes a token, more would have been saved.
BYTES_PER_TOKEN = 4
"""Bytes counted as one token if only the size of a file is known."""
_PROMPT_CHARS = 200
_READING = frozenset({"view", "read_file"})
UNREADABLE = (
    CallerError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
)
"""Errors that a record of another version may cause."""
_ROLES = {"system": "instructions", "user": "user", "assistant": "assistant", "tool": "results"}


# ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────────


class TokenSource(NamedTuple):
    """Where tokens come from."""

    name: str
    """`instructions`, `tools`, `user`, `assistant`, `results`, `notes` (placeholders for what was cut) or `handoff` (what a
    fresh start begins with).
    """
    tool: str = ""
    """The tool that returned the results; empty for other sources."""


_HANDOFF = TokenSource("handoff")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFlow:
    """How many tokens of one source came in, were cut, and were sent."""

    came_tokens: int = 0
    """How many tokens of a source came into the window."""
    cut_tokens: int = 0
    """How many tokens of a source were removed."""
    sent_tokens: int = 0
    """How many tokens of a source all answered requests sent, each request counted anew."""

    def __add__(self, other: TokenFlow) -> TokenFlow:
        return TokenFlow(
            came_tokens=self.came_tokens + other.came_tokens,
            cut_tokens=self.cut_tokens + other.cut_tokens,
            sent_tokens=self.sent_tokens + other.sent_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """One prompt of the user."""

    session: str
    number: int
    """Counted from 1 within its session."""
    prompt: str
    """The beginning of what the user said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """One answer of the model: what its request took, and how long the answer took."""

    session: str
    number: int
    """The turn of its session."""
    task: int
    """The number of the task that it worked on."""
    request_tokens: int
    """What the request took."""
    is_reported: bool
    """Whether the provider reported the size; else it is our estimate."""
    window_tokens: int
    limits: Limits
    """The session's limits when it asked."""
    seconds: float | None
    """Seconds from the previous record to the answer; None if the clock went back."""
    kind: Kind = "analysis"
    """The kind of work, by what its calls did: `generation` made a file, `refactoring` changed one, `analysis` did neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One page of a file that was shown to the model."""

    session: str
    task: int
    path: str
    version: str
    first_line: int | None
    """The first line shown, 1-based; None if none was."""
    last_line: int | None
    """The last line shown, inclusive; None if none was."""
    size_bytes: int | None
    """The size of the whole file; None if the page did not say."""
    is_repeated: bool
    """Whether this session was shown the same lines of the same version before."""

    @property
    def lines(self) -> int:
        """How many lines were shown."""
        return 0 if self.first_line is None or self.last_line is None else self.last_line - self.first_line + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call of a tool, and how it ended."""

    tool: str
    outcome: Literal["done", "failed", "not run"]
    """`not run` if the person interrupted the work before it."""
    result_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Something was removed from view."""

    session: str
    after_answer: int
    """Number of the session's answers before the cut."""
    strategy: str
    freed_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffRecord:
    """A session started afresh with a handoff."""

    session: str
    after_answer: int
    """Number of the session's answers before the handoff."""
    reason: str
    evidence: str
    """Why a handoff was due: `30 turns`."""
    freed_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalRecord:
    """A request that a provider refused as too large."""

    severity: str
    """How far a request was above its limit, by `classify_overflow`."""
    remedy: str = ""
    """The strategy, or `handoff`, that came next; empty if nothing did."""
    is_recovered: bool = False
    """Whether the refused request was finally answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Where the reading of a session had to stop; everything before is counted."""

    session: str
    newest_sound: int | None
    """The number of the last record that was understood; None for none."""
    reason: str


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Times(NamedTuple):
    """Response times of one kind of work (S-6)."""

    kind: Kind
    answers: int
    median_seconds: float
    longest_seconds: float
    faster: int
    usual: int
    """How many took the usual time for it; `faster` and `slower` are the others."""
    slower: int


class Savings(NamedTuple):
    """Tokens saved by showing pages instead of whole files: approximate tokens of the files, each version once, and of the
    pages.
    """

    files: int
    whole_tokens: int
    shown_tokens: int

    @property
    def saved_tokens(self) -> int:
        """The difference; below 0 if small files were read repeatedly."""
        return self.whole_tokens - self.shown_tokens


@dataclass(frozen=True, kw_only=True)
class Stats:
    """What happened in some sessions: facts in the order of their journals, and figures derived from them."""

    sessions: tuple[str, ...] = ()
    records: int = 0
    """How many records were read."""
    input_tokens: int = 0
    """Input tokens as providers reported them."""
    output_tokens: int = 0
    """Output tokens as providers reported them."""
    flows: Mapping[TokenSource, TokenFlow] = field(default_factory=dict)
    tasks: tuple[TaskRecord, ...] = ()
    answers: tuple[AnswerRecord, ...] = ()
    reads: tuple[Read, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    cuts: tuple[Cut, ...] = ()
    handoffs: tuple[HandoffRecord, ...] = ()
    refusals: tuple[RefusalRecord, ...] = ()
    faults: tuple[str, ...] = ()
    """The kind of each failure of a provider other than a refusal."""
    waits: tuple[float, ...] = ()
    """How long the session waited each time, in seconds."""
    unread: tuple[Unread, ...] = ()
    """Where the reading of a session had to stop; empty if everything was understood."""

    @property
    def flow(self) -> TokenFlow:
        """The flows of all sources together."""
        return sum(self.flows.values(), TokenFlow())

    @property
    def repeated_reads(self) -> int:
        """How many pages showed the same lines of the same version again."""
        return sum(read.is_repeated for read in self.reads)

    @property
    def reads_per_task(self) -> float:
        """Pages for each prompt, on average; 0 without one."""
        return len(self.reads) / len(self.tasks) if self.tasks else 0.0

    @property
    def average_read_lines(self) -> float:
        """Lines of a page, on average; 0 without one."""
        return statistics.fmean(read.lines for read in self.reads) if self.reads else 0.0

    @property
    def average_read_tokens(self) -> float:
        """Tokens of a result that showed a page, header and line numbers included, on average; 0 without one."""
        sizes = self._read_tokens
        return statistics.fmean(sizes) if sizes else 0.0

    @property
    def savings(self) -> Savings:
        """What pages saved compared with a tool that shows every file as a whole."""
        files = {(read.session, read.path, read.version): read.size_bytes or 0 for read in self.reads}
        whole = -(-sum(files.values()) // BYTES_PER_TOKEN)
        return Savings(files=len(files), whole_tokens=whole, shown_tokens=sum(self._read_tokens))

    @property
    def response_times(self) -> tuple[Times, ...]:
        """Response times by kind of work, for the kinds that occurred."""
        made: list[Times] = []
        for kind in KINDS:
            seconds = [a.seconds for a in self.answers if a.kind == kind and a.seconds is not None]
            if not seconds:
                continue
            said = Counter(response_time(kind, taken) for taken in seconds)
            median = statistics.median(seconds)
            made.append(Times(kind, len(seconds), median, max(seconds), said["faster"], said["usual"], said["slower"]))
        return tuple(made)

    @property
    def _read_tokens(self) -> list[int]:
        return [call.result_tokens for call in self.calls if call.tool in _READING and call.outcome == "done"]


def together(several: Iterable[Stats]) -> Stats:
    """Return the figures of several sessions as one."""
    each = list(several)
    flows: dict[TokenSource, TokenFlow] = {}
    for one in each:
        for source, flow in one.flows.items():
            flows[source] = flows.get(source, TokenFlow()) + flow
    made: dict[str, Any] = {}
    for known in fields(Stats):
        values = [getattr(one, known.name) for one in each]
        if known.name != "flows":
            # All at once: building a new tuple with each session would take time quadratic in their number.
            made[known.name] = sum(values) if isinstance(known.default, int) else tuple(chain.from_iterable(values))
    return Stats(**made, flows=flows)


# ── reading a journal ────────────────────────────────────────────────────────────────────────────────────────────


def stats_of(store: Store, session_id: str) -> Stats:
    """Return what the journal says of one session. If it is damaged or not understood, everything before that point is counted, and
    `unread` says why.

    Args:
        store: where the journal is.
        session_id: the session.

    Raises:
        StoreFault: if the store cannot be read at all.
    """
    reading: _Reading | None = None
    newest: int | None = None
    reason = ""
    try:
        for record in store.events(session_id):
            if reading is None:
                if record.type != BEGUN:
                    raise CallerError(f"it begins with {record.type}, not with {BEGUN}: no agent has written it")
                reading = _Reading(record)
            else:
                reading.take(record)
            newest = record.seq
    except Damaged as error:
        newest, reason = error.newest_sound, error.message
    except UNREADABLE as error:
        place = 0 if newest is None else newest + 1
        reason = f"record {place} is not understood, by this version at least: {error}"
    made = reading.stats() if reading is not None else Stats(sessions=(session_id,))
    return (
        made if not reason else replace(made, unread=(Unread(session=session_id, newest_sound=newest, reason=reason),))
    )


class _Reading:
    """One journal, record by record. The session is replayed, so that sizes are those of the requests that it made."""

    def __init__(self, first: JournalRecord) -> None:
        header: Any = first.data["header"]
        self._session = Session.replay(header, ())
        self._name = first.session
        self._records = 1
        self._at = first.at
        self._tasks: list[TaskRecord] = []
        self._answers: list[AnswerRecord] = []
        self._reads: list[Read] = []
        self._calls: list[CallRecord] = []
        self._cuts: list[Cut] = []
        self._handoffs: list[HandoffRecord] = []
        self._refusals: list[RefusalRecord] = []
        self._open_refusals = 0
        self._faults: list[str] = []
        self._waits: list[float] = []
        self._shown_before: set[tuple[object, ...]] = set()
        self._tools: dict[tuple[int, str], str] = {}
        self._handed_on: int | None = None
        self._came: Counter[TokenSource] = Counter()
        self._cut: Counter[TokenSource] = Counter()
        self._sent: Counter[TokenSource] = Counter()
        self._view: Counter[TokenSource] = Counter()
        self._rewritten()

    def take(self, record: JournalRecord) -> None:
        """Count one more record."""
        data: Any = record.data
        if record.type == SEEN:
            for act in data["acts"]:
                self._seen(act)
        elif record.type == TAKEN:
            hold_to(self._session, data)
        elif record.type not in BESIDE:
            self._happened(event_of(record.type, data), record.at)
        self._records += 1
        self._at = record.at

    def stats(self) -> Stats:
        """Return the figures so far."""
        state = self._session.state
        flows = {
            source: TokenFlow(
                came_tokens=self._came[source], cut_tokens=self._cut[source], sent_tokens=self._sent[source]
            )
            for source in self._came
        }
        return Stats(
            sessions=(self._name,),
            records=self._records,
            input_tokens=state.input_tokens,
            output_tokens=state.output_tokens,
            flows=flows,
            tasks=tuple(self._tasks),
            answers=tuple(self._answers),
            reads=tuple(self._reads),
            calls=tuple(self._calls),
            cuts=tuple(self._cuts),
            handoffs=tuple(self._handoffs),
            refusals=tuple(self._refusals),
            faults=tuple(self._faults),
            waits=tuple(self._waits),
        )

    # ── events ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _happened(self, event: Event, at: float) -> None:
        """Feed one event to the replayed session and count what it did."""
        before = self._session.state
        self._session.feed(event)
        after = self._session.state
        match event:
            case ev.Replied():
                self._answered(event, after, at - self._at)
            case ev.Compacted():
                strategy = str(event.strategy)
                self._remedied(strategy)
                freed = self._rewritten()
                self._cuts.append(
                    Cut(session=self._name, after_answer=after.all_turns, strategy=strategy, freed_tokens=freed)
                )
            case ev.HandedOff():
                self._handed_off(event, after)
            case ev.Refused():
                self._refusals.append(RefusalRecord(severity=classify_overflow(after.overflow)))
                self._open_refusals += 1
            case ev.Prompted():
                self._prompted(after)
            case ev.Failed():
                self._faults.append(str(event.kind))
            case ev.Ticked():
                until = before.faults.blocked_until(before.now_seconds)
                if until is not None:  # it slept at most until then; anything later is a pause
                    self._waits.append(max(0.0, min(event.now_seconds, until) - before.now_seconds))
            case _:
                pass
        # Those two rewrite the whole view and have counted it; every other event only adds entries.
        if not isinstance(event, ev.Compacted | ev.HandedOff):
            self._grown(before, after, event)

    def _prompted(self, after: State) -> None:
        """Count a task."""
        asked = after.transcript.newest_user()
        # What a session tells its model along with a prompt is not part of the task.
        prompt = "" if asked is None else (of_person(asked.text) or asked.text.partition("\n")[0])[:_PROMPT_CHARS]
        self._tasks.append(TaskRecord(session=self._name, number=len(self._tasks) + 1, prompt=prompt))
        self._open_refusals = 0  # what is answered from here on is another request

    def _answered(self, event: ev.Replied, after: State, seconds: float) -> None:
        """Count an answer, and the refusals before it as recovered."""
        self._sent.update(self._view)
        reported = event.input_tokens if type(event.input_tokens) is int else None
        self._answers.append(
            AnswerRecord(
                session=self._name,
                number=after.all_turns,
                task=len(self._tasks),
                request_tokens=sum(self._view.values()) if reported is None else reported,
                is_reported=reported is not None,
                window_tokens=after.limits.window_tokens,
                limits=after.limits,
                seconds=seconds if seconds >= 0 else None,
            )
        )
        for place in range(len(self._refusals) - self._open_refusals, len(self._refusals)):
            self._refusals[place] = replace(self._refusals[place], is_recovered=True)
        self._open_refusals = 0

    def _handed_off(self, event: ev.HandedOff, after: State) -> None:
        """Count a fresh start."""
        self._remedied("handoff")
        self._tools.clear()
        self._handed_on = sum(entry.role == "system" for entry in after.transcript.entries)
        former = self._view[_HANDOFF]
        freed = self._rewritten()
        replaced = min(former, self._view[_HANDOFF])  # nothing of the former one is left, however similar they are
        self._came[_HANDOFF] += replaced
        self._cut[_HANDOFF] += replaced
        self._handoffs.append(
            HandoffRecord(
                session=self._name,
                after_answer=after.all_turns,
                reason=str(event.reason),
                evidence=str(event.evidence),
                freed_tokens=freed,
            )
        )

    def _remedied(self, remedy: str) -> None:
        """Record how the newest refusal was cured; of several steps the first is what was tried."""
        if self._open_refusals and not self._refusals[-1].remedy:
            self._refusals[-1] = replace(self._refusals[-1], remedy=remedy)

    def _seen(self, act: Mapping[str, Any]) -> None:
        """Count what a tool showed or changed."""
        Ledger(limits=NO_LIMITS).after(act)  # raises for an invalid act
        if act["did"] != "read":
            kind: Kind = "generation" if act["did"] == "created" else "refactoring"
            # An answer that made a file and changed another is generation: the larger cap applies.
            if self._answers and self._answers[-1].kind != "generation":
                self._answers[-1] = replace(self._answers[-1], kind=kind)
            return
        place = (act["path"], file_version(act["version"]), act.get("first_line"), act.get("last_line"))
        path, version, first, last = place
        self._reads.append(
            Read(
                session=self._name,
                task=len(self._tasks),
                path=path,
                version=version,
                first_line=first,
                last_line=last,
                size_bytes=act.get("size_bytes"),
                is_repeated=place in self._shown_before,
            )
        )
        self._shown_before.add(place)

    # ── sizes ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _grown(self, before: State, after: State, event: Event) -> None:
        """Count what an event has added to the transcript, and how the calls that it answers ended."""
        names = {call.id: call.name for call in before.open_calls}
        sizes: Counter[str] = Counter()
        for entry in after.transcript.entries[len(before.transcript.entries) :]:
            for result in entry.results:
                self._tools[entry.index, result.call_id] = names.get(result.call_id, "")
            for source, tokens, call_id in self._sizes(entry):
                self._view[source] += tokens
                self._came[source] += tokens
                sizes[call_id] += tokens
        if not before.open_calls or after.open_calls:
            return
        outcomes = {o.call_id: o.failed for o in event.outcomes} if isinstance(event, ev.Returned) else {}
        for call in before.open_calls:
            failed = outcomes.get(call.id)
            self._calls.append(
                CallRecord(
                    tool=call.name,
                    outcome="not run" if failed is None else "failed" if failed else "done",
                    result_tokens=sizes[call.id],
                )
            )

    def _rewritten(self) -> int:
        """Recount the view after something was removed from it, and return the freed tokens."""
        transcript = self._session.state.transcript
        counter = self._session.counter
        view: Counter[TokenSource] = Counter()
        for name, value in (("instructions", transcript.system), ("tools", transcript.tools)):
            if value:
                view[TokenSource(name)] += counter.count(value if isinstance(value, str) else as_json(value)).tokens
        for entry in transcript.visible():
            for source, tokens, _ in self._sizes(entry):
                view[source] += tokens
        # Counters subtract per source and keep what is above 0: notes that came and results that went are both counted, though the
        # sum shows only their difference.
        self._came.update(view - self._view)
        self._cut.update(self._view - view)
        freed = sum(self._view.values()) - sum(view.values())
        self._view = view
        return freed

    def _sizes(self, entry: Entry) -> Iterator[tuple[TokenSource, int, str]]:
        """Yield the size of each part of an entry, its source, and the call that it answers."""
        name = "notes" if entry.is_note else _ROLES[entry.role]
        # A fresh transcript begins with two messages of ours after the instructions: the handoff, and "noted".
        if self._handed_on is not None and self._handed_on <= entry.index < self._handed_on + 2:
            name = _HANDOFF.name
        framed = TokenSource(name), ""
        for place, (part, count) in enumerate(
            zip(entry.parts, measure_entry(entry, self._session.counter).parts, strict=True)
        ):
            whose, call_id = TokenSource(name), ""
            if isinstance(part, ToolResult):
                call_id = part.call_id
                whose = TokenSource("results", self._tools.get((entry.index, call_id), ""))
            if not place:
                framed = whose, call_id
            yield whose, count.tokens, call_id
        yield framed[0], MESSAGE_TOKENS, framed[1]

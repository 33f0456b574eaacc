"""What happened? A query over the journals of sessions: what entered the window, was cut, read, called, refused, waited for.

The session is replayed, so that sizes are those of the requests that it made. Law: what came in less what was cut is what the next
request shows. Leaves to others: which figures follow from what happened (`stats`), and the present content of the files that were
read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.agent.journal import hold_to
from penstock.agent.record_types import BEGUN, BESIDE, SEEN, TAKEN
from penstock.agent.stats import (
    AnswerRecord,
    CallRecord,
    Cut,
    HandoffRecord,
    Read,
    RefusalRecord,
    Stats,
    TaskRecord,
    TokenFlow,
    TokenSource,
    Unread,
)
from penstock.context.sized import MESSAGE_TOKENS, measure_entry
from penstock.errors import CallerError, ToolError
from penstock.overflow import classify_overflow
from penstock.session import Session, event_of
from penstock.session import events as ev
from penstock.session.known_files import file_version
from penstock.session.ledger import Ledger
from penstock.session.verdicts import NO_LIMITS
from penstock.store import Damaged
from penstock.text.json_access import as_json
from penstock.wires import ToolResult
from penstock.wires.placeholders import of_person

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock.session import Event, State
    from penstock.session.generated_code import Kind
    from penstock.store import JournalRecord, Store
    from penstock.wires import Entry

_PROMPT_CHARS = 200
UNREADABLE = (
    CallerError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
)
"""Errors that a record of another version may cause."""
_ROLES = {"system": "instructions", "user": "user", "assistant": "assistant", "tool": "results"}
_HANDOFF = TokenSource("handoff")


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
    except ToolError as error:  # it was removed meanwhile
        reason = error.message
    except UNREADABLE as error:
        place = 0 if newest is None else newest + 1
        reason = f"record {place} is not understood, by this version at least: {error}"
    made = reading.stats() if reading is not None else Stats(sessions=(session_id,))
    return (
        made if not reason else replace(made, unread=(Unread(session=session_id, newest_sound=newest, reason=reason),))
    )


class _Reading:
    """One journal, record by record."""

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

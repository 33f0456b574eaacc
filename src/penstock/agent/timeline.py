"""What happened in one of our own sessions? Its events in order, in the form in which any session is reported (X-2).

The journal is replayed, so that the report says what its requests held: a compaction is reported as removing everything,
followed again by what is still shown, with notes and cleared results as they are then. Law: what was said since the newest
compaction is what the next request holds. Leaves to others: what follows from it (`inspection`), and figures that only our own
journal has (`figures`).
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from penstock.agent.figures import UNREADABLE
from penstock.agent.journal import hold_to
from penstock.agent.record_types import BEGUN, BESIDE, TAKEN
from penstock.errors import CallerError, ToolError
from penstock.inspection.story import Story, Subject
from penstock.inspection.telling import tell
from penstock.inspection.timeline import Answered, Compacted, Happening, Instructed, Refused, Said
from penstock.models.prices import priced
from penstock.overflow import Overflow
from penstock.session import Session, event_of
from penstock.session import events as ev
from penstock.store import Damaged
from penstock.text.json_access import as_json, field, objects, string, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.session import Event, State
    from penstock.store import JournalRecord, SessionInfo, Store
    from penstock.wires import Entry

HOST = "penstock"
"""The host name under which our own sessions are listed, among those of other agents."""


def happenings(store: Store, session_id: str) -> Iterator[Happening]:
    """Yield what happened in a session, in order, to the end of its journal.

    Args:
        store: where its journal is.
        session_id: the session.

    Raises:
        Damaged: at the first record that is not sound, after everything before it.
        CallerError: for a journal that no agent has written, or a record that is not understood.
    """
    reading: _Reading | None = None
    for record in store.events(session_id):
        if reading is None:
            reading = _Reading(record)
            yield from reading.begun()
        elif record.type == TAKEN:
            reading.taken(record.data)
        elif record.type not in BESIDE:
            data: Any = record.data
            yield from reading.after(event_of(record.type, data), _moment(record.at))


def story_of(store: Store, info: SessionInfo) -> tuple[Subject, Story]:
    """Return which session it is, and where its context went, as far as its journal can be read.

    Args:
        store: where its journal is.
        info: what the store says of it.
    """
    subject = Subject(HOST, info.session, updated=_moment(info.at), size_bytes=info.bytes or None)
    try:
        first = next(iter(store.events(info.session)), None)
        data = first.data if first is not None else None
        wire = string(field(data, "header", "transcript", "wire"))
        story = tell(_readable(store, info.session), wire)
    except (Damaged, *UNREADABLE):  # no agent has written it, or it is damaged at its very beginning
        return subject, Story()
    return subject._replace(project=string(field(data, "about", "root"))), priced(story)


def _readable(store: Store, session_id: str) -> Iterator[Happening]:
    """Yield what happened up to the first record that is damaged or not understood, or that was removed meanwhile."""
    with suppress(Damaged, ToolError, *UNREADABLE):
        yield from happenings(store, session_id)


class _Reading:
    """One journal, event by event."""

    def __init__(self, first: JournalRecord) -> None:
        if first.type != BEGUN:
            raise CallerError(f"it begins with {first.type}, not with {BEGUN}: no agent has written it")
        header: Any = first.data["header"]
        self._session = Session.replay(header, ())
        self._model = string(field(first.data, "about", "model"))

    def begun(self) -> Iterator[Happening]:
        """Yield what goes with every request, and what was said before the journal begins."""
        transcript = self._session.state.transcript
        system, tools = transcript.system, transcript.tools
        yield Instructed(
            system if isinstance(system, str) else as_json(system) if system else None,
            tuple(objects(tools)) if isinstance(tools, list) else None,
        )
        yield from self._shown()

    def taken(self, data: Any) -> None:
        """Switch to the model and the window that a resume named."""
        hold_to(self._session, data)
        self._model = string(field(data, "about", "model")) or self._model

    def after(self, event: Event, at: str) -> Iterator[Happening]:
        """Yield what an event did."""
        before = self._session.state
        self._session.feed(event)
        after = self._session.state
        match event:
            case ev.Compacted():
                yield Compacted(at=at)
                yield from self._shown(at)
            case ev.HandedOff():
                yield Compacted(at=at, is_handoff=True)
                yield from self._shown(at, is_fresh=True)
            case ev.Refused():
                overflow: dict[str, Any] = dict(event.overflow)
                yield Refused("", at=at, overflow=Overflow(**overflow))
            case ev.Replied():
                read, written = whole_number(event.input_tokens), whole_number(event.output_tokens)
                window = after.limits.window_tokens
                yield Answered(read, written, window_tokens=window, model=self._model, at=at)
                yield from _grown(before, after, at)
            case _:
                yield from _grown(before, after, at)

    def _shown(self, at: str = "", *, is_fresh: bool = False) -> Iterator[Said]:
        """Yield all that the next request shows.

        Args:
            at: when.
            is_fresh: whether it begins with a handoff, which is two messages of ours after the instructions.
        """
        ours = 2 if is_fresh else 0
        for entry in self._session.state.transcript.visible():
            is_ours = ours > 0 and entry.role != "system"
            ours -= is_ours
            yield _said(entry, at)._replace(again=True, is_summary=entry.is_note or is_ours)


def _grown(before: State, after: State, at: str) -> Iterator[Said]:
    """Yield what an event has added to the transcript."""
    for entry in after.transcript.entries[len(before.transcript.entries) :]:
        yield _said(entry, at)


def _said(entry: Entry, at: str) -> Said:
    return Said(entry.raw, at=at, by_host=entry.is_note, is_summary=entry.is_note)


def _moment(at: float) -> str:
    """Return the time of a record as RFC 3339 in UTC; empty for one that no calendar has."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return ""

"""What does a session's journal hold, and how is it read? The start, events, other records and those of child agents (S-12).

Law: a replay of what was written gives the session that was. Leaves to others: when something is written (`loop`), and where a
journal is kept (`store`).
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from penstock.agent.record_types import (
    BEGUN,
    BESIDE,
    CHANGED,
    CHILD,
    EDITED,
    ENDED,
    MOVED,
    SEEN,
    TAKEN,
    TRACKED,
    UNDONE,
)
from penstock.errors import CallerError
from penstock.session import Session, event_of, name_of, to_dict
from penstock.session.limits import limits_of
from penstock.store import Conflict
from penstock.text.json_redaction import redacted_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.session import Event
    from penstock.store import Store
    from penstock.text.json_access import Json

# What a child does to files belongs to the session: undo, handoffs and a resume read it without asking who did it.
_OF_THE_SESSION = frozenset({EDITED, CHANGED, TRACKED})


class Journal:
    """The journal of one session, open for writing: each record gets the next number."""

    def __init__(self, store: Store, session_id: str, next_seq: int) -> None:
        """Continue a journal.

        Args:
            store: where it is kept.
            session_id: whose it is.
            next_seq: the number of the next record: 0, or what `resumed` returned.
        """
        self._store, self._session_id = store, session_id
        self.next_seq = next_seq
        # The name of a new session is known to nobody else; a resumed session may have other users.
        self._is_ours = next_seq == 0

    def claim(self, terms: Mapping[str, Json] | None = None) -> None:
        """Record that we continue the session, before anything is asked or done for it; once is enough.

        Two processes that resume at the same instant may write the same words at the same place, which the store takes as one event
        reported twice. This record always differs, so that one of them is refused before it asks a model for anything.

        Args:
            terms: what differs from now on, for `resumed`; None for nothing.

        Raises:
            Conflict: if another live process works on the session, or has continued it since it was read.
            StoreFault: if it cannot be written.
        """
        if self._is_ours:
            return
        if self._store.is_worked_on(self._session_id):
            raise Conflict(f"Another process works on session {self._session_id}.")
        self._store.append(self._session_id, self.next_seq, TAKEN, {"by": new_id(), **(terms or {})})
        self.next_seq += 1
        self._is_ours = True

    def write(self, kind: str, data: dict[str, Json], handles: tuple[str, ...] = ()) -> None:
        """Write a record.

        Args:
            kind: its type.
            data: what it holds.
            handles: artifacts that it names, which live as long as the session.

        Raises:
            StoreFault: if it cannot be written.
            Conflict: if somebody else has continued the session meanwhile.
        """
        self._store.append(self._session_id, self.next_seq, kind, data, handles=handles)
        self.next_seq += 1

    def of(self, child: str) -> ChildJournal:
        """Return the journal of a child agent, which is a part of this one.

        Args:
            child: its name.
        """
        return ChildJournal(self, child)


class ChildJournal:
    """The journal of a child agent: its records are in its parent's journal, under its name."""

    def __init__(self, whole: Journal, child: str) -> None:
        self._whole, self._child = whole, child
        self.changed: dict[str, None] = {}
        """The files that it has changed."""

    def claim(self, terms: Mapping[str, Json] | None = None) -> None:
        """Claim the whole journal, as the parent has already done."""
        self._whole.claim(terms)

    def write(self, kind: str, data: dict[str, Json], handles: tuple[str, ...] = ()) -> None:
        """Write a record of the child; what it did to files is written as the session's own."""
        if kind in _OF_THE_SESSION:
            if kind == CHANGED:
                self.changed |= dict.fromkeys(str(file["path"]) for file in data["files"])
                data = {**data, "child": self._child}
            self._whole.write(kind, data, handles)
        else:
            self._whole.write(CHILD, {"child": self._child, "type": kind, "data": data}, handles)

    def of(self, child: str) -> ChildJournal:
        """Return the journal of a child of this child, next to its own."""
        return self._whole.of(child)


@dataclass(kw_only=True)
class KeptChild:
    """A child agent as the journal of its session holds it."""

    name: str
    begun: dict[str, Json]
    """What a child agent was started with: the header of its session, and what its parent gave it."""
    rows: list[tuple[str, dict[str, Json]]] = field(default_factory=list)
    """The events of a child agent, by name, oldest first."""
    acts: list[dict[str, Json]] = field(default_factory=list)
    """What a child agent's ledger records of files."""
    changed: dict[str, None] = field(default_factory=dict)
    """The files that it changed."""
    ended: dict[str, Json] | None = None
    """How a child agent ended; None if it was cut off."""


def children_of(store: Store, session_id: str) -> dict[str, KeptChild]:
    """Return the child agents of a session by name, in the order in which they were begun.

    Args:
        store: where its journal is.
        session_id: the session.
    """
    found: dict[str, KeptChild] = {}
    for record in store.events(session_id):
        data: Any = record.data
        if record.type == CHANGED and data.get("child") in found:
            found[data["child"]].changed |= dict.fromkeys(file["path"] for file in data["files"])
        if record.type != CHILD:
            continue
        inner: Any = data["data"]
        if data["type"] == BEGUN:
            found[data["child"]] = KeptChild(name=data["child"], begun=inner)
        elif data["type"] == SEEN:
            found[data["child"]].acts += inner["acts"]
        elif data["type"] == ENDED:
            found[data["child"]].ended = inner
        else:
            found[data["child"]].rows.append((data["type"], inner))
    return found


def without_secrets(event: Event) -> Event:
    """Return an event as it may be kept: unchanged if it holds no secrets (S-17)."""
    data = to_dict(event)
    clean: Any = redacted_json(data)
    return event if clean is data else event_of(name_of(event), clean)


def new_id() -> str:
    """Return a unique name: 12 random hexadecimal digits."""
    return uuid.uuid4().hex[:12]


def remembered(store: Store, session_id: str) -> tuple[list[dict[str, Json]], dict[str, dict[str, Json]]]:
    """Return what the journal holds of files: the acts for a ledger, and by path what each file was when last touched."""
    acts: list[dict[str, Json]] = []
    files: dict[str, dict[str, Json]] = {}
    for record in store.events(session_id):
        data: Any = record.data
        if record.type == SEEN:
            acts += data["acts"]
        elif record.type == TRACKED:
            files |= {file["path"]: file for file in data["files"]}
    return acts, files


def resumed(
    store: Store, session_id: str, *, counter: Any = None, dialect: Any = None
) -> tuple[Session, dict[str, Json], int]:
    """Return the session that a journal holds, what it was begun with, and the number of its next record.

    The root is the one that a resume last moved it to, and the rest of `about` is the latest given.

    Args:
        store: where the journal is.
        session_id: the session.
        counter: counts tokens from now on; None estimates.
        dialect: how calls that a notice recommends are written; None is Python's.

    Raises:
        CallerError: if there is no session of that name; the newest are named.
        Damaged: if the journal was changed, with the newest sound record.
    """
    records = store.events(session_id)
    first = next(records, None)
    if first is None or first.type != BEGUN:
        known = [info.session for info in store.sessions(5)]
        raise CallerError(f"there is no session {session_id!r}; the newest are {', '.join(known) or 'none'}")
    begun = dict(first.data)
    header: Any = begun.pop("header")
    session = Session.replay(header, (), counter=counter, dialect=dialect)
    last = first.seq
    for record in records:
        last = record.seq
        if record.type == MOVED:
            moved: Any = record.data
            about: Any = begun["about"]
            begun |= {"about": {**about, "root": moved["root"]}, "root_id": moved["root_id"]}
        elif record.type == TAKEN:
            taken: Any = record.data
            about = begun["about"]
            begun |= {"about": {**about, **taken.get("about", {})}}
            hold_to(session, taken)
        elif record.type == UNDONE:
            _doubt_successes(session)
        if record.type not in BESIDE:
            # Older journals had secrets in calls and answers; from here on nobody sees them.
            clean: Any = redacted_json(record.data)
            session.feed(event_of(record.type, clean))
    return session, begun, last + 1


def hold_to(session: Session, taken: Mapping[str, Any]) -> None:
    """Apply the limits with which a resume continued a session, if they differ.

    Args:
        session: as it was when the resume began.
        taken: what the record says.
    """
    if "limits" in taken:
        session.state = replace(session.state, limits=limits_of(taken["limits"]), promised=None)


def _doubt_successes(session: Session) -> None:
    """Let a handoff of a session say of no command that it succeeds because it did before an edit was undone."""
    state, before = session.state, session.state.handed_on
    if before is not None:
        commands = (replace(run, exit=None) if run.exit == 0 else run for run in before.commands)
        before = replace(before, commands=tuple(commands))
    session.state = replace(state, handed_on=before, undone_at=len(state.transcript.entries))

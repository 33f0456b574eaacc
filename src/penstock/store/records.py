"""Journals as rows: records in order, each chained to the one before by its hash.

Law: once a record is acknowledged it survives a kill and a power cut. A record may refer to artifacts, which then stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.store import journal
from penstock.store.artifacts import ArtifactTables
from penstock.store.kept import SCHEMA_VERSION, Conflict, Damaged, Event, JournalRecord, SessionInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from penstock.store.database import Execute

_BATCH = 500  # records fetched at a time
_COLUMNS = "session, seq, type, schema_version, at, prev_hash, sha256, payload"


class JournalTables(ArtifactTables):
    """Journals in the tables of a database, beside the artifacts that they refer to; `Database` has the arguments."""

    def append(
        self,
        session: str,
        seq: int,
        type: str,  # noqa: A002 - the word of the journal
        data: Mapping[str, object],
        *,
        handles: Sequence[str] = (),
    ) -> JournalRecord:
        """Add one record; once it returns, the record survives a kill and a power cut. `Store.append` says what it raises."""
        return self.append_all(session, (Event(seq=seq, type=type, data=data, handles=handles),))[0]

    def append_all(self, session: str, events: Iterable[Event]) -> list[JournalRecord]:
        """Add several records in one commit: all of them, or none."""
        journal.name(session, "A session")
        prepared = [(event, journal.name(event.type, "A type"), journal.payload(event.data)) for event in events]
        heads: tuple[int, str] | None = None
        records = []
        with self._lock:
            try:
                refers = any(event.handles for event, _, _ in prepared)
                # A record that refers to artifacts needs the one writer: or an artifact might be pruned between the
                # look and the insert.
                with self._writing() if refers else self._appending() as execute:
                    last, prev_hash = self._head(execute, session)
                    for event, kind, text in prepared:
                        if isinstance(event.seq, bool) or not isinstance(event.seq, int) or event.seq < 0:
                            raise CallerError(f"seq is a whole number from 0 on, not {event.seq!r}")
                        # Asked for again by whoever did not hear the first answer: the record that stands there is the
                        # answer, if it is the same.
                        if event.seq <= last:
                            records.append(self._again(execute, session, event.seq, kind, text))
                            continue
                        if event.seq > last + 1:
                            raise CallerError(f"Session {session}: the next record is {last + 1}, not {event.seq}.")
                        at = float(self._clock())
                        row = journal.JournalRow(session, event.seq, kind, SCHEMA_VERSION, at, prev_hash, "", text)
                        row = row._replace(sha256=row.sealed())
                        execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))
                        for handle in dict.fromkeys(event.handles):
                            self._refer(execute, session, event.seq, handle)
                        records.append(row.record())
                        last, prev_hash = event.seq, row.sha256
                    heads = (last, prev_hash)
                    self._newest = (session, last)
            finally:
                self._newest = None
                # It failed half-way: what stands there is read anew next time.
                if heads is None:
                    self._heads.pop(session, None)
            self._heads[session] = heads
        return records

    def _head(self, execute: Execute, session: str) -> tuple[int, str]:
        """Return the last `seq` of a session and its hash, (-1, `FIRST_HASH`) when there is none yet.

        The answer is kept between appends, which saves a query each, while no other connection has written.
        """
        generation = self._seen_by_others()
        if generation is None or generation != self._generation:
            self._heads.clear()
            self._generation = generation
        known = self._heads.get(session)
        if known is None:
            found = execute("SELECT seq, sha256 FROM records WHERE session = ? ORDER BY seq DESC LIMIT 1", (session,))
            known = (int(found[0][0]), str(found[0][1])) if found else (-1, journal.FIRST_HASH)
        return known

    def _again(self, execute: Execute, session: str, seq: int, kind: str, text: str) -> JournalRecord:
        """Return the record that stands at `seq` already, if it is the same event. Raises `Conflict` and `Damaged`."""
        found = execute(f"SELECT {_COLUMNS} FROM records WHERE session = ? AND seq = ?", (session, seq))  # noqa: S608
        if not found:
            raise Damaged(f"Session {session}: record {seq} is missing.")
        row = journal.JournalRow(*found[0])
        if row.sealed() != row.sha256:
            raise Damaged(f"Session {session}: record {seq} is not what was written: its SHA-256 differs.")
        if row.type != kind or not journal.same(row.payload, text):
            raise Conflict(f"Session {session} has another event at {seq}: {row.type}.")
        return row.record()

    def events(self, session: str, from_seq: int = 0) -> Iterator[JournalRecord]:
        """Return the records of a session from `from_seq` on, in order, each checked; raises `Damaged` at the first
        that is not sound.
        """
        before = self._read("SELECT sha256 FROM records WHERE session = ? AND seq = ?", (session, from_seq - 1))
        prev_hash = journal.FIRST_HASH if from_seq == 0 else str(before[0][0]) if before else None
        lost_seq = self._lost[1] if self._lost is not None and self._lost[0] == session else -1
        return journal.verified(self._rows(session, from_seq), session, from_seq, prev_hash, lost_seq)

    def _rows(self, session: str, from_seq: int) -> Iterator[journal.JournalRow]:
        """Yield the rows of a session, 500 a query: a reader that stops early, or is slow, holds no transaction open."""
        statement = f"SELECT {_COLUMNS} FROM records WHERE session = ? AND seq >= ? ORDER BY seq LIMIT {_BATCH}"  # noqa: S608
        while True:
            batch = self._read(statement, (session, from_seq))
            yield from map(journal.JournalRow._make, batch)
            if len(batch) < _BATCH:
                return
            from_seq = int(batch[-1][1]) + 1

    def sessions(self) -> list[SessionInfo]:
        """Return the sessions, the last used first."""
        rows = self._read(
            "SELECT session, MAX(seq) + 1, MAX(at) FROM records GROUP BY session ORDER BY MAX(at) DESC, session"
        )
        return [SessionInfo(session=session, records=int(count), at=float(at)) for session, count, at in rows]

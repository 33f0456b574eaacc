"""How are journals stored as rows? Records in order, each chained to the previous one by its hash.

Law: once a record is acknowledged it survives a kill and a power cut. A record may refer to artifacts, which are then retained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import CallerError, ToolError
from penstock.store import journal
from penstock.store.keeping import KeepingTables
from penstock.store.kept import SCHEMA_VERSION, Conflict, Damaged, Event, JournalRecord
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from penstock.store.database import Execute

_FIRST_BATCH, _BATCH = 8, 500  # records fetched at a time
_ROOM_ASKED_BYTES = 64 << 10  # of records, between two checks of the total: the limit may be exceeded by this much
_COLUMNS = "session, seq, type, schema_version, at, prev_hash, sha256, payload"


class JournalTables(KeepingTables):
    """Journals in the tables of a database, alongside the artifacts that they refer to; `Database` has the arguments."""

    def append(
        self,
        session: str,
        seq: int,
        type: str,  # noqa: A002 - the journal's term
        data: Mapping[str, object],
        *,
        handles: Sequence[str] = (),
    ) -> JournalRecord:
        """Add one record; once it returns, the record survives a kill and a power cut. `Store.append` says what it raises."""
        return self.append_all(session, (Event(seq=seq, type=type, data=data, handles=handles),))[0]

    def append_all(self, session: str, events: Iterable[Event]) -> list[JournalRecord]:
        """Add several records in one commit: all of them, or none."""
        events = tuple(events)
        return self._lasting(lambda: self._append_all(session, events))

    def _append_all(self, session: str, events: Sequence[Event]) -> list[JournalRecord]:
        """Add several records in one commit; those that are there already are returned."""
        journal.name(session, "A session")
        prepared = [(event, journal.name(event.type, "A type"), journal.payload(event.data)) for event in events]
        heads: tuple[int, str] | None = None
        records, added, removed = [], 0, list[str]()
        with self._lock:
            try:
                refers = any(event.handles for event, _, _ in prepared)
                # Room is checked only now and then and not for each record, because that is a sum over everything.
                self._grown += sum(len(text) for _, _, text in prepared)
                is_room_asked = self._grown > _ROOM_ASKED_BYTES or session not in self._worked_on
                # A record that refers to artifacts needs the exclusive writer: otherwise an artifact might be pruned between the
                # check and the insert. So does making room.
                with self._writing() if refers or is_room_asked else self._appending() as execute:
                    last, prev_hash = self._head(execute, session)
                    is_new = last < 0
                    for event, kind, text in prepared:
                        if isinstance(event.seq, bool) or not isinstance(event.seq, int) or event.seq < 0:
                            raise CallerError(f"seq is a whole number from 0 on, not {event.seq!r}")
                        # A retry by a caller who missed the first answer: the existing record is the answer, if it is the same.
                        if event.seq <= last:
                            records.append(self._again(execute, session, event.seq, kind, text))
                            continue
                        if last < (known := self._worked_on.get(session, -1)):
                            raise Damaged(
                                f"Session {session}: {known + 1} records were kept, and {self.url} has {last + 1}: another server "
                                "has taken over without the newest, or somebody has removed them.",
                                last if last >= 0 else None,
                            )
                        if event.seq > last + 1:
                            raise CallerError(f"Session {session}: the next record is {last + 1}, not {event.seq}.")
                        at = float(self._clock())
                        row = journal.JournalRow(session, event.seq, kind, SCHEMA_VERSION, at, prev_hash, "", text)
                        row = row._replace(sha256=row.sealed())
                        execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))
                        for handle in dict.fromkeys(event.handles):
                            self._refer(execute, session, event.seq, handle)
                        records.append(row.record())
                        added += row.stored_bytes
                        last, prev_hash = event.seq, row.sha256
                    if added:
                        if is_room_asked:
                            removed = self._make_room(execute, added)
                        self._count(execute, session, last + 1, added, records[-1].at)
                    heads = (last, prev_hash)
                    self._newest = (session, last)
            finally:
                self._newest = None
                # It failed half-way: the head is read anew next time.
                if heads is None:
                    self._heads.pop(session, None)
            self._heads[session] = heads
            if is_room_asked:
                self._grown = 0
            if added:
                self._worked_on[session] = last
            for handle in (handle for event in events for handle in event.handles):
                self._unnamed.pop(handle, None)  # not earlier: if the commit is lost, it is still unnamed
        self._remove_places(removed)
        if is_new and added:
            self._began()
        return records

    def _count(self, execute: Execute, session: str, records: int, added_bytes: int, at: float) -> None:
        """Add records to their session's totals, and record that this store works on it."""
        execute(
            "INSERT INTO sessions VALUES (?, ?, ?, ?) ON CONFLICT (session) DO UPDATE SET "
            "records = excluded.records, bytes = sessions.bytes + excluded.bytes, "
            "at = CASE WHEN excluded.at > sessions.at THEN excluded.at ELSE sessions.at END",
            (session, records, added_bytes, at),
        )
        if session not in self._worked_on:
            if not self._own_holder():
                self._drop_dead(execute)
            execute("INSERT INTO running VALUES (?, ?) ON CONFLICT DO NOTHING", (session, self._holder(execute)))

    def _drop_dead(self, execute: Execute) -> None:
        """Delete the entries of stores that have ended; usually there are one or two."""
        for (holder,) in execute("SELECT holder FROM running UNION SELECT holder FROM unnamed"):
            if holder != self._own_holder() and not self._is_held(execute, str(holder)):
                for table in ("running", "unnamed"):
                    execute(f"DELETE FROM {table} WHERE holder = ?", (holder,))  # noqa: S608

    def _began(self) -> None:
        """Called when a session has begun, once that is durable; `removal` says what follows."""

    def _head(self, execute: Execute, session: str) -> tuple[int, str]:
        """Return the last `seq` of a session and its hash; (-1, `FIRST_HASH`) if there is none yet.

        The answer is cached between appends, which saves a query each, while no other connection has written.
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
        """Return the existing record at `seq`, if it is the same event. Raises `Conflict` and `Damaged`."""
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
        """Return the records of a session from `from_seq` on, in order, each checked; raises `Damaged` at the first invalid one."""
        prev_hash: str | None = journal.FIRST_HASH
        if from_seq:
            before = self._read("SELECT sha256 FROM records WHERE session = ? AND seq = ?", (session, from_seq - 1))
            prev_hash = str(before[0][0]) if before else None
        return (row.record() for row in self._checked(session, from_seq, prev_hash))

    def _checked(
        self, session: str, from_seq: int = 0, prev_hash: str | None = journal.FIRST_HASH
    ) -> Iterator[journal.JournalRow]:
        """Yield the rows of a session, each checked; raises `Damaged` at the first invalid one."""
        lost_seq = self._lost[1] if self._lost is not None and self._lost[0] == session else -1
        return journal.verified(self._rows(session, from_seq), session, from_seq, prev_hash, lost_seq)

    def _rows(self, session: str, from_seq: int) -> Iterator[journal.JournalRow]:
        """Yield the rows of a session, in batches: a reader that stops early, or is slow, holds no transaction open."""
        statement = f"SELECT {_COLUMNS} FROM records WHERE session = ? AND seq >= ? ORDER BY seq LIMIT ?"  # noqa: S608
        limit = _FIRST_BATCH  # many read only the beginning
        while True:
            batch = self._read(statement, (session, from_seq, limit))
            yield from map(journal.JournalRow._make, batch)
            if len(batch) < limit:
                # Another process may have removed it since the last batch: this would be its end.
                if limit > _FIRST_BATCH and not self._read(
                    "SELECT 1 FROM records WHERE session = ? LIMIT 1", (session,)
                ):
                    raise ToolError("not_found", f"Session {escape.clip(session)} was removed while it was read.")
                return
            from_seq, limit = int(batch[-1][1]) + 1, _BATCH

    def record_types(self, session: str) -> list[str]:
        """Return the type of each record of a session, in order; they are read without their data and not checked."""
        return [
            str(type_) for (type_,) in self._read("SELECT type FROM records WHERE session = ? ORDER BY seq", (session,))
        ]

    def handles_of(self, session: str) -> list[str]:
        """Return the handles that the records of a session refer to, in order of first mention."""
        rows = self._read(
            "SELECT handle FROM refs WHERE session = ? GROUP BY handle ORDER BY MIN(seq), handle", (session,)
        )
        return [str(handle) for (handle,) in rows]

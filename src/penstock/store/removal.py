"""What is removed early, and for good? Sessions and artifacts that a person names, or that exceed the retention rules.

A removal is one transaction over the tables; by rules, one for each thing if the disk has no room for more. Content is removed
after it, as everywhere (`database`). What a person names is removed for good: afterwards its bytes are in no file of the store,
including free pages and the log. What rules remove is recorded, so that it is never silent. Law: what a living process works on is
not removed by anybody else, and never by a rule. Leaves to others: which things exceed a rule (`retention`).
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from heapq import merge
from math import inf
from typing import TYPE_CHECKING, TypeVar

from penstock.errors import ToolError
from penstock.store.artifacts import HandleRow
from penstock.store.database import capped
from penstock.store.keeping import used_bytes
from penstock.store.kept import SessionInfo, StoreFault
from penstock.store.retention import Removal, Retention, overdue
from penstock.store.summaries import SummaryTables
from penstock.text import escape
from penstock.text.calls import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from penstock.store.database import Execute

_Done = TypeVar("_Done")
_WRITTEN_DOWN = 1_000  # removals that are remembered
_FREED_TO = 0.9  # of the size that a rule sets, so that it need not remove something at each session
_BY_HAND = "a person removed it"
# The contents that only one session keeps: every handle that leads to one is named by it, and by no other session.
_OWN_BYTES = """
    SELECT session, SUM(stored_bytes) FROM (
        SELECT MIN(r.session) AS session, MIN(c.stored_bytes) AS stored_bytes
        FROM contents c JOIN handles h ON h.digest = c.digest AND h.gone = '' LEFT JOIN refs r ON r.handle = h.handle
        GROUP BY c.digest HAVING COUNT(DISTINCT r.session) = 1 AND COUNT(r.session) = COUNT(*)) AS own
    GROUP BY session"""
_OWN_BYTES_OF = """
    SELECT COALESCE(SUM(c.stored_bytes), 0) FROM contents c WHERE c.digest IN (
        SELECT h.digest FROM refs r JOIN handles h ON h.handle = r.handle WHERE r.session = ? AND h.gone = '')
    AND NOT EXISTS (
        SELECT 1 FROM handles o LEFT JOIN refs r ON r.handle = o.handle
        WHERE o.digest = c.digest AND o.gone = '' AND (r.session IS NULL OR r.session <> ?))"""
# The sessions of the processes that have put a content and not named it yet.
_ABOUT_TO_NAME = """
    SELECT r.session FROM running r JOIN unnamed u ON u.holder = r.holder JOIN handles h ON h.handle = u.handle
    WHERE h.digest = ?"""
# The oldest entries from a position on, a number of them at a time.
_OLDEST_SESSIONS = """
    SELECT at, session, bytes FROM sessions WHERE (at, session) > (?, ?) AND at < ? ORDER BY at, session LIMIT ?"""
_OLDEST_LOOSE = """
    SELECT h.created, h.handle, c.stored_bytes FROM handles h JOIN contents c ON c.digest = h.digest
    WHERE h.gone = '' AND (h.created, h.handle) > (?, ?) AND h.created < ?
    AND NOT EXISTS (SELECT 1 FROM refs r WHERE r.handle = h.handle) ORDER BY h.created, h.handle LIMIT ?"""
_FIRST_LOOK, _LOOK = 8, 500
# Of the newest records of a session, as much as goes in one transaction on a full disk: the log of it fits in the reserve.
_NEWEST_RECORDS = "SELECT seq, LENGTH(payload) FROM records WHERE session = ? AND seq > 0 ORDER BY seq DESC LIMIT 500"
_PART_BYTES = 1 << 19


class RemovalTables(SummaryTables):
    """Sessions as stored things: listed with their size, and removed; `Database` has the arguments.

    Attributes:
        retention: The rules applied whenever a session begins; none by default.
        taken: What they have removed since this store was opened, for whoever informs a person.
    """

    retention = Retention()
    taken: tuple[Removal, ...] = ()

    # ── listing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def sessions(self, limit: int | None = None) -> list[SessionInfo]:
        """Return the sessions, the last used first; `Store.sessions` says more."""
        held = self._held(self._read)
        newest_first = "SELECT session, records, bytes, at FROM sessions ORDER BY at DESC, session"
        if limit is None:
            rows = self._read(newest_first)
            own = {str(session): int(size) for session, size in self._read(_OWN_BYTES)}
        else:
            rows = self._read(f"{newest_first} LIMIT ?", (capped(limit),))
            own = {str(session): _own_bytes(self._read, str(session)) for session, *_ in rows}
        return [
            SessionInfo(
                session=session,
                records=int(records),
                at=float(at),
                bytes=int(size) + own.get(session, 0),
                is_running=session in held,
            )
            for session, records, size, at in rows
        ]

    def is_worked_on(self, session: str) -> bool:
        """Return whether another living process works on a session; `Store.is_worked_on` says more."""
        held = self._read("SELECT holder FROM running WHERE session = ? AND holder <> ?", (session, self._own_holder()))
        return any(self._is_held(self._read, str(holder)) for (holder,) in held)

    def removals(self) -> list[Removal]:
        """Return what rules removed, the last 1,000, the newest first."""
        rows = self._read("SELECT what, name, bytes, at, why FROM removals ORDER BY number DESC")
        return [
            Removal(what=what, name=name, bytes=int(size), at=float(at), why=why) for what, name, size, at, why in rows
        ]

    def _held(self, execute: Execute) -> set[str]:
        """Return the sessions that another living process works on."""
        rows = execute("SELECT session, holder FROM running WHERE holder <> ?", (self._own_holder(),))
        held = {holder for holder in {str(holder) for _, holder in rows} if self._is_held(execute, holder)}
        return {str(session) for session, holder in rows if holder in held}

    # ── removal by name ──────────────────────────────────────────────────────────────────────────────────────────

    def remove_sessions(self, sessions: Iterable[str]) -> list[Removal]:
        """Remove sessions for good; `Store.remove_sessions` says more."""
        names = list(dict.fromkeys(sessions))
        gone, places = self._with_room(lambda: self._sessions_given_up(names), names)
        self._removed_for_good(names, places)
        return gone

    def _sessions_given_up(self, names: Sequence[str]) -> tuple[list[Removal], list[str]]:
        """Delete the rows of sessions; return what they were, and the places to remove."""
        gone: list[Removal] = []
        with self._writing() as execute:
            held = self._held(execute)
            for name in names:
                found = execute("SELECT bytes, at FROM sessions WHERE session = ?", (name,))
                if not found:
                    raise ToolError("not_found", f"There is no session {escape.clip(name)}.", Call("sessions"))
                if name in held:
                    raise _running(f"Session {name}", [name])
                ((size, at),) = found
                gone.append(
                    Removal(what="session", name=name, bytes=int(size) + _own_bytes(execute, name), at=float(at))
                )
            places = self._forgotten(execute, names, _BY_HAND)
            self._check_in_reach(places)
            places += self._leftovers(execute)
        return gone, places

    def remove_artifact(self, handle: str) -> Removal:
        """Remove the content of an artifact for good; `Store.remove_artifact` says more."""
        gone, places = self._with_room(lambda: self._artifact_given_up(handle))
        self._removed_for_good((), places)
        return gone

    def _artifact_given_up(self, handle: str) -> tuple[Removal, list[str]]:
        """Mark all handles of a content as gone; return what it was, and the places to remove."""
        with self._writing() as execute:
            row = self._kept_row(execute, handle)
            size = sum(int(n) for (n,) in execute("SELECT stored_bytes FROM contents WHERE digest = ?", (row.digest,)))
            named = execute(
                "SELECT DISTINCT r.session FROM refs r JOIN handles h ON h.handle = r.handle WHERE h.digest = ? ORDER BY 1",
                (row.digest,),
            )
            sessions = [str(session) for (session,) in named]
            at_work = execute(_ABOUT_TO_NAME, (row.digest,))
            if running := sorted(self._held(execute) & {*sessions, *(str(session) for (session,) in at_work)}):
                raise _running(f"Artifact {row.handle}", running)
            handles = execute("SELECT handle FROM handles WHERE digest = ? AND gone = ''", (row.digest,))
            places = self._let_go_of(execute, [str(handle) for (handle,) in handles], _BY_HAND)
            self._check_in_reach(places)
            places += self._leftovers(execute)
        gone = Removal(
            what="artifact", name=row.handle, bytes=size, at=row.created, why=_BY_HAND, named_by=tuple(sessions)
        )
        return gone, places

    def _with_room(self, deed: Callable[[], _Done], sessions: Sequence[str] = ()) -> _Done:
        """Perform an operation that temporarily takes disk space.

        If there is none, rebuildable data is removed: the indexes of ranked search, and then the reserve kept for this. Last,
        sessions that are to be removed go in parts.

        Args:
            deed: The operation.
            sessions: The sessions that it removes.
        """
        while True:
            try:
                return deed()
            except StoreFault as fault:
                if fault.code == "disk_full" and (
                    self._gives_caches_up() or self._gives_reserve_back() or any(map(self._shortened, sessions))
                ):
                    continue
                # The failed attempt is still in the log, occupying the space of the reserve for something smaller.
                self._shrink()
                self._keep_reserve()
                raise

    def _shortened(self, session: str) -> bool:
        """Delete the newest records of a session that is to be removed, as many as the log has room for; return whether any went.

        If the removal is interrupted, what is left is a shorter session, and sound: a journal is checked from its beginning.
        """
        self._shrink()  # the failed attempt is still in the log
        try:
            with self._writing() as execute:
                if session in self._held(execute):
                    return False
                first, size = None, 0
                for seq, length in execute(_NEWEST_RECORDS, (session,)):
                    size += int(length)
                    if first is not None and size > _PART_BYTES:
                        break
                    first = int(seq)
                if first is None:
                    return False
                self._unnoted([session])
                execute("DELETE FROM records WHERE session = ? AND seq >= ?", (session, first))
                # Its bytes stay counted until it is gone, because a removal reports all that it frees.
                execute("UPDATE sessions SET records = ? WHERE session = ?", (first, session))
        except StoreFault:
            return False
        self._forget([session])
        self._shrink()
        return True

    def _gives_caches_up(self) -> bool:
        """Remove the indexes of ranked search; return whether there were some."""
        if not self._cache_bytes():
            return False
        self._remove_caches()
        return not self._cache_bytes()

    def _kept_row(self, execute: Execute, handle: str) -> HandleRow:
        """Return the row of a handle whose content still exists, even if it has expired. Raises `ToolError`."""
        found = execute("SELECT * FROM handles WHERE handle = ? AND gone = ''", (str(handle).replace("\0", ""),))
        return HandleRow(*found[0]) if found else self._row(handle)  # raises the reason why it is missing

    def _removed_for_good(self, sessions: Sequence[str], places: list[str]) -> None:
        """Remove content after the transaction that deleted its rows, and then every trace of what was deleted."""
        self._forget(sessions)
        with self._lock:
            self._layouts.clear()
            self._pieces.clear()
        try:
            self._remove_places(places, for_good=True)
        finally:
            self._remove_caches()
            try:
                self.scrub()
            finally:
                self._keep_reserve()

    # ── removal by rules ─────────────────────────────────────────────────────────────────────────────────────────

    def collect(self, rules: Retention, *, is_dry_run: bool = False) -> list[Removal]:
        """Remove what has expired and what exceeds some rules; `Store.collect` says more."""
        return self._overdue(self._read, rules) if is_dry_run else self._collected(rules)

    def _collected(self, rules: Retention, share: float = 1.0) -> list[Removal]:
        """Remove what has expired and what exceeds some rules; a size rule leaves a share of its limit.

        Deleting temporarily takes disk space. If there is not enough for everything, each thing is removed separately, which makes
        room for the next; whatever is left then shows in the size.
        """
        try:
            return self._with_room(lambda: self._collected_at_once(rules, share))
        except StoreFault as fault:
            if fault.code != "disk_full" or not (found := self._collected_one_by_one(rules, share)):
                raise
            return found
        finally:
            self._keep_reserve()

    def _collected_one_by_one(self, rules: Retention, share: float) -> list[Removal]:
        """Remove what exceeds some rules, the oldest first, as far as the disk space allows."""
        found: list[Removal] = []
        too_large: set[str] = set()
        while beyond := [one for one in self._overdue(self._read, rules, share) if one.name not in too_large]:
            name = beyond[0].name
            try:
                found += self._with_room(partial(self._collected_at_once, rules, share, name), [name])
            except StoreFault as fault:
                if fault.code != "disk_full":
                    break
                too_large.add(name)
            else:
                too_large.clear()  # there may be room for it now
        return found

    def _collected_at_once(self, rules: Retention, share: float, only: str | None = None) -> list[Removal]:
        """Remove what exceeds some rules, or only the one thing of that name among it, in one transaction.

        Leftovers of killed processes are searched for only in a full collection: that examines everything.
        """
        with self._writing() as execute:
            _, places = self._expire(execute)
            found = [one for one in self._overdue(execute, rules, share) if only in {None, one.name}]
            sessions = [one.name for one in found if one.what == "session"]
            why = "the session that it was kept for was removed by a rule"
            places += self._forgotten(execute, sessions, why)
            for one in found:
                if one.what == "artifact":
                    places += self._let_go_of(execute, [one.name], f"a rule removed it: {one.why}")
            places += self._leftovers(execute) if share == 1.0 else []
            self._write_down(execute, found)
        self._forget(sessions)
        self._shrink()
        self._remove_places(places, for_good=share == 1.0)
        return found

    def _began(self) -> None:
        """Apply the rules of this store, now that there is one more session."""
        if not self.retention:
            return
        # The session has begun, whatever happens here: if the store is busy, this is left to the next one.
        with suppress(StoreFault):
            if self._overdue(self._read, self.retention):
                self.taken = (*self.taken, *self._collected(self.retention, _FREED_TO))

    def _overdue(self, execute: Execute, rules: Retention, share: float = 1.0) -> list[Removal]:
        """Return what exceeds some rules and may be removed."""
        # By the current clock alone: a clock that was once wrong and showed a later year would otherwise make everything used today
        # look old forever.
        now = self._clock()
        busy = self._held(execute) | self._worked_on.keys()
        count = int(execute("SELECT COUNT(*) FROM sessions")[0][0])
        idle = count - sum(len(execute("SELECT 1 FROM sessions WHERE session = ?", (name,))) for name in busy)
        used = used_bytes(execute) if rules.max_bytes is not None else 0
        # The oldest are read one by one until no rule has anything more to remove: the cost is that of what is removed, not of what
        # is kept. Artifacts, which lie between those that sessions refer to, are read only as far as the age rule says, unless room
        # is needed.
        is_over = rules.max_bytes is not None and used > rules.max_bytes
        before = inf if is_over else -inf if rules.max_days is None else now - rules.max_days * 86_400
        return overdue(
            merge(self._idle(execute, busy), self._loose(execute, before), key=lambda one: (one.at, one.name)),
            rules,
            now=now,
            used_bytes=used,
            idle_sessions=idle,
            busy_sessions=count - idle,
            share=share,
        )

    def _idle(self, execute: Execute, busy: Collection[str]) -> Iterator[Removal]:
        """Yield the sessions that nobody works on, least recently used first."""
        for at, session, size in _in_order(execute, _OLDEST_SESSIONS, inf):
            if session not in busy:
                yield Removal(what="session", name=session, bytes=size + _own_bytes(execute, session), at=at)

    def _loose(self, execute: Execute, before: float) -> Iterator[Removal]:
        """Yield the artifacts older than a given time that no session refers to, or is about to, the oldest first."""
        unnamed = self._held_unnamed(execute)
        for at, handle, size in _in_order(execute, _OLDEST_LOOSE, before):
            if handle not in unnamed:
                yield Removal(what="artifact", name=handle, bytes=int(size), at=at)

    def _write_down(self, execute: Execute, found: Sequence[Removal]) -> None:
        """Record what rules removed, so that whoever misses it learns why."""
        if not found:
            return
        now = self._now(execute)
        last = int(execute("SELECT COALESCE(MAX(number), 0) FROM removals")[0][0])
        newest = found[-_WRITTEN_DOWN:]
        for number, one in enumerate(newest, last + 1):
            row = (number, now, one.what, one.name, one.bytes, one.at, one.why)
            execute("INSERT INTO removals VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        execute("DELETE FROM removals WHERE number <= ?", (last + len(newest) - _WRITTEN_DOWN,))

    # ── the tables ───────────────────────────────────────────────────────────────────────────────────────────────

    def _forgotten(self, execute: Execute, sessions: Sequence[str], why: str) -> list[str]:
        """Delete the rows of sessions and mark the handles that only they name as gone; return the places to remove."""
        if not sessions:
            return []
        self._unnoted(sessions)
        handles: dict[str, None] = {}
        for session in sessions:
            named = execute("SELECT DISTINCT handle FROM refs WHERE session = ?", (session,))
            handles |= dict.fromkeys(str(handle) for (handle,) in named)
            for table in ("refs", "records", "summaries", "sessions", "running"):
                execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608
        unnamed = self._held_unnamed(execute)
        alone = [
            name
            for name in handles
            if name not in unnamed and not execute("SELECT 1 FROM refs WHERE handle = ? LIMIT 1", (name,))
        ]
        return self._let_go_of(execute, alone, why)

    def _let_go_of(self, execute: Execute, handles: Sequence[str], why: str) -> list[str]:
        """Mark handles as gone, without their digest and name: those of a secret reveal something of it.

        Returns:
            The places to remove.
        """
        digests: dict[str, None] = {}
        for handle in handles:
            found = execute("SELECT * FROM handles WHERE handle = ?", (handle,))
            if not found:
                continue
            digests[HandleRow(*found[0]).digest] = None
            row = HandleRow(*found[0])._replace(gone=why, digest="", name="", kind="")
            execute(
                "UPDATE handles SET gone = ?, digest = '', name = '', kind = '', seal = ? WHERE handle = ?",
                (why, row.sealed(), handle),
            )
            execute("DELETE FROM refs WHERE handle = ?", (handle,))
        return self._sweep(execute, digests)

    def _forget(self, sessions: Iterable[str]) -> None:
        """Drop cached state of removed sessions."""
        with self._lock:
            for session in sessions:
                self._heads.pop(session, None)
                self._worked_on.pop(session, None)


def _own_bytes(execute: Execute, session: str) -> int:
    """Return the size of the contents that only one session keeps."""
    return int(execute(_OWN_BYTES_OF, (session, session))[0][0])


def _in_order(execute: Execute, statement: str, before: float) -> Iterator[tuple[float, str, int]]:
    """Yield the rows of a statement that takes the last time and name, the time to stop at, and a row limit."""
    at, name, limit = -inf, "", _FIRST_LOOK
    while True:
        rows = execute(statement, (at, name, before, limit))
        for row in rows:
            at, name = float(row[0]), str(row[1])
            yield at, name, int(row[2])
        if len(rows) < limit:
            return
        limit = _LOOK


def _running(what: str, sessions: Sequence[str]) -> ToolError:
    """Return the refusal to remove what a living process works on."""
    which = ", ".join(sessions[:5])
    said = f"{what} is in use: a process that runs now works on {which}. End it first."
    return ToolError("busy", said, Call("show", {"session_id": sessions[0]}))

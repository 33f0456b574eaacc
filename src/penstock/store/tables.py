"""Keep artifacts and journals in tables: all that both databases do alike, written once.

A database adds how statements run, how one writer is had, and where pieces of content lie. Every row that can do harm
when it changes carries a seal. Law: a handle is given out only after its content is safe; what is taken away leaves a
word.

Content goes through three states. *Staged*: written, under a name that no row knows. *Published*: in its place, within
the transaction that inserts its row. *Removed*: after the transaction that deletes its row. So a process that dies
anywhere leaves content without a row, which `prune` finds, and never a row without content.
"""

from __future__ import annotations

import hashlib
import secrets
import string
import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from penstock.errors import CallerError, ToolError
from penstock.store import journal, pieces
from penstock.store.kept import (
    LIFE_SECONDS,
    LIMIT_BYTES,
    SCHEMA_VERSION,
    ArtifactInfo,
    Conflict,
    Damage,
    Damaged,
    Event,
    Handle,
    JournalRecord,
    Pruned,
    SessionInfo,
    Size,
    StoreFault,
)
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from penstock.store.pieces import Content, PieceLayout

# A handle is a key to its content, for every client of a database: nobody shall guess one.
_LETTERS = string.ascii_letters + string.digits
_HANDLE_LETTERS = 22  # 130 bits
_KEPT_LAYOUTS = 8
_KEPT_PIECES = 4
_BATCH = 500  # records fetched at a time
_TOMBSTONES = 10_000  # handles that are gone and still say so
_WORTH = 0.75  # compressed pieces are taken when they are no longer than this share

Rows = list[tuple[Any, ...]]
"""What a statement gives: a list of rows, each a tuple of columns."""


class Execute(Protocol):
    """Run one statement within a transaction. Placeholders are `?`, in PostgreSQL too."""

    def __call__(self, statement: str, parameters: Sequence[object] = ...) -> Rows:
        """Return the rows of the statement."""
        ...


class Staged(NamedTuple):
    """Content that is written but does not count yet: no row names its place."""

    place: str
    content: Content


class _Row(NamedTuple):
    """A handle with its content, as the tables hold them; `gone` says why the artifact was taken away, "" while it is there."""

    handle: str
    number: int
    """Order of arrival. Times cannot give it: clocks go back."""
    digest: str
    name: str
    kind: str
    created: float
    expires: float
    gone: str
    seal: str

    def sealed(self) -> str:
        """Return the seal that belongs to the other columns."""
        return _seal(*self[:-1])


class Tables(ABC):
    """The part of a store that both databases share: artifacts and journals as rows of tables.

    Args:
        limit_bytes: What all artifacts together may take on disk.
        life_seconds: How long an artifact lives after its last `put`.
        clock: Seconds since 1970; tests give their own.

    Raises:
        CallerError: A number is not above 0.
    """

    url: str

    def __init__(
        self,
        *,
        limit_bytes: int = LIMIT_BYTES,
        life_seconds: float = LIFE_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if limit_bytes <= 0 or life_seconds <= 0:
            raise CallerError("limit_bytes and life_seconds are above 0")
        self.limit_bytes = limit_bytes
        self.life_seconds = life_seconds
        self._clock = clock
        self._lock = threading.RLock()
        # Tables of pieces and pieces in plain, used last: a page after the other of one artifact reads and checks a
        # piece once.
        self._layouts: OrderedDict[str, PieceLayout] = OrderedDict()
        self._pieces: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._heads: dict[str, tuple[int, str]] = {}
        self._generation: object = None
        self._newest: tuple[str, int] | None = None  # the last record of the transaction in hand
        self._lost: tuple[str, int] | None = None  # a record that was acknowledged and is not there

    # ── what a database adds ─────────────────────────────────────────────────────────────────────────────────────

    @abstractmethod
    def _read(self, statement: str, parameters: Sequence[object] = ()) -> Rows:
        """Run one statement outside a transaction. Raises `StoreFault`."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Execute]:
        """Give the only writer of artifacts, in a transaction that is safe once the block ends. Raises `StoreFault`."""

    @abstractmethod
    def _appending(self) -> AbstractContextManager[Execute]:
        """Give a transaction that adds records; it need not keep out writers of artifacts."""

    @abstractmethod
    def _seen_by_others(self) -> object:
        """Return something that changes when another connection may have written; equal values mean that what was read
        still holds.

        None is equal to nothing.
        """

    @abstractmethod
    def _stage(self, content: bytes | Iterable[bytes], limit_bytes: int) -> Staged:
        """Write content down where it does not count yet. Raises `StoreFault`, `full` beyond `limit_bytes`."""

    @abstractmethod
    def _publish(self, execute: Execute, staged: Staged) -> str:
        """Make staged content last, as part of the transaction, and return its place from then on."""

    @abstractmethod
    def _discard(self, place: str) -> None:
        """Take away what was staged and is not wanted; nothing happens where it has gone."""

    @abstractmethod
    def _remove(self, places: list[str]) -> None:
        """Take away content, after the transaction that gave it up."""

    @abstractmethod
    def _stored(self, place: str, number: int, start: int, count: int) -> bytes | None:
        """Return piece `number`, `count` bytes that begin at byte `start` of what is stored; None when there is none."""

    @abstractmethod
    def _orphans(self, execute: Execute) -> list[str]:
        """Return places that no table names, left by processes that ended."""

    @abstractmethod
    def _database_damage(self) -> list[str]:
        """Return what the database itself finds wrong, each as a sentence."""

    @abstractmethod
    def facts(self) -> dict[str, str]:
        """Return what durability rests on here: versions and settings that are in force."""
        ...

    @abstractmethod
    def close(self) -> None:
        """Give everything back; the store cannot be used after that."""
        ...

    # ── artifacts ────────────────────────────────────────────────────────────────────────────────────────────────

    def put(
        self,
        content: bytes | Iterable[bytes],
        *,
        name: str = "",
        kind: str = "text",
        life_seconds: float | None = None,
    ) -> Handle:
        """Keep `content` and return its handle, once it would survive a power cut; `Store.put` has the arguments."""
        life = self.life_seconds if life_seconds is None else life_seconds
        name, kind = escape.clip(name), escape.clip(kind, 64)
        staged: Staged | None = None
        removed: list[str] = []
        try:
            # Bytes at hand are hashed first: the same result again, which is common, then costs a look and no write. A
            # stream can be read once only, so it is written before anybody knows whether it is new.
            measured = pieces.measure(content) if isinstance(content, bytes) else None
            if measured is None or not self._read("SELECT 1 FROM contents WHERE digest = ?", (measured.digest,)):
                staged = self._staged_as(content, measured)
                measured = staged.content
            published = False
            # Written outside the transaction, which is then short: others wait for rows and not for gigabytes.
            with self._writing() as execute:
                # Asked again, under the lock: another process may have put or pruned the same content since.
                if not execute("SELECT 1 FROM contents WHERE digest = ?", (measured.digest,)):
                    if staged is None:  # it was pruned in between
                        assert isinstance(content, bytes)  # noqa: S101 - only those are measured before
                        staged = self._staged_as(content, measured)
                    removed = self._make_room(execute, measured.stored_bytes)
                    place = self._publish(execute, staged)
                    published = True
                    row = (measured.digest, place, measured.bytes, measured.stored_bytes, measured.lines)
                    packed = pieces.pack(measured.pieces)
                    execute("INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, packed, _seal(*row, packed)))
                handle = self._name(execute, measured.digest, name, kind, life)
            if published:
                staged = None
        finally:
            if staged is not None:
                self._discard(staged.place)
        self._remove(removed)
        return handle

    def _staged_as(self, content: bytes | Iterable[bytes], measured: Content | None) -> Staged:
        """Write content down; what was measured is not measured again."""
        if measured is None or not isinstance(content, bytes):
            return self._stage(content, self.limit_bytes)
        if measured.bytes > self.limit_bytes:
            raise StoreFault("full", f"More than the {self.limit_bytes} bytes that {self.url} may hold.")
        return Staged(self._stage_pieces(pieces.cut(content)), measured)

    def _name(self, execute: Execute, digest: str, name: str, kind: str, life: float) -> Handle:
        """Return the handle of this content under this name: the one it has, whose life begins anew, or a new one."""
        now = self._now(execute)
        # The same result gets the same notice, so that a provider's prompt cache holds and a loop of equal calls can be
        # seen.
        known = execute(
            "SELECT * FROM handles WHERE digest = ? AND name = ? AND kind = ? AND gone = '' AND expires > ?",
            (digest, name, kind, now),
        )
        if known:
            row = _Row(*known[0])
            row = row._replace(expires=max(row.expires, now + life))
            execute(
                "UPDATE handles SET expires = ?, seal = ? WHERE handle = ?", (row.expires, row.sealed(), row.handle)
            )
            return Handle(row.handle)
        handle = "".join(secrets.choice(_LETTERS) for _ in range(_HANDLE_LETTERS))
        number = int(execute("SELECT COALESCE(MAX(number), 0) + 1 FROM handles")[0][0])
        row = _Row(handle, number, digest, name, kind, now, now + life, "", "")
        execute("INSERT INTO handles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row._replace(seal=row.sealed()))
        return Handle(handle)

    def _now(self, execute: Execute) -> float:
        """Return a time that never goes back, kept in the store: a clock that is set back makes nothing younger."""
        seen = float(execute("SELECT last_seen FROM clock")[0][0])
        now = self._clock()
        if now > seen:
            execute("UPDATE clock SET last_seen = ?", (now,))
        return max(now, seen)

    def _make_room(self, execute: Execute, wanted: int) -> list[str]:
        """Take away what has expired, then the oldest that nothing refers to, until `wanted` bytes fit; return the
        places to remove.

        Raises:
            StoreFault: `full`: what is left is in use by sessions. The transaction takes back what was given up.
        """
        _, places = self._expire(execute)
        used = int(execute("SELECT COALESCE(SUM(stored_bytes), 0) FROM contents")[0][0])
        if used + wanted <= self.limit_bytes:
            return places
        # By number and not by time, and never what a session refers to: it could not be resumed without.
        oldest = execute(
            "SELECT h.handle, h.digest, c.stored_bytes FROM handles h JOIN contents c ON c.digest = h.digest "
            "WHERE h.gone = '' AND NOT EXISTS (SELECT 1 FROM refs r WHERE r.handle = h.handle) ORDER BY h.number"
        )
        # Room is freed by content and not by handles: several may lead to one content, which goes with the last of
        # them.
        left: dict[str, int] = dict(execute("SELECT digest, COUNT(*) FROM handles WHERE gone = '' GROUP BY digest"))
        dropped = []
        for handle, digest, stored in oldest:
            dropped.append(handle)
            left[digest] -= 1
            if not left[digest]:  # other names of the same content keep it
                used -= stored
            if used + wanted <= self.limit_bytes:
                break
        else:
            raise StoreFault(
                "full",
                f"The store is full: {used} of its {self.limit_bytes} bytes are in use by sessions, {wanted} were wanted.",
            )
        self._give_up(execute, dropped, "it was the oldest when room was needed")
        return places + self._sweep(execute)

    def _expire(self, execute: Execute) -> tuple[int, list[str]]:
        """Give up the handles whose time is over; return how many, and the places to remove."""
        now = self._now(execute)
        expired = [
            handle
            for (handle,) in execute(
                "SELECT handle FROM handles h WHERE gone = '' AND expires <= ? "
                "AND NOT EXISTS (SELECT 1 FROM refs r WHERE r.handle = h.handle)",
                (now,),
            )
        ]
        if not expired:
            return 0, []
        self._give_up(execute, expired, "its time was over")
        # Of handles that are gone the newest 10,000 stay, to tell `expired` from `not_found`.
        execute(
            "DELETE FROM handles WHERE gone <> '' AND number < (SELECT MAX(number) FROM handles) - ?", (_TOMBSTONES,)
        )
        return len(expired), self._sweep(execute)

    def _give_up(self, execute: Execute, handles: list[str], why: str) -> None:
        """Mark handles as gone, with the reason that whoever asks for them will read."""
        for handle in handles:
            row = _Row(*execute("SELECT * FROM handles WHERE handle = ?", (handle,))[0])._replace(gone=why)
            execute("UPDATE handles SET gone = ?, seal = ? WHERE handle = ?", (why, row.sealed(), handle))

    def _sweep(self, execute: Execute) -> list[str]:
        """Forget content that no handle leads to, and return its places."""
        unused = execute(
            "SELECT digest, place FROM contents c WHERE NOT EXISTS "
            "(SELECT 1 FROM handles h WHERE h.digest = c.digest AND h.gone = '')"
        )
        for digest, _ in unused:
            execute("DELETE FROM contents WHERE digest = ?", (digest,))
            self._layouts.pop(digest, None)
        return [place for _, place in unused]

    def info(self, handle: str) -> ArtifactInfo:
        """Return what is known of an artifact.

        Raises:
            ToolError: `not_found`, or `expired` when there was one.
            Damaged: Its entry is not what was written.
        """
        row = self._row(handle)
        layout_row = self._content(row.digest)
        referenced = self._is_referenced(row.handle)
        return _info(row, layout_row, referenced)

    def _row(self, handle: str) -> _Row:
        """Return the row of a handle that can be read, its seal checked. Raises `ToolError` and `Damaged`."""
        # PostgreSQL refuses a NUL in a text; without it the handle is unknown, as it should be.
        found = self._read("SELECT * FROM handles WHERE handle = ?", (str(handle).replace("\0", ""),))
        if not found:
            raise ToolError(
                "not_found",
                f"There is no artifact {escape.clip(handle, 64)}. Copy the handle from the notice that named it.",
            )
        row = _Row(*found[0])
        if row.sealed() != row.seal:
            raise Damaged(f"The entry of artifact {row.handle} is not what was written.")
        if row.gone:
            raise _expired(row.handle, row.gone)
        if row.expires <= self._clock() and not self._is_referenced(row.handle):
            raise _expired(row.handle, "its time was over")
        return row

    def _is_referenced(self, handle: str) -> bool:
        return bool(self._read("SELECT 1 FROM refs WHERE handle = ? LIMIT 1", (handle,)))

    def _content(self, digest: str) -> tuple[Any, ...]:
        """Return the row of a content, its seal checked. Raises `Damaged`."""
        found = self._read("SELECT * FROM contents WHERE digest = ?", (digest,))
        if not found:
            raise Damaged(f"The content {digest} is missing.")
        *row, packed, seal = found[0]
        if _seal(*row, bytes(packed)) != seal:
            raise Damaged(f"The entry of content {digest} is not what was written.")
        return (*row, bytes(packed), seal)

    def _layout(self, handle: str) -> PieceLayout:
        """Return where the pieces of an artifact lie; the handle is looked up each time, since it may have expired."""
        digest = self._row(handle).digest
        with self._lock:
            layout = self._layouts.get(digest)
            if layout is not None:
                self._layouts.move_to_end(digest)
                return layout
        _, place, total, _, _, packed, _ = self._content(digest)
        layout = pieces.PieceLayout(digest, place, total, pieces.unpack(packed))
        with self._lock:
            self._layouts[digest] = layout
            while len(self._layouts) > _KEPT_LAYOUTS:
                self._layouts.popitem(last=False)
        return layout

    def _piece(self, layout: PieceLayout, number: int) -> bytes:
        """Return one piece in plain, checked against its checksum. Raises `Damaged`."""
        key = (layout.digest, number)
        with self._lock:
            if key in self._pieces:
                self._pieces.move_to_end(key)
                return self._pieces[key]
        data = self._plain(layout, number)
        # No lock is held between the look at the table and the read, so content may have moved once in between.
        if data is None:  # compressed by another process since we looked?
            with self._lock:
                self._layouts.pop(layout.digest, None)
            _, place, total, _, _, packed, _ = self._content(layout.digest)
            layout = pieces.PieceLayout(layout.digest, place, total, pieces.unpack(packed))
            data = self._plain(layout, number)
        if data is None:
            raise Damaged(
                f"Content {layout.digest}: bytes {number * pieces.PIECE_BYTES} to "
                f"{number * pieces.PIECE_BYTES + layout.plain_bytes(number)} are not what was written."
            )
        with self._lock:
            self._pieces[key] = data
            while len(self._pieces) > _KEPT_PIECES:
                self._pieces.popitem(last=False)
        return data

    def _plain(self, layout: PieceLayout, number: int) -> bytes | None:
        """Return one piece in plain by this layout, None when it is not there or not what was written."""
        if number >= len(layout.pieces):
            return None
        piece = layout.pieces[number]
        stored = self._stored(layout.place, number, layout.starts[number], piece.stored_bytes)
        return None if stored is None else pieces.plain(stored, piece, layout.plain_bytes(number))

    def read(self, handle: str, start_byte: int, count: int) -> bytes:
        """Return up to `count` bytes from `start_byte` on, exactly; fewer only at the end. Raises `CallerError` below 0."""
        if start_byte < 0:
            raise CallerError("start_byte is 0 or more")
        layout = self._layout(handle)
        return layout.read(start_byte, count, lambda number: self._piece(layout, number))

    def line_start(self, handle: str, line: int) -> int | None:
        """Return the byte at which `line` (0-based) starts, None where there is no such line."""
        layout = self._layout(handle)
        return layout.line_start(line, lambda number: self._piece(layout, number))

    def lines_before(self, handle: str, byte: int) -> int:
        """Return how many lines end before `byte`."""
        layout = self._layout(handle)
        return layout.lines_before(byte, lambda number: self._piece(layout, number))

    def artifacts(self) -> list[ArtifactInfo]:
        """Return the artifacts that can be read, the oldest first."""
        now = self._clock()
        referenced = {handle for (handle,) in self._read("SELECT DISTINCT handle FROM refs")}
        contents = {row[0]: row for row in self._read("SELECT * FROM contents")}
        rows = map(_Row._make, self._read("SELECT * FROM handles WHERE gone = '' ORDER BY number"))
        return [
            _info(row, contents[row.digest], row.handle in referenced)
            for row in rows
            if row.digest in contents and (row.expires > now or row.handle in referenced)
        ]

    # ── journal ──────────────────────────────────────────────────────────────────────────────────────────────────

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
                        execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _columns(row))
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
        row = _journal_row(found[0])
        if row.sealed() != row.sha256:
            raise Damaged(f"Session {session}: record {seq} is not what was written: its SHA-256 differs.")
        if row.type != kind or not journal.same(row.payload, text):
            raise Conflict(f"Session {session} has another event at {seq}: {row.type}.")
        return row.record()

    def _refer(self, execute: Execute, session: str, seq: int, handle: str) -> None:
        """Note that a record refers to an artifact, which must be there. Raises `CallerError` and `ToolError`."""
        found = execute("SELECT * FROM handles WHERE handle = ?", (str(handle),))
        if not found:
            raise CallerError(f"There is no artifact {escape.clip(handle, 64)} to refer to.")
        row = _Row(*found[0])
        # One that another record holds is there still, whatever its time.
        held = execute("SELECT 1 FROM refs WHERE handle = ? LIMIT 1", (handle,))
        if row.gone or (row.expires <= self._now(execute) and not held):
            raise _expired(row.handle, row.gone or "its time was over")
        execute("INSERT INTO refs VALUES (?, ?, ?)", (session, seq, row.handle))

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
            yield from map(_journal_row, batch)
            if len(batch) < _BATCH:
                return
            from_seq = int(batch[-1][1]) + 1

    def sessions(self) -> list[SessionInfo]:
        """Return the sessions, the last used first."""
        rows = self._read(
            "SELECT session, MAX(seq) + 1, MAX(at) FROM records GROUP BY session ORDER BY MAX(at) DESC, session"
        )
        return [SessionInfo(session=session, records=int(count), at=float(at)) for session, count, at in rows]

    # ── what was learned ─────────────────────────────────────────────────────────────────────────────────────────

    def learn(self, name: str, value: str) -> None:
        """Keep a small fact under a name; the newest counts."""
        with self._writing() as execute:
            now = self._now(execute)
            execute("DELETE FROM learned WHERE name = ?", (name,))
            execute("INSERT INTO learned VALUES (?, ?, ?)", (name, value, now))

    def learned(self, name: str) -> tuple[str, float] | None:
        """Return what was kept under a name, and when, in seconds since 1970; None where nothing was."""
        rows = self._read("SELECT value, at FROM learned WHERE name = ?", (name,))
        return (str(rows[0][0]), float(rows[0][1])) if rows else None

    # ── upkeep ───────────────────────────────────────────────────────────────────────────────────────────────────

    def size(self) -> Size:
        """Return how full the store is."""
        handles = self._read("SELECT COUNT(*) FROM handles WHERE gone = ''")[0][0]
        total, stored = self._read("SELECT COALESCE(SUM(bytes), 0), COALESCE(SUM(stored_bytes), 0) FROM contents")[0]
        records = self._read("SELECT COUNT(*) FROM records")[0][0]
        return Size(
            artifacts=int(handles),
            bytes=int(total),
            stored_bytes=int(stored),
            limit_bytes=self.limit_bytes,
            records=int(records),
        )

    def prune(self) -> Pruned:
        """Take away what has expired or is beyond the limit, and compress the rest where that saves a quarter."""
        before = self.size()
        with self._writing() as execute:
            expired, places = self._expire(execute)
            dropped = 0
            if before.stored_bytes > self.limit_bytes:
                count = int(execute("SELECT COUNT(*) FROM handles WHERE gone = ''")[0][0])
                places += self._make_room(execute, 0)
                dropped = count - int(execute("SELECT COUNT(*) FROM handles WHERE gone = ''")[0][0])
            places += self._orphans(execute)
        self._remove(places)
        # Each in a transaction of its own, so that others write in between.
        compressed = sum(
            self._compress(str(digest))
            for (digest,) in self._read("SELECT digest FROM contents WHERE stored_bytes = bytes AND bytes > 0")
        )
        freed = before.stored_bytes - self.size().stored_bytes
        return Pruned(expired=expired, dropped=dropped, compressed=compressed, freed_bytes=freed)

    def _compress(self, digest: str) -> bool:
        """Keep content in less room, where that saves enough; whether it did."""
        _, place, total, _, _, packed, _ = self._content(digest)
        layout = pieces.PieceLayout(digest, place, total, pieces.unpack(packed))
        # Its first piece speaks for all: a gigabyte that does not shrink costs a quarter of a megabyte at each pruning.
        short = len(pieces.compressed(self._piece(layout, 0)))
        if short > _WORTH * layout.plain_bytes(0):
            return False
        entries: list[pieces.ContentPiece] = []

        def shorter() -> Iterator[bytes]:
            for number, piece in enumerate(layout.pieces):
                data = pieces.compressed(self._piece(layout, number))
                entries.append(piece._replace(stored_bytes=len(data)))
                yield data

        staged = self._stage_pieces(shorter())
        removed = []
        try:
            with self._writing() as execute:
                # It may have been given up, or compressed by another, while this one read it.
                found = execute("SELECT * FROM contents WHERE digest = ? AND place = ?", (digest, place))
                if not found:
                    return False
                _, _, bytes_, _, lines, _, _ = found[0]
                content = pieces.Content(digest=digest, bytes=bytes_, lines=lines, pieces=tuple(entries))
                new = self._publish(execute, Staged(staged, content))
                staged = ""
                row = (digest, new, bytes_, content.stored_bytes, lines)
                packed = pieces.pack(entries)
                execute("DELETE FROM contents WHERE digest = ?", (digest,))
                execute("INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, packed, _seal(*row, packed)))
                removed = [place]
        finally:
            if staged:
                self._discard(staged)
        with self._lock:
            self._layouts.pop(digest, None)
        self._remove(removed)
        return True

    @abstractmethod
    def _stage_pieces(self, stored: Iterable[bytes]) -> str:
        """Write pieces down as they are, and return their place."""

    def check(self) -> list[Damage]:
        """Read everything and name whatever is not what was written; nothing is changed."""
        found = [Damage(what="database", name=self.url, reason=reason) for reason in self._database_damage()]
        for look in (self._check_sessions, self._check_handles, self._check_contents):
            try:
                found += look()
            except StoreFault as fault:  # the database cannot read on
                found.append(Damage(what="database", name=self.url, reason=fault.message))
        return found

    def _check_sessions(self) -> list[Damage]:
        found = []
        sessions = {str(name) for (name,) in self._read("SELECT DISTINCT session FROM records")}
        if self._lost is not None:  # with all its records, perhaps
            sessions.add(self._lost[0])
        for session in sorted(sessions):
            try:
                for _ in self.events(session):
                    pass
            except Damaged as damage:
                sound = None if damage.newest_sound is None else str(damage.newest_sound)
                found.append(Damage(what="record", name=session, reason=damage.message, newest_sound=sound))
        return found

    def _check_handles(self) -> list[Damage]:
        looked = [self._check_handle(_Row(*row)) for row in self._read("SELECT * FROM handles")]
        return [broken for broken in looked if broken is not None]

    def _check_contents(self) -> list[Damage]:
        found = []
        for (digest,) in self._read("SELECT digest FROM contents"):
            reason = self._check_content(str(digest))
            if reason:
                names = self._read("SELECT handle FROM handles WHERE digest = ? AND gone = ''", (digest,))
                found += [Damage(what="artifact", name=str(name), reason=reason) for (name,) in names]
        return found

    def _check_handle(self, row: _Row) -> Damage | None:
        if row.sealed() != row.seal:
            return Damage(what="artifact", name=row.handle, reason="its entry is not what was written")
        if not row.gone and not self._read("SELECT 1 FROM contents WHERE digest = ?", (row.digest,)):
            return Damage(what="artifact", name=row.handle, reason="its content is missing")
        return None

    def _check_content(self, digest: str) -> str:
        """Return what is wrong with a content, "" for nothing: its entry, each piece, and its SHA-256 as a whole."""
        try:
            _, place, total, _, _, packed, _ = self._content(digest)
        except Damaged as damage:
            return damage.message
        layout = pieces.PieceLayout(digest, place, total, pieces.unpack(packed))
        # The checksums of pieces have 32 bits; the digest is the name of the content, and settles it.
        whole = hashlib.sha256()
        for number in range(len(layout.pieces)):
            data = self._plain(layout, number)
            if data is None:
                return f"bytes from {number * pieces.PIECE_BYTES} on are not what was written"
            whole.update(data)
        return "" if whole.hexdigest() == digest else "its SHA-256 differs"


_COLUMNS = "session, seq, type, schema_version, at, prev_hash, sha256, payload"


def _columns(row: journal.JournalRow) -> tuple[object, ...]:
    """Return a record as parameters of a statement, in the order of `_COLUMNS`."""
    return tuple(row)


def _journal_row(values: tuple[Any, ...]) -> journal.JournalRow:
    """Return the columns of a row of `records` by name."""
    return journal.JournalRow(*values)


def _seal(*values: object) -> str:
    """Return a hash over the columns of a row, types and lengths included."""
    return hashlib.sha256(repr(values).encode("utf-8", "surrogatepass")).hexdigest()


def _expired(handle: str, why: str) -> ToolError:
    """Return the refusal of a handle that is gone: final, with what helps."""
    return ToolError(
        "expired",
        f"Artifact {handle} has expired and cannot be read again: {why}. Call the tool that made it once more.",
    )


def _info(row: _Row, content: tuple[Any, ...], is_referenced: bool) -> ArtifactInfo:
    """Return the rows of a handle and its content as callers see them."""
    digest, _, total, stored, lines, *_ = content
    return ArtifactInfo(
        handle=Handle(row.handle),
        bytes=total,
        lines=lines,
        digest=digest,
        created=row.created,
        expires=row.expires,
        name=row.name,
        kind=row.kind,
        stored_bytes=stored,
        is_referenced=is_referenced,
    )

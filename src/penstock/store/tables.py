"""How are artifacts and journals kept in tables? Everything that both databases do alike, written once.

A database adds how statements run, how there is one writer, and where pieces of content lie (`database`). Artifacts and journals
are rows (`artifacts`, `keeping`, `records`); early removal is in `removal`; this module holds what spans all of them: sizes,
pruning, checks.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.store import pieces
from penstock.store.artifacts import HandleRow, seal_of
from penstock.store.database import Staged
from penstock.store.kept import Damage, Damaged, Pruned, Size, StoreFault
from penstock.store.objects import is_object
from penstock.store.removal import RemovalTables

if TYPE_CHECKING:
    from collections.abc import Iterator

_COUNTED = """
    SELECT (SELECT records FROM sessions WHERE session = ?), (SELECT COUNT(*) FROM records WHERE session = ?)"""
_WORTH = 0.75  # compressed pieces are used if they are no longer than this share


class Tables(RemovalTables):
    """The part of a store that both databases share; `Database` has the arguments."""

    def learn(self, name: str, value: str) -> None:
        """Keep a small fact under a name; the newest counts."""

        def keep() -> None:
            with self._writing() as execute:
                now = self._now(execute)
                execute("DELETE FROM learned WHERE name = ?", (name,))
                execute("INSERT INTO learned VALUES (?, ?, ?)", (name, value, now))

        self._lasting(keep)

    def learned(self, name: str) -> tuple[str, float] | None:
        """Return what was kept under a name, and when, in seconds since 1970; None if nothing was."""
        rows = self._read("SELECT value, at FROM learned WHERE name = ?", (name,))
        return (str(rows[0][0]), float(rows[0][1])) if rows else None

    def size(self) -> Size:
        """Return how full the store is."""
        handles = self._read("SELECT COUNT(*) FROM handles WHERE gone = ''")[0][0]
        total, stored = self._read("SELECT COALESCE(SUM(bytes), 0), COALESCE(SUM(stored_bytes), 0) FROM contents")[0]
        objects = self._read("SELECT COALESCE(SUM(stored_bytes), 0) FROM contents WHERE place LIKE ?", ("%://%",))[0][0]
        sessions, records, journal_bytes = self._read(
            "SELECT COUNT(*), COALESCE(SUM(records), 0), COALESCE(SUM(bytes), 0) FROM sessions"
        )[0]
        return Size(
            artifacts=int(handles),
            bytes=int(total),
            stored_bytes=int(stored),
            limit_bytes=self.limit_bytes,
            records=int(records),
            sessions=int(sessions),
            journal_bytes=int(journal_bytes),
            index_bytes=self._cache_bytes() + self._summary_bytes(),
            object_bytes=int(objects),
        )

    def prune(self) -> Pruned:
        """Remove what has expired or exceeds the limit, and compress the rest if that saves a quarter."""
        before = self.size()
        with self._writing() as execute:
            expired, places = self._expire(execute)
            dropped = 0
            if before.used_bytes > self.limit_bytes:
                count = int(execute("SELECT COUNT(*) FROM handles WHERE gone = ''")[0][0])
                with suppress(StoreFault):  # `full`: the rest is in use by sessions, which `collect` removes
                    places += self._make_room(execute, 0)
                dropped = count - int(execute("SELECT COUNT(*) FROM handles WHERE gone = ''")[0][0])
            places += self._leftovers(execute)
        self._remove_places(places)
        # Each in its own transaction, so that others can write in between.
        compressed = sum(
            self._compress(str(digest))
            for digest, place in self._read(
                "SELECT digest, place FROM contents WHERE stored_bytes = bytes AND bytes > 0"
            )
            if not is_object(str(place))  # it would be read whole over the network, and written again
        )
        freed = before.stored_bytes - self.size().stored_bytes
        return Pruned(expired=expired, dropped=dropped, compressed=compressed, freed_bytes=freed)

    def _compress(self, digest: str) -> bool:
        """Compress content if that saves enough, and return whether it did. Damaged content is left alone: `check` names it."""
        try:
            return self._compressed(digest)
        except Damaged:
            return False

    def _compressed(self, digest: str) -> bool:
        """Compress content if that saves enough, and return whether it did. Raises `Damaged`."""
        _, place, total, _, _, packed, _ = self._content(digest)
        layout = pieces.PieceLayout(digest, place, total, pieces.unpack(packed))
        # Its first piece stands for all: a gigabyte that does not shrink costs a quarter of a megabyte at each pruning.
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
                # It may have been removed, or compressed by another process, while this one read it.
                found = execute("SELECT * FROM contents WHERE digest = ? AND place = ?", (digest, place))
                if not found:
                    return False
                _, _, bytes_, _, lines, _, _ = found[0]
                content = pieces.Content(digest=digest, bytes=bytes_, lines=lines, pieces=tuple(entries))
                new = self._publish(execute, Staged(staged, content))
                staged = ""
                self._delete(execute, digest)
                self._insert(execute, content, new)
                removed = [place]
        finally:
            if staged:
                self._discard(staged)
        with self._lock:
            self._layouts.pop(digest, None)
        self._remove(removed)
        return True

    def check(self) -> list[Damage]:
        """Read everything and report whatever is not what was written; nothing is changed."""
        found = [Damage(what="database", name=self.url, reason=reason) for reason in self._database_damage()]
        for look in (self._check_total, self._check_sessions, self._check_handles, self._check_contents):
            try:
                found += look()
            except StoreFault as fault:  # the database cannot be read further
                found.append(Damage(what="database", name=self.url, reason=fault.message))
        return found

    def _check_total(self) -> list[Damage]:
        if self._read(
            "SELECT 1 FROM totals WHERE content_bytes = (SELECT COALESCE(SUM(stored_bytes), 0) FROM contents)"
        ):
            return []
        return [Damage(what="database", name=self.url, reason="the sum of what contents take is not what they take")]

    def _check_sessions(self) -> list[Damage]:
        found = []
        sessions = {str(name) for (name,) in self._read("SELECT DISTINCT session FROM records")}
        if self._lost is not None:  # possibly with all its records
            sessions.add(self._lost[0])
        for session in sorted(sessions):
            try:
                records = sum(1 for _ in self.events(session))
                # In one statement: another process may add to the session or remove it at any time.
                ((listed, there),) = self._read(_COUNTED, (session, session))
                if (listed or 0) != there:
                    reason = "its entry in the list of sessions is not what was written"
                    found.append(Damage(what="record", name=session, reason=reason, newest_sound=str(records - 1)))
            except ToolError:  # it was removed meanwhile
                continue
            except Damaged as damage:
                sound = None if damage.newest_sound is None else str(damage.newest_sound)
                found.append(Damage(what="record", name=session, reason=damage.message, newest_sound=sound))
        return found

    def _check_handles(self) -> list[Damage]:
        looked = [self._check_handle(HandleRow(*row)) for row in self._read("SELECT * FROM handles")]
        found = [broken for broken in looked if broken is not None]
        for digest, *row, seal in self._read("SELECT digest, secrets, hidden, seal FROM marks"):
            if seal_of(digest, *row) != seal:
                names = self._read("SELECT handle FROM handles WHERE digest = ? AND gone = ''", (digest,))
                reason = "its mark is not what was written: what it holds of secrets is not known"
                found += [Damage(what="artifact", name=str(name), reason=reason) for (name,) in names]
        return found

    def _check_contents(self) -> list[Damage]:
        found = []
        for (digest,) in self._read("SELECT digest FROM contents"):
            reason = self._check_content(str(digest))
            if reason:
                names = self._read("SELECT handle FROM handles WHERE digest = ? AND gone = ''", (digest,))
                found += [Damage(what="artifact", name=str(name), reason=reason) for (name,) in names]
        return found

    def _check_handle(self, row: HandleRow) -> Damage | None:
        if row.sealed() != row.seal:
            return Damage(what="artifact", name=row.handle, reason="its entry is not what was written")
        if row.gone or self._read("SELECT 1 FROM contents WHERE digest = ?", (row.digest,)):
            return None
        # Both go in one transaction: a handle that is still there has lost its content, and was not removed meanwhile.
        if not self._read("SELECT 1 FROM handles WHERE handle = ? AND gone = ''", (row.handle,)):
            return None
        return Damage(what="artifact", name=row.handle, reason="its content is missing")

    def _check_content(self, digest: str) -> str:
        """Return what is wrong with a content ("" for nothing): its entry, each piece, and its SHA-256 as a whole."""
        try:
            _, place, total, _, _, packed, _ = self._content(digest)
        except Damaged as damage:
            return damage.message
        layout = pieces.PieceLayout(digest, place, total, pieces.unpack(packed))
        # The checksums of pieces have 32 bits; the digest is the name of the content, and is decisive.
        whole = hashlib.sha256()
        for number in range(len(layout.pieces)):
            try:
                data = self._plain(layout, number)
            except StoreFault as fault:
                if not is_object(place):
                    raise
                return fault.message  # only this one: others may lie with the tables, and are checked
            if data is None:
                return f"bytes from {number * pieces.PIECE_BYTES} on are not what was written"
            whole.update(data)
        return "" if whole.hexdigest() == digest else "its SHA-256 differs"

"""How are artifacts added, and which of them go? New ones get a handle; expired ones go, and the oldest when room is needed.

Law: a handle is given out only after its content is durable; what is removed leaves a tombstone; what a session refers to, or a
running one is about to, stays. Leaves to others: what is removed early, and for good (`removal`).
"""

from __future__ import annotations

import secrets
import string
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, overload

from penstock.errors import CallerError
from penstock.store import pieces
from penstock.store.artifacts import ArtifactTables, HandleRow, expired, seal_of
from penstock.store.database import Staged
from penstock.store.kept import Damaged, Handle, StoreFault
from penstock.store.marks import ContentMark, SecretWatch
from penstock.text import escape
from penstock.text.redaction import redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from penstock.store.database import Execute
    from penstock.store.pieces import Content

# A handle is a key to its content, for every client of a database: it must not be guessable.
_LETTERS = string.ascii_letters + string.digits
_HANDLE_LETTERS = 22  # 130 bits
# The size of one transaction of several contents: other writers wait for it, five seconds at most, and a disk needs some ten
# milliseconds for a flush.
_BATCH_CONTENTS = 128
_BATCH_BYTES = 8 << 20
_LOOSE_ROWS = 100
# How many artifacts a process may hold that no record names: many times what a turn makes. One that never names what it puts would
# else hold all of it.
_MOST_UNNAMED = 1_000
_TOMBSTONES = 10_000  # handles that are gone and still say so


class KeepingTables(ArtifactTables):
    """Artifacts in the tables of a database, as they come and go; `Database` and `ContentPlaces` have the arguments."""

    def put(
        self,
        content: bytes | Iterable[bytes],
        *,
        name: str = "",
        kind: str = "text",
        life_seconds: float | None = None,
    ) -> Handle:
        """Keep `content` and return its handle, once it would survive a power cut; for the arguments see `Store.put`."""
        _expect_bytes(content)
        life = self.life_seconds if life_seconds is None else life_seconds
        name, kind = self._shown_name(name), self._shown_kind(kind)
        watch = SecretWatch(hides=self.keeps_redacted)
        content = self._watched(content, watch)
        staged: Staged | None = None
        removed: list[str] = []
        try:
            # Bytes in memory are hashed first: then the same result again, which is common, costs a look-up and no write. A stream
            # can be read only once, so it is written before anybody knows whether it is new.
            measured = pieces.measure(content) if isinstance(content, bytes) else None
            if measured is None or not self._read("SELECT 1 FROM contents WHERE digest = ?", (measured.digest,)):
                staged = self._staged_as(content, measured, watch)
                measured = staged.content
            # Written outside the transaction, which is then short: others wait for rows and not for gigabytes.
            written = staged or (content, measured)
            handle, is_published = self._lasting(partial(self._keep, written, watch, (name, kind, life), removed))
            if is_published:
                staged = None
        finally:
            if staged is not None:
                self._discard_staged(staged.place)
        self._remove_places(removed)
        return handle

    def _keep(
        self,
        written: Staged | tuple[bytes | Iterable[bytes], Content],
        watch: SecretWatch,
        named: tuple[str, str, float],
        removed: list[str],
    ) -> tuple[Handle, bool]:
        """Give a content a handle in one transaction; return the handle, and whether what was written now counts.

        Args:
            written: What was staged; or bytes that were there a moment ago, with their measures.
            watch: What has looked for secrets in it.
            named: Its name, its kind and how long it lives.
            removed: Takes the places that were emptied to make room.
        """
        name, kind, life = named
        with self._writing() as execute:
            content, measured = written
            # Checked again, under the lock: another process may have put or pruned the same content since.
            is_new = not execute("SELECT 1 FROM contents WHERE digest = ?", (measured.digest,))
            if is_new:
                removed += self._make_room(execute, measured.stored_bytes)
                if isinstance(written, Staged):
                    place = self._publish_staged(execute, written)
                else:  # it was pruned in between
                    assert isinstance(content, bytes)  # noqa: S101 - only those are measured before
                    self._look(content, watch)
                    (place,) = self._write(execute, [(content, measured)])
                self._insert(execute, measured, place)
                self._insert_mark(execute, measured.digest, watch.mark)
            asked = _Asked(measured.digest, name, kind, now := self._now(execute), now + life)
            handle = _handle_there(execute, asked) or _new_named(execute, _next_number(execute), asked)
            self._hold_unnamed(execute, [handle])
            return handle, is_new

    def put_many(
        self, contents: Iterable[tuple[bytes, str]], *, kind: str = "text", life_seconds: float | None = None
    ) -> list[Handle]:
        """Keep several contents, each with its name, and return their handles in order; for the arguments see `Store.put_many`."""
        handles: list[Handle] = []
        for batch in _batches(contents, self._is_large):
            handles += self._put_batch(batch, kind, life_seconds)
        return handles

    def _put_batch(self, batch: list[tuple[bytes, str]], kind: str, life_seconds: float | None) -> list[Handle]:
        """Keep some contents in one transaction: all of them, or none."""
        if len(batch) == 1:
            content, name = batch[0]
            return [self.put(content, name=name, kind=kind, life_seconds=life_seconds)]
        life, kind = self.life_seconds if life_seconds is None else life_seconds, self._shown_kind(kind)
        named: list[tuple[Content, str]] = []
        given: dict[str, tuple[bytes, Content, SecretWatch]] = {}
        for plain, name in batch:
            watch = SecretWatch(hides=self.keeps_redacted)
            content = self._watched(plain, watch)
            measured = pieces.measure(content)
            named.append((measured, self._shown_name(name)))
            given[measured.digest] = (content, measured, watch)
        # Searched for secrets here, so that others wait for the transaction only.
        for digest in _unknown(self._read, given):
            self._look(*given[digest][::2])
        removed: list[str] = []
        handles = self._lasting(partial(self._keep_batch, given, named, (kind, life), removed))
        self._remove_places(removed)
        return handles

    def _keep_batch(
        self,
        given: dict[str, tuple[bytes, Content, SecretWatch]],
        named: list[tuple[Content, str]],
        kept: tuple[str, float],
        removed: list[str],
    ) -> list[Handle]:
        """Give some contents their handles in one transaction.

        Args:
            given: The contents by digest, each with its measures and what looks for secrets in it.
            named: The measures of each, with its name.
            kept: Their kind, and how long they live.
            removed: Takes the places that were emptied to make room.
        """
        kind, life = kept
        with self._writing() as execute:
            new = _unknown(execute, given)
            if new:
                wanted = sum(given[digest][1].stored_bytes for digest in new)
                # Content that already exists and is named by this batch stays: its handle is given out below.
                removed += self._make_room(execute, wanted, frozenset(given))
                # Checked again: expired content has just been removed, and is added again without needing more room than it freed.
                new = _unknown(execute, given)
                places = self._write(execute, [given[digest][:2] for digest in new])
                for digest, place in zip(new, places, strict=True):
                    content, measured, watch = given[digest]
                    self._look(content, watch)
                    self._insert(execute, measured, place)
                    self._insert_mark(execute, digest, watch.mark)
            now, number = self._now(execute), _next_number(execute)
            # New content has no handles yet, except those that this batch gives out.
            without = set(new)
            handles: list[Handle] = []
            for measured, name in named:
                asked = _Asked(measured.digest, name, kind, now, now + life)
                handle = None if measured.digest in without else _handle_there(execute, asked)
                if handle is None:
                    handle, number = _new_named(execute, number, asked), number + 1
                handles.append(handle)
                without.discard(measured.digest)
            self._hold_unnamed(execute, handles)
            return handles

    def _hold_unnamed(self, execute: Execute, handles: Iterable[str]) -> None:
        """Keep artifacts from being taken before a record names them, if this store works on a session."""
        if not self._worked_on:
            return
        for handle in handles:
            execute("INSERT INTO unnamed VALUES (?, ?) ON CONFLICT DO NOTHING", (handle, self._own_holder()))
            self._unnamed[handle] = None
        for handle in list(self._unnamed)[:-_MOST_UNNAMED]:
            self._delete_unnamed(execute, handle)
            del self._unnamed[handle]

    def _delete_unnamed(self, execute: Execute, handle: str) -> None:
        execute("DELETE FROM unnamed WHERE handle = ? AND holder = ?", (handle, self._own_holder()))

    def _held_unnamed(self, execute: Execute) -> set[str]:
        """Return the artifacts that a living process works with and no record names yet."""
        rows = execute("SELECT handle, holder FROM unnamed")
        own = self._own_holder()
        held = {
            holder for holder in {str(holder) for _, holder in rows} if holder == own or self._is_held(execute, holder)
        }
        return {str(handle) for handle, holder in rows if holder in held}

    def _insert(self, execute: Execute, content: Content, place: str) -> None:
        """Add the row of a content that is at a place."""
        row = (content.digest, place, content.bytes, content.stored_bytes, content.lines)
        packed = pieces.pack(content.pieces)
        execute("INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, packed, seal_of(*row, packed)))
        execute("UPDATE totals SET content_bytes = content_bytes + ?", (content.stored_bytes,))

    def _delete(self, execute: Execute, digest: str) -> list[str]:
        """Delete the row of a content, and return its place."""
        found = execute("SELECT place, stored_bytes FROM contents WHERE digest = ?", (digest,))
        execute("DELETE FROM contents WHERE digest = ?", (digest,))
        for _, stored in found:
            execute("UPDATE totals SET content_bytes = content_bytes - ?", (stored,))
        places = [str(place) for place, _ in found]
        self._loosen(execute, places)
        return places

    def _insert_mark(self, execute: Execute, digest: str, mark: ContentMark) -> None:
        """Record which secrets a content holds, together with the row of the content."""
        row = (digest, mark.to_json(), mark.hidden)
        execute("INSERT INTO marks VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", (*row, seal_of(*row)))

    def _shown_name(self, name: str) -> str:
        return escape.clip(redacted(name) if self.keeps_redacted else name)

    def _shown_kind(self, kind: str) -> str:
        return escape.clip(redacted(kind) if self.keeps_redacted else kind, 64)

    @overload
    def _watched(self, content: bytes, watch: SecretWatch) -> bytes: ...

    @overload
    def _watched(self, content: bytes | Iterable[bytes], watch: SecretWatch) -> bytes | Iterable[bytes]: ...

    def _watched(self, content: bytes | Iterable[bytes], watch: SecretWatch) -> bytes | Iterable[bytes]:
        """Return content as it is to be kept, watched for secrets as it passes; `_look` scans bytes that stay whole."""
        if not isinstance(content, bytes):
            return watch.passed(content)
        return b"".join(watch.passed(content)) if self.keeps_redacted else content

    def _look(self, content: bytes, watch: SecretWatch) -> None:
        """Scan new bytes for secrets, once."""
        if not watch.is_done:
            watch.look(content)

    def _staged_as(
        self,
        content: bytes | Iterable[bytes],
        measured: Content | None,
        watch: SecretWatch,
    ) -> Staged:
        """Write content; what was measured is not measured again."""
        if measured is None or not isinstance(content, bytes):
            return self._stage_stream((content,) if isinstance(content, bytes) else content, self.limit_bytes)
        if measured.bytes > self.limit_bytes:
            raise StoreFault("full", f"More than the {self.limit_bytes} bytes that {self.url} may hold.")
        self._look(content, watch)
        return self._stage_bytes(content, measured)

    def _make_room(self, execute: Execute, wanted: int, spared: frozenset[str] = frozenset()) -> list[str]:
        """Remove expired artifacts, then the oldest unreferenced ones, until `wanted` bytes fit; return the places to remove.

        Args:
            execute: The transaction.
            wanted: The bytes that have to fit.
            spared: Digests of contents that are not removed to make room.

        Raises:
            StoreFault: `full`: what is left is in use by sessions. The transaction rolls back the removals.
        """
        _, places = self._expire(execute)
        used = used_bytes(execute)
        if used + wanted <= self.limit_bytes:
            return places
        # Room is freed by content and not by handles: several may lead to one content, which is removed with the last of them.
        left: dict[str, int] = {}
        dropped = []
        unnamed = self._held_unnamed(execute)
        for handle, digest, stored in _loose_by_age(execute):
            if digest in spared or handle in unnamed:
                continue
            if digest not in left:
                left[digest] = int(
                    execute("SELECT COUNT(*) FROM handles WHERE digest = ? AND gone = ''", (digest,))[0][0]
                )
            dropped.append(handle)
            left[digest] -= 1
            if not left[digest]:  # other handles of the same content keep it
                used -= stored
            if used + wanted <= self.limit_bytes:
                break
        else:
            raise self._full(used, wanted)
        return places + self._give_up(execute, dropped, "it was the oldest when room was needed")

    def _full(self, used: int, wanted: int) -> StoreFault:
        """Return the fault of a store that has no room for that many bytes, with the command that makes room."""
        said = (
            f"The store is full: {used} of its {self.limit_bytes} bytes are in use by sessions, {wanted} were wanted."
        )
        if wanted < self.limit_bytes:
            gc = f"penstock store gc --max-bytes {self.limit_bytes - wanted}{self._command_option()}"
            said += f" `{gc}` removes the sessions that were used longest ago; with --dry-run it says which."
        return StoreFault("full", f"{said} PENSTOCK_STORE_LIMIT_BYTES sets another limit.")

    def _expire(self, execute: Execute) -> tuple[int, list[str]]:
        """Mark expired handles as gone; return how many, and the places to remove."""
        # What a living process holds and no record names yet expires like the rest, though it is spared where room is made: a
        # gateway lives for months, and what it keeps is promised an end.
        now = self._now(execute)
        # A referenced handle stays so until it is gone. So handles that had expired at the last sweep and still exist need not be
        # checked again: thousands of old sessions would make every `put` slow.
        ended = execute(
            "SELECT handle, EXISTS (SELECT 1 FROM refs r WHERE r.handle = h.handle) FROM handles h "
            "WHERE gone = '' AND expires > (SELECT swept FROM clock) AND expires <= ?",
            (now,),
        )
        if not ended:
            return 0, []
        execute("UPDATE clock SET swept = ?", (now,))
        expired = [handle for handle, is_referenced in ended if not is_referenced]
        places = self._give_up(execute, expired, "its time was over")
        # The newest 10,000 gone handles stay, to tell `expired` from `not_found`.
        execute(
            "DELETE FROM handles WHERE gone <> '' AND number < (SELECT MAX(number) FROM handles) - ?", (_TOMBSTONES,)
        )
        return len(expired), places

    def reset_clock(self, *, is_dry_run: bool = False) -> tuple[float, float]:
        """Set the store's time to the clock's, and what was kept later than that to now; `Store.reset_clock` says more."""
        with self._writing() as execute:
            before, now = float(execute("SELECT last_seen FROM clock")[0][0]), self._clock()
            if is_dry_run:
                return before, now
            for found in execute("SELECT * FROM handles WHERE gone = '' AND created > ?", (now,)):
                row = HandleRow(*found)
                if row.sealed() != row.seal:  # damaged: it is not sealed anew
                    continue
                row = row._replace(created=now, expires=now + row.expires - row.created)
                change = (row.created, row.expires, row.sealed(), row.handle)
                execute("UPDATE handles SET created = ?, expires = ?, seal = ? WHERE handle = ?", change)
            execute("UPDATE sessions SET at = ? WHERE at > ?", (now, now))
            execute("UPDATE loose_objects SET since = ? WHERE since > ?", (now, now))
            execute("UPDATE clock SET last_seen = ?", (now,))
            execute("UPDATE clock SET swept = ? WHERE swept > ?", (now, now))
        return before, now

    def _give_up(self, execute: Execute, handles: list[str], why: str) -> list[str]:
        """Mark handles as gone, with the reason that whoever asks for them will read; return the places to remove."""
        digests: dict[str, None] = {}
        for handle in handles:
            row = HandleRow(*execute("SELECT * FROM handles WHERE handle = ?", (handle,))[0])._replace(gone=why)
            execute("UPDATE handles SET gone = ?, seal = ? WHERE handle = ?", (why, row.sealed(), handle))
            digests[row.digest] = None
        return self._sweep(execute, digests)

    def _sweep(self, execute: Execute, digests: Iterable[str]) -> list[str]:
        """Remove those of the contents that no handle leads to, and return their places."""
        places: list[str] = []
        for digest in digests:
            if execute("SELECT 1 FROM handles WHERE digest = ? AND gone = '' LIMIT 1", (digest,)):
                continue
            places += self._delete(execute, digest)
            execute("DELETE FROM marks WHERE digest = ?", (digest,))
            self._layouts.pop(digest, None)
        return places

    def _refer(self, execute: Execute, session: str, seq: int, handle: str) -> None:
        """Record that a record refers to an artifact, which must exist. Raises `CallerError`, `ToolError` and `Damaged`."""
        found = execute("SELECT * FROM handles WHERE handle = ?", (str(handle),))
        if not found and handle in self._unnamed:  # no mistake of the caller: the handle is one that we gave out
            raise Damaged(
                f"Session {session}: artifact {handle} was kept, and {self.url} has none of that name: another server has taken "
                "over without the newest."
            )
        if not found:
            raise CallerError(f"There is no artifact {escape.clip(handle, 64)} to refer to.")
        row = HandleRow(*found[0])
        # An artifact that another record refers to still exists, whatever its expiry.
        held = execute("SELECT 1 FROM refs WHERE handle = ? LIMIT 1", (handle,))
        if row.gone or (row.expires <= self._now(execute) and not held):
            raise expired(row.handle, row.gone or "its time was over")
        execute("INSERT INTO refs VALUES (?, ?, ?)", (session, seq, row.handle))
        self._delete_unnamed(execute, row.handle)


def _new_handle() -> str:
    """Return unguessable letters; one draw for all of them, because each draw asks the system."""
    drawn, letters = secrets.randbelow(len(_LETTERS) ** _HANDLE_LETTERS), []
    for _ in range(_HANDLE_LETTERS):
        drawn, at = divmod(drawn, len(_LETTERS))
        letters.append(_LETTERS[at])
    return "".join(letters)


def _batches(
    contents: Iterable[tuple[bytes, str]], is_large: Callable[[int], bool]
) -> Iterator[list[tuple[bytes, str]]]:
    """Yield contents, with their names, as many at a time as fit into one transaction; large ones go alone."""
    batch: list[tuple[bytes, str]] = []
    size = 0
    for content, name in contents:
        goes_alone = is_large(len(content))
        if batch and (goes_alone or len(batch) == _BATCH_CONTENTS or size + len(content) > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        if goes_alone:
            yield [(content, name)]
            continue
        batch.append((content, name))
        size += len(content)
    if batch:
        yield batch


def used_bytes(execute: Execute) -> int:
    """Return what counts against the limit: contents and journals."""
    return int(execute("SELECT content_bytes FROM totals")[0][0]) + int(
        execute("SELECT COALESCE(SUM(bytes), 0) FROM sessions")[0][0]
    )


def _loose_by_age(execute: Execute) -> Iterator[tuple[str, str, int]]:
    """Yield unreferenced handles, each with its content and the content's size, in order of arrival.

    Ordered by number and not by time, and never what a session refers to: it could not be resumed without it. Fetched in small
    batches: little is removed at a time.
    """
    number = 0
    while rows := execute(
        "SELECT h.handle, h.digest, c.stored_bytes, h.number FROM handles h JOIN contents c ON c.digest = h.digest "
        "WHERE h.gone = '' AND h.number > ? AND NOT EXISTS (SELECT 1 FROM refs r WHERE r.handle = h.handle) "
        "ORDER BY h.number LIMIT ?",
        (number, _LOOSE_ROWS),
    ):
        for handle, digest, stored, _ in rows:
            yield str(handle), str(digest), int(stored)
        number = int(rows[-1][3])


class _Asked(NamedTuple):
    """A request for a handle: a content under a name, from now on until it expires."""

    digest: str
    name: str
    kind: str
    now: float
    expires: float


def _handle_there(execute: Execute, asked: _Asked) -> Handle | None:
    """Return this content's handle under this name, whose life begins anew; None if it has none."""
    # The same result gets the same notice, so that a provider's prompt cache holds and a loop of equal calls is visible.
    known = execute(
        "SELECT * FROM handles WHERE digest = ? AND name = ? AND kind = ? AND gone = '' AND expires > ?", asked[:-1]
    )
    if not known:
        return None
    row = HandleRow(*known[0])
    row = row._replace(expires=max(row.expires, asked.expires))
    execute("UPDATE handles SET expires = ?, seal = ? WHERE handle = ?", (row.expires, row.sealed(), row.handle))
    return Handle(row.handle)


def _new_named(execute: Execute, number: int, asked: _Asked) -> Handle:
    """Return a new handle for a content under a name."""
    row = HandleRow(_new_handle(), number, *asked, "", "")
    execute("INSERT INTO handles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row._replace(seal=row.sealed()))
    return Handle(row.handle)


def _expect_bytes(content: object) -> None:
    """Raise a `CallerError` for a text, whose letters would else be taken for the parts of a content."""
    if isinstance(content, str):
        raise CallerError("a store keeps bytes, not a text: encode it, content.encode()")


def _unknown(execute: Execute, digests: Iterable[str]) -> list[str]:
    """Return those of the digests that the tables do not hold."""
    asked = [*digests]
    marks = ", ".join("?" * len(asked))
    held = {digest for (digest,) in execute(f"SELECT digest FROM contents WHERE digest IN ({marks})", asked)}  # noqa: S608 - question marks alone
    return [digest for digest in asked if digest not in held]


def _next_number(execute: Execute) -> int:
    """Return the number of the next new handle."""
    return int(execute("SELECT COALESCE(MAX(number), 0) + 1 FROM handles")[0][0])

"""Where does a content lie? In the tables or, if it is large and there is a bucket, as an object.

An object has no transaction, so the tables record every object that no content names: from before its first byte until it is
published, and from the moment its content is deleted until it is gone. So a kill at any point leaves an object that is listed in
`loose_objects`, and nobody ever has to list a bucket, which another store may share. Laws: every object is named by a content or is
loose; a loose object is removed by its writer, by whoever deleted the content, or by a later pruning; a condemned one is never
published. Nothing waits for a bucket inside a transaction. Leaves to others: what an object is (`objects`), and where the tables
keep contents (`contents`, `postgres`).
"""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

from penstock.store import pieces
from penstock.store.database import Database, Staged
from penstock.store.kept import StoreFault
from penstock.store.objects import ObjectWriter, is_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.store.database import Execute
    from penstock.store.objects import ObjectStorage
    from penstock.store.pieces import Content

# A writer that has been silent for so long is considered dead, as with rows of PostgreSQL. One that continues nevertheless finds
# its object condemned, and fails.
_WRITING_SECONDS = 86_400.0
_CONDEMNED = -1.0  # in place of the time since which an object is loose; the store's time begins with 0


class ContentPlaces(Database):
    """A database with an object store; `Database` has the other arguments.

    Args:
        objects: Where large contents lie; None keeps everything with the tables.
    """

    def __init__(self, *, objects: ObjectStorage | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._objects = objects

    def _object_facts(self) -> dict[str, str]:
        """Return where objects lie, and from which size contents become objects; nothing without an object store."""
        if self._objects is None:
            return {}
        return {"objects": f"{self._objects.url} (from {self._objects.large_bytes} bytes on)"}

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _is_large(self, size_bytes: int) -> bool:
        """Return whether a content of that size becomes an object."""
        return self._objects is not None and size_bytes >= self._objects.large_bytes

    def _stage_stream(self, content: Iterable[bytes], limit_bytes: int) -> Staged:
        """Write content of unknown size: its beginning is held until it proves large, or ends."""
        if self._objects is None:
            return self._stage(content, limit_bytes)
        coming = iter(content)
        head: list[bytes] = []
        held_bytes = 0
        for part in coming:
            head.append(part)
            held_bytes += len(part)
            if self._is_large(held_bytes):
                return self._stage_object(self._objects, chain(head, coming), limit_bytes)
        return self._stage(head, limit_bytes)

    def _stage_bytes(self, content: bytes, measured: Content) -> Staged:
        """Write content that was measured."""
        if self._objects is None or not self._is_large(measured.bytes):
            return Staged(self._stage_pieces(pieces.cut(content)), measured)
        return self._stage_object(self._objects, content, measured.bytes, measured)

    def _stage_object(
        self,
        objects: ObjectStorage,
        content: bytes | Iterable[bytes],
        limit_bytes: int,
        measured: Content | None = None,
    ) -> Staged:
        """Write an object, at most `limit_bytes` of it; it is loose until it is published."""
        place = objects.new_place()

        def mark() -> None:
            with self._appending() as execute:
                execute("INSERT INTO loose_objects VALUES (?, ?) ON CONFLICT DO NOTHING", (place, self._now(execute)))

        self._lasting(mark)  # first, and durable before the first byte is sent
        writer = ObjectWriter(objects, place)
        left = limit_bytes

        def write(piece: bytes) -> None:
            nonlocal left
            left -= len(piece)
            if left < 0:
                raise StoreFault("full", f"More than the {limit_bytes} bytes that {self.url} may hold.")
            writer.write(piece)

        try:
            if measured is None:
                measured = pieces.intake(content, write)
            else:
                for piece in pieces.cut(content):
                    write(piece)
            writer.close()
        except BaseException:
            self._discard_staged(place)
            raise
        return Staged(place, measured)

    def _publish_staged(self, execute: Execute, staged: Staged) -> str:
        """Make staged content permanent, as part of the transaction that inserts its row, and return its final place.

        Raises:
            StoreFault: `raced`: it was condemned meanwhile, as one that nobody writes any more.
        """
        place = staged.place
        if not is_object(place):
            return self._publish(execute, staged)
        if not execute("SELECT 1 FROM loose_objects WHERE place = ? AND since > ?", (place, _CONDEMNED)):
            raise self._given_up()
        execute("DELETE FROM loose_objects WHERE place = ?", (place,))
        return place

    def _given_up(self) -> StoreFault:
        """Return the fault of content that a pruning took for that of a dead writer."""
        return StoreFault("raced", f"{self.url}: the content took longer than a day to come, and was given up.")

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _stored_piece(self, place: str, number: int, start: int, count: int) -> bytes | None:
        """Return a piece as it is stored; None if there is none. Raises `StoreFault`."""
        if not is_object(place):
            return self._stored(place, number, start, count)
        if self._objects is None or not self._objects.holds(place):
            raise StoreFault("unreachable", _elsewhere(place))
        return self._objects.read(place, start, count)

    # ── removing ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _loosen(self, execute: Execute, places: Iterable[str]) -> None:
        """Condemn the objects among the places of contents that are deleted in this transaction."""
        for place in filter(is_object, places):
            execute("INSERT INTO loose_objects VALUES (?, ?)", (place, _CONDEMNED))

    def _check_in_reach(self, places: Sequence[str]) -> None:
        """Raise `StoreFault` (unreachable) for objects that could not be removed for good; this rolls the transaction back."""
        for place in filter(is_object, places):
            if self._objects is None or not self._objects.holds(place):
                raise StoreFault("unreachable", _elsewhere(place))

    def _leftovers(self, execute: Execute) -> list[str]:
        """Return places that no content names and that nobody is writing; objects among them are condemned."""
        return self._orphans(execute) + self._loose_objects(execute)

    def _loose_objects(self, execute: Execute) -> list[str]:
        if self._objects is None:
            return []
        before = max(_CONDEMNED, self._now(execute) - _WRITING_SECONDS)
        found = execute("SELECT place FROM loose_objects WHERE since <= ?", (before,))
        places = [str(place) for (place,) in found if self._objects.holds(str(place))]
        for place in places:
            execute("UPDATE loose_objects SET since = ? WHERE place = ?", (_CONDEMNED, place))
        return places

    def _discard_staged(self, place: str) -> None:
        """Remove what was staged and is not wanted; what cannot be reached now is removed by a later pruning."""
        if not is_object(place):
            self._discard(place)
            return
        with suppress(StoreFault):
            with self._writing() as execute:
                # A writer that never learned whether its transaction was committed comes here too: what is published stays.
                if execute("SELECT 1 FROM contents WHERE place = ?", (place,)):
                    return
                # It may have been removed as a dead writer's, and then have grown again: so the row is replaced, not updated.
                execute("DELETE FROM loose_objects WHERE place = ?", (place,))
                self._loosen(execute, [place])
            self._remove_places([place])

    def _remove_places(self, places: list[str], *, for_good: bool = False) -> None:
        """Remove content, after the transaction that deleted its row.

        Args:
            places: Of files, rows and objects.
            for_good: Whether to report what cannot be removed now: a later pruning removes it.

        Raises:
            StoreFault: Some of it is still there, if that is reported.
        """
        left = self._remove([place for place in places if not is_object(place)])
        objects = self._objects
        for place in filter(is_object, places):
            if objects is None or not objects.holds(place):
                continue
            try:
                if self._read("SELECT 1 FROM loose_objects WHERE place = ? AND since <= ?", (place, _CONDEMNED)):
                    objects.remove(place)
                    with self._appending() as execute:
                        execute("DELETE FROM loose_objects WHERE place = ?", (place,))
            except StoreFault as fault:
                left = fault
        if left is not None and for_good:
            gc = f"penstock store gc{self._command_option()}"
            said = f"{left.message} What was removed is still there: `{gc}` takes it away later."
            raise StoreFault(left.code, said) from left


def _elsewhere(place: str) -> str:
    """Return the message for an object in a bucket that this store was not opened with."""
    root = place.rpartition("/")[0]
    return f"This artifact is in {root}, which the store was opened without: set PENSTOCK_STORE_OBJECTS={root}"

"""How is an artifact found and read? By its handle, which leads to a content, which lies in pieces.

Every row whose change could do harm carries a seal. Law: what is read is what was written, or a fault that says so; a handle whose
artifact was removed says why. Leaves to others: how artifacts are added, and which of them go (`keeping`).
"""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.errors import CallerError, ToolError
from penstock.store import pieces
from penstock.store.database import capped
from penstock.store.kept import ArtifactInfo, Damaged, Handle, not_there
from penstock.store.marks import ContentMark
from penstock.store.places import ContentPlaces
from penstock.text.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.store.pieces import PieceLayout

_KEPT_LAYOUTS = 8
_KEPT_PIECES = 4
_READABLE = """
    FROM handles h JOIN contents c ON c.digest = h.digest
    WHERE h.gone = '' AND (h.expires > ? OR EXISTS (SELECT 1 FROM refs r WHERE r.handle = h.handle))"""


class HandleRow(NamedTuple):
    """A handle with its content, as the tables hold them; `gone` says why the artifact was removed, "" while it exists."""

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
        return seal_of(*self[:-1])


class ArtifactTables(ContentPlaces):
    """Artifacts in the tables of a database, as they are read; `Database` and `ContentPlaces` have the arguments."""

    def info(self, handle: str) -> ArtifactInfo:
        """Return what is known of an artifact.

        Raises:
            ToolError: `not_found`, or `expired` if it once existed.
            Damaged: Its entry is not what was written.
        """
        row = self._row(handle)
        with self._unless_gone(handle):
            content = self._content(row.digest)
        mark = _mark(self._read("SELECT * FROM marks WHERE digest = ?", (row.digest,)))
        return _info(row, content, mark, is_referenced=self._is_referenced(row.handle))

    def _row(self, handle: str) -> HandleRow:
        """Return the row of a readable handle, its seal checked. Raises `ToolError` and `Damaged`."""
        # PostgreSQL refuses a NUL in a text; without it the handle is unknown, as it should be.
        found = self._read("SELECT * FROM handles WHERE handle = ?", (str(handle).replace("\0", ""),))
        if not found:
            raise not_there(handle)
        row = HandleRow(*found[0])
        if row.sealed() != row.seal:
            raise Damaged(f"The entry of artifact {row.handle} is not what was written.")
        if row.gone:
            raise expired(row.handle, row.gone)
        if row.expires <= self._clock() and not self._is_referenced(row.handle):
            raise expired(row.handle, "its time was over")
        return row

    @contextmanager
    def _unless_gone(self, handle: str) -> Iterator[None]:
        """Tell damage from removal: between two statements another process may have removed what is read. Raises `ToolError`."""
        try:
            yield
        except Damaged:
            self._row(handle)
            raise

    def _is_referenced(self, handle: str) -> bool:
        return bool(self._read("SELECT 1 FROM refs WHERE handle = ? LIMIT 1", (handle,)))

    def _content(self, digest: str) -> tuple[Any, ...]:
        """Return the row of a content, its seal checked. Raises `Damaged`."""
        found = self._read("SELECT * FROM contents WHERE digest = ?", (digest,))
        if not found:
            raise Damaged(f"The content {digest} is missing.")
        *row, packed, seal = found[0]
        if seal_of(*row, bytes(packed)) != seal:
            raise Damaged(f"The entry of content {digest} is not what was written.")
        return (*row, bytes(packed), seal)

    def _layout(self, handle: str) -> PieceLayout:
        """Return where the pieces of an artifact are; the handle is looked up each time, since it may have expired."""
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
        """Return one uncompressed piece, checked against its checksum. Raises `Damaged`."""
        key = (layout.digest, number)
        with self._lock:
            if key in self._pieces:
                self._pieces.move_to_end(key)
                return self._pieces[key]
        data = self._plain(layout, number)
        # No lock is held between the look-up and the read, so content may have moved once in between.
        if data is None:  # compressed by another process since the look-up?
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
        """Return one uncompressed piece by this layout; None if it is missing or not what was written."""
        if number >= len(layout.pieces):
            return None
        piece = layout.pieces[number]
        stored = self._stored_piece(layout.place, number, layout.starts[number], piece.stored_bytes)
        return None if stored is None else pieces.plain(stored, piece, layout.plain_bytes(number))

    def read(self, handle: str, start_byte: int, count: int) -> bytes:
        """Return up to `count` bytes from `start_byte` on, exactly; fewer only at the end. Raises `CallerError` below 0."""
        if start_byte < 0:
            raise CallerError("start_byte is 0 or more")
        with self._unless_gone(handle):
            layout = self._layout(handle)
            return layout.read(start_byte, count, lambda number: self._piece(layout, number))

    def line_start(self, handle: str, line: int) -> int | None:
        """Return the byte at which `line` (0-based) starts; None if there is no such line."""
        with self._unless_gone(handle):
            layout = self._layout(handle)
            return layout.line_start(line, lambda number: self._piece(layout, number))

    def lines_before(self, handle: str, byte: int) -> int:
        """Return how many lines end before `byte`."""
        with self._unless_gone(handle):
            layout = self._layout(handle)
            return layout.lines_before(byte, lambda number: self._piece(layout, number))

    def artifacts(self) -> list[ArtifactInfo]:
        """Return the readable artifacts, the oldest first."""
        now = self._clock()
        referenced = {handle for (handle,) in self._read("SELECT DISTINCT handle FROM refs")}
        contents = {row[0]: row for row in self._read("SELECT * FROM contents")}
        marks = {row[0]: row for row in self._read("SELECT * FROM marks")}
        rows = map(HandleRow._make, self._read("SELECT * FROM handles WHERE gone = '' ORDER BY number"))
        return [
            _info(
                row,
                contents[row.digest],
                _mark([marks[row.digest]] if row.digest in marks else []),
                is_referenced=row.handle in referenced,
            )
            for row in rows
            if row.digest in contents and (row.expires > now or row.handle in referenced)
        ]

    def newest(self, offset: int, limit: int) -> Page[ArtifactInfo]:
        """Return a page of the readable artifacts, the newest first; `Store.newest` says more."""
        now = self._clock()
        total = int(self._read(f"SELECT COUNT(*) {_READABLE}", (now,))[0][0])
        rows = self._read(
            f"SELECT h.*, c.* {_READABLE} ORDER BY h.number DESC LIMIT ? OFFSET ?", (now, capped(limit), capped(offset))
        )
        size = len(HandleRow._fields)
        items = tuple(
            _info(
                HandleRow(*row[:size]),
                row[size:],
                _mark(self._read("SELECT * FROM marks WHERE digest = ?", (row[size],))),
                is_referenced=self._is_referenced(row[0]),
            )
            for row in rows
        )
        return Page(items, offset=offset, limit=limit, total=total, more=bool(items) and offset + len(items) < total)


def seal_of(*values: object) -> str:
    """Return a hash over the columns of a row, types and lengths included."""
    return hashlib.sha256(repr(values).encode("utf-8", "surrogatepass")).hexdigest()


def expired(handle: str, why: str) -> ToolError:
    """Return the refusal of a handle that is gone: final, with what helps."""
    return ToolError(
        "expired",
        f"Artifact {handle} is gone and cannot be read again: {why}. Call the tool that made it once more.",
    )


def _mark(rows: Sequence[tuple[Any, ...]]) -> ContentMark | None:
    """Return what a row says of the secrets of a content; None if there is none, or its seal does not match."""
    for digest, found, hidden, seal in rows:
        if seal_of(digest, found, hidden) == seal:
            return ContentMark(json.loads(found), hidden)
    return None


def _info(row: HandleRow, content: tuple[Any, ...], mark: ContentMark | None, *, is_referenced: bool) -> ArtifactInfo:
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
        secrets=None if mark is None else mark.secrets,
        hidden=0 if mark is None else mark.hidden,
    )

"""How is a kept output read back? In pages: by bytes, by lines, or by records of JSON on one line.

Results bound themselves and are never kept again. Law: following `next` from the start visits every byte once; every `next`
advances. Leaves to others: where artifacts lie (the store), and which tools there are (`tools`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ToolError
from penstock.store import StoreFault
from penstock.store.reading import Artifact, unreadable
from penstock.text import escape, notices, window
from penstock.text import fitting as guard
from penstock.text.allowance import Allowance
from penstock.text.calls import PYTHON, Call, Dialect
from penstock.text.json_records import is_one_line
from penstock.text.window import Extent, Window
from penstock.workspace import fitting
from penstock.workspace.deadline import READ_SECONDS, Deadline
from penstock.workspace.reading import DEFAULT_VIEW_LINES
from penstock.workspace.records import RecordIndexes, known_records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.outline import Symbol
    from penstock.store import Store
    from penstock.text.window import Line
    from penstock.workspace.fitting import PageRoom

_HEADER = 480  # of an allowance, initially kept free
_LOOKS = 8
_indexes = RecordIndexes()
"""Where records end in the most recently paged artifacts, by digest: content does not change, so no entry goes stale."""


class PageAnswer(NamedTuple):
    """The answer of `page`: text for the model within its allowance, and the value for scripts."""

    text: guard.Guarded
    outcome: str
    """`done`, or `partial` if the time of a call ended."""
    value: Window


def page(
    store: Store,
    handle: str,
    start_byte: int | None = None,
    max_bytes: int | None = None,
    offset: int | None = None,
    limit: int | None = None,
    *,
    allowance: Allowance | None = None,
    dialect: Dialect | None = None,
    deadline: Deadline | None = None,
) -> PageAnswer:
    """Return a page of an artifact as text with its header.

    Args:
        store: Where the artifact is.
        handle: Its handle, from the notice that named it.
        start_byte: Where the page begins, exactly; None for the beginning.
        max_bytes: How many bytes it may hold; None for 64 KiB.
        offset: Lines to skip (or records, for JSON on one line); gives a page by lines.
        limit: Lines or records of the page; None for 100 if `offset` is given.
        allowance: What the text may take with its header; None for 256 KiB.
        dialect: How the next call is written; None for Python's syntax.
        deadline: Until when it searches for records; None for 10 seconds from now.

    Raises:
        ToolError: The handle is unknown or expired, an argument is invalid, the store cannot be read, or the allowance is too small
            for a header.
    """
    allowance, dialect = allowance or Allowance.bytes(window.HARD_MAX_BYTES), dialect or PYTHON
    deadline = deadline or Deadline(READ_SECONDS)
    reserve = min(_HEADER, allowance.limit // 3)
    # The size of the header is known only when the page is cut, because it contains the page's own numbers. So a guess is reserved,
    # the page rendered, and the excess reserved as well until it fits.
    for _ in range(_LOOKS):
        room = _Room(allowance, max(1, allowance.limit - reserve))
        shown = cut(store, handle, start_byte, max_bytes, offset, limit, room=room, deadline=deadline)
        text = _render(shown, dialect)
        over = allowance.measure(text) - allowance.limit
        if over <= 0:
            return PageAnswer(guard.bounded(text), "partial" if shown.bound == "deadline" else "done", shown)
        reserve += over + 32
    raise ToolError("bad_argument", notices.over_allowance(allowance, allowance.limit + over))


def cut(
    store: Store,
    handle: str,
    start_byte: int | None = None,
    max_bytes: int | None = None,
    offset: int | None = None,
    limit: int | None = None,
    *,
    room: PageRoom | None = None,
    deadline: Deadline | None = None,
) -> Window:
    """Return a page by lines, by records of JSON on one line, or by bytes, as a value.

    A page begins exactly at `start_byte`: pages meet wherever one ended. The arguments are those of `page`; `room` is what the page
    may take once it is rendered, None for no bound but 256 KiB.

    Raises:
        ToolError: The handle is unknown or expired, an argument is invalid, or the store cannot be read.
    """
    for name, value, least in (
        ("start_byte", start_byte, 0),
        ("max_bytes", max_bytes, 0),
        ("offset", offset, 0),
        ("limit", limit, 1),
    ):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise ToolError("bad_argument", notices.argument(name, f"takes an integer from {least} on"))
    try:
        return _cut(Artifact(store, handle), start_byte, max_bytes, offset, limit, room, deadline)
    except StoreFault as fault:
        raise unreadable(fault) from fault


def _cut(
    source: Artifact,
    start_byte: int | None,
    max_bytes: int | None,
    offset: int | None,
    limit: int | None,
    room: PageRoom | None,
    deadline: Deadline | None,
) -> Window:
    """Return a page by lines if `offset` or `limit` is given (by records if it is one line of JSON), else by bytes."""
    pages = _Pages(source, room or fitting.Boundless(), deadline or Deadline(READ_SECONDS))
    if offset is None and limit is None:
        return pages.by_bytes(start_byte or 0, max_bytes)
    rest = [name for name, value in (("start_byte", start_byte), ("max_bytes", max_bytes)) if value is not None]
    said = (notices.ignored_arguments(rest, "a range of lines"),) if rest else ()
    size = DEFAULT_VIEW_LINES if limit is None else limit
    # JSON on one line has no pages by lines: its records take the place of lines.
    head = source.read(0, 64).decode("utf-8", "replace")
    if is_one_line(head, source.info.lines):
        return pages.by_records(offset or 0, size, limit, said)
    return pages.by_lines(offset or 0, size, limit, said)


class _Pages:
    """Pages of one artifact for one call."""

    def __init__(self, source: Artifact, room: PageRoom, deadline: Deadline) -> None:
        self.source = source
        self.room = room
        self.deadline = deadline
        self.encoding = source.encoding()
        self.cap = min(window.HARD_MAX_BYTES, room.cap_bytes)
        self.call = Call("page", {"handle": source.handle})

    def by_bytes(self, start_byte: int, max_bytes: int | None) -> Window:
        """Return the page that begins at `start_byte`."""
        asked = window.DEFAULT_MAX_BYTES if max_bytes is None else max_bytes
        whole, extent = self._extent(start_byte, min(asked, self.cap))
        bound = "end" if extent.end_byte >= self.source.size_bytes else "line" if extent.fragment else "max_bytes"
        if extent.end_byte < whole.end_byte:
            bound = "budget"
        said: tuple[str, ...] = ()
        if max_bytes is not None and asked > self.cap:
            said = (notices.clamped(asked, self.cap),)
        if start_byte >= self.source.size_bytes:
            said += (notices.end_of_file(self.source.size_bytes),)
        return self._window(extent, bound, self._onwards(extent.end_byte, max_bytes), said)

    def by_lines(self, offset: int, size: int, limit: int | None, said: tuple[str, ...]) -> Window:
        """Return the page of `size` lines after `offset`; `limit` is the size as requested, to be repeated in calls."""
        lines = self.source.info.lines
        start = self.source.store.line_start(self.source.handle, offset) if offset < lines else None
        if start is None:
            empty = Extent(start_byte=self.source.size_bytes, end_byte=self.source.size_bytes, data=b"")
            if lines:
                last = self.call.but(offset=(lines - 1) // size * size or None, limit=limit)
                last = last if len(last.arguments) > 1 else last.but(offset=0)
                shown = self._window(empty, "end", None, said, first_line=0)
                return shown._replace(previous=last)
            return self._window(empty, "end", None, (*said, notices.end_of_file(0)))
        stop = self.source.store.line_start(self.source.handle, offset + size) if offset + size < lines else None
        stop = self.source.size_bytes if stop is None else stop
        whole, extent = self._extent(start, min(stop - start, self.cap))
        if extent.end_byte >= stop:
            bound = "limit" if stop < self.source.size_bytes else "end"
        else:
            bound = "budget" if extent.end_byte < whole.end_byte else "hard cap"
        following = None
        if extent.end_byte < self.source.size_bytes:
            # Cut by the room: at a line end the next call continues by line, within a line it must name the byte.
            whole_lines = extent.data.count(b"\n")
            ends_line = extent.data.endswith(b"\n")
            following = (
                self.call.but(offset=offset + whole_lines, limit=limit)
                if ends_line
                else self._onwards(extent.end_byte, None)
            )
        return self._window(extent, bound, following, said)

    def by_records(self, offset: int, size: int, limit: int | None, said: tuple[str, ...]) -> Window:
        """Return the page of `size` records after `offset` of JSON on one line, cut between records if one fits."""
        places, lock = _indexes.of(self.source.info.digest)
        with lock:
            total, exact = known_records(places, self.source, offset + size, self.deadline), places.is_complete
            if offset >= total:
                end = self.source.size_bytes if exact else places.scanned_bytes
                why = notices.records(0, 0, total, is_exact=exact)
                empty = Extent(start_byte=end, end_byte=end, data=b"")
                return self._window(empty, "end" if exact else "deadline", None, (*said, why))
            start, last = places.start_of(offset), min(offset + size, total)
            stop = places.start_of(last) if last <= len(places.ends) else self.source.size_bytes
            within, extent = self._exact(start, min(stop - start, self.cap))
            bound = "limit" if stop < self.source.size_bytes else "end"
            if extent.end_byte < stop:
                bound = "budget" if extent.end_byte < within.end_byte else "hard cap"
                end_within = places.end_within(start, extent.end_byte)
                if end_within is not None:
                    _, extent = self._exact(start, end_within - start)
                last = places.record_at(extent.end_byte - 1) + 1
            whole = extent.end_byte == stop or places.end_within(start, extent.end_byte) == extent.end_byte
        following = None
        if extent.end_byte < self.source.size_bytes:
            following = self.call.but(offset=last, limit=limit) if whole else self._onwards(extent.end_byte, None)
        said = (*said, notices.records(offset + 1, last, total, is_exact=exact))
        return self._window(extent, bound, following, said, numbered=False)

    def _extent(self, start_byte: int, wanted: int) -> tuple[Extent, Extent]:
        """Return the requested bytes, and as many of them as the room holds."""
        whole = window.cut_bytes(
            self.source, self.encoding, start_byte=start_byte, max_bytes=wanted, cap_bytes=self.cap, keep_start=True
        )
        return whole, fitting.head_of(whole, self.encoding, self.room) if whole.data else whole

    def _exact(self, start_byte: int, count: int) -> tuple[Extent, Extent]:
        """Return the whole characters within `count` bytes, at least one, and as many of them as the room holds."""
        # Four more bytes show whether a character ends there: a record that is longer than the cap is cut anywhere.
        seen = self.source.read(start_byte, count + 4)
        keep = max(self.encoding.floor_char(seen, min(count, len(seen))), window.next_char(seen, self.encoding, 0))
        within = Extent(start_byte=start_byte, end_byte=start_byte + keep, data=seen[:keep])
        return within, fitting.head_of(within, self.encoding, self.room)

    def _onwards(self, end_byte: int, max_bytes: int | None) -> Call | None:
        """Return the call for what follows `end_byte`; None at the end."""
        if end_byte >= self.source.size_bytes:
            return None
        return self.call.but(start_byte=end_byte, max_bytes=max_bytes or None)

    def _window(
        self,
        extent: Extent,
        bound: str,
        following: Call | None,
        said: tuple[str, ...],
        *,
        first_line: int | None = None,
        numbered: bool = True,
    ) -> Window:
        """Return an extent as a page, with line numbers if lines are those of the store (one byte per code unit)."""
        text, invalid = fitting.decoded(self.encoding, extent)
        last_line = first_line
        total = self.source.info.lines
        if numbered and extent.data and self.encoding.unit == 1:
            before = self.source.store.lines_before
            first_line = before(self.source.handle, extent.start_byte) + 1
            last_line = before(self.source.handle, extent.end_byte - 1) + 1
        return Window(
            path=self.source.handle,
            text=text,
            start_byte=extent.start_byte,
            end_byte=extent.end_byte,
            total_bytes=self.source.size_bytes,
            first_line=first_line,
            last_line=last_line,
            total_lines=total if numbered and self.encoding.unit == 1 else None,
            total_lines_exact=numbered and self.encoding.unit == 1,
            fragment=extent.fragment,
            encoding=self.encoding.name,
            invalid_bytes=invalid,
            bound=bound,
            next=following,
            notices=(*said, *([notices.hidden_secrets(hidden)] if (hidden := self.source.info.hidden) else [])),
        )


class _Room:
    """What a page of an artifact may take once it is rendered, escapes included."""

    def __init__(self, allowance: Allowance, limit: int) -> None:
        self.limit = limit
        self.cap_bytes = window.HARD_MAX_BYTES if allowance.unit == "tokens" else max(4, limit)
        self._allowance = allowance

    def text(self, text: str) -> int:
        """Return what a text costs, escaped."""
        return self._allowance.measure(escape.show_text(text))

    def lines(self, lines: Sequence[Line]) -> int:
        """Return what lines cost, escaped and without a gutter."""
        return self.text("".join(line.text for line in lines))

    def symbols(self, symbols: Sequence[Symbol]) -> int:
        """Return what names cost; artifacts have no outlines, so nobody asks."""
        return self.text("".join(symbol.name for symbol in symbols))


def _render(shown: Window, dialect: Dialect) -> str:
    """Return a page as text: its header, then its content, inert."""
    body, escaped = escape.show(shown.text)
    head = notices.header(shown, dialect, escaped=escaped + shown.invalid_bytes, notices=shown.notices)
    return f"{head}\n{body}" if body else head

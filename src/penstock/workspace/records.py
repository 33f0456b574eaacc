"""Which records does a file of JSON on one line have, and which of them are on a page?

Such a file has one line and so no pages by lines: the elements of its outermost array or object take their place. `view` skips and
shows records, `outline` lists them by number, and a window of bytes begins and ends between two records if one fits (B-5 and V-8
are about lines of text; to a reader of data, a line means a record). A line short enough for a view to show whole stays a line.
Law: consecutive pages join to the file, byte for byte.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from penstock.text import notices, window
from penstock.text.calls import Call
from penstock.text.json_records import RecordIndex, is_one_line
from penstock.text.page import Page
from penstock.workspace import fitting, texts
from penstock.workspace.deadline import Deadline
from penstock.workspace.landmarks import OUTLINE_LIMIT, OUTLINE_SHARE, OutlinePage
from penstock.workspace.line_counts import CARRY_ON_SECONDS
from penstock.workspace.pages import page_of
from penstock.workspace.version import FileStamp

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from penstock.text.window import ByteSource, Extent, Window
    from penstock.workspace.fitting import PageRoom
    from penstock.workspace.line_counts import LineCounts
    from penstock.workspace.pages import ViewAsked
    from penstock.workspace.source import FileSource
    from penstock.workspace.texts import TextFile

_HEAD_BYTES = 64
_KEPT_INDEXES = 8
_NAME_BYTES = 72  # of a record in an outline: its key, or the beginning of its content
_ROW_BYTES = 90  # roughly one row of an outline: a name and its numbers


class Records(NamedTuple):
    """The records of an open file, locked for the caller."""

    text: TextFile
    places: RecordIndex
    deadline: Deadline

    def known(self, count: int) -> int:
        """Return how many records are known after searching for `count` of them."""
        return known_records(self.places, self.text.source, count, self.deadline)

    def around(self, start_byte: int, wanted: int, cap_bytes: int, *, keep_start: bool) -> tuple[int, int] | None:
        """Return the bytes of the whole records around a window, at most `cap_bytes`; None if not one fits.

        Args:
            start_byte: Where the window begins; with `keep_start` the records begin there too.
            wanted: How long the window is.
            cap_bytes: How many bytes are returned at most.
            keep_start: Whether another page ended at `start_byte`.
        """
        places, size = self.places, self.text.source.size_bytes
        # A page costs its window (B-9): the search for records continues from recently found ones, not from the start.
        if places.scanned_bytes < start_byte - window.HARD_MAX_BYTES:
            return None
        places.advance(self.text.source, lambda: places.scanned_bytes > start_byte + cap_bytes or self.deadline.passed)
        # Either no record has ended so far, or the line ends before the file: then it is not JSON on one line, and pages go by
        # bytes.
        if not places.ends or (places.line_end is not None and places.line_end < size):
            return None
        begin = start_byte if keep_start else places.start_of(places.record_at(start_byte))
        end = places.end_from(max(start_byte + wanted, begin + 1))
        if end is None and places.is_complete:
            end = size
        if end is None or end - begin > cap_bytes:
            end = places.end_within(begin, begin + cap_bytes)
        return None if end is None or start_byte >= end else (begin, end)

    def shortened(self, extent: Extent) -> Extent:
        """Return the part of an extent that ends between records; all of it if no record ends in it."""
        end = self.places.end_within(extent.start_byte, extent.end_byte)
        return extent if end is None else window.shorten(extent, self.text.encoding, end)


class RecordIndexes:
    """Where records end in the most recently read texts, by a key unique to each content. Several threads may use it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[RecordIndex, threading.Lock]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, key: Hashable) -> tuple[RecordIndex, threading.Lock]:
        """Return the index of a text with its lock; a new one if none is kept."""
        with self._lock:
            kept = self._kept.setdefault(key, (RecordIndex(), threading.Lock()))
            self._kept.move_to_end(key)
            while len(self._kept) > _KEPT_INDEXES:
                self._kept.popitem(last=False)
            return kept


def known_records(places: RecordIndex, source: ByteSource, count: int, deadline: Deadline) -> int:
    """Return how many records are known after searching for `count` of them, and for one more second to learn the total.

    Args:
        places: Where records end; the caller holds its lock.
        source: The text.
        count: How many are wanted.
        deadline: When the search stops.
    """
    further: Deadline | None = None

    def done() -> bool:
        nonlocal further
        if places.total < count:
            return deadline.passed
        # The same stretch as for lines of a large file: a total is worth a second, but no long wait.
        further = further or Deadline(CARRY_ON_SECONDS)
        return further.passed or deadline.passed

    places.advance(source, done)
    return places.total


class RecordFiles:
    """The records of the most recently read files. Several threads may use it."""

    def __init__(self) -> None:
        self._indexes = RecordIndexes()

    @contextmanager
    def of(self, text: TextFile, deadline: Deadline, counts: LineCounts | None = None) -> Iterator[Records | None]:
        """Give the records of a file for the block; None if it cannot be JSON on one line, or has only one record.

        Args:
            text: The file.
            deadline: Until when records are searched for.
            counts: What is known of its lines: whoever asks for pages of records, not of bytes, must know that there is only one
                line. None scans no more than the window (B-9): a line that has not ended yet is the only one so far.
        """
        source = text.source
        if not _may_be_records(text, source.size_bytes):
            yield None
            return
        if counts is not None:
            with counts.index(text, deadline) as lines:
                lines.advance(source, lambda: lines.seen > 1 or deadline.passed)
                has_one = lines.is_complete(source.size_bytes) and lines.total_lines() == 1
            if not has_one:
                yield None
                return
        places, lock = self._indexes.of(FileStamp.of(source.status))
        with lock:
            records = Records(text, places, deadline)
            yield records if counts is None or records.known(2) > 1 else None

    def had(self, text: TextFile, size_bytes: int, deadline: Deadline, counts: LineCounts) -> bool:
        """Return whether a file that has grown could be viewed by record when it had that many bytes: it was one line then.

        Args:
            text: The file, which has more lines now.
            size_bytes: Its size then.
            deadline: Until when its first line is searched.
            counts: What is known of its lines.
        """
        if not _may_be_records(text, size_bytes):
            return False
        with counts.index(text, deadline) as lines:
            lines.advance(text.source, lambda: lines.seen > 1 or deadline.passed)
            second = lines.start_of(text.source, 1)
        return second is not None and second >= size_bytes


def _may_be_records(text: TextFile, size_bytes: int) -> bool:
    """Return whether a file of that size, by its beginning, may be JSON on one line that is too long for a page of lines."""
    return text.encoding.unit == 1 and size_bytes > fitting.CLIP_BYTES and is_one_line(_head_of(text.source), 1)


def _head_of(source: FileSource) -> str:
    """Return the beginning of a text, without a byte order mark; the codec that drops it would be loaded for this alone."""
    return source.head[:_HEAD_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")


def view_records(records: Records, asked: ViewAsked, room: PageRoom, said: list[str]) -> Window:
    """Return the records that a view was asked for, in place of lines: verbatim, fewer if the room ends.

    Args:
        records: The file's.
        asked: Which records, and of which version.
        room: What the page may take.
        said: Notices to carry along.
    """
    text, places, _ = records
    source, encoding, path = text
    total, offset = records.known(asked.offset + asked.lines), asked.offset
    if offset >= total:
        return _past_the_end(records, asked, total, said)
    start = places.start_of(offset)
    stop = places.start_of(offset + asked.lines) if offset + asked.lines < total else source.size_bytes
    cap = min(window.HARD_MAX_BYTES, room.cap_bytes)
    # The nearest of three ends counts: the requested records, the hard cap in bytes, and what the page takes once it is rendered.
    # Only then is it shortened to whole records, if one of them fits at all.
    within = window.cut_bytes(
        source,
        encoding,
        start_byte=start,
        max_bytes=min(stop - start, cap),
        cap_bytes=cap,
        keep_start=True,
        keep_end=True,
    )
    extent = fitting.head_of(within, encoding, room)
    bound = "limit" if stop < source.size_bytes else "end"
    if extent.end_byte < stop:
        bound = "budget" if extent.end_byte < within.end_byte else "hard cap"
        extent = records.shortened(extent)
    token = texts.token(source, extent.end_byte)
    # No record number can name a position within a record.
    is_whole = extent.end_byte == stop or places.end_within(start, extent.end_byte) == extent.end_byte
    last_shown = places.record_at(extent.end_byte - 1)
    following = previous = None
    if extent.end_byte < source.size_bytes and is_whole:
        following = asked.call(path, offset=last_shown + 1, version=token)
    elif extent.end_byte < source.size_bytes:
        following = Call("read_file", {"path": path, "start_byte": extent.end_byte, "version": token})
    if offset:
        before = min(asked.lines, offset)
        limit = asked.limit if before == asked.lines else before
        previous = asked.call(path, offset=offset - before, limit=limit, version=texts.token(source, start))
    shown, invalid = fitting.decoded(encoding, extent)
    return page_of(
        text,
        text=shown,
        start_byte=extent.start_byte,
        end_byte=extent.end_byte,
        first_line=1,
        last_line=1,
        total_lines=1,
        total_lines_exact=True,
        invalid_bytes=invalid,
        version=token,
        bound=bound,
        next=following,
        previous=previous,
        notices=(*said, _numbers(offset + 1, last_shown + 1, places)),
    )


def _past_the_end(records: Records, asked: ViewAsked, total: int, said: list[str]) -> Window:
    """Return the empty page of a view that skips all `total` records; its previous call leads to the last ones."""
    text, places, _ = records
    end = text.source.size_bytes
    return page_of(
        text,
        text="",
        start_byte=end,
        end_byte=end,
        first_line=0,
        last_line=0,
        total_lines=1,
        total_lines_exact=True,
        previous=asked.call(text.path, offset=(total - 1) // asked.lines * asked.lines, version=None),
        notices=(*said, _numbers(0, 0, places)),
    )


def outline_records(records: Records, offset: int, limit: int, room: PageRoom) -> OutlinePage | None:
    """Return the records of a file as its landmarks, each with its key or its beginning; None if that is hardly shorter.

    Args:
        records: The file's.
        offset: Records to skip.
        limit: Records of the page.
        room: What the page may take.
    """
    # Most reads need no outline, and every command waits for imports.
    from penstock.outline.symbols import Symbol, display

    text, places, _ = records
    total = records.known(offset + limit)
    source = text.source
    if offset == 0 and _ROW_BYTES * total >= OUTLINE_SHARE * source.size_bytes:
        return None
    is_array = source.head.decode("utf-8-sig", "replace").lstrip().startswith("[")
    items = []
    for record in range(offset, min(offset + limit, total)):
        start = places.start_of(record)
        head = source.read(start, _NAME_BYTES)
        name = display(head[: places.start_of(record + 1) - start] if record < len(places.ends) else head)
        name = name.lstrip("\ufeff")[1 if record == 0 else 0 :].strip()
        items.append(Symbol(f"[{record}] {name}" if is_array else name, "record", record + 1, record + 1, 0))
    fits = fitting.most(len(items), lambda n: room.symbols(items[:n]), room.limit)
    del items[max(1, fits) :]
    more = bool(items) and offset + len(items) < total
    call = Call("outline", {"path": text.path}).but(
        limit=None if limit == OUTLINE_LIMIT else limit, offset=offset + len(items)
    )
    return OutlinePage(
        path=text.path,
        page=Page(items=tuple(items), offset=offset, limit=limit, total=total, more=more),
        language="json",
        method="record scanner",
        complete=places.is_complete,
        total_lines=1,
        total_bytes=source.size_bytes,
        version=texts.token(source, source.size_bytes),
        unit="records",
        next=call if more else None,
    )


def _numbers(first: int, last: int, places: RecordIndex) -> str:
    """Return the notice that says which records a page shows, and of how many."""
    return notices.records(first, last, places.total, is_exact=places.is_complete)

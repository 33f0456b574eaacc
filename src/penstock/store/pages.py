"""Read back what was kept: pages of an artifact, and the lines in it that match.

Results bound themselves and are never kept again. Law: following `next` from the start visits every byte once; every
`next` advances. Where artifacts lie is decided by the store, which tools there are by `tools`.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ToolError
from penstock.store import StoreFault
from penstock.text import escape, notices, window
from penstock.text import fitting as guard
from penstock.text.allowance import Allowance
from penstock.text.calls import PYTHON, Call, Dialect
from penstock.text.json_records import JsonRecordScanner, is_one_line
from penstock.text.window import Extent, Window
from penstock.workspace import fitting
from penstock.workspace.deadline import READ_SECONDS, WALK_SECONDS, Deadline
from penstock.workspace.line_counts import CARRY_ON_SECONDS
from penstock.workspace.reading import DEFAULT_VIEW_LINES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.outline import Symbol
    from penstock.store import ArtifactInfo, Store
    from penstock.text.window import Encoding, Line
    from penstock.workspace.fitting import PageRoom
    from penstock.workspace.pattern import LineFinder

DEFAULT_MATCHES = 50
"""How many matching lines are shown unless somebody asks for more."""
MAX_MATCHES = 500
"""The most matching lines that can be asked for at once."""
_BLOCK = 1 << 20
_LONGEST_LINE = 8 << 20  # a longer one is searched in parts that overlap
_OVERLAP = 1 << 16
_LEAD_BYTES = 100  # shown before a match in a long line
_SHOWN_BYTES = 400  # of a line that matches
_HEADER = 480  # of an allowance, kept free at first
_LOOKS = 8
_KEPT_INDEXES = 8


class PageAnswer(NamedTuple):
    """The answer of `page` or `find`: text for the model within its allowance, and the value for scripts."""

    text: guard.Guarded
    outcome: str
    """`done`, `partial` where the time of a call ended, or `nothing` where nothing matched."""
    value: Window | FoundLines


class ArtifactMatch(NamedTuple):
    """A line that matches, with its 1-based number."""

    line: int
    start_byte: int
    """Where `text` begins in the artifact: at the start of the line, or some 100 bytes before the match in a long one."""
    text: str
    """The line, inert, without its end; an ellipsis stands where it is cut."""
    is_clipped: bool


class FoundLines(NamedTuple):
    """The first matching lines of an artifact, and how many there are."""

    handle: str
    matches: tuple[ArtifactMatch, ...]
    total: int
    """Matching lines in what was searched: all, where `complete` is true."""
    scanned_bytes: int
    total_bytes: int
    complete: bool
    hidden: int = 0
    """Secrets that marks stand for in the artifact."""


# ── the two tools ────────────────────────────────────────────────────────────────────────────────────────────────


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
        offset: Lines to skip (or records, of JSON on one line); gives a page by lines.
        limit: Lines or records of the page; None for 100 where `offset` is given.
        allowance: What the text may take with its header; None for 256 KiB.
        dialect: How the next call is written; None for Python's syntax.
        deadline: Until when it looks for records; None for 10 seconds from now.

    Raises:
        ToolError: The handle is unknown or expired, an argument cannot be, the store cannot be read, or the allowance
            is too small for a header.
    """
    allowance, dialect = allowance or Allowance.bytes(window.HARD_MAX_BYTES), dialect or PYTHON
    deadline = deadline or Deadline(READ_SECONDS)
    reserve = min(_HEADER, allowance.limit // 3)
    # How large the header is shows only when the page is cut, because it names the page's own numbers. So a guess is
    # reserved, the page rendered, and the excess reserved as well until it fits.
    for _ in range(_LOOKS):
        room = _Room(allowance, max(1, allowance.limit - reserve))
        shown = cut(store, handle, start_byte, max_bytes, offset, limit, room=room, deadline=deadline)
        text = _render(shown, dialect)
        over = allowance.measure(text) - allowance.limit
        if over <= 0:
            return PageAnswer(guard.bounded(text), "partial" if shown.bound == "deadline" else "done", shown)
        reserve += over + 32
    raise ToolError("bad_argument", notices.over_allowance(allowance))


def find(
    store: Store,
    handle: str,
    pattern: str,
    limit: int = DEFAULT_MATCHES,
    *,
    allowance: Allowance | None = None,
    dialect: Dialect | None = None,
    deadline: Deadline | None = None,
) -> PageAnswer:
    """Return the lines of an artifact that match, as text with a header.

    Args:
        store: Where the artifact is.
        handle: Its handle.
        pattern: A regular expression in RE2's syntax; a match lies within one line.
        limit: How many matching lines are shown, at most `MAX_MATCHES`; all are counted.
        allowance: What the text may take; None for 256 KiB.
        dialect: How the call that reads around a match is written; None for Python's syntax.
        deadline: Until when it searches; None for 30 seconds from now.

    Raises:
        ToolError: The handle or the pattern cannot be, the store cannot be read, or the allowance does not hold a
            header.
    """
    allowance, dialect = allowance or Allowance.bytes(window.HARD_MAX_BYTES), dialect or PYTHON
    found = scan(store, handle, pattern, limit, deadline=deadline or Deadline(WALK_SECONDS))

    def render(count: int) -> str:
        around = ""
        if count:
            first = found.matches[0].start_byte
            around = dialect.write(Call("page", {"handle": found.handle, "start_byte": first}))
        return "\n".join([_found(found, count, around), *map(_found_line, found.matches[:count])])

    # Rendering is cheap and its size never falls with the number of lines, so the number is found by bisection.
    count = fitting.most(len(found.matches), lambda n: allowance.measure(render(n)), allowance.limit)
    text = render(count)
    if not allowance.holds(text):
        raise ToolError("bad_argument", notices.over_allowance(allowance))
    outcome = "partial" if not found.complete else "done" if found.total else "nothing"
    return PageAnswer(guard.bounded(text), outcome, found._replace(matches=found.matches[:count]))


def _found(found: FoundLines, shown: int, around: str) -> str:
    """Return the first line of what was found in an artifact."""
    some, line = "" if found.complete else "at least ", "line" if found.total == 1 else "lines"
    parts = [f"{some}{found.total} matching {line}"]
    if shown < found.total:
        parts.append(f"showing the first {shown}: a narrower pattern or a larger limit shows the others")
    parts.append(f"searched {found.scanned_bytes} of {found.total_bytes} bytes")
    if not found.complete:
        parts.append("the time of one call ended")
    if found.hidden:
        parts.append(notices.hidden_secrets(found.hidden))
    if shown:
        parts.append(f"to read around a match: {around}")
    return f"{found.handle}: " + " | ".join(parts)


FOUND_LINE = re.compile(r"^\d+\|\d+\|(.*)$")
"""What a line of `find` looks like; the group is the text of the line."""


def _found_line(match: ArtifactMatch) -> str:
    """Return a line that matches: its number, the byte at which what is shown of it begins, and its text."""
    return f"{match.line}|{match.start_byte}|{match.text}"


def _records(first: int, last: int, total: int, exact: bool) -> str:
    """Return `records X-Y of Z total`, of JSON on one line (G-5)."""
    return f"records {first}-{last} of {'' if exact else 'at least '}{total} total"


# ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Artifact:
    """An artifact as a `ByteSource`, so that windows are cut from it as from a file. Raises `ToolError` for no handle."""

    def __init__(self, store: Store, handle: str) -> None:
        # A model may send anything: what cannot be a handle is told apart from one that has gone.
        if not (handle.isascii() and handle.isalnum()):
            raise ToolError(
                "not_found",
                f'"{escape.clip(handle, 64)}" is no handle: one is letters and digits. Copy it from the notice that named it.',
            )
        self.store = store
        self.info: ArtifactInfo = store.info(handle)
        self.handle = self.info.handle
        self.size_bytes = self.info.bytes

    def read(self, start_byte: int, count_bytes: int) -> bytes:
        """Return up to `count_bytes` from `start_byte` on."""
        return self.store.read(self.handle, start_byte, count_bytes)

    def encoding(self) -> Encoding:
        """Return what the first bytes say; what would be binary in a file is shown with escapes here."""
        return window.detect(self.read(0, window.BINARY_PROBE_BYTES)) or window.UTF8


def unreadable(fault: Exception) -> ToolError:
    """Return a fault of the store, or of opening it, as a model sees it."""
    return ToolError("io_error", f"The artifact cannot be read: {escape.clip(str(fault), 400)}")


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

    A page begins exactly at `start_byte`: pages meet wherever one ended. The arguments are those of `page`; `room` is
    what the page may take once it is rendered, None for no bound but 256 KiB.

    Raises:
        ToolError: The handle is unknown or expired, an argument cannot be, or the store cannot be read.
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
    """Return a page by lines where `offset` or `limit` is given, by records where there is but one line of JSON, else
    by bytes.
    """
    pages = _Pages(source, room or fitting.Boundless(), deadline or Deadline(READ_SECONDS))
    if offset is None and limit is None:
        return pages.by_bytes(start_byte or 0, max_bytes)
    rest = [name for name, value in (("start_byte", start_byte), ("max_bytes", max_bytes)) if value is not None]
    said = (notices.ignored_arguments(rest, "a range of lines"),) if rest else ()
    size = DEFAULT_VIEW_LINES if limit is None else limit
    # JSON on one line has one line and no page: its records take the place of lines.
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
        """Return the page of `size` lines behind `offset`; `limit` is the size as it was asked for, to be repeated in calls."""
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
            # Cut by the room: on a line end the next call counts lines on, within a line it has to name the byte.
            whole_lines = extent.data.count(b"\n")
            ends_line = extent.data.endswith(b"\n")
            following = (
                self.call.but(offset=offset + whole_lines, limit=limit)
                if ends_line
                else self._onwards(extent.end_byte, None)
            )
        return self._window(extent, bound, following, said)

    def by_records(self, offset: int, size: int, limit: int | None, said: tuple[str, ...]) -> Window:
        """Return the page of `size` records behind `offset` of JSON on one line, cut between records where one fits."""
        index = _indexes.of(self.source)
        with index.lock:
            index.advance(self.source, offset + size, self.deadline)
            ends, exact = index.ends, index.complete
            # `ends` are the places between records: behind the last record stands none.
            total = len(ends) + exact
            if offset >= total:
                end = self.source.size_bytes if exact else index.scanned
                why = _records(0, 0, total, exact)
                empty = Extent(start_byte=end, end_byte=end, data=b"")
                return self._window(empty, "end" if exact else "deadline", None, (*said, why))
            start = ends[offset - 1] if offset else 0
            last = min(offset + size, total)
            stop = ends[last - 1] if last <= len(ends) else self.source.size_bytes
            within, extent = self._exact(start, min(stop - start, self.cap))
            bound = "limit" if stop < self.source.size_bytes else "end"
            if extent.end_byte < stop:
                fits = bisect_right(ends, extent.end_byte)
                bound = "budget" if extent.end_byte < within.end_byte else "hard cap"
                if fits > offset:
                    (_, extent), last = self._exact(start, ends[fits - 1] - start), fits
                else:
                    last = offset + 1
            whole = extent.end_byte in {stop, ends[last - 1] if last <= len(ends) else -1}
        following = None
        if extent.end_byte < self.source.size_bytes:
            following = self.call.but(offset=last, limit=limit) if whole else self._onwards(extent.end_byte, None)
        return self._window(extent, bound, following, (*said, _records(offset + 1, last, total, exact)), numbered=False)

    def _extent(self, start_byte: int, wanted: int) -> tuple[Extent, Extent]:
        """Return the bytes that were asked for, and as many of them as the room holds."""
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
        """Return the call for what lies behind `end_byte`, None at the end."""
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
        """Return an extent as a page with its numbers of lines, where lines are those of the store (one byte a code unit)."""
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
        """Return what names cost; artifacts have no outlines, so that nobody asks."""
        return self.text("".join(symbol.name for symbol in symbols))


def _render(shown: Window, dialect: Dialect) -> str:
    """Return a page as text: its header, then what it holds, inert."""
    body, escaped = escape.show(shown.text)
    head = notices.header(shown, dialect, escaped=escaped + shown.invalid_bytes, notices=shown.notices)
    return f"{head}\n{body}" if body else head


# ── records ──────────────────────────────────────────────────────────────────────────────────────────────────────


class _RecordIndex:
    """Where the records of one artifact end, as far as anyone has looked. One thread at a time: hold `lock`."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.ends = array("Q")
        self.scanned = 0
        self.complete = False
        self._scanner = JsonRecordScanner()

    def advance(self, source: Artifact, wanted: int, deadline: Deadline) -> None:
        """Look until `wanted` records are known, then for a second more, to know the total."""
        further: Deadline | None = None
        while not self.complete and not deadline.passed:
            if len(self.ends) >= wanted:
                # The same stretch as for lines of a large file: a total is worth a second, not a wait.
                further = further or Deadline(CARRY_ON_SECONDS)
                if further.passed:
                    return
            block = source.read(self.scanned, _BLOCK // 4)
            base = self.scanned
            # Latin-1 makes each byte a character, so that places are bytes; the signs of JSON are ASCII, which no byte
            # of another character of UTF-8 is.
            self.ends.extend(base + at for at in self._scanner.feed(block.decode("latin-1")))
            self.scanned += len(block)
            self.complete = not block or self.scanned >= source.size_bytes


class _RecordIndexes:
    """The indexes of the artifacts paged last, by digest: content does not change, so an index never goes stale."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _RecordIndex] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, source: Artifact) -> _RecordIndex:
        """Return the index of an artifact, a new one where it was forgotten."""
        with self._lock:
            index = self._kept.setdefault(source.info.digest, _RecordIndex())
            self._kept.move_to_end(source.info.digest)
            while len(self._kept) > _KEPT_INDEXES:
                self._kept.popitem(last=False)
            return index


_indexes = _RecordIndexes()


# ── matches ──────────────────────────────────────────────────────────────────────────────────────────────────────


def scan(
    store: Store, handle: str, pattern: str, limit: int = DEFAULT_MATCHES, *, deadline: Deadline | None = None
) -> FoundLines:
    """Return the first `limit` matching lines of an artifact and the number of all, as a value.

    Args:
        store: Where the artifact is.
        handle: Its handle.
        pattern: A regular expression in RE2's syntax; a match lies within one line.
        limit: How many matches are kept, from 1 to `MAX_MATCHES`.
        deadline: Until when it searches; None for 30 seconds from now.

    Raises:
        ToolError: An argument or the pattern cannot be, or the store cannot be read.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_MATCHES:
        raise ToolError("bad_argument", notices.argument("limit", f"takes an integer from 1 to {MAX_MATCHES}"))
    from penstock.workspace.pattern import line_finder

    deadline = deadline or Deadline(WALK_SECONDS)
    state = _Scan(line_finder(pattern, deadline=deadline), limit)
    try:
        source = Artifact(store, handle)
        for block in _blocks(source, deadline):
            state.take(block)
    except ToolError as error:
        if error.code != "deadline" or not state.matches:  # what was found until then is an answer
            raise
    except StoreFault as fault:
        raise unreadable(fault) from fault
    return FoundLines(
        handle=source.handle,
        matches=tuple(state.matches),
        total=state.total,
        scanned_bytes=state.scanned,
        total_bytes=source.size_bytes,
        complete=state.scanned >= source.size_bytes,
        hidden=source.info.hidden,
    )


def found_json(found: FoundLines) -> dict[str, object]:
    """Return what was found as JSON can hold it, for scripts."""
    return {
        "handle": found.handle,
        "matches": [
            {"line": m.line, "start_byte": m.start_byte, "text": m.text, "clipped": m.is_clipped} for m in found.matches
        ],
        "total": found.total,
        "scanned_bytes": found.scanned_bytes,
        "total_bytes": found.total_bytes,
        "complete": found.complete,
        "hidden": found.hidden,
    }


class _Block(NamedTuple):
    """Bytes from `start_byte` on; whole lines but for a line that is longer than a block may be."""

    data: bytes
    start_byte: int
    overlaps: int  # bytes of it at the end that the next block begins with


def _blocks(source: Artifact, deadline: Deadline) -> Iterator[_Block]:
    """Yield an artifact in blocks of whole lines, until the deadline.

    A line above 8 MiB comes in parts that overlap by 64 KiB, so that a match no longer than that is whole in one of
    them.
    """
    held, start = b"", 0
    while not deadline.passed:
        more = source.read(start + len(held), _BLOCK)
        held += more
        if not held:
            return
        end = held.rfind(b"\n") + 1
        if not more or start + len(held) >= source.size_bytes:
            yield _Block(held, start, 0)
            return
        if end:
            yield _Block(held[:end], start, 0)
            held, start = held[end:], start + end
        elif len(held) >= _LONGEST_LINE:
            yield _Block(held, start, _OVERLAP)
            held, start = held[-_OVERLAP:], start + len(held) - _OVERLAP


class _Scan:
    """What has been found so far in blocks that come in order."""

    def __init__(self, search: LineFinder, limit: int) -> None:
        self.matches: list[ArtifactMatch] = []
        self.total = 0
        self.scanned = 0
        self._search = search
        self._limit = limit
        self._line = 1  # of the first byte of the next block
        self._counted = 0  # the last line that was counted: a long one comes in several blocks

    def take(self, block: _Block) -> None:
        """Count the matching lines of a block, and keep the first ones."""
        data, at, line = block.data, 0, self._line
        while at < len(data):
            span = self._search(data, at, len(data))
            if span is None:
                break
            line += data.count(b"\n", at, span[0])
            begin = data.rfind(b"\n", 0, span[0]) + 1
            end = data.find(b"\n", span[0])
            end = len(data) if end < 0 else end
            # The parts of a long line overlap, so a match in both is found twice: a line counts once.
            if line != self._counted:
                self.total += 1
                self._counted = line
                if len(self.matches) < self._limit:
                    self.matches.append(_match(data, block.start_byte, line, begin, end, span[0]))
            at, line = end + 1, line + 1
        # Line ends are counted between matches to number them, and once more in the whole block: where nothing matches,
        # that is all.
        self._line += data.count(b"\n")
        self.scanned = block.start_byte + len(data)


def _match(data: bytes, base: int, line: int, begin: int, end: int, hit: int) -> ArtifactMatch:
    """Return a match with as much of its line around it as may be shown, cut between characters."""
    first = begin if hit - begin <= _LEAD_BYTES else window.UTF8.floor_char(data, hit - _LEAD_BYTES)
    last = end if end - first <= _SHOWN_BYTES else window.UTF8.floor_char(data, first + _SHOWN_BYTES)
    text = escape.show(window.UTF8.decode(data[first:last].removesuffix(b"\r"))[0])[0]
    is_clipped = first > begin or last < end
    shown = ("…" if first > begin else "") + text + ("…" if last < end else "")
    return ArtifactMatch(line, base + first, shown, is_clipped)

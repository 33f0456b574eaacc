"""Which lines does a page by line numbers hold? Whole lines from the first one requested, or at least its beginning (B-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text import window
from penstock.text.calls import Call
from penstock.text.window import Extent, Fragment, Line
from penstock.workspace import fitting, texts
from penstock.workspace.byte_pages import bytes_before
from penstock.workspace.pages import WORST_ESCAPE, WORST_ROW, page_of

if TYPE_CHECKING:
    from penstock.text.window import Window
    from penstock.workspace.deadline import Deadline
    from penstock.workspace.line_counts import LineCounts
    from penstock.workspace.lines import LineIndex
    from penstock.workspace.pages import PageBounds
    from penstock.workspace.texts import TextFile


def line_range(
    text: TextFile,
    counts: LineCounts,
    start_line: int | None,
    end_line: int | None,
    bounds: PageBounds,
    deadline: Deadline,
    said: list[str],
    *,
    view_lines: int,
) -> Window:
    """Return whole lines from `start_line` on, or at least the beginning of the first.

    Args:
        text: The file.
        counts: What is known of its lines.
        start_line: The first line, 1-based; None and 0 mean 1.
        end_line: The last line, inclusive; None for as many as fit.
        bounds: What the page may take.
        deadline: Until when lines are counted.
        said: Notices to carry along.
        view_lines: How many lines the previous page has if this one is past the end.
    """
    source, path = text.source, text.path
    first = max(1, 1 if start_line is None else start_line)
    # A descending range gives its first line, as B-2 requires, and says so: a caller who swapped the two would not notice.
    if end_line is not None and end_line < first:
        said.append(f"end_line={end_line} is before start_line={first}: one line")
    last = None if end_line is None else max(first, end_line)
    call = Call("read_file", {"path": path, "start_line": first}).but(end_line=last)
    with counts.index(text, deadline) as index:
        start = counts.start(text, index, first - 1, call, deadline)
        count = None if last is None else last - first + 1
        extent, lines, bound = _lines_at(text, start, first, count, bounds)
        counts.count_on(source, index, deadline, eager=index.uses > 1)
        total, exact = index.total_lines(), index.is_complete(source.size_bytes)
        previous = None
        if lines and start:
            previous = _range_before(text, index, first, len(lines), start, bounds)
        elif not lines and total:
            previous = Call("read_file", {"path": path, "start_line": max(1, total - view_lines + 1)})
    token = texts.token(source, extent.end_byte, extent.data)
    following = None
    # No line number can name a position within a line.
    if extent.fragment is not None and extent.end_byte < source.size_bytes:
        following = Call("read_file", {"path": path, "start_byte": extent.end_byte, "version": token})
    elif bound not in {"limit", "end"} and extent.end_byte < source.size_bytes:
        following = call.but(start_line=first + len(lines), version=token)
    last_shown = first + len(lines) - 1
    return page_of(
        text,
        text="".join(line.text + line.ending for line in lines),
        start_byte=extent.start_byte,
        end_byte=extent.end_byte,
        first_line=first if lines else 0,
        last_line=last_shown if lines else 0,
        lines=tuple(lines),
        total_lines=max(total, last_shown if lines else 0),
        total_lines_exact=exact,
        fragment=extent.fragment,
        invalid_bytes=sum(line.invalid_bytes for line in lines),
        version=token,
        bound=bound,
        cap_bytes=bounds.cap,
        next=following,
        previous=previous,
        notices=tuple(said),
    )


def _lines_at(
    text: TextFile, start: int, first: int, count: int | None, bounds: PageBounds
) -> tuple[Extent, list[Line], str]:
    """Return whole lines from byte `start` on, or at least the beginning of the first; and what ended them."""
    source, encoding, _ = text
    cap = bounds.line_cap
    data = source.read(start, source.size_bytes if cap is None else cap + 4)
    ends_file = start + len(data) >= source.size_bytes or source.shrank
    taken = fitting.take_lines(encoding, data, start, first, count=count, cap=cap, ends_file=ends_file)
    lines, bound = taken.lines, bounds.name if taken.bound == "cap" else taken.bound
    # Bytes at the end of `data` may be half a character: those are left for the next page.
    if not lines and data:  # the first line alone is longer than the cap
        end = encoding.floor_char(data, bounds.cap)
        fragment = Fragment(line_start_byte=start, line_end_byte=None)
        extent = Extent(start_byte=start, end_byte=start + end, data=data[:end], fragment=fragment)
        lines, bound = [fitting.whole_line(encoding, first, extent.data, start)], "line"
    else:
        extent = Extent(start_byte=start, end_byte=start + taken.end, data=data[: taken.end])
    room = bounds.room
    fits = fitting.most(len(lines), lambda n: room.lines(lines[:n]), room.limit)
    if fits == len(lines):
        return extent, lines, bound
    if fits:
        extent = window.shorten(extent, encoding, lines[fits].start_byte)
        return extent, lines[:fits], "budget"
    body = extent.data[: lines[0].body_bytes]

    def cost(at: int) -> int:
        return room.lines([fitting.whole_line(encoding, first, body[: encoding.floor_char(body, at)], start)])

    extent = window.shorten(extent, encoding, start + fitting.most(len(body), cost, room.limit))
    return extent, [fitting.whole_line(encoding, first, extent.data, start)], "budget"


def _range_before(
    text: TextFile, index: LineIndex, first: int, count: int, start: int, bounds: PageBounds
) -> Call | None:
    """Return the call for up to `count` lines that end before line `first`, which starts at byte `start`."""
    size = min(count, first - 1)
    while size:
        begin = index.start_of(text.source, first - 1 - size)
        if begin is None:
            break
        fits = WORST_ESCAPE * (start - begin) + WORST_ROW * size <= min(bounds.room.limit, bounds.cap)
        if not fits and start - begin <= (bounds.line_cap or start):
            extent, _, _ = _lines_at(text, begin, first - size, size, bounds)
            fits = extent.end_byte == start and extent.fragment is None
        if fits:
            return Call("read_file", {"path": text.path, "start_line": first - size, "end_line": first - 1})
        size //= 2
    return bytes_before(text, start, bounds.cap, bounds)

"""Which lines does a view show? Those after an offset, with long ones clipped (V-1 to V-8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text import window
from penstock.workspace import fitting, texts
from penstock.workspace.pages import WORST_ESCAPE, WORST_ROW, page_of

if TYPE_CHECKING:
    from penstock.text.window import Line, Window
    from penstock.workspace.deadline import Deadline
    from penstock.workspace.fitting import PageRoom
    from penstock.workspace.line_counts import LineCounts
    from penstock.workspace.lines import LineIndex
    from penstock.workspace.pages import ViewAsked
    from penstock.workspace.texts import TextFile

_BLOCK_BYTES = 64 << 10
_MIN_ROW = 3  # characters of the shortest line of a view: `1|` and its end
_LINES_AT_ONCE = 1000  # so that a page exceeds its cap by at most one block


def view_page(
    text: TextFile, counts: LineCounts, asked: ViewAsked, room: PageRoom, deadline: Deadline, said: list[str]
) -> Window:
    """Return the requested lines, fewer if the room or the file ends.

    Args:
        text: The file.
        counts: What is known of its lines.
        asked: Which lines, and of which version.
        room: What the page may take.
        deadline: Until when lines are counted.
        said: Notices to carry along.

    Raises:
        ToolError: Line `offset + 1` of a huge file was not reached in time: the same call continues from there.
    """
    offset, count = asked.offset, asked.lines
    with counts.index(text, deadline) as index:
        source = text.source
        start = counts.start(text, index, offset, asked.call(text.path), deadline)
        lines, end, bound = _lines_at(text, index, start, offset, count, deadline)
        fits = fitting.most(len(lines), lambda n: room.lines(lines[:n]), room.limit)
        # Lines beyond the room are dropped from the end; a first line that alone is too long is shortened, because a page must
        # advance.
        if fits < len(lines):
            bound = "budget"
            if fits == 0:
                data = source.read(lines[0].start_byte, fitting.CLIP_BYTES)
                lines[0] = fitting.shortened_line(lines[0], text.encoding, room, data, text.path)
            if len(lines) > 1:
                end = lines[max(1, fits)].start_byte
            del lines[max(1, fits) :]
        counts.count_on(source, index, deadline, eager=index.uses > 1)
        total, exact = index.total_lines(), index.is_complete(source.size_bytes)
        token = texts.token(source, end)
        following = previous = None
        # Nobody knows yet where the next line begins, so the next page is the rest of this line.
        if lines and lines[-1].is_endless:
            following = lines[-1].way
        elif lines and end < source.size_bytes:
            following = asked.call(text.path, offset=offset + len(lines), version=token)
        if not lines and total:
            previous = asked.call(text.path, offset=(total - 1) // count * count, version=None)
        elif offset and lines:
            size = _lines_before(text, index, start, offset, count, room, deadline)
            limit = asked.limit if size == count else size
            previous = asked.call(text.path, offset=offset - size, limit=limit, version=texts.token(source, start))
        return page_of(
            text,
            text="".join([line.text + line.ending for line in lines]),
            start_byte=start,
            end_byte=end,
            first_line=offset + 1 if lines else 0,
            last_line=offset + len(lines) if lines else 0,
            lines=tuple(lines),
            total_lines=max(total, offset + len(lines) if lines else 0),
            total_lines_exact=exact,
            invalid_bytes=sum([line.invalid_bytes for line in lines]),
            version=token,
            bound=bound,
            next=following,
            previous=previous,
            notices=tuple(said),
        )


def _lines_at(
    text: TextFile, index: LineIndex, start: int, offset: int, count: int, deadline: Deadline
) -> tuple[list[Line], int, str]:
    """Return the lines from byte `start` on, where they end, and what ended them: at most one hard cap of text."""
    source, encoding, path = text
    lines: list[Line] = []
    at, shown = start, 0
    while at < source.size_bytes and len(lines) < count:
        if shown > window.HARD_MAX_BYTES:
            return lines, at, "hard cap"
        block = source.read(at, _BLOCK_BYTES)
        if not block:
            break
        # Ordinary lines by the thousand, the odd line (long, not ASCII) one by one, then ordinary ones again.
        wanted = min(count - len(lines), _LINES_AT_ONCE)
        ordinary = fitting.ordinary_lines(encoding, offset + len(lines) + 1, block, at, wanted)
        lines += ordinary
        done = ordinary[-1].end_byte - at if ordinary else 0
        shown += done + _MIN_ROW * len(ordinary)
        while len(ordinary) < wanted and len(lines) < count and done < len(block):
            if shown > window.HARD_MAX_BYTES:
                return lines, at + done, "hard cap"
            end = encoding.find(block, done)
            # The block ends within a line. A line that began further up is read again as the start of the next block; one that
            # fills a whole block is longer than any page, and only its beginning and its end are searched for.
            if end is None and at + len(block) < source.size_bytes and not source.shrank:
                if done:
                    break  # its end is in the next block, which begins with this line
                line, after = _endless(text, index, offset + len(lines), at, block, deadline)
                lines.append(line)
                if after is None:
                    return lines, source.size_bytes, "deadline"
                shown += len(line.text)
                done = after - at
                break
            end = end or len(block)
            number = offset + len(lines) + 1
            lines.append(fitting.clipped_line(encoding, number, block[done:end], at + done, path))
            shown += len(lines[-1].text) + _MIN_ROW
            done = end
        at += done
    return lines, at, "limit" if at < source.size_bytes else "end"


def _endless(
    text: TextFile, index: LineIndex, before: int, at: int, head: bytes, deadline: Deadline
) -> tuple[Line, int | None]:
    """Return the beginning of a line longer than a block, and the byte after it; None if time ran out before that."""
    source, encoding, path = text
    index.advance(source, lambda: index.seen > before or deadline.passed)
    after = index.start_of(source, before + 1)
    if after is None and (index.is_complete(source.size_bytes) or source.shrank):
        after = max(index.scanned_bytes, at + len(head))
    known = max(index.scanned_bytes, at + len(head)) if after is None else after
    tail, ending = b"", "\n"
    if after is not None:
        tail = source.read(after - 2 * encoding.unit, 2 * encoding.unit)
        rest, ending = fitting.split_ending(encoding, tail)
        known -= len(tail) - len(rest)
    line = fitting.clipped_head(
        encoding,
        before + 1,
        head[: fitting.CLIP_BYTES],
        at,
        path,
        body_bytes=known - at,
        ending=ending,
        is_endless=after is None,
    )
    return line, after


def _lines_before(
    text: TextFile, index: LineIndex, start: int, offset: int, count: int, room: PageRoom, deadline: Deadline
) -> int:
    """Return how many of the `count` lines before line `offset` fit on a page that ends exactly there.

    Paging back must meet this page, so the number is found by trial: all of them, then half as many until they fit.
    """
    size = min(count, offset)
    few = min(_BLOCK_BYTES, start, (min(room.limit, window.HARD_MAX_BYTES) - WORST_ROW * size) // WORST_ESCAPE)
    # However a character is escaped, it takes at most `WORST_ESCAPE` for each of its bytes.
    few = text.encoding.align(few)
    if few > 0 and text.encoding.count(text.source.read(start - few, few)) > size:
        return size  # they are shorter than what fits however it is escaped: no need to find where they start
    while size > 1:
        begin = index.start_of(text.source, offset - size)
        if begin is None:
            return 1
        if WORST_ESCAPE * (start - begin) + WORST_ROW * size <= min(room.limit, window.HARD_MAX_BYTES):
            break
        lines, _, _ = _lines_at(text, index, begin, offset - size, size, deadline)
        if len(lines) == size and room.lines(lines) <= room.limit:
            break
        size = (size + 1) // 2
    return size

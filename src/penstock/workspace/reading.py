"""Read pages of files, as values: `view`, `read_file` and `outline`.

Bounds apply to the section that is returned, never to the file (V-10). A page costs its window: line numbers come from
an index that is carried on as a by-product. Law: following `next` from the start visits every byte once; every `next`
advances. Argument checks and wording are left to `tools` and `notices`, how a path becomes a text to `texts`, how much
of it fits to `fitting`.

How a page is bounded. Three bounds hold at once: what was asked for, one hard cap of bytes (so that a page costs no
more memory than that), and the room that the caller has for the page once it is rendered. The first that is reached
wins and is named in `Window.bound`. Where not even one line fits, a page holds as many characters of it as do, and at
least one: a page of nothing would be asked for for ever.

How pages meet. A page says where it ended in the token of its version. A call that carries such a token and begins
exactly there is a continuation: its start stays, in mid-line too. Any other start snaps back to the start of its line
(B-4, B-5). Were a continuation snapped, a line longer than a page would be read from its start again and again.
"""

from __future__ import annotations

from binascii import b2a_base64
from contextlib import contextmanager
from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.text import notices, window
from penstock.text.calls import Call
from penstock.text.window import Extent, Fragment, Line, Window
from penstock.workspace import fitting, texts
from penstock.workspace import version as versions
from penstock.workspace.deadline import READ_SECONDS, Deadline
from penstock.workspace.fitting import Boundless, PageRoom
from penstock.workspace.landmarks import OUTLINE_LIMIT, Landmarks, OutlinePage
from penstock.workspace.lines import LineIndex, LineIndexes
from penstock.workspace.texts import TextFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.workspace.root import Root
    from penstock.workspace.source import FileSource

__all__ = ["DEFAULT_VIEW_LINES", "OutlinePage", "PageRoom", "Reader"]

# deepagents shows 100 too; crush 200 (2,000 until 2026-05); most others 2,000.
DEFAULT_VIEW_LINES = 100
"""How many lines `view` shows where nobody says (V-1)."""
WHOLE_FILE_BYTES = 16_384  # as in Zed
"""A read without a range shows the whole of a file up to this size, and the outline of a larger one (B-1)."""
EXACT_TOTAL_BYTES = 64 << 20
"""Up to this size the number of lines is always exact (V-6)."""
CARRY_ON_SECONDS = 1.0
"""How long each later call counts on in a larger file, some 1.6 GB further (ADR 5)."""
_BLOCK_BYTES = 64 << 10
_MIN_ROW = 3  # characters of the shortest line of a view: `1|` and its end
_WORST_ROW = 24  # of a line besides its text: a gutter with the largest number, and its end
_LINES_AT_ONCE = 1000  # so that a page passes its cap by a block at most
_WORST_ESCAPE = 4  # characters that show one byte: `\xNN`


class Reader:
    """Pages of the files beneath a root. Several threads may use it.

    Args:
        root: The root that opens everything.
        view_lines: How many lines `view` shows where nobody says.
        caps_line_ranges: Whether a range of lines ends after 256 KiB although no `room` bounds it.
    """

    def __init__(self, root: Root, *, view_lines: int = DEFAULT_VIEW_LINES, caps_line_ranges: bool = True) -> None:
        self.root = root
        self.view_lines = view_lines
        self.caps_line_ranges = caps_line_ranges
        self._indexes = LineIndexes()
        self._landmarks = Landmarks()

    # ── view ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def view(
        self,
        file_path: str,
        offset: int = 0,
        limit: int | None = None,
        version: str | None = None,
        *,
        room: PageRoom | None = None,
        deadline: Deadline | None = None,
    ) -> Window:
        """Return lines `offset + 1` to `offset + limit` of a file, long ones clipped (V-1 to V-8).

        Args:
            file_path: The file, relative to the root or beneath it.
            offset: Lines to skip.
            limit: Lines to show, from 1 on; None for `view_lines`.
            version: The token of another page; the file must still be that one (B-8).
            room: What the page may take once it is rendered; None for one hard cap.
            deadline: Until when lines are counted; None for 10 seconds from now.

        Returns:
            The page, with its lines, the total (or "at least") and the calls for the pages before and behind it. An
            `offset` at or past the end gives no lines and the call for the last page.

        Raises:
            ToolError: There is no such file, it is binary, secret or cannot be read; it is no longer the one of
                `version` (`stale`); or line `offset + 1` of a huge file was not reached in time: the same call goes on
                from there.
        """
        _check(offset=offset)
        _check(1, limit=limit)
        room = Boundless() if room is None else room
        deadline = deadline or Deadline(READ_SECONDS)
        count = self.view_lines if limit is None else limit
        earlier = None if version is None else versions.parse(version)
        with texts.open_text(self.root, file_path) as text, self._index(text, deadline) as index:
            source = text.source
            call = Call("view", {"file_path": text.path})
            asked = call.but(offset=offset or None, limit=limit)
            said = texts.same_version(source, text.path, earlier, asked)
            start = self._line_start(text, index, offset, asked.but(version=version), deadline)
            lines, end, bound = self._view_lines(text, index, start, offset, count, deadline)
            fits = fitting.most(len(lines), lambda n: room.lines(lines[:n]), room.limit)
            # Lines beyond the room are taken off the end; a first line that alone is too long is shortened, because a
            # page has to advance.
            if fits < len(lines):
                bound = "budget"
                if fits == 0:
                    data = source.read(lines[0].start_byte, fitting.CLIP_BYTES)
                    lines[0] = fitting.shortened_line(lines[0], text.encoding, room, data, text.path)
                if len(lines) > 1:
                    end = lines[max(1, fits)].start_byte
                del lines[max(1, fits) :]
            self._count_on(source, index, deadline, eager=index.uses > 1)
            total, exact = index.total_lines(), index.is_complete(source.size_bytes)
            token = texts.token(source, end)
            following = previous = None
            # Nobody knows yet where the next line begins: what goes on is the rest of this one.
            if lines and lines[-1].is_endless:
                following = lines[-1].way
            elif lines and end < source.size_bytes:
                following = call.but(offset=offset + len(lines), limit=limit, version=token)
            if not lines and total:
                previous = call.but(offset=(total - 1) // count * count or None, limit=limit)
            elif offset and lines:
                size = self._lines_before(text, index, start, offset, count, room, deadline)
                previous = call.but(
                    offset=offset - size or None,
                    limit=limit if size == count else size,
                    version=texts.token(source, start),
                )
            return self._window(
                text,
                text="".join(line.text + line.ending for line in lines),
                start_byte=start,
                end_byte=end,
                first_line=offset + 1 if lines else 0,
                last_line=offset + len(lines) if lines else 0,
                lines=tuple(lines),
                total_lines=max(total, offset + len(lines) if lines else 0),
                total_lines_exact=exact,
                invalid_bytes=sum(line.invalid_bytes for line in lines),
                version=token,
                bound=bound,
                next=following,
                previous=previous,
                notices=tuple(said),
            )

    def _view_lines(
        self, text: TextFile, index: LineIndex, start: int, offset: int, count: int, deadline: Deadline
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
            # The common case by the thousand, the odd line (long, not ASCII) one by one, then the common case again.
            wanted = min(count - len(lines), _LINES_AT_ONCE)
            ordinary = fitting.ordinary_lines(encoding, offset + len(lines) + 1, block, at, wanted)
            lines += ordinary
            done = ordinary[-1].end_byte - at if ordinary else 0
            shown += done + _MIN_ROW * len(ordinary)
            while len(ordinary) < wanted and len(lines) < count and done < len(block):
                if shown > window.HARD_MAX_BYTES:
                    return lines, at + done, "hard cap"
                end = encoding.find(block, done)
                # The block ends within a line. A line that began further up is read again as the start of the next
                # block; one that fills a whole block is longer than any page, and only its beginning and its end are
                # looked for.
                if end < 0 and at + len(block) < source.size_bytes and not source.shrank:
                    if done:
                        break  # its end is in the next block, which begins with this line
                    line, after = self._endless(text, index, offset + len(lines), at, block, deadline)
                    lines.append(line)
                    if after is None:
                        return lines, source.size_bytes, "deadline"
                    shown += len(line.text)
                    done = after - at
                    break
                end = len(block) if end < 0 else end
                number = offset + len(lines) + 1
                lines.append(fitting.clipped_line(encoding, number, block[done:end], at + done, path))
                shown += len(lines[-1].text) + _MIN_ROW
                done = end
            at += done
        return lines, at, "limit" if at < source.size_bytes else "end"

    def _endless(
        self, text: TextFile, index: LineIndex, before: int, at: int, head: bytes, deadline: Deadline
    ) -> tuple[Line, int | None]:
        """Return the beginning of a line longer than a block, and the byte behind it, None when time did not reach that."""
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
        self, text: TextFile, index: LineIndex, start: int, offset: int, count: int, room: PageRoom, deadline: Deadline
    ) -> int:
        """Return how many of the `count` lines before line `offset` a page holds that ends exactly there.

        Paging back has to meet this page, so the number is found by trying: all of them, and half as many until they
        fit.
        """
        size = min(count, offset)
        few = min(
            _BLOCK_BYTES // 2, start, (min(room.limit, window.HARD_MAX_BYTES) - _WORST_ROW * size) // _WORST_ESCAPE
        )
        # However its bytes are escaped, a character takes at most `_WORST_ESCAPE` for each.
        few = text.encoding.align(few)
        if few > 0 and text.encoding.count(text.source.read(start - few, few)) > size:
            return size  # they are shorter than what fits however it is escaped: no need to find where they start
        while size > 1:
            begin = index.start_of(text.source, offset - size)
            if begin is None:
                return 1
            if _WORST_ESCAPE * (start - begin) + _WORST_ROW * size <= min(room.limit, window.HARD_MAX_BYTES):
                break
            lines, _, _ = self._view_lines(text, index, begin, offset - size, size, deadline)
            if len(lines) == size and room.lines(lines) <= room.limit:
                break
            size = (size + 1) // 2
        return size

    # ── read_file ────────────────────────────────────────────────────────────────────────────────────────────────

    def read_file(
        self,
        path: str,
        start_line: int | None = None,
        end_line: int | None = None,
        start_byte: int | None = None,
        max_bytes: int | None = None,
        version: str | None = None,
        encoding: str | None = None,
        *,
        room: PageRoom | None = None,
        deadline: Deadline | None = None,
    ) -> Window | OutlinePage:
        """Return lines, else bytes, else the whole of a small file or the outline of a large one (B-1).

        Args:
            path: The file, relative to the root or beneath it.
            start_line: The first line, 1-based; 0 means 1. Any line argument selects lines, and bytes are then ignored.
            end_line: The last line, inclusive; None for the end of the file.
            start_byte: Where the page begins; snapped back to the start of its line unless a page ended there.
            max_bytes: How many bytes it may hold, rounded to whole lines; None for 64 KiB, at most 256 KiB.
            version: The token of the page before; the file must still be that one.
            encoding: None for text, `base64` for the exact bytes of any file.
            room: What the page may take once it is rendered; None for one hard cap.
            deadline: Until when lines are counted; None for 10 seconds from now.

        Raises:
            ToolError: The file cannot be read as text, an argument cannot be, the file is no longer the one of
                `version` (`stale`), or a line was not reached in time.
        """
        _check(start_line=start_line, end_line=end_line, start_byte=start_byte, max_bytes=max_bytes)
        if encoding not in {None, "base64"}:
            raise ToolError(
                "bad_argument", notices.argument("encoding", 'leave it out, or "base64" for the exact bytes')
            )
        deadline = deadline or Deadline(READ_SECONDS)
        bounds = _Bounds(room, self.caps_line_ranges)
        earlier = None if version is None else versions.parse(version)
        lines = {
            name: value for name, value in (("start_line", start_line), ("end_line", end_line)) if value is not None
        }
        rest = {
            name: value for name, value in (("start_byte", start_byte), ("max_bytes", max_bytes)) if value is not None
        }
        if encoding is not None:
            with texts.open_file(self.root, path) as (source, shown):
                plain = TextFile(source, window.UTF8, shown)
                asked = Call("read_file", {"path": shown, **rest, "encoding": encoding})
                said = texts.same_version(source, shown, earlier, asked)
                if lines:
                    said.append(notices.ignored_arguments(list(lines), "the exact bytes"))
                return self._read_exact(plain, start_byte or 0, max_bytes, bounds, said)
        with texts.open_text(self.root, path) as text:
            asked = Call("read_file", {"path": text.path, **lines, **rest})
            said = texts.same_version(text.source, text.path, earlier, asked)
            if lines:
                if rest:
                    said.append(notices.ignored_arguments(list(rest), "a range of lines"))
                return self._read_lines(text, start_line, end_line, bounds, deadline, said)
            if rest:
                return self._read_bytes(text, start_byte or 0, max_bytes, bounds, said, earlier)
            return self._read_whole(text, bounds, deadline, said)

    def outline(
        self,
        path: str,
        offset: int = 0,
        limit: int | None = None,
        *,
        room: PageRoom | None = None,
        deadline: Deadline | None = None,
    ) -> OutlinePage | Window:
        """Return a page of a file's landmarks, or the file itself where that is hardly longer (B-11).

        Args:
            path: The file, relative to the root or beneath it.
            offset: Landmarks to skip.
            limit: Landmarks of the page, from 1 on; None for 200.
            room: What the page may take once it is rendered; None for one hard cap.
            deadline: Until when the file is scanned; None for 10 seconds from now.

        Raises:
            ToolError: The file cannot be read as text, or an argument cannot be.
        """
        _check(offset=offset)
        _check(1, limit=limit)
        bounds = _Bounds(room, self.caps_line_ranges)
        with texts.open_text(self.root, path) as text:
            return self._outline(
                text, offset, OUTLINE_LIMIT if limit is None else limit, bounds, deadline or Deadline(READ_SECONDS), []
            )

    def _outline(
        self, text: TextFile, offset: int, limit: int, bounds: _Bounds, deadline: Deadline, said: list[str]
    ) -> OutlinePage | Window:
        def content(max_bytes: int | None, why: str) -> Window:
            # Nobody asked for so many bytes: a cap below them is not told as one that was passed.
            size = None if max_bytes is None else min(max_bytes, bounds.cap)
            page = self._read_bytes(text, 0, size, bounds, [*said, why], None)
            # A short beginning is a look; who reads on wants pages of the usual size (B-13).
            return page if page.next is None else page._replace(next=page.next.but(max_bytes=None))

        return self._landmarks.page(text, offset, limit, content, bounds.room, deadline)

    def _read_whole(self, text: TextFile, bounds: _Bounds, deadline: Deadline, said: list[str]) -> Window | OutlinePage:
        """Return the whole of a file that is small enough and fits, else its outline."""
        source = text.source
        whole = min(WHOLE_FILE_BYTES, bounds.cap)
        if source.size_bytes <= whole:
            page = self._read_bytes(text, 0, whole, bounds, said, None)
            if page.end_byte == source.size_bytes:
                return page
        return self._outline(text, 0, OUTLINE_LIMIT, bounds, deadline, said)

    def _read_bytes(
        self,
        text: TextFile,
        start_byte: int,
        max_bytes: int | None,
        bounds: _Bounds,
        said: list[str],
        earlier: versions.Version | None,
    ) -> Window:
        """Return whole lines around a window of bytes, or characters of a line that is longer than the cap.

        `said` are notices to carry along, `earlier` is the version of the page before.
        """
        source, encoding, path = text
        asked = window.DEFAULT_MAX_BYTES if max_bytes is None else max_bytes
        wanted = min(asked, bounds.cap)
        # The one place where a page of this version ended. This page may begin there (reading on) or end there (reading
        # back), and keeps that place.
        meets = set() if earlier is None else {earlier.cursor_byte}
        keep_end = wanted > 0 and start_byte + wanted in meets
        keep_start = keep_end or start_byte in meets

        def cut(at: int, *, keep_start: bool) -> tuple[Extent, Extent]:
            # The extent is cut twice: by bytes, then by what it takes once it is rendered.
            whole = window.cut_bytes(
                source,
                encoding,
                start_byte=at,
                max_bytes=wanted,
                cap_bytes=bounds.cap,
                keep_start=keep_start,
                keep_end=keep_end,
            )
            return whole, fitting.head_of(whole, encoding, bounds.room)

        whole, extent = cut(start_byte, keep_start=keep_start)
        if extent.end_byte <= start_byte < source.size_bytes and extent.start_byte < encoding.align(start_byte):
            # What fits of the line does not reach to the byte that was asked for: its character comes first.
            at = whole.start_byte + encoding.floor_char(whole.data, start_byte - whole.start_byte)
            whole, extent = cut(at, keep_start=True)
        bound = "end" if extent.end_byte >= source.size_bytes else "line" if extent.fragment else "max_bytes"
        if bound == "max_bytes" and wanted == bounds.cap:
            bound = bounds.name
        if extent.end_byte < whole.end_byte:
            bound = "budget"
        if asked > bounds.cap and max_bytes is not None:
            said = [*said, notices.clamped(asked, bounds.cap)]
        if start_byte >= source.size_bytes:
            said = [*said, notices.end_of_file(source.size_bytes)]
        first, last, total = self._numbers(text, extent)
        token = texts.token(source, extent.end_byte, extent.data)
        following = None
        if extent.end_byte < source.size_bytes and extent.data:
            following = Call("read_file", {"path": path, "start_byte": extent.end_byte}).but(
                max_bytes=None if max_bytes is None else wanted, version=token
            )
        shown, invalid = fitting.decoded(encoding, extent)
        return self._window(
            text,
            text=shown,
            start_byte=extent.start_byte,
            end_byte=extent.end_byte,
            first_line=first,
            last_line=last,
            total_lines=total,
            total_lines_exact=total is not None,
            fragment=extent.fragment,
            invalid_bytes=invalid,
            version=token,
            bound=bound,
            cap_bytes=bounds.cap,
            next=following,
            previous=self._bytes_before(text, extent.start_byte, wanted, bounds),
            notices=tuple(said),
        )

    def _bytes_before(self, text: TextFile, start: int, wanted: int, bounds: _Bounds) -> Call | None:
        """Return the call whose page ends where this one starts (B-8): whole lines where they fit, else characters of one."""
        if start <= 0:
            return None
        source, encoding, path = text
        first = encoding.align(max(0, start - bounds.cap - 4))  # 4: to see whether a character begins at the cap
        data = source.read(first, start - first)
        cap = max(bounds.cap, 4 * encoding.unit)
        reach = max(0, len(data) - min(wanted, cap))  # from here on the page may begin
        # First choice: the first line start from `reach` on, so that the page holds whole lines. Where there is none
        # before the end of the data, the page ends in a line that is longer than it: it begins at the start of that
        # line if the cap reaches there, else at a character.
        begin = 0 if first == reach == 0 else encoding.find(data, max(0, reach - encoding.unit))
        if not encoding.ends_line(data) or not 0 <= begin < len(data):  # the end of one line, or one that is longer
            line = encoding.rfind(data, len(data) - encoding.unit)
            line = 0 if first == 0 and line < 0 else line
            if not encoding.ends_line(data) or line < len(data) - cap:
                last = encoding.floor_char(data, len(data) - 1)  # of at least the last character
                line = max(line, min(last, encoding.ceil_char(data, reach)))
            begin = line
        begin = fitting.tail_of(data, begin, encoding, bounds.room)
        version = texts.token(source, start, data)
        return Call(
            "read_file",
            {"path": path, "start_byte": first + begin, "max_bytes": len(data) - begin, "version": version},
        )

    def _read_exact(
        self, text: TextFile, start: int, max_bytes: int | None, bounds: _Bounds, said: list[str]
    ) -> Window:
        """Return the bytes themselves in base64, of any file (B-7)."""
        source = text.source
        # Base64 makes four characters of three bytes, and fills up the last ones.
        cap = bounds.cap // 4 * 3 - 3
        asked = window.DEFAULT_MAX_BYTES if max_bytes is None else max_bytes
        extent = window.cut_exact(source, start_byte=start, max_bytes=min(asked, cap))

        def base64(count: int) -> str:
            return b2a_base64(extent.data[:count], newline=False).decode("ascii")

        fits = fitting.most(len(extent.data), lambda n: bounds.room.text(base64(n)), bounds.room.limit)
        size = max(1, fits)
        end = extent.start_byte + len(extent.data[:size])
        token = texts.token(source, end)
        again = Call("read_file", {"path": text.path, "start_byte": end}).but(
            max_bytes=None if max_bytes is None else min(asked, cap), version=token, encoding="base64"
        )
        if asked > cap and max_bytes is not None:
            said = [*said, notices.clamped(asked, cap)]
        if start >= source.size_bytes:
            said = [*said, notices.end_of_file(source.size_bytes)]
        before = min(size, start)
        return self._window(
            text,
            text=base64(size),
            start_byte=extent.start_byte,
            end_byte=end,
            encoding="base64",
            version=token,
            bound="end" if end >= source.size_bytes else "max_bytes" if size == len(extent.data) else "budget",
            cap_bytes=cap,
            next=again if extent.data and end < source.size_bytes else None,
            previous=again.but(start_byte=start - before, max_bytes=before) if before and extent.data else None,
            notices=tuple(said),
        )

    def _read_lines(
        self,
        text: TextFile,
        start_line: int | None,
        end_line: int | None,
        bounds: _Bounds,
        deadline: Deadline,
        said: list[str],
    ) -> Window:
        """Return whole lines from `start_line` on, else the beginning of the first."""
        source, path = text.source, text.path
        first = max(1, 1 if start_line is None else start_line)
        # A range that goes down gives its first line, as B-2 has it, and says so: whoever swapped the two would not notice.
        if end_line is not None and end_line < first:
            said.append(f"end_line={end_line} is before start_line={first}: one line")
        last = None if end_line is None else max(first, end_line)
        call = Call("read_file", {"path": path, "start_line": first}).but(end_line=last)
        with self._index(text, deadline) as index:
            start = self._line_start(text, index, first - 1, call, deadline)
            count = None if last is None else last - first + 1
            extent, lines, bound = self._lines_at(text, start, first, count, bounds)
            self._count_on(source, index, deadline, eager=index.uses > 1)
            total, exact = index.total_lines(), index.is_complete(source.size_bytes)
            previous = None
            if lines and start:
                previous = self._line_page_before(text, index, first, len(lines), start, bounds)
            elif not lines and total:
                previous = Call("read_file", {"path": path, "start_line": max(1, total - self.view_lines + 1)})
        token = texts.token(source, extent.end_byte, extent.data)
        following = None
        # In the middle of a line no line number can name the place.
        if extent.fragment is not None and extent.end_byte < source.size_bytes:
            following = Call("read_file", {"path": path, "start_byte": extent.end_byte, "version": token})
        elif bound not in {"limit", "end"} and extent.end_byte < source.size_bytes:
            following = call.but(start_line=first + len(lines), version=token)
        last_shown = first + len(lines) - 1
        return self._window(
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
        self, text: TextFile, start: int, first: int, count: int | None, bounds: _Bounds
    ) -> tuple[Extent, list[Line], str]:
        """Return whole lines from byte `start` on, else the beginning of the first; and what ended them."""
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

    def _line_page_before(
        self, text: TextFile, index: LineIndex, first: int, count: int, start: int, bounds: _Bounds
    ) -> Call | None:
        """Return the call for up to `count` lines that end before line `first`, which starts at byte `start`."""
        size = min(count, first - 1)
        while size:
            begin = index.start_of(text.source, first - 1 - size)
            if begin is None:
                break
            fits = _WORST_ESCAPE * (start - begin) + _WORST_ROW * size <= min(bounds.room.limit, bounds.cap)
            if not fits and start - begin <= (bounds.line_cap or start):
                extent, _, _ = self._lines_at(text, begin, first - size, size, bounds)
                fits = extent.end_byte == start and extent.fragment is None
            if fits:
                return Call("read_file", {"path": text.path, "start_line": first - size, "end_line": first - 1})
            size //= 2
        return self._bytes_before(text, start, bounds.cap, bounds)

    # ── what they share ──────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def _index(self, text: TextFile, deadline: Deadline) -> Iterator[LineIndex]:
        """Borrow the index of a file's lines for the block. Raises `ToolError` (busy) where another call holds it too long."""
        index = self._indexes.borrow(text.source, text.encoding, deadline)
        if index is None:
            raise ToolError("busy", "Another call is counting the lines of this file. Try again.")
        index.uses += 1
        try:
            yield index
        finally:
            self._indexes.give_back(text.source, index)

    def _line_start(self, text: TextFile, index: LineIndex, skipped: int, again: Call, deadline: Deadline) -> int:
        """Return the byte where the line behind `skipped` lines starts; the end of the file where there is none.

        Raises:
            ToolError: `deadline`: time ended before the scan came there. What was counted is kept, so that the same
                call goes on.
        """
        source = text.source
        if skipped:
            index.advance(source, lambda: index.seen >= skipped or deadline.passed)
        start = index.start_of(source, skipped)
        if start is None:
            if not index.is_complete(source.size_bytes) and not source.shrank:
                message = _not_reached(skipped + 1, index.seen, index.scanned_bytes, source.size_bytes)
                raise ToolError("deadline", message, again)
            start = source.size_bytes
        return start

    def _count_on(self, source: FileSource, index: LineIndex, deadline: Deadline, *, eager: bool) -> None:
        """Carry the index on: to the end of a file of ordinary size, a stretch further in a large one (V-6)."""
        if source.size_bytes <= EXACT_TOTAL_BYTES:
            index.advance(source, lambda: deadline.passed)
        # Not for the first call: who looks once does not need the total, who pages on will.
        elif eager:
            stretch = Deadline(CARRY_ON_SECONDS)
            index.advance(source, lambda: stretch.passed or deadline.passed)

    def _numbers(self, text: TextFile, extent: Extent) -> tuple[int | None, int | None, int | None]:
        """Return first and last line of an extent and the total, where they are known or cost no more than the extent (B-9)."""
        source, encoding, _ = text
        # Without waiting: a page by bytes is worth more than its line numbers.
        index = self._indexes.borrow(source, encoding, Deadline(0))
        if index is None:
            return None, None, None
        try:
            first = last = None
            if extent.data and index.scanned_bytes >= extent.start_byte - window.HARD_MAX_BYTES:
                index.advance(source, lambda: index.scanned_bytes >= extent.end_byte)
                before = index.lines_before(source, extent.start_byte, window.HARD_MAX_BYTES)
                if before is not None:
                    inside = encoding.count(extent.data)
                    first = before + 1
                    last = first if extent.fragment else before + inside + (not encoding.ends_line(extent.data))
            return first, last, index.total_lines() if index.is_complete(source.size_bytes) else None
        finally:
            self._indexes.give_back(source, index)

    def _window(self, opened: TextFile, *, notices: tuple[str, ...] = (), **fields: object) -> Window:
        """Return a window over an open file; unless `fields` bring one, its version stands for the place where the page ends."""
        source = opened.source
        defaults: dict[str, object] = {"encoding": opened.encoding.name}
        if "version" not in fields:
            defaults["version"] = texts.token(source, int(fields["end_byte"]))  # type: ignore[call-overload]
        said = (*notices, *source.notices())
        return Window(path=opened.path, total_bytes=source.size_bytes, notices=said, **{**defaults, **fields})  # type: ignore[arg-type]


def _not_reached(line: int, reached: int, scanned_bytes: int, size_bytes: int) -> str:
    """Return the sentence that says how far a call came on its way to a line."""
    share = f"{100 * scanned_bytes / size_bytes:.2f} %"
    return (
        f"Line {line} was not reached in the time of one call: {reached} lines counted, {share} of the file. "
        "The same call goes on from there."
    )


class _Bounds:
    """What a page of `read_file` may take: the room, and the cap in force with its name.

    Args:
        room: What the caller has; None for no bound but the hard cap.
        caps_line_ranges: Whether a range of lines is bounded without a room.
    """

    def __init__(self, room: PageRoom | None, caps_line_ranges: bool) -> None:
        self.room: PageRoom = Boundless() if room is None else room
        self.cap = min(window.HARD_MAX_BYTES, self.room.cap_bytes)
        self.name = "hard cap" if self.cap == window.HARD_MAX_BYTES else "budget"
        self.line_cap = self.cap if room is not None or caps_line_ranges else None
        """Bytes of a range of lines, None for no bound."""


def _check(least: int = 0, **numbers: int | None) -> None:
    """Raise `ToolError` for a number that no page can have. Faces check more, and say more (`tools`)."""
    for name, number in numbers.items():
        if number is not None and number < least:
            raise ToolError("bad_argument", notices.argument(name, f"takes an integer from {least} on, not {number}"))

"""What does a page of a file hold? `view`, `read_file` and `outline`, as values.

Bounds apply to the section that is returned, never to the file (V-10). A page costs only its window: line numbers come from an
index that is extended as a by-product. Law: following `next` from the start visits every byte once; every `next` advances. Leaves
to others: argument checks and wording (`tools`, `notices`), how a path becomes a text (`texts`), and how much of it fits
(`fitting`).

How a page is bounded. Three bounds hold at once: what was asked for, one hard cap of bytes (so that a page costs no more memory
than that), and the caller's room for the page as rendered. The first bound reached wins and is named in `Window.bound`. If not even
one line fits, a page holds as many of its characters as fit, and at least one: an empty page would be requested forever.

How pages meet. The version token of a page records where it ended. A call that carries such a token and begins exactly there is a
continuation: its start is kept, even in mid-line. Any other start snaps back to the start of its line (B-4, B-5). If a continuation
snapped, a line longer than a page would be read from its start again and again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.text import escape, notices, window
from penstock.text.calls import Call
from penstock.workspace import texts
from penstock.workspace import version as versions
from penstock.workspace.deadline import READ_SECONDS, Deadline
from penstock.workspace.fitting import Boundless, PageRoom
from penstock.workspace.landmarks import NO_SHORTER, OUTLINE_LIMIT, Landmarks, OutlinePage
from penstock.workspace.line_counts import LineCounts
from penstock.workspace.pages import PageBounds, ViewAsked
from penstock.workspace.records import RecordFiles, outline_records, view_records
from penstock.workspace.refusals import expect_from
from penstock.workspace.texts import TextFile
from penstock.workspace.views import view_page

if TYPE_CHECKING:
    from penstock.text.window import Window
    from penstock.workspace.root import Root

__all__ = ["DEFAULT_VIEW_LINES", "OutlinePage", "PageRoom", "Reader"]

# deepagents shows 100 too; crush 200 (2,000 until 2026-05); most others 2,000.
DEFAULT_VIEW_LINES = 100
"""How many lines `view` shows by default (V-1)."""
WHOLE_FILE_BYTES = 16_384  # as in Zed
"""A read without a range shows the whole of a file up to this size, and the outline of a larger one (B-1)."""


class Reader:
    """Pages of the files beneath a root. Several threads may use it.

    Args:
        root: The root that opens everything.
        view_lines: How many lines `view` shows by default.
        caps_line_ranges: Whether a range of lines ends after 256 KiB even if no `room` bounds it.
    """

    def __init__(self, root: Root, *, view_lines: int = DEFAULT_VIEW_LINES, caps_line_ranges: bool = True) -> None:
        self.root = root
        self.view_lines = view_lines
        self.caps_line_ranges = caps_line_ranges
        self._counts = LineCounts()
        self._landmarks = Landmarks()
        self._records = RecordFiles()

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
            version: The token of another page; the file must still be that version (B-8).
            room: What the page may take once it is rendered; None for one hard cap.
            deadline: Until when lines are counted; None for 10 seconds from now.

        Returns:
            The page, with its lines, the total (or "at least") and the calls for the previous and next page. An `offset` at or past
            the end gives no lines and the call for the last page.

        Raises:
            ToolError: There is no such file, it is binary, secret or unreadable; it is no longer the one of `version` (`stale`); or
                line `offset + 1` of a huge file was not reached in time: the same call continues from there.
        """
        expect_from(0, offset=offset)
        expect_from(1, limit=limit)
        deadline = deadline or Deadline(READ_SECONDS)
        lines = self.view_lines if limit is None else limit
        asked = ViewAsked(offset, None if lines == self.view_lines else lines, version, lines=lines)
        unversioned = asked.call(escape.show_argument(file_path), version=None)
        earlier = None if version is None else versions.parse(version, unversioned)
        with texts.open_text(self.root, file_path) as text:
            said = texts.same_version(text.source, text.path, earlier, asked.call(text.path, version=None))
            room = room or Boundless()
            with self._records.of(text, deadline, self._counts) as records:
                if records is not None:
                    return view_records(records, asked, room, said)
            if earlier is not None and offset and self._records.had(text, earlier.size_bytes, deadline, self._counts):
                raise texts.no_longer_records(text.path, asked.call(text.path, version=None))
            return view_page(text, self._counts, asked, room, deadline, said)

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
            version: The token of the previous page; the file must still be that version.
            encoding: None for text, `base64` for the exact bytes of any file.
            room: What the page may take once it is rendered; None for one hard cap.
            deadline: Until when lines are counted; None for 10 seconds from now.

        Raises:
            ToolError: The file cannot be read as text, an argument is invalid, the file is no longer the one of `version`
                (`stale`), or a line was not reached in time.
        """
        expect_from(0, start_line=start_line, end_line=end_line, start_byte=start_byte, max_bytes=max_bytes)
        if encoding not in {None, "base64"}:
            raise ToolError(
                "bad_argument",
                notices.argument("encoding", 'leave it out, or "base64" for the exact bytes'),
                Call("read_file", {"path": escape.show_argument(path), "encoding": "base64"}),
            )
        # As below: a view needs neither, and starts without them.
        from penstock.workspace.byte_pages import byte_page, exact_page
        from penstock.workspace.line_ranges import line_range

        deadline = deadline or Deadline(READ_SECONDS)
        bounds = PageBounds(room, self.caps_line_ranges)
        lines = {
            name: value for name, value in (("start_line", start_line), ("end_line", end_line)) if value is not None
        }
        rest = {
            name: value for name, value in (("start_byte", start_byte), ("max_bytes", max_bytes)) if value is not None
        }
        kind = {} if encoding is None else {"encoding": encoding}
        unversioned = Call("read_file", {"path": escape.show_argument(path), **lines, **rest, **kind})
        earlier = None if version is None else versions.parse(version, unversioned)
        if encoding is not None:
            with texts.open_file(self.root, path) as (source, shown):
                plain = TextFile(source, window.UTF8, shown)
                asked = Call("read_file", {"path": shown, **rest, **kind})
                said = texts.same_version(source, shown, earlier, asked)
                if lines:
                    said.append(notices.ignored_arguments(list(lines), "the exact bytes"))
                return exact_page(plain, start_byte or 0, max_bytes, bounds, said)
        with texts.open_text(self.root, path) as text:
            asked = Call("read_file", {"path": text.path, **lines, **rest})
            said = texts.same_version(text.source, text.path, earlier, asked)
            if lines:
                if rest:
                    said.append(notices.ignored_arguments(list(rest), "a range of lines"))
                return line_range(
                    text, self._counts, start_line, end_line, bounds, deadline, said, view_lines=self.view_lines
                )
            if not rest:
                return self._read_whole(text, bounds, deadline, said)
            with self._records.of(text, deadline) as records:
                return byte_page(text, self._counts, start_byte or 0, max_bytes, bounds, said, earlier, records)

    def outline(
        self,
        path: str,
        offset: int = 0,
        limit: int | None = None,
        *,
        room: PageRoom | None = None,
        deadline: Deadline | None = None,
    ) -> OutlinePage | Window:
        """Return a page of a file's landmarks, or the file itself if that is hardly longer (B-11).

        Args:
            path: The file, relative to the root or beneath it.
            offset: Landmarks to skip.
            limit: Landmarks of the page, from 1 on; None for 200.
            room: What the page may take once it is rendered; None for one hard cap.
            deadline: Until when the file is scanned; None for 10 seconds from now.

        Raises:
            ToolError: The file cannot be read as text, or an argument is invalid.
        """
        expect_from(0, offset=offset)
        expect_from(1, limit=limit)
        bounds = PageBounds(room, self.caps_line_ranges)
        with texts.open_text(self.root, path) as text:
            return self._outline(
                text, offset, OUTLINE_LIMIT if limit is None else limit, bounds, deadline or Deadline(READ_SECONDS), []
            )

    def _outline(
        self, text: TextFile, offset: int, limit: int, bounds: PageBounds, deadline: Deadline, said: list[str]
    ) -> OutlinePage | Window:
        from penstock.workspace.byte_pages import byte_page

        with self._records.of(text, deadline, self._counts) as records:

            def content(max_bytes: int | None, why: str) -> Window:
                # Nobody asked for that many bytes, so a lower cap is not reported as exceeded.
                size = None if max_bytes is None else min(max_bytes, bounds.cap)
                page = byte_page(text, self._counts, 0, size, bounds, [*said, why], None, records)
                # A short beginning is a preview; a reader who continues wants pages of the usual size (B-13).
                return page if page.next is None else page._replace(next=page.next.but(max_bytes=None))

            if records is not None:
                return outline_records(records, offset, limit, bounds.room) or content(None, NO_SHORTER)
            return self._landmarks.page(text, offset, limit, content, bounds.room, deadline)

    def _read_whole(
        self, text: TextFile, bounds: PageBounds, deadline: Deadline, said: list[str]
    ) -> Window | OutlinePage:
        """Return a whole file if it is small enough and fits, else its outline."""
        from penstock.workspace.byte_pages import byte_page

        source = text.source
        whole = min(WHOLE_FILE_BYTES, bounds.cap)
        if source.size_bytes <= whole:
            page = byte_page(text, self._counts, 0, whole, bounds, said, None)
            if page.end_byte == source.size_bytes:
                return page
        return self._outline(text, 0, OUTLINE_LIMIT, bounds, deadline, said)

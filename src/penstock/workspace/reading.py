"""Which page of this file? `view`, `read_file` and `outline` as values.

Bounds apply to the section that is returned, never to the file (V-10). A page costs its window: line numbers come from an
index that is carried on as a by-product. Law: following `next` from the start visits every byte once; every `next` advances.
Keeps out: argument checks and wording (tools, notices), and how a path becomes a descriptor (root).
"""

from __future__ import annotations

import os
import stat
from base64 import b64encode
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from penstock import inert, notices, window
from penstock.calls import Call
from penstock.errors import ToolError
from penstock.notices import SHRANK
from penstock.page import Page, cut
from penstock.window import Encoding, Extent, Fragment, Line, Window
from penstock.workspace import root as roots
from penstock.workspace import version as versions
from penstock.workspace.deadline import READ_SECONDS, Deadline
from penstock.workspace.lines import LineIndex, LineIndexes
from penstock.workspace.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.outline import Outline, Symbol
    from penstock.workspace.root import Root

DEFAULT_VIEW_LINES = (
    100  # ADR-002 of the seed says 100, and deepagents; crush 200 (2,000 until 2026-05); most others 2,000
)
WHOLE_FILE_BYTES = 16_384  # a read without a range shows the whole of a smaller file (B-1), as in Zed
CLIP_CHARACTERS = 2_000  # of a line in `view` (V-8); opencode, crush, Gemini CLI and Cline clip there too
EXACT_TOTAL_BYTES = 64 << 20  # up to here the number of lines is always exact (V-6)
CARRY_ON_SECONDS = 1.0  # how much further a later call counts in a larger file: some 1.6 GB
OUTLINE_LIMIT = 200
OUTLINE_HEAD_BYTES = 1024  # shown where there are no landmarks (B-11)
OUTLINE_SHARE = 0.8  # an outline of this share of the content is no shorter way: the content it is (B-11)
_BLOCK_BYTES = 64 << 10
_KEPT_OUTLINES = 8


class Room(Protocol):
    """What a page may take once it is rendered. Costs never fall as what they measure grows."""

    limit: int
    cap_bytes: int  # fixed for a server or client, so that pages do not depend on the length of their headers (B-3)

    def lines(self, lines: Sequence[Line]) -> int: ...
    def text(self, text: str) -> int: ...
    def symbols(self, symbols: Sequence[Symbol]) -> int: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class OutlinePage:
    """A page of the landmarks of a file; `complete` is False when the time of a call did not reach to its end."""

    path: str
    page: Page[Symbol]
    language: str
    method: str
    complete: bool
    total_lines: int
    total_bytes: int
    version: str
    next: Call | None = None


class _Text(NamedTuple):
    """An open file that holds text."""

    source: FileSource
    encoding: Encoding
    path: str  # inert, relative to the root; opens the file again


class Reader:
    """Pages of the files beneath a root. Several threads may use it."""

    def __init__(self, root: Root, *, view_lines: int = DEFAULT_VIEW_LINES, caps_line_ranges: bool = True) -> None:
        self.root = root
        self.view_lines = view_lines
        self.caps_line_ranges = caps_line_ranges
        self._indexes = LineIndexes()
        self._outlines: OrderedDict[tuple[int, ...], Outline] = OrderedDict()

    # ── view ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def view(
        self,
        file_path: str,
        offset: int = 0,
        limit: int | None = None,
        *,
        room: Room | None = None,
        deadline: Deadline | None = None,
    ) -> Window:
        """Lines `offset + 1` to `offset + limit`, long ones clipped (V-1 to V-8). Raises `ToolError`."""
        deadline = deadline or Deadline(READ_SECONDS)
        count = self.view_lines if limit is None else limit
        with self._text(file_path) as text, self._index(text, deadline) as index:
            source, encoding, path = text
            call = Call("view", {"file_path": path})
            was_used = index.scanned_bytes > 0
            start = self._line_start(text, index, offset, call.but(offset=offset or None, limit=limit), deadline)
            lines, end, bound = self._view_lines(text, index, start, offset, count, deadline)
            fitting = _most(len(lines), lambda n: room is None or room.lines(lines[:n]) <= room.limit)
            if fitting < len(lines):
                bound = "budget"
                if fitting == 0:
                    lines[0] = _clip_to_room(
                        lines[0], encoding, room, source.read(lines[0].start_byte, 4 * CLIP_CHARACTERS)
                    )
                    fitting = 1
                del lines[fitting:]
                after = index.start_of(source, offset + fitting)
                end = source.size_bytes if after is None else after
            self._count_on(source, index, deadline, eager=was_used)
            total, exact = index.total_lines(), index.is_complete(source.size_bytes)
            following = previous = None
            if lines and lines[-1].is_endless:
                following = Call(
                    "read_file", {"path": path, "start_byte": lines[-1].start_byte + lines[-1].shown_bytes}
                )
            elif lines and end < source.size_bytes:
                following = call.but(offset=offset + len(lines), limit=limit)
            if not lines and total:
                previous = call.but(offset=(total - 1) // count * count or None, limit=limit)
            elif offset and lines:
                size = min(count, offset)
                previous = call.but(offset=offset - size or None, limit=limit if size == count else size)
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
                bound=bound,
                next=following,
                previous=previous,
            )

    def _view_lines(
        self, text: _Text, index: LineIndex, start: int, offset: int, count: int, deadline: Deadline
    ) -> tuple[list[Line], int, str]:
        """The lines from byte `start` on, where they end, and what ended them: at most one hard cap of text."""
        source, encoding, _ = text
        lines: list[Line] = []
        at, shown = start, 0
        while at < source.size_bytes and len(lines) < count:
            block = source.read(at, _BLOCK_BYTES)
            if not block:
                break
            done = 0
            while len(lines) < count and done < len(block):
                if shown > window.HARD_MAX_BYTES:
                    return lines, at + done, "hard cap"
                end = encoding.find(block, done)
                if end < 0 and at + len(block) < source.size_bytes:
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
                line = _line(encoding, offset + len(lines) + 1, block[done:end], at + done)
                lines.append(line)
                shown += len(line.text)
                done = end
            at += done
        return lines, at, "limit" if at < source.size_bytes else "end"

    def _endless(
        self, text: _Text, index: LineIndex, before: int, at: int, head: bytes, deadline: Deadline
    ) -> tuple[Line, int | None]:
        """A line longer than a block: its beginning, and the byte behind it, None when time did not reach that."""
        source, encoding, _ = text
        index.advance(source, lambda: index.seen > before or deadline.passed)
        after = index.start_of(source, before + 1)
        if after is None and index.is_complete(source.size_bytes):
            after = source.size_bytes
        known = index.scanned_bytes if after is None else after
        line = _line(encoding, before + 1, head, at, full_bytes=known - at)
        return replace(line, is_endless=after is None), after

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
        room: Room | None = None,
        deadline: Deadline | None = None,
    ) -> Window | OutlinePage:
        """Lines, else bytes, else the whole of a small file or the outline of a large one (B-1). Raises `ToolError`."""
        deadline = deadline or Deadline(READ_SECONDS)
        cap = window.HARD_MAX_BYTES if room is None else min(window.HARD_MAX_BYTES, room.cap_bytes)
        if encoding == "base64":
            return self._read_exact(path, start_byte or 0, max_bytes, version, cap)
        with self._text(path) as text:
            earlier, said = self._same_version(text, version, start_line, end_line, start_byte, max_bytes)
            if start_line is not None or end_line is not None:
                ignored = [
                    name for name, value in (("start_byte", start_byte), ("max_bytes", max_bytes)) if value is not None
                ]
                said += [notices.ignored_arguments(ignored, "a range of lines")] if ignored else []
                page = self._read_lines(text, start_line, end_line, cap, room, deadline)
            elif start_byte is not None or max_bytes is not None:
                resume = earlier is not None and earlier.cursor_byte == start_byte
                page = self._read_bytes(text, start_byte or 0, max_bytes, cap, room, resume=resume)
            else:
                return self._read_whole(text, cap, room, deadline)
            return replace(page, notices=(*said, *page.notices))

    def _read_whole(self, text: _Text, cap: int, room: Room | None, deadline: Deadline) -> Window | OutlinePage:
        source = text.source
        if source.size_bytes <= min(WHOLE_FILE_BYTES, cap):
            page = self._read_bytes(text, 0, WHOLE_FILE_BYTES, cap, room, resume=False)
            if page.end_byte == source.size_bytes:
                return page
        return self._outline(text, 0, OUTLINE_LIMIT, cap, room, deadline)

    def _read_bytes(
        self,
        text: _Text,
        start_byte: int,
        max_bytes: int | None,
        cap: int,
        room: Room | None,
        *,
        resume: bool,
    ) -> Window:
        source, encoding, path = text
        asked = window.DEFAULT_MAX_BYTES if max_bytes is None else max_bytes
        wanted = min(asked, cap)
        extent = window.cut_bytes(
            source, encoding, start_byte=start_byte, max_bytes=wanted, cap_bytes=cap, resume=resume
        )
        bound = "end" if extent.end_byte >= source.size_bytes else "line" if extent.fragment else "max_bytes"
        said = [notices.clamped(asked, cap)] if max_bytes is not None and max_bytes > cap else []
        if start_byte >= source.size_bytes:
            said.append(notices.end_of_file(source.size_bytes))
        if bound == "max_bytes" and wanted == cap:
            bound = "hard cap" if cap == window.HARD_MAX_BYTES else "budget"
        fitted = _fit_extent(extent, encoding, room)
        if fitted.end_byte < extent.end_byte:
            extent, bound = fitted, "budget"
        first, last = self._numbers(text, extent)
        if last is not None and extent.fragment is not None:
            last = first
        token = self._token(source, extent.end_byte, extent.data)
        following = None
        if extent.end_byte < source.size_bytes and extent.data:
            following = Call("read_file", {"path": path, "start_byte": extent.end_byte}).but(
                max_bytes=None if max_bytes is None else wanted, version=token
            )
        shown, invalid = _decode(encoding, extent)
        return self._window(
            text,
            text=shown,
            start_byte=extent.start_byte,
            end_byte=extent.end_byte,
            first_line=first,
            last_line=last,
            total_lines=self._known_total(text),
            total_lines_exact=True,
            fragment=extent.fragment,
            invalid_bytes=invalid,
            version=token,
            bound=bound,
            cap_bytes=cap,
            next=following,
            previous=self._previous(text, extent.start_byte, wanted, cap, token),
            notices=tuple(said),
        )

    def _previous(self, text: _Text, start: int, wanted: int, cap: int, token: str) -> Call | None:
        """The call whose page ends where this one starts (B-8)."""
        if start <= 0:
            return None
        source, encoding, path = text
        reach = max(min(wanted, cap), 1)
        first = encoding.align(max(0, start - cap))
        data = source.read(first, start - first + 4)
        at = start - first
        # The first line start within reach; else the start of the last line, unless that is longer than the cap.
        begin = encoding.find(data[:at], max(0, at - reach - encoding.unit)) if at > reach or first else 0
        if begin < 0 or begin >= at:
            begin = encoding.rfind(data, at - encoding.unit)
            if begin < 0:
                begin = 0 if first == 0 and at <= cap else encoding.floor_char(data, max(at - reach, 0))
        return Call(
            "read_file",
            {"path": path, "start_byte": first + begin, "max_bytes": at - begin, "version": token},
        )

    def _read_exact(self, path: str, start: int, max_bytes: int | None, version: str | None, cap: int) -> Window:
        """The bytes themselves in base64, of any file (B-7)."""
        with self._file(path) as (source, shown):
            plain = _Text(source, window.UTF8, shown)
            _, said = self._same_version(plain, version, None, None, start, max_bytes)
            cap = cap // 4 * 3 - 3
            asked = window.DEFAULT_MAX_BYTES if max_bytes is None else max_bytes
            extent = window.cut_exact(source, start_byte=start, max_bytes=min(asked, cap))
            token = self._token(source, extent.end_byte, extent.data)
            again = Call("read_file", {"path": shown}).but(max_bytes=max_bytes, version=token, encoding="base64")
            size = min(asked, cap)
            return self._window(
                plain,
                text=b64encode(extent.data).decode("ascii"),
                start_byte=extent.start_byte,
                end_byte=extent.end_byte,
                encoding="base64",
                version=token,
                bound="end" if extent.end_byte >= source.size_bytes else "max_bytes",
                cap_bytes=cap,
                next=again.but(start_byte=extent.end_byte)
                if extent.end_byte < source.size_bytes and extent.data
                else None,
                previous=again.but(start_byte=max(0, start - size), max_bytes=min(size, start))
                if start and extent.data
                else None,
                notices=(
                    *said,
                    *([notices.clamped(asked, cap)] if asked > cap and max_bytes is not None else []),
                ),
            )

    def _read_lines(
        self,
        text: _Text,
        start_line: int | None,
        end_line: int | None,
        cap: int,
        room: Room | None,
        deadline: Deadline,
    ) -> Window:
        source, encoding, path = text
        first = max(1, 1 if start_line is None else start_line)
        last = None if end_line is None else max(first, end_line)
        call = Call("read_file", {"path": path}).but(start_line=first, end_line=last)
        with self._index(text, deadline) as index:
            was_used = index.scanned_bytes > 0
            start = self._line_start(text, index, first - 1, call, deadline)
            limit = source.size_bytes - start if room is None and not self.caps_line_ranges else cap
            data = source.read(start, limit + 4)
            end, bound, lines_cut = _end_of_lines(encoding, data, None if last is None else last - first + 1, limit)
            if end == len(data) and start + end >= source.size_bytes:
                bound = "end"
            fragment = None
            if end < 0:  # the first line alone is longer than the cap
                end, bound = encoding.floor_char(data, limit), "line"
                fragment = Fragment(line_start_byte=start, line_end_byte=None)
            extent = Extent(start_byte=start, end_byte=start + end, data=data[:end], fragment=fragment)
            lines = _lines(encoding, extent, first)
            fitting = _most(len(lines), lambda n: room is None or room.lines(lines[:n]) <= room.limit)
            if fitting < len(lines):
                bound, lines_cut = "budget", True
                if fitting == 0:
                    keep = _clip_to_room(lines[0], encoding, room, extent.data).shown_bytes
                    extent = window.shorten(extent, encoding, start + keep)
                    lines = _lines(encoding, extent, first)
                else:
                    lines = lines[:fitting]
                    extent = window.shorten(extent, encoding, start + _behind_lines(encoding, extent.data, fitting))
            self._count_on(source, index, deadline, eager=was_used)
            total, exact = index.total_lines(), index.is_complete(source.size_bytes)
        token = self._token(source, extent.end_byte, extent.data)
        following = None
        if extent.fragment is not None and extent.end_byte < source.size_bytes:
            following = Call("read_file", {"path": path, "start_byte": extent.end_byte, "version": token})
        elif lines_cut and extent.end_byte < source.size_bytes:
            following = call.but(start_line=first + len(lines), version=token)
        last_shown = first + len(lines) - 1
        if not lines:
            previous_page = Call("read_file", {"path": path, "start_line": max(1, total - self.view_lines + 1)})
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
            invalid_bytes=encoding.decode(extent.data)[1],
            version=token,
            bound=bound,
            cap_bytes=cap,
            next=following,
            previous=previous_page if not lines and total else None,
        )

    def _same_version(
        self,
        text: _Text,
        token: str | None,
        start_line: int | None,
        end_line: int | None,
        start_byte: int | None,
        max_bytes: int | None,
    ) -> tuple[versions.Version | None, list[str]]:
        """The version that the caller's earlier page showed; `ToolError` (stale) when the file is no longer that (B-8)."""
        if token is None:
            return None, []
        earlier = versions.parse(token)
        source = text.source
        change = versions.compare(earlier, source, source.status)
        if change is versions.Change.SAME:
            return earlier, []
        if change is versions.Change.GREW:
            return earlier, [notices.grew(source.size_bytes - earlier.size_bytes)]
        again = Call("read_file", {"path": text.path})
        go_on = again.but(start_line=start_line, end_line=end_line, start_byte=start_byte, max_bytes=max_bytes)
        restart = again.but(start_line=1) if start_line is not None or end_line is not None else again.but(start_byte=0)
        size = f"{earlier.size_bytes} to {source.size_bytes} bytes"
        what = f"{change.value} ({size})" if earlier.size_bytes != source.size_bytes else change.value
        raise ToolError("stale", notices.stale(inert.clip(text.path), what), restart, go_on)

    # ── outline ──────────────────────────────────────────────────────────────────────────────────────────────────

    def outline(
        self,
        path: str,
        offset: int = 0,
        limit: int | None = None,
        *,
        room: Room | None = None,
        deadline: Deadline | None = None,
    ) -> OutlinePage | Window:
        """A page of landmarks, or the file itself where that is hardly longer (B-11). Raises `ToolError`."""
        cap = window.HARD_MAX_BYTES if room is None else min(window.HARD_MAX_BYTES, room.cap_bytes)
        with self._text(path) as text:
            return self._outline(
                text,
                offset,
                OUTLINE_LIMIT if limit is None else limit,
                cap,
                room,
                deadline or Deadline(READ_SECONDS),
            )

    def _outline(
        self, text: _Text, offset: int, limit: int, cap: int, room: Room | None, deadline: Deadline
    ) -> OutlinePage | Window:
        source = text.source
        landmarks = self._landmarks(text, deadline)
        if offset == 0:
            length = sum(len(symbol.name) + 2 * symbol.depth + 10 for symbol in landmarks.symbols)
            if not landmarks.symbols:
                return self._read_bytes(text, 0, OUTLINE_HEAD_BYTES, cap, room, resume=False)
            if length >= OUTLINE_SHARE * source.size_bytes:
                return self._read_bytes(text, 0, None, cap, room, resume=False)
        page = cut(landmarks.symbols, offset, limit)
        if room is not None:
            fitting = max(1, _most(len(page.items), lambda n: room.symbols(page.items[:n]) <= room.limit))
            if fitting < len(page.items):
                page = Page(items=page.items[:fitting], offset=offset, limit=limit, total=page.total, more=True)
        call = Call("outline", {"path": text.path}).but(limit=None if limit == OUTLINE_LIMIT else limit)
        return OutlinePage(
            path=text.path,
            page=page,
            language=landmarks.language,
            method=landmarks.method,
            complete=landmarks.complete,
            total_lines=landmarks.total_lines,
            total_bytes=source.size_bytes,
            version=self._token(source, source.size_bytes, b""),
            next=None if page.next_offset is None else call.but(offset=page.next_offset),
        )

    def _landmarks(self, text: _Text, deadline: Deadline) -> Outline:
        from penstock import outline as landmarks

        source, encoding, _ = text
        status = source.status
        key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        kept = self._outlines.get(key)
        if kept is not None:
            return kept
        name = os.fsdecode(os.path.basename(source.file.relative))
        language = landmarks.language_of(name, source.read(0, _BLOCK_BYTES))
        if source.size_bytes <= landmarks.EXACT_BYTES and encoding.unit == 1:
            found = landmarks.outline(source.read(encoding.bom_bytes, source.size_bytes), language)
        else:
            scanner = landmarks.Scanner(language)
            at = encoding.bom_bytes
            while at < source.size_bytes and not deadline.passed:
                block = source.read(at, 4 * _BLOCK_BYTES)
                if not block:
                    break
                at += len(block)
                scanner.feed(block if encoding.unit == 1 else encoding.decode(block)[0].encode("utf-8", "replace"))
            found = scanner.outline()
            if at < source.size_bytes:
                return found._replace(complete=False)
        self._outlines[key] = found
        while len(self._outlines) > _KEPT_OUTLINES:
            self._outlines.popitem(last=False)
        return found

    # ── what they share ──────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def _file(self, path: str) -> Iterator[tuple[FileSource, str]]:
        relative = self.root.relative(path)
        try:
            file = self.root.open_file(relative)
        except ToolError as error:
            shown = inert.show_name(relative)
            if error.code == "is_directory":
                raise ToolError(
                    error.code, error.message, Call("list_files", {} if shown == "." else {"path": shown})
                ) from error
            if error.code == "not_found" and (similar := self._similar(relative)):
                raise ToolError(error.code, f"{error.message} {notices.did_you_mean(similar)}") from error
            raise
        try:
            yield FileSource(file), inert.show_name(relative)
        except OSError as error:
            raise roots.refusal(error, relative) from error
        finally:
            file.close()

    @contextmanager
    def _text(self, path: str) -> Iterator[_Text]:
        with self._file(path) as (source, shown):
            encoding = source.encoding()
            if encoding is None:
                head = source.read(0, 512)
                message = notices.binary(inert.clip(shown), window.kind_of(head), source.size_bytes)
                raise ToolError("binary", message, Call("read_file", {"path": shown, "encoding": "base64"}))
            yield _Text(source, encoding, shown)

    @contextmanager
    def _index(self, text: _Text, deadline: Deadline) -> Iterator[LineIndex]:
        index = self._indexes.borrow(text.source, text.encoding, deadline)
        if index is None:
            raise ToolError("busy", "Another call is counting the lines of this file. Try again.")
        try:
            yield index
        finally:
            self._indexes.give_back(text.source, index)

    def _line_start(self, text: _Text, index: LineIndex, skipped: int, again: Call, deadline: Deadline) -> int:
        """The byte where the line behind `skipped` lines starts; the end of the file where there is none."""
        source = text.source
        if skipped:
            index.advance(source, lambda: index.seen >= skipped or deadline.passed)
        start = index.start_of(source, skipped)
        if start is None:
            if not index.is_complete(source.size_bytes) and not source.shrank:
                message = notices.not_reached(skipped + 1, index.seen, index.scanned_bytes, source.size_bytes)
                raise ToolError("deadline", message, again)
            start = source.size_bytes
        return start

    def _count_on(self, source: FileSource, index: LineIndex, deadline: Deadline, *, eager: bool) -> None:
        """Carries the index on: to the end of a file of ordinary size, a stretch further in a large one (V-6)."""
        if source.size_bytes <= EXACT_TOTAL_BYTES:
            index.advance(source, lambda: deadline.passed)
        elif eager:
            stretch = Deadline(CARRY_ON_SECONDS)
            index.advance(source, lambda: stretch.passed or deadline.passed)

    def _numbers(self, text: _Text, extent: Extent) -> tuple[int | None, int | None]:
        """First and last line of an extent, when they are known or cost no more than the extent (B-9)."""
        index = self._indexes.borrow(text.source, text.encoding, Deadline(0))
        if index is None:
            return None, None
        try:
            if not extent.data or index.scanned_bytes < extent.start_byte:
                return None, None
            index.advance(text.source, lambda: index.scanned_bytes >= extent.end_byte)
            before = index.lines_before(text.source, extent.start_byte)
            inside = text.encoding.count(extent.data, 0, len(extent.data))
            if before is None:
                return None, None
            ends_line = _ends_line(text.encoding, extent.data)
            return before + 1, before + inside + (not ends_line)
        finally:
            self._indexes.give_back(text.source, index)

    def _known_total(self, text: _Text) -> int | None:
        """The number of lines, where an index that is there already knows it."""
        index = self._indexes.borrow(text.source, text.encoding, Deadline(0))
        if index is None:
            return None
        try:
            return index.total_lines() if index.is_complete(text.source.size_bytes) else None
        finally:
            self._indexes.give_back(text.source, index)

    def _token(self, source: FileSource, cursor: int, data: bytes) -> str:
        return str(versions.of(source, source.status, cursor, before=data))

    def _window(self, opened: _Text, *, notices: tuple[str, ...] = (), **fields: object) -> Window:
        """A window over an open file; the version stands for the place where the page ends."""
        source = opened.source
        defaults: dict[str, object] = {"encoding": opened.encoding.name}
        if "version" not in fields:
            defaults["version"] = self._token(source, int(fields["end_byte"]), b"")  # type: ignore[call-overload]
        said = (*notices, SHRANK) if source.shrank else notices
        return Window(path=opened.path, total_bytes=source.size_bytes, notices=said, **{**defaults, **fields})  # type: ignore[arg-type]

    def _similar(self, relative: bytes) -> list[str]:
        """Up to three paths that are spelled like `relative` (V-11)."""
        from difflib import get_close_matches

        parts, known = relative.split(b"/"), b"."
        for missing in parts:
            inner = missing if known == b"." else known + b"/" + missing
            try:
                handle, status = self.root.look(inner)
                os.close(handle)
            except OSError:
                break
            if not stat.S_ISDIR(status.st_mode):
                return []
            known = inner
        else:
            return []
        try:
            folder = self.root.open_folder(known)
        except ToolError:
            return []
        try:
            with os.scandir(folder) as entries:
                names = [name for name, _ in zip((entry.name for entry in entries), range(10_000), strict=False)]
        except OSError:
            return []
        finally:
            os.close(folder)
        wanted = os.fsdecode(missing)
        close = [name for name in names if name.lower() == wanted.lower()]
        close += [name for name in get_close_matches(wanted, sorted(names), 3, 0.6) if name not in close]
        prefix = "" if known == b"." else inert.show_name(known) + "/"
        return [prefix + inert.show_name(os.fsencode(name)) for name in close[:3]]


# ── lines and bytes ──────────────────────────────────────────────────────────────────────────────────────────────


def _most(count: int, fits: Callable[[int], bool]) -> int:
    """The largest n <= count for which `fits(n)`, which holds up to some n and not beyond."""
    if fits(count):
        return count
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _ends_line(encoding: Encoding, data: bytes) -> bool:
    return len(data) % encoding.unit == 0 and data.endswith(encoding.newline)


def _line(encoding: Encoding, number: int, data: bytes, start_byte: int, *, full_bytes: int | None = None) -> Line:
    """The line whose bytes begin with `data`, clipped; `full_bytes` is its length where `data` is only its head."""
    body, ending = (data, "\n") if full_bytes is not None else _split_ending(encoding, data)
    length = len(body) if full_bytes is None else full_bytes
    head = body[: encoding.floor_char(body, 4 * CLIP_CHARACTERS)]
    bom = encoding.bom_bytes if start_byte == 0 else 0
    text, invalid = encoding.decode(head[bom:])
    shown = len(head)
    if len(text) > CLIP_CHARACTERS:
        text = text[:CLIP_CHARACTERS]
        shown = bom + _encoded_size(encoding, text, head[bom:], invalid)
    return Line(number=number, start_byte=start_byte, text=text, body_bytes=length, shown_bytes=shown, ending=ending)


def _split_ending(encoding: Encoding, data: bytes) -> tuple[bytes, str]:
    """A line without its end, and that end: `\\n`, `\\r\\n` or nothing."""
    if not _ends_line(encoding, data):
        return data, ""
    body, carriage = data[: -encoding.unit], "\r".encode(encoding.codec)
    if body.endswith(carriage):
        return body[: -len(carriage)], "\r\n"
    return body, "\n"


def _encoded_size(encoding: Encoding, text: str, data: bytes, invalid: int) -> int:
    """How many bytes of `data` the beginning `text` of its decoded form stands for."""
    if not invalid:
        return len(text.encode(encoding.codec))
    return _most(len(data), lambda n: len(encoding.decode(data[: encoding.floor_char(data, n)])[0]) <= len(text))


def _clip_to_room(line: Line, encoding: Encoding, room: Room | None, data: bytes) -> Line:
    """As much of one line as the room holds, at least a character of it. `data` begins with the bytes of the line."""
    if room is None:
        return line
    fitting = max(
        1,
        _most(
            len(line.text),
            lambda n: room.lines((replace(line, text=line.text[:n], shown_bytes=0),)) <= room.limit,
        ),
    )
    bom = encoding.bom_bytes if line.start_byte == 0 else 0
    body = data[bom : line.shown_bytes]
    text = line.text[:fitting]
    kept = encoding.floor_char(body, _encoded_size(encoding, text, body, encoding.decode(body)[1]))
    kept = kept or min(len(body), 4)
    return replace(line, text=encoding.decode(body[:kept])[0], shown_bytes=bom + kept)


def _lines(encoding: Encoding, extent: Extent, first: int) -> list[Line]:
    """The lines of an extent, whole, line ends as in the file."""
    lines: list[Line] = []
    at = 0
    while at < len(extent.data):
        end = encoding.find(extent.data, at)
        end = len(extent.data) if end < 0 else end
        body, ending = _split_ending(encoding, extent.data[at:end])
        start = extent.start_byte + at
        text, _ = encoding.decode(body[encoding.bom_bytes if start == 0 else 0 :])
        size = len(body)
        lines.append(
            Line(
                number=first + len(lines),
                start_byte=start,
                text=text,
                body_bytes=size,
                shown_bytes=size,
                ending=ending,
            )
        )
        at = end
    return lines


def _behind_lines(encoding: Encoding, data: bytes, count: int) -> int:
    at = 0
    for _ in range(count):
        at = encoding.find(data, at)
    return at


def _end_of_lines(encoding: Encoding, data: bytes, count: int | None, cap: int) -> tuple[int, str, bool]:
    """Where `count` lines (None: all) of `data` end within `cap`, what bounds them, and whether lines are missing.

    The end is -1 when the first line alone is longer than the cap.
    """
    at, taken = 0, 0
    while count is None or taken < count:
        end = encoding.find(data, at)
        if end < 0 or end > cap:
            if end < 0 and len(data) <= cap:
                return len(data), "end", False
            return (at or -1), "hard cap", True
        at, taken = end, taken + 1
    return at, "limit", False


def _decode(encoding: Encoding, extent: Extent) -> tuple[str, int]:
    """The text of an extent and its invalid bytes; a byte order mark is counted, not shown."""
    return encoding.decode(extent.data[encoding.bom_bytes if extent.start_byte == 0 else 0 :])


def _fit_extent(extent: Extent, encoding: Encoding, room: Room | None) -> Extent:
    """As many whole lines of an extent as the room holds, else as many characters of its first line."""
    if room is None or room.text(_decode(encoding, extent)[0]) <= room.limit:
        return extent
    ends = [0]
    while (end := encoding.find(extent.data, ends[-1])) > 0:
        ends.append(end)

    def fits(at: int) -> bool:
        return room.text(_decode(encoding, replace(extent, data=extent.data[:at]))[0]) <= room.limit

    lines = _most(len(ends) - 1, lambda n: n == 0 or fits(ends[n]))
    if lines:
        return window.shorten(extent, encoding, extent.start_byte + ends[lines])
    longest = ends[1] if len(ends) > 1 else len(extent.data)
    return window.shorten(
        extent,
        encoding,
        extent.start_byte + _most(longest, lambda n: n == 0 or fits(encoding.floor_char(extent.data, n))),
    )

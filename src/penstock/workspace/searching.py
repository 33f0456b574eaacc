r"""Which lines of the files match? Matching is defined line by line and done block by block.

A block holds whole lines and is searched at once by a linear-time engine; a line counts once. Only one page of matches and one
count for each of the first files are kept, so memory does not depend on what is found. Law: the matches are those of `rg --crlf`
(with `\w` and the like in ASCII), ordered by path and line; a total is exact, or `complete` is False. Leaves to others: sentences
(`notices`), how the tree is traversed (`walk`), and the syntax of patterns (`pattern`).

Lines longer than a block may be (8 MiB) are the hard case. They are searched in pieces that overlap by 64 KiB, so that any match no
wider than that is whole in one piece. A piece is `begun` if its line began in an earlier piece, and `goes_on` if the line ends in a
later one; once one piece of a line has matched, the line's other pieces are skipped.
"""

from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ToolError
from penstock.text import escape
from penstock.workspace import system
from penstock.workspace.pattern import line_finder, selected
from penstock.workspace.refusals import expect_from
from penstock.workspace.similar import is_folder
from penstock.workspace.walk import Omitted, Walk
from penstock.workspace.wider import FileQuery, Wider, find_wider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.workspace.deadline import Deadline
    from penstock.workspace.pattern import LineFinder
    from penstock.workspace.root import Root

MAX_SCAN_BYTES = 256 << 20
"""How much of one file is searched; a larger one is searched in part, and named."""
MAX_LINE_CHARS = 400  # rg users choose 150 to 500 with --max-columns
"""How much of a line a result shows, around the match."""
MAX_FILES = 100  # as many names as a page of a listing holds
"""How many files have their own count in a result."""

_BLOCK = 1 << 20
_MAX_LINE = 8 << 20  # a longer line is searched in pieces that overlap
_OVERLAP = 1 << 16  # so a match wider than this may be missed in such a line
_BINARY = 8192  # a NUL within these bytes makes a file binary, as in git; rg checks as much as it has read
_LEAD = 100  # characters before the match in a clipped line
_CONTEXT_BYTES = 1 << 16  # how far from a match context lines are searched for
_REPORT = 64  # files between two reports of progress

_ENCODINGS = (  # in this order: the BOM of UTF-32-LE begins with that of UTF-16-LE
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, ""),
)
_FIRST_OF_BOM = {bom[:1] for bom, _ in _ENCODINGS}


class SearchMatch(NamedTuple):
    """A line that matches: inert, clipped around the match."""

    path: str
    """The file, inert, relative to the root: it opens the file again."""
    line: int
    """The number of the line, from 1 on."""
    text: str
    clipped: bool
    """Whether `text` is less than the line."""
    before: tuple[str, ...]
    """The lines before it, as many as were requested and lie within 64 KiB."""
    after: tuple[str, ...]
    start_byte: int
    """Where the line begins in the file."""


class FileCount(NamedTuple):
    """How many lines of one file match."""

    path: str
    count: int  # type: ignore[assignment]  # a tuple has a method of that name


class Search(NamedTuple):
    """The result of a search: a page of `matches`, skipping `offset` of `total`; paths are relative to the root."""

    matches: tuple[SearchMatch, ...]
    files: tuple[FileCount, ...]
    """The first files with matches, at most `MAX_FILES`, in order of paths."""
    total: int
    """Matching lines, in everything that was searched."""
    offset: int
    limit: int
    next_offset: int | None
    """The offset of the next page; None on the last."""
    scanned_bytes: int
    total_bytes: int | None
    """Bytes of all files that were to be searched; None if the deadline passed before all were seen."""
    searched_files: int
    complete: bool
    """Whether everything was searched: `total` is exact then, else "at least"."""
    omitted: Omitted
    binary: int
    """Files skipped because they contain a NUL."""
    secret: int
    """Files skipped because of their names."""
    partial_files: tuple[str, ...]
    """Files searched only in part: too large, or lines too long."""
    more_files: int
    """Files with matches beyond `files`."""
    engine_ended: bool = False
    """Whether the child that runs patterns if RE2 is missing (`re_child`) was killed in the middle of a file."""
    wider: Wider | None = None
    """If the glob selects no file at all, the nearest wider form that does; its `pattern` is the glob."""


def search(
    root: Root,
    pattern: str,
    path: str = ".",
    *,
    literal: bool = False,
    glob: str = "*",
    ignore_case: bool = False,
    context_lines: int = 0,
    offset: int = 0,
    limit: int = 50,
    include_hidden: bool = False,
    include_ignored: bool = False,
    deadline: Deadline,
    progress: Callable[[int], None] | None = None,
) -> Search:
    """Return a page of the lines that match in a file, or in the files beneath a folder.

    Args:
        root: The root that opens everything.
        pattern: A regular expression in RE2's syntax, or text.
        path: The file or the folder.
        literal: Whether `pattern` is text.
        glob: Which files of the folder are searched.
        ignore_case: Whether case does not matter.
        context_lines: How many lines before and after each match are shown.
        offset: Matches to skip.
        limit: Matches of the page.
        include_hidden: Whether names that begin with a dot are included.
        include_ignored: Whether files that ignore rules exclude are included.
        deadline: When it stops, with `complete` False.
        progress: Called with the number of files searched.

    Raises:
        ToolError: The path, the pattern or a number is invalid, or the child that runs the pattern was killed before anything was
            found.
    """
    expect_from(0, offset=offset, context_lines=context_lines)
    expect_from(1, limit=limit)
    finder = line_finder(pattern, literal=literal, ignore_case=ignore_case, deadline=deadline)
    state = _State(finder, offset, limit, context_lines, deadline)
    glob = root.tied(glob, path)
    selection = selected(glob)
    relative = root.relative(path)
    if not is_folder(root, relative):
        file = root.open_file(relative)
        try:
            state.search_file(file.descriptor, relative)
        finally:
            file.close()
        return state.result(Omitted(), walked=True)
    walk = Walk(
        root,
        path,
        selection,
        include_hidden=include_hidden,
        include_ignored=include_ignored,
        deadline=deadline,
    )
    for descriptor, inside in _open_files(root, walk, state, deadline):
        try:
            state.search_file(descriptor, inside)
        except OSError:
            walk.denied += 1
        finally:
            os.close(descriptor)
        if progress is not None and state.searched % _REPORT == 0:
            progress(state.searched)
    found = state.result(walk.omitted, walked=walk.complete)
    if found.complete and not (found.searched_files or found.binary or found.secret):
        asked = FileQuery(glob, True, False, include_hidden, include_ignored)
        wider = find_wider(root, path, asked, deadline)
        return found._replace(wider=wider)
    return found


def _open_files(root: Root, walk: Walk, state: _State, deadline: Deadline) -> Iterator[tuple[int, bytes]]:
    """Yield the files of a walk, each as (an open descriptor, its path), until the deadline cuts the walk short."""
    for prefix, folder, names in walk:
        for name in names:
            if deadline.passed:
                break
            inside = os.fsencode(prefix + name)
            try:
                descriptor = root.open_listed(folder, name, inside)
            # One unreadable file is no reason to give up on the others: it is counted.
            except ToolError as error:
                state.secret += error.code == "secret"
                walk.denied += error.code == "denied"
                walk.vanished += error.code not in {"secret", "denied"}
                continue
            yield descriptor, inside
        if deadline.passed:
            walk.complete = False
            return


class _Piece(NamedTuple):
    """Bytes of a file, as UTF-8, that begin at `start_byte`.

    Whole lines, unless `begun` (the line began in an earlier piece: the first byte is only context) or `goes_on`.
    """

    data: bytes
    start_byte: int
    begun: bool = False
    goes_on: bool = False


class _State:
    """What a search has found so far, over all files."""

    def __init__(self, find: LineFinder, offset: int, limit: int, context_lines: int, deadline: Deadline) -> None:
        self.complete = True
        self.searched = 0
        self.secret = 0
        self._find = find
        self._offset = offset
        self._limit = limit
        self._context_lines = context_lines
        self._deadline = deadline
        self._matches: list[SearchMatch] = []
        self._files: list[FileCount] = []
        self._more_files = 0
        self._total = 0
        self._scanned = 0
        self._unscanned = 0
        self._binary = 0
        self._partial: list[str] = []
        self._engine_ended = False

    def result(self, omitted: Omitted, *, walked: bool) -> Search:
        """Return what was found; `walked` says whether all files were seen."""
        complete = self.complete and walked
        end = self._offset + len(self._matches)
        # If the search was not complete, a full page may have a next one; an empty page has none, or paging would not end.
        more = bool(self._matches) and (self._total > end or (not complete and len(self._matches) == self._limit))
        return Search(
            matches=tuple(self._matches),
            files=tuple(self._files),
            total=self._total,
            offset=self._offset,
            limit=self._limit,
            next_offset=end if more else None,
            scanned_bytes=self._scanned,
            total_bytes=self._scanned + self._unscanned if walked else None,
            searched_files=self.searched,
            complete=complete,
            omitted=omitted,
            binary=self._binary,
            secret=self.secret,
            partial_files=tuple(self._partial),
            more_files=self._more_files,
            engine_ended=self._engine_ended,
        )

    def search_file(self, descriptor: int, relative: bytes) -> None:
        """Search an open file. Raises `ToolError` if the engine was killed in it and there is nothing to show."""
        try:
            self._search_file(descriptor, relative)
        except ToolError as error:
            if error.code != "deadline" or not self._total:
                raise
            self.complete, self._engine_ended = False, True

    def _search_file(self, descriptor: int, relative: bytes) -> None:
        """Search an open file, piece by piece, and count what was found in it. Raises OSError and `ToolError`."""
        data = os.read(descriptor, _BLOCK)
        bom, encoding = b"", ""
        if data[:1] in _FIRST_OF_BOM:
            bom, encoding = next((entry for entry in _ENCODINGS if data.startswith(entry[0])), (bom, encoding))
        if not encoding and data.find(b"\0", 0, _BINARY) >= 0:
            self._binary += 1
            return
        self.searched += 1
        if not data:
            return
        file = _File(descriptor, relative, len(bom), encoding)
        before = self._total
        lines = 0
        found_in_line = False
        for piece in file.pieces(data, self._deadline):
            # A line that was found in an earlier piece counts once.
            if not (piece.begun and found_in_line):
                found_in_line = self._piece(piece, file, lines)
            # Line numbers are needed only while the page is not full.
            if len(self._matches) < self._limit and not file.ended:
                lines += piece.data.count(b"\n")
        self._scanned += file.scanned
        if file.cut:
            self.complete = False
            self._unscanned += max(os.fstat(descriptor).st_size - file.scanned, 0)
        if file.cut or file.wide:
            self.complete = False
            if len(self._partial) < MAX_FILES:
                self._partial.append(escape.show_name(relative))
        if self._total > before:
            if len(self._files) < MAX_FILES:
                self._files.append(FileCount(escape.show_name(relative), self._total - before))
            else:
                self._more_files += 1

    def _piece(self, piece: _Piece, file: _File, lines: int) -> bool:
        """Count the matching lines of a piece and keep those of the page.

        Args:
            piece: The piece.
            file: Its file.
            lines: Line ends before the piece.

        Returns:
            Whether the last line, which may continue in the next piece, is among the matches.
        """
        data, find = piece.data, self._find
        # After the last line end there is no line. Nor does a line end where a piece ends in mid-line.
        end = len(data) - 1 if piece.goes_on or data.endswith(b"\n") else len(data)
        # The first byte of a piece that continues a line is only there so that `\b` and the like see the preceding character.
        position, counted, stop = int(piece.begun), 0, -1
        while position <= end and (span := find(data, position, end)) is not None:
            stop = data.find(b"\n", span[1])
            if stop < 0:
                stop = len(data)
            if len(self._matches) < self._limit and self._offset <= self._total:
                start = data.rfind(b"\n", 0, span[0]) + 1
                lines += data.count(b"\n", counted, start)
                counted = start
                self._matches.append(file.match(piece, lines + 1, (start, stop), span, self._context_lines))
            self._total += 1
            # The clock is checked between pieces and at every 64th match: a block in which each line matches takes long.
            if self._total & 0x3F == 0 and self._deadline.passed:
                self.complete = False
                break
            position = stop + 1
        return piece.goes_on and stop == len(data)


class _File:
    """A file that is being searched, as pieces of UTF-8 whose positions in the file are known."""

    def __init__(self, descriptor: int, relative: bytes, bom_bytes: int, encoding: str) -> None:
        self.scanned = 0
        self.ended = False  # the last piece has been yielded
        self.cut = False  # not read to its end
        self.wide = False  # a line was searched in pieces
        self._descriptor = descriptor
        self._relative = relative
        self._begin = bom_bytes
        self._encoding = encoding
        self._line_start = 0  # of a line that was searched in pieces

    def pieces(self, data: bytes, deadline: Deadline) -> Iterator[_Piece]:
        """Yield the file in pieces of UTF-8; `data` is what was read of it first."""
        decoder = codecs.getincrementaldecoder(self._encoding)("replace") if self._encoding else None
        held, start, begun = b"", self._begin, False
        fresh = data[self._begin :]
        self.scanned = len(data)
        while True:
            # One byte shows whether something is left: a file of exactly this size was searched to its end.
            if self.scanned >= MAX_SCAN_BYTES or deadline.passed:
                self.cut = bool(system.read_at(self._descriptor, 1, self.scanned))
            following = b"" if self.cut else os.read(self._descriptor, _BLOCK)
            last = not following
            if decoder is not None:
                fresh = decoder.decode(fresh, last).encode()
            block = held + fresh if held else fresh
            # Three cases, in this order: the end of a long line, whole lines, and a line that has grown too long to hold.
            if begun and (line_end := block.find(b"\n") + 1):
                yield _Piece(block[:line_end], start, begun=True)
                start += self.width(block[:line_end])
                block, begun = block[line_end:], False
            if last:
                self.ended = True
                if block:
                    yield _Piece(block, start, begun, self.cut)
                return
            if not begun and (line_end := block.rfind(b"\n") + 1):
                yield _Piece(block[:line_end], start)
                start += self.width(block[:line_end])
                block = block[line_end:]
            elif len(block) > (_OVERLAP if begun else _MAX_LINE):
                if not begun:
                    self.wide, self._line_start = True, start
                yield _Piece(block, start, begun, goes_on=True)
                kept = len(block) - _OVERLAP
                # The next piece begins at a character boundary.
                while block[kept] & 0xC0 == 0x80 and kept < len(block) - _OVERLAP + 3:
                    kept += 1
                start += self.width(block[:kept])
                block, begun = block[kept:], True
            held = block
            self.scanned += len(following)
            fresh = following

    def width(self, data: bytes) -> int:
        """Return how many bytes of the file this piece of UTF-8 took."""
        return len(data.decode("utf-8", "replace").encode(self._encoding)) if self._encoding else len(data)

    def match(
        self, piece: _Piece, line: int, bounds: tuple[int, int], span: tuple[int, int], context_lines: int
    ) -> SearchMatch:
        """Return the line between `bounds` as a match, with its context and its position in the file."""
        start, stop = bounds
        begun = piece.begun and start == 0
        at = self._line_start if begun else piece.start_byte + self.width(piece.data[:start])
        text, clipped = _around(piece.data, bounds, span[0])
        clipped |= begun or (piece.goes_on and stop == len(piece.data))
        before: tuple[str, ...] = ()
        after: tuple[str, ...] = ()
        if context_lines:
            before = self._before(at, context_lines)
            if stop < len(piece.data):
                after = self._after(piece.start_byte + self.width(piece.data[: stop + 1]), context_lines)
        return SearchMatch(escape.show_name(self._relative), line, text, clipped, before, after, at)

    def _before(self, at: int, count: int) -> tuple[str, ...]:
        """Return the lines before the byte `at`, read again: they may lie in an earlier piece."""
        low = max(self._begin, at - _CONTEXT_BYTES)
        lines = self._lines(system.read_at(self._descriptor, at - low, low))
        return tuple(_line(text) for text in lines[:-1][-count:])  # the last one is the empty text after the line end

    def _after(self, at: int, count: int) -> tuple[str, ...]:
        """Return the lines from the byte `at` on, read again."""
        lines = self._lines(system.read_at(self._descriptor, _CONTEXT_BYTES, at))
        if not lines[-1]:
            lines.pop()
        return tuple(_line(text) for text in lines[:count])

    def _lines(self, data: bytes) -> list[str]:
        """Return the lines of some bytes of the file; the first may be the end of one."""
        text = data.decode(self._encoding, "replace") if self._encoding else data.decode("utf-8", "surrogateescape")
        return text.split("\n")


def _line(text: str) -> str:
    """Return a line of context, inert, at most `MAX_LINE_CHARS` of it."""
    return escape.show(text.removesuffix("\r"))[0][:MAX_LINE_CHARS]


def _around(data: bytes, bounds: tuple[int, int], match: int) -> tuple[str, bool]:
    """Return the line between `bounds`, inert, and whether it was clipped; if it is too wide, as much around the match as may be
    shown.
    """
    start, stop = bounds
    if stop > start and data[stop - 1] == 0x0D:
        stop -= 1
    match = min(match, stop)
    reach = 4 * MAX_LINE_CHARS  # bytes
    low, high = max(start, match - reach), min(stop, match + reach)
    # Move back to a character boundary at either edge, three steps at most: more continuation bytes are not UTF-8.
    while low > max(start, match - reach - 3) and data[low] & 0xC0 == 0x80:
        low -= 1
    while high < stop and data[high] & 0xC0 == 0x80 and high > match + reach - 3:
        high -= 1
    lead, rest = (
        escape.show(part.decode("utf-8", "surrogateescape"))[0] for part in (data[low:match], data[match:high])
    )
    if low == start and high == stop and len(lead) + len(rest) <= MAX_LINE_CHARS:
        return lead + rest, False
    lead = lead[-max(_LEAD, MAX_LINE_CHARS - len(rest)) :]
    return (lead + rest)[:MAX_LINE_CHARS], True

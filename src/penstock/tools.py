"""What can the model do? One table of tools: names, arguments, bounds; and each as a call that returns text.

Every face serves this table: Python functions, MCP tools, commands. A call never raises for anything that a model can
send: a mistake is a result that names the field, what it accepts, and a call that works (L-9).
Law: a result, header and errors included, is at most its allowance. Keeps out: what is on disk (workspace), words (notices).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock import inert, notices
from penstock.budget import Allowance
from penstock.calls import PYTHON, Call, Dialect, Value
from penstock.errors import CallerError, PenstockError, ToolError
from penstock.page import Page
from penstock.reads import Counters, Reads
from penstock.window import HARD_MAX_BYTES, Line, Window
from penstock.workspace import Workspace
from penstock.workspace.deadline import READ_SECONDS, WALK_SECONDS, Deadline

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from penstock.outline import Symbol
    from penstock.store import Store
    from penstock.workspace.reading import OutlinePage

MAX_INTEGER = 2**63 - 1  # what a file offset can be (H22)
MIN_ALLOWANCE = 400  # of any unit: a header with its next call, and a line
_ECHOED = 256  # characters of an argument that an error repeats
_HEADER_STEP = 32
_LOOKS = 10  # a page that shrinks says so, which needs room again; and tokens of a whole may be more than of its parts
_BYTES_PER_TOKEN = 3  # of a cap in tokens: what text takes at least; a page that takes more tokens is cut to fit
_HEADER_SHARE = 640  # of an allowance, kept free for the header when the cap of a page is fixed


class Parameter(NamedTuple):
    """One argument of a tool. `default` is `REQUIRED` where there is none."""

    name: str
    kind: str  # string, integer or boolean
    default: object
    description: str
    minimum: int = 0
    maximum: int = MAX_INTEGER


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()


class Tool(NamedTuple):
    """A tool as it is offered. `slow` ones walk a tree or scan files: a server runs few of them at once."""

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    slow: bool = False

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    def schema(self) -> dict[str, object]:
        """The arguments as a JSON Schema that allows nothing else."""
        properties: dict[str, object] = {}
        for parameter in self.parameters:
            field: dict[str, object] = {"type": parameter.kind, "description": parameter.description}
            if parameter.kind == "integer":
                field["minimum"] = parameter.minimum
                if parameter.maximum != MAX_INTEGER:
                    field["maximum"] = parameter.maximum
            if parameter.default is not REQUIRED and parameter.default is not None:
                field["default"] = parameter.default
            properties[parameter.name] = field
        required = [parameter.name for parameter in self.parameters if parameter.default is REQUIRED]
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }


def _path(name: str, what: str, default: object = REQUIRED) -> Parameter:
    return Parameter(name, "string", default, what)


_HIDDEN = Parameter("include_hidden", "boolean", False, "also files and folders whose names begin with a dot")
_IGNORED = Parameter("include_ignored", "boolean", False, "also what .gitignore leaves out")
_REGEX = Parameter(
    "use_regex", "boolean", False, "the pattern is a regular expression (RE2), searched anywhere in the path"
)
_HANDLE = Parameter("handle", "string", REQUIRED, "handle of the kept output, from the notice of the cut result")
_PATTERN = Parameter("pattern", "string", "*", "glob over the relative path, e.g. *.py; * crosses folders")

TOOLS: tuple[Tool, ...] = (
    Tool(
        "view",
        "View a page of a file",
        "Show a text file by lines: 100 lines from the start, or from any offset, in a file of any size. Use it to look around a "
        "search hit or to page through code. The first line of the result says which lines are shown, of how many, and the next "
        "call. Lines are numbered `12|text`; very long lines are clipped and say how to read the rest.",
        (
            _path("file_path", "path of the file, relative to the root"),
            Parameter("offset", "integer", 0, "lines to skip: offset=100 starts at line 101"),
            Parameter("limit", "integer", None, "lines to show; 100 when left out", minimum=1),
        ),
    ),
    Tool(
        "read_file",
        "Read a file by bytes or lines",
        "Read a text file in large exact pages. With start_byte/max_bytes: whole lines around that byte range; continue with the "
        "next call that the first line of the result prints. Use max_bytes generously (up to 262144) to need fewer calls; byte "
        "windows are for reading on, line ranges (start_line/end_line, 1-based, inclusive) for what an outline named. Without any "
        "range: the whole file if it is small, else its outline. version= from an earlier page makes sure that the file is still "
        "the same.",
        (
            _path("path", "path of the file, relative to the root"),
            Parameter("start_line", "integer", None, "first line, 1-based"),
            Parameter("end_line", "integer", None, "last line, inclusive"),
            Parameter("start_byte", "integer", None, "byte to start at, 0-based; snaps to the start of its line"),
            Parameter("max_bytes", "integer", None, "size of the page in bytes; 65536 when left out, at most 262144"),
            Parameter("version", "string", None, "version token of an earlier page"),
            Parameter("encoding", "string", None, 'leave out for text; "base64" for the exact bytes of any file'),
        ),
    ),
    Tool(
        "outline",
        "Outline a file",
        "List the landmarks of a source or document with their line ranges: classes, functions, headings, keys, COBOL divisions "
        "and paragraphs. Take it before reading a large file, then view the range you need.",
        (
            _path("path", "path of the file, relative to the root"),
            Parameter("offset", "integer", 0, "entries to skip"),
            Parameter("limit", "integer", None, "entries to show; 200 when left out", minimum=1),
        ),
    ),
    Tool(
        "list_files",
        "List files",
        "List file names that match a pattern, sorted. Up to 20 matches come at once; for more, the answer is their number and how "
        "to narrow it or to page (limit up to 100). Respects .gitignore and leaves out hidden files unless asked.",
        (
            _PATTERN,
            Parameter("recursive", "boolean", False, "also in folders below"),
            _REGEX,
            Parameter("offset", "integer", 0, "files to skip"),
            Parameter("limit", "integer", 0, "files per page, up to 100; 0 lists up to 20 or warns"),
            _path("path", "folder to start in", "."),
            _HIDDEN,
            _IGNORED,
        ),
        slow=True,
    ),
    Tool(
        "count_files",
        "Count files",
        "Count the files that match, with bytes and estimated tokens by extension: the size of a tree before anything of it is "
        "read or listed.",
        (
            _path("path", "folder to start in", "."),
            _PATTERN,
            Parameter("recursive", "boolean", True, "also in folders below"),
            _REGEX,
            _HIDDEN,
            _IGNORED,
            Parameter("sizes", "boolean", True, "also bytes and tokens; false is quicker"),
        ),
        slow=True,
    ),
    Tool(
        "search",
        "Search in files",
        "Find lines that match a regular expression (RE2: no backreferences or lookaround) or, with literal, a text, in all files "
        "below a folder or in one file. Results carry file and line number for view; counts per file come first when there is more "
        "than a page.",
        (
            Parameter("pattern", "string", REQUIRED, "regular expression (RE2), or the text itself with literal"),
            _path("path", "folder or file to search", "."),
            Parameter("literal", "boolean", False, "the pattern is plain text"),
            Parameter("glob", "string", "*", "only files whose path matches, e.g. *.py"),
            Parameter("ignore_case", "boolean", False, "upper and lower case are alike"),
            Parameter("context_lines", "integer", 0, "lines shown before and after each match, up to 20", maximum=20),
            Parameter("offset", "integer", 0, "matching lines to skip"),
            Parameter("limit", "integer", 50, "matching lines per page, up to 500", minimum=1, maximum=500),
            _HIDDEN,
            _IGNORED,
        ),
        slow=True,
    ),
    Tool(
        "page",
        "Read a kept output",
        "Read what a cut result left out: a page of the kept output, by the handle that its notice [OUTPUT TRUNCATED] names. Lines "
        "with offset/limit (records, where it is JSON on one line), else bytes with start_byte/max_bytes, from the beginning when "
        "left out. The first line of the result says what is shown, of how much, and the next call. A handle that has expired "
        "stays so: call the tool that made the output once more.",
        (
            _HANDLE,
            Parameter("start_byte", "integer", None, "byte to start at, 0-based; the page begins exactly there"),
            Parameter("max_bytes", "integer", None, "size of the page in bytes; 65536 when left out, at most 262144"),
            Parameter("offset", "integer", None, "lines (or records) to skip: offset=100 starts at line 101"),
            Parameter("limit", "integer", None, "lines (or records) to show; 100 when left out", minimum=1),
        ),
    ),
    Tool(
        "find",
        "Search a kept output",
        "Find the lines of a kept output that match a regular expression (RE2: no backreferences or lookaround), by the handle "
        "that the notice [OUTPUT TRUNCATED] of a cut result names. Each match is LINE|BYTE|TEXT: page with start_byte=BYTE reads "
        "on from there. All matches are counted, also those that are not shown.",
        (
            _HANDLE,
            Parameter("pattern", "string", REQUIRED, "regular expression (RE2), searched in every line"),
            Parameter("limit", "integer", 50, "matching lines to show, up to 500", minimum=1, maximum=500),
        ),
        slow=True,
    ),
)
_BY_NAME = {tool.name: tool for tool in TOOLS}


class Result(NamedTuple):
    """What a call gives back: text for the model; `code` is one of `errors.CODES` when `is_error`.

    `outcome` is for scripts: `nothing` was found, or the answer is `partial` because time or a scan budget ended.
    """

    text: str
    is_error: bool = False
    code: str | None = None
    outcome: str = "done"


class Tools:
    """The tools over one root and one store, each returning text within an allowance.

    `allowance` bounds every result (256 KiB when left out), `dialect` is the syntax in which the next calls are printed,
    `progress` is told how many files a long walk has seen. `store` is where `page` and `find` look, or how it is opened
    when one of them is first called; the user's own when left out. `shown` is told every page of a file that was answered.
    Raises `CallerError` for a root that is no folder or an allowance too small to say anything in.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | Workspace = ".",
        *,
        allowance: Allowance | None = None,
        dialect: Dialect | None = None,
        read_seconds: float | None = READ_SECONDS,
        walk_seconds: float | None = WALK_SECONDS,
        progress: Callable[[int], None] | None = None,
        store: Store | Callable[[], Store] | None = None,
        shown: Callable[[Window], None] | None = None,
    ) -> None:
        self.workspace = root if isinstance(root, Workspace) else Workspace(root)
        self.allowance = _checked(allowance or Allowance.bytes(HARD_MAX_BYTES))
        self.dialect = dialect or PYTHON
        self.read_seconds = read_seconds
        self.walk_seconds = walk_seconds
        self.progress = progress
        self._store = store
        self._shown = shown
        self._reads = Reads()

    def view(self, file_path: str, offset: int = 0, limit: int | None = None) -> str:
        """Lines `offset + 1` to `offset + limit` of a text file (V-1)."""
        return self._text("view", file_path=file_path, offset=offset, limit=limit)

    def read_file(
        self,
        path: str,
        start_line: int | None = None,
        end_line: int | None = None,
        start_byte: int | None = None,
        max_bytes: int | None = None,
        version: str | None = None,
        encoding: str | None = None,
    ) -> str:
        """Lines, else bytes, else the whole of a small file or the outline of a large one (B-1)."""
        return self._text(
            "read_file",
            path=path,
            start_line=start_line,
            end_line=end_line,
            start_byte=start_byte,
            max_bytes=max_bytes,
            version=version,
            encoding=encoding,
        )

    def outline(self, path: str, offset: int = 0, limit: int | None = None) -> str:
        """The landmarks of a file with their line ranges (B-11)."""
        return self._text("outline", path=path, offset=offset, limit=limit)

    def list_files(
        self,
        pattern: str = "*",
        recursive: bool = False,
        use_regex: bool = False,
        offset: int = 0,
        limit: int = 0,
        *,
        path: str = ".",
        include_hidden: bool = False,
        include_ignored: bool = False,
    ) -> str:
        """File names, or how many there are and how to get at them (L-1 to L-3)."""
        return self._text(
            "list_files",
            pattern=pattern,
            recursive=recursive,
            use_regex=use_regex,
            offset=offset,
            limit=limit,
            path=path,
            include_hidden=include_hidden,
            include_ignored=include_ignored,
        )

    def count_files(
        self,
        path: str = ".",
        pattern: str = "*",
        recursive: bool = True,
        use_regex: bool = False,
        *,
        include_hidden: bool = False,
        include_ignored: bool = False,
        sizes: bool = True,
    ) -> str:
        """How many files, bytes and tokens there are, by extension (L-4)."""
        return self._text(
            "count_files",
            path=path,
            pattern=pattern,
            recursive=recursive,
            use_regex=use_regex,
            include_hidden=include_hidden,
            include_ignored=include_ignored,
            sizes=sizes,
        )

    def search(
        self,
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
    ) -> str:
        """Matching lines with file and number, counts per file first when there are many (L-7)."""
        return self._text(
            "search",
            pattern=pattern,
            path=path,
            literal=literal,
            glob=glob,
            ignore_case=ignore_case,
            context_lines=context_lines,
            offset=offset,
            limit=limit,
            include_hidden=include_hidden,
            include_ignored=include_ignored,
        )

    def page(
        self,
        handle: str,
        start_byte: int | None = None,
        max_bytes: int | None = None,
        offset: int | None = None,
        limit: int | None = None,
    ) -> str:
        """A page of a kept output: lines or records, else bytes (G-3)."""
        return self._text("page", handle=handle, start_byte=start_byte, max_bytes=max_bytes, offset=offset, limit=limit)

    def find(self, handle: str, pattern: str, limit: int = 50) -> str:
        """The matching lines of a kept output, with the place of each (G-3)."""
        return self._text("find", handle=handle, pattern=pattern, limit=limit)

    def call(self, name: str, arguments: Mapping[str, object], *, allowance: Allowance | None = None) -> Result:
        """The tool `name` with arguments as a model sent them. Raises `CallerError` only for a tool that there is not."""
        tool = _BY_NAME.get(name)
        if tool is None:
            raise CallerError(f"There is no tool {inert.clip(name)}. Tools: {', '.join(_BY_NAME)}.")
        allowed = self.allowance if allowance is None else _checked(allowance)
        deadline = Deadline(self.walk_seconds if tool.slow else self.read_seconds)
        try:
            return _ANSWERS[name](self, check(tool, arguments), allowed, deadline)
        except ToolError as error:
            if error.code == "busy":
                self._reads.busy()
            ways = [self.dialect.write(call) for call in error.calls]
            texts = (notices.with_ways(error.message, ways[:count]) for count in range(len(ways), -1, -1))
            text = next((text for text in texts if allowed.holds(text)), None)
            return Result(_cut(error.message, allowed) if text is None else text, is_error=True, code=error.code)

    def counters(self) -> Counters:
        """What was read through these tools so far (B-12)."""
        return self._reads.counters()

    def _text(self, name: str, **arguments: object) -> str:
        return self.call(name, arguments).text

    def _again(self, tool: str, arguments: dict[str, object], **changes: object) -> str:
        """The same call with other arguments, in the order of the table, as this face writes it."""
        return self.dialect.write(Call(tool, _given(_BY_NAME[tool], {**arguments, **changes})))

    # ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _page(self, read: Callable[[_Room], Window | OutlinePage], allowed: Allowance, *, cat: bool = False) -> Result:
        """A page that fits with its header; the header's size is known only afterwards, so it may take a second look."""
        reserve = min(_HEADER_SHARE, allowed.limit // 3)
        cap = (allowed.limit - reserve) * (_BYTES_PER_TOKEN if allowed.unit == "tokens" else 1)
        for look in range(_LOOKS):
            room = _Room(allowed, max(1, allowed.limit - reserve), cap, self.dialect, cat=cat)
            page = read(room)
            text = room.render(page)
            over = allowed.measure(text) - allowed.limit
            if over <= 0:
                if isinstance(page, Window):
                    self._reads.page(page.path, page.start_byte, page.end_byte, page.version)
                    if self._shown is not None:
                        self._shown(page)
                return Result(
                    text, outcome="partial" if isinstance(page, Window) and page.bound == "deadline" else "done"
                )
            reserve = max(reserve + (over << look), allowed.measure(text.partition("\n")[0] + "\n"))
            reserve += -reserve % _HEADER_STEP  # in steps, so that pages of one file have the same room
        raise ToolError("bad_argument", notices.over_allowance(allowed))

    def _view(self, a: dict[str, object], allowed: Allowance, deadline: Deadline) -> Result:
        return self._page(lambda room: self.workspace.view(**a, room=room, deadline=deadline), allowed)  # type: ignore[arg-type]

    def _read_file(self, a: dict[str, object], allowed: Allowance, deadline: Deadline) -> Result:
        if a["encoding"] not in {None, "base64"}:
            raise ToolError(
                "bad_argument", notices.argument("encoding", 'leave it out, or "base64" for the exact bytes')
            )
        numbered = a["encoding"] is None and (a["start_line"] is not None or a["end_line"] is not None)
        return self._page(
            lambda room: self.workspace.read_file(**a, room=room, deadline=deadline),  # type: ignore[arg-type]
            allowed,
            cat=numbered,
        )

    def _outline(self, a: dict[str, object], allowed: Allowance, deadline: Deadline) -> Result:
        return self._page(lambda room: self.workspace.outline(**a, room=room, deadline=deadline), allowed)  # type: ignore[arg-type]

    def _list_files(self, a: dict[str, object], allowed: Allowance, deadline: Deadline) -> Result:
        from penstock.workspace.listing import MAX_FILES_PER_LIST, MAX_FILES_WARNING_THRESHOLD

        listing = self.workspace.list_files(**a, deadline=deadline, progress=self.progress)  # type: ignore[arg-type]
        limit, total = int(a["limit"]), listing.page.total or 0  # type: ignore[call-overload]
        if limit == 0 and not a["offset"]:
            if total > MAX_FILES_WARNING_THRESHOLD or not listing.complete:
                page = self._again("list_files", a, limit=MAX_FILES_WARNING_THRESHOLD)
                text = notices.too_many_files(listing, str(a["pattern"]), recursive=bool(a["recursive"]), page=page)
                return Result(text, outcome=_outcome(total, listing.complete))
            text = notices.plain_listing(listing)
            if allowed.holds(text):
                return Result(text, outcome=_outcome(total, listing.complete))
        size = min(limit, MAX_FILES_PER_LIST) or MAX_FILES_WARNING_THRESHOLD

        def render(count: int) -> str:
            page = _shortened(listing.page, count)
            following = (
                None if page.next_offset is None else self._again("list_files", a, offset=page.next_offset, limit=size)
            )
            return notices.listing_page(listing, page, following)

        return Result(_fitting(len(listing.page.items), render, allowed), outcome=_outcome(total, listing.complete))

    def _count_files(self, a: dict[str, object], allowed: Allowance, deadline: Deadline) -> Result:
        counted = self.workspace.count_files(**a, deadline=deadline, progress=self.progress)  # type: ignore[arg-type]
        path, sizes = inert.show_name(str(a["path"])), bool(a["sizes"])
        rows = len(counted.by_extension)
        text = _fitting(rows, lambda shown: notices.counts(path, counted, shown, sizes=sizes), allowed)
        return Result(text, outcome=_outcome(counted.files, counted.complete))

    def _search(self, a: dict[str, object], allowed: Allowance, deadline: Deadline) -> Result:
        found = self.workspace.search(**a, deadline=deadline, progress=self.progress)  # type: ignore[arg-type]

        def render(count: int) -> str:
            more = count < len(found.matches) or found.next_offset is not None
            following = self._again("search", a, offset=found.offset + count) if more and count else None
            return notices.search(found, found.matches[:count], following)

        try:
            text = _fitting(len(found.matches), render, allowed)
        except ToolError:  # the counts per file alone are too long
            found = found._replace(files=found.files[:5], more_files=found.more_files + max(0, len(found.files) - 5))
            text = _fitting(len(found.matches), render, allowed)
        return Result(text, outcome=_outcome(found.total, found.complete))

    def _page_kept(self, a: dict[str, object], allowed: Allowance, deadline: Deadline) -> Result:
        from penstock import paging

        store = self._opened()
        answer = paging.page(store, **a, allowance=allowed, dialect=self.dialect, deadline=deadline)  # type: ignore[arg-type]
        shown = answer.value
        if isinstance(shown, Window):
            self._reads.page(shown.path, shown.start_byte, shown.end_byte, shown.version)
        return Result(answer.text, outcome=answer.outcome)

    def _find_kept(self, a: dict[str, object], allowed: Allowance, deadline: Deadline) -> Result:
        from penstock import paging

        store = self._opened()
        answer = paging.find(store, **a, allowance=allowed, dialect=self.dialect, deadline=deadline)  # type: ignore[arg-type]
        return Result(answer.text, outcome=answer.outcome)

    def _opened(self) -> Store:
        """The store, opened by the first who needs it. Raises `ToolError` that says what is wrong with it."""
        from penstock import guarding, paging

        try:
            if self._store is None:
                return guarding.default_store()
            return self._store() if callable(self._store) else self._store
        except (PenstockError, OSError) as fault:
            raise paging.unreadable(fault) from fault


_ANSWERS: dict[str, Callable[[Tools, dict[str, object], Allowance, Deadline], Result]] = {
    "view": Tools._view,
    "read_file": Tools._read_file,
    "outline": Tools._outline,
    "list_files": Tools._list_files,
    "count_files": Tools._count_files,
    "search": Tools._search,
    "page": Tools._page_kept,
    "find": Tools._find_kept,
}


class _Room:
    """What a page may take once rendered, and the rendering: measure and result cannot differ."""

    def __init__(self, allowance: Allowance, limit: int, cap_bytes: int, dialect: Dialect, *, cat: bool) -> None:
        self.allowance = allowance
        self.limit = limit
        self.cap_bytes = cap_bytes
        self.dialect = dialect
        self._gutter = notices.cat_gutter if cat else notices.gutter
        self._shown = ("", ("", 0))
        self._rows: tuple[Line | None, Line | None, int, tuple[str, int]] = (None, None, 0, ("", 0))

    def lines(self, lines: Sequence[Line]) -> int:
        return self.allowance.measure(self._numbered(lines)[0])

    def text(self, text: str) -> int:
        return self.allowance.measure(self._show(text)[0])

    def _show(self, text: str) -> tuple[str, int]:
        """`inert.show`, once for a text that is measured and then rendered."""
        if text != self._shown[0]:
            self._shown = (text, inert.show(text))
        return self._shown[1]

    def symbols(self, symbols: Sequence[Symbol]) -> int:
        return self.allowance.measure(self._entries(symbols))

    def render(self, page: Window | OutlinePage) -> str:
        """The page as the model sees it: the header, then the body."""
        if not isinstance(page, Window):
            return f"{notices.outline_header(page, self.dialect)}\n{self._entries(page.page.items)}"
        if page.lines or page.first_line == 0:
            body, escaped = self._numbered(page.lines)
        else:
            body, escaped = self._show(page.text)
        said = page.notices
        if "\r" in page.text:
            crlf = page.text.count("\r\n")
            said += ((notices.CRLF,) if crlf else ()) + ((notices.LONE_CR,) if page.text.count("\r") > crlf else ())
        head = notices.header(page, self.dialect, escaped=escaped + page.invalid_bytes, notices=said)
        return f"{head}\n{body}" if body else head

    def _numbered(self, lines: Sequence[Line]) -> tuple[str, int]:
        """The lines as they are shown, once for lines that are measured and then rendered."""
        if not lines:
            return "", 0
        first, last, count, shown = self._rows
        if lines[0] is not first or lines[-1] is not last or len(lines) != count:
            shown = self._number(lines)
            self._rows = (lines[0], lines[-1], len(lines), shown)
        return shown

    def _number(self, lines: Sequence[Line]) -> tuple[str, int]:
        rows, escaped = [], 0
        is_plain = self._show("\t".join(line.text for line in lines))[1] == 0
        for line in lines:
            text, count = (line.text, 0) if is_plain else inert.show(line.text)
            escaped += count
            if line.way is not None:
                text += notices.clipped(line, self.dialect.write(line.way))
            rows.append(self._gutter(line.number, text))
        return "\n".join(rows), escaped

    def _entries(self, symbols: Sequence[Symbol]) -> str:
        return "\n".join(notices.outline_entry(s.start_line, s.end_line, s.depth, s.name) for s in symbols)


# ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────────


def check(tool: Tool, arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments with defaults filled in. Raises `ToolError` that names the field, what it takes, and a call that works.

    Types are what they are: `true`, `"5"` and `5.0` are no integers (L-9).
    """
    known = [parameter.name for parameter in tool.parameters]
    problems: list[str] = []
    for name in arguments:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name[:64], known, 1, 0.5)
            problems.append(notices.unknown_argument(tool.name, name, known, near[0] if near else None))
    checked: dict[str, object] = {}
    for parameter in tool.parameters:
        value = arguments.get(parameter.name, parameter.default)
        problem = "is required" if value is REQUIRED else _problem(parameter, value)
        if problem:
            problems.append(notices.argument(parameter.name, problem))
        else:
            checked[parameter.name] = value
    if problems:
        raise ToolError("bad_argument", " ".join(problems[:4]), *_corrected(tool, checked))
    return checked


def _problem(parameter: Parameter, value: object) -> str | None:
    if value is None and parameter.default is None:
        return None
    if parameter.kind == "integer":
        if type(value) is not int or not parameter.minimum <= value <= parameter.maximum:
            return f"takes an integer from {parameter.minimum} to {parameter.maximum}, not {_kind(value)}"
    elif parameter.kind == "boolean":
        if type(value) is not bool:
            return f"takes true or false, not {_kind(value)}"
    elif not isinstance(value, str):
        return f"takes a string, not {_kind(value)}"
    return None


def _kind(value: object) -> str:
    """A wrong value as an error may echo it: its type in JSON's words, and itself where it is short."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 128 else f"an integer of {value.bit_length()} bits"
    if isinstance(value, float):
        return f"the number {value!r}"
    if isinstance(value, str):
        return f'the string "{inert.clip(value, 40)}"'
    return "an array" if isinstance(value, list | tuple) else "an object"


def _corrected(tool: Tool, checked: dict[str, object]) -> tuple[Call, ...]:
    """A call that keeps what was right and leaves out what was not; none where a required argument is missing.

    Nor where it would repeat at length what nobody has looked at yet: an error echoes little (G3 of reliability.md).
    """
    if any(parameter.default is REQUIRED and parameter.name not in checked for parameter in tool.parameters):
        return ()
    if any(isinstance(value, str) and len(value) > _ECHOED for value in checked.values()):
        return ()
    return (Call(tool.name, _given(tool, checked)),)


def _given(tool: Tool, arguments: Mapping[str, object]) -> dict[str, Value]:
    """The arguments that are not their default, inert: what a printed call repeats."""
    given: dict[str, Value] = {}
    for parameter in tool.parameters:
        value = arguments.get(parameter.name, parameter.default)
        if isinstance(value, str | int) and value != parameter.default:
            given[parameter.name] = inert.show_argument(value) if isinstance(value, str) else value
    return given


def _checked(allowance: Allowance) -> Allowance:
    if allowance.limit < MIN_ALLOWANCE:
        raise CallerError(f"An allowance of {allowance} is too small: a tool needs {MIN_ALLOWANCE} to say anything.")
    return allowance


def _shortened(page: Page[str], count: int) -> Page[str]:
    """The first `count` items of a page; the rest is on the next."""
    if count == len(page.items):
        return page
    return Page(items=page.items[:count], offset=page.offset, limit=page.limit, total=page.total, more=True)


def _outcome(found: int, complete: bool) -> str:
    return "partial" if not complete else "done" if found else "nothing"


def _fitting(count: int, render: Callable[[int], str], allowed: Allowance) -> str:
    """`render(n)` for the largest n that fits."""
    text = render(count)
    if allowed.holds(text):
        return text
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if allowed.holds(render(middle)) else (low, middle)
    text = render(low)
    if not allowed.holds(text):
        raise ToolError("bad_argument", notices.over_allowance(allowed))
    return text


def _cut(text: str, allowed: Allowance) -> str:
    """The beginning of an error that is too long with its calls."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if allowed.holds(text[:middle]) else (low, middle - 1)
    return text[:low]

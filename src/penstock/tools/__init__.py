"""What can a model call? One table of tools, and each of them as a call that returns text.

Every face serves this table: Python functions, MCP tools, commands. A tool is one record in a module of its kind (`files`,
`listing`, `search`, `kept`): its description, its arguments, and the function that answers. To add one, write its record and name
it here. A call never raises for anything that a model can send: a mistake is a result that names the field, what it accepts, and a
call that works (L-9).

    tools = Tools("/home/me/project")
    print(tools.view("README.md"))
    result = tools.call("view", {"file_path": "README.md", "offset": 100})     # as a model sends it

Laws: a result, header and errors included, is within its allowance; the same call over the same files gives the same text. Leaves
to others: what is on disk (workspace), what is kept (store).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from penstock.errors import CallerError, ToolError
from penstock.text import escape, notices
from penstock.text.allowance import Allowance
from penstock.text.calls import PYTHON
from penstock.text.window import HARD_MAX_BYTES
from penstock.tools.arguments import check
from penstock.tools.files import OUTLINE, READ_FILE, VIEW
from penstock.tools.invocation import MIN_ALLOWANCE, Invocation, check_allowance
from penstock.tools.kept import FIND, PAGE
from penstock.tools.listing import COUNT_FILES, LIST_FILES
from penstock.tools.record import MAX_INTEGER, REQUIRED, Parameter, Result, Tool
from penstock.tools.search import SEARCH
from penstock.workspace import Workspace
from penstock.workspace.deadline import READ_SECONDS, WALK_SECONDS, Deadline
from penstock.workspace.read_counters import Counters, Reads

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from penstock.store import Store
    from penstock.text.calls import Dialect
    from penstock.text.window import Window

__all__ = [
    "MAX_INTEGER",
    "MIN_ALLOWANCE",
    "NAVIGATION",
    "REQUIRED",
    "TOOLS",
    "Parameter",
    "Result",
    "Tool",
    "Tools",
    "check",
]

TOOLS: tuple[Tool, ...] = (VIEW, READ_FILE, OUTLINE, LIST_FILES, COUNT_FILES, SEARCH, PAGE, FIND)
"""Every tool of this table, in the order in which faces show them."""
_BY_NAME = {tool.name: tool for tool in TOOLS}

# In the terms of the tools' own arguments; a model that reads this once needs no second description of paging.
NAVIGATION = """\
Files are shown in pages. Search first, then view around the hit: view shows 100 lines, offset=N skips N lines.
The first line of a result says what is shown, how much there is, and the next call, ready to copy.
For a folder, count first, then list with a pattern or page by page. For a large file, take the outline, then its line ranges.
To read a long stretch in few calls, use read_file with start_byte and a generous max_bytes, and follow its next call."""
"""How the tools work together, for a model's instructions."""


class Tools:
    """The tools for one root folder and one store, each returning text within an allowance.

    The methods are for use from Python: they take the tools' own arguments and return text, errors included. `call` takes the
    arguments as a model sent them.

    Args:
        root: the folder that paths are relative to and cannot leave, or a workspace over it.
        allowance: the largest size of a result; 256 KiB if omitted.
        dialect: the syntax in which next calls are printed; Python's if omitted.
        read_seconds: the deadline of a call that reads one file; None for none.
        walk_seconds: the deadline of a call that walks a tree; None for none. Whatever was found by then is returned, marked as
            partial.
        progress: called with the number of files that a long walk has seen.
        store: where `page` and `find` look, or a function that opens it on their first call; the user's own if omitted.
        shown: called with every page of a file that was returned.

    Raises:
        CallerError: if the root is not a folder, or the allowance is too small for any answer.
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
        self.allowance = check_allowance(allowance or Allowance.bytes(HARD_MAX_BYTES))
        self.dialect = dialect or PYTHON
        self.read_seconds = read_seconds
        self.walk_seconds = walk_seconds
        self.progress = progress
        self._store = store
        self._shown = shown
        self._reads = Reads()

    def view(self, file_path: str, offset: int = 0, limit: int | None = None, version: str | None = None) -> str:
        """Return lines `offset + 1` to `offset + limit` of a text file, under a header with the next call (V-1).

        Args:
            file_path: the file, relative to the root.
            offset: lines to skip.
            limit: lines to show; 100 if omitted.
            version: the version token of an earlier page; if the file has changed since, the answer says so.
        """
        arguments = {"file_path": file_path, "offset": offset, "limit": limit, "version": version}
        return self._answer(VIEW, arguments).text

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
        """Return lines of a file, or bytes; without a range, all of a small file or the outline of a large one (B-1).

        Args:
            path: the file, relative to the root.
            start_line: the first line, 1-based. Any line argument selects lines.
            end_line: the last line, inclusive; to the end if omitted.
            start_byte: the byte to start at, 0-based; snaps to the start of its line. Any byte argument selects bytes.
            max_bytes: the size of the page; 64 KiB if omitted, at most 256 KiB.
            version: the version token of an earlier page; if the file has changed since, the answer says so.
            encoding: `base64` for the exact bytes of any file; text if omitted.
        """
        arguments = {
            "path": path,
            "start_line": start_line,
            "end_line": end_line,
            "start_byte": start_byte,
            "max_bytes": max_bytes,
            "version": version,
            "encoding": encoding,
        }
        return self._answer(READ_FILE, arguments).text

    def outline(self, path: str, offset: int = 0, limit: int | None = None) -> str:
        """Return the landmarks of a file with their line ranges: classes, functions, headings, paragraphs (B-11)."""
        return self._answer(OUTLINE, {"path": path, "offset": offset, "limit": limit}).text

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
        """Return file names that match, or their number and how to page through them (L-1 to L-3).

        Args:
            pattern: a glob as in git: `*.py` matches names, `src/*.py` is anchored to `path`, `**/` is any number of folders.
            recursive: also in subfolders, unless the pattern itself decides.
            use_regex: the pattern is a regular expression (RE2), searched anywhere in the path.
            offset: files to skip.
            limit: files per page, up to 100; 0 lists up to 20, or warns that there are more.
            path: the folder to start in.
            include_hidden: also files and folders whose names begin with a dot.
            include_ignored: also what `.gitignore` excludes.
        """
        arguments = {
            "pattern": pattern,
            "recursive": recursive,
            "use_regex": use_regex,
            "offset": offset,
            "limit": limit,
            "path": path,
            "include_hidden": include_hidden,
            "include_ignored": include_ignored,
        }
        return self._answer(LIST_FILES, arguments).text

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
        """Return the numbers of files, bytes and estimated tokens by extension; `sizes=False` counts only files (L-4)."""
        arguments = {
            "path": path,
            "pattern": pattern,
            "recursive": recursive,
            "use_regex": use_regex,
            "include_hidden": include_hidden,
            "include_ignored": include_ignored,
            "sizes": sizes,
        }
        return self._answer(COUNT_FILES, arguments).text

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
        ranked: bool = False,
    ) -> str:
        """Return matching lines with file and number, counts per file first if there are many; or ranked passages (L-7).

        Args:
            pattern: a regular expression (RE2); with `literal` a text, with `ranked` a question in words.
            path: the folder or file to search.
            literal: the pattern is plain text.
            glob: only files whose path matches.
            ignore_case: upper and lower case are alike.
            context_lines: lines shown before and after each match, up to 20.
            offset: matching lines (or passages) to skip.
            limit: matching lines per page, up to 500.
            include_hidden: also files and folders whose names begin with a dot.
            include_ignored: also what `.gitignore` excludes.
            ranked: answer with the passages most relevant to the words, best first.
        """
        arguments = {
            "pattern": pattern,
            "path": path,
            "literal": literal,
            "glob": glob,
            "ignore_case": ignore_case,
            "context_lines": context_lines,
            "offset": offset,
            "limit": limit,
            "include_hidden": include_hidden,
            "include_ignored": include_ignored,
            "ranked": ranked,
        }
        return self._answer(SEARCH, arguments).text

    def page(
        self,
        handle: str,
        start_byte: int | None = None,
        max_bytes: int | None = None,
        offset: int | None = None,
        limit: int | None = None,
    ) -> str:
        """Return a page of a kept output: lines (records, if it is JSON on one line) or bytes (G-3).

        Args:
            handle: the handle that the notice of the cut result names.
            start_byte: the byte to start at, 0-based and exact.
            max_bytes: the size of the page; 64 KiB if omitted, at most 256 KiB.
            offset: lines or records to skip.
            limit: lines or records to show; 100 if omitted.
        """
        arguments = {
            "handle": handle,
            "start_byte": start_byte,
            "max_bytes": max_bytes,
            "offset": offset,
            "limit": limit,
        }
        return self._answer(PAGE, arguments).text

    def find(self, handle: str, pattern: str, limit: int = 50) -> str:
        """Return the lines of a kept output that match a regular expression, each with its line number and byte offset (G-3)."""
        return self._answer(FIND, {"handle": handle, "pattern": pattern, "limit": limit}).text

    def call(self, name: str, arguments: Mapping[str, object], *, allowance: Allowance | None = None) -> Result:
        """Return a tool's answer to arguments as a model sent them.

        Args:
            name: the name of a tool in `TOOLS`.
            arguments: any JSON object; mistakes in it are reported as a result.
            allowance: what this result may take; that of the table if omitted.

        Raises:
            CallerError: for an unknown tool, and for an allowance too small for any answer.
        """
        tool = _BY_NAME.get(name)
        if tool is None:
            raise CallerError(f"There is no tool {escape.clip(name)}. Tools: {', '.join(_BY_NAME)}.")
        return self._answer(tool, arguments, None if allowance is None else check_allowance(allowance))

    def counters(self) -> Counters:
        """Return what these tools have read so far: pages, bytes, and repeated reads (B-12)."""
        return self._reads.counters()

    def _answer(self, tool: Tool, arguments: Mapping[str, object], allowance: Allowance | None = None) -> Result:
        """Return the answer of a tool's own function to checked arguments, or its error as a result."""
        # Built for each call, deadline first: checking arguments counts towards the time of the call like everything else.
        allowed = allowance or self.allowance
        deadline = Deadline(self.walk_seconds if tool.slow else self.read_seconds)
        try:
            checked = check(tool, arguments)
            invocation = Invocation(
                tool=tool,
                arguments=checked,
                workspace=self.workspace,
                allowance=allowed,
                dialect=self.dialect,
                deadline=deadline,
                reads=self._reads,
                progress=self.progress,
                store=self._store,
                shown=self._shown,
            )
            try:
                return tool.answer(invocation, **checked)
            except ToolError as error:
                from penstock.tools.instead import with_way  # only if one is needed

                raise with_way(error, tool, checked) from None
        except ToolError as error:
            if error.code == "busy":
                self._reads.busy()
            # The message with as many of its calls as the allowance holds, from all of them down to none; a message that alone is
            # too long is cut, since an error is a result like any other and keeps its size (L-9).
            ways = [self.dialect.write(call) for call in error.calls]
            texts = (notices.with_ways(error.message, ways[:count]) for count in range(len(ways), -1, -1))
            text = next((text for text in texts if allowed.holds(text)), None)
            return Result(_cut(error.message, allowed) if text is None else text, is_error=True, code=error.code)


def _cut(text: str, allowed: Allowance) -> str:
    """Return the longest beginning of an error message that the allowance holds, without any call."""
    # By bisection, since the cost of a text is not its length: tokens and bytes are measured.
    return text[: bisect_left(range(1, len(text) + 1), True, key=lambda length: not allowed.holds(text[:length]))]

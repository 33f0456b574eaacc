"""Which tools read one file? `view`, `read_file`, `outline`.

There are three, because models ask in three ways: around a line, on from a byte, and what there is at all. Each is its record and
the call of the workspace behind it. Leaves to others: what a page is (`workspace`), how it is shown (`pages`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.tools.pages import read_page
from penstock.tools.record import REQUIRED, Parameter, Tool

if TYPE_CHECKING:
    from penstock.tools.invocation import Invocation
    from penstock.tools.record import Result


# Each answer passes a `room` to the workspace: the renderer that measures what it would show, so that a page ends when it is full.
def _view(call: Invocation, *, file_path: str, offset: int, limit: int | None, version: str | None) -> Result:
    return read_page(
        call, lambda room: call.workspace.view(file_path, offset, limit, version, room=room, deadline=call.deadline)
    )


VIEW = Tool(
    name="view",
    title="View a page of a file",
    description=(
        "Show a text file by lines: 100 lines from the start, or from any offset, in a file of any size. Use it to look "
        "around a search hit or to page through code. The first line of the result says which lines are shown, of how many, "
        "and the next call. Lines are numbered `12|text`; very long lines are clipped and say how to read the rest."
    ),
    parameters=(
        Parameter("file_path", "string", REQUIRED, "path of the file, relative to the root"),
        Parameter("offset", "integer", 0, "lines to skip: offset=100 starts at line 101"),
        Parameter("limit", "integer", None, "lines to show; 100 when left out", minimum=1),
        Parameter("version", "string", None, "version token of an earlier page"),
    ),
    answer=_view,
)
"""The tool that shows lines around a position (V-1 to V-12)."""


def _read_file(
    call: Invocation,
    *,
    path: str,
    start_line: int | None,
    end_line: int | None,
    start_byte: int | None,
    max_bytes: int | None,
    version: str | None,
    encoding: str | None,
) -> Result:
    return read_page(
        call,
        lambda room: call.workspace.read_file(
            path,
            start_line,
            end_line,
            start_byte,
            max_bytes,
            version,
            encoding,
            room=room,
            deadline=call.deadline,
        ),
        # Lines by number are shown as `cat -n` numbers them (B-2); bytes are shown unchanged.
        cat=encoding is None and (start_line is not None or end_line is not None),
    )


READ_FILE = Tool(
    name="read_file",
    title="Read a file by bytes or lines",
    description=(
        "Read a text file in large exact pages. With start_byte/max_bytes: whole lines around that byte range; continue with "
        "the next call that the first line of the result prints. Use max_bytes generously (up to 262144) to need fewer "
        "calls; byte windows are for reading on, line ranges (start_line/end_line, 1-based, inclusive) for what an outline "
        "named. Without any range: the whole file if it is small, else its outline. version= from an earlier page makes sure "
        "that the file is still the same."
    ),
    parameters=(
        Parameter("path", "string", REQUIRED, "path of the file, relative to the root"),
        Parameter("start_line", "integer", None, "first line, 1-based"),
        Parameter("end_line", "integer", None, "last line, inclusive"),
        Parameter("start_byte", "integer", None, "byte to start at, 0-based; snaps to the start of its line"),
        Parameter("max_bytes", "integer", None, "size of the page in bytes; 65536 when left out, at most 262144"),
        Parameter("version", "string", None, "version token of an earlier page"),
        Parameter("encoding", "string", None, 'leave out for text; "base64" for the exact bytes of any file'),
    ),
    answer=_read_file,
)
"""The tool that reads a file in large exact pages (B-1 to B-10)."""


def _outline(call: Invocation, *, path: str, offset: int, limit: int | None) -> Result:
    return read_page(call, lambda room: call.workspace.outline(path, offset, limit, room=room, deadline=call.deadline))


OUTLINE = Tool(
    name="outline",
    title="Outline a file",
    description=(
        "List the landmarks of a source or document with their line ranges: classes, functions, headings, keys, COBOL "
        "divisions and paragraphs. Take it before reading a large file, then view the range you need."
    ),
    parameters=(
        Parameter("path", "string", REQUIRED, "path of the file, relative to the root"),
        Parameter("offset", "integer", 0, "entries to skip"),
        Parameter("limit", "integer", None, "entries to show; 200 when left out", minimum=1),
    ),
    answer=_outline,
)
"""The tool that lists the landmarks of a file (B-11)."""

"""Which tools read what a cut result left out? `page` and `find` (G-3).

Every notice names them as the way back. Law: their results bound themselves and are never kept again, or paging would fill the
store with pages of pages (G-8). Leaves to others: how a kept output is divided and searched (`store.pages`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock.text.window import Window
from penstock.tools.record import REQUIRED, Parameter, Result, Tool

if TYPE_CHECKING:
    from penstock.store import Store
    from penstock.tools.invocation import Invocation

_HANDLE = Parameter("handle", "string", REQUIRED, "handle of the kept output, from the notice of the cut result")


def _opened(call: Invocation) -> Store:
    """Return the store, opened by the first call that needs it.

    Raises:
        ToolError: if it cannot be opened, saying why.
    """
    # Loaded here, since most calls need no store.
    from penstock.guard import output
    from penstock.store import reading

    try:
        if call.store is None:
            return output.default_store()
        return call.store() if callable(call.store) else call.store
    except (PenstockError, OSError) as fault:
        raise reading.unreadable(fault) from fault


def _page(
    call: Invocation,
    *,
    handle: str,
    start_byte: int | None,
    max_bytes: int | None,
    offset: int | None,
    limit: int | None,
) -> Result:
    from penstock.store import pages

    answer = pages.page(
        _opened(call),
        handle,
        start_byte,
        max_bytes,
        offset,
        limit,
        allowance=call.allowance,
        dialect=call.dialect,
        deadline=call.deadline,
    )
    # Pages of kept outputs count as reads like those of files: an agent that pages in circles is visible in the counters.
    shown = answer.value
    if isinstance(shown, Window):
        call.reads.page(shown.path, shown.start_byte, shown.end_byte, shown.version)
    return Result(answer.text, outcome=answer.outcome)


PAGE = Tool(
    name="page",
    title="Read a kept output",
    description=(
        "Read what a cut result left out: a page of the kept output, by the handle that its notice [OUTPUT TRUNCATED] names. "
        "Lines with offset/limit (records, where it is JSON on one line), else bytes with start_byte/max_bytes, from the "
        "beginning when left out. The first line of the result says what is shown, of how much, and the next call. A handle "
        "that has expired stays so: call the tool that made the output once more."
    ),
    parameters=(
        _HANDLE,
        Parameter("start_byte", "integer", None, "byte to start at, 0-based; the page begins exactly there"),
        Parameter("max_bytes", "integer", None, "size of the page in bytes; 65536 when left out, at most 262144"),
        Parameter("offset", "integer", None, "lines (or records) to skip: offset=100 starts at line 101"),
        Parameter("limit", "integer", None, "lines (or records) to show; 100 when left out", minimum=1),
    ),
    answer=_page,
)
"""The tool that reads a kept output page by page (G-3)."""


def _find(call: Invocation, *, handle: str, pattern: str, limit: int) -> Result:
    from penstock.store import finding

    answer = finding.find(
        _opened(call),
        handle,
        pattern,
        limit,
        allowance=call.allowance,
        dialect=call.dialect,
        deadline=call.deadline,
    )
    return Result(answer.text, outcome=answer.outcome)


FIND = Tool(
    name="find",
    title="Search a kept output",
    description=(
        "Find the lines of a kept output that match a regular expression (RE2: no backreferences or lookaround), by the "
        "handle that the notice [OUTPUT TRUNCATED] of a cut result names. Each match is LINE|BYTE|TEXT: page with "
        "start_byte=BYTE reads on from there. All matches are counted, also those that are not shown."
    ),
    parameters=(
        _HANDLE,
        Parameter("pattern", "string", REQUIRED, "regular expression (RE2), searched in every line"),
        Parameter("limit", "integer", 50, "matching lines to show, up to 500", minimum=1, maximum=500),
    ),
    slow=True,
    answer=_find,
)
"""The tool that searches a kept output (G-3)."""

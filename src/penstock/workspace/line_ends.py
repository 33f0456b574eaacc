r"""How does a match ignore the carriage return of `\r\n`? Only the line without its end may match.

An engine knows one line end, the line feed, and would let `.`, `\s` or `[^a]` match the carriage return before it. Law: what
`first` returns is a match in the line alone. Leaves to others: which patterns mention a carriage return themselves (`pattern`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, AnyStr

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    Searching = Callable[[AnyStr, int, int], re.Match[AnyStr] | None]
    """`search` of a compiled expression: the text, where a match may begin, and where it must end."""


def first(search: Searching[AnyStr], text: AnyStr, start: int, end: int, line_end: AnyStr) -> tuple[int, int] | None:
    """Return where the first match between two positions begins and ends; None if there is none.

    Args:
        search: That of an expression in which `$` also matches the carriage return of a line end.
        text: Whole lines.
        start: Where a match may begin.
        end: Where it must end.
        line_end: The two characters, in the type of `text`; empty if a carriage return may match.
    """
    while (match := search(text, start, end)) is not None:
        begin, stop = match.span()
        if not line_end or text[stop - 1 : stop + 1] != line_end:
            return begin, stop
        # A copy of the line: an engine told where to stop still sees what follows.
        line_start = text.rfind(line_end[1:], 0, begin) + 1
        line = text[line_start : stop - 1]
        if (match := search(line, max(start - line_start, 0), len(line))) is not None:
            return line_start + match.start(), line_start + match.end()
        start = stop + 1
        if start > end:
            break
    return None

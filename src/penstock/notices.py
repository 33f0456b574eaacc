"""How do we say it? Every sentence that a model reads, in one place.

Numbers come in as values and leave as text: no digit grouping, one meaning for each word, the way on first, because the
end of a result is what other software cuts off. Everything foreign is made inert before it gets here.
Keeps out: what is true, and what fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import inert

if TYPE_CHECKING:
    from penstock.calls import Call, Dialect
    from penstock.window import Fragment, Window

NAVIGATION = """\
Files are shown in pages. Search first, then view around the hit: view shows 100 lines, offset=N skips N lines.
The first line of a result says what is shown, how much there is, and the next call, ready to copy.
For a folder, count first, then list with a pattern or page by page. For a large file, take the outline, then its line ranges.
To read a long stretch in few calls, use read_file with start_byte and a generous max_bytes, and follow its next call."""


def gutter(number: int, text: str) -> str:
    """A line of `view`: compact, so that the number costs little (V-7)."""
    return f"{number}|{text}"


def cat_gutter(number: int, text: str) -> str:
    """A line of `read_file` in line mode, numbered as `cat -n` does (B-2)."""
    return f"{number:>6}\t{text}"


def clipped(hidden_bytes: int, at_least: bool, way: str) -> str:
    """What stands where a line was clipped (V-8)."""
    amount = f"at least {hidden_bytes}" if at_least else str(hidden_bytes)
    return f"…[{amount} bytes hidden: {way}]"


# ── headers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def header(window: Window, dialect: Dialect, *, escaped: int) -> str:
    """The first line of a page: what it shows, of what, which version, the next call; what does not apply is left out."""
    parts = []
    if window.first_line is not None:
        parts.append(showing(window))
        parts.append(f"bytes {window.start_byte}-{window.end_byte} of {window.total_bytes}")
    else:
        parts.append(f"showing bytes {window.start_byte}-{window.end_byte} of {window.total_bytes}")
    parts.append(f"version {window.version}")
    if window.next is not None:
        parts.append(f"next: {dialect.write(window.next)}")
    if window.previous is not None:
        parts.append(f"previous: {dialect.write(window.previous)}")
    if window.bound in _BOUNDS:
        cap = f" of {window.cap_bytes} bytes" if window.cap_bytes is not None and window.bound != "deadline" else ""
        parts.append(_BOUNDS[window.bound] + cap)
    if window.fragment is not None:
        parts.append(fragment(window, window.fragment))
    if window.encoding != "UTF-8":
        parts.append(f"encoding {window.encoding}")
    if escaped:
        parts.append(escapes(escaped, window.invalid_bytes))
    parts.extend(window.notices)
    return f"{inert.clip(window.path)}: " + " | ".join(parts)


def showing(window: Window) -> str:
    """`showing lines X-Y of Z total`, exactly so (V-3); `at least Z` while the count goes on (V-6)."""
    total = window.total_lines
    if total is None:
        return f"showing lines {window.first_line}-{window.last_line}"
    return f"showing lines {window.first_line}-{window.last_line} of {'' if window.total_lines_exact else 'at least '}{total} total"


_BOUNDS = {
    "hard cap": "stopped at the hard cap",
    "budget": "stopped at the budget",
    "deadline": "stopped at the deadline of the call: the same call goes on",
}


def fragment(window: Window, part: Fragment) -> str:
    """Where a fragment lies in its line (B-5)."""
    line = f"line {window.first_line}" if window.first_line is not None else "one line"
    if part.line_start_byte is None:
        where = f"bytes {window.start_byte}-{window.end_byte} of the file"
    else:
        length = (
            f"at least {window.end_byte - part.line_start_byte}"
            if part.line_end_byte is None
            else str(part.line_end_byte - part.line_start_byte)
        )
        where = f"bytes {window.start_byte - part.line_start_byte}-{window.end_byte - part.line_start_byte} of {length}"
    goes_on = part.line_end_byte is None or window.end_byte < part.line_end_byte
    return f"fragment of {line}: {where}" + (", line continues" if goes_on else ", line ends here")


def escapes(escaped: int, invalid_bytes: int) -> str:
    if invalid_bytes:
        return f"not UTF-8: {invalid_bytes} bytes escaped" + (f", {escaped - invalid_bytes} characters escaped" if escaped > invalid_bytes else "")
    return f"{escaped} characters escaped"


# ── notices of pages ─────────────────────────────────────────────────────────────────────────────────────────────


def past_the_end(total_lines: int, exact: bool, last_page: str | None) -> str:
    """The answer to an offset at or past the end (V-6)."""
    there = f"the file has {'' if exact else 'at least '}{total_lines} lines"
    return f"nothing there: {there}" + (f"; last page: {last_page}" if last_page else "")


def end_of_file(size_bytes: int) -> str:
    return f"end of file at {size_bytes}"


def clamped(asked_bytes: int, cap_bytes: int) -> str:
    return f"max_bytes {asked_bytes} is above the cap in force, {cap_bytes} were taken"


def grew(by_bytes: int) -> str:
    return f"the file grew by {by_bytes} bytes since that page; the text before this place is the same"


CRLF = "lines end in CRLF"
LONE_CR = "lone carriage returns (\\x0d) do not end lines"
SHRANK = "the file shrank during the read"


def ignored_arguments(names: list[str], mode: str) -> str:
    return f"{' and '.join(names)} ignored: {mode} was asked for"


# ── refusals of files ────────────────────────────────────────────────────────────────────────────────────────────


def binary(path: str, kind: str, size_bytes: int, way: str) -> str:
    return f"{path} is binary ({kind}, {size_bytes} bytes) and is not shown as text. For its exact bytes: {way}"


def stale(path: str, change: str, restart: str, go_on: str) -> str:
    return f"stale: {path} {change}. This page would not belong to the one before. Start again: {restart}. Or take this place as it is now: {go_on}"


def with_ways(message: str, ways: list[str]) -> str:
    """An error and the calls that work."""
    return message if not ways else f"{message} Try: " + " or ".join(ways)


def did_you_mean(paths: list[str]) -> str:
    return "Similar: " + ", ".join(paths) + "."


def not_reached(line: int, reached: int, scanned_bytes: int, size_bytes: int) -> str:
    share = f"{100 * scanned_bytes / size_bytes:.2f} %"
    return f"Line {line} was not reached in the time of one call: {reached} lines counted, {share} of the file. The same call goes on from there."


def call_of(call: Call | None, dialect: Dialect) -> str | None:
    return None if call is None else dialect.write(call)

"""What do several rooms say? Headers of pages, line numbers, and the sentences of errors that more than one room
raises.

A sentence of a single room is kept in that room, next to the value that it speaks of; text that stands in for what is not
shown is in `stand_ins`. Numbers come in as values and leave as text: no digit grouping, one meaning for each word, the next
call first, because the end of a result is what other software cuts off. Everything foreign is made inert before it gets
here. Leaves to others: what is true, and what fits.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.allowance import Allowance
    from penstock.text.calls import Dialect
    from penstock.text.window import Fragment, Line, Window

# The units of `duration`: seconds below two minutes, minutes below an hour, hours below a day.
_MINUTES_FROM, _HOURS_FROM, _DAYS_FROM = 120, 60, 24

# ── lines of a page ──────────────────────────────────────────────────────────────────────────────────────────────


def gutter(number: int, text: str) -> str:
    """Return a line of `view` with its number: compact, so that the number costs little (V-7)."""
    return f"{number}|{text}"


def cat_gutter(number: int, text: str) -> str:
    """Return a line of `read_file` in line mode, numbered as `cat -n` does (B-2)."""
    return f"{number:>6}\t{text}"


def without_gutters(text: str) -> str:
    """Return lines of a page as they are in the file, if all of them were copied with their numbers."""
    return re.sub(r"(?m)^ *\d+(?:\||\t)", "", text)


def without_number(line: str) -> str:
    """Return a line as a model quotes it, without the number before it, whatever the model put between the two."""
    return re.sub(r"^\s*\d+\s*[|:\t]", "", line, flags=re.ASCII)


CLIP_MARK = r"…\[(?:at least )?\d+ bytes hidden: "
"""The pattern of the text that `clipped` writes, by which stand-ins are found in content."""


def clipped(line: Line, way: str) -> str:
    """Return the text that replaces the clipped part of a line, with the call that shows the rest (V-8)."""
    return f"…[{'at least ' if line.is_endless else ''}{line.hidden_bytes} bytes hidden: {way}]"


# ── headers ──────────────────────────────────────────────────────────────────────────────────────────────────────

PAGE_HEAD = r": showing (?:lines|bytes) \d+-\d+ of (?:at least )?\d+ (?:total \||\|) "
"""The pattern of the text that `header` writes, by which stand-ins are found in content."""
_PART = r": (?:outline of|showing bytes) \d"


def header(window: Window, dialect: Dialect, *, escaped: int, notices: Sequence[str]) -> str:
    """Return the first line of a page: what it shows, of what, which version, the next call; what does not apply is
    left out.

    Args:
        window: the page.
        dialect: the syntax of the calls.
        escaped: how many characters of the page are shown as escapes.
        notices: further sentences, for the end of the line.
    """
    parts = []
    if window.first_line is not None:
        parts.append(_showing(window))
        parts.append(f"bytes {window.start_byte}-{window.end_byte} of {window.total_bytes}")
    else:
        parts.append(f"showing bytes {window.start_byte}-{window.end_byte} of {window.total_bytes}")
    # A view's header has at most 60 tokens (V-12), and a version takes 13: it is given once, in the call that needs it.
    carried = window.next is not None and window.next.tool == "view" and "version" in window.next.arguments
    if window.version and not carried:  # an artifact has only one
        parts.append(f"version {window.version}")
    # The next call comes before everything that only explains: hosts cut lines too, from the right.
    if window.next is not None:
        parts.append(f"next: {dialect.write(window.next)}")
    if window.previous is not None and "start_byte" in window.previous.arguments:
        parts.append(f"previous {dialect.name(window.previous, 'start_byte', 'max_bytes', 'version')}")
    if window.bound in _BOUNDS:
        cap = f" of {window.cap_bytes} bytes" if window.cap_bytes is not None and window.bound != "deadline" else ""
        parts.append(_BOUNDS[window.bound] + cap)
    if window.fragment is not None:
        parts.append(_fragment(window, window.fragment))
    if window.encoding != "UTF-8":
        parts.append(f"encoding {window.encoding}")
    if escaped:
        parts.append(_escapes(escaped, window.invalid_bytes, window.encoding))
    if window.first_line == 0 and window.previous is not None:
        parts.append(f"{past_the_end(window.total_lines or 0)}; the last page: {dialect.write(window.previous)}")
    parts.extend(notices)
    return f"{title(window.path)}: " + " | ".join(parts)


def title(path: str) -> str:
    """Return a shown path for the head of a result; the path still opens the file.

    Whatever could end the path or separate it from the next field is escaped, so that no name can pose as anything else (L-10).
    """
    return escape.shorten(path).replace(": ", "\\x3a ").replace(" | ", " \\x7c ")


def _showing(window: Window) -> str:
    """Return `showing lines X-Y of Z total`, exactly that (V-3), with `at least Z` while counting continues (V-6)."""
    total = window.total_lines
    if total is None:
        return f"showing lines {window.first_line}-{window.last_line}"
    some = "" if window.total_lines_exact else "at least "
    return f"showing lines {window.first_line}-{window.last_line} of {some}{total} total"


def outline_of(total_lines: int, total_bytes: int, *, is_complete: bool) -> str:
    """Return what an outline covers, in place of what a page shows."""
    return f"outline of {'' if is_complete else 'at least '}{total_lines} lines, {total_bytes} bytes"


def shows_no_lines(first_line: str) -> bool:
    """Return whether a header belongs to an outline or to bytes, so that the lines shown are unknown."""
    return re.search(_PART, first_line) is not None


_BOUNDS = {
    "hard cap": "stopped at the hard cap",
    "budget": "stopped at the budget",
    "deadline": "stopped at the deadline of the call: the same call continues",
}


def _fragment(window: Window, part: Fragment) -> str:
    """Return where a fragment is in its line (B-5)."""
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


def _escapes(escaped: int, invalid_bytes: int, encoding: str) -> str:
    """Return how many bytes were not text, and how many characters are shown as escapes."""
    if invalid_bytes:
        return f"not {encoding}: {invalid_bytes} bytes escaped" + (
            f", {counted(escaped - invalid_bytes, 'character')} escaped" if escaped > invalid_bytes else ""
        )
    return f"{counted(escaped, 'character')} escaped"


def past_the_end(total_lines: int) -> str:
    """Return the sentence about a place after the last line (V-6, B-2); the last page is the one before it."""
    return f"nothing there: the file has {counted(total_lines, 'line')}"


# ── what there is to say about a page, or an edit ────────────────────────────────────────────────────────────────

CRLF = "lines end in CRLF"
"""The sentence about a file with such line ends: the page does not show them, and an edit keeps them."""


def end_of_file(size_bytes: int) -> str:
    """Return the sentence that a page ends where the file does."""
    return f"end of file at {size_bytes}"


def clamped(asked_bytes: int, cap_bytes: int) -> str:
    """Return the sentence that more bytes were asked for than a page may have."""
    return f"max_bytes={asked_bytes} is above the cap in force: {cap_bytes} were taken"


def records(first: int, last: int, total: int, *, is_exact: bool) -> str:
    """Return the sentence on which records of one-line JSON a page shows, and of how many (G-5)."""
    return f"records {first}-{last} of {'' if is_exact else 'at least '}{total} total"


def ignored_arguments(names: list[str], mode: str) -> str:
    """Return the sentence that arguments were ignored because others decide the mode of a read."""
    return f"{' and '.join(names)} ignored: {mode} was asked for"


def hidden_secrets(count: int) -> str:
    """Return the sentence that marks replace secrets, so that places refer to what is kept and not to the original."""
    return f"{counted(count, 'secret is', 'secrets are')} hidden in it: bytes are counted as they are kept"


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────


def with_ways(message: str, ways: list[str]) -> str:
    """Return an error with the calls that work."""
    return message if not ways else f"{message} Try: " + " or ".join(ways)


def noun_for(number: int, one: str, many: str = "") -> str:
    """Return the noun for a number of things; `many` is the plural if it is not `one` with an s."""
    return one if number == 1 else many or f"{one}s"


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number of things in words: `1 file`, `2 files`; `many` is the plural if it is not `one` with an s."""
    return f"{number} {noun_for(number, one, many)}"


def duration(seconds: float) -> str:
    """Return a duration as people say it: rounded, in one unit or in two neighbouring ones.

        >>> duration(90), duration(600), duration(7_500), duration(604_800)
        ('90 s', '10 min', '2 h 5 min', '7 d')

    Args:
        seconds: Any number from 0 on. Below two minutes it stays in seconds, and below ten it keeps two digits.
    """
    if round(seconds) < _MINUTES_FROM:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{round(seconds, 3):.2g} s"
    minutes = round(seconds / 60)
    if minutes < _HOURS_FROM:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < _DAYS_FROM:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(round(seconds / 3_600), 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def argument(name: str, problem: str) -> str:
    """Return what is wrong with an argument."""
    return f"{name}: {problem}."


def not_an_object(arguments: str) -> str:
    """Return the message for a call whose arguments are not a JSON object.

    Args:
        arguments: what the model wrote.
    """
    return f"The arguments are not a JSON object. Send them again, whole. Received: {escape.clip(arguments, 120)}"


def over_allowance(allowance: Allowance, least: int) -> str:
    """Return the sentence that not even the shortest answer fits, and how much it takes."""
    # A little more, because with more room numbers in its header may have one more digit.
    return f"The answer does not fit in {allowance}: it takes at least {least + least // 8}."


# ── files when a session goes on: told by a resume ───────────────────────────────────────────────────────────────


def all_verified(counts: Sequence[tuple[str, int]]) -> str:
    """Return the first line of a report on files, which a resume adds to a user's words (S-10).

    Args:
        counts: how many files are in each state, in the order to say them.
    """
    said = ", ".join(f"{count} {state}" for state, count in counts if count)
    return f"Files since the session last saw them: {said or 'none was known'}."

"""How do we say it? Every sentence that a model reads, in one place.

Numbers come in as values and leave as text: no digit grouping, one meaning for each word, the way on first, because the
end of a result is what other software cuts off. Everything foreign is made inert before it gets here.
Keeps out: what is true, and what fits.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock import inert
from penstock.calls import PYTHON, Call, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.calls import Dialect
    from penstock.compaction import Plan
    from penstock.page import Page
    from penstock.session import Todo
    from penstock.verifying import Git
    from penstock.window import Fragment, Line, Window
    from penstock.workspace.listing import Counts, Listing, Omitted
    from penstock.workspace.reading import OutlinePage
    from penstock.workspace.searching import Match, Search

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


def clipped(line: Line, way: str) -> str:
    """What stands where a line was clipped, with the call that shows the rest (V-8)."""
    return f"…[{'at least ' if line.is_endless else ''}{line.hidden_bytes} bytes hidden: {way}]"


# ── headers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def header(window: Window, dialect: Dialect, *, escaped: int, notices: Sequence[str]) -> str:
    """The first line of a page: what it shows, of what, which version, the next call; what does not apply is left out."""
    parts = []
    if window.first_line is not None:
        parts.append(showing(window))
        parts.append(f"bytes {window.start_byte}-{window.end_byte} of {window.total_bytes}")
    else:
        parts.append(f"showing bytes {window.start_byte}-{window.end_byte} of {window.total_bytes}")
    if window.version:  # an artifact has but one
        parts.append(f"version {window.version}")
    if window.next is not None:
        parts.append(f"next: {dialect.write(window.next)}")
    if window.previous is not None and "start_byte" in window.previous.arguments:
        parts.append(f"previous {dialect.name(window.previous, 'start_byte', 'max_bytes', 'version')}")
    if window.bound in _BOUNDS:
        cap = f" of {window.cap_bytes} bytes" if window.cap_bytes is not None and window.bound != "deadline" else ""
        parts.append(_BOUNDS[window.bound] + cap)
    if window.fragment is not None:
        parts.append(fragment(window, window.fragment))
    if window.encoding != "UTF-8":
        parts.append(f"encoding {window.encoding}")
    if escaped:
        parts.append(escapes(escaped, window.invalid_bytes, window.encoding))
    if window.first_line == 0 and window.previous is not None:
        parts.append(past_the_end(window.total_lines or 0, dialect.write(window.previous)))
    parts.extend(notices)
    return f"{title(window.path)}: " + " | ".join(parts)


def title(path: str) -> str:
    """A shown path at the head of a result: what ends it or parts it from the next field is escaped, so that no name can
    say more than a name (L-10). It opens the file all the same."""
    return inert.shorten(path).replace(": ", "\\x3a ").replace(" | ", " \\x7c ")


def showing(window: Window) -> str:
    """`showing lines X-Y of Z total`, exactly so (V-3); `at least Z` while the count goes on (V-6)."""
    total = window.total_lines
    if total is None:
        return f"showing lines {window.first_line}-{window.last_line}"
    some = "" if window.total_lines_exact else "at least "
    return f"showing lines {window.first_line}-{window.last_line} of {some}{total} total"


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


def escapes(escaped: int, invalid_bytes: int, encoding: str) -> str:
    if invalid_bytes:
        return f"not {encoding}: {invalid_bytes} bytes escaped" + (
            f", {escaped - invalid_bytes} characters escaped" if escaped > invalid_bytes else ""
        )
    return f"{escaped} characters escaped"


# ── notices of pages ─────────────────────────────────────────────────────────────────────────────────────────────


def past_the_end(total_lines: int, last_page: str) -> str:
    """The answer to a place behind the last line (V-6, B-2)."""
    return f"nothing there: the file has {total_lines} lines; the last page: {last_page}"


def end_of_file(size_bytes: int) -> str:
    return f"end of file at {size_bytes}"


def clamped(asked_bytes: int, cap_bytes: int) -> str:
    return f"max_bytes={asked_bytes} is above the cap in force: {cap_bytes} were taken"


def grew(by_bytes: int) -> str:
    return f"the file grew by {by_bytes} bytes since that page; the text just before this place is the same"


CRLF = "lines end in CRLF"
LONE_CR = "a lone carriage return (\\x0d) ends no line"
SHRANK = "the file shrank during the read"
NO_LANDMARKS = "no landmarks found: its beginning instead of an outline"
OUTLINE_NO_SHORTER = "an outline would hardly be shorter: the content instead"


def unsized(read_bytes: int) -> str:
    return f"the file system states no size: {read_bytes} bytes were read"


def ignored_arguments(names: list[str], mode: str) -> str:
    return f"{' and '.join(names)} ignored: {mode} was asked for"


_DEEPEST = 30  # what is nested deeper is indented like this: the indent alone must not fill a page


# ── outlines ─────────────────────────────────────────────────────────────────────────────────────────────────────


def outline_header(outline: OutlinePage, dialect: Dialect) -> str:
    page, some = outline.page, "" if outline.complete else "at least "
    first, last = (page.offset + 1, page.offset + len(page.items)) if page.items else (0, 0)
    parts = [
        f"outline of {some}{outline.total_lines} lines, {outline.total_bytes} bytes",
        f"entries {first}-{last} of {some}{page.total}",
        outline.language if outline.method == "plain text" else f"{outline.language} by {outline.method}",
        f"version {outline.version}",
    ]
    if outline.method == "plain text":
        parts.insert(3, "no grammar for it: blocks of plain text")
    if outline.next is not None:
        parts.append(f"next: {dialect.write(outline.next)}")
    parts.append("show lines A-B with view, offset=A-1")
    return f"{title(outline.path)}: " + " | ".join(parts)


def outline_entry(start_line: int, end_line: int, depth: int, name: str) -> str:
    """A landmark, indented by its depth; escapes cannot make a name longer than any other."""
    return f"{'  ' * min(depth, _DEEPEST)}{start_line}-{end_line} {inert.shorten(inert.show(name)[0])}"


# ── listings, in the words of the seed (L-2, L-3) ────────────────────────────────────────────────────────────────

NO_FILES = "No files found matching the criteria."
_OWN_WORDS = (
    "[Files ",
    "[More files",
    "[Listing complete",
    "[Left out",
    "[The walk",
    "Warning:",
    "No files ",
    "Options:",
)


def entry(name: str) -> str:
    """A name in a listing; one that begins like a line of ours is escaped, and opens the file all the same (L-10)."""
    return f"\\x{ord(name[0]):02x}{name[1:]}" if name.startswith(_OWN_WORDS) else name


def omitted(left_out: Omitted) -> str:
    """How many entries are not shown, by reason (L-5)."""
    words = {
        "hidden": left_out.hidden,
        "ignored": left_out.ignored,
        "vanished during the walk": left_out.vanished,
        "permission denied": left_out.denied,
        "special files": left_out.special,
        "links not followed": left_out.links,
    }
    return ", ".join(f"{count} {word}" for word, count in words.items() if count)


def _left_out(left_out: Omitted) -> str:
    said = omitted(left_out)
    return f"[Left out: {said}]" if said else ""


WALK_PARTIAL = "[The walk did not end in the time of one call: totals are at least so]"


def too_many_files(listing: Listing, pattern: str, *, recursive: bool, page: str) -> str:
    """The seed's warning: a count and three ways on, no names."""
    mode = "recursively" if recursive else "in current directory"
    lines = [
        f"Warning: {listing.page.total} files match pattern '{inert.clip(pattern)}' {mode}.",
        "Listing all would overwhelm the context window.",
        "",
        "Options:",
        "1. Use count_files() to see breakdown by extension",
        "2. Use a more specific pattern (e.g., '*.py' instead of '*')",
        f"3. Use list_files with pagination: {page}",
        _left_out(listing.omitted),
        "" if listing.complete else WALK_PARTIAL,
    ]
    return "\n".join(lines[:7] + [line for line in lines[7:] if line])


def plain_listing(listing: Listing) -> str:
    head = [line for line in (_left_out(listing.omitted), "" if listing.complete else WALK_PARTIAL) if line]
    return "\n".join(head + ([entry(name) for name in listing.page.items] if listing.page.items else [NO_FILES]))


def listing_page(listing: Listing, page: Page[str], following: str | None) -> str:
    """A page of names between its header and its footer (L-3)."""
    total = page.total if listing.complete else f"at least {page.total}"
    extra = " ".join(x for x in (_left_out(listing.omitted), "" if listing.complete else WALK_PARTIAL) if x)
    if not page.items:
        words = (
            NO_FILES
            if not page.total and not page.offset
            else f"No files in range. Total: {total}, offset: {page.offset}"
        )
        return f"{words} {extra}".rstrip()
    head = f"[Files {page.offset + 1}-{page.offset + len(page.items)} of {total}]"
    if following is not None:
        head += f" next offset={page.next_offset}: {following}"
        foot = f"[More files available. Use offset={page.next_offset} to continue.]"
    else:
        foot = f"[Listing complete. Total: {total} files]"
    return "\n".join([f"{head} {extra}".rstrip(), *map(entry, page.items), foot])


def counts(path: str, counted: Counts, rows: int, *, sizes: bool) -> str:
    """Totals, then the table by extension (L-4)."""
    some = "" if counted.complete else "at least "
    head = [f"{some}{counted.files} files"]
    if sizes:
        head += [f"{counted.bytes} bytes", f"about {counted.tokens} tokens to read in full"]
    if said := omitted(counted.omitted):
        head.append(f"left out: {said}")
    if not counted.complete:
        head.append("the walk did not end in the time of one call")
    if rows < len(counted.by_extension):
        head.append(f"{rows} of {len(counted.by_extension)} extensions shown")
    table: list[tuple[str, ...]] = [("files", "bytes", "tokens", "extension") if sizes else ("files", "extension")]
    for row in counted.by_extension[:rows]:
        name = inert.show_name(row.extension)
        table.append((str(row.files), str(row.bytes), str(row.tokens), name) if sizes else (str(row.files), name))
    widths = [max(len(cells[column]) for cells in table) for column in range(len(table[0]) - 1)]
    lines = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(cells, widths, strict=False)), cells[-1]])
        for cells in table
    ]
    return "\n".join([f"{inert.clip(path)}: " + " | ".join(head), *(lines if counted.by_extension else ())])


# ── search (L-7) ─────────────────────────────────────────────────────────────────────────────────────────────────


def search(found: Search, matches: Sequence[Match], following: str | None) -> str:
    """Counts per file first where there are more matches than one page, then the matches, by file."""
    some = "" if found.complete else "at least "
    files = len(found.files) + found.more_files
    head = [f"{some}{found.total} matching lines in {files} {'file' if files == 1 else 'files'}"]
    if matches:
        head.append(f"showing {found.offset + 1}-{found.offset + len(matches)}")
    elif found.total:
        head.append(f"none at offset {found.offset}")
    if following is not None:
        head.append(f"next: {following}")
    head.append(f"searched {found.searched_files} files, {found.scanned_bytes} bytes")
    if not found.complete:
        head.append(f"not complete: {_why_partial(found)}")
    if said := ", ".join(
        x
        for x in (
            omitted(found.omitted),
            _counted(found.binary, "binary"),
            _counted(found.secret, "refused by name"),
        )
        if x
    ):
        head.append(f"left out: {said}")
    lines = [" | ".join(head)]
    if found.total > len(matches) and found.files:
        lines.append("matching lines per file:")
        lines += [f"{file.count:>6} {file.path}" for file in found.files]
        if found.more_files:
            lines.append(f"       and {found.more_files} more files")
    path = None
    for match in matches:
        if match.path != path:
            path = match.path
            lines.append(f"## {path}")
        lines += [f"{match.line - len(match.before) + i}-{text}" for i, text in enumerate(match.before)]
        lines.append(f"{match.line}|{match.text}")
        lines += [f"{match.line + 1 + i}-{text}" for i, text in enumerate(match.after)]
    return "\n".join(lines)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count else ""


def _why_partial(found: Search) -> str:
    if found.partial_files:
        shown = ", ".join(inert.clip(path) for path in found.partial_files[:3])
        share = f" ({100 * found.scanned_bytes / found.total_bytes:.2f} % of the bytes)" if found.total_bytes else ""
        return f"only the beginning of {shown}{share}"
    return "the time of one call ended"


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────


def binary(path: str, kind: str, size_bytes: int) -> str:
    return f"{path} is binary ({kind}, {size_bytes} bytes) and is not shown as text."


def stale(path: str, change: str) -> str:
    return (
        f"stale: {path} {change}. A page of it would not belong to the page before. "
        "Start again, or take this place as it is now."
    )


def with_ways(message: str, ways: list[str]) -> str:
    """An error and the calls that work."""
    return message if not ways else f"{message} Try: " + " or ".join(ways)


def did_you_mean(names: list[str]) -> str:
    return "Similar: " + ", ".join(quoted(name) for name in names) + "."


def not_reached(line: int, reached: int, scanned_bytes: int, size_bytes: int) -> str:
    share = f"{100 * scanned_bytes / size_bytes:.2f} %"
    return (
        f"Line {line} was not reached in the time of one call: {reached} lines counted, {share} of the file. "
        "The same call goes on from there."
    )


def argument(name: str, problem: str) -> str:
    return f"{name}: {problem}."


def unknown_argument(tool: str, name: str, known: list[str], near: str | None) -> str:
    hint = f"Did you mean {near}? " if near else ""
    return f"{tool} has no argument {inert.clip(name, 64)}. {hint}It takes {', '.join(known)}."


def over_allowance(allowance: object) -> str:
    return f"The answer does not fit in {allowance}."


# ── guarded results (G) ──────────────────────────────────────────────────────────────────────────────────────────

TRUNCATED = "[OUTPUT TRUNCATED]"
_GAP = "[… "


def truncated(name: str, whole_tokens: int, shown_tokens: int, keep: str, way: str) -> str:
    """What stands above a result that was cut (G-1); `way` leads to the rest."""
    part = {"head": "first", "tail": "last", "ends": "first and last"}[keep]
    said = f"Tool '{inert.clip(name, 64)}' returned ~{whole_tokens} tokens, showing {part} ~{shown_tokens}."
    return f"{TRUNCATED}\n{said}\n{way}"


def truncated_briefly(handle: str | None, dialect: Dialect | None) -> str:
    """The same where there is room for little more than the way to the rest."""
    return TRUNCATED if handle is None else f"{TRUNCATED} {_page(handle, dialect)}"


NARROWER = "Use more specific parameters or pagination to get remaining data."


def kept(handle: str, lines: int, size_bytes: int, dialect: Dialect | None) -> str:
    """The way to a whole that is kept."""
    find = (dialect or PYTHON).write(Call("find", {"handle": handle, "pattern": "…"}))
    return f"The whole, {lines} lines, {size_bytes} bytes: {_page(handle, dialect)}; to search it: {find}"


def kept_in_part(
    first: str, first_bytes: int, last: str, last_bytes: int, lost_bytes: int, dialect: Dialect | None
) -> str:
    """The way to the two ends of a whole that is too large to keep, and what is lost between them."""
    return (
        f"The first {first_bytes} bytes: {_page(first, dialect)}; the last {last_bytes} bytes: {_page(last, dialect)}; "
        f"{lost_bytes} bytes between them were not kept: there is a limit to what is kept of one output."
    )


def not_kept(reason: str) -> str:
    """What is said where the whole could not be kept (H27 of reliability.md)."""
    return f"The rest could not be kept: {inert.clip(reason)} {NARROWER}"


def _page(handle: str, dialect: Dialect | None) -> str:
    return (dialect or PYTHON).write(Call("page", {"handle": handle}))


def gap(lines: int, chars: int) -> str:
    """What stands between the beginning and the end of a text whose middle is not shown."""
    return f"{_GAP}{lines} lines, {chars} characters not shown …]"


_OURS = re.compile(  # how our lines within a conversation begin: here, and where something was forgotten
    r"^\[(?=OUTPUT TRUNCATED\]|… |cleared[:,] |failed attempt, cleared|Left out here: |\d+ lines as before|\d+ of \d+ lines are )",
    re.MULTILINE,
)


def disarmed(text: str) -> str:
    """Lines that begin like one of our notices no longer do."""
    if not text.startswith("[") and "\n[" not in text:  # no line of it does: the quick look first
        return text
    return _OURS.sub(r"\\x5b", text)


# ── artifacts (G-3) ──────────────────────────────────────────────────────────────────────────────────────────────


def records(first: int, last: int, total: int, exact: bool) -> str:
    """`records X-Y of Z total` of JSON on one line (G-5)."""
    return f"records {first}-{last} of {'' if exact else 'at least '}{total} total"


def found(title: str, total: int, shown: int, complete: bool, scanned_bytes: int, total_bytes: int, around: str) -> str:
    """The first line of what was found in an artifact."""
    parts = [f"{'' if complete else 'at least '}{total} matching {'line' if total == 1 else 'lines'}"]
    if shown < total:
        parts.append(f"showing the first {shown}: a narrower pattern or a larger limit shows the others")
    parts.append(f"searched {scanned_bytes} of {total_bytes} bytes")
    if not complete:
        parts.append("the time of one call ended")
    if shown:
        parts.append(f"to read around a match: {around}")
    return f"{title}: " + " | ".join(parts)


def found_line(line: int, start_byte: int, text: str) -> str:
    """A line that matches, and the byte at which what is shown of it begins."""
    return f"{line}|{start_byte}|{text}"


# ── compaction: what stands where something was forgotten ────────────────────────────────────────────────────────

CLEARED = "cleared"
SUPERSEDED = "cleared, superseded by a later call"
_LEFT_OUT = "[Left out here: "


def failed_with(error_head: str) -> str:
    """Why the result of a failed attempt is gone, and what it said first."""
    return f"failed attempt, cleared: {error_head}" if error_head else "failed attempt, cleared"


def cleared(why: str, label: str, tokens: int, lines: int, handle: str | None, dialect: Dialect | None) -> str:
    """What stands in place of a result: what it was, how much, and the way back to it."""
    way = "run it again to see it" if handle is None else f"the whole: {_page(handle, dialect)}"
    return f"[{why}: {inert.show(label)[0]}; about {tokens} tokens, {lines} lines; {way}]"


def only_new(body: str, lines: int, hidden: int, handle: str | None, dialect: Dialect | None) -> str:
    """A result without the lines that an earlier one shows."""
    way = "" if handle is None else f"; the whole: {_page(handle, dialect)}"
    return f"[{hidden} of {lines} lines are as an earlier result shows them and left out here{way}]\n{body}"


def as_before(first: str, last: str, lines: int) -> str:
    """What stands in place of a run of lines that was shown before."""
    return f"[{lines} lines as before, from {quoted(inert.clip(first.strip(), 60))} to {quoted(inert.clip(last.strip(), 60))}]"


_NOTE = re.compile(r"\[Left out here: \d+ steps? of this conversation")


def is_note(text: str) -> bool:
    """Whether a message is one of our notes, come back in a request that was made smaller before."""
    return _NOTE.match(text) is not None


def left_out(
    rounds: int,
    facts: str,
    words: Sequence[tuple[str, str]],
    most_chars: int,
    handle: str | None,
    dialect: Dialect | None,
) -> str:
    """The note in place of some steps: what was done, then what was said, the newest first to be kept where room ends."""
    way = "" if handle is None else f" The whole: {_page(handle, dialect)}"
    head = f"{_LEFT_OUT}{rounds} {'step' if rounds == 1 else 'steps'} of this conversation.{way}]"
    lines = [head, *([facts] if facts else [])]
    room = most_chars - sum(map(len, lines))
    said: list[str] = []
    for role, text in reversed(words):
        line = _said(role, text, room // 2)
        if len(line) > room:
            break
        said.append(line)
        room -= len(line) + 1
    if len(said) < len(words):
        lines.append(f"{len(words) - len(said)} earlier remarks are not repeated.")
    return "\n".join([*lines, *reversed(said)])


def _said(role: str, text: str, most_chars: int) -> str:
    """A remark on one line, clipped; a note of ours within a note loses its frame."""
    words = " ".join(text.split())
    most = max(20, min(500, most_chars))
    return f"{role}: {words if len(words) <= most else words[:most] + '…'}"


def summarised(rounds: int, text: str, handle: str | None, dialect: Dialect | None) -> str:
    """The note that holds a model's summary of some steps."""
    way = "" if handle is None else f" The whole: {_page(handle, dialect)}"
    steps = f"{rounds} {'step' if rounds == 1 else 'steps'}"
    return f"{_LEFT_OUT}{steps} of this conversation; a model's summary follows.{way}]\n{text}"


def plan(made: Plan) -> str:
    """A plan for a person: what goes, what it frees, what it costs."""
    head = f"{made.before_tokens} tokens of at most {made.limit_tokens}: "
    if made.outcome == "fits" and not made.steps:
        return head + "nothing to do"
    after = f"{made.after_tokens} after {len(made.steps)} steps"
    if made.outcome == "cannot":
        after += f", {made.after_tokens - made.limit_tokens} too many, and nothing else can go"
    lines = [head + after]
    if made.steps:
        lines.append(
            f"reads {made.rewritten_tokens} tokens anew after the first edit, repaid after {made.repaid_after_calls} calls"
        )
    lines += [
        f"  {step.strategy:<9} {step.before_tokens:>8} -> {step.after_tokens:<6} {inert.clip(step.what, 80)}"
        + ("" if step.call_id is None else f" in message {step.first}")
        for step in made.steps
    ]
    if made.irreducible is not None:
        lines += ["what remains:", str(made.irreducible)]
    return "\n".join(lines)


# ── recovery ─────────────────────────────────────────────────────────────────────────────────────────────────────

SHORTENED = "(shortened)"
TOOL_OUTPUT_WARNINGS = (
    "A tool returned too much data for the context window.",
    "Use more specific parameters or pagination.",
)
TOOL_OUTPUT_MESSAGE = """\
[Tool output too large]
A tool returned more data than the model can process.
Session context cleared. Try a more specific query.
Tip: Use count_files() before list_files() on large directories."""


def too_large(bill: str, tokens: int, limit_tokens: int) -> str:
    """Why nothing can be sent: the parts that cannot shrink, largest first."""
    return (
        f"The request cannot be made to fit: {tokens} tokens remain, of which {limit_tokens} have room. "
        f"Shorten one of these, or use a model with a larger window:\n{bill}"
    )


def summary_prompt(material: str) -> str:
    """What a model is asked for a summary with."""
    return (
        "Summarise these steps of a conversation for the one who goes on with it. Keep every fact that later steps may need: "
        "the user's wishes and limits, names, paths, values and decisions verbatim, what was tried and failed. "
        f"No preamble, at most a fifth of its length.\n\n{material}"
    )


def served_from_less(reported_tokens: int, estimated_tokens: int) -> str:
    """A provider that dropped part of a request without a word (O-3)."""
    return (
        f"The provider reports {reported_tokens} tokens of input where at least {estimated_tokens} were sent: "
        "it seems to have dropped the beginning without a word."
    )


def above_the_window(reported_tokens: int, window_tokens: int) -> str:
    """A provider that took more than its window (O-3)."""
    return f"The provider reports {reported_tokens} tokens of input, more than the window of {window_tokens}."


def not_stored(reason: str) -> str:
    """The store failed while a request was made smaller."""
    return (
        f"What was taken out of the request could not be kept: {inert.clip(reason)} The original is in the transcript."
    )


# ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────────────

ALTERNATING = "[Two calls take turns with the same results: nothing new will come of them. Try another way.]"
_STOPS = {
    "errors": "Too much failed: the error budget of this session is used up. Look at what failed, then say how to go on.",
    "irreducible": "The provider refused the request however small it became: shorten the prompt, or take a larger window.",
    "loop": "The same call gave the same result again and again: there was no progress. Say what to try instead.",
    "auth": "The provider does not accept the key: set it, then go on.",
    "quota": "The provider's quota is used up: waiting does not help.",
}


def stopped(reason: str) -> str:
    """Why a session stopped, and what to do next."""
    return _STOPS.get(
        reason, f"The provider answered with {inert.clip(reason, 64)}: mend the request or the settings, then go on."
    )


AGENT = """\
You answer questions about the files beneath a root, with the tools that are given. Look before you answer: search for the
rarest words, view around the hits, and follow what you find. Older results are cleared when the window fills: write down what
matters in your own words as you go, with path:line. A cleared result names a handle: page(handle=...) shows it again,
find(handle=..., pattern=...) searches it. Keep a todo list for work of several steps. Answer briefly; under the answer give
each line that proves it as path:line: text."""


def no_json(arguments: str) -> str:
    """A call whose arguments cannot be read."""
    return f"The arguments are no JSON object: {inert.clip(arguments, 120)} Send them again, whole."


def todos(items: Sequence[Todo]) -> str:
    """The todo list, the open items by priority, then what is done."""
    if not items:
        return "The todo list is empty."
    open_items = sorted((item for item in items if not item.is_done), key=lambda item: item.priority)
    lines = [f"[ ] {item.priority} {inert.show(item.title)[0]}" for item in open_items]
    lines += [f"[x] {item.priority} {inert.show(item.title)[0]}" for item in items if item.is_done]
    return "\n".join([f"Todo: {len(open_items)} open, {len(items) - len(open_items)} done", *lines])


def effect_settled(kind: str, what: str, told: str) -> str:
    """What became of something that was begun before a session was killed."""
    word = {"done": "was done", "not done": "was not done"}.get(
        told, "may or may not have been done: look before you do it again"
    )
    return f"Begun before the stop: {inert.clip(kind, 32)} {inert.clip(what, 120)} {word}."


def interrupted(session_id: str) -> str:
    """What a person may do after an interrupt."""
    return f"Stopped; nothing is lost. To go on: penstock resume {session_id}"


def looping(times: int) -> str:
    """Told to a model beside a result that it has had before."""
    return f"[The same result, {times} times now: nothing has changed. Try another way, or say what is missing.]"


def escalated(row: int) -> str:
    """Told to a person while a session goes on."""
    return f"{row} failures in a row: somebody should look"


def waiting(row: int) -> str:
    """Why nothing is sent now."""
    return f"{row} failures in a row: waiting before the next try"


def refused_at(window_tokens: int) -> str:
    """Why a session begins afresh, or ends."""
    return f"the provider refused the request in a window of {window_tokens} tokens, however small it became"


# ── the ledger of files: what is thought of an act before it is done (S-5) ───────────────────────────────────────

FILE_WHOLE = "Short: read and edit it in full."
FILE_EDITED_IN_SECTIONS = "Read it in full, edit it in sections."
FILE_IN_SECTIONS = "Read and edit it in sections: take the outline first."
FILE_IN_WINDOWS = "Long: search or take the outline, then view windows of it; edit it in sections."
FILE_WAYS = {
    "read": "Search finds a place without reading files, and files that were read before can be read again.",
    "modified": "Finish and check what is begun, then hand off; files that were modified before can be edited further.",
    "created": "Add to a file that is there, or finish what is begun, then hand off.",
}
CHANGED_SINCE_SHOWN = "it was changed since it was last shown"
NOTHING_SHOWN = "nothing of this version was shown"
LENGTH_NOT_KNOWN = "its end was not shown"
WRITE_THE_TEXT = "Read what it stands for, and write that."


def advised(what: str, way: str) -> str:
    return f"Advice: {what}. {way}"


def refused(what: str, way: str, override: str) -> str:
    """What is not done, what would work, and how to have it done all the same."""
    return f"Refused: {what}. {way} To do it all the same, make the same call with {override}."


def many_files(did: str, count: int, recommended: int, maximum: int) -> str:
    return f"this would be file {count} {did} in this session; {recommended} are recommended, {maximum} the most"


def many_lines(lines: int, recommended: int, maximum: int) -> str:
    return f"{lines} lines in one read; {recommended} are recommended, {maximum} the most"


def read_in_windows(call: str) -> str:
    return f"Search for the place, or read in windows: {call}"


def would_replace(path: str, why: str) -> str:
    return f"{inert.shorten(path)} would be replaced, but {why}"


def not_shown(ranges: Sequence[tuple[int, int]], total: int) -> str:
    """Which lines of a file nobody was shown from beginning to end."""
    said = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges[:3])
    more = f" and {len(ranges) - 3} more ranges" if len(ranges) > 3 else ""
    is_one = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
    return f"{'line' if is_one else 'lines'} {said}{more} of {total} {'was' if is_one else 'were'} not shown in full"


def show_first(call: str) -> str:
    return f"Show that first: {call}; or edit only lines that were shown."


def would_write(line: str) -> str:
    return f"the content holds a line that stands for text which is elsewhere, {quoted(line)}"


_STAND_IN = re.compile(  # what stands in a page or a result for text that it does not show
    rf"{_OURS.pattern}.*"
    r"|^.*…\[(?:at least )?\d+ bytes hidden: .*"
    r"|^.*: showing (?:lines|bytes) \d+-\d+ of (?:at least )?\d+ (?:total \||\|) .*",
    re.MULTILINE,
)


def own_line(text: str) -> str:
    """The first line of a text that is one of ours and stands for something that was not shown, inert; empty for none."""
    found = _STAND_IN.search(text)
    return inert.clip(found.group(), 80) if found else ""


# ── what became of the files when a session goes on (S-10) ───────────────────────────────────────────────────────

READ_AGAIN = "Read these again before you go on: you were changing them, and they are not what you knew:"
NOT_AS_THEY_WERE = "Not as they were either:"
CHANGED_BEFORE = "when the session stopped it was already not what had been shown of it"
OTHER_LINE_ENDS = "only its line ends changed"
OTHER_CONTENT = "its content changed, its size did not"
NO_TIME_TO_READ = "the time was up before all of it was read"
BEING_WRITTEN = "it is being written to"
NOT_READ_THEN = "it had not been read, so that there is nothing to compare it with"


def other_size(then_bytes: int, now_bytes: int) -> str:
    return f"it had {then_bytes} bytes and has {now_bytes}"


def other_mode(then: int, now: int) -> str:
    return f"only its mode changed, from {then:o} to {now:o}"


def lies_at(then: str, now: str) -> str:
    """A link that was swapped in, led elsewhere, or gave way to a file."""
    if not now:
        return f"it was a link to {inert.shorten(then)} and is a file of its own"
    return f"it is a link to {inert.shorten(now)}" + (f" and was one to {inert.shorten(then)}" if then else "")


SINCE_STOPPED = "Files since the session stopped: "
"""How a report on files begins, wherever a resume adds it to the words of a user."""


def all_verified(counts: Sequence[tuple[str, int]]) -> str:
    said = ", ".join(f"{count} {state}" for state, count in counts if count)
    return f"{SINCE_STOPPED}{said or 'none was known'}."


def verified(path: str, state: str, reason: str, call: str) -> str:
    return f"- {title(path)}: {state}" + (f", {reason}" if reason else "") + (f" | {call}" if call else "")


def more_files(count: int) -> str:
    return f"- … {count} more"


def repository(then: Git, now: Git) -> str:
    """Where the repository stands, and where it stood if that was elsewhere."""
    moved = f"{_stands(then)}, now " if (then.head, then.branch) != (now.head, now.branch) else ""
    work = {None: "", True: "; files differ from its index", False: "; files are as its index has them"}[now.is_dirty]
    return f"Git: {moved}{_stands(now)}{work}."


def _stands(git: Git) -> str:
    return (git.head[:12] or "no commit yet") + (f" on {git.branch}" if git.branch else ", no branch")

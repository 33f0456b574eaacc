"""Which tools list a tree? `list_files` and `count_files` (L-1 to L-6).

A listing of 50,000 names would fill a context window, so more than 20 matches are answered with a count and three ways to continue,
never with names. Headers, footers and the warning are fixed wording (L-2, L-3): agents and their tests read them.

Laws: no name can be mistaken for a line of ours (`_entry`), and no name is changed so that it no longer opens its file (L-10); what
is left out is counted by reason (L-5). Leaves to others: the walk, patterns and what is ignored (`workspace`).
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.text import escape, notices
from penstock.text.page import Page
from penstock.tools.invocation import outcome_of
from penstock.tools.record import Parameter, Result, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.tools.invocation import Invocation
    from penstock.workspace.listing import Listing, ListingCounts, Omitted
    from penstock.workspace.wider import Wider

HIDDEN = Parameter("include_hidden", "boolean", False, "also files and folders whose names begin with a dot")
"""The argument of every tool that walks a tree: whether hidden files count (L-5)."""
IGNORED = Parameter("include_ignored", "boolean", False, "also what .gitignore leaves out")
"""The argument of every tool that walks a tree: whether ignored files count (L-5)."""
_REGEX = Parameter(
    "use_regex", "boolean", False, "the pattern is a regular expression (RE2), searched anywhere in the path"
)
_PATTERN = Parameter("pattern", "string", "*", "glob as in git: *.py, src/*.py, **/*.{go,py}")


# ── list_files ───────────────────────────────────────────────────────────────────────────────────────────────────


def _list_files(
    call: Invocation,
    *,
    pattern: str,
    recursive: bool,
    use_regex: bool,
    offset: int,
    limit: int,
    path: str,
    include_hidden: bool,
    include_ignored: bool,
) -> Result:
    """Answer `list_files`: names, a page of them, or the warning that there are too many."""
    from penstock.workspace.listing import MAX_FILES_PER_LIST, MAX_FILES_WARNING_THRESHOLD

    listing = call.workspace.list_files(
        pattern,
        recursive,
        use_regex,
        offset,
        limit,
        path=path,
        include_hidden=include_hidden,
        include_ignored=include_ignored,
        deadline=call.deadline,
        progress=call.progress,
    )
    # Without a limit: names if they are few and fit, a warning if they are many, and else (few, but long) a page of them.
    total = listing.page.total or 0
    outcome = outcome_of(total, listing.complete)
    hint = _above(call, path, pattern, total) or _wider(call, listing.wider)
    if limit == 0 and not offset:
        if total > MAX_FILES_WARNING_THRESHOLD or not listing.complete:
            page = call.again(limit=MAX_FILES_WARNING_THRESHOLD)
            return Result(_too_many(listing, pattern, call, page), outcome=outcome)
        text = _plain(listing, hint)
        if call.allowance.holds(text):
            return Result(text, outcome=outcome)
    # A page of the requested size, within the bound; of 20 names if no size was requested and the names did not fit.
    size = min(limit, MAX_FILES_PER_LIST) or MAX_FILES_WARNING_THRESHOLD

    # As many names as fit; if that is fewer than the page, the next call begins after them.
    def render(count: int) -> str:
        page = _shortened(listing.page, count)
        following = None if page.next_offset is None else call.again(offset=page.next_offset, limit=size)
        return _page(listing, page, following, hint)

    return Result(call.fit(len(listing.page.items), render), outcome=outcome)


def _shortened(page: Page[str], count: int) -> Page[str]:
    """Return the first `count` items of a page; the rest is on the next."""
    if count == len(page.items):
        return page
    return Page(items=page.items[:count], offset=page.offset, limit=page.limit, total=page.total, more=True)


LIST_FILES = Tool(
    name="list_files",
    title="List files",
    description=(
        "List file names that match a pattern, sorted. Up to 20 matches come at once; for more, the answer is their number "
        "and how to narrow it or to page (limit up to 100). Respects .gitignore and leaves out hidden files unless asked."
    ),
    parameters=(
        _PATTERN,
        Parameter("recursive", "boolean", False, "also in folders below"),
        _REGEX,
        Parameter("offset", "integer", 0, "files to skip"),
        Parameter("limit", "integer", 0, "files per page, up to 100; 0 lists up to 20 or warns"),
        Parameter("path", "string", ".", "folder to start in"),
        HIDDEN,
        IGNORED,
    ),
    slow=True,
    answer=_list_files,
)
"""The tool that lists file names, or says how many there are (L-1 to L-3)."""


# ── count_files ──────────────────────────────────────────────────────────────────────────────────────────────────


def _count_files(
    call: Invocation,
    *,
    path: str,
    pattern: str,
    recursive: bool,
    use_regex: bool,
    include_hidden: bool,
    include_ignored: bool,
    sizes: bool,
) -> Result:
    """Answer `count_files`, with as many rows of its table as fit."""
    counted = call.workspace.count_files(
        path,
        pattern,
        recursive,
        use_regex,
        sizes=sizes,
        include_hidden=include_hidden,
        include_ignored=include_ignored,
        deadline=call.deadline,
        progress=call.progress,
    )
    shown = escape.show_name(path)
    hint = _above(call, path, pattern, counted.files) or _wider(call, counted.wider)

    def render(rows: int) -> str:
        return "\n".join(filter(None, (_counts(shown, counted, rows, sizes=sizes), hint)))

    text = call.fit(len(counted.by_extension), render)
    return Result(text, outcome=outcome_of(counted.files, counted.complete))


COUNT_FILES = Tool(
    name="count_files",
    title="Count files",
    description=(
        "Count the files that match, with bytes and estimated tokens by extension: the size of a tree before anything of it "
        "is read or listed."
    ),
    parameters=(
        Parameter("path", "string", ".", "folder to start in"),
        _PATTERN,
        Parameter("recursive", "boolean", True, "also in folders below"),
        _REGEX,
        HIDDEN,
        IGNORED,
        Parameter("sizes", "boolean", True, "also bytes and tokens; false is quicker"),
    ),
    slow=True,
    answer=_count_files,
)
"""The tool that says how large a tree is (L-4)."""


# ── wording ──────────────────────────────────────────────────────────────────────────────────────────────────────

_NO_FILES = "No files found matching the criteria."
# How our own lines begin. A file may be called "[Listing complete. Total: 0 files]"; shown unescaped, it would end the listing.
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
# The beginnings of lines that are certainly not verbatim names: our own, and names that are shown escaped.
_NO_NAMES = ("[", "\\", "Warning", "No files", "Listing all")
_PARTIAL = "[The walk did not end in the time of one call: totals are at least so]"


def _entry(name: str) -> str:
    """Return a name as a listing shows it; one that begins like a line of ours is escaped, and still opens the file (L-10)."""
    return f"\\x{ord(name[0]):02x}{name[1:]}" if name.startswith(_OWN_WORDS) else name


def is_name(line: str) -> bool:
    """Return whether a line of a listing may be a verbatim file name: neither a line of ours nor an escaped name."""
    return bool(line) and not line.startswith(_NO_NAMES) and not line.endswith((".", ":", ")"))


def omitted(left_out: Omitted, others: Mapping[str, int] | None = None) -> str:
    """Return how many entries are not shown, by reason, in words; empty if none is left out (L-5).

    Args:
        left_out: what the walk has left out.
        others: further reasons, in words, with their counts.
    """
    words = {
        "hidden": left_out.hidden,
        "ignored": left_out.ignored,
        "vanished during the walk": left_out.vanished,
        "permission denied": left_out.denied,
        "special files": left_out.special,
        "links not followed": left_out.links,
        **(others or {}),
    }
    return ", ".join(f"{count} {word}" for word, count in words.items() if count)


def _left_out(left_out: Omitted) -> str:
    """Return what is left out as a line of a listing; empty if nothing is."""
    said = omitted(left_out)
    return f"[Left out: {said}]" if said else ""


def _wider(call: Invocation, wider: Wider | None) -> str:
    """Return how many files a wider form finds, with its call, if nothing was found (L-1); else empty."""
    if wider is None:
        return ""
    some = "" if wider.complete else "at least "
    return f"A wider form finds {some}{notices.counted(wider.files, 'file')}: {call.again(**wider.changes)}"


def _above(call: Invocation, path: str, pattern: str, files: int) -> str:
    """Return the call for the folder that a pattern climbs to, if it has found nothing; empty for any other pattern."""
    names = pattern.split("/")
    climbed = sum(1 for _ in takewhile("..".__eq__, names))
    if files or not climbed:
        return ""
    try:
        folder = escape.show_name(call.workspace.root.relative("/".join([path, *names[:climbed]])))
    except ToolError:
        return "A pattern names what lies below its folder, and nothing above the root is listed."
    rest = [name for name in names[climbed:] if name] or ["*"]
    # A pattern with a slash reaches as deep as it says; without what it climbed by, it may have none left.
    again = call.again(path=folder, pattern="/".join(rest), recursive=False)
    return f"A pattern names what lies below its folder; for the folder above: {again}"


def _too_many(listing: Listing, pattern: str, call: Invocation, page: str) -> str:
    """Return the warning of too many matches: a count and three ways to continue, no names (L-2)."""
    mode = "recursively" if listing.recursive else "in current directory"
    lines = [
        f"Warning: {listing.page.total} files match pattern '{escape.clip(pattern)}' {mode}.",
        "Listing all would overwhelm the context window.",
        "",
        "Options:",
        f"1. Use {call.dialect.mention('count_files')} to see breakdown by extension",
        "2. Use a more specific pattern (e.g., '*.py' instead of '*')",
        f"3. Use {call.dialect.mention('list_files').removesuffix('()')} with pagination: {page}",
        _left_out(listing.omitted),
        "" if listing.complete else _PARTIAL,
    ]
    # The seven lines of the warning stay, including the empty one; further lines only if they say something.
    return "\n".join(lines[:7] + [line for line in lines[7:] if line])


def _plain(listing: Listing, hint: str) -> str:
    """Return few names without header and footer, one per line."""
    head = [line for line in (_left_out(listing.omitted), "" if listing.complete else _PARTIAL) if line]
    names = [_entry(name) for name in listing.page.items] or [_NO_FILES, *filter(None, [hint])]
    return "\n".join(head + names)


def _page(listing: Listing, page: Page[str], following: str | None, hint: str) -> str:
    """Return a page of names between its header and its footer, or why there is none (L-3)."""
    total = page.total if listing.complete else f"at least {page.total}"
    extra = " ".join(x for x in (_left_out(listing.omitted), "" if listing.complete else _PARTIAL) if x)
    if not page.items:
        words = (
            _NO_FILES
            if not page.total and not page.offset
            else f"No files in range. Total: {total}, offset: {page.offset}"
        )
        return "\n".join(filter(None, (f"{words} {extra}".rstrip(), hint)))
    head = f"[Files {page.offset + 1}-{page.offset + len(page.items)} of {total}]"
    if following is not None:
        head += f" next offset={page.next_offset}: {following}"
        foot = f"[More files available. Use offset={page.next_offset} to continue.]"
    else:
        foot = f"[Listing complete. Total: {total} files]"
    return "\n".join([f"{head} {extra}".rstrip(), *map(_entry, page.items), foot])


def _counts(path: str, counted: ListingCounts, rows: int, *, sizes: bool) -> str:
    """Return totals, then the first `rows` rows of the table by extension (L-4)."""
    some = "" if counted.complete else "at least "
    head = [some + notices.counted(counted.files, "file")]
    if sizes:
        head += [
            notices.counted(counted.bytes, "byte"),
            f"about {notices.counted(counted.tokens, 'token')} to read in full",
        ]
    if said := omitted(counted.omitted):
        head.append(f"left out: {said}")
    if not counted.complete:
        head.append("the walk did not end in the time of one call")
    if rows < len(counted.by_extension):
        head.append(f"{rows} of {len(counted.by_extension)} extensions shown")
    table: list[tuple[str, ...]] = [("files", "bytes", "tokens", "extension") if sizes else ("files", "extension")]
    for row in counted.by_extension[:rows]:
        name = escape.show_name(row.extension)
        table.append((str(row.files), str(row.bytes), str(row.tokens), name) if sizes else (str(row.files), name))
    widths = [max(len(cells[column]) for cells in table) for column in range(len(table[0]) - 1)]
    lines = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(cells, widths, strict=False)), cells[-1]])
        for cells in table
    ]
    return "\n".join([f"{escape.clip(path)}: " + " | ".join(head), *(lines if counted.by_extension else ())])

"""Which tool searches files? `search` (L-7).

Law: the first line states three numbers (what is shown, what there is, and where to continue), so that a page is never mistaken for
everything. Leaves to others: how files are searched (`workspace.searching`), and passages by relevance (`ranking`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.text import escape, notices
from penstock.tools.invocation import outcome_of
from penstock.tools.listing import HIDDEN, IGNORED, omitted
from penstock.tools.record import REQUIRED, Parameter, Result, Tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.tools.invocation import Invocation
    from penstock.workspace.searching import Search, SearchMatch

# How many files' counts are shown if those of all leave no room for a match.
_FEW_FILES = 5


def _search(
    call: Invocation,
    *,
    pattern: str,
    path: str,
    literal: bool,
    glob: str,
    ignore_case: bool,
    context_lines: int,
    offset: int,
    limit: int,
    include_hidden: bool,
    include_ignored: bool,
    ranked: bool,
) -> Result:
    """Answer `search`: matching lines, or passages if `ranked` is set."""
    if ranked:
        from penstock.tools.ranking import answer_ranked

        return answer_ranked(
            call,
            pattern=pattern,
            path=path,
            glob=glob,
            offset=offset,
            limit=limit,
            include_hidden=include_hidden,
            include_ignored=include_ignored,
        )
    found = call.workspace.search(
        pattern,
        path,
        literal=literal,
        glob=glob,
        ignore_case=ignore_case,
        context_lines=context_lines,
        offset=offset,
        limit=limit,
        include_hidden=include_hidden,
        include_ignored=include_ignored,
        deadline=call.deadline,
        progress=call.progress,
    )

    wider = "" if found.wider is None else call.again(**_of_search(found.wider.changes))
    grep = ""
    if not (literal or found.total):
        from penstock.workspace.pattern import signs_of_grep

        grep = signs_of_grep(pattern)

    # The next call continues after what is shown, which may be less than the page: its offset depends on how many matches fit.
    def render(count: int) -> str:
        more = count < len(found.matches) or found.next_offset is not None
        following = call.again(offset=found.offset + count) if more and count else None
        return _render(found, found.matches[:count], following, wider, grep)

    try:
        text = call.fit(len(found.matches), render)
    except ToolError:
        # Not one match fits next to the counts, as with matches in thousands of files: show a few counts, and how many more files.
        more_files = found.more_files + max(0, len(found.files) - _FEW_FILES)
        found = found._replace(files=found.files[:_FEW_FILES], more_files=more_files)
        text = call.fit(len(found.matches), render)
    return Result(text, outcome=outcome_of(found.total, found.complete))


SEARCH = Tool(
    name="search",
    title="Search in files",
    description=(
        "Find lines that match a regular expression (RE2: no backreferences or lookaround) or, with literal, a text, in all "
        "files below a folder or in one file. Results carry file and line number for view; counts per file come first when "
        "there is more than a page. With ranked, pattern is a question in words: the passages that have most to do with it come "
        "back, best first."
    ),
    parameters=(
        Parameter("pattern", "string", REQUIRED, "regular expression (RE2), or the text itself with literal"),
        Parameter("path", "string", ".", "folder or file to search"),
        Parameter("literal", "boolean", False, "the pattern is plain text"),
        Parameter("glob", "string", "*", "only files that match, as in git: *.py, src/*.py, **/*.{go,py}"),
        Parameter("ignore_case", "boolean", False, "upper and lower case are alike"),
        Parameter("context_lines", "integer", 0, "lines shown before and after each match, up to 20", maximum=20),
        Parameter("offset", "integer", 0, "matching lines to skip"),
        Parameter("limit", "integer", 50, "matching lines per page, up to 500", minimum=1, maximum=500),
        HIDDEN,
        IGNORED,
        Parameter("ranked", "boolean", False, "pattern is words: passages by relevance, up to 10 per page"),
    ),
    slow=True,
    answer=_search,
)
"""The tool that searches the text of files (L-7)."""


def _of_search(changes: dict[str, str | bool]) -> dict[str, str | bool]:
    """Return arguments of a listing under the names that `search` has for them."""
    return {"glob" if name == "pattern" else name: value for name, value in changes.items()}


# ── wording ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _render(found: Search, matches: Sequence[SearchMatch], following: str | None, wider: str, grep: str) -> str:
    """Return the result as text: totals, counts per file if there are more matches than shown, then matches by file.

    Matching lines are `12|text`, context lines `11-text`, as grep writes them.
    """
    some = "" if found.complete else "at least "
    files = len(found.files) + found.more_files
    head = [f"{some}{notices.counted(found.total, 'matching line')} in {notices.counted(files, 'file')}"]
    if matches:
        head.append(f"showing {found.offset + 1}-{found.offset + len(matches)}")
    elif found.total:
        head.append(f"none at offset {found.offset}")
    if following is not None:
        head.append(f"next: {following}")
    if grep:
        head.append(grep)
    if found.wider is not None:
        some = "" if found.wider.complete else "at least "
        files_there = notices.counted(found.wider.files, "file")
        head.append(f"no file matches the glob; a wider form finds {some}{files_there}: {wider}")
    elif found.complete and not (found.searched_files or found.binary or found.secret):
        head.append("there is no file to search")
    searched, scanned = notices.counted(found.searched_files, "file"), notices.counted(found.scanned_bytes, "byte")
    head.append(f"searched {searched}, {scanned}")
    if not found.complete:
        head.append(f"not complete: {_why_partial(found)}")
    if said := omitted(found.omitted, {"binary": found.binary, "refused by name": found.secret}):
        head.append(f"left out: {said}")
    lines = [" | ".join(head)]
    if found.total > len(matches) and found.files:
        lines.append("matching lines per file:")
        lines += [f"{file.count:>6} {file.path}" for file in found.files]
        if found.more_files:
            lines.append(f"       and {notices.counted(found.more_files, 'more file')}")
    # A heading whenever the file changes: matches are grouped by file.
    path = None
    for match in matches:
        if match.path != path:
            path = match.path
            lines.append(f"## {path}")
        lines += [f"{match.line - len(match.before) + i}-{text}" for i, text in enumerate(match.before)]
        lines.append(f"{match.line}|{match.text}")
        lines += [f"{match.line + 1 + i}-{text}" for i, text in enumerate(match.after)]
    return "\n".join(lines)


def _why_partial(found: Search) -> str:
    """Return why not everything was searched: only the beginning of a large file, or the time."""
    if found.partial_files:
        shown = ", ".join(escape.clip(path) for path in found.partial_files[:3])
        share = f" ({100 * found.scanned_bytes / found.total_bytes:.2f} % of the bytes)" if found.total_bytes else ""
        return f"only the beginning of {shown}{share}"
    if found.engine_ended:
        return (
            "the time of one call ended in the middle of a file, in Python's re, which runs patterns without google-re2"
        )
    return "the time of one call ended"

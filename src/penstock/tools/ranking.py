"""What does a ranked search answer? Passages by relevance: `search` with `ranked` (L-7).

Leaves to others: how passages are weighed (`workspace.ranked`), and lines that match a pattern (`search`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import PenstockError, ToolError
from penstock.text import notices
from penstock.text.calls import Call
from penstock.tools.invocation import outcome_of
from penstock.tools.listing import omitted
from penstock.tools.record import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.store import Store
    from penstock.tools.invocation import Invocation
    from penstock.workspace.ranked import RankedPassage, Ranking

# Arguments of `search` that have no meaning for ranked passages.
_NO_MEANING = ("literal", "context_lines")


def answer_ranked(
    call: Invocation,
    *,
    pattern: str,
    path: str,
    glob: str,
    offset: int,
    limit: int,
    include_hidden: bool,
    include_ignored: bool,
) -> Result:
    """Return the answer to a search with `ranked`: the passages of a page as text within the allowance.

    Args:
        call: the call that asks.
        pattern: the question, in words.
        path: the folder or file to search.
        glob: only files whose path matches.
        offset: passages to skip.
        limit: passages per page.
        include_hidden: also files whose names begin with a dot.
        include_ignored: also what `.gitignore` excludes.

    Raises:
        ToolError: for arguments that have no meaning here, and if not one line is within the allowance.
    """
    check_ranked(call.arguments)
    found = call.workspace.rank(
        pattern,
        path,
        glob=glob,
        offset=offset,
        limit=limit,
        include_hidden=include_hidden,
        include_ignored=include_ignored,
        **index_place(call.store)._asdict(),
        deadline=call.deadline,
        progress=call.progress,
    )

    # A passage is shown whole or not at all, since a part of one reads as if it were everything; only if the first passage alone is
    # too long are its first lines shown, with the call that reads on.
    def render(count: int) -> str:
        more = count < len(found.passages) or found.next_offset is not None
        at = found.offset + count if count < len(found.passages) else found.next_offset
        return _render(found, found.passages[:count], call.again(offset=at) if more and count else None)

    holds_one = not found.passages or call.allowance.holds(render(1))
    text = call.fit(len(found.passages), render) if holds_one else _fit_lines(call, found)
    return Result(text, outcome=outcome_of(found.total, found.complete))


def _fit_lines(call: Invocation, found: Ranking) -> str:
    """Return as much of the first passage as fits, if all of it is not within the allowance.

    Raises:
        ToolError: if not one line of it is.
    """
    whole = found.passages[0]
    following = call.again(offset=found.offset + 1) if found.offset + 1 < found.total else None

    def render(count: int) -> str:
        last = whole.start_line + count - 1
        rest = call.dialect.write(Call("view", {"file_path": whole.path, "offset": last}))
        goes_on = f"the passage continues to line {whole.end_line}: {rest}"
        part = whole._replace(end_line=last, lines=whole.lines[:count])
        return _render(found, (part,), following, goes_on)

    if not call.allowance.holds(least := render(1)):
        raise ToolError("bad_argument", notices.over_allowance(call.allowance, call.allowance.measure(least)))
    return call.fit(len(whole.lines) - 1, render)


def check_ranked(arguments: dict[str, object]) -> None:
    """Raise `ToolError` for arguments of a search that have no meaning for ranked passages."""
    if given := [name for name in _NO_MEANING if arguments.get(name)]:
        raise ToolError("bad_argument", f"With ranked, search takes no {' and no '.join(given)}: pattern is words.")


class IndexPlace(NamedTuple):
    """Where the index of a ranked search is kept, and what it may hold: the arguments of `Workspace.rank`."""

    index_folder: str | None
    """None if the store is not a folder or cannot be opened."""
    index_redacted: bool
    """Whether the store keeps only redacted forms: then the index gets no words of secrets either."""


def index_place(kept_in: Store | Callable[[], Store] | None) -> IndexPlace:
    """Return where an index is kept: in the folder of the store; of the user's own store for None."""
    from penstock import store
    from penstock.store.kept import INDEX_FOLDER

    try:
        opened = kept_in() if callable(kept_in) else kept_in
        if opened is None:
            kept, is_redacted = store.folder_of(store.default_url()), store.default_redaction()
        else:
            kept, is_redacted = getattr(opened, "path", None), opened.keeps_redacted
    except (PenstockError, OSError):
        # A search needs no store: without a folder the index is rebuilt and not kept.
        return IndexPlace(None, index_redacted=False)
    return IndexPlace(None if kept is None else f"{kept}/{INDEX_FOLDER}", is_redacted)


# ── wording ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _render(found: Ranking, shown: tuple[RankedPassage, ...], following: str | None, goes_on: str = "") -> str:
    """Return the result as text: what was found and searched in the first line, then each passage under its position."""
    most = "best " if found.more_matches else ""
    head = [f"{most}{notices.counted(found.total, 'passage')} ranked"]
    if shown:
        head.append(f"showing {found.offset + 1}-{found.offset + len(shown)}")
    elif found.total:
        head.append(f"none at offset {found.offset}")
    if following is not None:
        head.append(f"next: {following}")
    if goes_on:
        head.append(goes_on)
    files, passages = notices.counted(found.indexed_files, "file"), notices.counted(found.indexed_passages, "passage")
    head.append(f"indexed {files}, {passages}")
    head += [f"not complete: {why}" for why in _why_partial(found)]
    others = {
        "binary": found.binary,
        "refused by name": found.secret,
        "passages of files that changed meanwhile": found.changed,
        "files indexed only at their beginning": found.partial_files,
    }
    if said := omitted(found.omitted, others):
        head.append(f"left out: {said}")
    lines = [" | ".join(head)]
    for passage in shown:
        lines.append(f"## {passage.path}:{passage.start_line}-{passage.end_line}")
        lines += [f"{passage.start_line + at}|{text}" for at, text in enumerate(passage.lines)]
    return "\n".join(lines)


class ShownPassage(NamedTuple):
    """A passage as an answer shows it."""

    path: str
    start_line: int
    """The number of its first line, 1-based."""
    lines: tuple[str, ...]
    """The lines of a passage as shown, without their numbers."""


_HEADING = r"## (.+):(\d+)-(\d+)"  # compiled on use: every command waits for what is compiled at import


def read_passages(text: str) -> list[ShownPassage]:
    """Return the passages in an answer of a ranked search, or in what is left of it: those whose beginning is present.

    Each ends where its lines do, or where something else was inserted.
    """
    # Every line of a file is preceded by its number, so that none can look like a heading; a number out of sequence ends a passage.
    read: list[ShownPassage] = []
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if heading := re.fullmatch(_HEADING, line):
            path, first, last = heading[1], int(heading[2]), int(heading[3])
            shown = []
            for number, numbered in zip(range(first, last + 1), lines[at + 1 :], strict=False):
                if not numbered.startswith(f"{number}|"):
                    break
                shown.append(numbered.partition("|")[2])
            if shown:
                read.append(ShownPassage(path, first, tuple(shown)))
    return read


def _why_partial(found: Ranking) -> list[str]:
    """Return the reasons why not everything was searched; empty if everything was."""
    why = []
    if found.out_of_time:
        why.append("the time of one call ended while files were indexed, the same call continues")
    if found.unindexed:
        why.append(f"{found.unindexed} files are beyond what an index holds, name a folder with path")
    return why

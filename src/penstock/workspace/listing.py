"""Which files are there, and how much is in them? Pages of names, and counts by extension.

Law: joined pages equal the list; a total is exact, or `complete` is False. Keeps out: sentences (`notices`), the
way through the tree (`walk`), and what is in the files: sizes come from `stat`, tokens are estimated from bytes.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from penstock.text import escape
from penstock.text.page import Page
from penstock.workspace.pattern import selected
from penstock.workspace.walk import Omitted, Walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.workspace.deadline import Deadline
    from penstock.workspace.root import Folder, Root

__all__ = [
    "MAX_FILES_PER_LIST",
    "MAX_FILES_WARNING_THRESHOLD",
    "ExtensionCount",
    "Listing",
    "ListingCounts",
    "Omitted",
    "count_files",
    "list_files",
]

MAX_FILES_WARNING_THRESHOLD = 20  # seed token-overflow-management.md, phase 1
MAX_FILES_PER_LIST = 100  # the same, phase 2

NO_EXTENSION = "(none)"
OTHER_EXTENSIONS = "(other)"
_MAX_EXTENSIONS = 4096  # rows of the table; a tree with more has numbers for extensions

# Bytes for one token of o200k (libraries.md 1.3). Kinds not measured get the default, on the low side of most.
_BYTES_PER_TOKEN_DEFAULT = 3.6
_BYTES_PER_TOKEN = {
    ".py": 3.91,
    ".pyi": 3.91,
    ".go": 3.55,
    ".c": 3.69,
    ".h": 3.69,
    ".java": 4.33,
    ".cbl": 4.63,
    ".cob": 4.63,
    ".cpy": 4.63,
    ".jcl": 5.73,
    ".bms": 5.73,
    ".json": 5.25,
    ".log": 2.57,
    ".csv": 2.05,
    ".tsv": 2.05,
    ".pem": 1.46,
}


class Listing(NamedTuple):
    """A page of file names, shown inert, relative to the root: each opens its file."""

    page: Page[str]
    omitted: Omitted
    complete: bool  # False: the deadline passed, and the total is "at least"


class ExtensionCount(NamedTuple):
    extension: str
    files: int
    bytes: int
    tokens: int


class ListingCounts(NamedTuple):
    files: int
    bytes: int
    tokens: int
    by_extension: tuple[ExtensionCount, ...]
    omitted: Omitted
    complete: bool


def list_files(
    root: Root,
    pattern: str = "*",
    recursive: bool = False,
    use_regex: bool = False,
    offset: int = 0,
    limit: int = 0,
    *,
    path: str = ".",
    include_hidden: bool = False,
    include_ignored: bool = False,
    deadline: Deadline,
    progress: Callable[[int], None] | None = None,
) -> Listing:
    """The files that match, from `offset` on, at most `limit` and never over 100; `limit=0` takes up to 20."""
    limit = min(limit, MAX_FILES_PER_LIST) if limit > 0 else MAX_FILES_WARNING_THRESHOLD
    walk = Walk(
        root,
        path,
        selected(pattern, use_regex=use_regex, deadline=deadline),
        recursive=recursive,
        include_hidden=include_hidden,
        include_ignored=include_ignored,
        deadline=deadline,
        progress=progress,
    )
    items: list[str] = []
    total = 0
    for prefix, _, names in walk:
        if walk.ordered:
            first = max(offset - total, 0)
            items += [escape.show_name(prefix + name) for name in names[first : first + limit - len(items)]]
            walk.ordered = len(items) < limit
        total += len(names)
    more = bool(items) and (offset + len(items) < total or not walk.complete)
    return Listing(
        Page(items=tuple(items), offset=offset, limit=limit, total=total, more=more),
        walk.omitted,
        walk.complete,
    )


def count_files(
    root: Root,
    path: str = ".",
    pattern: str = "*",
    recursive: bool = True,
    use_regex: bool = False,
    *,
    sizes: bool = True,
    include_hidden: bool = False,
    include_ignored: bool = False,
    deadline: Deadline,
    progress: Callable[[int], None] | None = None,
) -> ListingCounts:
    """How many files match, how large they are together, and the same for each extension, most files first."""
    walk = Walk(
        root,
        path,
        selected(pattern, use_regex=use_regex, deadline=deadline),
        recursive=recursive,
        include_hidden=include_hidden,
        include_ignored=include_ignored,
        deadline=deadline,
        progress=progress,
    )
    walk.ordered = False
    files: dict[str, int] = {}
    sums: dict[str, int] = {}
    for prefix, folder, names in walk:
        for name in names:
            dot = name.rfind(".")
            extension = name[dot:] if dot > 0 else ""
            if extension not in files and len(files) >= _MAX_EXTENSIONS:
                extension = OTHER_EXTENSIONS
            if sizes:
                size = _size(root, folder, prefix, name)
                if size is None:
                    walk.vanished += 1
                    continue
                sums[extension] = sums.get(extension, 0) + size
            files[extension] = files.get(extension, 0) + 1
    rows = sorted((_row(extension, number, sums.get(extension, 0)) for extension, number in files.items()), key=_rank)
    return ListingCounts(
        sum(row.files for row in rows),
        sum(row.bytes for row in rows),
        sum(row.tokens for row in rows),
        tuple(rows),
        walk.omitted,
        walk.complete,
    )


def _size(root: Root, folder: Folder, prefix: str, name: str) -> int | None:
    """The size of a file, or of the file that a link leads to; None when it is gone."""
    try:
        status = root.status_in(folder, name)
        if stat.S_ISLNK(status.st_mode):
            status = root.look(os.fsencode(prefix + name))
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _row(extension: str, files: int, size: int) -> ExtensionCount:
    per_token = _BYTES_PER_TOKEN.get(extension.lower(), _BYTES_PER_TOKEN_DEFAULT)
    shown = escape.show_name(extension) if extension not in {"", "."} else NO_EXTENSION
    return ExtensionCount(shown, files, size, -int(-size // per_token))


def _rank(row: ExtensionCount) -> tuple[int, str]:
    return -row.files, row.extension

"""Which files are there? Pages of names, and counts by extension.

Law: the joined pages equal the list; a total is exact, or `complete` is False. Sizes come from `stat`; tokens are estimated from
bytes. Leaves to others: sentences (`notices`), and how the tree is traversed (`walk`).
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from penstock.text import escape
from penstock.text.page import Page
from penstock.workspace.refusals import expect_from
from penstock.workspace.walk import Omitted
from penstock.workspace.wider import FileQuery, Wider, find_wider

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.workspace.deadline import Deadline
    from penstock.workspace.root import Root
    from penstock.workspace.system import Folder

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

MAX_FILES_WARNING_THRESHOLD = 20
"""The most files that are listed without a requested page; if there are more, a warning gives their number (L-2)."""
MAX_FILES_PER_LIST = 100
"""The most files on one page (L-3)."""

NO_EXTENSION = "(none)"
"""The table's entry for names without an extension."""
OTHER_EXTENSIONS = "(other)"
"""The table's entry for all extensions beyond the first 4,096."""
_MAX_EXTENSIONS = 4096  # rows of the table; a tree with more uses numbers as extensions

# Bytes per token of o200k, measured. Kinds not measured get the default, which is lower than most: it rather overestimates tokens.
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
    complete: bool
    """False if the deadline passed first: the total is then "at least"."""
    recursive: bool = True
    """Whether subfolders were searched, because of the argument or the pattern."""
    wider: Wider | None = None
    """If nothing was found, the nearest wider form that finds something."""


class ExtensionCount(NamedTuple):
    """A row of the table: files with one extension, their bytes, and their estimated tokens."""

    extension: str
    """With its dot, inert; or `NO_EXTENSION`, `OTHER_EXTENSIONS`."""
    files: int
    bytes: int
    tokens: int


class ListingCounts(NamedTuple):
    """How many files match, their bytes and estimated tokens, and the same by extension, most files first."""

    files: int
    bytes: int
    tokens: int
    by_extension: tuple[ExtensionCount, ...]
    omitted: Omitted
    complete: bool
    wider: Wider | None = None
    """If nothing was found, the nearest wider form that finds something."""


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
    """Return a page of the files beneath a folder whose names match, in the byte order of their paths.

    Args:
        root: The root that opens everything.
        pattern: A glob (`globs`), which may be absolute within the folder, or a regular expression if `use_regex` says so.
        recursive: Whether subfolders are searched too, unless the pattern itself decides.
        use_regex: Whether `pattern` is searched for anywhere in the path, as RE2 reads it.
        offset: Files to skip.
        limit: Files of the page, at most `MAX_FILES_PER_LIST`; 0 for up to `MAX_FILES_WARNING_THRESHOLD`.
        path: The folder.
        include_hidden: Whether names that begin with a dot are included.
        include_ignored: Whether files that ignore rules exclude are included.
        deadline: When it stops, with `complete` False.
        progress: Called with the number of files seen.

    Raises:
        ToolError: The folder or the pattern is invalid, or a number is negative.
    """
    expect_from(0, offset=offset, limit=limit)
    limit = min(limit, MAX_FILES_PER_LIST) if limit > 0 else MAX_FILES_WARNING_THRESHOLD
    asked = FileQuery(
        pattern if use_regex else root.tied(pattern, path), recursive, use_regex, include_hidden, include_ignored
    )
    walk = asked.walk(root, path, deadline, progress)
    items: list[str] = []
    total = 0
    for prefix, _, names in walk:
        if walk.ordered:
            first = max(offset - total, 0)
            items += [escape.show_name(prefix + name) for name in names[first : first + limit - len(items)]]
            # The page is full: the rest is only counted, in any order.
            walk.ordered = len(items) < limit
        total += len(names)
    more = bool(items) and (offset + len(items) < total or not walk.complete)
    wider = find_wider(root, path, asked, deadline) if not total and walk.complete else None
    return Listing(
        Page(items=tuple(items), offset=offset, limit=limit, total=total, more=more),
        walk.omitted,
        walk.complete,
        walk.selection.recursive,
        wider,
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
    """Return how many files match, their total size, and the same for each extension, most files first.

    The arguments are those of `list_files`; without `sizes` no file is examined, and bytes and tokens are 0.
    """
    asked = FileQuery(
        pattern if use_regex else root.tied(pattern, path), recursive, use_regex, include_hidden, include_ignored
    )
    walk = asked.walk(root, path, deadline, progress)
    walk.ordered = False
    files: dict[str, int] = {}
    sums: dict[str, int] = {}
    for prefix, folder, names in walk:
        for name in names:
            # `.bashrc` has no extension: its dot is the first character.
            dot = name.rfind(".")
            extension = name[dot:] if dot > 0 else ""
            # A tree of numbered extensions (`.000001`, …) must not fill the memory.
            if extension not in files and len(files) >= _MAX_EXTENSIONS:
                extension = OTHER_EXTENSIONS
            if sizes:
                size = _size(root, folder, prefix, name)
                if size is None:
                    walk.vanished += 1
                    continue
                sums[extension] = sums.get(extension, 0) + size
            files[extension] = files.get(extension, 0) + 1
    wider = find_wider(root, path, asked, deadline) if not files and walk.complete else None
    rows = sorted((_row(extension, number, sums.get(extension, 0)) for extension, number in files.items()), key=_rank)
    return ListingCounts(
        sum(row.files for row in rows),
        sum(row.bytes for row in rows),
        sum(row.tokens for row in rows),
        tuple(rows),
        walk.omitted,
        walk.complete,
        wider,
    )


def _size(root: Root, folder: Folder, prefix: str, name: str) -> int | None:
    """Return the size of a file, or of the file that a link leads to; None if it is gone."""
    try:
        status = root.status_in(folder, name)
        if stat.S_ISLNK(status.st_mode):
            status = root.look(os.fsencode(prefix + name))
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _row(extension: str, files: int, size: int) -> ExtensionCount:
    """Return a row of the table; tokens are rounded up."""
    per_token = _BYTES_PER_TOKEN.get(extension.lower(), _BYTES_PER_TOKEN_DEFAULT)
    shown = escape.show_name(extension) if extension not in {"", "."} else NO_EXTENSION
    return ExtensionCount(shown, files, size, -int(-size // per_token))


def _rank(row: ExtensionCount) -> tuple[int, str]:
    """Return the key by which rows are sorted: most files first, then by name."""
    return -row.files, row.extension

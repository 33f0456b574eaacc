"""What would a wider selection find when the requested one has found nothing (L-1)?

A model that lists `*.go` and is told "none" concludes that there is no Go here; if the files are one folder down, the same answer
has to say so. Law: the selection that is named does find that many files. Leaves to others: wording (`tools.listing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.workspace.pattern import selected
from penstock.workspace.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.workspace.deadline import Deadline
    from penstock.workspace.root import Root


class FileQuery(NamedTuple):
    """Which files of a folder were asked for, by the names of the tools' arguments."""

    pattern: str
    recursive: bool
    use_regex: bool
    include_hidden: bool
    include_ignored: bool

    def walk(self, root: Root, path: str, deadline: Deadline, progress: Callable[[int], None] | None = None) -> Walk:
        """Return the walk over these files of a folder. Raises `ToolError` if the path or the pattern is invalid."""
        return Walk(
            root,
            path,
            selected(self.pattern, recursive=self.recursive, use_regex=self.use_regex, deadline=deadline),
            include_hidden=self.include_hidden,
            include_ignored=self.include_ignored,
            deadline=deadline,
            progress=progress,
        )


class Wider(NamedTuple):
    """A wider form that finds something."""

    changes: dict[str, str | bool]
    """The arguments that differ, by name."""
    files: int
    complete: bool
    """False if the deadline passed first: there are at least that many files."""


def find_wider(root: Root, path: str, asked: FileQuery, deadline: Deadline) -> Wider | None:
    """Return the nearest wider form of a query that found nothing; None if no form finds anything in the remaining time.

    Args:
        root: The root that opens everything.
        path: The folder that was listed.
        asked: The query.
        deadline: When to stop.
    """
    forms = dict.fromkeys((asked, *_forms(asked)))
    for form in list(forms)[1:]:
        walk = form.walk(root, path, deadline)
        walk.ordered = False
        if files := sum(len(names) for _, _, names in walk):
            before, after = asked._asdict(), form._asdict()
            return Wider({name: after[name] for name in after if after[name] != before[name]}, files, walk.complete)
        if deadline.passed:
            break
    return None


def _forms(asked: FileQuery) -> Iterator[FileQuery]:
    """Yield wider forms of what was asked for, from near to far; some may be the same.

    The same characters composed otherwise, inside a folder of that name, any depth, hidden and ignored files, the last part alone.
    """
    if not asked.pattern.isascii():
        from unicodedata import normalize

        # Models write `é` as one character. Names that came from a Mac may hold an `e` and an accent (UAX 15).
        for composed in (normalize("NFC", asked.pattern), normalize("NFD", asked.pattern)):
            if composed != asked.pattern:
                form = asked._replace(pattern=composed)
                yield form
                yield _deeper(form)
    if not asked.use_regex and (name := asked.pattern.rstrip("/")) and not set(name) & set("*?[{\\!"):
        yield asked._replace(pattern=f"{name}/**")
    deeper = _deeper(asked)
    yield deeper
    for form in (asked, deeper):
        yield form._replace(include_hidden=True, include_ignored=True)
    last = asked.pattern.rstrip("/").rpartition("/")[2]
    if not asked.use_regex and last != asked.pattern and last.strip("*"):
        yield asked._replace(pattern=f"**/{last}")


def _deeper(asked: FileQuery) -> FileQuery:
    """Return a query for the same names at any depth: recursive, or with any number of folders before the pattern."""
    plain = asked.pattern.removeprefix("./").lstrip("/")
    if asked.use_regex or "/" not in plain:
        return asked._replace(recursive=True)
    return asked if plain.startswith("**/") else asked._replace(pattern=f"**/{plain}")

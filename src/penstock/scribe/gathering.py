"""Which files are documented? Those that are named, and those below the folders that are, but for pages of earlier runs.

Each is read completely, once, through the root; what cannot be read is reported with the reason, and the rest continues. A file's
name and first bytes decide what it is taken for; one named explicitly, or by a COPY or INCLUDE, is taken whatever its name.
Leaves to others: what the files say (`cobol`), and what is written.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.estate import COBOL_KINDS
from penstock.cobol.estate.members import copied_as
from penstock.errors import ToolError
from penstock.outline import language_of
from penstock.scribe.output import without_sites
from penstock.text import escape
from penstock.workspace import system
from penstock.workspace.deadline import Deadline
from penstock.workspace.globs import EVERYTHING
from penstock.workspace.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from penstock.cobol.estate import Kind
    from penstock.workspace.root import OpenFile, Root

MAX_BYTES = 32 << 20
"""The largest file that is read as a source: the largest program known has 4 MB, and anything larger is data."""
ONLY_IF_NAMED = "Hidden files, and those that .gitignore excludes, are read if they are named themselves."
"""What explains a folder in which no file was found."""
_EXAMPLES = 5
_COPIED_KINDS = COBOL_KINDS | {"bms", "dds"}
"""What a COPY can mean: a job may have the name of a copybook."""
# Of COPY, INCLUDE, -INC and ++INCLUDE. Good enough to find names: a COPY in a comment or a literal may turn a file into a copybook
# that nobody then copies. In capitals, and nothing optional before the first letters: a pattern that begins with letters is
# searched six times as fast.
_NAME = rb"\s+[\"']?(?:[\w.$#@~:\\/-]*[\\/])?([\w$#@-]+(?:\.\w+)?)"
_COPIES = [re.compile(rb"COPY(?<!\wCOPY)" + _NAME), re.compile(rb"INC(?<!\wINC)(?:LUDE)?" + _NAME)]
HEAD_BYTES = 8_192
"""How many bytes at the beginning of a file decide what it is."""


class GatheredFile(NamedTuple):
    """A file that was read: its path from the root, what it is taken for, and its bytes."""

    path: str
    kind: Kind
    data: bytes


class Skipped(NamedTuple):
    """A file that was not read, and why, in words for a person."""

    path: str
    reason: str


class LeftOut(NamedTuple):
    """Files of no known kind, by suffix ("" for none): how many there are, and the paths of the first."""

    suffix: str
    files: int
    examples: tuple[str, ...]


class Gathered(NamedTuple):
    """What was found, in the order of the paths, what could not be read, and which files are of no known kind."""

    files: tuple[GatheredFile, ...]
    skipped: tuple[Skipped, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def others(self) -> int:
        """How many files are of no known kind."""
        return sum(one.files for one in self.left_out)


def gather(
    root: Root,
    paths: Iterable[str],
    kind_of: Callable[[str, bytes], Kind | None],
    progress: Callable[[int], None] | None = None,
) -> Gathered:
    """Return the files at and below some paths, each once, in the order of their paths.

    Args:
        root: The folder that paths are relative to; no file outside of it is read.
        paths: Files and folders.
        kind_of: Returns what a file is by its name and its first bytes; None for no known kind.
        progress: Called with how many files were looked at.

    Raises:
        ToolError: A path that was named does not exist, or cannot be looked at.
    """
    files: dict[str, GatheredFile] = {}
    skipped: dict[str, Skipped] = {}
    others: dict[str, None] = {}
    for path, is_named in _names(root, paths, progress):
        if path not in files and path not in skipped and path not in others:
            _take(root, path, kind_of, files, skipped, others, is_named=is_named)
    fresh: Iterable[str] = list(files)
    while fresh:
        copied = _copied([files[path] for path in fresh], files, others)
        for path in copied:
            del others[path]
            _take(root, path, _as_copybook, files, skipped, others, is_named=False)
        fresh = [path for path in copied if path in files]
    return Gathered(tuple(files[path] for path in sorted(files)), tuple(skipped.values()), tuple(_left_out(others)))


def _take(
    root: Root,
    path: str,
    kind_of: Callable[[str, bytes], Kind | None],
    files: dict[str, GatheredFile],
    skipped: dict[str, Skipped],
    others: dict[str, None],
    *,
    is_named: bool,
) -> None:
    """Add a file to those that were read, are of no known kind, or cannot be read."""
    # One unreadable file must not cost a user the documents of ten thousand others.
    try:
        found = _read(root, path, kind_of, is_named)
    except (ToolError, OSError) as error:
        # `CUST.KEY` may be the index of a file that lies beside the programs, one of many: nobody misses it. A name without a
        # suffix may be a member.
        if not is_named and "." in _name(path) and _is_secret(error) and kind_of(path, b"") is None:
            others[path] = None
        else:
            skipped[path] = Skipped(path, error.message if isinstance(error, ToolError) else str(error.strerror))
        return
    if found is None:
        others[path] = None
    else:
        files[path] = found


def _is_secret(error: Exception) -> bool:
    """Return whether a file is refused because its name says that it holds credentials."""
    return isinstance(error, ToolError) and error.code == "secret"


def _copied(fresh: Iterable[GatheredFile], files: Mapping[str, GatheredFile], others: Iterable[str]) -> list[str]:
    """Return the files of no known kind that some files copy: by name and suffix, or by name if nothing else of it can be meant."""
    here = Counter(copied_as(path).lower() for path, one in files.items() if one.kind in _COPIED_KINDS)
    names: set[str] = set()
    stems: set[str] = set()
    for one in fresh:
        if one.kind in COBOL_KINDS:
            text = one.data.upper()
            named = {name.decode("latin-1").lower() for pattern in _COPIES for name in pattern.findall(text)}
            names |= {name for name in named if "." in name}
            own = copied_as(one.path).lower()  # no file is its own copybook
            stems.update(name for name in named - names if here[name] == (name == own))
    return [path for path in others if (name := _name(path)) in names or copied_as(name) in stems]


def _name(path: str) -> str:
    """Return the name of a file for comparisons."""
    return path.rpartition("/")[2].lower()


def _as_copybook(path: str, head: bytes) -> Kind | None:
    """Return that a file is a copybook, because a COPY names it; None if it is evidently in another language."""
    return "copybook" if language_of(path, head) in {None, "cobol", "text"} else None


def _left_out(paths: Iterable[str]) -> list[LeftOut]:
    """Return files of no known kind by suffix, the most frequent first."""
    by_suffix: dict[str, list[str]] = {}
    for path in paths:
        name = _name(path)
        by_suffix.setdefault(name[name.rfind(".") :] if "." in name else "", []).append(path)
    counts = Counter({suffix: len(found) for suffix, found in by_suffix.items()})
    return [
        LeftOut(suffix, number, tuple(sorted(by_suffix[suffix])[:_EXAMPLES])) for suffix, number in counts.most_common()
    ]


def _names(root: Root, paths: Iterable[str], progress: Callable[[int], None] | None) -> Iterator[tuple[str, bool]]:
    """Yield paths of files from the root, and whether each was named explicitly."""
    for path in paths:
        relative = root.relative(path)
        if not root.is_folder(relative):
            yield os.fsdecode(relative), True
            continue
        walk = Walk(
            root,
            path,
            EVERYTHING,
            include_hidden=False,
            include_ignored=False,
            deadline=Deadline(None),
            progress=progress,
        )
        for found in without_sites([prefix + name for prefix, _, names in walk for name in names]):
            yield found, False


def read_whole(root: Root, path: str) -> bytes:
    """Return the content of a file.

    Raises:
        ToolError: The file cannot be opened, or is too large for a source.
    """
    file = root.open_file(root.relative(path))
    try:
        return _whole(file, path)
    finally:
        file.close()


def _read(root: Root, path: str, kind_of: Callable[[str, bytes], Kind | None], is_named: bool) -> GatheredFile | None:
    """Return a file, or None if it is of no known kind; an explicitly named one is COBOL unless it is clearly something else."""
    file = root.open_file(os.fsencode(path))
    try:
        head = system.read_at(file.descriptor, HEAD_BYTES, 0)
        kind = kind_of(path, head)
        # On a host a program may have any name. Whoever names a file says what it is, but a picture stays a picture.
        if kind is None and is_named:
            language = language_of(path, head)
            if language not in {None, "cobol", "text"}:
                raise ToolError("binary", f"it is {language}, and there is no COBOL in it")
            kind = "cobol"
        return None if kind is None else GatheredFile(path, kind, _whole(file, path))
    finally:
        file.close()


def _whole(file: OpenFile, path: str) -> bytes:
    if file.status.st_size > MAX_BYTES:
        said = f"{escape.clip(path)} has {file.status.st_size} bytes; a source has {MAX_BYTES} at most."
        raise ToolError("binary", said)
    data = b""
    # Not `MAX_BYTES`: a buffer of 32 MB is mapped and unmapped for each read. The size of some files is 0 although they have bytes.
    asked_bytes = max(HEAD_BYTES, file.status.st_size + 1)
    while part := system.read_at(file.descriptor, asked_bytes, len(data)):
        data += part
    return data

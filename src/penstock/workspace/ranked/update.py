"""How is an index brought in line with the files? One pass over both, reading only what changed.

Law: afterwards the index holds exactly the files that may be searched, or the result says how many are missing and why. Leaves to
others: the question asked (`penstock.workspace.ranked`), and SQLite (`index`).
"""

from __future__ import annotations

import os
import stat
import time
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ToolError
from penstock.text.redaction import redacted
from penstock.workspace import refusals
from penstock.workspace.globs import EVERYTHING
from penstock.workspace.root import OpenFile
from penstock.workspace.similar import is_folder
from penstock.workspace.source import FileSource
from penstock.workspace.version import FileStamp
from penstock.workspace.walk import Omitted, Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.workspace.deadline import Deadline
    from penstock.workspace.ranked.index import FileEntry, Index
    from penstock.workspace.root import Root
    from penstock.workspace.system import Folder

MAX_FILE_BYTES = 2 << 20
"""Bytes of a file that are indexed: logs and data are longer, what people write is not."""
MAX_INDEX_BYTES = 256 << 20
"""Bytes of all files of an index together. The index itself takes one and a half times as much."""
MAX_PASSAGES = 400_000
"""Passages of an index: 6 million lines."""

_RACY_NS = 2_000_000_000  # FAT keeps times to 2 seconds: a file may change twice in that time and show the same stamp
_REPORT = 64  # files between two reports of progress


class FoundFile(NamedTuple):
    """A file that was found: `folder` is open if a walk found the file."""

    relative: bytes
    folder: Folder | None
    name: str


class Files:
    """The files that may be searched, in the byte order of their paths: a walk, or the one file that was named."""

    def __init__(
        self, root: Root, path: str, *, include_hidden: bool, include_ignored: bool, deadline: Deadline
    ) -> None:
        self._relative = relative = root.relative(path)
        self.walk: Walk | None = None
        if is_folder(root, relative):
            self.walk = Walk(
                root,
                path,
                EVERYTHING,
                include_hidden=include_hidden,
                include_ignored=include_ignored,
                deadline=deadline,
            )
        else:
            root.open_file(relative).close()  # or it raises the reason

    def __iter__(self) -> Iterator[FoundFile]:
        if self.walk is None:
            yield FoundFile(self._relative, None, "")
            return
        for prefix, folder, names in self.walk:
            for name in names:
                yield FoundFile(os.fsencode(prefix + name), folder, name)

    @property
    def prefix(self) -> bytes:
        """The part of a path before the part that a glob matches."""
        return b"" if self.walk is None or self._relative == b"." else self._relative + b"/"

    @property
    def omitted(self) -> Omitted:
        """What the walk has left out so far."""
        return Omitted() if self.walk is None else self.walk.omitted

    @property
    def is_complete(self) -> bool:
        """Whether all files were examined."""
        return self.walk is None or self.walk.complete

    def lose(self, code: str) -> None:
        """Count a file that existed and cannot be read, by the code of its error."""
        if self.walk is not None:
            self.walk.denied += code == "denied"
            self.walk.vanished += code != "denied"

    def end(self) -> None:
        """Record that time ran out before all files were examined."""
        if self.walk is not None:
            self.walk.complete = False


# ── bringing the index up to date ────────────────────────────────────────────────────────────────────────────────


class Update:
    """One pass over the files and the index in parallel, both in the order of paths: memory does not depend on either."""

    def __init__(
        self,
        root: Root,
        index: Index,
        deadline: Deadline,
        progress: Callable[[int], None] | None,
        *,
        is_redacted: bool = False,
    ) -> None:
        self._is_redacted = is_redacted
        self.indexed = self.unindexed = self.partial = self.binary = self.secret = 0
        self._root = root
        self._index = index
        self._deadline = deadline
        self._progress = progress

    def run(self, files: Files) -> None:
        """Add, replace and drop until the index matches the files, or the time or the room is used up."""
        known = self._index.files()
        entry = next(known, None)
        for looked, found in enumerate(files, 1):
            while entry is not None and entry.path < found.relative:
                self._index.drop(entry)
                entry = next(known, None)
            held = entry if entry is not None and entry.path == found.relative else None
            if held is not None:
                entry = next(known, None)
            if self._deadline.passed:
                files.end()
                return  # unexamined entries stay: they are shown only if their file is unchanged
            try:
                self._bring(found, held)
            except ToolError as error:
                self.secret += error.code == "secret"
                if error.code != "secret":
                    files.lose(error.code)
                if held is not None:
                    self._index.drop(held)
            if self._progress is not None and looked % _REPORT == 0:
                self._progress(looked)
        while entry is not None and files.is_complete:
            self._index.drop(entry)
            entry = next(known, None)

    def _bring(self, found: FoundFile, held: FileEntry | None) -> None:
        """Bring one file up to date. Raises `ToolError` if it may not be read."""
        if self._root.is_secret(found.relative):
            raise refusals.secret(found.relative)
        if held is not None and found.folder is not None:
            # The walk has just listed it; one status call tells whether it is unchanged. A link is opened, because its target
            # counts.
            try:
                status = self._root.status_in(found.folder, found.name)
            except OSError as error:
                raise refusals.refusal(error, found.relative) from error
            if stat.S_ISREG(status.st_mode) and held.stamp == stamp_of(status):
                self._count(held.kind)
                return
        file = _opened(self._root, found)
        try:
            self._read(file, held)
        except OSError as error:
            raise refusals.refusal(error, found.relative) from error
        finally:
            file.close()

    def _read(self, file: OpenFile, held: FileEntry | None) -> None:
        stamp = stamp_of(file.status)
        now = time.time_ns()
        if max(file.status.st_mtime_ns, file.status.st_ctime_ns) > now - _RACY_NS:
            stamp = _unsure(stamp)  # its times may miss another change: next time the content decides
        source = FileSource(file)
        data, text = read_text(source)
        digest = blake2b(data, digest_size=16).digest()
        kind = "binary" if text is None else "partial" if source.size_bytes > MAX_FILE_BYTES else "text"
        if held is not None and (held.digest, held.kind) == (digest, kind):
            if held.stamp != stamp:
                self._index.restamp(held, stamp)
            self._count(kind)
            return
        if held is not None:
            self._index.drop(held)
        if self._index.bytes + len(data) > MAX_INDEX_BYTES or self._index.passages >= MAX_PASSAGES:
            self.unindexed += 1
            return
        name = os.fsdecode(file.relative)
        # An index holds the names of files as they are, to find them again.
        if self._is_redacted and redacted(name) != name:
            raise refusals.secret(file.relative)
        # Lines stay lines, so that passages keep their positions.
        words = redacted(text or "") if self._is_redacted else text or ""
        self._index.add(file.relative, stamp, digest, kind, words, len(data))
        self._count(kind)

    def _count(self, kind: str) -> None:
        self.indexed += kind != "binary"
        self.binary += kind == "binary"
        self.partial += kind == "partial"


def _opened(root: Root, found: FoundFile) -> OpenFile:
    """Return the file, open. Raises `ToolError`."""
    if found.folder is None:
        return root.open_file(found.relative)
    descriptor = root.open_listed(found.folder, found.name, found.relative)
    return OpenFile(descriptor, os.fstat(descriptor), found.relative)


def read_text(source: FileSource) -> tuple[bytes, str | None]:
    """Return the indexed part of a file, and its text; None for a binary file. Raises OSError."""
    encoding = source.encoding()
    if encoding is None:
        return b"", None
    data = source.read(0, MAX_FILE_BYTES)
    return data, encoding.decode(data[encoding.bom_bytes :])[0]


def stamp_of(status: os.stat_result) -> str:
    """Return the stamp of a file as an index holds it."""
    return ".".join(map(str, FileStamp.of(status)))


def _unsure(stamp: str) -> str:
    return f"?{stamp}"

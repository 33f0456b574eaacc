"""Which passages weigh most? An index of the passages of files in SQLite, and BM25 over it.

An index is a cache: its entry for a file counts only while the file's stamp is unchanged; nothing is lost with it, and a damaged
one is rebuilt. It is private (0700, 0600), lies next to the store, and several processes may use it: SQLite locks it. Law: results
depend on the indexed files, not on the order in which they were added or changed. Leaves to others: which files there are, and
whether they may be read (`penstock.workspace.ranked`).
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError, ToolError
from penstock.workspace.own_files import OwnFolder
from penstock.workspace.ranked.passages import passages, query_of, split_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_CACHE_BYTES = 1 << 30
"""All indexes in one folder together; beyond it the least recently used are removed."""

_VERSION = 1  # of the schema and of how words are split: an index of another version is rebuilt
_WAIT_SECONDS = 20.0  # waiting for a process that indexes the same folder
_ROWS = 512  # files that are looked up at once
# Words of a path weigh twice as much as those of the text: a question that names a module is about it. Of 1, 2 and 4 tried, 2 and 4
# are alike. A passage's scope weighs as much as the text.
_RANK = "bm25(words, 2.0, 1.0, 1.0)"

# Not WAL: SQLite before 3.51.3 can damage a database when two connections checkpoint at once. Nothing is flushed: after a power cut
# an index may be damaged, and is then rebuilt. Deleted data is overwritten: a file may be ignored because of what it says.
_PRAGMAS = (
    "synchronous = OFF",
    "secure_delete = ON",
    "cache_size = -16384",
    "trusted_schema = OFF",
    "cell_size_check = ON",
)

_SCHEMA = f"""
CREATE TABLE files (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, stamp TEXT NOT NULL, digest BLOB NOT NULL,
                    kind TEXT NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE passages (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL);
CREATE INDEX passages_of_file ON passages (file);
CREATE VIRTUAL TABLE words USING fts5 (path, scope, body, tokenize = 'porter unicode61');
PRAGMA user_version = {_VERSION};
"""


class DamagedIndexError(Exception):
    """An index that SQLite cannot continue with."""


class FileEntry(NamedTuple):
    """A file as recorded in the index.

    `stamp` identifies its version, `digest` its content, and `kind` how it was indexed: `text`, `partial` (its beginning only) or
    `binary` (no passages).
    """

    id: int
    path: bytes
    stamp: str
    digest: bytes
    kind: str


class Hit(NamedTuple):
    """A passage that contains words of a question. `score` is BM25, larger is better."""

    score: float
    path: bytes
    first: int
    last: int
    stamp: str


@contextmanager
def opened(folder: str | None, name: str) -> Iterator[Index]:
    """Open the index `name` in `folder`, in one transaction that is committed only if nothing fails.

    If there is no folder, or it is not writable and private, the index is a temporary one that ends with the call.

    Raises:
        ToolError: `busy` while another process holds it, `io_error` if SQLite can do nothing at all.
        DamagedIndexError: The index turned out to be damaged, or the disk is full. It has been removed.
    """
    connection = _connected(folder, name)
    try:
        yield Index(connection)
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        connection.close()
        if folder is not None:
            _remove(folder, name)
        raise DamagedIndexError(str(error)) from error
    finally:
        connection.close()  # discards what was not committed


def _remove(folder: str, name: str) -> None:
    with suppress(OSError, CallerError), closing(OwnFolder(folder)) as own:
        own.remove(name)
        own.remove(f"{name}-journal")


def _connected(folder: str | None, name: str) -> sqlite3.Connection:
    own: OwnFolder | None = None
    if folder is not None:
        with suppress(OSError, CallerError):
            own = OwnFolder(folder)
    if own is not None:
        try:
            for _ in range(2):  # the second time in place of a damaged one, or one of another version
                try:
                    return _begun(_file(own, name))
                except sqlite3.OperationalError as error:
                    if "locked" in str(error):
                        raise ToolError("busy", "Another process is indexing this folder. Call again.") from error
                except (sqlite3.DatabaseError, _OtherVersionError):
                    pass
                own.remove(name)
                own.remove(f"{name}-journal")
        except (OSError, CallerError):
            pass  # a full disk or a read-only medium: the temporary one may be elsewhere
        finally:
            own.close()
    try:
        return _begun("")
    except sqlite3.Error as error:
        raise ToolError("io_error", f"No index for ranked search can be made: {error}.") from error


class _OtherVersionError(Exception):
    pass


def _file(own: OwnFolder, name: str) -> str:
    """Return the path of an index, created privately if missing; others are removed if there are too many."""
    with suppress(FileExistsError):
        os.close(own.create(name))  # SQLite gives its journal the same mode
    path = os.path.join(own.path, name)
    os.utime(path)
    aged = []
    for other in own.names():
        with suppress(FileNotFoundError):
            status = os.lstat(os.path.join(own.path, other))
            aged.append((status.st_mtime_ns, status.st_size, other))
    total = sum(size for _, size, _ in aged)
    for _, size, other in sorted(aged):
        if total > MAX_CACHE_BYTES and not other.startswith(name):
            with suppress(OSError):  # in use, on Windows
                own.remove(other)
            total -= size
    return path


def _expect(version: int) -> None:
    if version != _VERSION:
        raise _OtherVersionError


def _begun(path: str) -> sqlite3.Connection:
    """Return a connection with a write transaction. Raises sqlite3.Error for an index that a quick check finds damaged."""
    connection = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
    try:
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN IMMEDIATE")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0 and not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            for statement in filter(str.strip, _SCHEMA.split(";")):
                connection.execute(statement)
        else:
            _expect(version)
        connection.execute("SELECT count(*) FROM (SELECT * FROM words LIMIT 1)").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


class Index:
    """The passages of the files of one folder, open for reading and writing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        run = connection.execute
        self.passages: int = run("SELECT count(*) FROM passages").fetchone()[0]
        self.bytes: int = run("SELECT coalesce(sum(bytes), 0) FROM files").fetchone()[0]

    def files(self) -> Iterator[FileEntry]:
        """Yield the files in the byte order of their paths. Files may be added and dropped meanwhile."""
        after = b""
        while True:
            rows = self._connection.execute(
                "SELECT id, path, stamp, digest, kind FROM files WHERE path > ? ORDER BY path LIMIT ?", (after, _ROWS)
            ).fetchall()
            for row in rows:
                yield FileEntry(*row)
            if len(rows) < _ROWS:
                return
            after = rows[-1][1]

    def add(self, path: bytes, stamp: str, digest: bytes, kind: str, text: str, size_bytes: int) -> None:
        """Add a file with the passages of `text`, which is empty for a binary file."""
        run = self._connection.execute
        file = run(
            "INSERT INTO files (path, stamp, digest, kind, bytes) VALUES (?, ?, ?, ?, ?)",
            (path, stamp, digest, kind, size_bytes),
        ).lastrowid
        self.bytes += size_bytes
        names = split_names(os.fsdecode(path).encode("utf-8", "replace").decode())
        lines = text.split("\n")
        # One substitution for the whole text: it adds no line, and one for each passage takes twice as long.
        split = split_names(text).split("\n")
        for first, last, scope in passages(lines):
            row = run("INSERT INTO passages (file, first, last) VALUES (?, ?, ?)", (file, first, last)).lastrowid
            body = "\n".join(split[first - 1 : last])
            run(
                "INSERT INTO words (rowid, path, scope, body) VALUES (?, ?, ?, ?)",
                (row, names, split_names("\n".join(scope)), body),
            )
            self.passages += 1

    def restamp(self, entry: FileEntry, stamp: str) -> None:
        """Record that a file is unchanged although its stamp differs."""
        self._connection.execute("UPDATE files SET stamp = ? WHERE id = ?", (stamp, entry.id))

    def drop(self, entry: FileEntry) -> None:
        """Remove a file and its passages from the index."""
        run = self._connection.execute
        run("DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE file = ?)", (entry.id,))
        self.passages -= run("DELETE FROM passages WHERE file = ?", (entry.id,)).rowcount
        self.bytes -= run("SELECT bytes FROM files WHERE id = ?", (entry.id,)).fetchone()[0]
        run("DELETE FROM files WHERE id = ?", (entry.id,))

    def hits(self, words: Sequence[str]) -> Iterator[Hit]:
        """Yield the passages that contain any of the words, the best first; equals in the order of paths and lines."""
        rows = self._connection.execute(
            f"SELECT -{_RANK} AS score, f.path, p.first, p.last, f.stamp FROM words "  # noqa: S608 - constants
            "JOIN passages p ON p.id = words.rowid JOIN files f ON f.id = p.file "
            "WHERE words MATCH ? ORDER BY score DESC, f.path, p.first",
            (query_of(words),),
        )
        for row in rows:
            yield Hit(*row)

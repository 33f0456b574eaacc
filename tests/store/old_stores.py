"""Stores as every earlier Penstock wrote them: its tables, word for word, and rows as it sealed them.

Nothing here is imported from the product, as its present behaviour must not change what was written then.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import struct
import zlib
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

VERSIONS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
"""The schemas that have landed."""
CONTENT = b"key AKIAIOSFODNN7EXAMPLE\n" + b"first line\nsecond line\n" * 20_000
"""A content of more than one piece of 256 KiB."""
HANDLE, EXPIRED = "A" * 22, "B" * 22
RECORDS = [{"asked": "why?", "n": 1.5}, {"result": HANDLE}, {"text": "long " * 1_000}]
_DAY = 86_400
_SQLITE = {
    1: (
        """CREATE TABLE records (
            session TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, schema_version INTEGER NOT NULL,
            at REAL NOT NULL, prev_hash TEXT NOT NULL, sha256 TEXT NOT NULL, payload TEXT NOT NULL,
            PRIMARY KEY (session, seq)) STRICT, WITHOUT ROWID""",
    ),
    2: (
        """CREATE TABLE contents (
            digest TEXT PRIMARY KEY, place TEXT NOT NULL, bytes INTEGER NOT NULL, stored_bytes INTEGER NOT NULL,
            lines INTEGER NOT NULL, pieces BLOB NOT NULL, seal TEXT NOT NULL) STRICT, WITHOUT ROWID""",
        """CREATE TABLE handles (
            handle TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, digest TEXT NOT NULL, name TEXT NOT NULL,
            kind TEXT NOT NULL, created REAL NOT NULL, expires REAL NOT NULL, gone TEXT NOT NULL, seal TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX handles_by_digest ON handles (digest)",
        """CREATE TABLE refs (
            session TEXT NOT NULL, seq INTEGER NOT NULL, handle TEXT NOT NULL, PRIMARY KEY (handle, session, seq)
            ) STRICT, WITHOUT ROWID""",
        "CREATE TABLE clock (one INTEGER PRIMARY KEY CHECK (one = 1), last_seen REAL NOT NULL) STRICT",
        "INSERT INTO clock VALUES (1, 0.0)",
    ),
    3: ("CREATE TABLE learned (name TEXT PRIMARY KEY, value TEXT NOT NULL, at REAL NOT NULL) STRICT, WITHOUT ROWID",),
    4: (
        "CREATE INDEX contents_by_size ON contents (stored_bytes)",
        "CREATE INDEX handles_by_end ON handles (expires) WHERE gone = ''",
    ),
    5: (
        """CREATE TABLE sessions (
            session TEXT PRIMARY KEY, records INTEGER NOT NULL, bytes INTEGER NOT NULL, at REAL NOT NULL
            ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX sessions_by_size ON sessions (bytes)",
        "CREATE INDEX refs_by_session ON refs (session)",
        """CREATE TABLE running (
            session TEXT NOT NULL, holder TEXT NOT NULL, PRIMARY KEY (session, holder)) STRICT, WITHOUT ROWID""",
        """CREATE TABLE removals (
            number INTEGER PRIMARY KEY, removed REAL NOT NULL, what TEXT NOT NULL, name TEXT NOT NULL,
            bytes INTEGER NOT NULL, at REAL NOT NULL, why TEXT NOT NULL) STRICT, WITHOUT ROWID""",
    ),
    6: (
        """CREATE TABLE marks (
            digest TEXT PRIMARY KEY, secrets TEXT NOT NULL, hidden INTEGER NOT NULL, seal TEXT NOT NULL) STRICT, WITHOUT ROWID""",
        "CREATE INDEX sessions_by_age ON sessions (at, session)",
        "CREATE INDEX handles_by_age ON handles (created, handle) WHERE gone = ''",
        "CREATE INDEX handles_gone ON handles (number) WHERE gone <> ''",
        "ALTER TABLE clock ADD COLUMN swept REAL NOT NULL DEFAULT 0",
    ),
    7: (
        "CREATE TABLE totals (one INTEGER PRIMARY KEY CHECK (one = 1), content_bytes INTEGER NOT NULL) STRICT",
        "INSERT INTO totals SELECT 1, CAST(COALESCE(SUM(stored_bytes), 0) AS INTEGER) FROM contents",
    ),
    8: ("CREATE TABLE loose_objects (place TEXT PRIMARY KEY, since REAL NOT NULL) STRICT, WITHOUT ROWID",),
    9: ("CREATE TABLE small_contents (number INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB NOT NULL) STRICT",),
    10: (
        "CREATE TABLE summaries (session TEXT PRIMARY KEY, text TEXT NOT NULL, seal TEXT NOT NULL) STRICT, WITHOUT ROWID",
    ),
}
_POSTGRES = {
    1: (
        """CREATE TABLE records (
            session TEXT NOT NULL, seq BIGINT NOT NULL, type TEXT NOT NULL, schema_version BIGINT NOT NULL,
            at DOUBLE PRECISION NOT NULL, prev_hash TEXT NOT NULL, sha256 TEXT NOT NULL, payload TEXT NOT NULL,
            PRIMARY KEY (session, seq))""",
    ),
    2: (
        """CREATE TABLE contents (
            digest TEXT PRIMARY KEY, place TEXT NOT NULL, bytes BIGINT NOT NULL, stored_bytes BIGINT NOT NULL,
            lines BIGINT NOT NULL, pieces BYTEA NOT NULL, seal TEXT NOT NULL)""",
        """CREATE TABLE handles (
            handle TEXT PRIMARY KEY, number BIGINT NOT NULL UNIQUE, digest TEXT NOT NULL, name TEXT NOT NULL,
            kind TEXT NOT NULL, created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION NOT NULL, gone TEXT NOT NULL,
            seal TEXT NOT NULL)""",
        "CREATE INDEX handles_by_digest ON handles (digest)",
        """CREATE TABLE refs (
            session TEXT NOT NULL, seq BIGINT NOT NULL, handle TEXT NOT NULL, PRIMARY KEY (handle, session, seq))""",
        "CREATE TABLE clock (one BIGINT PRIMARY KEY CHECK (one = 1), last_seen DOUBLE PRECISION NOT NULL)",
        "INSERT INTO clock VALUES (1, 0.0)",
        "CREATE TABLE pieces (place TEXT NOT NULL, n INTEGER NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (place, n))",
        "ALTER TABLE pieces ALTER COLUMN data SET STORAGE EXTERNAL",
        "CREATE TABLE pending (place TEXT PRIMARY KEY, since TIMESTAMPTZ NOT NULL DEFAULT now())",
    ),
    3: ("CREATE TABLE learned (name TEXT PRIMARY KEY, value TEXT NOT NULL, at DOUBLE PRECISION NOT NULL)",),
    4: (
        "CREATE INDEX contents_by_size ON contents (stored_bytes)",
        "CREATE INDEX handles_by_end ON handles (expires) WHERE gone = ''",
    ),
    5: (
        """CREATE TABLE sessions (
            session TEXT PRIMARY KEY, records BIGINT NOT NULL, bytes BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL)""",
        "CREATE INDEX sessions_by_size ON sessions (bytes)",
        "CREATE INDEX refs_by_session ON refs (session)",
        "CREATE TABLE running (session TEXT NOT NULL, holder TEXT NOT NULL, PRIMARY KEY (session, holder))",
        """CREATE TABLE removals (
            number BIGINT PRIMARY KEY, removed DOUBLE PRECISION NOT NULL, what TEXT NOT NULL, name TEXT NOT NULL,
            bytes BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL, why TEXT NOT NULL)""",
    ),
    6: (
        """CREATE TABLE marks (
            digest TEXT PRIMARY KEY, secrets TEXT NOT NULL, hidden BIGINT NOT NULL, seal TEXT NOT NULL)""",
        "CREATE INDEX sessions_by_age ON sessions (at, session)",
        "CREATE INDEX handles_by_age ON handles (created, handle) WHERE gone = ''",
        "CREATE INDEX handles_gone ON handles (number) WHERE gone <> ''",
        "ALTER TABLE clock ADD COLUMN swept DOUBLE PRECISION NOT NULL DEFAULT 0",
    ),
    7: (
        "CREATE TABLE totals (one BIGINT PRIMARY KEY CHECK (one = 1), content_bytes BIGINT NOT NULL)",
        "INSERT INTO totals SELECT 1, CAST(COALESCE(SUM(stored_bytes), 0) AS BIGINT) FROM contents",
    ),
    8: ("CREATE TABLE loose_objects (place TEXT PRIMARY KEY, since DOUBLE PRECISION NOT NULL)",),
    9: (),
    10: ("CREATE TABLE summaries (session TEXT PRIMARY KEY, text TEXT NOT NULL, seal TEXT NOT NULL)",),
}


def _seal(*values: object) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()


def _records(at: float, version: int) -> list[tuple[object, ...]]:
    """Return the rows of a journal, each with the hash of the one before."""
    rows: list[tuple[object, ...]] = []
    before = "0" * 64
    for seq, data in enumerate(RECORDS if version > 1 else RECORDS[:1]):
        payload = json.dumps(data, separators=(",", ":"))
        head = repr((1, "s", seq, "asked", at + seq, before))
        sha256 = hashlib.sha256(f"{head}\n{payload}".encode()).hexdigest()
        rows.append(("s", seq, "asked", 1, at + seq, before, sha256, payload))
        before = sha256
    return rows


def _journal_bytes() -> int:
    """Return the size of the records on the disk, as schema 5 counts it."""
    rows = [len(json.dumps(data, separators=(",", ":"))) + len("s") + len("asked") + 170 for data in RECORDS]
    return sum(row + 80 if row <= 1_000 else 500 + -(-(row - 500) // 4_092) * 4_096 for row in rows)


def _fill(run: Callable[..., Any], version: int, at: float) -> list[bytes]:
    """Insert what a store of that version held; return the pieces of its only content."""
    for row in _records(at, version):
        run("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    if version == 1:
        return []
    pieces = [CONTENT[start : start + 262_144] for start in range(0, len(CONTENT), 262_144)]
    table = b"".join(struct.pack("<III", len(part), zlib.crc32(part), part.count(b"\n")) for part in pieces)
    digest = hashlib.sha256(CONTENT).hexdigest()
    content = (digest, digest, len(CONTENT), len(CONTENT), CONTENT.count(b"\n"), table)
    run("INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?)", (*content, _seal(*content)))
    for number, handle, expires, gone in ((1, EXPIRED, at, "its time was over"), (2, HANDLE, at + 7 * _DAY, "")):
        row = (handle, number, digest, "make", "text", at, expires, gone)
        run("INSERT INTO handles VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, _seal(*row)))
    if version > 5:
        mark = (digest, '{"AWS key":1}', 0)
        run("INSERT INTO marks VALUES (?, ?, ?, ?)", (*mark, _seal(*mark)))
    if version > 6:
        run("UPDATE totals SET content_bytes = ?", (len(CONTENT),))
    run("INSERT INTO refs VALUES (?, ?, ?)", ("s", 1, HANDLE))
    run("UPDATE clock SET last_seen = ?", (at,))
    if version > 2:
        run("INSERT INTO learned VALUES (?, ?, ?)", ("window:m", "128000", at))
    if version > 4:
        run("INSERT INTO sessions VALUES (?, ?, ?, ?)", ("s", len(RECORDS), _journal_bytes(), at + len(RECORDS) - 1))
        run("INSERT INTO running VALUES (?, ?)", ("s", "running-0123456789abcdef"))  # by a process that was killed
    return pieces


def make_folder(path: str, version: int, at: float) -> None:
    """Make a store in a folder as Penstock wrote it at that version.

    Args:
        path: The folder.
        version: One of `VERSIONS`.
        at: The time at which it was written, in seconds since 1970.
    """
    os.makedirs(os.path.join(path, "contents"), mode=0o700)
    os.chmod(path, 0o700)
    os.close(os.open(os.path.join(path, "lock"), os.O_CREAT | os.O_WRONLY, 0o600))
    os.close(os.open(os.path.join(path, "penstock.sqlite3"), os.O_CREAT | os.O_WRONLY, 0o600))
    with closing(sqlite3.connect(os.path.join(path, "penstock.sqlite3"), isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for step in range(1, version + 1):
            for statement in _SQLITE[step]:
                connection.execute(statement)
        pieces = _fill(connection.execute, version, at)
        connection.execute(f"PRAGMA application_id = {0x50454E53}")
        connection.execute(f"PRAGMA user_version = {version}")
    if pieces:
        name = os.path.join(path, "contents", hashlib.sha256(CONTENT).hexdigest())
        with open(os.open(name, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
            file.write(CONTENT)


def make_database(url: str, version: int, at: float) -> None:
    """Make a store in an empty PostgreSQL database as Penstock wrote it at that version; the arguments are those for a folder."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:

        def run(statement: str, values: tuple[object, ...] = ()) -> None:
            connection.execute(statement.replace("?", "%s").encode(), values or None)

        run("CREATE SCHEMA penstock")
        run("SET search_path = penstock")
        run("CREATE TABLE schema_version (version INTEGER NOT NULL)")
        run("INSERT INTO schema_version VALUES (?)", (version,))
        for step in range(1, version + 1):
            for statement in _POSTGRES[step]:
                run(statement)
        for number, piece in enumerate(_fill(run, version, at)):
            run("INSERT INTO pieces VALUES (?, ?, ?)", (hashlib.sha256(CONTENT).hexdigest(), number, piece))

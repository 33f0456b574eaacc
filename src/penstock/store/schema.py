"""Which tables are there? The steps from one schema to the next, for both databases.

Steps are never edited once released: a change is a new step, and `tests/store/test_schema.py` opens every old version.
Law: a store is at one whole version, whenever the process ended. Keeps out: who runs them.
"""

from __future__ import annotations

_STEPS: tuple[tuple[str, ...], ...] = (
    (  # 1: the journal
        """CREATE TABLE records (
            session TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, schema_version INTEGER NOT NULL,
            at REAL NOT NULL, prev_hash TEXT NOT NULL, sha256 TEXT NOT NULL, payload TEXT NOT NULL,
            PRIMARY KEY (session, seq)) STRICT, WITHOUT ROWID""",
    ),
    (  # 2: artifacts
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
    (  # 3: what was learned of others, by name
        "CREATE TABLE learned (name TEXT PRIMARY KEY, value TEXT NOT NULL, at REAL NOT NULL) STRICT, WITHOUT ROWID",
    ),
)

SQLITE = _STEPS
_ONLY_POSTGRES = {
    2: (
        "CREATE TABLE pieces (place TEXT NOT NULL, n INTEGER NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (place, n))",
        "ALTER TABLE pieces ALTER COLUMN data SET STORAGE EXTERNAL",
        "CREATE TABLE pending (place TEXT PRIMARY KEY, since TIMESTAMPTZ NOT NULL DEFAULT now())",
    )
}


def _postgres(statement: str) -> str:
    for ours, theirs in ((") STRICT, WITHOUT ROWID", ")"), (") STRICT", ")"), ("INTEGER", "BIGINT"), ("BLOB", "BYTEA")):
        statement = statement.replace(ours, theirs)
    return statement.replace("REAL", "DOUBLE PRECISION")


POSTGRES = tuple(
    tuple(map(_postgres, step)) + _ONLY_POSTGRES.get(version, ()) for version, step in enumerate(_STEPS, 1)
)

"""Which tables does a store have? Steps from one version of the schema to the next, for both databases.

Steps are never edited once released: a change is a new step, and `tests/store/test_schema.py` opens every old version. Law: a store
is at one whole version, whenever the process ended. Leaves to others: running the steps, which the database does in one
transaction.
"""

from __future__ import annotations

from penstock.store.kept import StoreFault

# STRICT, because SQLite otherwise accepts a value of any type in any column. WITHOUT ROWID, because rows are found only by their
# keys, and are then stored in key order.
#
# What a record takes, as `journal.stored_bytes` counts it. Written out here, since a step never changes.
_ROW_BYTES = "(LENGTH(payload) + LENGTH(session) + LENGTH(type) + 170)"
_RECORD_BYTES = (
    f"CASE WHEN {_ROW_BYTES} > 1000 THEN 500 + ({_ROW_BYTES} - 500 + 4091) / 4092 * 4096 ELSE {_ROW_BYTES} + 80 END"
)
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
    (  # 4: for each new artifact, how much is kept and what has expired, without scanning every row
        "CREATE INDEX contents_by_size ON contents (stored_bytes)",
        "CREATE INDEX handles_by_end ON handles (expires) WHERE gone = ''",
    ),
    (  # 5: the size of sessions and who works on them, so that they count and can be removed; what rules removed
        """CREATE TABLE sessions (
            session TEXT PRIMARY KEY, records INTEGER NOT NULL, bytes INTEGER NOT NULL, at REAL NOT NULL
            ) STRICT, WITHOUT ROWID""",
        f"""INSERT INTO sessions SELECT session, MAX(seq) + 1, CAST(SUM({_RECORD_BYTES}) AS INTEGER), MAX(at)
            FROM records GROUP BY session""",  # noqa: S608 - written above
        "CREATE INDEX sessions_by_size ON sessions (bytes)",
        "CREATE INDEX refs_by_session ON refs (session)",
        """CREATE TABLE running (
            session TEXT NOT NULL, holder TEXT NOT NULL, PRIMARY KEY (session, holder)) STRICT, WITHOUT ROWID""",
        """CREATE TABLE removals (
            number INTEGER PRIMARY KEY, removed REAL NOT NULL, what TEXT NOT NULL, name TEXT NOT NULL,
            bytes INTEGER NOT NULL, at REAL NOT NULL, why TEXT NOT NULL) STRICT, WITHOUT ROWID""",
    ),
    (  # 6: secrets found in each content; the oldest entries without a scan; how far expired handles have been swept
        """CREATE TABLE marks (
            digest TEXT PRIMARY KEY, secrets TEXT NOT NULL, hidden INTEGER NOT NULL, seal TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
        "CREATE INDEX sessions_by_age ON sessions (at, session)",
        "CREATE INDEX handles_by_age ON handles (created, handle) WHERE gone = ''",
        "CREATE INDEX handles_gone ON handles (number) WHERE gone <> ''",
        "ALTER TABLE clock ADD COLUMN swept REAL NOT NULL DEFAULT 0",
    ),
    (  # 7: the total size of contents, needed for each new one: a sum over a million rows takes a third of a second
        "CREATE TABLE totals (one INTEGER PRIMARY KEY CHECK (one = 1), content_bytes INTEGER NOT NULL) STRICT",
        "INSERT INTO totals SELECT 1, CAST(COALESCE(SUM(stored_bytes), 0) AS INTEGER) FROM contents",
    ),
    (  # 8: objects that no content names: being written since, or condemned (-1) and to be removed
        "CREATE TABLE loose_objects (place TEXT PRIMARY KEY, since REAL NOT NULL) STRICT, WITHOUT ROWID",
    ),
    (),  # 9: small contents are rows, as all are in PostgreSQL
    (  # 10: summaries of journals
        "CREATE TABLE summaries (session TEXT PRIMARY KEY, text TEXT NOT NULL, seal TEXT NOT NULL) STRICT, WITHOUT ROWID",
    ),
    (  # 11: artifacts that a store works with and that no record of it names yet
        "CREATE TABLE unnamed (handle TEXT NOT NULL, holder TEXT NOT NULL, PRIMARY KEY (handle, holder)) STRICT, WITHOUT ROWID",
    ),
)
_ONLY_SQLITE: dict[int, tuple[str, ...]] = {
    # With a number, so that rows are added at the end, and AUTOINCREMENT, so that no number is reused: a reader that still has the
    # place of a deleted row finds none.
    9: ("CREATE TABLE small_contents (number INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB NOT NULL) STRICT",)
}

SQLITE = tuple(step + _ONLY_SQLITE.get(version, ()) for version, step in enumerate(_STEPS, 1))
"""The steps for SQLite; a database's version is the number of steps applied."""
# Content is random bytes or already compressed: EXTERNAL keeps PostgreSQL from trying to compress it again.
_ONLY_POSTGRES = {
    2: (
        "CREATE TABLE pieces (place TEXT NOT NULL, n INTEGER NOT NULL, data BYTEA NOT NULL, PRIMARY KEY (place, n))",
        "ALTER TABLE pieces ALTER COLUMN data SET STORAGE EXTERNAL",
        "CREATE TABLE pending (place TEXT PRIMARY KEY, since TIMESTAMPTZ NOT NULL DEFAULT now())",
    )
}


def _postgres(statement: str) -> str:
    """Return a statement in PostgreSQL's types. Replacing text suffices for the statements above."""
    for ours, theirs in ((") STRICT, WITHOUT ROWID", ")"), (") STRICT", ")"), ("INTEGER", "BIGINT"), ("BLOB", "BYTEA")):
        statement = statement.replace(ours, theirs)
    return statement.replace("REAL", "DOUBLE PRECISION")


POSTGRES = tuple(
    tuple(map(_postgres, step)) + _ONLY_POSTGRES.get(version, ()) for version, step in enumerate(_STEPS, 1)
)
"""The steps of the schema in PostgreSQL's types, with the tables that hold content there."""


def known(version: int, where: str) -> int:
    """Return the version of the tables of a store, if this Penstock knows it.

    Args:
        version: The number of steps applied.
        where: The store, for the refusal.

    Raises:
        StoreFault: A `newer` Penstock has changed them.
    """
    if version > len(_STEPS):
        raise StoreFault(
            "newer",
            f"{where} was written by a newer Penstock (schema {version}; this one knows {len(_STEPS)}). Read it with that, or "
            "name another store: --store, or PENSTOCK_STORE.",
        )
    return version

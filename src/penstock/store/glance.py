"""Which names does a store hold? A quick look for shell completion, where a tenth of a second is long.

Law: nothing is created, written, locked or flushed; a store that is missing, is a database server, or cannot be read has no names.
Leaves to others: checking against hashes, which happens when the store is opened to use a name.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError
from penstock.store import default_url, folder_of

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST = 50
"""How many names are offered."""
_DATABASE = "penstock.sqlite3"
_WAIT_SECONDS = 0.2
# Lists the sessions by jumping from one to the next in the primary key. GROUP BY would read every record of the store.
_SESSIONS = """
    WITH RECURSIVE names(session) AS (
        SELECT MIN(session) FROM records
        UNION ALL
        SELECT (SELECT MIN(session) FROM records WHERE session > names.session) FROM names WHERE session IS NOT NULL)
    SELECT session,
        (SELECT payload FROM records WHERE session = names.session AND seq < 8 AND type = 'Prompted' ORDER BY seq LIMIT 1),
        (SELECT at FROM records WHERE session = names.session ORDER BY seq DESC LIMIT 1) AS used
    FROM names WHERE session LIKE ? ESCAPE '\\' ORDER BY used DESC LIMIT ?"""
_ARTIFACTS = """
    SELECT handle, name, kind FROM handles WHERE gone = '' AND handle LIKE ? ESCAPE '\\' ORDER BY number DESC LIMIT ?"""


def recent_sessions(url: str | None = None, *, prefix: str = "") -> list[tuple[str, str]]:
    """Return the sessions whose names begin with `prefix`, the `MOST` last used first, each with its first prompt.

    Args:
        url: The store; None for the user's.
        prefix: How the names begin; case is ignored.
    """
    return [(session, _question(payload)) for session, payload, _ in _rows(url, _SESSIONS, prefix)]


def recent_artifacts(url: str | None = None, *, prefix: str = "") -> list[tuple[str, str]]:
    """Return the handles that begin with `prefix`, the `MOST` newest first, each with the name of what made it.

    Args:
        url: The store; None for the user's.
        prefix: How the handles begin; case is ignored.
    """
    return [(handle, name or kind) for handle, name, kind in _rows(url, _ARTIFACTS, prefix)]


def _rows(url: str | None, statement: str, prefix: str) -> Sequence[tuple[Any, ...]]:
    """Return what a statement finds in the database of a store; nothing if that cannot be read."""
    with suppress(PenstockError, OSError, sqlite3.Error):
        folder = folder_of(url or default_url())
        if folder is None:  # PostgreSQL: a name is not worth a connection
            return ()
        database = os.path.join(folder, _DATABASE)
        # `mode=ro` creates no database, but needs the files next to one that somebody writes. If there are none, nobody writes, and
        # only `immutable` keeps SQLite from creating them.
        is_written = os.path.exists(f"{database}-wal")
        quoted = database.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        address = f"file:{quoted}?mode=ro" + ("" if is_written else "&immutable=1")
        pattern = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        with closing(sqlite3.connect(address, uri=True, timeout=_WAIT_SECONDS)) as connection:
            return connection.execute(statement, (pattern, MOST)).fetchall()
    return ()


def _question(payload: str | None) -> str:
    """Return the first prompt of a session; nothing if there is none near its beginning."""
    try:
        message = json.loads(payload or "{}")["message"]
        said = message.get("content") or message["parts"]
        return said if isinstance(said, str) else "".join(part["text"] for part in said)
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""

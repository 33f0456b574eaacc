"""What is kept? Artifacts under handles, and the journals of sessions, behind one narrow interface.

SQLite in a private folder by default, PostgreSQL by a URL: `open_store()`, `open_store("sqlite:///var/lib/agent")`,
`open_store("postgresql://host/database")`. Nothing heavy is loaded before that.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.store.kept import (
    LIFE_SECONDS,
    LIMIT_BYTES,
    ArtifactInfo,
    Conflict,
    Damage,
    Damaged,
    Event,
    Handle,
    Pruned,
    Record,
    SessionInfo,
    Size,
    Store,
    StoreFault,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "LIFE_SECONDS",
    "LIMIT_BYTES",
    "ArtifactInfo",
    "Conflict",
    "Damage",
    "Damaged",
    "Event",
    "Handle",
    "Pruned",
    "Record",
    "SessionInfo",
    "Size",
    "Store",
    "StoreFault",
    "default_url",
    "open_store",
]


def default_url(environment: Mapping[str, str] | None = None) -> str:
    """`PENSTOCK_STORE`, else the folder `penstock` where the user's programs keep their state."""
    environment = os.environ if environment is None else environment
    if url := environment.get("PENSTOCK_STORE"):
        return url
    state = environment.get("XDG_STATE_HOME") or ""
    if not os.path.isabs(state):  # the XDG specification: relative ones are to be ignored
        state = os.path.join(environment.get("HOME") or os.path.expanduser("~"), ".local", "state")
    return "sqlite://" + os.path.join(state, "penstock")


def open_store(url: str | None = None, *, limit_bytes: int = LIMIT_BYTES, life_seconds: float = LIFE_SECONDS) -> Store:
    """The store at `url`: a folder (`sqlite:///path`, or just the path) or a database (`postgresql://…`).

    Raises `CallerError` for a URL that cannot be one, `StoreFault` when it cannot be used now.
    """
    url = url or default_url()
    scheme, colon, rest = url.partition(":")
    if colon and scheme in {"postgresql", "postgres"}:
        from penstock.store.postgres import PostgresStore

        return PostgresStore(url, limit_bytes=limit_bytes, life_seconds=life_seconds)
    if colon and "/" not in scheme and scheme != "sqlite":
        raise CallerError(f"A store is sqlite:///FOLDER, a folder, or postgresql://…, not {scheme}:…")
    path = (rest.removeprefix("//") if colon and scheme == "sqlite" else url) or ""
    if not path or "\0" in path:
        raise CallerError("The URL of a store names a folder: sqlite:///path/to/folder")
    from penstock.store.sqlite import SqliteStore

    return SqliteStore(os.path.expanduser(path), limit_bytes=limit_bytes, life_seconds=life_seconds)

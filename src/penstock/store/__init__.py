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
    JournalRecord,
    Pruned,
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
    "JournalRecord",
    "Pruned",
    "SessionInfo",
    "Size",
    "Store",
    "StoreFault",
    "default_life_seconds",
    "default_limit_bytes",
    "default_url",
    "folder_of",
    "open_store",
]

_MAX_DAYS = 36_500  # a hundred years: a date that can be printed


def default_url(environment: Mapping[str, str] | None = None) -> str:
    """`PENSTOCK_STORE`, else the folder `penstock` where the user's programs keep their state."""
    environment = os.environ if environment is None else environment
    if url := environment.get("PENSTOCK_STORE"):
        return url
    state = environment.get("XDG_STATE_HOME") or ""
    if not os.path.isabs(state):  # the XDG specification: relative ones are to be ignored
        state = os.path.join(environment.get("HOME") or os.path.expanduser("~"), ".local", "state")
    return "sqlite://" + os.path.join(state, "penstock")


def default_limit_bytes(environment: Mapping[str, str] | None = None) -> int:
    """`PENSTOCK_STORE_LIMIT_BYTES`, else `LIMIT_BYTES`. Raises `CallerError`."""
    text = (os.environ if environment is None else environment).get("PENSTOCK_STORE_LIMIT_BYTES")
    if text is None:
        return LIMIT_BYTES
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text)):
        raise CallerError(f"PENSTOCK_STORE_LIMIT_BYTES takes a whole number above 0, not {text[:40]!r}")
    return int(text)


def default_life_seconds(environment: Mapping[str, str] | None = None) -> float:
    """`PENSTOCK_STORE_LIFE_DAYS`, else `LIFE_SECONDS`. Raises `CallerError`."""
    text = (os.environ if environment is None else environment).get("PENSTOCK_STORE_LIFE_DAYS")
    if text is None:
        return LIFE_SECONDS
    try:
        days = float(text)
    except ValueError:
        days = 0.0
    if not 0 < days <= _MAX_DAYS:
        raise CallerError(f"PENSTOCK_STORE_LIFE_DAYS takes a number above 0, at most {_MAX_DAYS}, not {text[:40]!r}")
    return days * 86_400


def folder_of(url: str) -> str | None:
    """The folder of the store at `url`, None where that is a database. Raises `CallerError` for what is no such URL."""
    scheme, colon, rest = url.partition(":")
    if colon and scheme in {"postgresql", "postgres"}:
        return None
    if os.sep == "\\" and len(scheme) == 1:  # the letter of a drive
        colon = ""
    if colon and "/" not in scheme and scheme != "sqlite":
        raise CallerError(f"A store is sqlite:///FOLDER, a folder, or postgresql://…, not {scheme}:…")
    path = rest.removeprefix("//") if colon and scheme == "sqlite" else url
    if not path or "\0" in path:
        raise CallerError("The URL of a store names a folder: sqlite:///path/to/folder")
    return os.path.abspath(os.path.expanduser(path))


def open_store(url: str | None = None, *, limit_bytes: int | None = None, life_seconds: float | None = None) -> Store:
    """The store at `url`: a folder (`sqlite:///path`, or just the path) or a database (`postgresql://…`).

    What is left out is what the environment says, else the default. Raises `CallerError` for a URL or a number that cannot
    be one, `StoreFault` when the store cannot be used now.
    """
    url = url or default_url()
    folder = folder_of(url)
    limit_bytes = default_limit_bytes() if limit_bytes is None else limit_bytes
    life_seconds = default_life_seconds() if life_seconds is None else life_seconds
    if folder is None:
        from penstock.store.postgres import PostgresStore

        return PostgresStore(url, limit_bytes=limit_bytes, life_seconds=life_seconds)
    from penstock.store.sqlite import SqliteStore

    return SqliteStore(folder, limit_bytes=limit_bytes, life_seconds=life_seconds)

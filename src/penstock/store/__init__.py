"""Where are artifacts and the journals of sessions kept? Under handles, behind one narrow interface.

SQLite in a private folder by default, PostgreSQL by URL, and large artifacts in a bucket if one is named. Nothing heavy is loaded
before a store is opened.

    from penstock.store import open_store

    store = open_store()  # the user's; or open_store("sqlite:///var/lib/agent"),
    open_store("postgresql://host/database")
    handle = store.put(b"much output")
    store.read(handle, 0, 4)  # b"much"
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

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
    Patience,
    Pruned,
    SessionInfo,
    Size,
    Store,
    StoreFault,
)
from penstock.store.retention import (
    DAY_SECONDS,
    MAX_BYTES,
    MAX_DAYS,
    Removal,
    Retention,
    default_retention,
    number_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.store.tables import Tables

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
    "Patience",
    "Pruned",
    "Removal",
    "Retention",
    "SessionInfo",
    "Size",
    "Store",
    "StoreFault",
    "as_kept",
    "default_life_seconds",
    "default_limit_bytes",
    "default_objects",
    "default_redaction",
    "default_retention",
    "default_url",
    "folder_of",
    "open_store",
]


def default_url(environment: Mapping[str, str] | None = None) -> str:
    """Return the URL of the user's store: `PENSTOCK_STORE`, else the folder `penstock` where programs keep their state.

    Args:
        environment: The variables to use; None for those of this process.
    """
    environment = os.environ if environment is None else environment
    if url := environment.get("PENSTOCK_STORE"):
        return url
    from penstock.workspace.own_files import state_folder

    return "sqlite://" + os.path.join(state_folder(environment), "penstock")


def default_limit_bytes(environment: Mapping[str, str] | None = None) -> int:
    """Return how many bytes a store may hold: `PENSTOCK_STORE_LIMIT_BYTES`, else `LIMIT_BYTES`.

    Raises:
        CallerError: The variable is not a whole number above 0, or exceeds `MAX_BYTES`.
    """
    environment = os.environ if environment is None else environment
    return number_in(environment, "PENSTOCK_STORE_LIMIT_BYTES", int, MAX_BYTES) or LIMIT_BYTES


def default_life_seconds(environment: Mapping[str, str] | None = None) -> float:
    """Return how many seconds an artifact lives: `PENSTOCK_STORE_LIFE_DAYS` times a day, else `LIFE_SECONDS`.

    Raises:
        CallerError: The variable is not a number above 0, or exceeds 36,500 days.
    """
    environment = os.environ if environment is None else environment
    days = number_in(environment, "PENSTOCK_STORE_LIFE_DAYS", float, MAX_DAYS)
    return LIFE_SECONDS if days is None else days * DAY_SECONDS


def default_redaction(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether secrets are replaced by marks in what is kept: `PENSTOCK_STORE_REDACT` is 1.

    Args:
        environment: The variables to use; None for those of this process.

    Raises:
        CallerError: The variable is neither 1 nor 0.
    """
    text = (os.environ if environment is None else environment).get("PENSTOCK_STORE_REDACT") or "0"
    if text not in {"0", "1"}:
        raise CallerError(f"PENSTOCK_STORE_REDACT takes 1 or 0, not {text[:40]!r}")
    return text == "1"


def default_objects(environment: Mapping[str, str] | None = None) -> str | None:
    """Return where large artifacts of stores are kept: `PENSTOCK_STORE_OBJECTS`; None if they are kept with the others.

    Args:
        environment: The variables to use; None for those of this process.
    """
    return (os.environ if environment is None else environment).get("PENSTOCK_STORE_OBJECTS") or None


def as_kept(pieces: Iterable[bytes]) -> Iterable[bytes]:
    """Return the pieces of an output as they may be kept: with marks in place of secrets if `default_redaction` is set.

    Args:
        pieces: Any bytes, in order; they are read lazily.
    """
    if not default_redaction():
        return pieces
    from penstock.store.marks import SecretWatch

    return SecretWatch(hides=True).passed(pieces)


def folder_of(url: str) -> str | None:
    """Return the absolute folder of the store at `url`; None if that is a database.

        >>> folder_of("sqlite:///var/lib/agent")
        '/var/lib/agent'
        >>> folder_of("postgresql://host/database") is None
        True

    Raises:
        CallerError: The scheme is unknown, or no folder is named.
    """
    scheme, colon, rest = url.partition(":")
    if colon and scheme in {"postgresql", "postgres"}:
        return None
    if os.sep == "\\" and len(scheme) == 1:  # a drive letter
        colon = ""
    if colon and "/" not in scheme and scheme != "sqlite":
        raise CallerError(f"A store is sqlite:///FOLDER, a folder, or postgresql://…, not {scheme}:…")
    path = rest.removeprefix("//") if colon and scheme == "sqlite" else url
    if not path or "\0" in path:
        raise CallerError("The URL of a store names a folder: sqlite:///path/to/folder")
    return os.path.abspath(os.path.expanduser(path))


def open_store(
    url: str | None = None,
    *,
    limit_bytes: int | None = None,
    life_seconds: float | None = None,
    retention: Retention | None = None,
    keeps_redacted: bool | None = None,
    wait_seconds: float | None = None,
    objects: str | None = None,
    may_be_missing: bool = False,
) -> Store:
    """Return the store at `url`, created if missing.

    Args:
        url: A folder (`sqlite:///path`, or just the path) or a database (`postgresql://…`); None for `default_url()`.
        limit_bytes: What artifacts and journals together may take; None for `default_limit_bytes()`.
        life_seconds: How long an artifact lives after its last `put`; None for `default_life_seconds()`.
        retention: Which sessions are kept, applied whenever one begins; None for `default_retention()`, which keeps all.
        keeps_redacted: Whether marks are kept in place of secrets; None for `default_redaction()`.
        wait_seconds: How long a write waits for another process that writes; None for five seconds.
        objects: Where artifacts of a megabyte and more are kept, `s3://BUCKET/FOLDER`; None for `default_objects()`.
        may_be_missing: For a caller that only reads: whether a folder that does not exist and cannot be created is an empty store.

    Raises:
        CallerError: The URL or a number is invalid, or the folder is another user's, shared, or on a network.
        StoreFault: The store cannot be used now: it is busy, damaged, written by a newer Penstock, or out of reach.
    """
    url = url or default_url()
    folder = folder_of(url)
    retention = default_retention() if retention is None else retention
    options: dict[str, Any] = {
        "limit_bytes": default_limit_bytes() if limit_bytes is None else limit_bytes,
        "life_seconds": default_life_seconds() if life_seconds is None else life_seconds,
        "keeps_redacted": default_redaction() if keeps_redacted is None else keeps_redacted,
    }
    if bucket := objects or default_objects():
        from penstock.store.objects import open_objects

        options["objects"] = open_objects(bucket)
    store: Tables
    if folder is None:
        from penstock.store.postgres import PostgresStore

        store = PostgresStore(url, wait_seconds=wait_seconds, **options)
    else:
        from penstock.store.sqlite import SqliteStore

        store = SqliteStore(folder, wait_seconds=wait_seconds, may_be_missing=may_be_missing, **options)
    store.retention = retention
    return store

"""How is a queue's database reached? The address as libpq takes it, and what every connection to a queue has.

Law: what a person's URL says itself stays, and nothing is asked of a server that a pooler in session mode does not take: settings
are made once there is a connection, and not with it. Keeps out: connections (`database`, `engine`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = "penstock_queue"
"""The schema of the database that holds a queue."""
_DEAD_SECONDS = 20  # after which a connection is given up whose other end says nothing


def settings(*more: str) -> bytes:
    """Return the statement that gives a session what every session at a queue has.

    Args:
        more: Other settings, each as `name = value`.
    """
    own = (f"search_path = {SCHEMA}", "synchronous_commit = on", "client_min_messages = warning", *more)
    return "; ".join(f"SET {setting}" for setting in own).encode()


def conninfo(url: str) -> str:
    """Return a URL as libpq takes it, with what every connection to a queue has.

    A network that swallows everything is noticed by the kernel: by data that nobody confirms, and by probes where there is none.

    Args:
        url: As it was typed; what it says itself stays.

    Raises:
        CallerError: It is no URL of PostgreSQL, or psycopg is not installed.
    """
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict, make_conninfo
    except ImportError as error:
        raise missing_extra(error) from None
    if not url.startswith(("postgresql://", "postgres://")):
        raise CallerError(
            "A queue is a database: postgresql://HOST/DATABASE, or postgresql:///DATABASE on this machine"
        )
    given: Mapping[str, Any] | None
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # whose words repeat the part that cannot be read, and that may be the password
        given = None
    if given is None or _may_be_secret(given):
        raise CallerError(
            "The address of the queue cannot be read: in a name or a password % is written %25, / %2F, : %3A and @ %40"
        )
    wanted: dict[str, str | int] = {
        "connect_timeout": 10,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 2,
        "tcp_user_timeout": _DEAD_SECONDS * 1_000,
        "application_name": "penstock queue",
        "client_encoding": "UTF8",  # whatever PGCLIENTENCODING or the database says: texts here are Unicode
    }
    return make_conninfo(url, **{name: value for name, value in wanted.items() if name not in given})


def see_own_sessions(address: str) -> None:
    """See that each connection has a session of its own, where what it is told stays.

    Args:
        address: What `conninfo` gave.

    Raises:
        CallerError: Two connections have one session: a pooler in transaction mode hands it to whoever asks next.
        Exception: What psycopg raises where it cannot be reached.
    """
    import psycopg

    mark = os.urandom(8).hex()  # a pooler may keep it for whoever comes later
    with psycopg.connect(address, autocommit=True) as one, psycopg.connect(address, autocommit=True) as other:
        one.execute("SELECT set_config('penstock.session', %s, false)", (mark,))
        if other.execute("SELECT current_setting('penstock.session', true)").fetchone() == (mark,):
            raise CallerError(
                "The queue is behind a pooler in transaction mode, and wants sessions of its own: pool_mode = session in "
                "PgBouncer, or the URL of the database itself"
            )


def _may_be_secret(given: Mapping[str, object]) -> bool:
    """Return whether what was read as host or port is the rest of a password with an @ or a / in it.

    It would be looked for, and be repeated in the error: to the name server, and to whoever reads the log.
    """
    hosts, ports = (str(given.get(name, "")).split(",") for name in ("host", "port"))
    return any("@" in host[1:] for host in hosts) or any(port and not port.isdecimal() for port in ports)


def missing_extra(error: ImportError) -> CallerError:
    """Return what to say where the queue's libraries are not installed."""
    return CallerError(f"A queue needs its extra: pip install 'penstock[queue]' ({error})")

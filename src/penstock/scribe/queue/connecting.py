"""How is a queue's database reached? The address as libpq takes it, and the settings of every connection to a queue.

Law: what the user's URL says stays, and nothing is asked of a server that a pooler in session mode rejects: settings are made after
connecting, not in the connection request. Leaves to others: connections (`database`, `engine`).
"""

from __future__ import annotations

import os

from penstock.errors import CallerError

SCHEMA = "penstock_queue"
"""The schema of the database that holds a queue."""
_DEAD_SECONDS = 20  # after which a silent connection is given up


def settings(*more: str) -> bytes:
    """Return the statement that makes the settings of every session at a queue.

    Args:
        more: Other settings, each as `name = value`.
    """
    own = (f"search_path = {SCHEMA}", "synchronous_commit = on", "client_min_messages = warning", *more)
    return "; ".join(f"SET {setting}" for setting in own).encode()


def conninfo(url: str) -> str:
    """Return a URL as libpq takes it, with the parameters of every connection to a queue.

    The kernel notices a network that drops everything: by data that is not acknowledged, and by probes when there is none.

    Args:
        url: As it was typed; parameters in it stay.

    Raises:
        CallerError: It is not a PostgreSQL URL, or psycopg is not installed.
    """
    try:
        from psycopg.conninfo import make_conninfo

        from penstock.store.reaching import parsed
    except ImportError as error:
        raise missing_extra(error) from None
    if not url.startswith(("postgresql://", "postgres://")):
        raise CallerError(
            "A queue is a database: postgresql://HOST/DATABASE, or postgresql:///DATABASE on this machine"
        )
    given = parsed(url, "queue")
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
    """Check that each connection has its own session, in which settings persist.

    Args:
        address: The result of `conninfo`.

    Raises:
        CallerError: Two connections share a session: a pooler in transaction mode hands it to whoever asks next.
        Exception: Whatever psycopg raises if the database cannot be reached.
    """
    import psycopg

    mark = os.urandom(8).hex()  # a pooler may keep it for later clients
    with psycopg.connect(address, autocommit=True) as one, psycopg.connect(address, autocommit=True) as other:
        one.execute("SELECT set_config('penstock.session', %s, false)", (mark,))
        if other.execute("SELECT current_setting('penstock.session', true)").fetchone() == (mark,):
            raise CallerError(
                "The queue is behind a pooler in transaction mode, and needs its own sessions: pool_mode = session in "
                "PgBouncer, or the URL of the database itself"
            )


def missing_extra(error: ImportError) -> CallerError:
    """Return the error for missing libraries of the queue."""
    return CallerError(f"A queue needs its extra: pip install 'penstock[queue]' ({error})")

"""How is a PostgreSQL server reached? By a connection with our settings, in a session of its own.

Law: a session that somebody else may be handed is refused: the lock that holds a running session would go to them, and ours would
end with theirs. Leaves to others: when a connection is made, and what it holds (`postgres`).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from penstock.errors import CallerError
from penstock.store.patience import PatientConnection

if TYPE_CHECKING:
    from collections.abc import Mapping

# For an address that says nothing else. A network may drop everything: without these, a connection waits for hours if nothing else
# limits it.
_DEFAULTS: dict[str, Any] = {
    "application_name": "penstock",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
# The same for the server: the locks of a client that has vanished must not hold up others, or its own next connection. Our
# transactions wait for nothing but the server, so one that is idle for so long belongs to a process that stands still. A running
# session is held by a connection, which may therefore be idle for any time. What a server does not know does without.
_SERVER_LIVENESS = """
    SELECT set_config(name, value, false) FROM (VALUES
        ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '4'),
        ('idle_in_transaction_session_timeout', '60s'), ('idle_session_timeout', '0')) AS wanted (name, value)
    WHERE current_setting(name, true) IS NOT NULL"""
_POOLER_SECONDS = 3.0  # a pool of one connection leaves none to compare with


def reached(address: str, schema: str, wait_seconds: float) -> PatientConnection:
    """Return a new connection with our settings.

    Args:
        address: As libpq takes it.
        schema: Where names of tables are looked up.
        wait_seconds: How long a statement waits for a lock.

    Raises:
        CallerError: A pooler in transaction mode hands the session to whoever asks next; or the address cannot be read.
        psycopg.Error: The server cannot be reached.
    """
    connection = _connected(address)
    try:
        _see_own_session(connection, address)
        connection.answer_seconds += wait_seconds
        connection.execute(
            f"SET client_min_messages = warning; SET search_path = {schema};"
            f"SET lock_timeout = '{int(1_000 * wait_seconds)}ms';"
            "SET default_transaction_isolation = 'read committed'".encode()
        )
        connection.execute(_SERVER_LIVENESS)
    except BaseException:
        connection.close()
        raise
    return connection


def parsed(address: str, what: str) -> Mapping[str, Any]:
    """Return the parameters in an address, as libpq reads it.

    Args:
        address: As it was typed.
        what: What it is the address of.

    Raises:
        CallerError: It cannot be read. The error repeats nothing of it, since that may be the password: psycopg names the
            part that it cannot read, and would look up the rest of a password with an @ or a / in it as a host or a port.
    """
    try:
        given = conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        given = {"port": "unreadable"}
    hosts, ports = (str(given.get(name, "")).split(",") for name in ("host", "port"))
    if any("@" in host[1:] for host in hosts) or any(port and not port.isdecimal() for port in ports):
        raise CallerError(
            f"The address of the {what} cannot be read: in a name or a password % is written %25, / %2F, : %3A and @ %40"
        ) from None
    return given


def _connected(address: str) -> PatientConnection:
    given = parsed(address, "store")
    defaults = {name: value for name, value in _DEFAULTS.items() if name not in given}
    return PatientConnection.connect(address, autocommit=True, client_encoding="UTF8", **defaults)


def _see_own_session(connection: PatientConnection, address: str) -> None:
    """Raise `CallerError` if another connection is given the same session."""
    own = connection.execute("SELECT pg_backend_pid()").fetchone()
    if own == (connection.info.backend_pid,):  # a pooler tells a number of its own
        return
    with suppress(psycopg.OperationalError), _connected(address) as other:
        other.answer_seconds = _POOLER_SECONDS
        if other.execute("SELECT pg_backend_pid()").fetchone() == own:
            raise CallerError(
                "The store is behind a pooler in transaction mode, and needs its own session: pool_mode = session in "
                "PgBouncer, or the URL of the database itself"
            )

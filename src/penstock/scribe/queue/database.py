"""How is the connection to a queue kept? It is opened when needed, reopened when lost, and waits patiently.

Every statement of ours may be executed twice, so one whose answer was lost is simply repeated; the time is the database's own in
every statement. Law: while the database is away nothing is lost and nothing ends, for as long as somebody is willing to wait.
Leaves to others: what is asked of it, and the engine's own connections (`engine`).
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.call import Call
from penstock.errors import CallerError
from penstock.scribe.queue.connecting import SCHEMA, conninfo, missing_extra, see_own_sessions, settings
from penstock.scribe.queue.schema import STEPS
from penstock.store import StoreFault
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

PATIENCE_SECONDS = 600.0
"""How long a worker that holds an answer waits for a database that is away."""
ANSWER_SECONDS = 600.0
"""How long one statement may take in the database; linking a large estate takes minutes."""
_LOCK = 0x50454E51  # of migrations
_PAUSES_SECONDS = (0.1, 0.3, 1.0, 2.0, 5.0)

Value = TypeVar("Value")


class Database:
    """A few connections that threads share.

    Args:
        url: The address of the queue.
        connections: The most connections.
        patience_seconds: How long to wait for a database that is away; 0 for not at all.
        given_up: Returns whether nobody waits any more.
        let_go: Returns whether nobody waits even for what was paid for; `given_up` by default.
        answer_seconds: After how long a connection without an answer is given up.
        say: Called with messages that the database is away and waited for, and that it is back.

    Raises:
        CallerError: The URL is not one of PostgreSQL, or the extra is not installed.
        StoreFault: The database cannot be reached, and `patience_seconds` is 0.
    """

    def __init__(
        self,
        url: str,
        *,
        connections: int = 2,
        patience_seconds: float = 0.0,
        given_up: Callable[[], bool] = lambda: False,
        let_go: Callable[[], bool] | None = None,
        answer_seconds: float = ANSWER_SECONDS,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._address = address = conninfo(url)
        try:
            import psycopg
            from psycopg_pool import ConnectionPool, PoolTimeout
        except ImportError as error:
            raise missing_extra(error) from None
        self._errors = psycopg.errors
        # A server that only reads is one that is about to take over, or has been replaced: it is away for what should be kept.
        self._lost = (
            psycopg.OperationalError,
            psycopg.InterfaceError,
            psycopg.errors.ReadOnlySqlTransaction,
            PoolTimeout,
        )
        self._free_tries, self._none_in_time = connections, PoolTimeout
        self._patience_seconds, self._given_up, self._let_go = patience_seconds, given_up, let_go or given_up
        if not patience_seconds:  # a pool tries for ten seconds, and does not say why it failed
            try:
                psycopg.connect(address, autocommit=True).close()
            except psycopg.Error as error:
                raise self._translated(error) from error
        # A line for each attempt to reach a database that is away, and for each dropped connection; we say so once.
        told = logging.getLogger("psycopg")
        told.propagate = False
        if not told.handlers:
            told.addHandler(logging.NullHandler())
        self._answer_seconds = answer_seconds
        self._say, self._is_away = say, False
        self._lent: dict[int, tuple[Connection, float]] = {}
        self._closed = threading.Event()
        # Opened on first use. Connections are not checked before they are lent, which would cost a round trip each time: one that
        # the server has dropped fails, and the statement is repeated.
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            address,
            min_size=0,
            max_size=connections,
            timeout=10.0,
            kwargs={"autocommit": True},
            configure=_configure,
            open=True,
        )
        threading.Thread(target=self._watch, name="penstock-queue-watch", daemon=True).start()

    def close(self) -> None:
        """Close the connections."""
        self._closed.set()
        self._pool.close(timeout=1.0)

    def run(self, work: Callable[[Connection], Value]) -> Value:
        """Return the result of some work that is done in one transaction, and repeated if the database was lost meanwhile.

        If the answer to a COMMIT was lost, nobody knows whether it happened: doing the work twice must be like doing it once.

        Raises:
            StoreFault: The database is away for longer than anybody waits, or refuses.
        """

        def whole(connection: Connection) -> Value:
            with connection.transaction():
                return work(connection)

        return self._tried(whole, self._given_up)

    def _tried(self, work: Callable[[Connection], Value], given_up: Callable[[], bool]) -> Value:
        """Return the result of some work, repeated if the database was lost meanwhile."""
        until = time.monotonic() + self._patience_seconds
        attempt = 0
        while True:
            asked = time.monotonic()
            try:
                with self._pool.connection() as connection, self._watched(connection):
                    try:
                        done = work(connection)
                    except self._errors.ReadOnlySqlTransaction:
                        connection.close()  # a new one may reach the server that took over
                        raise
            except self._lost as error:
                # A full disk is among these errors, and passes like an outage: somebody makes room. Up to all connections may have
                # been dropped since they were last used: that is not an outage, and shows at once.
                was_quick = time.monotonic() - asked < self._answer_seconds
                may_be_stale = was_quick and attempt < self._free_tries and not isinstance(error, self._none_in_time)
                if not may_be_stale and (time.monotonic() >= until or given_up()):
                    raise self._translated(error) from error
                if not may_be_stale and not self._is_away:
                    self._is_away = True  # several threads may notice it, and say so
                    self._say(f"{self._translated(error)} It is waited for.")
                time.sleep(_PAUSES_SECONDS[min(attempt, len(_PAUSES_SECONDS) - 1)])
                attempt += 1
            except self._errors.Error as error:
                raise self._translated(error) from error
            except UnicodeEncodeError as error:  # bytes of a command line that were not UTF-8
                said = escape.clip(str(error.object), 80)
                raise CallerError(f'A queue stores text in UTF-8, which "{said}" is not') from None
            else:
                if self._is_away:
                    self._is_away = False
                    self._say("The queue is back.")
                return done

    # The kernel notices a network that drops everything. If what it swallows is acknowledged, as by a proxy that hangs, only a
    # missing answer shows it; and a thread that waits in libpq can only be woken through its socket.
    @contextmanager
    def _watched(self, connection: Connection) -> Iterator[None]:
        self._lent[id(connection)] = connection, time.monotonic() + self._answer_seconds
        try:
            yield
        finally:
            self._lent.pop(id(connection), None)

    def _watch(self) -> None:
        """End connections that have waited too long, until `close`."""
        while not self._closed.wait(min(5.0, self._answer_seconds / 2)):
            for connection, until in list(self._lent.values()):
                if time.monotonic() >= until:
                    with suppress(Exception), socket.socket(fileno=os.dup(connection.pgconn.socket)) as ended:
                        ended.shutdown(socket.SHUT_RDWR)

    def rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; none if it has no result.

        Raises:
            StoreFault: As for `run`.
        """
        return self._tried(partial(_rows, statement, values), self._given_up)

    def keep(self, statement: str, **values: object) -> None:
        """Execute a statement that keeps what was paid for, such as an answer, even in a worker that has been told to end.

        Raises:
            StoreFault: As for `run`, once nobody waits for that either.
        """
        self._tried(partial(_rows, statement, values), self._let_go)

    def _translated(self, error: Exception) -> StoreFault:
        if isinstance(error, self._none_in_time):
            error = self._why_not() or error
        if isinstance(error, self._errors.ProgrammingError):
            try:  # settings and prepared statements are gone if another client has the session by now
                self._see_own_sessions()
            except CallerError as shared:
                return StoreFault("io_error", f"{shared}.")
        said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if isinstance(
            error, self._errors.UndefinedTable | self._errors.InvalidSchemaName | self._errors.UndefinedFunction
        ):
            return StoreFault("io_error", f"The database holds no queue yet ({said}).", Call("queue migrate"))
        if isinstance(error, self._errors.InsufficientPrivilege):
            return StoreFault(
                "read_only", f"The queue does not let this role do it: {said}. docs/queue.md has the grants."
            )
        if isinstance(error, self._errors.ReadOnlySqlTransaction):
            return StoreFault("unreachable", f"The queue cannot be written: {said}.")
        if isinstance(error, self._errors.DiskFull):
            return StoreFault("disk_full", f"The disk of the queue is full: {said}.", Call("queue status"))
        if isinstance(error, self._lost):
            return StoreFault("unreachable", f"The queue cannot be reached: {said}.")
        return StoreFault("io_error", f"The queue: {said}.")

    def _see_own_sessions(self) -> None:
        with suppress(self._errors.Error):  # if the database is away, the next statement fails or waits
            see_own_sessions(self._address)

    def _why_not(self) -> Exception | None:
        """Return the reason that a pool without connections hides: a wrong name, or a database that does not exist."""
        import psycopg

        try:
            psycopg.connect(self._address, autocommit=True).close()
        except psycopg.Error as error:
            return error
        return None

    # ── schema ───────────────────────────────────────────────────────────────────────────────────────────────────

    def version(self) -> tuple[int, int]:
        """Return the version of the present schema, and the oldest that works with it; 0 for none."""
        if not self.rows("SELECT 1 WHERE to_regclass(%(name)s) IS NOT NULL", name=f"{SCHEMA}.schema_version"):
            return 0, 0
        found = self.rows("SELECT version, oldest FROM schema_version")
        return (int(found[0][0]), int(found[0][1])) if found else (0, 0)

    def check(self) -> int:
        """Return the version of the schema, which this version of Penstock works with, or an older one.

        Raises:
            StoreFault: The schema is newer than this version understands.
        """
        version, oldest = self.version()
        if oldest > len(STEPS):
            said = f"The queue has schema {version}, and this Penstock knows {len(STEPS)}: use the newer one."
            raise StoreFault("newer", said)
        return version

    def prepare(self) -> None:
        """Check that the schema has this version, and create it if there is none.

        Raises:
            CallerError: The database is behind a pooler that shares sessions.
            StoreFault: The schema is newer than this version understands, or older, or this role may not create one.
        """
        self._see_own_sessions()
        if not self.check():
            self.migrate()
        self.own_version()

    def own_version(self) -> None:
        """Check that this version works with the schema.

        An older one stays as it is: somebody may have migrated it back for others.

        Raises:
            StoreFault: The schema is newer than this version understands, or older, or there is none.
        """
        version = self.check()
        if version < len(STEPS):
            said = f"The queue has schema {version}, and this Penstock wants {len(STEPS)}."
            raise StoreFault("older", said, Call("queue migrate"))

    def migrate(self, to: int = len(STEPS)) -> tuple[int, int]:
        """Migrate the schema to a version, forwards or back, in one transaction; return the versions before and after.

        The engine's own changes are made with the first step, and whenever a newer engine is installed.

        Raises:
            CallerError: The database is not in UTF-8, and cannot store all names and texts; or it is behind a pooler that shares
                sessions.
            StoreFault: As for `run`.
        """
        from penstock.scribe.queue.engine import engine_schema, engine_steps

        self._see_own_sessions()

        def work(connection: Connection) -> tuple[int, int]:
            if to and (encoding := connection.info.parameter_status("server_encoding")) != "UTF8":
                raise CallerError(
                    f"This database is in {encoding}, and a queue wants UTF8: createdb --encoding UTF8 --template template0 NAME"
                )
            # Two that start at once would both create it; the second waits, and finds everything done.
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            # Checked first: a role that may use the schema may not be allowed to create one, and need not be.
            if connection.execute("SELECT to_regnamespace(%s)", (SCHEMA,)).fetchone() == (None,):
                connection.execute(f"CREATE SCHEMA {SCHEMA}".encode())
            connection.execute(
                "CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL, oldest integer NOT NULL, engine text[])"
            )
            row = connection.execute("SELECT version, engine FROM schema_version").fetchone()
            before, engine = (0, []) if row is None else (int(row[0]), row[1] or [])
            wanted = [name for name, _ in engine_steps()]
            if to and not engine:
                connection.execute(engine_schema().encode())
            for name, statements in engine_steps() if engine else ():
                if name not in engine:
                    connection.execute(statements.encode())
            for step in STEPS[before:to]:
                for statement in step.forwards:
                    connection.execute(statement.encode())
            for step in reversed(STEPS[to:before]):
                for statement in step.back:
                    connection.execute(statement.encode())
            if not to:
                connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE".encode())
                return before, 0
            connection.execute("DELETE FROM schema_version")
            connection.execute("INSERT INTO schema_version VALUES (%s, %s, %s)", (to, STEPS[to - 1].oldest, wanted))
            return before, to

        return self.run(work)


def _configure(connection: Connection) -> None:
    connection.execute(settings())


def _rows(statement: str, values: dict[str, object], connection: Connection) -> list[tuple[Any, ...]]:
    # A single statement is a transaction by itself, in one round trip instead of three.
    cursor = connection.execute(statement.encode(), values or None)  # without values a % is literal
    return cursor.fetchall() if cursor.description is not None else []

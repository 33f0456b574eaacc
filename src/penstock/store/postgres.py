"""How is a store kept in PostgreSQL? For several machines that share one.

Content lies in rows, because a file local to one client would be missing for the others. Every commit requests `synchronous_commit`
explicitly, since a server's default may be off. A lost connection is reopened, and what was being done is done again; the key of
each row tells whether a lost COMMIT took effect, so nothing is made twice. Laws: as for SQLite, and the same conformance tests run
on both; whatever is done again has the effect of doing it once. Leaves to others: how long a server is waited for (`outage`).
"""

from __future__ import annotations

import os
import secrets
import time
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any

from penstock.errors import CallerError
from penstock.store import pieces, schema
from penstock.store.database import Staged
from penstock.store.kept import Patience, StoreFault
from penstock.store.outage import Outage
from penstock.store.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import psycopg

    from penstock.store.database import Done, Execute, Rows
    from penstock.store.patience import PatientConnection
    from penstock.store.retention import Removal

SCHEMA = "penstock"
"""The database schema that holds our tables."""
_LOCK = 0x50454E53  # the lock of the one writer of artifacts
_MIGRATION = 0x50454E4D  # the lock of the one who creates or changes the tables
_HOLDERS = 0x50454E48  # the locks of those who work on sessions, each with its own number as second key
_WAIT_SECONDS = 5.0  # for another writer, before `busy` is raised
_FAREWELL_SECONDS = 0.2
# Database encodings that hold every name; the second keeps the bytes unchanged.
_ANY_TEXT = ("UTF8", "SQL_ASCII")
_TABLES = (
    "pieces",
    "pending",
    "loose_objects",
    "contents",
    "marks",
    "handles",
    "refs",
    "records",
    "summaries",
    "sessions",
    "running",
    "unnamed",
    "removals",
)
_BATCH_PIECES = 16  # 4 MiB per transaction while content arrives
# Per transaction while content goes: one for all would take too long for others, and for our own patience.
_BATCH_PLACES = 32
# The version is read in every transaction, which therefore ends before a newer Penstock can change the tables. Decisions under a
# lock must see what was committed while it waited.
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = on; SELECT version FROM schema_version"
_VERSION_THERE = "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'schema_version'"
_STILL_RUNNING = "INSERT INTO running SELECT session, %s FROM sessions WHERE session = ANY(%s) ON CONFLICT DO NOTHING"
_STILL_UNNAMED = "INSERT INTO unnamed SELECT handle, %s FROM handles WHERE handle = ANY(%s) ON CONFLICT DO NOTHING"


class PostgresStore(Tables):
    """A store of artifacts and journals in the schema `penstock` of a PostgreSQL database.

    Open it once in each process; threads may share it.

    Args:
        url: The address, as libpq takes it; user and password in it are never shown.
        wait_seconds: How long a write waits for another process that writes; None for five.
        options: Those of `Tables`.

    Raises:
        CallerError: psycopg is not installed, or the server is behind a pooler in transaction mode.
        StoreFault: The server cannot be reached, or holds a newer schema.
    """

    def __init__(self, url: str, *, wait_seconds: float | None = None, **options: Any) -> None:
        super().__init__(**{"clock": self._server_time, **options})
        self._ahead_seconds = 0.0
        self._wait_seconds = _WAIT_SECONDS if wait_seconds is None else wait_seconds
        try:
            import psycopg

            from penstock.store.reaching import reached
        except ImportError:
            raise CallerError("A store in PostgreSQL needs psycopg: pip install 'penstock[postgres]'") from None
        self._psycopg = psycopg
        self._reached = reached
        self._address = url
        self._process = os.getpid()
        self._closed = False
        self._hold = ""
        self._connection: PatientConnection | None = None
        self.url = "postgresql:"
        try:
            connection = self._connected()
            info = connection.info
            self.url = f"postgresql://{info.host}:{info.port}/{info.dbname}"  # without user and password
            self._migrate()
        except psycopg.Error as error:
            fault = self._translated(error)
            self.close()
            raise fault from error
        except BaseException:
            self.close()
            raise

    # ── connection ───────────────────────────────────────────────────────────────────────────────────────────────

    def _connected(self) -> PatientConnection:
        """Return the connection, reopened if the server has dropped it.

        Raises `CallerError` if the store is closed, or after a fork.
        """
        self._expect_open()
        if self._process != os.getpid():
            raise CallerError("A store is not carried into a forked process: open it there.")
        if self._connection is None or self._connection.closed:
            connection = self._reached(self._address, SCHEMA, self._wait_seconds)
            try:
                self._set_clock(connection)
                self._take_hold(connection)
                self._connection = connection
                self._expect_open()  # another thread may have closed the store, and found no connection to close
            except BaseException:
                connection.close()
                raise
        return self._connection

    def _expect_open(self) -> None:
        if self._closed:
            raise CallerError("The store is closed.")

    def _set_clock(self, connection: PatientConnection) -> None:
        """Learn the server's time. A client whose clock is ahead would move the store's, and all artifacts would expire."""
        ((now,),) = connection.execute("SELECT EXTRACT(EPOCH FROM clock_timestamp())").fetchall()
        self._ahead_seconds = time.time() - float(now)

    def _server_time(self) -> float:
        return time.time() - self._ahead_seconds

    def _take_hold(self, connection: PatientConnection) -> None:
        """Take what the last connection held."""
        if self._hold:
            connection.execute("SELECT pg_advisory_lock_shared(%s, %s)", (_HOLDERS, int(self._hold)))
            # Whoever came first after a restart found the lock free, and took us for dead.
            with suppress(self._psycopg.errors.ReadOnlySqlTransaction):
                connection.execute(_STILL_RUNNING, (self._hold, sorted(self._worked_on)))
                connection.execute(_STILL_UNNAMED, (self._hold, sorted(self._unnamed)))

    def _migrate(self) -> None:
        """Bring the tables from any earlier version to ours, in one transaction; tables at our version are only read.

        So a replica, and a role that may not create anything, can open what exists.
        """
        connection = self._connected()
        if self._version_there(connection) == len(schema.POSTGRES):
            return
        with connection.transaction(), self._unhurried():
            # Two clients that start at once would both create; IF NOT EXISTS alone is not safe against that. Not the lock of the
            # writers, who take it after they have read the version: whoever held it and wanted the version's table to itself
            # would wait for them, and they for it.
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION,))
            version = self._version_there(connection)
            if version == len(schema.POSTGRES):
                return
            if not version:
                self._create(connection)
            # Waits for transactions under way, which know the tables as they are; later ones find the new version.
            connection.execute("LOCK TABLE schema_version IN ACCESS EXCLUSIVE MODE")
            for step in schema.POSTGRES[version:]:
                for statement in step:
                    connection.execute(statement.encode())
            connection.execute("UPDATE schema_version SET version = %s", (len(schema.POSTGRES),))

    def _create(self, connection: PatientConnection) -> None:
        """Create the schema, at version 0. Raises `CallerError` if the database cannot hold every name."""
        if (encoding := connection.info.parameter_status("server_encoding")) not in _ANY_TEXT:
            raise CallerError(
                f"{self.url} keeps text in {encoding}, which does not hold every name: make a database by `createdb -E UTF8`"
            )
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        connection.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
        connection.execute("INSERT INTO schema_version VALUES (0)")

    def _version_there(self, connection: PatientConnection) -> int:
        """Return the version of the tables on the server, 0 if there are none. Raises `StoreFault` for that of a newer Penstock."""
        # Not `to_regclass`: in a transaction that has waited for another client's, it still answers from before.
        if not connection.execute(_VERSION_THERE, (SCHEMA,)).fetchone():
            return 0
        return self._version_in(connection.execute("SELECT version FROM schema_version").fetchone())

    def _version_in(self, found: tuple[Any, ...] | None) -> int:
        """Return the version in a row from the server, 0 without one. Raises `StoreFault` for that of a newer Penstock."""
        return schema.known(0 if found is None else int(found[0]), self.url)

    @contextmanager
    def _unhurried(self) -> Iterator[None]:
        """Let statements take as long as the size of the tables requires."""
        connection = self._connected()
        usual, connection.answer_seconds = connection.answer_seconds, inf
        try:
            yield
        finally:
            connection.answer_seconds = usual

    @contextmanager
    def _transaction(self, *, alone: bool) -> Iterator[Execute]:
        """Give a transaction; `alone` excludes every other writer of artifacts, on all machines, until it ends."""
        with self._lock:
            try:
                connection = self._begin()
                if alone:
                    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                yield lambda statement, parameters=(): _run(connection, statement, parameters)
                connection.execute("COMMIT")
            except BaseException as error:
                if self._connection is not None and not self._connection.closed:
                    with suppress(self._psycopg.Error):
                        self._connection.execute("ROLLBACK")
                if isinstance(error, self._psycopg.Error):
                    raise self._translated(error) from error
                raise

    def _writing(self) -> Any:
        return self._transaction(alone=True)

    def _appending(self) -> Any:
        return self._transaction(alone=False)

    def _begin(self) -> PatientConnection:
        """Begin a transaction."""
        connection = self._connected()
        begun = connection.execute(_BEGIN)
        while begun.nextset():
            pass
        self._version_in(begun.fetchone())
        return connection

    def _lasting(self, act: Callable[[], Done], patience: Patience | None = None) -> Done:
        """Return the result of an act, done again if the connection was lost meanwhile: a lost COMMIT may have taken effect.

        Args:
            act: What is done.
            patience: How long the server is waited for; None for the store's own.
        """
        outage, is_overtaken = Outage(patience or self.patience), False
        while True:
            # A connection that the server has dropped since its last use is no outage: another one is opened at once.
            was_connected = self._connection is not None and not self._connection.closed
            try:
                done = act()
            except StoreFault as fault:
                # The record of the winner, which may be ourselves before the answer was lost, is ours or a `Conflict`.
                if fault.code == "raced" and not is_overtaken:
                    is_overtaken = True
                    continue
                at_once = was_connected and fault.code != "busy"
                if not self._is_passing(fault, outage) or not outage.goes_on(fault, at_once=at_once):
                    raise
            else:
                outage.end()
                return done

    def _is_passing(self, fault: StoreFault, outage: Outage) -> bool:
        """Return whether an act that ended with a fault may succeed if it is done again."""
        if fault.code == "read_only":
            # Where we have written, this is a server that another one is taking over from: a new connection leads to that one.
            is_demoted = isinstance(fault.__cause__, self._psycopg.errors.ReadOnlySqlTransaction)
            if is_demoted and self._hold and self._connection is not None:
                self._connection.close()
                return True
        if fault.code == "busy":  # without patience only for our own lost transaction, until the server notices
            return outage.is_begun or self.patience.seconds > 0
        return fault.code == "unreachable"

    def _seen_by_others(self) -> object:
        """Return None, which equals nothing: the head is queried anew each time, one round trip."""
        return None

    def _read(self, statement: str, parameters: Sequence[object] = ()) -> Rows:
        """Run one statement."""
        return self._lasting(partial(self._read_once, statement, parameters))

    def _read_once(self, statement: str, parameters: Sequence[object]) -> Rows:
        with self._lock:
            try:
                return _run(self._connected(), statement, parameters)
            except self._psycopg.Error as error:
                raise self._translated(error) from error

    def _translated(self, error: psycopg.Error) -> StoreFault:
        """Return the first line of a server error as a fault, classified by who can fix it."""
        errors = self._psycopg.errors
        said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if isinstance(error, errors.UniqueViolation):
            return StoreFault("raced", f"{self.url}: another process wrote at the same place.")
        if isinstance(error, errors.DiskFull):
            return StoreFault("disk_full", f"The disk of {self.url} is full: nothing was written.")
        if isinstance(error, errors.LockNotAvailable):
            return StoreFault("busy", f"Another process has been writing to {self.url} for {self._wait_seconds:g} s.")
        if isinstance(error, errors.QueryCanceled | errors.DeadlockDetected):
            return StoreFault("busy", f"{self.url} has ended a statement: {said}.")
        if isinstance(error, errors.ReadOnlySqlTransaction | errors.InsufficientPrivilege):
            return StoreFault("read_only", f"{self.url} may not be written: {said}.")
        # Whatever was said, such as that the transaction stood still for too long: the connection is gone.
        if isinstance(error, self._psycopg.OperationalError) or self._connection is None or self._connection.closed:
            return StoreFault("unreachable", f"{self.url} cannot be reached: {said}.")
        return StoreFault("io_error", f"{self.url}: {said}.")

    # ── content ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _stage(self, content: bytes | Iterable[bytes], limit_bytes: int) -> Staged:
        """Write content into rows, at most `limit_bytes` of it, and measure it meanwhile."""
        written: list[pieces.Content] = []
        held: list[bytes] = []
        left = limit_bytes

        def fill(flush: Callable[[list[bytes]], None]) -> None:
            def write(piece: bytes) -> None:
                nonlocal left
                left -= len(piece)
                if left < 0:
                    raise StoreFault("full", f"More than the {limit_bytes} bytes that {self.url} may hold.")
                held.append(piece)
                if len(held) == _BATCH_PIECES:
                    flush(held)
                    held.clear()

            written.append(pieces.intake(content, write))
            flush(held)

        return Staged(self._staged(fill), written[0])

    def _stage_pieces(self, stored: Iterable[bytes]) -> str:
        """Write pieces into rows, unchanged."""

        def fill(flush: Callable[[list[bytes]], None]) -> None:
            parts = iter(stored)
            while batch := list(islice(parts, _BATCH_PIECES)):
                flush(batch)

        return self._staged(fill)

    def _staged(self, fill: Callable[[Callable[[list[bytes]], None]], None]) -> str:
        """Return the place of rows that `fill` has written.

        Sixteen pieces, 4 MiB, go into one transaction, so that none is long. `pending` marks the place as being filled, so that
        nobody mistakes it for a leftover within a day.
        """
        place, written = secrets.token_hex(16), 0

        def write(first: int, batch: list[bytes]) -> None:
            with self._appending() as execute:
                for number, piece in enumerate(batch, first):
                    execute("INSERT INTO pieces VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (place, number, piece))

        def flush(batch: list[bytes]) -> None:
            nonlocal written
            self._lasting(partial(write, written, batch))
            written += len(batch)

        def mark() -> None:
            with self._appending() as execute:
                execute("INSERT INTO pending (place) VALUES (?) ON CONFLICT DO NOTHING", (place,))

        self._lasting(mark)  # first, and in its own transaction: rows without it are leftovers to every pruning
        try:
            fill(flush)
        except BaseException:
            self._discard(place)
            raise
        return place

    def _publish(self, execute: Execute, staged: Staged) -> str:
        """Make staged rows count, all of them: they are no longer pending."""
        if not execute("DELETE FROM pending WHERE place = ? RETURNING place", (staged.place,)):
            raise self._given_up()
        ((found,),) = execute("SELECT COUNT(*) FROM pieces WHERE place = ?", (staged.place,))
        if found != (count := len(staged.content.pieces)):
            said = f"{self.url} has {found} of the {count} pieces of a content that were sent"
            raise StoreFault("damaged", f"{said}: another server has taken over without the newest. It was not kept.")
        return staged.place

    def _write(self, execute: Execute, contents: Sequence[tuple[bytes, pieces.Content]]) -> list[str]:
        """Write each content into its own rows; before the transaction ends nobody sees them, or mistakes them for leftovers."""
        places = []
        for data, _ in contents:
            places.append(secrets.token_hex(16))
            for number, piece in enumerate(pieces.cut(data)):
                execute("INSERT INTO pieces VALUES (?, ?, ?)", (places[-1], number, piece))
        return places

    def _discard(self, place: str) -> None:
        """Remove rows that were staged; what cannot be reached now is removed by a later pruning."""
        with suppress(StoreFault):  # what failed has waited, and is reported once this ends
            self._lasting(partial(self._remove_once, [place]), Patience())

    def _remove(self, places: list[str]) -> None:
        """Remove the rows of content, unless a content names them; others write between two transactions."""
        for first in range(0, len(places), _BATCH_PLACES):
            self._lasting(partial(self._remove_once, places[first : first + _BATCH_PLACES]))

    def _remove_once(self, places: list[str]) -> None:
        # A writer that never learned whether its transaction was committed discards what it staged: the lock waits for the end of
        # that transaction, and what it published stays.
        with self._writing() as execute:
            # `ANY` takes the whole list in one parameter.
            execute(
                "DELETE FROM pieces p WHERE place = ANY(?) AND NOT EXISTS (SELECT 1 FROM contents c WHERE c.place = p.place)",
                (places,),
            )
            execute("DELETE FROM pending WHERE place = ANY(?)", (places,))

    def _stored(self, place: str, number: int, start: int, count: int) -> bytes | None:
        """Return one piece from its row; None if there is none; rows are found by number and not by byte."""
        del start, count
        found = self._read("SELECT data FROM pieces WHERE place = ? AND n = ?", (place, number))
        return bytes(found[0][0]) if found else None

    def _orphans(self, execute: Execute) -> list[str]:
        """Return places whose writer has been silent for a day, and places that nothing names."""
        rows = execute("SELECT place FROM pending WHERE since < now() - interval '1 day'")
        rows += execute(
            "SELECT DISTINCT place FROM pieces p WHERE NOT EXISTS (SELECT 1 FROM contents c WHERE c.place = p.place) "
            "AND NOT EXISTS (SELECT 1 FROM pending w WHERE w.place = p.place)"
        )
        return [str(place) for (place,) in rows]

    # ── sessions and removal ─────────────────────────────────────────────────────────────────────────────────────

    def _holder(self, execute: Execute) -> str:
        """Return the number of a lock that this connection holds: the server releases it when the connection ends."""
        if not self._hold:
            number = secrets.randbelow(1 << 31)
            execute("SELECT pg_advisory_lock_shared(?, ?)", (_HOLDERS, number))
            self._hold = str(number)
        return self._hold

    def _own_holder(self) -> str:
        return self._hold

    def _is_held(self, execute: Execute, holder: str) -> bool:
        # If it can be locked, nobody holds it; the lock ends with this transaction.
        if holder == self._hold or not holder.isdigit():
            return False
        return not execute("SELECT pg_try_advisory_xact_lock(?, ?)", (_HOLDERS, int(holder)))[0][0]

    def _unnoted(self, sessions: Sequence[str]) -> None:
        """Do nothing: the server keeps its own log, and no note is taken."""

    def _shrink(self) -> None:
        """Do nothing: the server's own vacuum releases space."""

    def remove_sessions(self, sessions: Iterable[str]) -> list[Removal]:
        """Remove sessions for good; `Store.remove_sessions` says more."""
        with self._finished_later():
            return super().remove_sessions(sessions)

    def remove_artifact(self, handle: str) -> Removal:
        """Remove the content of an artifact for good; `Store.remove_artifact` says more."""
        with self._finished_later():
            return super().remove_artifact(handle)

    @contextmanager
    def _finished_later(self) -> Iterator[None]:
        """Name the command that finishes a removal whose connection was lost: what it was to remove may have no name any more."""
        try:
            yield
        except StoreFault as fault:
            if self._connection is not None and not self._connection.closed:
                raise
            said = "What was named may be gone from the lists with its bytes still there: `penstock store gc` takes them away."
            raise StoreFault(fault.code, f"{fault.message} {said}") from fault

    def scrub(self) -> None:
        """Rewrite the tables without what was deleted; `Store.scrub` says more.

        This reaches as far as SQL does: the server's log (`pg_wal`), its replicas and its backups keep their content.
        """
        self._lasting(self._scrub_once)

    def _scrub_once(self) -> None:
        left: list[str] = []
        with self._lock:
            try:
                with self._unhurried():
                    connection = self._connected()
                    # For a table that another role owns, the server only warns that it was skipped.
                    connection.add_notice_handler(lambda said: left.append(said.message_primary or ""))
                    for table in _TABLES:
                        connection.execute(f"VACUUM (FULL) {SCHEMA}.{table}".encode())
                    # The old files of the tables are empty now, and removed at the next checkpoint; few roles may request one.
                    with suppress(self._psycopg.Error):
                        connection.execute("CHECKPOINT")
            except self._psycopg.Error as error:
                fault = self._translated(error)
                if fault.code == "disk_full":
                    said = f"The disk of {self.url} has no room to write its tables again. What was removed is gone from them; its"
                    more = "bytes stay in their files until `penstock store gc` is run where there is room."
                    fault = StoreFault("disk_full", f"{said} {more}")
                raise fault from error
        if left:
            finish = "`penstock store gc` as the role that owns the tables takes them away"
            raise StoreFault("read_only", f"{self.url}: traces of what was removed are left ({left[0]}). {finish}.")

    def _remove_caches(self) -> None:
        """Do nothing: indexes of ranked search are kept only next to stores in folders."""

    def _keep_reserve(self) -> None:
        """Do nothing: the disk is the server's."""

    def _gives_reserve_back(self) -> bool:
        return False

    def _cache_bytes(self) -> int:
        return 0

    def _command_option(self) -> str:
        return ""  # an address may contain a password

    # ── upkeep ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _database_damage(self) -> list[str]:
        """Return nothing: the server checks its own pages, if `data_checksums` (in `facts`) says so."""
        return []

    def facts(self) -> dict[str, str]:
        """Return what durability depends on here: the server's version and settings."""
        names = ("server_version", "fsync", "full_page_writes", "data_checksums", "transaction_read_only")
        said = {name: str(self._read(f"SHOW {name}")[0][0]) for name in names}
        version = str(self._read("SELECT version FROM schema_version")[0][0])
        settings = {"synchronous_commit": "on (asked for by each commit)", "schema": version}
        return {"store": self.url, **said, **settings, **self._clock_facts(), **self._object_facts()}

    def close(self) -> None:
        """Close the connection. The store cannot be used after that."""
        self._closed = True
        connection, self._connection = self._connection, None
        if connection is not None and self._process == os.getpid():
            # The server would release the lock a moment later, and a process that starts right now would find it held.
            with suppress(self._psycopg.Error):
                connection.answer_seconds = _FAREWELL_SECONDS
                connection.execute("SELECT pg_advisory_unlock_all()")
            connection.close()

    def __del__(self) -> None:
        if hasattr(self, "_closed"):
            try:  # noqa: SIM105 - the interpreter may be shutting down: names are gone
                self.close()
            except Exception:  # noqa: BLE001, S110
                pass


@cache
def _placeholders(statement: str) -> bytes:
    """Return a statement with psycopg's placeholders; statements contain no other `?` and no `%`."""
    return statement.replace("?", "%s").encode()


def _run(connection: psycopg.Connection[tuple[Any, ...]], statement: str, parameters: Sequence[object]) -> Rows:
    """Run a statement and return its rows; none if it returns none."""
    cursor = connection.execute(_placeholders(statement), tuple(parameters) or None)
    return cursor.fetchall() if cursor.description is not None else []

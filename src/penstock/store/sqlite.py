"""How is a store kept in one folder? SQLite for what must be one transaction and for small contents, a file for each other content.

One process at a time writes and checkpoints: every write, and the close that checkpoints, happens under a lock (`locks`), because
SQLite before 3.51.3 can damage a database when two connections do it at once. A file is written, renamed, and flushed with its name
before the row that names it is committed; a row is deleted before its file is removed. So a kill leaves at most a file that no row
names, which `prune` removes. Law: what was acknowledged survives; a handle that was given out never dangles (ADR 9;
`docs/durability.md` has the rigs).

Why large content is not in the database: a gigabyte through the write-ahead log is written twice and keeps the log open meanwhile.
"""

from __future__ import annotations

import errno
import os
import shlex
import sqlite3
import sys
import time
from contextlib import closing, contextmanager, suppress
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from penstock.errors import CallerError
from penstock.store import newest_note, schema
from penstock.store.contents import FileTables, fault_of
from penstock.store.holders import Holders
from penstock.store.kept import INDEX_FOLDER, Damaged, StoreFault, Unopened
from penstock.store.outage import Outage
from penstock.workspace import locks
from penstock.workspace.own_files import NotAFolder, OwnFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.store.database import Done, Execute, Rows

DATABASE = "penstock.sqlite3"
"""The name of the database file in the folder."""
APPLICATION_ID = 0x50454E53
"""The mark that distinguishes our databases from others' (SQLite's `application_id`): "PENS"."""
WAIT_SECONDS = 5.0
"""How long a write waits by default for another process that writes, before it raises `StoreFault` (busy)."""
_PARTING_SECONDS = 0.5  # how long it waits once a person has ended what it is for, or the store is closed
# The locked file also holds the note of the newest record, so that lock and note are one file.
_GUARD = "lock"
_RESERVE = "reserve"
# For the log of a removal, which holds each overwritten page: a session of some 400 records at once, a longer one in parts.
_RESERVE_BYTES = 2 << 20
_NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS}
_ERRORS = (sqlite3.Error, UnicodeDecodeError)  # the second if damage makes SQLite return invalid text
_ELSEWHERE = "keep elsewhere: --store FOLDER, or PENSTOCK_STORE."
_FULL = "the disk is full (make some room; then `penstock store gc` makes more)"
# Affects only a database without tables: free pages are released on request.
_NEW_PRAGMAS = ("auto_vacuum = INCREMENTAL",)
_PRAGMAS = (
    "synchronous = FULL",  # on every connection: the file does not store it
    "fullfsync = ON",  # macOS: a flush that reaches the disk; no effect elsewhere
    "checkpoint_fullfsync = ON",
    "secure_delete = ON",  # deleted data is overwritten, not merely unlinked
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "mmap_size = 0",
    "wal_autocheckpoint = 1000",
)


class SqliteStore(FileTables):
    """A store of artifacts and journals in a private folder. Open it once in each process; threads may share it.

    Args:
        path: The folder, created (mode 0700) if missing.
        wait_seconds: How long a write waits for another process that writes; None for `WAIT_SECONDS`.
        may_be_missing: Whether a folder that does not exist and cannot be created is an empty store that can only be read.
        options: Those of `Tables`.

    Raises:
        CallerError: The folder is another user's, shared or on a network, or holds another program's database.
        StoreFault: It cannot be used now.
    """

    def __init__(
        self, path: str, *, wait_seconds: float | None = None, may_be_missing: bool = False, **options: Any
    ) -> None:
        super().__init__(**options)
        self._may_be_missing = may_be_missing
        self._given_wait = wait_seconds
        self.path = os.path.abspath(path)
        self.url = f"sqlite://{self.path}"
        self._database = os.path.join(self.path, DATABASE)
        self._process = os.getpid()
        self._broken = ""  # why nothing more is written
        self._read_only = False
        self._is_opening = True
        self._has_no_room = False  # for the index of the log: each read then takes the database exclusively
        self._connection: sqlite3.Connection | None = None
        self._folder: OwnFolder | None = None
        self._contents: OwnFolder | None = None
        self._guard = -1
        self._holders: Holders | None = None
        self._pending = {}
        self._small_staged = {}
        try:
            self._open()
        except BaseException:
            self.close()
            raise
        self._is_opening = False

    @property
    def _wait_seconds(self) -> float:
        return WAIT_SECONDS if self._given_wait is None else self._given_wait

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _open(self) -> None:
        """Open folder, lock and database, and bring the tables to our version; read-only if nothing may be written."""
        try:
            self._folder = OwnFolder(self.path)
            self._contents = OwnFolder(os.path.join(self.path, "contents"))
            self._guard = _made(self._folder, _GUARD)
            self._holders = Holders(self._folder)
            with self._exclusive():
                self._expect_database()
                # Private from the start; SQLite gives its log the same mode. An existing one is not opened: closing a file releases
                # every lock that this process has on it, including those of another connection.
                with suppress(FileExistsError):
                    os.close(self._folder.create(DATABASE))
                self._expect_permission()
                self._connect_or_read()
                self._lost = self._missing()
                self._leave_to_others()
                self._keep_reserve()
        except NotAFolder as error:
            raise StoreFault("io_error", f"{error}.") from error
        except OSError as error:
            if error.errno not in {errno.EROFS, errno.EACCES, errno.EPERM}:
                fault = fault_of(error)
                raise (self._no_room() if fault.code == "disk_full" and self._is_empty() else fault) from error
            self._open_read_only(error)
        except _ERRORS as error:
            raise self._translated(error) from error

    def _expect_database(self) -> None:
        """Refuse a folder that has lost its database: SQLite would discard the log, and a pruning the contents."""
        log = f"{self._database}-wal"
        if not self._is_empty():
            return
        if (os.path.exists(log) and os.path.getsize(log)) or self._noted() is not None:
            raise self._unopened(f"is {'empty' if os.path.lexists(self._database) else 'gone'}, and it held records")

    def _expect_permission(self) -> None:
        """Raise PermissionError if folder or database may not be written.

        SQLite notices too late, refuses to read as well, and leaves an index that stays unwritable after the permission is back.
        """
        for place in (self.path, self._database):
            if not os.access(place, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), place)

    def _is_empty(self) -> bool:
        """Return whether there is no database yet, or its file is empty."""
        return not os.path.lexists(self._database) or not os.path.getsize(self._database)

    def _unopened(self, why: str) -> Unopened:
        """Return the fault of a database that no command can open: without it the folder is not a new store either."""
        way = f"Put a copy of it back; or move {self.path} away, and the next `penstock run` begins a new store."
        return Unopened(f"{self._database} {why}. {way}")

    def _open_read_only(self, why: OSError) -> None:
        """Open a store that may only be read: on a read-only medium, or with another user's rights."""
        if self._folder is None or self._contents is None:
            if not _is_missing(self.path):
                raise fault_of(why) from why
            if not self._may_be_missing:
                said = f"A store in {self.path} cannot be created: {why.strerror} ({why.filename or self.path})."
                raise StoreFault("read_only", f"{said} Make it writable, or {_ELSEWHERE}") from why
            self._broken = f"{why.filename or self.path} cannot be created ({why.strerror})"
            self._read_only = True
            self._connection = self._opened("")
            self._migrate()
            return
        # `immutable` makes SQLite ignore the log next to the database. Writes that were not merged would silently be missing.
        log = f"{self._database}-wal"
        if os.path.exists(log) and os.path.getsize(log):
            said = f"{self.path} is read-only and holds writes that were not merged yet."
            raise StoreFault("read_only", f"{said} A copy on another disk can be read: --store FOLDER.") from why
        self._read_only = True
        self._connection = self._opened(f"file:{_quoted(self._database)}?mode=ro&immutable=1")
        if self._check_version() < len(schema.SQLITE):
            self._bring_up_a_copy()
        self._lost = self._missing()

    def _bring_up_a_copy(self) -> None:
        """Read the tables of an older Penstock, which cannot be migrated in place, from a copy that ends with the process."""
        older = self._connected()
        # A nameless database is private to SQLite: in memory, and whatever exceeds its cache in a nameless file.
        self._connection = self._opened("")
        older.backup(self._connection)
        older.close()
        self._migrate()

    def _connect_or_read(self) -> None:
        """Open the database, only for reading if the disk is full. The folder's lock is held."""
        self._broken, self._read_only, self._has_no_room = "", False, False
        try:
            self._connect()
            self._migrate()
        except _ERRORS as error:
            fault = self._translated(error)
            if fault.code != "disk_full":
                raise fault from error
            self._connect_alone(fault)
            self._broken, self._read_only, self._has_no_room = _FULL, True, True

    def _connect_alone(self, why: StoreFault) -> None:
        """Open the database for reading if the disk has no room for the index of the log, which its users share.

        A process that has the database exclusively keeps that index in memory (sqlite.org/wal.html, "Use of WAL Without
        Shared-Memory").
        """
        if self._connection is not None:
            self._connection.close()
        self._connection = self._opened(self._database)
        try:
            for pragma in ("locking_mode = EXCLUSIVE", "query_only = ON"):
                self._connection.execute(f"PRAGMA {pragma}")
            if self._check_version() != len(schema.SQLITE):
                raise why
        except _ERRORS as error:
            raise why from error

    def _leave_to_others(self) -> None:
        """Close a database held exclusively by this process: others read it too, and write once there is room."""
        if self._has_no_room and self._connection is not None:
            self._connection.close()

    def _connect(self) -> None:
        """Open the database with the settings on which durability depends."""
        self._connection = self._opened(self._database)
        for pragma in (*_NEW_PRAGMAS, *_PRAGMAS):
            self._connection.execute(f"PRAGMA {pragma}")
        mode = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise StoreFault("io_error", f"{self.path}: SQLite gives {mode} where write-ahead logging is needed.")

    def _opened(self, place: str) -> sqlite3.Connection:
        """Return a connection that threads may share, and that starts no transaction by itself."""
        connection = sqlite3.connect(
            place,
            timeout=self._wait_seconds,
            isolation_level=None,
            check_same_thread=False,
            uri=place.startswith("file:"),
        )
        connection.text_factory = _text
        return connection

    def _check_version(self) -> int:
        """Return the version of the tables. Raises `CallerError` for another program's database, `StoreFault` for a newer one."""
        connection = self._connected()
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        # Ours get their id in the transaction that creates their first table; most programs never set one.
        is_new = not version and not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
        if application != APPLICATION_ID and (application or not is_new):
            raise CallerError(f"{self._database} is another program's database: name another folder")
        return schema.known(version, self.path)

    def _migrate(self) -> None:
        """Bring the tables from any earlier version to ours, in one transaction."""
        connection = self._connected()
        version = self._check_version()
        if version == len(schema.SQLITE):
            return
        # A failure here ends the transaction with the connection, which a store that cannot be opened closes.
        connection.execute("BEGIN IMMEDIATE")
        for step in schema.SQLITE[version:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(schema.SQLITE)}")
        connection.execute("COMMIT")

    def _connected(self) -> sqlite3.Connection:
        """Return the connection. Raises `CallerError` in a forked process: SQLite's locks are not inherited."""
        if self._connection is None:
            raise CallerError("The store is closed.")
        if self._process != os.getpid():
            raise CallerError("A store is not carried into a forked process: open it there.")
        return self._connection

    # ── the single writer ────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def _exclusive(self, wait_seconds: float = inf) -> Iterator[None]:
        """Hold the lock of the folder, among all processes.

        Args:
            wait_seconds: How long to wait, if that is less than what a write waits.

        Raises:
            StoreFault: `busy`: others held it for longer.
        """
        # `flock` cannot wait for a given time, so this polls: at first every half millisecond, then less and less often.
        pause, begun = 0.0005, time.monotonic()
        while not self._guarded():
            most = min(wait_seconds, self._wait_seconds)
            if self.patience.given_up():  # what is still to be written may have to wait for somebody, but not for long
                most = min(most, _PARTING_SECONDS)
            if time.monotonic() - begun > most:
                raise StoreFault("busy", f"Another process has been writing to {self.path} for {most:g} s.")
            time.sleep(pause)
            pause = min(0.02, pause * 2)
        try:
            self._expect_folder()
            yield
        finally:
            try:
                locks.release(self._guard)
            except OSError as error:
                raise fault_of(error) from error

    def _guarded(self) -> bool:
        """Return whether the lock of the folder was acquired. Raises `StoreFault` if locks fail, or if there is no folder."""
        if self._guard < 0:
            self._expect_writable()
        try:
            return locks.acquire(self._guard)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                said = f"{self.path} is on a file system without locks ({error.strerror}), and a store needs them."
                raise StoreFault("io_error", f"{said} Keep it elsewhere: --store FOLDER, or PENSTOCK_STORE.") from error
            raise fault_of(error) from error

    def _expect_folder(self) -> None:
        """Raise `StoreFault` if the folder was removed: what is written to open files would be gone once they are closed."""
        if self._guard >= 0 and not os.fstat(self._guard).st_nlink:
            raise StoreFault("io_error", f"{self.path} was removed while it was open: nothing more is written to it.")

    @contextmanager
    def _writing(self) -> Iterator[Execute]:
        """Give the one writer, in a transaction that is committed and flushed if the block ends without an error."""
        with self._lock:
            self._expect_writable()
            connection = self._connected()
            with self._exclusive():
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    # A newer Penstock may have changed the tables since this one opened them.
                    schema.known(int(connection.execute("PRAGMA user_version").fetchone()[0]), self.path)
                    yield lambda statement, parameters=(): connection.execute(statement, parameters).fetchall()
                    connection.execute("COMMIT")
                    self._mark()
                except BaseException as error:
                    with suppress(sqlite3.Error):
                        if connection.in_transaction:
                            connection.execute("ROLLBACK")
                    if isinstance(error, _ERRORS):
                        raise self._translated(error) from error
                    raise

    _appending = _writing

    def _lasting(self, act: Callable[[], Done]) -> Done:
        """Return the result of an act, done again as long as another process writes and somebody is patient.

        An act that was told `busy` has changed nothing: it had no lock.
        """
        outage = Outage(self.patience)
        while True:
            try:
                done = act()
            except StoreFault as fault:
                if fault.code != "busy" or not outage.goes_on(fault, at_once=False):
                    raise
            else:
                outage.end()
                return done

    def _expect_writable(self) -> None:
        """Raise StoreFault if nothing can be written; a disk that was full is checked again."""
        if self._has_no_room:
            with self._reading():
                pass
        if self._read_only or self._broken:
            why = self._broken or "it can only be read"
            code = "disk_full" if self._has_no_room else "read_only"
            raise StoreFault(code, f"Nothing more is written to {self.path}: {why}.")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for reading; if the disk was full, it is checked again, and held exclusively meanwhile."""
        with self._lock:
            connection = self._connected()
            if not self._has_no_room:
                yield connection
                return
            with self._exclusive():
                self._connect_or_read()
                try:
                    yield self._connected()
                finally:
                    self._leave_to_others()

    # ── the end of the log ───────────────────────────────────────────────────────────────────────────────────────

    def _mark(self) -> None:
        """Note the newest record; while a noted one is missing, the note that says so stays, until that session continues."""
        if self._newest is None:
            return
        if self._lost is not None:
            if self._newest[0] != self._lost[0] or self._newest[1] < self._lost[1]:
                return
            self._lost = None
        newest_note.write(self._guard, self._newest)

    def _missing(self) -> tuple[str, int] | None:
        """Return the newest noted record, if it is missing."""
        noted = self._noted()
        if noted is None:
            return None
        with suppress(sqlite3.Error):  # whoever reads it will be told
            found = self._connected().execute("SELECT 1 FROM records WHERE session = ? AND seq = ?", noted)
            return None if found.fetchone() else noted
        return None

    def _noted(self) -> tuple[str, int] | None:
        """Return the newest noted record; None for an invalid note."""
        assert self._folder is not None  # noqa: S101 - it is opened before the database
        try:
            descriptor = self._folder.open(_GUARD)
        except OSError:
            return None
        try:
            return newest_note.read(descriptor)
        finally:
            os.close(descriptor)

    def _seen_by_others(self) -> object:
        """Return SQLite's number that changes when another connection commits to the same file."""
        with self._reading() as connection:
            # The number is meaningless on a connection that is opened for each read.
            return None if self._has_no_room else connection.execute("PRAGMA data_version").fetchone()[0]

    def _read(self, statement: str, parameters: Sequence[object] = ()) -> Rows:
        return self._lasting(partial(self._read_once, statement, parameters))

    def _read_once(self, statement: str, parameters: Sequence[object]) -> Rows:
        try:
            with self._reading() as connection:
                return connection.execute(statement, parameters).fetchall()
        except _ERRORS as error:
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> StoreFault:
        """Return an SQLite error as a fault, classified by who can fix it."""
        name = getattr(error, "sqlite_errorname", "") or ""
        # After a failed flush nobody knows which pages are on the disk, and the next flush may succeed without them. Nothing more
        # is written until the store is reopened and reads what is there.
        if name.startswith("SQLITE_IOERR"):
            self._broken = f"the disk failed ({error}); open the store again and check it"
        if name == "SQLITE_FULL" or (name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")) and self._is_full()):
            if self._is_opening and self._is_empty():
                return self._no_room()
            more = "Make some room; then `penstock store gc` makes more."
            return StoreFault("disk_full", f"The disk is full: nothing was written to {self.path}. {more}")
        is_corrupt = name.startswith("SQLITE_CORRUPT")
        if name.startswith("SQLITE_NOTADB") or (is_corrupt and self._is_opening):
            return self._unopened(f"is damaged from its first bytes on: {error}")
        if is_corrupt or isinstance(error, UnicodeDecodeError):
            check = f"penstock store check{self._command_option()}"
            return Damaged(f"{self._database} is damaged: {error}. `{check}` names what.")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")):
            return StoreFault("busy", f"Another program holds {self._database}: {error}.")
        # SQLite does not say why a write failed. Linux makes a file system read-only if its disk fails.
        if name.startswith("SQLITE_IOERR") and self._is_read_only_disk():
            return StoreFault("read_only", f"{self.path} can only be read: its disk has become read-only.")
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
            return StoreFault("read_only", f"{self.path} can only be read: {error}.")
        return StoreFault("io_error", f"{self.path}: {error}.")

    def _no_room(self) -> StoreFault:
        """Return the fault of a disk that is too full for a new store: an empty one has nothing to remove."""
        said = f"The disk is full: there is no room for a store in {self.path}."
        fault = StoreFault("disk_full", f"{said} Make some room, or {_ELSEWHERE}")
        fault.calls = ()
        return fault

    def _is_full(self) -> bool:
        """Return whether no space, or no inode, is left: SQLite does not report this for its shared index."""
        if self._folder is None:
            return False
        with suppress(OSError):
            if sys.platform == "win32" or self._folder.descriptor < 0:
                return False
            left = os.fstatvfs(self._folder.descriptor)
            return left.f_bavail == 0 or (left.f_files > 0 and left.f_favail == 0)
        return False

    def _is_read_only_disk(self) -> bool:
        """Return whether the file system of the store takes nothing any more."""
        if sys.platform == "win32" or self._guard < 0:
            return False
        try:
            os.utime(self._guard)  # newer kernels leave the flags of a mount as they were, so only a try shows it
        except OSError as error:
            return error.errno == errno.EROFS
        return False

    # ── sessions and removal ─────────────────────────────────────────────────────────────────────────────────────

    def _holder(self, _execute: Execute) -> str:
        """Return the name of the locked file that shows that this store is open; the folder's lock is held."""
        if self._holders is None:
            raise CallerError("The store is closed.")
        try:
            return self._holders.announce()
        except OSError as error:
            raise fault_of(error) from error

    def _own_holder(self) -> str:
        return "" if self._holders is None else self._holders.own

    def _is_held(self, _execute: Execute, holder: str) -> bool:
        try:
            return self._holders is not None and self._holders.is_held(holder)
        except OSError as error:
            raise fault_of(error) from error

    def _unnoted(self, sessions: Sequence[str]) -> None:
        """Clear the note of the newest record if it belongs to one of these: it would claim that the log lost its end."""
        if self._lost is not None and self._lost[0] in sessions:
            self._lost = None
        noted = self._noted()
        if noted is not None and noted[0] in sessions:
            newest_note.clear(self._guard)

    def _shrink(self) -> None:
        """Release free pages and empty the log; concurrent readers delay that until the next time."""
        with suppress(StoreFault, *_ERRORS), self._lock, self._exclusive():
            connection = self._connected()
            # First the log, which takes room as long as it holds anything, and through which pages are moved.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            # `execute` steps a statement without columns only once, which would free one page.
            connection.executescript("PRAGMA incremental_vacuum")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def scrub(self) -> None:
        """Rewrite the database, without a byte of what was deleted, and empty its log; `Store.scrub` says more."""
        # `secure_delete` overwrites what is deleted now; what is in the gaps of pages from earlier, or from a split page,
        # disappears only when everything is rewritten. The log holds old pages until it is merged and truncated.
        gc = f"penstock store gc{self._command_option()}"
        with self._lock, self._exclusive():
            connection = self._connected()
            try:
                try:
                    for pragma in _NEW_PRAGMAS:
                        connection.execute(f"PRAGMA {pragma}")
                    connection.execute("VACUUM")
                finally:
                    # Also if there is no room to rewrite: the log holds the old content, and takes the room of the next removal.
                    is_read = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except _ERRORS as error:
                fault = self._translated(error)
                if fault.code == "disk_full":
                    said = f"The disk has no room to write {self._database} again. What was removed is gone, and overwritten;"
                    more = f"traces of it may remain between what is kept. Make some room; then `{gc}` takes them away."
                    fault = StoreFault("disk_full", f"{said} {more}")
                raise fault from error
        if is_read:
            raise StoreFault(
                "busy", f"Somebody reads {self.path}: what was removed is in its log still. `{gc}` takes it away later."
            )

    def _remove_caches(self) -> None:
        """Remove the indexes of ranked search: they hold words of files, and the next search rebuilds them."""
        path = os.path.join(self.path, INDEX_FOLDER)
        if not os.path.isdir(path):
            return
        with suppress(OSError, CallerError), closing(OwnFolder(path)) as folder:
            for name in folder.names():
                folder.remove(name)

    def _keep_reserve(self) -> None:
        if self._folder is None or self._read_only:
            return
        # After a failed removal slightly less room is left than was released: the log and its index take some.
        for size in (_RESERVE_BYTES, _RESERVE_BYTES // 2):
            with suppress(OSError, CallerError):
                self._folder.hold_room(_RESERVE, size)
                return

    def _gives_reserve_back(self) -> bool:
        if self._folder is None or _RESERVE not in self._folder.names():
            return False
        try:
            self._folder.remove(_RESERVE)
        except OSError:
            return False
        return True

    def _cache_bytes(self) -> int:
        size = 0
        try:
            with suppress(FileNotFoundError), os.scandir(os.path.join(self.path, INDEX_FOLDER)) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):  # another process is rebuilding one
                        size += entry.stat(follow_symlinks=False).st_size
        except OSError as error:
            raise fault_of(error) from error
        return size

    def _command_option(self) -> str:
        return f" --store {shlex.quote(self.url)}"

    # ── upkeep ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _database_damage(self) -> list[str]:
        """Return the first twenty findings of SQLite's integrity check."""
        try:
            with self._reading() as connection:
                found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)").fetchall()]
        except _ERRORS as error:
            return [str(error)]
        return [reason for reason in found if reason != "ok"]

    def facts(self) -> dict[str, str]:
        """Return what durability depends on here: SQLite's version and the settings in force."""
        version = sqlite3.sqlite_version
        known = tuple(int(part) for part in version.split(".")) < (3, 51, 3)
        return {
            "store": self.url,
            "sqlite": version
            + (" (two writers at once could damage it: writes are made under a lock)" if known else ""),
            "journal_mode": str(self._read("PRAGMA journal_mode")[0][0]),
            "synchronous": ("OFF", "NORMAL", "FULL", "EXTRA")[self._read("PRAGMA synchronous")[0][0]],
            "schema": str(self._read("PRAGMA user_version")[0][0]),
            "read_only": self._broken or str(self._read_only).lower(),
            **self._clock_facts(),
            **self._object_facts(),
        }

    def close(self) -> None:
        """Merge the log into the database and release everything. The store cannot be used after that."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid() and not self._read_only:
                try:
                    with self._exclusive(_PARTING_SECONDS):
                        self._connection.close()
                except (StoreFault, sqlite3.Error):
                    self._close_unmerged(self._connection)
            self._let_go()

    def _close_unmerged(self, connection: sqlite3.Connection) -> None:
        """Close the connection and leave the log to whoever opens the store next.

        Somebody else has the lock, perhaps to copy the folder: they must not see the log being merged. SQLite merges it when the
        last connection closes, so here that is one that may only read. (`SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE` needs Python 3.12.)
        """
        with suppress(sqlite3.Error), closing(self._opened(f"file:{_quoted(self._database)}?mode=ro")) as reader:
            reader.execute("SELECT 1 FROM clock").fetchone()
            connection.close()

    def _let_go(self) -> None:
        """Close whatever is open, in any state."""
        connection, self._connection = self._connection, None
        # A connection is not used across a fork, not even to close it (sqlite.org/howtocorrupt.html).
        if connection is not None and self._process == os.getpid():
            connection.close()
        guard, self._guard = self._guard, -1
        if guard >= 0:
            os.close(guard)
        if self._holders is not None:
            self._holders.close()
        for place in list(self._pending):
            self._unlock(place)
        for folder in (self._folder, self._contents):
            if folder is not None:
                folder.close()
        self._folder = self._contents = None

    def __del__(self) -> None:
        if hasattr(self, "_guard"):
            try:  # noqa: SIM105 - the interpreter may be shutting down: names are gone
                self.close()
            except Exception:  # noqa: BLE001, S110
                pass


def _is_missing(path: str) -> bool:
    """Return whether it is certain that nothing has this name: a folder above it that cannot be searched may hold it."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _made(folder: OwnFolder, name: str) -> int:
    """Return a private file open for writing, created if missing."""
    try:
        return folder.create(name)
    except FileExistsError:
        return folder.open(name, writable=True)


def _text(raw: bytes) -> str:
    """Return a text column, damaged bytes as escapes: a damaged value is readable, and its hash reveals the damage."""
    return raw.decode("utf-8", "backslashreplace")


def _quoted(path: str) -> str:
    """Return a path as a part of a `file:` URL."""
    from urllib.parse import quote

    return quote(path)

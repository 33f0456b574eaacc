"""Stores to test: SQLite in a folder, and PostgreSQL on a server of our own if its programs are installed."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from tests.environments import miss

from penstock.store.postgres import PostgresStore
from penstock.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.store.tables import Tables

USER = "nobody" if os.geteuid() == 0 else None  # PostgreSQL refuses to run as root


MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
"""A folder in memory: a busy disk makes every flush slow, and these tests are about processes, not about the disk."""


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in memory, if there is one."""
    if MEMORY is None:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="penstock-test-", dir=MEMORY) as folder:
        yield Path(folder)


def programs() -> str | None:
    """Return the folder of PostgreSQL's programs, or None."""
    found = shutil.which("initdb")
    if found is not None:
        return os.path.dirname(os.path.realpath(found))
    newest = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    return os.path.dirname(newest[-1]) if newest else None


# Whoever started it closes its input, or ends: also by a signal that nobody handles, as an interrupted run ends its workers.
_AFTERWARDS = 'read -r _; "$0/pg_ctl" -D "$1/data" -w -m immediate stop; rm -rf "$1"'


def ending(programs: str, folder: str) -> subprocess.Popen[bytes]:
    """Return a process that stops the server of a folder and removes the folder, once this process ends or closes its input."""
    return subprocess.Popen(
        ["sh", "-c", _AFTERWARDS, programs, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        user=USER,
        cwd=folder,
        start_new_session=True,
    )


class Server:
    """A PostgreSQL server of our own, on a socket in its own folder."""

    def __init__(self, programs: str) -> None:
        self.programs = programs
        self.folder = tempfile.mkdtemp(prefix="penstock-pg-", dir=MEMORY)
        self.data = os.path.join(self.folder, "data")
        if USER is not None:
            shutil.chown(self.folder, USER)
        self._ending = ending(programs, self.folder)
        self._run(
            "initdb", "-D", self.data, "-U", "penstock", "-A", "trust", "-E", "UTF8", "--no-sync", "--data-checksums"
        )
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [os.path.join(self.programs, program), *arguments],
            check=True,
            cwd=self.folder,
            user=USER,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def start(self) -> None:
        options = (
            f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c synchronous_commit=off -c fsync=off"
        )
        self._run("pg_ctl", "-D", self.data, "-w", "-o", options, "-l", os.path.join(self.folder, "log"), "start")

    def stop(self, how: str = "immediate") -> None:
        self._run("pg_ctl", "-D", self.data, "-w", "-m", how, "stop")

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://penstock@/{database}?host={quote(self.folder, safe='')}"

    def database(self, name: str, template: str = "template1") -> str:
        """Return the URL of a new database, which is empty or a copy of another."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
        return self.url(name)

    def close(self) -> None:
        self._ending.communicate()


def needed_programs() -> str:
    """Return the folder of PostgreSQL's programs; without them skip the test, or fail it if everything is required."""
    folder = programs()
    if folder is None:
        miss("PostgreSQL is not installed (Debian package postgresql)")
    return folder


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Start one server for all tests of a worker."""
    server = Server(needed_programs())
    yield server
    server.close()


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Return the clock of the stores that `opened` opens."""
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Callable[..., Tables]]:
    """Return a function that opens the store under test; each call gives what another process would have."""
    stores: list[Tables] = []
    if request.param == "postgres":
        server: Server = request.getfixturevalue("server")
        url = server.database(os.urandom(8).hex())
    path = str(tmp_path / "store")

    def another(**options: Any) -> Tables:
        options.setdefault("clock", clock)
        store: Tables = SqliteStore(path, **options) if request.param == "sqlite" else PostgresStore(url, **options)
        stores.append(store)
        return store

    yield another
    for store in stores:
        store.close()


@pytest.fixture
def store(opened: Callable[..., Tables]) -> Tables:
    """Return the store under test."""
    return opened()

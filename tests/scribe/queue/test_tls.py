"""Does a queue work as companies run it: verified TLS, a password for each role, and roles with only the documented grants?"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.scribe.queue.conftest import ended, estate, loopback, started, working
from tests.store.conftest import USER, Server, needed_programs

from penstock.scribe.queue.database import Database
from penstock.store import StoreFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.scribe.author import Author

pytestmark = pytest.mark.needs("openssl")
ROLES = ("penstock_starts", "penstock_works", "penstock_looks")


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)


def authority(folder: Path, name: str) -> None:
    """Make a certificate authority."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key")
    openssl(folder, "req", "-x509", *key, "-out", f"{name}.pem", "-days", "2", "-subj", f"/CN={name}")


class TlsServer(Server):
    """A server that accepts only TLS on its port, and nobody without a password; its socket is for the owner."""

    def start(self) -> None:
        folder = Path(self.data)
        if not (folder / "server.pem").exists():
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]
            authority(folder, "ours")
            authority(folder, "strangers")
            key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "server.key")
            openssl(folder, "req", *key, "-out", "server.csr", "-subj", "/CN=db.example")
            (folder / "names").write_text("subjectAltName=DNS:localhost")
            signed = ("-CA", "ours.pem", "-CAkey", "ours.key", "-CAcreateserial", "-extfile", "names")
            openssl(folder, "x509", "-req", "-in", "server.csr", *signed, "-out", "server.pem", "-days", "2")
            (folder / "server.key").chmod(0o600)
            if USER is not None:
                shutil.chown(folder / "server.key", USER)
            (folder / "pg_hba.conf").write_text(
                "local all penstock trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n"
            )
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='{self.folder}' -c fsync=off "
            "-c ssl=on -c ssl_cert_file=server.pem -c ssl_key_file=server.key"
        )
        self._run("pg_ctl", "-D", self.data, "-w", "-o", options, "-l", f"{self.folder}/log", "start")

    def url(self, database: str = "postgres") -> str:
        return f"{super().url(database)}&port={self.port}"

    def far(self, role: str, authority: str = "ours", **more: str) -> str:
        """Return the URL for another machine."""
        about = {
            "sslmode": "verify-full",
            "sslrootcert": f"{self.data}/{authority}.pem",
            "hostaddr": "127.0.0.1",
            **more,
        }
        said = "&".join(f"{name}={value}" for name, value in about.items())
        return f"postgresql://{role}@localhost:{self.port}/queue?{said}"


@pytest.fixture(scope="module")
def tls() -> Iterator[TlsServer]:
    """Start a server with the roles of docs/queue.md, whose passwords are in a file next to it."""
    server = TlsServer(needed_programs())
    try:
        import psycopg

        owner = Database(server.database("queue"))
        owner.migrate()
        owner.close()
        (grants,) = re.findall(
            r"```sql\n(-- roles.*?)```", (Path(__file__).parents[3] / "docs/queue.md").read_text(), re.DOTALL
        )
        with psycopg.connect(server.url("queue"), autocommit=True) as connection:
            connection.execute(grants.encode())
            for role in ROLES:
                connection.execute(f"ALTER ROLE {role} PASSWORD 'of {role}'".encode())
        passwords = Path(server.folder, "passwords")
        passwords.write_text("".join(f"localhost:{server.port}:queue:{role}:of {role}\n" for role in ROLES))
        passwords.chmod(0o600)
        yield server
    finally:
        server.close()


def test_a_run_goes_over_verified_tls_with_a_role_for_each(
    tls: TlsServer, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The roles that start, work and look each connect with their own password, and no connection is in clear."""
    monkeypatch.setenv("PGPASSFILE", f"{tls.folder}/passwords")
    starts, looks = Database(tls.far("penstock_starts")), Database(tls.far("penstock_looks"))
    run = started(starts, estate(1))
    with working(tls.far("penstock_works"), loopback(author)):
        seen = ended(looks, run)
        owner = Database(tls.url("queue"))
        seen_by_server = owner.rows(
            """SELECT usename, bool_and(ssl), count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
               WHERE usename = ANY(%(roles)s) GROUP BY usename""",
            roles=list(ROLES),
        )
        owner.close()
    for one in (starts, looks):
        one.close()
    assert (seen.phase, seen.failed, seen.answered) == ("done", 0, seen.chunks)
    assert {role for role, *_ in seen_by_server} == set(ROLES)
    assert all(is_encrypted for _, is_encrypted, _ in seen_by_server)
    assert sum(count for role, _, count in seen_by_server if role == "penstock_works") >= 2  # ours and the engine's


def test_neither_a_stranger_nor_clear_text_nor_a_wrong_password_comes_through(
    tls: TlsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is told which of these was wrong."""
    monkeypatch.setenv("PGPASSFILE", f"{tls.folder}/passwords")
    for url, said in (
        (tls.far("penstock_works", "strangers"), "certificate verify failed"),
        (tls.far("penstock_works", sslmode="disable"), "no encryption"),
        (tls.far("penstock_works").replace("@localhost", "@db.example"), "does not match host name"),
    ):
        with pytest.raises(StoreFault, match=said):
            Database(url)
    monkeypatch.setenv("PGPASSFILE", "/dev/null")
    with pytest.raises(StoreFault, match="password"):
        Database(tls.far("penstock_works"))

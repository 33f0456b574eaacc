"""Do the page, the metrics for Prometheus and the command line show a queue as it is?"""

from __future__ import annotations

import json
import shlex
import socket
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.scribe.queue.conftest import ended, estate, loopback, started, working

from penstock.call import Call
from penstock.cli import main, queues
from penstock.cli.answer import dialect_of
from penstock.cli.queue_page import page_server
from penstock.scribe.pool import REPLY_TOKENS
from penstock.scribe.queue import limits
from penstock.scribe.queue import progress as progress_module
from penstock.scribe.queue.progress import Cause, MoneyToCome
from penstock.serving.listening import ServedNames

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.scribe.author import Author

    from penstock.scribe.queue.database import Database
    from penstock.scribe.queue.runs import Run


@contextmanager
def served(database: Database, token: bytes = b"") -> Iterator[str]:
    """Serve the page at a local address."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    server = page_server(database, listening, token, None if token else ServedNames("127.0.0.1", port))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{port}/penstock/"
    server.shutdown()
    thread.join()
    server.server_close()


def got(url: str, **headers: str) -> tuple[int, str]:
    asked = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.proves("C-21")
def test_progress_is_a_query_a_page_and_metrics(
    url: str, database: Database, author: Author, capsys: pytest.CaptureFixture[str]
) -> None:
    """All agree on a run; the metrics are read by Prometheus' own parser."""
    run = started(database, estate(1))
    with working(url, loopback(author)):
        seen = ended(database, run)
    with served(database) as address:
        status, page = got(address)
        assert status == 200
        assert "What the workers do" in page
        assert "PROG0" not in page
        status, text = got(f"{address}metrics")
        assert got(f"{address}else")[0] == 404
        assert got(address, Host="evil.example")[0] == 421
        assert got(address, sec_fetch_site="cross-site")[0] == 403
    families = {one.name: one for one in text_string_to_metric_families(text)}
    chunks = {one.labels["state"]: one.value for one in families["penstock_queue_chunks"].samples}
    assert chunks == {"answered": seen.chunks, "failed": 0, "open": 0}
    assert families["penstock_queue_calls"].samples[0].value == seen.calls
    assert main(["queue", "status", "--queue", url]) == 0
    assert f"{seen.answered} answered, 0 failed, 0 open" in capsys.readouterr().out
    assert main(["queue", "status", "--queue", url, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answered"] == seen.answered
    assert main(["queue", "status", "--queue", url, "--prometheus"]) == 0
    assert capsys.readouterr().out == text


def test_without_the_token_nothing_is_told(database: Database) -> None:
    """A wrong token is refused, and without one the page asks for it."""
    started(database, estate(1))
    token = b"t" * 40
    with served(database, token) as address:
        assert "needs its token" in got(address)[1]
        assert got(f"{address}metrics")[0] == 401
        assert got(address, x_penstock_token="u" * 40)[0] == 401
        assert "Who works" in got(address, x_penstock_token="t" * 40)[1]
        assert got(f"{address}metrics", Authorization=f"Bearer {'t' * 40}")[0] == 200


def test_the_bounds_of_the_money_to_come_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any answer the bounds are those of what is possible; afterwards they are two standard errors of what was measured."""
    from penstock.models.prices import price_of

    price = price_of("claude-sonnet-4-5")
    assert price is not None
    sums = progress_module._Sums
    nothing = progress_module._to_come(price, sums(), sums(chunks=10, prompt_tokens=50_000))
    assert nothing is not None
    assert nothing.low == pytest.approx(price.dollars(uncached_tokens=5_000) * 10)
    assert nothing.high == pytest.approx(price.dollars(uncached_tokens=5_000, output_tokens=REPLY_TOKENS) * 30)
    outputs = [500, 700, 600, 800, 400] * 20
    measured = progress_module._to_come(
        price,
        sums(
            paid=100,
            input_tokens=600_000,
            output_tokens=sum(outputs),
            paid_prompt_tokens=500_000,
            squared_output=sum(one**2 for one in outputs),
        ),
        sums(chunks=1_000, prompt_tokens=5_000_000),
    )
    assert measured is not None
    assert measured.low < measured.expected < measured.high
    assert measured.expected == pytest.approx(price.dollars(uncached_tokens=6_000, output_tokens=600) * 1_000)
    assert measured.high / measured.low < 1.1
    assert progress_module._to_come(price, sums(), sums()) == MoneyToCome(0.0, 0.0, 0.0)
    assert progress_module._to_come(None, sums(), sums(chunks=1)) is None


def test_what_a_worker_wrote_as_a_cause_is_inert_in_a_command() -> None:
    """Its role may write anything there, and the command is copied into a shell, from a terminal or the page."""
    shown = Cause("\x1b[2Jx; rm -rf ~ #", 1, "").retry_command(7)
    assert shlex.split(shown) == ["penstock", "queue", "retry", "7", "--cause", "\\x1b[2Jx; rm -rf ~ #"]
    assert Cause("rate_limit", 1, "").retry_command(7) == "penstock queue retry 7 --cause rate_limit"


def test_whoever_types_wrongly_is_told_what_works(
    url: str, database: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each mistake has its own message and status."""
    database.prepare()
    monkeypatch.delenv("PENSTOCK_QUEUE", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("PENSTOCK_QUEUE_LEASE_SECONDS", "inf")
    monkeypatch.setattr(limits, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(limits, "GRANT_SECONDS", 0.0)
    local = ["--base-url", "http://127.0.0.1:9/v1"]
    asking = ["document", "examples/cobol/cbl/MWB010.cbl", "--model", "openai-chat:x", *local]
    for arguments, status, said in (
        (["queue", "status"], 2, "--queue postgresql://HOST/DATABASE"),
        (["queue", "status", "--queue", url], 4, "There is no run in this queue"),
        (["queue", "cancel", "7", "--queue", url], 4, "There is no run 7"),
        (["queue", "migrate", "--to", "99", "--queue", url], 2, "this Penstock knows"),
        (["document", "--finish"], 2, "name it with --queue"),
        (["document", "x", "--run", "3"], 2, "--finish"),
        (["document"], 2, "Missing argument 'PATH...'"),
        (["document", "pyproject.toml", "--queue", url], 2, "--model"),
        (["document", "pyproject.toml", "--queue", url, "--model", "scripted:x"], 2, "openai-chat"),
        (["document", "pyproject.toml", "--queue", url, "--model", "openai-chat:x", "--reconcile"], 2, "needs a key"),
        (["queue", "status", "--queue", "postgresql://127.0.0.1:1/x"], 8, "cannot be reached"),
        (["queue", "limit", "gpt-5", "--queue", url], 2, "openai-chat"),
        ([*asking, "--queue", "postgresql://127.0.0.1:1/x"], 8, "cannot be reached"),
        (["worker", "--queue", url, *local], 2, "86,400"),
    ):
        assert (arguments, main(arguments)) == (arguments, status)
        assert said in capsys.readouterr().err
    for there, named in ((url, ""), (None, f" --queue {shlex.quote(url)}")):
        # A queue from the environment need not be named; a typed one is.
        with monkeypatch.context() as patch:
            patch.setenv("PENSTOCK_QUEUE", there or "postgresql://elsewhere/x")
            assert main(["queue", "cancel", "7", "--queue", url, "--json"]) == 4
        assert json.loads(capsys.readouterr().out)["error"]["try"] == f"penstock queue status{named}"
    assert main(["queue", "status", "1" + "0" * 30, "--queue", url]) == 2
    assert main(["queue", "limit", "openai-chat:x", "--requests", "5", "--queue", url]) == 0
    assert "5 requests a minute" in capsys.readouterr().out
    assert main(["queue", "migrate", "--queue", url]) == 0


def test_a_database_without_a_queue_names_the_command_that_makes_one(
    empty_url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command has the typed queue, but never a password from it."""
    monkeypatch.delenv("PENSTOCK_QUEUE", raising=False)
    assert main(["queue", "status", "--queue", empty_url, "--json"]) == 8
    error = json.loads(capsys.readouterr().out)["error"]
    assert "holds no queue yet" in error["message"]
    assert error["try"] == f"penstock queue migrate --queue {shlex.quote(empty_url)}"
    assert dialect_of(queue_url="postgresql://a:b@c/d").write(Call("queue migrate")).endswith(" --queue URL")


def test_a_cancelled_run_has_one_status(
    url: str,
    database: Database,
    author: Author,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The status is the same for every command; the one that makes the site was not interrupted itself."""
    monkeypatch.delenv("PENSTOCK_QUEUE", raising=False)
    run = started(database, estate(1, 4))
    with working(url, loopback(author)):
        ended(database, run)
    database.rows("UPDATE runs SET phase = 'cancelled'")
    assert main(["queue", "status", "--queue", url]) == 6
    assert main(["document", "--finish", "--queue", url, "--out", str(tmp_path / "site")]) == 6
    assert f"penstock queue retry {run.id} --queue URL" in capsys.readouterr().err


def test_whoever_started_a_run_follows_it_without_another_address_to_prove(
    url: str, author: Author, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection too many, or an outage between the start of a run and following it, ended the follower at once."""
    (tmp_path / "a.cbl").write_bytes(estate(1, 4).files[0].data)
    monkeypatch.chdir(tmp_path)
    start = queues.start_run

    def refuse(*_: object, **__: object) -> None:
        raise psycopg.OperationalError("too many connections")

    def started_in_time(*arguments: Any, **how: Any) -> Run:
        run = start(*arguments, **how)
        monkeypatch.setattr(psycopg, "connect", refuse)  # of those in a pool, none is made by this
        return run

    with working(url, loopback(author)) as worker:
        while not worker.database.rows("SELECT 1 FROM workers"):
            time.sleep(0.02)
        monkeypatch.setattr(queues, "start_run", started_in_time)
        assert main(["document", ".", "--model", "openai-chat:loopback", "--queue", url, "--out", "site"]) == 0


@pytest.mark.proves("C-21")
def test_what_a_person_types_makes_a_site(
    url: str, author: Author, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`document --queue` enqueues, follows and makes the site, with all flags of chunks and no key; `--finish` makes it again."""
    for one in estate(1, 4).files:
        (tmp_path / one.path).parent.mkdir(exist_ok=True)
        (tmp_path / one.path).write_bytes(one.data)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with working(url, loopback(author)):
        typed = ["document", ".", "--model", "openai-chat:loopback", "--queue", url]
        flags = [
            "--max-prompt-tokens",
            "2500",
            "--tokenizer",
            "o200k",
            "--adaptive",
            "--urgency",
            "3",
            "--window",
            "100000",
        ]
        assert main([*typed, *flags, "--out", "site"]) == 0
    shown = capsys.readouterr()
    assert "1 program" in shown.out
    assert "run 1 of" in shown.err
    assert (tmp_path / "site/index.html").exists()
    assert main(["document", "--finish", "--queue", url, "--out", "again", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["queue"]["phase"] == "done"
    assert (tmp_path / "again/index.html").read_bytes() == (tmp_path / "site/index.html").read_bytes()

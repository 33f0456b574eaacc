"""Do `penstock guard`, `page`, `find` and `store` work as people and scripts use them?"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import time
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.screens import typed
from tests.forks import warm_penstock

from penstock.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

LINES = "".join(f"line {n}\n" for n in range(20_000))


class Shell:
    """A shell that runs commands with their own store."""

    def __init__(self, folder: Path) -> None:
        self.environment = {**os.environ, "PENSTOCK_STORE": str(folder / "store")}
        self.folder = folder

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*warm_penstock(), *arguments],
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __call__(self, *arguments: str, given: bytes = b"", status: int = 0) -> str:
        done = typed(*arguments, cwd=self.folder, stdin=given, environment=self.environment)
        assert done.returncode == status, done.stderr
        return done.stdout or done.stderr

    def json(self, *arguments: str, given: bytes = b"", status: int = 0) -> dict[str, Any]:
        found = json.loads(self(*arguments, "--json", given=given, status=status))
        assert isinstance(found, dict)
        return found


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Return a shell with a store."""
    return Shell(tmp_path)


@pytest.mark.proves("G-2", "G-3")
def test_a_pipe_is_cut_kept_and_read_back(shell: Shell) -> None:
    """The command that the notice prints works as it is."""
    text = shell("guard", "--chars", "600", "--keep", "ends", "--name", "job", given=LINES.encode())
    assert len(text) <= 600
    assert text.startswith("[OUTPUT TRUNCATED]\nTool 'job' returned ~")
    handle = text.split("penstock page ")[1].split(";")[0]
    page = shell("page", handle, "--offset", "100", "--limit", "2")
    assert page.splitlines()[0].startswith(f"{handle}: showing lines 101-102 of 20000 total")
    assert page.splitlines()[1:] == ["line 100", "line 101"]
    assert shell("page", handle, "--raw") == LINES
    assert shell("page", handle, "--raw", "--start-byte", "7", "--max-bytes", "6") == LINES[7:13]
    assert shell("page", handle, "--raw", "--offset", "1", "--limit", "1") == "line 1\n"
    assert "1 matching line" in shell("find", handle, "^line 777$")
    shell("find", handle, "nothing like it", status=1)


@pytest.mark.proves("G-2")
@pytest.mark.proves("G-3", "H-1")
@pytest.mark.parametrize("flags", [(), ("--budget", "9500")])
def test_pages_that_no_terminal_reads_are_what_a_host_shows(shell: Shell, flags: tuple[str, ...]) -> None:
    """A host cuts what a command prints: 64 KiB arrived as 2 in Claude Code, and the next page began after the 64."""
    text = shell("guard", "--chars", "600", given=LINES.encode())
    most = int(flags[-1]) if flags else 28_000
    call, read = ["page", text.split("penstock page ")[1].split(";")[0], *flags], ""
    while call:
        page = shell(*call)
        assert len(page.encode()) <= most
        header, _, body = page.partition("\n")
        read += body
        call = header.split("next: penstock ")[1].split() if "next: " in header else []
    assert read == LINES
    found = shell("find", text.split("penstock page ")[1].split(";")[0], "line", "--limit", "500", *flags)
    assert len(found.encode()) <= most
    assert ("--budget 9500" in found) == bool(flags)


def test_what_fits_passes_as_it_is(shell: Shell) -> None:
    """No store is made for it."""
    assert shell("guard", given=b"small\n") == "small\n"
    assert shell("guard", "--tokens", "50", given=b"small") == "small"
    assert not (shell.folder / "store").exists()


@pytest.mark.proves("G-2")
def test_tokens_are_counted_by_their_upper_bound(shell: Shell) -> None:
    """The flag is that of the issue's first example."""
    text = shell("guard", "--tokens", "300", "--keep", "tail", given=LINES.encode())
    assert text.rstrip("\n").endswith("line 19999")
    from penstock.text.tokens import count

    assert count(text).high <= 300
    shell("guard", "--tokens", "300", "--chars", "5", given=b"", status=2)


@pytest.mark.proves("G-2")
def test_an_endless_pipe_ends_after_so_many_seconds(shell: Shell) -> None:
    """Output up to then is shown and kept."""
    with shell.start("guard", "--chars", "500", "--seconds", "1.5", "--json") as process:
        assert process.stdin is not None
        started = time.monotonic()
        process.stdin.write(LINES.encode())
        process.stdin.flush()
        assert process.stdout is not None
        said = json.loads(process.stdout.read())
        assert time.monotonic() - started < 30
        process.wait(30)
        process.stdin.close()
    assert (said["ended"], said["whole_lines"], process.returncode) == ("seconds", 20_000, 0)


@pytest.mark.proves("G-2")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_prints_what_has_come(shell: Shell, number: signal.Signals) -> None:
    """The exit status says so, after the result and the way to the whole."""
    with shell.start("guard", "--chars", "500") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(2):  # the second can be written only while the first is being read
            process.stdin.write(LINES.encode() * 5)
            process.stdin.flush()
        time.sleep(0.3)
        process.send_signal(number)
        text = process.stdout.read().decode()
        assert process.wait(30) == 130
        process.stdin.close()
    assert text.startswith("[OUTPUT TRUNCATED]")
    handle = text.split("penstock page ")[1].split(";")[0]
    assert shell("page", handle, "--offset", "19999", "--limit", "1").endswith("line 19999\n")


@pytest.mark.proves("G-3")
def test_more_than_is_kept_is_counted(shell: Shell) -> None:
    """The first and last half are kept, in two artifacts."""
    said = shell.json("guard", "--chars", "600", "--keep-bytes", "1000", given=LINES.encode())
    assert said["lost_bytes"] == len(LINES) - 1_000
    first, last = (shell("page", handle, "--raw") for handle in said["handles"])
    assert (first, last) == (LINES[:500], LINES[-500:])


@pytest.mark.proves("G-3")
@pytest.mark.parametrize("why", ["broken", "held"])
def test_where_nothing_can_be_kept_all_passes_and_the_status_says_so(shell: Shell, why: str) -> None:
    """A pipe is read once, so cut text without a way back would be lost. Another writer is waited for one second."""
    url = shell.folder / "file"
    with ExitStack() as stack:
        if why == "broken":
            url.write_text("x")
        else:
            store = stack.enter_context(closing(SqliteStore(str(url))))
            stack.enter_context(store._exclusive())
        began = time.monotonic()
        done = typed(
            *("guard", "--chars", "600", "--store", str(url)),
            cwd=shell.folder,
            stdin=LINES.encode(),
            environment=shell.environment,
        )
        assert time.monotonic() - began < 20
        assert (done.returncode, done.stdout) == (8, LINES)
        assert done.stderr.startswith("penstock guard: it passed uncut, because it could not be kept: ")
        assert why == "broken" or "for 1 s." in done.stderr
    if why == "broken":
        told = shell.json("guard", "--chars", "600", "--store", str(url), given=LINES.encode(), status=8)
        assert told["text"] == LINES, "who asked for JSON has no other way to it either"
        assert told["fault"] in done.stderr
        sizes = told["is_cut"], told["whole_bytes"], told["whole_lines"], told["handles"]
        assert sizes == (False, len(LINES), LINES.count("\n"), [])
        assert told["shown_tokens"] == told["whole_tokens"] > 0
        odd = b"\xff\xe2\x82" * 300 + '\u20ac \U0001f600\n"'.encode() * 200
        told = shell.json("guard", "--chars", "600", "--store", str(url), given=odd, status=8)
        assert told["text"] == odd.decode("utf-8", "backslashreplace")


def test_a_listing_says_which_outputs_hold_secrets_and_never_shows_one(shell: Shell) -> None:
    """The list has kinds and counts, over blocks of a megabyte; the output itself is whole."""
    key = "ghp_" + "aB3dE5fG7h" * 3 + "123456"
    held = LINES * 12 + f"export TOKEN={key}\n" + LINES + f'password = "hunter2hunter2"\nsee {key}\n'
    assert len(held) > 2 << 20
    for given in (held, LINES):
        shell("guard", "--chars", "500", given=given.encode())
    plain, marked = shell.json("store", "list", "--secrets")["items"]
    assert plain["secrets"] == {}
    assert marked["secrets"] == {"GitHub token": 2, "secret": 1}
    assert "secrets" not in shell.json("store", "list")["items"][0]
    told = shell("store", "list", "--secrets")
    assert "2 GitHub token, 1 secret" in told
    assert "none" in told
    assert key not in told
    assert shell("page", marked["handle"], "--raw") == held


@pytest.mark.proves("G-3")
def test_the_store_is_looked_after(shell: Shell) -> None:
    """List, size, prune and check work for people and for scripts."""
    shell("store", "list", status=1)
    handles = shell.json("guard", "--chars", "500", given=LINES.encode())["handles"]
    listed = shell.json("store", "list")
    assert listed["total"] == 1
    (item,) = listed["items"]
    assert [item["handle"]] == handles
    assert item["digest"] == hashlib.sha256(LINES.encode()).hexdigest()
    assert "1 artifact" in shell("store", "list")
    assert shell.json("store", "size")["bytes"] == len(LINES)
    assert shell.json("store", "prune")["compressed"] == 1
    assert "compressed" in shell("store", "prune")
    assert shell.json("store", "check")["sound"] is True
    assert "1 artifact of" in shell("store", "size")
    next((shell.folder / "store" / "contents").iterdir()).write_bytes(b"x")
    assert shell.json("store", "check", status=1)["damage"][0]["name"] == item["handle"]
    assert "1 damaged" in shell("store", "check", status=1)


def test_another_store_is_named_in_the_next_call(shell: Shell) -> None:
    """A printed continuation works as it is."""
    other = str(shell.folder / "other one")
    text = shell("guard", "--chars", "600", "--store", other, given=LINES.encode())
    assert f"--store '{other}'" in text
    handle = text.split("penstock page ")[1].split(" ")[0]
    assert f"--store '{other}'" in shell("page", handle, "--limit", "1", "--store", other)
    shell("page", handle, status=4)


def test_json_is_one_object_with_the_keys_of_a_page(shell: Shell) -> None:
    """Scripts rely on these keys."""
    (handle,) = shell.json("guard", "--chars", "500", given=LINES.encode())["handles"]
    page = shell.json("page", str(handle), "--offset", "5", "--limit", "1")
    assert (page["text"], page["start_line"], page["total_lines"]) == ("line 5\n", 6, 20_000)
    assert page["next"] == {"handle": handle, "offset": 6, "limit": 1}
    found = shell.json("find", str(handle), "^line 1999[89]$")
    assert [match["line"] for match in found["matches"]] == [19_999, 20_000]
    for asked in (("page", "nothing"), ("find", "nothing", "x"), ("store", "rm", "nothing")):
        error = shell.json(*asked, status=4)["error"]
        assert (error["code"], error["try"]) == ("not_found", "penstock store list")
    assert shell.json("find", str(handle), "(", status=2)["error"]["code"] == "bad_pattern"

"""With `penstock guard --shell-file`, does a shell started by a coding agent send its commands through the guard?"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.guard import shell_file
from penstock.store import open_store
from penstock.text.calls import handle_in

pytestmark = [pytest.mark.needs("bash"), pytest.mark.proves("H-2")]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the file, made as the docs say, with its own store."""
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("PENSTOCK_GUARDED", raising=False)
    made = [sys.executable, "-m", "penstock", "guard", "--chars", "9000", "--shell-file"]
    at = tmp_path / "a folder" / "guard.bash"
    at.parent.mkdir()
    at.write_text(subprocess.run(made, capture_output=True, text=True, check=True, timeout=60).stdout)
    at.chmod(0o755)
    return str(at)


def by_environment(file: str, text: str, *arguments: str, flags: str = "-c") -> subprocess.CompletedProcess[str]:
    """Run a command as Codex, Gemini CLI and opencode start it."""
    environment = {**os.environ, "BASH_ENV": file, "HOME": os.path.dirname(file)}
    command = ["bash", flags, text, *arguments]
    given = Path(file).with_name("input")
    given.write_text("in\n")
    with given.open() as there:
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=60, check=False, stdin=there
        )


def test_a_guard_and_a_page_within_have_no_more_room_than_the_shell(file: str) -> None:
    """Rules tell a model to type `penstock guard`, and its notice to type `penstock page`: neither is cut a second time."""
    ours = shlex.join([sys.executable, "-m", "penstock"])
    cut = by_environment(file, f"{ours} guard -- seq 60000").stdout
    assert len(cut) <= 9_000
    assert cut.count("penstock page ") == 1
    page = by_environment(file, f"{ours} page {handle_in(cut)}").stdout
    assert page.startswith(f"{handle_in(cut)}: showing lines 1-")
    assert 8_000 < len(page) <= 9_000


@pytest.mark.parametrize("flags", ["-c", "-lc"])
def test_a_flood_of_a_failing_command_is_cut_and_kept(flags: str, file: str, tmp_path: Path) -> None:
    """Its status stays, and both outputs stay separate."""
    done = by_environment(file, "seq 60000; cat; echo wrong >&2; exit 3", flags=flags)
    assert (done.returncode, done.stderr) == (3, "wrong\n")
    assert len(done.stdout) <= 9_000
    assert done.stdout.endswith("60000\nin\n")
    store = open_store(str(tmp_path / "store"))
    handle = handle_in(done.stdout)
    assert store.read(handle, 0, 1 << 20).decode() == "".join(f"{number}\n" for number in range(1, 60_001)) + "in\n"
    store.close()


@pytest.mark.parametrize(
    ("flags", "text", "status", "shown"),
    [("-ec", "false; echo on", 1, ""), ("-uc", 'echo "[$NOPE]"', 127, ""), ("-lec", "false; echo on", 1, "")],
)
def test_the_shells_own_options_stay(flags: str, text: str, status: int, shown: str, file: str) -> None:
    """A host that starts it with -e wants it to end at the first failure."""
    done = by_environment(file, text, flags=flags)
    assert (done.returncode, done.stdout) == (status, shown), done.stderr
    environment = {**os.environ, "BASH_ENV": file}
    piped = ["bash", "-o", "pipefail", "-c", "false | true"]
    assert (
        subprocess.run(
            piped, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False, timeout=60
        ).returncode
        == 1
    )


@pytest.mark.parametrize("kind", ["a pipe", "a socket"])
def test_what_a_host_talks_to_is_not_guarded(kind: str, file: str) -> None:
    """A server or a hook configured as a shell line speaks a protocol, of any length, and answers at once."""
    text = f"exec {shlex.quote(sys.executable)} -c 'print(input() * 20000, flush=True); input()'"
    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen(
        ["bash", "-c", text],
        env={**os.environ, "BASH_ENV": file},
        stdin=subprocess.PIPE if kind == "a pipe" else theirs.fileno(),
        stdout=subprocess.PIPE,
        text=True,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        if server.stdin is None:
            ours.sendall(b"x\n")
        else:
            server.stdin.write("x\n")
            server.stdin.flush()
        assert server.stdout.readline() == "x" * 20_000 + "\n", "before its input has ended"
        server.kill()


def test_arguments_and_what_the_command_starts_are_as_without_it(file: str) -> None:
    """A shell within the command is read by a program, which needs all of it."""
    done = by_environment(
        file, 'echo "$0 $1"; bash -c "seq 60000" | wc -l; shopt -q login_shell || echo no', "me", "a b"
    )
    assert done.stdout == "me a b\n60000\nno\n"
    assert by_environment(file, "shopt -q login_shell && echo login", flags="-lc").stdout == "login\n"


def test_a_script_is_left_alone(file: str, tmp_path: Path) -> None:
    """An MCP server that is a script speaks a protocol."""
    script = tmp_path / "server"
    script.write_text("#!/usr/bin/env bash\nseq 60000\n")
    script.chmod(0o755)
    done = subprocess.run([script], env={**os.environ, "BASH_ENV": file}, capture_output=True, check=True, timeout=60)
    assert done.stdout.count(b"\n") == 60_000


def test_without_penstock_commands_run_as_ever(file: str, tmp_path: Path) -> None:
    """It was uninstalled, but its file stayed."""
    at = tmp_path / "a folder" / "guard.bash"
    at.write_text(at.read_text().replace(sys.executable, "/no/such/program"))
    assert by_environment(file, "seq 60000").stdout.count("\n") == 60_000
    prefixed = subprocess.run([file, f"seq 60000 && pwd -P >| {tmp_path}/cwd"], capture_output=True, check=True)
    assert prefixed.stdout.count(b"\n") == 60_000


def test_as_a_prefix_it_guards_the_models_commands_and_nothing_else(file: str, tmp_path: Path) -> None:
    """Claude Code also puts it before hooks and MCP servers; only commands record the folder in which they end."""
    guarded = subprocess.run(
        [file, f"eval 'cd /; seq 60000; false' < /dev/null; s=$?; true && pwd -P >| '{tmp_path}/cwd'; exit $s"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert guarded.returncode == 1
    assert guarded.stdout.startswith("[OUTPUT TRUNCATED]")
    assert (tmp_path / "cwd").read_text() == "/\n"
    server = subprocess.run([file, "seq 60000"], capture_output=True, check=True, timeout=60)
    assert server.stdout.count(b"\n") == 60_000


def test_a_program_in_a_folder_with_a_blank_is_found(file: str, tmp_path: Path) -> None:
    """Such folders are usual on macOS."""
    program = tmp_path / "my programs" / "penstock"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m penstock "$@"\n')
    program.chmod(0o755)
    (tmp_path / "a folder" / "guard.bash").write_text(shell_file.write([str(program)], ["--chars=9000"]))
    done = by_environment(file, "seq 60000")
    assert done.stderr == ""
    assert done.stdout.startswith("[OUTPUT TRUNCATED]")

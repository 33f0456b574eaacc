"""Does a program behind `penstock guard -- COMMAND` end, print and stop as without it, except for what is too long?"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.screens import on_terminal

from penstock.cli.guarding import guard_command
from penstock.store import open_store
from penstock.text.calls import handle_in
from penstock.workspace import scratch

GUARD = (sys.executable, "-m", "penstock", "guard")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs here are of a POSIX system")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Provide a new store of the user."""
    url = str(tmp_path / "store")
    monkeypatch.setenv("PENSTOCK_STORE", url)
    return url


def ran(*command: str, **how: Any) -> subprocess.CompletedProcess[str]:
    """Run a command behind the guard, with its outputs piped, as a host does."""
    return subprocess.run([*GUARD, *command], capture_output=True, text=True, timeout=60, check=False, **how)


@pytest.mark.proves("H-2")
@pytest.mark.parametrize("status", [0, 1, 7, 130, 255])
def test_exit_status_and_both_outputs_are_the_programs(status: int, store: str) -> None:
    """They stay separate, and no store is made if nothing is cut."""
    done = ran("--", "sh", "-c", f"cat; echo out; echo err >&2; exit {status}", input="in\n")
    assert (done.returncode, done.stdout, done.stderr) == (status, "in\nout\n", "err\n")
    assert not os.path.exists(store)


@pytest.mark.proves("H-2")
def test_what_a_shell_hands_on_under_a_number_reaches_the_program(store: str, tmp_path: Path) -> None:
    """`diff <(…) <(…)` and the jobs of `make` need it, for reading and for writing."""
    (tmp_path / "in").write_text("from four\n")
    script = f"{shlex.join(GUARD)} -- sh -c 'cat <&4 >&3; echo done' 3>out 4<in && cat out"
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\nfrom four\n", "")


@pytest.mark.proves("H-2")
def test_a_flood_on_each_output_is_cut_and_kept_whole(store: str) -> None:
    """Together they take what one result may."""
    done = ran("--", "sh", "-c", "seq 60000; seq 70000 >&2; exit 3")
    assert done.returncode == 3
    assert len(done.stdout) + len(done.stderr) <= 28_000
    kept = open_store(store)
    for text, last in ((done.stdout, 60_000), (done.stderr, 70_000)):
        assert text.startswith("[OUTPUT TRUNCATED]\nTool 'sh' returned")
        assert text.endswith(f"\n{last}\n"), "what went wrong stands at the end"
        handle = handle_in(text)
        whole = kept.read(handle, 0, kept.info(handle).bytes)
        assert whole.decode() == "".join(f"{number}\n" for number in range(1, last + 1))
    kept.close()


@pytest.mark.proves("G-1", "H-2")
def test_tokens_of_a_command_are_estimated_as_the_environment_says(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """This is the same as for a pipe."""
    monkeypatch.setenv("PENSTOCK_CHARS_PER_TOKEN", "2")
    assert "Tool 'seq' returned ~294447 tokens, " in ran("--", "seq", "100000").stdout
    both = ran("--chars", "900", "--", "sh", "-c", "seq 100000; seq 100000 >&2")
    said = re.search(r"returned ~294447 tokens, showing first and last ~(\d+)\.", both.stdout)
    assert said is not None
    shown = sum(len(line) + 1 for line in both.stdout.splitlines() if line.isdigit())
    assert 2 * int(said[1]) == pytest.approx(shown, abs=4)


@pytest.mark.proves("G-3", "H-2")
def test_a_handle_without_room_is_printed_to_the_error_output(store: str) -> None:
    """What is withheld has a way back; the status is the command's."""
    done = ran("--chars", "10", "--", "sh", "-c", "seq 10000; exit 3")
    assert (done.returncode, len(done.stdout)) == (3, 10)
    assert "10 characters cannot hold even a notice that names the handle" in done.stderr
    handle = done.stderr.partition("Try: penstock page ")[2].split()[0]
    kept = open_store(store)
    assert kept.info(handle).bytes == 48_894
    kept.close()


@pytest.mark.proves("H-2")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGSEGV])
def test_a_program_that_a_signal_ends_is_seen_to_end_by_it(number: signal.Signals, store: str) -> None:
    """A process that waits for the guard sees the same as for the program."""
    done = ran("--", "sh", "-c", f"echo so far; kill -{number.value} $$")
    assert (done.returncode, done.stdout) == (-number, "so far\n")


@pytest.mark.proves("H-2")
@pytest.mark.parametrize("name", ["TERM", "INT", "USR1", "ALRM", "PROF", "ABRT", "RTMIN"])
def test_signals_reach_the_program(name: str, store: str, tmp_path: Path) -> None:
    """A host that stops a command stops the program behind the guard, which may clean up and end as it likes."""
    number = getattr(signal, f"SIG{name}")
    there = tmp_path / "there"
    script = f"trap 'echo cleaned; exit 9' {int(number)}; echo ready; : > '{there}'; while :; do sleep 0.05; done"
    with subprocess.Popen(
        [*GUARD, "--", "sh", "-c", script], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as guarded:
        until = time.monotonic() + 60
        while not there.exists() and time.monotonic() < until:
            time.sleep(0.02)
        guarded.send_signal(number)
        said = guarded.communicate(timeout=30)[0]
    assert (guarded.returncode, said) == (9, "ready\ncleaned\n")


EARLY = """
import os, pathlib, signal, subprocess, sys, time
from penstock.cli import main

class Program(subprocess.Popen):
    def __init__(self, *how, **more):
        super().__init__(*how, **more)
        while not pathlib.Path(sys.argv[1]).exists():
            time.sleep(0.02)
        signal.raise_signal(signal.SIGINT)

subprocess.Popen = Program
sys.exit(main(["guard", "--", "sh", "-c", sys.argv[2]]))
"""
ELSEWHERE = """
import signal, sys, threading
from penstock.guard import output, program
from penstock.text.allowance import Allowance
from penstock.text.calls import CommandLine
from penstock.text.fitting import Keep

def watched(parts):
    for part in parts:
        if b"ready" in part:
            signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        yield part

ran = program.run(
    ["sh", "-c", sys.argv[2]], Allowance.chars(9_000), Keep.ENDS,
    name="sh", open_store=sys.exit, keep_bytes=9_000, dialect=CommandLine(), watched=watched,
)
print(ran.stdout.result.text, end="")
sys.exit(ran.status)
"""


@pytest.mark.proves("H-2")
@pytest.mark.parametrize(("number", "where"), [(signal.SIGINT, EARLY), (signal.SIGUSR1, ELSEWHERE)])
def test_no_signal_is_lost_however_it_comes(number: signal.Signals, where: str, store: str, tmp_path: Path) -> None:
    """One arrives while the program is being started; another goes to another thread while the first one waits."""
    there = tmp_path / "there"
    script = f"trap 'echo cleaned; exit 9' {int(number)}; echo ready; : > '{there}'; while :; do sleep 0.05; done"
    done = subprocess.run(
        [sys.executable, "-c", where, str(there), script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (9, "ready\ncleaned\n"), done.stderr


def state_of(process: int) -> str:
    """Return the kernel's state of a process: T if it is stopped."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def becomes(process: int, state: str) -> bool:
    """Return whether the process reaches that state within ten seconds."""
    until = time.monotonic() + 10
    while not (is_so := state_of(process) in state) and time.monotonic() < until:
        time.sleep(0.02)
    return is_so


@pytest.mark.proves("H-2")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody tells of a stop without taking the end")
@pytest.mark.parametrize("to", ["the guard", "the program"])
@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP])
def test_both_stop_and_go_on_together(to: str, number: signal.Signals, store: str, tmp_path: Path) -> None:
    """A process that waits for the guard sees a stopped program, and wakes it by waking the guard."""
    if (to, number) == ("the guard", signal.SIGSTOP):
        pytest.skip("nobody can hand on a stop that nobody can handle")
    script = "echo $$ > pid; while ! test -e go; do sleep 0.05; done; echo done; exit 7"
    # In a session of its own a stop from a terminal is ignored: the kernel assumes that nobody could wake it.
    command = ["sh", "-c", '"$@"; exit $?', "sh", *GUARD, "--", "sh", "-c", script]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, cwd=tmp_path, process_group=0
    ) as shell:
        try:
            until = time.monotonic() + 10
            while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
                assert time.monotonic() < until
                time.sleep(0.05)
            program = int((tmp_path / "pid").read_text())
            guard = int(Path(f"/proc/{program}/stat").read_text().rpartition(")")[2].split()[1])
            for _ in range(3):  # the next stop may come as soon as the program continues
                os.kill(guard if to == "the guard" else program, number)
                assert becomes(program, "T")
                assert becomes(guard, "T")
                os.kill(guard, signal.SIGCONT)
                assert becomes(program, "SR")
            (tmp_path / "go").touch()
            said = shell.communicate(timeout=30)[0]
        finally:
            if shell.poll() is None:
                os.killpg(shell.pid, signal.SIGKILL)
    assert (shell.returncode, said) == (7, "done\n")


@pytest.mark.proves("H-2")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody tells of a stop without taking the end")
@pytest.mark.needs("bash")
def test_a_shell_stops_it_and_brings_it_back_as_any_job(store: str, tmp_path: Path) -> None:
    """With Ctrl-Z, `jobs` and `fg`, and the output in a file, the guard is between the shell and the program."""
    # Only shell builtins are used: a shell that is starting a program by `vfork` cannot be stopped, guarded or not.
    script = ": > up; read line < go; echo done"
    os.mkfifo(tmp_path / "go")
    go = os.open(tmp_path / "go", os.O_RDWR)
    line = f"{shlex.join(GUARD)} -- sh -c '{script}' > out; echo status $?\n"
    shell, terminal = pty.fork()
    if not shell:
        os.chdir(tmp_path)
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], {**os.environ, "PS1": "> ", "TERM": "dumb"})
    drawn = b""

    def until_drawn(words: bytes) -> None:
        nonlocal drawn
        until = time.monotonic() + 20
        while words not in drawn:
            assert time.monotonic() < until, drawn
            if select.select([terminal], [], [], 0.2)[0]:
                drawn += os.read(terminal, 4_096)

    os.write(terminal, line.encode())
    until = time.monotonic() + 20
    while not (tmp_path / "up").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    os.write(terminal, b"\x1a")
    until_drawn(b"Stopped")
    os.write(go, b"on\n")
    time.sleep(0.3)
    assert (tmp_path / "out").read_text() == "", "the program is stopped, too"
    os.write(terminal, b"fg; echo st''atus $?\n")
    until_drawn(b"status 0")
    assert (tmp_path / "out").read_text() == "done\n"
    os.write(terminal, b"exit\n")
    os.close(terminal)
    os.close(go)
    os.waitpid(shell, 0)


@pytest.mark.proves("H-2")
def test_what_is_ignored_stays_ignored(store: str) -> None:
    """Under `nohup` a hangup ends neither the guard nor the program."""
    with subprocess.Popen(
        [*GUARD, "--", "sh", "-c", "sleep 2.5; echo done"],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # noqa: PLW1509 - no thread runs here
    ) as guarded:
        time.sleep(1.5)
        guarded.send_signal(signal.SIGHUP)
        said = guarded.communicate(timeout=30)[0]
    assert (guarded.returncode, said) == (0, "done\n")


@pytest.mark.proves("H-2")
@pytest.mark.parametrize("left", ["sleep 30", "while :; do echo more; sleep 0.1; done"], ids=["silent", "chatty"])
def test_what_a_program_leaves_behind_delays_nobody(left: str, store: str, tmp_path: Path) -> None:
    """A server in the background keeps the pipe open although the program itself has ended."""
    started = time.monotonic()
    done = ran("--", "sh", "-c", f"echo started; ({left}) & echo $! > pid; exit 5", cwd=tmp_path)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert (done.returncode, done.stdout.splitlines()[0]) == (5, "started")
    assert time.monotonic() - started < 20


@pytest.mark.proves("H-2")
def test_what_a_program_leaves_behind_lives_on(store: str, tmp_path: Path) -> None:
    """It prints into a pipe that nobody reads any more, and does not die of it; what comes at once is still shown."""
    done = ran("--", "sh", "-c", "(sleep 1; echo late; sleep 3; echo unseen; touch alive) & echo early", cwd=tmp_path)
    assert done.stdout == "early\nlate\n"
    until = time.monotonic() + 20
    while not (tmp_path / "alive").exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert (tmp_path / "alive").exists()


@pytest.mark.proves("H-2")
def test_with_nobody_to_read_the_program_runs_all_the_same(store: str, tmp_path: Path) -> None:
    """A closed output concerns only the program."""
    line = f"{' '.join(GUARD)} -- sh -c 'touch ran; exit 4' >&-"
    assert subprocess.run(["sh", "-c", line], cwd=tmp_path, check=False, timeout=60).returncode == 4
    assert (tmp_path / "ran").exists()


@pytest.mark.proves("H-2")
@pytest.mark.parametrize(
    ("script", "output", "status"),
    [
        ("exec yes", "stdout", -signal.SIGPIPE),
        ("exec yes >&2", "stderr", -signal.SIGPIPE),
        ("trap '' PIPE; while echo y; do :; done 2> said; exit 5", "stdout", 5),
        ("trap '' PIPE; echo y 2> said; exit 3", "stdout", 3),
    ],
)
def test_a_reader_that_leaves_ends_the_program_as_without(
    script: str, output: str, status: int, store: str, tmp_path: Path
) -> None:
    """Unread output is not collected for ever; a program that needs no reader continues, and reports its status."""
    ends = []
    for before in ((*GUARD, "--"), ()):
        left, written = os.pipe()
        os.close(left)
        outputs = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, output: written}
        with subprocess.Popen([*before, "sh", "-c", script], cwd=tmp_path, **outputs) as running:  # type: ignore[call-overload]
            os.close(written)
            try:
                ends.append(running.wait(timeout=20))
            finally:
                running.terminate()
    assert ends == [status, status]


@pytest.mark.proves("H-2")
def test_colours_are_off_and_control_characters_inert(store: str) -> None:
    """A model can use neither."""
    done = ran(
        "--",
        "sh",
        "-c",
        r'printf "%s %s \033[31mred" "$NO_COLOR" "$TERM"',
        env={**os.environ, "TERM": "xterm-256color"},
    )
    assert done.stdout == r"1 dumb \x1b[31mred"


@pytest.mark.proves("H-2")
def test_on_a_terminal_the_program_has_it_to_itself(store: str, tmp_path: Path) -> None:
    """This is for an editor or a pager, started by a person."""
    command = (*GUARD, "--", "sh", "-c", "test -t 1 && test -t 2 && echo a terminal")
    status, drawn = on_terminal(command, cwd=tmp_path)
    assert status == 0
    assert drawn == "a terminal\n"


@pytest.mark.proves("H-2")
@pytest.mark.parametrize(("command", "status"), [("no-such-program", 127), ("./folder", 126)])
def test_what_cannot_be_run_is_said_as_a_shell_does(command: str, status: int, store: str, tmp_path: Path) -> None:
    """The status is the one that scripts look for."""
    (tmp_path / "folder").mkdir()
    done = ran("--", command, cwd=tmp_path)
    assert done.returncode == status
    assert command in done.stderr
    assert done.stdout == ""


def test_flags_after_the_command_are_its_own(store: str) -> None:
    """This also holds without `--`."""
    assert ran("echo", "--json", "--tokens", "x").stdout == "--json --tokens x\n"


@pytest.mark.proves("H-2")
@pytest.mark.parametrize(("end", "status"), [("exit 4", 4), ("kill -TERM $$", -signal.SIGTERM)])
def test_a_program_gets_one_object_with_its_status(end: str, status: int, store: str) -> None:
    """This is for scripts; the status is the same as without `--json`."""
    done = ran("--json", "--", "sh", "-c", f"echo out; {end}")
    value = json.loads(done.stdout)
    assert (value["status"], done.returncode) == (status, status)
    assert (value["stdout"]["text"], value["stderr"]["text"]) == ("out\n", "")


def test_seconds_are_for_a_pipe(store: str) -> None:
    """The error names what would work."""
    done = ran("--seconds", "3", "--", "true")
    assert done.returncode == 2
    assert "timeout" in done.stderr


@pytest.mark.proves("H-2")
@pytest.mark.parametrize("why", ["no folder", "a file"])
def test_what_cannot_be_kept_passes_uncut(why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both outputs are as the program wrote them, with its status and the reason: a cut without a handle would lose the rest."""
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("PENSTOCK_STORE", "/proc/none" if why == "no folder" else str(tmp_path / "file"))
    done = ran("--", "sh", "-c", "seq 200000; seq 70000 >&2; exit 5")
    assert done.returncode == 5
    assert done.stdout == "".join(f"{number}\n" for number in range(1, 200_001))
    flood = "".join(f"{number}\n" for number in range(1, 70_001))
    assert done.stderr.startswith(flood)
    assert "penstock guard: it passed uncut, because it could not be kept: " in done.stderr.removeprefix(flood)
    told = json.loads(ran("--json", "--", "sh", "-c", "seq 200000; seq 70000 >&2; exit 5").stdout)
    assert [(told[name]["text"], told[name]["is_cut"]) for name in ("stdout", "stderr")] == [
        (done.stdout, False),
        (flood, False),
    ]
    assert told["status"] == 5
    assert all(
        told[name]["whole_bytes"] == len(told[name]["text"]) and told[name]["fault"] for name in ("stdout", "stderr")
    )


@pytest.mark.proves("H-2")
def test_in_json_what_finds_no_room_anywhere_is_counted(
    store: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """There is no store, and the file for uncut output takes only a part: the beginning is there, and the rest is a number."""
    monkeypatch.setenv("PENSTOCK_STORE", "/dev/null/none")

    write, opened = os.write, scratch.scratch_file
    small: set[int] = set()

    def scratch_file() -> int:
        small.add(descriptor := opened())
        return descriptor

    def written(descriptor: int, part: Any) -> int:
        room = 50_000 - os.fstat(descriptor).st_size if descriptor in small else len(part)
        return write(descriptor, part[: max(0, room)])

    monkeypatch.setattr(scratch, "scratch_file", scratch_file)
    monkeypatch.setattr(os, "write", written)
    assert guard_command.main(["--json", "--", "seq", "200000"], standalone_mode=False) == 0
    shown = json.loads(capfd.readouterr().out)["stdout"]
    assert shown["text"] == "".join(f"{number}\n" for number in range(1, 200_001))[:50_000]
    assert (shown["is_cut"], shown["lost_bytes"], shown["whole_bytes"]) == (True, 1_238_895, 1_288_895)


@pytest.mark.proves("H-2")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
@pytest.mark.parametrize(("command", "status"), [("echo hi; exit 5", 5), ("echo hi", 8), ("echo hi >&2; exit 6", 6)])
def test_an_output_that_cannot_be_written_is_reported_and_the_status_stays(
    command: str, status: int, store: str
) -> None:
    """A failure of the program keeps its status; a success fails for the caller that waits for its output."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*GUARD, "--", "sh", "-c", command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
            env=buffered,
        )
    assert done.returncode == status
    is_lost = ">&2" not in command
    assert ("what sh printed could not be written: No space left on device" in done.stderr) is is_lost
    assert ("hi" in done.stderr) is not is_lost


@pytest.mark.proves("H-2")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a program that its parent is gone")
def test_a_guard_that_is_killed_takes_its_program_along(store: str) -> None:
    """A host that kills what it started leaves nothing of it running, although no signal can be handed on."""
    command = "import os, time; print(os.getpid(), file=open('pid', 'w')); time.sleep(60)"
    folder = Path(store).parent
    running = subprocess.Popen([*GUARD, "--", sys.executable, "-c", command], stdout=subprocess.PIPE, cwd=folder)
    while not (folder / "pid").is_file() or not (folder / "pid").read_text().endswith("\n"):
        time.sleep(0.02)
    running.kill()
    assert running.communicate(timeout=20)[0] == b"", "the program would hold its output open"
    left = Path("/proc", (folder / "pid").read_text().strip())
    until = time.monotonic() + 10
    while left.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert not left.exists()

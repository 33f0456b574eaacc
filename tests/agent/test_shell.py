"""Does a command see only its root, and leave nothing behind but its files?"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import tracemalloc
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.leftovers import nothing_left_open

from penstock.agent import listening, sandbox
from penstock.agent.home import make_home
from penstock.agent.shell import Shell
from penstock.context.activity import actions
from penstock.errors import CallerError
from penstock.store import open_store
from penstock.text.fitting import Guarded
from penstock.wires import load
from penstock.workspace import landlock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.session.effects import Acted
    from penstock.store import Store
    from penstock.wires import Transcript


def _makes_namespaces() -> bool:
    """Return whether bubblewrap works here; True if it is not installed."""
    program = shutil.which("bwrap")
    command = [program or "", "--ro-bind", "/", "/", "--unshare-all", "true"]
    return program is None or subprocess.run(command, capture_output=True, check=False).returncode == 0


has_landlock = landlock.abi() >= sandbox.LANDLOCK_ABI and sandbox.filters_system_calls()
WALLS = (
    pytest.param("landlock", marks=pytest.mark.skipif(not has_landlock, reason="this kernel offers no such Landlock")),
    pytest.param(
        "bubblewrap",
        marks=[
            pytest.mark.needs("bwrap"),
            pytest.mark.skipif(not _makes_namespaces(), reason="no namespaces can be made here, as in a chroot"),
        ],
    ),
)
"""The walls, each of which keeps every promise."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.txt").write_text("not yours")
    (tmp_path / "root/a.txt").write_text("yours\n")
    return tmp_path / "root"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(str(tmp_path / "store"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[str, str]]:
    """Return a function that tries a wall once for all tests, so that not every test needs an extra command."""

    @cache
    def found(wall: str) -> tuple[str, str]:
        shell = Shell(tmp_path_factory.mktemp("tried"), confinement=wall)
        shell.close()
        return shell.confinement, shell._wall

    return found


@pytest.fixture(params=WALLS)
def shell(
    request: pytest.FixtureRequest, folder: Path, store: Store, tried: Callable[[str], tuple[str, str]]
) -> Iterator[Shell]:
    wall = tried(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Shell, "_chosen", lambda *_: wall)
        made = Shell(folder, store=store, confinement=request.param)
    yield made
    made.close()


def run(shell: Shell, command: str) -> Acted:
    return shell.run("run_command", {"command": command})


def conversation(result: str) -> Transcript:
    """Return a transcript with one call of the tool and its result, as an agent has it."""
    call = {"id": "1", "type": "function", "function": {"name": "run_command", "arguments": '{"command": "make"}'}}
    messages = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "1", "content": result}]
    return load(messages, "openai-chat")


def output(shell: Shell, command: str) -> str:
    return run(shell, command).text.partition("\n\n")[2]


def python(shell: Shell, code: str) -> str:
    """Return the output of code run by the Python of this test, which commands may read."""
    return output(shell, f"{sys.executable} -I -c '{code}' 2>&1").strip()


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("command", "code"), [("exit 0", 0), ("cat missing", 1), ("exit 7", 7), ("kill -TERM $$", 143)]
)
def test_the_exit_code_is_stated_where_it_is_looked_for(shell: Shell, command: str, code: int) -> None:
    """The exit code comes first, apart from the output; a nonzero one is an answer, not a failure of the tool."""
    done = run(shell, f"echo 'exit code: 99'; {command}")
    assert done.text.startswith(f"exit code: {code} | ")
    assert done.text.splitlines()[2] == "exit code: 99"
    assert not done.failed
    assert done.what.startswith(f"run_command: exit code: {code} | ")
    (action,) = actions(conversation(done.text))
    assert (action.kind, action.exit_code, action.failed) == ("run", code, code != 0)


def test_output_and_errors_come_in_the_order_of_their_writing(shell: Shell) -> None:
    """Both go to one stream, as on a terminal; input is empty, and a closed pipe ends its writer."""
    assert output(shell, "echo one; echo two >&2; echo three; cat; yes | head -n 1") == "one\ntwo\nthree\ny\n"


def test_a_command_that_closes_its_output_is_waited_for(shell: Shell) -> None:
    """The end of the output is not the end of the command."""
    assert run(shell, "exec >&- 2>&-; sleep 0.3; touch done; exit 5").text.startswith("exit code: 5")
    assert (Path(shell.root) / "done").exists()


def test_a_long_output_is_shown_by_its_ends_and_kept_whole(shell: Shell, store: Store) -> None:
    """The shown ends are within the allowance, with a way to the rest; the guard of tools leaves the result as it is."""
    done = run(shell, "seq 1 100000")
    assert isinstance(done.text, Guarded)
    assert done.text.bounds_itself
    assert len(done.text.encode()) <= 28_000
    assert "[OUTPUT TRUNCATED]" in done.text
    assert done.text.rstrip().endswith("\n100000")
    (kept,) = store.artifacts()
    assert done.handles == (kept.handle,)
    assert store.read(kept.handle, 0, 1 << 20) == "".join(f"{n}\n" for n in range(1, 100_001)).encode()


def test_a_flood_takes_no_memory(shell: Shell) -> None:
    """Of 32 MB only the ends are in memory, and as much as the store writes at once."""
    tracemalloc.start()
    try:
        done = run(shell, "head -c 33554432 /dev/zero | tr '\\0' x")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert done.text.startswith("exit code: 0 | ")
    assert "33554432 bytes" in done.text
    assert peak < 16 << 20


def test_where_nothing_can_be_kept_the_output_is_shown_and_says_so(folder: Path) -> None:
    """If the store fails, the rest of the output is lost, but the command succeeds."""

    def failing() -> Store:
        raise OSError("no space left")

    shell = Shell(folder, store=failing, allowance_bytes=1000)
    done = run(shell, "seq 1 10000")
    shell.close()
    assert done.text.startswith("exit code: 0 | ")
    assert "The rest could not be kept: no space left" in done.text
    assert len(done.text) <= 1000


def test_a_command_that_the_system_cannot_start_is_a_result(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no more processes ends no session; the next command may run."""
    shell = Shell(folder)

    def full(*_: object, **__: object) -> int:
        raise OSError(11, "Resource temporarily unavailable")

    with monkeypatch.context() as patch, nothing_left_open():
        patch.setattr(os, "posix_spawn", full)
        done = run(shell, "echo fine")
    assert (done.failed, done.is_refusal, done.text) == (
        True,
        True,
        "The command was not run: Resource temporarily unavailable.",
    )
    assert output(shell, "echo fine") == "fine\n"
    shell.close()


def test_where_descriptors_run_out_none_is_left_open(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session goes on after a command that could not be started: what each attempt left open would add up."""
    shell, pipe = Shell(folder), os.pipe
    made: list[tuple[int, int]] = []

    def scarce() -> tuple[int, int]:
        if made:
            raise OSError(24, "Too many open files")
        made.append(pipe())
        return made[0]

    with monkeypatch.context() as patch, nothing_left_open():
        patch.setattr(os, "pipe", scarce)
        assert run(shell, "echo fine").text == "The command was not run: Too many open files."
    assert output(shell, "echo fine") == "fine\n"
    shell.close()


# ── what it can reach ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_root_is_its_own(shell: Shell, folder: Path) -> None:
    """A command reads and writes files in its root, and makes and runs programs there."""
    said = output(
        shell,
        "pwd; cat a.txt; mkdir -p b/c; printf '#!/bin/sh\\necho made' > b/c/run; chmod +x b/c/run; b/c/run; mv b/c/run b; rm a.txt",
    )
    assert said == f"{folder}\nyours\nmade\n"
    assert (folder / "b/run").exists()
    assert not (folder / "a.txt").exists()


@pytest.mark.parametrize(
    "command",
    [
        "cat ../outside/a.txt",
        "cat {outside}/a.txt",
        "ls {outside}",
        "ls .. | grep outside",
        "ln -s {outside}/a.txt link && cat link",
        "ln {outside}/a.txt hard && cat hard",
        "cp {outside}/a.txt .",
        "cat /etc/hostname",
        "cat /etc/shadow",
        "cat /proc/{host}/environ",
        "dd if=/proc/{host}/mem bs=1 count=1",
        "ls /proc/{host}/cwd/",
    ],
)
def test_nothing_outside_can_be_read(shell: Shell, tmp_path: Path, command: str) -> None:
    """Files, folders, links that lead out and the kernel's information on other processes cannot be read."""
    done = run(shell, command.format(outside=tmp_path / "outside", host=os.getpid()))
    assert not done.text.startswith("exit code: 0")
    assert "not yours" not in done.text


@pytest.mark.parametrize(
    "command",
    [
        "echo mine > {outside}/a.txt",
        "echo mine >> {outside}/a.txt",
        "truncate -s 0 {outside}/a.txt",
        "rm {outside}/a.txt",
        "mv {outside}/a.txt .",
        "mv a.txt {outside}/b.txt",
        "touch {outside}/b.txt",
        "mkdir {outside}/b",
        "ln a.txt {outside}/b.txt",
        "ln -s a.txt {outside}/b.txt",
        "mknod device b 8 0",
        "mkdir /usr/mine && rmdir /usr/mine",  # harmless if a mutant removes the wall
        ": >> /etc/passwd",
    ],
)
def test_nothing_outside_can_be_written(shell: Shell, tmp_path: Path, command: str) -> None:
    """Files outside cannot be created, changed, truncated, or moved in or out."""
    done = run(shell, command.format(outside=tmp_path / "outside"))
    assert not done.text.startswith("exit code: 0")
    assert [(file.name, file.read_text()) for file in (tmp_path / "outside").iterdir()] == [("a.txt", "not yours")]


def test_a_folder_that_is_named_can_be_read_and_run_and_not_written(folder: Path, tmp_path: Path) -> None:
    """A toolchain in a home folder can be named; it is also on the search path."""
    tool = tmp_path / "outside/tool"
    tool.write_text("#!/bin/sh\necho tool\n")
    tool.chmod(0o755)
    shell = Shell(folder, readable=[tmp_path / "outside"])
    try:
        assert output(shell, f"{tool}; touch {tool.parent}/b.txt 2>/dev/null || echo no") == "tool\nno\n"
    finally:
        shell.close()


def test_a_folder_of_programs_is_found_by_a_link(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of a tool's current version is: the link itself lies where a command sees nothing."""
    (tmp_path / "tools-1.2").mkdir()
    (tmp_path / "tools-1.2/greet").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "tools-1.2/greet").chmod(0o755)
    (tmp_path / "current").symlink_to("tools-1.2")
    monkeypatch.setenv("PATH", f"{tmp_path}/current", prepend=":")
    with closing(Shell(folder, readable=[tmp_path / "current"])) as shell:
        assert output(shell, "greet") == "hello\n"


def test_the_environment_is_clean(shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment has five variables; of ours only the readable parts of the search path remain."""
    monkeypatch.setenv("PENSTOCK_SECRET", "s3cret")
    monkeypatch.setenv("PATH", f"/home/somebody/bin:{folder}/bin:relative:/usr/bin:/bin")
    said = dict(line.split("=", 1) for line in output(shell, "env").splitlines())
    said = {
        name: value for name, value in said.items() if name not in {"PWD", "OLDPWD", "SHLVL", "_"}
    }  # set by the shell itself
    home = said.pop("HOME")
    assert said == {"PATH": f"{folder}/bin:/usr/bin:/bin", "TMPDIR": home, "LANG": "C.UTF-8", "TERM": "dumb"}


def test_home_is_a_folder_of_its_own_and_goes_with_the_shell(shell: Shell) -> None:
    """HOME is private, the same for every command, and removed even if a command made a part of it unreadable."""
    home = Path(output(shell, "mkdir -p ~/a/b; ln -s / ~/a/c; touch ~/a/b/d; chmod 000 ~/a; echo ~").strip())
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert output(shell, "ls ~") == "a\n"
    shell.close()
    assert not home.exists()
    shell.close()


def test_no_open_file_of_ours_is_handed_on(shell: Shell, tmp_path: Path) -> None:
    """Not even a descriptor that a library left inheritable is passed on."""
    descriptor = os.open(tmp_path / "outside/a.txt", os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        said = python(shell, f"import os; print(os.read({descriptor}, 9))")
    finally:
        os.close(descriptor)
    assert said.endswith("Bad file descriptor")


_CONNECT = """
import socket, sys
def tried(action):
    try: action()
    except OSError as error: return type(error).__name__
    return "done"
def stream(): socket.create_connection(("127.0.0.1", PORT), 2)
def datagram(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", PORT))
def local(): socket.socket(socket.AF_UNIX).connect("PATH")
def abstract(): socket.socket(socket.AF_UNIX).connect("\\0NAME")
def letter():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", "LETTERS")
def pair():
    one, other = socket.socketpair()
    one.sendall(b"x"); assert other.recv(1) == b"x"
def host(): socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
print(tried(stream), tried(datagram), tried(local), tried(abstract), tried(letter), tried(host), tried(pair))
"""


def test_there_is_no_network(shell: Shell, folder: Path, tmp_path: Path) -> None:
    """No address, name or service socket can be reached, no datagram sent, and no host of a virtual machine."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as letters,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        port, name = server.getsockname()[1], f"penstock-{os.getpid()}"
        datagrams.bind(("127.0.0.1", port))
        local.bind(str(tmp_path / "outside/s"))
        abstract.bind(f"\0{name}")
        letters.bind(str(tmp_path / "outside/l"))
        for one in (local, abstract):
            one.listen()
        for waiting in (server, local, abstract, letters, datagrams):
            waiting.setblocking(False)
        code = _CONNECT.replace("PORT", str(port)).replace("NAME", name)
        code = code.replace("PATH", str(tmp_path / "outside/s")).replace("LETTERS", str(tmp_path / "outside/l"))
        (folder / "connect.py").write_text(code)
        tried = output(shell, f"{sys.executable} -I connect.py").split()
        assert tried[-1] == "done"
        assert tried[0] != "done"
        assert {*tried[2:-1]}.isdisjoint({"done"})
        for waiting in (server, local, abstract):
            with pytest.raises(BlockingIOError):
                waiting.accept()
        for waiting in (letters, datagrams):  # in a separate network a datagram is lost
            with pytest.raises(BlockingIOError):
                waiting.recv(1)


def test_a_socket_that_goes_before_it_is_covered_leaves_no_file(
    shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """bubblewrap makes an empty file to mount on; a file that somebody else has put there stays."""
    gone, other = folder / "gone", folder / "other"
    other.write_text("theirs")
    monkeypatch.setattr("penstock.agent.shell.listening", lambda folders: [str(gone), str(other)])
    assert output(shell, "echo fine").strip() == "fine"
    assert not gone.exists()
    assert other.read_text() == "theirs"


def test_the_heads_of_the_table_of_sockets_are_no_socket() -> None:
    """Its last is "Path", which would count from the current folder of every process."""
    assert "Path" not in listening._named()


def test_a_socket_in_the_root_leads_to_nobody(shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever listens there is outside: an agent with keys, a container engine, an editor. What nobody listens on is a file."""
    (folder / "in").mkdir()
    monkeypatch.chdir(folder / "in")
    with (
        socket.socket(socket.AF_UNIX) as absolute,
        socket.socket(socket.AF_UNIX) as relative,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as letters,
        socket.socket(socket.AF_UNIX) as left,
    ):
        for one, name in (
            (absolute, f"{folder}/a b"),
            (relative, "r"),
            (letters, f"{folder}/l"),
            (left, f"{folder}/old"),
        ):
            one.bind(name)
        left.close()
        absolute.listen()
        relative.listen()
        code = """if True:
            import os, socket
            for kind, name in ((1, "a b"), (1, "in/r"), (2, "l")):
                try:
                    socket.socket(socket.AF_UNIX, kind).connect(name)
                except OSError:
                    print("refused", end=" ")
            os.unlink("old")"""
        assert python(shell, code).strip() == "refused refused refused"
        for one in (absolute, relative):
            one.setblocking(False)
            with pytest.raises(BlockingIOError):
                one.accept()
    assert not (folder / "old").exists()
    assert stat.S_ISSOCK((folder / "a b").stat().st_mode)


@pytest.mark.skipif(landlock.abi() < 6, reason="before Landlock 6 signals are not held back")
def test_a_command_signals_only_what_it_has_started(shell: Shell) -> None:
    """A command can signal neither us nor the process next to it, but its own children."""
    said = output(shell, f"kill -9 $PPID; kill -9 {os.getpid()}; sleep 60 & kill $!; wait $!; echo $?")
    assert said.endswith("143\n")


def test_root_is_one_in_name_only(shell: Shell) -> None:
    """A command of root's has none of root's capabilities."""
    (line,) = python(shell, 'import re; print(open("/proc/self/status").read())').split("CapEff:\t")[1:] or ["0"]
    assert int(line.split()[0], 16) == 0
    assert not run(shell, "chown 1 a.txt").text.startswith("exit code: 0") or os.geteuid() != 0


@pytest.mark.parametrize("setting", ["sys/kernel/core_pattern", "sys/vm/swappiness", "pressure/io", "mtrr"])
def test_settings_of_the_kernel_cannot_be_written(shell: Shell, setting: str) -> None:
    """These settings belong to the whole machine and to root: `core_pattern` names a program that the kernel runs outside."""
    assert not run(shell, f": >> /proc/{setting}").text.startswith("exit code: 0")


# ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────────


LEFT_BEHIND = {
    "in the background": "sleep 300 &",
    "in a session of its own": "setsid sleep 300 &",
    "by a child that has ended": "(sleep 300 &)",
    "by a daemon": "(setsid sh -c 'sleep 300 & exec sleep 301' &)",
    "deaf": "nohup sh -c 'trap \"\" TERM HUP INT; sleep 300; sleep 301' &",
    "and stopped": "sleep 300 & kill -STOP $!",
}
HOLDS_ON = "exec 9> held; "


@pytest.mark.parametrize("how", LEFT_BEHIND)
def test_no_process_is_left_behind(shell: Shell, folder: Path, how: str) -> None:
    """Whatever a command does to escape, the last process that held the pipe is gone when the call returns."""
    os.mkfifo(folder / "held")
    reader = os.open(folder / "held", os.O_RDONLY | os.O_NONBLOCK)
    assert run(shell, HOLDS_ON + LEFT_BEHIND[how]).text.startswith("exit code: 0")
    assert os.read(reader, 1) == b""
    os.close(reader)


def late(folder: Path, command: str, wall: str = "auto") -> Acted:
    shell = Shell(folder, seconds=0.5, confinement=wall)
    try:
        return run(shell, command)
    finally:
        shell.close()


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize(
    "command", ["sleep 300", "trap '' TERM; setsid sleep 300 & wait", "yes", "while :; do (setsid sleep 300 &); done"]
)
def test_at_its_deadline_a_command_is_ended_whole(folder: Path, wall: str, command: str) -> None:
    """A command ends at its deadline if it is silent, ignores signals, floods its output, or multiplies."""
    os.mkfifo(folder / "held")
    reader = os.open(folder / "held", os.O_RDONLY | os.O_NONBLOCK)
    done = late(folder, HOLDS_ON + command, wall)
    assert done.failed
    assert done.text.startswith("exit code: 137 | ")
    assert "not finished in 0.5 s, all that a command may take: it was ended" in done.text
    assert os.read(reader, 1) == b""
    os.close(reader)


def begun(folder: Path) -> Path:
    """Make a pipe that says when a command has begun."""
    os.mkfifo(folder / "begun")
    return folder / "begun"


def test_an_interrupt_from_elsewhere_ends_the_command(shell: Shell, folder: Path) -> None:
    """The call returns the output so far, and says why it is incomplete."""
    pipe = begun(folder)

    def interrupting() -> None:
        pipe.read_text()
        shell.interrupt()

    waiting = threading.Thread(target=interrupting)
    waiting.start()
    done = run(shell, "echo so far; echo > begun; sleep 300")
    waiting.join()
    assert done.failed
    assert done.text.splitlines()[0].endswith(" | interrupted")
    assert done.text.endswith("\n\nso far\n")
    assert output(shell, "echo next") == "next\n"


_HOST = """
import sys
from penstock.agent.shell import Shell
shell = Shell(sys.argv[1])
try:
    shell.run("run_command", {"command": "exec 9> held; setsid sleep 300 & echo > begun; wait"})
except KeyboardInterrupt:
    print("interrupted")
    shell.close()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
def test_a_host_that_is_ended_takes_the_command_along(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """A host ends by Ctrl-C or without warning; the HOME that it leaves is removed when the next is made, and no other HOME."""
    pipe = begun(folder)
    os.mkfifo(folder / "held")
    monkeypatch.setenv("TMPDIR", str(homes := tmp_path / "homes"))
    homes.mkdir()
    (homes / "penstock-home-link").symlink_to(folder)
    host = subprocess.Popen([sys.executable, "-c", _HOST, str(folder)], stdout=subprocess.PIPE, text=True)
    with open(folder / "held", "rb") as held:
        pipe.read_text()
        host.send_signal(number)
        assert held.read() == b""  # all processes that held it are gone
    said, _ = host.communicate(timeout=60)
    assert said == ("interrupted\n" if number == signal.SIGINT else "")
    assert host.returncode == (0 if number == signal.SIGINT else -number)
    assert len(list(homes.iterdir())) == (1 if number == signal.SIGINT else 2)
    with make_home() as one, make_home() as other:
        assert {path.name for path in homes.iterdir()} == {
            "penstock-home-link",
            *map(os.path.basename, (one.path, other.path)),
        }
    assert [path.name for path in homes.iterdir()] == ["penstock-home-link"]
    assert (folder / "a.txt").exists()


def test_two_commands_at_once_do_not_disturb_each_other(shell: Shell) -> None:
    """Each command has its own supervisor and its own end."""
    said: dict[int, str] = {}
    threads = [
        threading.Thread(target=lambda n=n: said.setdefault(n, run(shell, f"sleep 0.{n}; echo {n}; exit {n}").text))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(4):
        assert said[n].startswith(f"exit code: {n} | ")
        assert said[n].endswith(f"\n\n{n}\n")


def test_descriptors_are_given_back(shell: Shell) -> None:
    """A hundred commands leave no more descriptors open than one."""
    run(shell, "true")
    with nothing_left_open():
        for _ in range(3):
            run(shell, "true")


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "command: is required"),
        ({"command": 5}, "takes a string"),
        ({"command": " \n"}, "it is empty"),
        ({"command": "echo \0"}, "NUL"),
        ({"command": "echo \ud800"}, "half of a UTF-16 pair"),
        ({"command": "x" * 200_000}, "Write a script in the root, and run that."),
        ({"command": "true", "timeout": 5}, "no argument timeout"),
        ({"command": "echo 'k = [redacted: secret, 20 characters]' > k.py"}, "stands for text that was not shown"),
        (
            {"command": "cat > a.py <<'E'\nx = 1\n[… 40 lines, 900 characters not shown …]\nE"},
            "text that was not shown",
        ),
    ],
)
def test_what_cannot_be_run_is_answered(folder: Path, arguments: dict[str, object], says: str) -> None:
    """A mistake in the arguments is a result, and nothing is run."""
    shell = Shell(folder)
    try:
        done = shell.run("run_command", arguments)
        assert shell.intent("run_command", arguments).kind == "run"
    finally:
        shell.close()
    assert done.failed
    assert says in done.text


def test_a_command_is_not_run_in_another_folder(folder: Path) -> None:
    """If the root was moved away, a new folder at its path is refused, while edits still go to the moved root."""
    shell = Shell(folder)
    try:
        folder.rename(folder.with_name("moved"))
        for is_there in (False, True):
            if is_there:
                folder.mkdir()
            done = shell.run("run_command", {"command": "touch here"})
            assert done.failed
            assert done.is_refusal
            assert "Nothing was run" in done.text
        assert list(folder.iterdir()) == []
    finally:
        shell.close()


def test_of_a_command_that_was_cut_off_nothing_is_known(folder: Path) -> None:
    """What a command did before it was cut off is unknown."""
    shell = Shell(folder)
    try:
        intent = shell.intent("run_command", {"command": "make\ninstall"})
        assert intent == ("run", "make\\x0ainstall", "")
        assert shell.settled(*intent) == "unknown"
    finally:
        shell.close()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"seconds": 0}, "some time"),
        ({"allowance_bytes": 10}, "a result needs"),
        ({"confinement": "none"}, "bubblewrap, landlock or auto"),
    ],
)
def test_a_shell_that_cannot_be_is_a_mistake_of_the_program(
    folder: Path, arguments: dict[str, object], says: str
) -> None:
    """The error is raised when the shell is made."""
    with pytest.raises(CallerError, match=says):
        Shell(folder, **arguments)  # type: ignore[arg-type]
    with pytest.raises(CallerError, match="is not a folder"):
        Shell(folder / "a.txt")


def test_without_a_wall_there_is_no_shell(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If Landlock and bubblewrap are missing or do not hold, nothing runs unconfined, and the reasons are given."""
    homes = tmp_path / "homes"
    homes.mkdir()
    monkeypatch.setenv("TMPDIR", str(homes))
    monkeypatch.setattr(landlock, "abi", lambda: 2)
    monkeypatch.setattr("penstock.agent.shell._PATH", "/nothing")
    monkeypatch.setenv("PATH", str(tmp_path / "outside"))
    with pytest.raises(
        CallerError, match=r"bubblewrap: bwrap is not installed; landlock: .* version 2, and 3 is needed"
    ):
        Shell(folder)
    fake = tmp_path / "outside/bwrap"
    fake.write_text("#!/bin/sh\necho no permission to make namespaces >&2\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(CallerError, match=r"not run unconfined \(bubblewrap: no permission to make namespaces; "):
        Shell(folder)
    fake.write_text("no program")
    with pytest.raises(CallerError, match=r"The command was not run: .*Exec format error"):
        Shell(folder)
    monkeypatch.setattr(sandbox, "filters_system_calls", lambda: False)
    monkeypatch.setattr(landlock, "abi", lambda: 7)
    with pytest.raises(CallerError, match="no filter of system calls is known"):
        Shell(folder, confinement="landlock")
    assert list(homes.iterdir()) == []


def test_a_bubblewrap_that_lies_in_the_root_is_not_trusted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content of the root was written by strangers."""
    (folder / "bwrap").write_text("#!/bin/sh\nshift 1000; exec sh -c 'exit 0'\n")
    (folder / "bwrap").chmod(0o755)
    monkeypatch.setattr("penstock.agent.shell._PATH", "/nothing")
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(CallerError, match="bwrap is not installed"):
        Shell(folder, confinement="bubblewrap")


def test_the_wall_that_is_in_force_is_told(shell: Shell) -> None:
    """Both the person who starts a shell and `doctor` are told the wall."""
    assert shell.confinement.startswith(("Landlock ", f"bubblewrap ({shutil.which('bwrap')})"))

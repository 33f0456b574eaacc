"""Are keys, shared memory, other processes and hooks out of a command's reach (A-walls of `agent.sandbox`)?"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.agent.test_shell import WALLS
from tests.forks import warm_penstock

from penstock.agent import cgroups, sandbox
from penstock.agent.shell import Shell
from penstock.workspace import landlock
from penstock.workspace.own_files import open_own
from penstock.workspace.unasked import can_be_guarded, set_aside, unasked_places

if TYPE_CHECKING:
    from collections.abc import Iterator

_BUBBLEWRAP = [wall for wall in WALLS if wall.values == ("bubblewrap",)]
_MEMORY = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
found = libc.syscall(250, 10, -3, b"user", b"canary-key", 0)
held = ctypes.create_string_buffer(64)
libc.syscall(250, 11, found, held, 64)
at = libc.shmat(libc.syscall(29, 0x50454E53, 0, 0), None, 0)
print(held.value, ctypes.string_at(at) if at and at != 2**64 - 1 else None)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture(params=WALLS)
def shell(request: pytest.FixtureRequest, root: Path) -> Iterator[Shell]:
    made = Shell(root, confinement=request.param)
    yield made
    made.close()


def said(shell: Shell, command: str) -> str:
    return shell.run("run_command", {"command": command}).text


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the calls are named by their numbers")
def test_neither_keys_nor_shared_memory_of_the_host_are_reached(shell: Shell, root: Path) -> None:
    """The session keyring may hold a decrypted password, a System V segment the pages of a database."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    key = libc.syscall(248, b"user", b"canary-key", b"KEYRING-SECRET-123", 18, -3)
    segment = libc.syscall(29, 0x50454E53, 4096, 0o1600)
    ctypes.memmove(libc.shmat(segment, None, 0), b"SHM-SECRET-456\0", 15)
    (root / "look.py").write_text(_MEMORY)
    try:
        # Control: outside the walls both can be read.
        outside = subprocess.run([sys.executable, "-I", str(root / "look.py")], capture_output=True, check=True).stdout
        assert b"SHM-SECRET-456" in outside
        if key > 0:
            assert b"KEYRING-SECRET-123" in outside
        text = said(shell, f"{sys.executable} -I look.py 2>&1")
        assert text.splitlines()[-1] == "b'' None"
    finally:
        libc.shmctl(segment, 0, None)


def test_no_process_of_the_host_is_given_limits(shell: Shell) -> None:
    """A limit of one second of processor time would end another process; a command may limit itself."""
    limit = "import resource; resource.prlimit({}, resource.RLIMIT_CPU, (50, 50)); print('limited')"
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as host:  # ends when its input does
        before = resource.prlimit(host.pid, resource.RLIMIT_CPU)
        others = said(shell, f'{sys.executable} -c "{limit.format(host.pid)}" && echo DONE')
        after = resource.prlimit(host.pid, resource.RLIMIT_CPU)
        host.kill()
    assert after == before
    assert "DONE" not in others
    assert "limited" in said(shell, f'{sys.executable} -c "{limit.format(0)}"')


@pytest.mark.parametrize("wall", _BUBBLEWRAP)
def test_bubblewrap_comes_first(root: Path, wall: str) -> None:
    """Landlock would let a command change modes of files outside that it can name."""
    shell = Shell(root)
    try:
        assert shell.confinement.startswith(wall)
        assert shell.passed_over == ()
        outside = root.parent / "outside"
        outside.write_text("")
        mode = outside.stat().st_mode
        said(shell, f"chmod 0777 {outside}")
        assert outside.stat().st_mode == mode
    finally:
        shell.close()


@pytest.mark.skipif(landlock.abi() < sandbox.LANDLOCK_ABI, reason="this kernel offers no such Landlock")
def test_what_comes_first_and_is_missing_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason for the second wall is given, so that the user can install the first."""
    monkeypatch.setattr(Shell, "_bubblewrap", lambda self: ("bwrap is not installed", ""))
    shell = Shell(root)
    shell.close()
    assert shell.confinement.startswith("Landlock")
    assert shell.passed_over == ("bubblewrap: bwrap is not installed",)


def test_doctor_says_which_wall_and_which_limits() -> None:
    """`doctor` tries the wall and does not just look it up."""
    done = subprocess.run([*warm_penstock(), "doctor", "--json"], capture_output=True, check=True)
    commands = json.loads(done.stdout)["commands"]
    if "fault" not in commands:
        assert commands["wall"].startswith(("bubblewrap", "Landlock"))
        assert commands["limits"].startswith(("by control groups: ", "by process (rlimits)"))
        assert commands["wall"].startswith("bubblewrap") or "bubblewrap: " in commands["because"]


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _groups() -> set[str]:
    groups = cgroups.make({"pids": 10, "memory": 1 << 30})
    cgroups.remove([*groups.values()])
    return set(groups)


@pytest.mark.parametrize("wall", WALLS)
def test_a_file_and_the_open_files_are_bounded(root: Path, wall: str) -> None:
    """A write above the limit is refused, and so is one more open file."""
    shell = Shell(root, confinement=wall, max_file_bytes=100_000, max_open_files=20)
    try:
        said(shell, "head -c 1000000 /dev/zero > big")
        assert (root / "big").stat().st_size == 100_000
        opens = "kept = [open('/dev/null') for _ in range(40)]"
        assert "Too many open files" in said(shell, f'{sys.executable} -I -c "{opens}" 2>&1')
    finally:
        shell.close()


@pytest.mark.parametrize("wall", WALLS)
def test_processes_and_memory_are_bounded_together(root: Path, wall: str) -> None:
    """A hundred processes are refused if twenty are allowed, and 400 MB if 200 are."""
    if not {"pids", "memory"} <= _groups():
        pytest.skip("no control group can be made here, and root has no limit of processes")
    shell = Shell(root, confinement=wall, max_processes=20, max_memory_bytes=200 << 20, seconds=20)
    try:
        assert "fork" in said(shell, "for i in $(seq 100); do sleep 5 & done; wait").lower()
        code = "held = b'x' * (400 << 20); print('had')"
        assert "had" not in said(shell, f'{sys.executable} -I -c "{code}"')
        assert "fine" in said(shell, "echo fine")
    finally:
        shell.close()


@pytest.mark.parametrize("wall", WALLS)
def test_without_a_control_group_memory_is_bounded_by_process(
    root: Path, wall: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is on the memory that a program touches, not on what it reserves."""
    begin = sandbox.arguments
    monkeypatch.setattr(
        sandbox,
        "arguments",
        lambda *given: [
            part.replace("import main;", "import main, cgroups; cgroups.make = lambda limits: {};")
            for part in begin(*given)
        ],
    )
    shell = Shell(root, confinement=wall, max_memory_bytes=200 << 20)
    try:
        code = "held = b'x' * (400 << 20); print('had')"
        text = said(shell, f'{sys.executable} -I -c "{code}" 2>&1')
        assert "MemoryError" in text
    finally:
        shell.close()


def test_no_group_is_left_behind(root: Path) -> None:
    """No control group remains, not even that of a killed process once the next is made."""
    groups = cgroups.make({"pids": 10})
    if not groups:
        pytest.skip("no control group can be made here")
    (folder,) = groups.values()
    try:
        abandoned = Path(folder).parent / "penstock-999999999"
        abandoned.mkdir()
        shell = Shell(root)
        said(shell, "true")
        shell.close()
        assert not abandoned.exists()
        left = [path.name.removeprefix("penstock-") for path in Path(folder).parent.glob("penstock-*")]
        assert str(os.getpid()) in left
        # Other groups may run next to this test; ended ones have left nothing.
        assert [number for number in left if not os.path.exists(f"/proc/{number}")] == []
    finally:
        cgroups.remove([folder])
    with open_own("/proc/self/cgroup") as file:
        assert f"penstock-{os.getpid()}".encode() not in file.read()


# ── what other programs run unasked ──────────────────────────────────────────────────────────────────────────────


def _project(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name, value in (("user.email", "a@b"), ("user.name", "n")):
        subprocess.run(["git", "-C", str(root), "config", name, value], check=True)
    (root / ".git/hooks").mkdir(exist_ok=True)
    (root / ".git/hooks/pre-commit").write_text("#!/bin/sh\nexit 0\n")
    (root / ".husky").mkdir()
    (root / ".husky/pre-commit").write_text("true\n")
    (root / "app").mkdir()
    (root / "app/.envrc").write_text("true\n")
    (root / "a.txt").write_text("a\n")


def _state(root: Path) -> dict[str, bytes]:
    kept = (".git/hooks/pre-commit", ".git/config", ".husky/pre-commit", "app/.envrc")
    return {name: (root / name).read_bytes() for name in kept}


@pytest.mark.parametrize("wall", _BUBBLEWRAP)
@pytest.mark.parametrize(
    "command",
    [
        "echo evil > .git/hooks/pre-commit",
        "echo evil > .git/hooks/post-commit",
        "git config core.hooksPath elsewhere",
        "mv .git git2; cp -r git2 .git; echo evil > .git/hooks/pre-commit",
        "rm -rf .husky; mkdir .husky; echo evil > .husky/pre-commit",
        "echo evil >> app/.envrc",
        "mv app/.envrc x; echo evil > app/.envrc",
    ],
)
def test_what_others_run_unasked_is_read_and_not_written(root: Path, wall: str, command: str) -> None:
    """Neither a command nor an edit can write such files; commits still work."""
    _project(root)
    before = _state(root)
    shell = Shell(root, confinement=wall)
    try:
        said(shell, command)
        assert _state(root) == before
        assert not (root / ".git/hooks/post-commit").exists()
        assert said(shell, "git add a.txt && git commit -qm first && git log --oneline | wc -l").splitlines()[-1] == "1"
    finally:
        shell.close()


@pytest.mark.parametrize("wall", _BUBBLEWRAP)
def test_the_user_can_allow_it(root: Path, wall: str) -> None:
    """`--allow-write-to` allows it for each place it names."""
    _project(root)
    shell = Shell(root, confinement=wall, allow_write_to=[".git/hooks", str(root / "app/.envrc")])
    try:
        said(shell, "echo mine > .git/hooks/pre-commit; echo mine > app/.envrc; echo mine > .husky/pre-commit")
    finally:
        shell.close()
    state = _state(root)
    assert state[".git/hooks/pre-commit"] == state["app/.envrc"] == b"mine\n"
    assert state[".husky/pre-commit"] == b"true\n"


@pytest.mark.parametrize("wall", _BUBBLEWRAP)
def test_a_submodule_is_guarded_as_its_project_is(root: Path, wall: str) -> None:
    """A submodule's repository is in `.git/modules`, where hooks run at its next commit; nothing on the way can be moved."""
    _project(root)
    for part in ("objects", "refs", "hooks"):
        (root / ".git/modules/libs/sub" / part).mkdir(parents=True)
    for part in ("HEAD", "config", "hooks/post-checkout"):
        (root / ".git/modules/libs/sub" / part).write_text("old\n")
    shell = Shell(root, confinement=wall)
    try:
        said(
            shell,
            "cd .git/modules; for f in config hooks/post-checkout hooks/new; do echo x >> libs/sub/$f; done; mv libs gone",
        )
        said(shell, "mv .git/modules .git/gone; echo new > .git/modules/libs/sub/refs/new")
    finally:
        shell.close()
    data = root / ".git/modules/libs/sub"
    files = {str(path.relative_to(data)): path.read_text() for path in data.rglob("*") if path.is_file()}
    assert files == {**dict.fromkeys(("HEAD", "config", "hooks/post-checkout"), "old\n"), "refs/new": "new\n"}
    assert os.listdir(root / ".git/modules") == ["libs"]


def test_places_are_found_at_any_depth_and_not_among_packages(root: Path) -> None:
    """Places inside installed packages are left to their installer."""
    _project(root)
    (root / "node_modules/x").mkdir(parents=True)
    (root / "node_modules/x/.envrc").write_text("")
    (root / "link").symlink_to(".husky")
    (root / ".profile").symlink_to("a.txt")
    guarded = filter(can_be_guarded, unasked_places(str(root)))
    places = [os.path.relpath(path, root) + "/" * path.endswith("/") for path in guarded]
    assert places == [".git/", ".git/hooks", ".git/config", ".husky", "app/.envrc"]
    assert not any(map(can_be_guarded, unasked_places(str(root), [b".git", b".husky", b"app"])))


@pytest.mark.proves("S-16")
def test_what_a_repository_did_not_have_before_is_set_aside(root: Path, shell: Shell) -> None:
    """A wall cannot guard what is not there yet: hooks, or a `commondir`, which makes git read a foreign configuration."""
    _project(root)
    shutil.rmtree(root / ".git/hooks")
    mark = root.parent / "mark"
    made = shell.run(
        "run_command",
        {
            "command": f"""
            mkdir -p .git/hooks evil && cp -r .git/. evil/ && echo ../evil > .git/commondir
            printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "touch {mark}; false"\\n' > evil/config
            printf '#!/bin/sh\\ntouch {mark}\\n' > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change
            """
        },
    )
    assert made.text.startswith("exit code: 0"), made.text
    subprocess.run(["git", "-C", str(root), "status"], check=True, capture_output=True)
    assert not mark.exists()
    assert not {"hooks", "commondir"} & {*os.listdir(root / ".git")}
    assert sorted(name.partition(".penstock-")[0] for name in os.listdir(root / ".git") if ".penstock-" in name) == [
        "commondir",
        "hooks",
    ]
    assert ".git/commondir (now .git/commondir.penstock-" in made.advice
    assert "--allow-write-to allows it" in made.advice


@pytest.mark.proves("S-16")
def test_new_places_that_others_run_are_named(root: Path, shell: Shell) -> None:
    """A cloned project and a link in an entered folder are named; old places, and places that nothing runs, are not."""
    _project(root)
    made = shell.run("run_command", {"command": "git init -q sub; ln -s a.txt .envrc; echo x > b.txt"})
    named = made.advice.partition("run by other programs unasked: ")[2].rstrip(".").split(", ")
    assert {".envrc", "sub/.git/config"} <= set(named)
    assert not {"b.txt", "app/.envrc", ".husky", ".git/config"} & set(named)
    assert shell.run("run_command", {"command": "echo y > c.txt; ls"}).advice == ""


@pytest.mark.proves("S-16")
def test_what_a_link_leads_to_is_not_set_aside(root: Path, tmp_path: Path) -> None:
    """If a command replaces a folder by a link to another project, that project stays as it is."""
    for place in (root / "sub/app", tmp_path / "other/app"):
        place.mkdir(parents=True)
        _project(place)
    places = unasked_places(str(root))
    shutil.rmtree(root / "sub/app/.git/hooks")
    (root / "sub/app/.git/hooks").mkdir()
    known = [place for place in places if not place.endswith("/hooks")]
    (root / "sub").rename(root / "moved")
    (root / "sub").symlink_to(tmp_path / "other")
    assert set_aside(str(root), known) == {}
    (root / "sub").unlink()
    (root / "moved").rename(root / "sub")
    assert [*set_aside(str(root), known, [b"sub"])] == []
    assert [*set_aside(str(root), known)] == ["sub/app/.git/hooks"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the calls are named by their numbers")
def test_no_command_stops_what_waits_for_its_end(shell: Shell, root: Path) -> None:
    """The first process of the namespace cannot be traced; processes that a command starts can be."""
    (root / "trace.py").write_text(
        "import ctypes, errno, os, signal, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "child = os.fork() or signal.pause()\n"
        "for request in (16, 0x4206):\n"
        "    for process in (1, child):\n"
        "        done = libc.ptrace(request, process, None, None)\n"
        "        print(process == 1, done, errno.errorcode.get(ctypes.get_errno()) if done else '')\n"
        "    libc.ptrace(17, child, None, None) if request == 16 and os.waitpid(child, 0) else None\n"
        "os.kill(child, signal.SIGKILL)\n"
    )
    rows = said(shell, f"{sys.executable} trace.py").splitlines()[2:]
    of_first = [row.split() for row in rows if row.startswith("True")]
    assert [row[1] for row in of_first] == ["-1", "-1"]
    assert {row[2] for row in of_first} <= {"EACCES", "EPERM"}
    assert [row.split()[1] for row in rows if row.startswith("False")] == ["0", "0"]

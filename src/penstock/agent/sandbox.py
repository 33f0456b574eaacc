"""How is a command confined? By walls built before it starts, and by ending everything that it started.

This runs in its own process, between us and the command, which never escapes it: the command's orphans become children of this
process, and when the command ends, or the holder of the other end of standard input closes it or dies, all of them are killed,
whatever sessions they made. The command confines itself before it runs, and is not run if it cannot.

Laws: when this process ends nothing that the command started is left; the command sees what it was given, no network, and no
memory, queue or key of others; its processes, memory and files are limited. Leaves to others: which folders and variables it is
given, and what becomes of its output (`shell`).
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import stat
import struct
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from penstock.agent import cgroups
from penstock.workspace import landlock
from penstock.workspace.own_files import open_own
from penstock.workspace.system import prctl, syscall

if TYPE_CHECKING:
    from collections.abc import Sequence

# Linux 6.2. Before it, any file of the user's could be emptied (`truncate`).
LANDLOCK_ABI = 3
"""The lowest version of Landlock that is a sufficient wall."""
NOT_RUN = 126
"""The exit code of a command that was not run, as a shell uses it."""

# No home, no `/etc` as a whole, no `/sys`, `/run` or `/var`: those reveal who the user is and what else runs.
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives"),
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime", "/etc/mime.types", "/etc/gitconfig"),
    *("/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", "/etc/crypto-policies"),
)
"""What system programs need to start and to find their way; no other file of the machine is visible to a command."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Kernel settings of the whole machine: root may write them without any capability, and `kernel.core_pattern` names a program that
# the kernel runs outside every wall. bubblewrap covers some of these, but not `sys`, whose folder nobody can write.
_SETTINGS = tuple(
    f"/proc/{name}" for name in ("sys", "sysrq-trigger", "acpi", "driver", "fs", "mtrr", "pressure", "scsi")
)

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_READ, _PR_CAPBSET_DROP = 1, 22, 23, 24
_PR_SET_CHILD_SUBREAPER, _PR_CAP_AMBIENT = 36, 47
_SECCOMP_MODE_FILTER, _CLEAR_ALL = 2, 4
_ARCHITECTURES = {  # from linux/audit.h; the numbers of socket and socketpair
    "x86_64": (0xC000003E, 41, 53),
    "aarch64": (0xC00000B7, 198, 199),
}
# prlimit64: giving another process of the user one second of processor time ends it, which Landlock does not cover.
_LIMIT = {"x86_64": 302, "aarch64": 261}
# ptrace: tracing the first process of its own namespace stops the one that would see the end of the command.
_TRACE = {"x86_64": 101, "aarch64": 117}
# What processes of one user share without a file: shmget, shmat, shmctl, semget, semop, semctl, shmdt, msgget, msgsnd, msgrcv,
# msgctl, semtimedop (SysV); mq_open, mq_unlink, mq_timedsend, mq_timedreceive, mq_notify, mq_getsetattr (POSIX; its shared memory
# and semaphores are files in /dev/shm); add_key, request_key, keyctl.
_SHARED = {
    "x86_64": (*range(29, 32), *range(64, 72), 220, *range(240, 246), *range(248, 251)),
    "aarch64": (*range(180, 198), *range(217, 220)),
}
_KEYS = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}
_JOIN_SESSION_KEYRING = 1
# The same number on every architecture; its queue can also make sockets, of any family.
_IO_URING_SETUP = 425
# Families of sockets that a network namespace isolates (address_families(7)): UNIX, INET, INET6, NETLINK. Others lead out of it: on
# a virtual machine AF_VSOCK reaches the services of its host.
_DIVIDED = (1, 2, 10, 16)


class ProcessLimits(NamedTuple):
    """What a command and all that it starts may take."""

    max_processes: int
    """Processes and threads at once, together."""
    max_memory_bytes: int
    """Memory: of all processes together if there is a control group, else of each process."""
    max_open_files: int
    """Open files of each process."""
    max_file_bytes: int
    """The size of a file that is written."""


class Walls(NamedTuple):
    """What a command may see and write, and who builds the walls around that."""

    builder: str
    """`landlock`, or the path of bubblewrap."""
    root: str
    """Where the command runs and may write."""
    home: str
    """The command's HOME, where it may also write."""
    readable: Sequence[str]
    """Folders outside both that it may read and run programs from."""
    guarded: Sequence[str] = ()
    """Files and folders in the root that it may read but not write, with the folders that may not be renamed to bypass that (those
    end with `/`); Landlock can do so only for the root itself.
    """
    listening: Sequence[str] = ()
    """Sockets on which others listen: it finds an empty device in their place. Under Landlock it can make no socket anyway."""


def arguments(walls: Walls, command: str, limits: ProcessLimits) -> list[str]:
    """Return the command line that starts this process.

    Args:
        walls: what is built around the command.
        command: as for `sh -c`.
        limits: what it may take.
    """
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    # `-I -S`: neither variables, nor the current folder (which is a stranger's), nor site packages are searched; the one path that
    # is added is ours.
    begin = "import sys; sys.path.insert(0, sys.argv[1]); from penstock.agent.sandbox import main; main(*sys.argv[2:])"
    builder, root, home, *lists = walls
    start = [sys.executable, "-I", "-S", "-c", begin, package, command, builder, root, home]
    return [*start, *map(str, limits), *(part for paths in lists for part in (str(len(paths)), *paths))]


def filters_system_calls() -> bool:
    """Return whether the numbers of the calls that make sockets are known for this machine."""
    return os.uname().machine in _ARCHITECTURES


def main(command: str, builder: str, root: str, home: str, *rest: str) -> NoReturn:
    """Run the command, and end as it does: with its exit code, or 128 plus the signal that ended it, as shells report it."""
    limits, left = ProcessLimits(*map(int, rest[:4])), [*rest[4:]]
    lists = []
    while left:
        end = 1 + int(left[0])
        lists.append(left[1:end])
        left = left[end:]
    walls = Walls(builder, root, home, *lists)
    groups = cgroups.make({"pids": limits.max_processes, "memory": limits.max_memory_bytes})
    # prctl(2): orphaned descendants become children of this process, not of init, so that a command which forks twice and makes its
    # own session is still found.
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    child = os.fork()
    if child == 0:
        _run(walls, command, limits, groups)
    over = select.poll()
    over.register(os.pidfd_open(child), select.POLLIN)
    # Standard input is a pipe that nobody writes to: it becomes ready when its other end is closed, by us or because we were
    # killed.
    over.register(0, select.POLLIN)
    over.poll()
    status = os.waitstatus_to_exitcode(_end_all(child))
    cgroups.remove([*groups.values()])
    if walls.builder != "landlock":
        _clear_covers(walls.listening)
    os._exit(status if status >= 0 else 128 - status)


# ── the command's own side ───────────────────────────────────────────────────────────────────────────────────────


def _run(walls: Walls, command: str, limits: ProcessLimits, groups: dict[str, str]) -> NoReturn:
    """Confine this process and become the command; never returns."""
    try:
        import resource

        # If this intermediate process is killed itself, the command dies with it.
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        with open_own(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        # Python ignores these two, and its children would inherit that: a `yes | head` would not end.
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for folder in set(groups.values()):
            cgroups.enter(folder)
        _limit(limits, groups)
        _leave_keyring()
        os.chdir(walls.root)
        line = ["/bin/sh", "-c", command]
        if walls.builder == "landlock":
            _confine(walls)
        else:
            line = [*_bubblewrap(walls), *line]
        os.execv(line[0], line)  # noqa: S606 - a shell is what it is
    except BaseException as error:  # noqa: BLE001 - nothing may get past this, or the command would run unconfined
        os.write(2, f"The command was not run: {error}\n".encode(errors="replace"))
    os._exit(NOT_RUN)


def _limit(limits: ProcessLimits, groups: dict[str, str]) -> None:
    """Set the limits of this process and its descendants; those that a control group enforces are left to it.

    Raises:
        OSError: if the kernel refuses; then the command is not run.
    """
    import resource

    wanted = {resource.RLIMIT_NOFILE: limits.max_open_files, resource.RLIMIT_FSIZE: limits.max_file_bytes}
    if "memory" not in groups:
        # Data, not address space: programs with a garbage collector reserve terabytes that they never touch.
        wanted[resource.RLIMIT_DATA] = limits.max_memory_bytes
    if "pids" not in groups:
        # The kernel counts all processes and threads of the user, whoever started them: so the limit is added to the present count.
        wanted[resource.RLIMIT_NPROC] = _own_threads() + limits.max_processes
    for kind, limit in wanted.items():
        hard = resource.getrlimit(kind)[1]
        least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (least, least))


def _own_threads() -> int:
    """Return how many threads this user has."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                if os.stat(f"/proc/{name}").st_uid == os.getuid():
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue  # it has ended
    return count


def _leave_keyring() -> None:
    """Replace the keyring of the session that we were started in, with its keys, by an empty one. Raises OSError."""
    if numbers := _KEYS.get(os.uname().machine):
        syscall(numbers[2], _JOIN_SESSION_KEYRING, None)


def _confine(walls: Walls) -> None:
    """Build the walls: Landlock for files, and a filter of system calls for what Landlock does not cover.

    Raises:
        OSError: if the kernel refuses any of it; then the command is not run.
    """
    rules = landlock.Ruleset()
    rules.allow(
        (*SYSTEM, *walls.readable, *walls.guarded), landlock.EXECUTE | landlock.READ_FILE | landlock.READ_FOLDER
    )
    # Read-only paths get no second rule: rights of several rules for one folder add up.
    writable = ({walls.root, walls.home} - {*walls.guarded}) | {*_DEVICES}
    rules.allow(writable, rules.file_rights & ~landlock.MAKE_DEVICES & ~landlock.CONTROL_DEVICES)
    _drop_powers()
    # Without the privileges that a wall gives up only root may filter its calls (seccomp(2)). The filter comes last, after every
    # call that the walls themselves make.
    rules.enforce()
    machine = os.uname().machine
    program = _filter(machine, _SHARED[machine], without_sockets=True)
    instructions = ctypes.create_string_buffer(program, len(program))
    address = ctypes.addressof(instructions)
    filter_program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program) // 8, address))
    prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(filter_program))


def _drop_powers() -> None:
    """Drop every capability for the next program, root's too: Landlock covers only files. Raises OSError."""
    prctl(_PR_CAP_AMBIENT, _CLEAR_ALL)
    # Another user's capabilities end with this program.
    for capability in range(64 if os.geteuid() == 0 else 0):
        try:
            is_held = prctl(_PR_CAPBSET_READ, capability)
        except OSError:
            # Beyond the last capability that the kernel knows.
            return
        if is_held:
            prctl(_PR_CAPBSET_DROP, capability)


def _filter(machine: str, denied: Sequence[int], *, without_sockets: bool) -> bytes:
    """Return a program for the kernel's filter, which denies calls by their numbers.

    Args:
        machine: as `uname` names it.
        denied: numbers of calls on that machine, denied whatever their arguments.
        without_sockets: if True, no socket can be made except a connected pair of streams, which cannot be redirected, and each
            process may set only its own limits; if False, only sockets of families that a network namespace isolates can be
            made, and the first process of the namespace cannot be traced.
    """
    # Classic BPF over struct seccomp_data (seccomp(2)): a row is (code, lines to skip if true, lines to skip if false, value). A
    # jump counts from the next line, hence `deny - 5` on line 4. All calls of the family are denied by their number, whatever the
    # arguments, because a filter cannot look behind pointers; the type of a pair is a plain number.
    load, equal, at_least, mask, answer = 0x20, 0x15, 0x35, 0x54, 0x06
    call, architecture, first_argument, second_argument = 0, 4, 16, 24  # places in struct seccomp_data
    known, socket, socketpair = _ARCHITECTURES[machine]
    numbers = (*denied, _IO_URING_SETUP, *((socket,) if without_sockets else ()))
    own = 3  # lines about limits or tracing, after the numbers, each of which is a line
    behind = 5 + len(numbers) + own
    deny = behind + (5 if without_sockets else 2 + len(_DIVIDED))
    allow = deny + 1
    limits = (
        (equal, 0, 2, _LIMIT[machine]),
        (load, 0, 0, first_argument),
        (equal, allow - behind, deny - behind, 0),  # 0 is the process itself
    )
    tracing = (
        (equal, 0, 2, _TRACE[machine]),
        (load, 0, 0, second_argument),
        (equal, deny - behind, allow - behind, 1),
    )
    pairs = (
        (equal, 0, allow - behind - 1, socketpair),
        (load, 0, 0, second_argument),
        (mask, 0, 0, 0xF),
        (equal, allow - behind - 4, 0, 1),  # SOCK_STREAM
        (equal, allow - behind - 5, 0, 5),  # SOCK_SEQPACKET
    )
    families = (
        (equal, 0, allow - behind - 1, socket),
        (load, 0, 0, first_argument),
        *((equal, allow - behind - 3 - at, 0, family) for at, family in enumerate(_DIVIDED)),
    )
    lines = (
        (load, 0, 0, architecture),
        (equal, 1, 0, known),
        (answer, 0, 0, 0x80000000),  # a program of another architecture is killed: its calls have other numbers
        (load, 0, 0, call),
        (at_least, deny - 5, 0, 0x40000000),  # x32, the other numbers of x86-64
        *((equal, deny - 6 - at, 0, number) for at, number in enumerate(numbers)),
        *(limits + pairs if without_sockets else tracing + families),
        (answer, 0, 0, 0x00050000 | 13),  # EACCES
        (answer, 0, 0, 0x7FFF0000),
    )
    return b"".join(struct.pack("HBBI", *line) for line in lines)


def _bubblewrap(walls: Walls) -> list[str]:
    """Return the command line that builds the same wall with namespaces: nothing else is visible at all.

    Writable folders come last, over what contains them, and read-only paths over these.
    """
    program, root, home, readable, guarded, listening = walls
    line = [program, "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
    machine = os.uname().machine
    if machine in _KEYS:
        # Namespaces isolate queues and memory, but not keyrings, nor every kind of socket. bubblewrap installs the filter after its
        # own calls.
        handed = os.memfd_create("filter", 0)
        os.write(handed, _filter(machine, _KEYS[machine], without_sockets=False))
        os.lseek(handed, 0, os.SEEK_SET)
        line += ["--seccomp", str(handed)]
    line += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - one of its own
    for path in (*_SETTINGS, *SYSTEM, *readable):
        line += ["--ro-bind-try", path, path]
    for path in (root, home):
        line += ["--bind", path, path]
    for path in guarded:
        # A mount point cannot be renamed: `.git` is one, or it could be moved away with what is guarded in it.
        line += ["--bind-try" if path.endswith("/") else "--ro-bind-try", path.rstrip("/"), path.rstrip("/")]
    for path in listening:
        line += ["--ro-bind", os.devnull, path]
    return [*line, "--chdir", root, "--"]


def _clear_covers(paths: Sequence[str]) -> None:
    """Remove the files that bubblewrap made where it was to cover a socket which had just gone.

    A mount needs something to lie on: where there is nothing, bubblewrap creates an empty file that nobody may write, and leaves
    it. Nothing else tells it apart, as bubblewrap does not say which files it made; another one like it in the place of a socket
    holds nothing that could be lost.
    """
    for path in paths:
        with suppress(OSError):
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode) and not status.st_size and not status.st_mode & 0o222:
                os.unlink(path)


# ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _end_all(child: int) -> int:
    """End all that the command started, and return its wait status."""
    status = 0
    while True:
        # Killed one by one, a program that forks faster than it is killed would win. A stopped process cannot start another:
        # whatever was started meanwhile is found by the next scan, until a scan finds nothing new. Then all are killed at once and
        # reaped; what was reparented to us in between goes through the same again, until there is no child left.
        stopped: set[int] = set()
        while new := _below(os.getpid()) - stopped:
            _signal(new, signal.SIGSTOP)
            stopped |= new
        _signal(stopped, signal.SIGKILL)
        patience = 0  # blocks for the first, and then only collects those that have ended by now
        try:
            while (ended := os.waitpid(-1, patience))[0]:
                patience = os.WNOHANG
                if ended[0] == child:
                    status = ended[1]
        except ChildProcessError:
            return status


def _below(process: int) -> set[int]:
    """Return all descendants of a process, from what the kernel says of every process."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                with open_own(f"/proc/{name}/stat") as file:
                    # The name of a program is in brackets and may itself hold blanks and brackets: the fields are counted from the
                    # last bracket.
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                continue  # it has ended
            children.setdefault(parent, []).append(int(name))
    found: set[int] = set()
    open_ends = [process]
    while open_ends:
        new = children.get(open_ends.pop(), [])
        found.update(new)
        open_ends += new
    return found


def _signal(processes: set[int], number: signal.Signals) -> None:
    """Send a signal to processes; one that has ended meanwhile is skipped."""
    for process in processes:
        try:
            os.kill(process, number)
        except (ProcessLookupError, PermissionError):
            continue

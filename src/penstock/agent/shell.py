"""What may be run? One command at a time, confined to a root, without network, and never longer than its time limit.

The command and all that it starts can read only the root and the system's programs, write only in the root and in their own HOME,
and reach nobody: by bubblewrap, else by Landlock and a filter of system calls; if neither is available, there is no shell. Its
output is read as it comes, whatever its length: the two ends are shown, the whole is kept.

Laws: when a call returns, nothing that it started still runs; a result is within its allowance; memory does not grow with the
output. Leaves to others: the process between us and the command (`sandbox`), how output is cut and kept (`guard.stream`), and
whether a command is wise.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from penstock.agent import sandbox
from penstock.agent.command_limits import MAX_FILE_BYTES, MAX_OPEN_FILES, MAX_PROCESSES, default_memory_bytes
from penstock.agent.home import make_home
from penstock.agent.listening import listening
from penstock.errors import REFUSALS, CallerError, ToolError
from penstock.guard.stream import drain
from penstock.session.effects import Acted, Intent
from penstock.text import escape, fitting, stand_ins
from penstock.text.allowance import Allowance
from penstock.text.fitting import Keep
from penstock.text.redaction import mark_in
from penstock.tools import MIN_ALLOWANCE, REQUIRED, Parameter, Tool, check
from penstock.wires import placeholders
from penstock.workspace import landlock
from penstock.workspace.root import Root
from penstock.workspace.unasked import can_be_guarded, set_aside, unasked_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from penstock.session.effects import Settled
    from penstock.store import Store
    from penstock.text.json_access import Json

# The same default as in Claude Code and Codex.
SECONDS = 120.0
"""How long a command may take by default."""
# As for every other tool (G-1).
ALLOWANCE_BYTES = 28_000
"""How large a result may be by default, including its header."""
KIND = "run"
"""The kind of this tool's intents in a journal."""
_NAME = "run_command"
# Linux takes 131,071 in one argument.
_MAX_COMMAND_BYTES = 100_000
_HEADER_BYTES = 160
_NAMED_PLACES = 5
"""How many of the new places that other programs run unasked are named after a command."""
_PART_BYTES = 1 << 16
# For ending a command whose time is up: thousands of processes take seconds.
_GRACE_SECONDS = 10.0
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Shell:
    """The tool that runs commands beneath a root. Close it after use: it has a temporary folder.

    Attributes:
        confinement: which wall is in force, in words for people.
        passed_over: which preferred walls are not in force, each with the reason.
        root: the folder that commands run in, without links.
        tools: the tool `run_command`.
    """

    confinement: str
    passed_over: tuple[str, ...]
    root: str

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        seconds: float = SECONDS,
        allowance_bytes: int = ALLOWANCE_BYTES,
        store: Store | Callable[[], Store] | None = None,
        readable: Sequence[str | os.PathLike[str]] = (),
        confinement: str = "auto",
        allow_write_to: Iterable[str] = (),
        max_processes: int = MAX_PROCESSES,
        max_memory_bytes: int | None = None,
        max_open_files: int = MAX_OPEN_FILES,
        max_file_bytes: int = MAX_FILE_BYTES,
    ) -> None:
        """Try the walls, and make the folder that is HOME.

        Args:
            root: the folder that commands run in and may write to.
            seconds: how long one command may take.
            allowance_bytes: how large a result may be.
            store: where whole outputs are kept, or how it is opened; None is the user's own.
            readable: folders outside the root that commands may read and run programs from, such as toolchains in a home.
            confinement: `bubblewrap`, `landlock`, or `auto`, which takes the first of the two that works.
            allow_write_to: paths in the root that commands may write although other programs run their content unasked, such as
                `.git`; a folder allows everything in it. Under Landlock all such paths may be written, unless the root is inside
                one.
            max_processes: processes and threads of a command at once.
            max_memory_bytes: memory of a command; None is three quarters of the machine's.
            max_open_files: open files of each process.
            max_file_bytes: the size of a file that a command writes.

        Raises:
            CallerError: if no wall works, on anything but Linux, or for an invalid root, time or allowance.
            ToolError: for a path in `allow_write_to` that is empty or leads out of the root.
        """
        if allowance_bytes < MIN_ALLOWANCE:
            raise CallerError(f"allowance_bytes={allowance_bytes}: a result needs {MIN_ALLOWANCE} to say anything")
        if not seconds > 0:
            raise CallerError(f"seconds={seconds}: a command needs some time")
        if sys.platform != "linux":
            raise CallerError("Commands cannot be confined here, and are not run unconfined. That takes Linux.")
        self.root = os.path.realpath(root)
        if not os.path.isdir(self.root):
            raise CallerError(f"{escape.clip(os.fspath(root))} is not a folder: commands need a root to run in")
        self._identity = _identity(self.root)
        self._seconds = seconds
        self._allowance = Allowance.bytes(allowance_bytes - _HEADER_BYTES)
        self._store = store
        # Tests of the root may need this Python too; "/" would open everything.
        ours = {sys.prefix, sys.base_prefix} - {"/"}
        with closing(Root(self.root)) as looking:
            self._allowed = [looking.relative(path) for path in allow_write_to]
        memory = default_memory_bytes() if max_memory_bytes is None else max_memory_bytes
        self._limits = sandbox.ProcessLimits(max_processes, memory, max_open_files, max_file_bytes)
        if min(self._limits) < 1:
            raise CallerError(f"{self._limits}: a command needs some of each")
        self.passed_over = ()
        self._readable = [os.path.realpath(path) for path in (*sorted(ours), *readable)]
        self._running: list[_Process] = []
        home = make_home()
        self._home = home.path
        self._remove_home = weakref.finalize(self, home.close)
        try:
            self.confinement, self._wall = self._chosen(confinement)
        except CallerError:
            self.close()
            raise
        self.tools = (_tool(seconds),)

    def close(self) -> None:
        """End what runs, and remove the folder that was HOME."""
        self.interrupt()
        self._remove_home()

    def interrupt(self) -> None:
        """End the running command, if any: its call returns what there is. Callable from any thread, or from a signal handler."""
        for process in tuple(self._running):
            process.interrupt()

    # ── the tool ─────────────────────────────────────────────────────────────────────────────────────────────────

    def intent(self, name: str, arguments: Mapping[str, Json]) -> Intent:
        """Return the command, as the journal shows it; it has no digest, since nobody can predict what it changes."""
        del name
        return Intent(KIND, escape.clip(str(arguments.get("command", ""))))

    def settled(self, kind: str, what: str, digest: str) -> Settled:
        """Return `unknown`: nobody can tell what an interrupted command has done."""
        del kind, what, digest
        return "unknown"

    def run(self, name: str, arguments: Mapping[str, Json]) -> Acted:
        """Run a command. It failed if it was not run or not to its end; its exit code is for the model to judge.

        Args:
            name: `run_command`.
            arguments: as the model gave them.

        Raises:
            CallerError: for a tool that is not here.
        """
        if name != _NAME:
            raise CallerError(f"There is no tool {escape.clip(name)} here.")
        try:
            command = str(check(self.tools[0], arguments)["command"])
            _check_command(command)
            self._check_root()
            ended = self._ran(self._wall, command)
        except ToolError as error:
            what, is_refusal = f"{name}: {error.code}", error.code in REFUSALS
            return Acted(fitting.bounded(error.message), failed=True, what=what, is_refusal=is_refusal)
        head = f"exit code: {ended.code} | {ended.seconds:.1f} s" + (f" | {ended.why}" if ended.why else "")
        text = f"{head}\n\n{ended.output}" if ended.output else head
        what = f"{name}: {head}: {escape.clip(command)}"
        return Acted(fitting.bounded(text), bool(ended.why), what, handles=ended.handles, advice=ended.advice)

    def _check_root(self) -> None:
        """Raise `ToolError` if another folder, or none, is at the path of the root.

        The file tools hold the folder itself, whatever its path is by now; a command is given the path: edits would go to one
        project, and commands to the other.
        """
        if _identity(self.root) != self._identity:
            said = f"The folder of this session is no longer at {self.root}. Nothing was run there."
            raise ToolError("stale", said)

    # ── the process ──────────────────────────────────────────────────────────────────────────────────────────────

    def _ran(self, wall: str, command: str) -> _Ended:
        """Run a command behind a wall and return how it ended, with its output cut and kept.

        Another thread reads the output: an interrupt finds this one waiting, and ends the command before it continues. Raises
        `ToolError` if the system cannot start a process.
        """
        begun = time.monotonic()
        # Checked at each command: the previous one may have cloned a repository.
        places = unasked_places(self.root, self._allowed)
        guarded = [path for path in places if can_be_guarded(path)]
        if wall == "landlock":  # it can remove a right from the root as a whole, but not from parts of it
            guarded = [path for path in guarded if path == self.root]
        sockets = listening([self.root, *self._readable])
        walls = sandbox.Walls(wall, self.root, self._home, self._readable, guarded, sockets)
        line = sandbox.arguments(walls, command, self._limits)
        try:
            process = _Process(line, self._environment(), self._running)
        except OSError as error:  # no more processes, or descriptors
            raise ToolError("denied", f"The command was not run: {error.strerror}.") from error
        coming = process.output(begun + self._seconds)
        try:
            with ThreadPoolExecutor(1, "penstock-shell") as beside:
                try:
                    passed = beside.submit(
                        drain, coming, self._allowance, Keep.ENDS, name=_NAME, open_store=self._opened
                    ).result()
                except BaseException:
                    process.interrupt()
                    raise
        finally:
            code = process.ended()
        why = ""
        if process.is_late:
            why = f"not finished in {self._seconds:g} s, all that a command may take: it was ended"
        elif process.is_interrupted:
            why = placeholders.INTERRUPTED
        seconds = time.monotonic() - begun
        return _Ended(code, why, passed.result, seconds, passed.handles, self._made_unasked(places))

    def _made_unasked(self, before: Sequence[str]) -> str:
        """Return the message about what a command made that other programs run unasked; empty if it made nothing of the kind.

        A wall guards what exists when it is built. New hooks and a new configuration of a repository that was there are set
        aside; the rest, such as a cloned project, is named.
        """
        said = []
        if aside := set_aside(self.root, before, self._allowed):
            moved = ", ".join(f"{escape.show_name(old)} (now {escape.show_name(new)})" for old, new in aside.items())
            said.append(f"Set aside, since git would run what it says or names: {moved}. --allow-write-to allows it.")
        new = set(unasked_places(self.root, self._allowed)) - {*before}
        names = [escape.show_name(os.path.relpath(path, self.root)) for path in sorted(new) if not path.endswith("/")]
        if names:
            more = f" and {len(names) - _NAMED_PLACES} more" if len(names) > _NAMED_PLACES else ""
            shown = ", ".join(names[:_NAMED_PLACES])
            said.append(f"New since the command began, and run by other programs unasked: {shown}{more}.")
        return "\n".join(said)

    def _opened(self) -> Store:
        """Return the store for a whole output, opened only if one has to be kept."""
        if self._store is None:
            from penstock.guard.output import default_store

            return default_store()
        return self._store() if callable(self._store) else self._store

    def _environment(self) -> dict[str, str]:
        """Return what a command knows of its caller: five variables; of the search path, only the folders that it can read."""
        within = tuple(f"{path}/" for path in (self.root, *self._readable, *sandbox.SYSTEM))
        given = [path for path in os.environ.get("PATH", "").split(":") if path.startswith("/")]
        # Where a link leads if it is not seen itself, such as that to the current version of a tool.
        real = [(path, os.path.realpath(path)) for path in given]
        seen = [path if f"{path}/".startswith(within) else to for path, to in real if f"{to}/".startswith(within)]
        return {
            "PATH": ":".join(seen) or _PATH,
            "HOME": self._home,
            "TMPDIR": self._home,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
        }

    # ── walls ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _chosen(self, confinement: str) -> tuple[str, str]:
        """Return the first wall that works when it is tried: its name for people, and what `sandbox` calls it."""
        # bubblewrap first: under Landlock a command can change modes, owners and times of any file of the user's that it can name.
        walls = {"bubblewrap": self._bubblewrap, "landlock": self._landlock}
        if confinement not in {*walls, "auto"}:
            raise CallerError(f"confinement={confinement!r}: bubblewrap, landlock or auto")
        missing = []
        for name, offered in walls.items():
            if confinement not in {name, "auto"}:
                continue
            shown, wall = offered()
            if not wall:
                missing.append(f"{name}: {shown}")
                continue
            # Tested, not assumed: a kernel may offer Landlock while a container's own filter forbids it.
            tried = self._ran(wall, "exit 0")
            if tried.code == 0:
                self.passed_over = tuple(missing)
                return shown, wall
            missing.append(f"{name}: {tried.output.strip() or tried.why or tried.code}")
        raise CallerError(
            f"Commands cannot be confined here, and are not run unconfined ({'; '.join(missing)}). "
            "It takes Linux 6.2 with Landlock switched on, or bubblewrap."
        )

    def _landlock(self) -> tuple[str, str]:
        """Return Landlock in words and by name; the name is empty if it is not available, and the words say why."""
        offered = landlock.abi()
        if offered < sandbox.LANDLOCK_ABI:
            return f"the kernel offers version {offered}, and {sandbox.LANDLOCK_ABI} is needed", ""
        if not sandbox.filters_system_calls():
            return f"no filter of system calls is known for {os.uname().machine}", ""
        return f"Landlock {offered} and a filter of system calls", "landlock"

    def _bubblewrap(self) -> tuple[str, str]:
        """Return bubblewrap in words and by path; the path is empty if it is not installed."""
        for folder in f"{os.environ.get('PATH', '')}:{_PATH}".split(":"):
            program = os.path.realpath(os.path.join(folder, "bwrap"))
            # Everything in the root is foreign, a wall program above all.
            if os.access(program, os.X_OK) and not program.startswith(f"{self.root}/"):
                return f"bubblewrap ({program})", program
        return "bwrap is not installed", ""


class _Ended(NamedTuple):
    """How a command ended."""

    code: int
    """The command's exit code, or 128 plus the signal that ended it."""
    why: str
    """Why it did not end by itself; else empty."""
    output: str
    seconds: float
    handles: tuple[str, ...]
    """Handles of a whole output that is shown only in part."""
    advice: str
    """Advice about what the command made that other programs run unasked."""


class _Process:
    """The process next to a command. It ends everything once its pipe to us is closed: by us, or because we are gone."""

    def __init__(self, line: list[str], environment: dict[str, str], running: list[_Process]) -> None:
        self.is_late = False
        self.is_interrupted = False
        self._running = running
        self._output, output = os.pipe()
        # The process holds the reading end as its standard input; ours is never written to, only closed. If we are killed, the
        # kernel closes it: no handler has to run.
        try:
            held, hold = os.pipe()
        except OSError:
            os.close(self._output)
            os.close(output)
            raise
        self._hold = [hold]
        running.append(self)
        try:
            self._pid = os.posix_spawn(
                line[0],
                line,
                environment,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, held, 0),
                    (os.POSIX_SPAWN_DUP2, output, 1),
                    (os.POSIX_SPAWN_DUP2, output, 2),
                ],
                setsid=True,
                setsigmask=(),
            )
        except BaseException:
            self._let_go()
            os.close(self._output)
            running.remove(self)
            raise
        finally:
            os.close(held)
            os.close(output)
        self._gone = os.pidfd_open(self._pid)

    def interrupt(self) -> None:
        """End the command; its output so far is still delivered."""
        self.is_interrupted = True
        self._let_go()

    def _let_go(self) -> None:
        """Close our end of the pipe, once: a signal handler and the reader may both get here, and `pop` gives it to one of them."""
        with suppress(IndexError):
            os.close(self._hold.pop())

    def output(self, until: float) -> Iterator[bytes]:
        """Yield the output as it comes, until everything has ended; at `until` the command is ended, and a while later given up."""
        ready = select.poll()
        ready.register(self._output, select.POLLIN)
        while True:
            left = until - time.monotonic()
            if left <= 0:
                if self.is_late:
                    return
                self.is_late = True
                self._let_go()
                until += _GRACE_SECONDS
            elif ready.poll(left * 1000):
                part = os.read(self._output, _PART_BYTES)
                if not part:
                    return
                yield part

    def ended(self) -> int:
        """Return the exit code, once the process has ended."""
        self._let_go()
        self._running.remove(self)
        os.close(self._output)
        # By a descriptor of the process (pidfd), because its number may be another's by the time a signal is sent.
        gone = select.poll()
        gone.register(self._gone, select.POLLIN)
        if not gone.poll(_GRACE_SECONDS * 1000):
            os.kill(self._pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        os.close(self._gone)
        return code if code >= 0 else 128 - code


def _tool(seconds: float) -> Tool:
    """Return the tool as it is described to a model, with the time that a command has."""
    return Tool(
        _NAME,
        "Run a command",
        "Run a command with sh in the root: to build, to test, to look at what no other tool shows. It reads the root and the "
        "programs of the system, writes only in the root and in $HOME, and has no network. "
        f"After {seconds:g} s it is ended, and so is whatever it leaves running. The result begins with `exit code: N`; of a long "
        "output the first and the last part are shown, and the whole is kept.",
        (Parameter("command", "string", REQUIRED, "the command, as for sh -c; nothing can be typed into it"),),
        slow=True,
    )


def _identity(path: str) -> tuple[int, int]:
    """Return what distinguishes a folder from any other; if there is none, values that no folder has."""
    try:
        status = os.stat(path)
    except OSError:
        return -1, -1
    return status.st_dev, status.st_ino


def _check_command(command: str) -> None:
    """Raise `ToolError` for what cannot be passed to a program."""
    try:
        size = len(command.encode())
    except UnicodeEncodeError:
        raise ToolError("bad_argument", "command: it holds half of a UTF-16 pair.") from None
    if not command.strip() or "\0" in command:
        raise ToolError("bad_argument", "command: it is empty or holds a NUL character.")
    if size > _MAX_COMMAND_BYTES:
        said = f"command: it has {size} bytes, at most {_MAX_COMMAND_BYTES} can be handed over."
        raise ToolError("bad_argument", f"{said} Write a script in the root, and run that.")
    # A file rewritten from what was shown of it would lose what was not, and nothing could restore it.
    hidden = mark_in(command) or (stand_ins.find_stand_in(command) if "<<" in command else "")
    if hidden:
        said = f"Refused: the command holds `{escape.clip(hidden, 80)}`, which stands for text that was not shown."
        raise ToolError(
            "bad_argument", f"{said} Change the lines around it, by sed or edit_file, and leave that one as it is."
        )

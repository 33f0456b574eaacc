"""R1: does anything from outside the root come in, while someone swaps folders and files for links that lead out?

Attackers, separate processes, swap as fast as the kernel lets them (`renameat2` with RENAME_EXCHANGE); readers keep opening paths
below the swapped names. The attackers count their swaps in shared memory: an open is *raced* if a swap fell within it. Everything
outside the root is a canary, in content and in name.
Control: a reader that resolves the path, checks it and then opens it. It must leak, otherwise there was no race.
"""

from __future__ import annotations

import mmap
import os
import random
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proof.faces import Answer, Silent, Stdio
from proof.figure import REPOSITORY, Figure, folder, main
from proof.hostile_tree import CANARY

from penstock.errors import ToolError
from penstock.tools import TOOLS, Tools
from penstock.workspace import Workspace
from penstock.workspace.root import Root
from penstock.workspace.system import openat2_works

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Swapped pairs, and what is opened meanwhile: a folder for a link, a file for a link, both further down.
PAIRS = (("d", "link-d"), ("f", "link-f"), ("a/b/d", "a/b/link-d"), ("a/b/c", "a/b/link-rel"))
PATHS = ("d/f", "f", "a/b/d/f", "a/b/c/d/f")
_ATTACKER = os.path.join(REPOSITORY, "proof", "swapping.py")
FOLDERS = ("d", "a/b/d", "a/b", ".")


@dataclass(slots=True)
class Field:
    """A root under attack. `swaps(i)` returns the swap count of pair i."""

    root: str
    counters: memoryview

    def swaps(self, pair: int) -> int:
        return self.counters[_slot(pair)]


def _slot(pair: int) -> int:
    return 8 * (1 + pair)  # a cache line of its own


@contextmanager
def planted() -> Iterator[str]:
    """A root with pairs to swap, and what lies outside it."""
    with folder("race") as base:
        root = os.path.join(base, "root")
        plant(base, root)
        yield root


@contextmanager
def attacked(pairs: tuple[int, ...]) -> Iterator[Field]:
    """A root whose pairs are being swapped, until the block ends."""
    with planted() as root, swapping(root, pairs) as field_:
        yield field_


@contextmanager
def swapping(root: str, pairs: tuple[int, ...]) -> Iterator[Field]:
    """The pairs of a planted root are being swapped, until the block ends."""
    counter_file = os.path.join(os.path.dirname(root), "counters")
    with open(counter_file, "wb") as file:
        file.write(b"\0" * mmap.PAGESIZE)
    with open(counter_file, "r+b") as file:
        page = mmap.mmap(file.fileno(), mmap.PAGESIZE)
    counters = memoryview(page).cast("Q")
    processes = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", _ATTACKER, root, counter_file, str(_slot(pair)), *PAIRS[pair]],
        )
        for pair in pairs
    ]
    try:
        field_ = Field(root, counters)
        end = time.monotonic() + 20
        while not all(field_.swaps(pair) for pair in pairs):
            if time.monotonic() > end or any(process.poll() is not None for process in processes):
                raise RuntimeError("the attackers did not start: renameat2 with RENAME_EXCHANGE is needed")
            time.sleep(0.005)
        with _apart(processes):
            yield field_
    finally:
        counters[0] = 1
        for process in processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        counters.release()
        page.close()


@contextmanager
def _apart(processes: list[subprocess.Popen[bytes]]) -> Iterator[None]:
    """Readers (and children started meanwhile) on one processor, attackers on the others: they run simultaneously."""
    mine = os.sched_getaffinity(0)
    first, *others = sorted(mine)
    if others:
        for process in processes:
            os.sched_setaffinity(process.pid, others)
        os.sched_setaffinity(0, {first})
    try:
        yield
    finally:
        os.sched_setaffinity(0, mine)


def plant(base: str, root: str) -> None:
    outside = os.path.join(base, "outside")
    for inside in (root, os.path.join(root, "d"), os.path.join(root, "a/b/d"), os.path.join(root, "a/b/c/d")):
        os.makedirs(inside, exist_ok=True)
    os.makedirs(os.path.join(outside, "d"))
    for path in PATHS:
        with open(os.path.join(root, path), "wb") as file:
            file.write(b"inside\n")
    for path in ("f", "d/f", f"{CANARY}.canary", f"d/{CANARY}.canary"):
        with open(os.path.join(outside, path), "wb") as file:
            file.write(f"{CANARY}\n".encode())
    os.symlink(outside, os.path.join(root, "link-d"))
    os.symlink(os.path.join(outside, "f"), os.path.join(root, "link-f"))
    os.symlink(outside, os.path.join(root, "a/b/link-d"))
    os.symlink("../../../outside", os.path.join(root, "a/b/link-rel"))


# ── the readers ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Outcome:
    """A reader's results."""

    opens: int = 0
    raced: int = 0
    inside: int = 0
    refused: int = 0
    escapes: int = 0
    seconds: float = 0.0
    refusals: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        said = ", ".join(f"{count} {code}" for code, count in sorted(self.refusals.items()))
        met = f"{self.inside} read, {self.refused} refused: {said}"
        return f"{self.escapes} escapes in {self.raced} raced opens of {self.opens} ({met})"


def race(
    read: Callable[[Field, str], bytes],
    *,
    raced: int,
    seconds: float,
    pairs: tuple[int, ...],
    stop_at_leak: bool = False,
) -> Outcome:
    """`read` repeatedly, until this many opens were raced or this many seconds have passed."""
    outcome = Outcome()
    with attacked(pairs) as field_:
        begun = time.monotonic()
        end = begun + seconds
        while outcome.raced < raced and time.monotonic() < end:
            for pair in pairs:
                path = PATHS[pair]
                for _ in range(200):
                    before = field_.swaps(pair)
                    try:
                        content = read(field_, path)
                    except (OSError, ToolError) as error:
                        outcome.refused += 1
                        code = error.code if isinstance(error, ToolError) else type(error).__name__
                        outcome.refusals[code] = outcome.refusals.get(code, 0) + 1
                    else:
                        outcome.inside += content == b"inside\n"
                        outcome.escapes += content != b"inside\n"
                    outcome.raced += field_.swaps(pair) != before
                    outcome.opens += 1
            if stop_at_leak and outcome.escapes >= 5:
                break
        outcome.seconds = time.monotonic() - begun
    return outcome


def naive(field_: Field, path: str) -> bytes:
    """What most file tools do: resolve, compare, open. The control of this rig."""
    real = os.path.realpath(os.path.join(field_.root, path))
    if not real.startswith(field_.root + os.sep):
        raise PermissionError(path)
    with open(real, "rb") as file:
        return file.read(64)


def through_root(confinement: str) -> Callable[[Field, str], bytes]:
    """A reader by `Root.open_file`."""
    roots: dict[str, Root] = {}

    def read(field_: Field, path: str) -> bytes:
        root = roots.get(field_.root)
        if root is None:
            root = roots[field_.root] = Root(field_.root, confinement=confinement)
        file = root.open_file(path.encode())
        try:
            return os.pread(file.descriptor, 64, 0)
        finally:
            file.close()

    return read


def _calls(generator: random.Random) -> Iterator[tuple[str, dict[str, object]]]:
    """Endless calls of every tool on what is being swapped."""
    while True:
        path, at = generator.choice(PATHS), generator.choice(FOLDERS)
        calls: tuple[tuple[str, dict[str, object]], ...] = (
            ("view", {"file_path": path}),
            ("read_file", {"path": path}),
            ("read_file", {"path": path, "start_byte": 0, "encoding": "base64"}),
            ("outline", {"path": path}),
            ("search", {"pattern": ".", "path": at}),
            ("search", {"pattern": "-7f3e-", "path": path}),
            ("list_files", {"path": at, "recursive": True, "limit": 100}),
            ("count_files", {"path": at}),
            ("view", {"file_path": os.path.dirname(path) + "/nothing"}),  # the folder is searched for similar names
        )
        yield from calls


def leaks(text: str) -> bool:
    """Whether an answer holds a name, a text or an extension from outside, also in base64."""
    return CANARY in text or ".canary" in text or "Q0FOQVJZ" in text


def tools_under_race(confinement: str, *, calls: int, seconds: float, seed: int) -> Outcome:
    """Every tool in this process; an open here is a call."""
    outcome = Outcome()
    with attacked((0, 1, 2, 3)) as field_:
        tools = Tools(Workspace(field_.root, confinement=confinement))
        _ask(
            lambda name, arguments: (
                (result := tools.call(name, arguments)) and Answer(result.text, result.is_error, result.code, 0)
            ),
            field_,
            outcome,
            calls,
            seconds,
            seed,
        )
        tools.workspace.root.close()
    return outcome


def server_under_race(*, calls: int, seconds: float, seed: int) -> Outcome:
    """Every tool through a server over standard input and output, with Landlock if the kernel has it."""
    outcome = Outcome()
    with planted() as root, Stdio(root) as face:
        face.call("view", {"file_path": "nothing"})  # until it has begun, attackers would take the processors from it
        with swapping(root, (0, 1, 2, 3)) as field_:
            _ask(face.call, field_, outcome, calls, seconds, seed)
    return outcome


def _ask(
    ask: Callable[[str, dict[str, object]], Answer],
    field_: Field,
    outcome: Outcome,
    calls: int,
    seconds: float,
    seed: int,
) -> None:
    begun = time.monotonic()
    for name, arguments in _calls(random.Random(seed)):
        if outcome.raced >= calls or time.monotonic() > begun + seconds:
            break
        before = [field_.swaps(pair) for pair in range(4)]
        answer = ask(name, arguments)
        outcome.opens += 1
        outcome.raced += any(field_.swaps(pair) != before[pair] for pair in range(4))
        if leaks(answer.text):
            outcome.escapes += 1
        elif answer.is_error:
            outcome.refused += 1
            outcome.refusals[answer.code or "error"] = outcome.refusals.get(answer.code or "error", 0) + 1
        else:
            outcome.inside += 1
    outcome.seconds = time.monotonic() - begun


# ── paths that need no race ──────────────────────────────────────────────────────────────────────────────────────


def static_paths(base: str, root: str) -> list[str]:
    """Sixty spellings of a place outside."""
    outside = os.path.join(base, "outside")
    ups = [f"{'../' * n}outside/f" for n in (1, 2, 3, 8, 64)]
    steps = [
        "d/../../outside/f",
        "a/b/../../../outside/f",
        "./.././outside/f",
        ".//..//outside//f",
        "a/./b/.././../../outside/f",
    ]
    absolute = [
        outside,
        outside + "/f",
        "/etc/passwd",
        "//etc/passwd",
        "/",
        "/proc/self/environ",
        "/proc/self/root" + outside + "/f",
    ]
    absolute += [root + "/../outside/f", root + "-evil/f", root + "/./../outside", root.upper() + "/f", base]
    escaped = [
        r"\x2e\x2e/outside/f",
        r"\u{2e}\u{2e}/outside/f",
        r".\x2e/outside/f",
        r"\x2f" + outside[1:] + "/f",
        r"d/\x2e\x2e/\x2e\x2e/outside/f",
    ]
    coded = [
        "%2e%2e/outside/f",
        "..%2foutside%2ff",
        "%252e%252e/outside/f",
        "..\\outside\\f",
        "..;/outside/f",
        "．．/outside/f",
        "․․/outside/f",
        "..%c0%afoutside/f",
    ]
    links = [
        "link-d/f",
        "link-d",
        "link-f",
        "a/b/link-d/f",
        "a/b/link-rel/f",
        "a/b/link-rel/d/f",
        "link-d/../outside/f",
        "chain/f",
        "chain-f",
        "d/link/f",
        "proc/self/environ",
        "fd",
    ]
    odd = [
        "~/outside/f",
        "~root/.bashrc",
        f"file://{outside}/f",
        "$HOME",
        "`id`",
        "f\n../outside/f",
        " ../outside/f",
        "../outside/f ",
        "-",
        "--root=/etc",
        "..",
        "../",
        "...",
        ". ./outside/f",
        "d/f/../../../outside/f",
    ]
    return [*ups, *steps, *absolute, *escaped, *coded, *links, *odd]


def static_attacks() -> tuple[int, list[str]]:
    """Every path through every tool, with both ways of resolving: how many calls, and which of them leaked."""
    tried, leaked = 0, []
    with folder("paths") as base:
        root = os.path.join(base, "root")
        plant(base, root)
        for name, target in {
            "chain": "link-d",
            "chain-f": "chain/f",
            "d/link": "../../outside",
            "proc": "/proc",
            "fd": "/proc/self/fd",
        }.items():
            os.symlink(target, os.path.join(root, name))
        for confinement in _confinements():
            tools = Tools(Workspace(root, confinement=confinement, allow_secrets=True))
            for path in static_paths(base, root):
                for tool in TOOLS:
                    names = [parameter.name for parameter in tool.parameters if parameter.name in {"path", "file_path"}]
                    if not names:
                        continue
                    arguments: dict[str, object] = {names[0]: path}
                    if tool.name == "search":
                        arguments["pattern"] = "."
                    if tool.name == "list_files":
                        arguments |= {"recursive": True, "limit": 100}
                    tried += 1
                    result = tools.call(tool.name, arguments)
                    if leaks(result.text.replace(path, "")) or "root:x:" in result.text or "PATH=" in result.text:
                        leaked.append(f"{confinement} {tool.name} {path!r}: {result.text[:120]}")
            tools.workspace.root.close()
    return tried, leaked


def _confinements() -> tuple[str, ...]:
    return ("openat2", "walk") if openat2_works() else ("walk",)


# ── the figure ───────────────────────────────────────────────────────────────────────────────────────────────────


def measure(*, long: bool, seed: int) -> Figure:
    """Escapes from the root, raced and static, in every tool."""
    opens, seconds = (1_000_000, 1_800.0) if long else (6_000, 0.3)
    calls, call_seconds = (50_000, 90.0) if long else (400, 0.25)
    control = race(naive, raced=1 << 62, seconds=20.0 if long else 6.0, pairs=(0,), stop_at_leak=True)
    notes = [f"control, realpath then open: {control}"]
    outcomes = {}
    for confinement in _confinements():
        pairs = ((0, 1), (2, 3)) if long else ((0,), (3,))
        for part in pairs:
            label = f"Root.open_file by {confinement}, {' and '.join(PATHS[pair] for pair in part)}"
            outcomes[label] = race(through_root(confinement), raced=opens // 2, seconds=seconds / 2, pairs=part)
        outcomes[f"tools by {confinement}"] = tools_under_race(
            confinement, calls=calls, seconds=call_seconds, seed=seed
        )
    try:
        outcomes["tools of a server over stdio"] = server_under_race(calls=calls // 5, seconds=call_seconds, seed=seed)
    except Silent as silence:
        notes.append(f"the server did not answer: {silence}")
    notes += [f"{label}: {outcome}" for label, outcome in outcomes.items()]
    tried, leaked = static_attacks()
    notes.append(f"static: {len(leaked)} leaks in {tried} calls with paths that lead out")
    notes += leaked
    raced = sum(outcome.raced for outcome in outcomes.values())
    escapes = sum(outcome.escapes for outcome in outcomes.values()) + len(leaked)
    effective = control.escapes > 0
    if not effective:
        notes.append("race not effective here: the control did not leak, so the zero says nothing")
    if "openat2" not in _confinements():
        notes.append("openat2 is not to be had here: only the fallback was raced")
    enough = not long or all(
        sum(o.raced for label, o in outcomes.items() if f"by {c}," in label) >= opens for c in _confinements()
    )
    if not enough:
        notes.append(f"fewer than {opens} raced opens a way in the time given")
    leaked_share = 100 * control.escapes / max(control.opens, 1)
    return Figure(
        rig="R1",
        name="escapes",
        value=f"{escapes} in {raced} raced opens and {tried} static calls (the control leaks {leaked_share:.1f} %)",
        target=f"0{' in 1000000 raced opens each way' if long else ''}, and the control leaks",
        met=escapes == 0 and effective and enough and not any("did not answer" in note for note in notes),
        seed=seed,
        notes=tuple(notes),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))

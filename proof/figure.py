"""What did a rig measure? One figure, its target, and whether the target is met.

Leaves to others: how anything is measured. A rig is a module with `measure(long=, seed=) -> Figure`; run alone it prints one line.
"""

from __future__ import annotations

import argparse
import inspect
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Made = TypeVar("Made")

SEED = 20261121
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None  # for rigs that do not test the disk
REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One line of the scoreboard. `notes` say what did not hold, or what could not be tried and why."""

    rig: str
    name: str
    value: str
    target: str
    met: bool
    seed: int | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        seed = "" if self.seed is None else f", seed {self.seed}"
        verdict = "met" if self.met else "MISSED"
        line = f"{self.rig} {self.name}: {self.value} (target {self.target}: {verdict}; {self.seconds:.1f} s{seed})"
        return "\n".join([line, *(f"   - {note}" for note in self.notes[:60])])


class NotHere(Exception):
    """Something that this machine cannot do, and why: a missing program, a missing right."""


def untried(rig: str, name: str, target: str, why: NotHere) -> Figure:
    """The line of a rig that cannot run here. A target that was not measured is not met."""
    return Figure(rig=rig, name=name, value="not tried here", target=target, met=False, notes=(str(why),))


class Rig(Protocol):
    """What every rig's module offers."""

    def __call__(self, *, long: bool, seed: int) -> Figure: ...


def timed(measure: Rig, *, long: bool, seed: int) -> Figure:
    """The figure with its duration in seconds."""
    start = time.monotonic()
    figure = measure(long=long, seed=seed)
    return replace(figure, seconds=time.monotonic() - start)


_SAID_EVERY_SECONDS = 60.0


def told_each_minute(rig: str, made: Iterable[Made], total: int) -> Iterator[Made]:
    """The same items, one after another; once a minute, a line on standard error says how many there were so far."""
    said = time.monotonic()
    for done, one in enumerate(made, 1):
        yield one
        if time.monotonic() - said >= _SAID_EVERY_SECONDS:
            print(f"{rig}: {done} of {total} files", file=sys.stderr, flush=True)
            said = time.monotonic()


def forked(processes: int | None = None, begin: Callable[[], object] | None = None) -> ProcessPoolExecutor:
    """Return processes that share the work of a rig, as copies of this one: one that is killed ends the rig with an error.

    A `multiprocessing.Pool` would wait for its answer for ever.

    Args:
        processes: How many; None for one a processor.
        begin: What each calls first.
    """
    return ProcessPoolExecutor(processes, multiprocessing.get_context("fork"), begin)


_AGAIN_SECONDS = 1.0


def clean_up_when_terminated() -> None:
    """Lets a terminated rig still remove its trees, and leaves no process behind that it began to share its work with."""

    def end(*_: object) -> None:
        for process in multiprocessing.active_children():  # an exit only waits for them, and the next one ends the wait
            process.kill()
        # Python ignores an exit raised within a finalizer, as of an abandoned generator: the rig would continue. So it is raised
        # again until a tree is being removed.
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS, _AGAIN_SECONDS)
        sys.exit(128 + signal.SIGTERM)

    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, end)


def main(measure: Rig) -> int:
    """The command line of a rig: `python -m proof.NAME [--long] [--seed N]`; 1 if the target is missed.

    Rigs whose long form takes hours also accept `--seconds N`: how long it may take.
    """
    parser = argparse.ArgumentParser(description=measure.__doc__)
    parser.add_argument("--short", action="store_true", help="the short form, for the suite (default)")
    parser.add_argument("--long", action="store_true", help="the full form, for releases")
    parser.add_argument("--seed", type=int, default=SEED)
    if "seconds" in inspect.signature(measure).parameters:
        parser.add_argument("--seconds", type=float, default=argparse.SUPPRESS, help="how long it may take")
    given = parser.parse_args()
    limits = {"seconds": given.seconds} if "seconds" in given else {}
    clean_up_when_terminated()
    figure = timed(partial(measure, **limits), long=given.long, seed=given.seed)
    print(figure, flush=True)
    return 0 if figure.met else 1


@contextmanager
def folder(prefix: str, within: str | None = None) -> Iterator[str]:
    """A temporary folder that any user may enter; removed afterwards, whatever it holds and whatever happened."""
    path = tempfile.mkdtemp(prefix=f"penstock-{prefix}-", dir=within)
    os.chmod(path, 0o755)
    try:
        yield path
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        remove(path)


def remove(path: str) -> None:
    """Removes a tree. Python's own function gives up at 1,000 levels; that of coreutils does not."""
    for attempt in (0, 1):
        if attempt:
            subprocess.run(["chmod", "-R", "u+rwX", "--", path], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--", path], check=False, stderr=subprocess.DEVNULL)
        if not os.path.lexists(path):
            return
    print(f"{path} could not be removed", file=sys.stderr)

"""What do the tests of a copy of the repository say about a mutant? The tests are loaded once, and run for each mutant in a fork.

Laws: a test that fails without the mutant, alone, kills nothing, and is reported; a mutant in code that is run when modules are
loaded meets tests that are loaded with it; the copy's modules are restored afterwards.
Leaves to others: how a line could be wrong (`mutating`), who sees it (`line_coverage`), how a fork tries it (`warm`).
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from proof.line_coverage import PYTEST, Chosen, LineCoverage, environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proof.mutating import Mutant

OUT_OF_TIME = "out of time"
UNLOADABLE = "the tests cannot be loaded"
_PATIENCE, _LEAST_SECONDS = 8, 20.0
"""How many times its recorded time a test may take with a mutant; and the least limit."""
_ALONE_SECONDS = 120.0


class Verdict(NamedTuple):
    """The tests' verdict on a mutant."""

    killer: str | None
    """The test that failed first, or that the time ran out; None for a survivor."""
    tests: int
    """How many see it."""
    seconds: float
    """Processor time, including loading if the mutant needed its own."""


class Judge:
    """A copy's tests, run against one mutant at a time."""

    def __init__(self, path: str, coverage: LineCoverage) -> None:
        self._path = path
        self._coverage = coverage
        self._loaded: tuple[tuple[str, ...], _Asked] | None = None
        self._sound: dict[str, bool] = {}
        self.unsound: list[str] = []
        """Tests that failed with a mutant, and alone without it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._unload()

    def verdict(self, mutant: Mutant, tests: Sequence[str]) -> Verdict:
        """The verdict of some tests: files and folders, from the top of the repository."""
        files = self._coverage.files(tests)
        chosen = self._coverage.chosen(mutant, files)
        left, spent = chosen.tests, 0.0
        while left:
            killer, seconds = self._killer(mutant, chosen._replace(tests=left), files)
            spent += seconds
            if killer is None:
                break
            sound, seconds = self._is_sound(killer, files)
            spent += seconds
            if sound:
                return Verdict(killer, len(chosen.tests), spent)
            self.unsound.append(killer)
            left = left[left.index(killer) + 1 :]
        return Verdict(None, len(chosen.tests), spent)

    def _killer(self, mutant: Mutant, chosen: Chosen, files: tuple[str, ...]) -> tuple[str | None, float]:
        """The test that fails first, with the mutant on disk and in the fork; and the processor time."""
        whole = Path(self._path, mutant.path).read_bytes()
        changed = mutant.applied(whole)
        job = {
            "module": os.path.join(self._path, mutant.path),
            "old": whole.decode(),
            "new": changed.decode(),
            "tests": {test: max(_LEAST_SECONDS, _PATIENCE * chosen.seconds[test]) for test in chosen.tests},
        }
        loaded = None if chosen.is_early else self._load(files)  # before the disk has the mutant
        self._write(mutant.path, changed)
        try:
            answer: dict[str, Any] = {"cannot": True} if loaded is None else loaded.ask(job)
            if "cannot" not in answer:
                return answer["failed"], answer["seconds"]
            before = _seconds_of_ended()
            with _Asked(self._path, self._coverage.files(test.partition("::")[0] for test in chosen.tests)) as anew:
                answer = anew.ask({**job, "new": job["old"]})
            return answer["failed"], _seconds_of_ended() - before
        finally:
            self._write(mutant.path, whole)

    def _is_sound(self, killer: str, files: tuple[str, ...]) -> tuple[bool, float]:
        """Whether a test passes alone, without any mutant; anything that is not a test counts as sound."""
        seconds = 0.0
        if killer not in self._sound and "::" in killer:
            job = {"module": "", "old": "", "new": "", "tests": {killer: _ALONE_SECONDS}}
            answer = self._load(files).ask(job)
            self._sound[killer], seconds = answer["failed"] is None, answer["seconds"]
        return self._sound.get(killer, True), seconds

    def _load(self, files: tuple[str, ...]) -> _Asked:
        if self._loaded is None or self._loaded[0] != files:
            self._unload()
            self._loaded = files, _Asked(self._path, files)
        return self._loaded[1]

    def _unload(self) -> None:
        if self._loaded is not None:
            self._loaded[1].close()
            self._loaded = None

    def _write(self, path: str, content: bytes) -> None:
        """Change a module; a compiled form of another version is never used for it, even with the same size and second."""
        module = Path(self._path, path)
        module.write_bytes(content)
        for compiled in module.parent.glob(f"__pycache__/{module.stem}.*"):
            compiled.unlink()


class _Asked:
    """A process that has loaded tests."""

    def __init__(self, path: str, files: Sequence[str]) -> None:
        self._running = subprocess.Popen(
            [sys.executable, *PYTEST, "-p", "proof.warm", *files],
            cwd=path,
            env={**environment(path), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        assert self._running.stdout is not None
        self._running.stdout.readline()  # from now on the modules on disk may change

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """The answer to a job; tests that cannot be loaded have failed."""
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        with suppress(BrokenPipeError):
            print(json.dumps(job), file=self._running.stdin, flush=True)
        line = self._running.stdout.readline()
        answer: dict[str, Any] = json.loads(line or json.dumps({"failed": UNLOADABLE, "seconds": 0.0}))
        return answer

    def close(self) -> None:
        """End it and everything that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._running.pid, signal.SIGKILL)
        self._running.communicate()


def _seconds_of_ended() -> float:
    """Processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

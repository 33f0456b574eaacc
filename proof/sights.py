"""Which tests of a copy of the repository see a mutant? Those that ran its line, once written down by `reaching`.

Laws: a mutant that is run when modules are loaded is seen by every test that runs anything of its module; a test that starts
processes is behind the others, as it may run any line there; what was written down of a file of tests is asked for again when the
file, or a module that its tests reach, is another.
Keeps out: what the tests say.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from proof.reaching import EARLY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from proof.mutating import Mutant

PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no")
_AT_ONCE = 4
"""Of how many files is kept together what was written down: who ends a run loses no more."""


class Sight(NamedTuple):
    """What is known of the tests of one file."""

    tests: dict[str, dict[str, Any]]
    """By their names: `seconds`, whether it `starts` processes and `fails` as it is, and its `fixtures` that are shared."""
    reached: dict[str, dict[str, list[int]]]
    """Of each module, by test, by fixture, and by `EARLY`: the lines that were run."""
    digest: str


class Chosen(NamedTuple):
    """The tests that see a mutant, in the order in which they are asked."""

    tests: list[str]
    is_early: bool
    """Whether the mutant is run when modules are loaded."""
    seconds: dict[str, float]
    """What each of them took when it was looked at."""


class Sights:
    """What the tests of one copy see."""

    def __init__(self, path: str, modules: Sequence[str], notes: Path) -> None:
        self._path = path
        self._modules = modules
        self._notes = notes
        self._known: dict[str, Sight] = {}

    def files(self, tests: Iterable[str]) -> tuple[str, ...]:
        """The files of tests, of files and folders from the top of the repository."""
        found: set[str] = set()
        for test in tests:
            top = Path(self._path, test)
            found |= {os.path.relpath(one, self._path) for one in ([top] if top.is_file() else top.rglob("test_*.py"))}
        return tuple(sorted(found))

    def chosen(self, mutant: Mutant, files: Sequence[str]) -> Chosen:
        """Who sees a mutant: what is quick and alone comes first, then what shares a fixture, then what starts processes."""
        self._look(files)
        early = mutant.outer is None or any(self._reached(file, mutant, EARLY) for file in files)
        near: list[tuple[bool, str, float, str]] = []
        far: list[tuple[float, str]] = []
        seconds: dict[str, float] = {}
        for file in files:
            ran = self._known[file].reached.get(mutant.path, {})
            for name, test in self._known[file].tests.items():
                contexts = [name, *test["fixtures"]]
                if test["fails"]:
                    continue
                if any(self._reached(file, mutant, one) or (early and one in ran) for one in contexts):
                    near.append((bool(test["fixtures"]), file if test["fixtures"] else "", test["seconds"], name))
                elif test["starts"]:
                    far.append((test["seconds"], name))
                else:
                    continue
                seconds[name] = test["seconds"]
        return Chosen([one[-1] for one in sorted(near)] + [one[-1] for one in sorted(far)], early, seconds)

    def failing(self) -> list[str]:
        """Tests that failed as they are, and can kill nothing."""
        return [name for sight in self._known.values() for name, test in sight.tests.items() if test["fails"]]

    def _reached(self, file: str, mutant: Mutant, context: str) -> bool:
        return not mutant.lines.isdisjoint(self._known[file].reached.get(mutant.path, {}).get(context, ()))

    def _look(self, files: Sequence[str]) -> None:
        """Know what each test of some files sees."""
        for file in files:
            if file not in self._known and self._note(file).exists():
                sight = Sight(**json.loads(self._note(file).read_text()))
                if sight.digest == self._digest(file, sight.reached):
                    self._known[file] = sight
        unknown = [file for file in files if file not in self._known]
        for at in range(0, len(unknown), _AT_ONCE):
            self._write_down(unknown[at : at + _AT_ONCE])

    def _write_down(self, files: Sequence[str]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder, "reached")
            where = [word for module in self._modules for word in ("--reached-in", os.path.join(self._path, module))]
            subprocess.run(
                [sys.executable, *PYTEST, "-p", "proof.reaching", "--reached", str(told), *where, *files],
                cwd=self._path,
                env=environment(self._path),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
            self._learn(files, json.loads(told.read_text()))

    def _learn(self, files: Iterable[str], found: dict[str, Any]) -> None:
        self._notes.mkdir(parents=True, exist_ok=True)
        for file in files:
            tests = {name: test for name, test in found["tests"].items() if name.partition("::")[0] == file}
            contexts = {EARLY, *tests, *(fixture for test in tests.values() for fixture in test["fixtures"])}
            reached = {
                os.path.relpath(module, self._path): {one: lines for one, lines in by.items() if one in contexts}
                for module, by in found["reached"].items()
            }
            self._known[file] = sight = Sight(tests, reached, self._digest(file, reached))
            self._note(file).write_text(json.dumps(sight._asdict()))

    def _note(self, file: str) -> Path:
        return self._notes / f"{file.replace(os.sep, '-')}.json"

    def _digest(self, file: str, reached: dict[str, dict[str, list[int]]]) -> str:
        modules = sorted(module for module, by in reached.items() if set(by) - {EARLY})
        texts = [one.read_bytes() if (one := Path(self._path, name)).exists() else b"" for name in (file, *modules)]
        return hashlib.sha256(repr((modules, [hashlib.sha256(text).digest() for text in texts])).encode()).hexdigest()


def environment(path: str) -> dict[str, str]:
    """That of processes which take the product from a copy."""
    return {**os.environ, "PYTHONPATH": f"{path}/src:{path}", "PYTHONDONTWRITEBYTECODE": ""}

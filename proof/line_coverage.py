"""Which tests of a copy of the repository see a mutant? Those that ran its line, recorded once by `reaching`.

Laws: a mutant in code that is run when modules are loaded is seen by every test that runs anything of its module; a test that
starts processes comes last, because it may run any line there; the record for a test file is renewed when the file, a function that
its tests ran, or a module's code outside functions has changed; code that only moved is found again. Leaves to others: what the
tests report.
"""

from __future__ import annotations

import ast
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
"""How many files' records are saved together: aborting a run loses no more."""


class FileCoverage(NamedTuple):
    """What is known of the tests of one file."""

    tests: dict[str, dict[str, Any]]
    """By name: `seconds`, whether it `starts` processes and `fails` without a mutant, and its shared `fixtures`."""
    reached: dict[str, dict[str, list[int]]]
    """For each module, by test, by fixture, and by `EARLY`: the lines that were run."""
    texts: dict[str, str]
    """The content of the file and those modules at that time, by path."""


class Chosen(NamedTuple):
    """The tests that see a mutant, in the order in which they are run."""

    tests: list[str]
    is_early: bool
    """Whether the mutant's code is run when modules are loaded."""
    seconds: dict[str, float]
    """The time that each of them took when it was recorded."""


class LineCoverage:
    """What the tests of one copy see."""

    def __init__(self, path: str, modules: Sequence[str], notes: Path) -> None:
        self._path = path
        self._modules = modules
        self._notes = notes
        self._known: dict[str, FileCoverage] = {}

    def files(self, tests: Iterable[str]) -> tuple[str, ...]:
        """The test files among files and folders, from the top of the repository."""
        found: set[str] = set()
        for test in tests:
            top = Path(self._path, test)
            found |= {os.path.relpath(one, self._path) for one in ([top] if top.is_file() else top.rglob("test_*.py"))}
        return tuple(sorted(found))

    def chosen(self, mutant: Mutant, files: Sequence[str]) -> Chosen:
        """The tests that see a mutant: quick, independent ones first, then those that share a fixture, then those that start
        processes or, if the mutant is in code that is run when modules are loaded, are loaded with it: they may read a constant
        without running a line of its module.
        """
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
                elif test["starts"] or (early and ran):
                    far.append((test["seconds"], name))
                else:
                    continue
                seconds[name] = test["seconds"]
        return Chosen([one[-1] for one in sorted(near)] + [one[-1] for one in sorted(far)], early, seconds)

    def failing(self) -> list[str]:
        """Tests that failed without a mutant, and can kill nothing."""
        return [name for found in self._known.values() for name, test in found.tests.items() if test["fails"]]

    def _reached(self, file: str, mutant: Mutant, context: str) -> bool:
        return not mutant.lines.isdisjoint(self._known[file].reached.get(mutant.path, {}).get(context, ()))

    def _look(self, files: Sequence[str]) -> None:
        """Find out what each test of some files sees."""
        for file in files:
            if file not in self._known and self._note(file).exists():
                note = json.loads(self._note(file).read_text())
                if (
                    note.keys() == set(FileCoverage._fields)
                    and (now := self._now(FileCoverage(**note), file)) is not None
                ):
                    self._known[file] = now
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
            self._known[file] = known = FileCoverage(tests, reached, {one: self._text(one) for one in (file, *reached)})
            self._note(file).write_text(json.dumps(known._asdict()))

    def _note(self, file: str) -> Path:
        return self._notes / f"{file.replace(os.sep, '-')}.json"

    def _now(self, found: FileCoverage, file: str) -> FileCoverage | None:
        """The record in terms of today's lines; None if it may be outdated."""
        if found.texts[file] != self._text(file):
            return None
        reached: dict[str, dict[str, list[int]]] = {}
        for module, by in found.reached.items():
            places = _places(found.texts[module], self._text(module))
            ran = [line for one, lines in by.items() if one != EARLY for line in lines]
            if any(line not in places for line in ran):
                return None
            reached[module] = {one: [places[line] for line in lines if line in places] for one, lines in by.items()}
        return found._replace(reached=reached)

    def _text(self, path: str) -> str:
        whole = Path(self._path, path)
        return whole.read_text(encoding="utf-8") if whole.exists() else ""


def _places(old: str, new: str) -> dict[int, int]:
    """The new positions of a module's lines in a changed text: those of each unchanged function, provided that the code outside
    functions is unchanged, because any function may depend on it.
    """
    if old == new:
        return {line: line for line in range(1, old.count("\n") + 2)}
    places: dict[int, int] = {}
    others = _parts(new)
    for name, lines in _parts(old).items():
        same = others.get(name, {})
        if list(lines.values()) == list(same.values()):
            places |= dict(zip(lines, same, strict=True))
        elif not name:
            return {}
    return places


def _parts(text: str) -> dict[str, dict[int, str]]:
    """The lines of each outermost function, by its name and occurrence, and the code outside them, under no name."""
    lines = dict(enumerate(text.splitlines(), 1))
    parts: dict[str, dict[int, str]] = {}

    def walk(node: ast.AST, within: str) -> None:
        for inner in ast.iter_child_nodes(node):
            name = f"{within}.{getattr(inner, 'name', '')}"
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                while name in parts:
                    name += "'"
                first = min([inner.lineno, *(one.lineno for one in inner.decorator_list)])
                parts[name] = {at: lines.pop(at) for at in range(first, (inner.end_lineno or first) + 1)}
            else:
                walk(inner, name)

    walk(ast.parse(text), "")
    parts[""] = {at: line for at, line in lines.items() if line.strip() and not line.lstrip().startswith("#")}
    return parts


def environment(path: str) -> dict[str, str]:
    """The environment of processes that import the product from a copy."""
    return {**os.environ, "PYTHONPATH": f"{path}/src:{path}", "PYTHONDONTWRITEBYTECODE": ""}

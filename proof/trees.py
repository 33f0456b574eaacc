"""R25: does work on a real tree end, and end right, with a model that errs as models do (S-10, S-11, L-1)?

A tree of real sources is copied; a dozen of their lines are to be changed. `penstock run` does it with a model over real HTTP, in
each API's own format, in a window too small for what is read; the model errs before half of its steps (`erring`), and now and then
somebody else adds a line to a file between a look and an edit. The run must end with its answer, and the disk must hold what was
planned, byte for byte, in every file of the tree, including what the other wrote.
The long form takes packages of the standard library and installed ones; the short one folders of our own.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

from proof.erring import Erring, Planned, bent
from proof.figure import REPOSITORY, Figure, folder, main

from penstock.models import provider as doubles
from penstock.testing import LoopbackProvider, routes

if TYPE_CHECKING:
    from collections.abc import Sequence

_RUNS, _SHORT_RUNS = 50, 2
_EDITS, _SHORT_EDITS = 12, 5
_WINDOW_TOKENS, _SHORT_WINDOW_TOKENS = 16_000, 12_000
_WIRES = ("openai-chat", "anthropic", "openai-responses", "gemini", "bedrock")
_GOES_ON = 3
"""How often somebody lets a session continue that has used up its error budget."""
_MIN_FILES = 4
_MAX_TREE_BYTES = 4 << 20
_COMMENT = re.compile(r"( *)# [ -\[\]-~]{8,100}")
"""A line that may change without changing the program; no backslash, so that a page shows it unchanged."""


class Ended(NamedTuple):
    """One run."""

    faults: tuple[str, ...]
    erred: Counter[str]
    cuts: int
    turns: int
    raced: int


def _suits(path: Path) -> bool:
    """Whether a file has a unique comment, and a text that is not unique."""
    return path.stat().st_size < 200_000 and bool(_comments(path))


def _comments(path: Path) -> list[tuple[int, str]]:
    """The comments of a file that occur once, with their lines; empty for a file that is not all plain text."""
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        return []
    if "\r" in text or not _twice(text):
        return []
    lines = text.split("\n")
    return [
        (number, line) for number, line in enumerate(lines, 1) if _COMMENT.fullmatch(line) and text.count(line) == 1
    ]


def _twice(text: str) -> str:
    """A line that occurs more than once in a text."""
    counted = Counter(line for line in text.split("\n") if re.fullmatch(r" +[ -\[\]-~]+", line))
    return next((line for line, count in counted.most_common() if count > 1), "")


def trees(*, long: bool) -> list[Path]:
    """Folders of sources that are large enough, and not too large."""
    above = [Path(REPOSITORY, "src", "penstock")]
    if long:
        above = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")]
    return [
        path
        for one in above
        for path in sorted(one.iterdir())
        if path.is_dir() and path.name not in {"site-packages", "test"} and "-info" not in path.name and _is_large(path)
    ]


def _is_large(tree: Path) -> bool:
    files = [path for path in tree.rglob("*.py") if not path.is_symlink()]
    if sum(path.stat().st_size for path in files) > _MAX_TREE_BYTES:
        return False
    return sum(_suits(path) for path in files) >= _MIN_FILES


def planned(dice: random.Random, tree: Path, number: int) -> list[Planned]:
    """The planned changes: comments of several files, in any order."""
    files = sorted(path for path in tree.rglob("*.py") if _suits(path))
    found: dict[tuple[Path, int], Planned] = {}
    for _ in range(number * 4):
        path = dice.choice(files)
        line, old = dice.choice(_comments(path))
        new = f"{_COMMENT.fullmatch(old)[1]}# Changed by plan, {dice.randrange(10**9)}."  # type: ignore[index]
        twice = _twice(path.read_text(encoding="utf-8"))
        name = path.relative_to(tree).as_posix()
        found[path, line] = Planned(name, line, old, new, twice, is_raced=dice.randrange(4) == 0)
        if len(found) == number:
            break
    return list(found.values())


def run(dice: random.Random, source: Path, wire: str, edits: int, window_tokens: int, driver: Sequence[str]) -> Ended:
    """Work on a copy of a tree, and return what was wrong at its end."""
    with folder("trees") as home:
        tree = Path(home, "tree")
        shutil.copytree(source, tree, ignore=shutil.ignore_patterns("__pycache__", "*.so"), symlinks=True)
        plan = planned(dice, tree, edits)
        expected = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
        added: list[str] = []

        def race(name: str) -> None:
            """Somebody else adds a line, through a rename."""
            path = tree / name
            added.append(name)
            beside = path.with_name(".beside")
            beside.write_bytes(path.read_bytes() + b"\n# added by another\n")
            os.replace(beside, path)

        secret = f"quorum-{dice.randrange(10**6)}"
        erring = Erring(wire, plan, secret, dice, race)
        with (
            patch.object(doubles, "wire_named", lambda name: bent(erring, name)),
            patch.object(routes, "wire_named", lambda name: bent(erring, name)),
            LoopbackProvider(wire, window_tokens, policy=erring) as served,
        ):
            done = _told(driver, home, served, _goal(plan, secret), window_tokens)
        for item in plan:
            path = tree / item.path
            expected[path] = expected[path].replace(item.old.encode(), item.new.encode())
        for name in added:
            expected[tree / name] += b"\n# added by another\n"
        faults = [] if done.get("answer") == f"All {len(plan)} are done: {secret}" else [f"it ended with {done}"]
        there = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
        wrong = [path for path in there.keys() | expected.keys() if there.get(path) != expected.get(path)]
        faults += [
            f"{path.relative_to(tree)} is not what was planned: {_first_difference(expected.get(path), there.get(path))}"
            for path in sorted(wrong)
        ]
        told = [f"{source.name}, {wire}: {fault:.400}" for fault in faults]
        return Ended(tuple(told), erring.erred, _count(done, "cuts"), _count(done, "turns"), len(added))


def _first_difference(planned: bytes | None, found: bytes | None) -> str:
    """The first lines that differ."""
    if planned is None or found is None:
        return "nobody planned it" if planned is None else "it is not there"
    pairs = zip_longest(planned.split(b"\n"), found.split(b"\n"))
    line, pair = next((number, pair) for number, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return f"line {line}: planned {pair[0]!r:.100}, found {pair[1]!r:.100}"


def _count(told: dict[str, object], name: str) -> int:
    found = told.get(name)
    return found if isinstance(found, int) else 0


def _goal(plan: Sequence[Planned], secret: str) -> str:
    """What the user asks for."""
    rows = "\n".join(f"{item.path}:{item.line} becomes {item.new.strip()!r}" for item in plan)
    return f"Change these lines, one after the other, then say {secret}:\n{rows}"


def _told(
    driver: Sequence[str], home: str, served: LoopbackProvider, goal: str, window_tokens: int
) -> dict[str, object]:
    """The command's output at its end, with the turns and cuts of everything before.

    A session tolerates five mistakes in twenty turns that are not corrected at once (S-11). If this model makes more, somebody
    checks and lets it continue, as the message asks.
    """
    about = ["--model", f"{served.wire}:x", "--base-url", served.base_url, "--json"]
    fresh = ["--root", f"{home}/tree", "--window", str(window_tokens), "--allow-edit"]
    told = _printed(driver, home, ["run", goal, *fresh, *about])
    for _ in range(_GOES_ON):
        if told.get("outcome") != "errors":
            break
        before = told
        told = _printed(driver, home, ["resume", str(before["session"]), "Go on.", *about])
        told |= {name: _count(before, name) + _count(told, name) for name in ("turns", "cuts")}
    return told


def _printed(driver: Sequence[str], home: str, arguments: Sequence[str]) -> dict[str, object]:
    """A command's output as JSON; its status and its last words if it is not JSON."""
    done = subprocess.run(
        [sys.executable, *driver, *arguments],
        env={**os.environ, "PENSTOCK_STORE": f"sqlite://{home}/store"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    try:
        told = json.loads(done.stdout)
    except ValueError:
        told = None
    return told if isinstance(told, dict) else {"status": done.returncode, "said": done.stderr[-300:]}


def measure(*, long: bool, seed: int, driver: Sequence[str] = ("-m", "penstock")) -> Figure:
    """Runs that did not end as they should."""
    dice, there = random.Random(seed), trees(long=long)
    runs, edits = (_RUNS, _EDITS) if long else (_SHORT_RUNS, _SHORT_EDITS)
    window = _WINDOW_TOKENS if long else _SHORT_WINDOW_TOKENS
    dice.shuffle(there)
    ended = []
    for number in range(runs):
        source = there[number % len(there)]
        wire = _WIRES[number % len(_WIRES)]
        ended.append(run(random.Random(f"{seed} {number}"), source, wire, edits, window, driver))
        if long:
            print(number, source.name, wire, ended[-1], file=sys.stderr, flush=True)
    faults = [fault for one in ended for fault in one.faults]
    erred = sum((one.erred for one in ended), Counter[str]())
    right = sum(not one.faults for one in ended)
    cut = sum(one.cuts > 0 for one in ended)
    return Figure(
        rig="R25",
        name="work that ends",
        value=f"{right} of {runs} runs on {min(runs, len(there))} trees ended with their answer and exactly their edits; "
        f"{sum(one.turns for one in ended)} turns, {erred.total()} mistakes of {len(erred)} kinds, "
        f"{sum(one.raced for one in ended)} writes of others; {cut} runs were compacted",
        target=f"all {runs}",
        met=right == runs and (cut == runs or not long),
        seed=seed,
        notes=(*faults, *([] if cut == runs else [f"{runs - cut} runs needed no compaction"])),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))

"""R24: would a test notice if a line on which a promise rests were wrong?

    scripts/proof mutants                                    200 mutants of the rooms below
    scripts/proof mutants --seed 7                           others
    PENSTOCK_PROOF_ROOMS=limits,root scripts/proof mutants   these rooms' share of the 200, in this order
    PENSTOCK_PROOF_MUTANTS=28 scripts/proof mutants          28 instead of 200

A copy of the repository is made; in it one thing at a time is changed (`mutating`), and the tests of that room and of those that
use it (`wider`) are run until the first failure: only those that run the line (`line_coverage`), loaded once, in a fork
(`verdicts`). A mutant that hangs is killed, and so is one that mypy rejects. Any other has survived, unless `excused.json` says
why no test could distinguish it from the module: by path, function, line and change, with a reason.
Laws: a test that fails without the change kills nothing; the working tree is never written to; an excuse whose line is gone is
reported.
The short form also has a planted module: one of its mutants is indistinguishable, and must be among the survivors.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from proof.figure import REPOSITORY, Figure, folder, main
from proof.line_coverage import LineCoverage
from proof.mutating import Mutant, drawn, mutants_of
from proof.verdicts import OUT_OF_TIME, Judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MUTANTS = 200
MIN_KILLED = 0.95
EXCUSED = Path(__file__).with_name("excused.json")
TYPES = "types"
"""The prefix of a killer that is mypy and not a test."""
_LEFT_BEHIND = (".git", ".venv", ".proof", ".ruff_cache", ".pytest_cache", ".hypothesis", "__pycache__")
NOTES = Path(REPOSITORY, ".proof", "sights")
"""What the tests see, kept from one run to the next."""


class Room(NamedTuple):
    """Modules on which a promise rests, and the tests for them."""

    name: str
    modules: tuple[str, ...]
    """Below src/penstock."""
    tests: tuple[str, ...]
    """Below tests: those that a person would run after a change."""
    wider: tuple[str, ...] = ()
    """Tests of the rooms that use it; run if the others let a mutant live."""


ROOMS = (
    Room(
        "windows",
        ("text/window.py", "text/fitting.py"),
        ("text/test_window.py", "text/test_fitting.py", "laws/test_law_window.py"),
        ("workspace/test_read_file.py", "workspace/test_view.py", "tools/test_pages.py", "guard/test_output.py"),
    ),
    Room(
        "pages of files",
        ("workspace/byte_pages.py", "workspace/line_ranges.py", "workspace/version.py", "workspace/views.py"),
        (
            "workspace/test_view.py",
            "workspace/test_read_file.py",
            "workspace/test_lines.py",
            "workspace/test_bends.py",
            "workspace/test_small_blocks.py",
            "laws/test_law_version.py",
        ),
        ("tools/test_tools.py", "tools/test_pages.py", "workspace/test_records.py", "laws/test_law_window.py"),
    ),
    Room(
        "root",
        ("workspace/root.py", "workspace/writing.py"),
        ("workspace/test_root.py", "workspace/test_walk.py"),
        (
            "workspace/test_listing.py",
            "workspace/test_read_file.py",
            "workspace/test_replacing.py",
            "agent/test_edits.py",
        ),
    ),
    Room(
        "replacing",
        (
            "workspace/replacing.py",
            "workspace/renames.py",
            "workspace/own_files.py",
            "workspace/scratch.py",
            "workspace/leases.py",
        ),
        ("workspace/test_replacing.py", "workspace/test_replace_own.py"),
        ("agent/test_editing.py", "agent/test_edits.py", "workspace/test_root.py", "store/test_sqlite.py"),
    ),
    Room(
        "editing",
        ("agent/editing.py", "agent/edits.py"),
        ("agent/test_editing.py", "agent/test_edits.py"),
        ("agent/test_agent.py", "agent/test_disk_changes.py", "agent/test_kills.py"),
    ),
    Room(
        "guard",
        ("guard/output.py", "guard/stream.py"),
        ("guard", "laws/test_law_guarded.py"),
        ("text/test_fitting.py", "tools/test_kept.py", "cli/test_cli.py"),
    ),
    Room(
        "store",
        (
            "store/artifacts.py",
            "store/keeping.py",
            "store/pieces.py",
            "store/sqlite.py",
            "store/removal.py",
            "store/retention.py",
        ),
        (
            "store/test_bounds.py",
            "store/test_pieces.py",
            "store/test_retention.py",
            "store/test_conformance.py",
            "store/test_sqlite.py",
            "store/test_removal.py",
            "store/test_marks.py",
        ),
        ("store/test_schema.py", "store/test_pages.py", "laws/test_law_journal.py"),
    ),
    Room(
        "journal",
        ("store/journal.py", "store/marks.py", "agent/journal.py", "session/events.py", "session/state.py"),
        (
            "session",
            "agent/test_agent.py",
            "store/test_bounds.py",
            "store/test_chain.py",
            "store/test_conformance.py",
            "store/test_sqlite.py",
            "store/test_marks.py",
        ),
        (
            "laws/test_law_session.py",
            "laws/test_law_journal.py",
            "agent/test_kills.py",
            "agent/test_children.py",
            "cli/test_going_on.py",
        ),
    ),
    Room(
        "limits",
        ("session/limits.py", "session/budgets.py", "session/ledger.py", "agent/purse.py"),
        ("session", "laws/test_law_limits.py", "laws/test_law_budget.py", "agent/test_agent.py", "agent/test_purse.py"),
        ("agent/test_children.py", "laws/test_law_session.py", "agent/test_advice.py"),
    ),
    Room(
        "wires",
        (
            "wires/draft.py",
            "wires/alternation.py",
            "wires/anthropic/rules.py",
            "wires/anthropic/repair.py",
            "wires/openai_chat/rules.py",
            "wires/openai_chat/repair.py",
            "wires/openai_responses/rules.py",
        ),
        (
            "wires/test_violations.py",
            "wires/test_repair.py",
            "wires/test_mends.py",
            "wires/test_bends.py",
            "wires/test_conversion.py",
        ),
        ("proof/test_mended.py", "wires/test_wire_record.py", "wires/test_history.py"),
    ),
    Room(
        "ladder",
        ("context/ladder.py", "context/rung_choice.py", "context/provider_counts.py", "context/recovery.py"),
        (
            "context/test_ladder.py",
            "context/test_provider_counts.py",
            "context/test_rungs.py",
            "context/test_bends.py",
            "laws/test_law_recovery.py",
        ),
        ("carrier/test_carrier.py", "carrier/test_diagnosed.py", "proof/test_recovery.py"),
    ),
    Room(
        "compaction",
        ("context/compaction/plans.py", "context/compaction/spans.py", "context/compaction/results.py"),
        (
            "context/compaction/test_strategies.py",
            "context/compaction/test_prices.py",
            "context/compaction/test_bends.py",
            "laws/test_law_plan.py",
        ),
        ("context/compaction/test_plans.py", "context/test_ladder.py", "session/test_compression.py"),
    ),
    Room(
        "overflow",
        ("overflow/kinds.py", "overflow/numbers.py", "overflow/verdict.py", "overflow/walk.py", "overflow/settling.py"),
        ("overflow", "laws/test_law_overflow.py"),
        ("carrier/test_diagnosed.py", "models/test_refusals.py", "carrier/test_send.py"),
    ),
    Room(
        "doors",
        ("mcp_server/http.py", "serving/token.py", "serving/connections.py"),
        ("mcp/test_gate.py", "mcp/test_http.py", "mcp/test_hosts.py"),
        ("mcp/test_conformance.py", "mcp/test_lanes.py", "mcp/test_landlock.py"),
    ),
)

_PLANTED = "src/planted.py"  # beside the package, or mypy would read all of it for a module of two lines
_PLANTED_TEXT = b"def larger(a: int, b: int) -> int:\n    return a if a > b else b\n"
_PLANTED_TEST = "tests/test_planted.py"
_PLANTED_TEST_TEXT = """\
from _thread import start_new_thread
from queue import SimpleQueue

from planted import larger


def test_larger():
    said = SimpleQueue()
    start_new_thread(lambda: said.put([larger(1, 2), larger(2, 1)]), ())
    assert said.get(timeout=9) == [2, 2]
"""


class Tried(NamedTuple):
    """One mutant that was tested."""

    room: str
    mutant: Mutant
    killer: str | None
    """The test that failed first, or that time ran out; None for a survivor."""
    tests: int = 0
    """How many see it."""
    seconds: float = 0.0
    """Their processor time."""

    def __str__(self) -> str:
        mutant = self.mutant
        return f"{self.room}: {mutant.path}:{mutant.line} `{mutant.text.strip()}`: {mutant.change}"


class Copy:
    """A copy of the repository, in which one module at a time is changed."""

    def __init__(self, path: str) -> None:
        self.path = os.path.join(path, "tree")
        shutil.copytree(REPOSITORY, self.path, ignore=shutil.ignore_patterns(*_LEFT_BEHIND), symlinks=True)
        self._typed = set[str]()

    def source(self, path: str) -> bytes:
        """The content of a file."""
        return Path(self.path, path).read_bytes()

    def mistyped(self, mutant: Mutant) -> str | None:
        """What mypy, which must pass like any test, reports for a mutant; None for nothing."""
        whole = self.source(mutant.path)
        if mutant.path not in self._typed:
            if wrong := self._type_error(mutant.path):
                raise RuntimeError(f"without any mutant: {wrong}")
            self._typed.add(mutant.path)
        Path(self.path, mutant.path).write_bytes(mutant.applied(whole))
        try:
            return self._type_error(mutant.path)
        finally:
            Path(self.path, mutant.path).write_bytes(whole)

    def _type_error(self, path: str) -> str | None:
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--no-error-summary", path],
            cwd=self.path,
            capture_output=True,
            text=True,
            check=False,
        )
        return f"{TYPES}: {done.stdout.partition(chr(10))[0]}" if done.returncode else None


def chosen(copy: Copy, rooms: Sequence[Room], number: int, seed: int) -> list[tuple[Room, Mutant]]:
    """Some rooms' share of this many mutants in total, proportionally: the figures of parts add up to that of the whole."""
    pairs = []
    for room in rooms:
        share = number // len(ROOMS) + (ROOMS.index(room) < number % len(ROOMS))
        paths = [f"src/penstock/{module}" for module in room.modules]
        found = [mutant for path in paths for mutant in mutants_of(copy.source(path), path)]
        pairs += [(room, mutant) for mutant in drawn(found, share, seed)]
    return pairs


def tried(copy: Copy, judge: Judge, pairs: Iterable[tuple[Room, Mutant]]) -> Iterator[Tried]:
    """Each mutant against the tests of its room and of those that use it; unexcused survivors against mypy."""
    known = excuses()
    for room, mutant in pairs:
        verdict = judge.verdict(mutant, [f"tests/{test}" for test in (*room.tests, *room.wider)])
        if verdict.killer is None and mutant.key not in known:
            verdict = verdict._replace(killer=copy.mistyped(mutant))
        yield Tried(room.name, mutant, verdict.killer, verdict.tests, verdict.seconds)


def excuses() -> dict[tuple[str, str, str, str], str]:
    """Reasons why no test can distinguish a mutant from the module, by its key."""
    return {
        (one["path"], one["function"], one["line"], one["change"]): one["reason"]
        for one in json.loads(EXCUSED.read_text(encoding="utf-8"))
    }


def stale(copy: Copy, known: Iterable[tuple[str, str, str, str]]) -> list[str]:
    """Excuses for lines that no longer exist."""
    return [
        f"excused.json: {path} has no line `{line}`"
        for path, _, line, _ in known
        if line not in {text.strip() for text in copy.source(path).decode().splitlines()}
    ]


def _planted(copy: Copy) -> list[tuple[Room, Mutant]]:
    """A module with one mutant that a test kills, in a thread, and one that is indistinguishable."""
    Path(copy.path, _PLANTED).write_bytes(_PLANTED_TEXT)
    Path(copy.path, _PLANTED_TEST).write_text(_PLANTED_TEST_TEXT)
    room = Room("planted", (), ("test_planted.py",))
    return [(room, one) for one in mutants_of(_PLANTED_TEXT, _PLANTED) if "a > b -> a >= b" in one.change] + [
        (room, one) for one in mutants_of(_PLANTED_TEXT, _PLANTED) if one.new == "return None"
    ]


def control(found: Sequence[Tried]) -> list[str]:
    """Faults of the verdicts on the planted module."""
    verdicts = [
        (one.mutant.new == "return None", not (one.killer or TYPES).startswith(TYPES))
        for one in found
        if one.room == "planted"
    ]
    return [] if sorted(verdicts) == [(False, False), (True, True)] else [f"the planted module: {verdicts}"]


def measure(*, long: bool, seed: int) -> Figure:
    """Mutants that no test noticed."""
    by_name = {room.name: room for room in ROOMS}
    rooms = [by_name[name] for name in os.environ.get("PENSTOCK_PROOF_ROOMS", ",".join(by_name)).split(",")]
    number = int(os.environ.get("PENSTOCK_PROOF_MUTANTS", MUTANTS))
    known = excuses()
    with folder("mutants") as path:
        copy = Copy(path)
        pairs = [*_planted(copy), *(chosen(copy, rooms, number, seed) if long else ())]
        modules = sorted(
            {mutant.path for _, mutant in pairs} | {f"src/penstock/{one}" for room in ROOMS for one in room.modules}
        )
        coverage = LineCoverage(copy.path, modules, NOTES)
        with Judge(copy.path, coverage) as judge:
            found: list[Tried] = []
            for one in tried(copy, judge, pairs):
                found.append(one)
                if long:
                    said = f"{one.killer or 'SURVIVED'} ({one.tests} tests, {one.seconds:.1f} s)"
                    print(f"{len(found)} {one} | {said}", file=sys.stderr, flush=True)
        gone = stale(copy, known)
    wrong = control(found) + gone
    ours = [one for one in found if one.room != "planted"]
    alive = [one for one in ours if one.killer is None]
    excused = [one for one in alive if one.mutant.key in known]
    survived = [one for one in alive if one.mutant.key not in known]
    by_types = sum((one.killer or "").startswith(TYPES) for one in ours)
    killed, rooms_tried = len(ours) - len(alive), Counter(one.room for one in ours)
    return Figure(
        rig="R24",
        name="mutants killed",
        value=f"{killed} of {len(ours)} in {len(rooms_tried)} rooms; {len(survived)} survived, {len(excused)} excused "
        f"({by_types} killed by their types, {sum(one.killer == OUT_OF_TIME for one in ours)} by their time); "
        f"{sum(one.seconds for one in ours) / max(1, len(ours)):.1f} s of a processor each",
        target=f"{MIN_KILLED:.0%} of those that are not excused",
        met=not wrong and killed >= MIN_KILLED * (len(ours) - len(excused)),
        seed=seed,
        notes=(
            *wrong,
            *(f"kills nothing, as it fails as it is: {one}" for one in [*coverage.failing(), *judge.unsound]),
            *(f"survived: {one}" for one in survived),
            *(f"excused: {one}: {known[one.mutant.key]}" for one in excused),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))

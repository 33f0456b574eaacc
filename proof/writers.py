"""R21: when two write one file, is anything lost that was acknowledged as saved (S-16)?

Four scenes, each with its own processes on one file:

- **ours**: two and four processes of Penstock edit it, each every 50 ms. What was acknowledged is there at the end.
- **savers**: somebody saves it whole, by a temporary file and a rename, at random instants.
- **in place**: somebody opens it, writes a half, waits, writes the other half.
- **creators**: somebody creates each of many files at the instant in which we create it.

In the last three, nothing that they saved may be displaced and lost. If they save twice within one edit, the older save is kept
next to the file, and the refusal must name it. What they later overwrite blindly of ours cannot be helped: it is counted
separately. Control: the same edits by a plain rename, which must lose data in the second and third scene.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from proof.figure import Figure, folder, main

from penstock.agent.editing import Editing
from penstock.workspace import renames, replacing
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Callable

_EDITS, _SHORT_EDITS = 10_000, 100
"""Our edits in each scene of ours."""
_SAVES, _SHORT_SAVES = 5_000, 75
"""Their saves, and files that are created."""
_PAUSE_SECONDS = 0.05
_SHORT_PAUSE_SECONDS = 0.01
_EDIT_SECONDS = 5.0
"""Longer than any edit takes: from writing the temporary file to the end of its undoing."""
_FILLER = "filler\n" * 2_000
"""Makes a write in place take a while."""
_MAX_REFUSED = 0.05
_Context = multiprocessing.get_context("fork")


@dataclass(slots=True)
class Scene:
    """The results of one scene."""

    name: str
    edits: int = 0
    refused: int = 0
    saves: int = 0
    lost: int = 0
    """Our acknowledged edits, in the scene of ours; their saves, in the others."""
    overwritten: int = 0
    """Our acknowledged edits that somebody else saved over, without having seen them."""
    kept: int = 0
    """Older saves of theirs that are next to the file, as the refusal said."""
    is_over_the_limit: bool = False

    def __str__(self) -> str:
        theirs = f", {self.saves} saves of others" if self.saves else ""
        blind = f", {self.overwritten} of ours overwritten blindly" if self.saves else ""
        kept = f", {self.kept} kept next to the file" if self.kept else ""
        return f"{self.name}: {self.edits} edits, {self.refused} refused{theirs}, {self.lost} lost{blind}{kept}"


def _spawned(target: Callable[..., Any], *given: Any) -> Any:
    """Start a process; its answer comes through the returned pipe."""
    here, there = _Context.Pipe()
    process = _Context.Process(target=lambda: there.send(target(*given)), daemon=True)
    process.start()
    return process, here


def _answer(spawned: Any) -> Any:
    process, pipe = spawned
    said = pipe.recv()
    process.join()
    return said


# ── ours alone ───────────────────────────────────────────────────────────────────────────────────────────────────


def _edits(path: str, who: int, number: int, pause_seconds: float, seed: int) -> tuple[list[str], int]:
    """Add lines under a writer's own mark; return those that were acknowledged, and how many were refused."""
    editing, dice = Editing(Root(path)), random.Random(f"{seed} {who}")
    told, refused = [], 0
    for at in range(number):
        time.sleep(pause_seconds * dice.uniform(0.5, 1.5))
        line = f"w{who}-{at};"
        mark = f"<{who}>\n"
        done = editing.run("edit_file", {"path": "f.txt", "old": mark, "new": f"{mark}{line}\n"})
        if done.failed:
            refused += 1
        else:
            told.append(line)
    return told, refused


def ours(writers: int, edits: int, pause_seconds: float, seed: int) -> Scene:
    """This many processes of Penstock edit one file."""
    found = Scene(f"{writers} of ours")
    with folder("writers") as path:
        file = Path(path, "f.txt")
        file.write_text("".join(f"<{who}>\n" for who in range(writers)))
        spawned = [_spawned(_edits, path, who, edits // writers, pause_seconds, seed) for who in range(writers)]
        answers = [_answer(one) for one in spawned]
        there = set(file.read_text().split())
        for told, refused in answers:
            found.edits += len(told) + refused
            found.refused += refused
            found.lost += sum(line not in there for line in told)
        found.is_over_the_limit = found.refused > _MAX_REFUSED * found.edits or len(os.listdir(path)) > 1
    return found


# ── somebody else ────────────────────────────────────────────────────────────────────────────────────────────────


def _saved_whole(path: str, text: str, dice: random.Random) -> None:
    """Save as most editors do."""
    del dice
    beside = f"{path}.tmp"
    Path(beside).write_text(text)
    os.rename(beside, path)


def _saved_in_place(path: str, text: str, dice: random.Random) -> None:
    """Save as scripts do: truncated, and written in pieces."""
    with open(path, "w") as file:
        half = len(text) // 2
        file.write(text[:half])
        file.flush()
        time.sleep(dice.random() * 0.002)
        file.write(text[half:])


def _saves(path: str, save: Callable[..., None], number: int, gap_seconds: float, seed: int) -> int:
    """Count up in the last line of a file; return how often the previous save was gone."""
    dice = random.Random(seed)
    lost = 0
    for at in range(1, number + 1):
        time.sleep(dice.random() * gap_seconds)
        body, _, counted = Path(path).read_text().rpartition("human:")
        if counted != f"{at - 1}\n":
            # A reader may briefly see an edit that is then refused (S-16): the save counts as lost only after that.
            _wait_for_edit(path)
            body, _, counted = Path(path).read_text().rpartition("human:")
            lost += counted != f"{at - 1}\n"
        save(path, f"{body}human:{at}\n", dice)
    return lost


def _wait_for_edit(path: str) -> None:
    """Wait until the current edit is over: until then what it displaced, or will, is in a file next to it."""
    beside, end = f".{os.path.basename(path)}.penstock-", time.monotonic() + _EDIT_SECONDS
    while time.monotonic() < end and any(name.startswith(beside) for name in os.listdir(os.path.dirname(path))):
        time.sleep(0.001)


def others(name: str, save: Callable[..., None], saves: int, gap_seconds: float, seed: int) -> Scene:
    """Edit the first line of a file whose last line somebody else counts up."""
    found = Scene(name, saves=saves)
    with folder("writers") as path:
        file = Path(path, "f.txt")
        file.write_text(f"agent:0\n{_FILLER}human:0\n")
        spawned = _spawned(_saves, str(file), save, saves, gap_seconds, seed)
        editing, dice = Editing(Root(path)), random.Random(seed)
        told, refusals = "agent:0", ""
        while not spawned[1].poll():
            time.sleep(dice.random() * gap_seconds / 4)
            first = file.read_text().partition("\n")[0]
            if not first:  # it is being written
                continue
            found.overwritten += first != told
            found.edits += 1
            done = editing.run("edit_file", {"path": "f.txt", "old": f"{first}\n", "new": f"agent:{found.edits}\n"})
            found.refused += done.failed
            told = first if done.failed else f"agent:{found.edits}"
            refusals += done.text if done.failed else ""
        found.lost = _answer(spawned)
        beside = [name for name in os.listdir(path) if name != "f.txt"]
        found.kept = sum(name in refusals for name in beside)
        found.is_over_the_limit = not file.read_text().endswith(f"human:{saves}\n") or found.kept < len(beside)
    return found


def _creations(path: str, number: int, start: Any) -> list[bool]:
    """Create new files; return for each whether we created it."""
    made = []
    for at in range(number):
        start.wait()
        try:
            with open(os.path.join(path, f"n{at}.txt"), "x") as file:
                file.write("theirs\n")
            made.append(True)
        except FileExistsError:
            made.append(False)
    return made


def creators(files: int, seed: int) -> Scene:
    """Create files at the same instant as somebody else: each has one creator."""
    del seed
    found = Scene("creators", saves=files)
    start = _Context.Barrier(2)
    with folder("writers") as path:
        spawned = _spawned(_creations, path, files, start)
        editing, ours_made = Editing(Root(path)), []
        for at in range(files):
            start.wait()
            done = editing.run("write_file", {"path": f"n{at}.txt", "content": "ours\n"})
            # A file that was there when we looked is replaced, as requested: its creator came first, and nothing is lost unseen.
            ours_made.append(not done.failed and "created" in done.text)
            found.edits += 1
            found.refused += done.failed
        both = zip(ours_made, _answer(spawned), strict=True)
        found.lost = sum(mine and theirs for mine, theirs in both)
    return found


def measure(*, long: bool, seed: int) -> Figure:
    """Edits and saves that were lost between two writers."""
    edits, saves = (_EDITS, _SAVES) if long else (_SHORT_EDITS, _SHORT_SAVES)
    pause, gap = (_PAUSE_SECONDS, 0.01) if long else (_SHORT_PAUSE_SECONDS, 0.006)
    scenes = [
        *(ours(writers, edits, pause, seed) for writers in (2, 4)),
        others("savers", _saved_whole, saves, gap, seed),
        others("in place", _saved_in_place, saves, gap, seed),
        creators(saves, seed),
    ]
    with (
        mock.patch.object(renames, "exchange", return_value=False),
        mock.patch.object(replacing, "_displaced", return_value="same"),
    ):
        control = others("control", _saved_whole, saves, gap, seed)
    wrong = [scene for scene in scenes if scene.lost or scene.is_over_the_limit]
    notes = [*map(str, scenes), f"the {control}"]
    if not control.lost:
        notes.append("the rig is blind here: the control lost nothing, so the zero says nothing")
    return Figure(
        rig="R21",
        name="two writers",
        value=f"{sum(scene.lost for scene in scenes)} lost of {sum(scene.edits + scene.saves for scene in scenes)}",
        target="0, at most 5 % of ours refused, and the control loses",
        met=not wrong and bool(control.lost),
        seed=seed,
        notes=tuple(notes),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))

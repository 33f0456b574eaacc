"""R8: is a store in its old or its new state, and no other, at whatever system call its process is killed?

Each deed (`deeds`) is done once to learn its system calls, and then once for each of them: strace kills the process as it enters
that call. Another process opens what is left: it reads as before the deed or as after it, its own check finds nothing, what was
acknowledged is there, the deed can be repeated, and pruning leaves no file without a reference.
Control: a file that is written in place instead of replaced. The same kills must leave it half written.
"""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import dataclass, field

from proof.deeds import ALL, CONTROL, DEEDS, Stage, on_stages
from proof.figure import MEMORY, Figure, NotHere, folder, main, untried

_SHORT_POINTS = 5  # of each deed; the long form takes all


@dataclass(slots=True)
class Sweep:
    """What the kills in one deed left behind."""

    deed: str
    calls: int = 0
    old: int = 0
    new: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def points(self) -> int:
        return self.old + self.new + len(self.wrong)

    def __str__(self) -> str:
        said = f"{self.old} old, {self.new} new, {len(self.wrong)} else"
        return f"{self.deed}: {said}, at {self.points} of its {self.calls} system calls"


def sweep(stage: Stage, deed: str, points: int | None, seed: int) -> Sweep:
    """Kills in a deed: at every system call, or at this many."""
    found, held = Sweep(deed), ALL[deed].held
    with folder("kills", MEMORY) as home:
        before, path = os.path.join(home, "before"), os.path.join(home, "store")
        stage.plant(deed, before)
        shutil.copytree(before, path)
        old = held(path)
        shutil.rmtree(path)
        shutil.copytree(before, path)
        calls = stage.perform(deed, path, watch=True).calls
        new = held(path)
        found.calls = len(calls)
        few = points is not None and points < len(calls)
        for name, number in random.Random(f"{seed} {deed}").sample(calls, points or 0) if few else calls:
            shutil.rmtree(path)
            shutil.copytree(before, path)
            outcome = stage.perform(deed, path, f"{name}:signal=KILL:when={number}")
            try:
                there = held(path)
                ALL[deed].ready(path)()
                again = held(path)
                ALL[deed].tidied(path)
            except Exception as error:
                there, again = None, repr(error)
            is_new = there == new and (outcome.is_done or there != old)
            if not outcome.signal or again != new or not (is_new or (there == old and not outcome.is_done)):
                how = f"{outcome}, then {str(again)[:300] if there is None else 'neither old nor new'}"
                found.wrong.append(f"{deed}, killed at {name} {number}: {how}")
            elif is_new:
                found.new += 1
            else:
                found.old += 1
    return found


def measure(*, long: bool, seed: int) -> Figure:
    """Stores that are in neither the old nor the new state after a kill."""
    points = None if long else _SHORT_POINTS
    target = f"{'every system call' if long else 'all'}: old or new, and the control in halves"
    try:
        *sweeps, control = on_stages(lambda stage, deed: sweep(stage, deed, points, seed), (*DEEDS, CONTROL))
    except NotHere as why:
        return untried("R8", "kills at system calls", target, why)
    wrong = [line for found in sweeps for line in found.wrong]
    kills = sum(found.points for found in sweeps)
    notes = [*map(str, sweeps), f"the control, {control}", *wrong]
    if not control.wrong:
        notes.append("the rig is blind here: the control was never found in halves, so the zero says nothing")
    return Figure(
        rig="R8",
        name="kills at system calls",
        value=f"{kills - len(wrong)} of {kills} kills left the old or the new, {len(wrong)} something else",
        target=target,
        met=not wrong and bool(control.wrong),
        seed=seed,
        notes=tuple(notes),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))

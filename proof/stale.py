"""R6: is every page told that the file has changed since the previous page?

Between two pages of a file, by bytes or by lines, somebody appends, truncates, renames another file over it, writes in place (same
size, also with the time stamps reset, also through a memory map), or does nothing. Then the next call is made exactly as printed.
The answer must be `stale`, or say that the file grew. Writing through a map to a page that was already dirty leaves no trace in any
time stamp; there the hash of the 4 KiB before the position decides, and changes elsewhere are counted separately: nobody promises
to detect those.
"""

from __future__ import annotations

import mmap
import os
import random
import time
from collections import Counter
from typing import TYPE_CHECKING

from proof.figure import Figure, folder, main

from penstock.errors import ToolError
from penstock.text.window import Window
from penstock.workspace import Workspace
from penstock.workspace.version import ANCHOR_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable


def _line(generator: random.Random) -> bytes:
    return b"%x\n" % generator.getrandbits(generator.choice((40, 200, 600)))


def _flip(file: mmap.mmap | bytearray, at: int) -> None:
    file[at] = file[at] ^ 1 if file[at] not in {10, 11} else 66


class Trial:
    """One file, the position where its first page ended, and what was done to it."""

    def __init__(self, path: str, generator: random.Random) -> None:
        self.path = path
        self.generator = generator
        self.cursor = 0
        self.map: mmap.mmap | None = None

    def write(self) -> None:
        """A new file of some pages."""
        data = b"".join(_line(self.generator) for _ in range(self.generator.choice((50, 200, 800))))
        with open(self.path, "wb") as file:
            file.write(data)

    def dirty(self) -> None:
        """A map of it whose pages are already dirty."""
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)
        for at in range(0, len(self.map), mmap.PAGESIZE):
            self.map[at] = self.map[at]

    def end(self) -> None:
        """Close the map before the next file."""
        if self.map is not None:
            self.map.close()
            self.map = None

    # Changes between the pages; each returns the expected report of the next page: "same", "grew", "stale" or "unpromised".

    def nothing(self) -> str:
        return "same"

    def only_read(self) -> str:
        with open(self.path, "rb") as file:
            file.read()
        os.stat(self.path)
        return "same"

    def append(self) -> str:
        with open(self.path, "ab") as file:
            file.write(_line(self.generator))
        return "grew"

    def append_and_change(self) -> str:
        self._patch(self.generator.randrange(max(0, self.cursor - ANCHOR_BYTES), self.cursor))
        with open(self.path, "ab") as file:
            file.write(b"more\n")
        return "stale"

    def truncate(self) -> str:
        least = self.cursor if self.generator.random() < 0.5 else 0
        os.truncate(self.path, self.generator.randrange(least, os.stat(self.path).st_size))
        return "stale"

    def rename_over(self) -> str:
        with open(self.path, "rb") as file:
            data = file.read()
        if self.generator.random() < 0.5:
            data = data[:-2] + b"!\n"
        with open(self.path + ".new", "wb") as file:
            file.write(data)
        os.rename(self.path + ".new", self.path)
        return "stale"

    def in_place(self) -> str:
        self._patch(self.generator.randrange(os.stat(self.path).st_size))
        return "stale"

    def in_place_times_set_back(self) -> str:
        before = os.stat(self.path)
        self._patch(self.generator.randrange(before.st_size))
        os.utime(self.path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return "stale"

    def through_a_new_map(self) -> str:
        with open(self.path, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
            _flip(mapped, self.generator.randrange(len(mapped)))
        return "stale"

    def through_a_dirty_map(self) -> str:
        assert self.map is not None
        _flip(self.map, self.generator.randrange(max(0, self.cursor - ANCHOR_BYTES), self.cursor))
        return "stale"

    def through_a_dirty_map_elsewhere(self) -> str:
        assert self.map is not None
        _flip(self.map, self.generator.randrange(self.cursor, len(self.map)))
        return "unpromised"

    def replaced_by_folder(self) -> str:
        os.unlink(self.path)
        os.mkdir(self.path)
        return "stale"

    def removed(self) -> str:
        os.unlink(self.path)
        return "stale"

    def _patch(self, at: int) -> None:
        with open(self.path, "r+b") as file:
            file.seek(at)
            byte = file.read(1)
            file.seek(at)
            file.write(b"Z" if byte != b"Z" else b"Y")


_CHANGES: tuple[Callable[[Trial], str], ...] = (
    Trial.nothing,
    Trial.only_read,
    Trial.append,
    Trial.append_and_change,
    Trial.truncate,
    Trial.rename_over,
    Trial.in_place,
    Trial.in_place_times_set_back,
    Trial.through_a_new_map,
    Trial.through_a_dirty_map,
    Trial.through_a_dirty_map_elsewhere,
    Trial.replaced_by_folder,
    Trial.removed,
)


def _clock_moves(path: str) -> bool:
    """Whether a write right after another gets a different time stamp: otherwise `in_place` may be invisible for a tick."""
    with open(path, "wb") as file:
        file.write(b"a")
    stamps = set()
    for _ in range(50):
        with open(path, "r+b") as file:
            file.write(b"b")
        stamps.add(os.stat(path).st_mtime_ns)
    return len(stamps) > 45


def _told(workspace: Workspace, page: Window) -> str:
    assert page.next is not None
    try:
        read = workspace.view if page.next.tool == "view" else workspace.read_file
        after = read(**page.next.arguments)  # type: ignore[arg-type]
    except ToolError as error:
        return "stale" if error.code in {"stale", "is_directory", "not_found", "not_regular_file"} else error.code
    if not isinstance(after, Window):
        return "an outline"
    if any("grew" in notice for notice in after.notices):
        return "grew"
    return "same" if after.start_byte == page.end_byte else "another place"


def measure(*, long: bool, seed: int) -> Figure:
    """Pages of a changed file that report it."""
    generator = random.Random(seed)
    trials = 10_000 if long else 600
    missed: list[str] = []
    alarms: list[str] = []
    told: Counter[str] = Counter()
    unpromised: Counter[str] = Counter()
    with folder("stale") as root:
        fine = _clock_moves(os.path.join(root, "clock"))
        workspace = Workspace(root)
        for number in range(trials):
            path = os.path.join(root, f"file-{number}.txt")
            trial, change = Trial(path, generator), _CHANGES[number % len(_CHANGES)]
            trial.write()
            if change in {Trial.through_a_dirty_map, Trial.through_a_dirty_map_elsewhere}:
                trial.dirty()
            size = generator.choice((700, 2_000, 6_000))
            name = os.path.basename(path)
            # Byte pages and line pages alternate: 13 changes and two ways to page meet in all pairs.
            page = (
                workspace.view(name, limit=size // 50)
                if number % 2
                else workspace.read_file(name, start_byte=0, max_bytes=size)
            )
            if isinstance(page, Window) and page.next is not None:
                trial.cursor = page.end_byte
                if not fine:
                    time.sleep(0.005)
                expected, said = change(trial), _told(workspace, page)
                label = f"trial {number}, {change.__name__}: {said}, not {expected}"
                if expected == "unpromised":
                    unpromised[said] += 1
                elif expected == "same":
                    told["untouched"] += 1
                    alarms += [label] if said != "same" else []
                else:
                    told["changed"] += 1
                    missed += [label] if said != expected else []
            trial.end()
            if os.path.isdir(path):
                os.rmdir(path)
            elif os.path.exists(path):
                os.unlink(path)
        workspace.root.close()
    notes = missed + alarms
    notes.append(f"{len(alarms)} false alarms in {told['untouched']} untouched files")
    behind = ", ".join(f"{count} {said}" for said, count in unpromised.items())
    notes.append(f"a dirty map written behind the place, which nobody promises to see: {behind}")
    if not fine:
        notes.append("time stamps of this kernel are coarse: 5 ms were let pass before each change")
    return Figure(
        rig="R6",
        name="stale pages told",
        value=f"{told['changed'] - len(missed)}/{told['changed']} told, {len(alarms)} false alarms",
        target="all told, 0 false alarms",
        met=not missed and not alarms,
        seed=seed,
        notes=tuple(notes),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))

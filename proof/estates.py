"""R31: do the items of `behaviour.md` about COBOL hold together, on any estate?

Judged for each estate, each fault with its item: prompts and their estimate (C-1, C-6), chunks without an answer (C-9), documents
of code next to the words of the code (C-12, C-14), what is asked again (C-13), the graph and its citations (C-16), impacts (C-17),
flows and the site (C-18, C-19), and laws of what may change nothing. Together: single windows that the estimate counts too low, and
processor time and memory of a run (C-20). The other items have rigs of their own: `chunks` (C-3 to C-5, C-10, C-11), `claims` (C-7,
C-8, C-15), `queued` (C-21).
Planted faults must be found: a shifted citation, an edge without its node, a lost edge of a flow, a page that is gone.
The short form reads examples/cobol and generated programs; the long one also each folder of PENSTOCK_DATA, whole, with laws and
questions for a sample of it.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from proof.chunks import generated
from proof.estate_site import Site
from proof.estate_views import estate_folders, gathered, named, texts, view
from proof.figure import MEMORY, REPOSITORY, Figure, NotHere, folder, main, untried

from penstock.cobol.estate import COBOL_KINDS
from penstock.scribe import document
from penstock.text import tokens
from penstock.workspace.root import Root
from proof import estate_asking, estate_code, estate_graph, estate_laws

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from proof.estate_views import EstateView

    from penstock.scribe.gathering import GatheredFile

SECONDS_A_MILLION, MEGABYTES = 60.0, 400.0
LOW_WINDOWS = 0.01
_TARGET = "no fault; windows too low below 1 %, 60 s and 400 MB a million lines"
_LAW_LINES = 20_000  # of an estate; the laws read it seven times
_QUESTIONS, _ASKED_FILES = 20, 12
_SHORT_QUESTIONS, _SHORT_ASKED_FILES, _SHORT_LAW_LINES = 1, 1, 300
_COSTLY_LINES = 10_000  # below, starting Python is most of the time
# A small process between the two: one that is started by a large one counts as large itself.
_MEASURED = """
import resource, subprocess, sys
subprocess.run([sys.executable, *sys.argv[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""
_EXAMPLES = os.path.join(REPOSITORY, "examples", "cobol")


class Looked(NamedTuple):
    """What was seen of an estate: faults, sizes, and what a run cost, if it was measured."""

    name: str
    faults: tuple[str, ...]
    files: int
    lines: int
    windows: int = 0
    low: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    unfound: tuple[str, ...] = ()
    """What was planted in our own estate, and not found."""


class Extent(NamedTuple):
    """How much of an estate is looked at: nodes that impacts are asked for, files that a model is asked about, lines for laws."""

    questions: int
    asked_files: int
    law_lines: int
    is_measured: bool = True
    """Whether documents are made in a process of their own, which shows what they cost."""


def look(name: str, files: Sequence[GatheredFile], where: str, extent: Extent, draw: random.Random) -> Looked:
    """Return what is wrong in what is said of an estate.

    Args:
        name: Its name.
        files: Its files.
        where: The folder that has them.
        extent: How much of it is looked at.
        draw: Where samples are drawn.
    """
    lines = sum(len(texts(file.data)) for file in files if file.kind in COBOL_KINDS)
    seen = view(files)
    faults = [*estate_graph.faults(files, seen, draw, extent.questions), *estate_code.faults(seen)]
    with folder("estates", MEMORY) as out:
        seconds, megabytes = _documented(where, out, is_measured=extent.is_measured)
        faults += Site(out).faults(sum(len(texts(file.data)) for file in files), seen.nodes, seen.edges)
        lost = unfound(files, seen, out) if where == _EXAMPLES else []
    sample = _sampled(files, extent.law_lines, draw)
    faults += estate_laws.faults(sample, seen if len(sample) == len(files) else view(sample), draw)
    windows = low = 0
    paths = sorted(path for path, one in seen.subjects.items() if one.source.lines <= extent.law_lines)
    for path in draw.sample(paths, min(extent.asked_files, len(paths))):
        asked = estate_asking.look(seen.subjects[path])
        faults += [f"{fault} ({path})" for fault in asked.faults]
        windows, low = windows + asked.windows, low + asked.low
    return Looked(name, tuple(faults), len(files), lines, windows, low, seconds, megabytes, tuple(lost))


def _documented(where: str, out: str, *, is_measured: bool) -> tuple[float, float]:
    """Document an estate; return processor time in seconds, and the megabytes of the largest process, if they are measured."""
    if not is_measured:
        with closing(Root(where)) as root:
            document((".",), root=root, out=out, processes=1)
        return 0.0, 0.0
    command = ["-m", "penstock", "document", ".", "--root", where, "--out", out]
    done = subprocess.run([sys.executable, "-c", _MEASURED, *command], capture_output=True, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def _sampled(files: Sequence[GatheredFile], lines: int, draw: random.Random) -> list[GatheredFile]:
    """Return an estate of about so many lines: programs as drawn, and everything that is not a program."""
    programs = [file for file in files if file.kind == "cobol"]
    draw.shuffle(programs)
    taken: set[str] = set()
    for file in programs:
        size = len(texts(file.data))
        if size <= lines:
            taken.add(file.path)
            lines -= size
    return [file for file in files if file.kind != "cobol" or file.path in taken]


# ── estates ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _written(files: Sequence[tuple[str, bytes]], where: str) -> None:
    for path, data in files:
        with open(os.path.join(where, path), "wb") as file:
            file.write(data)


def _generated(draw: random.Random, *, long: bool) -> list[tuple[str, bytes]]:
    made = (generated(draw, long=long) for _ in iter(int, 1))
    sized = (data for data in made if data.count(b"\n") < (_LAW_LINES if long else _SHORT_LAW_LINES))
    return [(f"GEN{at}.cbl", data) for at, data in enumerate(islice(sized, 30 if long else 1))]


def _each(*, long: bool, seed: int) -> Iterator[Looked]:
    draw = random.Random(seed)
    extent = Extent(_QUESTIONS, _ASKED_FILES, _LAW_LINES)
    short = Extent(_SHORT_QUESTIONS, _SHORT_ASKED_FILES, _SHORT_LAW_LINES, is_measured=False)
    with folder("estates", MEMORY) as where:
        made = _generated(draw, long=long)
        _written(made, where)
        yield look("generated", named(made), where, extent if long else short, draw)
    folders = [("examples", _EXAMPLES)]
    if long and "PENSTOCK_DATA" in os.environ:
        folders += estate_folders(os.environ["PENSTOCK_DATA"])
    for name, where in folders:
        began = time.monotonic()
        if files := gathered(where):
            try:
                seen = look(name, files, where, extent if long else short, draw)
            except Exception as error:
                seen = Looked(name, (f"raised {error!r:.200}",), len(files), 0)
            if long:
                told = f"R31: {name}: {len(seen.faults)} faults, {seen.lines} lines, {time.monotonic() - began:.0f} s"
                print(told, *seen.faults[:40], sep="\n   ", file=sys.stderr, flush=True)
            yield seen


# ── the rig ──────────────────────────────────────────────────────────────────────────────────────────────────────


def unfound(files: Sequence[GatheredFile], seen: EstateView, out: str) -> list[str]:
    """Return the planted faults that nobody finds.

    Args:
        files: An estate with jobs.
        seen: What is said of it.
        out: The folder of its site, of which a page is removed.
    """
    draw = random.Random(1)
    edges = [dict(edge) for edge in seen.edges]
    shifted = next(edge for edge in edges if edge["verb"] == "writes" and edge["from"].startswith("paragraph"))
    shifted["citations"] = [{**cited, "line": 1} for cited in shifted["citations"]]
    dangling = next(edge for edge in edges if edge["verb"] == "calls")
    dangling["to"] = "program NOBODY"
    found = "\n".join(estate_graph.faults(files, seen._replace(edges=edges), draw, 0))
    lost = ["a shifted citation"] if "name neither" not in found else []
    lost += ["an edge without its node"] if "not a node: program NOBODY" not in found else []
    programs = os.path.join(out, "programs")
    os.remove(os.path.join(programs, min(name for name in os.listdir(programs) if name.endswith(".html"))))
    flows = [edge for edge in seen.edges if not (edge["verb"] == "reads" and edge["to"].startswith("dataset"))]
    found = "\n".join(Site(out).faults(len(files) * 100_000, seen.nodes, flows))
    lost += ["a page that is gone"] if "which is not there" not in found else []
    lost += ["a lost edge of a flow"] if "C-18: the flow of data sets" not in found else []
    return lost


def measure(*, long: bool, seed: int) -> Figure:
    """R31: what is said of estates, by judges that read the sources for themselves."""
    if tokens.best_counter("o200k").mode != "exact":
        return untried("R31", "estates of COBOL", _TARGET, NotHere("an exact tokenizer is missing: penstock[exact]"))
    seen = list(_each(long=long, seed=seed))
    notes = [f"{one.name}: {fault}" for one in seen for fault in one.faults]
    lost = [what for one in seen for what in one.unfound]
    windows, low = sum(one.windows for one in seen), sum(one.low for one in seen)
    costly = [one for one in seen if one.lines >= _COSTLY_LINES and one.seconds]
    lines, costly_lines = sum(one.lines for one in seen), sum(one.lines for one in costly)
    value = (
        f"{len(notes)} faults in {len(seen)} estates, {sum(one.files for one in seen)} files of {lines} lines; "
        f"{low} of {windows} windows are counted too low"
    )
    is_met = not notes and not lost and low <= LOW_WINDOWS * windows
    if costly:
        seconds = sum(one.seconds for one in costly) / costly_lines * 1e6
        megabytes = max(one.megabytes for one in costly)
        value += f"; {seconds:.0f} s of processor time a million lines, {megabytes:.0f} MB the largest process"
        is_met = is_met and seconds <= SECONDS_A_MILLION and megabytes <= MEGABYTES
    notes += [f"planted and not found: {what}" for what in lost]
    return Figure(
        rig="R31", name="estates of COBOL", value=value, target=_TARGET, met=is_met, seed=seed, notes=tuple(notes)
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))

"""R30: is everything named that no longer works when a field grows, and does what is said to break for sure break?

Programs are made from a seed (`grown_programs`), a field grows in each, and `penstock impact --grow` says what breaks. GnuCOBOL
then compiles them as they are and grown. An item is broken if it holds something else, apart from blanks and zeros, although the
field has the value of today (`shifted`), or less of a value that fills the longer field than an item with room holds (`cut`). It
has to be named itself, or to get its value from what is named. What is said to be too short for sure has to lose something of such
a value if it alone has not grown. Leaves to others: files, tables, calls and jobs.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from proof.figure import MEMORY, Figure, NotHere, folder, main, untried
from proof.grown_programs import FIELD, GROUP, PARTS, Form, GrowingProgram, held, source_of
from tests.cobol.test_graph import graph_of

from penstock.cobol.graph import Carrying, growth, nodes_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock.cobol.graph import Grown

_TARGET = "each named, each seen to break"
_SHORT, _LONG = 32, 1_000
"""Programs."""
_UNTRIED = frozenset({"taken part", "string of two"})
"""Statements that fill no more of an item with room, or lose only what their third item has."""
_AT_ONCE = 100
"""Programs that are compiled as one."""
_NOW = Form()
_GROWN = Form(is_grown=True)
_FULL = Form(is_grown=True, is_filled=True)
_ROOMY = Form(has_room=True)
_FULL_ROOMY = Form(is_grown=True, is_filled=True, has_room=True)


class Broken(NamedTuple):
    """An item that does not hold what it should."""

    name: str
    how: str
    now: str
    then: str


class Judged(NamedTuple):
    """What was found in some programs."""

    broken: int
    unnamed: tuple[str, ...]
    sure: int
    """What is said to be too short for sure, and could be tried."""
    unbroken: tuple[str, ...]
    """What of that loses nothing."""


class _Holdings:
    """What the items of some programs hold in each form."""

    def __init__(self, programs: list[GrowingProgram], path: Path) -> None:
        self.forms = {form: held(programs, form, path) for form in (_NOW, _GROWN, _FULL, _ROOMY, _FULL_ROOMY)}

    def broken(self, program: GrowingProgram) -> Iterator[Broken]:
        """Yield the items of a program that do not hold what they should."""
        fixed = {name for names in PARTS.values() for name in names} | {*PARTS}
        for (number, name), now in self.forms[_NOW].items():
            if number != program.number:
                continue
            grown, full, roomy, full_roomy = (
                self.forms[form][number, name] for form in (_GROWN, _FULL, _ROOMY, _FULL_ROOMY)
            )
            if program.compared.get(name) == (FIELD,):
                if now != full:
                    yield Broken(name, "compared with its highest value", now, full)
            elif _squeezed(now) != _squeezed(grown):
                yield Broken(name, "shifted", now, grown)
            elif name not in fixed and _squeezed(now) == _squeezed(roomy) and _squeezed(full) != _squeezed(full_roomy):
                yield Broken(name, "cut", full_roomy, full)


def _squeezed(value: str) -> str:
    """Return a value without the blanks and zeros that fill it up."""
    return value.translate({ord(one): None for one in " 0\0"})


def _named(program: GrowingProgram, told: Iterable[Grown]) -> set[str]:
    """Return the items that are named, and those that get their value from these."""
    found = {one.node.name.removeprefix("P.").rpartition("-")[0] for one in told if one.steps or not _is_longer(one)}
    for group, parts in PARTS.items():
        if group in found or (group != GROUP and found.intersection(parts)):
            found |= {group, *parts}
    size = 0
    while size != len(found):
        size = len(found)
        for one in program.statements:
            if found.intersection(one.reads):
                found.update(one.writes)
        for group, parts in PARTS.items():
            if group in found or (group != GROUP and found.intersection(parts)):
                found |= {group, *parts}
    return found | {flag for flag, names in program.compared.items() if found.intersection(names)}


def _is_longer(one: Grown) -> bool:
    """Return whether something only gets longer."""
    return one.what in {"field", "record", "group"}


def judged(programs: list[GrowingProgram], path: Path) -> Judged:
    """Return what is wrong in what is said of some programs.

    Args:
        programs: The programs.
        path: A folder to compile them in.
    """
    graph = graph_of({"p.cbl": source_of(programs)})
    carrying = Carrying(graph)
    told = {
        one.number: growth(
            graph,
            nodes_named(graph, f"P.{one.name(FIELD)}"),
            one.more_bytes,
            carrying=carrying,
            behind_point=one.is_behind_point,
        )
        for one in programs
    }
    holdings = _Holdings(programs, path)
    count, unnamed = 0, []
    for program in programs:
        named = _named(program, told[program.number])
        for one in holdings.broken(program):
            count += 1
            if one.name not in named:
                unnamed.append(_report(program, one))
    sure = {one.number: list(_sure(one, told[one.number])) for one in programs}
    unbroken = []
    for at in range(max((len(names) for names in sure.values()), default=0)):
        tight = {number: names[at] for number, names in sure.items() if len(names) > at}
        tried = [one for one in programs if one.number in tight]
        lost = held(tried, _FULL_ROOMY, path, tight)
        for program in tried:
            key = program.number, tight[program.number]
            if lost[key].strip() == holdings.forms[_FULL_ROOMY][key].strip():
                unbroken.append(_report(program, Broken(key[1], "loses nothing", lost[key], lost[key])))
    return Judged(count, tuple(unnamed), sum(map(len, sure.values())), tuple(unbroken))


def _sure(program: GrowingProgram, told: Iterable[Grown]) -> Iterator[str]:
    """Yield what is said to be too short for sure, if a single statement fills it, which shows that by its room, and none fills
    the group of the field.
    """
    written = [name for one in program.statements for name in one.writes * (1 + (one.kind in _UNTRIED))]
    for one in told:
        name = one.node.name.removeprefix("P.").rpartition("-")[0]
        is_said = one.what == "too short" and one.certainty == "is"
        if is_said and name in program.items and written.count(name) == 1 and GROUP not in written:
            yield name


def _report(program: GrowingProgram, one: Broken) -> str:
    """Return what is wrong, with the program."""
    text = "; ".join([*program.declared(_NOW), *program.source()])
    more = f"{program.more_bytes} bytes more{' behind its point' * program.is_behind_point}"
    return f"{one.name} {one.how}: {one.now!r}, {one.then!r}; {FIELD} has {more} in: {text}"


def made(seed: int, number: int) -> list[GrowingProgram]:
    """Return programs made from a seed, those with statements."""
    draw = random.Random(seed)
    found: list[GrowingProgram] = []
    while len(found) < number:
        program = GrowingProgram(draw, len(found))
        if program.statements:
            found.append(program)
    return found


def measure(*, long: bool, seed: int) -> Figure:
    """R30: grown fields, beside GnuCOBOL."""
    if not shutil.which("cobc"):
        return untried("R30", "grown fields", _TARGET, NotHere("GnuCOBOL is not installed (Debian package gnucobol)"))
    number = _LONG if long else _SHORT
    with folder("grown", MEMORY) as path:
        programs = made(seed, number)
        parts = [judged(programs[at : at + _AT_ONCE], Path(path)) for at in range(0, number, _AT_ONCE)]
    unnamed = [one for part in parts for one in part.unnamed]
    unbroken = [one for part in parts for one in part.unbroken]
    broken, sure = sum(part.broken for part in parts), sum(part.sure for part in parts)
    return Figure(
        rig="R30",
        name="grown fields",
        value=f"{len(unnamed)} of {broken} items that break in {number} programs are not named, "
        f"{len(unbroken)} of {sure} that are too short for sure lose nothing",
        target=_TARGET,
        met=not unnamed and not unbroken and bool(broken) and bool(sure),
        seed=seed,
        notes=(*(f"not named: {one}" for one in unnamed), *(f"not broken: {one}" for one in unbroken)),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))

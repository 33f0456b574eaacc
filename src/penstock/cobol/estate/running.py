"""Which steps does a job run, with those of its procedures in place and the DD statements that apply there?

What a job says of a procedure's DD overrides it as in JCL: only the given parameters are replaced, and of concatenated data
sets only as many as the job names, but for those where it names none. Members that INCLUDE names are put in place, and so are
the control statements of a member that a DD reads (`SYSIN DD DSN=LIB(MEMBER)`). Of several members of one name, the one in the
nearest folder is meant; of several procedures that are equally near, the first, in doubt if they differ. A library finds a
procedure by the name of its member: a label on PROC counts if no member that is as near has the name.

Leaves to others: what programs do with the data. Law: procedures and includes that name themselves end; a step that runs a
procedure comes before the steps of that procedure.
"""

from __future__ import annotations

import re
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..program import key
from .jcl import TSO, called, included, overriding, run_by
from .members import shared_folders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .jcl import Dd, Find, JclCard, Job, JobStep
    from .members import Member

_Said = TypeVar("_Said")
_MAX_DEPTH = 15  # the deepest that JCL itself lets procedures nest
MAX_STEPS = 4_000
"""How many steps of a job are followed; JCL runs no more than 255. Eight EXECs in each of twelve procedures would be 8^12."""
_CONTROL = re.compile(r"SYSIN|SYSTSIN|TOOLIN|\w*CNTL", re.IGNORECASE)
_MEMBER = re.compile(r"[^()]+\(([A-Z$#@][A-Z0-9$#@]{0,7})\)", re.IGNORECASE)


class RunningStep(NamedTuple):
    """A step as it runs in a job."""

    names: tuple[str, ...]
    """The name of a step in capitals, preceded by those of the steps that run the procedures around it."""
    step: JobStep
    dds: tuple[tuple[str, Dd], ...]
    """Each DD with the path of the member that contains it; none for a step that runs a procedure which is here."""
    places: tuple[tuple[str, int], ...]
    """Path and line of each EXEC that leads to a step, the outermost first and that of the step last."""
    above: tuple[str, ...]
    """The procedures around a step, in capitals, the outermost first."""
    is_missing: bool
    """Whether a step runs a procedure that is not here."""
    is_cut: bool = False
    """Whether a step is the last one followed, in a job that has more."""


class JobSteps:
    """The jobs of some members, and their steps.

    Args:
        members: The members, in order of their paths.
    """

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = members
        self._procedures: dict[str, list[tuple[Member, Job]]] = {}
        # An in-stream procedure belongs to its job alone.
        self._in_stream: dict[tuple[str, int], dict[str, tuple[Member, Job]]] = {}
        for member in members:
            around: Job | None = None
            for job in member.jobs:
                if job.kind == "job":
                    around = job
                elif around is None:
                    for name in {key(job.name), key(member.name)} - {""}:
                        self._procedures.setdefault(name, []).append((member, job))
                else:
                    self._in_stream.setdefault((member.path, around.line), {}).setdefault(key(job.name), (member, job))
        for name, found in self._procedures.items():
            self._procedures[name] = sorted(found, key=lambda one: key(one[0].name) != name)
        self._control: dict[str, list[tuple[Member, tuple[str, ...]]]] = {}
        for member in members:
            if member.control:
                self._control.setdefault(key(member.name), []).append((member, member.control))
        all_jobs = [job for member in members for job in member.jobs]
        self._of_others = {key(name) for job in all_jobs for name in job.includes}
        """The members that others include or run as procedures."""
        self._of_others |= {key(step.procedure) for job in all_jobs for step in job.steps if step.procedure}

    def jobs(self) -> Iterator[tuple[Member, Job]]:
        """Yield the jobs, with includes in place, each with its member.

        A member of steps alone is a job whose JOB card is added elsewhere, unless others run it as a procedure or include it.
        """
        for member in self._members:
            has_card = any(job.kind == "job" for job in member.jobs)
            for job in member.jobs:
                alone = job.kind == "fragment" and not has_card and member.kind == "jcl"
                if job.kind == "job" or (alone and key(member.name) not in self._of_others):
                    yield member, included(job, self._cards_near(member.path))

    def procedures(self) -> Iterator[tuple[str, Member, Job]]:
        """Yield the procedures that nothing here runs, with includes in place, each with its name in capitals and its member."""
        for member in self._members:
            around = False
            for job in member.jobs:
                around = around or job.kind == "job"
                is_one = job.kind == "proc" or (job.kind == "fragment" and member.kind == "proc")
                names = [name for name in (key(job.name), key(member.name)) if name and self._finds(name, member)]
                if is_one and not around and names and self._of_others.isdisjoint(names):
                    yield names[0], member, included(job, self._cards_near(member.path))

    def _finds(self, name: str, member: Member) -> bool:
        """Return whether a procedure of a member is found by a name: that of the member, or its label if no member has the name."""
        found = self._procedures.get(name)
        return key(member.name) == name or (found is not None and key(found[0][0].name) != name)

    def steps(self, member: Member, job: Job) -> Iterator[RunningStep]:
        """Yield the steps of a job or procedure, those of the procedures within it after the step that runs them."""
        known = self._in_stream.get((member.path, job.line), {})
        found = (
            one
            for step in job.steps
            for one in self._of_step(member, step, (), RunningStep((), step, (), (), (), is_missing=False), known)
        )
        for number, one in enumerate(islice(found, MAX_STEPS), start=1):
            yield one._replace(is_cut=number == MAX_STEPS and next(found, None) is not None)

    def _cards_near(self, path: str) -> Find:
        """Return what finds the statements of the members that a file includes."""

        def find(name: str) -> Sequence[JclCard]:
            found = _nearest(self._procedures.get(name, ()), path)
            return found[1].cards if found is not None else ()

        return find

    def _of_step(
        self,
        member: Member,
        step: JobStep,
        said: tuple[tuple[str, Dd], ...],
        around: RunningStep,
        known: Mapping[str, tuple[Member, Job]],
    ) -> Iterator[RunningStep]:
        """Yield a step, followed by the steps of the procedure that it runs, if any.

        Args:
            member: The member that contains it.
            step: The step.
            said: What the steps around it say of its DDs.
            around: The step around it.
            known: The in-stream procedures of the job, by their names in capitals.
        """
        names = (*around.names, key(step.name) or f"STEP{step.line}")
        name = key(step.procedure or "")
        found = known.get(name) or _nearest(self._procedures.get(name, ()), member.path) if name else None
        own = step.dds
        if name and found is None:
            # What PROC says is not here, but what the EXEC says is.
            own = tuple(overriding(dd, dict((*step.around, *step.symbols))) for dd in own)
        dds = _changed([(dd.path or member.path, dd) for dd in own], said)
        one = RunningStep(names, step, dds, (*around.places, (member.path, step.line)), around.above, is_missing=False)
        if step.procedure is None:
            yield self._controlled(one)
            return
        yield self._controlled(one._replace(dds=dds if found is None else (), is_missing=found is None))
        if found is None or name in one.above or len(one.above) >= _MAX_DEPTH:
            return
        inner_member, procedure = found[0], called(found[1], step, self._cards_near(found[0].path))
        doubt = step.doubt or ("" if name in known else self._doubt(name, member.path))
        meant = _meant(dds, procedure)
        for number, inner in enumerate(procedure.steps):
            inside = one._replace(above=(*one.above, name))
            here = tuple(dd for at, dd in meant if at == number)
            yield from self._of_step(inner_member, inner._replace(doubt=doubt or inner.doubt), here, inside, known)

    def _doubt(self, name: str, path: str) -> str:
        """Return why a procedure that the job at a path runs may be another one; "" if it cannot, or if the others are copies."""
        first = {member.path: (member, job) for member, job in reversed(self._procedures[name])}
        ranks = {at: (shared_folders(at, path), key(member.name) == name) for at, (member, _) in first.items()}
        near = [job for at, (_, job) in first.items() if ranks[at] == max(ranks.values())]
        return f"several procedures are called {name}" if any(job != near[0] for job in near) else ""

    def _controlled(self, one: RunningStep) -> RunningStep:
        """Return a step with the control statements of the members that its DDs read, and with the programs that they run."""
        if not self._control:
            return one
        dds = tuple((path, self._with_lines(path, dd)) for path, dd in one.dds)
        step = one.step
        if key(step.program or "") in TSO:
            said = (dd.in_stream for _, dd in dds if key(dd.name) == "SYSTSIN" and dd.members)
            run = (name.upper() for lines in said for name in run_by(lines))
            step = step._replace(programs=(*step.programs, *run))
        return one._replace(step=step, dds=dds)

    def _with_lines(self, path: str, dd: Dd) -> Dd:
        """Return a DD of the file at a path with the lines of the members that it reads as control statements."""
        if dd.in_stream or not _CONTROL.fullmatch(dd.name):
            return dd
        named = (key(found[1]) for place in dd.places if place and (found := _MEMBER.fullmatch(place)))
        read = [said for name in named if (said := _nearest(self._control.get(name, ()), path))]
        lines = tuple(line for _, control in read for line in control)
        return dd._replace(in_stream=lines, members=tuple((one.path, len(control)) for one, control in read))


def _nearest(found: Sequence[tuple[Member, _Said]], path: str) -> tuple[Member, _Said] | None:
    """Return what is said by the member that is nearest to the file at a path, the first of several; None if there is none."""
    return max(found, key=lambda one: shared_folders(one[0].path, path), default=None)


def _meant(dds: Sequence[tuple[str, Dd]], procedure: Job) -> list[tuple[int, tuple[str, Dd]]]:
    """Return the DDs of an EXEC, each with the number of the procedure's step that it applies to.

    One that names no step applies to the same step as the one before it, and the first to the first step.
    """
    numbers = {key(step.name): at for at, step in reversed(list(enumerate(procedure.steps)))}
    found = []
    at = 0
    for path, dd in dds:
        if dd.step is not None:
            at = numbers.get(key(dd.step), -1)
        found.append((at, (path, overriding(dd, dict(procedure.symbols)))))
    return found


def _changed(dds: Sequence[tuple[str, Dd]], said: Sequence[tuple[str, Dd]]) -> tuple[tuple[str, Dd], ...]:
    """Return the DDs of a step after another step's overrides and additions."""
    # Of two with the same name the first one counts, but for those of two steps of the procedure that this one runs.
    found = {(key(dd.step or ""), key(dd.name)): (path, dd) for path, dd in reversed(dds)}
    found = dict(reversed(found.items()))
    for path, dd in said:
        at = ("", key(dd.name))
        known = found.get(at)
        found[at] = (path, dd) if known is None else _overridden(known, path, dd)
    return tuple(found.values())


def _overridden(known: tuple[str, Dd], path: str, dd: Dd) -> tuple[str, Dd]:
    """Return a DD of a procedure after another one, in the file at a path, has overridden the parameters that it gives."""
    where, was = known
    dd = dd._replace(disp=dd.disp or was.disp)
    if not dd.record_bytes:
        dd = dd._replace(record_bytes=was.record_bytes, is_variable=dd.is_variable or was.is_variable)
    if all(place is None for place in dd.places):
        return where, was._replace(disp=dd.disp, record_bytes=dd.record_bytes, is_variable=dd.is_variable)
    before = [(place, (file or where, line)) for place, (file, line) in zip(was.places, was.said_at, strict=True)]
    after = zip(dd.places, dd.said_at, strict=True)
    both = [old if old and (new is None or new[0] is None) else new for new, old in zip_longest(after, before)]
    return path, dd._replace(places=tuple(place for place, _ in both), said_at=tuple(at for _, at in both))

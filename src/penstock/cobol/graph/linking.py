"""Which edges join the parts of an estate, and what else do they say of fields and data sets?

Each question has its module: `calling` and `arriving` join programs, `binding` joins files with data sets, `schemas` tables. Laws:
every edge has a citation; edges that say the same are one.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from . import jobs
from .arriving import Arriving
from .binding import Binding
from .calling import Calling
from .drawing import Drawing
from .schemas import in_schemas

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..estate.members import Member
    from .arriving import PassedField
    from .callees import Callees
    from .copying import CopiedRecords, WrittenPlace
    from .values import EstateEdge, FileBinding, NodeId, ProgramPart


class Linked(NamedTuple):
    """The parts of an estate, joined."""

    edges: tuple[EstateEdge, ...]
    passed: tuple[PassedField, ...]
    """The fields that are passed to other programs, and those that are returned by them."""
    bindings: Mapping[NodeId, list[tuple[int, FileBinding]]]
    """The files that are bound to each data set, with the numbers of their parts."""
    copied: Mapping[NodeId, list[CopiedRecords]]
    """The copies of data sets by job steps, by source and by target."""
    written: Mapping[NodeId, list[WrittenPlace]]
    """The places and lengths that job steps state in numbers about the records of each data set."""
    jobs: tuple[jobs.EstateJob, ...]
    """The jobs, and the procedures that no job runs, with their steps."""


def linked(
    parts: Sequence[ProgramPart], members: Sequence[Member], owner: Mapping[str, int], callees: Callees
) -> Linked:
    """Return what joins the parts of an estate.

    Args:
        parts: The parts, with unique names.
        members: The other files.
        owner: The number of the part of each program or copybook, by kind and name.
        callees: The programs that names lead to.
    """
    drawing = Drawing()
    calling = Calling(parts, members, callees, drawing)
    arriving = Arriving(parts, owner, callees, calling, drawing)
    binding = Binding(parts, members, callees, drawing)
    # The region says which program a transaction starts, and so comes first: what is sent to the one goes to the other.
    calling.add_stated()
    arriving.add()
    calling.add_commanded()
    found = jobs.jobs_of(members)
    for edge in chain.from_iterable(jobs.runs(step) for job in found for step in job.steps):
        calling.add(edge)
    binding.add(found)
    tables = [table.name.upper() for member in members for table in member.tables]
    for edge in in_schemas(drawing.edges(), tables):
        drawing.add(edge)
    return Linked(
        drawing.edges(), tuple(arriving.passed), binding.bindings, binding.copied, binding.written, tuple(found)
    )

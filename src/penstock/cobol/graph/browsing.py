"""Which segments may a DL/I call use that names none: those that its PCB sees, in the PSB with which the program runs?

A GN brings whichever segment comes next. Leaves to others: calls with search arguments (`operations`). Law: only segments of a PSB
that the program may run with are found, each cited with its PCB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..facts.interface import DLI_DEEDS
from ..program import key, number
from .operations import verb_of
from .values import CitedLine, EstateEdge, NodeId, UnnamedCall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..estate.ims import Pcb, Psb
    from ..facts.values import Facts
    from .values import ProgramPart

_BROWSING = {function: verb_of(deed) for function, deed in DLI_DEEDS.items() if function != "ISRT"}
_ROOT = frozenset({"GU", "GHU"})
"""The functions that bring the root if they name no segment."""
_WHY = {
    "reads": "the call names no segment, and may bring any that its PCB sees",
    "writes": "the call names no segment",
}


def unnamed_calls(facts: Facts, path: str) -> tuple[UnnamedCall, ...]:
    """Return the DL/I calls of a program that name no segment.

    Args:
        facts: The facts of the program.
        path: The file that holds it.
    """
    entries = [[key(name) for name in names] for names in dict.fromkeys((facts.using, *facts.entry_parameters))]
    found: list[UnnamedCall] = []
    for one in facts.dli:
        if one.segments or one.uses or one.pcb is None:
            continue
        pcb = key(one.pcb)
        places = tuple((names.index(pcb), len(names)) for names in entries if pcb in names)
        at = number(pcb)
        cited = CitedLine.spanning(path, one.line, one.end_line, one.copybook)
        if places or at is not None:
            functions = (said for said in one.function.split(" or ") if said in _BROWSING)
            found += [UnnamedCall(said, places, at, cited) for said in functions]
    return tuple(found)


def browsed(part: ProgramPart, psbs: Sequence[tuple[str, Psb]]) -> Iterator[EstateEdge]:
    """Yield the segments that the calls of a program may use although they name none.

    Args:
        part: The program.
        psbs: The PSBs that it may run with, each with its path.
    """
    for call in part.unnamed_calls:
        for path, psb in psbs:
            for pcb in _meant(call, psb):
                for segment in pcb.segments[:1] if call.function in _ROOT else pcb.segments:
                    cited, verb = (call.cited, CitedLine(path, pcb.line)), _BROWSING[call.function]
                    target = NodeId("segment", key(segment))
                    yield EstateEdge(NodeId(part.kind, part.name), verb, target, "may", cited, _WHY[verb])


def _meant(call: UnnamedCall, psb: Psb) -> list[Pcb]:
    """Return the PCBs that a call may mean."""
    if call.number is not None:
        return list(psb.pcbs[call.number - 1 : call.number]) if call.number else []
    found = {}
    for place, count in call.places:
        # In front of those of the PSB, a program that IMS schedules gets the PCB of its messages.
        at = place - (count > len(psb.pcbs))
        if 0 <= at < len(psb.pcbs) and psb.pcbs[at].type != "TP":
            found[at] = psb.pcbs[at]
    return list(found.values())

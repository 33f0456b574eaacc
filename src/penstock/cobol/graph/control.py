"""Which parts of a graph are CL programs: their variables, what they pass to the programs that they call, and what they get?

CL passes variables by address, so that a called program may change them; SBMJOB passes copies. Source: IBM i, Control language,
"CALL command". Leaves to others: which programs are called (`calling`), and where an argument arrives (`arriving`).

Law: a CL program whose name is also that of a program in COBOL has no part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..facts.data import ItemPart, MoveWay
from ..facts.pictures import bytes_of
from .values import CitedLine, EstateEdge, LaidField, Passing, ProgramEntry, ProgramPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..estate.cl import ClMove, ClPart, ClVariable, ClVariables
    from ..estate.members import Member

_INTEGERS = {2: 4, 4: 9, 8: 18}
"""The digits that an integer of some bytes certainly holds."""


def control_parts(members: Iterable[Member], parts: Sequence[ProgramPart]) -> Iterator[ProgramPart]:
    """Yield the parts of CL programs.

    Args:
        members: The members of the estate.
        parts: The parts of the other programs.
    """
    taken = {part.name for part in parts if part.kind == "program"}
    for member in members:
        if member.variables is not None and member.name.upper() not in taken:
            yield _part(member, member.variables)


def _part(member: Member, variables: ClVariables) -> ProgramPart:
    """Return the part of one CL program."""
    program = member.name.upper()
    at = {one.name: index for index, one in enumerate(variables.declared)}
    fields = tuple(
        _field(program, index, one, is_given=one.name in variables.parameters)
        for index, one in enumerate(variables.declared)
    )
    sendings = tuple(
        Passing(
            targets=((call.program, "is" if call.is_sure else "may"),),
            by="call",
            arguments=tuple(map(at.get, call.arguments)),
            ways=(MoveWay(is_copied=call.is_submitted),) * len(call.arguments),
            line=call.line,
            end_line=call.end_line,
            why="" if call.is_sure else "a variable of CL has its name",
            copybook=None,
        )
        for call in member.calls
        if any(call.arguments)
    )
    return ProgramPart(
        name=program,
        kind="program",
        path=member.path,
        line=variables.line,
        edges=tuple(
            _edge(move, fields[at[move.source.name]], fields[at[move.target.name]], member.path)
            for move in variables.moves
            if move.source.name != move.target.name
        ),
        fields=fields,
        sendings=sendings,
        entries=(ProgramEntry(program, tuple(map(at.get, variables.parameters)), variables.line),),
    )


def _edge(move: ClMove, source: LaidField, target: LaidField, path: str) -> EstateEdge:
    """Return what a CHGVAR does."""
    cited = (CitedLine.spanning(path, move.line, move.end_line),)
    if move.is_made:
        return EstateEdge(source.node, "computes", target.node, "is", cited)
    way = MoveWay(sent=_characters(move.source), taken=_characters(move.target))
    return EstateEdge(source.node, "moves to", target.node, "is", cited, "", () if way == MoveWay() else (way,))


def _characters(part: ClPart) -> ItemPart | None:
    """Return the characters that are meant of a variable; None for all of them."""
    return None if part.is_whole else ItemPart(part.start, part.length, is_open=False)


def _field(program: str, index: int, one: ClVariable, *, is_given: bool) -> LaidField:
    """Return a variable as a field.

    Args:
        program: The name of the program.
        index: The place of the variable among those of the program.
        one: The variable.
        is_given: Whether it is a parameter.
    """
    picture, usage = _picture(one)
    return LaidField(
        name=f"{program}.{one.name}",
        line=one.line,
        level=1,
        parent=None,
        record=index,
        storage=index,
        offset=0,
        bytes=bytes_of(picture, usage) if picture else 16 if one.type == "*PTR" else None,
        occurs=None,
        picture=picture,
        usage=usage,
        section="LINKAGE" if is_given else "WORKING-STORAGE",
        redefines=None,
        boundary=1,
        depending=None,
        copybook=None,
        copybook_path=None,
        copybook_line=None,
        conditions=(),
        in_table=False,
        is_external=False,
        is_justified=False,
    )


def _picture(one: ClVariable) -> tuple[str | None, str]:
    """Return the picture and usage that a variable would have in COBOL; no picture if its length is not known."""
    if one.type in {"*CHAR", "*LGL"}:
        return f"X({one.length or 1})", "DISPLAY"
    if one.type == "*DEC" and one.length >= one.decimals:
        whole = one.length - one.decimals
        return f"S9({whole})" * (whole > 0) + f"V9({one.decimals})" * (one.decimals > 0), "COMP-3"
    if one.type in {"*INT", "*UINT"} and one.length in _INTEGERS:
        return f"{'S' if one.type == '*INT' else ''}9({_INTEGERS[one.length]})", "COMP-5"
    return None, "POINTER" if one.type == "*PTR" else "DISPLAY"

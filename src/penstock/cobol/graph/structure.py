"""How is a program's data declared: what is part of what, what redefines what, and which copybook says so?

Law: every edge cites the entry that declares its item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .values import CitedLine, EstateEdge, NodeId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .values import LaidField, ProgramPart


def structure(part: ProgramPart) -> Iterator[EstateEdge]:
    """Yield the edges of the declarations of a part, in the order of its fields."""
    for field in part.fields:
        if not field.name:
            continue
        node = field.node
        cited = (declared_at(part, field),)
        group = nearest_named(part, field.parent)
        if group is not None:
            yield EstateEdge(node, "part of", group.node, "is", cited)
        for redefined in dict.fromkeys((field.redefines, field.renames_to)):
            if redefined:
                yield EstateEdge(node, "redefines", NodeId("field", redefined), "is", cited)
        if field.depending:
            yield EstateEdge(NodeId("field", field.depending), "counts", node, "is", cited)
        if field.copybook and part.kind == "program":
            places = (*cited, CitedLine(part.path, field.line, field.copybook))
            yield EstateEdge(
                node, "declared in", NodeId("copybook", field.copybook), "is", tuple(dict.fromkeys(places))
            )


def declared_at(part: ProgramPart, field: LaidField) -> CitedLine:
    """Return where a field is declared: in its copybook if that is here, otherwise at its line of the program."""
    if field.copybook_path and field.copybook_line:
        return CitedLine(field.copybook_path, field.copybook_line)
    return CitedLine(part.path, field.line, field.copybook)


def declarations(part: ProgramPart) -> Iterator[tuple[str, int, int]]:
    """Yield, for each field of a part, the file and line that declare it, and which entry of that line it is, from 0.

    The programs that copy a copybook have the same item by the same entry, whatever REPLACING calls it. One line may have several
    entries, as most have in the copybook that CICS generates from a map.
    """
    before: tuple[CitedLine, int] | None = None
    number = 0
    for field in part.fields:
        cited = declared_at(part, field)
        here = (cited, field.line)  # a second COPY of the same copybook is on another line of the program
        number = number + 1 if here == before else 0
        before = here
        yield cited.path, cited.line, number


def nearest_named(part: ProgramPart, index: int | None) -> LaidField | None:
    """Return a field if it has a name, else the nearest group around it that has one; None if there is none."""
    while index is not None and not part.fields[index].name:
        index = part.fields[index].parent
    return None if index is None else part.fields[index]


def node_of(part: ProgramPart, index: int) -> NodeId:
    """Return the node of a field; for a FILLER, that of its nearest named group, or else one for all FILLERs of the program."""
    named = nearest_named(part, index)
    return NodeId("field", f"{part.name}.FILLER") if named is None else named.node

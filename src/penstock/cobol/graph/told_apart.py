"""How are programs of one name told apart: each by the path of its file, with everything that is named after it?

Law: the names of the parts of a kind are unique.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .values import NodeId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .values import Kind, ProgramPart


def told_apart(parts: Sequence[ProgramPart]) -> tuple[ProgramPart, ...]:
    """Return parts whose names are unique within their kind: if several files have the same name, the path is added."""
    count = Counter((part.kind, part.name) for part in parts)
    taken: Counter[tuple[Kind, str]] = Counter()
    found = []
    # The last program of each name in each file: it is the one that contains the programs after it.
    before: dict[tuple[str, str], str] = {}
    for part in parts:
        name = part.name
        if count[part.kind, part.name] > 1 and part.kind != "copybook":
            name = f"{part.name}@{part.path}"
            taken[part.kind, name] += 1
            if taken[part.kind, name] > 1:
                name = f"{name}#{taken[part.kind, name]}"
        new = {outer: before.get((part.path, outer), outer) for outer in part.around}
        new[part.name] = before[part.path, part.name] = name
        found.append(_renamed(part, new) if any(old != name for old, name in new.items()) else part)
    return tuple(found)


def _renamed(part: ProgramPart, names: Mapping[str, str]) -> ProgramPart:
    """Return a part in which programs are renamed, itself and those that contain it, with everything named after them."""
    old, name = part.name, names[part.name]

    def new(text: str) -> str:
        for before, after in names.items():
            if before != after and text.startswith(f"{before}."):
                return after + text[len(before) :]
        return text

    def node(one: NodeId) -> NodeId:
        if one.kind in {"field", "paragraph", "file"}:
            return NodeId(one.kind, new(one.name))
        return NodeId(one.kind, name) if one == NodeId(part.kind, old) else one

    return part._replace(
        name=name,
        edges=tuple(
            edge._replace(
                source=node(edge.source),
                # A called name is resolved later, even if it is the program's own.
                target=edge.target if edge.target.kind == "program" else node(edge.target),
            )
            for edge in part.edges
        ),
        fields=tuple(
            field._replace(
                name=new(field.name),
                redefines=new(field.redefines) if field.redefines else None,
                depending=new(field.depending) if field.depending else None,
                renames_to=new(field.renames_to) if field.renames_to else None,
            )
            for field in part.fields
        ),
        compared=tuple(one._replace(other=node(one.other) if one.other else None) for one in part.compared),
        lengths=tuple(one._replace(other=node(one.other) if one.other else None) for one in part.lengths),
        files=tuple(file._replace(name=new(file.name)) for file in part.files),
        sendings=tuple(
            one._replace(arguments=tuple(new(field) if isinstance(field, str) else field for field in one.arguments))
            for one in part.sendings
        ),
        entries=tuple(entry._replace(name=name) if entry.name == old else entry for entry in part.entries),
    )

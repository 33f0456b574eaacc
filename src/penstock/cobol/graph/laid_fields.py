"""Which fields does a program declare, and where does each lie in its record?

Leaves to others: what an item holds (`sizes`), and what the program does with it (`programs`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..facts.storage import Storage
from ..program import key
from .naming import copybook_name
from .values import LaidField

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..facts.naming import DataNames


def laid_fields(data: DataNames, names: Sequence[str], copybooks: Mapping[str, str]) -> Iterator[LaidField]:
    """Yield the items that a program itself declares as fields, in the order of their indexes.

    Args:
        data: The items of the program and of those that contain it.
        names: The names of their nodes, by index; "" for a FILLER.
        copybooks: The path of each copybook by its name in capitals.
    """
    storage = Storage(data)
    in_table: list[bool] = []
    for index, item in enumerate(data.items[: data.own]):
        inside = item.occurs is not None or (item.parent is not None and in_table[item.parent])
        in_table.append(inside)
        counted = data.one(item.depending) if item.depending else None
        redefined = _named(data, index, item.redefines or (item.renames[0] if item.renames else None))
        last = _named(data, index, item.renames[1]) if item.renames else None
        yield LaidField(
            name=names[index],
            line=item.line,
            level=item.level,
            parent=item.parent,
            record=item.record,
            storage=storage.root(index),
            offset=item.offset,
            bytes=item.bytes,
            occurs=item.occurs,
            picture=item.picture,
            usage=item.usage,
            section=item.section,
            redefines=None if redefined is None else names[redefined],
            boundary=item.boundary,
            depending=None if counted is None else names[counted],
            copybook=None if item.copybook is None else copybook_name(item.copybook),
            copybook_path=copybooks.get(key(item.copybook)) if item.copybook else None,
            copybook_line=item.copybook_line,
            conditions=tuple(key(one.name) for one in item.conditions),
            in_table=inside,
            is_external=item.shared == "EXTERNAL",
            is_justified=item.is_justified,
            renames_to=None if last is None else names[last],
        )


def _named(data: DataNames, index: int, wanted: str | None) -> int | None:
    """Return the index of the item that another one redefines or renames: the nearest one before it that has the name."""
    if wanted is None:
        return None
    item = data.items[index]
    means = [one.item for one in data.mean(wanted) if one.condition is None and one.item < index]
    beside = [one for one in means if data.items[one].parent == item.parent] if item.redefines else []
    near = beside or means
    return near[-1] if near else None

r"""Which texts may a group hold, put together from its parts: `\DATA\` in a FILLER, a folder, a name?

Leaves to others: what the texts are for. Law: every letter comes from a VALUE or a MOVE of the source; a part that may hold
anything is `DATA`.
"""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING

from ..program import key
from .resolving import literal

if TYPE_CHECKING:
    from .code import Site
    from .naming import DataNames
    from .reaching import Reaching

DATA = "*"
"""The placeholder for data in a text."""
_MOST_PARTS = 40
"""The maximum number of parts of a group that is looked at: a file name has a few."""
_MOST_TEXTS = 16
"""The maximum number of texts of one group at one place."""

_BLANK = frozenset({"SPACE", "SPACES"})


class GroupTexts:
    """The texts of groups at statements, found on demand.

    Args:
        names: The items that names mean.
        reaching: The values that items can have at a statement.
    """

    def __init__(self, names: DataNames, reaching: Reaching) -> None:
        self._names, self._reaching = names, reaching

    def group(self, index: int) -> int | None:
        """Return the group that an item is or redefines as a whole; None if it is no group."""
        items = self._names.items
        item = items[index]
        if item.redefines is not None and item.usage != "GROUP":
            same = [m.item for m in self._names.mean(item.redefines) if items[m.item].parent == item.parent]
            if len(same) != 1 or (item.bytes or 0) < (items[same[0]].bytes or 0):
                return None
            index = same[0]
        return index if items[index].usage == "GROUP" else None

    def at(self, group: int, site: Site | None) -> list[str]:
        """Return the texts that a group may hold before a statement, without blanks at the end; none if it has too many parts.

        Args:
            group: The group.
            site: The statement; None for any place in the program.
        """
        parts = self._parts(group)
        if len(parts) > _MOST_PARTS:
            return []
        named = {at: self._names.qualified(at) for at in parts if self._names.items[at].name not in {"", "FILLER"}}
        self._reaching.follow(named.values())
        texts = [self._texts(at, named.get(at), site) for at in parts]
        return ["".join(pieces).rstrip() for pieces in islice(product(*texts), _MOST_TEXTS)]

    def first_part(self, group: int, text: str) -> int:
        """Return the first part of a group whose VALUE is in a text of the group, or else the first that has one, or the group."""
        values = {at: literal(self._names.items[at].value or "") for at in self._parts(group)}
        parts = [at for at, value in values.items() if value is not None]
        said = (at for at in parts if (value := (values[at] or "").strip()) and value in text)
        return next(said, next(iter(parts), group))

    def _parts(self, group: int) -> list[int]:
        """Return the elementary parts of a group in order, without those that redefine others."""
        found: list[int] = []
        for at in self._names.children.get(group, []):
            item = self._names.items[at]
            if item.redefines is None:
                found += self._parts(at) if item.usage == "GROUP" and item.occurs is None else [at]
        return found

    def _texts(self, index: int, name: str | None, site: Site | None) -> list[str]:
        """Return the texts that a part may have, as long as the part."""
        item = self._names.items[index]
        if item.occurs is not None or item.bytes is None:
            return [DATA]
        if name is None:
            value = "" if key(item.value or "") in _BLANK else literal(item.value or "")
            return [DATA if value is None else value.ljust(item.bytes)]
        reached = self._reaching.at(name, site)
        found = [one.value.ljust(item.bytes) for one in reached.values]
        return found if found and not reached.unknown else [*found, DATA]

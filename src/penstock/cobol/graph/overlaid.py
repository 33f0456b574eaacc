"""What no longer fits because it redefines an item that gets longer, or is redefined by it?

Leaves to others: which items get longer (`growth`).

Law: whatever is reported shares bytes with the item, and does not get longer by the same causes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .carrying import PlacedField
from .consequences import Wave
from .holding import first_name, is_other_kind, lies_behind
from .relaying import RENAMES
from .sizes import Bytes, grows_behind_point, longer, size_of
from .structure import declared_at
from .values import NodeId, less_sure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .consequences import Longer
    from .growing import GrowingEstate


class Overlaid:
    """Reports the items that share bytes by a REDEFINES.

    Args:
        estate: The estate in which fields grow.
    """

    def __init__(self, estate: GrowingEstate) -> None:
        self._carrying, self._found, self._items = estate.carrying, estate.found, estate.items
        self._over: dict[str, list[PlacedField]] = {}
        """The items that redefine each item, by the name of its node."""
        for part in estate.graph.parts:
            for index, field in enumerate(part.fields):
                if field.redefines and field.level != RENAMES:
                    self._over.setdefault(field.redefines, []).append(PlacedField(part, index))

    def growing_with(self, changed: Longer, then: int | None) -> Iterator[tuple[NodeId, PlacedField, Wave]]:
        """Report what redefines an item, or is redefined by it, if it no longer fits; yield what grows with the item, and how.

        Args:
            changed: A field that grows, or a group that contains it.
            then: Its length after growing.
        """
        field = changed.part.fields[changed.at]
        subject = field.redefines if field.redefines and field.level != RENAMES else field.name
        over = [*self._over.get(subject, ())] if subject else []
        placed = self._carrying.place(NodeId("field", subject)) if subject != field.name else None
        # What has grown for one of several redefinitions need not grow for those of another record type.
        is_laid_over = ("redefinition", field.node) in self._found
        kinds = [PlacedField(changed.part, changed.at)]
        for one in [*([placed] if placed is not None else []), *over]:
            # A FILLER that redefines it is reported under the first name in it.
            node = NodeId("field", one.field.name or first_name(one.part, one.at))
            if node.name and not (one.part is changed.part and one.at == changed.at):
                grew = [at for at in over if at.field.node in self._items.laid] if is_laid_over else []
                is_other = any(is_other_kind(here, one) for here in (*kinds, *grew))
                more = self._shared(changed, then, node, one, is_other=is_other)
                if more is not None:
                    yield node, one, more

    def _shared(
        self, changed: Longer, then: int | None, node: NodeId, one: PlacedField, *, is_other: bool
    ) -> Wave | None:
        """Report an item that shares the bytes if it no longer fits; return how it grows as well, None if it does not.

        Args:
            changed: A field that grows, or a group that contains it.
            then: Its length after growing.
            node: The node under which the item is reported.
            one: The item.
            is_other: Whether it may be a record of another type.
        """
        wave, field, other = changed.wave, changed.part.fields[changed.at], one.field
        # The length of a FILLER is not that of the node under which it is reported.
        size, grown = size_of(other), self._items.grown_by(other.node, one, changed.causes)
        shares = f"it shares its bytes with {field.name or 'a FILLER'}"
        if size is None or grown is None or then is None:
            length = None if then is None else then * (field.occurs or 1)
            self._tell(changed, node, one, length, f"{shares}, which gets longer", is_sure=False)
            return None
        now, length = (field.bytes or 0) * (field.occurs or 1), then * (field.occurs or 1)
        is_behind = grown == size and lies_behind(one.part, one.at, changed.place.within(other))
        if size.bytes * (other.occurs or 1) < now and not is_behind:
            # A shorter record of another type keeps what it had; over an elementary item it is a part of that.
            if "group" not in {size.kind, field.usage.lower()}:
                why = f"it has only a part of {field.name} today, which gets longer"
                self._tell(changed, node, one, length, why, is_sure=False)
        elif grown.bytes * (other.occurs or 1) < length and not (is_behind and size.bytes < now):
            self._tell(changed, node, one, length, f"{shares}, which gets longer", is_sure=not is_other)
            if (field.bytes, field.occurs, size.kind == "group") == (other.bytes, other.occurs, False):
                sure = less_sure(wave.certainty, "may" if is_other else "is")
                behind = grows_behind_point(size_of(field), wave.size)
                more = longer(size, Bytes(then - size.bytes), behind_point=behind)
                return Wave(more, sure, wave.steps + 1, (*wave.causes, node))
        elif is_behind:
            why = f"{shares}, in which what follows the growing field moves"
            self._tell(changed, node, one, None, why, is_sure=not is_other)
        return None

    def _tell(
        self, changed: Longer, node: NodeId, one: PlacedField, length: int | None, why: str, *, is_sure: bool
    ) -> None:
        """Report an item that shares the bytes and no longer fits."""
        cited = [declared_at(one.part, one.field), declared_at(changed.part, changed.part.fields[changed.at])]
        sure = less_sure(changed.wave.certainty, "is" if is_sure else "may")
        self._found.add("redefinition", node, (one.field.bytes, length), changed.wave.steps, why, cited, sure)

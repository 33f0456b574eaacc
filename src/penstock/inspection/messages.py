"""Which blocks are one message? Hosts record the blocks of an answer one by one; providers take them as one.

Law: nothing is lost, and each message is at the place of its first block. Leaves to others: which messages are in force.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import field

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.inspection.timeline import Said
    from penstock.text.json_access import Json


def whole_messages(said: Iterable[Said]) -> list[Json]:
    """Return what was said as messages, with the blocks of one answer in one of them."""
    return [joined(parts) for parts in grouped(said)]


def grouped(said: Iterable[Said]) -> list[list[Said]]:
    """Return what was said, grouped by message, each message at the position of its first block."""
    made: list[list[Said]] = []
    begun: dict[str, list[Said]] = {}
    for one in said:
        if one.part_of in begun:
            begun[one.part_of].append(one)
            continue
        made.append([one])
        if one.part_of and isinstance(field(one.message, "content"), list):
            begun[one.part_of] = made[-1]
    return made


def joined(parts: Sequence[Said]) -> Json:
    """Return the blocks of one message as that message."""
    first = parts[0].message
    if len(parts) == 1 or not isinstance(first, dict):
        return first
    contents = [field(one.message, "content") for one in parts]
    return {**first, "content": [block for content in contents if isinstance(content, list) for block in content]}

"""How are a result's lists shortened: when very many entries fill the room, where do lists end so that what stays is whole?

One text in place of a thousand others would leave their frame, which is a flood by itself, and a notice among names is taken for a
name. Laws: what stays of a list are its first entries, in order; a record's fields, and texts in them, stay if the room holds their
names; afterwards the lists fit the room. Pure: it knows no host's names but those that the caller gives. Leaves to others: the note
about it (`cutting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.hosts.results import MAP_ENTRIES
from penstock.text import fitting

if TYPE_CHECKING:
    from collections.abc import Callable

# A name and a word: if a record's fields have less room each, the first fields are worth more than all names.
_LEAST_ENTRY = 20
_FRAME = 4  # quotes, colon and comma of a name; brackets of a list or an object


def shorten(value: Any, room: int, size_of: Callable[[object], int]) -> Any:
    """Return a value whose lists end at their size limit.

    Args:
        value: a value of JSON.
        room: its size limit.
        size_of: returns a value's size, names included.
    """
    if isinstance(value, list):
        return [item for _, item in _first(list(enumerate(value)), room, size_of)]
    if not isinstance(value, dict):
        return value
    if len(value) > min(MAP_ENTRIES, room // _LEAST_ENTRY):
        return dict(_first(list(value.items()), room, size_of))
    # Texts get their share of the room, though they are cut later and elsewhere.
    sizes = [size_of(item) for item in value.values()]
    shares = fitting.share(sizes, max(0, room - sum(len(name) + _FRAME for name in value)))
    return {
        name: shorten(item, share, size_of) if size > share else item
        for (name, item), size, share in zip(value.items(), sizes, shares, strict=True)
    }


def _first(entries: list[tuple[Any, Any]], room: int, size_of: Callable[[object], int]) -> list[tuple[Any, Any]]:
    """Return the first entries that fit; an entry that takes most of the room is shortened to fit and comes last."""
    kept: list[tuple[Any, Any]] = []
    left = room - _FRAME
    for name, item in entries:
        frame = len(name) + _FRAME if isinstance(name, str) else 1
        size = size_of(item) + frame
        if size <= left:
            kept.append((name, item))
            left -= size
            continue
        if isinstance(item, (dict, list)) and left > room // 2:
            kept.append((name, shorten(item, left - frame, size_of)))
        break
    return kept

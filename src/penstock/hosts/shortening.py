"""Shorten what a result lists: where very many entries fill the room, lists end early and what stays is whole.

A text in the place of a thousand others would leave their frame, which is a flood by itself, and a notice among names is taken for
a name. Laws: what stays of a list are its first entries, in order; fields of a record, and texts in them, stay as they were where
the room holds their names; what the lists take afterwards is at most the room. Pure: no host's names but those that the caller
gives. Keeps out: what is said about it (`cutting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.hosts.results import MAP_ENTRIES
from penstock.text import fitting

if TYPE_CHECKING:
    from collections.abc import Callable

# A name and a word: of a record whose fields have less each, the first are worth more than the names of all.
_LEAST_ENTRY = 20
_FRAME = 4  # quotes, colon and comma of a name; of a list or an object its brackets


def shorten(value: Any, room: int, size_of: Callable[[object], int]) -> Any:
    """Return a value whose lists end where they have taken what they may.

    Args:
        value: a value of JSON.
        room: what it may take.
        size_of: what a value takes, names and all.
    """
    if isinstance(value, list):
        return [item for _, item in _first(list(enumerate(value)), room, size_of)]
    if not isinstance(value, dict):
        return value
    if len(value) > min(MAP_ENTRIES, room // _LEAST_ENTRY):
        return dict(_first(list(value.items()), room, size_of))
    # Texts have their part in the room, though they are cut later and elsewhere.
    sizes = [size_of(item) for item in value.values()]
    shares = fitting.share(sizes, max(0, room - sum(len(name) + _FRAME for name in value)))
    return {
        name: shorten(item, share, size_of) if size > share else item
        for (name, item), size, share in zip(value.items(), sizes, shares, strict=True)
    }


def _first(entries: list[tuple[Any, Any]], room: int, size_of: Callable[[object], int]) -> list[tuple[Any, Any]]:
    """Return the first entries that fit; of one that takes most of the room what fits of it, as the last."""
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

"""How are two calls of one conversation told apart if a server gave both the same id?

Some servers that speak a provider's API give calls no ids, or the same id throughout an answer, or start again with each answer.
Two calls with one id could not be answered separately: the provider would refuse a request that holds both, and a repair that keeps
one of them loses what the other did. Law: distinct ids stay as they are, and so does the first of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import string

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from penstock.text.json_access import Json


def told_apart(
    items: Sequence[dict[str, Json]],
    taken_ids: Collection[str],
    call_of: Callable[[dict[str, Json]], dict[str, Json] | None],
    key: str,
    put: Callable[[dict[str, Json], dict[str, Json]], dict[str, Json]] = lambda _, call: call,
) -> list[Json]:
    """Return the items of an answer, each call among them with an id of its own.

    Args:
        items: blocks, parts or calls of one answer, in order.
        taken_ids: the ids of calls before this answer.
        call_of: the call in an item; None for an item that is not a call.
        key: the key of a call's id.
        put: an item with another call in it; by default the call is the item.
    """
    told: list[Json] = []
    taken = {"", *taken_ids}
    for place, item in enumerate(items):
        call = call_of(item)
        if call is None:
            told.append(item)
            continue
        name = given = string(call.get(key))
        number = place
        while name in taken:
            # The number is increased rather than appended to: providers limit the length of ids.
            name, number = f"{given or 'call'}_{number}", number + 1
        taken.add(name)
        told.append(item if name == given else put(item, {**call, key: name}))
    return told

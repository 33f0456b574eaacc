"""How are two calls of one conversation told apart, where a server gave both the same id?

Some servers that speak a provider's API number no calls, or all of an answer alike, or begin anew with each answer. Two calls of
one id could not be answered apart: the provider would refuse the request that holds both, and a repair that keeps one loses what
the other did. Law: ids that differ stay as they are, and the first of each too.
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
        call_of: the call in an item; None for an item that is none.
        key: where a call has its id.
        put: an item with another call in it; the call is the item where nobody says.
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
            # Counted on and not made longer: a provider takes no id of any length.
            name, number = f"{given or 'call'}_{number}", number + 1
        taken.add(name)
        told.append(item if name == given else put(item, {**call, key: name}))
    return told

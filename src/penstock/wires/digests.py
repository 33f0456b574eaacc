"""Which history is this? Digests of its prefixes that ignore prompt cache markers.

A client sends its whole history each time, unchanged except for cache markers, which it moves from turn to turn. Digests identify
the history again, wherever it is held. Law: two histories have the same digest exactly if they say the same. Pure. Leaves to
others: what is remembered of a history (`carrier`, `gateway`).
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from penstock.text.json_access import string, type_of
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json

_WRITER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, check_circular=False, default=repr)
_LONG_CHARS = 1_000
_MARKS = frozenset({"cache_control", "cachePoint"})


def chain_of(messages: Sequence[Json]) -> list[str]:
    """Return the digests of all prefixes of a history, the shortest first."""
    made: list[str] = []
    for message in messages:
        made.append(next_digest(made[-1] if made else "", message))
    return made


def next_digest(before: str, message: Json) -> str:
    """Return the digest of a prefix that is one message longer; `before` is the shorter one's digest, empty for none."""
    plain = _WRITER.encode(_unmarked(message)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(before.encode() + b"\0" + plain, digest_size=16).hexdigest()


def opening_digest(messages: Sequence[Json], wire: str) -> str:
    """Return the digest of what was said before the model first spoke, which all turns of a conversation have in common.

    The first message alone may be the instructions, which are the same in every conversation of a program.
    """
    read = wire_named(wire).codec.read
    spoke = (place for place, message in enumerate(messages) if place and read(message)[0] in {"assistant", "tool"})
    opening = messages[: next(spoke, len(messages))]
    return chain_of(opening)[-1] if opening else ""


def _unmarked(value: Json, levels: int = 20) -> Json:
    """Return a message without cache markers, and a list of one text as that text: clients wrap a text in a list to mark it.

    A long text is replaced by its digest, which costs a quarter of writing it as JSON. Anything nested deeper than `levels` has no
    markers, and might exceed Python's recursion limit.
    """
    if not levels:
        return value
    if isinstance(value, str):
        if len(value) < _LONG_CHARS:
            return value
        digest = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return f"\0{len(value)} {digest}"
    if isinstance(value, dict):
        made = {name: _unmarked(held, levels - 1) for name, held in value.items() if name not in _MARKS}
        content = made.get("content")
        if isinstance(content, list) and len(content) == 1 and type_of(content[0]) == "text" and len(content[0]) == 2:
            made["content"] = string(content[0].get("text"))
        return made
    if isinstance(value, list):
        # A marker may be an item of its own.
        return [
            _unmarked(item, levels - 1)
            for item in value
            if not (isinstance(item, dict) and item.keys() <= _MARKS and item)
        ]
    return value

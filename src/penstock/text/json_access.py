"""What is in foreign JSON? The questions that every codec asks of a value that it did not make, none of which can
raise.

Law: whatever comes in, an answer of the promised type comes out. Leaves to others: what any of it means on a wire.
"""

from __future__ import annotations

import base64
import json
from sys import float_info
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A value as returned by `json.loads`. It is foreign: nothing about it is taken on trust."""

MAX_WHOLE_NUMBER = 2**53 - 1
"""The largest accepted whole number: up to it all JSON readers agree, and it can be divided and multiplied (RFC 8259, 6)."""


def objects(value: Json) -> list[dict[str, Json]]:
    """Return the objects in a list; none for anything but a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def string(value: Json) -> str:
    """Return the string, or an empty one for anything else."""
    return value if isinstance(value, str) else ""


def whole_number(value: Json) -> int | None:
    """Return a whole number from 0 to `MAX_WHOLE_NUMBER`, None for anything else; a boolean is not a number."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= MAX_WHOLE_NUMBER else None


def field(value: Json, *path: str) -> Json:
    """Return the value at a path of names; None if the path does not exist."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def nested(value: dict[str, Json], path: tuple[str, ...], held: Json) -> dict[str, Json]:
    """Return the object with `held` at `path`; objects along the path are copied, or created if missing."""
    if len(path) == 1:
        return {**value, path[0]: held}
    inner = value.get(path[0])
    return {**value, path[0]: nested(inner if isinstance(inner, dict) else {}, path[1:], held)}


def type_of(value: Json) -> str:
    """Return the `type` of a block or an item; empty if there is none."""
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def role_of(value: Json) -> str:
    """Return the `role` of a message; empty if there is none."""
    role = value.get("role") if isinstance(value, dict) else None
    return role if isinstance(role, str) else ""


def blocks(content: Json) -> list[dict[str, Json]]:
    """Return content as blocks: a string is one block of text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def as_json(value: Json) -> str:
    """Return a value as JSON text; for what JSON cannot represent, or nests too deeply, a text that says so."""
    try:
        return json.dumps(value, ensure_ascii=False, default=_base64)
    except (ValueError, TypeError, RecursionError):
        return '"unprintable"'


def _base64(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} is not JSON")


def parsed(text: str) -> tuple[bool, Json]:
    """Return whether a text is JSON, and its value. Numbers may have any length; NaN is refused, as RFC 8259 demands."""
    try:
        return True, _READER.decode(text)
    except (ValueError, RecursionError):
        return False, None


def value_at(text: str, place: int) -> tuple[Json, int]:
    """Return the value that begins at a place in a text, read as `parsed` reads, and the place after it.

    Raises:
        ValueError: no JSON begins there.
        RecursionError: it nests too deeply.
    """
    return _READER.raw_decode(text, place)


def parsed_finite(text: str) -> tuple[bool, Json]:
    """Return whether a text is JSON, and its value, with numbers limited to what a float can hold, so it can be written again."""
    try:
        return True, _FINITE_READER.decode(text)
    except (ValueError, RecursionError):
        return False, None


def _refuse(name: str) -> None:
    """Refuse `NaN` and `Infinity`, which Python's reader accepts as JSON."""
    raise ValueError(f"{name} is not JSON")


def _number(digits: str) -> float:
    """Return a number of any length."""
    # Python's `int` refuses more than 4,300 digits, against quadratic time; a float says about as much of such a number.
    return int(digits) if len(digits) <= 4000 else float(digits)


def _finite(digits: str) -> float:
    """Return a number as close as a float can be."""
    # Python's reader turns 1e400 into infinity, which is not valid JSON when it is written again.
    return max(-float_info.max, min(float(digits), float_info.max))


def _finite_number(digits: str) -> float:
    """Return a whole number of any length; for a very long one the closest float."""
    return int(digits) if len(digits) <= 4000 else _finite(digits)


_READER = json.JSONDecoder(parse_constant=_refuse, parse_int=_number)
_FINITE_READER = json.JSONDecoder(parse_constant=_refuse, parse_int=_finite_number, parse_float=_finite)


def copied(value: Json) -> Json:
    """Return a deep copy, made without recursion, so that deeply nested values are copied too."""
    if not isinstance(value, (dict, list)):
        return value
    root = value.copy()
    rest = [root]
    while rest:
        node = rest.pop()
        # Replacing the value under a key keeps the order and size of an object, so this is safe while iterating over it.
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(child, (dict, list)):
                node[key] = copy = child.copy()
                rest.append(copy)
    return root


def base64_bytes(text: str) -> int:
    """Return the approximate number of bytes in a base64 text; padding is ignored."""
    return len(text) * 3 // 4


def data_url(url: str) -> tuple[str, str]:
    """Return the media type and the base64 data of a `data:` URL; two empty strings for anything else."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return "", ""
    return head[5:-7].split(";")[0], data

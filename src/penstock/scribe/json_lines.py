"""How is JSON written to files? With a line for each field and for each item of a list, so that a change shows as a line.

Python's own indenting takes four times as long, and half of its output is blanks. Law: the output is the JSON of the value.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.text.json_access import Json


def json_lines(value: Mapping[str, Json]) -> str:
    """Return an object as JSON for a file."""
    return "{\n" + ",\n".join(f"{_dumped(name)}: {_lines(one)}" for name, one in value.items()) + "\n}\n"


def _lines(value: Json) -> str:
    """Return a value on one line, or a list of objects with a line for each."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(map(_dumped, value)) + "\n]"
    return _dumped(value)


# Made once: `json.dumps` makes an encoder for every item of a list. Documents have no cycles, so they are not checked for any.
_dumped = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode

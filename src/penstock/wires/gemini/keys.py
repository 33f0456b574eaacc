"""How are the keys of Gemini's JSON spelled? The REST API writes camelCase, google-genai's dicts and objects snake_case.

Google's JSON accepts either, and dumped SDK objects hold None for missing fields. Law: nothing here raises for any JSON.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from penstock.text.json_access import field

if TYPE_CHECKING:
    from penstock.text.json_access import Json


@cache
def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda found: f"_{found[0].lower()}", name)


def get(value: Json, name: str) -> Json:
    """Return what an object holds under a camelCase name in either spelling; None if there is nothing."""
    if not isinstance(value, dict):
        return None
    held = value.get(name)
    return value.get(_snake(name)) if held is None else held


def spelling(value: Json, name: str) -> str:
    """Return the spelling in which an object holds a name; camelCase if it does not hold it."""
    return _snake(name) if field(value, name) is None and field(value, _snake(name)) is not None else name


def both(*names: str) -> tuple[str, ...]:
    """Return camelCase names and their snake_case spellings, the former first."""
    return tuple(dict.fromkeys([*names, *map(_snake, names)]))

"""How are a configuration's values read and changed without its text, so that an edit has an expected result (H-3)?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Path = tuple[str | int, ...]
"""The path of a value: keys of objects, indexes of lists."""

MISSING: Any = object()
"""What `get` returns if there is no value: None is a value."""


class Remembered(NamedTuple):
    """The values that a configuration had at earlier times; `MISSING` where that is not known."""

    before: Any = MISSING
    """The value of a configuration before anything of ours was added."""
    left: Any = MISSING
    """The value of a configuration when we left it."""


NOTHING_REMEMBERED = Remembered()
"""What is remembered of a configuration without a record."""


class MemberEdit(NamedTuple):
    """An edit of one member of an object."""

    verb: Literal["put", "replace", "remove"]
    key: str
    value: Any = None


def get(value: Any, path: Path) -> Any:
    """Return the value at a path, or `MISSING` if there is none."""
    for step in path:
        inner: Any = value if isinstance(value, (dict, list)) else {}  # indexing a string would give a letter
        try:
            value = inner[step]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return value


def put(value: object, path: Path, new: object) -> object:
    """Return the value with `new` at a path; missing containers on the way are created. Raises ValueError if that is impossible."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        if value is MISSING:
            value = []
        if not isinstance(value, list) or step > len(value):
            raise ValueError("there is no list")
        inner = put(value[step] if step < len(value) else MISSING, rest, new)
        return [*value[:step], inner, *value[step + 1 :]]
    if value is MISSING:
        value = {}
    if not isinstance(value, dict):
        raise ValueError("there is no object")  # noqa: TRY004 - it is about a file
    return {**value, step: put(value.get(step, MISSING), rest, new)}


def put_all(value: Any, changes: Mapping[Path, object]) -> object:
    """Return the value with new values at many paths, none of them within another.

    Raises:
        KeyError: There is no value at one of them.
    """
    if () in changes:
        return changes[()]
    by_step: dict[str | int, dict[Path, object]] = {}
    for path, new in changes.items():
        by_step.setdefault(path[0], {})[path[1:]] = new
    return {**value, **{step: put_all(value[step], inner) for step, inner in by_step.items()}}


def remove(value: Any, path: Path) -> object:
    """Return the value without the one at a path; raises KeyError if there is none."""
    if get(value, path) is MISSING or not path:
        raise KeyError(path)
    step, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int):
        return [*value[:step], *([remove(value[step], rest)] if rest else []), *value[step + 1 :]]
    changed = dict(value)
    if rest:
        changed[step] = remove(value[step], rest)
    else:
        del changed[step]
    return changed

"""How do the arguments of a Gemini call that stream in pieces become one call? By the path that each piece names.

With `streamFunctionCallArguments` a call comes in several parts: the first has its name, the next have pieces of its arguments
(`partialArgs`), each with a path into them and perhaps more to come, and the last says that nothing follows, by not saying
`willContinue`. Source: `FunctionCall` and `PartialArg` of Google's API. Law: the call that they add up to is the unstreamed one; a
piece whose path leads nowhere is kept under that path as it is written. Leaves to others: every other part (`answers`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from penstock.text.json_access import objects, string
from penstock.wires.gemini.keys import both, get, spelling
from penstock.wires.stream import update

if TYPE_CHECKING:
    from penstock.text.json_access import Json

# Steps of a path as RFC 9535 writes them: `.name`, `['name']`, `["name"]`, `[0]`.
_STEP: Final = re.compile(r"\.(\w+)|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]|\[(\d{1,9})\]")
_NOT_IN_A_WHOLE_CALL: Final = both("partialArgs", "willContinue")


def is_piece(call: Json) -> bool:
    """Whether a call is the first piece of one that streams."""
    return bool(get(call, "partialArgs")) or get(call, "willContinue") is True


def goes_on(call: Json) -> bool:
    """Whether a call adds to the one before it instead of beginning another."""
    return not get(call, "name")


class StreamedCall:
    """One call whose arguments come in pieces.

    Args:
        part: its first part. `part` is that of the whole call, complete after `join`.
    """

    def __init__(self, part: dict[str, Json]) -> None:
        self._key = spelling(part, "functionCall")
        self._call: dict[str, Json] = {}
        self._args: dict[str, Json] = {}
        self._pieces: dict[str, list[Json]] = {}
        self.part: dict[str, Json] = {**part, self._key: self._call}
        self.is_open = True
        """Whether more pieces are to come."""
        self.add(part)

    def add(self, part: dict[str, Json]) -> None:
        """Take the next part of the call."""
        call = get(part, "functionCall")
        update(self.part, part, but=both("functionCall"))
        update(self._call, call, but=(*_NOT_IN_A_WHOLE_CALL, "args"))
        given = get(call, "args")
        self._args |= given if isinstance(given, dict) else {}
        for piece in objects(get(call, "partialArgs")):
            self._pieces.setdefault(string(get(piece, "jsonPath")), []).append(_value(piece))
        self.is_open = get(call, "willContinue") is True

    def join(self) -> None:
        """Put what has come of the arguments into the call."""
        args: dict[str, Json] = {**self._args}
        for path, values in self._pieces.items():
            is_text = all(isinstance(value, str) for value in values)
            value = "".join(map(str, values)) if is_text else values[-1]
            if not _put(args, path, value):
                args[path] = value
        self._call["args"] = args


def _value(piece: dict[str, Json]) -> Json:
    """Return what a piece holds: a text, a number, a truth value or null."""
    for name in ("stringValue", "boolValue"):
        if (held := get(piece, name)) is not None:
            return held
    number = get(piece, "numberValue")
    # An SDK's objects hold floats where the JSON has whole numbers.
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _put(args: dict[str, Json], path: str, value: Json) -> bool:
    """Put a value at its path; return whether the path leads to a place in these arguments."""
    steps = _steps(path)
    if not steps:
        return False
    holder: Json = args
    places: list[tuple[Any, Any, Json]] = []
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        fresh: Json = value if after is None else [] if isinstance(after, int) else {}
        if isinstance(step, str) and isinstance(holder, dict):
            held = holder.get(step, fresh)
        # Elements come in order: a place far behind the end would fill the memory with nothing.
        elif isinstance(step, int) and isinstance(holder, list) and step <= len(holder):
            held = holder[step] if step < len(holder) else fresh
        else:
            return False
        places.append((holder, step, value if after is None else held))
        holder = held
    # Written only now: a path that leads nowhere leaves nothing of its beginning behind.
    for holder, step, held in places:
        if isinstance(holder, list) and step == len(holder):
            holder.append(held)
        else:
            holder[step] = held
    return True


def _steps(path: str) -> list[str | int]:
    """Return the steps of a path from the arguments; none if it is not one."""
    found = list(_STEP.finditer(path, 1))
    is_path = path.startswith("$") and "".join(step[0] for step in found) == path[1:]
    return [int(step[4]) if step[4] is not None else _name(step) for step in found] if is_path else []


def _name(step: re.Match[str]) -> str:
    """Return the name in a step, without its quotes and their escapes."""
    return step[1] if step[1] is not None else re.sub(r"\\(.)", r"\1", step[2] if step[2] is not None else step[3])

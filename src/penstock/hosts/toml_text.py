"""How is TOML edited in place: a table of ours appended, and removed again line by line (H-3)?

A scanner finds where statements begin and end; `tomllib` gives their values. The caller compares the edit's value with the expected
one (`documents`), so that a misread statement leads to a refusal and never to a broken file.
Leaves to others: changes within inline tables, which are refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.hosts.nested_values import Path

_BLANK = re.compile(r"(?>(?:[ \t\r\n]++|#[^\n]*+)*)")
_KEY = re.compile(r"""[ \t]*(?:([A-Za-z0-9_-]+)|("(?:[^"\\\n]|\\.)*")|('[^'\n]*'))[ \t]*""")
_QUOTED = re.compile(
    r"""
    "{3} (?>(?:[^"\\] | \\. | "{1,2}(?!"))*) "{3,5}  # two of the marks may stand right before the closing three
    | '{3} (?>(?:[^'] | '{1,2}(?!'))*) '{3,5}
    | " (?>(?:[^"\\\n] | \\.)*) "
    | ' [^'\n]*+ '
    """,
    re.DOTALL | re.VERBOSE,
)
_NAN = float("nan")
_BARE = re.compile(r"^[A-Za-z0-9_-]+$")


@dataclass(frozen=True)
class TomlStatement:
    """One statement with its position: `path` is its full path from the root; `value_start` is None for a header."""

    path: tuple[str, ...]
    start: int
    end: int
    value_start: int | None


class InlineTableError(ValueError):
    """The addition would go into an inline table. `line` is what a person can write between its braces."""

    def __init__(self, name: str, line: str) -> None:
        self.line = line
        super().__init__(
            f"{name} is an inline table, and nothing can be added to it: make it a table, [{name}], or write the line between "
            "its braces"
        )


def parse(text: str) -> dict[str, object]:
    """Return a text's value. Raises ValueError with the position of the error."""
    # NaN equals nothing, not even itself, and edits are verified by comparison. The same NaN object compares equal within
    # containers.
    return tomllib.loads(text.removeprefix("\ufeff"), parse_float=lambda word: _NAN if "nan" in word else float(word))


def put(text: str, path: Path, value: object) -> str:
    """Return the text with a table after its last line, or with a value at the end of its own table.

    A value at the root goes after the last root value, before the first header.

    Args:
        text: What `parse` accepts.
        path: The path of the new value, key by key.
        value: A table: strings, booleans, numbers, lists of them, and tables of them; or one of those.

    Raises:
        KeyError: There is no table for the value.
        InlineTableError: It would go into an inline table.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    for each in statements(text):
        if each.value_start is not None and each.path == path[: len(each.path)] and text[each.value_start] == "{":
            key = ".".join(_key(str(step)) for step in path[len(each.path) :])
            raise InlineTableError(".".join(map(_key, each.path)), f"{key} = {_literal(value)}\n")
    if not isinstance(value, dict) and len(path) == 1:
        return _put_first(text, str(path[0]), _literal(value), newline)
    if not isinstance(value, dict):
        beside = [each for each in statements(text) if each.path == path[:-1] or each.path[:-1] == path[:-1]]
        if not beside:
            raise KeyError(path)
        found = text.find("\n", beside[-1].end)
        at = len(text) if found < 0 else found + 1
        gap = newline if found < 0 else ""
        return f"{text[:at]}{gap}{_key(str(path[-1]))} = {_literal(value)}{newline}{text[at:]}"
    lines = [
        f"[{'.'.join(_key(str(step)) for step in path)}]",
        *(f"{_key(k)} = {_literal(v)}" for k, v in value.items()),
    ]
    ended = text if not text or text.endswith("\n") else text + newline
    gap = newline if ended.strip("\ufeff \t\r\n") else ""
    return ended + gap + newline.join(lines) + newline


def _put_first(text: str, key: str, literal: str, newline: str) -> str:
    """Return the text with a root value: after the last root value, or at the beginning, before the first header."""
    own = []
    for each in statements(text):
        if each.value_start is None:
            break
        own.append(each)
    line = f"{_key(key)} = {literal}{newline}"
    if not own:
        at = 1 if text.startswith("\ufeff") else 0
        return f"{text[:at]}{line}{text[at:]}"
    found = text.find("\n", own[-1].end)
    at = len(text) if found < 0 else found + 1
    return f"{text[:at]}{newline if found < 0 else ''}{line}{text[at:]}"


def replace(text: str, path: Path, value: object) -> str:
    """Return the text with another value for a key; raises KeyError if no statement sets it."""
    found = [each for each in statements(text) if each.path == path and each.value_start is not None]
    if len(found) != 1:
        raise KeyError(path)
    return text[: found[0].value_start] + _literal(value) + text[found[0].end :]


def remove(text: str, path: Path) -> str:
    """Return the text without the table or value at a path, comments between its lines included; raises KeyError."""
    found = statements(text)
    ours = [index for index, each in enumerate(found) if each.path[: len(path)] == path]
    if not ours:
        raise KeyError(path)
    result, end = text, len(text)
    # From last to first, so that earlier positions stay valid; consecutive statements are removed together.
    while ours:
        last = first = ours.pop()
        while ours and ours[-1] == first - 1:
            first = ours.pop()
        start = text.rfind("\n", 0, found[first].start) + 1
        line_end = text.find("\n", found[last].end)
        end = len(text) if line_end < 0 else line_end + 1
        is_table = found[first].value_start is None
        for blank in ("\r\n", "\n"):  # the blank line before a table goes with it
            if is_table and text[:start].endswith(f"\n{blank}"):
                start -= len(blank)
                break
        result = result[:start] + result[end:]
    return result


def statements(text: str) -> list[TomlStatement]:
    """Return all statements of a text in order. Raises ValueError if one cannot be parsed."""
    found: list[TomlStatement] = []
    table: tuple[str, ...] = ()
    at = 1 if text.startswith("\ufeff") else 0
    while (at := _skip(text, at)) < len(text):
        start = at
        if text[at] == "[":
            is_list = text.startswith("[[", at)
            table, at = _keys(text, at + 1 + is_list)
            at += 1 + is_list
            found.append(TomlStatement(table, start, at, None))
        else:
            keys, at = _keys(text, at)
            at += 1  # the equals sign
            while text[at : at + 1] in {" ", "\t"}:
                at += 1
            end = _value_end(text, at)
            found.append(TomlStatement((*table, *keys), start, end, at))
            at = end
    return found


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


def _keys(text: str, at: int) -> tuple[tuple[str, ...], int]:
    keys: list[str] = []
    while True:
        found = _KEY.match(text, at)
        if found is None:
            raise ValueError(f"no key at character {at}")
        keys.append(found[1] or next(iter(tomllib.loads(f"{found[0].strip()} = 1"))))
        at = found.end()
        if text[at : at + 1] != ".":
            return tuple(keys), at
        at += 1


def _value_end(text: str, at: int) -> int:
    """Return where a value ends: at the end of its line, or of the last line that its open brackets extend to."""
    depth, end = 0, at
    while at < len(text):
        if found := _QUOTED.match(text, at):
            at = end = found.end()
            continue
        letter = text[at]
        if letter == "#":
            newline = text.find("\n", at)
            at = len(text) if newline < 0 else newline
            continue
        if letter == "\n" and not depth:
            break
        depth += (letter in "[{") - (letter in "]}")
        at += 1
        end = end if letter in " \t\r\n" else at
    return end


def _key(name: str) -> str:
    return name if _BARE.match(name) else _literal(name)


def _literal(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            # JSON strings are valid TOML except for one character that TOML wants escaped.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return f"[{', '.join(map(_literal, value))}]"
        case dict():
            return "{ " + ", ".join(f"{_key(k)} = {_literal(v)}" for k, v in value.items()) + " }"
        case int() | float():
            return repr(value)
        case _:
            raise ValueError(f"TOML has no {type(value).__name__}")

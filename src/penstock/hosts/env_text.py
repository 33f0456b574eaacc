"""How is a file of variables (`.env`) edited in place, so that one line changes and every other byte stays (H-3)?

Each line is `KEY=value`, with or without a leading `export `, the value bare or quoted; if a key occurs twice, the last line wins.
Laws: as for the other formats, the edited text reads as the old value with that one difference. Leaves to others: values over
several lines, which are refused if they would be edited, and how a shell expands a value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from penstock.hosts.nested_values import Path

_LINE = re.compile(
    r"""
    (?P<start>[ \t]*(?:export[ \t]+)?(?P<key>[A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*)
    (?:"(?P<double>[^"\r\n]*)" | '(?P<single>[^'\r\n]*)' | (?P<bare>[^"'#\r\n \t](?:[^#\r\n]*[^#\r\n \t])?)?)
    [ \t]*(?:\#[^\r\n]*)?(?P<end>\r?\n|\Z)
    """,
    re.VERBOSE,
)
_NOTHING = re.compile(r"[ \t]*(?:#[^\n]*)?\Z")
_PLAIN = re.compile(r"[\w:/.~@%+-]+\Z")


class _Assignment(NamedTuple):
    """One line that sets a variable: where the line and its value begin and end."""

    key: str
    value: str
    start: int
    value_start: int
    value_end: int
    end: int


def parse(text: str) -> dict[str, object]:
    """Return the variables of a text. Raises ValueError for a line that is neither a variable nor a comment."""
    return {each.key: each.value for each in _assignments(text)}


def put(text: str, path: Path, value: object) -> str:
    """Return the text with a variable after its last line; raises ValueError for a value that does not fit on a line."""
    newline = "\r\n" if "\r\n" in text else "\n"
    ended = text if not text.strip("\ufeff") or text.endswith("\n") else text + newline
    return f"{ended}{_name(path)}={_literal(value)}{newline}"


def replace(text: str, path: Path, value: object) -> str:
    """Return the text with another value for a variable; raises KeyError if there is no such variable."""
    found = _last(text, path)
    return text[: found.value_start] + _literal(value) + text[found.value_end :]


def remove(text: str, path: Path) -> str:
    """Return the text without a variable's line; raises KeyError if there is no such variable."""
    found = _last(text, path)
    return text[: found.start] + text[found.end :]


def _assignments(text: str) -> list[_Assignment]:
    found: list[_Assignment] = []
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        if (line := _LINE.match(text, at)) is not None:
            # Replacing a value replaces its quotes too.
            kind = next((name for name in ("double", "single", "bare") if line[name] is not None), None)
            quotes = 0 if kind in {"bare", None} else 1
            begin, end = line.span(kind) if kind is not None else (line.end("start"), line.end("start"))
            value = "" if kind is None else line[kind]
            found.append(_Assignment(line["key"], value, at, begin - quotes, end + quotes, line.end()))
            at = line.end()
            continue
        newline = text.find("\n", at)
        end = len(text) if newline < 0 else newline + 1
        if not _NOTHING.match(text[at:end].rstrip("\r\n")):
            raise ValueError(f"line {text.count(chr(10), 0, at) + 1} is neither a variable nor a comment")
        at = end
    return found


def _last(text: str, path: Path) -> _Assignment:
    found = [each for each in _assignments(text) if (each.key,) == path]
    if not found:
        raise KeyError(path)
    return found[-1]


def _name(path: Path) -> str:
    if len(path) != 1:
        raise ValueError("a variable has no parts")
    return str(path[0])


def _literal(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a variable is text")  # noqa: TRY004 - it is about a file, as in `nested_values`
    if _PLAIN.match(value) or not value:
        return value
    if any(letter in value for letter in '"\r\n\\$`'):
        raise ValueError("it cannot be written in one line that every reader takes alike")
    return f'"{value}"'

"""How is JSON with comments edited in place, so that only the bytes change that must (H-3)?

Comments (`//`, `/* */`), trailing commas, a byte order mark, tabs and CRLF are read and kept. If a key occurs twice, the last one
wins, as in the hosts' own readers.
Laws: what `put`, `replace` and `remove` return reads as the old value with that one difference; comments outside what was replaced
or removed stay. Leaves to others: which entries are ours (`parts`), and files.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.hosts.nested_values import MemberEdit, Path

_MAX_DEPTH = 200
_SPACE = re.compile(r"(?>(?:[ \t\r\n]++|//[^\r\n]*+|/\*(?>(?:[^*]|\*(?!/))*)\*/)*)")
_STRING = re.compile(r'"(?>(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_REST_OF_LINE = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*(?:[^*\r\n]|\*(?!/))*\*/))*")
_INDENT = re.compile(r"\ufeff*([ \t]*)")
_WORDS: dict[str, object] = {"true": True, "false": False, "null": None}


class JsonSyntaxError(ValueError):
    """A text that is not JSON with comments. The message gives the position of the error."""

    def __init__(self, text: str, at: int, what: str) -> None:
        line = text.count("\n", 0, at) + 1
        super().__init__(f"line {line}, column {at - (text.rfind(chr(10), 0, at) + 1) + 1}: {what}")


class Number(NamedTuple):
    """A number as it is written: no digit is lost in a comparison, and `1` differs from the string `1`."""

    text: str


class JsonItem(NamedTuple):
    """A member of an object or an element of an array. `comma` is the position of its comma; None without one."""

    key: str | None
    start: int
    node: JsonNode
    comma: int | None

    @property
    def end(self) -> int:
        """Where the value of a member or element ends."""
        return self.node.end


class JsonNode(NamedTuple):
    """A value with its position in the text: `kind` is `{`, `[`, or empty for a scalar."""

    start: int
    end: int
    kind: str
    scalar: object = None
    items: tuple[JsonItem, ...] = ()

    def find(self, step: str | int) -> int | None:
        """Return the index of the item that a path's step selects; None if there is none."""
        if isinstance(step, int):
            return step if self.kind == "[" and 0 <= step < len(self.items) else None
        found = [at for at, item in enumerate(self.items) if item.key == step] if self.kind == "{" else []
        return found[-1] if found else None


@lru_cache(maxsize=2)  # an edit parses the text that the previous one produced
def parse(text: str) -> JsonNode | None:
    """Return the value of a text with the positions of all its parts; None for a text with nothing but comments.

    Raises:
        JsonSyntaxError: It is not JSON with comments, or is nested deeper than 200 levels.
    """
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return None
    node = _node(text, start, 0)
    if (end := _skip(text, node.end)) != len(text):
        raise JsonSyntaxError(text, end, "there is more after the value")
    return node


def to_value(node: JsonNode | None) -> object:
    """Return a text's value, without positions: dicts, lists, strings, `Number`, True, False and None."""
    if node is None:
        return {}
    if node.kind == "{":
        return {item.key: to_value(item.node) for item in node.items}
    if node.kind == "[":
        return [to_value(item.node) for item in node.items]
    return node.scalar


def is_blank(text: str, path: Path) -> bool:
    """Return whether an object or a list holds nothing, not even a comment; raises KeyError if there is none."""
    node = _container_and_item(parse(text), path)[1].node
    return not text[node.start + 1 : node.end - 1].strip()


def dump(value: object) -> str:
    """Return a value as JSON; raises ValueError for a number that Python would write differently."""
    return json.dumps(_writable(value))


def put(text: str, path: Path, value: object) -> str:
    """Return the text with a value at a path that has none yet: after its siblings, indented like them.

    Args:
        text: What `parse` accepts.
        path: Where the value goes; an index equal to the list's length appends. Missing containers on the way are created.
        value: What json.dumps accepts.

    Raises:
        JsonSyntaxError: The text cannot be read.
        ValueError: Something on the way is not an object, or not a list.
    """
    root = parse(text)
    style = _style_of(text, root)
    if root is None:
        mark = "" if not text or text.endswith(("\n", "\ufeff")) else style.newline
        return f"{text}{mark}{style.render(_nested(path, value), '')}{style.newline}"
    return _put(text, root, path, value, style)


def replace(text: str, path: Path, value: object) -> str:
    """Return the text with another value at a path; raises KeyError if there is none."""
    root = parse(text)
    return _replace(text, root, path, value, _style_of(text, root))


def remove(text: str, path: Path) -> str:
    """Return the text without the value at a path, its comma and the line that it leaves empty; raises KeyError.

    Comments within the value go with it; those before and after it stay.
    """
    return _remove(text, parse(text), path)


def edit_objects(text: str, edits: Mapping[Path, Sequence[MemberEdit]]) -> str:
    """Return the text with members of many objects edited: it is parsed once, however many there are.

    Args:
        text: What `parse` accepts.
        edits: The edits of each object's members, in order; no object is within another.

    Raises:
        JsonSyntaxError: The text cannot be read.
        ValueError: Something on the way to a put value is not an object, or not a list.
        KeyError: An object, or a value to replace or remove in one, is missing.
    """
    root = parse(text)
    style = _style_of(text, root)
    done: list[tuple[int, int, str]] = []
    for path, steps in edits.items():
        node = _container_and_item(root, path)[1].node
        # An edit within an object needs nothing from outside it but its line's indentation.
        indent = _indent_at(text, node.start)
        part = indent + text[node.start : node.end]
        for edit in steps:
            inner = _node(part, len(indent), 0)
            if edit.verb == "remove":
                part = _remove(part, inner, (edit.key,))
            else:
                write = _put if edit.verb == "put" else _replace
                part = write(part, inner, (edit.key,), edit.value, style)
        done.append((node.start, node.end, part[len(indent) :]))
    pieces, at = [], 0
    for start, end, part in sorted(done):
        pieces += [text[at:start], part]
        at = end
    return "".join([*pieces, text[at:]])


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _node(text: str, at: int, depth: int) -> JsonNode:
    if depth > _MAX_DEPTH:
        raise JsonSyntaxError(text, at, f"nested deeper than {_MAX_DEPTH} levels")
    if text[at : at + 1] in {"{", "["}:
        return _container(text, at, depth)
    if found := _STRING.match(text, at):
        return JsonNode(at, found.end(), "", json.loads(found[0]))
    if found := _SCALAR.match(text, at):
        return JsonNode(at, found.end(), "", _WORDS[found[0]] if found[0] in _WORDS else Number(found[0]))
    raise JsonSyntaxError(text, at, f"{text[at]!r} begins no value" if at < len(text) else "the text ends in a value")


def _container(text: str, start: int, depth: int) -> JsonNode:
    kind, close = text[start], "}" if text[start] == "{" else "]"
    items: list[JsonItem] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != close:
        if items and items[-1].comma is None:
            raise JsonSyntaxError(
                text, at, f"a comma or {close!r} is missing" if at < len(text) else "the text ends here"
            )
        begin, key = at, None
        if kind == "{":
            name = _STRING.match(text, at)
            if name is None:
                raise JsonSyntaxError(text, at, "a key in double quotes is missing")
            key = json.loads(name[0])
            at = _skip(text, name.end())
            if text[at : at + 1] != ":":
                raise JsonSyntaxError(text, at, "a colon is missing")
            at = _skip(text, at + 1)
        node = _node(text, at, depth + 1)
        at = _skip(text, node.end)
        has_comma = text[at : at + 1] == ","
        items.append(JsonItem(key, begin, node, at if has_comma else None))
        at = _skip(text, at + 1) if has_comma else at
    return JsonNode(start, at + 1, kind, None, tuple(items))


def _container_and_item(node: JsonNode | None, path: Path) -> tuple[JsonNode, JsonItem]:
    if node is None:
        raise KeyError(path)
    container, item = node, None
    for step in path:
        container = node
        at = container.find(step)
        if at is None:
            raise KeyError(path)
        item = container.items[at]
        node = item.node
    if item is None:
        raise KeyError(path)
    return container, item


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


class _Style(NamedTuple):
    """How a file is written: its line ends, the indentation of a level, whether it is all on one line, and whether colons are
    followed by no space.
    """

    newline: str
    unit: str
    is_one_line: bool
    is_tight: bool

    @property
    def colon(self) -> str:
        """The text between a key and its value."""
        return ":" if self.is_one_line and self.is_tight else ": "

    def render(self, value: object, indent: str) -> str:
        """Return a value as written at this indentation."""
        value = _writable(value)
        if self.is_one_line:
            return _encoded(value, separators=("," if self.colon == ":" else ", ", self.colon))
        lines = _encoded(value, indent=self.unit).split("\n")
        return f"{self.newline}{indent}".join(lines)


def _style_of(text: str, root: JsonNode | None) -> _Style:
    inner = _own_indent(text, root.items[0].start) if root and root.items else None
    whole = "" if root is None else text[root.start : root.end]
    return _Style(
        newline="\r\n" if "\r\n" in text else "\n",
        unit=inner or "  ",
        is_one_line=bool(root and root.items and "\n" not in whole),
        is_tight='": ' not in whole and '":' in whole,
    )


def _put(text: str, root: JsonNode, path: Path, value: object, style: _Style) -> str:
    node = root
    for depth, step in enumerate(path):
        if node.kind != ("[" if isinstance(step, int) else "{"):
            kind = "a list" if isinstance(step, int) else "an object"
            raise ValueError(f"{'.'.join(map(str, path[:depth])) or 'the whole'} is not {kind}")
        at = node.find(step)
        if at is None:
            return _insert(text, node, step, _nested(path[depth + 1 :], value), style)
        node = node.items[at].node
    raise ValueError(f"{'.'.join(map(str, path))} is there already")


def _replace(text: str, root: JsonNode | None, path: Path, value: object, style: _Style) -> str:
    _, item = _container_and_item(root, path)
    style = style._replace(is_one_line="\n" not in text[item.node.start : item.end])
    return text[: item.node.start] + style.render(value, _indent_at(text, item.start)) + text[item.end :]


def _remove(text: str, root: JsonNode | None, path: Path) -> str:
    container, item = _container_and_item(root, path)
    index = next(at for at, each in enumerate(container.items) if each is item)
    if item.comma is not None and (comments := text[item.end : item.comma].lstrip()):
        return text[: item.start] + comments + text[item.comma + 1 :]
    start, end = item.start, item.end if item.comma is None else item.comma + 1
    line_end = _line_end(text, end)
    if not text[end:line_end].strip():  # nothing else after it: its line goes with it
        start = len(text[:start].rstrip(" \t\r\n"))
    elif item is container.items[-1]:  # the space after the previous comma goes
        start = len(text[:start].rstrip(" \t"))
    else:
        end += len(text[end:line_end]) - len(text[end:line_end].lstrip(" \t"))
    # Only the last item can lack a comma: once it is gone, the previous comma would be a trailing one, which not all hosts accept.
    before, after = text[:start], text[end:]
    if item.comma is None and index and (comma := container.items[index - 1].comma) is not None:
        before = before[:comma] + before[comma + 1 :]
    return before + after


def _insert(text: str, node: JsonNode, step: str | int, value: object, style: _Style) -> str:
    """Append an item to an object or a list."""
    outer = _indent_at(text, node.start)
    label = "" if isinstance(step, int) else _encoded(step) + style.colon
    if not node.items:
        return _insert_first(text, node, outer, label, value, style)
    last = node.items[-1]
    behind = last.end if last.comma is None else last.comma + 1
    indent = _own_indent(text, last.start)
    if indent is None:
        indent = _own_indent(text, node.items[0].start)
    # An item is written like its neighbours: on its own line if the last one has one, otherwise after it. A one-line file stays one
    # line, with its spacing of colons and commas.
    if indent is None or style.is_one_line:  # the items share a line
        flat = style._replace(is_one_line=True, is_tight=style.is_one_line and style.is_tight)
        gap = "" if flat.colon == ":" else " "
        comma, trailing = (",", "") if last.comma is None else ("", ",")
        return f"{text[:behind]}{comma}{gap}{label}{flat.render(value, '')}{trailing}{text[behind:]}"
    # After the rest of the last item's line: a comment there is about that item.
    found = _REST_OF_LINE.match(text, behind)
    at = behind if found is None else found.end()
    between = text[behind:at]
    comma, trailing = (",", "") if last.comma is None else ("", ",")
    new = f"{style.newline}{indent}{label}{style.render(value, indent)}{trailing}"
    return f"{text[:behind]}{comma}{between}{new}{text[at:]}"


def _insert_first(text: str, node: JsonNode, outer: str, label: str, value: object, style: _Style) -> str:
    """Put the first item into an object or a list that holds at most comments."""
    # A comment in an otherwise empty object is about the new content, which therefore follows it.
    inner = text[node.start + 1 : node.end - 1]
    indent = outer + style.unit
    if not inner.strip():
        at = node.start + 1
        if style.is_one_line:
            return f"{text[:at]}{label}{style.render(value, '')}{text[at:]}"
        tail = "" if "\n" in inner else f"{style.newline}{outer}"
        return f"{text[:at]}{style.newline}{indent}{label}{style.render(value, indent)}{tail}{text[at:]}"
    at = node.start + 1 + len(inner.rstrip())  # after the last comment
    if "\n" not in text[at : node.end]:
        one_line = style._replace(is_one_line=True, is_tight=False)
        return f"{text[:at]} {label}{one_line.render(value, '')}{text[at:]}"
    return f"{text[:at]}{style.newline}{indent}{label}{style.render(value, indent)}{text[at:]}"


def _nested(path: Path, value: object) -> object:
    for step in reversed(path):
        value = [value] if isinstance(step, int) else {step: value}
    return value


def _encoded(value: object, *, indent: str | None = None, separators: tuple[str, str] | None = None) -> str:
    """Return a value as JSON without escaping its letters; a lone surrogate, which UTF-8 cannot hold, stays an escape."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return text.encode("utf-8", "backslashreplace").decode()


def _writable(value: object) -> object:
    """Return a value that json.dumps accepts; raises ValueError for a number that Python would write differently."""
    match value:
        case Number(text):
            number = json.loads(text)
            if json.dumps(number) != text:
                raise ValueError(f"{text} cannot be written again")
            return number
        case dict():
            return {key: _writable(inner) for key, inner in value.items()}
        case list():
            return [_writable(inner) for inner in value]
        case _:
            return value


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found


def _indent_at(text: str, at: int) -> str:
    """Return the leading spaces and tabs of the line at a position."""
    found = _INDENT.match(text, text.rfind("\n", 0, at) + 1, at)
    return "" if found is None else found[1]


def _own_indent(text: str, at: int) -> str | None:
    """Return the indentation of an item that begins its line; None if something precedes it there."""
    start = text.rfind("\n", 0, at) + 1
    return text[start:at] if start and not text[start:at].strip(" \t") else None

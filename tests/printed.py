"""Parsers for the text of a result: its header, its calls, its lines."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.text.calls import Call

if TYPE_CHECKING:
    from penstock import Tools


class Header(NamedTuple):
    """The first line of a result; fields that it does not state are None."""

    path: str
    lines: tuple[int, int] | None
    total_lines: int | None
    exact: bool
    start_byte: int
    end_byte: int
    total_bytes: int
    version: str
    next: Call | None
    previous: dict[str, Any] | None


def header(text: str) -> Header:
    """Parse the first line, in the form that `contracts.md` specifies."""
    line = text.split("\n", 1)[0]
    path, rest = line.split(": ", 1)
    lines = re.match(r"showing lines (\d+)-(\d+)(?: of (at least )?(\d+) total)?", rest)
    bytes_ = re.search(r"bytes (\d+)-(\d+) of (\d+)", rest)
    following = call_in(rest, "next: ")
    version = re.search(r"\| version (\S+)", rest[: rest.index("| next: ")] if following else rest)
    version_of_next = following and following.arguments.get("version")
    assert bytes_, line
    assert version or version_of_next, line
    previous = re.search(r'\| previous start_byte=(\d+) max_bytes=(\d+) version="([^"]+)"', rest)
    return Header(
        path=path,
        lines=(int(lines[1]), int(lines[2])) if lines else None,
        total_lines=int(lines[4]) if lines and lines[4] else None,
        exact=bool(lines and lines[4] and not lines[3]),
        start_byte=int(bytes_[1]),
        end_byte=int(bytes_[2]),
        total_bytes=int(bytes_[3]),
        version=version[1] if version else str(version_of_next),
        next=following,
        previous={"start_byte": int(previous[1]), "max_bytes": int(previous[2]), "version": previous[3]}
        if previous
        else None,
    )


def body(text: str) -> str:
    """Return what follows the header."""
    return text.partition("\n")[2]


def call_in(text: str, before: str) -> Call | None:
    """Return the call printed after `before`, or None."""
    at = text.find(before)
    return None if at < 0 else parse(text[at + len(before) :])


def calls_in(text: str) -> list[Call]:
    """Return the calls that an error offers."""
    return [parse(part) for part in text.partition(" Try: ")[2].split(" or ") if part]


def parse(text: str) -> Call:
    """Parse the Python call that `text` begins with."""
    for end in re.finditer(r"\)", text):
        try:
            tree = ast.parse(text[: end.end()], mode="eval").body
        except SyntaxError:
            continue
        assert isinstance(tree, ast.Call)
        assert isinstance(tree.func, ast.Name)
        assert not tree.args
        return Call(tree.func.id, {str(word.arg): ast.literal_eval(word.value) for word in tree.keywords})
    raise AssertionError(f"no call in {text!r}")


def follow(tools: Tools, call: Call) -> str:
    """Return the result of a printed call."""
    result = tools.call(call.tool, call.arguments)
    assert not result.is_error, result.text
    return result.text

"""Which files does a glob select? Globs as git reads them and models write them (L-1).

A pattern with `/` is anchored to the folder where a listing begins and reaches as deep as it says; without `/` it matches names.
`**/` matches any number of folders, including none; `{a,b}`, `[…]` and a leading `./` work. Case counts, and `?` is one character.
What git would treat as broken (an open `[`, a trailing backslash) matches itself, because a file may have that name.

Laws: for ASCII names, a valid pattern without braces selects what `git ls-files ":(glob)PATTERN"` selects; braces are the union of
their alternatives; no folder is entered in which nothing can match; no pattern can hang us (`ignore.joined`). Leaves to others:
hidden and ignored files (`walk`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ToolError
from penstock.workspace import ignore

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_ALTERNATIVES = 64
"""The most patterns that the braces in one pattern may expand to: `{a,b}{c,d}` is four."""

NameFilter = Callable[[str, list[str]], list[str]]
"""A function of a folder's path (`a/b/`, empty for the first) and names in it, which returns those it selects, in the same order.
"""

_MAX_BRACES = 32
_POSIX = {name.decode(): members.decode()[1:-1] for name, members in ignore.CLASSES.items()}
_ANY = "**"


class Selection(NamedTuple):
    """Which files of a tree are selected, and where they may lie."""

    takes: NameFilter | None
    """Selects file names; None selects all."""
    enters: NameFilter | None
    """Selects the names of folders that may contain selected files; None if any may."""
    recursive: bool
    """Whether files in subfolders may be selected at all."""


EVERYTHING = Selection(None, None, recursive=True)
"""All files at any depth."""


def compiled(pattern: str, *, recursive: bool) -> Selection:
    """Return what a glob selects.

        >>> glob = compiled("src/**/*.{go,py}", recursive=False)
        >>> glob.takes("src/deep/", ["a.go", "b.txt"]), glob.enters("", ["src", "docs"])
        (['a.go'], ['src'])

    Args:
        pattern: As a model gave it, not empty.
        recursive: Whether a pattern without `/` matches names at any depth; else only those of the first folder.

    Raises:
        ToolError: Its braces expand to too many patterns.
    """
    alternatives = [_parts(one) for one in _alternatives(pattern)]
    # Only names, at any depth that the listing has: `*` and `*.py` are most of what is asked, and need no expression.
    if all(len(parts) == 1 for parts in alternatives):
        return Selection(_names([parts[0] for parts in alternatives]), None, recursive)
    if all(len(parts) == 2 and parts[0] == _ANY for parts in alternatives):
        return Selection(_names([parts[1] for parts in alternatives]), None, recursive=True)
    # An alternative without a slash may be next to others with one: `{*.md,src/*.py}`.
    anchored = [parts if len(parts) > 1 else [_ANY if recursive else "", parts[0]] for parts in alternatives]
    match = re.compile("|".join(map(_expression, anchored))).match
    routes = [[_matcher(part) for part in parts[:-1]] for parts in anchored]

    def enters(prefix: str, names: list[str]) -> list[str]:
        inner = prefix.split("/")[:-1]
        return [name for name in names if any(_leads(route, [*inner, name]) for route in routes)]

    def takes(prefix: str, names: list[str]) -> list[str]:
        return [name for name in names if match(prefix + name)]

    return Selection(takes, enters, recursive=True)


def _alternatives(pattern: str) -> list[str]:
    """Return the patterns that braces expand to. Raises `ToolError` if there are too many."""
    # Each pair of braces is a level of recursion below.
    few = pattern.count("{") <= _MAX_BRACES
    found = list(islice(_expanded(pattern), MAX_ALTERNATIVES + 1)) if few else []
    if not few or len(found) > MAX_ALTERNATIVES:
        raise ToolError("bad_pattern", f"The braces stand for more than {MAX_ALTERNATIVES} patterns. Use fewer.")
    return found


def _expanded(pattern: str) -> Iterator[str]:
    """Yield each alternative of the first braces, combined with each expansion of the rest. `{a}` and an unclosed brace are
    literal.
    """
    choice = _first_choice(pattern)
    if choice is None:
        yield pattern
        return
    start, end, options = choice
    inner = (one for option in options for one in _expanded(option))
    # The rest is expanded anew for each option, and never as a list: ten pairs of braces expand to a thousand patterns.
    for option in inner:
        for rest in _expanded(pattern[end:]):
            yield pattern[:start] + option + rest


def _first_choice(pattern: str) -> tuple[int, int, list[str]] | None:
    """Return where the first braces with a comma begin and end, and their options."""
    opened: list[tuple[int, list[int]]] = []
    found: tuple[int, int, list[str]] | None = None
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            at += 1
        elif character == "[" and (closed := _closing(pattern, at + 1)):
            at = closed - 1
        elif character == "{":
            opened.append((at, []))
        elif character == "," and opened:
            opened[-1][1].append(at)
        elif character == "}" and opened:
            start, commas = opened.pop()
            # The outermost pair that closes wins: braces within it belong to its options.
            if commas and (found is None or start < found[0]):
                edges = [start, *commas, at]
                options = [pattern[left + 1 : right] for left, right in pairwise(edges)]
                found = (start, at + 1, options)
                if not opened:
                    return found
        at += 1
    return found


def _parts(pattern: str) -> list[str]:
    """Return a pattern without braces split into folders; a leading `./` or `/` is the folder that the listing begins in."""
    while pattern.startswith("./"):
        pattern = pattern[2:].lstrip("/")
    anchored = pattern.startswith("/")
    pattern = pattern.lstrip("/")
    # A folder's name followed by a slash means everything in it, as in an ignore file.
    if pattern.endswith("/"):
        pattern += _ANY
    parts: list[str] = []
    for part in pattern.split("/"):
        if part not in {"", "."} and not (part == _ANY and parts[-1:] == [_ANY]):
            parts.append(part)
    if parts[-1:] == [_ANY]:
        parts.append("*")
    return ["", *parts] if anchored and len(parts) == 1 else parts or ["*"]


def _names(patterns: list[str]) -> NameFilter | None:
    """Return the function that selects names by patterns without a slash; None if one of them matches all."""
    if any(pattern and not pattern.strip("*") for pattern in patterns):
        return None
    tails = [pattern.lstrip("*") for pattern in patterns]
    if all(tail != pattern and _is_plain(tail) for tail, pattern in zip(tails, patterns, strict=True)):
        ends = tuple(tails)
        return lambda _, names: [name for name in names if name.endswith(ends)]
    match = re.compile("|".join(_expression([pattern]) for pattern in patterns)).match
    return lambda _, names: [name for name in names if match(name)]


def _is_plain(text: str) -> bool:
    """Return whether a text matches itself alone."""
    return not any(character in text for character in "*?[\\")


def _expression(parts: list[str]) -> str:
    """Return the expression that matches whole paths."""
    return ignore.joined(_pieces("/".join(part for part in parts if part)))


def _matcher(part: str) -> Callable[[str], object] | None:
    """Return the test for the name of one folder; None for any number of folders."""
    # An empty part is not a folder name: what follows it lies in the first folder only.
    return None if part == _ANY else re.compile(_expression([part]) if part else "(?!)").match


def _leads(route: list[Callable[[str], object] | None], folders: list[str]) -> bool:
    """Return whether something may match beneath these folders."""
    for at, folder in enumerate(folders):
        if at >= len(route):
            return False
        asks = route[at]
        if asks is None:
            return True
        if not asks(folder):
            return False
    return True


def _pieces(text: str) -> list[str]:
    """Return a pattern as [fixed, kind, fixed, kind, fixed …], as `ignore.joined` takes it."""
    pieces = [""]
    at = 0
    while at < len(text):
        character = text[at]
        start, at = at, at + 1
        if character == "*":
            while text[at : at + 1] == "*":
                at += 1
            whole = at - start == 2 and (not start or text[start - 1] == "/") and text[at : at + 1] == "/"
            pieces += [ignore.FOLDERS if whole else ignore.STAR, ""]
            at += whole
        elif character == "?":
            pieces[-1] += "[^/]"
        elif character == "[" and (closed := _closing(text, at)):
            pieces[-1] += _members(text[at : closed - 1])
            at = closed
        else:
            if character == "\\" and at < len(text):
                character, at = text[at], at + 1
            pieces[-1] += re.escape(character)
    return pieces


def _closing(text: str, at: int) -> int:
    """Return the index after the `]` of a bracket expression that begins before `at`; 0 if it does not end."""
    at += text[at : at + 1] in {"!", "^"} and bool(text[at : at + 1])
    first = True
    while at < len(text):
        if text[at] == "]" and not first:
            return at + 1
        first = False
        if text[at] == "\\":
            at += 1
        elif text.startswith("[:", at) and (end := text.find(":]", at + 2)) > 0:
            at = end + 1
        at += 1
    return 0


def _members(inner: str) -> str:
    """Return the content of a bracket expression as a character class; no class matches a slash."""
    negated = inner[:1] in {"!", "^"}
    rest = inner[negated:]
    members: list[str] = []
    at = 0
    while at < len(rest):
        if rest.startswith("[:", at) and (end := rest.find(":]", at + 2)) > 0:
            members.append(_POSIX.get(rest[at + 2 : end], ""))
            at = end + 2
            continue
        low, at = _character(rest, at)
        if rest[at : at + 1] == "-" and at + 1 < len(rest):
            high, at = _character(rest, at + 1)
            members.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else "")
        else:
            members.append(re.escape(low))
    text = "".join(members)
    if not text:
        return "[^/]" if negated else "(?!)"
    return f"(?!/)[{'^' * negated}{text}]"


def _character(text: str, at: int) -> tuple[str, int]:
    """Return the character at a position, unescaped, and the index of the next one."""
    if text[at] == "\\" and at + 1 < len(text):
        at += 1
    return text[at], at + 1

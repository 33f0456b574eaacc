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
"""The most patterns that the braces of one may stand for: `{a,b}{c,d}` is four."""

NameFilter = Callable[[str, list[str]], list[str]]
"""A function of a folder's path (`a/b/`, empty for the first) and names in it, which returns those it takes, in the same order."""

_MAX_BRACES = 32
_POSIX = {name.decode(): members.decode()[1:-1] for name, members in ignore.CLASSES.items()}
_ANY = "**"


class Selection(NamedTuple):
    """Which files of a tree are taken, and where they may lie."""

    takes: NameFilter | None
    """Picks the names of files; None where all are taken."""
    enters: NameFilter | None
    """Picks the names of folders in which something may be taken; None where it may be in all."""
    recursive: bool
    """Whether files in folders below may be taken at all."""


EVERYTHING = Selection(None, None, recursive=True)
"""All files at any depth."""


def compiled(pattern: str, *, recursive: bool) -> Selection:
    """Return what a glob takes.

        >>> glob = compiled("src/**/*.{go,py}", recursive=False)
        >>> glob.takes("src/deep/", ["a.go", "b.txt"]), glob.enters("", ["src", "docs"])
        (['a.go'], ['src'])

    Args:
        pattern: As a model gave it, not empty.
        recursive: Whether a pattern without `/` is about the names at any depth; else about those of the first folder.

    Raises:
        ToolError: Its braces stand for too many patterns.
    """
    alternatives = [_parts(one) for one in _alternatives(pattern)]
    # Names alone, at any depth that the listing has: `*` and `*.py` are most of what is asked, and need no expression.
    if all(len(parts) == 1 for parts in alternatives):
        return Selection(_names([parts[0] for parts in alternatives]), None, recursive)
    if all(len(parts) == 2 and parts[0] == _ANY for parts in alternatives):
        return Selection(_names([parts[1] for parts in alternatives]), None, recursive=True)
    # One without a slash may stand beside others with one: `{*.md,src/*.py}`.
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
    """Return the patterns that braces stand for. Raises `ToolError` for too many."""
    # Each pair of braces is a level of recursion below.
    few = pattern.count("{") <= _MAX_BRACES
    found = list(islice(_expanded(pattern), MAX_ALTERNATIVES + 1)) if few else []
    if not few or len(found) > MAX_ALTERNATIVES:
        raise ToolError("bad_pattern", f"The braces stand for more than {MAX_ALTERNATIVES} patterns. Use fewer.")
    return found


def _expanded(pattern: str) -> Iterator[str]:
    """Yield what the first braces stand for, each with what the rest stands for. `{a}` and an open brace are themselves."""
    choice = _first_choice(pattern)
    if choice is None:
        yield pattern
        return
    start, end, options = choice
    inner = (one for option in options for one in _expanded(option))
    # The rest anew for each option, and never as a list: ten pairs of braces stand for a thousand patterns.
    for option in inner:
        for rest in _expanded(pattern[end:]):
            yield pattern[:start] + option + rest


def _first_choice(pattern: str) -> tuple[int, int, list[str]] | None:
    """Return where the first braces with a comma begin and end, and what stands between their commas."""
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
            # The outermost of those that close: braces within it are its options' own.
            if commas and (found is None or start < found[0]):
                edges = [start, *commas, at]
                options = [pattern[left + 1 : right] for left, right in pairwise(edges)]
                found = (start, at + 1, options)
                if not opened:
                    return found
        at += 1
    return found


def _parts(pattern: str) -> list[str]:
    """Return a pattern without braces by folders; a leading `./` or `/` is the folder that the listing begins in."""
    while pattern.startswith("./"):
        pattern = pattern[2:].lstrip("/")
    anchored = pattern.startswith("/")
    pattern = pattern.lstrip("/")
    # A folder's name with a slash behind it is all that is in it, as in an ignore file.
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
    """Return the function that picks names by patterns without a slash; None where one of them takes all."""
    if any(pattern and not pattern.strip("*") for pattern in patterns):
        return None
    tails = [pattern.lstrip("*") for pattern in patterns]
    if all(tail != pattern and _is_plain(tail) for tail, pattern in zip(tails, patterns, strict=True)):
        ends = tuple(tails)
        return lambda _, names: [name for name in names if name.endswith(ends)]
    match = re.compile("|".join(_expression([pattern]) for pattern in patterns)).match
    return lambda _, names: [name for name in names if match(name)]


def _is_plain(text: str) -> bool:
    """Return whether a text stands for itself alone."""
    return not any(character in text for character in "*?[\\")


def _expression(parts: list[str]) -> str:
    """Return the expression that whole paths match."""
    return ignore.joined(_pieces("/".join(part for part in parts if part)))


def _matcher(part: str) -> Callable[[str], object] | None:
    """Return what asks the name of one folder; None for any number of folders."""
    # An empty part is no folder's name: what stands behind it lies in the first folder alone.
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
    """Return where a bracket expression ends that begins before `at`, behind its `]`; 0 for one that does not."""
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
    """Return what stands between brackets as a class of characters; no class takes a slash."""
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
    """Return the character at a place, which a backslash may stand before, and where the next one is."""
    if text[at] == "\\" and at + 1 < len(text):
        at += 1
    return text[at], at + 1

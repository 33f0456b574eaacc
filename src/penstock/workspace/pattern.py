"""What does a glob or a regular expression match? Names and lines, in linear time.

Patterns come from models, and none may hang us. Regular expressions run on RE2 or, where google-re2 is not installed, on `re` in a
child process that is killed at the deadline (`re_child`). What RE2 does not support is refused by name, on either engine. Law: a
match lies within one line. Leaves to others: what a glob means (`globs`), and where text comes from.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Protocol

from penstock.errors import ToolError
from penstock.text import escape
from penstock.workspace import globs
from penstock.workspace.line_ends import first

if TYPE_CHECKING:
    from penstock.workspace.deadline import Deadline
    from penstock.workspace.globs import Selection

MAX_PATTERN_BYTES = 1024
"""The longest pattern that is accepted, in bytes of UTF-8: longer ones are a mistake or an attack."""


def selected(
    pattern: str, *, recursive: bool = True, use_regex: bool = False, deadline: Deadline | None = None
) -> Selection:
    """Return which files of a tree match.

        >>> selected("*.py").takes("src/", ["a.py", "b.txt"])
        ['a.py']

    Args:
        pattern: A glob, or a regular expression that is searched anywhere in the path.
        recursive: Whether subfolders are searched, unless the pattern itself decides.
        use_regex: Whether it is a regular expression.
        deadline: Until when an expression may run if RE2 is missing.

    Raises:
        ToolError: The pattern is empty, too long, or cannot be parsed.
    """
    _bounded(pattern)
    if not pattern:
        raise ToolError("bad_pattern", 'The pattern is empty. Use "*" for every file.')
    if use_regex:
        matching = _expression(pattern, deadline=deadline).matching

        def takes(prefix: str, names: list[str]) -> list[str]:
            return list(compress(names, matching([os.fsencode(prefix + name) for name in names])))

        return globs.Selection(takes, None, recursive)
    return globs.compiled(pattern, recursive=recursive)


def _bounded(pattern: str) -> None:
    """Raise `ToolError` if a pattern is too long."""
    length = len(pattern.encode("utf-8", "surrogatepass"))
    if length > MAX_PATTERN_BYTES:
        raise ToolError("bad_pattern", f"The pattern has {length} bytes. At most {MAX_PATTERN_BYTES} are accepted.")


def literally(pattern: str) -> str:
    r"""Return the expression that finds a text literally.

    >>> print(literally("f(x)"))
    f\(x\)
    """
    return _SPECIAL.sub(r"\\\g<0>", pattern)


def _half_a_pair() -> ToolError:
    """Return the refusal of a pattern that is not Unicode text."""
    return ToolError("bad_pattern", "The pattern holds half of a UTF-16 pair. Write it as text.")


# What RE2 says of a pattern, and the name of the unsupported feature: a model knows "lookaround", not `invalid perl operator: (?=`.
_LACKING = (
    (r"\(\?(?:=|!|<=|<!)", "lookaround"),
    (r"\\[1-9]|\(\?P$|\\k", "a backreference"),
    (r"invalid repetition size", "a repetition above 1000"),
    (r"\(\?>", "an atomic group"),
    (r"bad repetition operator: .\+", "a possessive quantifier"),
    (r"\(\?\(", "a conditional"),
)


class Expression(Protocol):
    """A regular expression on one of the two engines."""

    def find(self, data: bytes, start: int, end: int) -> tuple[int, int] | None:
        """Return where the first match between two positions begins and ends."""

    def matching(self, texts: list[bytes]) -> list[bool]:
        """Return which of several texts without NUL have a match."""


class _Linear:
    """An expression on RE2."""

    __slots__ = ("_line_end", "_search")

    def __init__(self, search: Callable[..., re.Match[bytes] | None], in_lines: bool) -> None:
        self._search = search
        self._line_end = b"\r\n" if in_lines else b""

    def find(self, data: bytes, start: int, end: int) -> tuple[int, int] | None:
        """Return where the first match between two positions begins and ends; None if there is none."""
        return first(self._search, data, start, end, self._line_end)

    def matching(self, texts: list[bytes]) -> list[bool]:
        """Return which of several texts have a match."""
        search = self._search
        return [search(text) is not None for text in texts]


def has_linear_engine() -> bool:
    """Return whether google-re2 is installed; without it, patterns run on `re` in a child process."""
    try:
        import re2  # noqa: F401
    except ImportError:
        return False
    return True


def _expression(
    pattern: str,
    *,
    flags: str = "",
    never_newline: bool = False,
    in_lines: bool = False,
    deadline: Deadline | None = None,
) -> Expression:
    """Return the pattern over bytes, on the engine that this machine has. What RE2 does not support is refused by name on both.

    With `in_lines` no match includes the carriage return of a line end.
    """
    try:
        whole = (flags + pattern).encode()
    except UnicodeEncodeError:
        raise _half_a_pair() from None
    try:
        import re2
    except ImportError:
        return _without_re2(pattern, flags=flags, never_newline=never_newline, in_lines=in_lines, deadline=deadline)
    re2.purge()  # otherwise it keeps 128 patterns, each with the states of its searches: 3 MB, 8 at most
    options = re2.Options()
    options.log_errors = False
    options.never_nl = never_newline
    options.never_capture = True  # only the whole match is needed; 400 groups made each match 30 times as expensive
    try:
        return _Linear(re2.compile(whole, options).search, in_lines)
    except re2.error as error:
        raw = error.args[0] if error.args else b""
        raise _refused(raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw), flags, pattern) from None


def _without_re2(
    pattern: str, *, flags: str, never_newline: bool, in_lines: bool, deadline: Deadline | None
) -> Expression:
    """Return the pattern on `re` in a child, translated so that it means what it means to RE2. Raises `ToolError`."""
    from penstock.workspace import re2_syntax, re_child

    if not re_child.can_run():
        raise ToolError(
            "bad_pattern",
            "Regular expressions need google-re2, which is not installed here (penstock[re2]). "
            "A search for the literal text works: give literal=True.",
        )
    try:
        translated = re2_syntax.translate(flags + pattern, never_newline=never_newline)
        return re_child.Matcher(translated, deadline, in_lines=in_lines)
    except re2_syntax.UnreadablePattern as error:
        raise _refused(str(error), flags, pattern) from None
    except re2_syntax.NotHere as error:
        raise ToolError(
            "bad_pattern",
            f"The pattern uses what only google-re2 has, which is not installed here: {_quoted(str(error))}.",
        ) from None


def _quoted(reason: str) -> str:
    r"""Return what an engine says of a pattern as an error shows it: a pattern is full of backslashes, and `\1` stays `\1`."""
    return escape.shorten(escape.show_argument(reason))


def _refused(reason: str, flags: str, pattern: str) -> ToolError:
    """Return the refusal for RE2's error about a pattern, in words that a model can act on."""
    reason = reason.replace(flags + pattern, pattern)
    for sign, feature in _LACKING:
        if re.search(sign, reason):
            return ToolError(
                "bad_pattern",
                f"The pattern uses {feature}, which the linear-time engine does not have "
                f"({_quoted(reason)}). RE2 syntax is accepted: https://github.com/google/re2/wiki/Syntax",
            )
    return ToolError(
        "bad_pattern",
        f"Not a regular expression: {_quoted(reason)}. RE2 syntax is accepted; to look for literal text, escape it.",
    )


# Special escapes of grep's basic expressions that are plain characters here.
_SIGNS_OF_GREP = {
    r"\\\|": r"\| is a plain bar: (a|b) has alternatives",
    r"\\[<>]": r"\< and \> are plain characters: \b is the edge of a word",
}


def signs_of_grep(pattern: str) -> str:
    r"""Return a hint for an expression that found nothing and may use grep's syntax; mostly empty.

    >>> signs_of_grep(r"one\|two")
    '\\| is a plain bar: (a|b) has alternatives'
    """
    escapes = re.findall(r"\\.", pattern)
    return ", ".join(said for sign, said in _SIGNS_OF_GREP.items() if any(re.fullmatch(sign, one) for one in escapes))


LineFinder = Callable[[bytes, int, int], tuple[int, int] | None]
"""A function of whole lines and two positions in them that returns where the first match between these begins and ends."""

# Parts of a pattern in which `$`, `\n` and `\A` are special, and those in which they are not.
_PART = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]"
    r"|\\[pP](?:\{[^}]*\}|.)|\\x(?:\{[^}]*\}|..)|\\[0-7]{1,3}|\\.|.",
    re.DOTALL,
)
_CARRIAGE_RETURN = re.compile(r"\r|\\r|\\x(?:0d|\{0*d\})|\\0?15", re.IGNORECASE)
_SPECIAL = re.compile(r"[!-/:-@\[-`{-~]")
_SHORTEST_NEEDLE = 3
_TRIES = 8
_WHOLE_TEXT = re.compile(r"\(\?[a-zA-Z]*-[a-zA-Z]*m")


def line_finder(
    pattern: str, *, literal: bool = False, ignore_case: bool = False, deadline: Deadline | None = None
) -> LineFinder:
    """Return the function that finds the first match in a block of lines; no match spans a line end, `^` and `$` are the ends of a
    line.

    A search calls it once for each matching line of a block of a megabyte, so what counts is how fast it skips lines without a
    match. Three methods make it quick, with the same results: literal text is found by `bytes.find`; an expression whose every
    match contains some text looks for that first; the rest is left to RE2, which is quick by itself if it knows how a match begins.

    Args:
        pattern: A regular expression in RE2's syntax, or text.
        literal: Whether it is text.
        ignore_case: Whether case does not matter.
        deadline: Until when it may run if RE2 is missing: the function then raises `ToolError` (deadline).

    Raises:
        ToolError: The pattern is empty, too long, spans lines, or cannot be parsed.
    """
    _bounded(pattern)
    if not pattern:
        raise ToolError("bad_pattern", "The pattern is empty. Give the text to look for.")
    if "\n" in pattern:
        raise ToolError("bad_pattern", "A match is within one line: leave the line feed out of the pattern.")
    if literal and not ignore_case:
        return _text_finder(pattern)
    parts = list(pattern) if literal else _PART.findall(pattern)
    if r"\n" in parts:
        raise ToolError("bad_pattern", r"A match is within one line: leave \n out of the pattern; use ^ and $.")
    flags = "(?i)" if ignore_case else ""
    if literal:
        parts = [literally(part) for part in parts]
    compiled = _expression("".join(parts), flags=flags, never_newline=True, deadline=deadline)
    # `\A`, `\z` and `(?-m)` refer to the whole text, which in a block of lines would be the block.
    if not literal and (r"\A" in parts or r"\z" in parts or _WHOLE_TEXT.search(pattern)):
        return _each_line(compiled.find)
    # `\r\n` is a line end too: `$` matches before it, and nothing else matches its carriage return, as in `rg --crlf`. A pattern
    # that names a carriage return looks for that one as well.
    lines = "".join(r"(?:\r?$)" if part == "$" else part for part in parts)
    in_lines = not any(map(_CARRIAGE_RETURN.search, parts))
    find = _expression(lines, flags=f"(?m){flags}", never_newline=True, in_lines=in_lines, deadline=deadline).find
    needle, leads = _required(parts, ignore_case=ignore_case)
    if len(needle) < _SHORTEST_NEEDLE:
        return find
    if not has_linear_engine():
        return find if ignore_case else _if_needle(_text_finder(needle), find)
    if leads:
        return find
    if not ignore_case:
        return _by_needle(_text_finder(needle), find)
    return _by_needle(_expression(literally(needle), flags="(?i)", never_newline=True).find, find)


def _text_finder(text: str) -> LineFinder:
    """Return the function that finds a text literally."""
    try:
        needle = text.encode()
    except UnicodeEncodeError:
        raise _half_a_pair() from None

    def find(data: bytes, start: int, end: int) -> tuple[int, int] | None:
        at = data.find(needle, start, end)
        return None if at < 0 else (at, at + len(needle))

    return find


def _by_needle(find_needle: LineFinder, find: LineFinder) -> LineFinder:
    """Look first for text that every match contains, if that is quicker: only lines with it are searched."""

    def find_lines(data: bytes, start: int, end: int) -> tuple[int, int] | None:
        # After some lines that contain the text and do not match, the engine takes over for the rest of the block: a call for each
        # such line would cost more than it saves.
        for _ in range(_TRIES):
            hit = find_needle(data, start, end)
            if hit is None:
                return None
            stop = data.find(b"\n", hit[1], end)
            if stop < 0:
                stop = end
            span = find(data, max(data.rfind(b"\n", 0, hit[0]) + 1, start), stop)
            if span is not None:
                return span
            start = stop + 1
            if start > end:
                return None
        return find(data, start, end)  # the needle is too common to help

    return find_lines


def _if_needle(find_needle: LineFinder, find: LineFinder) -> LineFinder:
    """Ask the child only about blocks that contain the text, and then for whole rows of matches at once."""
    return lambda data, start, end: find(data, start, end) if find_needle(data, start, end) is not None else None


def _required(parts: list[str], *, ignore_case: bool) -> tuple[str, bool]:
    """Return the longest text that every match contains ("" if none is certain), and whether the pattern begins with text.

    An engine that knows how a match begins is quick by itself. With `ignore_case` the text has no k and no s: they fold to letters
    outside ASCII (the Kelvin sign, the long s), which makes the engine slow.
    """
    if {"|", "{"} & set(parts) or ("(", "?") in pairwise(parts):
        return "", False  # a choice, a repetition, flags
    # Only what is outside groups and neither repeated nor optional is certain. `colou?r` contains `colo` and `r`; `ab+c` contains
    # `ab` and `c`, since the b occurs at least once.
    runs, depth = [""], 0
    for part, following in zip(parts, [*parts[1:], ""], strict=True):
        depth += (part == "(") - (part == ")")
        text = part[1:] if part[0] == "\\" and _SPECIAL.fullmatch(part[1:]) else part
        plain = len(text) == 1 and (text != part or part not in ".*+?()^$")
        if ignore_case and (text in "kKsS" or not text.isascii()):
            plain = False
        if depth or not plain or following in {"*", "?"}:
            runs.append("")
            continue
        runs[-1] += text
        if following == "+":
            runs.append("")
    return max(runs, key=len), len(runs[0]) > 1


def _each_line(find_in: LineFinder) -> LineFinder:
    """Return a function that gives each line to the engine as a separate text, for patterns anchored to the whole text."""

    def find(data: bytes, start: int, end: int) -> tuple[int, int] | None:
        while start <= end:
            stop = data.find(b"\n", start, end)
            stop = end if stop < 0 else stop
            line = data[start:stop].removesuffix(b"\r")
            span = find_in(line, 0, len(line))
            if span is not None:
                return start + span[0], start + span[1]
            start = stop + 1
        return None

    return find

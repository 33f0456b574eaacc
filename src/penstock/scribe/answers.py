"""Answers of a model, read: claims and questions out of any text at all.

An answer is a JSON object, but models fence it, talk around it, break off in the middle, or send something else: what is whole
in it is taken. Law: nothing is raised, whatever the text; every claim is small, of the promised types, and holds no character
that could act where it is shown. Keeps out: whether it is true (`verification`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from penstock.text import escape
from penstock.text.json_access import field, string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json

MAX_ANSWER_CHARS = 1 << 20
"""The longest answer that is read: ten times what the longest reply of today's models holds."""
MAX_CLAIMS = 1_000
"""The most claims of one answer; what comes after them is left out."""
MAX_CLAIM_CHARS = 2_000
"""The longest text of a claim; three times what a prompt asks for."""
MAX_LINES = 400
"""The most lines that one claim may cite: more prove nothing in particular."""
MAX_NAMES = 100
"""The most names that one claim may list."""
# Braces that are tried, in the talk around an object and in a list that is broken: decoding from each brace of a long text that is
# no JSON would take time with the square of its length.
_STARTS = 50
_LARGEST_LINE = 10**9


class Claim(NamedTuple):
    """Something that a model said, with the lines and the words of the source that are to prove it.

    `of` is the id of what it is about, `field` what of that it tells, `claim` the words. `lines` are 1-based and sorted,
    `evidence` is to be copied from the first of them, and `names` are the program's names that the words use. None of it is
    believed yet.
    """

    of: str
    field: str
    claim: str
    lines: tuple[int, ...]
    evidence: str
    names: tuple[str, ...] = ()


class ParsedAnswer(NamedTuple):
    """The claims that an answer holds; one that breaks off, or is broken within, is not `is_whole`."""

    claims: tuple[Claim, ...] = ()
    is_whole: bool = False


def read_answer(text: str) -> ParsedAnswer:
    """Return the claims in an answer, each once; none where there is nothing that can be read.

    An object that is whole is taken at its word. Only where there is none are single claims rescued, because a reply that hit its
    limit has lost the last of them and no other.
    """
    if len(text) > MAX_ANSWER_CHARS:
        return ParsedAnswer()
    found = _object(text)
    listed = list(_rescued(text)) if found is None else found
    read = map(claim_of, listed[:MAX_CLAIMS])
    return ParsedAnswer(tuple(dict.fromkeys(claim for claim in read if claim is not None)), found is not None)


# Not strict: evidence is often copied with its line ends as they are.
_DECODER = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) < 10 else -1, strict=False)


def _object(text: str) -> list[Json] | None:
    """Return what is listed in the first object that has a list of claims; None where no object has one."""
    for start in _braces(text):
        try:
            value, _ = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(listed := field(value, "claims"), list):
            return listed
    return None


def _braces(text: str) -> Iterator[int]:
    """Yield the places where an object may begin, the first of them only."""
    at = -1
    for _ in range(_STARTS):
        at = text.find("{", at + 1)
        if at < 0:
            return
        yield at


def _rescued(text: str) -> Iterator[Json]:
    """Yield the whole objects of a list of claims that breaks off, or has broken ones."""
    # After a whole object the search goes on behind it, so that objects within it are not taken for claims; after a broken one it
    # goes on behind its brace, since nobody knows where it ends.
    opened = re.search(r'"claims"\s*:\s*\[', text)
    at = opened.end() if opened else -1
    broken = 0
    while at >= 0 and broken < _STARTS and (at := text.find("{", at)) >= 0:
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at, broken = at + 1, broken + 1
        else:
            yield value


def claim_of(value: Json) -> Claim | None:
    """Return the claim that a value is; None for a value without words or lines, or with too many of anything.

    A claim is left out as a whole rather than mended: half a list of names could hide the one that is not in the program.
    """
    said = _words(field(value, "claim"))
    lines = _lines(field(value, "lines"))
    names = field(value, "names")
    names = [] if names is None else names
    if not said or len(said) > MAX_CLAIM_CHARS or not lines or not isinstance(names, list) or len(names) > MAX_NAMES:
        return None
    if not all(isinstance(name, str) and len(name) <= MAX_CLAIM_CHARS for name in names):
        return None
    evidence = string(field(value, "evidence"))[:MAX_CLAIM_CHARS]
    of, about = string(field(value, "of")) or PROGRAM, string(field(value, "field"))
    return Claim(_words(of), _words(about).lower(), said, lines, evidence, tuple(map(_words, names)))


PROGRAM = "program"
"""The id of the program as a whole, which a claim is about that names nothing else."""


def _words(value: Json) -> str:
    """Return a text that can only be read, on one line."""
    return " ".join(escape.show(string(value))[0].split())


def _lines(value: Json) -> tuple[int, ...]:
    """Return line numbers, sorted, of a list of them, a single one, or a range as text; nothing where any is something else.

    `True` is an `int` in Python and a float may equal one, so that the type itself is asked for.
    """
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d{1,9})\s*(?:[-–]\s*(\d{1,9}))?\s*", value, re.ASCII)
        if found is None:
            return ()
        first, last = int(found[1]), int(found[2] or found[1])
        return tuple(range(first, last + 1)) if 0 <= last - first < MAX_LINES else ()
    listed = value if isinstance(value, list) else [value]
    if len(listed) > MAX_LINES or not all(type(line) is int and abs(line) < _LARGEST_LINE for line in listed):
        return ()
    return tuple(sorted(set(listed)))

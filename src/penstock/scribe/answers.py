"""What does a model's answer claim? Claims and questions are read out of any text at all.

An answer is a JSON object, but models fence it, talk around it, break off in the middle, or send something else; whatever is
complete in it is taken. Law: nothing is raised, whatever the text; every claim is small, has the promised types, and contains no
character that could act where it is shown. Leaves to others: whether a claim is true (`verification`).
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
"""The longest answer that is read: ten times the longest reply of today's models."""
MAX_CLAIMS = 1_000
"""The most claims of one answer; the rest is left out."""
MAX_CLAIM_CHARS = 2_000
"""The longest text of a claim: three times what a prompt asks for."""
MAX_LINES = 400
"""The most lines that one claim may cite: more prove nothing in particular."""
MAX_NAMES = 100
"""The most names that one claim may list."""
# How many braces are tried, both in the talk around an object and in a broken list: decoding from each brace of a long text that is
# not JSON would take quadratic time.
_STARTS = 50
_LARGEST_LINE = 10**9


class Claim(NamedTuple):
    """Something that a model said, with the lines and words of the source that should prove it.

    `of` is the id of the item it is about, `field` the field of that item, `claim` the words. `lines` are 1-based and sorted,
    `evidence` should be copied from the first of them, and `names` are the program's names that the words use. None of it is
    trusted yet.
    """

    of: str
    field: str
    claim: str
    lines: tuple[int, ...]
    evidence: str
    names: tuple[str, ...] = ()


class ParsedAnswer(NamedTuple):
    """The claims in an answer; `is_whole` is false if it breaks off or is broken inside."""

    claims: tuple[Claim, ...] = ()
    is_whole: bool = False


def read_answer(text: str) -> ParsedAnswer:
    """Return the claims in an answer, each once; none if nothing can be read.

    A complete object is taken as it is. Only without one are single claims rescued: a reply that hit its limit has lost only the
    last of them.
    """
    if len(text) > MAX_ANSWER_CHARS:
        return ParsedAnswer()
    found = _object(text)
    listed = list(_rescued(text)) if found is None else found
    read = map(claim_of, listed[:MAX_CLAIMS])
    return ParsedAnswer(tuple(dict.fromkeys(claim for claim in read if claim is not None)), found is not None)


# Not strict: evidence is often copied with raw line ends.
_DECODER = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) < 10 else -1, strict=False)


def _object(text: str) -> list[Json] | None:
    """Return the list in the first object that has a list of claims; None if there is no such object."""
    for start in _braces(text):
        try:
            value, _ = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(listed := field(value, "claims"), list):
            return listed
    return None


def _braces(text: str) -> Iterator[int]:
    """Yield the first positions where an object may begin."""
    at = -1
    for _ in range(_STARTS):
        at = text.find("{", at + 1)
        if at < 0:
            return
        yield at


def _rescued(text: str) -> Iterator[Json]:
    """Yield the complete objects of a list of claims that breaks off or contains broken ones."""
    # After a complete object the search continues behind it, so that objects inside it are not taken for claims; after a broken one
    # it continues behind its brace, because where it ends is unknown.
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
    """Return the claim that a value holds; None if it has no words or lines, or too many of anything.

    A faulty claim is dropped rather than mended: half a list of names could hide the one that is not in the program.
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
"""The id of the program as a whole: the subject of a claim that names no other."""


def _words(value: Json) -> str:
    """Return a text on one line, without characters that act."""
    return " ".join(escape.show(string(value))[0].split())


def _lines(value: Json) -> tuple[int, ...]:
    """Return sorted line numbers from a list, a single number, or a range as text; none if anything else is among them.

    `True` is an `int` in Python, and a float may equal one, so the exact type is checked.
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

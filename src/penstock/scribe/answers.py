"""What did the model say? Claims and questions out of any text at all.

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

MAX_ANSWER_CHARS = 1 << 20  # ten times what the longest reply of today's models holds
MAX_CLAIMS = 1_000
MAX_CLAIM_CHARS = 2_000
MAX_LINES = 400  # of one claim
MAX_NAMES = 100
_STARTS = 50  # braces that are tried, in the talk around an object and in a list that is broken
_LARGEST_LINE = 10**9


class Claim(NamedTuple):
    """Something said: about what, in which field, and the lines and the words of the source that are to prove it."""

    of: str
    field: str
    claim: str
    lines: tuple[int, ...]
    evidence: str
    names: tuple[str, ...] = ()


class ParsedAnswer(NamedTuple):
    """What an answer holds; one that breaks off, or is broken within, is not `is_whole`."""

    claims: tuple[Claim, ...] = ()
    is_whole: bool = False


def read_answer(text: str) -> ParsedAnswer:
    """The claims in an answer; none where there is nothing that can be read."""
    if len(text) > MAX_ANSWER_CHARS:
        return ParsedAnswer()
    found = _object(text)
    listed = list(_rescued(text)) if found is None else found
    read = map(claim_of, listed[:MAX_CLAIMS])
    return ParsedAnswer(tuple(dict.fromkeys(claim for claim in read if claim is not None)), found is not None)


# Not strict: evidence is often copied with its line ends as they are.
_DECODER = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) < 10 else -1, strict=False)


def _object(text: str) -> list[Json] | None:
    """What is listed in the first object that has a list of claims."""
    for start in _braces(text):
        try:
            value, _ = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(listed := field(value, "claims"), list):
            return listed
    return None


def _braces(text: str) -> Iterator[int]:
    at = -1
    for _ in range(_STARTS):
        at = text.find("{", at + 1)
        if at < 0:
            return
        yield at


def _rescued(text: str) -> Iterator[Json]:
    """The whole objects of a list of claims that breaks off, or has broken ones."""
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
    """The claim that a value is, None for what is none."""
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
"""What a claim is about that is about no single item."""


def _words(value: Json) -> str:
    """A text that can only be read, on one line."""
    return " ".join(escape.show(string(value))[0].split())


def _lines(value: Json) -> tuple[int, ...]:
    """Line numbers, sorted: a list of them, one, or a range as text; nothing where any is something else."""
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

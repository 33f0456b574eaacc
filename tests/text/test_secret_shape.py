"""How far does a shape read? What a second look at a text may leave out depends on it."""

from __future__ import annotations

import copy
import importlib
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.text.secret_examples import NAMED, OWN, described, written
from tests.text.test_redaction import AFTER, SECRETS

from penstock.text import secret_shape
from penstock.text.redaction import _places, _tried_at
from penstock.text.secret_shape import NEAR_CHARS, REACH_CHARS, Shape, Spans, later
from penstock.text.secret_shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES = sorted(Path(secret_shape.__file__).parent.glob("secret_*.py"))
FURTHER = ("\n", "x" * 40, '"' * 40)
"""What may be written beyond the reach of a shape: nothing of a word, more of it, or ends of strings."""


def examples() -> Iterator[str]:
    """Yield a text with a secret of each kind."""
    dice = random.Random(3)
    # Those with many parts, as long as they may be.
    yield "passwords:\n" + f"{' ' * 60}- {written('w128', dice)}\n" * 2
    yield f'api_key = "{written("w16", dice)}" "{written("w500", dice)}" '
    for name, (before, secret) in SECRETS.items():
        yield before + secret + AFTER.get(name, before[-1:] if before.endswith(('"', "'")) else " ")
    for _, description in described(OWN):
        yield f"see {written(description, dice)} "
    for _, description in described(NAMED):
        name, _, shape = description.partition(" ")
        yield f'{name}_KEY = "{written(shape, dice)}"'


def found(text: str) -> list[tuple[int, Shape]]:
    """Return the shapes that find something in a text, each once, with their places."""
    tried = [one for at in _places(text, None) for one in _tried_at(text, at)]
    return list({(at, id(shape)): (at, shape) for at, shape in tried if shape.spans(text, at, 0)}.values())


def stretched(text: str, at: int, more: int) -> Iterator[tuple[str, int]]:
    """Yield a text with a part of it repeated, each with the new place of `at`.

    The parts are the first, middle and last character of each word, each other character, and each word with what is between it
    and the next.
    """
    words = [word.span() for word in re.finditer(r"\w+|\W", text)]
    parts = {(place, place + 1) for begin, end in words for place in (begin, (begin + end) // 2, end - 1)}
    parts.update(word.span() for word in re.finditer(r"\w+\W+", text))
    for begin, end in sorted(parts):
        repeated = text[begin:end] * (more // (end - begin) + 1)
        if not begin <= at < end:
            yield text[:begin] + repeated + text[begin:], at + (len(repeated) if begin < at else 0)


def reads_further(shape: Shape, text: str, at: int) -> bool:
    """Return whether what a shape finds, or that it finds nothing, depends on more than what is within its reach.

    A secret that is longer than this is its own evidence: the first look at a text removes all of it.
    """
    first, last = max(0, at - shape.reach_chars), at + shape.reach_chars
    spans = shape.spans(text, at, 0)
    if any(not first <= start <= last for start, _ in spans):
        return True
    if any(end >= last for _, end in spans):
        return False
    for further in FURTHER:
        before, after = further if first else "", further if last < len(text) else ""
        moved = first - len(before)
        again = shape.spans(before + text[first:last] + after, at - moved, 0)
        if tuple((start + moved, end + moved) for start, end in again) != spans:
            return True
    return False


@pytest.mark.proves("S-17")
def test_law_what_a_shape_finds_is_decided_within_its_reach() -> None:
    """Each example of a secret is stretched at each of its words beyond the reach, and what is further away is changed."""
    tried = set()
    for example in examples():
        for at, shape in found(example):
            tried.add(id(shape))
            # A private key reads to the next edge of one, however far that is.
            for text, place in (
                stretched(example, at, shape.reach_chars + 1) if shape.reach_chars <= REACH_CHARS else ()
            ):
                if (place, shape) in _tried_at(text, place) and reads_further(shape, text, place):
                    pytest.fail(f"{shape.kind} {shape.leads}: {example} {place}")
    assert len(tried) > 0.9 * len(SHAPES)


@pytest.mark.parametrize("pattern", ["key [^=]*=(x)", "(?s:k(e)y(?=.*=))", "(?s:k(e)y(?!.*=))", "(?s:.*=a*key (a))"])
def test_a_shape_that_reads_further_is_noticed(pattern: str) -> None:
    """Its secret begins further away, or what is further away, behind its place or before it, decides whether there is one."""

    def spans(text: str, at: int, _floor: int) -> Spans:
        match = re.compile(pattern).match(text, 0 if pattern.startswith("(?s:.*") else at)
        return (match.span(1),) if match else ()

    run = "a" * NEAR_CHARS
    assert reads_further(Shape("key", ("key",), (), spans), f"={run}key {run}=x", len(run) + 1)
    assert not reads_further(
        Shape("key", ("key",), (), spans, reach_chars=REACH_CHARS), f"={run}key {run}=x", len(run) + 1
    )


def test_no_pattern_is_compiled_before_a_text_needs_it() -> None:
    """To compile all takes longer than to search most texts, and every process in which a result is cut would pay for it."""
    rooms = [importlib.import_module(f"penstock.text.{path.stem}") for path in MODULES]
    held = [
        (room.__name__, name) for room in rooms for name, value in vars(room).items() if isinstance(value, re.Pattern)
    ]
    assert (len(rooms) > 5, held) == (True, [])
    pattern = later(r"(a)|b", re.IGNORECASE)
    assert [found.group() for found in pattern.finditer("xAb")] == ["A", "b"]
    assert (pattern.pattern, pattern.groups, pattern.fullmatch("ab")) == (r"(a)|b", 1, None)
    assert copy.copy(pattern).fullmatch("B")

"""Of several numbers in one role, which one counts? Equal ones are one; different ones contradict each other and none remains.

Laws: only what a text states is returned, never the larger or the first of two; the unit of the limit is the unit of the refusal.
Leaves to others: how a number got its role (`numbers`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from penstock.overflow.bound import EXCESS, INPUT, LIMIT, OUTPUT, PART, TOTAL, Bound, checked


class Found(NamedTuple):
    """A number that has a role."""

    value: int
    weight: int
    """How certain the words around a number are: of two limits "context length of N" wins over "limit N", because input
    and reply may have caps too."""
    unit: str | None
    before: str
    """The words before it, which may include "at least" and "about"."""


def settle(found: dict[str, list[Found]], text: str) -> Bound:
    """Return one value for each role, or none, of all the numbers that were found; contradictions are left out.

    The unit of the limit is the unit of the refusal: counts in another one are ignored (a request's tokens next to a limit in
    characters), except the reply, which is in tokens everywhere.
    """
    limit, limit_unit = _limit_of(found.get(LIMIT, []))
    wanted = limit_unit or ("chars" if "maxlength" in text and "token" not in text else None)
    kept = {
        role: [item for item in items if item.unit in {None, wanted} or wanted is None] for role, items in found.items()
    }
    given = _single([item.value for item in kept.get(INPUT, [])])
    parts = [item.value for item in kept.get(PART, [])]
    output = _single([item.value for item in found.get(OUTPUT, []) if item.unit != "chars"], keep_zero=True)
    total = _single([item.value for item in kept.get(TOTAL, [])])
    muddled = output is None and total is None and OUTPUT in found  # the reply is counted, but how much is unclear
    if parts:
        given = _sum_of_parts(parts, [item.value for item in kept.get(INPUT, [])], output, total)
    # Tokens here and characters there, and a limit without a unit: of such a text nothing is certain.
    units = {item.unit for role in (LIMIT, INPUT, TOTAL) for item in kept.get(role, [])} - {None}
    if len(units) > 1:
        return Bound()
    chars = units == {"chars"} or wanted == "chars"
    # "N tokens over the limit" (weight 0) may mean the request itself if N is larger than the limit.
    stated = _single(
        [item.value for item in kept.get(EXCESS, []) if item.weight or limit is None or item.value <= limit]
    )
    if limit is not None and given is None and total is None and _is_a_code(limit, text):
        limit = None
    numbers = Bound(
        limit,
        given,
        output,
        total,
        stated,
        _exactness(kept, given, text) if given or total or stated else "exact",
        "chars" if chars else "tokens",
    )
    settled = checked(numbers)
    # The excess that `checked` computes would ignore the reply, whose size is unclear: only a stated one stays.
    return settled._replace(excess=stated) if muddled else settled


def _exactness(kept: dict[str, list[Found]], given: int | None, text: str) -> str:
    """Return how exact the size of the request is, by the words before its numbers."""
    words = [item.before for role in (INPUT, TOTAL, PART, EXCESS) for item in kept.get(role, [])]
    about, floor, capped = _modifiers()
    if any(floor.search(before) for before in words) or (given is not None and capped.search(text) is not None):
        return "lower_bound"
    return "approx" if any(about.search(before) for before in words) else "exact"


def _sum_of_parts(parts: list[int], inputs: list[int], output: int | None, total: int | None) -> int | None:
    """Return the input of `P in the messages, Q in the functions`; a sentence that occurs twice is counted once.

    A body and the exception around it often say the same sentence in one text: P, Q, P, Q. So the parts are tried as a repeating
    period, the shortest first, and a period counts if its sum with the reply equals the stated total. Two equal parts (100 and 100)
    are therefore two if the total says so. Without a total only the whole row is believed.
    """
    for period in range(1, len(parts) + 1):
        if parts == parts[:period] * (len(parts) // period):
            once = sum(parts[:period])
            if any(inputs):
                whole = _single(inputs)
                if total is None or whole is None or whole + (output or 0) == total:
                    return whole
                once += whole
            if once + (output or 0) == total or (total is None and period == len(parts)):
                return once
    return None


def _is_a_code(limit: int, text: str) -> bool:
    """Whether a limit is really the error's code: `context window exceeds limit (2013)`, as MiniMax writes it.

    Such a number is small, alone in parentheses, and neither round nor near a multiple of 16, as every window is.
    """
    return len(str(limit)) < 5 and limit % 16 not in {0, 1, 15} and limit % 1000 != 0 and f"({limit})" in text


def _limit_of(candidates: list[Found]) -> tuple[int | None, str | None]:
    """Return the limit named by the weightiest words, with its unit; two different ones of equal weight are none.

    A limit in tokens takes precedence over one in characters.
    """
    tokens = [item for item in candidates if item.unit != "chars"]
    candidates = tokens or candidates
    if not candidates:
        return None, None
    top = max(item.weight for item in candidates)
    values = {item.value for item in candidates if item.weight == top}
    if len(values) != 1:
        return None, None
    value = values.pop()
    unit = next((item.unit for item in candidates if item.value == value and item.unit), None)
    return value, unit


def _single(values: list[int], *, keep_zero: bool = False) -> int | None:
    """Return the one value that all of these have; zeros among others do not count, and alone only if they mean something."""
    different = set(values)
    if not keep_zero or len(different) > 1:
        different.discard(0)
    return different.pop() if len(different) == 1 else None


@cache
def _modifiers() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of "about" and "at least" before a number, and of vLLM's sentence with a capped count."""
    return (
        re.compile(r"(?:\babout|approx\w*\.?|\baround|\broughly|\bestimated\b[^.\d]{0,60}|~|≈|大约|约)[\s(]*$"),
        re.compile(r"(?:at least|more than|no less than|>=|≥|至少)[\s(]*$"),
        # vLLM stops its tokenizer one token above the allowed input, and then reports that count (renderers/params.py)
        re.compile(r"you passed .{0,200}resulting in a maximum input length of"),
    )

"""Which number means what? Counts in a sentence are bound by the words next to them, never by position or size.

Providers put the same numbers in any order: "213462 tokens > 200000 maximum", "maximum context length is 4097 tokens. However, you
requested 4116 tokens (116 in the messages, 4000 in the completion)". Their size does not decide either: a requested reply that is
too long is smaller than the limit. So every number gets the role that its neighbouring words give it, in five steps:

1. Expressions (`A + B > C`, `[1, N]`) have their words somewhere before them. They are bound first, and cut out of the text.
2. Each other number is read with its unit. What is not a whole count of tokens or characters (128k, 5 MB, 0.5, gpt-4-32k) has no
   value, but still ends the words of its neighbours.
3. The words between two numbers belong to both: those before a number (`left`) and those after it (`right`) each propose a
   role, and `_role` decides between them.
4. Of several numbers in one role one remains or none (`settle`): equal ones are one, different ones contradict each other.
5. `checked` drops what could not have been refused: a request below its limit, parts that do not add up to their total.

Law: a number is right or absent. What the words leave open, what contradicts another number and what could not have been refused is
dropped. The cost is linear in the text, which `walk` limits to 8,192 characters. Leaves to others: whether the sentence is about an
overflow at all (`kinds`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from penstock.overflow import number_words as words
from penstock.overflow.bound import EXCESS, INPUT, LARGEST, LIMIT, OUTPUT, SMALLEST_LIMIT, TOTAL, Bound
from penstock.overflow.settling import Found, settle

if TYPE_CHECKING:
    from collections.abc import Callable


class _Number(NamedTuple):
    """A number as found in a text, from `start` to `end`, without its unit."""

    value: int | None
    """None if it is not written plainly, or counts something else."""
    start: int
    end: int
    unit: str | None
    """`tokens`, `chars`, or None if no unit follows it."""


# "exceeds N" proposes a limit unless something nearer says otherwise: a weight that is a question to `_role`, and never kept.
_COMPARED_ONLY = -1


class _Role(NamedTuple):
    """What the words propose for a number."""

    name: str
    weight: int = 1


_MINUTE = re.compile(r"limit:? ?(\d[\d,]{0,14})\b.{0,60}?requested:? ?(\d[\d,]{0,14})\b")
_OPEN = _Role("")  # the words leave it open, and no others are consulted


def minute_in(text: str) -> tuple[int, int] | None:
    """Return a minute's allowance and what one request wants of it ("Limit 30000, Requested 40000"); None if either is missing."""
    found = _MINUTE.search(text)
    return None if found is None else (int(found[1].replace(",", "")), int(found[2].replace(",", "")))


def bind(text: str) -> Bound:
    """Return the numbers of one flattened text, bound by the words next to them and checked against one another.

    >>> bind("prompt is too long: 213462 tokens > 200000 maximum")[:2]
    (200000, 213462)

    Args:
        text: as `walk.flatten` returns it.

    Returns:
        What the text states of limit, input, output, total and excess; nothing that it leaves open or contradicts.
    """
    found: dict[str, list[Found]] = {}

    def note(role: str, value: int, weight: int = 1, unit: str | None = None, before: str = "") -> None:
        found.setdefault(role, []).append(Found(value, weight, unit, before))

    rest = _expression_numbers(text, note)
    joint = words.joint().search(text) is not None
    numbers = [_read(match) for match in words.number().finditer(rest)]
    # Each number sees at most 160 characters back to the previous number, and 60 ahead to the next one, including its first
    # digit: "9000 tokens, limit: 8" shows that "limit:" names the next.
    previous = 0
    for index, number in enumerate(numbers):
        before = rest[max(previous, number.start - 160) : number.start]
        following = numbers[index + 1].start if index + 1 < len(numbers) else len(rest)
        after = rest[number.end : min(following + 1, number.end + 60)]
        previous = number.end
        if number.value is None:
            continue
        if (
            number.value in words.STATUSES
            and number.unit is None
            and not any(pattern.search(after) for _, pattern in words.right())
        ):
            continue
        if _is_spent(before):
            before = "("
        if number.unit is None and words.left()["name"].search(before):
            continue
        role = _role(_last_sentence(before), after, joint=joint, compared=_is_compared(after))
        if role is not None:
            note(role.name, number.value, role.weight, number.unit or _unit_before(before), before)
    return settle(found, text)


def _expression_numbers(text: str, note: Callable[..., None]) -> str:
    """Note the numbers of `A + B > C` and `[1, N]`, whose words come before them; return the text without these expressions."""
    sum_over, difference, span, llama, truncated, share, named_sum = words.expressions()
    for match in difference.finditer(text):  # repeats numbers that the sentence has named
        text = text.replace(match[0], " ")
    for match in sum_over.finditer(text):
        first, second, limit = (_integer(part) for part in match.groups())
        before = text[: match.start()]
        # The words before name the summands in order ("input length and `max_tokens` exceed …"). Without both names the order is
        # a guess, and only the limit is taken.
        output = re.search(words.OUTPUT_NOUN, before)
        given = re.search(r"input|prompt|messages?", before)
        if output and given:
            if output.start() < given.start():
                first, second = second, first
            note(INPUT, first)
            note(OUTPUT, second)
        note(LIMIT, limit, 2)
        text = text.replace(match[0], " ")
    for match in span.finditer(text):  # a range of the input is a limit; of `max_tokens` it is another refusal
        before = text[max(0, match.start() - 60) : match.start()]
        if re.search(r"input|prompt|messages?|context|length", before) and not re.search(words.OUTPUT_NAME, before):
            note(LIMIT, _integer(match[1]))
        text = text.replace(match[0], " ")
    for match in llama.finditer(text):  # llama-cpp-python counts only the prompt here
        note(INPUT, _integer(match[1]))
        note(LIMIT, _integer(match[2]), 2)
        text = text.replace(match[0], " ")
    for match in truncated.finditer(text):
        note(LIMIT, _integer(match[1]), 2)
        note(INPUT, _integer(match[2]))
        text = text.replace(match[0], " ")
    for match in share.finditer(text):  # of what is available; "part 3 of 5" has no limit's size and is left alone
        had, limit = _integer(match[1]), _integer(match[2])
        if had > limit >= SMALLEST_LIMIT:
            note(TOTAL if words.joint().search(text) else INPUT, had)
            note(LIMIT, limit)
            text = text.replace(match[0], " ")
    for match in named_sum.finditer(text):  # it does not say how much of the sum is new, so no part of it is the input
        note(LIMIT, _integer(match[1]), 2)
        text = text.replace(match[0], " ")
    return text


def _read(match: re.Match[str]) -> _Number:
    """Return a match of `number` with the unit that follows it; bytes, seconds, images and the like do not count here."""
    unit = match["unit"]
    if match["value"] is None:
        return _Number(None, match.start(), match.end("odd"), None)
    end = match.end("value")
    if unit in words.OTHER_UNITS:
        return _Number(None, match.start(), end, None)
    known = "tokens" if unit in words.TOKEN_UNITS else "chars" if unit in words.CHAR_UNITS else None
    if known is None and re.match(
        r"[\s`']*(?:input|prompt|output|completion) (?:characters|chars)", match.string[end : end + 30]
    ):
        known = "chars"
    return _Number(_integer(match["value"]), match.start(), end, known)


def _unit_before(before: str) -> str | None:
    """Return `chars` if the unit comes before the number: "the max input characters is N"."""
    return (
        "chars"
        if re.search(r"\bchar(?:acter)?s?\b(?: limit| count| length)?[\s:(=]*(?:is|of)?[\s:(=]*$", before)
        else None
    )


def _integer(written: str) -> int:
    """Return a plain number without its separators and without `.0`, as TensorRT-LLM writes ("prompt length (72417.0)")."""
    written = re.sub(r"\.0{1,2}$", "", written) if written.count(".") == 1 else written
    digits = re.sub(r"\D", "", written)
    return int(digits) if len(digits) <= len(str(LARGEST)) else LARGEST + 1


def _last_sentence(before: str) -> str:
    """Return the words since the last end of a sentence: an earlier sentence does not say what this number counts."""
    cut = max(before.rfind(". "), before.rfind("? "), before.rfind("! "), before.rfind("。"), before.rfind("; "))
    return before[cut + 1 :]  # all of it if there is none: -1


def _is_compared(after: str) -> bool:
    """Whether a sign or a verb after a number says that it exceeds what comes next: "213462 tokens > 200000"."""
    return words.left()["above"].match(after) is not None


def _is_spent(before: str) -> bool:
    """Whether the words between two numbers are the first one's: "the 200K context window (213462 tokens)" limits once."""
    limit = next(pattern for name, pattern in words.right() if name == LIMIT)
    match = limit.match(before)
    return match is not None and re.fullmatch(r" ?\(\W*", before[match.end() :]) is not None


def _role(before: str, after: str, *, joint: bool, compared: bool) -> _Role | None:
    """Return what a number counts, or None if its words leave that open.

    Words that touch the number and have only one meaning come first: an excess, a code, a sum, a limit after it. What remains are
    nouns on both sides that may also belong to the number's neighbours. Among them, a limit before the number wins ("the maximum is
    N tokens in the prompt" limits), unless a verb says that the request has that size, or a colon introduces it; then the words
    after it win, because they are nearer; then those before.

    Args:
        before: the words of its sentence before it, back to the previous number.
        after: the words after it, up to the next number.
        joint: whether the text limits input and reply together, so that what exceeds the limit is their total.
        compared: whether a sign says that it exceeds the next number.
    """
    left = words.left()
    if (assigned := left["assigned"].search(before)) is not None:
        before = assigned["name"]
    if (touched := _touching(before, after, joint=joint)) is not None:
        return None if touched is _OPEN else touched
    belongs_to_next = left["named"].match(after) is not None
    right = None if belongs_to_next else next((name for name, pattern in words.right() if pattern.search(after)), None)
    if right == EXCESS:
        return _Role(EXCESS, 0)  # "5000 tokens over the limit" may mean the request, if it is larger than the limit
    if right == LIMIT:
        return _Role(LIMIT, 2 if left["context"].search(after[:40]) else 1)
    verb = left["verb"].search(before) is not None and not left["model with"].search(before)
    beside = _left_role(before)
    # "213462 tokens > 200000 maximum": what exceeds the next number is not a limit, whatever noun comes before it.
    if compared and (beside is None or beside.name == LIMIT):
        beside = _Role(TOTAL if joint else INPUT)
    if beside is not None and beside.weight == _COMPARED_ONLY:
        beside = _Role(TOTAL if joint else INPUT) if verb else _Role(LIMIT)
    if beside is not None and beside.name == LIMIT and after.lstrip().startswith("+"):
        return None  # of a sum that was cut off
    if right is None and left["open"].search(before) and (beside is None or beside.name == LIMIT):
        return None
    if right is None and not joint and (beside is None or beside.name != LIMIT) and left["own"].search(before):
        return _Role(INPUT)
    if right is not None and left["told"].search(before):
        return _Role(right)
    # "a maximum of 4096 output tokens": a cap on the reply, which is not a number of this refusal.
    if beside is not None and beside.name == LIMIT and not (verb and right is not None):
        return None if right == OUTPUT else beside
    if right is not None:
        return _Role(right)
    # "tokens (prompt and prediction) cannot exceed 2048 - received 6354": if both are limited, a noun that names neither of
    # them counts both.
    if beside is not None and beside.name == INPUT and joint and not re.search(r"input|prompt|messages?", before):
        return _Role(TOTAL)
    return beside


def _touching(before: str, after: str, *, joint: bool) -> _Role | None:
    """Return the role according to words that touch a number and have only one meaning.

    `_OPEN` if they say that it has none; None if there are no such words.
    """
    left = words.left()
    size = _Role(TOTAL if joint else INPUT)
    if left["excess"].search(before) or (left["by"].search(before) and left["by behind"].match(after)):
        return _Role(EXCESS)
    if any(left[name].search(before) for name in ("ignore", "source line", "left over")) or left["left"].match(after):
        return _OPEN
    if left["wanted"].search(before):
        return _OPEN if re.search(words.OUTPUT_NOUN, before) else _Role(LIMIT)
    if left["with"].search(before) and words.above().search(before + after):
        return _OPEN if left["window with"].search(before) else size
    if left["answering"].search(before):
        return _Role(TOTAL)
    if left["ceiling"].search(before) and not joint:
        return _Role(LIMIT)
    if left["joint"].search(before):
        return _Role(TOTAL)
    return None


def _left_role(before: str) -> _Role | None:
    """Return the role according to the last clause before a number that says anything, and there to what follows a comparison.

    "the prompt exceeds the limit of N": after "exceeds" only "limit" is left, so that "prompt" does not claim N. Only the last
    three clauses are examined; one that has words but no noun ends the search, since what comes before it is about something
    else.
    """
    left = words.left()
    clauses = left["split"].split(before)
    for position, clause in enumerate(reversed(clauses[-3:])):
        ends = [match.end() for match in left["comparison"].finditer(clause)]
        tail = clause[ends[-1] :] if ends else clause
        nouns = [(match.lastgroup, match) for match in left["noun"].finditer(tail)]
        limits = [match for name, match in nouns if name == "limit"]
        if limits:
            if any(name == "output" and match.start() > limits[0].start() for name, match in nouns):
                return None  # a cap on the reply: not a number of this refusal
            if left["context"].search(tail):
                return _Role(LIMIT, 2)
            # A limit of the input in a later clause may be what the reply leaves of the context ("resulting in a maximum input
            # length of N"): it counts only if no other limit is stated.
            return _Role(LIMIT, 0 if re.search(r"input|prompt", tail[limits[0].start() :]) and len(clauses) > 1 else 1)
        if nouns:
            return _Role(str(nouns[-1][0]))
        if re.fullmatch(r"\W*(?:number of )?tokens?\W*", tail) and not ends:
            return _Role(INPUT)
        if ends:
            told = position > 0 and left["too large"].search(clause)
            return None if told else _Role(LIMIT, _COMPARED_ONLY)
        if clause.strip(" \t:('\"`") and re.search(r"\w{3}", clause) and "token" not in clause:
            return None
    return None

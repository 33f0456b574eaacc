"""How does it say it? Notes that it can read back, and answers that quote what they rest on.

Laws: a note read back is what was noted; an answer quotes lines as they were shown, each with its file and number. Keeps out: what
is true.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "penstock-local"
WHAT_IT_IS = f"({NAME} answers by rules; it is no language model.)"
NO_QUESTION = (
    f"I am {NAME}: rules, no language model. Ask something about the files here that has names or rare words in it, for example: "
    '"What is the default of limit in read_file?" or "Where is the message `no such table` raised?"'
)
NO_TOOLS = f"I am {NAME}: rules, no language model. I answer from files, and this request offers no `search` tool."

_LINE_CHARS = 160
_QUESTION_CHARS = 160
_HEAD = re.compile(rf"{NAME} \(rules, no language model\), call (\d+) of \d+ on: ")
_FIELD = re.compile(r"\s+(?=(?:tried|places|likely|found|now): )")
_LIKELY = re.compile(r"(.+) (\d+\.\d\d)")
_FOUND = re.compile(r"found: (.+?):(\d+): (.*)")


class Note(NamedTuple):
    """What a message of it says of the way so far."""

    calls: int
    tried: tuple[str, ...]
    places: tuple[str, ...]
    likely: tuple[tuple[str, float], ...]
    found: tuple[tuple[str, int, str], ...]


def note(question: str, made: Note, max_calls: int, now: str) -> str:
    """The words of a message that calls a tool."""
    lines = [f"{NAME} (rules, no language model), call {made.calls} of {max_calls} on: {_one_line(question)}"]
    if made.tried:
        lines.append(f"tried: {'; '.join(made.tried)}")
    if made.places:
        lines.append(f"places: {'; '.join(made.places)}")
    if made.likely:
        lines.append(f"likely: {'; '.join(f'{path} {score:.2f}' for path, score in made.likely)}")
    lines += [f"found: {path}:{line}: {_clipped(text)}" for path, line, text in made.found]
    return "\n".join([*lines, f"now: {now}"])


def read_notes(text: str, question: str) -> list[Note]:
    """The notes on a question in a text, also where a compaction put them on one line."""
    wanted = _one_line(question)
    parts = _HEAD.split(text)
    made = []
    for calls, body in zip(parts[1::2], parts[2::2], strict=True):
        head, _, below = body.removeprefix(wanted).partition("\n")
        if not body.startswith(wanted) or (head.strip() and not _FIELD.match(head)):
            continue
        lines = _FIELD.split(head) if head.strip() else below.split("\n")
        fields = {name: told for name, colon, told in (line.partition(": ") for line in lines) if colon}
        found = [match for line in lines if (match := _FOUND.fullmatch(line))]
        made.append(
            Note(
                calls=int(calls),
                tried=_items(fields.get("tried", "")),
                places=_items(fields.get("places", "")),
                likely=tuple(
                    (match[1], float(match[2]))
                    for item in _items(fields.get("likely", ""))
                    if (match := _LIKELY.fullmatch(item))
                ),
                found=tuple((match[1], int(match[2]), match[3]) for match in found),
            )
        )
    return made


def answer(
    best: tuple[str, int, str],
    passages: Sequence[Sequence[tuple[str, int, str]]],
    rule: str,
    said: str,
    beside: Sequence[str],
) -> str:
    """The best line, the passages in which it and others stand, and how sure that is by which rule."""
    path, line, text = best
    lines = [f"{text.strip()}   ({path}:{line})"]
    for passage in passages:
        lines += ["", *(f"{where}:{number}: {quoted.rstrip()}" for where, number, quoted in passage)]
    lines += ["", f"{said}: {rule}."]
    return "\n".join([*lines, *beside, WHAT_IT_IS])


def nothing(missing: Sequence[str], tried: Sequence[str], near: tuple[str, int, str] | None) -> str:
    """An answer without an answer: what was not found, what was tried, and what came nearest."""
    what = (
        f"Nothing in these files holds {' or '.join(map(repr, missing))}"
        if missing
        else "I found no evidence for an answer"
    )
    lines = [f"{what}.", "", f"Tried: {'; '.join(tried) or 'nothing; there was nothing in the question to look for'}."]
    if near is not None:
        lines.append(f"The nearest, which is no answer: {near[0]}:{near[1]}: {near[2].strip()}")
    return "\n".join([*lines, WHAT_IT_IS])


def _items(told: str) -> tuple[str, ...]:
    return tuple(item for item in told.split("; ") if item)


def _one_line(text: str) -> str:
    return _clipped(" ".join(text.split()), _QUESTION_CHARS)


def _clipped(text: str, most: int = _LINE_CHARS) -> str:
    return text.rstrip() if len(text.rstrip()) <= most else text[: most - 1] + "…"

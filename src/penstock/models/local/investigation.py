"""What is said to a request? A note and a call, or the answer with the lines that it rests on.

Law: every answer is quoted from what the request shows. Keeps out: the order of looks (`agenda`), and words (`wording`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.models.local import agenda, wording
from penstock.models.local.memory import recall
from penstock.models.local.passages import passages
from penstock.models.local.weighing import Scale

if TYPE_CHECKING:
    from penstock.models.local.agenda import Look
    from penstock.models.local.memory import Memory
    from penstock.models.local.passages import Passage
    from penstock.models.local.weighing import Hit
    from penstock.text.json_access import Json

_REPEATED = 4  # lines that every note has
_NOTED = 10  # lines beside them that no note has yet
_NOTED_PLACES = 5
_STRONG = 0.8  # of the question in or near a passage
_FAIR = 0.6


def reply(request: dict[str, Json], wire: str, room_tokens: int) -> tuple[str, Look | None]:
    """The words, and the call where one more look is worth it."""
    memory = recall(request, wire)
    if not memory.question.terms:
        return wording.NO_QUESTION, None
    if "search" not in memory.tools:
        return wording.NO_TOOLS, None
    scale = Scale(memory.question, memory.evidence)
    found = scale.hits()
    chosen = passages(scale, memory.evidence, found, lambda line: agenda.stands_for(memory.question, line))
    look = agenda.next_look(memory, found, chosen, room_tokens)
    if look is None:
        return _answer(memory, found, chosen), None
    noted = wording.Note(
        calls=memory.calls + 1,
        tried=(*memory.tried, look.label),
        places=tuple(agenda.places(memory)[:_NOTED_PLACES]),
        likely=tuple(agenda.likely(memory)) if memory.evidence.likely or memory.evidence.counts else (),
        found=tuple(_quoted(memory, *place) for place in _to_note(memory, scale, found, chosen)),
    )
    return wording.note(memory.question.text, noted, agenda.MAX_CALLS, look.label), look


def _to_note(memory: Memory, scale: Scale, found: list[Hit], chosen: list[Passage]) -> list[tuple[str, int]]:
    """The best lines, and those of the passages that nothing but a result says so far."""
    best = [(hit.path, hit.line) for hit in found]
    telling = [
        (one.path, line)
        for one in chosen
        for line in range(one.first, one.last + 1)
        if scale.terms_in(one.path, line, line)
    ]
    new = [place for place in dict.fromkeys([*telling, *best[: 2 * _NOTED]]) if place not in memory.noted]
    return list(dict.fromkeys([*best[:_REPEATED], *new[:_NOTED]]))


def _quoted(memory: Memory, path: str, line: int) -> tuple[str, int, str]:
    return path, line, memory.evidence.lines[path][line]


def _answer(memory: Memory, found: list[Hit], chosen: list[Passage]) -> str:
    missing = agenda.missing_names(memory.question, found)
    if not found or (missing and len(missing) == len(memory.question.names)):
        near = _quoted(memory, found[0].path, found[0].line) if found else None
        return wording.nothing(missing, list(memory.tried), near)
    best, how_much = chosen[0].hit, chosen[0].covered
    how = "Strong" if how_much >= _STRONG and best.worth > 0 else "Fair" if how_much >= _FAIR else "Weak"
    said = f"{how} match, {how_much:.0%} of what was asked"
    words = ", ".join(term.text for term in best.terms)
    beside = [f"Not found: {', '.join(missing)}."] if missing else []
    rule = f"{best.rule}, with {words} on it, near it or in its path"
    quoted = [[_quoted(memory, one.path, line) for line in range(one.first, one.last + 1)] for one in chosen]
    return wording.answer(_quoted(memory, best.path, best.line), quoted, rule, said, beside)

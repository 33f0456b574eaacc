"""What is said to a request? A note and a call, or the answer with the lines that it rests on.

Law: every answer is quoted from what the request shows. Keeps out: the order of looks (`agenda`), and words (`wording`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.models.local import agenda, weighing, wording
from penstock.models.local.memory import recall
from penstock.models.local.weighing import hits

if TYPE_CHECKING:
    from penstock.models.local.agenda import Look
    from penstock.models.local.memory import Memory
    from penstock.models.local.weighing import Hit
    from penstock.transcript.shapes import Json

_NOTED = 8  # lines that a note repeats
_NOTED_PLACES = 5
_CITED = 8
_ALSO = 5  # hits that are looked at for citations, the best among them
_AS_GOOD = 0.5  # as the best line, at least
_LEAST = 0.4  # of the question, below which a line is no answer
_LEAST_OF_THE_KIND = 0.25  # where it is the kind of line that was asked for
_BODY = 30  # lines above a `return` that may say what it returns
_GOES_ON = 3  # lines of a statement that goes on


def reply(request: dict[str, Json], wire: str, room_tokens: int) -> tuple[str, Look | None]:
    """The words, and the call where one more look is worth it."""
    memory = recall(request, wire)
    if not memory.question.terms:
        return wording.NO_QUESTION, None
    if "search" not in memory.tools:
        return wording.NO_TOOLS, None
    found = hits(memory.question, memory.evidence)
    look = agenda.next_look(memory, found, room_tokens)
    if look is None:
        return _answer(memory, found), None
    noted = wording.Note(
        calls=memory.calls + 1,
        tried=(*memory.tried, look.label),
        places=tuple(agenda.places(memory)[:_NOTED_PLACES]),
        found=tuple(_quoted(memory, hit.path, hit.line) for hit in found[:_NOTED]),
    )
    return wording.note(memory.question.text, noted, agenda.MOST_CALLS, look.label), look


def _quoted(memory: Memory, path: str, line: int) -> tuple[str, int, str]:
    return path, line, memory.evidence.lines[path][line]


def _answer(memory: Memory, found: list[Hit]) -> str:
    missing = agenda.missing_names(memory.question, found)
    best = found[0] if found else None
    if (
        best is None
        or best.covered < (_LEAST_OF_THE_KIND if best.worth >= agenda.OF_THE_KIND else _LEAST)
        or (missing and len(missing) == len(memory.question.names))
    ):
        return wording.nothing(missing, list(memory.tried), best and _quoted(memory, best.path, best.line))
    cited = _cited(memory, found)
    how = "Strong" if best.covered >= 0.8 and best.worth > 0 else "Fair" if best.covered >= 0.6 else "Weak"
    said = f"{how} match, {best.covered:.0%} of what was asked"
    words = ", ".join(term.text for term in best.terms)
    beside = [f"Not found: {', '.join(missing)}."] if missing else []
    rule = f"{best.rule}, with {words} on it, near it or in its path"
    return wording.answer(cited, cited.index(_quoted(memory, best.path, best.line)), rule, said, beside)


def _cited(memory: Memory, found: list[Hit]) -> list[tuple[str, int, str]]:
    """In this order: the line that answers, what a name in it stands for, what is as good, how it goes on, what encloses it."""
    best = found[0]
    lines = memory.evidence.lines[best.path]
    wanted: dict[tuple[str, int], None] = {(best.path, best.line): None}

    def take(path: str, line: int) -> None:
        if len(wanted) < _CITED and memory.evidence.lines.get(path, {}).get(line, "").strip():
            wanted[path, line] = None

    enclosing = _enclosing(lines, best.line)
    if enclosing is not None and weighing.is_prose(lines[best.line]):
        take(best.path, enclosing)
    stands = agenda.stands_for(memory.question, lines[best.line])
    for n, line in lines.items():
        if stands is not None and (made := weighing.assigned(line)) and made[0] == stands:
            take(best.path, n)
    for name in weighing.returned(lines[best.line]):
        given = [n for n in lines if n < best.line and (made := weighing.assigned(lines[n])) and made[0] == name]
        if given and best.line - max(given) < _BODY:
            take(best.path, max(given))
    for hit in found[1:_ALSO]:
        if hit.score >= _AS_GOOD * best.score:
            take(hit.path, hit.line)
    for below in range(best.line + 1, best.line + 1 + _goes_on(lines, best.line)):
        take(best.path, below)
    if enclosing is not None:
        take(best.path, enclosing)
    return [_quoted(memory, path, line) for path, line in wanted]


def _enclosing(lines: dict[int, str], line: int) -> int | None:
    """The definition that a line stands in, as far as all lines between were seen."""
    indent = weighing.indent_of(lines[line])
    for n in range(line - 1, 0, -1):
        if n not in lines:
            return None
        if lines[n].strip() and weighing.indent_of(lines[n]) < indent:
            indent = weighing.indent_of(lines[n])
            if weighing.defined_name(lines[n]) is not None:
                return n
    return None


def _goes_on(lines: dict[int, str], line: int) -> int:
    """How many lines below belong to it: the rest of a statement, or the first words on what it defines."""
    text = lines[line]
    if text.count("(") + text.count("[") + text.count("{") > text.count(")") + text.count("]") + text.count("}"):
        return _GOES_ON
    if text.rstrip().endswith((",", "\\", "(")):
        return _GOES_ON
    return _GOES_ON if weighing.defined_name(text) is not None else 0

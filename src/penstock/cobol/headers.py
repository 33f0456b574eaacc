"""Is a name with a period in area A a header although the preceding sentence lacks its period?

Host compilers assume the period, because no operand belongs in area A. People put operands there anyway, so a name is a
header only if the sentence can end before it, nothing declares the name, and either no operand can follow any more
(`END-IF`, `GO TO NEXT-ONE`) or something else shows that it is a paragraph: a PERFORM or GO TO that names it, or an EXIT
alone after it, which is valid only in a paragraph of its own. Other code may follow it on its line.

Both readers of a source ask here: the one that has all of it, and the outline of a stream, which knows one block. Leaves to
others: how each of them gets to the line. Law: an answer costs the line and its surroundings; the names of a source are
collected once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from .clauses import FIGURATIVE
from .lexing import PERIOD, WIDE
from .reserved import is_reserved
from .words import TERMINATORS, vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .program import Format

_NAME = rf"[^\W_][\w#@${WIDE}-]*+"
LONE = re.compile(
    rf" {{0,3}}(?P<head>{_NAME})(?> ++(?P<section>SECTION)(?> ++(?P<segment>\d++)|)|) *+(?P<period>\.)"
    r"(?= |\n|\Z)"
)
"""A line from column 8 on that begins with a name, perhaps with SECTION, and its period, in area A."""
_AREA_A = 4
"""How many columns area A has."""
FAR = 1_000
"""How many characters before a name are enough to tell how the sentence there ends."""
_ENDED = re.compile(
    rf"(?<![\w-])(?:{'|'.join(sorted(TERMINATORS))}|END-EXEC|GOBACK|STOP\s++RUN|CONTINUE|NEXT\s++SENTENCE|NO\s++ADVANCING"
    rf"|EXIT(?>\s++(?:PROGRAM|PARAGRAPH|SECTION|FUNCTION|METHOD|PERFORM(?>\s++CYCLE|))|)"
    rf"|(?P<named>GO\s++(?>TO\s++|)(?!TO\b){_NAME}"
    rf"|PERFORM\s++{_NAME}(?>\s++(?:OF|IN)\s++{_NAME}|)(?>\s++(?:THRU|THROUGH)\s++{_NAME}(?>\s++(?:OF|IN)\s++{_NAME}|)|))"
    r")\Z"
)
"""A complete statement: no following name is part of it."""
_MAY_END = FIGURATIVE | vocabulary(
    "TRUE FALSE ROUNDED TIMES RECORD PAGE LINE LINES LOCK DATE TIME DAY DAY-OF-WEEK YYYYMMDD YYYYDDD CONSOLE SYSIN SYSOUT "
    "RETURN-CODE SQLCODE SQLSTATE TALLY ELSE"
)
"""Reserved words after which a sentence may end; any other one still requires an operand."""
_LEAVES = re.compile(rf"\s*+EXIT\s*+{PERIOD}")
_DECLARED = re.compile(
    rf"(?:^|\.)[ \t]*+(?:0?[1-9]|[1-4]\d|66|77|78|88|[FSRC]D|SELECT(?>[ \t]++OPTIONAL|))[ \t]++({_NAME})", re.MULTILINE
)
# Letters come first, as in `lexing`, and then what may not be before them.
_MENTIONED = re.compile(
    r"(?:PERFORM(?<![\w-]PERFORM)|GO(?<![\w-]GO)(?>\s++TO|)|PROCEED(?<![\w-]PROCEED)\s++TO"
    rf"|PROCEDURE(?<![\w-]PROCEDURE)(?>\s++IS|))\s++({_NAME})(?!\s++TIMES)"
    rf"(?>(?>\s++(?:OF|IN)\s++{_NAME}|)\s++(?:THRU|THROUGH)\s++({_NAME})|)"
)


_HANDLED = re.compile(r"HANDLE(?<![\w-]HANDLE)\s++(?:CONDITION|AID|ABEND)(?>(?:\s++[\w-]++(?>\s*+\([^()]*+\)|))+)")
_LABEL = re.compile(rf"\(\s*+({_NAME})\s*+\)")


class Names(NamedTuple):
    """The names in a source: of its data, and of the paragraphs that it performs or goes to."""

    declared: frozenset[str]
    mentioned: frozenset[str]


def names(folded: str) -> Names:
    """Return the names in some code, which is in capitals."""
    mentioned = {name for pair in _MENTIONED.findall(folded) for name in pair}
    for handled in _HANDLED.finditer(folded):
        mentioned.update(_LABEL.findall(handled[0]))
    return Names(frozenset(_DECLARED.findall(folded)), frozenset(mentioned))


def areas(switches: Sequence[tuple[int, Format]], starts: Sequence[int]) -> tuple[int, ...]:
    """Return the offsets at which stretches with an area A begin and end, alternately; the first one begins a stretch.

    Args:
        switches: From which line on which format applies.
        starts: The offset at which each line begins.
    """
    bounds = [(starts[line - 1], form != "free") for line, form in switches if line <= len(starts)]
    changed = [at for (_, before), (at, after) in pairwise([(0, False), *bounds]) if before != after]
    return tuple(changed)


class Unended:
    """Finds the headers of a source that lack a period before them.

    Args:
        folded: Its code, in capitals.
        areas: The stretches that have an area A, as returned by `areas`.
    """

    def __init__(self, folded: str, areas: Sequence[int]) -> None:
        self._folded = folded
        self._areas = areas
        self._known: Names | None = None

    def header(self, begun: int, period: int) -> re.Match[str] | None:
        """Return the match of `LONE` for a header that ends at a period, if the sentence before it lacks its own."""
        folded = self._folded
        line = folded.rfind("\n", max(begun, period - FAR), period) + 1 if self._areas else 0
        lone = LONE.match(folded, line) if line else None
        if lone is None or bisect_right(self._areas, line) % 2 == 0:
            return None
        before = folded[max(begun, line - FAR) : line]
        return lone if is_header(lone, before, self._names) else None

    def is_in_area_b(self, at: int) -> bool:
        """Return whether a word begins where no header may: behind area A, in a format that has one."""
        return bisect_right(self._areas, at) % 2 == 1 and at - self._folded.rfind("\n", 0, at) > _AREA_A

    def is_operand(self, name: str, *, is_within: bool) -> bool:
        """Return whether a name in area B is data: declared as such, or at least, within a statement, no name of a paragraph."""
        declared, mentioned = self._names()
        return name in declared or (is_within and name not in mentioned)

    def _names(self) -> Names:
        """Return the names in the source."""
        if self._known is None:
            self._known = names(self._folded)
        return self._known


def is_header(lone: re.Match[str], before: str, known: Callable[[], Names]) -> bool:
    """Return whether a name alone in area A begins a section or paragraph that lacks a period before it.

    Args:
        lone: The match of `LONE`, in capitals, in a text that includes what follows.
        before: The code before it, in capitals, as far as its sentence or `FAR` reaches.
        known: Returns the names in the source; called only for what looks like a header.
    """
    name = lone["head"]
    if is_reserved(name) or not (words := before.split()) or not {"NOTE", "USE"}.isdisjoint(words):
        return False
    ended = _ENDED.search(" ".join(words[-12:]))
    is_ended = ended is not None and not (ended["named"] and is_reserved(words[-1]))
    if not is_ended and (words[-1][-1] in ".,;=<>+-*/&(:" or (is_reserved(words[-1]) and words[-1] not in _MAY_END)):
        return False
    declared, mentioned = known()
    if name in declared:
        return False
    is_left = _LEAVES.match(lone.string, lone.end("period")) is not None
    return is_ended or is_left or lone["section"] is not None or name in mentioned

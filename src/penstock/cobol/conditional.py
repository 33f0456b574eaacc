"""Which lines does conditional compilation leave out: `>>IF`, `>>EVALUATE`, `$IF`, `?IF`, and the directives that define constants?

Only what the source itself decides is decided. A constant that it does not define may come from a compiler option; then the code of
every branch counts, and a warning says so. Leaves to others: how lines are read (`reading`) and the value of an expression of
constants (`constants`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from .constants import UNKNOWN, worth
from .program import Warned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SAID = re.compile(
    r"(?i)[^>$]{0,8}?(?:>>|\$)[ ]*+"
    r"(?P<verb>IF|ELIF|ELSE-IF|ELSE|END-IF|END|EVALUATE|WHEN|END-EVALUATE|DEFINE|SET[ ]++CONSTANT)(?![\w-])(?P<rest>[^\n]*+)"
)
_TOGGLED = re.compile(r"(?i)\s*+\?\s*+(?P<verb>IF|IFNOT|ENDIF|SETTOG|RESETTOG)(?![\w-])(?P<toggles>[\d\s,]*+)")
"""A directive of NonStop's compiler, which numbers its toggles."""
_SWITCHED = re.compile(
    r"(?i)[^$]{0,8}?\$(?P<verb>SET|IF)(?P<said>(?>(?:[ ,]*+X\d[ ]*+=[ ]*+(?:ON|OFF)(?![\w-]))*))[ ]*+(?=\Z|(?<=[^\n]{72}))"
)
"""A directive of HP's compiler, which has switches from X0 to X9. An $IF holds up to the next one, which may have no switch."""
_SWITCH = re.compile(r"(?i)(X\d)[ ]*+=[ ]*+(ON|OFF)")
_ALL_OFF = [(f"X{number}", False) for number in range(10)]
_WORDS = re.compile(r"'[^']*+'?|\"[^\"]*+\"?|\d++\.\d++|[\w-]++|[<>]=|<>|[^\s\w]")
_CARD = 72
_THEN = frozenset({"THEN", "."})


class Conditional(NamedTuple):
    """The lines that are left out, by number from 1, and warnings about what could not be decided."""

    left_out: frozenset[int]
    warnings: tuple[Warned, ...]


class _Choice:
    """An open choice: whether its current branch is taken (None: unknown), and whether an earlier one was."""

    __slots__ = ("line", "subject", "taken", "was_taken")

    def __init__(self, line: int, subject: list[str] | None = None) -> None:
        self.line = line
        self.subject = subject
        self.taken: bool | None = False
        self.was_taken: bool | None = False

    def branch(self, holds: bool | None) -> None:
        """Begin another branch, which is taken if no earlier one was and its condition holds."""
        if self.was_taken or holds is False:
            self.taken = False
        else:
            self.taken = True if holds and self.was_taken is False else None
        if holds:
            self.was_taken = True
        elif holds is None and self.was_taken is False:
            self.was_taken = None


def conditional(lines: Iterable[tuple[int, str]], last: int) -> Conditional:
    """Return which lines are left out.

    Args:
        lines: The directives of a source, each with its number, in order.
        last: The number of the last line.
    """
    known: dict[str, object] = {}
    choices: list[_Choice] = []
    undecided: dict[int, None] = {}
    left_out: list[range] = []
    since = 0  # the first line of the current stretch that is left out
    for number, line in lines:
        if not any(does(line, number, known, choices) for does in (_toggle, _switch, _direct)):
            continue
        if choices and choices[-1].taken is None:
            undecided.setdefault(choices[-1].line)
        is_out = any(one.taken is False for one in choices)
        if is_out and not since:
            since = number + 1
        elif not is_out and since:
            left_out.append(range(since, number))
            since = 0
    if since:
        left_out.append(range(since, last + 1))
    return Conditional(frozenset(line for part in left_out for line in part), tuple(_warnings(undecided)))


def _direct(line: str, number: int, known: dict[str, object], choices: list[_Choice]) -> bool:
    """Process a directive that defines a constant, or begins, continues or ends a choice; return whether it is one."""
    found = _SAID.match(line)
    if found is None:
        return False
    # A card has its number after column 72.
    rest = (
        found["rest"]
        if len(line) <= _CARD or not line[_CARD:].strip().isdecimal()
        else line[found.start("rest") : _CARD]
    )
    verb, words = found["verb"].upper(), [word.upper() for word in _WORDS.findall(rest)]
    if verb in {"IF", "EVALUATE"}:
        choices.append(_Choice(number, words if verb == "EVALUATE" else None))
        if verb == "IF":
            choices[-1].branch(_holds(words, known))
    elif verb in {"END-IF", "END", "END-EVALUATE"}:
        del choices[-1:]
    elif verb in {"ELSE", "ELIF", "ELSE-IF"} and choices:
        choices[-1].branch(True if verb == "ELSE" else _holds(words, known))
    elif verb == "WHEN" and choices and choices[-1].subject is not None:
        choices[-1].branch(_meets(choices[-1].subject, words, known))
    elif verb == "DEFINE" or verb.startswith("SET"):
        _define(words, known, [one.taken for one in choices])
    return True


def _toggle(line: str, number: int, known: dict[str, object], choices: list[_Choice]) -> bool:
    """Process a NonStop directive about toggles: ?IF 1, ?IFNOT 1, ?ENDIF 1, ?SETTOG 1; return whether it is one.

    A toggle that the source does not set may be set on the compiler's command line.
    """
    found = _TOGGLED.match(line)
    if found is None:
        return False
    verb = found["verb"].upper()
    toggles = [f"?{toggle}" for toggle in found["toggles"].replace(",", " ").split()]
    if verb == "ENDIF":
        del choices[-1:]
    elif verb in {"IF", "IFNOT"}:
        value = known.get(toggles[0]) if toggles else None
        choices.append(_Choice(number))
        choices[-1].branch(value == (verb == "IF") if isinstance(value, bool) else None)
    elif not any(one.taken is False for one in choices):
        is_sure = all(one.taken for one in choices)
        known |= dict.fromkeys(toggles, verb == "SETTOG" if is_sure else None)
    return True


def _switch(line: str, number: int, known: dict[str, object], choices: list[_Choice]) -> bool:
    """Process a directive of HP about switches: $SET X1=ON, $SET, $IF X1=ON, $IF; return whether it is one.

    A switch that the source does not set may be set on the compiler's command line; $SET alone turns all of them off.
    """
    found = _SWITCHED.match(line)
    if found is None:
        return False
    said = [(name.upper(), value.upper() == "ON") for name, value in _SWITCH.findall(found["said"])]
    if found["verb"].upper() == "IF":
        choices.clear()
        for name, is_on in said[:1]:
            value = known.get(name)
            choices.append(_Choice(number))
            choices[-1].branch(value == is_on if isinstance(value, bool) else None)
    elif not any(one.taken is False for one in choices):
        is_sure = all(one.taken for one in choices)
        known |= {name: is_on if is_sure else None for name, is_on in said or _ALL_OFF}
    return True


def _warnings(undecided: Iterable[int]) -> Iterable[Warned]:
    """Yield a warning at the first undecided choice, with the number of further ones."""
    at = list(undecided)
    if at:
        more = f", as of {len(at) - 1} more" if len(at) > 1 else ""
        yield Warned(
            at[0], f"the code of every branch of this choice is read{more}: nothing here says which is compiled"
        )


def _define(words: list[str], known: dict[str, object], around: list[bool | None]) -> None:
    """Define a constant, unless its directive is left out; one that may be left out makes the constant unknown from here on."""
    words = [word for word in words if word not in {"CONSTANT", "AS", "OVERRIDE", "."}]
    words = [word for at, word in enumerate(words) if at != 1 or word != "="]
    if words[1:2] == ["("] and words[-1] == ")":
        words = [words[0], *words[2:-1]]
    if not words or False in around:
        return
    value = "" if len(words) == 1 else None if words[1] == "OFF" else worth(words[1:], known)
    known[words[0]] = UNKNOWN if None in around else value


def _holds(words: list[str], known: Mapping[str, object]) -> bool | None:
    """Return whether a condition holds; None if the source does not say."""
    found = worth([word for word in words if word not in _THEN], known)
    return found if isinstance(found, bool) else None


def _meets(subject: list[str], words: list[str], known: Mapping[str, object]) -> bool | None:
    """Return whether a subject has a value, or whether a WHEN of TRUE holds; None if the source does not say."""
    if words == ["OTHER"]:
        return True
    if subject == ["TRUE"]:
        return _holds(words, known)
    for through in ("THRU", "THROUGH"):
        if through in words:
            at = words.index(through)
            return _holds(
                ["(", *subject, ")", ">=", *words[:at], "AND", "(", *subject, ")", "<=", *words[at + 1 :]], known
            )
    return _holds(["(", *subject, ")", "=", "(", *words, ")"], known)

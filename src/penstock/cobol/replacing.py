"""What is the code after REPLACE, and after the REPLACING of a COPY?

A REPLACE applies from its end on: to the code that follows, to what that copies, and, if it is in a copybook, to what follows the
COPY. Nothing is replaced inside literals, which are single words, and COPY and REPLACE statements stay as they are.

Leaves to others: how code is read (`reading`) and where copybooks come from. Laws: the code keeps its lines, one for one; replaced
text is not replaced again by the same statement; no more than `MAX_GROWN_CHARS` are added.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from .lexing import COPIED, LITERAL, PAIR, REPLACE, WIDE, fold, spelled
from .program import unquoted
from .reading import BREAK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .program import Pairs, Replacing
    from .source import Lookup, ScannedSource

MAX_GROWN_CHARS = 3_000_000
"""How many characters replacing may add to a source: otherwise a short word could expand to a megabyte at each occurrence."""

_SLASHES = "//"
_SIDES = frozenset({"LEADING", "TRAILING"})
_PARTS = re.compile(r"\S+")
_BLANKS = re.compile(r"\s+")
_WORD_BEGINS, _WORD_ENDS = rf"(?<![\w{WIDE}-])", rf"(?![\w{WIDE}-])"
_LITERAL = re.compile(LITERAL)
_LINE_ENDS = re.compile(f"[\n{BREAK}]")
_BEGINS = r"(?<![\w:-])"
# Literals are matched whole, so that no statement begins inside one.
_REPLACE = re.compile(r"REPLACE(?<![\w:-]REPLACE)\s")
_STATEMENT = re.compile(rf"{LITERAL}|{_BEGINS}(?P<copy>{COPIED.pattern})|{_BEGINS}(?P<replace>{REPLACE})")


class Replaced(NamedTuple):
    """Code after REPLACE, the offset of each line in it, and from which line on what is in effect."""

    code: str
    starts: tuple[int, ...]
    effects: tuple[tuple[int, Replacing], ...] = ()


def in_effect(effects: Sequence[tuple[int, Replacing]], line: int) -> Replacing:
    """Return the REPLACE pairs that apply to text that is copied on a line."""
    at = bisect_right(effects, line, key=itemgetter(0))
    return effects[at - 1][1] if at else ()


def replaced(code: str, folded: str, starts: tuple[int, ...], find: Lookup | None) -> Replaced:
    """Return a source with the text of its REPLACE statements, and of those in copybooks, in place.

    Args:
        code: The code of a source.
        folded: `fold(code)`.
        starts: The offset of each line in the code.
        find: The copybook of a name and library; None if copybooks cannot be looked up.
    """
    unchanged = Replaced(code, starts)
    # Most sources have no REPLACE, and copy nothing that has one: they are not searched.
    if _REPLACE.search(folded) is None and not (find is not None and _may_copy_one(code, folded, find)):
        return unchanged
    made: list[str] = []
    effects: list[tuple[int, Replacing]] = []
    here: Replacing = ()
    sought = _SoughtTexts(here)
    at = 0
    for statement in _STATEMENT.finditer(folded):
        if statement["replace"] is not None:
            after = _after(here, code, folded, statement)
        elif statement["copy"] is not None:
            after = _left_by(_copied(code, statement, find), here)
        else:
            continue
        made += (sought.rewritten(code[at : statement.start()]), code[slice(*statement.span())])
        at = statement.end()
        if after != here:
            # To look up all texts anew after each REPLACE ALSO would take n * n.
            if after[1:] == here:
                sought.add(after[0])
            else:
                sought = _SoughtTexts(after)
            here = after
            # What a copybook leaves in effect applies from the next line on: the copybook itself was read with it.
            effects.append((bisect_right(starts, at - 1) + (statement["replace"] is None), here))
    made.append(sought.rewritten(code[at:]))
    text = "".join(made)
    ends = line_starts(text)
    # A BREAK character in the source itself would shift lines: then nothing is replaced, rather than cited at a wrong line.
    return Replaced(text, ends, tuple(effects)) if len(ends) == len(starts) else unchanged


def rewritten(code: str, replacing: Replacing) -> str:
    """Return a stretch of code with old texts replaced by new ones; line ends within an old text follow the new one."""
    return _sought_texts(replacing).rewritten(code)


class _OldText(NamedTuple):
    """A text to be replaced: its words, its expression, and the new text."""

    words: tuple[str, ...]
    expression: re.Pattern[str]
    new: str


class _Ranked(NamedTuple):
    """An old text among all that are compared, the lowest rank first; no two have one rank."""

    rank: tuple[int, int]
    text: _OldText


class _Begun:
    """The texts that begin with the same words: those that have no more words, and the others by their next word."""

    __slots__ = ("longer", "texts")

    def __init__(self) -> None:
        self.texts: dict[str, _Ranked] = {}
        """By their expressions: of several with one expression, only the first that is compared can be found."""
        self.longer: dict[int, dict[str, _Begun]] = {}
        """By the length of the next word, and the word."""

    def add(self, rank: tuple[int, int], text: _OldText) -> None:
        """Add a text."""
        here = self
        for word in text.words:
            here = here.longer.setdefault(len(word), {}).setdefault(word.casefold(), _Begun())
        pattern = text.expression.pattern
        here.texts[pattern] = min(_Ranked(rank, text), here.texts.get(pattern, _Ranked(rank, text)))

    def at(self, code: str, start: int) -> Iterator[_Ranked]:
        """Yield the texts whose words are at an offset."""
        waiting = [(self, start)]
        while waiting:
            here, begin = waiting.pop()
            for length, words in here.longer.items():
                end = begin + length
                begun = words.get(code[begin:end].casefold())
                if begun is not None:
                    yield from begun.texts.values()
                    if begun.longer and (blanks := _BLANKS.match(code, end)) is not None:
                        waiting.append((begun, blanks.end()))


class _SoughtTexts:
    """All texts to be replaced, by their words.

    The standard compares all of them at each word: the first match replaces, and its result is not compared again. One text after
    the other would turn AA into CC with ==AA== BY ==BB== ==BB== BY ==CC==. They are looked up, because an expression with an
    alternative for each tries all of them at each letter.
    """

    def __init__(self, replacing: Replacing) -> None:
        self._texts = _Begun()
        self._statements = 0
        # The letters with which a text or a literal may begin, anywhere or only where a word begins.
        self._anywhere = {"'", '"'}
        self._at_words: set[str] = set()
        for pairs in reversed(replacing):
            self.add(pairs)

    def add(self, pairs: Pairs) -> None:
        """Add the pairs of a REPLACE ALSO, which are compared before all earlier ones."""
        self._statements += 1
        for number, pair in enumerate(pairs):
            text = _old_text(*pair)
            if text is not None:
                self._texts.add((-self._statements, number), text)
                is_word = text.expression.pattern.startswith(_WORD_BEGINS)
                (self._at_words if is_word else self._anywhere).add(text.words[0][0])

    def rewritten(self, code: str) -> str:
        """Return a stretch of code with old texts replaced by new ones; line ends within an old text follow the new one."""
        room = MAX_GROWN_CHARS
        made: list[str] = []
        done = 0
        for start, end, new in self._found(code) if self._texts.longer else ():
            room -= max(0, len(new) - (end - start))
            if room >= 0:
                made += (code[done:start], new, "\n" * len(_LINE_ENDS.findall(code, start, end)))
                done = end
        return "".join((*made, code[done:]))

    def _found(self, code: str) -> Iterator[tuple[int, int, str]]:
        """Yield where an old text begins and ends, and the new one; none is inside a literal, which is a single word."""
        begins = _begins(frozenset(self._anywhere), frozenset(self._at_words))
        begin = begins.search(code)
        while begin is not None:
            start, end = begin.span()
            text = self._at(code, start)
            if text is not None:
                end = text[0]
                yield start, *text
            elif (literal := _LITERAL.match(code, start)) is not None:
                end = literal.end()
            begin = begins.search(code, end)

    def _at(self, code: str, start: int) -> tuple[int, str] | None:
        """Return where the first of the texts ends that is at an offset, and the new text; None if there is none."""
        for _, (_, expression, new) in sorted(self._texts.at(code, start)):
            if (match := expression.match(code, start)) is not None:
                return match.end(), new
        return None


@lru_cache(maxsize=64)
def _begins(anywhere: frozenset[str], at_words: frozenset[str]) -> re.Pattern[str]:
    """Return an expression for where a text may begin: with some letters anywhere, with others only where a word begins."""
    words = f"|{_WORD_BEGINS}{_any_of(at_words)}" if at_words else ""
    return re.compile(_any_of(anywhere) + words, re.IGNORECASE)


def _any_of(letters: Iterable[str]) -> str:
    """Return an expression for any of some letters."""
    return f"[{''.join(map(re.escape, sorted(letters)))}]"


@lru_cache(maxsize=16)
def _sought_texts(replacing: Replacing) -> _SoughtTexts:
    """Return the old texts of some pairs, to which nothing is added: they are shared."""
    return _SoughtTexts(replacing)


@lru_cache(maxsize=4_096)
def _old_text(old: str, new: str) -> _OldText | None:
    """Return what one pair replaces; None if it has no word."""
    words = _sought(old)
    return _OldText(tuple(words), re.compile(_pattern(old), re.IGNORECASE), _bare(new)) if words else None


def around_statements(code: str, replacing: Replacing) -> str:
    """Return code with old texts replaced by new ones, except in its COPY and REPLACE statements, which stay as they are."""
    folded = fold(code) if replacing else ""
    made: list[str] = []
    at = 0
    if "COPY" in folded or "INC" in folded or "REPLACE" in folded:
        for statement in _STATEMENT.finditer(folded):
            if statement["copy"] is not None or statement["replace"] is not None:
                made += (rewritten(code[at : statement.start()], replacing), code[slice(*statement.span())])
                at = statement.end()
    return "".join((*made, rewritten(code[at:], replacing)))


def _may_copy_one(code: str, folded: str, find: Lookup) -> bool:
    """Return whether a copybook that a source names has a REPLACE."""
    # Searched as plain words: an expression tried at every letter took a tenth of the time of reading a source.
    for word in ("COPY", "-INC", "++INCLUDE"):
        at = folded.find(word)
        while at >= 0:
            statement = COPIED.match(folded, at)
            book = _copied(code, statement, find) if statement is not None else None
            if book is not None and book.replacing:
                return True
            at = folded.find(word, at + 1)
    return False


def _copied(code: str, statement: re.Match[str], find: Lookup | None) -> ScannedSource | None:
    """Return the copybook that a COPY names, None if it cannot be looked up."""
    return None if find is None else find(*named(code, statement))


def named(code: str, statement: re.Match[str]) -> tuple[str, str | None]:
    """Return the name and the library of the copybook that a COPY names; None for no library."""
    library = unquoted(spelled(code, *statement.span("library"))) if statement["library"] else None
    return unquoted(spelled(code, *statement.span("name"))), library


def _left_by(book: ScannedSource | None, here: Replacing) -> Replacing:
    """Return what is in effect after a COPY: what its copybook ends with, if that has a REPLACE."""
    return book.replacing[-1][1] if book is not None and book.replacing else here


def _after(here: Replacing, code: str, folded: str, statement: re.Match[str]) -> Replacing:
    """Return what is in effect after a REPLACE."""
    words = statement["replace"].split(None, 2)
    if words[1] == "OFF":
        return ()
    if words[1] == "LAST":
        return here[1:]
    begin = statement.start() + len("REPLACE")
    if words[1] == "ALSO":
        begin = folded.index("ALSO", begin) + len("ALSO")
    pairs = pairs_in(code, folded, begin, statement.end())
    return (pairs, *here) if words[1] == "ALSO" else (pairs,)


def pairs_in(code: str, folded: str, start: int, end: int) -> tuple[tuple[str, str], ...]:
    """Return the pairs of operands between two offsets, each operand on one line, without the marks of pseudo-text.

    Args:
        code: The code, for spelling.
        folded: `fold(code)`, for searching.
        start: The offset of the first pair.
        end: The offset after the last pair.
    """
    found = []
    for pair in PAIR.finditer(folded, start, end):
        old, new = (_operand(code[slice(*pair.span(group))]) for group in (1, 2))
        if old[:2] == new[:2] == _SLASHES:
            old, new = f"LEADING {old.strip('/')}", new.strip("/")
        side, _, part = old.partition(" ")
        if side.upper() in _SIDES and part[:1] in {"'", '"'}:
            # ACUCOBOL: LEADING "CUST" BY "PREV", or BY SPACES, which puts nothing there. A literal has no beginning to replace.
            old, new = f"{side} {unquoted(part)}", "" if new.upper() in {"SPACE", "SPACES"} else unquoted(new)
        found.append((old, new))
    return tuple(found)


def _operand(text: str) -> str:
    """Return an operand on one line, without the marks of pseudo-text."""
    return " ".join(text.replace("==", " ").replace(BREAK, "").split())


def line_starts(code: str) -> tuple[int, ...]:
    """Return the offset of each line of some code."""
    return (0, *(end.end() for end in _LINE_ENDS.finditer(code)))


def _pattern(old: str) -> str:
    """Return an expression without groups for an old text that has words.

    Words match as words, with any blanks between them. Two exceptions: an operand that begins or ends with a sign,
    as `:TAG:` does, also matches within a word on that side, which is how templates are written; and LEADING or
    TRAILING matches only the beginning or end of a word.
    """
    side, words = old.split(None, 1)[0].upper(), _sought(old)
    left = _WORD_BEGINS if words[0][0].isalnum() and side != "TRAILING" else ""
    right = _WORD_ENDS if words[-1][-1].isalnum() and side != "LEADING" else ""
    return left + r"\s+".join(map(re.escape, words)) + right


def _sought(old: str) -> list[str]:
    """Return the words of an old text without LEADING and TRAILING."""
    side, _, rest = old.strip().partition(" ")
    return _PARTS.findall(_bare(rest if side.upper() in _SIDES else old))


def _bare(text: str) -> str:
    """Return the text between the `==` of pseudo-text, with single blanks."""
    text = text.strip()
    if text.startswith("==") and text.endswith("==") and len(text) >= 4:
        text = text[2:-2]
    return " ".join(text.split())

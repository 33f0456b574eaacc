"""What is a passage, and which words does it hold? Lines of a text that belong together, and the words of a question.

Law: the passages of a text do not overlap, are in order and at most `MAX_PASSAGE_LINES` long, and cover every line that is not
blank. Leaves to others: files, and how passages are weighed (`index`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_PASSAGE_LINES = 16
"""The most lines of a passage. Of 12, 16 and 20 tried on `bench/local_questions*.json`, with 16 three passages are as long as three
windows of 11 lines, which is what plain BM25 gets there.
"""

MAX_WORDS = 64
"""How many different words of a question are searched for: a question is a sentence or two, not a document."""

_MIN_LINES = 5  # before a passage may end early: a blank line after two assignments is no reason
_NO_BLANK = 6  # columns: how much deeper a line may be indented and still be the better place to cut, if a blank line precedes it

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^\W_]+")
_OPENS_SCOPE = re.compile(
    r"(?:[\w<>*&\[\],:.]+\s+){0,6}?(?:def|class|func|fn|function|struct|enum|interface|trait|impl|module|namespace)\b"
)

# Words of questions that say nothing about the subject. The index itself would rank them near zero; going through all passages that
# contain them takes half a second in a tree of 50 MB.
_QUESTION_WORDS = (
    "a an and any are as at be but by can do does for from has have how i if in into is it its many me much my no not of on or so "
    "than that the their then there these they this to was what when where which who why will with would you"
)
_STOP = frozenset(_QUESTION_WORDS.split())


class Passage(NamedTuple):
    """Lines `first` to `last`, from 1; `scope` are the lines that open the blocks enclosing the first of them, outermost first."""

    first: int
    last: int
    scope: tuple[str, ...]


def passages(lines: Sequence[str]) -> Iterator[Passage]:
    """Cut a text where a person would: before the line that stands out most, preferably after a blank one.

    In any language, indentation shows how much of a beginning a line is, so no grammar is needed: of the lines at which the next
    passage could begin the outermost wins, and of equals the last, which makes passages long.

    Args:
        lines: The lines of a text, without their ends.

    Yields:
        The passages, in order. Blank lines between two of them are in neither.
    """
    scopes = _scopes(lines)
    start = 0
    while start < len(lines):
        if not lines[start].strip():
            start += 1
            continue
        end = _next_start(lines, start)
        last = end
        while not lines[last - 1].strip():
            last -= 1
        yield Passage(start + 1, last, scopes[start])
        start = end


def _next_start(lines: Sequence[str], start: int) -> int:
    end = start + MAX_PASSAGE_LINES
    if end >= len(lines):
        return len(lines)
    best, least = end, 1 << 30
    for at in range(start + _MIN_LINES, end + 1):
        if lines[at].strip():
            depth = _indent(lines[at]) + (_NO_BLANK if lines[at - 1].strip() else 0)
            if depth <= least:
                best, least = at, depth
    return best


def _scopes(lines: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the enclosing scopes of each line: earlier lines, less indented and nested, that open a named block."""
    opened: list[tuple[int, tuple[str, ...]]] = []  # how deep a line is indented, and the scope of what is below it
    made: list[tuple[str, ...]] = []
    for line in lines:
        stripped = line.strip()
        if stripped:
            depth = _indent(line)
            while opened and opened[-1][0] >= depth:
                opened.pop()
        scope = opened[-1][1] if opened else ()
        made.append(scope)
        if stripped:
            is_opening = len(stripped) < 400 and _OPENS_SCOPE.match(stripped) is not None
            opened.append((depth, (*scope, stripped) if is_opening and len(scope) < 8 else scope))
    return made


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def split_names(text: str) -> str:
    """Return a text with its camel-case names split: `ThreadPool` as `Thread Pool`. The index itself splits at underscores."""
    return _HUMP.sub(" ", text)


def words_of(question: str) -> list[str]:
    """Return the distinct words of a question, in lower case, names also split: `max_workers` adds `max workers` as one entry."""
    found: dict[str, None] = {}
    for word in _WORD.findall(question):
        parts = [part.lower() for part in _PART.findall(split_names(word))]
        for entry in ([" ".join(parts)] if len(parts) > 1 else []) + parts:
            if entry not in _STOP:
                found[entry] = None
    return list(found)[:MAX_WORDS]


def query_of(words: Sequence[str]) -> str:
    """Return the words as an FTS5 query: any of them, the parts of a name also as a phrase, nothing of them as syntax."""
    return " OR ".join(f'"{word}"' for word in words)

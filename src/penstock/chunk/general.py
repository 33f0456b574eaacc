"""How is a text in any language cut into chunks? At its landmarks, else at blank lines, else between lines.

COBOL has its own way (`cobol`). Law: the chunks partition the lines and are in their order; each is within the budget, or a single
line that is not. Lines end at `\\n`. Keeps out: what is shown around a chunk.
"""

from __future__ import annotations

import re
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING

from penstock.outline import language_of, outline

from .chunks import Chunk
from .cutting import Cuts, Sizes
from .measure import Ruler

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.budget import Allowance
    from penstock.outline import Symbol
    from penstock.tokens import TokenCounter

    from .chunks import Kind, Span

# Ranks of cuts: two for each depth of landmarks, then lines behind blank ones, then any; those far to the left are better.
_BEHIND = 1
_BLANK = 1_000
_LINE = 2_000
_DEEPEST = 120  # columns of indentation that are told apart
_NEARLY = 1.1  # of a budget: where the lines alone add up to more, the whole is not counted
_TIGHTER = 0.97
_LINES = re.compile(rb"[^\n]*\n|[^\n]+")
_ID_LETTERS = 10
_ABOVE = re.compile(rb"[ \t]*(?:#|//|/\*|\*|--|;|@|<!--|\[)")  # comments, decorators and attributes, in most languages


def chunk(
    text: str | bytes,
    language: str | None,
    budget: int | Allowance,
    *,
    counter: TokenCounter | None = None,
    previous: Mapping[str, str] | None = None,
) -> list[Chunk]:
    """A text in chunks of at most `budget`: tokens, or what the allowance says.

    `language` is one that `penstock.outline` knows, None for what the first bytes tell; others are cut as plain text. Tokens are
    those of `counter`, by its upper bound; of o200k where none is given, exactly where that can be had. `previous` is for COBOL,
    as `plan` has it. Raises `CallerError` for a budget below 1.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    language = language or language_of("", data)
    if language == "cobol":
        from penstock.cobol import scan

        from .cobol import plan

        return list(plan(scan(data), source_tokens=budget, counter=counter, previous=previous).chunks)
    return _cut(data, language, Ruler(budget, counter))


def _cut(data: bytes, language: str, ruler: Ruler) -> list[Chunk]:
    lines = data.splitlines(keepends=True) if b"\r" not in data else _LINES.findall(data)
    if not lines:
        return []
    symbols = outline(data, language).symbols
    sizes = Sizes(ruler.lines([f"{text}\n" for text in _read(data).split("\n")][: len(lines)]))
    if sizes.total <= ruler.limit * _NEARLY:
        tokens = ruler.whole(_read(data))
        if tokens <= ruler.limit:
            names = [symbol.name for symbol in symbols if not symbol.depth]
            return [_made("whole", (1, len(lines)), data, tokens, names, {}, fits=True)]
    cuts = Cuts(_ranks(lines, symbols, sizes, ruler.limit))
    made: list[Chunk] = []
    seen: dict[str, int] = {}
    names_in = _Names(symbols)
    waiting = list(reversed(cuts.pieces(1, len(lines), sizes, ruler.limit)))
    while waiting:
        first, last = waiting.pop()
        inside = b"".join(lines[first - 1 : last])
        tokens = ruler.whole(_read(inside))
        if tokens > ruler.limit and first < last:
            smaller = min(sizes.of(first, last), ruler.limit) * _TIGHTER * ruler.limit / tokens
            every = Cuts(_line_ranks(lines, first, last))
            waiting += reversed((cuts if cuts.inside(first, last) else every).pieces(first, last, sizes, smaller))
            continue
        kind, names = names_in.of(first, last)
        made.append(_made(kind, (first, last), inside, tokens, names, seen, fits=tokens <= ruler.limit))
    return made


def _read(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _made(
    kind: Kind, span: Span, data: bytes, tokens: int, names: Sequence[str], seen: dict[str, int], *, fits: bool
) -> Chunk:
    digest = sha256(data).hexdigest()
    number = seen[digest] = seen.get(digest, 0) + 1
    known_as = digest[:_ID_LETTERS] if number == 1 else f"{digest[:_ID_LETTERS]}~{number}"
    units = tuple(names) or (f"lines {span[0]}-{span[1]}",)
    return Chunk(id=known_as, kind=kind, spans=(span,), tokens=tokens, units=units, fits=fits, digest=digest)


class _Names:
    """Which landmarks begin in a chunk; where it begins within one that it does not hold, that one's name as a part."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self._symbols = symbols
        self._at = 0
        self._around: list[Symbol] = []

    def of(self, first: int, last: int) -> tuple[Kind, list[str]]:
        """Of the next chunk: they come in the order of their lines."""
        self._around = [symbol for symbol in self._around if symbol.end_line >= first]
        parts = [f"{self._around[-1].name} (part)"] if self._around else []
        inside: list[str] = []
        while self._at < len(self._symbols) and self._symbols[self._at].start_line <= last:
            symbol = self._symbols[self._at]
            inside.append(symbol.name)
            if symbol.end_line > last:
                self._around.append(symbol)
            self._at += 1
        return ("part" if parts and not inside else "other"), [*parts, *inside]


def _ranks(lines: Sequence[bytes], symbols: Sequence[Symbol], sizes: Sizes, limit: float) -> dict[int, int]:
    """How bad it is to cut before each line; of lines between landmarks only where a stretch of them does not fit."""
    ranks: dict[int, int] = {}
    for symbol in symbols:
        rank = 2 * symbol.depth
        start = symbol.start_line
        while start > 1 and _ABOVE.match(lines[start - 2]):
            start -= 1
        ranks[start] = min(ranks.get(start, rank), rank)
        behind = symbol.end_line + 1
        while behind <= len(lines) and not lines[behind - 1].strip():
            behind += 1
        if behind <= len(lines):
            ranks[behind] = min(ranks.get(behind, rank + _BEHIND), rank + _BEHIND)
    edges = sorted({1, len(lines) + 1, *ranks})
    for start, end in pairwise(edges):
        if sizes.of(start, end - 1) > limit:
            ranks.update(_line_ranks(lines, start, end - 1))
    return ranks


def _line_ranks(lines: Sequence[bytes], first: int, last: int) -> dict[int, int]:
    """How bad it is to cut before each line of a stretch but the first: best behind a blank one, and far to the left."""
    ranks: dict[int, int] = {}
    behind_blank = False
    for number in range(first, last + 1):
        line = lines[number - 1]
        code = line.lstrip(b" \t")
        is_blank = not code.strip()
        if number > first:
            indent = min(len(line) - len(code), _DEEPEST)
            ranks[number] = (_BLANK if behind_blank and not is_blank else _LINE) + indent
        behind_blank = is_blank
    return ranks

"""How is a text in any language cut into chunks? At its landmarks, else at blank lines, else between lines.

COBOL has its own way (`cobol`). Law: the chunks partition the lines and are in their order; each is within the budget, or a single
line that is not. Lines end at `\\n`. Keeps out: what is shown around a chunk.
"""

from __future__ import annotations

import re
from hashlib import sha256
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
_TIGHTER = 0.97
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
    ruler = Ruler(budget, counter)
    lines = data.splitlines(keepends=True) if b"\r" not in data else re.findall(rb"[^\n]*\n|[^\n]+", data)
    whole = ruler.whole(_read(data))
    if whole <= ruler.limit:
        names = [symbol.name for symbol in outline(data, language).symbols if not symbol.depth]
        return [_made("whole", (1, len(lines)), data, whole, names, {}, fits=True)] if lines else []
    symbols = outline(data, language).symbols
    cuts = Cuts(_ranks(lines, symbols))
    sizes = Sizes(ruler.lines([_read(line) for line in lines]))
    made: list[Chunk] = []
    seen: dict[str, int] = {}
    waiting = list(reversed(cuts.pieces(1, len(lines), sizes, ruler.limit)))
    while waiting:
        first, last = waiting.pop()
        inside = b"".join(lines[first - 1 : last])
        tokens = ruler.whole(_read(inside))
        if tokens > ruler.limit and first < last:
            smaller = min(sizes.of(first, last), ruler.limit) * _TIGHTER * ruler.limit / tokens
            waiting += reversed(cuts.pieces(first, last, sizes, smaller))
            continue
        kind, names = _described(first, last, symbols)
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


def _described(first: int, last: int, symbols: Sequence[Symbol]) -> tuple[Kind, list[str]]:
    """The landmarks that begin in a chunk; where it begins within one that it does not hold, that one's name as a part."""
    inside = [symbol.name for symbol in symbols if first <= symbol.start_line <= last]
    around = [symbol.name for symbol in symbols if symbol.start_line < first <= symbol.end_line]
    parts = [f"{name} (part)" for name in around[-1:]]
    return ("part" if around and not inside else "other"), [*parts, *inside]


def _ranks(lines: Sequence[bytes], symbols: Sequence[Symbol]) -> dict[int, int]:
    """How bad it is to cut before each line."""
    ranks: dict[int, int] = {}
    behind_blank = False
    for number, line in enumerate(lines, 1):
        code = line.lstrip(b" \t")
        indent = min(len(line) - len(code), _DEEPEST)
        is_blank = not code.strip()
        ranks[number] = (_BLANK if behind_blank and not is_blank else _LINE) + indent
        behind_blank = is_blank
    for symbol in symbols:
        rank = 2 * symbol.depth
        start = symbol.start_line
        while start > 1 and _ABOVE.match(lines[start - 2]):
            start -= 1
        ranks[start] = min(ranks[start], rank)
        for between in range(start + 1, symbol.start_line + 1):
            ranks[between] = _LINE + _DEEPEST
        behind = symbol.end_line + 1
        while behind <= len(lines) and not lines[behind - 1].strip():
            behind += 1
        if behind <= len(lines):
            ranks[behind] = min(ranks[behind], rank + _BEHIND)
    return ranks

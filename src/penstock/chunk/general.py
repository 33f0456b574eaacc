r"""How is a text in any language cut into consecutive chunks? At its landmarks, else at blank lines, else between lines.

COBOL has its own way (`cobol`) for prompts about one program; here it is cut at landmarks too, else after its sentences. Law: the
chunks partition the lines, in order; each is within the budget, or is a single line that is not. Lines end at `\n`. Leaves to
others: what is shown around a chunk, and which cuts are good (`breaks`).
"""

from __future__ import annotations

import re
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING

from penstock.outline import language_of, outline

from .breaks import Breaks, breaks_of
from .chunks import Chunk
from .cutting import Cuts, Sizes
from .measure import Ruler

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.outline import Symbol
    from penstock.text.allowance import Allowance
    from penstock.text.tokens import TokenCounter

    from .chunks import Kind, Span

CLUSTERED_BYTES = 1 << 20
"""A COBOL source of up to this many bytes is clustered by its call graph by default: it is a program then, not an archive."""
_NEARLY = 1.1  # of a budget: where the lines alone add up to more, the whole is not counted
_TIGHTER = 0.97
_LINES = re.compile(r".*\n|.+")
_BYTE_LINES = re.compile(rb".*\n|.+")
_ID_LETTERS = 10
_HEAD_BYTES = 1024


def chunk(
    text: str | bytes,
    language: str | None,
    budget: int | Allowance,
    *,
    counter: TokenCounter | None = None,
    previous: Mapping[str, str] | None = None,
    consecutive: bool | None = None,
) -> list[Chunk]:
    """Return a text in chunks of at most `budget`: tokens, or what the allowance says.

    `language` is one that `penstock.outline` knows, None to detect it from the first bytes; others are cut as plain text. Tokens
    are those of `counter`, by its upper bound; by default those of o200k, exactly if possible.

    Chunks are consecutive, except for COBOL up to `CLUSTERED_BYTES`: there `plan` groups what calls each other, and `previous` is
    for it. `consecutive=False` does that for a source of any size, True for none (except EBCDIC, whose lines only `plan` knows).
    Raises `CallerError` for a budget below 1.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    language = language or language_of("", data)
    if language == "cobol":
        from penstock.cobol import scan

        from .cobol import plan

        clusters = len(data) <= CLUSTERED_BYTES if consecutive is None else not consecutive
        if clusters or scan(data[:_HEAD_BYTES]).encoding == "cp037":
            return list(plan(scan(data), source_tokens=budget, counter=counter, previous=previous).chunks)
    return _cut(data, language, Ruler(budget, counter))


def _cut(data: bytes, language: str, ruler: Ruler) -> list[Chunk]:
    text = _Text(data)
    if not text.lines:
        return []
    symbols = outline(data, language).symbols
    sizes = Sizes(ruler.lines(text.ended()))
    # The sum of the lines comes close to the whole: well above the limit, counting all the text would only confirm that.
    if sizes.total <= ruler.limit * _NEARLY:
        tokens = ruler.whole(text.whole)
        if tokens <= ruler.limit:
            names = [symbol.name for symbol in symbols if not symbol.depth]
            return [_made("whole", (1, len(text.lines)), data, tokens, names, {}, fits=True)]
    breaks = breaks_of(language, data, text.lines, symbols)
    cuts = _cuts(breaks, sizes, ruler.limit)
    made: list[Chunk] = []
    seen: dict[str, int] = {}
    names_in = _Names(symbols)
    for first, last, inside, tokens in _pieces(text, cuts, breaks, sizes, ruler):
        kind, names = names_in.of(breaks.begins(first, last), last)
        known_by = text.encoded(first, last, inside)
        made.append(_made(kind, (first, last), known_by, tokens, names, seen, fits=tokens <= ruler.limit))
    return made


def _cuts(breaks: Breaks, sizes: Sizes, limit: float) -> Cuts:
    """Return where the text may be cut: of the lines between landmarks only those of stretches that do not fit."""
    ranks = breaks.landmarks()
    # A stretch without landmarks that fits by its lines but not as a whole gets ranks for its lines in `_pieces`.
    for start, end in pairwise(sorted({1, sizes.lines + 1, *ranks})):
        if sizes.of(start, end - 1) > limit:
            ranks.update(breaks.between(start, end - 1))
    return Cuts(ranks)


def _pieces(text: _Text, cuts: Cuts, breaks: Breaks, sizes: Sizes, ruler: Ruler) -> list[tuple[int, int, str, int]]:
    """Return first and last lines in order, the text between, and its tokens; counted together, what does not fit is cut again."""
    made: list[tuple[int, int, str, int]] = []
    waiting = cuts.pieces(1, sizes.lines, sizes, ruler.limit)
    while waiting:
        texts = [text.of(*span) for span in waiting]
        counted = zip(waiting, texts, ruler.wholes(texts), strict=True)
        waiting = []
        for (first, last), inside, tokens in counted:
            if tokens <= ruler.limit or first == last:
                made.append((first, last, inside, tokens))
                continue
            # Less than the stretch itself, so that it is cut at least once if it has a candidate: each turn makes smaller
            # pieces, and the loop ends at single lines.
            smaller = min(sizes.of(first, last), ruler.limit) * _TIGHTER * ruler.limit / tokens
            here = cuts if cuts.inside(first, last) else Cuts(breaks.between(first, last))
            waiting += here.pieces(first, last, sizes, smaller)
    # What was cut again comes after pieces that follow it in the text.
    return sorted(made)


class _Text:
    """Lines as they are read, and the bytes that they are."""

    def __init__(self, data: bytes) -> None:
        self.whole = data.decode("utf-8", "replace")
        # `splitlines` also ends lines at form feeds and U+2028, which no line number counts: its answer is right only
        # if there are none of these.
        self.lines = self.whole.splitlines(keepends=True)
        if len(self.lines) != self.whole.count("\n") + (not self.whole.endswith("\n")):  # it has other ends too
            self.lines = _LINES.findall(self.whole)
        # Invalid UTF-8 bytes all become the same replacement character; the digest is of the bytes, so it tells them apart.
        self._raw = _BYTE_LINES.findall(data) if "\ufffd" in self.whole else None  # some bytes are not text

    def ended(self) -> list[str]:
        """Return the lines, each with its end, which the last line of a file may lack."""
        return self.lines if self.lines[-1].endswith("\n") else [*self.lines[:-1], f"{self.lines[-1]}\n"]

    def of(self, first: int, last: int) -> str:
        """Return the text of some lines."""
        return "".join(self.lines[first - 1 : last])

    def encoded(self, first: int, last: int, inside: str) -> bytes:
        """Return the bytes of some lines, whose text is `inside`."""
        return inside.encode() if self._raw is None else b"".join(self._raw[first - 1 : last])


def _made(
    kind: Kind, span: Span, data: bytes, tokens: int, names: Sequence[str], seen: dict[str, int], *, fits: bool
) -> Chunk:
    digest = sha256(data).hexdigest()
    number = seen[digest] = seen.get(digest, 0) + 1
    # Identical chunks have one digest. The first keeps the plain id, so that a copy further down renames nothing.
    known_as = digest[:_ID_LETTERS] if number == 1 else f"{digest[:_ID_LETTERS]}~{number}"
    units = tuple(names) or (f"lines {span[0]}-{span[1]}",)
    return Chunk(id=known_as, kind=kind, spans=(span,), tokens=tokens, units=units, fits=fits, digest=digest)


class _Names:
    """Which landmarks begin in a chunk; if it begins within one that it does not hold, also that one's name as a part."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self._symbols = symbols
        self._at = 0
        self._around: list[Symbol] = []

    def of(self, first: int, last: int) -> tuple[Kind, list[str]]:
        """Return kind and names of the next chunk; chunks come in line order."""
        self._around = [symbol for symbol in self._around if symbol.end_line >= first]
        # In the order in which they begin: the last one that is open is the innermost.
        parts = [f"{self._around[-1].name} (part)"] if self._around else []
        inside: list[str] = []
        while self._at < len(self._symbols) and self._symbols[self._at].start_line <= last:
            symbol = self._symbols[self._at]
            inside.append(symbol.name)
            if symbol.end_line > last:
                self._around.append(symbol)
            self._at += 1
        return ("part" if parts and not inside else "other"), [*parts, *inside]

"""How large is a chunk as it is sent? Either its text alone, or a whole prompt with what a model needs around it.

Both kinds say what each line adds, how much of the lines a chunk is planned to hold, and how much it could hold at most; and both
measure a chunk as a whole, which decides. Law: a prompt's context is at most a quarter of the budget. Leaves to others: which lines
go together.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, Protocol

from . import wording
from .context import Surroundings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.cobol.source import ScannedSource

    from .chunks import Overhead, Span
    from .measure import Ruler
    from .units import UnitLayout

CONTEXT_SHARE = 4
"""Outline, data and copybooks take at most the budget divided by this (C-5)."""
_CONTEXT_OF_ROOM = (
    0.3  # of what the overhead leaves, at most so much is planned for it: small budgets are for source too
)


class MeasuredChunk(NamedTuple):
    """A chunk as it would be sent: its size, how much of that is text of the file, and what is shown."""

    size: int
    tokens: int
    prompt: str | None
    context_spans: tuple[Span, ...]


class Sending(Protocol):
    """What distinguishes the two kinds of budget."""

    limit: int  # of one chunk as it is sent
    overhead: int  # of that, what is the same for all

    # The rest is needed only if a file is cut, and computed then: counting line by line takes longer than everything else for a
    # file that fits.

    @property
    def lines(self) -> list[float]:
        """Tokens that each line of the file adds to a chunk."""
        ...

    @property
    def gap(self) -> float:
        """Additional tokens of a chunk for each run of lines that it has."""
        ...

    @property
    def most(self) -> float:
        """Tokens of lines that a chunk has room for if no context is shown."""
        ...

    @property
    def tight(self) -> float:
        """Tokens of lines that a chunk has room for with half of the intended context."""
        ...

    @property
    def planned(self) -> float:
        """Tokens of lines that a chunk has room for with all of its context."""
        ...

    def whole(self) -> MeasuredChunk:
        """Return the file in one piece."""
        ...

    def measured(self, spans: Sequence[Span], size: float) -> MeasuredChunk:
        """Return some lines as they would be sent; `size` is what they were planned to add."""
        ...

    def digest(self, spans: Sequence[Span]) -> str:
        """Return a hash of everything that an answer about some lines depends on, without their numbers."""
        ...


class Texts:
    """Chunks that are text of the file and nothing else."""

    overhead = 0
    gap = 0.0

    def __init__(self, layout: UnitLayout, ruler: Ruler) -> None:
        self._source = layout.source
        self._shown = layout.shown
        self._ruler = ruler
        self.limit = ruler.limit
        self.most = self.tight = self.planned = float(ruler.limit)

    @cached_property
    def lines(self) -> list[float]:
        """Tokens that each line of the file adds to a chunk."""
        source = self._source
        return self._ruler.lines([record.decode(source.encoding, "replace") for record in source.records()])

    def whole(self) -> MeasuredChunk:
        """Return the text of the file."""
        return self.measured([(1, self._source.lines)], 0)

    def measured(self, spans: Sequence[Span], size: float) -> MeasuredChunk:  # noqa: ARG002  (prompts need it)
        """Return the text of some lines."""
        size_ = self._ruler.whole(text_of(self._source, spans))
        return MeasuredChunk(size_, size_, None, ())

    def digest(self, spans: Sequence[Span]) -> str:
        """Return a hash of the text as it is read, without columns that are not part of it."""
        made = sha256()
        for first, last in spans:
            for text in self._shown[first - 1 : last]:
                made.update(f"{text}\n".encode("utf-8", "surrogatepass"))
        return made.hexdigest()


class Prompts:
    """Chunks that are sent with instructions, outline and data around them."""

    def __init__(
        self, layout: UnitLayout, ruler: Ruler, overhead: Overhead, copybooks: Mapping[str, ScannedSource] | None
    ) -> None:
        self._source = layout.source
        self._ruler = ruler
        self._view = Surroundings(layout, ruler, copybooks)
        self.limit = ruler.limit - overhead.reserve_tokens
        self.overhead = overhead.frame_tokens + sum(ruler.whole(text) for text in overhead.texts)

    @cached_property
    def lines(self) -> list[float]:
        """Tokens that each line of the file adds to a chunk."""
        return self._ruler.lines([self._view.line(number) for number in range(1, self._source.lines + 1)])

    @cached_property
    def gap(self) -> float:
        """Additional tokens of a chunk for each run of lines that it has."""
        return self._ruler.lines([f"{wording.GAP}\n"])[0]

    @cached_property
    def most(self) -> float:
        """Tokens of lines that a chunk has room for if no context is shown."""
        # With room for the notes that say what is left out: a prompt without context has them, too.
        bare = self.overhead + self._ruler.whole(self._view.frame) + self.gap + self._least
        return float(self.limit - bare)

    @property
    def tight(self) -> float:
        """Tokens of lines that a chunk has room for with half of the intended context."""
        return self.most - self._context / 2

    @property
    def planned(self) -> float:
        """Tokens of lines that a chunk has room for with all of its context."""
        return self.most - self._context

    @cached_property
    def _least(self) -> float:
        return self._view.least

    @cached_property
    def _share(self) -> float:
        return self._ruler.limit / CONTEXT_SHARE - self._ruler.whole(self._view.head)

    @property
    def _context(self) -> float:
        return min(self._share, self.most * _CONTEXT_OF_ROOM)

    def whole(self) -> MeasuredChunk:
        """Return the prompt of the whole file."""
        text = self._view.whole()
        return MeasuredChunk(self.overhead + self._ruler.whole(text), self._tokens([(1, self._source.lines)]), text, ())

    def measured(self, spans: Sequence[Span], size: float) -> MeasuredChunk:
        """Return some lines with as much context as there is room for; less if the prompt exceeds what its lines promised."""
        # Sizes of parts do not add up to the size of the whole: the prompt is made and counted, and the excess is taken from the
        # context. Each turn takes at least one token from its room, so this ends.
        room = min(self._share, self.most - size + self._least)
        while True:
            text, context_spans = self._view.prompt(spans, room)
            total = self.overhead + self._ruler.whole(text)
            if total <= self.limit or room <= self._least:
                return MeasuredChunk(total, self._tokens(spans), text, context_spans)
            room -= total - self.limit

    def digest(self, spans: Sequence[Span]) -> str:
        """Return a hash of the lines and of the data that they use."""
        return self._view.digest(spans)

    def _tokens(self, spans: Sequence[Span]) -> int:
        return self._ruler.whole(text_of(self._source, spans))


def text_of(source: ScannedSource, spans: Sequence[Span]) -> str:
    """Return the text of some lines as in the file."""
    return b"".join(source.bytes_of(first, last) for first, last in spans).decode(source.encoding, "replace")

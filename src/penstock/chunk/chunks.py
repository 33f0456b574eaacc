"""What goes into one prompt? The values: a chunk, and the plan of all chunks of a file.

Lines are 1-based and inclusive, and are those of the original file. Law: the spans of all chunks of a plan partition the lines of
the file; each chunk is within the budget, or `fits` is false and it is a single statement or line that cannot be divided.
Leaves to others: how it is decided (`cobol`, `general`), and what a prompt looks like (`context`).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Span = tuple[int, int]
Kind = Literal["whole", "header", "data", "procedure", "part", "other"]
"""`part`: part of one unit above the budget; `header`: the divisions before the data; `other`: none of these, or not COBOL."""

_FAR = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Some lines of a file: those of `spans`, which may have gaps. `context_spans` are lines shown around them, not its own.

    `tokens` are those of its lines in the file, in the unit of the budget; `prompt_tokens` those of the whole prompt, None if
    none was asked for or none can be sent. `digest` covers everything that an answer depends on except line numbers.
    """

    id: str
    kind: Kind
    spans: tuple[Span, ...]
    context_spans: tuple[Span, ...] = ()
    tokens: int
    prompt_tokens: int | None = None
    units: tuple[str, ...] = ()
    fits: bool = True
    digest: str = ""

    def __contains__(self, line: int) -> bool:
        return holds(self.spans, line)

    def to_dict(self) -> dict[str, object]:
        """Return the chunk as JSON."""
        return {
            "id": self.id,
            "kind": self.kind,
            "spans": [list(span) for span in self.spans],
            "context_spans": [list(span) for span in self.context_spans],
            "tokens": self.tokens,
            "prompt_tokens": self.prompt_tokens,
            "units": list(self.units),
            "fits": self.fits,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """What every prompt holds besides the source: instructions and schema, and the frame that a provider puts around them.

    `reserve_tokens` are kept free in each prompt, for what is only known once the chunks are.
    """

    texts: tuple[str, ...] = ()
    frame_tokens: int = 12  # two messages of 3 to 5 tokens each, and the start of the reply
    reserve_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPlan:
    """All chunks of a file, in the order of their first lines, and what was decided.

    `edges` are the PERFORMs within the file's programs, `kept_edges` those whose whole range is in the chunk of the caller.
    `minimum_calls` is the fewest possible, whatever the cuts: by the tokens of the source in what the overhead leaves of the
    budget, and by the number of paragraphs if that is limited. `assignment` gives the chunk of each unit: pass it to the next
    plan as `previous`.
    """

    lines: int
    budget_tokens: int
    chunks: tuple[Chunk, ...]
    kept_edges: int = 0
    edges: int = 0
    minimum_calls: int = 0
    overhead_tokens: int = 0
    decisions: tuple[str, ...] = ()
    assignment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    prompts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    """By id: what is sent for a chunk after the overhead; only if the budget was one for prompts."""

    def to_dict(self) -> dict[str, object]:
        """Return the plan as JSON."""
        return {
            "lines": self.lines,
            "budget_tokens": self.budget_tokens,
            "chunks": [chunk.to_dict() for chunk in self.chunks],
            "kept_edges": self.kept_edges,
            "edges": self.edges,
            "minimum_calls": self.minimum_calls,
            "overhead_tokens": self.overhead_tokens,
            "decisions": list(self.decisions),
        }


def holds(spans: Sequence[Span], line: int) -> bool:
    """Return whether a line is in one of the spans, which are in order."""
    # `_FAR` sorts after the end of every span that begins in this line.
    at = bisect_right(spans, (line, _FAR)) - 1
    return at >= 0 and line <= spans[at][1]


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans sorted, with adjacent ones merged."""
    made: list[Span] = []
    for first, last in sorted(spans):
        # One line more: adjacent spans have no line between them and are one.
        if made and made[-1][1] + 1 >= first:
            made[-1] = (made[-1][0], max(last, made[-1][1]))
        else:
            made.append((first, last))
    return tuple(made)

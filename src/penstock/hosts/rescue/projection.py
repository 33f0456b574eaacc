"""What would the host send next? The messages of a session that are in force, and what is known of their size.

Law: however long the session, no more than one request is held. Leaves to others: what to do about it (`shrinking`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from penstock import overflow
from penstock.inspection.timeline import Answered, Compacted, Instructed, Refused, Said

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.inspection.timeline import Happening


class Measured(NamedTuple):
    """A provider's count of a request."""

    input_tokens: int
    """The whole input: messages, instructions, tools."""
    said: int
    """How many of the messages in force it counted."""


@dataclass(slots=True)
class Projection:
    """The next request of a session, as far as its record shows."""

    said: list[Said] = field(default_factory=list)
    """The messages to send, in order."""
    instructed: Instructed = field(default_factory=Instructed)
    """Instructions and tools that accompany the messages of the next request."""
    measured: list[Measured] = field(default_factory=list)
    """A provider's figures for the messages in force, oldest first; a compaction discards earlier ones."""
    first: tuple[int, tuple[Said, ...]] = (0, ())
    """A provider's first figure, and the messages that it counted: the overhead outlives every compaction."""
    answered_said: int = 0
    """How many of `said` were in a request that was answered."""
    refused: list[Refused] = field(default_factory=list)
    """Refusals since the last answer, and since the last compaction."""
    limits: list[int] = field(default_factory=list)
    """The limits in tokens that refusals named since the last answer."""
    has_compacted: bool = False
    """Whether a session was compacted since its last answer."""
    window_tokens: int | None = None
    """The model's window, if the host records it."""
    model: str = ""


def project(happenings: Iterable[Happening]) -> Projection:
    """Return the next request of a session with these happenings."""
    made = Projection()
    for one in happenings:
        if isinstance(one, Said):
            made.said.append(one)
        elif isinstance(one, Instructed):
            made.instructed = Instructed(
                made.instructed.system if one.system is None else one.system,
                made.instructed.tools if one.tools is None else one.tools,
            )
        elif isinstance(one, Answered):
            made.model = one.model or made.model
            made.window_tokens = one.window_tokens or made.window_tokens
            made.refused.clear()
            made.limits.clear()
            made.has_compacted = False
            made.answered_said = len(made.said)
            if one.input_tokens and made.said:
                made.measured.append(Measured(one.input_tokens, len(made.said)))
                made.first = made.first if made.first[0] else (one.input_tokens, tuple(made.said))
        elif isinstance(one, Refused):
            made.refused.append(one)
            told = overflow.parse(one.words)
            if told is not None and told.limit and told.unit == "tokens":
                made.limits.append(told.limit)
        elif isinstance(one, Compacted):
            made.said.clear()
            made.refused.clear()
            made.measured.clear()
            made.answered_said = 0
            made.has_compacted = True
    return made

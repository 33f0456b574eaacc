"""What would the host send next? The messages of a session that are in force, and what is known of their size.

Law: of a session of any length no more is held than one request. Keeps out: what should be done about it (`shrinking`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from penstock import overflow
from penstock.inspection.happenings import Answered, Compacted, Instructed, Refused, Said

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.inspection.happenings import Happening


class Measured(NamedTuple):
    """What a provider counted of a request."""

    input_tokens: int
    """All that it read: messages, instructions, tools."""
    said: int
    """How many of the messages in force it counted."""


@dataclass(slots=True)
class Projection:
    """The next request of a session, as far as its record shows."""

    said: list[Said] = field(default_factory=list)
    """What goes, in order."""
    instructed: Instructed = field(default_factory=Instructed)
    """Instructions and tools that go beside the messages of the next request."""
    measured: list[Measured] = field(default_factory=list)
    """A provider's figures of what is in force, oldest first; what it counted before a compaction is gone with that."""
    first: tuple[int, tuple[Said, ...]] = (0, ())
    """The first figure of a provider, and the messages that it counted: what goes beside them outlives every compaction."""
    answered_said: int = 0
    """How many of `said` went with a request that was answered."""
    refused: list[Refused] = field(default_factory=list)
    """What was refused since the last answer, and since the last compaction."""
    limits: list[int] = field(default_factory=list)
    """The limits that refusals named in tokens since the last answer."""
    has_compacted: bool = False
    """Whether a session was compacted since its last answer."""
    window_tokens: int | None = None
    """How much the model can hold, where the host notes it."""
    model: str = ""


def project(happenings: Iterable[Happening]) -> Projection:
    """Return the next request of the session in which these happened."""
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

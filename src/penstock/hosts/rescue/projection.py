"""What would the host send next? The messages of a session that are in force, and what is known of their size.

Law: of a session of any length no more is held than one request. Keeps out: what should be done about it (`shrinking`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock import overflow
from penstock.inspection.happenings import Answered, Compacted, Instructed, Refused, Said

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.inspection.happenings import Happening


@dataclass(slots=True)
class Projection:
    """The next request of a session, as far as its record shows."""

    said: list[Said] = field(default_factory=list)
    """What goes, in order."""
    instructed: Instructed = field(default_factory=Instructed)
    """What goes beside it."""
    measured: Answered | None = None
    """The newest figures of a provider; None where no record has any that are a measurement."""
    measured_said: int = 0
    """How many of `said` they counted; 0 where what they counted is gone since."""
    refused: list[Refused] = field(default_factory=list)
    """What was refused since the last answer."""
    has_compacted: bool = False
    """Whether there was a compaction since the last answer."""
    window_tokens: int | None = None
    """How much the model can hold, where the host notes it."""
    model: str = ""

    @property
    def limits(self) -> list[int]:
        """The limits that refusals named in tokens, those of answered requests too."""
        found = (overflow.parse(one.words) for one in self.refused)
        return [one.limit for one in found if one is not None and one.limit and one.unit == "tokens"]


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
            made.has_compacted = False
            if one.input_tokens:
                made.measured, made.measured_said = one, len(made.said)
        elif isinstance(one, Refused):
            made.refused.append(one)
        elif isinstance(one, Compacted):
            made.said.clear()
            made.measured_said = 0
            made.has_compacted = True
    return made

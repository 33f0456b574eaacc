"""What does a session ask its driver for? The steps; each is answered by an event.

Leaves to others: how steps are carried out (`agent`), and when each is due (`decisions`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from penstock.context.compaction import Plan
    from penstock.context.handoff import Handoff
    from penstock.wires import ToolCall, Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class Await:
    """Nothing to do until the user says something. Answered by `Prompted`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Send the transcript to the model. Answered by `Replied`, `Refused` or `Failed`."""

    transcript: Transcript
    """What to send, as it is shown: `dump_request` makes it a body."""
    reserve_tokens: int
    """The largest reply to ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Run these calls, all of them, then report together. Answered by `Returned`."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """Apply a plan, and keep what it removes from view under handles. Answered by `Compacted`."""

    plan: Plan
    strategy: str
    """The deepest strategy of the plan, to be repeated in the event."""
    reserve_tokens: int | None = None
    """The reply to ask for from now on, if a refusal lowered it; None keeps the configured one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarise:
    """Ask a model with this prompt and nothing else. Answered by `Summarised`, with None if it failed."""

    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOff:
    """Write this handoff, then start afresh with what it says. Answered by `HandedOff`."""

    handoff: Handoff
    reason: str
    """Why: `turns`, `context`, `domain` or `errors`."""
    evidence: str
    """Why the handoff is due, with its number."""
    max_tokens: int
    """How many tokens the text that the fresh transcript begins with may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Send nothing before a time. Answered by `Ticked`."""

    until_seconds: float
    """When something may be sent again, on the clock of `Ticked`."""
    why: str
    """Why nothing is sent, for the person who waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The work ended. `Prompted` continues it nevertheless; `Closed` records that it ended."""

    reason: str
    """One word for programs: `errors`, `irreducible`, `loop`, the kind of a failure, or what `Closed` said."""
    message: str
    """What happened and what to do, for the person."""


Step: TypeAlias = Await | Ask | Call | Compact | Summarise | HandOff | Wait | Stop
"""Any step that `Session.next_step` may return."""

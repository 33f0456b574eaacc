"""What next? The steps that a session asks its driver for; each is answered by an event.

Keeps out: how they are carried out (agent).
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
    """Nothing to do until the user says something: `Prompted`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Send what the transcript shows, asking for at most so much of reply: `Replied`, `Refused` or `Failed`."""

    transcript: Transcript
    reserve_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Run these calls, all of them: `Returned`."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """Apply this plan and keep what it takes from view: `Compacted`."""

    plan: Plan
    strategy: str
    reserve_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarise:
    """Ask a model with this prompt: `Summarised`, with None where it failed."""

    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOff:
    """Write this handoff, then begin afresh with what it says: `HandedOff`."""

    handoff: Handoff
    reason: str
    evidence: str
    max_tokens: int
    """What the text may take with which the fresh transcript begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Nothing may be sent before then: `Ticked`."""

    until_seconds: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The work ended; `message` is for the person. `Prompted` goes on all the same, `Closed` writes down that it ended."""

    reason: str
    message: str


Step: TypeAlias = Await | Ask | Call | Compact | Summarise | HandOff | Wait | Stop

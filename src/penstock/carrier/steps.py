"""What passes between a course and its driver? The settings, what to send or to ask, and the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.context.recovery import MAX_CALLS
from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.context.provider_counts import Observation
    from penstock.overflow import RefusalRule
    from penstock.store import Store
    from penstock.text.calls import Dialect
    from penstock.text.json_access import Json
    from penstock.text.tokens import TokenCounter


class Send(NamedTuple):
    """A step of the course: send this request with the caller's function."""

    request: Json


class SummaryRequest(NamedTuple):
    """A step of the course: ask the caller's model for a summary."""

    prompt: str


class SendOutcome(NamedTuple):
    """The outcome of a step: a value, or the error that the caller's function raised."""

    value: Any = None
    error: Exception | None = None
    body: Json = None
    """The answer as JSON, if known; for a stream that is still running it comes at the end."""
    is_stream: bool = False
    told: object = None
    """What to diagnose in place of the error: the error itself, or its body if that had to be read."""


@dataclass(kw_only=True)
class CarrySettings:
    """The settings that a request is carried with; `execute` describes each.

    Raises:
        CallerError: for calls or a window below 1.
    """

    wire: str
    window_tokens: int
    max_calls: int = MAX_CALLS
    store: Store | None = None
    counter: TokenCounter | None = None
    rules: Sequence[RefusalRule] = ()
    session_id: str = ""
    dialect: Dialect | None = None
    can_summarise: bool = False
    """Whether a step may be a `SummaryRequest`."""
    known: tuple[Observation, ...] = ()
    """What this provider said of earlier requests, as a carrier remembers it, oldest first."""
    taken_tokens: int = 0
    """The largest input that the provider has reported before."""
    headroom_share: float = 0.0
    """The share of the room left free when a request is cut before sending, so that the next requests need no cut."""
    is_forwarded: bool = False
    """Whether the request is somebody else's and is sent as it came, unrepaired, unless it has to shrink."""

    def __post_init__(self) -> None:
        if type(self.max_calls) is not int or self.max_calls < 1:
            raise CallerError(f"max_calls is a whole number from 1 on, not {self.max_calls!r}")
        if type(self.window_tokens) is not int or self.window_tokens < 1:
            raise CallerError(f"window_tokens is a whole number from 1 on, not {self.window_tokens!r}")

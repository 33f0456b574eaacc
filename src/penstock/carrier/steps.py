"""What goes to and fro between a course and who drives it: the settings, what to send or to ask, and what came of it."""

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
    """What came of a step: a value, or the error that the caller's function raised."""

    value: Any = None
    error: Exception | None = None
    body: Json = None
    """The answer as JSON, where it is known: of a stream that goes on it comes when it has ended."""
    is_stream: bool = False
    told: object = None
    """What tells what the error says: the error itself, or its body where that had to be read."""


@dataclass(kw_only=True)
class CarrySettings:
    """What a request is carried with; `execute` says what each is.

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
    """What this provider said of requests before, as a carrier remembers it, oldest first."""
    taken_tokens: int = 0
    """The most input that it has reported before."""
    headroom_share: float = 0.0
    """How much of the room is left free where a request is cut before it is sent, so that the next ones need no cut."""
    is_forwarded: bool = False
    """Whether the request is somebody else's, to be sent as it came unless it has to shrink: what is not valid is not mended."""

    def __post_init__(self) -> None:
        if type(self.max_calls) is not int or self.max_calls < 1:
            raise CallerError(f"max_calls is a whole number from 1 on, not {self.max_calls!r}")
        if type(self.window_tokens) is not int or self.window_tokens < 1:
            raise CallerError(f"window_tokens is a whole number from 1 on, not {self.window_tokens!r}")

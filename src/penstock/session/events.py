"""What happened? The events that a session is fed, each a value that JSON can hold.

Replaying them rebuilds an equal session: nothing that a session decides on comes from anywhere else, time included.
Keeps out: what follows from them (`state`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

from penstock.errors import CallerError
from penstock.text.json_access import copied

if TYPE_CHECKING:
    from penstock.text.json_access import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompted:
    """The user said something: a message of the session's wire."""

    message: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """The model answered: the messages or items of its answer, and the tokens that the provider reports."""

    messages: tuple[Json, ...]
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one call ended. `digest` stands for its result: the same digest is the same result."""

    call_id: str
    failed: bool = False
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """The results of all open calls: the messages that hold them, and how each call ended."""

    messages: tuple[Json, ...]
    outcomes: tuple[Outcome, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The provider refused a request as too large; the fields are those of `penstock.overflow.Overflow`."""

    overflow: dict[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The provider failed otherwise: the kind as `penstock.overflow.diagnose` names it."""

    kind: str
    message: str = ""
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """Something was forgotten: the edits of the transcript as they were made, handles included."""

    edits: tuple[dict[str, Json], ...]
    strategy: str = ""
    reserve_tokens: int | None = None
    """Of the reply until something else is forgotten, where a refusal lowered it; None is as configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarised:
    """A model was asked for a summary; None where it failed."""

    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOff:
    """A handoff was written, and a fresh transcript begins with `text`."""

    handoff: dict[str, Json]
    text: str
    reason: str
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """The todo list changed: `action` is `add`, `done` or `drop`."""

    action: str
    title: str
    priority: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Intended:
    """Something with an effect is about to be done. Without an `Effected` it is unknown whether it was."""

    effect_id: str
    kind: str
    what: str
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effected:
    """It was done, or it failed without an effect."""

    effect_id: str
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticked:
    """It is now so late: seconds of any clock that does not go back within a session."""

    now_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """The person stopped the work; open calls were not run to their end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The session is over."""

    reason: str


Event: TypeAlias = (
    Prompted
    | Replied
    | Returned
    | Refused
    | Failed
    | Compacted
    | Summarised
    | HandedOff
    | Noted
    | Intended
    | Effected
    | Ticked
    | Interrupted
    | Closed
)
_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Prompted,
        Replied,
        Returned,
        Refused,
        Failed,
        Compacted,
        Summarised,
        HandedOff,
        Noted,
        Intended,
        Effected,
        Ticked,
        Interrupted,
        Closed,
    )
}


def name_of(event: Event) -> str:
    """What the journal calls it."""
    return type(event).__name__


def to_dict(event: Event) -> dict[str, Json]:
    """The event as JSON; `event_of` gives an equal one."""
    made: dict[str, Json] = {}
    for known in fields(event):
        value = getattr(event, known.name)
        if isinstance(value, tuple):
            value = [to_dict_of(item) for item in value]
        made[known.name] = copied(value)
    return made


def to_dict_of(item: Json) -> Json:
    return {known.name: getattr(item, known.name) for known in fields(item)} if isinstance(item, Outcome) else item


def event_of(name: str, data: dict[str, Json]) -> Event:
    """The event that the journal holds under that name. Raises `CallerError` for what is none."""
    kind = _KINDS.get(name)
    if kind is None:
        raise CallerError(f"{name!r} is no event of a session; there are {', '.join(_KINDS)}")
    try:
        values = {
            key: tuple(value) if isinstance(value, list) and key in _ROWS else value for key, value in data.items()
        }
        if "outcomes" in values:
            values["outcomes"] = tuple(Outcome(**item) for item in values["outcomes"])
        made: Event = kind(**values)
    except TypeError as error:
        raise CallerError(f"this is no {name} that was written whole: {error}") from error
    return made


_ROWS = {"messages", "edits", "outcomes"}

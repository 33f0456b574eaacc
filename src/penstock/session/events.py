"""What happened? The events that a session is fed, each a value that JSON can hold.

Law: replaying a journal's events rebuilds an equal session (S-12), because a session decides on nothing else, time included.
Leaves to others: what follows from an event (`state`).
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
    """The user said something."""

    message: Json
    """The message, in the form of the session's wire; it must contain words of the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """The model answered."""

    messages: tuple[Json, ...]
    """The messages or items of the one answer, as the wire has them: reasoning, text and calls together."""
    input_tokens: int | None = None
    """Input tokens as the provider reports them; None if it does not."""
    output_tokens: int | None = None
    """Output tokens as the provider reports them; None if it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one call ended."""

    call_id: str
    failed: bool = False
    """Whether a call did not do what it was asked to do."""
    is_refusal: bool = False
    """Whether a call failed because Penstock refused it, which does not count as a mistake (S-11)."""
    digest: str = ""
    """A fingerprint of the result: equal digests mean equal results. Empty if the result says nothing about progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """All open calls were run."""

    messages: tuple[Json, ...]
    """The messages that hold the results, in the form of the wire; every open call has one."""
    outcomes: tuple[Outcome, ...] = ()
    """How each call ended, for errors and loops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The provider refused the request as too large."""

    overflow: dict[str, Json]
    """What the refusal said, as the fields of `penstock.overflow.Overflow`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The provider failed for another reason than size."""

    kind: str
    """The kind as `penstock.overflow.diagnose` names it; `settings` for a connection that no later try can make."""
    message: str = ""
    retry_after_seconds: float | None = None
    """How long the provider asks to wait; None if it does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """Something was forgotten, by a plan of the session or to cure a refusal."""

    edits: tuple[dict[str, Json], ...]
    """The edits of the transcript as they were made, including handles of what was kept."""
    strategy: str = ""
    """The deepest strategy that was used, for statistics."""
    reserve_tokens: int | None = None
    """The reply to ask for until something else is forgotten, if a refusal lowered it; None keeps the configured one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarised:
    """A model was asked for a summary."""

    text: str | None
    """The summary in the model's words; None if the call failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOff:
    """A handoff was written, and a fresh transcript begins."""

    handoff: dict[str, Json]
    """The handoff in its JSON form."""
    text: str
    """What the fresh transcript begins with: the handoff in words."""
    reason: str
    """Why: the kind of the boundary, or `manual`."""
    evidence: str = ""
    """The evidence, for the record: `52 turns`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """The todo list changed."""

    action: str
    """`add`, `done` or `drop`."""
    title: str
    """The item: a title is the identity of an item."""
    priority: int = 2
    """1 comes before 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intended:
    """Something with an effect is about to be done. Until an `Effected` follows, it is unknown whether it was done."""

    effect_id: str
    kind: str
    what: str
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effected:
    """What was intended was done, or failed without an effect."""

    effect_id: str
    """The id of the `Intended` that it answers."""
    digest: str = ""
    """The digest of what is there now; empty keeps that of the intent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticked:
    """Time has passed."""

    now_seconds: float
    """Seconds of any clock that does not go back within a session; only differences count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """The person stopped the work; open calls were not run to their end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The session is over; another prompt may still reopen it."""

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
"""Any event that `Session.feed` takes."""
# A table, not a look-up among the module's names: a journal is data, and may name only these.
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
    """Return the name under which a journal keeps an event."""
    return type(event).__name__


def to_dict(event: Event) -> dict[str, Json]:
    """Return an event as JSON that shares nothing with it; `event_of` restores an equal one."""
    made: dict[str, Json] = {}
    for known in fields(event):
        value = getattr(event, known.name)
        if isinstance(value, tuple):
            value = [to_dict_of(item) for item in value]
        made[known.name] = copied(value)
    return made


def to_dict_of(item: Json) -> Json:
    """Return one item of a tuple as JSON; all but an `Outcome` are JSON already."""
    return {known.name: getattr(item, known.name) for known in fields(item)} if isinstance(item, Outcome) else item


def event_of(name: str, data: dict[str, Json]) -> Event:
    """Return the event that a journal holds.

    Args:
        name: what `name_of` returned.
        data: what `to_dict` returned.

    Raises:
        CallerError: for an unknown event, or data that was not written completely.
    """
    kind = _KINDS.get(name)
    if kind is None:
        raise CallerError(f"{name!r} is not an event of a session; there are {', '.join(_KINDS)}")
    try:
        # JSON has no tuples; only these fields are tuples, and lists inside a message stay lists.
        held: dict[str, Any] = data
        values = {key: tuple(value) if key in _ROWS else value for key, value in held.items()}
        if "outcomes" in values:
            values["outcomes"] = tuple(Outcome(**item) for item in values["outcomes"])
        made: Event = kind(**values)
    except TypeError as error:
        raise CallerError(f"this is no {name} that was written whole: {error}") from error
    return made


_ROWS = {"messages", "edits", "outcomes"}

"""What happened in a session? One thing after another, whoever recorded it.

A reader yields happenings in the order on which the next request depends: the provider gets everything `Said` since the last
`Compacted`. So a reader repeats what survives a compaction, and omits what a person took back. A request's figures (`Answered`)
come before the words of its answer: they count everything said before them. Leaves to others: how any record looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from penstock.overflow import Overflow
    from penstock.text.json_access import Json


class Place(NamedTuple):
    """Where in a file a record is."""

    start_byte: int
    end_byte: int
    """The first byte after it and its line feed."""


NOWHERE = Place(0, 0)
"""The place of what is in no file."""


class Instructed(NamedTuple):
    """What accompanies every request besides its messages, as far as it is recorded; it replaces what was in force before."""

    system: str | None = None
    """The instructions; None if they are not recorded."""
    tools: tuple[Json, ...] | None = None
    """The tools' definitions as they were sent; None if they are not recorded."""


class Said(NamedTuple):
    """A message, or a block of one, that goes to the provider from here on until a compaction."""

    message: Json
    """The message, in the wire's form."""
    place: Place = NOWHERE
    at: str = ""
    """The time of a message, as the record writes it."""
    by_host: bool = False
    """Whether the host itself wrote a message, in a person's name or in its own: a note, a summary, an environment."""
    again: bool = False
    """Whether a message was said before, and stays after a compaction."""
    is_summary: bool = False
    """Whether a message replaces what a compaction removed."""
    part_of: str = ""
    """The id of the message that it is a block of, if each block is recorded separately; blocks of one id are consecutive, except
    for results of calls among them.
    """
    typed: str | None = None
    """The words of a message that a person typed, if the host adds its own words around them; else None."""


class Answered(NamedTuple):
    """What the provider counted of a request, before the words of its answer; None for what is not recorded."""

    input_tokens: int | None
    """Everything that it read, from a cache or not."""
    output_tokens: int | None = None
    cached_tokens: int | None = None
    """The part of the input that came from a cache."""
    cache_write_tokens: int | None = None
    """The part of the input that was written to a cache."""
    window_tokens: int | None = None
    """How much the model can hold, if the host records it."""
    model: str = ""
    at: str = ""
    hour_write_tokens: int | None = None
    """The part of `cache_write_tokens` that stays in the cache for an hour, which costs more."""


class Refused(NamedTuple):
    """What a provider said instead of an answer."""

    words: str
    """The words of the provider that refused, or the host's if it keeps only those."""
    place: Place = NOWHERE
    at: str = ""
    overflow: Overflow | None = None
    """The interpretation of the words, if a record keeps that instead of them."""


class Compacted(NamedTuple):
    """Everything said so far is gone; what remains of it is said again after this."""

    before_tokens: int | None = None
    """Tokens in the context before a compaction, if the host records them."""
    by_hand: bool | None = None
    """Whether a person requested the compaction; None if that is not recorded."""
    place: Place = NOWHERE
    at: str = ""
    is_handoff: bool = False
    """Whether a compaction is a fresh start with a handoff, which is said after this."""


Happening: TypeAlias = Instructed | Said | Answered | Refused | Compacted

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
    """Where in a file a record stands."""

    start_byte: int
    end_byte: int
    """The first byte behind it, its line feed included."""


NOWHERE = Place(0, 0)
"""The place of what stands in no file."""


class Instructed(NamedTuple):
    """What goes with every request beside its messages, as far as it is recorded; it replaces what was so before."""

    system: str | None = None
    """The instructions; None where nothing is recorded of them."""
    tools: tuple[Json, ...] | None = None
    """The tools' definitions as they were sent; None where nothing is recorded of them."""


class Said(NamedTuple):
    """A message, or a block of one, that goes to the provider from here on until a compaction."""

    message: Json
    """The message, as the wire has it."""
    place: Place = NOWHERE
    at: str = ""
    """When a message was said, as the record writes it."""
    by_host: bool = False
    """Whether the host says a message by itself, in a person's name or in its own: a note, a summary, an environment."""
    again: bool = False
    """Whether a message was said before, and stays after a compaction."""
    is_summary: bool = False
    """Whether a message stands for what a compaction took."""
    part_of: str = ""
    """The id of the message that it is a block of, where each block is recorded for itself; blocks of one id follow each other, but
    for the results of calls among them."""
    typed: str | None = None
    """The words of a message that a person typed, where the host puts words of its own around them; None where it does not."""


class Answered(NamedTuple):
    """What the provider counted of a request, before the words of its answer; None for what is not recorded."""

    input_tokens: int | None
    """All that it read, from a cache or not."""
    output_tokens: int | None = None
    cached_tokens: int | None = None
    """What of the input came from a cache."""
    cache_write_tokens: int | None = None
    """What of the input was put into one."""
    window_tokens: int | None = None
    """How much the model can hold, where the host notes it beside."""
    model: str = ""
    at: str = ""
    hour_write_tokens: int | None = None
    """What of `cache_write_tokens` stays in the cache for an hour, which costs more."""


class Refused(NamedTuple):
    """What a provider said in place of an answer."""

    words: str
    """The words of a provider that refused, or the host's where it keeps only those."""
    place: Place = NOWHERE
    at: str = ""
    overflow: Overflow | None = None
    """What was read of the words, where a record keeps that in their place."""


class Compacted(NamedTuple):
    """Everything said so far is gone; what stays of it is said again behind this."""

    before_tokens: int | None = None
    """Tokens in the context before a compaction, where the host notes them."""
    by_hand: bool | None = None
    """Whether a person asked for the compaction; None where that is not recorded."""
    place: Place = NOWHERE
    at: str = ""
    is_handoff: bool = False
    """Whether a compaction is a fresh start with a handoff, which is said behind this."""


Happening: TypeAlias = Instructed | Said | Answered | Refused | Compacted

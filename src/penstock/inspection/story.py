"""What is the story of a session made of? Its turns, what filled them, what was waste, what was refused and what was forgotten.

Law: the kinds of a turn add up to its tokens; the tokens of a turn are those of the request that its answer answered. Leaves to
others: how a story is found (`telling`) and drawn (`page`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from penstock.inspection.timeline import NOWHERE, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = (
    "instructions",
    "tool definitions",
    "summary",
    "host",
    "user",
    "assistant",
    "reasoning",
    "calls",
    "results",
    "media",
    "unrecorded",
)
"""What a request is made of, in drawing order: what stays is below what comes and goes. `host` is what the host itself says;
`unrecorded` is what the provider counted and no record shows, such as instructions that the host does not keep.
"""


State: TypeAlias = Literal["empty", "open", "refused", "stuck"]
"""`stuck`: the newest request was refused for its size; `refused`: for something else; `empty`: there was none; else `open`."""


class Subject(NamedTuple):
    """Which session a story is about; fields are empty if its record does not say."""

    host: str
    """The host of a session, such as `claude`; `penstock` for our own."""
    session: str
    """The id by which it is resumed."""
    project: str = ""
    """The folder that it works in."""
    path: str = ""
    """The file that records it."""
    updated: str = ""
    """When a session's record was last written, as RFC 3339 in UTC."""
    version: str = ""
    """The version of the host."""
    size_bytes: int | None = None
    """The length of the file."""


class FillTurn(NamedTuple):
    """A request that was answered or refused, and what filled it."""

    number: int
    """The number of the request among the turns, from 1."""
    tokens: int
    """The size of the whole request: the provider's figure if it was measured, else our count."""
    by_kind: Mapping[str, int]
    """Tokens of a request by kind; zeros are omitted."""
    counted_tokens: int
    """Our count of what is recorded, without correction or anything that no record shows."""
    recorded_tokens: int | None = None
    """What the provider counted according to the record, measured or not; None if it says nothing."""
    is_measured: bool = False
    """Whether the recorded figure is a measurement: not zero, not made up by the host, not simply the window."""
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    model: str = ""
    at: str = ""
    is_refused: bool = False
    hour_write_tokens: int | None = None
    """The part of `cache_write_tokens` that stays in the cache for an hour."""


class Item(NamedTuple):
    """One item that was in the window."""

    kind: str
    """One of `KINDS`."""
    name: str
    """The tool of a result or call; else empty."""
    what: str
    """The subject of an item, for a person: the path, the command, the first words."""
    tokens: int
    turn: int
    """The first request that held it."""
    requests: int
    """How many requests it was part of."""
    place: Place = NOWHERE


class Reread(NamedTuple):
    """A question asked of a tool more than once, with the same answer."""

    name: str
    what: str
    times: int
    tokens: int
    """What all but the first took."""


class RepeatedError(NamedTuple):
    """A tool that failed in the same words more than once."""

    name: str
    words: str
    times: int


class UnusedTool(NamedTuple):
    """A tool that was sent with every request and never called."""

    name: str
    tokens: int
    """The size of its definition, counted once."""


class CompactedAway(NamedTuple):
    """A compaction and what it cost."""

    turn: int
    """The last request before it; 0 if there was none."""
    before_tokens: int
    after_tokens: int
    by_kind: Mapping[str, int]
    """What was removed, by kind."""
    needed_again: tuple[Reread, ...] = ()
    """What a tool was asked again after it, although it had been in the window before."""
    by_hand: bool | None = None
    at: str = ""
    is_handoff: bool = False
    """Whether a session started afresh with a handoff."""


class RefusedTurn(NamedTuple):
    """A request that a provider refused."""

    turn: int
    """The number of a refused request among the turns."""
    words: str
    """The provider's own words, or the host's if it keeps only those."""
    kind: str
    """The reason of a refusal: a kind of `overflow.diagnose`, such as `context_input`."""
    limit_tokens: int | None = None
    """The limit named in the words."""
    input_tokens: int | None = None
    """The size named in the words."""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waste:
    """What was in the window unnecessarily."""

    floods: tuple[Item, ...] = ()
    """Results of at least a twentieth of the window each, largest first."""
    rereads: tuple[Reread, ...] = ()
    repeated_errors: tuple[RepeatedError, ...] = ()
    unused_tools: tuple[UnusedTool, ...] = ()
    unsent_bytes: Mapping[str, int] = field(default_factory=dict)
    """The parts of the file that go to no provider, by kind of record, including copies of what was sent."""


class Money(NamedTuple):
    """Roughly what a session cost at list prices; never a bill."""

    dollars: float
    uncached_dollars: float
    """What the same requests would have cost without a cache."""
    priced_turns: int
    """How many turns have a price; for the others the model, or what they took, is unknown."""
    as_of: str
    """The date of the prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Where the context of one session went."""

    turns: tuple[FillTurn, ...] = ()
    window_tokens: int | None = None
    """How much the model can hold: as recorded, as named by a refusal, or as given by the caller; None if unknown."""
    window_source: str = ""
    """The source of that figure, for a person."""
    items: tuple[Item, ...] = ()
    """The items that took most, times the requests they were part of; at most 200, most first."""
    by_tool: Mapping[str, int] = field(default_factory=dict)
    """The tokens of all results by tool, each counted once."""
    waste: Waste = field(default_factory=Waste)
    compactions: tuple[CompactedAway, ...] = ()
    refusals: tuple[RefusedTurn, ...] = ()
    money: Money | None = None
    """None if no turn has a price."""
    torn: int = 0
    """Lines of the file that are not records."""
    too_large: int = 0
    """Lines of the file that are too long to be read."""
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Records of unknown kinds, by kind."""
    model: str = ""
    """The model of the newest turn."""

    @property
    def fill(self) -> FillTurn | None:
        """The newest request; None if there was none."""
        return self.turns[-1] if self.turns else None

    @property
    def fullest(self) -> FillTurn | None:
        """The largest request; None if there was none."""
        return max(self.turns, key=lambda turn: turn.tokens, default=None)

    @property
    def state(self) -> State:
        """Whether a session can continue, judged by the outcome of its newest request."""
        if not self.turns:
            return "empty"
        if not self.turns[-1].is_refused:
            return "open"
        return "stuck" if self.refusals[-1].kind.startswith("context_") else "refused"

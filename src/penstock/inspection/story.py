"""What is the story of a session made of? Its turns, what filled them, what was waste, what was refused and what was forgotten.

Law: the kinds of a turn add up to its tokens; the tokens of a turn are those of the request that its answer answered. Leaves to
others: how a story is found (`telling`) and drawn (`page`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from penstock.inspection.happenings import NOWHERE, Place

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
"""What a request is made of, in the order in which it is drawn: what stays lies below what comes and goes. `host` is what the host
says by itself; `unrecorded` is what the provider counted and no record shows, such as instructions that the host does not keep."""


State: TypeAlias = Literal["empty", "open", "refused", "stuck"]
"""`stuck`: the newest request was refused for its size; `refused`: for something else; `empty`: there was none; else `open`."""


class Subject(NamedTuple):
    """Which session it is that is told about; empty where its record does not say."""

    host: str
    """The host of a session, such as `claude`; `penstock` for our own."""
    session: str
    """The id by which it is gone on with."""
    project: str = ""
    """The folder that it works in."""
    path: str = ""
    """The file that records it."""
    updated: str = ""
    """When a session's record was written to last, as RFC 3339 in UTC."""
    version: str = ""
    """The host's."""
    size_bytes: int | None = None
    """The length of the file."""


class FillTurn(NamedTuple):
    """A request that was answered or refused, and what it was full of."""

    number: int
    """The number of the request among the turns, from 1."""
    tokens: int
    """All that it held: the provider's figure where there is a measured one, else our count."""
    by_kind: Mapping[str, int]
    """Tokens of a request by kind; what is zero is left out."""
    counted_tokens: int
    """Our count of what is recorded, with neither a correction nor what no record shows."""
    recorded_tokens: int | None = None
    """What the record says that the provider counted, measured or not; None where it says nothing."""
    is_measured: bool = False
    """Whether the recorded figure is a measurement: no zero, no figure of the host's own making, not simply the window."""
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    model: str = ""
    at: str = ""
    is_refused: bool = False
    hour_write_tokens: int | None = None
    """What of `cache_write_tokens` stays in the cache for an hour."""


class Item(NamedTuple):
    """One thing that stood in the window."""

    kind: str
    """Of `KINDS`."""
    name: str
    """Of a result or call its tool; else empty."""
    what: str
    """The subject of an item, for a person: the path, the command, the first words."""
    tokens: int
    turn: int
    """The first request that held it."""
    requests: int
    """In how many requests it went."""
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
    """A tool that went with every request and was never called."""

    name: str
    tokens: int
    """Of its definition, once."""


class CompactedAway(NamedTuple):
    """A compaction and what it cost."""

    turn: int
    """The last request before it; 0 where there was none."""
    before_tokens: int
    after_tokens: int
    by_kind: Mapping[str, int]
    """What went, by kind."""
    needed_again: tuple[Reread, ...] = ()
    """What was asked of a tool again behind it, although it had stood in the window before."""
    by_hand: bool | None = None
    at: str = ""
    is_handoff: bool = False
    """Whether a session began afresh with a handoff."""


class RefusedTurn(NamedTuple):
    """A request that a provider refused."""

    turn: int
    """The number of a refused request among the turns."""
    words: str
    """The provider's own, or the host's where it keeps only those."""
    kind: str
    """The reason of a refusal: a kind of `overflow.diagnose`, such as `context_input`."""
    limit_tokens: int | None = None
    """The limit that the words name."""
    input_tokens: int | None = None
    """The size that the words name."""
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waste:
    """What stood in the window and need not have."""

    floods: tuple[Item, ...] = ()
    """Results of at least a twentieth of the window each, largest first."""
    rereads: tuple[Reread, ...] = ()
    repeated_errors: tuple[RepeatedError, ...] = ()
    unused_tools: tuple[UnusedTool, ...] = ()
    unsent_bytes: Mapping[str, int] = field(default_factory=dict)
    """What of the file goes to no provider, by kind of record: copies of what was sent among it."""


class Money(NamedTuple):
    """About what a session cost by list prices; never a bill."""

    dollars: float
    uncached_dollars: float
    """What the same requests would have cost without a cache."""
    priced_turns: int
    """How many turns have a price; the others' models, or what they took, are not known."""
    as_of: str
    """The date of the prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Where the context of one session went."""

    turns: tuple[FillTurn, ...] = ()
    window_tokens: int | None = None
    """How much the model can hold: as recorded, as a refusal named it, as the caller said; None where nobody did."""
    window_source: str = ""
    """Who said so, for a person."""
    items: tuple[Item, ...] = ()
    """What took most, times the requests that it went with; at most 200, most first."""
    by_tool: Mapping[str, int] = field(default_factory=dict)
    """The tokens of all results by tool, each counted once."""
    waste: Waste = field(default_factory=Waste)
    compactions: tuple[CompactedAway, ...] = ()
    refusals: tuple[RefusedTurn, ...] = ()
    money: Money | None = None
    """None where no turn has a price."""
    torn: int = 0
    """Lines of the file that are no records."""
    too_large: int = 0
    """Lines of the file that are so long that they were not read."""
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Records of kinds that are not known here, by kind."""
    model: str = ""
    """The newest turn's."""

    @property
    def fill(self) -> FillTurn | None:
        """The newest request; None where there was none."""
        return self.turns[-1] if self.turns else None

    @property
    def fullest(self) -> FillTurn | None:
        """The largest request; None where there was none."""
        return max(self.turns, key=lambda turn: turn.tokens, default=None)

    @property
    def state(self) -> State:
        """Whether a session can go on, by what became of its newest request."""
        if not self.turns:
            return "empty"
        if not self.turns[-1].is_refused:
            return "open"
        return "stuck" if self.refusals[-1].kind.startswith("context_") else "refused"

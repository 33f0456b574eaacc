"""What is known of some sessions? What happened in them, as values, and the figures derived from these.

Facts are in the order of the journals. Sizes are estimates, except those that a provider reported. Times are those of the records:
a pause in which the process did not run looks like a slow answer. Law: the figures of several sessions together are their sum.
Leaves to others: how a journal is read (`figures`), and how figures are shown.
"""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from penstock.session.generated_code import KINDS, Kind, response_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.session.limits import Limits

# Source code usually has 3.6 to 4.6 bytes a token under o200k: with fewer bytes a token, more would have been saved.
BYTES_PER_TOKEN = 4
"""Bytes counted as one token if only the size of a file is known."""
_READING = frozenset({"view", "read_file"})


# ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────────


class TokenSource(NamedTuple):
    """Where tokens come from."""

    name: str
    """`instructions`, `tools`, `user`, `assistant`, `results`, `notes` (placeholders for what was cut) or `handoff` (what a
    fresh start begins with).
    """
    tool: str = ""
    """The tool that returned the results; empty for other sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFlow:
    """How many tokens of one source came in, were cut, and were sent."""

    came_tokens: int = 0
    """How many tokens of a source came into the window."""
    cut_tokens: int = 0
    """How many tokens of a source were removed."""
    sent_tokens: int = 0
    """How many tokens of a source all answered requests sent, each request counted anew."""

    def __add__(self, other: TokenFlow) -> TokenFlow:
        return TokenFlow(
            came_tokens=self.came_tokens + other.came_tokens,
            cut_tokens=self.cut_tokens + other.cut_tokens,
            sent_tokens=self.sent_tokens + other.sent_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """One prompt of the user."""

    session: str
    number: int
    """Counted from 1 within its session."""
    prompt: str
    """The beginning of what the user said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """One answer of the model: what its request took, and how long the answer took."""

    session: str
    number: int
    """The turn of its session."""
    task: int
    """The number of the task that it worked on."""
    request_tokens: int
    """What the request took."""
    is_reported: bool
    """Whether the provider reported the size; else it is our estimate."""
    window_tokens: int
    limits: Limits
    """The session's limits when it asked."""
    seconds: float | None
    """Seconds from the previous record to the answer; None if the clock went back."""
    kind: Kind = "analysis"
    """The kind of work, by what its calls did: `generation` made a file, `refactoring` changed one, `analysis` did neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One page of a file that was shown to the model."""

    session: str
    task: int
    path: str
    version: str
    first_line: int | None
    """The first line shown, 1-based; None if none was."""
    last_line: int | None
    """The last line shown, inclusive; None if none was."""
    size_bytes: int | None
    """The size of the whole file; None if the page did not say."""
    is_repeated: bool
    """Whether this session was shown the same lines of the same version before."""

    @property
    def lines(self) -> int:
        """How many lines were shown."""
        return 0 if self.first_line is None or self.last_line is None else self.last_line - self.first_line + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call of a tool, and how it ended."""

    tool: str
    outcome: Literal["done", "failed", "not run"]
    """`not run` if the person interrupted the work before it."""
    result_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Something was removed from view."""

    session: str
    after_answer: int
    """Number of the session's answers before the cut."""
    strategy: str
    freed_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffRecord:
    """A session started afresh with a handoff."""

    session: str
    after_answer: int
    """Number of the session's answers before the handoff."""
    reason: str
    evidence: str
    """Why a handoff was due: `30 turns`."""
    freed_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalRecord:
    """A request that a provider refused as too large."""

    severity: str
    """How far a request was above its limit, by `classify_overflow`."""
    remedy: str = ""
    """The strategy, or `handoff`, that came next; empty if nothing did."""
    is_recovered: bool = False
    """Whether the refused request was finally answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Where the reading of a session had to stop; everything before is counted."""

    session: str
    newest_sound: int | None
    """The number of the last record that was understood; None for none."""
    reason: str


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Times(NamedTuple):
    """Response times of one kind of work (S-6)."""

    kind: Kind
    answers: int
    median_seconds: float
    longest_seconds: float
    faster: int
    usual: int
    """How many took the usual time for it; `faster` and `slower` are the others."""
    slower: int


class Savings(NamedTuple):
    """Tokens saved by showing pages instead of whole files: approximate tokens of the files, each version once, and of the
    pages.
    """

    files: int
    whole_tokens: int
    shown_tokens: int

    @property
    def saved_tokens(self) -> int:
        """The tokens that were saved by showing parts of files; below 0 if small files were read repeatedly."""
        return self.whole_tokens - self.shown_tokens


@dataclass(frozen=True, kw_only=True)
class Stats:
    """What happened in some sessions: facts in the order of their journals, and figures derived from them."""

    sessions: tuple[str, ...] = ()
    records: int = 0
    """How many records were read."""
    input_tokens: int = 0
    """Input tokens as providers reported them."""
    output_tokens: int = 0
    """Output tokens as providers reported them."""
    flows: Mapping[TokenSource, TokenFlow] = field(default_factory=dict)
    tasks: tuple[TaskRecord, ...] = ()
    answers: tuple[AnswerRecord, ...] = ()
    reads: tuple[Read, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    cuts: tuple[Cut, ...] = ()
    handoffs: tuple[HandoffRecord, ...] = ()
    refusals: tuple[RefusalRecord, ...] = ()
    faults: tuple[str, ...] = ()
    """The kind of each failure of a provider other than a refusal."""
    waits: tuple[float, ...] = ()
    """How long the session waited each time, in seconds."""
    unread: tuple[Unread, ...] = ()
    """Where the reading of a session had to stop; empty if everything was understood."""

    @property
    def flow(self) -> TokenFlow:
        """The flows of all sources together."""
        return sum(self.flows.values(), TokenFlow())

    @property
    def repeated_reads(self) -> int:
        """How many pages showed the same lines of the same version again."""
        return sum(read.is_repeated for read in self.reads)

    @property
    def reads_per_task(self) -> float:
        """Pages for each prompt, on average; 0 without one."""
        return len(self.reads) / len(self.tasks) if self.tasks else 0.0

    @property
    def average_read_lines(self) -> float:
        """Lines of a page, on average; 0 without one."""
        return statistics.fmean(read.lines for read in self.reads) if self.reads else 0.0

    @property
    def average_read_tokens(self) -> float:
        """Tokens of a result that showed a page, header and line numbers included, on average; 0 without one."""
        sizes = self._read_tokens
        return statistics.fmean(sizes) if sizes else 0.0

    @property
    def savings(self) -> Savings:
        """What pages saved compared with a tool that shows every file as a whole."""
        files = {(read.session, read.path, read.version): read.size_bytes or 0 for read in self.reads}
        whole = -(-sum(files.values()) // BYTES_PER_TOKEN)
        return Savings(files=len(files), whole_tokens=whole, shown_tokens=sum(self._read_tokens))

    @property
    def response_times(self) -> tuple[Times, ...]:
        """Response times by kind of work, for the kinds that occurred."""
        made: list[Times] = []
        for kind in KINDS:
            seconds = [a.seconds for a in self.answers if a.kind == kind and a.seconds is not None]
            if not seconds:
                continue
            said = Counter(response_time(kind, taken) for taken in seconds)
            median = statistics.median(seconds)
            made.append(Times(kind, len(seconds), median, max(seconds), said["faster"], said["usual"], said["slower"]))
        return tuple(made)

    @property
    def _read_tokens(self) -> list[int]:
        return [call.result_tokens for call in self.calls if call.tool in _READING and call.outcome == "done"]


def together(several: Iterable[Stats]) -> Stats:
    """Return the figures of several sessions as one."""
    each = list(several)
    flows: dict[TokenSource, TokenFlow] = {}
    for one in each:
        for source, flow in one.flows.items():
            flows[source] = flows.get(source, TokenFlow()) + flow
    made: dict[str, Any] = {}
    for known in fields(Stats):
        values = [getattr(one, known.name) for one in each]
        if known.name != "flows":
            # All at once: building a new tuple with each session would take time quadratic in their number.
            made[known.name] = sum(values) if isinstance(known.default, int) else tuple(chain.from_iterable(values))
    return Stats(**made, flows=flows)

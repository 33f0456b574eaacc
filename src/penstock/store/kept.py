"""What does a store keep, and how does one ask it? The values, the one interface, and what can go wrong.

Keeps out: where anything lies (`sqlite`, `postgres`), and what is done with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NewType, Protocol

from penstock.errors import CallerError, Ended

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Handle = NewType("Handle", str)
"""The name of an artifact in one store: 22 random letters and digits, 130 bits, so that nobody can guess one."""

LIFE_SECONDS = 7 * 86_400.0  # a session that is resumed after a weekend still has its results
LIMIT_BYTES = 2 << 30  # H27 of reliability.md
SCHEMA_VERSION = 1  # of the payload of a record, for those who read old journals


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactInfo:
    """What is known of an artifact. `digest` is the SHA-256 of its bytes; times are seconds since 1970."""

    handle: Handle
    bytes: int
    lines: int
    digest: str
    created: float
    expires: float
    name: str = ""
    kind: str = "text"
    stored_bytes: int = 0
    is_referenced: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One event to append: its place in its session, its type, and data that JSON can hold."""

    seq: int
    type: str
    data: Mapping[str, object]
    handles: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalRecord:
    """One event as it is kept. `sha256` covers everything here but itself; `prev_hash` is that of the record before."""

    session: str
    seq: int
    type: str
    data: dict[str, object]
    prev_hash: str
    sha256: str
    at: float
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionInfo:
    """A session of the journal: how many records it has (they are numbered from 0 without gaps), and when it last grew."""

    session: str
    records: int
    at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Damage:
    """Something that is not what was written: `what` is database, record or artifact. `newest_sound` is what can be used."""

    what: str
    name: str
    reason: str
    newest_sound: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """How full a store is. Equal content counts once."""

    artifacts: int
    bytes: int
    stored_bytes: int
    limit_bytes: int
    records: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Pruned:
    """What pruning did."""

    expired: int
    dropped: int
    compressed: int
    freed_bytes: int


class StoreFault(Ended):
    """A person has to act: the store cannot do it. `code` says why, for scripts; sentences may change.

    `disk_full`, `full` (its own limit), `read_only`, `busy` (another process writes), `damaged`, `newer`, `unreachable`,
    `io_error`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Damaged(StoreFault):
    """A record or an artifact is not what was written. `newest_sound` is the seq of the last record that is."""

    def __init__(self, message: str, newest_sound: int | None = None) -> None:
        super().__init__("damaged", message)
        self.newest_sound = newest_sound


class Conflict(CallerError):
    """Another event already stands at that place of the session."""


class Store(Protocol):
    """Artifacts under handles, and journals of sessions. Threads may share one; processes open one each.

    Methods raise `StoreFault` for what a person must mend. Those that take a handle raise `ToolError`: `not_found`, or
    `expired` when there was one.
    """

    url: str
    limit_bytes: int

    def put(
        self,
        content: bytes | Iterable[bytes],
        *,
        name: str = "",
        kind: str = "text",
        life_seconds: float | None = None,
    ) -> Handle:
        """Keeps `content` and gives its handle once it would survive a power cut. Streamed: memory does not grow with it.

        The same content under the same name is the same artifact, and lives on from now.
        """
        ...

    def read(self, handle: str, start_byte: int, count: int) -> bytes:
        """Those bytes exactly, fewer only at the end."""
        ...

    def info(self, handle: str) -> ArtifactInfo: ...

    def line_start(self, handle: str, line: int) -> int | None:
        """The byte at which `line` (0-based) starts, None where there is no such line."""
        ...

    def lines_before(self, handle: str, byte: int) -> int:
        """How many lines end before `byte`."""
        ...

    def artifacts(self) -> list[ArtifactInfo]:
        """Those that can be read, the oldest first."""
        ...

    def append(
        self,
        session: str,
        seq: int,
        type: str,  # noqa: A002 - the word of the journal
        data: Mapping[str, object],
        *,
        handles: Sequence[str] = (),
    ) -> JournalRecord:
        """Adds the record `seq` (from 0, without gaps) in one transaction with its references to artifacts.

        Once it returns, the record survives a kill and a power cut. The same event again is the same answer; another at its
        place raises `Conflict`. An artifact that a record refers to does not expire.
        """
        ...

    def append_all(self, session: str, events: Iterable[Event]) -> list[JournalRecord]:
        """The same for several events in one commit: all of them are kept, or none."""
        ...

    def events(self, session: str, from_seq: int = 0) -> Iterator[JournalRecord]:
        """The records in order, each checked; raises `Damaged` at the first that is not sound."""
        ...

    def sessions(self) -> list[SessionInfo]:
        """The sessions, the last used first."""
        ...

    def learn(self, name: str, value: str) -> None:
        """Keep a small fact about somebody else, a provider's window, say, under a name; the newest counts."""
        ...

    def learned(self, name: str) -> tuple[str, float] | None:
        """Return what was kept under a name, and when, in seconds since 1970; None where nothing was."""
        ...

    def size(self) -> Size: ...

    def prune(self) -> Pruned:
        """Takes away what has expired or is beyond the limit, and compresses the rest where that saves a quarter."""
        ...

    def check(self) -> list[Damage]:
        """Reads everything and names whatever is not what was written; nothing is changed."""
        ...

    def facts(self) -> dict[str, str]:
        """What durability rests on here: versions and settings that are in force."""
        ...

    def close(self) -> None: ...

"""What does a store keep and return? The values, the interface to ask for them, and what can go wrong.

Leaves to others: where anything lies (`sqlite`, `postgres`), and what callers do with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NewType, Protocol

from penstock.call import Call
from penstock.errors import CallerError, Ended, ToolError
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from penstock.store.retention import Removal, Retention
    from penstock.text.page import Page

Handle = NewType("Handle", str)
"""The name of an artifact in one store: 22 random letters and digits, 130 bits, so that nobody can guess one."""

LIFE_SECONDS = 7 * 86_400.0
"""How long an artifact lives after its last `put`: a session that is resumed after a weekend still has its results."""
LIMIT_BYTES = 2 << 30
"""How many bytes contents and journals of a store may take by default: 2 GiB."""
INDEX_FOLDER = "ranked"
"""The name of the folder with the indexes of ranked search, inside that of the store."""
SCHEMA_VERSION = 1
"""The version of a record's payload, for readers of old journals; the tables have their own version (`schema`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactInfo:
    """What is known of an artifact without reading it. Times are seconds since 1970."""

    handle: Handle
    bytes: int
    lines: int
    """Line ends, plus one for text after the last."""
    digest: str
    """The SHA-256 of its bytes, in hexadecimal."""
    created: float
    expires: float
    """When an artifact may be removed, unless a record refers to it."""
    name: str = ""
    """The maker of an artifact, usually the name of a tool."""
    kind: str = "text"
    stored_bytes: int = 0
    """Bytes that an artifact takes on disk: less than `bytes` if it was compressed."""
    is_referenced: bool = False
    """Whether a record of a session refers to it: then it does not expire."""
    secrets: Mapping[str, int] | None = field(default=None, hash=False)
    """How many secrets of each kind were found when it was kept; None if an older Penstock kept it."""
    hidden: int = 0
    """How many secrets are replaced by marks: sizes, lines and bytes are those of what is kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One event to append to the journal of a session."""

    seq: int
    """The position of an event in its session, from 0 without gaps."""
    type: str
    data: Mapping[str, object]
    """What happened: an object that JSON can hold, with finite numbers."""
    handles: Sequence[str] = ()
    """The artifacts that it refers to: they are kept for as long as the record is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalRecord:
    """One event as it is kept, with the hashes that show whether it is what was written."""

    session: str
    seq: int
    type: str
    data: dict[str, object]
    prev_hash: str
    """The `sha256` of the previous record; 64 zeros for the first."""
    sha256: str
    """The hash over every other field."""
    at: float
    """When an event was appended, in seconds since 1970."""
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionInfo:
    """A session of the journal: how many records it has, and when it last grew, in seconds since 1970."""

    session: str
    records: int
    at: float
    bytes: int = 0
    """Bytes that are removed with a session: its journal, and the contents that nothing else leads to."""
    is_running: bool = False
    """Whether a living process has added to it and still has the store open: then it is not removed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Damage:
    """Something in a store that is not what was written."""

    what: str
    """`database`, `record` or `artifact`."""
    name: str
    """The URL, the session or the handle."""
    reason: str
    newest_sound: str | None = None
    """For a record, the `seq` of the last usable one of its session; None if there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """How full a store is. Content that has several handles counts once."""

    artifacts: int
    bytes: int
    stored_bytes: int
    """What the contents take on disk."""
    limit_bytes: int
    """What contents and journals together may take."""
    records: int
    sessions: int = 0
    journal_bytes: int = 0
    """What the journals take, roughly."""
    index_bytes: int = 0
    """What the indexes of ranked search and the summaries of journals take in addition. They have their own bounds and can be
    rebuilt: nothing kept is removed to make room for them, and `limit_bytes` does not cover them.
    """
    object_bytes: int = 0
    """The part of `stored_bytes` that is in an object store."""

    @property
    def used_bytes(self) -> int:
        """What counts against `limit_bytes`: contents and journals."""
        return self.stored_bytes + self.journal_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Pruned:
    """What a pruning did."""

    expired: int
    """Handles that had expired."""
    dropped: int
    """Handles removed because room was needed, the oldest first."""
    compressed: int
    """Contents that now take less room."""
    freed_bytes: int
    """How much less the contents take on disk."""


def _nothing(_: str) -> None:
    pass


def _never() -> bool:
    return False


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How long a server that is away, or another process that writes, is waited for, and who waits."""

    seconds: float = 0.0
    """How long one outage may last; 0 does not wait."""
    say: Callable[[str], None] = _nothing
    """Called with what is waited for and how much of the time is left, again and again, and when it is over."""
    given_up: Callable[[], bool] = _never
    """Whether nobody waits any more; asked ten times a second."""


_WAYS = {"disk_full": (Call("store gc"),), "full": (Call("store gc"),), "damaged": (Call("store check"),)}
"""Commands that help with each kind of fault, unless the raiser names better ones."""


class StoreFault(Ended):
    """An operation that the store cannot perform, so that a person has to act.

    `code` says why, for scripts; sentences may change. It is `disk_full`, `full` (the store's own limit), `read_only`, `busy`
    (another process writes), `damaged`, `newer` or `older` (another Penstock wrote it), `unreachable`, `raced` (another client of
    PostgreSQL wrote at the same position) or `io_error`.
    """

    def __init__(self, code: str, message: str, *calls: Call) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.calls = calls or _WAYS.get(code, ())
        """Commands that help, to be written in the face's own syntax."""


class Damaged(StoreFault):
    """A record or an artifact is not what was written.

    `newest_sound` is the `seq` of the last sound record, None for artifacts.
    """

    def __init__(self, message: str, newest_sound: int | None = None) -> None:
        super().__init__("damaged", message)
        self.newest_sound = newest_sound


class Unopened(Damaged):
    """A store so damaged that no command can open it, and none can say more."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.calls = ()


class Conflict(CallerError):
    """Another event already has that position in the session, as when two processes run the same one."""


def not_there(handle: str) -> ToolError:
    """Return the error for a handle under which nothing is kept."""
    return ToolError(
        "not_found", f"There is no artifact {escape.clip(handle, 64)}. Copy the handle from the notice that named it."
    )


class Store(Protocol):
    """Artifacts under handles, and journals of sessions. Threads may share one; processes open one each.

    Every method raises `StoreFault` for what a person must fix. Those that take a handle also raise `ToolError`: `not_found`, or
    `expired` if it once existed.
    """

    url: str
    limit_bytes: int
    keeps_redacted: bool
    """Whether marks are kept in place of secrets."""
    patience: Patience
    """How long a server that is away, or another process that writes, is waited for; by default not at all."""
    taken: tuple[Removal, ...]
    """What retention rules have removed since the store was opened, for whoever informs a person."""

    def put(
        self,
        content: bytes | Iterable[bytes],
        *,
        name: str = "",
        kind: str = "text",
        life_seconds: float | None = None,
    ) -> Handle:
        """Keep `content` and return its handle, once it would survive a power cut.

        The same content under the same name and kind is the same artifact, and its life begins anew. The secrets in it are recorded
        as `ArtifactInfo.secrets`; with `keeps_redacted`, it is kept without them.

        Args:
            content: The bytes, or an iterable of parts: memory does not grow with it.
            name: What made it, for listings.
            kind: What it is, for listings; `text` by default.
            life_seconds: How long it lives; None for the store's own time.

        Raises:
            CallerError: for a text.
        """
        ...

    def put_many(
        self, contents: Iterable[tuple[bytes, str]], *, kind: str = "text", life_seconds: float | None = None
    ) -> list[Handle]:
        """Keep several contents and return their handles in order, once all of them would survive a power cut.

        Like `put` for each, at a fraction of the cost: up to 128 of them, or 8 MiB, share one transaction and wait for the disk
        together. If one fails, nothing of its transaction is kept.

        Args:
            contents: Bytes, each with what made it, as `name` is for `put`.
            kind: What they are, for listings.
            life_seconds: How long they live; None for the store's own time.
        """
        ...

    def read(self, handle: str, start_byte: int, count: int) -> bytes:
        """Return up to `count` bytes from `start_byte` on, exactly; fewer only at the end."""
        ...

    def info(self, handle: str) -> ArtifactInfo:
        """Return the sizes, times and digest of an artifact."""
        ...

    def line_start(self, handle: str, line: int) -> int | None:
        """Return the byte at which `line` (0-based) starts; None if there is no such line."""
        ...

    def lines_before(self, handle: str, byte: int) -> int:
        """Return how many lines end before `byte`."""
        ...

    def artifacts(self) -> list[ArtifactInfo]:
        """Return the readable artifacts, the oldest first."""
        ...

    def newest(self, offset: int, limit: int) -> Page[ArtifactInfo]:
        """Return a page of the readable artifacts, the newest first: it costs the page and a count of the rest."""
        ...

    def append(
        self,
        session: str,
        seq: int,
        type: str,  # noqa: A002 - the journal's term
        data: Mapping[str, object],
        *,
        handles: Sequence[str] = (),
    ) -> JournalRecord:
        """Add the record `seq` (from 0, without gaps) in one transaction with its references to artifacts.

        Once it returns, the record survives a kill and a power cut. Appending the same event again returns the existing record, so
        a caller who missed the answer may retry. An artifact that a record refers to does not expire.

        Raises:
            Conflict: Another event is at `seq`.
            CallerError: `seq` leaves a gap, JSON cannot hold `data`, or a handle is unknown.
        """
        ...

    def append_all(self, session: str, events: Iterable[Event]) -> list[JournalRecord]:
        """Add several records in one commit: all of them are kept, or none. Raises as `append` does."""
        ...

    def events(self, session: str, from_seq: int = 0) -> Iterator[JournalRecord]:
        """Return the records of a session in order, each checked against its hash and the one before.

        Raises:
            Damaged: While iterating, at the first invalid record.
        """
        ...

    def sessions(self, limit: int | None = None) -> list[SessionInfo]:
        """Return the sessions, the last used first.

        Args:
            limit: How many at most, which determines the cost; None for all.
        """
        ...

    def is_worked_on(self, session: str) -> bool:
        """Return whether another living process, or another open store of this one, has added to a session."""
        ...

    def record_types(self, session: str) -> list[str]:
        """Return the type of each record of a session, in order; they are read without their data and not checked."""
        ...

    def newest_hash(self, session: str) -> str:
        """Return the hash of the newest record of a session, which is not checked; "" if it has none."""
        ...

    def summary(self, session: str) -> str | None:
        """Return the kept summary of a journal; None if there is none, or any record has changed since.

        All records are read and checked for it, but not decoded.
        """
        ...

    def keep_summaries(self, made: Mapping[str, tuple[str, str]]) -> None:
        """Keep summaries of some journals, in place of earlier ones.

        A summary that takes more than a fourth of its session is not kept, nor is one of a session that has been removed.

        Args:
            made: For each session the hash of its newest record, which was the newest throughout, and the summary: any text without
                secrets.
        """
        ...

    def handles_of(self, session: str) -> list[str]:
        """Return the handles that the records of a session refer to, in order of first mention."""
        ...

    def remove_sessions(self, sessions: Iterable[str]) -> list[Removal]:
        """Remove sessions for good: journals, and the artifacts that nothing else names; afterwards no file of the store holds
        them.

        Raises:
            ToolError: `not_found` for an unknown one, `busy` for one that another process works on. Nothing is removed.
            StoreFault: `busy` while somebody reads: it is gone from the tables, and the next `scrub` removes its bytes.
        """
        ...

    def remove_artifact(self, handle: str) -> Removal:
        """Remove the content of an artifact for good, under every handle that leads to it.

        What a model was shown of it is in the journals of the sessions in `named_by`, and is removed with those.

        Raises:
            ToolError: `busy` if a session that another process works on refers to it.
            StoreFault: As for sessions.
        """
        ...

    def collect(self, rules: Retention, *, is_dry_run: bool = False) -> list[Removal]:
        """Remove what has expired and what exceeds some rules, and return what the rules removed, the oldest first.

        Args:
            rules: What is kept. What a living process works on is always kept.
            is_dry_run: Whether only to report what would be removed.
        """
        ...

    def reset_clock(self, *, is_dry_run: bool = False) -> tuple[float, float]:
        """Set the store's time, which never goes back by itself, to that of this machine, or of the database server.

        For a store that was written while a clock was ahead: what was kept then lives on from now, as long as it was to. Call it
        only while the clock is right: what is dated too early expires as soon as the clock is.

        Args:
            is_dry_run: Whether only to report the two times.

        Returns:
            The store's time before, and the clock's, in seconds since 1970.
        """
        ...

    def scrub(self) -> None:
        """Rewrite the database without what was deleted, so that none of its bytes are left in it or its log.

        Raises:
            StoreFault: `busy` if somebody reads meanwhile.
        """
        ...

    def removals(self) -> list[Removal]:
        """Return what rules removed, the last 1,000, the newest first."""
        ...

    def learn(self, name: str, value: str) -> None:
        """Keep a small fact about something else, such as a provider's window, under a name; the newest counts."""
        ...

    def learned(self, name: str) -> tuple[str, float] | None:
        """Return what was kept under a name, and when, in seconds since 1970; None if nothing was."""
        ...

    def size(self) -> Size:
        """Return how full the store is."""
        ...

    def prune(self) -> Pruned:
        """Remove what has expired or exceeds the limit, and compress the rest if that saves a quarter."""
        ...

    def check(self) -> list[Damage]:
        """Read everything and report whatever is not what was written; nothing is changed."""
        ...

    def facts(self) -> dict[str, str]:
        """Return what durability depends on here: versions and settings in force."""
        ...

    def close(self) -> None:
        """Release everything; the store cannot be used after that."""
        ...

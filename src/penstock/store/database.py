"""What do the tables need of a database? Running statements, a single writer, and a place for pieces of content.

Content goes through three states. *Staged*: written, under a name that no row knows. *Published*: in its place, within the
transaction that inserts its row. *Removed*: after the transaction that deletes its row. So a process that dies at any point leaves
content without a row, which `prune` finds, and never a row without content. Leaves to others: what is in the tables (`tables` and
the modules below it).
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from penstock.errors import CallerError
from penstock.store.kept import LIFE_SECONDS, LIMIT_BYTES, Patience
from penstock.store.retention import DAY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from penstock.store.kept import StoreFault
    from penstock.store.pieces import Content, PieceLayout

Done = TypeVar("Done")
_AHEAD_DAYS = 1.0  # between the clocks of several machines, and around a change of time zones, there is less

Rows = list[tuple[Any, ...]]
"""The result of a statement: a list of rows, each a tuple of columns."""


def capped(number: int) -> int:
    """Return a number capped to what a database can hold: 63 bits, more than it has rows."""
    return min(number, 2**63 - 1)


class Execute(Protocol):
    """Runs one statement within a transaction. Placeholders are `?`, in PostgreSQL too."""

    def __call__(self, statement: str, parameters: Sequence[object] = ...) -> Rows:
        """Return the rows of the statement."""
        ...


class Staged(NamedTuple):
    """Content that is written but does not count yet: no row names its place."""

    place: str
    content: Content


class Database(ABC):
    """One database, its clock and its limits, and a cache of what was read last.

    Args:
        limit_bytes: What all artifacts together may take on disk.
        life_seconds: How long an artifact lives after its last `put`.
        keeps_redacted: Whether marks are kept in place of secrets.
        clock: Seconds since 1970; tests pass their own.

    Raises:
        CallerError: A number is not above 0.
    """

    url: str
    patience = Patience()

    def __init__(
        self,
        *,
        limit_bytes: int = LIMIT_BYTES,
        life_seconds: float = LIFE_SECONDS,
        keeps_redacted: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if limit_bytes <= 0 or life_seconds <= 0:
            raise CallerError("limit_bytes and life_seconds are above 0")
        self.limit_bytes = limit_bytes
        self.life_seconds = life_seconds
        self.keeps_redacted = keeps_redacted
        self._clock = clock
        self._lock = threading.RLock()
        # The most recently used piece tables and uncompressed pieces: reading one artifact page by page reads and checks a piece
        # once.
        self._layouts: OrderedDict[str, PieceLayout] = OrderedDict()
        self._pieces: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        # The newest record of each session and its hash, valid while no other connection has written.
        self._heads: dict[str, tuple[int, str]] = {}
        self._generation: object = None
        # The sessions that this store has added to, with the last record of each, and roughly how much since the total was last
        # checked.
        self._worked_on: dict[str, int] = {}
        self._grown = 0
        # What it has put meanwhile and no record names yet, in order.
        self._unnamed: dict[str, None] = {}
        self._newest: tuple[str, int] | None = None  # the last record of the current transaction
        self._lost: tuple[str, int] | None = None  # a record that was acknowledged and is missing

    @abstractmethod
    def _holder(self, execute: Execute) -> str:
        """Return the name under which this store works on sessions, held in a way that ends with its process."""

    @abstractmethod
    def _own_holder(self) -> str:
        """Return that name if it is already held, else ""."""

    @abstractmethod
    def _is_held(self, execute: Execute, holder: str) -> bool:
        """Return whether another store of that name is open, in any living process."""

    @abstractmethod
    def _unnoted(self, sessions: Sequence[str]) -> None:
        """Remove what is recorded of sessions outside the tables, before they are removed."""

    @abstractmethod
    def _shrink(self) -> None:
        """Release free space, unless another process is in the way."""

    @abstractmethod
    def scrub(self) -> None:
        """Rewrite the database without what was deleted, so that none of its bytes are left in it or its log.

        Raises:
            StoreFault: `busy` if somebody reads meanwhile.
        """

    @abstractmethod
    def _remove_caches(self) -> None:
        """Remove what can be rebuilt and may show what was removed: the indexes of ranked search."""

    @abstractmethod
    def _keep_reserve(self) -> None:
        """Reserve some disk space, which a removal releases if there is no other."""

    @abstractmethod
    def _gives_reserve_back(self) -> bool:
        """Release that space; return whether there was some."""

    @abstractmethod
    def _cache_bytes(self) -> int:
        """Return the size of these caches."""

    @abstractmethod
    def _command_option(self) -> str:
        """Return the option by which a command line names this store, with a leading blank; "" if it cannot be named."""

    def _now(self, execute: Execute) -> float:
        """Return a time that never goes back, kept in the store: setting the clock back makes nothing younger."""
        seen = float(execute("SELECT last_seen FROM clock")[0][0])
        now = self._clock()
        if now > seen:
            execute("UPDATE clock SET last_seen = ?", (now,))
        return max(now, seen)

    def _clock_facts(self) -> dict[str, str]:
        """Return that the store's time is far ahead of the clock, and the command that sets it back; nothing if it is not.

        Which of the two is wrong only a person can tell: a machine without a battery begins in 1970.
        """
        seen = self._read("SELECT last_seen FROM clock")
        ahead_days = (float(seen[0][0]) - self._clock()) / DAY_SECONDS if seen else 0.0
        if ahead_days < _AHEAD_DAYS:
            return {}
        set_back = f"penstock store gc --reset-clock{self._command_option()}"
        said = f"{ahead_days:.0f} days ahead of this clock, until which nothing expires; if this one is right: `{set_back}`"
        return {"clock": said}

    @abstractmethod
    def _read(self, statement: str, parameters: Sequence[object] = ()) -> Rows:
        """Run one statement outside a transaction. Raises `StoreFault`."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Execute]:
        """Give the only writer of artifacts, in a transaction that is durable once the block ends. Raises `StoreFault`."""

    @abstractmethod
    def _appending(self) -> AbstractContextManager[Execute]:
        """Give a transaction that adds records; it need not exclude writers of artifacts."""

    def _lasting(self, act: Callable[[], Done]) -> Done:
        """Return the result of an act that may be done twice with the effect of doing it once. Raises `StoreFault`."""
        return act()

    @abstractmethod
    def _seen_by_others(self) -> object:
        """Return a value that changes when another connection may have written; equal values mean that cached reads are still
        valid.

        None is equal to nothing.
        """

    @abstractmethod
    def _stage(self, content: bytes | Iterable[bytes], limit_bytes: int) -> Staged:
        """Write content where it does not count yet. Raises `StoreFault`, `full` beyond `limit_bytes`."""

    @abstractmethod
    def _publish(self, execute: Execute, staged: Staged) -> str:
        """Make staged content permanent, as part of the transaction, and return its final place."""

    @abstractmethod
    def _write(self, execute: Execute, contents: Sequence[tuple[bytes, Content]]) -> list[str]:
        """Write several contents as part of the transaction, all of them durable once it ends, and return their places.

        Raises:
            StoreFault: None of them is kept.
        """

    @abstractmethod
    def _discard(self, place: str) -> None:
        """Remove staged content that is not wanted; does nothing if it has gone."""

    @abstractmethod
    def _remove(self, places: list[str]) -> StoreFault | None:
        """Remove content, after the transaction that deleted its row; return why some of it is still there, or None."""

    @abstractmethod
    def _stored(self, place: str, number: int, start: int, count: int) -> bytes | None:
        """Return piece `number`, `count` bytes that begin at byte `start` of what is stored; None if there is none."""

    @abstractmethod
    def _orphans(self, execute: Execute) -> list[str]:
        """Return places that no table names, left by processes that ended."""

    @abstractmethod
    def _database_damage(self) -> list[str]:
        """Return the damage that the database itself finds, each as a sentence."""

    @abstractmethod
    def facts(self) -> dict[str, str]:
        """Return what durability depends on here: versions and settings in force."""
        ...

    @abstractmethod
    def close(self) -> None:
        """Release everything; the store cannot be used after that."""
        ...

    @abstractmethod
    def _stage_pieces(self, stored: Iterable[bytes]) -> str:
        """Write pieces unchanged, and return their place."""

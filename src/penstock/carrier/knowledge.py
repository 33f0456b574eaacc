"""What is known of the providers behind one address, by model? Learned here, kept in the store, read again by others (R-5).

A `Memory` is a value; this module finds and replaces the current one of each model. Laws: threads and tasks may share one
`Knowledge`; what others learn meanwhile is not lost; a failing store costs one more refusal and nothing else. Leaves to others:
what is learned (`memory`), and what follows from it (`course`).
"""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from penstock.carrier.memory import Memory, memory_of
from penstock.overflow.learned import LIFETIME_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.context.counts import KindCounts
    from penstock.context.recovery import Attempt
    from penstock.store import Store


# Model names come from clients.
MAX_MODELS = 4_096
"""How many models are known at once; the one read longest ago is forgotten, except for what the store holds of it."""


class _Held(NamedTuple):
    memory: Memory
    learned_at: float
    read_at: float


def _believed(held: _Held, now: float) -> Memory:
    """Return what is still believed of a memory, and of the limits in it."""
    return held.memory.believed_at(now) if now - held.learned_at < LIFETIME_SECONDS else Memory()


class Knowledge:
    """What is known of one provider, for each of its models.

    Args:
        wire: the API's name.
        endpoint: distinguishes this provider from others that serve a model of the same name.
        store: where it is kept; None keeps it in memory.
        clock: seconds since 1970.
        fresh_seconds: how long until the store is asked again for what others have learned; None asks it once.
    """

    def __init__(
        self,
        wire: str,
        endpoint: str,
        store: Store | None,
        clock: Callable[[], float],
        *,
        fresh_seconds: float | None = None,
    ) -> None:
        self._wire, self._endpoint, self._store = wire, endpoint, store
        self._clock, self._fresh_seconds = clock, fresh_seconds
        # Held only for look-ups and updates, never during a request.
        self._lock = threading.Lock()
        self._held: dict[str, _Held] = {}

    def is_fresh(self, model: str) -> bool:
        """Return whether `of` need not ask the store."""
        with self._lock:
            return self._is_fresh(self._held.get(model), self._clock())

    def of(self, model: str) -> Memory:
        """Return what is known of a model's provider; nothing once that has expired."""
        now = self._clock()
        with self._lock:
            held = self._held.get(model)
        if held is None or not self._is_fresh(held, now):
            found = self._read(model)  # outside the lock: a store may be slow, and others can continue
            with self._lock:
                held = self._newer(self._held.pop(model, None), found, now)  # reinserted: it becomes the newest
                self._held[model] = held
                if len(self._held) > MAX_MODELS:
                    del self._held[next(iter(self._held))]
        return _believed(held, now)

    def refused(self, model: str, attempts: Sequence[Attempt]) -> None:
        """Learn what refusals have shown."""
        if attempts:
            at = self._clock()
            self._update(model, lambda known: replace(reduce(Memory.refused, attempts, known), refused_at_seconds=at))

    def answered(self, model: str, reported: tuple[KindCounts, int] | None) -> None:
        """Learn from our counts of a request and the input that its answer reported; None if it reported none."""
        if reported is not None:
            self._update(model, lambda known: known.answered(*reported))

    def _update(self, model: str, learn: Callable[[Memory], Memory]) -> None:
        """Replace what is known of a model's provider with what was learned; what others learn meanwhile is not lost."""
        self.of(model)  # reads the store if it has not been asked yet
        with self._lock:
            now = self._clock()
            held = self._held.get(model) or _Held(Memory(), now, now)
            before = _believed(held, now)
            memory = learn(before)
            self._held[model] = _Held(memory, now, held.read_at)
        if memory != before:
            self._write(model, memory)

    def _is_fresh(self, held: _Held | None, now: float) -> bool:
        return held is not None and (self._fresh_seconds is None or now - held.read_at < self._fresh_seconds)

    def _read(self, model: str) -> tuple[str, float] | None:
        """Return what the store holds of a model's provider, and since when."""
        try:
            return self._store.learned(self._name(model)) if self._store else None
        # A store that cannot be read, whoever wrote it, costs only one more refusal.
        except Exception:  # noqa: BLE001 - a foreign store
            return None

    def _newer(self, held: _Held | None, found: tuple[str, float] | None, now: float) -> _Held:
        """Return what is held, or what the store holds if that is newer."""
        if found is None or (held is not None and held.learned_at >= found[1]):
            return held._replace(read_at=now) if held is not None else _Held(Memory(), now, now)
        return _Held(memory_of(found[0]), found[1], now)

    def _write(self, model: str, memory: Memory) -> None:
        if self._store is None:
            return
        try:
            self._store.learn(self._name(model), memory.to_json())
        # A store that cannot be written costs the next process a refusal.
        except Exception:  # noqa: BLE001 - a foreign store
            return

    def _name(self, model: str) -> str:
        """Return the name in the store: wire, endpoint and model, because each combination may count in its own way."""
        return f"provider {self._wire} {self._endpoint} {model}"

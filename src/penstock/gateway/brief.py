"""How long may the store hold a request? Briefly: what does not answer is out of reach until it does.

A store may be locked by another process, or be a server that says nothing any more. Whoever waited for it would wait at every
step of every request, one behind the other. So each call is made in a thread of its own, which is left to itself once it is late;
until it has ended no other call is made. Law: while a store says nothing, the requests that asked it together wait once; all that
come later go on without it. Leaves to others: what a request does without a store (`conversations`, `carrier.knowledge`,
`carrier.course`).
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from penstock.store import StoreFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock.store import Store
    from penstock.store.kept import Handle

# A write is flushed to the disk, which takes milliseconds on a good one and some hundred on a bad one.
WAIT_SECONDS: Final = 2.0
"""How long a call may take, besides what its contents need."""
# Less than a bucket far away takes; what is late is kept all the same, and only its handle is not named.
BYTES_PER_SECOND: Final = 4 << 20
"""How fast contents have to be taken."""


class _Call:
    """One call of the store, made in a thread of its own."""

    def __init__(self, made: Callable[[], Any]) -> None:
        self._made = made
        self._ended = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None
        # A thread that waits for a server for ever must not hold the end of the process.
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self._value = self._made()
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            self._error = error
        self._ended.set()

    def ends(self, seconds: float) -> bool:
        """Return whether it has ended by then."""
        return self._ended.wait(seconds)

    def result(self) -> Any:
        """Return what came of a call that has ended, or raise it."""
        if self._error is not None:
            raise self._error
        return self._value


class BriefStore:
    """A store whose calls raise `StoreFault` where they would hold a request.

    Args:
        store: the store; its methods are asked.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._late: _Call | None = None

    def put(self, content: bytes | Iterable[bytes], *, name: str = "", kind: str = "") -> Handle:
        """Keep a content; as `Store.put`."""
        whole = content if isinstance(content, bytes) else b"".join(content)
        return cast("Handle", self._within(len(whole), partial(self._store.put, whole, name=name, kind=kind)))

    def put_many(self, contents: Iterable[tuple[bytes, str]], *, kind: str = "") -> list[Handle]:
        """Keep some contents; as `Store.put_many`."""
        given = list(contents)
        size_bytes = sum(len(content) for content, _ in given)
        return cast("list[Handle]", self._within(size_bytes, partial(self._store.put_many, given, kind=kind)))

    def __getattr__(self, name: str) -> Any:
        held = getattr(self._store, name)
        return partial(self._called, held) if callable(held) else held

    def _called(self, held: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return self._within(0, partial(held, *given, **named))

    def _within(self, size_bytes: int, made: Callable[[], Any]) -> Any:
        """Return what a call gives that takes so many bytes. Raises `StoreFault` where it, or one before it, is late."""
        late = self._late
        if late is not None and not late.ends(0):
            raise StoreFault("busy", "The store does not answer.")
        call = _Call(made)
        if call.ends(WAIT_SECONDS + size_bytes / BYTES_PER_SECOND):
            return call.result()
        self._late = call
        raise StoreFault("busy", "The store does not answer.")


def briefly(store: Store) -> Store:
    """Return a store that holds no request."""
    return cast("Store", BriefStore(store))

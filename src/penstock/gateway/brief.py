"""How long may the store hold up a request? Briefly: a store that does not answer counts as unreachable until it does.

A store may be locked by another process, or be a server that no longer responds. Waiting for it would delay every step of every
request, one after another. So each call runs in its own thread, which is abandoned once it is late; until it has ended no other
call is made. Law: while a store does not respond, the requests that asked it together wait once; all later ones continue without
it. Leaves to others: what a request does without a store (`conversations`, `carrier.knowledge`, `carrier.course`).
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

# A write is flushed to disk, which takes milliseconds on a good one and some hundred on a bad one.
WAIT_SECONDS: Final = 2.0
"""How long a call may take, in addition to the time for its contents."""
# Slower than a distant bucket; late content is kept all the same, only its handle is not named.
BYTES_PER_SECOND: Final = 4 << 20
"""The rate at which contents must be accepted."""


class _Call:
    """One call of the store, made in its own thread."""

    def __init__(self, made: Callable[[], Any]) -> None:
        self._made = made
        self._ended = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None
        # A thread that waits forever for a server must not keep the process alive.
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self._value = self._made()
        except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
            self._error = error
        self._ended.set()

    def ends(self, seconds: float) -> bool:
        """Return whether it ends within this time."""
        return self._ended.wait(seconds)

    def result(self) -> Any:
        """Return the result of a finished call, or raise its error."""
        if self._error is not None:
            raise self._error
        return self._value


class BriefStore:
    """A store whose calls raise `StoreFault` instead of holding up a request.

    Args:
        store: the underlying store.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._late: _Call | None = None

    def put(self, content: bytes | Iterable[bytes], *, name: str = "", kind: str = "") -> Handle:
        """Keep a content; like `Store.put`."""
        whole = content if isinstance(content, bytes) else b"".join(content)
        return cast("Handle", self._within(len(whole), partial(self._store.put, whole, name=name, kind=kind)))

    def put_many(self, contents: Iterable[tuple[bytes, str]], *, kind: str = "") -> list[Handle]:
        """Keep some contents; like `Store.put_many`."""
        given = list(contents)
        size_bytes = sum(len(content) for content, _ in given)
        return cast("list[Handle]", self._within(size_bytes, partial(self._store.put_many, given, kind=kind)))

    def __getattr__(self, name: str) -> Any:
        held = getattr(self._store, name)
        return partial(self._called, held) if callable(held) else held

    def _called(self, held: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return self._within(0, partial(held, *given, **named))

    def _within(self, size_bytes: int, made: Callable[[], Any]) -> Any:
        """Return the result of a call with this many bytes. Raises `StoreFault` if it, or one before it, is late."""
        late = self._late
        if late is not None and not late.ends(0):
            raise StoreFault("busy", "The store does not answer.")
        call = _Call(made)
        if call.ends(WAIT_SECONDS + size_bytes / BYTES_PER_SECOND):
            return call.result()
        self._late = call
        raise StoreFault("busy", "The store does not answer.")


def briefly(store: Store) -> Store:
    """Return a view of a store that holds up no request."""
    return cast("Store", BriefStore(store))

"""What does one client see of a store? What is kept there for it, and nothing of anybody else (W-8).

Handles appear in a request's text, and texts can be made to name other people's handles. What the gateway keeps has its owner's
digest as its kind, so that the store itself shows whose it is. Law: a handle opens for the sender of its content; for everybody
else it does not exist.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from penstock.store.kept import not_there

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.store import Store
    from penstock.store.kept import Handle

_BY_HANDLE = frozenset({"read", "info", "line_start", "lines_before"})


class OwnedStore:
    """What is kept for one client.

    Args:
        store: where everything is kept.
        owner: a digest of the client.
    """

    def __init__(self, store: Store, owner: str) -> None:
        self._store, self._kind = store, f"gateway {owner}"

    def put(self, content: bytes | Iterable[bytes], *, name: str = "") -> Handle:
        """Keep a content for this client; like `Store.put`."""
        return self._store.put(content, name=name, kind=self._kind)

    def put_many(self, contents: Iterable[tuple[bytes, str]]) -> list[Handle]:
        """Keep some contents for this client; like `Store.put_many`."""
        return self._store.put_many(contents, kind=self._kind)

    def __getattr__(self, name: str) -> Any:
        held = getattr(self._store, name)
        return partial(self._checked, held) if name in _BY_HANDLE else held

    def _checked(self, of_store: Any, handle: str, *given: Any, **named: Any) -> Any:
        """Return the store's answer about a handle. Raises `ToolError` for another client's handle, as for a missing one."""
        if self._store.info(handle).kind != self._kind:
            raise not_there(handle)
        return of_store(handle, *given, **named)


def owned(store: Store, owner: str) -> Store:
    """Return a store as one client sees it."""
    return cast("Store", OwnedStore(store, owner))

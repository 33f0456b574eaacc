"""How is text kept in a store? As bytes that preserve all of it, many at once if the store can.

A caller may pass its own store that offers no more than `put`. Law: the handles come in the order of the texts, each given out once
its text is durable. Leaves to others: what is kept (`compaction`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable


class TextShelf(Protocol):
    """Anything that keeps bytes under a handle: a store of ours, or a caller's own object with a `put` like it."""

    def put(self, content: bytes, *, name: str) -> Any:
        """Keep bytes and return their handle."""
        ...


def put_text(store: TextShelf, text: str, name: str) -> str:
    """Keep one text and return its handle.

    Args:
        store: Where it is kept.
        text: Any text; a lone surrogate, as providers send them, is kept like everything else.
        name: What made it.
    """
    return str(store.put(_bytes(text), name=name))


def put_texts(store: TextShelf, texts: Iterable[tuple[str, str]]) -> list[str]:
    """Keep some texts, each with what made it, and return their handles in order.

    Args:
        store: Where they are kept; in one transaction if it has `put_many`, else one after the other.
        texts: Pairs of a text and its name.
    """
    put_many = getattr(store, "put_many", None)
    if put_many is None:
        return [put_text(store, text, name) for text, name in texts]
    return [str(handle) for handle in put_many((_bytes(text), name) for text, name in texts)]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")

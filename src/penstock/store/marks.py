"""Which secrets does an artifact hold? Their kinds and how many, never the secrets themselves (S-17).

What is kept is whole, so that pages give it back exactly; who keeps it can ask what it would give away. Law: memory does
not grow with the artifact.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from penstock.text.redaction import secrets_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.store import Store

_BLOCK_BYTES = 1 << 20


def secrets_of(store: Store, handle: str) -> dict[str, int]:
    """Return how many secrets of which kind an artifact holds, the most frequent kind first.

    Args:
        store: where it is kept.
        handle: the artifact.

    Returns:
        Numbers by kind, `{"GitHub token": 2}`; empty where nothing looks like a secret. One in a line of more than a
        mebibyte is missed where the end of a block tears it.

    Raises:
        ToolError: there is no such artifact, or no more.
        StoreFault: it cannot be read.
    """
    found: Counter[str] = Counter()
    for block in _blocks(store, handle):
        found.update(secret.kind for secret in secrets_in(block.decode("utf-8", "replace")))
    return dict(found.most_common())


def _blocks(store: Store, handle: str) -> Iterator[bytes]:
    """Yield the content in blocks that end where a line does, or where they are full without one."""
    at = 0
    while block := store.read(handle, at, _BLOCK_BYTES):
        if len(block) == _BLOCK_BYTES:
            block = block[: block.rfind(b"\n") + 1] or block
        yield block
        at += len(block)

"""Who sends a request? A digest of the key that it shows, and nothing else of it (W-8).

What was cut from a history is found only by the sender of that history. The key passes to the provider and is kept nowhere: only
its digest is kept, keyed by a random number of the store, so that nobody who reads the store can try keys against it. Law: two
credentials have two digests; without the store's number none can be computed.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.store import Store

KEY_HEADERS: Final = (b"authorization", b"x-api-key", b"x-goog-api-key", b"api-key")
"""The headers that carry keys, in all APIs and in Azure's."""
_NAME = "gateway digest key"


def digest_key(store: Store) -> bytes:
    """Return the store's own number for digests, created at the first call."""
    found = store.learned(_NAME)
    if found is None:
        store.learn(_NAME, secrets.token_hex(32))
        found = store.learned(_NAME)  # of two concurrent ones the later wins, for both
    return bytes.fromhex(found[0]) if found else secrets.token_bytes(32)


def owner_of(headers: Iterable[tuple[bytes, bytes]], query: str, key: bytes) -> str:
    """Return a digest of the credential that a request shows.

    Args:
        headers: names in lower case.
        query: the query of its address: one API accepts its key there, as `key=…`.
        key: the store's number.
    """
    shown = [name + b"\0" + value for name, value in headers if name in KEY_HEADERS]
    shown += [part.encode() for part in query.split("&") if part.startswith("key=")]
    return hmac.digest(key, b"\n".join(sorted(_stable(one) for one in shown)), "sha256").hex()[:32]


def plan_of(headers: Iterable[tuple[bytes, bytes]], owner: str) -> str:
    """Return a digest of what decides how large a request may be: its owner, and special features that it asks for.

    Limits differ by the plan of a key, and by features that a header switches on, such as Anthropic's longer window.

    Args:
        headers: names in lower case.
        owner: the result of `owner_of`.
    """
    asked = sorted(name + b"\0" + value for name, value in headers if name.endswith(b"-beta"))
    return hashlib.blake2b(b"\n".join([owner.encode(), *asked]), digest_size=16).hexdigest()


def _stable(shown: bytes) -> bytes:
    """Return the part of a credential that is the same in every request: for an AWS signature, the name of its key."""
    head, mark, rest = shown.partition(b"Credential=")
    return head + mark + rest.partition(b"/")[0] if mark else shown

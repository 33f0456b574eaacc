"""How are a host's requests led to the gateway: how is its base URL set and taken back (H-3)?

Nothing in an address shows its owner. It is ours if it is the one that we left there; removing it restores the previous address,
and one that a person has set since stays. Leaves to others: what the gateway does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.hosts import nested_values

if TYPE_CHECKING:
    from penstock.hosts.catalogue import HostConfig
    from penstock.hosts.documents import Document
    from penstock.hosts.nested_values import Remembered

GATEWAY_ADDRESS = "http://127.0.0.1:4000"
"""Where `penstock gateway` listens by default."""


def add(document: Document, host: HostConfig, address: str, *, is_renewed: bool) -> list[str]:
    """Give a host the gateway's address. Returns what a person should know: the address that was there before.

    Args:
        document: The configuration; it is changed.
        host: Whose it is.
        address: The gateway's address, without the prefix of the host's own paths.
        is_renewed: Whether the address that is there is ours.
    """
    assert host.base_url is not None  # noqa: S101 - callers check this
    key, wanted = host.base_url.key, address.rstrip("/") + host.base_url.path
    there = document.get(key)
    if there == wanted:
        return []
    if there is nested_values.MISSING:
        document.put(key, wanted)
        return []
    document.replace(key, wanted)
    if is_renewed:
        return []
    # Redirecting requests must not be silent: the gateway sends them to a provider that it knows by their path.
    said = (
        f"{'.'.join(key)} was {there}, and comes back with `penstock uninstall {host.name} --gateway`. The gateway asks the "
        f"public providers: for that address, start it as `penstock gateway --upstream {there}`"
    )
    return [said]


def take(document: Document, host: HostConfig, known: Remembered) -> bool:
    """Remove the gateway's address and restore the previous one. Returns whether it was there.

    Args:
        document: The configuration; it is changed.
        host: Whose it is.
        known: Its earlier values.
    """
    if host.base_url is None or not has(document, host, known):
        return False
    earlier = nested_values.get(known.before, host.base_url.key)
    if earlier is nested_values.MISSING:
        document.remove(host.base_url.key)
    else:
        document.replace(host.base_url.key, earlier)
    return True


def has(document: Document, host: HostConfig, known: Remembered) -> bool:
    """Return whether the address is the one that we left."""
    if host.base_url is None:
        return False
    ours = nested_values.get(known.left, host.base_url.key)
    return ours is not nested_values.MISSING and document.get(host.base_url.key) == ours

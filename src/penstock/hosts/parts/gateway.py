"""How are a host's requests led to the gateway: how is its base URL set and taken back (H-3)?

Nothing in an address shows its owner. It is ours if it is the one that we left there; removing it restores the previous address,
and one that a person has set since stays. Leaves to others: what the gateway does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.hosts import nested_values
from penstock.hosts.parts.part import StartLine

if TYPE_CHECKING:
    from penstock.hosts.catalogue import BaseUrl, ConfigFile, HostConfig
    from penstock.hosts.documents import Document
    from penstock.hosts.nested_values import Path, Remembered
    from penstock.hosts.parts.part import Reach


def file_of(host: HostConfig) -> ConfigFile | None:
    """Return the host's file that holds its base URL; None if none does."""
    return None if host.base_url is None else host.base_url.file


def containers(host: HostConfig) -> list[Path]:
    """Return the path of the object that the base URL is in."""
    return [_of(host).key[:-1]]


def add(document: Document, host: HostConfig, reach: Reach, _known: Remembered, *, is_renewed: bool) -> list[str]:
    """Give a host the gateway's address. Returns what a person should know: the address that was there before."""
    key, wanted = _of(host).key, reach.address.rstrip("/") + _of(host).path
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
    """Remove the gateway's address and restore the previous one. Returns whether it was there."""
    if not has(document, host, known):
        return False
    key = _of(host).key
    earlier = nested_values.get(known.before, key)
    if earlier is nested_values.MISSING:
        document.remove(key)
    else:
        document.replace(key, earlier)
    return True


def has(document: Document, host: HostConfig, known: Remembered) -> bool:
    """Return whether the address is the one that we left."""
    ours = nested_values.get(known.left, _of(host).key)
    return ours is not nested_values.MISSING and document.get(_of(host).key) == ours


def start_lines(document: Document, host: HostConfig) -> list[StartLine]:
    """Return the address."""
    return [StartLine((str(document.get(_of(host).key)),))]


def _of(host: HostConfig) -> BaseUrl:
    assert host.base_url is not None  # noqa: S101 - otherwise no file has a place for it
    return host.base_url

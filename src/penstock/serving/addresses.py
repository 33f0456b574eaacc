"""Is an address of this machine alone? Loopback is; everything else is reachable from outside."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether a listener or caller at `host`, an address or a name, is on this machine; of names only `localhost` is."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_address(host: str) -> bool:
    """Return whether `host` is an IPv4 or IPv6 address rather than a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True

"""Whose address is it? Loopback is of this machine alone, everything else is other machines'."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether what listens or calls there is on this machine."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_address(host: str) -> bool:
    """Whether it is a number, of IPv4 or IPv6, and no name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True

"""How are HTTP headers read? Which are end-to-end, which apply only to the next hop, and the values of one.

Law: headers named in `Connection` are removed with it. Source: RFC 9110, section 7.6.1. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)


def end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the end-to-end headers, names in lower case."""
    lower = [(name.lower(), value) for name, value in headers]
    named = {part.strip().lower() for name, value in lower if name == b"connection" for part in value.split(b",")}
    return [(name, value) for name, value in lower if name not in _HOP_BY_HOP and name not in named]


def values_of(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    """Return the values of a header in order of arrival; its name and those of `headers` are in lower case, as ASGI gives them."""
    return [value.decode("latin-1") for key, value in headers if key == name]

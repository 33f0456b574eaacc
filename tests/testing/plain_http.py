"""Spares clients that speak plain HTTP the certificates of the whole world: each would load them, 50 ms at a time.

Imported by the drivers for what it does, before any client.
"""

from __future__ import annotations

import ssl


def _nothing_loaded(*_: object, **__: object) -> None:
    """A context without certificates: no host here has one."""


ssl.SSLContext.load_verify_locations = _nothing_loaded  # type: ignore[method-assign]

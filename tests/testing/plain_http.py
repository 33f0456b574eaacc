"""How do clients that speak plain HTTP avoid loading all certificates, at 50 ms each? By importing this module.

The drivers import it for its effect, before any client.
"""

from __future__ import annotations

import ssl


def _nothing_loaded(*_: object, **__: object) -> None:
    """Return a context without certificates, as no host here has one."""


ssl.SSLContext.load_verify_locations = _nothing_loaded  # type: ignore[method-assign]

"""Why is there no answer? What ends a request over HTTP other than a provider's own `Refused`.

Law: `penstock.overflow.diagnose` reads each as what cures it, and none holds a key. Keeps out: refusals (`provider`), and whether
to try again (`session`).
"""

from __future__ import annotations

from typing import Literal

from penstock.errors import Ended, Refusal


class Disconnected(Refusal):
    """The answer did not come, or did not come to its end.

    `kind` is `connect` (nobody was reached), `idle` (nothing came for too long), `whole` (it took too long in all) or `closed` (the
    connection broke).
    """

    def __init__(self, kind: Literal["connect", "idle", "whole", "closed"], message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Unreadable(Refusal):
    """An answer came and is none: no JSON, no events of the wire, or larger than any answer."""

    code = "server_error"  # whose fault it is, and so what to do: `diagnose` says `retry`


class Cancelled(Ended):
    """Whoever asked wants no answer any more."""

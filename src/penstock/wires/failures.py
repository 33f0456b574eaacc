"""Why is there no answer? The provider refused, the connection broke, the bytes are not an answer, or the caller is gone.

    Refused       the provider answered with an error: status, body, headers
    Disconnected  no answer came, or not all of it
    Unreadable    the answer is not one
    Cancelled     the caller no longer waits

Law: `penstock.overflow.diagnose` reads from each what cures it, by its attribute names, and none holds a key. Leaves to others:
whether to try again (`session`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from penstock.errors import Ended, Refusal
from penstock.overflow.kinds import SETTINGS_CODE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.text.json_access import Json

_SAYS_NOTHING = "(it said nothing else)"


class Refused(Refusal):
    """A provider refused a request; `penstock.overflow.parse` reads why.

    Args:
        status_code: the HTTP status; 200 for an error that came as an answer or in a stream.
        body: the error's JSON, or the text in its place.
        headers: those that say when to try again, and under which id the provider knows the request.
    """

    # The attribute names are those of SDK errors: `penstock.overflow` reads any error by them.
    def __init__(self, status_code: int, body: Json, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"HTTP {status_code}: {(body if isinstance(body, str) else _as_text(body)) or _SAYS_NOTHING}")
        self.status_code = status_code
        self.body = body
        self.headers = dict(headers or {})


def _as_text(body: Json) -> str:
    """Return a body as text for the message of an error; JSON nested deeply enough can be parsed but not serialised."""
    try:
        return json.dumps(body)
    except RecursionError:
        return "a body that is nested too deeply to be shown"


class Disconnected(Refusal):
    """The answer did not come, or not all of it.

    Args:
        kind: `connect` (no server was reached), `settings` (none can be: a certificate is not trusted, or a proxy wants other
            credentials), `idle` (nothing came for too long), `whole` (it took too long in all) or `closed` (the connection broke).
        message: what happened, for a person.
    """

    def __init__(self, kind: Literal["connect", "settings", "idle", "whole", "closed"], message: str) -> None:
        super().__init__(message)
        self.kind = kind
        if kind == "settings":
            self.code = SETTINGS_CODE  # for `diagnose`: trying again does not help


class Unreadable(Refusal):
    """What came is not an answer: no JSON, no events of the wire, or larger than any answer."""

    code = "server_error"
    """The failure's code, for `diagnose`: the server's fault, so that trying again may help."""


class Cancelled(Ended):
    """The caller no longer wants an answer; the request is over, and nothing is tried again."""

"""Why there is no answer: a provider's own refusal, a connection that broke, bytes that are no answer, or nobody who waits.

    Refused       the provider answered, with an error: status, body, headers
    Disconnected  nothing answered, or not to the end
    Unreadable    an answer came and is none
    Cancelled     whoever asked has gone

Law: `penstock.overflow.diagnose` reads each as what cures it, by the names of its attributes, and none holds a key. Keeps out:
whether to try again (`session`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from penstock.errors import Ended, Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.text.json_access import Json


class Refused(Refusal):
    """A provider did not answer a request; `penstock.overflow.parse` reads what it refused.

    Args:
        status_code: the HTTP status; 200 for an error that came as an answer or in a stream.
        body: the error's JSON, or the text that stood in its place.
        headers: those that say when to try again, and by which number the provider knows the request.
    """

    # The names of the attributes are those of SDKs' errors: `penstock.overflow` reads any error by them.
    def __init__(self, status_code: int, body: Json, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"HTTP {status_code}: {body if isinstance(body, str) else _as_text(body)}")
        self.status_code = status_code
        self.body = body
        self.headers = dict(headers or {})


def _as_text(body: Json) -> str:
    """Return a body as text for the message of an error; a depth that could be read need not be one that can be written."""
    try:
        return json.dumps(body)
    except RecursionError:
        return "a body that is nested too deeply to be shown"


class Disconnected(Refusal):
    """The answer did not come, or did not come to its end.

    Args:
        kind: `connect` (nobody was reached), `idle` (nothing came for too long), `whole` (it took too long in all) or `closed`
            (the connection broke).
        message: what happened, for a person.
    """

    def __init__(self, kind: Literal["connect", "idle", "whole", "closed"], message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Unreadable(Refusal):
    """An answer came and is none: no JSON, no events of the wire, or larger than any answer."""

    code = "server_error"
    """The code of the failure, as `diagnose` reads it: the server's fault, so that trying again may help."""


class Cancelled(Ended):
    """Whoever asked wants no answer any more; the request is over, and nothing is tried again."""

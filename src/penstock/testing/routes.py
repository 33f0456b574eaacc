"""What is at which path? The paths of a provider's API that a client of one wire needs.

Law: what is at no path is said with the path that is there. Keeps out: sockets (`server`), decisions (`desk`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from penstock.testing.events import answer_events, error_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.testing.desk import Desk
    from penstock.transcript.shapes import Json

_PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
}


class Reply(NamedTuple):
    """What goes back: a body, as JSON or a text as it is, or the events of a stream."""

    status: int
    body: Json = None
    events: Iterator[bytes] | None = None


class Routes:
    """A desk as a site."""

    def __init__(self, desk: Desk, max_body_bytes: int) -> None:
        self.max_body_bytes = max_body_bytes
        self.broken: BaseException | None = None
        """What the double, or the test's own policy, raised first."""
        self._desk = desk
        self._wire = desk.provider.wire

    def get(self, path: str) -> Reply:
        """The list of models, or the one on it."""
        name = self._desk.provider.model
        model: Json = {"id": name, "object": "model", "created": 0, "owned_by": "penstock"}
        listed: Json = {"object": "list", "data": [model]}
        if self._wire == "anthropic":
            model = {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}
            listed = {"data": [model], "has_more": False, "first_id": name, "last_id": name}
        if path == "/v1/models":
            return Reply(200, listed)
        return Reply(200, model) if path == f"/v1/models/{name}" else self._nothing_at(path)

    def post(self, path: str, content: bytes) -> Reply:
        """The answer to a request, or the count of its tokens. Raises what the policy raises."""
        counts = self._wire == "anthropic" and path == "/v1/messages/count_tokens"
        if path != _PATHS[self._wire] and not counts:
            return self._nothing_at(path)
        try:
            request = json.loads(content)
        except (ValueError, RecursionError):
            request = None
        if not isinstance(request, dict):
            return self.turn_away(400, "The body of the request is no JSON object that can be read.")
        if counts:
            return Reply(200, {"input_tokens": self._desk.provider.size_of(request).input_tokens})
        streamed = request.get("stream") is True
        answer, number, in_stream = self._desk.decide(request, streamed=streamed)
        if in_stream:
            return Reply(200, events=error_events(answer.body, self._wire, number))
        if streamed and answer.outcome == "answered":
            return Reply(200, events=answer_events(answer.body, self._wire, request))
        return Reply(answer.status, answer.body)

    def turn_away(self, status: int, sentence: str) -> Reply:
        """A request that was not, or could not be, read."""
        answer = self._desk.turn_away(status, sentence)
        return Reply(answer.status, answer.body)

    def broke(self, error: BaseException) -> Reply:
        """Told in words that no request can change, since a client's error may be taken for the provider's."""
        self.broken = self.broken or error
        sentence = f"The test double raised {type(error).__name__}: it is raised again where the double ends."
        return Reply(400, self._desk.provider.error(sentence).body)

    def _nothing_at(self, path: str) -> Reply:
        sentence = f"Nothing is at {path}; {self._wire} is at {_PATHS[self._wire]}."
        return Reply(404, self._desk.provider.error(sentence, 404).body)

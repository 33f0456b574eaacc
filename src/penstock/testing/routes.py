"""What is at which path? The paths of a provider's API that a client of one wire needs.

They are the answers (streamed ones if they have their own path), the list of models, and token counting if the API has it; all
come from the wire's record. Law: the error for an unknown path names the paths that exist. Leaves to others: sockets (`server`),
decisions (`desk`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from penstock.wires.table import wire_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.testing.desk import Desk
    from penstock.text.json_access import Json


class HttpReply(NamedTuple):
    """What goes back over HTTP: a body or a stream."""

    status: int
    body: Json = None
    """JSON, or a text that is sent as it is; None if there are events."""
    events: Iterator[bytes] | None = None
    """The events of a stream, as they go over the wire; None for a body."""
    events_type: str = ""
    """The content type of a stream."""


class Routes:
    """A desk as a site: requests by method and path, replies in HTTP terms.

    Args:
        desk: where requests are decided.
        max_body_bytes: the largest body that the server is to read.
    """

    def __init__(self, desk: Desk, max_body_bytes: int) -> None:
        self.max_body_bytes = max_body_bytes
        self.broken: BaseException | None = None
        """The first error that the double, or the test's own policy, raised."""
        self._desk = desk
        self._double = wire_named(desk.provider.wire).double
        self._stream_type = wire_named(desk.provider.wire).answers.stream_type

    def get(self, path: str) -> HttpReply:
        """Return the list of models, or the one model on it: some clients ask for either before they send anything."""
        name = self._desk.provider.model
        listed, model = self._double.models(name)
        at = self._double.models_path
        if _is_at(at, path):
            return HttpReply(200, listed)
        return HttpReply(200, model) if _is_at(f"{at}/{name}", path) else self._nothing_at(path)

    def post(self, path: str, content: bytes) -> HttpReply:
        """Return the answer to a request, or the count of its tokens.

        Args:
            path: without a query or a trailing slash.
            content: the body.

        Raises:
            BaseException: whatever the policy raises.
        """
        counting = self._double.counting
        is_count = counting is not None and _is_at(counting.path, path)
        is_stream = self._double.stream_path != self._double.path and _is_at(self._double.stream_path, path)
        if not _is_at(self._double.path, path) and not is_count and not is_stream:
            return self._nothing_at(path)
        try:
            request = json.loads(content)
        except (ValueError, RecursionError):
            request = None
        if not isinstance(request, dict):
            return self.turn_away(400, "The body of the request is not a JSON object that can be read.")
        # Only counted: no step is used up, and nothing is recorded.
        if counting is not None and is_count:
            return HttpReply(200, counting.answer(self._desk.provider.size_of(counting.request(request)).input_tokens))
        # Gemini and Bedrock have a separate path for streams; elsewhere the body asks for one.
        streamed = is_stream if self._double.stream_path != self._double.path else request.get("stream") is True
        answer, number, in_stream = self._desk.decide(request, streamed=streamed)
        if in_stream:
            return self._stream(self._double.error_events(answer.body, number))
        if streamed and answer.outcome == "answered":
            return self._stream(self._double.answer_events(answer.body, request))
        return HttpReply(answer.status, answer.body)

    def turn_away(self, status: int, sentence: str) -> HttpReply:
        """Return the reply to a request that was not, or could not be, read."""
        answer = self._desk.turn_away(status, sentence)
        return HttpReply(answer.status, answer.body)

    def broke(self, error: BaseException) -> HttpReply:
        """Return the reply to a request for which the double or the test's policy raised, and keep the first such error.

        The sentence says nothing of the request: a client reads it as the provider's, and might try to cure an overflow that
        does not exist.
        """
        self.broken = self.broken or error
        sentence = f"The test double raised {type(error).__name__}: it is raised again where the double ends."
        return HttpReply(400, self._desk.provider.error(sentence).body)

    def _stream(self, events: Iterator[bytes]) -> HttpReply:
        """Return a reply that is a stream of the wire's own content type."""
        return HttpReply(200, events=events, events_type=self._stream_type)

    def _nothing_at(self, path: str) -> HttpReply:
        """Return the reply for an unknown path; it names the path that exists."""
        sentence = f"Nothing is at {path}; {self._desk.provider.wire} is at {self._double.path}."
        return HttpReply(404, self._desk.provider.error(sentence, 404).body)


def _is_at(pattern: str, path: str) -> bool:
    """Whether a path matches a pattern, in which a name in braces stands for any one segment."""
    return re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(pattern)), path) is not None

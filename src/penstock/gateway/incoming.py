"""What does a client's request hold: its bytes, their value, and the part of the history that its client does not know?

What goes out is always these bytes with edits spliced in. Laws: what is not changed is the client's, to the byte; restored
messages, cuts and tools are written in their proper places. Pure. Leaves to others: what is changed (`passage`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError
from penstock.text.json_access import nested, objects
from penstock.text.json_edits import edits_between
from penstock.text.json_slices import NotJson, splice
from penstock.wires import messages_of, wire_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.gateway.hidden_turns import WholeHistory
    from penstock.gateway.routes import Route
    from penstock.text.json_access import Json
    from penstock.wires import Transcript


class Request(NamedTuple):
    """A request as its client sent it."""

    route: Route
    raw: bytes
    owner: str
    """A digest of the sender."""
    plan: str
    """A digest of the plan whose limits apply to it."""


class Incoming:
    """A parsed request; made by `read_request`."""

    def __init__(self, request: Request, body: dict[str, Json], own: dict[str, Json], messages: list[Json]) -> None:
        self.request, self.messages = request, messages
        self._body, self._own = body, own
        self._layout = wire_named(request.route.wire).body
        self.whole: dict[str, Json] = own
        """The request with everything that was said in it."""
        self.origins: list[int | None] = list(range(len(messages)))
        self.is_more = False
        """Whether anything was put back into it."""

    def put_back(self, put_back: Callable[[list[Json]], WholeHistory]) -> None:
        """Put back the messages that the client does not know."""
        history = put_back(self.messages)
        if history.is_more:
            self.whole = {**self._own, self._layout.messages_key: history.messages}
            self.origins, self.is_more = history.origins, True

    def written(self, request: Json, shown: Transcript | None, tools: Sequence[Json]) -> bytes:
        """Return the client's bytes with the changes spliced in.

        Args:
            request: what is to be sent.
            shown: the history as the request shows it; None if the request holds it unchanged.
            tools: definitions that go after its own.
        """
        raw = self.request.raw
        if request is self._own and not tools:
            return raw
        if tools:
            (path, *_) = self._layout.tools_paths
            request = nested(request, path, [*objects(self._layout.tools_of(request)), *tools])
        # In a request for a count, the counted request may be nested in the body.
        new = request if self._own is self._body else _replaced(self._body, self._own, request)
        key = self._layout.messages_key
        places = self._places(shown, len(request[key])) if isinstance(request.get(key), list) else None
        sources = {key: places} if places is not None and self._own is self._body else None
        try:
            return splice(raw, edits_between(raw, self._body, new, sources=sources))
        except NotJson:  # two JSON parsers disagree: nothing is spliced in
            return raw

    def followed_by(self, messages: Sequence[Json]) -> bytes:
        """Return the client's bytes with everything that was said, and more messages after it."""
        key = self._layout.messages_key
        held = self.whole[key]
        return self.written({**self.whole, key: [*held, *messages]}, None, ())

    def _places(self, shown: Transcript | None, messages: int) -> list[int | None] | None:
        """Return the origin of each message to be sent, as a position in the client's list; None if that is unknown."""
        if shown is None:
            places = [*self.origins, *[None] * (messages - len(self.origins))]
        else:
            entries = shown.entries
            places = [
                None if entry.is_note and entry.raw is not entries[entry.index].raw else self.origins[entry.index]
                for entry in shown.visible()
            ]
        known = [place for place in places if place is not None]
        # In a repaired request it is unknown.
        is_known = len(places) == messages and all(one < other for one, other in pairwise(known))
        return places if is_known else None


def read_request(request: Request, read: Callable[[bytes], tuple[bool, Json]]) -> Incoming | None:
    """Return a parsed request; None for a body that does not belong to its API.

    Args:
        request: the client's request.
        read: returns whether a body is JSON, and its value.
    """
    try:
        is_json, body = read(request.raw)
    except UnicodeDecodeError:
        return None
    if not is_json or not isinstance(body, dict):
        return None
    counting = wire_named(request.route.wire).double.counting
    own = counting.request(body) if request.route.is_count and counting is not None else body
    try:
        messages = messages_of(own, request.route.wire) if isinstance(own, dict) else None
    except CallerError:
        return None
    return Incoming(request, body, own, messages) if isinstance(messages, list) and messages else None


def _replaced(value: Json, old: Json, new: Json) -> Json:
    """Return a body in which one object is replaced, found by identity."""
    if value is old:
        return new
    if isinstance(value, dict):
        return {name: _replaced(held, old, new) for name, held in value.items()}
    return value

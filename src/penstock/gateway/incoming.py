"""A client's request: its bytes, what they hold, and the history that its client does not know of.

What goes out is always these bytes with something spliced in. Laws: what is not changed is the client's, to the byte; messages that
were put back, cuts and tools are written into the places where they belong. Pure. Leaves to others: what is changed (`passage`).
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
    """A request as a client sent it."""

    route: Route
    raw: bytes
    owner: str
    """A digest of who sends it."""
    plan: str
    """A digest of whose limits hold for it."""


class Incoming:
    """A request that was read; made by `read_request`."""

    def __init__(self, request: Request, body: dict[str, Json], own: dict[str, Json], messages: list[Json]) -> None:
        self.request, self.messages = request, messages
        self._body, self._own = body, own
        self._layout = wire_named(request.route.wire).body
        self.whole: dict[str, Json] = own
        """The request with all that was said in it."""
        self.origins: list[int | None] = list(range(len(messages)))
        self.is_more = False
        """Whether anything was put back into it."""

    def put_back(self, put_back: Callable[[list[Json]], WholeHistory]) -> None:
        """Put back what the client does not know of."""
        history = put_back(self.messages)
        if history.is_more:
            self.whole = {**self._own, self._layout.messages_key: history.messages}
            self.origins, self.is_more = history.origins, True

    def written(self, request: Json, shown: Transcript | None, tools: Sequence[Json]) -> bytes:
        """Return the client's bytes with what was changed spliced in.

        Args:
            request: what is to be sent.
            shown: the history as it is shown in it; None where the request holds it as it is.
            tools: definitions that go behind its own.
        """
        raw = self.request.raw
        if request is self._own and not tools:
            return raw
        if tools:
            (path, *_) = self._layout.tools_paths
            request = nested(request, path, [*objects(self._layout.tools_of(request)), *tools])
        # Asked for a count, the request may stand within the body.
        new = request if self._own is self._body else _replaced(self._body, self._own, request)
        key = self._layout.messages_key
        places = self._places(shown, len(request[key])) if isinstance(request.get(key), list) else None
        sources = {key: places} if places is not None and self._own is self._body else None
        try:
            return splice(raw, edits_between(raw, self._body, new, sources=sources))
        except NotJson:  # two readers of JSON see it differently: nothing is put into it
            return raw

    def followed_by(self, messages: Sequence[Json]) -> bytes:
        """Return the client's bytes with all that was said, and more messages behind it."""
        key = self._layout.messages_key
        held = self.whole[key]
        return self.written({**self.whole, key: [*held, *messages]}, None, ())

    def _places(self, shown: Transcript | None, messages: int) -> list[int | None] | None:
        """Return what each message to be sent was made of, by its place in the client's list; None where that is not known."""
        if shown is None:
            places = [*self.origins, *[None] * (messages - len(self.origins))]
        else:
            entries = shown.entries
            places = [
                None if entry.is_note and entry.raw is not entries[entry.index].raw else self.origins[entry.index]
                for entry in shown.visible()
            ]
        known = [place for place in places if place is not None]
        # Of a request that was mended nobody knows.
        is_known = len(places) == messages and all(one < other for one, other in pairwise(known))
        return places if is_known else None


def read_request(request: Request, read: Callable[[bytes], tuple[bool, Json]]) -> Incoming | None:
    """Return a request read; None for a body that is none of its API.

    Args:
        request: as it came.
        read: says whether a body is JSON, and its value.
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
    """Return a body with one object in it replaced, which is found by being that very object."""
    if value is old:
        return new
    if isinstance(value, dict):
        return {name: _replaced(held, old, new) for name, held in value.items()}
    return value

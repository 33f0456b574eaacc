"""What is known of one API at one address, and of the conversations that it holds with clients?

A client's request begins here: it is parsed, the messages that the client does not know are put back, and earlier cuts are
repeated. Laws: what one request taught holds for the next under the same plan, since limits belong to a plan; what was cut and
answered holds only for its own client. Leaves to others: the way of one request (`passage`).
"""

from __future__ import annotations

import time
from fnmatch import fnmatchcase
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.carrier import WaysBack
from penstock.carrier.course import Course
from penstock.carrier.knowledge import Knowledge
from penstock.carrier.refused import RefusedRequests
from penstock.carrier.steps import CarrySettings
from penstock.carrier.ways_back import PREFIX, offered_prefix
from penstock.gateway.incoming import read_request
from penstock.gateway.known_bodies import KnownBodies
from penstock.gateway.owned import owned
from penstock.gateway.passage import Passage
from penstock.text.calls import mcp
from penstock.text.json_access import field, objects, string
from penstock.text.tokens import best_counter, family
from penstock.wires import is_whole, model_of, wire_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.gateway.conversations import Conversations
    from penstock.gateway.hidden_turns import HiddenTurns
    from penstock.gateway.incoming import Incoming, Request
    from penstock.store import Store
    from penstock.text.json_access import Json
    from penstock.wires.hidden_calls import HiddenStep

Offering = Literal["auto", "always", "never"]
"""When the two tools are offered: with the first cut of a conversation, from its beginning, or not at all."""
UNKNOWN_WINDOW_TOKENS = 100_000_000
"""The window of a model that nobody has configured: nothing is cut before its provider has refused something."""
# A third of the window is some 20 to 60 turns of an agent; less makes the cache be rewritten too often, more forgets too much.
HEADROOM_SHARE = 0.3
"""How much of the window a cut leaves free."""
FRESH_SECONDS = 30.0
"""How long before the store is asked again what other processes have learned about a provider."""


# The same object for all models of a family, so that a history's counts are found even if its client has changed the model.
_counter_of = cache(best_counter)


class Windows(NamedTuple):
    """The models' windows, as far as the user has configured them."""

    by_name: tuple[tuple[str, int], ...] = ()
    """Names, with `*` for anything, and tokens; the first match wins."""

    def of(self, model: str) -> int:
        """Return the window of a model; `UNKNOWN_WINDOW_TOKENS` if it is not configured."""
        return next((tokens for name, tokens in self.by_name if fnmatchcase(model, name)), UNKNOWN_WINDOW_TOKENS)


class Memories(NamedTuple):
    """What is remembered of all clients, in the store."""

    store: Store
    """Where contents are read back, for which a model waits."""
    brief: Store
    """A view of the store that holds up no request."""
    cuts: Conversations
    turns: HiddenTurns


class Provider:
    """One API at one address.

    Args:
        wire: the API's name.
        endpoint: its address.
        memories: what is remembered of clients.
        windows: the models' windows.
        offering: when the two tools are offered.
    """

    def __init__(
        self,
        wire: str,
        endpoint: str,
        memories: Memories,
        windows: Windows,
        *,
        offering: Offering = "auto",
    ) -> None:
        self.wire, self.offering = wire, offering
        ways = WaysBack(wire, memories.store)
        self._tools, self._names = ways.definitions, frozenset(ways.names)
        self._memories, self._windows = memories, windows
        self._knowledge = Knowledge(wire, endpoint, memories.brief, time.time, fresh_seconds=FRESH_SECONDS)
        self._bodies = KnownBodies(wire_named(wire).body.messages_key)
        self._refused = RefusedRequests(wire)

    def is_known(self, request: Request, model: str) -> bool:
        """Return whether it can be decided without the store if a body fits unread."""
        return self._knowledge.is_fresh(_planned(request, model))

    def fits_unread(self, request: Request, model: str) -> bool:
        """Return whether a body fits whatever it contains, and nothing is added: no token has less than a byte."""
        known = self._knowledge.of(_planned(request, model))
        return self.offering != "always" and len(request.raw) < known.never_refused(self._windows.of(model))

    def begin(self, request: Request, *, is_follow_up: bool = False, may_read: bool = True) -> Passage | None:
        """Return a request on its way; None for a body that does not belong to this API, which passes unchanged.

        Args:
            request: the client's request.
            is_follow_up: whether it is ours, sent for a client with the results of calls that we answered.
            may_read: whether the two tools may go with it.
        """
        owner = request.owner
        incoming = read_request(request, partial(self._bodies.parsed, owner=owner))
        if incoming is None:
            return None
        if not is_follow_up:
            incoming.put_back(partial(self._memories.turns.put_back, owner, self.wire))
        layout = wire_named(self.wire).body
        whole = incoming.whole
        model = request.route.model or string(field(whole, layout.model_key))
        offers = self.offering != "never" and self._may_offer(whole)
        tools = layout.tools_of(whole)
        known = self._memories.cuts.recall(
            owner,
            self.wire,
            whole[layout.messages_key],
            len(request.raw),
            system=layout.system_of(whole),
            tools=[*objects(tools), *self._tools] if offers else tools,
            reply_schema=layout.reply_schema_of(whole),
        )
        memory = self._knowledge.of(_planned(request, model))
        window = memory.window(self._windows.of(model))
        is_theirs = not is_whole(whole, self.wire)
        settings = CarrySettings(
            wire=self.wire,
            # A request that the provider itself shrinks is cut only after a refusal.
            window_tokens=UNKNOWN_WINDOW_TOKENS if is_theirs else window,
            store=owned(self._memories.brief, owner),
            known=memory.observations,
            taken_tokens=memory.taken_tokens,
            session_id=known.name[-16:],
            headroom_share=HEADROOM_SHARE,
            is_forwarded=True,
            dialect=mcp(PREFIX) if offers else None,
            counter=_counter_of(family(model_of(whole) or "o200k")),
        )
        course = Course(whole, settings, known.transcript)
        course.refused_before = lambda asked: self._refused.said_of(asked, time.time(), request.plan)
        passage = Passage(self, incoming, model, known, course, tools=self._tools if offers and may_read else ())
        passage.always_offers = is_follow_up or self.offering == "always"
        passage.begin()
        return passage

    def _may_offer(self, whole: dict[str, Json]) -> bool:
        """Return whether our tools can be added to a request's own: its model is free to call them, and has none like them."""
        wire = wire_named(self.wire)
        hidden = wire.answers.hidden_calls
        if hidden is None or not hidden.is_possible(whole):
            return False
        names = wire.codec.tool_names(wire.body.tools_of(whole))
        return offered_prefix(names) is None and self._names.isdisjoint(names)

    def learn(self, passage: Passage) -> None:
        """Remember what the refusals and the answer of a request have shown."""
        course = passage.course
        planned = _planned(passage.incoming.request, passage.model)
        self._knowledge.refused(planned, course.learnable)
        for refused, overflow in course.refused:
            self._refused.add(refused, overflow, time.time(), passage.incoming.request.plan)
        self.learn_answer(passage)
        believed = self._windows.of(passage.model)
        window = min(believed, self._knowledge.of(planned).limit_tokens or believed)
        passage.passed.window_tokens = None if window >= UNKNOWN_WINDOW_TOKENS else window
        # A cut that would have been made would also be made in the next turn.
        is_cut = course.result.success or (passage.passed.is_observed and not passage.passed.is_irreducible)
        if is_cut and course.result.transcript is not None:
            self._memories.cuts.remember(passage.known, course.result.transcript)

    def learn_answer(self, passage: Passage) -> None:
        """Remember what an answer reported, which a stream does at its end."""
        self._knowledge.answered(_planned(passage.incoming.request, passage.model), passage.course.answered)

    def ways_of(self, owner: str) -> WaysBack:
        """Return the object that answers a client's calls of the two tools."""
        return WaysBack(self.wire, owned(self._memories.store, owner))

    def keep(self, incoming: Incoming, steps: Sequence[HiddenStep]) -> None:
        """Remember what was answered in the turn that follows a client's messages."""
        self._memories.turns.remember(incoming.request.owner, self.wire, incoming.messages, steps)


def _planned(request: Request, model: str) -> str:
    """Return the name of a model under the sender's plan."""
    return f"{model} {request.plan}"

"""Follow what client and server say to each other, and say what passes between them.

It remembers of each request only what decides about its answer: that it called a tool, and for which host, or asked for the list
of tools. Laws: a message passes as it came, unless it answers one of those; every request of ours is answered by us and never
reaches the server; an id of the server's own requests is none of the client's. It does no I/O: `guard` is called with a
result that may be too large, and gives what changes in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from penstock.relay import listing
from penstock.relay.json_slices import Array, Edit, NotJson, Object, decode, read, splice
from penstock.relay.messages import MODERN, Asked, Beginning, Id, Message, OwnCall, parse, text_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_WAITING = 10_000
"""How many requests are remembered; of more the oldest is forgotten, and its answer passes as it comes."""
_CLIENT = "io.modelcontextprotocol/clientInfo"
# What `tools/result` gives is what the call itself would have given.
_CALLS = frozenset({"tools/call", "tasks/result"})
_LIST, _INITIALIZE, _CANCELLED = "tools/list", "initialize", "notifications/cancelled"
_CONCERNS_US = _CALLS | {_LIST, _INITIALIZE, _CANCELLED}


class ToServer(NamedTuple):
    """What becomes of what a client said."""

    forward: bytes
    """What goes to the server: what came, without what is ours; nothing where all of it is."""
    own: tuple[OwnCall, ...] = ()
    cancelled: Id | None = None
    """A call of ours that the client waits for no more."""


class GuardResult(Protocol):
    """Cuts what is too large of a result."""

    def __call__(self, raw: bytes, result: Object, asked: Asked, prefix: str) -> list[Edit]:
        """Return what changes in a message, nothing where its result passes as it is."""
        ...


class Conversation:
    """One client's side of one server.

    Args:
        guard: cuts what is too large.
        names: how our tools are called; conversations with the same servers share it.
        client: the name of the client, where it is known before it says it.
        server: what notices call the server before the name of its tool; nothing where there is one only.
    """

    def __init__(
        self,
        guard: GuardResult,
        names: listing.Names | None = None,
        *,
        client: str | None = None,
        server: str = "",
    ) -> None:
        self.names = listing.Names() if names is None else names
        self.client = client
        self._guard = guard
        self._server = server
        self._waiting: dict[Id, Asked] = {}
        self._own: set[Id] = set()

    # ── from the client ──────────────────────────────────────────────────────────────────────────────────────

    def is_plain_for_server(self, beginning: Beginning | None) -> bool:
        """Return whether a message of the client passes as it is, by how it begins."""
        if beginning is None or beginning.is_answer:
            return True
        return beginning.method is not None and beginning.method not in _CONCERNS_US

    def from_client(self, raw: bytes) -> ToServer:
        """Return what becomes of a message of the client, or of several in a batch.

        Args:
            raw: all of it, with its line end where it has one.
        """
        try:
            return self._from_client(raw)
        except NotJson:  # a name or an argument that is none: the server will say so
            return ToServer(raw)

    def _from_client(self, raw: bytes) -> ToServer:
        messages = parse(raw)
        if messages is None:
            return ToServer(raw)
        is_batch = raw.lstrip()[:1] == b"["
        own, kept, cancelled = [], [], None
        for message in messages:
            call = self._own_call(raw, message, is_batch=is_batch)
            if call is not None:
                self._own.add(call.id)
                own.append(call)
            elif message.method == _CANCELLED and (ended := self._cancelled(raw, message)) is not None:
                cancelled = ended
            else:
                self._remember(raw, message)
                kept.append(message)
        if len(kept) == len(messages):
            return ToServer(raw)
        forward = _batch_of(raw, kept) if kept else b""
        return ToServer(forward, tuple(own), cancelled)

    def answered(self, call: OwnCall) -> bool:
        """Note that a call of ours has its answer. Returns whether anybody still waits for it."""
        is_awaited = call.id in self._own
        self._own.discard(call.id)
        return is_awaited

    def _own_call(self, raw: bytes, message: Message, *, is_batch: bool) -> OwnCall | None:
        if message.method != "tools/call" or message.id is None or message.id_at is None:
            return None
        tool = self.names.ours(text_in(raw, message.params, "name"))
        if tool is None:
            return None
        return OwnCall(
            id=message.id,
            id_json=raw[message.id_at.start : message.id_at.end],
            tool=tool,
            arguments=_arguments(raw, message),
            client=self._client(raw, message),
            prefix=self.names.prefix,
            is_modern=text_in(raw, message.params, "_meta", MODERN) is not None,
            is_in_batch=is_batch,
        )

    def _cancelled(self, raw: bytes, message: Message) -> Id | None:
        """Return the call of ours that a client waits for no more; what it says of others is the server's."""
        at = message.params.get("requestId") if isinstance(message.params, Object) else None
        value = decode(raw, at) if at is not None else None
        ended: Id | None = None
        if isinstance(value, str | int) and not isinstance(value, bool):
            ended = ("text" if isinstance(value, str) else "number"), value
        if ended not in self._own:
            return None
        self._own.discard(ended)
        return ended

    def _remember(self, raw: bytes, message: Message) -> None:
        if message.method == _INITIALIZE:
            self.client = text_in(raw, message.params, "clientInfo", "name") or self.client
        if message.id is None or message.method not in _CALLS | {_LIST}:
            return
        tool = f"{self._server} {text_in(raw, message.params, 'name') or 'tool'}".strip()
        while len(self._waiting) >= MAX_WAITING:
            self._waiting.pop(next(iter(self._waiting)), None)
        self._waiting[message.id] = Asked(message.method or "", tool, self._client(raw, message))

    def _client(self, raw: bytes, message: Message) -> str | None:
        return text_in(raw, message.params, "_meta", _CLIENT, "name") or self.client

    # ── from the server ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def is_idle(self) -> bool:
        """Whether nothing that the server says now can change on its way."""
        return not self._waiting

    def is_plain_for_client(self, beginning: Beginning | None) -> bool:
        """Return whether a message of the server passes as it is, by how it begins."""
        if beginning is None or beginning.method is not None or self.is_idle:
            return True
        return beginning.id is not None and beginning.id not in self._waiting

    def from_server(self, raw: bytes) -> bytes:
        """Return what the client gets of a message of the server, or of several in a batch.

        Args:
            raw: all of it, with its line end where it has one.
        """
        if self.is_idle:
            return raw
        edits = [edit for message in parse(raw) or () for edit in self._edits(raw, message)]
        return splice(raw, edits) if edits else raw

    def _edits(self, raw: bytes, message: Message) -> Iterator[Edit]:
        asked = self._waiting.pop(message.id, None) if message.is_answer and message.id is not None else None
        if asked is None or not isinstance(message.result, Object):
            return
        if asked.method == _LIST:
            try:
                yield from list(listing.edits(raw, message.result, self.names))
            except NotJson:  # a name that is no text: the client will say so
                return
        else:
            yield from self._guard(raw, message.result, asked, self.names.prefix)


def _arguments(raw: bytes, message: Message) -> Mapping[str, object]:
    """Return the arguments of a call; what is no object comes back as a refusal that names it."""
    at = message.params.get("arguments") if isinstance(message.params, Object) else None
    if at is None:
        return {}
    value = decode(raw, at)
    return value if isinstance(value, dict) else {"arguments": value}


def _batch_of(raw: bytes, kept: list[Message]) -> bytes:
    """Return a batch without the calls that are ours, whatever else stands in it."""
    batch = read(raw, frozenset())
    if not isinstance(batch, Array):
        return b""
    starts = {message.whole.start for message in kept}
    spans = [
        raw[item.start : item.end] for item in batch.items or () if item.start in starts or not isinstance(item, Object)
    ]
    return b"[" + b",".join(spans) + b"]" + raw[batch.end :]

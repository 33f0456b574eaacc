"""What passes between a client and a server, and what changes on the way?

Of each request it remembers only what decides about the answer: that it called a tool, and for which host, or asked for the list of
tools. Laws: a message passes unchanged, unless it answers one of those; a call of one of our tools is answered by us and never
reaches the server; an id of the server's own requests is never taken for one of the client's. It does no I/O: `guard` is called
with a result that may be too large, and returns what changes in it.
"""

from __future__ import annotations

from contextlib import suppress
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from penstock.relay import listing
from penstock.relay.messages import (
    CANCELLED,
    MODERN,
    AskedCall,
    Beginning,
    Id,
    LongBatch,
    OwnCall,
    RpcMessage,
    as_number,
    cancelled_by,
    messages_in,
    text_in,
)
from penstock.text.json_slices import Array, Edit, NotJson, Object, Value, decode, read, splice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MAX_WAITING = 10_000
"""How many requests are remembered; beyond that the oldest is forgotten, and its answer passes unchanged."""
_CLIENT = "io.modelcontextprotocol/clientInfo"
# `tasks/result` returns what the call itself would have returned.
_CALLS = frozenset({"tools/call", "tasks/result"})
_LIST, _INITIALIZE = "tools/list", "initialize"
_CONCERNS_US = _CALLS | {_LIST, _INITIALIZE, CANCELLED}


class ToServer(NamedTuple):
    """What becomes of a client's message."""

    forward: bytes
    """The part for the server: the message without what is ours; empty if all of it is."""
    own: tuple[OwnCall, ...] = ()
    cancelled: Id | None = None
    """A call of ours that the client has cancelled."""


class GuardResult(Protocol):
    """Cuts the oversized parts of a result."""

    def __call__(self, raw: bytes, result: Object, asked: AskedCall, prefix: str) -> list[Edit]:
        """Return the edits of a message; none if its result passes unchanged."""
        ...


class Conversation:
    """One client's conversation with one server.

    Args:
        guard: cuts what is too large.
        names: the names of our tools; conversations with the same servers share it.
        client: the client's name, if it is known before the client says it.
        server: the server's name, which notices put before the name of its tool; empty if there is only one.
        say: receives sentences for the person.
    """

    def __init__(
        self,
        guard: GuardResult,
        names: listing.Names | None = None,
        *,
        client: str | None = None,
        server: str = "",
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.names = listing.Names() if names is None else names
        self.client = client
        self._say = say
        self._guard = guard
        self._server = server
        self._waiting = _Waiting()
        self._own: set[Id] = set()
        self._asked_names: set[Id] = set()
        self._asked_count = 0
        self.pages: SimpleQueue[bytes | None] = SimpleQueue()
        """Results of `ask_names`: the cursor of the next page, as JSON; None after the last."""

    # ── from the client ──────────────────────────────────────────────────────────────────────────────────────

    def is_plain_for_server(self, beginning: Beginning | None) -> bool:
        """Return whether a client's message passes unchanged, judging by its beginning."""
        if beginning is None or beginning.is_answer:
            return True
        return beginning.method is not None and beginning.method not in _CONCERNS_US

    def from_client(self, raw: bytes) -> ToServer:
        """Return what becomes of a client's message, or of a batch.

        Args:
            raw: all of it, with its line end if it has one.
        """
        messages = self._messages(raw)
        is_batch = raw.lstrip()[:1] == b"["
        own, kept, cancelled = [], [], None
        for message in messages:
            try:
                call = self._own_call(raw, message, is_batch=is_batch)
            except NotJson:  # an invalid name or argument: the server will report it
                call = None
            ended = cancelled_by(raw, message)
            if call is not None:
                self._own.add(call.id)
                own.append(call)
            elif ended in self._own:  # cancellations of other calls go to the server
                self._own.discard(ended)
                cancelled = ended
            else:
                self._remember(raw, message)
                kept.append(message)
        # Nothing here is ours: the original bytes pass, whatever is between the messages.
        if len(kept) == len(messages):
            return ToServer(raw)
        forward = _batch_of(raw, kept) if kept else b""
        return ToServer(forward, tuple(own), cancelled)

    def _messages(self, raw: bytes) -> list[RpcMessage]:
        """Return the messages in some bytes; none if they are not messages, or too many."""
        try:
            return messages_in(raw)
        except LongBatch as error:
            self._say(f"{error} passed unread")
        except NotJson:
            pass
        return []

    @property
    def own_calls(self) -> frozenset[Id]:
        """The ids of calls of our tools that are unanswered."""
        return frozenset(self._own)

    def answered(self, call: OwnCall) -> bool:
        """Note that a call of ours has been answered. Returns whether anybody still waits for it."""
        is_awaited = call.id in self._own
        self._own.discard(call.id)
        return is_awaited

    def ask_names(self, call: OwnCall, cursor: bytes | None = None) -> bytes:
        """Return a request of our own for a page of the server's tools; `pages` gets its answer, and no client sees it.

        A host may know its tools from an earlier session, and call one that this relay has never seen in a list.

        Args:
            call: a call that waits for it.
            cursor: which page, as JSON; None for the first.
        """
        self._asked_count += 1
        number = f"penstock:names:{self._asked_count}"
        self._asked_names.add(("text", number))
        self._waiting.add(("text", number), b"", AskedCall(_LIST, "", None))
        params = [b'"_meta":' + call.meta_json] if call.meta_json else []
        params += [b'"cursor":' + cursor] if cursor is not None else []
        return b'{"jsonrpc":"2.0","id":"%s","method":"tools/list","params":{%s}}\n' % (
            number.encode(),
            b",".join(params),
        )

    def with_names(self, raw: bytes, said: ToServer) -> ToServer:
        """Return what becomes of calls that seemed to be ours, once `ask_names` has learned what it could.

        Args:
            raw: the client's message.
            said: what became of it before.
        """
        self.names.is_known = True
        if all(self.names.ours(call.name) for call in said.own):
            return said
        for call in said.own:
            self.answered(call)
        return self.from_client(raw)

    def _own_call(self, raw: bytes, message: RpcMessage, *, is_batch: bool) -> OwnCall | None:
        if message.method != "tools/call" or message.id is None:
            return None
        tool = self.names.ours(text_in(raw, message.params, "name"))
        if tool is None:
            return None
        return OwnCall(
            id=message.id,
            id_json=message.id_json,
            tool=tool,
            arguments=_arguments(raw, message),
            client=self._client(raw, message),
            prefix=self.names.prefix,
            is_modern=text_in(raw, message.params, "_meta", MODERN) is not None,
            is_in_batch=is_batch,
            meta_json=_meta(raw, message),
        )

    def _remember(self, raw: bytes, message: RpcMessage) -> None:
        if message.method == _INITIALIZE:
            self.client = _name_in(raw, message.params, "clientInfo", "name") or self.client
        if message.id is None or message.method not in _CALLS | {_LIST}:
            return
        tool = f"{self._server} {_name_in(raw, message.params, 'name') or 'tool'}".strip()
        asked = AskedCall(message.method, tool, self._client(raw, message))
        self._waiting.add(message.id, message.id_json, asked)

    def _client(self, raw: bytes, message: RpcMessage) -> str | None:
        return _name_in(raw, message.params, "_meta", _CLIENT, "name") or self.client

    # ── from the server ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def is_idle(self) -> bool:
        """Whether nothing that the server says now can change on its way."""
        return not len(self._waiting)

    def is_plain_for_client(self, beginning: Beginning | None) -> bool:
        """Return whether a server's message passes unchanged, judging by its beginning."""
        if beginning is None or beginning.method is not None or self.is_idle:
            return True
        # An answer whose id comes after its result cannot be judged yet: it is held.
        return beginning.id is not None and beginning.id not in self._waiting

    def from_server(self, raw: bytes, *, is_last: bool = True) -> bytes:
        """Return what the client gets of a server's message, or of a batch.

        Args:
            raw: all of it, with its line end if it has one.
            is_last: whether the requests that it answers are done; otherwise the answer may come again.
        """
        if self.is_idle:
            return raw
        messages = self._messages(raw)
        kept = [message for message in messages if not self._told_names(raw, message)]
        if len(kept) < len(messages):
            return self.from_server(_batch_of(raw, kept), is_last=is_last) if kept else b""
        edits = [edit for message in messages for edit in self._edits(raw, message, is_last=is_last)]
        return splice(raw, edits) if edits else raw

    def _told_names(self, raw: bytes, message: RpcMessage) -> bool:
        """Take the answer to a request of our own. Returns whether it is one."""
        if not message.is_answer or message.id not in self._asked_names:
            return False
        self._asked_names.discard(message.id)
        # It counted as waiting so that the stream is read although the host has asked nothing.
        self._waiting.pop(message.id, b"")
        cursor = None
        with suppress(NotJson):
            cursor = listing.learn(raw, message.result, self.names)
        self.pages.put(cursor)
        return True

    def _edits(self, raw: bytes, message: RpcMessage, *, is_last: bool) -> Iterator[Edit]:
        asked = None
        if message.is_answer and message.id is not None:
            look = self._waiting.pop if is_last else self._waiting.find
            asked = look(message.id, message.id_json)
        if asked is None or not isinstance(message.result, Object):
            return
        if asked.method == _LIST:
            try:
                yield from list(listing.edits(raw, message.result, self.names))
            except NotJson:  # a name that is not text: the client will report it
                return
        else:
            yield from self._guard(raw, message.result, asked, self.names.prefix)


class _Waiting:
    """Unanswered requests, at most `MAX_WAITING`: all requests with an id, grouped by its spelling; the newest is answered
    first.
    """

    def __init__(self) -> None:
        # 1 and 1.0 are one id, because a server may answer one with the other, but two requests: each has its answer. So do two
        # with the same spelling: the protocol forbids them, but a host's mistake must not bypass the guard. The newest is answered
        # first, because the older one may have been given up and never get an answer.
        self._of_id: dict[Id, dict[bytes, list[AskedCall]]] = {}
        # "1" is another id, and yet the SDKs of TypeScript (1.32, `Number(response.id)`) and Python (2.3, `coerce_request_id`)
        # accept it as an answer to 1. It is guarded as one, and 1 keeps waiting: other clients ignore such an answer, and the one
        # that they accept may still come.
        self._read_alike: dict[Id, dict[Id, None]] = {}
        self._count = 0
        self._lock = Lock()  # each direction has its own thread, and a wrong count would let floods pass

    def __len__(self) -> int:
        return self._count

    def __contains__(self, number: Id) -> bool:
        return number in self._of_id or as_number(number) in self._read_alike

    def add(self, number: Id, written: bytes, asked: AskedCall) -> None:
        """Remember a request, and forget the oldest if there are too many."""
        with self._lock:
            while self._count >= MAX_WAITING:
                oldest, same = next(iter(self._of_id.items()))
                self._pop(oldest, next(iter(same)))
            self._count += 1
            self._of_id.setdefault(number, {}).setdefault(written, []).append(asked)
            self._read_alike.setdefault(as_number(number), {})[number] = None

    def find(self, number: Id, written: bytes) -> AskedCall | None:
        """Return the request that an answer belongs to: the one whose id is spelled the same, otherwise the oldest."""
        with self._lock:
            place = self._place(number, written)
            return None if place is None else self._of_id[place[0]][place[1]][-1]

    def pop(self, number: Id, written: bytes) -> AskedCall | None:
        """Return the request that an answer belongs to, and forget it, unless one id is a number and the other its text."""
        with self._lock:
            return self._pop(number, written)

    def _place(self, number: Id, written: bytes) -> tuple[Id, bytes] | None:
        """Return the id under which a request waits, and its spelling."""
        if same := self._of_id.get(number):
            return number, written if written in same else next(iter(same))
        other = next(iter(self._read_alike.get(as_number(number), ())), None)
        return None if other is None else (other, next(iter(self._of_id[other])))

    def _pop(self, number: Id, written: bytes) -> AskedCall | None:
        place = self._place(number, written)
        if place is None:
            return None
        same, written = self._of_id[place[0]], place[1]
        if place[0] != number:
            return same[written][-1]
        self._count -= 1
        asked = same[written].pop()
        if not same[written]:
            del same[written]
        if not same:
            del self._of_id[number]
            alike = self._read_alike[as_number(number)]
            del alike[number]
            if not alike:
                del self._read_alike[as_number(number)]
        return asked


def _name_in(raw: bytes, where: Value | None, *names: str) -> str | None:
    """Return a name; None also if it cannot be read: whose call it is does not decide whether it is guarded."""
    try:
        return text_in(raw, where, *names)
    except NotJson:
        return None


def _arguments(raw: bytes, message: RpcMessage) -> Mapping[str, object]:
    """Return the arguments of a call; anything but an object is returned so that the refusal names it."""
    at = message.params.get("arguments") if isinstance(message.params, Object) else None
    if at is None:
        return {}
    value = decode(raw, at)
    return value if isinstance(value, dict) else {"arguments": value}


def _meta(raw: bytes, message: RpcMessage) -> bytes:
    """Return the `_meta` of a request of the modern era in its original spelling; empty for an older one."""
    meta = message.params.get("_meta") if isinstance(message.params, Object) else None
    is_modern = text_in(raw, message.params, "_meta", MODERN) is not None
    return raw[meta.start : meta.end] if meta is not None and is_modern else b""


def _batch_of(raw: bytes, kept: list[RpcMessage]) -> bytes:
    """Return a batch without the calls that are ours, whatever else it contains."""
    batch = read(raw, frozenset())
    if not isinstance(batch, Array):
        return b""
    starts = {message.whole.start for message in kept}
    spans = [
        raw[item.start : item.end] for item in batch.items or () if item.start in starts or not isinstance(item, Object)
    ]
    return b"[" + b",".join(spans) + b"]" + raw[batch.end :]

"""How does one host see several servers as one?

A message for one server goes there and its answer comes back unchanged, except for a name that two servers share; a request for all
is sent to all and answered once. Laws: every request of the host has one answer, even if its server is gone, and none from a server
that was not asked; the ids of different servers' own requests never collide. It does no I/O. Leaves to others: what a merged answer
says (`merging`), what is cut (`conversation`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from penstock.relay.conversation import Conversation
from penstock.relay.listing import Names, is_last_page
from penstock.relay.merging import LISTS, ServerAnswer, list_entries, merge_introductions, merge_list
from penstock.relay.messages import (
    CANCELLED,
    Id,
    OwnCall,
    RpcMessage,
    as_number,
    cancelled_by,
    error_of,
    messages_in,
    parse,
    result_of,
    text_in,
    under_id,
)
from penstock.text.json_slices import Edit, NotJson, Object, Value, decode, splice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.relay.conversation import GuardResult

HOST = -1
"""The host as a destination, instead of a server's number."""
_INTRODUCTIONS = frozenset({"initialize", "server/discover"})
_OF_ALL = frozenset({*_INTRODUCTIONS, *LISTS, "logging/setLevel"})
_NAMED = {"tools/call": "tools/list", "prompts/get": "prompts/list"}
_ADDRESSED = frozenset({"resources/read", "resources/subscribe", "resources/unsubscribe"})
_OF_TASKS = frozenset({"tasks/get", "tasks/result", "tasks/cancel", "tasks/update"})
_LISTEN, _HEARD = "subscriptions/listen", "notifications/subscriptions/acknowledged"
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_CHANGED = "notifications/tools/list_changed"
# Codex gives a server 10 seconds to start, opencode 5, Claude Code and Gemini CLI 30 and more; a silent server must not take the
# others down with it.
_PATIENCE_SECONDS = {"codex-mcp-client": 6, "opencode": 3}
PATIENCE_SECONDS = 20
"""How long a request to all servers waits for a silent one, unless the host itself waits less."""
_THEIRS = "penstock:"
_UNKNOWN, _GONE, _INVALID = -32602, -32000, -32700


class Out(NamedTuple):
    """A message on its way: to a server by its number, or to the host; or a call for us to answer."""

    to: int
    raw: bytes
    own: OwnCall | None = None


@dataclass
class _Gathering:
    """One request that is sent to all servers."""

    method: str
    request: bytes
    message: RpcMessage
    waiting: set[int] = field(default_factory=set)
    answers: list[ServerAnswer] = field(default_factory=list)
    errors: list[tuple[bytes, RpcMessage]] = field(default_factory=list)
    then: list[bytes] = field(default_factory=list)
    """The host's requests that could not be routed before this was known; then nobody waits for the answer itself."""
    waited_seconds: int = 0


class Switchboard:
    """One host and its servers.

    Args:
        server_names: the servers' names, in order.
        guard: cuts what is too large.
    """

    def __init__(self, server_names: Sequence[str], guard: GuardResult) -> None:
        self._server_names = server_names
        self._names = Names()
        self._talks = [Conversation(guard, self._names, server=name) for name in server_names]
        self._desk = Conversation(guard, self._names)
        self._living = set(range(len(server_names)))
        self._asked: dict[tuple[int, Id], bytes] = {}  # by server: a host may ask two under one id, and each answers
        self._gatherings: dict[str, tuple[_Gathering, int]] = {}
        self._silent: set[int] = set()
        self._patience_seconds = PATIENCE_SECONDS
        self._is_initialized = False
        self._listening: dict[Id, tuple[bytes, RpcMessage, set[int]]] = {}
        self._known: dict[str, dict[str, tuple[int, str]]] = {method: {} for method in LISTS}
        self._count = 0

    # ── from the host ────────────────────────────────────────────────────────────────────────────────────────

    def from_host(self, raw: bytes) -> list[Out]:
        """Return what follows from a host's message; each message of a batch is routed separately."""
        messages = parse(raw)
        try:
            if messages is not None:
                return [out for part, message in _each(raw, messages) for out in self._said(part, message)]
        except NotJson:  # an invalid name or argument
            return [_error(message.id_json, _INVALID, "Parse error") for message in messages or () if message.id]
        return [_error(b"null", _INVALID, "Parse error")] if raw.strip() else []

    def answered(self, call: OwnCall) -> bool:
        """Note that a call of ours has been answered. Returns whether anybody still waits for it."""
        return self._desk.answered(call)

    def _said(self, raw: bytes, message: RpcMessage) -> Iterator[Out]:
        if message.method is None:
            yield from self._answer_to_server(raw, message)
        elif message.id is None:
            yield from self._notified(raw, message)
        elif message.method in _OF_ALL:
            yield from self._gather(_Gathering(message.method, raw, message), message)
        elif message.method == _LISTEN:
            yield from self._listen(raw, message)
        elif message.method == "ping":
            yield Out(HOST, result_of(message.id_json, b"{}") + b"\n")
        # Our tools come after requests for all servers: a server may have a tool of this name, and then it is the server's.
        elif self._names.ours(text_in(raw, message.params, "name")) and message.method == "tools/call":
            if self._known["tools/list"]:
                yield from (Out(HOST, b"", call) for call in self._desk.from_client(raw).own)
            else:  # before the list is known it may be a server's
                yield from self._ask_first("tools/list", raw, message)
        else:
            yield from self._routed(raw, message)

    def _routed(self, raw: bytes, message: RpcMessage) -> Iterator[Out]:
        """Pass a request to its server; if that is not known yet, all servers are asked for the list first."""
        listed = _NAMED.get(message.method or "")
        if listed is None:
            server, raw = self._addressed(raw, message)
            yield from self._to(server, raw, message)
            return
        name = text_in(raw, message.params, "name") or ""
        if name in self._known[listed]:
            server, own_name = self._known[listed][name]
            yield from self._to(server, _renamed(raw, message.params, own_name) if own_name != name else raw, message)
        # With a single server there is no doubt, whatever its list contains: it reports names that it does not know.
        elif len(self._living) == 1:
            yield from self._to(next(iter(self._living)), raw, message)
        elif not self._known[listed]:
            yield from self._ask_first(listed, raw, message)
        else:
            yield _error(message.id_json, _UNKNOWN, f"No server has {name[:128]!r}")

    def _ask_first(self, listed: str, raw: bytes, message: RpcMessage) -> Iterator[Out]:
        """Ask all servers for a list before a request is passed on: a host may know its tools from an earlier session."""
        yield from self._gather(_Gathering(listed, _relisted(raw, message, listed), message, then=[raw]), message)

    def _addressed(self, raw: bytes, message: RpcMessage) -> tuple[int, bytes]:
        """Return the server for a request that names neither a tool nor a prompt, and the request in that server's names.

        It is found by an address, a task, or the prompt whose argument is being completed; otherwise it is the first server.
        """
        first = min(self._living, default=0)
        if message.method in _OF_TASKS:
            # Tasks are known from lists and from answers that created them. An unknown one goes to the first server, like every
            # request that does not show whose it is; with several servers that is a guess, which the server's error corrects.
            task = text_in(raw, message.params, "taskId") or ""
            return self._known["tasks/list"].get(task, (first, ""))[0], raw
        ref = message.params.get("ref") if isinstance(message.params, Object) else None
        prompt = text_in(raw, ref, "name") or ""
        if prompt in self._known["prompts/list"]:
            server, own_name = self._known["prompts/list"][prompt]
            return server, _renamed(raw, ref, own_name) if own_name != prompt else raw
        uri = text_in(raw, message.params if message.method in _ADDRESSED else ref, "uri") or ""
        if uri in self._known["resources/list"]:
            return self._known["resources/list"][uri][0], raw
        templates = self._known["resources/templates/list"].items()
        fits = (server for form, (server, _) in templates if uri.startswith(form.partition("{")[0]))
        # A template is compared up to its first variable only: what RFC 6570 allows after it is for the server to refuse.
        return next(fits, first) if uri else first, raw

    def _to(self, server: int, raw: bytes, message: RpcMessage) -> Iterator[Out]:
        if server not in self._living or message.id is None:
            yield _error(message.id_json, _GONE, f"The server {self._server_names[server]} has ended")
            return
        self._asked[server, message.id] = message.id_json
        yield Out(server, self._talks[server].from_client(raw).forward.strip() + b"\n")

    def _notified(self, raw: bytes, message: RpcMessage) -> Iterator[Out]:
        """Pass a notification on: a cancellation to the server that has the call, others to all."""
        servers: Iterable[int] = sorted(self._living)
        if message.method == CANCELLED:
            said = self._desk.from_client(raw)
            if not said.forward:
                return
            number = cancelled_by(raw, message)
            if number in self._listening:
                servers = sorted(self._listening.pop(number)[2])
            else:
                servers = [server for server in servers if (server, number) in self._asked]
        yield from (Out(server, raw + b"\n") for server in servers)

    def _answer_to_server(self, raw: bytes, message: RpcMessage) -> Iterator[Out]:
        """Pass a host's answer to the server that asked, under the server's own id."""
        if message.id is None or not str(message.id[1]).startswith(_THEIRS):
            return
        server, _, number = str(message.id[1]).removeprefix(_THEIRS).partition(":")
        if server.isdigit() and int(server) in self._living:
            yield Out(int(server), under_id(raw, message, number.encode()) + b"\n")

    # ── from a server ────────────────────────────────────────────────────────────────────────────────────────

    def from_server(self, server: int, raw: bytes) -> list[Out]:
        """Return what follows from a server's message; bytes that are not a message pass."""
        messages = parse(raw)
        if messages is None:
            return [Out(HOST, raw)]
        return [out for part, message in _each(raw, messages) for out in self._told(server, part, message)]

    def lost(self, server: int) -> list[Out]:
        """Return what follows from the end of a server: its open requests are answered."""
        # Three things may wait for it, and each must end here: a request to it alone, a subscription of which it was the last
        # server, and a request to all that only it has not answered.
        self._living.discard(server)
        outs: list[Out] = []
        for (asked, number), id_json in list(self._asked.items()):
            if asked == server:
                del self._asked[asked, number]
                outs.append(_error(id_json, _GONE, f"The server {self._server_names[server]} has ended"))
        for number, (_, message, left) in list(self._listening.items()):
            left.discard(server)
            if not left:
                del self._listening[number]
                outs.append(_error(message.id_json, _GONE, "No server is left"))
        for key, (gathering, asked) in list(self._gatherings.items()):
            if asked == server:
                del self._gatherings[key]
                gathering.waiting.discard(server)
                outs += self._finished(gathering)
        return outs

    def tick(self) -> list[Out]:
        """Return what follows from one more second: requests to all proceed without a server that is silent for too long.

        Once that server speaks it is asked like the others, and the host is told that the tools have changed.
        """
        outs: list[Out] = []
        for gathering in {id(one): one for one, _ in self._gatherings.values()}.values():
            gathering.waited_seconds += 1
            if gathering.waited_seconds >= self._patience_seconds and gathering.answers:
                self._silent |= gathering.waiting
                gathering.waiting.clear()
                self._gatherings = {key: one for key, one in self._gatherings.items() if one[0] is not gathering}
                outs += self._finished(gathering)
        return outs

    @property
    def silent(self) -> list[str]:
        """The names of the servers that nobody waits for any more."""
        return [self._server_names[server] for server in sorted(self._silent & self._living)]

    def _told(self, server: int, raw: bytes, message: RpcMessage) -> Iterator[Out]:
        if server in self._silent:
            self._silent.discard(server)
            yield from self._changed()
        if message.method is not None:
            if message.method != _HEARD:
                yield Out(HOST, self._as_of(server, raw, message) + b"\n")
            return
        if message.id in self._listening:
            yield from self._heard_last(server, raw, message.id)
            return
        key = str(message.id[1]) if message.id is not None else ""
        gathering, asked = self._gatherings.get(key, (None, HOST))
        # One server must not speak for another: what it was not asked itself, it cannot answer.
        if gathering is not None and asked == server:
            del self._gatherings[key]
            yield from self._gathered(gathering, server, raw, message)
            return
        if self._is_asked_elsewhere(server, message.id):
            return
        if message.id is not None and self._asked.pop((server, message.id), None) is None and key.startswith(_THEIRS):
            return  # an answer that nobody waits for any more
        if (
            b'"taskId"' in raw
            and isinstance(message.result, Object)
            and (task := message.result.get("task")) is not None
        ):
            made = decode(raw, task)
            if isinstance(made, dict) and isinstance(made.get("taskId"), str):
                self._known["tasks/list"][made["taskId"]] = (server, made["taskId"])
        yield Out(HOST, self._talks[server].from_server(raw) + b"\n")

    def _is_asked_elsewhere(self, server: int, number: Id | None) -> bool:
        """Return whether only others were asked under an id, or under one that clients take for the same: other servers, or we."""
        if number is None or (server, number) in self._asked:
            return False
        ours = {*(one.message.id for one, _ in self._gatherings.values()), *self._desk.own_calls}
        asked = [*self._asked, *((HOST, other) for other in ours if other is not None)]
        those = {who for who, other in asked if other == number}
        those = those or {who for who, other in asked if as_number(other) == as_number(number)}
        return bool(those) and server not in those

    def _as_of(self, server: int, raw: bytes, message: RpcMessage) -> bytes:
        """Return a server's request or notification under ids that no other server has: its own, or that of a request it
        cancels.
        """
        at = message.whole.get("id")
        if at is None and message.method == CANCELLED and isinstance(message.params, Object):
            at = message.params.get("requestId")
        if at is None:
            return raw
        number = _THEIRS + f"{server}:" + raw[at.start : at.end].decode()
        return splice(raw, [Edit(at.start, at.end, json.dumps(number).encode())])

    # ── what changes, since 2026-07-28 ───────────────────────────────────────────────────────────────────────

    def _listen(self, raw: bytes, message: RpcMessage) -> Iterator[Out]:
        """Subscribe the host to changes at any server: under its own id, which the notifications repeat.

        A host takes the first acknowledgement as final, so we send it ourselves, for everything that it asked for.
        """
        if message.id is None:
            return
        self._listening[message.id] = (raw, message, set(self._living))
        params = decode(raw, message.params) if message.params is not None else {}
        wanted = params.get("notifications", {}) if isinstance(params, dict) else {}
        yield _note(_HEARD, message, notifications=wanted)
        yield from (Out(server, raw + b"\n") for server in sorted(self._living))

    def _heard_last(self, server: int, raw: bytes, number: Id) -> Iterator[Out]:
        """Take the end of one server's subscription; the host gets the last one."""
        left = self._listening[number][2]
        left.discard(server)
        if not left:
            del self._listening[number]
            yield Out(HOST, raw + b"\n")

    def _changed(self) -> Iterator[Out]:
        """Notify the host that the tools have changed, in the way that it subscribed to."""
        if self._is_initialized:
            yield Out(HOST, json.dumps({"jsonrpc": "2.0", "method": _CHANGED}).encode() + b"\n")
        for raw, message, _ in self._listening.values():
            params = decode(raw, message.params) if message.params is not None else None
            wanted = params.get("notifications") if isinstance(params, dict) else None
            if isinstance(wanted, dict) and wanted.get("toolsListChanged"):
                yield _note(_CHANGED, message)

    # ── what all are asked ───────────────────────────────────────────────────────────────────────────────────

    def _gather(self, gathering: _Gathering, message: RpcMessage) -> Iterator[Out]:
        """Ask all servers."""
        if gathering.method == "initialize":
            self._is_initialized = True
            for talk in (*self._talks, self._desk):
                talk.client = text_in(gathering.request, message.params, "clientInfo", "name")
            self._patience_seconds = _PATIENCE_SECONDS.get(self._desk.client or "", PATIENCE_SECONDS)
        # A server that was silent is left out from then on, unless all others are silent too: otherwise each list would cost the
        # full patience again.
        gathering.waiting = self._living - self._silent or set(self._living)
        if not gathering.waiting:
            yield from self._finished(gathering)
        for server in sorted(gathering.waiting):
            yield self._ask(gathering, server, gathering.request)

    def _ask(self, gathering: _Gathering, server: int, request: bytes) -> Out:
        self._count += 1
        # A new id for each server and page: the host's id, sent to three servers, would come back three times.
        key = f"{_THEIRS}{self._count}"
        self._gatherings[key] = (gathering, server)
        return Out(server, under_id(request, messages_in(request)[0], json.dumps(key).encode()) + b"\n")

    def _gathered(self, gathering: _Gathering, server: int, raw: bytes, message: RpcMessage) -> Iterator[Out]:
        """Take the answer of one server; for a list, request the next page."""
        result = message.result
        if not isinstance(result, Object):
            gathering.errors.append((raw, message))
        elif gathering.method not in LISTS or is_last_page(raw, result):
            gathering.answers.append(ServerAnswer(server, raw, result))
        else:
            try:
                page = _next_page(gathering.request, raw, result)
            except (ValueError, RecursionError):  # a cursor of more digits or levels than can be sent back
                gathering.errors.append((raw, message))
            else:
                gathering.answers.append(ServerAnswer(server, raw, result))
                yield self._ask(gathering, server, page)
                return
        gathering.waiting.discard(server)
        yield from self._finished(gathering)

    def _finished(self, gathering: _Gathering) -> Iterator[Out]:
        """Answer the host once all servers have answered."""
        if gathering.waiting:
            return
        result = self._merged(gathering)
        if gathering.then:
            for raw in gathering.then:
                # Marked as known so that an unknown name is asked for only once.
                self._known[gathering.method].setdefault("", (0, ""))
                yield from self.from_host(raw)
        elif result is not None:
            yield Out(HOST, result_of(gathering.message.id_json, result) + b"\n")
        elif gathering.errors:
            # All refused. The host gets the first refusal in its server's words, which say more than ours could.
            raw, message = gathering.errors[0]
            yield Out(HOST, under_id(raw, message, gathering.message.id_json) + b"\n")
        else:
            yield _error(gathering.message.id_json, _GONE, "No server is left")

    def _merged(self, gathering: _Gathering) -> bytes | None:
        """Return the merged answer; None if no server gave one."""
        if not gathering.answers:
            return None
        try:
            if gathering.method in _INTRODUCTIONS:
                return merge_introductions(gathering.answers, self._server_names)
            if gathering.method in LISTS:
                found = list_entries(gathering.method, gathering.answers, self._server_names)
                # A late server may change names; a name that is already known keeps leading where it led.
                known = {entry.name: (entry.server, entry.own_name) for entry in found}
                self._known[gathering.method] = self._known[gathering.method] | known
                return merge_list(gathering.method, found, gathering.answers, self._names)
        except (NotJson, ValueError, RecursionError):  # a server that writes invalid JSON
            return None
        first = gathering.answers[0]
        return first.raw[first.result.start : first.result.end] if first.result is not None else None


def _each(raw: bytes, messages: list[RpcMessage]) -> Iterator[tuple[bytes, RpcMessage]]:
    """Yield each message of a batch as bytes of its own; a single message as it came."""
    if raw.lstrip()[:1] != b"[":
        yield from ((raw.strip(), message) for message in (messages if raw[:1] == b"{" else parse(raw.strip()) or ()))
        return
    for message in messages:
        part = raw[message.whole.start : message.whole.end]
        yield from ((part, alone) for alone in parse(part) or ())


def _note(method: str, message: RpcMessage, **params: object) -> Out:
    """Return a notification under the id of a subscription request."""
    about = {"_meta": {_SUBSCRIPTION: json.loads(message.id_json)}, **params}
    return Out(HOST, json.dumps({"jsonrpc": "2.0", "method": method, "params": about}).encode() + b"\n")


def _error(id_json: bytes, code: int, why: str) -> Out:
    return Out(HOST, error_of(id_json, code, why) + b"\n")


def _renamed(raw: bytes, where: Value | None, name: str) -> bytes:
    """Return a request under its server's own name, which is in a part of it."""
    at = where.get("name") if isinstance(where, Object) else None
    return raw if at is None else splice(raw, [Edit(at.start, at.end, json.dumps(name).encode())])


def _relisted(raw: bytes, message: RpcMessage, method: str) -> bytes:
    """Return a request for a list, in the same era as another request."""
    params = decode(raw, message.params) if message.params is not None else {}
    meta = params.get("_meta") if isinstance(params, dict) else None
    asked = {"jsonrpc": "2.0", "id": 0, "method": method, "params": {"_meta": meta} if meta else {}}
    return json.dumps(asked).encode()


def _next_page(request: bytes, raw: bytes, result: Object) -> bytes:
    """Return a request for the page of a list that follows a result."""
    asked, cursor = json.loads(request), result.get("nextCursor")
    following = None if cursor is None else json.loads(raw[cursor.start : cursor.end])
    asked["params"] = {**(asked.get("params") or {}), "cursor": following}
    return json.dumps(asked).encode()

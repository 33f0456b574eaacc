"""What is a JSON-RPC message, as far as a relay needs to know?

A message is read once, without its values: whom it answers, what it asks, and where its result is. Law: what cannot be read is not
a message to us, and passes. Leaves to others: what follows from it (`conversation`).
"""

from __future__ import annotations

import json
from contextlib import suppress
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from penstock.text.json_slices import (
    MAX_ITEMS,
    Array,
    CutShort,
    Edit,
    JsonReader,
    NotJson,
    Object,
    Slice,
    Value,
    decode,
    is_text,
    read,
    splice,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Id = tuple[str, str | int | float]
"""An id with its kind: 1 and "1" are two ids, 1 and 1.0 one, because servers without integers answer so."""

_INTO = frozenset(
    {
        *("params", "_meta", "clientInfo", "io.modelcontextprotocol/clientInfo", "ref"),
        *("result", "content", "resource", "tools", "prompts", "resources", "resourceTemplates"),
    }
)
CANCELLED = "notifications/cancelled"
MODERN = "io.modelcontextprotocol/protocolVersion"
"""The key in the `_meta` of every request since 2026-07-28."""


class LongBatch(NotJson):
    """A batch has more messages than are read."""


class RpcMessage(NamedTuple):
    """One message, and the positions of its parts in its bytes."""

    whole: Object
    id: Id | None
    id_json: bytes
    """The id in its original spelling: a host that asks under 1.0 and is answered under 1 may wait forever. Without one, `null`."""
    method: str | None
    params: Value | None
    result: Value | None

    @property
    def is_answer(self) -> bool:
        """Whether a message answers a request, with a result or an error."""
        return self.method is None and self.id is not None


class AskedCall(NamedTuple):
    """A request whose answer may change on its way."""

    method: str
    tool: str
    client: str | None


class OwnCall(NamedTuple):
    """A call of one of our tools, for us to answer."""

    id: Id
    id_json: bytes
    """The id in its original spelling."""
    tool: str
    """`page` or `find`."""
    arguments: Mapping[str, object]
    client: str | None
    prefix: str
    is_modern: bool
    is_in_batch: bool
    meta_json: bytes = b""
    """The `_meta` of a request of the modern era, where every request has one; otherwise empty."""

    @property
    def name(self) -> str:
        """The tool's name for the client."""
        return self.prefix + self.tool


def parse(raw: bytes) -> list[RpcMessage] | None:
    """Return the messages in some bytes, one or those of a batch; None if they are not messages.

    Args:
        raw: a line, an event's data or a body.
    """
    try:
        return messages_in(raw)
    except NotJson:
        return None


def messages_in(raw: bytes) -> list[RpcMessage]:
    """Return the messages in some bytes, as `parse` does.

    Raises:
        LongBatch: there are more than are read.
        NotJson: they are not messages.
    """
    value = read(raw, _INTO)
    if isinstance(value, Object):
        return [_message(raw, value)]
    if isinstance(value, Array) and value.items is None:
        raise LongBatch(f"a batch of more than {MAX_ITEMS} messages")
    if isinstance(value, Array) and value.items:
        return [_message(raw, item) for item in value.items if isinstance(item, Object)]
    raise NotJson("no message")


def _message(raw: bytes, whole: Object) -> RpcMessage:
    at, method = whole.get("id"), whole.get("method")
    return RpcMessage(
        whole=whole,
        id=_id(raw, at),
        id_json=raw[at.start : at.end] if isinstance(at, Slice) else b"null",
        method=text_of(raw, method) if method is not None and is_text(raw, method) else None,
        params=whole.get("params"),
        result=whole.get("result"),
    )


def _id(raw: bytes, at: Value | None) -> Id | None:
    if not isinstance(at, Slice):
        return None
    value = decode(raw, at)
    if value is None:  # forbidden by MCP, but servers answer it all the same
        return "null", ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return ("text" if isinstance(value, str) else "number"), value


def as_number(number: Id) -> Id:
    """Return an id as the number that clients read in it, if it is a numeric text: `"20"`, `" 20 "`, `"0x14"`, `""` for 0."""
    kind, text = number
    if kind != "text" or not isinstance(text, str):
        return number
    with suppress(ValueError):
        return "number", int(text.strip() or "0", 0)
    with suppress(ValueError):
        read = float(text)
        return number if isnan(read) else ("number", read)
    return number


def cancelled_by(raw: bytes, message: RpcMessage) -> Id | None:
    """Return the id of the request that a notification cancels; None if it names none, or is no cancellation."""
    if message.method != CANCELLED or not isinstance(message.params, Object):
        return None
    with suppress(NotJson):
        return _id(raw, message.params.get("requestId"))
    return None


def result_of(id_json: bytes, result: bytes) -> bytes:
    """Return the message that answers a request with a result; both are JSON."""
    return b'{"jsonrpc":"2.0","id":' + id_json + b',"result":' + result + b"}"


def error_of(id_json: bytes, code: int, why: str) -> bytes:
    """Return the message that answers a request with an error; its id is JSON."""
    error = json.dumps({"code": code, "message": why}).encode()
    return b'{"jsonrpc":"2.0","id":' + id_json + b',"error":' + error + b"}"


def under_id(raw: bytes, message: RpcMessage, id_json: bytes) -> bytes:
    """Return a message with another id, as JSON, in place of its own or of none."""
    start = message.whole.start + 1
    at = message.whole.get("id")
    edit = Edit(start, start, b'"id":' + id_json + b",") if at is None else Edit(at.start, at.end, id_json)
    return splice(raw, [edit])


def text_in(raw: bytes, where: Value | None, *names: str) -> str | None:
    """Return the text that a path of names leads to within a value; None if there is none."""
    for name in names:
        if not isinstance(where, Object):
            return None
        where = where.get(name)
    return text_of(raw, where) if where is not None and is_text(raw, where) else None


class Beginning(NamedTuple):
    """What the first bytes of a long message reveal."""

    method: str | None = None
    id: Id | None = None
    is_answer: bool = False
    """Whether a result or an error begins in it."""


def begins(raw: bytes) -> Beginning | None:
    """Return what the beginning of a message reveals; None if it is not a message."""
    reader = JsonReader(raw)
    found: dict[str, object] = {}
    try:
        reader.blanks()
        if raw[reader.at : reader.at + 1] == b"[":
            return Beginning()  # a batch
        if raw[reader.at : reader.at + 1] != b"{":
            return None
        for name, value in _members_until_cut(reader):
            if name in {"result", "error"}:
                return Beginning(id=_found_id(found), is_answer=True)
            if name == "id" and value is not None:
                found["id"] = _id(raw, value)
            if name == "method" and value is not None and is_text(raw, value):
                return Beginning(method=text_of(raw, value), id=_found_id(found))
    except CutShort:
        pass
    except NotJson:
        return None
    return Beginning(id=_found_id(found))


def _found_id(found: dict[str, object]) -> Id | None:
    value = found.get("id")
    return value if isinstance(value, tuple) else None


def _members_until_cut(reader: JsonReader) -> Iterator[tuple[str, Slice | None]]:
    """Yield names with their values, the last one perhaps without: its value continues beyond the bytes at hand."""
    reader.at += 1
    while True:
        reader.blanks()
        name = reader.name()
        try:
            value = reader.skip()
        except CutShort:
            yield name, None
            return
        # Only a value that ends before the bytes do is whole: the first two digits of the id 1234 would be another request's id.
        yield name, value if value.end < len(reader.raw) else None  # a number may continue
        reader.blanks()
        if reader.raw[reader.at : reader.at + 1] != b",":
            return
        reader.at += 1

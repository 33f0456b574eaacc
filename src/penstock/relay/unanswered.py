"""Which requests of a host are unanswered, and what may be written to it as an answer?

A body that comes back over HTTP may be anything: a page, an OAuth error, the answer to another request. A host at pipes reads only
JSON-RPC messages, and waits as long as one of its requests is unanswered. Leaves to others: who sends and writes (`bridge`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.relay.messages import Id, RpcMessage, parse, text_in
from penstock.text.escape import show_text
from penstock.text.json_slices import NotJson, decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WORDS_CHARS = 500
"""How much is reported of what a server says instead of a message."""


class OpenRequests:
    """The unanswered requests, each with its id in its original spelling."""

    def __init__(self) -> None:
        self._written: dict[Id, bytes] = {}

    def add(self, messages: Iterable[RpcMessage]) -> tuple[Id, ...]:
        """Note the requests among a host's messages, and return their ids."""
        requests = {
            message.id: message.id_json for message in messages if message.method is not None and message.id is not None
        }
        self._written.update(requests)
        return tuple(requests)

    def note(self, messages: Iterable[RpcMessage]) -> None:
        """Note the answers among a server's messages."""
        for message in messages:
            if message.is_answer and message.id is not None:
                self._written.pop(message.id, None)

    def has_any(self, ids: Sequence[Id]) -> bool:
        """Return whether any of some requests is unanswered."""
        return any(number in self._written for number in ids)

    def take(self, ids: Sequence[Id]) -> list[bytes]:
        """Return the ids of those of some requests that are unanswered, in their original spelling, and stop waiting for them."""
        return [self._written.pop(number) for number in ids if number in self._written]


def read_messages(raw: bytes) -> list[RpcMessage] | None:
    """Return the JSON-RPC messages in some bytes; None if any is invalid.

    Args:
        raw: a body, or the data of an event.
    """
    messages = parse(raw)
    return messages if messages and all(_is_message(raw, message) for message in messages) else None


def _is_message(raw: bytes, message: RpcMessage) -> bool:
    if text_in(raw, message.whole, "jsonrpc") != "2.0":
        return False
    is_answered = message.id is not None and message.result is not None
    return message.method is not None or is_answered or is_error(raw, message)


def is_error(raw: bytes, message: RpcMessage) -> bool:
    """Return whether a message is a JSON-RPC error, whose code is a number; OAuth uses `error` for a text."""
    at = message.whole.get("error")
    if at is None or message.method is not None or text_in(raw, message.whole, "jsonrpc") != "2.0":
        return False
    try:
        error = decode(raw, at)
    except NotJson:
        return False
    return isinstance(error, dict) and isinstance(error.get("code"), int) and not isinstance(error["code"], bool)


def first_words(body: bytes) -> str:
    """Return the beginning of a server's words, on one line, without terminal control characters."""
    text = " ".join(body[: 4 * _WORDS_CHARS].decode("utf-8", "replace").split())
    shown = show_text(text[:_WORDS_CHARS])
    return shown if len(text) <= _WORDS_CHARS and len(body) <= 4 * _WORDS_CHARS else f"{shown}…"

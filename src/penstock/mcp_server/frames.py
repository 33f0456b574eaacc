"""How is one message read and written? Strict JSON in, JSON that cannot fail out, the same for every transport.

What other readers would interpret differently is refused: bytes that are not UTF-8, lone UTF-16 surrogates, `NaN`, numbers beyond
the range of a float, a name twice in one object, unbounded nesting. Law: `parse` returns an object that every strict reader reads
alike, and `message` the JSON-RPC message in it, or they raise `BadFrame` with the answer. Leaves to others: how bytes travel
(`stdio`, `http`).
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_types.jsonrpc import JSONRPCMessage

MAX_BYTES = 4 << 20
"""The most bytes of one message: the SDK's own cap for HTTP, and a thousand times what a call needs."""
MAX_DEPTH = 100
"""The deepest nesting of arrays and objects in a message; schemas are the deepest that the protocol carries, and come from us."""

PARSE_ERROR, INVALID_REQUEST = -32700, -32600


class BadFrame(Exception):
    """A message that cannot be served, with the error response for its sender.

    Args:
        message: Why, for the sender.
        sent: What could be read of it: its id goes into the answer if it is valid. None for bytes that are not JSON, which makes
            the code `PARSE_ERROR`.
    """

    def __init__(self, message: str, sent: object = None) -> None:
        super().__init__(message)
        number = sent.get("id") if isinstance(sent, dict) else None
        # JSON-RPC 2.0, section 5: the id is null if it could not be detected.
        known = number if _is_id(number) else None
        code = PARSE_ERROR if sent is None else INVALID_REQUEST
        self.answer = {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": message}}
        """The error response that its sender gets."""


def parse(raw: bytes) -> dict[str, Any]:
    """Return the object that `raw` encodes.

        >>> parse(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')["method"]
        'ping'

    Raises:
        BadFrame: `raw` is not JSON, or JSON that readers would interpret differently; batches are refused too.
    """
    sent, faults = _read(raw)
    if not isinstance(sent, dict):
        raise BadFrame("Invalid request: a message is one object; batches are not served", [])
    if _depth_exceeds(raw, sent):
        faults.append(f"nested deeper than {MAX_DEPTH}")
    # An error whose request could not be read has the id null, as ours have; answering it would be answering an answer.
    is_blind_error = "error" in sent and "method" not in sent and sent.get("id") is None
    if "id" in sent and not _is_id(sent["id"]) and not is_blind_error:
        faults.append("the id is not a short text or a whole number")
    if faults:
        raise BadFrame(f"Invalid request: {faults[0]}", sent)
    return sent


def message(raw: bytes) -> JSONRPCMessage:
    """Return the JSON-RPC message that `raw` encodes.

    Raises:
        BadFrame: As for `parse`, and for an object that is not a JSON-RPC 2.0 message.
    """
    from mcp_types.jsonrpc import jsonrpc_message_adapter
    from pydantic import ValidationError

    sent = parse(raw)
    try:
        return jsonrpc_message_adapter.validate_python(sent, by_name=False)
    except ValidationError:
        raise BadFrame("Invalid request: not a JSON-RPC 2.0 message", sent) from None


def _read(raw: bytes) -> tuple[object, list[str]]:
    """Return the value of some JSON and what is wrong with it: Python's reader accepts more than JSON."""
    faults: list[str] = []

    def constant(name: str) -> None:
        faults.append(f"{name} is not JSON")

    def number(text: str) -> float:
        value = float(text)
        if math.isinf(value):
            faults.append("a number is beyond every float")
        return value

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            faults.append("a name occurs twice in one object")
            if sum(name == "id" for name, _ in pairs) > 1:
                del members["id"]  # nobody knows which of them the sender waits for
        return members

    try:
        text = raw.decode("utf-8")
        sent = json.loads(text, parse_constant=constant, parse_float=number, object_pairs_hook=unique)
        # Only an escape can introduce a lone UTF-16 surrogate; encoding the value finds it.
        if "\\u" in text and not faults:
            json.dumps(sent, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        faults.append("half of a UTF-16 pair")
    except UnicodeDecodeError:
        raise BadFrame("Parse error: not UTF-8") from None
    except RecursionError:
        raise BadFrame("Parse error: nested too deep") from None
    except ValueError:
        raise BadFrame("Parse error: not JSON") from None
    return sent, faults


def write(message: dict[str, Any]) -> bytes:
    """Return `message` as one line of JSON, all ASCII: any text can be written."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def _is_id(value: object) -> bool:
    """Return whether a value can be the id of a request: a short printable text or a whole number, not a bool or null."""
    if isinstance(value, str):
        return len(value) <= 256 and value.isprintable()
    return isinstance(value, int) and not isinstance(value, bool)


def _depth_exceeds(raw: bytes, sent: object) -> bool:
    """Return whether a value is nested deeper than `MAX_DEPTH`."""
    # That many brackets are needed to nest so deep: most messages pass by counting bytes.
    if raw.count(b"{") + raw.count(b"[") <= MAX_DEPTH:
        return False
    level: list[object] = [sent]
    for _ in range(MAX_DEPTH):
        # Level by level rather than by recursion, which would fail on exactly what it is to detect.
        level = [
            inner
            for value in level
            for inner in (value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True

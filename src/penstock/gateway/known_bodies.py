"""Which part of a body was parsed before? A client sends its whole history each time, and only its newest messages are new bytes.

The bytes of a history are compared with those that the same client sent before, at memory speed; up to the first difference its
messages are the values parsed then, and only the rest is parsed. Laws: the result is what parsing the whole body gives, whatever it
contains; nobody gets values from somebody else's bytes. Pure except for what it holds. Leaves to others: what the messages mean.
"""

from __future__ import annotations

import re
import secrets
import threading
from bisect import bisect_right
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.text.json_access import parsed, value_at

if TYPE_CHECKING:
    from penstock.text.json_access import Json

MAX_HELD_BYTES: Final = 16 << 20
"""How much of bodies is held, for all clients; the least recently used goes first."""
_LEAST_BYTES: Final = 1 << 16
"""Parsing a smaller body is as fast as comparing it."""
_CHUNK_BYTES: Final = 1 << 16
_BLANKS = re.compile(r"[ \t\r\n]*+")


class _Body(NamedTuple):
    """The beginning of a parsed body, up to the end of its last message."""

    owner: str
    chunks: tuple[bytes, ...]
    """Its bytes; every chunk except the last has `_CHUNK_BYTES`."""
    opening: int
    """Where the list of messages begins: after its bracket."""
    ends: tuple[int, ...]
    """Where each message ends."""
    messages: tuple[Json, ...]

    def shared_bytes(self, raw: bytes) -> int:
        """Return how many bytes a body shares with it, to the granularity of chunks."""
        middle = len(self.chunks) // 2
        if not raw.startswith(self.chunks[middle], middle * _CHUNK_BYTES):
            return 0  # with so early a difference, most must be parsed in any case
        for number, chunk in enumerate(self.chunks):
            if not raw.startswith(chunk, number * _CHUNK_BYTES):
                return number * _CHUNK_BYTES
        return self.ends[-1]


class KnownBodies:
    """The bodies of requests on one wire, as far as they are held.

    Args:
        messages_key: the key of a body's messages.
    """

    def __init__(self, messages_key: str) -> None:
        self._key = messages_key
        self._opening = re.compile(rb'"%s"[ \t\r\n]*+:[ \t\r\n]*+\[' % re.escape(messages_key).encode())
        # Placeholder for the messages while the rest of a body is parsed; no client can know it.
        self._stand_in = secrets.token_hex(16)
        self._lock = threading.Lock()
        self._held: deque[_Body] = deque()

    def parsed(self, raw: bytes, owner: str) -> tuple[bool, Json]:
        """Return whether a body is JSON, and its value: like `json_access.parsed`. Values may be those of an earlier body.

        Args:
            raw: the body.
            owner: a digest of the sender.

        Raises:
            UnicodeDecodeError: it is not UTF-8.
        """
        read = self._read(raw, owner) if len(raw) >= _LEAST_BYTES else None
        return parsed(raw.decode()) if read is None else (True, read)

    def _read(self, raw: bytes, owner: str) -> dict[str, Json] | None:
        """Return a body's value; None if it is unusual, so that it must be parsed as a whole."""
        with self._lock:
            held = [body for body in self._held if body.owner == owner]
        before, shared = None, 0
        for body in reversed(held):
            if shared := body.shared_bytes(raw):
                before = body
                break
        if before is not None and (known := bisect_right(before.ends, shared)):
            opening, ends, messages = before.opening, list(before.ends[:known]), list(before.messages[:known])
        elif found := self._opening.search(raw):
            opening, ends, messages = found.end(), [], []
        else:
            return None
        rest = raw[ends[-1] if ends else opening :].decode()
        try:
            behind = _read_on(rest, ends, messages, opening)
        except (ValueError, RecursionError):
            return None
        # If the list was not where it seemed to be, or another one follows under the same key, this one does not count.
        is_json, whole = parsed(f'{raw[:opening].decode()}"{self._stand_in}"{behind}')
        if not is_json or not isinstance(whole, dict) or whole.get(self._key) != [self._stand_in]:
            return None
        whole[self._key] = messages
        if messages:
            self._hold(
                _Body(owner, _chunks(raw, ends[-1], before, shared), opening, tuple(ends), tuple(messages)), before
            )
        return whole

    def _hold(self, body: _Body, before: _Body | None) -> None:
        """Hold a body, replacing the one that it continues."""
        with self._lock:
            self._held = deque(other for other in self._held if other is not before)
            self._held.append(body)
            size = sum(other.ends[-1] for other in self._held)
            while size > MAX_HELD_BYTES:
                size -= self._held.popleft().ends[-1]


def _read_on(rest: str, ends: list[int], messages: list[Json], opening: int) -> str:
    """Parse the messages at the beginning of a text that follows others; return what follows them, from the list's bracket on.

    Args:
        rest: what follows the last known message, or the list's opening bracket.
        ends: where the known ones end in the body; those of the new ones are added.
        messages: the known ones, likewise.
        opening: where the list begins in the body.

    Raises:
        ValueError: it is not a JSON list.
    """
    at, is_ascii = 0, rest.isascii()
    end = ends[-1] if ends else opening
    while (place := _behind_blanks(rest, at)) < len(rest) and rest[place] != "]":
        if messages:
            if rest[place] != ",":
                raise ValueError("no list")
            place = _behind_blanks(rest, place + 1)
        message, behind = value_at(rest, place)
        end += behind - at if is_ascii else len(rest[at:behind].encode())
        messages.append(message)
        ends.append(end)
        at = behind
    return rest[place:]


def _behind_blanks(text: str, place: int) -> int:
    found = _BLANKS.match(text, place)
    return found.end() if found is not None else place


def _chunks(raw: bytes, end: int, before: _Body | None, shared: int) -> tuple[bytes, ...]:
    """Return the chunks of a body's beginning, sharing equal ones with an earlier body."""
    same = before.chunks[: shared // _CHUNK_BYTES] if before is not None else ()
    starts = range(len(same) * _CHUNK_BYTES, end, _CHUNK_BYTES)
    return (*same, *(raw[at : min(at + _CHUNK_BYTES, end)] for at in starts))

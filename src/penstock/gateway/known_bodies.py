"""What of a body was read before? A client sends its whole history each time, and only its newest messages are new bytes.

The bytes of a history are compared with those that the same client sent before, at the speed of the machine's memory; up to the
first that differ its messages are the values that were read then, and only what follows is read. Laws: what is returned is what
reading the whole body gives, whatever stands in it; nobody is given what came of somebody else's bytes. Pure but for what it holds.
Leaves to others: what the messages mean.
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
"""How much of bodies is held, of all clients; the one used longest ago goes first."""
_LEAST_BYTES: Final = 1 << 16
"""A smaller body is read as soon as it is compared."""
_CHUNK_BYTES: Final = 1 << 16
_BLANKS = re.compile(r"[ \t\r\n]*+")


class _Body(NamedTuple):
    """The beginning of a body that was read, up to the end of its last message."""

    owner: str
    chunks: tuple[bytes, ...]
    """Its bytes, each chunk but the last of `_CHUNK_BYTES`."""
    opening: int
    """Where the list of messages begins: behind its bracket."""
    ends: tuple[int, ...]
    """Where each message ends."""
    messages: tuple[Json, ...]

    def shared_bytes(self, raw: bytes) -> int:
        """Return how many bytes a body has in common with it, as far as whole chunks say."""
        middle = len(self.chunks) // 2
        if not raw.startswith(self.chunks[middle], middle * _CHUNK_BYTES):
            return 0  # of what differs so early most is to be read in any case
        for number, chunk in enumerate(self.chunks):
            if not raw.startswith(chunk, number * _CHUNK_BYTES):
                return number * _CHUNK_BYTES
        return self.ends[-1]


class KnownBodies:
    """The bodies of requests on one wire, as far as they are held.

    Args:
        messages_key: the name under which a body has its messages.
    """

    def __init__(self, messages_key: str) -> None:
        self._key = messages_key
        self._opening = re.compile(rb'"%s"[ \t\r\n]*+:[ \t\r\n]*+\[' % re.escape(messages_key).encode())
        # Stands for the messages where the rest of a body is read; no client can know it.
        self._stand_in = secrets.token_hex(16)
        self._lock = threading.Lock()
        self._held: deque[_Body] = deque()

    def parsed(self, raw: bytes, owner: str) -> tuple[bool, Json]:
        """Return whether a body is JSON, and its value: as `json_access.parsed`. Values may be those of an earlier body.

        Args:
            raw: the body.
            owner: a digest of who sends it.

        Raises:
            UnicodeDecodeError: it is not UTF-8.
        """
        read = self._read(raw, owner) if len(raw) >= _LEAST_BYTES else None
        return parsed(raw.decode()) if read is None else (True, read)

    def _read(self, raw: bytes, owner: str) -> dict[str, Json] | None:
        """Return a body; None where it is not as bodies are, so that it has to be read as a whole."""
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
        # Where the list did not stand where it seemed to, or another follows under the same name, it is not this one that counts.
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
        """Hold a body, instead of the one that it goes on from."""
        with self._lock:
            self._held = deque(other for other in self._held if other is not before)
            self._held.append(body)
            size = sum(other.ends[-1] for other in self._held)
            while size > MAX_HELD_BYTES:
                size -= self._held.popleft().ends[-1]


def _read_on(rest: str, ends: list[int], messages: list[Json], opening: int) -> str:
    """Read the messages with which a text begins behind others; return what is behind them, from the list's bracket on.

    Args:
        rest: what is behind the last message that is known, or behind the list's bracket.
        ends: where the known ones end in the body; those of the new ones are added.
        messages: the known ones, likewise.
        opening: where the list begins in the body.

    Raises:
        ValueError: it is no list of JSON.
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
    """Return the chunks of a body's beginning, those of an earlier one as far as they are the same."""
    same = before.chunks[: shared // _CHUNK_BYTES] if before is not None else ()
    starts = range(len(same) * _CHUNK_BYTES, end, _CHUNK_BYTES)
    return (*same, *(raw[at : min(at + _CHUNK_BYTES, end)] for at in starts))

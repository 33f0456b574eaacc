"""How are the binary frames of AWS's event streams read and written?

A frame consists of its length and the length of its headers (4 bytes each, big-endian), a CRC-32 of these, the headers, the
payload, and a CRC-32 of all that. Source: the AWS SDKs' event-stream specification. Law: however the bytes are split into blocks,
the same events come out; a frame that is damaged or too large is refused. Leaves to others: what an event means.
"""

from __future__ import annotations

import json
from binascii import crc32
from typing import TYPE_CHECKING

from penstock.text.json_access import as_json, parsed
from penstock.wires.failures import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock.text.json_access import Json

FRAME_TYPE = "application/vnd.amazon.eventstream"
"""The content type of such a stream."""
_PRELUDE_BYTES = 12
_MAX_FRAME_BYTES = 24 << 20  # as botocore accepts them: 16 MiB of payload in the specification, 24 since 2022
_STRING = 7  # the type of a header with a text value; the only one that this API sends
_FIXED_BYTES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # of the other types
_MAX_NAMED_BYTES = 255


class EventFrames:
    """Incoming frames, as the JSON of events whose one key is their kind."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, block: bytes) -> Iterator[str]:
        """Take the next bytes; yield the JSON of each event that they complete, an exception as `{"error": …}`.

        Raises:
            Unreadable: for bytes that are not frames.
        """
        self._held += block
        while len(self._held) >= _PRELUDE_BYTES:
            length = int.from_bytes(self._held[:4], "big")
            # Both checks come before the frame is complete: a damaged length would otherwise make the stream wait, and
            # hold bytes, for a frame that never ends.
            if not _PRELUDE_BYTES + 4 <= length <= _MAX_FRAME_BYTES:
                raise Unreadable(f"The provider's stream has a frame of {length:,} bytes.")
            if crc32(self._held[:8]) != int.from_bytes(self._held[8:12], "big"):
                raise Unreadable("The provider's stream is damaged: a checksum of its frames is wrong.")
            if len(self._held) < length:
                return
            frame = bytes(self._held[:length])
            del self._held[:length]
            yield _event(frame)


def _event(frame: bytes) -> str:
    if crc32(frame[:-4]) != int.from_bytes(frame[-4:], "big"):
        raise Unreadable("The provider's stream is damaged: a checksum of its frames is wrong.")
    headers_end = _PRELUDE_BYTES + int.from_bytes(frame[4:8], "big")
    try:
        headers = _headers(frame[_PRELUDE_BYTES:headers_end])
    except (IndexError, UnicodeDecodeError) as error:
        raise Unreadable(f"The provider's stream has a frame whose headers cannot be read: {error}") from error
    is_json, payload = parsed(frame[headers_end:-4].decode("utf-8", "replace"))
    held = payload if is_json else {}
    if headers.get(":message-type") == "event":
        return as_json({headers.get(":event-type", ""): held})
    # An exception (`:exception-type`) describes itself in its payload; an error (`:error-code`) has no payload, and its
    # words are in a header.
    kind = headers.get(":exception-type") or headers.get(":error-code", "")
    told = held if isinstance(held, dict) else {}
    return as_json({"error": {"message": headers.get(":error-message", ""), **told, "type": kind}})


def _headers(content: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    at = 0
    while at < len(content):
        named_end = at + 1 + content[at]
        name, kind = content[at + 1 : named_end].decode(), content[named_end]
        at = named_end + 1
        length = _FIXED_BYTES.get(kind)
        if length is None:
            # The two remaining types, bytes (6) and texts, state their length first.
            length = int.from_bytes(content[at : at + 2], "big")
            at += 2
        if kind == _STRING:
            headers[name] = content[at : at + length].decode()
        at += length
    return headers


def frame(headers: Mapping[str, str], payload: Json) -> bytes:
    """Return one frame with these headers and the JSON of its payload."""
    named = b"".join(_header(name, value) for name, value in headers.items())
    content = json.dumps(payload).encode()
    prelude = (len(named) + len(content) + _PRELUDE_BYTES + 4).to_bytes(4, "big") + len(named).to_bytes(4, "big")
    message = prelude + crc32(prelude).to_bytes(4, "big") + named + content
    return message + crc32(message).to_bytes(4, "big")


def _header(name: str, value: str) -> bytes:
    named, valued = name.encode()[:_MAX_NAMED_BYTES], value.encode()
    return bytes([len(named)]) + named + bytes([_STRING]) + len(valued).to_bytes(2, "big") + valued

"""Which events are in the lines or bytes of a stream? For callers whose function passes on what arrived, unread (R-4).

HTTP libraries yield lines with or without their line ends, or blocks that end anywhere. Law: however a stream is split,
the same events come out. Leaves to others: what an event means (`streams`).
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from penstock.text.json_access import as_json, parsed
from penstock.wires import wire_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json

_FIELDS = ("data:", "event:", "id:", "retry:", ":")
_END = "[DONE]"
_MAX_TRIED_CHARS = 65_536


class NoEvents(Exception):
    """The input is not a stream of events; it may be a caller's own words, for example."""


class RawEvents:
    """A reader that turns incoming lines, text or bytes into the JSON of the events in them.

    Args:
        wire: the wire of the events; for a wire with binary frames, bytes hold those.
    """

    def __init__(self, wire: str) -> None:
        frames = wire_named(wire).answers.frames
        self._frames = frames() if frames is not None else None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        """What arrived after the last whole line, without the fragments in `_parts`."""
        self._parts: list[str] = []
        self._is_sse: bool | None = None
        self._has_ends = False
        """Whether any line arrived with its line end, so that a block without one may be part of a line."""
        self._name, self._data = "", list[str]()
        self._body, self._chars = list[str](), 0

    @property
    def is_body(self) -> bool:
        """Whether the input is a single JSON body, not a stream."""
        return self._is_sse is False

    def feed(self, block: str | bytes | bytearray) -> Iterator[Json]:
        """Take the next block; yield the events that it completes.

        Raises:
            NoEvents: for words that are not events.
            Unreadable: for bytes that are not frames.
        """
        if self._frames is not None and not isinstance(block, str):
            for event in self._frames.feed(bytes(block)):
                yield parsed(event)[1]
            return
        text = block if isinstance(block, str) else self._decoder.decode(bytes(block))
        if not block and not self._has_ends:
            # The empty line between events, from an iterator that yields lines without their ends.
            line, self._rest = self._rest, ""
            yield from self._line(line)
            yield from self._line("")
            return
        if self._is_sse is None:  # a UTF-8 byte order mark is not part of the text after it
            text = text.removeprefix("\ufeff")
        if self._is_sse and self._has_ends and "\n" not in text and not text.rstrip().endswith(("}", "]")):
            # A fragment of a long line: joining the line at every fragment would take quadratic time.
            self._parts.append(text)
            return
        self._has_ends = self._has_ends or "\n" in text
        *lines, self._rest = "".join([self._rest, *self._parts, text]).split("\n")
        self._parts.clear()
        if self._is_sse is None and not self._is_told(
            next((line for line in [*lines, self._rest] if line.strip()), "")
        ):
            self._rest = "\n".join([*lines, self._rest])
            return
        if not self._is_sse:
            yield from self._json([*lines, self._rest])
            return
        for line in lines:
            yield from self._line(line.removesuffix("\r"))
        if self._is_whole(self._rest):
            line, self._rest = self._rest, ""
            yield from self._line(line)

    def finish(self) -> Iterator[Json]:
        """Yield the events that the end of the stream completes."""
        if self._is_sse:
            yield from self._line("".join([self._rest, *self._parts]))
            yield from self._line("")
        elif self._body:
            is_json, event = parsed("".join(self._body))
            if is_json:
                yield event

    def _is_told(self, line: str) -> bool:
        """Return whether the kind of input is known yet; a first block may end within a field name."""
        start = line.lstrip(" \t")
        if not start or any(field.startswith(start) and field != start for field in _FIELDS):
            return False
        self._is_sse = start.startswith(_FIELDS)
        if not self._is_sse and start[0] not in "{[":
            raise NoEvents
        return True

    def _json(self, lines: list[str]) -> Iterator[Json]:
        """Yield the single body that is not a stream, once complete; a large one only at the end, as each try parses it all."""
        self._body += lines
        self._rest = ""
        self._chars += sum(map(len, lines))
        if self._chars <= _MAX_TRIED_CHARS and lines[-1].rstrip().endswith(("}", "]")):
            is_json, event = parsed("".join(self._body))
            if is_json:
                self._body.clear()
                yield event

    def _is_whole(self, line: str) -> bool:
        """Return whether a line without its end is complete: a closed object, or any field if no line arrives with its end."""
        if line.startswith("data:"):
            value = line[5:].strip()
            return value == _END or (value.endswith(("}", "]")) and parsed(value)[0])
        return bool(line) and not self._has_ends and line.startswith(_FIELDS)

    def _line(self, line: str) -> Iterator[Json]:
        """Yield the event that a line completes, as soon as its data is JSON, since the empty line after it may be missing."""
        name, _, value = line.partition(":")
        if name == "event":
            self._name = value.strip()
        elif name == "data" and value.strip() != _END:
            self._data.append(value.removeprefix(" "))
        if not self._data:
            return
        is_json, event = parsed("\n".join(self._data))
        if not is_json and line:
            return
        if not is_json:
            event = "\n".join(self._data)
        name, self._name, self._data = self._name, "", []
        # A server that names its event an error need not repeat that in the data.
        is_named = name == "error" and not (isinstance(event, dict) and event.get("error"))
        if is_named or isinstance(event, dict):
            yield {"error": event} if is_named else event
        elif not is_json:
            raise NoEvents


def errors_in(text: str) -> str:
    """Return the JSON of the first error event in a text of server-sent events; empty if there is none."""
    raw = RawEvents("openai-chat")
    try:
        found = [*raw.feed(text), *raw.finish()]
    except NoEvents:
        return ""
    return next((as_json(event) for event in found if isinstance(event, dict) and event.get("error")), "")

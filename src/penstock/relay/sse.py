"""How is a stream of server-sent events divided into messages, as `frames` does with lines?

An event passes unchanged unless its message changes: then its `data` lines are rewritten and its other lines (`event`, `id`,
`retry`, comments) stay. Law: the bytes of all frames, joined, are the bytes that came. Source: the event stream format of the HTML
standard, section 9.2.6.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import TYPE_CHECKING

from penstock.relay.frames import LOOKED_AT_BYTES, MAX_HELD_BYTES, Frame
from penstock.relay.messages import begins
from penstock.text.sse import data_of, empty_line, field_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.relay.messages import Beginning

_RETRY_SECONDS = 1.0
# Whatever a server says: a stream that ends at once is no busy loop.
_LEAST_RETRY_SECONDS, _MOST_RETRY_SECONDS = 0.1, 30.0


class Events:
    """Events of one stream; `feed` takes what came. The arguments are those of `frames.Lines`."""

    def __init__(
        self,
        is_plain: Callable[[Beginning | None], bool] = lambda _: False,
        is_idle: Callable[[], bool] = lambda: False,
        max_held_bytes: int = MAX_HELD_BYTES,
    ) -> None:
        self._is_plain = is_plain
        self._is_idle = is_idle
        self._max_held = max_held_bytes
        self._held = bytearray()
        self._searched = 0
        self._is_passing = False
        self._passed = b""  # the last bytes that passed: an empty line may be split
        self._was_looked_at = False
        self._may_have_mark = True  # a byte order mark, at the stream's beginning; it belongs to no event

    def feed(self, part: bytes) -> Iterator[Frame]:
        """Yield what can pass of all that came."""
        while part:
            if self._is_passing:
                end = self._end_of_passing(part)
                yield Frame(part[:end], is_message=False)
                part = part[end:]
                continue
            if not self._held and self._is_idle():
                self._is_passing, self._passed = True, b""
                continue
            self._held += part
            part = b""
            if self._may_have_mark and len(self._held) >= len(BOM_UTF8):
                self._may_have_mark = False
                if self._held.startswith(BOM_UTF8):
                    del self._held[: len(BOM_UTF8)]
                    yield Frame(BOM_UTF8, is_message=False)
            while found := empty_line(self._held, self._searched):
                event = bytes(memoryview(self._held)[: found.end()])
                del self._held[: found.end()]
                self._searched, self._was_looked_at = 0, False
                yield Frame(event, is_message=True)
            self._searched = max(0, len(self._held) - 3)
            if self._held:
                yield from self._released()

    @property
    def held_bytes(self) -> int:
        """How much of an unfinished event is held."""
        return len(self._held)

    def give_up(self) -> Frame:
        """Return what is held, as if it were too long: the rest of its event passes."""
        return self._release(is_too_long=True)

    def end(self) -> Iterator[Frame]:
        """Yield the rest if the last event has no end."""
        if self._held:
            yield Frame(bytes(self._held), is_message=False)
            self._held.clear()

    def _end_of_passing(self, part: bytes) -> int:
        """Return where in a part the passing event ends; the part's length if it continues."""
        before, joined = len(self._passed), self._passed + part
        if self._is_idle():
            # Events need not be separated; it only matters whether the last one has ended: nothing that begins now was asked for.
            tail = joined[-4:]
            end = 0
            while found := empty_line(tail, end):
                end = found.end()
            self._passed = tail[end:] if end else tail[-3:]
            self._is_passing = end != len(tail)
            return len(part)
        found = empty_line(joined)
        if not found:
            self._passed = joined[-3:]
            return len(part)
        self._is_passing, self._passed = False, b""
        return found.end() - before

    def _released(self) -> Iterator[Frame]:
        """Yield what is held if it need not, or cannot, be held any longer."""
        is_too_long = len(self._held) > self._max_held
        if not self._was_looked_at and len(self._held) >= LOOKED_AT_BYTES:
            self._was_looked_at = True
            # All of its data lines, joined: a server that indents JSON sends one data line for each of its lines.
            data = data_of(bytes(self._held[:LOOKED_AT_BYTES]))
            is_plain = data is not None and self._is_plain(begins(data))
        else:
            is_plain = False
        if is_plain or is_too_long:
            yield self._release(is_too_long=is_too_long and not is_plain)

    def _release(self, *, is_too_long: bool) -> Frame:
        held, self._held = bytes(self._held), bytearray()
        self._is_passing, self._passed = True, held[-3:]
        self._searched, self._was_looked_at = 0, False
        return Frame(held, is_message=False, is_too_long=is_too_long)


class StreamPlace:
    """Where a stream can be resumed, and after how long."""

    def __init__(self) -> None:
        self.event_id: bytes | None = None
        self.retry_seconds = _RETRY_SECONDS

    def read(self, event: bytes) -> None:
        """Note an event's id and retry time."""
        self.event_id = field_of(event, b"id") or self.event_id
        retry = field_of(event, b"retry")
        if retry is not None and retry.isdigit():
            seconds = int(retry[:6]) / 1_000
            self.retry_seconds = min(max(seconds, _LEAST_RETRY_SECONDS), _MOST_RETRY_SECONDS)

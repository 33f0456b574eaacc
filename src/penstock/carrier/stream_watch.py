"""What do the events of a stream say? Whether content has begun, whether it was refused, and what they add up to (R-4).

A watch is given one event after another and reads those of its wire; an event that it cannot read says nothing and counts as
content. Leaves to others: where the events come from, and how they reach the caller (`streams`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.carrier.raw_events import NoEvents, RawEvents
from penstock.carrier.replies import is_error, plain, refusal_in
from penstock.context.answers import overflow_in
from penstock.errors import Refusal
from penstock.text.json_access import as_json
from penstock.wires import wire_named
from penstock.wires.failures import Refused, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.overflow import Overflow, RefusalRule
    from penstock.text.json_access import Json

# Responses sends two events before the first content; Anthropic sends one, and pings.
_MAX_HEAD_EVENTS = 64
"""How many events are examined before the first content; a stream with nothing else is passed on as it is."""

_BLOCK_CHARS = 1_024
"""How many raw characters or bytes count as one event there."""


class StreamRefused(Refusal):
    """A stream that began with HTTP 200 reported an error.

    Attributes:
        overflow: what it said of the request's size; None if the error is about something else.
        received: the words of the answer received until then; empty before the first content.
    """

    def __init__(self, message: str, overflow: Overflow | None, received: str = "") -> None:
        """Keep the error's message and what was received before it."""
        super().__init__(message)
        self.overflow = overflow
        self.received = received


def _midway(said: str, words: str) -> str:
    """Return the message for a stream that was refused after its first content."""
    return (
        f"The provider ended the stream with a refusal after {len(words)} characters of the answer; "
        f"what came is in `received`. It said: {said}"
    )


class StreamWatch:
    """Watches the events of one stream: an error before the first content is a refusal, a later one ends the stream with a name.

    Args:
        wire: the wire of the events.
        rules: a caller's own rules for refusals.
        on_end: called when the stream has ended, with the body that the events add up to and whether it broke off, that is, whether
            the answer did not say why it stops.
    """

    def __init__(self, wire: str, rules: Sequence[RefusalRule], on_end: Callable[[Json, bool], None]) -> None:
        self._rules, self._on_end = rules, on_end
        self._answers = wire_named(wire).answers
        self._reader, self._raw = self._answers.stream(), RawEvents(wire)
        self._is_read, self._is_empty = True, True
        self._whole: Json = None
        self._looked = 0.0
        self._words: list[str] = []

    def has_begun(self, event: Any) -> bool:
        """Examine an event before the first content; return whether content begins with it.

        Raises:
            StreamRefused: for an error in the stream.
        """
        has_begun = False
        for body in self._events(event):
            if is_error(body):
                raise StreamRefused(as_json(body), overflow_in(body, rules=self._rules))
            # Not an event of the wire, but a caller's own stream of words, for example. Whatever it is, it is content.
            has_begun = not self._feeds(body) or self._reader.has_content or has_begun
        # A block of bytes may be a small part of an event.
        self._looked += len(event) / _BLOCK_CHARS if isinstance(event, str | bytes | bytearray) else 1
        is_enough = self._looked >= _MAX_HEAD_EVENTS
        return has_begun or is_enough or not self._is_read or self._whole is not None

    def look(self, event: Any) -> None:
        """Examine an event after the first content.

        Raises:
            StreamRefused: for an error in the stream, with what came before it.
        """
        for body in self._events(event):
            if is_error(body):
                raise self._ended(as_json(body), overflow_in(body, rules=self._rules))
            self._feeds(body)

    def named(self, error: Exception) -> Exception:
        """Return the error to raise for a stream that broke off: its own, or a `StreamRefused` if it names an overflow."""
        overflow = overflow_in(error, rules=self._rules)
        return error if overflow is None else self._ended(str(error), overflow)

    def ended(self) -> Json:
        """Return the whole answer of an ended stream; an empty object if nothing came, None if nothing could be read.

        Raises:
            StreamRefused: for an error that only the end of the stream completes.
        """
        for body in self._events(None):
            if is_error(body):
                raise self._ended(as_json(body), overflow_in(body, rules=self._rules))
            self._feeds(body)
        if self._is_empty:
            return {}
        return self._whole or (self._reader.body() if self._is_read else None)

    def end(self) -> None:
        """Pass the whole answer to `on_end`."""
        body = self.ended()
        is_whole = not self._is_read or self._whole is not None or self._reader.is_complete
        self._on_end(body, not is_whole)

    def _events(self, event: Any) -> Iterator[Json]:
        """Yield an event as JSON, or the events in a line or block of bytes; for None, those that the stream's end completes."""
        if event is not None and not isinstance(event, str | bytes | bytearray):
            self._is_empty = False
            yield _event(event)
            return
        try:
            for held in self._raw.finish() if event is None else self._raw.feed(event) if self._is_read else ():
                self._is_empty = False
                if self._raw.is_body and isinstance(held, dict) and self._answers.is_answer(held):
                    self._whole = held
                else:
                    yield held
        except (NoEvents, Unreadable):
            self._is_empty = self._is_read = False
            if event is not None and (said := refusal_in(event, self._rules))[1] is not None:
                raise StreamRefused(str(said[1]), said[0]) from None

    def _ended(self, said: str, overflow: Overflow | None) -> StreamRefused:
        words = "".join(self._words)
        return StreamRefused(_midway(said, words) if words else said, overflow, words)

    def _feeds(self, body: Json) -> bool:
        """Feed an event to the wire's reader; return whether the reader can still follow."""
        if not isinstance(body, dict):
            self._is_read = False
        if self._is_read:
            try:
                self._words.append(self._reader.feed(body))
            # A client may build events that differ from the wire's; what the reader cannot follow says nothing.
            except (Unreadable, Refused):
                self._is_read = False
        return self._is_read


def _event(event: Any) -> Json:
    """Return an event as JSON. OpenAI's managed chat stream wraps each chunk of the wire along with a snapshot of all of them."""
    return plain(getattr(event, "chunk", event))

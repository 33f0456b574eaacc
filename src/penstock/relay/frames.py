"""How is a pipe's content divided into messages: one per line, most of which pass before they have ended?

A message is held only while it may be one that changes, and never more than `max_held_bytes` of it: a longer one passes unchanged.
So an endless message costs its reader what it would without us, and our memory is bounded. Law: the bytes of all frames, joined,
are the bytes that came, however they were split on the way. Leaves to others: which messages change (`conversation`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.relay.messages import Beginning, begins

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

MAX_HELD_BYTES = 128 << 20
"""How much of one message is held by default; a longer one passes uncut."""
LOOKED_AT_BYTES = 4 << 10
"""How much of a message must be there before it is judged whether it can pass: every envelope fits in it."""


class Frame(NamedTuple):
    """Bytes that came, as one message or as part of one that passes."""

    raw: bytes
    is_message: bool
    """Whether the bytes are one whole message to decide about; otherwise they pass."""
    is_too_long: bool = False
    """Whether the bytes pass only because the message is too long to hold."""


class Lines:
    """Lines of one direction; `feed` takes what came.

    Args:
        is_plain: tells from the beginning of a message whether it passes unchanged.
        is_idle: tells whether everything does.
        max_held_bytes: how much of one message is held.
    """

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
        self._is_passing = False
        self._was_looked_at = False

    @property
    def is_within(self) -> bool:
        """Whether part of a line has passed, and its end has not."""
        return self._is_passing

    def feed(self, part: bytes) -> Iterator[Frame]:
        """Yield what can pass of all that came."""
        at = 0
        while at < len(part):
            if self._is_passing:
                at = yield from self._pass_on(part, at)
            elif not self._held and self._is_idle():
                # A message that began before anything was asked is not an answer, even if it ends later.
                self._is_passing = not part.endswith(b"\n")
                yield Frame(part[at:] if at else part, is_message=False)
                return
            else:
                at = yield from self._hold(part, at)

    def end(self) -> Iterator[Frame]:
        """Yield the rest if the last line has no end."""
        if self._held:
            yield Frame(bytes(self._held), is_message=True)
            self._held.clear()

    def _pass_on(self, part: bytes, at: int) -> Generator[Frame, None, int]:
        """Yield what belongs to the passing line, and return where the next one begins."""
        end = part.find(b"\n", at) + 1
        self._is_passing = not end
        yield Frame(part[at : end or len(part)], is_message=False)
        return end or len(part)

    def _hold(self, part: bytes, at: int) -> Generator[Frame, None, int]:
        """Yield the line that ends here, or what need not be held, and return where the next one begins."""
        end = part.find(b"\n", at) + 1
        if end:
            if self._held:
                self._held += part[at:end]
                line = bytes(self._held)
                self._held = bytearray()
            else:
                line = part[at:end]
            self._was_looked_at = False
            yield Frame(line, is_message=True)
            return end
        self._held += part[at:]
        if not self._was_looked_at and len(self._held) >= LOOKED_AT_BYTES:
            self._was_looked_at = True
            if self._is_plain(begins(bytes(self._held[:LOOKED_AT_BYTES]))):
                yield from self._release(is_too_long=False)
        if len(self._held) > self._max_held:
            yield from self._release(is_too_long=True)
        return len(part)

    def _release(self, *, is_too_long: bool) -> Iterator[Frame]:
        """Yield what is held, and let the rest of its line pass."""
        held, self._held = self._held, bytearray()
        self._is_passing, self._was_looked_at = True, False
        yield Frame(bytes(held), is_message=False, is_too_long=is_too_long)

"""How does a program's output of any length become one guarded result? In memory that does not grow with it.

Both ends are held for display. The whole goes to the store as it arrives, up to a stated number of bytes; beyond that, the first
half and the last half of that number are kept, and what lies between is counted. Law: everything is read to its end whatever
happens to the store, because a program whose pipe nobody reads blocks forever. Leaves to others: where the bytes come from, and
when they end.
"""

from __future__ import annotations

import os
from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import PenstockError
from penstock.guard.output import not_kept
from penstock.store.kept import LIMIT_BYTES
from penstock.store.pieces import PIECE_BYTES, newlines
from penstock.text import escape, fitting, stand_ins
from penstock.text.fitting import Guarded, Keep, Whole
from penstock.workspace.scratch import scratch_file
from penstock.workspace.system import read_at, write_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from penstock.store import Store
    from penstock.text.allowance import Allowance
    from penstock.text.calls import Dialect

KEEP_BYTES = LIMIT_BYTES
"""How many bytes of one output are kept, half from its beginning and half from its end: as many as a store holds by default."""
UNCUT_BYTES = 16 << 20
"""How much of an output is held so that all of it can still be passed on if the store fails."""
_CONTINUATION = bytes(range(0x80, 0xC0))  # bytes of UTF-8 that do not begin a character


class Drained(NamedTuple):
    """The result of `drain`: what is shown, and what was kept of the whole."""

    result: Guarded
    handles: tuple[str, ...] = ()
    """No handle, one, or two: of the whole, or of its beginning and its end."""
    lost_bytes: int = 0
    """How many bytes between beginning and end were not kept."""
    fault: str = ""
    """Why the whole did not arrive or could not be kept; "" if it was kept or need not be. With handles, they hold what arrived."""
    uncut: Whole | None = None
    """The measures of output that was passed on as it arrived because it could not be kept: then there is no result. Else None."""

    @property
    def is_uncut(self) -> bool:
        """Whether all of it was passed on as it arrived."""
        return self.uncut is not None


def drain(
    parts: Iterable[bytes],
    allowance: Allowance,
    keep: Keep = Keep.HEAD,
    *,
    name: str = "tool",
    open_store: Callable[[], Store] | None = None,
    keep_bytes: int = KEEP_BYTES,
    dialect: Dialect | None = None,
    chars_per_token: float = fitting.CHARS_PER_TOKEN,
    hand_on: Callable[[bytes], object] | None = None,
) -> Drained:
    """Read `parts` to their end and return them as one guarded result.

    Args:
        parts: Bytes as they come from a pipe, in pieces of any size.
        allowance: What the result may take, its notice included.
        keep: Which part is kept if it is too long.
        name: How the notice calls the program, and the name under which the whole is kept.
        open_store: Called once the output proves too long to be shown; None keeps nothing.
        keep_bytes: How many bytes are kept of a longer output; 0 keeps nothing.
        dialect: The syntax of calls in the notice; None for Python's.
        chars_per_token: For the estimate in tokens that the notice gives.
        hand_on: Receives all of it, part by part, if it cannot be kept: a caller who would be left with two ends gets it uncut.
            None shows the ends. If the store fails after the first `UNCUT_BYTES`, the output is cut nevertheless, because nobody
            has held it.

    Returns:
        The result with its handles. A store that cannot be opened or fails half-way is named in `fault`, and the result still shows
        the ends, unless all of it was passed on.

    Raises:
        OSError: `parts` failed while all of it could still be shown; if they fail later, what arrived is kept, and `fault` says so.
    """
    ends = _Ends(4 * fitting.max_chars(allowance) + 8)  # at most four bytes per character, and those cut at the seam
    coming = ends.watched(parts)  # counts and holds the ends, including of what the store never gets to see
    first: list[bytes] = []
    # Most output is short: it is held until it is known to be longer than any text that could be shown, and only then is a store
    # opened. The pieces held so far go into the spool first, so nothing is read twice.
    for part in coming:
        first.append(part)
        if ends.bytes > ends.hold:
            break
    else:
        text = ends.whole_text()
        result = fitting.fit(text, allowance, keep, name=name, dialect=dialect, chars_per_token=chars_per_token)
        if not result.is_cut:
            return Drained(result)
    held = _Held(chain(first, coming), 0 if hand_on is None else UNCUT_BYTES)
    spool = _Spool(source := iter(held), keep_bytes)
    try:
        handles, fault = _kept(spool, open_store if keep_bytes else None, name)
        if fault and hand_on is not None and held.is_whole:
            for part in chain(held.given_up(), source):
                hand_on(part)
            measured = ends.measured(fitting.counter_of(allowance, chars_per_token))
            return Drained(fitting.fit("", allowance), fault=escape.clip(fault, 400), uncut=measured)
    finally:
        for _ in coming:  # whatever happened, the program at the other end is read to its end
            pass
        spool.close()
    way = _way_back(ends.fault, fault, handles, spool, keep_bytes, dialect)
    fault = f"{ends.fault} {fault}".strip()
    result = fitting.fit_ends(
        ends.head_text(),
        ends.tail_text(),
        ends.measured(fitting.counter_of(allowance, chars_per_token)),
        allowance,
        keep,
        handles[0] if handles else None,
        name=name,
        way=way,
        dialect=dialect,
        chars_per_token=chars_per_token,
    )
    return Drained(result, handles, spool.lost_bytes if handles else 0, escape.clip(fault, 400))


def _kept(spool: _Spool, open_store: Callable[[], Store] | None, name: str) -> tuple[tuple[str, ...], str]:
    """Return the handles of what was kept, and why it could not be kept."""
    try:
        return (() if open_store is None else spool.into(open_store(), name)), ""
    except (PenstockError, OSError) as error:
        return (), str(error)


def _way_back(
    broken: str, fault: str, handles: Sequence[str], spool: _Spool, keep_bytes: int, dialect: Dialect | None
) -> str | None:
    """Return what a notice says about the way to the whole, if it has to say more than the handle; else None.

    Args:
        broken: Why the stream ended early; "" if it did not.
        fault: Why nothing was kept; "" if something was.
        handles: Of what was kept.
        spool: What kept it.
        keep_bytes: How many bytes are kept of a longer output.
        dialect: How calls are written.
    """
    way = not_kept(fault) if fault else None
    if len(handles) == 2:
        way = _kept_in_part(handles, spool, keep_bytes, dialect)
    if not broken:
        return way
    came = f"What came: {stand_ins.way_back(handles[0], dialect)}" if handles else fitting.NARROWER
    return f"{escape.clip(broken)} {way or came}"


def _kept_in_part(handles: Sequence[str], spool: _Spool, keep_bytes: int, dialect: Dialect | None) -> str:
    """Return the sentence of a notice that leads to both ends of a whole too large to keep, and counts what is lost between."""
    head, tail = (stand_ins.way_back(one, dialect) for one in handles)
    return (
        f"The first {spool.half} bytes: {head}; the last {keep_bytes - spool.half} bytes: {tail}; "
        f"{spool.lost_bytes} bytes between them were not kept: there is a limit to what is kept of one output."
    )


class _Held:
    """Parts that pass through, held as long as they do not exceed a number of bytes."""

    def __init__(self, parts: Iterator[bytes], most_bytes: int) -> None:
        self.is_whole = True
        self.parts: list[bytes] = []
        self._coming = parts
        self._left = most_bytes

    def given_up(self) -> list[bytes]:
        """Return and release the parts held so far."""
        parts, self.parts = self.parts, []
        return parts

    def __iter__(self) -> Iterator[bytes]:
        """Yield the parts."""
        for part in self._coming:
            self._left -= len(part)
            if self._left >= 0:
                self.parts.append(part)
            elif self.is_whole:
                self.is_whole = False
                self.parts.clear()
            yield part


class _Ends:
    """The first and last `hold` bytes of what passes, with exact counts of bytes, characters and lines."""

    def __init__(self, hold: int) -> None:
        self.hold = hold
        self.bytes = 0
        self.fault = ""  # why the stream ended early
        self._newlines = 0
        self._chars = 0
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0

    def watched(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """Yield `parts` unchanged, and count them. Raises OSError if they fail within the first `hold` bytes."""
        # Caught here, where it is known to come from the source: a consumer, above all the store, would take it for its own error
        # and discard what arrived.
        try:
            yield from self._counted(parts)
        except OSError as error:
            if self.bytes <= self.hold:
                raise
            self.fault = f"The output broke off after {self.bytes} bytes: {error}."

    def _counted(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        for part in parts:
            if not part:
                continue
            self.bytes += len(part)
            self._newlines += newlines(part)
            # A character is a byte that is not a continuation byte. Invalid bytes are counted the same way, which is close enough.
            self._chars += len(part) if part.isascii() else len(part.translate(None, _CONTINUATION))
            self._head += part[: self.hold - len(self._head)]
            self._tail.append(part)
            self._tail_bytes += len(part)
            # A deque of the pieces themselves: joining or slicing at each piece would copy `hold` bytes each time. So up to one
            # piece more than `hold` is held.
            while self._tail_bytes - len(self._tail[0]) >= self.hold:
                self._tail_bytes -= len(self._tail.popleft())
            yield part

    def whole_text(self) -> str:
        """Return the text of everything; only if it is no longer than `hold`, when the tail is the whole."""
        return b"".join(self._tail).decode("utf-8", "backslashreplace")

    def head_text(self) -> str:
        r"""Return the text of the first `hold` bytes, invalid ones as `\xNN`."""
        return bytes(self._head).decode("utf-8", "backslashreplace")

    def tail_text(self) -> str:
        """Return the text of the last `hold` bytes; half a character at their beginning precedes everything that is shown."""
        return b"".join(self._tail)[-self.hold :].decode("utf-8", "backslashreplace")

    def measured(self, tokens: Callable[[str], int]) -> Whole:
        """Return the measures of a non-empty stream: exact, except for tokens, extrapolated from the first 65,536 characters."""
        sample = self.head_text()[: 1 << 16]
        estimate = tokens(sample) * self._chars // len(sample)
        ends_line = self._tail[-1].endswith(b"\n")
        return Whole(self._chars, self.bytes, self._newlines + (not ends_line), estimate)


class _Spool:
    """Feeds a store with a stream of unknown length: all of it up to `keep_bytes`, else its first and its last half.

    The first half streams into the store at once. What follows goes into a ring in a nameless file, overwriting the oldest data in
    it, so that neither memory nor disk use grows. Only at the end is it known whether the ring overflowed: if it did not, its
    content is the rest of the same artifact; if it did, it becomes its own artifact, and the overwritten bytes are lost and
    counted.
    """

    def __init__(self, parts: Iterator[bytes], keep_bytes: int) -> None:
        self.half = (keep_bytes + 1) // 2
        self._ring_bytes = keep_bytes - self.half
        self._parts = parts
        self._ring: int | None = None  # the descriptor of its file, once something is written to it
        self._beyond = 0  # bytes after the first half

    @property
    def lost_bytes(self) -> int:
        """How many bytes the ring had no room for; known once the stream has ended."""
        return max(0, self._beyond - self._ring_bytes)

    def into(self, store: Store, name: str) -> tuple[str, ...]:
        """Put the stream into `store` and return one handle for the whole, or two for both of its ends."""
        first = store.put(self._first(), name=name)
        if not self.lost_bytes:
            return (first,)
        return (first, store.put(self._last(), name=f"{name} (end)")) if self._ring_bytes else (first,)

    def _first(self) -> Iterator[bytes]:
        """Yield the content of the first artifact: the first half, and also the ring if nothing in it was overwritten."""
        left = self.half
        for part in self._parts:
            head, behind = part[:left], part[left:]
            left -= len(head)
            if head:
                yield head
            if behind:
                self._write(behind)
        if self._beyond and not self.lost_bytes:
            yield from self._last()

    def _write(self, part: bytes) -> None:
        """Write what follows the first half into the ring, overwriting the oldest data in it."""
        if self._ring is None:
            self._ring = scratch_file()
        view = memoryview(part)
        while view:
            # `keep_bytes=1` leaves no room for the ring: everything after the first byte is only counted.
            if not self._ring_bytes:
                self._beyond += len(view)
                return
            at = self._beyond % self._ring_bytes
            step = write_at(self._ring, view[: self._ring_bytes - at], at)
            self._beyond += step
            view = view[step:]

    def _last(self) -> Iterator[bytes]:
        """Yield the content of the ring, oldest first: it begins `size` bytes before the end, wherever that is in the file."""
        assert self._ring is not None  # noqa: S101 - requested only if something lies beyond the first half
        size = min(self._beyond, self._ring_bytes)
        at = self._beyond - size
        while at < self._beyond:
            place = at % self._ring_bytes
            count = min(PIECE_BYTES, self._ring_bytes - place, self._beyond - at)
            part = read_at(self._ring, count, place)
            if not part:
                raise OSError("the scratch file is shorter than what was written to it")
            at += len(part)
            yield part

    def close(self) -> None:
        """Close the scratch file, which removes it."""
        ring, self._ring = self._ring, None
        if ring is not None:
            os.close(ring)

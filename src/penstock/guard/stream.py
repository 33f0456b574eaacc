"""What may a pipe pass? The output of a program, however long, as one guarded result; memory does not grow with it.

The two ends are held to be shown; the whole goes to the store as it comes, up to a stated number of bytes: beyond that the
first half and the last half of so many are kept, and what lies between is counted. Law: everything is read, whatever happens
to the store. Keeps out: where the bytes come from, and when they end.
"""

from __future__ import annotations

import os
from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import PenstockError
from penstock.guard.output import not_kept
from penstock.store.pieces import PIECE_BYTES, newlines
from penstock.text import escape, fitting, stand_ins
from penstock.text.fitting import Guarded, Keep, Whole
from penstock.workspace.root import read_at, scratch_file, write_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from penstock.store import Store
    from penstock.text.allowance import Allowance
    from penstock.text.calls import Dialect

KEEP_BYTES = 2 << 30  # first and last half; what a store holds by default
_CONTINUATION = bytes(range(0x80, 0xC0))  # bytes of UTF-8 that begin no character


class Passed(NamedTuple):
    """What a pipe passed on. `fault` says why the whole could not be kept, "" when it was or need not be."""

    result: Guarded
    handles: tuple[str, ...] = ()
    lost_bytes: int = 0
    fault: str = ""


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
) -> Passed:
    """Everything that `parts` brings, as one result; `open_store` is asked for a store when one is needed."""
    ends = _Ends(4 * fitting.max_chars(allowance) + 8)
    coming = ends.watched(parts)
    first: list[bytes] = []
    for part in coming:
        first.append(part)
        if ends.bytes > ends.hold:
            break
    else:
        text = ends.whole_text()
        result = fitting.fit(text, allowance, keep, name=name, dialect=dialect, chars_per_token=chars_per_token)
        if not result.is_cut:
            return Passed(result)
    spool = _Spool(chain(first, coming), keep_bytes)
    handles: tuple[str, ...] = ()
    fault = ""
    try:
        if keep_bytes and open_store is not None:
            handles = spool.into(open_store(), name)
    except (PenstockError, OSError) as error:
        fault = str(error)
    finally:
        for _ in coming:  # whatever happened, the program at the other end is read to its end
            pass
        spool.close()
    whole = ends.measured(fitting.counter_of(allowance, chars_per_token))
    if fault:
        way = not_kept(fault)
    elif len(handles) == 2:
        half = spool.half
        way = _kept_in_part(handles[0], half, handles[1], keep_bytes - half, spool.lost_bytes, dialect)
    else:
        way = None
    result = fitting.fit_ends(
        ends.head_text(),
        ends.tail_text(),
        whole,
        allowance,
        keep,
        handles[0] if handles else None,
        name=name,
        way=way,
        dialect=dialect,
        chars_per_token=chars_per_token,
    )
    return Passed(result, handles, spool.lost_bytes if handles else 0, escape.clip(fault, 400) if fault else "")


def _kept_in_part(
    first: str, first_bytes: int, last: str, last_bytes: int, lost_bytes: int, dialect: Dialect | None
) -> str:
    """The way to the two ends of a whole that is too large to keep, and what is lost between them."""
    head, tail = stand_ins.way_back(first, dialect), stand_ins.way_back(last, dialect)
    return (
        f"The first {first_bytes} bytes: {head}; the last {last_bytes} bytes: {tail}; "
        f"{lost_bytes} bytes between them were not kept: there is a limit to what is kept of one output."
    )


class _Ends:
    """The first and last `hold` bytes of what passes, and its measures."""

    def __init__(self, hold: int) -> None:
        self.hold = hold
        self.bytes = 0
        self._newlines = 0
        self._chars = 0
        self._ends_line = True
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0

    def watched(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        for part in parts:
            if not part:
                continue
            self.bytes += len(part)
            self._newlines += newlines(part)
            self._chars += len(part) if part.isascii() else len(part.translate(None, _CONTINUATION))
            self._ends_line = part.endswith(b"\n")
            if len(self._head) < self.hold:
                self._head += part[: self.hold - len(self._head)]
            self._tail.append(part)
            self._tail_bytes += len(part)
            while self._tail_bytes - len(self._tail[0]) >= self.hold:
                self._tail_bytes -= len(self._tail.popleft())
            yield part

    def whole_text(self) -> str:
        return b"".join(self._tail).decode("utf-8", "backslashreplace")

    def head_text(self) -> str:
        return bytes(self._head).decode("utf-8", "backslashreplace")

    def tail_text(self) -> str:
        tail = b"".join(self._tail)[-self.hold :]
        if self.bytes > len(tail):  # it may begin within a character
            tail = tail[next((at for at in range(4) if tail[at : at + 1] < b"\x80" or tail[at] >= 0xC0), 0) :]
        return tail.decode("utf-8", "backslashreplace")

    def measured(self, tokens: Callable[[str], int]) -> Whole:
        """Exact but for tokens, which are taken from the beginning."""
        sample = self.head_text()[: 1 << 16]
        estimate = tokens(sample) * self._chars // max(1, len(sample))
        return Whole(self._chars, self.bytes, self._newlines + (not self._ends_line), estimate)


class _Spool:
    """Feeds a store: everything up to `keep_bytes`, else the first half and then, from a file of its own, the last."""

    def __init__(self, parts: Iterator[bytes], keep_bytes: int) -> None:
        self.half = (keep_bytes + 1) // 2
        self.lost_bytes = 0
        self._ring_bytes = keep_bytes - self.half
        self._parts = parts
        self._ring = -1
        self._beyond = 0  # bytes behind the first half

    def into(self, store: Store, name: str) -> tuple[str, ...]:
        first = store.put(self._first(), name=name)
        if not self.lost_bytes:
            return (first,)
        return (first, store.put(self._last(), name=f"{name} (end)")) if self._ring_bytes else (first,)

    def _first(self) -> Iterator[bytes]:
        left = self.half
        for part in self._parts:
            if len(part) <= left:
                left -= len(part)
                yield part
                continue
            if left:
                yield part[:left]
            self._write(part[left:])
            left = 0
        self.lost_bytes = max(0, self._beyond - self._ring_bytes)
        if self._beyond and not self.lost_bytes:
            yield from self._last()

    def _write(self, part: bytes) -> None:
        """Into the ring, over what is oldest in it."""
        if self._ring < 0:
            self._ring = scratch_file()
        view = memoryview(part)
        while view:
            if not self._ring_bytes:
                self._beyond += len(view)
                return
            at = self._beyond % self._ring_bytes
            step = write_at(self._ring, view[: self._ring_bytes - at], at)
            self._beyond += step
            view = view[step:]

    def _last(self) -> Iterator[bytes]:
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
        ring, self._ring = self._ring, -1
        if ring >= 0:
            os.close(ring)

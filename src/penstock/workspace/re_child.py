"""How does Python's `re` run in bounded time where google-re2 is missing? In a child process that is killed at the deadline.

`re` backtracks, so a pattern of ten characters can take longer than anyone waits, and nothing stops it from within: it holds the
interpreter until it returns. A child can be stopped. It is forked rather than started anew, because a serving process may not
execute anything once its wall is up (`landlock`); it holds none of our files, and exits by itself if we die first. It is sent a
block of whole lines and returns a row of matches, one per line, so that a search asks once for many.

Law: an answer or `ToolError("deadline")` comes within the deadline; no process outlives its `Matcher` by more than that. Leaves to
others: what a pattern means (`re2_syntax`), and which engine is used (`pattern`).

A question is a header of five numbers (`_QUESTION`) followed, unless the child already holds it, by the text; an answer is a count
and that many numbers of eight bytes. Both directions are pipes, so that each side sees the death of the other as the end of a file.
"""

from __future__ import annotations

import os
import re
import signal
import struct
import sys
import warnings
from bisect import bisect_right
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from penstock.errors import ToolError
from penstock.workspace import turns
from penstock.workspace.deadline import WALK_SECONDS, Deadline
from penstock.workspace.line_ends import first

if TYPE_CHECKING:
    from penstock.workspace.line_ends import Searching

    Span = tuple[int, int]

_ROW = 256  # matches in one answer
_STEP = 4096
_MEMORY_BYTES = 256 << 20  # beyond what the process had, at least: `re` records each iteration of a group
_ORPHAN_SECONDS = 1.0  # a child whose parent has gone exits this long after its deadline
_QUESTION = struct.Struct("<dqqqq")  # seconds, start, end, bytes that follow (-1: same as before), `_WHOLE` or `_NAMES`
_WHOLE, _NAMES = 0, 1


def can_run() -> bool:
    """Return whether this system has what a child needs; Windows does not, but google-re2 is available there."""
    return sys.platform != "win32" and hasattr(os, "fork")


class Matcher:
    """An expression of `re` (over text, ASCII, multi-line) in its own child, which starts with the first question.

    Args:
        expression: What `re2_syntax.translate` returned.
        deadline: That of the call for which the pattern was made; without one a question may take `WALK_SECONDS`.
        in_lines: Whether no match includes the carriage return of a line end.
    """

    def __init__(self, expression: str, deadline: Deadline | None = None, *, in_lines: bool = False) -> None:
        self._expression = expression
        self._in_lines = in_lines
        self._deadline = deadline
        self._child = -1
        self._questions = self._answers = -1
        self._why_ended = ""
        self._data: bytes | None = None  # what the child holds
        self._end = self._following = -1  # where the held row of matches ends, and where its next one may begin
        self._row: deque[Span] = deque()
        self._is_whole_row = False

    def find(self, data: bytes, start: int, end: int) -> Span | None:
        """Return the first match that begins in `data` from `start` on and ends by `end`. Raises `ToolError`.

        A caller who continues after the line of a match finds the next one already here.
        """
        # The same block, compared by identity, and the position after the last match: the next match is already in the row, or the
        # row was the last one.
        goes_on = data is self._data and end == self._end and start == self._following
        if not goes_on or not (self._row or self._is_whole_row):
            self._ask(data, start, end)
        if not self._row:
            return None
        span = self._row.popleft()
        line_end = data.find(b"\n", span[1])
        self._following = (len(data) if line_end < 0 else line_end) + 1
        return span

    def matching(self, texts: list[bytes]) -> list[bool]:
        """Return which of `texts`, none of which contains a NUL, have a match. Raises `ToolError`."""
        if not texts:
            return []
        self._data = None
        found = set(self._answer(0, 0, b"\0".join(texts), _NAMES))
        return [at in found for at in range(len(texts))]

    def close(self) -> None:
        """Kill the child, whatever it is doing."""
        child, self._child = self._child, -1
        if child >= 0:
            os.close(self._questions)
            os.close(self._answers)
            _end(child)

    def __del__(self) -> None:
        with suppress(Exception):  # the interpreter may be shutting down: names are gone
            self.close()

    # ── questions ────────────────────────────────────────────────────────────────────────────────────────────────

    def _ask(self, data: bytes, start: int, end: int) -> None:
        """Fetch the next row of matches; the block is sent only if the child does not hold it."""
        is_held = data is self._data and self._child >= 0
        self._data = None  # until the child has it
        found = self._answer(start, end, None if is_held else data, _WHOLE)
        self._row = deque(zip(found[::2], found[1::2], strict=True))
        self._is_whole_row = len(self._row) < _ROW
        self._data, self._end, self._following = data, end, start

    def _answer(self, start: int, end: int, data: bytes | None, kind: int) -> tuple[int, ...]:
        """Return the numbers that answer a question; kill the child if they do not come.

        Raises:
            ToolError: `deadline`, also for every later question: a pattern that once did not finish is not tried again.
        """
        left = None if self._deadline is None else self._deadline.left()
        seconds = WALK_SECONDS if left is None else left
        until = Deadline(seconds)
        if not self._why_ended:
            if self._child < 0:
                self._begin()
            head = _QUESTION.pack(seconds, start, end, -1 if data is None else len(data), kind)
            try:
                _send(self._questions, head + (data or b""))
                count = int.from_bytes(self._read(8, until), "little")
                return struct.unpack(f"<{count}q", self._read(8 * count, until))
            except TimeoutError:
                self._why_ended = f"in the {seconds:.1f} s that were left"
            except (EOFError, OSError):  # it is gone; before its time, only its memory limit ends it
                self._why_ended = "in the memory that it may take"
            self.close()
        raise ToolError(
            "deadline",
            f"The pattern came to no end {self._why_ended}: Python's re ran it, in a process that was ended, because google-re2 "
            "is not installed here. Repeat less within repetitions, such as a+ for (a+)+, or give literal=True.",
        )

    def _read(self, count: int, waiting: Deadline) -> bytes:
        """Return that many bytes of the answer. Raises TimeoutError at the deadline, EOFError if the child has ended."""
        if sys.platform == "win32":  # `can_run`
            raise NotImplementedError
        import select

        turns.rest()  # others may work meanwhile
        ready = select.poll()
        ready.register(self._answers, select.POLLIN)
        held = bytearray()
        while len(held) < count:
            left = waiting.left()
            if not ready.poll(None if left is None else left * 1000):
                raise TimeoutError
            part = os.read(self._answers, count - len(held))
            if not part:
                raise EOFError
            held += part
        return bytes(held)

    def _begin(self) -> None:
        """Fork the child. Raises `ToolError` (busy) if the system has no room for it."""
        if sys.platform == "win32":  # `can_run`
            raise NotImplementedError
        asked, self._questions = os.pipe()
        self._answers, answered = os.pipe()
        # Only this thread continues in the child, which takes no lock of ours: it reads, matches, writes and exits.
        warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning, re.escape(__name__))
        try:
            self._child = os.fork()
        except OSError as error:
            for descriptor in (asked, answered, self._questions, self._answers):
                os.close(descriptor)
            raise ToolError(
                "busy", f"No process could be started for the pattern: {error.strerror}. Try again."
            ) from error
        if self._child == 0:
            _serve(asked, answered, self._expression, self._in_lines)
        os.close(asked)
        os.close(answered)


def _end(child: int) -> None:
    """Kill a child and collect its status, so that it leaves no zombie."""
    if sys.platform == "win32":  # `can_run`
        raise NotImplementedError
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):  # somebody else waits for all children
        os.waitpid(child, 0)


def _send(descriptor: int, data: bytes) -> None:
    """Write all of `data`: one call may write less."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


# ── the child ────────────────────────────────────────────────────────────────────────────────────────────────────


def _serve(asked: int, answered: int, expression: str, in_lines: bool) -> NoReturn:
    """Answer questions, in the child, until nobody asks any more.

    Nothing may get past this function: after it the parent's own work would continue twice. So it ends with `os._exit`, which runs
    no handlers and flushes no buffers of the parent's.
    """
    if sys.platform == "win32":  # `can_run`
        raise NotImplementedError
    try:
        _let_go(asked, answered)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the parent decides what ends
        _bound_memory()
        search = re.compile(expression, re.ASCII | re.MULTILINE).search
        text = _Text(b"")
        while head := _taken(asked, _QUESTION.size):
            seconds, start, end, count, kind = _QUESTION.unpack(head)
            # The alarm has its default effect, which ends the process at any point: Python's own handlers would wait for `re` to
            # return.
            signal.setitimer(signal.ITIMER_REAL, seconds + _ORPHAN_SECONDS)
            if count >= 0:
                data = _taken(asked, count)
                if kind == _WHOLE:
                    text = _Text(data)
            if kind == _NAMES:
                names = data.decode("utf-8", "surrogateescape").split("\0")
                found = [at for at, name in enumerate(names) if search(name)]
            else:
                found = text.row(search, start, end, in_lines)
            signal.setitimer(signal.ITIMER_REAL, 0)
            _send(answered, struct.pack(f"<Q{len(found)}q", len(found), *found))
    except BaseException:  # noqa: BLE001, S110 - the parent sees the end of the pipe
        pass
    finally:
        os._exit(0)


def _let_go(*kept: int) -> None:
    """Close every descriptor but these: whoever awaits the end of one of the parent's pipes must not wait for this process."""
    if sys.platform == "win32":  # `can_run`
        raise NotImplementedError
    low = 0
    for descriptor in (*sorted(kept), min(os.sysconf("SC_OPEN_MAX"), 1 << 16)):
        os.closerange(low, descriptor)
        low = descriptor + 1


def _bound_memory() -> None:
    """Bound the child's memory, so that it ends before the machine's memory does.

    Behind a wall the system does not reveal how much the child has now, including the stacks of the parent's threads: the smallest
    bound under which an allocation succeeds is above that amount and less than twice it.
    """
    if sys.platform == "win32":  # `can_run`
        raise NotImplementedError
    import resource

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    bound = _MEMORY_BYTES
    with suppress(OSError, ValueError):  # the user has set a lower one
        while True:
            resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
            try:
                bytearray(1 << 20)
                break
            except MemoryError:
                bound *= 2
        resource.setrlimit(resource.RLIMIT_DATA, (bound + _MEMORY_BYTES, hard))


def _taken(descriptor: int, count: int) -> bytes:
    """Return that many bytes; fewer if the other end was closed."""
    parts = []
    while count and (part := os.read(descriptor, min(count, 1 << 20))):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


class _Text:
    """Bytes and their text, with the mapping between positions in the two.

    `re` searches text, callers count in bytes. For pure ASCII the two are the same; otherwise marks note at which byte every
    4,096th character begins, so that a position costs a bisection and the decoding of one such part.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._text = data.decode("utf-8", "surrogateescape")
        self._is_same = len(self._text) == len(data)
        self._marks = [0]  # the byte at which every `_STEP`th character begins
        if not self._is_same:
            for at in range(0, len(self._text), _STEP):
                part = self._text[at : at + _STEP].encode("utf-8", "surrogateescape")
                self._marks.append(self._marks[-1] + len(part))

    def row(self, search: Searching[str], start: int, end: int, in_lines: bool) -> list[int]:
        """Return the first match of every line between two positions, as byte positions: beginnings and ends in turn."""
        text, found = self._text, list[int]()
        at, last = self._char_at(start), self._char_at(end)
        line_end = "\r\n" if in_lines else ""
        while at <= last and len(found) < 2 * _ROW and (span := first(search, text, at, last, line_end)) is not None:
            begin, stop = span
            found += (self._byte_at(begin), self._byte_at(stop))
            behind = text.find("\n", stop)
            at = (len(text) if behind < 0 else behind) + 1
        return found

    def _char_at(self, byte: int) -> int:
        """Return the character at a byte; for a byte within a character, that character."""
        if self._is_same:
            return byte
        mark = bisect_right(self._marks, byte) - 1
        base, char = self._marks[mark], mark * _STEP
        for whole in range(byte, max(byte - 4, base - 1), -1):  # a position within a character: where that begins
            part = self._data[base:whole].decode("utf-8", "surrogateescape")
            if self._text.startswith(part, char):
                return char + len(part)
        return char

    def _byte_at(self, char: int) -> int:
        """Return the byte at which a character begins."""
        if self._is_same:
            return char
        mark = char // _STEP
        return self._marks[mark] + len(self._text[mark * _STEP : char].encode("utf-8", "surrogateescape"))

"""Which lines of an artifact match? As a value, and as text for a model that is never kept again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ToolError
from penstock.store import StoreFault
from penstock.store.reading import Artifact, unreadable
from penstock.text import escape, notices, window
from penstock.text import fitting as guard
from penstock.text.allowance import Allowance
from penstock.text.calls import PYTHON, Call, Dialect
from penstock.workspace import fitting
from penstock.workspace.deadline import WALK_SECONDS, Deadline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.store import Store
    from penstock.workspace.pattern import LineFinder

DEFAULT_MATCHES = 50
"""How many matching lines are shown by default."""
MAX_MATCHES = 500
"""The most matching lines that can be requested at once."""
_BLOCK = 1 << 20
_LONGEST_LINE = 8 << 20  # a longer one is searched in overlapping parts
_OVERLAP = 1 << 16
_LEAD_BYTES = 100  # shown before a match in a long line
_SHOWN_BYTES = 400  # of a matching line


class ArtifactMatch(NamedTuple):
    """A matching line, with its 1-based number."""

    line: int
    start_byte: int
    """Where `text` begins in the artifact: at the start of the line, or some 100 bytes before the match in a long one."""
    text: str
    """The line, inert, without its end; an ellipsis marks a cut."""
    is_clipped: bool


class FoundLines(NamedTuple):
    """The first matching lines of an artifact, and how many there are."""

    handle: str
    matches: tuple[ArtifactMatch, ...]
    total: int
    """Matching lines in what was searched: all of them if `complete` is true."""
    scanned_bytes: int
    total_bytes: int
    complete: bool
    hidden: int = 0
    """Secrets in the artifact that are replaced by marks."""


class FoundAnswer(NamedTuple):
    """The answer of `find`: text for the model within its allowance, and the value for scripts."""

    text: guard.Guarded
    outcome: str
    """`done`, `partial` if the time of a call ended, or `nothing` if nothing matched."""
    value: FoundLines


def find(
    store: Store,
    handle: str,
    pattern: str,
    limit: int = DEFAULT_MATCHES,
    *,
    allowance: Allowance | None = None,
    dialect: Dialect | None = None,
    deadline: Deadline | None = None,
) -> FoundAnswer:
    """Return the lines of an artifact that match, as text with a header.

    Args:
        store: Where the artifact is.
        handle: Its handle.
        pattern: A regular expression in RE2's syntax; a match lies within one line.
        limit: How many matching lines are shown, at most `MAX_MATCHES`; all are counted.
        allowance: What the text may take; None for 256 KiB.
        dialect: How the call that reads around a match is written; None for Python's syntax.
        deadline: Until when it searches; None for 30 seconds from now.

    Raises:
        ToolError: The handle or the pattern is invalid, the store cannot be read, or the allowance is too small for a header.
    """
    allowance, dialect = allowance or Allowance.bytes(window.HARD_MAX_BYTES), dialect or PYTHON
    found = scan(store, handle, pattern, limit, deadline=deadline or Deadline(WALK_SECONDS))

    grep = ""
    if not found.total:
        from penstock.workspace.pattern import signs_of_grep

        grep = signs_of_grep(pattern)

    def render(count: int) -> str:
        around = ""
        if count:
            first = found.matches[0].start_byte
            around = dialect.write(Call("page", {"handle": found.handle, "start_byte": first}))
        return "\n".join([_found(found, count, around, grep), *map(_found_line, found.matches[:count])])

    # Rendering is cheap and its size never falls with the number of lines, so the number is found by bisection.
    count = fitting.most(len(found.matches), lambda n: allowance.measure(render(n)), allowance.limit)
    text = render(count)
    if not allowance.holds(text):
        raise ToolError("bad_argument", notices.over_allowance(allowance, allowance.measure(text)))
    outcome = "partial" if not found.complete else "done" if found.total else "nothing"
    return FoundAnswer(guard.bounded(text), outcome, found._replace(matches=found.matches[:count]))


def _found(found: FoundLines, shown: int, around: str, grep: str) -> str:
    """Return the header line of the result."""
    some = "" if found.complete else "at least "
    parts = [f"{some}{notices.counted(found.total, 'matching line')}"]
    if shown < found.total:
        parts.append(f"showing the first {shown}: a narrower pattern or a larger limit shows the others")
    if grep:
        parts.append(grep)
    parts.append(f"searched {found.scanned_bytes} of {found.total_bytes} bytes")
    if not found.complete:
        parts.append("the time of one call ended")
    if found.hidden:
        parts.append(notices.hidden_secrets(found.hidden))
    if shown:
        parts.append(f"to read around a match: {around}")
    return f"{found.handle}: " + " | ".join(parts)


def _found_line(match: ArtifactMatch) -> str:
    """Return a matching line: its number, the byte at which the shown part begins, and its text."""
    return f"{match.line}|{match.start_byte}|{match.text}"


def scan(
    store: Store, handle: str, pattern: str, limit: int = DEFAULT_MATCHES, *, deadline: Deadline | None = None
) -> FoundLines:
    """Return the first `limit` matching lines of an artifact and the total number, as a value.

    Args:
        store: Where the artifact is.
        handle: Its handle.
        pattern: A regular expression in RE2's syntax; a match lies within one line.
        limit: How many matches are kept, from 1 to `MAX_MATCHES`.
        deadline: Until when it searches; None for 30 seconds from now.

    Raises:
        ToolError: An argument or the pattern is invalid, or the store cannot be read.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_MATCHES:
        said = f"takes an integer from 1 to {MAX_MATCHES}, not {escape.clip(repr(limit), 64)}"
        way = Call("find", {"handle": escape.clip(str(handle), 64), "pattern": escape.show_argument(pattern)})
        raise ToolError("bad_argument", notices.argument("limit", said), way)
    from penstock.workspace.pattern import line_finder

    deadline = deadline or Deadline(WALK_SECONDS)
    state = _Scan(line_finder(pattern, deadline=deadline), limit)
    try:
        source = Artifact(store, handle)
        for block in _blocks(source, deadline):
            state.take(block)
    except ToolError as error:
        if error.code != "deadline" or not state.matches:  # what was found by then is an answer
            raise
    except StoreFault as fault:
        raise unreadable(fault) from fault
    return FoundLines(
        handle=source.handle,
        matches=tuple(state.matches),
        total=state.total,
        scanned_bytes=state.scanned,
        total_bytes=source.size_bytes,
        complete=state.scanned >= source.size_bytes,
        hidden=source.info.hidden,
    )


def found_json(found: FoundLines) -> dict[str, object]:
    """Return the result as JSON can hold it, for scripts."""
    return {
        "handle": found.handle,
        "matches": [
            {"line": m.line, "start_byte": m.start_byte, "text": m.text, "clipped": m.is_clipped} for m in found.matches
        ],
        "total": found.total,
        "scanned_bytes": found.scanned_bytes,
        "total_bytes": found.total_bytes,
        "complete": found.complete,
        "hidden": found.hidden,
    }


class _Block(NamedTuple):
    """Bytes from `start_byte` on: whole lines, except for a line that is longer than a block may be."""

    data: bytes
    start_byte: int


def _blocks(source: Artifact, deadline: Deadline) -> Iterator[_Block]:
    """Yield an artifact in blocks of whole lines, until the deadline.

    A line above 8 MiB comes in parts that overlap by 64 KiB, so that a match no longer than that is whole in one of them.
    """
    held, start = b"", 0
    while not deadline.passed:
        more = source.read(start + len(held), _BLOCK)
        held += more
        if not held:
            return
        end = held.rfind(b"\n") + 1
        if not more or start + len(held) >= source.size_bytes:
            yield _Block(held, start)
            return
        if end:
            yield _Block(held[:end], start)
            held, start = held[end:], start + end
        elif len(held) >= _LONGEST_LINE:
            yield _Block(held, start)
            held, start = held[-_OVERLAP:], start + len(held) - _OVERLAP


class _Scan:
    """What has been found so far, over consecutive blocks."""

    def __init__(self, search: LineFinder, limit: int) -> None:
        self.matches: list[ArtifactMatch] = []
        self.total = 0
        self.scanned = 0
        self._search = search
        self._limit = limit
        self._line = 1  # of the first byte of the next block
        self._counted = 0  # the last line that was counted: a long one spans several blocks

    def take(self, block: _Block) -> None:
        """Count the matching lines of a block, and keep the first ones."""
        data, at, line = block.data, 0, self._line
        while at < len(data):
            span = self._search(data, at, len(data))
            if span is None:
                break
            line += data.count(b"\n", at, span[0])
            begin = data.rfind(b"\n", 0, span[0]) + 1
            end = data.find(b"\n", span[0])
            end = len(data) if end < 0 else end
            # The parts of a long line overlap, so a match in both is found twice: a line counts once.
            if line != self._counted:
                self.total += 1
                self._counted = line
                if len(self.matches) < self._limit:
                    self.matches.append(_match(data, block.start_byte, line, begin, end, span[0]))
            at, line = end + 1, line + 1
        # Line ends are counted between matches to number them, and once more in the whole block: without a match, that is all.
        self._line += data.count(b"\n")
        self.scanned = block.start_byte + len(data)


def _match(data: bytes, base: int, line: int, begin: int, end: int, hit: int) -> ArtifactMatch:
    """Return a match with as much of its line around it as may be shown, cut between characters."""
    first = begin if hit - begin <= _LEAD_BYTES else window.UTF8.floor_char(data, hit - _LEAD_BYTES)
    last = end if end - first <= _SHOWN_BYTES else window.UTF8.floor_char(data, first + _SHOWN_BYTES)
    text = escape.show(window.UTF8.decode(data[first:last].removesuffix(b"\r"))[0])[0]
    is_clipped = first > begin or last < end
    shown = ("…" if first > begin else "") + text + ("…" if last < end else "")
    return ArtifactMatch(line, base + first, shown, is_clipped)

"""What fits? A text made inert and cut to an allowance, with a notice that says what is missing and how to get it.

The notice comes first, because the end of a result is what other software cuts off, and it is counted: text and notice are
within the allowance. Law: `fit` never exceeds its allowance; fitting twice changes nothing, by type and not by looking for
the notice in the text; content cannot forge the notice. Keeps out: where the whole is kept (guarding, store).
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from penstock import inert, notices
from penstock.budget import Allowance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.calls import Dialect

CHARS_PER_TOKEN = 3.5  # of the seed; a stated counter in the allowance outranks it
NEWLINE_SHARE = 0.8  # a cut moves back to a line end that lies beyond this share of the room (G-1)


class Keep(enum.Enum):
    """Which part of a text stays: its beginning, its end, or both."""

    HEAD = "head"
    TAIL = "tail"
    ENDS = "ends"


class Guarded(str):
    """A text that was fitted. A `str` that knows it: fitted again, it stays as it is.

    `whole_*` measure what came in, `shown_chars` what is left of it; `handle` leads to the whole, if it was kept.
    """

    shown_chars: int
    whole_chars: int
    whole_bytes: int
    whole_lines: int
    shown_tokens: int
    whole_tokens: int
    handle: str | None
    is_cut: bool

    @property
    def text(self) -> str:
        """The text as a plain `str`."""
        return str.__str__(self)

    def __repr__(self) -> str:
        return f"Guarded({str.__repr__(self)}, is_cut={self.is_cut}, handle={self.handle!r})"


def fit(
    text: str,
    allowance: Allowance,
    keep: Keep = Keep.HEAD,
    handle: str | None = None,
    *,
    name: str = "tool",
    dialect: Dialect | None = None,
    chars_per_token: float = CHARS_PER_TOKEN,
) -> Guarded:
    """`text` with its notice, at most `allowance`; unchanged when it fits and holds nothing that must be escaped (G-2).

    `name` is the tool that the notice speaks of. JSON on one line is cut between its records where that is possible (G-5).
    An allowance that cannot hold the notice gets as much of the notice as it holds.
    """
    if isinstance(text, Guarded) and allowance.holds(text):
        return text
    tokens = _counter(allowance, chars_per_token)
    whole = _Whole(text, tokens)
    limit_chars = _most_chars(allowance)
    if len(text) <= limit_chars:
        shown = _unforgeable(inert.show(text)[0])
        if allowance.holds(shown):
            return _guarded(shown, whole, len(text), tokens(shown), handle, is_cut=False)
    body_limit = allowance.limit

    def render(body: str, shown_text: str) -> str:
        notice = notices.truncated(name, whole, tokens(shown_text), keep.value, handle, dialect)
        return f"{notice}\n{body}" if body else notice

    if not allowance.holds(render("", "")):
        notice = render("", "")
        kept = _longest(len(notice), lambda n: allowance.holds(notice[:n]))
        return _guarded(notice[:kept], whole, 0, 0, handle, is_cut=True)
    cutter = {Keep.HEAD: _head, Keep.TAIL: _tail, Keep.ENDS: _ends}[keep]
    window = min(limit_chars, len(text))
    source = text if keep is Keep.ENDS else text[:window] if keep is Keep.HEAD else text[-window:]
    room = _longest(min(window, body_limit), lambda n: allowance.holds(render(*cutter(source, n, whole))))
    body, shown_text = cutter(source, room, whole)
    while room and not allowance.holds(
        render(body, shown_text)
    ):  # a cut that moved to a line end can be the longer one
        room = room * 9 // 10
        body, shown_text = cutter(source, room, whole) if room else ("", "")
    return _guarded(render(body, shown_text), whole, len(shown_text), tokens(shown_text), handle, is_cut=True)


def fit_all(texts: Sequence[str], allowance: Allowance, **options: object) -> list[Guarded]:
    """Results that arrive together share one allowance, the largest cut first (G-7)."""
    sizes = [allowance.measure(text) for text in texts]
    share, left, open_sizes = 0, allowance.limit, sorted(sizes)
    while open_sizes:  # the smallest get what they need; what they leave is shared by the others
        share = left // len(open_sizes)
        if open_sizes[0] > share:
            break
        left -= open_sizes.pop(0)
    each = Allowance(share, allowance.unit, allowance.counter)
    return [
        fit(text, Allowance(size, allowance.unit, allowance.counter) if size <= share else each, **options)  # type: ignore[arg-type]
        for text, size in zip(texts, sizes, strict=True)
    ]


class _Whole:
    """What came in, measured."""

    def __init__(self, text: str, tokens: Callable[[str], int]) -> None:
        if isinstance(text, Guarded):
            self.chars, self.bytes, self.lines, self.tokens = (
                text.whole_chars,
                text.whole_bytes,
                text.whole_lines,
                text.whole_tokens,
            )
            return
        self.chars = len(text)
        self.bytes = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        self.lines = text.count("\n") + (bool(text) and not text.endswith("\n"))
        self.tokens = tokens(text)


def _counter(allowance: Allowance, chars_per_token: float) -> Callable[[str], int]:
    counter = allowance.counter
    if counter is not None:
        return lambda text: counter.count(text).tokens
    return lambda text: int(len(text) / chars_per_token)


def _most_chars(allowance: Allowance) -> int:
    """No text of more characters can fit: what lies beyond is never looked at."""
    return allowance.limit * (64 if allowance.unit == "tokens" else 1)


def _guarded(
    text: str, whole: _Whole, shown_chars: int, shown_tokens: int, handle: str | None, *, is_cut: bool
) -> Guarded:
    guarded = Guarded(text)
    guarded.shown_chars = shown_chars
    guarded.shown_tokens = shown_tokens
    guarded.whole_chars, guarded.whole_bytes = whole.chars, whole.bytes
    guarded.whole_lines, guarded.whole_tokens = whole.lines, whole.tokens
    guarded.handle = handle
    guarded.is_cut = is_cut
    return guarded


def _unforgeable(text: str) -> str:
    """Lines that begin like our notices no longer do."""
    return notices.disarmed(text)


# ── cuts: (body as shown, the part of the text that it stands for) for a room of n characters ───────────────────────


def _head(text: str, room: int, whole: _Whole) -> tuple[str, str]:
    del whole
    part = text[: _head_end(text, room)]
    return _unforgeable(inert.show(part)[0]), part


def _head_end(text: str, room: int) -> int:
    if room >= len(text):
        return len(text)
    newline = text.rfind("\n", 0, room)
    if newline >= NEWLINE_SHARE * room:
        return newline
    if newline < 0 and text[:1] in {"[", "{"} and (record := _record_end(text, room)):
        return record
    return room


def _tail(text: str, room: int, whole: _Whole) -> tuple[str, str]:
    del whole
    start = len(text) - min(room, len(text))
    newline = text.find("\n", start, start + room - int(NEWLINE_SHARE * room)) if start else -1
    part = text[newline + 1 if newline >= 0 else start :]
    return _unforgeable(inert.show(part)[0]), part


def _ends(text: str, room: int, whole: _Whole) -> tuple[str, str]:
    half = room // 2
    head, head_text = _head(text, half, whole)
    tail, tail_text = _tail(text, min(room - half, len(text) - len(head_text)), whole)
    lines = whole.lines - head_text.count("\n") - tail_text.count("\n") - 1
    gap = notices.gap(max(lines, 0), whole.chars - len(head_text) - len(tail_text))
    return f"{head}\n{gap}\n{tail}", head_text + tail_text


def _record_end(text: str, room: int) -> int:
    """Behind the last whole element of a JSON array or object that ends within `room`; 0 when none does."""
    depth, end, in_string, escaped = 0, 0, False, False
    for at in range(min(room, len(text))):
        character = text[at]
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
        elif character in "]}":
            depth -= 1
        elif character == "," and depth == 1:
            end = at + 1
    return end


def _longest(count: int, fits: Callable[[int], bool]) -> int:
    """The largest n <= count for which `fits(n)`, taking it that what fits at n fits below; 0 always counts as fitting."""
    if fits(count):
        return count
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low

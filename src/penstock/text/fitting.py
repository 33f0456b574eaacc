"""How much of a text fits? The text made inert and cut to an allowance, with a notice that says what is missing and how to
get it (G-1, G-2).

The notice comes first, because the end of a result is what other software cuts off, and it is counted: text and notice
together are within the allowance. Laws: `fit` never exceeds its allowance; fitting twice changes nothing, which is
recognised by type and not by looking for the notice in the text; content cannot forge the notice. Leaves to others: where
the original is kept (`guard`, `store`).
"""

from __future__ import annotations

import enum
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError
from penstock.text import escape, json_records, stand_ins
from penstock.text.allowance import Allowance
from penstock.text.calls import PYTHON, Call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.text.calls import Dialect

# A counter in the allowance takes precedence.
CHARS_PER_TOKEN = 3.5
"""Characters for each token, if tokens are only mentioned in a notice."""
NEWLINE_SHARE = 0.8
"""A cut moves back to a line end that is beyond this share of the room (G-1)."""
# No counter makes one token of more characters, blanks aside: what is beyond this many per token need not be examined.
_CHARS_PER_TOKEN_MOST = 64

NARROWER = "Use more specific parameters or pagination to get remaining data."
"""What a notice advises if there is no way to the rest."""


class Keep(enum.Enum):
    """Which part of a text stays: its beginning, its end, or both."""

    HEAD = "head"
    TAIL = "tail"
    ENDS = "ends"

    @classmethod
    def _missing_(cls, value: object) -> Keep:
        known = ", ".join(f'"{one.value}"' for one in cls)
        raise CallerError(f"keep: takes {known}, or the Keep of that name, not {escape.clip(repr(value))}")


class Whole(NamedTuple):
    """The original text, measured."""

    chars: int
    bytes: int
    """Bytes of UTF-8."""
    lines: int
    """Lines, ended by line feeds; a last one without an end counts."""
    tokens: int
    """Approximate number of tokens."""


class Guarded(str):
    """A text that was fitted: a `str` that knows this and is not changed when it is fitted again."""

    shown_chars: int
    """Characters of the original that are left, without the notice."""
    whole_chars: int
    """Characters of the original; likewise for bytes, lines and tokens."""
    whole_bytes: int
    whole_lines: int
    shown_tokens: int
    """Approximate number of tokens that are left, without the notice."""
    whole_tokens: int
    notice_chars: int
    """The length of the notice at its head, with its line end; 0 if nothing was cut."""
    handle: str | None
    """The handle of the original; None if it is not kept."""
    way: str | None
    """What the notice says instead of calls that read the handle; None if it names those calls."""
    is_cut: bool
    """Whether anything is missing."""
    bounds_itself: bool
    """Whether the text comes from a tool that pages by itself: the guard of tools leaves it alone."""

    @property
    def text(self) -> str:
        """The text as a plain `str`."""
        return str.__str__(self)

    @property
    def whole(self) -> Whole:
        """The measure of the original."""
        return Whole(self.whole_chars, self.whole_bytes, self.whole_lines, self.whole_tokens)

    def __repr__(self) -> str:
        return f"Guarded({str.__repr__(self)}, is_cut={self.is_cut}, handle={self.handle!r})"


def fit(
    text: str,
    allowance: Allowance,
    keep: Keep | str = Keep.HEAD,
    handle: str | None = None,
    *,
    name: str = "tool",
    way: str | None = None,
    dialect: Dialect | None = None,
    chars_per_token: float = CHARS_PER_TOKEN,
) -> Guarded:
    """Return a text with its notice, at most `allowance`; unchanged if it fits and holds nothing that must be escaped
    (G-2).

    JSON on one line is cut between its records if possible (G-5). An allowance that cannot hold the notice gets a shorter
    one, without the handle if there is no room for it (`Guarded.handle` has it), and in the end as much of that as fits.

    Args:
        text: any text; one that was fitted before is cut further from what was left of it.
        allowance: the most that text and notice may take together.
        keep: which part stays: a `Keep`, or its value (`"tail"`).
        handle: the handle of the original; None if it is not kept.
        name: the tool that the notice mentions.
        way: what the notice says instead of the calls that read `handle`.
        dialect: the syntax of those calls; None is Python's.
        chars_per_token: for the numbers in the notice, if the allowance has no counter.

    Returns:
        The text that fits, which knows what it was cut from.

    Raises:
        CallerError: for an unknown `keep`, or an allowance that is none.
    """
    keep = Keep(keep)
    tokens = counter_of(allowance, chars_per_token)
    if isinstance(text, Guarded):
        if allowance.holds(text):
            return text
        whole = text.whole
        handle, way = handle or text.handle, way or text.way
        # The old notice is replaced by a new one about the original: a notice about a cut of a cut would understate what is
        # missing.
        text = text.text[text.notice_chars :]
    else:
        whole = measure(text, tokens)
        if whole.chars <= max_chars(allowance):
            shown = _unforgeable(text)
            if allowance.holds(shown):
                return _guarded(shown, whole, whole.chars, tokens(shown), handle, way, None)
    # Only as much as could ever fit is examined: escaping and counting a gigabyte to show a page would cost seconds.
    window = max_chars(allowance)
    head, tail = text[:window], text[-window:]
    return fit_ends(
        head, tail, whole, allowance, keep, handle, name=name, way=way, dialect=dialect, chars_per_token=chars_per_token
    )


def fit_ends(
    head: str,
    tail: str,
    whole: Whole,
    allowance: Allowance,
    keep: Keep = Keep.HEAD,
    handle: str | None = None,
    *,
    name: str = "tool",
    way: str | None = None,
    dialect: Dialect | None = None,
    chars_per_token: float = CHARS_PER_TOKEN,
) -> Guarded:
    """Return what `fit` would, for a text that is not available as a whole.

    Args:
        head: its first `max_chars(allowance)` characters, or all.
        tail: its last ones; may overlap `head`.
        whole: the measure of all of it.
        allowance: the most that text and notice may take together.
        keep: which part stays.
        handle: the handle of the original; None if it is not kept.
        name: the tool that the notice mentions.
        way: what the notice says instead of the calls that read `handle`.
        dialect: the syntax of those calls; None is Python's.
        chars_per_token: for the numbers in the notice, if the allowance has no counter.
    """
    tokens = counter_of(allowance, chars_per_token)
    cut = _Cut(head, tail, whole, keep)
    said = way or (NARROWER if handle is None else way_to_whole(handle, whole, dialect))

    def notice(shown: str) -> str:
        return stand_ins.truncated(name, whole.tokens, tokens(shown), keep.value, said)

    def render(body: str, shown: str) -> str:
        return f"{notice(shown)}\n{body}" if body else notice(shown)

    if not allowance.holds(notice("")):
        # A handle is shown whole or not at all: part of one opens nothing, and a model would try it.
        brief = stand_ins.truncated_briefly(handle, dialect)
        if not allowance.holds(brief):
            brief = stand_ins.truncated_briefly(None, dialect)
        held = _longest(len(brief), lambda n: allowance.holds(brief[:n]))
        return _guarded(brief[:held], whole, 0, 0, handle, way, held)
    # The room is found by search, not computed: a cut is inert and disarmed, so n characters of the original may become up to ten
    # times as many, and the notice has numbers that change with the cut. O(log n) renderings.
    most = min(max_chars(allowance), whole.chars)

    def near() -> int | None:
        # Counting tokens is what takes time here; the count of one part shows nearly how much there is room for.
        if allowance.counter is None:
            return None
        frame = allowance.measure(notice(""))
        part = min(most, max(1, whole.chars * allowance.limit // max(1, whole.tokens)))
        return part * (allowance.limit - frame) // max(1, allowance.measure(render(*cut(part))) - frame)

    room = _longest(most, lambda n: allowance.holds(render(*cut(n))), near())
    body, shown = cut(room)
    return _guarded(render(body, shown), whole, len(shown), tokens(shown), handle, way, len(notice(shown)) + bool(body))


def way_to_whole(handle: str, whole: Whole, dialect: Dialect | None) -> str:
    """Return what a notice says of an original that is kept: its size, and the calls that show and search it.

    Args:
        handle: the handle of the original.
        whole: its measure.
        dialect: the syntax of the calls; None is Python's.
    """
    find = (dialect or PYTHON).write(Call("find", {"handle": handle, "pattern": "…"}))
    page = stand_ins.way_back(handle, dialect)
    return f"The whole, {whole.lines} lines, {whole.bytes} bytes: {page}; to search it: {find}"


def fit_all(texts: Sequence[str], allowance: Allowance, keep: Keep = Keep.HEAD) -> list[Guarded]:
    """Return results that arrive together, fitted to one allowance, the largest cut first (G-7).

    Args:
        texts: the results, in the order in which they are returned.
        allowance: the most that all of them may take.
        keep: which part of each stays.
    """
    shares = share([allowance.measure(text) for text in texts], allowance.limit)
    return [fit(text, of(allowance, size), keep) for text, size in zip(texts, shares, strict=True)]


def share(sizes: Sequence[int], limit: int) -> list[int]:
    """Return how much of a limit each of some results may take: small ones all that they need, large ones equal shares of
    the rest.

    Args:
        sizes: the full size of each.
        limit: the most that all may take, in the same unit.
    """
    # Max-min fairness: as long as the smallest takes no more than an equal share, it gets all it needs and the rest share
    # what it leaves.
    left, open_sizes = limit, sorted(sizes)
    while open_sizes and open_sizes[0] <= left // len(open_sizes):
        left -= open_sizes.pop(0)
    most = left // len(open_sizes) if open_sizes else limit
    return [min(size, most) for size in sizes]


def of(allowance: Allowance, limit: int) -> Allowance:
    """Return an allowance with another limit, everything else unchanged."""
    return allowance._replace(limit=limit)


def bounded(text: str) -> Guarded:
    """Return the result of a tool that bounds itself and says how to continue: the guard of tools leaves it unchanged (G-8)."""
    whole = measure(text, lambda part: int(len(part) / CHARS_PER_TOKEN))
    result = _guarded(text, whole, whole.chars, whole.tokens, None, None, None)
    result.bounds_itself = True
    return result


def measure(text: str, tokens: Callable[[str], int]) -> Whole:
    """Return the measure of an available text, with its tokens counted by the given function."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return Whole(len(text), size, text.count("\n") + (bool(text) and not text.endswith("\n")), tokens(text))


def checked(allowance: Allowance) -> Allowance:
    """Return an allowance, or raise `CallerError` for another value: the size alone is what a caller thinks of first."""
    if not isinstance(allowance, Allowance):
        raise CallerError(f"An allowance is a size with its unit, such as Allowance.chars(5_000), not {allowance!r}.")
    return allowance


def counter_of(allowance: Allowance, chars_per_token: float = CHARS_PER_TOKEN) -> Callable[[str], int]:
    """Return how tokens are counted for notices: by the allowance's counter, else by characters."""
    counter = checked(allowance).counter
    if counter is not None:
        return lambda text: counter.count(text).tokens
    return lambda text: int(len(text) / chars_per_token)


def max_chars(allowance: Allowance) -> int:
    """Return how many characters of a text can be relevant: no longer text can fit."""
    return allowance.limit * (_CHARS_PER_TOKEN_MOST if allowance.unit == "tokens" else 1)


def _guarded(
    text: str,
    whole: Whole,
    shown_chars: int,
    shown_tokens: int,
    handle: str | None,
    way: str | None,
    notice_chars: int | None,
) -> Guarded:
    """Return a text with what is known of its cut; None for `notice_chars` means that nothing was cut."""
    guarded = Guarded(text)
    guarded.shown_chars, guarded.shown_tokens = shown_chars, shown_tokens
    guarded.whole_chars, guarded.whole_bytes, guarded.whole_lines, guarded.whole_tokens = whole
    guarded.notice_chars = notice_chars or 0
    guarded.handle, guarded.way = handle, way
    guarded.is_cut = notice_chars is not None
    guarded.bounds_itself = False
    return guarded


def _unforgeable(text: str) -> str:
    """Return a text made inert, and without lines that begin like our notices."""
    return stand_ins.disarm(escape.show_text(text))


class _Cut:
    """A text's cuts: `cut(n)` gives the body as shown and the text that it represents, about `n` characters of it."""

    def __init__(self, head: str, tail: str, whole: Whole, keep: Keep) -> None:
        self._head_text, self._tail_text, self._whole, self._keep = head, tail, whole, keep
        # Found when first needed: most texts have lines, and a scan of their JSON would be wasted.
        self._records: list[int] | None = None

    def __call__(self, room: int) -> tuple[str, str]:
        if not room:
            return "", ""
        if self._keep is Keep.HEAD:
            part = self._head(room)
            return _unforgeable(part), part
        if self._keep is Keep.TAIL:
            part = self._tail(room)
            return _unforgeable(part), part
        head = self._head(room // 2)
        tail = self._tail(min(room - room // 2, self._whole.chars - len(head)))
        hidden = self._whole.chars - len(head) - len(tail)
        if not hidden:
            return _unforgeable(head + tail), head + tail
        lines = self._whole.lines - head.count("\n") - tail.count("\n") - 1
        return f"{_unforgeable(head)}\n{stand_ins.gap(max(lines, 0), hidden)}\n{_unforgeable(tail)}", head + tail

    def _head(self, room: int) -> str:
        """Return at most `room` characters from the beginning, ending at a line or a record if that costs little."""
        text = self._head_text
        newline = text[:room].rfind("\n")
        if newline >= NEWLINE_SHARE * room:
            return text[:newline]
        if json_records.is_one_line(text[:64], self._whole.lines):
            if self._records is None:
                self._records = json_records.JsonRecordScanner().feed(text)
            whole = bisect_right(self._records, room)
            if whole:
                return text[: self._records[whole - 1]]
        return text[:room]

    def _tail(self, room: int) -> str:
        """Return at most `room` characters from the end, beginning at a line if that costs little."""
        text = self._tail_text
        start = len(text) - min(room, len(text))
        newline = text.find("\n", start, start + room - int(NEWLINE_SHARE * room)) if start else -1
        return text[max(start, newline + 1) :]


def _longest(count: int, fits: Callable[[int], bool], near: int | None = None) -> int:
    """Return the largest n <= count for which `fits(n)`, assuming that everything below a fitting n fits; 0 always counts as
    fitting.

    Args:
        count: the most that is asked for.
        fits: whether a given number fits.
        near: an estimate of the result, from which it is searched for in doubling steps; None searches from `count`.
    """
    low, high = 0, count + 1  # what fits, and what does not
    at, step = (count, count) if near is None else (max(1, min(near, count)), max(1, near // 32))
    while low < at < high:
        low, high, at = (at, high, at + step) if fits(at) else (low, at, at - step)
        step *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low

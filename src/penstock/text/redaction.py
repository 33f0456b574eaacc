"""Which words are secrets? Keys in shapes that are known, and what an assignment calls a password (S-17).

A secret becomes `[redacted: KIND, N characters]`, all else stays as it stands. It is for what leaves a session:
journals, handoffs, summaries, logs, and results that a model sees. What has no known shape and no name is not found:
nothing here makes it safe to publish a text.

Three searches have the hints of all shapes between them and run over the text, on google-re2 where it is installed, else
on `re`, which is slower; a shape is looked at only where its hint matches. Laws: redacting twice changes nothing; lines stay
lines; the time grows with the text and not faster. Leaves to others: what the shapes are (`secret_shapes`,
`secret_formats`), where a text goes, and which files are not opened at all (`workspace.paths`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from penstock.text.secret_shape import BEFORE_WORD, PRIVATE_KEY_BEGINS, REACH_CHARS
from penstock.text.secret_values import is_random

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from penstock.text.secret_shape import Shape

    _Search = Callable[[bytes, int, int], list[tuple[int, int]]]

_MARK = re.compile(r"\[redacted: [A-Za-z0-9. ]{1,30}, \d{1,9} characters\]")
_MARK_BYTES = re.compile(_MARK.pattern.encode())
_MARK_CHARS = 64
_MARK_BEGINS = "[redacted: "
_KEY_CHARS, _LEAD_CHARS, _PIECE_CHARS = 2, 48, 4
_BLOCK_CHARS = 65_536  # a longer text has pieces of most leads
# States of the search that are kept between texts, at most: 64 MiB hold all that 71 MB of source code lead to. With
# fewer they are thrown away and made again all the time, which made it three times as slow.
_ENGINE_BYTES = 64 << 20
_HINT_BYTES = 4_096  # no hint that leads to a secret is longer
# Keys that are looked for wherever they stand: so many different ones, or a text of nothing but keys would be read once
# for each of them. A short one could be a part of a word.
_MAX_REPEATED = 64
_MIN_REPEATED_CHARS, _MAX_REPEATED_CHARS = 12, 4_096
_PLAIN_LOOKS = 8


class Secret(NamedTuple):
    """A place in a text that holds a secret."""

    kind: str
    start: int
    end: int
    """Exclusive."""


def redacted(text: str, known: dict[str, str] | None = None) -> str:
    """Return a text without what looks like a secret.

    Args:
        text: The text.
        known: As for `secrets_in`.
    """
    found = secrets_in(text, known=known)
    return _Shown(text, found).text if found else text


def mark_of(kind: str, secret: str) -> str:
    """Return what stands in the place of a secret; it has as many line ends."""
    return f"[redacted: {kind}, {len(secret)} characters]" + "\n" * secret.count("\n")


def first_hint(content: bytes, until: int | None = None) -> int:
    """Return where a text in UTF-8 may hold a secret or a mark of ours, at the earliest; -1 where it holds none.

    Args:
        content: The text.
        until: Places from here on, in bytes, are another's; None for none.
    """
    searches = _linear()
    if not searches:
        return 0  # to find out takes as long as to find them
    first, end = -1, len(content) if until is None else min(len(content), until + _HINT_BYTES)
    for search in searches:
        ((start, _),) = search(content, 0, end)
        if start >= 0 and (first < 0 or start < first):
            first, end = start, min(end, start + _HINT_BYTES)
    return -1 if until is not None and first >= until else first


def count_marks(content: bytes) -> int:
    """Return how many marks of ours a text holds, in UTF-8."""
    # A search for plain letters takes a tenth of the time, and most texts hold none.
    return sum(1 for _ in _MARK_BYTES.finditer(content)) if _MARK_BEGINS.encode() in content else 0


def mark_in(text: str) -> str:
    """Return the first mark of ours in a text; empty for none."""
    found = _MARK.search(text)
    return found.group() if found else ""


def secrets_in(
    text: str,
    until: int | None = None,
    known: dict[str, str] | None = None,
    *,
    since: int = 0,
    begun: Sequence[Secret] = (),
) -> list[Secret]:
    """Return the secrets of a text in order; they never overlap.

    A key that was known at one place is a secret wherever it stands, although nothing gives it away there. A text in which
    something was found is looked at again as it will be shown, until nothing more is found: what stood beside a secret may
    read as one beside its mark.

    Args:
        text: The text.
        until: What gives a secret away from here on need not be found; None for all.
        known: Keys that were found in what came before, with their kinds: they are found too, and those of this text are
            added. None for none.
        since: What stands before is only looked back at.
        begun: Secrets that are known already, in order.
    """
    places = _places(text, until)
    if since:
        places.skip_to(since)
    if not known and not begun and places.next() is None:
        return []  # as most texts are short, and hold nothing
    keys = {} if known is None else known
    seen, passed = _seen(text, until, keys, places, 0)
    found, looks = _merged([*begun, *seen], since), 1
    while found:
        shown = _Shown(text, found)
        shown_until = None if until is None else shown.at(until)
        seen, _ = _seen(shown.text, shown_until, keys, shown.places(passed, since), len(keys))
        # The texts that were tried needed four looks at most. One that is made to need one for every secret loses twice as
        # much around them each time, so that the number of looks grows with the logarithm of the text.
        margin = 1 << looks if looks > _PLAIN_LOOKS else 0
        merged = _merged([*found, *(shown.behind(secret, margin) for secret in seen)], since)
        if merged == found:
            break
        found, looks = merged, looks + 1
    return found


def _seen(
    text: str, until: int | None, keys: dict[str, str], places: _Places, looked_for: int
) -> tuple[list[Secret], list[int]]:
    """Return the secrets that one look at a text finds, and the places where it looked.

    Args:
        text: The text.
        until: As for `secrets_in`.
        keys: Keys that are known; those of this text are added.
        places: Where to look.
        looked_for: So many of the keys, the first ones, are marked already wherever they stand.
    """
    found, passed = _given_away(text, until, places)
    for kind, start, end in found:
        if len(keys) < _MAX_REPEATED and _MIN_REPEATED_CHARS <= end - start <= _MAX_REPEATED_CHARS:
            key = text[start:end]
            if is_random(key):
                keys.setdefault(key, kind)
    more = islice(keys.items(), looked_for, None)
    again = {place for key, kind in more for place in _all_places(text, key, kind)}.difference(found)
    return (_merged([*found, *again]) if again else found), passed


class _Shown:
    """A text with marks in the place of its secrets."""

    def __init__(self, text: str, secrets: list[Secret]) -> None:
        parts: list[str] = []
        # Where parts begin, in the text and as it is shown: one of the text, a mark, one of the text, and so on.
        self._begins, self._shown_begins = [0], [0]
        kept = shown = 0
        for kind, start, end in secrets:
            mark = mark_of(kind, text[start:end])
            parts += (text[kept:start], mark)
            self._begins += (start, end)
            self._shown_begins += (shown + start - kept, shown + start - kept + len(mark))
            shown, kept = self._shown_begins[-1], end
        self.text = "".join((*parts, text[kept:]))
        self._chars = len(text)

    def at(self, place: int) -> int:
        """Return where a place of the text is shown, behind the mark of the secret that it lies in."""
        part = bisect_right(self._begins, place) - 1
        return self._shown_begins[part + 1] if part % 2 else self._shown_begins[part] + place - self._begins[part]

    def places(self, passed: list[int], since: int) -> _Places:
        """Return where to look again: near marks, at what a search finds now and where the first look was.

        Everywhere else the same would be found again, in as much time as it took at first.

        Args:
            passed: Where the first look was, in the text.
            since: Before it is none.
        """
        near: list[tuple[int, int]] = []
        for start, end in zip(self._shown_begins[1::2], self._shown_begins[2::2], strict=True):
            begin = max(since, start - _HINT_BYTES)
            if near and begin <= near[-1][1]:
                near[-1] = near[-1][0], end
            else:
                near.append((begin, end))
        made = set(filter(self._may_differ, map(self.at, passed)))
        made.update(at for begin, end in near for at in _places_between(self.text, begin, end))
        return _Listed(made)

    def _may_differ(self, at: int) -> bool:
        """Return whether what a shape says at a place of what is shown may depend on a mark."""
        behind = bisect_right(self._shown_begins, at)
        begin, end = self._shown_begins[behind - 1], self._shown_begins[behind : behind + 1]
        is_near = (behind > 1 and at - begin <= REACH_CHARS) or (end and end[0] - at <= REACH_CHARS)
        return bool(is_near) or self.text.startswith(PRIVATE_KEY_BEGINS, at)

    def behind(self, seen: Secret, margin: int) -> Secret:
        """Return the place of the text where that is shown, with all of a secret whose mark it touches, and a margin."""
        first, last = bisect_right(self._shown_begins, seen.start) - 1, bisect_left(self._shown_begins, seen.end) - 1
        start = self._begins[first] + (0 if first % 2 else seen.start - self._shown_begins[first])
        end = self._begins[last + 1] if last % 2 else self._begins[last] + seen.end - self._shown_begins[last]
        return Secret(seen.kind, max(0, start - margin), min(self._chars, end + margin))


def _merged(places: Iterable[Secret], since: int = 0) -> list[Secret]:
    """Return places in order, as far as they lie behind one; those that overlap are one."""
    made: list[Secret] = []
    for place in sorted(places, key=lambda one: (one.start, -one.end)):
        if made and place.start < made[-1].end:
            made[-1] = made[-1]._replace(end=max(made[-1].end, place.end))
        elif place.end > since:
            made.append(place._replace(start=max(since, place.start)))
    return made


def _given_away(text: str, until: int | None, places: _Places) -> tuple[list[Secret], list[int]]:
    """Return what its form, its place or its name gives away, in order, and the places where that was looked for."""
    made: list[Secret] = []
    passed: list[int] = []
    floor = 0
    while (at := places.next()) is not None and (until is None or at < until):
        passed.append(at)
        if mark_end := _end_of_mark(text, at, floor):
            places.skip_to(mark_end)
            continue
        found = [secret for secret in _at(text, at, floor) if not _end_of_mark(text, secret.start, floor)]
        for secret in found:
            made.append(secret)
            floor = secret.end
        places.skip_to(max(floor, at + 1))
    return made, passed


def _all_places(text: str, key: str, kind: str) -> Iterator[Secret]:
    """Yield every place of a key in a text."""
    at = text.find(key)
    while at >= 0:
        yield Secret(kind, at, at + len(key))
        at = text.find(key, at + len(key))


def _at(text: str, at: int, floor: int) -> list[Secret]:
    """Return the secrets of the first shape that has one at a place."""
    # The hint of a key that begins a word may take the `_`, `\\n` or colour before it, which are no part of the word.
    before = BEFORE_WORD.match(text, at)
    behind = before.end() if before else at
    for begin in dict.fromkeys((at, behind)):
        for shape in _tried_at(text, begin):
            if spans := shape.spans(text, begin, floor):
                return [_told(text, shape.kind, start, end) for start, end in spans]
    return []


def _told(text: str, kind: str, start: int, end: int) -> Secret:
    """Return a secret under the most telling kind: that of a password that is a key is the key's."""
    for shape in _tried_at(text, start):
        if shape.kind == kind:
            break
        for own_start, own_end in shape.spans(text, start, start):
            if own_start == start:
                return Secret(shape.kind, start, max(end, own_end))
    return Secret(kind, start, end)


def _end_of_mark(text: str, at: int, floor: int) -> int:
    """Return where the mark ends within which a place lies; 0 where it lies in none."""
    begin = text.rfind(_MARK_BEGINS, max(floor, at - _MARK_CHARS), at + len(_MARK_BEGINS))
    mark = _MARK.match(text, begin) if begin >= 0 else None
    return mark.end() if mark and mark.end() > at else 0


@cache
def _shapes() -> tuple[Shape, ...]:
    """Return all shapes; loaded when the first text comes, because most commands never see one."""
    from penstock.text.secret_shapes import SHAPES

    return SHAPES


def _tried_at(text: str, at: int) -> list[Shape]:
    """Return the shapes that may be at a place."""
    begin = text[at : at + _LEAD_CHARS].lower()
    return [shape for leads, shape in _by_lead().get(begin[:_KEY_CHARS], ()) if begin.startswith(leads)]


@cache
def _by_lead() -> dict[str, tuple[tuple[tuple[str, ...], Shape], ...]]:
    """Return the shapes, each with its leads in lower case, by the first two characters of those."""
    shapes: dict[str, tuple[tuple[tuple[str, ...], Shape], ...]] = {}
    for shape in _shapes():
        by_key: dict[str, list[str]] = {}
        for lead in map(str.lower, shape.leads):
            by_key.setdefault(lead[:_KEY_CHARS], []).append(lead)
        for key, leads in by_key.items():
            shapes[key] = (*shapes.get(key, ()), (tuple(leads), shape))
    return shapes


# ── where a shape may be ─────────────────────────────────────────────────────────────────────────────────────────


class _Places(Protocol):
    """The places of a text where shapes may be, in order."""

    def next(self) -> int | None:
        """Return the next place, None where there is none."""
        ...

    def skip_to(self, at: int) -> None:
        """Go on at a character behind the last place."""
        ...


def _places(text: str, until: int | None) -> _Places:
    searches = _linear()
    return _Hints(text, until, searches) if searches else _Listed(_places_of_leads(text))


class _Hints:
    """The places where a hint matches, found by linear engines in one pass each."""

    def __init__(self, text: str, until: int | None, searches: Iterable[_Search]) -> None:
        self._text = text
        self._data = text.encode("utf-8", "surrogatepass")
        # In ASCII a character is a byte; elsewhere both are counted on together.
        self._is_ascii = len(self._data) == len(text)
        self._end = len(self._data)
        if until is not None and self._is_ascii:
            self._end = min(self._end, until + _HINT_BYTES)
        self._at = self._byte = 0
        # Where each search has its next match; all of them are behind the last place.
        self._ahead = dict.fromkeys(searches, -1)

    def next(self) -> int | None:
        for search, ahead in self._ahead.items():
            if ahead < self._byte:
                ((start, _),) = search(self._data, self._byte, self._end)
                self._ahead[search] = len(self._data) + 1 if start < 0 else start
        found = min(self._ahead.values())
        if found > len(self._data):
            return None
        passed = self._data[self._byte : found]
        self._at = found if self._is_ascii else self._at + len(passed.decode("utf-8", "surrogatepass"))
        self._byte = found
        return self._at

    def skip_to(self, at: int) -> None:
        passed = self._text[self._at : at]
        self._byte += len(passed) if self._is_ascii else len(passed.encode("utf-8", "surrogatepass"))
        self._at = at


class _Listed:
    """Places that are known."""

    def __init__(self, places: Iterable[int]) -> None:
        self._left = sorted(places, reverse=True)

    def next(self) -> int | None:
        return self._left[-1] if self._left else None

    def skip_to(self, at: int) -> None:
        while self._left and self._left[-1] < at:
            self._left.pop()


def _places_between(text: str, begin: int, end: int) -> Iterator[int]:
    """Yield the places of a part of a text, whose end is one too."""
    before = max(0, begin - 1)  # what stands there says whether a word begins
    places = _places(text[before : end + _HINT_BYTES], None)
    while (at := places.next()) is not None and before + at <= end:
        if before + at >= begin:
            yield before + at
        places.skip_to(at + 1)


def _places_of_leads(text: str) -> set[int]:
    """Return the places where a lead stands, found by one search for each that may be there: few have all their pieces in a text.

    `re` tries the branches of a pattern one after the other at every character, which for hundreds of them takes a
    hundred times as long as so many searches for plain words.
    """
    # The only character that is longer in lower case.
    folded = text.replace("\u0130", "I").lower()
    return {
        begin + at
        for begin in range(0, len(text), _BLOCK_CHARS)
        for at in _leads_in(*(one[begin : begin + _BLOCK_CHARS + _LEAD_CHARS] for one in (text, folded)))
    }


def _leads_in(text: str, folded: str) -> Iterator[int]:
    """Yield the places of leads in a block of a text, which is given in small letters as well."""
    held = _pieces(folded)
    for lead, is_folded, pieces in _leads():
        if pieces <= held:
            yield from _all_of(lead, folded if is_folded else text)


def _all_of(lead: str, text: str) -> Iterator[int]:
    """Yield the places of a word in a text."""
    at = text.find(lead)
    while at >= 0:
        yield at
        at = text.find(lead, at + 1)


def _pieces(text: str) -> set[str]:
    """Return what stands in so many characters each of a text."""
    return set(map("".join, zip(*(text[at:] for at in range(_PIECE_CHARS)), strict=False)))


@cache
def _leads() -> tuple[tuple[str, bool, set[str]], ...]:
    """Return what shapes begin with, whether it stands for any case, and its pieces in small letters.

    Nothing is among them that begins as a shorter one does.
    """
    leads = {(lead, shape.is_folded) for shape in _shapes() for lead in shape.leads}
    return tuple(
        (lead, is_folded, _pieces(lead.lower()))
        for lead, is_folded in leads
        if not any((lead[:size], is_folded) in leads for size in range(1, len(lead)))
    )


@cache
def _linear() -> tuple[_Search, ...]:
    """Return searches that have all hints between them; none where google-re2 is not installed.

    Each takes bytes and a part of them, and gives where its first match is, at -1 where it has none.
    """
    try:
        import re2
    except ImportError:
        return ()
    options = re2.Options()
    options.max_mem = _ENGINE_BYTES
    options.never_capture = True
    options.log_errors = False
    # Byte by byte: to be told characters apart, every class of them would have to be a machine of its own.
    options.encoding = re2.Options.Encoding.LATIN1
    # As one, words in any case with gaps behind them, names of services, and beginnings of keys have twice the states.
    hints: dict[str, set[str]] = {"": {re.escape(_MARK_BEGINS)}}
    for shape in _shapes():
        hints.setdefault(shape.engine or "words" * shape.is_folded, set()).update(shape.hints)
    patterns = [re2.compile("|".join(sorted(some)).encode(), options) for some in hints.values()]
    try:
        # What `search` adds to this, a generator and a match a call, takes as long as the engine for a text of 200 characters.
        anywhere = re2._re2.RE2.Anchor.UNANCHORED
        return tuple(partial(pattern._regexp.Match, anywhere) for pattern in patterns)
    except AttributeError:  # google-re2 promises `search` alone
        return tuple(partial(_spans_by, pattern.search) for pattern in patterns)


def _spans_by(search: Callable[[bytes, int, int], re.Match[bytes] | None], *part: Any) -> list[tuple[int, int]]:
    """Return the place of the first match in a part of bytes, at -1 for none, from what gives a match."""
    match = search(*part)
    return [(-1, -1) if match is None else match.span()]

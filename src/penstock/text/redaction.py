"""Which words are secrets? Keys in known formats, and what an assignment calls a password (S-17).

A secret becomes `[redacted: KIND, N characters]`, everything else stays. This is for what leaves a session: journals,
handoffs, summaries, logs, and results that a model sees. What has no known format and no name is not found: nothing here
makes it safe to publish a text.

Three searches share the hints of all shapes and run over the text, on google-re2 if it is installed, else on `re`, which is
slower; a shape is tried only where its hint matches. Laws: redacting twice changes nothing; lines stay lines; the time is
linear in the text. Leaves to others: what the shapes are (`secret_shapes`, `secret_formats`), where a text goes, and which
files are not opened at all (`workspace.paths`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.text.secret_shape import BEFORE_WORD
from penstock.text.secret_values import is_random

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from penstock.text.secret_shape import Shape

    _Search = Callable[[bytes, int, int], list[tuple[int, int]]]

_MARK = re.compile(r"\[redacted: [A-Za-z0-9. ]{1,30}, \d{1,9} characters\]")
_MARK_BYTES = re.compile(_MARK.pattern.encode())
_MARK_CHARS = 64
_MARK_BEGINS = "[redacted: "
# How a terminal is told to change colour, and to erase what is left of the line, as `grep --color` does. Every text is asked
# for the first character: for two, that takes half as long as a search for hints. One colour and more, not a group of one or
# more: `re` searches for the two characters that a pattern begins with forty times as fast as for a group.
_ESCAPE, _COLOUR = "\x1b", r"\x1b\[[0-9;:]{0,32}[mK]"
_COLOURS = re.compile(rf"{_COLOUR}(?:{_COLOUR})*")
_KEY_CHARS, _LEAD_CHARS, _PIECE_CHARS = 2, 48, 4
_BLOCK_CHARS = 65_536  # a longer text has pieces of most leads
# The most memory for search states kept between texts: 64 MiB hold all states that 71 MB of source code lead to. With less,
# they are discarded and rebuilt all the time, which made it three times as slow.
_ENGINE_BYTES = 64 << 20
_HINT_BYTES = 4_096  # no hint that leads to a secret is longer
# Keys that are searched for everywhere: only so many different ones, or a text of nothing but keys would be read once for
# each of them. A short one could be part of a word.
_MAX_REPEATED = 64
_MIN_REPEATED_CHARS, _MAX_REPEATED_CHARS = 12, 4_096
_PLAIN_LOOKS = 8
_SHORT_CHARS = 4_096  # of a text that is searched for its first hint before anything is made for the others


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
    return _marked(text, found).text if found else text


def mark_of(kind: str, secret: str) -> str:
    """Return the mark that replaces a secret; it has the same number of line ends."""
    return f"[redacted: {kind}, {len(secret)} characters]" + "\n" * secret.count("\n")


def first_hint(content: bytes, until: int | None = None) -> int:
    """Return the earliest place where a text in UTF-8 may hold a secret or a mark of ours; -1 if it holds none.

    Args:
        content: The text.
        until: Places from here on, in bytes, are somebody else's; None for no bound.
    """
    searches = _linear()
    if not searches or _ESCAPE.encode() in content:
        return 0  # finding out takes as long as finding them
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
    """Return the first mark of ours in a text; empty if there is none."""
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

    A key that was recognised in one place is a secret everywhere, even if nothing gives it away there. A text in which
    something was found is searched again as it will be shown, until nothing more is found: what was next to a secret may
    read as a secret next to its mark. A text with a terminal's colours is searched as a person sees it, without them.

    Args:
        text: The text.
        until: What gives a secret away from here on need not be found; None for no bound.
        known: Keys that were found earlier, with their kinds: they are found too, and those of this text are added. None for
            none.
        since: What comes before is only used as context.
        begun: Secrets that are known already, in order.
    """
    if _ESCAPE not in text:
        return _secrets_in(text, until, known, since, begun)
    # Most texts hold nothing, and they are searched in less time than it takes to note where each colour was.
    if not (known or begun or _secrets_in(_COLOURS.sub("", text), None, None, 0, ())):
        return []
    seen = _Shown(text, ((*colours.span(), "") for colours in _COLOURS.finditer(text)))
    begun = [Secret(kind, seen.at(start), seen.at(end)) for kind, start, end in begun]
    seen_until = None if until is None else seen.at(until)
    return [seen.behind(secret) for secret in _secrets_in(seen.text, seen_until, known, seen.at(since), begun)]


def _secrets_in(
    text: str, until: int | None, known: dict[str, str] | None, since: int, begun: Sequence[Secret]
) -> list[Secret]:
    """Return the secrets of a text without colours; arguments as for `secrets_in`."""
    is_alone = not known and not begun
    if is_alone and len(text) <= _SHORT_CHARS and first_hint(text.encode("utf-8", "surrogatepass")) < 0:
        return []  # as most texts are short, and hold nothing
    places = _places(text, until, since)
    if is_alone and not places:
        return []
    keys = {} if known is None else known
    seen, passed = _seen(text, until, keys, places, 0)
    found, looks = _merged([*begun, *seen], since), 1
    reaches = [(at, _reach_at(text, at)) for at in passed] if found else []
    while found:
        shown = _marked(text, found)
        shown_until = None if until is None else shown.at(until)
        seen, _ = _seen(shown.text, shown_until, keys, shown.places(reaches, since), len(keys))
        # The texts that were tried needed four passes at most. A text designed to need one for every secret loses twice as much
        # around them each time, so that the number of passes grows with the logarithm of the text.
        margin = 1 << looks if looks > _PLAIN_LOOKS else 0
        merged = _merged([*found, *(shown.behind(secret, margin) for secret in seen)], since)
        if merged == found:
            break
        found, looks = merged, looks + 1
    return found


def _seen(
    text: str, until: int | None, keys: dict[str, str], places: Iterable[int], looked_for: int
) -> tuple[list[Secret], list[int]]:
    """Return the secrets that one pass over a text finds, and the places that it examined.

    Args:
        text: The text.
        until: As for `secrets_in`.
        keys: Known keys; those of this text are added.
        places: Where to look.
        looked_for: How many of the keys, from the first, are already marked everywhere.
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
    """A text with others in place of some of its parts: marks for its secrets, nothing for its colours.

    Args:
        text: The text.
        parts: Where each begins and ends, in order, and what is shown instead.
    """

    def __init__(self, text: str, parts: Iterable[tuple[int, int, str]]) -> None:
        made: list[str] = []
        # Where parts begin, in the text and as it is shown: one of the text, one instead, one of the text, and so on.
        self._begins, self._shown_begins = [0], [0]
        kept = shown = 0
        for start, end, instead in parts:
            made += (text[kept:start], instead)
            self._begins += (start, end)
            self._shown_begins += (shown + start - kept, shown + start - kept + len(instead))
            shown, kept = self._shown_begins[-1], end
        self.text = "".join((*made, text[kept:]))
        self._chars = len(text)

    def at(self, place: int) -> int:
        """Return where a place of the text is shown; for a place in a secret, the place after its mark."""
        part = bisect_right(self._begins, place) - 1
        return self._shown_begins[part + 1] if part % 2 else self._shown_begins[part] + place - self._begins[part]

    def places(self, passed: list[tuple[int, int]], since: int) -> list[int]:
        """Return where to look again: near marks, both where a search finds hints now and where the first pass looked.

        Everywhere else the same would be found again, in as much time as the first pass took.

        Args:
            passed: Where the first pass looked, in the text, and how far around it a result may depend on.
            since: Nothing before this is searched.
        """
        near: list[tuple[int, int]] = []
        for start, end in zip(self._shown_begins[1::2], self._shown_begins[2::2], strict=True):
            begin = max(since, start - _HINT_BYTES)
            if near and begin <= near[-1][1]:
                near[-1] = near[-1][0], end
            else:
                near.append((begin, end))
        made = {at for at, reach in ((self.at(at), reach) for at, reach in passed) if self._apart(at) <= reach}
        made.update(at for begin, end in near for at in _places_between(self.text, begin, end))
        return sorted(made)

    def _apart(self, at: int) -> int:
        """Return how many characters are between a shown place and the mark next to it."""
        behind = bisect_right(self._shown_begins, at)
        before = [at - self._shown_begins[behind - 1]] if behind > 1 else []
        after = [begin - at for begin in self._shown_begins[behind : behind + 1]]
        return min(before + after)

    def behind(self, seen: Secret, margin: int = 0) -> Secret:
        """Return the original place of a shown secret, with all of any secret whose mark it touches, and a margin."""
        first, last = bisect_right(self._shown_begins, seen.start) - 1, bisect_left(self._shown_begins, seen.end) - 1
        start = self._begins[first] + (0 if first % 2 else seen.start - self._shown_begins[first])
        end = self._begins[last + 1] if last % 2 else self._begins[last] + seen.end - self._shown_begins[last]
        return Secret(seen.kind, max(0, start - margin), min(self._chars, end + margin))


def _marked(text: str, secrets: Iterable[Secret]) -> _Shown:
    """Return a text with marks in place of its secrets."""
    return _Shown(text, ((start, end, mark_of(kind, text[start:end])) for kind, start, end in secrets))


def _merged(places: Iterable[Secret], since: int = 0) -> list[Secret]:
    """Return places in order, as far as they are after `since`; overlapping ones become one."""
    made: list[Secret] = []
    for place in sorted(places, key=lambda one: (one.start, -one.end)):
        if made and place.start < made[-1].end:
            made[-1] = made[-1]._replace(end=max(made[-1].end, place.end))
        elif place.end > since:
            made.append(place._replace(start=max(since, place.start)))
    return made


def _given_away(text: str, until: int | None, places: Iterable[int]) -> tuple[list[Secret], list[int]]:
    """Return what its form, place or name gives away, in order, and the places where that was searched for."""
    made: list[Secret] = []
    passed: list[int] = []
    floor = mark_end = 0
    for at in places:
        if until is not None and at >= until:
            break
        if at < floor or at < mark_end:
            continue
        passed.append(at)
        if mark_end := _end_of_mark(text, at, floor):
            continue
        found = [secret for secret in _at(text, at, floor) if not _end_of_mark(text, secret.start, floor)]
        for secret in found:
            made.append(secret)
            floor = secret.end
    return made, passed


def _all_places(text: str, key: str, kind: str) -> Iterator[Secret]:
    """Yield every place of a key in a text."""
    at = text.find(key)
    while at >= 0:
        yield Secret(kind, at, at + len(key))
        at = text.find(key, at + len(key))


def _at(text: str, at: int, floor: int) -> list[Secret]:
    """Return the secrets of the first shape that has one at a place."""
    for begin, shape in _tried_at(text, at):
        if spans := shape.spans(text, begin, floor):
            return [_told(text, shape.kind, start, end) for start, end in spans]
    return []


def _told(text: str, kind: str, start: int, end: int) -> Secret:
    """Return a secret under the most informative kind: for a password that is a key, the key's."""
    for shape in _begun_at(text, start):
        if shape.kind == kind:
            break
        for own_start, own_end in shape.spans(text, start, start):
            if own_start == start:
                return Secret(shape.kind, start, max(end, own_end))
    return Secret(kind, start, end)


def _end_of_mark(text: str, at: int, floor: int) -> int:
    """Return the end of the mark that contains a place; 0 if there is none."""
    begin = text.rfind(_MARK_BEGINS, max(floor, at - _MARK_CHARS), at + len(_MARK_BEGINS))
    mark = _MARK.match(text, begin) if begin >= 0 else None
    return mark.end() if mark and mark.end() > at else 0


@cache
def _shapes() -> tuple[Shape, ...]:
    """Return all shapes; loaded when the first text comes, because most commands never see one."""
    from penstock.text.secret_shapes import SHAPES

    return SHAPES


def _tried_at(text: str, at: int) -> Iterator[tuple[int, Shape]]:
    """Yield the shapes that may be at a place where a hint matches, and where each would begin."""
    # The hint of a key that begins a word may include the `_` or `\\n` before it, which are not part of the word.
    before = BEFORE_WORD.match(text, at)
    for begin in (at, before.end()) if before else (at,):
        for shape in _begun_at(text, begin):
            yield begin, shape


def _reach_at(text: str, at: int) -> int:
    """Return how far around a place the result of a shape there may depend on, in characters."""
    return max((shape.reach_chars for _, shape in _tried_at(text, at)), default=0)


def _begun_at(text: str, at: int) -> list[Shape]:
    """Return the shapes that may begin at a place."""
    begin = text[at : at + _LEAD_CHARS].lower()
    return [shape for leads, shape in _by_lead().get(begin[:_KEY_CHARS], ()) if begin.startswith(leads)]


@cache
def _by_lead() -> dict[str, tuple[tuple[tuple[str, ...], Shape], ...]]:
    """Return the shapes by the first two characters of their leads, each with its leads in lower case."""
    shapes: dict[str, tuple[tuple[tuple[str, ...], Shape], ...]] = {}
    for shape in _shapes():
        by_key: dict[str, list[str]] = {}
        for lead in map(str.lower, shape.leads):
            by_key.setdefault(lead[:_KEY_CHARS], []).append(lead)
        for key, leads in by_key.items():
            shapes[key] = (*shapes.get(key, ()), (tuple(leads), shape))
    return shapes


# ── where a shape may be ─────────────────────────────────────────────────────────────────────────────────────────


def _places(text: str, until: int | None, since: int = 0) -> list[int]:
    """Return the places from `since` on where a shape may be, in order, with all those before `until`."""
    searches = _linear()
    if not searches:
        return sorted(place for place in _places_of_leads(text) if place >= since)
    data = text.encode("utf-8", "surrogatepass")
    begin, end = _bytes_in(text[:since]), len(data)
    if until is not None:
        end = min(end, _bytes_in(text[:until]) + _HINT_BYTES)
    found = sorted(_hinted(data, begin, end, searches))
    if len(data) == len(text):
        return found  # in ASCII a character is a byte
    made: list[int] = []
    place, byte = since, begin
    for hinted in found:
        passed = data[byte:hinted]
        place += len(passed) if passed.isascii() else len(passed.decode("utf-8", "surrogatepass"))
        byte = hinted
        made.append(place)
    return made


def _hinted(data: bytes, begin: int, end: int, searches: Iterable[_Search]) -> set[int]:
    """Return the bytes where a hint matches.

    Every engine goes through all of the text before a place is looked at. One by one, place by place, each of them would find
    its tables evicted from the processor's cache by the others and by what is done at a place: a third of the time for texts
    with some places.
    """
    found: set[int] = set()
    for search in searches:
        ((start, _),) = search(data, begin, end)
        while start >= 0:
            found.add(start)
            ((start, _),) = search(data, start + 1, end)
    return found


def _bytes_in(text: str) -> int:
    """Return how many bytes a text has in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _places_between(text: str, begin: int, end: int) -> Iterator[int]:
    """Yield the places in part of a text, its end included."""
    before = max(0, begin - 1)  # the character before it shows whether a word begins
    yield from (
        before + at for at in _places(text[before : end + _HINT_BYTES], None, begin - before) if before + at <= end
    )


def _places_of_leads(text: str) -> set[int]:
    """Return the places of leads, found by one search for each possible lead: few leads have all their pieces in a text.

    `re` tries the branches of a pattern one after the other at every character, which for hundreds of them takes a
    hundred times as long as that many searches for plain words.
    """
    # The only character that is longer in lower case.
    folded = text.replace("\u0130", "I").lower()
    return {
        begin + at
        for begin in range(0, len(text), _BLOCK_CHARS)
        for at in _leads_in(*(one[begin : begin + _BLOCK_CHARS + _LEAD_CHARS] for one in (text, folded)))
    }


def _leads_in(text: str, folded: str) -> Iterator[int]:
    """Yield the places of leads in a block of a text, which is also given in lower case."""
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
    """Return all substrings of a text of a fixed length."""
    return set(map("".join, zip(*(text[at:] for at in range(_PIECE_CHARS)), strict=False)))


@cache
def _leads() -> tuple[tuple[str, bool, set[str]], ...]:
    """Return what shapes begin with, whether it matches any case, and its pieces in lower case.

    Leads that begin with a shorter one are left out.
    """
    leads = {(lead, shape.is_folded) for shape in _shapes() for lead in shape.leads}
    return tuple(
        (lead, is_folded, _pieces(lead.lower()))
        for lead, is_folded in leads
        if not any((lead[:size], is_folded) in leads for size in range(1, len(lead)))
    )


@cache
def _linear() -> tuple[_Search, ...]:
    """Return searches that together have all hints; none if google-re2 is not installed.

    Each takes bytes and a part of them, and returns where its first match is, at -1 if it has none.
    """
    try:
        import re2
    except ImportError:
        return ()
    options = re2.Options()
    options.max_mem = _ENGINE_BYTES
    options.never_capture = True
    options.log_errors = False
    # Byte by byte: to distinguish characters, every class of them would need an automaton of its own.
    options.encoding = re2.Options.Encoding.LATIN1
    # Combined, words in any case followed by gaps, names of services, and beginnings of keys have twice the states.
    hints: dict[str, set[str]] = {"": {re.escape(_MARK_BEGINS)}}
    for shape in _shapes():
        hints.setdefault(shape.engine or "words" * shape.is_folded, set()).update(shape.hints)
    patterns = [re2.compile("|".join(sorted(some)).encode(), options) for some in hints.values()]
    try:
        # What `search` adds to this, a generator and a match for each call, takes as long as the engine for a text of 200
        # characters.
        anywhere = re2._re2.RE2.Anchor.UNANCHORED
        return tuple(partial(pattern._regexp.Match, anywhere) for pattern in patterns)
    except AttributeError:  # google-re2 promises only `search`
        return tuple(partial(_spans_by, pattern.search) for pattern in patterns)


def _spans_by(search: Callable[[bytes, int, int], re.Match[bytes] | None], *part: Any) -> list[tuple[int, int]]:
    """Return the place of the first match in part of some bytes, at -1 for none, using a function that returns matches."""
    match = search(*part)
    return [(-1, -1) if match is None else match.span()]

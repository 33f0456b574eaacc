"""How large is the next request? What a provider counted where the file has that, else what is recorded, else what is assumed.

Law: what is said to fit is an upper bound, and what is said to be too large is likely. Keeps out: what goes to make it fit.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.context.sized import Sized
from penstock.hosts.sessions import whole_messages
from penstock.text.json_access import as_json
from penstock.wires import Media, ToolResult, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.hosts.rescue.projection import Projection
    from penstock.inspection.happenings import Said
    from penstock.text.tokens import TokenCounter

MARGIN = 10
"""The part of the limit that stays free for the next prompt: a tenth."""
_LEAST_TENTHS = 3  # of what we think likely: four bytes a token of digits is 0.4 of our count
_MOST_TIMES = 3  # no tokenizer takes more than that of what another takes at most
_CHARS_PER_TOKEN = 2  # of base64 that is counted as if it were words
Basis = Literal["measured", "recorded", "assumed"]
"""Where the size of what goes beside messages comes from: a provider's figure, the file's own copy of it, or what the host sent
elsewhere."""


class RecordSize(NamedTuple):
    """What the next request takes, as far as it is known."""

    messages_tokens: int
    """Our count of its messages, at most."""
    fixed_tokens: int
    """What goes with every request beside them, at most."""
    likely_tokens: int
    """Tokens that the next request takes, as is likely, without anything that is only assumed."""
    basis: Basis
    """Where `fixed_tokens` comes from."""
    media_tokens: int = 0
    """Tokens that images and files may take above our count of them: some servers count their base64 as words."""
    measured_media_tokens: int = 0
    """Tokens of images and files that a provider did count."""
    least_fixed_tokens: int | None = None
    """What goes beside the messages at least, where a provider's figure says so: as much as if they took all that they may."""

    @property
    def tokens(self) -> int:
        """Tokens that the next request takes, at most."""
        return self.messages_tokens + self.fixed_tokens


class Room(NamedTuple):
    """What the messages of a new session may take."""

    tokens: int
    """In our count, at most."""
    is_without_media: bool = False
    """Whether all images and files have to go: they take more than we count."""
    fixed_tokens: int = 0
    """What goes beside the messages, as their provider counts."""
    ratio: Fraction = Fraction(1)
    """What their provider counts for one token of ours."""

    def provider_tokens(self, messages_tokens: int) -> int:
        """Return what a request with messages of that size takes, as its provider counts."""
        return self.fixed_tokens + ceil(messages_tokens * self.ratio)


def measure(projection: Projection, wire: str, counter: TokenCounter, assumed_tokens: int) -> RecordSize:
    """Return what the next request takes.

    Args:
        projection: the request.
        wire: how its messages are written.
        counter: counts them.
        assumed_tokens: what the host sends beside messages, where neither a provider counted it nor the file holds it.
    """
    system, tools = projection.instructed
    recorded = counter.count(system or "").high + (counter.count(as_json(list(tools))).high if tools else 0)
    is_recorded = bool(system and tools)
    known = recorded if is_recorded else max(recorded, assumed_tokens)
    whole = _count(projection.said, wire, counter)
    # The first figure has the least of our own error in it, the newest knows of tools that came later.
    figures = [projection.first, *((one.input_tokens, projection.said[: one.said]) for one in projection.measured[-1:])]
    counted = [(tokens, _count(said, wire, counter)) for tokens, said in figures]
    # Some servers report 0 or 1.
    figured = [(tokens, count) for tokens, count in counted if tokens >= max(1, count.least)]
    if not figured:
        basis: Basis = "recorded" if is_recorded else "assumed"
        return RecordSize(whole.most, known, whole.likely + recorded, basis, whole.media)
    # A figure is what goes beside the messages and they themselves, which we know within bounds: so is their difference. Its
    # lower end alone proves nothing: once a text that we count too high is cut, what it took from the difference is missing.
    lowest = max(tokens - count.most - count.media for tokens, count in figured)
    highest = min(tokens - count.least for tokens, count in figured)
    fixed, basis = max(lowest, highest), "measured"
    if lowest <= known and known + known // MARGIN < highest:
        fixed, basis = known, "recorded" if is_recorded else "assumed"
    likely = max(0, *(tokens - count.likely for tokens, count in figured)) + whole.likely
    if projection.measured and counted[-1] in figured:
        rest = _count(projection.said[projection.measured[-1].said :], wire, counter)
        likely = counted[-1][0] + rest.likely
    tokens, count = figured[-1]
    measured_media = min(count.media, max(0, tokens - count.most - fixed))
    return RecordSize(whole.most, fixed, likely, basis, whole.media, measured_media, max(0, lowest))


def room(size: RecordSize, limit_tokens: int, stated_tokens: int, *, is_refused: bool) -> Room:
    """Return what the messages may take, in our count.

    A provider that refused counts more than we do where by our count there was room. What it stated says how much more: images
    and files first, for they can take many times of what we count, then the words in proportion.

    Args:
        size: the request as it is.
        limit_tokens: what the provider takes.
        stated_tokens: what it counted when it refused; 0 where it stated nothing.
        is_refused: whether it refused the request for its size.
    """
    most = limit_tokens - limit_tokens // MARGIN
    surplus = stated_tokens - size.tokens
    of_media = max(min(surplus, size.media_tokens), size.measured_media_tokens)
    is_without_media = of_media > limit_tokens // MARGIN  # less than that is how counters differ
    surplus = max(0, surplus - (size.media_tokens if is_without_media else 0))
    fixed, counted = size.fixed_tokens, max(1, size.messages_tokens)
    # What a provider's figure says is in its own count already; else it is in ours, as the messages are.
    if size.basis != "measured":
        fixed = fixed * (size.tokens + surplus) // max(1, size.tokens)
        surplus -= fixed - size.fixed_tokens
    ratio = min(Fraction(_MOST_TIMES), 1 + Fraction(max(0, surplus), counted))
    tokens = max(0, floor((most - fixed) / ratio))
    if is_refused and tokens >= size.messages_tokens and not is_without_media:
        tokens = size.messages_tokens // 2  # it was too large, and nobody says by how much
    return Room(tokens, is_without_media, fixed, ratio)


class _Counted(NamedTuple):
    """What messages take: at least, as is likely, at most; and what their images and files may take above that."""

    least: int
    likely: int
    most: int
    media: int


def _count(said: Sequence[Said], wire: str, counter: TokenCounter) -> _Counted:
    transcript = load(whole_messages(said), wire)
    sized = Sized(transcript, counter)
    likely = sum(sized.counts.tokens)
    least = min(sum(part.low for part in sized.parts()), likely * _LEAST_TENTHS // 10)
    parts = [part for entry in transcript.entries for part in entry.parts]
    inner = [one for part in parts for one in (part.parts if isinstance(part, ToolResult) else (part,))]
    media = sum(len(one.data) // _CHARS_PER_TOKEN for one in inner if isinstance(one, Media))
    return _Counted(least, likely, sized.high, media)

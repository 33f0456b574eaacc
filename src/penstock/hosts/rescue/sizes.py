"""How large is the next request? As a provider counted it if the file says so, otherwise as recorded, otherwise as assumed.

Law: a fit is claimed on an upper bound, an excess on the likely size. Leaves to others: what is removed to make it fit.
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
    from penstock.inspection.timeline import Said
    from penstock.text.tokens import TokenCounter

MARGIN = 10
"""The fraction of the limit that stays free for the next prompt: a tenth."""
_LEAST_TENTHS = 3  # of our likely count: digits at four bytes a token have 0.4 of it
_MOST_TIMES = 3  # no tokenizer's count exceeds another's upper bound by more than this factor
_CHARS_PER_TOKEN = 2  # of base64 counted as words
Basis = Literal["measured", "recorded", "assumed"]
"""Where the size of the overhead comes from: a provider's figure, the file's own copy, or what the host sent elsewhere."""


class RecordSize(NamedTuple):
    """What the next request takes, as far as it is known."""

    messages_tokens: int
    """Our count of its messages, as an upper bound."""
    fixed_tokens: int
    """The overhead of every request, as an upper bound."""
    likely_tokens: int
    """The likely size of the next request, without anything that is only assumed."""
    basis: Basis
    """Where `fixed_tokens` comes from."""
    media_tokens: int = 0
    """Tokens that images and files may take beyond our count: some servers count their base64 as words."""
    measured_media_tokens: int = 0
    """Tokens of images and files that a provider did count."""
    least_fixed_tokens: int | None = None
    """The least overhead, if a provider's figure gives it: what remains of the figure when the messages take their maximum."""

    @property
    def tokens(self) -> int:
        """The size of the next request, as an upper bound."""
        return self.messages_tokens + self.fixed_tokens


class Room(NamedTuple):
    """The room for the messages of a new session."""

    tokens: int
    """In our count, as an upper bound."""
    is_without_media: bool = False
    """Whether all images and files must be removed: they take more than we count."""
    fixed_tokens: int = 0
    """The overhead, as their provider counts."""
    ratio: Fraction = Fraction(1)
    """The provider's count for one token of ours."""

    def provider_tokens(self, messages_tokens: int) -> int:
        """Return the size of a request with messages of that size, as its provider counts."""
        return self.fixed_tokens + ceil(messages_tokens * self.ratio)


def measure(projection: Projection, wire: str, counter: TokenCounter, assumed_tokens: int) -> RecordSize:
    """Return the size of the next request.

    Args:
        projection: the request.
        wire: the form in which its messages are written.
        counter: counts them.
        assumed_tokens: the host's overhead, if neither a provider counted it nor the file holds it.
    """
    system, tools = projection.instructed
    recorded = counter.count(system or "").high + (counter.count(as_json(list(tools))).high if tools else 0)
    is_recorded = bool(system and tools)
    known = recorded if is_recorded else max(recorded, assumed_tokens)
    whole = _count(projection.said, wire, counter)
    # The first figure contains the least of our own error, the newest includes tools that were added later.
    figures = [projection.first, *((one.input_tokens, projection.said[: one.said]) for one in projection.measured[-1:])]
    counted = [(tokens, _count(said, wire, counter)) for tokens, said in figures]
    # Some servers report 0 or 1.
    figured = [(tokens, count) for tokens, count in counted if tokens >= max(1, count.least)]
    if not figured:
        basis: Basis = "recorded" if is_recorded else "assumed"
        return RecordSize(whole.most, known, whole.likely + recorded, basis, whole.media)
    # A figure is the sum of the overhead and the messages, and we know the messages within bounds: so the difference is bounded
    # too. Its lower end alone proves nothing: once a text that we count too high is cut, the difference is too small by that
    # excess.
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
    """Return the room for the messages, in our count.

    If a provider refused a request that fits by our count, it counts more than we do. Its stated figure shows how much more: images
    and files are blamed first, because they can take many times our count, then the words in proportion.

    Args:
        size: the request in its present state.
        limit_tokens: the provider's limit.
        stated_tokens: its count when it refused; 0 if it stated none.
        is_refused: whether it refused the request for its size.
    """
    most = limit_tokens - limit_tokens // MARGIN
    surplus = stated_tokens - size.tokens
    of_media = max(min(surplus, size.media_tokens), size.measured_media_tokens)
    is_without_media = of_media > limit_tokens // MARGIN  # counters differ by less than that
    surplus = max(0, surplus - (size.media_tokens if is_without_media else 0))
    fixed, counted = size.fixed_tokens, max(1, size.messages_tokens)
    # A provider's figure is already in its own count; otherwise the overhead is in ours, like the messages.
    if size.basis != "measured":
        fixed = fixed * (size.tokens + surplus) // max(1, size.tokens)
        surplus -= fixed - size.fixed_tokens
    ratio = min(Fraction(_MOST_TIMES), 1 + Fraction(max(0, surplus), counted))
    tokens = max(0, floor((most - fixed) / ratio))
    if is_refused and tokens >= size.messages_tokens and not is_without_media:
        tokens = size.messages_tokens // 2  # it was too large, by an unknown amount
    return Room(tokens, is_without_media, fixed, ratio)


class _Counted(NamedTuple):
    """The size of messages: least, likely, most; and what their images and files may take beyond that."""

    least: int
    likely: int
    most: int
    media: int


def _count(said: Sequence[Said], wire: str, counter: TokenCounter) -> _Counted:
    transcript = load(whole_messages(said), wire)
    sized = Sized(transcript, counter)
    likely = sum(sized.counts.tokens)
    least = min(sized.low, likely * _LEAST_TENTHS // 10)
    parts = [part for entry in transcript.entries for part in entry.parts]
    inner = [one for part in parts for one in (part.parts if isinstance(part, ToolResult) else (part,))]
    media = sum(len(one.data) // _CHARS_PER_TOKEN for one in inner if isinstance(one, Media))
    return _Counted(least, likely, sized.high, media)

"""How large is the next request? What a provider counted where the file has that, else what is recorded, else what is assumed.

Law: what is said to fit is an upper bound, and what is said to be too large is likely. Keeps out: what is done about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.context.sized import Sized
from penstock.hosts.sessions import whole_messages
from penstock.text.json_access import as_json
from penstock.wires import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.hosts.rescue.projection import Projection
    from penstock.inspection.happenings import Said
    from penstock.text.tokens import TokenCounter

Basis = Literal["measured", "recorded", "assumed"]
"""Where the size of what goes beside messages comes from: a provider's figure, the file's own copy of it, or what the host sent
elsewhere."""


class Size(NamedTuple):
    """What the next request takes, as far as it is known."""

    messages_tokens: int
    """Our count of its messages, at most."""
    fixed_tokens: int
    """What goes with every request beside them."""
    likely_tokens: int
    """What all of it takes, as is likely, without anything that is only assumed."""
    basis: Basis
    """Where `fixed_tokens` comes from."""

    @property
    def tokens(self) -> int:
        """All of it, at most."""
        return self.messages_tokens + self.fixed_tokens


def measure(projection: Projection, wire: str, counter: TokenCounter, assumed_tokens: int) -> Size:
    """Return what the next request takes.

    Args:
        projection: the request.
        wire: how its messages are written.
        counter: counts them.
        assumed_tokens: what the host sends beside messages, where neither a provider counted it nor the file holds it.
    """
    system, tools = projection.instructed
    recorded = counter.count(system or "").high + (counter.count(as_json(list(tools))).high if tools else 0)
    _, likely, high = _count(projection.said, wire, counter)
    # Our bound is above what a provider counts, the more so the longer the text: the first figure has the least of that in it,
    # the newest knows of tools that came later. The larger of both is taken.
    figures = [projection.first, *((one.input_tokens, projection.said[: one.said]) for one in projection.measured[-1:])]
    fixed: list[int] = []
    for tokens, said in figures:
        low, _, most = _count(said, wire, counter)
        if tokens >= max(1, low):  # else it is no count of this: some servers report 0 or 1
            fixed.append(tokens - most)
    if fixed:
        beside = max(0, *fixed)
        is_newest = len(fixed) == len(figures) > 1
        rest = _count(projection.said[projection.measured[-1].said :], wire, counter)[1] if is_newest else likely
        return Size(high, beside, (figures[-1][0] if is_newest else beside) + rest, "measured")
    if system and tools:
        return Size(high, recorded, likely + recorded, "recorded")
    return Size(high, max(recorded, assumed_tokens), likely + recorded, "assumed")


def _count(said: Sequence[Said], wire: str, counter: TokenCounter) -> tuple[int, int, int]:
    """Return what messages take: at least, as is likely, and at most."""
    sized = Sized(load(whole_messages(said), wire), counter)
    return sum(part.low for part in sized.parts()), sum(sized.counts.tokens), sized.high

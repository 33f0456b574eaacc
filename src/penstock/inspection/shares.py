"""How is a figure divided in proportion to others, without losing any of it to rounding?

Law: the shares add up to the figure; what is zero stays zero. Leaves to others: what is divided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def shares(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """Return a total divided in proportion to weights, by the largest remainder method.

    Args:
        total: what is divided, 0 or more.
        weights: 0 or more each; if all are 0, nothing is divided.

    Returns:
        Whole shares by the same keys, without those of zero; they add up to the total.
    """
    whole = sum(weights.values())
    if not whole:
        return {}
    parts = {key: divmod(total * weight, whole) for key, weight in weights.items()}
    left = total - sum(share for share, _ in parts.values())
    # At least as many shares have a remainder as units are left, so a weight of zero gets none.
    rounded_up = set(sorted(parts, key=lambda key: -parts[key][1])[:left])
    made = {key: share + (key in rounded_up) for key, (share, _) in parts.items()}
    return {key: share for key, share in made.items() if share}

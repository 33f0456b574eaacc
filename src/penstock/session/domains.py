"""Has the user turned to another piece of work? A cheap signal of a change of domain, off by default (S-3).

It looks only at where calls went, so it is advisory: a profile that switches `domain_boundaries` on takes it as a reason for a
handoff. Leaves to others: how to act on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.context.activity import Action

WINDOW_CALLS = 8
"""How many calls on each side of a prompt are compared; with fewer on either side there is no evidence."""
MIN_OVERLAP = 0.2
"""The share of places that both sides have in common, below which the work counts as another."""


def changed_domain(actions: Sequence[Action], prompts: Sequence[int]) -> str:
    """Return the evidence that the latest calls go elsewhere than those before a prompt of the user; empty for none.

    The first two folders and the extension of each path are compared: those of the last eight calls, and those of the eight before
    the newest prompt that precedes all of them. The measure is Jaccard's: places in common divided by all places.

    Args:
        actions: what the calls of the transcript touched, in order.
        prompts: the indices in the transcript of the user's words.
    """
    located = [action for action in actions if action.path]
    late = located[-WINDOW_CALLS:]
    # A prompt in the middle of the eight would leave both kinds of work on the late side: only a prompt before all of them can
    # divide the two.
    prompt = max((index for index in prompts if len(late) == WINDOW_CALLS and index < late[0].index), default=-1)
    before = [action for action in located if action.index < prompt][-WINDOW_CALLS:]
    if len(before) < WINDOW_CALLS:
        return ""
    one, other = _places(before), _places(late)
    overlap = len(one & other) / len(one | other)
    return f"overlap of places {overlap:.2f}" if overlap < MIN_OVERLAP else ""


def _places(actions: Sequence[Action]) -> set[str]:
    """Return where calls went, as `folder/folder|extension`: any finer, and every other file would be another place."""
    paths = [(action.path or "").strip("/") for action in actions]
    return {"/".join(path.split("/")[:-1][:2]) + "|" + path.rpartition(".")[2] for path in paths}

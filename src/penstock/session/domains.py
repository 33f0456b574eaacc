"""Is this another piece of work? Cheap signals of a change of domain, advisory and off by default (S-3; sessions.md 5.2).

Keeps out: what is done about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.context.activity import Action

WINDOW_CALLS = 8
MIN_OVERLAP = 0.2


def changed_domain(actions: Sequence[Action], prompts: Sequence[int]) -> str:
    """The evidence that the calls of late go elsewhere than the ones before, a prompt of the user lying between; else empty.

    The overlap of the first two folders and the extensions of what the last eight calls touched, and the eight before the newest
    prompt that has so many behind it. `prompts` are the places of the user's words.
    """
    located = [action for action in actions if action.path]
    late = located[-WINDOW_CALLS:]
    prompt = max((index for index in prompts if len(late) == WINDOW_CALLS and index < late[0].index), default=-1)
    before = [action for action in located if action.index < prompt][-WINDOW_CALLS:]
    if len(before) < WINDOW_CALLS:
        return ""
    one, other = _places(before), _places(late)
    overlap = len(one & other) / len(one | other)
    return f"overlap of places {overlap:.2f}" if overlap < MIN_OVERLAP else ""


def _places(actions: Sequence[Action]) -> set[str]:
    paths = [(action.path or "").strip("/") for action in actions]
    return {"/".join(path.split("/")[:-1][:2]) + "|" + path.rpartition(".")[2] for path in paths}

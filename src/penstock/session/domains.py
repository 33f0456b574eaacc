"""Is this another piece of work? Cheap signals of a change of domain, advisory and off by default (S-3; sessions.md 5.2).

Keeps out: what is done about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.activity import Action

WINDOW_CALLS = 8
LEAST_OVERLAP = 0.2


def changed_domain(actions: Sequence[Action], last_prompt_index: int) -> str:
    """The evidence that the calls of late go elsewhere than the ones before them, a prompt of the user lying between; else empty.

    The overlap of the first two folders and the extensions of what the last eight calls and the eight before them touched.
    """
    located = [action for action in actions if action.path]
    late, before = located[-WINDOW_CALLS:], located[-2 * WINDOW_CALLS : -WINDOW_CALLS]
    if len(before) < WINDOW_CALLS or not before[-1].index < last_prompt_index < late[-1].index:
        return ""
    one, other = _places(before), _places(late)
    overlap = len(one & other) / len(one | other)
    return f"overlap of places {overlap:.2f}" if overlap < LEAST_OVERLAP else ""


def _places(actions: Sequence[Action]) -> set[str]:
    paths = [(action.path or "").strip("/") for action in actions]
    return {"/".join(path.split("/")[:-1][:2]) + "|" + path.rpartition(".")[2] for path in paths}

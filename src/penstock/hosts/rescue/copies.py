"""Leave out what a host sends twice: who resumes Gemini CLI sends each result in two messages (0.61.0).

Law: what stays says all that was said; a result goes only where the same call was answered before. Keeps out: what else may go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.wires import load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.inspection.happenings import Said


def without_copies(said: Iterable[Said], wire: str) -> list[Said]:
    """Return messages without those that are nothing but results that stand before them, said by the host again.

    Args:
        said: the messages in force.
        wire: how they are written.
    """
    kept: list[Said] = []
    answered: set[str] = set()
    for one in said:
        results = {result.call_id for entry in load([one.message], wire).entries for result in entry.results}
        if one.by_host and results and results <= answered:
            continue
        answered |= results
        kept.append(one)
    return kept

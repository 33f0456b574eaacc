"""What is being mended, and what was done to it? The list under repair; what several wires mend alike.

Law: nothing is changed without a sentence about it. Keeps out: what any wire demands.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from penstock.transcript import wording
from penstock.transcript.faults import block_fault, content_fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.transcript.shapes import Json


class Draft:
    """Messages with the places they came from (-1 for ours), and what was done to them."""

    def __init__(self, continues: bool) -> None:
        self.rows: list[tuple[int, Json]] = []
        self.actions: list[str] = []
        self.continues = continues

    @property
    def messages(self) -> list[Json]:
        return [raw for _, raw in self.rows]

    def did(self, place: int, what: str) -> None:
        self.actions.append(f"message {place}: {what}" if place >= 0 else f"an added message: {what}")

    def each(self, change: Callable[[int, Json], Json]) -> None:
        """Every message as `change` gives it back; None drops it. `change` says what it did."""
        rows = [(place, change(place, raw)) for place, raw in self.rows]
        self.rows = [(place, raw) for place, raw in rows if raw is not None]


def kept_of(draft: Draft, place: int, content: list[Json], keep: Callable[[Json], bool], what: str) -> list[Json]:
    """The blocks that are kept; the others are counted."""
    kept = [block for block in content if keep(block)]
    if len(kept) < len(content):
        draft.did(place, f"dropped {what} ({len(content) - len(kept)})")
    return kept


def mended_content(draft: Draft, place: int, message: Json) -> Json:
    """Content without what are no blocks; content that is neither text nor a list is gone."""
    content = message.get("content")
    if not content_fault(content):
        return message
    if isinstance(content, list):
        sound = kept_of(draft, place, content, lambda block: not block_fault(block), "parts that are none")
        return {**message, "content": sound}
    draft.did(place, "dropped content that is none")
    return {**message, "content": None}


def orphan_text(draft: Draft, place: int, text: str) -> Json:
    """The text of a result whose call is not there, said by the user; None where there is nothing to say."""
    if not text.strip():
        draft.did(place, "dropped an empty result without its call")
        return None
    draft.did(place, "made text of a result without its call")
    return {"role": "user", "content": wording.orphan(text)}


def sound_arguments(text: str) -> str:
    """Arguments that are no JSON, as JSON that holds them."""
    return json.dumps({"unparsed": text}) if text.strip() else "{}"

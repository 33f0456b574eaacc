"""How does Codex report a finished call, and how is it told what its model sees instead?

Before any hook runs, Codex has already cut the middle out of a command's output, and keeps it nowhere. Measured with 0.171.0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock.hosts import verbatim_json
from penstock.hosts.results import HookHost, Slot, as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.hosts.results import Event
    from penstock.text.fitting import Guarded

_CUT = r"Warning: truncated output \(original token count: (\d+)\)"


def _slots(event: Event) -> list[Slot]:
    response = event.get("tool_response")
    if isinstance(response, dict):
        structured = response.get("structuredContent")
        if structured is not None:  # its model is shown this and not the accompanying text
            return [Slot((), verbatim_json.write(structured))]
        response = response.get("content")
    response = as_text(response)
    if response is None:
        return []
    cut = re.match(_CUT, response) if response.startswith("Warning") else None
    return [Slot((), response, lost=f"of {cut[1]} tokens" if cut else "")]


def _reply(_: Event, changed: Sequence[tuple[Slot, Guarded]]) -> Event:
    return {"decision": "block", "reason": "\n".join(text for _, text in changed)}


CODEX = HookHost(
    name="codex",
    title="Codex",
    result_event="PostToolUse",
    before_compaction="PreCompact",
    start="SessionStart",
    after_compaction="SessionStart",
    budget=9_500,
    page_bytes=9_500,
    unit="bytes",
    measured="10,000 bytes of what a hook answers and of a command, 12,000 of MCP (0.169.0)",
    ours=("mcp__penstock__",),
    slots=_slots,
    reply=_reply,
)
"""Codex: the reply blocks the result and gives another text as the reason, which is all that its model sees."""

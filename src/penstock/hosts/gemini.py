"""How does Gemini CLI report a finished call, and how is it told what its model sees instead?

It hands over the whole result and marks untrusted text, and the marks stay. Measured with 0.61.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.hosts.results import HookHost, Slot, as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.hosts.results import Event
    from penstock.text.fitting import Guarded

_OPENING, _CLOSING = "<untrusted_context>\n", "\n</untrusted_context>"


def _slots(event: Event) -> list[Slot]:
    response = event.get("tool_response")
    content = response.get("llmContent") if isinstance(response, dict) else None
    text = as_text(content)
    if text is None:
        return []
    if text.startswith(_OPENING) and text.endswith(_CLOSING):
        return [Slot((), text[len(_OPENING) : -len(_CLOSING)], _OPENING, _CLOSING)]
    return [Slot((), text)]


def _reply(_: Event, changed: Sequence[tuple[Slot, Guarded]]) -> Event:
    return {"decision": "deny", "reason": "\n".join(slot.before + text + slot.after for slot, text in changed)}


GEMINI = HookHost(
    name="gemini",
    title="Gemini CLI",
    result_event="AfterTool",
    before_compaction="PreCompress",
    start="SessionStart",
    after_compaction="BeforeAgent",
    budget=28_000,
    measured="40,000 characters (0.61.0)",
    ours=("mcp_penstock_",),
    slots=_slots,
    reply=_reply,
)
"""Gemini CLI: the reply denies the result; its model is shown the reason, as `error`."""

"""How does Copilot CLI report a finished call, and how is it told what its model sees instead?

It shows at most 20 KB of a result; of a longer one, a preview of 500 characters and the name of a file that holds all of it.
Measured with 1.0.102.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock.hosts.results import HookHost, Slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.hosts.results import Event
    from penstock.text.fitting import Guarded

# The host's own words, with the name of a file that it created: matching anything looser would let a result have any file read.
_SAVED = re.compile(
    r"Output too large to read at once \([^\n]{1,40}\)\. Saved to: (?P<path>[^\n]*copilot-tool-output-[\w-]+\.txt)\n"
    r"Consider [^\n]*\n\nPreview \(first \d+ chars\):\n(?P<preview>.*?)(?P<after>\n{0,2}<shellId: [^\n]{1,100}>)?\Z",
    re.DOTALL,
)


def _read(event: Event) -> Event:
    """Return an event under the names that the other hosts use."""
    return {
        "hook_event_name": "postToolUse" if "toolResult" in event else "",
        "session_id": event.get("sessionId"),
        "tool_name": event.get("toolName"),
        "tool_input": event.get("toolArgs"),
        "tool_response": event.get("toolResult"),
    }


def _slots(event: Event) -> list[Slot]:
    response = event["tool_response"]
    text = response.get("textResultForLlm") if isinstance(response, dict) else None
    if not isinstance(text, str):
        return []
    saved = _SAVED.match(text)
    if saved is None:
        return [Slot((), text)]
    return [Slot((), saved["preview"], after=saved["after"] or "", whole_path=saved["path"])]


def _reply(event: Event, changed: Sequence[tuple[Slot, Guarded]]) -> Event:
    text = "\n".join(slot.before + text + slot.after for slot, text in changed)
    return {"modifiedResult": {**event["tool_response"], "textResultForLlm": text}}


COPILOT = HookHost(
    name="copilot",
    title="Copilot CLI",
    result_event="postToolUse",
    before_compaction="",
    start="sessionStart",
    budget=19_000,
    page_bytes=19_000,
    unit="bytes",
    measured="20,480 bytes (1.0.102)",
    read=_read,
    ours=("penstock-",),
    slots=_slots,
    reply=_reply,
)
"""Copilot CLI: the reply is the result with another text in it."""

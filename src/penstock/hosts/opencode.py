"""Read what our plugin for opencode says of a finished call, and write what it is to put in the result's place.

The plugin (`opencode_plugin.js`) hands over what opencode gives its plugins: of its own tools one text, of MCP servers the whole
result. Of the output of a command opencode has kept the end, and names the file with all of it. Measured with 1.18.33.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.hosts.results import HookHost, Slot, text_blocks, with_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.hosts.results import Event
    from penstock.text.fitting import Guarded

_CUT = "...output truncated...\n\nFull output saved to: "


def _slots(event: Event) -> list[Slot]:
    response = event.get("tool_response")
    if not isinstance(response, dict):
        return []
    if blocks := text_blocks(response.get("content")):
        return [Slot((), "\n".join(blocks), form="blocks")]
    text, about = response.get("output"), response.get("metadata")
    if not isinstance(text, str):
        return []
    # The path is the host's own word about itself; in the text, which the command may have written, it means nothing.
    path = about.get("outputPath") if isinstance(about, dict) else None
    if isinstance(path, str) and text.startswith(f"{_CUT}{path}\n\n"):
        return [Slot((), text[len(_CUT) + len(path) + 2 :], whole_path=path, is_end=True)]
    return [Slot((), text)]


def _reply(event: Event, changed: Sequence[tuple[Slot, Guarded]]) -> Event:
    response = event["tool_response"]
    ((slot, text),) = changed
    return {"content": list(with_text(response["content"], text))} if slot.form == "blocks" else {"output": text}


OPENCODE = HookHost(
    name="opencode",
    title="opencode",
    result_event="tool.execute.after",
    before_compaction="",
    start="",
    budget=28_000,
    unit="bytes",
    max_lines=1_900,
    measured="51,200 bytes or 2,000 lines (1.18.33)",
    slots=_slots,
    reply=_reply,
)
"""opencode: the reply is the fields of the result that change."""

"""Read what our plugin for opencode says of a finished call, and write what it is to put in the result's place.

The plugin (`opencode_plugin.js`) hands over what opencode gives its plugins: of its own tools one text, of MCP servers the whole
result. Of the output of a command opencode has kept the end, and names the file with all of it. Measured with 1.18.33.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.hosts.results import HookHost, Slot, put, text_blocks, with_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.hosts.results import Event
    from penstock.text.fitting import Guarded

_CUT = "...output truncated...\n\nFull output saved to: "


def _slots(event: Event) -> list[Slot]:
    response = event.get("tool_response")
    if not isinstance(response, dict):
        return []
    content = response.get("content")
    found = [
        Slot(("content", at, "resource", "text"), text)
        for at, block in enumerate(content if isinstance(content, list) else ())
        if isinstance(block, dict) and isinstance(block.get("resource"), dict)
        if isinstance(text := block["resource"].get("text"), str)
    ]
    if blocks := text_blocks(content):
        found.append(Slot((), "\n".join(blocks), form="blocks"))
    if found:
        return found
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
    for slot, text in changed:
        if slot.form == "blocks":  # the last of them, since it moves what stands behind
            response = {**response, "content": list(with_text(response["content"], text))}
        else:
            response = put(response, slot.place or ("output",), text)
    return {
        name: response[name] for name in ("content", "output") if response.get(name) != event["tool_response"].get(name)
    }


OPENCODE = HookHost(
    name="opencode",
    title="opencode",
    result_event="tool.execute.after",
    before_compaction="",
    start="",
    budget=28_000,
    page_bytes=12_000,  # of short lines it shows 2,000
    unit="bytes",
    max_lines=1_900,
    measured="51,200 bytes or 2,000 lines (1.18.33)",
    ours=("penstock_",),
    slots=_slots,
    reply=_reply,
)
"""opencode: the reply is the fields of the result that change."""

"""How does our plugin for opencode report a finished call, and how is it told what to put in the result's place?

The plugin (`opencode_plugin.js`) hands over what opencode gives its plugins: one text for its own tools, the whole result for MCP
servers. Of a command's output opencode has kept the end, and names the file that holds all of it. Measured with 1.18.33.
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
    # The path comes from the host itself; the same words in the text, which the command may have written, are not trusted.
    path = about.get("outputPath") if isinstance(about, dict) else None
    if isinstance(path, str) and text.startswith(f"{_CUT}{path}\n\n"):
        return [Slot((), text[len(_CUT) + len(path) + 2 :], whole_path=path, is_end=True)]
    return [Slot((), text)]


def _reply(event: Event, changed: Sequence[tuple[Slot, Guarded]]) -> Event:
    response = event["tool_response"]
    for slot, text in changed:
        if slot.form == "blocks":  # blocks come last, because replacing them shifts those after them
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
    page_bytes=12_000,  # it shows 2,000 short lines
    unit="bytes",
    max_lines=1_900,
    measured="51,200 bytes or 2,000 lines (1.18.33)",
    ours=("penstock_",),
    slots=_slots,
    reply=_reply,
)
"""opencode: the reply contains the fields of the result that change."""

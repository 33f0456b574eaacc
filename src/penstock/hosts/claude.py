"""How does Claude Code report a finished call, and how is it told what its model sees instead?

The host ignores a reply that does not have the shape of the tool's own result. Measured with 2.1.332.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from penstock.hosts import verbatim_json
from penstock.hosts.results import MAP_ENTRIES, HookHost, Slot, put, text_blocks, tool_of, with_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.results import Event, Place
    from penstock.text.fitting import Guarded

# The model is shown one sentence for these; the rest of their result, a file before and after, is for the person's screen.
_QUIET = frozenset({"Edit", "MultiEdit", "NotebookEdit", "TodoWrite", "Write"})
_ENCODED = frozenset({"base64", "blob", "image_data"})
# The host builds a request's blocks from these: the provider refuses a request with an empty one, and every later request too.
_KINDS = frozenset({"type", "cellType", "cell_id", "output_type", "media_type", "language"})
_MAX_KIND_CHARS = 200
_QUOTES = 4  # around a text, plus the comma before the next
_PERSISTED = ("persistedOutputPath", "persistedOutputSize")
# The result repeats what the call was asked, for the person's screen.
_ASKED = {"Agent": ("prompt",), "Task": ("prompt",), "TaskOutput": ("task", "prompt")}
_TASK, _TASK_AGAIN = ("task", "output"), ("task", "result")
# Names by which the host loads tools: the provider would refuse a notice among them as a name.
_NAMES = {"ToolSearch": "matches"}


def _slots(event: Event) -> list[Slot]:
    if tool_of(event) in _QUIET:
        return []
    response, tool = event.get("tool_response"), tool_of(event)
    if blocks := text_blocks(response):
        others = [(at, block) for at, block in enumerate(response or ()) if not text_blocks([block])]
        found = [slot for at, block in others for slot in _texts(block, (at,))]
        return [Slot((), "\n".join(blocks), form="blocks"), *found]
    found = [slot for slot in _texts(response, ()) if slot.place not in {_ASKED.get(tool), (_NAMES.get(tool),)}]
    texts = {slot.place: slot.text for slot in found} if tool == "TaskOutput" else {}
    if _TASK_AGAIN in texts and texts[_TASK_AGAIN] == texts.get(_TASK):
        found = [slot._replace(again=_TASK_AGAIN) if slot.place == _TASK else slot for slot in found]
        found = [slot for slot in found if slot.place != _TASK_AGAIN]
    # For a command's output the host hands over the first 30,000 characters and names the file that holds all of it. In other
    # tools' results such a name is ignored: an untrusted server could use it to have any file read.
    whole = response.get(_PERSISTED[0]) if isinstance(response, dict) and tool == "Bash" else None
    if isinstance(whole, str):
        found = [slot._replace(whole_path=whole) if slot.place == ("stdout",) else slot for slot in found]
    return found


def _reply(event: Event, changed: Sequence[tuple[Slot, Guarded]]) -> Event:
    # The host ignores a reply that does not have the shape of the tool's own result.
    response = event["tool_response"]
    if tool_of(event) == "Bash" and isinstance(response, dict):  # otherwise the host shows its own preview of its file
        response = {name: value for name, value in response.items() if name not in _PERSISTED}
    # Text blocks are replaced last: that removes the other blocks and shifts everything after them.
    for slot, text in sorted(changed, key=lambda one: one[0].form == "blocks"):
        if slot.place == ("file", "content"):
            response = _renumbered(response, text)
        elif slot.form == "blocks":
            response = list(with_text(response, text))
        else:
            # A provider also refuses an empty text block.
            shown = "…" if not text and slot.place[-1:] == ("text",) else text
            for place in (slot.place, slot.again):
                if place is not None:
                    response = put(response, place, text.split("\n") if slot.form == "lines" else shown)
    return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "updatedToolOutput": response}}


_TAIL_BYTES = 1 << 20  # results of parallel calls and copies of requests follow the answer that asked for them
_ANSWER = rb'"message":\{"id":"([^"\\]{1,100})"'


def _turn(event: Event) -> str | None:
    # The event names the call but not the answer that made it. Claude Code writes that answer to its session file before calling,
    # one record per call, each with the answer's id.
    path, call = event.get("transcript_path"), event.get("tool_use_id")
    if not isinstance(path, str) or not isinstance(call, str):
        return None
    from penstock.hosts.whole_file import open_whole

    try:
        with open_whole(path) as (file, size):
            file.seek(max(0, size - _TAIL_BYTES))
            tail = file.read(_TAIL_BYTES)
    except (OSError, ValueError):
        return None
    at = tail.rfind(f'"id":{json.dumps(call)}'.encode())
    found = re.search(_ANSWER, tail[tail.rfind(b"\n", 0, at) + 1 : at]) if at >= 0 else None
    return found[1].decode("ascii", "replace") if found else None


def _renumbered(response: Event, text: Guarded) -> Event:
    """Return a page of a file with another text whose lines keep their numbers: the host numbers the lines that it is given."""
    file = response["file"]
    above = text[: text.notice_chars].count("\n")
    return {**response, "file": {**file, "content": text, "startLine": file.get("startLine", 1) - above}}


def _texts(value: object, place: Place) -> Iterator[Slot]:
    """Yield every text in a value, and every list of texts as one text; encoded pictures and files are skipped.

    A truncated picture is worse than one that is too large: the provider refuses it, in this request and in every later one.
    """
    if isinstance(value, str):
        yield Slot(place, value)
    elif isinstance(value, list) and _is_lines(value):
        yield Slot(place, "\n".join(value), form="lines")
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _texts(item, (*place, at))
    elif isinstance(value, dict):
        encoded = _encoded_in(value)
        for name, item in value.items():
            is_kind = name in _KINDS and isinstance(item, str) and len(item) <= _MAX_KIND_CHARS
            if name not in encoded and not is_kind:
                yield from _texts(item, (*place, name))


def _is_lines(value: list[object]) -> bool:
    return bool(value) and all(type(item) is str for item in value)  # excludes what `verbatim_json` could not read


def _encoded_in(value: Event) -> frozenset[str]:
    """Return which texts of a result are pictures or files: data URIs that a command prints, plots of a notebook, PDFs."""
    is_data = "mimeType" in value or "media_type" in value
    return _ENCODED | ({"data"} if is_data else frozenset()) | ({"stdout"} if value.get("isImage") else frozenset())


def _frame(value: object, *, is_listed: bool = False) -> int:
    """Return the size of a value's lists without their texts; the names in a tool's own record are not shown."""
    if isinstance(value, str):
        return _QUOTES if is_listed else 0
    if isinstance(value, list):
        own = 0 if _is_lines(value) else sum(_frame(item, is_listed=True) for item in value)
        return own + (_QUOTES if is_listed else 0)
    if not isinstance(value, dict):
        return verbatim_json.length(value) + 1 if is_listed else 0
    is_listed = is_listed or len(value) > MAP_ENTRIES
    encoded = _encoded_in(value)
    return (_QUOTES if is_listed else 0) + sum(
        (len(name) + _QUOTES if is_listed else 0) + (0 if name in encoded else _frame(item, is_listed=is_listed))
        for name, item in value.items()
    )


def _size(value: object) -> int:
    """Return the size of a value as JSON, without encoded pictures and files."""
    if isinstance(value, str):
        return len(value) + _QUOTES
    if isinstance(value, list):
        return sum(map(_size, value)) + _QUOTES
    if not isinstance(value, dict):
        return verbatim_json.length(value) + 1
    encoded = _encoded_in(value)
    return _QUOTES + sum(len(name) + _QUOTES + (0 if name in encoded else _size(item)) for name, item in value.items())


def _framed(event: Event) -> int:
    tool, response = tool_of(event), event.get("tool_response")
    if tool in _QUIET:
        return 0
    names = response.get(_NAMES[tool]) if tool in _NAMES and isinstance(response, dict) else None
    return _frame(response) + (_size(names) if isinstance(names, list) else 0)


def _shortened(event: Event, room: int) -> Event:
    from penstock.hosts.shortening import shorten  # rarely needed

    return {**event, "tool_response": shorten(event["tool_response"], room, _size)}


CLAUDE = HookHost(
    name="claude",
    title="Claude Code",
    result_event="PostToolUse",
    before_compaction="PreCompact",
    start="SessionStart",
    after_compaction="SessionStart",
    budget=28_000,
    measured="30,000 characters of a command, 20,000 of a search, 50,000 of MCP (2.1.330)",
    slots=_slots,
    reply=_reply,
    turn=_turn,
    narrower=(("Grep", 19_000), ("Glob", 19_000)),
    # The server that `install` configures, and the one in our plugin.
    ours=("mcp__penstock__", "mcp__plugin_penstock_penstock__"),
    frame=_framed,
    shorten=_shortened,
)
"""Claude Code: the reply is the tool's own result with other texts in it."""

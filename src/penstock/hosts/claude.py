"""Read what Claude Code says of a finished call, and write what its model is to see instead.

A reply has the shape of the tool's own result, or the host passes it over. Measured with 2.1.332.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from penstock.hosts.results import HookHost, Slot, text_blocks, tool_of, with_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.results import Event, Place
    from penstock.text.fitting import Guarded

# The model is shown a sentence for these; what they hold besides, a file before and after, is for the person's screen.
_QUIET = frozenset({"Edit", "MultiEdit", "NotebookEdit", "TodoWrite", "Write"})
_ENCODED = frozenset({"base64", "blob", "image_data"})
# What the host builds a request's blocks from: one that is emptied is refused by the provider, now and in all later requests.
_KINDS = frozenset({"type", "cellType", "cell_id", "output_type", "media_type", "language"})
_MAX_KIND_CHARS = 200
_PERSISTED = ("persistedOutputPath", "persistedOutputSize")


def _slots(event: Event) -> list[Slot]:
    if tool_of(event) in _QUIET:
        return []
    response = event.get("tool_response")
    if blocks := text_blocks(response):
        return [Slot((), "\n".join(blocks), form="blocks")]
    found = list(_texts(response, ()))
    # Of the output of a command the host hands over the first 30,000 characters and names the file with all. In what other tools
    # give such a name means nothing: a server that nobody trusts could have any file read.
    whole = response.get(_PERSISTED[0]) if isinstance(response, dict) and tool_of(event) == "Bash" else None
    if isinstance(whole, str):
        found = [slot._replace(whole_path=whole) if slot.place == ("stdout",) else slot for slot in found]
    return found


def _reply(event: Event, changed: Sequence[tuple[Slot, Guarded]]) -> Event:
    # The reply has the shape of the tool's own result, or the host passes it over.
    response = event["tool_response"]
    if tool_of(event) == "Bash" and isinstance(response, dict):  # else the host shows its own preview of its file
        response = {name: value for name, value in response.items() if name not in _PERSISTED}
    for slot, text in changed:
        if slot.place == ("file", "content"):
            response = _renumbered(response, text)
        elif slot.form == "blocks":
            response = list(with_text(response, text))
        else:
            # Nor does a provider take a block of text with none in it.
            shown = "…" if not text and slot.place[-1:] == ("text",) else text
            response = _put(response, slot.place, text.split("\n") if slot.form == "lines" else shown)
    return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "updatedToolOutput": response}}


_TAIL_BYTES = 1 << 20  # results of parallel calls and copies of requests stand behind the answer that asked for them
_ANSWER = rb'"message":\{"id":"([^"\\]{1,100})"'


def _turn(event: Event) -> str | None:
    # The event names the call but not the answer that it was made in. Claude Code has written that answer to its session's file
    # before it calls, each call in a record of its own with the id of the answer.
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
    """Return a page of a file with another text, whose lines keep their numbers: the host numbers what it is given."""
    file = response["file"]
    above = text[: text.notice_chars].count("\n")
    return {**response, "file": {**file, "content": text, "startLine": file.get("startLine", 1) - above}}


def _texts(value: object, place: Place) -> Iterator[Slot]:
    """Yield every text in a value, and every list of texts as one; encoded pictures and files are none.

    A picture that is cut is worse than one that is too large: the provider refuses it, in this request and in all that follow.
    """
    if isinstance(value, str):
        yield Slot(place, value)
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
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


def _encoded_in(value: Event) -> frozenset[str]:
    """Return which texts of a result are pictures or files: what a command prints as a data URI, plots of a notebook, PDFs."""
    is_data = "mimeType" in value or "media_type" in value
    return _ENCODED | ({"data"} if is_data else frozenset()) | ({"stdout"} if value.get("isImage") else frozenset())


def _put(value: Any, place: Place, new: object) -> Any:
    """Return a value with another one at a place; the value itself stays as it was."""
    if not place:
        return new
    first, *rest = place
    if isinstance(value, list):
        return [_put(item, tuple(rest), new) if at == first else item for at, item in enumerate(value)]
    return {name: _put(item, tuple(rest), new) if name == first else item for name, item in value.items()}


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
)
"""Claude Code: the reply is the tool's own result with other texts in it."""

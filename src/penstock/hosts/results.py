"""How does a host report a finished call, and how is its model shown something else instead? Each host fills in the record defined
here.

A result is read as slots: the texts in it that a model is shown, each with its place. Law: a reply differs from the host's result
only in these places, and where a list ends; what is not text (images, numbers, field names) stays. Leaves to others: how one host
does it (the module of its name), and how much of a text is shown (`hook`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from penstock.hosts import verbatim_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.text.fitting import Guarded

    Event = dict[str, Any]

MAP_ENTRIES = 64
"""An object with more names than this is a map, and is shortened like a list; a tool's record has fewer fields."""
Place = tuple[str | int, ...]
"""The path of a value in JSON: the names and numbers that lead to it from the outermost value."""


class Slot(NamedTuple):
    """A text of a result that a model is shown."""

    place: Place
    """The place of a text in the host's result; empty if the result is one text."""
    text: str
    before: str = ""
    """What the host puts before the text (`after`: after it): it stays around whatever replaces the text."""
    after: str = ""
    form: Literal["text", "lines", "blocks"] = "text"
    """How the host writes a text: as one text, as a list of lines, or as MCP's text blocks among others."""
    whole_path: str | None = None
    """The file in which the host keeps the whole of a text that it cut before its hooks saw it."""
    is_end: bool = False
    """Whether the text is the end of that file rather than its beginning."""
    lost: str = ""
    """The host's own note on what it cut from a text without keeping it anywhere."""
    again: Place | None = None
    """Where the host has the same text a second time: its replacement goes there too, and counts once."""


@dataclass(frozen=True, kw_only=True)
class HookHost:
    """How the hooks of one host work."""

    name: str
    """The word after `penstock hook`."""
    title: str
    """The name of a host for people."""
    result_event: str
    """The event after a call."""
    before_compaction: str
    """The event before the host compacts."""
    start: str
    """The event at the start of a session."""
    after_compaction: str = ""
    """The event with which a session continues after a compaction; empty if there is no separate event."""
    budget: int
    """The default limit for a result: below the size at which the host cuts."""
    measured: str
    """The size at which the host was measured to cut, with the version."""
    unit: Literal["characters", "bytes"] = "characters"
    """The unit in which the host measures."""
    max_lines: int | None = None
    """The limit of a text's lines, if the host counts these too."""
    page_bytes: int | None = None
    """The limit of a page in a shell of the host; None if it shows what the command line prints by default."""
    read: Callable[[Event], Event] = lambda event: event
    """Returns an event with the names that most hosts use: `hook_event_name`, `session_id`, `tool_name`, `tool_input`,
    `tool_response`.
    """
    slots: Callable[[Event], Sequence[Slot]]
    """Returns the texts of a result that the model is shown."""
    reply: Callable[[Event, Sequence[tuple[Slot, Guarded]]], Event]
    """Returns the reply that makes the model see other texts in their places."""
    turn: Callable[[Event], str | None] = lambda _: None
    """Returns a key for the model's answer that made the call; None if the host does not report it: then time decides."""
    narrower: tuple[tuple[str, int], ...] = ()
    """Tools whose results the host cuts below `budget`, each with its limit."""
    ours: tuple[str, ...]
    """What the host puts before the names of our own tools: it includes the server's name, which the person chose, so no other
    server can have a tool with such a name.
    """
    frame: Callable[[Event], int] = lambda _: 0
    """Returns the size of a result's lists apart from their texts: field names, numbers."""
    shorten: Callable[[Event, int], Event] | None = None
    """Returns an event whose lists end at the given size; None for a host that shows one text in a result's place."""

    @property
    def events(self) -> tuple[str, ...]:
        """The events that our hook is to be configured for, each once."""
        named = (self.result_event, self.before_compaction, self.start, self.after_compaction)
        # A host whose session file is not read here gets no handoff.
        return tuple(dict.fromkeys(name for name in (named if self.before_compaction else named[:1]) if name))

    def budget_of(self, tool: str) -> int:
        """Return the default limit for a tool's result."""
        return dict(self.narrower).get(tool, self.budget)


def tool_of(event: Event) -> str:
    """Return the name of the tool whose call has finished."""
    name = event.get("tool_name")
    return name if isinstance(name, str) else "tool"


def context_reply(event: Event, text: str) -> Event:
    """Return the reply to a session's start that gives its model a text in addition to the person's words."""
    return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "additionalContext": text}}


def with_context(reply: Event, text: str) -> Event:
    """Return a reply that also gives the model a text after the result; the host tells it that a hook did."""
    return {"hookSpecificOutput": {**reply["hookSpecificOutput"], "additionalContext": text}}


# ── our own results ──────────────────────────────────────────────────────────────────────────────────────────────

_OUR_TOOLS = (
    "ctx_view",
    "ctx_read_file",
    "ctx_outline",
    "ctx_list_files",
    "ctx_count_files",
    "ctx_search",
    "ctx_page",
    "ctx_find",
)
SHELLS = frozenset({"Bash", "bash", "BashOutput", "TaskOutput", "run_shell_command", "read_background_output", "shell"})
"""What the hosts call the tools that run commands. A server's tools cannot have these names: the server's name is prefixed."""
# Commands whose output is within a host's budget by itself: a page of a file may have 256 KiB in a shell. Shell syntax is excluded:
# piped or joined output is not our page any more.
_OUR_COMMAND = r"\A\s*(?:[\w.~/-]*/)?penstock (?:page|find|guard)\b[^|;&<>()$`\n]*\Z"
_UNBOUNDED = r"--(?:raw|chars|tokens)\b"
_SIZE = r"--(?:budget|max-bytes)[ =](\d+)"


def is_ours(host: HookHost, event: Event) -> bool:
    """Return whether the call was one of ours, whose result is already a page: it is never cut or kept again."""
    tool = tool_of(event)
    if tool.startswith(host.ours) and tool.endswith(_OUR_TOOLS):
        return any(tool == prefix + ours for prefix in host.ours for ours in _OUR_TOOLS)
    arguments = event.get("tool_input") if tool in SHELLS else None
    command = arguments.get("command") if isinstance(arguments, dict) else None
    if not isinstance(command, str) or "penstock" not in command:
        return False
    # Expressions are compiled only when needed, which is in one of a hundred starts of a hook.
    if not re.match(_OUR_COMMAND, command) or re.search(_UNBOUNDED, command):
        return False
    return all(len(size) < len("1000000") and int(size) <= host.budget for size in re.findall(_SIZE, command))


# ── MCP's content ───────────────────────────────────────────────────────────────────────────────────────────────────

_NAMED_CHARS = 1_000
_FILES = frozenset({"inlineData", "fileData"})


def text_blocks(content: object) -> list[str]:
    """Return the texts of MCP content; empty for anything else."""
    return [block["text"] for block in content if _is_text(block)] if isinstance(content, list) else []


def with_text(blocks: list[Any], text: str) -> Iterator[Any]:
    """Yield MCP content with one text in place of the first text, and the other texts removed."""
    is_there = False
    for block in blocks:
        if not _is_text(block):
            yield block
        elif not is_there:
            is_there = True
            yield {**block, "text": text}


def as_text(content: object) -> str | None:
    """Return content as one text; None if it contains no text: in these hosts only text can replace it.

    Args:
        content: MCP blocks, Gemini parts, texts, or a single one of these.
    """
    blocks = content if isinstance(content, list) else [content]
    if all(not isinstance(block, (str, dict)) or _is_picture(block) for block in blocks):
        return None
    return "\n".join(map(_named, blocks))


def put(value: Any, place: Place, new: object) -> Any:
    """Return a value with another one at a place; the value itself is unchanged."""
    if not place:
        return new
    first, *rest = place
    if isinstance(value, list):
        return [put(item, tuple(rest), new) if at == first else item for at, item in enumerate(value)]
    return {name: put(item, tuple(rest), new) if name == first else item for name, item in value.items()}


def _named(block: object) -> str:
    """Return what a model reads of a block: its text, otherwise its JSON; of a picture, which would flood it, kind and size."""
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return verbatim_json.write(block)
    if _is_text(block):
        return str(block["text"])
    if _is_text(block.get("resource")):
        # Embedded text follows its address, unescaped: escaped on one line it could not be paged by lines.
        resource = block["resource"]
        about = {name: value for name, value in resource.items() if name != "text"}
        return f"{verbatim_json.write({**block, 'resource': about})}\n{resource['text']}"
    written = verbatim_json.write(block)
    if len(written) <= _NAMED_CHARS or not _is_picture(block):
        return written
    return f"[{block.get('type') or next(iter(block))} of {len(written)} characters]"


def _is_text(block: object) -> bool:
    return isinstance(block, dict) and isinstance(block.get("text"), str)


def _is_picture(block: object) -> bool:
    """Return whether a block is a picture, a sound or a file: a model cannot read base64."""
    if not isinstance(block, dict):
        return False
    resource = block.get("resource")
    return (
        (isinstance(block.get("data"), str) and "mimeType" in block)
        or block.get("type") in {"image", "audio", "input_image"}
        or not _FILES.isdisjoint(block)
        or (isinstance(resource, dict) and isinstance(resource.get("blob"), str))
    )

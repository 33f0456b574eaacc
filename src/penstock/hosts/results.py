"""Read what a host says of a finished call, and write what its model is to see instead: the record that each host fills.

A result is read as slots: the texts in it that a model is shown, each with its place. Law: a reply differs from what the host
said in these places only, and what is no text (images, numbers, names of fields) stays as it was. Keeps out: how one host does it
(the file of its name), and how much of a text is shown (`hook`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from penstock.hosts import spelling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.text.fitting import Guarded

    Event = dict[str, Any]

Place = tuple[str | int, ...]
"""Where a value lies in JSON: the names and numbers that lead to it from the outermost value."""


class Slot(NamedTuple):
    """A text of a result that a model is shown."""

    place: Place
    """Where a text lies in the host's result; empty where the result is one text."""
    text: str
    before: str = ""
    """What the host puts before the text, and behind it: it stays around whatever takes the text's place."""
    after: str = ""
    form: Literal["text", "lines", "blocks"] = "text"
    """How the host writes a text: as one text, as a list of lines, or as MCP's blocks of text with others among them."""
    whole_path: str | None = None
    """The file in which the host keeps all of a text that it had cut before its hooks saw it."""
    is_end: bool = False
    """Whether the text is the end of that file, and not its beginning."""
    lost: str = ""
    """The host's own note on what it cut of a text, where it kept the rest nowhere."""


@dataclass(frozen=True, kw_only=True)
class HookHost:
    """How the hooks of one host speak."""

    name: str
    """The word behind `penstock hook`."""
    title: str
    """The name of a host for people."""
    result_event: str
    """The event after a call."""
    before_compaction: str
    """The event before the host compacts."""
    start: str
    """The event at the start of a session."""
    after_compaction: str = ""
    """The event with which a session goes on once it was compacted; empty where that is no event of its own."""
    budget: int
    """What a result may measure by default: less than where the host cuts."""
    measured: str
    """Where the host was measured to cut, with the version."""
    unit: Literal["characters", "bytes"] = "characters"
    """What the host counts."""
    max_lines: int | None = None
    """How many lines a text may have besides, where the host counts these too."""
    read: Callable[[Event], Event] = lambda event: event
    """Returns an event with the names that most hosts use: `hook_event_name`, `session_id`, `tool_name`, `tool_input`,
    `tool_response`.
    """
    slots: Callable[[Event], Sequence[Slot]]
    """Returns the texts of a result that the model is shown."""
    reply: Callable[[Event, Sequence[tuple[Slot, Guarded]]], Event]
    """Returns what to answer so that the model sees other texts in their places."""
    turn: Callable[[Event], str | None] = lambda _: None
    """Returns what names the model's answer that the call was made in, None where the host does not say: then time tells."""
    narrower: tuple[tuple[str, int], ...] = ()
    """Tools whose results the host cuts below `budget`, each with what it may measure."""

    @property
    def events(self) -> tuple[str, ...]:
        """The events that a hook of ours is to be configured for, each once."""
        named = (self.result_event, self.before_compaction, self.start, self.after_compaction)
        # A session's file that nobody here reads gives no handoff.
        return tuple(dict.fromkeys(name for name in (named if self.before_compaction else named[:1]) if name))

    def budget_of(self, tool: str) -> int:
        """Return what a result of a tool may measure by default."""
        return dict(self.narrower).get(tool, self.budget)


def tool_of(event: Event) -> str:
    """Return the name of the tool whose call is over."""
    name = event.get("tool_name")
    return name if isinstance(name, str) else "tool"


def context_reply(event: Event, text: str) -> Event:
    """Return the answer to the start of a session that gives its model a text beside the person's words."""
    return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "additionalContext": text}}


# ── our own results ──────────────────────────────────────────────────────────────────────────────────────────────

# `mcp__penstock__ctx_page`, `mcp_penstock_ctx_page`, `penstock-ctx_page`: of the server that our documents tell people to call so.
_OUR_TOOLS = r"(?:\A|_)penstock[_-]+ctx_[a-z_]+\Z"
# Nothing of a shell in it: what is piped or joined is no page of ours any more.
_OUR_COMMAND = (
    r"\A\s*(?:[\w.~/-]*/)?penstock (?:page|find|view|read|outline|list|count|search|guard)\b[^|;&<>()$`\n]*\Z"
)
_UNBOUNDED = r"--(?:raw|chars|tokens)\b"


def is_ours(event: Event) -> bool:
    """Return whether the call was one of ours, whose result is a page already: it is never cut or kept a second time."""
    # Expressions are compiled where they are needed, which is in one start of a hook out of a hundred.
    if "penstock" in tool_of(event) and re.search(_OUR_TOOLS, tool_of(event)):
        return True
    arguments = event.get("tool_input")
    command = arguments.get("command") if isinstance(arguments, dict) else None
    if not isinstance(command, str) or "penstock" not in command:
        return False
    return bool(re.match(_OUR_COMMAND, command)) and not re.search(_UNBOUNDED, command)


# ── MCP's content ───────────────────────────────────────────────────────────────────────────────────────────────────

_NAMED_CHARS = 1_000


def text_blocks(content: object) -> list[str]:
    """Return the texts of MCP's content; none for what is no such content."""
    return [block["text"] for block in content if _is_text(block)] if isinstance(content, list) else []


def with_text(blocks: list[Any], text: str) -> Iterator[Any]:
    """Yield MCP's content with one text in the place of its first, and none in that of the others."""
    is_there = False
    for block in blocks:
        if not _is_text(block):
            yield block
        elif not is_there:
            is_there = True
            yield {**block, "text": text}


def as_text(content: object) -> str | None:
    """Return MCP's content as one text, None where there is none in it: what takes its place in these hosts is text."""
    if not isinstance(content, list) or not any(_is_text(block) for block in content):
        return None
    return "\n".join(block["text"] if _is_text(block) else _named(block) for block in content)


def _named(block: object) -> str:
    """Return a block that is no text as JSON, or its kind and size where that is long: a picture, say."""
    written = spelling.write(block)
    if len(written) <= _NAMED_CHARS:
        return written
    kind = block.get("type", "block") if isinstance(block, dict) else "block"
    return f"[{kind} of {len(written)} characters]"


def _is_text(block: object) -> bool:
    return isinstance(block, dict) and isinstance(block.get("text"), str)

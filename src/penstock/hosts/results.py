"""Read what a host says of a finished call, and write what its model is to see instead, one record for each host.

A result is read as slots: the texts in it that a model is shown, each with its place. Law: a reply differs from what the host
said in these places only, and what is no text (images, numbers, names of fields) stays as it was. Keeps out: how much of a
text is shown (`hook`).
"""

from __future__ import annotations

import json
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
    """Where it lies in the host's result; empty where the result is one text."""
    text: str
    before: str = ""
    """What the host puts before the text, and behind it: it stays around whatever takes the text's place."""
    after: str = ""
    form: Literal["text", "lines", "blocks"] = "text"
    """How the host has it: as one text, as a list of lines, or as MCP's blocks of text with others among them."""
    whole_path: str | None = None
    """The file in which the host keeps all of a text that it had cut before its hooks saw it."""
    is_end: bool = False
    """Whether the text is the end of that file, and not its beginning."""
    lost: str = ""
    """What the host says of its own cut, where it kept the rest nowhere."""


@dataclass(frozen=True, kw_only=True)
class HookHost:
    """How the hooks of one host speak."""

    name: str
    """The word behind `penstock hook`."""
    title: str
    """What people call it."""
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


# ── Claude Code ──────────────────────────────────────────────────────────────────────────────────────────────────

# The model is shown a sentence for these; what they hold besides, a file before and after, is for the person's screen.
_CLAUDE_QUIET = frozenset({"Edit", "MultiEdit", "NotebookEdit", "TodoWrite", "Write"})
_PERSISTED = ("persistedOutputPath", "persistedOutputSize")


def _claude_slots(event: Event) -> list[Slot]:
    if tool_of(event) in _CLAUDE_QUIET:
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


def _claude_reply(event: Event, changed: Sequence[tuple[Slot, Guarded]]) -> Event:
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
            response = _put(response, slot.place, text.split("\n") if slot.form == "lines" else text)
    return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "updatedToolOutput": response}}


def text_blocks(content: object) -> list[str]:
    """Return the texts of MCP's content; none for what is no such content."""
    return [block["text"] for block in content if _is_text(block)] if isinstance(content, list) else []


_TAIL_BYTES = 1 << 20  # results of parallel calls and copies of requests stand behind the answer that asked for them
_ANSWER = rb'"message":\{"id":"([^"\\]{1,100})"'


def _claude_turn(event: Event) -> str | None:
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


def with_text(blocks: list[Any], text: str) -> Iterator[Any]:
    """Yield MCP's content with one text in the place of its first, and none in that of the others."""
    is_there = False
    for block in blocks:
        if not _is_text(block):
            yield block
        elif not is_there:
            is_there = True
            yield {**block, "text": text}


def _renumbered(response: Event, text: Guarded) -> Event:
    """Return a page of a file with another text, whose lines keep their numbers: the host numbers what it is given."""
    file = response["file"]
    above = text[: text.notice_chars].count("\n")
    return {**response, "file": {**file, "content": text, "startLine": file.get("startLine", 1) - above}}


def _texts(value: object, place: Place) -> Iterator[Slot]:
    """Yield every text in a value, and every list of texts as one; encoded pictures and files are none."""
    if isinstance(value, str):
        yield Slot(place, value)
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        yield Slot(place, "\n".join(value), form="lines")
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _texts(item, (*place, at))
    elif isinstance(value, dict):
        for name, item in value.items():
            if not (name in {"base64", "blob"} or (name == "data" and "mimeType" in value)):
                yield from _texts(item, (*place, name))


def _put(value: Any, place: Place, new: object) -> Any:
    """Return a value with another one at a place; the value itself stays as it was."""
    if not place:
        return new
    first, *rest = place
    if isinstance(value, list):
        return [_put(item, tuple(rest), new) if at == first else item for at, item in enumerate(value)]
    return {name: _put(item, tuple(rest), new) if name == first else item for name, item in value.items()}


# ── Codex ────────────────────────────────────────────────────────────────────────────────────────────────────────

_NAMED_CHARS = 1_000
_CODEX_CUT = r"Warning: truncated output \(original token count: (\d+)\)"


def _codex_slots(event: Event) -> list[Slot]:
    response = event.get("tool_response")
    if isinstance(response, dict):
        structured = response.get("structuredContent")
        if structured is not None:  # its model is shown this and not the text beside it
            return [Slot((), spelling.write(structured))]
        response = _as_text(response.get("content"))
    if not isinstance(response, str):
        return []
    cut = re.match(_CODEX_CUT, response) if response.startswith("Warning") else None
    return [Slot((), response, lost=f"of {cut[1]} tokens" if cut else "")]


def _as_text(content: object) -> str | None:
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


def _codex_reply(_: Event, changed: Sequence[tuple[Slot, Guarded]]) -> Event:
    return {"decision": "block", "reason": "\n".join(text for _, text in changed)}


# ── Gemini CLI ───────────────────────────────────────────────────────────────────────────────────────────────────

_OPENING, _CLOSING = "<untrusted_context>\n", "\n</untrusted_context>"


def _gemini_slots(event: Event) -> list[Slot]:
    response = event.get("tool_response")
    content = response.get("llmContent") if isinstance(response, dict) else None
    text = content if isinstance(content, str) else _as_text(content)
    if text is None:
        return []
    if text.startswith(_OPENING) and text.endswith(_CLOSING):
        return [Slot((), text[len(_OPENING) : -len(_CLOSING)], _OPENING, _CLOSING)]
    return [Slot((), text)]


def _gemini_reply(_: Event, changed: Sequence[tuple[Slot, Guarded]]) -> Event:
    return {"decision": "deny", "reason": "\n".join(slot.before + text + slot.after for slot, text in changed)}


def context_reply(event: Event, text: str) -> Event:
    """Return the answer to the start of a session that gives its model a text beside the person's words."""
    return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "additionalContext": text}}


CLAUDE = HookHost(
    name="claude",
    title="Claude Code",
    result_event="PostToolUse",
    before_compaction="PreCompact",
    start="SessionStart",
    after_compaction="SessionStart",
    budget=28_000,
    measured="30,000 characters of a command, 20,000 of a search, 50,000 of MCP (2.1.330)",
    slots=_claude_slots,
    reply=_claude_reply,
    turn=_claude_turn,
    narrower=(("Grep", 19_000), ("Glob", 19_000)),
)
"""Claude Code: the reply is the tool's own result with other texts in it."""
CODEX = HookHost(
    name="codex",
    title="Codex",
    result_event="PostToolUse",
    before_compaction="PreCompact",
    start="SessionStart",
    after_compaction="SessionStart",
    budget=9_500,
    unit="bytes",
    measured="10,000 bytes of what a hook answers and of a command, 12,000 of MCP (0.169.0)",
    slots=_codex_slots,
    reply=_codex_reply,
)
"""Codex: the reply blocks the result and gives another text as the reason, which is all that its model is shown."""
GEMINI = HookHost(
    name="gemini",
    title="Gemini CLI",
    result_event="AfterTool",
    before_compaction="PreCompress",
    start="SessionStart",
    after_compaction="BeforeAgent",
    budget=28_000,
    measured="40,000 characters (0.61.0)",
    slots=_gemini_slots,
    reply=_gemini_reply,
)
"""Gemini CLI: the reply denies the result; its model is shown the reason, as `error`."""

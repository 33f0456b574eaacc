"""How does each provider API write requests and answers? One record per wire, and one history for all of them.

`load` reads a message list, `dump` writes one: on the same wire byte for byte, on another one converted. `violations` lists what a
provider would refuse, `repair` mends it and says how.

    transcript = load(request["messages"], "openai-chat")
    shorter = transcript.replace_result(7, "call_3", "[cleared]")
    request["messages"] = dump(shorter, "openai-chat")

The package from the bottom up: `entries` are messages read into parts; `wire` defines what each API has to provide, and `table`
lists the APIs; `history` is the transcript over entries, `portable` the form between two wires; `message_list` and `invariants`
check, `draft` and `repair` mend; `bodies` does all of this for whole requests and answers. One folder per wire holds what only that
wire knows.

Laws: a visible result has its call; load and dump on one wire are the identity for any list; nothing signed is ever changed.
Leaves to others: sizes in tokens, what should be forgotten, and sending. Behaviour O-8, R-8, R-9; how to use it is in
docs/transcript.md.
"""

from __future__ import annotations

from penstock.wires.bodies import (
    answer_messages,
    answer_words,
    begin,
    compose_request,
    continues,
    dump_mended,
    dump_request,
    dump_valid,
    is_whole,
    load_request,
    messages_of,
    model_of,
    output_tokens,
    reply_tokens,
    tool_definitions,
    wire_of,
    with_messages,
    with_reply_tokens,
)
from penstock.wires.entries import Entry, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Turn
from penstock.wires.history import (
    Cleared,
    Collapsed,
    Edit,
    Pinned,
    Transcript,
    dump,
    edits_from,
    edits_to,
    entry_of,
    load,
    result_messages,
    system_of,
    text_message,
)
from penstock.wires.invariants import CODES, Violation, violations
from penstock.wires.repair import Repaired, repair
from penstock.wires.table import WIRES, wire_named
from penstock.wires.wire import ToolDefinition, Wire

__all__ = [
    "CODES",
    "WIRES",
    "Cleared",
    "Collapsed",
    "Edit",
    "Entry",
    "Media",
    "Opaque",
    "Part",
    "Pinned",
    "Reasoning",
    "Repaired",
    "Text",
    "ToolCall",
    "ToolDefinition",
    "ToolResult",
    "Transcript",
    "Turn",
    "Violation",
    "Wire",
    "answer_messages",
    "answer_words",
    "begin",
    "compose_request",
    "continues",
    "dump",
    "dump_mended",
    "dump_request",
    "dump_valid",
    "edits_from",
    "edits_to",
    "entry_of",
    "is_whole",
    "load",
    "load_request",
    "messages_of",
    "model_of",
    "output_tokens",
    "repair",
    "reply_tokens",
    "result_messages",
    "system_of",
    "text_message",
    "tool_definitions",
    "violations",
    "wire_named",
    "wire_of",
    "with_messages",
    "with_reply_tokens",
]

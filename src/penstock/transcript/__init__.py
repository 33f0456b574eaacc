"""What was said? Messages of any provider as one history; which of it is shown; whether a provider would take it.

`load` reads a message list, `dump` writes one: on the same wire byte for byte, on another converted. `violations` lists what a
provider would refuse, `repair` mends it and says how. Laws: a visible result has its call; load and dump on one wire are the
identity for any list; nothing signed is ever changed. Keeps out: sizes in tokens, what should be forgotten, and sending.
"""

from __future__ import annotations

from penstock.transcript.bodies import (
    continues,
    dump_request,
    dump_valid,
    load_request,
    messages_of,
    wire_of,
    with_messages,
)
from penstock.transcript.entries import Entry, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Turn
from penstock.transcript.history import (
    WIRES,
    Cleared,
    Collapsed,
    Edit,
    Pinned,
    Transcript,
    dump,
    load,
    results_of,
    said,
    system_of,
)
from penstock.transcript.invariants import CODES, Violation, violations
from penstock.transcript.mending import Repaired, repair

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
    "ToolResult",
    "Transcript",
    "Turn",
    "Violation",
    "continues",
    "dump",
    "dump_request",
    "dump_valid",
    "load",
    "load_request",
    "messages_of",
    "repair",
    "results_of",
    "said",
    "system_of",
    "violations",
    "wire_of",
    "with_messages",
]

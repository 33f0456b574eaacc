"""The document that one session hands to the next: the public path of `penstock.context.handoff`.

`mechanical` makes it from a transcript without a model, `encode` and `decode` are its JSON, `render` is the text that a
fresh session begins with (S-9).
"""

from __future__ import annotations

from penstock.context.handoff import (
    Command,
    Decision,
    Failure,
    FileEvent,
    Handoff,
    Task,
    decode,
    encode,
    mechanical,
    render,
)

__all__ = [
    "Command",
    "Decision",
    "Failure",
    "FileEvent",
    "Handoff",
    "Task",
    "decode",
    "encode",
    "mechanical",
    "render",
]

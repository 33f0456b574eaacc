"""The public path of `penstock.context.handoff`: the document that one session leaves to the next."""

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

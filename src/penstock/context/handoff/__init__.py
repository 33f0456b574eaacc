"""What is passed on? Everything that a fresh session needs to continue the work of one that ends, as a versioned document (S-9).

`document` is its form, `making` derives it from a transcript without a model, `words` is what a fresh session reads. Leaves
to others: files (a shell writes the text), the clock, digests of files on disk, and when a session ends.
"""

from __future__ import annotations

from penstock.context.handoff.document import (
    REASONS,
    SEED_KEYS,
    SUMMARY_CHARS,
    Command,
    Decision,
    Failure,
    FileEvent,
    Handoff,
    Task,
    decode,
    encode,
    shortened,
)
from penstock.context.handoff.making import mechanical
from penstock.context.handoff.words import asked_in, render

__all__ = [
    "REASONS",
    "SEED_KEYS",
    "SUMMARY_CHARS",
    "Command",
    "Decision",
    "Failure",
    "FileEvent",
    "Handoff",
    "Task",
    "asked_in",
    "decode",
    "encode",
    "mechanical",
    "render",
    "shortened",
]

"""What do we say in somebody else's transcript? Every sentence that takes the place of a missing or omitted message.

They are in square brackets, so that a model takes them for what they are and nobody takes them for a person's words. Law: each is
true wherever it is put, and none is empty: some APIs refuse messages without words. Leaves to others: when they are needed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.wires.entries import ToolResult

_SAYS_SO = re.compile(r"(?i)\s*(?:\[|error\b)")

CLOSED = "[No result was recorded for this call. It may or may not have run; check before you repeat it.]"
"""The result of a call without a known result: after a crash nobody can say whether the call ran."""
BEGUN_BEFORE = "Begun before the stop:"
"""How the result of a call begins that was cut off, if more is known of it than `CLOSED` says."""
INTERRUPTED = "interrupted"
"""Why a command has ended that a person stopped, behind its exit code and its time."""
_STOPPED_COMMAND = rf"exit code: \d+ \| [\d.]+ s \| {INTERRUPTED}(?:\n|$)"
_CUT_OFF = re.compile(rf"(?:Error: )?(?:\[?{re.escape(BEGUN_BEFORE)}|{re.escape(CLOSED[:-1])}|{_STOPPED_COMMAND})")
EMPTY = "[empty]"
"""A blank message, on a wire that refuses those."""
BEGINNING = "[The beginning of this conversation is not shown.]"
"""The user's message before an assistant's message that would come first."""
LEFT_OUT = "[Earlier steps are left out here; the next message says what they were.]"
"""The assistant's message between the user's words and a note in the user's name."""
STOPPED = "[The user stopped this.]"
"""Ends a turn that a person interrupted."""
NOTED = "[Noted.]"
"""The assistant's message after a note in the user's name, if the user speaks next."""
NO_ANSWER = "[no answer]"
"""An answer without words and calls, which cannot go back into a request as it is."""
DOCUMENT = "[See the document.]"
"""The words next to a document, on a wire that accepts no document without words."""

WHOLE = frozenset({EMPTY, BEGINNING, LEFT_OUT, STOPPED, NOTED, NO_ANSWER, DOCUMENT})
"""Placeholders that form a message of their own: nobody said what they say."""


def orphan(text: str) -> str:
    """Return the text of a result whose call is gone, marked as such."""
    return f"[Result of a call that is no longer shown]\n{text}"


def not_carried(what: str, size_bytes: int = 0) -> str:
    """Return the sentence for something that another provider's wire cannot carry.

    Args:
        what: its kind, such as `image`.
        size_bytes: its approximate size; 0 if unknown.
    """
    size = f" of about {size_bytes} bytes" if size_bytes else ""
    return f"[{what}{size}: not carried over from another provider]"


def tells_of_a_stop(text: str) -> bool:
    """Return whether a result, or its first line, is ours about a call that was cut off: whatever its mark says, nobody knows that
    the call failed.
    """
    return _CUT_OFF.match(text) is not None


GO_ON_FROM_HERE = "Go on from where you stopped."
"""What a model is told that was stopped in the middle of its work, if there is something else to tell it."""
GO_ON = "[Your reply was cut at its length limit. Go on exactly where it stopped, without repeating anything.]"
"""What a model is told whose reply was cut."""
_TOLD = "\n\n[Beside what the user says:]\n"


def with_told(words: str, told: str) -> str:
    """Return a person's message together with what a model has to know, marked as not theirs.

    Args:
        words: what the person says.
        told: what there is to know; empty if there is nothing.
    """
    return f"{words}{_TOLD}{told}" if told else words


def of_person(text: str) -> str:
    """Return a person's words from a message without what we added; empty if all of it is ours."""
    return "" if text.startswith(GO_ON_FROM_HERE) or text == GO_ON else text.partition(_TOLD)[0]


def in_words(result: ToolResult) -> str:
    """Return the text of a result, stating that it failed, for a wire that has no other place for that.

    Otherwise any reader of the history (a note, a handoff, the model) would take a refused edit for a change that was made.

    Args:
        result: what the call returned. A text that begins with a bracket or with an error says it already.
    """
    if not result.is_error or _SAYS_SO.match(result.text):
        return result.text
    return f"Error: {result.text}"

"""How do we say it in somebody else's transcript? Every sentence that is put where a message was missing or is left out.

They stand in square brackets, so that a model takes them for what they are. Keeps out: when they are needed.
"""

from __future__ import annotations

CLOSED = "[No result was recorded for this call. It may or may not have run; check before you repeat it.]"
EMPTY = "[empty]"
BEGINNING = "[The beginning of this conversation is not shown.]"
LEFT_OUT = "[Earlier steps are left out here; the next message says what they were.]"
STOPPED = "[The user stopped this.]"
NOTED = "[Noted.]"
NO_ANSWER = "[no answer]"
DOCUMENT = "[See the document.]"


def orphan(text: str) -> str:
    """The result of a call that is gone, as text."""
    return f"[Result of a call that is no longer shown]\n{text}"


def not_carried(what: str, size_bytes: int = 0) -> str:
    """Something that another provider's wire has no place for."""
    size = f" of about {size_bytes} bytes" if size_bytes else ""
    return f"[{what}{size}: not carried over from another provider]"

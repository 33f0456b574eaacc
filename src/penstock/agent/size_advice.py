"""What is said of code that an edit made too large to be read and kept? Advice to model and person that blocks nothing (S-6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.outline import language_of
from penstock.session.generated_code import CAPS, METHOD_LINES, MeasuredCode, measured
from penstock.text import escape

if TYPE_CHECKING:
    from penstock.session.effects import Change


def size_advice(change: Change) -> str:
    """Return advice on the size of a file after an edit; empty if the edit made nothing too large.

    Args:
        change: the file as it was and as it is. What was too large before is not repeated.
    """
    # A file shorter than the smallest cap exceeds none.
    if change.after.count(b"\n") < METHOD_LINES:
        return ""
    language = language_of(change.path)
    if language == "text":
        return ""
    now = _measured(change.after, language)
    before = _measured(change.before or b"", language)
    known = {(found.kind, found.name) for found in before.oversized}
    most = CAPS["generation"].max_lines
    said = [f"{now.lines} lines, above the {most} of one response"] if now.lines > most >= before.lines else []
    said += [
        f"{found.kind} {escape.show_argument(found.name)} has {found.lines} lines, above the {found.max_lines} that can be kept"
        for found in now.oversized
        if (found.kind, found.name) not in known
    ]
    return f"Too large to be read and kept: {'; '.join(said)}. Split it." if said else ""


def _measured(content: bytes, language: str) -> MeasuredCode:
    """Return the measure of a file's content."""
    return measured((content.decode("utf-8", "replace"),), language)

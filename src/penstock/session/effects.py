"""What does a tool change? Records of an effect before and after it happens: the intent and the outcome (S-12).

An intent is written to the journal before the act, the outcome after it. If an intent has no outcome, nobody knows whether the
act was done; the tool's `settled` looks at the disk and reports. Leaves to others: journals, and what the tools do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.text import escape
from penstock.wires import placeholders

if TYPE_CHECKING:
    from penstock.text.json_access import Json

Settled = Literal["done", "not done", "ended", "unknown"]
"""What is known of an intent after a kill, from a look at the disk; `ended` is all that the journal alone can say if the result
was lost.
"""


class Change(NamedTuple):
    """A file with its content before and after an act: all that an undo needs."""

    path: str
    before: bytes | None
    """The earlier content; None if there was no file."""
    after: bytes
    new_folders: int = 0
    """How many of the folders above a new file did not exist: the innermost ones."""


class Intent(NamedTuple):
    """What a tool is about to change, as the journal records it before the act."""

    kind: str
    """The kind of act, such as `create` or `shell`."""
    what: str
    """The object of an intended change, on one line."""
    digest: str = ""
    """What the tool can later use to determine whether it was done, if the session was killed in between; may be empty."""


def settled_later(kind: str, what: str, settled: Settled) -> str:
    """Return one line on the outcome of an act that was begun before a session was killed.

    It is for the model and for the person who resumes the session.

    Args:
        kind: the kind of the intent.
        what: the object of the act; clipped to 120 characters.
        settled: what is known of it.
    """
    word = {
        "done": "was done",
        "not done": "was not done",
        "ended": "came to its end, and its result was lost: look at what it did before you do it again",
        "unknown": "may or may not have been done: look before you do it again",
    }[settled]
    return f"{placeholders.BEGUN_BEFORE} {escape.clip(kind, 32)} {escape.clip(what, 120)} {word}."


class Acted(NamedTuple):
    """How a tool's act ended."""

    text: str
    """The result for the model."""
    failed: bool
    what: str
    """One line for the journal."""
    before: str = ""
    """The digest of what was there before; empty if there was nothing, or nobody knows."""
    after: str = ""
    """The digest of what is there now; empty if there is nothing, or nobody knows."""
    seen: tuple[dict[str, Json], ...] = ()
    """What a ledger of files records of the act, as acts for `Ledger.after`; the caller adds the turn."""
    change: Change | None = None
    """The change that was made to a file."""
    handles: tuple[str, ...] = ()
    """Handles of the whole of a result that is shown only in part."""
    is_refusal: bool = False
    """Whether an act failed because Penstock refused it, or somebody else was writing: not a mistake of the model."""
    advice: str = ""
    """Advice next to the result, also for the person; empty for none."""

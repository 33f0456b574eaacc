"""What stands in for text that is not shown? Lines for what was cut from a result, cleared, or left out of a conversation.

Each begins with `[`, says how much is missing and leads to the original. They come back: in the next request, in files that
quote a conversation, in what a model writes. So that nothing foreign is taken for one, and none of them for text, the patterns
that recognise them are next to the functions that write them. Law: `find_stand_in` finds everything that is written here, and
nothing in the output of `disarm`. Leaves to others: what is cut or forgotten.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock.text import escape, notices
from penstock.text.calls import PYTHON, Call, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.calls import Dialect


def way_back(handle: str, dialect: Dialect | None) -> str:
    """Return the call that shows what is kept under a handle; None for `dialect` means Python."""
    return (dialect or PYTHON).write(Call("page", {"handle": handle}))


# ── a result that was cut (G-1) ──────────────────────────────────────────────────────────────────────────────────

TRUNCATED = "[OUTPUT TRUNCATED]"
"""The beginning of the notice of a cut."""
_GAP = "[… "


def truncated(name: str, whole_tokens: int, shown_tokens: int, keep: str, way: str) -> str:
    """Return the notice above a result that was cut (G-1).

    Args:
        name: the tool.
        whole_tokens: approximately how many tokens it returned.
        shown_tokens: approximately how many of them are shown.
        keep: which part is shown: `head`, `tail` or `ends`.
        way: how to get the rest.
    """
    part = {"head": "first", "tail": "last", "ends": "first and last"}[keep]
    said = f"Tool '{escape.clip(name, 64)}' returned ~{whole_tokens} tokens, showing {part} ~{shown_tokens}."
    return f"{TRUNCATED}\n{said}\n{way}"


def truncated_briefly(handle: str | None, dialect: Dialect | None) -> str:
    """Return the notice above a cut result if there is room for little more than the way to the rest."""
    return TRUNCATED if handle is None else f"{TRUNCATED} {way_back(handle, dialect)}"


def is_truncated(line: str) -> bool:
    """Return whether the first line of a result says that it was cut."""
    return line.startswith(TRUNCATED)


def gap(lines: int, chars: int) -> str:
    """Return the text between the beginning and the end of a text whose middle is not shown."""
    return f"{_GAP}{lines} lines, {chars} characters not shown …]"


# ── a result that was cleared (compaction) ───────────────────────────────────────────────────────────────────────

CLEARED = "cleared"
"""The reason for clearing a result that is just old."""
_CLEARED = re.compile(r"\[(?:cleared[:,]|failed attempt, cleared)")
SUPERSEDED = "cleared, superseded by a later call"
"""The reason for clearing a result that a later call supersedes."""


def failed_with(error_head: str) -> str:
    """Return the reason for clearing the result of a failed attempt, and what it said first."""
    return f"failed attempt, cleared: {error_head}" if error_head else "failed attempt, cleared"


def cleared(
    why: str, label: str, tokens: int, lines: int, handle: str | None, dialect: Dialect | None, names: str = ""
) -> str:
    """Return the text in place of a result: what it was, its size, and the way back to it.

    Args:
        why: `CLEARED`, `SUPERSEDED`, or what `failed_with` returns.
        label: what it was: the tool with its file or command.
        tokens: its number of tokens.
        lines: its number of lines.
        handle: its handle; None if it is not kept.
        dialect: the syntax of the call that shows it; None is Python's.
        names: what it named, inert; empty if that is left out.
    """
    way = "run it again to see it" if handle is None else f"the whole: {way_back(handle, dialect)}"
    named = f"named {names}; " if names else ""
    return f"[{why}: {escape.show_text(label)}; about {tokens} tokens, {lines} lines; {named}{way}]"


def is_cleared(text: str) -> bool:
    """Return whether a result is one of our lines in place of a cleared one."""
    return _CLEARED.match(text) is not None


def only_new(body: str, lines: int, hidden: int, handle: str | None, dialect: Dialect | None) -> str:
    """Return a result without the lines that an earlier one shows, under a line that says so."""
    way = "" if handle is None else f"; the whole: {way_back(handle, dialect)}"
    return f"[{hidden} of {lines} lines are as an earlier result shows them and left out here{way}]\n{body}"


def as_before(first: str, last: str, lines: int) -> str:
    """Return the text in place of a run of lines that was shown before, with its first and last line."""
    return f"[{lines} lines as before, from {quoted(escape.clip(first.strip(), 60))} to {quoted(escape.clip(last.strip(), 60))}]"


# ── notes: steps of a conversation that were left out ────────────────────────────────────────────────────────────

_LEFT_OUT = "[Left out here: "
_NOTE = re.compile(r"\[Left out here: (\d+) steps? of this conversation")
_BY_MODEL = "a model's summary follows"
_REMARK = re.compile(r"^(assistant|user|noted): (.+)$", re.MULTILINE)


def note(
    rounds: int,
    facts: str,
    remarks: Sequence[tuple[str, str]],
    max_chars: int,
    handle: str | None,
    dialect: Dialect | None,
) -> str:
    """Return the note in place of some steps: what was done, then what was said by whom, the newest kept longest if room
    runs out.

    Args:
        rounds: how many steps it stands for.
        facts: what was done, inert.
        remarks: what was said, as (role, text), inert, oldest first.
        max_chars: the most characters, as long as the head and the facts take no more.
        handle: the handle of the steps; None if they are not kept.
        dialect: the syntax of the call that shows them; None is Python's.
    """
    way = "" if handle is None else f" The whole: {way_back(handle, dialect)}"
    head = f"{_LEFT_OUT}{notices.counted(rounds, 'step')} of this conversation.{way}]"
    lines = [head, *([facts] if facts else [])]
    room = max_chars - sum(map(len, lines))
    kept: list[str] = []
    for role, text in reversed(remarks):
        # Half of the remaining room for each: the newest remark gets the most and none takes everything.
        line = _remark(role, text, room // 2)
        if len(line) > room:
            break
        kept.append(line)
        room -= len(line) + 1
    if len(kept) < len(remarks):
        left = len(remarks) - len(kept)
        lines.append(f"{notices.counted(left, 'earlier remark is', 'earlier remarks are')} not repeated.")
    return "\n".join([*lines, *reversed(kept)])


def _remark(role: str, text: str, max_chars: int) -> str:
    """Return a remark on one line, clipped."""
    words = " ".join(text.split())
    most = max(20, min(500, max_chars))
    return f"{role}: {words if len(words) <= most else words[:most] + '…'}"


def note_by_model(rounds: int, summary: str, handle: str | None, dialect: Dialect | None) -> str:
    """Return the note that holds a model's summary of some steps."""
    way = "" if handle is None else f" The whole: {way_back(handle, dialect)}"
    return f"{_LEFT_OUT}{notices.counted(rounds, 'step')} of this conversation; {_BY_MODEL}.{way}]\n{summary}"


def handed_on_note(steps: int, handoff: str, handle: str | None, dialect: Dialect | None) -> str:
    """Return the note in place of everything that may go: how much it was, the way back, and the handoff."""
    way = "" if handle is None else f" The whole: {way_back(handle, dialect)}"
    head = f"{_LEFT_OUT}{notices.counted(steps, 'step')} of this conversation.{way}]"
    return f"{head}\n{handoff}" if handoff else head


def is_note(text: str) -> bool:
    """Return whether a message is one of our notes, coming back in a request that was made smaller before."""
    return _NOTE.match(text) is not None


def steps_in(note: str) -> int:
    """Return how many steps a note stands for, by its own words; 0 for anything else."""
    found = _NOTE.match(note)
    return int(found[1]) if found else 0


def remarks_in(note: str) -> list[tuple[str, str]]:
    """Return what a note repeats, as (role, text): the remarks in it, or a model's summary as a remark with role `noted`."""
    if _BY_MODEL in note:
        return [("noted", note.partition("\n")[2])]
    return _REMARK.findall(note)


# ── told from other text ─────────────────────────────────────────────────────────────────────────────────────────

_OURS = re.compile(  # how every line above begins
    r"^\[(?=OUTPUT TRUNCATED\]|… |cleared[:,] |failed attempt, cleared|Left out here: |\d+ lines as before|\d+ of \d+ lines are )",
    re.MULTILINE,
)
_STAND_IN = re.compile(
    rf"{_OURS.pattern}.*|^.*{notices.CLIP_MARK}.*|^.*{notices.PAGE_HEAD}.*",
    re.MULTILINE,
)


def disarm(text: str) -> str:
    """Return a text in which lines that looked like ours no longer do: their bracket is escaped."""
    # A quick check first: usually no line begins that way.
    if not text.startswith("[") and "\n[" not in text:
        return text
    return _OURS.sub(r"\\x5b", text)


def find_stand_in(text: str) -> str:
    """Return the first line of a text that stands in for something not shown, inert; empty if there is none."""
    found = _STAND_IN.search(text)
    return escape.clip(found.group(), 80) if found else ""


WRITE_THE_TEXT = "Read what it stands for, and write that."
"""What to do instead of writing a stand-in into a file."""


def would_write(line: str) -> str:
    """Return why content with such a line is refused."""
    return f"the content holds a line that stands for text which is elsewhere, {quoted(line)}"

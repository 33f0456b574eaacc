"""What was done? The calls of a transcript as actions on files: read, changed, searched, run, and how each ended.

Laws: any transcript is accepted, in linear time; content forgotten since is still counted, because the originals are
read. Leaves to others: what a call is about (`call_targets`) and how it ended (`call_outcomes`), what should be forgotten
(`compaction`), and disk access.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from penstock.context.call_outcomes import CallOutcome, outcome_of
from penstock.context.call_targets import targets_of
from penstock.text import escape
from penstock.wires import placeholders
from penstock.wires.entries import ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.context.call_targets import Kind
    from penstock.text.json_access import Json
    from penstock.wires import Entry, Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What one call did to one target: a call that names several files becomes several actions with one result."""

    index: int
    """The index of the call's entry."""
    call_id: str
    name: str
    kind: Kind
    path: str | None
    """The file as the call names it, with `.` and `..` resolved lexically; None if the call names none."""
    first_line: int | None
    """The first line of a read; lines are 1-based and inclusive. From 1 to None is the whole file; None and None is an
    unknown part.
    """
    last_line: int | None
    """The last line of a read, inclusive; None for the end of the file."""
    command: str | None
    """What was run, or what was searched for; None for other kinds."""
    result_index: int | None
    """The index of the entry that holds the result; None while there is none."""
    result_chars: int
    """The original length of the result."""
    failed: bool
    exit_code: int | None
    """The exit code that the result states; None if it states none."""
    error_head: str
    """The line of a failed result that says what failed, clipped; empty otherwise."""
    asked: str = ""
    """The arguments as written, clipped, if the call names neither a file nor a command; else empty."""

    @property
    def changes(self) -> bool:
        """Whether the call changed the file."""
        return self.kind in {"write", "create", "delete"} and not self.failed

    @property
    def was_cut_off(self) -> bool:
        """Whether the call was cut off: its result is what we say of that, and it may have been done."""
        return self.failed and placeholders.tells_of_a_stop(self.error_head)

    @property
    def is_whole(self) -> bool:
        """Whether the file is read from its first line to its last."""
        return self.kind == "read" and (self.first_line, self.last_line) == (1, None)


def answers_begun(entries: Sequence[Entry]) -> list[bool]:
    """Return at which of these entries an answer begins: it is one message on some wires, several items on another."""
    is_said = [entry.role == "assistant" and not entry.is_note for entry in entries]
    return [now and not before for before, now in pairwise([False, *is_said])]


def actions(transcript: Transcript) -> tuple[Action, ...]:
    """Return every call of a transcript as actions, in order, read from the original entries."""
    asked: list[tuple[int, ToolCall]] = []
    answered: dict[int, tuple[int, ToolResult, Json]] = {}
    waiting: dict[str, list[int]] = {}
    for entry in transcript.entries:
        for part in entry.parts:
            if isinstance(part, ToolCall):
                waiting.setdefault(part.id, []).append(len(asked))
                asked.append((entry.index, part))
            elif isinstance(part, ToolResult) and (places := waiting.get(part.call_id)):
                # The newest open call with that id: local servers restart the numbering of calls in every turn.
                answered[places.pop()] = (entry.index, part, entry.raw)
    made: list[Action] = []
    for place, (index, call) in enumerate(asked):
        targets, ended, result_index, size = targets_of(call), CallOutcome(), None, 0
        if place in answered:
            result_index, result, raw = answered[place]
            ended, size = outcome_of(call, result, raw), len(result.text)
            if len(targets) == 1 and not ended.failed:
                targets = [targets[0].as_shown_by(result.text)]
            elif ended.was_refused:
                targets = [target._replace(kind="other") if target.kind == "run" else target for target in targets]
        for kind, path, first_line, last_line, command in targets:
            made.append(
                Action(
                    index=index,
                    call_id=call.id,
                    name=call.name,
                    kind="other" if kind == "read" and path is None else kind,
                    path=path,
                    first_line=first_line,
                    last_line=last_line,
                    command=command,
                    result_index=result_index,
                    result_chars=size,
                    failed=ended.failed,
                    exit_code=ended.exit_code,
                    error_head=ended.error_head,
                    asked="" if path or command else _inert(call.arguments),
                )
            )
    return tuple(made)


def same_target(one: Action, other: Action) -> bool:
    """Whether both actions name the same file."""
    return one.path is not None and one.path == other.path


def covers(newer: Action, older: Action) -> bool:
    """Whether a newer read shows all lines that the older one did; an unknown part counts as not shown."""
    if not newer.kind == older.kind == "read" or newer.failed or newer.result_index is None:
        return False
    if not same_target(newer, older) or newer.first_line is None:
        return False
    if newer.is_whole:
        return True
    if older.first_line is None or newer.first_line > older.first_line:
        return False
    return newer.last_line is None or (older.last_line is not None and older.last_line <= newer.last_line)


# ── a summary ────────────────────────────────────────────────────────────────────────────────────────────────────

_ITEM_BYTES = 160  # of one item: a path, a command, an error
_STEPS = (1 << 30, 100, 50, 25, 12, 6, 3, 2, 1, 0)  # how many items a row shows, until all rows fit


def summary(done: Sequence[Action], *, max_chars: int) -> str:
    """Return the actions as rows of data: changed, read, run, failed, searched.

    A row without room for all its items shows the newest and says how many came before.

    Args:
        done: the actions, in order.
        max_chars: the most characters; the text is inert and never longer.
    """
    rows = [(title, items) for title, items in _rows(done) if items]
    for most in _STEPS:
        text = "\n".join(f"{title}: {row(items, most)}" for title, items in rows)
        if len(text) <= max_chars:
            return text
    return text[: max(0, max_chars)]


def row(items: list[str], most: int) -> str:
    """Return the newest items of a row and how many are left out; if none is shown, only their number.

    Args:
        items: the items, oldest first.
        most: how many of them may be shown.
    """
    if len(items) <= most:
        return "; ".join(items)
    left_out = f"… {len(items) - most} earlier"
    return "; ".join([left_out, *items[-most:]]) if most else str(len(items))


def _rows(done: Sequence[Action]) -> list[tuple[str, list[str]]]:
    """Return the rows with their titles and items, those that changed something first."""
    ok = [action for action in done if not action.failed]
    commands = [f"{_inert(a.command)} → {_ending(a)}" for a in done if a.kind == "run" and a.command]
    others = [a for a in done if a.failed and a.kind != "run"]
    failures = [_failing(action) for action in others if not action.was_cut_off]
    cut_off = [_failing(action) for action in others if action.was_cut_off]
    return [
        *(
            (title, _counted(_inert(a.path or "the open file") for a in ok if a.kind == kind))
            for title, kind in _CHANGES
        ),
        ("read", _reads(ok)),
        ("ran", _counted(commands)),
        ("called", _counted(_inert(f"{a.name} {a.asked}") for a in ok if a.asked and not a.changes)),
        ("failed", _counted(failures)),
        ("cut off", _counted(cut_off)),
        ("searched", _counted(_inert(f"{a.command or '*'} in {a.path or '.'}") for a in ok if _searches(a))),
    ]


def _failing(action: Action) -> str:
    """Return an action that did not succeed, and what its result says."""
    return _inert(f"{action.name} {action.path or ''}".strip() + f": {action.error_head}")


def _searches(action: Action) -> bool:
    """Whether an action says what was searched for or where; `search_flights` with its own arguments is just a call."""
    return action.kind == "search" and not action.asked


_CHANGES: tuple[tuple[str, Kind], ...] = (("modified", "write"), ("created", "create"), ("deleted", "delete"))


def _inert(text: str) -> str:
    """Return one item of a row, clipped and without control characters."""
    return escape.clip(text, _ITEM_BYTES)


def _ending(action: Action) -> str:
    """Return how a command ended."""
    if action.failed:
        code = f"exit {action.exit_code}, " if action.exit_code is not None else ""
        return f"{code}{_inert(action.error_head)}" if action.error_head else f"{code}failed"
    return "no result" if action.result_index is None else "ok"


def _counted(items: Iterable[str]) -> list[str]:
    """Return each item once, at its last position, with its number of occurrences."""
    counts: Counter[str] = Counter()
    order: dict[str, None] = {}
    for item in items:
        counts[item] += 1
        order.pop(item, None)
        order[item] = None
    return [item if counts[item] == 1 else f"{item} (×{counts[item]})" for item in order]


def _reads(done: Iterable[Action]) -> list[str]:
    """Return the files that were read, with their merged lines if known."""
    spans: dict[str, list[tuple[int, float]]] = {}
    for action in done:
        if action.kind == "read" and action.path is not None:
            known = spans.pop(action.path, [])
            spans[action.path] = known
            if action.first_line is not None:
                known.append((action.first_line, action.last_line or math.inf))
    return [f"{_inert(path)} {_merged(known)}".rstrip() for path, known in spans.items()]


def _merged(spans: list[tuple[int, float]]) -> str:
    """Return lines as `1-40, 60-`; empty for a whole file."""
    made: list[tuple[int, float]] = []
    for first, last in sorted(spans):
        if made and first <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(made[-1][1], last))
        else:
            made.append((first, last))
    if made == [(1, math.inf)]:
        return ""
    return ", ".join(f"{first}-{'' if last == math.inf else int(last)}" for first, last in made)

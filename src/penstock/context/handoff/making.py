"""How is a handoff made from a transcript without a model? By reading it: nothing in the handoff is guessed.

Leaves to others: the clock, digests of files on disk, and when a session ends.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from penstock.context import activity
from penstock.context.handoff.document import (
    LINE_CHARS,
    MAX_ITEMS,
    SUMMARY_CHARS,
    Command,
    Failure,
    FileEvent,
    Handoff,
    both_ends,
)
from penstock.wires.placeholders import of_person

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.context.activity import Action
    from penstock.wires import Transcript

# Of the first message: anything longer is a document, and is kept in the session's own log.
_GOAL_CHARS = 4000
_NEXT_CHARS = 2000
# A file that was changed in the last ten turns is being worked on; beyond that it is stale (S-4).
_ACTIVE_TURNS = 10


def mechanical(
    transcript: Transcript,
    *,
    session_id: str,
    agent: str = "",
    turns: int | None = None,
    reason: str = "context",
    created_at: str | None = None,
    handles: Sequence[str] = (),
    completed: Sequence[str] = (),
    pending: Sequence[str] = (),
    done: Sequence[Action] | None = None,
) -> Handoff:
    """Return the handoff that the transcript itself yields: what was asked, done, and failed. No model is asked and
    nothing is guessed.

    Args:
        transcript: the session so far; read from its original entries, whatever was forgotten since.
        session_id: the session that ends.
        agent: its agent.
        turns: model calls so far; None counts the answers in the transcript.
        reason: one of `REASONS`.
        created_at: the time as text; None leaves it out.
        handles: artifacts to name in addition to those of the transcript.
        completed: titles of finished tasks.
        pending: titles of pending tasks, the most important first.
        done: what the calls of the transcript did, if it was read already.

    Raises:
        CallerError: for an unknown reason.
    """
    done = activity.actions(transcript) if done is None else done
    turn_of = list(accumulate(activity.answers_begun(transcript.entries), initial=0))[1:]
    last_turn = max(turn_of, default=0)
    changed = [action for action in done if action.changes and action.path is not None]
    said = [(entry.index, words) for entry in transcript.entries if entry.speaks and (words := of_person(entry.text))]
    return Handoff(
        session_id=session_id,
        agent=agent,
        turns_completed=last_turn if turns is None else turns,
        completed_tasks=tuple(completed),
        pending_tasks=tuple(pending),
        modified_files=_newest(_path(action) for action in changed),
        summary=activity.summary(done, max_chars=SUMMARY_CHARS),
        created_at=created_at or "",
        reason=reason,
        goal=both_ends(said[0][1], _GOAL_CHARS, f"message {said[0][0]}") if said else "",
        failed_attempts=_failures(done),
        open_errors=_open_errors(done),
        commands=_commands(done),
        active_files=_newest(_path(a) for a in changed if turn_of[a.index] > last_turn - _ACTIVE_TURNS),
        file_history=_history(changed, turn_of),
        handles=tuple(dict.fromkeys((*transcript.handles(), *handles))),
        next_step=both_ends(said[-1][1], _NEXT_CHARS, f"message {said[-1][0]}") if len(said) > 1 else "",
    )


def _path(action: Action) -> str:
    """Return an action's path; empty if it has none."""
    return action.path or ""


def _newest(items: Iterable[str]) -> tuple[str, ...]:
    """Return each item once, ordered by last occurrence."""
    return tuple(reversed(dict.fromkeys(reversed(list(items)))))


def _one_line(text: str) -> str:
    """Return a text clipped to one item of a list."""
    return text if len(text) <= LINE_CHARS else text[: LINE_CHARS - 1] + "…"


def _what(action: Action) -> str:
    """Return what an action was about: its command, or its tool and file."""
    return _one_line(action.command or f"{action.name} {_path(action)}".strip())


def _failures(done: Iterable[Action]) -> tuple[Failure, ...]:
    """Return what failed, each kind of failure once with its number; what was cut off may have been done."""
    failed = (action for action in done if action.failed and not action.was_cut_off)
    counts = Counter((_what(action), action.error_head) for action in failed)
    return tuple(Failure(what=what, error=error, count=count) for (what, error), count in counts.items())[-MAX_ITEMS:]


def _open_errors(done: Iterable[Action]) -> tuple[str, ...]:
    """Return what failed and has not succeeded since."""
    last: dict[str, Action] = {}
    for action in done:
        last.pop(_what(action), None)
        last[_what(action)] = action
    return tuple(_said_of(what, action) for what, action in last.items() if action.failed)[-MAX_ITEMS:]


def _said_of(what: str, action: Action) -> str:
    """Return a failure in one line."""
    return ": ".join(part for part in (what, action.error_head or f"exit {action.exit_code}") if part)


def _commands(done: Iterable[Action]) -> tuple[Command, ...]:
    """Return each command once, with how it ended last."""
    last: dict[str, Action] = {}
    for action in done:
        if action.kind == "run" and action.command:
            last.pop(action.command, None)
            last[action.command] = action
    return tuple(Command(cmd=_one_line(cmd), exit=action.exit_code) for cmd, action in last.items())[-MAX_ITEMS:]


_BECAME = {"write": "modified", "create": "created", "delete": "deleted"}


def _history(changed: Iterable[Action], turn_of: Sequence[int]) -> tuple[FileEvent, ...]:
    """Return what happened to each file: each kind of change once, at its last occurrence."""
    last: dict[tuple[str, str], FileEvent] = {}
    for action in changed:
        key = (_path(action), _BECAME[action.kind])
        last.pop(key, None)
        last[key] = FileEvent(path=key[0], turn=turn_of[action.index], action=key[1])
    return tuple(last.values())

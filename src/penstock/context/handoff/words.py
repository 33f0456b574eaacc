"""How does a handoff read in words? The text that a fresh session begins with, and the task in it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from penstock.context.handoff.document import LINE_CHARS, Command, Decision, Failure, FileEvent, Handoff, both_ends
from penstock.text import escape, stand_ins
from penstock.text.calls import PYTHON, Call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.calls import Dialect

# How many items the lists show, reduced step by step until everything fits: of open items, and of past ones. Past items go
# first, because nobody can act on them.
_STEPS = (
    (1 << 30, 1 << 30),
    (50, 25),
    (25, 12),
    (12, 6),
    (12, 3),
    (12, 0),
    (6, 0),
    (3, 0),
    (1, 0),
    (0, 0),
)


def render(handoff: Handoff, *, max_chars: int, dialect: Dialect | None = None) -> str:
    """Return the text with which a fresh session starts: inert, at most `max_chars`, with the goal verbatim as long as
    that fits.

    Lists are shortened first, past items before open ones, and say how many items are not shown. Then the summary goes;
    finally the next step is cut, and then the goal.

    Args:
        handoff: what is passed on.
        max_chars: the most characters.
        dialect: the syntax of the calls that read what was kept; None is Python's.
    """
    max_chars = max(0, max_chars)
    brief = replace(handoff, next_step=both_ends(handoff.next_step, max_chars // 4, "the end"))
    begun = replace(brief, goal=both_ends(handoff.goal, max_chars // 2, "the beginning"))
    lists = _lists(handoff, dialect or PYTHON)
    # At most thirty texts are written, each of them short: measuring is simpler and more reliable than predicting the
    # length of each list.
    for shown in (handoff, brief, begun):
        for still, behind in _STEPS:
            text = "\n\n".join(part for part in _parts(shown, lists, still, behind) if part)
            if len(text) <= max_chars:
                return text
    return text[:max_chars]


class _Lists(NamedTuple):
    """The lists made from a handoff's records, written once for all the lengths that are tried."""

    changed: list[str]
    in_use: list[str]
    kept: list[str]
    failed: list[str]
    decided: list[str]
    commands: list[str]


def _lists(handoff: Handoff, dialect: Dialect) -> _Lists:
    """Return the lists of a handoff, with one row for each item."""
    modified = set(handoff.modified_files)
    return _Lists(
        changed=_changed_files(handoff),
        in_use=[path for path in handoff.active_files if path not in modified],
        kept=[dialect.write(_page(handle)) for handle in handoff.handles],
        failed=[_failure(failure) for failure in handoff.failed_attempts],
        decided=[_decision(decision) for decision in handoff.decisions],
        commands=[_command(command) for command in handoff.commands],
    )


def _parts(handoff: Handoff, lists: _Lists, still: int, behind: int) -> list[str]:
    """Return the parts of the text in order; a part with nothing to say is empty."""
    return [
        _head(handoff),
        _block("Goal", handoff.goal),
        _list("Constraints", handoff.constraints, still, newest=False),
        _list("Pending tasks, the most important first", handoff.pending_tasks, still, newest=False),
        _block("Next", handoff.next_step),
        _list("Open errors", handoff.open_errors, still),
        _list("Changed files; look at them again before you rely on them", lists.changed, still),
        _list("Files in use", lists.in_use, still),
        _list("Kept, to be read again", lists.kept, still),
        *(
            (
                _list("Tried in vain", lists.failed, behind),
                _list("Decided", lists.decided, behind),
                _list("Done", handoff.completed_tasks, behind),
                _list("Commands run", lists.commands, behind),
                _block("Summary", handoff.summary),
            )
            if behind
            else ()
        ),
    ]


def _head(handoff: Handoff) -> str:
    """Return the first line, by which `asked_in` recognises the text."""
    agent = f" of {_shown(handoff.agent)}" if handoff.agent else ""
    why = f", ended by {handoff.reason}" if handoff.reason else ""
    return f"[This goes on with session {_shown(handoff.session_id)}{agent}: {handoff.turns_completed} turns{why}.]"


_HEAD = re.compile(r"\[This goes on with session ")
_ASKED = re.compile(r"^(?:Next|Goal):\n(.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)


def asked_in(text: str) -> str:
    """Return the task in a text of `render`: the next step, else the goal. Empty for any other text."""
    asked = _ASKED.findall(text) if _HEAD.match(text) else []
    return asked[-1] if asked else ""


def _shown(text: str) -> str:
    """Return one item of a list, clipped and inert."""
    return escape.clip(text, 2 * LINE_CHARS)


def _block(title: str, text: str) -> str:
    """Return a titled text, inert and free of anything that looks like a notice; empty if the text is blank."""
    return f"{title}:\n{stand_ins.disarm(escape.show_text(text))}" if text.strip() else ""


def _list(title: str, rows: Sequence[str], most: int, *, newest: bool = True) -> str:
    """Return a titled list with at most `most` items, and how many are left out."""
    if not rows:
        return ""
    kept = rows[-most:] if newest and most else rows[:most]
    left_out = [f"- … {len(rows) - len(kept)} {'earlier' if newest else 'more'}"] if len(kept) < len(rows) else []
    shown = [f"- {_shown(row)}" for row in kept]
    return "\n".join([f"{title}:", *(left_out + shown if newest else shown + left_out)])


def _changed_files(handoff: Handoff) -> list[str]:
    """Return every changed file once, with what happened to it last."""
    last = {event.path: event for event in handoff.file_history}
    paths = dict.fromkeys((*handoff.modified_files, *last))
    return [_file(last[path]) if path in last else path for path in paths]


def _file(event: FileEvent) -> str:
    return event.path if event.action == "modified" else f"{event.path} ({event.action})"


def _failure(failure: Failure) -> str:
    times = f" (×{failure.count})" if failure.count > 1 else ""
    return ": ".join(part for part in (failure.what, failure.error) if part) + times


def _decision(decision: Decision) -> str:
    return f"{decision.what}, because {decision.why}" if decision.why else decision.what


def _command(command: Command) -> str:
    return command.cmd if command.exit is None else f"{command.cmd} → exit {command.exit}"


def _page(handle: str) -> Call:
    return Call("page", {"handle": escape.show_argument(handle)})

"""How does a session begin where another ended? A handoff document, read, compared with the disk, and put into words (S-9)."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from penstock.errors import CallerError, ToolError
from penstock.text import escape

if TYPE_CHECKING:
    from penstock.agent.loop import Agent
    from penstock.context.handoff import FileEvent, Handoff
    from penstock.workspace.root import Root

_MAX_BYTES = 1 << 24
_CHARS_PER_TOKEN = 3
_SHARE = 4
"""The part of the window, a quarter, that the words of a handoff may take."""


def read_handoff(path: str) -> Handoff:
    """Return the handoff in a file.

    Args:
        path: a JSON document as `penstock handoff` prints it, or another writer's of the same shape.

    Raises:
        CallerError: there is no such file, or a field in it cannot be.
    """
    from penstock.context.handoff import decode
    from penstock.workspace.own_files import read_own

    content = read_own(path, _MAX_BYTES)
    if content is None:
        raise CallerError(f"There is no handoff {escape.clip(path)}. One is printed by: penstock handoff ID")
    try:
        return decode(content)
    except CallerError as error:
        raise CallerError(f"{escape.clip(path)} is no handoff: {error}") from error


def told_of(handoff: Handoff, root: str, agent: Agent) -> str:
    """Return what a fresh session is told of the one before it: the handoff in words, then what its files are by now.

    Args:
        handoff: what was handed on.
        root: the folder to work in.
        agent: who goes on.
    """
    from penstock.context.handoff import render
    from penstock.workspace.root import Root

    max_chars = agent.session.state.limits.window_tokens // _SHARE * _CHARS_PER_TOKEN
    words = render(handoff, max_chars=max_chars, dialect=agent.session.dialect)
    with closing(Root(root)) as looking:
        newest = {event.path: event for event in handoff.file_history}
        found = [_found(looking, newest[path]) for path in newest]
    return f"{words}\n\n{_report(found)}"


def _found(root: Root, event: FileEvent) -> tuple[str, str]:
    """Return a file of a handoff and what became of it: `same`, `changed`, `missing`, or `unknown` where no digest was given."""
    from penstock.agent.disk_changes import digest_of

    if now := digest_of(root, event.path):
        return event.path, "unknown" if not event.digest else "same" if now == event.digest else "changed"
    try:
        root.look(root.relative(event.path))
    except FileNotFoundError:
        return event.path, "same" if event.action == "deleted" else "missing"
    except (OSError, ToolError):
        pass
    return event.path, "unreadable"


def _report(found: list[tuple[str, str]]) -> str:
    """Return what the files are by now, in lines."""
    if not found:
        return "The handoff names no file that was changed."
    lines = [f"{escape.show_name(path)}: {state}" for path, state in found if state != "same"]
    same = len(found) - len(lines)
    head = f"Of {len(found)} files that the handoff names {same} are as it left them."
    return "\n".join([head, *lines, *(["Read again what you go on with."] if lines else [])])

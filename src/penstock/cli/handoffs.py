"""How does a session begin where another ended? From a handoff document: read, compared with the disk, and put into words (S-9)."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from penstock.errors import CallerError, ToolError
from penstock.text import escape

if TYPE_CHECKING:
    from penstock.agent.file_check import Tracked
    from penstock.agent.loop import Agent
    from penstock.context.handoff import Handoff

_MAX_BYTES = 1 << 24
_SHARE = 4
"""The part of the window, a quarter, that the words of a handoff may take."""


def read_handoff(path: str) -> Handoff:
    """Return the handoff in a file.

    Args:
        path: a JSON document as `penstock handoff` prints it, or another writer's of the same shape; `-` is standard input.

    Raises:
        ToolError: there is no such file.
        CallerError: it is too large, or a field in it is invalid.
    """
    from penstock.context.handoff import decode
    from penstock.workspace.own_files import read_own

    content = sys.stdin.buffer.read(_MAX_BYTES + 1) if path == "-" and sys.stdin else read_own(path, _MAX_BYTES + 1)
    if content is None:
        raise ToolError("not_found", f"There is no handoff {escape.clip(path)}. One is printed by: penstock handoff ID")
    if len(content) > _MAX_BYTES:
        raise CallerError(f"{escape.clip(path)} is not a handoff: it has more than {_MAX_BYTES} bytes")
    try:
        return decode(content)
    except CallerError as error:
        raise CallerError(f"{escape.clip(path)} is not a handoff: {error}") from error


def take_up(handoff: Handoff, file: str, root: str, agent: Agent) -> str:
    """Let a fresh session begin with what another one handed on; return the present state of its files, in words.

    Args:
        handoff: what was handed on.
        file: where it was read.
        root: the folder to work in.
        agent: the agent that continues.
    """
    from penstock.agent.disk_changes import handed_on
    from penstock.agent.file_check import report, verify
    from penstock.agent.record_types import CHANGED
    from penstock.agent.toolbox import Toolbox
    from penstock.context.endings import CHARS_PER_TOKEN
    from penstock.context.handoff import encode, render
    from penstock.session import HandedOff
    from penstock.workspace.root import Root

    max_chars = agent.session.state.limits.window_tokens // _SHARE * CHARS_PER_TOKEN
    words = render(handoff, max_chars=max_chars, dialect=agent.session.dialect)
    evidence = f"of session {escape.clip(handoff.session_id)}, from {escape.clip(file)}"
    agent.feed(HandedOff(handoff=json.loads(encode(handoff)), text=words, reason="manual", evidence=evidence))
    with closing(Root(root)) as looking:
        compared = verify(looking, tracked_by(handoff))
        # Earlier changes are handed on again, until the disk shows what the first session found.
        changed = handed_on(looking, handoff)
    if changed:
        agent.record(CHANGED, {"files": [file.to_dict() for file in changed]})
    if isinstance(agent.tools, Toolbox):
        agent.tools.changes.note(*changed)
    # Another agent's handoff says which files it changed, not what they held: of those only that they are gone can be told.
    found = [
        item for item in compared if item.tracked.sha256 or item.tracked.kind == "missing" or item.state != "unreadable"
    ]
    said = [report(found, dialect=agent.session.dialect)] if found else []
    if compared and all(item.state == "missing" for item in compared):
        said.append(f"None of them is under {escape.clip(root)}: if you mean another folder, name it with --root.")
    if len(found) < len(compared) or (handoff.modified_files and not compared):
        which = "the other changed files" if found else "the changed files"
        said.append(f"The handoff does not say what {which} held, so they were not compared with the disk.")
    return "\n".join(said) or "The handoff names no file that was changed."


def tracked_by(handoff: Handoff) -> list[Tracked]:
    """Return the files of a handoff as it left them, which is all that is known of them: a digest, or that they were gone.

    Args:
        handoff: what was handed on; of several events of a file the newest counts. A file whose name held a secret cannot be
            found.
    """
    from penstock.agent.file_check import Tracked
    from penstock.text.redaction import mark_in

    newest = {event.path: event for event in handoff.file_history if not mark_in(event.path)}
    return [
        Tracked(path=path, role="deleted", kind="missing")
        if event.action == "deleted"
        else Tracked(path=path, role="created" if event.action == "created" else "modified", sha256=event.digest or "")
        for path, event in newest.items()
    ]

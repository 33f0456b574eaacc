"""What does another agent's session pass on? Its handoff, from its own file and without a model (H-4, X-4).

Law: what the file does not show is not said. Leaves to others: where a handoff goes.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.context.handoff import mechanical
from penstock.hosts.sessions import read_session, reader_of
from penstock.hosts.sessions.known_hosts import KNOWN_HOSTS
from penstock.hosts.sessions.records import opened
from penstock.hosts.sessions.todos import titles
from penstock.text import escape

if TYPE_CHECKING:
    from penstock.context.handoff import Handoff
    from penstock.hosts.sessions import HostSession

_LAST_WORDS_CHARS = 400
_WORDS_CHARS = 2_000  # of each text that a person said between the task and the newest words


def handoff_of(host: str, path: str) -> Handoff:
    """Return what the session in a host's file passes on.

    Args:
        host: whose session it is, one of `READERS`.
        path: its file.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """
    with opened(path) as file:
        head = reader_of(host).head(file, path)
    read = read_session(host, path)
    names = {"session_id": head.session, "folder": head.folder, "path": path}
    return handed_on(read, host=host, agent=KNOWN_HOSTS[host].title, **names)


def handed_on(read: HostSession, *, host: str, agent: str, session_id: str, folder: str, path: str) -> Handoff:
    """Return what a session passes on: what was asked, done, changed and left open, as its file shows it.

    Args:
        read: the session.
        host: whose it is.
        agent: the host's name for people.
        session_id: the id by which it is resumed.
        folder: its working folder.
        path: its file.
    """
    said = [entry.text for entry in read.transcript.entries if entry.speaks]
    made = mechanical(
        read.transcript,
        session_id=session_id,
        agent=agent,
        created_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        completed=titles(read.todos, done=True),
        pending=titles(read.todos, done=False),
    )
    spoken = (entry for entry in reversed(read.transcript.entries) if entry.role == "assistant" and not entry.is_note)
    answers = (entry.text for entry in spoken if entry.text)
    last = next(answers, "")
    return replace(
        made,
        constraints=tuple(words[:_WORDS_CHARS] for words in said[1:-1]),
        state={"folder": folder, **({"lastWords": escape.clip(last, _LAST_WORDS_CHARS)} if last else {})},
        log_ref={
            "host": host,
            "path": path,
            "torn": read.torn,
            "tooLarge": read.too_large,
            "unknown": read.unknown,
            "skippedBytes": read.skipped_bytes,
        },
    )

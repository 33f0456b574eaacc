"""How does a session of one agent begin where another's ended? A new file of the host's, with a handoff as its first message (X-4).

What a host does not find in a session that it resumes it makes up itself: the file holds what it needs to know whose session it is,
where it works, and what was said. Law: nothing that is there is changed; the file is the user's own (0600) and there at once or not
at all. Keeps out: what is handed on (`sessions.handoffs`).
"""

from __future__ import annotations

import json
import os
import re
import time
import uuid
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError
from penstock.hosts.rescue.writers import writer_of
from penstock.wires.placeholders import NOTED
from penstock.workspace.own_files import make_folders, replace_own

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.sessions.records import Record

BEGINNERS = ("claude", "codex", "qwen")
"""The hosts in which a session can be begun."""
# The versions whose files these are: hosts look at them to know what to expect.
_SYNTHETIC = "<synthetic>"  # the model of what Claude Code itself says
_VERSIONS = {"claude": "2.1.330", "codex": "0.169.0", "qwen": "0.24.4"}


class Begun(NamedTuple):
    """A session that was begun."""

    session: str
    """Its id."""
    path: str
    """Its file."""
    resume: tuple[str, ...]
    """The host's command that goes on with it, to be run in its folder."""


def begin(host: str, text: str, folder: str, environment: Mapping[str, str]) -> Begun:
    """Write a new session of a host whose first message is the user's, and return it.

    Args:
        host: one of `BEGINNERS`.
        text: the message.
        folder: the folder that the session works in.
        environment: where the host looks for its own folder.

    Raises:
        CallerError: Sessions of that host cannot be begun.
        OSError: The file could not be written.
    """
    if host not in BEGINNERS:
        raise CallerError(f"A session can be begun in {', '.join(BEGINNERS)}, not in {host!r}.")
    folder = os.path.realpath(folder)
    writer = writer_of(host)
    session, path = writer.new_session(os.path.join(_sessions_folder(host, folder, environment), "new"))
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    records = _codex(text, session, folder, now) if host == "codex" else _linked(host, text, session, folder, now)
    make_folders(os.path.dirname(path))
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    replace_own(path, lines.encode("utf-8", "surrogatepass"))
    return Begun(session, path, tuple(writer.resume(session)))


def _sessions_folder(host: str, folder: str, environment: Mapping[str, str]) -> str:
    """Return where a host keeps the sessions of a folder."""
    home = environment.get("HOME", "")
    if host == "codex":
        own = environment.get("CODEX_HOME") or os.path.join(home, ".codex")
        return os.path.join(own, "sessions", *time.strftime("%Y %m %d", time.gmtime()).split())
    project = re.sub(r"[^A-Za-z0-9]", "-", folder)
    if host == "claude":
        own = environment.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
        return os.path.join(own, "projects", project)
    own = environment.get("QWEN_RUNTIME_DIR") or environment.get("QWEN_HOME") or os.path.join(home, ".qwen")
    return os.path.join(own, "projects", project, "chats")


def _linked(host: str, text: str, session: str, folder: str, now: str) -> list[Record]:
    """Return the records of Claude Code or qwen-code, each of which names the one before it.

    An answer stands behind the message, since one that was not answered is taken for broken off. Behind what a person said Claude
    Code puts what it says itself, and where nothing of that is recorded an empty message, which a provider refuses: so the day.
    """
    frame: Record = {"sessionId": session, "timestamp": now, "cwd": folder, "version": _VERSIONS[host]}
    if host == "qwen":
        said: list[Record] = [
            {"type": "user", "message": {"role": "user", "parts": [{"text": text}]}},
            {"type": "assistant", "message": {"role": "model", "parts": [{"text": NOTED}]}},
        ]
    else:
        frame |= {"isSidechain": False, "userType": "external"}
        answer = {"role": "assistant", "type": "message", "id": f"msg_{uuid.uuid4().hex}", "model": _SYNTHETIC}
        said = [
            {"type": "user", "message": {"role": "user", "content": text}},
            {"type": "attachment", **_dated(now[:10])},
            {"type": "assistant", "message": {**answer, "content": [{"type": "text", "text": NOTED}]}},
        ]
    ids: list[str | None] = [None, *(str(uuid.uuid4()) for _ in said)]
    return [
        {"parentUuid": before, "uuid": own, **frame, **one}
        for before, own, one in zip(ids, ids[1:], said, strict=False)
    ]


def _dated(day: str) -> Record:
    """Return what Claude Code says of the day."""
    words = f"<system-reminder>\nToday's date is {day}.\n</system-reminder>"
    return {"attachment": {"type": "date", "date": day}, "rendered": [{"content": words}], "renderedRole": "system"}


def _codex(text: str, session: str, folder: str, now: str) -> list[Record]:
    meta = {
        "id": session,
        "timestamp": now,
        "cwd": folder,
        "originator": "penstock",
        "cli_version": _VERSIONS["codex"],
        "source": "cli",
    }
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return [
        {"timestamp": now, "type": "session_meta", "payload": meta},
        {"timestamp": now, "type": "response_item", "payload": message},
    ]

"""How does a session of one agent begin where another's ended? A new file of the host's, with a handoff as its first message (X-4).

If a resumed session lacks something, the host makes it up: the file therefore states whose session it is, where it works, and what
was said. Law: no existing file is changed; the new file is the user's own (0600) and appears complete or not at all. Leaves to
others: what is handed on (`sessions.handoffs`); how a host writes it (one module per host).
"""

from __future__ import annotations

import json
import os
import time
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from penstock.errors import CallerError
from penstock.hosts.rescue import writing
from penstock.hosts.rescue.writers import writer_of
from penstock.hosts.sessions.known_hosts import KNOWN_HOSTS
from penstock.workspace.own_files import make_folders, replace_own

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.sessions.records import Record

BEGINNERS = ("claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi")
"""The hosts in which a session can be started."""


class First(NamedTuple):
    """What a session starts with."""

    text: str
    """The first message."""
    session: str
    """The session's id."""
    folder: str
    """The folder that the session works in."""
    now: str
    """The time in ISO 8601."""
    version: str
    """The version of the host whose form the session has."""
    environment: Mapping[str, str]
    """The environment variables that locate the host's own files."""


class Beginner(Protocol):
    """Starts sessions of one host: implemented by a module `penstock.hosts.beginning.HOST`."""

    def sibling(self, folder: str, environment: Mapping[str, str]) -> str:
        """Return the path of a fictitious session of a folder, from which that of a new one is derived. Raises OSError."""
        ...

    def records(self, first: First) -> list[Record]:
        """Return the records of a new session, which are written one per line."""
        ...


class Begun(NamedTuple):
    """A session that was started."""

    session: str
    """The id of the session."""
    path: str
    """The file of the session."""
    prepare: tuple[str, ...]
    """The host's command that imports the file first; empty for a host that reads the file itself."""
    resume: tuple[str, ...]
    """The host's command that resumes the session, to be run in its folder."""


def begin(host: str, text: str, folder: str, environment: Mapping[str, str]) -> Begun:
    """Write a new session of a host whose first message is the user's, and return it.

    Args:
        host: one of `BEGINNERS`.
        text: the message.
        folder: the folder that the session works in.
        environment: the variables that locate the host's own folder.

    Raises:
        CallerError: Sessions of that host cannot be started, or not before its first use.
        OSError: The file could not be written.
    """
    if host not in BEGINNERS:
        raise CallerError(f"A session can be begun in {', '.join(BEGINNERS)}, not in {host!r}.")
    folder = os.path.realpath(folder)
    beginner = cast("Beginner", import_module(f"{__name__}.{host}"))
    writer = writer_of(host)
    session, path = writer.new_session(beginner.sibling(folder, environment))
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    version = KNOWN_HOSTS[host].versions[-1]
    records = beginner.records(First(text, session, folder, now, version, environment))
    make_folders(os.path.dirname(path))
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    replace_own(path, lines.encode("utf-8", "surrogatepass"))
    return Begun(session, path, tuple(writing.prepare(host, path)), tuple(writing.resume(host, session)))

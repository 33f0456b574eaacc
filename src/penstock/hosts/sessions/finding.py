"""Which sessions of other agents are on this machine, and which one is meant?

Leaves to others: the content of a session.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError
from penstock.hosts.sessions import READERS, host_of, reader_of
from penstock.hosts.sessions.known_hosts import KNOWN_HOSTS, home_of
from penstock.hosts.sessions.records import opened
from penstock.text import escape
from penstock.workspace.own_files import own_files_like

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_ID_CHARS = 6  # fewer would be ambiguous


class FoundSession(NamedTuple):
    """A session's file on this machine."""

    host: str
    path: str
    updated: float
    """When a session's file was last written, in seconds since 1970."""


class NamedSession(NamedTuple):
    """A session that somebody named."""

    host: str
    path: str
    """The file of a session, absolute."""


def sessions_here(environment: Mapping[str, str], hosts: Collection[str] = READERS) -> list[FoundSession]:
    """Return the sessions of hosts on this machine, the newest first.

    Args:
        environment: the variables that locate the hosts' folders.
        hosts: whose sessions; a subset of `READERS`.
    """
    files = []
    for host in hosts:
        for path in paths_of(host, environment):
            with suppress(OSError):  # gone since it was found
                files.append(FoundSession(host, path, os.stat(path).st_mtime))
    return sorted(files, key=lambda file: -file.updated)


def paths_of(host: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths of a host's sessions on this machine, in no order; child agents' sessions are excluded."""
    home = home_of(host, environment)
    for pattern in KNOWN_HOSTS[host].sessions:
        files = own_files_like(home, pattern)
        yield from (path for path in files if not os.path.basename(path).startswith("agent-"))


def session_named(name: str, environment: Mapping[str, str]) -> NamedSession:
    """Return the session named by its file, or by its id or a prefix of it.

    Args:
        name: what was typed; a file takes precedence over an id.
        environment: the variables that locate the hosts' folders.

    Raises:
        OSError: There is no such file, or it cannot be opened.
        CallerError: It names no session, or several, or a file that is not a session of a known host.
    """
    path = name
    if not os.path.lexists(name) and len(name) >= _ID_CHARS and os.sep not in name:
        here = sessions_here(environment)
        # Gemini CLI puts eight characters of the id into the file name.
        found = [file.path for file in here if name in os.path.basename(file.path)] or [
            file.path for file in here if name[:8] in file.path and _id_of(file).startswith(name)
        ]
        if len(found) > 1:
            raise CallerError(
                f"{len(found)} sessions have {escape.clip(name)} in their names, such as {escape.clip(found[0])}."
            )
        path = found[0] if found else name
    if os.sep not in path and not os.path.lexists(path):
        short = f" (at least {_ID_CHARS} characters of one)" if len(name) < _ID_CHARS else ""
        said = f"There is no file {escape.clip(name)}, and no session has an ID{short} that begins with it."
        raise CallerError(f"{said} Those that are here: penstock inspect") from FileNotFoundError(path)
    if os.path.isdir(path):
        said = f"{escape.clip(path)} is a folder. The sessions that are here: penstock inspect"
        raise CallerError(said) from IsADirectoryError(path)
    host = host_of(path)
    if host is None:
        raise CallerError(
            f"{escape.clip(path)} is not a session of {', '.join(READERS)}. Those that are here: penstock inspect"
        )
    return NamedSession(host, os.path.abspath(path))


def _id_of(file: FoundSession) -> str:
    """Return the id in a session's file; empty if it cannot be read."""
    with suppress(OSError, CallerError), opened(file.path) as content:
        return reader_of(file.host).head(content, file.path).session
    return ""

"""Does a host have this session open, according to its own signs?

Law: a sign that cannot be read, or that a killed host left behind, does not count. Nothing is changed; a free lock is held for an
instant, shared. Leaves to others: what follows from it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.hosts.sessions.known_hosts import KNOWN_HOSTS
from penstock.text.json_access import string, whole_number
from penstock.workspace import locks
from penstock.workspace.own_files import open_regular, own_files_like, read_own

if TYPE_CHECKING:
    from penstock.text.json_access import Json


_ID = re.compile(r"[\w-]{1,200}", re.ASCII)


def find_live_sign(host: str, path: str, session: str) -> str | None:
    """Return the path of the sign that a host has a session open; None if there is none.

    Args:
        host: whose session it is.
        path: the session's file.
        session: the session's id in its records.
    """
    sign = KNOWN_HOSTS[host].live
    home = None if sign is None else _home_of(path, sign.beneath)
    names = {session, os.path.basename(path).partition(".")[0]} - {""}
    if sign is None or home is None:
        return None
    # A name that is not an id would be searched elsewhere, or as a pattern.
    patterns = {sign.pattern.replace("{session}", name) for name in names if _ID.fullmatch(name)}
    for pattern in sorted(patterns):
        for found in own_files_like(home, pattern):
            with suppress(OSError, CallerError):
                if _is_held(found) if sign.is_lock else _is_running(found, names):
                    return found
    return None


def _home_of(path: str, beneath: str) -> str | None:
    """Return the parent of the nearest folder with this name above a file; None if there is none."""
    folder = os.path.dirname(os.path.realpath(path))
    while os.path.basename(folder) != beneath:
        if os.path.dirname(folder) == folder:
            return None
        folder = os.path.dirname(folder)
    return os.path.dirname(folder)


def _is_held(path: str) -> bool:
    """Return whether somebody holds the lock of a file. Raises OSError."""
    with open_regular(path) as file:
        if not locks.acquire(file.fileno(), is_shared=True):
            return True
        locks.release(file.fileno())
    return False


def _is_running(path: str, sessions: set[str]) -> bool:
    """Return whether the process that a file names is running with one of these sessions open. Raises OSError."""
    try:
        noted = json.loads(read_own(path) or b"{}")
    except (ValueError, RecursionError):
        return False
    process = whole_number(noted.get("pid")) if isinstance(noted, dict) else None
    return bool(process) and string(noted.get("sessionId")) in sessions and _lives(process or 0, noted)


def _lives(process: int, noted: Json) -> bool:
    """Return whether the process that was recorded here is still running, and not a later one with its number."""
    if sys.platform == "win32":  # on Windows the check itself would end the process
        return True
    if os.path.exists("/proc/self/stat"):
        space = string(noted.get("pidDomain")).rpartition("pid:[")[2]
        if space and os.readlink("/proc/self/ns/pid") != f"pid:[{space}":
            return True  # in another container: its number means nothing here
        status = read_own(f"/proc/{process}/stat")
        if status is None:
            return False
        # The name in brackets may hold anything; the start time is the 20th field after it (proc(5)), in ticks since boot.
        began = status.rpartition(b")")[2].split()[19].decode()
        return string(noted.get("procStart")) in {"", began}
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True

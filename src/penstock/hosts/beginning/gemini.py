"""How is a session of Gemini CLI started, in the folder that it keeps for a project: named after it, with its path in a
file?
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.hosts.sessions.gemini import OWNER, owner_of
from penstock.hosts.sessions.known_hosts import home_of
from penstock.text.json_access import field
from penstock.wires.placeholders import NOTED
from penstock.workspace.own_files import create_own, make_folders, own_files_like, read_own

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record


def sibling(folder: str, environment: Mapping[str, str]) -> str:
    """Return the path of a fictitious session of a folder; a name is claimed for a folder without one. Raises OSError."""
    own = home_of("gemini", environment)
    projects = map(os.path.dirname, own_files_like(os.path.join(own, "tmp"), f"*/{OWNER}"))
    held = next((project for project in projects if owner_of(project) == folder), None)
    return os.path.join(held or _claimed(own, folder), "chats", "none")


def records(first: First) -> list[Record]:
    """Return the records of a new session: an answer follows the message, so that roles alternate."""
    digest = hashlib.sha256(first.folder.encode("utf-8", "surrogatepass")).hexdigest()
    times = {"startTime": first.now, "lastUpdated": first.now}
    said = [{"type": "user", "content": [{"text": first.text}]}, {"type": "gemini", "content": [{"text": NOTED}]}]
    return [
        {"sessionId": first.session, "projectHash": digest, **times, "kind": "main"},
        *({"id": str(uuid.uuid4()), "timestamp": first.now, **one} for one in said),
    ]


def _claimed(own: str, folder: str) -> str:
    """Return a new project folder that names its owner, created as the host does it; or the one that the host has noted."""
    known: object = None
    with suppress(CallerError, ValueError, RecursionError):
        known = json.loads(read_own(os.path.join(own, "projects.json")) or b"{}")
    names = field(known, "projects")
    names = names if isinstance(names, dict) else {}
    plain = re.sub(r"[^a-z0-9]+", "-", os.path.basename(folder).lower()).strip("-") or "project"
    numbered = (f"{plain}-{number}" if number else plain for number in itertools.count())
    free = (name for name in numbered if name not in names.values())
    noted = names.get(folder)
    for name in itertools.chain([noted] if isinstance(noted, str) else [], free):
        project = os.path.join(own, "tmp", os.path.basename(name))
        make_folders(project)
        if create_own(os.path.join(project, OWNER), folder.encode("utf-8", "surrogatepass")):
            return project
    raise AssertionError("numbers end")

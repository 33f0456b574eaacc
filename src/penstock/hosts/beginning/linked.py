"""How is a session started for a host whose records name their predecessor, as Claude Code's and qwen-code's do?"""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record


def project(folder: str) -> str:
    """Return a folder's name as these hosts write it: only letters, digits and hyphens."""
    return re.sub(r"[^A-Za-z0-9]", "-", folder)


def linked(said: Iterable[Record], first: First, **frame: object) -> list[Record]:
    """Return records, each of which names the one before it.

    Args:
        said: their contents.
        first: what the session starts with.
        frame: further members of each record.
    """
    frame = {"sessionId": first.session, "timestamp": first.now, "cwd": first.folder, "version": first.version, **frame}
    made: list[Record] = []
    for one in said:
        before = made[-1]["uuid"] if made else None
        made.append({"parentUuid": before, "uuid": str(uuid.uuid4()), **frame, **one})
    return made

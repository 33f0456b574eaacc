"""How is a session of Copilot CLI started (1.0.102)?"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

from penstock.wires.placeholders import NOTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record


def sessions_folder(_folder: str, environment: Mapping[str, str]) -> str:
    """Return where the host keeps its sessions, whatever their folder."""
    own = environment.get("COPILOT_HOME") or os.path.join(environment.get("HOME", ""), ".copilot")
    return os.path.join(own, "session-state")


def records(first: First) -> list[Record]:
    """Return the events of a new session, each of which names the one before it."""
    about = {"sessionId": first.session, "version": 1, "producer": "penstock", "copilotVersion": "1.0.102"}
    words = {"content": first.text, "transformedContent": first.text, "attachments": []}
    said: list[Record] = [
        {"type": "session.start", "data": {**about, "startTime": first.now, "context": {"cwd": first.folder}}},
        {"type": "user.message", "data": {"messageId": str(uuid.uuid4()), **words}},
        {"type": "assistant.message", "data": {"messageId": str(uuid.uuid4()), "content": NOTED, "toolRequests": []}},
    ]
    made: list[Record] = []
    for one in said:
        before = made[-1]["id"] if made else None
        made.append({**one, "id": str(uuid.uuid4()), "timestamp": first.now, "parentId": before})
    return made

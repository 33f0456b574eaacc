"""How is a session of Copilot CLI started?"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

from penstock.hosts.sessions.known_hosts import home_of
from penstock.wires.placeholders import NOTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record


def sibling(_folder: str, environment: Mapping[str, str]) -> str:
    """Return the path of a fictitious session, whatever its folder: each is in a folder of its own."""
    return os.path.join(home_of("copilot", environment), "session-state", "none", "events.jsonl")


def records(first: First) -> list[Record]:
    """Return the events of a new session, each of which names the one before it."""
    about = {"sessionId": first.session, "version": 1, "producer": "penstock", "copilotVersion": first.version}
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

"""How is a session of Claude Code started?"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

from penstock.hosts.beginning.linked import linked, project
from penstock.hosts.sessions.known_hosts import home_of
from penstock.wires.placeholders import NOTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record

_SYNTHETIC = "<synthetic>"  # the model name of the host's own messages


def sibling(folder: str, environment: Mapping[str, str]) -> str:
    """Return the path of a fictitious session of a folder."""
    return os.path.join(home_of("claude", environment), "projects", project(folder), "none")


def records(first: First) -> list[Record]:
    """Return the records of a new session.

    An answer follows the message, because an unanswered one counts as interrupted. After a person's message the host inserts its
    own reminder, and if none is recorded an empty message, which a provider refuses: hence the date.
    """
    day = first.now[:10]
    words = f"<system-reminder>\nToday's date is {day}.\n</system-reminder>"
    dated = {"attachment": {"type": "date", "date": day}, "rendered": [{"content": words}], "renderedRole": "system"}
    answer = {"role": "assistant", "type": "message", "id": f"msg_{uuid.uuid4().hex}", "model": _SYNTHETIC}
    said: list[Record] = [
        {"type": "user", "message": {"role": "user", "content": first.text}},
        {"type": "attachment", **dated},
        {"type": "assistant", "message": {**answer, "content": [{"type": "text", "text": NOTED}]}},
    ]
    return linked(said, first, isSidechain=False, userType="external")

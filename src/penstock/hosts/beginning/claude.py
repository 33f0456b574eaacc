"""How is a session of Claude Code started (2.1.332)?"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

from penstock.hosts.beginning.linked import linked, project
from penstock.wires.placeholders import NOTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record

_SYNTHETIC = "<synthetic>"  # the model name of the host's own messages


def sessions_folder(folder: str, environment: Mapping[str, str]) -> str:
    """Return where the host keeps the sessions of a folder."""
    own = environment.get("CLAUDE_CONFIG_DIR") or os.path.join(environment.get("HOME", ""), ".claude")
    return os.path.join(own, "projects", project(folder))


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
    return linked(said, first, "2.1.332", isSidechain=False, userType="external")

"""Begin a session of Claude Code (2.1.332)."""

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

_SYNTHETIC = "<synthetic>"  # the model of what the host itself says


def sessions_folder(folder: str, environment: Mapping[str, str]) -> str:
    """Return where the host keeps the sessions of a folder."""
    own = environment.get("CLAUDE_CONFIG_DIR") or os.path.join(environment.get("HOME", ""), ".claude")
    return os.path.join(own, "projects", project(folder))


def records(first: First) -> list[Record]:
    """Return the records of a new session.

    An answer stands behind the message, since one that was not answered is taken for broken off. Behind what a person said the host
    puts what it says itself, and where nothing of that is recorded an empty message, which a provider refuses: so the day.
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

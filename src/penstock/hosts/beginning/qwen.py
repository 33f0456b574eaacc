"""How is a session of qwen-code started (0.24.4)?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from penstock.hosts.beginning.linked import linked, project
from penstock.wires.placeholders import NOTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record


def sessions_folder(folder: str, environment: Mapping[str, str]) -> str:
    """Return where the host keeps the sessions of a folder."""
    own = environment.get("QWEN_RUNTIME_DIR") or environment.get("QWEN_HOME")
    own = own or os.path.join(environment.get("HOME", ""), ".qwen")
    return os.path.join(own, "projects", project(folder), "chats")


def records(first: First) -> list[Record]:
    """Return the records of a new session: an answer follows the message, so that it does not count as interrupted."""
    said: list[Record] = [
        {"type": "user", "message": {"role": "user", "parts": [{"text": first.text}]}},
        {"type": "assistant", "message": {"role": "model", "parts": [{"text": NOTED}]}},
    ]
    return linked(said, first, "0.24.4")

"""How is a session of qwen-code started?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from penstock.hosts.beginning.linked import linked, project
from penstock.hosts.sessions.known_hosts import home_of
from penstock.wires.placeholders import NOTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record


def sibling(folder: str, environment: Mapping[str, str]) -> str:
    """Return the path of a fictitious session of a folder."""
    return os.path.join(home_of("qwen", environment), "projects", project(folder), "chats", "none")


def records(first: First) -> list[Record]:
    """Return the records of a new session: an answer follows the message, so that it does not count as interrupted."""
    said: list[Record] = [
        {"type": "user", "message": {"role": "user", "parts": [{"text": first.text}]}},
        {"type": "assistant", "message": {"role": "model", "parts": [{"text": NOTED}]}},
    ]
    return linked(said, first)

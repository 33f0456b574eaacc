"""How is a session of Codex started?"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from penstock.hosts.sessions.known_hosts import home_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record


def sibling(_folder: str, environment: Mapping[str, str]) -> str:
    """Return the path of a fictitious session of today, whatever its folder."""
    today = time.strftime("%Y %m %d", time.gmtime()).split()
    return os.path.join(home_of("codex", environment), "sessions", *today, "none")


def records(first: First) -> list[Record]:
    """Return the records of a new session."""
    about = {"id": first.session, "timestamp": first.now, "cwd": first.folder}
    meta = {**about, "originator": "penstock", "cli_version": first.version, "source": "cli"}
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": first.text}]}
    return [
        {"timestamp": first.now, "type": "session_meta", "payload": meta},
        {"timestamp": first.now, "type": "response_item", "payload": message},
    ]

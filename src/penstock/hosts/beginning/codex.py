"""How is a session of Codex started (0.171.0)?"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record


def sessions_folder(_folder: str, environment: Mapping[str, str]) -> str:
    """Return where the host keeps today's sessions, whatever their folder."""
    own = environment.get("CODEX_HOME") or os.path.join(environment.get("HOME", ""), ".codex")
    return os.path.join(own, "sessions", *time.strftime("%Y %m %d", time.gmtime()).split())


def records(first: First) -> list[Record]:
    """Return the records of a new session."""
    about = {"id": first.session, "timestamp": first.now, "cwd": first.folder}
    meta = {**about, "originator": "penstock", "cli_version": "0.171.0", "source": "cli"}
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": first.text}]}
    return [
        {"timestamp": first.now, "type": "session_meta", "payload": meta},
        {"timestamp": first.now, "type": "response_item", "payload": message},
    ]

"""How is a session of pi started (its format 3; 0.73.1)?"""

from __future__ import annotations

import os
import re
import secrets
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record


def sessions_folder(folder: str, environment: Mapping[str, str]) -> str:
    """Return where the host keeps the sessions of a folder."""
    own = environment.get("PI_CODING_AGENT_DIR") or os.path.join(environment.get("HOME", ""), ".pi", "agent")
    return os.path.join(own, "sessions", f"--{re.sub(r'[/:]', '-', folder.removeprefix('/'))}--".replace("\\", "-"))


def records(first: First) -> list[Record]:
    """Return the records of a new session; there is no answer, because one would have to name a model."""
    content = [{"type": "text", "text": first.text}]
    message = {"role": "user", "content": content, "timestamp": time.time_ns() // 1_000_000}
    entry = {"type": "message", "id": secrets.token_hex(4), "parentId": None, "timestamp": first.now}
    head = {"type": "session", "version": 3, "id": first.session, "timestamp": first.now, "cwd": first.folder}
    return [head, {**entry, "message": message}]

"""How is a session of pi started (its format 3)?"""

from __future__ import annotations

import os
import re
import secrets
import time
from typing import TYPE_CHECKING

from penstock.hosts.sessions.known_hosts import home_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.beginning import First
    from penstock.hosts.sessions.records import Record


def sibling(folder: str, environment: Mapping[str, str]) -> str:
    """Return the path of a fictitious session of a folder."""
    name = re.sub(r"[/:\\]", "-", folder.removeprefix("/"))
    return os.path.join(home_of("pi", environment), "sessions", f"--{name}--", "none")


def records(first: First) -> list[Record]:
    """Return the records of a new session; there is no answer, because one would have to name a model."""
    content = [{"type": "text", "text": first.text}]
    message = {"role": "user", "content": content, "timestamp": time.time_ns() // 1_000_000}
    entry = {"type": "message", "id": secrets.token_hex(4), "parentId": None, "timestamp": first.now}
    head = {"type": "session", "version": 3, "id": first.session, "timestamp": first.now, "cwd": first.folder}
    return [head, {**entry, "message": message}]

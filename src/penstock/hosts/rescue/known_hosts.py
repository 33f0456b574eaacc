"""What is known of the hosts whose sessions are rescued, as data: versions tried, what they send beside messages, when they run.

Law: what was not tried is not in it. Keeps out: how a host writes its file (one module a host).
"""

from __future__ import annotations

from typing import NamedTuple


class LiveSign(NamedTuple):
    """Where a host notes that it has a session open."""

    beneath: str
    """The folder above the session's file in whose parent the sign lies."""
    pattern: str
    """The sign's path from there, as a shell's pattern; `{session}` is the session's id."""
    is_lock: bool
    """Whether the host holds a lock on it while it runs; else it is JSON that names the host's process."""


class KnownHost(NamedTuple):
    """What is known of a host."""

    title: str
    versions: tuple[str, ...]
    """Versions of a host that resumed rescued sessions themselves."""
    overhead_tokens: int
    """Tokens that a host's first request took beside messages, at most: assumed where a session does not show it."""
    live: LiveSign | None = None
    """The sign that a session of a host is open; None where the host does not show it."""


KNOWN_HOSTS: dict[str, KnownHost] = {
    "claude": KnownHost("Claude Code", ("2.1.332",), 32_000, LiveSign("projects", "sessions/*.json", is_lock=False)),
    "codex": KnownHost(
        "Codex", ("0.171.0",), 9_500, LiveSign("sessions", "thread-writer-locks/{session}.lock", is_lock=True)
    ),
    "gemini": KnownHost("Gemini CLI", ("0.61.0",), 12_000),
    "qwen": KnownHost("qwen-code", ("0.24.4",), 19_000),
    "copilot": KnownHost(
        "Copilot CLI",
        ("1.0.102",),
        12_000,
        LiveSign("session-state", "session-state/{session}/inuse.*.hold", is_lock=True),
    ),
    "opencode": KnownHost("opencode", ("1.18.33",), 8_000),
    "pi": KnownHost("pi", ("0.73.1",), 2_000),
}
"""The hosts by name; the tokens are a quarter of the bytes that each sent at first, without any MCP server."""

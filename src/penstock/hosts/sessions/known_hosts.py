"""What is known about the hosts whose sessions are rescued: versions tested, overhead of a request, signs of a running session?

Law: it holds only what was tested. Leaves to others: how a host writes its file (one module per host).
"""

from __future__ import annotations

from typing import NamedTuple


class LiveSign(NamedTuple):
    """Where a host records that it has a session open."""

    beneath: str
    """The name of a folder above the session's file; the sign is in that folder's parent."""
    pattern: str
    """The sign's path from there, as a shell pattern; `{session}` is the session's id."""
    is_lock: bool
    """Whether the host holds a lock on it while it runs; otherwise it is JSON that names the host's process."""


class KnownHost(NamedTuple):
    """What is known about a host."""

    title: str
    versions: tuple[str, ...]
    """Versions of a host with which resuming rescued sessions was tested."""
    overhead_tokens: int
    """Tokens that a host's first request took besides messages, as an upper bound: assumed if a session does not show it."""
    live: LiveSign | None = None
    """The sign that a session of a host is open; None if the host has none."""


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
"""The hosts by name; the tokens are a quarter of the bytes of each host's first request, without any MCP server."""

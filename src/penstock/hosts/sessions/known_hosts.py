"""What is known about the hosts whose sessions are read: where they are, versions tested, overhead of a request, signs of a running
session?

Law: it holds only what was tested. Leaves to others: how a host writes its file (one module per host).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class LiveSign(NamedTuple):
    """Where a host records that it has a session open."""

    beneath: str
    """The name of a folder above the session's file; the sign is in that folder's parent."""
    pattern: str
    """The sign's path from there, as a shell pattern; `{session}` is the session's id."""
    is_lock: bool
    """Whether the host holds a lock on it while it runs; otherwise it is JSON that names the host's process."""


class HomeFolder(NamedTuple):
    """Where a host keeps its own files."""

    variables: tuple[str, ...]
    """Environment variables that move the folder; the first that is set counts."""
    otherwise: tuple[str, ...]
    """The path in the user's home folder if none is set."""
    beneath: tuple[str, ...] = ()
    """The path in the folder that a variable names."""

    def path(self, environment: Mapping[str, str]) -> str:
        """Return the folder's path."""
        moved = next(filter(None, map(environment.get, self.variables)), None)
        return (
            os.path.join(environment.get("HOME", ""), *self.otherwise)
            if not moved
            else os.path.join(moved, *self.beneath)
        )


class KnownHost(NamedTuple):
    """What is known about a host."""

    title: str
    versions: tuple[str, ...]
    """Versions of a host with which reading, beginning and resuming sessions was tested, the newest last."""
    overhead_tokens: int
    """Tokens that a host's first request took besides messages, as an upper bound: assumed if a session does not show it."""
    home: HomeFolder = HomeFolder((), ())
    sessions: tuple[str, ...] = ()
    """The paths of sessions in that folder, as shell patterns; none for a host whose sessions are exported by hand."""
    live: LiveSign | None = None
    """The sign that a session of a host is open; None if the host has none."""


KNOWN_HOSTS: dict[str, KnownHost] = {
    "claude": KnownHost(
        "Claude Code",
        ("2.1.332",),
        32_000,
        HomeFolder(("CLAUDE_CONFIG_DIR",), (".claude",)),
        ("projects/*/*.jsonl",),
        LiveSign("projects", "sessions/*.json", is_lock=False),
    ),
    "codex": KnownHost(
        "Codex",
        ("0.171.0",),
        9_500,
        HomeFolder(("CODEX_HOME",), (".codex",)),
        (
            *("sessions/*/*/*/rollout-*.jsonl", "sessions/*/*/*/rollout-*.jsonl.zst"),
            *("archived_sessions/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl.zst"),
        ),
        LiveSign("sessions", "thread-writer-locks/{session}.lock", is_lock=True),
    ),
    "gemini": KnownHost(
        "Gemini CLI",
        ("0.61.0",),
        12_000,
        HomeFolder(("GEMINI_CLI_HOME",), (".gemini",), (".gemini",)),
        ("tmp/*/chats/session-*.jsonl", "tmp/*/chats/session-*.json"),
    ),
    "qwen": KnownHost(
        "qwen-code",
        ("0.24.4",),
        19_000,
        HomeFolder(("QWEN_RUNTIME_DIR", "QWEN_HOME"), (".qwen",)),
        ("projects/*/chats/*.jsonl",),
    ),
    "copilot": KnownHost(
        "Copilot CLI",
        ("1.0.102",),
        12_000,
        HomeFolder(("COPILOT_HOME",), (".copilot",)),
        ("session-state/*/events.jsonl",),
        LiveSign("session-state", "session-state/{session}/inuse.*.hold", is_lock=True),
    ),
    "opencode": KnownHost("opencode", ("1.18.33",), 8_000),
    "pi": KnownHost(
        "pi", ("0.73.1",), 2_000, HomeFolder(("PI_CODING_AGENT_DIR",), (".pi", "agent")), ("sessions/*/*.jsonl",)
    ),
}
"""The hosts by name; the tokens are a quarter of the bytes of each host's first request, without any MCP server."""


def home_of(host: str, environment: Mapping[str, str]) -> str:
    """Return the folder in which a host keeps its own files."""
    return KNOWN_HOSTS[host].home.path(environment)

"""How much does this host show of a result? One table, measured.

Every host cuts tool results, each at another size, and the model then sees a preview or a hole. A result of ours is
smaller than the cut of the host that asked. The name comes from `clientInfo`, which anyone may write: it tunes the
size, it decides nothing else. Keeps out: how a text is made to fit.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.text.allowance import Allowance


class Host(NamedTuple):
    """`client` is how its `clientInfo.name` starts; `cut` is what it was measured to do, with the version."""

    client: str
    allowance: Allowance
    cut: str


# Measured against a loopback model (`proof/hosts.py`); VS Code is from its source. A little below each cut, because
# some hosts count their own frame with it.
HOSTS = (
    Host("claude-code", Allowance.chars(45_000), "50,000 characters (2.1.329)"),
    # Its model is not known to us; 48,000 for those in its catalogue, 12,000 for all others.
    Host("codex-mcp-client", Allowance.chars(11_000), "12,000 characters (0.169.0)"),
    Host("gemini-cli-mcp-client", Allowance.chars(38_000), "40,000 characters with its frame (0.61.0)"),
    Host("opencode", Allowance.bytes(48_000), "51,200 bytes or 2,000 lines (1.18.33)"),
    Host("qwen-cli-mcp-client", Allowance.chars(26_000), "between 28,000 and 30,000 characters (0.24.4)"),
    Host("copilot-cli", Allowance.bytes(19_000), "20,480 bytes (1.0.102)"),
    Host("Visual Studio Code", Allowance.bytes(8_000), "8 KB"),
)
UNKNOWN = Allowance.chars(16_000)  # below every cut that was measured but those of Codex and VS Code, which are named


def allowance_for(client: str | None, budget_chars: int | None = None) -> Allowance:
    """What a result for this client may measure; `budget_chars` is what the person asked for and wins."""
    if budget_chars is not None:
        return Allowance.chars(budget_chars)
    return next((host.allowance for host in HOSTS if client is not None and client.startswith(host.client)), UNKNOWN)

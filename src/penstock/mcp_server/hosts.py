"""How much of a result does each host show? One table of measurements.

Every host cuts tool results, each at another size, and the model then sees a preview or a hole. Our results are smaller than the
cut of the host that asked. The name comes from `clientInfo`, which anyone may write: it tunes the size and decides nothing else.
Leaves to others: how a text is made to fit (`text.fitting`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from penstock.text.allowance import Allowance


class Host(NamedTuple):
    """A host and the size of result that arrives whole in it."""

    client: str
    """The beginning of the host's `clientInfo.name`."""
    allowance: Allowance
    """What a result may measure there: a little less than its cut."""
    cut: str
    """What a host was measured to do with a long result, with the version."""
    shows: Literal["text", "structured", "both"] = "both"
    """What a host's model receives of a result that has text and structured content."""


# Measured against a loopback model (`proof/hosts.py`); VS Code is from its source. A little below each cut, because some hosts
# include their own frame in the count.
HOSTS = (
    Host("claude-code", Allowance.chars(45_000), "50,000 characters (2.1.329)", "structured"),
    # We do not know its model; 48,000 for those in its catalogue, 12,000 for all others.
    Host("codex-mcp-client", Allowance.chars(11_000), "12,000 characters (0.169.0)", "structured"),
    Host("gemini-cli-mcp-client", Allowance.chars(38_000), "40,000 characters with its frame (0.61.0)", "text"),
    Host("opencode", Allowance.bytes(48_000), "51,200 bytes or 2,000 lines (1.18.33)", "text"),
    Host("qwen-cli-mcp-client", Allowance.chars(26_000), "between 28,000 and 30,000 characters (0.24.4)"),
    Host("copilot-cli", Allowance.bytes(19_000), "20,480 bytes (1.0.102)"),
    Host("Visual Studio Code", Allowance.bytes(8_000), "8 KB"),
)
"""The hosts that were measured, each with the size of result that arrives whole in it."""
UNKNOWN = Allowance.chars(16_000)  # below every measured cut except those of Codex and VS Code, which are listed
"""The allowance of a client that is not in the table."""


def host_for(client: str | None) -> Host | None:
    """Return the host that a client is, judged by its name; None if it is not in the table."""
    return next((host for host in HOSTS if client is not None and client.startswith(host.client)), None)


def allowance_for(client: str | None, budget_chars: int | None = None) -> Allowance:
    """Return what a result for this client may measure.

    Args:
        client: The name that it gave itself; None if it gave none.
        budget_chars: The person's limit, in characters; it overrides the table.
    """
    if budget_chars is not None:
        return Allowance.chars(budget_chars)
    host = host_for(client)
    return UNKNOWN if host is None else host.allowance

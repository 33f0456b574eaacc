"""How is a tool listed over MCP? With the hints and the size of results that hosts look for; by the server and by the relay."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.tools import Tool

# The most that Claude Code shows; if a tool states it in the list, results are not also cut by tokens.
_RESULT_CHARS = 50_000
# The most that Claude Code accepts there.
_MAX_RESULT_CHARS = 500_000


def entry_of(tool: Tool, prefix: str, budget_chars: int | None = None) -> dict[str, object]:
    """Return a tool as an entry of a list: one that only reads.

    Args:
        tool: The tool.
        prefix: Before its name.
        budget_chars: The person's limit of a result; None for what hosts show.
    """
    hints = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
    return {
        "name": prefix + tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.schema(),
        "annotations": {"title": tool.title, **hints},
        "_meta": {"anthropic/maxResultSizeChars": min(_MAX_RESULT_CHARS, max(_RESULT_CHARS, budget_chars or 0))},
    }

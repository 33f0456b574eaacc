"""Read a session of Codex: `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl` (0.169.0).

Its `response_item` records are the items of the provider's API; the others are copies of them, settings and figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import objects, role_of, string, type_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.hosts.sessions.records import Counts, Record
    from penstock.text.json_access import Json

WIRE = "openai-responses"
_OTHERS = frozenset(
    {
        "compacted",
        "event_msg",
        "session_meta",
        "token_usage_record",
        "turn_context",
        "world_state",
        "inter_agent_communication",
    }
)
# What the host writes in a person's name.
_OF_THE_HOST = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<hook_prompt",
    "<skill>",
    "<subagent_notification>",
    "<user_shell_command>",
)


def messages(records: Iterable[Record], counts: Counts) -> list[Json]:
    """Return the items of a session in their order, without instructions."""
    made: list[Json] = []
    for record in records:
        item = record.get("payload")
        if record.get("type") == "response_item" and isinstance(item, dict):
            if not _is_of_the_host(item):
                made.append(item)
        elif type_of(record) not in _OTHERS:
            counts.unknown += 1
    return made


def _is_of_the_host(item: Record) -> bool:
    if item.get("type") != "message":
        return False
    if role_of(item) in {"developer", "system"}:
        return True
    first = next((string(block.get("text")) for block in objects(item.get("content"))), "")
    return role_of(item) == "user" and first.lstrip().startswith(_OF_THE_HOST)

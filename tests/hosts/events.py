"""What do three hosts pass to their hooks? As observed with Claude Code 2.1.330, Codex 0.169.0 and Gemini CLI 0.61.0."""

from __future__ import annotations

import json
from typing import Any

Event = dict[str, Any]


def claude(tool: str, response: object, **more: object) -> Event:
    """Return the event after a call in Claude Code."""
    return {
        "session_id": "6f5ffedc",
        "transcript_path": "/home/me/.claude/projects/p/6f5ffedc.jsonl",
        "cwd": "/home/me/p",
        "prompt_id": "e0900775",
        "permission_mode": "default",
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": {"command": "make"},
        "tool_response": response,
        "tool_use_id": "toolu_1",
        "duration_ms": 147,
        **more,
    }


def bash(stdout: str, stderr: str = "", **more: object) -> Event:
    """Return the event after a command in Claude Code."""
    response = {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False, "noOutputExpected": False}
    return claude("Bash", {**response, **more})


def codex(tool: str, response: object) -> Event:
    """Return the event after a call in Codex."""
    return {
        "session_id": "01a20670",
        "turn_id": "01a20671",
        "transcript_path": "/home/me/.codex/sessions/rollout.jsonl",
        "cwd": "/home/me/p",
        "hook_event_name": "PostToolUse",
        "model": "local",
        "permission_mode": "default",
        "tool_name": tool,
        "tool_input": {"command": "make"},
        "tool_response": response,
        "tool_use_id": "c",
    }


def gemini(tool: str, content: object) -> Event:
    """Return the event after a call in Gemini CLI."""
    return {
        "session_id": "e1539963",
        "transcript_path": "/home/me/.gemini/tmp/p/chats/s.jsonl",
        "cwd": "/home/me/p",
        "hook_event_name": "AfterTool",
        "timestamp": "2026-11-23T03:26:18.299Z",
        "tool_name": tool,
        "tool_input": {"command": "make"},
        "tool_response": {"llmContent": content, "returnDisplay": "…"},
    }


def blocks(*texts: str) -> list[Event]:
    """Return content of MCP."""
    return [{"type": "text", "text": text} for text in texts]


def raw(event: Event) -> bytes:
    """Return the event as a host writes it."""
    return json.dumps(event).encode()

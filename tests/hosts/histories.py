"""How do three hosts write session files? As observed with Claude Code 2.1.330, Codex 0.169.0 and Gemini CLI 0.61.0."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Record = dict[str, Any]
Step = tuple[str, str, dict[str, Any], str, bool]
"""A call: id, tool, arguments, result, and whether it failed."""


def lines(records: list[Record]) -> str:
    """Return records as a host writes them."""
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


class Claude:
    """A growing session, in which every record names the one before it."""

    def __init__(self) -> None:
        self.records: list[Record] = [{"type": "queue-operation", "operation": "enqueue", "sessionId": "s"}]
        self.last: str | None = None
        self.answers = 0

    def add(self, kind: str, content: object, *, after: str | None = None, **more: object) -> str:
        """Add a record; return its id."""
        uuid = f"u{len(self.records)}"
        role = "assistant" if kind == "assistant" else "user"
        message = {"role": role, "content": content, **({"id": more.pop("answer")} if "answer" in more else {})}
        parent = self.last if after is None else after
        self.records.append(
            {"parentUuid": parent, "isSidechain": False, "type": kind, "message": message, "uuid": uuid, **more}
        )
        self.last = uuid
        return uuid

    def says(self, text: str) -> None:
        """Add words of the person."""
        self.add("user", text, promptSource="sdk")

    def answers_with(self, text: str) -> None:
        """Add an answer of the model."""
        self.answers += 1
        self.add("assistant", [{"type": "text", "text": text}], answer=f"m{self.answers}")

    def measured(self, tokens: int, model: str = "claude-opus-5", cached: int = 0) -> None:
        """Record what the provider counted for the request of the newest answer."""
        usage = {"input_tokens": tokens - cached, "cache_read_input_tokens": cached, "output_tokens": 5}
        self.records[-1]["message"] |= {"usage": usage, "model": model}

    def is_refused(self, words: str = "Prompt is too long") -> None:
        """Add what the host writes if the provider refuses."""
        self.add("assistant", [{"type": "text", "text": words}], isApiErrorMessage=True)

    def calls(self, *steps: Step) -> None:
        """Add calls of one answer; each result follows the record of its own call."""
        self.answers += 1
        made = [
            self.add(
                "assistant", [{"type": "tool_use", "id": id_, "name": tool, "input": given}], answer=f"m{self.answers}"
            )
            for id_, tool, given, _, _ in steps
        ]
        for record, (id_, _, _, result, failed) in zip(made, steps, strict=True):
            block = {
                "type": "tool_result",
                "tool_use_id": id_,
                "content": result,
                **({"is_error": True} if failed else {}),
            }
            self.add("user", [block], after=record)


def codex(*said: str | list[str] | Step) -> list[Record]:
    """Return a session of Codex: texts of the person, `[text]` of the model, and calls."""

    def item(payload: Record) -> Record:
        return {"timestamp": "t", "type": "response_item", "payload": payload}

    def message(role: str, kind: str, text: str) -> Record:
        return item({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})

    made = [
        {"timestamp": "t", "type": "session_meta", "payload": {"id": "s", "cwd": "/p"}},
        message("developer", "input_text", "<skills_instructions>"),
        message("user", "input_text", "<environment_context>\n  <cwd>/p</cwd>"),
    ]
    for one in said:
        if isinstance(one, str):
            made.append(message("user", "input_text", one))
        elif isinstance(one, list):
            made.append(message("assistant", "output_text", one[0]))
        else:
            id_, tool, given, result, failed = one
            made.append(item({"type": "function_call", "name": tool, "arguments": json.dumps(given), "call_id": id_}))
            head = f"Chunk ID: 62516d\nWall time: 2.8 seconds\nProcess exited with code {int(failed)}\n"
            out = f"{head}Original token count: 1\nOutput:\n{result}" if tool == "exec_command" else result
            made.append(item({"type": "function_call_output", "call_id": id_, "output": out}))
            made.append({"timestamp": "t", "type": "event_msg", "payload": {"type": "item_completed"}})
    return made


def gemini(*said: str | list[str] | Step) -> list[Record]:
    """Return a session of Gemini CLI: an answer is written twice, its results a third time."""
    context = {"id": "c", "type": "user", "content": [{"text": "<session_context>\nThis is the Gemini CLI."}]}
    made: list[Record] = [{"sessionId": "s", "projectHash": "h", "kind": "main"}, {"$set": {"messages": [context]}}]
    for number, one in enumerate(said):
        if isinstance(one, str):
            made.append(
                {
                    "id": f"u{number}",
                    "type": "user",
                    "content": [{"text": f"<hook_context>ours</hook_context>\n\n{one}"}],
                }
            )
        elif isinstance(one, list):
            made.append({"id": f"g{number}", "type": "gemini", "content": one[0]})
        else:
            id_, tool, given, result, failed = one
            response = {"functionResponse": {"id": id_, "name": tool, "response": {"output": result}}}
            call = {
                "id": id_,
                "name": tool,
                "args": given,
                "result": [response],
                "status": "error" if failed else "success",
            }
            made += [
                {"id": f"g{number}", "type": "gemini", "content": ""},
                {"id": f"g{number}", "type": "gemini", "content": "", "toolCalls": [call]},
                {"id": f"r{number}", "type": "user", "content": [response]},
            ]
        made.append({"$set": {"lastUpdated": "t"}})
    return made


def written(path: Path, records: list[Record], tail: str = "") -> str:
    """Write a file of records, ending with an unfinished one."""
    path.write_text(lines(records) + tail)
    return str(path)

"""How does a provider write an answer? A reply as the response's body of each wire, whole.

Law: the provider's own client reads it; ids differ within a conversation; the same request in the same place gets the same body,
so there is no clock in it. Keeps out: streams (`penstock.testing`), refusals.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.models.steps import Reply
    from penstock.transcript.shapes import Json


def answer(reply: Reply, wire: str, *, number: int, model: str, input_tokens: int, output_tokens: int) -> Json:
    """The body for the `number`-th request."""
    return _WIRES[wire](reply, number, model, input_tokens, output_tokens)


def said(reply: Reply) -> str:
    """All that a reply costs: its words, the names of its calls and their arguments."""
    return "\n".join([reply.text, *(text for call in reply.calls for text in call)]).strip()


def _chat(reply: Reply, number: int, model: str, given: int, made: int) -> Json:
    message: Json = {"role": "assistant", "content": reply.text or None if reply.calls else reply.text, "refusal": None}
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call_{number}_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(reply.calls, 1)
        ]
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": "tool_calls" if reply.calls else "stop",
    }
    usage = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 0, "model": model}
    return {**head, "choices": [choice], "usage": usage}


def _responses(reply: Reply, number: int, model: str, given: int, made: int) -> Json:
    output: list[Json] = []
    if reply.text or not reply.calls:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        said = {"type": "message", "id": f"msg_{number}", "status": "completed", "role": "assistant"}
        output.append({**said, "content": content})
    for n, (name, arguments) in enumerate(reply.calls, 1):
        call = {"type": "function_call", "id": f"fc_{number}_{n}", "call_id": f"call_{number}_{n}", "name": name}
        output.append({**call, "arguments": arguments, "status": "completed"})
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": given + made,
        },
    }


def _anthropic(reply: Reply, number: int, model: str, given: int, made: int) -> Json:
    content: list[Json] = [{"type": "text", "text": reply.text}] if reply.text else []
    for n, (name, arguments) in enumerate(reply.calls, 1):
        content.append({"type": "tool_use", "id": f"toolu_{number}_{n}", "name": name, "input": json.loads(arguments)})
    usage = {"input_tokens": given, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": made},
    }


_WIRES = {"openai-chat": _chat, "openai-responses": _responses, "anthropic": _anthropic}

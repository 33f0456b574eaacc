"""Would the provider accept this request? This checker of request bodies shares no code with the package.

It reads raw JSON as documented for Anthropic's Messages API, OpenAI's Responses API, Chat Completions and Gemini's API: each
call has exactly one result after it and before the next turn of the user, roles alternate if they have to, no text is empty,
ids are unique, thinking is signed.
"""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]


def complaints(body: Body) -> list[str]:
    """Return what a provider would refuse in a request; empty if it is valid."""
    if isinstance(body.get("contents"), list):
        return _gemini(body["contents"])
    if isinstance(body.get("input"), list):
        return _responses(body["input"])
    messages = body["messages"]
    is_chat = any("function" in tool for tool in body.get("tools") or ()) or "max_tokens" not in body
    is_chat = is_chat or any(one["role"] == "tool" or "tool_calls" in one for one in messages)
    return _chat(messages) if is_chat else _anthropic(messages)


def _anthropic(messages: list[Body]) -> list[str]:
    found: list[str] = []
    ids: set[str] = set()
    waiting: list[str] = []
    before = ""
    for at, message in enumerate(messages):
        role, content = message["role"], message["content"]
        if role not in {"user", "assistant", "system"}:
            found.append(f"{at}: role {role}")
        if role == before == "assistant":
            found.append(f"{at}: two answers in a row")
        if at == 0 and role == "assistant":
            found.append("the first message is an answer")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not blocks:
            found.append(f"{at}: no content")
        results = [block for block in blocks if block["type"] == "tool_result"]
        if waiting and role != "system":
            answered = [block["tool_use_id"] for block in results]
            if role != "user" or sorted(answered) != sorted(waiting):
                found.append(f"{at}: calls {waiting} are answered by {answered}")
            elif any(block["type"] != "tool_result" for block in blocks[: len(results)]):
                found.append(f"{at}: something stands before a result")
            waiting = []
        elif results:
            found.append(f"{at}: results without calls")
        for block in blocks:
            found += [f"{at}: {words}" for words in _anthropic_block(block, role, ids)]
            if block["type"] == "tool_use":
                waiting.append(block["id"])
        before = before if role == "system" else role
    return found + [f"calls {waiting} have no result"] * bool(waiting)


def _anthropic_block(block: Body, role: str, ids: set[str]) -> list[str]:
    found = []
    kind = block["type"]
    if kind == "text" and not block["text"].strip():
        found.append("an empty text")
    if kind == "thinking" and not block.get("signature"):
        found.append("thinking without a signature")
    if kind in {"thinking", "redacted_thinking", "tool_use"} and role != "assistant":
        found.append(f"{kind} of {role}")
    if kind == "tool_use":
        if block["id"] in ids:
            found.append(f"{block['id']} twice")
        ids.add(block["id"])
        if not isinstance(block["input"], dict):
            found.append("input is no object")
    if kind == "tool_result" and isinstance(block.get("content"), list):
        found += [
            "an empty text in a result"
            for inner in block["content"]
            if inner["type"] == "text" and not inner["text"].strip()
        ]
    return found


def _responses(items: list[Body]) -> list[str]:
    found: list[str] = []
    waiting: set[str] = set()
    seen: set[str] = set()
    for at, item in enumerate(items):
        kind = item.get("type", "message")
        if kind in {"function_call", "custom_tool_call", "local_shell_call"}:
            if item["call_id"] in seen:
                found.append(f"{at}: {item['call_id']} twice")
            seen.add(item["call_id"])
            waiting.add(item["call_id"])
        elif kind in {"function_call_output", "custom_tool_call_output"}:
            if item["call_id"] not in waiting:
                found.append(f"{at}: a result of no open call")
            waiting.discard(item["call_id"])
            if item.get("output") is None:
                found.append(f"{at}: no output")
        elif kind == "message":
            if item["role"] == "user" and waiting:
                found.append(f"{at}: calls {sorted(waiting)} are open where the user speaks")
            parts = item["content"]
            parts = [{"type": "input_text", "text": parts}] if isinstance(parts, str) else parts
            wanted = "output_text" if item["role"] == "assistant" else "input_text"
            for part in parts:
                if part["type"] not in {"input_image", "input_file", "refusal", wanted}:
                    found.append(f"{at}: {part['type']} of {item['role']}")
                if part["type"] == wanted and not part["text"]:
                    found.append(f"{at}: an empty text")
    return found + [f"calls {sorted(waiting)} have no result"] * bool(waiting)


def _chat(messages: list[Body]) -> list[str]:
    found: list[str] = []
    waiting: set[str] = set()
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                found.append(f"{at}: a result of no open call")
            waiting.discard(message["tool_call_id"])
            continue
        if waiting:
            found.append(f"{at}: calls {sorted(waiting)} are open where {message['role']} speaks")
            waiting.clear()
        waiting |= {call["id"] for call in message.get("tool_calls") or ()}
        if not message.get("content") and not message.get("tool_calls"):
            found.append(f"{at}: no content")
    return found + [f"calls {sorted(waiting)} have no result"] * bool(waiting)


def _gemini(contents: list[Body]) -> list[str]:
    found: list[str] = []
    called = 0
    before = ""
    for at, content in enumerate(contents):
        role, parts = content.get("role", "user"), content.get("parts", [])
        if role == before == "model":
            found.append(f"{at}: two answers in a row")
        responses = sum("functionResponse" in part for part in parts)
        if responses != called:
            found.append(f"{at}: {responses} responses to {called} calls")
        called = sum("functionCall" in part for part in parts)
        if not parts or any("text" in part and not part["text"] and not part.get("thoughtSignature") for part in parts):
            found.append(f"{at}: an empty part")
        before = role
    return found + ["calls have no response"] * bool(called)

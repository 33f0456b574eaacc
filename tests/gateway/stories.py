"""How do clients send an agent's conversation on each wire? With the whole history each time."""

from __future__ import annotations

from typing import Any

from penstock.wires import dump, load, wire_named
from penstock.wires.bodies import compose_request
from tests.gateway.test_bytes import PATHS


def story(turns: int, chars: int = 4_000, *, first: str = "Mend the bug, and say what it was.") -> list[Any]:
    """Return the messages of a conversation in which each turn reads a file."""
    messages: list[Any] = [{"role": "user", "content": first}]
    for turn in range(turns):
        call = {
            "id": f"call_{turn}",
            "type": "function",
            "function": {"name": "read", "arguments": f'{{"path": "f{turn}.py"}}'},
        }
        text = "".join(f"{turn}:{line} value = compute({line * 7919 % 9973})\n" for line in range(chars // 30))
        messages += [
            {"role": "assistant", "content": f"Step {turn}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{turn}", "content": text},
        ]
    return messages


def body_of(wire: str, messages: list[Any], model: str = "m") -> dict[str, Any]:
    """Return a request with that history on a wire."""
    transcript = load(dump(load(messages, "openai-chat"), wire), wire)
    body = compose_request(transcript, model, 500)
    return (
        {name: held for name, held in body.items() if name != wire_named(wire).body.model_key}
        if is_in_path(wire)
        else body
    )


def is_in_path(wire: str) -> bool:
    """Return whether a wire has the model in the address."""
    return "{model}" in wire_named(wire).service.path


def path_of(wire: str, *, streamed: bool = False) -> str:
    """Return the path of a request for an answer."""
    if streamed:
        service = wire_named(wire).service
        root = "/v1beta" if wire == "gemini" else service.root
        return root + service.stream_path.replace("{model}", "m") if is_in_path(wire) else PATHS[wire].partition("?")[0]
    return PATHS[wire].partition("?")[0]

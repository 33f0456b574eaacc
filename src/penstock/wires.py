"""How is a whole request written on a wire, and an answer read? What stands around the messages.

The messages themselves are the transcript's codecs'. Law: what `answer` gives goes back into a request as it is. Keeps out: HTTP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.tokens import family
from penstock.transcript import Text, dump, load, said
from penstock.transcript.shapes import field, objects, string

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.tools import Tool
    from penstock.transcript import Transcript
    from penstock.transcript.shapes import Json

_EMPTY = "[no answer]"


def tools_of(tools: Sequence[Tool], wire: str) -> list[Json]:
    """The tools as a request of that wire carries them."""
    made: list[Json] = []
    for tool in tools:
        common = {"name": tool.name, "description": tool.description}
        if wire == "anthropic":
            made.append({**common, "input_schema": tool.schema()})
        elif wire == "openai-responses":
            made.append({"type": "function", **common, "parameters": tool.schema()})
        else:
            made.append({"type": "function", "function": {**common, "parameters": tool.schema()}})
    return made


def request(transcript: Transcript, model: str, reserve_tokens: int) -> dict[str, Json]:
    """The body that shows what is visible, asking for at most so much of reply."""
    wire = transcript.wire
    messages = dump(transcript, wire)
    tools = {"tools": transcript.tools} if transcript.tools else {}
    if wire == "anthropic":
        system = {"system": transcript.system} if transcript.system else {}
        return {"model": model, **system, "messages": messages, **tools, "max_tokens": reserve_tokens}
    if wire == "openai-responses":
        system = {"instructions": transcript.system} if transcript.system else {}
        return {
            "model": model,
            **system,
            "input": messages,
            **tools,
            "max_output_tokens": reserve_tokens,
            "store": False,
        }
    cap = "max_completion_tokens" if family(model) == "o200k" else "max_tokens"  # local servers know the old name alone
    return {"model": model, "messages": messages, **tools, cap: reserve_tokens}


def alone(wire: str, prompt: str) -> Transcript:
    """A transcript of one prompt, for a question beside a session."""
    return load([said(wire, "user", prompt)], wire)


def answer(body: Json, wire: str) -> list[Json]:
    """The messages or items of an answer, as the next request carries them. Raises `CallerError` for what is no answer."""
    if wire == "anthropic":
        content = objects(field(body, "content"))
        return [{"role": "assistant", "content": content or [{"type": "text", "text": _EMPTY}]}]
    if wire == "openai-responses":
        return objects(field(body, "output")) or [said(wire, "assistant", _EMPTY)]
    choices = objects(field(body, "choices"))
    message = choices[0].get("message") if choices else None
    if not isinstance(message, dict):
        raise CallerError("the model's answer holds no message")
    kept = {key: value for key, value in message.items() if value is not None and value != []}
    if "tool_calls" not in kept and not string(kept.get("content")):
        kept["content"] = _EMPTY
    kept.setdefault("content", None)
    return [{"role": "assistant", **kept}]


def words(body: Json, wire: str) -> str:
    """What an answer says in words."""
    entries = load(answer(body, wire), wire).entries
    return "\n".join(part.text for entry in entries for part in entry.parts if isinstance(part, Text))


def output_tokens(body: Json) -> int | None:
    """What an answer took, as it reports itself."""
    for name in ("output_tokens", "completion_tokens"):
        value = field(body, "usage", name)
        if type(value) is int:
            return value
    return None

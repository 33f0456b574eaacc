"""How are a framework's messages written as a request's? As Anthropic's messages, one each, and found again by their place.

Law: a message is sent as the framework made it, or with another text as the result of a tool, or not at all; a note of ours stands
for what is not. Keeps out: the frameworks' own types, of which `blocks`, `edited` and `note` know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.text.json_access import Json

M = TypeVar("M")

PLACE = "penstock"  # in a message on the wire: which of the framework's it was made of


class Parts(Generic[M]):
    """How messages of parts are written, and read again.

    `blocks(message)` gives the role and the blocks of a message; `edited(message, texts)` the same message with another text as
    the result of each call in `texts`, without that result where the text is None; `note(role, text)` is a message of ours.
    """

    def __init__(
        self,
        blocks: Callable[[M], tuple[str, list[Json]]],
        edited: Callable[[M, dict[str, str | None]], M],
        note: Callable[[str, str], M],
    ) -> None:
        self._blocks, self._edited, self._note = blocks, edited, note

    def write(self, messages: Sequence[M]) -> list[Json]:
        """The messages on the wire."""
        written: list[Json] = []
        for place, message in enumerate(messages):
            role, blocks = self._blocks(message)
            written.append({"role": role, "content": blocks or [NOTHING], PLACE: place})
        return written

    def read(self, shown: Sequence[Json], written: Sequence[Json], messages: Sequence[M]) -> list[M]:
        """The framework's messages behind those of a request."""
        return [self._found(message, written, messages) for message in shown]

    def _found(self, message: Json, written: Sequence[Json], messages: Sequence[M]) -> M:
        place = message.get(PLACE)
        if place is None:
            return self._note(message["role"], message["content"])
        before, now = _results(written[place]), _results(message)
        texts = {call_id: now.get(call_id) for call_id in before if before[call_id] != now.get(call_id)}
        return self._edited(messages[place], texts) if texts else messages[place]


def _results(message: Json) -> dict[str, Json]:
    return {
        block["tool_use_id"]: block["content"] for block in message["content"] if block.get("type") == "tool_result"
    }


def text_block(text: str) -> Json:
    """Words."""
    return {"type": "text", "text": text}


def call_block(call_id: str, name: str, arguments: object) -> Json:
    """A call of a tool."""
    given = arguments if isinstance(arguments, dict) else {"arguments": arguments}
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result_block(call_id: str, content: str | list[Json]) -> Json:
    """What a tool returned."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def thinking_block(text: str, signature: str | None) -> Json:
    """What a model thought; signed, it stays or goes with its turn."""
    return {"type": "thinking", "thinking": text, "signature": signature or ""}


NOTHING = {"type": "nothing"}
"""What a message says that says nothing: nobody speaks in it."""

IMAGE = {"type": "image", "source": {"type": "url", "url": "https:"}}
"""An image, of which only that it is one is counted."""


def file_block(data: bytes) -> Json:
    """A document or a sound."""
    import base64

    return {"type": "document", "source": {"type": "base64", "data": base64.b64encode(data).decode()}}

"""How are a framework's messages written as a request's? As Anthropic's messages, one each, and found again by their position.

Anthropic's form holds what any framework's does: calls and results as blocks among others, several results in one message, signed
thinking. What is written is only for counting and planning and never reaches a provider, so a block needs no more than what is
counted of it; what is sent is the framework's own object behind it.

Law: a message is sent as the framework made it, or with another text as the result of a tool, or not at all; a note of ours
replaces what is not sent. Leaves to others: the frameworks' own types, which only `blocks`, `edited` and `note` know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.text.json_access import Json

M = TypeVar("M")

PLACE = "penstock"
"""The key of a message on the wire that says from which of the framework's messages it was made; notes of ours have none."""


class Parts(Generic[M]):
    """How a framework's messages are written on the wire, and found again.

    Args:
        blocks: `blocks(message)` returns the role and the blocks of a message.
        edited: `edited(message, texts)` returns the same message with another text as the result of each call in `texts`, without
            that result if the text is None.
        note: `note(role, text)` returns a message of ours.
    """

    def __init__(
        self,
        blocks: Callable[[M], tuple[str, list[Json]]],
        edited: Callable[[M, dict[str, str | None]], M],
        note: Callable[[str, str], M],
    ) -> None:
        self._blocks, self._edited, self._note = blocks, edited, note

    def write(self, messages: Sequence[M]) -> list[Json]:
        """Return the messages on the wire, one each, in order."""
        written: list[Json] = []
        for place, message in enumerate(messages):
            role, blocks = self._blocks(message)
            written.append({"role": role, "content": blocks or [NOTHING], PLACE: place})
        return written

    def read(self, shown: Sequence[Json], written: Sequence[Json], messages: Sequence[M]) -> list[M]:
        """Return the framework's messages behind those of a request.

        Args:
            shown: what is left of `written`, with what replaces the rest.
            written: the messages on the wire, as `write` returned them.
            messages: the framework's own.

        Returns:
            The very same objects for unchanged messages.
        """
        return [self._found(message, written, messages) for message in shown]

    def _found(self, message: Json, written: Sequence[Json], messages: Sequence[M]) -> M:
        """Return the framework's message behind one of a request, its results edited if they were cleared."""
        place = message.get(PLACE)
        if place is None:
            return self._note(message["role"], message["content"])
        # A result that no longer exists is None among `texts`: it was removed with its call.
        before, now = _results(written[place]), _results(message)
        texts = {call_id: now.get(call_id) for call_id in before if before[call_id] != now.get(call_id)}
        return self._edited(messages[place], texts) if texts else messages[place]


def _results(message: Json) -> dict[str, Json]:
    """Return the contents of a message's results by the ids of their calls."""
    return {
        block["tool_use_id"]: block["content"] for block in message["content"] if block.get("type") == "tool_result"
    }


def text_block(text: str) -> Json:
    """Return a text block."""
    return {"type": "text", "text": text}


def call_block(call_id: str, name: str, arguments: object) -> Json:
    """Return the block of a call; arguments that are not an object become one value of it."""
    given = arguments if isinstance(arguments, dict) else {"arguments": arguments}
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result_block(call_id: str, content: str | list[Json]) -> Json:
    """Return the block of a tool result, a text or blocks."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def thinking_block(text: str, signature: str | None) -> Json:
    """Return the block of a model's thinking; one with a signature must stay unchanged, or be removed with its whole turn."""
    return {"type": "thinking", "thinking": text, "signature": signature or ""}


NOTHING = {"type": "nothing"}
"""The block of a message that would otherwise be empty: it says nothing."""

IMAGE = {"type": "image", "source": {"type": "url", "url": "https:"}}
"""The block of an image, of which only its presence is counted."""


def file_block(data: bytes) -> Json:
    """Return the block of a document or an audio file, counted by its bytes."""
    import base64

    return encoded_file_block(base64.b64encode(data).decode())


def encoded_file_block(data: str) -> Json:
    """Return the block of a document or a recording from its base64, counted by its bytes."""
    return {"type": "document", "source": {"type": "base64", "data": data}}

"""How are answers of Bedrock's Converse API read, whole and streamed?"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.text.json_access import field, objects, parsed_finite, string
from penstock.wires import placeholders
from penstock.wires.bedrock.codec import blocks_of
from penstock.wires.call_ids import told_apart
from penstock.wires.entries import UNREAD
from penstock.wires.failures import Unreadable
from penstock.wires.stream import PieceJoiner, index_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.text.json_access import Json


def is_answer(body: dict[str, Json]) -> bool:
    """Whether a body holds the output's message."""
    return isinstance(field(body, "output", "message", "content"), list)


def answer_messages(body: Json, taken_ids: Collection[str]) -> list[Json]:
    """Return the output's message as the next request carries it.

    Raises:
        CallerError: for a body that is not an answer.
    """
    message = field(body, "output", "message")
    if not isinstance(message, dict):
        raise CallerError("the model's answer holds no message")
    blocks = blocks_of(message)
    if not blocks:
        return [{"role": "assistant", "content": [{"text": placeholders.NO_ANSWER}]}]
    told = told_apart(blocks, taken_ids, _call, "toolUseId", lambda block, call: {**block, "toolUse": call})
    # Whatever role the server gives it, these are the model's words, and must not become a person's.
    return [{**message, "role": "assistant", "content": told}]


def _call(block: dict[str, Json]) -> dict[str, Json] | None:
    """Return the call in a block; None for any other block."""
    call = block.get("toolUse")
    return call if isinstance(call, dict) else None


def answer_text(body: Json) -> str:
    """Return the words of the message."""
    return "".join(string(block.get("text")) for block in blocks_of(field(body, "output", "message")))


def stop_reason(body: Json) -> str:
    """Return why the message stopped; empty if it does not say."""
    return string(field(body, "stopReason"))


def streamed_body(body: dict[str, Json]) -> dict[str, Json]:
    """Return the same body: the address says whether an answer is streamed."""
    return body


# What comes in pieces that are joined, and where those of a citation are gathered.
_PIECES = frozenset({"text", "toolUse", "toolResult", "reasoningContent", "citation", "citations"})


class ConverseEvents:
    """The events of one streamed message, each an object whose one key is its kind, as in boto3."""

    is_ended = False  # the usage comes last, and the body ends after it

    def __init__(self) -> None:
        self._role = "assistant"
        self._blocks: dict[int, dict[str, Json]] = {}
        self._inputs: dict[int, dict[str, Json]] = {}
        self._tail: dict[str, Json] = {}
        self._texts = PieceJoiner()

    def feed(self, event: dict[str, Json]) -> str:
        """Take the next event; return the words that it adds.

        Raises:
            Unreadable: for a malformed delta.
        """
        # Kinds newer than this reader add nothing; a malformed delta would leave a gap in its block.
        kind, held = next(iter(event.items()), ("", None))
        if not isinstance(held, dict):
            return ""
        match kind:
            case "messageStart":
                self._role = string(held.get("role")) or self._role
            case "contentBlockStart":
                started, index = held.get("start"), index_of(held.get("contentBlockIndex"))
                self._blocks[index] = begun = _begun(started)
                # Only calls and results begin in a form of their own; whatever else comes here continues in the same form.
                if not begun and isinstance(started, dict):
                    return self._feed_delta(index, started)
            case "contentBlockDelta":
                delta = held.get("delta")
                if not isinstance(delta, dict):
                    raise Unreadable("The provider's event continues with a block and does not say how.")
                return self._feed_delta(index_of(held.get("contentBlockIndex")), delta)
            case "messageStop" | "metadata":
                # One has the reason, the other usage and metrics: together they are what accompanies `output` in an
                # unstreamed answer.
                self._tail |= held
        return ""

    def _feed_delta(self, index: int, delta: dict[str, Json]) -> str:
        block = self._blocks.setdefault(index, {})  # a text block begins with its first delta
        if isinstance(text := delta.get("text"), str):
            self._texts.add(block, "text", text)
            return text
        if isinstance(piece := field(delta, "toolUse", "input"), str):
            # Pieces of JSON, cut anywhere: they are kept next to the block and parsed once all have arrived.
            self._texts.add(self._inputs.setdefault(index, {}), "input", piece)
        elif isinstance(result := delta.get("toolResult"), list):
            block.setdefault("toolResult", {}).setdefault("content", []).extend(result)
        elif isinstance(thought := delta.get("reasoningContent"), dict):
            self._feed_thought(block, thought)
        elif isinstance(citation := delta.get("citation"), dict):
            block.setdefault("citations", []).append(citation)
        else:
            rest = {key: deepcopy(value) for key, value in delta.items() if value is not None}
            if not _PIECES.isdisjoint(rest):
                raise Unreadable("The provider's event continues with a block in another form than the API's.")
            # Anything else is kept as it came, next to what began the block: a picture's source, and what may be streamed one day.
            for key, value in rest.items():
                held = block.get(key)
                block[key] = {**held, **value} if isinstance(held, dict) and isinstance(value, dict) else value
        return ""

    def _feed_thought(self, block: dict[str, Json], delta: dict[str, Json]) -> None:
        held = block.setdefault("reasoningContent", {})
        # A signature comes in its own delta after the text that it signs; both have to go back verbatim.
        if "redactedContent" in delta:
            held["redactedContent"] = delta["redactedContent"]
        for key in ("text", "signature"):
            if isinstance(piece := delta.get(key), str):
                self._texts.add(held.setdefault("reasoningText", {}), key, piece)

    @property
    def has_content(self) -> bool:
        """Whether a block has begun."""
        return bool(self._blocks)

    @property
    def is_complete(self) -> bool:
        """Whether the message said why it stopped."""
        return bool(self._tail.get("stopReason"))

    def body(self) -> dict[str, Json]:
        """Return the answer that the events add up to."""
        self._texts.join()
        for index, held in self._inputs.items():
            # A call without arguments streams an empty text. One that was cut off by the reply limit is incomplete JSON.
            is_json, value = parsed_finite(held["input"] or "{}")
            arguments = value if is_json and isinstance(value, dict) else {UNREAD: held["input"]}
            self._blocks[index].setdefault("toolUse", {})["input"] = arguments
        content = [_finished(self._blocks[index]) for index in sorted(self._blocks)]
        return {"output": {"message": {"role": self._role, "content": content}}, **self._tail}


def _begun(start: Json) -> dict[str, Json]:
    """Return the block that begins with a call or a result, whose content comes in pieces; an empty one for anything else."""
    call, result = field(start, "toolUse"), field(start, "toolResult")
    if isinstance(call, dict):
        return {"toolUse": {**call, "input": {}}}
    if isinstance(result, dict):
        return {"toolResult": {**result, "content": []}}
    return {}


def _finished(block: dict[str, Json]) -> dict[str, Json]:
    """Return a block as it comes unstreamed: words with citations are a kind of their own."""
    if "citations" not in block:
        return block
    return {
        "citationsContent": {"content": [{"text": string(block.get("text"))}], "citations": objects(block["citations"])}
    }

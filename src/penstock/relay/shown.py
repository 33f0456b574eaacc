"""Which parts of a tool's result does a host show to its model, and how much room do they take?

The parts are text, the text of embedded resources, and structured content; hosts show either or both. Law: pictures, sounds, links
and everything else in a result are never cut; nor is what is marked for the person or for an app, unless the host is one of those
that give their models everything. Leaves to others: how a part is cut and kept (`guarding`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.relay.messages import text_in
from penstock.text.json_slices import (
    Array,
    JsonReader,
    NotJson,
    Object,
    Slice,
    Value,
    decode,
    is_text,
    pieces_of,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.allowance import Allowance

PICTURE_CHARS = 5_600
"""The size of a picture or a sound compared with text: about the 1,600 tokens that a picture takes at most in the Anthropic API."""
# The most bytes of one character in JSON: a pair of escapes.
_BYTES_PER_CHAR = 12
_COMPARED_BYTES = 16 << 20
_PIECE_BYTES = 1 << 20
_BETWEEN = re.compile(rb'("[^"\\]*+(?>(?:\\.[^"\\]*+)*)")|[ \t\r\n]+', re.DOTALL)


class ShownPart(NamedTuple):
    """A text of a result."""

    value: Slice
    """The position of the text in the message."""
    is_json: bool = False
    """Whether the text is shown as raw JSON; otherwise it is a JSON string to decode."""

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        """Yield it as UTF-8, as a model reads it."""
        if self.is_json:
            for at in range(self.value.start, self.value.end, _PIECE_BYTES):
                yield raw[at : min(at + _PIECE_BYTES, self.value.end)]
        else:
            yield from pieces_of(raw, self.value)

    def size(self, raw: bytes, room: Allowance) -> int:
        """Return its size: exact if it may fit, otherwise approximate."""
        length = self.value.end - self.value.start
        # Even with nothing but escapes it would exceed the room: that it is too large is all that matters.
        if length > _BYTES_PER_CHAR * room.limit:
            return length
        if self.is_json:
            return room.measure(raw[self.value.start : self.value.end].decode("utf-8", "replace"))
        return room.measure(text_of(raw, self.value))


class ResultParts(NamedTuple):
    """What a result holds for a model."""

    texts: tuple[ShownPart, ...]
    structured: ShownPart | None
    others: tuple[Slice, ...]
    """Links and blocks of unknown kinds."""
    pictures: tuple[Slice, ...]
    """Whole blocks: images, sounds, resources that are not text."""
    content: Slice | None
    """The list of blocks; None if the result has none."""
    is_plain: bool
    """Whether each text is a block of its own, so that the text says everything about it."""
    apart: tuple[Slice, ...] = ()
    """Whole blocks that no model is shown: for the person, or for an app of the host."""
    is_listed: bool = True
    """Whether the blocks were read; of very many only the list as a whole is known."""

    @property
    def other_bytes(self) -> int:
        """The size of links and blocks of unknown kinds as JSON."""
        return sum(at.end - at.start for at in self.others)

    def is_within(self, raw: bytes, room: Allowance, shows: Literal["text", "structured", "both"]) -> bool:
        """Return whether the shown parts fit the room."""
        taken = 0
        if self.structured is not None and shows != "text":
            taken += self.structured.size(raw, room)
        if self.structured is None or shows != "structured":
            taken += self.other_bytes + sum(text.size(raw, room) for text in self.texts)
        return taken <= room.limit


def read_result(raw: bytes, result: Value | None, *, is_all_shown: bool = True) -> ResultParts | None:
    """Return what a result holds for a model; None if it is not a result, or not complete (`input_required`, a task).

    Args:
        raw: the message.
        result: its result.
        is_all_shown: whether the host also gives its model what the protocol marks for the person or for an app.

    Raises:
        NotJson: a part of it cannot be read.
    """
    if not isinstance(result, Object) or text_in(raw, result, "resultType") not in {None, "complete"}:
        return None
    content, structured = result.get("content"), result.get("structuredContent")
    if not is_all_shown and isinstance(content, Array) and _is_of_app(result):
        structured = None  # its app draws this; the content tells the model
    part = None if structured is None else ShownPart(Slice(structured.start, structured.end), is_json=True)
    if not isinstance(content, Array):
        return None if part is None or content is not None else ResultParts((), part, (), (), None, is_plain=True)
    at = Slice(content.start, content.end)
    if content.items is None:
        return ResultParts((ShownPart(at, is_json=True),), part, (), (), at, is_plain=False, is_listed=False)
    texts: list[ShownPart] = []
    pictures: list[Slice] = []
    others: list[Slice] = []
    apart: list[Slice] = []
    is_plain = True
    for block in content.items:
        text, is_block = _text_in_block(raw, block)
        if not is_all_shown and _is_apart(raw, block):
            apart.append(Slice(block.start, block.end))
        elif text is not None:
            texts.append(ShownPart(text))
            is_plain = is_plain and is_block
        elif _is_picture(raw, block):
            pictures.append(Slice(block.start, block.end))
        else:
            others.append(Slice(block.start, block.end))
    return ResultParts(tuple(texts), part, tuple(others), tuple(pictures), at, is_plain, tuple(apart))


def _is_of_app(result: Object) -> bool:
    meta = result.get("_meta")
    return isinstance(meta, Object) and any(member.name.partition("/")[0] == "ui" for member in meta.members)


def _is_apart(raw: bytes, block: Value) -> bool:
    """Return whether a block is only for the person, a page that an app shows, or a drawing."""
    if not isinstance(block, Object):
        return False
    annotations = None if (at := block.get("annotations")) is None else decode(raw, at)
    if isinstance(annotations, dict) and annotations.get("audience") == ["user"]:
        return True
    address, kind = (text_in(raw, block, "resource", name) or "" for name in ("uri", "mimeType"))
    return address.startswith("ui://") or kind.startswith("image/")


def _text_in_block(raw: bytes, block: Value) -> tuple[Slice | None, bool]:
    """Return the position of a block's text, and whether the block is only text."""
    if not isinstance(block, Object):
        return None, False
    is_block = block.get("resource") is None
    holder = block if is_block else block.get("resource")
    text = holder.get("text") if isinstance(holder, Object) else None
    return (text, is_block) if isinstance(text, Slice) and is_text(raw, text) else (None, False)


def _is_picture(raw: bytes, block: Value) -> bool:
    return isinstance(block, Object) and (
        text_in(raw, block, "data") is not None or text_in(raw, block, "resource", "blob") is not None
    )


def says_the_same(raw: bytes, shown: ResultParts) -> bool:
    """Return whether the structured content says nothing beyond the single text.

    Servers send it next to the text as the same JSON, or as an object whose `result` is the text.
    """
    if shown.structured is None or len(shown.texts) != 1 or not shown.is_listed:
        return False
    text, structured = shown.texts[0].value, shown.structured.value
    if _wraps(raw, structured, text):
        return True
    if max(text.end - text.start, structured.end - structured.start) > _COMPARED_BYTES:
        return False
    decoded = b"".join(pieces_of(raw, text))
    return _compact(decoded) == _compact(raw[structured.start : structured.end])


def _wraps(raw: bytes, structured: Slice, text: Slice) -> bool:
    """Return whether structured content is an object of one member, `result`, whose value is the text in the same spelling."""
    reader = JsonReader(raw, at=structured.start + 1)
    try:
        reader.blanks()
        if raw[structured.start : structured.start + 1] != b"{" or reader.name() != "result":
            return False
        size = text.end - text.start
        if memoryview(raw)[reader.at : reader.at + size] != memoryview(raw)[text.start : text.end]:
            return False
        reader.at += size
        reader.blanks()
    except NotJson:
        return False
    return reader.at == structured.end - 1


def _compact(json: bytes) -> bytes:
    """Return JSON without the white space between its values."""
    return _BETWEEN.sub(rb"\1", json)

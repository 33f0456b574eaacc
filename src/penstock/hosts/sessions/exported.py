"""How is one JSON document read whose `messages` are a session: a host's own export, or an older host's file?

Law: a torn document, or one with a torn message, yields all messages that can be read; the others are counted. Only one message is
parsed at a time. Leaves to others: what a message means.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.inspection.timeline import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.hosts.sessions.records import SessionFile

MAX_EXPORT_BYTES = 256 << 20
"""The size limit of a document: unlike lines, it must be held while it is read."""
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
# Where messages begin in a document indented by two spaces a level; a JSON string cannot contain a line feed.
_MESSAGES = re.compile(r'\n  "messages": (?=\[)')
_NEXT_MESSAGE = re.compile(r"\n    (?=\{)")


def members(file: SessionFile) -> Iterator[tuple[str, Place]]:
    """Yield the members of a document with their positions; each message of its list is yielded as `messages`.

    Args:
        file: the document; parts that are not JSON are counted there as torn.

    Raises:
        CallerError: It is larger than `MAX_EXPORT_BYTES`.
    """
    if file.size_bytes > MAX_EXPORT_BYTES:
        raise CallerError(f"The export is of {file.size_bytes} bytes; one of at most {MAX_EXPORT_BYTES} is read.")
    # One byte per character, so that positions are byte positions: JSON's structure is ASCII, and strings are decoded later.
    yield from _Document(file.content().decode("latin-1"), file).members()


class _Document:
    """A document, read from its first character to the last."""

    def __init__(self, text: str, file: SessionFile) -> None:
        self._text = text
        self._counts = file.counts
        self._at = 0

    def members(self) -> Iterator[tuple[str, Place]]:
        """Yield its members; after torn JSON, only messages."""
        try:
            yield from self._members()
        except (ValueError, RecursionError):
            self._counts.torn += 1
            found = _MESSAGES.search(self._text, self._at)
            if found is None:
                return
            self._at = found.end()
            with suppress(ValueError, RecursionError):
                yield from self._messages()

    def _members(self) -> Iterator[tuple[str, Place]]:
        self._expect("{")
        is_open = self._peek() != "}"
        while is_open:
            self._expect('"', is_taken=False)
            key, self._at = _DECODER.raw_decode(self._text, self._at)
            self._expect(":")
            if key == "messages" and self._peek() == "[":
                yield from self._messages()
            else:
                yield key, self._value()
            is_open = self._comma()
        self._expect("}")
        self._expect("", is_taken=False)

    def _messages(self) -> Iterator[tuple[str, Place]]:
        self._expect("[")
        is_open = self._peek() != "]"
        while is_open:
            try:
                is_object, place = self._peek() == "{", self._item()
            except (ValueError, RecursionError):
                found = _NEXT_MESSAGE.search(self._text, self._at)
                if found is None:
                    raise
                self._counts.torn += 1
                self._at = found.end()
                continue
            if is_object:
                yield "messages", place
            else:
                self._counts.torn += 1
            is_open = self._comma()
        self._expect("]")

    def _item(self) -> Place:
        place = self._value()
        if self._peek() != ",":
            self._expect("]", is_taken=False)
        return place

    def _value(self) -> Place:
        start = self._skip()
        _, self._at = _DECODER.raw_decode(self._text, start)
        return Place(start, self._at)

    def _comma(self) -> bool:
        is_comma = self._peek() == ","
        self._at += is_comma
        return is_comma

    def _expect(self, mark: str, *, is_taken: bool = True) -> None:
        if self._peek() != mark:
            raise ValueError(mark)
        self._at += is_taken

    def _peek(self) -> str:
        at = self._skip()
        return self._text[at : at + 1]

    def _skip(self) -> int:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at

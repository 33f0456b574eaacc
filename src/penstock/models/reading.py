"""What do a provider's bytes say? A whole body, or what the events of a stream add up to.

Laws: however a stream splits an answer, its body equals the unstreamed one; an answer that is cut off or malformed is never
returned; an error in an answer is raised as `Refused`, whatever its HTTP status was. Pure: bytes in, a body or an error out.
Leaves to others: sockets, and where an event ends (`exchange`), and what an event means (its wire).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from penstock.text.json_access import as_json, parsed_finite, type_of
from penstock.wires.failures import Disconnected, Refused, Unreadable
from penstock.wires.stream import MAX_SHOWN_CHARS
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    from penstock.text.json_access import Json


def read_answer(content: bytes, wire: str) -> dict[str, Json]:
    """Return the body of an answer that came whole.

    Raises:
        Unreadable: for anything that is not an answer of the wire.
        Refused: for an error in place of an answer.
    """
    return _checked(_read_object(as_text(content)), wire)


def as_text(content: bytes) -> str:
    """Return what a server sent as text: a byte order mark, which some write before JSON, is no part of it (RFC 8259, 8.1)."""
    return content.decode("utf-8-sig", "replace")


class AnswerStream:
    """The events of one streamed answer, read as they come.

    Args:
        wire: the name of the wire that the events belong to.
    """

    def __init__(self, wire: str) -> None:
        self._wire = wire
        self._events = wire_named(wire).answers.stream()
        self._is_done = False
        self._stopped_last = False

    @property
    def is_ended(self) -> bool:
        """Whether the answer is complete, even if the connection stays open."""
        return self._is_done or self._events.is_ended

    @property
    def is_whole(self) -> bool:
        """Whether nothing that breaks now takes anything from the answer: the provider said why it stops, and said it last.

        Some servers say so with every piece, as Gemini's API did: there it means nothing before the stream has ended.
        """
        return self._events.is_complete and self._stopped_last

    def feed(self, data: str, *, is_error: bool = False) -> str:
        """Take the data of the next event; return the words that it adds.

        Args:
            data: the event's data.
            is_error: whether the event itself is called an error, whatever its data looks like.

        Raises:
            Unreadable: for an event that is not the wire's.
            Refused: for an error.
        """
        # OpenAI's end of a stream, the one event that is not JSON.
        if data == "[DONE]":
            self._is_done = True
            return ""
        try:
            value = _read_error(data) if is_error else _read_object(data)
        except (Refused, Unreadable):
            if not self.is_whole:
                raise
            # An error after the answer, in counting for instance.
            self._is_done = True
            return ""
        had_content, was_complete = self._events.has_content, self._events.is_complete
        text = self._events.feed(value)
        if not was_complete:
            self._stopped_last = had_content
        elif text:
            self._stopped_last = False
        return text

    def body(self) -> dict[str, Json]:
        """Return the body that the events add up to.

        Raises:
            Disconnected: if they broke off.
            Unreadable: if they add up to no answer.
        """
        # A connection that closes cleanly in the middle of an answer looks like its end: only the stop reason distinguishes them.
        if not self._events.is_complete:
            raise Disconnected("closed", "The provider's stream broke off: it ended before it said why it stops.")
        return _checked(self._events.body(), self._wire)


def _read_error(data: str) -> NoReturn:
    """Raise the error that an event holds, as JSON of any form or as words."""
    try:
        value: Json = _read_object(data)
    except Unreadable:
        value = data
    raise Refused(200, value)


def _read_object(text: str) -> dict[str, Json]:
    """Return the JSON object in a text; an error in it is raised."""
    is_json, value = parsed_finite(text)
    if not is_json or not isinstance(value, dict):
        raise Unreadable(f"The provider answered with something that is not a JSON object: {text[:MAX_SHOWN_CHARS]!r}")
    # A refusal within HTTP 200, in any of the forms that servers use. The rest of the body is left out: a failed response repeats
    # the whole request, whose words would be read as the provider's.
    if value.get("error"):
        raise Refused(200, {"error": value["error"]})
    if "error" in (type_of(value), value.get("object")):
        raise Refused(200, value)
    return value


def _checked(body: dict[str, Json], wire: str) -> dict[str, Json]:
    """Return a body that has the shape of an answer, so that later code may rely on it."""
    if not wire_named(wire).answers.is_answer(body):
        raise Unreadable(f"The provider's answer does not have the form of {wire}: {as_json(body)[:MAX_SHOWN_CHARS]}")
    return body

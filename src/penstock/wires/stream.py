"""Streams of server-sent events, read and written: what several wires do alike.

Reading puts the pieces of an answer together; writing is for doubles of providers. Law: however a stream divides an answer, its
body is the one that comes unstreamed, arguments of calls to the byte. Keeps out: sockets, and what an event means on a wire.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from penstock.text.json_access import as_json, string
from penstock.wires.failures import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json

SSE_TYPE = "text/event-stream"
"""The content type of a stream of server-sent events, without parameters."""
MAX_SHOWN_CHARS = 200
"""How much of an event that could not be read an error shows."""
# Into how many pieces a double cuts every text that it streams: enough that a client has to put it together.
_PIECES = 8


class PieceJoiner:
    """Texts that come in pieces, joined once at the end.

    `text += piece` at every event would copy an answer of 100,000 pieces 100,000 times: the square of its length.
    """

    def __init__(self) -> None:
        # By the identity of the object that gets the text, which is kept beside it: an id of one that is gone is given again.
        self._pieces: dict[tuple[int, str], tuple[dict[str, Json], list[str]]] = {}

    def add(self, target: dict[str, Json], key: str, piece: str) -> None:
        """Append a piece to the text of `target` at `key`, behind what stands there already."""
        _, pieces = self._pieces.setdefault((id(target), key), (target, [string(target.get(key))]))
        pieces.append(piece)

    def taken(self, target: dict[str, Json], key: str) -> str:
        """Return the text of `target` at `key` as far as it came, and forget its pieces: it becomes something else."""
        _, pieces = self._pieces.pop((id(target), key), (target, [string(target.get(key))]))
        return _whole("".join(pieces))

    def join(self) -> None:
        """Put every text where it belongs; pieces may come afterwards, and joining again is then needed."""
        for (_, key), (target, pieces) in self._pieces.items():
            target[key] = _whole("".join(pieces))


def _whole(text: str) -> str:
    """Return a text in which halves of a character are one where they came in two pieces; a half alone stays."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def required_object(event: dict[str, Json], name: str) -> dict[str, Json]:
    """Return the object in an event that it cannot be without.

    Raises:
        Unreadable: where it is missing.
    """
    value = event.get(name)
    if not isinstance(value, dict):
        raise Unreadable(f"The provider's event has no {name}: {as_json(event)[:MAX_SHOWN_CHARS]}")
    return value


def index_of(value: Json) -> int:
    """Return the place that an event names, 0 where it names none."""
    return value if isinstance(value, int) else 0


def update(target: dict[str, Json], news: Json, *, but: tuple[str, ...] = ()) -> None:
    """Set in `target` what `news` says; null and the empty text change nothing that is there.

    Servers send every field of an event's object again, most of them null; only the last value that is something counts.

    Args:
        target: the object that the events build up.
        news: the object of one event; what is none changes nothing.
        but: keys of `news` that are read elsewhere.
    """
    # A key that is new is set whatever it holds, so that the body has the keys that the unstreamed one would have.
    for key, value in news.items() if isinstance(news, dict) else ():
        if key not in but and (value not in (None, "") or key not in target):
            target[key] = value


def data_event(event: Json) -> bytes:
    """Return a server-sent event of data alone, as it goes over the wire (WHATWG HTML, 9.2.6)."""
    return f"data: {json.dumps(event)}\n\n".encode()


def named_event(event: Json) -> bytes:
    """Return a server-sent event named after the `type` of its object, as it goes over the wire."""
    return f"event: {event['type']}\n".encode() + data_event(event)


def pieces_of(text: str) -> Iterator[str]:
    """Return a text in at most eight pieces, as a double streams it; the empty text has none."""
    length = -(-len(text) // _PIECES)  # rounded up
    return (text[start : start + length] for start in range(0, len(text), length or 1))

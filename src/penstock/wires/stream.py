"""What do several wires have in common in streams of server-sent events, read and written?

Reading joins the pieces of an answer; writing is for test doubles of providers. Law: however a stream divides an answer, its body
equals the unstreamed one, with call arguments identical to the byte. Leaves to others: sockets, and what an event means on a wire.
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
"""How many characters of an unreadable event an error shows."""
# Into how many pieces a double cuts every text that it streams: enough that a client has to join them.
_PIECES = 8


class PieceJoiner:
    """Texts that come in pieces, joined once at the end.

    `text += piece` at every event would copy an answer of 100,000 pieces 100,000 times, in quadratic time.
    """

    def __init__(self) -> None:
        # By the id of the target object, which is kept with it: Python may reuse the id of a collected object.
        self._pieces: dict[tuple[int, str], tuple[dict[str, Json], list[str]]] = {}

    def add(self, target: dict[str, Json], key: str, piece: str) -> None:
        """Append a piece to the text of `target` at `key`."""
        _, pieces = self._pieces.setdefault((id(target), key), (target, [string(target.get(key))]))
        pieces.append(piece)

    def taken(self, target: dict[str, Json], key: str) -> str:
        """Return the text of `target` at `key` so far, and forget its pieces: it becomes something else."""
        _, pieces = self._pieces.pop((id(target), key), (target, [string(target.get(key))]))
        return _whole("".join(pieces))

    def join(self) -> None:
        """Put every text in its place; if more pieces come afterwards, it has to be joined again."""
        for (_, key), (target, pieces) in self._pieces.items():
            target[key] = _whole("".join(pieces))


def _whole(text: str) -> str:
    """Return a text with surrogate halves from two pieces joined into one character; a lone half stays."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def required_object(event: dict[str, Json], name: str) -> dict[str, Json]:
    """Return a required object of an event.

    Raises:
        Unreadable: if it is missing.
    """
    value = event.get(name)
    if not isinstance(value, dict):
        raise Unreadable(f"The provider's event has no {name}: {as_json(event)[:MAX_SHOWN_CHARS]}")
    return value


def index_of(value: Json) -> int:
    """Return the position that an event names, 0 if it names none."""
    return value if isinstance(value, int) else 0


def update(target: dict[str, Json], news: Json, *, but: tuple[str, ...] = ()) -> None:
    """Set in `target` what `news` says; null and the empty text do not replace existing values.

    Servers send every field of an event's object again, most of them null; only the last non-empty value counts.

    Args:
        target: the object that the events build up.
        news: the object of one event; anything else changes nothing.
        but: keys of `news` that are read elsewhere.
    """
    # A new key is set whatever its value, so that the body has the same keys as the unstreamed one.
    for key, value in news.items() if isinstance(news, dict) else ():
        if key not in but and (value not in (None, "") or key not in target):
            target[key] = value


def data_event(event: Json) -> bytes:
    """Return a server-sent event that has only data, as it is transmitted (WHATWG HTML, 9.2.6)."""
    return f"data: {json.dumps(event)}\n\n".encode()


def named_event(event: Json) -> bytes:
    """Return a server-sent event named after the `type` of its object, as it is transmitted."""
    return f"event: {event['type']}\n".encode() + data_event(event)


def pieces_of(text: str) -> Iterator[str]:
    """Return a text in at most eight pieces, as a double streams it; an empty text has none."""
    length = -(-len(text) // _PIECES)  # rounded up
    return (text[start : start + length] for start in range(0, len(text), length or 1))

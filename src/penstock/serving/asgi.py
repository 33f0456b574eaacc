"""How is an answer of our own sent over ASGI, and what are its pieces called?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping
    from typing import Any

    Event = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Event]]
    Send = Callable[[Event], Awaitable[None]]
    App = Callable[[Event, Receive, Send], Awaitable[None]]
    Pair = tuple[bytes, bytes]
    Pairs = list[Pair]

PLAIN = (b"content-type", b"text/plain; charset=utf-8")
JSON = (b"content-type", b"application/json")


async def answer(send: Send, status: int, body: bytes, headers: Iterable[Pair], *, is_ended: bool = True) -> None:
    """Send a whole answer.

    Args:
        send: takes its events.
        status: its status.
        body: all of it; its length becomes a header.
        headers: the others, names in lower case.
        is_ended: whether the answer ends here, after which the server may close the connection.
    """
    length = (b"content-length", str(len(body)).encode("ascii"))
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body, "more_body": not is_ended})

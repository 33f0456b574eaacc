"""Ask a server over HTTP for the names of its tools, before a call that seems ours is answered.

A host may know its tools from another day, and one of the server's may have a name of ours. Law: asked once, for a bounded time;
whatever comes of it, the call goes on. Keeps out: the same at pipes (`stdio`), and what a name means (`listing`).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from queue import Empty
from typing import TYPE_CHECKING

from penstock.relay.sse import Events
from penstock.relay.stdio import NAMES_SECONDS
from penstock.text.sse import data_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    import httpx2

    from penstock.relay.conversation import Conversation
    from penstock.relay.messages import OwnCall
    from penstock.relay.upstream import Upstream

_MAX_LIST_BYTES = 32 << 20
_OF_CALL = (b"mcp-name", b"mcp-method", b"mcp-param-")


async def ask_names(
    upstream: Upstream, talk: Conversation, call: OwnCall, headers: Sequence[tuple[bytes, bytes]]
) -> None:
    """Ask for every page of a server's tools; what it says besides is dropped.

    Args:
        upstream: the server.
        talk: learns the names.
        call: the call that waits for them.
        headers: those of the call.
    """
    import httpx2

    sent = [pair for pair in headers if not pair[0].startswith(_OF_CALL)]
    if call.is_modern:
        sent.append((b"mcp-method", b"tools/list"))
    cursor = None
    with suppress(TimeoutError, Empty, httpx2.HTTPError):
        async with asyncio.timeout(NAMES_SECONDS):
            while not talk.names.is_known:
                async with upstream.send("POST", sent, talk.ask_names(call, cursor)) as response:
                    async for message in _messages(response):
                        talk.from_server(message)
                        # Servers may say other things on the same stream, and keep it open behind the answer: the
                        # answer ends the reading.
                        if not talk.pages.empty():
                            break
                cursor = talk.pages.get_nowait()
                if cursor is None:
                    return


async def _messages(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield what a response says, as JSON or as events."""
    if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        stream = Events(lambda _: False, lambda: False, _MAX_LIST_BYTES)
        async for part in response.aiter_bytes():
            for frame in stream.feed(part):
                data = data_of(frame.raw) if frame.is_message else None
                if data:
                    yield data
        return
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > _MAX_LIST_BYTES:
            return
    yield bytes(body)

"""Which tools does a server over HTTP have? It is asked before a call that seems to be for one of ours is answered.

A host may know its tools from an earlier session, and a server's tool may have one of our names. Law: the server is asked once, for
a bounded time; whatever the outcome, the call proceeds. Leaves to others: the same over pipes (`stdio`), and what a name means
(`listing`).
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
    """Ask for every page of a server's tools; whatever else it says is dropped.

    Args:
        upstream: the server.
        talk: learns the names.
        call: the call that waits for them.
        headers: the call's headers.
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
                        # Servers may say other things on the same stream, and keep it open after the answer: reading ends with the
                        # answer.
                        if not talk.pages.empty():
                            break
                cursor = talk.pages.get_nowait()
                if cursor is None:
                    return


async def _messages(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield the messages of a response, as JSON or as events."""
    if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        stream = Events(max_held_bytes=_MAX_LIST_BYTES)
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

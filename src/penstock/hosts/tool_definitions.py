"""What do the tools of configured MCP servers cost? Each server is started, or called, and asked for its list.

Leaves to others: which servers there are (`servers`), and how tokens are counted (`text.tokens`).
"""

from __future__ import annotations

import logging
import os
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import anyio

from mcp import Client
from penstock.errors import CallerError
from penstock.text.json_access import as_json
from penstock.wires import tool_definitions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from penstock.hosts.servers import ConfiguredServer
    from penstock.text.tokens import TokenCounter

SERVER_SECONDS = 30.0
"""The time limit for one server's list: some are first downloaded by their command."""
_AT_ONCE = 4
_MAX_PAGES = 1_000
_MAX_BYTES = 64 << 20
"""The size limit of one answer over HTTP: lists of thousands of tools take a hundredth."""


@dataclass(frozen=True, kw_only=True)
class ServerTools:
    """What one server adds to each request of its host."""

    server: ConfiguredServer
    tools: tuple[tuple[str, int], ...] = ()
    """A server's tools with their definitions' tokens, as an upper bound, the largest first."""
    fault: str = ""
    """Why there are none: the words of the server, its program or its address."""

    @property
    def tokens(self) -> int:
        """Tokens of the definitions of all tools of a server together."""
        return sum(tokens for _, tokens in self.tools)


@dataclass(frozen=True)
class _Listed:
    """A listed tool, in the form from which definitions are made."""

    name: str
    description: str
    arguments: dict[str, object]

    def schema(self) -> dict[str, object]:
        """Return its arguments as the server gave them."""
        return self.arguments


def ask_servers(
    servers: Sequence[ConfiguredServer],
    counter: TokenCounter,
    wire: str,
    *,
    seconds: float = SERVER_SECONDS,
    tell: Callable[[str], None] = lambda _: None,
) -> list[ServerTools]:
    """Return what each server's tools cost, in order. Needs `penstock[mcp]`.

    Args:
        servers: whom to ask.
        counter: counts the definitions.
        wire: the API whose form of definitions is counted.
        seconds: the time limit of one server.
        tell: receives a line as each server has answered.
    """
    found: dict[int, ServerTools] = {}

    async def ask(at: int, limit: anyio.CapacityLimiter) -> None:
        server = servers[at]
        if server.fault:
            found[at] = ServerTools(server=server, fault=server.fault)
            return
        async with limit:
            with tempfile.TemporaryFile("w+", errors="replace") as spoken:
                try:
                    with anyio.fail_after(seconds):
                        listed = await _listed(server, spoken)
                except TimeoutError:
                    fault = f"no answer within {seconds:g} seconds"
                    found[at] = ServerTools(server=server, fault=_with_last_words(fault, spoken))
                except Exception as error:  # noqa: BLE001 - whatever one server does, the others are asked
                    found[at] = ServerTools(server=server, fault=_with_last_words(_said(error), spoken))
                else:
                    found[at] = ServerTools(server=server, tools=_counted(listed, counter, wire))
        tell(f"{server.name}: {found[at].fault or f'{len(found[at].tools)} tools'}")

    async def ask_all() -> None:
        limit = anyio.CapacityLimiter(_AT_ONCE)
        async with anyio.create_task_group() as group:
            for at in range(len(servers)):
                group.start_soon(ask, at, limit)

    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it prints a traceback for each line that is not a message
    anyio.run(ask_all)
    return [found[at] for at in range(len(servers))]


def _counted(listed: Sequence[_Listed], counter: TokenCounter, wire: str) -> tuple[tuple[str, int], ...]:
    """Return each tool with its definition's size, counted as `penstock bill` counts those of a request."""
    rows = [(tool.name, counter.count(as_json(tool_definitions([tool], wire))).high) for tool in listed]
    return tuple(sorted(rows, key=lambda row: -row[1]))


async def _listed(server: ConfiguredServer, spoken: Any) -> list[_Listed]:
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(await _transport(server, stack, spoken)))
        tools: list[_Listed] = []
        cursor, seen = None, set[str]()
        while len(seen) < _MAX_PAGES:
            page = await client.list_tools(cursor=cursor)
            tools += [_Listed(tool.name, tool.description or "", dict(tool.input_schema)) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return tools
            if cursor in seen:  # a thousand more of the same page would take seconds, or the whole time limit
                raise CallerError(f"its list of tools has no end: after page {len(seen) + 1} it begins again")
            seen.add(cursor)
        raise CallerError(f"its list of tools has no end: {_MAX_PAGES} pages, and more after them")


async def _transport(server: ConfiguredServer, stack: AsyncExitStack, spoken: Any) -> Any:
    if not server.url:
        from mcp.client.stdio import StdioServerParameters, stdio_client

        command, *rest = server.words
        environment = {**os.environ, **dict(server.variables)}
        return stdio_client(StdioServerParameters(command=command, args=rest, env=environment), errlog=spoken)
    if server.is_events:
        from mcp.client.sse import sse_client

        return sse_client(server.url, headers=dict(server.headers))
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async def note(response: httpx2.Response) -> None:
        if response.is_error:  # the SDK does not report which one it was: 401 asks for a login
            spoken.write(f"HTTP {response.status_code} {response.reason_phrase}\n")
        whole = response.stream

        class Bounded(httpx2.AsyncByteStream):
            """A body without an end is an error before it fills the memory."""

            async def __aiter__(self) -> AsyncIterator[bytes]:
                left = _MAX_BYTES
                async for part in cast("httpx2.AsyncByteStream", whole):
                    left -= len(part)
                    if left < 0:
                        spoken.write(f"its answer is longer than {_MAX_BYTES} bytes\n")
                        raise httpx2.ReadError(f"an answer of more than {_MAX_BYTES} bytes")
                    yield part

            async def aclose(self) -> None:
                await cast("httpx2.AsyncByteStream", whole).aclose()

        response.stream = Bounded()

    client = httpx2.AsyncClient(headers=dict(server.headers), timeout=SERVER_SECONDS, event_hooks={"response": [note]})
    http = await stack.enter_async_context(client)
    return streamable_http_client(server.url, http_client=http)


def _with_last_words(fault: str, spoken: Any) -> str:
    """Return a fault with the last line that the server's process wrote to standard error, or the last HTTP error status."""
    spoken.seek(0)
    words = spoken.read().strip().rpartition("\n")[2][-200:]
    return f"{fault}: {words}" if words else fault


def _said(error: BaseException) -> str:
    """Return the message of an error; for a group of errors, of the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(str(error).split())[:300] or type(error).__name__

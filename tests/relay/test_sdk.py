"""Does the official SDK work on both sides of the relay, in both eras, with a client that checks results against schemas?"""

from __future__ import annotations

import asyncio
import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcp import Client
from tests.mcp.conftest import REPOSITORY, warm_python
from tests.relay.test_stdio import warm_relay

if TYPE_CHECKING:
    from pathlib import Path

SERVER = '''
from pydantic import BaseModel
from mcp.server import MCPServer

server = MCPServer("official")


class Rows(BaseModel):
    rows: list[int]
    note: str


@server.tool()
def rows(count: int) -> Rows:
    """Rows, as structured content with a schema."""
    return Rows(rows=list(range(count)), note="all")


@server.tool()
def text(count: int) -> str:
    """A text, which the SDK wraps as structured content."""
    return "a line of text\\n" * count


server.run()
'''


@pytest.mark.proves("Y-1")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_client_of_the_sdk_takes_cut_results(mode: Any, tmp_path: Path) -> None:
    """Small ones come whole with their structured content, large ones as text, with pages of these."""
    relay = [*warm_relay(), "--", *warm_python(), "-c", SERVER]
    environment = {**os.environ, "PENSTOCK_STORE": str(tmp_path / "store")}

    async def steps() -> None:
        server = StdioServerParameters(command=relay[0], args=relay[1:], env=environment, cwd=str(REPOSITORY))
        async with Client(stdio_client(server), mode=mode) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == ["rows", "text", "ctx_page", "ctx_find"]
            assert not any(tool.output_schema for tool in tools)
            small = await client.call_tool("rows", {"count": 3})
            assert small.structured_content == {"rows": [0, 1, 2], "note": "all"}
            for tool, last in (("rows", "19999"), ("text", "a line of text")):
                cut = await client.call_tool(tool, {"count": 20_000})
                assert cut.structured_content is None
                (block,) = cut.content
                assert block.type == "text"
                assert len(block.text) <= 16_000
                found = re.search(r'handle="([^"]+)"', block.text)
                assert found
                page = await client.call_tool("ctx_find", {"handle": found[1], "pattern": last})
                assert page.content[0].type == "text"
                assert last in page.content[0].text.partition("\n")[2]

    asyncio.run(steps())

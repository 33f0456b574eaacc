"""Does the official client see the protocol right: both eras, in memory, over pipes and over HTTP, for every tool?"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

import pytest
from tests.mcp.conftest import REPOSITORY, TOKEN, our_command, text_of, warm_python
from tests.mcp.double_server import TABLE, Doubles

from penstock.errors import CallerError
from penstock.mcp_server import create_server
from penstock.store import open_store
from penstock.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

ERAS = ("legacy", "2026-07-28", "auto")
CALLS: dict[str, tuple[dict[str, object], str]] = {
    "ctx_view": ({"file_path": "hello.txt", "limit": 2}, "1|line 1\n2|line 2"),
    "ctx_read_file": ({"path": "hello.txt", "start_line": 3, "end_line": 3}, "     3\tline 3"),
    "ctx_outline": ({"path": "program.py"}, "main"),
    "ctx_list_files": ({}, "hello.txt"),
    "ctx_count_files": ({}, "2"),
    "ctx_search": ({"pattern": "line 30[0]"}, "hello.txt"),
    "ctx_page": ({"limit": 1}, "showing lines 1-1 of 2 total"),
    "ctx_find": ({"pattern": "kept"}, "2|6|a kept line"),
}


def _run(steps: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(30):
            await steps()

    asyncio.run(bounded())


@asynccontextmanager
async def _client(transport: str, root: Path, era: str, port: int = 0) -> AsyncIterator[Any]:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    from mcp import Client

    server: Any
    if transport == "memory":
        server = create_server(root)
    else:
        kept = {"PENSTOCK_STORE": os.environ["PENSTOCK_STORE"]}  # a host passes on little of its environment
        python, *arguments = [*warm_python(), *our_command(root)]
        command = StdioServerParameters(command=python, args=arguments, cwd=REPOSITORY, env=kept)
        # The default error output is the one at the SDK's first import, which may be closed by now.
        server = stdio_client(command, errlog=sys.stderr)
    async with Client(server, mode=era) as client:
        yield client


@pytest.mark.proves("L-9")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("transport", ["memory", "stdio"])
def test_every_tool_answers_in_both_eras(workspace: Path, transport: str, era: str) -> None:
    """The official client lists and calls all eight tools: one block of text, nothing structured."""
    with closing(open_store()) as store:
        handle = store.put(b"first\na kept line\n")

    async def steps() -> None:
        async with _client(transport, workspace, era) as client:
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == list(CALLS)
            for name, (arguments, expected) in CALLS.items():
                of_what = {"handle": handle} if name in {"ctx_page", "ctx_find"} else {}
                result = await client.call_tool(name, {**of_what, **arguments})
                assert not result.is_error, result
                (block,) = result.content
                assert expected in block.text, name
                assert result.structured_content is None

    _run(steps)


@pytest.mark.parametrize("era", ERAS)
def test_the_official_client_is_served_over_http(doubles_port: int, era: str) -> None:
    """The token is in its header, in both eras, without a session on the server."""

    async def steps() -> None:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        from mcp import Client

        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers) as web:
            transport = streamable_http_client(f"http://127.0.0.1:{doubles_port}/mcp", http_client=web)
            async with Client(transport, mode=era) as client:
                assert [tool.name for tool in (await client.list_tools()).tools] == [tool.name for tool in TABLE]
                result = await client.call_tool("echo", {"text": "é"})
                assert text_of(result).startswith("{'text': 'é'}")

    _run(steps)


@pytest.mark.proves("L-9")
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_wrong_arguments_are_results_that_name_the_field(workspace: Path, era: str) -> None:
    """H22, H23: nothing is coerced, and the model reads what the field takes, not a protocol error."""
    values: list[object] = [-1, 2**63, 2**64, 10**400, 1.5, 5.0, "5", True, [], {}]
    wrong: list[tuple[dict[str, object], str]] = [({"offset": value}, "offset") for value in values]
    wrong += [
        ({"limit": 0}, "limit"),
        ({"ofset": 1}, "offset"),
        ({"file_path": 7}, "file_path"),
        ({"x" * 5000: 1}, "x"),
    ]

    async def steps() -> None:
        async with _client("memory", workspace, era) as client:
            for arguments, field in wrong:
                result = await client.call_tool("ctx_view", {"file_path": "hello.txt", **arguments})
                text = text_of(result)
                assert result.is_error, arguments
                assert field in text, arguments
                assert len(text) < 2000, arguments
            missing = await client.call_tool("ctx_view", {})
            assert missing.is_error
            assert "file_path" in text_of(missing)
            for offset in (0, 2**31, 2**53 + 1, 2**63 - 1, None):  # null counts as omitted
                result = await client.call_tool("ctx_view", {"file_path": "hello.txt", "offset": offset})
                assert not result.is_error, offset

    _run(steps)


@pytest.mark.proves("B-1")
def test_lines_win_over_bytes_and_the_ignored_ones_are_named(workspace: Path) -> None:
    """H24 over the protocol, with both kinds of parameters at once."""

    async def steps() -> None:
        async with _client("memory", workspace, "auto") as client:
            both = {"path": "hello.txt", "start_line": 2, "end_line": 2, "start_byte": 100}
            result = await client.call_tool("ctx_read_file", both)
            assert "line 2" in text_of(result)
            assert "start_byte" in text_of(result).splitlines()[0]

    _run(steps)


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_an_unknown_tool_is_a_protocol_error_that_names_the_near_one(workspace: Path, era: str) -> None:
    """It is -32602, as specified; a huge or hostile name is echoed cut and inert."""
    from mcp.shared.exceptions import MCPError

    async def steps() -> None:
        async with _client("memory", workspace, era) as client:
            for name, expected in (("ctx_veiw", "ctx_view"), ("view", "ctx_view"), ("x" * 10**6, "ctx_search")):
                with pytest.raises(MCPError) as caught:
                    await client.call_tool(name, {})
                assert caught.value.error.code == -32602
                assert expected in caught.value.error.message
                assert len(caught.value.error.message) < 1000

    _run(steps)


def test_the_list_is_the_same_for_everyone_and_short() -> None:
    """It has names, order and annotations, and at most 2 KB of description, where hosts cut; unknown arguments are forbidden."""

    async def steps() -> None:
        from mcp import Client

        lists = []
        for era in ("legacy", "2026-07-28"):
            async with Client(create_server(Doubles(), table=TOOLS), mode=era) as client:
                lists.append([tool.model_dump() for tool in (await client.list_tools()).tools])
                instructions = client.instructions
        assert lists[0] == lists[1]
        assert len(lists[0]) <= 10
        for tool in lists[0]:
            hints = tool["annotations"]
            assert (hints["read_only_hint"], hints["destructive_hint"]) == (True, False)
            assert (hints["idempotent_hint"], hints["open_world_hint"]) == (True, False)
            assert len(tool["description"].encode()) < 2048
            assert tool["input_schema"]["additionalProperties"] is False
            assert tool["output_schema"] is None
            assert tool["meta"] == {"anthropic/maxResultSizeChars": 50_000}
        assert instructions is None  # a foreign table has its own usage text

    _run(steps)


def test_the_instructions_say_how_to_read(workspace: Path) -> None:
    """It is the navigation text, under the 2 KB that hosts keep, with the names that the tools have here."""

    async def steps() -> None:
        async with _client("memory", workspace, "auto") as client:
            assert "Search first" in client.instructions
            assert "ctx_page" in client.instructions
            assert len(client.instructions.encode()) < 2048

    _run(steps)


def test_a_prefix_reaches_names_and_printed_calls(workspace: Path) -> None:
    """With `--tool-prefix`, the call that a result names is one that the list offers."""

    async def steps() -> None:
        from mcp import Client

        server = create_server(workspace, prefix="p.")
        async with Client(server) as client:
            result = await client.call_tool("p.view", {"file_path": "hello.txt"})
            assert "next: p.view(file_path=" in text_of(result)

    _run(steps)


def test_a_fault_of_ours_is_an_answer_too(caplog: pytest.LogCaptureFixture) -> None:
    """An exception is logged without secrets, and reported without its text; surrogates are escaped."""

    async def steps() -> None:
        from mcp import Client

        async with Client(create_server(Doubles(), table=TABLE, prefix="")) as client:
            result = await client.call_tool("raises", {})
            assert result.is_error
            assert "a fault of ours" not in text_of(result)
            assert text_of(await client.call_tool("surrogate", {})) == "a\\ud800b\\udcffc"

    _run(steps)
    assert "a fault of ours, password=[redacted: secret, 14 characters]" in caplog.text
    assert "hunter2" not in caplog.text


def test_importing_the_server_imports_no_sdk() -> None:
    """`penstock` on the command line loads the protocol only when it serves."""
    import subprocess

    code = "import sys, penstock.mcp_server; print([m for m in ('mcp', 'uvicorn', 'pydantic', 'anyio') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize("options", [{"prefix": "a b"}, {"prefix": "x" * 49}, {"budget": 100}, {"budget": True}])
def test_what_cannot_be_served_is_refused_at_the_start(workspace: Path, options: dict[str, Any]) -> None:
    """An invalid prefix or an empty budget is reported to the person, not later to every model."""
    with pytest.raises(CallerError):
        create_server(workspace, **options)

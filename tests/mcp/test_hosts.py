"""How much does each host show, by the table, and does that limit reach the tools in both eras?"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest
from tests.mcp.conftest import REPOSITORY, text_of
from tests.mcp.double_server import TABLE, Doubles

from penstock.mcp_server import create_server
from penstock.mcp_server.hosts import HOSTS, UNKNOWN, allowance_for
from penstock.text.allowance import Allowance

if TYPE_CHECKING:
    from pathlib import Path

# integration.md section 2, "Budget rule"
TABLE_OF_THE_EVIDENCE = {
    "claude-code": "45000 characters",
    "codex-mcp-client": "11000 characters",
    "gemini-cli-mcp-client": "38000 characters",
    "opencode": "48000 bytes",
    "qwen-cli-mcp-client-penstock": "26000 characters",
    "copilot-cli": "19000 bytes",
    "Visual Studio Code": "8000 bytes",
    "Visual Studio Code - Insiders": "8000 bytes",
    "somebody": "16000 characters",
    "": "16000 characters",
}


@pytest.mark.parametrize(("client", "within"), TABLE_OF_THE_EVIDENCE.items())
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_a_result_fits_the_host_that_asked(client: str, within: str, era: str) -> None:
    """The budget of `clientInfo.name` reaches the tool."""

    async def steps() -> None:
        from mcp_types import Implementation

        from mcp import Client

        server = create_server(Doubles(), table=TABLE, prefix="")
        info = Implementation(name=client, version="1")
        async with Client(server, mode=era, client_info=info) as connected:
            result = await connected.call_tool("echo", {})
            assert text_of(result) == f"{{}} within {within}"

    asyncio.run(steps())


def test_a_budget_that_was_asked_for_wins() -> None:
    """`--budget CHARS` applies to every host; no name means an unknown host."""
    assert allowance_for("claude-code", 1234) == Allowance.chars(1234)
    assert allowance_for(None) == UNKNOWN
    assert allowance_for("x" * 10**6) == UNKNOWN


def test_no_host_name_begins_another() -> None:
    """The first match is the only one."""
    names = [host.client for host in HOSTS]
    assert not [(one, other) for one in names for other in names if one != other and one.startswith(other)]


@pytest.mark.parametrize("client", ["Visual Studio Code", "codex-mcp-client", "claude-code"])
def test_a_page_of_a_large_file_is_just_below_the_cut(tmp_path: Path, client: str) -> None:
    """Most of the budget is used, none of it exceeded, and the next call is on the first line."""
    (tmp_path / "large.txt").write_text("".join(f"{number:>60}\n" for number in range(20_000)))

    async def steps() -> None:
        from mcp_types import Implementation

        from mcp import Client

        server = create_server(tmp_path)
        info = Implementation(name=client, version="1")
        async with Client(server, client_info=info) as connected:
            result = await connected.call_tool("ctx_read_file", {"path": "large.txt", "max_bytes": 262144})
            text = text_of(result)
            allowed = allowance_for(client)
            assert 0.8 * allowed.limit < allowed.measure(text) <= allowed.limit
            assert "next: ctx_read_file(" in text.splitlines()[0]

    asyncio.run(steps())


def test_the_documentation_has_the_same_table() -> None:
    """Every host of the table is in docs/mcp.md with its number."""
    page = (REPOSITORY / "docs" / "mcp.md").read_text()
    for host in HOSTS:
        assert re.search(rf"`{re.escape(host.client)}\S*` \| {host.allowance} \|", page), host
    assert f"| any other | | {UNKNOWN} | |" in page

"""Can the official client, over MCP and from a confined process, read back byte for byte what was cut elsewhere?"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

import pytest
from tests import printed
from tests.cli.screens import typed
from tests.mcp.conftest import REPOSITORY, Wire, call, our_command, our_server, text_of, warm_python

from penstock.mcp_server.hosts import allowance_for
from penstock.store import open_store
from penstock.text.calls import Call
from penstock.workspace import landlock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

needs_landlock = pytest.mark.skipif(landlock.abi() == 0, reason="this kernel offers no Landlock")

OUTPUT = "".join(f"{number}: what a command printed, ümläut\n" for number in range(6_000)) + "no line end"


def guarded(output: str = OUTPUT, **environment: str) -> str:
    """Return the handle that `penstock guard` gives; another process reads it."""
    arguments = ("guard", "--chars", "600", "--json")
    done = typed(*arguments, cwd=REPOSITORY, stdin=output.encode(), environment={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    (handle,) = json.loads(done.stdout)["handles"]
    assert isinstance(handle, str)
    return handle


def contents(folder: Path) -> dict[str, bytes]:
    """Return what is kept: files by name, and the rows that name them."""
    with closing(open_store(str(folder))) as store:
        rows = repr((store.artifacts(), store.sessions())).encode()
    return {"": rows, **{file.name: file.read_bytes() for file in (folder / "contents").iterdir()}}


@asynccontextmanager
async def _over_stdio(python: list[str], root: Path, tmp_path: Path) -> AsyncIterator[Any]:
    from mcp.client.stdio import StdioServerParameters, stdio_client

    with (tmp_path / "errors").open("w+") as errors:
        kept = {"PENSTOCK_STORE": os.environ["PENSTOCK_STORE"]}
        arguments = [*python[1:], *our_command(root)]
        command = StdioServerParameters(command=python[0], args=arguments, cwd=REPOSITORY, env=kept)
        yield stdio_client(command, errlog=errors)
        errors.seek(0)
        assert errors.read() == ""  # `without Landlock` would be printed here


@asynccontextmanager
async def _over_http(python: list[str], root: Path, tmp_path: Path) -> AsyncIterator[Any]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    options = {"http": "127.0.0.1:0", "token_file": str(tmp_path / "token")}
    command = [*python, *our_command(root, **options)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, cwd=REPOSITORY) as process:
        assert process.stderr is not None
        try:
            said = process.stderr.readline().decode()
            headers = {"Authorization": f"Bearer {(tmp_path / 'token').read_text().strip()}"}
            port = said.partition("127.0.0.1:")[2].partition("/")[0]
            async with httpx2.AsyncClient(headers=headers) as web:
                yield streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=web)
        finally:
            process.terminate()
        assert process.stderr.read() == b""


SERVED = {"stdio": _over_stdio, "http": _over_http}


def _run(steps: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await steps()

    asyncio.run(bounded())


@needs_landlock
@pytest.mark.proves("G-3", "G-8")
@pytest.mark.parametrize(("transport", "name"), [("stdio", "Visual Studio Code"), ("http", "codex-mcp-client")])
def test_a_cut_output_is_paged_back_byte_for_byte(
    workspace: Path, tmp_path: Path, store_folder: Path, transport: str, name: str
) -> None:
    """It is cut by one process and read by another behind its wall: every page fits its host, and nothing is kept again."""
    handle = guarded()
    before = contents(store_folder)

    async def steps() -> None:
        from mcp_types import Implementation

        from mcp import Client

        async with (
            SERVED[transport]([sys.executable], workspace, tmp_path) as served,
            Client(served, client_info=Implementation(name=name, version="1")) as client,
        ):
            allowed, shown = allowance_for(name), ""
            following: Call | None = Call("ctx_page", {"handle": handle})
            while following is not None:
                result = await client.call_tool(following.tool, dict(following.arguments))
                assert not result.is_error, result
                text = text_of(result)
                assert allowed.holds(text)
                shown += printed.body(text)
                following = printed.call_in(text.partition("\n")[0], "next: ")
            assert shown == OUTPUT

            found = text_of(await client.call_tool("ctx_find", {"handle": handle, "pattern": "^4321:"}))
            assert allowed.holds(found)
            head, row = found.splitlines()
            assert head.startswith(f"{handle}: 1 matching line | ")
            around = printed.call_in(head, "to read around a match: ")
            assert around is not None
            page = text_of(await client.call_tool(around.tool, dict(around.arguments)))
            assert printed.body(page).startswith("4321: what")
            assert row == f"4322|{around.arguments['start_byte']}|4321: what a command printed, ümläut"

            everything = await client.call_tool("ctx_find", {"handle": handle, "pattern": ".", "limit": 500})
            assert allowed.holds(text_of(everything))
            assert "6001 matching lines" in text_of(everything)

    _run(steps)
    assert contents(store_folder) == before


@needs_landlock
@pytest.mark.proves("G-3", "L-9")
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_handle_that_leads_nowhere_is_an_error_result(workspace: Path, tmp_path: Path, transport: str) -> None:
    """It is a result with a code, not a protocol error; one for an expired handle says that it is final."""
    gone = guarded(PENSTOCK_STORE_LIFE_DAYS="1e-9")
    handle = guarded("another\n" * 2_000)
    wrong: list[tuple[dict[str, object], str, str]] = [
        ({"handle": gone}, "expired", "cannot be read again"),
        ({"handle": "a" * 22}, "not_found", "There is no artifact"),
        ({"handle": "../hello.txt"}, "not_found", "is not a handle"),
        ({"handle": 7}, "bad_argument", "handle: takes a string"),
        ({}, "bad_argument", "handle: is required"),
        ({"handle": handle, "offset": True}, "bad_argument", "offset: takes an integer"),
        ({"handle": handle, "limit": 0}, "bad_argument", "limit: takes an integer from 1"),
        ({"handle": handle, "line": 3}, "bad_argument", "has no argument line"),
    ]

    async def steps() -> None:
        from mcp import Client

        async with SERVED[transport](warm_python(), workspace, tmp_path) as served, Client(served) as client:
            for arguments, code, words in wrong:
                for tool, more in (("ctx_page", {}), ("ctx_find", {"pattern": "x"})):
                    if tool == "ctx_find" and "offset" in arguments:
                        continue  # it has none
                    result = await client.call_tool(tool, {**arguments, **more})
                    assert result.is_error, arguments
                    assert (result.meta or {})["penstock/code"] == code, arguments
                    assert words in text_of(result)
                    assert len(text_of(result)) < 600

    _run(steps)


@needs_landlock
@pytest.mark.proves("G-3")
def test_a_store_that_comes_later_is_read_behind_the_wall(workspace: Path, store_folder: Path) -> None:
    """The server starts before anything is kept; its folder exists and is empty until a page is requested."""
    wire = our_server(workspace, fresh=True)
    wire.ask("tools/list")
    assert _is_confined(wire)
    assert list(store_folder.iterdir()) == []
    wire.ask("tools/call", 2, name="ctx_view", arguments={"file_path": "hello.txt"})
    assert list(store_folder.iterdir()) == []
    handle = guarded()
    answer = wire.ask("tools/call", 3, name="ctx_page", arguments={"handle": handle, "limit": 1})
    assert "showing lines 1-1 of 6001 total" in answer["result"]["content"][0]["text"]
    assert wire.end() == (0, b"", b"")


def _is_confined(wire: Wire) -> bool:
    """Return whether a process gave up new privileges, which is done before the wall is set up."""
    with open(f"/proc/{wire.process.pid}/status", encoding="ascii") as status:
        return "NoNewPrivs:\t1\n" in status.read()


_BEHIND = """
import json, os, sys
from penstock.mcp_server import _confine
from penstock.workspace import Workspace
unreachable = _confine(Workspace(sys.argv[1]))

def outcome(path, mode):
    try:
        open(path, mode).close()
    except OSError as error:
        return type(error).__name__
    return "done"

store = os.environ["PENSTOCK_STORE"]
print(json.dumps([unreachable, *(outcome(os.path.join(store, *at), mode) for at, mode in (
    (["in it"], "w"), (["in it"], "r"), (["..", "beside it"], "w"), (["..", "outside.txt"], "r"),
    (["..", "root", "hello.txt"], "r"), (["..", "root", "hello.txt"], "a")))]))
"""


@needs_landlock
@pytest.mark.proves("L-8")
def test_the_wall_lets_the_store_through_and_nothing_next_to_it(workspace: Path, store_folder: Path) -> None:
    """Its folder can be read and written, nothing next to it; the root can still only be read."""
    command = [sys.executable, "-c", _BEHIND, str(workspace)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/", timeout=30)
    no = "PermissionError"
    assert json.loads(done.stdout) == ["", "done", "done", no, no, "done", no]
    assert store_folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("url", "words", "confined"),
    [
        ("mysql://host/db", "A store is sqlite:///FOLDER", True),
        ("{0}/outside.txt", "is a file, not a folder", True),
        ("{0}/outside.txt", "is a file, not a folder", False),
        ("{0}/shared", "is open to others and not empty", True),
        ("/proc/nothing/here", "/proc/nothing", True),
        ("postgresql://user:hunter2@127.0.0.1:1/db", "cannot be reached: connection failed", True),
    ],
)
def test_a_server_without_a_usable_store_serves_the_other_tools(
    workspace: Path, tmp_path: Path, url: str, words: str, confined: bool
) -> None:
    """Both pagers report its fault, without a password; the wall lets nothing of it through."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o755)
    (tmp_path / "shared" / "a file").touch()
    is_fresh = url.startswith("postgresql:")  # behind the wall it imports the database client
    wire = Wire(*our_command(workspace, landlock=confined), fresh=is_fresh, PENSTOCK_STORE=url.format(tmp_path))
    view = wire.ask("tools/call", 1, name="ctx_view", arguments={"file_path": "hello.txt", "limit": 1})
    assert "1|line 1" in view["result"]["content"][0]["text"]
    for number, tool, more in ((2, "ctx_page", {}), (3, "ctx_find", {"pattern": "x"}), (4, "ctx_page", {})):
        wire.send(call(tool, number, handle="a" * 22, **more))
        result = wire.read()["result"]
        assert result["isError"]
        assert result["_meta"]["penstock/code"] == "io_error"
        assert words in result["content"][0]["text"]
        assert "hunter2" not in result["content"][0]["text"]
    assert wire.end() == (0, b"", b"")
    assert sorted(file.name for file in workspace.iterdir()) == ["hello.txt", "program.py"]


@needs_landlock
@pytest.mark.proves("L-7")
def test_a_ranked_search_behind_the_wall_keeps_its_index(workspace: Path, tmp_path: Path, store_folder: Path) -> None:
    """A confined process may write only next to the store, so the index is there."""

    async def steps() -> None:
        from mcp import Client

        async with _over_stdio([sys.executable], workspace, tmp_path) as served, Client(served) as client:
            for _ in range(2):
                result = await client.call_tool("ctx_search", {"pattern": "what does main return", "ranked": True})
                assert not result.is_error, result
                assert "## program.py:1-2\n1|def main():\n2|    return 1" in text_of(result)

    _run(steps)
    [index] = (store_folder / "ranked").iterdir()
    assert index.stat().st_mode & 0o777 == 0o600

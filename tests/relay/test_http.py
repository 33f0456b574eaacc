"""Are servers over HTTP guarded, for hosts at pipes and over HTTP?"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import socket
import subprocess
import time
from codecs import BOM_UTF8
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from mcp import Client
from penstock.store import open_store
from tests.mcp.conftest import REPOSITORY, warm_python
from tests.relay.odd_server import FLOOD, OddServer
from tests.relay.test_stdio import RELAY, Ends, warm_relay
from tests.relay.traffic import call, line, modern, request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture
def odd() -> Iterator[OddServer]:
    with OddServer() as server:
        yield server


def modern_call(tool: str, number: object = 1, **arguments: object) -> bytes:
    """Return a call of the modern era."""
    return modern("tools/call", number, name=tool, arguments=arguments)


@contextmanager
def proxied(url: str, store: Path, *options: str, fresh: bool = False) -> Iterator[int]:
    """Yield the port at which the relay serves a URL; with `fresh`, that of a new interpreter."""
    command = [*(RELAY if fresh else warm_relay()), "--url", url, "--http", "127.0.0.1:0", *options]
    environment = {**os.environ, "PENSTOCK_STORE": str(store)}
    with subprocess.Popen(command, cwd=REPOSITORY, env=environment, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            found = re.search(rb"at http://127\.0\.0\.1:(\d+)/mcp", process.stderr.readline())
            assert found
            yield int(found[1])
        finally:
            process.terminate()
            assert b"Traceback" not in process.stderr.read()
            assert process.wait(10) == 143


def ask(
    port: int, body: bytes, method: str = "POST", path: str = "/mcp", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of one request."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(method, path, body.strip() or None, {**JSON, **named})
        with connection.getresponse() as response:
            return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()


def text_of(body: bytes) -> str:
    return str(json.loads(body)["result"]["content"][0]["text"])


def is_cut(text: str, store: Path) -> bool:
    """Return whether a text is the cut flood, with the whole at its handle."""
    found = re.search(r'ctx_page\(handle="([^"]+)"', text)
    if not found:
        return False
    kept = open_store(str(store))
    try:
        return kept.read(found[1], 0, 1 << 20) == FLOOD.encode() and len(text) <= 16_000
    finally:
        kept.close()


@pytest.mark.proves("Y-1")
@pytest.mark.parametrize("how", ["json", "gzip", "mark", "moved", "events"])
def test_a_flood_over_http_is_cut(how: str, odd: OddServer, tmp_path: Path) -> None:
    """It comes as JSON, packed, after a byte order mark or a redirect within the origin, and as an event after others."""
    with proxied(odd.url, tmp_path / "s") as port:
        status, headers, body = ask(port, call(how))
        assert status == 200
        if how == "events":
            first, second = body.split(b"\r\n\r\n")[:2]
            assert (
                first
                == b': hello\r\nevent: message\r\nid: 1\r\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}'
            )
            assert "x-hop" not in headers
            body = second.removeprefix(b"data: ")
        else:
            assert headers["x-odd"] == "yes"
            assert int(headers["content-length"]) == len(body)
            assert body.startswith(BOM_UTF8) == (how == "mark")
            body = body.removeprefix(BOM_UTF8)
        assert is_cut(text_of(body), tmp_path / "s")
        page = json.loads(body)["result"]["content"][0]["text"].split("ctx_page(handle=")[1].split('"')[1]
        own = ask(port, modern("tools/call", "p", name="ctx_page", arguments={"handle": page, "offset": 9_999}))
        assert "9999: a line" in text_of(own[2])
        assert json.loads(own[2])["result"]["resultType"] == "complete"


def test_an_unknown_packing_passes_as_it_is(odd: OddServer, tmp_path: Path) -> None:
    """It came although no packing was requested; without the header that names it a host could not read it at all."""
    with proxied(odd.url, tmp_path / "s") as port:
        direct = ask(int(odd.url.rpartition(":")[2].partition("/")[0]), call("brotli"))
        through = ask(port, call("brotli"))
        assert through[1]["content-encoding"] == "br"
        assert (through[0], through[2]) == (direct[0], direct[2])


def test_small_answers_pass_with_their_status_and_headers(odd: OddServer, tmp_path: Path) -> None:
    """These are refusals, other resources, notifications, streams and sessions; the host's headers reach the server."""
    with proxied(odd.url, tmp_path / "s", "--header", "X-Key: k") as port:
        status, headers, body = ask(port, call("unauthorised"))
        assert (status, headers["www-authenticate"], body) == (401, 'Bearer resource_metadata="x"', b"who?")
        assert ask(port, call("refused"))[0] == 400
        assert ask(port, b"", "GET")[:1] == (405,)
        assert ask(port, b"", "GET", "/.well-known/x?y=1")[2] == b"/.well-known/x?y=1"
        assert ask(port, line({"jsonrpc": "2.0", "method": "notifications/initialized"}))[0] == 202
        status, headers, body = ask(port, request("initialize", 1, clientInfo={"name": "codex-mcp-client"}))
        assert (headers["mcp-session-id"], json.loads(body)["result"]["protocolVersion"]) == ("session-1", "2025-11-25")
        assert b"\n" in body  # as the server wrote it
        small = text_of(ask(port, call("json", 5), mcp_session_id="session-1", connection="x-mine", x_mine="1")[2])
        assert 10_000 < len(small) <= 11_000  # what that host shows
        assert ask(port, b"", "DELETE", mcp_session_id="session-1")[0] == 200
        _, sent, raw = odd.seen[-2]
        assert (sent["x-key"], sent["mcp-session-id"], raw) == ("k", "session-1", call("json", 5).strip())
        assert "x-mine" not in sent


@pytest.mark.parametrize("session", [{"mcp_session_id": "session-1"}, {}], ids=["session", "no session"])
def test_a_stream_is_resumed_where_it_broke_off(session: dict[str, str], odd: OddServer, tmp_path: Path) -> None:
    """The answer to a call comes on another request, with `Last-Event-ID`, and is cut there."""
    with proxied(odd.url, tmp_path / "s") as port:
        if session:
            ask(port, request("initialize", 0, clientInfo={"name": "x"}))
        ask(port, call("breaks off", "7"), **session)
        _, _, body = ask(port, b"", "GET", last_event_id="7", **session)
        assert body.startswith(b"id: 2\r\ndata: ")
        assert is_cut(text_of(body.partition(b"data: ")[2]), tmp_path / "s")


@pytest.mark.proves("Y-1")
def test_an_event_without_its_empty_line_is_cut_and_may_come_again(odd: OddServer, tmp_path: Path) -> None:
    """By the standard, readers drop it and resume from the one before; a reader that still shows it must show no flood."""
    with proxied(odd.url, tmp_path / "s") as port:
        ask(port, request("initialize", 0, clientInfo={"name": "x"}))
        for answered in (
            ask(port, call("unended", "7"), mcp_session_id="session-1")[2],
            ask(port, b"", "GET", last_event_id="7", mcp_session_id="session-1")[2],
        ):
            assert is_cut(text_of(answered.rpartition(b"data: ")[2]), tmp_path / "s")


@pytest.mark.parametrize(
    ("header", "status"), [({"host": "evil.example"}, 421), ({"origin": "http://evil.example"}, 403)]
)
def test_other_hosts_and_pages_are_refused(header: dict[str, str], status: int, odd: OddServer, tmp_path: Path) -> None:
    """Nothing of it reaches the server."""
    with proxied(odd.url, tmp_path / "s") as port:
        assert ask(port, call("json"), **header)[0] == status
        assert odd.seen == []


def test_a_stream_that_breaks_off_does_not_look_whole(odd: OddServer, tmp_path: Path) -> None:
    """What came of it passes, the end does not; and the person reads a sentence, not a traceback (which `proxied` checks)."""
    with proxied(odd.url, tmp_path / "s") as port, pytest.raises(http.client.IncompleteRead) as broken:
        ask(port, call("half a stream"))
    assert b"notifications/progress" in broken.value.partial


def test_hanging_up_ends_what_the_server_does(odd: OddServer, tmp_path: Path) -> None:
    """Since 2026-07-28 this is how a call is cancelled."""
    with proxied(odd.url, tmp_path / "s") as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("POST", "/mcp", modern("tools/call", 1, name="hangs"), JSON)
        response = connection.getresponse()
        assert response.read(8) == b": hello\r"
        response.close()
        connection.close()
        assert odd.cancelled.wait(10)


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The error is an HTTP status, or an answer at a pipe."""
    with proxied("http://127.0.0.1:9/mcp", tmp_path / "s") as port:
        assert ask(port, call("json"))[0] == 502
    ends = Ends([*warm_relay(), "--url", "http://127.0.0.1:9/mcp"], tmp_path / "s")
    assert ends.ask(call("json", "x"))["error"]["code"] == -32000
    assert ends.end()[0] == 0


@pytest.mark.parametrize("behind", [["--", "cat"], ["--config", "servers.json"]])
def test_a_program_over_http_is_refused_with_what_works(behind: list[str], tmp_path: Path) -> None:
    """A gateway that starts the relay does work."""
    status, output, errors = Ends([*RELAY, "--http", "127.0.0.1:0", *behind], tmp_path / "s").end()
    assert (status, output) == (2, b"")
    assert b"supergateway --outputTransport streamableHttp --stateful --stdio 'penstock relay -- COMMAND'" in errors


@pytest.fixture
def piped(odd: OddServer, tmp_path: Path) -> Iterator[Ends]:
    """Run the relay at pipes, in front of the odd server."""
    words = [*warm_relay(), "--url", "%{ODD_URL}", "--header", "X-Key: ${ODD_KEY}", "--header", "X-Other: %{ODD_KEY}"]
    ends = Ends(words, tmp_path / "s", ODD_KEY="secret", ODD_URL=odd.url)
    yield ends
    ends.process.kill()
    ends.process.communicate()


@pytest.mark.proves("Y-1")
def test_a_host_at_pipes_speaks_with_a_server_over_http(piped: Ends, odd: OddServer, tmp_path: Path) -> None:
    """Answers are lines, whatever form they came in; headers and sessions are handled."""
    got = piped.ask(request("initialize", "i", protocolVersion="2025-11-25", clientInfo={"name": "x"}))
    assert got["result"]["protocolVersion"] == "2025-11-25"
    piped.send(line({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    assert is_cut(piped.text(call("json", 1)), tmp_path / "s")
    assert is_cut(piped.text(call("gzip", 2)), tmp_path / "s")
    piped.send(call("events", 3))
    assert json.loads(piped.output.readline())["method"] == "notifications/progress"
    assert is_cut(json.loads(piped.output.readline())["result"]["content"][0]["text"], tmp_path / "s")
    assert is_cut(piped.text(call("breaks off", "7")), tmp_path / "s")
    assert piped.text(call("ctx_find", 8, handle="x", pattern="y")).startswith("There is no artifact")
    assert piped.ask(call("says nothing", 9))["error"]["code"] == -32000
    assert piped.ask(call("refused", "r")) == {"jsonrpc": "2.0", "id": "r", "error": {"code": -32001, "message": "no"}}
    refused = piped.ask(call("unauthorised", 10))
    assert (refused["id"], "401" in refused["error"]["message"]) == (10, True)
    assert piped.end()[0] == 0
    methods = [(method, sent.get("mcp-session-id"), sent.get("mcp-protocol-version")) for method, sent, _ in odd.seen]
    assert methods[0] == ("POST", None, None)
    assert methods[1] == ("POST", "session-1", "2025-11-25")
    assert methods[-1] == ("DELETE", "session-1", "2025-11-25")
    assert {(sent["x-key"], sent["x-other"]) for _, sent, _ in odd.seen} == {("secret", "secret")}
    assert "GET" in [method for method, _, _ in methods]


def test_a_modern_call_says_in_headers_what_its_body_says_and_is_cancelled_by_hanging_up(
    piped: Ends, odd: OddServer
) -> None:
    """No notification is sent for the cancellation."""
    piped.send(modern("tools/call", 1, name="hängs"), modern("tools/call", 2, name="hangs"))
    got = [json.loads(piped.output.readline()) for _ in range(2)]
    assert {message.get("method") for message in got} == {None, "notifications/progress"}
    headers = {sent["mcp-name"]: sent for _, sent, _ in odd.seen}
    assert headers["hangs"]["mcp-method"] == "tools/call"
    assert headers["hangs"]["mcp-protocol-version"] == "2026-07-28"
    assert "=?base64?aMOkbmdz?=" in headers
    piped.send(line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}))
    assert odd.cancelled.wait(10)
    assert not [body for _, _, body in odd.seen if b"notifications/cancelled" in body]


@pytest.mark.parametrize("ask_as", [call, modern_call])
def test_a_tool_of_the_server_is_the_servers_before_any_list_has_passed(
    ask_as: Any, odd: OddServer, tmp_path: Path
) -> None:
    """The server is asked for all pages, in the era of the call; no host sees the answers."""
    url = odd.url.replace("/mcp", "/own")
    with proxied(url, tmp_path / "s") as port:
        assert text_of(ask(port, ask_as("ctx_page", 1), mcp_name="ctx_page", mcp_method="tools/call")[2]) == "small"
        assert "no artifact x" in text_of(ask(port, ask_as("penstock_ctx_page", 2, handle="x"))[2])
    ends = Ends([*warm_relay(), "--url", url], tmp_path / "s")
    assert ends.text(ask_as("ctx_page", 1)) == "small"
    assert "no artifact x" in ends.text(ask_as("penstock_ctx_page", 2, handle="x"))
    assert ends.end()[1] == b""
    said = [(sent, json.loads(body)) for _, sent, body in odd.seen]
    assert [message["method"] for _, message in said] == ["tools/list", "tools/list", "tools/call"] * 2
    for sent, message in said:
        assert sent.get("mcp-method", message["method"]) == message["method"]
        assert "mcp-name" not in sent or message["method"] == "tools/call"


def test_a_server_that_is_not_there_keeps_no_call_of_ours(tmp_path: Path) -> None:
    """What was cut before can be read."""
    with proxied("http://127.0.0.1:9/mcp", tmp_path / "s") as port:
        assert "no artifact x" in text_of(ask(port, call("ctx_page", handle="x"))[2])
    ends = Ends([*warm_relay(), "--url", "http://127.0.0.1:9/mcp"], tmp_path / "s")
    assert "no artifact x" in ends.text(call("ctx_page", handle="x"))
    assert ends.end()[0] == 0


@pytest.fixture(scope="module")
def everything() -> Iterator[str]:
    """Yield the URL of a server of the official SDK."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*warm_python(), "-m", "tests.relay.everything", str(port)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(400):
                try:
                    socket.create_connection(("127.0.0.1", port), 0.1).close()
                    break
                except OSError:
                    assert process.poll() is None
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("host", ["pipes", "http"])
def test_the_client_of_the_sdk_reaches_the_server_of_the_sdk(
    mode: Any, host: str, everything: str, tmp_path: Path
) -> None:
    """Progress, pictures, errors, arguments in headers, and floods that are paged work."""
    environment = {**os.environ, "PENSTOCK_STORE": str(tmp_path / "s")}

    async def steps(transport: Any) -> None:
        steps_seen: list[float] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            del total, message
            steps_seen.append(progress)

        async with Client(transport, mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names[-2:] == ["ctx_page", "ctx_find"]
            await client.call_tool("test_tool_with_progress", {}, progress_callback=note)
            assert steps_seen == [0, 50, 100]
            assert (await client.call_tool("test_image_content", {})).content[0].type == "image"
            assert (await client.call_tool("test_error_handling", {})).is_error
            echoed = await client.call_tool("test_x_mcp_header", {"region": "süd"})
            assert echoed.content[0].text == "region=süd"  # type: ignore[union-attr]
            cut = await client.call_tool("rows", {"count": 20_000})
            assert cut.structured_content is None
            found = re.search(r'handle="([^"]+)"', cut.content[0].text)  # type: ignore[union-attr]
            assert found
            page = await client.call_tool("ctx_page", {"handle": found[1]})
            assert not page.is_error

    if host == "pipes":
        words = [*warm_relay(), "--url", everything]
        server = StdioServerParameters(command=words[0], args=words[1:], env=environment, cwd=str(REPOSITORY))
        asyncio.run(steps(stdio_client(server)))
    else:
        with proxied(everything, tmp_path / "s") as port:
            asyncio.run(steps(streamable_http_client(f"http://127.0.0.1:{port}/mcp")))

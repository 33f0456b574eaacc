"""Does the server on standard input and output handle hostile lines, the end of input, signals and cancellation?"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import JSONRPCNotification, JSONRPCResponse
from tests.mcp.conftest import Wire, call, our_server

from penstock.mcp_server import stdio

if TYPE_CHECKING:
    from collections.abc import Iterator


def _resident_kib(process_id: int) -> int:
    status = Path(f"/proc/{process_id}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


BAD_LINES = {
    "half of a UTF-16 pair": b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"\\ud800"}}',
    "half of a UTF-16 pair as an id": b'{"jsonrpc":"2.0","id":"\\udfff","method":"ping"}',
    "invalid UTF-8": b'{"jsonrpc":"2.0","id":9,"method":"\xff\xfe"}',
    "an encoded surrogate": b'{"jsonrpc":"2.0","id":9,"method":"\xed\xa0\x80"}',
    "NaN": b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"a":NaN}}',
    "Infinity": b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"a":-Infinity}}',
    "a number beyond every float": b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"a":1e400}}',
    "a number of 5000 digits": b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"a":' + b"1" * 5000 + b"}}",
    "a name twice": b'{"jsonrpc":"2.0","id":9,"id":10,"method":"ping"}',
    "arrays 20,000 deep": b"[" * 20_000 + b"]" * 20_000,
    "objects 20,000 deep": b'{"jsonrpc":"2.0","id":9,"method":"x","params":' + b'{"a":' * 20_000 + b"1" + b"}" * 20_001,
    "objects 500 deep": b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":' + b'{"a":' * 500 + b"1" + b"}" * 501,
    "a batch": b'[{"jsonrpc":"2.0","id":9,"method":"ping"}]',
    "an empty batch": b"[]",
    "a number": b"17",
    "null": b"null",
    "half an object": b'{"jsonrpc":"2.0","id":9,',
    "a NUL": b"\x00",
    "a byte order mark": b'\xef\xbb\xbf{"jsonrpc":"2.0","id":9,"method":"ping"}',
    "the id true": b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
    "the id null": b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    "the id 1.5": b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    "the id null beside an error": b'{"jsonrpc":"2.0","id":null,"method":"ping","error":{"code":1,"message":"m"}}',
    "a long id of an error": b'{"jsonrpc":"2.0","id":"' + b"9" * 300 + b'","error":{"code":1,"message":"m"}}',
    "an id with an escape": b'{"jsonrpc":"2.0","id":"\\u001b[2J","method":"ping"}',
    "no method": b'{"jsonrpc":"2.0","id":9}',
    "another version": b'{"jsonrpc":"1.0","id":9,"method":"ping"}',
    "parameters as a list": b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[1]}',
}


@pytest.mark.proves("L-9")
def test_every_bad_line_gets_one_error_and_the_process_lives(lasting_doubles: Wire) -> None:
    """H25: an invalid message is answered with -32700 or -32600, and the next call is served."""
    for name, line in BAD_LINES.items():
        lasting_doubles.send(line)
        answer = lasting_doubles.read()
        assert answer["error"]["code"] in {-32700, -32600}, name
        assert answer["id"] in {9, None}, name
        assert len(json.dumps(answer)) < 1000, name
        served = lasting_doubles.ask("tools/call", 5, name="echo", arguments={})
        assert served["result"]["isError"] is False, name


@pytest.mark.proves("L-9")
def test_a_line_of_64_megabytes_is_refused_and_its_memory_given_back(lasting_doubles: Wire) -> None:
    """H25: the resident size is back within 16 MiB, and the process lives."""
    lasting_doubles.ask("tools/list")
    before = _resident_kib(lasting_doubles.process.pid)
    lasting_doubles.send(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (64 << 20) + b'"}')
    answer = lasting_doubles.read()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert "result" in lasting_doubles.ask("tools/list")
    assert _resident_kib(lasting_doubles.process.pid) - before < 16 << 10


@pytest.mark.proves("L-9")
@pytest.mark.parametrize("rest", [b'{"jsonrpc":"2.0","id":7,"meth', b"\xff"])
def test_half_a_line_before_the_end_of_input_ends_cleanly(doubles: Wire, rest: bytes) -> None:
    """H25: nothing was asked, so nothing is answered, with status 0."""
    assert doubles.process.stdin is not None
    doubles.process.stdin.write(rest)
    assert doubles.end() == (0, b"", b"")


def test_the_last_line_needs_no_line_end(doubles: Wire) -> None:
    """A whole message without a line end is served before the process ends."""
    assert doubles.process.stdin is not None
    doubles.process.stdin.write(json.dumps(call("echo", 3)).encode())
    status, output, _ = doubles.end()
    assert status == 0
    assert json.loads(output)["id"] == 3


def test_what_was_asked_before_the_end_of_input_is_answered(doubles: Wire) -> None:
    """Every id has one answer, even if the input ends after it."""
    for number in range(20):
        doubles.send(call("echo", number))
    doubles.send(call("hang", 99, seconds=1))
    status, output, errors = doubles.end()
    answers = [json.loads(line) for line in output.splitlines()]
    assert status == 0
    assert errors == b""
    assert sorted(answer["id"] for answer in answers) == [*range(20), 99]
    assert all("result" in answer for answer in answers)


def test_an_id_in_use_is_not_answered_twice(lasting_doubles: Wire) -> None:
    """A second request with an id that is still in use gets an error without that id."""
    lasting_doubles.send(call("hang", 1, seconds=1))
    lasting_doubles.send(call("echo", 1))
    answers = [lasting_doubles.read(), lasting_doubles.read()]
    assert [answer["id"] for answer in answers] == [None, 1]


def test_an_error_without_an_id_is_not_answered(lasting_doubles: Wire) -> None:
    """It says that a message of ours could not be read; an answer would be answered in turn."""
    lasting_doubles.send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})
    lasting_doubles.send(call("echo", 1))
    assert lasting_doubles.read()["id"] == 1


def test_a_result_with_surrogates_is_answered(lasting_doubles: Wire) -> None:
    """Finding 12: text that UTF-8 cannot carry arrives escaped, and the process lives."""
    answer = lasting_doubles.ask("tools/call", name="surrogate", arguments={})
    assert answer["result"]["content"][0]["text"] == "a\\ud800b\\udcffc"
    assert "result" in lasting_doubles.ask("tools/list")


def test_a_cancelled_call_is_not_answered_and_frees_its_place(lasting_doubles: Wire) -> None:
    """After cancelling both scans of the slow lane a third one is served at once."""
    lasting_doubles.ask("tools/list", 9)  # an id is used once
    lasting_doubles.send(call("scan", 1, seconds=30))
    lasting_doubles.send(call("scan", 2, seconds=30))
    for number in (1, 2):
        lasting_doubles.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    started = time.monotonic()
    assert lasting_doubles.ask("tools/call", 3, name="scan", arguments={"seconds": 0})["id"] == 3
    assert time.monotonic() - started < 20


def test_an_answer_that_was_under_way_when_its_call_was_cancelled_is_not_written() -> None:
    """The session may have the result already; other answers, and messages that answer nothing, go out as before."""

    async def written() -> list[bytes]:
        (incoming, client_out), (client_in, outgoing) = os.pipe(), os.pipe()
        pipe = stdio._Pipe(incoming, outgoing)
        for number in (1, 2):
            pipe._message(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % number)
        pipe._message(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
        to_client, from_session = anyio.create_memory_object_stream[SessionMessage](3)
        for message in (
            JSONRPCResponse(jsonrpc="2.0", id=1, result={}),
            JSONRPCNotification(jsonrpc="2.0", method="notifications/message"),
            JSONRPCResponse(jsonrpc="2.0", id=2, result={}),
        ):
            to_client.send_nowait(SessionMessage(message))
        to_client.close()
        await pipe.take(from_session)
        await pipe.flush()
        os.close(client_out)
        lines = os.read(client_in, 1 << 16).splitlines()
        for descriptor in (client_in, outgoing):
            os.close(descriptor)
        return lines

    lines = [json.loads(line) for line in asyncio.run(written())]
    assert [line.get("id") for line in lines] == [None, 2]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_a_server_quietly(workspace: Path, number: signal.Signals, status: int) -> None:
    """There is no traceback and no output, and the status is the expected one; one case runs in a fresh interpreter."""
    wire = our_server(workspace, fresh=number == signal.SIGTERM)
    wire.ask("tools/list")
    wire.process.send_signal(number)
    wire.process.wait(timeout=40)  # the end of its input, at `end`, would also end it, and may come first
    assert wire.end() == (status, b"", b"")


def test_a_reader_that_goes_away_ends_the_server(doubles: Wire) -> None:
    """Nobody can be answered any more: the process ends by itself, without a traceback."""
    assert doubles.process.stdout is not None
    doubles.ask("tools/list")
    doubles.process.stdout.close()
    doubles.send(call("big", 2, size=200_000))
    assert doubles.process.wait(timeout=10) == 0
    assert doubles.process.stderr is not None
    assert doubles.process.stderr.read() == b""


def test_what_libraries_print_does_not_reach_the_output() -> None:
    """File descriptor 1 belongs to the protocol: other prints go to the error output."""
    code = (
        "import asyncio, os, tests.mcp.double_server as d\n"
        "def noisy(*_, **__):\n"
        "    print('noise', flush=True); os.write(1, b'noise'); return d.Result('quiet', False, None)\n"
        "d.Doubles.call = noisy\n"
        "d.main('stdio')\n"
    )
    wire = Wire("-c", code)
    assert wire.ask("tools/call", name="echo", arguments={})["result"]["content"][0]["text"] == "quiet"
    status, output, errors = wire.end()
    assert (status, output, errors) == (0, b"", b"noise\nnoise")


@pytest.mark.proves("L-9")
def test_a_client_that_never_reads_costs_a_bounded_memory() -> None:
    """It may send until the pipe is full: an answer has 200,000 characters, and no more than 256 of them are made."""
    doubles = Wire("-m", "tests.mcp.double_server", "stdio", fresh=True)
    doubles.ask("tools/list")
    before = _resident_kib(doubles.process.pid)
    assert doubles.process.stdin is not None
    os.set_blocking(doubles.process.stdin.fileno(), False)
    lines = b"".join(json.dumps(call("big", number, size=200_000)).encode() + b"\n" for number in range(2000))
    sent, idle_since = 0, time.monotonic()
    while sent < len(lines) and time.monotonic() - idle_since < 1:
        try:
            sent += os.write(doubles.process.stdin.fileno(), lines[sent : sent + 65536])
            idle_since = time.monotonic()
        except BlockingIOError:
            time.sleep(0.05)
    assert sent < len(lines)
    assert _resident_kib(doubles.process.pid) - before < 96 << 10
    doubles.process.kill()
    doubles.process.communicate()


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """Run our server on a root with one file; assert that it ends well."""
    root = tmp_path_factory.mktemp("root")
    (root / "hello.txt").write_text("line 1\n")
    wire = our_server(root)
    yield wire
    assert wire.end() == (0, b"", b"")


@pytest.mark.proves("L-9")
@pytest.mark.parametrize("arguments", [[1], "a string", 7, True])
def test_arguments_that_are_not_an_object_are_refused_by_the_tool(ours: Wire, arguments: object) -> None:
    """H23: the result names what the tool takes; omitted arguments count as empty."""
    sent = call("ctx_view")
    sent["params"]["arguments"] = arguments
    ours.send(sent)
    result = ours.read()["result"]
    assert result["isError"]
    assert "file_path" in result["content"][0]["text"]
    assert "result" in ours.ask("tools/call", name="ctx_list_files", arguments=None)

"""Does what fits pass as it came, in both directions, including headers except those of the hop (W-1)?"""

from __future__ import annotations

import json
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.gateway import answers
from penstock.gateway.provider import Windows
from penstock.wires import WIRES, wire_named
from tests.gateway.standing import RecordingUpstream, Said, standing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.gateway.standing import Standing

PATHS = {
    "anthropic": "/v1/messages?beta=true",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/gemini-3-pro:generateContent",
    "bedrock": "/model/anthropic.claude%3A0/converse",
}
HOSTILE = (
    rb'{ "model" : "m","x":1.0,"e":1e3,"big":12345678901234567890, "s":"\u00e9\/\ud800",'
    rb'"x_unknown":{"b":[],"a":{}}, "MESSAGES":[{"role":"user","content":"hi","content":"hi\n"}] , "x":2.50 }'
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RecordingUpstream, Standing]]:
    with (
        RecordingUpstream(lambda _: Said()) as upstream,
        standing(tmp_path_factory.mktemp("gateway"), upstream.url) as gateway,
    ):
        yield upstream, gateway


def test_every_wire_has_a_path() -> None:
    """A new wire is thereby tested here too."""
    assert PATHS.keys() == set(WIRES)


@pytest.mark.proves("W-1")
@pytest.mark.parametrize("wire", WIRES)
def test_a_body_passes_to_the_byte(both: tuple[RecordingUpstream, Standing], wire: str) -> None:
    """Numbers, escapes, white space, order, and unknown and doubled names stay."""
    upstream, gateway = both
    body = HOSTILE.replace(b"MESSAGES", wire_named(wire).body.messages_key.encode())
    gateway.post(PATHS[wire], body)
    assert upstream.came[-1].body == body
    assert upstream.came[-1].path == PATHS[wire]


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


@pytest.mark.proves("W-1")
@given(
    st.sampled_from(WIRES),
    st.one_of(
        st.binary(min_size=1, max_size=200),
        VALUES.map(lambda value: json.dumps(value).encode()),
        st.tuples(st.sampled_from(["messages", "contents", "input"]), VALUES).map(
            lambda pair: json.dumps({pair[0]: pair[1], "model": "m"}, ensure_ascii=False).encode(
                "utf-8", "surrogatepass"
            )
        ),
    ),
)
def test_any_body_passes_to_the_byte(both: tuple[RecordingUpstream, Standing], wire: str, body: bytes) -> None:
    """It may be a request, other JSON, or neither."""
    upstream, gateway = both
    assert gateway.post(PATHS[wire], body).body == b"{}"
    assert upstream.came[-1].body == body


@pytest.mark.proves("W-1", "W-8")
def test_headers_pass_but_for_the_hop(both: tuple[RecordingUpstream, Standing]) -> None:
    """The provider's key passes too; what `Connection` names is for one hop."""
    upstream, gateway = both
    sent = {
        "Anthropic-Beta": "a-1,b-2",
        "X-Api-Key": "sk-1",
        "User-Agent": "claude-cli/2",
        "Accept-Encoding": "gzip, br",
        "Connection": "keep-alive, x-hop",
        "X-Hop": "1",
        "X-Claude-Code-Session-Id": "s",
    }
    gateway.post(PATHS["anthropic"], b'{"messages":[]}', sent)
    came = {name.lower(): value for name, value in upstream.came[-1].headers}
    assert came.pop("host") == upstream.url.removeprefix("http://")
    assert came == {
        "anthropic-beta": "a-1,b-2",
        "x-api-key": "sk-1",
        "user-agent": "claude-cli/2",
        # Encodings that the gateway cannot read are not asked for.
        "accept-encoding": "gzip",
        "x-claude-code-session-id": "s",
        "content-length": "15",
    }


@pytest.mark.proves("W-3")
def test_an_answer_that_has_to_be_read_is_asked_for_plain(tmp_path: Any) -> None:
    """`identity` is named: without the header a provider may choose any encoding."""
    tools = [{"name": "read", "input_schema": {"type": "object"}}]
    body = {"model": "m", "messages": [{"role": "user", "content": "word " * 500}], "tools": tools}
    windows = Windows((("m", 2_000),))
    with (
        RecordingUpstream(lambda _: Said()) as upstream,
        standing(tmp_path, upstream.url, windows=windows, offering="always") as gateway,
    ):
        gateway.ask(PATHS["anthropic"], body, {"content-type": "application/json", "accept-encoding": "gzip, br"})
        came = {name.lower(): value for name, value in upstream.came[-1].headers}
    assert came["accept-encoding"] == "identity"


@pytest.mark.proves("W-1")
def test_headers_in_utf_8_pass_to_the_byte(both: tuple[RecordingUpstream, Standing]) -> None:
    """A client that expects to be asked for its body is asked."""
    upstream, gateway = both
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as raw:
        head = f"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:{gateway.port}\r\nx-name: é\r\nexpect: 100-continue\r\n"
        raw.sendall(head.encode() + b"content-length: 2\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 100")
        raw.sendall(b"{}")
        assert raw.recv(100).startswith(b"HTTP/1.1 200")
    came = {name.lower(): value for name, value in upstream.came[-1].headers}
    assert came["x-name"].encode("latin-1") == "é".encode()
    assert "expect" not in came


@pytest.mark.proves("W-1")
def test_a_request_that_is_not_valid_is_the_providers_to_refuse(tmp_path: Any) -> None:
    """It is read, fits, and passes as it came: nothing is repaired unasked."""
    orphan = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "none", "content": "x " * 4_000}]}
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi."}, orphan]}).encode()
    windows = Windows((("m", 6_000),))
    with RecordingUpstream(lambda _: Said()) as upstream, standing(tmp_path, upstream.url, windows=windows) as gateway:
        gateway.post(PATHS["anthropic"], body)
        assert upstream.came[-1].body == body


@pytest.mark.proves("W-1", "W-7")
@pytest.mark.parametrize(
    ("text", "is_told"),
    [("", False), ("[" * 200_000 + "]" * 200_000, True), ("[" * 5_000, True)],
    ids=["as others", "too deep", "no JSON"],
)
def test_a_client_is_told_if_its_request_is_not_read(text: str, is_told: bool, tmp_path: Any) -> None:
    """A body that may not fit, and cannot be read, passes to the byte; a header of the answer says that it was not read."""
    body = b'{"model":"m","messages":[{"role":"user","content":"%b"}],"x":%b}' % (b"a " * 900, text.encode() or b"1")
    windows = Windows((("m", 1_500),))
    with RecordingUpstream(lambda _: Said()) as upstream, standing(tmp_path, upstream.url, windows=windows) as gateway:
        got = gateway.post(PATHS["anthropic"], body)
        assert upstream.came[-1].body == body
        assert ("x-penstock-unread" in {name.lower() for name in got.headers}) == is_told


@pytest.mark.proves("W-1")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/models"),
        ("HEAD", "/api/hello"),
        ("POST", "/v1/responses/compact"),
        ("DELETE", "/v1/files/a"),
        ("GET", "/"),
    ],
)
def test_other_paths_pass(both: tuple[RecordingUpstream, Standing], method: str, path: str) -> None:
    """These are probes, lists of models, and future paths."""
    upstream, gateway = both
    got = gateway.post(path, b"abc" if method == "POST" else b"", method=method)
    assert (got.status, got.body) == (200, b"" if method == "HEAD" else b"{}")
    assert (upstream.came[-1].method, upstream.came[-1].path) == (method, path)


def answered(said: Said, tmp_path: Any, body: bytes = b'{"messages":[]}') -> Any:
    with RecordingUpstream(lambda _: said) as upstream, standing(tmp_path, upstream.url) as gateway:
        return gateway.post(PATHS["anthropic"], body)


@pytest.mark.proves("W-1")
def test_what_was_read_and_fits_passes_to_the_byte(tmp_path: Any) -> None:
    """With more bytes than the window has tokens it has to be read; the bytes received are sent, not those read."""
    raw = (
        b'{ "messages":[{"role":"user", "content":"'
        + b"word " * 1_000
        + b'\\u00e9"}],"model" : "m","max_tokens":1e1,"x":1.0}'
    )
    windows = Windows((("m", 4_000),))
    with RecordingUpstream(lambda _: Said()) as behind, standing(tmp_path, behind.url, windows=windows) as gateway:
        assert gateway.post("/v1/messages", raw).status == 200
    assert [labels.outcome for labels in gateway.gateway.seen.asked] == ["fits"]  # recorded once the answer has gone
    assert behind.came[-1].body == raw


@pytest.mark.proves("W-1")
@pytest.mark.parametrize("status", [200, 400, 401, 429, 500, 529])
def test_answers_pass_to_the_byte(status: int, tmp_path: Any) -> None:
    """The provider's status and headers pass with them."""
    raw = b'{"type" : "error","error":{"type":"x","message":"\\u00e9"}, "n":1.0}'
    said = Said(
        status, (("content-type", "application/json"), ("request-id", "r1"), ("retry-after", "7")), (raw[:9], raw[9:])
    )
    got = answered(said, tmp_path)
    assert (got.status, got.body) == (status, raw)
    assert (got.headers["request-id"], got.headers["retry-after"]) == ("r1", "7")
    assert not any(name.startswith("x-penstock") for name in got.headers)


@pytest.mark.proves("W-1")
def test_a_stream_passes_to_the_byte(tmp_path: Any) -> None:
    """This holds however it is split into blocks."""
    events = (
        b'event: message_start\ndata: {"type": "message_start"}\n\nevent: ping\ndata: {}\n\n: a comment\n\nodd\r\n\r\n'
    )
    parts = tuple(events[at : at + 7] for at in range(0, len(events), 7))
    got = answered(Said(200, (("content-type", "text/event-stream; charset=utf-8"),), parts), tmp_path)
    assert got.body == events


@pytest.mark.proves("W-1")
def test_a_packed_answer_passes_packed(tmp_path: Any) -> None:
    """It is unpacked only for inspection."""
    import gzip

    packed = gzip.compress(b'{"id": "m", "content": []}')
    got = answered(Said(200, (("content-type", "application/json"), ("content-encoding", "gzip")), (packed,)), tmp_path)
    assert (got.headers["content-encoding"], got.body) == ("gzip", packed)


@pytest.mark.proves("W-1")
@pytest.mark.parametrize("coding", ["br", "gzip"])
def test_an_answer_that_cannot_be_unpacked_passes(coding: str, tmp_path: Any) -> None:
    """Its encoding was not asked for, or is wrong: the client gets it as it is, even if it would be inspected."""
    raw = b'{"type": "error", "error": {"message": "prompt is too long: 61000 tokens > 12000 maximum"}}'
    said = Said(400, (("content-type", "application/json"), ("content-encoding", coding)), (raw,))
    with RecordingUpstream(lambda _: said) as upstream, standing(tmp_path, upstream.url) as gateway:
        got = gateway.post(PATHS["anthropic"], b'{"messages":[{"role":"user","content":"a"}]}')
        assert (got.status, got.body, got.headers["content-encoding"]) == (400, raw, coding)
        assert len(upstream.came) == 1


@pytest.mark.proves("W-1")
def test_an_answer_too_large_to_be_held_passes_as_it_comes(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It passes before it is complete."""
    monkeypatch.setattr(answers, "MAX_READ_BYTES", 100)
    is_read = threading.Event()
    said = Said(200, parts=(b"x" * 200, is_read, b"y"))
    with (
        RecordingUpstream(lambda _: said) as upstream,
        standing(tmp_path, upstream.url) as gateway,
        gateway.stream(PATHS["anthropic"], {"messages": []}) as answer,
    ):
        assert answer.read(200) == b"x" * 200
        is_read.set()
        assert answer.read() == b"y"

"""Does a provider on loopback keep to its window, say who was at fault, and leave nothing behind?"""

from __future__ import annotations

import json
import socket
import threading
from http.client import HTTPConnection, HTTPResponse, RemoteDisconnected
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.leftovers import nothing_left_open
from tests.models.stated import FORMS, WIRES

from penstock.errors import CallerError
from penstock.models import Model, Refused, ScriptMismatch, ScriptStep, call, calls, fail, refuse, say
from penstock.overflow import diagnose, parse
from penstock.testing import LoopbackProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATHS = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses", "anthropic": "/v1/messages"}


def asking(wire: str, text: str = "hi", **more: Any) -> dict[str, Any]:
    """Return a request of one message that its wire accepts."""
    field = "input" if wire == "openai-responses" else "messages"
    return {
        "model": "m",
        field: [{"role": "user", "content": text}],
        **({"max_tokens": 9} if wire == "anthropic" else {}),
    } | more


def connected(provider: LoopbackProvider) -> HTTPConnection:
    """Return a connection to it, with patience for a busy machine."""
    return HTTPConnection("127.0.0.1", urlsplit(provider.base_url).port or 0, timeout=60)


def post(provider: LoopbackProvider, body: object, path: str | None = None) -> tuple[int, Any]:
    """Return status and JSON of the answer to one request on a new connection."""
    connection = connected(provider)
    try:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", path or PATHS[provider.wire], content)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def words(wire: str, body: Any) -> str:
    """Return the words of an answer."""
    if wire == "openai-chat":
        return str(body["choices"][0]["message"]["content"])
    content = body["output"][0]["content"] if wire == "openai-responses" else body["content"]
    return str(content[0]["text"])


# ── answering ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wire", WIRES)
def test_http_and_send_give_the_same_bodies(wire: str) -> None:
    """In process or over a socket, a script answers alike, and both are recorded."""
    steps = [call("read", path="a.py"), say("done"), fail(529, {"busy": True})]
    with LoopbackProvider(wire, 1_000, script=steps) as served:
        over_http = [post(served, asking(wire))[1] for _ in steps]
    model: Model = LoopbackProvider(wire, 1_000, script=steps)
    assert [model.send(asking(wire)) for _ in steps[:2]] == over_http[:2]
    with pytest.raises(Refused) as busy:
        model.send(asking(wire))
    assert busy.value.body == over_http[2] == {"busy": True}
    assert isinstance(model, LoopbackProvider)
    assert model.requests == served.requests
    assert [(one.status, one.outcome) for one in served.requests] == [
        (200, "answered"),
        (200, "answered"),
        (529, "failed"),
    ]
    assert (model.wire, model.name, model.window_tokens) == (wire, "loopback", 1_000)


@pytest.mark.parametrize("wire", WIRES)
def test_a_policy_sees_the_request_and_nothing_else(wire: str) -> None:
    """Its one argument is the body as it was sent; changes to it do not affect what is kept."""
    seen: list[Any] = []

    def policy(*given: Any) -> ScriptStep:
        seen.append(json.loads(json.dumps(given)))
        given[0].clear()
        return say(f"answer {len(seen)}")

    with LoopbackProvider(wire, 1_000, policy=policy) as provider:
        requests = [asking(wire, text, temperature=0.5) for text in ("one", "two")]
        answers = [words(wire, post(provider, request)[1]) for request in requests]
    assert answers == ["answer 1", "answer 2"]
    assert seen == [[request] for request in requests]
    assert [one.request for one in provider.requests] == requests


def test_a_connection_is_kept_for_many_requests() -> None:
    """Clients keep connections alive: answers, streams and refusals are sent over one, in order."""
    with LoopbackProvider("openai-chat", 40, policy=lambda _: say("ok"), count=len) as provider:
        connection = connected(provider)
        statuses = []
        for text, stream in (("a", False), ("b", True), ("c" * 99, False), ("d" * 99, True), ("e", True)):
            connection.request("POST", PATHS["openai-chat"], json.dumps(asking("openai-chat", text, stream=stream)))
            response = connection.getresponse()
            content = response.read()
            statuses.append((response.status, content.endswith(b"data: [DONE]\n\n")))
        connection.close()
    assert statuses == [(200, False), (200, True), (400, False), (400, False), (200, True)]


def test_requests_at_once_are_told_apart() -> None:
    """Threads on separate connections each get their own answer, no two with one id, and all are recorded."""
    answers: list[tuple[str, str, str]] = []

    def use(provider: LoopbackProvider, name: str) -> None:
        for number in range(8):
            _, body = post(provider, asking("openai-chat", f"{name} {number}"))
            answers.append((f"{name} {number}", words("openai-chat", body), body["id"]))

    with LoopbackProvider("openai-chat", 10**6, policy=lambda sent: say(sent["messages"][0]["content"])) as provider:
        threads = [threading.Thread(target=use, args=(provider, f"thread {n}")) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all(asked == said for asked, said, _ in answers)
    assert len({key for _, _, key in answers}) == len(provider.requests) == 64


def test_a_text_of_the_script_goes_out_as_it_is() -> None:
    """A proxy's page is not JSON, and does not have JSON's type."""
    with LoopbackProvider("anthropic", 1_000, script=[fail(502, "<html>Bad Gateway</html>")]) as provider:
        connection = connected(provider)
        connection.request("POST", "/v1/messages", json.dumps(asking("anthropic")))
        response = connection.getresponse()
        assert (response.status, response.read()) == (502, b"<html>Bad Gateway</html>")
        assert response.headers["content-type"].startswith("text/plain")
        connection.close()


# ── refusing ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wire", WIRES)
def test_the_window_is_exact(wire: str) -> None:
    """A request that fills it is answered, one token more is refused, and a refused one uses no step of the script."""
    size = len(f"role\nuser\ncontent\n{'x' * 50}")
    reply = {"openai-chat": {"max_tokens": 30}, "openai-responses": {}, "anthropic": {"max_tokens": 30}}[wire]
    window = size + (30 if reply else 0)
    with LoopbackProvider(wire, window, script=[say("fits")], count=len) as provider:
        status, body = post(provider, asking(wire, "x" * 51, **reply))
        assert (status, diagnose(body, status).recovery) == (400, "shrink_output" if reply else "shrink_input")
        assert words(wire, post(provider, asking(wire, "x" * 50, **reply))[1]) == "fits"
    assert [(one.outcome, one.input_tokens) for one in provider.requests] == [("refused", size + 1), ("answered", size)]
    assert provider.refused == 1


def test_a_scripted_refusal_counts_as_one_whatever_the_size() -> None:
    """It has the words of the provider, and the numbers of the script."""
    with LoopbackProvider("openai-chat", 200_000, script=[refuse(9_000, of=8_192)], refusal="vllm-input") as provider:
        found = parse(post(provider, asking("openai-chat"))[1], 400)
    assert found is not None
    assert (found.input, found.limit, provider.refused) == (9_000, 8_192, 1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_is_refused_by_an_event_if_requested(wire: str, form: Any) -> None:
    """It is HTTP 200 and then an error in the stream, read as the overflow it is; a plain request gets HTTP 400."""
    with LoopbackProvider(wire, 100, script=[], refusal=form, refuse_in_stream=True, count=len) as provider:
        connection = connected(provider)
        connection.request("POST", PATHS[wire], json.dumps(asking(wire, "x" * 900, stream=True)))
        response = connection.getresponse()
        content = response.read().decode()
        connection.close()
        plain_status, plain = post(provider, asking(wire, "x" * 900))
    assert (response.status, response.headers["content-type"].partition(";")[0]) == (200, "text/event-stream")
    assert plain_status == 400
    event = json.loads([line for line in content.splitlines() if "error" in line and line.startswith("data: ")][-1][6:])
    assert parse(event) == parse(content) == parse(plain, 400) is not None
    assert [one.status for one in provider.requests] == [200, 400]
    assert provider.refused == 2


def test_tokens_are_counted_without_an_answer() -> None:
    """Anthropic's count is what the window is compared with; the other wires have no such path."""
    with LoopbackProvider("anthropic", 5, script=[], count=len) as provider:
        assert post(provider, asking("anthropic", "hello"), "/v1/messages/count_tokens?beta=true") == (
            200,
            {"input_tokens": len("role\nuser\ncontent\nhello")},
        )
        assert provider.requests == ()
    with LoopbackProvider("openai-chat", 5, script=[]) as provider:
        assert post(provider, {}, "/v1/chat/completions/count_tokens")[0] == 404


# ── what is not valid ────────────────────────────────────────────────────────────────────────────────────────────

ENVELOPES = {"openai-chat": ("error",), "openai-responses": ("error",), "anthropic": ("error", "type")}


@pytest.mark.parametrize(
    ("wire", "more", "said"),
    [
        ("openai-chat", {"messages": []}, "messages.0: empty: A request needs a message"),
        ("openai-chat", {"messages": 5}, "messages.0: not_a_list"),
        ("openai-chat", {"max_tokens": 0}, "max_tokens: expected a whole number of at least 1, but got 0 instead"),
        ("openai-chat", {"max_completion_tokens": -5}, "max_completion_tokens: expected a whole number of at least 1"),
        ("openai-responses", {"max_output_tokens": 15}, "max_output_tokens: expected a whole number of at least 16"),
        ("openai-responses", {"previous_response_id": "r"}, "previous_response_id: no conversation is kept here"),
        ("openai-responses", {"conversation": "c"}, "conversation: no conversation is kept here"),
        ("anthropic", {"thread": {"type": "create"}}, "thread: no conversation is kept here"),
        ("anthropic", {"max_tokens": None}, "max_tokens: Field required"),
        ("anthropic", {"max_tokens": True}, "max_tokens: expected a whole number of at least 1, but got True instead"),
        ("anthropic", {"thinking": {"budget_tokens": 9}}, "`max_tokens` must be greater than `thinking.budget_tokens`"),
        ("anthropic", {"messages": [{"role": "assistant", "content": "x"}]}, "messages.0: first_not_user"),
    ],
)
def test_a_strict_provider_refuses_what_the_real_one_would(wire: str, more: dict[str, Any], said: str) -> None:
    """It does so before checking sizes, in its own envelope, and never as an overflow; one that is not strict answers."""
    request = asking(wire) | more
    with LoopbackProvider(wire, 5, script=[], count=len) as provider:
        status, body = post(provider, request)
    assert status == 400
    assert body["error"]["message"].startswith(said)
    assert set(ENVELOPES[wire]) <= body.keys()
    assert parse(body, 400) is None
    assert [(one.request, one.outcome) for one in provider.requests] == [(request, "invalid")]

    lenient = LoopbackProvider(wire, 1_000, script=[say("ok")], strict=False)
    assert words(wire, lenient.send(request)) == "ok"


def test_a_request_without_messages_is_invalid() -> None:
    """The missing field is named."""
    with pytest.raises(Refused, match="'messages'"):
        LoopbackProvider("openai-chat", 100, script=[]).send({"model": "m"})


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"text"', b"\xff\xfe", b"[" * 200_000, b'{"a": 1'])
def test_a_body_that_is_not_a_json_object_gets_http_400(wire: str, content: bytes) -> None:
    """It is in the provider's envelope, and recorded without a request; the provider continues."""
    with LoopbackProvider(wire, 1_000, script=[say("ok")]) as provider:
        status, body = post(provider, content)
        assert (status, body["error"]["message"]) == (
            400,
            "The body of the request is not a JSON object that can be read.",
        )
        assert post(provider, asking(wire))[0] == 200
    assert [one.request is None for one in provider.requests] == [True, False]


def test_a_body_above_the_bound_is_read_off_and_refused() -> None:
    """The bytes are too many, not the tokens, and the connection stays; a body of exactly the bound is accepted."""
    request = json.dumps(asking("anthropic", "x" * 100_000)).encode()
    with LoopbackProvider("anthropic", 10**9, script=[say("ok")], max_body_bytes=len(request)) as provider:
        connection = connected(provider)
        connection.request("POST", "/v1/messages", request + b" ")
        too_large = connection.getresponse()
        told = json.loads(too_large.read())
        connection.request("POST", "/v1/messages", request)
        taken = connection.getresponse()
        taken.read()
        connection.close()
    assert (too_large.status, told["error"]["type"]) == (413, "request_too_large")
    assert diagnose(told, 413).kind == "payload_too_large"
    assert taken.status == 200


@pytest.mark.parametrize("length", [None, "-5", "1e3", "९", "9" * 40])
def test_a_body_without_its_length_is_turned_away(length: str | None) -> None:
    """The connection ends, since nobody knows where the next request begins."""
    with LoopbackProvider("openai-chat", 100, script=[]) as provider:
        with socket.create_connection(("127.0.0.1", urlsplit(provider.base_url).port), timeout=60) as raw:
            header = "" if length is None else f"content-length: {length}\r\n"
            raw.sendall(f"POST {PATHS['openai-chat']} HTTP/1.1\r\nhost: x\r\n{header}\r\n".encode())
            response = HTTPResponse(raw)
            response.begin()
            assert (response.status, response.headers["connection"]) == (411, "close")
            response.read()
            assert raw.recv(1) == b""
        assert [one.status for one in provider.requests] == [411]


@pytest.mark.parametrize("wire", WIRES)
def test_another_path_is_told_where_the_wire_is(wire: str) -> None:
    """A client of the wrong wire, or with the wrong base URL, reads what is right."""
    with LoopbackProvider(wire, 100, script=[], model="m-1") as provider:
        other = "/v1/messages" if wire != "anthropic" else "/v1/responses"
        status, body = post(provider, asking(wire), other)
        assert (status, body["error"]["message"]) == (404, f"Nothing is at {other}; {wire} is at {PATHS[wire]}.")
        connection = connected(provider)
        for path, expected in (("/v1/models", 200), ("/v1/models/m-1", 200), ("/v1/models/m-2", 404), ("/", 404)):
            connection.request("GET", path)
            response = connection.getresponse()
            response.read()
            assert response.status == expected
        connection.close()
    assert provider.requests == ()


# ── what goes wrong on its own side ──────────────────────────────────────────────────────────────────────────────


NO_FORM: Any = "x"


class Interrupted(BaseException):
    """What test runners raise, which is not an `Exception`."""


@pytest.mark.parametrize("error", [KeyError("the policy's own"), Interrupted("a failed assertion of the test runner")])
def test_an_exception_of_the_policy_is_raised_where_with_ends(error: BaseException) -> None:
    """The client gets fixed words; the test sees the exception itself, and the request is recorded."""

    def policy(_: object) -> ScriptStep:
        raise error

    told: list[Any] = []
    with (
        pytest.raises(type(error), match=str(error.args[0])) as caught,
        LoopbackProvider("openai-chat", 100, policy=policy) as provider,
    ):
        told += post(provider, asking("openai-chat"))
    assert caught.value is error
    assert told[0] == 400
    assert told[1]["error"]["message"].startswith(f"The test double raised {type(error).__name__}")
    assert [(one.status, one.outcome) for one in provider.requests] == [(400, "failed")]
    with provider:
        pass  # raised once


def test_a_mismatch_outranks_the_exception_that_it_caused() -> None:
    """What the client made of HTTP 400 is the context of the mismatch; an interrupt is not replaced."""

    def use(error: BaseException) -> None:
        with LoopbackProvider("openai-chat", 100, script=[]) as provider:
            post(provider, asking("openai-chat"))
            raise error

    with pytest.raises(ScriptMismatch, match="the script is over") as caught:
        use(RuntimeError("what the client made of it"))
    assert isinstance(caught.value.__context__, RuntimeError)
    with pytest.raises(Interrupted):
        use(Interrupted())


def test_in_process_the_policy_raises_to_its_caller() -> None:
    """Nothing is in between: a `ScriptMismatch` comes out of `send`."""
    with pytest.raises(ScriptMismatch, match="the script is over"):
        LoopbackProvider("openai-chat", 100, script=[]).send(asking("openai-chat"))
    with pytest.raises(CallerError, match="a step is made by say, call, calls, refuse or fail, not None"):
        LoopbackProvider("openai-chat", 100, policy=lambda _: None).send(asking("openai-chat"))  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: LoopbackProvider("openai-chat", 10), "by script= or by policy=, one of them"),
        (lambda: LoopbackProvider("openai-chat", 10, script=[], policy=lambda _: say("x")), "one of them"),
        (lambda: LoopbackProvider("cohere", 10, script=[]), "'cohere' is not a wire"),
        (lambda: LoopbackProvider("anthropic", 0, script=[]), "a window holds a token at least, not 0"),
        (
            lambda: LoopbackProvider("anthropic", 9, script=[], refusal=NO_FORM),
            "'x' is not a form of refusal; there are openai",
        ),
        (lambda: LoopbackProvider("anthropic", 9, script=[]).base_url, "a base_url only inside `with`"),
        (lambda: LoopbackProvider("anthropic", 9, script=[]).send([]), "an object, not list"),  # type: ignore[arg-type]
    ],
)
def test_a_mistake_in_the_set_up_is_named(make: Callable[[], object], said: str) -> None:
    """The programmer has to act, and reads what would be right."""
    with pytest.raises(CallerError, match=said):
        make()


# ── what it leaves behind ────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_left_when_with_ends() -> None:
    """No thread, socket or port is left, whatever clients hold open: idle connections, half a request, an unread stream."""
    with nothing_left_open():
        threads = set(threading.enumerate())
        held: list[socket.socket] = []
        with LoopbackProvider("openai-chat", 10**9, policy=lambda _: say("x" * 3_000_000)) as provider:
            address = ("127.0.0.1", urlsplit(provider.base_url).port)
            request = json.dumps(asking("openai-chat", stream=True)).encode()
            whole = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(request) + request
            for sent in (b"", b"POST /v1/chat", whole[:-5], whole):
                held.append(socket.create_connection(address, timeout=60))
                held[-1].sendall(sent)
            held[-1].recv(1)  # the stream has begun; nobody reads on
            with pytest.raises(CallerError, match="serving already"), provider:
                pass
            assert len(set(threading.enumerate()) - threads) >= 4
        for connection in held:
            connection.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=60)


def test_a_client_that_leaves_is_not_an_error() -> None:
    """For half a request, or an unread answer, the next request is answered, and `with` ends normally."""
    with LoopbackProvider("openai-chat", 10**9, policy=lambda _: say("x" * 3_000_000)) as provider:
        port = urlsplit(provider.base_url).port
        request = json.dumps(asking("openai-chat")).encode()
        whole = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(request) + request
        for sent in (whole[:-5], whole, b"\x00\xff nonsense\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as raw:
                raw.sendall(sent)
        assert post(provider, asking("openai-chat"))[0] == 200


def test_a_provider_serves_again() -> None:
    """`with` a second time uses a new port, and continues the same script and list of requests."""
    provider = LoopbackProvider("openai-chat", 100, script=[say("one"), say("two")])
    for expected in ("one", "two"):
        with provider:
            assert words("openai-chat", post(provider, asking("openai-chat"))[1]) == expected
    assert len(provider.requests) == 2


# ── streams ──────────────────────────────────────────────────────────────────────────────────────────────────────


def events(content: str) -> Iterator[tuple[str | None, Any]]:
    """Yield the events of a stream, by name, as any reader of server-sent events sees them."""
    for block in content.removesuffix("\n\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        yield fields.get("event"), fields["data"] if fields["data"] == "[DONE]" else json.loads(fields["data"])


def gathered(wire: str, content: str) -> tuple[str, list[tuple[str, Any]]]:
    """Return words and calls of a stream, assembled only from its deltas."""
    said, asked = "", []
    for name, event in events(content):
        assert name == (event["type"] if isinstance(event, dict) and "type" in event else None)
        if wire == "openai-chat" and event != "[DONE]":
            for choice in event["choices"]:
                said += choice["delta"].get("content") or ""
                for part in choice["delta"].get("tool_calls", []):
                    if "id" in part:
                        asked.append([part["function"]["name"], ""])
                    asked[part["index"]][1] += part["function"]["arguments"]
        elif wire == "openai-responses":
            if event["type"] == "response.output_text.delta":
                said += event["delta"]
            elif event["type"] == "response.output_item.added" and event["item"]["type"] == "function_call":
                asked.append([event["item"]["name"], ""])
            elif event["type"] == "response.function_call_arguments.delta":
                asked[-1][1] += event["delta"]
        elif wire == "anthropic":
            if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
                asked.append([event["content_block"]["name"], ""])
            elif event["type"] == "content_block_delta":
                said += event["delta"].get("text", "")
                if "partial_json" in event["delta"]:
                    asked[-1][1] += event["delta"]["partial_json"]
    return said, [(name, json.loads(arguments)) for name, arguments in asked]


texts = st.text(max_size=60)
arguments = st.dictionaries(texts, texts | st.integers() | st.lists(texts, max_size=2), max_size=3)


@given(st.lists(st.tuples(texts, st.lists(arguments, max_size=3)), min_size=1, max_size=4))
def test_any_stream_gathers_to_its_answer(turns: list[tuple[str, list[dict[str, Any]]]]) -> None:
    """Words of any characters, empty ones too, and calls with any arguments are tried, over all wires."""
    steps = [calls(*(call("tool", one) for one in asked), text=said) if asked else say(said) for said, asked in turns]
    for wire in WIRES:
        with LoopbackProvider(wire, 10**9, script=steps) as provider:
            connection = connected(provider)
            for said, asked in turns:
                connection.request("POST", PATHS[wire], json.dumps(asking(wire, stream=True)))
                content = connection.getresponse().read().decode()
                assert gathered(wire, content) == (said, [("tool", one) for one in asked])
            connection.close()


def test_events_of_responses_are_numbered_and_of_chat_ended() -> None:
    """Numbers start from 0 without gaps; `[DONE]` is the last of chat, and usage comes only if requested."""
    with LoopbackProvider("openai-responses", 10**6, script=[calls(call("t", a=1), text="x")]) as provider:
        connection = connected(provider)
        connection.request("POST", PATHS["openai-responses"], json.dumps(asking("openai-responses", stream=True)))
        numbers = [event["sequence_number"] for _, event in events(connection.getresponse().read().decode())]
        connection.close()
    assert numbers[0] == 0
    assert all(after == before + 1 for before, after in pairwise(numbers))

    with LoopbackProvider("openai-chat", 10**6, policy=lambda _: say("x")) as provider:
        connection = connected(provider)
        usages = []
        for options in (None, {"include_usage": True}, {"include_usage": False}):
            request = asking("openai-chat", stream=True, stream_options=options)
            connection.request("POST", PATHS["openai-chat"], json.dumps(request))
            *chunks, (_, last) = events(connection.getresponse().read().decode())
            assert last == "[DONE]"
            usages.append(["usage" in chunk for _, chunk in chunks].count(True))
        connection.close()
    assert usages == [0, 1, 0]


def test_a_stopped_provider_ends_what_waits() -> None:
    """A client that waits for the next answer on an open connection sees it end."""
    with LoopbackProvider("openai-chat", 100, policy=lambda _: say("x")) as provider:
        connection = connected(provider)
        connection.request("POST", PATHS["openai-chat"], json.dumps(asking("openai-chat")))
        connection.getresponse().read()
        connection.sock.sendall(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 100\r\n\r\n{")
    with pytest.raises((RemoteDisconnected, ConnectionResetError)):
        HTTPResponse(connection.sock).begin()
    connection.close()

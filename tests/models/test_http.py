"""Does a model over HTTP answer as its provider does, plain and streamed, and are its refusals recognised?"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import ssl
import subprocess
import sys
import threading
from typing import Any

import pytest
from tests.models.stated import FORMS, WIRES, stated

from penstock.carrier.execution import execute
from penstock.errors import CallerError, Ended
from penstock.models import (
    Cancelled,
    Model,
    Refused,
    RemoteModel,
    ScriptStep,
    call,
    calls,
    connecting,
    fail,
    load_model,
    say,
)
from penstock.models.sizes import size_of
from penstock.overflow import diagnose, parse
from penstock.testing import LoopbackProvider

FIELDS = {"openai-chat": "messages", "openai-responses": "input", "anthropic": "messages"}


def asking(wire: str, text: str = "hi", **more: Any) -> dict[str, Any]:
    """Return a request of one message that its wire accepts."""
    length = {"max_tokens": 9} if wire == "anthropic" else {}
    return {FIELDS[wire]: [{"role": "user", "content": text}], **length, **more}


def remote(provider: LoopbackProvider, **more: Any) -> RemoteModel:
    """Return the model that it serves, without a key."""
    model = load_model(f"{provider.wire}:loopback", base_url=provider.base_url, environment={}, **more)
    assert isinstance(model, RemoteModel)
    return model


def both(wire: str, step: ScriptStep) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return the same answer plain and streamed, and the pieces of its words; two providers give the same ids."""
    pieces: list[str] = []
    with LoopbackProvider(wire, 1_000, script=[step]) as provider:
        plain = remote(provider).send(asking(wire))
    with LoopbackProvider(wire, 1_000, script=[step]) as provider:
        streamed = remote(provider).send(asking(wire), on_text=pieces.append)
    return plain, streamed, pieces


ODD = 'caf\u00e9 \u2028 \x85 \U0001f600 data: {"error": 1}\r\n\r\n[DONE]'
STEPS = [
    say("Two words, and a third."),
    say(""),
    say(ODD),
    call("read_file", path="a.py"),
    call("now"),
    calls(call("find", text=ODD, deep={"a": [1, 2.5, None]}), call("find", text=""), text="I look at both."),
    call("write", content="x = '\\n'\n" * 5_000),
]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("step", STEPS, ids=str)
def test_a_streamed_answer_is_the_plain_one(wire: str, step: Any) -> None:
    """Words, calls, arguments to the byte, usage and the stop reason are the same: streaming loses nothing."""
    plain, streamed, pieces = both(wire, step)
    assert streamed == plain
    assert "".join(pieces) == step.text
    assert all(pieces)
    assert len(pieces) > 1 or len(step.text) < 2


@pytest.mark.parametrize("wire", WIRES)
def test_a_plain_answer_is_the_provider_s_own(wire: str) -> None:
    """The body over HTTP is the one that the provider gives in process."""
    with LoopbackProvider(wire, 1_000, script=[call("read_file", path="a.py")]) as provider:
        over_http = remote(provider).send(asking(wire))
    in_process = LoopbackProvider(wire, 1_000, script=[call("read_file", path="a.py")])
    assert over_http == in_process.send(asking(wire, model="loopback"))


@pytest.mark.parametrize("wire", WIRES)
def test_what_goes_out_is_the_request(wire: str) -> None:
    """A missing model name is added; `on_text` decides whether it is streamed, whatever the request says."""
    request = asking(wire, ODD, temperature=0.5, stream=True, stream_options={"include_obfuscation": False})
    before = json.dumps(request)
    with LoopbackProvider(wire, 1_000, policy=lambda _: say("ok")) as provider:
        model = remote(provider)
        model.send(request)
        model.send(request, on_text=lambda _: None)
        model.send(asking(wire, model="another"))
    plain, streamed, named = [received.request for received in provider.requests]
    asked = asking(wire, ODD, temperature=0.5, model="loopback")
    options = {"stream_options": {"include_obfuscation": False, "include_usage": True}}
    assert plain == asked
    assert streamed == {**asked, "stream": True, **(options if wire == "openai-chat" else {})}
    assert named["model"] == "another"
    assert json.dumps(request) == before


def test_half_a_surrogate_pair_is_sent_as_a_replacement() -> None:
    """Text from a file cut in the middle must not fail, at the provider either, which accepts no half; two halves are one."""
    with LoopbackProvider("openai-chat", 1_000, script=[say("ok")]) as provider:
        remote(provider).send(asking("openai-chat", "cut \ud83d, \udce9 and \ud83d" + "\ude00"))
    assert provider.requests[0].request["messages"][0]["content"] == "cut \ufffd, \ufffd and \U0001f600"


@pytest.mark.parametrize("request_", [[], "hi", None, {"messages": {1, 2}}, {"messages": float("nan")}])
def test_a_request_that_is_not_a_json_object_is_the_callers_error(request_: Any) -> None:
    """It is reported before anything is sent."""
    with (
        LoopbackProvider("openai-chat", 1_000, script=[]) as provider,
        pytest.raises(CallerError, match="a request is"),
    ):
        remote(provider).send(request_)
    assert provider.requests == ()


def test_it_is_a_model() -> None:
    """Code that drives a `ScriptedModel` drives it too."""
    with LoopbackProvider("anthropic", 1_000, script=[say("ok")]) as provider:
        model: Model = remote(provider, window_tokens=1_000)
        assert (model.wire, model.name, model.window_tokens) == ("anthropic", "loopback", 1_000)
        assert model.send(asking("anthropic"))["content"][0]["text"] == "ok"


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("how", ["plain", "streamed", "in the stream"])
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("form", FORMS)
def test_a_refusal_for_size_is_read_with_exactly_its_numbers(form: Any, wire: str, how: str) -> None:
    """It comes as HTTP 400 and as an event after HTTP 200, in the words of every provider."""
    request = asking(wire, "one and two\n" * 2_000)
    in_stream = how == "in the stream"
    provider = LoopbackProvider(wire, 1_000, script=[], refusal=form, refuse_in_stream=in_stream)
    with provider, pytest.raises(Refused) as caught:
        remote(provider).send(request, on_text=None if how == "plain" else pytest.fail)
    found = parse(caught.value)
    assert found is not None
    assert dataclasses.asdict(found) == stated(form, wire, size_of(request, wire), 1_000)
    assert caught.value.status_code == (200 if in_stream else 400)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("status", "body", "kind", "recovery"),
    [
        (429, {"error": {"type": "rate_limit_error", "message": "Slow down."}}, "rate_limit", "wait"),
        (500, {"error": {"type": "api_error", "message": "Internal server error"}}, "server_error", "retry"),
        (502, "<html><body>Bad gateway</body></html>", "server_error", "retry"),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded", "retry"),
        (401, {"error": {"code": "invalid_api_key", "message": "Incorrect API key provided"}}, "auth", "none"),
        (200, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded", "retry"),
        (200, {"object": "error", "message": "Internal error", "type": "InternalServerError"}, "server_error", "retry"),
    ],
)
def test_a_failure_is_raised_once_and_read(
    wire: str, status: int, body: Any, kind: str, recovery: str, streamed: bool
) -> None:
    """Status and body are the provider's; nothing is retried here, and an error with HTTP 200 is recognised too."""
    with (
        LoopbackProvider(wire, 1_000, script=[fail(status, body)]) as provider,
        pytest.raises(Refused) as caught,
    ):
        remote(provider).send(asking(wire), on_text=pytest.fail if streamed else None)
    assert (caught.value.status_code, caught.value.body) == (status, body)
    found = diagnose(caught.value)
    assert (found.kind, found.recovery) == (kind, recovery)
    assert len(provider.requests) == 1


def test_a_streamed_request_is_recovered() -> None:
    """`execute` takes a model over HTTP like any function: what was refused is sent again, smaller."""
    asked = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "app.log"}}
    flood = {"type": "tool_result", "tool_use_id": "t1", "content": "request served in 12 ms\n" * 3_000}
    request = asking("anthropic", "Which is the last line?", max_tokens=500)
    request["messages"] += [{"role": "assistant", "content": [asked]}, {"role": "user", "content": [flood]}]
    pieces: list[str] = []
    with LoopbackProvider("anthropic", 4_096, policy=lambda _: say("The 3,000th.")) as provider:
        model = remote(provider)
        result = execute(
            lambda body: model.send(body, on_text=pieces.append), request, wire="anthropic", window_tokens=200_000
        )
    assert result.success
    assert "".join(pieces) == "The 3,000th."
    assert [received.outcome for received in provider.requests] == ["refused", "answered"]


# ── cancelling ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("streamed", [False, True])
def test_another_thread_cancels_a_request_that_waits(wire: str, streamed: bool) -> None:
    """While the provider thinks, `send` ends at once, with the provider's connection."""
    thinks, let_go, cancelled = threading.Event(), threading.Event(), threading.Event()

    def think(_: object) -> ScriptStep:
        thinks.set()
        let_go.wait(60)
        return say("too late")

    def cancel() -> None:
        thinks.wait(60)
        cancelled.set()

    with LoopbackProvider(wire, 1_000, policy=think) as provider:
        other = threading.Thread(target=cancel)
        other.start()
        try:
            with pytest.raises(Cancelled) as caught:
                remote(provider).send(asking(wire), on_text=pytest.fail if streamed else None, cancelled=cancelled)
        finally:
            let_go.set()
            other.join()
    assert isinstance(caught.value, Ended)


def test_what_is_cancelled_already_is_not_sent() -> None:
    """A request costs money from its first byte."""
    with LoopbackProvider("openai-chat", 1_000, script=[]) as provider, pytest.raises(Cancelled):
        remote(provider).send(asking("openai-chat"), cancelled=lambda: True)
    assert provider.requests == ()


@pytest.mark.parametrize("wire", WIRES)
def test_nothing_is_reported_after_a_cancellation(wire: str) -> None:
    """Neither words that had already come nor later ones are reported."""
    pieces: list[str] = []
    with LoopbackProvider(wire, 1_000, script=[say("a word " * 200)]) as provider, pytest.raises(Cancelled):
        remote(provider).send(asking(wire), on_text=pieces.append, cancelled=lambda: bool(pieces))
    assert len(pieces) == 1


def test_what_on_text_raises_comes_out() -> None:
    """A printer whose pipe is closed ends the request; it is not taken for the provider's fault."""

    def broken(_: str) -> None:
        raise TimeoutError("mine")

    with (
        LoopbackProvider("openai-chat", 1_000, script=[say("one two")]) as provider,
        pytest.raises(TimeoutError, match="mine"),
    ):
        remote(provider).send(asking("openai-chat"), on_text=broken)


# ── event loops and threads ──────────────────────────────────────────────────────────────────────────────────────


def test_it_works_inside_an_event_loop() -> None:
    """In a notebook every cell runs inside a loop."""
    pieces: list[str] = []

    async def cell(model: RemoteModel) -> dict[str, Any]:
        return model.send(asking("openai-chat"), on_text=pieces.append)

    with LoopbackProvider("openai-chat", 1_000, script=[say("from a cell")]) as provider:
        body = asyncio.run(cell(remote(provider)))
    assert body["choices"][0]["message"]["content"] == "".join(pieces) == "from a cell"


def test_threads_share_a_model() -> None:
    """Each request has its own answer."""

    def policy(request: dict[str, Any]) -> ScriptStep:
        return say("I am " + request["messages"][0]["content"])

    answers: dict[str, str] = {}
    with LoopbackProvider("openai-chat", 1_000, policy=policy) as provider:
        model = remote(provider)

        def ask(name: str) -> None:
            body = model.send(asking("openai-chat", name), on_text=lambda _: None)
            answers[name] = body["choices"][0]["message"]["content"]

        threads = [threading.Thread(target=ask, args=(str(n),)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == {str(n): f"I am {n}" for n in range(8)}


def test_certificates_are_read_only_for_encrypted_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes 70 ms, so it is skipped for a model on this machine, but not for any other, nor for a proxy."""
    trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    monkeypatch.setattr(connecting, "_certificates", lambda: trusted)
    with LoopbackProvider("openai-chat", 1_000, script=[say("Here.")]) as provider:
        assert remote(provider).send(asking("openai-chat"))
        base_url = provider.base_url
    addresses = {
        base_url: False,
        base_url.replace("http:", "https:"): True,
        "https://provider.test/v1": True,
        "http://provider.test/v1": True,
    }
    for address, is_read in addresses.items():
        model = RemoteModel("openai-chat", "m", base_url=address, environment={"OPENAI_API_KEY": "k"})
        context = connecting._trusted(model._endpoint)
        assert (context is trusted, context.verify_mode) == (is_read, ssl.CERT_REQUIRED), address


def test_httpx2_is_loaded_with_the_first_model_and_its_absence_is_reported() -> None:
    """Scripts need no extra; a provider needs one, and the error names it."""
    code = (
        "import sys\nsys.modules['httpx2'] = None\n"
        "from penstock.models import ScriptedModel, load_model\n"
        "try:\n    load_model('openai-chat:m', environment={'OPENAI_API_KEY': 'k'})\n"
        "except ValueError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("openai-chat:m needs an extra: pip install 'penstock[providers]'")


def test_a_base_url_that_is_not_text_is_refused_in_words() -> None:
    """A typed byte that is not UTF-8 is a surrogate in Python, which no URL holds."""
    with pytest.raises(CallerError, match="base URL cannot be used"):
        load_model("openai-chat:m", base_url="http://localhost/\udcff", environment={})

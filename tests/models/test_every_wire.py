"""Does a model over HTTP work on every wire: plain and streamed, refused, and addressed as by the provider's SDK?"""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import CallerError
from penstock.models import Refused, call, calls, load_model, say
from penstock.overflow import diagnose
from penstock.testing import LoopbackProvider
from penstock.wires import WIRES, answer_messages, answer_words, begin, compose_request, load, output_tokens

pytestmark = pytest.mark.proves("R-8")

NAME = "eu.some-model/of:1"
TEXT = "Looking at both: naïve “quotes”, 漢字, a line\nand another. " * 3


def request_for(wire: str, prompt: str) -> dict[str, Any]:
    """Return a request as the agent composes it."""
    return compose_request(begin(wire, system="Be brief.", prompt=prompt), NAME, 100)


@pytest.mark.parametrize("wire", WIRES)
def test_a_streamed_answer_is_the_plain_one(wire: str) -> None:
    """Words, parallel calls and usage give the same body either way, which fits into a valid next request."""
    step = calls(call("view", path="a.py", note="ü" * 30), call("view", path="b.py"), text=TEXT)
    pieces: list[str] = []
    with LoopbackProvider(wire, 10_000, policy=lambda _: step) as provider:
        plain = load_model(f"{wire}:{NAME}", base_url=provider.base_url, environment={}).send(request_for(wire, "hi"))
    with LoopbackProvider(wire, 10_000, policy=lambda _: step) as provider:
        model = load_model(f"{wire}:{NAME}", base_url=provider.base_url, environment={})
        streamed = model.send(request_for(wire, "hi"), on_text=pieces.append)  # type: ignore[call-arg]
        sent = provider.requests[0].request
    assert streamed == plain
    assert "".join(pieces) == TEXT == answer_words(plain, wire)
    assert len(pieces) > 1
    assert output_tokens(plain, wire)
    made = [asked for entry in load(answer_messages(plain, wire), wire).entries for asked in entry.calls]
    assert [asked.values["path"] for asked in made] == ["a.py", "b.py"]
    in_body = [value for key, value in sent.items() if key in {"model", "modelId"}]
    assert in_body == ([] if wire in {"gemini", "bedrock"} else [NAME])


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (["", ""], ["call_0", "call_1"]),
        ([None, None], ["call_0", "call_1"]),
        (["a", "a"], ["a", "a_1"]),
        (["call_1", ""], ["call_1", "call_2"]),
        (["a", "b"], ["a", "b"]),
    ],
)
def test_calls_that_a_server_does_not_distinguish_are_told_apart(ids: list[str | None], told: list[str]) -> None:
    """Each gets its own id, so that none is run in place of another; arguments that came as an object become text."""
    asked = [
        {
            **({} if id_ is None else {"id": id_}),
            "type": "function",
            "function": {"name": "view", "arguments": {"n": n}},
        }
        for n, id_ in enumerate(ids)
    ]
    body: Any = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": asked}}]}
    calls_made = [
        made for entry in load(answer_messages(body, "openai-chat"), "openai-chat").entries for made in entry.calls
    ]
    assert [made.id for made in calls_made] == told
    assert [made.values for made in calls_made] == [{"n": 0}, {"n": 1}]


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_a_refusal_for_size_is_known_for_what_it_is(wire: str, streams: bool) -> None:
    """The refusal is in each provider's words, plain, streamed, or as an event of a stream that had begun."""
    for in_stream in (False, streams):
        with LoopbackProvider(wire, 1_000, script=[], refuse_in_stream=in_stream) as provider:
            model = load_model(f"{wire}:{NAME}", base_url=provider.base_url, environment={})
            with pytest.raises(Refused) as caught:
                model.send(request_for(wire, "far " * 5_000), **({"on_text": len} if streams else {}))
        assert diagnose(caught.value).kind == ("context_total" if wire == "openai-chat" else "context_input")


@pytest.mark.parametrize("wire", WIRES)
def test_what_the_agent_composes_is_valid(wire: str) -> None:
    """A strict provider accepts it."""
    provider = LoopbackProvider(wire, 1_000, script=[say("ok")])
    assert answer_words(provider.send(request_for(wire, "hi")), wire) == "ok"


@pytest.mark.parametrize(
    ("name", "environment", "url"),
    [
        (
            "gemini:gemini-3-pro",
            {"GEMINI_API_KEY": "k-1234"},
            "https://generativelanguage.googleapis.com/v1/models/gemini-3-pro:generateContent",
        ),
        (
            "gemini:gemini-3-pro",
            {"GOOGLE_API_KEY": "k-1234", "GOOGLE_GEMINI_BASE_URL": "https://a.test/"},
            "https://a.test/v1/models/gemini-3-pro:generateContent",
        ),
        (
            "bedrock:eu.anthropic.claude-opus-4-8:0",
            {"AWS_BEARER_TOKEN_BEDROCK": "k-1234", "AWS_DEFAULT_REGION": "eu-west-1"},
            "https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude-opus-4-8%3A0/converse",
        ),
        (
            "bedrock:m",
            {"AWS_BEARER_TOKEN_BEDROCK": "k-1234", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "https://b.test"},
            "https://b.test/model/m/converse",
        ),
    ],
)
def test_the_address_is_the_one_that_the_providers_sdk_asks(name: str, environment: dict[str, str], url: str) -> None:
    """Host, region and model come from the variables that google-genai and boto3 read."""
    assert f" at {url}>" in repr(load_model(name, environment=environment))


@pytest.mark.parametrize(
    ("name", "environment", "said"),
    [
        ("gemini:m", {}, "set GOOGLE_API_KEY"),
        ("bedrock:m", {"AWS_BEARER_TOKEN_BEDROCK": "k-1234"}, "set AWS_REGION"),
    ],
)
def test_what_is_missing_is_named(name: str, environment: dict[str, str], said: str) -> None:
    """A key may be missing, or the region of a regional address."""
    with pytest.raises(CallerError, match=said):
        load_model(name, environment=environment)

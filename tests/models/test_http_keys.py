"""Where does a request go, and with which key, given the usual variables, a missing key or an invalid address?"""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from penstock.errors import CallerError
from penstock.models import RemoteModel, load_model, say
from penstock.testing import LoopbackProvider

OPENAI = {"OPENAI_API_KEY": "sk-openai"}
ANTHROPIC = {"ANTHROPIC_API_KEY": "sk-ant"}


def loaded(name: str, base_url: str | None = None, **environment: str) -> RemoteModel:
    """Return a model with only that environment."""
    model = load_model(name, base_url=base_url, environment=environment)
    assert isinstance(model, RemoteModel)
    return model


def address(model: RemoteModel) -> str:
    """Return the address that its repr gives."""
    return repr(model).removeprefix("<RemoteModel ").removesuffix(">").partition(" at ")[2]


@pytest.mark.parametrize(
    ("name", "base_url", "environment", "url"),
    [
        ("openai-chat:m", None, OPENAI, "https://api.openai.com/v1/chat/completions"),
        ("openai-responses:m", None, OPENAI, "https://api.openai.com/v1/responses"),
        ("anthropic:m", None, ANTHROPIC, "https://api.anthropic.com/v1/messages"),
        (
            "openai-chat:m",
            None,
            OPENAI | {"OPENAI_BASE_URL": "https://a.test/x/v1/"},
            "https://a.test/x/v1/chat/completions",
        ),
        (
            "openai-chat:m",
            "http://b.test/v1",
            OPENAI | {"OPENAI_BASE_URL": "https://a.test"},
            "http://b.test/v1/chat/completions",
        ),
        ("anthropic:m", None, ANTHROPIC | {"ANTHROPIC_BASE_URL": "https://a.test"}, "https://a.test/v1/messages"),
        ("anthropic:m", "https://a.test/v1/", ANTHROPIC, "https://a.test/v1/messages"),
        ("anthropic:m", "https://a.test/v1/messages", ANTHROPIC, "https://a.test/v1/messages"),
        ("openai-chat:m", "https://a.test/v1/chat/completions", OPENAI, "https://a.test/v1/chat/completions"),
        ("anthropic:m", None, ANTHROPIC | {"ANTHROPIC_BASE_URL": " "}, "https://api.anthropic.com/v1/messages"),
        ("openai-chat:org/model:free", "http://localhost:8000/v1", {}, "http://localhost:8000/v1/chat/completions"),
        ("openai-chat:m", "http://[::1]:8000/v1", {}, "http://[::1]:8000/v1/chat/completions"),
        ("openai-chat:m", "http://127.9.9.9/v1", {}, "http://127.9.9.9/v1/chat/completions"),
    ],
)
def test_a_request_goes_where_the_sdk_of_its_provider_sends_it(
    name: str, base_url: str | None, environment: dict[str, str], url: str
) -> None:
    """An argument outranks a variable, which outranks the provider's own; with `/v1` or, for Anthropic, without."""
    model = loaded(name, base_url, **environment)
    assert address(model) == url
    assert f"{model.wire}:{model.name}" == name


@pytest.mark.parametrize(
    ("wire", "environment", "sent"),
    [
        ("openai-chat", {}, {}),
        ("openai-chat", {"OPENAI_API_KEY": " sk-1\n"}, {"authorization": "Bearer sk-1"}),
        ("openai-chat", ANTHROPIC, {}),
        (
            "openai-responses",
            {"OPENAI_API_KEY": "sk-1", "OPENAI_ORG_ID": "org-1", "OPENAI_PROJECT_ID": "proj_1"},
            {"authorization": "Bearer sk-1", "openai-organization": "org-1", "openai-project": "proj_1"},
        ),
        ("anthropic", {}, {"anthropic-version": "2023-06-01"}),
        ("anthropic", ANTHROPIC | OPENAI, {"anthropic-version": "2023-06-01", "x-api-key": "sk-ant"}),
        (
            "anthropic",
            {"ANTHROPIC_AUTH_TOKEN": "t-1"},
            {"anthropic-version": "2023-06-01", "authorization": "Bearer t-1"},
        ),
    ],
)
def test_a_key_is_sent_as_its_provider_wants_it(
    monkeypatch: pytest.MonkeyPatch, wire: str, environment: dict[str, str], sent: dict[str, str]
) -> None:
    """A server on this machine gets it too, if there is one, and needs none."""
    from penstock.testing.server import _Handler

    came: list[dict[str, str]] = []
    answer = _Handler.do_POST

    def look(handler: Any) -> None:
        came.append({name.lower(): value for name, value in handler.headers.items()})
        answer(handler)

    monkeypatch.setattr(_Handler, "do_POST", look)
    field = "input" if wire == "openai-responses" else "messages"
    request = {field: [{"role": "user", "content": "hi"}], **({"max_tokens": 9} if wire == "anthropic" else {})}
    with LoopbackProvider(wire, 1_000, script=[say("ok")]) as provider:
        loaded(f"{wire}:m", provider.base_url, **environment).send(request)
    named = {"authorization", "x-api-key", "anthropic-version", "openai-organization", "openai-project"}
    assert {name: value for name, value in came[0].items() if name in named} == sent
    assert came[0]["content-type"] == "application/json"
    assert came[0]["user-agent"].startswith("penstock/")


def test_the_environment_of_the_process_is_used_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line uses it."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://a.test/v1")
    model = load_model("openai-chat:m")
    assert isinstance(model, RemoteModel)
    assert address(model) == "https://a.test/v1/chat/completions"
    assert "OPENAI_API_KEY" in os.environ


def test_no_proxy_is_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy named by the environment cannot reach a server on loopback, and must not see its requests."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with LoopbackProvider("openai-chat", 1_000, script=[say("ok")]) as provider:
        body = loaded("openai-chat:m", provider.base_url).send({"messages": [{"role": "user", "content": "hi"}]})
    assert body["choices"][0]["message"]["content"] == "ok"


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "nonsense://127.0.0.1:9", "http://127.0.0.1:x"])
def test_an_unusable_proxy_is_reported(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    """It is a setting, so trying again would not help."""
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("ALL_PROXY", proxy)
    model = loaded("openai-chat:m", "https://a.test/v1", **OPENAI)
    with pytest.raises(CallerError, match="The proxy that the environment names cannot be used"):
        model.send({"messages": [{"role": "user", "content": "hi"}]})


@pytest.mark.parametrize(
    ("name", "base_url", "variable"),
    [
        ("openai-chat:m", None, "OPENAI_API_KEY"),
        ("openai-responses:m", "http://192.168.1.5:8000/v1", "OPENAI_API_KEY"),
        ("openai-chat:m", "http://localhost.evil.test/v1", "OPENAI_API_KEY"),
        ("openai-chat:m", "http://127.0.0.1.evil.test/v1", "OPENAI_API_KEY"),
        ("anthropic:m", None, "ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"),
        ("gemini:m", None, "GOOGLE_API_KEY or GEMINI_API_KEY"),
    ],
)
@pytest.mark.parametrize("given", [{}, {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": " "}])
def test_a_missing_key_is_reported_by_the_name_of_its_variable(
    name: str, base_url: str | None, variable: str, given: dict[str, str]
) -> None:
    """This happens before anything is sent; an empty variable counts as missing."""
    with pytest.raises(CallerError, match=f"needs a key: set {variable}$"):
        loaded(name, base_url, **given)


@pytest.mark.parametrize("key", ["sk-1 sk-2", "sk-1\r\nx-other: 1", "sk-\u2013", "\u201csk-1\u201d", "sk\x00"])
def test_a_key_that_no_header_can_hold_is_reported_and_not_shown(key: str) -> None:
    """It was pasted with its quotes, twice, or with a line of its own."""
    with pytest.raises(CallerError, match="OPENAI_API_KEY holds a space, or a character") as caught:
        loaded("openai-chat:m", OPENAI_API_KEY=key)
    assert "sk" not in str(caught.value)


@pytest.mark.parametrize(
    "base_url",
    [
        "api.openai.com/v1",
        "localhost:8000",
        "ftp://a.test/v1",
        "https://",
        "https:///v1",
        "https://user:secret@a.test/v1",
        "https://secret@a.test/v1",
        "https://a.test/v1?key=secret",
        "https://a.test/v1#secret",
        "https://a.test:99999/v1",
        "https://a.test:x/v1",
        "https://user:secret",
        "https://[::1/v1",
        "https://a.test/\nv1",
        "nonsense",
    ],
)
def test_an_invalid_address_is_reported(base_url: str) -> None:
    """This happens when the model is loaded, not with the first request; a key in the address is not shown."""
    with pytest.raises(CallerError, match="base URL") as caught:
        loaded("openai-chat:m", base_url, **OPENAI)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"timeout_seconds": 0}, "timeout_seconds is more than 0, not 0"),
        ({"timeout_seconds": float("nan")}, "timeout_seconds is more than 0, not nan"),
        ({"window_tokens": 0}, "a window holds a token at least, not 0"),
    ],
)
def test_impossible_numbers_are_reported(given: dict[str, Any], said: str) -> None:
    """The error is the usual `CallerError`."""
    with pytest.raises(CallerError, match=said):
        load_model("openai-chat:m", environment=OPENAI, **given)

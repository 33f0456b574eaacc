"""Can what a stub names be done: by the model if it has the tools, by a command if it does not (R-7)?"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.screens import typed

from penstock import CallerError, execute, ways_back, wrap_tool
from penstock.call import Call
from penstock.carrier.ways_back import call_syntax
from penstock.models import call, say
from penstock.testing import LoopbackProvider
from penstock.text.calls import CommandLine, mcp
from penstock.text.json_access import nested
from penstock.wires import (
    WIRES,
    answer_messages,
    dump,
    load,
    messages_of,
    text_message,
    violations,
    wire_named,
    with_messages,
)

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.store import Store

pytestmark = pytest.mark.proves("R-7")
FLOOD = "\n".join(f"{n}: src/some/module_{n}.py" for n in range(20_000))


def flooded(wire: str, *, tools: list[Any] | None = None) -> dict[str, Any]:
    """Return a request whose only result does not fit."""
    chat = [
        {"role": "user", "content": "Which is module 17123?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "list_all", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": FLOOD},
    ]
    body: dict[str, Any] = {
        "model": "gpt-4o",
        wire_named(wire).body.messages_key: dump(load(chat, "openai-chat"), wire),
    }
    if wire == "anthropic":
        body["max_tokens"] = 500
    return nested(body, wire_named(wire).body.tools_paths[0], tools) if tools else body


def handle_in(request: Any) -> str:
    """Return the handle that a stub names."""
    found = re.search(r"[A-Za-z0-9]{22}", json.dumps(request))
    assert found is not None
    return found.group()


@pytest.mark.parametrize("wire", WIRES)
def test_a_model_reads_back_what_was_cut_by_the_call_that_the_stub_prints(wire: str, store: Store) -> None:
    """The tools are offered, the stub names them, the model calls, and the answer goes into a valid request."""
    back = ways_back(wire, store)
    request = flooded(wire, tools=back.definitions)

    def policy(body: dict[str, Any]) -> Any:
        if "17123: src/some/module_17123.py" in json.dumps(body):
            return say("src/some/module_17123.py")
        assert "ctx_page(handle=" in json.dumps(body).replace("\\", "")
        return call("ctx_find", handle=handle_in(messages_of(body, wire)), pattern="^17123:")

    with LoopbackProvider(wire, 16_000, policy=policy) as provider:
        first = execute(provider.send, request, wire=wire, window_tokens=16_000, store=store)
        messages = [
            *messages_of(first.request, wire),
            *answer_messages(first.response, wire),
            *back.answer_all(first.response),
        ]
        assert violations(messages, wire) == []
        following = with_messages(first.request, wire, messages)
        second = execute(provider.send, following, wire=wire, window_tokens=16_000, store=store)
    assert "module_17123.py" in json.dumps(second.response)


@pytest.mark.parametrize("wire", WIRES)
def test_without_the_tools_a_stub_names_a_command(wire: str, store: Store) -> None:
    """No call is named that the model cannot make."""
    with LoopbackProvider(wire, 16_000, script=[say("done")]) as provider:
        result = execute(provider.send, flooded(wire), wire=wire, window_tokens=16_000, store=store)
    shown = json.dumps(result.request)
    assert f"penstock page {handle_in(messages_of(result.request, wire))} --store {store.url}" in shown
    assert "page(handle=" not in shown.replace("\\", "")


@pytest.mark.parametrize("wire", WIRES)
def test_calls_of_other_tools_are_left_to_their_owner(wire: str, store: Store) -> None:
    """They are not answered among several, and refused alone."""
    back = ways_back(wire, store)
    with LoopbackProvider(
        wire, 16_000, script=[call("view", path="a.py"), call("ctx_page", handle="x" * 22)]
    ) as provider:
        ask = {**flooded(wire), wire_named(wire).body.messages_key: [text_message(wire, "user", "Go.")]}
        foreign, ours = provider.send(ask), provider.send(ask)
    assert back.answer_all(foreign) == []
    made = answer_messages(foreign, wire)
    held = {"openai-chat": "tool_calls", "anthropic": "content", "gemini": "parts", "bedrock": "content"}.get(wire)
    one = made[0][held][0] if held else made[0]
    assert load(answer_messages(ours, wire), wire).entries[0].calls[0].name == "ctx_page"
    assert not back.is_own(one)
    with pytest.raises(CallerError, match="ctx_page or ctx_find"):
        back.answer(one)
    answered = back.answer_all(ours)
    assert len(answered) == 1
    assert "no artifact" in json.dumps(answered).lower() or "not" in json.dumps(answered).lower()


@pytest.mark.parametrize("written", ['{"handle": ', '{"handle": "x", "start_byte": NaN}', '["x"]'])
def test_arguments_that_are_no_json_are_a_result_that_says_so(written: str, store: Store) -> None:
    """A model's mistake is answered, never raised; a handle that was given is not reported as missing."""
    made = {"id": "c", "type": "function", "function": {"name": "ctx_page", "arguments": written}}
    answered = ways_back("openai-chat", store).answer(made)
    assert answered["tool_call_id"] == "c"
    assert "not a JSON object" in answered["content"]


@pytest.mark.parametrize("offered", [False, True], ids=["no tools", "tools of ours"])
@pytest.mark.parametrize("wire", WIRES)
def test_what_fit_prints_names_a_way_that_there_is(wire: str, offered: bool, store: Store, tmp_path: Path) -> None:
    """It names the tool that the request offers, or else a command that returns what was cut."""
    request = flooded(wire, tools=ways_back(wire, store).definitions if offered else None)
    saved = tmp_path / "request.json"
    saved.write_text(json.dumps(request))
    done = typed("fit", str(saved), "--wire", wire, "--tokens", "16000", "--store", store.url, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = str(messages_of(json.loads(done.stdout), wire))
    if offered:
        assert "ctx_page(handle=" in shown
        assert "penstock page" not in shown
        return
    assert "page(handle=" not in shown
    named = re.search(r"penstock find (\w+) [^ ]*…[^ ]* --store (sqlite:[\w/.-]+store\.db)", shown)
    assert named is not None, shown[:2_000]
    found = typed("find", named[1], "^17123:", "--store", named[2], cwd=tmp_path)
    assert "module_17123.py" in found.stdout, found.stderr


@pytest.mark.proves("R-7")
@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("sqlite:///s", "penstock page h --store sqlite:///s"),
        ("postgresql://me:word@host/db", "penstock page h --store URL"),
        (None, "penstock page h"),
    ],
)
def test_a_command_names_a_store_but_no_password(url: str | None, written: str) -> None:
    """The text of a stub goes to the provider."""
    request = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}
    assert call_syntax(request, "openai-chat", url).write(Call("page", {"handle": "h"})) == written


@pytest.mark.parametrize("names", [("create_page",), ("confluence_get_page", "jira_find"), ("web_page", "find")])
def test_pages_of_others_are_not_led_to(names: tuple[str, ...]) -> None:
    """Such a stub would make a model create a page instead of reading what was cut."""
    tools = [{"name": name, "input_schema": {"type": "object"}} for name in names]
    assert call_syntax({"tools": tools}, "anthropic") == CommandLine()


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        (("page", "find"), ""),
        (("get_page", "mcp__penstock__ctx_find", "mcp__penstock__ctx_page"), "mcp__penstock__ctx_"),
        (("back_page", "back_find"), "back_"),
        (("ctx_page",), "ctx_"),
    ],
)
def test_our_own_are_found_under_any_prefix(names: tuple[str, ...], prefix: str) -> None:
    """Both are found, or one by its own name if a host lets no other through."""
    tools = [{"name": name, "input_schema": {"type": "object"}} for name in names]
    assert call_syntax({"tools": tools}, "anthropic") == mcp(prefix)


def test_what_a_wrapped_tool_cuts_is_read_back_even_after_another_cut(store: Store) -> None:
    """The notice of the tool itself names the two tools too, and stays among the first lines when a request is made to fit."""
    back = ways_back("openai-chat", store)
    shown = wrap_tool(lambda: FLOOD, "list_all", store=store, dialect=back.dialect)()
    assert "ctx_find(handle=" in shown

    def model(body: Any) -> Any:
        whole = re.findall(r'ctx_find\(handle=\\"([^\\]+)', json.dumps(body["messages"]))
        return (
            say("found")
            if "module_17123" in str(body["messages"])
            else call("ctx_find", handle=whole[-1], pattern="^17123:")
        )

    request: Any = flooded("openai-chat", tools=list(back.definitions))
    request["messages"][-1]["content"] = shown
    with LoopbackProvider("openai-chat", 6_000, policy=model) as provider:
        first = execute(provider.send, request, wire="openai-chat", window_tokens=6_000, store=store)
        asked = first.response["choices"][0]["message"]
        answers = back.answer_all(first.response)
    assert first.tokens_reduced > 0, "the shown part was cut once more"
    assert asked["tool_calls"]
    assert "module_17123" in answers[0]["content"]
